"""Differences, interpolation, convolution, polynomials, and functions applied along axes."""

import jax.numpy as jnp

from common import Arg, Number

ALONG = {
    "sum": lambda v: v.sum(),
    "flip": lambda v: v[::-1],
    "pairs": lambda v: jnp.stack([v, v * 2]),
}
VECTORIZED = {
    "scalar": (lambda x, y: x * y + 1, None),
    "dot": (lambda x, y: (x * y).sum(), "(n),(n)->()"),
    "outer": (lambda x, y: x[:, None] * y[None, :], "(n),(m)->(n,m)"),
    "two": (lambda x, y: (x * 2, y.sum()), "(),(n)->(),()"),
    "wrong": (lambda x, y: x, "(n),(n)->()"),
}


def piecewise(x, *values, kind):
    conditions = [x < 0, x > 1]
    functions = {
        "values": [values[0], values[1]] if len(values) > 1 else [1, 2],
        "default": [lambda v: -v, 2.0, lambda v: v * 10],
        "functions": [lambda v: -v, lambda v: v * 2],
        "few": [1.0],
    }[kind]
    return jnp.piecewise(x, conditions, functions)


def vectorize(x, y, kind):
    function, signature = VECTORIZED[kind]
    return jnp.vectorize(function, signature=signature)(x, y)


def select(*arrays):
    count = (len(arrays) - 1) // 2
    return jnp.select(list(arrays[:count]), list(arrays[count:-1]), arrays[-1])


FUNCTIONS = {
    "numpy.convolve": lambda a, v, how="full": jnp.convolve(a, v, how),
    "numpy.correlate": lambda a, v, how="valid": jnp.correlate(a, v, how),
    "numpy.apply_along_axis": lambda x, axis, kind: jnp.apply_along_axis(ALONG[kind], axis, x),
    "numpy.apply_over_axes": lambda x, axes, kind: jnp.apply_over_axes(
        {"sum": jnp.sum, "flip": jnp.flip, "wrong": lambda x, axis: x.sum()[None, None, None]}[kind], x, axes),
    "numpy.vectorize": vectorize,
    "numpy.piecewise": piecewise,
    "numpy.select": select,
    "numpy.gradient": lambda f, *varargs, **keywords: jnp.gradient(f, *varargs, **keywords),
    "numpy.trapezoid_at": lambda y, x, **keywords: jnp.trapezoid(y, x, **keywords),
    "numpy.trapezoid_by": lambda y, dx, **keywords: jnp.trapezoid(y, dx=dx, **keywords),
    "numpy.diff_around": lambda x, prepend, append, **keywords: jnp.diff(x, prepend=prepend, append=append, **keywords),
    "numpy.ediff1d_around": lambda x, end, begin: jnp.ediff1d(x, end, begin),
    "numpy.unwrap_by": lambda x, period, **keywords: jnp.unwrap(x, period=period, **keywords),
    "numpy.unwrap_from": lambda x, discont: jnp.unwrap(x, discont=discont),
    "numpy.interp_sides": lambda x, xp, fp, left, right: jnp.interp(x, xp, fp, left=left, right=right),
    "numpy.interp_period": lambda x, xp, fp, period: jnp.interp(x, xp, fp, period=period),
    "numpy.roots_padded": lambda p: jnp.roots(p, strip_zeros=False),
    "numpy.polyfit_weights": lambda x, y, w, deg: jnp.polyfit(x, y, deg, w=w),
    "numpy.polyfit_cov": lambda x, y, deg, unscaled=False: jnp.polyfit(x, y, deg, cov="unscaled" if unscaled else True),
    "numpy.polyfit_cov_weights": lambda x, y, w, deg: jnp.polyfit(x, y, deg, w=w, cov=True),
    "numpy.polyfit_full": lambda x, y, deg: jnp.polyfit(x, y, deg, full=True),
    "numpy.polyint_from": lambda p, k, m: jnp.polyint(p, m, k),
}


def differences(r):
    v, x = Arg("f32", (5,), "~1"), Arg("f32", (3, 4), "~1")
    for keywords in (dict(), dict(n=2), dict(n=0), dict(axis=0), dict(n=3, axis=1)):
        r.all_modes("numpy.diff", x, **keywords)
    r.case("numpy.diff", Arg("bool", (4,), "~1"))
    r.case("numpy.diff", Arg("u8", (4,), "~1"))
    r.case("numpy.diff", Arg("i64", (4,), "~1"))
    r.case("numpy.diff", Arg("f32", (0,)))
    r.case("numpy.diff", Arg("f32", (2,), "~1"), n=3)
    r.case("numpy.diff", v, n=-1)
    r.case("numpy.diff", Arg("f32", (), "~1"))
    r.all_modes("numpy.diff_around", v, Number(1), Arg("f32", (2,), "~3"))
    r.all_modes("numpy.diff_around", x, Arg("f32", (), "~2"), Arg("f32", (1, 4), "~3"), axis=0)
    r.case("numpy.diff_around", Arg("i32", (2, 2), "~1"), Number(0), Number(9))
    r.all_modes("numpy.ediff1d", x)
    r.case("numpy.ediff1d", Arg("i32", (4,), "~1"))
    r.case("numpy.ediff1d", Arg("f32", (1,), "~1"))
    r.case("numpy.ediff1d", Arg("bool", (3,), "~1"))
    r.all_modes("numpy.ediff1d_around", v, Number(7), Arg("f32", (2,), "~2"))
    r.case("numpy.ediff1d_around", Arg("i32", (4,), "~1"), Arg("i32", (2, 2), "~1"), Number(1))
    r.all_modes("numpy.gradient", v)
    r.all_modes("numpy.gradient", x)
    r.all_modes("numpy.gradient", x, axis=1)
    r.all_modes("numpy.gradient", v, Number(0.5))
    r.all_modes("numpy.gradient", v, Arg("f32", (5,), [0.0, 1.0, 1.5, 3.0, 4.0]))
    r.all_modes("numpy.gradient", x, Number(2), Arg("f32", (4,), [0.0, 1.0, 1.5, 3.0]))
    r.case("numpy.gradient", Arg("i32", (4,), "~1"))
    r.case("numpy.gradient", Arg("f64", (4,), "~1"))
    r.case("numpy.gradient", Arg("f32", (2,), "~1"))
    r.case("numpy.gradient", Arg("f32", (1,), "~1"))
    r.case("numpy.gradient", v, Arg("f32", (3,), "~1"))
    r.case("numpy.gradient", x, Number(1), Number(1), Number(2))
    r.all_modes("numpy.trapezoid", v)
    r.all_modes("numpy.trapezoid", x, axis=0)
    r.case("numpy.trapezoid", Arg("i32", (4,), "~1"))
    r.case("numpy.trapezoid", Arg("f16", (4,), "~1"))
    r.case("numpy.trapezoid", Arg("f64", (4,), "~1"))
    r.case("numpy.trapezoid", Arg("f32", (1,), "~1"))
    r.all_modes("numpy.trapezoid_at", x, Arg("f32", (4,), "~d2"))
    r.all_modes("numpy.trapezoid_at", x, Arg("f32", (3, 4), "~2"), axis=0)
    r.case("numpy.trapezoid_at", Arg("i32", (4,), "~1"), Arg("i32", (4,), "~2"))
    r.all_modes("numpy.trapezoid_at", Arg("f32", (3,), "~1"), Arg("f32", (3, 3), "~d2"))
    r.case("numpy.trapezoid_at", Arg("i32", (4,), "~1"), Arg("i32", (4, 1), "~2"))
    r.case("numpy.trapezoid_at", v, Arg("f32", (3,), "~2"))
    r.all_modes("numpy.trapezoid_by", x, Number(0.5))
    r.all_modes("numpy.trapezoid_by", x, Arg("f32", (3,), "~2"))
    r.case("numpy.trapezoid_by", v, Arg("f32", (1,), "~2"))
    steps = Arg("f32", (6,), [0.0, 3.0, 6.0, -1.0, 2.0, 9.5])
    r.all_modes("numpy.unwrap", steps)
    r.all_modes("numpy.unwrap", Arg("f32", (2, 4), "~5"), axis=0)
    r.case("numpy.unwrap", Arg("f64", (4,), "~5"))
    r.case("numpy.unwrap", Arg("f32", (0,)))
    r.case("numpy.unwrap", Arg("c64", (3,), "~1"))
    r.all_modes("numpy.unwrap_by", steps, Number(4))
    r.case("numpy.unwrap_by", Arg("i32", (6,), "~1"), Number(7))
    r.case("numpy.unwrap_by", steps, Number(4.5))
    r.case("numpy.unwrap_from", steps, Number(5))


def interpolation(r):
    x, xp, fp = Arg("f32", (6,), [-1.0, 0.0, 0.25, 1.5, 2.0, 9.0]), Arg("f32", (4,), [0.0, 0.5, 1.5, 3.0]), Arg("f32", (4,), "~2")
    r.all_modes("numpy.interp", x, xp, fp)
    r.all_modes("numpy.interp", Arg("f32", (2, 2), "~1"), xp, fp)
    r.case("numpy.interp", Number(0.75), xp, fp)
    r.case("numpy.interp", Arg("i32", (3,), "~1"), Arg("i32", (3,), [0, 2, 5]), Arg("i32", (3,), [1, 2, 3]))
    r.case("numpy.interp", Arg("f64", (3,), "~1"), Arg("f64", (3,), [0.0, 2.0, 5.0]), Arg("f64", (3,), "~2"))
    r.case("numpy.interp", x, Arg("f32", (3,), [0.0, 1.0, 1.0]), Arg("f32", (3,), "~2"))
    r.case("numpy.interp", x, xp, Arg("f32", (3,), "~2"))
    r.case("numpy.interp", x, Arg("f32", (2, 2), "~2"), Arg("f32", (2, 2), "~2"))
    r.case("numpy.interp", x, Arg("f32", (1,), [1.0]), Arg("f32", (1,), [2.0]))
    r.case("numpy.interp", Arg("f16", (3,), "~1"), Arg("f16", (3,), [0.0, 2.0, 5.0]), Arg("f16", (3,), "~2"))
    r.all_modes("numpy.interp_sides", x, xp, fp, Number(-5), Number(7.5))
    r.all_modes("numpy.interp_period", x, xp, fp, Number(2.0))
    r.all_modes("numpy.interp", x, xp, fp, left="extrapolate", right="extrapolate")
    r.case("numpy.interp", x, xp, fp, left="extrapolate")


def convolution(r):
    x, y = Arg("f32", (6,), "~1"), Arg("f32", (3,), "~2")
    for name in ("convolve", "correlate"):
        for mode in (None, "full", "same", "valid"):
            r.all_modes(f"numpy.{name}", x, y, how=mode)
            r.case(f"numpy.{name}", y, x, how=mode)
        r.case(f"numpy.{name}", Arg("i32", (4,), "~1"), Arg("i32", (2,), "~2"))
        r.case(f"numpy.{name}", Arg("c64", (4,), "~1"), Arg("c64", (2,), "~2"))
        r.case(f"numpy.{name}", Arg("f64", (4,), "~1"), Arg("f64", (4,), "~2"), how="same")
        r.case(f"numpy.{name}", Arg("bool", (4,), "~1"), Arg("f16", (2,), "~2"))
        r.case(f"numpy.{name}", x, Arg("f32", (0,)))
        r.case(f"numpy.{name}", x, Arg("f32", (2, 2), "~2"))


def polynomials(r):
    p, q, x = Arg("f32", (4,), "~1"), Arg("f32", (2,), "~2"), Arg("f32", (5,), "~3")
    for name in ("polyadd", "polysub"):
        r.all_modes(f"numpy.{name}", p, q)
        r.all_modes(f"numpy.{name}", q, p)
        r.case(f"numpy.{name}", p, Arg("i32", (4,), "~2"))
        r.case(f"numpy.{name}", Arg("i32", (3,), "~1"), Arg("i32", (1,), "~2"))
        r.case(f"numpy.{name}", Arg("f64", (3,), "~1"), Arg("f64", (1,), "~2"))
    r.all_modes("numpy.polymul", p, q)
    r.case("numpy.polymul", p, q, trim_leading_zeros=True)
    r.case("numpy.polymul", Arg("i32", (3,), [0, 1, 2]), Arg("i32", (2,), [0, 5]), trim_leading_zeros=True)
    r.case("numpy.polymul", Arg("f32", (0,)), p)
    r.all_modes("numpy.polydiv", p, Arg("f32", (2,), [2.0, 1.0]))
    r.case("numpy.polydiv", q, p)
    r.case("numpy.polydiv", Arg("i32", (4,), [2, 4, 6, 8]), Arg("i32", (2,), [2, 1]))
    for m in (None, 0, 1, 2):
        r.all_modes("numpy.polyder", p, m=m)
        r.all_modes("numpy.polyint", p, m=m)
    r.case("numpy.polyder", Arg("i32", (3,), "~1"))
    r.case("numpy.polyder", Arg("bf16", (7,), "~1"), m=3)
    r.case("numpy.polyint", Arg("f16", (4,), "~1"), m=3)
    r.case("numpy.polyder", Arg("f64", (3,), "~1"))
    r.case("numpy.polyder", Arg("f32", (1,), "~1"))
    r.case("numpy.polyint", Arg("i32", (3,), "~1"))
    r.case("numpy.polyint", Arg("f64", (3,), "~1"))
    r.all_modes("numpy.polyint_from", p, Arg("f32", (2,), "~2"), m=2)
    r.case("numpy.polyint_from", p, Number(3), m=2)
    r.case("numpy.polyint_from", p, Arg("f32", (3,), "~2"), m=2)
    r.all_modes("numpy.polyval", p, x)
    r.all_modes("numpy.polyval", Arg("f32", (3, 2), "~1"), Arg("f32", (2,), "~3"))
    r.all_modes("numpy.polyval", Arg("f32", (3, 2, 1), "~1"), Arg("f32", (5,), "~3"))
    r.case("numpy.polyval", p, Number(2))
    r.case("numpy.polyval", Arg("i32", (3,), "~1"), Arg("i32", (2, 2), "~2"))
    r.case("numpy.polyval", Arg("f32", (0,)), x)
    r.case("numpy.polyval", Arg("f32", (1,), "~1"), x)
    r.case("numpy.polyval", Arg("c64", (3,), "~1"), Arg("f32", (2,), "~2"))
    r.all_modes("numpy.poly", Arg("f32", (3,), "~1"))
    r.case("numpy.poly", Arg("c64", (2,), "~1"))
    r.case("numpy.poly", Arg("i32", (3,), [1, 2, 3]))
    r.case("numpy.poly", Arg("f32", (), "~1"))
    r.case("numpy.poly", Arg("f32", (0,)))
    r.case("numpy.poly", Arg("f32", (2, 2), "~s1"))
    r.case("numpy.poly", Arg("f32", (2, 3), "~1"))
    for numbers in ([1.0, -5.0, 6.0], [0.0, 2.0, 6.0], [3.0], [0.0, 0.0], [2.0, 4.0]):
        r.case("numpy.roots", Arg("f32", (len(numbers),), numbers))
        r.case("numpy.roots_padded", Arg("f32", (len(numbers),), numbers))
    r.case("numpy.roots", Arg("f32", (2, 2), "~1"))
    y = Arg("f32", (5,), "~4")
    points = Arg("f32", (5,), [0.0, 0.5, 1.0, 2.0, 3.0])
    for deg in (0, 1, 2):
        r.case("numpy.polyfit", points, y, deg=deg)
    r.case("numpy.polyfit", points, y, deg=1, mode="grad")
    r.case("numpy.polyfit", points, Arg("f32", (5, 2), "~4"), deg=2)
    r.case("numpy.polyfit", points, y, deg=2, rcond=0.5)
    r.case("numpy.polyfit", Arg("f64", (5,), "~1"), Arg("f64", (5,), "~2"), deg=1)
    r.case("numpy.polyfit", points, Arg("f32", (4,), "~4"), deg=1)
    r.case("numpy.polyfit_weights", points, y, Arg("f32", (5,), "~+4"), deg=1)
    r.case("numpy.polyfit_full", points, y, deg=1)
    r.all_modes("numpy.polyfit_cov", points, y, deg=1)
    r.case("numpy.polyfit_cov", points, y, deg=2, unscaled=True)
    r.case("numpy.polyfit_cov", points, Arg("f32", (5, 2), "~4"), deg=2)
    r.case("numpy.polyfit_cov", Arg("f64", (5,), "~d1"), Arg("f64", (5,), "~2"), deg=1)
    r.case("numpy.polyfit_cov", points, y, deg=4)
    r.case("numpy.polyfit_cov_weights", points, y, Arg("f32", (5,), "~+4"), deg=1)


def applying(r):
    x, cube = Arg("f32", (2, 3), "~1"), Arg("f32", (2, 3, 4), "~1")
    for kind in ALONG:
        for axis in (0, 1, -1):
            r.all_modes("numpy.apply_along_axis", cube, axis=axis, kind=kind)
    r.case("numpy.apply_along_axis", Arg("i32", (3,), "~1"), axis=0, kind="sum")
    r.case("numpy.apply_along_axis", x, axis=2, kind="sum")
    r.all_modes("numpy.apply_over_axes", cube, axes=(0, 2), kind="sum")
    r.all_modes("numpy.apply_over_axes", cube, axes=(1,), kind="flip")
    r.case("numpy.apply_over_axes", Arg("i32", (2, 2), "~1"), axes=(0, 1), kind="sum")
    r.case("numpy.apply_over_axes", x, axes=(0,), kind="wrong")
    r.all_modes("numpy.vectorize", x, Arg("f32", (3,), "~2"), kind="scalar")
    r.all_modes("numpy.vectorize", x, Arg("f32", (2, 1), "~2"), kind="scalar")
    r.case("numpy.vectorize", Number(2), Arg("f32", (1, 1), "~2"), kind="scalar")
    r.all_modes("numpy.vectorize", cube, Arg("f32", (4,), "~2"), kind="dot")
    r.all_modes("numpy.vectorize", x, Arg("f32", (1, 2), "~2"), kind="outer")
    r.all_modes("numpy.vectorize", Arg("f32", (2,), "~1"), cube, kind="two")
    r.case("numpy.vectorize", Arg("f32", (3,), "~1"), cube, kind="two")
    r.case("numpy.vectorize", x, Arg("f32", (2,), "~2"), kind="dot")
    r.case("numpy.vectorize", x, x, kind="wrong")
    v = Arg("f32", (4,), "~1")
    for kind in ("values", "default", "functions", "few"):
        r.all_modes("numpy.piecewise", v, kind=kind)
    r.case("numpy.piecewise", Arg("i32", (2, 3), "~1"), kind="functions")
    r.case("numpy.piecewise", v, Number(2.5), Number(3), kind="values")
    c, d = Arg("bool", (4,), [True, False, True, False]), Arg("bool", (4,), [True, True, False, False])
    r.all_modes("numpy.select", c, d, v, Arg("f32", (4,), "~2"), Number(0))
    r.all_modes("numpy.select", c, v, Number(7))
    r.case("numpy.select", c, Arg("i32", (4,), "~1"), Number(2.5))
    r.case("numpy.select", Arg("i32", (4,), [1, 0, 2, 0]), v, Number(2.5))
    r.case("numpy.select", Arg("bool", (2, 1), [True, False]), d, v, Arg("i32", (2, 4), "~2"), Number(0))
    r.case("numpy.select", c, Arg("f32", (3,), "~1"), Number(2.5))


def cases(r):
    differences(r)
    interpolation(r)
    convolution(r)
    polynomials(r)
    applying(r)
