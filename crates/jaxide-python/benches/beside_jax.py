"""Times ``jaxide.jit`` beside ``jax.jit``, in turns, from Python.

    python beside_jax.py [--turns SECONDS] PROGRAMS.py [PREFIX ...]

PROGRAMS.py calls ``bench(name, function, *arguments)`` for each program. Each row has the first call of both in milliseconds (trace,
compile, run), the calls of both in microseconds by minimum, and JAX's time over ours by minimum and by median. The mean of first calls is of what they take
beyond a call. With ``--turns`` each goes on for
so long before the other has its turn, as a loop that trains does: its threads are awake then, and its data are in the caches.
"""

import argparse
import gc
import math
import pathlib
import statistics
import sys
import time

import jax

import jaxide

SECONDS = 1.0


def once(call):
    start = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - start


def bench(name, function, *args):
    if PREFIXES and not any(name == prefix or prefix.endswith("*") and name.startswith(prefix[:-1]) for prefix in PREFIXES):
        return
    calls = []
    first = []
    for jit in (jax.jit, jaxide.jit):
        jitted = jit(function)
        call = lambda jitted=jitted: jitted(*args)
        jax.clear_caches()
        # So that none pays for what others left.
        gc.collect()
        first.append(once(call))
        calls.append(call)
    for call in calls:
        for _ in range(20 if first[1] < 0.5 else 1):
            once(call)
    repeat = max(1, min(1000, int(1e-4 / max(once(calls[0]), 1e-7))))
    times = [[], []]
    gc.disable()
    end = time.perf_counter() + SECONDS
    while time.perf_counter() < end or len(times[0]) < 7:
        for call, taken in zip(calls, times):
            turn = time.perf_counter() + TURN
            while True:
                start = time.perf_counter()
                for _ in range(repeat):
                    jax.block_until_ready(call())
                now = time.perf_counter()
                taken.append((now - start) / repeat)
                if now >= turn:
                    break
    gc.enable()
    least = [min(taken) for taken in times]
    middle = [statistics.median(taken) for taken in times]
    ratios = least[0] / least[1], middle[0] / middle[1]
    made = [max(whole - run, 1e-4) for whole, run in zip(first, middle)]
    ROWS.append((made[0] / made[1], *ratios))
    print(
        f"| `{name}` | {first[0] * 1e3:.1f} | {first[1] * 1e3:.1f} | {least[0] * 1e6:.1f} | {least[1] * 1e6:.1f} "
        f"| {ratios[0]:.2f} | {ratios[1]:.2f} |",
        flush=True,
    )


OPTIONS = argparse.ArgumentParser(usage="beside_jax.py [--turns SECONDS] PROGRAMS.py [PREFIX ...]")
OPTIONS.add_argument("--turns", type=float, default=0.0)
OPTIONS.add_argument("path")
OPTIONS.add_argument("prefixes", nargs="*")
GIVEN = OPTIONS.parse_args()
PATH, PREFIXES, TURN = GIVEN.path, GIVEN.prefixes, GIVEN.turns
ROWS = []
sys.argv = [PATH, "list"]
print("| | first call, JAX | ours, ms | call, JAX | ours, µs | by minimum | by median |\n|---|---|---|---|---|---|---|")
source = pathlib.Path(PATH).read_text().replace("def bench(", "def _not_here(")
exec(compile(source, PATH, "exec"), {"bench": bench, "__name__": "programs"})
mean = [math.exp(statistics.fmean(map(math.log, column))) for column in zip(*ROWS)]
print(f"| geometric mean of ratios | | {mean[0]:.1f} | | | {mean[1]:.2f} | {mean[2]:.2f} |")
