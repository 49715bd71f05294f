"""Families of programs at many sizes, beside JAX and beside the growth of their work: where is a cliff?

    python benches/families.py [FAMILY ...] [--sizes 1,2,3,4] [--svg families.svg] [--save FILE] [--threads N] [--backend native-avx2]
    python benches/families.py --report FILE ... [--svg families.svg]

Prints JAX's least time over jaxide's for each family and size, measured in turns; then each step from one size to the next over which jaxide's time
grows more than twice as fast as the work. The chart has the times (in microseconds, over the size) and such steps as circles. The python that runs this must have JAX.
"""

import argparse
import json
import math
import pathlib

import alternate
import chart

SIZES = (1, 2, 3, 4, 7, 8, 15, 16, 17, 31, 32, 33, 48, 64, 100, 128, 256, 1000)
# A step is a cliff where time grows more than so many times as fast as the work.
CLIFF = 2.0

FAMILIES = {}


def family(function):
    """Registers a family: a function of the size that gives the program, its inputs and its work in operations."""
    FAMILIES[function.__name__] = function
    return function


def normal(*shape, scale=1.0):
    import numpy as np

    return (scale * np.random.RandomState(sum(shape) + len(shape)).randn(*shape)).astype(np.float32)


def recurrence(w, c, xs):
    import jax.numpy as jnp
    from jax import lax

    return lax.scan(lambda c, a: (jnp.tanh(c @ w + a), None), c, xs)[0]


@family
def rnn(n, steps=50):
    return recurrence, [normal(n, n, scale=0.5 / n**0.5), normal(n), normal(steps, n)], steps * (2 * n * n + 20 * n)


@family
def rnn_gradient(n, steps=50):
    import jax
    import jax.numpy as jnp

    function, inputs, work = rnn(n, steps)
    return jax.grad(lambda *xs: jnp.sum(function(*xs) ** 2)), inputs, 3 * work


@family
def mlp(n, batch=32):
    import jax
    import jax.numpy as jnp

    def function(x, *ws):
        for w in ws:
            x = jax.nn.gelu(x @ w)
        return x

    return function, [normal(batch, n), *(normal(n, n, scale=n**-0.5) for _ in range(3))], 3 * batch * (2 * n * n + 20 * n)


@family
def product_chain(n, steps=10):
    from jax import lax

    step = lambda w: lambda c, _: (c @ w + 0.5, None)
    return lambda w, c: lax.scan(step(w), c, None, length=steps)[0], [normal(n, n, scale=n**-0.5), normal(n, n)], steps * (2 * n**3 + n * n)


@family
def convolution(n, channels=8):
    import jax
    from jax import lax

    def function(x, w, b):
        return jax.nn.relu(lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")) + b)

    return function, [normal(1, n, n, channels), normal(3, 3, channels, 2 * channels), normal(2 * channels)], n * n * 36 * channels * channels


@family
def attention(n, width=32):
    import jax

    function = lambda q, k, v: jax.nn.softmax(q @ k.T / width**0.5) @ v
    return function, [normal(n, width), normal(n, width), normal(n, width)], n * n * (4 * width + 20)


@family
def n_body(n):
    import jax.numpy as jnp

    def function(x, m):
        d = x[None] - x[:, None]
        r = jnp.sum(d * d, -1) + 0.01
        return jnp.sum(d * (m[None] * r**-1.5)[..., None], 1)

    return function, [normal(n, 3), normal(n)], 30 * n * n


@family
def ode(n, steps=20):
    import jax.numpy as jnp
    from jax import lax

    def function(w, y):
        f = lambda y: jnp.tanh(w @ y)

        def step(y, _):
            k1 = f(y)
            k2 = f(y + 0.005 * k1)
            k3 = f(y + 0.005 * k2)
            k4 = f(y + 0.01 * k3)
            return y + 0.01 / 6 * (k1 + 2 * k2 + 2 * k3 + k4), None

        return lax.scan(step, y, None, length=steps)[0]

    return function, [normal(n, n, scale=n**-0.5), normal(n)], 4 * steps * (2 * n * n + 25 * n)


@family
def kalman_filter(n, steps=10, seen=2):
    import jax.numpy as jnp
    import numpy as np
    from jax import lax

    def function(f, h, x, p, zs):
        def step(state, z):
            x, p = state
            x, p = f @ x, f @ p @ f.T + 0.01 * jnp.eye(n)
            s = h @ p @ h.T + 0.1 * jnp.eye(seen)
            k = jnp.linalg.solve(s, h @ p).T
            return (x + k @ (z - h @ x), p - k @ h @ p), x

        return lax.scan(step, (x, p), zs)

    inputs = [normal(n, n, scale=0.5 / n**0.5), normal(seen, n), normal(n), np.eye(n, dtype=np.float32), normal(steps, seen)]
    return function, inputs, steps * (6 * n**3 + 12 * seen * n * n)


@family
def gaussian_process(n):
    import jax.numpy as jnp
    import jax.scipy.linalg as linalg

    def function(x, y):
        d = jnp.sum((x[:, None] - x[None]) ** 2, -1)
        factor = jnp.linalg.cholesky(jnp.exp(-0.5 * d) + 0.1 * jnp.eye(n))
        a = linalg.cho_solve((factor, True), y)
        return 0.5 * y @ a + jnp.sum(jnp.log(jnp.diagonal(factor)))

    return function, [normal(n, 3), normal(n)], n**3 / 3 + 40 * n * n


@family
def small_solves(n):
    import jax.numpy as jnp
    import numpy as np

    batch = max(1, min(256, 100_000 // n**2))
    a = normal(batch, n, n) + 2 * n**0.5 * np.eye(n, dtype=np.float32)
    return lambda a, b: jnp.linalg.solve(a, b[..., None])[..., 0], [a, normal(batch, n)], batch * (2 * n**3 / 3 + 4 * n * n)


@family
def sort(n, rows=64):
    import jax.numpy as jnp

    return lambda x: jnp.sort(x, axis=1), [normal(rows, n)], rows * n * max(1.0, math.log2(n))


@family
def fft(n, rows=64):
    import jax.numpy as jnp
    import numpy as np

    x = (normal(rows, n) + 1j * normal(rows, n)).astype(np.complex64)
    return jnp.fft.fft, [x], 5 * rows * n * max(1.0, math.log2(n))


def run(options):
    rows = []
    with alternate.Alternation(options) as alternation:
        import jax.numpy as jnp

        for name in options.families or FAMILIES:
            for size in options.sizes:
                if alternation.is_over():
                    return rows
                function, inputs, work = FAMILIES[name](size)
                row = {"family": name, "size": size, "work": work, "threads": alternation.count, "backend": options.backend}
                row |= alternation.measure(function, [jnp.asarray(x) for x in inputs])
                rows.append(row)
                print(f"{name} {size}: " + (row["mistake"] if "mistake" in row else f"{row['jax']:.1f} {row['ours']:.1f} us, {row['ratio']:.2f}"), flush=True)
                if options.save:
                    with options.save.open("a") as file:
                        file.write(json.dumps(row) + "\n")
    return rows


def cliffs(rows):
    """Steps over which time grows too fast: pairs of rows of neighbouring sizes of a family, and how many times as fast as the work."""
    found = []
    for before, after in zip(rows, rows[1:]):
        if before["family"] == after["family"]:
            factor = (after["ours"] / before["ours"]) / (after["work"] / before["work"])
            if factor > CLIFF:
                found.append((before, after, factor))
    return found


def report(rows):
    for row in rows:
        if "mistake" in row:
            print(f"{row['family']} {row['size']}: {row['mistake']}")
    rows = sorted((row for row in rows if "ours" in row), key=lambda row: (list(FAMILIES).index(row["family"]), row["size"]))
    sizes = sorted({row["size"] for row in rows})
    names = [name for name in FAMILIES if any(row["family"] == name for row in rows)]
    ratios = {(row["family"], row["size"]): row["ratio"] for row in rows}
    print("\n| JAX / ours | " + " | ".join(map(str, sizes)) + " |\n|---|" + "---|" * len(sizes))
    for name in names:
        cells = [ratios.get((name, size)) for size in sizes]
        print(f"| {name} | " + " | ".join("" if ratio is None else f"{ratio:.2g}" if ratio >= 1 else f"**{ratio:.2f}**" for ratio in cells) + " |")
    below = [row for row in rows if row["ratio"] < 1]
    print(f"\n{len(rows)} programs, geometric mean {alternate.geometric_mean([row['ratio'] for row in rows]):.2f}; below 1: {len(below)}")
    found = cliffs(rows)
    print(f"\nSteps where time grows more than {CLIFF:g} times as fast as the work: {len(found)}")
    for before, after, factor in found:
        print(f"  {before['family']}: from {before['size']} to {after['size']}, {before['ours']:.1f} to {after['ours']:.1f} us: {factor:.1f} times as fast")
    return names, rows, found


def picture(names, rows, found):
    panels = []
    for name in names:
        own = [row for row in rows if row["family"] == name]
        # The work's line touches the largest program's time.
        scale = own[-1]["ours"] / own[-1]["work"]
        series = {
            "jaxide": [(row["size"], row["ours"]) for row in own],
            "JAX": [(row["size"], row["jax"]) for row in own],
            "work": [(row["size"], row["work"] * scale) for row in own if row["work"] * scale > own[0]["ours"] / 10],
        }
        panels.append((name.replace("_", " "), series, [(after["size"], after["ours"]) for _, after, _ in found if after["family"] == name]))
    note = "microseconds over the size; circles: time has grown more than twice as fast as the work since the size before"
    return chart.svg("Times by size", note, panels, ["jaxide", "JAX", "work"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("families", nargs="*", choices=[[], *FAMILIES])
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], default=SIZES)
    parser.add_argument("--svg", type=pathlib.Path, help="where the chart goes")
    parser.add_argument("--report", type=pathlib.Path, nargs="+", help="only show what was saved")
    alternate.arguments(parser)
    options = parser.parse_intermixed_args()
    if options.report:
        latest = {}
        for path in options.report:
            for line in path.read_text().splitlines():
                row = json.loads(line)
                latest[row["family"], row["size"]] = row
        rows = list(latest.values())
    else:
        rows = run(options)
    shown = report(rows)
    if options.svg and shown[1]:
        options.svg.write_text(picture(*shown))


if __name__ == "__main__":
    main()
