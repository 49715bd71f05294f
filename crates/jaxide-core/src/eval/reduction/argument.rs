//! Where the extreme elements are.

use std::cmp::Ordering;

use super::Reduction;
use super::sort::sort_order;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{from_integers, reals};
use crate::tensor::Tensor;

/// The index of the first largest element along an axis, of the first NaN if there is one.
pub(in crate::eval) fn argmax(x: &Tensor, axes: &[usize], index_dtype: DType) -> Result<Tensor> {
    first_extreme(x, axes, index_dtype, Ordering::Greater)
}

/// The index of the first smallest element along an axis, of the first NaN if there is one.
pub(in crate::eval) fn argmin(x: &Tensor, axes: &[usize], index_dtype: DType) -> Result<Tensor> {
    first_extreme(x, axes, index_dtype, Ordering::Less)
}

fn first_extreme(
    x: &Tensor,
    axes: &[usize],
    index_dtype: DType,
    better: Ordering,
) -> Result<Tensor> {
    let &[axis] = axes else {
        return Err(Error::parameter(format!(
            "one axis is expected, and {axes:?} is given"
        )));
    };
    let reduction = Reduction::new(x.shape(), axes)?;
    if x.shape()[axis] == 0 {
        return Err(Error::shape(format!(
            "{} has no elements along axis {axis}",
            x.aval()
        )));
    }
    let order = sort_order(x, x)?;
    let nans: Vec<bool> = if x.dtype().is_float() {
        reals(x)?.map(f64::is_nan).collect()
    } else {
        vec![false; x.len()]
    };
    let indices = reduction.groups().map(|group| {
        let mut best: Option<(usize, usize)> = None;
        for (index, position) in group.enumerate() {
            let replaces = best.is_none_or(|(_, other)| {
                !nans[other] && (nans[position] || order(position, other) == better)
            });
            if replaces {
                best = Some((index, position));
            }
        }
        best.map_or(0, |(index, _)| index as i128)
    });
    from_integers(&reduction.shape, index_dtype, indices)
}
