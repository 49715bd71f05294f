//! Evenly spaced numbers.

use std::ops::Range;

use jaxide_core::{DType, Dims, Error};

use super::fill::{Creation, empty_of};
use crate::array::{Array, Integer, as_dtype, normalize_axis, result_dtype};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::arithmetic::inexact;
use crate::numpy::nested::{constant, named};
use crate::numpy::{self, broadcast_to, common_shape};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{OrRaise, raise};

/// Where numbers begin, before which they end, and how far apart they are: an end alone, a range, `(start, stop)` or
/// `(start, stop, step)`, of any numbers; or so many from `start` to `stop`.
#[derive(Clone)]
pub struct Span {
    start: Array,
    stop: Option<Array>,
    step: Option<Array>,
    count: Option<usize>,
}

impl Span {
    /// `count` numbers from `start` to `stop`, both included: the slice `start:stop:5j` of NumPy's grids.
    pub fn count(start: impl Into<Array>, stop: impl Into<Array>, count: usize) -> Self {
        Span {
            count: Some(count),
            ..Span::from((start, stop))
        }
    }

    /// The numbers as a slice of a grid gives them.
    #[track_caller]
    pub(super) fn numbers(&self) -> Array {
        let (start, stop) = match &self.stop {
            Some(stop) => (self.start.clone(), stop.clone()),
            None => (Array::from(0), self.start.clone()),
        };
        if let Some(count) = self.count {
            return linspace(start, stop, count);
        }
        let step = self.step.clone().unwrap_or_else(|| Array::from(1));
        arange((start, stop, step), ())
    }
}

impl<T: Into<Array>> From<T> for Span {
    fn from(stop: T) -> Self {
        Span {
            start: stop.into(),
            stop: None,
            step: None,
            count: None,
        }
    }
}

impl<T: Into<Array>> From<Range<T>> for Span {
    fn from(range: Range<T>) -> Self {
        Span::from((range.start, range.end))
    }
}

impl<A: Into<Array>, B: Into<Array>> From<(A, B)> for Span {
    fn from((start, stop): (A, B)) -> Self {
        Span {
            start: start.into(),
            stop: Some(stop.into()),
            step: None,
            count: None,
        }
    }
}

impl<A: Into<Array>, B: Into<Array>, C: Into<Array>> From<(A, B, C)> for Span {
    fn from((start, stop, step): (A, B, C)) -> Self {
        Span {
            step: Some(step.into()),
            ..Span::from((start, stop))
        }
    }
}

/// Numbers from a start (0) to before an end, a step (1) apart. The element type is the common one of the numbers: `i32` of
/// bare integers, `f32` of bare floats.
///
/// # Panics
/// When a number is complex, no scalar, or traced without a value; when the step is zero.
///
/// ```
/// use jaxide::{DType, numpy};
/// assert_eq!(numpy::arange(3, ()).to_vec::<i32>(), [0, 1, 2]);
/// assert_eq!(numpy::arange(2..4, DType::F32).to_vec::<f32>(), [2.0, 3.0]);
/// assert_eq!(numpy::arange((1.0, 0.0, -0.5), ()).to_vec::<f32>(), [1.0, 0.5]);
/// ```
#[track_caller]
pub fn arange(span: impl Into<Span>, options: impl Into<Creation>) -> Array {
    let _named = crate::trace::named("arange");
    const OPERATION: &str = "arange";
    let Span {
        start,
        stop,
        step,
        count: _,
    } = span.into();
    let given: Vec<&Array> = [Some(&start), stop.as_ref(), step.as_ref()]
        .into_iter()
        .flatten()
        .collect();
    if let Some(wrong) = given
        .iter()
        .find(|x| x.ndim() != 0 || x.dtype().is_complex())
    {
        raise(
            Error::parameter(format!(
                "real scalars are needed, and {} is given",
                wrong.aval()
            ))
            .in_operation(OPERATION),
        );
    }
    let dtype = options.into().dtype;
    let dtype = dtype.unwrap_or_else(|| result_dtype(OPERATION, &given).0);
    let number = |x: &Array| {
        let value = x.try_value().map_err(|error| error.in_operation(OPERATION));
        let number = value
            .or_raise()
            .scalar_at(0)
            .and_then(|scalar| scalar.as_f64());
        number.unwrap_or(f64::NAN)
    };
    let (start, stop) = match stop {
        Some(stop) => (start, stop),
        None => (Array::from(0), start),
    };
    let (first, last) = (number(&start), number(&stop));
    let apart = step.as_ref().map_or(1.0, number);
    let size = ((last - first) / apart).ceil().max(0.0);
    if !size.is_finite() {
        raise(
            Error::parameter(format!(
                "there are no steps of {apart} from {first} to {last}"
            ))
            .in_operation(OPERATION),
        );
    }
    let size = size as usize;
    let working = match dtype {
        DType::F16 | DType::BF16 if step.is_some() => DType::F32,
        dtype => dtype,
    };
    let numbers = lax::iota(working, &[size], 0);
    let numbers = match step {
        Some(step) => lax::mul(&constant(step, working), &numbers),
        None if first == 0.0 => return numbers,
        None => numbers,
    };
    as_dtype(&lax::add(&constant(start, working), &numbers), dtype, false)
}

options! {
    /// What [`linspace`], [`logspace`] and [`geomspace`] take beside the ends; a count alone is one too.
    pub struct Linspace {
        /// How many numbers.
        num: i64 = 50, |num: impl Integer| num.to_i64();
        /// Whether the last of them is the end.
        endpoint: bool = true;
        /// The base of [`logspace`].
        base: Array = Array::from(10.0), |base: impl Into<Array>| base.into();
        /// The element type; by default the float type of the ends.
        dtype: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
        /// The axis of the result along which numbers are spaced, where the ends are arrays.
        axis: i64 = 0, |axis: impl Integer| axis.to_i64();
    }
}

alone!(Linspace, num: integers);

impl Linspace {
    /// What a call of the function depends on beside its operands.
    fn key(&self) -> String {
        format!(
            "{} {} {:?} {}",
            self.num, self.endpoint, self.dtype, self.axis
        )
    }

    /// The element type of the result, and that in which it is computed.
    #[track_caller]
    fn dtypes(&self, operation: &str, ends: [&Array; 2]) -> (DType, DType) {
        let dtype = self.dtype;
        let dtype = dtype.unwrap_or_else(|| inexact(result_dtype(operation, &ends).0));
        (dtype, inexact(dtype))
    }

    /// Numbers of the program with the digits of the type that is asked for: as literals of the default type they would lose some.
    fn with_digits<const N: usize>(&self, numbers: [Array; N]) -> [Array; N] {
        let wide = matches!(self.dtype, Some(DType::F64 | DType::C128));
        numbers.map(|x| {
            if wide && x.aval().weak_type && x.dtype() == DType::F32 {
                as_dtype(&x, DType::F64, false)
            } else {
                x
            }
        })
    }
}

/// Numbers from `start` to `stop`, evenly spaced. Integers are rounded down.
///
/// # Panics
/// When the count is negative, or the shapes of the ends do not broadcast.
///
/// ```
/// use jaxide::{Array, DType, numpy::{self, Linspace}};
/// assert_eq!(numpy::linspace(0.0, 1.0, 3).to_vec::<f32>(), [0.0, 0.5, 1.0]);
/// let halves = Linspace::new().num(4).endpoint(false).dtype(DType::I32);
/// assert_eq!(numpy::linspace(0, 2, halves).to_vec::<i32>(), [0, 0, 1, 1]);
/// assert_eq!(numpy::linspace([0.0f32, 1.0], 2.0, 5).shape(), [5, 2]);
/// ```
#[track_caller]
pub fn linspace(
    start: impl Into<Array>,
    stop: impl Into<Array>,
    options: impl Into<Linspace>,
) -> Array {
    let _named = crate::trace::named("linspace");
    let (start, stop, options) = (start.into(), stop.into(), options.into());
    let ends = options.with_digits([start, stop]);
    named("_linspace", &options.key(), &ends, |ends| {
        spaced(&ends[0], &ends[1], &options).0
    })
}

/// [`linspace`] and the distance of the numbers: `retstep=True` of JAX.
///
/// # Panics
/// As [`linspace`].
///
/// ```
/// use jaxide::numpy;
/// let (x, step) = numpy::linspace_with_step(0.0, 2.0, 5);
/// assert_eq!((x.shape(), step.item::<f32>()), (&[5][..], 0.5));
/// ```
#[track_caller]
pub fn linspace_with_step(
    start: impl Into<Array>,
    stop: impl Into<Array>,
    options: impl Into<Linspace>,
) -> (Array, Array) {
    let _named = crate::trace::named("linspace_with_step");
    let (start, stop, options) = (start.into(), stop.into(), options.into());
    let key = format!("{} retstep", options.key());
    let ends = options.with_digits([start, stop]);
    let mut results = library_call("_linspace", &key, &ends, |ends| {
        let (numbers, step) = spaced(&ends[0], &ends[1], &options);
        vec![numbers, step]
    });
    let step = results.swap_remove(1);
    (results.swap_remove(0), step)
}

#[track_caller]
fn spaced(start: &Array, stop: &Array, options: &Linspace) -> (Array, Array) {
    const OPERATION: &str = "linspace";
    let Ok(num) = usize::try_from(options.num) else {
        raise(
            Error::parameter(format!("{} numbers are asked for", options.num))
                .in_operation(OPERATION),
        )
    };
    let (dtype, working) = options.dtypes(OPERATION, [start, stop]);
    let start = as_dtype(start, working, false);
    let stop = as_dtype(stop, working, false);
    let mut shape = common_shape(OPERATION, &[start.shape(), stop.shape()]);
    let (first, last) = (broadcast_to(&start, &shape), broadcast_to(&stop, &shape));
    let axis = normalize_axis(OPERATION, options.axis, shape.len() + 1);
    shape.insert(axis, 1);
    let div = if options.endpoint {
        num.saturating_sub(1)
    } else {
        num
    };
    let (numbers, step) = match num {
        0 => {
            shape[axis] = 0;
            (
                empty_of(Dims::from_slice(&shape), dtype),
                lax::full((), f64::NAN, working),
            )
        }
        1 => {
            let step = if options.endpoint {
                lax::full((), f64::NAN, working)
            } else {
                numpy::subtract(&stop, &start)
            };
            (lax::reshape(&first, &shape), step)
        }
        _ => {
            let count = constant(div, working);
            let step = lax::div(&numpy::subtract(&stop, &start), &count);
            let real = match working {
                DType::C64 => DType::F32,
                DType::C128 => DType::F64,
                real => real,
            };
            let mut along = vec![1; shape.len()];
            along[axis] = div;
            let index = lax::reshape(&lax::iota(real, &[div], 0), &along);
            let portion = lax::div(&index, &constant(div, real));
            let portion = as_dtype(&portion, working, false);
            let first = lax::reshape(&first, &shape);
            let rest = lax::sub(&constant(1, working), &portion);
            let low = numpy::multiply(&first, &rest);
            let high = lax::div(&lax::reshape(&last, &shape), &count);
            let index = as_dtype(&index, working, false);
            let mut numbers = lax::add(&low, &numpy::multiply(&high, &index));
            if options.endpoint {
                numbers = lax::concatenate(&[numbers, lax::expand_dims(&last, axis)], axis);
            }
            (numbers, step)
        }
    };
    let numbers = if dtype.is_integer() && !numbers.dtype().is_integer() {
        lax::floor(&numbers)
    } else {
        numbers
    };
    (as_dtype(&numbers, dtype, false), step)
}

/// Powers of a base (10) with evenly spaced exponents from `start` to `stop`.
///
/// # Panics
/// As [`linspace`].
///
/// ```
/// use jaxide::numpy::{self, Linspace};
/// let powers = numpy::logspace(0, 3, Linspace::new().num(4).base(2.0));
/// assert_eq!(powers.to_vec::<f32>(), [1.0, 2.0, 4.0, 8.0]);
/// ```
#[track_caller]
pub fn logspace(
    start: impl Into<Array>,
    stop: impl Into<Array>,
    options: impl Into<Linspace>,
) -> Array {
    let _named = crate::trace::named("logspace");
    let (start, stop, options) = (start.into(), stop.into(), options.into());
    log_spaced(&start, &stop, &options)
}

#[track_caller]
fn log_spaced(start: &Array, stop: &Array, options: &Linspace) -> Array {
    let operands = options.with_digits([start.clone(), stop.clone(), options.base.clone()]);
    named("_logspace", &options.key(), &operands, |operands| {
        let (dtype, working) = options.dtypes("logspace", [&operands[0], &operands[1]]);
        let start = as_dtype(&operands[0], working, false);
        let stop = as_dtype(&operands[1], working, false);
        let exponents = linspace(start, stop, options.clone().dtype(None));
        as_dtype(&numpy::power(&operands[2], &exponents), dtype, false)
    })
}

/// Numbers from `start` to `stop`, each the same multiple of the one before.
///
/// # Panics
/// As [`linspace`].
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::geomspace(1.0, 8.0, 4).shape(), [4]);
/// ```
#[track_caller]
pub fn geomspace(
    start: impl Into<Array>,
    stop: impl Into<Array>,
    options: impl Into<Linspace>,
) -> Array {
    let _named = crate::trace::named("geomspace");
    let (start, stop, options) = (start.into(), stop.into(), options.into());
    let ends = options.with_digits([start, stop]);
    named("_geomspace", &options.key(), &ends, |ends| {
        let (dtype, working) = options.dtypes("geomspace", [&ends[0], &ends[1]]);
        let start = as_dtype(&ends[0], working, false);
        let stop = as_dtype(&ends[1], working, false);
        let sign = lax::sign(&start);
        let first = log10(&numpy::divide(&start, &sign));
        let last = log10(&numpy::divide(&stop, &sign));
        let exponents = options.clone().dtype(working).axis(0).base(10.0);
        let numbers = numpy::multiply(&sign, &log_spaced(&first, &last, &exponents));
        let axis = normalize_axis("geomspace", options.axis, numbers.ndim());
        as_dtype(&numpy::moveaxis(&numbers, 0, axis), dtype, false)
    })
}

/// The logarithm to base ten.
#[track_caller]
fn log10(x: &Array) -> Array {
    let log = lax::log(x);
    if log.dtype().is_complex() {
        let (re, im) = (lax::real(&log), lax::imag(&log));
        let factor = constant(std::f64::consts::LOG10_E, re.dtype());
        return lax::complex(&lax::mul(&re, &factor), &lax::mul(&im, &factor));
    }
    lax::mul(&log, &constant(std::f64::consts::LOG10_E, log.dtype()))
}
