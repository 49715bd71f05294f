import os
import threading

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
import pytest

import jaxide


def same(ours, theirs, tolerance=2e-6):
    """Asserts that two trees of arrays agree: structure, types, weakness, and values."""
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        assert isinstance(a, jax.Array), type(a)
        assert a.aval == b.aval, (a.aval, b.aval)
        assert a.committed == b.committed
        if jax.dtypes.issubdtype(a.dtype, jax.dtypes.prng_key):
            a, b = jax.random.key_data(a), jax.random.key_data(b)
        a, b = np.asarray(a), np.asarray(b)
        if a.dtype.kind in "fc" or a.dtype.kind == "V":
            wide = np.complex128 if a.dtype.kind == "c" else np.float64
            close = tolerance if a.dtype.itemsize >= 4 else 1e-2
            np.testing.assert_allclose(a.astype(wide), b.astype(wide), rtol=close, atol=close * 1e-1)
        else:
            np.testing.assert_array_equal(a, b)


def in_threads(count, work):
    """Runs ``work(0)`` and so on, each in a thread of its own."""
    threads = [threading.Thread(target=work, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


@pytest.fixture
def both():
    """Runs a function natively, twice, and by ``jax.jit``, and compares."""

    def run(function, *args, **kwargs):
        options = kwargs.pop("options", {})
        native = jaxide.jit(function, strict=True, **options)
        theirs = jax.jit(function, **options)(*args, **kwargs)
        for _ in range(2):
            same(native(*args, **kwargs), theirs)
        return theirs

    return run
