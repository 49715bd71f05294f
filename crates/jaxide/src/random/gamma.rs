//! Gamma samples, and distributions that are made of them.

use jaxide_core::{DType, prims};

use super::given::{check_safe, float_type, sampled_shape, single};
use super::{Gamma, Method, Sample, exponential, normal, number, split};
use crate::array::{Array, as_dtype};
use crate::trace::{bind_one, library};
use crate::{lax, nn, numpy};

/// Samples of the gamma distribution with parameter `a` and scale 1. They have derivatives in `a`.
///
/// # Panics
/// When the element type is not floating-point, or `a` does not broadcast to the shape.
///
/// ```
/// use jaxide::{grad, random, Array};
/// let mean = |a: Array| random::gamma(&random::key(0), a, 1000).mean();
/// assert!((mean(Array::from(3.0f32)).item::<f32>() - 3.0).abs() < 0.2);
/// // The mean is `a`.
/// assert!((grad(mean)(Array::from(3.0f32)).item::<f32>() - 1.0).abs() < 0.1);
/// ```
#[track_caller]
pub fn gamma(key: &Array, a: impl Into<Array>, options: impl Into<Gamma>) -> Array {
    let _named = crate::trace::named("gamma");
    of_options("gamma", key, &a.into(), &options.into(), false)
}

/// Logarithms of samples of the gamma distribution, exact where `a` is so small that the samples vanish.
///
/// # Panics
/// As [`gamma`].
///
/// ```
/// use jaxide::random;
/// let x = random::loggamma(&random::key(0), 1e-3, 4);
/// assert!(x.to_vec::<f32>().iter().all(|x| x.is_finite()));
/// ```
#[track_caller]
pub fn loggamma(key: &Array, a: impl Into<Array>, options: impl Into<Gamma>) -> Array {
    let _named = crate::trace::named("loggamma");
    of_options("loggamma", key, &a.into(), &options.into(), true)
}

#[track_caller]
fn of_options(operation: &str, key: &Array, a: &Array, options: &Gamma, log_space: bool) -> Array {
    let key = single(operation, key);
    let dtype = float_type(operation, options.dtype);
    let shape = sampled_shape(operation, options.shape.as_ref(), &[a.shape()]);
    samples(&key, a, &shape, dtype, options.method, log_space)
}

#[track_caller]
fn samples(
    key: &Array,
    a: &Array,
    shape: &[usize],
    dtype: DType,
    method: Method,
    log_space: bool,
) -> Array {
    let of = format!("{shape:?} {dtype} {log_space}");
    match method {
        Method::Exact => library("_gamma", &of, [key, a], |[key, a]| {
            let a = numpy::broadcast_to(&as_dtype(a, dtype, false), shape);
            bind_one(prims::RandomGamma { log_space }, &[key.clone(), a])
        }),
        Method::Approximate => library("_gamma_approx", &of, [key, a], |[key, a]| {
            approximate(key, a, shape, dtype, log_space)
        }),
    }
}

/// Exact samples where the shape is known to fit.
#[track_caller]
pub(super) fn gamma_call(key: &Array, a: &Array, shape: &[usize], dtype: DType) -> Array {
    samples(key, a, shape, dtype, Method::Exact, false)
}

/// Polynomials in `1 / nu`, coefficients of a polynomial in `x / sqrt(nu)`, whose cube times `nu` is nearly a chi-squared sample for a
/// normal sample `x`.
const QUANTILES: [[f64; 3]; 7] = [
    [1.0, -0.2237368, -0.01513904],
    [0.4713941, 0.02607083, -0.008986007],
    [0.0001348028, 0.01128186, 0.02277679],
    [-0.008553069, -0.01153761, -0.01323293],
    [0.00312558, 0.005169654, -0.006950356],
    [-0.0008426812, 0.00253001, 0.001060438],
    [9.780499e-05, -0.001450117, 0.001565326],
];

/// By how much the parameter is raised, to where the polynomials are good.
const BOOSTS: usize = 4;

/// A sample with a larger parameter, from a normal one, moved to the parameter by exponential samples.
fn approximate(key: &Array, a: &Array, shape: &[usize], dtype: DType, log_space: bool) -> Array {
    let computed = if dtype.size() < 4 { DType::F32 } else { dtype };
    let c = |value: f64| number(value, computed);
    let a = numpy::broadcast_to(&as_dtype(a, computed, false), shape);
    let [for_base, for_boost] = split(key, 2).unpack();
    let log_base = log_chi_square(&for_base, &(&a + c(BOOSTS as f64)), computed);
    let steps = lax::iota(computed, &[BOOSTS], 0);
    let column = [&[BOOSTS], &vec![1; shape.len()][..]].concat();
    let steps = lax::reshape(&steps, &column);
    let uniform = exponential(&for_boost, &[&[BOOSTS], shape].concat(), computed);
    let log_uniform = lax::neg(&uniform);
    let raised = lax::expand_dims(&a, &[0]) + steps;
    let sum = lax::reduce_sum(&(log_uniform / raised), &[0]);
    let log_sample = log_base + sum;
    let sample = if log_space {
        log_sample
    } else {
        lax::exp(&log_sample)
    };
    as_dtype(&sample, dtype, false)
}

/// The logarithm of a gamma sample with a parameter that is not small, by the quantiles of the chi-squared distribution.
fn log_chi_square(key: &Array, a: &Array, dtype: DType) -> Array {
    let c = |value: f64| number(value, dtype);
    let nu = c(2.0) * a;
    let x = normal(key, a.shape(), dtype);
    let u = c(1.0) / &nu;
    let t = x * lax::rsqrt(&nu);
    let rows = QUANTILES.map(|row| polynomial(&u, row.map(c).to_vec()));
    let cube_root = polynomial(&t, rows.to_vec());
    let tiny = c(super::uniform::format("gamma", dtype).tiny);
    let cube_root = numpy::maximum(&cube_root, &tiny);
    lax::log(a) + c(3.0) * lax::log(&cube_root)
}

/// The polynomial with coefficients from the lowest degree.
fn polynomial(x: &Array, coefficients: Vec<Array>) -> Array {
    let operands = [vec![x.clone()], coefficients].concat();
    bind_one(prims::Polynomial { unroll: None }, &operands)
}

/// Samples of the beta distribution with parameters `a` and `b`.
///
/// # Panics
/// When the element type is not floating-point or less wide than a parameter, or the parameters do not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::beta(&random::key(0), 2.0, 3.0, [100]);
/// assert!(x.to_vec::<f32>().iter().all(|x| (0.0..=1.0).contains(x)));
/// ```
#[track_caller]
pub fn beta(
    key: &Array,
    a: impl Into<Array>,
    b: impl Into<Array>,
    options: impl Into<Gamma>,
) -> Array {
    let _named = crate::trace::named("beta");
    let (a, b) = (&a.into(), &b.into());
    let Gamma {
        shape,
        dtype,
        method,
    } = options.into();
    let key = &single("beta", key);
    let dtype = float_type("beta", dtype);
    check_safe("beta", dtype, &[a, b]);
    let shape = &sampled_shape("beta", shape.as_ref(), &[a.shape(), b.shape()])[..];
    let of = format!("{shape:?} {dtype} {method:?}");
    library("_beta", &of, [key, a, b], |[key, a, b]| {
        let (a, b) = (as_dtype(a, dtype, false), as_dtype(b, dtype, false));
        let [for_a, for_b] = split(key, 2).unpack();
        let a = numpy::broadcast_to(&a, shape);
        let b = numpy::broadcast_to(&b, shape);
        let log_a = samples(&for_a, &a, shape, dtype, method, true);
        let log_b = samples(&for_b, &b, shape, dtype, method, true);
        let largest = lax::max(&log_a, &log_b);
        let a = lax::exp(&(log_a - &largest));
        let b = lax::exp(&(log_b - &largest));
        &a / (&a + b)
    })
}

/// Samples of the Dirichlet distribution: vectors along the last axis whose sum is 1. The shape is that of the result without its last
/// axis, to which `alpha` without its own must broadcast.
///
/// # Panics
/// When `alpha` has no axis, or the element type is not floating-point.
///
/// ```
/// use jaxide::{Array, random};
/// let x = random::dirichlet(&random::key(0), [1.0f32, 2.0, 3.0], [5]);
/// assert_eq!(x.shape(), [5, 3]);
/// assert!(x.sum_axes(1).to_vec::<f32>().iter().all(|sum| (sum - 1.0).abs() < 1e-6));
/// ```
#[track_caller]
pub fn dirichlet(key: &Array, alpha: impl Into<Array>, options: impl Into<Sample>) -> Array {
    let _named = crate::trace::named("dirichlet");
    let alpha = &alpha.into();
    let Sample { shape, dtype } = options.into();
    let key = &single("dirichlet", key);
    let dtype = float_type("dirichlet", dtype);
    let (batch, last) = super::vectors::last_axis("dirichlet", alpha);
    let mut shape = sampled_shape("dirichlet", shape.as_ref(), &[batch]);
    shape.push(last);
    let of = format!("{shape:?} {dtype}");
    library("_dirichlet", &of, [key, alpha], |[key, alpha]| {
        let alpha = as_dtype(alpha, dtype, false);
        nn::softmax(
            &samples(key, &alpha, &shape, dtype, Method::Exact, true),
            -1,
        )
    })
}

/// Samples of Student's t distribution with `df` degrees of freedom.
///
/// # Panics
/// When the element type is not floating-point or less wide than `df`, or `df` does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// assert_eq!(random::t(&random::key(0), [2.0f32, 3.0], [4, 2]).shape(), [4, 2]);
/// ```
#[track_caller]
pub fn t(key: &Array, df: impl Into<Array>, options: impl Into<Sample>) -> Array {
    let _named = crate::trace::named("t");
    let df = &df.into();
    let Sample { shape, dtype } = options.into();
    let key = &single("t", key);
    let dtype = float_type("t", dtype);
    let shape = &sampled_shape("t", shape.as_ref(), &[df.shape()])[..];
    check_safe("t", dtype, &[df]);
    let of = format!("{shape:?} {dtype}");
    library("_t", &of, [key, df], |[key, df]| {
        let df = as_dtype(df, dtype, false);
        let [for_normal, for_gamma] = split(key, 2).unpack();
        let n = normal(&for_normal, shape, dtype);
        let half = lax::div(&df, &number(2.0, dtype));
        let g = samples(&for_gamma, &half, shape, dtype, Method::Exact, false);
        n * lax::sqrt(&(half / g))
    })
}

/// Samples of the chi-squared distribution with `df` degrees of freedom.
///
/// # Panics
/// When the element type is not floating-point or less wide than `df`, or `df` does not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// let x = random::chisquare(&random::key(0), 4.0, [1000]);
/// assert!((x.mean().item::<f32>() - 4.0).abs() < 0.3);
/// ```
#[track_caller]
pub fn chisquare(key: &Array, df: impl Into<Array>, options: impl Into<Gamma>) -> Array {
    let _named = crate::trace::named("chisquare");
    let df = &df.into();
    let Gamma {
        shape,
        dtype,
        method,
    } = options.into();
    let key = &single("chisquare", key);
    let dtype = float_type("chisquare", dtype);
    let shape = &sampled_shape("chisquare", shape.as_ref(), &[df.shape()])[..];
    check_safe("chisquare", dtype, &[df]);
    chi_square_call(key, df, shape, dtype, method)
}

#[track_caller]
fn chi_square_call(
    key: &Array,
    df: &Array,
    shape: &[usize],
    dtype: DType,
    method: Method,
) -> Array {
    let of = format!("{shape:?} {dtype} {method:?}");
    library("_chisquare", &of, [key, df], |[key, df]| {
        let two = &number(2.0, dtype);
        let half = lax::div(&as_dtype(df, dtype, false), two);
        let log = samples(key, &half, shape, dtype, method, true);
        lax::mul(&lax::exp(&log), two)
    })
}

/// Samples of the F distribution with `dfnum` degrees of freedom above and `dfden` below.
///
/// # Panics
/// When the element type is not floating-point or less wide than a parameter, or the parameters do not broadcast to the shape.
///
/// ```
/// use jaxide::random;
/// assert!(random::f(&random::key(0), 3.0, 5.0, [4]).to_vec::<f32>().iter().all(|&x| x > 0.0));
/// ```
#[track_caller]
pub fn f(
    key: &Array,
    dfnum: impl Into<Array>,
    dfden: impl Into<Array>,
    options: impl Into<Sample>,
) -> Array {
    let _named = crate::trace::named("f");
    let (dfnum, dfden) = (&dfnum.into(), &dfden.into());
    let Sample { shape, dtype } = options.into();
    let key = &single("f", key);
    let dtype = float_type("f", dtype);
    let shape = &sampled_shape("f", shape.as_ref(), &[dfnum.shape(), dfden.shape()])[..];
    check_safe("f", dtype, &[dfnum, dfden]);
    let of = format!("{shape:?} {dtype}");
    library("_f", &of, [key, dfnum, dfden], |[key, dfnum, dfden]| {
        let dfden = as_dtype(dfden, dtype, false);
        let dfnum = as_dtype(dfnum, dtype, false);
        let [below, above] = split(key, 2).unpack();
        let above = chi_square_call(&above, &dfnum, shape, dtype, Method::Exact);
        let below = chi_square_call(&below, &dfden, shape, dtype, Method::Exact);
        let above = above / dfnum;
        let below = below / dfden;
        lax::div(&above, &below)
    })
}
