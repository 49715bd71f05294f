//! Eigenvalues and eigenvectors of Hermitian matrices.

use super::super::float::Real;
use super::matrix::{Entry, Field, Matrix, norm};

/// The result of [`eigh`].
#[derive(Clone, PartialEq, Debug)]
pub struct Eigh<E: Entry> {
    /// Orthonormal eigenvectors in the columns, n×n.
    pub vectors: Vec<E>,
    /// The eigenvalues in ascending order.
    pub values: Vec<E::Real>,
}

/// A V = V diag(w) for a Hermitian n×n matrix, of which one triangle is read.
///
/// Cyclic Jacobi rotations. Each eigenvector's entry of largest modulus is real and positive.
pub fn eigh<E: Entry>(a: &[E], n: usize, lower: bool) -> Eigh<E> {
    let a = Matrix::widen(a, n, n);
    let triangle = Matrix::from_fn(n, n, |i, j| match (i == j, (i > j) == lower) {
        (true, _) => a[(i, i)].re().into(),
        (false, true) => a[(i, j)],
        (false, false) => a[(j, i)].conj(),
    });
    let Some((mut vectors, values)) = jacobi(triangle) else {
        let values = vec![E::Real::round_from(f64::NAN); n];
        return Eigh {
            vectors: Matrix::nan(n, n).round(),
            values,
        };
    };
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    for j in 0..n {
        let mut column = vectors.column(j);
        fix_phase(&mut column);
        vectors.set_column(j, &column);
    }
    Eigh {
        vectors: Matrix::from_fn(n, n, |i, j| vectors[(i, order[j])]).round(),
        values: order
            .iter()
            .map(|&i| E::Real::round_from(values[i]))
            .collect(),
    }
}

/// Turns a vector so that its (first) entry of largest modulus is real and positive.
pub(super) fn fix_phase<F: Field>(v: &mut [F]) {
    let turn = phase(v);
    v.iter_mut().for_each(|x| *x = *x * turn);
}

/// The factor of modulus 1 that makes a vector's (first) entry of largest modulus real and positive.
pub(super) fn phase<F: Field>(v: &[F]) -> F {
    let mut largest = F::default();
    for &x in v {
        if x.abs() > largest.abs() * (1.0 + 1e-12) {
            largest = x;
        }
    }
    if largest == F::default() {
        return 1.0.into();
    }
    largest.conj().scale(1.0 / largest.abs())
}

/// The rotation that diagonalises the Hermitian [[α, γ], [γ̄, β]]: c and s such that the columns
/// `c·p + s·q` and `-s̄·p + c·q` are its eigenvectors.
pub(super) fn jacobi_rotation<F: Field>(alpha: f64, beta: f64, gamma: F) -> (f64, F) {
    let modulus = gamma.abs();
    let slope = (beta - alpha) / (2.0 * modulus);
    let tangent = 1f64.copysign(slope) / (slope.abs() + libm::hypot(1.0, slope));
    let c = 1.0 / libm::hypot(1.0, tangent);
    (c, gamma.conj().scale(-tangent * c / modulus))
}

/// Sweeps that suffice for any matrix of reasonable size; convergence is quadratic.
pub(super) const MAX_SWEEPS: usize = 60;

/// The eigenvectors and eigenvalues, in no order.
fn jacobi<F: Field>(mut a: Matrix<F>) -> Option<(Matrix<F>, Vec<f64>)> {
    let n = a.rows;
    if !a.is_finite() {
        return None;
    }
    let columns: Vec<F> = (0..n).map(|j| norm(&a.column(j)).into()).collect();
    let negligible = 1e-3 * f64::EPSILON * norm(&columns);
    let mut vectors = Matrix::identity(n, n);
    for _ in 0..MAX_SWEEPS {
        let mut rotated = false;
        for p in 0..n {
            for q in p + 1..n {
                let (alpha, beta, gamma) = (a[(p, p)].re(), a[(q, q)].re(), a[(p, q)]);
                if gamma.abs() <= negligible {
                    continue;
                }
                rotated = true;
                let (c, s) = jacobi_rotation(alpha, beta, gamma);
                a.rotate_columns(p, q, c, s);
                a.rotate_rows(p, q, c, s.conj(), 0);
                vectors.rotate_columns(p, q, c, s);
                (a[(p, q)], a[(q, p)]) = (F::default(), F::default());
            }
        }
        if !rotated {
            return Some((vectors, (0..n).map(|i| a[(i, i)].re()).collect()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    type C = Complex<f64>;

    fn hermitian(n: usize) -> Matrix<C> {
        let entry = |i: usize, j: usize| {
            let k = (3 * i * i + 5 * j + i * j + 1) as f64;
            C::new(libm::sin(k), libm::cos(1.7 * k))
        };
        Matrix::from_fn(n, n, |i, j| entry(i, j) + entry(j, i).conj())
    }

    #[test]
    fn reconstructs_from_either_triangle() {
        for n in [0, 1, 2, 6, 20] {
            let a = hermitian(n);
            for lower in [true, false] {
                let half = Matrix::from_fn(n, n, |i, j| {
                    if i == j || (i > j) == lower {
                        a[(i, j)]
                    } else {
                        C::new(f64::NAN, 0.0)
                    }
                });
                let f = eigh::<C>(&half.round::<C>(), n, lower);
                assert!(f.values.is_sorted());
                let v = Matrix::widen(&f.vectors, n, n);
                let scaled = Matrix::from_fn(n, n, |i, j| v[(i, j)] * f.values[j]);
                let (back, gram) = (scaled.product(&v.adjoint()), v.adjoint().product(&v));
                for i in 0..n * n {
                    let at = (i / n, i % n);
                    let identity = f64::from(u8::from(at.0 == at.1));
                    assert!((back[at] - a[at]).norm() < 1e-13, "{n}");
                    assert!((gram[at] - identity).norm() < 1e-14, "{n}");
                }
            }
        }
    }

    #[test]
    fn degenerate_and_extreme_matrices() {
        let f = eigh(&[2.0f32, 0.0, 0.0, 2.0], 2, true);
        assert_eq!(
            (f.values, f.vectors),
            (vec![2.0, 2.0], vec![1.0, 0.0, 0.0, 1.0])
        );
        let f = eigh(&[0.0f64, 1e300, 1e300, 0.0], 2, true);
        assert!((f.values[1] / 1e300 - 1.0).abs() < 1e-15);
        let f = eigh(&[1.0f64, f64::NAN, f64::NAN, 1.0], 2, true);
        assert!(f.values.iter().chain(&f.vectors).all(|x| x.is_nan()));
    }
}
