"""Records how NumPy and JAX print arrays.

    python crates/jaxide/tests/display/record.py > crates/jaxide/tests/display/recorded.txt

A case is a line `== dtype shape precision sign elements`, the text of `str` and after a line `--` that of JAX's `repr`.
`elements` are the bytes in hexadecimal digits, or `arange:first:step`.
"""

import random

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
random.seed(20)

DTYPES = {
    "bool": np.bool_, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
    "u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "u64": np.uint64,
    "f16": np.float16, "f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128,
    "bf16": ml_dtypes.bfloat16, "f8_e4m3fn": ml_dtypes.float8_e4m3fn, "f8_e5m2": ml_dtypes.float8_e5m2,
    "i4": ml_dtypes.int4, "u4": ml_dtypes.uint4,
}


def case(dtype, array, elements=None, precision=None, sign="-"):
    array = np.asarray(array)
    if elements is None:
        elements = array.tobytes().hex() or "none"
    shape = ",".join(map(str, array.shape)) or "scalar"
    print(f"== {dtype} {shape} {'usual' if precision is None else precision} {sign} {elements}")
    options = {} if precision is None else {"precision": precision}
    with np.printoptions(sign=sign, **options):
        if array.ndim == 0 and (precision is not None or sign != "-"):
            print(np.array2string(array))
        else:
            print(str(array))
        print("--")
        # A line that is too long for the type is broken, as NumPy does; JAX forgets the line break.
        text = repr(jnp.asarray(array))
        text = text.replace(",      dtype=", ",\n      dtype=")
        print(text)


def number(kind):
    choice = random.random()
    if choice < 0.08:
        return random.choice([0.0, -0.0, float("nan"), float("inf"), float("-inf")])
    if kind == 0:
        return float(random.randint(-20, 20))
    if kind == 1:
        return random.randint(-1000, 1000) / random.choice([2, 4, 8, 10, 100, 3, 7])
    if kind == 2:
        return random.uniform(-1, 1)
    if kind == 3:
        return random.uniform(-1, 1) * 10.0 ** random.randint(-12, 12)
    if kind == 4:
        return random.uniform(0, 1) * 1000
    return random.choice([1e-4, 9.9e-5, 1e5, 999999.0, 1e6, 1e7, 99999999.0, 1e8, 0.1, 0.3, 1 / 3, 2.5, 0.125, 1e3, 999.5])


SHAPES = [(), (1,), (3,), (7,), (12,), (25,), (2, 3), (3, 1, 2), (2, 2, 2), (4, 9), (1, 1, 1, 1)]
EMPTY = [(0,), (0, 3), (2, 0, 4)]

for name, dtype in DTYPES.items():
    for shape in EMPTY[: 3 if name == "f32" else 1]:
        case(name, np.zeros(shape, dtype))
    native = name[0] in "fc" and not name.startswith("f8")
    for count in range(60 if native else 14):
        shape = random.choice(SHAPES)
        size = int(np.prod(shape))
        kind = random.randrange(6)
        if native or name.startswith(("f8", "bf")):
            values = [number(kind) for _ in range(size)]
            if name[0] == "c":
                values = [complex(x, number(kind)) for x in values]
        elif name == "bool":
            values = [random.random() < 0.5 for _ in range(size)]
        elif name in ("i4", "u4"):
            values = [random.randint(0, 7) for _ in range(size)]
        else:
            info = np.iinfo(dtype)
            wide = random.random() < 0.5
            values = [random.randint(info.min, info.max) if wide else random.randint(max(info.min, -9), 99) for _ in range(size)]
        with np.errstate(all="ignore"):
            array = np.array(values).reshape(shape).astype(dtype)
        if count % 3 == 1 and native:
            case(name, array, precision=random.choice([0, 1, 2, 3, 5, 8, 12, 17]), sign=random.choice("--+"))
        elif count % 7 == 3 and name not in ("bool", "bf16", "f8_e4m3fn", "f8_e5m2", "i4", "u4"):
            case(name, array, sign="+")
        else:
            case(name, array)

for name, shape, first, step in [
    ("f32", (1000,), 0, 1), ("f32", (1001,), 0, 1), ("f32", (1001,), 0, 0.5), ("i32", (2000,), -5, 1),
    ("f64", (40, 30), -1, 0.25), ("f32", (6, 200), 0, 1), ("f32", (7, 200), 0, 1), ("i64", (11, 10, 10), 0, 7),
    ("f32", (2, 600), 0, 0.125), ("f32", (600, 2), 0, 0.125), ("u8", (1500, 1), 3, 0), ("f64", (30,), 1000, 1000),
    ("c64", (1100,), 0, 0.5), ("f16", (1100,), 0, 0.5), ("bool", (40, 40), 1, 0), ("bf16", (1100,), 0, 0.5),
    ("f32", (3, 4, 5, 21), 0, 1), ("i32", (90,), 100, 1), ("bool", (60,), 1, 0),
]:
    count = int(np.prod(shape))
    array = (first + step * np.arange(count)).reshape(shape).astype(DTYPES[name])
    case(name, array, f"arange:{first}:{step}")
