"""Changing the shapes of arrays, joining and cutting them."""


import jax.numpy as jnp
import numpy as np

from common import Arg, Number


def listed(name):
    function = getattr(jnp, name)
    return lambda *arrays, **keywords: function(list(arrays), **keywords)



def cut(name):
    return lambda x, sections, **keywords: getattr(jnp, name)(x, sections, **keywords)


def block(*arrays, kind):
    a = list(arrays)
    return jnp.block({"row": a, "square": [a[:2], a[2:]], "one": a[0], "deep": [[[x]] for x in a], "uneven": [a[0], a[1:]]}[kind])


def pad(x, *values, width, how="constant", end=None, stat=None, reflect=None):
    nested = [tuple(width[i:i + 2]) for i in range(0, len(width), 2)] if isinstance(width, tuple) and len(width) > 2 else width
    keywords = {}
    if values:
        keywords["constant_values"] = values[0] if len(values) == 1 else tuple(values)
    if end is not None:
        keywords["end_values"] = end
    if stat is not None:
        keywords["stat_length"] = stat
    if reflect is not None:
        keywords["reflect_type"] = reflect
    return jnp.pad(x, nested, mode=how, **keywords)


def filled(vector, width, axis, keywords):
    return vector.at[0].set(7.0)


FUNCTIONS = {f"numpy.{name}": listed(name) for name in (
    "concatenate", "concat", "stack", "vstack", "hstack", "dstack", "column_stack", "broadcast_arrays")}
FUNCTIONS |= {f"numpy.{name}": cut(name) for name in ("split", "array_split", "vsplit", "hsplit", "dsplit")}
FUNCTIONS |= {
    "numpy.broadcast_arrays": lambda *arrays: jnp.broadcast_arrays(*arrays),
    "numpy.concatenate_flat": lambda *arrays: jnp.concatenate(arrays, axis=None),
    "numpy.reshape_order": lambda x, shape: jnp.reshape(x, shape, order="F"),
    "numpy.ravel_order": lambda x: jnp.ravel(x, order="F"),
    "numpy.roll_by": lambda x, shift, axis=None: jnp.roll(x, shift, axis),
    "numpy.repeat_by": lambda x, repeats, **keywords: jnp.repeat(x, repeats, **keywords),
    "numpy.repeat_each": lambda x, repeats, axis=None: jnp.repeat(x, np.array(repeats), axis=axis),
    "numpy.block": block,
    "numpy.pad": pad,
    "numpy.pad_with": lambda x, width: jnp.pad(x, width, mode=filled),
    "numpy.delete_at": lambda x, places, axis=None: jnp.delete(x, np.array(places), axis),
    "numpy.delete_range": lambda x, places, axis=None: jnp.delete(x, slice(*places), axis),
    "numpy.delete_unique": lambda x, places, axis=None: jnp.delete(x, places, axis, assume_unique_indices=True),
    "numpy.delete_where": lambda x, where: jnp.delete(x, np.array([c == "1" for c in where])),
    "numpy.insert": lambda x, values, at, axis=None: jnp.insert(x, at, values, axis),
    "numpy.insert_at": lambda x, values, at, axis=None: jnp.insert(x, np.array(at), values, axis),
    "numpy.insert_range": lambda x, values, at, axis=None: jnp.insert(x, slice(*at), values, axis),
    "numpy.split_at": lambda x, places, axis=0: jnp.split(x, list(places), axis),
    "numpy.array_split_at": lambda x, places, axis=0: jnp.array_split(x, list(places), axis),
}


def axes(r):
    x, cube = Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3, 4), "~1")
    for axis in (0, 1, -1, 2):
        r.all_modes("numpy.expand_dims", Arg("f32", (3,), "~1"), axis=axis)
    r.case("numpy.expand_dims", Arg("c64", (2, 0)), axis=1)
    r.case("numpy.expand_dims", Arg("i64", (2, 2), "~2"), axis=-3)
    r.all_modes("numpy.expand_dims", Arg("f32", (3,), "~1"), axis=(0, 2))
    r.case("numpy.expand_dims", Arg("f32", (3,), "~1"), axis=(1, 1))
    r.all_modes("numpy.transpose", cube)
    r.all_modes("numpy.transpose", cube, axes=(1, 2, 0))
    r.case("numpy.transpose", Arg("i32", (0, 2)))
    r.case("numpy.transpose", cube, axes=(0, 1))
    r.all_modes("numpy.permute_dims", cube, axes=(-1, 0, 1))
    r.case("numpy.permute_dims", Arg("bool", (2, 3), "~1"), axes=(1, 0))
    r.case("numpy.permute_dims", x, axes=(0, 0))
    r.all_modes("numpy.matrix_transpose", cube)
    r.case("numpy.matrix_transpose", Arg("u8", (2, 3), "~1"))
    r.case("numpy.matrix_transpose", Arg("f32", (3,), "~1"))
    r.all_modes("numpy.swapaxes", cube, axis1=0, axis2=-1)
    r.all_modes("numpy.swapaxes", cube, axis1=1, axis2=1)
    r.case("numpy.swapaxes", x, axis1=0, axis2=2)
    for source, destination in ((0, -1), (-1, 0), (1, 1), ((0, 1), (-1, -2)), ((2, 0), (0, 1))):
        r.all_modes("numpy.moveaxis", cube, source=source, destination=destination)
    r.case("numpy.moveaxis", x, source=(0, 1), destination=(0,))
    r.case("numpy.moveaxis", x, source=3, destination=0)
    for axis, start in ((2, None), (0, 2), (-1, 1), (0, 3), (1, -1)):
        r.all_modes("numpy.rollaxis", cube, axis=axis, start=start)
    r.case("numpy.rollaxis", x, axis=0, start=4)
    r.all_modes("numpy.squeeze", Arg("f32", (1, 3, 1), "~1"), axis=0)
    r.case("numpy.squeeze", Arg("f32", (1, 3, 1), "~1"))
    r.case("numpy.squeeze", Arg("i32", (1, 3, 1), "~1"), axis=(0, -1))
    r.case("numpy.squeeze", Arg("f32", (1, 3), "~1"), axis=1)
    r.all_modes("numpy.reshape", x, shape=(3, 2))
    r.all_modes("numpy.reshape", x, shape=(-1,))
    r.all_modes("numpy.reshape", Arg("f32", (1, 1), "~1"), shape=())
    r.case("numpy.reshape", Arg("i32", (0, 2)), shape=(2, 0))
    r.case("numpy.reshape", x, shape=(4, -1))
    r.case("numpy.reshape", x, shape=(2, 2))
    r.all_modes("numpy.reshape_order", x, shape=(3, 2))
    r.all_modes("numpy.reshape_order", cube, shape=(4, -1))
    r.case("numpy.reshape_order", Arg("i32", (6,), "~1"), shape=(3, 2))
    r.case("numpy.reshape_order", x, shape=(4,))
    r.all_modes("numpy.ravel", x)
    r.case("numpy.ravel", Arg("i32", (), "~1"))
    r.case("numpy.ravel", Arg("f64", (0, 2)))
    r.all_modes("numpy.ravel_order", x)
    r.case("numpy.ravel_order", Arg("i32", (3,), "~1"))
    r.case("numpy.ravel_order", Arg("i32", (2, 2, 2), "~1"))
    for name in ("atleast_1d", "atleast_2d", "atleast_3d"):
        for shape in ((), (3,), (2, 3), (1, 2, 2)):
            r.all_modes(f"numpy.{name}", Arg("f32", shape, "~1"))
        r.case(f"numpy.{name}", Arg("i64", (2,), "~1"))
    r.all_modes("numpy.broadcast_to", Arg("f32", (3,), "~1"), shape=(2, 3))
    r.all_modes("numpy.broadcast_to", Arg("f32", (2, 1), "~1"), shape=(3, 2, 4))
    r.all_modes("numpy.broadcast_to", x, shape=(2, 3))
    r.case("numpy.broadcast_to", Number(2), shape=(2,))
    r.case("numpy.broadcast_to", x, shape=(3,))
    r.case("numpy.broadcast_to", x, shape=(4, 3))
    r.all_modes("numpy.broadcast_arrays", x, Arg("f32", (3,), "~2"))
    r.all_modes("numpy.broadcast_arrays", Arg("f32", (2, 1), "~2"), Arg("i32", (3,), "~2"), Arg("f32", (), "~3"))
    r.case("numpy.broadcast_arrays", x, Arg("i32", (2, 3), "~2"))
    r.case("numpy.broadcast_arrays", x, Arg("i32", (2,), "~2"))


def order(r):
    x, cube = Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3, 4), "~1")
    for axis in (None, 0, -1, (0, 1)):
        r.all_modes("numpy.flip", x, axis=axis)
    r.case("numpy.flip", Arg("i64", (0, 2)), axis=1)
    r.case("numpy.flip", x, axis=2)
    for name in ("fliplr", "flipud"):
        r.all_modes(f"numpy.{name}", x)
        r.case(f"numpy.{name}", Arg("i8", (2, 2, 2), "~1"))
        r.case(f"numpy.{name}", Arg("f32", (), "~1"))
    for k in (None, 0, 2, 3, -1, 5):
        r.all_modes("numpy.rot90", x, k=k)
    r.all_modes("numpy.rot90", cube, axes=(1, 2))
    r.case("numpy.rot90", cube, k=3, axes=(0, -1))
    r.case("numpy.rot90", x, axes=(1, -1))
    r.case("numpy.rot90", Arg("f32", (3,), "~1"))
    for shift, axis in ((1, None), (-2, None), (1, 0), (-1, 1), (7, -1), (0, 0), ((1, 2), (0, 1)), ((1, 1), 0), (1, (0, 1))):
        r.all_modes("numpy.roll", x, shift=shift, axis=axis)
    r.case("numpy.roll", Arg("i32", (0, 2)), shift=1, axis=0)
    r.case("numpy.roll", Arg("i64", (3,), "~1"), shift=1, axis=0)
    r.case("numpy.roll", x, shift=1, axis=2)
    r.case("numpy.roll", x, shift=(1, 2, 3), axis=(0, 1))
    r.case("numpy.roll_by", Arg("f32", (5,), "~1"), Arg("i32", (), [2]), axis=0)
    r.case("numpy.roll_by", Arg("f32", (5,), "~1"), Arg("i32", (), [-7]))
    r.case("numpy.roll_by", x, Arg("i32", (2,), [1, -1]), axis=(0, 1))
    r.case("numpy.roll_by", Arg("f32", (2, 5), "~1"), Arg("i32", (2,), [1, -3]), mode="vmap", axis=0)


def joining(r):
    x, y, v = Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3), "~2"), Arg("f32", (3,), "~3")
    n = Arg("i32", (2, 3), "~2")
    for axis in (None, 0, 1, -1):
        r.all_modes("numpy.concatenate", x, y, axis=axis)
        r.all_modes("numpy.stack", x, n, axis=axis)
    r.all_modes("numpy.concatenate", x, n, x, axis=0, dtype="f16")
    r.all_modes("numpy.concatenate_flat", x, v)
    r.case("numpy.concatenate_flat", n, Number(2))
    r.case("numpy.concatenate", x)
    r.case("numpy.concatenate")
    r.case("numpy.concatenate", x, v)
    r.case("numpy.concatenate", x, Arg("f32", (2, 2), "~1"))
    r.case("numpy.concatenate", Arg("f32", (0, 3)), n)
    r.case("numpy.concatenate", Number(2), Number(3))
    r.case("numpy.concatenate", x, y, axis=2)
    r.all_modes("numpy.concat", x, n, axis=1)
    r.case("numpy.concat", Arg("i64", (2,), "~1"), Arg("u8", (1,), "~1"))
    r.case("numpy.concat", n)
    r.case("numpy.stack", x, v)
    r.case("numpy.stack", x, y, axis=3)
    r.case("numpy.stack", n, Arg("u8", (2, 3), "~1"), dtype="f32", axis=2)
    r.case("numpy.stack", Number(2), Number(2.5))
    for name in ("vstack", "hstack", "dstack"):
        r.all_modes(f"numpy.{name}", x, n)
        r.all_modes(f"numpy.{name}", v, v)
        r.case(f"numpy.{name}", Number(1), Number(2.5))
        r.case(f"numpy.{name}", n, Arg("i8", (2, 3), "~1"), dtype="f16")
        r.case(f"numpy.{name}", Arg("f32", (2, 0)), Arg("f32", (2, 0)))
        r.case(f"numpy.{name}", x, Arg("f32", (5, 7), "~1"))
    r.all_modes("numpy.column_stack", v, v)
    r.all_modes("numpy.column_stack", x, Arg("f32", (2,), "~4"))
    r.case("numpy.column_stack", Number(1), Number(2))
    r.case("numpy.column_stack", v, Arg("f32", (2,), "~1"))
    r.all_modes("numpy.append", x, y)
    r.all_modes("numpy.append", x, y, axis=0)
    r.case("numpy.append", n, Number(2))
    r.case("numpy.append", x, v, axis=0)
    r.all_modes("numpy.append", v, Arg("i32", (2,), "~1"), axis=-1)
    a = Arg("f32", (2, 2), "~1")
    r.all_modes("numpy.block", a, a, a, a, kind="square")
    r.all_modes("numpy.block", v, v, kind="row")
    r.case("numpy.block", a, kind="one")
    r.case("numpy.block", v, Number(2), kind="row")
    r.case("numpy.block", a, a, kind="deep")
    r.case("numpy.block", a, a, kind="uneven")


def cutting(r):
    v, x, cube = Arg("f32", (6,), "~1"), Arg("f32", (4, 6), "~1"), Arg("f32", (2, 2, 4), "~1")
    for name in ("split", "array_split"):
        r.all_modes(f"numpy.{name}", v, sections=3)
        r.all_modes(f"numpy.{name}", x, sections=2, axis=1)
        r.case(f"numpy.{name}", v, sections=4)
        r.case(f"numpy.{name}", v, sections=0)
        r.case(f"numpy.{name}", x, sections=2, axis=2)
        r.all_modes(f"numpy.{name}_at", v, places=(1, 4))
        r.all_modes(f"numpy.{name}_at", x, places=(-2, 9), axis=-1)
        r.case(f"numpy.{name}_at", v, places=(3, 3))
    r.case("numpy.array_split", Arg("i32", (7,), "~1"), sections=3)
    for name in ("vsplit", "hsplit", "dsplit"):
        r.all_modes(f"numpy.{name}", cube, sections=2)
        r.case(f"numpy.{name}", v, sections=3)
        r.case(f"numpy.{name}", cube, sections=3)
    r.all_modes("numpy.unstack", Arg("f32", (2, 3), "~1"))
    r.all_modes("numpy.unstack", Arg("f32", (2, 3), "~1"), axis=-1)
    r.case("numpy.unstack", Arg("i32", (0, 3)))
    r.case("numpy.unstack", Arg("i32", (2, 3), "~1"), axis=2)


def repeating(r):
    v, x = Arg("f32", (3,), "~1"), Arg("f32", (2, 3), "~1")
    for reps in (2, 0, (2, 1), (1, 2, 2)):
        r.all_modes("numpy.tile", v, reps=reps)
        r.case("numpy.tile", x, reps=reps)
    r.case("numpy.tile", Arg("i32", (), "~1"), reps=(2, 2))
    for axis in (None, 0, 1, -1):
        r.all_modes("numpy.repeat", x, repeats=2, axis=axis)
    r.case("numpy.repeat", Arg("i32", (), "~1"), repeats=3)
    r.case("numpy.repeat", x, repeats=0, axis=0)
    r.case("numpy.repeat", x, repeats=2, axis=2)
    r.all_modes("numpy.repeat_each", v, repeats=(1, 0, 2))
    r.all_modes("numpy.repeat_each", x, repeats=(2, 1), axis=0)
    r.case("numpy.repeat_each", x, repeats=(0, 0), axis=0)
    r.case("numpy.repeat_each", v, repeats=(1, 2))
    r.case("numpy.repeat_by", v, Arg("i32", (3,), [1, 0, 2]), total_repeat_length=4)
    r.case("numpy.repeat_by", x, Arg("i32", (2,), [1, 3]), total_repeat_length=3, axis=0)
    r.case("numpy.repeat_by", Arg("i8", (2,), "~1"), Arg("i32", (), [2]), total_repeat_length=4)
    for shape in ((5,), (2, 2), (0, 2), (), (3, 3)):
        r.all_modes("numpy.resize", x, new_shape=shape)
    r.case("numpy.resize", Arg("i32", (0,)), new_shape=(2,))
    r.case("numpy.resize", x, new_shape=(-1,))


def padding(r):
    v, x = Arg("f32", (4,), "~1"), Arg("f32", (2, 3), "~2")
    r.all_modes("numpy.pad", x, how="constant", width=1)
    r.all_modes("numpy.pad", x, Number(3.0), how="constant", width=(1, 0, 0, 2))
    r.all_modes("numpy.pad", v, Number(1), Number(2), how="constant", width=(2, 1))
    r.all_modes("numpy.pad", v, Arg("f32", (), "~5"), how="constant", width=(0, 2))
    r.case("numpy.pad", Arg("i32", (0, 2)), how="constant", width=1)
    r.case("numpy.pad", Arg("i64", (2,), "~1"), how="constant", width=1)
    r.case("numpy.pad", x, how="constant", width=-1)
    r.case("numpy.pad", Arg("bool", (2,), "~1"), how="constant", width=1)
    for mode in ("edge", "wrap", "reflect", "symmetric", "empty", "linear_ramp", "maximum", "minimum", "mean", "median"):
        if mode != "empty":
            r.all_modes("numpy.pad", v, how=mode, width=(2, 1))
            r.all_modes("numpy.pad", x, how=mode, width=(1, 1, 0, 2))
            r.case("numpy.pad", Arg("i32", (4,), "~1"), how=mode, width=3)
            r.case("numpy.pad", Arg("f32", (0,)), how=mode, width=1)
    for mode in ("reflect", "symmetric"):
        r.all_modes("numpy.pad", v, how=mode, width=(5, 4))
        r.all_modes("numpy.pad", v, how=mode, width=(2, 5), reflect="odd")
        r.case("numpy.pad", Arg("i32", (1,), "~1"), how=mode, width=2)
        r.case("numpy.pad", Arg("i32", (3,), "~1"), how=mode, width=4, reflect="odd")
    r.all_modes("numpy.pad", v, how="wrap", width=(9, 5))
    r.all_modes("numpy.pad", v, how="linear_ramp", width=2, end=5)
    r.case("numpy.pad", x, how="linear_ramp", width=2, end=(1, 2))
    for mode in ("maximum", "minimum", "mean", "median"):
        r.all_modes("numpy.pad", v, how=mode, width=1, stat=2)
        r.case("numpy.pad", v, how=mode, width=1, stat=(1, 9))
        r.case("numpy.pad", v, how=mode, width=1, stat=0)
    r.all_modes("numpy.pad_with", v, width=(1, 2))
    r.all_modes("numpy.pad_with", x, width=1)
    r.case("numpy.pad_with", Arg("i32", (2,), "~1"), width=1)


def editing(r):
    v, x = Arg("f32", (5,), "~1"), Arg("f32", (3, 4), "~2")
    for obj, axis in ((0, None), (-1, None), (1, 0), (3, 1), (3, -1)):
        r.all_modes("numpy.delete", x, obj=obj, axis=axis)
    r.case("numpy.delete", x, obj=3, axis=0)
    for places, axis in (((0, 2), None), ((1, -1), 1), ((2,), 0), ((1, 1), 0)):
        r.all_modes("numpy.delete_at", x, places=places, axis=axis)
    r.case("numpy.delete_at", v, places=(7,))
    for places, axis in (((0, 2), None), ((1, 3), 1), ((0, 5, 2), None), ((-2, 9), 0)):
        r.all_modes("numpy.delete_range", x, places=places, axis=axis)
    r.case("numpy.delete_unique", v, Arg("i32", (2,), [0, 3]))
    r.case("numpy.delete_unique", x, Arg("i32", (1,), [-1]), axis=1)
    r.case("numpy.delete_unique", v, Arg("u8", (2,), [1, 4]))
    r.case("numpy.delete_where", v, where="01001")
    r.case("numpy.delete_where", v, where="00000")
    r.case("numpy.delete_where", v, where="010")
    r.all_modes("numpy.insert", v, Number(5), at=1)
    r.all_modes("numpy.insert", x, Number(5), at=-1, axis=1)
    r.all_modes("numpy.insert", x, Arg("f32", (3,), "~3"), at=2, axis=1)
    r.all_modes("numpy.insert", x, Arg("f32", (2, 4), "~3"), at=1, axis=0)
    r.case("numpy.insert", Arg("i32", (2, 2), "~1"), Number(5), at=0)
    r.all_modes("numpy.insert_at", v, Arg("f32", (2,), "~3"), at=(0, 2))
    r.all_modes("numpy.insert_at", v, Number(7), at=(1, 1, 5))
    r.all_modes("numpy.insert_at", x, Arg("f32", (3, 2), "~3"), at=(0, 4), axis=1)
    r.case("numpy.insert_at", v, Arg("f32", (3,), "~3"), at=(0, 2))
    r.case("numpy.insert_at", v, Number(7), at=(2,))
    r.case("numpy.insert_range", v, Number(7), at=(1, 4, 2))
    r.case("numpy.insert_range", v, Arg("f32", (2,), "~3"), at=(0, 2))
    zeros = Arg("i32", (6,), [0, 0, 1, 0, 2, 0])
    for trim in ("fb", "f", "b"):
        r.case("numpy.trim_zeros", zeros, trim=trim)
    r.case("numpy.trim_zeros", Arg("f32", (3,), [0, 0, 0]))
    r.case("numpy.trim_zeros", Arg("f32", (3, 3), [0, 0, 0, 0, 1, 0, 0, 2, 0]))
    r.case("numpy.trim_zeros", Arg("f32", (3, 3), [0, 0, 0, 0, 1, 0, 0, 2, 0]), axis=1)



def cases(r):
    axes(r)
    order(r)
    joining(r)
    cutting(r)
    repeating(r)
    padding(r)
    editing(r)
