"""A convolutional network of Flax that learns to read digits, trained by optax; ``jit`` is the one line that changes.

    python digits.py
"""

import pathlib

import flax.linen as nn
import jax
import jax.numpy as jnp
import numpy as np
import optax

from beside import beside

DATA = pathlib.Path(__file__).resolve().parents[3] / "examples/data/digits.txt"


def digits():
    """Images of 8 × 8 pixels from 0 to 1, and the digits that they show."""
    lines = DATA.read_text().split("\n")[:-1]
    images = [[int(pixel, 17) / 16 for pixel in line[:64]] for line in lines]
    return np.array(images, np.float32).reshape(-1, 8, 8, 1), np.array([int(line[65]) for line in lines], np.int32)


class Network(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.relu(nn.Conv(16, (3, 3))(x))
        x = nn.avg_pool(x, (2, 2), (2, 2))
        x = nn.relu(nn.Conv(32, (3, 3))(x))
        x = nn.relu(nn.Dense(64)(x.reshape(x.shape[0], -1)))
        return nn.Dense(10)(x)


def train(jit, steps=150, batch=64):
    images, labels = digits()
    network, optimizer = Network(), optax.adam(1e-3)
    parameters = network.init(jax.random.key(0), images[:1])
    state = optimizer.init(parameters)

    @jit
    def step(parameters, state, images, labels):
        def loss(parameters):
            logits = network.apply(parameters, images)
            return optax.softmax_cross_entropy_with_integer_labels(logits, labels).mean()

        value, gradient = jax.value_and_grad(loss)(parameters)
        updates, state = optimizer.update(gradient, state)
        return optax.apply_updates(parameters, updates), state, value

    for k in range(steps):
        rows = np.arange(k * batch, (k + 1) * batch) % len(images)
        parameters, state, value = step(parameters, state, jnp.asarray(images[rows]), jnp.asarray(labels[rows]))
        yield value


if __name__ == "__main__":
    beside("digits", train)
