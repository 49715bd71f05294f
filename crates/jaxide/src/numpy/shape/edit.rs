//! Elements put in and taken out.

use std::ops::Range;

use jaxide_core::{DType, Error};

use super::axes::moveaxis;
use super::join::{AxisOrNone, Flat, concatenate};
use super::reshape::ravel;
use crate::array::{Array, Axes, Integer, Numbers, as_dtype, normalize_axis};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::nested::constant;
use crate::numpy::place::{Way, cut, elements_at, nonzero_of, with_elements};
use crate::numpy::where_;
use crate::numpy::{self, Like};
use crate::numpy::{argsort, clip, sort};
use crate::options::options;
use crate::trace::{OrRaise, raise};

/// Places along an axis: an index, a range, or an array of indices or truth values.
#[derive(Clone)]
pub enum Places {
    /// One; negative ones count from the end.
    Index(i64),
    /// From `start` to before `stop`, `step` apart, as far as they are on the axis.
    Range {
        /// The first.
        start: i64,
        /// Before which they end.
        stop: i64,
        /// How far apart they are.
        step: i64,
    },
    /// Indices, or a truth value for each element.
    Array(Array),
}

impl<T: Integer> From<T> for Places {
    fn from(index: T) -> Self {
        Places::Index(index.to_i64())
    }
}

impl<T: Integer> From<Range<T>> for Places {
    fn from(range: Range<T>) -> Self {
        Places::Range {
            start: range.start.to_i64(),
            stop: range.end.to_i64(),
            step: 1,
        }
    }
}

impl From<Array> for Places {
    fn from(places: Array) -> Self {
        Places::Array(places)
    }
}

impl From<&Array> for Places {
    fn from(places: &Array) -> Self {
        Places::Array(places.clone())
    }
}

impl<const N: usize> From<[i32; N]> for Places {
    fn from(places: [i32; N]) -> Self {
        Places::Array(Array::from(places))
    }
}

impl<const N: usize> From<[bool; N]> for Places {
    fn from(places: [bool; N]) -> Self {
        Places::Array(Array::from(places))
    }
}

/// The indices of a range that are on an axis.
fn on_axis(start: i64, stop: i64, step: i64, length: usize) -> Option<(usize, usize, usize)> {
    let step = usize::try_from(step).ok().filter(|&step| step > 0)?;
    let length = length as i64;
    let place = |place: i64| {
        if place < 0 {
            place.saturating_add(length)
        } else {
            place
        }
    };
    let start = place(start).clamp(0, length) as usize;
    let stop = place(stop).clamp(0, length) as usize;
    Some((start, stop.max(start), step))
}

/// The array and the axis: vectors of the elements where no axis is given.
#[track_caller]
fn along(operation: &str, arr: &Array, axis: Option<i64>) -> (Array, usize) {
    match axis {
        Some(axis) => (arr.clone(), normalize_axis(operation, axis, arr.ndim())),
        None => (ravel(arr, ()), 0),
    }
}

options! {
    /// What [`delete`] takes beside the array and the places; an axis alone is one too.
    pub struct Delete {
        /// The axis; `None`, the default, is that of the vector of the elements.
        axis: Option<i64> = None, |axis: impl Into<AxisOrNone>| axis.into().0;
        /// Whether no index is there twice, so that indices need no values while tracing.
        assume_unique_indices: bool = false;
    }
}

alone!(Delete, axis: integers);

/// `arr` without the slices at places of an axis.
///
/// # Panics
/// When a place is not on the axis, or indices have no values and are not said to be unique.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(numpy::delete(&x, 1, ()).to_vec::<i32>(), [1, 3, 4]);
/// assert_eq!(numpy::delete(&x, [0, -1], ()).to_vec::<i32>(), [2, 3]);
/// assert_eq!(numpy::delete(&x, 1..3, 0).to_vec::<i32>(), [1, 4]);
/// ```
#[track_caller]
pub fn delete(arr: &Array, obj: impl Into<Places>, options: impl Into<Delete>) -> Array {
    let _named = crate::trace::named("delete");
    const OPERATION: &str = "delete";
    let Delete {
        axis,
        assume_unique_indices,
    } = options.into();
    let (a, axis) = along(OPERATION, arr, axis);
    let length = a.shape()[axis];
    let mistake = |text: String| raise(Error::parameter(text).in_operation(OPERATION));
    let places = match obj.into() {
        Places::Index(index) => {
            let from_front = if index < 0 {
                index.saturating_add(length as i64)
            } else {
                index
            };
            let Some(at) = usize::try_from(from_front).ok().filter(|&at| at < length) else {
                mistake(format!(
                    "there is no element {index} on an axis of {length}"
                ))
            };
            let parts = [cut(&a, axis, 0, at), cut(&a, axis, at + 1, length)];
            return concatenate(&parts, axis);
        }
        Places::Range { start, stop, step } => {
            let Some((start, stop, step)) = on_axis(start, stop, step, length) else {
                mistake(format!("a step of {step} leads nowhere"))
            };
            let all = lax::iota(DType::I32, &[length], 0);
            let strides = (step > 1).then_some([step]);
            let places = if (start, stop, step) == (0, length, 1) {
                all
            } else {
                lax::slice(
                    &all,
                    [start],
                    [stop],
                    strides.as_ref().map(|strides| &strides[..]),
                )
            };
            return without(&a, &places, axis);
        }
        Places::Array(places) => places,
    };
    if places.dtype().is_integer() && assume_unique_indices {
        return without(&a, &ravel(&places, ()), axis);
    }
    let value = places.try_value().map_err(|error| {
        error
            .in_operation(OPERATION)
            .note("indices that are traced may be said to be unique")
    });
    let value = value.or_raise();
    let mut kept = vec![true; length];
    if places.dtype() == DType::Bool {
        if places.shape() != [length] {
            mistake(format!(
                "{} is no truth value for each of {length}",
                places.aval()
            ));
        }
        for (kept, &deleted) in kept.iter_mut().zip(value.bytes()) {
            *kept = deleted == 0;
        }
    } else if places.dtype().is_integer() {
        for at in 0..value.len() {
            let index = value
                .scalar_at(at)
                .and_then(|scalar| scalar.as_integer())
                .unwrap_or(0);
            let from_front = if index < 0 {
                index + length as i128
            } else {
                index
            };
            match usize::try_from(from_front).ok().filter(|&at| at < length) {
                Some(at) => kept[at] = false,
                None => mistake(format!(
                    "there is no element {index} on an axis of {length}"
                )),
            }
        }
    } else {
        mistake(format!(
            "places are integers or truth values, and {} is given",
            places.aval()
        ));
    }
    let kept: Vec<i32> = (0..)
        .zip(kept)
        .filter_map(|(at, kept)| kept.then_some(at))
        .collect();
    elements_at(&a, axis, &[&Array::from(kept)])
}

/// `a` without the slices at different indices.
#[track_caller]
fn without(a: &Array, places: &Array, axis: usize) -> Array {
    let (length, dtype) = (a.shape()[axis], places.dtype());
    let negative = lax::lt(places, &constant(0, dtype));
    let moved = lax::add(places, &constant(length, dtype));
    let places = where_(&negative, &moved, places);
    let places = clip(&places, &Array::from(0), &Array::from(length));
    let places = sort(&places, ());
    let before = lax::iota(dtype, &[places.size()], 0);
    let places = lax::sub(&places, &before);
    let kept = lax::iota(dtype, &[length.saturating_sub(places.size())], 0);
    let row = lax::expand_dims(&kept, 0);
    let column = lax::expand_dims(&places, 1);
    let reached = lax::convert_element_type(&numpy::greater_equal(&row, &column), DType::I32);
    let reached = as_dtype(&reached, dtype, false);
    let kept = lax::add(&kept, &lax::reduce_sum(&reached, 0));
    elements_at(a, axis, &[&kept])
}

/// `arr` with `values` before places of an axis.
///
/// # Panics
/// When places are not integers, or there are not as many values as places.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3]);
/// assert_eq!(numpy::insert(&x, 1, 9, ()).to_vec::<i32>(), [1, 9, 2, 3]);
/// assert_eq!(numpy::insert(&x, [0, 3], [8, 9], 0).to_vec::<i32>(), [8, 1, 2, 3, 9]);
/// ```
#[track_caller]
pub fn insert(
    arr: &Array,
    obj: impl Into<Places>,
    values: impl Into<Array>,
    options: impl Into<Flat>,
) -> Array {
    let _named = crate::trace::named("insert");
    const OPERATION: &str = "insert";
    let (a, axis) = along(OPERATION, arr, options.into().axis);
    let length = a.shape()[axis];
    let mistake = |text: String| raise(Error::parameter(text).in_operation(OPERATION));
    let mut places = match obj.into() {
        Places::Index(index) => Array::from(index),
        Places::Range { start, stop, step } => match on_axis(start, stop, step, length) {
            Some((start, stop, step)) => numpy::arange((start, stop, step), DType::I32),
            None => mistake(format!("a step of {step} leads nowhere")),
        },
        Places::Array(places) => places,
    };
    let mut values = lax::expand_rank(&as_dtype(&values.into(), a.dtype(), false), a.ndim());
    if places.ndim() > 1 || !places.dtype().is_integer() {
        mistake(format!(
            "places are a vector of integers, and {} is given",
            places.aval()
        ));
    }
    if places.size() == 1 {
        let index = lax::squeeze(&lax::reshape(&places, [1]), 0);
        if places.ndim() == 0 {
            values = moveaxis(&values, 0, axis);
        }
        places = lax::broadcast_in_dim(&index, [values.shape()[axis]], &[]);
    }
    let counts = [places.shape(), &[values.shape()[axis]]];
    let added = super::common_shape(OPERATION, &counts)[0];
    let mut shape = a.shape().to_vec();
    shape[axis] += added;
    let out = numpy::zeros_like(&a, Like::new().shape(&shape));
    let negative = lax::lt(&places, &Array::from(0));
    let moved = lax::add(&places, &Array::from(length));
    let places = where_(&negative, &moved, &places);
    let places = clip(&places, &Array::from(0), &Array::from(length));
    let order = argsort(&places, ());
    let further = lax::iota(places.dtype(), &[added], 0);
    let places = with_elements(&places, 0, &[&order], &further, Way::Add);
    let old = lax::full([length + added], true, DType::Bool);
    let old = with_elements(&old, 0, &[&places], &Array::from(false), Way::Set);
    let old = lax::nonzero(&old, length, &[]).swap_remove(0);
    let out = with_elements(&out, axis, &[&places], &values, Way::Set);
    with_elements(&out, axis, &[&old], &a, Way::Set)
}

/// At which ends [`trim_zeros`] cuts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trim {
    /// In front.
    Front,
    /// Behind.
    Back,
    /// At both ends.
    Both,
}

options! {
    /// What [`trim_zeros`] takes beside the array; the ends alone are one too.
    pub struct TrimZeros {
        /// At which ends.
        trim: Trim = Trim::Both;
        /// The axes, all by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
    }
}

alone!(TrimZeros, trim: Trim);

/// `filt` without what is zero at its ends.
///
/// # Panics
/// When the elements have no values yet, inside a trace: the shape depends on them.
///
/// ```
/// use jaxide::{Array, numpy::{self, Trim}};
/// let x = Array::from([0, 0, 1, 0, 2, 0]);
/// assert_eq!(numpy::trim_zeros(&x, ()).to_vec::<i32>(), [1, 0, 2]);
/// assert_eq!(numpy::trim_zeros(&x, Trim::Front).to_vec::<i32>(), [1, 0, 2, 0]);
/// ```
#[track_caller]
pub fn trim_zeros(filt: &Array, options: impl Into<TrimZeros>) -> Array {
    let _named = crate::trace::named("trim_zeros");
    const OPERATION: &str = "trim_zeros";
    let TrimZeros { trim, axis } = options.into();
    let value = filt
        .try_value()
        .map_err(|error| error.in_operation(OPERATION));
    let nonzero = nonzero_of(&value.or_raise());
    let axes = match axis {
        Some(numbers) => numbers.to_vec().axes(OPERATION, filt.ndim()),
        None => (0..filt.ndim()).collect(),
    };
    axes.into_iter().fold(filt.clone(), |x, axis| {
        let behind: usize = filt.shape()[axis + 1..].iter().product();
        let mut used = vec![false; filt.shape()[axis]];
        for (at, _) in nonzero.iter().enumerate().filter(|(_, nonzero)| **nonzero) {
            let place = at / behind % used.len();
            used[place] = true;
        }
        let (Some(first), Some(last)) = (
            used.iter().position(|&on| on),
            used.iter().rposition(|&on| on),
        ) else {
            return cut(&x, axis, 0, 0);
        };
        let start = if trim == Trim::Back { 0 } else { first };
        let limit = if trim == Trim::Front {
            used.len()
        } else {
            last + 1
        };
        cut(&x, axis, start, limit)
    })
}
