//! Eigenvectors of symmetric tridiagonal matrices by divide and conquer.
//!
//! The matrix is two smaller ones beside each other and a matrix of rank one (J. J. M. Cuppen, *A divide
//! and conquer method for the symmetric tridiagonal eigenproblem*, 1981). With the eigenvectors of both,
//! what is left is a diagonal matrix and one of rank one, whose eigenvalues are the zeros of a rational
//! function ([`secular`]). Its eigenvectors are those of exactly such a matrix nearby (M. Gu and S. C.
//! Eisenstat, *A stable and efficient algorithm for the rank-one modification of the symmetric
//! eigenproblem*, 1994), so that they are orthogonal; they are multiplied by those of both halves.
//! Where a value is an eigenvalue already, nothing is left to do, which often makes most of the work.

mod secular;

use std::sync::OnceLock;

use super::eigh::iterate;
use super::scalar::{RealScalar, is_single};
use crate::runtime::matmul::{Matrix, MatrixMut, product};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Context, KernelError, PoolBuffer};
use secular::{LANES, Modified, Root};

/// Matrices of so many rows are not divided.
pub(super) const LEAF: usize = 32;

/// Turns a symmetric tridiagonal matrix into its eigenvalues, in `d`, and fills `rows` with its
/// eigenvectors; false if an eigenvalue does not converge.
pub(super) fn divide<R: RealScalar>(
    d: &mut [f64],
    e: &[f64],
    rows: &mut [R],
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let n = d.len();
    let mut levels = 0;
    while n.div_ceil(1 << levels) > LEAF {
        levels += 1;
    }
    let border = |level: u32, part: usize| part * n >> level;
    // What is below this beside the whole matrix is nothing, however small a part is: reflectors have made the matrix, which is all that they
    // keep. Beyond the precision of the vectors there is nothing to gain.
    let precision = if is_single::<R>() {
        1.5e-8
    } else {
        f64::EPSILON
    };
    let largest = d.iter().chain(e).fold(0.0, |x: f64, y| x.max(y.abs()));
    let tolerance = 8.0 * precision * largest;
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
        let parts = 1usize << level;
        let failed = OnceLock::new();
        context.parallel_for(parts, |part| {
            let (first, end) = (border(level, part), border(level, part + 1));
            // SAFETY: parts are disjoint.
            let (d, rows) = unsafe { (d.range(first..end), rows.range(first * n..end * n)) };
            let block = Block { n, first, rows };
            let done = if level == levels {
                leaf(d, &e[first..end], block, context)
            } else {
                let middle = border(level + 1, 2 * part + 1);
                merge(
                    d,
                    (e[middle - 1], tolerance),
                    middle - first,
                    block,
                    context,
                )
            };
            if !matches!(done, Ok(true)) {
                let _ = failed.set(done);
            }
        });
        if let Some(failed) = failed.into_inner() {
            return failed;
        }
    }
    Ok(true)
}

/// Rows of n entries; those from `first` on belong to a part of the matrix.
struct Block<'a, R> {
    n: usize,
    first: usize,
    rows: &'a mut [R],
}

impl<R> Block<'_, R> {
    /// Entries of a row of the part.
    fn row(&mut self, i: usize, columns: std::ops::Range<usize>) -> &mut [R] {
        let start = i * self.n + self.first;
        &mut self.rows[start + columns.start..start + columns.end]
    }
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

/// Which of two halves an eigenvector has entries in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Halves {
    First,
    Both,
    Second,
}

/// Puts two halves together, of which the first has `half` rows and whose eigenvalues and eigenvectors
/// are known.
fn merge<R: RealScalar>(
    d: &mut [f64],
    (joint, tolerance): (f64, f64),
    half: usize,
    mut block: Block<'_, R>,
    context: &Context<'_>,
) -> Result<bool, KernelError> {
    let m = d.len();
    let root_half = std::f64::consts::FRAC_1_SQRT_2;
    let rho = 2.0 * joint.abs();
    // What is added is ρ z zᵀ in the basis of the eigenvectors.
    let mut z: Vec<f64> = (0..m)
        .map(|i| {
            if i < half {
                root_half * block.row(i, half - 1..half)[0].re()
            } else {
                root_half.copysign(joint) * block.row(i, half..half + 1)[0].re()
            }
        })
        .collect();
    let mut halves: Vec<Halves> = (0..m)
        .map(|i| {
            if i < half {
                Halves::First
            } else {
                Halves::Second
            }
        })
        .collect();
    let mut order: Vec<usize> = (0..m).collect();
    order.sort_by(|&i, &j| d[i].total_cmp(&d[j]));
    let (mut kept, mut done) = (Vec::with_capacity(m), Vec::with_capacity(m));
    let mut last = None;
    for i in order {
        if rho * z[i].abs() <= tolerance {
            done.push(i);
            continue;
        }
        let Some(p) = last.replace(i) else { continue };
        // A rotation of equal values makes one of the two an eigenvalue.
        let length = z[i].hypot(z[p]);
        let (c, s) = (z[i] / length, -z[p] / length);
        if ((d[i] - d[p]) * c * s).abs() > tolerance {
            kept.push(p);
            continue;
        }
        (z[i], z[p]) = (length, 0.0);
        (d[p], d[i]) = (d[p] * c * c + d[i] * s * s, d[p] * s * s + d[i] * c * c);
        let (low, high) = (p.min(i), p.max(i));
        let (rows, others) = block.rows.split_at_mut(high * block.n);
        let (x, y) = (&mut rows[low * block.n..], others);
        let (c, s) = if p < i { (c, s) } else { (c, -s) };
        let (c, s) = (R::from_components(c, 0.0), R::from_components(s, 0.0));
        for j in block.first..block.first + m {
            (x[j], y[j]) = (c * x[j] + s * y[j], c * y[j] - s * x[j]);
        }
        if halves[p] != halves[i] {
            halves[i] = Halves::Both;
        }
        done.push(p);
    }
    kept.extend(last);
    let k = kept.len();
    if k == 0 {
        return Ok(true);
    }
    let modified = Modified {
        d: kept.iter().map(|&i| d[i]).collect(),
        z: kept.iter().map(|&i| z[i]).collect(),
        rho,
    };
    let Some(roots) = roots(&modified, is_single::<R>(), context) else {
        return Ok(false);
    };
    let weights = modified.weights(&roots);
    // Values in the order of the halves that their vectors are in, so that no product is with zeros.
    let mut columns: Vec<usize> = (0..k).collect();
    columns.sort_by_key(|&j| halves[kept[j]]);
    let count = |half: Halves| kept.iter().filter(|&&i| halves[i] == half).count();
    let (first_only, second_only) = (count(Halves::First), count(Halves::Second));
    let (in_first, in_second) = (k - second_only, k - first_only);
    let moved = done.len() * m;
    let (first_size, second_size) = (in_first * half, in_second * (m - half));
    let mut buffer = PoolBuffer::for_elements::<R>(k * k + first_size + second_size + moved)?;
    let (inner, rest) = buffer.as_mut_slice::<R>().split_at_mut(k * k);
    let (first, rest) = rest.split_at_mut(first_size);
    let (second, moved) = rest.split_at_mut(second_size);
    {
        let pole = |j: usize| (modified.d[columns[j]], weights[columns[j]]);
        let (d, z): (Vec<f64>, Vec<f64>) = (0..k).map(pole).unzip();
        let shared = SharedSlice::new(inner);
        let chunk = (1usize << 14).div_ceil(k);
        context.parallel_for(k.div_ceil(chunk), |index| {
            let which = index * chunk..k.min((index + 1) * chunk);
            // SAFETY: rows of different chunks are disjoint.
            let rows = unsafe { shared.range(which.start * k..which.end * k) };
            secular::vectors(&d, &z, &modified.parts(&roots[which]), rows);
        });
    }
    for (j, &column) in columns.iter().enumerate() {
        let row = kept[column];
        if j < in_first {
            first[j * half..(j + 1) * half].copy_from_slice(block.row(row, 0..half));
        }
        if let Some(j) = j.checked_sub(first_only) {
            let width = m - half;
            second[j * width..(j + 1) * width].copy_from_slice(block.row(row, half..m));
        }
    }
    for (to, &row) in moved.chunks_exact_mut(m).zip(&done) {
        to.copy_from_slice(block.row(row, 0..m));
    }
    let values: Vec<f64> = done.iter().map(|&i| d[i]).collect();
    for (i, from) in moved.chunks_exact(m).enumerate() {
        block.row(k + i, 0..m).copy_from_slice(from);
    }
    d[k..].copy_from_slice(&values);
    for (to, root) in d.iter_mut().zip(&roots) {
        *to = modified.value(*root);
    }
    let dense = |from: &[R], start: usize, width: usize| Matrix {
        pointer: from[start..].as_ptr(),
        row: width as isize,
        column: 1,
    };
    let stride = block.n as isize;
    let mut to = |column: usize| MatrixMut {
        pointer: block.rows[block.first + column..].as_mut_ptr(),
        row: stride,
        column: 1,
    };
    // SAFETY: dense matrices of the stated shapes, and the first k rows of the block; results overlap no
    // operands.
    unsafe {
        let (u, v) = (dense(inner, 0, k), dense(first, 0, half));
        product((k, half, in_first), u, v, to(0), context)?;
        let width = m - half;
        let (u, v) = (dense(inner, first_only, k), dense(second, 0, width));
        product((k, width, in_second), u, v, to(half), context)?;
    }
    Ok(true)
}

/// All eigenvalues of a modified matrix; none if one does not converge.
fn roots(modified: &Modified, single: bool, context: &Context<'_>) -> Option<Vec<Root>> {
    let k = modified.d.len();
    let mut roots = vec![Root::default(); k];
    let shared = SharedSlice::new(&mut roots);
    let failed = OnceLock::new();
    let chunk = (1usize << 10).div_ceil(k) * LANES;
    let precision = if single { 1e-11 } else { f64::EPSILON };
    context.parallel_for(k.div_ceil(chunk), |index| {
        let which = index * chunk..k.min((index + 1) * chunk);
        // SAFETY: roots of different chunks are disjoint.
        let roots = unsafe { shared.range(which.clone()) };
        for (group, roots) in roots.chunks_mut(LANES).enumerate() {
            if !modified.solve(which.start + group * LANES, precision, roots) {
                let _ = failed.set(());
            }
        }
    });
    failed.into_inner().is_none().then_some(roots)
}
