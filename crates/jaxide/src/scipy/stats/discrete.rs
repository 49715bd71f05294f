//! Distributions of whole numbers.

use super::table::distributions;
use crate::array::Array;
use crate::numpy::round;
use crate::numpy::{select, where_};
use crate::scipy::operands::constant;
use crate::scipy::special::{betaln, gammaincc, gammaln, xlog1py, xlogy};
use crate::{lax, numpy};

const INFINITY: f64 = f64::INFINITY;

distributions! {
    /// The Bernoulli distribution: 1 with probability `p`, else 0.
    ///
    /// ```
    /// use jaxide::scipy::stats::bernoulli;
    /// assert_eq!(bernoulli::pmf([0, 1, 2], 0.25f32, ()).to_vec::<f32>(), [0.75, 0.25, 0.0]);
    /// ```
    mod bernoulli: "Bernoulli distribution", Loc {
        fn logpmf(k, p; loc) {
            let x = k - loc;
            let hit = xlogy(&x, p);
            let log = hit + xlog1py(constant(k, 1.0) - &x, -p);
            let outside = x.lt(0.0) | x.gt(1.0);
            where_(&outside, -INFINITY, log)
        }
        fn pmf(k, p; loc) = exp(logpmf);
        fn cdf(k, p) {
            let (zero, one) = (constant(k, 0.0), constant(k, 1.0));
            let unknown = numpy::isnan(k) | numpy::isnan(p) | p.lt(&zero) | p.gt(&one);
            let conditions = [unknown, k.lt(&zero), k.ge(&zero) & k.lt(&one), k.ge(&one)];
            let miss = &one - p;
            select(&conditions, &[Array::from(f64::NAN), zero, miss, one], Array::from(0))
        }
        fn ppf(q, p) {
            let (zero, one) = (constant(q, 0.0), constant(q, 1.0));
            let unknown = numpy::isnan(q) | numpy::isnan(p);
            let unknown = unknown | p.lt(&zero) | p.gt(&one) | q.lt(&zero) | q.gt(&one);
            let miss = q.le(&one - p);
            where_(&unknown, f64::NAN, where_(&miss, zero, one))
        }
    }

    /// The beta-binomial distribution: hits of `n` trials whose probability has a beta distribution.
    mod betabinom: "beta-binomial distribution", Loc {
        call fn logpmf(k, n, a, b; loc) {
            let y = lax::floor(k) - loc;
            let (zero, one) = (constant(&y, 0.0), constant(&y, 1.0));
            let ways = lax::log1p(n);
            let ways = -(ways + betaln(n - &y + &one, &y + &one));
            let hits = betaln(&y + a, n - &y + b);
            let log = ways + (hits - betaln(a, b));
            let nothing = y.equal(&zero) & n.equal(&zero);
            let log = where_(&nothing, 0.0, log);
            let outside = y.lt(-loc) | y.gt(n) | (&y + a).le(&zero);
            let log = where_(&outside, -INFINITY, log);
            let unknown = n.lt(&zero) | a.le(&zero) | b.le(&zero);
            where_(&unknown, f64::NAN, log)
        }
        fn pmf(k, n, a, b; loc) = exp(logpmf);
    }

    /// The binomial distribution: hits of `n` trials, each with probability `p`.
    mod binom: "binomial distribution", Loc {
        fn logpmf(k, n, p; loc) {
            let y = k - loc;
            let zero = constant(&y, 0.0);
            let all = gammaln(n + 1);
            let hits = gammaln(&y + 1);
            let ways = all - (hits + gammaln(n - &y + 1));
            let hits = xlogy(&y, p);
            let linear = hits + xlog1py(n - &y, -p);
            let log = ways + &linear;
            let certain = (y.equal(&zero) & n.equal(&zero)) | linear.equal(zero);
            let log = where_(&certain, 0.0, log);
            let inside = k.ge(loc) & k.lt(loc + n + 1);
            where_(&inside, log, -INFINITY)
        }
        fn pmf(k, n, p; loc) = exp(logpmf);
    }

    /// The geometric distribution: trials up to the first hit, each with probability `p`.
    mod geom: "geometric distribution", Loc {
        fn logpmf(k, p; loc) {
            let x = k - loc;
            let log = xlog1py(&x - constant(k, 1.0), -p) + lax::log(p);
            where_(&x.le(0.0), -INFINITY, log)
        }
        fn pmf(k, p; loc) = exp(logpmf);
    }

    /// The negative binomial distribution: misses before the hit of number `n`, each with probability `p`.
    mod nbinom: "negative binomial distribution", Loc {
        fn logpmf(k, n, p; loc) {
            let one = constant(k, 1.0);
            let y = k - loc;
            let ways = gammaln(&y + n) - gammaln(n) - gammaln(&y + &one);
            let hits = xlogy(n, p);
            let log = ways + (hits + xlogy(y, one - p));
            where_(&k.lt(loc), -INFINITY, log)
        }
        fn pmf(k, n, p; loc) = exp(logpmf);
    }

    /// The Poisson distribution with mean `mu`.
    mod poisson: "Poisson distribution", Loc {
        fn logpmf(k, mu; loc) {
            let x = k - loc;
            let log = xlogy(&x, mu) - gammaln(&x + 1) - mu;
            let outside = x.lt(0.0) | round(&x, ()).not_equal(&x);
            where_(&outside, -INFINITY, log)
        }
        fn pmf(k, mu; loc) = exp(logpmf);
        fn cdf(k, mu; loc) {
            let zero = constant(k, 0.0);
            let x = k - loc;
            let below = gammaincc(numpy::floor(&(1 + &x)), mu);
            where_(&x.lt(&zero), zero, below)
        }
        call fn entropy(mu; loc) {
            let shape = numpy::broadcast_shapes("poisson.entropy", &[mu.shape(), loc.shape()]);
            let flat = lax::reshape(mu, [mu.size()]);
            let zeros = numpy::full_like(&flat, 0);
            let small = where_(&(flat.equal(0) | flat.ge(10)), 1, &flat);
            let medium = where_(&(flat.lt(10) | flat.ge(100)), 10, &flat);
            let large = where_(&flat.lt(100), 100, &flat);
            let nothing = flat.equal(0);
            let is_small = flat.lt(10);
            let small = entropy_by_terms(&small, 35, |mu| mu + 20);
            let is_medium = flat.lt(100);
            let medium = entropy_by_terms(&medium, 250, |mu| mu + 10 * mu.sqrt() + 20);
            let turn = constant(&flat, 2.0 * std::f64::consts::PI * std::f64::consts::E);
            let large = 0.5 * (turn * &large).log() - 1.0 / (12 * &large);
            let result = where_(&is_medium, medium, large);
            let result = where_(&is_small, small, result);
            let result = where_(&nothing, zeros, result);
            numpy::broadcast_to(&lax::reshape(&result, mu.shape()), &shape)
        }
    }
}

/// The entropy of Poisson distributions as a sum of so many terms, those below a limit.
#[track_caller]
fn entropy_by_terms(mu: &Array, count: usize, limit: impl Fn(&Array) -> Array) -> Array {
    let k = lax::expand_dims(&lax::iota(mu.dtype(), [count], 0), &[1]);
    let log = poisson::Raw::logpmf(&k, mu, &Array::from(0));
    let limit = numpy::ceil(&limit(mu));
    let counted = k.lt(lax::expand_dims(&limit, &[0]));
    let terms = where_(&counted, -log.exp() * &log, 0.0);
    terms.sum_axes(&[0])
}
