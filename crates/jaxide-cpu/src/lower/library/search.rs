//! Searching: where elements are not zero, and where values belong in a sorted array.

use super::elements::{C128, Class, Number, meaningless};
use super::operands::Operands;
use super::routine::{each, in_chunks, routine};
use crate::runtime::KernelCall;
use jaxide_core::eval::numerics::order;
use jaxide_core::prims::{Nonzero, SearchSide, SearchSorted};
use jaxide_core::{Error, Result};
use std::cmp::Ordering;

type Call = Result<Box<KernelCall>>;

/// For each axis searched, the coordinates of the elements that are not zero, in row-major order over these axes.
pub(super) fn nonzero(operands: &Operands, params: &Nonzero) -> Call {
    let (x, fill) = match &operands.inputs[..] {
        [x, fill @ ..] => (x.clone(), fill.to_vec()),
        [] => return Err(Error::shape("an operand is expected")),
    };
    if Class::of(x.dtype) == Class::Opaque {
        return Err(meaningless(x.dtype));
    }
    let (size, dtype) = (params.size, params.out_dtype);
    let mut axes = params.axes.to_vec();
    axes.sort_unstable();
    if !fill.is_empty() && fill.len() != axes.len() {
        return Err(Error::parameter(format!(
            "{} fill values are given for {} axes",
            fill.len(),
            axes.len()
        )));
    }
    let others: Vec<usize> = (0..x.shape.len())
        .filter(|axis| !axes.contains(axis))
        .collect();
    let batch_shape: Vec<usize> = others.iter().map(|&axis| x.shape[axis]).collect();
    if fill
        .iter()
        .any(|value| value.shape.len() > batch_shape.len())
    {
        return Err(Error::shape("a fill value has too many axes"));
    }
    let strides = row_major(&x.shape);
    Ok(routine(operands, move |buffers, context| {
        let bytes = buffers.input::<u8>(0);
        let truth = if Class::of(x.dtype) == Class::Complex {
            let numbers = C128::read_all(x.dtype, bytes);
            numbers.iter().map(|z| z.re != 0.0 || z.im != 0.0).collect()
        } else {
            f64::read_all(x.dtype, bytes)
                .iter()
                .map(|&v| v != 0.0)
                .collect::<Vec<bool>>()
        };
        let values: Vec<Vec<i128>> = (0..fill.len())
            .map(|k| i128::read_all(fill[k].dtype, buffers.input(k + 1)))
            .collect();
        let batches: usize = batch_shape.iter().product();
        let group: usize = axes.iter().map(|&axis| x.shape[axis]).product();
        let found: Vec<Vec<usize>> = each(context, batches, |batch| {
            let start = position(batch, &others, &x.shape, &strides);
            let positions = (0..group)
                .filter(|&index| truth[start + position(index, &axes, &x.shape, &strides)]);
            positions.take(size).collect()
        });
        let mut inner = group;
        for (number, &axis) in axes.iter().enumerate() {
            let length = x.shape[axis];
            inner = inner.checked_div(length).unwrap_or(0);
            let mut coordinates = Vec::with_capacity(batches * size);
            for (batch, found) in found.iter().enumerate() {
                let filler = match values.get(number) {
                    Some(values) if !truth.is_empty() => {
                        values[spread(batch, &batch_shape, &fill[number].shape)]
                    }
                    _ => 0,
                };
                coordinates.extend(found.iter().map(|index| (index / inner % length) as i128));
                coordinates.resize((batch + 1) * size, filler);
            }
            i128::write(dtype, &coordinates, buffers.output(number));
        }
        Ok(())
    }))
}

fn row_major(shape: &[usize]) -> Vec<usize> {
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    strides
}

/// The position of the `index`-th element along some axes.
fn position(mut index: usize, axes: &[usize], shape: &[usize], strides: &[usize]) -> usize {
    let mut position = 0;
    for &axis in axes.iter().rev() {
        position += index % shape[axis] * strides[axis];
        index /= shape[axis];
    }
    position
}

/// The element of a value of shape `own`, broadcast to `shape`, at a position there.
fn spread(mut index: usize, shape: &[usize], own: &[usize]) -> usize {
    let (mut position, mut stride) = (0, 1);
    let missing = shape.len() - own.len();
    for axis in (missing..shape.len()).rev() {
        let coordinate = index % shape[axis];
        index /= shape[axis];
        let length = own[axis - missing];
        position += if length == 1 { 0 } else { coordinate * stride };
        stride *= length;
    }
    position
}

/// For each query, the index in the sorted axis before (or after) equal elements, as `i32`. NaN sorts last.
pub(super) fn search_sorted(operands: &Operands, params: &SearchSorted) -> Call {
    fn compare<N: Number>(
        operands: &Operands,
        params: &SearchSorted,
        order: fn(&N, &N) -> Ordering,
    ) -> Call {
        let [sorted, query] = [&operands.inputs[0], &operands.inputs[1]];
        let (shape, dimension, batch) = (&sorted.shape, params.dimension, params.batch_dims);
        if dimension >= shape.len()
            || batch > dimension
            || query.shape.get(..batch) != Some(&shape[..batch])
        {
            return Err(Error::shape(format!(
                "shape {shape:?} cannot be searched for {:?} with {batch} leading axes in common",
                query.shape
            )));
        }
        let middle: usize = shape[batch..dimension].iter().product();
        let (length, inner): (usize, usize) =
            (shape[dimension], shape[dimension + 1..].iter().product());
        let per_batch: usize = query.shape[batch..].iter().product();
        let (dtype, side) = (sorted.dtype, params.side);
        let rows = middle * inner;
        Ok(routine(operands, move |buffers, context| {
            let sorted = N::read_all(dtype, buffers.input(0));
            let query = N::read_all(dtype, buffers.input(1));
            in_chunks(context, buffers.output::<i32>(0), 4096, |start, found| {
                for (i, found) in (start..).zip(found) {
                    let (row, wanted) = (i / per_batch, i % per_batch);
                    let (batch, row) = (row / rows, row % rows);
                    let first = (batch * middle + row / inner) * length * inner + row % inner;
                    let wanted = &query[batch * per_batch + wanted];
                    let (mut low, mut high) = (0, length);
                    while low < high {
                        let half = low + (high - low) / 2;
                        let order = order(&sorted[first + half * inner], wanted);
                        let before = match side {
                            SearchSide::Left => order.is_lt(),
                            SearchSide::Right => order.is_le(),
                        };
                        if before {
                            low = half + 1;
                        } else {
                            high = half;
                        }
                    }
                    *found = low as i32;
                }
            });
            Ok(())
        }))
    }
    let [sorted, query] = &operands.inputs[..] else {
        return Err(Error::shape("two operands are expected"));
    };
    if sorted.dtype != query.dtype {
        return Err(Error::dtype(format!(
            "a sorted {} cannot be searched for {}",
            sorted.dtype, query.dtype
        )));
    }
    match Class::of(sorted.dtype) {
        Class::Integer => compare::<i128>(operands, params, Ord::cmp),
        Class::Real => compare::<f64>(operands, params, |&a, &b| order::sort_order(a, b)),
        Class::Complex => {
            compare::<C128>(operands, params, |&a, &b| order::sort_order_complex(a, b))
        }
        Class::Opaque => Err(meaningless(sorted.dtype)),
    }
}
