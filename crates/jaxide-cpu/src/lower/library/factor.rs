//! Factorisations and solves, matrix by matrix, on several threads where there are several matrices.

use super::elements::{Pod, meaningless, typed};
use super::operands::Operands;
use super::routine::{each, routine};
use crate::runtime::KernelCall;
use jaxide_core::eval::numerics::linalg::{self, Entry};
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

/// One part of each result, as bytes.
type Parts = Vec<Vec<u8>>;

fn bytes<T: Pod>(elements: &[T]) -> Vec<u8> {
    bytemuck::cast_slice(elements).to_vec()
}

/// A kernel that treats operands as batches, along the same leading axes, of parts: those of the first operand have
/// `rank` axes.
fn batched(
    operands: &Operands,
    rank: usize,
    part: impl Fn(&[&[u8]]) -> Parts + Send + Sync + 'static,
) -> Call {
    let shape = &operands.inputs[0].shape;
    let Some(leading) = shape.len().checked_sub(rank) else {
        return Err(Error::shape(format!(
            "an operand of shape {shape:?} has fewer than {rank} axes"
        )));
    };
    let batch: usize = shape[..leading].iter().product();
    if operands
        .inputs
        .iter()
        .any(|input| input.shape.get(..leading) != Some(&shape[..leading]))
    {
        return Err(Error::shape("operands have different leading axes"));
    }
    let (inputs, outputs) = (operands.inputs.len(), operands.outputs.len());
    Ok(routine(operands, move |buffers, context| {
        let inputs: Vec<&[u8]> = (0..inputs).map(|k| buffers.input::<u8>(k)).collect();
        let results = each(context, batch, |i| {
            let parts: Vec<&[u8]> = inputs
                .iter()
                .map(|input| {
                    let size = input.len() / batch;
                    &input[i * size..(i + 1) * size]
                })
                .collect();
            part(&parts)
        });
        for k in 0..outputs {
            let out = buffers.output::<u8>(k);
            let size = out.len().checked_div(batch).unwrap_or(0);
            for (i, parts) in results.iter().enumerate() {
                out[i * size..(i + 1) * size].copy_from_slice(&parts[k]);
            }
        }
        Ok(())
    }))
}

/// Rows and columns of the `index`-th operand's matrices.
fn matrix(operands: &Operands, index: usize) -> Result<(usize, usize)> {
    match operands.inputs.get(index).map(|input| &input.shape[..]) {
        Some([.., rows, columns]) => Ok((*rows, *columns)),
        _ => Err(Error::shape(format!(
            "operand {index} is no batch of matrices"
        ))),
    }
}

/// The order of the first operand's square matrices.
fn order(operands: &Operands) -> Result<usize> {
    match matrix(operands, 0)? {
        (rows, columns) if rows == columns => Ok(rows),
        (rows, columns) => Err(Error::shape(format!(
            "matrices of {rows} by {columns} are not square"
        ))),
    }
}

/// The last axis of the `index`-th operand.
fn length(operands: &Operands, index: usize) -> usize {
    operands
        .inputs
        .get(index)
        .and_then(|input| input.shape.last().copied())
        .unwrap_or(0)
}

pub(super) fn cholesky(operands: &Operands) -> Call {
    let n = order(operands)?;
    by_entry!(operands, E => batched(operands, 2, move |x| vec![bytes(&linalg::cholesky::<E>(typed(x[0]), n))]))
}

pub(super) fn cholesky_update(operands: &Operands) -> Call {
    let n = order(operands)?;
    by_real!(operands, E => batched(operands, 2, move |x| {
        vec![bytes(&linalg::cholesky_update::<E>(typed(x[0]), n, typed(x[1])))]
    }))
}

pub(super) fn lu(operands: &Operands) -> Call {
    let (m, n) = matrix(operands, 0)?;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let lu = linalg::lu::<E>(typed(x[0]), m, n);
        vec![bytes(&lu.lu), bytes(&lu.pivots), bytes(&lu.permutation)]
    }))
}

pub(super) fn lu_pivots_to_permutation(operands: &Operands, size: usize) -> Call {
    match operands.inputs[0].dtype {
        DType::I32 => batched(operands, 1, move |x| {
            vec![bytes(&linalg::lu_pivots_to_permutation(typed(x[0]), size))]
        }),
        other => Err(meaningless(other)),
    }
}

pub(super) fn qr(operands: &Operands, params: &Qr) -> Call {
    let (m, n) = matrix(operands, 0)?;
    let (full, pivoting) = (params.full_matrices, params.pivoting);
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let qr = linalg::qr::<E>(typed(x[0]), m, n, full, pivoting);
        let pivots = qr.pivots.iter().map(|pivots| bytes(pivots));
        [bytes(&qr.q), bytes(&qr.r)].into_iter().chain(pivots).collect()
    }))
}

pub(super) fn geqrf(operands: &Operands) -> Call {
    let (m, n) = matrix(operands, 0)?;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let (packed, taus) = linalg::geqrf::<E>(typed(x[0]), m, n);
        vec![bytes(&packed), bytes(&taus)]
    }))
}

pub(super) fn geqp3(operands: &Operands) -> Call {
    let (m, n) = matrix(operands, 0)?;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let (packed, pivots, taus) = linalg::geqp3::<E>(typed(x[0]), m, n, typed(x[1]));
        vec![bytes(&packed), bytes(&pivots), bytes(&taus)]
    }))
}

pub(super) fn householder_product(operands: &Operands) -> Call {
    let (m, n) = matrix(operands, 0)?;
    let k = length(operands, 1);
    if k > n || n > m {
        return Err(Error::shape(format!(
            "{k} reflectors make no {m} by {n} matrix"
        )));
    }
    by_entry!(operands, E => batched(operands, 2, move |x| {
        vec![bytes(&linalg::householder_product::<E>(typed(x[0]), m, n, typed(x[1])))]
    }))
}

pub(super) fn ormqr(operands: &Operands, params: &Ormqr) -> Call {
    let ((m, n), (p, q)) = (matrix(operands, 0)?, matrix(operands, 2)?);
    let (left, transpose) = (params.left, params.transpose);
    if m != if left { p } else { q } || length(operands, 1) > n.min(m) {
        return Err(Error::shape(format!(
            "reflectors of length {m} cannot multiply a {p} by {q} matrix"
        )));
    }
    by_entry!(operands, E => batched(operands, 2, move |x| {
        vec![bytes(&linalg::ormqr::<E>((typed(x[0]), m, n), typed(x[1]), (typed(x[2]), p, q), left, transpose))]
    }))
}

pub(super) fn eigh(operands: &Operands, params: &Eigh) -> Call {
    let n = order(operands)?;
    let (first, end) = subset(params.subset_by_index, n)?;
    let lower = params.lower;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let eigh = linalg::eigh::<E>(typed(x[0]), n, lower);
        vec![bytes(&columns(&eigh.vectors, n, first, end)), bytes(&eigh.values[first..end])]
    }))
}

pub(super) fn eig(operands: &Operands, params: &Eig) -> Call {
    let n = order(operands)?;
    let (left, right) = (
        params.compute_left_eigenvectors,
        params.compute_right_eigenvectors,
    );
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let eig = linalg::eig::<E>(typed(x[0]), n);
        let vectors = [left.then(|| bytes(&eig.left)), right.then(|| bytes(&eig.right))];
        std::iter::once(bytes(&eig.values)).chain(vectors.into_iter().flatten()).collect()
    }))
}

pub(super) fn svd(operands: &Operands, params: &Svd) -> Call {
    let (m, n) = matrix(operands, 0)?;
    let (first, end) = subset(params.subset_by_index, m.min(n))?;
    let (vectors, full) = (params.compute_uv, params.full_matrices);
    by_entry!(operands, E => batched(operands, 2, move |x| {
        if !vectors {
            return vec![bytes(&linalg::singular_values::<E>(typed(x[0]), m, n)[first..end])];
        }
        let svd = linalg::svd::<E>(typed(x[0]), m, n, full);
        let (left, right) = if full { ((0, m), (0, n)) } else { ((first, end), (first, end)) };
        vec![
            bytes(&svd.s[first..end]),
            bytes(&columns(&svd.u, m, left.0, left.1)),
            bytes(&svd.vt[right.0 * n..right.1 * n]),
        ]
    }))
}

pub(super) fn schur(operands: &Operands, params: &Schur) -> Call {
    if params.sort_eig_vals {
        return Err(Error::unsupported("a Schur form with sorted eigenvalues"));
    }
    let n = order(operands)?;
    let vectors = params.compute_schur_vectors;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let (form, factor) = linalg::schur::<E>(typed(x[0]), n);
        std::iter::once(bytes(&form)).chain(vectors.then(|| bytes(&factor))).collect()
    }))
}

pub(super) fn hessenberg(operands: &Operands) -> Call {
    let n = order(operands)?;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let (packed, taus) = linalg::hessenberg::<E>(typed(x[0]), n);
        vec![bytes(&packed), bytes(&taus)]
    }))
}

pub(super) fn tridiagonal(operands: &Operands, lower: bool) -> Call {
    let n = order(operands)?;
    by_entry!(operands, E => batched(operands, 2, move |x| {
        let form = linalg::tridiagonal::<E>(typed(x[0]), n, lower);
        vec![bytes(&form.packed), bytes(&form.diagonal), bytes(&form.off_diagonal), bytes(&form.taus)]
    }))
}

pub(super) fn tridiagonal_solve(operands: &Operands) -> Call {
    let (_, k) = matrix(operands, 3)?;
    by_entry!(operands, E => batched(operands, 1, move |x| {
        vec![bytes(&linalg::tridiagonal_solve::<E>(typed(x[0]), typed(x[1]), typed(x[2]), typed(x[3]), k))]
    }))
}

pub(super) fn triangular_solve(operands: &Operands, params: &TriangularSolve) -> Call {
    let (m, n) = matrix(operands, 1)?;
    let options = linalg::TriangularSolve {
        left_side: params.left_side,
        lower: params.lower,
        transpose_a: params.transpose_a,
        conjugate_a: params.conjugate_a,
        unit_diagonal: params.unit_diagonal,
    };
    by_entry!(operands, E => batched(operands, 2, move |x| {
        vec![bytes(&linalg::triangular_solve::<E>(typed(x[0]), typed(x[1]), m, n, options))]
    }))
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

/// Some columns of a row-major matrix.
fn columns<E: Entry>(matrix: &[E], rows: usize, first: usize, end: usize) -> Vec<E> {
    let width = matrix.len().checked_div(rows).unwrap_or(0);
    (0..rows)
        .flat_map(|row| &matrix[row * width + first..row * width + end])
        .copied()
        .collect()
}
