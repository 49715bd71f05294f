//! Where elements are not zero.

use jaxide_core::{DType, Error, Scalar};

use super::gather::literal;
use super::nested::{at_least, ravel};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::reductions::position_type;
use crate::options::options;
use crate::trace::raise;

options! {
    /// What [`nonzero`], [`flatnonzero`] and [`argwhere`] take beside the array.
    pub struct Nonzero {
        /// How many there are, which must be known while a program is traced: by default as many as there are.
        size: Option<usize> = None, |size: usize| Some(size);
        /// What stands for indices that are missing, 0 by default: an integer, or one for each axis.
        fill_value: Option<Array> = None, |value: impl Into<Array>| Some(value.into());
    }
}

/// The indices of the elements that are not zero, in row-major order, an array for each axis: `where` of NumPy with one
/// argument. They are `i32`, and `i64` of elements of 64 bits.
///
/// # Panics
/// When `x` has no axes, the fill value is neither an integer nor one for each axis, or without a size the elements are not
/// known.
///
/// ```
/// use jaxide::{Array, numpy::{self, Nonzero}};
/// let x = Array::from([[0, 5, 0], [6, 0, 7]]);
/// let found = numpy::nonzero(&x, ());
/// assert_eq!(found[0].to_vec::<i32>(), [0, 1, 1]);
/// assert_eq!(x.index(numpy::Indices::from([(&found[0]).into(), (&found[1]).into()])).to_vec::<i32>(), [5, 6, 7]);
/// let four = numpy::flatnonzero(&x, Nonzero::new().size(4).fill_value(-1));
/// assert_eq!(four.to_vec::<i32>(), [1, 3, 5, -1]);
/// ```
#[track_caller]
pub fn nonzero(x: &Array, options: impl Into<Nonzero>) -> Vec<Array> {
    let _named = crate::trace::named("nonzero");
    found("nonzero", x, &options.into())
}

#[track_caller]
fn found(operation: &str, x: &Array, options: &Nonzero) -> Vec<Array> {
    if x.ndim() == 0 {
        raise(Error::shape(format!("{} has no axes", x.aval())).in_operation(operation));
    }
    let fill: Vec<Array> = match &options.fill_value {
        None => Vec::new(),
        Some(fill) if !fill.dtype().is_integer() => raise(
            Error::dtype(format!(
                "indices are integers, and {} stands for missing ones",
                fill.aval()
            ))
            .in_operation(operation),
        ),
        Some(fill) if fill.ndim() == 0 => vec![fill.clone(); x.ndim()],
        Some(fill) if fill.shape() == [x.ndim()] => elements(fill),
        Some(fill) => raise(
            Error::shape(format!(
                "{} has {} axes, and {} stands for missing indices",
                x.aval(),
                x.ndim(),
                fill.aval()
            ))
            .in_operation(operation),
        ),
    };
    let size = match options.size {
        Some(size) => size,
        None => count(operation, x),
    };
    let dtype = position_type(x);
    let fill: Vec<Array> = fill
        .iter()
        .map(|fill| as_dtype(fill, dtype, false))
        .collect();
    lax::nonzero_as(x, size, &fill, dtype)
}

/// The elements of a vector, which must be known.
#[track_caller]
fn elements(x: &Array) -> Vec<Array> {
    let value = x.value();
    let number =
        |scalar: Scalar| literal(scalar.as_integer().unwrap_or(0) as i64, DType::I32, false);
    (0..value.len())
        .filter_map(|at| value.scalar_at(at))
        .map(number)
        .collect()
}

/// How many elements are not zero.
#[track_caller]
fn count(operation: &str, x: &Array) -> usize {
    match x.try_value() {
        Ok(value) => (0..value.len())
            .filter(|&at| {
                value
                    .scalar_at(at)
                    .is_some_and(|x| x.as_complex() != (0.0, 0.0))
            })
            .count(),
        Err(error) => raise(
            error
                .in_operation(operation)
                .note("how many indices there are must be known: give a size"),
        ),
    }
}

/// The indices in row-major order of the elements that are not zero.
///
/// # Panics
/// As [`nonzero`] does; an array without axes has one element.
#[track_caller]
pub fn flatnonzero(x: &Array, options: impl Into<Nonzero>) -> Array {
    let _named = crate::trace::named("flatnonzero");
    let mut options = options.into();
    if options.size.is_none() {
        options.size = Some(count("flatnonzero", x));
    }
    found("flatnonzero", &ravel(x), &options).swap_remove(0)
}

/// The indices of the elements that are not zero, a row for each.
///
/// # Panics
/// As [`nonzero`] does.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 0, 2], [0, 3, 0]]);
/// assert_eq!(numpy::argwhere(&x, ()).to_vec::<i32>(), [0, 0, 0, 2, 1, 1]);
/// ```
#[track_caller]
pub fn argwhere(x: &Array, options: impl Into<Nonzero>) -> Array {
    let _named = crate::trace::named("argwhere");
    let mut options = options.into();
    if options.size.is_none() {
        options.size = Some(count("argwhere", x));
    }
    let found = found("argwhere", &at_least(x, 1), &options);
    let mut rows = Vec::with_capacity(found.len());
    for row in &found {
        rows.push(at_least(row, 2));
    }
    let rows = match &rows[..] {
        [one] => one.clone(),
        several => lax::concatenate(several, 0),
    };
    let result = lax::transpose(&rows, ());
    if x.ndim() > 0 {
        return result;
    }
    lax::reshape(&result.index(crate::idx![..0]), [result.shape()[0], 0])
}

impl Array {
    /// The indices of the elements that are not zero: see [`numpy::nonzero`](crate::numpy::nonzero).
    ///
    /// # Panics
    /// As that does.
    #[track_caller]
    pub fn nonzero(&self, options: impl Into<Nonzero>) -> Vec<Array> {
        nonzero(self, options)
    }
}
