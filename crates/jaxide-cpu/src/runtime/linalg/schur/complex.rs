//! The shifted QR iteration on a complex Hessenberg matrix.
//!
//! Real and imaginary parts are kept apart, so that rotations are arithmetic on whole vectors.

use jaxide_core::eval::numerics::linalg::Field;
use num_complex::Complex;

use super::{FAR_UP, MAX_STEPS};
use crate::runtime::simd::for_each_isa;
use crate::runtime::{OutOfMemory, PoolBuffer};

type C128 = Complex<f64>;

/// The parts of a matrix of n columns.
struct Planes<'a> {
    re: &'a mut [f64],
    im: &'a mut [f64],
    n: usize,
}

impl Planes<'_> {
    fn at(&self, i: usize, j: usize) -> C128 {
        Complex::new(self.re[i * self.n + j], self.im[i * self.n + j])
    }

    fn set(&mut self, i: usize, j: usize, x: C128) {
        (self.re[i * self.n + j], self.im[i * self.n + j]) = (x.re, x.im);
    }

    /// Rows k and k + 1 become `c xₖ + s xₖ₊₁` and `c xₖ₊₁ - s̄ xₖ`, from a column on.
    #[inline(always)]
    fn rotate_rows(&mut self, k: usize, c: f64, s: C128, from: usize) {
        let n = self.n;
        let (first_re, second_re) = self.re[k * n..(k + 2) * n].split_at_mut(n);
        let (first_im, second_im) = self.im[k * n..(k + 2) * n].split_at_mut(n);
        let count = n - from;
        let (first_re, second_re) = (
            &mut first_re[from..][..count],
            &mut second_re[from..][..count],
        );
        let (first_im, second_im) = (
            &mut first_im[from..][..count],
            &mut second_im[from..][..count],
        );
        for j in 0..count {
            let x = Complex::new(first_re[j], first_im[j]);
            let y = Complex::new(second_re[j], second_im[j]);
            let (x, y) = rotated(x, y, c, s);
            (first_re[j], first_im[j]) = (x.re, x.im);
            (second_re[j], second_im[j]) = (y.re, y.im);
        }
    }

    /// The same of columns, of the first `rows` rows.
    #[inline(always)]
    fn rotate_columns(&mut self, k: usize, c: f64, s: C128, rows: usize) {
        let all = rows * self.n;
        let re = self.re[..all].chunks_exact_mut(self.n);
        for (re, im) in re.zip(self.im[..all].chunks_exact_mut(self.n)) {
            let (re, im) = (&mut re[k..k + 2], &mut im[k..k + 2]);
            let x = Complex::new(re[0], im[0]);
            let y = Complex::new(re[1], im[1]);
            let (x, y) = rotated(x, y, c, s);
            (re[0], im[0]) = (x.re, x.im);
            (re[1], im[1]) = (y.re, y.im);
        }
    }
}

#[inline(always)]
fn rotated(x: C128, y: C128, c: f64, s: C128) -> (C128, C128) {
    (
        Complex::new(
            c * x.re + (s.re * y.re - s.im * y.im),
            c * x.im + (s.re * y.im + s.im * y.re),
        ),
        Complex::new(
            c * y.re - (s.re * x.re + s.im * x.im),
            c * y.im - (s.re * x.im - s.im * x.re),
        ),
    )
}

/// Makes the Hessenberg matrix H upper triangular by unitary similarity, and multiplies Z, whose
/// transpose is given unless it is empty, by the transformation; false if it does not converge.
///
/// Implicit single shifts, Wilkinson's: the eigenvalue of the last 2 × 2 block nearer its last entry.
pub(super) fn iterate(h: &mut [C128], z: &mut [C128], n: usize) -> Result<bool, OutOfMemory> {
    let mut buffer = PoolBuffer::for_elements::<f64>(2 * (h.len() + z.len()))?;
    let (form, vectors) = buffer.as_mut_slice::<f64>().split_at_mut(2 * h.len());
    let converged = {
        let mut form = planes(h, form, n);
        let mut vectors = planes(z, vectors, n);
        triangularise(&mut form, &mut vectors)
    };
    for (matrix, parts) in [(h, form), (z, vectors)] {
        let (re, im) = parts.split_at(matrix.len());
        for (to, (&re, &im)) in matrix.iter_mut().zip(re.iter().zip(im)) {
            *to = Complex::new(re, im);
        }
    }
    Ok(converged)
}

fn planes<'a>(from: &[C128], to: &'a mut [f64], n: usize) -> Planes<'a> {
    let (re, im) = to.split_at_mut(from.len());
    for (x, (re, im)) in from.iter().zip(re.iter_mut().zip(&mut *im)) {
        (*re, *im) = (x.re, x.im);
    }
    Planes { re, im, n }
}

fn triangularise(h: &mut Planes<'_>, z: &mut Planes<'_>) -> bool {
    let mut end = h.n;
    let mut steps = 0;
    while end > 1 {
        let last = end - 1;
        let start = (1..end).rev().find(|&k| is_negligible(h, k)).unwrap_or(0);
        if start > 0 {
            h.set(start, start - 1, C128::default());
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
            h.at(last, last) + 0.75 * h.at(last, last - 1).norm()
        } else {
            wilkinson_shift(h, last)
        };
        chase(h, z, (start, end), shift);
    }
    true
}

/// Whether the subdiagonal entry of row k is zero to rounding beside its neighbours, or so tiny that products with it are.
fn is_negligible(h: &Planes<'_>, k: usize) -> bool {
    let below = h.at(k, k - 1).l1_norm();
    if below <= f64::MIN_POSITIVE / f64::EPSILON {
        return true;
    }
    let beside = h.at(k - 1, k - 1).l1_norm() + h.at(k, k).l1_norm();
    let scale = if beside > 0.0 {
        beside
    } else {
        h.at(k - 1, k).l1_norm()
    };
    below <= f64::EPSILON * scale
}

fn wilkinson_shift(h: &Planes<'_>, last: usize) -> C128 {
    let (a, b) = (h.at(last - 1, last - 1), h.at(last - 1, last));
    let (c, d) = (h.at(last, last - 1), h.at(last, last));
    // Scaled, so that products of tiny numbers are no zeros.
    let scale = a.l1_norm() + b.l1_norm() + c.l1_norm() + d.l1_norm();
    if scale == 0.0 {
        return d;
    }
    let [a, b, c, d] = [a / scale, b / scale, c / scale, d / scale];
    // Eigenvalues d + bc / (p ± √(p² + bc)) with p = (d - a) / 2, up to a sign.
    let half = (a - d) * 0.5;
    let product = b * c;
    let root = (half * half + product).sqrt();
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

for_each_isa! {
    /// One QR step on the rows from the first number to the second: a rotation that starts the bulge, and
    /// those that chase it down the diagonal.
    fn chase(h: &mut Planes<'_>, z: &mut Planes<'_>, range: (usize, usize), shift: C128) = chase_any
}

#[inline(always)]
fn chase_any(h: &mut Planes<'_>, z: &mut Planes<'_>, (start, end): (usize, usize), shift: C128) {
    let (mut x, mut y) = (h.at(start, start) - shift, h.at(start + 1, start));
    for k in start..end - 1 {
        let (c, s) = rotation(x, y);
        h.rotate_rows(k, c, s, k.saturating_sub(1));
        h.rotate_columns(k, c, s.conj(), (k + 3).min(end));
        if !z.re.is_empty() {
            z.rotate_rows(k, c, s.conj(), 0);
        }
        if k > start {
            h.set(k + 1, k - 1, C128::default());
        }
        if k + 2 < end {
            (x, y) = (h.at(k + 1, k), h.at(k + 2, k));
        }
    }
}

/// c and s with `-s̄ x + c y = 0` and c² + |s|² = 1.
#[inline(always)]
fn rotation(x: C128, y: C128) -> (f64, C128) {
    let (x_square, y_square) = (x.norm_sqr(), y.norm_sqr());
    let square = x_square + y_square;
    if x_square > 1e-280 && y_square > 1e-280 && square < 1e280 {
        let (x_norm, r) = (x_square.sqrt(), square.sqrt());
        return (x_norm / r, x * y.conj() / (x_norm * r));
    }
    // Of numbers below these, moduli have lost digits.
    let phase = |x: C128| {
        let x = if x.l1_norm() < 1e-280 { x * FAR_UP } else { x };
        x / x.norm()
    };
    if y == C128::default() {
        return (1.0, C128::default());
    }
    if x == C128::default() {
        return (0.0, phase(y).conj());
    }
    let scale = if square < 1e-280 { FAR_UP } else { 1.0 };
    let (x_norm, y_norm) = ((x * scale).norm(), (y * scale).norm());
    let r = x_norm.hypot(y_norm);
    (x_norm / r, phase(x) * phase(y).conj() * (y_norm / r))
}
