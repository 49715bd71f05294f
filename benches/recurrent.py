"""Recurrences with small matrices at widths around the thresholds of the compiler, for `compare.py`.

    python benches/recurrent.py list
    python benches/recurrent.py export DIR [PREFIX ...]   # NAME.jaxpr (JAX's text), NAME.npz (const*, in*, out*)
    python benches/recurrent.py time [PREFIX ...]         # compile in ms; steady state in microseconds
"""

import jax
import jax.numpy as jnp
import programs
from jax import lax

STEPS = 100
WIDTHS = (8, 12, 16, 24, 32, 48, 64, 96, 100, 128)
PROGRAMS = programs.PROGRAMS
PROGRAMS.clear()
scaled = programs.scaled


def add(name, function, *inputs):
    PROGRAMS[name] = (function, inputs)


def recurrence(w, c, xs):
    return lax.scan(lambda c, a: (jnp.tanh(c @ w + a), None), c, xs)[0]


def ode(w, y):
    def f(y):
        return jnp.tanh(w @ y)

    def step(y, _):
        k1 = f(y)
        k2 = f(y + 0.005 * k1)
        k3 = f(y + 0.005 * k2)
        k4 = f(y + 0.01 * k3)
        return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

    return lax.scan(step, y, None, length=STEPS)[0]


def gru(params, h, xs):
    wz, uz, wr, ur, wh, uh = params

    def step(h, x):
        z = jax.nn.sigmoid(x @ wz + h @ uz)
        r = jax.nn.sigmoid(x @ wr + h @ ur)
        n = jnp.tanh(x @ wh + (r * h) @ uh)
        return (1 - z) * n + z * h, h

    return lax.scan(step, h, xs)


def gru_loss(params, xs, y):
    h, _ = gru(params, jnp.zeros(params[1].shape[:1]), xs)
    return jnp.sum((h - y) ** 2)


def clipped(params, xs, ys):
    """Gradients of each example, scaled to length 1 at most, and their mean."""
    grads = jax.vmap(jax.grad(gru_loss), (None, 0, 0))(params, xs, ys)
    norms = jnp.sqrt(sum(jnp.sum(g * g, axis=(1, 2)) for g in grads))
    factors = jnp.minimum(1.0, 1.0 / norms)
    return [jnp.mean(g * factors[:, None, None], axis=0) for g in grads]


def rnn_examples(w, u, xs, ys):
    def loss(w, u, xs, y):
        h = lax.scan(lambda h, x: (jnp.tanh(h @ w + x @ u), None), jnp.zeros(w.shape[0]), xs)[0]
        return jnp.sum((h - y) ** 2)

    return jax.vmap(jax.grad(loss, (0, 1)), (None, None, 0, 0))(w, u, xs, ys)


for n in WIDTHS:
    weights = scaled(0.5 / n**0.5, n, n)
    add(f"rnn_{n}", recurrence, weights, (n,), scaled(0.5, STEPS, n))
    add(f"rnn_grad_{n}", jax.grad(lambda w, c, xs: jnp.sum(recurrence(w, c, xs) ** 2)), weights, (n,), scaled(0.5, STEPS, n))
    add(f"ode_{n}", ode, weights, (n,))
    add(f"ode_grad_{n}", jax.grad(lambda w, y: jnp.sum(ode(w, y) ** 2)), weights, (n,))
    add(f"batch_{n}", recurrence, weights, (16, n), scaled(0.5, STEPS, 16, n))
    six = [weights] * 6
    add(f"gru_{n}", lambda *a: gru(a[:6], a[6], a[7]), *six, (n,), scaled(0.5, STEPS, n))
    if n <= 64:
        add(f"gru_clip_{n}", lambda *a: clipped(a[:6], a[6], a[7]), *six, scaled(0.5, 16, 20, n), (16, n))
        add(f"rnn_examples_{n}", rnn_examples, weights, weights, scaled(0.5, 16, 20, n), (16, n))

if __name__ == "__main__":
    programs.main()
