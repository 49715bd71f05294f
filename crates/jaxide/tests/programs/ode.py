"""`ode.rs` in JAX."""

from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax import lax, random

TOLERANCE, FIRST_STEP = 1e-6, 0.05
X64 = True

STAGES = [
    [1 / 5],
    [3 / 40, 9 / 40],
    [44 / 45, -56 / 15, 32 / 9],
    [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
    [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
    [35 / 384, 0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
]
ERROR = [71 / 57600, 0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40]


def weighted(weights, slopes):
    used = [(weight, slope) for weight, slope in zip(weights, slopes) if weight != 0]
    total = jax.tree.map(lambda k: k * used[0][0], used[0][1])
    for weight, slope in used[1:]:
        total = jax.tree.map(lambda total, k: total + k * weight, total, slope)
    return total


def integrate(field, start, duration):
    count = sum(x.size for x in jax.tree.leaves(start))

    def unfinished(carry):
        return carry[0] < duration

    def advance(carry):
        time, state, slope, step = carry
        left = duration - time
        last = step >= left
        step = jnp.minimum(step, left)
        slopes = [slope]
        for weights in STAGES:
            reached = jax.tree.map(lambda y, k: y + step * k, state, weighted(weights, slopes))
            slopes.append(field(reached))

        def share(error, before, after):
            scale = TOLERANCE + TOLERANCE * jnp.maximum(jnp.abs(before), jnp.abs(after))
            return jnp.square(step * error / scale).sum()

        shares = jax.tree.map(share, weighted(ERROR, slopes), state, reached)
        ratio = jnp.sqrt(sum(jax.tree.leaves(shares)) / count)
        accepted = ratio <= 1
        choose = lambda new, old: jnp.where(accepted, new, old)
        ahead = jnp.where(last, duration, time + step)
        factor = jnp.clip(0.9 * ratio**-0.2, 0.2, 10)
        return (
            choose(ahead, time),
            jax.tree.map(choose, reached, state),
            jax.tree.map(choose, slopes[-1], slope),
            step * factor,
        )

    carry = (jnp.zeros_like(duration), start, field(start), jnp.minimum(duration, FIRST_STEP))
    return lax.while_loop(unfinished, advance, carry)[1]


class State(NamedTuple):
    prey: jax.Array
    predators: jax.Array


class Rates(NamedTuple):
    birth: jax.Array
    hunt: jax.Array
    growth: jax.Array
    death: jax.Array


def field(state, rates):
    meetings = state.prey * state.predators
    return State(
        rates.birth * state.prey - rates.hunt * meetings,
        rates.growth * meetings - rates.death * state.predators,
    )


@jax.custom_vjp
def solve(start, rates, duration):
    return integrate(lambda state: field(state, rates), start, duration)


def keep(start, rates, duration):
    end = solve(start, rates, duration)
    return end, (end, rates, duration)


def back(residuals, cotangent):
    end, rates, duration = residuals

    def reversed(carry):
        state, adjoint, _ = carry
        slope, pullback = jax.vjp(field, state, rates)
        return (jax.tree.map(jnp.negative, slope), *pullback(adjoint))

    products = jax.tree.map(lambda g, k: g * k, cotangent, field(end, rates))
    by_duration = sum(jax.tree.leaves(products))
    none = jax.tree.map(jnp.zeros_like, rates)
    _, by_start, by_rates = integrate(reversed, (end, cotangent, none), duration)
    return by_start, by_rates, by_duration


solve.defvjp(keep, back)


def misfit(rates, starts, seen, interval):
    def trajectory(start, rates, interval):
        def advance(state, _):
            state = solve(state, rates, interval)
            return state, state

        return lax.scan(advance, start, None, length=seen.prey.shape[1])[1]

    found = jax.vmap(trajectory, in_axes=(0, None, None))(starts, rates, interval)
    loss = jnp.square(found.prey - seen.prey).mean() + jnp.square(found.predators - seen.predators).mean()
    return loss, found


def prepare(real):
    count, times = (64, 20) if real else (3, 4)
    for_starts, for_prey, for_predators = random.split(random.key(5), 3)
    near = lambda key, shape: random.uniform(key, shape, minval=0.5, maxval=2.0)
    starts = State(*near(for_starts, (2, count)))
    seen = State(near(for_prey, (count, times)), near(for_predators, (count, times)))
    rates = Rates(*(jnp.float64(rate) for rate in (1.1, 0.9, 0.8, 1.2)))
    return jax.value_and_grad(misfit, has_aux=True), (rates, starts, seen, jnp.float64(0.5))
