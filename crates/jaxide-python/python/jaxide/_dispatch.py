"""Calls through JAX's own dispatch: a program of XLA whose only operation is a call of a compiled program.

To make one array of JAX by what Python can ask for takes 3 µs; JAX's dispatch, which is C++ from the arguments to the results, takes a
third of that. So programs that are called often and have small results go that way. Compiling such a program of XLA takes 5 to 10 ms: it is
made when so much time would have been saved before.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

import jax

from . import _internals
from ._jaxide import Code, call_targets, withdraw

#: The name by which XLA knows the function that runs programs.
_TARGET = "jaxide_run"

#: Element types as XLA's text has them.
_TYPES = {
    "bool": "i1",
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "complex<f32>",
    "complex128": "complex<f64>",
} | {f"{sign}int{bits}": f"{sign[:1]}i{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)}


def path(code: Code, donated: list[int], results: Any, committed: bool) -> Any:
    """What JAX's dispatch calls for the arguments of a program, of which those at positions ``donated`` are taken; nothing where XLA does not know
    the types. ``results`` are those of a call.
    """
    takes, gives = code.types()
    try:
        takes, gives = ([_tensor(*told) for told in types] for types in (takes, gives))
    except KeyError:
        return None
    _register()
    number = code.offer(donated)
    try:
        executable = _internals.compiled_by_xla(_text(number, takes, gives, set(donated)))
    except jax.errors.JaxRuntimeError:  # Whatever XLA does not like of it: calls go on as they are.
        return None
    finally:
        withdraw(number)
    return _internals.fast_path(executable, len(takes), results, committed)


def function(made: Any, static_numbers: list[int], static_names: list[str]) -> Any:
    """``made`` as a function of JAX's dispatch, which asks it what it does not know, and does not keep it."""
    reference = weakref.ref(made)

    def miss(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool]:
        return reference()._miss(*args, **kwargs)

    dispatched = _internals.dispatched(miss, static_numbers, static_names, getattr(made, "__name__", "function"))
    # What JAX calls step by step to find where numbers become NaN.
    dispatched._fun = made._fun
    return dispatched


@functools.cache
def _register() -> None:
    compiled, called = call_targets()
    jax.ffi.register_ffi_target(_TARGET, {"instantiate": compiled, "execute": called}, platform="cpu")


def _tensor(name: str, shape: tuple[int, ...]) -> str:
    return f"tensor<{''.join(f'{size}x' for size in shape)}{_TYPES[name]}>"


def _text(number: int, takes: list[str], gives: list[str], donated: set[int]) -> str:
    names = [f"%a{k}" for k in range(len(takes))]
    marks = [" {jax.buffer_donor = true}" if k in donated else "" for k in range(len(takes))]
    declared = ", ".join(f"{name}: {taken}{mark}" for name, taken, mark in zip(names, takes, marks))
    count = f":{len(gives)}" if len(gives) > 1 else ""
    results = ", ".join(f"%r#{k}" for k in range(len(gives))) if count else "%r"
    given = ", ".join(gives)
    return f"""module @jaxide {{
  func.func public @main({declared}) -> ({given}) {{
    %r{count} = stablehlo.custom_call @{_TARGET}({", ".join(names)}) {{
      api_version = 4 : i32, backend_config = {{program = {number} : i64}}
    }} : ({", ".join(takes)}) -> ({given})
    return {results} : {given}
  }}
}}"""
