"""Operations outside `jit`, in jaxide and in JAX, in turns: `python benches/eager_vs_jax.py [CASE ...]`.

For each case of `crates/jaxide/benches/eager.rs`, the same call in JAX. The python that runs this must have JAX. Each
round asks jaxide for the shortest time of an immediate and of a jitted call, then times JAX; the table gives the shortest
times of all rounds in microseconds, and ratios as the smallest and the median of the rounds. Words on the command line
choose cases by their beginning.
"""

import functools
import math
import statistics
import subprocess
import sys
import time

import jax
import jax.numpy as jnp

ROUNDS = 5


def normal(*shape):
    return jax.random.normal(jax.random.key(1), shape)


def loss(w, x):
    y = jnp.tanh(x * w)
    return (y * y + jnp.exp(-y) * 0.5).mean()


def network(w, x):
    return jnp.square(jnp.tanh(x @ w) @ w).mean()


def polynomial(x):
    return ((x * 0.5 + 1.0) * x - 2.0) * x + 3.0


def add(x, y):
    return x + y


def matmul(x, y):
    return x @ y


def again(x):
    return jax.jit(lambda x: jnp.tanh((x * 0.5 + 1.0) * x - 2.0) * x + 3.0)(x)


CASES = {
    "add scalars": (add, [(), ()]),
    "add 8": (add, [(8,), (8,)]),
    "multiply by number 100": (lambda x: x * 2.0, [(100,)]),
    "sine 100": (jnp.sin, [(100,)]),
    "sum 10x10": (jnp.sum, [(10, 10)]),
    "reshape 100": (lambda x: x.reshape(10, 10), [(100,)]),
    "product 8x8": (matmul, [(8, 8), (8, 8)]),
    "polynomial 100": (polynomial, [(100,)]),
    "add 1e6": (add, [(1_000_000,), (1_000_000,)]),
    "sine 1e6": (jnp.sin, [(1_000_000,)]),
    "sum 1e6": (jnp.sum, [(1_000_000,)]),
    "product 512x512": (matmul, [(512, 512), (512, 512)]),
    "sort 1e5": (jnp.sort, [(100_000,)]),
    "grad of a loss 1e6": (jax.grad(loss), [(1_000_000,), (1_000_000,)]),
    "grad of a network 256": (jax.grad(network), [(256, 256), (512, 256)]),
    "vmap of a loss 1000x1000": (jax.vmap(loss), [(1000, 1000), (1000, 1000)]),
    "jit again": (again, [(100,)]),
}


def jax_time(call):
    """The shortest time of a call in microseconds, of many at once where it is short."""
    best, start = math.inf, time.perf_counter()
    while time.perf_counter() - start < 0.2:
        count = 1
        while True:
            begin = time.perf_counter()
            for _ in range(count):
                result = call()
            result.block_until_ready()
            took = time.perf_counter() - begin
            best = min(best, took * 1e6 / count)
            if took > 5e-4:
                break
            count *= 4
    return best


def main():
    words = sys.argv[1:]
    command = ["cargo", "bench", "-q", "-p", "jaxide", "--bench", "eager", "--", "--serve"]
    ours = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(f"{'':<26} | {'jaxide':>10} {'jitted':>10} {'JAX':>10} | jaxide / jitted   | JAX / jaxide")
    overall = []
    for name, (function, shapes) in CASES.items():
        if words and not any(name.startswith(word) for word in words):
            continue
        call = functools.partial(function, *(normal(*shape) for shape in shapes))
        call().block_until_ready()
        rounds = []
        for _ in range(ROUNDS):
            ours.stdin.write(f"{name}\n")
            ours.stdin.flush()
            immediate, jitted = map(float, ours.stdout.readline().split())
            rounds.append((immediate, jitted, jax_time(call)))
        best = [min(times) for times in zip(*rounds)]
        theirs = [jax / immediate for immediate, _, jax in rounds]
        overall.append(statistics.median(theirs))
        beside = ""
        if best[1] > 0:
            own = [immediate / jitted for immediate, jitted, _ in rounds]
            beside = f"{min(own):>7.2f} {statistics.median(own):>7.2f}"
        print(
            f"{name:<26} | {best[0]:>10.2f} {best[1]:>10.2f} {best[2]:>10.2f} | {beside:<17} |"
            f" {min(theirs):>7.2f} {statistics.median(theirs):>7.2f}",
            flush=True,
        )
    print(f"geometric mean of the medians, JAX / jaxide: {statistics.geometric_mean(overall):.2f}")
    ours.stdin.close()


if __name__ == "__main__":
    main()
