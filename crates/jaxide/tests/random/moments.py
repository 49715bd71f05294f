"""Writes moments.txt: what samples of each distribution are like in JAX, for ../moments.rs.

    python moments.py > moments.txt

A line is a distribution with its parameters, the number of samples, their mean, variance, third and fourth central moments (in
units of the standard deviation), five quantiles, and how many are beyond the last quantile."""

import os

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np

R = jax.random
N = 100_000
KEY = R.key(2026)
F = lambda name, *parameters: (name, parameters, lambda: getattr(R, name)(KEY, *parameters, (N,)))
S = lambda name: (name, (), lambda: getattr(R, name)(KEY, (N,)))

DISTRIBUTIONS = [
    S("uniform"), S("normal"), S("exponential"), S("laplace"), S("logistic"), S("gumbel"), S("cauchy"), S("maxwell"), S("rademacher"),
    F("beta", 2.0, 0.5), F("chisquare", 3.0), F("f", 5.0, 9.0), F("gamma", 0.3), F("gamma", 7.5), F("loggamma", 0.1), F("pareto", 6.0),
    F("rayleigh", jnp.float32(2.0)), F("t", 6.0), F("wald", jnp.float32(1.5)), F("lognormal", 0.5), F("geometric", 0.2),
    F("triangular", -1.0, 0.5, 3.0), F("truncated_normal", -0.5, 2.0), F("weibull_min", 2.0, 1.5), F("double_sided_maxwell", 1.0, 2.0),
    F("generalized_normal", 3.0), F("poisson", 3.0), F("poisson", 40.0), F("binomial", 9.0, 0.3), F("binomial", 200.0, 0.6),
    F("bernoulli", 0.3), ("bits", (), lambda: R.bits(KEY, (N,)).astype(jnp.float32) / 2.0**32),
    ("randint", (-3.0, 12.0), lambda: R.randint(KEY, (N,), -3, 12)),
    ("categorical", (), lambda: R.categorical(KEY, jnp.log(jnp.array([0.1, 0.2, 0.7])), shape=(N,))),
    ("choice", (), lambda: R.choice(KEY, 4, (N,), p=jnp.array([0.4, 0.1, 0.2, 0.3]))),
    ("permutation", (), lambda: R.permutation(KEY, N)[: N // 2]),
    ("dirichlet", (), lambda: R.dirichlet(KEY, jnp.array([0.5, 1.0, 2.0]), (N,))[:, 0]),
    ("multinomial", (), lambda: R.multinomial(KEY, 10.0, jnp.array([0.2, 0.3, 0.5]), shape=(N // 10,))[:, 1]),
    ("multivariate_normal", (), lambda: R.multivariate_normal(KEY, jnp.array([1.0, 2.0]), jnp.array([[2.0, 1.0], [1.0, 3.0]]), (N,)).sum(1)),
    ("orthogonal", (), lambda: R.orthogonal(KEY, 3, (N // 10,))[:, 0, 1]),
    ("ball", (), lambda: R.ball(KEY, 3, 2.0, (N,))[:, 0]),
]

for name, parameters, draw in DISTRIBUTIONS:
    x = np.sort(np.asarray(draw()).astype(np.float64))
    mean, variance = x.mean(), x.var()
    z = (x - mean) / np.sqrt(variance)
    quantiles = [x[int(q * len(x))] for q in (0.01, 0.25, 0.5, 0.75, 0.99)]
    tail = int((x > quantiles[-1]).sum())
    words = [name, ",".join(str(float(p)) for p in parameters), len(x), mean, variance, (z**3).mean(), (z**4).mean(), *quantiles, tail]
    print(";".join(str(word) if isinstance(word, (str, int)) else f"{word:.9g}" for word in words))
