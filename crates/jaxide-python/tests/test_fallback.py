"""What jaxide cannot compile is run by ``jax.jit``, after one warning; ``patch`` puts ``jaxide.jit`` in its place."""

import subprocess
import sys
import textwrap
import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxide
from conftest import same


def callback(x):
    return jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x)


def test_callbacks_are_run_by_jax_with_one_warning():
    f = jaxide.jit(callback)
    with pytest.warns(UserWarning) as told:
        for _ in range(3):
            same(f(jnp.ones(3)), jax.jit(callback)(jnp.ones(3)))
    (told,) = told
    assert "callback is run by jax.jit: pure_callback" in str(told.message)
    assert "test_fallback.py" in str(told.message) and "(callback)" in str(told.message)
    assert told.filename == __file__


def test_strict():
    with pytest.raises(jaxide.UnsupportedError, match="pure_callback"):
        jaxide.jit(callback, strict=True)(jnp.ones(3))
    assert issubclass(jaxide.UnsupportedError, jaxide.JaxideError)


def test_places_of_arrays_are_left_to_jax():
    f = jaxide.jit(lambda x: x + 1, out_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0]))
    with pytest.warns(UserWarning, match="out_shardings"):
        assert f(1.0).committed


def test_sharded_arrays():
    program = """
        import warnings, jax, jax.numpy as jnp, jaxide
        mesh = jax.make_mesh((4,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        sharding = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"))
        x = jax.device_put(jnp.arange(8.0), sharding)
        f = jaxide.jit(lambda x: x + 1)
        print(f(jnp.arange(8.0)))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            y = f(x); y = f(x)
        assert len(told) == 1 and "several devices" in str(told[0].message), told
        assert len(y.sharding.device_set) == 4, y.sharding
        print(y)
    """
    ran = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        env={**__import__("os").environ, "XLA_FLAGS": "--xla_force_host_platform_device_count=4"},
        capture_output=True,
        text=True,
    )
    assert ran.returncode == 0, ran.stderr
    first, second = ran.stdout.splitlines()
    assert first == second


def test_patch():
    before = jax.jit
    with jaxide.patch():
        f = jax.jit(lambda x: x * 2)
        assert isinstance(f, type(jaxide.jit(lambda x: x)))
        assert f(2.0) == 4

        @jax.jit
        def g(x):
            return f(x) + 1

        assert g(2.0) == 5 and jax.grad(g)(2.0) == 2

        @jax.jit(static_argnums=1)
        def h(x, n):
            return x * n

        assert h(2.0, 3) == 6
    assert jax.jit is before
    with pytest.raises(ZeroDivisionError), jaxide.patch(strict=True):
        with pytest.raises(jaxide.UnsupportedError):
            jax.jit(callback)(jnp.ones(3))
        1 / 0
    assert jax.jit is before
