"""`mala.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, nn, random

STEP = 0.01


class Data(NamedTuple):
    features: jax.Array
    labels: jax.Array


class State(NamedTuple):
    weights: jax.Array
    density: jax.Array
    gradient: jax.Array


def log_density(weights, data):
    logits = data.features @ weights
    normalizer = jnp.maximum(logits, 0) + jnp.log1p(jnp.exp(-jnp.abs(logits)))
    return (data.labels * logits - normalizer).sum() - 0.5 * jnp.square(weights).sum()


def state_at(weights, data):
    return State(weights, *jax.value_and_grad(log_density)(weights, data))


def proposal_density(state, other):
    distance = other.weights - state.weights - STEP * state.gradient
    return -jnp.square(distance).sum() / (4 * STEP)


def transition(state, key, data):
    for_noise, for_choice = random.split(key)
    noise = random.normal(for_noise, state.weights.shape)
    proposal = state_at(state.weights + STEP * state.gradient + (2 * STEP) ** 0.5 * noise, data)
    gain = proposal.density - state.density + proposal_density(proposal, state) - proposal_density(state, proposal)
    accepted = jnp.log(random.uniform(for_choice)) < gain
    return jax.tree.map(lambda new, old: jnp.where(accepted, new, old), proposal, state), accepted


def chain(start, key, data, steps):
    def step(state, key):
        state, accepted = transition(state, key, data)
        return state, (state.weights, accepted)

    _, (states, accepted) = lax.scan(step, state_at(start, data), random.split(key, steps))
    return states, accepted.mean()


def prepare(real):
    count, features, chains, steps = (500, 20, 64, 500) if real else (20, 3, 4, 12)
    for_features, for_labels, for_starts, for_chains = random.split(random.key(2), 4)
    x = random.normal(for_features, (count, features))
    labels = (random.uniform(for_labels, (count,)) < nn.sigmoid(x.sum(1))).astype(jnp.float32)
    starts = random.normal(for_starts, (chains, features))

    def sample(starts, keys, data):
        states, accepted = jax.vmap(lambda s, k, d: chain(s, k, d, steps), in_axes=(0, 0, None))(starts, keys, data)
        return states, accepted, states.mean((0, 1)), states.var((0, 1))

    return sample, (starts, random.split(for_chains, chains), Data(x, labels))
