//! A Kalman filter and smoother of many tracks, and the gradient of their likelihood by the sizes of the noises.

use jaxide::lax::linalg;
use jaxide::prelude::*;
use jaxide::{lax, numpy, random, scan_reverse};

use super::gaussian_regression::{cho_solve, solve_lower};
use super::{Prepared, Size};

const TIME_STEP: f32 = 0.1;

/// Logarithms of the standard deviations of acceleration and observation.
#[derive(Clone, Pytree)]
struct Noise {
    process: Array,
    observation: Array,
}

/// A normal distribution of a state.
#[derive(Clone, Pytree)]
struct Belief {
    mean: Array,
    covariance: Array,
}

/// The motion of a point in the plane, whose place is observed: state `[x, y, dx, dy]`.
struct Model {
    transition: Array,
    process: Array,
    observation: Array,
    noise: Array,
}

impl Model {
    fn new(noise: &Noise) -> Self {
        let identity = Array::from([[1.0f32, 0.0], [0.0, 1.0]]);
        let zero = Array::zeros(&[2, 2], DType::F32);
        let blocks = |rows: [[&Array; 2]; 2]| {
            let rows = rows.map(|row| numpy::concatenate(&row.map(Clone::clone), 1));
            numpy::concatenate(&rows, 0)
        };
        let dt = TIME_STEP;
        let process = blocks([
            [
                &(&identity * (dt.powi(3) / 3.0)),
                &(&identity * (dt.powi(2) / 2.0)),
            ],
            [&(&identity * (dt.powi(2) / 2.0)), &(&identity * dt)],
        ]);
        Model {
            transition: blocks([[&identity, &(&identity * dt)], [&zero, &identity]]),
            process: process * (&noise.process * 2.0).exp(),
            observation: numpy::concatenate(&[identity.clone(), zero], 1),
            noise: identity * (&noise.observation * 2.0).exp(),
        }
    }

    fn predict(&self, belief: &Belief) -> Belief {
        let moved = self.transition.dot(&belief.covariance);
        Belief {
            mean: self.transition.dot(&belief.mean),
            covariance: moved.dot(&self.transition.t()) + &self.process,
        }
    }

    /// The belief after an observation, and the logarithm of the observation's density.
    fn update(&self, belief: &Belief, seen: &Array) -> (Belief, Array) {
        let observed = self.observation.dot(&belief.covariance);
        let spread = observed.dot(&self.observation.t()) + &self.noise;
        let lower = linalg::cholesky(&spread, true);
        let surprise = seen - self.observation.dot(&belief.mean);
        let gain = cho_solve(&lower, &observed).t();
        let white = solve_lower(&lower, &surprise);
        let [a, b] = lower.unpack();
        let log_determinant = (a.index(0) * b.index(1)).log();
        let likelihood =
            -0.5 * white.square().sum() - log_determinant - (2.0 * std::f64::consts::PI).ln();
        let belief = Belief {
            mean: &belief.mean + gain.dot(&surprise),
            covariance: &belief.covariance - gain.dot(&observed),
        };
        (belief, likelihood)
    }

    /// The belief at a time, given what is known of the next time.
    fn smooth(&self, filtered: &Belief, next: &Belief) -> Belief {
        let predicted = self.predict(filtered);
        let lower = linalg::cholesky(&predicted.covariance, true);
        let moved = self.transition.dot(&filtered.covariance);
        let gain = cho_solve(&lower, &moved).t();
        let change = &next.covariance - predicted.covariance;
        Belief {
            mean: &filtered.mean + gain.dot(&(&next.mean - predicted.mean)),
            covariance: &filtered.covariance + gain.dot(&change).dot(&gain.t()),
        }
    }
}

/// The logarithm of the density of a track `[times, 2]`, and the beliefs after each observation.
fn filter(model: &Model, track: Array) -> (Array, Belief) {
    let start = Belief {
        mean: Array::zeros(&[4], DType::F32),
        covariance: numpy::eye(4, DType::F32) * 10.0,
    };
    let (_, (beliefs, likelihoods)) = scan(
        |belief: Belief, seen: Array| {
            let (belief, likelihood) = model.update(&model.predict(&belief), &seen);
            (belief.clone(), (belief, likelihood))
        },
        start,
        track,
        None,
    );
    (likelihoods.sum(), beliefs)
}

/// The beliefs at each time, given the whole track.
fn smoother(model: &Model, filtered: Belief) -> Belief {
    let last = Belief {
        mean: filtered.mean.index(-1),
        covariance: filtered.covariance.index(-1),
    };
    let before = Belief {
        mean: filtered.mean.slice(..filtered.mean.shape()[0] - 1),
        covariance: filtered.covariance.slice(..filtered.mean.shape()[0] - 1),
    };
    let (_, smoothed) = scan_reverse(
        |next: Belief, belief: Belief| {
            let smoothed = model.smooth(&belief, &next);
            (smoothed.clone(), smoothed)
        },
        last.clone(),
        before,
        None,
    );
    let joined = |all: &Array, last: &Array| {
        numpy::concatenate(&[all.clone(), numpy::expand_dims(last, 0)], 0)
    };
    Belief {
        mean: joined(&smoothed.mean, &last.mean),
        covariance: joined(&smoothed.covariance, &last.covariance),
    }
}

fn mean_likelihood(noise: Noise, tracks: Array) -> Array {
    let of_track = |noise: Noise, track: Array| filter(&Model::new(&noise), track).0;
    vmap(of_track).in_axes((None, 0))(noise, tracks).mean()
}

/// The mean log-likelihood of the tracks, its gradient by the noises, and the smoothed beliefs of each track.
fn analyse(noise: Noise, tracks: Array) -> (Array, Noise, Belief) {
    let (likelihood, gradient) = value_and_grad(mean_likelihood)(noise.clone(), tracks.clone());
    let smoothed = vmap(|noise: Noise, track: Array| {
        let model = Model::new(&noise);
        smoother(&model, filter(&model, track).1)
    })
    .in_axes((None, 0))(noise, tracks);
    (likelihood, gradient, smoothed)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (count, times) = size.pick((3, 7), (32, 300));
    let noise = Noise {
        process: Array::from([-0.3f32]).reshape(&[]),
        observation: Array::from([-1.2f32]).reshape(&[]),
    };
    let walk = random::normal(&random::key(3), &[count, times, 2], DType::F32);
    let tracks = lax::cumsum(&walk, 1, false) * 0.2;
    Prepared::new(analyse, (noise, tracks))
}
