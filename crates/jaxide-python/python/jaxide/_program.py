"""``jaxide.Program``: a program that can be looked at, transformed, compiled and run."""

from __future__ import annotations

import html
import pathlib
import re
from typing import Any, Callable

import jax
import numpy as np

from . import _internals, _picture
from ._jaxide import JaxideError, Memory, Text
from ._jit import array_of, constants_of, plain_array
from ._text import text_of


class Program:
    """A program: a list of arrays in, a list of arrays out.

    Args:
      source: a function, which is traced for ``args`` and ``kwargs``; a jaxpr of JAX; or text, as JAX prints jaxprs.
      constants: the arrays that a text has captured, for what stands in front of ``;``.

    >>> import jax.numpy as jnp, jaxide
    >>> program = jaxide.Program(lambda x: jnp.sin(x) * 2, jnp.ones(3))
    >>> print(program.transform("vmap", axis_size=4))
    { lambda ; a:f32[4,3]. let b:f32[4,3] = sin a; c:f32[4,3] = mul b 2.0:f32[] in (c,) }
    """

    def __init__(self, source: Callable | str | Any, /, *args: Any, constants: list[Any] | None = None, **kwargs: Any) -> None:
        self._tree = None
        if isinstance(source, str):
            self._program = Text(source, constants)
        elif isinstance(source, Text):
            self._program = source
        else:
            if callable(source) and not hasattr(source, "eqns"):
                traced = _internals.JIT(source).trace(*args, **kwargs)
                source, self._tree = traced.jaxpr, traced.out_tree
            self._program = Text(text_of(source), constants_of(source))
        self._code: dict[bool, Any] = {}

    @property
    def text(self) -> str:
        """The program in JAX's own form."""
        return str(self._program)

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return f"jaxide.Program({self.text!r})"

    def check(self) -> list[str]:
        """Raises what is illegal in the program; gives what it holds that has no meaning here."""
        mistakes, notes = self._program.check()
        if mistakes:
            raise JaxideError("\n".join(mistakes))
        return notes

    def eval(self, *args: Any) -> Any:
        """The results on arrays, by the reference interpreter."""
        return self._results(self._program.eval(self._arguments(args)))

    def run(self, *args: Any) -> Any:
        """The results on arrays, by native code."""
        return self._results(self._compiled(False).run(self._arguments(args)))

    def profile(self, *args: Any, runs: int = 10) -> list[dict[str, Any]]:
        """What each step of native code took in so many runs: its name, its equations, ``seconds``, ``bytes`` and ``flops``."""
        code = self._compiled(True)
        arguments = self._arguments(args)
        code.profile()
        for _ in range(runs):
            code.run(arguments)
        return code.profile()

    def transform(self, name: str, **settings: Any) -> Program:
        """The program after a transformation.

        ``name`` is one of ``jvp``, ``linearize``, ``vjp``, ``grad``, ``value_and_grad``, ``jacfwd``, ``jacrev``, ``hessian``,
        ``vmap``, ``jit`` and ``checkpoint``. ``argnums`` are numbers of arguments that are differentiated by, ``outs`` those of
        results that have tangents or cotangents; ``vmap`` takes ``in_axes`` (one for each argument), ``out_axes``, ``axis_size`` and
        ``axis_name``.
        """
        for lists in ("argnums", "outs"):
            if isinstance(settings.get(lists), int):
                settings[lists] = [settings[lists]]
        in_axes = settings.get("in_axes")
        if in_axes is not None and not isinstance(in_axes, (list, tuple)):
            settings["in_axes"] = [in_axes] * len(self._program.in_types())
        return Program(self._program.transform(name, **settings))

    def lower(self, stage: str = "loops") -> str:
        """What the program becomes: ``jaxpr``, ``simplified``, ``graph``, ``plan``, ``loops``, ``lanes``, ``clif`` or ``asm``."""
        return self._program.lower(stage)

    def save(self, path: str | pathlib.Path) -> None:
        """Writes the text to a file, and captured arrays to an archive ``.npz`` beside it, as the program ``jaxide`` reads them."""
        path = pathlib.Path(path)
        path.write_text(self.text + "\n")
        constants = self._program.constants()
        if constants:
            arrays = {f"const{k}": plain_array(told, memory) for k, (told, memory) in enumerate(constants)}
            np.savez(path.with_suffix(".npz"), **arrays)

    def _repr_html_(self) -> str:
        text = _coloured(html.escape(self._program.coloured(), quote=False))
        picture = _picture.draw(self._program.graph())
        return f"<pre>{text}</pre>{picture}"

    def _compiled(self, profile: bool) -> Any:
        if profile not in self._code:
            self._code[profile] = self._program.compile(profile)
        return self._code[profile]

    def _arguments(self, args: tuple[Any, ...]) -> list[Any]:
        leaves = jax.tree.leaves(args)
        types = self._program.in_types()
        arrays = []
        for position, leaf in enumerate(leaves):
            if isinstance(leaf, (bool, int, float, complex)) and position < len(types):
                leaf = np.asarray(leaf, types[position][0])
            elif not isinstance(leaf, jax.Array):
                leaf = np.asarray(leaf)
            arrays.append(leaf)
        return arrays

    def _results(self, memories: list[Memory]) -> Any:
        arrays = [array_of(told, memory) for told, memory in zip(self._program.out_types(), memories)]
        return arrays if self._tree is None else jax.tree.unflatten(self._tree, arrays)


def _coloured(text: str) -> str:
    """HTML for text with ANSI codes."""
    colours = {"1": "font-weight:bold", "2": "opacity:.6", "31": "color:#b91c1c", "32": "color:#15803d", "33": "color:#a16207"}
    colours |= {"34": "color:#1d4ed8", "35": "color:#a21caf", "36": "color:#0e7490"}
    open_spans = 0
    parts = []
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if not part.startswith("\x1b["):
            parts.append(part)
            continue
        codes = part[2:-1].split(";")
        styles = ";".join(colours[code] for code in codes if code in colours)
        if styles:
            parts.append(f'<span style="{styles}">')
            open_spans += 1
        else:
            parts.append("</span>" * open_spans)
            open_spans = 0
    return "".join(parts) + "</span>" * open_spans
