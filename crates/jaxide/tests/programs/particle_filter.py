"""`particle_filter.rs` in JAX."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, random


class Market(NamedTuple):
    level: jax.Array
    persistence: jax.Array
    volatility: jax.Array


def advance(market, state, noise):
    return market.level + market.persistence * (state - market.level) + market.volatility * noise


def log_density(state, seen):
    return -0.5 * (state + jnp.square(seen) * jnp.exp(-state)) - 0.5 * math.log(2 * math.pi)


def systematic(key, weights):
    count = weights.size
    places = (jnp.arange(count, dtype=jnp.float32) + random.uniform(key)) / count
    return jnp.minimum(jnp.searchsorted(jnp.cumsum(weights), places), count - 1)


def filter(market, returns, key, count):
    for_start, for_steps = random.split(key)
    start = market.level + random.normal(for_start, (count,))

    def step(particles, inputs):
        seen, key = inputs
        for_noise, for_choice = random.split(key)
        particles = advance(market, particles, random.normal(for_noise, (count,)))
        densities = log_density(particles, seen)
        largest = densities.max()
        weights = jnp.exp(densities - largest)
        total = weights.sum()
        likelihood = largest + jnp.log(total / count)
        weights = weights / total
        mean = (weights * particles).sum()
        effective = 1 / jnp.square(weights).sum()
        return particles[systematic(for_choice, weights)], (likelihood, mean, effective)

    keys = random.split(for_steps, returns.size)
    particles, (likelihoods, means, effective) = lax.scan(step, start, (returns, keys))
    return likelihoods.sum(), means, effective, particles


def prepare(real):
    times, count = (200, 4096) if real else (6, 16)
    for_returns, for_filter = random.split(random.key(8))
    market = Market(jnp.float32(-0.5), jnp.float32(0.95), jnp.float32(0.3))
    returns = random.normal(for_returns, (times,)) * 0.8
    return lambda *args: filter(*args, count), (market, returns, for_filter)
