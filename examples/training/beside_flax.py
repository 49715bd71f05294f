"""Runs an example in turn with the same program in Flax, and prints what both measured.

    python examples/training/beside_flax.py digits_cnn characters vae --rounds 3

takes a Python with flax 0.12.12 and optax 0.2.8, and builds the examples first.
"""

import argparse
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
TIME = re.compile(r"^(\w+) ([\d.]+) ms at least, ([\d.]+) in the median$", re.M)
RESULT = re.compile(r"^result ([\d.]+)$", re.M)


def run(command):
    """The least and the median time of everything that a program times, by name, and its result."""
    text = subprocess.run(command, cwd=ROOT, check=True, capture_output=True, text=True).stdout
    times = {name: (float(least), float(median)) for name, least, median in TIME.findall(text)}
    return times, float(RESULT.search(text)[1])


def compare(name, rounds):
    ours, flax = [], []
    for _ in range(rounds):
        ours.append(run([ROOT / "target/release/examples" / name]))
        flax.append(run([sys.executable, HERE / name / "flax_program.py"]))
    for timed in ours[0][0]:
        (a, b), (c, d) = (
            (min(times[timed][0] for times, _ in runs), sorted(times[timed][1] for times, _ in runs)[rounds // 2])
            for runs in (ours, flax)
        )
        print(f"{name:12} {timed:7} {a:9.3f} {c:9.3f} {c / a:7.2f} {b:9.3f} {d:9.3f} {d / b:7.2f}", end="")
        print(f"   {ours[0][1]:.4f} {flax[0][1]:.4f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="+", choices=["digits_cnn", "characters", "vae"])
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    examples = [argument for name in options.names for argument in ("--example", name)]
    subprocess.run(["cargo", "build", "--release", "--quiet", "-p", "jaxide-training", *examples], cwd=ROOT, check=True)
    print("                       least time in ms             median time in ms            result")
    print("program      timed       ours      Flax   ratio      ours      Flax   ratio   ours   Flax")
    for name in options.names:
        compare(name, options.rounds)


main()
