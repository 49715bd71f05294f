//! The QR factorisation by Householder reflections.

use super::householder::{apply_left, leading_columns, packed_vector, reflector};
use super::matrix::{Entry, Field, Matrix, norm};

/// The QR factorisation of an m×n matrix in packed form (`geqrf`): R on and above the diagonal, the
/// reflectors below, and their min(m, n) factors τ.
pub fn geqrf<E: Entry>(a: &[E], m: usize, n: usize) -> (Vec<E>, Vec<E>) {
    let mut packed = Matrix::widen(a, m, n);
    let taus: Vec<_> = (0..m.min(n)).map(|k| eliminate(&mut packed, k)).collect();
    (
        packed.round(),
        taus.into_iter().map(E::round_from).collect(),
    )
}

/// The QR factorisation with column pivoting in packed form (`geqp3`): the packed factors of the
/// permuted matrix, the pivots counted from 1, and τ.
///
/// `A[:, pivots - 1] = Q R`. The columns whose entry in `pivots` is not zero come first, in their
/// order; of the others the one with the largest remaining norm is always taken next, so that the
/// diagonal of R falls in modulus.
pub fn geqp3<E: Entry>(a: &[E], m: usize, n: usize, pivots: &[i32]) -> (Vec<E>, Vec<i32>, Vec<E>) {
    assert_eq!(pivots.len(), n, "geqp3: pivots of {n} columns");
    let mut packed = Matrix::widen(a, m, n);
    let mut order: Vec<i32> = (1..=n as i32).collect();
    let mut fixed = 0;
    for (j, &pivot) in pivots.iter().enumerate() {
        if pivot != 0 {
            packed.swap_columns(fixed, j);
            order.swap(fixed, j);
            fixed += 1;
        }
    }
    let mut taus = Vec::with_capacity(m.min(n));
    for k in 0..m.min(n) {
        if k >= fixed {
            let remaining = |j: usize| norm(&packed.column(j)[k..]);
            let mut largest = (k, remaining(k));
            for j in k + 1..n {
                let size = remaining(j);
                if size > largest.1 {
                    largest = (j, size);
                }
            }
            packed.swap_columns(k, largest.0);
            order.swap(k, largest.0);
        }
        taus.push(E::round_from(eliminate(&mut packed, k)));
    }
    (packed.round(), order, taus)
}

/// The result of [`qr`].
#[derive(Clone, PartialEq, Debug)]
pub struct Qr<E> {
    /// Q with orthonormal columns: m×m for full matrices, else m×min(m, n).
    pub q: Vec<E>,
    /// R, upper triangular: m×n for full matrices, else min(m, n)×n.
    pub r: Vec<E>,
    /// With pivoting, the columns of A in the order in which R has them, counted from 0.
    pub pivots: Option<Vec<i32>>,
}

/// A = Q R of an m×n matrix, or `A[:, pivots] = Q R` with `pivoting`.
///
/// For an empty matrix Q is the identity, R zero, and the pivots are zeros.
pub fn qr<E: Entry>(a: &[E], m: usize, n: usize, full_matrices: bool, pivoting: bool) -> Qr<E> {
    let rank = m.min(n);
    let mut packed = Matrix::widen(a, m, n);
    let mut pivots = pivoting.then(|| vec![0; n]);
    let mut taus = Vec::new();
    if rank > 0 {
        if let Some(pivots) = &mut pivots {
            // In the working precision, so that R is rounded once.
            let wide: Vec<E::Wide> = packed.round();
            let (factors, order, factor_taus) = geqp3(&wide, m, n, pivots);
            packed = Matrix::widen(&factors, m, n);
            taus = factor_taus;
            *pivots = order.iter().map(|p| p - 1).collect();
        } else {
            taus = (0..rank).map(|k| eliminate(&mut packed, k)).collect();
        }
    }
    let k = if full_matrices { m } else { rank };
    let r = Matrix::from_fn(k, n, |i, j| {
        if i <= j {
            packed[(i, j)]
        } else {
            Default::default()
        }
    });
    Qr {
        q: leading_columns(&packed, &taus, k).round(),
        r: r.round(),
        pivots,
    }
}

/// Eliminates column k below the diagonal by a reflector, which is left there; its τ.
pub(super) fn eliminate<F: Field>(a: &mut Matrix<F>, k: usize) -> F {
    let mut column = a.column(k).split_off(k);
    let r = reflector(&mut column);
    for (i, &v) in column.iter().enumerate() {
        a[(k + i, k)] = v;
    }
    let v = packed_vector(a, k);
    a[(k, k)] = r.beta;
    apply_left(a, &v, r.tau.conj(), k, k + 1);
    r.tau
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

    fn distance(a: &[C], b: &[C]) -> f64 {
        assert_eq!(a.len(), b.len());
        a.iter()
            .zip(b)
            .map(|(x, y)| (x - y).norm())
            .fold(0.0, f64::max)
    }

    #[test]
    fn factors_multiply_back() {
        for (m, n) in [(1, 1), (3, 3), (4, 2), (2, 5), (0, 3), (3, 0)] {
            for (full, pivoting) in [(true, false), (false, false), (true, true), (false, true)] {
                let a = sample(m, n);
                let f = qr(&a, m, n, full, pivoting);
                let k = if full { m } else { m.min(n) };
                let (q, r) = (Matrix::widen(&f.q, m, k), Matrix::widen(&f.r, k, n));
                let order = f.pivots.unwrap_or((0..n as i32).collect());
                let wide = Matrix::widen(&a, m, n);
                let permuted = Matrix::from_fn(m, n, |i, j| wide[(i, order[j] as usize)]);
                assert!(distance(&q.product(&r).round::<C>(), &permuted.round::<C>()) < 1e-14);
                let gram = q.adjoint().product(&q).round::<C>();
                assert!(distance(&gram, &Matrix::identity(k, k).round::<C>()) < 1e-14);
            }
        }
    }

    /// Signs as LAPACK has them: `jnp.linalg.qr([[3, 1], [4, 2]])`.
    #[test]
    fn signs_of_lapack() {
        let f = qr(&[3.0f32, 1.0, 4.0, 2.0], 2, 2, false, false);
        assert_eq!(f.q, [-0.6, -0.8, -0.8, 0.6]);
        assert_eq!(f.r, [-5.0, -2.2, 0.0, 0.4]);
    }

    #[test]
    fn pivots_fall_and_fixed_columns_stay_first() {
        let a = [1.0, 5.0, 0.0, 2.0, 0.0, 3.0];
        assert_eq!(qr(&a, 2, 3, false, true).pivots, Some(vec![1, 2, 0]));
        let (_, order, _) = geqp3(&a, 2, 3, &[0, 0, 1]);
        assert_eq!(order, [3, 2, 1]);
    }
}
