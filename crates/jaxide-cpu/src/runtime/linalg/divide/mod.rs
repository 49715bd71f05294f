//! Divide and conquer: the eigenvectors of symmetric tridiagonal matrices ([`symmetric`]) and the singular
//! vectors of bidiagonal ones ([`singular`]).
//!
//! The matrix is two smaller ones beside each other and something of rank one between them (J. J. M.
//! Cuppen, *A divide and conquer method for the symmetric tridiagonal eigenproblem*, 1981; M. Gu and S. C.
//! Eisenstat, *A divide-and-conquer algorithm for the bidiagonal SVD*, 1995). With the vectors of both,
//! what is left is a diagonal matrix and one of rank one, whose eigenvalues are the zeros of a rational
//! function ([`secular`]). Its vectors are those of exactly such a matrix nearby (M. Gu and S. C. Eisenstat,
//! *A stable and efficient algorithm for the rank-one modification of the symmetric eigenproblem*, 1994), so
//! that they are orthogonal; they are multiplied by those of both halves. Where a value is one already,
//! nothing is left to do ([`deflate`]), which often makes most of the work.
//!
//! What is nothing beside the whole matrix is nothing, however small a part is: reflectors have made the
//! matrix, and they keep no more.

mod secular;
mod singular;
mod symmetric;

use std::ops::Range;
use std::sync::OnceLock;

use super::scalar::{RealScalar, is_single};
use crate::runtime::matmul::{Matrix, MatrixMut, product};
use crate::runtime::shared::SharedSlice;
use crate::runtime::{Context, KernelError, PoolBuffer};
use secular::{LANES, Modified, Root};
pub(super) use singular::divide as divide_bidiagonal;
pub(super) use symmetric::divide as divide_tridiagonal;

/// Parts of so many rows are not divided.
const LEAF: usize = 32;

/// What is nothing beside a number of this size, in vectors of a type.
fn negligible<R: RealScalar>(largest: f64) -> f64 {
    let precision = if is_single::<R>() {
        1.5e-8
    } else {
        f64::EPSILON
    };
    8.0 * precision * largest
}

/// Runs `body` for all parts of one level; false, or the error, if it is so of one.
fn for_parts(
    parts: usize,
    context: &Context<'_>,
    body: impl Fn(usize) -> Result<bool, KernelError> + Sync,
) -> Result<bool, KernelError> {
    let failed = OnceLock::new();
    context.parallel_for(parts, |part| {
        let done = body(part);
        if !matches!(done, Ok(true)) {
            let _ = failed.set(done);
        }
    });
    failed.into_inner().unwrap_or(Ok(true))
}

/// Vectors in rows of n entries, of which those of a part have some from `first` on, and zeros beside them.
struct Block<'a, R> {
    n: usize,
    first: usize,
    rows: &'a mut [R],
}

impl<R: RealScalar> Block<'_, R> {
    /// Entries of a row of the part.
    fn row(&mut self, i: usize, columns: Range<usize>) -> &mut [R] {
        let start = i * self.n + self.first;
        &mut self.rows[start + columns.start..start + columns.end]
    }

    /// Two rows become `c xᵢ + s xⱼ` and `c xⱼ - s xᵢ`.
    fn rotate(&mut self, i: usize, j: usize, [c, s]: [f64; 2], width: usize) {
        let (low, high, s) = if i < j { (i, j, s) } else { (j, i, -s) };
        let (c, s) = (R::from_components(c, 0.0), R::from_components(s, 0.0));
        let (first, second) = self.rows.split_at_mut(high * self.n);
        let x = &mut first[low * self.n + self.first..][..width];
        let y = &mut second[self.first..][..width];
        for j in 0..width {
            (x[j], y[j]) = (c * x[j] + s * y[j], c * y[j] - s * x[j]);
        }
    }
}

/// Which of two halves a vector has entries in.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Halves {
    First,
    Both,
    Second,
}

/// The values of a part's rows, what is added in the basis of their vectors, and where these have entries.
struct Rows {
    d: Vec<f64>,
    z: Vec<f64>,
    halves: Vec<Halves>,
}

/// The rows of a part that are mixed, by ascending values that differ, and those that are done.
struct Selection {
    kept: Vec<usize>,
    done: Vec<usize>,
}

/// Finds the rows that are done: those to which nothing of size is added; and of two whose values are the
/// same, where a rotation of both gives all that is added to one. `order` is by ascending values;
/// `is_same` is asked for a difference and the product of cosine and sine; `rotate` turns vectors.
fn deflate(
    rows: &mut Rows,
    order: &[usize],
    least: f64,
    is_same: impl Fn(f64, f64) -> bool,
    mut rotate: impl FnMut(usize, usize, [f64; 2]),
) -> Selection {
    let Rows { d, z, halves } = rows;
    let (mut kept, mut done) = (Vec::new(), Vec::new());
    let mut last = None;
    for &i in order {
        if z[i].abs() <= least {
            done.push(i);
            continue;
        }
        let Some(p) = last.replace(i) else { continue };
        let length = z[i].hypot(z[p]);
        let (c, s) = (z[i] / length, z[p] / length);
        if !is_same(d[i] - d[p], c * s) {
            kept.push(p);
            continue;
        }
        (z[i], z[p]) = (length, 0.0);
        (d[i], d[p]) = (d[i] * c * c + d[p] * s * s, d[p] * c * c + d[i] * s * s);
        rotate(i, p, [c, s]);
        if halves[p] != halves[i] {
            halves[i] = Halves::Both;
        }
        done.push(p);
    }
    kept.extend(last);
    Selection { kept, done }
}

/// How the rows that are kept are mixed: their places in the order of the halves that their vectors are in,
/// so that no product is with zeros.
struct Mixing<'a> {
    selection: &'a Selection,
    /// Places among the rows that are kept.
    columns: Vec<usize>,
    first_only: usize,
    second_only: usize,
}

impl<'a> Mixing<'a> {
    fn new(selection: &'a Selection, halves: &[Halves]) -> Self {
        let kept = &selection.kept;
        let mut columns: Vec<usize> = (0..kept.len()).collect();
        columns.sort_by_key(|&j| halves[kept[j]]);
        let count = |half: Halves| kept.iter().filter(|&&i| halves[i] == half).count();
        Self {
            selection,
            columns,
            first_only: count(Halves::First),
            second_only: count(Halves::Second),
        }
    }

    /// What `from` has for each row that is kept, in the order of the columns.
    fn permuted(&self, from: &[f64]) -> Vec<f64> {
        self.columns.iter().map(|&j| from[j]).collect()
    }

    /// The rows of the block that are kept become their mixtures, in the first rows; those that are done stand
    /// behind them. The first half of a row has `half` of `width` entries.
    fn apply<R: RealScalar>(
        &self,
        mixtures: &[R],
        block: &mut Block<'_, R>,
        (half, width): (usize, usize),
        context: &Context<'_>,
    ) -> Result<(), KernelError> {
        let Selection { kept, done } = self.selection;
        let (k, rest) = (kept.len(), width - half);
        let (in_first, in_second) = (k - self.second_only, k - self.first_only);
        let (first_size, second_size) = (in_first * half, in_second * rest);
        let mut buffer =
            PoolBuffer::for_elements::<R>(first_size + second_size + done.len() * width)?;
        let (first, others) = buffer.as_mut_slice::<R>().split_at_mut(first_size);
        let (second, moved) = others.split_at_mut(second_size);
        for (j, &column) in self.columns.iter().enumerate() {
            let row = kept[column];
            if j < in_first {
                first[j * half..(j + 1) * half].copy_from_slice(block.row(row, 0..half));
            }
            if let Some(j) = j.checked_sub(self.first_only) {
                second[j * rest..(j + 1) * rest].copy_from_slice(block.row(row, half..width));
            }
        }
        for (to, &row) in moved.chunks_exact_mut(width).zip(done) {
            to.copy_from_slice(block.row(row, 0..width));
        }
        for (i, from) in moved.chunks_exact(width).enumerate() {
            block.row(k + i, 0..width).copy_from_slice(from);
        }
        let dense = |from: &[R], width: usize| Matrix {
            pointer: from.as_ptr(),
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
            let (u, v) = (dense(mixtures, k), dense(first, half));
            product((k, half, in_first), u, v, to(0), context)?;
            if rest > 0 {
                let (u, v) = (dense(&mixtures[self.first_only..], k), dense(second, rest));
                product((k, rest, in_second), u, v, to(half), context)?;
            }
        }
        Ok(())
    }
}

/// Fills `k` rows of k entries, some at a time: `fill` is given which, and where they go.
fn for_mixtures<R: RealScalar>(
    k: usize,
    mixtures: &mut [R],
    context: &Context<'_>,
    fill: impl Fn(Range<usize>, &mut [R]) + Sync,
) {
    let shared = SharedSlice::new(mixtures);
    let chunk = (1usize << 14).div_ceil(k);
    context.parallel_for(k.div_ceil(chunk), |index| {
        let which = index * chunk..k.min((index + 1) * chunk);
        // SAFETY: rows of different chunks are disjoint.
        let rows = unsafe { shared.range(which.start * k..which.end * k) };
        fill(which, rows);
    });
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
