//! Broadcasting.

use jaxide_core::Error;

use crate::array::{Array, AsShape, lengths};
use crate::lax;
use crate::trace::raise;

/// The shape that all shapes broadcast to.
///
/// # Panics
/// When there is none.
#[track_caller]
pub(crate) fn common_shape(operation: &str, shapes: &[&[usize]]) -> Vec<usize> {
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
    let _named = crate::trace::named("broadcast_to");
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

/// Arrays repeated to one shape: that which all broadcast to.
///
/// # Panics
/// When there is none.
///
/// ```
/// use jaxide::{Array, numpy};
/// let both = numpy::broadcast_arrays(&[Array::from([1, 2]), Array::from([[3], [4]])]);
/// assert_eq!((both[0].shape(), both[1].to_vec::<i32>()), (&[2, 2][..], vec![3, 3, 4, 4]));
/// ```
#[track_caller]
pub fn broadcast_arrays(arrays: &[Array]) -> Vec<Array> {
    let _named = crate::trace::named("broadcast_arrays");
    let shapes: Vec<&[usize]> = arrays.iter().map(Array::shape).collect();
    let shape = common_shape("broadcast_arrays", &shapes);
    arrays.iter().map(|x| broadcast_to(x, &shape)).collect()
}
