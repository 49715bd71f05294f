#!/usr/bin/env python3
"""Temporary memory that compiled programs plan, beside JAX's.

    python benches/memory.py benches/programs.py [PREFIX ...]
    python benches/memory.py --gradients benches/programs.py
    python benches/memory.py FILE.py --jaxide target/release/jaxide

FILE.py either has a table `PROGRAMS` as `benches/programs.py`, or calls a function `bench(name, f, *args)` of its own.
Prints bytes of ours and of `memory_analysis().temp_size_in_bytes` for each program that plans more than JAX's and 64 KiB,
the worst first, and how many there are; `--all` prints every program. With `--gradients` it is the gradient of the sum of
all results that is compiled. Programs are traced only, and never run. Needs a Python with JAX.
"""

import argparse
import ast
import importlib.util
import os
import pathlib
import re
import subprocess
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import jax
import jax.numpy as jnp

SLACK = 64 << 10


def table(path):
    """Programs of a file: names with functions and arguments."""
    source = path.read_text()
    tree = ast.parse(source, str(path))
    benches = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == "bench"]
    if not benches:
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        for name, (f, _) in module.PROGRAMS.items():
            yield name, f, module.arguments(name)
        return
    found = []
    sys.argv = [str(path), "list"]
    space = {"__name__": path.stem, "__file__": str(path)}
    for node in tree.body:
        exec(compile(ast.Module([node], []), str(path), "exec"), space)
        if node in benches:
            space["bench"] = lambda name, f, *args: found.append((name, f, args))
    yield from found


def gradient(f, args):
    """The gradient of the sum of what `f` gives by all that can be differentiated, or None."""
    inexact = lambda x: jnp.issubdtype(jnp.result_type(x), jnp.floating)
    leaves, treedef = jax.tree.flatten(args)
    chosen = [k for k, x in enumerate(leaves) if inexact(x)]
    if not chosen:
        return None

    def total(some, all_leaves):
        for k, x in zip(chosen, some):
            all_leaves = all_leaves[:k] + [x] + all_leaves[k + 1 :]
        out = f(*jax.tree.unflatten(treedef, all_leaves))
        return sum(jnp.sum(y) for y in jax.tree.leaves(out) if inexact(y))

    return lambda *args: jax.grad(total)([jax.tree.leaves(args)[k] for k in chosen], jax.tree.leaves(args))


def ours(jaxide, text):
    """Bytes while a program runs."""
    command = [jaxide, "lower", "-"]
    out = subprocess.run(command, input=text, capture_output=True, text=True)
    found = re.search(r"a run takes \d+ bytes: (\d+) while it runs", out.stdout[:300])
    if not found:
        raise ValueError(out.stderr.strip().split("\n")[0] or out.stdout[:100])
    return int(found[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("prefixes", nargs="*")
    parser.add_argument("--gradients", action="store_true")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--jaxide", default=pathlib.Path(__file__).resolve().parent.parent / "target/release/jaxide")
    options = parser.parse_args()

    rows, refused = [], []
    for name, f, args in table(options.file):
        if options.prefixes and not any(name.startswith(prefix) for prefix in options.prefixes):
            continue
        if options.gradients:
            f = gradient(f, args)
            if f is None:
                continue
        try:
            text = str(jax.make_jaxpr(f)(*args))
            theirs = jax.jit(f).lower(*args).compile().memory_analysis().temp_size_in_bytes
            rows.append((ours(options.jaxide, text), theirs, name))
        except Exception as error:  # what JAX cannot differentiate, and what has no native form
            refused.append((name, str(error).split("\n")[0]))
    above = sorted((row for row in rows if row[0] > row[1] + SLACK), key=lambda row: row[1] - row[0])
    print(f"{'program':<36}{'ours':>14}{'JAX':>14}")
    for mine, theirs, name in sorted(rows, key=lambda row: row[1] - row[0]) if options.all else above:
        print(f"{name:<36}{mine:>14}{theirs:>14}")
    print(f"{len(above)} of {len(rows)} programs plan more than JAX's and {SLACK} bytes")
    for name, why in refused:
        print(f"no numbers for {name}: {why[:120]}")


main()
