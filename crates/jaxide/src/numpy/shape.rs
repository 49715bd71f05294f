//! Shapes.

use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims, Error};

use crate::array::{Array, AsShape, Axes, Integer, lengths, promote_dtypes};
use crate::lax;
use crate::trace::{library, raise};

pub(crate) use crate::array::normalize_axis;

/// The shape that all shapes broadcast to.
///
/// # Panics
/// When there is none.
#[track_caller]
pub(crate) fn broadcast_shapes(operation: &str, shapes: &[&[usize]]) -> Vec<usize> {
    let rank = shapes.iter().map(|shape| shape.len()).max().unwrap_or(0);
    let mut out = vec![1; rank];
    for shape in shapes {
        for (axis, &length) in shape.iter().rev().enumerate() {
            let slot = &mut out[rank - 1 - axis];
            if *slot == 1 {
                *slot = length;
            } else if length != 1 && length != *slot {
                raise(
                    Error::shape(format!("shapes {shapes:?} do not broadcast"))
                        .in_operation(operation),
                );
            }
        }
    }
    out
}

/// Operands must have shapes that broadcast.
///
/// # Panics
/// When they do not: the types are named.
#[track_caller]
pub(crate) fn check_broadcast(operation: &str, operands: &[&Array]) {
    let shapes = operands.iter().map(|x| x.shape());
    let rank = shapes.clone().map(<[usize]>::len).max().unwrap_or(0);
    for axis in 0..rank {
        let mut length = 1;
        for shape in shapes.clone() {
            let own = shape.len().checked_sub(axis + 1).map_or(1, |at| shape[at]);
            if own != 1 && length != 1 && own != length {
                let types: Vec<String> = operands.iter().map(|x| x.aval().to_string()).collect();
                raise(
                    Error::shape(format!("operands of incompatible shapes: {}", types.join(" and ")))
                        .in_operation(operation)
                        .note("axes are compared from the last one; lengths must be equal, or one of them 1"),
                );
            }
            if length == 1 {
                length = own;
            }
        }
    }
}

/// A shape must broadcast to another without making it larger.
///
/// # Panics
/// When it does not.
#[track_caller]
pub(crate) fn check_broadcast_to(operation: &str, shape: &[usize], wanted: &[usize]) {
    let fits = shape.len() <= wanted.len()
        && shape
            .iter()
            .rev()
            .zip(wanted.iter().rev())
            .all(|(&own, &length)| own == 1 || own == length);
    if !fits {
        raise(
            Error::shape(format!("{shape:?} does not broadcast to {wanted:?}"))
                .in_operation(operation),
        );
    }
}

/// `x` repeated to a shape: axes are added in front, and axes of length 1 repeated.
///
/// # Panics
/// When `x` does not broadcast to it.
#[track_caller]
pub fn broadcast_to(x: &Array, shape: impl AsShape) -> Array {
    let shape = lengths("broadcast_to", &shape);
    broadcast_to_lengths(x, &shape)
}

#[track_caller]
fn broadcast_to_lengths(x: &Array, shape: &[usize]) -> Array {
    if x.shape() == shape {
        return x.clone();
    }
    let Some(missing) = shape.len().checked_sub(x.ndim()) else {
        raise(
            Error::shape(format!("{} does not broadcast to {shape:?}", x.aval()))
                .in_operation("broadcast_to"),
        )
    };
    let units: Vec<usize> = (0..x.ndim())
        .filter(|&axis| x.shape()[axis] == 1 && shape[missing + axis] != 1)
        .collect();
    let kept: Vec<usize> = (0..x.ndim())
        .filter(|axis| !units.contains(axis))
        .map(|axis| axis + missing)
        .collect();
    lax::broadcast_in_dim(&lax::squeeze(x, &units), shape, &kept)
}

/// The same elements under another shape; one length may be -1 and follows from the others.
///
/// # Panics
/// When the numbers of elements differ.
#[track_caller]
pub fn reshape(x: &Array, shape: impl AsShape) -> Array {
    let numbers = shape.lengths();
    let free = numbers.iter().filter(|&&length| length == -1).count();
    let lengths = numbers.iter().filter(|&&length| length != -1);
    let lengths: Option<Dims> = lengths
        .map(|&length| usize::try_from(length).ok())
        .collect();
    let known = lengths.and_then(|lengths| {
        lengths
            .iter()
            .try_fold(1usize, |product, &length| product.checked_mul(length))
    });
    let Some(known) = known.filter(|&known| match free {
        // That sizes differ is for the primitive to say.
        0 => true,
        1 => known != 0 && x.size().is_multiple_of(known),
        _ => false,
    }) else {
        raise(
            Error::shape(format!("{} cannot take the shape {numbers:?}", x.aval()))
                .in_operation("reshape"),
        );
    };
    let shape: Dims = numbers
        .iter()
        .map(|&length| usize::try_from(length).unwrap_or(x.size() / known.max(1)))
        .collect();
    lax::reshape(x, &shape)
}

/// The product of vectors, matrices and stacks of matrices, as `@` in Python.
///
/// # Panics
/// When lengths do not fit, or an operand is a scalar.
#[track_caller]
pub fn matmul(x: &Array, y: &Array) -> Array {
    let [x, y] = promote_dtypes("matmul", [x, y]);
    if x.ndim() == 0 || y.ndim() == 0 {
        raise(
            Error::shape(format!(
                "operands must have an axis, and are {} and {}",
                x.aval(),
                y.aval()
            ))
            .in_operation("matmul"),
        );
    }
    let contract_y = y.ndim().saturating_sub(2);
    let contract_x = x.ndim() - 1;
    if x.shape()[contract_x] != y.shape()[contract_y] {
        raise(
            Error::shape(format!(
                "the last axis of {} and axis {contract_y} of {} have different lengths",
                x.aval(),
                y.aval()
            ))
            .in_operation("matmul"),
        );
    }
    let (x_batch, y_batch) = (x.ndim().saturating_sub(2), y.ndim().saturating_sub(2));
    let batch = broadcast_shapes("matmul", &[&x.shape()[..x_batch], &y.shape()[..y_batch]]);
    let preferred = Some(x.dtype());
    if batch.is_empty() || x_batch == 0 || y_batch == 0 {
        let numbers = DotDimensionNumbers {
            lhs_contracting: Dims::from_slice(&[contract_x]),
            rhs_contracting: Dims::from_slice(&[contract_y]),
            ..Default::default()
        };
        let product = lax::dot_general(&x, &y, numbers, None, preferred);
        if x_batch > 0 || y_batch == 0 || x.ndim() == 1 {
            return product;
        }
        // The rows of `x` come first and belong before the last axis.
        let mut permutation: Vec<usize> = (1..product.ndim()).collect();
        permutation.insert(y_batch, 0);
        return lax::transpose(&product, &permutation);
    }
    let spread = |x: &Array, rank: usize| {
        let mut shape = batch.clone();
        shape.extend_from_slice(&x.shape()[rank..]);
        broadcast_to(x, &shape)
    };
    let (x, y) = (spread(&x, x_batch), spread(&y, y_batch));
    let axes: Dims = (0..batch.len()).collect();
    let numbers = DotDimensionNumbers {
        lhs_contracting: Dims::from_slice(&[x.ndim() - 1]),
        rhs_contracting: Dims::from_slice(&[batch.len()]),
        lhs_batch: axes.clone(),
        rhs_batch: axes,
    };
    lax::dot_general(&x, &y, numbers, None, preferred)
}

/// Arrays joined along a new axis.
///
/// # Panics
/// When shapes differ, or there are no arrays.
#[track_caller]
pub fn stack(arrays: &[Array], axis: impl Integer) -> Array {
    let rank = arrays.first().map_or(0, Array::ndim);
    lax::stack(arrays, normalize_axis("stack", axis, rank + 1))
}

/// Arrays joined along an axis.
///
/// # Panics
/// When other axes differ, or there are no arrays.
#[track_caller]
pub fn concatenate(arrays: &[Array], axis: impl Integer) -> Array {
    let rank = arrays.first().map_or(0, Array::ndim);
    lax::concatenate(arrays, normalize_axis("concatenate", axis, rank))
}

/// `x` with new axes of length 1: those of the result that `axes` names.
///
/// # Panics
/// When an axis is out of range or named twice.
#[track_caller]
pub fn expand_dims(x: &Array, axes: impl Axes) -> Array {
    lax::expand_dims(x, axes)
}

/// One row per number: `dtype` ones where the column is the number, zeros elsewhere.
///
/// # Panics
/// When `x` is not an integer array.
#[track_caller]
pub fn one_hot(x: &Array, classes: usize, dtype: DType) -> Array {
    library("_one_hot", &format!("{classes} {dtype}"), [x], |[x]| {
        let last = x.ndim();
        let mut shape = vec![1; last];
        shape.push(classes);
        let x = lax::expand_dims(x, &[last]);
        let columns = lax::iota(x.dtype(), &shape, last);
        lax::convert_element_type(&super::equal(&x, &columns), dtype)
    })
}
