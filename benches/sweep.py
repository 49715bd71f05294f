"""Every primitive, with every type, at several sizes and along every axis, beside JAX.

    python benches/sweep.py [PATTERN ...]                # those whose name, PRIMITIVE.VARIANT.TYPE.SIZE, has a part like `reduce*.f32`
    python benches/sweep.py --types f32,bf16 --sizes 1000,100000 --threads 1 --backend native-avx2
    python benches/sweep.py --limit 400 --part 2/9 --save FILE   # a ninth of all programs, for at most 400 seconds
    python benches/sweep.py --report FILE ...            # the summary of what was saved
    python benches/sweep.py --check                      # needs neither JAX nor time: does every primitive have a rule?

The primitives are those of `jaxide primitives --json`: one that is added to the table is in the sweep by itself if a rule of `sweep_rules.py` makes its
operands, and is named as missing otherwise. JAX says which types a primitive takes. Both are measured in turns; the ratios are JAX's least
time over jaxide's. The python that runs this must have JAX.
"""

import argparse
import collections
import fnmatch
import itertools
import json
import pathlib
import subprocess
import sys
import zlib

import alternate
import sweep_linear  # noqa: F401: it registers its rules
import sweep_makers  # noqa: F401
import sweep_rules

SIZES = (1_000, 100_000, 10_000_000)
# Results of more elements are not compared with JAX's, which takes longer than the measurement.
COMPARED = 200_000


def table(jaxide):
    return json.loads(subprocess.run([jaxide, "primitives", "--json"], capture_output=True, text=True, check=True).stdout)


def programs(rows, types, sizes):
    """Name, function and makers of arrays of every program; what JAX refuses is left out."""
    seen = set()
    for row, size, dtype in itertools.product(rows, sizes, types):
        for variant, function, inputs in sweep_rules.cases(row, dtype, size):
            shapes = "_".join("x".join(map(str, operand.shape)) for operand in inputs)
            # Rules that stop growing give the same program for several sizes.
            if (row["name"], variant, dtype, shapes) in seen and inputs:
                continue
            seen.add((row["name"], variant, dtype, shapes))
            yield f"{row['name']}.{variant}.{dtype}.{size}", function, inputs


def chosen(name, options):
    part, parts = map(int, options.part.split("/"))
    wanted = not options.patterns or any(fnmatch.fnmatchcase(name, f"*{pattern}*") for pattern in options.patterns)
    return wanted and zlib.crc32(name.encode()) % parts == part % parts


def run(options):
    """Measures programs and gives their rows."""
    rows = table(options.jaxide)
    problems = problems_of(rows)
    with alternate.Alternation(options) as alternation:
        import jax

        jax.config.update("jax_enable_x64", True)
        print(f"{'program':<52} {'JAX':>11} {'ours':>11} {'ratio':>7} {'compile':>9} {'difference':>10}")
        measured, legal = [], set()
        for name, function, inputs in programs(rows, options.types, options.sizes):
            if not chosen(name, options):
                continue
            if alternation.is_over():
                print("the time is over")
                break
            arrays = [operand.make(name) for operand in inputs]
            try:
                jax.block_until_ready(jax.jit(function)(*arrays))
            except Exception as error:  # JAX has its own, and those of its rules and of XLA
                if options.verbose:
                    print(f"{name:<52} JAX refuses: {str(error).splitlines()[0][:100]}")
                continue
            result = alternation.measure(function, arrays, sum(array.size for array in arrays) <= COMPARED)
            legal.add(name.split(".")[0])
            result = {"name": name, "backend": options.backend, "threads": alternation.count} | result
            measured.append(result)
            show(result)
            if options.save:
                with options.save.open("a") as file:
                    file.write(json.dumps(result) + "\n")
        else:
            if not options.patterns and options.part == "0/1":
                problems += [f"{row['name']}: JAX took no operands of its rule" for row in rows if row["name"] not in legal | sweep_rules.WITHOUT.keys()]
    return measured, problems


def show(row):
    if "mistake" in row:
        print(f"{row['name']:<52} {row['mistake'][:100]}", flush=True)
        return
    difference = f"{row['difference']:>10.1e}" if "difference" in row else ""
    print(f"{row['name']:<52} {row['jax']:>9.1f}us {row['ours']:>9.1f}us {row['ratio']:>7.2f} {row['compile_ms']:>7.2f}ms {difference}", flush=True)


def summary(rows):
    measured = [row for row in rows if "ratio" in row]
    below = sorted((row for row in measured if row["ratio"] < 1), key=lambda row: row["ratio"])
    print(f"\n{len(measured)} programs, geometric mean {alternate.geometric_mean([row['ratio'] for row in measured]):.2f}; below 1: {len(below)}")
    for row in below:
        show(row)
    families = collections.defaultdict(list)
    for row in measured:
        families[row["name"].split(".")[0]].append(row["ratio"])
    print("\nprimitives, the slowest first: least ratio, geometric mean, programs")
    for name, ratios in sorted(families.items(), key=lambda item: min(item[1])):
        print(f"{name:<28} {min(ratios):>7.2f} {alternate.geometric_mean(ratios):>7.2f} {len(ratios):>5}")
    wrong = [row for row in rows if "mistake" in row]
    if wrong:
        print(f"\n{len(wrong)} programs did not run:")
        for row in wrong:
            show(row)


def problems_of(rows):
    """What is wrong with the rules, one line each; nothing if every primitive has exactly one."""
    problems = [f"{row['name']}: {reason}" for row in rows if (reason := sweep_rules.missing(row))]
    return problems + [f"{name}: a rule, but no such primitive" for name in sweep_rules.unknown(rows)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("patterns", nargs="*")
    parser.add_argument("--sizes", type=lambda text: [int(float(size)) for size in text.split(",")], default=SIZES)
    parser.add_argument("--types", type=lambda text: text.split(","), default=list(sweep_rules.TYPES))
    parser.add_argument("--part", default="0/1", help="K/N: only programs that fall to the K-th of N parts")
    parser.add_argument("--report", type=pathlib.Path, nargs="+", help="only summarise what was saved")
    parser.add_argument("--check", action="store_true", help="only look whether each primitive has a rule")
    parser.add_argument("--verbose", action="store_true", help="say what JAX refuses, too")
    alternate.arguments(parser)
    options = parser.parse_intermixed_args()
    if options.report:
        latest = {}
        for path in options.report:
            for line in path.read_text().splitlines():
                row = json.loads(line)
                latest[row["name"], row["backend"], row["threads"]] = row
        summary(list(latest.values()))
        return
    if options.check:
        problems = problems_of(table(options.jaxide))
    else:
        rows, problems = run(options)
        summary(rows)
    for problem in problems:
        print(problem, file=sys.stderr)
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
