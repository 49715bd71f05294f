//! Implicit QR steps on bidiagonal matrices (J. Demmel and W. Kahan, *Accurate singular values of bidiagonal
//! matrices*, 1990, as in LAPACK's `bdsqr`), in double precision.

use super::super::rotations::{Sweeps, rotation};
use super::super::scalar::{RealScalar, is_single};
use crate::runtime::{Context, KernelError};

/// Makes a real upper bidiagonal matrix diagonal, entries of either sign, and applies the rotations
/// from the left and from the right to these rows (which may be empty, and be longer than the matrix has
/// columns); false if that does not converge. What is not larger than `least` is nothing.
pub(in super::super) fn iterate<R: RealScalar>(
    d: &mut [f64],
    e: &mut [f64],
    left: &mut [R],
    right: &mut [R],
    least: f64,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    let (left_width, right_width) = (left.len() / n, right.len() / n);
    let precision = if is_single::<R>() { 1e-9 } else { f64::EPSILON };
    let (mut left_sweeps, mut right_sweeps) = (Sweeps::new(), Sweeps::new());
    let norm = d
        .iter()
        .chain(&*e)
        .fold(0.0, |norm: f64, x| norm.max(x.abs()));
    let negligible = least.max(norm * precision * 1e-3);
    let mut steps = 0;
    let mut m = n - 1;
    while m > 0 {
        let small = |i: usize| {
            e[i].abs() <= precision * (d[i].abs() + d[i + 1].abs()) || e[i].abs() <= negligible
        };
        if small(m - 1) {
            e[m - 1] = 0.0;
            m -= 1;
            continue;
        }
        let l = (0..m - 1).rev().find(|&i| small(i)).map_or(0, |i| i + 1);
        steps += 1;
        if steps > 40 * n {
            return Ok(false);
        }
        left_sweeps.begin(l, true);
        right_sweeps.begin(l, true);
        let shift = shift(d, e, (l, m), precision);
        if shift == 0.0 {
            // Without a shift the step can be arranged so that small values keep their accuracy,
            // and a zero on the diagonal ends as one in the off-diagonal.
            let (mut cs, mut old_cs, mut old_sn) = (1.0, 1.0, 0.0);
            let mut sn;
            for i in l..m {
                let r;
                (cs, sn, r) = rotation(d[i] * cs, e[i]);
                if i > l {
                    e[i - 1] = old_sn * r;
                }
                (old_cs, old_sn, d[i]) = rotation(old_cs * r, d[i + 1] * sn);
                right_sweeps.push(cs, sn);
                left_sweeps.push(old_cs, old_sn);
            }
            let h = d[m] * cs;
            d[m] = h * old_cs;
            e[m - 1] = h * old_sn;
        } else {
            let mut f = (d[l].abs() - shift) * (1f64.copysign(d[l]) + shift / d[l]);
            let mut g = e[l];
            for i in l..m {
                let (cr, sr, r) = rotation(f, g);
                if i > l {
                    e[i - 1] = r;
                }
                f = cr * d[i] + sr * e[i];
                e[i] = cr * e[i] - sr * d[i];
                g = sr * d[i + 1];
                d[i + 1] *= cr;
                let (cl, sl, r) = rotation(f, g);
                d[i] = r;
                f = cl * e[i] + sl * d[i + 1];
                d[i + 1] = cl * d[i + 1] - sl * e[i];
                if i + 1 < m {
                    g = sl * e[i + 1];
                    e[i + 1] *= cl;
                }
                right_sweeps.push(cr, sr);
                left_sweeps.push(cl, sl);
            }
            e[m - 1] = f;
        }
        if right_sweeps.is_full(n) {
            apply(&mut left_sweeps, left, left_width, context)?;
            apply(&mut right_sweeps, right, right_width, context)?;
        }
    }
    apply(&mut left_sweeps, left, left_width, context)?;
    apply(&mut right_sweeps, right, right_width, context)?;
    Ok(true)
}

/// Applies sweeps to rows, unless nobody wants them.
fn apply<R: RealScalar>(
    sweeps: &mut Sweeps<R>,
    rows: &mut [R],
    width: usize,
    context: &Context<'_>,
) -> Result<(), KernelError> {
    if rows.is_empty() {
        *sweeps = Sweeps::new();
        return Ok(());
    }
    sweeps.apply(rows, width, context)
}

/// The smaller singular value of the last 2 × 2 block, or zero where it would make no difference or a
/// zero on the diagonal asks for it.
fn shift(d: &[f64], e: &[f64], (l, m): (usize, usize), precision: f64) -> f64 {
    let block = &d[l..=m];
    let largest = block.iter().fold(0.0, |x: f64, y| x.max(y.abs()));
    if block.iter().any(|x| x.abs() <= precision * largest) {
        return 0.0;
    }
    let (f, g, h) = (d[m - 1].abs(), e[m - 1].abs(), d[m].abs());
    let (low, high) = (f.min(h), f.max(h));
    // J. Demmel and W. Kahan's formula, as in LAPACK's `las2`.
    let (above, below) = (1.0 + low / high, (high - low) / high);
    let value = if g < high {
        let square = (g / high).powi(2);
        low * 2.0 / ((above * above + square).sqrt() + (below * below + square).sqrt())
    } else {
        let ratio = high / g;
        let root = |x: f64| (1.0 + (x * ratio).powi(2)).sqrt();
        2.0 * (low * (1.0 / (root(above) + root(below)))) * ratio
    };
    if (value / d[l].abs()).powi(2) < precision {
        0.0
    } else {
        value
    }
}
