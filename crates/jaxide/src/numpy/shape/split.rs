//! Arrays cut into parts.

use jaxide_core::{Dims, Error};

use crate::array::{Array, Integer, normalize_axis};
use crate::lax;
use crate::numpy::alone::alone;
use crate::options::options;
use crate::trace::raise;

/// Into how many equal parts, or at which places, an array is cut.
#[derive(Clone, Debug)]
pub enum Sections {
    /// So many parts.
    Count(i64),
    /// Before these places; negative ones count from the end.
    At(Vec<i64>),
}

impl<T: Integer> From<T> for Sections {
    fn from(count: T) -> Self {
        Sections::Count(count.to_i64())
    }
}

impl<T: Integer, const N: usize> From<[T; N]> for Sections {
    fn from(places: [T; N]) -> Self {
        Sections::At(places.map(Integer::to_i64).to_vec())
    }
}

impl<T: Integer> From<&[T]> for Sections {
    fn from(places: &[T]) -> Self {
        Sections::At(places.iter().map(|place| place.to_i64()).collect())
    }
}

impl<T: Integer> From<Vec<T>> for Sections {
    fn from(places: Vec<T>) -> Self {
        Sections::from(&places[..])
    }
}

options! {
    /// What functions of one axis take, which is the first by default; an axis alone is one too.
    pub struct Along {
        /// The axis.
        axis: i64 = 0, |axis: impl Integer| axis.to_i64();
    }
}

alone!(Along, axis: integers);

impl Sections {
    /// The lengths of the parts of an axis of a length.
    #[track_caller]
    fn lengths(&self, operation: &str, length: usize) -> Dims {
        let mistake = |text: String| raise(Error::parameter(text).in_operation(operation));
        match self {
            Sections::Count(count) => {
                let Some(count) = usize::try_from(*count).ok().filter(|&count| count > 0) else {
                    mistake(format!("{count} parts are asked for"))
                };
                let rest = length % count;
                if rest != 0 && operation != "array_split" {
                    mistake(format!("{length} elements have no {count} equal parts"));
                }
                (0..count)
                    .map(|part| length / count + usize::from(part < rest))
                    .collect()
            }
            Sections::At(places) => {
                let length = length as i64;
                let place = |&place: &i64| {
                    let from_front = if place < 0 {
                        place.saturating_add(length)
                    } else {
                        place
                    };
                    from_front.clamp(0, length)
                };
                let places: Vec<i64> = [0]
                    .into_iter()
                    .chain(places.iter().map(place))
                    .chain([length])
                    .collect();
                let lengths: Option<Dims> = places
                    .windows(2)
                    .map(|pair| usize::try_from(pair[1] - pair[0]).ok())
                    .collect();
                lengths.unwrap_or_else(|| mistake(format!("the places {places:?} decrease")))
            }
        }
    }
}

#[track_caller]
fn parts(operation: &str, x: &Array, sections: &Sections, axis: i64) -> Vec<Array> {
    let axis = normalize_axis(operation, axis, x.ndim());
    let lengths = sections.lengths(operation, x.shape()[axis]);
    lax::split(x, &lengths, axis)
}

/// Parts of an array along an axis, by default the first: so many of equal length, or cut at places.
///
/// # Panics
/// When there are no equal parts, or the axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(numpy::split(&x, 2, ())[1].to_vec::<i32>(), [3, 4]);
/// assert_eq!(numpy::split(&x, [1, 3], 0)[1].to_vec::<i32>(), [2, 3]);
/// ```
#[track_caller]
pub fn split(
    ary: &Array,
    indices_or_sections: impl Into<Sections>,
    options: impl Into<Along>,
) -> Vec<Array> {
    let _named = crate::trace::named("split");
    parts(
        "split",
        ary,
        &indices_or_sections.into(),
        options.into().axis,
    )
}

/// [`split`] into parts of which the first may be longer by one element.
///
/// # Panics
/// When no parts are asked for, or the axis is out of range.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2, 3, 4]);
/// assert_eq!(numpy::array_split(&x, 3, ())[0].to_vec::<i32>(), [1, 2]);
/// ```
#[track_caller]
pub fn array_split(
    ary: &Array,
    indices_or_sections: impl Into<Sections>,
    options: impl Into<Along>,
) -> Vec<Array> {
    let _named = crate::trace::named("array_split");
    parts(
        "array_split",
        ary,
        &indices_or_sections.into(),
        options.into().axis,
    )
}

/// [`split`] along the first axis.
///
/// # Panics
/// As [`split`].
#[track_caller]
pub fn vsplit(ary: &Array, indices_or_sections: impl Into<Sections>) -> Vec<Array> {
    let _named = crate::trace::named("vsplit");
    parts("vsplit", ary, &indices_or_sections.into(), 0)
}

/// [`split`] along the second axis, of a vector along its only one.
///
/// # Panics
/// As [`split`].
#[track_caller]
pub fn hsplit(ary: &Array, indices_or_sections: impl Into<Sections>) -> Vec<Array> {
    let _named = crate::trace::named("hsplit");
    parts(
        "hsplit",
        ary,
        &indices_or_sections.into(),
        i64::from(ary.ndim() != 1),
    )
}

/// [`split`] along the third axis.
///
/// # Panics
/// As [`split`].
#[track_caller]
pub fn dsplit(ary: &Array, indices_or_sections: impl Into<Sections>) -> Vec<Array> {
    let _named = crate::trace::named("dsplit");
    parts("dsplit", ary, &indices_or_sections.into(), 2)
}

/// The slices along an axis, by default the first, which disappears.
///
/// # Panics
/// When the axis is out of range.
#[track_caller]
pub fn unstack(x: &Array, options: impl Into<Along>) -> Vec<Array> {
    let _named = crate::trace::named("unstack");
    lax::unstack(x, normalize_axis("unstack", options.into().axis, x.ndim()))
}
