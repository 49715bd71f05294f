"""`dense.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Dense(NamedTuple):
    weight: jax.Array
    bias: jax.Array

    @staticmethod
    def new(key, inputs, outputs):
        weight = jax.random.normal(key, (inputs, outputs)) * (1 / inputs) ** 0.5
        return Dense(weight, jnp.zeros(outputs))

    def forward(self, x):
        return x @ self.weight + self.bias
