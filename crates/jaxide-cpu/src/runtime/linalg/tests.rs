//! Kernels against the reference numerics, which compute in double precision.

use jaxide_core::eval::numerics::linalg::{self as reference, Entry, TriangularSolve as Options};
use num_complex::Complex;

use super::*;
use crate::runtime::{Kernel, KernelCall};

/// A reproducible number with parts between -1 and 1.
fn sample<T: Scalar>(i: usize) -> T {
    let part = |i: u64| {
        let mixed = (i + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        (mixed >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    T::from_components(part(2 * i as u64), part(2 * i as u64 + 1))
}

fn samples<T: Scalar>(count: usize, seed: usize) -> Vec<T> {
    (0..count).map(|i| sample(i + seed)).collect()
}

#[track_caller]
fn run(kernel: impl Kernel + 'static, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    run_in(&Context::default(), kernel, inputs)
}

#[track_caller]
fn run_in(context: &Context<'_>, kernel: impl Kernel + 'static, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
    let call = KernelCall::new(kernel);
    let sizes = call.signature().outputs.clone();
    let mut out: Vec<Vec<u128>> = sizes
        .iter()
        .map(|bytes| vec![0; bytes.div_ceil(16)])
        .collect();
    let mut slices: Vec<&mut [u8]> = out
        .iter_mut()
        .zip(&sizes)
        .map(|(out, &bytes)| &mut bytemuck::cast_slice_mut(out)[..bytes])
        .collect();
    call.call(inputs, &mut slices, context).unwrap();
    slices.into_iter().map(|out| out.to_vec()).collect()
}

/// The numbers in bytes, which need not be aligned.
fn numbers<T: bytemuck::Pod>(bytes: &[u8]) -> Vec<T> {
    bytes
        .chunks_exact(size_of::<T>())
        .map(bytemuck::pod_read_unaligned)
        .collect()
}

/// Checks that numbers agree to a multiple of the type's precision, relative to the largest one.
#[track_caller]
fn close<T: Scalar>(got: &[u8], want: &[T], factor: f64) {
    let got: Vec<T> = numbers(got);
    assert_eq!(got.len(), want.len());
    let epsilon = if T::from_components(1.0 + 1e-12, 0.0) == T::ONE {
        1.2e-7
    } else {
        2.3e-16
    };
    let scale = want.iter().map(|x| x.abs1()).fold(1.0, f64::max);
    for (i, (g, w)) in got.iter().zip(want).enumerate() {
        let error = (*g + -*w).abs1();
        assert!(
            error <= factor * epsilon * scale,
            "entry {i}: {g:?} for {w:?}"
        );
    }
}

/// Runs a generic check for all four types.
macro_rules! all_types {
    ($check:ident($($argument:expr),*)) => {
        $check::<f32>($($argument),*);
        $check::<f64>($($argument),*);
        $check::<Complex<f32>>($($argument),*);
        $check::<Complex<f64>>($($argument),*);
    };
}

fn bytes<T: Scalar>(numbers: &[T]) -> &[u8] {
    bytemuck::cast_slice(numbers)
}

/// A positive definite matrix, with other things above the diagonal.
fn positive<T: Scalar>(n: usize, seed: usize) -> Vec<T> {
    let b = samples::<T>(n * n, seed);
    let mut a = vec![T::ZERO; n * n];
    for i in 0..n {
        for j in 0..n {
            let product = (0..n).fold(T::ZERO, |sum, k| sum + b[i * n + k] * b[j * n + k].conj());
            a[i * n + j] = if j > i { sample(i + j) } else { product };
        }
        a[i * n + i] = a[i * n + i] + T::from_components(n as f64, 0.0);
    }
    a
}

fn check_cholesky<T: Scalar>() {
    for n in [0, 1, 2, 7, 31, 64, 65, 150] {
        let a = [positive::<T>(n, 1), positive::<T>(n, 2)].concat();
        let want: Vec<T> = a
            .chunks((n * n).max(1))
            .flat_map(|a| reference::cholesky(a, n))
            .collect();
        close(
            &run(Cholesky::<T>::new(2, n), &[bytes(&a)])[0],
            &want,
            200.0,
        );
    }
    let mut a = positive::<T>(100, 3);
    a[80 * 100 + 80] = T::from_components(-1.0, 0.0);
    let out: Vec<T> = numbers(&run(Cholesky::<T>::new(1, 100), &[bytes(&a)])[0]);
    assert!(out.iter().all(|x| x.re().is_nan()));
    a[80 * 100 + 80] = T::NAN;
    let out: Vec<T> = numbers(&run(Cholesky::<T>::new(1, 100), &[bytes(&a)])[0]);
    assert!(out.iter().all(|x| x.re().is_nan()));
}

#[test]
fn cholesky_factors() {
    all_types!(check_cholesky());
}

fn check_lu<T: Scalar>() {
    for (m, n) in [
        (0, 0),
        (3, 0),
        (0, 3),
        (1, 1),
        (5, 5),
        (20, 33),
        (33, 20),
        (40, 40),
        (100, 90),
        (70, 130),
    ] {
        let a = samples::<T>(2 * m * n, m);
        let out = run(Lu::<T>::new(2, m, n), &[bytes(&a)]);
        let rank = m.min(n);
        for index in 0..2 {
            let want = reference::lu(&a[index * m * n..(index + 1) * m * n], m, n);
            let size = m * n * size_of::<T>();
            close(&out[0][index * size..(index + 1) * size], &want.lu, 3000.0);
            assert_eq!(
                numbers::<i32>(&out[1][4 * index * rank..4 * (index + 1) * rank]),
                want.pivots
            );
            assert_eq!(
                numbers::<i32>(&out[2][4 * index * m..4 * (index + 1) * m]),
                want.permutation
            );
        }
    }
    // Zero columns have no pivot and are left alone.
    let mut a = samples::<T>(36, 5);
    (0..6).for_each(|i| a[6 * i + 2] = T::ZERO);
    let want = reference::lu(&a, 6, 6);
    let out = run(Lu::<T>::new(1, 6, 6), &[bytes(&a)]);
    close(&out[0], &want.lu, 100.0);
    assert_eq!(numbers::<i32>(&out[1]), want.pivots);
}

#[test]
fn lu_factors() {
    all_types!(check_lu());
}

fn check_triangular_solve<T: Scalar>() {
    for (rows, columns) in [
        (1, 1),
        (3, 5),
        (40, 3),
        (3, 40),
        (70, 1),
        (1, 70),
        (33, 50),
        (0, 4),
        (4, 0),
    ] {
        for flags in 0..32 {
            let flag = |k: i32| flags >> k & 1 == 1;
            let options = Options {
                left_side: flag(0),
                lower: flag(1),
                transpose_a: flag(2),
                conjugate_a: flag(3),
                unit_diagonal: flag(4),
            };
            let n = if options.left_side { rows } else { columns };
            // Small entries beside the diagonal keep solutions moderate.
            let mut a: Vec<T> = samples::<T>(n * n, 7)
                .iter()
                .map(|&x| x * T::from_components(0.1, 0.0))
                .collect();
            (0..n).for_each(|i| a[i * n + i] = sample::<T>(i) + T::from_components(4.0, 0.0));
            let b = samples::<T>(rows * columns, 3);
            let want = reference::triangular_solve(&a, &b, rows, columns, options);
            let out = run(
                TriangularSolve::<T>::new(1, rows, columns, options),
                &[bytes(&a), bytes(&b)],
            );
            close(&out[0], &want, 200.0);
        }
    }
}

#[test]
fn triangular_solves() {
    all_types!(check_triangular_solve());
    let options = Options {
        left_side: true,
        lower: true,
        ..Default::default()
    };
    let a = [[1.0f64, 9.0, 2.0, 2.0], [2.0, 9.0, 1.0, 4.0]].concat();
    let b = [2.0f64, 8.0, 4.0, 6.0];
    let out = run(
        TriangularSolve::<f64>::new(2, 2, 1, options),
        &[bytes(&a), bytes(&b)],
    );
    assert_eq!(numbers::<f64>(&out[0]), [2.0, 2.0, 2.0, 1.0]);
}

fn check_qr<T: Scalar<Real: RealScalar>>() {
    for (m, n) in [
        (1, 1),
        (3, 3),
        (5, 2),
        (2, 5),
        (40, 40),
        (70, 33),
        (33, 70),
        (100, 64),
        (0, 3),
        (3, 0),
    ] {
        let rank = m.min(n);
        let a = samples::<T>(m * n, n);
        let (packed, taus) = reference::geqrf(&a, m, n);
        let out = run(Geqrf::<T>::new(1, m, n), &[bytes(&a)]);
        close(&out[0], &packed, 500.0);
        close(&out[1], &taus, 500.0);
        for (full, pivoting) in [(false, false), (true, false), (false, true), (true, true)] {
            let want = reference::qr(&a, m, n, full, pivoting);
            let out = run(Qr::<T>::new(1, m, n, full, pivoting), &[bytes(&a)]);
            close(&out[0], &want.q, 500.0);
            close(&out[1], &want.r, 500.0);
            assert_eq!(out.get(2).map(|order| numbers::<i32>(order)), want.pivots);
        }
        if m >= n {
            let k = rank.saturating_sub(1);
            let want = reference::householder_product(&packed, m, n, &taus[..k]);
            let out = run(
                HouseholderProduct::<T>::new(1, m, n, k),
                &[bytes(&packed), bytes(&taus[..k])],
            );
            close(&out[0], &want, 500.0);
        }
        for (left, transpose) in [(true, true), (true, false), (false, true), (false, false)] {
            let (rows, columns) = if left { (m, 4) } else { (4, m) };
            let c = samples::<T>(rows * columns, 9);
            let want =
                reference::ormqr((&packed, m, n), &taus, (&c, rows, columns), left, transpose);
            let kernel = Ormqr::<T>::new(1, (n, rank), (rows, columns), left, transpose);
            close(
                &run(kernel, &[bytes(&packed), bytes(&taus), bytes(&c)])[0],
                &want,
                500.0,
            );
        }
    }
}

#[test]
fn qr_factors() {
    all_types!(check_qr());
    // Norms that overflow when squared, and columns without anything to eliminate.
    let huge = [1e200f64, 2e200, -3e200, 5e200];
    let out = run(Geqrf::<f64>::new(1, 2, 2), &[bytes(&huge)]);
    assert!(
        numbers::<f64>(&out[0])
            .iter()
            .all(|x| x.is_finite() && x.abs() < 1e201)
    );
    let out = run(Geqrf::<f64>::new(1, 2, 1), &[bytes(&[3.0f64, 0.0])]);
    assert_eq!(
        (numbers::<f64>(&out[0]), numbers::<f64>(&out[1])),
        (vec![3.0, 0.0], vec![0.0])
    );
}

fn check_spectral<T: Scalar<Real: RealScalar, Wide: Iterate>>()
where
    Complex<T::Real>: Entry<Wide = Complex<f64>> + bytemuck::Pod,
{
    let n = 5;
    let a = samples::<T>(2 * n * n, 4);
    let second = &a[n * n..];
    let part = |out: &[u8], per: usize| out[per..2 * per].to_vec();
    let size = size_of::<T>();
    let out = run(Schur::<T>::new(2, n, true), &[bytes(&a)]);
    let (form, unitary) = reference::schur(second, n);
    close(&part(&out[0], n * n * size), &form, 20.0);
    close(&part(&out[1], n * n * size), &unitary, 20.0);
    let out = run(Hessenberg::<T>::new(2, n), &[bytes(&a)]);
    let (packed, taus) = reference::hessenberg(second, n);
    close(&part(&out[0], n * n * size), &packed, 20.0);
    close(&part(&out[1], (n - 1) * size), &taus, 10.0);
    let out = run(Tridiagonal::<T>::new(2, n, true), &[bytes(&a)]);
    close(
        &part(&out[3], (n - 1) * size),
        &reference::tridiagonal(second, n, true).taus,
        10.0,
    );
    let out = run(Eig::<T>::new(2, n, true, true), &[bytes(&a)]);
    assert_eq!(
        out[2],
        run(Eig::<T>::new(2, n, false, true), &[bytes(&a)])[1]
    );
    assert_eq!(
        out[1],
        run(Eig::<T>::new(2, n, true, false), &[bytes(&a)])[1]
    );
    let pivots = [0i32, 0, 3, 0, 0, 0, 0, 0, 0, 0];
    let out = run(
        geqp3::<T>(2, n, n),
        &[bytes(&a), bytemuck::cast_slice(&pivots)],
    );
    let (packed, order, _) = reference::geqp3(second, n, n, &pivots[n..]);
    close(&part(&out[0], n * n * size), &packed, 10.0);
    assert_eq!(numbers::<i32>(&part(&out[1], n * 4)), order);
    let out = run(
        TridiagonalSolve::<T>::new(1, n, 2, false),
        &[
            bytes(&a[..5]),
            bytes(&a[5..10]),
            bytes(&a[10..15]),
            bytes(&a[15..25]),
        ],
    );
    close(
        &out[0],
        &reference::tridiagonal_solve(&a[..5], &a[5..10], &a[10..15], &a[15..25], 2),
        10.0,
    );
}

/// `a b` of dense matrices with `k` columns and rows; of `aᴴ` with `adjoint`.
fn product<T: Scalar>(a: &[T], b: &[T], k: usize, adjoint: bool) -> Vec<T> {
    let (m, n) = (a.len() / k.max(1), b.len() / k.max(1));
    let entry = |i: usize, p: usize| {
        if adjoint {
            a[p * m + i].conj()
        } else {
            a[i * k + p]
        }
    };
    let element =
        |i: usize, j: usize| (0..k).fold(T::ZERO, |sum, p| sum + entry(i, p) * b[p * n + j]);
    (0..m * n)
        .map(|index| element(index / n, index % n))
        .collect()
}

fn unit_matrix<T: Scalar>(n: usize) -> Vec<T> {
    (0..n * n)
        .map(|i| if i % (n + 1) == 0 { T::ONE } else { T::ZERO })
        .collect()
}

/// Columns multiplied by real numbers.
fn scaled_columns<T: Scalar<Real: RealScalar>>(a: &[T], factors: &[T::Real]) -> Vec<T> {
    let n = factors.len().max(1);
    a.iter()
        .enumerate()
        .map(|(i, &x)| x * T::from_components(factors[i % n].re(), 0.0))
        .collect()
}

fn check_eigh<T: Scalar<Real: RealScalar>>() {
    let diagonal = |n: usize, value: &dyn Fn(usize) -> f64| -> Vec<T> {
        (0..n * n)
            .map(|i| {
                if i % (n + 1) == 0 {
                    T::from_components(value(i / n), 0.0)
                } else {
                    T::ZERO
                }
            })
            .collect()
    };
    let mut matrices: Vec<(usize, Vec<T>)> = [1, 2, 3, 10, 33, 70]
        .iter()
        .map(|&n| (n, samples::<T>(n * n, n)))
        .collect();
    matrices.push((5, diagonal(5, &|i| 3.0 - i as f64)));
    matrices.push((40, diagonal(40, &|_| 2.0)));
    matrices.push((6, vec![T::ZERO; 36]));
    matrices.push((30, vec![T::ONE; 900]));
    matrices.push((
        20,
        samples::<T>(400, 8)
            .iter()
            .map(|&x| x * T::from_components(1e30, 0.0))
            .collect(),
    ));
    for (n, a) in &matrices {
        let n = *n;
        for lower in [true, false] {
            let out = run(Eigh::<T>::new(1, n, lower), &[bytes(a)]);
            let (v, w) = (numbers::<T>(&out[0]), numbers::<T::Real>(&out[1]));
            let want = reference::eigh(a, n, lower);
            close(&out[1], &want.values, 200.0);
            let gram = product(&v, &v, n, true);
            close(bytes(&gram), &unit_matrix::<T>(n), 500.0);
            let whole: Vec<T> = (0..n * n)
                .map(|index| {
                    let (i, j) = (index / n, index % n);
                    match (i == j, (i > j) == lower) {
                        (true, _) => T::from_components(a[index].re(), 0.0),
                        (false, true) => a[index],
                        (false, false) => a[j * n + i].conj(),
                    }
                })
                .collect();
            let back = product(&whole, &v, n, false);
            close(bytes(&back), &scaled_columns(&v, &w), 500.0);
        }
    }
    let a = samples::<T>(300, 2);
    close(
        &run(Eigh::<T>::new(3, 10, true), &[bytes(&a)])[0][200 * size_of::<T>()..],
        &reference::eigh(&a[200..], 10, true).vectors,
        2000.0,
    );
    let out = run(Eigh::<T>::new(1, 2, true), &[bytes(&[T::NAN; 4])]);
    assert!(numbers::<T>(&out[0]).iter().all(|x| x.re().is_nan()));
}

#[test]
fn eigenvalues_of_hermitian_matrices() {
    all_types!(check_eigh());
}

/// After its one eigenvalue a matrix of ones leaves numbers of which the squares vanish.
#[test]
fn eigenvalues_of_ones() {
    for n in [2, 3, 16, 31, 33, 47, 48, 49, 50, 63, 64, 65, 100] {
        let a = vec![1f64; n * n];
        let out = run(Eigh::<f64>::new(1, n, true), &[bytes(&a)]);
        let (v, w) = (numbers::<f64>(&out[0]), numbers::<f64>(&out[1]));
        assert!(
            w.is_sorted() && (w[n - 1] - n as f64).abs() < 1e-12 * n as f64,
            "{n}: {w:?}"
        );
        let gram = product(&v, &v, n, true);
        close(bytes(&gram), &unit_matrix::<f64>(n), 500.0);
        let back = product(&a, &v, n, false);
        close(bytes(&back), &scaled_columns(&v, &w), 500.0);
    }
}

fn check_svd<T: Scalar<Real: RealScalar>>() {
    let mut matrices: Vec<(usize, usize, Vec<T>)> = [
        (1, 1),
        (2, 2),
        (3, 2),
        (2, 3),
        (7, 7),
        (40, 33),
        (33, 40),
        (70, 20),
        (20, 70),
        (50, 50),
        (0, 3),
        (3, 0),
    ]
    .iter()
    .map(|&(m, n)| (m, n, samples::<T>(m * n, m)))
    .collect();
    matrices.push((5, 5, vec![T::ZERO; 25]));
    matrices.push((30, 20, vec![T::ONE; 600]));
    matrices.push((4, 4, unit_matrix(4)));
    // A bidiagonal matrix with zeros on the diagonal.
    matrices.push((
        5,
        5,
        (0..25)
            .map(|i| {
                if i % 6 == 1 || i == 0 || i == 18 {
                    T::ONE
                } else {
                    T::ZERO
                }
            })
            .collect(),
    ));
    matrices.push((
        6,
        6,
        samples::<T>(36, 8)
            .iter()
            .map(|&x| x * T::from_components(1e-30, 0.0))
            .collect(),
    ));
    for (m, n, a) in &matrices {
        let (m, n, rank) = (*m, *n, *m.min(n));
        let norm = a.iter().map(|x| x.abs1()).fold(0.0, f64::max).max(1e-300);
        for full in [true, false] {
            let (left, right) = if full { (m, n) } else { (rank, rank) };
            let out = run(Svd::<T>::new(1, m, n, full, true), &[bytes(a)]);
            let s = numbers::<T::Real>(&out[0]);
            let want = reference::singular_values(a, m, n);
            let relative = |s: &[T::Real]| -> Vec<T::Real> {
                s.iter()
                    .map(|x| T::Real::from_components(x.re() / norm, 0.0))
                    .collect()
            };
            close(bytes(&relative(&s)), &relative(&want), 300.0);
            assert!(s.windows(2).all(|pair| pair[0].re() >= pair[1].re()));
            let (u, vt) = (numbers::<T>(&out[1]), numbers::<T>(&out[2]));
            close(
                bytes(&product(&u, &u, m, true)),
                &unit_matrix::<T>(left),
                500.0,
            );
            let v: Vec<T> = (0..n * right)
                .map(|i| vt[i % right * n + i / right].conj())
                .collect();
            close(
                bytes(&product(&v, &v, n, true)),
                &unit_matrix::<T>(right),
                500.0,
            );
            let u_rank: Vec<T> = (0..m * rank)
                .map(|i| u[i / rank * left + i % rank])
                .collect();
            let back = product(&scaled_columns(&u_rank, &s), &vt[..rank * n], rank, false);
            let unit = |x: &[T]| -> Vec<T> {
                x.iter()
                    .map(|&x| T::from_components(x.re() / norm, x.im() / norm))
                    .collect()
            };
            close(bytes(&unit(&back)), &unit(a), 500.0);
            let alone = run(Svd::<T>::new(1, m, n, full, false), &[bytes(a)]);
            close(
                bytes(&relative(&numbers::<T::Real>(&alone[0]))),
                &relative(&s),
                20.0,
            );
        }
    }
    let a = samples::<T>(24, 2);
    let out = run(Svd::<T>::new(2, 4, 3, false, false), &[bytes(&a)]);
    close(
        &out[0][3 * size_of::<T::Real>()..],
        &reference::singular_values(&a[12..], 4, 3),
        100.0,
    );
    let out = run(Svd::<T>::new(1, 2, 2, false, true), &[bytes(&[T::NAN; 4])]);
    assert!(numbers::<T>(&out[2]).iter().all(|x| x.re().is_nan()));
}

#[test]
fn singular_values() {
    all_types!(check_svd());
}

#[test]
fn large_matrices_on_any_number_of_threads() {
    let pool = crate::runtime::ThreadPool::new(3);
    let [one, three] = [1, 3].map(|threads| Context::new(&pool, threads));
    let (m, n) = (280, 270);
    let a = samples::<f32>(m * n, 1);
    let close = |x: f64, y: f64| assert!((x - y).abs() < 1e-3, "{x} for {y}");
    let dot = |row: &mut dyn Iterator<Item = f64>, v: &[f32]| -> f64 {
        row.zip(v).map(|(x, &y)| x * f64::from(y)).sum()
    };

    let symmetric = &a[..n * n];
    let out = run_in(&one, Eigh::<f32>::new(1, n, true), &[bytes(symmetric)]);
    assert!(out == run_in(&three, Eigh::<f32>::new(1, n, true), &[bytes(symmetric)]));
    let (v, w) = (numbers::<f32>(&out[0]), numbers::<f32>(&out[1]));
    for j in [0, n / 2, n - 1] {
        let column: Vec<f32> = v.iter().skip(j).step_by(n).copied().collect();
        for i in 0..n {
            let mut row = (0..n).map(|k| f64::from(symmetric[i.max(k) * n + i.min(k)]));
            close(dot(&mut row, &column), f64::from(w[j] * column[i]));
        }
    }

    let svd = || Svd::<f32>::new(1, m, n, false, true);
    let out = run_in(&one, svd(), &[bytes(&a)]);
    assert!(out == run_in(&three, svd(), &[bytes(&a)]));
    let (s, u, vt) = (
        numbers::<f32>(&out[0]),
        numbers::<f32>(&out[1]),
        numbers::<f32>(&out[2]),
    );
    for j in [0, n / 2, n - 1] {
        for i in 0..m {
            let mut row = a[i * n..(i + 1) * n].iter().map(|&x| f64::from(x));
            let product = dot(&mut row, &vt[j * n..(j + 1) * n]);
            close(product, f64::from(s[j] * u[i * n + j]));
        }
    }
}

#[test]
fn batches_of_the_reference() {
    all_types!(check_spectral());
    let out = run(
        lu_pivots_to_permutation(2, 2, 3),
        &[bytemuck::cast_slice(&[1i32, 2, 0, 1])],
    );
    assert_eq!(numbers::<i32>(&out[0]), [1, 2, 0, 0, 1, 2]);
    let (r, w) = (samples::<f32>(9, 1), samples::<f32>(3, 2));
    let out = run(cholesky_update::<f32>(1, 3), &[bytes(&r), bytes(&w)]);
    close(&out[0], &reference::cholesky_update(&r, 3, &w), 10.0);
}

/// As many rotations wait as the rows can be moved for, and no more.
#[test]
fn rotations_wait_until_they_are_worth_moving_the_rows() {
    for rows in [1, 2, 7] {
        let mut sweeps = rotations::Sweeps::<f64>::new();
        sweeps.begin(0, true);
        let mut waiting = 0;
        while !sweeps.is_full(rows) && waiting < 1000 {
            sweeps.push(1.0, 0.0);
            waiting += 1;
        }
        assert_eq!(waiting, 32 * rows);
    }
}
