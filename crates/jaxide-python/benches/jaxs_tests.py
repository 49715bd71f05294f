"""Runs JAX's own tests under ``jaxide.patch()``, and those that fail by ``jax.jit`` once more.

    python jaxs_tests.py FOLDER FILE ...

FOLDER is the folder ``tests`` of JAX's sources, from wherever they are to be had: wheels do not have it. It needs pytest, absl-py,
hypothesis and what else those tests import. For each file it prints how many tests pass in both ways, and how many programs jaxide compiled; then
the names of those that fail here alone. ``jaxs_tests.txt`` beside this has those that are known, each with its reason: what is not in it
makes the exit status 1, and so does what is in it and passes. At the end, what was left to ``jax.jit`` and why.
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
    compiled = _jit.compiled

    def counted(traced):
        program = compiled(traced)
        MADE[0] += 1
        return program

    _jit.compiled = counted
    # Its end would be that of the patch.
    PATCHES.append(jaxide.patch())
    PATCHES[0].__enter__()
    api.jit = jax.jit


def pytest_unconfigure(config):
    with open(os.environ["JAXIDE_LEFT"], "a") as file:
        file.writelines(f"{count}\t{why}\n" for why, count in LEFT.items())
        file.write(f"{MADE[0]}\t\n")


LEFT = collections.Counter()
#: How many programs were compiled.
MADE = [0]
PATCHES = []


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


def known():
    """The reasons of the tests that are known to fail here alone."""
    reasons = {}
    reason = None
    for line in pathlib.Path(__file__).with_suffix(".txt").read_text().splitlines():
        if line.startswith("# "):
            reason = line[2:]
        elif line:
            reasons[line] = reason
    return reasons


def main(folder, *files):
    left = tempfile.NamedTemporaryFile("r+", suffix=".txt")
    os.environ["JAXIDE_LEFT"] = left.name
    print("| | tests | by `jax.jit` | by jaxide | programs |\n|---|---|---|---|---|")
    different = []
    ran = set()
    reasons = known()
    counts = collections.Counter()
    for file in files:
        ours = run(folder, file, True)
        ran |= {f"{file}::{name}" for name in ours}
        failed = [name for name, outcome in ours.items() if outcome in ("failure", "error")]
        theirs = run(folder, file, False, failed) if failed else {}
        alone = [name for name in failed if theirs.get(name) == "passed"]
        passed = list(ours.values()).count("passed")
        made = 0
        for line in left.read().splitlines():
            count, why = line.split("\t", 1)
            if why:
                counts[why] += int(count)
            else:
                made += int(count)
        if not made:
            sys.exit(f"{file}: jaxide has compiled nothing")
        print(f"| `{file}` | {len(ours)} | {passed + len(alone)} | {passed} | {made} |", flush=True)
        different += [f"{file}::{name}" for name in alone]
    new = [name for name in different if name not in reasons]
    gone = [name for name in reasons if name in ran and name not in different]
    print("\nFail here alone, as known:", *(f"{name}: {reasons[name]}" for name in different if name in reasons), sep="\n  ")
    print("\nFail here alone, and are not known:", *new, sep="\n  ")
    print("\nAre known to fail, and do not:", *gone, sep="\n  ")
    print("\nLeft to `jax.jit`:", *(f"{count} × {why}" for why, count in counts.most_common()), sep="\n  ")
    return 1 if new or gone else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
