"""`batch_norm.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, nn, random

from dense import Dense

RATE, MOMENTUM, KEPT, CLASSES = 0.05, 0.9, 0.9, 10


class Layer(NamedTuple):
    kernel: jax.Array
    scale: jax.Array
    offset: jax.Array


class Network(NamedTuple):
    layers: list
    output: Dense


class Statistics(NamedTuple):
    mean: jax.Array
    variance: jax.Array


class State(NamedTuple):
    network: Network
    velocity: Network
    running: list


def new_layer(key, inputs, outputs):
    kernel = random.normal(key, (3, 3, inputs, outputs)) * (2 / (9 * inputs)) ** 0.5
    return Layer(kernel, jnp.ones(outputs), jnp.zeros(outputs))


def new_network(key, side, features):
    *keys, last = random.split(key, len(features))
    layers = [new_layer(*args) for args in zip(keys, features, features[1:])]
    reduced = side >> len(layers)
    return Network(layers, Dense.new(last, reduced * reduced * features[-1], CLASSES))


def convolve(layer, x):
    return lax.conv_general_dilated(x, layer.kernel, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def finish(layer, x, statistics):
    normal = (x - statistics.mean) * lax.rsqrt(statistics.variance + 1e-5) * layer.scale + layer.offset
    return lax.reduce_window(nn.relu(normal), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def logits(network, x):
    return network.output.forward(x.reshape(x.shape[0], -1))


def infer(network, x, running):
    for layer, statistics in zip(network.layers, running):
        x = finish(layer, convolve(layer, x), statistics)
    return logits(network, x)


def loss(network, running, images, labels):
    x, following = images, []
    for layer, before in zip(network.layers, running):
        y = convolve(layer, x)
        statistics = Statistics(y.mean((0, 1, 2)), y.var((0, 1, 2)))
        x = finish(layer, y, statistics)
        following.append(jax.tree.map(lambda old, new: KEPT * old + (1 - KEPT) * new, before, statistics))
    value = -(nn.log_softmax(logits(network, x)) * nn.one_hot(labels, CLASSES)).sum(-1).mean()
    return value, lax.stop_gradient(following)


def step(state, images, labels):
    slope = jax.value_and_grad(loss, has_aux=True)
    (value, running), gradient = slope(state.network, state.running, images, labels)
    velocity = jax.tree.map(lambda v, g: MOMENTUM * v - RATE * g, state.velocity, gradient)
    network = jax.tree.map(lambda w, v: w + v, state.network, velocity)
    return State(network, velocity, running), value


def train(state, images, labels):
    losses = []
    for batch in zip(images, labels):
        state, value = step(state, *batch)
        losses.append(value)
    return state, jnp.stack(losses), infer(state.network, images[-1], state.running)


def prepare(real):
    steps, batch, side = (1, 64, 28) if real else (2, 3, 8)
    features = [1, 16, 32] if real else [1, 3, 4]
    for_network, for_images, for_labels = random.split(random.key(6), 3)
    network = new_network(for_network, side, features)
    images = random.normal(for_images, (steps, batch, side, side, 1))
    labels = random.randint(for_labels, (steps, batch), 0, CLASSES)
    running = [Statistics(jnp.zeros(count), jnp.ones(count)) for count in features[1:]]
    state = State(network, jax.tree.map(jnp.zeros_like, network), running)
    return train, (state, images, labels)
