"""Indexing: reading and writing at indices, finding and making them.

An index is written in a parameter, place by place: `1` `-1` `a:b:s` as in NumPy, `E` the ellipsis, `N` a new axis, `@0` the
first of the arrays of indices, `m101` a mask (rows separated by `/`), `T` `F` truth values, `l0/2` a list.
"""

import jax
import jax.numpy as jnp
import numpy as np

from common import Arg, Number

GET_WORDS = {"how": "mode", "fill": "fill_value", "unique": "unique_indices", "sorted": "indices_are_sorted",
             "wrap": "wrap_negative_indices", "strategy": "strategy"}


def places(text, arrays):
    def place(word):
        if word == "E":
            return Ellipsis
        if word == "N":
            return None
        if word in "TF":
            return word == "T"
        if word[0] == "@":
            return arrays[int(word[1:])]
        if word[0] == "m":
            rows = [[c == "1" for c in row] for row in word[1:].split("/")]
            return np.array(rows[0] if len(rows) == 1 else rows, bool)
        if word[0] == "l":
            return np.array([int(w) for w in word[1:].split("/") if w], np.int32)
        if ":" in word:
            return slice(*[int(w) if w else None for w in word.split(":")])
        return int(word)
    return tuple(place(word) for word in text.split(","))


def keywords(given):
    return {GET_WORDS[key]: value for key, value in given.items()}


def get(x, *arrays, idx, **given):
    index = places(idx, arrays)
    return x.at[index].get(**keywords(given)) if given else x[index]


def update(name):
    def call(x, value, *arrays, idx, **given):
        return getattr(x.at[places(idx, arrays)], name)(value, **keywords(given))
    return call


def apply(x, *arrays, idx, **given):
    return x.at[places(idx, arrays)].apply(lambda x: x * x + 1, **keywords(given))


UPDATES = ["set", "add", "subtract", "multiply", "divide", "power", "min", "max"]
FUNCTIONS = {"at.get": get, "at.apply": apply}
FUNCTIONS.update({f"at.{name}": update(name) for name in UPDATES})


def numpy_functions():
    def put(x, i, v, **given):
        return jnp.put(x, i, v, inplace=False, **given)

    def place(x, m, v):
        return jnp.place(x, m, v, inplace=False)

    def put_along_axis(x, i, v, axis, **given):
        return jnp.put_along_axis(x, i, v, None if axis == "none" else axis, inplace=False, **given)

    def take_along_axis(x, i, axis=-1, **given):
        return jnp.take_along_axis(x, i, None if axis == "none" else axis, **given)

    def fill_diagonal(x, v):
        return jnp.fill_diagonal(x, v, inplace=False)

    def choose(a, *choices, **given):
        return jnp.choose(a, choices, **given)

    def known(f):
        def call(x, *rest, mask, **given):
            return f(np.array([c == "1" for c in mask]), x, *rest, **given)
        return call

    def first_known(f):
        def call(*rest, ints, shape=None, **given):
            known = np.array(ints, np.int32)
            return f(known if shape is None else known.reshape(shape), *rest, **given)
        return call

    def nonzero(x, fill=None, **given):
        fill = tuple(fill) if isinstance(fill, list) else fill
        return jnp.nonzero(x, fill_value=fill, **given)

    FUNCTIONS.update({
        "numpy.put": put, "numpy.place": place, "numpy.put_along_axis": put_along_axis, "numpy.choose": choose,
        "numpy.take_along_axis": take_along_axis, "numpy.fill_diagonal": fill_diagonal,
        "known.compress": known(jnp.compress), "known.extract": known(jnp.extract),
        "known.choose": first_known(choose), "known.nonzero": first_known(jnp.nonzero),
        "known.flatnonzero": first_known(jnp.flatnonzero), "known.argwhere": first_known(jnp.argwhere),
        "known.ravel_multi_index": first_known(lambda a, dims: jnp.ravel_multi_index(tuple(a), dims)),
        "known.segment_sum": first_known(lambda ids, x: jax.ops.segment_sum(x, ids)),
        "known.segment_max": first_known(lambda ids, x: jax.ops.segment_max(x, ids)),
        "numpy.nonzero": nonzero, "numpy.where": lambda x, **given: jnp.where(x, **given),
        "numpy.mask_indices": lambda n, k=0, size=None: jnp.mask_indices(n, lambda x, k: x.at[k].set(0.0), k, size=size),
        "numpy.ix_": lambda *args: jnp.ix_(*args),
        "numpy.ravel_multi_index": lambda *args, dims, **given: jnp.ravel_multi_index(args, dims, **given),
        "numpy.searchsorted": lambda a, v, sorter=None, **given: jnp.searchsorted(a, v, sorter=sorter, **given),
    })


numpy_functions()


def renamed(f):
    """`mode` is a word of the recorder; cases have `how` for it."""
    return lambda *args, how=None, **given: f(*args, **given) if how is None else f(*args, mode=how, **given)


for name in ("take", "put", "put_along_axis", "take_along_axis", "choose", "ravel_multi_index"):
    FUNCTIONS[f"numpy.{name}"] = renamed(FUNCTIONS.get(f"numpy.{name}") or getattr(jnp, name))
for name in ("sum", "prod", "min", "max"):
    FUNCTIONS[f"ops.segment_{name}"] = renamed(getattr(jax.ops, f"segment_{name}"))


def ints(*values, shape=None, dtype="i32"):
    return Arg(dtype, (len(values),) if shape is None else shape, list(values))


def cases(r):
    reads(r)
    writes(r)
    functions(r)


def reads(r):
    matrix, cube = Arg("f32", (3, 4), "~1"), Arg("f32", (2, 3, 4), "~2")
    for idx in ("1", "-1", "0:2", "1:", ":-1", "::2", "::-1", "::-2", "2:0:-1", "5:", "3:1", "-1:-4:-2", "E", "N", "E,-1",
                "1:,N,E,-1", "N,:,N,1:3", "1,2", ":,::-1", "::2,1::2", "7", "-9", "1,9", "1:1"):
        r.all_modes("at.get", matrix, idx=idx)
    for dtype in ("bool", "i8", "u16", "bf16", "c64", "i64"):
        r.case("at.get", Arg(dtype, (3, 2)), idx="1:,::-1")
        r.case("at.get", Arg(dtype, (3, 2)), ints(2, 0, -1), idx="@0,1:")
    for idx in ("@0", "@0,1", "@0,1:3", "@0,::-1", "N,@0", "E,@0", "@0,::2", "1,@0", "::-1,@0", "@0,1:1"):
        r.all_modes("at.get", matrix, ints(-1, shape=()), idx=idx)
    r.all_modes("at.get", matrix, ints(9, shape=()), ints(-2, shape=()), idx="@0,@1")
    for dtype in ("i8", "u8", "i16", "u32"):
        r.all_modes("at.get", matrix, ints(1, shape=(), dtype=dtype), idx="@0")
        r.all_modes("at.get", Arg("f32", (3,), "~1"), ints(2, shape=(), dtype=dtype), idx="@0")
        r.all_modes("at.get", matrix, ints(2, 0, dtype=dtype), idx="@0")
        r.all_modes("at.get", matrix, ints(2, 0, dtype=dtype), ints(-1, shape=()), idx="@0,@1")
    for idx in ("@0", ":,@0", "E,@0", "@0,E,1", "1,@0", "1,:,@0", "@0,1:3", "::2,@0", ":,::-2,@0", "1:,@0,1", "@0,N,1",
                "N,@0,N", "@0,@0", "@0,:,@0", "@0,N,@0", "@0,@0,@0", "E,N,@0,::-1", "::-1,@0,::2", "-1,@0,-1", "N,1,@0"):
        r.all_modes("at.get", cube, ints(1, 0, -1), idx=idx)
    r.all_modes("at.get", cube, ints(0, 1, 1, 0, shape=(2, 2)), idx="@0")
    r.all_modes("at.get", cube, ints(0, 1, shape=(2, 1)), ints(3, 1, 2), idx="@0,1,@1")
    r.all_modes("at.get", cube, ints(0, 1, shape=(2, 1)), ints(3, 1, 2), idx="@0,:,@1")
    r.all_modes("at.get", cube, ints(0, 5, -7), idx="@0")
    r.case("at.get", cube, ints(0, 1), ints(0, 1, 2), idx="@0,@1")
    r.case("at.get", cube, ints(0, 1), idx="@0,0,0,0")
    r.case("at.get", cube, ints(0, 1), idx="E,E")
    r.case("at.get", cube, Arg("f32", (2,)), idx="@0")
    r.case("at.get", Arg("f32", (0, 2)), idx="0")
    r.case("at.get", Arg("f32", (0, 2)), ints(0), idx="@0")
    r.all_modes("at.get", Arg("f32", (0, 2)), Arg("i32", (0,)), idx="@0")
    r.all_modes("at.get", matrix, Arg("i32", (0,)), idx="@0")
    r.all_modes("at.get", matrix, idx="l")
    for idx in ("m101", ":,m1010", "m101,1", "m101,1:3", "m000", "m1010/0001/1100", "T", "F", "m101,l1/3", "m001,N"):
        r.all_modes("at.get", matrix, idx=idx)
    r.all_modes("at.get", matrix, ints(1, 3), idx="m101,@0")
    r.all_modes("at.get", cube, ints(1, 3), idx="m01,:,@0")
    r.case("at.get", cube, idx="m010")
    r.case("at.get", cube, idx="E,m01")
    for mode in ("fill", "clip", "promise_in_bounds", "drop"):
        r.all_modes("at.get", matrix, ints(0, 5, -7, -1), idx="@0", how=mode)
        r.all_modes("at.get", matrix, ints(5, shape=()), idx="@0,1", how=mode)
        r.all_modes("at.get", matrix, idx="7", how=mode)
        r.all_modes("at.get", matrix, ints(5, 0), idx="@0,1:3", how=mode)
    r.case("at.get", matrix, ints(0), idx="@0", how="around")
    for dtype in ("i8", "u8", "bool", "c64", "f16", "u32"):
        r.case("at.get", Arg(dtype, (3,)), ints(0, 5, -7), idx="@0", how="fill")
    r.all_modes("at.get", matrix, ints(0, 5), idx="@0", how="fill", fill=7)
    r.all_modes("at.get", matrix, ints(0, 5), idx="@0", how="fill", fill=-1.5)
    r.all_modes("at.get", Arg("i32", (3,), "~1"), ints(0, 5), idx="@0", how="fill", fill=3)
    r.all_modes("at.get", matrix, ints(0, 2), idx="@0", unique=True, sorted=True)
    r.all_modes("at.get", matrix, ints(0, -1), idx="@0", wrap=False, how="fill")
    r.all_modes("at.get", matrix, ints(-1, shape=()), idx="@0", wrap=False)
    r.all_modes("at.get", matrix, idx="1,-1", wrap=False, how="fill")
    for strategy in ("auto", "gather", "static_slice", "dynamic_slice"):
        r.all_modes("at.get", matrix, idx="1,1:3", strategy=strategy)
    r.case("at.get", matrix, ints(0), idx="@0", strategy="dynamic_slice")
    r.case("at.get", matrix, ints(0, shape=()), idx="@0", strategy="static_slice")


def writes(r):
    matrix, cube = Arg("f32", (3, 4), "~1"), Arg("f32", (2, 3, 4), "~2")
    for name in UPDATES:
        name = f"at.{name}"
        r.all_modes(name, matrix, Arg("f32", (4,), "~+3"), idx="1")
        r.all_modes(name, matrix, Arg("f32", (), "~+3"), idx="E,1:3")
        r.all_modes(name, matrix, Arg("f32", (2, 4), "~+3"), ints(2, 0), idx="@0")
        r.case(name, matrix, Arg("f32", (3, 4), "~+3"), ints(2, 0, 2), idx="@0")
        r.case(name, Arg("f32", (3,), "~+1"), Number(2), idx="::-1")
        r.case(name, Arg("f32", (3,), "~+1"), Number(2.5), idx="1:")
        if name == "at.divide":
            r.case(name, Arg("c64", (3, 4), "~1"), Arg("c64", (4,), "~+3"), idx="1")
        # Integer powers are written elsewhere.
        if name != "at.power":
            r.case(name, Arg("i32", (3,), "~+1"), Number(2), idx="1")
            r.case(name, Arg("i8", (3,), "~+1"), Number(3), idx="0")
        r.case(name, Arg("i32", (2, 3), "~+1"), Number(2), idx="1", mode="vmap")
        r.case(name, Arg("bf16", (3,), "~+1"), Arg("f32", (), "~+1"), idx="0")
        r.all_modes(name, matrix, Arg("f32", (2,), "~+3"), idx="m101,1")
        r.all_modes(name, Arg("f32", (3,), "~+1"), Arg("f32", (2,), "~+2"), ints(1, -7), idx="@0", how="clip")
    r.all_modes("at.apply", matrix, idx="1", grad=False)
    r.all_modes("at.apply", matrix, ints(2, 0), idx="@0", grad=False)
    r.case("at.apply", matrix, ints(2, 0, 2), idx="@0")
    r.case("at.apply", Arg("i32", (3,), "~1"), idx="E")
    values = {
        "1": (4,), "-1": (), "0:2": (2, 4), "::2": (2, 1), "::-1": (3, 4), "E": (3, 4), "N": (1, 3, 4), "1:,N,E,-1": (2, 1),
        "7": (4,), ":,::-2": (3, 2), "1:1": (), "1,2": (), "N,::-1,N,1": (1, 3, 1), "m101": (2, 4), "m1010/0001/1100": (5,),
        "T": (1, 3, 4), "F": (0, 3, 4), "m000": (),
    }
    for idx, shape in values.items():
        r.all_modes("at.set", matrix, Arg("f32", shape, "~5"), idx=idx)
        r.all_modes("at.add", matrix, Arg("f32", shape, "~6"), idx=idx)
    values = {
        ":,@0": (2, 2, 4), "E,@0": (2,), "@0,E,1": (2, 3), "1,:,@0": (2, 3), "@0,1:3": (2, 2, 4), "::2,@0": (1, 2, 4),
        ":,::-2,@0": (2, 2, 2), "@0,:,@0": (2, 3), "@0,N,1": (2, 1, 4), "@0,@0": (2, 4), "N,@0,::-1": (1, 2, 3, 4), "-1,@0,-1": (2,),
    }
    for idx, shape in values.items():
        r.all_modes("at.set", cube, Arg("f32", shape, "~5"), ints(1, 0), idx=idx)
        r.all_modes("at.multiply", cube, Arg("f32", shape, "~6"), ints(1, -1), idx=idx)
    r.all_modes("at.set", matrix, Arg("f32", (), "~5"), ints(-1, shape=()), idx="@0")
    r.all_modes("at.set", matrix, Arg("f32", (2,), "~5"), ints(-1, shape=()), idx="@0,1:3")
    r.all_modes("at.add", matrix, Arg("f32", (), "~5"), ints(5, shape=()), ints(0, shape=()), idx="@0,@1")
    for mode in ("fill", "clip", "promise_in_bounds", "drop"):
        r.case("at.add", matrix, Arg("f32", (3, 4), "~5"), ints(0, 2, -1), idx="@0", how=mode)
    r.case("at.add", matrix, Arg("f32", (3, 4), "~5"), ints(0, 9, -9), idx="@0", how="drop")
    r.all_modes("at.set", matrix, Arg("f32", (2, 4), "~5"), ints(0, 2), idx="@0", unique=True, sorted=True)
    r.all_modes("at.add", matrix, Arg("f32", (2, 4), "~5"), ints(0, -1), idx="@0", wrap=False)
    r.case("at.set", matrix, Arg("f32", (3,)), idx="1")
    r.case("at.set", matrix, Arg("f32", (2, 4)), idx="1")
    r.case("at.add", matrix, Arg("f32", (4,)), ints(0), idx="@0,@0,@0")
    r.case("at.set", Arg("i32", (3,), "~1"), Number(2.5), idx="1")
    r.case("at.set", Arg("i32", (3,), "~1"), Arg("f32", (), "~1"), idx="1")
    r.case("at.set", Arg("bool", (3,), "~1"), Number(1), idx="1")
    r.case("at.set", Arg("bool", (3,), "~1"), Number(True), idx="1")
    r.case("at.set", Arg("f32", (3,), "~1"), Arg("f64", (), "~1"), idx="1")
    r.case("at.set", Arg("c64", (3,), "~1"), Arg("f32", (), "~1"), idx="1")
    r.case("at.add", Arg("u8", (3,)), Number(250), idx="E")
    r.case("at.add", Arg("i64", (3,)), Number(7), ints(0, 0), idx="@0")
    r.case("at.min", Arg("i32", (3,)), Number(1), idx=":2")
    r.case("at.set", Arg("f32", (0,)), Arg("f32", ()), idx="E")


def functions(r):
    vector, matrix, cube = Arg("f32", (5,), "~1"), Arg("f32", (3, 4), "~1"), Arg("f32", (2, 3, 4), "~2")
    for axis in (None, 0, 1, -1):
        r.all_modes("numpy.take", matrix, ints(2, 0, -1, 9), axis=axis)
        r.all_modes("numpy.take", matrix, ints(2, 0, 1, 1, shape=(2, 2)), axis=axis, how="clip")
        r.all_modes("numpy.take", matrix, ints(7, -5), axis=axis, how="wrap")
    r.all_modes("numpy.take", matrix, ints(1, shape=()), axis=1)
    r.all_modes("numpy.take", vector, ints(1, 2), how="fill", fill_value=3)
    r.all_modes("numpy.take", vector, ints(1, 9), fill_value=-1.5)
    r.all_modes("numpy.take", vector, ints(1, 2), unique_indices=True, indices_are_sorted=True)
    for dtype in ("i8", "u8", "bool", "c64", "i64"):
        r.case("numpy.take", Arg(dtype, (3,)), ints(0, 5, -7))
    r.case("numpy.take", vector, ints(1, 2, dtype="i8"))
    r.case("numpy.take", vector, ints(1, 2, dtype="u8"))
    r.case("numpy.take", vector, Arg("i32", (0, 2)))
    r.case("numpy.take", Arg("f32", (0,)), Arg("i32", (0,)))
    r.case("numpy.take", Arg("f32", (0,)), ints(0))
    r.case("numpy.take", vector, Arg("f32", (1,)))
    r.case("numpy.take", vector, ints(1), how="raise")
    r.case("numpy.take", vector, ints(1), axis=1)

    along = Arg("i32", (3, 2), [0, -1, 2, 9, 3, -9])
    for mode in (None, "clip", "fill", "promise_in_bounds"):
        r.all_modes("numpy.take_along_axis", matrix, along if mode != "promise_in_bounds" else ints(0, 1, 2, 3, 1, 2, shape=(3, 2)), axis=1, how=mode)
    r.all_modes("numpy.take_along_axis", matrix, ints(0, 1, 2, 2, shape=(1, 4)), axis=0)
    r.all_modes("numpy.take_along_axis", matrix, ints(0, shape=(1, 1)), axis=0)
    r.all_modes("numpy.take_along_axis", matrix, ints(0, 11, -1), axis="none")
    r.all_modes("numpy.take_along_axis", Arg("f32", (1, 4), "~1"), along, axis=-1)
    r.all_modes("numpy.take_along_axis", cube, ints(*[1, 0, 1] * 4, shape=(2, 3, 2)), axis=-1)
    r.all_modes("numpy.take_along_axis", cube, ints(1, 0, 2, shape=(1, 3, 1)), axis=1)
    r.all_modes("numpy.take_along_axis", matrix, along, axis=1, fill_value=7)
    r.all_modes("numpy.take_along_axis", matrix, along, axis=1, wrap_negative_indices=False)
    r.case("numpy.take_along_axis", matrix, ints(0, 1, 2, shape=(3, 1), dtype="i8"), axis=1)
    r.case("numpy.take_along_axis", matrix, ints(0, 1, 2, shape=(3, 1), dtype="u8"), axis=1)
    r.case("numpy.take_along_axis", Arg("i16", (2, 2), "~1"), ints(0, 5, shape=(2, 1)), axis=1)
    r.case("numpy.take_along_axis", matrix, ints(0, 1), axis=1)
    r.case("numpy.take_along_axis", matrix, ints(0, 1, shape=(2, 1)), axis=1)
    r.case("numpy.take_along_axis", matrix, Arg("f32", (3, 1)), axis=1)
    r.case("numpy.take_along_axis", Arg("f32", (3, 0)), Arg("i32", (3, 0)), axis=1)

    for mode in (None, "clip"):
        r.all_modes("numpy.put_along_axis", matrix, ints(0, 3, 1, shape=(3, 1)), Arg("f32", (3, 1), "~4"), axis=1, how=mode)
    r.all_modes("numpy.put_along_axis", matrix, ints(0, 2, 1, 1, shape=(1, 4)), Arg("f32", (), "~4"), axis=0)
    r.all_modes("numpy.put_along_axis", matrix, ints(0, 11, -2), Arg("f32", (3,), "~4"), axis="none")
    r.case("numpy.put_along_axis", Arg("i32", (2, 2)), ints(0, 1, shape=(2, 1)), Number(7), axis=1)
    r.case("numpy.put_along_axis", matrix, ints(0, 1), Number(7), axis=1)

    r.all_modes("numpy.put", matrix, ints(0, 7, -1), Arg("f32", (3,), "~4"))
    r.all_modes("numpy.put", matrix, ints(0, 7, 30), Arg("f32", (2,), "~4"))
    r.all_modes("numpy.put", matrix, ints(0, 7, 30), Arg("f32", (), "~4"), how="clip")
    r.all_modes("numpy.put", matrix, ints(1, 7, 26, 3, shape=(2, 2)), Arg("f32", (5,), "~4"), how="wrap")
    r.case("numpy.put", Arg("i32", (4,)), ints(1), Number(5))
    r.case("numpy.put", Arg("i32", (4,)), ints(1, dtype="u8"), Number(5))
    r.case("numpy.put", Arg("i32", (4,)), Arg("i32", (0,)), Number(5))
    r.case("numpy.put", vector, ints(1), Number(5), how="raise")

    r.all_modes("numpy.place", matrix, Arg("bool", (3, 4), "~1"), Arg("f32", (3,), "~4"))
    r.all_modes("numpy.place", vector, Arg("bool", (5,), "~2"), Arg("f32", (7,), "~4"))
    r.case("numpy.place", Arg("i32", (4,)), Arg("bool", (2, 2), "~1"), Number(3))
    r.case("numpy.place", Arg("i32", (0,)), Arg("bool", (0,)), Number(3))
    r.case("numpy.place", vector, Arg("bool", (4,)), Number(3))
    r.case("numpy.place", vector, Arg("bool", (5,)), Arg("f32", (0,)))

    r.all_modes("numpy.fill_diagonal", matrix, Arg("f32", (), "~3"))
    r.all_modes("numpy.fill_diagonal", matrix, Arg("f32", (2,), "~3"))
    r.case("numpy.fill_diagonal", Arg("i32", (2, 2, 2)), Number(9))
    r.case("numpy.fill_diagonal", vector, Number(9))
    r.case("numpy.fill_diagonal", cube, Number(9))

    for mode in ("clip", "wrap"):
        r.all_modes("numpy.choose", ints(0, 1, -1, 5), Arg("f32", (4,), "~1"), Arg("f32", (4,), "~2"), how=mode)
        r.all_modes("numpy.choose", ints(0, 1, 1, 2, shape=(2, 2)), Arg("f32", (2,), "~1"), Arg("f32", (), "~2"), how=mode)
    r.case("numpy.choose", ints(0, 2, 1), Arg("i32", (3,), "~1"), Arg("f32", (3,), "~2"), Number(7), how="clip")
    r.all_modes("known.choose", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), ints=(0, 1))
    r.case("known.choose", Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), ints=(0, 2))
    r.case("numpy.choose", Arg("f32", (2,)), Arg("f32", (2,)), how="clip")

    r.all_modes("numpy.compress", Arg("bool", (3,), "~1"), matrix, axis=0, size=2)
    r.all_modes("numpy.compress", Arg("bool", (3,), "~2"), matrix, axis=1, size=2)
    r.all_modes("numpy.compress", Arg("bool", (5,), "~3"), matrix, size=3)
    r.all_modes("numpy.compress", Arg("bool", (5,), [True, False, True, False, False]), vector, size=4, fill_value=-1)
    r.case("numpy.compress", Arg("i32", (5,), "~3"), Arg("i32", (5,), "~1"), size=4)
    r.all_modes("known.compress", matrix, mask="101", axis=0)
    r.all_modes("known.compress", matrix, mask="01", axis=1)
    r.all_modes("known.compress", matrix, mask="000110000000")
    r.case("known.compress", vector, mask="0000001")
    r.case("numpy.compress", Arg("bool", (3, 1)), vector, size=1)
    r.case("numpy.compress", Arg("bool", (3,)), vector, size=9)
    r.all_modes("numpy.extract", Arg("bool", (3, 4), "~1"), matrix, size=4)
    r.all_modes("numpy.extract", Arg("bool", (3,), "~1"), vector, size=2, fill_value=2.5)
    r.all_modes("known.extract", vector, mask="10110")

    r.all_modes("numpy.nonzero", Arg("f32", (3, 4), [0, 1, 0, 2, 0, 0, 3, 0, 0, 0, 0, 4]), size=3, grad=False)
    r.all_modes("numpy.nonzero", Arg("i32", (2, 3), [0, 1, 0, 2, 0, 5]), size=5, grad=False)
    r.all_modes("numpy.nonzero", Arg("bool", (4,), "~1"), size=6, fill=-1, grad=False)
    r.case("numpy.nonzero", Arg("i32", (2, 3), [0, 1, 0, 2, 0, 5]), size=5, fill=[7, 8])
    r.case("known.nonzero", ints=(0, 1, 0, 2, 0, 5), shape=(2, 3))
    r.case("known.nonzero", ints=(0, 0))
    r.case("numpy.nonzero", Arg("i32", (0, 3)), size=2)
    r.all_modes("numpy.nonzero", Arg("f64", (2, 3), [0, 1, 0, 2, 0, 5]), size=5, grad=False)
    r.case("numpy.nonzero", Arg("u64", (3,), [0, 1, 0]), size=2, fill=[9])
    r.case("numpy.argwhere", Arg("c128", (3,), "~1"), size=3)
    r.case("numpy.nonzero", Arg("i32", ()))
    r.all_modes("numpy.flatnonzero", Arg("i32", (2, 3), [0, 1, 0, 2, 0, 5]), size=4, fill_value=-1)
    r.case("known.flatnonzero", ints=(0, 1, 0, 2, 0, 5), shape=(2, 3))
    r.case("numpy.flatnonzero", Arg("i32", (), [3]), size=1)
    r.all_modes("numpy.argwhere", Arg("i32", (2, 3), [0, 1, 0, 2, 0, 5]), size=4, fill_value=-1)
    r.all_modes("numpy.argwhere", Arg("f32", (4,), "~1"), size=2, grad=False)
    r.case("known.argwhere", ints=(0, 1, 0, 2, 0, 5, 1, 1), shape=(2, 2, 2))
    r.case("numpy.argwhere", Arg("i32", (), [3]), size=1)
    r.case("numpy.argwhere", Arg("i32", (), [0]), size=0)
    r.all_modes("numpy.where", Arg("i32", (2, 3), [0, 1, 0, 2, 0, 5]), size=3)
    r.case("numpy.where", Arg("bool", (4,), "~1"), size=2, fill_value=9)

    r.case("numpy.diag_indices", n=3)
    r.case("numpy.diag_indices", n=2, ndim=3)
    r.case("numpy.diag_indices", n=0)
    r.case("numpy.diag_indices_from", matrix)
    r.case("numpy.diag_indices_from", Arg("f32", (2, 2)))
    for name in ("diag", "tril", "triu"):
        r.case(f"numpy.{name}_indices_from", Arg("f64", (2, 2)), k=None if name == "diag" else 0)
    r.case("numpy.diag_indices_from", vector)
    for name in ("tril_indices", "triu_indices"):
        for given in ({"n": 3}, {"n": 3, "k": 1, "m": 5}, {"n": 4, "k": -2}, {"n": 2, "k": 3, "m": 2}, {"n": 3, "k": -4}, {"n": 0}):
            r.case(f"numpy.{name}", **given)
        r.case(f"numpy.{name}_from", matrix, k=-1)
        r.case(f"numpy.{name}_from", Arg("f32", (2, 2)), k=0)
        r.case(f"numpy.{name}_from", vector, k=0)
    r.case("numpy.mask_indices", n=3, size=6)
    r.case("numpy.mask_indices", n=3, k=1, size=4)
    r.case("numpy.ix_", ints(0, 2), ints(1, 0, 3))
    r.all_modes("numpy.ix_", Arg("f32", (2,), "~1"), ints(1), ints(1, 2))
    r.case("numpy.ix_", ints(0, 2), Arg("f32", (0,)))
    r.case("numpy.ix_", ints(0, 2, shape=(2, 1)))
    r.case("numpy.ix_", Arg("bool", (2,)))

    r.all_modes("numpy.unravel_index", ints(0, 5, 11, -1, 12, -13), shape=(3, 4))
    r.all_modes("numpy.unravel_index", ints(5, shape=()), shape=(2, 2, 2))
    r.case("numpy.unravel_index", ints(0, 5, 11, 200, dtype="u8"), shape=(3, 4))
    r.case("numpy.unravel_index", ints(0, 5, 11, -1, dtype="i8"), shape=(3, 4))
    r.case("numpy.unravel_index", ints(0, 5, shape=(1, 2)), shape=(6,))
    r.all_modes("numpy.ravel_multi_index", ints(0, 2, 5, -1), ints(3, 0, 4, 1), dims=(3, 4), how="clip")
    r.all_modes("numpy.ravel_multi_index", ints(0, 2, 5, -1), ints(3, 0, 4, 1), dims=(3, 4), how="wrap")
    r.all_modes("numpy.ravel_multi_index", ints(0, 2), ints(3, shape=()), dims=(3, 4), how="ignore")
    r.case("known.ravel_multi_index", ints=(0, 2, 3, 1), shape=(2, 2), dims=(3, 4))
    r.case("known.ravel_multi_index", ints=(0, 3, 3, 1), shape=(2, 2), dims=(3, 4))
    r.case("numpy.ravel_multi_index", ints(0, 2), ints(3, 1), dims=(3, 4), order="F", how="clip")
    r.case("numpy.ravel_multi_index", ints(0, 2), ints(3, 1), dims=(3, 4), how="clip", dtype="i16")
    r.case("numpy.ravel_multi_index", ints(0, 2, dtype="u8"), ints(3, 1, dtype="i8"), dims=(3, 4), how="clip")
    r.case("numpy.ravel_multi_index", Arg("f32", (2,)), ints(3, 1), dims=(3, 4), how="clip")

    sorted_ = Arg("f32", (5,), [-1.5, 0, 0, 2, 3.5])
    for given in ({}, {"side": "right"}, {"method": "sort"}, {"method": "compare_all", "side": "right"}, {"method": "scan_unrolled"}):
        r.all_modes("numpy.searchsorted", sorted_, Arg("f32", (2, 3), [-9, -1.5, 0, 1, 3.5, 7]), grad=False, **given)
    r.all_modes("numpy.searchsorted", Arg("f32", (3,), [2, 3, 1]), Arg("f32", (4,), "~1"), ints(2, 0, 1), grad=False)
    r.case("numpy.searchsorted", Arg("i32", (3,), [1, 2, 3]), Number(2))
    r.case("numpy.searchsorted", Arg("i32", (3,), [1, 2, 3]), Number(2.5), side="right")
    r.case("numpy.searchsorted", sorted_, Arg("f32", (19,)))
    r.case("numpy.searchsorted", Arg("f32", (0,)), Arg("f32", (2,)))
    r.case("numpy.searchsorted", Arg("f32", (2, 2)), Arg("f32", (2,)))
    for given in ({}, {"right": True}, {"method": "sort"}):
        r.all_modes("numpy.digitize", Arg("f32", (2, 3), [-9, -1.5, 0, 1, 3.5, 7]), sorted_, grad=False, **given)
        r.case("numpy.digitize", Arg("f32", (6,), [-9, -1.5, 0, 1, 3.5, 7]), Arg("f32", (3,), [3.5, 0, -1.5]), **given)
    r.case("numpy.digitize", Arg("i32", (3,), [0, 2, 9]), Arg("i32", (2,), [1, 2]))
    r.case("numpy.digitize", Arg("f32", (3,)), Arg("f32", (0,)))
    r.case("numpy.digitize", Arg("f32", (3,)), Arg("f32", (2, 2)))

    r.all_modes("known.segment_sum", Arg("f32", (5,), "~1"), ints=(0, 2, 0, 1, 1))
    r.case("known.segment_max", Arg("i32", (5,), "~1"), ints=(0, 2, 0, 1, 1))
    for name in ("sum", "prod", "min", "max"):
        name = f"ops.segment_{name}"
        r.all_modes(name, Arg("f32", (5, 2), "~1"), ints(0, 2, 0, 7, -1), num_segments=3)
        r.all_modes(name, Arg("f32", (5,), "~1"), ints(0, 0, 1, 3, 3), num_segments=4, indices_are_sorted=True)
        r.all_modes(name, Arg("f32", (5,), "~1"), ints(0, 2, 0, 1, 1), num_segments=3, bucket_size=2)
        r.case(name, Arg("i8", (5,), "~1"), ints(0, 2, 0, 4, 4), num_segments=5)
        r.case(name, Arg("u32", (5,), "~1"), ints(0, 2, 0, 4, 4), num_segments=5)
        r.case(name, Arg("bool", (5,), "~1"), ints(0, 2, 0, 4, 4), num_segments=5)
        r.case(name, Arg("f32", (0, 2)), Arg("i32", (0,)), num_segments=2)
        r.case(name, Arg("f32", (2, 2, 2), "~1"), ints(0, 1, 1, 0, shape=(2, 2)), num_segments=2)
        r.case(name, Arg("f32", (5,), "~1"), ints(0, 2, 9, 1, 1), num_segments=3, how="clip")
        r.case(name, Arg("f32", (5,), "~1"), ints(0, 2), num_segments=3)
        r.case(name, Arg("f32", (2,), "~1"), Arg("f32", (2,)), num_segments=3)
