"""What compiling costs, by the length of programs: `python benches/compile_cost.py [--most 100000] [--jax PYTHON] [KIND ...]`.

Programs of 10^3, 10^4, ... equations of four kinds (a `scalar` chain, a `chain` of vectors, a random `graph` of vectors whose operands are
near and anywhere, a chain of `matrix` products) are written as text and compiled by `jaxide lower FILE --time` in a process of its own. For each the table has
microseconds of all stages, of reading the text too, and the most memory that the process had, for one equation; and how both grow: the
exponent k of n^k from the length before. `--jax` names a Python that has JAX, which compiles the same operations, up to 10^4, in a process of its own.
The program is `target/release/jaxide`, or what the environment variable `JAXIDE` names.
"""

import math
import os
import random
import re
import subprocess
import sys
import tempfile
import time

KINDS = ("scalar", "chain", "graph", "matrix")
OPERATIONS = ("add", "mul", "sub", "max", "tanh", "sin")
MOST_FOR_JAX = 10_000


def operations(kind, length):
    """Names of operations with the numbers of their operands: 0 and 1 are the arguments, 2 the first result."""
    numbers = random.Random(length)
    known = 2
    while known < length + 2:
        if kind == "matrix":
            last = 0 if known == 2 else known - 1
            yield ("dot", last, 1) if known % 2 == 0 else ("tanh", last)
        else:
            name = numbers.choice(OPERATIONS)
            near, far = (0 if known == 2 else known - 1), 1
            if kind == "graph":
                near = numbers.randrange(max(0, known - 50), known)
                far = numbers.randrange(known)
            yield (name, near) if name in ("tanh", "sin") else (name, near, far)
        known += 1


def shape(kind):
    return {"scalar": "", "chain": "1000", "graph": "1000", "matrix": "16,16"}[kind]


def write(path, kind, length):
    kind_of_array = f"f32[{shape(kind)}]"
    with open(path, "w") as file:
        file.write(f"{{ lambda ; v0:{kind_of_array} v1:{kind_of_array}. let\n")
        for number, (name, *operands) in enumerate(operations(kind, length)):
            if name == "dot":
                name = "dot_general[dimension_numbers=(([1], [0]), ([], [])) preferred_element_type=float32]"
            operands = " ".join(f"v{operand}" for operand in operands)
            file.write(f"    v{number + 2}:{kind_of_array} = {name} {operands}\n")
        file.write(f"  in (v{length + 1},) }}\n")


def seconds_and_bytes(command):
    """Of a process: the time until it ends, and the most memory that it had."""
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    text = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"{' '.join(command)} failed")
    return time.perf_counter() - start, used.ru_maxrss * 1024, text


def jaxide(path):
    program = os.environ.get("JAXIDE", "target/release/jaxide")
    seconds, memory, text = seconds_and_bytes([program, "lower", path, "--time"])
    compiled = re.search(r"total +([\d.]+) ms", text)
    return float(compiled[1]) / 1e3, seconds, memory


def jax_here(kind, length):
    """Compiles in this process, which has JAX; prints seconds."""
    import jax
    import jax.numpy as jnp

    functions = {"add": jnp.add, "mul": jnp.multiply, "sub": jnp.subtract, "max": jnp.maximum, "tanh": jnp.tanh, "sin": jnp.sin, "dot": jnp.matmul}

    def run(a, b):
        values = [a, b]
        for name, *operands in operations(kind, length):
            values.append(functions[name](*(values[operand] for operand in operands)))
        return values[-1]

    sizes = tuple(int(size) for size in shape(kind).split(",") if size)
    array = jax.ShapeDtypeStruct(sizes, jnp.float32)
    lowered = jax.jit(run).lower(array, array)
    start = time.perf_counter()
    lowered.compile()
    print(time.perf_counter() - start)


def exponent(before, after):
    return f"{math.log(after[1] / before[1]) / math.log(after[0] / before[0]):.2f}" if before else ""


def main():
    arguments = sys.argv[1:]
    most, python = 100_000, None
    if arguments[:1] == ["--jax-here"]:
        return jax_here(arguments[1], int(arguments[2]))
    while arguments and arguments[0].startswith("--"):
        if arguments[0] == "--most":
            most = int(arguments[1])
        elif arguments[0] == "--jax":
            python = arguments[1]
        else:
            sys.exit(__doc__)
        arguments = arguments[2:]
    print("kind     equations   compile us/eq  grows   with reading us/eq   kB/eq  grows   JAX us/eq  grows")
    with tempfile.TemporaryDirectory() as directory:
        path = os.path.join(directory, "program.jaxpr")
        write(path, "chain", 1)
        *_, empty = jaxide(path)
        for kind in arguments or KINDS:
            before, before_memory, before_jax = None, None, None
            length = 1000
            while length <= most:
                write(path, kind, length)
                compiled, whole, memory = jaxide(path)
                memory -= empty
                jax = ""
                if python and length <= MOST_FOR_JAX:
                    _, _, text = seconds_and_bytes([python, __file__, "--jax-here", kind, str(length)])
                    here = (length, float(text))
                    jax = f"{here[1] / length * 1e6:11.1f}  {exponent(before_jax, here):>5}"
                    before_jax = here
                here, here_memory = (length, compiled), (length, memory)
                print(
                    f"{kind:<8} {length:>9} {compiled / length * 1e6:15.1f}  {exponent(before, here):>5}"
                    f" {whole / length * 1e6:20.1f} {memory / length / 1e3:7.2f}  {exponent(before_memory, here_memory):>5} {jax}",
                    flush=True,
                )
                before, before_memory = here, here_memory
                length *= 10


if __name__ == "__main__":
    main()
