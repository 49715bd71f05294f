//! The shifted QR iteration on a complex Hessenberg matrix.

use super::super::super::complex::sqrt;
use super::super::matrix::{Field, LEAST, Matrix};
use super::MAX_STEPS;
use num_complex::Complex;

type C128 = Complex<f64>;

/// Makes the Hessenberg matrix H upper triangular by unitary similarity and multiplies Z by the
/// transformation; false if it does not converge.
///
/// Implicit single shifts, Wilkinson's: the eigenvalue of the last 2×2 block nearer its last entry.
pub(in super::super) fn iterate(h: &mut Matrix<C128>, z: &mut Matrix<C128>) -> bool {
    let mut end = h.rows;
    let mut steps = 0;
    while end > 1 {
        let last = end - 1;
        let start = (1..end).rev().find(|&k| is_negligible(h, k)).unwrap_or(0);
        if start > 0 {
            h[(start, start - 1)] = C128::default();
        }
        if start == last {
            (end, steps) = (last, 0);
            continue;
        }
        if steps == MAX_STEPS {
            return false;
        }
        steps += 1;
        let shift = if steps % 10 == 0 {
            // An arbitrary shift breaks a cycle.
            h[(last, last)] + 0.75 * h[(last, last - 1)].abs()
        } else {
            wilkinson_shift(h, last)
        };
        chase(h, z, start, end, shift);
    }
    true
}

/// Whether the subdiagonal entry of row k is zero to rounding beside its neighbours.
fn is_negligible(h: &Matrix<C128>, k: usize) -> bool {
    let beside = h[(k - 1, k - 1)].l1_norm() + h[(k, k)].l1_norm();
    let scale = if beside > 0.0 {
        beside
    } else {
        h[(k - 1, k)].l1_norm()
    };
    h[(k, k - 1)].l1_norm() <= f64::EPSILON * scale
}

fn wilkinson_shift(h: &Matrix<C128>, last: usize) -> C128 {
    let (a, b) = (h[(last - 1, last - 1)], h[(last - 1, last)]);
    let (c, d) = (h[(last, last - 1)], h[(last, last)]);
    // Over their size, so that products of tiny numbers are no zeros.
    let scale = a.l1_norm() + b.l1_norm() + c.l1_norm() + d.l1_norm();
    if scale == 0.0 {
        return d;
    }
    let [a, b, c, d] = [a / scale, b / scale, c / scale, d / scale];
    // Eigenvalues d + bc / (p ± √(p² + bc)) with p = (d - a) / 2, up to a sign.
    let half = (a - d).scale(0.5);
    let product = b * c;
    let root = sqrt(half * half + product);
    let (plus, minus) = (half + root, half - root);
    // Of two equally near, as of a matrix that is real, the one that LAPACK takes: the eigenvalues come in its order.
    let denominator = if plus.norm_sqr() >= minus.norm_sqr() {
        plus
    } else {
        minus
    };
    if denominator == C128::default() {
        d * scale
    } else {
        (d - product.over(denominator)) * scale
    }
}

/// One QR step on the rows `start..end`: a rotation that starts the bulge, and those that chase it
/// down the diagonal.
fn chase(h: &mut Matrix<C128>, z: &mut Matrix<C128>, start: usize, end: usize, shift: C128) {
    let (mut x, mut y) = (h[(start, start)] - shift, h[(start + 1, start)]);
    for k in start..end - 1 {
        let (c, s) = rotation(x, y);
        h.rotate_rows(k, k + 1, c, s, k.saturating_sub(1));
        h.rotate_columns(k, k + 1, c, s.conj());
        z.rotate_columns(k, k + 1, c, s.conj());
        if k > start {
            h[(k + 1, k - 1)] = C128::default();
        }
        if k + 2 < end {
            (x, y) = (h[(k + 1, k)], h[(k + 2, k)]);
        }
    }
}

/// c and s with `-s̄ x + c y = 0` and c² + |s|² = 1.
fn rotation(x: C128, y: C128) -> (f64, C128) {
    // Moduli of numbers below these have lost digits.
    let up = |x: C128| {
        if x.l1_norm() < LEAST {
            x.scale(1.0 / LEAST)
        } else {
            x
        }
    };
    let phase = |x: C128| up(x) / up(x).abs();
    if y == C128::default() {
        return (1.0, C128::default());
    }
    if x == C128::default() {
        return (0.0, phase(y).conj());
    }
    let (x_norm, y_norm) = if x.l1_norm().max(y.l1_norm()) < LEAST {
        (up(x).abs(), up(y).abs())
    } else {
        (x.abs(), y.abs())
    };
    let r = libm::hypot(x_norm, y_norm);
    (x_norm / r, phase(x) * phase(y).conj() * (y_norm / r))
}
