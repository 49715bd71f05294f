//! Reductions to Hessenberg and to tridiagonal form.

use super::super::float::Real;
use super::householder::{apply_left, apply_right, reflector};
use super::matrix::{Entry, Field, Matrix, dot};

/// Qᴴ A Q = H with zeros below the first subdiagonal, in packed form (`hessenberg`; LAPACK's
/// `gehrd`): H, below its subdiagonal the reflectors, and their n - 1 factors τ.
pub fn hessenberg<E: Entry>(a: &[E], n: usize) -> (Vec<E>, Vec<E>) {
    let (packed, taus) = reduce(Matrix::widen(a, n, n));
    (
        packed.round(),
        taus.into_iter().map(E::round_from).collect(),
    )
}

/// The packed reduction in the working precision.
pub(super) fn reduce<F: Field>(mut a: Matrix<F>) -> (Matrix<F>, Vec<F>) {
    let n = a.rows;
    let mut taus = Vec::with_capacity(n.saturating_sub(1));
    for k in 1..n {
        let mut v = a.column(k - 1).split_off(k);
        let r = reflector(&mut v);
        v[0] = 1.0.into();
        apply_right(&mut a, &v, r.tau, 0, k);
        apply_left(&mut a, &v, r.tau.conj(), k, k);
        v[0] = r.beta;
        for (i, &x) in v.iter().enumerate() {
            a[(k + i, k - 1)] = x;
        }
        taus.push(r.tau);
    }
    (a, taus)
}

/// The matrix H and the unitary Q of a packed reduction.
pub(super) fn unpack<F: Field>(packed: &Matrix<F>, taus: &[F]) -> (Matrix<F>, Matrix<F>) {
    let n = packed.rows;
    let mut q = Matrix::identity(n, n);
    for (k, &tau) in taus.iter().enumerate().rev() {
        let mut v = packed.column(k).split_off(k + 1);
        v[0] = 1.0.into();
        apply_left(&mut q, &v, tau, k + 1, 0);
    }
    let h = Matrix::from_fn(n, n, |i, j| {
        if i <= j + 1 {
            packed[(i, j)]
        } else {
            F::default()
        }
    });
    (h, q)
}

/// The result of [`tridiagonal`].
#[derive(Clone, PartialEq, Debug)]
pub struct Tridiagonal<E: Entry> {
    /// The reduced triangle with the reflectors, the other triangle as it was; n×n.
    pub packed: Vec<E>,
    /// The diagonal of T; n entries.
    pub diagonal: Vec<E::Real>,
    /// The off-diagonal of T, real; n - 1 entries.
    pub off_diagonal: Vec<E::Real>,
    /// The factors τ of the reflectors; n - 1 entries.
    pub taus: Vec<E>,
}

/// Qᴴ A Q = T of a Hermitian n×n matrix, of which one triangle is read (`tridiagonal`; LAPACK's
/// `sytrd` and `hetrd`).
///
/// For `lower` reflector i annihilates column i below the subdiagonal and its v starts there; for
/// the upper triangle reflector i annihilates column i + 1 above the superdiagonal, from the last
/// column on, and its v ends with the one on the superdiagonal.
pub fn tridiagonal<E: Entry>(a: &[E], n: usize, lower: bool) -> Tridiagonal<E> {
    let mut a = Matrix::widen(a, n, n);
    let mut taus = vec![E::Wide::default(); n.saturating_sub(1)];
    for i in 0..n {
        a[(i, i)] = a[(i, i)].re().into();
    }
    for step in 1..n {
        // The rows of this reflector's vector, its leading one first.
        let (column, rows): (usize, Vec<usize>) = if lower {
            (step - 1, (step..n).collect())
        } else {
            (n - step, (0..n - step).rev().collect())
        };
        let mut v: Vec<_> = rows.iter().map(|&i| a[(i, column)]).collect();
        let r = reflector(&mut v);
        v[0] = 1.0.into();
        two_sided(&mut a, &rows, &v, r.tau, lower);
        v[0] = r.beta;
        for (&i, &x) in rows.iter().zip(&v) {
            a[(i, column)] = x;
        }
        taus[if lower { column } else { column - 1 }] = r.tau;
    }
    let real = |x: E::Wide| E::Real::round_from(x.re());
    let off = |i: usize| if lower { a[(i + 1, i)] } else { a[(i, i + 1)] };
    Tridiagonal {
        diagonal: (0..n).map(|i| real(a[(i, i)])).collect(),
        off_diagonal: (1..n).map(|i| real(off(i - 1))).collect(),
        taus: taus.into_iter().map(E::round_from).collect(),
        packed: a.round(),
    }
}

/// A ← Hᴴ A H on the given rows and columns of the stored triangle, for H = I - τ v vᴴ.
///
/// With x = τ A v and w = x - ½ τ (xᴴ v) v this is A - v wᴴ - w vᴴ.
fn two_sided<F: Field>(a: &mut Matrix<F>, rows: &[usize], v: &[F], tau: F, lower: bool) {
    let stored = |i: usize, j: usize| (i >= j) == lower || i == j;
    let entry = |a: &Matrix<F>, i: usize, j: usize| {
        if stored(i, j) {
            a[(i, j)]
        } else {
            a[(j, i)].conj()
        }
    };
    let x: Vec<F> = rows
        .iter()
        .map(|&i| {
            tau * rows
                .iter()
                .zip(v)
                .map(|(&j, &y)| entry(a, i, j) * y)
                .sum::<F>()
        })
        .collect();
    let half = (tau * dot(&x, v)).scale(0.5);
    let w: Vec<F> = x.iter().zip(v).map(|(&x, &y)| x - half * y).collect();
    for (p, &i) in rows.iter().enumerate() {
        for (q, &j) in rows.iter().enumerate() {
            if stored(i, j) {
                a[(i, j)] -= v[p] * w[q].conj() + w[p] * v[q].conj();
            }
        }
        a[(i, i)] = a[(i, i)].re().into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    type C = Complex<f64>;

    fn sample(n: usize) -> Matrix<C> {
        Matrix::from_fn(n, n, |i, j| {
            let k = (3 * i * i + 5 * j + i * j + 1) as f64;
            C::new(libm::sin(k), libm::cos(1.7 * k))
        })
    }

    fn distance(a: &Matrix<C>, b: &Matrix<C>) -> f64 {
        let entry = |i: usize| (a[(i / a.cols, i % a.cols)] - b[(i / b.cols, i % b.cols)]).norm();
        (0..a.rows * a.cols).map(entry).fold(0.0, f64::max)
    }

    #[test]
    fn hessenberg_is_similar() {
        for n in [0, 1, 2, 5] {
            let a = sample(n);
            let (packed, taus) = reduce(a.clone());
            let (h, q) = unpack(&packed, &taus);
            assert!(distance(&q.product(&h).product(&q.adjoint()), &a) < 1e-14);
            assert!(distance(&q.adjoint().product(&q), &Matrix::identity(n, n)) < 1e-14);
        }
    }

    #[test]
    fn tridiagonal_is_similar() {
        for n in [1, 2, 5] {
            let a = sample(n);
            let a = Matrix::from_fn(n, n, |i, j| a[(i, j)] + a[(j, i)].conj());
            for lower in [true, false] {
                // The other triangle must not matter.
                let half = Matrix::from_fn(n, n, |i, j| {
                    if (i >= j) == lower || i == j {
                        a[(i, j)]
                    } else {
                        C::new(f64::NAN, 0.0)
                    }
                });
                let f = tridiagonal::<C>(&half.round::<C>(), n, lower);
                let t = Matrix::from_fn(n, n, |i, j| match i.abs_diff(j) {
                    0 => f.diagonal[i].into(),
                    1 => f.off_diagonal[i.min(j)].into(),
                    _ => C::default(),
                });
                let packed = Matrix::widen(&f.packed, n, n);
                let mut q = Matrix::identity(n, n);
                let order: Vec<usize> = (0..n - 1).collect();
                // Q = H₀ H₁ … for the lower triangle, the other way round for the upper.
                let order: Vec<usize> = if lower {
                    order.into_iter().rev().collect()
                } else {
                    order
                };
                for i in order {
                    let mut v = vec![C::default(); n];
                    for (k, x) in v.iter_mut().enumerate() {
                        *x = match (lower, k) {
                            (true, k) if k == i + 1 => C::from(1.0),
                            (true, k) if k > i + 1 => packed[(k, i)],
                            (false, k) if k == i => C::from(1.0),
                            (false, k) if k < i => packed[(k, i + 1)],
                            _ => C::default(),
                        };
                    }
                    apply_left(&mut q, &v, f.taus[i], 0, 0);
                }
                let error = distance(&q.product(&t).product(&q.adjoint()), &a);
                assert!(error < 1e-14, "{n} {lower}: {error}");
            }
        }
    }
}
