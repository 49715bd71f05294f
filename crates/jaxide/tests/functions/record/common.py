"""How the cases of the folder `cases` are written: what functions of JAX give, for `functions/main.rs` to compare with.

    python record.py             # all areas
    python record.py linalg      # one of them
    python record.py --keep      # the results that are recorded already are kept: those of factorisations differ between machines in
                                 # the last places; new cases are added, and texts are made again
    python record.py linalg --show numpy.linalg.det    # the jaxprs of its cases instead

A line is a case: a function with its parameters, its arguments, and the results; behind `#` a hash of the text of its jaxpr.

    numpy.sum axis=0 ; f16[2,3]@4 = f16[3] 0040... # 85944171f73967e8

A text with numbers of NumPy, as `padding_config=((np.int64(1), np.int64(0), 0),)`, is hashed with `~` in front, as it is with the
`repr` of NumPy 1: `padding_config=((1, 0, 0),)`, which breaks lines elsewhere. A program here has one kind of whole numbers.

Before the name there may be `vmap` (every array has a leading axis that is mapped) or `grad` (the results are the cotangents
of the arrays of floats, for cotangents `~9` of the results). Results are separated by ` & `.

Arguments:

    f16[2,3]@4        elements 4, 5, ... of the corner values of f16, repeated without end
    f32[2,3]~7        numbers between -2 and 2, made from the seed 7; `~+7` positive, `~u7` between 0 and 1,
                      `~d7` distinct, `~s7` symmetric (Hermitian) and positive definite matrices
    i32[3]:1,2,-3     these elements
    #2 #2.5 #true     a number of the program
    key:7  key[3]:7   the random key of a seed; three keys split from it

Results are a type, with `*` when it is weak, and bytes; a run of equal bytes of an element is written once with `xN`.
`refused` is a case that JAX refuses.

Arrays of 64 bits exist in JAX with `jax_enable_x64` only, which changes the default types too. Here they always exist, so a
case is recorded with it exactly when an array or a parameter of the case has 64 bits. The text of such a case is not compared: it
has the other default types. `# untraced` stands behind those that JAX computes, but does not trace.
"""

import itertools
import os
import re
import sys
import warnings

os.environ.setdefault("JAX_PLATFORMS", "cpu")
warnings.filterwarnings("ignore")

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

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
MASK = (1 << 64) - 1


def draw(seed, index):
    """24 bits: the finaliser of splitmix64."""
    z = ((seed * 1000003 + index + 1) * 0x9E3779B97F4A7C15) & MASK
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return (z ^ (z >> 31)) >> 40


def real(kind, whole, signed, seed, index):
    d = draw(seed, index)
    if kind == "":
        number = d % 256 - 128
        if whole:
            return (number >> 3) if signed else (number + 128) >> 3
        return number / 64
    if kind == "+":
        return (d % 128 >> 3) + 1 if whole else (d % 128 + 1) / 64
    assert kind == "u" and not whole
    return (2 * (d % 128) + 1) / 256


def generated(dtype, shape, kind, seed):
    count = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        values = [bool(draw(seed, i) & 1) for i in range(count)]
    elif kind == "d":
        order = sorted(range(count), key=lambda i: (draw(seed, i), i))
        ranks = [0] * count
        for rank, i in enumerate(order):
            ranks[i] = rank
        values = [r if dtype in INTS else (r - count // 2) / 4 for r in ranks]
    elif kind == "s":
        n = shape[-1]
        values = []
        for i in range(count):
            batch, row, column = i // (n * n), i // n % n, i % n
            base = batch * n * n
            if row == column:
                values.append(n + 1 + real("u", False, True, seed, base + row))
                continue
            low, high = min(row, column), max(row, column)
            part = real("", False, True, seed, 2 * (base + low * n + high)) / 4
            if dtype in COMPLEX:
                imaginary = real("", False, True, seed, 2 * (base + low * n + high) + 1) / 4
                part = complex(part, imaginary if row < column else -imaginary)
            values.append(part)
    elif dtype in COMPLEX:
        values = [complex(real(kind, False, True, seed, 2 * i), real(kind, False, True, seed, 2 * i + 1)) for i in range(count)]
    else:
        values = [real(kind, dtype in INTS, dtype[0] != "u", seed, i) for i in range(count)]
    return np.array(values, dtype=NUMPY[dtype] if count else None).astype(NUMPY[dtype]).reshape(shape)


class Arg:
    """An array; `values` is a start among the corner values, `"~7"` and the like, or a list."""

    def __init__(self, dtype, shape=(), values=0):
        self.dtype, self.shape, self.values = dtype, tuple(shape), values

    def __str__(self):
        head = f"{self.dtype}[{','.join(map(str, self.shape))}]"
        if isinstance(self.values, int):
            return f"{head}@{self.values}"
        if isinstance(self.values, str):
            return head + self.values
        return f"{head}:{','.join(str(value).lower() for value in self.values)}"

    def value(self):
        if isinstance(self.values, int):
            corners = CORNERS[self.dtype]
            count = int(np.prod(self.shape, dtype=int))
            at = (self.values + np.arange(count)) % len(corners)
            return jnp.asarray(corners[at].reshape(self.shape))
        if isinstance(self.values, str):
            kind = self.values[1] if self.values[1] in "+uds" else ""
            return jnp.asarray(generated(self.dtype, self.shape, kind, int(self.values[1 + len(kind):])))
        return jnp.asarray(np.array(self.values).astype(NUMPY[self.dtype]).reshape(self.shape))

    @property
    def wide(self):
        return self.dtype in WIDE

    def of(self, dtype):
        values = [int(value) for value in self.values] if isinstance(self.values, list) and dtype in INTS else self.values
        return Arg(dtype, self.shape, values)


# Element types of the cases that `Recorder.sweep` makes.
OTHERS = ["bf16", "i32", "c64", "f16", "u8", "bool", "i8"]


def fits(arg, dtype):
    """Whether the elements of an array can have an element type."""
    if not isinstance(arg, Arg) or arg.dtype != "f32" or isinstance(arg.values, int):
        return True
    if isinstance(arg.values, str):
        kind = arg.values[1]
        return kind not in "us" or dtype in FLOATS or kind == "s" and dtype in COMPLEX
    return dtype in FLOATS or dtype not in COMPLEX + ["bool"] and all(value == value and abs(value) < 100 and int(value) == value for value in arg.values)


class Number:
    """A number of the program."""

    wide = False

    def __init__(self, number):
        self.number = number

    def __str__(self):
        return "#" + str(self.number).lower()

    def value(self):
        return self.number


class Key:
    """A random key, or several."""

    wide = False
    dtype = "key"

    def __init__(self, seed, count=None):
        self.seed, self.count = seed, count

    def __str__(self):
        return f"key:{self.seed}" if self.count is None else f"key[{self.count}]:{self.seed}"

    def value(self):
        key = jax.random.key(self.seed)
        return key if self.count is None else jax.random.split(key, self.count)


def corners(dtype, start=0):
    return Arg(dtype, (len(CORNERS[dtype]),), start)


def written(value):
    if isinstance(value, (tuple, list)):
        return ",".join(map(written, value))
    return str(value).lower() if isinstance(value, bool) else str(value)


def result(array):
    if jnp.issubdtype(getattr(array, "dtype", None), jax.dtypes.prng_key):
        array = jax.random.key_data(array)
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


def text_hash(text):
    """FNV-1a of 64 bits."""
    value = 0xCBF29CE484222325
    for byte in text.encode():
        value = ((value ^ byte) * 0x100000001B3) & MASK
    return f"{value:016x}"


# A number of NumPy, as NumPy 2 writes it.
SCALAR = re.compile(r"np\.u?int\d+\(")

REFUSALS = (TypeError, ValueError, ArithmeticError, IndexError, NotImplementedError, AssertionError)


class Recorder:
    """The cases of an area. `functions` are those that are not found in `jax` by their names, or are called in another way."""

    def __init__(self, functions, show=None):
        self.functions, self.show, self.lines = functions, show, []
        self.first = {}  # The first accepted case of each function with arrays of `f32`.

    def function(self, name):
        if name in self.functions:
            return self.functions[name]
        value = jax
        for word in name.split("."):
            value = getattr(value, word)
        return value

    def case(self, name, *args, mode=None, **parameters):
        """Records a case; `mode` is None, "vmap" or "grad". Parameters with value None are left out."""
        parameters = {key: value for key, value in parameters.items() if value is not None}
        wide = any(arg.wide for arg in args) or parameters.get("dtype") in WIDE
        keywords = dict(parameters)
        if "dtype" in keywords:
            keywords["dtype"] = NUMPY[keywords["dtype"]]
        words = ([mode] if mode else []) + [name] + [f"{key}={written(value)}" for key, value in parameters.items()]
        line = " ; ".join([" ".join(words)] + [str(arg) for arg in args])
        function = self.function(name)
        with jax.enable_x64(bool(wide)):
            values = [arg.value() for arg in args]
            arrays = [i for i, arg in enumerate(args) if not isinstance(arg, Number)]

            def call(*given):
                operands = list(values)
                for i, value in zip(arrays, given):
                    operands[i] = value
                return jax.tree.leaves(function(*operands, **keywords))

            given = [values[i] for i in arrays]
            try:
                if self.show is not None:
                    if mode is None and line.startswith(self.show):
                        print(line, jax.make_jaxpr(call)(*given), "", sep="\n")
                    return
                answer = self.answer(call, given, [args[i].dtype for i in arrays], mode, text=not wide)
            except REFUSALS as error:
                if os.environ.get("REASONS"):
                    print(line, str(error).split("\n")[0][:150], file=sys.stderr)
                answer = "refused"
        self.lines.append(f"{line} = {answer}")
        if mode is None and answer != "refused" and any(isinstance(arg, Arg) and arg.dtype == "f32" for arg in args):
            self.first.setdefault(name, (args, parameters))

    def sweep(self, count=3):
        """The first case of each function, with arrays of `count` other element types instead of `f32`, and of `f64`."""
        chosen = []
        for at, (name, (args, parameters)) in enumerate(list(self.first.items())):
            kinds = [kind for kind in OTHERS if all(fits(arg, kind) for arg in args)]
            start = at % max(len(kinds), 1)
            chosen += [(name, args, parameters, kind) for kind in (kinds[start:] + kinds[:start])[:count]]
        chosen += [(name, args, parameters, "f64") for name, (args, parameters) in self.first.items()]
        seen = {line.rsplit(" = ", 1)[0] for line in self.lines}
        for name, args, parameters, kind in chosen:
            self.case(name, *(arg.of(kind) if isinstance(arg, Arg) and arg.dtype == "f32" else arg for arg in args), **parameters)
            case = self.lines[-1].rsplit(" = ", 1)[0]
            if case in seen:
                self.lines.pop()
            seen.add(case)

    def all_modes(self, name, *args, batch=2, grad=True, **parameters):
        """Records a case, its gradient, and the same with a mapped axis."""
        self.case(name, *args, **parameters)
        if self.lines and self.lines[-1].endswith("= refused"):
            return
        if grad and any(arg.dtype in FLOATS for arg in args if isinstance(arg, Arg)):
            self.case(name, *args, mode="grad", **parameters)
        batched = [Arg(arg.dtype, (batch, *arg.shape), arg.values) if isinstance(arg, Arg) and not isinstance(arg.values, list)
                   else Arg(arg.dtype, (batch, *arg.shape), arg.values * batch) if isinstance(arg, Arg)
                   else Key(arg.seed, batch) if isinstance(arg, Key) else arg for arg in args]
        self.case(name, *batched, mode="vmap", **parameters)

    def answer(self, call, given, dtypes, mode, text):
        if mode == "vmap":
            return " & ".join(map(result, jax.vmap(call)(*given)))
        if mode == "grad":
            at = [i for i, dtype in enumerate(dtypes) if dtype in FLOATS]

            def floats(*own):
                all_given = list(given)
                for i, value in zip(at, own):
                    all_given[i] = value
                return [y for y in call(*all_given) if jnp.issubdtype(y.dtype, jnp.floating)]

            results, pull = jax.vjp(floats, *[given[i] for i in at])
            cotangents = [jnp.asarray(generated(NAMES[np.dtype(y.dtype)], y.shape, "", 9)) for y in results]
            return " & ".join(map(result, pull(cotangents)))
        results = " & ".join(map(result, call(*given)))
        if not text:
            try:
                jax.eval_shape(call, *given)
            except REFUSALS + (jax.errors.ConcretizationTypeError,):
                return f"{results} # untraced"
            return results
        try:
            jaxpr = jax.make_jaxpr(call)(*given)
            text = str(jaxpr)
        except REFUSALS + (jax.errors.ConcretizationTypeError,):
            return results
        if SCALAR.search(text) is None:
            return f"{results} # {text_hash(text)}"
        with np.printoptions(legacy="1.25"):
            return f"{results} # ~{text_hash(str(jaxpr))}"
