"""The programs of `tests/programs` at real size, compiled, in JAX and in jaxide in turns.

    python crates/jaxide/benches/programs_vs_jax.py [--rounds 5] [--seconds 0.4] [NAME ...]

The python that runs this must have JAX. For each program the shortest times and the medians of all calls are shown in
microseconds, with the ratios JAX / jaxide (above 1 jaxide is faster), the milliseconds of the first call of each, which
compiles, and the largest difference between the mean sizes of the arrays of both results, relative to them. Ends with an
error where a ratio of shortest times is below one.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

CRATE = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(CRATE / "tests" / "programs"))

from record import NAMES, leaves, program

import jax
import numpy as np


class Jaxide:
    """The bench target, as it answers lines."""

    def __init__(self):
        command = ["cargo", "bench", "-q", "-p", "jaxide", "--bench", "programs", "--", "--serve"]
        self.process = subprocess.Popen(command, cwd=CRATE, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return [float(word) for word in self.process.stdout.readline().split()]


def jax_times(call, seconds):
    start, times = time.perf_counter(), []
    while len(times) < 3 or time.perf_counter() - start < seconds:
        begin = time.perf_counter()
        call()
        times.append((time.perf_counter() - begin) * 1e6)
    return times


def difference(theirs, ours):
    theirs = [float(np.abs(np.asarray(x, np.float64)).mean()) for _, x in leaves(theirs)]
    return max(abs(a - b) / max(abs(a), 1e-3) for a, b in zip(theirs, ours, strict=True))


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("names", nargs="*")
    arguments.add_argument("--rounds", type=int, default=5)
    arguments.add_argument("--seconds", type=float, default=0.4)
    options = arguments.parse_args()
    jaxide, slow = Jaxide(), []
    columns = ["JAX min", "ours min", "ratio", "JAX median", "our median", "ratio", "JAX first", "our first"]
    print(f"{'':<16} " + " ".join(f"{column:>11}" for column in columns) + f" {'difference':>10}")
    for name in options.names or NAMES:
        with program(name, real=True) as (f, args):
            jitted = jax.jit(f)
            call = lambda: jax.block_until_ready(jitted(*args))
            begin = time.perf_counter()
            result = call()
            their_first = (time.perf_counter() - begin) * 1e3
            [our_first] = jaxide.ask(f"compile {name} real")
            differs = difference(result, jaxide.ask("sizes"))
            theirs, ours = [], []
            for _ in range(options.rounds):
                theirs += jax_times(call, options.seconds)
                ours += jaxide.ask(f"time {options.seconds}")
        shortest, medians = [(f(theirs), f(ours)) for f in (min, statistics.median)]
        ratio = shortest[0] / shortest[1]
        if ratio < 1:
            slow.append(name)
        print(
            f"{name:<16} {shortest[0]:>11.1f} {shortest[1]:>11.1f} {ratio:>11.2f}"
            f" {medians[0]:>11.1f} {medians[1]:>11.1f} {medians[0] / medians[1]:>11.2f}"
            f" {their_first:>8.0f} ms {our_first:>8.0f} ms {differs:>10.1e}",
            flush=True,
        )
    if slow:
        sys.exit(f"slower than JAX: {', '.join(slow)}")


if __name__ == "__main__":
    main()
