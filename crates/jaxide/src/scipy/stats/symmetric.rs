//! Distributions that are symmetric, and the truncated normal one.

use super::table::distributions;
use crate::array::Array;
use crate::numpy::{select, where_};
use crate::scipy::operands::constant;
use crate::scipy::special::{LogSumExp, expit, log_ndtr, logit, logsumexp, ndtr, ndtri};
use crate::{lax, numpy};

const PI: f64 = std::f64::consts::PI;

/// `ln(e^x - e^y)`.
#[track_caller]
fn log_difference(x: &Array, y: &Array) -> Array {
    let stacked = |x: Array, y: Array| {
        let row = |x: Array| lax::expand_dims(&x, &[0]);
        lax::concatenate(&[row(x), row(y)], 0)
    };
    let values = stacked(x.clone(), y.clone());
    let ones = numpy::full_like(x, 1);
    let factors = stacked(ones, -numpy::full_like(y, 1));
    logsumexp(values, LogSumExp::new().axis([0]).b(factors))
}

/// Logarithm of the probability that a standard normal number is between `a` and `b`.
#[track_caller]
fn log_mass(a: &Array, b: &Array) -> Array {
    let (a, b) = (lax::copy(a), lax::copy(b));
    let shape = numpy::broadcast_shapes("truncnorm", &[a.shape(), b.shape()]);
    let (a, b) = (
        numpy::broadcast_to(&a, &shape),
        numpy::broadcast_to(&b, &shape),
    );
    let left = b.le(0);
    let right = a.gt(0);
    let central = !(left | &right);
    let a_tail = where_(&right, -&b, &a);
    let b_tail = where_(&right, -&a, &b);
    let high = log_ndtr(&b_tail, ());
    let tail = log_difference(&high, &log_ndtr(&a_tail, ()));
    let middle = (-ndtr(&a) - ndtr(-&b)).log1p();
    where_(&central, middle, tail)
}

distributions! {
    /// The normal distribution with mean `loc` and standard deviation `scale`.
    ///
    /// ```
    /// use jaxide::scipy::stats::norm;
    /// assert_eq!(norm::ppf([0.5f32], (3.0, 2.0)).to_vec::<f32>(), [3.0]);
    /// ```
    mod norm: "normal distribution", LocScale {
        fn logpdf(x; loc, scale) {
            let variance = lax::square(scale);
            let normal = lax::log(&(constant(x, 2.0 * PI) * &variance));
            let quadratic = lax::square(&(x - loc)) / variance;
            (normal + quadratic) / constant(x, -2.0)
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn cdf(x; loc, scale) {
            ndtr((x - loc) / scale)
        }
        fn logcdf(x; loc, scale) {
            log_ndtr((x - loc) / scale, ())
        }
        fn sf(x; loc, scale) {
            let (x, loc) = (-x, -loc);
            Raw::cdf(&x, &loc, scale)
        }
        fn logsf(x; loc, scale) {
            let (x, loc) = (-x, -loc);
            Raw::logcdf(&x, &loc, scale)
        }
        as_given fn ppf(q; loc, scale) {
            ndtri(q) * scale + loc
        }
        fn isf(q; loc, scale) {
            -Raw::ppf(q, &-loc, scale)
        }
    }

    /// The Cauchy distribution, of density `1 / (π (1 + x^2))`.
    mod cauchy: "Cauchy distribution", LocScale {
        fn logpdf(x; loc, scale) {
            let y = (x - loc) / scale;
            let normal = lax::log(&(constant(x, PI) * scale));
            -(normal + lax::log1p(&(&y * &y)))
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn cdf(x; loc, scale) {
            let y = (x - loc) / scale;
            constant(x, 0.5) + constant(x, 1.0) / constant(x, PI) * numpy::arctan(&y)
        }
        fn logcdf(x; loc, scale) = log(cdf);
        fn sf(x; loc, scale) {
            let (x, loc) = (-x, -loc);
            Raw::cdf(&x, &loc, scale)
        }
        fn logsf(x; loc, scale) {
            let (x, loc) = (-x, -loc);
            Raw::logcdf(&x, &loc, scale)
        }
        fn ppf(q; loc, scale) {
            let one = constant(q, 1.0);
            let upper = q.gt(0.5);
            let far = &one - q;
            let angle = constant(q, PI) * where_(&upper, far, lax::abs(q));
            let middle = q.equal(0.5);
            let sign = where_(&upper, &one, constant(q, -1.0));
            let value = where_(&middle, constant(q, 0.0), sign / lax::tan(&angle));
            let none = q.lt(0) | q.gt(1);
            where_(&none, f64::NAN, value * scale + loc)
        }
        fn isf(q; loc, scale) {
            -Raw::ppf(q, &-loc, scale)
        }
    }

    /// The Laplace distribution, of density `e^-|x| / 2`.
    mod laplace: "Laplace distribution", LocScale {
        fn logpdf(x; loc, scale) {
            let linear = lax::abs(&(x - loc)) / scale;
            -(linear + lax::log(&(constant(x, 2.0) * scale)))
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn cdf(x; loc, scale) {
            let delta = (x - loc) / scale;
            let half = constant(x, 0.5) * lax::exp(&-lax::abs(&delta));
            let below = delta.lt(0);
            lax::select(&below, &half, &(constant(x, 1.0) - &half))
        }
    }

    /// The logistic distribution, whose distribution function is `1 / (1 + e^-x)`.
    mod logistic: "logistic distribution", LocScale {
        fn logpdf(x; loc, scale) {
            let x = (x - loc) / scale;
            let two = constant(&x, 2.0);
            let half = x / &two;
            let minus = -two;
            let sum = numpy::logaddexp(&half, -&half);
            minus * sum - lax::log(scale)
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn cdf(x; loc, scale) {
            expit((x - loc) / scale)
        }
        fn sf(x; loc, scale) {
            expit(-((x - loc) / scale))
        }
        fn ppf(x; loc, scale) {
            logit(x) * scale + loc
        }
        fn isf(x; loc, scale) {
            -logit(x) * scale + loc
        }
    }

    /// Student's t distribution with `df` degrees of freedom.
    mod t: "t distribution", LocScale {
        fn logpdf(x, df; loc, scale) {
            let two = constant(x, 2.0);
            let y = (x - loc) / scale;
            let half = df / &two;
            let above = &half + constant(x, 0.5);
            let factor = scale * scale * constant(x, PI);
            let log = lax::log(&(factor * df)) / two;
            let normal = lax::lgamma(&half) + log - lax::lgamma(&above);
            let quadratic = &y * &y / df;
            -(normal + above * lax::log1p(&quadratic))
        }
        fn pdf(x, df; loc, scale) = exp(logpdf);
    }

    /// The generalised normal distribution with exponent `beta`, of density in proportion to `e^-|x|^beta`.
    mod gennorm: "generalised normal distribution", LocScale {
        fn logpdf(x, beta) {
            lax::log(&(0.5 * beta)) - lax::lgamma(&(1 / beta)) - lax::pow(&lax::abs(x), beta)
        }
        fn cdf(x, beta) {
            let sign = lax::sign(x);
            let inverse: Array = 1 / beta;
            0.5 * (1 + sign * lax::igamma(&inverse, &lax::pow(&lax::abs(x), beta)))
        }
        fn pdf(x, beta) = exp(logpdf);
    }

    /// The normal distribution between `a` and `b`, in standard deviations.
    ///
    /// ```
    /// use jaxide::scipy::stats::truncnorm;
    /// assert_eq!(truncnorm::pdf([2.0f32], -1.0f32, 1.0f32, ()).to_vec::<f32>(), [0.0]);
    /// ```
    mod truncnorm: "truncated normal distribution", LocScale {
        call fn logpdf(x, a, b; loc, scale) {
            let value = norm::Raw::logpdf(x, loc, scale) - log_mass(a, b);
            let y = (x - loc) / scale;
            let outside = y.lt(a) | y.gt(b);
            let value = where_(&outside, f64::NEG_INFINITY, value);
            where_(&a.lt(b), value, f64::NAN)
        }
        fn pdf(x, a, b; loc, scale) = exp(logpdf);
        call fn logcdf(x, a, b; loc, scale) {
            let shape = numpy::broadcast_shapes("truncnorm", &[x.shape(), a.shape(), b.shape()]);
            let [x, a, b] = [x, a, b].map(|x| numpy::broadcast_to(x, &shape));
            let x = (x - loc) / scale;
            let mass = log_mass(&a, &b);
            let below = log_mass(&a, &x) - &mass;
            let above = log_mass(&x, &b) - mass;
            let near = || below.gt(constant(&below, -0.1));
            let conditions = [x.ge(&b), x.le(&a), near(), x.gt(&a)];
            let choices = [
                Array::from(0),
                Array::from(f64::NEG_INFINITY),
                (-above.exp()).log1p(),
                below,
            ];
            let value = select(&conditions, &choices, Array::from(f64::NAN));
            where_(&a.lt(&b), value, f64::NAN)
        }
        call as_given fn cdf(x, a, b; loc, scale) {
            lax::exp(&Raw::logcdf(x, a, b, loc, scale))
        }
        call fn logsf(x, a, b; loc, scale) {
            let (x, b, a, loc) = (-x, -b, -a, -loc);
            Raw::logcdf(&x, &b, &a, &loc, scale)
        }
        call as_given fn sf(x, a, b; loc, scale) {
            lax::exp(&Raw::logsf(x, a, b, loc, scale))
        }
    }
}
