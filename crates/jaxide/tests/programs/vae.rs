//! A variational autoencoder of binary images, trained with Adam (Kingma and Welling, 2014).

use jaxide::prelude::*;
use jaxide::{lax, nn, numpy, random, value_and_grad_with_aux};

use super::adam::Adam;
use super::dense::Dense;
use super::{Prepared, Size};

const RATE: f64 = 1e-3;

#[derive(Clone, Pytree)]
struct Vae {
    encoder: Dense,
    mean: Dense,
    log_variance: Dense,
    decoder: Dense,
    pixels: Dense,
}

impl Vae {
    fn new(key: &Array, pixels: usize, hidden: usize, latent: usize) -> Self {
        let [a, b, c, d, e] = random::split(key, 5).unpack();
        Vae {
            encoder: Dense::new(&a, pixels, hidden),
            mean: Dense::new(&b, hidden, latent),
            log_variance: Dense::new(&c, hidden, latent),
            decoder: Dense::new(&d, latent, hidden),
            pixels: Dense::new(&e, hidden, pixels),
        }
    }

    /// Mean and logarithm of the variance of the latent numbers of each image.
    fn encode(&self, images: &Array) -> (Array, Array) {
        let hidden = nn::relu(&self.encoder.forward(images));
        (
            self.mean.forward(&hidden),
            self.log_variance.forward(&hidden),
        )
    }

    /// Logits of the pixels.
    fn decode(&self, latent: &Array) -> Array {
        let hidden = nn::relu(&self.decoder.forward(latent));
        self.pixels.forward(&hidden)
    }
}

/// The negative evidence lower bound per image, with one sample; also its two parts.
fn loss(vae: Vae, images: Array, key: Array) -> (Array, (Array, Array)) {
    let (mean, log_variance) = vae.encode(&images);
    let noise = random::normal(&key, mean.shape(), DType::F32);
    let logits = vae.decode(&(&mean + (&log_variance * 0.5).exp() * noise));
    // log(1 + e^z) - z x, without overflow.
    let misfit = logits.maximum(0.0) - &logits * images + (-logits.abs()).exp().log1p();
    let misfit = misfit.sum_axes(-1).mean();
    let divergence = 0.5
        * (log_variance.exp() + mean.square() - 1.0 - log_variance)
            .sum_axes(-1)
            .mean();
    (&misfit + &divergence, (misfit, divergence))
}

type State = (Vae, Adam<Vae>);

fn step((vae, adam): State, images: Array, key: Array) -> (State, [Array; 3]) {
    let ((loss, (misfit, divergence)), gradient) =
        value_and_grad_with_aux(loss)(vae.clone(), images, key);
    let state = adam.update(&vae, &gradient, RATE);
    (state, [loss, misfit, divergence])
}

/// One step for each batch, `[steps, batch, pixels]`.
fn train(mut state: State, batches: Array, key: Array) -> (State, Array) {
    let mut trace = Vec::new();
    for (number, images) in lax::unstack(&batches, 0).into_iter().enumerate() {
        let (next, losses) = step(state, images, random::fold_in(&key, number as i64));
        state = next;
        trace.push(numpy::stack(&losses, 0));
    }
    (state, numpy::stack(&trace, 0))
}

pub(crate) fn prepare(size: Size) -> Prepared {
    let (steps, batch) = size.pick((3, 4), (1, 128));
    let (pixels, hidden, latent) = size.pick((12, 8, 3), (784, 400, 20));
    let [for_vae, for_images, for_noise] = random::split(&random::key(1), 3).unpack();
    let vae = Vae::new(&for_vae, pixels, hidden, latent);
    let adam = Adam::new(&vae);
    let images = random::bernoulli(&for_images, 0.3, &[steps, batch, pixels]).astype(DType::F32);
    Prepared::new(train, ((vae, adam), images, for_noise))
}
