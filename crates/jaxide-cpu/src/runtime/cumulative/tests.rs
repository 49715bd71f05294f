//! Tests of running combinations.

use super::*;
use crate::runtime::{KernelCall, ThreadPool};

fn run<T: bytemuck::Pod>(kernel: Cumulative, input: &[T], context: &Context<'_>) -> Vec<T> {
    let mut out = vec![T::zeroed(); input.len()];
    let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
    KernelCall::new(kernel)
        .call(&[bytemuck::cast_slice(input)], outputs, context)
        .unwrap();
    out
}

/// Checks an operation against its definition, along every axis and in both directions.
#[track_caller]
fn check<T: bytemuck::Pod + std::fmt::Debug>(
    op: CumulativeOp,
    dtype: DType,
    value: impl Fn(usize) -> T,
    combine: impl Fn(T, T) -> T,
    same: impl Fn(&T, &T) -> bool,
) {
    for shape in [
        &[0][..],
        &[1],
        &[7],
        &[2500],
        &[9000],
        &[3, 300],
        &[2, 5, 3],
        &[4, 0, 2],
        &[3, 20, 700],
        &[9, SEGMENT],
        &[9, SEGMENT + 1],
        &[1029, 8],
        &[300, 5, SHORT_ROW - 1],
        &[5, 3, SHORT_ROW],
        &[700, 3],
        &[3, 9, 7],
        &[33, 12],
        &[34, 2],
        &[7, 5, 15],
    ] {
        let input: Vec<T> = (0..shape.iter().product()).map(&value).collect();
        for (axis, &len) in shape.iter().enumerate() {
            let stride: usize = shape[axis + 1..].iter().product();
            for reverse in [false, true] {
                let mut expected = input.clone();
                for n in 0..input.len() {
                    let i = directed(n, input.len(), reverse);
                    if directed(i / stride % len, len, reverse) > 0 {
                        let before = if reverse { i + stride } else { i - stride };
                        expected[i] = combine(expected[before], input[i]);
                    }
                }
                let kernel = Cumulative::new(op, dtype, shape, axis, reverse).unwrap();
                let got = run(kernel, &input, &Context::default());
                let differs = got.iter().zip(&expected).position(|(g, e)| !same(g, e));
                assert_eq!(differs, None, "{op:?} {dtype:?} {shape:?} {axis} {reverse}");
            }
        }
    }
}

fn near(a: &f64, b: &f64) -> bool {
    a == b || (a - b).abs() <= 1e-11 * b.abs().max(1.0) || (a.is_nan() && b.is_nan())
}

#[test]
fn sums_and_products() {
    check(
        CumulativeOp::Sum,
        DType::I32,
        |i| (i % 2000) as i32 * 999_991,
        i32::wrapping_add,
        |a, b| a == b,
    );
    check(
        CumulativeOp::Prod,
        DType::U8,
        |i| (i % 7) as u8 | 1,
        u8::wrapping_mul,
        |a, b| a == b,
    );
    check(
        CumulativeOp::Sum,
        DType::F64,
        |i| (i as f64).sin(),
        |a, b| a + b,
        near,
    );
    check(
        CumulativeOp::Prod,
        DType::F64,
        |i| 1.0 + (i as f64).sin() * 1e-3,
        |a, b| a * b,
        near,
    );
    let complex = |i: usize| Complex::from_polar(1.0, i as f64);
    check(
        CumulativeOp::Prod,
        DType::C128,
        complex,
        |a, b| a * b,
        |a, b| (a - b).norm() < 1e-10,
    );
    check(
        CumulativeOp::Sum,
        DType::C128,
        complex,
        |a, b| a + b,
        |a, b| (a - b).norm() < 1e-10,
    );
}

#[test]
fn extrema_pass_nan_on() {
    let value = |i: usize| {
        if i % 611 == 610 {
            f64::NAN
        } else {
            (i as f64 * 0.77).sin()
        }
    };
    let max = |a: f64, b: f64| {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else {
            a.max(b)
        }
    };
    let min = |a: f64, b: f64| {
        if a.is_nan() || b.is_nan() {
            f64::NAN
        } else {
            a.min(b)
        }
    };
    check(CumulativeOp::Max, DType::F64, value, max, near);
    check(CumulativeOp::Min, DType::F64, value, min, near);
    check(
        CumulativeOp::Max,
        DType::I16,
        |i| (i * 7919 % 1000) as i16,
        |a, b| a.max(b),
        |a, b| a == b,
    );
    check(
        CumulativeOp::Min,
        DType::Bool,
        |i| u8::from(i % 90 != 89),
        |a, b| a & b,
        |a, b| a == b,
    );
}

/// Extrema of floats, bit by bit: -0 is below 0, and the first NaN stays.
#[test]
fn extrema_of_floats_are_ordered_as_ieee_says() {
    macro_rules! check_type {
        ($($dtype:ident $t:ty, $from:expr;)*) => { $({
            let special = [0.0, -0.0, 1.5, -1.5, 1e-7, -1e-7, f64::INFINITY, f64::NEG_INFINITY];
            let value = |i: usize| match i * 7919 % 1013 {
                // Rare, so that most lines have elements before the first.
                0 if i % 2 == 0 => <$t>::NAN,
                0 => -<$t>::NAN,
                k if k < 500 => $from(special[k % 8]),
                k => $from((k as f64 - 750.0) / 64.0),
            };
            let same = |a: &$t, b: &$t| a.to_bits() == b.to_bits() || a.is_nan() && b.is_nan();
            let larger = |a: $t, b: $t| {
                let negative_zero = a == b && a.is_sign_negative();
                if !a.is_nan() && (b.is_nan() || b > a || negative_zero) { b } else { a }
            };
            let smaller = |a: $t, b: $t| {
                let positive_zero = a == b && a.is_sign_positive();
                if !a.is_nan() && (b.is_nan() || b < a || positive_zero) { b } else { a }
            };
            check(CumulativeOp::Max, DType::$dtype, value, larger, same);
            check(CumulativeOp::Min, DType::$dtype, value, smaller, same);
        })* };
    }
    check_type! {
        F16 f16, f16::from_f64;
        BF16 bf16, bf16::from_f64;
        F32 f32, |x: f64| x as f32;
        F64 f64, |x: f64| x;
    }
}

/// The extrema of complex numbers, of which some are not numbers, one after the other.
#[test]
fn complex_extrema_are_of_real_parts_first() {
    let part = |i: usize| {
        if i % 17 == 3 {
            f64::NAN
        } else {
            (i % 11) as f64
        }
    };
    for shape in [&[40, 8][..], &[3, SEGMENT], &[70, 5], &[9, 4, 70]] {
        let input: Vec<Complex<f64>> = (0..shape.iter().product())
            .map(|i| Complex::new(part(7 * i), part(5 * i)))
            .collect();
        let (len, inner) = (shape[1], shape[2..].iter().product::<usize>());
        for (op, wanted) in [
            (CumulativeOp::Max, std::cmp::Ordering::Greater),
            (CumulativeOp::Min, std::cmp::Ordering::Less),
        ] {
            let kernel = Cumulative::new(op, DType::C128, shape, 1, false).unwrap();
            let got = run(kernel, &input, &Context::default());
            let mut expected = input.clone();
            for i in (0..input.len()).filter(|i| i / inner % len != 0) {
                let (a, b) = (expected[i - inner], input[i]);
                let stays = (a.re, a.im).partial_cmp(&(b.re, b.im)) == Some(wanted);
                expected[i] = if stays { a } else { b };
            }
            let bits = |z: &Complex<f64>| (z.re.to_bits(), z.im.to_bits());
            assert!(got.iter().map(bits).eq(expected.iter().map(bits)));
        }
    }
}

#[test]
fn logs_of_sums_of_exponentials() {
    let combine = |a: f64, b: f64| {
        if a == b {
            a + 2f64.ln()
        } else {
            a.max(b) + (-(a - b).abs()).exp().ln_1p()
        }
    };
    check(
        CumulativeOp::LogSumExp,
        DType::F64,
        |i| (i as f64).cos() * 9.0,
        combine,
        near,
    );
    let infinite = [
        f32::NEG_INFINITY,
        f32::NEG_INFINITY,
        0.0,
        f32::INFINITY,
        f32::INFINITY,
        1.0,
        f32::NAN,
        1.0,
    ];
    let kernel = Cumulative::new(CumulativeOp::LogSumExp, DType::F32, &[8], 0, false).unwrap();
    let got = run(kernel, &infinite, &Context::default());
    assert_eq!(
        got[..6],
        [
            f32::NEG_INFINITY,
            f32::NEG_INFINITY,
            0.0,
            f32::INFINITY,
            f32::INFINITY,
            f32::INFINITY
        ]
    );
    assert!(got[6].is_nan() && got[7].is_nan());
}

#[test]
fn short_lines_of_every_type() {
    fn both<T: bytemuck::Pod + std::fmt::Debug + PartialEq>(
        dtype: DType,
        value: impl Fn(usize) -> T + Copy,
        sum: impl Fn(T, T) -> T,
        max: impl Fn(T, T) -> T,
    ) {
        let same = |a: &T, b: &T| a == b;
        check(CumulativeOp::Sum, dtype, value, sum, same);
        check(CumulativeOp::Max, dtype, value, max, same);
    }
    macro_rules! integers {
        ($($dtype:ident $t:ty),*) => { $(
            let random = |i: usize| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as $t;
            both(DType::$dtype, random, <$t>::wrapping_add, <$t>::max);
        )* };
    }
    integers!(I8 i8, I16 i16, I32 i32, I64 i64, U8 u8, U16 u16, U32 u32, U64 u64);
    // Sums that are exact in any order.
    let small = |i: usize| (i.wrapping_mul(0x9e37_79b9) >> 7) % 3;
    let value = |i| small(i) as f32 - 1.0;
    both(DType::F32, value, |a, b| a + b, f32::max);
    let value = |i| bf16::from_f32((small(i) % 2) as f32);
    let max = |a: bf16, b: bf16| if b > a { b } else { a };
    let lines = |a: bf16, b: bf16| a.to_f32() + b.to_f32();
    for shape in [&[33usize, 8][..], &[9, 13, 3]] {
        let input: Vec<bf16> = (0..shape.iter().product()).map(value).collect();
        let kernel = Cumulative::new(CumulativeOp::Sum, DType::BF16, shape, 1, false).unwrap();
        let got = run(kernel, &input, &Context::default());
        let inner: usize = shape[2..].iter().product();
        for i in (0..input.len()).filter(|i| !(i / inner).is_multiple_of(shape[1])) {
            assert_eq!(got[i].to_f32(), lines(got[i - inner], input[i]));
        }
    }
    check(CumulativeOp::Max, DType::BF16, value, max, |a, b| a == b);
    let value = |i| Complex::new(small(i) as f32, small(i + 7) as f32);
    check(
        CumulativeOp::Sum,
        DType::C64,
        value,
        |a, b| a + b,
        |a, b| a == b,
    );
}

#[test]
fn sixteen_bit_floats_are_summed_in_single_precision() {
    let kernel = Cumulative::new(CumulativeOp::Sum, DType::BF16, &[1000], 0, false).unwrap();
    let got = run(kernel, &[bf16::from_f32(1.0); 1000], &Context::default());
    assert!(
        got.iter()
            .zip(1..)
            .all(|(&x, i)| x == bf16::from_f32(i as f32))
    );
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let pool = ThreadPool::new(4);
    let input: Vec<f32> = (0..100_000).map(|i| (i as f32 * 0.37).sin()).collect();
    for reverse in [false, true] {
        let results: Vec<Vec<f32>> = [1, 2, 4]
            .iter()
            .map(|&threads| {
                let kernel =
                    Cumulative::new(CumulativeOp::Sum, DType::F32, &[100_000], 0, reverse).unwrap();
                run(kernel, &input, &Context::new(&pool, threads))
            })
            .collect();
        assert!(results[0] == results[1] && results[0] == results[2]);
    }
}

#[test]
fn undefined_operations_are_refused() {
    assert!(Cumulative::new(CumulativeOp::LogSumExp, DType::C64, &[3], 0, false).is_err());
    for (shape, axis, refused) in [
        (&[SEGMENT][..], 0, false),
        (&[SEGMENT + 1], 0, true),
        (&[SEGMENT + 1, 2], 0, false),
    ] {
        let made = Cumulative::new(CumulativeOp::Max, DType::C64, shape, axis, false);
        assert_eq!(made.is_err(), refused);
    }
    assert!(Cumulative::new(CumulativeOp::LogSumExp, DType::I32, &[3], 0, false).is_err());
}
