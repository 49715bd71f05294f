"""Reductions, quantiles, histograms, sets and sorting of `jax.numpy`."""

import jax.numpy as jnp

from common import Arg, Number, corners


def with_arrays(name, *keywords):
    function = getattr(jnp, name)

    def call(x, *arrays, **parameters):
        try:
            return function(x, **dict(zip(keywords, arrays)), **parameters)
        except RuntimeError as error:
            raise ValueError(str(error)) from error

    return call


FUNCTIONS = {"numpy.lexsort": lambda *keys, **k: jnp.lexsort(keys, **k)}
for _name in "sum prod max min amax amin all any mean var std nansum nanprod nanmax nanmin nanmean nanvar nanstd minmax".split():
    FUNCTIONS[f"numpy.{_name}+where"] = with_arrays(_name, "where")
    FUNCTIONS[f"numpy.{_name}+initial"] = with_arrays(_name, "initial")
    FUNCTIONS[f"numpy.{_name}+initial+where"] = with_arrays(_name, "initial", "where")
    FUNCTIONS[f"numpy.{_name}+mean"] = with_arrays(_name, "mean")
for _name in ("average", "bincount", "histogram", "histogram_bin_edges"):
    FUNCTIONS[f"numpy.{_name}+weights"] = with_arrays(_name, "weights")
for _name in ("quantile", "nanquantile", "percentile", "nanpercentile"):
    FUNCTIONS[f"numpy.{_name}+weights"] = lambda x, q, w, _name=_name, **k: getattr(jnp, _name)(x, q, weights=w, **k)
FUNCTIONS["numpy.histogram+bins"] = with_arrays("histogram", "bins")
FUNCTIONS["numpy.histogram+range"] = lambda x, r, **k: jnp.histogram(x, range=r, **k)
FUNCTIONS["numpy.histogramdd"] = lambda x, *bins, **k: jnp.histogramdd(x, list(bins), **k)
FUNCTIONS["numpy.histogramdd+weights"] = lambda x, w, **k: jnp.histogramdd(x, 3, weights=w, **k)
FUNCTIONS["numpy.histogram2d"] = lambda x, y, **k: jnp.histogram2d(x, y, **k)
FUNCTIONS["numpy.average+returned"] = lambda x, w, **k: jnp.average(x, weights=w, returned=True, **k)
FUNCTIONS["numpy.cov+y"] = lambda m, y, **k: jnp.cov(m, y, **k)
FUNCTIONS["numpy.corrcoef+y"] = lambda m, y, **k: jnp.corrcoef(m, y, **k)
FUNCTIONS["numpy.cov+fweights"] = with_arrays("cov", "fweights")
FUNCTIONS["numpy.cov+aweights"] = with_arrays("cov", "aweights")
FUNCTIONS["numpy.cov+both"] = with_arrays("cov", "fweights", "aweights")
FUNCTIONS["numpy.unique_returning"] = lambda x, **k: jnp.unique(
    x, return_index=True, return_inverse=True, return_counts=True, **k)
FUNCTIONS["numpy.intersect1d_indices"] = lambda x, y, **k: jnp.intersect1d(x, y, return_indices=True, **k)
FUNCTIONS["numpy.top_k+smallest"] = lambda x, k, **p: jnp.top_k(x, k, mode="smallest", **p)
FUNCTIONS["numpy.top_k"] = lambda x, k, **p: jnp.top_k(x, k, **p)
FUNCTIONS["numpy.sort+flat"] = lambda x, **k: jnp.sort(x, axis=None, **k)
FUNCTIONS["numpy.argsort+flat"] = lambda x, **k: jnp.argsort(x, axis=None, **k)

SMALL = Arg("f32", (2, 3), "~1")
UNDEFINED = Arg("f32", (2, 3), [1.0, float("nan"), 2.5, -1.0, float("nan"), float("nan")])
MASK = Arg("bool", (2, 3), [True, False, True, True, True, False])


def folds(r):
    for name in "sum prod max min all any mean var std amax amin ptp count_nonzero median nanmedian".split():
        full = "numpy." + name
        grad = name not in ("all", "any", "count_nonzero")
        r.all_modes(full, SMALL, grad=grad)
        r.all_modes(full, SMALL, axis=0, grad=grad)
        r.all_modes(full, Arg("f32", (2, 2, 3), "~2"), axis=(0, -1), keepdims=True, grad=grad)
        for dtype in ("bool", "i8", "u16", "i32", "u64", "i64", "f16", "bf16", "f64", "c64"):
            r.case(full, Arg(dtype, (2, 3), "~3"), axis=1)
        r.case(full, corners("f32"))
        r.case(full, Arg("f32", (0, 2)), axis=0)
        r.case(full, Arg("f32", (0, 2)), axis=1)
        r.case(full, Arg("f32", (0,)))
        r.case(full, Arg("f32", ()))
        r.case(full, SMALL, axis=2)
        r.case(full, SMALL, axis=(0, 0))
    for name in "sum prod mean nansum nanprod nanmean var std nanvar nanstd".split():
        full = "numpy." + name
        r.all_modes(full, Arg("i32", (2, 3), "~4"), dtype="f32", axis=0)
        r.case(full, Arg("f32", (2, 3), "~4"), dtype="f16")
        r.case(full, Arg("f16", (2, 3), "~4"), dtype="f64")
        r.case(full, Arg("f32", (2, 3), "~4"), dtype="i32")
        r.case(full, Arg("c64", (3,), "~4"), dtype="f32")
    for name in ("sum", "prod"):
        full = "numpy." + name
        r.case(full, Arg("f32", (2, 3), 0), dtype="bool", axis=1)
        r.case(full, Arg("i8", (2, 3), "~1"), promote_integers=False)
    for name in "sum prod max min amax amin nansum nanprod nanmax nanmin".split():
        full = "numpy." + name
        r.all_modes(full + "+initial", SMALL, Number(0.5), axis=0)
        r.all_modes(full + "+initial+where", SMALL, Number(2), MASK, axis=1)
        r.case(full + "+initial", Arg("f32", (0, 2)), Number(1.5), axis=0)
        r.case(full + "+initial", Arg("i16", (2, 3), "~1"), Number(3))
        r.case(full + "+initial", SMALL, Arg("f32", (2,)))
    for name in "sum prod max all any mean var std nansum nanmean nanvar nanstd".split():
        full = "numpy." + name
        r.all_modes(full + "+where", SMALL, MASK, grad=name not in ("all", "any"))
        r.case(full + "+where", SMALL, Arg("bool", (3,), [True, False, True]), axis=1)
        r.case(full + "+where", Arg("i32", (2, 3), "~1"), MASK, axis=0, keepdims=True)
        r.case(full + "+where", SMALL, Arg("i32", (2, 3), "~1"))
    for name in "nansum nanprod nanmax nanmin nanmean nanvar nanstd nanmedian nanargmax nanargmin".split():
        full = "numpy." + name
        grad = not name.startswith("nanarg")
        r.case(full, UNDEFINED)
        r.all_modes(full, UNDEFINED, axis=1, grad=grad and name != "nanstd")
        r.case(full, UNDEFINED, axis=0, keepdims=True)
        r.all_modes(full, SMALL, axis=0, grad=grad)
        for dtype in ("bool", "i32", "u8", "f16", "f64"):
            r.case(full, Arg(dtype, (2, 3), "~3"), axis=1)
        r.case(full, Arg("f32", (0, 2)), axis=0)
        r.case(full, Arg("c64", (3,), "~3"))
    for name in "var std nanvar nanstd".split():
        full = "numpy." + name
        r.all_modes(full, SMALL, ddof=1, axis=1)
        r.case(full, SMALL, ddof=3, axis=1)
        r.case(full, SMALL, ddof=4, axis=1)
        r.all_modes(full + "+mean", SMALL, Arg("f32", (2, 1), "~2"), axis=1)
    for name in "var std".split():
        r.all_modes("numpy." + name, SMALL, correction=1)
        r.case("numpy." + name, SMALL, correction=1, ddof=1)
    for name in "argmax argmin".split():
        full = "numpy." + name
        r.all_modes(full, SMALL, grad=False)
        r.all_modes(full, SMALL, axis=-1, keepdims=True, grad=False)
        for dtype in ("bool", "i8", "u32", "i64", "bf16", "f64", "c64"):
            r.case(full, Arg(dtype, (2, 3), "~5"), axis=0)
        r.case(full, UNDEFINED, axis=1)
        r.case(full, SMALL, keepdims=True)
        r.case(full, Arg("f32", (0,)))
        r.case(full, Arg("f32", (2, 0)), axis=0)
        r.case(full, SMALL, axis=2)
    r.all_modes("numpy.minmax", SMALL, grad=False)
    r.case("numpy.minmax", Arg("i32", (2, 3), "~1"), axis=1, keepdims=True)
    r.case("numpy.minmax+initial", SMALL, Number(0.5), axis=0)
    r.case("numpy.minmax+initial+where", SMALL, Number(0.5), MASK, axis=0)
    r.case("numpy.minmax", Arg("f32", (0,)))
    for name in "cumsum cumprod nancumsum nancumprod".split():
        full = "numpy." + name
        r.all_modes(full, SMALL)
        r.all_modes(full, SMALL, axis=1)
        r.case(full, UNDEFINED, axis=-1)
        for dtype in ("bool", "i8", "u16", "i64", "f16", "c64"):
            r.case(full, Arg(dtype, (2, 3), "~3"), axis=0)
        r.case(full, Arg("i8", (3,), "~1"), dtype="f32")
        r.case(full, Arg("f32", (3,), "~1"), dtype="i32")
        r.case(full, Arg("f32", (4,)), dtype="bool")
        r.case(full, Arg("f32", (0, 2)), axis=0)
        r.case(full, Arg("f32", (), "~1"))
        r.case(full, SMALL, axis=2)
    for name in "cumulative_sum cumulative_prod".split():
        full = "numpy." + name
        r.all_modes(full, Arg("f32", (4,), "~1"))
        r.all_modes(full, SMALL, axis=1, include_initial=True)
        r.case(full, Arg("i8", (4,), "~1"), include_initial=True)
        r.case(full, Arg("i8", (4,), "~1"), dtype="f32")
        r.case(full, SMALL)
        r.case(full, Arg("f32", ()))
    r.all_modes("numpy.average", SMALL)
    r.all_modes("numpy.average", SMALL, axis=1, keepdims=True)
    r.case("numpy.average", Arg("i32", (2, 3), "~1"), axis=0)
    r.all_modes("numpy.average+weights", SMALL, Arg("f32", (2, 3), "~+1"))
    r.all_modes("numpy.average+weights", SMALL, Arg("f32", (3,), "~+1"), axis=1)
    r.case("numpy.average+weights", Arg("i32", (2, 3), "~1"), Arg("i32", (2,), "~+1"), axis=0, keepdims=True)
    r.case("numpy.average+weights", Arg("f32", (2, 3, 4), "~1"), Arg("f32", (4, 2), "~+1"), axis=(2, 0))
    r.case("numpy.average+weights", SMALL, Arg("f32", (3,), "~+1"))
    r.case("numpy.average+weights", SMALL, Arg("f32", (2,), "~+1"), axis=1)
    r.all_modes("numpy.average+returned", SMALL, Arg("f32", (3,), "~+1"), axis=1)


def quantiles(r):
    scalar, several = Arg("f32", (), [0.3]), Arg("f32", (3,), [0.0, 0.5, 0.9])
    for name in "quantile nanquantile percentile nanpercentile".split():
        full = "numpy." + name
        hundred = "percentile" in name
        q, qs = (Arg("f32", (), [30]), Arg("f32", (3,), [0, 50, 90])) if hundred else (scalar, several)
        x = Arg("f32", (3, 4), "~d1")
        for method in "linear lower higher midpoint nearest inverted_cdf".split():
            r.all_modes(full, x, q, method=method, axis=0, grad=method != "inverted_cdf")
            r.case(full, x, qs, method=method, axis=1, keepdims=True)
        r.all_modes(full, x, qs, grad=False)
        r.case(full, x, qs, keepdims=True)
        r.case(full, Arg("f32", (2, 3, 4), "~d2"), qs, axis=(0, 2))
        r.case(full, Arg("f32", (2, 3, 4), "~d2"), q, axis=(0, 2), keepdims=True)
        r.case(full, x, Number(30 if hundred else 0.25), axis=0)
        r.case(full, UNDEFINED, qs, axis=1)
        r.case(full, UNDEFINED, q)
        for dtype in ("i32", "bool", "f16", "f64"):
            r.case(full, Arg(dtype, (5,), "~3"), Number(40 if hundred else 0.4))
        r.case(full, Arg("f32", (0,)), q)
        r.case(full, Arg("f32", (0, 2)), q, axis=0)
        r.case(full, Arg("c64", (3,), "~1"), q)
        r.case(full, x, Arg("f32", (1, 1), [0.5]))
        r.case(full + "+weights", x, q, Arg("f32", (3, 4), "~+1"), method="inverted_cdf", axis=1)
        r.case(full + "+weights", x, qs, Arg("f32", (3,), "~+1"), method="inverted_cdf", axis=0)
        r.case(full + "+weights", x, qs, Arg("f32", (3, 4), "~+1"), method="inverted_cdf")
        r.case(full + "+weights", x, q, Arg("f32", (3, 4), "~+1"))


def counting(r):
    x = Arg("f32", (10,), "~1")
    r.case("numpy.histogram_bin_edges", x)
    r.case("numpy.histogram_bin_edges", x, bins=4)
    r.case("numpy.histogram_bin_edges", Arg("i32", (5,), "~1"), bins=3)
    r.case("numpy.histogram_bin_edges", Arg("f32", (3,), [2, 2, 2]), bins=2)
    r.case("numpy.histogram_bin_edges", Arg("f32", (0,)), bins=2)
    r.all_modes("numpy.histogram", x, bins=4, grad=False)
    r.case("numpy.histogram", x)
    r.case("numpy.histogram", x, bins=4, density=True)
    r.case("numpy.histogram", Arg("i32", (2, 5), "~1"), bins=3)
    r.case("numpy.histogram", Arg("f32", (0,)), bins=3)
    r.case("numpy.histogram+bins", x, Arg("f32", (4,), [-1, 0, 0.5, 2]))
    r.case("numpy.histogram+range", x, Arg("f32", (2,), [-1, 1]), bins=4)
    r.all_modes("numpy.histogram+weights", x, Arg("f32", (10,), "~2"), bins=4, grad=False)
    r.case("numpy.histogram+weights", x, Arg("f32", (9,), "~2"), bins=4)
    r.case("numpy.histogram2d", x, Arg("f32", (10,), "~2"), bins=3)
    r.case("numpy.histogram2d", x, Arg("f32", (10,), "~2"), bins=3, density=True)
    r.case("numpy.histogram2d", x, Arg("f32", (9,), "~2"), bins=3)
    r.case("numpy.histogramdd", Arg("f32", (8, 2), "~1"), Number(2), Number(3))
    r.case("numpy.histogramdd", Arg("f64", (8, 2), "~1"), Number(2), Number(3))
    r.case("numpy.histogramdd", Arg("f32", (8, 2), "~1"), Number(2), Arg("f32", (3,), [-1, 0, 1]))
    r.case("numpy.histogramdd", Arg("f32", (8, 2), "~1"), Number(2))
    r.case("numpy.histogramdd+weights", Arg("f32", (8, 2), "~1"), Arg("f32", (8,), "~+1"), density=True)
    numbers = Arg("i32", (7,), [0, 2, 2, 5, 1, -3, 2])
    r.case("numpy.bincount", numbers)
    r.case("numpy.bincount", numbers, minlength=8)
    r.all_modes("numpy.bincount", numbers, length=4)
    r.all_modes("numpy.bincount+weights", numbers, Arg("f32", (7,), "~1"), length=6)
    r.case("numpy.bincount", Arg("i64", (3,), "~+1"), length=4)
    r.case("numpy.bincount", Arg("bool", (3,), "~1"))
    r.case("numpy.bincount", Arg("i32", (0,)))
    r.case("numpy.bincount", Arg("i32", (2, 2)))
    r.case("numpy.bincount", Arg("f32", (2,)))
    for name in ("cov", "corrcoef"):
        full = "numpy." + name
        r.all_modes(full, Arg("f32", (2, 5), "~1"))
        r.case(full, Arg("f32", (5,), "~1"))
        r.case(full, Arg("f32", (5, 2), "~1"), rowvar=False)
        r.case(full, Arg("i32", (2, 5), "~1"))
        r.case(full, Arg("c64", (2, 4), "~1"))
        r.case(full, Arg("f64", (2, 4), "~1"))
        r.case(full, Arg("f32", (2, 4), "~1"), dtype="f16")
        r.case(full, Arg("f32", (2, 4, 1), "~1"))
        r.case(full, Arg("f32", (2, 4), "~1"), dtype="i32")
        r.all_modes(full + "+y", Arg("f32", (2, 5), "~1"), Arg("f32", (5,), "~2"))
    r.case("numpy.cov", Arg("f32", (2, 5), "~1"), bias=True)
    r.case("numpy.cov", Arg("f32", (2, 5), "~1"), ddof=2)
    r.case("numpy.cov", Arg("f32", (0, 5)))
    r.case("numpy.cov", Arg("f32", (2, 0)))
    r.case("numpy.cov+fweights", Arg("f32", (2, 5), "~1"), Arg("i32", (5,), "~+1"))
    r.all_modes("numpy.cov+aweights", Arg("f32", (2, 5), "~1"), Arg("f32", (5,), "~+1"))
    r.case("numpy.cov+both", Arg("f32", (2, 5), "~1"), Arg("i32", (5,), "~+1"), Arg("f32", (5,), "~+2"))
    r.case("numpy.cov+both", Arg("f32", (2, 5), "~1"), Arg("i32", (5,), "~+1"), Arg("f32", (5,), "~+2"), ddof=0)
    r.case("numpy.cov+fweights", Arg("f32", (2, 5), "~1"), Arg("f32", (5,), "~+1"))
    r.case("numpy.cov+aweights", Arg("f32", (2, 5), "~1"), Arg("f32", (4,), "~+1"))


def sets(r):
    x = Arg("i32", (6,), [3, 1, 3, 2, 1, 1])
    floats = Arg("f32", (6,), [1.5, float("nan"), -0.0, 0.0, float("nan"), 1.5])
    for name in "unique unique_returning unique_all unique_counts unique_inverse unique_values".split():
        full = "numpy." + name
        r.case(full, x)
        r.all_modes(full, x, size=4)
        r.case(full, x, size=4, fill_value=-1)
        r.case(full, x, size=2)
        r.case(full, floats)
        r.case(full, floats, size=5)
        r.case(full, Arg("i64", (2, 3), "~1"), size=6)
        r.case(full, Arg("bool", (4,), "~1"))
        r.case(full, Arg("c64", (6,), 9), size=6)
        r.case(full, Arg("f32", (0,)))
        r.case(full, Arg("f32", (0,)), size=2)
        r.case(full, Arg("f32", (0,)), size=2, fill_value=7)
    for name in "unique unique_returning".split():
        full = "numpy." + name
        rows = Arg("i32", (4, 2), [1, 2, 0, 1, 1, 2, 0, 2])
        r.case(full, rows, axis=0)
        r.case(full, rows, axis=1)
        r.case(full, rows, axis=0, size=4, fill_value=9)
        r.case(full, rows, axis=-1, size=1)
        r.case(full, floats, equal_nan=False)
        r.case(full, rows, axis=2)
    other = Arg("i32", (4,), [2, 5, 1, 2])
    for name in "union1d setdiff1d setxor1d intersect1d intersect1d_indices".split():
        full = "numpy." + name
        r.case(full, x, other)
        r.all_modes(full, x, other, size=5)
        r.case(full, x, other, size=7, fill_value=-2)
        r.case(full, x, other, size=1)
        r.case(full, Arg("f32", (3,), "~1"), Arg("i32", (2,), "~1"), size=4)
        r.case(full, Arg("i64", (2, 2), "~1"), Arg("i64", (3,), "~1"), size=3)
        r.case(full, Arg("i32", (0,)), other)
        if name != "union1d":
            r.case(full, Arg("i32", (3,), [4, 1, 2]), Arg("i32", (3,), [2, 4, 7]), assume_unique=True)
            r.case(full, Arg("i32", (3,), [4, 1, 2]), Arg("i32", (3,), [2, 4, 7]), assume_unique=True, size=4)
    for method in (None, "compare_all", "binary_search"):
        r.all_modes("numpy.isin", Arg("i32", (2, 3), "~1"), other, method=method)
        r.case("numpy.isin", Arg("i32", (2, 3), "~1"), other, invert=True, method=method)
        r.case("numpy.isin", Arg("f32", (4,), [1.0, 2.5, float("nan"), 5.0]), other, method=method)
    r.case("numpy.isin", Arg("i32", (3,)), Arg("i32", (0,)))
    r.case("numpy.isin", Arg("i32", (3,)), Arg("i32", (0,)), invert=True)
    r.case("numpy.isin", Arg("i32", ()), other, assume_unique=True)


def ordering(r):
    for name in ("sort", "argsort"):
        full = "numpy." + name
        grad = name == "sort"
        r.all_modes(full, Arg("f32", (2, 4), "~d1"), grad=grad)
        r.all_modes(full, Arg("f32", (3, 2), "~d1"), axis=0, grad=grad)
        r.all_modes(full, Arg("i32", (6,), "~1"), descending=True)
        r.case(full, Arg("i32", (6,), "~1"), stable=False)
        r.case(full, Arg("i32", (6,), "~1"), stable=False, descending=True)
        r.case(full + "+flat", Arg("i32", (2, 3), "~1"))
        r.case(full, corners("f32"))
        for dtype in ("bool", "u8", "i64", "bf16", "c64"):
            r.case(full, Arg(dtype, (2, 4), "~2"))
        r.case(full, Arg("f32", (0, 2)), axis=0)
        r.case(full, Arg("f32", (2,)), axis=1)
        r.case(full, Arg("f32", ()))
    r.case("numpy.argsort", Arg("i32", (4,), "~1"), dtype="i16")
    r.all_modes("numpy.sort_complex", Arg("c64", (4,), "~1"))
    r.case("numpy.sort_complex", Arg("f32", (2, 3), "~1"))
    r.case("numpy.sort_complex", Arg("i32", (3,), "~1"))
    a, b = Arg("i32", (5,), [1, 2, 1, 0, 2]), Arg("i32", (5,), [3, 1, 2, 0, 1])
    r.all_modes("numpy.lexsort", a, b)
    r.case("numpy.lexsort", a)
    r.case("numpy.lexsort", Arg("f32", (2, 3), "~1"), Arg("i32", (2, 3), "~1"), axis=0)
    r.case("numpy.lexsort", a, Arg("i32", (4,)))
    r.case("numpy.lexsort", Arg("i32", ()))
    r.case("numpy.lexsort")
    for name in ("partition", "argpartition"):
        full = "numpy." + name
        for kth in (0, 2, -1):
            r.all_modes(full, Arg("f32", (2, 5), "~d1"), kth=kth, grad=name == "partition")
        r.case(full, Arg("i32", (4, 2), "~1"), kth=1, axis=0)
        r.case(full, Arg("u16", (2, 2, 5), "~1"), kth=-2, axis=-2)
        r.case(full, Arg("u8", (6,), "~1"), kth=3)
        for dtype in ("bf16", "f16"):
            r.case(full, Arg(dtype, (4,), [float("nan"), 0.0, 1.0, -2.0]), kth=2)
            r.case(full, Arg(dtype, (40,), 0), kth=-4)
        r.case(full, Arg("f32", (3,), "~1"), kth=3)
        r.case(full, Arg("c64", (3,), "~1"), kth=1)
    for k in (0, 2, 4):
        r.all_modes("numpy.top_k", Arg("f32", (2, 4), "~d1"), k=k, grad=k == 2)
        r.case("numpy.top_k", Arg("i32", (4, 2), "~d1"), k=k, axis=0)
        r.case("numpy.top_k+smallest", Arg("i32", (4,), "~d1"), k=k)
    r.case("numpy.top_k", Arg("f32", (4,), "~d1"), k=5)
    r.case("numpy.top_k", Arg("c64", (4,), "~1"), k=2)


def cases(r):
    folds(r)
    quantiles(r)
    counting(r)
    sets(r)
    ordering(r)
    # A case may be asked for twice by the lists.
    r.lines[:] = dict.fromkeys(r.lines)
