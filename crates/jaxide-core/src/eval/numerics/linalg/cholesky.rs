//! The Cholesky factorisation and its rank-one update.

use super::matrix::{Entry, Field, Matrix};

/// The lower triangular L with positive diagonal and L Lᴴ = A, zero above the diagonal.
///
/// Only the lower triangle of the n×n matrix `a` is read, of its diagonal only the real parts. NaN
/// everywhere when A is not positive definite.
pub fn cholesky<E: Entry>(a: &[E], n: usize) -> Vec<E> {
    let mut l = Matrix::widen(a, n, n);
    for j in 0..n {
        let used: f64 = (0..j).map(|k| l[(j, k)].abs_square()).sum();
        let pivot = l[(j, j)].re() - used;
        if pivot.is_nan() || pivot <= 0.0 {
            return Matrix::nan(n, n).round();
        }
        let root = pivot.sqrt();
        l[(j, j)] = root.into();
        for i in j + 1..n {
            let used: E::Wide = (0..j).map(|k| l[(i, k)] * l[(j, k)].conj()).sum();
            l[(i, j)] = (l[(i, j)] - used).scale(1.0 / root);
            l[(j, i)] = E::Wide::default();
        }
    }
    l.round()
}

/// The upper triangular factor of RᵀR + w wᵀ, from the upper triangular R.
///
/// Givens rotations of each row of R with w; the diagonal of the result has the sign of the rotated
/// entry, which is that of R's for a nonnegative diagonal.
pub fn cholesky_update<E: Entry<Wide = f64>>(r: &[E], n: usize, w: &[E]) -> Vec<E> {
    let mut r = Matrix::widen(r, n, n);
    let mut w = Matrix::widen(w, 1, n);
    for k in 0..n {
        let (x, y) = (r[(k, k)], w[(0, k)]);
        if y == 0.0 {
            continue;
        }
        let modulus = libm::hypot(x, y);
        let (c, s) = (x / modulus, y / modulus);
        for j in 0..n {
            let (x, y) = (r[(k, j)], w[(0, j)]);
            r[(k, j)] = c * x + s * y;
            w[(0, j)] = c * y - s * x;
        }
    }
    r.round()
}

#[cfg(test)]
mod tests {
    use super::*;
    use num_complex::Complex;

    #[test]
    fn reads_only_the_lower_triangle() {
        assert_eq!(
            cholesky(&[4.0f32, 99.0, 2.0, 10.0], 2),
            [2.0, 0.0, 1.0, 3.0]
        );
        let c = Complex::new;
        let a = [c(4.0, 7.0), c(9.0, 9.0), c(2.0, -4.0), c(6.0, 0.0)];
        assert_eq!(
            cholesky(&a, 2),
            [c(2.0, 0.0), c(0.0, 0.0), c(1.0, -2.0), c(1.0, 0.0)]
        );
        assert!(cholesky::<f64>(&[], 0).is_empty());
    }

    #[test]
    fn not_positive_definite_is_nan() {
        assert!(
            cholesky(&[1.0f32, 0.0, 2.0, 1.0], 2)
                .iter()
                .all(|x| x.is_nan())
        );
        assert!(cholesky(&[0.0f64], 1)[0].is_nan());
    }

    #[test]
    fn update_adds_an_outer_product() {
        let (r, w) = ([2.0, 1.0, 0.0, 3.0], [1.5, -2.0]);
        let u = cholesky_update(&r, 2, &w);
        let gram = |m: &[f64], i: usize, j: usize| m[i] * m[j] + m[2 + i] * m[2 + j];
        for (i, j) in [(0, 0), (0, 1), (1, 1)] {
            assert!((gram(&u, i, j) - gram(&r, i, j) - w[i] * w[j]).abs() < 1e-14);
        }
        assert!(u[2].abs() < 1e-15);
    }
}
