//! Distributions of extremes, and on a circle.

use super::bounded::log1mexp;
use super::table::distributions;
use crate::array::Array;
use crate::lax;
use crate::numpy::where_;
use crate::scipy::operands::constant;
use crate::scipy::special::{xlog1py, xlogy};

const PI: f64 = std::f64::consts::PI;

distributions! {
    /// The Gumbel distribution of smallest values, of density `e^(x - e^x)`.
    mod gumbel_l: "Gumbel distribution of smallest values", LocScale {
        fn logpdf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (x - loc) / scale;
            let normal = xlogy(-1, scale);
            let log = normal + (&z - lax::exp(&z));
            where_(&known, log, f64::NAN)
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn logcdf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (x - loc) / scale;
            let log = lax::log(&-lax::expm1(&-lax::exp(&z)));
            where_(&known, log, f64::NAN)
        }
        fn cdf(x; loc, scale) = exp(logcdf);
        fn ppf(p; loc, scale) {
            let known = p.gt(0.0) & p.lt(1.0);
            let t = scale * lax::log(&xlog1py(-1, -p));
            where_(&known, loc + t, f64::NAN)
        }
        fn logsf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (x - loc) / scale;
            where_(&known, -lax::exp(&z), f64::NAN)
        }
        fn sf(x; loc, scale) = exp(logsf);
    }

    /// The Gumbel distribution of largest values, of density `e^-(x + e^-x)`.
    mod gumbel_r: "Gumbel distribution of largest values", LocScale {
        fn logpdf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (x - loc) / scale;
            let normal = xlogy(-1, scale);
            let log = normal + -(&z + lax::exp(&-&z));
            where_(&known, log, f64::NAN)
        }
        fn pdf(x; loc, scale) = exp(logpdf);
        fn logcdf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (x - loc) / scale;
            where_(&known, -lax::exp(&-z), f64::NAN)
        }
        fn cdf(x; loc, scale) = exp(logcdf);
        fn ppf(p; loc, scale) {
            let known = p.gt(0.0) & p.lt(1.0);
            let t = scale * lax::log(&xlogy(-1, p));
            where_(&known, loc - t, f64::NAN)
        }
        fn sf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (loc - x) / scale;
            let below = lax::exp(&-lax::exp(&z));
            where_(&known, constant(x, 1.0) - below, f64::NAN)
        }
        fn logsf(x; loc, scale) {
            let known = scale.gt(0.0);
            let z = (loc - x) / scale;
            where_(&known, log1mexp(&lax::exp(&z)), f64::NAN)
        }
    }

    /// The distribution of von Mises on the circle, of density in proportion to `e^(kappa cos(x))`.
    mod vonmises: "von Mises distribution", LocScale {
        fn logpdf(x, kappa) {
            let known = kappa.ge(0.0);
            let cosine = kappa * (x.cos() - lax::sign(kappa));
            let value = cosine - constant(x, (2.0 * PI).ln()) - lax::bessel_i0e(kappa).log();
            where_(&known, value, f64::NAN)
        }
        fn pdf(x, kappa) = exp(logpdf);
    }

    /// The Cauchy distribution wrapped around the circle, with `c` between 0 and 1, from 0 to 2π.
    mod wrapcauchy: "wrapped Cauchy distribution", LocScale {
        fn logpdf(x, c) {
            let known = c.gt(0.0) & c.lt(1.0);
            let inside = x.ge(0.0) & x.le(constant(x, 2.0 * PI));
            let part = crate::numpy::log(&(1 - c * c)) - super::super::turn(x).log();
            let below = crate::numpy::log(&(1 + c * c - 2 * c * x.cos()));
            let value = where_(&inside, part - below, f64::NEG_INFINITY);
            where_(&known, value, f64::NAN)
        }
        fn pdf(x, c) = exp(logpdf);
    }
}
