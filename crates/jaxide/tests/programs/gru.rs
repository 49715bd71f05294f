//! A recurrent network trained on gradients that are clipped example by example and blurred by noise, so that no example
//! is remembered (Abadi et al., "Deep learning with differential privacy", 2016).

use jaxide::prelude::*;
use jaxide::{lax, nn, random, tree};

use super::dense::Dense;
use super::{Prepared, Size};

const RATE: f64 = 0.1;
const LARGEST_NORM: f64 = 0.5;
const NOISE: f64 = 0.3;
const CLASSES: usize = 5;

/// A gated recurrent unit (Cho et al., 2014); the three parts of each weight are reset, update and candidate.
#[derive(Clone, Pytree)]
struct Gru {
    input: Array,
    recurrent: Array,
    bias: Array,
    output: Dense,
}

impl Gru {
    fn new(key: &Array, inputs: usize, units: usize) -> Self {
        let [input, recurrent, output] = random::split(key, 3).unpack();
        let weight = |key: &Array, rows: usize| {
            random::normal(key, &[rows, 3 * units], DType::F32) * (1.0 / rows as f64).sqrt()
        };
        Gru {
            input: weight(&input, inputs),
            recurrent: weight(&recurrent, units),
            bias: Array::zeros(&[3 * units], DType::F32),
            output: Dense::new(&output, units, CLASSES),
        }
    }

    fn step(&self, state: &Array, x: &Array) -> Array {
        let units = state.size();
        let from_input = lax::split(&(x.dot(&self.input) + &self.bias), &[units; 3], 0);
        let from_state = lax::split(&state.dot(&self.recurrent), &[units; 3], 0);
        let reset = nn::sigmoid(&(&from_input[0] + &from_state[0]));
        let update = nn::sigmoid(&(&from_input[1] + &from_state[1]));
        let candidate = (&from_input[2] + reset * &from_state[2]).tanh();
        (1.0 - &update) * candidate + update * state
    }

    /// Logits after a sequence `[times, inputs]`.
    fn forward(&self, sequence: Array) -> Array {
        let units = self.recurrent.shape()[0];
        let start = Array::zeros(&[units], DType::F32);
        let (last, ()) = scan(
            |state: Array, x: Array| (self.step(&state, &x), ()),
            start,
            sequence,
            None,
        );
        self.output.forward(&last)
    }
}

/// The negative log-probability of the label of one sequence.
fn loss(gru: Gru, sequence: Array, label: Array) -> Array {
    let log_probabilities = nn::log_softmax(&gru.forward(sequence), -1);
    -(log_probabilities * nn::one_hot(&label, CLASSES, DType::F32)).sum()
}

/// The loss of an example, and its gradient with its norm, shortened to the largest allowed.
fn clipped(gru: Gru, sequence: Array, label: Array) -> (Array, Array, Gru) {
    let (loss, gradient) = value_and_grad(loss)(gru, sequence, label);
    let squared = tree::leaves(&gradient)
        .iter()
        .fold(Array::from(0.0), |sum, g| sum + g.square().sum());
    let norm = squared.sqrt();
    let factor = (LARGEST_NORM / norm.maximum(1e-6)).minimum(1.0);
    let gradient = tree::map(|g| g * &factor, &gradient).expect("the structure stays");
    (loss, norm, gradient)
}

/// The network after a step; losses and norms of the examples.
fn step(gru: Gru, sequences: Array, labels: Array, key: Array) -> (Gru, Array, Array) {
    let count = labels.size() as f64;
    let (losses, norms, gradients) =
        vmap(clipped).in_axes((None, 0, 0))(gru.clone(), sequences, labels);
    let keys = random::split(&key, tree::leaves(&gru).len());
    let mut number = 0;
    let next = tree::map2(
        |w, g| {
            let noise = random::normal(&keys.index(number), w.shape(), DType::F32);
            number += 1;
            w - RATE * (g.sum_axes(0) + NOISE * LARGEST_NORM * noise) / count
        },
        &gru,
        &gradients,
    );
    (next.expect("gradients are like networks"), losses, norms)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (batch, times, inputs, units) = size.pick((3, 4, 2, 5), (32, 50, 16, 64));
    let [for_gru, for_sequences, for_labels, for_noise] =
        random::split(&random::key(9), 4).unpack();
    let gru = Gru::new(&for_gru, inputs, units);
    let sequences = random::normal(&for_sequences, &[batch, times, inputs], DType::F32);
    let labels = random::randint(&for_labels, &[batch], 0, CLASSES as i64, DType::I32);
    Prepared::new(step, (gru, sequences, labels, for_noise))
}
