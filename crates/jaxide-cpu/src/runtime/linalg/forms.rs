//! Tests of condensed forms and of what is made of them: `A = Q T Qᴴ` with unitary Q, at sizes around
//! what kernels do together, of matrices of all kinds, on every instruction set, with any number of
//! threads.

use bytemuck::Pod;
use jaxide_core::eval::numerics::linalg::Entry;
use num_complex::Complex;

use super::batches::{
    bits, close, entry, is_finite, largest, numbers, orthonormal, product, run, wide,
};
use super::{Eig, Eigh, Hessenberg, Iterate, RealScalar, Scalar, Schur, Svd, Tridiagonal};
use crate::runtime::Kernel;
use crate::runtime::simd::Isa;

type C = Complex<f64>;

const SIZES: [usize; 14] = [1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100];

/// Matrices whose parts are of one kind each.
fn kinds<T: Scalar>(n: usize) -> Vec<(&'static str, Vec<T>)> {
    let random: Vec<T> = (0..n * n).map(|i| entry(i + 17 * n)).collect();
    let with = |value: &dyn Fn(usize, usize) -> f64| -> Vec<T> {
        let entries = (0..n * n).map(|i| T::from_components(value(i / n, i % n), 0.0));
        entries.collect()
    };
    let times = |value: &dyn Fn(usize, usize) -> f64| -> Vec<T> {
        let factors = with(value);
        random.iter().zip(factors).map(|(&x, f)| x * f).collect()
    };
    let truth = |x: bool| f64::from(u8::from(x));
    let (huge, tiny) = if T::TINY > 1e-40 {
        (1e30, 1e-35)
    } else {
        (1e300, 1e-300)
    };
    let mut kinds = vec![
        ("zero", with(&|_, _| 0.0)),
        ("one", with(&|_, _| 1.0)),
        ("unit", with(&|i, j| truth(i == j))),
        ("huge", times(&|_, _| huge)),
        ("tiny", times(&|_, _| tiny)),
        ("graded", times(&|i, j| 10f64.powi(-((i + j) as i32 % 9)))),
        ("cyclic", with(&|i, j| truth((i + 1) % n == j))),
        ("jordan", with(&|i, j| truth(i == j || i + 1 == j))),
        ("nilpotent", with(&|i, j| truth(i + 1 == j))),
        (
            "second differences",
            with(&|i, j| 2.0 * truth(i == j) - truth(i.abs_diff(j) == 1)),
        ),
        ("triangular", times(&|i, j| truth(i <= j))),
        ("parts", times(&|i, j| truth((i < n / 2) == (j < n / 2)))),
    ];
    // Halves that are alike, which nearly nothing joins (J. H. Wilkinson's matrix twice), and many equal
    // values.
    let wilkinson = |i: usize| (i % 21).abs_diff(10) as f64;
    let joined = |i: usize, j: usize| match i.abs_diff(j) {
        0 => wilkinson(i),
        1 if i.max(j).is_multiple_of(21) => 1e-7,
        1 => 1.0,
        _ => 0.0,
    };
    kinds.push(("joined", with(&joined)));
    kinds.push(("three values", with(&|i, j| truth(i == j) * (i % 3) as f64)));
    kinds.push((
        "nearly one",
        with(&|i, j| truth(i == j) + 1e-6 * ((i * j) as f64).sin()),
    ));
    let mut nan = random.clone();
    nan[n * n / 2] = T::NAN;
    let mut infinite = random.clone();
    infinite[n * n - 1] = T::from_components(f64::INFINITY, 0.0);
    kinds.extend([("random", random), ("nan", nan), ("infinite", infinite)]);
    if n > SMALL {
        let some = [
            "random",
            "zero",
            "unit",
            "one",
            "graded",
            "parts",
            "joined",
            "three values",
            "nearly one",
        ];
        kinds.retain(|(kind, _)| some.contains(kind));
    }
    if n > LARGE {
        kinds.retain(|(kind, _)| ["random", "one"].contains(kind));
    }
    kinds
}

/// The results with one thread, which others must not change.
fn results<K: Kernel + 'static, T: Scalar>(make: impl Fn() -> K, a: &[T]) -> Vec<Vec<u8>> {
    let out = run(make(), a, 1);
    let same = |(x, y): (&Vec<u8>, &Vec<u8>)| bits::<T>(x) == bits::<T>(y);
    if Isa::is_everywhere() {
        let with_others = run(make(), a, 3);
        assert!(
            out.iter().zip(&with_others).all(same),
            "threads change results"
        );
    }
    out
}

fn tolerance(n: usize) -> f64 {
    1.0 + n as f64 / 8.0
}

fn check_tridiagonal<T: Scalar<Real: RealScalar>>(n: usize, lower: bool) {
    for (kind, a) in kinds::<T>(n) {
        let out = results(|| Tridiagonal::<T>::new(1, n, lower), &a);
        let (packed, taus) = (numbers::<T>(&out[0]), numbers::<T>(&out[3]));
        let (d, e) = (numbers::<T::Real>(&out[1]), numbers::<T::Real>(&out[2]));
        let read = |i: usize, j: usize| i == j || (i > j) == lower;
        for (i, (&x, &y)) in packed.iter().zip(&a).enumerate() {
            assert!(read(i / n, i % n) || x == y || y.re().is_nan());
        }
        let half: Vec<T> = (0..n * n)
            .filter(|i| read(i / n, i % n))
            .map(|i| a[i])
            .collect();
        if !is_finite(&half) {
            continue;
        }
        // Q is the product of the reflectors, the first of which is that of the first column, or of
        // the last one.
        let mut q: Vec<C> = (0..n * n)
            .map(|i| C::from(f64::from(u8::from(i.is_multiple_of(n + 1)))))
            .collect();
        let order: Vec<usize> = (0..n - 1).collect();
        let order = if lower {
            order.into_iter().rev().collect()
        } else {
            order
        };
        for k in order {
            let v: Vec<C> = (0..n)
                .map(|i| match lower {
                    true if i > k + 1 => wide(packed[i * n + k]),
                    false if i < k => wide(packed[i * n + k + 1]),
                    _ => C::from(f64::from(u8::from(i == k + usize::from(lower)))),
                })
                .collect();
            for j in 0..n {
                let along: C = (0..n).map(|i| v[i].conj() * q[i * n + j]).sum();
                (0..n).for_each(|i| q[i * n + j] -= wide(taus[k]) * v[i] * along);
            }
        }
        let t = |i: usize, j: usize| match i.abs_diff(j) {
            0 => d[i].re(),
            1 => e[i.min(j)].re(),
            _ => 0.0,
        };
        let qt = product(n, n, n, |i, p| q[i * n + p], |p, j| C::from(t(p, j)));
        let again = product(n, n, n, |i, p| qt[i * n + p], |p, j| q[j * n + p].conj());
        let want = |i: usize| {
            let (i, j) = (i / n, i % n);
            match (i == j, read(i, j)) {
                (true, _) => C::from(a[i * n + i].re()),
                (false, true) => wide(a[i * n + j]),
                (false, false) => wide(a[j * n + i]).conj(),
            }
        };
        close::<T>(&again, want, largest(&half) * tolerance(n), kind);
        let gram = product(n, n, n, |i, p| q[p * n + i].conj(), |p, j| q[p * n + j]);
        let unit = |i: usize| C::from(f64::from(u8::from(i.is_multiple_of(n + 1))));
        close::<T>(&gram, unit, tolerance(n), kind);
    }
}

/// Sizes up to which matrices of all kinds and types are looked at, on all instruction sets.
const SMALL: usize = 33;
/// Sizes up to which matrices are of most kinds.
const LARGE: usize = 130;

/// Runs a check of one size for types and instruction sets.
macro_rules! everywhere {
    ($check:ident($n:expr $(, $argument:expr)*)) => {
        if $n > SMALL {
            $check::<f32>($n $(, $argument)*);
            $check::<Complex<f64>>($n $(, $argument)*);
        } else {
            for isa in Isa::available() {
                isa.assumed_in(|| {
                    $check::<f32>($n $(, $argument)*);
                    $check::<f64>($n $(, $argument)*);
                    $check::<Complex<f32>>($n $(, $argument)*);
                    $check::<Complex<f64>>($n $(, $argument)*);
                });
            }
        }
    };
}

#[test]
fn tridiagonal_forms() {
    for n in SIZES {
        everywhere!(check_tridiagonal(n, true));
        everywhere!(check_tridiagonal(n, false));
    }
    check_tridiagonal::<f64>(129, true);
}

fn check_eigh<T: Scalar<Real: RealScalar + PartialOrd>>(n: usize, lower: bool) {
    for (kind, a) in kinds::<T>(n) {
        let out = results(|| Eigh::<T>::new(1, n, lower), &a);
        let (v, w) = (numbers::<T>(&out[0]), numbers::<T::Real>(&out[1]));
        let read = |i: usize, j: usize| i == j || (i > j) == lower;
        let half: Vec<T> = (0..n * n)
            .filter(|i| read(i / n, i % n))
            .map(|i| a[i])
            .collect();
        if !is_finite(&half) {
            assert!(v.iter().all(|x| x.re().is_nan()) && w.iter().all(|x| x.re().is_nan()));
            continue;
        }
        assert!(
            w.is_sorted(),
            "{n} {kind} {} {w:?}",
            std::any::type_name::<T>()
        );
        let whole: Vec<C> = (0..n * n)
            .map(|index| {
                let (i, j) = (index / n, index % n);
                match (i == j, read(i, j)) {
                    (true, _) => C::from(a[index].re()),
                    (false, true) => wide(a[index]),
                    (false, false) => wide(a[j * n + i]).conj(),
                }
            })
            .collect();
        let size = largest(&half) * tolerance(n);
        let av = product(n, n, n, |i, p| whole[i * n + p], |p, j| wide(v[p * n + j]));
        close::<T>(&av, |i| wide(v[i]) * w[i % n].re(), size, kind);
        let gram = product(
            n,
            n,
            n,
            |i, p| wide(v[p * n + i]).conj(),
            |p, j| wide(v[p * n + j]),
        );
        let unit = |i: usize| C::from(f64::from(u8::from(i.is_multiple_of(n + 1))));
        close::<T>(&gram, unit, 1.0, kind);
    }
}

#[test]
fn eigenvectors_of_hermitian_matrices() {
    for n in [1, 2, 31, 47, 48, 49, 50, 63, 64, 65, 100, 127, 129, 130] {
        everywhere!(check_eigh(n, n % 2 == 0));
    }
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_eigh::<f64>(70, false);
            check_eigh::<Complex<f32>>(70, true);
        });
    }
    check_eigh::<f32>(256, true);
}

fn check_schur<T: Scalar<Wide: Iterate>>(n: usize) {
    for (kind, a) in kinds::<T>(n) {
        let out = results(|| Schur::<T>::new(1, n, true), &a);
        let (t, z) = (numbers::<T>(&out[0]), numbers::<T>(&out[1]));
        assert!(!is_finite(&a) || out[0] == run(Schur::<T>::new(1, n, false), &a, 1)[0]);
        if !is_finite(&a) {
            assert!(t.iter().chain(&z).all(|x| x.re().is_nan()));
            continue;
        }
        assert!(is_finite(&z), "{n} {kind} does not converge");
        orthonormal(&z, n, n);
        let zt = product(
            n,
            n,
            n,
            |i, p| wide(z[i * n + p]),
            |p, j| wide(t[p * n + j]),
        );
        let again = product(
            n,
            n,
            n,
            |i, p| zt[i * n + p],
            |p, j| wide(z[j * n + p]).conj(),
        );
        close::<T>(&again, |i| wide(a[i]), largest(&a) * tolerance(n), kind);
        for i in 0..n {
            assert!(
                t[i * n..i * n + i.saturating_sub(1)]
                    .iter()
                    .all(|&x| x == T::ZERO)
            );
            if i > 0 && t[i * n + i - 1] != T::ZERO {
                let block = |row: usize, column: usize| t[(i - 1 + row) * n + i - 1 + column];
                assert!(!T::COMPLEX && block(0, 0) == block(1, 1), "{kind}");
                assert!(block(0, 1).re() * block(1, 0).re().signum() < 0.0, "{kind}");
                assert!(i + 1 == n || t[(i + 1) * n + i] == T::ZERO, "{kind}");
            }
        }
    }
}

#[test]
fn schur_forms() {
    for n in SIZES {
        everywhere!(check_schur(n));
    }
    check_schur::<f64>(129);
    check_schur::<Complex<f32>>(129);
}

fn check_eig<T: Scalar<Wide: Iterate>>(n: usize)
where
    Complex<T::Real>: Entry<Wide = C> + Scalar + Pod,
{
    for (kind, a) in kinds::<T>(n) {
        let out = results(|| Eig::<T>::new(1, n, true, true), &a);
        assert!(!is_finite(&a) || out[0] == run(Eig::<T>::new(1, n, false, false), &a, 1)[0]);
        assert!(!is_finite(&a) || out[1] == run(Eig::<T>::new(1, n, true, false), &a, 1)[1]);
        let [w, u, v] = [0, 1, 2].map(|i| numbers::<Complex<T::Real>>(&out[i]));
        if !is_finite(&a) {
            assert!(
                w.iter()
                    .chain(&u)
                    .chain(&v)
                    .all(|x| Scalar::re(*x).is_nan())
            );
            continue;
        }
        assert!(is_finite(&v), "{n} {kind} does not converge");
        let av = product(
            n,
            n,
            n,
            |i, p| wide(a[i * n + p]),
            |p, j| wide(v[p * n + j]),
        );
        let value = |i: usize| wide(w[i % n]);
        let size = largest(&a) * tolerance(n);
        close::<T>(&av, |i| wide(v[i]) * value(i), size, kind);
        let ua = product(
            n,
            n,
            n,
            |i, p| wide(a[p * n + i]).conj(),
            |p, j| wide(u[p * n + j]),
        );
        close::<T>(&ua, |i| wide(u[i]) * value(i).conj(), size, kind);
        for vectors in [&u, &v] {
            for k in 0..n {
                let column = || (0..n).map(|i| wide(vectors[i * n + k]));
                let length: f64 = column().map(|x| x.norm_sqr()).sum();
                assert!((length - 1.0).abs() < 1e-5, "{kind}");
                let most = column().map(|x| x.norm()).fold(0.0, f64::max);
                let turned = |x: C| x.re > (1.0 - 1e-5) * most && x.im.abs() < 1e-5 * most;
                assert!(column().any(turned), "{kind}");
            }
        }
        for k in 0..n {
            if !T::COMPLEX && value(k).im > 0.0 {
                assert!(value(k + 1) == value(k).conj(), "{kind}");
            }
        }
    }
}

#[test]
fn eigenvectors() {
    for n in SIZES {
        everywhere!(check_eig(n));
    }
    check_eig::<f32>(129);
}

fn check_hessenberg<T: Scalar<Real: RealScalar>>(n: usize) {
    for (kind, a) in kinds::<T>(n) {
        let out = results(|| Hessenberg::<T>::new(1, n), &a);
        let (packed, taus) = (numbers::<T>(&out[0]), numbers::<T>(&out[1]));
        if !is_finite(&a) {
            continue;
        }
        // Q is the product of I - τ v vᴴ, from the first reflector on.
        let unit = |i: usize| C::from(f64::from(u8::from(i.is_multiple_of(n + 1))));
        let mut q: Vec<C> = (0..n * n).map(unit).collect();
        for (k, &tau) in taus.iter().enumerate() {
            let v: Vec<C> = (0..n)
                .map(|i| match i {
                    i if i > k + 1 => wide(packed[i * n + k]),
                    i => C::from(f64::from(u8::from(i == k + 1))),
                })
                .collect();
            for row in q.chunks_exact_mut(n) {
                let along: C = row.iter().zip(&v).map(|(x, v)| x * v).sum();
                for (x, v) in row.iter_mut().zip(&v) {
                    *x -= wide(tau) * along * v.conj();
                }
            }
        }
        let gram = product(n, n, n, |i, p| q[p * n + i].conj(), |p, j| q[p * n + j]);
        close::<T>(&gram, unit, tolerance(n), kind);
        let h = |i: usize, j: usize| {
            if i <= j + 1 {
                wide(packed[i * n + j])
            } else {
                C::ZERO
            }
        };
        let half = product(n, n, n, |i, p| q[i * n + p], h);
        let again = product(n, n, n, |i, p| half[i * n + p], |p, j| q[j * n + p].conj());
        close::<T>(&again, |i| wide(a[i]), largest(&a) * tolerance(n), kind);
    }
}

#[test]
fn hessenberg_forms() {
    for n in SIZES {
        everywhere!(check_hessenberg(n));
    }
    check_hessenberg::<Complex<f64>>(257);
}

fn check_svd<T: Scalar<Real: RealScalar + PartialOrd>>(m: usize, n: usize) {
    let rank = m.min(n);
    for (kind, a) in kinds::<T>(m.max(n)) {
        // A part of the matrix, which need not be square.
        let a: Vec<T> = (0..m * n).map(|i| a[i / n * m.max(n) + i % n]).collect();
        let out = results(|| Svd::<T>::new(1, m, n, false, true), &a);
        let s = numbers::<T::Real>(&out[0]);
        let (u, vt) = (numbers::<T>(&out[1]), numbers::<T>(&out[2]));
        if !is_finite(&a) {
            assert!(u.iter().chain(&vt).all(|x| x.re().is_nan()), "{kind}");
            assert!(s.iter().all(|x| x.re().is_nan()), "{kind}");
            continue;
        }
        assert!(
            s.iter().rev().is_sorted() && s[rank - 1].re() >= 0.0,
            "{kind}"
        );
        let size = largest(&a) * tolerance(m.max(n));
        let alone = numbers::<T::Real>(&run(Svd::<T>::new(1, m, n, false, false), &a, 1)[0]);
        let alone: Vec<C> = alone.iter().map(|&x| C::from(x.re())).collect();
        close::<T>(&alone, |i| C::from(s[i].re()), size, kind);
        orthonormal(&u, m, rank);
        let columns: Vec<T> = (0..n * rank).map(|i| vt[i % rank * n + i / rank]).collect();
        orthonormal(&columns, n, rank);
        let left = |i: usize, p: usize| wide(u[i * rank + p]) * s[p].re();
        let again = product(m, n, rank, left, |p, j| wide(vt[p * n + j]));
        close::<T>(&again, |i| wide(a[i]), size, kind);
    }
}

#[test]
fn singular_vectors() {
    for n in [1, 2, 31, 33, 48, 49, 50, 63, 64, 65, 100, 129, 130] {
        everywhere!(check_svd(n, n));
    }
    for (m, n) in [(65, 50), (50, 65), (200, 60), (60, 200)] {
        everywhere!(check_svd(m, n));
    }
    for isa in Isa::available() {
        isa.assumed_in(|| {
            check_svd::<f64>(70, 70);
            check_svd::<Complex<f32>>(99, 99);
        });
    }
    check_svd::<f32>(256, 256);
    check_svd::<f64>(300, 300);
    // Of their many tiny numbers some have squares that are none.
    let n = 500;
    let ones = vec![1f64; n * n];
    let out = run(Svd::<f64>::new(1, n, n, false, true), &ones, 2);
    let mut lengths = vec![C::ZERO; n];
    for row in numbers::<f64>(&out[1]).chunks_exact(n) {
        for (length, x) in lengths.iter_mut().zip(row) {
            *length += x * x;
        }
    }
    for row in numbers::<f64>(&out[2]).chunks_exact(n) {
        lengths.push(row.iter().map(|x| C::from(x * x)).sum());
    }
    close::<f64>(&lengths, |_| C::ONE, 1.0, "lengths of vectors");
}

/// Values that are known: of second differences, `2 - 2 cos (k π / (n + 1))`, and of their squares the same.
#[test]
fn values_of_second_differences() {
    for n in [8, 50, 100, 200] {
        let entry = |i: usize| match (i / n).abs_diff(i % n) {
            0 => 2.0,
            1 => -1.0,
            _ => 0.0,
        };
        let a: Vec<f64> = (0..n * n).map(entry).collect();
        let want = |k: usize| {
            let half = (k + 1) as f64 * std::f64::consts::PI / (2 * n + 2) as f64;
            C::from(4.0 * half.sin().powi(2))
        };
        let values = |out: &[u8]| -> Vec<C> {
            let values = numbers::<f64>(out).into_iter().map(C::from);
            values.collect()
        };
        let found = values(&run(Eigh::<f64>::new(1, n, true), &a, 1)[1]);
        close::<f64>(&found, want, 1.0, "eigenvalues");
        let mut found = values(&run(Svd::<f64>::new(1, n, n, false, true), &a, 1)[0]);
        found.reverse();
        close::<f64>(&found, want, 1.0, "singular values");
        let out = run(Eig::<f64>::new(1, n, false, false), &a, 1);
        let mut found = numbers::<C>(&out[0]);
        found.sort_by(|x, y| x.re.total_cmp(&y.re));
        close::<f64>(&found, want, 1.0, "eigenvalues of any matrix");
    }
}

/// Every matrix of a batch has the results that it has alone; and there may be no entries.
fn check_batch<K: Kernel + 'static, T: Scalar>(make: impl Fn(usize, usize) -> K) {
    let (batch, n) = (5, 20);
    let a: Vec<T> = (0..batch * n * n).map(entry).collect();
    let all = run(make(batch, n), &a, 3);
    for (index, a) in a.chunks_exact(n * n).enumerate() {
        for (all, one) in all.iter().zip(run(make(1, n), a, 1)) {
            assert!(all[index * one.len()..(index + 1) * one.len()] == one);
        }
    }
    assert!(run::<T>(make(3, 0), &[], 1).iter().all(Vec::is_empty));
}

#[test]
fn batches_of_forms() {
    check_batch::<_, f32>(|batch, n| Tridiagonal::<f32>::new(batch, n, true));
    check_batch::<_, C>(|batch, n| Tridiagonal::<C>::new(batch, n, false));
    check_batch::<_, f64>(Hessenberg::<f64>::new);
    check_batch::<_, f32>(|batch, n| Schur::<f32>::new(batch, n, true));
    check_batch::<_, C>(|batch, n| Schur::<C>::new(batch, n, true));
    check_batch::<_, f64>(|batch, n| Eig::<f64>::new(batch, n, true, true));
    check_batch::<_, C>(|batch, n| Svd::<C>::new(batch, n, n, false, true));
    check_batch::<_, C>(|batch, n| Eigh::<C>::new(batch, n, true));
}
