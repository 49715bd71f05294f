"""Arrays of all types and sizes go in and out as by ``jax.jit``."""

import warnings

import jax
import jax.numpy as jnp
import jax.experimental.layout
import ml_dtypes
import numpy as np
import pytest

import jaxide
from conftest import same

TYPES = ["bool", "int8", "int16", "int32", "uint8", "uint16", "uint32", "float16", "bfloat16", "float32", "complex64"]
FLOATS = ["float8_e4m3fn", "float8_e5m2"]


@pytest.mark.parametrize("size", [0, 1, 2, 3, 31, 33, 1000])
@pytest.mark.parametrize("dtype", TYPES)
def test_array(both, dtype, size):
    x = (jnp.arange(size) % 7).astype(dtype)
    both(lambda x: (x, x[::-1], jnp.concatenate([x, x]), jnp.real(x).astype("float32").sum()), x)
    if dtype != "bool":
        both(lambda x: x * x + x, x)


@pytest.mark.parametrize("dtype", FLOATS)
def test_short_floats(both, dtype):
    both(lambda x: x[::-1] + x, jnp.arange(8.0).astype(dtype))


@pytest.mark.parametrize("dtype", ["int64", "uint64", "float64", "complex128", "float32", "int32"])
def test_64_bits(both, dtype):
    with jax.enable_x64(True):
        x = jnp.arange(9).astype(dtype)
        both(lambda x: x * 3 + jnp.asarray(1, x.dtype) / 3 if x.dtype.kind == "f" else x * 3, x)
        both(lambda x: x * 2, 1.5)
        both(lambda x: x * 2, 1 << 40)
        both(lambda x: jnp.sin(x) * 0.1, np.linspace(0, 1, 5))


def test_switch_of_64_bits_is_seen():
    f = jaxide.jit(lambda x: x + 1, strict=True)
    assert f(1.0).dtype == jnp.float32
    with jax.enable_x64(True):
        assert f(1.0).dtype == jnp.float64
        assert f(np.arange(3.0)).dtype == jnp.float64
    assert f(np.arange(3.0)).dtype == jnp.float32


@pytest.mark.parametrize("number", [True, 0, -3, 2.5, float("inf"), 1j, 1 - 2j])
def test_numbers_of_python(both, number):
    both(lambda x: x, number)
    both(lambda x: x + 1, number)
    both(lambda x: (x, jnp.float16(2) * x), number)


@pytest.mark.parametrize("scalar", [np.float32(2), np.float64(2), np.int8(3), np.int64(3), np.bool_(True), ml_dtypes.bfloat16(2)])
def test_scalars_of_numpy(both, scalar):
    both(lambda x: (x, x + x), scalar)


def test_numbers_that_are_too_large():
    f = jaxide.jit(lambda x: x + 1, strict=True)
    f(1)
    with pytest.raises(OverflowError):
        f(1 << 40)


def test_weak_types(both):
    both(lambda x: (x * 2, jnp.asarray(x, "float32"), x.astype("int32")), jnp.asarray(2.0))
    both(lambda x: x * 2, jax.jit(lambda: 2.0)())


@pytest.mark.parametrize(
    "array",
    [
        np.arange(24.0).reshape(4, 6)[:, ::2],
        np.arange(24, dtype=np.float32).reshape(4, 6).T,
        np.asfortranarray(np.arange(6, dtype=np.int16).reshape(2, 3)),
        np.frombuffer(b"\0" + np.arange(4, dtype=np.float32).tobytes(), np.uint8)[1:].view(np.float32),
        np.arange(6).astype(ml_dtypes.bfloat16).reshape(2, 3).T,
        np.zeros((0, 3), np.float32),
        np.arange(3, dtype=np.float64),
    ],
)
def test_arrays_of_numpy(both, array):
    both(lambda x: (x, x + x, x.sum()), array)


def test_numpy_arrays_may_change_between_calls():
    f = jaxide.jit(lambda x: (x, x + 1), strict=True)
    x = np.zeros(100, np.float32)
    first = f(x)
    x[:] = 7
    np.testing.assert_array_equal(first[0], np.zeros(100))
    np.testing.assert_array_equal(f(x)[0], np.full(100, 7))


@pytest.mark.parametrize("implementation", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_typed_keys(both, implementation):
    key = jax.random.key(3, impl=implementation)
    both(lambda key: (key, jax.random.split(key), jax.random.fold_in(key, 2)), key)
    both(lambda key: jax.random.normal(key, (5,)), key)
    both(lambda keys: jax.vmap(lambda k: jax.random.uniform(k, (2,)))(keys), jax.random.split(key, 4))


def test_old_keys(both):
    both(lambda key: (jax.random.split(key), jax.random.uniform(key, (33,))), jax.random.PRNGKey(3))


def test_keys_captured(both):
    key = jax.random.key(1)
    both(lambda x: x + jax.random.uniform(key, x.shape), jnp.ones(3))


def test_committed(both):
    x = jax.device_put(jnp.ones(3), jax.devices()[0])
    assert x.committed
    both(lambda x, y: x + y, x, jnp.ones(3))
    both(lambda x, y: x + y, jnp.ones(3), jnp.ones(3))


def test_results_own_their_memory():
    f = jaxide.jit(lambda x: x * 2, strict=True)
    x = jnp.arange(1000.0)
    results = [f(x + i) for i in range(50)]
    del x
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, 2 * (np.arange(1000.0) + i))


def test_results_are_not_written_to():
    f = jaxide.jit(lambda x: x * 2, strict=True)
    y = f(jnp.ones(1000))
    view = np.asarray(y)
    jax.jit(lambda y: y + 1, donate_argnums=0)(y)
    np.testing.assert_array_equal(view, np.full(1000, 2))


def test_layouts(both):
    Format, Layout = jax.experimental.layout.Format, jax.experimental.layout.Layout
    sharding = jax.sharding.SingleDeviceSharding(jax.devices()[0])
    x = jax.device_put(jnp.arange(6.0).reshape(2, 3), Format(Layout((1, 0)), sharding))
    both(lambda x: x * 2, x)


def test_arrays_that_are_still_computed():
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 300, lambda i, x: jnp.sin(x @ x), x))
    f = jaxide.jit(lambda x: x + 1, strict=True)
    x = jnp.ones((100, 100))
    f(slow(x))
    same(f(slow(x)), slow(x) + 1)


def test_deleted_arrays():
    f = jaxide.jit(lambda x: x + 1)
    for x in [jnp.ones(3), f(f(jnp.ones(3))), jnp.ones(100_000)]:
        f(x), f(x)
        x.delete()
        with pytest.raises(RuntimeError, match="deleted"), warnings.catch_warnings(action="ignore"):
            f(x)


def test_derivatives_by_integers():
    f = lambda x, k: jax.vjp(lambda x, k: x * k, x, k)[1](x)
    x, k = jnp.ones(3), jnp.arange(3)
    ours, theirs = jaxide.jit(f, strict=True)(x, k), jax.jit(f)(x, k)
    same(ours[0], theirs[0])
    assert type(ours[1]) is type(theirs[1]) and ours[1].shape == (3,) and ours[1].dtype == jax.dtypes.float0
    g = lambda t: jnp.zeros(t.shape)
    same(jaxide.jit(g, strict=True)(ours[1]), jax.jit(g)(theirs[1]))


def test_words_of_keys(both):
    keys = jaxide.jit(jax.random.split)(jax.random.key(0))
    both(lambda words: words + 1, jax.random.key_data(keys))
    both(lambda words: words + 1, keys._base_array)


def test_numbers_that_are_longer_than_the_switch_says(both):
    with jax.enable_x64(True):
        x = jnp.arange(3, dtype="int64")
    both(lambda x: (x + 1, jnp.float32(1)), x)


def test_arrays_that_jax_keeps_on_the_host(both):
    from jax._src import literals

    for weak in (False, True):
        aval = jax.core.ShapedArray((3,), np.dtype("float32"), weak_type=weak)
        both(lambda x: (x * 2, x * jnp.bfloat16(1)), literals.TypedNdArray(np.arange(3, dtype=np.float32), aval=aval))
    both(lambda x: x * jnp.bfloat16(1), literals.TypedFloat(2.5, np.dtype("float32")))
    with jax.enable_x64(True):
        both(lambda x: x * 2, literals.TypedInt(3, np.dtype("int32")))
