//! Singular vectors of bidiagonal matrices.
//!
//! A part is some rows of the matrix; it has a column more than rows, unless its rows are the last ones, and
//! then a right vector more, which it maps to nothing. A row in the middle joins two parts. In the basis of
//! their vectors the matrix has that row, z, and their values on its diagonal: of these, D, and of the middle
//! row, 0. So squares of the values are the eigenvalues of `D² + z zᵀ`.

use super::super::rotations::rotation;
use super::super::scalar::{RealScalar, is_single};
use super::super::svd::iterate;
use super::{Block, Halves, LEAF, Mixing, Rows, deflate, for_mixtures, for_parts, negligible};
use super::{Modified, roots, secular};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Context, KernelError, PoolBuffer};

/// The vectors of a part, in rows: as many right ones as columns.
struct Sides<'a, R> {
    left: Block<'a, R>,
    right: Block<'a, R>,
    rows: usize,
    columns: usize,
}

/// Turns an upper bidiagonal matrix into its singular values, in `d`, which are not negative, and fills rows
/// with its left and its right vectors; false if a value does not converge.
pub(in super::super) fn divide<R: RealScalar>(
    d: &mut [f64],
    e: &[f64],
    left: &mut [R],
    right: &mut [R],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    // On every level each part, but for its middle row, becomes two.
    let mut levels = vec![vec![0..n]];
    while levels[levels.len() - 1]
        .iter()
        .any(|rows| rows.len() > LEAF)
    {
        let halves = |rows: &std::ops::Range<usize>| {
            let middle = rows.start.midpoint(rows.end);
            [rows.start..middle, middle + 1..rows.end]
        };
        let parts = levels[levels.len() - 1].iter().flat_map(halves).collect();
        levels.push(parts);
    }
    let largest = d.iter().chain(e).fold(0.0, |x: f64, y| x.max(y.abs()));
    left.fill(R::ZERO);
    right.fill(R::ZERO);
    if largest == 0.0 {
        (0..n).for_each(|i| (left[i * n + i], right[i * n + i]) = (R::ONE, R::ONE));
        return Ok(true);
    }
    let tolerance = negligible::<R>(largest);
    let d = SharedSlice::new(d);
    let (left, right) = (SharedSlice::new(left), SharedSlice::new(right));
    for (level, parts) in levels.iter().enumerate().rev() {
        let done = for_parts(parts.len(), context, |part| {
            let rows = parts[part].clone();
            let (first, end) = (rows.start, n.min(rows.end + 1));
            let block = |rows| Block { n, first, rows };
            // SAFETY: rows of different parts, with a column more, are disjoint: a row is between them.
            let (d, left, right) = unsafe {
                (
                    d.range(rows.clone()),
                    left.range(first * n..rows.end * n),
                    right.range(first * n..end * n),
                )
            };
            let sides = Sides {
                left: block(left),
                right: block(right),
                rows: rows.len(),
                columns: end - first,
            };
            let e = &e[rows];
            if level + 1 == levels.len() {
                return leaf(d, e, sides, tolerance, context);
            }
            merge(d, e, sides, tolerance, context)
        })?;
        if !done {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The vectors of a part that is not divided.
fn leaf<R: RealScalar>(
    d: &mut [f64],
    e: &[f64],
    mut sides: Sides<'_, R>,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let (m, width) = (sides.rows, sides.columns);
    let mut e = e.to_vec();
    let mut buffer = PoolBuffer::for_elements::<R>(m * m + width * width)?;
    let (left, right) = buffer.as_mut_slice::<R>().split_at_mut(m * m);
    left.fill(R::ZERO);
    right.fill(R::ZERO);
    (0..m).for_each(|i| left[i * m + i] = R::ONE);
    (0..width).for_each(|i| right[i * width + i] = R::ONE);
    if width > m {
        // Rotations of each column with the last one, from the last row up, make that one zero.
        let mut all = Block {
            n: width,
            first: 0,
            rows: &mut *right,
        };
        let mut f = e[m - 1];
        for i in (0..m).rev() {
            let (c, s, length) = rotation(d[i], f);
            d[i] = length;
            all.rotate(i, m, [c, s], width);
            if i > 0 {
                f = -s * e[i - 1];
                e[i - 1] *= c;
            }
        }
    }
    if !iterate(d, &mut e, left, &mut right[..m * width], tolerance, context)? {
        return Ok(false);
    }
    for (value, vector) in d.iter_mut().zip(right.chunks_exact_mut(width)) {
        if *value < 0.0 {
            *value = -*value;
            vector.iter_mut().for_each(|x| *x = -*x);
        }
    }
    for (i, vector) in left.chunks_exact(m).enumerate() {
        sides.left.row(i, 0..m).copy_from_slice(vector);
    }
    for (i, vector) in right.chunks_exact(width).enumerate() {
        sides.right.row(i, 0..width).copy_from_slice(vector);
    }
    Ok(true)
}

/// Puts two halves together and the row in the middle.
fn merge<R: RealScalar>(
    d: &mut [f64],
    e: &[f64],
    sides: Sides<'_, R>,
    tolerance: f64,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let Sides {
        mut left,
        mut right,
        rows: m,
        columns: width,
    } = sides;
    let middle = m / 2;
    let half = middle + 1;
    // The middle row in the basis of the right vectors: of their last entries in the first half, and of their
    // first ones in the second.
    let mut z: Vec<f64> = (0..width)
        .map(|i| {
            if i < half {
                d[middle] * right.row(i, middle..half)[0].re()
            } else {
                e[middle] * right.row(i, half..half + 1)[0].re()
            }
        })
        .collect();
    let mut halves: Vec<Halves> = vec![Halves::First; half];
    halves.resize(m, Halves::Second);
    // Of what both halves map to nothing the middle row sees one direction.
    if width > m {
        let (c, s, length) = rotation(z[middle], z[m]);
        right.rotate(middle, m, [c, s], width);
        z[middle] = length;
        halves[middle] = Halves::Both;
    }
    z.truncate(m);
    if z[middle].abs() <= tolerance {
        z[middle] = tolerance.copysign(z[middle]);
    }
    d[middle] = 0.0;
    left.row(middle, middle..half)[0] = R::ONE;
    let mut rows = Rows {
        d: d.to_vec(),
        z,
        halves,
    };
    let mut order: Vec<usize> = (0..m).filter(|&i| i != middle).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
    let is_same = |gap: f64, _: f64| gap <= tolerance;
    let rotate = |i: usize, p: usize, turn: [f64; 2]| {
        left.rotate(i, p, turn, m);
        right.rotate(i, p, turn, width);
    };
    let mut selection = deflate(&mut rows, &order, tolerance, is_same, rotate);
    selection.kept.insert(0, middle);
    let kept = &selection.kept;
    let k = kept.len();
    // Of what differs from the zero of the middle row.
    if let Some(&least) = kept.get(1) {
        rows.d[least] = rows.d[least].max(0.5 * tolerance);
    }
    let values: Vec<f64> = kept.iter().map(|&i| rows.d[i]).collect();
    let modified = Modified {
        d: values.iter().map(|value| value * value).collect(),
        z: kept.iter().map(|&i| rows.z[i]).collect(),
        rho: 1.0,
    };
    let Some(roots) = roots(&modified, is_single::<R>(), context) else {
        return Ok(false);
    };
    let mixing = Mixing::new(&selection, &rows.halves);
    let (poles, weights) = (
        mixing.permuted(&modified.d),
        mixing.permuted(&modified.weights(&roots)),
    );
    let values = mixing.permuted(&values);
    let mut buffer = PoolBuffer::for_elements::<R>(k * k)?;
    let mixtures = buffer.as_mut_slice::<R>();
    for_mixtures(k, mixtures, context, |which, to| {
        secular::vectors(&poles, &weights, &modified.parts(&roots[which]), to);
    });
    mixing.apply(mixtures, &mut right, (half, width), context)?;
    for_mixtures(k, mixtures, context, |which, to| {
        let roots = modified.parts(&roots[which]);
        secular::images(&poles, &weights, &values, &roots, to);
    });
    mixing.apply(mixtures, &mut left, (half, m), context)?;
    let values = roots.iter().map(|&root| modified.value(root).sqrt());
    let values = values.chain(selection.done.iter().map(|&i| rows.d[i]));
    d.iter_mut().zip(values).for_each(|(to, value)| *to = value);
    Ok(true)
}
