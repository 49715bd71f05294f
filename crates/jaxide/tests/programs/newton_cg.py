"""`newton_cg.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, random

from conjugate_gradients import conjugate_gradients

TOLERANCE, RATE = 1e-9, 2.0
X64 = True


class Data(NamedTuple):
    features: jax.Array
    signs: jax.Array


def misfit(weights, data):
    margins = data.signs * (data.features @ weights)
    return (jnp.log1p(jnp.exp(-jnp.abs(margins))) - jnp.minimum(margins, 0)).mean()


def objective(weights, penalties, data):
    return misfit(weights, data) + 0.5 * (jnp.exp(penalties) * jnp.square(weights)).sum()


def fit(penalties, data):
    gradient = lambda weights: jax.grad(objective)(weights, penalties, data)

    def newton(_, start):
        def unfinished(carry):
            _, slope, count = carry
            return (jnp.square(slope).sum() > TOLERANCE * TOLERANCE) & (count < 30)

        def improve(carry):
            weights, slope, count = carry
            hessian = lambda direction: jax.jvp(gradient, (weights,), (direction,))[1]
            weights = weights - conjugate_gradients(hessian, slope, 1e-6, 100)
            return weights, gradient(weights), count + 1

        return lax.while_loop(unfinished, improve, (start, gradient(start), 0))[0]

    tangent_solve = lambda map, rhs: conjugate_gradients(map, rhs, 1e-12, 200)
    return lax.custom_root(gradient, jnp.zeros(penalties.shape), newton, tangent_solve)


def validation(penalties, training, test):
    weights = fit(penalties, training)
    return misfit(weights, test), weights


def learn(penalties, training, test, steps):
    def step(penalties, _):
        slope = jax.value_and_grad(validation, has_aux=True)
        (value, weights), gradient = slope(penalties, training, test)
        return penalties - RATE * gradient, (value, gradient, weights)

    penalties, (values, gradients, weights) = lax.scan(step, penalties, None, length=steps)
    return penalties, values, gradients, weights


def prepare(real):
    count, features, steps = (500, 40, 5) if real else (16, 3, 2)
    for_training, for_test, for_noise = random.split(random.key(7), 3)
    noise = random.normal(for_noise, (2, count))

    def data(key, noise):
        x = random.normal(key, (count, features))
        matters = jnp.arange(features, dtype=jnp.float64) % 2.0
        return Data(x, jnp.sign(x @ matters + 2 * noise))

    args = jnp.full(features, -3.0), data(for_training, noise[0]), data(for_test, noise[1])
    return lambda *args: learn(*args, steps), args
