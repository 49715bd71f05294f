"""JAX programs on the CPU, compiled by jaxide.

``jaxide.jit`` stands in the place of ``jax.jit``.
"""

from ._jaxide import JaxideError, UnsupportedError
from ._jit import jit, patch
from ._program import Program

__all__ = ["JaxideError", "Program", "UnsupportedError", "jit", "patch"]
