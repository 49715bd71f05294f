"""The optimiser of the example `language_model` in JAX."""

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

MEAN_DECAY, SQUARE_DECAY, EPSILON = 0.9, 0.999, 1e-8


class Adam(NamedTuple):
    step: jax.Array
    mean: Any
    square: Any

    @staticmethod
    def new(params):
        zeros = lambda: jax.tree.map(jnp.zeros_like, params)
        return Adam(jnp.zeros((), jnp.int32), zeros(), zeros())

    def update(self, params, gradient, rate):
        step = self.step + 1
        mean = jax.tree.map(lambda m, g: MEAN_DECAY * m + (1 - MEAN_DECAY) * g, self.mean, gradient)
        square = jax.tree.map(lambda s, g: SQUARE_DECAY * s + (1 - SQUARE_DECAY) * jnp.square(g), self.square, gradient)
        time = step.astype(jnp.float32)
        mean_bias, square_bias = 1 - MEAN_DECAY**time, 1 - SQUARE_DECAY**time
        new = lambda p, m, s: p - rate * (m / mean_bias) / (jnp.sqrt(s / square_bias) + EPSILON)
        return jax.tree.map(new, params, mean, square), Adam(step, mean, square)
