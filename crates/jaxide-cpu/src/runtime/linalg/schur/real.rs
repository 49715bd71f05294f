//! The double-shift QR iteration of J. G. F. Francis (1961) on a real Hessenberg matrix, with the
//! deflation and shifts of LAPACK's `lahqr`.

use super::{FAR_UP, MAX_STEPS};
use crate::runtime::simd::for_each_isa;

/// Makes the Hessenberg matrix H quasi-triangular with standard 2 × 2 blocks by orthogonal similarity,
/// and multiplies Z, whose transpose is given unless it is empty, by the transformation; false if it
/// does not converge.
pub(super) fn iterate(h: &mut [f64], z: &mut [f64], n: usize) -> bool {
    let mut end = n;
    let mut steps = 0;
    while end > 0 {
        let start = (1..end)
            .rev()
            .find(|&k| is_negligible(h, n, k))
            .unwrap_or(0);
        if start > 0 {
            h[start * n + start - 1] = 0.0;
        }
        if start + 2 >= end {
            if start + 2 == end {
                standardise(h, z, n, start);
            }
            (end, steps) = (start, 0);
            continue;
        }
        if steps == MAX_STEPS {
            return false;
        }
        steps += 1;
        let shifts = shifts(h, n, start, end, steps);
        chase(h, z, n, (start, end), shifts);
    }
    true
}

/// Whether the subdiagonal entry of row k is zero to rounding: beside the diagonal entries, and in
/// its effect on the eigenvalues (M. Ahues and F. Tisseur, LAPACK Working Note 122).
fn is_negligible(h: &[f64], n: usize, k: usize) -> bool {
    let at = |i: usize, j: usize| h[i * n + j];
    let below = at(k, k - 1).abs();
    if below <= f64::MIN_POSITIVE / f64::EPSILON {
        return true;
    }
    let (first, second) = (at(k - 1, k - 1), at(k, k));
    let mut beside = first.abs() + second.abs();
    if beside == 0.0 {
        beside += if k >= 2 { at(k - 1, k - 2).abs() } else { 0.0 };
        beside += if k + 1 < n { at(k + 1, k).abs() } else { 0.0 };
    }
    if below > f64::EPSILON * beside {
        return false;
    }
    let above = at(k - 1, k).abs();
    let (ab, ba) = (below.max(above), below.min(above));
    let difference = (first - second).abs();
    let (aa, bb) = (second.abs().max(difference), second.abs().min(difference));
    let s = aa + ab;
    ba * (ab / s) <= (f64::MIN_POSITIVE / f64::EPSILON).max(f64::EPSILON * (bb * (aa / s)))
}

/// The real parts of the two shifts, and the imaginary part of the first, which is that of the second
/// with the opposite sign.
#[derive(Clone, Copy)]
struct Shifts {
    re: [f64; 2],
    im: f64,
}

/// The eigenvalues of the last 2 × 2 block if they are conjugate, else twice the one nearer its last
/// entry; every tenth step arbitrary ones that break a cycle.
fn shifts(h: &[f64], n: usize, start: usize, end: usize, steps: usize) -> Shifts {
    let at = |i: usize, j: usize| h[i * n + j];
    let last = end - 1;
    let exceptional = |s: f64, corner: f64| (0.75 * s + corner, -0.4375 * s, s, 0.75 * s + corner);
    let (a, b, c, d) = if steps % 20 == 10 {
        let s = at(start + 1, start).abs() + at(start + 2, start + 1).abs();
        exceptional(s, at(start, start))
    } else if steps.is_multiple_of(20) {
        let s = at(last, last - 1).abs() + at(last - 1, last - 2).abs();
        exceptional(s, at(last, last))
    } else {
        (
            at(last - 1, last - 1),
            at(last - 1, last),
            at(last, last - 1),
            at(last, last),
        )
    };
    // Scaled, so that products of tiny numbers are no zeros.
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

for_each_isa! {
    /// One implicit double-shift step on the rows from the first number to the second.
    fn chase(h: &mut [f64], z: &mut [f64], n: usize, range: (usize, usize), shifts: Shifts) = chase_any
}

#[inline(always)]
fn chase_any(h: &mut [f64], z: &mut [f64], n: usize, (start, end): (usize, usize), shifts: Shifts) {
    // The first column of (H - first shift) (H - second shift), as far down as a small subdiagonal entry
    // allows; over a number that products of tiny ones would vanish without.
    let first_column = |h: &[f64], m: usize| {
        let at = |i: usize, j: usize| h[i * n + j];
        let (a, c) = (at(m, m), at(m + 1, m));
        let Shifts { re: [p, q], im } = shifts;
        let scale = (a - q).abs() + im.abs() + c.abs();
        if scale == 0.0 {
            return [0.0; 3];
        }
        let part = c / scale;
        let x = part * at(m, m + 1) + (a - p) * ((a - q) / scale) + im * (im / scale);
        let y = part * (a + at(m + 1, m + 1) - p - q);
        let w = part * at(m + 2, m + 1);
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
        let diagonal = |i: usize| h[i * n + i].abs();
        let beside = diagonal(from - 1) + diagonal(from) + diagonal(from + 1);
        let bulge = h[from * n + from - 1].abs() * (v[1].abs() + v[2].abs());
        if bulge <= f64::EPSILON * v[0].abs() * beside {
            break;
        }
        from -= 1;
        v = first_column(h, from);
    }
    for k in from..end - 1 {
        let three = k + 3 <= end;
        let column = match (k > from, three) {
            (true, true) => [
                h[k * n + k - 1],
                h[(k + 1) * n + k - 1],
                h[(k + 2) * n + k - 1],
            ],
            (true, false) => [h[k * n + k - 1], h[(k + 1) * n + k - 1], 0.0],
            (false, true) => v,
            (false, false) => [v[0], v[1], 0.0],
        };
        let Reflector { beta, tau, v } = reflector(column);
        if k > from {
            h[k * n + k - 1] = beta;
            h[(k + 1) * n + k - 1] = 0.0;
            if three {
                h[(k + 2) * n + k - 1] = 0.0;
            }
        } else if from > start {
            // The rest of this row of the reflection is negligible.
            h[k * n + k - 1] *= 1.0 - tau;
        }
        let rows = (k + 4).min(end);
        if three {
            reflect_three(&mut h[k * n..(k + 3) * n], n, k, tau, v);
            for row in h[..rows * n].chunks_exact_mut(n) {
                let x = &mut row[k..k + 3];
                let along = tau * (x[0] + x[1] * v[0] + x[2] * v[1]);
                x[0] -= along;
                x[1] -= along * v[0];
                x[2] -= along * v[1];
            }
            if !z.is_empty() {
                reflect_three(&mut z[k * n..(k + 3) * n], n, 0, tau, v);
            }
        } else {
            reflect_two(&mut h[k * n..(k + 2) * n], n, k, tau, v[0]);
            for row in h[..rows * n].chunks_exact_mut(n) {
                let x = &mut row[k..k + 2];
                let along = tau * (x[0] + x[1] * v[0]);
                x[0] -= along;
                x[1] -= along * v[0];
            }
            if !z.is_empty() {
                reflect_two(&mut z[k * n..(k + 2) * n], n, 0, tau, v[0]);
            }
        }
    }
}

/// The reflector `I - τ (1, v) (1, v)ᵀ` that turns three numbers into β and zeros.
struct Reflector {
    beta: f64,
    tau: f64,
    v: [f64; 2],
}

#[inline(always)]
fn reflector([x, y, w]: [f64; 3]) -> Reflector {
    if y == 0.0 && w == 0.0 {
        return Reflector {
            beta: x,
            tau: 0.0,
            v: [0.0; 2],
        };
    }
    // By a power of two, so that squares neither vanish nor overflow, and lengths have all their digits.
    let square = x * x + y * y + w * w;
    let scale = match square {
        ..1e-280 => FAR_UP,
        1e280.. => 1.0 / FAR_UP,
        _ => 1.0,
    };
    let [x, y, w] = [x * scale, y * scale, w * scale];
    let beta = -(x * x + y * y + w * w).sqrt().copysign(x);
    let down = x - beta;
    Reflector {
        beta: beta / scale,
        tau: (beta - x) / beta,
        v: [y / down, w / down],
    }
}

/// Applies a reflector to three rows of n entries, from one column on.
#[inline(always)]
fn reflect_three(rows: &mut [f64], n: usize, from: usize, tau: f64, [v, w]: [f64; 2]) {
    let (first, rest) = rows.split_at_mut(n);
    let (second, third) = rest.split_at_mut(n);
    let count = n - from;
    let (first, second, third) = (
        &mut first[from..][..count],
        &mut second[from..][..count],
        &mut third[from..][..count],
    );
    for j in 0..count {
        let along = tau * (first[j] + second[j] * v + third[j] * w);
        first[j] -= along;
        second[j] -= along * v;
        third[j] -= along * w;
    }
}

/// As [`reflect_three`] for two rows.
#[inline(always)]
fn reflect_two(rows: &mut [f64], n: usize, from: usize, tau: f64, v: f64) {
    let (first, second) = rows.split_at_mut(n);
    let count = n - from;
    let (first, second) = (&mut first[from..][..count], &mut second[from..][..count]);
    for j in 0..count {
        let along = tau * (first[j] + second[j] * v);
        first[j] -= along;
        second[j] -= along * v;
    }
}

/// Brings the 2 × 2 block at `k` to standard form: triangular if its eigenvalues are real, else with
/// equal diagonal entries and off-diagonal entries of opposite signs (LAPACK's `lanv2`).
fn standardise(h: &mut [f64], z: &mut [f64], n: usize, k: usize) {
    let (block, c, s) = standard_block([
        [h[k * n + k], h[k * n + k + 1]],
        [h[(k + 1) * n + k], h[(k + 1) * n + k + 1]],
    ]);
    let rotate = |rows: &mut [f64], from: usize| {
        let (first, second) = rows.split_at_mut(n);
        for (x, y) in first[from..].iter_mut().zip(&mut second[from..]) {
            (*x, *y) = (c * *x + s * *y, c * *y - s * *x);
        }
    };
    rotate(&mut h[k * n..(k + 2) * n], (k + 2).min(n));
    for row in h[..k * n].chunks_exact_mut(n) {
        let (x, y) = (row[k], row[k + 1]);
        (row[k], row[k + 1]) = (c * x + s * y, c * y - s * x);
    }
    for (i, row) in block.iter().enumerate() {
        h[(k + i) * n + k..(k + i) * n + k + 2].copy_from_slice(row);
    }
    if !z.is_empty() {
        rotate(&mut z[k * n..(k + 2) * n], 0);
    }
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
        let length = c.hypot(root);
        let block = [[d + root, b - c], [0.0, d - larger / root * smaller]];
        return (block, root / length, c / length);
    }
    // Complex or nearly equal real eigenvalues: make the diagonal entries equal.
    let sum = b + c;
    let length = sum.hypot(difference);
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
