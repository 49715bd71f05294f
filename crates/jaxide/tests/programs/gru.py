"""`gru.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, nn, random

from dense import Dense

RATE, LARGEST_NORM, NOISE, CLASSES = 0.1, 0.5, 0.3, 5


class Gru(NamedTuple):
    input: jax.Array
    recurrent: jax.Array
    bias: jax.Array
    output: Dense


def new_gru(key, inputs, units):
    input, recurrent, output = random.split(key, 3)
    weight = lambda key, rows: random.normal(key, (rows, 3 * units)) * (1 / rows) ** 0.5
    return Gru(weight(input, inputs), weight(recurrent, units), jnp.zeros(3 * units), Dense.new(output, units, CLASSES))


def forward(gru, sequence):
    def step(state, x):
        from_input = jnp.split(x @ gru.input + gru.bias, 3)
        from_state = jnp.split(state @ gru.recurrent, 3)
        reset = nn.sigmoid(from_input[0] + from_state[0])
        update = nn.sigmoid(from_input[1] + from_state[1])
        candidate = jnp.tanh(from_input[2] + reset * from_state[2])
        return (1 - update) * candidate + update * state, None

    last, _ = lax.scan(step, jnp.zeros(gru.recurrent.shape[0]), sequence)
    return gru.output.forward(last)


def loss(gru, sequence, label):
    return -(nn.log_softmax(forward(gru, sequence)) * nn.one_hot(label, CLASSES)).sum()


def clipped(gru, sequence, label):
    value, gradient = jax.value_and_grad(loss)(gru, sequence, label)
    norm = jnp.sqrt(sum(jnp.square(g).sum() for g in jax.tree.leaves(gradient)))
    factor = jnp.minimum(LARGEST_NORM / jnp.maximum(norm, 1e-6), 1)
    return value, norm, jax.tree.map(lambda g: g * factor, gradient)


def step(gru, sequences, labels, key):
    losses, norms, gradients = jax.vmap(clipped, in_axes=(None, 0, 0))(gru, sequences, labels)
    leaves, treedef = jax.tree.flatten(gru)
    keys = treedef.unflatten(list(random.split(key, len(leaves))))

    def new(w, g, key):
        noise = random.normal(key, w.shape)
        return w - RATE * (g.sum(0) + NOISE * LARGEST_NORM * noise) / labels.size

    return jax.tree.map(new, gru, gradients, keys), losses, norms


def prepare(real):
    batch, times, inputs, units = (32, 50, 16, 64) if real else (3, 4, 2, 5)
    for_gru, for_sequences, for_labels, for_noise = random.split(random.key(9), 4)
    gru = new_gru(for_gru, inputs, units)
    sequences = random.normal(for_sequences, (batch, times, inputs))
    labels = random.randint(for_labels, (batch,), 0, CLASSES)
    return step, (gru, sequences, labels, for_noise)
