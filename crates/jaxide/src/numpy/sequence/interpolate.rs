//! Interpolation.

use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype, result_dtype};
use crate::lax;
use crate::numpy::arithmetic::inexact;
use crate::numpy::nested::{constant, named};
use crate::numpy::place::{at, cut, elements_at};
use crate::numpy::{self, concatenate};
use crate::numpy::{clip, searchsorted};
use crate::numpy::{remainder, where_};
use crate::options::options;
use crate::trace::raise;
use jaxide_core::prims::SearchSide;

/// What stands for the function outside of the sampled points.
#[derive(Clone, Debug)]
pub enum Outside {
    /// The value at the outermost point.
    Nearest,
    /// The line through the outermost points.
    Extrapolate,
    /// A value.
    Value(Array),
}

impl<T: Into<Array>> From<T> for Outside {
    fn from(value: T) -> Self {
        Outside::Value(value.into())
    }
}

impl Outside {
    fn value(&self) -> Option<&Array> {
        match self {
            Outside::Value(value) => Some(value),
            Outside::Nearest | Outside::Extrapolate => None,
        }
    }

    fn kind(&self) -> &'static str {
        match self {
            Outside::Nearest => "nearest",
            Outside::Extrapolate => "extrapolate",
            Outside::Value(_) => "value",
        }
    }
}

options! {
    /// What [`interp`] takes beside the points.
    pub struct Interp {
        /// The values below the first point.
        left: Outside = Outside::Nearest, |left: impl Into<Outside>| left.into();
        /// The values above the last point.
        right: Outside = Outside::Nearest, |right: impl Into<Outside>| right.into();
        /// After which the function repeats; the points need not be sorted then.
        period: Option<Array> = None, |period: impl Into<Array>| Some(period.into());
    }
}

/// The values at `x` of the function that is linear between the points `xp`, which increase, and has the values `fp` there.
///
/// # Panics
/// When `xp` and `fp` are no vectors of one length, or `x` is complex.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (xp, fp) = (Array::from([0.0f32, 1.0, 3.0]), Array::from([0.0f32, 10.0, 30.0]));
/// let y = numpy::interp(&Array::from([0.5f32, 2.0, 9.0]), &xp, &fp, ());
/// assert_eq!(y.to_vec::<f32>(), [5.0, 20.0, 30.0]);
/// ```
#[track_caller]
pub fn interp(
    x: impl Into<Array>,
    xp: impl Into<Array>,
    fp: impl Into<Array>,
    options: impl Into<Interp>,
) -> Array {
    let _named = crate::trace::named("interp");
    const OPERATION: &str = "interp";
    let options = options.into();
    let given = [
        options.left.value(),
        options.right.value(),
        options.period.as_ref(),
    ];
    let mut operands = vec![x.into(), xp.into(), fp.into()];
    operands.extend(given.into_iter().flatten().cloned());
    let key = format!(
        "{} {} {}",
        options.left.kind(),
        options.right.kind(),
        options.period.is_some()
    );
    named("_interp", &key, &operands, |operands| {
        let [x, xp, fp] = [&operands[0], &operands[1], &operands[2]];
        let mut others = operands[3..].iter().cloned();
        let mut value = |side: &Outside| side.value().and_then(|_| others.next());
        let (left, right) = (value(&options.left), value(&options.right));
        let period = others.next();
        if xp.ndim() != 1 || xp.shape() != fp.shape() {
            raise(
                Error::shape(format!(
                    "points and values are vectors of one length, and {} and {} are given",
                    xp.aval(),
                    fp.aval()
                ))
                .in_operation(OPERATION),
            );
        }
        let (dtype, weak) = result_dtype(OPERATION, &[x, xp]);
        let [x, xp] = [x, xp].map(|x| as_dtype(x, inexact(dtype), weak));
        let fp = as_dtype(fp, inexact(fp.dtype()), fp.weak_type());
        if x.dtype().is_complex() {
            raise(Error::dtype("complex points have no order").in_operation(OPERATION));
        }
        let (x, xp, fp) = match &period {
            None => (x, xp, fp),
            Some(period) => repeated(&x, &xp, &fp, period),
        };
        let count = xp.size();
        if count == 0 {
            raise(Error::shape("there are no points").in_operation(OPERATION));
        }
        let upper = searchsorted(&xp, &x, SearchSide::Right);
        let upper = clip(&upper, &Array::from(1), &Array::from(count as i64 - 1));
        let lower = || lax::sub(&upper, &constant(1, upper.dtype()));
        let rise = lax::sub(
            &elements_at(&fp, 0, &[&upper]),
            &elements_at(&fp, 0, &[&lower()]),
        );
        let run = lax::sub(
            &elements_at(&xp, 0, &[&upper]),
            &elements_at(&xp, 0, &[&lower()]),
        );
        let beyond = lax::sub(&x, &elements_at(&xp, 0, &[&lower()]));
        let none = lax::le(&lax::abs(&run), &constant(spacing(xp.dtype()), xp.dtype()));
        let flat = elements_at(&fp, 0, &[&lower()]);
        let low = elements_at(&fp, 0, &[&lower()]);
        let part = lax::div(&beyond, &where_(&none, &Array::from(1), &run));
        let sloped = numpy::add(&low, &numpy::multiply(&part, &rise));
        let mut value = where_(&none, &flat, &sloped);
        let repeats = period.is_some();
        if options.left.kind() != "extrapolate" {
            let outside = left.unwrap_or_else(|| at(&fp, 0, 0));
            if !repeats {
                value = where_(&lax::lt(&x, &at(&xp, 0, 0)), &outside, &value);
            }
        }
        if options.right.kind() != "extrapolate" {
            let outside = right.unwrap_or_else(|| at(&fp, 0, count - 1));
            if !repeats {
                value = where_(&lax::gt(&x, &at(&xp, 0, count - 1)), &outside, &value);
            }
        }
        value
    })
}

/// Points of a function that repeats: within one period, sorted, and one more at each end.
#[track_caller]
fn repeated(x: &Array, xp: &Array, fp: &Array, period: &Array) -> (Array, Array, Array) {
    let period = &numpy::abs(period);
    let (x, xp) = (remainder(x, period), remainder(xp, period));
    let sorted = lax::sort(&[xp, fp.clone()], 0, 1);
    let (xp, fp) = (&sorted[0], &sorted[1]);
    let count = xp.size();
    let before = numpy::subtract(&cut(xp, 0, count.saturating_sub(1), count), period);
    let after = numpy::add(&cut(xp, 0, 0, 1.min(count)), period);
    let points = concatenate(&[before, xp.clone(), after], 0);
    let before = cut(fp, 0, count.saturating_sub(1), count);
    let after = cut(fp, 0, 0, 1.min(count));
    (x, points, concatenate(&[before, fp.clone(), after], 0))
}

/// The distance of neighbours at the machine epsilon of a type, below which points are taken for one.
fn spacing(dtype: DType) -> f64 {
    match dtype {
        DType::F64 => 0.5f64.powi(104),
        DType::F16 => 0.5f64.powi(20),
        DType::BF16 => 0.5f64.powi(14),
        _ => 0.5f64.powi(46),
    }
}
