"""The functions of `jax.lax`: slices at indices, shapes, products, convolutions, and what stands for one primitive."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from common import Arg, Number, Key

HIGHEST = lax.Precision.HIGHEST


def dnums(kind, **words):
    return kind(**{key: tuple(value) for key, value in words.items()})


def listed(value):
    return (value,) if isinstance(value, int) else value


def gather(x, i, sizes, offset=(), collapsed=(), map=(), how=None, fill=None, **given):
    numbers = lax.GatherDimensionNumbers(listed(offset), listed(collapsed), listed(map))
    return lax.gather(x, i, numbers, listed(sizes), mode=how, fill_value=fill, **given)


def scatter(name):
    def call(x, i, u, window=(), inserted=(), map=(), how=None, **given):
        numbers = lax.ScatterDimensionNumbers(listed(window), listed(inserted), listed(map))
        return getattr(lax, name)(x, i, u, numbers, mode=how, **given)
    return call


def scatter_apply(x, i, window=(), inserted=(), map=(), shape=(), how=None):
    numbers = lax.ScatterDimensionNumbers(listed(window), listed(inserted), listed(map))
    return lax.scatter_apply(x, i, lambda x: x * x + 1, numbers, update_shape=shape, mode=how)


def pads(padding):
    if isinstance(padding, str):
        return padding
    return tuple(zip(padding[::2], padding[1::2]))


def layout(text):
    return None if text is None else tuple(text.split("/"))


def conv_transpose(x, k, strides, padding, layout_=None, precision=None, **given):
    return lax.conv_transpose(x, k, strides, pads(padding), dimension_numbers=layout(layout_),
                              precision=HIGHEST if precision else None, **given)


def patches(x, filter, strides, padding, layout_=None):
    return lax.conv_general_dilated_patches(x, filter, strides, pads(padding), dimension_numbers=layout(layout_))


def local(x, k, filter, strides, padding, layout_=None):
    return lax.conv_general_dilated_local(x, k, strides, pads(padding), filter, dimension_numbers=layout(layout_))


def general(x, k, strides, padding, lhs_dilation=None, rhs_dilation=None):
    return lax.conv_with_general_padding(x, k, strides, pads(padding), lhs_dilation, rhs_dilation)


def dilated(x, k, strides, padding, layout_=None):
    return lax.conv_general_dilated(x, k, strides, pads(padding), dimension_numbers=layout(layout_))


def as_array(f):
    """Shapes as arrays."""
    return lambda **given: jnp.asarray(np.asarray(f(**given), np.int32))


FUNCTIONS = {
    "lax.gather": gather, "lax.scatter_apply": scatter_apply, "lax.conv_transpose": conv_transpose,
    "lax.conv_general_dilated_patches": patches, "lax.conv_general_dilated_local": local,
    "lax.conv_with_general_padding": general, "lax.conv_general_dilated": dilated,
    "lax.dynamic_slice": lambda x, *starts, sizes: lax.dynamic_slice(x, starts, listed(sizes)),
    "lax.dynamic_update_slice": lambda x, u, *starts: lax.dynamic_update_slice(x, u, starts),
    "lax.index_take": lambda x, *i, axes: lax.index_take(x, i, listed(axes)),
    "lax.polynomial": lambda x, *c: lax.polynomial(x, c),
    "lax.dot": lambda x, y, precision=None, dtype=None, lc=None, rc=None, lb=(), rb=(): lax.dot(
        x, y, precision=HIGHEST if precision else None, preferred_element_type=dtype,
        dimension_numbers=None if lc is None else ((listed(lc), listed(rc)), (listed(lb), listed(rb)))),
    "lax.full_like": lambda x, v, dtype=None, shape=None: lax.full_like(x, v, dtype, None if shape is None else listed(shape)),
    "lax.select_n": lambda i, *cases: lax.select_n(i, *cases),
    "lax.dce_sink": lambda x: (lax.dce_sink(x), x)[1],
    "lax.conv_shape_tuple": as_array(lambda lhs, rhs, strides, padding: lax.conv_shape_tuple(lhs, rhs, strides, pads(padding))),
    "lax.conv_general_shape_tuple": as_array(
        lambda lhs, rhs, strides, padding, layout_: lax.conv_general_shape_tuple(lhs, rhs, strides, pads(padding), layout(layout_))),
    "lax.conv_transpose_shape_tuple": as_array(
        lambda lhs, rhs, strides, padding, layout_: lax.conv_transpose_shape_tuple(lhs, rhs, strides, pads(padding), layout(layout_))),
    "lax.conv_general_permutations": as_array(lambda layout_: lax.conv_general_permutations(layout(layout_))),
    "lax.padtype_to_pads": as_array(lambda lhs, rhs, strides, padding: lax.padtype_to_pads(
        np.array(lhs), np.array(rhs), np.array(strides), padding)),
    "lax.reduce_window_shape_tuple": as_array(lambda lhs, window, strides, padding: lax.reduce_window_shape_tuple(
        lhs, window, strides, pads(padding))),
    "lax.broadcast_shapes": as_array(lambda a, b: lax.broadcast_shapes(listed(a), listed(b))),
    "lax.shape_as_value": lambda shape: jnp.asarray(lax.shape_as_value(listed(shape))),
    "lax.broadcast": lambda x, sizes: lax.broadcast(x, listed(sizes)),
}
for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
    FUNCTIONS[f"lax.{name}"] = scatter(name)


def ints(*values, shape=None, dtype="i32"):
    return Arg(dtype, (len(values),) if shape is None else shape, list(values))


def cases(r):
    slices(r)
    gathers(r)
    shapes(r)
    elementwise(r)
    products(r)
    convolutions(r)


def slices(r):
    x, v = Arg("f32", (3, 4), "~1"), Arg("f32", (5,), "~1")
    one = lambda value, dtype="i32": ints(value, shape=(), dtype=dtype)
    r.all_modes("lax.dynamic_slice", x, one(1), one(-2), sizes=(2, 2))
    r.all_modes("lax.dynamic_slice", x, one(9), Number(0), sizes=(2, 4))
    r.all_modes("lax.dynamic_slice", v, Number(-2), sizes=(2,))
    r.all_modes("lax.dynamic_slice", v, one(1, "u8"), sizes=3)
    r.case("lax.dynamic_slice", v, one(1), sizes=9)
    r.case("lax.dynamic_slice", v, one(1), one(1), sizes=3)
    r.all_modes("lax.dynamic_update_slice", x, Arg("f32", (2, 1), "~3"), one(1), one(-1))
    r.all_modes("lax.dynamic_update_slice", v, Arg("f32", (2,), "~3"), Number(9))
    r.case("lax.dynamic_update_slice", v, Arg("f32", (7,), "~3"), Number(0))
    for axis in (0, 1, -1):
        r.all_modes("lax.dynamic_slice_in_dim", x, one(-2), slice_size=2, axis=axis)
        r.all_modes("lax.dynamic_index_in_dim", x, one(1), axis=axis)
        r.all_modes("lax.dynamic_index_in_dim", x, one(-1), axis=axis, keepdims=False)
        r.all_modes("lax.dynamic_update_slice_in_dim", x, Arg("f32", (2, 2) if axis == 9 else ((2, 4) if axis == 0 else (3, 2)), "~3"), one(1), axis=axis)
        r.all_modes("lax.dynamic_update_index_in_dim", x, Arg("f32", (4,) if axis == 0 else (3,), "~3"), one(1), axis=axis)
        r.all_modes("lax.index_in_dim", x, index=-1, axis=axis)
        r.all_modes("lax.index_in_dim", x, index=1, axis=axis, keepdims=False)
        r.case("lax.index_in_dim", x, index=4, axis=axis)
    r.all_modes("lax.dynamic_slice_in_dim", x, one(-1), slice_size=2, axis=1, allow_negative_indices=False)
    r.all_modes("lax.dynamic_slice_in_dim", v, Number(7), slice_size=2)
    r.all_modes("lax.dynamic_index_in_dim", v, Number(2))
    r.all_modes("lax.dynamic_index_in_dim", x, one(1, "i8"), axis=1)
    r.case("lax.dynamic_slice_in_dim", x, one(1), slice_size=9)
    r.case("lax.dynamic_slice_in_dim", x, one(1), slice_size=1, axis=2)
    r.all_modes("lax.dynamic_update_index_in_dim", x, Arg("f32", (3, 1), "~3"), one(-1), axis=1)
    r.case("lax.dynamic_update_index_in_dim", Arg("i32", (3,)), Arg("i32", ()), one(2), axis=0)
    r.all_modes("lax.slice_in_dim", x, start_index=1, limit_index=4, stride=2, axis=1)
    r.all_modes("lax.index_take", x, ints(0, 2, -1), ints(1, 5, 0), axes=(0, 1))
    r.all_modes("lax.index_take", x, ints(0, 2, 4), axes=0)
    r.case("lax.index_take", Arg("i32", (3, 2)), ints(0, 1), axes=0)


def gathers(r):
    x, v = Arg("f32", (3, 4), "~1"), Arg("f32", (5,), "~1")
    i = ints(0, 2, 7, shape=(3, 1))
    for how in (None, "clip", "fill", "promise_in_bounds"):
        r.all_modes("lax.gather", v, i, sizes=1, collapsed=0, map=0, how=how)
        r.all_modes("lax.gather", x, i, sizes=(1, 4), offset=1, collapsed=0, map=0, how=how)
    r.all_modes("lax.gather", v, i, sizes=2, offset=1, map=0, how="clip")
    r.all_modes("lax.gather", v, i, sizes=1, collapsed=0, map=0, how="fill", fill=7)
    r.all_modes("lax.gather", v, ints(0, 2, shape=(2, 1)), sizes=1, collapsed=0, map=0, unique_indices=True, indices_are_sorted=True)
    r.case("lax.gather", v, i, sizes=9, offset=1, map=0)
    for name in ("scatter", "scatter_add", "scatter_sub", "scatter_mul", "scatter_min", "scatter_max"):
        name = f"lax.{name}"
        u = ints(0, 2, 4, shape=(3, 1))
        r.all_modes(name, v, u, Arg("f32", (3,), "~3"), inserted=0, map=0, unique_indices=True)
        r.case(name, v, i, Arg("f32", (3,), "~3"), inserted=0, map=0)
        r.case(name, Arg("i32", (5,), "~1"), i, Arg("i32", (3,), "~3"), inserted=0, map=0, how="clip")
        r.case(name, Arg("i8", (3, 4), "~1"), u, Arg("i8", (3, 4), "~3"), window=1, inserted=0, map=0, indices_are_sorted=True)
        r.case(name, v, i, Arg("f32", (2,), "~3"), inserted=0, map=0)
    r.case("lax.scatter_apply", v, i, inserted=0, map=0, shape=(3,))
    r.case("lax.scatter_apply", Arg("i32", (5,), "~1"), i, inserted=0, map=0, shape=(3,), how="clip")


def shapes(r):
    x, v = Arg("f32", (3, 4), "~1"), Arg("f32", (5,), "~1")
    r.all_modes("lax.broadcast", v, sizes=(2, 3))
    r.all_modes("lax.broadcast", x, sizes=2)
    r.case("lax.broadcast", v, sizes=())
    r.case("lax.broadcast", Arg("i8", ()), sizes=(0, 2))
    r.all_modes("lax.broadcast_like", Arg("f32", (4,), "~1"), x)
    r.all_modes("lax.broadcast_like", Arg("f32", (3, 1), "~1"), x)
    r.case("lax.broadcast_like", v, x)
    r.all_modes("lax.broadcast_to_rank", v, rank=3)
    r.case("lax.broadcast_to_rank", v, rank=1)
    r.case("lax.broadcast_to_rank", Arg("c64", (1, 2)), rank=4)
    for stop in (None, 1, 2, -1):
        r.all_modes("lax.collapse", Arg("f32", (2, 3, 2), "~1"), start_dimension=0, stop_dimension=stop)
    r.case("lax.collapse", Arg("f32", (2, 3, 2), "~1"), start_dimension=1)
    r.case("lax.collapse", Arg("f32", (2, 3, 2), "~1"), start_dimension=2, stop_dimension=1)
    for dtype in ("i32", "f32", "u8", "i64", "bf16"):
        r.case("lax.broadcasted_iota", dtype=dtype, shape=(2, 3), dimension=1)
    r.all_modes("lax.full_like", x, Number(2))
    r.all_modes("lax.full_like", x, Arg("f32", (), "~2"))
    r.case("lax.full_like", x, Number(2), dtype="i8")
    r.case("lax.full_like", x, Number(2.5), shape=(2, 1))
    r.case("lax.full_like", Arg("bool", (2,)), Number(True))
    r.case("lax.full_like", Arg("c64", (0,)), Number(1))
    for given in ({"a": (2, 1), "b": 3}, {"a": (), "b": (4, 1)}, {"a": (0,), "b": 1}, {"a": 2, "b": 3}):
        r.case("lax.broadcast_shapes", **given)
    r.case("lax.shape_as_value", shape=(2, 3))
    r.case("lax.shape_as_value", shape=7)
    r.case("lax.shape_as_value", shape=())
    r.all_modes("lax.stage", v)
    r.all_modes("lax.dce_sink", v)
    r.case("lax.stage", Arg("i8", (2, 2)))
    r.case("lax.dce_sink", Arg("c64", (2,)))
    r.all_modes("lax.sort_key_val", Arg("f32", (3, 4), "~d1"), Arg("f32", (3, 4), "~2"))
    r.all_modes("lax.sort_key_val", Arg("f32", (3, 4), "~d1"), Arg("f32", (3, 4), "~2"), dimension=0)
    r.case("lax.sort_key_val", Arg("f32", (19,)), Arg("i32", (19,), "~d3"))
    r.case("lax.sort_key_val", Arg("i32", (5,), [2, 1, 2, 1, 0]), Arg("i32", (5,), "~d3"))
    r.case("lax.sort_key_val", v, Arg("i32", (4,)))


def elementwise(r):
    v = Arg("f32", (5,), "~1")
    for dtype in ("f32", "f64", "c64", "bf16"):
        r.all_modes("lax.reciprocal", Arg(dtype, (4,), "~+1"))
        r.all_modes("lax.one_minus_square", Arg(dtype, (4,), "~1"))
    r.case("lax.one_minus_square", Arg("f32", (19,)))
    r.case("lax.one_minus_square", Arg("i32", (5,), "~1"))
    r.case("lax.reciprocal", Arg("i32", (5,)))
    r.all_modes("lax.polynomial", v, Number(1.0), Number(2.0), Number(3.0))
    r.all_modes("lax.polynomial", v, Arg("f32", (5,), "~2"), Number(2))
    r.all_modes("lax.polynomial", v, Number(3))
    r.case("lax.polynomial", v)
    r.case("lax.polynomial", Arg("f64", (3,), "~1"), Number(1), Number(0.5))
    r.all_modes("lax.random_gamma_grad", Arg("f32", (6,), [0.3, 0.9, 1, 2.5, 4, 9]), Arg("f32", (6,), [0.2, 1.5, 1, 0.4, 7, 8]), grad=False)
    r.case("lax.random_gamma_grad", Arg("f64", (3,), [0.7, 3, 1]), Arg("f64", (3,), [0.2, 4, 0]))
    r.case("lax.random_gamma_grad", Arg("f32", (), [2]), Arg("f32", (3,), [0.5, 1, 3]))
    for dtype in ("i32", "u32", "i8", "u16", "i64"):
        r.case("lax.mulhi", Arg(dtype, (6,), 5), Arg(dtype, (6,), 7))
    r.all_modes("lax.complex", v, Arg("f32", (5,), "~2"), grad=False)
    r.all_modes("lax.igamma_grad_a", Arg("f32", (4,), [0.5, 1, 2, 7]), Arg("f32", (4,), [0.4, 1, 3, 5]), grad=False)
    r.all_modes("lax.clamp", Arg("f32", ()), v, Arg("f32", (), [1]))
    r.all_modes("lax.select", Arg("bool", (5,), "~3"), v, Arg("f32", (5,), "~2"))
    r.all_modes("lax.select_n", Arg("i32", (3,), [0, 2, 1]), Arg("f32", (3,), "~1"), Arg("f32", (3,), "~2"), Arg("f32", (3,), "~3"))


def products(r):
    x, y = Arg("f32", (3, 4), "~1"), Arg("f32", (4, 2), "~2")
    r.all_modes("lax.dot", x, y)
    r.all_modes("lax.dot", x, Arg("f32", (4,), "~2"))
    r.all_modes("lax.dot", Arg("f32", (4,), "~1"), Arg("f32", (4,), "~2"))
    r.all_modes("lax.dot", x, y, precision=True)
    r.all_modes("lax.dot", Arg("f32", (2, 3, 4), "~1"), Arg("f32", (4, 2, 3), "~2"), lc=(2,), rc=(0,), lb=(0,), rb=(1,))
    r.case("lax.dot", Arg("i8", (2, 3), "~1"), Arg("i8", (3, 2), "~2"), dtype="i32")
    r.case("lax.dot", Arg("c64", (2, 3), "~1"), Arg("c64", (3,), "~2"))
    r.case("lax.dot", Arg("f32", (0, 3)), Arg("f32", (3, 2)))
    r.case("lax.dot", x, x)
    r.all_modes("lax.batch_matmul", Arg("f32", (2, 3, 4), "~1"), Arg("f32", (2, 4, 2), "~2"))
    r.all_modes("lax.batch_matmul", x, y)
    r.case("lax.batch_matmul", Arg("i32", (2, 2, 1, 2), "~1"), Arg("i32", (2, 2, 2, 1), "~2"))
    r.case("lax.batch_matmul", x, Arg("f32", (4,)))
    r.case("lax.batch_matmul", x, x)


def convolutions(r):
    x, k = Arg("f32", (1, 5, 2), "~1"), Arg("f32", (3, 2, 2), "~2")
    for padding in ("SAME", "VALID", (1, 2)):
        r.all_modes("lax.conv_transpose", x, k, strides=(2,), padding=padding)
        r.all_modes("lax.conv_transpose", x, k, strides=(2,), padding=padding, transpose_kernel=True)
    r.all_modes("lax.conv_transpose", x, k, strides=(3,), padding=(1, 0), use_consistent_padding=True)
    r.all_modes("lax.conv_transpose", x, k, strides=(1,), padding="SAME", rhs_dilation=(2,))
    r.all_modes("lax.conv_transpose", Arg("f32", (1, 2, 3, 3), "~1"), Arg("f32", (2, 2, 2, 3), "~2"), strides=(2, 1),
                padding="VALID", layout_="NCHW/OIHW/NCHW")
    r.case("lax.conv_transpose", x, k, strides=(2, 1), padding="SAME")
    r.all_modes("lax.conv_general_dilated_patches", Arg("f32", (1, 2, 5), "~1"), filter=(2,), strides=(1,), padding="VALID")
    r.all_modes("lax.conv_general_dilated_patches", Arg("f32", (2, 2, 3, 4), "~1"), filter=(2, 3), strides=(1, 2), padding="SAME")
    r.all_modes("lax.conv_general_dilated_patches", Arg("f32", (1, 3, 4, 2), "~1"), filter=(2, 2), strides=(1, 1), padding="VALID",
                layout_="NHWC/HWIO/NHWC")
    r.all_modes("lax.conv_general_dilated_local", Arg("f32", (1, 2, 5), "~1"), Arg("f32", (3, 4, 4), "~2"), filter=(2,), strides=(1,), padding="VALID")
    r.all_modes("lax.conv_general_dilated_local", Arg("f32", (1, 3, 3, 2), "~1"), Arg("f32", (2, 2, 8, 3), "~2"), filter=(2, 2), strides=(1, 1),
                padding="VALID", layout_="NHWC/HWIO/NHWC")
    r.case("lax.conv_general_dilated_local", Arg("f32", (1, 2, 5), "~1"), Arg("f32", (4, 4), "~2"), filter=(2,), strides=(1,), padding="VALID")
    r.all_modes("lax.conv_with_general_padding", Arg("f32", (1, 2, 5), "~1"), Arg("f32", (3, 2, 2), "~2"), strides=(2,), padding=(1, 1))
    r.all_modes("lax.conv_with_general_padding", Arg("f32", (1, 2, 5), "~1"), Arg("f32", (3, 2, 2), "~2"), strides=(1,), padding="SAME",
                lhs_dilation=(2,), rhs_dilation=(2,))
    # The axes of space are in the order of the kernel.
    r.all_modes("lax.conv_general_dilated", Arg("f32", (1, 4, 3, 1), "~1"), Arg("f32", (2, 1, 1, 1), "~2"), strides=(2, 1), padding="VALID",
                layout_="NHWC/WHIO/NHWC")
    for given in ({"lhs": (1, 2, 9), "rhs": (4, 2, 3), "strides": (2,)}, {"lhs": (2, 1, 5, 6), "rhs": (3, 1, 2, 2), "strides": (1, 2)}):
        for padding in ("SAME", "VALID"):
            r.case("lax.conv_shape_tuple", padding=padding, **given)
    r.case("lax.conv_shape_tuple", lhs=(1, 2, 9), rhs=(4, 2, 3), strides=(2,), padding=(1, 2))
    for name in ("conv_general_shape_tuple", "conv_transpose_shape_tuple"):
        for padding in ("SAME", "VALID", (1, 2, 0, 1)):
            r.case(f"lax.{name}", lhs=(1, 9, 7, 2), rhs=(3, 2, 2, 4), strides=(2, 1), padding=padding, layout_="NHWC/HWIO/NHWC")
    for text in ("NHWC/HWIO/NHWC", "NCHW/OIHW/NHWC", "NHWC/WHIO/NCHW", "NC/IO/NC", "NHC/HHO/NHC"):
        r.case("lax.conv_general_permutations", layout_=text)
    for padding in ("SAME", "VALID", "SAME_LOWER"):
        r.case("lax.padtype_to_pads", lhs=(5, 6), rhs=(2, 3), strides=(1, 2), padding=padding)
    r.case("lax.reduce_window_shape_tuple", lhs=(5, 6), window=(2, 3), strides=(1, 2), padding=(0, 0, 1, 1))
    r.case("lax.reduce_window_shape_tuple", lhs=(5, 1), window=(2, 3), strides=(3, 2), padding=(0, 0, 0, 0))
    r.case("lax.reduce_window_shape_tuple", lhs=(5, 6), window=(5, 6), strides=(1, 1), padding=(2, 2, 1, 0))
