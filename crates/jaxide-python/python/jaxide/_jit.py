"""``jaxide.jit``: functions that are traced by JAX, compiled by jaxide, and run natively."""

from __future__ import annotations

import contextlib
import functools
import warnings
import weakref
from collections import Counter
from dataclasses import dataclass
from typing import Any, Callable

import jax
import numpy as np

from . import _internals
from ._jaxide import Cache, Code, Function, JaxideError, Memory, Text, UnsupportedError
from ._text import text_of

#: Typed keys by the names that their element types have.
_KEYS = {"key<fry>": "threefry2x32", "key<rbg>": "rbg", "key<urbg>": "unsafe_rbg"}

#: Programs of functions that are alive, by what ``jit`` was told besides.
_CACHES: weakref.WeakKeyDictionary[Callable, dict[Any, Cache]] = weakref.WeakKeyDictionary()

#: Options of ``jax.jit`` that say where arrays stand, or how XLA compiles.
_PLACING = ("in_shardings", "out_shardings", "device", "backend", "compiler_options")


@dataclass(frozen=True)
class Output:
    """What a result is."""

    shape: tuple[int, ...]
    dtype: np.dtype
    aval: Any
    wrap: Callable[[jax.Array], jax.Array] | None
    #: The result itself, where it is always the same.
    constant: Any = None
    #: Whether JAX would make its numbers shorter.
    long: bool = False


@dataclass(frozen=True)
class Compiled:
    """A program with what its arguments and results are."""

    code: Code
    input_types: list[np.dtype]
    outputs: list[Output]
    donated: list[int]
    tree: Any
    #: Prints, by number, what a program prints.
    print: Callable[[str, list], None] | None


def jit(function: Callable | None = None, /, *, strict: bool = False, **options: Any) -> Any:
    """Compiles a function with jaxide: in place of ``jax.jit``, with its arguments.

    The function is traced by JAX when it is called with arguments of new types, compiled by jaxide, and run natively on
    the CPU. Inside of JAX's transformations and of ``jax.jit`` it is what ``jax.jit(function)`` is.

    Args:
      function: what is compiled. Without it, a decorator is given back.
      strict: what jaxide cannot compile raises ``jaxide.UnsupportedError``. Without it, it is run by ``jax.jit``, after
        one warning that names the reason.
      **options: those of ``jax.jit``: ``static_argnums``, ``static_argnames``, ``donate_argnums``, ``donate_argnames``,
        ``keep_unused``, ``inline`` and others. With those that say where arrays stand (``in_shardings``, ``device`` and
        the like) the function is run by ``jax.jit``.

    >>> import jax.numpy as jnp, jaxide
    >>> @jaxide.jit
    ... def norm(x):
    ...     return jnp.sqrt(jnp.sum(x * x))
    >>> norm(jnp.array([3.0, 4.0]))
    Array(5., dtype=float32)
    """
    if function is None:
        return functools.partial(jit, strict=strict, **options)
    jitted = _internals.JIT(function, **options)
    numbers, names = _internals.static_arguments(
        function, options.get("static_argnums"), options.get("static_argnames")
    )
    tracer = _Tracer(function, jitted, strict, options)
    made = Function(
        jitted, tracer.compile, tracer.refuse, _cache_of(function, strict, options), list(numbers), list(names)
    )
    with contextlib.suppress(AttributeError, TypeError):
        functools.update_wrapper(made, function)
    return made


class patch(contextlib.ContextDecorator):
    """Puts ``jaxide.jit`` in the place of ``jax.jit`` for as long as the context lasts.

    Functions that are jitted meanwhile stay so; those that were jitted before stay XLA's.

    >>> import jax, jaxide
    >>> with jaxide.patch():
    ...     step = jax.jit(lambda x: x + 1)
    >>> step
    <jaxide.jit of <lambda>>
    """

    def __init__(self, *, strict: bool = False) -> None:
        self._strict = strict
        self._before: list[Any] = []

    def __enter__(self) -> None:
        def patched(*functions: Any, **options: Any) -> Any:
            return jit(*functions, strict=self._strict, **options)

        self._before.append(jax.jit)
        jax.jit = functools.wraps(jax.jit)(patched)

    def __exit__(self, *error: object) -> None:
        jax.jit = self._before.pop()


def _cache_of(function: Callable, strict: bool, options: dict[str, Any]) -> Cache:
    """The programs of a function, which all that wrap it in the same way share."""
    try:
        told = (strict, *sorted((name, _fixed(value)) for name, value in options.items()))
        return _CACHES.setdefault(function, {}).setdefault(told, Cache())
    except TypeError:
        return Cache()


def _fixed(value: Any) -> Any:
    return tuple(value) if isinstance(value, (list, set)) else value


class _Tracer:
    """Makes programs of a function."""

    def __init__(self, function: Callable, jitted: Any, strict: bool, options: dict[str, Any]) -> None:
        self.function = function
        self.jitted = jitted
        self.strict = strict
        self.placed = [name for name in _PLACING if options.get(name) is not None]
        self.said: set[str] = set()

    def compile(self, args: tuple, kwargs: dict[str, Any] | None) -> Compiled | None:
        """Traces and compiles for arguments of these types; nothing for what ``jax.jit`` runs."""
        if self.placed:
            self.refuse(f"`{self.placed[0]}` says where arrays stand")
            return None
        if jax.default_backend() != "cpu":
            self.refuse(f"arrays are made on the {jax.default_backend().upper()} here")
            return None
        traced = self.jitted.trace(*args, **(kwargs or {}))
        try:
            return compiled(traced)
        except JaxideError as error:
            self.refuse(reason(traced.jaxpr, error))
            return None

    def refuse(self, why: str) -> None:
        """Says why a call is run by ``jax.jit``: as an error, or as one warning."""
        name = getattr(self.function, "__qualname__", None) or repr(self.function)
        message = f"jaxide.jit: {name} is run by jax.jit: {why}"
        if self.strict:
            raise UnsupportedError(message)
        if why not in self.said:
            self.said.add(why)
            warnings.warn(message, stacklevel=3)


def compiled(traced: Any) -> Compiled:
    """Compiles what JAX has traced."""
    closed, prints = _internals.numbered_prints(traced.jaxpr) if traced.jaxpr.effects else (traced.jaxpr, [])
    jaxpr = closed.jaxpr
    if first := effectful(jaxpr):
        raise UnsupportedError(f"{first.primitive.name}: it has an effect outside of the program")
    if any(_internals.is_sharded(var.aval) for var in (*jaxpr.invars, *jaxpr.outvars)):
        raise UnsupportedError("arrays that stand on a mesh of devices")
    gone = usable(_internals.donated(traced), jaxpr)
    code = Text(text_of(closed), constants_of(closed)).compile(donate=gone)
    outputs = [output(atom.aval) for atom in jaxpr.outvars]
    tree = traced.out_tree
    alone = tree == jax.tree.structure(0)
    types = [element_type(var.aval)[0] for var in jaxpr.invars]
    return Compiled(code, types, outputs, gone, None if alone else tree, _printer(prints) if prints else None)


def _printer(prints: list[Callable[..., None]]) -> Callable[[str, list], None]:
    """What prints for a program: it is called with the number of what is printed, and arrays."""

    def print_one(number: str, arrays: list[tuple[tuple[str, list[int], bool], Memory]]) -> None:
        prints[int(number)](*(array_of(told, memory) for told, memory in arrays))

    return print_one


def plain_array(told: tuple[str, list[int], bool], memory: Memory) -> np.ndarray:
    """The elements of an array as NumPy has them."""
    name, shape, _ = told
    if name in _KEYS:
        _, words, _ = element_type(jax.random.key(0, impl=_KEYS[name]).aval)
        return np.ndarray((*shape, *words), np.uint32, memory)
    return np.ndarray(shape, jax.numpy.dtype(name), memory)


def array_of(told: tuple[str, list[int], bool], memory: Memory) -> jax.Array:
    """The elements of an array as JAX has them."""
    plain = plain_array(told, memory)
    aval = jax.core.ShapedArray(plain.shape, plain.dtype, weak_type=told[2] and told[0] not in _KEYS)
    array = _internals.device_put(
        aval, _internals.SHARDING, [plain], _internals.DEVICES, False, False, _internals.ZERO_COPY
    )
    return jax.random.wrap_key_data(array, impl=_KEYS[told[0]]) if told[0] in _KEYS else array


def output(aval: Any) -> Output:
    """What a result of this type is."""
    if getattr(aval, "dtype", None) == jax.dtypes.float0:
        return Output(aval.shape, np.dtype(bool), aval, None, _internals.no_tangents(aval.shape))
    dtype, shape, wrap = element_type(aval)
    plain = _internals.aval_of_result(aval) if wrap is None else jax.core.ShapedArray(shape, dtype)
    return Output(shape, dtype, plain, wrap, long=jax.dtypes.canonicalize_dtype(dtype) != dtype)


@functools.lru_cache(maxsize=4096)
def element_type(aval: Any) -> tuple[np.dtype, tuple[int, ...], Callable | None]:
    """How elements of this type stand in memory, and what makes typed keys of them."""
    if not isinstance(aval, jax.core.ShapedArray):
        raise UnsupportedError(f"a value of type {aval} is no array")
    if not jax.dtypes.issubdtype(aval.dtype, jax.dtypes.extended):
        dtype = np.dtype(aval.dtype)
        if dtype.name in ("int2", "uint2", "int4", "uint4", "float4_e2m1fn", "float0"):
            raise UnsupportedError(f"elements of type {dtype.name} have no place in memory that both know")
        return dtype, aval.shape, None
    implementation = getattr(aval.dtype, "_impl", None)
    if implementation is None:
        raise UnsupportedError(f"elements of type {aval.dtype} are not known")
    wrap = functools.partial(_internals.KeyArray, implementation)
    return np.dtype(np.uint32), (*aval.shape, *implementation.key_shape), wrap


def usable(donated: list[int], jaxpr: Any) -> list[int]:
    """Those of the donated arguments whose memory a result could have; the others are told, as ``jax.jit`` tells them."""
    left = Counter((var.aval.shape, var.aval.dtype) for var in jaxpr.outvars)
    used, useless = [], []
    for position in donated:
        aval = jaxpr.invars[position].aval
        key = (aval.shape, aval.dtype)
        if left[key] > 0:
            left[key] -= 1
            used.append(position)
        else:
            useless.append(aval)
    if useless:
        types = ", ".join(str(aval) for aval in useless)
        warnings.warn(f"Some donated buffers were not usable: {types}.", stacklevel=4)
    return used


def constants_of(closed: Any) -> list[Any]:
    """The arrays that a program has captured, and those that jaxprs inside of it have, in the order of the text."""
    found: list[Any] = []

    def look(jaxpr: Any) -> None:
        found.extend(getattr(jaxpr, "consts", ()))
        for equation in jaxpr.eqns:
            for inner in _internals.sub_jaxprs(equation):
                look(inner)

    look(closed)
    return [array if hasattr(array, "dtype") else _number(array) for array in found]


def _number(value: Any) -> np.ndarray:
    try:
        return np.asarray(jax.numpy.asarray(value))
    except TypeError:
        raise UnsupportedError(f"a captured value of type {type(value).__name__} is no array") from None


def effectful(jaxpr: Any) -> Any:
    """The first equation that does something besides computing its results."""
    for equation in jaxpr.eqns:
        if not equation.effects or equation.primitive.name in _internals.EFFECTS:
            continue
        inside = _internals.sub_jaxprs(equation)
        if not inside:
            return equation
        for inner in inside:
            if found := effectful(getattr(inner, "jaxpr", inner)):
                return found
    return None


def reason(closed: Any, error: JaxideError) -> str:
    """Why a program cannot be compiled, with the line of the equation that is named."""
    words = str(error).split("\n", 1)[0]
    operation = getattr(error, "operation", None) or words.split(":", 1)[0]

    def find(jaxpr: Any) -> Any:
        for equation in jaxpr.eqns:
            for inner in _internals.sub_jaxprs(equation):
                if found := find(getattr(inner, "jaxpr", inner)):
                    return found
            if equation.primitive.name == operation:
                return equation
        return None

    equation = find(closed.jaxpr)
    return words if equation is None else f"{words} ({_internals.line_of(equation)})"
