"""Which operands and parameters `sweep.py` gives a primitive: a rule for those whose parameters are all of a known kind, one written out for others.

JAX is imported when programs are made, not before: whether each primitive has a rule is asked without it.
"""

import functools
import itertools
import math
import zlib

TYPES = {
    "f32": "float32", "f64": "float64", "bf16": "bfloat16", "f16": "float16", "c64": "complex64", "c128": "complex128",
    "i8": "int8", "i16": "int16", "i32": "int32", "i64": "int64", "u8": "uint8", "u16": "uint16", "u32": "uint32", "u64": "uint64", "bool": "bool",
}  # fmt: skip

# Primitives that stand for no work of their own, and why.
WITHOUT = {
    **dict.fromkeys(("dce_sink", "debug_print", "debug_callback", "io_callback", "pure_callback"), "calls the host"),
    **dict.fromkeys(("device_put", "reshard", "sharding_constraint", "platform_index"), "places arrays, and there is one device"),
    **dict.fromkeys(("psum", "pmax", "pmin", "psum_invariant", "pvary", "all_gather", "all_to_all", "reduce_scatter", "ppermute", "axis_index"),
                    "vmap makes it other primitives, and there is one device"),
    **dict.fromkeys(("shard_map", "xla_pmap"), "there is one device"),
    **dict.fromkeys(("custom_lin", "_RootLinearMap"), "stands in programs only while they are transformed"),
    **dict.fromkeys(("xla_metadata_call", "xla_metadata_value", "call_exported", "composite", "remat_opt", "eval_jaxpr", "closed_call"),
                    "a call, as jit is, without a function of JAX's users that makes it alone"),
    **dict.fromkeys(("copy_p", "broadcast_to", "scaled_dot", "iota_2x32_shape"), "JAX makes it inside of other functions"),
    **dict.fromkeys(("geqp3", "cholesky_update"), "JAX has no code for it on CPU"),
    **dict.fromkeys(("threefry4x32", "philox2x32", "philox4x32"), "JAX has it for kernels of accelerators"),
}  # fmt: skip

# Values of parameters by name; those that hang on the types are in `parameters`.
VALUES = {
    "accuracy": [None], "out_dtype": [None], "unroll": [None], "out_sharding": [None], "y": [3, -2], "exponent_bits": [8], "mantissa_bits": [7],
    "name": ["x"], "axes": None, "axis": None, "reverse": [False, True], "index_dtype": None, "rounding_method": None, "input_dtype": None,
}  # fmt: skip
GENERIC = ("elementwise", "reduction")

MAKERS = {}


class Operand:
    """An array that is made when it is wanted."""

    def __init__(self, shape, dtype, low=None, high=None, order=None):
        self.shape, self.dtype, self.low, self.high, self.order = tuple(shape), np_type(dtype), low, high, order

    def make(self, seed):
        import jax.numpy as jnp
        import numpy as np

        rs = np.random.RandomState(zlib.crc32(f"{seed}{self.shape}".encode()))
        kind = np.dtype(self.dtype).kind
        if kind == "b":
            values = rs.rand(*self.shape) < 0.5
        elif kind in "iu":
            values = rs.randint(1 if self.low is None else self.low, 100 if self.high is None else self.high, self.shape)
        else:
            low, high = (-2.0 if self.low is None else self.low), (2.0 if self.high is None else self.high)
            values = low + (high - low) * rs.rand(*self.shape)
            if kind == "c":
                values = values + 1j * (low + (high - low) * rs.rand(*self.shape))
        values = np.asarray(values).astype(self.dtype)
        return jnp.asarray(self.order(values) if self.order else values)


class Given:
    """What a rule is asked for: the primitive's name, the type and the number of elements."""

    def __init__(self, name, dtype, n):
        self.name, self.dtype, self.n = name, dtype, n

    def x(self, *shape, low=None, high=None, order=None):
        """An operand of the type."""
        return Operand(shape, self.dtype, low, high, order)

    def index(self, high, *shape, order=None):
        """An operand of indices below `high`."""
        return Operand(shape, "i32", 0, max(1, high), order)

    def side(self, most):
        """Sides of a square of the size, at most `most`."""
        return max(1, min(math.isqrt(self.n), most))

    def flat(self):
        return self.x(self.n)

    def square(self, most=1 << 20):
        return self.x(self.side(most), self.side(most))

    @property
    def floating(self):
        return np_type(self.dtype).kind in "fcV"


def np_type(dtype):
    import jax.numpy as jnp
    import numpy as np

    return np.dtype(getattr(jnp, TYPES.get(dtype, dtype) if dtype != "bool" else "bool_")) if isinstance(dtype, str) else np.dtype(dtype)


def maker(*names):
    """Registers a function of an operand's maker and a size that yields variants: name, function, operands."""

    def register(function):
        for name in names:
            MAKERS[name] = function
        return function

    return register


def missing(row):
    """Why there is no rule for a primitive; None if there is one."""
    name = row["name"]
    if name in MAKERS or name in WITHOUT:
        return "a rule, and a reason for having none" if name in MAKERS and name in WITHOUT else None
    if row["family"] not in GENERIC:
        return f"`sweep_rules.py` has no function that makes operands of a primitive of the family {row['family']}"
    if row["operands"] == "n":
        return "the number of operands is not known"
    unknown = [p["name"] for p in row["parameters"] if p["printed"] != "never" and p["name"] not in VALUES]
    return f"no value is known for the parameters {', '.join(unknown)}" if unknown else None


def unknown(rows):
    """Names that have a rule or a reason and are no primitives."""
    return sorted((MAKERS.keys() | WITHOUT.keys()) - {row["name"] for row in rows})


def cases(row, dtype, size):
    """Variant, function and operands of each program of a primitive."""
    if row["name"] in WITHOUT or missing(row):
        return
    if row["name"] in MAKERS:
        yield from MAKERS[row["name"]](Given(row["name"], dtype, size))
    elif row["family"] == "elementwise":
        yield from elementwise(row, dtype, size)
    else:
        yield from along_axes(row, dtype, size)


@functools.cache
def primitive(name):
    """JAX's primitive of that name."""
    import sys

    import jax.numpy  # noqa: F401: what makes the primitives
    import jax.scipy.special  # noqa: F401
    from jax._src import core

    for module in [module for name, module in sys.modules.items() if name.startswith("jax._src")]:
        for value in list(vars(module).values()):
            if isinstance(value, core.Primitive) and value.name == name:
                return value
    raise ValueError(f"JAX has no primitive {name}")


def parameters(row, dtype, **known):
    """All combinations of values of the parameters, with a name for each."""
    import numpy as np
    from jax import lax

    known |= {"index_dtype": [np.dtype("int32")], "input_dtype": [np_type(dtype)]}
    known["rounding_method"] = [lax.RoundingMethod.TO_NEAREST_EVEN, lax.RoundingMethod.AWAY_FROM_ZERO]
    names = [p["name"] for p in row["parameters"] if p["printed"] != "never"]
    lists = [known.get(name, VALUES[name]) for name in names]
    for values in itertools.product(*lists):
        changing = [f"{name}{values[i]}".replace(" ", "") for i, name in enumerate(names) if len(lists[i]) > 1 and name not in ("axes", "axis")]
        yield "_".join(["plain", *changing]).removeprefix("plain_"), dict(zip(names, values, strict=True))


# Where functions are defined: the first of these for which all samples are finite.
RANGES = ((-2.0, 2.0), (0.05, 0.95), (1.1, 4.0), (0.05, 4.0))
# Second operands that make no sense in general.
SECOND = {name: (1, 7) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")}


def elementwise(row, dtype, size):
    import jax.numpy as jnp
    import numpy as np

    p = primitive(row["name"])
    for variant, params in parameters(row, dtype):
        function = lambda *xs, params=params: p.bind(*xs, **params)
        found = RANGES[0]
        if np.issubdtype(np_type(dtype), np.inexact):
            for found in RANGES:
                sample = [Operand((64,), dtype, *found).make(f"sample {i}") for i in range(int(row["operands"]))]
                try:
                    result = function(*sample)
                except (TypeError, ValueError, NotImplementedError, KeyError):
                    break
                if all(bool(jnp.all(jnp.isfinite(x))) for x in (result if p.multiple_results else [result])):
                    break
        else:
            found = (None, None)
        operands = [Operand((size,), dtype, *found) for _ in range(int(row["operands"]))]
        if row["name"] in SECOND:
            operands[1] = Operand((size,), dtype, *SECOND[row["name"]])
        yield variant, function, operands


def along(size):
    """Names, shapes and axes of arrays of so many elements."""
    side = max(1, math.isqrt(size))
    eighth = max(1, size // 8)
    yield "all", (size,), (0,)
    yield "rows", (side, side), (1,)
    yield "columns", (side, side), (0,)
    yield "short", (eighth, 8), (1,)
    yield "few", (8, eighth), (0,)
    middle = max(1, math.isqrt(size // 16))
    yield "middle", (middle, 16, middle), (1,)
    yield "both", (middle, 16, middle), (0, 2)


def along_axes(row, dtype, size):
    p = primitive(row["name"])
    several = any(parameter["name"] == "axes" for parameter in row["parameters"])
    one = any(parameter["name"] == "index_dtype" for parameter in row["parameters"]) or not several
    for layout, shape, axes in along(size):
        if one and len(axes) > 1:
            continue
        for variant, params in parameters(row, dtype, axes=[axes], axis=[axes[0]]):
            function = lambda x, params=params: p.bind(x, **params)
            yield f"{layout}_{variant}".removesuffix("_plain"), function, [Operand(shape, dtype)]

