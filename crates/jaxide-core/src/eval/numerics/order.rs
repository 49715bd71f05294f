//! The orders behind `sort`, `top_k` and the total-order comparisons.

use super::float::Real;
use num_complex::Complex;
use std::cmp::Ordering;

/// The order of `sort` on floats: -0 and 0 are equal, every NaN is equal and after everything else.
///
/// Integers and bools sort by their own `Ord`. With several keys the comparisons are chained
/// (`Ordering::then`); the sort must be stable.
pub fn sort_order<T: Real>(x: T, y: T) -> Ordering {
    let (x, y) = (x.to_f64(), y.to_f64());
    x.partial_cmp(&y)
        .unwrap_or_else(|| x.is_nan().cmp(&y.is_nan()))
}

/// The order of `sort` on complex numbers: by the real part, then by the imaginary part.
pub fn sort_order_complex<T: Real>(x: Complex<T>, y: Complex<T>) -> Ordering {
    sort_order(x.re, y.re).then(sort_order(x.im, y.im))
}

/// The total order of IEEE 754 that `lt_to`, `le_to` and `eq_to` compare by: -NaN, -∞, …, -0, 0, …,
/// ∞, NaN.
pub fn total_order<T: Real>(x: T, y: T) -> Ordering {
    let key = |v: T| {
        let width = 1 + T::EXPONENT_BITS + T::MANTISSA_BITS;
        let bits = (v.to_bits64() << (64 - width)) as i64;
        // Negative numbers grow with their magnitude bits: turn those around.
        bits ^ ((bits >> 63) as u64 >> 1) as i64
    };
    key(x).cmp(&key(y))
}

/// The positions of the `k` largest of `n` values in descending order, equal ones by position: the
/// result of `top_k` along one axis.
///
/// `order` compares the values at two positions. `top_k` compares floats by [`total_order`]: NaN is
/// the largest, and 0 comes before -0. Fewer than `k` positions when `k > n`.
///
/// ```
/// use jaxide_core::eval::numerics::order::top_k;
/// let x = [3, 1, 3, 2];
/// assert_eq!(top_k(4, 3, |i, j| x[i].cmp(&x[j])), [0, 2, 3]);
/// ```
pub fn top_k(n: usize, k: usize, order: impl Fn(usize, usize) -> Ordering) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..n).collect();
    // A stable sort keeps equal values in order of position.
    positions.sort_by(|&i, &j| order(i, j).reverse());
    positions.truncate(k);
    positions
}

/// The first of `length` indices for which `before` is false, if it is true up to there; else what JAX's `searchsorted`
/// finds, which looks at the same indices.
///
/// ```
/// use jaxide_core::eval::numerics::order::bisect;
/// assert_eq!(bisect(4, |index| [1, 3, 3, 9][index] < 3), 1);
/// assert_eq!(bisect(0, |_| true), 0);
/// ```
pub fn bisect(length: usize, before: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, length);
    for _ in 0..usize::BITS - length.leading_zeros() {
        let middle = low + (high - low) / 2;
        if before(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    high
}

#[cfg(test)]
mod tests {
    use super::*;
    use half::{bf16, f16};

    const NAN: f32 = f32::NAN;

    /// The order of `lax.sort`.
    #[test]
    fn sort_puts_nan_last_and_zeros_together() {
        let x = [
            0.0,
            -0.0,
            -NAN,
            NAN,
            1.0,
            -1.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
        ];
        let mut positions: Vec<usize> = (0..x.len()).collect();
        positions.sort_by(|&i, &j| sort_order(x[i], x[j]));
        assert_eq!(positions, [7, 5, 0, 1, 4, 6, 2, 3]);
        assert_eq!(sort_order(f16::NAN, f16::INFINITY), Ordering::Greater);
    }

    #[test]
    fn complex_numbers_sort_by_parts() {
        let c = Complex::new;
        let x = [
            c(1.0, 2.0),
            c(1.0, NAN),
            c(NAN, 1.0),
            c(0.0, -0.0),
            c(0.0, 0.0),
            c(NAN, 0.0),
        ];
        let mut positions: Vec<usize> = (0..x.len()).collect();
        positions.sort_by(|&i, &j| sort_order_complex(x[i], x[j]));
        assert_eq!(positions, [3, 4, 0, 1, 5, 2]);
    }

    #[test]
    fn total_order_separates_zeros_and_nans() {
        let ascending = [
            -NAN,
            f32::NEG_INFINITY,
            -1.0,
            -0.0,
            0.0,
            1.0,
            f32::INFINITY,
            NAN,
        ];
        for (i, &x) in ascending.iter().enumerate() {
            for (j, &y) in ascending.iter().enumerate() {
                assert_eq!(total_order(x, y), i.cmp(&j), "{x} {y}");
                let (x, y) = (bf16::from_f32(x), bf16::from_f32(y));
                assert_eq!(total_order(x, y), i.cmp(&j), "{x} {y}");
            }
        }
    }

    /// The result of `lax.top_k`.
    #[test]
    fn top_k_breaks_ties_by_position() {
        let x = [
            0.0,
            -0.0,
            -NAN,
            NAN,
            1.0,
            -1.0,
            f32::INFINITY,
            f32::NEG_INFINITY,
            0.0,
            -0.0,
        ];
        let positions = top_k(10, 10, |i, j| total_order(x[i], x[j]));
        assert_eq!(positions, [3, 6, 4, 0, 8, 1, 9, 5, 7, 2]);
        assert_eq!(top_k(2, 5, |i, j| x[i].total_cmp(&x[j])), [0, 1]);
    }
}
