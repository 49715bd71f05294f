//! Tests of batches of small matrices: what is decomposed is found again, at any place of a batch,
//! on every instruction set, with any number of threads.

use num_complex::Complex;

use super::side_by_side::LANES;
use super::{Cholesky, Eigh, Hessenberg, Qr, RealScalar, Scalar, Svd};
use crate::runtime::simd::Isa;
use crate::runtime::{Context, Kernel, KernelCall, ThreadPool};

/// One block exactly, and one with some behind it.
const BATCHES: [usize; 4] = [1, 4, LANES, LANES + 5];

pub(super) fn entry<T: Scalar>(i: usize) -> T {
    let part = |i: usize| ((i as f64 + 0.5) * 12.9898).sin() * 437.585 % 1.0;
    T::from_components(part(2 * i), part(2 * i + 1))
}

/// Matrices of all kinds: random, without rank, zero, diagonal, huge, tiny, graded, and no numbers.
fn matrices<T: Scalar>(batch: usize, m: usize, n: usize) -> Vec<T> {
    let mut a: Vec<T> = (0..batch * m * n).map(|i| entry(i + 31 * n)).collect();
    for (index, a) in a.chunks_exact_mut((m * n).max(1)).enumerate() {
        let all = |a: &mut [T], factor: &dyn Fn(usize, usize) -> f64| {
            for (i, x) in a.iter_mut().enumerate() {
                *x = *x * T::from_components(factor(i / n, i % n), 0.0);
            }
        };
        match index % 9 {
            1 => all(a, &|i, j| f64::from(u8::from(i == j))),
            2 => a.fill(T::ZERO),
            3 => a.fill(T::ONE),
            4 => all(a, &|_, _| 1e25),
            5 => all(a, &|_, _| 1e-25),
            6 => all(a, &|i, j| 10f64.powi(-((i + j) as i32 % 5))),
            7 => a[m * n / 2] = T::NAN,
            _ => {}
        }
    }
    a
}

pub(super) fn is_finite<T: Scalar>(a: &[T]) -> bool {
    a.iter().all(|x| x.abs1().is_finite())
}

pub(super) fn run<T: Scalar>(
    kernel: impl Kernel + 'static,
    a: &[T],
    threads: usize,
) -> Vec<Vec<u8>> {
    let call = KernelCall::new(kernel);
    let sizes = call.signature().outputs.clone();
    let mut out: Vec<Vec<u128>> = sizes.iter().map(|b| vec![0; b.div_ceil(16)]).collect();
    let mut slices: Vec<&mut [u8]> = out
        .iter_mut()
        .zip(&sizes)
        .map(|(out, &bytes)| &mut bytemuck::cast_slice_mut(out)[..bytes])
        .collect();
    let context = Context::new(ThreadPool::global(), threads);
    let bytes = bytemuck::cast_slice(a);
    call.call(&[bytes], &mut slices, &context).unwrap();
    slices.into_iter().map(|out| out.to_vec()).collect()
}

pub(super) fn numbers<T: Scalar>(bytes: &[u8]) -> Vec<T> {
    let entries = bytes.chunks_exact(size_of::<T>());
    entries.map(bytemuck::pod_read_unaligned).collect()
}

/// Numbers of one type as bits, in which every NaN is the same: its sign is up to the order in which a compiler has operands added.
pub(super) fn bits<T: Scalar>(bytes: &[u8]) -> Vec<[u64; 2]> {
    let bits = |x: f64| if x.is_nan() { u64::MAX } else { x.to_bits() };
    let components = |x: T| [bits(x.re()), bits(x.im())];
    numbers(bytes).into_iter().map(components).collect()
}

/// Runs a kernel over a batch; its results are the same when the matrices stand three places on.
fn everywhere<T: Scalar, K: Kernel + 'static>(
    make: impl Fn() -> K,
    a: &[T],
    batch: usize,
) -> Vec<Vec<u8>> {
    let out = run(make(), a, 1);
    let mut moved = a.to_vec();
    let len = a.len() / batch;
    moved.rotate_right(3 % batch * len);
    for (out, mut moved) in out.iter().zip(run(make(), &moved, 1)) {
        let len = out.len() / batch;
        moved.rotate_left(3 % batch * len);
        let same = bits::<T>(out) == bits::<T>(&moved);
        assert!(same, "the place of a matrix changes its results");
    }
    out
}

/// The product of a dense matrix and one that `b` gives the entries of, in double precision.
pub(super) fn product(
    m: usize,
    n: usize,
    k: usize,
    a: impl Fn(usize, usize) -> Complex<f64>,
    b: impl Fn(usize, usize) -> Complex<f64>,
) -> Vec<Complex<f64>> {
    let entries = (0..m * n).map(|index| (0..k).map(|p| a(index / n, p) * b(p, index % n)).sum());
    entries.collect()
}

pub(super) fn wide<T: Scalar>(x: T) -> Complex<f64> {
    Complex::new(x.re(), x.im())
}

#[track_caller]
pub(super) fn close<T: Scalar>(
    got: &[Complex<f64>],
    want: impl Fn(usize) -> Complex<f64>,
    size: f64,
    what: &str,
) {
    let precision = if T::TINY > 1e-40 { 2e-5 } else { 1e-12 };
    for (i, &got) in got.iter().enumerate() {
        let error = (got - want(i)).norm();
        assert!(
            error <= precision * size,
            "{what}: {got} for {} at {i}",
            want(i)
        );
    }
}

/// Whether the columns of a matrix are orthonormal.
#[track_caller]
pub(super) fn orthonormal<T: Scalar>(q: &[T], m: usize, n: usize) {
    let gram = product(
        n,
        n,
        m,
        |i, p| wide(q[p * n + i]).conj(),
        |p, j| wide(q[p * n + j]),
    );
    close::<T>(
        &gram,
        |i| Complex::from(f64::from(u8::from(i / n == i % n))),
        1.0,
        "vectors",
    );
}

pub(super) fn largest<T: Scalar>(a: &[T]) -> f64 {
    a.iter().map(|x| x.abs1()).fold(0.0, f64::max)
}

fn check_qr<T: Scalar<Real: RealScalar>>(batch: usize, m: usize, n: usize, full: bool) {
    let k = if full { m } else { m.min(n) };
    let a = matrices::<T>(batch, m, n);
    let out = everywhere(|| Qr::<T>::new(batch, m, n, full, false), &a, batch);
    let (q, r) = (numbers::<T>(&out[0]), numbers::<T>(&out[1]));
    for index in 0..batch {
        let a = &a[index * m * n..][..m * n];
        let (q, r) = (&q[index * m * k..][..m * k], &r[index * k * n..][..k * n]);
        if !is_finite(a) {
            continue;
        }
        orthonormal(q, m, k);
        let again = product(
            m,
            n,
            k,
            |i, p| wide(q[i * k + p]),
            |p, j| wide(r[p * n + j]),
        );
        close::<T>(&again, |i| wide(a[i]), largest(a), "Q R");
        for (i, &x) in r.iter().enumerate() {
            assert!(
                i / n <= i % n || x == T::ZERO,
                "R has {x:?} below its diagonal"
            );
        }
    }
}

fn check_eigh<T: RealScalar + PartialOrd>(batch: usize, n: usize, lower: bool) {
    let a = matrices::<T>(batch, n, n);
    let out = everywhere(|| Eigh::<T>::new(batch, n, lower), &a, batch);
    let (v, w) = (numbers::<T>(&out[0]), numbers::<T>(&out[1]));
    for index in 0..batch {
        let at = |i: usize, j: usize| {
            let (i, j) = if (i >= j) == lower { (i, j) } else { (j, i) };
            a[index * n * n + i * n + j]
        };
        let (v, w) = (&v[index * n * n..][..n * n], &w[index * n..][..n]);
        let half: Vec<T> = (0..n * n).map(|i| at(i / n, i % n)).collect();
        if !is_finite(&half) {
            assert!(v.iter().chain(w).all(|x| x.re().is_nan()));
            continue;
        }
        orthonormal(v, n, n);
        assert!(w.is_sorted(), "{w:?}");
        let again = product(
            n,
            n,
            n,
            |i, p| wide(v[i * n + p]) * w[p].re(),
            |p, j| wide(v[j * n + p]),
        );
        close::<T>(&again, |i| wide(half[i]), largest(&half), "V Λ Vᵀ");
    }
}

fn check_svd<T: RealScalar + PartialOrd>(batch: usize, m: usize, n: usize) {
    let rank = m.min(n);
    let a = matrices::<T>(batch, m, n);
    let out = everywhere(|| Svd::<T>::new(batch, m, n, false, true), &a, batch);
    let alone = everywhere(|| Svd::<T>::new(batch, m, n, false, false), &a, batch);
    let [s, u, vt] = [&out[0], &out[1], &out[2]].map(|out| numbers::<T>(out));
    let values = numbers::<T>(&alone[0]);
    for index in 0..batch {
        let a = &a[index * m * n..][..m * n];
        let s = &s[index * rank..][..rank];
        let (u, vt) = (
            &u[index * m * rank..][..m * rank],
            &vt[index * rank * n..][..rank * n],
        );
        if !is_finite(a) {
            assert!(s.iter().chain(u).chain(vt).all(|x| x.re().is_nan()));
            continue;
        }
        let wide_values: Vec<_> = values[index * rank..][..rank]
            .iter()
            .map(|&x| wide(x))
            .collect();
        close::<T>(&wide_values, |i| wide(s[i]), largest(a), "values alone");
        orthonormal(u, m, rank);
        let transposed: Vec<T> = (0..n * rank).map(|i| vt[i % rank * n + i / rank]).collect();
        orthonormal(&transposed, n, rank);
        assert!(
            s.iter().rev().is_sorted() && s[rank - 1] >= T::ZERO,
            "{s:?}"
        );
        let again = product(
            m,
            n,
            rank,
            |i, p| wide(u[i * rank + p]) * s[p].re(),
            |p, j| wide(vt[p * n + j]),
        );
        close::<T>(&again, |i| wide(a[i]), largest(a), "U Σ Vᵀ");
    }
}

fn check_cholesky<T: Scalar>(batch: usize, n: usize) {
    let mut a: Vec<T> = (0..batch * n * n).map(entry).collect();
    for (index, a) in a.chunks_exact_mut(n * n).enumerate() {
        let diagonal = if index % 5 == 4 { -1.0 } else { 2.0 * n as f64 };
        (0..n).for_each(|i| a[i * n + i] = T::from_components(diagonal, 0.0));
    }
    let out = everywhere(|| Cholesky::<T>::new(batch, n), &a, batch);
    let l = numbers::<T>(&out[0]);
    for index in 0..batch {
        let (a, l) = (&a[index * n * n..][..n * n], &l[index * n * n..][..n * n]);
        if index % 5 == 4 {
            assert!(l.iter().all(|x| x.re().is_nan()));
            continue;
        }
        let again = product(
            n,
            n,
            n,
            |i, p| wide(l[i * n + p]),
            |p, j| wide(l[j * n + p]).conj(),
        );
        let lower = |i: usize, j: usize| {
            if i >= j {
                wide(a[i * n + j])
            } else {
                wide(a[j * n + i]).conj()
            }
        };
        close::<T>(&again, |i| lower(i / n, i % n), largest(a), "L Lᴴ");
    }
}

fn check_hessenberg<T: Scalar<Real: RealScalar>>(batch: usize, n: usize) {
    let a: Vec<T> = (0..batch * n * n).map(entry).collect();
    let out = everywhere(|| Hessenberg::<T>::new(batch, n), &a, batch);
    let (packed, taus) = (numbers::<T>(&out[0]), numbers::<T>(&out[1]));
    for index in 0..batch {
        let (a, packed) = (
            &a[index * n * n..][..n * n],
            &packed[index * n * n..][..n * n],
        );
        let taus = &taus[index * (n - 1)..][..n - 1];
        // Q is the product of I - τ v vᴴ, from the first reflector on.
        let mut q = vec![Complex::ZERO; n * n];
        (0..n).for_each(|i| q[i * n + i] = Complex::ONE);
        for (k, &tau) in taus.iter().enumerate() {
            let v = |i: usize| match i.cmp(&(k + 1)) {
                std::cmp::Ordering::Less => Complex::ZERO,
                std::cmp::Ordering::Equal => Complex::ONE,
                std::cmp::Ordering::Greater => wide(packed[i * n + k]),
            };
            for row in q.chunks_exact_mut(n) {
                let along: Complex<f64> = row.iter().enumerate().map(|(i, &x)| x * v(i)).sum();
                for (i, x) in row.iter_mut().enumerate() {
                    *x -= wide(tau) * along * v(i).conj();
                }
            }
        }
        let h = |i: usize, j: usize| {
            let inside = i <= j + 1;
            if inside {
                wide(packed[i * n + j])
            } else {
                Complex::ZERO
            }
        };
        let half = product(n, n, n, |i, p| q[i * n + p], h);
        let again = product(n, n, n, |i, p| half[i * n + p], |p, j| q[j * n + p].conj());
        close::<T>(&again, |i| wide(a[i]), largest(a), "Q H Qᴴ");
    }
}

#[test]
fn hessenberg_forms() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            for (batch, n) in [(1, 1), (2, 2), (3, 3), (2, 16), (2, 17), (1, 18), (1, 37)] {
                check_hessenberg::<f32>(batch, n);
                check_hessenberg::<f64>(batch, n);
                check_hessenberg::<Complex<f32>>(batch, n);
                check_hessenberg::<Complex<f64>>(batch, n);
            }
        });
    }
}

#[test]
fn orthogonal_factors() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            for batch in BATCHES {
                for (m, n) in [
                    (1, 1),
                    (2, 2),
                    (3, 3),
                    (5, 2),
                    (2, 5),
                    (8, 8),
                    (16, 16),
                    (9, 17),
                    (32, 8),
                ] {
                    check_qr::<f32>(batch, m, n, false);
                    check_qr::<f64>(batch, m, n, true);
                    check_qr::<Complex<f32>>(batch, m, n, true);
                    check_qr::<Complex<f64>>(batch, m, n, false);
                }
            }
        });
    }
    check_qr::<f32>(LANES + 1, 33, 31, false);
}

#[test]
fn eigenvalues() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            for (batch, n) in BATCHES
                .into_iter()
                .flat_map(|batch| [1, 2, 3, 4, 7, 16, 17].map(|n| (batch, n)))
            {
                check_eigh::<f32>(batch, n, n % 2 == 0);
                check_eigh::<f64>(batch, n, n % 2 == 1);
            }
        });
    }
}

#[test]
fn singular_values() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            for batch in BATCHES {
                for (m, n) in [
                    (1, 1),
                    (2, 2),
                    (3, 3),
                    (1, 6),
                    (7, 1),
                    (8, 5),
                    (5, 8),
                    (16, 16),
                    (17, 3),
                ] {
                    check_svd::<f32>(batch, m, n);
                    check_svd::<f64>(batch, m, n);
                }
            }
        });
    }
}

#[test]
fn triangular_factors_of_one_block_of_columns() {
    for isa in Isa::available() {
        isa.assumed_in(|| {
            for (batch, n) in [(3, 15), (3, 17), (LANES + 3, 31), (2, 64), (2, 65), (1, 81)] {
                check_cholesky::<f32>(batch, n);
                check_cholesky::<Complex<f64>>(batch, n);
            }
        });
    }
}

#[test]
fn any_number_of_threads() {
    let (batch, n) = (700, 6);
    let a: Vec<f32> = matrices(batch, n, n);
    let qr = |threads| run(Qr::<f32>::new(batch, n, n, false, false), &a, threads);
    let eigh = |threads| run(Eigh::<f32>::new(batch, n, true), &a, threads);
    let svd = |threads| run(Svd::<f32>::new(batch, n, n, false, true), &a, threads);
    assert!((qr(1), eigh(1), svd(1)) == (qr(3), eigh(3), svd(3)));
}
