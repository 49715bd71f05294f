//! Reading windows.

use smallvec::SmallVec;

use super::{Bounds, Windows, ones, others};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::reduction::{highest, lowest};
use crate::eval::strides::{Layout, Strides, copy_box, row_major};
use crate::jaxpr::{Dims, Scalar, Shape};
use crate::prims::{Gather, GatherScatterMode};
use crate::tensor::Tensor;

/// The windows of `x` at `indices`, whose last axis holds the components.
pub(in crate::eval) fn gather(x: &Tensor, indices: &Tensor, params: &Gather) -> Result<Tensor> {
    let numbers = &params.dimension_numbers;
    let windows = Windows::new(
        x.shape(),
        params.slice_sizes.clone(),
        indices,
        &numbers.start_index_map,
        &numbers.operand_batching_dims,
        &numbers.start_indices_batching_dims,
    )?;
    let hidden: Dims = numbers
        .collapsed_slice_dims
        .iter()
        .chain(&numbers.operand_batching_dims)
        .copied()
        .collect();
    let window_axes = others(x.shape().len(), &hidden);
    let rank = windows.batch_shape.len() + window_axes.len();
    let batch_axes = others(rank, &numbers.offset_dims);
    let legal = numbers.offset_dims.len() == window_axes.len()
        && batch_axes.len() == windows.batch_shape.len()
        && hidden
            .iter()
            .all(|&axis| params.slice_sizes.get(axis) <= Some(&1));
    if !legal {
        return Err(Error::parameter(format!(
            "offset_dims {:?} do not fit windows of {:?} in {}",
            numbers.offset_dims.as_slice(),
            params.slice_sizes.as_slice(),
            x.aval()
        )));
    }
    let mut shape: Shape = SmallVec::from_elem(0, rank);
    for (&axis, &length) in batch_axes.iter().zip(&windows.batch_shape) {
        shape[axis] = length;
    }
    for (&axis, &window_axis) in numbers.offset_dims.iter().zip(&window_axes) {
        shape[axis] = params.slice_sizes[window_axis];
    }

    let strides = row_major(&shape);
    let mut window_strides: Strides = SmallVec::from_elem(0, x.shape().len());
    for (&axis, &window_axis) in numbers.offset_dims.iter().zip(&window_axes) {
        window_strides[window_axis] = strides[axis];
    }
    let batches = Layout {
        start: 0,
        strides: batch_axes.iter().map(|&axis| strides[axis]).collect(),
    };
    let (bounds, fill) = match params.mode {
        GatherScatterMode::FillOrDrop => {
            let value = params.fill_value.unwrap_or_else(|| default_fill(x.dtype()));
            (Bounds::Drop, Tensor::full(&shape, x.dtype(), value)?)
        }
        GatherScatterMode::Clip
        | GatherScatterMode::PromiseInBounds
        | GatherScatterMode::OneHot => (Bounds::Clamp, Tensor::zeros(&shape, x.dtype())?),
    };
    let size = x.dtype().size();
    let step = ones(x.shape().len());
    crate::eval::element::update(fill, |bytes| {
        for (start, position) in windows
            .starts(bounds)
            .zip(batches.positions(&windows.batch_shape))
        {
            if let Some(start) = start {
                let to = Layout {
                    start: position as isize,
                    strides: window_strides.clone(),
                };
                let from = Layout::part(x.shape(), &start, &step);
                copy_box(&windows.sizes, size, (x.bytes(), &from), (&mut *bytes, &to))?;
            }
        }
        Ok(())
    })
}

/// What reads outside give when nothing is said: NaN, the smallest signed, the largest unsigned number, `True`.
fn default_fill(dtype: DType) -> Scalar {
    if dtype == DType::Bool {
        Scalar::Bool(true)
    } else if dtype.is_signed_integer() {
        Scalar::from_integer(lowest(dtype)).unwrap_or(Scalar::Int(0))
    } else if dtype.is_unsigned_integer() {
        Scalar::from_integer(highest(dtype)).unwrap_or(Scalar::Int(0))
    } else if dtype.is_complex() {
        Scalar::Complex(f64::NAN, 0.0)
    } else {
        Scalar::Float(f64::NAN)
    }
}
