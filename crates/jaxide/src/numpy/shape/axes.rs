//! Axes in another order.

use jaxide_core::Error;

use crate::array::{Array, Axes, Integer, normalize_axis};
use crate::lax;
use crate::numpy::alone::alone;
use crate::options::options;
use crate::trace::{library, raise};

/// The axes in another order; with `()` in reverse order.
///
/// # Panics
/// When `axes` does not name every axis once.
#[track_caller]
pub fn transpose(a: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("transpose");
    lax::transpose(a, axes)
}

/// The axes in another order.
///
/// # Panics
/// When `axes` does not name every axis once.
#[track_caller]
pub fn permute_dims(a: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("permute_dims");
    lax::transpose(a, axes)
}

/// The last two axes exchanged.
///
/// # Panics
/// When there are fewer.
#[track_caller]
pub fn matrix_transpose(x: &Array) -> Array {
    let _named = crate::trace::named("matrix_transpose");
    if x.ndim() < 2 {
        raise(
            Error::shape(format!("two axes are needed, and {} is given", x.aval()))
                .in_operation("matrix_transpose"),
        );
    }
    swapaxes(x, -1, -2)
}

/// Two axes exchanged.
///
/// # Panics
/// When an axis is out of range.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::zeros([2, 3, 4], DType::F32);
/// assert_eq!(numpy::swapaxes(&x, 0, -1).shape(), [4, 3, 2]);
/// ```
#[track_caller]
pub fn swapaxes(a: &Array, axis1: impl Integer, axis2: impl Integer) -> Array {
    let _named = crate::trace::named("swapaxes");
    let first = normalize_axis("swapaxes", axis1, a.ndim());
    let second = normalize_axis("swapaxes", axis2, a.ndim());
    let mut permutation: Vec<usize> = (0..a.ndim()).collect();
    permutation.swap(first, second);
    lax::transpose(a, &permutation)
}

/// Axes moved to other places; the rest keep their order.
///
/// # Panics
/// When there are not as many sources as destinations, or one is out of range or named twice.
///
/// ```
/// use jaxide::{Array, DType, numpy};
/// let x = Array::zeros([2, 3, 4], DType::F32);
/// assert_eq!(numpy::moveaxis(&x, 0, -1).shape(), [3, 4, 2]);
/// assert_eq!(numpy::moveaxis(&x, (0, 1), (-1, -2)).shape(), [4, 3, 2]);
/// ```
#[track_caller]
pub fn moveaxis(a: &Array, source: impl Axes, destination: impl Axes) -> Array {
    let _named = crate::trace::named("moveaxis");
    let source = source.axes("moveaxis", a.ndim());
    let destination = destination.axes("moveaxis", a.ndim());
    if source.len() != destination.len() {
        raise(
            Error::parameter(format!(
                "{} axes are to be moved to {} places",
                source.len(),
                destination.len()
            ))
            .in_operation("moveaxis"),
        );
    }
    let mut permutation: Vec<usize> = (0..a.ndim())
        .filter(|axis| !source.contains(axis))
        .collect();
    let mut moves: Vec<(usize, usize)> = destination.into_iter().zip(source).collect();
    moves.sort_unstable();
    for (place, axis) in moves {
        permutation.insert(place, axis);
    }
    lax::transpose(a, &permutation)
}

options! {
    /// What [`rollaxis`] takes beside the axis; a place alone is one too.
    pub struct Rollaxis {
        /// The axis in front of which it goes.
        start: i64 = 0, |start: impl Integer| start.to_i64();
    }
}

alone!(Rollaxis, start: integers);

/// An axis moved in front of another, by default in front of all. [`moveaxis`] says more clearly where to.
///
/// # Panics
/// When the axis or the place is out of range.
#[track_caller]
pub fn rollaxis(a: &Array, axis: impl Integer, options: impl Into<Rollaxis>) -> Array {
    let _named = crate::trace::named("rollaxis");
    let (axis, start) = (axis.to_i64(), options.into().start);
    library("rollaxis", &format!("{axis} {start}"), [a], |[a]| {
        let rank = a.ndim();
        let axis = normalize_axis("rollaxis", axis, rank);
        let start = if start == rank as i64 {
            rank
        } else {
            normalize_axis("rollaxis", start, rank)
        };
        moveaxis(a, axis, start - usize::from(start > axis))
    })
}
