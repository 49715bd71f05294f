//! Products against their definition.

use half::{bf16, f16};

use super::*;
use crate::runtime::simd::Isa;
use crate::runtime::{KernelCall, View};

/// Reproducible small integers as elements, so that sums are exact in every type.
trait Sample: Element + PartialEq + std::fmt::Debug {
    fn sample(index: usize) -> Self;
}

fn small(index: usize) -> i8 {
    ((index.wrapping_mul(2654435761) >> 7) % 9) as i8 - 4
}

macro_rules! real_samples {
    ($($t:ty)*) => { $(impl Sample for $t {
        fn sample(index: usize) -> Self {
            small(index) as $t
        }
    })* };
}
real_samples!(f32 f64 i8 i16 i32 i64);

macro_rules! complex_samples {
    ($($t:ty)*) => { $(impl Sample for Complex<$t> {
        fn sample(index: usize) -> Self {
            Complex::new(small(index) as $t, small(index + 17) as $t)
        }
    })* };
}
complex_samples!(f32 f64);

impl Sample for Truth {
    fn sample(index: usize) -> Self {
        Self(u8::from(small(index) > 2))
    }
}

fn samples<T: Sample>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| T::sample(i + seed)).collect()
}

/// The definition of a contraction: index by index, through the views.
fn contract<T: Sample>(lhs: &View, rhs: &View, d: &DotDimensions, a: &[T], b: &[T]) -> Vec<T> {
    let free = |view: &View, batch: &[usize], contracting: &[usize]| -> Vec<usize> {
        (0..view.shape.len())
            .filter(|x| !batch.contains(x) && !contracting.contains(x))
            .collect()
    };
    let lhs_free = free(lhs, &d.lhs_batch, &d.lhs_contracting);
    let rhs_free = free(rhs, &d.rhs_batch, &d.rhs_contracting);
    let sizes = |view: &View, axes: &[usize]| -> Vec<usize> {
        axes.iter().map(|&x| view.shape[x]).collect()
    };
    let out_shape = [
        sizes(lhs, &d.lhs_batch),
        sizes(lhs, &lhs_free),
        sizes(rhs, &rhs_free),
    ]
    .concat();
    let inner_shape = sizes(lhs, &d.lhs_contracting);
    // The places that all indices of a shape reach, in order, with these strides.
    let places = |shape: &[usize], strides: &[isize]| -> Vec<isize> {
        shape
            .iter()
            .zip(strides)
            .fold(vec![0], |places, (&size, &stride)| {
                places
                    .iter()
                    .flat_map(|&p| (0..size as isize).map(move |i| p + i * stride))
                    .collect()
            })
    };
    let strides = |view: &View, axes: &[usize]| -> Vec<isize> {
        axes.iter().map(|&x| view.strides[x]).collect()
    };
    let zeros = |axes: &[usize]| vec![0; axes.len()];
    let lhs_out = [
        strides(lhs, &d.lhs_batch),
        strides(lhs, &lhs_free),
        zeros(&rhs_free),
    ]
    .concat();
    let rhs_out = [
        strides(rhs, &d.rhs_batch),
        zeros(&lhs_free),
        strides(rhs, &rhs_free),
    ]
    .concat();
    let lhs_inner = places(&inner_shape, &strides(lhs, &d.lhs_contracting));
    let rhs_inner = places(&inner_shape, &strides(rhs, &d.rhs_contracting));
    let (lhs_out, rhs_out) = (places(&out_shape, &lhs_out), places(&out_shape, &rhs_out));
    (lhs_out.iter().zip(&rhs_out))
        .map(|(&x, &y)| {
            (lhs_inner.iter().zip(&rhs_inner)).fold(T::ZERO, |sum, (&i, &j)| {
                let a = a[(lhs.offset as isize + x + i) as usize];
                sum.plus(a.times(b[(rhs.offset as isize + y + j) as usize]))
            })
        })
        .collect()
}

#[track_caller]
fn check_dot<T: Sample>(lhs: &View, rhs: &View, d: &DotDimensions) {
    let (a, b) = (
        samples::<T>(lhs.elements, 1),
        samples::<T>(rhs.elements, 1000),
    );
    let expected = contract(lhs, rhs, d, &a, &b);
    let mut out = samples::<T>(expected.len(), 3);
    let call = KernelCall::new(DotGeneral::<T>::new(lhs, rhs, d));
    let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
    call.call(
        &[bytemuck::cast_slice(&a), bytemuck::cast_slice(&b)],
        outputs,
        &Context::default(),
    )
    .unwrap();
    assert!(out == expected, "{lhs:?} {rhs:?} {d:?}");
}

fn matrix_dimensions() -> DotDimensions {
    DotDimensions {
        lhs_contracting: vec![1],
        rhs_contracting: vec![0],
        ..Default::default()
    }
}

#[track_caller]
fn check_shapes<T: Sample>(shapes: &[(usize, usize, usize)]) {
    for &(m, n, k) in shapes {
        let (a, at) = (View::dense(&[m, k]), View::dense(&[k, m]).permuted(&[1, 0]));
        let (b, bt) = (View::dense(&[k, n]), View::dense(&[n, k]).permuted(&[1, 0]));
        for lhs in [&a, &at] {
            for rhs in [&b, &bt] {
                check_dot::<T>(lhs, rhs, &matrix_dimensions());
            }
        }
    }
}

const SHAPES: &[(usize, usize, usize)] = &[
    (0, 3, 4),
    (3, 0, 4),
    (3, 4, 0),
    (1, 1, 1),
    (1, 7, 5),
    (7, 1, 5),
    (2, 3, 1),
    (5, 5, 5),
    (13, 15, 17),
    (14, 32, 8),
    (15, 33, 9),
    (29, 16, 40),
    (31, 17, 33),
    (1, 100, 64),
    (100, 1, 67),
    (64, 48, 20),
];

#[test]
fn all_types_and_orders() {
    check_shapes::<f32>(SHAPES);
    check_shapes::<f64>(SHAPES);
    check_shapes::<Complex<f32>>(SHAPES);
    check_shapes::<Complex<f64>>(SHAPES);
    check_shapes::<i8>(SHAPES);
    check_shapes::<i16>(SHAPES);
    check_shapes::<i32>(SHAPES);
    check_shapes::<i64>(SHAPES);
    check_shapes::<Truth>(SHAPES);
}

#[test]
fn every_instruction_set_gives_the_same() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_shapes::<f32>(SHAPES);
            check_shapes::<f64>(SHAPES);
            check_shapes::<Complex<f32>>(SHAPES);
            check_shapes::<Complex<f64>>(SHAPES);
            check_shapes::<i8>(&SHAPES[8..]);
            check_shapes::<i32>(&SHAPES[8..]);
            check_shapes::<i64>(&SHAPES[8..]);
        });
    }
}

#[test]
fn large_matrices_with_a_few_vectors() {
    let shapes: Vec<_> = [(511, 64), (512, 64), (515, 65), (64, 512), (1000, 63)]
        .into_iter()
        .flat_map(|(m, k)| [2, 3, 4, 5, 8, 9].map(|n| (m, n, k)))
        .flat_map(|(m, n, k)| [(m, n, k), (n, m, k)])
        .collect();
    for isa in Isa::available() {
        isa.assumed_in(|| check_shapes::<f32>(&shapes));
    }
    check_shapes::<f64>(&shapes);
    check_shapes::<i16>(&shapes[..8]);
}

/// Complex ones, whose tiles hold few columns, from fewer elements on; rows and columns that end at every lane.
#[test]
fn complex_matrices_with_a_few_vectors() {
    let sides = [15, 16, 17, 18, 19, 20, 23, 24, 31, 33, 67];
    let shapes: Vec<_> = sides
        .into_iter()
        .flat_map(|m| [64, 65, 66, 67, 70, 71].map(|k| (m, k)))
        .enumerate()
        .map(|(index, (m, k))| (m, [1, 2, 3, 4, 5, 8, 9][index % 7], k))
        .flat_map(|(m, n, k)| [(m, n, k), (n, m, k), (k, n, m)])
        .collect();
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_shapes::<Complex<f32>>(&shapes);
            check_shapes::<Complex<f64>>(&shapes);
        });
    }
}

#[test]
fn shapes_that_are_packed_split_and_blocked() {
    // Several blocks of the inner dimension; several blocks of columns; a split contraction.
    check_shapes::<f32>(&[
        (40, 40, 600),
        (3, 5000, 3),
        (130, 130, 130),
        (3, 2, 50_000),
        (1, 1, 70_000),
        (1, 9, 70_000),
        // Several blocks that each chunk packs for itself; several packed together, in turns; rows in the same places of pages.
        (300, 40, 520),
        (6, 1000, 1100),
        (20, 200, 1024),
    ]);
    check_shapes::<Complex<f32>>(&[(60, 70, 90), (9, 9, 20_000)]);
    check_shapes::<i32>(&[(70, 80, 90)]);
}

/// Few rows by wide matrices, which chunks pack for themselves; one row, in strips of every width and in several chunks.
#[test]
fn few_rows_by_wide_matrices() {
    let few = [(15, 700, 513), (33, 530, 530), (100, 264, 520)];
    let one = [17, 64, 255, 271, 288, 1000].map(|n| (1, n, 70));
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_shapes::<f32>(&few[..2]);
            check_shapes::<f64>(&[(20, 140, 600)]);
            check_shapes::<f32>(&one);
            check_shapes::<Complex<f64>>(&one[..4]);
            check_shapes::<i32>(&one[..4]);
        });
    }
    check_shapes::<f32>(&few);
    check_shapes::<f32>(&[(1, 520, 600), (600, 1, 520), (1, 3000, 90)]);
    check_shapes::<Complex<f32>>(&[(20, 140, 600)]);
}

#[test]
fn strided_operands() {
    let spread = View {
        strides: vec![70, 3],
        offset: 5,
        elements: 800,
        ..View::dense(&[10, 20])
    };
    let reversed = View {
        strides: vec![-15, -1],
        offset: 299,
        ..View::dense(&[20, 15])
    };
    let repeated = View {
        strides: vec![0, 1],
        elements: 15,
        ..View::dense(&[20, 15])
    };
    check_dot::<f32>(&spread, &reversed, &matrix_dimensions());
    check_dot::<f64>(&spread, &repeated, &matrix_dimensions());
    check_dot::<Complex<f64>>(&spread, &reversed, &matrix_dimensions());
    check_dot::<f32>(
        &reversed.permuted(&[1, 0]),
        &spread.permuted(&[1, 0]),
        &matrix_dimensions(),
    );
    let column = View {
        strides: vec![3, 7],
        elements: 200,
        ..View::dense(&[20, 1])
    };
    check_dot::<f32>(&spread, &column, &matrix_dimensions());
    check_dot::<f32>(&column.permuted(&[1, 0]), &reversed, &matrix_dimensions());
}

#[test]
fn contractions_with_batches_and_many_dimensions() {
    let dims = |lc: &[usize], rc: &[usize], lb: &[usize], rb: &[usize]| DotDimensions {
        lhs_contracting: lc.to_vec(),
        rhs_contracting: rc.to_vec(),
        lhs_batch: lb.to_vec(),
        rhs_batch: rb.to_vec(),
    };
    let check = |lhs: &[usize], rhs: &[usize], d: DotDimensions| {
        check_dot::<f32>(&View::dense(lhs), &View::dense(rhs), &d);
        check_dot::<Complex<f64>>(&View::dense(lhs), &View::dense(rhs), &d);
        check_dot::<i16>(&View::dense(lhs), &View::dense(rhs), &d);
    };
    check(&[], &[], dims(&[], &[], &[], &[]));
    check(&[3], &[4], dims(&[], &[], &[], &[]));
    check(&[5], &[5], dims(&[0], &[0], &[], &[]));
    check(&[6], &[6], dims(&[], &[], &[0], &[0]));
    check(&[4, 5, 6], &[4, 6, 7], dims(&[2], &[1], &[0], &[0]));
    check(&[5, 4, 6], &[6, 7, 4], dims(&[2], &[0], &[1], &[2]));
    check(
        &[2, 20, 3, 6],
        &[2, 18, 3, 6],
        dims(&[3], &[3], &[0, 2], &[0, 2]),
    );
    check(&[4, 5, 6], &[6, 5, 3], dims(&[1, 2], &[1, 0], &[], &[]));
    check(&[4, 5, 6], &[5, 6, 3], dims(&[1, 2], &[0, 1], &[], &[]));
    check(&[5, 4, 6], &[3, 5, 2, 6], dims(&[0, 2], &[1, 3], &[], &[]));
    check(&[3, 8, 20], &[8, 2], dims(&[1], &[0], &[], &[]));
    check(&[2, 3, 0], &[0, 2], dims(&[2], &[0], &[], &[]));
    check(&[0, 3, 4], &[0, 4, 2], dims(&[2], &[1], &[0], &[0]));
    check(&[1, 3, 1, 4], &[4, 1, 5, 1], dims(&[3], &[0], &[0], &[1]));
}

#[test]
fn sixteen_bit_operands_are_summed_in_single_precision() {
    let view = View::dense(&[3, 300]);
    let d = DotDimensions {
        lhs_contracting: vec![1],
        rhs_contracting: vec![1],
        ..Default::default()
    };
    let x = vec![f16::from_f32(3.0); 900];
    let mut out = vec![f16::ZERO; 9];
    let call = KernelCall::new(DotGeneral::<f16, f32, f16>::new(&view, &view, &d));
    let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
    call.call(
        &[bytemuck::cast_slice(&x), bytemuck::cast_slice(&x)],
        outputs,
        &Context::default(),
    )
    .unwrap();
    assert_eq!(out, [f16::from_f32(2700.0); 9]);
    let x = vec![bf16::from_f32(1.0); 900];
    let mut out = vec![0f32; 9];
    let call = KernelCall::new(DotGeneral::<bf16, f32, f32>::new(&view, &view, &d));
    let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
    call.call(
        &[bytemuck::cast_slice(&x), bytemuck::cast_slice(&x)],
        outputs,
        &Context::default(),
    )
    .unwrap();
    assert_eq!(out, [300.0; 9]);
}

#[test]
fn small_integers_are_summed_in_the_wide_type() {
    let view = View::dense(&[2, 1000]);
    let d = DotDimensions {
        lhs_contracting: vec![1],
        rhs_contracting: vec![1],
        ..Default::default()
    };
    let x = vec![-100i8; 2000];
    let mut out = vec![0i32; 4];
    let call = KernelCall::new(DotGeneral::<i8, i32>::new(&view, &view, &d));
    let outputs = &mut [bytemuck::cast_slice_mut(&mut out)];
    call.call(
        &[bytemuck::cast_slice(&x), bytemuck::cast_slice(&x)],
        outputs,
        &Context::default(),
    )
    .unwrap();
    assert_eq!(out, [10_000_000; 4]);
}

#[test]
fn not_a_number_is_not_lost() {
    for (m, n, k) in [(3, 4, 5), (1, 40, 20), (40, 1, 20), (30, 40, 50)] {
        let mut a = vec![1f32; m * k];
        a[0] = f32::NAN;
        a[k - 1] = f32::INFINITY;
        let (b, mut c) = (vec![0f32; k * n], vec![1f32; m * n]);
        // SAFETY: dense matrices of these shapes.
        unsafe {
            matmul(
                &MatMul::dense(m, n, k),
                a.as_ptr(),
                b.as_ptr(),
                c.as_mut_ptr(),
                &Context::default(),
            )
            .unwrap()
        };
        assert!(
            c[..n].iter().all(|x| x.is_nan()) && c[n..].iter().all(|&x| x == 0.0),
            "{m} {n} {k}"
        );
    }
}

#[test]
fn results_do_not_depend_on_the_number_of_threads() {
    let pool = crate::runtime::ThreadPool::new(4);
    for (m, n, k) in [
        (200, 150, 700),
        (300, 300, 600),
        (400, 1100, 700),
        (3, 4, 100_000),
        (1, 900, 900),
        (900, 1, 900),
    ] {
        let values =
            |count: usize| -> Vec<f32> { (0..count).map(|i| (i as f32 * 0.7).sin()).collect() };
        let (a, b) = (values(m * k), values(k * n));
        let results: Vec<Vec<f32>> = [1, 2, 4]
            .iter()
            .map(|&threads| {
                let mut c = vec![0f32; m * n];
                let context = Context::new(&pool, threads);
                // SAFETY: dense matrices of these shapes.
                unsafe {
                    matmul(
                        &MatMul::dense(m, n, k),
                        a.as_ptr(),
                        b.as_ptr(),
                        c.as_mut_ptr(),
                        &context,
                    )
                    .unwrap()
                };
                c
            })
            .collect();
        assert!(
            results[0] == results[1] && results[0] == results[2],
            "{m} {n} {k}"
        );
    }
}

#[test]
fn products_are_subtracted_in_place() {
    for (m, n, k) in [(20, 33, 700), (1, 5, 3), (5, 1, 3), (3, 4, 0), (40, 50, 60)] {
        let (a, b) = (samples::<f64>(m * k, 1), samples::<f64>(k * n, 2));
        let product = contract(
            &View::dense(&[m, k]),
            &View::dense(&[k, n]),
            &matrix_dimensions(),
            &a,
            &b,
        );
        // By rows and by columns, either of them from the last one on.
        let ways = [(n, 1), (1, m), (2 * n, 2)]
            .into_iter()
            .flat_map(|steps| [(1, 1), (-1, 1), (1, -1), (-1, -1)].map(|signs| (steps, signs)));
        for ((row, column), (down, along)) in ways {
            let old = samples::<f64>(2 * m * n, 3);
            let mut c = old.clone();
            let last = |sign: isize, step: usize, count: usize| {
                if sign < 0 { step * (count - 1) } else { 0 }
            };
            let start = last(down, row, m) + last(along, column, n);
            let (row, column) = (down * row as isize, along * column as isize);
            let to = MatrixMut {
                pointer: c[start..].as_mut_ptr(),
                row,
                column,
            };
            let a = Matrix {
                pointer: a.as_ptr(),
                row: k as isize,
                column: 1,
            };
            let b = Matrix {
                pointer: b.as_ptr(),
                row: n as isize,
                column: 1,
            };
            // SAFETY: matrices of these shapes; the result has twice as many elements as it needs.
            unsafe { subtract((m, n, k), a, b, to, &Context::default()).unwrap() };
            for i in 0..m {
                for j in 0..n {
                    let place = start.wrapping_add_signed(i as isize * row + j as isize * column);
                    assert_eq!(
                        c[place],
                        old[place] - product[i * n + j],
                        "{m} {n} {k} {row}"
                    );
                }
            }
        }
    }
}

#[test]
fn conversions_of_every_length_round_as_those_of_one_number() {
    // Around the lengths of vectors, and of what one chunk converts.
    for count in [0, 1, 7, 8, 9, 15, 16, 17, 32_767, 32_768, 32_769, 65_537] {
        let bits = |i: usize| (i as u32).wrapping_mul(2_654_435_761).rotate_left(7);
        let singles: Vec<f32> = (0..count).map(|i| f32::from_bits(bits(i))).collect();
        let context = Context::default();
        let (mut brains, mut halves) = (vec![bf16::ZERO; count], vec![f16::ZERO; count]);
        convert_all(&singles, &mut brains, &context);
        convert_all(&singles, &mut halves, &context);
        let (mut from_brains, mut from_halves) = (vec![0.0f32; count], vec![0.0f32; count]);
        convert_all(&brains, &mut from_brains, &context);
        convert_all(&halves, &mut from_halves, &context);
        for (i, &x) in singles.iter().enumerate() {
            let same = |a: f32, b: f32| a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan());
            assert!(same(brains[i].to_f32(), bf16::from_f32(x).to_f32()), "{x}");
            assert!(same(halves[i].to_f32(), f16::from_f32(x).to_f32()), "{x}");
            assert!(same(from_brains[i], brains[i].to_f32()), "{x}");
            assert!(same(from_halves[i], halves[i].to_f32()), "{x}");
        }
    }
}

#[test]
fn tiles_of_every_height() {
    // Panels of all numbers of rows, whole and partial vectors of columns, in one block of the inner
    // dimension and in two.
    let shapes: Vec<_> = (1..30)
        .flat_map(|m| [(m, 32, 5), (m, 37, 400), (m, 16, 385)])
        .collect();
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_shapes::<f32>(&shapes);
            check_shapes::<f64>(&shapes);
        });
    }
    check_shapes::<i32>(&shapes);
}

fn check_tiny<T: Sample>() {
    // Around the number of lanes, and of the elements that are moved into them.
    for (batch, m, n, k) in [
        (15, 2, 2, 2),
        (16, 2, 2, 2),
        (17, 3, 3, 3),
        (100, 1, 1, 7),
        (33, 3, 2, 4),
        (40, 4, 3, 2),
        (40, 4, 4, 2),
        (40, 4, 4, 3),
        (2100, 2, 3, 1),
        (50, 2, 2, 0),
        (100, 8, 1, 8),
        (17, 16, 1, 8),
        (33, 17, 1, 8),
        (16, 4, 1, 32),
        (20, 3, 1, 33),
        (31, 5, 1, 0),
    ] {
        let numbers = DotDimensions {
            lhs_contracting: vec![2],
            rhs_contracting: vec![1],
            lhs_batch: vec![0],
            rhs_batch: vec![0],
        };
        let (a, b) = (View::dense(&[batch, m, k]), View::dense(&[batch, k, n]));
        check_dot::<T>(&a, &b, &numbers);
        // The batch last in memory, and one operand for all.
        let last = View::dense(&[m, k, batch]).permuted(&[2, 0, 1]);
        check_dot::<T>(&last, &b, &numbers);
        let mut one = View::dense(&[1, k, n]);
        (one.shape[0], one.strides[0]) = (batch, 0);
        check_dot::<T>(&a, &one, &numbers);
        let (a, b) = (
            View::dense(&[3, batch, m, k]),
            View::dense(&[batch, 3, k, n]),
        );
        let numbers = DotDimensions {
            lhs_contracting: vec![3],
            rhs_contracting: vec![2],
            lhs_batch: vec![0, 1],
            rhs_batch: vec![1, 0],
        };
        check_dot::<T>(&a, &b, &numbers);
    }
}

#[test]
fn batches_of_tiny_products() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_tiny::<f32>();
            check_tiny::<f64>();
            check_tiny::<Complex<f32>>();
            check_tiny::<i8>();
            check_tiny::<i64>();
            check_tiny::<Truth>();
        });
    }
}
