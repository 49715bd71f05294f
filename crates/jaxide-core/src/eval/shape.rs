//! Primitives that move elements without computing: each is a box copied from one layout to another.

use smallvec::SmallVec;

use super::element::{build, from_integers};
use super::strides::{Layout, copy_box, read, row_major, write_all};
use crate::aval::{byte_size, element_count};
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Dims, Shape};
use crate::tensor::{Tensor, check_allocatable};

/// Numbers 0, 1, 2, ... along axis `dimension`.
pub(super) fn iota(dtype: DType, shape: &[usize], dimension: usize) -> Result<Tensor> {
    let &length = shape
        .get(dimension)
        .ok_or_else(|| no_axis(dimension, shape.len()))?;
    check_allocatable(byte_size(shape, dtype)?)?;
    let inner = element_count(&shape[dimension + 1..])?.max(1);
    let count = element_count(shape)?;
    from_integers(
        shape,
        dtype,
        (0..count).map(|i| (i / inner % length) as i128),
    )
}

/// The operand's axes at `dimensions` of `shape`, repeated along the others and where the operand has length 1.
pub(super) fn broadcast_in_dim(
    x: &Tensor,
    shape: &[usize],
    dimensions: &[usize],
) -> Result<Tensor> {
    if dimensions.len() != x.shape().len() {
        return Err(Error::shape(format!(
            "{} has {} axes, and places for {} are given",
            x.aval(),
            x.shape().len(),
            dimensions.len()
        )));
    }
    let mut layout = Layout {
        start: 0,
        strides: SmallVec::from_elem(0, shape.len()),
    };
    for ((&target, &length), stride) in dimensions.iter().zip(x.shape()).zip(row_major(x.shape())) {
        let &wanted = shape
            .get(target)
            .ok_or_else(|| no_axis(target, shape.len()))?;
        if length == wanted {
            layout.strides[target] = stride;
        } else if length != 1 {
            return Err(Error::shape(format!(
                "{} cannot be broadcast to {shape:?}: axis {target} has length {wanted}",
                x.aval()
            )));
        }
    }
    read(x, shape, &layout)
}

/// The same elements under another shape, the axes read in the order of `dimensions`.
pub(super) fn reshape(
    x: &Tensor,
    new_sizes: &[usize],
    dimensions: Option<&Dims>,
) -> Result<Tensor> {
    match dimensions {
        None => x.reshaped(new_sizes),
        Some(order) => transpose(x, order)?.reshaped(new_sizes),
    }
}

/// The axes in another order.
pub(super) fn transpose(x: &Tensor, permutation: &[usize]) -> Result<Tensor> {
    let mut sorted = Dims::from_slice(permutation);
    sorted.sort_unstable();
    if !sorted.iter().copied().eq(0..x.shape().len()) {
        return Err(Error::parameter(format!(
            "{permutation:?} is no permutation of the axes of {}",
            x.aval()
        )));
    }
    let strides = row_major(x.shape());
    let shape: Shape = permutation.iter().map(|&axis| x.shape()[axis]).collect();
    let layout = Layout {
        start: 0,
        strides: permutation.iter().map(|&axis| strides[axis]).collect(),
    };
    read(x, &shape, &layout)
}

/// Without the axes `dimensions`, which have length 1.
pub(super) fn squeeze(x: &Tensor, dimensions: &[usize]) -> Result<Tensor> {
    let kept = x
        .shape()
        .iter()
        .enumerate()
        .filter(|(axis, _)| !dimensions.contains(axis));
    x.reshaped(&kept.map(|(_, &length)| length).collect::<Shape>())
}

/// The elements from `start` up to `limit`, every `strides`-th.
pub(super) fn slice(
    x: &Tensor,
    start: &[usize],
    limit: &[usize],
    strides: Option<&Dims>,
) -> Result<Tensor> {
    let rank = x.shape().len();
    let steps = strides
        .cloned()
        .unwrap_or_else(|| SmallVec::from_elem(1, rank));
    let inside = start.len() == rank
        && limit.len() == rank
        && steps.len() == rank
        && (0..rank).all(|i| start[i] <= limit[i] && limit[i] <= x.shape()[i] && steps[i] > 0);
    if !inside {
        return Err(Error::shape(format!(
            "{} has no part from {start:?} to {limit:?} with steps {steps:?}",
            x.aval()
        )));
    }
    let shape: Shape = (0..rank)
        .map(|i| (limit[i] - start[i]).div_ceil(steps[i]))
        .collect();
    read(x, &shape, &Layout::part(x.shape(), start, &steps))
}

/// Low, high and interior padding; negative low and high padding removes elements.
pub(super) fn pad(x: &Tensor, value: &Tensor, config: &[(i64, i64, i64)]) -> Result<Tensor> {
    let rank = x.shape().len();
    if config.len() != rank || value.len() != 1 || value.dtype() != x.dtype() {
        return Err(Error::shape(format!(
            "{} cannot be padded with {} by {config:?}",
            x.aval(),
            value.aval()
        )));
    }
    let mut shape = Shape::new();
    // The part of the operand that lands inside, and where.
    let (mut first, mut part, mut target, mut steps) =
        (Dims::new(), Shape::new(), Dims::new(), Dims::new());
    for (&length, &(low, high, interior)) in x.shape().iter().zip(config) {
        let (length, low, high) = (length as i128, i128::from(low), i128::from(high));
        let step = i128::from(interior) + 1;
        let spread = if length == 0 {
            0
        } else {
            (length - 1) * step + 1
        };
        let total = usize::try_from(low + spread + high)
            .ok()
            .filter(|_| step > 0)
            .ok_or_else(|| Error::shape(format!("{} cannot be padded by {config:?}", x.aval())))?;
        let skipped = if low < 0 { (-low + step - 1) / step } else { 0 };
        let end = (total as i128 - low + step - 1) / step;
        let skipped = skipped.min(length);
        shape.push(total);
        first.push(skipped as usize);
        part.push((end.clamp(skipped, length) - skipped) as usize);
        target.push((low + skipped * step).max(0) as usize);
        steps.push(step as usize);
    }
    let size = x.dtype().size();
    let mut padded = broadcast_in_dim(&value.reshaped(&[])?, &shape, &[])?;
    if part.contains(&0) {
        return Ok(padded);
    }
    let bytes = padded
        .bytes_mut()
        .ok_or_else(|| Error::new(ErrorKind::Internal, "a new array is shared"))?;
    let ones: Dims = SmallVec::from_elem(1, rank);
    copy_box(
        &part,
        size,
        (x.bytes(), &Layout::part(x.shape(), &first, &ones)),
        (bytes, &Layout::part(&shape, &target, &steps)),
    )?;
    Ok(padded)
}

/// The axes `dimensions` reversed.
pub(super) fn rev(x: &Tensor, dimensions: &[usize]) -> Result<Tensor> {
    if x.is_empty() {
        return Ok(x.clone());
    }
    let mut layout = Layout::whole(x.shape());
    for &axis in dimensions {
        let &length = x
            .shape()
            .get(axis)
            .ok_or_else(|| no_axis(axis, x.shape().len()))?;
        layout.start += layout.strides[axis] * (length - 1) as isize;
        layout.strides[axis] = -layout.strides[axis];
    }
    read(x, x.shape(), &layout)
}

/// Arrays joined along axis `dimension`.
pub(super) fn concatenate(parts: &[Tensor], dimension: usize) -> Result<Tensor> {
    let Some(head) = parts.first() else {
        return Err(Error::new(
            ErrorKind::Arity,
            "at least one operand is needed",
        ));
    };
    let mut shape = Shape::from_slice(head.shape());
    if dimension >= shape.len() {
        return Err(no_axis(dimension, shape.len()));
    }
    for part in &parts[1..] {
        let fits = part.dtype() == head.dtype()
            && part.shape().len() == shape.len()
            && (0..shape.len()).all(|axis| axis == dimension || part.shape()[axis] == shape[axis]);
        if !fits {
            return Err(Error::shape(format!(
                "{} and {} cannot be joined along axis {dimension}",
                head.aval(),
                part.aval()
            )));
        }
        shape[dimension] = shape[dimension].saturating_add(part.shape()[dimension]);
    }
    let mut first: Dims = SmallVec::from_elem(0, shape.len());
    let ones: Dims = SmallVec::from_elem(1, shape.len());
    let placed = parts.iter().map(|part| {
        let layout = Layout::part(&shape, &first, &ones);
        first[dimension] += part.shape()[dimension];
        (part, layout)
    });
    write_all(&shape, head.dtype(), placed)
}

/// Parts of lengths `sizes` along an axis.
pub(super) fn split(x: &Tensor, axis: usize, sizes: &[usize]) -> Result<Vec<Tensor>> {
    let &length = x
        .shape()
        .get(axis)
        .ok_or_else(|| no_axis(axis, x.shape().len()))?;
    if sizes
        .iter()
        .try_fold(0usize, |sum, &size| sum.checked_add(size))
        != Some(length)
    {
        return Err(Error::shape(format!(
            "{} cannot be cut along axis {axis} into lengths {sizes:?}",
            x.aval()
        )));
    }
    let mut start = 0;
    sizes
        .iter()
        .map(|&size| {
            let part = along(x, axis, start, size);
            start += size;
            part
        })
        .collect()
}

/// Arrays joined along a new axis.
pub(super) fn stack(parts: &[Tensor], axis: usize) -> Result<Tensor> {
    let expanded: Vec<Tensor> = parts
        .iter()
        .map(|part| {
            let mut shape = Shape::from_slice(part.shape());
            if axis > shape.len() {
                return Err(no_axis(axis, shape.len() + 1));
            }
            shape.insert(axis, 1);
            part.reshaped(&shape)
        })
        .collect::<Result<_>>()?;
    concatenate(&expanded, axis)
}

/// The slices along an axis.
pub(super) fn unstack(x: &Tensor, axis: usize) -> Result<Vec<Tensor>> {
    let &length = x
        .shape()
        .get(axis)
        .ok_or_else(|| no_axis(axis, x.shape().len()))?;
    (0..length)
        .map(|index| element_along(x, axis, index))
        .collect()
}

/// The slice at `index` of an axis, without that axis.
pub(super) fn element_along(x: &Tensor, axis: usize, index: usize) -> Result<Tensor> {
    squeeze(&along(x, axis, index, 1)?, &[axis])
}

/// `size` elements of an axis from `start`.
pub(super) fn along(x: &Tensor, axis: usize, start: usize, size: usize) -> Result<Tensor> {
    let mut first: Dims = SmallVec::from_elem(0, x.shape().len());
    let mut limit = Dims::from_slice(x.shape());
    first[axis] = start;
    limit[axis] = start + size;
    slice(x, &first, &limit, None)
}

/// The array repeated along its axes.
pub(super) fn tile(x: &Tensor, repetitions: &[usize]) -> Result<Tensor> {
    if repetitions.len() != x.shape().len() {
        return Err(Error::shape(format!(
            "{} cannot be repeated {repetitions:?} times: one number for each axis is needed",
            x.aval()
        )));
    }
    // Every axis becomes two: which copy, and where in it.
    let (mut shape, mut places, mut merged) = (Shape::new(), Dims::new(), Shape::new());
    for (&length, &times) in x.shape().iter().zip(repetitions) {
        places.push(shape.len() + 1);
        shape.extend([times, length]);
        merged.push(times.saturating_mul(length));
    }
    broadcast_in_dim(x, &shape, &places)?.reshaped(&merged)
}

/// Zeros, for memory whose contents never matter.
pub(super) fn empty(shape: &[usize], dtype: DType) -> Result<Tensor> {
    build(shape, dtype, |_| Ok(()))
}

/// The error of an axis that is not there.
pub(super) fn no_axis(axis: usize, rank: usize) -> Error {
    Error::shape(format!("there is no axis {axis} among {rank}"))
}
