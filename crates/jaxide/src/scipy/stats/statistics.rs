//! Statistics of samples.

use jaxide_core::prims::SearchSide;
use jaxide_core::{DType, Error};

use crate::array::{Array, Integer, as_dtype};
use crate::numpy::where_;
use crate::options::options;
use crate::scipy::operands::inexact;
use crate::trace::raise;
use crate::{lax, numpy, vmap_of};

options! {
    /// What [`mode`] takes beside its operand.
    pub struct Mode {
        /// Along which axis: the first by default, `None` for all elements.
        axis: Option<i64> = Some(0), |axis: impl Into<Option<i64>>| axis.into();
        /// Whether the axis stays, with length 1.
        keepdims: bool = false;
    }
}

/// The element that comes most often along an axis, the smallest of several, and how often: an integer.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::scipy::stats;
/// let (mode, count) = stats::mode([3, 1, 3, 2], ());
/// assert_eq!((mode.item::<i32>(), count.item::<i32>()), (3, 2));
/// ```
#[track_caller]
pub fn mode(a: impl Into<Array>, options: impl Into<Mode>) -> (Array, Array) {
    let _named = crate::trace::named("mode");
    let Mode { axis, keepdims } = options.into();
    let a = a.into();
    let a = if a.ndim() == 0 {
        lax::reshape(&a, [1])
    } else {
        a
    };
    let (x, kept) = match axis {
        None => (lax::reshape(&a, [a.size()]), vec![1; a.ndim()]),
        Some(axis) => {
            let axis = numpy::normalize_axis("mode", axis, a.ndim());
            let mut order = vec![axis];
            order.extend((0..a.ndim()).filter(|&other| other != axis));
            let mut kept = a.shape().to_vec();
            kept[axis] = 1;
            (lax::transpose(&a, &order), kept)
        }
    };
    let others = x.shape()[1..].to_vec();
    let columns = lax::reshape(&x, [x.shape()[0], others.iter().product()]);
    let columns = lax::transpose(&columns, [1, 0]);
    let (values, counts) = vmap_of(&|x: Array| most_frequent(&x), columns);
    let shape = if keepdims { kept } else { others };
    (lax::reshape(&values, &shape), lax::reshape(&counts, &shape))
}

/// The mode of a vector, and how often it comes.
#[track_caller]
fn most_frequent(x: &Array) -> (Array, Array) {
    if x.size() == 0 {
        return (
            Array::from(f64::NAN).astype(DType::F32),
            Array::from(0).astype(DType::F32),
        );
    }
    let sorted = numpy::sort(x, 0);
    let first = numpy::concatenate(&[Array::from([true]), differs_from_next(&sorted)], 0);
    let run = lax::cumsum(&first.astype(DType::I32), 0, false) - 1;
    let zeros = lax::full([x.size()], 0, DType::I32);
    let counts = zeros.at(&run).add(1);
    let best = lax::argmax(&counts, 0, DType::I32);
    let start = lax::argmax(&run.equal(&best), 0, DType::I32);
    (sorted.index(start), lax::reduce_max(&counts, [0]))
}

/// Where a sorted vector changes; NaN are equal.
#[track_caller]
fn differs_from_next(sorted: &Array) -> Array {
    let (next, own) = (sorted.slice(1..), sorted.slice(..sorted.size() - 1));
    let differs = next.not_equal(&own);
    if sorted.dtype().is_inexact() {
        differs & !(numpy::isnan(&next) & numpy::isnan(&own))
    } else {
        differs
    }
}

/// Which rank equal elements have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RankMethod {
    /// The mean of the ranks they would have in some order.
    #[default]
    Average,
    /// The smallest of these.
    Min,
    /// The largest of these.
    Max,
    /// As `Min`, with no ranks left out.
    Dense,
    /// Different ones, in the order in which they stand.
    Ordinal,
}

options! {
    /// What [`rankdata`] takes beside its operand; a method alone is one too.
    pub struct Rankdata {
        /// Which rank equal elements have.
        method: RankMethod = RankMethod::Average;
        /// Along which axis: all elements by default, as a vector.
        axis: Option<i64> = None, |axis: impl Into<Option<i64>>| axis.into();
    }
}

impl From<RankMethod> for Rankdata {
    fn from(method: RankMethod) -> Self {
        Rankdata::new().method(method)
    }
}

/// Ranks of elements, from 1, as floats: `f64` of elements of 64 bits, else `f32`. NaN where an element is.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::scipy::stats::{self, RankMethod};
/// assert_eq!(stats::rankdata([3.0f32, 1.0, 3.0], ()).to_vec::<f32>(), [2.5, 1.0, 2.5]);
/// assert_eq!(stats::rankdata([3.0f32, 1.0, 3.0], RankMethod::Min).to_vec::<f32>(), [2.0, 1.0, 2.0]);
/// ```
#[track_caller]
pub fn rankdata(a: impl Into<Array>, options: impl Into<Rankdata>) -> Array {
    let _named = crate::trace::named("rankdata");
    let Rankdata { method, axis } = options.into();
    let a = a.into();
    let Some(axis) = axis else {
        return ranks(&lax::reshape(&a, [a.size()]), method);
    };
    let axis = numpy::normalize_axis("rankdata", axis, a.ndim());
    let last = a.ndim() - 1;
    let mut order: Vec<usize> = (0..a.ndim()).filter(|&other| other != axis).collect();
    order.push(axis);
    let moved = lax::transpose(&a, &order);
    let length = moved.shape()[last];
    let rows: usize = moved.shape()[..last].iter().product();
    let rows = lax::reshape(&moved, [rows, length]);
    let ranked = vmap_of(&|row: Array| ranks(&row, method), rows);
    let ranked = lax::reshape(&ranked, moved.shape());
    let mut back = vec![0; a.ndim()];
    for (to, &from) in order.iter().enumerate() {
        back[from] = to;
    }
    lax::transpose(&ranked, &back)
}

/// Ranks of a vector.
#[track_caller]
fn ranks(a: &Array, method: RankMethod) -> Array {
    let wide = crate::array::is_wide(a.dtype());
    let float = if wide { DType::F64 } else { DType::F32 };
    let size = a.size();
    if size == 0 {
        return lax::full([0], 0, float);
    }
    let sorted = lax::sort(&[a.clone(), lax::iota(DType::I32, [size], 0)], 0, 1);
    let (values, order) = (&sorted[0], &sorted[1]);
    let places = lax::iota(DType::I32, [size], 0);
    let inverse = lax::full([size], 0, DType::I32).at(order).set(&places);
    let changes = values.slice(1..).not_equal(values.slice(..size - 1));
    let first = lax::concatenate(&[Array::from([true]), changes], 0);
    let dense = lax::cumsum(&first.astype(DType::I32), 0, false).index(&inverse);
    // Where each run of equal elements begins, and behind the last one the size.
    let starts = lax::nonzero(&first, size + 1, &[Array::from(size as i32)]);
    let count = as_dtype(&starts[0], float, false);
    let above = || count.index(&dense);
    let below = || count.index(&dense - 1);
    let result = match method {
        RankMethod::Ordinal => (inverse + 1).astype(float),
        RankMethod::Dense => dense.astype(float),
        RankMethod::Max => above(),
        RankMethod::Min => below() + 1,
        RankMethod::Average => 0.5 * (above() + below() + 1),
    };
    if !a.dtype().is_inexact() {
        return result;
    }
    let unknown = numpy::isnan(a).any();
    where_(&unknown, numpy::full_like(&result, f64::NAN), result)
}

options! {
    /// What [`sem`] takes beside its operand.
    pub struct Sem {
        /// Along which axis: the first by default, `None` for all elements.
        axis: Option<i64> = Some(0), |axis: impl Into<Option<i64>>| axis.into();
        /// What is subtracted from the number of elements in the standard deviation.
        ddof: i64 = 1;
        /// Whether elements that are NaN are left out.
        omit_nan: bool = false;
        /// Whether the axis stays, with length 1.
        keepdims: bool = false;
    }
}

/// The standard error of the mean: the standard deviation divided by the root of the number of elements.
///
/// # Panics
/// When there is no such axis.
///
/// ```
/// use jaxide::scipy::stats;
/// assert_eq!(stats::sem([1.0f32, 3.0], ()).item::<f32>(), 1.0);
/// ```
#[track_caller]
pub fn sem(a: impl Into<Array>, options: impl Into<Sem>) -> Array {
    let _named = crate::trace::named("sem");
    let Sem {
        axis,
        ddof,
        omit_nan,
        keepdims,
    } = options.into();
    let [x] = inexact("sem", [a.into()]);
    if x.dtype().is_complex() {
        let error = format!(
            "complex numbers are not supported, and {} is given",
            x.aval()
        );
        raise(Error::dtype(error).in_operation("sem"));
    }
    let axes: Vec<usize> = match axis {
        None => (0..x.ndim()).collect(),
        Some(axis) => vec![numpy::normalize_axis("sem", axis.to_i64(), x.ndim())],
    };
    let counted = if omit_nan {
        !numpy::isnan(&x)
    } else {
        x.equal(&x) | x.not_equal(&x)
    };
    let x = where_(&counted, &x, 0.0);
    let wide = |x: Array| lax::expand_dims(&x, &axes);
    let count = wide(numpy::sum(&counted.astype(DType::F32), &axes)).astype(x.dtype());
    let mean = wide(numpy::sum(&x, &axes)) / &count;
    let delta = where_(&counted, x - mean, 0.0);
    let squares = wide(numpy::sum(&(&delta * &delta), &axes));
    let deviation = (squares / (&count - ddof)).sqrt();
    let result = deviation / count.sqrt();
    if keepdims {
        result
    } else {
        lax::squeeze(&result, &axes)
    }
}

/// Where elements of a query stand in a sorted vector.
#[track_caller]
pub(super) fn places(sorted: &Array, query: &Array) -> Array {
    lax::searchsorted(sorted, query, SearchSide::Left)
}
