//! Distributions on an interval, or on one side of a number.

use super::table::distributions;
use crate::api::library_jvp;
use crate::array::Array;
use crate::numpy::{clip, select, where_};
use crate::scipy::operands::constant;
use crate::scipy::special::{betainc, betaln, gammainc, gammaincc, gammaln, xlog1py, xlogy};
use crate::{lax, numpy};

const INFINITY: f64 = f64::INFINITY;

/// Whether a probability is none.
#[track_caller]
fn no_probability(q: &Array) -> Array {
    numpy::isnan(q) | q.lt(0) | q.gt(1)
}

/// `ln(1 - e^-x)`, exact where `x` is small.
#[track_caller]
pub(super) fn log1mexp(x: &Array) -> Array {
    library_jvp(
        ["log1mexp", "jvp"],
        (x.clone(),),
        |(x,): (Array,)| {
            crate::trace::library("log1mexp", "", [&x], |[x]| {
                let near = x.lt(Array::from(2.0).log());
                let small = (-(-x).expm1()).log();
                where_(&near, small, (-(-x).exp()).log1p())
            })
        },
        |(x,): (Array,), (t,): (Array,)| (log1mexp(&x), t / x.expm1()),
    )
}

distributions! {
    /// The beta distribution with shapes `a` and `b`, from `loc` to `loc + scale`.
    ///
    /// ```
    /// use jaxide::scipy::stats::beta;
    /// assert_eq!(beta::cdf([0.25f32, 2.0], 1.0, 1.0, ()).to_vec::<f32>(), [0.25, 1.0]);
    /// ```
    mod beta: "beta distribution", LocScale {
        fn logpdf(x, a, b; loc, scale) {
            let one = constant(x, 1.0);
            let shape_term = -betaln(a, b);
            let y = (x - loc) / scale;
            let linear = xlogy(a - &one, &y) + xlog1py(b - &one, -&y);
            let log = shape_term + linear - lax::log(scale);
            let outside = x.gt(loc + scale) | x.lt(loc);
            let result = where_(&outside, -INFINITY, log);
            let none = a.le(0.0) | b.le(0.0) | scale.le(0.0);
            where_(&none, f64::NAN, result)
        }
        fn pdf(x, a, b; loc, scale) = exp(logpdf);
        fn cdf(x, a, b; loc, scale) {
            let y = (x - loc) / scale;
            betainc(a, b, lax::clamp(&constant(x, 0.0), &y, &constant(x, 1.0)))
        }
        fn logcdf(x, a, b; loc, scale) = log(cdf);
        fn sf(x, a, b; loc, scale) {
            let y = (x - loc) / scale;
            betainc(b, a, 1 - lax::clamp(&constant(x, 0.0), &y, &constant(x, 1.0)))
        }
        fn logsf(x, a, b; loc, scale) = log(sf);
    }

    /// The chi-squared distribution with `df` degrees of freedom.
    mod chi2: "chi-squared distribution", LocScale {
        fn logpdf(x, df; loc, scale) {
            let (one, two) = (constant(x, 1.0), constant(x, 2.0));
            let y = (x - loc) / scale;
            let half = df / &two;
            let kernel = xlogy(&half - one, &y) - y / &two;
            let normal = -(lax::lgamma(&half) + lax::log(&two) * df / &two);
            let log = normal - lax::log(scale) + kernel;
            where_(&x.lt(loc), -INFINITY, log)
        }
        fn pdf(x, df; loc, scale) = exp(logpdf);
        fn cdf(x, df; loc, scale) {
            let two = constant(scale, 2.0);
            let half = df / &two;
            let y = (x - loc) / (scale * &two);
            gammainc(half, lax::clamp(&constant(x, 0.0), &y, &constant(x, INFINITY)))
        }
        fn logcdf(x, df; loc, scale) = log(cdf);
        fn sf(x, df; loc, scale) {
            let two = constant(scale, 2.0);
            let half = df / &two;
            let y = (x - loc) / (scale * &two);
            gammaincc(half, lax::clamp(&constant(x, 0.0), &y, &constant(x, INFINITY)))
        }
        fn logsf(x, df; loc, scale) = log(sf);
    }

    /// The exponential distribution, of density `e^-x`.
    mod expon: "exponential distribution", LocScale {
        fn logpdf(x; loc, scale) {
            let log_scale = lax::log(scale);
            let log = -((x - loc) / scale + log_scale);
            where_(&x.lt(loc), -INFINITY, log)
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn cdf(x; loc, scale) {
            let y = (loc - x) / scale;
            let below = x.lt(loc);
            let zeros = numpy::full_like(&y, 0);
            where_(&below, zeros, -lax::expm1(&y))
        }
        fn logcdf(x; loc, scale) {
            let y = (x - loc) / scale;
            let below = x.lt(loc);
            let safe = where_(&below, 1, y);
            where_(&below, -INFINITY, log1mexp(&safe))
        }
        fn logsf(x; loc, scale) {
            let y = (loc - x) / scale;
            let below = x.lt(loc);
            where_(&below, numpy::full_like(&y, 0), y)
        }
        fn sf(x; loc, scale) = exp(logsf);
        fn ppf(q; loc, scale) {
            let none = no_probability(q);
            where_(&none, f64::NAN, loc - scale * lax::log1p(&-q))
        }
    }

    /// The gamma distribution with shape `a`.
    mod gamma: "gamma distribution", LocScale {
        fn logpdf(x, a; loc, scale) {
            let inside = x.ge(loc);
            let one = constant(x, 1.0);
            let y = where_(&inside, (x - loc) / scale, &one);
            let linear = xlogy(a - one, &y) - y;
            let shape_terms = gammaln(a) + lax::log(scale);
            where_(&inside, linear - shape_terms, -INFINITY)
        }
        fn pdf(x, a; loc, scale) = exp(logpdf);
        fn cdf(x, a; loc, scale) {
            let y = (x - loc) / scale;
            gammainc(a, lax::clamp(&constant(x, 0.0), &y, &constant(x, INFINITY)))
        }
        fn logcdf(x, a; loc, scale) = log(cdf);
        fn sf(x, a; loc, scale) {
            let y = (x - loc) / scale;
            let below = y.lt(0.0);
            where_(&below, 1, gammaincc(a, y))
        }
        fn logsf(x, a; loc, scale) = log(sf);
    }

    /// The Pareto distribution with exponent `b`, of density `b / x^(b + 1)` from 1 on.
    mod pareto: "Pareto distribution", LocScale {
        fn logpdf(x, b; loc, scale) {
            let one = constant(x, 1.0);
            let y = (x - loc) / scale;
            let normal = lax::log(&(scale / b));
            let log = -(normal + (b + &one) * lax::log(&y));
            where_(&y.lt(one), -INFINITY, log)
        }
        fn pdf(x, b; loc, scale) = exp(logpdf);
        fn cdf(x, b; loc, scale) {
            let one = constant(x, 1.0);
            let y = (x - loc) / scale;
            let value = &one - lax::pow(&y, &-b);
            where_(&y.lt(one), constant(x, 0.0), value)
        }
        fn logcdf(x, b; loc, scale) {
            let y = (x - loc) / scale;
            let value = lax::log1p(&-lax::pow(&y, &-b));
            where_(&y.lt(1.0), -INFINITY, value)
        }
        fn logsf(x, b; loc, scale) {
            let y = (x - loc) / scale;
            let value = -(b * lax::log(&y));
            where_(&y.lt(1.0), constant(x, 0.0), value)
        }
        fn sf(x, b; loc, scale) = exp(logsf);
        fn ppf(q, b; loc, scale) {
            let one = constant(q, 1.0);
            let value = loc + scale * lax::pow(&(&one - q), &-(&one / b));
            let none = no_probability(q);
            where_(&none, f64::NAN, value)
        }
    }

    /// The uniform distribution from `loc` to `loc + scale`.
    mod uniform: "uniform distribution", LocScale {
        fn logpdf(x; loc, scale) {
            let z = (x - loc) / scale;
            let log = -lax::log(scale);
            let outside = z.lt(0) | z.gt(1);
            let inside = z.ge(0) & z.le(1);
            select(&[outside, inside], &[Array::from(-INFINITY), log], Array::from(f64::NAN))
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn cdf(x; loc, scale) {
            clip(&((x - loc) / scale), 0, 1)
        }
        fn ppf(q; loc, scale) {
            let none = no_probability(q);
            where_(&none, f64::NAN, loc + scale * q)
        }
    }
}
