//! Elements picked by a condition, or from several arrays.

use jaxide_core::{DType, Error, Tensor};

use super::at::IndexMode;
use super::gather::broadcast_arrays;
use super::gather::literal;
use super::index::{Index, Indices};
use super::nested::{clip, copied, ravel, sparse_indices, true_first};
use super::parse::truths;
use super::take::{check_integers, from_axis, optional_axis};
use crate::array::{Array, as_dtype, result_dtype};
use crate::lax;
use crate::numpy::{remainder, where_};
use crate::options::options;
use crate::trace::{OrRaise, raise};

options! {
    /// What [`choose`] takes beside the arrays.
    pub struct Choose {
        /// What becomes of numbers that are no array's: by default they are a mistake, and must be known;
        /// [`IndexMode::Clip`] or [`IndexMode::Wrap`].
        mode: IndexMode = IndexMode::Raise;
    }

    /// What [`compress`] takes beside the arrays; an axis alone is one too.
    pub struct Compress {
        /// The axis; by default the array is read as one axis in row-major order.
        axis: Option<i64> = None, |axis: impl Into<Option<i64>>| axis.into();
        /// How many slices there are, which must be known: by default as many as the condition is true for.
        size: Option<usize> = None, |size: usize| Some(size);
        /// What stands for slices that are missing; 0 by default.
        fill_value: Array = Array::from(0), |value: impl Into<Array>| value.into();
    }

    /// What [`extract`] takes beside the arrays.
    pub struct Extract {
        /// How many elements there are, which must be known: by default as many as the condition is true for.
        size: Option<usize> = None, |size: usize| Some(size);
        /// What stands for elements that are missing; 0 by default.
        fill_value: Array = Array::from(0), |value: impl Into<Array>| value.into();
    }
}

from_axis!(Compress);

impl From<IndexMode> for Choose {
    fn from(mode: IndexMode) -> Self {
        Choose::new().mode(mode)
    }
}

/// Elements of several arrays: that of the array whose number `a` has there. All broadcast with one another.
///
/// # Panics
/// When `a` are not integers, there are no arrays, shapes do not broadcast, or with the mode [`IndexMode::Raise`] a number is no
/// array's, or not known.
///
/// ```
/// use jaxide::{Array, numpy};
/// let choices = [Array::from([1, 2, 3]), Array::from(99)];
/// assert_eq!(numpy::choose(&Array::from([0, 1, 0]), &choices, ()).to_vec::<i32>(), [1, 99, 3]);
/// ```
#[track_caller]
pub fn choose(a: &Array, choices: &[Array], options: impl Into<Choose>) -> Array {
    let _named = crate::trace::named("choose");
    const OPERATION: &str = "choose";
    check_integers(OPERATION, a);
    if choices.is_empty() {
        raise(Error::parameter("there are no arrays to choose from").in_operation(OPERATION));
    }
    let count = choices.len() as i64;
    let which = match options.into().mode {
        IndexMode::Raise => {
            within(OPERATION, a, choices.len());
            a.clone()
        }
        IndexMode::Clip => clip(a, 0, count - 1),
        IndexMode::Wrap => remainder(a, &literal(count, DType::I32, true)),
        other => other.refused(OPERATION),
    };
    let mut all = vec![which];
    all.extend_from_slice(choices);
    let all = broadcast_arrays(OPERATION, &all);
    let (dtype, weak) = result_dtype(OPERATION, &choices.iter().collect::<Vec<_>>());
    let rows: Vec<Array> = all[1..]
        .iter()
        .map(|x| lax::expand_dims(&as_dtype(x, dtype, weak), 0))
        .collect();
    let table = match &rows[..] {
        [one] => one.clone(),
        several => lax::concatenate(several, 0),
    };
    let mut places = vec![all[0].clone()];
    places.extend(sparse_indices(all[0].shape()));
    let places: Vec<Index> = places.into_iter().map(Index::Array).collect();
    table.index(Indices::from(places))
}

/// Indices must be known, and lie in an axis.
#[track_caller]
pub(super) fn within(operation: &str, indices: &Array, length: usize) {
    let value = indices.value();
    let outside = (0..value.len()).find(|&at| {
        let index = value
            .scalar_at(at)
            .and_then(jaxide_core::Scalar::as_integer);
        !index.is_some_and(|index| (0..length as i128).contains(&index))
    });
    if let Some(at) = outside {
        let index = value.scalar_at(at).map(|index| index.to_string());
        raise(
            Error::parameter(format!(
                "{} is not below {length}",
                index.unwrap_or_default()
            ))
            .in_operation(operation),
        );
    }
}

/// The slices of `x` along an axis for which `condition`, a vector, is true; one that is shorter is false for the rest.
///
/// # Panics
/// When `condition` is no vector or is true behind the end, there is no such axis, or without a size it is not known.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4], [5, 6]]);
/// let rows = numpy::compress(&Array::from([false, true, true]), &x, 0);
/// assert_eq!(rows.to_vec::<i32>(), [3, 4, 5, 6]);
/// ```
#[track_caller]
pub fn compress(condition: &Array, x: &Array, options: impl Into<Compress>) -> Array {
    let _named = crate::trace::named("compress");
    compressed("compress", condition, x, &options.into())
}

#[track_caller]
fn compressed(operation: &str, condition: &Array, x: &Array, options: &Compress) -> Array {
    let condition = as_dtype(condition, DType::Bool, false);
    if condition.ndim() != 1 {
        raise(
            Error::shape(format!(
                "a condition is a vector, and {} is given",
                condition.aval()
            ))
            .in_operation(operation),
        );
    }
    let axis = optional_axis(operation, options.axis, x.ndim());
    let x = match axis {
        None => ravel(x),
        Some(axis) => moved(x, axis, 0),
    };
    let length = x.shape()[0];
    let Some(size) = options.size else {
        let taken = where_true(operation, &condition, &x);
        return moved(&taken, 0, axis.unwrap_or(0));
    };
    // What is behind the end does not count.
    condition.index(crate::idx![length..]);
    let condition = condition.index(crate::idx![..length]);
    let x = x.index(crate::idx![..condition.size()]);
    if size > x.shape()[0] {
        raise(
            Error::parameter(format!("{size} slices are asked for, of {}", x.shape()[0]))
                .in_operation(operation),
        );
    }
    let others: Vec<usize> = (1..x.ndim()).collect();
    let mask = lax::expand_dims(&condition, &others);
    let x = where_(&mask, &x, &copied(&options.fill_value, x.dtype()));
    let taken = x.index(true_first(&condition)).index(crate::idx![..size]);
    moved(&taken, 0, axis.unwrap_or(0))
}

/// The slices along the first axis for which a condition that is known is true.
#[track_caller]
fn where_true(operation: &str, condition: &Array, x: &Array) -> Array {
    let truths = truths(operation, condition);
    let length = x.shape()[0].min(truths.len());
    let (within, behind) = truths.split_at(length);
    if behind.contains(&true) {
        raise(Error::parameter("the condition is true behind the end").in_operation(operation));
    }
    let bytes: Vec<u8> = within.iter().map(|&truth| truth.into()).collect();
    let mask = Tensor::from_bytes(&[length], DType::Bool, &bytes).or_raise();
    x.index(crate::idx![..length]).index(Array::from(mask))
}

/// `x` with one axis at another place.
#[track_caller]
fn moved(x: &Array, from: usize, to: usize) -> Array {
    let mut order: Vec<usize> = (0..x.ndim()).filter(|&axis| axis != from).collect();
    order.insert(to, from);
    lax::transpose(x, &order)
}

/// The elements of `x` where `condition` is true, in row-major order.
///
/// # Panics
/// When `condition` is true behind the end of `x`, or without a size it is not known.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(numpy::extract(&x.gt(2), &x, ()).to_vec::<i32>(), [3, 4]);
/// ```
#[track_caller]
pub fn extract(condition: &Array, x: &Array, options: impl Into<Extract>) -> Array {
    let _named = crate::trace::named("extract");
    let Extract { size, fill_value } = options.into();
    let options = Compress {
        axis: None,
        size,
        fill_value,
    };
    compressed("extract", &ravel(condition), &ravel(x), &options)
}

impl Array {
    /// Elements of several arrays: see [`numpy::choose`](crate::numpy::choose).
    ///
    /// # Panics
    /// As that does.
    #[track_caller]
    pub fn choose(&self, choices: &[Array], options: impl Into<Choose>) -> Array {
        choose(self, choices, options)
    }

    /// The slices for which a condition is true: see [`numpy::compress`](crate::numpy::compress).
    ///
    /// # Panics
    /// As that does.
    #[track_caller]
    pub fn compress(&self, condition: &Array, options: impl Into<Compress>) -> Array {
        compress(condition, self, options)
    }
}
