"""Programs of JAX as text, several times as fast as JAX's own printing, which lays out lines and colours that nobody sees here."""

from __future__ import annotations

import functools
import re
from collections import Counter
from typing import Any

import numpy as np

from . import _internals
from ._jaxide import UnsupportedError

#: A type of numbers as a class.
_CLASS = re.compile(r"<class '(?:numpy|jax\.numpy|ml_dtypes)\.(\w+)'>")

#: The type of a variable whose result was dropped, and such a variable where it is read: JAX's printer has one name for all of them.
_DROPPED = re.compile(r"(?<!\w)_:(\S+)")
_UNNAMED = re.compile(r"(?<![\w:.=])_(?![\w:.])")

#: Values that hold no jaxpr.
_PLAIN = (int, bool, str, float, type(None))


class _Otherwise(Exception):
    """JAX has a form of its own for something."""


def text_of(closed: Any) -> str:
    """The text of a program, as JAX prints it up to names and layout, but for types that were given as classes."""
    try:
        text = quick_text(closed)
    except _Otherwise:
        text = closed.pretty_print(use_color=False, source_info=False, name_stack=False, print_effects=False)
        # Which one is meant is told by its type at best.
        if _UNNAMED.search(text) and max(Counter(_DROPPED.findall(text)).values(), default=0) > 1:
            raise UnsupportedError("JAX's text of it reads variables by the name `_`, which is that of several") from None
    return _CLASS.sub(lambda found: np.dtype(found[1]).name, text) if "<class" in text else text


def quick_text(closed: Any) -> str:
    """The text of a program.

    Raises:
      _Otherwise: if something in it is printed in a way that only JAX knows.
    """
    return _Writer(closed).text()


class _Writer:
    """Writes a program, and first the programs that stand in it more than once."""

    def __init__(self, closed: Any) -> None:
        self._closed = closed.jaxpr
        self._names: dict[Any, str] = {}
        self._bindings = 0
        self._types: dict[int, str] = {}
        self._uses: Counter[int] = Counter()
        self._shared: dict[int, str] = {}
        self._definitions: list[str] = []
        self._count(self._closed)

    def text(self) -> str:
        text = self._program(self._closed)
        return "".join(self._definitions) + text

    def _count(self, program: Any) -> None:
        for equation in program.eqns:
            for value in equation.params.values():
                for inner in _programs(value):
                    self._uses[id(inner)] += 1
                    if self._uses[id(inner)] == 1:
                        self._count(inner)

    def _inner(self, program: Any) -> str:
        if self._uses[id(program)] < 2:
            return self._program(program)
        name = self._shared.get(id(program))
        if name is None:
            text = self._program(program)
            name = self._shared[id(program)] = f"shared{len(self._shared)}"
            self._definitions.append(f"let {name} = {text} in\n")
        return name

    def _program(self, program: Any) -> str:
        constants, arguments = (" ".join(map(self._bound, of)) for of in (program.constvars, program.invars))
        body = "\n".join(map(self._equation, program.eqns))
        given = "".join([f"{self._read(atom)}, " for atom in program.outvars])
        return f"{{ lambda {constants}; {arguments}. let\n{body}\nin ({given}) }}"

    def _equation(self, equation: Any) -> str:
        params = equation.params
        told = ""
        rule = _internals.PRINTED.get(equation.primitive)
        if rule is not None:
            params = rule(params)
            if params is None:
                raise _Otherwise
        elif any(value is not None for value in params.values()):
            if equation.primitive in _internals.PRINT_RULES:
                raise _Otherwise
            params = {name: params[name] for name in sorted(params)}
        else:
            params = {}
        if params:
            told = f"[{' '.join([f'{name}={self._value(value)}' for name, value in params.items()])}]"
        results = " ".join(map(self._bound, equation.outvars))
        return f"{results}{' = ' if results else ''}{equation.primitive.name}{told} {' '.join(map(self._read, equation.invars))}"

    def _value(self, value: Any) -> str:
        if type(value) in _PLAIN:
            return str(value)
        programs = _programs(value)
        if programs:
            told = " ".join(map(self._inner, programs))
            return told if programs[0] is value else f"({told})"
        if not _internals.holds_programs(value):
            return str(value)
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            parts = [(name, self._program(part) if _internals.is_program(part) else self._value(part)) for name, part in value._asdict().items()]
            return f"{type(value).__name__}({', '.join([f'{name}={told}' for name, told in parts])})"
        raise _Otherwise

    def _bound(self, var: Any) -> str:
        aval = var.aval
        told = self._types.get(id(aval))
        if told is None:
            told = self._types[id(aval)] = ":" + aval.str_short(short_dtypes=True)
        if _internals.is_dropped(var):
            return "_" + told
        # A jaxpr that is written twice has names anew.
        name = self._names[var] = _letters(self._bindings)
        self._bindings += 1
        return name + told

    def _read(self, atom: Any) -> str:
        return atom.pretty_print(None) if _internals.is_literal(atom) else self._names[atom]


def _programs(value: Any) -> tuple[Any, ...]:
    """The jaxprs that a parameter is, as JAX prints them: one, or a tuple of them."""
    if _internals.is_program(value):
        return (value,)
    if type(value) is tuple and value and all(map(_internals.is_program, value)):
        return value
    return ()


@functools.cache
def _letters(number: int) -> str:
    """The names of variables, in order: ``a`` to ``z``, ``ba`` and so on."""
    first = _letters(number // 26) if number >= 26 else ""
    return first + chr(ord("a") + number % 26)
