"""``jax.debug.print`` prints natively, in order, as JAX does."""

import contextlib
import io

import jax
import jax.numpy as jnp
import pytest

import jaxide


def printed(f, *args):
    with contextlib.redirect_stdout(io.StringIO()) as told:
        jax.block_until_ready(f(*args))
        jax.effects_barrier()
    return told.getvalue()


def sequence(x):
    jax.debug.print("first {x} {}", x * 2, x=x, ordered=True)
    jax.debug.print("second\n] }} {{ {:.3f}", x, ordered=True)
    jax.debug.print("no arrays", ordered=True)
    return x


def arrays(x):
    jax.debug.print("{a} {b} {c}", a=jnp.arange(3) * x, b=(x > 0), c=[x, {"k": jnp.bfloat16(2)}], ordered=True)
    jax.debug.print("{} and {static}", x, static="text", ordered=True)
    return x


def loops(x):
    def body(i, y):
        jax.debug.print("turn {i:03d} of {y}", i=i, y=y, ordered=True)
        return y + 1

    return jax.lax.fori_loop(0, 3, body, x)


def branches(x):
    def yes():
        jax.debug.print("positive {}", x, ordered=True)

    def no():
        jax.debug.print("negative", ordered=True)

    jax.lax.cond(x > 0, yes, no)
    jax.lax.cond(x > 0, yes, no)
    return x


def inner(x):
    f = jax.jit(lambda y: jax.debug.print("inner {}", y, ordered=True))
    f(x)
    f(x + 1)
    jax.lax.while_loop(lambda i: i < 2, lambda i: (jax.debug.print("while {}", i, ordered=True), i + 1)[1], 0)
    return x


@pytest.mark.parametrize("f", [sequence, arrays, loops, branches, inner])
def test_prints(f):
    native = jaxide.jit(f, strict=True)
    for x in (1.0, -2.5, 1.0):
        lines = printed(native, x)
        assert lines == printed(jax.jit(f), x) and lines


def test_batches_and_gradients():
    f = lambda x: (jax.debug.print("x is {}", x), jnp.sin(x))[1]
    assert printed(jaxide.jit(jax.vmap(f), strict=True), jnp.arange(3.0)) == "x is 0.0\nx is 1.0\nx is 2.0\n"
    assert printed(jaxide.jit(jax.grad(f), strict=True), 2.0) == "x is 2.0\n"


def test_many_calls_print_each_time():
    f = jaxide.jit(lambda x: (jax.debug.print("{}", x), x + 1)[1], strict=True)
    lines = printed(lambda: [f(float(k)) for k in range(5000)])
    assert lines == "".join(f"{float(k)}\n" for k in range(5000))


def test_failures_are_raised():
    class Broken(io.StringIO):
        def write(self, text):
            raise OSError("nobody reads")

    f = jaxide.jit(lambda x: (jax.debug.print("{}", x), x + 1)[1], strict=True)
    with contextlib.redirect_stdout(Broken()), pytest.raises(Exception, match="nobody reads"):
        f(1.0)
    assert f(1.0) == 2


def test_effects_that_are_not_prints():
    f = jaxide.jit(lambda x: (jax.debug.callback(lambda y: None, x), x)[1], strict=True)
    with pytest.raises(jaxide.UnsupportedError, match="debug_callback: it has an effect"):
        f(1.0)
