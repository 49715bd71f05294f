//! The Schur decomposition.

mod complex;
mod real;

pub(super) use complex::iterate as iterate_complex;
pub(super) use real::iterate as iterate_real;

use super::hessenberg::{reduce, unpack};
use super::matrix::{Entry, Field, Matrix};

/// A = Z T Zᴴ of an n×n matrix: T and the unitary Z.
///
/// T is upper triangular for complex matrices. For real ones it has, beside single entries, 2×2
/// blocks on the diagonal for conjugate pairs of eigenvalues, in LAPACK's standard form: equal
/// diagonal entries, off-diagonal entries of opposite signs. The eigenvalues are in no order.
pub fn schur<E: Entry>(a: &[E], n: usize) -> (Vec<E>, Vec<E>) {
    match decompose(Matrix::widen(a, n, n)) {
        Some((t, z)) => (t.round(), z.round()),
        None => (Matrix::nan(n, n).round(), Matrix::nan(n, n).round()),
    }
}

/// T and Z in the working precision; none for an input that is not finite, or if the iteration does
/// not converge.
pub(super) fn decompose<F: Field>(a: Matrix<F>) -> Option<(Matrix<F>, Matrix<F>)> {
    if !a.is_finite() {
        return None;
    }
    let n = a.rows;
    // Shifts are quadratic in the entries: scaled by a power of two against overflow.
    let largest = a.largest_entry();
    let exponent = if largest > 0.0 {
        libm::ilogb(largest).clamp(-1000, 1000)
    } else {
        0
    };
    let (down, up) = (
        libm::exp2(f64::from(-exponent)),
        libm::exp2(f64::from(exponent)),
    );
    let (packed, taus) = reduce(a.scaled(down));
    let (h, z) = unpack(&packed, &taus);
    let (mut t, mut z) = (h.into_entries(), z.into_entries());
    F::schur_from_hessenberg(&mut t, &mut z, n).then_some(())?;
    Some((Matrix::widen(&t, n, n).scaled(up), Matrix::widen(&z, n, n)))
}

/// QR steps that one eigenvalue may take.
const MAX_STEPS: usize = 60;

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    fn sample(n: usize) -> Vec<f64> {
        (0..n * n)
            .map(|i| libm::sin((3 * i * i + i + 1) as f64))
            .collect()
    }

    fn check<F: Field>(a: &Matrix<F>) -> Matrix<F> {
        let n = a.rows;
        let (t, z) = decompose(a.clone()).unwrap();
        let scale = a.largest_entry();
        let (back, gram) = (z.product(&t).product(&z.adjoint()), z.adjoint().product(&z));
        for i in 0..n * n {
            let at = (i / n, i % n);
            let identity = F::from(f64::from(u8::from(at.0 == at.1)));
            assert!((back[at] - a[at]).abs() < 1e-13 * scale, "{n}");
            assert!((gram[at] - identity).abs() < 1e-13, "{n}");
            assert!(at.0 <= at.1 + 1 || t[at] == F::default());
        }
        t
    }

    #[test]
    fn complex_matrices_become_triangular() {
        for n in [0, 1, 2, 3, 8, 25] {
            let (re, im) = (sample(n), sample(2 * n));
            let a = Matrix::from_fn(n, n, |i, j| Complex::new(re[i * n + j], im[i + 2 * n * j]));
            let t = check(&a);
            assert!((1..n).all(|i| t[(i, i - 1)] == Complex::default()));
        }
    }

    #[test]
    fn real_blocks_are_standard() {
        for n in [0, 1, 2, 3, 8, 25] {
            let t = check(&Matrix::widen(&sample(n), n, n));
            for i in 1..n {
                if t[(i, i - 1)] != 0.0 {
                    assert_eq!(t[(i, i)], t[(i - 1, i - 1)]);
                    assert!(t[(i, i - 1)] * t[(i - 1, i)] < 0.0);
                    assert!(i + 1 == n || t[(i + 1, i)] == 0.0);
                }
            }
        }
    }

    /// Matrices on which unshifted or carelessly shifted iterations stall.
    #[test]
    fn stubborn_matrices() {
        let cyclic = Matrix::from_fn(4, 4, |i, j| f64::from(u8::from((i + 3) % 4 == j)));
        check(&cyclic);
        check(&Matrix::from_fn(4, 4, |i, j| {
            Complex::new(cyclic[(i, j)], 0.0)
        }));
        let jordan = Matrix::from_fn(5, 5, |i, j| f64::from(u8::from(i == j || i + 1 == j)));
        check(&jordan.adjoint());
        check(&Matrix::widen(&[0.0, 1.0, -1.0, 0.0], 2, 2));
        check(&Matrix::widen(&[1.0, 2.0, 0.0, 1.0], 2, 2));
        check(&Matrix::widen(&[1.0, 0.0, 1e-8, 1.0 + 1e-8], 2, 2));
        check(&Matrix::widen(&sample(4), 4, 4).scaled(1e300));
        check(&Matrix::widen(&sample(4), 4, 4).scaled(1e-300));
    }

    /// After their one eigenvalue these leave numbers of which products, and then reciprocals, are out of range.
    #[test]
    fn matrices_of_ones() {
        for n in [2, 3, 20, 40, 100] {
            check(&Matrix::from_fn(n, n, |_, _| 1.0));
            check(&Matrix::from_fn(n, n, |_, _| Complex::new(1.0, 0.0)));
            check(&Matrix::from_fn(n, n, |_, _| Complex::new(1.0, 1.0)));
        }
    }

    #[test]
    fn not_finite_is_nan() {
        let (t, z) = schur(&[1.0f32, f32::INFINITY, 0.0, 1.0], 2);
        assert!(t.iter().chain(&z).all(|x| x.is_nan()));
    }
}
