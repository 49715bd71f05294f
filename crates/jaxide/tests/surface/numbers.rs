//! Operators between arrays and numbers of every primitive type, on both sides.

use half::{bf16, f16};
use jaxide::prelude::*;
use jaxide::{lax, numpy};
use num_complex::Complex;

/// The operators on small numbers that every type has.
macro_rules! every_operator {
    ($($ty:ty)*) => { $( {
        let two = <$ty>::from(2u8);
        let name = stringify!($ty);
        for dtype in [DType::I8, DType::I32, DType::U64, DType::F16, DType::F32, DType::F64] {
            let x = Array::from([3.0f64, 5.0]).astype(dtype);
            let values = |y: Array| y.astype(DType::F64).to_vec::<f64>();
            let keeps = |y: Array| {
                // A number takes the type of the array, and makes a float of an integer only if it is one itself.
                let float = [DType::F32, DType::F64].contains(&y.dtype()) && !name.starts_with(['i', 'u']);
                assert!(y.dtype() == dtype || float, "{name} beside {dtype} gives {}", y.dtype());
                values(y)
            };
            assert_eq!(keeps(&x + two), [5.0, 7.0], "{name} {dtype}");
            assert_eq!(keeps(two + &x), [5.0, 7.0], "{name} {dtype}");
            assert_eq!(keeps(two + x.clone()), [5.0, 7.0], "{name} {dtype}");
            assert_eq!(keeps(&x - two), [1.0, 3.0], "{name} {dtype}");
            assert_eq!(keeps(&x * two), [6.0, 10.0], "{name} {dtype}");
            assert_eq!(keeps(two * &x), [6.0, 10.0], "{name} {dtype}");
            assert_eq!(keeps(&x % two), [1.0, 1.0], "{name} {dtype}");
            assert_eq!(values(&x / two), [1.5, 2.5], "{name} {dtype}");
            assert_eq!(values(x.clone() / two), [1.5, 2.5], "{name} {dtype}");
            assert_eq!(x.lt(two + two).to_bools(), [true, false], "{name} {dtype}");
            assert_eq!(x.maximum(two + two).astype(DType::F64).to_vec::<f64>(), [4.0, 5.0], "{name} {dtype}");
            let mut y = x.clone();
            y += two;
            y *= two;
            y -= two;
            y %= two + two + two;
            assert_eq!(keeps(y), [2.0, 0.0], "{name} {dtype}");
        }
        let x = Array::from([8.0f32, 4.0]);
        assert_eq!((two - &x).to_vec::<f32>(), [-6.0, -2.0], "{name}");
        assert_eq!((two / &x).to_vec::<f32>(), [0.25, 0.5], "{name}");
        assert_eq!((two % &x).to_vec::<f32>(), [2.0, 2.0], "{name}");
    } )* };
}

#[test]
fn numbers_of_every_type_stand_on_both_sides() {
    every_operator!(i16 i32 i64 u8 u16 u32 u64 usize isize f32 f64 f16);
}

macro_rules! bit_operators {
    ($($ty:ty)*) => { $( {
        let (three, one): ($ty, $ty) = (3, 1);
        let x = Array::from([5u8, 6]);
        assert_eq!((&x & three).to_vec::<u8>(), [1, 2]);
        assert_eq!((three & &x).to_vec::<u8>(), [1, 2]);
        assert_eq!((three | &x).to_vec::<u8>(), [7, 7]);
        assert_eq!((three ^ &x).to_vec::<u8>(), [6, 5]);
        assert_eq!((&x << one).to_vec::<u8>(), [10, 12]);
        assert_eq!((&x >> one).to_vec::<u8>(), [2, 3]);
        assert_eq!((one << Array::from([2u8, 3])).to_vec::<u8>(), [4, 8]);
        let mut y = x.clone();
        y <<= one;
        y |= one;
        y ^= three;
        y &= !Array::from([8u8, 8]);
        y >>= one;
        assert_eq!(y.to_vec::<u8>(), [0, 3]);
    } )* };
}

#[test]
fn integers_of_every_type_take_part_in_bit_operations() {
    bit_operators!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);
    let x = Array::from([true, false]);
    assert_eq!((true ^ &x).to_bools(), [false, true]);
    assert_eq!((&x & true).to_bools(), [true, false]);
}

#[test]
fn numbers_of_a_program_have_no_type_of_their_own() {
    let x = Array::from([1.0f32, 2.0]);
    for dtype in [DType::F16, DType::BF16, DType::F32, DType::F64] {
        let x = x.astype(dtype);
        assert_eq!((&x * 2.0f32).dtype(), dtype);
        assert_eq!((2.0f64 * &x).dtype(), dtype);
        assert_eq!((7usize * &x).dtype(), dtype);
        assert_eq!((f16::from_f32(0.5) * &x).dtype(), dtype);
        assert_eq!((bf16::from_f32(0.5) + &x).dtype(), dtype);
    }
    assert!(Array::from(3u8).weak_type());
    assert_eq!((3u8 * Array::from([1i64])).dtype(), DType::I64);
    assert_eq!((2.5f64 * Array::from([1i32])).dtype(), DType::F32);
}

#[test]
fn digits_of_narrow_floats_are_kept_in_the_text() {
    let f = |x: Array| (x * 0.1f32 + f16::from_f32(0.1)) * bf16::from_f32(0.3);
    let text = make_jaxpr(f)(Array::spec(DType::F64, ()))
        .unwrap()
        .to_string();
    for literal in ["0.1:f64[]", "0.1:f64[]", "0.3:f64[]"] {
        assert!(text.contains(literal), "{text}");
    }
}

#[test]
fn scalars_have_the_type_of_their_number() {
    let x = Array::from([1.0f32]);
    assert_eq!((&x * Array::scalar(0.6f64)).dtype(), DType::F64);
    assert!(!Array::scalar(0.6f64).weak_type());
    assert_eq!(
        (x.astype(DType::F16) * Array::scalar(2.0f32)).dtype(),
        DType::F32
    );
    let scalars = [
        (Array::scalar(true), DType::Bool),
        (Array::scalar(1i8), DType::I8),
        (Array::scalar(1i16), DType::I16),
        (Array::scalar(1i32), DType::I32),
        (Array::scalar(1i64), DType::I64),
        (Array::scalar(1isize), DType::I64),
        (Array::scalar(1u8), DType::U8),
        (Array::scalar(1u16), DType::U16),
        (Array::scalar(1u32), DType::U32),
        (Array::scalar(1u64), DType::U64),
        (Array::scalar(1usize), DType::U64),
        (Array::scalar(f16::ONE), DType::F16),
        (Array::scalar(bf16::ONE), DType::BF16),
        (Array::scalar(1f32), DType::F32),
        (Array::scalar(1f64), DType::F64),
        (Array::scalar(Complex::new(1f32, 0.0)), DType::C64),
        (Array::scalar(Complex::new(1f64, 0.0)), DType::C128),
    ];
    for (scalar, dtype) in scalars {
        assert_eq!(
            (scalar.dtype(), scalar.shape(), scalar.weak_type()),
            (dtype, &[][..], false)
        );
        assert!(scalar.truth(), "{dtype}");
    }
}

#[test]
fn complex_numbers_stand_on_both_sides() {
    let i = Complex::new(0.0f32, 1.0);
    let x = Array::from([1.0f32, 2.0]);
    assert_eq!((i * &x).to_vec::<Complex<f32>>(), [i, 2.0 * i]);
    assert_eq!((&x + i).to_vec::<Complex<f32>>(), [1.0 + i, 2.0 + i]);
    let wide = Complex::new(0.0f64, 1.0) * x.astype(DType::F64);
    assert_eq!(wide.dtype(), DType::C128);
}

#[test]
fn arrays_of_numbers_as_wide_as_addresses_have_64_bits() {
    let rows: Vec<usize> = vec![2, 0];
    let x = Array::from([10, 20, 30]);
    assert_eq!(x.index(rows).to_vec::<i32>(), [30, 10]);
    assert_eq!(Array::from([-1isize]).to_vec::<i64>(), [-1]);
}

#[test]
fn results_do_not_depend_on_tracing() {
    let f = |x: Array| 3u8 * (&x - 1.5f32) / 2usize + 0.25f64 * x;
    let x = Array::from([0.5f32, -4.0, 1e6]);
    assert_eq!(jit(f)(x.clone()).to_vec::<f32>(), f(x).to_vec::<f32>());
}

#[test]
fn truth_is_of_one_element_that_is_not_zero() {
    let zeros = [
        Array::from(0i32),
        Array::from(0.0f32),
        Array::from(-0.0f64),
        Array::from(false),
        Array::from([0u8]),
        Array::from(0.0f32).astype(DType::C64),
        Array::from(0.0f32).astype(DType::BF16),
    ];
    for zero in zeros {
        assert!(!zero.truth(), "{zero:?}");
    }
    let others = [
        Array::from(-1i64),
        Array::from(f32::NAN),
        Array::from(1e-40f32),
        Array::from([[true]]),
        lax::complex(&Array::from(0.0f32), &Array::from(-2.0f32)),
    ];
    for other in others {
        assert!(other.truth(), "{other:?}");
    }
    for ambiguous in [
        Array::from([1, 1]),
        Array::from([0, 1]),
        numpy::zeros(&[0], DType::F32),
    ] {
        let said = std::panic::catch_unwind(|| ambiguous.truth()).unwrap_err();
        let said = said.downcast_ref::<String>().expect("a text");
        assert!(
            said.contains("is ambiguous: one element is needed"),
            "{said}"
        );
    }
}

/// A number of the program becomes what an array of it becomes.
#[test]
fn numbers_are_converted_as_arrays_are() {
    let types = [
        DType::Bool,
        DType::I8,
        DType::U8,
        DType::I16,
        DType::I32,
        DType::U64,
        DType::F16,
        DType::BF16,
        DType::F32,
        DType::F64,
        DType::C64,
    ];
    let pairs: [(Array, Array); 7] = [
        (Array::from(0), Array::from([0])),
        (Array::from(1), Array::from([1])),
        (Array::from(2), Array::from([2])),
        (Array::from(100i64), Array::from([100i64])),
        (Array::from(0.5), Array::from([0.5f32])),
        (Array::from(true), Array::from([true])),
        (Array::from(false), Array::from([false])),
    ];
    for (number, array) in pairs {
        for dtype in types {
            let eager = number.astype(dtype);
            let kept = number.clone();
            let jitted = jit(move || kept.astype(dtype))();
            let want = array.astype(dtype);
            for got in [eager, jitted] {
                assert_eq!((got.dtype(), got.weak_type()), (dtype, false), "{number:?}");
                assert_eq!(
                    got.value().bytes(),
                    want.value().bytes(),
                    "{number:?} {dtype}"
                );
            }
        }
    }
    let weak = make_jaxpr(|| Array::from(true) & Array::from(false))().unwrap();
    assert!(!weak.jaxpr.out_avals()[0].weak_type);
}

/// Weak numbers of a higher kind make weak results of integers, as in JAX.
#[test]
fn numbers_of_a_higher_kind_stay_weak_beside_integers() {
    let integers = Array::from([1i32, 2]);
    let floats = Array::from([1.0f32, 2.0]);
    let complex = Complex::new(0.0f32, 1.0);
    let kind = |array: Array| (array.dtype(), array.weak_type());
    assert_eq!(kind(&integers + 1.5), (DType::F32, true));
    assert_eq!(kind(&integers + Array::from(complex)), (DType::C64, true));
    assert_eq!(kind(&floats + Array::from(complex)), (DType::C64, false));
    assert_eq!(
        kind(floats.astype(DType::F64) + Array::from(complex)),
        (DType::C128, false)
    );
    assert_eq!(kind(&floats + 1), (DType::F32, false));
    assert_eq!(
        kind(Array::from(2.0) + Array::from(complex)),
        (DType::C64, true)
    );
    assert_eq!(kind(Array::from([true]) + 1), (DType::I32, true));
}

#[test]
fn evenly_spaced_numbers_reach_both_ends() {
    let numbers = |start, end, count| numpy::linspace(start, end, count).to_vec::<f32>();
    assert_eq!(numbers(2.0, 3.0, 0), [0.0f32; 0]);
    assert_eq!(numbers(2.0, 3.0, 1), [2.0]);
    assert_eq!(numbers(2.0, 3.0, 2), [2.0, 3.0]);
    assert_eq!(numbers(1.0, -1.0, 5), [1.0, 0.5, 0.0, -0.5, -1.0]);
    assert_eq!(numbers(1e30, 1.0, 3)[2], 1.0);
}

#[test]
fn numbers_beside_arrays_are_literals() {
    let equations = |f: fn(Array) -> Array, dtype: DType| {
        let jaxpr = make_jaxpr(f)(Array::spec(dtype, &[2])).unwrap();
        jaxpr.jaxpr.eqns.len()
    };
    assert_eq!(equations(|x| x & Array::from(true), DType::Bool), 1);
    assert_eq!(equations(|x| x + 1, DType::F32), 1);
    assert_eq!(equations(|x| x + true, DType::I8), 1);
    assert_eq!(equations(|x| x * 2.5, DType::C64), 1);
}
