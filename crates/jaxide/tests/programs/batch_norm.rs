//! A convolutional network with batch normalisation, whose running statistics are state beside the parameters.

use jaxide::lax::{Convolution, Padding, Window};
use jaxide::prelude::*;
use jaxide::{lax, nn, numpy, random, tree, value_and_grad_with_aux};

use super::dense::Dense;
use super::{Prepared, Size};

const RATE: f64 = 0.05;
const MOMENTUM: f64 = 0.9;
/// What running statistics keep at each step.
const KEPT: f64 = 0.9;
const CLASSES: usize = 10;

#[derive(Clone, Pytree)]
struct Layer {
    kernel: Array,
    scale: Array,
    offset: Array,
}

#[derive(Clone, Pytree)]
struct Network {
    layers: Vec<Layer>,
    output: Dense,
}

/// Statistics of each feature of a layer.
#[derive(Clone, Pytree)]
struct Statistics {
    mean: Array,
    variance: Array,
}

#[derive(Clone, Pytree)]
struct State {
    network: Network,
    velocity: Network,
    running: Vec<Statistics>,
}

impl Statistics {
    fn new(features: usize) -> Self {
        Statistics {
            mean: Array::zeros(&[features], DType::F32),
            variance: Array::ones(&[features], DType::F32),
        }
    }

    fn of(x: &Array) -> Self {
        Statistics {
            mean: x.mean_axes([0, 1, 2]),
            variance: numpy::var(x, [0, 1, 2]),
        }
    }

    fn toward(&self, new: &Statistics) -> Self {
        let moved = tree::map2(|old, new| KEPT * old + (1.0 - KEPT) * new, self, new);
        moved.expect("statistics have one structure")
    }
}

impl Layer {
    fn new(key: &Array, inputs: usize, outputs: usize) -> Self {
        let scale = (2.0 / (9 * inputs) as f64).sqrt();
        Layer {
            kernel: random::normal(key, &[3, 3, inputs, outputs], DType::F32) * scale,
            scale: Array::ones(&[outputs], DType::F32),
            offset: Array::zeros(&[outputs], DType::F32),
        }
    }

    fn convolve(&self, x: &Array) -> Array {
        let how = Convolution::new(&[1, 1], Padding::Same).layout("NHWC", "HWIO", "NHWC");
        lax::conv_general_dilated(x, &self.kernel, &how)
    }

    /// Normalised, rectified, and the largest of each two by two.
    fn finish(&self, x: &Array, statistics: &Statistics) -> Array {
        let inverse = lax::rsqrt(&(&statistics.variance + 1e-5));
        let normal = (x - &statistics.mean) * inverse * &self.scale + &self.offset;
        let pool = Window::new(&[1, 2, 2, 1]).strides(&[1, 2, 2, 1]);
        lax::reduce_window_max(&nn::relu(&normal), &pool)
    }
}

impl Network {
    fn new(key: &Array, side: usize, features: &[usize]) -> Self {
        let keys = lax::unstack(&random::split(key, features.len()), 0);
        let layers: Vec<Layer> = features
            .windows(2)
            .zip(&keys)
            .map(|(pair, key)| Layer::new(key, pair[0], pair[1]))
            .collect();
        let reduced = side >> layers.len();
        let inputs = reduced * reduced * features[features.len() - 1];
        Network {
            output: Dense::new(&keys[layers.len()], inputs, CLASSES),
            layers,
        }
    }

    fn logits(&self, x: &Array) -> Array {
        self.output.forward(&x.reshape(&[x.shape()[0] as i64, -1]))
    }

    /// Logits by the statistics of the batch, and the running statistics after it.
    fn train(&self, images: Array, running: &[Statistics]) -> (Array, Vec<Statistics>) {
        let (mut x, mut next) = (images, Vec::new());
        for (layer, running) in self.layers.iter().zip(running) {
            let y = layer.convolve(&x);
            let statistics = Statistics::of(&y);
            x = layer.finish(&y, &statistics);
            next.push(running.toward(&statistics));
        }
        (self.logits(&x), next)
    }

    /// Logits by the running statistics.
    fn infer(&self, images: Array, running: &[Statistics]) -> Array {
        let x = self
            .layers
            .iter()
            .zip(running)
            .fold(images, |x, (layer, statistics)| {
                layer.finish(&layer.convolve(&x), statistics)
            });
        self.logits(&x)
    }
}

fn loss(
    network: Network,
    running: Vec<Statistics>,
    images: Array,
    labels: Array,
) -> (Array, Vec<Statistics>) {
    let (logits, running) = network.train(images, &running);
    let right = nn::one_hot(&labels, CLASSES, DType::F32);
    let loss = -(nn::log_softmax(&logits, -1) * right).sum_axes(-1).mean();
    // Statistics are not differentiated.
    (
        loss,
        tree::map(lax::stop_gradient, &running).expect("as they are"),
    )
}

fn step(state: State, images: Array, labels: Array) -> (State, Array) {
    let same = "gradients are like networks";
    let ((loss, running), gradient) =
        value_and_grad_with_aux(loss)(state.network.clone(), state.running, images, labels);
    let velocity = tree::map2(|v, g| MOMENTUM * v - RATE * g, &state.velocity, &gradient);
    let velocity = velocity.expect(same);
    let network = tree::map2(|w, v| w + v, &state.network, &velocity).expect(same);
    let state = State {
        network,
        velocity,
        running,
    };
    (state, loss)
}

/// A step for each batch `[steps, batch, side, side, 1]`, then logits of the last batch as they are used.
fn train(mut state: State, images: Array, labels: Array) -> (State, Array, Array) {
    let (images, labels) = (lax::unstack(&images, 0), lax::unstack(&labels, 0));
    let mut losses = Vec::new();
    for (images, labels) in images.iter().zip(&labels) {
        let (next, loss) = step(state, images.clone(), labels.clone());
        state = next;
        losses.push(loss);
    }
    let logits = state
        .network
        .infer(images[images.len() - 1].clone(), &state.running);
    (state, numpy::stack(&losses, 0), logits)
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (steps, batch, side) = size.pick((2, 3, 8), (1, 64, 28));
    let features: &[usize] = size.pick(&[1, 3, 4], &[1, 16, 32]);
    let [for_network, for_images, for_labels] = random::split(&random::key(6), 3).unpack();
    let network = Network::new(&for_network, side, features);
    let images = random::normal(&for_images, &[steps, batch, side, side, 1], DType::F32);
    let labels = random::randint(&for_labels, &[steps, batch], 0, CLASSES as i64, DType::I32);
    let state = State {
        velocity: tree::map(|w| w * 0.0, &network).expect("zeros are like numbers"),
        network,
        running: features[1..]
            .iter()
            .map(|&count| Statistics::new(count))
            .collect(),
    };
    Prepared::new(train, (state, images, labels))
}
