//! Indices as they are written: `idx![.., 1..-1; 2, None, &i]`.

use std::ops::{Range, RangeFrom, RangeFull, RangeInclusive, RangeTo, RangeToInclusive};

use crate::array::{Array, Integer};

/// What stands in one place of an index of several axes; [`idx!`](crate::idx) makes a list of them.
#[derive(Clone, Debug)]
pub enum Index {
    /// A range of an axis, or with a step every so-manieth element of it. Negative ends count from the end of the axis, a
    /// negative step goes backwards; what is left out is the end of the axis, or a step of 1.
    Slice {
        /// Where it begins.
        start: Option<i64>,
        /// Where it ends; that element is not in it.
        stop: Option<i64>,
        /// How far it goes from one element to the next.
        step: Option<i64>,
    },
    /// All axes that the others leave, whole: `...`.
    Ellipsis,
    /// A new axis of length 1: `None`.
    NewAxis,
    /// One element of an axis, which disappears; negative ones count from its end.
    Integer(i64),
    /// Integers: elements of one axis. Truth values: those elements of as many axes as the array has where it is true; which
    /// these are must be known while a program is traced.
    Array(Array),
}

/// A new axis of length 1 in an index, as `None` is.
#[allow(non_upper_case_globals)]
pub const newaxis: Index = Index::NewAxis;

impl Index {
    /// A slice with a step, of a range: what `range; step` is in [`idx!`](crate::idx).
    ///
    /// An index that is no slice stays what it is.
    #[must_use]
    pub fn with_step(self, step: impl Integer) -> Index {
        match self {
            Index::Slice { start, stop, .. } => Index::Slice {
                start,
                stop,
                step: Some(step.to_i64()),
            },
            other => other,
        }
    }

    fn slice(start: Option<i64>, stop: Option<i64>) -> Index {
        Index::Slice {
            start,
            stop,
            step: None,
        }
    }

    /// The end of a range whose last element is in it.
    fn behind(last: i64) -> Option<i64> {
        if last == -1 {
            None
        } else {
            Some(last.saturating_add(1))
        }
    }
}

impl<T: Into<Array>> From<T> for Index {
    fn from(array: T) -> Self {
        Index::Array(array.into())
    }
}

macro_rules! ranges {
    ($([$($generics:tt)*] $ty:ty, |$range:ident| $start:expr, $stop:expr;)*) => { $(
        impl<$($generics)*> From<$ty> for Index {
            fn from($range: $ty) -> Self {
                Index::slice($start, $stop)
            }
        }
    )* };
}

ranges! {
    [] RangeFull, |_range| None, None;
    [T: Integer] Range<T>, |range| Some(range.start.to_i64()), Some(range.end.to_i64());
    [T: Integer] RangeFrom<T>, |range| Some(range.start.to_i64()), None;
    [T: Integer] RangeTo<T>, |range| None, Some(range.end.to_i64());
    [T: Integer] RangeInclusive<T>, |range| Some(range.start().to_i64()), Index::behind(range.end().to_i64());
    [T: Integer] RangeToInclusive<T>, |range| None, Index::behind(range.end.to_i64());
}

/// The indices of several axes: what [`idx!`](crate::idx) makes.
#[derive(Clone, Debug)]
pub struct Indices(pub(super) Vec<Index>);

impl From<Vec<Index>> for Indices {
    fn from(indices: Vec<Index>) -> Self {
        Indices(indices)
    }
}

impl<const N: usize> From<[Index; N]> for Indices {
    fn from(indices: [Index; N]) -> Self {
        Indices(indices.into())
    }
}

/// What an array can be indexed with: an integer or an array for the first axis, or [`idx!`](crate::idx) for several.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an index",
    label = "an index is an integer, an array of integers or truth values, or `idx![...]`"
)]
pub trait AsIndices {
    /// The indices, axis by axis.
    fn indices(self) -> Indices;
}

impl<T: Into<Array>> AsIndices for T {
    fn indices(self) -> Indices {
        Indices(vec![Index::Array(self.into())])
    }
}

impl AsIndices for Indices {
    fn indices(self) -> Indices {
        self
    }
}

impl AsIndices for &Indices {
    fn indices(self) -> Indices {
        self.clone()
    }
}

/// An index of several axes that reads like NumPy's, for [`Array::index`](crate::Array::index) and
/// [`Array::at`](crate::Array::at).
///
/// | NumPy | here | |
/// |---|---|---|
/// | `i`, `-1` | `i`, `-1` | one element; the axis disappears |
/// | `a:b`, `a:`, `:b`, `:` | `a..b`, `a..`, `..b`, `..` | a range; negative ends count from the end of the axis |
/// | `a:b:s`, `::-1` | `a..b; s`, `..; -1` | with a step |
/// | `...` | `...` | all axes that are not mentioned |
/// | `None` | `None` | a new axis of length 1 |
/// | an array | `&i`, `[0, 2]` | elements of an axis, or where a mask is true |
///
/// Arrays of indices broadcast with one another, and the axes of what they broadcast to stand where the arrays stand; when
/// something stands between them, in front.
///
/// ```
/// use jaxide::prelude::*;
/// use jaxide::idx;
/// let x = Array::from([[1, 2, 3, 4], [5, 6, 7, 8], [9, 10, 11, 12]]);
/// assert_eq!(x.index(idx![.., -1]).to_vec::<i32>(), [4, 8, 12]);
/// assert_eq!(x.index(idx![1, ..; -2]).to_vec::<i32>(), [8, 6]);
/// assert_eq!(x.index(idx![..., None, 1..-1]).shape(), [3, 1, 2]);
/// let rows = Array::from([2, 0]);
/// assert_eq!(x.index(idx![&rows, [0, 1]]).to_vec::<i32>(), [9, 2]);
/// assert_eq!(x.index(idx![[true, false, true], 0]).to_vec::<i32>(), [1, 9]);
/// assert_eq!(x.at(idx![1.., ..2]).set(0).index(2).to_vec::<i32>(), [0, 0, 11, 12]);
/// ```
#[macro_export]
macro_rules! idx {
    (@slots [$($done:tt)*]) => {
        $crate::numpy::Indices::from({
            #[allow(clippy::reversed_empty_ranges)]
            let indices: ::std::vec::Vec<$crate::numpy::Index> = ::std::vec![$($done)*];
            indices
        })
    };
    (@slots [$($done:tt)*] ... $(, $($rest:tt)*)?) => {
        $crate::idx!(@slots [$($done)* $crate::numpy::Index::Ellipsis,] $($($rest)*)?)
    };
    (@slots [$($done:tt)*] None $(, $($rest:tt)*)?) => {
        $crate::idx!(@slots [$($done)* $crate::numpy::Index::NewAxis,] $($($rest)*)?)
    };
    (@slots [$($done:tt)*] $range:expr ; $step:expr $(, $($rest:tt)*)?) => {
        $crate::idx!(@slots [$($done)* $crate::numpy::Index::with_step(
            $crate::numpy::Index::from($range),
            $step,
        ),] $($($rest)*)?)
    };
    (@slots [$($done:tt)*] $index:expr $(, $($rest:tt)*)?) => {
        $crate::idx!(@slots [$($done)* $crate::numpy::Index::from($index),] $($($rest)*)?)
    };
    ($($slots:tt)*) => {
        $crate::idx!(@slots [] $($slots)*)
    };
}
