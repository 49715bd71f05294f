//! Products of arrays over contracted axes.

use std::ops::{Add, Mul};

use num_complex::Complex;

use crate::aval::byte_size;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::eval::element::{
    any_complexes, from_complexes, from_integers, from_reals, integers, reals, update,
};
use crate::eval::elementwise::{convert_element_type, mul};
use crate::eval::shape::broadcast_in_dim;
use crate::eval::strides::{Layout, row_major};
use crate::jaxpr::{Dims, Shape};
use crate::prims::{DotDimensionNumbers, RaggedDotDimensionNumbers, product_dtype};
use crate::tensor::{Tensor, check_allocatable};

/// The product of two arrays: axes of the result are the batch axes, the left operand's others, the right operand's
/// others. Floats are summed in `f64` and rounded once, integers wrap.
///
/// Operands of different types are first converted to the result's. Where that cannot hold the numbers of operands of one
/// type, the product is of their type, converted.
pub(in crate::eval) fn dot_general(
    lhs: &Tensor,
    rhs: &Tensor,
    numbers: &DotDimensionNumbers,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => product_dtype(&lhs.aval(), &rhs.aval())?,
    };
    if lhs.dtype() != rhs.dtype() {
        let convert = |x| convert_element_type(x, dtype);
        return dot_general(&convert(lhs)?, &convert(rhs)?, numbers, Some(dtype));
    }
    let left = Operand::new(lhs.shape(), &numbers.lhs_batch, &numbers.lhs_contracting)?;
    let right = Operand::new(rhs.shape(), &numbers.rhs_batch, &numbers.rhs_contracting)?;
    if left.batch != right.batch || left.contracted != right.contracted {
        return Err(Error::shape(format!(
            "axes that {} and {} have in common have different lengths",
            lhs.aval(),
            rhs.aval()
        )));
    }
    let shape: Shape = left
        .batch
        .iter()
        .chain(&left.free)
        .chain(&right.free)
        .copied()
        .collect();
    check_allocatable(byte_size(&shape, dtype)?)?;
    let own = lhs.dtype();
    if kind(own) > kind(dtype) {
        let product = dot_general(lhs, rhs, numbers, Some(own))?;
        return convert_element_type(&product, dtype);
    }
    if own.is_complex() {
        let (a, b) = (
            left.arrange(any_complexes(lhs)?),
            right.arrange(any_complexes(rhs)?),
        );
        from_complexes(
            &shape,
            dtype,
            multiply(&left, &right, &a, &b, Complex::new(0.0, 0.0)),
        )
    } else if kind(dtype) > 0 {
        let real = |x: &Tensor| -> Result<Vec<f64>> {
            Ok(reals(&if x.dtype().is_float() {
                x.clone()
            } else {
                convert_element_type(x, DType::F64)?
            })?
            .collect())
        };
        let (a, b) = (
            left.arrange(real(lhs)?.into_iter()),
            right.arrange(real(rhs)?.into_iter()),
        );
        from_reals(&shape, dtype, multiply(&left, &right, &a, &b, 0.0))
    } else {
        let wrapped = |x| integers(x).map(|numbers| numbers.map(|v| std::num::Wrapping(v as i64)));
        let (a, b) = (left.arrange(wrapped(lhs)?), right.arrange(wrapped(rhs)?));
        let products = multiply(&left, &right, &a, &b, std::num::Wrapping(0));
        from_integers(&shape, dtype, products.map(|sum| sum.0.into()))
    }
}

/// Integers, floats, complex numbers: each kind holds the numbers of those before.
fn kind(dtype: DType) -> u8 {
    u8::from(dtype.is_float()) + 2 * u8::from(dtype.is_complex())
}

/// An operand's axes in groups.
struct Operand<'a> {
    shape: &'a [usize],
    /// Batch, free, contracted axes in this order.
    order: Dims,
    batch: Shape,
    free: Shape,
    contracted: Shape,
}

impl<'a> Operand<'a> {
    fn new(shape: &'a [usize], batch: &[usize], contracted: &[usize]) -> Result<Self> {
        let mut named = [batch, contracted].concat();
        named.sort_unstable();
        if named.windows(2).any(|pair| pair[0] == pair[1])
            || named.last().is_some_and(|&axis| axis >= shape.len())
        {
            return Err(Error::parameter(format!(
                "batch axes {batch:?} and contracted axes {contracted:?} are not different axes of shape {shape:?}"
            )));
        }
        let free: Dims = (0..shape.len())
            .filter(|axis| !named.contains(axis))
            .collect();
        let lengths = |axes: &[usize]| axes.iter().map(|&axis| shape[axis]).collect();
        Ok(Operand {
            shape,
            order: batch
                .iter()
                .chain(&free)
                .chain(contracted)
                .copied()
                .collect(),
            batch: lengths(batch),
            free: lengths(&free),
            contracted: lengths(contracted),
        })
    }

    /// The elements in the order of the axes' groups.
    fn arrange<T: Copy>(&self, elements: impl Iterator<Item = T>) -> Vec<T> {
        let elements: Vec<T> = elements.collect();
        let strides = row_major(self.shape);
        let layout = Layout {
            start: 0,
            strides: self.order.iter().map(|&axis| strides[axis]).collect(),
        };
        let shape: Shape = self.order.iter().map(|&axis| self.shape[axis]).collect();
        layout
            .positions(&shape)
            .map(|position| elements[position])
            .collect()
    }
}

/// Sums of products: batch by batch, row by row of the left operand, row by row of the right one.
fn multiply<'a, T: Copy + Add<Output = T> + Mul<Output = T>>(
    left: &Operand<'_>,
    right: &Operand<'_>,
    a: &'a [T],
    b: &'a [T],
    zero: T,
) -> impl Iterator<Item = T> + 'a {
    let size = |shape: &Shape| shape.iter().product::<usize>();
    let (rows, columns, depth) = (size(&left.free), size(&right.free), size(&left.contracted));
    (0..size(&left.batch)).flat_map(move |batch| {
        (0..rows).flat_map(move |row| {
            let row = &a[(batch * rows + row) * depth..][..depth];
            (0..columns).map(move |column| {
                let column = &b[(batch * columns + column) * depth..][..depth];
                let mut terms = row.iter().zip(column).map(|(&x, &y)| x * y);
                match (depth, terms.next()) {
                    // A single product keeps the sign of its zero; sums begin with a positive one.
                    (1, Some(only)) => only,
                    (_, first) => first.into_iter().chain(terms).fold(zero, Add::add),
                }
            })
        })
    })
}

/// A product in which slices of a ragged axis of the left operand fall into groups of `group_sizes`.
///
/// Where the ragged axis is free, each group has its own right operand, and slices behind all groups are zero; where it is contracted, each group gives a
/// result of its own along a new leading axis; where it is a batch axis, groups do not matter.
pub(in crate::eval) fn ragged_dot_general(
    lhs: &Tensor,
    rhs: &Tensor,
    group_sizes: &Tensor,
    numbers: &RaggedDotDimensionNumbers,
    dtype: Option<DType>,
) -> Result<Tensor> {
    let dtype = match dtype {
        Some(dtype) => dtype,
        None => product_dtype(&lhs.aval(), &rhs.aval())?,
    };
    let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
        &numbers.dot_dimension_numbers;
    let &[ragged] = numbers.lhs_ragged_dimensions.as_slice() else {
        return Err(Error::parameter("one ragged axis is expected"));
    };
    let dense = |lhs_contracting: Dims, rhs_contracting: Dims, lhs_batch: Dims, rhs_batch: Dims| {
        DotDimensionNumbers {
            lhs_contracting,
            rhs_contracting,
            lhs_batch,
            rhs_batch,
        }
    };
    let behind = |axes: &Dims| axes.iter().map(|axis| axis + 1).collect::<Dims>();
    let first = |axes: Dims| -> Dims { std::iter::once(0).chain(axes).collect() };
    if lhs_batch.contains(&ragged) {
        let numbers = dense(
            lhs_contracting.clone(),
            rhs_contracting.clone(),
            lhs_batch.clone(),
            rhs_batch.clone(),
        );
        return dot_general(lhs, rhs, &numbers, Some(dtype));
    }
    if let Some(place) = lhs_contracting.iter().position(|&axis| axis == ragged) {
        let prefix = |batch: &Dims, contracting: &Dims| -> Dims {
            batch.iter().chain(&contracting[..place]).copied().collect()
        };
        let &rhs_ragged = rhs_contracting
            .get(place)
            .ok_or_else(|| Error::parameter("the ragged axis has no partner"))?;
        let lhs = grouped(
            lhs,
            ragged,
            &prefix(lhs_batch, lhs_contracting),
            group_sizes,
        )?;
        let rhs = grouped(
            rhs,
            rhs_ragged,
            &prefix(rhs_batch, rhs_contracting),
            group_sizes,
        )?;
        let numbers = dense(
            behind(lhs_contracting),
            behind(rhs_contracting),
            first(behind(lhs_batch)),
            first(behind(rhs_batch)),
        );
        return dot_general(&lhs, &rhs, &numbers, Some(dtype));
    }
    let &[group] = numbers.rhs_group_dimensions.as_slice() else {
        return Err(Error::parameter("one group axis is expected"));
    };
    // The result has batch axes, then the left operand's others; each slice of it is the product with its own group.
    let others: Dims = (0..lhs.shape().len())
        .filter(|axis| !lhs_batch.contains(axis) && !lhs_contracting.contains(axis))
        .collect();
    let before = others.iter().take_while(|&&axis| axis != ragged).count();
    let place = lhs_batch.len() + before;
    let without = |axes: &Dims| -> Dims {
        axes.iter()
            .map(|&axis| axis - usize::from(axis > group))
            .collect()
    };
    let numbers = dense(
        lhs_contracting.clone(),
        without(rhs_contracting),
        lhs_batch.clone(),
        without(rhs_batch),
    );
    let products: Vec<Tensor> = (0..rhs.shape().get(group).copied().unwrap_or(0))
        .map(|index| dot_general(lhs, &taken(rhs, group, index)?, &numbers, Some(dtype)))
        .collect::<Result<_>>()?;
    let mut shape: Shape = lhs_batch
        .iter()
        .chain(&others)
        .map(|&axis| lhs.shape()[axis])
        .collect();
    shape.extend(
        (0..rhs.shape().len())
            .filter(|axis| {
                *axis != group && !rhs_batch.contains(axis) && !rhs_contracting.contains(axis)
            })
            .map(|axis| rhs.shape()[axis]),
    );
    let groups = groups_of(&shape, place, &(0..place).collect::<Dims>(), group_sizes)?;
    let size = dtype.size();
    update(Tensor::zeros(&shape, dtype)?, |result| {
        for (position, group) in groups.iter().enumerate() {
            if let Some(product) = group.and_then(|group| products.get(group)) {
                let bytes = position * size..(position + 1) * size;
                result[bytes.clone()].copy_from_slice(&product.bytes()[bytes]);
            }
        }
        Ok(())
    })
}

/// The slice at an index of an axis, which disappears.
fn taken(x: &Tensor, axis: usize, index: usize) -> Result<Tensor> {
    let shape = x.shape();
    let inner = shape[axis + 1..].iter().product::<usize>() * x.dtype().size();
    let row = inner * shape[axis];
    let bytes: Vec<u8> = (x.bytes().chunks_exact(row.max(1)))
        .flat_map(|row| &row[index * inner..(index + 1) * inner])
        .copied()
        .collect();
    let left: Shape = (shape.iter().enumerate())
        .filter_map(|(k, &length)| (k != axis).then_some(length))
        .collect();
    Tensor::from_bytes(&left, x.dtype(), &bytes)
}

/// The group of each element of an array of this shape, whose slices along the ragged axis fall into groups; `None` behind
/// them all.
///
/// `group_sizes` has the axes `prefix`, or none of them, and one for the groups.
fn groups_of(
    shape: &[usize],
    ragged: usize,
    prefix: &[usize],
    group_sizes: &Tensor,
) -> Result<Vec<Option<usize>>> {
    let sizes: Vec<i128> = integers(group_sizes)?.collect();
    let lengths: Shape = (prefix.iter())
        .filter_map(|&axis| shape.get(axis).copied())
        .collect();
    let (Some((&groups, batch)), Some(_)) = (group_sizes.shape().split_last(), shape.get(ragged))
    else {
        return Err(Error::shape("group sizes or the ragged axis are missing"));
    };
    if !batch.is_empty() && batch != lengths.as_slice() {
        return Err(Error::shape(format!(
            "group sizes are {}, and their leading axes must be {:?}",
            group_sizes.aval(),
            lengths.as_slice()
        )));
    }
    let (strides, inner) = (row_major(shape), row_major(batch));
    let group = |position: usize| {
        let coordinate = |axis: usize| position / strides[axis] as usize % shape[axis];
        let number: usize = (prefix.iter().zip(&inner))
            .map(|(&axis, &step)| coordinate(axis) * step as usize)
            .sum();
        let (index, mut end) = (coordinate(ragged) as i128, 0);
        (sizes[number * groups..(number + 1) * groups].iter()).position(|&count| {
            let start = end;
            end += count;
            (start..end).contains(&index)
        })
    };
    Ok((0..shape.iter().product()).map(group).collect())
}

/// With a new leading axis for the groups: each slice of the ragged axis is in its group, the rest is zero.
fn grouped(x: &Tensor, ragged: usize, prefix: &[usize], group_sizes: &Tensor) -> Result<Tensor> {
    let groups = groups_of(x.shape(), ragged, prefix, group_sizes)?;
    let mut shape = Shape::from_slice(x.shape());
    shape.insert(0, group_sizes.shape().last().copied().unwrap_or(0));
    let (size, bytes) = (x.dtype().size(), x.bytes());
    update(Tensor::zeros(&shape, x.dtype())?, |result| {
        for (position, group) in groups.iter().enumerate() {
            if let Some(group) = group {
                let target = (group * x.len() + position) * size;
                result[target..target + size]
                    .copy_from_slice(&bytes[position * size..(position + 1) * size]);
            }
        }
        Ok(())
    })
}

/// The product of block-scaled operands, each first multiplied with its scale in `bf16`.
pub(in crate::eval) fn scaled_dot(
    operands: &[Tensor; 4],
    ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)): &((Dims, Dims), (Dims, Dims)),
    dtype: Option<DType>,
) -> Result<Tensor> {
    let [lhs, rhs, lhs_scale, rhs_scale] = operands;
    let scaled = |x: &Tensor, scale: &Tensor, contracted: &Dims| -> Result<Tensor> {
        let scale = repeat_blocks(scale, x.shape(), contracted)?;
        let narrow = |x| convert_element_type(x, DType::BF16);
        mul(&narrow(x)?, &narrow(&scale)?, None)
    };
    let numbers = DotDimensionNumbers {
        lhs_contracting: lhs_contracting.clone(),
        rhs_contracting: rhs_contracting.clone(),
        lhs_batch: lhs_batch.clone(),
        rhs_batch: rhs_batch.clone(),
    };
    dot_general(
        &scaled(lhs, lhs_scale, lhs_contracting)?,
        &scaled(rhs, rhs_scale, rhs_contracting)?,
        &numbers,
        Some(dtype.unwrap_or(DType::BF16)),
    )
}

/// Each element along the contracted axes repeated until the axis has the operand's length.
fn repeat_blocks(scale: &Tensor, shape: &[usize], contracted: &[usize]) -> Result<Tensor> {
    let misfit = || {
        Error::shape(format!(
            "scales {} do not fit an operand of shape {shape:?}",
            scale.aval()
        ))
    };
    if scale.shape().len() != shape.len() {
        return Err(misfit());
    }
    let (mut split, mut places) = (Shape::new(), Dims::new());
    for (axis, (&have, &want)) in scale.shape().iter().zip(shape).enumerate() {
        places.push(split.len());
        split.push(have);
        if contracted.contains(&axis) && have != want {
            let times = want.checked_div(have).filter(|times| times * have == want);
            split.push(times.ok_or_else(misfit)?);
        } else if have != want {
            return Err(misfit());
        }
    }
    broadcast_in_dim(scale, &split, &places)?.reshaped(shape)
}
