//! What is in both sets, in one, or in either.

use jaxide_core::prims::SearchSide;
use jaxide_core::{DType, Error};

use super::unique::{Unique, Wanted, distinct, first};
use super::{positions, static_size};
use crate::array::{Array, as_dtype, promote_dtypes};
use crate::lax;
use crate::numpy::arithmetic::constant;
use crate::numpy::lookup::{element, from_front, part, rows, rows_or};
use crate::numpy::{
    all, any, concatenate, equal, max, min, not_equal, position_type, sort, sum, where_,
};
use crate::options::options;
use crate::trace::library::{library_call, library_with};
use crate::trace::{library, raise};

options! {
    /// What [`isin`] takes beside the arrays.
    pub struct IsIn {
        /// Whether both arrays are sets already, which changes nothing of the result.
        assume_unique: bool = false;
        /// Whether elements that are not found are meant.
        invert: bool = false;
        /// How elements are found.
        method: Finding = Finding::CompareAll;
    }

    /// What operations on sets take beside the arrays.
    pub struct Sets {
        /// Whether both arrays are sets already.
        assume_unique: bool = false;
        /// The length of the result; needed where the elements have no values yet.
        size: Option<usize> = None, |size: usize| Some(size);
        /// What stands for elements that are missing to that.
        fill_value: Option<Array> = None, |value: impl Into<Array>| Some(value.into());
    }
}

/// How [`isin`] finds elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// All elements are compared with all others.
    CompareAll,
    /// The others are sorted, and searched.
    BinarySearch,
}

#[track_caller]
fn flat(x: &Array) -> Array {
    lax::reshape(x, x.size())
}

/// Whether each element is among `test_elements`.
///
/// # Panics
/// When there is no common element type.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::isin(&Array::from([1, 2, 3]), [3, 1], ()).to_bools(), [true, false, true]);
/// ```
#[track_caller]
pub fn isin(x: &Array, test_elements: impl Into<Array>, options: impl Into<IsIn>) -> Array {
    let _named = crate::trace::named("isin");
    let IsIn { invert, method, .. } = options.into();
    let found = in_flat(x, &test_elements.into(), invert, method);
    lax::reshape(&found, x.shape())
}

#[track_caller]
fn in_flat(x: &Array, others: &Array, invert: bool, method: Finding) -> Array {
    library(
        "_in1d",
        &format!("{invert} {method:?}"),
        [x, others],
        |operands| {
            let [x, others] = promote_dtypes("isin", operands);
            let (x, others) = (flat(&x), flat(&others));
            if x.size() == 0 || others.size() == 0 {
                return lax::full(x.shape(), invert, DType::Bool);
            }
            if method == Finding::CompareAll {
                let (x, others) = (lax::expand_dims(&x, &[1]), lax::expand_dims(&others, &[0]));
                return if invert {
                    all(&not_equal(&x, &others), -1)
                } else {
                    any(&equal(&x, &others), -1)
                };
            }
            let others = lax::sort(&[others], 0, 1).remove(0);
            let place = lax::searchsorted(&others, &x, SearchSide::Left);
            let place = lax::min(&place, &constant(&place, others.size() - 1));
            let found = rows(&others, &place);
            if invert {
                lax::ne(&x, &found)
            } else {
                lax::eq(&x, &found)
            }
        },
    )
}

/// The distinct elements of both arrays, sorted.
///
/// # Panics
/// When there is no common element type, `assume_unique` is given, or arrays are traced and no `size` is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::union1d(&Array::from([3, 1]), &Array::from([3, 2]), ()).to_vec::<i32>(), [1, 2, 3]);
/// ```
#[track_caller]
pub fn union1d(x: &Array, y: &Array, options: impl Into<Sets>) -> Array {
    let _named = crate::trace::named("union1d");
    let options = options.into();
    if options.assume_unique {
        raise(Error::parameter("it does not take `assume_unique`").in_operation("union1d"));
    }
    let joined = concatenate(&[flat(x), flat(y)], 0);
    let own = Unique {
        size: options.size,
        fill_value: options.fill_value,
        ..Unique::new()
    };
    distinct("union1d", &joined, 0, &own, Wanted::default()).remove(0)
}

/// The distinct elements of the first array that are not in the second one, sorted; with `assume_unique` in their order.
///
/// # Panics
/// When there is no common element type, or arrays are traced and no `size` is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::setdiff1d(&Array::from([3, 1, 2]), &Array::from([3]), ()).to_vec::<i32>(), [1, 2]);
/// ```
#[track_caller]
pub fn setdiff1d(x: &Array, y: &Array, options: impl Into<Sets>) -> Array {
    let _named = crate::trace::named("setdiff1d");
    let Sets {
        assume_unique,
        size,
        fill_value,
    } = options.into();
    let (mut x, y) = (flat(x), flat(y));
    let fill = fill_value.unwrap_or_else(|| Array::from(0));
    let fill = as_dtype(&fill, x.dtype(), false);
    if x.size() == 0 || size == Some(0) {
        return lax::full(size.unwrap_or(0), fill, x.dtype());
    }
    if !assume_unique {
        let own = Unique {
            size: size.map(|_| x.size()),
            ..Unique::new()
        };
        x = distinct("setdiff1d", &x, 0, &own, Wanted::default()).remove(0);
    }
    let mut mask = in_flat(&x, &y, true, Finding::CompareAll);
    let Some(size) = size else {
        let size = static_size("setdiff1d", None, &mask);
        return rows(&x, &positions(&mask, size, None));
    };
    if !assume_unique {
        // What is missing to the size of the array is its first element again.
        let repeated = sum(&lax::eq(&x, &element(&x, 0)), ());
        let count = lax::sub(&constant(&repeated, x.size() + 1), &repeated);
        mask = where_(first(x.size(), || count), &mask, false);
    }
    let valid = first(size, || sum(&mask, ()));
    where_(valid, rows(&x, &positions(&mask, size, None)), fill)
}

/// The distinct elements of both arrays one behind the other, and how many of each there are.
#[track_caller]
fn joined(parts: [&Array; 2], counts: [&Array; 2]) -> Array {
    let [x, y] = parts;
    let total = x.size() + y.size();
    let zeros = lax::full(total, 0, x.dtype());
    let start = lax::full((), 0, DType::I32);
    let with_first = lax::dynamic_update_slice_at(&zeros, x, &[start]);
    lax::dynamic_update_slice_at(&with_first, y, &[from_front(counts[0], total)])
}

/// Values with those behind the first `count` replaced: by `fill`, or by the smallest of the first.
#[track_caller]
fn filled(values: &Array, count: &Array, fill: Option<&Array>) -> Array {
    let size = values.shape()[0];
    if size == 0 {
        return values.clone();
    }
    if let Some(fill) = fill {
        return where_(first(size, || count.clone()), values, fill);
    }
    let inside = || first(size, || count.clone());
    let values = where_(inside(), values, max(values, ()));
    where_(inside(), &values, min(&values, ()))
}

/// The elements that are in exactly one of the arrays, sorted.
///
/// # Panics
/// When there is no common element type, or arrays are traced and no `size` is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::setxor1d(&Array::from([3, 1]), &Array::from([3, 2]), ()).to_vec::<i32>(), [1, 2]);
/// ```
#[track_caller]
pub fn setxor1d(x: &Array, y: &Array, options: impl Into<Sets>) -> Array {
    let _named = crate::trace::named("setxor1d");
    let Sets {
        assume_unique,
        size,
        fill_value,
    } = options.into();
    let [x, y] = promote_dtypes("setxor1d", [&flat(x), &flat(y)]);
    let Some(size) = size else {
        let own = |x: &Array| {
            if assume_unique {
                x.clone()
            } else {
                distinct("setxor1d", x, 0, &Unique::new(), Wanted::default()).remove(0)
            }
        };
        let all = concatenate(&[own(&x), own(&y)], 0);
        if all.size() == 0 {
            return all;
        }
        let sorted = lax::sort(&[all], 0, 1).remove(0);
        let mask = alone(&sorted);
        let size = static_size("setxor1d", None, &mask);
        return rows(&sorted, &positions(&mask, size, None));
    };
    let key = format!("{assume_unique} {size}");
    library_with(
        "_setxor1d_size",
        &key,
        [&x, &y],
        [fill_value],
        |[x, y], [fill]| {
            let total = x.size() + y.size();
            let (sorted, mask) = if assume_unique {
                let all = concatenate(&[x.clone(), y.clone()], 0);
                let sorted = sort(&all, ());
                let mask = alone(&sorted);
                (sorted, mask)
            } else {
                let [x, count_x] = distinct_and_count("setxor1d", x);
                let [y, count_y] = distinct_and_count("setxor1d", y);
                let all = joined([&x, &y], [&count_x, &count_y]);
                let count = lax::add(&count_x, &count_y);
                // One place more than there are elements, so that the last of them has a neighbour.
                let inside = first(total + 1, || lax::add(&count, &constant(&count, 1)));
                let outside = lax::bitwise_not(&part(&inside, 1, total + 1));
                let sorted = lax::sort(&[outside, all], 0, 2).remove(1);
                let mask = alone_before(&sorted, &inside, &count);
                (sorted, mask)
            };
            let found = sum(&mask, ());
            let values = if total == 0 {
                lax::full(size, 0, x.dtype())
            } else {
                rows_or(&sorted, &positions(&mask, size, Some(total as i64)), 0)
            };
            filled(&values, &found, fill.as_ref())
        },
    )
}

/// Which elements of a sorted vector differ from their neighbours.
#[track_caller]
fn alone(sorted: &Array) -> Array {
    let length = sorted.shape()[0];
    if length == 0 {
        return lax::full(0, false, DType::Bool);
    }
    let differ = lax::ne(&part(sorted, 1, length), &part(sorted, 0, length - 1));
    both_sides(&edged(differ, true))
}

/// The same among the first `count`, behind which there is no neighbour; `inside` says which places are up to there.
#[track_caller]
fn alone_before(sorted: &Array, inside: &Array, count: &Array) -> Array {
    let length = sorted.shape()[0];
    if length == 0 {
        return lax::full(0, false, DType::Bool);
    }
    let differ = lax::ne(&part(sorted, 1, length), &part(sorted, 0, length - 1));
    let edges = edged(differ, false).at(count).set(true);
    both_sides(&lax::bitwise_and(inside, &edges))
}

/// Differences of neighbours between the difference in front of the first element and that behind the last one.
#[track_caller]
fn edged(differ: Array, end: bool) -> Array {
    let [start, end] = [true, end].map(|edge| lax::reshape(&Array::from(edge), [1]));
    lax::concatenate(&[start, differ, end], 0)
}

/// Which elements differ from both neighbours, by the differences in front of each and behind the last.
#[track_caller]
fn both_sides(edges: &Array) -> Array {
    let length = edges.shape()[0] - 1;
    let behind = part(edges, 1, length + 1);
    lax::bitwise_and(&behind, &part(edges, 0, length))
}

/// The distinct elements, as many as there are elements, and how many are distinct.
#[track_caller]
fn distinct_and_count(operation: &str, x: &Array) -> [Array; 2] {
    let own = Unique::new().size(x.size());
    let wanted = Wanted {
        true_size: true,
        ..Wanted::default()
    };
    let mut parts = distinct(operation, x, 0, &own, wanted);
    [parts.remove(0), parts.remove(0)]
}

/// The elements that are in both arrays, sorted.
///
/// # Panics
/// When there is no common element type, or arrays are traced and no `size` is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::intersect1d(&Array::from([3, 1]), &Array::from([3, 2]), ()).to_vec::<i32>(), [3]);
/// ```
#[track_caller]
pub fn intersect1d(x: &Array, y: &Array, options: impl Into<Sets>) -> Array {
    let _named = crate::trace::named("intersect1d");
    common("intersect1d", x, y, options.into(), false).remove(0)
}

/// [`intersect1d`], and the positions of those elements in both arrays: `intersect1d(.., return_indices=True)`.
///
/// # Panics
/// As [`intersect1d`].
///
/// ```
/// use jaxide::{Array, numpy};
/// let (x, y) = (Array::from([5, 3]), Array::from([3, 2]));
/// let (both, in_x, in_y) = numpy::intersect1d_indices(&x, &y, ());
/// assert_eq!((both.item::<i32>(), in_x.item::<i32>(), in_y.item::<i32>()), (3, 1, 0));
/// ```
#[track_caller]
pub fn intersect1d_indices(
    x: &Array,
    y: &Array,
    options: impl Into<Sets>,
) -> (Array, Array, Array) {
    let _named = crate::trace::named("intersect1d_indices");
    let mut parts = common("intersect1d", x, y, options.into(), true);
    (parts.remove(0), parts.remove(0), parts.remove(0))
}

#[track_caller]
fn common(operation: &str, x: &Array, y: &Array, options: Sets, indices: bool) -> Vec<Array> {
    let [x, y] = promote_dtypes(operation, [x, y]);
    let (x, y) = (flat(&x), flat(&y));
    let Some(size) = options.size else {
        return common_known(operation, &x, &y, options.assume_unique, indices);
    };
    let assume_unique = options.assume_unique;
    let fill_key = format!("{:?}", options.fill_value);
    let key = format!("{assume_unique} {size} {indices} {fill_key}");
    library_call("_intersect1d_size", &key, &[x, y], |operands| {
        let (x, y) = (&operands[0], &operands[1]);
        let index_type = position_type(x);
        let total = x.size() + y.size();
        let whole = |x: &Array| {
            let positions = lax::iota(index_type, x.size(), 0);
            [x.clone(), positions, lax::full((), x.size(), DType::I32)]
        };
        let own = |x: &Array| {
            if assume_unique {
                return whole(x);
            }
            let own = Unique::new().size(x.size()).fill_value(0);
            let wanted = Wanted {
                index: true,
                true_size: true,
                ..Wanted::default()
            };
            let mut parts = distinct(operation, x, 0, &own, wanted);
            [parts.remove(0), parts.remove(0), parts.remove(0)]
        };
        let [x, x_places, x_count] = own(x);
        let [y, y_places, y_count] = own(y);
        let (sorted, order, inside) = if assume_unique {
            let all = concatenate(&[x.clone(), y.clone()], 0);
            let places = lax::iota(index_type, total, 0);
            let sorted = lax::sort(&[all, places], 0, 1);
            let inside = lax::full(total, true, DType::Bool);
            (sorted[0].clone(), sorted[1].clone(), inside)
        } else {
            let all = joined([&x, &y], [&x_count, &y_count]);
            let inside = first(total, || lax::add(&x_count, &y_count));
            let outside = lax::bitwise_not(&inside);
            let order = lax::iota(index_type, total, 0);
            let sorted = lax::sort(&[outside, all, order], 0, 2);
            (sorted[1].clone(), sorted[2].clone(), inside)
        };
        let last = total.saturating_sub(1);
        let first_of = |x: &Array| part(x, 0, last);
        let rest_of = |x: &Array| part(x, total - last, total);
        let same = lax::eq(&rest_of(&sorted), &first_of(&sorted));
        let mask = lax::bitwise_and(&same, &rest_of(&inside));
        let found = sum(&mask, ());
        let (places, values) = if total == 0 {
            (
                lax::full(0, 0, index_type),
                lax::full(size, 0, sorted.dtype()),
            )
        } else {
            let places = positions(&mask, size, Some(total as i64));
            let values = rows_or(&sorted, &places, 0);
            (places, values)
        };
        let values = filled(&values, &found, options.fill_value.as_ref());
        if !indices {
            return vec![values];
        }
        let of_found =
            |at: &Array, length: usize| where_(first(size, || found.clone()), at, length as i64);
        let in_x = rows_or(&order, &places, x.size() as i64);
        let in_x = of_found(&in_x, x.size());
        let next = lax::add(&places, &constant(&places, 1));
        let in_y = rows_or(&order, &next, y.size() as i64);
        let in_y = lax::sub(&in_y, &as_dtype(&x_count, in_y.dtype(), false));
        let in_y = of_found(&in_y, y.size());
        if assume_unique {
            return vec![values, in_x, in_y];
        }
        let in_x = rows_or(&x_places, &in_x, x.size() as i64);
        vec![values, in_x, rows_or(&y_places, &in_y, y.size() as i64)]
    })
}

/// The same of arrays whose values are known.
#[track_caller]
fn common_known(
    operation: &str,
    x: &Array,
    y: &Array,
    assume_unique: bool,
    indices: bool,
) -> Vec<Array> {
    let own = |x: &Array| {
        if assume_unique {
            return [x.clone(), lax::iota(position_type(x), x.size(), 0)];
        }
        let wanted = Wanted {
            index: true,
            ..Wanted::default()
        };
        let mut parts = distinct(operation, x, 0, &Unique::new(), wanted);
        [parts.remove(0), parts.remove(0)]
    };
    let ([x, x_places], [y, y_places]) = (own(x), own(y));
    let all = concatenate(&[x.clone(), y.clone()], 0);
    let total = all.size();
    let places = lax::iota(position_type(&all), total, 0);
    let sorted = lax::sort(&[all, places], 0, 1);
    let last = total.saturating_sub(1);
    let first_of = |x: &Array| part(x, 0, last);
    let rest_of = |x: &Array| part(x, total - last, total);
    let mask = lax::eq(&rest_of(&sorted[0]), &first_of(&sorted[0]));
    let size = static_size(operation, None, &mask);
    if total == 0 {
        let nothing = lax::full(0, 0, position_type(&x));
        return vec![sorted[0].clone(), nothing.clone(), nothing];
    }
    let at = positions(&mask, size, None);
    let values = rows(&sorted[0], &at);
    if !indices {
        return vec![values];
    }
    let in_x = rows(&first_of(&sorted[1]), &at);
    let in_y = rows(&rest_of(&sorted[1]), &at);
    let in_y = lax::sub(&in_y, &constant(&in_y, x.size()));
    if assume_unique {
        return vec![values, in_x, in_y];
    }
    vec![values, rows(&x_places, &in_x), rows(&y_places, &in_y)]
}
