"""Rules of `sweep.py` for primitives whose operands hang together: each function yields variants of one or several primitives as name, function, operands.

`n` is the number of elements of what is worked on; where work grows faster, `side` keeps it in bounds.
"""

import math

from sweep_rules import Operand, along, maker, np_type, primitive

# Elementwise, and types.


@maker("select_n")
def select(g):
    from jax import lax

    yield "two", lax.select_n, [Operand((g.n,), "bool"), g.flat(), g.flat()]
    yield "four", lax.select_n, [Operand((g.n,), "i32", 0, 4), g.flat(), g.flat(), g.flat(), g.flat()]


@maker("polynomial")
def polynomial(g):
    p = primitive("polynomial")
    yield "degree4", lambda x, *cs: p.bind(x, *cs, unroll=None), [g.flat()] * 6


@maker("polygamma", "zeta")
def special(g):
    p = primitive(g.name)
    first = g.x(g.n, low=1.5, high=6, order=lambda v: v.round() if g.name == "polygamma" else v)
    yield "plain", p.bind, [first, g.x(g.n, low=1.1, high=4)]


@maker("convert_element_type")
def convert(g):
    from jax import lax

    for to in ("f32", "f64", "bf16", "f16", "i8", "i32", "i64", "u8", "bool", "c64"):
        if to != g.dtype:
            yield f"to_{to}", lambda x, to=to: lax.convert_element_type(x, np_type(to)), [g.x(g.n, low=1, high=4)]


@maker("bitcast_convert_type")
def bitcast(g):
    from jax import lax

    for to in ("i32", "f32", "u8", "i64", "u16"):
        if to != g.dtype:
            yield f"to_{to}", lambda x, to=to: lax.bitcast_convert_type(x, np_type(to)), [g.x(g.n // 8, 8)]


@maker("Frexp")
def frexp(g):
    import jax.numpy as jnp

    yield "plain", jnp.frexp, [g.flat()]


@maker("Ldexp")
def ldexp(g):
    import jax.numpy as jnp

    yield "plain", jnp.ldexp, [g.flat(), Operand((g.n,), "i32", -3, 4)]


# Shapes.


@maker("iota")
def iota(g):
    from jax import lax

    yield "plain", lambda: lax.iota(np_type(g.dtype), g.n), []
    yield "rows", lambda: lax.broadcasted_iota(np_type(g.dtype), (g.side(1 << 20),) * 2, 0), []


@maker("empty", "empty2")
def empty(g):
    from jax import lax

    # What is in the memory is nobody's; there is something to measure when it is filled.
    yield "filled", lambda x: lax.full_like(x, 2), [g.flat()]


@maker("broadcast_in_dim")
def broadcast(g):
    from jax import lax

    s = g.side(1 << 20)
    yield "rows", lambda x: lax.broadcast_in_dim(x, (s, s), (0,)), [g.x(s)]
    yield "columns", lambda x: lax.broadcast_in_dim(x, (s, s), (1,)), [g.x(s)]
    yield "scalar", lambda x: lax.broadcast_in_dim(x, (g.n,), ()), [g.x()]
    yield "short", lambda x: lax.broadcast_in_dim(x, (g.n // 3, 3), (0,)), [g.x(g.n // 3)]


@maker("reshape")
def reshape(g):
    from jax import lax

    yield "flat", lambda x: lax.reshape(x, (x.size,)), [g.square()]
    yield "transposed", lambda x: lax.reshape(x, (x.size,), dimensions=(1, 0)), [g.square()]


@maker("transpose")
def transpose(g):
    from jax import lax

    s, c = g.side(1 << 20), max(2, round(g.n ** (1 / 3)))
    for layout, shape, permutation in (
        ("square", (s, s), (1, 0)), ("pairs", (g.n // 2, 2), (1, 0)), ("triples", (3, g.n // 3), (1, 0)), ("cube", (c, c, c), (2, 1, 0)),
        ("middle", (c, c, c), (1, 0, 2)), ("batch", (c, c, c), (0, 2, 1)), ("image", (max(1, g.n // 3072), 3, 32, 32), (0, 2, 3, 1)),
    ):  # fmt: skip
        yield layout, lambda x, permutation=permutation: lax.transpose(x, permutation), [g.x(*shape)]


@maker("squeeze")
def squeeze(g):
    from jax import lax

    yield "plain", lambda x: lax.squeeze(x, (1,)), [g.x(g.n, 1)]


@maker("copy", "stop_gradient")
def identity(g):
    from jax import lax

    p = primitive("copy")
    yield "plain", p.bind if g.name == "copy" else lambda x: lax.stop_gradient(x) + x, [g.flat()]


@maker("slice")
def strided(g):
    from jax import lax

    s = g.side(1 << 20)
    yield "box", lambda x: lax.slice(x, (1, 1), (s - 1, s - 1)), [g.square()]
    yield "columns", lambda x: lax.slice(x, (0, 1), (s, max(2, s // 4))), [g.square()]
    for stride in (2, 3, 7):
        yield f"stride{stride}", lambda x, stride=stride: lax.slice(x, (0,), (g.n,), (stride,)), [g.flat()]
    yield "stride2_rows", lambda x: lax.slice(x, (0, 0), (s, s), (2, 1)), [g.square()]
    yield "stride2_columns", lambda x: lax.slice(x, (0, 0), (s, s), (1, 2)), [g.square()]


@maker("pad")
def pad(g):
    from jax import lax

    yield "edges", lambda x, v: lax.pad(x, v, ((1, 1, 0), (1, 1, 0))), [g.square(), g.x()]
    yield "interior", lambda x, v: lax.pad(x, v, ((0, 0, 1),)), [g.x(g.n // 2), g.x()]
    yield "negative", lambda x, v: lax.pad(x, v, ((-1, 2, 0), (2, -1, 0))), [g.square(), g.x()]


@maker("rev")
def rev(g):
    from jax import lax

    yield "all", lambda x: lax.rev(x, (0,)), [g.flat()]
    yield "rows", lambda x: lax.rev(x, (0,)), [g.square()]
    yield "columns", lambda x: lax.rev(x, (1,)), [g.square()]
    yield "short", lambda x: lax.rev(x, (1,)), [g.x(g.n // 3, 3)]


@maker("concatenate")
def concatenate(g):
    from jax import lax

    s = g.side(1 << 20)
    yield "flat", lambda *xs: lax.concatenate(xs, 0), [g.x(g.n // 2)] * 2
    yield "columns", lambda *xs: lax.concatenate(xs, 1), [g.x(s, max(1, s // 3))] * 3
    yield "pairs", lambda *xs: lax.concatenate(xs, 1), [g.x(g.n // 2, 1)] * 2


@maker("split", "unstack")
def split(g):
    from jax import lax
    import jax.numpy as jnp

    s = max(4, g.side(1 << 20) // 4 * 4)
    if g.name == "split":
        for axis in (0, 1):
            yield f"axis{axis}", lambda x, axis=axis: lax.split(x, (s // 4,) * 4, axis), [g.x(s, s)]
    else:
        yield "axis0", lambda x: jnp.unstack(x), [g.x(4, g.n // 4)]
        yield "axis1", lambda x: jnp.unstack(x, axis=1), [g.x(g.n // 4, 4)]


@maker("stack")
def stack(g):
    p = primitive("stack")
    for axis in (0, 1):
        yield f"axis{axis}", lambda *xs, axis=axis: p.bind(*xs, axis=axis), [g.x(g.n // 4)] * 4


@maker("tile")
def tile(g):
    p = primitive("tile")
    s = g.side(1 << 20)
    yield "flat", lambda x: p.bind(x, reps=(4,)), [g.x(g.n // 4)]
    yield "columns", lambda x: p.bind(x, reps=(1, 4)), [g.x(s, max(1, s // 4))]
    yield "rows", lambda x: p.bind(x, reps=(4, 1)), [g.x(max(1, s // 4), s)]
    yield "short", lambda x: p.bind(x, reps=(1, g.n // 6)), [g.x(2, 3)]


# Indices.


@maker("dynamic_slice")
def dynamic_slice(g):
    from jax import lax

    s = g.side(1 << 20)
    yield "box", lambda x, i: lax.dynamic_slice(x, (i, i), (max(1, s // 2),) * 2), [g.square(), g.index(s, *())]
    yield "row", lambda x, i: lax.dynamic_slice(x, (i, i), (1, s)), [g.square(), g.index(s, *())]


@maker("dynamic_update_slice")
def dynamic_update_slice(g):
    from jax import lax

    s = g.side(1 << 20)
    yield "box", lambda x, u, i: lax.dynamic_update_slice(x, u, (i, i)), [g.square(), g.x(max(1, s // 2), max(1, s // 2)), g.index(s, *())]


@maker("gather")
def gather(g):
    import jax.numpy as jnp

    s = g.side(1 << 20)
    yield "elements", lambda x, i: x[i], [g.flat(), g.index(g.n, g.n)]
    yield "rows", lambda x, i: x[i], [g.square(), g.index(s, s)]
    yield "columns", lambda x, i: x[:, i], [g.square(), g.index(s, s)]
    yield "pairs", lambda x, i: x[i], [g.x(max(1, g.n // 2), 2), g.index(g.n // 2, g.n // 2)]
    yield "points", lambda x, i, j: x[i, j], [g.square(), g.index(s, g.n), g.index(s, g.n)]
    yield "along", lambda x, i: jnp.take_along_axis(x, i, 1), [g.square(), g.index(s, s, s)]
    yield "clip", lambda x, i: x.at[i].get(mode="clip"), [g.flat(), g.index(g.n, g.n)]


@maker("scatter", "scatter-add", "scatter-sub", "scatter-mul", "scatter-min", "scatter-max")
def scatter(g):
    import numpy as np

    s = g.side(1 << 20)
    how = {"scatter": "set", "scatter-sub": "subtract", "scatter-mul": "mul"}.get(g.name, g.name.removeprefix("scatter-"))
    put = lambda x, i, u: getattr(x.at[i], how)(u)
    yield "elements", put, [g.flat(), g.index(g.n, g.n), g.flat()]
    yield "sorted", put, [g.flat(), g.index(g.n, g.n, order=np.sort), g.flat()]
    yield "few", put, [g.x(100), g.index(100, g.n), g.flat()]
    yield "rows", put, [g.square(), g.index(s, s), g.square()]
    yield "pairs", put, [g.x(max(1, g.n // 2), 2), g.index(g.n // 2, g.n // 2), g.x(max(1, g.n // 2), 2)]
    yield "points", lambda x, i, j, u: getattr(x.at[i, j], how)(u), [g.square(), g.index(s, g.n), g.index(s, g.n), g.flat()]


# Along axes.


@maker("reduce")
def reduce(g):
    from jax import lax
    import jax.numpy as jnp

    larger = lambda a, b: (jnp.where(a[0] >= b[0], a[0], b[0]), jnp.where(a[0] >= b[0], a[1], b[1]))
    for layout, shape, axes in along(g.n):
        indices = Operand(shape, "i32")
        yield f"pair_{layout}", lambda x, i, axes=axes: lax.reduce((x, i), (x.dtype.type(0), i.dtype.type(0)), larger, axes), [g.x(*shape), indices]


@maker("sort")
def sort(g):
    from jax import lax
    import jax.numpy as jnp

    for layout, shape, axes in along(g.n):
        if len(axes) == 1:
            yield layout, lambda x, axis=axes[0]: lax.sort(x, dimension=axis), [g.x(*shape)]
            yield f"arg_{layout}", lambda x, axis=axes[0]: jnp.argsort(x, axis=axis), [g.x(*shape)]


@maker("top_k")
def top_k(g):
    from jax import lax

    for k in (1, 10):
        yield f"all_{k}", lambda x, k=k: lax.top_k(x, k), [g.flat()]
        yield f"rows_{k}", lambda x, k=k: lax.top_k(x, k), [g.square()]


@maker("approx_top_k")
def approx_top_k(g):
    from jax import lax

    yield "all_10", lambda x: lax.approx_max_k(x, 10), [g.flat()]


@maker("Nonzero")
def nonzero(g):
    import jax.numpy as jnp

    yield "flat", lambda x: jnp.nonzero(x > 1, size=g.n), [g.flat()]
    yield "square", lambda x: jnp.nonzero(x > 1, size=g.n), [g.square()]


@maker("SearchSorted")
def search_sorted(g):
    import jax.numpy as jnp
    import numpy as np

    yield "same", jnp.searchsorted, [g.x(g.n, order=np.sort), g.flat()]
    yield "few", jnp.searchsorted, [g.x(100, order=np.sort), g.flat()]


# Windows.


@maker("reduce_window_sum", "reduce_window_max", "reduce_window_min", "select_and_gather_add", "reduce_window")
def windows(g):
    from jax import lax
    import jax.numpy as jnp

    zero = lambda x: x.dtype.type(0)
    for layout, shape, window, strides in pooled(g):
        ones = (1,) * len(shape)
        padding = lax.padtype_to_pads(shape, window, strides, "SAME")
        common = dict(window_dimensions=window, window_strides=strides, padding=tuple(padding), base_dilation=ones, window_dilation=ones)
        p = primitive(g.name)
        if g.name == "reduce_window":
            larger = lambda a, b: jnp.where(jnp.abs(a) > jnp.abs(b), a, b)
            yield layout, lambda x, w=window, s=strides: lax.reduce_window(x, zero(x), larger, w, s, "SAME"), [g.x(*shape)]
        elif g.name == "select_and_gather_add":
            yield layout, lambda t, x, c=common: p.bind(t, x, select_prim=lax.ge_p, **c), [g.x(*shape), g.x(*shape)]
        else:
            yield layout, lambda x, c=common: p.bind(x, **c), [g.x(*shape)]


@maker("select_and_scatter_add", "select_and_scatter")
def unpooled(g):
    import jax
    from jax import lax
    from jax._src.lax import windowed_reductions

    def scattered(x, u, window, strides):
        if g.name == "select_and_scatter_add":
            return jax.vjp(lambda x: lax.reduce_window(x, -np_inf(x), lax.max, window, strides, "VALID"), x)[1](u)[0]
        larger = lambda a, b: lax.max(a, b)
        return windowed_reductions._select_and_scatter(x, lax.ge, window, strides, ((0, 0),) * x.ndim, u, x.dtype.type(0), larger)

    np_inf = lambda x: x.dtype.type(math.inf)
    for layout, shape, window, strides in pooled(g):
        out = tuple((length - w) // s + 1 for length, w, s in zip(shape, window, strides, strict=True))
        if min(out) > 0:
            yield layout, lambda x, u, w=window, s=strides: scattered(x, u, w, s), [g.x(*shape), g.x(*out)]


def pooled(g):
    side = max(4, math.isqrt(g.n // 16))
    yield "image2", (1, side, side, 16), (1, 2, 2, 1), (1, 2, 2, 1)
    yield "image3", (1, side, side, 16), (1, 3, 3, 1), (1, 1, 1, 1)
    yield "line5", (g.n,), (5,), (1,)
    yield "line64", (g.n,), (64,), (1,)


@maker("conv_general_dilated")
def convolutions(g):
    from jax import lax

    side = max(4, min(56, math.isqrt(g.n // 32)))
    images = max(1, min(16, g.n // (side * side * 32)))
    x = g.x(images, side, side, 32)

    def conv(name, operand, kernel, numbers, strides=1, padding="SAME", **more):
        strides = (strides,) * (len(kernel.shape) - 2)
        return name, lambda x, w: lax.conv_general_dilated(x, w, strides, padding, dimension_numbers=numbers, **more), [operand, kernel]

    nhwc = ("NHWC", "HWIO", "NHWC")
    yield conv("3x3", x, g.x(3, 3, 32, 64), nhwc)
    yield conv("3x3_nchw", g.x(images, 32, side, side), g.x(64, 32, 3, 3), ("NCHW", "OIHW", "NCHW"))
    yield conv("stride2", x, g.x(3, 3, 32, 64), nhwc, strides=2)
    yield conv("1x1", x, g.x(1, 1, 32, 64), nhwc)
    yield conv("depthwise", x, g.x(3, 3, 1, 32), nhwc, feature_group_count=32)
    yield conv("grouped", x, g.x(3, 3, 8, 64), nhwc, feature_group_count=4)
    yield conv("dilated", x, g.x(3, 3, 32, 32), nhwc, rhs_dilation=(2, 2))
    yield conv("transposed", x, g.x(3, 3, 32, 32), nhwc, lhs_dilation=(2, 2), padding=((1, 2), (1, 2)))
    length = max(8, min(100_000, g.n) // 8)
    yield conv("line", g.x(1, length, 8), g.x(5, 8, 16), ("NWC", "WIO", "NWC"))
    cube = max(4, min(24, round((g.n / 8) ** (1 / 3))))
    yield conv("cube", g.x(1, cube, cube, cube, 8), g.x(3, 3, 3, 8, 8), ("NDHWC", "DHWIO", "NDHWC"))

