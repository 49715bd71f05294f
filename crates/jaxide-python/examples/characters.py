"""A transformer of Flax that learns the letters of its own source, trained by optax; ``jit`` is the one line that changes.

    python characters.py
"""

import pathlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from beside import beside

TEXT = pathlib.Path(__file__).read_bytes()
LENGTH, WIDTH = 64, 64


class Block(nn.Module):
    @nn.compact
    def __call__(self, x):
        mask = nn.make_causal_mask(x[..., 0])
        x = x + nn.MultiHeadDotProductAttention(num_heads=4)(nn.LayerNorm()(x), mask=mask)
        return x + nn.Dense(WIDTH)(nn.gelu(nn.Dense(4 * WIDTH)(nn.LayerNorm()(x))))


class Model(nn.Module):
    @nn.compact
    def __call__(self, letters):
        x = nn.Embed(128, WIDTH)(letters) + nn.Embed(LENGTH, WIDTH)(jnp.arange(LENGTH))
        for _ in range(2):
            x = Block()(x)
        return nn.Dense(128)(nn.LayerNorm()(x))


def train(jit, steps=60, batch=16):
    letters = np.frombuffer(TEXT, np.uint8).astype(np.int32)
    model = Model()
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(3e-3, steps)))
    parameters = model.init(jax.random.key(0), jnp.zeros((1, LENGTH), jnp.int32))
    state = optimizer.init(parameters)

    @jit
    def step(parameters, state, rows):
        def loss(parameters):
            logits = model.apply(parameters, rows[:, :-1])
            return optax.softmax_cross_entropy_with_integer_labels(logits, rows[:, 1:]).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state, parameters)
        return optax.apply_updates(parameters, updates), state, value

    random = np.random.default_rng(0)
    for _ in range(steps):
        starts = random.integers(0, len(letters) - LENGTH - 1, batch)
        rows = np.stack([letters[start : start + LENGTH + 1] for start in starts])
        parameters, state, value = step(parameters, state, jnp.asarray(rows))
        yield value


if __name__ == "__main__":
    beside("characters", train)
