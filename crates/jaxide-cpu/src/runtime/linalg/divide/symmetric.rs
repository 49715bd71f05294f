//! Eigenvectors of symmetric tridiagonal matrices.

use super::super::eigh::iterate;
use super::super::scalar::{RealScalar, is_single};
use super::{Block, Halves, LEAF, Mixing, Rows, deflate, for_mixtures, for_parts, negligible};
use super::{Modified, roots, secular};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// Turns a symmetric tridiagonal matrix into its eigenvalues, in `d`, and fills `rows` with its
/// eigenvectors; false if an eigenvalue does not converge.
pub(in super::super) fn divide<R: RealScalar>(
    d: &mut [f64],
    e: &[f64],
    rows: &mut [R],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    let levels = n.div_ceil(LEAF).next_power_of_two().trailing_zeros();
    let border = |level: u32, part: usize| (part * n) >> level;
    let largest = d.iter().chain(e).fold(0.0, |x: f64, y| x.max(y.abs()));
    let tolerance = negligible::<R>(largest);
    // Everything that joins neighbouring leaves is taken out: ρ (eᵢ ± eᵢ₊₁) (eᵢ ± eᵢ₊₁)ᵀ.
    for part in 1..1usize << levels {
        let i = border(levels, part);
        let joint = e[i - 1].abs();
        d[i - 1] -= joint;
        d[i] -= joint;
    }
    rows.fill(R::ZERO);
    let d = SharedSlice::new(d);
    let rows = SharedSlice::new(rows);
    for level in (0..=levels).rev() {
        let done = for_parts(1 << level, context, |part| {
            let (first, end) = (border(level, part), border(level, part + 1));
            // SAFETY: parts are disjoint.
            let (d, rows) = unsafe { (d.range(first..end), rows.range(first * n..end * n)) };
            let block = Block { n, first, rows };
            if level == levels {
                return leaf(d, &e[first..end], block, context);
            }
            let middle = border(level + 1, 2 * part + 1);
            merge(d, e[middle - 1], middle - first, block, tolerance, context)
        })?;
        if !done {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The eigenvectors of a part that is not divided.
fn leaf<R: RealScalar>(
    d: &mut [f64],
    e: &[f64],
    mut block: Block<'_, R>,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let m = d.len();
    let mut e = e.to_vec();
    let mut buffer = PoolBuffer::for_elements::<R>(m * m)?;
    let vectors = buffer.as_mut_slice::<R>();
    vectors.fill(R::ZERO);
    (0..m).for_each(|i| vectors[i * m + i] = R::ONE);
    if !iterate(d, &mut e, vectors, context)? {
        return Ok(false);
    }
    for (i, vector) in vectors.chunks_exact(m).enumerate() {
        block.row(i, 0..m).copy_from_slice(vector);
    }
    Ok(true)
}

/// Puts two halves together, of which the first has `half` rows, and between which `joint` stands.
fn merge<R: RealScalar>(
    d: &mut [f64],
    joint: f64,
    half: usize,
    mut block: Block<'_, R>,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let m = d.len();
    // What is added is ρ z zᵀ in the basis of the eigenvectors: of their last entries in the first half, and
    // of their first ones in the second.
    let rho = 2.0 * joint.abs();
    let root_half = std::f64::consts::FRAC_1_SQRT_2;
    let (mut z, mut halves) = (Vec::with_capacity(m), Vec::with_capacity(m));
    for i in 0..m {
        let (column, factor, own) = if i < half {
            (half - 1, root_half, Halves::First)
        } else {
            (half, root_half.copysign(joint), Halves::Second)
        };
        z.push(factor * block.row(i, column..column + 1)[0].re());
        halves.push(own);
    }
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
    let mut rows = Rows {
        d: d.to_vec(),
        z,
        halves,
    };
    let is_same = |gap: f64, turn: f64| (gap * turn).abs() <= tolerance;
    let rotate = |i: usize, p: usize, turn: [f64; 2]| block.rotate(i, p, turn, m);
    let least = if rho > tolerance {
        tolerance / rho
    } else {
        f64::INFINITY
    };
    let selection = deflate(&mut rows, &order, least, is_same, rotate);
    let kept = &selection.kept;
    let k = kept.len();
    if k == 0 {
        d.copy_from_slice(&rows.d);
        return Ok(true);
    }
    let modified = Modified {
        d: kept.iter().map(|&i| rows.d[i]).collect(),
        z: kept.iter().map(|&i| rows.z[i]).collect(),
        rho,
    };
    let Some(roots) = roots(&modified, is_single::<R>(), context) else {
        return Ok(false);
    };
    let mixing = Mixing::new(&selection, &rows.halves);
    let (poles, weights) = (
        mixing.permuted(&modified.d),
        mixing.permuted(&modified.weights(&roots)),
    );
    let mut buffer = PoolBuffer::for_elements::<R>(k * k)?;
    let mixtures = buffer.as_mut_slice::<R>();
    for_mixtures(k, mixtures, context, |which, to| {
        secular::vectors(&poles, &weights, &modified.parts(&roots[which]), to);
    });
    mixing.apply(mixtures, &mut block, (half, m), context)?;
    let values = roots.iter().map(|&root| modified.value(root));
    let values = values.chain(selection.done.iter().map(|&i| rows.d[i]));
    d.iter_mut().zip(values).for_each(|(to, value)| *to = value);
    Ok(true)
}
