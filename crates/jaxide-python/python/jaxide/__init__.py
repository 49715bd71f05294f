"""JAX programs on the CPU, compiled by jaxide.

``jaxide.jit`` stands in the place of ``jax.jit``.
"""

from ._jaxide import JaxideError, UnsupportedError
from ._jit import jit, patch

__all__ = ["JaxideError", "UnsupportedError", "jit", "patch"]
