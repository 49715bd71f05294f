"""`kalman.rs` in JAX."""

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, random
from jax.scipy.linalg import cho_solve, solve_triangular

TIME_STEP = 0.1


class Noise(NamedTuple):
    process: jax.Array
    observation: jax.Array


class Belief(NamedTuple):
    mean: jax.Array
    covariance: jax.Array


class Model(NamedTuple):
    transition: jax.Array
    process: jax.Array
    observation: jax.Array
    noise: jax.Array


def new_model(noise):
    dt, identity, zero = TIME_STEP, jnp.eye(2), jnp.zeros((2, 2))
    process = jnp.block([[identity * (dt**3 / 3), identity * (dt**2 / 2)], [identity * (dt**2 / 2), identity * dt]])
    return Model(
        jnp.block([[identity, identity * dt], [zero, identity]]),
        process * jnp.exp(2 * noise.process),
        jnp.concatenate([identity, zero], axis=1),
        identity * jnp.exp(2 * noise.observation),
    )


def predict(model, belief):
    covariance = model.transition @ belief.covariance @ model.transition.T + model.process
    return Belief(model.transition @ belief.mean, covariance)


def update(model, belief, seen):
    observed = model.observation @ belief.covariance
    lower = jnp.linalg.cholesky(observed @ model.observation.T + model.noise)
    surprise = seen - model.observation @ belief.mean
    gain = cho_solve((lower, True), observed).T
    white = solve_triangular(lower, surprise, lower=True)
    log_determinant = jnp.log(lower[0, 0] * lower[1, 1])
    likelihood = -0.5 * jnp.square(white).sum() - log_determinant - math.log(2 * math.pi)
    return Belief(belief.mean + gain @ surprise, belief.covariance - gain @ observed), likelihood


def smooth(model, filtered, following):
    predicted = predict(model, filtered)
    lower = jnp.linalg.cholesky(predicted.covariance)
    gain = cho_solve((lower, True), model.transition @ filtered.covariance).T
    change = following.covariance - predicted.covariance
    return Belief(filtered.mean + gain @ (following.mean - predicted.mean), filtered.covariance + gain @ change @ gain.T)


def filtered(model, track):
    def step(belief, seen):
        belief, likelihood = update(model, predict(model, belief), seen)
        return belief, (belief, likelihood)

    _, (beliefs, likelihoods) = lax.scan(step, Belief(jnp.zeros(4), jnp.eye(4) * 10), track)
    return likelihoods.sum(), beliefs


def smoother(model, beliefs):
    last, before = jax.tree.map(lambda x: x[-1], beliefs), jax.tree.map(lambda x: x[:-1], beliefs)

    def step(following, belief):
        smoothed = smooth(model, belief, following)
        return smoothed, smoothed

    _, smoothed = lax.scan(step, last, before, reverse=True)
    return jax.tree.map(lambda all, last: jnp.concatenate([all, last[None]]), smoothed, last)


def mean_likelihood(noise, tracks):
    return jax.vmap(lambda noise, track: filtered(new_model(noise), track)[0], in_axes=(None, 0))(noise, tracks).mean()


def analyse(noise, tracks):
    likelihood, gradient = jax.value_and_grad(mean_likelihood)(noise, tracks)

    def one(noise, track):
        model = new_model(noise)
        return smoother(model, filtered(model, track)[1])

    return likelihood, gradient, jax.vmap(one, in_axes=(None, 0))(noise, tracks)


def prepare(real):
    count, times = (32, 300) if real else (3, 7)
    noise = Noise(jnp.float32(-0.3), jnp.float32(-1.2))
    tracks = jnp.cumsum(random.normal(random.key(3), (count, times, 2)), axis=1) * 0.2
    return analyse, (noise, tracks)
