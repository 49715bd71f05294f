"""Runs JAX's own tests under ``jaxide.patch()``, and those that fail by ``jax.jit`` once more.

    python jaxs_tests.py FOLDER FILE ...

FOLDER is the folder ``tests`` of JAX's sources, from wherever they are to be had: wheels do not have it. It needs pytest, absl-py,
hypothesis and what else those tests import. For each file it prints how many tests pass in both ways, and the names of those that fail here alone;
at the end, what was left to ``jax.jit`` and why.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def pytest_configure(config):
    """As a plugin of pytest: puts ``jaxide.jit`` in the place of ``jax.jit``, also where JAX itself compiles."""
    import jax
    from jax._src import api

    import jaxide
    from jaxide import _jit

    def refuse(tracer, why):
        if tracer.strict:
            raise _jit.UnsupportedError(why)
        LEFT[why.split(" (/", 1)[0]] += 1

    # Each time is counted, and no warning becomes a failure.
    _jit._Tracer.refuse = refuse
    jaxide.patch().__enter__()
    api.jit = jax.jit


def pytest_unconfigure(config):
    with open(os.environ["JAXIDE_LEFT"], "a") as file:
        file.writelines(f"{count}\t{why}\n" for why, count in LEFT.items())


LEFT = collections.Counter()


def run(folder, file, patched, only=()):
    """The outcomes of a file's tests by their names."""
    with tempfile.TemporaryDirectory() as place:
        report = pathlib.Path(place) / "report.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}"]
        command += ["-p", pathlib.Path(__file__).stem] if patched else []
        command += [f"{file}::{name.replace('.', '::')}" for name in only] or [file]
        path = f"{pathlib.Path(__file__).parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        subprocess.run(command, cwd=folder, env=os.environ | {"PYTHONPATH": path}, stdout=subprocess.DEVNULL)
        outcomes = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            kinds = {child.tag for child in case} & {"failure", "error", "skipped"}
            outcomes[f"{case.get('classname').rsplit('.', 1)[-1]}.{case.get('name')}"] = kinds.pop() if kinds else "passed"
        return outcomes


def main(folder, *files):
    left = tempfile.NamedTemporaryFile("r+", suffix=".txt")
    os.environ["JAXIDE_LEFT"] = left.name
    print("| | tests | by `jax.jit` | by jaxide |\n|---|---|---|---|")
    different = []
    for file in files:
        ours = run(folder, file, True)
        failed = [name for name, outcome in ours.items() if outcome in ("failure", "error")]
        theirs = run(folder, file, False, failed) if failed else {}
        alone = [name for name in failed if theirs.get(name) == "passed"]
        passed = list(ours.values()).count("passed")
        print(f"| `{file}` | {len(ours)} | {passed + len(alone)} | {passed} |", flush=True)
        different += [f"{file}::{name}" for name in alone]
    print("\nFail here alone:", *different, sep="\n  ")
    counts = collections.Counter()
    for line in left.read().splitlines():
        count, why = line.split("\t", 1)
        counts[why] += int(count)
    print("\nLeft to `jax.jit`:", *(f"{count} × {why}" for why, count in counts.most_common()), sep="\n  ")


if __name__ == "__main__":
    main(*sys.argv[1:])
