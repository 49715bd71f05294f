//! Sorts against the standard library's stable sort with JAX's order.

use std::cmp::Ordering;

use half::{bf16, f16};
use num_complex::Complex;

use super::*;
use crate::runtime::KernelCall;

/// The order of `sort` on real numbers: zeros equal, NaNs equal and last.
fn order(a: f64, b: f64) -> Ordering {
    a.partial_cmp(&b)
        .unwrap_or_else(|| a.is_nan().cmp(&b.is_nan()))
}

fn random(count: usize, seed: u64) -> Vec<u64> {
    let mut state = seed | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    (0..count).map(|_| next()).collect()
}

/// Random elements, many of them equal, with all special values among them.
fn floats(count: usize) -> Vec<f64> {
    let special = [
        0.0,
        -0.0,
        f64::NAN,
        -f64::NAN,
        f64::INFINITY,
        f64::NEG_INFINITY,
        1e-310,
        f64::MAX,
        -1.5,
    ];
    random(count, 7)
        .into_iter()
        .map(|x| {
            if x % 5 == 0 {
                special[(x >> 8) as usize % special.len()]
            } else {
                (x >> 20) as f64 % 50.0 - 25.0
            }
        })
        .collect()
}

#[track_caller]
fn run(kernel: impl Kernel + 'static, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let call = KernelCall::new(kernel);
    let mut outputs: Vec<Vec<u64>> = call
        .signature()
        .outputs
        .iter()
        .map(|bytes| vec![0; bytes.div_ceil(8)])
        .collect();
    let sizes = call.signature().outputs.clone();
    let mut slices: Vec<&mut [u8]> = outputs
        .iter_mut()
        .zip(&sizes)
        .map(|(out, &bytes)| &mut bytemuck::cast_slice_mut::<u64, u8>(out)[..bytes])
        .collect();
    call.call(inputs, &mut slices, &Context::default()).unwrap();
    slices.into_iter().map(|out| out.to_vec()).collect()
}

/// Sorts `elements` alone and together with positions, and compares bits with the definition.
#[track_caller]
fn check<T: bytemuck::Pod>(dtype: DType, elements: &[T], compare: impl Fn(&T, &T) -> Ordering) {
    let n = elements.len();
    let mut order: Vec<u32> = (0..n as u32).collect();
    order.sort_by(|&a, &b| compare(&elements[a as usize], &elements[b as usize]));
    let sorted: Vec<T> = order.iter().map(|&i| elements[i as usize]).collect();
    let positions: Vec<u32> = (0..n as u32).collect();
    let bytes = bytemuck::cast_slice(elements);
    let alone = run(Sort::new(&[n], 0, &[dtype], 1).unwrap(), &[bytes]);
    assert!(
        alone[0] == bytemuck::cast_slice::<T, u8>(&sorted),
        "{dtype:?} {n}"
    );
    let kernel = Sort::new(&[n], 0, &[dtype, DType::U32], 1).unwrap();
    let both = run(kernel, &[bytes, bytemuck::cast_slice(&positions)]);
    assert!(
        both[0] == alone[0] && both[1] == bytemuck::cast_slice::<u32, u8>(&order),
        "{dtype:?} {n}"
    );
}

const LENGTHS: [usize; 6] = [0, 1, 2, 50, 1000, 3000];

#[test]
fn every_type() {
    for n in LENGTHS {
        let values = floats(n);
        check(DType::F64, &values, |a, b| order(*a, *b));
        let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
        check(DType::F32, &narrow, |a, b| order((*a).into(), (*b).into()));
        let half: Vec<f16> = values.iter().map(|&x| f16::from_f64(x)).collect();
        check(DType::F16, &half, |a, b| order((*a).into(), (*b).into()));
        let brain: Vec<bf16> = values.iter().map(|&x| bf16::from_f64(x)).collect();
        check(DType::BF16, &brain, |a, b| order((*a).into(), (*b).into()));
        let random = random(n, 3);
        macro_rules! integers {
            ($($dtype:ident $t:ty;)*) => { $(
                let values: Vec<$t> = random.iter().map(|&x| x as $t).collect();
                check(DType::$dtype, &values, |a, b| a.cmp(b));
            )* };
        }
        integers! { I8 i8; I16 i16; I32 i32; I64 i64; U8 u8; U16 u16; U32 u32; U64 u64; }
        let truths: Vec<u8> = random.iter().map(|&x| (x % 2) as u8).collect();
        check(DType::Bool, &truths, |a, b| a.cmp(b));
        let pairs: Vec<[f64; 2]> = values
            .iter()
            .zip(values.iter().rev())
            .map(|(&re, &im)| [re, im])
            .collect();
        check(DType::C128, &pairs, |a, b| {
            order(a[0], b[0]).then(order(a[1], b[1]))
        });
        let pairs: Vec<[f32; 2]> = pairs.iter().map(|x| x.map(|x| x as f32)).collect();
        check(DType::C64, &pairs, |a, b| {
            order(a[0].into(), b[0].into()).then(order(a[1].into(), b[1].into()))
        });
    }
}

#[test]
fn several_keys() {
    for n in LENGTHS {
        let a: Vec<u8> = random(n, 5).iter().map(|&x| (x % 3) as u8).collect();
        let b: Vec<f32> = floats(n).iter().map(|&x| x as f32).collect();
        let c: Vec<i64> = random(n, 9).iter().map(|&x| (x % 4) as i64 - 2).collect();
        let payload: Vec<Complex<f64>> = (0..n).map(|i| Complex::new(i as f64, 0.5)).collect();
        let dtypes = [DType::U8, DType::F32, DType::I64, DType::C128];
        for num_keys in 1..=3 {
            let mut order_of: Vec<usize> = (0..n).collect();
            order_of.sort_by(|&i, &j| {
                let keys = [
                    a[i].cmp(&a[j]),
                    order(b[i].into(), b[j].into()),
                    c[i].cmp(&c[j]),
                ];
                keys[..num_keys]
                    .iter()
                    .fold(Ordering::Equal, |all, &next| all.then(next))
            });
            let kernel = Sort::new(&[n], 0, &dtypes, num_keys).unwrap();
            let inputs = [
                &a[..],
                bytemuck::cast_slice(&b),
                bytemuck::cast_slice(&c),
                bytemuck::cast_slice(&payload),
            ];
            let out = run(kernel, &inputs);
            let expected: Vec<Complex<f64>> = order_of.iter().map(|&i| payload[i]).collect();
            assert!(
                out[3] == bytemuck::cast_slice::<_, u8>(&expected),
                "{n} {num_keys}"
            );
            let expected: Vec<i64> = order_of.iter().map(|&i| c[i]).collect();
            assert!(
                out[2] == bytemuck::cast_slice::<_, u8>(&expected),
                "{n} {num_keys}"
            );
        }
    }
}

#[test]
fn every_axis() {
    let shape = [4, 30, 7];
    let values: Vec<i16> = random(840, 11).iter().map(|&x| (x % 100) as i16).collect();
    let strides = [210, 7, 1];
    for axis in 0..3 {
        let mut expected = values.clone();
        for start in 0..840 {
            if start / strides[axis] % shape[axis] == 0 {
                let places = (0..shape[axis]).map(|i| start + i * strides[axis]);
                let mut line: Vec<i16> = places.clone().map(|p| values[p]).collect();
                line.sort();
                places.zip(line).for_each(|(p, x)| expected[p] = x);
            }
        }
        let out = run(
            Sort::new(&shape, axis, &[DType::I16], 1).unwrap(),
            &[bytemuck::cast_slice(&values)],
        );
        assert!(
            out[0] == bytemuck::cast_slice::<_, u8>(&expected),
            "axis {axis}"
        );
    }
    assert_eq!(
        run(Sort::new(&[0, 3], 0, &[DType::I16], 1).unwrap(), &[&[]]),
        [vec![0u8; 0]]
    );
}

/// Sorts an array along its middle axis, alone and with positions, and compares bits with the standard library's stable sort.
#[track_caller]
fn check_lines<T: bytemuck::Pod>(
    dtype: DType,
    shape: [usize; 3],
    elements: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
) {
    let [_, len, stride] = shape;
    let positions: Vec<u16> = (0..elements.len())
        .map(|i| (i / stride % len) as u16)
        .collect();
    let mut order = vec![0; elements.len()];
    for first in (0..elements.len()).filter(|i| i / stride % len == 0) {
        let mut line: Vec<usize> = (0..len).map(|i| first + i * stride).collect();
        line.sort_by(|&a, &b| compare(&elements[a], &elements[b]));
        for (i, from) in line.into_iter().enumerate() {
            order[first + i * stride] = from;
        }
    }
    let sorted: Vec<T> = order.iter().map(|&i| elements[i]).collect();
    let sorted_positions: Vec<u16> = order.iter().map(|&i| positions[i]).collect();
    let bytes = bytemuck::cast_slice(elements);
    let alone = run(Sort::new(&shape, 1, &[dtype], 1).unwrap(), &[bytes]);
    assert!(
        alone[0] == bytemuck::cast_slice::<T, u8>(&sorted),
        "{dtype:?} {shape:?}"
    );
    let kernel = Sort::new(&shape, 1, &[DType::U16, dtype, DType::U16], 2).unwrap();
    let zeros = vec![7u16; elements.len()];
    let inputs = [
        bytemuck::cast_slice(&zeros),
        bytes,
        bytemuck::cast_slice(&positions),
    ];
    let together = run(kernel, &inputs);
    assert!(
        together[1] == alone[0]
            && together[2] == bytemuck::cast_slice::<u16, u8>(&sorted_positions),
        "{dtype:?} {shape:?} with positions"
    );
}

#[test]
fn many_short_lines_on_every_instruction_set() {
    let counts = [[4, 1], [1, 4], [9, 1], [3, 5], [2, 70], [130, 1], [65, 2]];
    for isa in crate::runtime::simd::Isa::available() {
        isa.assumed_in(|| {
            for len in [2, 3, 4, 7, 8, 16, 17, 33, 100, 256, 257] {
                for [outer, inner] in counts {
                    let shape = [outer, len, inner];
                    let n = outer * len * inner;
                    let bits = random(n, len as u64);
                    let values = floats(n);
                    check_lines(DType::F64, shape, &values, |a, b| order(*a, *b));
                    let plain: Vec<f64> = bits.iter().map(|&x| x as f64 - 1e19).collect();
                    check_lines(DType::F64, shape, &plain, |a, b| order(*a, *b));
                    let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
                    check_lines(DType::F32, shape, &narrow, |a, b| {
                        order((*a).into(), (*b).into())
                    });
                    let half: Vec<f16> = plain.iter().map(|&x| f16::from_f64(x / 1e16)).collect();
                    check_lines(DType::F16, shape, &half, |a, b| {
                        order((*a).into(), (*b).into())
                    });
                    let pairs: Vec<[f32; 2]> = narrow.iter().map(|&x| [x.abs() % 3.0, x]).collect();
                    check_lines(DType::C64, shape, &pairs, |a, b| {
                        order(a[0].into(), b[0].into()).then(order(a[1].into(), b[1].into()))
                    });
                    check_lines(DType::U64, shape, &bits, u64::cmp);
                    let signed: Vec<i64> = bits.iter().map(|&x| x as i64 % 9).collect();
                    check_lines(DType::I64, shape, &signed, i64::cmp);
                    let bytes: Vec<u8> = bits.iter().map(|&x| x as u8).collect();
                    check_lines(DType::U8, shape, &bytes, u8::cmp);
                    let short: Vec<i16> = bits.iter().map(|&x| x as i16).collect();
                    check_lines(DType::I16, shape, &short, i16::cmp);
                }
            }
        });
    }
}

#[test]
fn types_without_an_order_are_refused() {
    assert!(Sort::new(&[3], 0, &[DType::KeyFry], 1).is_err());
    assert!(Sort::new(&[3], 0, &[DType::F32, DType::KeyFry], 1).is_ok());
    assert!(TopK::new(&[3], 0, DType::C64, 1).is_err());
}

#[track_caller]
fn check_top_k<T: bytemuck::Pod>(
    dtype: DType,
    elements: &[T],
    compare: impl Fn(&T, &T) -> Ordering,
) {
    let n = elements.len();
    for k in [0, 1, 3, 9, n / 20, n / 2, n] {
        let k = k.min(n);
        let mut order: Vec<i32> = (0..n as i32).collect();
        order.sort_by(|&a, &b| compare(&elements[b as usize], &elements[a as usize]));
        order.truncate(k);
        let best: Vec<T> = order.iter().map(|&i| elements[i as usize]).collect();
        let out = run(
            TopK::new(&[n], 0, dtype, k).unwrap(),
            &[bytemuck::cast_slice(elements)],
        );
        assert!(
            out[0] == bytemuck::cast_slice::<T, u8>(&best),
            "{dtype:?} {n} {k}"
        );
        assert!(
            out[1] == bytemuck::cast_slice::<i32, u8>(&order),
            "{dtype:?} {n} {k}"
        );
    }
}

#[test]
fn largest_elements() {
    for n in LENGTHS {
        let values = floats(n);
        check_top_k(DType::F64, &values, f64::total_cmp);
        let narrow: Vec<f32> = values.iter().map(|&x| x as f32).collect();
        check_top_k(DType::F32, &narrow, f32::total_cmp);
        let brain: Vec<bf16> = values.iter().map(|&x| bf16::from_f64(x)).collect();
        check_top_k(DType::BF16, &brain, bf16::total_cmp);
        let integers: Vec<i8> = random(n, 13).iter().map(|&x| x as i8).collect();
        check_top_k(DType::I8, &integers, |a, b| a.cmp(b));
    }
}

#[test]
fn largest_elements_on_every_instruction_set() {
    for isa in crate::runtime::simd::Isa::available() {
        isa.assumed_in(|| {
            // Around the lengths of blocks, and of what is kept of candidates.
            for n in [15, 16, 17, 255, 257, 1023, 1025, 1040, 16_385, 70_000] {
                let bits = random(n, 77);
                let floats: Vec<f32> = bits.iter().map(|&x| f32::from_bits(x as u32)).collect();
                check_top_k(DType::F32, &floats, f32::total_cmp);
                let wide: Vec<f64> = bits.iter().map(|&x| f64::from_bits(x)).collect();
                check_top_k(DType::F64, &wide, f64::total_cmp);
                // Many are equal, to the largest number there is too.
                let few: Vec<u64> = bits.iter().map(|&x| u64::MAX - x % 3).collect();
                check_top_k(DType::U64, &few, u64::cmp);
                check_top_k(DType::U8, &vec![255u8; n], u8::cmp);
                check_top_k(DType::I64, &vec![i64::MIN; n], i64::cmp);
                let rising: Vec<u16> = (0..n).map(|i| i as u16).collect();
                check_top_k(DType::U16, &rising, u16::cmp);
            }
        });
    }
}

#[test]
fn largest_along_an_axis() {
    let values: Vec<u32> = vec![3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8];
    let out = run(
        TopK::new(&[3, 4], 0, DType::U32, 2).unwrap(),
        &[bytemuck::cast_slice(&values)],
    );
    assert_eq!(
        bytemuck::cast_slice::<u8, u32>(&out[0]),
        [5, 9, 5, 8, 5, 3, 4, 6]
    );
    assert_eq!(
        bytemuck::cast_slice::<u8, i32>(&out[1]),
        [1, 1, 2, 2, 2, 2, 0, 1]
    );
}
