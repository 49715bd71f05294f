"""Elementwise functions of `jax.numpy`."""

import jax.numpy as jnp

from common import COMPLEX, DTYPES, FLOATS, INTS, Arg, Number, corners

FUNCTIONS = {
    "numpy.isclose+atol": lambda a, b, t, **k: jnp.isclose(a, b, atol=t, **k),
    "numpy.isclose+rtol": lambda a, b, t, **k: jnp.isclose(a, b, rtol=t, **k),
    "numpy.allclose+rtol": lambda a, b, t, **k: jnp.allclose(a, b, rtol=t, **k),
    "numpy.clip+min": lambda x, a: jnp.clip(x, a),
    "numpy.clip+max": lambda x, a: jnp.clip(x, max=a),
    "numpy.nan_to_num+nan": lambda x, a: jnp.nan_to_num(x, nan=a),
    "numpy.nan_to_num+infinities": lambda x, a, b: jnp.nan_to_num(x, neginf=a, posinf=b),
    "numpy.isrealobj": lambda x: jnp.asarray(jnp.isrealobj(x)),
    "numpy.iscomplexobj": lambda x: jnp.asarray(jnp.iscomplexobj(x)),
    "numpy.isscalar": lambda x: jnp.asarray(jnp.isscalar(x)),
}

# Of one operand: with the interval that it is differentiated in.
REAL = "sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 cbrt rad2deg deg2rad sinc square negative sign".split()
POSITIVE = "log log2 log10 log1p sqrt reciprocal".split()
UNIT = "arcsin arccos arctanh".split()
NO_COMPLEX = "fabs floor ceil trunc signbit spacing i0 isposinf isneginf".split()
PLAIN = "positive absolute conjugate real imag isfinite isinf isnan isreal iscomplex logical_not rint nan_to_num angle".split()
ALIASES = {
    "abs": "absolute", "acos": "arccos", "acosh": "arccosh", "asin": "arcsin", "asinh": "arcsinh", "atan": "arctan",
    "atanh": "arctanh", "conj": "conjugate", "degrees": "rad2deg", "radians": "deg2rad",
}
WHOLE = "bitwise_not bitwise_invert invert bitwise_count".split()

BINARY = "add subtract multiply divide true_divide maximum minimum fmax fmin heaviside".split()
COMPARED = "equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor".split()
RATIOS = "remainder mod fmod floor_divide divmod".split()
FLOATING = "arctan2 atan2 float_power hypot logaddexp logaddexp2 copysign nextafter".split()
BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift bitwise_left_shift bitwise_right_shift gcd lcm".split()


def unary(r):
    def modes(name, values):
        name = "numpy." + name
        r.all_modes(name, Arg("f32", (2, 3), values))
        r.case(name, Arg("f64", (3,), values))
        r.case(name, Arg("bf16", (4,), values))
        r.case(name, Arg("i32", (3,), "~+3"))
        r.case(name, Arg("c64", (2,), "~2"))
        r.case(name, Arg("f32", (0, 2)))

    for name in REAL:
        modes(name, "~1")
    for name in POSITIVE:
        modes(name, "~+1")
    for name in UNIT:
        modes(name, "~u1")
    r.all_modes("numpy.arccosh", Arg("f32", (2, 3), [1.0625, 1.5, 2.0, 3.25, 10.0, 100.0]))
    r.case("numpy.arccosh", Arg("i32", (3,), "~+3"))
    r.case("numpy.arccosh", Arg("c64", (4,), "~2"))
    r.case("numpy.arccosh", Arg("f64", (2,), [1.0, 2.5]))
    for name in NO_COMPLEX + PLAIN:
        r.all_modes("numpy." + name, Arg("f32", (2, 3), "~1"), grad=name not in ("angle",))
        r.case("numpy." + name, corners("f32"))
        for dtype in ("f16", "bf16", "f64", "bool", "u8", "i32", "i64", "c64"):
            r.case("numpy." + name, Arg(dtype, (3,), 5))
        r.case("numpy." + name, Arg("f32", (2, 0)))
    for name in ALIASES:
        r.case("numpy." + name, Arg("f32", (3,), "~u1"))
        r.case("numpy." + name, Arg("i32", (2,), "~+1"))
        r.case("numpy." + name, Arg("c64", (2,), "~1"))
    for name in WHOLE:
        for dtype in ("bool", "u8", "i8", "i32", "u64"):
            r.case("numpy." + name, Arg(dtype, (5,), 4))
        r.case("numpy." + name, Arg("f32", (2,)))
        r.all_modes("numpy." + name, Arg("i16", (2, 3)))
    for name in ("frexp", "modf"):
        r.all_modes("numpy." + name, Arg("f32", (2, 3), "~1"), grad=name == "modf")
        r.case("numpy." + name, corners("f32"))
        r.case("numpy." + name, Arg("f16", (5,), 3))
        r.case("numpy." + name, Arg("f64", (5,), 10))
        r.case("numpy." + name, Arg("i32", (4,)))
        r.case("numpy." + name, Arg("c64", (4,)))
    for name in ("round", "around"):
        r.all_modes("numpy." + name, Arg("f32", (2, 3), "~1"))
        r.case("numpy." + name, corners("f32"))
        for decimals in (1, 2, -1, 60):
            r.case("numpy." + name, Arg("f32", (7,), 3), decimals=decimals)
            r.case("numpy." + name, Arg("f16", (7,), 3), decimals=decimals)
        r.case("numpy." + name, Arg("c64", (5,)), decimals=1)
        r.case("numpy." + name, Arg("i32", (5,)))
        r.case("numpy." + name, Arg("i32", (5,)), decimals=-1)
        r.case("numpy." + name, Arg("bool", (2,)))
    for name in ("isrealobj", "iscomplexobj", "isscalar"):
        for dtype, shape in (("f32", (2,)), ("c64", (2,)), ("i32", ()), ("c128", ())):
            r.case("numpy." + name, Arg(dtype, shape))
    r.case("numpy.angle", corners("c64"), deg=True)
    r.all_modes("numpy.angle", Arg("f32", (3,), "~1"), deg=True, grad=False)
    r.case("numpy.angle", Arg("f32", (), "~1"))
    r.case("numpy.i0", corners("f32"))
    r.case("numpy.sinc", corners("f32"))
    r.case("numpy.sinc", Arg("f64", (9,), 4))
    r.case("numpy.sinc", Arg("c128", (5,), "~1"))
    r.case("numpy.sinc", Arg("f32", (4,), [0.0, 1.0, 2.0, 0.5]), mode="grad")
    r.case("numpy.i0", Arg("f32", (3,), [0.0, 0.001, 3.0]), mode="grad")


def binary(r):
    for name in BINARY + COMPARED:
        name = "numpy." + name
        r.all_modes(name, Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3), "~2"))
        r.case(name, Arg("f32", (2, 1), "~1"), Arg("i32", (3,), "~+2"))
        r.case(name, Arg("bf16", (3,), "~1"), Number(2))
        r.case(name, Number(1.5), Arg("f32", (3,), "~1"))
        r.case(name, Arg("i8", (4,)), Arg("u8", (4,), 2))
        r.case(name, Arg("bool", (2,)), Arg("bool", (2,), 1))
        r.case(name, Arg("c64", (3,), "~1"), Arg("f32", (3,), "~2"))
        r.case(name, Arg("f64", (3,), 4), Arg("f32", (3,), 1))
        r.case(name, Arg("f32", (0, 3)), Arg("f32", (1,)))
        r.case(name, Arg("f32", (2,)), Arg("f32", (3,)))
        r.case(name, Arg("f32", (7,), 12), Arg("f32", (7,), 1))
    for name in RATIOS:
        name = "numpy." + name
        r.all_modes(name, Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3), "~+2"))
        r.case(name, Arg("f32", (9,), "~3"), Arg("f32", (9,), [1, -1, 0.5, -0.5, 0, 3, -3, 2, -2]))
        for dtype in ("i32", "i8", "u8", "i64"):
            r.case(name, Arg(dtype, (13,)), Arg(dtype, (13,), 3))
        r.case(name, Arg("i32", (2, 1), "~1"), Arg("f32", (3,), "~+2"))
        r.case(name, Arg("i32", (6,), "~1"), Number(3))
        r.case(name, Arg("i32", (6,), "~1"), Number(0))
        r.case(name, Arg("bool", (2,)), Arg("bool", (2,), 1))
        r.case(name, Arg("c64", (2,), "~1"), Arg("c64", (2,), "~2"))
        r.case(name, Arg("f32", (0,)), Number(2))
    for name in FLOATING:
        name = "numpy." + name
        r.all_modes(name, Arg("f32", (2, 3), "~+1"), Arg("f32", (2, 3), "~+2"), grad=name != "numpy.nextafter")
        r.case(name, Arg("f32", (2, 1), "~+1"), Arg("i32", (3,), "~+2"))
        r.case(name, Arg("f32", (3,), "~1"), Number(2))
        r.case(name, Arg("f64", (3,), "~+1"), Arg("f64", (3,), "~2"))
        r.case(name, Arg("bf16", (3,), "~+1"), Arg("bf16", (3,), "~2"))
        r.case(name, Arg("i32", (3,), "~+1"), Arg("i32", (3,), "~+2"))
        r.case(name, Arg("c64", (2,), "~1"), Arg("c64", (2,), "~2"))
        r.case(name, Arg("f32", (0,)), Number(2))
        r.case(name, Arg("f32", (2,)), Arg("f32", (3,)))
    for name in ("divide", "arctan2", "logaddexp", "float_power", "fmod", "logical_xor", "heaviside"):
        r.case("numpy." + name, Arg("i32", (2, 3), "~1"), Arg("u16", (3,), "~+2"))
    for name in ("hypot", "copysign", "logaddexp", "logaddexp2", "nextafter", "arctan2", "maximum", "fmax", "fmin", "heaviside"):
        r.case("numpy." + name, corners("f32"), Arg("f32", (19,), 7))
    for name in BITS:
        name = "numpy." + name
        r.all_modes(name, Arg("i32", (2, 3), "~+1"), Arg("i32", (2, 3), "~+2"))
        r.case(name, Arg("u8", (2, 1), "~1"), Arg("i32", (3,), "~+2"))
        r.case(name, Arg("i16", (3,), "~+1"), Number(2))
        r.case(name, Arg("i64", (6,), "~1"), Arg("i64", (6,), "~+2"))
        r.case(name, Arg("bool", (2,)), Arg("bool", (2,), 1))
        r.case(name, Arg("f32", (2,)), Arg("f32", (2,)))
        r.case(name, Arg("i32", (0,)), Number(2))
    for exponent in (Number(2), Number(0), Number(-1), Number(3), Number(0.5), Number(2.0)):
        r.all_modes("numpy.power", Arg("f32", (2, 2), "~+1"), exponent)
        r.case("numpy.pow", Arg("f32", (2, 2), "~+1"), exponent)
    r.case("numpy.power", Arg("i32", (3,), "~1"), Number(2))
    r.case("numpy.power", Arg("i32", (3,), "~1"), Number(-2))
    r.case("numpy.power", Arg("i32", (2, 1), "~1"), Arg("i32", (3,), "~+1"))
    r.case("numpy.power", Arg("f32", (3,), "~1"), Arg("i32", (3,), "~1"))
    r.case("numpy.power", Number(2), Arg("f32", (3,), "~1"))
    r.case("numpy.power", Arg("bool", (2,)), Arg("bool", (2,), 1))
    r.case("numpy.power", Arg("c64", (2,), "~1"), Arg("c64", (2,), "~2"))
    r.all_modes("numpy.power", Arg("f32", (2, 2), "~+1"), Arg("f32", (2, 2), "~1"))
    r.all_modes("numpy.ldexp", Arg("f32", (2, 3), "~1"), Arg("i32", (2, 3), "~1"))
    r.case("numpy.ldexp", corners("f32"), Arg("i32", (19,), 0))
    r.case("numpy.ldexp", Arg("f16", (2, 1), "~1"), Arg("i8", (3,), "~1"))
    r.case("numpy.ldexp", Arg("f64", (3,), "~1"), Number(3))
    r.case("numpy.ldexp", Arg("i32", (3,), "~1"), Number(3))
    r.case("numpy.ldexp", Arg("f32", (3,), "~1"), Number(1.5))


def others(r):
    r.all_modes("numpy.where", Arg("bool", (2, 3), "~1"), Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3), "~2"))
    r.all_modes("numpy.where", Arg("bool", (2, 1), "~1"), Arg("f32", (3,), "~1"), Number(0))
    r.case("numpy.where", Arg("bool", (), [True]), Arg("f32", (2, 1), "~1"), Arg("i32", (3,), "~1"))
    r.case("numpy.where", Arg("f32", (3,), 0), Number(1), Number(2.5))
    r.case("numpy.where", Arg("i64", (2,), "~1"), Arg("c64", (2,), "~1"), Arg("f64", (2,), "~1"))
    r.case("numpy.where", Arg("bool", (0, 3)), Arg("f32", (1, 3)), Number(1.0))
    r.case("numpy.where", Arg("bool", (2,)), Arg("f32", (3,)), Number(1.0))
    r.case("numpy.where", Arg("bool", (2,)), Number(True), Number(False))
    for low, high in ((Number(-0.5), Number(0.5)), (Number(0), Number(1)), (Arg("f32", (3,), "~u1"), Arg("i32", (), [1]))):
        r.all_modes("numpy.clip", Arg("f32", (2, 3), "~1"), low, high)
        r.case("numpy.clip", Arg("i32", (4,), 3), low if isinstance(low, Number) else Number(0), high)
    r.all_modes("numpy.clip+min", Arg("f32", (2, 3), "~1"), Number(0.25))
    r.all_modes("numpy.clip+max", Arg("f32", (2, 3), "~1"), Number(0.25))
    r.case("numpy.clip+min", Arg("u8", (4,), 3), Number(3))
    r.case("numpy.clip", Arg("c64", (2,)), Number(0), Number(1))
    r.case("numpy.clip+max", corners("f32"), Number(1))
    r.all_modes("numpy.nan_to_num+nan", Arg("f32", (6,), 13), Number(7.5), grad=False)
    r.all_modes("numpy.nan_to_num+infinities", Arg("f32", (6,), 13), Number(-7), Arg("f32", (), [3.5]), grad=False)
    r.case("numpy.nan_to_num+nan", Arg("c64", (6,), 9), Number(2))
    r.case("numpy.nan_to_num", Arg("c128", (6,), 9))
    for name in ("isclose", "allclose"):
        name = "numpy." + name
        near = Arg("f32", (2, 3), [1.0, 2.0, 3.0, 1e-9, float("inf"), float("nan")])
        other = Arg("f32", (2, 3), [1.00001, 2.1, 3.0, 0.0, float("inf"), float("nan")])
        r.all_modes(name, near, other, grad=False)
        r.case(name, near, other, equal_nan=True)
        r.case(name, near, Number(1))
        r.case(name + "+rtol", near, other, Number(0.1))
        r.case(name, Arg("i32", (3,), "~1"), Arg("f64", (3,), "~1"))
        r.case(name, Arg("c64", (3,), 2), Arg("c64", (3,), 2))
        r.case(name, Arg("f32", (0,)), Arg("f32", (0,)))
        r.case(name, Arg("f32", (2,)), Arg("f32", (3,)))
        r.case(name, Arg("bool", (2,)), Arg("bool", (2,)))
    r.case("numpy.isclose+atol", near, other, Number(0.2))
    for name in ("array_equal", "array_equiv"):
        name = "numpy." + name
        r.all_modes(name, Arg("i32", (2, 3), "~1"), Arg("i32", (2, 3), "~1"))
        r.case(name, Arg("f32", (3,), "~1"), Arg("f32", (3,), "~2"))
        r.case(name, Arg("f32", (3,), "~1"), Arg("f32", (1,), "~1"))
        r.case(name, Arg("f32", (3,), "~1"), Arg("f32", (2,), "~1"))
        r.case(name, Arg("i32", (3,), "~1"), Arg("f64", (3,), "~1"))
        r.case(name, Arg("f32", (0,)), Arg("f32", (0,)))
    r.case("numpy.array_equal", corners("f32"), corners("f32"))
    r.case("numpy.array_equal", corners("f32"), corners("f32"), equal_nan=True)
    for name, dtypes in (("packbits", ("bool", "u8", "i32")), ("unpackbits", ("u8",))):
        name = "numpy." + name
        for dtype in dtypes:
            r.all_modes(name, Arg(dtype, (2, 9), "~1"))
            for axis in (0, 1, -1):
                r.case(name, Arg(dtype, (2, 9), "~1"), axis=axis)
            r.case(name, Arg(dtype, (11,), "~1"), bitorder="little")
            r.case(name, Arg(dtype, (0,)))
        r.case(name, Arg("f32", (4,)))
    for count in (3, 20):
        r.case("numpy.unpackbits", Arg("u8", (2,), "~1"), count=count)
        r.case("numpy.unpackbits", Arg("u8", (2, 2), "~1"), count=count, axis=0)


def cases(r):
    unary(r)
    binary(r)
    others(r)
    # A case may be asked for twice by the lists.
    r.lines[:] = dict.fromkeys(r.lines)
