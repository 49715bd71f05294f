//! The double-shift QR iteration of J. G. F. Francis (1961) on a real Hessenberg matrix, with the
//! deflation and shifts of LAPACK's `lahqr`.

use super::super::householder::{apply_left, apply_right, reflector};
use super::super::matrix::Matrix;
use super::MAX_STEPS;

/// Makes the Hessenberg matrix H quasi-triangular with standard 2×2 blocks by orthogonal similarity
/// and multiplies Z by the transformation; false if it does not converge.
pub(in super::super) fn iterate(h: &mut Matrix<f64>, z: &mut Matrix<f64>) -> bool {
    let mut end = h.rows;
    let mut steps = 0;
    while end > 0 {
        let start = (1..end).rev().find(|&k| is_negligible(h, k)).unwrap_or(0);
        if start > 0 {
            h[(start, start - 1)] = 0.0;
        }
        if start + 2 >= end {
            if start + 2 == end {
                standardise(h, z, start);
            }
            (end, steps) = (start, 0);
            continue;
        }
        if steps == MAX_STEPS {
            return false;
        }
        steps += 1;
        let shifts = shifts(h, start, end, steps);
        chase(h, z, start, end, shifts);
    }
    true
}

/// Whether the subdiagonal entry of row k is zero to rounding: beside the diagonal entries, and in
/// its effect on the eigenvalues (M. Ahues and F. Tisseur, LAPACK Working Note 122).
fn is_negligible(h: &Matrix<f64>, k: usize) -> bool {
    let below = h[(k, k - 1)].abs();
    if below <= f64::MIN_POSITIVE / f64::EPSILON {
        return true;
    }
    let (first, second) = (h[(k - 1, k - 1)], h[(k, k)]);
    let mut beside = first.abs() + second.abs();
    if beside == 0.0 {
        beside += if k >= 2 { h[(k - 1, k - 2)].abs() } else { 0.0 };
        beside += if k + 1 < h.rows {
            h[(k + 1, k)].abs()
        } else {
            0.0
        };
    }
    if below > f64::EPSILON * beside {
        return false;
    }
    let above = h[(k - 1, k)].abs();
    let (ab, ba) = (below.max(above), below.min(above));
    let difference = (first - second).abs();
    let (aa, bb) = (second.abs().max(difference), second.abs().min(difference));
    let s = aa + ab;
    ba * (ab / s) <= (f64::MIN_POSITIVE / f64::EPSILON).max(f64::EPSILON * (bb * (aa / s)))
}

/// The real parts of the two shifts, and the imaginary part of the first, which is that of the second with the opposite sign.
struct Shifts {
    re: [f64; 2],
    im: f64,
}

/// The eigenvalues of the last 2×2 block if they are conjugate, else twice the one nearer its last
/// entry; every tenth step arbitrary ones that break a cycle.
fn shifts(h: &Matrix<f64>, start: usize, end: usize, steps: usize) -> Shifts {
    let last = end - 1;
    let exceptional = |s: f64, corner: f64| (0.75 * s + corner, -0.4375 * s, s, 0.75 * s + corner);
    let (a, b, c, d) = if steps % 20 == 10 {
        let s = h[(start + 1, start)].abs() + h[(start + 2, start + 1)].abs();
        exceptional(s, h[(start, start)])
    } else if steps.is_multiple_of(20) {
        let s = h[(last, last - 1)].abs() + h[(last - 1, last - 2)].abs();
        exceptional(s, h[(last, last)])
    } else {
        (
            h[(last - 1, last - 1)],
            h[(last - 1, last)],
            h[(last, last - 1)],
            h[(last, last)],
        )
    };
    // Over their size, so that products of tiny numbers are no zeros.
    let scale = a.abs() + b.abs() + c.abs() + d.abs();
    if scale == 0.0 {
        return Shifts {
            re: [0.0; 2],
            im: 0.0,
        };
    }
    let [a, b, c, d] = [a / scale, b / scale, c / scale, d / scale];
    let (mean, half) = (0.5 * (a + d), 0.5 * (a - d));
    let discriminant = half * half + b * c;
    let root = discriminant.abs().sqrt();
    if discriminant < 0.0 {
        return Shifts {
            re: [mean * scale; 2],
            im: root * scale,
        };
    }
    let (plus, minus) = (mean + root, mean - root);
    let nearer = if (plus - d).abs() <= (minus - d).abs() {
        plus
    } else {
        minus
    };
    Shifts {
        re: [nearer * scale; 2],
        im: 0.0,
    }
}

/// One implicit double-shift step on the rows `start..end`.
fn chase(h: &mut Matrix<f64>, z: &mut Matrix<f64>, start: usize, end: usize, shifts: Shifts) {
    // The first column of (H - first shift) (H - second shift), as far down as a small subdiagonal entry allows; over a number without which
    // products of tiny ones would vanish.
    let first_column = |h: &Matrix<f64>, m: usize| {
        let (a, c) = (h[(m, m)], h[(m + 1, m)]);
        let Shifts { re: [p, q], im } = shifts;
        let scale = (a - q).abs() + im.abs() + c.abs();
        if scale == 0.0 {
            return [0.0; 3];
        }
        let part = c / scale;
        let x = part * h[(m, m + 1)] + (a - p) * ((a - q) / scale) + im * (im / scale);
        let y = part * (a + h[(m + 1, m + 1)] - p - q);
        let w = part * h[(m + 2, m + 1)];
        let scale = x.abs() + y.abs() + w.abs();
        if scale == 0.0 {
            [0.0; 3]
        } else {
            [x / scale, y / scale, w / scale]
        }
    };
    let mut from = end - 3;
    let mut v = first_column(h, from);
    while from > start {
        let beside =
            h[(from - 1, from - 1)].abs() + h[(from, from)].abs() + h[(from + 1, from + 1)].abs();
        let bulge = h[(from, from - 1)].abs() * (v[1].abs() + v[2].abs());
        if bulge <= f64::EPSILON * v[0].abs() * beside {
            break;
        }
        from -= 1;
        v = first_column(h, from);
    }
    for k in from..end - 1 {
        let size = 3.min(end - k);
        let mut column: Vec<f64> = if k > from {
            (k..k + size).map(|i| h[(i, k - 1)]).collect()
        } else {
            v[..size].to_vec()
        };
        let r = reflector(&mut column);
        column[0] = 1.0;
        if k > from {
            h[(k, k - 1)] = r.beta;
            (k + 1..k + size).for_each(|i| h[(i, k - 1)] = 0.0);
        } else if from > start {
            // The rest of this row of the reflection is negligible.
            h[(k, k - 1)] *= 1.0 - r.tau;
        }
        apply_left(h, &column, r.tau, k, k);
        apply_right_above(h, &column, r.tau, k, (k + 4).min(end));
        apply_right(z, &column, r.tau, 0, k);
    }
}

/// C ← C (I - τ v vᵀ) on the first `rows` rows and the columns of v from `col` on.
fn apply_right_above(c: &mut Matrix<f64>, v: &[f64], tau: f64, col: usize, rows: usize) {
    for i in 0..rows {
        let along: f64 = v.iter().enumerate().map(|(j, x)| c[(i, col + j)] * x).sum();
        for (j, x) in v.iter().enumerate() {
            c[(i, col + j)] -= tau * along * x;
        }
    }
}

/// Brings the 2×2 block at `k` to standard form: triangular if its eigenvalues are real, else with
/// equal diagonal entries and off-diagonal entries of opposite signs (LAPACK's `lanv2`).
fn standardise(h: &mut Matrix<f64>, z: &mut Matrix<f64>, k: usize) {
    let (block, c, s) = standard_block([
        [h[(k, k)], h[(k, k + 1)]],
        [h[(k + 1, k)], h[(k + 1, k + 1)]],
    ]);
    h.rotate_rows(k, k + 1, c, s, k + 2);
    // Only the rows above and in the block: those below are zero there.
    h.rotate_columns(k, k + 1, c, s);
    for (i, row) in block.iter().enumerate() {
        for (j, &x) in row.iter().enumerate() {
            h[(k + i, k + j)] = x;
        }
    }
    z.rotate_columns(k, k + 1, c, s);
}

/// The standard form of a block, and the rotation [[c, s], [-s, c]] that gives it.
fn standard_block([[a, b], [c, d]]: [[f64; 2]; 2]) -> ([[f64; 2]; 2], f64, f64) {
    if c == 0.0 {
        return ([[a, b], [0.0, d]], 1.0, 0.0);
    }
    if b == 0.0 {
        return ([[d, -c], [0.0, a]], 0.0, 1.0);
    }
    if a == d && b.signum() != c.signum() {
        return ([[a, b], [c, d]], 1.0, 0.0);
    }
    let difference = a - d;
    let p = 0.5 * difference;
    let larger = b.abs().max(c.abs());
    let smaller = b.abs().min(c.abs()) * b.signum() * c.signum();
    let scale = p.abs().max(larger);
    // The discriminant p² + bc, over the scale.
    let discriminant = p / scale * p + larger / scale * smaller;
    if discriminant >= 4.0 * f64::EPSILON {
        let root = p + (scale.sqrt() * discriminant.sqrt()).copysign(p);
        let length = libm::hypot(c, root);
        let block = [[d + root, b - c], [0.0, d - larger / root * smaller]];
        return (block, root / length, c / length);
    }
    // Complex or nearly equal real eigenvalues: make the diagonal entries equal.
    let sum = b + c;
    let length = libm::hypot(sum, difference);
    let cosine = (0.5 * (1.0 + sum.abs() / length)).sqrt();
    let sine = -(p / (length * cosine)).copysign(p * sum.signum());
    let (aa, bb) = (a * cosine + b * sine, b * cosine - a * sine);
    let (cc, dd) = (c * cosine + d * sine, d * cosine - c * sine);
    let (a, b) = (aa * cosine + cc * sine, bb * cosine + dd * sine);
    let (c, d) = (cc * cosine - aa * sine, dd * cosine - bb * sine);
    let mean = 0.5 * (a + d);
    if c == 0.0 {
        return ([[mean, b], [0.0, mean]], cosine, sine);
    }
    if b == 0.0 {
        return ([[mean, -c], [0.0, mean]], -sine, cosine);
    }
    if b.signum() != c.signum() {
        return ([[mean, b], [c, mean]], cosine, sine);
    }
    // Real after all: one more rotation makes the block triangular.
    let (root_b, root_c) = (b.abs().sqrt(), c.abs().sqrt());
    let shift = (root_b * root_c).copysign(c);
    let length = (b + c).abs().sqrt();
    let (more_cosine, more_sine) = (root_b / length, root_c / length);
    (
        [[mean + shift, b - c], [0.0, mean - shift]],
        cosine * more_cosine - sine * more_sine,
        cosine * more_sine + sine * more_cosine,
    )
}
