//! The same elements under another shape.

use jaxide_core::prims::{self, Opaque};
use jaxide_core::{Dims, Error};

use crate::array::{Array, AsShape, Axes};
use crate::lax;
use crate::trace::{bind_one, library, raise};

/// In which order elements are read and placed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The last axis runs fastest, as in C.
    #[default]
    C,
    /// The first axis runs fastest, as in Fortran.
    F,
}

impl From<()> for Order {
    fn from((): ()) -> Self {
        Order::C
    }
}

/// The same elements under another shape; one length may be -1 and follows from the others.
///
/// # Panics
/// When the numbers of elements differ.
#[track_caller]
pub fn reshape(x: &Array, shape: impl AsShape) -> Array {
    let _named = crate::trace::named("reshape");
    lax::reshape(x, new_lengths(x, &shape))
}

/// The lengths that a shape means for the elements of `x`.
#[track_caller]
fn new_lengths(x: &Array, shape: &impl AsShape) -> Dims {
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
    numbers
        .iter()
        .map(|&length| usize::try_from(length).unwrap_or(x.size() / known.max(1)))
        .collect()
}

/// [`reshape`] with elements read and placed in an order.
///
/// # Panics
/// When the numbers of elements differ.
///
/// ```
/// use jaxide::{Array, numpy::{self, Order}};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(numpy::reshape_order(&x, 4, Order::F).to_vec::<i32>(), [1, 3, 2, 4]);
/// ```
#[track_caller]
pub fn reshape_order(x: &Array, shape: impl AsShape, order: impl Into<Order>) -> Array {
    let _named = crate::trace::named("reshape_order");
    match order.into() {
        Order::C => reshape(x, shape),
        Order::F => {
            let mut lengths = new_lengths(x, &shape);
            lengths.reverse();
            lax::transpose(&from_columns(x, lengths), ())
        }
    }
}

/// The elements, first axis fastest, under a shape.
#[track_caller]
fn from_columns(x: &Array, shape: Dims) -> Array {
    if x.ndim() < 2 {
        return lax::reshape(x, &shape);
    }
    let prim = prims::Reshape {
        dimensions: Some((0..x.ndim()).rev().collect()),
        new_sizes: shape,
        sharding: Opaque::none(),
    };
    bind_one(prim, std::slice::from_ref(x))
}

/// The elements as a vector.
///
/// # Panics
/// Never for arrays that exist.
#[track_caller]
pub fn ravel(x: &Array, order: impl Into<Order>) -> Array {
    let _named = crate::trace::named("ravel");
    match order.into() {
        Order::C => lax::reshape(x, [x.size()]),
        Order::F => from_columns(x, Dims::from_slice(&[x.size()])),
    }
}

/// `x` with new axes of length 1: those of the result that `axes` names.
///
/// # Panics
/// When an axis is out of range or named twice.
#[track_caller]
pub fn expand_dims(x: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("expand_dims");
    lax::expand_dims(x, axes)
}

/// `x` without axes of length 1: those that are named, or all with `()`.
///
/// # Panics
/// When such an axis is longer.
#[track_caller]
pub fn squeeze(x: &Array, axes: impl Axes) -> Array {
    let _named = crate::trace::named("squeeze");
    lax::squeeze(x, axes)
}

/// Arrays with as many axes as are needed, of length 1.
macro_rules! at_least {
    ($($(#[$doc:meta])* $name:ident |$x:ident| $expand:expr;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// Never for arrays that exist.
        #[track_caller]
        pub fn $name(x: &Array) -> Array {
            let _named = crate::trace::named(stringify!($name));
            library(stringify!($name), "", [x], |[$x]| $expand)
        }
    )* };
}

at_least! {
    /// `x`, a scalar as a vector of one element.
    atleast_1d |x| lax::expand_rank(x, 1);
    /// `x`, with axes of length 1 in front up to two.
    atleast_2d |x| lax::expand_rank(x, 2);
    /// `x`, with axes of length 1 up to three: a vector in the middle, a matrix in front.
    atleast_3d |x| match x.ndim() {
        0 => lax::expand_dims(x, [0, 1, 2]),
        1 => lax::expand_dims(x, [0, 2]),
        2 => lax::expand_dims(x, 2),
        _ => x.clone(),
    };
}

/// Number of axes.
#[must_use]
pub fn ndim(x: &Array) -> usize {
    x.ndim()
}

/// Lengths of the axes.
#[must_use]
pub fn shape(x: &Array) -> &[usize] {
    x.shape()
}

/// Number of elements, or the product of the lengths of some axes.
///
/// # Panics
/// When an axis is out of range or named twice.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2, 3], [4, 5, 6]]);
/// assert_eq!((numpy::size(&x, ()), numpy::size(&x, -1)), (6, 3));
/// ```
#[track_caller]
pub fn size(x: &Array, axes: impl Axes) -> usize {
    let _named = crate::trace::named("size");
    let axes = axes.axes("size", x.ndim());
    axes.iter().map(|&axis| x.shape()[axis]).product()
}

/// Whether an array is a scalar: has no axes.
#[must_use]
pub fn isscalar(x: &Array) -> bool {
    x.ndim() == 0
}
