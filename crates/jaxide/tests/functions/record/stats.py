"""Distributions and statistics of `jax.scipy.stats`."""

from common import Arg, Key, Number
from jax.scipy import stats

# Shapes of the distributions, as the values of their arguments.
SHAPES = {
    "beta": ((0.5, 2), (1.5, 3)), "betabinom": ((5, 3), (0.5, 2), (1.5, 3)), "binom": ((5, 3), (0.25, 0.5)), "cauchy": (),
    "bernoulli": ((0.25, 0.5),), "chi2": ((2, 3.5),), "expon": (), "gamma": ((0.5, 2),), "gennorm": ((0.5, 2),),
    "geom": ((0.25, 0.5),), "gumbel_l": (), "gumbel_r": (), "laplace": (), "logistic": (), "nbinom": ((5, 3), (0.25, 0.5)),
    "norm": (), "pareto": ((1.5, 3),), "poisson": ((1.5, 3),), "t": ((2, 3.5),), "truncnorm": ((-1, -2), (1.5, 0.5)),
    "uniform": (), "vonmises": ((0.5, 2),), "wrapcauchy": ((0.25, 0.5),),
}
DISCRETE = ("bernoulli", "betabinom", "binom", "geom", "nbinom", "poisson")
UNPLACED = ("gennorm", "vonmises", "wrapcauchy")
# Functions whose gradient in an argument JAX refuses.
NO_GRADIENT = ("beta.cdf", "beta.logcdf", "beta.sf", "beta.logsf")

FUNCTIONS = {}
for _name in SHAPES:
    _module = getattr(stats, _name)
    for _function in dir(_module):
        if _function in "logpdf pdf logpmf pmf cdf logcdf sf logsf ppf isf entropy".split():
            FUNCTIONS[f"scipy.stats.{_name}.{_function}"] = getattr(_module, _function)


def cases(r):
    for full, function in list(FUNCTIONS.items()):
        if full.count(".") != 3 or full.split(".")[2] not in SHAPES:
            continue
        _, _, name, what = full.split(".")
        shapes = SHAPES[name]

        def args(dtype):
            return [Arg(dtype, (2,), list(values)) for values in shapes]

        first = {"ppf": [0.25, 0.75], "isf": [0.25, 0.75]}.get(what, [1, 2] if name in DISCRETE else [0.25, 1.25])
        far = {"ppf": [0, 1.5], "isf": [1, -0.5]}.get(what, [-1, 7])
        if what == "entropy":
            r.all_modes(full, Arg("f32", (4,), [0, 2.5, 20, 150]))
            r.all_modes(full, Arg("f64", (2,), [2.5, 20]))
            r.case(full, Arg("i32", (2,), [2, 20]))
            continue
        grad = full.removeprefix("scipy.stats.") not in NO_GRADIENT
        scalars = [Number(values[0]) for values in shapes]
        r.all_modes(full, Arg("f32", (2,), first), *args("f32"), grad=grad)
        r.case(full, Arg("f64", (2,), first), *args("f64"))
        r.case(full, Arg("f32", (2,), far), *args("f32"))
        # Every distribution once, with one of its functions.
        if what not in ("logpdf", "logpmf", "cdf", "ppf"):
            continue
        r.case(full, Arg("f32", (9,), [0, -0.0, 1, -1, 0.5, 3, float("inf"), float("-inf"), float("nan")]), *scalars)
        r.case(full, Arg("f32", (0,)), *scalars)
        r.case(full, Arg("i32", (2,), [1, 2]), *args("f32"))
        r.case(full, Arg("f16", (2,), first), *args("f16"))
        if name not in UNPLACED and not (name == "bernoulli" and what in ("cdf", "ppf")):
            place = [Arg("f32", (), [0.5])] if name not in DISCRETE else [Number(1)]
            if name not in DISCRETE:
                place.append(Arg("f32", (3, 1), [1.5, 2, 1]))
            r.all_modes(full, Arg("f32", (2,), first), *args("f32"), *place, grad=grad)
        r.case(full, Arg("f32", (2,), first), *args("f32"), Arg("f32", (3,), "~1"))
    S = "scipy.stats."
    for what in ("logpdf", "pdf"):
        n = f"{S}dirichlet.{what}"
        for d in ("f32", "f64"):
            r.all_modes(n, Arg(d, (3,), [0.25, 0.25, 0.5]), Arg(d, (3,), "~+1"))
            r.all_modes(n, Arg(d, (2,), [0.25, 0.25]), Arg(d, (3,), "~+1"))
        r.case(n, Arg("f32", (2, 2), [0.25, 0.25, 0.75, 0.5]), Arg("f32", (2,), "~+1"))
        r.case(n, Arg("f32", (2,), [0.25, 0.5]), Arg("f32", (2,), "~+1"))
        r.case(n, Arg("f32", (2,), [0.25, 0.5]), Arg("f32", (4,), "~+1"))
        n = f"{S}multivariate_normal.{what}"
        for d in ("f32", "f64"):
            r.all_modes(n, Arg(d, (2,), "~1"), Arg(d, (2,), "~2"), Arg(d, (2, 2), "~s3"))
            r.all_modes(n, Arg(d, (3,), "~1"), Arg(d, (), [0.5]), Arg(d, (), [1.5]))
        r.all_modes(n, Arg("f32", (3, 2), "~1"), Arg("f32", (2,), "~2"), Number(1.5))
        r.all_modes(n, Arg("f32", (3, 2), "~1"), Arg("f32", (2,), "~2"), Arg("f32", (3, 2, 2), "~s3"))
        r.case(n, Arg("f32", (2,), "~1"), Arg("f32", (2,), "~2"), Arg("f32", (3, 3), "~s3"))
        r.case(n, Arg("i32", (2,), "~1"), Arg("i32", (2,), "~2"), Arg("f32", (2, 2), "~s3"))
    for what in ("logpmf", "pmf"):
        n = f"{S}multinomial.{what}"
        for d in ("f32", "f64"):
            r.all_modes(n, Arg("i32", (3,), [1, 2, 3]), Number(6), Arg(d, (3,), [0.25, 0.25, 0.5]))
        r.case(n, Arg("i32", (2, 2), [1, 2, 3, 1]), Arg("i32", (2,), [3, 5]), Arg("f32", (2,), [0.25, 0.75]))
        r.case(n, Arg("f32", (2,), [1, 2]), Number(3), Arg("f32", (2,), [0.25, 0.75]))
    for axis in (0, 1):
        for d in ("i32", "f32", "f64"):
            r.all_modes(f"{S}mode", Arg(d, (3, 3), [1, 2, 2, 1, 1, 2, 0, 2, 1]), axis=axis, grad=False)
        r.case(f"{S}mode", Arg("f32", (3, 3), [1, 2, 2, 1, 1, 2, 0, 2, 1]), axis=axis, keepdims=True)
    r.case(f"{S}mode", Arg("f32", (2, 3), [1, 2, 2, float("nan"), float("nan"), float("nan")]), axis=1)
    r.case(f"{S}mode", Arg("i32", (2, 3), "~1"), axis=2)
    r.case("stats.mode_of_all", Arg("f32", (2, 3), [1, 2, 2, 1, 3, 1]))
    for method in ("average", "min", "max", "dense", "ordinal"):
        for d in ("i32", "f32", "f64"):
            r.all_modes(f"{S}rankdata", Arg(d, (5,), [1, 2, 2, 1, 3]), method=method, grad=False)
        r.case(f"{S}rankdata", Arg("f32", (2, 3), [1, 2, 2, 1, 3, 1]), method=method)
        r.case(f"{S}rankdata", Arg("f32", (2, 3), [1, 2, 2, 1, 3, 1]), method=method, axis=1)
    r.case(f"{S}rankdata", Arg("f32", (3,), [1, float("nan"), 2]))
    for axis in (0, 1):
        for ddof in (0, 1):
            for d in ("f32", "f64", "i32"):
                r.all_modes(f"{S}sem", Arg(d, (3, 2), "~1"), axis=axis, ddof=ddof)
    r.case(f"{S}sem", Arg("f32", (3, 2), "~1"), keepdims=True)
    r.case(f"{S}sem", Arg("f32", (3, 2), "~1"), axis=2)
    data, points = Arg("f32", (2, 6), "~1"), Arg("f32", (2, 3), "~2")
    for f in ("pdf", "logpdf"):
        r.all_modes(f"stats.kde_{f}", data, points)
        r.all_modes(f"stats.kde_{f}", Arg("f32", (6,), "~1"), Arg("f32", (3,), "~2"), bw_method="silverman")
        r.case(f"stats.kde_{f}", Arg("f64", (6,), "~1"), Arg("f64", (3,), "~2"), bw_method=0.5)
        r.case(f"stats.kde_{f}", data, Arg("f32", (2,), "~2"))
        r.case(f"stats.kde_{f}", data, Arg("f32", (3, 2), "~2"))
    r.all_modes("stats.kde_weighted", data, points, Arg("f32", (6,), "~+3"))
    r.case("stats.kde_box", Arg("f32", (6,), "~1"), low=-1, high=0.5)
    r.case("stats.kde_box", data, low=-1, high=0.5)
    r.case("stats.kde_gaussian", data, Arg("f32", (2,), "~2"), Arg("f32", (2, 2), "~s3"))
    r.case("stats.kde_gaussian", data, Arg("f32", (3,), "~2"), Arg("f32", (2, 2), "~s3"))
    r.case("stats.kde_kde", data, Arg("f32", (2, 4), "~2"))
    r.case("stats.kde_resample", data, Key(3), shape=4)


def kde(data, bw_method=None, weights=None):
    return stats.gaussian_kde(data, bw_method=bw_method, weights=weights)


FUNCTIONS["stats.mode_of_all"] = lambda x: stats.mode(x, axis=None)
FUNCTIONS["stats.kde_pdf"] = lambda data, points, **k: kde(data, **k).pdf(points)
FUNCTIONS["stats.kde_logpdf"] = lambda data, points, **k: kde(data, **k).logpdf(points)
FUNCTIONS["stats.kde_weighted"] = lambda data, points, weights: kde(data, weights=weights).pdf(points)
FUNCTIONS["stats.kde_box"] = lambda data, low, high: kde(data).integrate_box_1d(low, high)
FUNCTIONS["stats.kde_gaussian"] = lambda data, mean, cov: kde(data).integrate_gaussian(mean, cov)
FUNCTIONS["stats.kde_kde"] = lambda data, other: kde(data).integrate_kde(kde(other))
FUNCTIONS["stats.kde_resample"] = lambda data, key, shape: kde(data).resample(key, (shape,))
for _name in ("dirichlet", "multivariate_normal", "multinomial"):
    for _function in ("logpdf", "pdf", "logpmf", "pmf"):
        if hasattr(getattr(stats, _name), _function):
            FUNCTIONS[f"scipy.stats.{_name}.{_function}"] = getattr(getattr(stats, _name), _function)
for _name in ("rankdata", "sem"):
    FUNCTIONS[f"scipy.stats.{_name}"] = getattr(stats, _name)
FUNCTIONS["scipy.stats.mode"] = stats.mode
