//! A particle filter of stochastic volatility, with systematic resampling at every time (Gordon, Salmond and Smith, 1993).
//!
//! Which particle is drawn hangs on the last bit of a running sum, which JAX adds up in another order: with thousands of
//! particles a few are drawn differently at each time, and results agree as two samples of that size do.

use jaxide::core::prims::SearchSide;
use jaxide::prelude::*;
use jaxide::{lax, numpy, random};

use super::{Prepared, Size};

/// The logarithm of the variance returns to `level`, is moved by normal noise of size `volatility`, and is seen
/// through returns of that variance.
#[derive(Clone, Pytree)]
struct Market {
    level: Array,
    persistence: Array,
    volatility: Array,
}

impl Market {
    fn advance(&self, state: &Array, noise: Array) -> Array {
        &self.level + &self.persistence * (state - &self.level) + &self.volatility * noise
    }

    /// The logarithm of the density of a return.
    fn log_density(&self, state: &Array, seen: &Array) -> Array {
        let half_log = 0.5 * (2.0 * std::f64::consts::PI).ln();
        -0.5 * (state + seen.square() * (-state).exp()) - half_log
    }
}

/// Indices of particles drawn by evenly spread places in their cumulative weights.
fn systematic(key: &Array, weights: &Array) -> Array {
    let count = weights.size();
    let offset = random::uniform(key, &[], DType::F32, 0.0, 1.0);
    let places = (numpy::arange(count, DType::F32) + offset) / count as f64;
    let found = lax::searchsorted(&numpy::cumsum(weights, 0), &places, SearchSide::Left);
    found.minimum(count as i32 - 1)
}

/// The logarithm of the density of the returns, the mean and the effective number of particles at each time, and the
/// particles at the end.
fn filter(
    market: Market,
    returns: Array,
    key: Array,
    count: usize,
) -> (Array, Array, Array, Array) {
    let [for_start, for_steps] = random::split(&key, 2).unpack();
    let start = &market.level + random::normal(&for_start, &[count], DType::F32);
    let step = |particles: Array, (seen, key): (Array, Array)| {
        let [for_noise, for_choice] = random::split(&key, 2).unpack();
        let noise = random::normal(&for_noise, &[count], DType::F32);
        let particles = market.advance(&particles, noise);
        let densities = market.log_density(&particles, &seen);
        let largest = densities.max();
        let weights = (densities - &largest).exp();
        let total = weights.sum();
        let likelihood = largest + (&total / count as f64).log();
        let weights = weights / total;
        let mean = (&weights * &particles).sum();
        let effective = 1.0 / weights.square().sum();
        let next = particles.index(systematic(&for_choice, &weights));
        (next, (likelihood, mean, effective))
    };
    let keys = random::split(&for_steps, returns.size());
    let (particles, (likelihoods, means, effective)) = scan(step, start, (returns, keys), None);
    (likelihoods.sum(), means, effective, particles)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (times, count) = size.pick((6, 16), (200, 4096));
    let [for_returns, for_filter] = random::split(&random::key(8), 2).unpack();
    let number = |value: f32| Array::from([value]).reshape(&[]);
    let market = Market {
        level: number(-0.5),
        persistence: number(0.95),
        volatility: number(0.3),
    };
    let returns = random::normal(&for_returns, &[times], DType::F32) * 0.8;
    let filter =
        move |market: Market, returns: Array, key: Array| filter(market, returns, key, count);
    Prepared::new(filter, (market, returns, for_filter))
}
