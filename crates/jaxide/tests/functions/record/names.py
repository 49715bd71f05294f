"""Writes `names/jax.txt`: the public names of JAX's modules of functions, a line for each module; and `names/jax-arguments.txt`:
the arguments with a default of each function, a line for each function.

    python names.py
"""

import importlib
import inspect
import os

MODULES = """jax.numpy jax.numpy.linalg jax.numpy.fft jax.lax jax.lax.linalg jax.nn jax.nn.initializers jax.random jax.ops jax.image
jax.scipy.cluster.vq jax.scipy.fft jax.scipy.integrate jax.scipy.interpolate jax.scipy.linalg jax.scipy.ndimage jax.scipy.optimize
jax.scipy.signal jax.scipy.sparse.linalg jax.scipy.spatial.transform jax.scipy.special jax.scipy.stats jax.tree jax.tree_util
jax.flatten_util""".split()
HERE = os.path.dirname(os.path.abspath(__file__))


def names(module):
    """Functions, classes and numbers; primitives (`add_p`) and modules are left out, but for those of the distributions."""
    for name in sorted(vars(module)):
        value = getattr(module, name)
        if name.startswith("_") or name.endswith("_p"):
            continue
        if type(value).__name__ == "module":
            if module.__name__ == "jax.scipy.stats":
                yield from (f"{name}.{inner}" for inner in sorted(vars(value)) if not inner.startswith("_"))
            continue
        yield name


def arguments(value):
    """The arguments that need not be given."""
    try:
        parameters = inspect.signature(value).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.default is not p.empty]


if __name__ == "__main__":
    with open(os.path.join(HERE, "..", "names", "jax.txt"), "w") as file:
        for module in MODULES:
            file.write(" ".join([module, *names(importlib.import_module(module))]) + "\n")
    with open(os.path.join(HERE, "..", "names", "jax-arguments.txt"), "w") as file:
        for module in map(importlib.import_module, MODULES):
            for name in names(module):
                own = [] if "." in name else arguments(getattr(module, name))
                if own:
                    file.write(" ".join([f"{module.__name__}.{name}", *own]) + "\n")
