"""Functions of JAX's libraries under ``jaxide.patch``, beside ``jax.jit``: values, gradients, and over a batch."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxide
from conftest import same

x = jax.random.normal(jax.random.key(0), (6, 5))
y = jax.random.uniform(jax.random.key(1), (6, 5), minval=0.1, maxval=0.9)
square = x[:5] @ x[:5].T / 5 + 5 * jnp.eye(5)
indices = jnp.array([3, 0, 5, -1])

ELEMENTWISE = {
    name: getattr(jnp, name)
    for name in "sin cos tan arcsin arctan sinh cosh tanh exp exp2 expm1 log log1p log2 sqrt cbrt square abs sign floor ceil round reciprocal".split()
} | {
    "erf": jax.scipy.special.erf,
    "gammaln": jax.scipy.special.gammaln,
    "digamma": jax.scipy.special.digamma,
    "logit": jax.scipy.special.logit,
    "entr": jax.scipy.special.entr,
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "softplus": jax.nn.softplus,
    "elu": jax.nn.elu,
    "selu": jax.nn.selu,
    "log_sigmoid": jax.nn.log_sigmoid,
    "hard_tanh": jax.nn.hard_tanh,
    "softmax": jax.nn.softmax,
    "log_softmax": jax.nn.log_softmax,
    "standardize": jax.nn.standardize,
    "logsumexp": lambda v: jax.nn.logsumexp(v, axis=-1),
    "cumsum": lambda v: jnp.cumsum(v, -1),
    "cumprod": lambda v: jnp.cumprod(v, -1),
    "sort": jnp.sort,
    "mean": jnp.mean,
    "var": lambda v: jnp.var(v, -1),
    "median": jnp.median,
    "max": lambda v: jnp.max(v, -1),
    "prod": lambda v: jnp.prod(v, -1),
    "roll": lambda v: jnp.roll(v, 2, -1),
    "flip": jnp.flip,
    "pad": lambda v: jnp.pad(v, 2, mode="reflect"),
    "diff": jnp.diff,
    "power": lambda v: v**2.5,
    "where": lambda v: jnp.where(v > 0.5, v, 2 * v),
    "clip": lambda v: jnp.clip(v, 0.2, 0.7),
    "index": lambda v: v[..., ::2] * v[..., 1:4],
    "update": lambda v: v.at[..., 1].add(2.0).at[..., 0].set(v[..., 2]),
    "scan": lambda v: lax.scan(lambda c, u: (c * 0.5 + u, c), jnp.zeros(v.shape[1:]), v)[1],
    "while": lambda v: lax.fori_loop(0, 4, lambda i, u: jnp.sin(u) + i, v),
    "cond": lambda v: lax.cond(v.sum() > 0, jnp.sin, jnp.cos, v),
    "checkpoint": jax.checkpoint(lambda v: jnp.sin(jnp.sin(v))),
    "interp": lambda v: jnp.interp(v, jnp.linspace(0, 1, 9), jnp.linspace(0, 1, 9) ** 2),
    "einsum": lambda v: jnp.einsum("...i,...j->...ij", v, v),
}


@pytest.mark.parametrize("name", ELEMENTWISE)
def test_functions_of_one_array(name):
    f = ELEMENTWISE[name]

    def weighted(v):
        result = f(v).ravel()
        return result @ jnp.cos(jnp.arange(result.size))

    with jaxide.patch(strict=True):
        native = [jax.jit(f), jax.jit(jax.grad(weighted)), jax.jit(jax.vmap(f))]
    theirs = [jax.jit(f), jax.jit(jax.grad(weighted)), jax.jit(jax.vmap(f))]
    for ours, other in zip(native, theirs):
        same(ours(y), other(y), tolerance=2e-5)


OTHERS = {
    "matmul": (lambda a, b: a @ b.T, x, y),
    "dot_general": (lambda a, b: jnp.tensordot(a, b, axes=2), x, y),
    "take": (lambda a, i: (a[i], jnp.take(a, i, axis=0)), x, indices),
    "scatter": (lambda a, i: jnp.zeros((6, 5)).at[i].add(a[:4]), x, indices),
    "argsort": (lambda a: (jnp.argsort(a), jnp.argmax(a, -1), jnp.argmin(a)), x),
    "top_k": (lambda a: lax.top_k(a, 3), x),
    "searchsorted": (lambda a: jnp.searchsorted(jnp.linspace(-1, 1, 9), a), x),
    "unique": (lambda a: jnp.unique(jnp.round(a), size=8), x),
    "bincount": (lambda i: jnp.bincount(i, length=6), indices),
    "one_hot": (lambda i: jax.nn.one_hot(i, 7), indices),
    "solve": (lambda a, b: jnp.linalg.solve(a, b), square, x[:5]),
    "inv": (jnp.linalg.inv, square),
    "det": (jnp.linalg.det, square),
    "cholesky": (jnp.linalg.cholesky, square),
    "eigvalsh": (jnp.linalg.eigvalsh, square),
    "svdvals": (lambda a: jnp.linalg.svd(a, compute_uv=False), x),
    "qr": (lambda a: jnp.abs(jnp.linalg.qr(a)[1]), x),
    "expm": (jax.scipy.linalg.expm, square / 10),
    "fft": (lambda a: (jnp.fft.fft(a), jnp.fft.rfft2(a)), x),
    "conv": (lambda a: lax.conv(a[None, None], a[None, None, :3, :2], (1, 1), "SAME"), x),
    "pool": (lambda a: lax.reduce_window(a, -jnp.inf, lax.max, (2, 2), (1, 2), "VALID"), x),
    "integers": (lambda i: (i // 3, i % 3, i << 2, i ^ 5, lax.population_count(i), -i), indices),
    "bits": (lambda a: lax.bitcast_convert_type(a, jnp.int32), x),
    "complex": (lambda a, b: (jnp.exp(a + 1j * b), jnp.abs(a + 1j * b), jnp.angle(a + 1j * b)), x, y),
    "associative_scan": (lambda a: lax.associative_scan(jnp.maximum, a), x),
    "map": (lambda a: lax.map(lambda row: row / row.sum(), a), y),
    "switch": (lambda i, a: lax.switch(i[0], [jnp.sin, jnp.cos], a), indices, x),
    "custom_root": (lambda a: lax.custom_root(lambda v: v**2 - a, 1.0, lambda f, v: lax.fori_loop(0, 20, lambda _, v: v - f(v) / (2 * v), v), lambda g, b: b / g(1.0)), 2.0),
    "normal": (lambda k: jax.random.normal(k, (4, 3)), jax.random.key(2)),
    "randint": (lambda k: jax.random.randint(k, (9,), 0, 100), jax.random.key(2)),
    "permutation": (lambda k: jax.random.permutation(k, 20), jax.random.key(2)),
    "categorical": (lambda k, a: jax.random.categorical(k, a), jax.random.key(2), x),
    "gamma": (lambda k: jax.random.gamma(k, 2.5, (5,)), jax.random.key(2)),
    "bernoulli": (lambda k: jax.random.bernoulli(k, 0.3, (9,)), jax.random.key(2)),
    "attention": (lambda q: jax.nn.dot_product_attention(q, q, q, is_causal=True), jax.random.normal(jax.random.key(3), (2, 8, 2, 4))),
    "hessian": (jax.hessian(lambda a: jnp.sum(jnp.tanh(a) ** 3)), x[0]),
    "jacobians": (lambda a: (jax.jacfwd(jnp.sin)(a), jax.jacrev(jnp.cumsum)(a)), x[0]),
    "linearize": (lambda a: jax.linearize(jnp.sin, a)[1](a), x),
    "vjp": (lambda a: jax.vjp(jnp.sin, a)[1](a), x),
    "layer_norm_gradient": (
        jax.grad(lambda v: (jax.nn.standardize(v) @ jnp.ones((64, 8)) ** 2).sum() + (v - v.sum(-1, keepdims=True)).sum(0)[0, 0]),
        jax.random.normal(jax.random.key(4), (16, 64, 64)),
    ),
}


@pytest.mark.parametrize("name", OTHERS)
def test_other_functions(name):
    f, *args = OTHERS[name]
    with jaxide.patch(strict=True):
        native = jax.jit(f)
    same(native(*args), jax.jit(f)(*args), tolerance=2e-5)


def test_rows_are_summed_in_every_column(both):
    v = jnp.asarray(np.random.default_rng(0).integers(-9, 9, (16, 64, 64)), jnp.float32)
    both(lambda v: (v - v.sum(-1, keepdims=True)).sum(0), v)
