"""Writes the samples of `samples/`: arguments and values of 50 digits, by mpmath. They are made once and committed.

    pip install mpmath
    python python/samples.py samples

A line has the arguments and the value, whose second part is what the first one misses. Numbers are the bits of double precision in
hexadecimal, without the zeros at their end. Arguments are numbers of single precision too, so that one set serves both.
"""

import random
import struct
import sys
from pathlib import Path

import mpmath
from mpmath import mp, mpf

mp.dps = 50


def single(x):
    """The nearest number of single precision."""
    return struct.unpack("f", struct.pack("f", float(x)))[0]


def text(x):
    return (struct.pack(">d", float(x)).hex().rstrip("0")) or "0"


def parts(value):
    high = float(value)
    # Of what it misses a few digits do.
    return [text(high), text(value - mpf(high))[:8].rstrip("0") or "0"]


def write(name, lines):
    path = Path(sys.argv[1]) / f"{name}.txt"
    path.write_text("".join(" ".join(line) + "\n" for line in lines))
    print(name, len(lines), path.stat().st_size, flush=True)


def real(name, function, arguments):
    """A function of real numbers. Values that are out of the range of normal numbers are left out."""
    lines = []
    for x in arguments:
        x = [single(v) for v in x]
        try:
            value = mpf(function(*map(mpf, x)))
        except (ValueError, ZeroDivisionError, mpmath.NoConvergence):
            continue
        if value == 0 or not mpmath.isfinite(value) or not 1e-300 < abs(value) < 1e300:
            continue
        lines.append([text(v) for v in x] + parts(value))
    write(name, lines)


def log_uniform(low, high):
    return float(low) * (float(high) / float(low)) ** random.random()


def around_order(count):
    """An order and an argument: near each other, or not."""
    for k in range(count):
        a = log_uniform(0.01, 100) if k % 3 else log_uniform(1, 1e4)
        if k % 2:
            yield a, max(1e-3, a + random.uniform(-6, 6) * a**0.5)
        else:
            yield a, log_uniform(1e-3, 30) * max(a, 1)


def lower(a, x):
    if x < a + 1:
        return mpmath.gammainc(a, 0, x, regularized=True)
    return 1 - mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def upper(a, x):
    return mpmath.gammainc(a, x, mpmath.inf, regularized=True)


def by_order(a, x):
    """The derivative of the lower function by its first argument: by differences of many digits, of what is small itself."""
    with mpmath.workdps(150):
        h = mpf(10) ** -40
        if x < a + 1:
            return +((lower(a + h, x) - lower(a - h, x)) / (2 * h))
        return +((upper(a - h, x) - upper(a + h, x)) / (2 * h))


def digits(value):
    """Of what is computed with so many digits after the point, however small it is."""
    with mpmath.workdps(250):
        return +value()


def reals():
    root = 1.4616321449683622
    unary = [[log_uniform(1e-6, 1e6)] for _ in range(80)]
    unary += [[random.uniform(0, 12)] for _ in range(120)]
    near_root = [[root + s * 10.0**-k] for k in range(1, 8) for s in (-1, 1)]
    left = [[random.uniform(-12, 0)] for _ in range(120)]
    real("digamma", mpmath.digamma, unary + near_root + left)
    both = [[x * (-1) ** k] for k, (x,) in enumerate(unary)]
    real("bessel_i0e", lambda x: mpmath.besseli(0, x) * mpmath.exp(-abs(x)), both)
    real("bessel_i1e", lambda x: mpmath.besseli(1, x) * mpmath.exp(-abs(x)), both)
    units = [[random.uniform(-1, 1)] for _ in range(200)]
    units += [[s * (1 - log_uniform(6e-8, 0.1))] for _ in range(50) for s in (-1, 1)]
    units += [[log_uniform(1e-30, 0.1)] for _ in range(50)]
    real("erf_inv", mpmath.erfinv, units)
    real("logistic", lambda x: 1 / (1 + mpmath.exp(-x)), [[random.uniform(-40, 40)] for _ in range(200)]
         + [[random.choice([-1, 1]) * log_uniform(1e-5, 600)] for _ in range(100)])
    real("igamma", lower, around_order(300))
    real("igammac", upper, around_order(300))
    real("igamma_grad_a", by_order, around_order(200))
    list(around_order(200))
    real("zeta", lambda s, a: digits(lambda: mpmath.zeta(s, a)), [(1 + log_uniform(0.01, 60), log_uniform(0.01, 1e4)) for _ in range(300)])
    real("polygamma", lambda n, x: digits(lambda: mpmath.polygamma(int(n), x)),
         [(random.randint(0, 12), log_uniform(0.05, 1e3)) for _ in range(300)])
    betas = []
    for k in range(300):
        a, b = (log_uniform(0.05, 1e3), log_uniform(0.05, 1e3)) if k % 3 else (log_uniform(0.1, 20), log_uniform(0.1, 20))
        mean, spread = a / (a + b), (a * b / (a + b) ** 2 / (a + b + 1)) ** 0.5
        x = mean + random.uniform(-5, 5) * spread if k % 2 else random.random()
        if 1e-4 < x < 0.9999:
            betas.append((a, b, x))
    real("regularized_incomplete_beta", lambda a, b, x: mpmath.betainc(a, b, 0, x, regularized=True), betas)


def points():
    """Complex numbers: near 0, ±1, ±i and the unit circle, on the axes, and of all sizes."""
    found = []
    for k in range(40):
        found.append((random.uniform(-3, 3), random.uniform(-3, 3)))
    for k in range(24):
        x, y = log_uniform(1e-8, 60), log_uniform(1e-8, 60)
        found.append((x * random.choice([-1, 1]), y * random.choice([-1, 1])))
    for centre in [(1, 0), (-1, 0), (0, 1), (0, -1)]:
        for size in [1e-6, 1e-3, 0.1]:
            found.append(tuple(c + size * random.uniform(-1, 1) for c in centre))
    for k in range(8):
        angle = random.uniform(-3.1, 3.1)
        found.append((float(mpmath.cos(angle)), float(mpmath.sin(angle))))
    for k in range(6):
        found.append((random.uniform(-0.9, 3), 1e-12 * random.uniform(0.1, 1)))
        found.append((1e-12 * random.uniform(0.1, 1), random.uniform(-0.9, 0.9)))
    for k in range(6):
        found.append((log_uniform(1e3, 1e15), random.choice([-1, 1]) * log_uniform(1e3, 1e15)))
    return [tuple(map(single, z)) for z in found]


def complexes():
    def number(z):
        return mpmath.mpc(*z)

    def save(name, function, arguments):
        lines = []
        for x in arguments:
            try:
                value = mpmath.mpc(function(*map(number, x)))
            except (ValueError, ZeroDivisionError, OverflowError):
                continue
            size = max(abs(value.real), abs(value.imag))
            if not 1e-300 < size < 1e300:
                continue
            lines.append([text(v) for z in x for v in z] + [text(value.real), text(value.imag)])
        write("complex_" + name, lines)

    one = [(z,) for z in points()]
    two = list(zip(points(), points()))
    unary = {
        "exp": mpmath.exp,
        "exp2": lambda z: mpf(2) ** z,
        "expm1": lambda z: mpmath.exp(z) - 1,
        "log": mpmath.log,
        "log2": lambda z: mpmath.log(z) / mpmath.log(2),
        "log1p": lambda z: mpmath.log(1 + z),
        "sqrt": mpmath.sqrt,
        "rsqrt": lambda z: 1 / mpmath.sqrt(z),
        "sin": mpmath.sin,
        "cos": mpmath.cos,
        "tan": mpmath.tan,
        "asin": mpmath.asin,
        "acos": mpmath.acos,
        "atan": mpmath.atan,
        "sinh": mpmath.sinh,
        "cosh": mpmath.cosh,
        "tanh": mpmath.tanh,
        "asinh": mpmath.asinh,
        "acosh": mpmath.acosh,
        "atanh": mpmath.atanh,
        "logistic": lambda z: 1 / (1 + mpmath.exp(-z)),
        "square": lambda z: z * z,
        "sign": lambda z: z / abs(z),
    }
    mp.dps = 80
    for name, function in unary.items():
        save(name, function, one)
    save("mul", lambda z, w: z * w, two)
    save("div", lambda z, w: z / w, two)
    save("pow", lambda z, w: z**w, two)
    mp.dps = 50


random.seed(20)
complexes()
random.seed(10)
reals()
