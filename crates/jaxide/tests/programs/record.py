"""Records what JAX gives for the programs beside this file: `python record.py [NAME ...]` writes `recorded/NAME.txt`.

A line is `small PATH TYPE ELEMENTS...`, the result of the compiled function for small arguments, or `real PATH TYPE`, the
type of a result for large ones. Written for JAX 0.12 on CPU.
"""

import contextlib
import importlib
import os
import pathlib
import sys

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))

NAMES = ["transformer", "vae", "mala", "kalman", "gaussian_process", "ode", "batch_norm", "newton_cg", "particle_filter", "gru"]


@contextlib.contextmanager
def program(name, real):
    """Function and arguments, where 64-bit types are as the program needs them."""
    module = importlib.import_module(name)
    with jax.enable_x64(getattr(module, "X64", False)):
        yield module.prepare(real)


def kind(x):
    short = {"float32": "f32", "float64": "f64", "int32": "i32", "int64": "i64", "bool": "bool"}[str(x.dtype)]
    return f"{short}[{','.join(map(str, x.shape))}]"


def leaves(result):
    return [(jax.tree_util.keystr(path), leaf) for path, leaf in jax.tree_util.tree_leaves_with_path(result)]


def record(name):
    lines = []
    with program(name, real=False) as (f, args):
        for path, x in leaves(jax.jit(f)(*args)):
            elements = np.asarray(x).ravel()
            lines.append(" ".join(["small", path, kind(x), *(str(e) for e in elements)]))
    with program(name, real=True) as (f, args):
        lines += [f"real {path} {kind(x)}" for path, x in leaves(jax.eval_shape(f, *args))]
    (HERE / "recorded").mkdir(exist_ok=True)
    (HERE / "recorded" / f"{name}.txt").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    for name in sys.argv[1:] or NAMES:
        record(name)
