"""Computes JAX's results for the arguments of `jaxide-accuracy -- --export DIR`; then `--import DIR` measures them.

    python python/jax_results.py DIR
"""

import sys
from pathlib import Path

import jax
import numpy as np
from jax import lax
from jax import numpy as jnp

jax.config.update("jax_enable_x64", True)

TYPES = {
    ("real", "f16"): np.float16,
    ("real", "bf16"): jnp.bfloat16,
    ("real", "f32"): np.float32,
    ("real", "f64"): np.float64,
    ("complex", "f32"): np.complex64,
    ("complex", "f64"): np.complex128,
}

# Primitives whose function has another name.
FUNCTIONS = {
    "one_minus_square": lambda x: (1 - x) * (1 + x),
    "round": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "regularized_incomplete_beta": lax.betainc,
}

ARITY = {"pow": 2, "atan2": 2, "rem": 2, "div": 2, "mul": 2, "igamma": 2, "igammac": 2, "igamma_grad_a": 2, "zeta": 2,
         "polygamma": 2, "regularized_incomplete_beta": 3}

for source in sorted(Path(sys.argv[1]).glob("*.in")):
    kind, form, name, _part, _end = source.name.split(".")
    function = FUNCTIONS.get(name) or getattr(lax, name)
    numbers = np.frombuffer(source.read_bytes(), dtype=TYPES[kind, form])
    operands = np.split(numbers, ARITY.get(name, 1))
    try:
        result = np.asarray(jax.jit(function)(*operands))
    except Exception as error:  # no such function of this type
        print(source.name, str(error).splitlines()[0])
        continue
    source.with_suffix(".out").write_bytes(result.tobytes())
