"""What gradients of loops cost, in JAX and in jaxide, in turns: `python benches/cost_vs_jax.py [SIZE ...]`.

For each case of `crates/jaxide/benches/cost.rs`, the same program in JAX. The python that runs this must have JAX. Times are
the shortest of many runs in microseconds, on one thread of jaxide's; a gradient's cost is the ratio to its function.
"""

import math
import os
import subprocess
import sys
import time

os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")

import jax
import jax.numpy as jnp
from jax import lax

WIDTH = 32


def line(n):
    return jnp.linspace(0.5, 1.5, n)


def layers(s, w):
    return jnp.sin(jnp.tanh(jnp.sin(s * w) * w) * w)


def steps(n, s, step):
    return lax.scan(lambda s, _: (step(s), None), s, None, length=n)[0]


def repeated(n, step):
    return steps(n, jnp.ones(WIDTH), step)


def scan(n):
    return lambda w: repeated(n, lambda s: layers(s, w)).sum()


def checkpointed_steps(n):
    step = jax.checkpoint(layers)
    return lambda w: repeated(n, lambda s: step(s, w)).sum()


def checkpointed_blocks(n):
    root = math.isqrt(n)
    block = jax.checkpoint(lambda s, w: steps(root, s, lambda s: layers(s, w)))
    return lambda w: repeated(n // root, lambda s: block(s, w)).sum()


def read(n):
    return lambda x: lax.fori_loop(0, n, lambda i, s: jnp.sin(s + x[i]), 0.0)


def read_rows(n):
    return lambda x: lax.fori_loop(0, n, lambda i, s: jnp.sin(s + x[i]), jnp.zeros(WIDTH)).sum()


def read_two(n):
    return lambda x: lax.fori_loop(0, n, lambda i, s: jnp.sin(s + x[jnp.stack([i, n - 1 - i])].sum()), 0.0)


CASES = {
    "scan": (scan, lambda n: line(WIDTH)),
    "checkpointed steps": (checkpointed_steps, lambda n: line(WIDTH)),
    "checkpointed blocks": (checkpointed_blocks, lambda n: line(WIDTH)),
    "read x[i]": (read, line),
    "read rows[i]": (read_rows, lambda n: line(n * WIDTH).reshape(n, WIDTH)),
    "read x[[i, j]]": (read_two, line),
}


def jax_times(program, argument):
    """Shortest times of function and gradient in microseconds, and the gradient's temporary memory in bytes."""
    compiled = [jax.jit(f).lower(argument).compile() for f in (program, jax.grad(program))]
    best, start, turns = [math.inf, math.inf], time.perf_counter(), 0
    while turns < 3 or time.perf_counter() - start < 0.3:
        for k, f in enumerate(compiled):
            begin = time.perf_counter()
            f(argument).block_until_ready()
            best[k] = min(best[k], (time.perf_counter() - begin) * 1e6)
        turns += 1
    return (*best, compiled[1].memory_analysis().temp_size_in_bytes)


def main():
    sizes = [int(word) for word in sys.argv[1:]] or [100, 1_000, 10_000]
    command = ["cargo", "bench", "-q", "-p", "jaxide", "--bench", "cost", "--", "--serve"]
    ours = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    print(f"{'':<20} {'n':>7} | {'JAX':>10} {'gradient':>10} {'ratio':>6} {'memory':>10} | {'jaxide':>10} {'gradient':>10} {'ratio':>6} {'memory':>10}")
    for name, (program, argument) in CASES.items():
        for n in sizes:
            ours.stdin.write(f"{name},{n}\n")
            ours.stdin.flush()
            function, gradient, memory = map(float, ours.stdout.readline().split())
            theirs = jax_times(program(n), argument(n))
            print(
                f"{name:<20} {n:>7} | {theirs[0]:>10.1f} {theirs[1]:>10.1f} {theirs[1] / theirs[0]:>6.1f} {theirs[2]:>10}"
                f" | {function:>10.1f} {gradient:>10.1f} {gradient / function:>6.1f} {int(memory):>10}",
                flush=True,
            )
    ours.stdin.close()


if __name__ == "__main__":
    main()
