"""Functions that are called often go through JAX's own dispatch, and stay what they were."""

import gc
import weakref

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxide
from conftest import in_threads, same
from jaxide import _dispatch

#: By so many calls the smallest program is in JAX's dispatch.
MANY = 6000


@pytest.fixture
def prepared(monkeypatch):
    """The programs that went into JAX's dispatch, by the number of their results."""
    made = []
    text = _dispatch._text
    monkeypatch.setattr(_dispatch, "_text", lambda *args: made.append(len(args[2])) or text(*args))
    return made


def often(f, *args, **kwargs):
    for _ in range(MANY):
        result = f(*args, **kwargs)
    return result


def test_results_are_the_same(prepared):
    def function(x, tree, *, scale):
        return {"a": [x * scale, tree["k"][0] - 1], "b": (x.sum(), jnp.int8(3), x > 0)}, jnp.asarray(2.0)

    args = jnp.arange(5.0), {"k": (jnp.arange(3), None)}
    kwargs = {"scale": jnp.bfloat16(2)}
    f = jaxide.jit(function, strict=True)
    same(often(f, *args, **kwargs), jax.jit(function)(*args, **kwargs))
    assert prepared == [6]
    other = jnp.arange(5.0) - 3, {"k": (jnp.arange(3) * 7, None)}
    same(f(*other, **kwargs), jax.jit(function)(*other, **kwargs))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32", "complex64"])
def test_types(prepared, dtype):
    function = lambda x: (x[::-1], jnp.concatenate([x, x]), x[:0])
    f = jaxide.jit(function, strict=True)
    x = (jnp.arange(33) % 5).astype(dtype)
    same(often(f, x), jax.jit(function)(x))
    assert prepared == [3]


def test_other_signatures(prepared):
    f = jaxide.jit(lambda x: x * 2 + 1, strict=True)
    often(f, jnp.float32(1))
    for x in [jnp.ones(3), np.ones(3, np.float32), 2.5, 3, jnp.ones((2, 2), jnp.int32), jnp.asarray(1.0), jax.device_put(jnp.float32(1), jax.devices()[0])]:
        same(f(x), jax.jit(lambda x: x * 2 + 1)(x))
    with jax.enable_x64(True):
        assert f(np.float64(2)).dtype == jnp.float64
        assert f(jnp.float32(2)).dtype == jnp.float32
    assert prepared == [1]
    often(f, jnp.ones(3))
    assert prepared == [1, 1]
    assert len(f(jnp.ones(4))) == 4 and f._cache_size() >= 8


def test_transformations_and_switches():
    f = jaxide.jit(lambda x: jnp.log(x) * 2, strict=True)
    x = jnp.float32(2)
    often(f, x)
    assert jax.grad(f)(x) == 1
    same(jax.vmap(f)(jnp.ones(3)), jnp.zeros(3))
    same(jax.jit(lambda y: f(y) + f(x))(x), 2 * f(x))
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        f(-x)
    assert np.isnan(f(-x))
    seen = []
    g = jaxide.jit(lambda x: seen.append(x) or x + 1, strict=True)
    often(g, x)
    assert len(seen) == 1
    with jax.disable_jit():
        assert g(x) == 3
    assert seen[1] is x


def test_static_arguments(prepared):
    function = lambda x, n, *, name: x + n if name == "a" else x - n
    f = jaxide.jit(function, static_argnums=1, static_argnames="name", strict=True)
    x = jnp.float32(1)
    assert often(f, x, 2, name="a") == 3
    assert often(f, x, 2, name="b") == -1
    assert f(x, 3, name="a") == 4 and f(x, 2, name="a") == 3
    assert prepared == [1, 1]


def test_donated_arrays_are_deleted(prepared):
    f = jaxide.jit(lambda x, y: (x.at[0].add(y), y + 1), donate_argnums=0, strict=True)
    x, y = jnp.zeros(4), jnp.float32(1)
    for _ in range(MANY):
        before = x
        x, _ = f(x, y)
        assert before.is_deleted() and not y.is_deleted()
    assert prepared == [2]
    np.testing.assert_array_equal(x, [MANY, 0, 0, 0])
    with pytest.raises((RuntimeError, ValueError), match="deleted"):
        f(before, y)


def test_large_results_are_made_here(prepared):
    f = jaxide.jit(lambda x: (x + 1, x.sum()), strict=True)
    x = jnp.zeros(600_000)
    for _ in range(5000):
        f(x)
    assert prepared == []


def test_arrays_that_are_still_computed():
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda i, x: jnp.sin(x @ x), x))
    f = jaxide.jit(lambda x: x[:3, :3] + 1, strict=True)
    x = jnp.ones((100, 100))
    expected = f(slow(x))
    often(f, x)
    results = [f(slow(x)) for _ in range(5)]
    del f
    gc.collect()
    for result in results:
        same(result, expected)


def test_functions_are_freed():
    big = jnp.ones(100_000)
    f = jaxide.jit(lambda x: x + big[0], strict=True)
    often(f, jnp.float32(1))
    gone = weakref.ref(f)
    del f
    gc.collect()
    assert gone() is None


def test_programs_can_be_forgotten():
    count = [0]

    def function(x):
        count[0] += 1
        return x + 1

    f, g = jaxide.jit(function, strict=True), jaxide.jit(function, strict=True)
    x = jnp.float32(1)
    assert often(f, x) == 2 and often(g, x) == 2
    assert count == [1]
    f.clear_cache()
    assert f(x) == 2 and g(x) == 2
    assert count == [2]


def test_failures_are_told():
    f = jaxide.jit(lambda x: x + 1, strict=True)
    x = jnp.float32(1)
    often(f, x)
    x.delete()
    with pytest.raises((RuntimeError, ValueError), match="deleted"):
        f(x)
    assert f(jnp.float32(2)) == 3


def test_threads():
    f = jaxide.jit(lambda xs: [x + k for k, x in enumerate(xs)], strict=True)
    wrong = []

    def work(number):
        xs = [jnp.float32(number)] * 12
        for _ in range(600):
            if [int(x) for x in f(xs)] != [number + k for k in range(12)]:
                wrong.append(number)

    in_threads(4, work)
    assert not wrong
