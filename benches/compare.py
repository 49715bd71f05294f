"""Runs JAX and jaxide alternately on the same programs and inputs, and prints ratios.

    python benches/compare.py PROGRAMS.py [--jaxide target/release/jaxide] [--rounds 3] [--seconds 0.5] [PREFIX ...]

PROGRAMS.py, `benches/programs.py` for one, is a file that knows `export DIR PREFIX ...` (writes NAME.jaxpr and NAME.npz) and `time PREFIX ...` (prints a
JSON object per program with `min_us` and `med_us`). The python that runs this script must have JAX.

For each program: outputs are compared first; then both are timed in turns, and the ratios of the minima and of the medians
(JAX over jaxide: above 1 jaxide is faster) are printed, with the geometric mean over all programs at the end.
"""

import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import numpy as np


def jax_times(programs, name, seconds):
    """Times of the program that is called exactly `name`."""
    environment = dict(os.environ, BUDGET=str(seconds))
    out = subprocess.run(
        [sys.executable, programs, "time", name], capture_output=True, text=True, check=True, env=environment
    ).stdout
    rows = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
    return next(row for row in rows if row["name"] == name)


def jaxide_times(jaxide, folder, name, seconds):
    out = subprocess.run(
        [jaxide, "bench", f"{folder}/{name}.jaxpr", "--inputs", f"{folder}/{name}.npz",
         "--output", f"{folder}/{name}.out.npz", "--seconds", str(seconds), "--json"],
        capture_output=True, text=True,
    )
    if out.returncode:
        return None, out.stderr.strip().splitlines()[0] if out.stderr else "failed"
    return json.loads(out.stdout), None


def largest_difference(folder, name):
    """The largest difference between both results, relative to the largest element."""
    want, got = np.load(f"{folder}/{name}.npz"), np.load(f"{folder}/{name}.out.npz")
    worst = 0.0
    for key in (key for key in want.files if key.startswith("out")):
        a, b = want[key], got[key]
        if a.shape != b.shape or a.dtype != b.dtype:
            return math.inf
        if a.size == 0:
            continue
        a, b = a.astype(np.complex128), b.astype(np.complex128)
        finite = np.isfinite(a) & np.isfinite(b)
        scale = max(1.0, float(np.abs(a[finite]).max(initial=0.0)))
        worst = max(worst, float(np.abs(a - b)[finite].max(initial=0.0)) / scale)
    return worst


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("programs")
    arguments.add_argument("prefixes", nargs="*")
    arguments.add_argument("--jaxide", default="target/release/jaxide")
    arguments.add_argument("--rounds", type=int, default=3)
    arguments.add_argument("--seconds", type=float, default=0.5)
    options = arguments.parse_intermixed_args()
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([sys.executable, options.programs, "export", folder, *options.prefixes], check=True)
        names = sorted(path.stem for path in pathlib.Path(folder).glob("*.jaxpr"))
        print(f"{'program':<28} {'JAX min':>10} {'ours min':>10} {'ratio':>7} {'median':>7} {'compile':>9} {'difference':>10}")
        minima, medians = [], []
        for name in names:
            jax, ours, mistake = [], [], None
            for _ in range(options.rounds):
                jax.append(jax_times(options.programs, name, options.seconds))
                measured, mistake = jaxide_times(options.jaxide, folder, name, options.seconds)
                if mistake:
                    break
                ours.append(measured)
            if mistake:
                print(f"{name:<28} {mistake}")
                continue
            a, b = min(row["min_us"] for row in jax), min(row["min_us"] for row in ours)
            median = statistics.median(row["med_us"] for row in jax) / statistics.median(row["median_us"] for row in ours)
            minima.append(a / b)
            medians.append(median)
            compile_ms = min(row["compile_ms"] for row in ours)
            difference = largest_difference(folder, name)
            print(f"{name:<28} {a:>8.1f}us {b:>8.1f}us {a / b:>7.2f} {median:>7.2f} {compile_ms:>7.2f}ms {difference:>10.1e}", flush=True)
        if minima:
            mean = lambda values: math.exp(sum(map(math.log, values)) / len(values))
            print(f"{'geometric mean':<28} {'':>10} {'':>10} {mean(minima):>7.2f} {mean(medians):>7.2f}")


if __name__ == "__main__":
    main()
