"""Writes the cases of this folder: what the functions of `jax.numpy` give, for `meaning.rs` to compare with.

    python record.py            # all families
    python record.py binary     # one of them

A line is a case: a function with its parameters, its arguments, and the result.

    sum axis=0 ; f16[2,3]@4 = f16[3] 0040...

An argument `f16[2,3]@4` has the elements 4, 5, ... of the list of corner values of `f16`, in row-major order, the list
repeated without end; `corners.txt` has the lists. `#2`, `#2.5` and `#true` are numbers of the program. The result is a type,
with `*` when it is weak, and its bytes; a run of equal bytes of an element is written once with `xN`. `refused` is a case
that JAX refuses.

Arrays of 64 bits exist in JAX with `jax_enable_x64` only, which changes the default types too. Here they always exist, so a
case is recorded with it exactly when an array or a parameter of the case has 64 bits.
"""

import os
import sys
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")

import itertools

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))

NUMPY = {
    "bool": np.bool_,
    "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64,
    "c64": np.complex64, "c128": np.complex128,
}
NAMES = {np.dtype(value): name for name, value in NUMPY.items()}
DTYPES = list(NUMPY)
INTS = [d for d in DTYPES if d[0] in "iu"]
FLOATS = ["f16", "bf16", "f32", "f64"]
COMPLEX = ["c64", "c128"]
WIDE = {"i64", "u64", "f64", "c128"}


def corner_values(dtype):
    if dtype == "bool":
        return [False, True]
    kind = NUMPY[dtype]
    if dtype in INTS:
        low, high = int(np.iinfo(kind).min), int(np.iinfo(kind).max)
        if low < 0:
            return [0, 1, 2, 3, 7, -1, -2, -5, 100, low, low + 1, high, high - 1]
        return [0, 1, 2, 3, 7, 5, 100, 200, high, high - 1, high // 2, high // 2 + 1]
    if dtype in FLOATS:
        info = ml_dtypes.finfo(kind)
        high, tiny = float(info.max), float(info.smallest_normal)
        return [0.0, 1.0, -1.0, 2.5, -0.0, 0.5, -2.5, 3.0, -0.5, 1.5, -7.25, 100.7, 1e-3, high, -high, tiny,
                np.inf, -np.inf, np.nan]
    inf, nan = np.inf, np.nan
    return [0, 1, -1, 1j, complex(1, 2), complex(2, -1), complex(-3.5, 0.5), complex(0, 0.25), complex(1, -2),
            complex(1e3, 1e3), complex(-0.0, -0.0), complex(inf, 0), complex(1, -inf), complex(nan, 1), complex(1, nan)]


CORNERS = {dtype: np.array(corner_values(dtype)).astype(NUMPY[dtype]) for dtype in DTYPES}


class Arg:
    """An array of corner values."""

    def __init__(self, dtype, shape=(), start=0):
        self.dtype, self.shape, self.start = dtype, tuple(shape), start

    def __str__(self):
        return f"{self.dtype}[{','.join(map(str, self.shape))}]@{self.start}"

    def value(self):
        corners = CORNERS[self.dtype]
        count = int(np.prod(self.shape, dtype=int))
        at = (self.start + np.arange(count)) % len(corners)
        return jnp.asarray(corners[at].reshape(self.shape))

    @property
    def wide(self):
        return self.dtype in WIDE


class Number:
    """A number of the program."""

    wide = False

    def __init__(self, number):
        self.number = number

    def __str__(self):
        return "#" + str(self.number).lower()

    def value(self):
        return self.number


def corners(dtype, start=0):
    return Arg(dtype, (len(CORNERS[dtype]),), start)


def finite(dtype):
    """As many corner values from the first on as are small and finite."""
    return {"bool": 2, "f16": 13, "bf16": 13, "f32": 13, "f64": 13, "c64": 10, "c128": 10}.get(dtype, 7)


# Functions by the name they have in `jaxide::numpy`; their parameters are keywords.

def index(x, i):
    return x[i]


def linspace(start, stop, num):
    return jnp.linspace(start, stop, num, dtype=jnp.float32)


def one_hot(x, num_classes, dtype):
    return jax.nn.one_hot(x, num_classes, dtype=dtype)


KEY = 7


def sampler(name):
    return lambda shape, dtype: getattr(jax.random, name)(jax.random.key(KEY), shape, dtype)


FUNCTIONS = {
    "abs": jnp.abs, "concatenate": lambda *xs, axis: jnp.concatenate(xs, axis), "full_like": jnp.full_like,
    "index": index, "linspace": linspace, "max": jnp.max, "min": jnp.min, "one_hot": one_hot,
    "stack": lambda *xs, axis: jnp.stack(xs, axis), "where_": jnp.where,
    "arange": lambda n, dtype: jnp.arange(n, dtype=dtype), "reshape": lambda x, shape: jnp.reshape(x, shape),
    "at_set": lambda x, i, v: x.at[i].set(v), "at_add": lambda x, i, v: x.at[i].add(v),
    "at_multiply": lambda x, i, v: x.at[i].multiply(v), "at_min": lambda x, i, v: x.at[i].min(v),
    "at_max": lambda x, i, v: x.at[i].max(v),
    "op_add": lambda x, y: x + y, "op_sub": lambda x, y: x - y, "op_mul": lambda x, y: x * y,
    "op_div": lambda x, y: x / y, "op_rem": lambda x, y: x % y, "op_and": lambda x, y: x & y,
    "op_or": lambda x, y: x | y, "op_xor": lambda x, y: x ^ y, "op_shl": lambda x, y: x << y,
    "op_shr": lambda x, y: x >> y, "op_neg": lambda x: -x, "op_not": lambda x: ~x, "method_pow": lambda x, y: x**y,
    "sigmoid": jax.nn.sigmoid, "slice": lambda x, start, stop: x[start:stop], "t": lambda x: x.T,
    "powi": lambda x, n: jax.lax.integer_pow(x, n), "astype": lambda x, dtype: x.astype(dtype),
}


FUNCTIONS |= {f"random_{name}": sampler(name) for name in
              "bits uniform normal exponential laplace logistic gumbel cauchy rademacher".split()}
FUNCTIONS |= {
    "random_randint": lambda low, high, shape, dtype: jax.random.randint(jax.random.key(KEY), shape, low, high, dtype),
    "random_bernoulli": lambda p, shape: jax.random.bernoulli(jax.random.key(KEY), p, shape),
    "random_permutation": lambda n: jax.random.permutation(jax.random.key(KEY), n),
    "random_permuted": lambda x: jax.random.permutation(jax.random.key(KEY), x),
    "random_choice": lambda x, shape: jax.random.choice(jax.random.key(KEY), x, shape),
    "random_categorical": lambda x, axis: jax.random.categorical(jax.random.key(KEY), x, axis),
    "random_key": lambda seed: jax.random.key_data(jax.random.key(seed)),
    "random_fold_in": lambda data: jax.random.key_data(jax.random.fold_in(jax.random.key(KEY), data)),
}


def function(name):
    return FUNCTIONS.get(name) or getattr(jnp, name)


def written(value):
    if isinstance(value, tuple):
        return ",".join(map(str, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def result(array):
    array = jnp.asarray(array)
    name = NAMES[np.dtype(array.dtype)]
    weak = "*" if array.aval.weak_type else ""
    shape = ",".join(map(str, array.shape))
    host = np.ascontiguousarray(np.asarray(array))
    raw = host.tobytes()
    size = host.dtype.itemsize
    elements = [raw[at:at + size].hex() for at in range(0, len(raw), size)]
    runs = [(element, len(list(run))) for element, run in itertools.groupby(elements)]
    text, plain = [], ""
    for element, count in runs:
        if count * len(element) > len(element) + 6:
            text += [plain] if plain else []
            text.append(f"{element}x{count}")
            plain = ""
        else:
            plain += element * count
    text += [plain] if plain else []
    return f"{name}{weak}[{shape}] {' '.join(text)}".rstrip()


def case(out, name, args, **parameters):
    wide = any(arg.wide for arg in args) or parameters.get("dtype") in WIDE
    keywords = dict(parameters)
    if "dtype" in keywords:
        keywords["dtype"] = NUMPY[keywords["dtype"]]
    with jax.enable_x64(bool(wide)):
        try:
            answer = result(function(name)(*[arg.value() for arg in args], **keywords))
        except (TypeError, ValueError, ArithmeticError, IndexError, NotImplementedError) as error:
            if os.environ.get("REASONS"):
                print(name, parameters, [str(arg) for arg in args], str(error).split("\n")[0][:150], file=sys.stderr)
            answer = "refused"
    words = " ".join([name] + [f"{key}={written(value)}" for key, value in parameters.items() if value is not None])
    out.append(f"{' ; '.join([words] + [str(arg) for arg in args])} = {answer}")


UNARY = """negative bitwise_not sign square sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh exp exp2
expm1 log log2 log1p sqrt cbrt floor ceil trunc rint round isfinite isinf isnan abs logical_not reciprocal positive""".split()
BINARY = """add subtract multiply divide arctan2 maximum minimum equal not_equal less less_equal greater greater_equal
bitwise_and bitwise_or bitwise_xor left_shift right_shift remainder floor_divide power logical_and logical_or
logical_xor fmod""".split()
OPERATORS = "op_add op_sub op_mul op_div op_rem op_and op_or op_xor op_shl op_shr".split()


def unary():
    out = []
    for name in UNARY + ["op_neg", "op_not", "sigmoid", "t"]:
        for dtype in DTYPES:
            case(out, name, [corners(dtype)])
        case(out, name, [Arg("i16", (), 1)])
        case(out, name, [Arg("f32", (2, 0, 3))])
        case(out, name, [Arg("c64", (2, 1, 2), 1)])
        if name in UNARY:
            for number in (True, 2, -3, 2.5):
                case(out, name, [Number(number)])
    return out


def binary():
    """All pairs of corner values of one type."""
    out = []
    for name in BINARY:
        for dtype in DTYPES:
            n = len(CORNERS[dtype])
            if name in ("divide", "floor_divide") and dtype in FLOATS:
                # Not by the largest numbers, whose reciprocals XLA flushes to zero and multiplies with.
                case(out, name, [Arg(dtype, (n, 1)), Arg(dtype, (12,))])
                case(out, name, [Arg(dtype, (n, 1)), Arg(dtype, (4,), 15)])
            elif name == "arctan2" and dtype in COMPLEX:
                # Not of 0, where the sign of a rounding error decides the branch.
                case(out, name, [Arg(dtype, (9, 1), 1), Arg(dtype, (n - 1,), 1)])
            elif name == "power" and dtype in COMPLEX:
                case(out, name, [Arg(dtype, (9, 1)), Arg(dtype, (9,))])
            else:
                case(out, name, [Arg(dtype, (n, 1)), Arg(dtype, (n,))])
        for shapes in [((), ()), ((2, 3), (3,)), ((2, 1, 3), (4, 1)), ((0, 3), (3,)), ((2,), (3,)), ((2, 0), (1,)), ((), (2, 2))]:
            case(out, name, [Arg("i32", shapes[0], 1), Arg("i32", shapes[1], 2)])
            case(out, name, [Arg("f32", shapes[0], 1), Arg("f32", shapes[1], 2)])
    return out


def promotion():
    """Pairs of types: all of them for some functions, a share of them for the others."""
    out = []
    everywhere = {"add", "divide", "power", "equal", "remainder", "floor_divide"}
    for number, name in enumerate(BINARY):
        for pair, (left, right) in enumerate(itertools.product(DTYPES, DTYPES)):
            if left != right and (name in everywhere or (pair + number) % 11 == 0):
                case(out, name, [Arg(left, (3,), 1), Arg(right, (3,), 3)])
    for pair, (left, right) in enumerate(itertools.product(DTYPES, DTYPES)):
        case(out, "where_", [Arg("bool", (3,)), Arg(left, (3,), 1), Arg(right, (), 3)])
        if pair % 5 == 0:
            case(out, "concatenate", [Arg(left, (2,), 1), Arg(right, (3,), 3)], axis=0)
            case(out, "stack", [Arg(left, (2,), 1), Arg(right, (2,), 3)], axis=0)
            case(out, "matmul", [Arg(left, (2, 2), 1), Arg(right, (2,), 1)])
            case(out, "dot", [Arg(left, (2, 2), 1), Arg(right, (), 1)])
    for dtype in DTYPES:
        if dtype in WIDE:
            case(out, "where_", [corners(dtype), Arg("f64", (), 1), Number(2.5)])
        else:
            case(out, "where_", [corners(dtype), Number(1), Number(2.5)])
        case(out, "where_", [corners(dtype), Arg("i8", (), 1), Number(300)])
    return out


def numbers():
    """Numbers of the program beside arrays."""
    out = []
    values = [True, 2, -3, 2.5, 300, 1 << 40]
    for number, name in enumerate(BINARY + ["method_pow"]):
        for kind, dtype in enumerate(DTYPES):
            for at, value in enumerate(values):
                if name in ("add", "power", "less") or (number + kind + at) % 4 == 0 or dtype == "bool":
                    case(out, name, [Arg(dtype, (4,), 1), Number(value)])
                if name in ("add", "power") or (number + kind + at) % 8 == 0:
                    if name != "method_pow":
                        case(out, name, [Number(value), Arg(dtype, (4,), 1)])
        if name != "method_pow":
            for left, right in itertools.product([True, 2, 2.5], [True, 3, 0.5]):
                case(out, name, [Number(left), Number(right)])
    for name in OPERATORS:
        for dtype in ("bool", "i8", "u16", "i32", "i64", "f16", "f64", "c64"):
            case(out, name, [Arg(dtype, (4,), 1), Arg(dtype, (4,), 3)])
            case(out, name, [Arg(dtype, (4,), 1), Number(3)])
            case(out, name, [Number(3), Arg(dtype, (4,), 1)])
            case(out, name, [Arg(dtype, (4,), 1), Number(0.5)])
    for dtype in DTYPES:
        for exponent in (-3, -1, 0, 1, 2, 3, 5, 33):
            if exponent == 33 and dtype in ("f16", "bf16"):
                continue  # Rounded after each product or only at the end.
            case(out, "method_pow", [corners(dtype), Number(exponent)])
            if exponent in (-1, 3):
                case(out, "powi", [corners(dtype)], n=exponent)
        for bounds in [(0, 2), (-1, 300), (0.5, 2.5), (True, 3)]:
            case(out, "clip", [corners(dtype), *map(Number, bounds)])
        case(out, "clip", [corners(dtype), Arg(dtype, (), 1), Arg(dtype, (), 2)])
        for number in (True, 3, -2, 300, 2.5):
            case(out, "full_like", [Arg(dtype, (2, 2)), Number(number)])
        for other in DTYPES:
            case(out, "astype", [corners(dtype)], dtype=other)
    case(out, "clip", [Arg("f32", (2, 3)), Arg("f16", (3,), 3), Arg("i32", (2, 1), 1)])
    return out


AXES = [((5,), (None, 0, -1, 1)), ((2, 3), (None, 0, 1, -1, (0, 1), (-1, 0), (0, 0))),
        ((2, 3, 2), (None, 1, (0, 2), -3, 3)), ((), (None, 0)), ((0,), (None, 0)), ((0, 3), (None, 0, 1)),
        ((2, 0, 3), (1, (0, 2), None)), ((1,), (0,))]


def reductions():
    out = []
    for name in "sum prod mean var std max min all any".split():
        for dtype in DTYPES:
            # Small numbers, whose sums are exact, and all corners, most of whose sums overflow.
            case(out, name, [Arg(dtype, (finite(dtype),))])
            if dtype not in INTS or name not in ("mean", "var", "std"):
                case(out, name, [corners(dtype)])
            if dtype[0] in "fbc" and dtype != "bool":
                case(out, name, [Arg(dtype, (3,), len(CORNERS[dtype]) - 3)])
                case(out, name, [Arg(dtype, (2,), 13)])
            case(out, name, [Arg(dtype, (2, 3), 1)], axis=0)
            case(out, name, [Arg(dtype, (0,))])
            case(out, name, [Arg(dtype, (3, 0))], axis=0)
            case(out, name, [Arg(dtype, (3, 0))], axis=1)
        for dtype in ("f32", "i8", "bool"):
            for shape, axes in AXES:
                for axis in axes:
                    case(out, name, [Arg(dtype, shape, 1)], axis=axis)
        for number in (True, 2, 2.5):
            case(out, name, [Number(number)])
    for name in "argmax argmin cumsum cumprod sort argsort".split():
        for dtype in DTYPES:
            count = finite(dtype) if name.startswith("cum") else len(CORNERS[dtype])
            case(out, name, [Arg(dtype, (count,))], axis=0)
            row = min(count, 5) if dtype in COMPLEX and name == "cumprod" else count
            case(out, name, [Arg(dtype, (2, row), 1)], axis=1)
            case(out, name, [Arg(dtype, (3, 4), 2)], axis=-2)
            case(out, name, [Arg(dtype, (0,))], axis=0)
            case(out, name, [Arg(dtype, (3, 0))], axis=0)
            case(out, name, [Arg(dtype, (3,))], axis=1)
        case(out, name, [Arg("f32", (2, 3, 2))], axis=1)
        case(out, name, [Arg("f32", ())], axis=0)
    return out


SHAPES = [(), (3,), (1,), (0,), (2, 3), (3, 2), (3, 3), (2, 2, 3), (2, 3, 2), (1, 3, 3), (0, 3), (3, 0), (3, 1, 2, 3)]


def shapes():
    out = []
    for name in ("matmul", "dot"):
        for dtype in DTYPES:
            case(out, name, [Arg(dtype, (2, 3), 1), Arg(dtype, (3, 2), 2)])
            case(out, name, [Arg(dtype, (3,), 1), Arg(dtype, (3,), 1)])
        for left, right in itertools.product(SHAPES, SHAPES):
            case(out, name, [Arg("i32", left, 1), Arg("i32", right, 1)])
        case(out, name, [Arg("f32", (2, 3)), Number(2)])
    for shape, target in [((3,), (2, 3)), ((2, 1), (2, 4)), ((), (2,)), ((1,), (0,)), ((3,), (2,)), ((2, 3), (3,)),
                          ((3, 1), (2, 3, 1)), ((0,), (1,)), ((1, 1), ())]:
        case(out, "broadcast_to", [Arg("f32", shape)], shape=target)
    case(out, "broadcast_to", [Number(2)], shape=(3,))
    for shape, target in [((6,), (2, 3)), ((6,), (2, -1)), ((6,), (-1, -1)), ((6,), (4, -1)), ((0, 3), (0,)),
                          ((0, 3), (-1, 3)), ((0, 3), (-1, 0)), ((), (1, 1)), ((1,), ()), ((2, 3), (5,)), ((6,), (-2, 3))]:
        case(out, "reshape", [Arg("i16", shape)], shape=target)
    for dtype in DTYPES:
        case(out, "concatenate", [Arg(dtype, (1, 2)), Arg(dtype, (2, 2), 1)], axis=0)
        case(out, "one_hot", [Arg(dtype, (7,))], num_classes=3, dtype="f32")
        case(out, "one_hot", [Arg("i32", (7,))], num_classes=3, dtype=dtype)
        case(out, "eye", [], N=3, dtype=dtype)
        case(out, "zeros", [], shape=(2, 2), dtype=dtype)
        case(out, "ones", [], shape=(2,), dtype=dtype)
        case(out, "arange", [], n=5, dtype=dtype)
    case(out, "eye", [], N=0, dtype="f32")
    for axis in (0, 1, -1, 2, -3):
        case(out, "concatenate", [Arg("f32", (2, 1)), Arg("f32", (2, 1), 1)], axis=axis)
        case(out, "concatenate", [Arg("f32", (2, 1)), Arg("f32", (2, 2), 1)], axis=axis)
        case(out, "stack", [Arg("f32", (2,)), Arg("f32", (2,), 1)], axis=axis)
        case(out, "expand_dims", [Arg("f32", (2,))], axis=axis)
    case(out, "stack", [Arg("f32", (2,)), Arg("f32", (3,), 1)], axis=0)
    case(out, "concatenate", [Arg("f32", ()), Arg("f32", (), 1)], axis=0)
    case(out, "stack", [Number(1), Number(2.5)], axis=0)
    for start, stop, count in [(0.0, 1.0, 5), (-2.5, 100.7, 7), (1.0, 1.0, 3), (3.0, -3.0, 2), (2.0, 5.0, 1), (2.0, 5.0, 0)]:
        case(out, "linspace", [], start=start, stop=stop, num=count)
    return out


def indexing():
    out = []
    for dtype in DTYPES:
        for number in (0, 2, -1, 3, 7, -4):
            case(out, "index", [Arg(dtype, (3,), 1), Number(number)])
            case(out, "at_set", [Arg(dtype, (3,), 1), Number(number), Number(1)])
        case(out, "index", [Arg(dtype, (3,), 1), Arg("i32", (6,))])
        case(out, "take", [Arg(dtype, (3,), 1), Arg("i32", (6,))], axis=0)
        # The value of a write takes the type of the array.
        for other in ("bool", "u8", "i32", "f32", "c64"):
            case(out, "at_set", [Arg(dtype, (3,), 1), Arg("i32", (), 1), Arg(other, (), 1)])
        for name in ("at_add", "at_multiply", "at_min", "at_max"):
            case(out, name, [Arg(dtype, (3,), 1), Arg("i32", (4,)), Number(1)])
            case(out, name, [Arg(dtype, (3,), 1), Arg("i32", (4,)), Arg(dtype, (4,), 2)])
        case(out, "at_add", [Arg(dtype, (3,), 1), Number(1), Number(300)])
        case(out, "at_set", [Arg(dtype, (3,), 1), Number(1), Number(2.5)])
    for kind in INTS:
        for shape in [(3,), (100, 2), (130,), (2, 3, 2)]:
            if shape == (130,) and kind == "i8":
                continue  # JAX adds 130 - 256 to negative indices, or refuses; meaning.rs says what is wanted.
            # Without those beyond `i32`, which JAX wraps around.
            n = {"i64": 9, "u32": 8, "u64": 8}.get(kind, len(CORNERS[kind]))
            for at in (0, 5, min(9, n - 1)):
                case(out, "index", [Arg("i32", shape), Arg(kind, (), at)])
            case(out, "index", [Arg("f32", shape), Arg(kind, (n,))])
            case(out, "take", [Arg("f32", shape), Arg(kind, (n,))], axis=0)
            case(out, "take", [Arg("u8", shape), Arg(kind, (2, 2), 2)], axis=-1)
            case(out, "at_set", [Arg("f32", shape), Arg(kind, (7,)), Number(9)])
            case(out, "at_set", [Arg("f32", shape), Arg(kind, (), 5), Number(9)])
            case(out, "at_add", [Arg("i16", shape), Arg(kind, (n,)), Number(3)])
    for start, stop in [(0, 2), (1, 3), (2, 2), (0, 3)]:
        case(out, "slice", [Arg("f16", (3, 2), 1)], start=start, stop=stop)
    case(out, "index", [Arg("f32", (3,)), Arg("f32", ())])
    case(out, "index", [Arg("f32", ()), Number(0)])
    case(out, "index", [Arg("f32", (0,)), Number(0)])
    case(out, "index", [Arg("f32", (0, 2)), Arg("i32", (0,))])
    case(out, "index", [Arg("f32", (2, 3)), Number(5)])
    case(out, "index", [Arg("f32", (2, 3)), Number(1 << 40)])
    case(out, "take", [Arg("f32", (2, 3)), Arg("i32", (2,))], axis=2)
    case(out, "at_set", [Arg("f32", (2, 3)), Number(5), Number(1)])
    case(out, "at_set", [Arg("f32", (2, 3)), Number(1), Arg("f32", (3,))])
    case(out, "at_set", [Arg("f32", (2, 3)), Number(1), Arg("f32", (2,))])
    case(out, "at_set", [Arg("f32", (2, 3)), Arg("i32", (2,)), Arg("f32", (2, 1))])
    return out


def samples():
    out = []
    for name in "uniform normal exponential laplace logistic gumbel cauchy rademacher".split():
        for dtype in FLOATS + (["i8", "i32", "u16", "i64"] if name == "rademacher" else ["i32", "c64"] if name == "uniform" else []):
            if dtype == "c64":
                continue  # JAX fills a disc, which is no function of bounds.
            case(out, f"random_{name}", [], shape=(17,), dtype=dtype)
            case(out, f"random_{name}", [], shape=(0, 2), dtype=dtype)
    for dtype in ("u8", "u16", "u32", "u64", "i32"):
        case(out, "random_bits", [], shape=(2, 5), dtype=dtype)
    for dtype in INTS + ["f32", "bool"]:
        for low, high in [(0, 100), (0, 128), (-128, 127), (-5, 300), (7, 7), (9, 2), (0, 65536), (-(10**6), 10**6)]:
            case(out, "random_randint", [Number(low), Number(high)], shape=(6,), dtype=dtype)
        if dtype in INTS:
            case(out, "random_randint", [Arg("i8", (3,), 1), Arg(dtype, (), 4)], shape=(2, 3), dtype=dtype)
            case(out, "random_randint", [Arg(dtype, (), 0), Arg("i32", (), 11)], shape=(5,), dtype=dtype)
    for p in (0.0, 0.3, 1.0):
        case(out, "random_bernoulli", [Number(p)], shape=(9,))
    for dtype in FLOATS + ["i32"]:
        case(out, "random_bernoulli", [Arg(dtype, (6,))], shape=(2, 6))
    for n in (0, 1, 5, 40):
        case(out, "random_permutation", [], n=n)
    for dtype in ("bool", "i8", "u64", "f16", "c64"):
        case(out, "random_permuted", [Arg(dtype, (11,))])
        case(out, "random_permuted", [Arg(dtype, (5, 2))])
        case(out, "random_choice", [Arg(dtype, (11,))], shape=(4, 2))
    case(out, "random_choice", [Arg("f32", (5, 2))], shape=(3,))
    for dtype in FLOATS:
        for axis in (0, -1):
            case(out, "random_categorical", [Arg(dtype, (4, 3), 2)], axis=axis)
    for data in (0, 1, -1, 1 << 31 - 1):
        case(out, "random_fold_in", [Number(data)])
    for seed in (0, 5, -1, 1 << 31, 1 << 40, -(1 << 31) - 1):
        case(out, "random_key", [Number(seed)])
    for kind in INTS:
        case(out, "random_key", [Arg(kind, (), 5)])
        case(out, "random_fold_in", [Arg(kind, (), 5)])
    return out


FAMILIES = {f.__name__: f for f in (unary, binary, promotion, numbers, reductions, shapes, indexing, samples)}


def main():
    with open(os.path.join(HERE, "corners.txt"), "w") as file:
        for dtype, values in CORNERS.items():
            size = values.dtype.itemsize
            raw = values.tobytes()
            file.write(" ".join([dtype] + [raw[at:at + size].hex() for at in range(0, len(raw), size)]) + "\n")
    for name in sys.argv[1:] or FAMILIES:
        lines = FAMILIES[name]()
        with open(os.path.join(HERE, f"{name}.txt"), "w") as file:
            file.write("\n".join(lines) + "\n")
        print(name, len(lines), flush=True)


if __name__ == "__main__":
    main()
