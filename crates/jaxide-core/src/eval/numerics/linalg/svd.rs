//! The singular value decomposition.

use super::super::float::Real;
use super::eigh::{MAX_SWEEPS, jacobi_rotation, phase};
use super::householder::leading_columns;
use super::matrix::{Entry, Field, Matrix, dot, norm};
use super::qr::eliminate;

/// The result of [`svd`].
#[derive(Clone, PartialEq, Debug)]
pub struct Svd<E: Entry> {
    /// The singular values in descending order; min(m, n) entries.
    pub s: Vec<E::Real>,
    /// The left singular vectors in the columns: m×m for full matrices, else m×min(m, n).
    pub u: Vec<E>,
    /// The conjugated right singular vectors in the rows: n×n for full matrices, else min(m, n)×n.
    pub vt: Vec<E>,
}

/// A = U diag(s) Vᴴ of an m×n matrix.
///
/// One-sided Jacobi rotations (M. R. Hestenes, 1958) make the columns of the taller of A and Aᴴ
/// orthogonal. Singular vectors of values that are zero to rounding are an arbitrary orthonormal
/// completion. The (first) entry of largest modulus of each of the first min(m, n) left vectors is
/// real and positive.
pub fn svd<E: Entry>(a: &[E], m: usize, n: usize, full_matrices: bool) -> Svd<E> {
    let a = Matrix::widen(a, m, n);
    let rank = m.min(n);
    let (left, right) = if full_matrices { (m, n) } else { (rank, rank) };
    let Some((s, mut u, mut v)) = tall_or_wide(&a, left, right) else {
        let s = vec![E::Real::round_from(f64::NAN); rank];
        let (u, vt) = (Matrix::nan(m, left).round(), Matrix::nan(right, n).round());
        return Svd { s, u, vt };
    };
    for j in 0..rank {
        let mut column = u.column(j);
        let turn = phase(&column);
        column.iter_mut().for_each(|x| *x = *x * turn);
        u.set_column(j, &column);
        let other: Vec<_> = v.column(j).iter().map(|&x| x * turn).collect();
        v.set_column(j, &other);
    }
    Svd {
        s: round(&s),
        u: u.round(),
        vt: v.adjoint().round(),
    }
}

/// The singular values of an m×n matrix in descending order.
pub fn singular_values<E: Entry>(a: &[E], m: usize, n: usize) -> Vec<E::Real> {
    svd(a, m, n, false).s
}

fn round<R: Real>(s: &[f64]) -> Vec<R> {
    s.iter().map(|&x| R::round_from(x)).collect()
}

type Factors<F> = (Vec<f64>, Matrix<F>, Matrix<F>);

/// s, U with `left` columns and V with `right` columns.
fn tall_or_wide<F: Field>(a: &Matrix<F>, left: usize, right: usize) -> Option<Factors<F>> {
    if a.rows >= a.cols {
        tall(a.clone(), left)
    } else {
        let (s, v, u) = tall(a.adjoint(), right)?;
        Some((s, u, v))
    }
}

/// s, U with `columns` columns and the square V of a matrix with at least as many rows as columns.
fn tall<F: Field>(mut b: Matrix<F>, columns: usize) -> Option<Factors<F>> {
    if !b.is_finite() {
        return None;
    }
    let n = b.cols;
    let mut v = Matrix::identity(n, n);
    let norms = |b: &Matrix<F>| (0..n).map(|j| norm(&b.column(j))).collect::<Vec<_>>();
    let frobenius = norm(&norms(&b).iter().map(|&x| x.into()).collect::<Vec<F>>());
    // What rounding leaves of a column that depends on the others.
    let noise = f64::EPSILON * frobenius;
    orthogonalise(&mut b, &mut v, noise).then_some(())?;

    let s = norms(&b);
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| s[j].total_cmp(&s[i]));
    let significant = s.iter().filter(|&&x| x > n as f64 * noise).count();
    let good = Matrix::from_fn(b.rows, significant, |i, j| {
        b[(i, order[j])].scale(1.0 / s[order[j]])
    });
    let u = completed(good, columns);
    let v = Matrix::from_fn(n, n, |i, j| v[(i, order[j])]);
    Some((order.iter().map(|&j| s[j]).collect(), u, v))
}

/// Rotates pairs of columns of B, and with them those of V, until all are orthogonal that are not
/// noise.
fn orthogonalise<F: Field>(b: &mut Matrix<F>, v: &mut Matrix<F>, noise: f64) -> bool {
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..b.cols {
            for q in p + 1..b.cols {
                let (x, y) = (b.column(p), b.column(q));
                let (x_norm, y_norm) = (norm(&x), norm(&y));
                if x_norm.min(y_norm) <= noise {
                    continue;
                }
                // Of the columns scaled to the larger norm, against overflow.
                let scale = 1.0 / x_norm.max(y_norm);
                let scaled = |v: &[F]| v.iter().map(|z| z.scale(scale)).collect::<Vec<_>>();
                let (alpha, beta) = ((x_norm * scale).powi(2), (y_norm * scale).powi(2));
                let gamma = dot(&scaled(&x), &scaled(&y));
                // The rounding of a product of that many entries; less may never be reached.
                let rounding = b.rows as f64 * f64::EPSILON;
                if gamma.abs() <= rounding * (alpha * beta).sqrt() {
                    continue;
                }
                rotated = true;
                let (c, s) = jacobi_rotation(alpha, beta, gamma);
                b.rotate_columns(p, q, c, s);
                v.rotate_columns(p, q, c, s);
            }
        }
        if !rotated {
            return true;
        }
    }
    false
}

/// Orthonormal columns, followed by others orthogonal to them.
fn completed<F: Field>(good: Matrix<F>, columns: usize) -> Matrix<F> {
    let mut packed = good.clone();
    let taus: Vec<F> = (0..good.cols).map(|k| eliminate(&mut packed, k)).collect();
    let basis = leading_columns(&packed, &taus, columns);
    Matrix::from_fn(good.rows, columns, |i, j| {
        if j < good.cols {
            good[(i, j)]
        } else {
            basis[(i, j)]
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    type C = Complex<f64>;

    fn sample(m: usize, n: usize) -> Vec<C> {
        let part = |i: usize, s: f64| libm::sin(s * (2 * i * i + i + 1) as f64);
        (0..m * n)
            .map(|i| C::new(part(i, 0.9), part(i, 1.7)))
            .collect()
    }

    fn check(a: &[C], m: usize, n: usize) -> Vec<f64> {
        for full in [true, false] {
            let f = svd(a, m, n, full);
            assert!(f.s.iter().rev().is_sorted());
            let (left, right) = if full { (m, n) } else { (m.min(n), m.min(n)) };
            let (u, vt) = (Matrix::widen(&f.u, m, left), Matrix::widen(&f.vt, right, n));
            let scaled = Matrix::from_fn(m, right, |i, j| {
                if j < f.s.len() {
                    u[(i, j)] * f.s[j]
                } else {
                    C::default()
                }
            });
            let back = scaled.product(&vt).round::<C>();
            let largest = f.s.first().copied().unwrap_or(0.0);
            for (x, y) in back.iter().zip(a) {
                assert!((x - y).norm() <= 1e-14 * largest, "{m} {n} {full}: {x} {y}");
            }
            for (gram, size) in [
                (u.adjoint().product(&u), left),
                (vt.product(&vt.adjoint()), right),
            ] {
                for i in 0..size * size {
                    let at = (i / size, i % size);
                    let identity = f64::from(u8::from(at.0 == at.1));
                    assert!((gram[at] - identity).norm() < 1e-14, "{m} {n} {full}");
                }
            }
        }
        svd(a, m, n, false).s
    }

    #[test]
    fn reconstructs_every_shape() {
        for (m, n) in [(1, 1), (3, 3), (5, 2), (2, 5), (12, 10), (0, 2), (2, 0)] {
            check(&sample(m, n), m, n);
        }
    }

    #[test]
    fn rank_deficient_and_extreme_matrices() {
        let s = check(&[C::from(1.0); 12], 4, 3);
        assert!((s[0] - 12f64.sqrt()).abs() < 1e-14 && s[1] < 1e-14);
        assert_eq!(check(&[C::default(); 6], 3, 2), [0.0, 0.0]);
        let s = check(&[3e300, 0.0, 0.0, 4e-300].map(C::from), 2, 2);
        assert!(s[0] == 3e300 && (s[1] / 4e-300 - 1.0).abs() < 1e-15);
    }

    #[test]
    fn values_alone_and_nan() {
        assert_eq!(singular_values(&[3.0f32, 0.0, 0.0, -4.0], 2, 2), [4.0, 3.0]);
        let f = svd(&[1.0f32, f32::NAN], 1, 2, true);
        assert!(f.s[0].is_nan() && f.vt.iter().all(|x| x.is_nan()) && f.vt.len() == 4);
    }
}
