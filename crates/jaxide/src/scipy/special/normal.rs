//! The normal distribution: its distribution function, logarithm and inverse, and the function of Owen.

use jaxide_core::{DType, Error};

use super::error::{exp_highest, inverse_core, scaled_large};
use super::primitives::normal_distribution;
use crate::api::library_jvp;
use crate::array::Array;
use crate::numpy::where_;
use crate::options::options;
use crate::scipy::operands::{check_f32_or_f64, constant, inexact, numbers, tangent_of};
use crate::trace::raise;
use crate::{lax, numpy};

/// Distribution function of the standard normal distribution.
///
/// # Panics
/// When `x` is neither `f32` nor `f64`.
///
/// ```
/// use jaxide::scipy::special;
/// assert_eq!(special::ndtr([0.0f32, 40.0]).to_vec::<f32>(), [0.5, 1.0]);
/// ```
#[track_caller]
pub fn ndtr(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("ndtr");
    let x = x.into();
    check_f32_or_f64("ndtr", &x);
    normal_distribution(&x)
}

/// The inverse of [`ndtr`]: quantiles of the standard normal distribution. NaN outside of 0 to 1.
///
/// # Panics
/// When `p` is neither `f32` nor `f64`.
///
/// ```
/// use jaxide::scipy::special;
/// let x = special::ndtri([0.0f32, 0.5, 1.0]).to_vec::<f32>();
/// assert_eq!(x, [f32::NEG_INFINITY, 0.0, f32::INFINITY]);
/// ```
#[track_caller]
pub fn ndtri(p: impl Into<Array>) -> Array {
    let _named = crate::trace::named("ndtri");
    let p = p.into();
    check_f32_or_f64("ndtri", &p);
    quantile(&p)
}

#[track_caller]
fn quantile(p: &Array) -> Array {
    library_jvp(
        ["_ndtri", "_ndtri_jvp"],
        (p.clone(),),
        |(p,): (Array,)| {
            let outside = p.lt(0) | p.gt(1) | numpy::isnan(&p);
            let edge = p.equal(0) | p.equal(1);
            let safe = where_(&(&outside | &edge), 0.5, &p);
            let tail = where_(&safe.gt(0.5), 1 - &safe, &safe);
            let x = inverse_core(&(2 * (safe - 0.5)), &(2 * tail), true);
            let zero = p.equal(0);
            let x = where_(&p.equal(1), f64::INFINITY, x);
            where_(&outside, f64::NAN, where_(&zero, f64::NEG_INFINITY, x))
        },
        |(p,): (Array,), (t,): (Array,)| {
            let x = quantile(&p);
            let tangent = t * quantile_slope(&p, &x);
            (x, tangent)
        },
    )
}

/// The derivative of [`ndtri`]: `sqrt(2 π) e^(x^2 / 2)`, in the tails from `erfcx`.
#[track_caller]
fn quantile_slope(p: &Array, x: &Array) -> Array {
    library_jvp(
        ["_ndtri_grad", "_ndtri_grad_jvp"],
        (p.clone(), x.clone()),
        |(p, x): (Array, Array)| {
            let pi = std::f64::consts::PI;
            let a = where_(&p.gt(0.5), 1.0 - &p, &p);
            let u = lax::abs(&x) * constant(&x, 0.5f64.sqrt());
            let tail = u.gt(1.0);
            let central = where_(&tail, 0.0, x);
            let central = (2.0 * pi).sqrt() * exp_highest(&(0.5 * lax::square(&central)));
            let finite = &tail & a.gt(0.0);
            let u = where_(&finite, u, 1.0);
            let safe = where_(&finite, &a, 0.5);
            let numerator = (0.5 * pi).sqrt() * scaled_large(&u);
            let outer = where_(&a.equal(0.0), f64::INFINITY, numerator / safe);
            where_(&tail, outer, central)
        },
        |(p, x): (Array, Array), (t, _): (Array, Array)| {
            let g = quantile_slope(&p, &x);
            let tangent = t * (x * &g * &g);
            (g, tangent)
        },
    )
}

options! {
    /// What [`log_ndtr`] takes beside its operand.
    pub struct LogNdtr {
        /// How many terms the asymptotic series has, at most 30.
        series_order: usize = 3;
    }
}

/// Logarithm of [`ndtr`], without loss of digits: from an asymptotic series where `x` is below -10 (-20 of `f64`).
///
/// # Panics
/// When `x` is neither `f32` nor `f64`, or the order is above 30.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::log_ndtr([-20.0f32, 10.0], ()).to_vec::<f32>();
/// assert!((y[0] + 203.91716).abs() < 1e-3 && y[1] < 0.0);
/// ```
#[track_caller]
pub fn log_ndtr(x: impl Into<Array>, options: impl Into<LogNdtr>) -> Array {
    let _named = crate::trace::named("log_ndtr");
    let LogNdtr { series_order } = options.into();
    if series_order > 30 {
        let error = format!("the series has at most 30 terms, and {series_order} are asked for");
        raise(Error::parameter(error).in_operation("log_ndtr"));
    }
    let x = x.into();
    check_f32_or_f64("log_ndtr", &x);
    log_distribution(&x, series_order)
}

#[track_caller]
fn log_distribution(x: &Array, order: usize) -> Array {
    library_jvp(
        ["log_ndtr", "_log_ndtr_jvp"],
        (x.clone(),),
        move |(x,): (Array,)| {
            let (lower, upper) = match x.dtype() {
                DType::F64 => (-20.0, 8.0),
                _ => (-10.0, 5.0),
            };
            let (lower, upper) = (constant(&x, lower), constant(&x, upper));
            let above = lax::gt(&x, &upper);
            let bounded = where_(&above, -&x, lax::max(&x, &lower));
            let direct = normal_distribution(&bounded);
            let far = -&direct;
            let middle = lax::gt(&x, &lower);
            let log = lax::log(&direct);
            let low = log_lower(&lax::min(&x, &lower), order);
            where_(&above, far, where_(&middle, log, low))
        },
        move |(x,): (Array,), (t,): (Array,)| {
            let result = log_distribution(&x, order);
            let half_log = constant(&x, (2.0 * std::f64::consts::PI).sqrt().ln());
            let density = constant(&x, -0.5) * lax::square(&x) - half_log;
            let tangent = t * lax::exp(&(density - &result));
            (result, tangent)
        },
    )
}

#[track_caller]
fn log_lower(x: &Array, order: usize) -> Array {
    let squared = lax::square(x);
    let offset = constant(x, 0.5 * (2.0 * std::f64::consts::PI).ln());
    let scale = constant(x, -0.5) * squared - lax::log(&-x) - offset;
    scale + lax::log(&asymptotic_series(x, order))
}

#[track_caller]
fn asymptotic_series(x: &Array, order: usize) -> Array {
    if order == 0 {
        return constant(x, 1.0);
    }
    let squared = lax::square(x);
    let mut even = numpy::full_like(x, 0);
    let mut odd = numpy::full_like(x, 0);
    let mut power = squared.clone();
    for n in 1..=order {
        let double_factorial: f64 = (1..=n).map(|k| (2 * k - 1) as f64).product();
        let term = constant(x, double_factorial) / &power;
        if n % 2 == 1 {
            odd += term;
        } else {
            even += term;
        }
        power *= &squared;
    }
    constant(x, 1.0) + even - odd
}

/// Points and weights of the quadrature of [`owens_t`] on 0 to 1.
const POINTS: [f64; 13] = [
    0.0035082039676451716,
    0.031279042338030756,
    0.08526682628321945,
    0.16245071730812277,
    0.25851196049125436,
    0.3680755384069753,
    0.485010929056047,
    0.6027751415261857,
    0.7147788421775323,
    0.814755109887601,
    0.8971102975594897,
    0.9572380808594426,
    0.991788329746297,
];
const WEIGHTS: [f64; 13] = [
    0.018831438115323503,
    0.01856708624397765,
    0.018042093461223385,
    0.017263829606398752,
    0.016243219975989858,
    0.014994592034116705,
    0.013535474469662087,
    0.011886351605820165,
    0.010070377242777432,
    0.008113054574229958,
    0.006041900952847024,
    0.0038862217010742057,
    0.001679303108454609,
];

/// The function of Owen: the probability that `X > h` and `0 < Y < a X` of independent standard normal `X` and `Y`.
///
/// # Panics
/// When there is no common element type, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// let t = special::owens_t(0.0, 1.0).item::<f32>();
/// assert!((t - 0.125).abs() < 1e-6);
/// ```
#[track_caller]
pub fn owens_t(h: impl Into<Array>, a: impl Into<Array>) -> Array {
    let _named = crate::trace::named("owens_t");
    let [h, a] = inexact("owens_t", [h.into(), a.into()]);
    library_jvp(
        ["_owens_t_impl", "_owens_t_jvp"],
        (h, a),
        |(h, a): (Array, Array)| owens_t_value(&h, &a),
        |(h, a): (Array, Array), (h_dot, a_dot): (Array, Array)| {
            let result = owens_t(&h, &a);
            let pi = std::f64::consts::PI;
            let root = constant(&h, std::f64::consts::SQRT_2);
            let in_h = || {
                let density = -lax::exp(&(-0.5 * lax::square(&h)));
                density * lax::erf(&(&a * &h / &root)) / (2.0 * constant(&h, (2.0 * pi).sqrt()))
            };
            let in_a = || {
                let sum = lax::square(&a) + 1.0;
                lax::exp(&(-0.5 * &sum * lax::square(&h))) / (2.0 * pi * sum)
            };
            let tangent = tangent_of(&result, &[(&h_dot, &in_h), (&a_dot, &in_a)]);
            (result, tangent)
        },
    )
}

#[track_caller]
fn owens_t_value(h: &Array, a: &Array) -> Array {
    let h = h.abs();
    let abs_a = a.abs();
    let root = constant(&h, std::f64::consts::SQRT_2);
    let normed = &h / &root;
    let inside = abs_a.le(1.0);
    let modified_a = where_(&inside, &abs_a, numpy::reciprocal(&abs_a));
    let modified_h = where_(&abs_a.le(1.0), &h, &abs_a * &h);
    let result = quadrature(&modified_h, &modified_a);
    let on_axis = modified_h.equal(0.0);
    let flat = numpy::arctan(&modified_a) / constant(&h, 2.0 * std::f64::consts::PI);
    let result = where_(&on_axis, flat, result);
    let is_unit = modified_a.equal(1.0);
    let unit = 0.125 * lax::erfc(&(-&modified_h / &root)) * lax::erfc(&(&modified_h / &root));
    let result = where_(&is_unit, unit, result);
    let normh = lax::erfc(&normed);
    let normah = lax::erfc(&(&abs_a * &normed));
    let is_outside = abs_a.gt(1.0);
    let is_near = (&abs_a * &h).le(constant(&h, 0.67));
    let near = 0.25 - 0.25 * lax::erf(&normed) * lax::erf(&(&abs_a * &normed)) - &result;
    let far = 0.25 * (&normh + &normah - normh * normah) - &result;
    let outside = where_(&is_near, near, far);
    let result = where_(&is_outside, outside, result);
    let result = lax::sign(a) * result;
    let unknown = numpy::isnan(a) | numpy::isnan(&h);
    where_(&unknown, numpy::full_like(&result, f64::NAN), result)
}

#[track_caller]
fn quadrature(h: &Array, a: &Array) -> Array {
    let shape = numpy::broadcast_shapes("owens_t", &[h.shape(), a.shape()]);
    // The points are `f32` even beside narrower numbers.
    let dtype = if a.dtype() == DType::F64 {
        DType::F64
    } else {
        DType::F32
    };
    let front: Vec<usize> = (0..a.ndim()).collect();
    let points = lax::expand_dims(&numbers(&POINTS, dtype), &front);
    let column = |x: Array| lax::expand_dims(&x, &[x.ndim()]);
    let r = column(numpy::square(a)) * points;
    let exponent: Array = -0.5 * column(numpy::square(h)) * (1.0 + &r);
    let integrand = exponent.exp() / (1.0 + r);
    let sum = numpy::matmul(&integrand, &numbers(&WEIGHTS, dtype));
    numpy::broadcast_to(&(a * sum), &shape)
}
