"""JAX programs on the CPU, compiled by jaxide."""

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager
from typing import Any, ParamSpec, TypedDict, TypeVar, overload

import jax

P = ParamSpec("P")
R = TypeVar("R")
Source = Callable[..., Any] | str | Any

class JaxideError(Exception):
    """A mistake in a program, or in how it is used."""

    kind: str
    operation: str | None
    notes: list[str]

class UnsupportedError(JaxideError):
    """Something that JAX has and jaxide cannot do."""

@overload
def jit(
    function: Callable[P, R],
    /,
    *,
    strict: bool = False,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool = False,
    in_shardings: Any = ...,
    out_shardings: Any = ...,
    device: jax.Device | None = None,
    backend: str | None = None,
    compiler_options: dict[str, Any] | None = None,
) -> Callable[P, R]: ...
@overload
def jit(
    *,
    strict: bool = False,
    static_argnums: int | Sequence[int] | None = None,
    static_argnames: str | Iterable[str] | None = None,
    donate_argnums: int | Sequence[int] | None = None,
    donate_argnames: str | Iterable[str] | None = None,
    keep_unused: bool = False,
    inline: bool = False,
    in_shardings: Any = ...,
    out_shardings: Any = ...,
    device: jax.Device | None = None,
    backend: str | None = None,
    compiler_options: dict[str, Any] | None = None,
) -> Callable[[Callable[P, R]], Callable[P, R]]: ...
def patch(*, strict: bool = False) -> AbstractContextManager[None]: ...

class Step(TypedDict):
    """What a step of native code took."""

    name: str
    equations: str
    runs: int
    seconds: float
    bytes: int
    flops: int

class Program:
    """A program that can be looked at, transformed, compiled and run."""

    def __init__(self, source: Source, /, *args: Any, constants: list[Any] | None = None, **kwargs: Any) -> None: ...
    @property
    def text(self) -> str: ...
    def check(self) -> list[str]: ...
    def eval(self, *args: Any) -> Any: ...
    def run(self, *args: Any) -> Any: ...
    def profile(self, *args: Any, runs: int = 10) -> list[Step]: ...
    def transform(
        self,
        name: str,
        *,
        argnums: int | Sequence[int] = ...,
        outs: int | Sequence[int] = ...,
        in_axes: int | None | Sequence[int | None] = ...,
        out_axes: int = 0,
        axis_size: int | None = None,
        axis_name: str | None = None,
    ) -> Program: ...
    def lower(self, stage: str = "loops") -> str: ...
    def save(self, path: str | os.PathLike[str]) -> None: ...
    def _repr_html_(self) -> str: ...
