"""Donated arrays are gone, and their memory becomes the results'."""


import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxide
from conftest import in_threads, same


def update(x, y):
    return x.at[3].add(y), y + 1


def test_memory_is_used_again():
    f = jaxide.jit(update, donate_argnums=0, strict=True)
    x, y = jnp.zeros(100_000), jnp.float32(1)
    x, y = f(x, y)
    address = x.unsafe_buffer_pointer()
    for turn in range(5):
        before = x
        x, y = f(x, y)
        assert before.is_deleted() and x.unsafe_buffer_pointer() == address
        with pytest.raises(RuntimeError, match="deleted"):
            f(before, y)
    expected = np.zeros(100_000)
    expected[3] = sum(range(1, 7))
    np.testing.assert_array_equal(x, expected)


def test_what_others_see_stays():
    f = jaxide.jit(update, donate_argnums=0, strict=True)
    x, _ = f(jnp.zeros(100_000), 1.0)
    view = np.asarray(x)
    address = x.unsafe_buffer_pointer()
    y, _ = f(x, 5.0)
    assert x.is_deleted() and y.unsafe_buffer_pointer() != address
    assert view[3] == 1 and y[3] == 6


def test_arrays_of_jax_are_not_written_to():
    f = jaxide.jit(update, donate_argnums=0, strict=True)
    numbers = np.zeros(100_000, np.float32)
    x = jax.device_put(numbers)
    y, _ = f(x, 1.0)
    assert x.is_deleted() and y[3] == 1 and numbers[3] == 0


def test_an_array_that_is_given_twice():
    f = jaxide.jit(lambda x, y: (x.at[3].add(1.0), y * 2), donate_argnums=0, strict=True)
    x = jaxide.jit(lambda x: x + 1)(jnp.zeros(100_000))
    a, b = f(x, x)
    assert x.is_deleted() and a[3] == 2 and b[3] == 2


def test_results_that_are_one_array():
    f = jaxide.jit(lambda x: (x + 1, x + 1), strict=True)
    g = jaxide.jit(lambda x: x.at[0].set(7.0), donate_argnums=0, strict=True)
    a, b = f(jnp.zeros(100_000))
    c = g(a)
    assert a.is_deleted() and c[0] == 7 and b[0] == 1


def test_arrays_that_are_still_read():
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 50, lambda i, y: jnp.sin(y) + x[0], x))
    f = jaxide.jit(lambda x: x.at[0].set(100.0), donate_argnums=0, strict=True)
    x = jaxide.jit(lambda x: x + 1)(jnp.zeros(100_000))
    expected = slow(x + 0)
    result = slow(x)
    f(x)
    same(result, expected)


@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "complex64", "float8_e5m2"])
def test_types(dtype):
    f = jaxide.jit(lambda x: x[::-1].at[0].set(x[0]), donate_argnums=0, strict=True)
    x = jnp.arange(20_000).astype(dtype)
    for _ in range(3):
        expected = jax.jit(lambda x: x[::-1].at[0].set(x[0]))(x)
        before, x = x, f(x)
        assert before.is_deleted()
        np.testing.assert_array_equal(np.asarray(x).view(np.uint8), np.asarray(expected).view(np.uint8))


def test_a_training_loop():
    def step(state, x):
        state = jax.tree.map(lambda a: a + x.mean() * jnp.tanh(a), state)
        return state, sum(a.sum() for a in jax.tree.leaves(state))

    x = jnp.linspace(0, 1, 1000)
    states = [{"w": jnp.ones((100, 100)), "b": jnp.zeros(10), "k": [jnp.ones((50, 50))] * 1} for _ in range(2)]
    ours, theirs = jaxide.jit(step, donate_argnames="state", strict=True), jax.jit(step)
    for _ in range(5):
        states[0], a = ours(states[0], x)
        states[1], b = theirs(states[1], x)
        same(states[0], states[1])
        same(a, b)


def test_threads():
    f = jaxide.jit(update, donate_argnums=0, strict=True)
    wrong = []

    def work(number):
        x, y = jnp.full(20_000, float(number)), jnp.float32(1)
        for turn in range(200):
            x, _ = f(x, y)
        if x[3] != number + 200 or x[4] != number:
            wrong.append(number)

    in_threads(4, work)
    assert not wrong


@pytest.mark.parametrize("size", [3, 100_000])
def test_results_that_are_arguments(size):
    """They are arrays of their own: to give one away leaves the other."""
    for f in (lambda x: x, lambda x: (x + 1, x), lambda x: {"again": [x, x]}):
        for x in (jnp.ones(size), jaxide.jit(lambda x: x + 1)(jnp.zeros(size))):
            results = jax.tree.leaves(jaxide.jit(f, strict=True)(x))
            assert all(result is not x for result in results)
            x.delete()
            results[0].delete()
            np.testing.assert_array_equal(results[-1], np.ones(size)) if len(results) > 1 else None


@pytest.mark.parametrize("length", [1, 3, 1000, 100_000])
def test_a_result_that_is_an_argument_has_memory_of_its_own(length):
    """Also where the argument is a result of a program before."""
    made = jaxide.jit(lambda x: x * 2)(jnp.arange(float(length)))
    identity = jaxide.jit(lambda x: x)
    for _ in range(3):
        other = identity(made)
        assert other.unsafe_buffer_pointer() != made.unsafe_buffer_pointer()
        np.testing.assert_array_equal(other, made)
