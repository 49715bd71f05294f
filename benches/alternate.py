"""Times JAX in this process and jaxide beside it, in turns, on the same program and arrays; what `sweep.py` and `families.py` share.

Import it, and call `threads`, before anything imports JAX: JAX makes its threads when it starts.
"""

import gc
import json
import math
import os
import pathlib
import shutil
import subprocess
import tempfile
import time

SHARED_MEMORY = "/dev/shm"


def arguments(parser):
    """Options that all drivers have."""
    parser.add_argument("--jaxide", default="target/release/jaxide", help="the program")
    parser.add_argument("--threads", type=int, default=0, help="of both; all of the machine by default")
    parser.add_argument("--backend", default="native", help="native, native-avx512, native-avx2 or native-portable")
    parser.add_argument("--rounds", type=int, default=2, help="how often each is measured")
    parser.add_argument("--seconds", type=float, default=0.04, help="how long each is measured in a round")
    parser.add_argument("--limit", type=float, default=math.inf, help="after so many seconds no further program is begun")
    parser.add_argument("--save", type=pathlib.Path, help="a file to which a line of JSON is appended for each program")


def threads(count):
    """Lets this process, and what it starts, run on so many processors."""
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    if count:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:count])
    return len(os.sched_getaffinity(0))


def geometric_mean(ratios):
    return math.exp(sum(map(math.log, ratios)) / len(ratios)) if ratios else math.nan


class Alternation:
    """Measures programs; a context, since it has a folder of its own in memory."""

    def __init__(self, options):
        self.options = options
        self.count = threads(options.threads)

    def __enter__(self):
        self.folder = tempfile.mkdtemp(dir=SHARED_MEMORY if os.path.isdir(SHARED_MEMORY) else None)
        self.end = time.monotonic() + self.options.limit
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def is_over(self):
        return time.monotonic() > self.end

    def measure(self, function, inputs, compare=True):
        """Times of a program in microseconds: `jax`, `jax_median`, `ours`, `ours_median`, `compile_ms`, and the largest `difference`; or a `mistake`."""
        import jax
        import numpy as np

        closed = jax.make_jaxpr(function)(*inputs)
        path = pathlib.Path(self.folder)
        (path / "program.jaxpr").write_text(f"{closed}\n")
        arrays = {f"const{i}": c for i, c in enumerate(closed.consts)} | {f"in{i}": x for i, x in enumerate(jax.tree.leaves(inputs))}
        np.savez(path / "in.npz", **{name: np.asarray(array) for name, array in arrays.items()})
        jitted = jax.jit(function)
        start = time.perf_counter()
        want = jax.block_until_ready(jitted(*inputs))
        row = {"jax_first_ms": (time.perf_counter() - start) * 1e3}
        rounds = []
        for turn in range(self.options.rounds):
            ours = self.jaxide(path, compare and turn == 0)
            if "mistake" in ours:
                return row | ours
            rounds.append((jax_times(jitted, inputs, self.options.seconds), ours))
        row["jax"] = min(jax[0] for jax, _ in rounds)
        row["jax_median"] = min(jax[1] for jax, _ in rounds)
        row["ours"] = min(ours["min_us"] for _, ours in rounds)
        row["ours_median"] = min(ours["median_us"] for _, ours in rounds)
        row["compile_ms"] = min(ours["compile_ms"] for _, ours in rounds)
        row["ratio"] = row["jax"] / row["ours"]
        if compare:
            row["difference"] = largest_difference([np.asarray(x) for x in jax.tree.leaves(want)], np.load(path / "out.npz"))
        return row

    def jaxide(self, path, keep):
        command = [self.options.jaxide, "bench", path / "program.jaxpr", "--inputs", path / "in.npz", "--json"]
        command += ["--seconds", str(self.options.seconds), "--backend", self.options.backend, "--threads", str(self.count)]
        command += ["--output", path / "out.npz"] if keep else []
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            return {"mistake": next(iter(done.stderr.strip().splitlines()), f"status {done.returncode}")}
        return json.loads(done.stdout)


def jax_times(jitted, inputs, seconds):
    """The least and the median time of a call, in microseconds."""
    import jax

    run = lambda: jax.block_until_ready(jitted(*inputs))
    run()
    start = time.perf_counter()
    run()
    repeats = max(1, min(1000, int(50e-6 / max(time.perf_counter() - start, 1e-7))))
    gc.disable()
    times, end = [], time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        times.append((time.perf_counter() - start) / repeats * 1e6)
    gc.enable()
    times.sort()
    return times[0], times[len(times) // 2]


def largest_difference(want, got):
    """The largest difference between results, relative to the largest element; infinite if shapes differ."""
    import numpy as np

    worst = 0.0
    for index, a in enumerate(want):
        b = got[f"out{index}"]
        if a.shape != b.shape:
            return math.inf
        if a.dtype != b.dtype and a.dtype.itemsize == b.dtype.itemsize:
            # Types that NumPy has no name for are stored as their bits.
            b = b.view(a.dtype)
        if a.size == 0:
            continue
        a, b = a.astype(np.complex128), b.astype(np.complex128)
        finite = np.isfinite(a) & np.isfinite(b)
        scale = max(1.0, float(np.abs(a[finite]).max(initial=0.0)))
        worst = max(worst, float(np.abs(a[finite] - b[finite]).max(initial=0.0)) / scale)
    return worst
