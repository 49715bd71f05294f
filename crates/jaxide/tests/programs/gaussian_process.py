"""`gaussian_process.rs` in JAX."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, random
from jax.scipy.linalg import cho_solve, solve_triangular

RATE = 0.01
X64 = True


class Kernel(NamedTuple):
    amplitude: jax.Array
    lengths: jax.Array
    noise: jax.Array


def covariance(kernel, x, y):
    scale = jnp.exp(-kernel.lengths)
    distance = (x * scale)[:, None] - (y * scale)[None]
    return jnp.exp(2 * kernel.amplitude - 0.5 * jnp.square(distance).sum(-1))


def factor(kernel, x):
    noise = jnp.eye(x.shape[0]) * (jnp.exp(2 * kernel.noise) + 1e-8)
    return jnp.linalg.cholesky(covariance(kernel, x, x) + noise)


def misfit(kernel, x, y):
    lower = factor(kernel, x)
    white = solve_triangular(lower, y, lower=True)
    diagonal = (lower * jnp.eye(x.shape[0])).sum(-1)
    return (0.5 * jnp.square(white) + jnp.log(diagonal) + 0.5 * math.log(2 * math.pi)).mean()


def predict(kernel, x, y, at):
    lower = factor(kernel, x)
    across = covariance(kernel, x, at)
    mean = across.T @ cho_solve((lower, True), y)
    explained = jnp.square(solve_triangular(lower, across, lower=True)).sum(0)
    return mean, jnp.exp(2 * kernel.amplitude) - explained


def fit(kernel, x, y, at, steps):
    def step(kernel, _):
        value, gradient = jax.value_and_grad(misfit)(kernel, x, y)
        return jax.tree.map(lambda k, g: k - RATE * g, kernel, gradient), value

    kernel, misfits = lax.scan(step, kernel, None, length=steps)
    return kernel, misfits, *predict(kernel, x, y, at)


def prepare(real):
    count, features, places, steps = (256, 3, 64, 10) if real else (9, 2, 4, 3)
    for_x, for_noise, for_places = random.split(random.key(4), 3)
    uniform = lambda key, rows: random.uniform(key, (rows, features), minval=-2.0, maxval=2.0)
    x = uniform(for_x, count)
    y = jnp.sin(2 * x.sum(1)) + 0.1 * random.normal(for_noise, (count,))
    kernel = Kernel(jnp.zeros(()), jnp.zeros(features), jnp.full((), -1.5))
    return lambda *args: fit(*args, steps), (kernel, x, y, uniform(for_places, places))
