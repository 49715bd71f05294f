"""Programs of the kinds that users write, as JAX functions with their inputs; `benches/programs` holds their jaxprs.

    python benches/programs.py list
    python benches/programs.py export DIR [PREFIX ...]   # NAME.jaxpr (JAX's text), NAME.npz (const*, in*, out*)
    python benches/programs.py text DIR [PREFIX ...]     # NAME.jaxpr only
    python benches/programs.py time [PREFIX ...]         # compile in ms; steady state in microseconds

Inputs are pseudo-random with a seed of their own for each program. Written for JAX 0.12 on CPU.
"""

import gc
import json
import os
import sys
import time
import zlib
from functools import partial

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import numpy as np
from jax import lax, nn, random

PROGRAMS = {}


def program(*inputs):
    """Registers a function under its name; `inputs` are shapes of f32 arrays, or functions of a generator."""

    def register(f):
        PROGRAMS[f.__name__] = (f, inputs)
        return f

    return register


def integers(high, *shape):
    return lambda rs: rs.randint(0, high, shape).astype(np.int32)


def uniform(low, high, *shape):
    return lambda rs: (low + (high - low) * rs.rand(*shape)).astype(np.float32)


def scaled(factor, *shape):
    return lambda rs: (factor * rs.randn(*shape)).astype(np.float32)


def spd(batch, n):
    def make(rs):
        a = rs.randn(batch, n, n).astype(np.float32)
        return a @ a.transpose(0, 2, 1) + n * np.eye(n, dtype=np.float32)

    return make


def arguments(name):
    _, inputs = PROGRAMS[name]
    rs = np.random.RandomState(zlib.crc32(name.encode()))
    return [jnp.asarray(make(rs) if callable(make) else np.float32(rs.randn(*make))) for make in inputs]


# Elementwise chains.


@program((10_000_000,), (10_000_000,))
def chain_1e7(x, y):
    return jnp.tanh(x * y + 1) * jnp.exp(-x * x) + jnp.where(y > 0, y, 0.1 * y)


@program((1_000_000,), (1_000_000,))
def polynomial_1e6(x, y):
    return ((((x * 0.1 + 0.5) * x - 1.0) * x + 2.0) * x - 3.0) * y / (1 + x * x)


@program((512, 1024), (1024,), (512, 1))
def broadcast_chain(x, b, s):
    return nn.gelu(x * s + b) + x


@program(uniform(0, 1, 1_000_000))
def integer_mix_1e6(x):
    n = (x * 1000).astype(jnp.int32)
    return (n * 31 + (n >> 3)) % 97 + jnp.where(n & 1, n, -n)


# Reductions.


@program((64, 128, 256))
def sum_middle(x):
    return x.sum(1)


@program((1_000_000,), (1_000_000,))
def mean_squared_error_1e6(x, y):
    return jnp.mean((x - y) ** 2)


@program((4096, 1000))
def log_softmax_rows(x):
    return nn.log_softmax(x)


@program((512, 4096))
def softmax_columns(x):
    return nn.softmax(x, axis=0)


@program((2048, 512))
def normalise_columns(x):
    return (x - x.mean(0)) / jnp.sqrt(x.var(0) + 1e-5)


@program((64, 28, 28, 32), (32,), (32,))
def batchnorm(x, g, b):
    mean, var = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * lax.rsqrt(var + 1e-5) * g + b


@program((64, 28, 28, 32), (32,), (32,))
def batchnorm_grad(x, g, b):
    return jax.grad(lambda x, g, b: (batchnorm(x, g, b) ** 2).sum(), argnums=(0, 1, 2))(x, g, b)


@program((1024, 1024), (1024,), (1024,))
def layernorm_grad(x, g, b):
    def loss(x, g, b):
        mean = x.mean(-1, keepdims=True)
        var = x.var(-1, keepdims=True)
        return (((x - mean) * lax.rsqrt(var + 1e-5) * g + b) ** 2).sum()

    return jax.grad(loss, argnums=(0, 1, 2))(x, g, b)


@program((512, 1000), integers(1000, 512))
def cross_entropy_grad(logits, labels):
    def loss(logits):
        return -jnp.mean(jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], 1))

    return jax.value_and_grad(loss)(logits)


@program((1000, 1000))
def logsumexp_all(x):
    return jsp.logsumexp(x)


@program((1000, 1000))
def norms(x):
    return jnp.sqrt((x * x).sum(1)), jnp.abs(x).max(0), jnp.linalg.norm(x)


@program((256, 4096))
def cumsum_rows(x):
    return jnp.cumsum(x, axis=1)


@program((4096, 256))
def cumsum_columns(x):
    return jnp.cumsum(x, axis=0)


@program((256, 4096))
def cumlogsumexp_rows(x):
    return lax.cumlogsumexp(x, axis=1)


@program((1000, 100))
def any_all(x):
    return (x > 3).any(1), (x > -3).all(0), (x > 0).sum()


# Stencils and games.


@program(integers(2, 512, 512))
def life(board):
    def step(board, _):
        around = sum(jnp.roll(board, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
        return ((around == 3) | ((board == 1) & (around == 2))).astype(jnp.int32), None

    return lax.scan(step, board, None, length=50)[0]


@program((256, 256))
def heat_roll(u):
    def step(_, u):
        return u + 0.1 * (jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1) - 4 * u)

    return lax.fori_loop(0, 100, step, u)


@program((256, 256))
def jacobi_slice(u):
    def step(_, u):
        return u.at[1:-1, 1:-1].set(0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]))

    return lax.fori_loop(0, 100, step, u)


@program((256, 256))
def laplace_pad(u):
    p = jnp.pad(u, 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:] - 4 * u


@program((8, 128, 128, 16))
def max_pool(x):
    return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program((8, 64, 64, 16))
def avg_pool_grad(x):
    return jax.grad(lambda x: (lax.reduce_window(x, 0.0, lax.add, (1, 3, 3, 1), (1, 2, 2, 1), "SAME") ** 2).sum())(x)


@program((1000, 3), (1000,))
def stack_and_split(x, w):
    a, b, c = jnp.split(x, 3, axis=1)
    return jnp.concatenate([c, a * w[:, None], b], axis=1), jnp.stack([w, w * 2, w * 3], 1)


@program((1_000_000,))
def reversed_1e6(x):
    return x[::-1] + x


@program((512, 512, 3))
def image_gray_flip(x):
    return (x[:, ::-1] * jnp.array([0.3, 0.6, 0.1])).sum(-1)


# Loops.


@program((64,), scaled(0.05, 128, 128), scaled(0.05, 64, 128), (128,))
def rnn_500(x, w, u, h):
    def step(h, _):
        h = jnp.tanh(h @ w + x @ u)
        return h, h.sum()

    return lax.scan(step, h, None, length=500)


@program((100, 32, 64), scaled(0.05, 64, 64), scaled(0.05, 64, 64))
def rnn_grad_batched(xs, w, u):
    def loss(w, u):
        step = lambda h, x: (jnp.tanh(h @ w + x @ u),) * 2
        return (lax.scan(step, jnp.zeros((32, 64)), xs)[1] ** 2).sum()

    return jax.grad(loss, argnums=(0, 1))(w, u)


@program((4,))
def pendulum_rk4(s):
    def f(s):
        a, b, p, q = s[0], s[1], s[2], s[3]
        d = a - b
        return jnp.stack([p, q, -jnp.sin(a) - 0.1 * p - jnp.sin(d), -jnp.sin(b) - 0.1 * q + jnp.sin(d)])

    def step(s, _):
        h = 0.01
        k1 = f(s)
        k2 = f(s + h / 2 * k1)
        k3 = f(s + h / 2 * k2)
        k4 = f(s + h * k3)
        return s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4), s[0]

    return lax.scan(step, s, None, length=10_000)


@program((1000, 2))
def ode_grad_vmap(s):
    def end(s):
        def step(s, _):
            x, v = s
            return (x + 0.01 * v, v - 0.01 * jnp.sin(x)), None

        (x, v), _ = lax.scan(step, (s[0], s[1]), None, length=100)
        return x * x + v * v

    return jax.vmap(jax.grad(end))(s)


@program(uniform(1, 100, 10_000))
def newton_cube_root_vmap(a):
    def root(a):
        go = lambda s: (jnp.abs(s[0] ** 3 - a) > 1e-3) & (s[1] < 50)
        return lax.while_loop(go, lambda s: (s[0] - (s[0] ** 3 - a) / (3 * s[0] ** 2), s[1] + 1), (a, 0))[0]

    return jax.vmap(root)(a)


@program(lambda rs: np.int32(27))
def collatz(n):
    step = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
    return lax.while_loop(lambda s: s[0] != 1, step, (n, 0))[1]


@program(integers(100_000, 10_000))
def collatz_vmap(n):
    return jax.vmap(collatz)(n + 1)


@program((128, 128), (128,))
def power_iteration(a, v):
    def step(_, v):
        w = a @ v
        return w / jnp.linalg.norm(w)

    return lax.fori_loop(0, 100, step, v)


@program(spd(1, 200), (200,))
def conjugate_gradient(a, b):
    a = a[0]

    def step(s, _):
        x, r, p, rr = s
        ap = a @ p
        alpha = rr / (p @ ap)
        x, r = x + alpha * p, r - alpha * ap
        new = r @ r
        return (x, r, r + new / rr * p, new), new

    return lax.scan(step, (jnp.zeros(200), b, b, b @ b), None, length=50)


@program((1000,))
def prefix_by_scan(x):
    return lax.associative_scan(lambda a, b: a * 0.9 + b, x)


@program((4, 4), (4, 4))
def matrix_fibonacci(a, b):
    return lax.fori_loop(0, 1000, lambda _, s: (s[1], jnp.tanh(s[0] @ s[1])), (a, b))[0]


@program((10_000,))
def exponential_average(x):
    return lax.scan(lambda m, x: ((m := 0.99 * m + 0.01 * x), m), 0.0, x)


# Networks.


@program((256, 784), scaled(0.05, 784, 256), (256,), scaled(0.05, 256, 10), (10,), integers(10, 256))
def mlp_adam_step(x, w1, b1, w2, b2, y):
    params = [w1, b1, w2, b2]

    def loss(params):
        w1, b1, w2, b2 = params
        logits = nn.relu(x @ w1 + b1) @ w2 + b2
        return -jnp.mean(jnp.sum(nn.log_softmax(logits) * nn.one_hot(y, 10), -1))

    value, grads = jax.value_and_grad(loss)(params)
    m = [0.1 * g for g in grads]
    v = [0.001 * g * g for g in grads]
    return [p - 0.001 * a / (jnp.sqrt(b) + 1e-8) for p, a, b in zip(params, m, v)], value


@program((8, 64, 4, 32), (8, 64, 4, 32), (8, 64, 4, 32))
def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(32**0.5)
    mask = jnp.tril(jnp.ones((64, 64), bool))
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(jnp.where(mask, scores, -1e9)), v)


@program((256, 64), (256, 64), (256, 64))
def attention_one_head(q, k, v):
    return nn.softmax(q @ k.T / 8) @ v


@program((8, 64, 128), scaled(0.05, 128, 384), scaled(0.05, 128, 128), scaled(0.05, 128, 512), scaled(0.05, 512, 128))
def transformer_block(x, wqkv, wo, w1, w2):
    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    q, k, v = (t.reshape(8, 64, 4, 32) for t in jnp.split(norm(x) @ wqkv, 3, -1))
    p = nn.softmax(jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.float32(32**0.5))
    x = x + jnp.einsum("bhqk,bkhd->bqhd", p, v).reshape(8, 64, 128) @ wo
    return x + nn.gelu(norm(x) @ w1) @ w2


@program((8, 28, 28, 1), scaled(0.1, 3, 3, 1, 16), scaled(0.1, 3, 3, 16, 32), scaled(0.05, 1568, 10), integers(10, 8))
def convnet_grad(x, k1, k2, w, y):
    conv = partial(
        lax.conv_general_dilated, window_strides=(1, 1), padding="SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    pool = lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    def loss(k1, k2, w):
        h = pool(nn.relu(conv(x, k1)))
        h = pool(nn.relu(conv(h, k2)))
        return -jnp.mean(jnp.take_along_axis(nn.log_softmax(h.reshape(8, -1) @ w), y[:, None], 1))

    return jax.grad(loss, argnums=(0, 1, 2))(k1, k2, w)


# Indices.


@program((10_000, 128), integers(10_000, 4096))
def embedding(table, index):
    return table[index] * 11.3


@program((100_000,), integers(1000, 100_000))
def segment_sum(x, segment):
    return jax.ops.segment_sum(x, segment, 1000)


@program((100_000, 8), integers(500, 100_000))
def segment_max_rows(x, segment):
    return jax.ops.segment_max(x, segment, 500)


@program((10_000, 64), integers(10_000, 512), (512, 64))
def embedding_grad(table, index, target):
    return jax.grad(lambda t: ((t[index] - target) ** 2).sum())(table)


@program((1000, 1000), integers(1000, 1000))
def take_along(x, index):
    return jnp.take_along_axis(x, index[:, None], 1), x[:, index]


@program((100_000,))
def sort_pairs(x):
    order = jnp.argsort(x)
    return x[order], jnp.searchsorted(x[order], jnp.linspace(-2, 2, 1000))


@program((1000, 100))
def sort_rows(x):
    return jnp.sort(x, axis=1)


@program((1000, 100))
def median_rows(x):
    return jnp.median(x, axis=1)


@program(integers(50, 10_000))
def one_hot_counts(n):
    return nn.one_hot(n, 50).sum(0)


# Numerics.


@program((512, 3), (512,))
def gravity(p, m):
    d = p[:, None] - p[None]
    r = jnp.sqrt((d**2).sum(-1) + 1e-3)
    return (-d * (m[None] / r**3)[..., None]).sum(1), -0.5 * (m[:, None] * m[None] / r).sum()


@program((1000, 8), (500, 8))
def pairwise_distances(x, y):
    return jnp.sqrt(((x[:, None] - y[None]) ** 2).sum(-1))


@program((2000, 4), (10, 4))
def k_means(x, c):
    def step(c, _):
        nearest = ((x[:, None] - c[None]) ** 2).sum(-1).argmin(1)
        hot = nn.one_hot(nearest, 10)
        return (hot.T @ x) / jnp.maximum(hot.sum(0)[:, None], 1), None

    return lax.scan(step, c, None, length=10)[0]


@program(spd(1000, 3), (1000, 3))
def small_solves(a, b):
    return jax.vmap(jnp.linalg.solve)(a, b)


@program(spd(100, 8), (100, 8))
def small_cholesky(a, b):
    return jax.vmap(lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b))(a, b)


@program((500, 4, 4), (500, 4, 4))
def small_matmuls(a, b):
    return a @ b @ a


@program((100, 3))
def rosenbrock_hessian(x):
    f = lambda x: ((1 - x[:-1]) ** 2 + 100 * (x[1:] - x[:-1] ** 2) ** 2).sum()
    return jax.vmap(jax.hessian(f))(x)


@program((50,))
def jacobian_dense(x):
    return jax.jacrev(lambda x: jnp.sin(x[:, None] * x[None]).sum(1))(x)


@program(lambda rs: np.array([0, 42], np.uint32))
def monte_carlo_pi(key):
    points = random.uniform(random.wrap_key_data(key), (1_000_000, 2))
    return 4 * ((points**2).sum(1) < 1).mean()


@program(lambda rs: np.array([0, 7], np.uint32))
def random_walk(key):
    return jnp.cumsum(random.normal(random.wrap_key_data(key), (1000, 100)), axis=0)


@program(lambda rs: np.array([0, 7], np.uint32), (100_000,))
def dropout(key, x):
    return jnp.where(random.bernoulli(random.wrap_key_data(key), 0.9, x.shape), x / 0.9, 0)


@program(uniform(50, 150, 10_000), uniform(0.1, 2, 10_000))
def option_greeks_vmap(s, t):
    def price(s, t):
        d = (jnp.log(s / 100) + 0.07 * t) / (0.2 * jnp.sqrt(t))
        n = lambda z: 0.5 * (1 + lax.erf(z / np.float32(2**0.5)))
        return s * n(d) - 100 * jnp.exp(-0.05 * t) * n(d - 0.2 * jnp.sqrt(t))

    return jax.vmap(jax.value_and_grad(price, argnums=(0, 1)))(s, t)


@program((1024,), (64,))
def convolve(x, k):
    return jnp.convolve(x, k)


@program((300, 200))
def covariance(x):
    return jnp.cov(x, rowvar=False)


@program((10_000,), (10_000,))
def linear_regression_gd(x, y):
    def step(p, _):
        w, b = p
        e = w * x + b - y
        return (w - 0.01 * (e * x).mean(), b - 0.01 * e.mean()), (e * e).mean()

    return lax.scan(step, (0.0, 0.0), None, length=100)


@program((1000, 20), integers(2, 1000))
def logistic_regression_gd(x, y):
    def loss(w):
        z = x @ w
        return jnp.mean(jnp.log1p(jnp.exp(-jnp.abs(z))) + jnp.maximum(z, 0) - z * y)

    return lax.fori_loop(0, 50, lambda _, w: w - 0.1 * jax.grad(loss)(w), jnp.zeros(20))


# Many small operations: what a call and a kernel cost.


@program((), ())
def scalars(x, y):
    return jnp.sin(x) * y + jnp.exp(-x), jnp.sqrt(y * y + 1)


@program(*[(16,)] * 20)
def twenty_small(*xs):
    return [x * 2 + 1 for x in xs], sum(x.sum() for x in xs)


@program((32, 32), (32,))
def small_dense(w, x):
    for _ in range(10):
        x = jnp.tanh(w @ x)
    return x


def measure(name, seconds):
    f, _ = PROGRAMS[name]
    args = arguments(name)
    jitted = jax.jit(f)
    lowered = jitted.lower(*args)
    start = time.perf_counter()
    lowered.compile()
    compile_ms = (time.perf_counter() - start) * 1e3
    run = lambda: jax.block_until_ready(jitted(*args))
    run()
    run()
    gc.disable()
    start = time.perf_counter()
    run()
    inner = max(1, min(1000, int(50e-6 / max(time.perf_counter() - start, 1e-7))))
    times, end = [], time.perf_counter() + seconds
    while len(times) < 5 or (time.perf_counter() < end and len(times) < 3000):
        start = time.perf_counter()
        for _ in range(inner):
            run()
        times.append((time.perf_counter() - start) / inner * 1e6)
    gc.enable()
    times.sort()
    return dict(name=name, compile_ms=compile_ms, min_us=times[0], med_us=times[len(times) // 2])


def export(name, folder, arrays):
    f, _ = PROGRAMS[name]
    args = arguments(name)
    closed = jax.make_jaxpr(f)(*args)
    with open(f"{folder}/{name}.jaxpr", "w") as file:
        file.write(f"{closed}\n")
    if arrays:
        values = {f"const{i}": c for i, c in enumerate(closed.consts)}
        values |= {f"in{i}": x for i, x in enumerate(jax.tree.leaves(args))}
        values |= {f"out{i}": x for i, x in enumerate(jax.tree.leaves(jax.jit(f)(*args)))}
        np.savez(f"{folder}/{name}.npz", **{k: np.asarray(v) for k, v in values.items()})


def main():
    action, rest = sys.argv[1], sys.argv[2:]
    folder = rest.pop(0) if action in ("export", "text") else None
    if folder:
        os.makedirs(folder, exist_ok=True)
    for name in PROGRAMS:
        if rest and not any(name.startswith(prefix) for prefix in rest):
            continue
        if action == "list":
            print(name)
        elif action == "time":
            print(json.dumps(measure(name, float(os.environ.get("BUDGET", "0.5")))), flush=True)
        else:
            export(name, folder, action == "export")


if __name__ == "__main__":
    main()
