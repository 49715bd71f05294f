//! Counting by bins.

use jaxide_core::prims::SearchSide;
use jaxide_core::{DType, Error};

use super::{position_type, ptp, sum};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::{constant, inexact, inexact_dtypes};
use crate::numpy::lookup::{add_at, differences, element, part};
use crate::numpy::{clip, divide, max, min, searchsorted, where_};
use crate::options::options;
use crate::trace::{library, raise};

options! {
    /// What histograms take beside the data.
    pub struct Histogram {
        /// A number of bins, ten by default, or a vector of their edges.
        bins: Array = Array::from(10), |bins: impl Into<Array>| bins.into();
        /// The lower end of the first bin and the upper end of the last one: those of the data by default.
        range: Option<Array> = None, |range: impl Into<Array>| Some(range.into());
        /// How much each element counts.
        weights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
        /// Whether counts are divided by the widths of their bins and by their sum.
        density: bool = false;
    }

    /// What [`histogram2d`] and [`histogramdd`] take beside the data.
    pub struct HistogramDd {
        /// For each dimension a number of bins, or a vector of their edges; one stands for all. Ten by default.
        bins: Vec<Array> = vec![Array::from(10)], |bins: &[Array]| bins.to_vec();
        /// The ends of the bins of each dimension: those of the data by default.
        range: Option<Vec<Option<Array>>> = None, |range: &[Option<Array>]| Some(range.to_vec());
        /// How much each sample counts.
        weights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
        /// Whether counts are divided by the sizes of their bins and by their sum.
        density: bool = false;
    }

    /// What [`bincount`] takes beside the numbers.
    pub struct Bincount {
        /// How much each number counts.
        weights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
        /// The least length of the result.
        minlength: usize = 0;
        /// The length of the result, where the numbers have no values yet.
        length: Option<usize> = None, |length: usize| Some(length);
    }
}

/// The edges of the bins of [`histogram`].
///
/// # Panics
/// When there are no bins, or the number of bins is traced.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([0.0f32, 4.0]);
/// let edges = numpy::histogram_bin_edges(&x, numpy::Histogram::new().bins(2));
/// assert_eq!(edges.to_vec::<f32>(), [0.0, 2.0, 4.0]);
/// ```
#[track_caller]
pub fn histogram_bin_edges(x: &Array, options: impl Into<Histogram>) -> Array {
    let _named = crate::trace::named("histogram_bin_edges");
    let options = options.into();
    edges(
        "histogram_bin_edges",
        x,
        &options.bins,
        options.range.as_ref(),
    )
}

#[track_caller]
fn edges(operation: &str, x: &Array, bins: &Array, range: Option<&Array>) -> Array {
    let dtype = inexact(x.dtype());
    if bins.ndim() == 1 && bins.size() > 0 {
        return as_dtype(bins, dtype, false);
    }
    let value = bins.try_value().ok().and_then(|bins| bins.scalar_at(0));
    let count = value.and_then(|count| count.as_integer());
    let count = count.and_then(|count| usize::try_from(count).ok());
    let Some(count) = count.filter(|&count| bins.ndim() == 0 && count > 0) else {
        let error = format!(
            "bins are a positive number that is known, or a vector of edges, and {} is given",
            bins.aval()
        );
        raise(Error::parameter(error).in_operation(operation));
    };
    let range = match range {
        Some(range) => range.clone(),
        None if x.size() == 0 => Array::from([0.0f32, 1.0]),
        None => {
            let ends = [min(x, ()), max(x, ())];
            let ends = ends.map(|end| lax::expand_dims(&as_dtype(&end, dtype, false), 0));
            lax::concatenate(&ends, 0)
        }
    };
    let range = as_dtype(&range, dtype, false);
    if range.shape() != [2] {
        let error = format!("a range has two ends, and {} is given", range.aval());
        raise(Error::shape(error).in_operation(operation));
    }
    let low = moved_if_empty(&range, 0, lax::sub);
    let high = moved_if_empty(&range, 1, lax::add);
    evenly_spaced(&low, &high, count)
}

/// An end of a range, moved by a half when both are the same.
#[track_caller]
fn moved_if_empty(range: &Array, at: usize, shift: fn(&Array, &Array) -> Array) -> Array {
    let width = ptp(range, ());
    let empty = lax::eq(&width, &constant(&width, 0));
    let end = element(range, at);
    let moved = shift(&end, &constant(&end, 0.5));
    where_(empty, moved, element(range, at))
}

/// The ends of `count` intervals of equal length from `low` to `high`.
#[track_caller]
fn evenly_spaced(low: &Array, high: &Array, count: usize) -> Array {
    library(
        "_linspace",
        &count.to_string(),
        [low, high],
        |[low, high]| {
            let number = |number: usize| constant(low, number);
            // JAX records the width of a step, too.
            let _ = lax::div(&lax::sub(high, low), &number(count));
            let steps = lax::iota(low.dtype(), count, 0);
            let share = lax::div(&steps, &number(count));
            let from_low = lax::reshape(low, 1);
            let from_low = lax::mul(&from_low, &lax::sub(&number(1), &share));
            let from_high = lax::div(&lax::reshape(high, 1), &number(count));
            let inner = lax::add(&from_low, &lax::mul(&from_high, &steps));
            let last = lax::broadcast_in_dim(high, 1, &[0usize; 0]);
            lax::concatenate(&[inner, last], 0)
        },
    )
}

/// How many elements lie in each bin, and the edges of the bins; bins have their left end, and the last one both.
///
/// # Panics
/// When there are no bins, their number is traced, or weights have another shape than the data.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([0.0f32, 1.0, 1.5, 4.0]);
/// let (counts, edges) = numpy::histogram(&x, numpy::Histogram::new().bins(2));
/// assert_eq!(counts.to_vec::<f32>(), [3.0, 1.0]);
/// assert_eq!(edges.to_vec::<f32>(), [0.0, 2.0, 4.0]);
/// ```
#[track_caller]
pub fn histogram(x: &Array, options: impl Into<Histogram>) -> (Array, Array) {
    let _named = crate::trace::named("histogram");
    let options = options.into();
    let (x, weights) = match &options.weights {
        None => {
            let [x] = inexact_dtypes("histogram", [x]);
            let ones = lax::full(x.shape(), 1, x.dtype());
            (x, ones)
        }
        Some(weights) => {
            if weights.shape() != x.shape() {
                let error = format!(
                    "weights {} have another shape than {}",
                    weights.aval(),
                    x.aval()
                );
                raise(Error::shape(error).in_operation("histogram"));
            }
            let [x, weights] = inexact_dtypes("histogram", [x, weights]);
            (x, weights)
        }
    };
    let edges = edges("histogram", &x, &options.bins, options.range.as_ref());
    let count = edges.shape()[0];
    let bin = searchsorted(&edges, &x, SearchSide::Right);
    let at_end = super::super::equal(&x, element(&edges, count - 1));
    let bin = where_(at_end, count as i64 - 1, bin);
    let zeros = lax::full(count, 0, weights.dtype());
    let counts = part(&add_at(&zeros, &bin, &weights), 1, count);
    if !options.density {
        return (counts, edges);
    }
    let widths = differences(&edges);
    let density = divide(divide(&counts, &widths), sum(&counts, ()));
    (density, edges)
}

/// How many of the points with coordinates `x` and `y` lie in each rectangle, and the edges along both axes.
///
/// # Panics
/// When the lengths of `x` and `y` differ, or as [`histogram`].
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([0.0f32, 1.0, 1.0]);
/// let bins = [Array::from(1), Array::from(2)];
/// let (counts, _, _) = numpy::histogram2d(&x, &x, numpy::HistogramDd::new().bins(&bins));
/// assert_eq!(counts.to_vec::<i32>(), [1, 2]);
/// ```
#[track_caller]
pub fn histogram2d(x: &Array, y: &Array, options: impl Into<HistogramDd>) -> (Array, Array, Array) {
    let _named = crate::trace::named("histogram2d");
    if x.ndim() != 1 || x.shape() != y.shape() {
        let error = format!(
            "two vectors of one length are needed, and {} and {} are given",
            x.aval(),
            y.aval()
        );
        raise(Error::shape(error).in_operation("histogram2d"));
    }
    let sample = super::super::stack(&[x.clone(), y.clone()], 0);
    let (counts, mut edges) = counted("histogram2d", &lax::transpose(&sample, ()), options.into());
    (counts, edges.remove(0), edges.remove(0))
}

/// How many of the points, the rows of `sample`, lie in each box, and the edges along each axis.
///
/// # Panics
/// When `sample` is no matrix, or there are not as many bins, ranges or weights as axes and points.
#[track_caller]
pub fn histogramdd(sample: &Array, options: impl Into<HistogramDd>) -> (Array, Vec<Array>) {
    let _named = crate::trace::named("histogramdd");
    counted("histogramdd", sample, options.into())
}

#[track_caller]
fn counted(operation: &str, sample: &Array, options: HistogramDd) -> (Array, Vec<Array>) {
    let &[count, dimensions] = sample.shape() else {
        let error = format!(
            "a matrix of points is needed, and {} is given",
            sample.aval()
        );
        raise(Error::shape(error).in_operation(operation));
    };
    let bins = match &options.bins[..] {
        [one] => vec![one.clone(); dimensions],
        bins => bins.to_vec(),
    };
    let ranges = options.range.unwrap_or_else(|| vec![None; dimensions]);
    if bins.len() != dimensions || ranges.len() != dimensions {
        let error = format!(
            "there are {dimensions} dimensions, and {} bins and {} ranges are given",
            bins.len(),
            ranges.len()
        );
        raise(Error::parameter(error).in_operation(operation));
    }
    let (sample, weights) = match &options.weights {
        None => (inexact_dtypes(operation, [sample])[0].clone(), None),
        Some(weights) => {
            if weights.shape() != [count] {
                let error = format!(
                    "{count} weights are needed, and {} is given",
                    weights.aval()
                );
                raise(Error::shape(error).in_operation(operation));
            }
            let [sample, weights] = inexact_dtypes(operation, [sample, weights]);
            (sample, Some(weights))
        }
    };
    let mut index = lax::full(count, 0, super::position_type(&sample));
    let mut all_edges = Vec::new();
    let mut lengths = Vec::new();
    for dimension in 0..dimensions {
        let column = lax::slice(&sample, [0, dimension], [count, dimension + 1], None);
        let column = lax::squeeze(&column, &[1]);
        let edges = edges(
            operation,
            &column,
            &bins[dimension],
            ranges[dimension].as_ref(),
        );
        let length = edges.shape()[0];
        let bin = searchsorted(&edges, &column, SearchSide::Right);
        let at_end = super::super::equal(&column, element(&edges, length - 1));
        let bin = where_(at_end, lax::sub(&bin, &constant(&bin, 1)), &bin);
        let bin = as_dtype(&bin, index.dtype(), false);
        // With a bin for what lies below, and one for what lies above.
        lengths.push(length + 1);
        index = lax::add(&lax::mul(&index, &constant(&index, length + 1)), &bin);
        all_edges.push(edges);
    }
    let total = lengths.iter().product();
    let counting = Bincount {
        weights,
        length: Some(total),
        minlength: 0,
    };
    let counts = lax::reshape(&bincount(&index, counting), &lengths);
    let inner: Vec<usize> = lengths.iter().map(|length| length - 1).collect();
    let mut counts = lax::slice(&counts, &vec![1usize; dimensions], &inner, None);
    if options.density {
        counts = as_dtype(&counts, sample.dtype(), false);
        counts = divide(&counts, sum(&counts, ()));
        for (dimension, edges) in all_edges.iter().enumerate() {
            let mut shape = vec![1usize; dimensions];
            shape[dimension] = lengths[dimension] - 2;
            counts = divide(&counts, lax::reshape(&differences(edges), &shape));
        }
    }
    (counts, all_edges)
}

/// How often each number 0, 1, 2, ... is in a vector, or the sum of its weights; negative numbers count as zero. Numbers from
/// `length` on are left out.
///
/// # Panics
/// When `x` is no vector of integers, weights have another shape, or `x` is traced and no `length` is given.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::bincount(&Array::from([0, 2, 2]), ()).to_vec::<i32>(), [1, 0, 2]);
/// ```
#[track_caller]
pub fn bincount(x: &Array, options: impl Into<Bincount>) -> Array {
    let _named = crate::trace::named("bincount");
    let Bincount {
        weights,
        minlength,
        length,
    } = options.into();
    let x = if x.dtype() == DType::Bool {
        as_dtype(x, DType::I32, false)
    } else {
        x.clone()
    };
    if !x.dtype().is_integer() || x.ndim() != 1 {
        let error = format!("a vector of integers is needed, and {} is given", x.aval());
        raise(Error::dtype(error).in_operation("bincount"));
    }
    let length = length.unwrap_or_else(|| {
        let largest = if x.size() == 0 {
            None
        } else {
            max(&x, ()).value().scalar_at(0)
        };
        let largest = largest
            .and_then(|largest| largest.as_integer())
            .unwrap_or(-1);
        minlength.max(usize::try_from(largest.max(0) + 1).unwrap_or(0) * usize::from(x.size() > 0))
    });
    let weights = match weights {
        None => constant(&lax::full((), 0, position_type(&x)), 1),
        Some(weights) if weights.shape() == x.shape() => weights,
        Some(weights) => {
            let error = format!(
                "weights {} have another shape than {}",
                weights.aval(),
                x.aval()
            );
            raise(Error::shape(error).in_operation("bincount"))
        }
    };
    let zeros = lax::full(length, 0, weights.dtype());
    if length == 0 {
        return zeros;
    }
    add_at(&zeros, &clip(&x, 0, ()), &weights)
}
