//! Products in which slices of an axis fall into groups.

use super::elements::Number;
use super::operands::{Array, Operands};
use super::product::{Converted, Product, working_type};
use super::routine::{Outcome, routine};
use crate::runtime::matmul::DotDimensions;
use crate::runtime::{Context, KernelCall, KernelError, PoolBuffer, View};
use jaxide_core::prims::{RaggedDotDimensionNumbers, RaggedDotGeneral};
use jaxide_core::{DType, Dims, Error, Result, Shape, byte_size};
use std::ops::Range;

type Call = Result<Box<KernelCall>>;

/// A product in which slices of a ragged axis of the left operand fall into groups.
///
/// Where the ragged axis is free, each group has its own right operand; where it is contracted, each group gives a
/// result of its own along a new leading axis; where it is a batch axis, groups do not matter.
pub(super) fn ragged_dot_general(operands: &Operands, params: &RaggedDotGeneral) -> Call {
    let [lhs, rhs, sizes] = &operands.inputs[..] else {
        return Err(Error::shape("three operands are expected"));
    };
    let numbers = &params.ragged_dot_dimension_numbers;
    if let Some(slices) = Slices::new(operands, numbers)? {
        let count = sizes.dtype;
        return Ok(routine(operands, move |buffers, context| {
            let sizes = i128::read_all(count, buffers.input(2));
            let (lhs, rhs) = (buffers.input(0), buffers.input(1));
            slices.run(lhs, rhs, &sizes, buffers.output(0), context)
        }));
    }
    let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
        &numbers.dot_dimension_numbers;
    let &[ragged] = numbers.lhs_ragged_dimensions.as_slice() else {
        return Err(Error::parameter("one ragged axis is expected"));
    };
    let behind = |axes: &[usize]| axes.iter().map(|axis| axis + 1).collect::<Vec<usize>>();
    let first = |axes: Vec<usize>| [vec![0], axes].concat();
    let (grouped_lhs, grouped_rhs, dimensions);
    if lhs_batch.contains(&ragged) {
        (grouped_lhs, grouped_rhs) = (None, None);
        dimensions = DotDimensions {
            lhs_contracting: lhs_contracting.to_vec(),
            rhs_contracting: rhs_contracting.to_vec(),
            lhs_batch: lhs_batch.to_vec(),
            rhs_batch: rhs_batch.to_vec(),
        };
    } else if let Some(place) = lhs_contracting.iter().position(|&axis| axis == ragged) {
        let prefix =
            |batch: &Dims, contracting: &Dims| [&batch[..], &contracting[..place]].concat();
        let &rhs_ragged = rhs_contracting
            .get(place)
            .ok_or_else(|| Error::parameter("the ragged axis has no partner"))?;
        grouped_lhs = Some(Grouped::new(
            lhs,
            ragged,
            prefix(lhs_batch, lhs_contracting),
            sizes,
        )?);
        grouped_rhs = Some(Grouped::new(
            rhs,
            rhs_ragged,
            prefix(rhs_batch, rhs_contracting),
            sizes,
        )?);
        dimensions = DotDimensions {
            lhs_contracting: behind(lhs_contracting),
            rhs_contracting: behind(rhs_contracting),
            lhs_batch: first(behind(lhs_batch)),
            rhs_batch: first(behind(rhs_batch)),
        };
    } else {
        let &[group] = numbers.rhs_group_dimensions.as_slice() else {
            return Err(Error::parameter("one group axis is expected"));
        };
        return free(operands, (ragged, group), numbers);
    }
    let view = |array: &Array, grouped: &Option<Grouped>| {
        View::dense(grouped.as_ref().map_or(&array.shape[..], |it| &it.result))
    };
    let (left, right) = (view(lhs, &grouped_lhs), view(rhs, &grouped_rhs));
    let product = Product::new(
        (lhs.dtype, &left),
        (rhs.dtype, &right),
        &dimensions,
        operands.outputs[0].dtype,
    )?;
    let count = sizes.dtype;
    Ok(routine(operands, move |buffers, context| {
        let sizes = i128::read_all(count, buffers.input(2));
        let apply = |grouped: &Option<Grouped>, bytes| {
            grouped
                .as_ref()
                .map(|it| it.apply(bytes, &sizes))
                .transpose()
        };
        let (lhs, rhs) = (buffers.input::<u8>(0), buffers.input::<u8>(1));
        let (left, right) = (apply(&grouped_lhs, lhs)?, apply(&grouped_rhs, rhs)?);
        let left = left.as_ref().map_or(lhs, PoolBuffer::bytes);
        let right = right.as_ref().map_or(rhs, PoolBuffer::bytes);
        product.run(left, right, buffers.output(0), context)
    }))
}

/// A product for each group, of the slices that fall into it, whose result is a run of elements.
struct Slices {
    types: (DType, DType),
    working: DType,
    result: DType,
    lhs: View,
    rhs: View,
    ragged: usize,
    right: Right,
    dimensions: DotDimensions,
    /// Bytes of the result for one step along its first axis.
    row: usize,
}

/// What the right operand of a group is.
#[derive(Clone, Copy)]
enum Right {
    /// One slice of this axis; the result has the left operand's ragged axis first.
    Group(usize),
    /// The slices of this axis that are in the group; the result has the groups as its first axis.
    Ragged(usize),
}

impl Slices {
    /// `None` where groups differ along other axes, or a group's result is scattered.
    fn new(operands: &Operands, numbers: &RaggedDotDimensionNumbers) -> Result<Option<Self>> {
        let (lhs, rhs, out) = (
            &operands.inputs[0],
            &operands.inputs[1],
            &operands.outputs[0],
        );
        let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
            &numbers.dot_dimension_numbers;
        let &[ragged] = numbers.lhs_ragged_dimensions.as_slice() else {
            return Ok(None);
        };
        if operands.inputs[2].shape.len() != 1 || lhs_batch.contains(&ragged) {
            return Ok(None);
        }
        let contracted = lhs_contracting.iter().position(|&axis| axis == ragged);
        let (right, removed) = match (contracted, numbers.rhs_group_dimensions.as_slice()) {
            (Some(place), _) => match rhs_contracting.get(place) {
                Some(&axis) => (Right::Ragged(axis), usize::MAX),
                None => return Ok(None),
            },
            (None, &[group])
                if lhs_batch.is_empty()
                    && (0..ragged).all(|axis| lhs_contracting.contains(&axis)) =>
            {
                (Right::Group(group), group)
            }
            (None, _) => return Ok(None),
        };
        let shifted = |axes: &Dims| {
            axes.iter()
                .map(|&axis| axis - usize::from(axis > removed))
                .collect()
        };
        Ok(Some(Slices {
            types: (lhs.dtype, rhs.dtype),
            working: working_type(lhs.dtype, rhs.dtype, out.dtype)?,
            result: out.dtype,
            lhs: View::dense(&lhs.shape),
            rhs: View::dense(&rhs.shape),
            ragged,
            right,
            dimensions: DotDimensions {
                lhs_contracting: lhs_contracting.to_vec(),
                rhs_contracting: shifted(rhs_contracting),
                lhs_batch: lhs_batch.to_vec(),
                rhs_batch: shifted(rhs_batch),
            },
            row: out.shape[1..].iter().product::<usize>() * out.dtype.size(),
        }))
    }

    fn run(
        &self,
        lhs: &[u8],
        rhs: &[u8],
        sizes: &[i128],
        out: &mut [u8],
        context: &Context<'_>,
    ) -> Outcome {
        let lhs = Converted::new(self.types.0, lhs, self.working)?;
        let rhs = Converted::new(self.types.1, rhs, self.working)?;
        out.fill(0);
        let length = self.lhs.shape[self.ragged];
        // A slice belongs to the first group that reaches it: sizes may be negative.
        let (mut end, mut reached) = (0i128, 0i128);
        for (group, size) in sizes.iter().enumerate() {
            let start = usize::try_from(reached).unwrap_or(0).min(length);
            end = end.saturating_add(*size);
            reached = reached.max(end);
            let count = usize::try_from(end)
                .unwrap_or(0)
                .min(length)
                .saturating_sub(start);
            if count == 0 || self.row == 0 {
                continue;
            }
            let left = slice(&self.lhs, self.ragged, start, count);
            let (right, rows) = match self.right {
                Right::Ragged(axis) => (slice(&self.rhs, axis, start, count), group..group + 1),
                Right::Group(axis) => {
                    let mut right = slice(&self.rhs, axis, group, 1);
                    right.shape.remove(axis);
                    right.strides.remove(axis);
                    (right, start..start + count)
                }
            };
            let working = self.working;
            let product = Product::new(
                (working, &left),
                (working, &right),
                &self.dimensions,
                self.result,
            )
            .map_err(|error| KernelError::new(error.to_string()))?;
            let rows = rows.start * self.row..rows.end * self.row;
            product.run(lhs.bytes(), rhs.bytes(), &mut out[rows], context)?;
        }
        Ok(())
    }
}

/// The product where the ragged axis is free: of all slices with each group, of which those of the group are taken.
fn free(
    operands: &Operands,
    (ragged, group): (usize, usize),
    numbers: &RaggedDotDimensionNumbers,
) -> Call {
    let (lhs, rhs, sizes) = (
        &operands.inputs[0],
        &operands.inputs[1],
        &operands.inputs[2],
    );
    let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
        &numbers.dot_dimension_numbers;
    let without = |axes: &Dims| -> Vec<usize> {
        let shifted = axes.iter().map(|&axis| axis - usize::from(axis > group));
        shifted.collect()
    };
    let dimensions = DotDimensions {
        lhs_contracting: lhs_contracting.to_vec(),
        rhs_contracting: without(rhs_contracting),
        lhs_batch: lhs_batch.to_vec(),
        rhs_batch: without(rhs_batch),
    };
    let before = (0..ragged)
        .filter(|axis| !lhs_batch.contains(axis) && !lhs_contracting.contains(axis))
        .count();
    let (left, right) = (View::dense(&lhs.shape), View::dense(&rhs.shape));
    let types = (lhs.dtype, rhs.dtype, operands.outputs[0].dtype);
    working_type(types.0, types.1, types.2)?;
    let product = move |index: usize| {
        let mut right = slice(&right, group, index, 1);
        right.shape.remove(group);
        right.strides.remove(group);
        Product::new((types.0, &left), (types.1, &right), &dimensions, types.2)
            .map_err(|error| KernelError::new(error.to_string()))
    };
    // The result has the batch axes first, then the left operand's others.
    let place = lhs_batch.len() + before;
    let grouped = Grouped::new(&operands.outputs[0], place, (0..place).collect(), sizes)?;
    let count = sizes.dtype;
    Ok(routine(operands, move |buffers, context| {
        let sizes = i128::read_all(count, buffers.input(2));
        let (lhs, rhs) = (buffers.input::<u8>(0), buffers.input::<u8>(1));
        let out = buffers.output::<u8>(0);
        out.fill(0);
        let mut all = PoolBuffer::new(out.len())?;
        for index in 0..grouped.groups {
            product(index)?.run(lhs, rhs, all.bytes_mut(), context)?;
            grouped.each(&sizes, out.len(), |group, bytes| {
                if group == index {
                    out[bytes.clone()].copy_from_slice(&all.bytes()[bytes]);
                }
            });
        }
        Ok(())
    }))
}

/// Some slices of a view along an axis.
fn slice(view: &View, axis: usize, start: usize, count: usize) -> View {
    let mut slice = view.clone();
    slice.offset += start * view.strides[axis] as usize;
    slice.shape[axis] = count;
    slice
}

/// An operand with a new leading axis for groups: each slice of the ragged axis is in its group, the rest is zero.
struct Grouped {
    shape: Shape,
    element: usize,
    ragged: usize,
    /// Axes that the group sizes have besides the last; empty when all share them.
    prefix: Vec<usize>,
    groups: usize,
    result: Shape,
}

impl Grouped {
    fn new(x: &Array, ragged: usize, prefix: Vec<usize>, sizes: &Array) -> Result<Self> {
        let Some((&groups, batch)) = sizes.shape.split_last() else {
            return Err(Error::shape("group sizes are missing"));
        };
        let lengths: Shape = prefix.iter().map(|&axis| x.shape[axis]).collect();
        if !batch.is_empty() && batch != &lengths[..] {
            return Err(Error::shape(format!(
                "group sizes have shape {:?}, and their leading axes must be {lengths:?}",
                sizes.shape
            )));
        }
        let mut result = x.shape.clone();
        result.insert(0, groups);
        byte_size(&result, x.dtype)?;
        Ok(Grouped {
            shape: x.shape.clone(),
            element: x.dtype.size(),
            ragged,
            prefix: if batch.is_empty() { Vec::new() } else { prefix },
            groups,
            result,
        })
    }

    fn apply(&self, bytes: &[u8], sizes: &[i128]) -> std::result::Result<PoolBuffer, KernelError> {
        let mut grouped = PoolBuffer::zeroed(bytes.len() * self.groups)?;
        let to = grouped.bytes_mut();
        self.each(sizes, bytes.len(), |group, from| {
            let start = group * bytes.len() + from.start;
            to[start..start + from.len()].copy_from_slice(&bytes[from]);
        });
        Ok(grouped)
    }

    /// Calls `visit` with the group and the bytes of each run of elements that is in one, of `count` bytes.
    fn each(&self, sizes: &[i128], count: usize, mut visit: impl FnMut(usize, Range<usize>)) {
        if count == 0 || self.groups == 0 {
            return;
        }
        let ends: Vec<i128> = sizes
            .chunks(self.groups)
            .flat_map(|sizes| {
                sizes.iter().scan(0i128, |end, &size| {
                    *end = end.saturating_add(size);
                    Some(*end)
                })
            })
            .collect();
        // Elements behind the ragged and all prefix axes go together.
        let last = self
            .prefix
            .iter()
            .copied()
            .chain([self.ragged])
            .max()
            .unwrap_or(0);
        let run: usize = self.shape[last + 1..].iter().product::<usize>() * self.element;
        let leading = &self.shape[..=last];
        let mut index = vec![0; leading.len()];
        for number in 0..count / run {
            let mut rest = number;
            for (place, &length) in index.iter_mut().zip(leading).rev() {
                (*place, rest) = (rest % length, rest / length);
            }
            let row = self
                .prefix
                .iter()
                .fold(0, |row, &axis| row * self.shape[axis] + index[axis]);
            let ends = &ends[row * self.groups..(row + 1) * self.groups];
            let position = index[self.ragged] as i128;
            if let Some(group) = ends.iter().position(|&end| position < end) {
                visit(group, number * run..(number + 1) * run);
            }
        }
    }
}
