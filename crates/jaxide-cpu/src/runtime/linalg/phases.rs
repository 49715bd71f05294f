//! The sign or phase of eigenvectors and singular vectors, which the problem leaves open.

use super::scalar::is_single;
use super::scalar::{RealScalar, Scalar};

/// For each of the first `count` columns of a dense matrix of this width, the factor of modulus 1
/// that makes its first entry of largest modulus real and positive. Entries that are equal to
/// rounding count as equal.
pub(super) fn column_phases<T: Scalar<Real: RealScalar>>(
    matrix: &[T],
    width: usize,
    count: usize,
) -> Vec<T> {
    let larger = larger_by::<T>();
    // Squares of moduli, and the entries that have them.
    let mut largest = vec![(0.0, T::ZERO); count];
    for row in matrix.chunks_exact(width.max(1)) {
        for (largest, &x) in largest.iter_mut().zip(row) {
            let square = x.abs_square();
            if square > largest.0 * larger {
                *largest = (square, x);
            }
        }
    }
    let phase = |(square, x): (f64, T)| {
        let modulus = square.sqrt();
        if modulus > 0.0 {
            T::from_components(x.re() / modulus, -x.im() / modulus)
        } else {
            T::ONE
        }
    };
    largest.into_iter().map(phase).collect()
}

/// An entry is larger than another if its square is so many times as large.
pub(super) fn larger_by<T: Scalar<Real: RealScalar>>() -> f64 {
    if is_single::<T>() {
        1.0 + 2e-5
    } else {
        1.0 + 2e-12
    }
}

/// Multiplies the first columns of a dense matrix of this width by factors.
pub(super) fn turn_columns<T: Scalar>(matrix: &mut [T], width: usize, factors: &[T]) {
    for row in matrix.chunks_exact_mut(width.max(1)) {
        for (x, &factor) in row.iter_mut().zip(factors) {
            *x = *x * factor;
        }
    }
}
