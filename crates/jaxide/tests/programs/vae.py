"""`vae.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import nn, random

from adam import Adam
from dense import Dense

RATE = 1e-3


class Vae(NamedTuple):
    encoder: Dense
    mean: Dense
    log_variance: Dense
    decoder: Dense
    pixels: Dense


def loss(vae, images, key):
    hidden = nn.relu(vae.encoder.forward(images))
    mean, log_variance = vae.mean.forward(hidden), vae.log_variance.forward(hidden)
    latent = mean + jnp.exp(log_variance * 0.5) * random.normal(key, mean.shape)
    logits = vae.pixels.forward(nn.relu(vae.decoder.forward(latent)))
    misfit = jnp.maximum(logits, 0) - logits * images + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    misfit = misfit.sum(-1).mean()
    divergence = 0.5 * (jnp.exp(log_variance) + jnp.square(mean) - 1 - log_variance).sum(-1).mean()
    return misfit + divergence, (misfit, divergence)


def train(state, batches, key):
    trace = []
    for number, images in enumerate(batches):
        vae, adam = state
        slope = jax.value_and_grad(loss, has_aux=True)
        (value, parts), gradient = slope(vae, images, random.fold_in(key, number))
        state = adam.update(vae, gradient, RATE)
        trace.append(jnp.stack([value, *parts]))
    return state, jnp.stack(trace)


def prepare(real):
    steps, batch = (1, 128) if real else (3, 4)
    pixels, hidden, latent = (784, 400, 20) if real else (12, 8, 3)
    for_vae, for_images, for_noise = random.split(random.key(1), 3)
    sizes = [(pixels, hidden), (hidden, latent), (hidden, latent), (latent, hidden), (hidden, pixels)]
    vae = Vae(*(Dense.new(key, *size) for key, size in zip(random.split(for_vae, 5), sizes)))
    images = random.bernoulli(for_images, 0.3, (steps, batch, pixels)).astype(jnp.float32)
    return train, ((vae, Adam.new(vae)), images, for_noise)
