//! Statistics of samples.

use jaxide_core::{DType, Error};

use super::beside;
use crate::api::vmap_list;
use crate::array::{Array, as_dtype};
use crate::options::options;
use crate::scipy::operands::inexact;
use crate::trace::library::library_call;
use crate::trace::{library, raise};
use crate::{cond, lax, numpy};

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
    let axis = axis.map(|axis| numpy::normalize_axis("mode", axis, a.ndim().max(1)));
    let key = format!("{axis:?} {keepdims}");
    let results = library_call("mode", &key, &[a], |own| {
        let x = numpy::atleast_1d(&own[0]);
        let mut shape = x.shape().to_vec();
        match axis {
            None if keepdims => shape.fill(1),
            None => shape.clear(),
            Some(axis) if keepdims => shape[axis] = 1,
            Some(axis) => drop(shape.remove(axis)),
        }
        let x = match axis {
            None => lax::reshape(&x, [x.size()]),
            Some(axis) => numpy::moveaxis(&x, axis, 0),
        };
        let others: usize = x.shape()[1..].iter().product();
        let columns = lax::reshape(&x, [x.shape()[0], others]);
        let results = vmap_list(&|own| most_frequent(&own[0]), &[Some(1)], 0, &[columns]);
        results.iter().map(|x| lax::reshape(x, &shape)).collect()
    });
    (results[0].clone(), results[1].clone())
}

/// The mode of a vector, and how often it comes.
#[track_caller]
fn most_frequent(x: &Array) -> Vec<Array> {
    if x.size() == 0 {
        let float = |value: f64| Array::from(value).astype(numpy::inexact(x.dtype()));
        return vec![float(f64::NAN), float(0.0)];
    }
    let (values, counts) = numpy::unique_and_counts(x, x.size());
    let best = lax::argmax(&counts, 0, DType::I32);
    vec![values.index(best), lax::reduce_max(&counts, [0])]
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
    let axis = axis.map(|axis| numpy::normalize_axis("rankdata", axis, a.ndim()));
    let key = format!("{method:?} {axis:?}");
    library("rankdata", &key, [&a], |[a]| match axis {
        Some(axis) => numpy::apply_along_axis(|row| rankdata(row, method), axis as i64, a),
        None => {
            let a = lax::reshape(a, [a.size()]);
            let wide = crate::array::is_wide(a.dtype());
            let float = if wide { DType::F64 } else { DType::F32 };
            let unknown = numpy::any(&numpy::isnan(&a), ());
            let none = |a: Array| lax::full(a.shape(), f64::NAN, float);
            cond(&unknown, none, |a: Array| ranks(&a, method, float), a)
        }
    })
}

/// Ranks of a vector without NaN.
#[track_caller]
fn ranks(a: &Array, method: RankMethod, float: DType) -> Array {
    let size = a.size();
    let sorted = lax::sort(&[a.clone(), lax::iota(DType::I32, [size], 0)], 0, 1);
    let (values, order) = (&sorted[0], &sorted[1]);
    let inverse = numpy::empty([size], DType::I32);
    let inverse = inverse.at(order).set(&lax::iota(DType::I32, [size], 0));
    if method == RankMethod::Ordinal {
        return (inverse + 1).astype(float);
    }
    let start = Array::from([true]);
    let changes = values
        .slice(1..)
        .not_equal(values.slice(..size.saturating_sub(1)));
    let first = lax::concatenate(&[start, changes], 0);
    let dense = numpy::cumsum(&first, 0).index(&inverse);
    if method == RankMethod::Dense {
        return dense.astype(float);
    }
    // Where each run of equal elements begins, and behind the last one the size.
    let starts = lax::nonzero(&first, size + 1, &[Array::from(first.size() as i32)]);
    let count = as_dtype(&starts[0], float, false);
    let above = || count.index(&dense);
    let below = || count.index(&dense - 1);
    match method {
        RankMethod::Max => above(),
        RankMethod::Min => below() + 1,
        RankMethod::Average | RankMethod::Dense | RankMethod::Ordinal => {
            0.5 * (above() + below() + 1)
        }
    }
}

options! {
    /// What [`sem`] takes beside its operand.
    pub struct Sem {
        /// Along which axis: the first by default, `None` for all elements.
        axis: Option<i64> = Some(0), |axis: impl Into<Option<i64>>| axis.into();
        /// What is subtracted from the number of elements in the standard deviation: 1 by default.
        ddof: Option<i64> = None, |ddof: i64| Some(ddof);
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
    let a = a.into();
    if a.dtype().is_complex() {
        let error = format!(
            "complex numbers are not supported, and {} is given",
            a.aval()
        );
        raise(Error::dtype(error).in_operation("sem"));
    }
    let axis = axis.map(|axis| numpy::normalize_axis("sem", axis, a.ndim()));
    let operands: Vec<Array> = std::iter::once(a).chain(ddof.map(Array::from)).collect();
    let key = format!("{axis:?} {omit_nan} {keepdims}");
    let result = library_call("sem", &key, &operands, |own| {
        let [x] = inexact("sem", [own[0].clone()]);
        let ddof = own.get(1).cloned().unwrap_or_else(|| Array::from(1));
        let mut options = numpy::Reduction::new().keepdims(keepdims);
        options.axis = axis.map(|axis| std::iter::once(axis as i64).collect());
        let (deviation, count) = if omit_nan {
            let counted = numpy::logical_not(&numpy::isnan(&x));
            let count = numpy::sum(&counted, options.clone());
            let count = if x.dtype() == DType::F64 {
                count.astype(DType::F64)
            } else {
                count
            };
            (numpy::nanstd_less(&x, Some(ddof), options), count)
        } else {
            let count = axis.map_or(x.size(), |axis| x.shape()[axis]);
            let deviation = numpy::std(&x, options.correction(ddof));
            (deviation, beside(&x, count as f64))
        };
        vec![deviation / count.sqrt().astype(x.dtype())]
    });
    result[0].clone()
}
