//! Shapes.

use jaxide_core::{DType, Dims, Error};

use crate::array::{Array, AsShape, Axes, Integer, as_dtype, check_number, lengths, result_dtype};
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
    let places: Vec<usize> = (missing..shape.len()).collect();
    lax::broadcast_in_dim(x, shape, &places)
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

/// Arrays with their common element type.
#[track_caller]
fn of_one_dtype(operation: &str, arrays: &[Array]) -> Vec<Array> {
    if arrays.is_empty() {
        return Vec::new();
    }
    let (dtype, weak) = result_dtype(operation, &arrays.iter().collect::<Vec<_>>());
    for x in arrays {
        check_number(operation, x, dtype);
    }
    arrays.iter().map(|x| as_dtype(x, dtype, weak)).collect()
}

/// Arrays joined along a new axis.
///
/// # Panics
/// When shapes differ, or there are no arrays.
#[track_caller]
pub fn stack(arrays: &[Array], axis: impl Integer) -> Array {
    let rank = arrays.first().map_or(0, Array::ndim);
    let arrays = &of_one_dtype("stack", arrays);
    lax::stack(arrays, normalize_axis("stack", axis, rank + 1))
}

/// Arrays joined along an axis.
///
/// # Panics
/// When other axes differ, or there are no arrays.
#[track_caller]
pub fn concatenate(arrays: &[Array], axis: impl Integer) -> Array {
    let rank = arrays.first().map_or(0, Array::ndim);
    let arrays = &of_one_dtype("concatenate", arrays);
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
