//! Reductions, cumulative operations, sorting and searching.

mod cumulative;
mod fold;
mod search;
mod sort;

use smallvec::smallvec;

use super::elementwise::{arity, not_linear};
use super::shape::{check_axes, check_axis, linear_jvp, one};
use super::{Batched, BatchedResults, Prim};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Dims};
use crate::transform::eval_jvp;

/// `aval` without `axes`, after checking them.
fn without_axes(aval: &Aval, axes: &[usize]) -> Result<Aval> {
    check_axes(axes, aval)?;
    let shape: Vec<usize> = (0..aval.rank())
        .filter(|axis| !axes.contains(axis))
        .map(|axis| aval.shape[axis])
        .collect();
    Ok(aval.with_shape(&shape))
}

/// Axes of an operand once an axis is mapped, and where that axis is in the result.
fn batched_axes(axes: &[usize], dim: usize) -> (Dims, usize) {
    let axes: Dims = axes
        .iter()
        .map(|&axis| if axis < dim { axis } else { axis + 1 })
        .collect();
    let before = axes.iter().filter(|&&axis| axis < dim).count();
    (axes, dim - before)
}

/// Batching of reductions along axes.
fn batch_reduction(
    b: &Builder,
    operand: Batched,
    axes: &[usize],
    with_axes: impl Fn(Dims) -> Prim,
) -> BatchedResults {
    let (axes, dim) = match operand.dim {
        None => (Dims::from_slice(axes), None),
        Some(dim) => {
            let (axes, dim) = batched_axes(axes, dim);
            (axes, Some(dim))
        }
    };
    smallvec![Batched {
        value: b.op(with_axes(axes), &[operand.value]),
        dim
    }]
}
