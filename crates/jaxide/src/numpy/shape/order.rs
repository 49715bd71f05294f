//! Elements in another order.

use jaxide_core::{DType, Error};
use smallvec::SmallVec;

use super::reshape::ravel;
use crate::array::{Array, Axes, Integer, Numbers, normalize_axis};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::broadcast_to;
use crate::numpy::nested::constant;
use crate::numpy::place::box_at;
use crate::numpy::remainder;
use crate::options::options;
use crate::trace::{library, raise};

/// The elements in reverse order along axes, along all with `()`.
///
/// # Panics
/// When an axis is out of range or named twice.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(numpy::flip(&x, ()).to_vec::<i32>(), [4, 3, 2, 1]);
/// assert_eq!(numpy::flip(&x, 1).to_vec::<i32>(), [2, 1, 4, 3]);
/// ```
#[track_caller]
pub fn flip(m: &Array, axis: impl Axes) -> Array {
    let _named = crate::trace::named("flip");
    flipped("flip", m, axis)
}

/// The columns in reverse order: the second axis.
///
/// # Panics
/// When there is no second axis.
#[track_caller]
pub fn fliplr(m: &Array) -> Array {
    let _named = crate::trace::named("fliplr");
    flipped("fliplr", m, 1)
}

/// The rows in reverse order: the first axis.
///
/// # Panics
/// When there is no axis.
#[track_caller]
pub fn flipud(m: &Array) -> Array {
    let _named = crate::trace::named("flipud");
    flipped("flipud", m, 0)
}

#[track_caller]
fn flipped(operation: &str, m: &Array, axis: impl Axes) -> Array {
    let axes = axis.axes(operation, m.ndim());
    library("_flip", &format!("{axes:?}"), [m], |[m]| lax::rev(m, &axes))
}

options! {
    /// What [`rot90`] takes beside the array; a number of turns alone is one too.
    pub struct Rot90 {
        /// How many quarter turns, from the first axis towards the second.
        k: i64 = 1, |k: impl Integer| k.to_i64();
        /// The plane.
        axes: (i64, i64) = (0, 1);
    }
}

alone!(Rot90, k: integers);

/// The array turned by quarter turns in the plane of two axes.
///
/// # Panics
/// When the axes are equal or out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(numpy::rot90(&x, ()).to_vec::<i32>(), [2, 4, 1, 3]);
/// assert_eq!(numpy::rot90(&x, 2).to_vec::<i32>(), [4, 3, 2, 1]);
/// ```
#[track_caller]
pub fn rot90(m: &Array, options: impl Into<Rot90>) -> Array {
    let _named = crate::trace::named("rot90");
    const OPERATION: &str = "rot90";
    let Rot90 { k, axes } = options.into();
    library(OPERATION, &format!("{k} {axes:?}"), [m], |[m]| {
        let first = normalize_axis(OPERATION, axes.0, m.ndim());
        let second = normalize_axis(OPERATION, axes.1, m.ndim());
        if first == second {
            raise(
                Error::parameter(format!("the axes {axes:?} are the same")).in_operation(OPERATION),
            );
        }
        match k.rem_euclid(4) {
            0 => m.clone(),
            1 => super::swapaxes(&flip(m, second), first, second),
            2 => flip(&flip(m, first), second),
            _ => flip(&super::swapaxes(m, first, second), second),
        }
    })
}

/// By how many places elements move: numbers, or an array that is known when the program runs.
#[derive(Clone)]
pub enum Shift {
    /// Known now: one for each axis, or one for all.
    Static(Numbers),
    /// A scalar or a vector.
    Dynamic(Array),
}

impl From<&Array> for Shift {
    fn from(shift: &Array) -> Self {
        Shift::Dynamic(shift.clone())
    }
}

impl From<Array> for Shift {
    fn from(shift: Array) -> Self {
        Shift::Dynamic(shift)
    }
}

impl<T: Integer, const N: usize> From<[T; N]> for Shift {
    fn from(shift: [T; N]) -> Self {
        Shift::Static(shift.iter().map(|n| n.to_i64()).collect())
    }
}

impl<T: Integer> From<&[T]> for Shift {
    fn from(shift: &[T]) -> Self {
        Shift::Static(shift.iter().map(|n| n.to_i64()).collect())
    }
}

macro_rules! shifts {
    ($($ty:ty)*) => { $(
        impl From<$ty> for Shift {
            fn from(shift: $ty) -> Self {
                Shift::Static(SmallVec::from_slice(&[shift.to_i64()]))
            }
        }
    )* };
}

shifts!(i8 i16 i32 i64 isize u8 u16 u32 u64 usize);

/// The elements moved along axes; what leaves at the end comes in at the beginning. With `()` the elements of all axes are moved
/// as if they were one vector.
///
/// # Panics
/// When an axis is out of range, or there are not as many shifts as axes.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(numpy::roll(&x, 1, ()).to_vec::<i32>(), [4, 1, 2, 3]);
/// assert_eq!(numpy::roll(&x, &Array::from(-1), 0).to_vec::<i32>(), [2, 3, 4, 1]);
/// ```
#[track_caller]
pub fn roll(a: &Array, shift: impl Into<Shift>, axis: impl Axes) -> Array {
    let _named = crate::trace::named("roll");
    let shift = shift.into();
    let Some(numbers) = axis.numbers() else {
        let rolled = rolled(&ravel(a, ()), &shift, &[0]);
        return lax::reshape(&rolled, a.shape());
    };
    let axes: Vec<usize> = numbers
        .iter()
        .map(|&axis| normalize_axis("roll", axis, a.ndim()))
        .collect();
    rolled(a, &shift, &axes)
}

#[track_caller]
fn rolled(a: &Array, shift: &Shift, axes: &[usize]) -> Array {
    match shift {
        Shift::Static(shift) => {
            let pairs = paired(shift, axes);
            let key = format!("{shift:?} {axes:?}");
            library("_roll_static", &key, [a], |[a]| {
                pairs
                    .into_iter()
                    .fold(a.clone(), |a, (shift, axis)| roll_static(&a, shift, axis))
            })
        }
        Shift::Dynamic(shift) => {
            if shift.ndim() > 1 || !shift.dtype().is_integer() {
                raise(
                    Error::parameter(format!("the shift is {}, no integers", shift.aval()))
                        .in_operation("roll"),
                );
            }
            library(
                "_roll_dynamic",
                &format!("{axes:?}"),
                [a, shift],
                |[a, shift]| roll_dynamic(a, shift, axes),
            )
        }
    }
}

/// Shifts with axes; one of either is for all of the others.
#[track_caller]
fn paired<T: Copy>(shift: &[T], axes: &[usize]) -> Vec<(T, usize)> {
    match (shift, axes) {
        ([shift], axes) => axes.iter().map(|&axis| (*shift, axis)).collect(),
        (shift, [axis]) => shift.iter().map(|&shift| (shift, *axis)).collect(),
        (shift, axes) if shift.len() == axes.len() => {
            shift.iter().copied().zip(axes.iter().copied()).collect()
        }
        _ => raise(
            Error::parameter(format!(
                "{} shifts are given for {} axes",
                shift.len(),
                axes.len()
            ))
            .in_operation("roll"),
        ),
    }
}

#[track_caller]
fn roll_static(a: &Array, shift: i64, axis: usize) -> Array {
    let length = a.shape()[axis];
    if length == 0 {
        return a.clone();
    }
    // Neither the length nor the remainder reaches the ends of `i64`.
    let start = (-shift.rem_euclid(length as i64)).rem_euclid(length as i64) as usize;
    let parts = [(start, length), (0, start)];
    let parts = parts.map(|(start, limit)| lax::slice_in_dim(a, start, limit, 1, axis));
    lax::concatenate(&parts, axis)
}

#[track_caller]
fn roll_dynamic(a: &Array, shift: &Array, axes: &[usize]) -> Array {
    let count = shift.size().max(axes.len());
    let shifts = lax::unstack(&broadcast_to(shift, [count]), 0);
    let pairs = paired(&(0..count).collect::<Vec<_>>(), axes);
    pairs.into_iter().fold(a.clone(), |a, (at, axis)| {
        let length = constant(a.shape()[axis], DType::I32);
        let modulus = lax::max(&length, &constant(1, DType::I32));
        let shift = remainder(
            &lax::convert_element_type(&shifts[at], DType::I32),
            &modulus,
        );
        let twice = lax::concatenate(&[a.clone(), a.clone()], axis);
        let start = lax::sub(&length, &shift);
        let negative = lax::lt(&start, &constant(0, DType::I32));
        let moved = lax::add(&start, &constant(2 * a.shape()[axis], DType::I32));
        let mut starts = vec![constant(0, DType::I32); a.ndim()];
        starts[axis] = lax::select(&negative, &moved, &start);
        box_at(&twice, &starts, a.shape())
    })
}
