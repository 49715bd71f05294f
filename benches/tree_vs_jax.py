#!/usr/bin/env python3
"""Times flatten + unflatten of 10 000-leaf trees in jaxide-tree and in JAX, taking turns in one run.

    python benches/tree_vs_jax.py [--rounds 20]

Prints the shortest time of each and the ratio. Needs jax, and builds the Rust side with `cargo bench`.
"""

import argparse
import math
import pathlib
import subprocess
import time
from dataclasses import dataclass

import jax


@jax.tree_util.register_dataclass
@dataclass
class Layer:
    w: object
    b: object
    scale: object
    shift: object
    width: int = jax.tree.static()


def cases():
    leaf = object
    names = ["bias", "kernel", "mean", "scale", "var", "w0", "w1", "w2", "w3", "w4"]
    dicts = {f"layer_{i}": {f"param_{j}": leaf() for j in range(10)} for i in range(1000)}
    return {
        "list": [leaf() for _ in range(10_000)],
        "tuples": [(leaf(), (leaf(), [leaf(), leaf()])) for _ in range(2_500)],
        "structs": [Layer(leaf(), leaf(), leaf(), leaf(), 8) for _ in range(2_500)],
        "literal_keys": [{name: leaf() for name in names} for _ in range(1_000)],
        "shared_keys": dicts,
        "string_keys": dicts,
        "hash_map": dicts,
        "dynamic": dicts,
    }


def shortest_ns(value, seconds=0.1):
    best = math.inf
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.perf_counter_ns()
        leaves, treedef = jax.tree.flatten(value)
        jax.tree.unflatten(treedef, leaves)
        best = min(best, time.perf_counter_ns() - start)
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    rounds = parser.parse_args().rounds
    root = pathlib.Path(__file__).resolve().parent.parent
    command = ["cargo", "bench", "-q", "-p", "jaxide-tree", "--bench", "flatten", "--", "--serve"]
    rust = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(name):
        rust.stdin.write(name + "\n")
        rust.stdin.flush()
        return int(rust.stdout.readline())

    print(f"{'case':15} {'jax µs':>10} {'jaxide µs':>10} {'ratio':>8}")
    ratios = []
    for name, value in cases().items():
        pairs = [(shortest_ns(value), ask(name)) for _ in range(rounds)]
        theirs, ours = (min(times) / 1e3 for times in zip(*pairs))
        ratios.append(ours / theirs)
        print(f"{name:15} {theirs:10.1f} {ours:10.1f} {ratios[-1]:8.3f}")
    print(f"geometric mean of the ratios: {math.exp(sum(map(math.log, ratios)) / len(ratios)):.3f}")
    rust.stdin.close()
    rust.wait()


if __name__ == "__main__":
    main()
