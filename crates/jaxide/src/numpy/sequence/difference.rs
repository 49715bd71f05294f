//! Differences, derivatives and integrals of what is sampled.

use std::f64::consts::TAU;

use jaxide_core::{DType, Error};

use crate::array::{
    Array, Axes, Integer, Numbers, as_dtype, normalize_axis, promote_dtypes, result_dtype,
};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::arithmetic::inexact;
use crate::numpy::cumsum;
use crate::numpy::nested::{constant, named};
use crate::numpy::place::{at, cut};
use crate::numpy::{self, broadcast_to, concatenate, moveaxis, ravel};
use crate::numpy::{floor_divide, remainder, where_};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::raise;

options! {
    /// What [`diff`] takes beside the array; how often alone is one too.
    pub struct Diff {
        /// How often differences are taken.
        n: i64 = 1, |n: impl Integer| n.to_i64();
        /// The axis, the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// What is put in front.
        prepend: Option<Array> = None, |prepend: impl Into<Array>| Some(prepend.into());
        /// What is put behind.
        append: Option<Array> = None, |append: impl Into<Array>| Some(append.into());
    }
    /// What [`ediff1d`] takes beside the array.
    pub struct Ediff1d {
        /// What is put behind the differences.
        to_end: Option<Array> = None, |to_end: impl Into<Array>| Some(to_end.into());
        /// What is put in front of them.
        to_begin: Option<Array> = None, |to_begin: impl Into<Array>| Some(to_begin.into());
    }
    /// What [`gradient`] takes beside the samples; one distance alone is one too.
    pub struct Gradient {
        /// The distance of neighbours, or their coordinates: one for all axes, or one for each.
        spacing: Vec<Array> = Vec::new(), |spacing: impl IntoIterator<Item = impl Into<Array>>| spacing.into_iter().map(Into::into).collect();
        /// The axes, all by default.
        axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
    }
    /// What [`trapezoid`] takes beside the samples.
    pub struct Trapezoid {
        /// The coordinates of the samples: a vector, or an array like them.
        x: Option<Array> = None, |x: impl Into<Array>| Some(x.into());
        /// The distance of neighbours, 1 by default.
        dx: Option<Array> = None, |dx: impl Into<Array>| Some(dx.into());
        /// The axis, the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
    }
    /// What [`unwrap`] takes beside the array.
    pub struct Unwrap {
        /// The smallest jump that is taken back, half a period by default.
        discont: Option<Array> = None, |discont: impl Into<Array>| Some(discont.into());
        /// The axis, the last by default.
        axis: i64 = -1, |axis: impl Integer| axis.to_i64();
        /// After which values repeat, a full turn in radians by default.
        period: Option<Array> = None, |period: impl Into<Array>| Some(period.into());
    }
}

alone!(Diff, n: integers);

impl From<f64> for Gradient {
    fn from(distance: f64) -> Self {
        Gradient::new().spacing([distance])
    }
}

/// The operands of a call, some of which may be missing.
fn operands(first: &Array, others: [&Option<Array>; 2]) -> Vec<Array> {
    let others = others.into_iter().flatten().cloned();
    std::iter::once(first.clone()).chain(others).collect()
}

/// Differences of neighbours along an axis: of truth values, whether they differ.
///
/// # Panics
/// When there is no such axis, or `n` is negative.
///
/// ```
/// use jaxide::{Array, numpy::{self, Diff}};
/// let x = Array::from([1, 4, 9, 16]);
/// assert_eq!(numpy::diff(&x, ()).to_vec::<i32>(), [3, 5, 7]);
/// assert_eq!(numpy::diff(&x, 2).to_vec::<i32>(), [2, 2]);
/// assert_eq!(numpy::diff(&x, Diff::new().prepend(0)).to_vec::<i32>(), [1, 3, 5, 7]);
/// ```
#[track_caller]
pub fn diff(a: &Array, options: impl Into<Diff>) -> Array {
    let _named = crate::trace::named("diff");
    const OPERATION: &str = "diff";
    let Diff {
        n,
        axis,
        prepend,
        append,
    } = options.into();
    let key = format!("{n} {axis} {} {}", prepend.is_some(), append.is_some());
    named(
        OPERATION,
        &key,
        &operands(a, [&append, &prepend]),
        |operands| {
            let a = &operands[0];
            if n < 0 {
                raise(
                    Error::parameter(format!("the order {n} is negative")).in_operation(OPERATION),
                );
            }
            if n == 0 {
                return a.clone();
            }
            let axis = normalize_axis(OPERATION, axis, a.ndim());
            let like = |other: &Array| {
                let mut shape = a.shape().to_vec();
                shape[axis] = 1;
                if other.ndim() == 0 {
                    broadcast_to(other, &shape)
                } else {
                    other.clone()
                }
            };
            let front = prepend
                .is_some()
                .then(|| like(&operands[operands.len() - 1]));
            let back = append.is_some().then(|| like(&operands[1]));
            let parts: Vec<Array> = front.into_iter().chain([a.clone()]).chain(back).collect();
            let mut a = if parts.len() > 1 {
                concatenate(&parts, axis)
            } else {
                a.clone()
            };
            for _ in 0..n {
                let length = a.shape()[axis];
                let [upper, lower] = [(1.min(length), length), (0, length.saturating_sub(1))];
                let [upper, lower] =
                    [upper, lower].map(|(start, limit)| cut(&a, axis, start, limit));
                a = if a.dtype() == DType::Bool {
                    lax::ne(&upper, &lower)
                } else {
                    lax::sub(&upper, &lower)
                };
            }
            a
        },
    )
}

/// Differences of neighbours among the elements of `ary`, and what is put around them.
///
/// # Panics
/// When `ary` has truth values.
///
/// ```
/// use jaxide::{Array, numpy::{self, Ediff1d}};
/// let x = Array::from([1, 4, 9]);
/// assert_eq!(numpy::ediff1d(&x, Ediff1d::new().to_end(0)).to_vec::<i32>(), [3, 5, 0]);
/// ```
#[track_caller]
pub fn ediff1d(ary: &Array, options: impl Into<Ediff1d>) -> Array {
    let _named = crate::trace::named("ediff1d");
    let Ediff1d { to_end, to_begin } = options.into();
    let key = format!("{} {}", to_end.is_some(), to_begin.is_some());
    named(
        "ediff1d",
        &key,
        &operands(ary, [&to_end, &to_begin]),
        |operands| {
            let x = ravel(&operands[0], ());
            let length = x.size();
            let upper = cut(&x, 0, 1.min(length), length);
            let mut result = lax::sub(&upper, &cut(&x, 0, 0, length.saturating_sub(1)));
            let part = |given: &Array| ravel(&as_dtype(given, x.dtype(), false), ());
            if to_begin.is_some() {
                let begin = part(&operands[operands.len() - 1]);
                result = concatenate(&[begin, result], 0);
            }
            if to_end.is_some() {
                result = concatenate(&[result, part(&operands[1])], 0);
            }
            result
        },
    )
}

/// Derivatives of samples along axes, from the differences of their neighbours: an array for each axis.
///
/// # Panics
/// When an axis has fewer than two samples, or distances are not given for each axis.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([1.0f32, 4.0, 9.0]);
/// assert_eq!(numpy::gradient(&x, ())[0].to_vec::<f32>(), [3.0, 4.0, 5.0]);
/// assert_eq!(numpy::gradient(&x, 0.5)[0].to_vec::<f32>(), [6.0, 8.0, 10.0]);
/// ```
#[track_caller]
pub fn gradient(f: &Array, options: impl Into<Gradient>) -> Vec<Array> {
    let _named = crate::trace::named("gradient");
    const OPERATION: &str = "gradient";
    let Gradient { spacing, axis } = options.into();
    let mistake = |text: String| raise(Error::parameter(text).in_operation(OPERATION));
    let axes = match &axis {
        Some(numbers) => numbers.to_vec().axes(OPERATION, f.ndim()),
        None => (0..f.ndim()).collect(),
    };
    if axes.is_empty() {
        return Vec::new();
    }
    if let Some(&short) = axes.iter().find(|&&axis| f.shape()[axis] < 2) {
        mistake(format!(
            "axis {short} of {} has fewer than two samples",
            f.aval()
        ));
    }
    if spacing.len() > 1 && spacing.len() != axes.len() {
        mistake(format!(
            "{} distances are given for {} axes",
            spacing.len(),
            axes.len()
        ));
    }
    let all: Vec<Array> = std::iter::once(f.clone()).chain(spacing).collect();
    library_call(OPERATION, &format!("{axes:?}"), &all, |operands| {
        let (dtype, weak) = result_dtype(OPERATION, &operands.iter().collect::<Vec<_>>());
        let operands: Vec<Array> = operands
            .iter()
            .map(|x| as_dtype(x, inexact(dtype), weak))
            .collect();
        let (f, spacing) = (&operands[0], &operands[1..]);
        let along = |(at, &axis): (usize, &usize)| {
            let distance = match spacing {
                [] => constant(1.0, f.dtype()),
                [one] => one.clone(),
                several => several[at].clone(),
            };
            slope(f, &distance, axis)
        };
        axes.iter().enumerate().map(along).collect()
    })
}

#[track_caller]
fn slope(f: &Array, distance: &Array, axis: usize) -> Array {
    let length = f.shape()[axis];
    let part = |start: usize, limit: usize| lax::slice_in_dim(f, start, limit, 1, axis);
    let first = lax::sub(&part(1, 2), &part(0, 1));
    let last = lax::sub(&part(length - 1, length), &part(length - 2, length - 1));
    let (first, inner, last) = if distance.ndim() == 0 {
        let inner = lax::sub(&part(2, length), &part(0, length - 2));
        let inner = lax::div(&lax::mul(&inner, &constant(0.5, f.dtype())), distance);
        let last = lax::div(&last, distance);
        (lax::div(&first, distance), inner, last)
    } else {
        if distance.shape() != [length] {
            raise(
                Error::shape(format!(
                    "coordinates {} are given for axis {axis} of {}",
                    distance.aval(),
                    f.aval()
                ))
                .in_operation("gradient"),
            );
        }
        let mut shape = vec![1; f.ndim()];
        shape[axis] = length;
        let x = lax::reshape(distance, &shape);
        let place = |start: usize, limit: usize| lax::slice_in_dim(&x, start, limit, 1, axis);
        let apart =
            |a: usize, b: usize, count: usize| lax::sub(&place(a, a + count), &place(b, b + count));
        let first = numpy::divide(&first, &apart(1, 0, 1));
        let last = numpy::divide(&last, &apart(length - 1, length - 2, 1));
        let before = apart(1, 0, length - 2);
        let after = apart(2, 1, length - 2);
        let low = lax::div(
            &lax::neg(&after),
            &lax::mul(&before, &lax::add(&before, &after)),
        );
        let middle = lax::div(&lax::sub(&after, &before), &lax::mul(&before, &after));
        let high = lax::div(&before, &lax::mul(&after, &lax::add(&before, &after)));
        let sum = numpy::multiply(&low, &part(0, length - 2));
        let sum = lax::add(&sum, &numpy::multiply(&middle, &part(1, length - 1)));
        let inner = lax::add(&sum, &numpy::multiply(&high, &part(2, length)));
        (first, inner, last)
    };
    lax::concatenate(&[first, inner, last], axis)
}

/// The integral of samples along an axis by the trapezoidal rule.
///
/// # Panics
/// When there is no such axis, or the coordinates do not fit the samples.
///
/// ```
/// use jaxide::{Array, numpy::{self, Trapezoid}};
/// let y = Array::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(numpy::trapezoid(&y, ()).item::<f32>(), 4.0);
/// let x = Array::from([0.0f32, 1.0, 3.0]);
/// assert_eq!(numpy::trapezoid(&y, Trapezoid::new().x(&x)).item::<f32>(), 6.5);
/// ```
#[track_caller]
pub fn trapezoid(y: &Array, options: impl Into<Trapezoid>) -> Array {
    let _named = crate::trace::named("trapezoid");
    const OPERATION: &str = "trapezoid";
    let Trapezoid { x, dx, axis } = options.into();
    let key = format!("{axis} {} {}", x.is_some(), dx.is_some());
    named(OPERATION, &key, &operands(y, [&x, &dx]), |operands| {
        let y = &operands[0];
        // A negative axis is another one where `x` has more axes.
        let of_x = |x: &Array| normalize_axis(OPERATION, axis, x.ndim());
        let axis = normalize_axis(OPERATION, axis, y.ndim());
        let last = y.ndim() - 1;
        let (y, distance) = if x.is_some() {
            let (dtype, weak) = result_dtype(OPERATION, &[y, &operands[1]]);
            let [y, x] = [y, &operands[1]].map(|x| as_dtype(x, inexact(dtype), weak));
            let distance = if x.ndim() == 1 {
                diff(&x, ())
            } else {
                let own = of_x(&x);
                moveaxis(&diff(&x, Diff::new().axis(own)), own, -1)
            };
            (y, distance)
        } else {
            let y = as_dtype(y, inexact(y.dtype()), y.weak_type());
            let distance = match dx {
                Some(_) => operands[1].clone(),
                None => Array::from(1.0),
            };
            if distance.ndim() == 0 {
                (y, distance)
            } else {
                let distance = lax::expand_rank(&distance, y.ndim());
                (y, moveaxis(&distance, axis, -1))
            }
        };
        let y = moveaxis(&y, axis, -1);
        let length = y.shape()[last];
        let half = constant(0.5, y.dtype());
        let single = distance.shape().last().copied() == Some(1);
        if distance.ndim() == 0 || single {
            let distance = match single {
                true => at(&distance, distance.ndim() - 1, 0),
                false => distance,
            };
            if length == 0 {
                raise(Error::shape("there are no samples").in_operation(OPERATION));
            }
            let sum = numpy::sum(&y, -1);
            let ends = lax::add(&at(&y, last, 0), &at(&y, last, length - 1));
            let inner = lax::sub(&sum, &lax::mul(&half, &ends));
            return numpy::multiply(&distance, &inner);
        }
        let upper = cut(&y, last, 1.min(length), length);
        let pairs = lax::add(&upper, &cut(&y, last, 0, length.saturating_sub(1)));
        let areas = numpy::sum(&numpy::multiply(&distance, &pairs), -1);
        lax::mul(&constant(0.5, areas.dtype()), &areas)
    })
}

/// Values along an axis with jumps of more than half a period taken back by whole periods.
///
/// # Panics
/// When there is no such axis, or `p` is complex.
///
/// ```
/// use jaxide::{Array, numpy::{self, Unwrap}};
/// let x = Array::from([0, 1, 2, 0, 1]);
/// assert_eq!(numpy::unwrap(&x, Unwrap::new().period(3)).to_vec::<i32>(), [0, 1, 2, 3, 4]);
/// ```
#[track_caller]
pub fn unwrap(p: &Array, options: impl Into<Unwrap>) -> Array {
    let _named = crate::trace::named("unwrap");
    const OPERATION: &str = "unwrap";
    let Unwrap {
        discont,
        axis,
        period,
    } = options.into();
    let key = format!("{axis} {} {}", discont.is_some(), period.is_some());
    named(
        OPERATION,
        &key,
        &operands(p, [&discont, &period]),
        |operands| {
            let turn = match period {
                Some(_) => operands[operands.len() - 1].clone(),
                None => Array::from(TAU),
            };
            let [p, period] = promote_dtypes(OPERATION, [&operands[0], &turn]);
            if p.dtype().is_complex() {
                raise(
                    Error::dtype(format!(
                        "real numbers are needed, and {} is given",
                        p.aval()
                    ))
                    .in_operation(OPERATION),
                );
            }
            let axis = normalize_axis(OPERATION, axis, p.ndim());
            let length = p.shape()[axis];
            if length == 0 {
                return p;
            }
            let period = constant(period, p.dtype());
            let half = || {
                let period = as_dtype(&period, inexact(period.dtype()), period.weak_type());
                lax::div(&period, &constant(2.0, period.dtype()))
            };
            let discont = match discont {
                Some(_) => operands[1].clone(),
                None => half(),
            };
            let interval = if p.dtype().is_integer() {
                floor_divide(&period, &Array::from(2))
            } else {
                half()
            };
            let steps = diff(&p, Diff::new().axis(axis));
            let within = remainder(&lax::add(&steps, &interval), &period);
            let within = lax::sub(&within, &interval);
            let at_end = lax::eq(&within, &lax::neg(&interval));
            let upwards = lax::gt(&steps, &constant(0, steps.dtype()));
            let within = where_(&lax::bitwise_and(&at_end, &upwards), &interval, &within);
            let small = numpy::less(&numpy::abs(&steps), &discont);
            let change = where_(&small, &Array::from(0), &lax::sub(&within, &steps));
            let first = lax::slice_in_dim(&p, 0, 1, 1, axis);
            let rest = lax::slice_in_dim(&p, 1, length, 1, axis);
            let rest = lax::add(&rest, &cumsum(&change, axis));
            concatenate(&[first, rest], axis)
        },
    )
}
