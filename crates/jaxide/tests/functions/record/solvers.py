"""`jax.scipy`: integrals, interpolation, minimisation, images, clusters and rotations."""


import jax.numpy as jnp
from common import Arg
from jax.scipy import integrate, ndimage, optimize
from jax.scipy.cluster import vq
from jax.scipy.interpolate import RegularGridInterpolator
from jax.scipy.spatial.transform import Rotation, Slerp

FUNCTIONS = {
    "scipy.integrate.trapezoid": integrate.trapezoid,
    "scipy.cluster.vq.vq": vq.vq,
}


def narrow(results):
    """Counts of iterations are `i32` here, where JAX with 64 bits has `i64`."""
    return tuple(x.astype(jnp.int32) if jnp.issubdtype(x.dtype, jnp.integer) else x for x in results)


LBFGS = "l-bfgs-experimental-do-not-rely-on-this"


def function(name):
    def add(f):
        FUNCTIONS[name] = f
        return f
    return add


@function("scipy.integrate.trapezoid_x")
def trapezoid_x(y, x, axis=-1):
    return integrate.trapezoid(y, x, axis=axis)


@function("scipy.ndimage.map_coordinates")
def map_coordinates(x, *at, order, edge, cval=0.0):
    return ndimage.map_coordinates(x, list(at), order, edge, cval)


@function("scipy.interpolate.RegularGridInterpolator")
def interpolator(points, values, xi, method="linear", fill="nan"):
    return RegularGridInterpolator((points,), values, method=method, fill_value=None if fill == "none" else float(fill))(xi)


@function("scipy.interpolate.RegularGridInterpolator2")
def interpolator2(first, second, values, xi, method="linear", fill="nan"):
    fill = None if fill == "none" else float(fill)
    return RegularGridInterpolator((first, second), values, method=method, fill_value=fill)(xi)


FUNS = {
    "quadratic": lambda x: jnp.sum(jnp.square(x - jnp.arange(x.size, dtype=x.dtype))),
    "scaled": lambda x: jnp.sum(jnp.square(x) * jnp.arange(1, x.size + 1, dtype=x.dtype)) + jnp.sum(x),
    "rosenbrock": lambda x: jnp.sum(100.0 * jnp.square(x[1:] - jnp.square(x[:-1])) + jnp.square(1 - x[:-1])),
    "quartic": lambda x: jnp.sum(jnp.square(jnp.square(x) - 1)),
}


@function("scipy.optimize.minimize")
def minimize(x, fun, method="bfgs", **options):
    found = optimize.minimize(FUNS[fun], x, method={"bfgs": "BFGS", "lbfgs": LBFGS}[method], options=options)
    return narrow((found.x, found.success, found.status, 1 + found.fun))


@function("scipy.optimize.minimize_counts")
def minimize_counts(x, fun, method="bfgs", **options):
    found = optimize.minimize(FUNS[fun], x, method={"bfgs": "BFGS", "lbfgs": LBFGS}[method], options=options)
    return narrow((found.nit, found.nfev, found.njev))


R = "spatial.Rotation"


@function(f"{R}.from_euler")
def from_euler(angles, seq, degrees=False):
    return Rotation.from_euler(seq, angles, degrees).quat


@function(f"{R}.as_euler")
def as_euler(quat, seq, degrees=False):
    return Rotation.from_quat(quat).as_euler(seq, degrees)


for _from in ("from_matrix", "from_mrp", "from_quat"):
    FUNCTIONS[f"{R}.{_from}"] = lambda x, _from=_from: getattr(Rotation, _from)(x).quat
FUNCTIONS[f"{R}.from_rotvec"] = lambda x, degrees=False: Rotation.from_rotvec(x, degrees).quat
for _as in ("as_matrix", "as_mrp", "magnitude"):
    FUNCTIONS[f"{R}.{_as}"] = lambda x, _as=_as: getattr(Rotation.from_quat(x), _as)()
FUNCTIONS[f"{R}.inv"] = lambda x: Rotation.from_quat(x).inv().quat
FUNCTIONS[f"{R}.mean"] = lambda x: Rotation.from_quat(x).mean().as_matrix()
FUNCTIONS[f"{R}.as_rotvec"] = lambda x, degrees=False: Rotation.from_quat(x).as_rotvec(degrees)
FUNCTIONS[f"{R}.as_quat"] = lambda x, **k: Rotation.from_quat(x).as_quat(**k)
FUNCTIONS[f"{R}.mul"] = lambda x, y: (Rotation.from_quat(x) * Rotation.from_quat(y)).quat
FUNCTIONS[f"{R}.apply"] = lambda x, v, inverse=False: Rotation.from_quat(x).apply(v, inverse)
FUNCTIONS[f"{R}.concatenate"] = lambda x, y: Rotation.concatenate([Rotation.from_quat(x), Rotation.from_quat(y)]).quat
FUNCTIONS["spatial.Slerp"] = lambda times, quat, at: Slerp.init(times, Rotation.from_quat(quat))(at).quat


def cases(r):
    n = "scipy.integrate.trapezoid"
    for d in ("f32", "f64"):
        r.all_modes(n, Arg(d, (4,), "~1"))
        r.all_modes(n, Arg(d, (3, 4), "~1"), axis=0)
        r.all_modes(f"{n}_x", Arg(d, (3, 4), "~1"), Arg(d, (4,), "~d2"))
        r.all_modes(f"{n}_x", Arg(d, (3, 4), "~1"), Arg(d, (3, 4), "~d2"), axis=0)
    r.case(n, Arg("f32", (3, 4), "~1"), dx=0.5)
    r.case(n, Arg("i32", (4,), "~1"))
    r.case(n, Arg("f32", (1,), "~1"))
    r.case(n, Arg("f32", (4,), "~1"), axis=1)
    n = "scipy.cluster.vq.vq"
    for d in ("f32", "f64"):
        r.all_modes(n, Arg(d, (4, 2), "~1"), Arg(d, (3, 2), "~2"))
        r.all_modes(n, Arg(d, (4,), "~1"), Arg(d, (3,), "~2"))
    r.case(n, Arg("i32", (4, 2), "~1"), Arg("f32", (3, 2), "~2"))
    r.case(n, Arg("f32", (4, 2), "~1"), Arg("f32", (3, 3), "~2"))
    r.case(n, Arg("f32", (4, 2), "~1"), Arg("f32", (3,), "~2"))
    n = "scipy.ndimage.map_coordinates"
    for mode in ("constant", "nearest", "wrap", "mirror", "reflect"):
        for order in (0, 1):
            r.all_modes(n, Arg("f32", (4,), "~1"), Arg("f32", (5,), [-1.75, 0.25, 1.5, 3.25, 5.75]), order=order, edge=mode)
            r.all_modes(n, Arg("f32", (3, 4), "~1"), Arg("f32", (4,), "~2"), Arg("f32", (4,), "~3"), order=order, edge=mode)
            r.case(n, Arg("f64", (3, 4), "~1"), Arg("f64", (4,), "~2"), Arg("f64", (4,), "~3"), order=order, edge=mode)
            r.case(n, Arg("i32", (4,), "~1"), Arg("f32", (5,), [-1.75, 0.25, 1.5, 3.25, 5.75]), order=order, edge=mode)
    r.case(n, Arg("f32", (4,), "~1"), Arg("f32", (2,), [-1.75, 0.25]), order=1, edge="constant", cval=2.5)
    r.case(n, Arg("f32", (4,), "~1"), Arg("i32", (2,), [1, 5]), order=1, edge="nearest")
    r.case(n, Arg("f32", (4,), "~1"), Arg("f32", (2,), [1, 5]), order=2, edge="nearest")
    r.case(n, Arg("f32", (4, 2), "~1"), Arg("f32", (2,), [1, 5]), order=1, edge="nearest")
    n = "scipy.interpolate.RegularGridInterpolator"
    for method in ("linear", "nearest"):
        for d in ("f32", "f64"):
            grid, second = Arg(d, (4,), [0, 1, 2.5, 4]), Arg(d, (3,), [-1, 0, 2])
            r.all_modes(n, grid, Arg(d, (4,), "~1"), Arg(d, (3, 1), [0.25, 3, 1.5]), method=method, batch=1, grad=True)
            r.all_modes(f"{n}2", grid, second, Arg(d, (4, 3), "~1"), Arg(d, (2, 2), [0.25, 1, 3, -0.75]), method=method)
        for fill in ("nan", "none", "7.5"):
            r.case(n, Arg("f32", (4,), [0, 1, 2.5, 4]), Arg("f32", (4,), "~1"), Arg("f32", (4,), [-1, 0, 4, 5]), method=method, fill=fill)
        r.case(f"{n}2", Arg("f32", (2,), [0, 1]), Arg("f32", (3,), [0, 1, 2]), Arg("f32", (2, 3, 2), "~1"),
               Arg("f32", (2,), [0.25, 1.5]), method=method)
    r.case(n, Arg("f32", (4,), [0, 1, 2.5, 4]), Arg("i32", (4,), "~1"), Arg("f32", (2, 1), [0.5, 3]))
    r.case(f"{n}2", Arg("f32", (2,), [0, 1]), Arg("f32", (3,), [0, 1, 2]), Arg("f32", (2, 3), "~1"), Arg("f32", (1, 3), "~1"))
    n = "scipy.optimize.minimize"
    for method in ("bfgs", "lbfgs"):
        for d in ("f32", "f64"):
            r.case(n, Arg(d, (2,), "~1"), fun="quadratic", method=method)
            r.case(n, Arg(d, (4,), "~1"), fun="scaled", method=method)
            r.case(n, Arg(d, (2,), [2, -1.5]), fun="quartic", method=method)
        r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method=method)
        r.case(n, Arg("f64", (3,), [2, -1.5, 0.5]), fun="rosenbrock", method=method)
        r.case(f"{n}_counts", Arg("f64", (2,), "~1"), fun="quadratic", method=method)
        r.case(f"{n}_counts", Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method=method)
        r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method=method, maxiter=3)
        r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method=method, gtol=0.5)
        r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method=method, norm=2)
    r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method="bfgs", line_search_maxiter=2)
    r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method="lbfgs", maxcor=2)
    r.case(n, Arg("f64", (2,), [-1.5, 2]), fun="rosenbrock", method="lbfgs", maxfun=5)
    for seq in ("x", "ZY", "xyz", "XYZ", "zxz", "ZYZ"):
        k = len(seq)
        for degrees in (False, True):
            r.all_modes(f"{R}.from_euler", Arg("f32", (k,), "~1"), seq=seq, degrees=degrees, grad=not degrees)
        r.case(f"{R}.from_euler", Arg("f64", (2, k), "~1"), seq=seq)
        if k == 3:
            r.case(f"{R}.as_euler", Arg("f64", (4,), "~2"), seq=seq)
            r.case(f"{R}.as_euler", Arg("f32", (4,), "~2"), seq=seq, degrees=True)
            r.case(f"{R}.as_euler", Arg("f64", (2, 4), "~3"), seq=seq)
            r.case(f"{R}.as_euler", Arg("f32", (2, 4), [0, 0, 0, 1, 0.6, 0, 0, 0.8]), seq=seq)
    r.case(f"{R}.from_euler", Arg("f32", (3,), "~1"), seq="xxz")
    r.case(f"{R}.from_euler", Arg("f32", (3,), "~1"), seq="xYz")
    r.case(f"{R}.as_euler", Arg("f32", (4,), "~1"), seq="xy")
    for d in ("f32", "f64"):
        q = Arg(d, (4,), "~2")
        for f in ("from_mrp", "from_rotvec"):
            r.all_modes(f"{R}.{f}", Arg(d, (3,), "~1"))
        r.all_modes(f"{R}.from_matrix", Arg(d, (3, 3), [0, -1, 0, 1, 0, 0, 0, 0, 1]))
        for f in ("from_quat", "as_matrix", "as_mrp", "as_rotvec", "magnitude", "inv", "as_quat"):
            r.all_modes(f"{R}.{f}", q)
            r.case(f"{R}.{f}", Arg(d, (2, 4), "~3"))
        r.all_modes(f"{R}.mul", q, Arg(d, (4,), "~4"))
        r.all_modes(f"{R}.apply", q, Arg(d, (3,), "~4"))
        r.case(f"{R}.apply", q, Arg(d, (2, 3), "~4"), inverse=True)
        r.case(f"{R}.mean", Arg(d, (3, 4), [0, 0, 0.25, 1, 0.25, 0, 0, 1, 0, 0.5, 0, 1]))
        r.case(f"{R}.concatenate", Arg(d, (3, 4), "~3"), Arg(d, (2, 4), "~4"))
        r.all_modes("spatial.Slerp", Arg(d, (3,), [0, 1, 3]), Arg(d, (3, 4), "~3"), Arg(d, (4,), [0.25, 1, 2, 3]))
        r.case("spatial.Slerp", Arg(d, (3,), [0, 1, 3]), Arg(d, (3, 4), "~3"), Arg(d, (), [0.25]))
    for diagonal in ([1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1]):
        m = [0.0] * 9
        m[0], m[4], m[8] = diagonal
        r.case(f"{R}.from_matrix", Arg("f32", (3, 3), m))
    r.case(f"{R}.as_rotvec", Arg("f32", (4,), "~2"), degrees=True)
    r.case(f"{R}.from_rotvec", Arg("f32", (3,), "~2"), degrees=True)
    r.case(f"{R}.from_rotvec", Arg("f32", (3,), [0, 0, 0]))
    r.case(f"{R}.as_quat", Arg("f32", (2, 4), [1, 2, 3, -4, -1, 0, 0, 0]), canonical=True)
    r.case(f"{R}.as_quat", Arg("f32", (4,), "~2"), scalar_first=True)
    r.case("spatial.Slerp", Arg("f32", (2,), [0, 1]), Arg("f32", (3, 4), "~3"), Arg("f32", (), [0.25]))
