"""Rules of `sweep.py` for linear algebra, random numbers and control, as in `sweep_makers.py`."""


from sweep_rules import Operand, maker, np_type, primitive


def definite(a):
    """A symmetric positive definite array in place of any."""
    import numpy as np

    n = a.shape[-1]
    wide = a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)
    return (wide @ wide.conj().swapaxes(-1, -2) + n * np.eye(n)).astype(a.dtype)


def triangular(a):
    import numpy as np

    n = a.shape[-1]
    return (np.tril(a) / n + 2 * np.eye(n)).astype(a.dtype)


def batched(g, make, most=256):
    """A matrix, and many small ones: names and operands. JAX makes floats of integers, which are left out."""
    if not g.floating:
        return
    s = g.side(most)
    yield f"one{s}", make(s, s)
    for small in (4, 16):
        yield f"batch{small}", make(min(4000, max(1, g.n // small**2)), small, small)


# Products.


@maker("dot_general")
def products(g):
    from jax import lax
    import jax.numpy as jnp

    s = g.side(700 if g.floating else 320)
    yield "square", jnp.matmul, [g.x(s, s), g.x(s, s)]
    yield "left_transposed", lambda a, b: jnp.matmul(a.T, b), [g.x(s, s), g.x(s, s)]
    yield "right_transposed", lambda a, b: jnp.matmul(a, b.T), [g.x(s, s), g.x(s, s)]
    big = g.side(3000)
    yield "vector", jnp.matmul, [g.x(big, big), g.x(big)]
    yield "vector_left", jnp.matmul, [g.x(big), g.x(big, big)]
    yield "inner", jnp.matmul, [g.flat(), g.flat()]
    yield "outer", lambda a, b: lax.dot_general(a, b, (((), ()), ((), ()))), [g.x(big), g.x(big)]
    tall = max(1, min(g.n, 1_000_000) // 16)
    yield "tall", jnp.matmul, [g.x(tall, 16), g.x(16, 16)]
    yield "skinny", lambda a, b: jnp.matmul(a.T, b), [g.x(tall, 16), g.x(tall, 16)]
    for small in (3, 8):
        count = max(1, min(g.n, 1_000_000) // small**2)
        yield f"batch{small}", jnp.matmul, [g.x(count, small, small), g.x(count, small, small)]
        yield f"batch{small}_vector", lambda a, b: jnp.einsum("bij,bj->bi", a, b), [g.x(count, small, small), g.x(count, small)]


@maker("ragged_dot_general")
def ragged(g):
    from jax import lax
    import jax.numpy as jnp
    import numpy as np

    rows = max(8, min(g.n, 100_000) // 64 // 8 * 8)
    sizes = Operand((8,), "i32", order=lambda v: np.full_like(v, rows // 8))
    yield "eight", lambda a, b, sizes: lax.ragged_dot(a, b, sizes.astype(jnp.int32)), [g.x(rows, 64), g.x(8, 64, 64), sizes]


@maker("symmetric_product")
def symmetric(g):
    from jax import lax

    s = g.side(512)
    yield "plain", lambda a, c: lax.linalg.symmetric_product(a, c), [g.x(s, s), g.x(s, s)]


# Decompositions.


@maker("cholesky", "eigh", "tridiagonal")
def of_definite(g):
    from jax import lax

    function = {"cholesky": lax.linalg.cholesky, "eigh": lax.linalg.eigh, "tridiagonal": lambda a: lax.linalg.tridiagonal(a, lower=True)}[g.name]
    for layout, operand in batched(g, lambda *shape: g.x(*shape, order=definite)):
        yield layout, function, [operand]


@maker("lu", "qr", "geqrf", "svd", "hessenberg", "schur", "eig")
def of_any(g):
    from jax import lax

    functions = {"geqrf": primitive("geqrf").bind, "qr": lambda a: lax.linalg.qr(a, full_matrices=False), "svd": lambda a: lax.linalg.svd(a, full_matrices=False)}
    function = functions.get(g.name) or getattr(lax.linalg, g.name)
    for layout, operand in batched(g, g.x, 128 if g.name in ("schur", "eig", "hessenberg") else 256):
        yield layout, function, [operand]


@maker("lu_pivots_to_permutation")
def pivots(g):
    from jax import lax

    s = g.side(1 << 20)
    yield "plain", lambda i: lax.linalg.lu_pivots_to_permutation(i, s), [Operand((s,), g.dtype, 0, s)]


@maker("householder_product", "ormqr")
def reflectors(g):
    from jax import lax

    s = g.side(256)
    if g.name == "ormqr":
        p = primitive("ormqr")
        yield "left", lambda a, t, c: p.bind(a, t, c, left=True, transpose=False), [g.x(s, s), g.x(s), g.x(s, s)]
    else:
        yield "plain", lax.linalg.householder_product, [g.x(s, s), g.x(s)]


@maker("triangular_solve")
def triangular_solve(g):
    from jax import lax

    for layout, a in batched(g, lambda *shape: g.x(*shape, order=triangular)):
        yield f"{layout}_matrix", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), [a, g.x(*a.shape)]
        yield f"{layout}_vector", lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True), [a, g.x(*a.shape[:-1], 1)]


@maker("tridiagonal_solve")
def tridiagonal_solve(g):
    from jax import lax

    n = min(g.n, 100_000)
    diagonal = g.x(n, low=4, high=5)
    yield "one", lambda *xs: lax.linalg.tridiagonal_solve(*xs), [g.x(n, low=0.1, high=1), diagonal, g.x(n, low=0.1, high=1), g.x(n, 1)]


@maker("fft")
def transforms(g):
    import jax.numpy as jnp

    power = 1 << max(1, g.n.bit_length() - 1)
    for layout, length in (("power", power), ("round", g.n), ("prime", {1000: 997, 100_000: 99_991}.get(g.n, power - 1))):
        complex_ = np_type(g.dtype).kind == "c"
        yield layout, jnp.fft.fft if complex_ else jnp.fft.rfft, [g.x(length)]
    yield "rows", jnp.fft.fft if complex_ else jnp.fft.rfft, [g.x(max(1, g.n // 64), 64)]
    yield "square", jnp.fft.fft2 if complex_ else jnp.fft.rfft2, [g.square()]


# Random numbers.


def key_data():
    return Operand((2,), "u32", 1, 1 << 30)


def unsigned_only(g, words=("u32",)):
    """These primitives take one type, so that other types have no programs."""
    return g.dtype in words


@maker("threefry2x32")
def threefry(g):
    p = primitive("threefry2x32")
    yield "plain", p.bind, [g.x(), g.x(), g.flat(), g.flat()]


@maker("random_bits", "random_seed", "random_wrap", "random_unwrap", "random_split", "random_fold_in", "random_clone")
def keys(g):
    import jax
    from jax import random

    if not unsigned_only(g):
        return
    n = min(g.n, 1_000_000)
    wrapped = lambda data: random.wrap_key_data(data)
    if g.name == "random_bits":
        for width in (8, 16, 32, 64):
            yield f"width{width}", lambda k, w=width: random.bits(wrapped(k), (g.n,), f"uint{w}"), [key_data()]
    elif g.name == "random_seed":
        yield "plain", lambda i: random.key_data(random.key(i)), [g.x()]
    elif g.name == "random_fold_in":
        yield "many", lambda k, i: random.key_data(jax.vmap(lambda i: random.fold_in(wrapped(k), i))(i)), [key_data(), Operand((n,), "u32")]
    elif g.name == "random_split":
        yield "many", lambda k: random.key_data(random.split(wrapped(k), n)), [key_data()]
    else:
        yield "many", lambda k: random.key_data(random.clone(wrapped(k))), [Operand((n, 2), "u32", 1, 1 << 30)]


@maker("random_gamma")
def random_gamma(g):
    from jax import random

    yield "plain", lambda k, a: random.gamma(random.wrap_key_data(k), a), [key_data(), g.x(min(g.n, 100_000), low=0.5, high=4)]


@maker("rng_bit_generator")
def bit_generator(g):
    from jax import lax

    if unsigned_only(g, ("u8", "u16", "u32", "u64")):
        yield "plain", lambda k: lax.rng_bit_generator(k, (g.n,), dtype=np_type(g.dtype))[1], [Operand((4,), "u32", 1, 1 << 30)]


# Control: bodies of a few operations, so that what is measured is the primitive.


@maker("cond", "while", "scan", "jit", "custom_jvp_call", "custom_vjp_call", "custom_vmap_call", "remat2", "optimization_barrier")
def control(g):
    import jax
    from jax import lax

    step = lambda x: x * x + x
    row = g.side(4096)
    if g.name == "cond":
        yield "plain", lambda i, x: lax.cond(i > 50, step, lambda x: x, x), [Operand((), "i32"), g.flat()]
    elif g.name == "while":
        yield "ten", lambda n, x: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, step(s[1])), (n - 10, x))[1], [Operand((), "i32"), g.flat()]
    elif g.name == "scan":
        yield "carry", lambda x: lax.scan(lambda c, _: (step(c), None), x, None, length=10)[0], [g.flat()]
        yield "rows", lambda x: lax.scan(lambda c, r: (c + r, c), x[0], x), [g.x(row, row)]
        yield "scalars", lambda x: lax.scan(lambda c, r: (c + r * c, c), x[0], x), [g.x(min(g.n, 1_000_000))]
    elif g.name == "custom_jvp_call":
        yield "relu", jax.nn.relu, [g.flat()]
    elif g.name == "custom_vjp_call":
        wrapped = jax.custom_vjp(step)
        wrapped.defvjp(lambda x: (step(x), x), lambda x, t: (x * t,))
        yield "plain", wrapped, [g.flat()]
    elif g.name == "custom_vmap_call":
        wrapped = jax.custom_batching.custom_vmap(step)
        wrapped.def_vmap(lambda _, batched, x: (step(x), batched[0]))
        yield "plain", wrapped, [g.flat()]
    elif g.name == "optimization_barrier":
        yield "plain", lambda x: step(lax.optimization_barrier(step(x))), [g.flat()]
    else:
        yield "plain", (jax.checkpoint if g.name == "remat2" else jax.jit)(step), [g.flat()]


@maker("custom_linear_solve", "linear_call", "CustomRoot")
def solves(g):
    import jax
    from jax import lax

    if g.name == "custom_linear_solve":
        matvec = lambda x: 3 * x
        yield "plain", lambda b: lax.custom_linear_solve(matvec, b, lambda _, b: b / 3, lambda _, b: b / 3), [g.flat()]
    elif g.name == "linear_call":
        yield "plain", lambda r, x: jax.custom_derivatives.linear_call(lambda r, x: r * x, lambda r, t: r * t, r, x), [g.flat(), g.flat()]
    else:
        scalar = lambda f, y: y / f(y.dtype.type(1))
        halves = lambda f, x: lax.fori_loop(0, 5, lambda _, x: x - f(x) / 2, x)
        yield "plain", lambda x: lax.custom_root(lambda y: 2 * y - x.sum(), x.sum(), halves, scalar), [g.flat()]


# References.


@maker("new_ref", "get", "swap", "addupdate", "freeze", "run_state")
def references(g):
    import jax

    def function(x):
        ref = jax.new_ref(x)
        ref[...] = ref[...] + x
        ref[...] += x
        return jax.freeze(ref)

    if g.name == "run_state":
        from jax._src.state.discharge import run_state

        def body(ref):
            ref[...] = ref[...] * 2

        yield "plain", lambda x: run_state(body)(x), [g.flat()]
    else:
        yield "all", function, [g.flat()]
