"""Making arrays."""

import jax.numpy as jnp

from common import Arg, Number


def linspace_with_step(start, stop, **keywords):
    return jnp.linspace(start, stop, retstep=True, **keywords)


FUNCTIONS = {
    "numpy.linspace_with_step": linspace_with_step,
    "numpy.indices_sparse": lambda dimensions, **keywords: jnp.indices(dimensions, sparse=True, **keywords),
    "numpy.mgrid": lambda **keywords: jnp.mgrid[spans(**keywords)],
    "numpy.ogrid": lambda **keywords: jnp.ogrid[spans(**keywords)],
    "numpy.fromfunction": lambda shape, dtype=float, kind="sum": jnp.fromfunction(
        {"sum": lambda *at: sum(at), "last": lambda *at: at[-1] * 2, "one": lambda *at: at[0] > 1}[kind], shape, dtype=dtype),
    "numpy.meshgrid": lambda *xi, **keywords: jnp.meshgrid(*xi, **keywords),
    "numpy.fill_diagonal": lambda a, val: jnp.fill_diagonal(a, val, inplace=False),
    "numpy.empty": lambda **keywords: jnp.empty(**keywords) * 0,
    "numpy.empty_like": lambda x, **keywords: jnp.empty_like(x, **keywords) * 0,
}


def spans(first, second=None, count=None):
    out = [slice(*first)]
    if second is not None:
        out.append(slice(*second))
    if count is not None:
        out.append(slice(0, 1, 1j * count))
    return tuple(out)


def filling(r):
    for name in ("zeros", "ones"):
        r.case(f"numpy.{name}", shape=(2, 3))
        r.case(f"numpy.{name}", shape=(0, 2), dtype="i8")
        r.case(f"numpy.{name}", shape=(), dtype="bool")
        r.case(f"numpy.{name}", shape=(2,), dtype="c64")
        r.case(f"numpy.{name}", shape=(-1,))
    for name in ("zeros_like", "ones_like"):
        r.all_modes(f"numpy.{name}", Arg("f32", (2, 3), "~1"))
        r.case(f"numpy.{name}", Arg("f32", (3,), "~1"), dtype="i32")
        r.case(f"numpy.{name}", Arg("u8", (3,), "~1"), shape=(2, 2))
        r.case(f"numpy.{name}", Arg("f64", (0, 3)))
        r.case(f"numpy.{name}", Number(2))
    r.case("numpy.empty", shape=(2, 3))
    r.case("numpy.empty", shape=(0,), dtype="i32")
    r.case("numpy.empty", shape=(2,), dtype="f64")
    r.case("numpy.empty_like", Arg("f32", (2, 3), "~1"))
    r.case("numpy.empty_like", Arg("f32", (2,), "~1"), dtype="i8")
    r.case("numpy.empty_like", Arg("i32", (2,), "~1"), shape=(3, 1))
    r.case("numpy.full", Number(3), shape=(2, 2))
    r.case("numpy.full", Number(2.5), shape=(3,))
    r.case("numpy.full", Number(2.5), shape=(3,), dtype="i32")
    r.case("numpy.full", Number(True), shape=(0, 2))
    r.all_modes("numpy.full", Arg("f32", (3,), "~2"), shape=(2, 3))
    r.all_modes("numpy.full", Arg("f32", (), "~2"), shape=(2, 3), dtype="f16")
    r.case("numpy.full", Arg("f32", (3,), "~2"), shape=(2,))
    r.case("numpy.full_like", Arg("f32", (2, 3), "~1"), Number(7))
    r.case("numpy.full_like", Arg("i32", (2, 3), "~1"), Number(2.7))
    r.case("numpy.full_like", Arg("f32", (2, 3), "~1"), Number(2), dtype="i8", shape=(2,))
    r.all_modes("numpy.full_like", Arg("f32", (2, 3), "~1"), Arg("f32", (3,), "~2"))
    r.case("numpy.full_like", Arg("f32", (2, 3), "~1"), Arg("f32", (2,), "~2"))
    r.all_modes("numpy.array", Arg("f32", (3,), "~1"))
    r.all_modes("numpy.array", Arg("f32", (3,), "~1"), ndmin=3)
    r.all_modes("numpy.array", Arg("f32", (3,), "~1"), dtype="f16")
    r.case("numpy.array", Number(3))
    r.all_modes("numpy.asarray", Arg("f32", (3,), "~1"), dtype="bf16")
    r.case("numpy.asarray", Arg("i32", (3,), "~1"))
    r.case("numpy.asarray", Number(3), dtype="f16")
    r.all_modes("numpy.copy", Arg("f32", (2, 2), "~1"))
    r.case("numpy.copy", Arg("i64", (0,)))
    r.case("numpy.copy", Arg("c64", (3,), 2))
    for source, target in (("f32", "i32"), ("f32", "bf16"), ("c64", "bool"), ("c64", "f32"), ("i32", "u8"), ("bool", "f32"), ("f32", "f64")):
        r.case("numpy.astype", Arg(source, (4,), "~3"), dtype=target)
    r.all_modes("numpy.astype", Arg("f32", (4,), "~3"), dtype="f16")


def ranges(r):
    for keywords in (
        dict(start=5), dict(start=0), dict(start=-2), dict(start=3.5), dict(start=2, stop=6), dict(start=6, stop=2),
        dict(start=0, stop=6, step=2), dict(start=6, stop=0, step=-2), dict(start=0.0, stop=1.0, step=0.3),
        dict(start=1, stop=2.5), dict(start=0.1, stop=3.0), dict(start=0, stop=3, step=0.7), dict(start=4, dtype="f32"),
        dict(start=4, dtype="u8"), dict(start=1, stop=3, dtype="i64"), dict(start=0, stop=1, step=0.25, dtype="f16"),
        dict(start=0, stop=1, step=0.3, dtype="bf16"), dict(start=2, stop=4, dtype="f16"), dict(start=0, stop=5, step=2, dtype="i8"),
        dict(start=0.0, stop=1.0, step=0.1, dtype="f64"),
    ):
        r.case("numpy.arange", **keywords)
    both = (Number(0), Number(1)), (Number(-1.0), Number(2.5)), (Number(3), Number(3))
    for start, stop in both:
        r.case("numpy.linspace", start, stop, num=5)
        r.case("numpy.linspace", start, stop, num=4, endpoint=False)
    r.case("numpy.linspace", Number(0), Number(1))
    for num in (0, 1, 2, -1):
        r.case("numpy.linspace", Number(0), Number(1), num=num)
    r.case("numpy.linspace", Number(0), Number(1), num=1, endpoint=False)
    for dtype in ("i32", "f16", "u8", "c64", "f64", "i64"):
        r.case("numpy.linspace", Number(0), Number(10), num=4, dtype=dtype)
    r.all_modes("numpy.linspace", Arg("f32", (), "~1"), Arg("f32", (), "~2"), num=4)
    r.all_modes("numpy.linspace", Arg("f32", (2,), "~1"), Arg("f32", (), "~2"), num=3)
    r.all_modes("numpy.linspace", Arg("f32", (2, 1), "~1"), Arg("f32", (3,), "~2"), num=3, axis=1)
    r.all_modes("numpy.linspace", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), num=3, axis=-1, endpoint=False)
    r.all_modes("numpy.linspace", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), num=1)
    r.case("numpy.linspace", Arg("f32", (2,), "~1"), Arg("f32", (3,), "~2"), num=3)
    r.case("numpy.linspace", Arg("i32", (2,), "~1"), Arg("i32", (2,), "~2"), num=3)
    r.case("numpy.linspace", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), num=3, axis=2)
    r.case("numpy.linspace_with_step", Number(0), Number(2), num=5)
    r.case("numpy.linspace_with_step", Number(0), Number(2), num=1)
    r.case("numpy.linspace_with_step", Number(0), Number(2), num=0)
    r.all_modes("numpy.linspace_with_step", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), num=3, endpoint=False)
    r.case("numpy.logspace", Number(0), Number(3), num=4)
    r.case("numpy.logspace", Number(0.5), Number(2), num=5, endpoint=False, base=2)
    r.case("numpy.logspace", Number(0), Number(3), num=4, dtype="f64")
    r.case("numpy.logspace", Number(0), Number(3), num=4, dtype="i32", base=2)
    r.all_modes("numpy.logspace", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), num=3, axis=1)
    r.case("numpy.geomspace", Number(1), Number(1000), num=4)
    r.case("numpy.geomspace", Number(2.0), Number(32.0), num=5, endpoint=False)
    r.case("numpy.geomspace", Number(-1), Number(-100), num=3, dtype="f64")
    r.case("numpy.geomspace", Number(1), Number(8), num=4, dtype="f16")
    r.all_modes("numpy.geomspace", Arg("f32", (2,), "~+1"), Arg("f32", (2,), "~+2"), num=3)
    r.all_modes("numpy.geomspace", Arg("f32", (2,), "~+1"), Arg("f32", (2,), "~+2"), num=3, axis=1)


def matrices(r):
    for dtype in ("f32", "bool", "i64", "bf16"):
        r.case("numpy.eye", N=3, dtype=dtype)
        r.case("numpy.identity", n=2, dtype=dtype)
    r.case("numpy.eye", N=2, M=3, k=1)
    r.case("numpy.eye", N=3, M=2, k=-1)
    r.case("numpy.eye", N=0)
    r.case("numpy.identity", n=3)
    r.case("numpy.identity", n=0)
    for keywords in (dict(N=3), dict(N=3, M=4, k=-1), dict(N=2, M=3, k=1), dict(N=0), dict(N=2, dtype="i32"), dict(N=2, dtype="bool"), dict(N=3, k=7)):
        r.case("numpy.tri", **keywords)
    for name in ("tril", "triu"):
        r.all_modes(f"numpy.{name}", Arg("f32", (3, 3), "~1"))
        r.all_modes(f"numpy.{name}", Arg("f32", (3, 4), "~1"), k=1)
        r.all_modes(f"numpy.{name}", Arg("f32", (2, 3, 2), "~1"), k=-1)
        r.case(f"numpy.{name}", Arg("i32", (4, 3), "~1"), k=-2)
        r.case(f"numpy.{name}", Arg("bool", (2, 2), "~1"))
        r.case(f"numpy.{name}", Arg("c64", (0, 3)))
        r.case(f"numpy.{name}", Arg("f64", (3, 3), "~1"))
        r.case(f"numpy.{name}", Arg("f32", (3,), "~1"))
    for k in (0, 1, -2):
        r.all_modes("numpy.diag", Arg("f32", (3,), "~1"), k=k)
        r.all_modes("numpy.diag", Arg("f32", (3, 4), "~1"), k=k)
        r.all_modes("numpy.diagflat", Arg("f32", (2,), "~1"), k=k)
    r.case("numpy.diag", Arg("i32", (0,)))
    r.case("numpy.diag", Arg("bool", (2,), "~1"))
    r.case("numpy.diag", Arg("i64", (2,), "~1"))
    r.case("numpy.diag", Arg("f32", (2, 2, 2), "~1"))
    r.case("numpy.diag", Arg("f32", (), "~1"))
    r.case("numpy.diagflat", Arg("i32", (2, 2), "~1"))
    r.case("numpy.diagflat", Arg("f32", (0,)))
    r.all_modes("numpy.diagonal", Arg("f32", (3, 3), "~1"))
    r.all_modes("numpy.diagonal", Arg("f32", (3, 4), "~1"), offset=1)
    r.all_modes("numpy.diagonal", Arg("f32", (2, 3, 4), "~1"), offset=-1, axis1=1, axis2=2)
    r.all_modes("numpy.diagonal", Arg("f32", (2, 3, 4), "~1"), axis1=-1, axis2=0)
    r.case("numpy.diagonal", Arg("i32", (3, 3), "~1"), offset=5)
    r.case("numpy.diagonal", Arg("bool", (3, 3), "~1"))
    r.case("numpy.diagonal", Arg("f32", (3,), "~1"))
    r.all_modes("numpy.trace", Arg("f32", (3, 3), "~1"))
    r.all_modes("numpy.trace", Arg("f32", (3, 4), "~1"), offset=1)
    r.all_modes("numpy.trace", Arg("f32", (2, 3, 4), "~1"), offset=-1, axis1=1, axis2=2)
    r.case("numpy.trace", Arg("i32", (3, 3), "~1"))
    r.case("numpy.trace", Arg("i8", (3, 3), "~1"))
    r.case("numpy.trace", Arg("bool", (3, 3), "~1"))
    r.case("numpy.trace", Arg("i32", (3, 3), "~1"), dtype="f32")
    r.case("numpy.trace", Arg("f32", (3, 3), "~1"), axis1=1, axis2=-1)
    r.all_modes("numpy.vander", Arg("f32", (3,), "~1"))
    r.all_modes("numpy.vander", Arg("f32", (3,), "~1"), N=2, increasing=True)
    r.case("numpy.vander", Arg("i64", (3,), "~1"), N=4)
    r.case("numpy.vander", Arg("f32", (0,)))
    r.case("numpy.vander", Arg("f32", (2,), "~1"), N=0)
    r.case("numpy.vander", Arg("f32", (2, 2), "~1"))
    r.all_modes("numpy.fill_diagonal", Arg("f32", (3, 3), "~1"), Number(9))
    r.all_modes("numpy.fill_diagonal", Arg("f32", (3, 4), "~1"), Arg("f32", (2,), "~2"))
    r.all_modes("numpy.fill_diagonal", Arg("f32", (2, 2, 2), "~1"), Arg("f32", (), "~2"))
    r.case("numpy.fill_diagonal", Arg("i32", (4, 2), "~1"), Number(9))
    r.case("numpy.fill_diagonal", Arg("f32", (2, 3, 2), "~1"), Number(9))


def grids(r):
    vectors = Arg("f32", (2,), "~1"), Arg("f32", (3,), "~2")
    for keywords in (dict(), dict(indexing="ij"), dict(sparse=True), dict(indexing="ij", sparse=True)):
        r.all_modes("numpy.meshgrid", *vectors, **keywords)
    r.case("numpy.meshgrid", Arg("i32", (2,), "~1"))
    r.case("numpy.meshgrid", *vectors, Arg("i32", (2,), "~1"))
    r.case("numpy.meshgrid", *vectors, Arg("i32", (0,)), indexing="ij")
    r.case("numpy.meshgrid", Arg("f32", (2, 2), "~1"))
    for name in ("mgrid", "ogrid"):
        r.case(f"numpy.{name}", first=(0, 3), second=(1, 5, 2))
        r.case(f"numpy.{name}", first=(0, 3), count=5)
        r.case(f"numpy.{name}", first=(4, 0, -1))
        r.case(f"numpy.{name}", first=(0.0, 1.0, 0.25), second=(0, 2))
    for name in ("indices", "indices_sparse"):
        r.case(f"numpy.{name}", dimensions=(2, 3))
        r.case(f"numpy.{name}", dimensions=(2, 1, 2), dtype="f32")
        r.case(f"numpy.{name}", dimensions=(3,), dtype="u8")
        r.case(f"numpy.{name}", dimensions=(0, 2))
    r.case("numpy.fromfunction", shape=(2, 3))
    r.case("numpy.fromfunction", shape=(2, 3), dtype="i32")
    r.case("numpy.fromfunction", shape=(2, 2, 3), dtype="i32", kind="last")
    r.case("numpy.fromfunction", shape=(4,), kind="one")


def windows(r):
    for name in ("hamming", "hanning", "bartlett", "blackman"):
        for m in (0, 1, 2, 5, 8):
            r.case(f"numpy.{name}", M=m)
    for m, beta in ((0, 1), (1, 1), (2, 1.5), (5, 3), (8, 14.0), (6, 0)):
        r.case("numpy.kaiser", Number(beta), M=m)
    r.all_modes("numpy.kaiser", Arg("f32", (), "~+3"), M=5)


FUNCTIONS["numpy.kaiser"] = lambda beta, M: jnp.kaiser(M, beta)
FUNCTIONS["numpy.astype"] = lambda x, dtype: jnp.astype(x, dtype)
FUNCTIONS["numpy.full"] = lambda value, shape, **keywords: jnp.full(shape, value, **keywords)


def cases(r):
    filling(r)
    ranges(r)
    matrices(r)
    grids(r)
    windows(r)
