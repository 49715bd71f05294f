//! Writing windows.

use num_complex::Complex;
use smallvec::SmallVec;

use super::{Bounds, Windows, ones, others};
use crate::error::{Error, ErrorKind, Result};
use crate::eval::element::{by_dtype, decode, encode, meaningless, update};
use crate::eval::numerics::complex::through_c128_2;
use crate::eval::numerics::elementary;
use crate::eval::numerics::float::through_f64_2;
use crate::eval::numerics::integer::Int;
use crate::eval::strides::{Layout, Strides, row_major};
use crate::jaxpr::Dims;
use crate::prims::{GatherScatterMode, ScatterDimensionNumbers};
use crate::tensor::{Element, Tensor};

/// What happens where an update meets an element.
#[derive(Clone, Copy)]
pub(in crate::eval) enum Combine {
    /// The update.
    Replace,
    /// Their sum.
    Add,
    /// The element minus the update.
    Subtract,
    /// Their product.
    Multiply,
    /// The smaller.
    Min,
    /// The larger.
    Max,
}

/// `x` with windows of `updates` written at `indices`, one after another.
pub(in crate::eval) fn scatter(
    x: Tensor,
    indices: &Tensor,
    updates: &Tensor,
    numbers: &ScatterDimensionNumbers,
    mode: GatherScatterMode,
    combine: Combine,
) -> Result<Tensor> {
    let pairs = scatter_pairs(&x, indices, updates, numbers, mode)?;
    combine_pairs(x, updates, &pairs, combine)
}

/// `x` with elements of `updates` combined into it: pairs of a position in `x` and one in `updates`, in order.
pub(in crate::eval) fn combine_pairs(
    x: Tensor,
    updates: &Tensor,
    pairs: &[(usize, usize)],
    combine: Combine,
) -> Result<Tensor> {
    let dtype = x.dtype();
    if let Combine::Replace = combine {
        let size = dtype.size();
        return update(x, |bytes| {
            for &(target, source) in pairs {
                bytes[target * size..(target + 1) * size]
                    .copy_from_slice(&updates.bytes()[source * size..(source + 1) * size]);
            }
            Ok(())
        });
    }
    by_dtype!(dtype, T,
        bool => apply::<u8>(x, updates, pairs, &match combine {
            Combine::Replace | Combine::Subtract => return Err(meaningless(dtype)),
            Combine::Add | Combine::Max => |a, b| a | b,
            Combine::Multiply | Combine::Min => |a, b| a & b,
        }),
        int => apply::<T>(x, updates, pairs, &match combine {
            Combine::Replace => |_, b| b,
            Combine::Add => Int::add,
            Combine::Subtract => Int::sub,
            Combine::Multiply => Int::mul,
            Combine::Min => Ord::min,
            Combine::Max => Ord::max,
        }),
        small => {
            let f = real_function(combine);
            apply::<u8>(x, updates, pairs, &|a, b| encode(dtype, f(decode(dtype, a), decode(dtype, b))))
        },
        real => {
            let f = real_function(combine);
            apply::<T>(x, updates, pairs, &|a, b| through_f64_2(f, a, b))
        },
        complex => {
            let f: fn(Complex<f64>, Complex<f64>) -> Complex<f64> = match combine {
                Combine::Replace => |_, b| b,
                Combine::Add => |a, b| a + b,
                Combine::Subtract => |a, b| a - b,
                Combine::Multiply => |a, b| a * b,
                Combine::Min => |a, b| if (a.re, a.im) < (b.re, b.im) { a } else { b },
                Combine::Max => |a, b| if (a.re, a.im) > (b.re, b.im) { a } else { b },
            };
            apply::<Complex<T>>(x, updates, pairs, &|a, b| through_c128_2(f, a, b))
        },
        other => Err(meaningless(dtype)),
    )
}

fn real_function(combine: Combine) -> fn(f64, f64) -> f64 {
    match combine {
        Combine::Replace => |_, b| b,
        Combine::Add => |a, b| a + b,
        Combine::Subtract => |a, b| a - b,
        Combine::Multiply => |a, b| a * b,
        Combine::Min => elementary::min,
        Combine::Max => elementary::max,
    }
}

fn apply<T: Element>(
    x: Tensor,
    updates: &Tensor,
    pairs: &[(usize, usize)],
    f: &dyn Fn(T, T) -> T,
) -> Result<Tensor> {
    let updates = crate::eval::element::elements::<T>(updates)?;
    let dtype = x.dtype();
    let result = update(x, |bytes| {
        let elements: &mut [T] = bytemuck::try_cast_slice_mut(bytes).map_err(|error| {
            Error::new(ErrorKind::Internal, format!("misaligned array: {error}"))
        })?;
        for &(target, source) in pairs {
            elements[target] = f(elements[target], updates[source]);
        }
        Ok(())
    })?;
    if dtype.bits() < 8 && dtype.is_integer() {
        let elements = crate::eval::element::elements::<u8>(&result)?.to_vec();
        return crate::eval::element::from_elements(result.shape(), dtype, elements);
    }
    Ok(result)
}

/// Which element of the operand each element of the updates meets, in the order of the updates' windows; updates that
/// are dropped do not occur.
pub(in crate::eval) fn scatter_pairs(
    x: &Tensor,
    indices: &Tensor,
    updates: &Tensor,
    numbers: &ScatterDimensionNumbers,
    mode: GatherScatterMode,
) -> Result<Vec<(usize, usize)>> {
    let rank = x.shape().len();
    let hidden: Dims = numbers
        .inserted_window_dims
        .iter()
        .chain(&numbers.operand_batching_dims)
        .copied()
        .collect();
    let window_axes = others(rank, &hidden);
    let batch_axes = others(updates.shape().len(), &numbers.update_window_dims);
    let legal = x.dtype() == updates.dtype()
        && numbers.update_window_dims.len() == window_axes.len()
        && numbers
            .update_window_dims
            .iter()
            .all(|&axis| axis < updates.shape().len())
        && indices.shape().len() == batch_axes.len() + 1
        && batch_axes
            .iter()
            .zip(indices.shape())
            .all(|(&axis, &length)| updates.shape()[axis] == length);
    if !legal {
        return Err(Error::shape(format!(
            "updates {} at indices {} do not fit {}",
            updates.aval(),
            indices.aval(),
            x.aval()
        )));
    }
    // Index vectors without components put every window at the origin. XLA takes them to say that there is one window, and
    // combines operand and updates element by element when they have one shape and the same batched axes.
    let same_batching = (numbers.operand_batching_dims.iter())
        .zip(&numbers.scatter_indices_batching_dims)
        .all(|(&axis, &of_indices)| batch_axes.get(of_indices) == Some(&axis));
    if indices.is_empty() && same_batching && updates.shape() == x.shape() {
        return Ok((0..x.len()).map(|position| (position, position)).collect());
    }
    let mut sizes = ones(rank);
    let strides = row_major(updates.shape());
    let mut window_strides: Strides = SmallVec::from_elem(0, rank);
    for (&axis, &window_axis) in numbers.update_window_dims.iter().zip(&window_axes) {
        sizes[window_axis] = updates.shape()[axis];
        window_strides[window_axis] = strides[axis];
    }
    // A window may be longer than an axis of length 0, which no window fits.
    if updates.is_empty() || x.is_empty() {
        return Ok(Vec::new());
    }
    let windows = Windows::new(
        x.shape(),
        sizes,
        indices,
        &numbers.scatter_dims_to_operand_dims,
        &numbers.operand_batching_dims,
        &numbers.scatter_indices_batching_dims,
    )?;
    let batches = Layout {
        start: 0,
        strides: batch_axes.iter().map(|&axis| strides[axis]).collect(),
    };
    let bounds = match mode {
        GatherScatterMode::Clip => Bounds::Clamp,
        GatherScatterMode::FillOrDrop
        | GatherScatterMode::PromiseInBounds
        | GatherScatterMode::OneHot => Bounds::Drop,
    };
    let step = ones(rank);
    let mut pairs = Vec::with_capacity(updates.len());
    for (start, position) in windows
        .starts(bounds)
        .zip(batches.positions(&windows.batch_shape))
    {
        if let Some(start) = start {
            let from = Layout {
                start: position as isize,
                strides: window_strides.clone(),
            };
            let to = Layout::part(x.shape(), &start, &step);
            pairs.extend(
                to.positions(&windows.sizes)
                    .zip(from.positions(&windows.sizes)),
            );
        }
    }
    Ok(pairs)
}
