//! The distinct elements of an array.

use jaxide_core::{DType, Error};

use super::{positions, static_size};
use crate::array::{Array, Axes, Numbers, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::constant;
use crate::numpy::lookup::{differences, part, rows, set_at, set_from};
use crate::numpy::{any, cumsum, isnan, one_axis, position_type, sum, where_};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

options! {
    /// What [`unique`] and its relatives take beside the array; an axis alone is one too.
    pub struct Unique of axes {
        /// The axis whose slices are compared: all elements by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
        /// Whether NaN is equal to NaN: so by default.
        equal_nan: bool = true;
        /// How many there are in the result; needed where the elements have no values yet.
        size: Option<usize> = None, |size: usize| Some(size);
        /// What stands for those that are missing: the smallest by default.
        fill_value: Option<Array> = None, |value: impl Into<Array>| Some(value.into());
    }
}

/// What is asked for beside the values.
#[derive(Clone, Copy, Default)]
pub(super) struct Wanted {
    pub(super) index: bool,
    pub(super) inverse: bool,
    pub(super) counts: bool,
    pub(super) true_size: bool,
}

/// The distinct elements, sorted; of an axis, its distinct slices.
///
/// # Panics
/// When the axis is out of range, or the array is traced and no `size` is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([3, 1, 3]);
/// assert_eq!(numpy::unique(&x, ()).to_vec::<i32>(), [1, 3]);
/// let filled = numpy::Unique::new().size(3).fill_value(-1);
/// assert_eq!(numpy::unique(&x, filled).to_vec::<i32>(), [1, 3, -1]);
/// ```
#[track_caller]
pub fn unique(x: &Array, options: impl Into<Unique>) -> Array {
    let _named = crate::trace::named("unique");
    parts("unique", x, &options.into(), Wanted::default()).remove(0)
}

/// The distinct elements, the position of the first of each, for each element the position of its value among them, and how
/// often each is there: `unique` with `return_index`, `return_inverse` and `return_counts`.
///
/// # Panics
/// As [`unique`].
///
/// ```
/// use jaxide::{Array, numpy};
/// let (values, index, inverse, counts) = numpy::unique_returning(&Array::from([3, 1, 3]), ());
/// assert_eq!((values.to_vec::<i32>(), index.to_vec::<i32>()), (vec![1, 3], vec![1, 0]));
/// assert_eq!((inverse.to_vec::<i32>(), counts.to_vec::<i32>()), (vec![1, 0, 1], vec![1, 2]));
/// ```
#[track_caller]
pub fn unique_returning(x: &Array, options: impl Into<Unique>) -> (Array, Array, Array, Array) {
    let _named = crate::trace::named("unique_returning");
    let wanted = Wanted {
        index: true,
        inverse: true,
        counts: true,
        true_size: false,
    };
    let mut parts = parts("unique", x, &options.into(), wanted).into_iter();
    let mut next = || parts.next().expect("four results are asked for");
    (next(), next(), next(), next())
}

/// The options of the functions of the array API, for which NaN is never equal to NaN and there is no axis.
#[track_caller]
fn of_all(operation: &str, options: Unique) -> Unique {
    if options.axis.is_some() {
        raise(Error::parameter("it does not take `axis`").in_operation(operation));
    }
    options.equal_nan(false)
}

/// As [`unique_returning`], with each NaN distinct; without `axis`.
///
/// # Panics
/// As [`unique`].
#[track_caller]
pub fn unique_all(x: &Array, options: impl Into<Unique>) -> (Array, Array, Array, Array) {
    let _named = crate::trace::named("unique_all");
    unique_returning(x, of_all("unique_all", options.into()))
}

/// The distinct elements and how often each is there, with each NaN distinct; without `axis`.
///
/// # Panics
/// As [`unique`].
#[track_caller]
pub fn unique_counts(x: &Array, options: impl Into<Unique>) -> (Array, Array) {
    let _named = crate::trace::named("unique_counts");
    let options = of_all("unique_counts", options.into());
    let wanted = Wanted {
        counts: true,
        ..Wanted::default()
    };
    let mut parts = parts("unique_counts", x, &options, wanted);
    (parts.remove(0), parts.remove(0))
}

/// The distinct elements, and for each element the position of its value among them, with each NaN distinct; without `axis`.
///
/// # Panics
/// As [`unique`].
#[track_caller]
pub fn unique_inverse(x: &Array, options: impl Into<Unique>) -> (Array, Array) {
    let _named = crate::trace::named("unique_inverse");
    let options = of_all("unique_inverse", options.into());
    let wanted = Wanted {
        inverse: true,
        ..Wanted::default()
    };
    let mut parts = parts("unique_inverse", x, &options, wanted);
    (parts.remove(0), parts.remove(0))
}

/// The distinct elements, with each NaN distinct; without `axis`.
///
/// # Panics
/// As [`unique`].
#[track_caller]
pub fn unique_values(x: &Array, options: impl Into<Unique>) -> Array {
    let _named = crate::trace::named("unique_values");
    unique(x, of_all("unique_values", options.into()))
}

/// The distinct elements of an array and how often each is there, padded to a size.
#[track_caller]
pub(crate) fn unique_and_counts(x: &Array, size: usize) -> (Array, Array) {
    let wanted = Wanted {
        counts: true,
        ..Wanted::default()
    };
    let mut parts = parts("unique", x, &Unique::new().size(size), wanted);
    (parts.remove(0), parts.remove(0))
}

/// The distinct slices, and what else is wanted.
#[track_caller]
fn parts(operation: &str, x: &Array, options: &Unique, wanted: Wanted) -> Vec<Array> {
    let (flat, axis) = match one_axis(operation, options.axis.as_deref(), x.ndim()) {
        None => (lax::reshape(x, x.size()), 0),
        Some(axis) => (x.clone(), axis),
    };
    let mut parts = distinct(operation, &flat, axis, options, wanted);
    if wanted.inverse && options.axis.is_none() {
        let at = if wanted.index { 2 } else { 1 };
        parts[at] = lax::reshape(&parts[at], x.shape());
    }
    parts
}

/// The distinct slices along an axis, and what else is wanted.
#[track_caller]
pub(super) fn distinct(
    operation: &str,
    x: &Array,
    axis: usize,
    options: &Unique,
    wanted: Wanted,
) -> Vec<Array> {
    let index_type = position_type(x);
    if x.shape()[axis] == 0
        && options.size.is_some_and(|size| size > 0)
        && options.fill_value.is_none()
    {
        let error = format!("{} has no elements, and `fill_value` is needed", x.aval());
        raise(Error::parameter(error).in_operation(operation));
    }
    let [sorted, mask, order] = sorted_with_mask(x, axis, options.equal_nan);
    let empty = sorted.size() == 0;
    let size = static_size(operation, options.size, &mask);
    let index = positions(&mask, size, None);
    let mut result = if empty { sorted } else { rows(&sorted, &index) };
    if options.size.is_some()
        && let Some(fill) = &options.fill_value
    {
        let fill = as_dtype(fill, result.dtype(), false);
        if result.shape()[0] > 0 {
            let behind: Vec<usize> = (1..result.ndim()).collect();
            let valid = first(size, || sum(&mask, ()));
            result = where_(lax::expand_dims(&valid, &behind), &result, fill);
        } else {
            let mut shape = result.shape().to_vec();
            shape[0] = size;
            result = lax::full(&shape, fill, result.dtype());
        }
    }
    let mut parts = vec![with_first(&result, axis, true)];
    if wanted.index {
        parts.push(if empty {
            order.clone()
        } else {
            rows(&order, &index)
        });
    }
    if wanted.inverse {
        parts.push(if empty {
            lax::full(x.shape()[axis], 0, index_type)
        } else {
            let places = cumsum(&mask, 0);
            let places = lax::sub(&places, &constant(&places, 1));
            set_at(&lax::full(mask.shape(), 0, index_type), &order, &places)
        });
    }
    if wanted.counts {
        let length = x.shape()[axis];
        parts.push(if empty {
            lax::full(usize::from(length > 0), length, index_type)
        } else {
            let index = as_dtype(&positions(&mask, size + 1, None), index_type, false);
            let later = part(&index, 1, size + 1);
            let ends = where_(&later, part(&index, 1, size + 1), mask.size());
            differences(&set_from(&index, 1, &ends))
        });
    }
    if wanted.true_size {
        parts.push(sum(&mask, ()));
    }
    parts
}

/// Which of `size` places are among the first `count`, an `i32`.
#[track_caller]
pub(super) fn first(size: usize, count: impl FnOnce() -> Array) -> Array {
    let places = lax::iota(DType::I32, size, 0);
    lax::lt(&places, &count())
}

/// `x` with an axis moved to the front, or from there back.
#[track_caller]
fn with_first(x: &Array, axis: usize, back: bool) -> Array {
    let mut order: Vec<usize> = (0..x.ndim()).collect();
    if back {
        let first = order.remove(0);
        order.insert(axis, first);
    } else {
        let own = order.remove(axis);
        order.insert(0, own);
    }
    lax::transpose(x, &order)
}

/// The slices along an axis sorted, which of them differ from the one before, and where they were.
#[track_caller]
fn sorted_with_mask(x: &Array, axis: usize, equal_nan: bool) -> [Array; 3] {
    let key = format!("{axis} {equal_nan}");
    let mut parts = library_call("_unique_sorted_mask", &key, std::slice::from_ref(x), |x| {
        let mut slices = with_first(&x[0], axis, false);
        if slices.dtype().is_complex() {
            slices = where_(isnan(&slices), constant(&slices, f64::NAN), &slices);
        }
        let index_type = position_type(&slices);
        let width: usize = slices.shape()[1..].iter().product();
        let mut length = slices.shape()[0];
        let order = if width == 0 {
            length = length.min(1);
            lax::full(length, 0, index_type)
        } else {
            let keys = lax::reshape(&slices, [length, width]);
            let keys = lax::rev(&lax::transpose(&keys, ()), 0);
            lexicographic(&keys, index_type)
        };
        let slices = rows(&slices, &order);
        if slices.size() == 0 {
            let mask = lax::full(length, false, DType::Bool);
            return vec![slices, mask, order];
        }
        let ones = lax::full(length, true, DType::Bool);
        let (later, earlier) = (part(&slices, 1, length), part(&slices, 0, length - 1));
        let mut differ = lax::ne(&later, &earlier);
        if slices.dtype().is_inexact() && equal_nan {
            let both = lax::bitwise_and(&isnan(&later), &isnan(&earlier));
            differ = lax::bitwise_and(&differ, &lax::bitwise_not(&both));
        }
        let inner: Vec<usize> = (1..slices.ndim()).collect();
        let mask = set_from(&ones, 1, &any(&differ, inner));
        vec![slices, mask, order]
    });
    let mut next = || parts.remove(0);
    [next(), next(), next()]
}

/// The positions that sort by the rows of a matrix, the last row first.
#[track_caller]
fn lexicographic(keys: &Array, index_type: DType) -> Array {
    library("lexsort", "rows", [keys], |[keys]| {
        let positions = lax::iota(index_type, keys.shape()[1], 0);
        let mut operands = lax::unstack(keys, 0);
        operands.reverse();
        let count = operands.len();
        operands.push(positions);
        lax::sort(&operands, 0, count)[count].clone()
    })
}
