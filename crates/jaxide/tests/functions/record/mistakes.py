"""Records what JAX says of the calls in `mistakes/*.rs`: the types of their results, or `refused`."""

import glob
import os
import re
import warnings

import jax
import jax.image
import jax.numpy as jnp
import jax.ops
import jax.scipy as jsp
import jax.scipy.cluster.vq
import jax.scipy.fft
import jax.scipy.integrate
import jax.scipy.linalg
import jax.scipy.ndimage
import jax.scipy.optimize
import jax.scipy.signal
import jax.scipy.sparse.linalg
import jax.scipy.stats
from jax import lax

HERE = os.path.dirname(os.path.abspath(__file__))
SHORT = {"float32": "f32", "int32": "i32", "bool": "bool", "complex64": "c64", "uint32": "u32", "int16": "i16", "uint8": "u8"}


def ones(dtype):
    return lambda *shape: jnp.ones(shape, dtype)


NAMES = {
    "jax": jax, "jnp": jnp, "jsp": jsp, "lax": lax,
    "f": ones("float32"), "i": ones("int32"), "b": ones("bool"), "c": ones("complex64"), "u": ones("uint32"), "u8": ones("uint8"),
    "k": lambda: jax.random.key(0), "getitem": lambda x: x, "at": lambda x: x.at,
}


def verdict(python):
    try:
        result = eval(python, NAMES)
        leaves = jax.tree.leaves(result)
        return " ".join(f"{SHORT[str(x.dtype)]}[{','.join(map(str, x.shape))}]" for x in leaves)
    except Exception:
        return "refused"


def main():
    warnings.simplefilter("ignore")
    lines = []
    for path in sorted(glob.glob(os.path.join(HERE, "..", "mistakes", "*.rs"))):
        with open(path) as file:
            rows = re.findall(r'^    "(.*)" => ', file.read(), re.M)
        lines += [f"{python} = {verdict(python)}" for python in (row.replace('\\"', '"') for row in rows)]
    assert len(set(lines)) == len(lines)
    with open(os.path.join(HERE, "..", "cases", "mistakes.txt"), "w") as file:
        file.write("\n".join(lines) + "\n")
    print(len(lines))


if __name__ == "__main__":
    main()
