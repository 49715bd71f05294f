"""Random numbers: keys, samplers with all their arguments, orders and choices."""

import jax
from common import Arg, Key, Number

R = jax.random

# The argument `mode` is `bits` here, since `mode` of a case is another thing.
FUNCTIONS = {
    "random.uniform": lambda key, low=0.0, high=1.0, **other: R.uniform(key, minval=low, maxval=high, **other),
    "random.randint": lambda key, low, high, **other: R.randint(key, minval=low, maxval=high, **other),
    "random.bernoulli": lambda key, *p, bits="low", **other: R.bernoulli(key, *p, mode=bits, **other),
    "random.ball": lambda key, p, **other: R.ball(key, p=p, **other),
    "random.choice": lambda key, a, p=None, bits=None, **other: R.choice(key, a, p=p, mode=bits, **other),
    "random.categorical": lambda key, logits, bits=None, **other: R.categorical(key, logits, mode=bits, **other),
    "random.gumbel": lambda key, bits=None, **other: R.gumbel(key, mode=bits, **other),
}

A = Key(7)
UNIT = lambda dtype, *shape: Arg(dtype, shape, "~u3")
PLUS = lambda dtype, *shape: Arg(dtype, shape, "~+4")
ANY = lambda dtype, *shape: Arg(dtype, shape, "~5")


def cases(r):
    keys(r)
    samplers(r)
    parameters(r)
    counted(r)
    orders(r)
    vectors(r)


def keys(r):
    r.case("random.key", Number(3))
    r.case("random.key", Arg("u32", (), [4000000000]))
    r.case("random.key", Number(-1))
    r.case("random.key", Number(1.5))
    r.case("random.PRNGKey", Number(5))
    for impl in ("rbg", "unsafe_rbg", "threefry2x32"):
        r.case("random.key", Number(11), impl=impl)
        r.case("random.PRNGKey", Arg("i32", (), [12]), impl=impl)
    r.case("random.wrap_key_data", Arg("u32", (2,), [1, 2]))
    r.case("random.wrap_key_data", Arg("u32", (2, 2), [1, 2, 3, 4]))
    r.case("random.wrap_key_data", Arg("u32", (4,), [1, 2, 3, 4]), impl="rbg")
    r.case("random.wrap_key_data", Arg("u32", (3,), [1, 2, 3]))
    r.case("random.key_data", Key(1, 3))
    r.all_modes("random.key_data", A)
    r.all_modes("random.clone", A)
    r.case("random.clone", Key(2, 3))
    for num in (2, 3, (2, 2), 0, ()):
        r.all_modes("random.split", A, num=num)
    r.case("random.split", Key(1, 2))
    r.case("random.split", Arg("u32", (2,), [1, 2]))
    for data in (Number(0), Number(7), Arg("u32", (), [3]), Arg("i32", (), [5])):
        r.all_modes("random.fold_in", A, data)
    r.case("random.fold_in", A, Arg("i32", (2,), [1, 2]))
    r.case("random.fold_in", A, Number(1.5))
    r.case("random.fold_in", Key(1, 2), Number(1))
    r.case("random.fold_in", Arg("u32", (2,), [1, 2]), Number(1))
    for dtype in ("u8", "u16", "u32", "u64"):
        r.all_modes("random.bits", A, shape=(2, 3), dtype=dtype)
    r.case("random.bits", A, shape=(), dtype="u32")
    r.case("random.bits", A, shape=(0, 2), dtype="u16")
    r.case("random.bits", A, shape=(2,), dtype="i32")
    r.case("random.bits", Key(1, 2), shape=(2,), dtype="u32")
    r.case("random.bits", Arg("u32", (2,), [1, 2]), shape=(3,), dtype="u32")


def samplers(r):
    """Without parameters."""
    for name in ("uniform", "normal", "exponential", "laplace", "logistic", "gumbel", "cauchy", "maxwell"):
        name = "random." + name
        for dtype in ("f16", "bf16", "f64"):
            r.case(name, A, shape=(5,), dtype=dtype)
        r.case(name, A, shape=(), dtype="f32")
        r.case(name, A, shape=(2, 0), dtype="f32")
        r.case(name, Key(3, 2), mode="vmap", shape=(2,), dtype="f32")
        r.case(name, A, shape=(2,), dtype="i32")
        r.case(name, Key(3, 2), shape=(2,), dtype="f32")
    r.case("random.normal", Arg("u32", (2,), [1, 2]), shape=(3,), dtype="f32")
    r.case("random.normal", A, shape=(2, 2), dtype="c64")
    r.case("random.normal", A, shape=(2, 2), dtype="c128")
    r.all_modes("random.uniform", A, ANY("f32", 3), ANY("f32", 2, 1), shape=(2, 3), dtype="f32")
    r.case("random.uniform", A, Number(-2), Number(5), shape=(4,), dtype="f32")
    r.case("random.uniform", A, Number(1.0), Number(0.0), shape=(4,), dtype="f32")
    r.case("random.uniform", A, ANY("f32", 3), Number(2.0), shape=(2,), dtype="f32")
    for bits in ("low", "high", "highest"):
        for dtype in ("f32", "f16", "f64"):
            r.case("random.gumbel", A, shape=(4,), dtype=dtype, bits=bits)
    r.case("random.gumbel", A, shape=(2, 2), dtype="f32", bits="highest")


def parameters(r):
    """Distributions with parameters that are floats."""
    one = {
        "chisquare": 1, "gamma": 1, "loggamma": 1, "pareto": 1, "rayleigh": 1, "t": 1, "wald": 1, "lognormal": 1,
        "beta": 2, "f": 2,
    }
    for name, count in one.items():
        name = "random." + name
        arrays = lambda dtype, *shape: [PLUS(dtype, *shape), Arg(dtype, shape, "~+9")][:count]
        r.all_modes(name, A, *arrays("f32", 3), shape=(2, 3))
        r.case(name, A, *arrays("f32", 0))
        r.case(name, A, *arrays("f64", 2), dtype="f64")
        r.case(name, A, *arrays("i32", 2))
        r.case(name, A, *arrays("f32", 3), shape=(2,))
        r.case(name, A, *arrays("f32", 3), dtype="i32")
        r.case(name, A, *arrays("f64", 2), dtype="f32")
        if name not in ("random.rayleigh", "random.wald"):
            r.case(name, A, *[Number(2.5)] * count, shape=(4,))
        if name.removeprefix("random.") in ("chisquare", "gamma", "loggamma", "beta"):
            r.all_modes(name, A, *arrays("f32", 3), shape=(2, 3), method="approximate")
            r.case(name, A, *arrays("f16", 3), dtype="f16", method="approximate")
    for name in ("gamma", "loggamma"):
        name = "random." + name
        r.all_modes(name, A, Arg("f32", (6,), [0.001, 0.1, 0.5, 1.0, 5.0, 1000.0]))
        r.case(name, A, UNIT("f32", 2), shape=())
    r.case("random.lognormal", A, Number(1.0), shape=(2,), dtype="c64")
    for shape in (None, (2,), (4, 2)):
        r.all_modes("random.dirichlet", A, PLUS("f32", 3) if shape != (4, 2) else PLUS("f32", 2, 3), shape=shape)
    r.case("random.dirichlet", A, PLUS("f32"))
    r.case("random.dirichlet", A, PLUS("f32", 2, 3), shape=(3,))
    r.case("random.dirichlet", A, PLUS("f64", 3), dtype="f64")
    for name in ("double_sided_maxwell", "weibull_min"):
        name = "random." + name
        r.all_modes(name, A, PLUS("f32", 3), PLUS("f32", 3), shape=(2, 3) if "weib" in name else (2,))
        r.all_modes(name, A, PLUS("f32"), PLUS("f32"), shape=(3,))
        r.case(name, A, Number(1.5), Number(2.5), shape=(4,))
        r.case(name, A, Number(1.5), Number(2.5), shape=(0,))
        r.case(name, A, PLUS("f64", 2), PLUS("f64", 2), dtype="f64", shape=(2,))
        r.case(name, A, PLUS("f32", 2), PLUS("f32", 3), shape=(2,))
    r.case("random.double_sided_maxwell", A, PLUS("f32", 2), PLUS("f32", 2))
    for p in (Number(2), PLUS("f32"), PLUS("f32", 3)):
        r.all_modes("random.generalized_normal", A, p, shape=(2, 3))
    r.case("random.generalized_normal", A, PLUS("f32", 2), shape=(2, 3))
    r.case("random.generalized_normal", A, PLUS("f64"), shape=(2,), dtype="f64")
    for p in (Number(2), PLUS("f32")):
        r.all_modes("random.ball", A, p, d=3, shape=(2,))
    r.case("random.ball", A, Number(2), d=2)
    r.case("random.ball", A, Number(2), d=2, shape=(0,))
    r.all_modes("random.triangular", A, Number(-1.0), UNIT("f32", 3), PLUS("f32", 2, 1))
    r.all_modes("random.triangular", A, Number(0.0), Number(0.25), Number(2), shape=(3,))
    r.case("random.triangular", A, UNIT("f64"), UNIT("f64"), Number(2), shape=(3,), dtype="f64")
    r.case("random.triangular", A, Number(0.0), UNIT("f32", 3), Number(2), shape=(2,))
    r.all_modes("random.truncated_normal", A, Number(-1.0), PLUS("f32", 3))
    r.all_modes("random.truncated_normal", A, Arg("f32", (2, 1), [-2.0, 0.0]), PLUS("f32", 3), shape=(2, 3))
    for dtype in ("f16", "bf16", "f64"):
        r.case("random.truncated_normal", A, Number(-0.5), Number(0.5), shape=(4,), dtype=dtype)
    r.case("random.truncated_normal", A, Number(-2), Number(2), shape=(3,))
    r.case("random.truncated_normal", A, Number(-1.0), PLUS("f32", 3), shape=(2,))
    r.case("random.truncated_normal", A, Number(-1.0), Number(1.0), shape=(2,), dtype="i32")


def counted(r):
    """Truth values and integers."""
    for bits in ("low", "high"):
        r.case("random.bernoulli", A, UNIT("f32", 6), bits=bits)
    r.case("random.bernoulli", A)
    r.case("random.bernoulli", A, Number(0.25), shape=(2, 5))
    r.case("random.bernoulli", Key(5, 2), Number(0.25), shape=(4,), mode="vmap")
    r.case("random.bernoulli", A, UNIT("f64", 3), shape=(2, 3))
    r.case("random.bernoulli", A, UNIT("f16", 3))
    r.case("random.bernoulli", A, Number(1), shape=(3,))
    r.case("random.bernoulli", A, UNIT("f32", 3), shape=(2,))
    for dtype in ("i8", "i32", "f32", "i64", "c64"):
        r.all_modes("random.rademacher", A, shape=(5,), dtype=dtype)
    r.case("random.rademacher", A, shape=(0,), dtype="i32")
    for dtype in ("i8", "u8", "i16", "u16", "i32", "u32", "i64", "u64"):
        r.all_modes("random.randint", A, Number(3), Number(100), shape=(4,), dtype=dtype)
    r.case("random.randint", A, Number(-300), Number(300), shape=(6,), dtype="i8")
    r.case("random.randint", A, Number(0), Number(256), shape=(6,), dtype="u8")
    r.case("random.randint", A, Number(5), Number(5), shape=(3,), dtype="i32")
    r.all_modes("random.randint", A, Arg("i32", (3,), [0, -5, 7]), Arg("i32", (2, 1), [9, 1]), shape=(2, 3), dtype="i32")
    r.case("random.randint", A, Arg("u32", (), [7]), Arg("i8", (), [100]), shape=(3,), dtype="i32")
    r.case("random.randint", A, Number(0), Arg("i32", (3,), [1, 2, 3]), shape=(2,), dtype="i32")
    r.case("random.randint", A, Number(0), Number(5), shape=(2,), dtype="f32")
    r.all_modes("random.geometric", A, UNIT("f32", 4))
    r.all_modes("random.geometric", A, UNIT("f32", 2, 1), shape=(2, 3))
    r.case("random.geometric", A, Number(0.25), shape=(5,), dtype="i16")
    r.case("random.geometric", A, Number(0.25), shape=(5,), dtype="f32")
    r.case("random.geometric", A, UNIT("f64", 2), dtype="i64")
    r.all_modes("random.poisson", A, Arg("f32", (5,), [0.0, 0.5, 3.0, 9.75, 40.0]))
    r.all_modes("random.poisson", A, Arg("f32", (2,), [2.0, 1000.0]), shape=(3, 2))
    r.all_modes("random.poisson", A, Arg("f32", (5,), [0.0, 0.5, 3.0, 9.75, 40.0]), method="approximate")
    r.case("random.poisson", A, Arg("f32", (2,), [2.0, 1000.0]), shape=(3, 2), method="approximate")
    r.case("random.poisson", A, Number(2.5), shape=(4,))
    r.case("random.poisson", A, Number(3), shape=(4,), dtype="i8")
    r.case("random.poisson", A, Number(3.0), shape=(), dtype="i32")
    r.case("random.poisson", A, Arg("f32", (2,), ["nan", 1.0]))
    r.case("random.poisson", A, PLUS("f32", 3), shape=(2,))
    n, p = Arg("f32", (5,), [0, 3, 10, 50, 1000]), Arg("f32", (5,), [0.5, 0.25, 0.75, 0.5, 0.0625])
    r.all_modes("random.binomial", A, n, p)
    r.all_modes("random.binomial", A, Number(20), UNIT("f32", 3), shape=(2, 3))
    r.case("random.binomial", A, Number(100), Number(0.25), shape=(4,))
    r.case("random.binomial", A, Arg("f32", (3,), ["nan", -1, 5]), Arg("f32", (3,), [0.5, 0.5, -0.5]))
    r.case("random.binomial", A, Arg("f32", (4,), [5, 5, 5, 5]), Arg("f32", (4,), ["nan", 1.5, 0.0, 1.0]))
    r.case("random.binomial", A, Arg("f64", (2,), [10, 100]), Arg("f64", (2,), [0.5, 0.25]), dtype="f64")
    r.case("random.binomial", A, Number(5), UNIT("f32", 3), shape=(2,))
    r.case("random.binomial", A, Number(5), Number(0.5), shape=(2,), dtype="i32")
    third = Arg("f32", (3,), [0.25, 0.5, 0.25])
    r.all_modes("random.multinomial", A, Arg("f32", (), [10]), third)
    r.all_modes("random.multinomial", A, Arg("f32", (2,), [10, 3]), third, shape=(2,))
    r.case("random.multinomial", A, Number(100), Arg("f32", (2, 2), [0.25, 0.75, 1, 0]), shape=(3, 2), dtype="i32")
    r.case("random.multinomial", A, Number(5), UNIT("f32"))


def orders(r):
    for x in (Number(5), Number(1), Number(0), Number(100)):
        r.case("random.permutation", A, x)
    for x in (ANY("f32", 6), ANY("i32", 3, 2), ANY("c64", 2, 2), ANY("f32", 0)):
        r.all_modes("random.permutation", A, x)
    for axis in (0, 1, -1):
        for independent in (False, True):
            r.all_modes("random.permutation", A, ANY("f32", 2, 4), axis=axis, independent=independent)
    r.case("random.permutation", A, ANY("f32", 2, 4), axis=2)
    r.case("random.permutation", A, Number(1.5))
    third = Arg("f32", (3,), [0.25, 0.5, 0.25])
    for shape in ((), (2,), (2, 3)):
        r.case("random.choice", A, Number(3), shape=shape)
        r.case("random.choice", A, ANY("f32", 4), shape=shape)
        r.all_modes("random.choice", A, Number(3), third, shape=shape)
    r.all_modes("random.choice", A, ANY("f32", 2, 4), shape=(2,), axis=1)
    for axis in (0, 1, -1):
        r.all_modes("random.choice", A, ANY("f32", 3, 3), shape=(2,), axis=axis, replace=False)
        r.all_modes("random.choice", A, ANY("f32", 3, 3), third, shape=(2,), axis=axis, replace=False)
    for bits in ("low", "high", "highest"):
        r.case("random.choice", A, Number(3), third, shape=(3,), replace=False, bits=bits)
    r.case("random.choice", A, Number(5), shape=(4,), replace=False)
    r.case("random.choice", A, Number(0), shape=(0,))
    r.case("random.choice", A, Number(0), shape=(2,))
    r.case("random.choice", A, Number(3), shape=(4,), replace=False)
    r.case("random.choice", A, Number(4), third, shape=(2,))
    r.case("random.choice", A, ANY("f64", 3), shape=(2,))
    for axis in (0, 1, -1):
        r.all_modes("random.categorical", A, ANY("f32", 3, 4), axis=axis)
    r.all_modes("random.categorical", A, ANY("f32", 4))
    r.all_modes("random.categorical", A, ANY("f32", 2, 4), shape=(3, 2))
    r.case("random.categorical", A, ANY("f32", 2, 4), axis=0, shape=(2, 2, 4))
    for bits in ("low", "high", "highest"):
        r.case("random.categorical", A, ANY("f32", 2, 4), bits=bits)
    r.all_modes("random.categorical", A, ANY("f32", 2, 4), shape=(3, 2), replace=False)
    r.all_modes("random.categorical", A, ANY("f32", 4), shape=(4,), replace=False)
    r.case("random.categorical", A, ANY("f32", 3, 2), axis=0, shape=(2, 2), replace=False)
    r.case("random.categorical", A, ANY("f32", 2, 4), shape=(5, 2), replace=False)
    r.case("random.categorical", A, ANY("f32", 2, 4), shape=(3,))
    r.case("random.categorical", A, ANY("i32", 2, 4))
    r.case("random.categorical", A, ANY("f64", 2, 4))
    r.case("random.categorical", A, ANY("f32", 2, 4), axis=2)


def vectors(r):
    mean, cov = ANY("f32", 3), Arg("f32", (3, 3), "~s6")
    for method in ("cholesky", "svd", "eigh"):
        r.all_modes("random.multivariate_normal", A, mean, cov, method=method, grad=method == "cholesky")
    r.all_modes("random.multivariate_normal", A, mean, cov, shape=(2,))
    r.all_modes("random.multivariate_normal", A, ANY("f32", 2, 3), Arg("f32", (2, 3, 3), "~s6"))
    r.case("random.multivariate_normal", A, ANY("f32", 1, 3), Arg("f32", (2, 3, 3), "~s6"), shape=(4, 2))
    r.case("random.multivariate_normal", A, ANY("f64", 2), Arg("f64", (2, 2), "~s6"), dtype="f64")
    r.case("random.multivariate_normal", A, ANY("f32", 3), Arg("f32", (2, 2), "~s6"))
    r.case("random.multivariate_normal", A, ANY("f32"), cov)
    for shape in (None, (2,)):
        for n, m in ((3, None), (2, 3), (3, 2), (1, 1)):
            r.case("random.orthogonal", A, n=n, m=m, shape=shape)
    r.case("random.orthogonal", Key(4, 2), mode="vmap", n=2)
    r.case("random.orthogonal", A, n=2, dtype="f64")
    r.case("random.orthogonal", A, n=0)
