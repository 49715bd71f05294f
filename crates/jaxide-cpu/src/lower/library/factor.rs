//! Factorisations and solves: batches of matrices for the runtime's linear algebra.

use super::elements::{Pod, meaningless, typed, typed_mut};
use super::operands::Operands;
use super::routine::routine;
use crate::runtime::linalg::{self, Scalar};
use crate::runtime::{KernelCall, PoolBuffer};
use jaxide_core::eval::numerics::linalg as numerics;
use jaxide_core::prims::{Eig, Eigh, Ormqr, Qr, Schur, Svd, TriangularSolve};
use jaxide_core::{DType, Error, Result};
use num_complex::Complex;

type Call = Result<Box<KernelCall>>;

/// Evaluates an expression with `$E` the Rust type of a dtype that matrices are factorised in.
macro_rules! by_entry {
    ($operands:expr, $E:ident => $body:expr) => {
        match $operands.inputs[0].dtype {
            DType::F32 => {
                type $E = f32;
                $body
            }
            DType::F64 => {
                type $E = f64;
                $body
            }
            DType::C64 => {
                type $E = Complex<f32>;
                $body
            }
            DType::C128 => {
                type $E = Complex<f64>;
                $body
            }
            other => Err(meaningless(other)),
        }
    };
}

/// As [`by_entry!`] for real numbers only.
macro_rules! by_real {
    ($operands:expr, $E:ident => $body:expr) => {
        match $operands.inputs[0].dtype {
            DType::F32 => {
                type $E = f32;
                $body
            }
            DType::F64 => {
                type $E = f64;
                $body
            }
            other => Err(meaningless(other)),
        }
    };
}

/// The batch of matrices (or, with `rank` 1, vectors) that the `index`-th operand is: the number of them.
fn batch(operands: &Operands, index: usize, rank: usize) -> Result<usize> {
    let shapes: Vec<&[usize]> = operands
        .inputs
        .iter()
        .map(|input| &input.shape[..])
        .collect();
    let own = shapes[index];
    let Some(leading) = own.len().checked_sub(rank) else {
        return Err(Error::shape(format!(
            "an operand of shape {own:?} has fewer than {rank} axes"
        )));
    };
    if shapes
        .iter()
        .any(|shape| shape.get(..leading) != Some(&own[..leading]))
    {
        return Err(Error::shape("operands have different leading axes"));
    }
    Ok(own[..leading].iter().product())
}

/// Number, rows and columns of the `index`-th operand's matrices.
fn matrices(operands: &Operands, index: usize) -> Result<(usize, usize, usize)> {
    let count = batch(operands, index, 2)?;
    match &operands.inputs[index].shape[..] {
        [.., rows, columns] => Ok((count, *rows, *columns)),
        _ => Err(Error::shape(format!(
            "operand {index} is no batch of matrices"
        ))),
    }
}

/// Number and order of the first operand's square matrices.
fn square(operands: &Operands) -> Result<(usize, usize)> {
    match matrices(operands, 0)? {
        (count, rows, columns) if rows == columns => Ok((count, rows)),
        (_, rows, columns) => Err(Error::shape(format!(
            "matrices of {rows} by {columns} are not square"
        ))),
    }
}

/// The last axis of the `index`-th operand.
fn length(operands: &Operands, index: usize) -> usize {
    operands.inputs[index].shape.last().copied().unwrap_or(0)
}

pub(super) fn cholesky(operands: &Operands) -> Call {
    let (count, n) = square(operands)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Cholesky::<E>::new(count, n))))
}

pub(super) fn cholesky_update(operands: &Operands) -> Call {
    let (count, n) = square(operands)?;
    by_real!(operands, E => Ok(KernelCall::new(linalg::cholesky_update::<E>(count, n))))
}

pub(super) fn lu(operands: &Operands) -> Call {
    let (count, m, n) = matrices(operands, 0)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Lu::<E>::new(count, m, n))))
}

pub(super) fn lu_pivots_to_permutation(operands: &Operands, size: usize) -> Call {
    let count = batch(operands, 0, 1)?;
    match operands.inputs[0].dtype {
        DType::I32 => Ok(KernelCall::new(linalg::lu_pivots_to_permutation(
            count,
            length(operands, 0),
            size,
        ))),
        other => Err(meaningless(other)),
    }
}

pub(super) fn qr(operands: &Operands, params: &Qr) -> Call {
    let (count, m, n) = matrices(operands, 0)?;
    let (full, pivoting) = (params.full_matrices, params.pivoting);
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Qr::<E>::new(count, m, n, full, pivoting))))
}

pub(super) fn geqrf(operands: &Operands) -> Call {
    let (count, m, n) = matrices(operands, 0)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Geqrf::<E>::new(count, m, n))))
}

pub(super) fn geqp3(operands: &Operands) -> Call {
    let (count, m, n) = matrices(operands, 0)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::geqp3::<E>(count, m, n))))
}

pub(super) fn householder_product(operands: &Operands) -> Call {
    let (count, m, n) = matrices(operands, 0)?;
    let k = length(operands, 1);
    if k > n || n > m {
        return Err(Error::shape(format!(
            "{k} reflectors make no {m} by {n} matrix"
        )));
    }
    by_entry!(operands, E => Ok(KernelCall::new(linalg::HouseholderProduct::<E>::new(count, m, n, k))))
}

pub(super) fn ormqr(operands: &Operands, params: &Ormqr) -> Call {
    let ((count, m, n), (_, p, q)) = (matrices(operands, 0)?, matrices(operands, 2)?);
    let (left, transpose, k) = (params.left, params.transpose, length(operands, 1));
    if m != if left { p } else { q } || k > n.min(m) {
        return Err(Error::shape(format!(
            "reflectors of length {m} cannot multiply a {p} by {q} matrix"
        )));
    }
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Ormqr::<E>::new(count, (n, k), (p, q), left, transpose))))
}

pub(super) fn eigh(operands: &Operands, params: &Eigh) -> Call {
    let (count, n) = square(operands)?;
    let (first, end) = subset(params.subset_by_index, n)?;
    by_entry!(operands, E => {
        let all = KernelCall::new(linalg::Eigh::<E>::new(count, n, params.lower));
        if (first, end) == (0, n) {
            return Ok(all);
        }
        Ok(slices_of::<E>(operands, all, [Slice::columns(n, first, end), Slice::values(n, first, end)]))
    })
}

pub(super) fn eig(operands: &Operands, params: &Eig) -> Call {
    let (count, n) = square(operands)?;
    let (left, right) = (
        params.compute_left_eigenvectors,
        params.compute_right_eigenvectors,
    );
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Eig::<E>::new(count, n, left, right))))
}

pub(super) fn svd(operands: &Operands, params: &Svd) -> Call {
    let (count, m, n) = matrices(operands, 0)?;
    let k = m.min(n);
    let (first, end) = subset(params.subset_by_index, k)?;
    let (full, vectors) = (params.full_matrices, params.compute_uv);
    by_entry!(operands, E => {
        let all = KernelCall::new(linalg::Svd::<E>::new(count, m, n, full, vectors));
        if (first, end) == (0, k) {
            return Ok(all);
        }
        let values = Slice::values(k, first, end);
        if !vectors {
            return Ok(slices_of::<E>(operands, all, [values]));
        }
        let (left, right) = if full {
            (Slice::columns(m, 0, m), Slice::rows(n, n, 0, n))
        } else {
            (Slice::columns(k, first, end), Slice::rows(k, n, first, end))
        };
        Ok(slices_of::<E>(operands, all, [values, left, right]))
    })
}

pub(super) fn schur(operands: &Operands, params: &Schur) -> Call {
    if params.sort_eig_vals {
        return Err(Error::unsupported("a Schur form with sorted eigenvalues"));
    }
    let (count, n) = square(operands)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Schur::<E>::new(count, n, params.compute_schur_vectors))))
}

pub(super) fn hessenberg(operands: &Operands) -> Call {
    let (count, n) = square(operands)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Hessenberg::<E>::new(count, n))))
}

pub(super) fn tridiagonal(operands: &Operands, lower: bool) -> Call {
    let (count, n) = square(operands)?;
    by_entry!(operands, E => Ok(KernelCall::new(linalg::Tridiagonal::<E>::new(count, n, lower))))
}

pub(super) fn tridiagonal_solve(operands: &Operands, perturb_singular: bool) -> Call {
    let (count, n, k) = matrices(operands, 3)?;
    by_entry!(operands, E => {
        Ok(KernelCall::new(linalg::TridiagonalSolve::<E>::new(count, n, k, perturb_singular)))
    })
}

pub(super) fn triangular_solve(operands: &Operands, params: &TriangularSolve) -> Call {
    let (count, m, n) = matrices(operands, 1)?;
    let options = numerics::TriangularSolve {
        left_side: params.left_side,
        lower: params.lower,
        transpose_a: params.transpose_a,
        conjugate_a: params.conjugate_a,
        unit_diagonal: params.unit_diagonal,
    };
    by_entry!(operands, E => Ok(KernelCall::new(linalg::TriangularSolve::<E>::new(count, m, n, options))))
}

/// The range of values asked for, all of them when nothing is said.
fn subset(range: Option<(usize, usize)>, count: usize) -> Result<(usize, usize)> {
    let (first, end) = range.unwrap_or((0, count));
    if first > end || end > count {
        return Err(Error::parameter(format!(
            "subset_by_index is ({first}, {end}), of {count}"
        )));
    }
    Ok((first, end))
}

/// What is kept of a result: of each run of `width` elements those from `first` to `end`.
#[derive(Clone, Copy)]
struct Slice {
    width: usize,
    first: usize,
    end: usize,
    /// Whether elements are real where those of the matrix may be complex.
    real: bool,
}

impl Slice {
    /// Some columns of matrices with `width` columns.
    fn columns(width: usize, first: usize, end: usize) -> Self {
        Slice {
            width,
            first,
            end,
            real: false,
        }
    }

    /// Some rows of matrices of `rows` by `columns`.
    fn rows(rows: usize, columns: usize, first: usize, end: usize) -> Self {
        Slice {
            width: rows * columns,
            first: first * columns,
            end: end * columns,
            real: false,
        }
    }

    /// Some of `count` real values.
    fn values(count: usize, first: usize, end: usize) -> Self {
        Slice {
            width: count,
            first,
            end,
            real: true,
        }
    }

    fn copy<T: Pod>(self, from: &[u8], to: &mut [u8]) {
        let kept = self.end - self.first;
        let runs = typed::<T>(from).chunks_exact(self.width.max(1));
        for (from, to) in runs.zip(typed_mut::<T>(to).chunks_exact_mut(kept.max(1))) {
            to.copy_from_slice(&from[self.first..self.end]);
        }
    }
}

/// A kernel that keeps a slice of each result of another.
fn slices_of<E: Scalar>(
    operands: &Operands,
    all: Box<KernelCall>,
    slices: impl IntoIterator<Item = Slice>,
) -> Box<KernelCall>
where
    E::Real: Pod,
{
    let slices: Vec<Slice> = slices.into_iter().collect();
    routine(operands, move |buffers, context| {
        let mut whole = Vec::new();
        for &bytes in &all.signature().outputs {
            whole.push(PoolBuffer::new(bytes)?);
        }
        let mut results: Vec<&mut [u8]> = whole.iter_mut().map(PoolBuffer::bytes_mut).collect();
        all.call(&[buffers.input(0)], &mut results, context)?;
        for (k, (slice, from)) in slices.iter().zip(&whole).enumerate() {
            if slice.real {
                slice.copy::<E::Real>(from.bytes(), buffers.output(k));
            } else {
                slice.copy::<E>(from.bytes(), buffers.output(k));
            }
        }
        Ok(())
    })
}
