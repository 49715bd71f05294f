"""Trains twice, by ``jax.jit`` and by ``jaxide.jit``: the same losses, and what both took."""

import statistics
import time

import jax

import jaxide


def beside(name, train):
    """Calls ``train(jit)``, which yields a loss after each step, with both."""
    runs = {jit_name: train(jit) for jit_name, jit in (("jax", jax.jit), ("jaxide", jaxide.jit))}
    times = {jit_name: [] for jit_name in runs}
    seen = {jit_name: [] for jit_name in runs}
    done = False
    while not done:
        for jit_name, run in runs.items():
            start = time.perf_counter()
            loss = next(run, None)
            if loss is None:
                done = True
                continue
            seen[jit_name].append(float(loss))
            times[jit_name].append(time.perf_counter() - start)
    for jit_name in runs:
        first, *steps = times[jit_name]
        print(
            f"{name:11} {jit_name:7} loss {seen[jit_name][0]:.5f} to {seen[jit_name][-1]:.5f}, first step {first * 1e3:8.1f} ms, "
            f"steps {min(steps) * 1e3:7.3f} ms at least, {statistics.median(steps) * 1e3:7.3f} in the median"
        )
    apart = max(abs(a - b) for a, b in zip(*seen.values()))
    print(f"{name:11} losses are at most {apart:.1e} apart")
    return apart
