//! Elements replaced at places in row-major order.

use jaxide_core::Error;

use super::at::{IndexMode, Options};
use super::find::{Nonzero, nonzero};
use super::gather::literal;
use super::grids::{diag_indices, unravel_index};
use super::index::{Index, Indices};
use super::nested::{clip, ravel, tiled};
use super::take::check_integers;
use super::write::{Update, write};
use crate::array::Array;
use crate::lax;
use crate::numpy::remainder;
use crate::options::options;
use crate::trace::raise;

options! {
    /// What [`put`] takes beside the arrays.
    pub struct Put {
        /// What becomes of indices out of bounds: they are dropped by default; [`IndexMode::Clip`] or [`IndexMode::Wrap`].
        mode: Option<IndexMode> = None, |mode: IndexMode| Some(mode);
    }
}

impl From<IndexMode> for Put {
    fn from(mode: IndexMode) -> Self {
        Put::new().mode(mode)
    }
}

/// `x` with the elements at indices in row-major order replaced; `v` is repeated as often as needed.
///
/// # Panics
/// When `ind` are not integers, or the mode is none of those.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[0, 0, 0], [0, 0, 0]]);
/// assert_eq!(numpy::put(&x, [0, 4], [10, 20], ()).to_vec::<i32>(), [10, 0, 0, 0, 20, 0]);
/// ```
#[track_caller]
pub fn put(
    x: &Array,
    ind: impl Into<Array>,
    v: impl Into<Array>,
    options: impl Into<Put>,
) -> Array {
    let _named = crate::trace::named("put");
    const OPERATION: &str = "put";
    let (ind, v) = (ind.into(), v.into());
    check_integers(OPERATION, &ind);
    let (ind, v) = (ravel(&ind), ravel(&v));
    if x.size() == 0 || ind.size() == 0 || v.size() == 0 {
        return x.clone();
    }
    let v = tiled(&v, ind.size());
    let (ind, mode) = match options.into().mode {
        None => (ind, IndexMode::Drop),
        Some(IndexMode::Clip) => (
            clip(&ind, 0, x.size() as i64 - 1),
            IndexMode::PromiseInBounds,
        ),
        Some(IndexMode::Wrap) => {
            let size = literal(x.size() as i64, jaxide_core::DType::I32, true);
            (remainder(&ind, &size), IndexMode::PromiseInBounds)
        }
        Some(other) => other.refused(OPERATION),
    };
    let places: Vec<Index> = unravel_index(&ind, x.shape())
        .into_iter()
        .map(Index::Array)
        .collect();
    set(OPERATION, x, places, &v, Some(mode))
}

#[track_caller]
fn set(
    operation: &str,
    x: &Array,
    places: Vec<Index>,
    values: &Array,
    mode: Option<IndexMode>,
) -> Array {
    let how = Options {
        mode,
        ..Options::default()
    };
    write(
        operation,
        x,
        &Indices::from(places),
        Update::Set,
        values,
        how,
    )
}

/// `x` with the elements where `mask` is true replaced by `vals`, one after another in row-major order; they are repeated as
/// often as needed.
///
/// # Panics
/// When `mask` has another number of elements than `x`, or `vals` has none.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([0, 0, 0, 0]);
/// let y = numpy::place(&x, &Array::from([true, false, true, true]), [1, 2]);
/// assert_eq!(y.to_vec::<i32>(), [1, 0, 2, 1]);
/// ```
#[track_caller]
pub fn place(x: &Array, mask: &Array, vals: impl Into<Array>) -> Array {
    let _named = crate::trace::named("place");
    const OPERATION: &str = "place";
    let vals = ravel(&vals.into());
    if mask.size() != x.size() || vals.size() == 0 {
        raise(
            Error::shape(format!(
                "values {} are placed in {} where {} is true",
                vals.aval(),
                x.aval(),
                mask.aval()
            ))
            .in_operation(OPERATION)
            .note("the mask must have as many elements as the array, and there must be a value"),
        );
    }
    if x.size() == 0 {
        return x.clone();
    }
    let size = mask.size();
    let found = nonzero(
        &ravel(mask),
        Nonzero::new().size(size).fill_value(size as i64),
    );
    let vals = tiled(&vals, size);
    let places = found.into_iter().map(Index::Array).collect();
    let written = set(OPERATION, &ravel(x), places, &vals, Some(IndexMode::Drop));
    lax::reshape(&written, x.shape())
}

/// `x` with its diagonal replaced: elements whose indices along all axes are equal, as many as the shortest axis of a
/// matrix has. `val` is a number, or repeated as often as needed.
///
/// # Panics
/// When there are fewer than two axes, or more whose lengths differ.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1, 2], [3, 4]]);
/// assert_eq!(numpy::fill_diagonal(&x, 0).to_vec::<i32>(), [0, 2, 3, 0]);
/// ```
#[track_caller]
pub fn fill_diagonal(x: &Array, val: impl Into<Array>) -> Array {
    let _named = crate::trace::named("fill_diagonal");
    const OPERATION: &str = "fill_diagonal";
    let val = val.into();
    let shape = x.shape();
    if shape.len() < 2 || (shape.len() > 2 && shape.iter().any(|&length| length != shape[0])) {
        raise(Error::shape(format!("{} has no diagonal", x.aval())).in_operation(OPERATION));
    }
    let n = shape.iter().copied().min().unwrap_or(0);
    let places = diag_indices(n, shape.len())
        .into_iter()
        .map(Index::Array)
        .collect();
    let val = if val.ndim() == 0 {
        val
    } else {
        tiled(&ravel(&val), n)
    };
    set(OPERATION, x, places, &val, None)
}
