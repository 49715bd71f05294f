//! The Metropolis-adjusted Langevin algorithm: many chains that sample the posterior of a logistic regression.

use jaxide::prelude::*;
use jaxide::{numpy, random};

use super::{Prepared, Size};

const STEP: f64 = 0.01;

#[derive(Clone, Pytree)]
struct Data {
    features: Array,
    labels: Array,
}

/// Where a chain is, with the logarithm of the density there and its gradient.
#[derive(Clone, Pytree)]
struct State {
    weights: Array,
    density: Array,
    gradient: Array,
}

/// The logarithm of the posterior density, up to a constant.
fn log_density(weights: Array, data: Data) -> Array {
    let logits = data.features.dot(&weights);
    let normalizer = logits.maximum(0.0) + (-logits.abs()).exp().log1p();
    (data.labels * &logits - normalizer).sum() - 0.5 * weights.square().sum()
}

impl State {
    fn at(weights: Array, data: &Data) -> Self {
        let (density, gradient) = value_and_grad(log_density)(weights.clone(), data.clone());
        State {
            weights,
            density,
            gradient,
        }
    }

    /// The logarithm of the density of proposing `other` from here, up to a constant.
    fn proposal_density(&self, other: &State) -> Array {
        let distance = &other.weights - &self.weights - STEP * &self.gradient;
        -distance.square().sum() / (4.0 * STEP)
    }

    /// The next state, and whether it is the proposal.
    fn transition(self, key: &Array, data: &Data) -> (State, Array) {
        let [for_noise, for_choice] = random::split(key, 2).unpack();
        let noise = random::normal(&for_noise, self.weights.shape(), DType::F32);
        let weights = &self.weights + STEP * &self.gradient + (2.0 * STEP).sqrt() * noise;
        let proposal = State::at(weights, data);
        let gain = &proposal.density - &self.density + proposal.proposal_density(&self)
            - self.proposal_density(&proposal);
        let accepted = random::uniform(&for_choice, &[], DType::F32, 0.0, 1.0)
            .log()
            .lt(gain);
        let next = jaxide::tree::map2(
            |new, old| numpy::where_(&accepted, new, old),
            &proposal,
            &self,
        );
        (next.expect("states have the same structure"), accepted)
    }
}

/// A chain of `steps` transitions: its states, and the share of proposals that were accepted.
fn chain(start: Array, key: Array, data: Data, steps: usize) -> (Array, Array) {
    let (_, (states, accepted)) = scan(
        |state: State, key: Array| {
            let (next, accepted) = state.transition(&key, &data);
            let weights = next.weights.clone();
            (next, (weights, accepted))
        },
        State::at(start, &data),
        random::split(&key, steps),
        None,
    );
    (states, accepted.mean())
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (count, features, chains, steps) = size.pick((20, 3, 4, 12), (500, 20, 64, 500));
    let [for_features, for_labels, for_starts, for_chains] =
        random::split(&random::key(2), 4).unpack();
    let features = random::normal(&for_features, &[count, features], DType::F32);
    let chance = features.sum_axes(1).sigmoid();
    let labels = random::uniform(&for_labels, &[count], DType::F32, 0.0, 1.0)
        .lt(chance)
        .astype(DType::F32);
    let starts = random::normal(&for_starts, &[chains, features.shape()[1]], DType::F32);
    let keys = random::split(&for_chains, chains);

    let sample = move |starts: Array, keys: Array, data: Data| {
        let chain = move |start: Array, key: Array, data: Data| chain(start, key, data, steps);
        let (states, accepted) = vmap(chain).in_axes((0, 0, None))(starts, keys, data);
        let mean = states.mean_axes([0, 1]);
        let variance = numpy::var(&states, [0, 1]);
        (states, accepted, mean, variance)
    };
    Prepared::new(sample, (starts, keys, Data { features, labels }))
}
