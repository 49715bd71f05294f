//! Elements over and over.

use jaxide_core::{DType, Dims, Error, Tensor};

use super::join::AxisOrNone;
use super::order::roll;
use super::reshape::ravel;
use crate::array::{Array, AsShape, Integer, lengths, normalize_axis};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::cumsum;
use crate::numpy::nested::constant;
use crate::numpy::place::{Way, cut, with_elements, with_range};
use crate::numpy::{broadcast_to, take, zeros_like};
use crate::options::options;
use crate::trace::{OrRaise, library, raise};

/// `a` as often as `reps` says along each axis, the last ones; where there are more of them, axes are added in front.
///
/// # Panics
/// When a number is negative.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1, 2]);
/// assert_eq!(numpy::tile(&x, 2).to_vec::<i32>(), [1, 2, 1, 2]);
/// assert_eq!(numpy::tile(&x, [2, 1]).shape(), [2, 2]);
/// ```
#[track_caller]
pub fn tile(a: &Array, reps: impl AsShape) -> Array {
    let _named = crate::trace::named("tile");
    let given = lengths("tile", &reps);
    let missing = a.ndim().saturating_sub(given.len());
    let reps: Dims = std::iter::repeat_n(1, missing).chain(given).collect();
    let a = if a.ndim() < reps.len() {
        lax::expand_rank(a, reps.len())
    } else {
        a.clone()
    };
    lax::tile(&a, &reps)
}

/// How often elements are repeated: a number for all, or an array with a number for each.
#[derive(Clone)]
pub enum Repeats {
    /// All as often.
    Count(i64),
    /// Each as often as it says.
    Each(Array),
}

impl<T: Integer> From<T> for Repeats {
    fn from(count: T) -> Self {
        Repeats::Count(count.to_i64())
    }
}

impl From<&Array> for Repeats {
    fn from(repeats: &Array) -> Self {
        Repeats::Each(repeats.clone())
    }
}

impl From<Array> for Repeats {
    fn from(repeats: Array) -> Self {
        Repeats::Each(repeats)
    }
}

impl<const N: usize> From<[i32; N]> for Repeats {
    fn from(repeats: [i32; N]) -> Self {
        Repeats::Each(Array::from(repeats))
    }
}

options! {
    /// What [`repeat`] takes beside the array and the numbers; an axis alone is one too.
    pub struct Repeat {
        /// The axis; `None`, the default, is that of the vector of the elements.
        axis: Option<i64> = None, |axis: impl Into<AxisOrNone>| axis.into().0;
        /// The length of the result along the axis, needed where the numbers have no values while tracing.
        total_repeat_length: Option<usize> = None, |length: impl Into<Option<usize>>| length.into();
    }
}

alone!(Repeat, axis: integers);

/// Each element several times, one after the other, along an axis.
///
/// # Panics
/// When there are not as many numbers as elements, or they have no values and no total length is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([3, 4]);
/// assert_eq!(numpy::repeat(&x, 2, ()).to_vec::<i32>(), [3, 3, 4, 4]);
/// assert_eq!(numpy::repeat(&x, [1, 2], 0).to_vec::<i32>(), [3, 4, 4]);
/// ```
#[track_caller]
pub fn repeat(a: &Array, repeats: impl Into<Repeats>, options: impl Into<Repeat>) -> Array {
    let _named = crate::trace::named("repeat");
    const OPERATION: &str = "repeat";
    let options = options.into();
    let (a, axis) = match options.axis {
        Some(axis) => (a.clone(), axis),
        None => (ravel(a, ()), 0),
    };
    let axis = normalize_axis(OPERATION, axis, a.ndim());
    let length = a.shape()[axis];
    let mistake = |text: String| raise(Error::parameter(text).in_operation(OPERATION));
    let repeats = match (repeats.into(), options.total_repeat_length) {
        (Repeats::Count(count), None) => {
            let Ok(count) = usize::try_from(count) else {
                mistake(format!("{count} repetitions are asked for"))
            };
            return repeat_each(&a, count, axis);
        }
        (Repeats::Count(count), Some(_)) => constant(count, DType::I32),
        (Repeats::Each(repeats), _) => repeats,
    };
    if !repeats.dtype().is_integer() {
        mistake(format!(
            "integers are needed, and {} is given",
            repeats.aval()
        ));
    }
    let repeats = broadcast_to(&ravel(&repeats, ()), [length]);
    let total = options.total_repeat_length.unwrap_or_else(|| {
        let value = repeats
            .try_value()
            .map_err(|error| error.in_operation(OPERATION));
        let value = value.or_raise();
        let counts = (0..value.len()).filter_map(|at| value.scalar_at(at)?.as_integer());
        let counts = counts
            .map(|count| usize::try_from(count).ok())
            .collect::<Option<Vec<_>>>();
        match counts {
            Some(counts) => counts.iter().sum(),
            None => mistake("a number of repetitions is negative".to_owned()),
        }
    });
    if total == 0 {
        let mut shape = a.shape().to_vec();
        shape[axis] = 0;
        let none = Tensor::from_bytes(&[0], a.dtype(), &[]).or_raise();
        return lax::reshape(&Array::from(none), &shape);
    }
    if length == 0 {
        return a;
    }
    // Where an element begins, one is added to the number of the element.
    let before = with_range(
        &roll(&repeats, 1, 0),
        0,
        &constant(0, repeats.dtype()),
        Way::Set,
    );
    let starts = cumsum(&before, 0);
    let steps = lax::full([total], 0, DType::I32);
    let steps = with_elements(&steps, 0, &[&starts], &Array::from(1), Way::Add);
    let element = lax::sub(&cumsum(&steps, 0), &constant(1, DType::I32));
    take(&a, &element, axis)
}

/// Every element `count` times.
#[track_caller]
pub(super) fn repeat_each(a: &Array, count: usize, axis: usize) -> Array {
    let (mut shape, mut repeated) = (a.shape().to_vec(), a.shape().to_vec());
    shape[axis] = shape[axis].saturating_mul(count);
    repeated.insert(axis + 1, count);
    let kept: Vec<usize> = (0..repeated.len()).filter(|&own| own != axis + 1).collect();
    lax::reshape(&lax::broadcast_in_dim(a, &repeated, &kept), &shape)
}

/// The elements in order, over and over, as many as `new_shape` holds. Of no elements, zeros.
///
/// # Panics
/// When a length is negative.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = numpy::resize(&Array::from([1, 2, 3]), [2, 2]);
/// assert_eq!(x.to_vec::<i32>(), [1, 2, 3, 1]);
/// ```
#[track_caller]
pub fn resize(a: &Array, new_shape: impl AsShape) -> Array {
    let _named = crate::trace::named("resize");
    let shape = lengths("resize", &new_shape);
    library("resize", &format!("{shape:?}"), [a], |[a]| {
        let flat = ravel(a, ());
        let size: usize = shape.iter().product();
        if flat.size() == 0 || size == 0 {
            return zeros_like(&flat, crate::numpy::Like::new().shape(&shape));
        }
        let tiled = lax::tile(&flat, [size.div_ceil(flat.size())]);
        lax::reshape(&cut(&tiled, 0, 0, size), &shape)
    })
}
