//! Continuous distributions with parameters, by functions of samples without.

use jaxide_core::DType;

use super::gamma::gamma_call;
use super::given::{check_safe, float_type, sampled_shape, single};
use super::{Sample, exponential, maxwell, normal, number, rademacher, split, uniform};
use crate::array::{Array, as_dtype};
use crate::trace::library;
use crate::{lax, numpy};

/// A sampler with one parameter: one named function of the key and the parameter.
macro_rules! samplers {
    ($($(#[$doc:meta])* $name:ident($parameter:ident) $text:literal $sample:path;)*) => { $(
        $(#[$doc])*
        ///
        /// # Panics
        /// When the element type is not floating-point or less wide than the parameter, or the parameter does not broadcast to the
        /// shape.
        #[track_caller]
        pub fn $name(
            key: &Array,
            $parameter: impl Into<Array>,
            options: impl Into<Sample>,
        ) -> Array {
            let _named = crate::trace::named(stringify!($name));
            let $parameter = &$parameter.into();
            let Sample { shape, dtype } = options.into();
            let key = &single(stringify!($name), key);
            let dtype = float_type(stringify!($name), dtype);
            let shape = &sampled_shape(stringify!($name), shape.as_ref(), &[$parameter.shape()])[..];
            check_safe(stringify!($name), dtype, &[$parameter]);
            let of = format!("{shape:?} {dtype}");
            library($text, &of, [key, $parameter], |[key, $parameter]| {
                $sample(key, $parameter, shape, dtype)
            })
        }
    )* };
}

samplers! {
    /// Samples of the Pareto distribution with exponent `b` and scale 1.
    pareto(b) "_pareto" pareto_samples;
    /// Samples of the Rayleigh distribution.
    rayleigh(scale) "_rayleigh" rayleigh_samples;
    /// Samples of the Wald distribution (the inverse Gaussian one) of that mean and scale 1.
    wald(mean) "_wald" wald_samples;
}

fn pareto_samples(key: &Array, b: &Array, shape: &[usize], dtype: DType) -> Array {
    let b = as_dtype(b, dtype, false);
    lax::exp(&(exponential(key, shape, dtype) / b))
}

fn rayleigh_samples(key: &Array, scale: &Array, shape: &[usize], dtype: DType) -> Array {
    let u = uniform(key, shape, dtype, 0.0, 1.0);
    let scale = numpy::broadcast_to(&as_dtype(scale, dtype, false), shape);
    let log = lax::log(&u);
    lax::mul(&scale, &lax::sqrt(&lax::mul(&log, &number(-2.0, dtype))))
}

/// By the transformation with several roots (Michael, Schucany and Haas, 1976).
fn wald_samples(key: &Array, mean: &Array, shape: &[usize], dtype: DType) -> Array {
    let c = |value: f64| number(value, dtype);
    let [for_normal, for_uniform] = split(key, 2).unpack();
    let mean = &numpy::broadcast_to(&as_dtype(mean, dtype, false), shape);
    let v = normal(&for_normal, shape, dtype);
    let z = uniform(&for_uniform, shape, dtype, 0.0, 1.0);
    let y = lax::integer_pow(&v, 2);
    let y_square = lax::integer_pow(&y, 2);
    let mean_square = lax::integer_pow(mean, 2);
    let root = lax::sqrt(&(c(4.0) * mean * &y + &mean_square * y_square));
    let x = mean + &mean_square * y / c(2.0) - mean / c(2.0) * root;
    let first = lax::le(&z, &(mean / (mean + &x)));
    lax::select(&first, &x, &(mean_square / &x))
}

/// Samples of `exp(sigma x)` for normal `x`, complex ones too.
///
/// # Panics
/// When the element type is neither floating-point nor complex or less wide than `sigma`, or `sigma` does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// assert!(random::lognormal(&random::key(0), 0.5, [4]).to_vec::<f32>().iter().all(|&x| x > 0.0));
/// ```
#[track_caller]
pub fn lognormal(key: &Array, sigma: impl Into<Array>, options: impl Into<Sample>) -> Array {
    let _named = crate::trace::named("lognormal");
    let sigma = &sigma.into();
    let Sample { shape, dtype } = options.into();
    let key = &single("lognormal", key);
    let dtype = match dtype {
        Some(dtype) if dtype.is_complex() => dtype,
        dtype => float_type("lognormal", dtype),
    };
    let shape = sampled_shape("lognormal", shape.as_ref(), &[sigma.shape()]);
    check_safe("lognormal", dtype, &[sigma]);
    let sigma = as_dtype(sigma, dtype, false);
    lax::exp(&(normal(key, &shape, dtype) * sigma))
}

/// Samples of the triangular distribution between `left` and `right` with its top at `mode`.
///
/// # Panics
/// When the element type is not floating-point or less wide than a parameter, or the parameters do not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::triangular(&random::key(0), -1.0, 0.0, 2.0, [100]);
/// assert!(x.to_vec::<f32>().iter().all(|x| (-1.0..=2.0).contains(x)));
/// ```
#[track_caller]
pub fn triangular(
    key: &Array,
    left: impl Into<Array>,
    mode: impl Into<Array>,
    right: impl Into<Array>,
    options: impl Into<Sample>,
) -> Array {
    let _named = crate::trace::named("triangular");
    let (left, mode, right) = (&left.into(), &mode.into(), &right.into());
    let Sample { shape, dtype } = options.into();
    let key = &single("triangular", key);
    let dtype = float_type("triangular", dtype);
    let shapes = [left.shape(), mode.shape(), right.shape()];
    let shape = sampled_shape("triangular", shape.as_ref(), &shapes);
    check_safe("triangular", dtype, &[left, mode, right]);
    let broadcast = |x: &Array| numpy::broadcast_to(&as_dtype(x, dtype, false), &shape);
    let (left, right) = (&broadcast(left), &broadcast(right));
    let mode = &broadcast(mode);
    let rising = (mode - left) / (right - left);
    let u = uniform(key, &shape, dtype, 0.0, 1.0);
    let low = left + lax::sqrt(&(&u * (right - left) * (mode - left)));
    let high = right - lax::sqrt(&((number(1.0, dtype) - &u) * (right - left) * (right - mode)));
    lax::select(&lax::lt(&u, &rising), &low, &high)
}

/// Samples of the normal distribution of mean 0 and standard deviation 1 that are between `lower` and `upper`.
///
/// # Panics
/// When the element type is not floating-point, or the bounds do not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::truncated_normal(&random::key(0), -2.0, 2.0, [1000]);
/// assert!(x.to_vec::<f32>().iter().all(|x| x.abs() < 2.0));
/// ```
#[track_caller]
pub fn truncated_normal(
    key: &Array,
    lower: impl Into<Array>,
    upper: impl Into<Array>,
    options: impl Into<Sample>,
) -> Array {
    let _named = crate::trace::named("truncated_normal");
    let (lower, upper) = (&lower.into(), &upper.into());
    let Sample { shape, dtype } = options.into();
    let key = &single("truncated_normal", key);
    let dtype = float_type("truncated_normal", dtype);
    let shapes = [lower.shape(), upper.shape()];
    let shape = &sampled_shape("truncated_normal", shape.as_ref(), &shapes)[..];
    library(
        "_truncated_normal",
        &format!("{shape:?} {dtype}"),
        [key, lower, upper],
        |[key, lower, upper]| {
            let root = &number(std::f64::consts::SQRT_2, dtype);
            let lower = as_dtype(lower, dtype, false);
            let upper = as_dtype(upper, dtype, false);
            let a = lax::erf(&(&lower / root));
            let b = lax::erf(&(&upper / root));
            let u = uniform(key, shape, dtype, a, b);
            let out = root * lax::erf_inv(&u);
            // Rounding does not reach the bounds.
            let inside = |bound: &Array, to: f64| {
                lax::nextafter(&lax::stop_gradient(bound), &number(to, dtype))
            };
            let least = inside(&lower, f64::INFINITY);
            numpy::clip(&out, &least, &inside(&upper, f64::NEG_INFINITY))
        },
    )
}

/// Samples of the Maxwell distribution with a random sign, times `scale`, plus `loc`. The shape, when one is given, is followed by the
/// shape to which `loc` and `scale` broadcast.
///
/// # Panics
/// When the element type is not floating-point, or the parameters do not broadcast.
///
/// ```
/// use jaxide::random;
/// assert_eq!(random::double_sided_maxwell(&random::key(0), 0.0, 1.0, [4]).shape(), [4]);
/// ```
#[track_caller]
pub fn double_sided_maxwell(
    key: &Array,
    loc: impl Into<Array>,
    scale: impl Into<Array>,
    options: impl Into<Sample>,
) -> Array {
    let _named = crate::trace::named("double_sided_maxwell");
    let (loc, scale) = (&loc.into(), &scale.into());
    let Sample { shape, dtype } = options.into();
    let key = &single("double_sided_maxwell", key);
    let dtype = float_type("double_sided_maxwell", dtype);
    let of_parameters =
        numpy::broadcast_shapes("double_sided_maxwell", &[loc.shape(), scale.shape()]);
    let mut shape = sampled_shape("double_sided_maxwell", shape.as_ref(), &[]);
    // As JAX does: without a shape, that of the parameters stands there twice.
    if shape.is_empty() {
        shape.clone_from(&of_parameters);
    }
    shape.extend(of_parameters);
    library(
        "_double_sided_maxwell",
        &format!("{shape:?} {dtype}"),
        [key, loc, scale],
        |[key, loc, scale]| {
            let [for_size, for_sign] = split(key, 2).unpack();
            let size = maxwell(&for_size, &shape, dtype);
            let sign = rademacher(&for_sign, &shape, dtype);
            sign * size * scale + loc
        },
    )
}

/// Samples of the Weibull distribution of minima. The shape is that of uniform samples, with which the parameters broadcast.
///
/// # Panics
/// When the element type is not floating-point, or shapes do not broadcast.
///
/// ```
/// use jaxide::random;
/// assert_eq!(random::weibull_min(&random::key(0), 2.0, 1.5, [4]).shape(), [4]);
/// ```
#[track_caller]
pub fn weibull_min(
    key: &Array,
    scale: impl Into<Array>,
    concentration: impl Into<Array>,
    options: impl Into<Sample>,
) -> Array {
    let _named = crate::trace::named("weibull_min");
    let (scale, concentration) = (&scale.into(), &concentration.into());
    let Sample { shape, dtype } = options.into();
    let key = &single("weibull_min", key);
    let dtype = float_type("weibull_min", dtype);
    let shape = sampled_shape("weibull_min", shape.as_ref(), &[]);
    library(
        "_weibull_min",
        &format!("{shape:?} {dtype}"),
        [key, scale, concentration],
        |[key, scale, concentration]| {
            let u = uniform(key, &shape, dtype, 0, 1);
            let log = lax::neg(&lax::log1p(&lax::neg(&u)));
            let exponent = numpy::divide(&Array::from(1.0), concentration);
            numpy::power(&log, &exponent) * scale
        },
    )
}

/// Samples whose density falls with `exp(-|x|^p)`: 2 is the normal distribution of variance a half, 1 that of Laplace.
///
/// # Panics
/// When the element type is not floating-point, or `p` does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// assert_eq!(random::generalized_normal(&random::key(0), 1.5, [4]).shape(), [4]);
/// ```
#[track_caller]
pub fn generalized_normal(key: &Array, p: impl Into<Array>, options: impl Into<Sample>) -> Array {
    let _named = crate::trace::named("generalized_normal");
    let p = &p.into();
    let Sample { shape, dtype } = options.into();
    let key = &single("generalized_normal", key);
    let dtype = float_type("generalized_normal", dtype);
    let shape = sampled_shape("generalized_normal", shape.as_ref(), &[]);
    numpy::check_broadcast_to("generalized_normal", p.shape(), &shape);
    generalized_normal_call(key, p, &shape, dtype)
}

#[track_caller]
fn generalized_normal_call(key: &Array, p: &Array, shape: &[usize], dtype: DType) -> Array {
    library(
        "_generalized_normal",
        &format!("{shape:?} {dtype}"),
        [key, p],
        |[key, p]| {
            let keys = split(key, 2);
            let one = Array::from(1);
            let first = keys.index(0);
            let g = gamma_call(&first, &numpy::divide(&one, p), shape, dtype);
            let sign = rademacher(&keys.index(1), shape, dtype);
            sign * numpy::power(&g, &numpy::divide(&one, p))
        },
    )
}

/// Uniform samples of the ball of radius 1 in `d` dimensions, where lengths are p-norms: vectors along the last axis, which the shape
/// is without.
///
/// # Panics
/// When the element type is not floating-point, or `p` does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::ball(&random::key(0), 3, 2, [100]);
/// assert_eq!(x.shape(), [100, 3]);
/// assert!(x.square().sum_axes(1).to_vec::<f32>().iter().all(|&square| square <= 1.0));
/// ```
#[track_caller]
pub fn ball(key: &Array, d: usize, p: impl Into<Array>, options: impl Into<Sample>) -> Array {
    let _named = crate::trace::named("ball");
    let p = &p.into();
    let Sample { shape, dtype } = options.into();
    let key = &single("ball", key);
    let dtype = float_type("ball", dtype);
    let shape = &sampled_shape("ball", shape.as_ref(), &[])[..];
    numpy::check_broadcast_to("ball", p.shape(), &[shape, &[d]].concat());
    let of = format!("{shape:?} {d} {dtype}");
    library("_ball", &of, [key, p], |[key, p]| {
        let [for_direction, for_length] = split(key, 2).unpack();
        let g = generalized_normal_call(&for_direction, p, &[shape, &[d]].concat(), dtype);
        let e = exponential(&for_length, shape, dtype);
        let sum = lax::reduce_sum(&numpy::power(&lax::abs(&g), p), shape.len()) + e;
        let norm = numpy::power(&sum, &numpy::divide(&Array::from(1), p));
        g / lax::expand_dims(&norm, &[norm.ndim()])
    })
}
