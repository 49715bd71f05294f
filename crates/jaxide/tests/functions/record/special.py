"""Special functions of `jax.scipy.special`."""

from common import Arg, Number
from jax.scipy import special

FUNCTIONS = {
    f"scipy.special.{name}": getattr(special, name) for name in dir(special) if not name.startswith("_")
}
# What is no ordinary number, and some that are. XLA takes subnormal numbers as zero, so that the smallest ones are left out.
EDGES = [0, -0.0, 1, -1, 0.5, -2.5, 3, -7.25, 100.7, 1e-3, float("inf"), float("-inf"), float("nan")]


def edges(dtype, start=0):
    return Arg(dtype, (len(EDGES),), EDGES[start:] + EDGES[:start])


ONE = ("gammaln loggamma gamma digamma erf erfc erfinv erfcinv erfcx dawsn logit expit entr i0 i0e i1 i1e exp1 expi "
       "factorial gammasgn").split()
TWO = ("betaln beta gammainc gammaincc xlogy xlog1py boxcox boxcox1p kl_div rel_entr poch owens_t comb").split()
F32_ONE = "ndtr ndtri log_ndtr spence".split()


def cases(r):
    def name(function):
        return f"scipy.special.{function}"

    for f in ONE:
        r.all_modes(name(f), Arg("f32", (3,), "~u1"))
        r.case(name(f), edges("f32"))
        r.all_modes(name(f), Arg("f64", (2, 2), "~+2"), grad=True)
        r.case(name(f), Arg("f16", (4,), "~u3"))
        r.case(name(f), Arg("i32", (2,), [1, 2]))
        r.case(name(f), Arg("f32", (0,)))
        r.case(name(f), Number(0.5))
        r.case(name(f), Arg("c64", (2,), "~u4"))
    for f in F32_ONE:
        r.all_modes(name(f), Arg("f32", (3,), "~u1"))
        r.case(name(f), edges("f32"))
        r.all_modes(name(f), Arg("f64", (2, 2), "~u2"))
        r.case(name(f), edges("f64"))
        r.case(name(f), Arg("f32", (0,)))
        r.case(name(f), Arg("f16", (4,), "~u3"))
        r.case(name(f), Arg("i32", (2,), [1, 2]))
    for order in (0, 1, 4):
        r.case(name("log_ndtr"), Arg("f32", (3,), [-12, -30, 2]), series_order=order)
    r.all_modes(name("log_ndtr"), Arg("f32", (4,), [-12, -9, 4, 6]))
    r.case(name("log_ndtr"), Arg("f32", (3,), "~1"), series_order=31)
    r.all_modes(name("ndtri"), Arg("f32", (4,), [1e-30, 1e-9, 0.999, 0.02]))
    r.all_modes(name("erfcinv"), Arg("f32", (4,), [1e-30, 1e-9, 1.999, 0.02]))
    r.all_modes(name("erfcx"), Arg("f32", (5,), [-3, 5, 20, 1e20, 0.9]))
    r.all_modes(name("dawsn"), Arg("f32", (5,), [-3, 5, 20, 0.1, -8]))
    r.all_modes(name("expi"), Arg("f32", (6,), [-3, 5, 20, 3, 12, 70]))
    r.all_modes(name("expi"), Arg("f32", (2,), [50, 1.5]))
    r.all_modes(name("spence"), Arg("f32", (5,), [0.2, 0.8, 1.2, 1.7, 5]))
    for f in TWO:
        r.all_modes(name(f), Arg("f32", (3,), "~u1"), Arg("f32", (3,), "~+2"))
        r.all_modes(name(f), Arg("f32", (2, 1), "~+3"), Arg("f32", (3,), "~u4"))
        r.case(name(f), edges("f32"), edges("f32", 5))
        r.all_modes(name(f), Arg("f64", (2,), "~+5"), Arg("f64", (2,), "~u6"))
        r.case(name(f), Arg("f16", (2,), "~+5"), Arg("f16", (2,), "~u6"))
        r.case(name(f), Arg("i32", (2,), [2, 3]), Arg("i32", (2,), [1, 2]))
        r.case(name(f), Arg("i32", (2,), [2, 3]), Arg("f32", (2,), "~u7"))
        r.case(name(f), Number(2), Arg("f32", (2,), "~u7"))
        r.case(name(f), Arg("f32", (2,), "~u7"), Number(0.5))
        r.case(name(f), Arg("f32", (0,)), Arg("f32", (1,), "~1"))
        r.case(name(f), Arg("f32", (2,), "~1"), Arg("f32", (3,), "~1"))
        r.case(name(f), Arg("c64", (2,), "~u1"), Arg("f32", (2,), "~u1"))
    r.all_modes(name("betaln"), Arg("f32", (3,), [0.5, 20, 3]), Arg("f32", (3,), [30, 9, 100]))
    r.all_modes(name("kl_div"), Arg("f32", (4,), [0.5, 20, 3, 0]), Arg("f32", (4,), [0.51, 9, 100, 2]))
    r.all_modes(name("owens_t"), Arg("f32", (4,), [0.5, 2, -3, 0]), Arg("f32", (4,), [0.5, -9, 1, 2]))
    r.all_modes(name("comb"), Arg("f32", (3,), [5, 6, 2]), Arg("f32", (3,), [2, 3, 4]), repetition=True)
    r.case(name("comb"), Arg("i32", (3,), [5, 0, 2]), Arg("i32", (3,), [2, 0, 4]), repetition=True)
    for d in ("f32", "f64"):
        r.all_modes(name("betainc"), Arg(d, (3,), "~+1"), Arg(d, (3,), "~+2"), Arg(d, (3,), "~u3"), grad=False)
        r.all_modes(name("zeta"), Arg(d, (3,), [2.5, 3, 8]), Arg(d, (3,), [1, 2.5, 4]))
        r.all_modes(name("expn"), Arg("i32", (4,), [1, 2, 3, 0]), Arg(d, (4,), [0.5, 2, 20, 1]))
        r.all_modes(name("hyp1f1"), Arg(d, (3,), [1, 0.5, 2]), Arg(d, (3,), [2, 1.5, 3]), Arg(d, (3,), [0.5, -2, 3]))
        r.all_modes(name("hyp2f1"), Arg(d, (3,), [1, 0.5, 2]), Arg(d, (3,), [2, 1.5, 0.3]), Arg(d, (3,), [2, 1.25, 3]),
                    Arg(d, (3,), [0.5, -0.25, 0.8]))
        r.all_modes(name("sici"), Arg(d, (4,), [0.5, 5, 20, -3]))
        r.all_modes(name("fresnel"), Arg(d, (4,), [0.5, 5, 20, -1.7]))
        for v in (0, 2, 5):
            r.all_modes(name("bessel_jn"), Arg(d, (3,), "~+2"), v=v)
        for dim in (1, 3):
            r.all_modes(name("multigammaln"), Arg(d, (2, 2), [2.5, 3, 4, 8]), d=dim)
    r.case(name("betainc"), Arg("f32", (2, 1), "~+1"), Number(2), Arg("f32", (3,), "~u3"))
    r.case(name("betainc"), Arg("f32", (2,), [1, 2]), Arg("f32", (2,), [2, 0.5]), Arg("f32", (2,), [0, 1]))
    r.case(name("zeta"), Arg("i32", (3,), [2, 3, 4]), Number(1))
    r.case(name("zeta"), edges("f32"), edges("f32", 7))
    r.case(name("polygamma"), Number(1), Arg("f32", (3,), "~+1"))
    r.case(name("polygamma"), Arg("i32", (2,), [0, 3]), Arg("f32", (2,), "~+1"))
    r.case(name("polygamma"), Arg("i32", (2,), [2, 1]), Arg("f64", (2,), "~+1"))
    r.case(name("polygamma"), Arg("f32", (2,), "~+2"), Arg("f32", (2,), "~+1"))
    r.case(name("expn"), Arg("i32", (3,), [1, 2, 6000]), Arg("f32", (3,), [0, 0, 2]))
    r.case(name("expn"), Arg("f32", (4,), [-1, 2, 3, 1]), Arg("f32", (4,), [1, -2, 100, 1]))
    r.case(name("hyp1f1"), Arg("f32", (4,), [0, 2, 3, 1]), Arg("f32", (4,), [1, 2, 0, 2]), Arg("f32", (4,), [1, 2, 1, 150]))
    r.case(name("hyp1f1"), Arg("i32", (2,), [1, 2]), Number(2), Arg("f32", (2,), [1, 2]))
    r.case(name("hyp2f1"), Arg("f32", (9,), [0, 1, -3, 1, 2, 1, 2, 1.5, 1]), Arg("f32", (9,), [1, 2, 2, 3, 3, 1, 1, 1, 1]),
           Arg("f32", (9,), [1, 0, 4, 3, 2, 4, 2, 4.75, 2]), Arg("f32", (9,), [1, 2, 0.5, 0.25, 0.25, 1, 1.5, 0.95, 0.95]))
    r.case(name("multigammaln"), Arg("i32", (2,), [3, 4]), d=2)
    r.case(name("bessel_jn"), Arg("f32", (2, 2), "~1"), v=1, n_iter=20)
    r.case(name("bessel_jn"), Arg("c64", (2,), "~1"), v=1)
    r.case(name("sici"), edges("f32"))
    r.case(name("fresnel"), edges("f32"))
    r.case(name("fresnel"), Arg("f16", (2,), "~+1"))
    r.case(name("fresnel"), Arg("f32", (2,), [40000, -50000]))
    r.case(name("sici"), Arg("f32", (2,), [1e10, -1e10]))
    for d in ("c64", "c128"):
        r.all_modes(name("wofz"), Arg(d, (3,), "~1"))
        r.case(name("wofz"), Arg(d, (0,)))
    r.case(name("wofz"), Arg("f32", (3,), "~1"))
    r.case(name("loggamma"), Arg("c64", (5,), "~1"))
    r.case(name("gamma"), Arg("c128", (5,), "~1"))
    r.case(name("loggamma"), Arg("c128", (2, 2), "~2"))
    for n in (0, 1, 2, 3, 6, 11):
        r.case(name("bernoulli"), n=n)
    r.case(name("bernoulli"), n=-1)
    for d in ("f32", "f64"):
        r.all_modes(name("sph_harm_y"), Arg("i32", (5,), [0, 1, 2, 3, 3]), Arg("i32", (5,), [0, 1, -1, 2, -3]),
                    Arg(d, (5,), "~+1"), Arg(d, (5,), "~2"), n_max=3)
    x = Arg("f32", (2, 3), "~1")
    for f in ("logsumexp", "softmax", "log_softmax"):
        r.all_modes(name(f), x)
        for axis in (0, -1, (0, 1)):
            r.all_modes(name(f), x, axis=axis)
        r.case(name(f), Arg("f64", (2, 2), "~1"), axis=0)
        r.case(name(f), Arg("f16", (2, 2), "~1"), axis=1)
        r.case(name(f), Arg("i32", (2, 2), "~1"), axis=1)
        r.case(name(f), x, axis=2)
        r.case(name(f), edges("f32"))
    r.case(name("logsumexp"), Arg("c64", (2, 3), "~1"), axis=1)
    r.case(name("logsumexp"), Arg("f32", (0,)))
    r.all_modes(name("logsumexp"), x, axis=1, keepdims=True)
    r.case(name("logsumexp"), x, keepdims=True)
    r.all_modes("special.logsumexp_b", x, Arg("f32", (2, 3), "~2"), axis=1)
    r.all_modes("special.logsumexp_b", x, Arg("f32", (3,), "~+2"), axis=0)
    r.case("special.logsumexp_b", x, Arg("i32", (2, 3), "~2"))
    r.all_modes("special.logsumexp_sign", x, Arg("f32", (2, 3), "~2"), axis=1)
    r.case("special.logsumexp_sign", x, Arg("f32", (2, 3), "~2"), keepdims=True)
    r.all_modes("special.logsumexp_where", x, Arg("bool", (2, 3), "~3"), axis=1)
    r.case("special.logsumexp_where", x, Arg("bool", (3,), "~3"))


FUNCTIONS["special.logsumexp_b"] = lambda a, b, **k: special.logsumexp(a, b=b, **k)
FUNCTIONS["special.logsumexp_sign"] = lambda a, b, **k: special.logsumexp(a, b=b, return_sign=True, **k)
FUNCTIONS["special.logsumexp_where"] = lambda a, where, **k: special.logsumexp(a, where=where, **k)
