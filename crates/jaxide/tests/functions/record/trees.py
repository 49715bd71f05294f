"""Trees as vectors."""

from common import Arg
from jax.flatten_util import ravel_pytree


def both(*leaves):
    flat, unravel = ravel_pytree(leaves)
    return [flat, *unravel(flat)]


FUNCTIONS = {"flatten_util.ravel_pytree": both}


def cases(r):
    name = "flatten_util.ravel_pytree"
    one = lambda dtype, *shape: Arg(dtype, shape, "~5")
    r.all_modes(name, one("f32", 2, 3))
    r.all_modes(name, one("f32", 2), one("f32"), one("f32", 1, 2))
    r.all_modes(name, one("f32", 2), one("i32", 3))
    r.all_modes(name, one("f16", 2), one("f32", 2, 1))
    r.case(name, one("bool", 2), one("i8", 2), one("f32"))
    r.case(name, one("f32", 2), one("c64", 2))
    r.case(name, one("f64", 2), one("i32", 2))
    r.case(name, one("f32", 0), one("f32", 2))
    r.case(name)
