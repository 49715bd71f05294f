"""Everything that is asked of JAX beyond its public interface, in one place."""

from __future__ import annotations

import functools
import weakref
from typing import Any, Callable

import jax
import numpy as np
from jax._src import api_util, compiler, config, core, debugging, literals, sharding_impls, source_info_util, tree_util
from jax._src.interpreters import pxla
from jax._src.random.prng import PRNGKeyArray
from jaxlib import _jax

#: ``jax.jit`` itself, also where ``patch()`` has put another in its place.
JIT = jax.jit

Array = _jax.ArrayImpl
Tracer = core.Tracer
KeyArray = PRNGKeyArray
ndarray = np.ndarray
generic = np.generic
#: Arrays and numbers that carry a type of JAX, which it makes of others while it traces.
TYPED = [literals.TypedNdArray, *literals.typed_scalar_types]

#: The device that compiled programs run on.
DEVICES = [jax.local_devices(backend="cpu")[0]]
SHARDING = jax.sharding.SingleDeviceSharding(DEVICES[0])
ZERO_COPY = _jax.HostBufferSemantics.ZERO_COPY
device_put = _jax.batched_device_put
collect_garbage = _jax.collect_garbage

trace_context = config.trace_context
TRACE_STATE = core.trace_state_strong_ref
EVAL_TRACE = core.eval_trace
#: Switches under which ``jax.jit`` does something else than to compile and run, or results cannot be handed to JAX.
JIT_IS_OFF = [config.disable_jit, config.debug_nans, config.debug_infs, config.transfer_guard_host_to_device]

flatten = tree_util.tree_flatten
weak_reference = weakref.ref

#: Numbers for hashable objects: equal objects have equal numbers.
NUMBERS: dict[Any, int] = {}


def is_local(sharding: Any) -> bool:
    """Whether arrays of this sharding are whole, in the memory of the device that programs run on."""
    try:
        return len(sharding.device_set) == 1 and sharding.is_equivalent_to(SHARDING, 0)
    except (AttributeError, TypeError):
        return False


def as_input(array: Any, dtype: np.dtype | None) -> np.ndarray:
    """The elements of an array in row-major order, as integers where Python's buffer protocol does not know their type."""
    array = np.require(np.asarray(array, dtype), requirements=("C", "A"))
    if array.dtype.itemsize == 0:
        return np.empty(0, np.uint8)
    if array.dtype.kind == "V" or array.dtype.num >= 256:
        array = array.view(np.dtype(f"u{array.dtype.itemsize}"))
    return array


def static_arguments(function: Any, argnums: Any, argnames: Any) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """Positions and names of arguments, those that are not given found by the other from the function's signature."""
    try:
        signature = api_util.fun_signature(function)
    except (TypeError, ValueError):
        signature = None
    if signature is None:
        numbers = () if argnums is None else api_util._ensure_index_tuple(argnums)
        names = () if argnames is None else api_util._ensure_str_tuple(argnames)
        return numbers, names
    return api_util.infer_argnums_and_argnames(signature, argnums, argnames)


def line_of(equation: Any) -> str:
    """Where the user wrote an equation."""
    return source_info_util.summarize(equation.source_info)


def sub_jaxprs(equation: Any) -> list[Any]:
    """The jaxprs among an equation's parameters, in the order in which they are printed."""
    found: list[Any] = []

    def look(value: Any) -> None:
        if isinstance(value, core.Jaxpr):
            found.append(value)
        elif isinstance(value, (tuple, list)):
            for part in value:
                look(part)

    for _, value in sorted(equation.params.items()):
        look(value)
    return found


#: The primitive that prints.
PRINT = debugging.debug_print_p
#: Primitives whose effects compiled programs have.
EFFECTS = {PRINT.name, "dce_sink"}


def is_literal(atom: Any) -> bool:
    """Whether an operand is a number and no variable."""
    return type(atom) is core.Literal


def is_dropped(var: Any) -> bool:
    """Whether a result is used by nothing."""
    return type(var) is core.DropVar


def is_program(value: Any) -> bool:
    """Whether a parameter is a jaxpr."""
    return isinstance(value, core.Jaxpr)


def holds_programs(value: Any) -> bool:
    """Whether a parameter has jaxprs somewhere inside, or is otherwise printed in another way than as its text."""
    return any(isinstance(part, (core.Jaxpr, frozenset)) for part in tree_util.tree_leaves(value))


#: Primitives that JAX prints in a form of their own, where they have parameters.
PRINT_RULES = core.pp_eqn_rules


def _printed(**rules: Callable[[dict[str, Any]], dict[str, Any] | None]) -> dict[Any, Callable]:
    by_name = {primitive.name: primitive for primitive in PRINT_RULES}
    return {by_name[name]: rule for name, rule in rules.items() if name in by_name}


def _call_by_jit(params: dict[str, Any]) -> dict[str, Any] | None:
    empty = (
        not any(params["donated_invars"])
        and all(isinstance(place, sharding_impls.UnspecifiedValue) for place in (*params["in_shardings"], *params["out_shardings"]))
        and all(layout is None for layout in (*params["in_layouts"], *params["out_layouts"]))
        and not params["keep_unused"]
        and params["ctx_mesh"].empty
        and not params["compiler_options_kvs"]
    )
    return {"name": params["name"], "jaxpr": params["jaxpr"]} if empty else None


def _call_with_rule(**rules: str) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """``rules``: as which parameter a rule is printed, by its parameter."""

    def printed(params: dict[str, Any]) -> dict[str, Any]:
        told = {name: value for name, value in params.items() if name not in rules and name != "out_trees"}
        if not told["num_consts"]:
            del told["num_consts"]
        told |= {name: params[rule].debug_info.func_name for rule, name in rules.items()}
        return {"name": told["call_jaxpr"].debug_info.func_name} | dict(sorted(told.items()))

    return printed


def _product(params: dict[str, Any]) -> dict[str, Any]:
    (left, right), (left_batch, right_batch) = params["dimension_numbers"]
    told = {"dimension_numbers": ((list(left), list(right)), (list(left_batch), list(right_batch)))}
    return told | {name: params[name] for name in ("precision", "preferred_element_type") if params[name] is not None}


#: What JAX prints of the parameters of some primitives, in order; none for what only JAX knows.
PRINTED = _printed(
    jit=_call_by_jit,
    custom_jvp_call=_call_with_rule(jvp_jaxpr_fun="jvp"),
    custom_vjp_call=_call_with_rule(fwd_jaxpr_thunk="fwd", bwd="bwd"),
    dot_general=_product,
    convert_element_type=lambda params: {name: params[name] for name in ("new_dtype", "weak_type")},
    broadcast_in_dim=lambda params: {name: axes for name in ("broadcast_dimensions",) if (axes := params[name])},
)


def is_sharded(aval: Any) -> bool:
    """Whether the type of a value says that it stands on a mesh of devices."""
    sharding = getattr(aval, "sharding", None)
    return sharding is not None and not sharding.mesh.empty


def numbered_prints(closed: Any) -> tuple[Any, list[Callable[..., None]]]:
    """A program that prints numbers in the place of formats, and what prints for each number, as JAX does."""
    prints: list[Callable[..., None]] = []
    made: dict[int, Any] = {}

    def number(jaxpr: Any) -> Any:
        if not jaxpr.effects:
            return jaxpr
        if id(jaxpr) not in made:
            equations = [of_equation(equation) for equation in jaxpr.eqns]
            if hasattr(jaxpr, "jaxpr") and jaxpr.jaxpr is not jaxpr:
                made[id(jaxpr)] = jaxpr.replace(jaxpr=jaxpr.jaxpr.replace(eqns=equations))
            else:
                made[id(jaxpr)] = jaxpr.replace(eqns=equations)
        return made[id(jaxpr)]

    def of_equation(equation: Any) -> Any:
        if not equation.effects:
            return equation
        if equation.primitive is PRINT:
            prints.append(functools.partial(debugging.debug_print_impl, **equation.params))
            return equation.replace(params={**equation.params, "fmt": str(len(prints) - 1)})
        return equation.replace(params={name: of_value(value) for name, value in equation.params.items()})

    def of_value(value: Any) -> Any:
        if isinstance(value, core.Jaxpr):
            return number(value)
        if type(value) in (tuple, list):
            return type(value)(of_value(part) for part in value)
        return value

    return number(closed), prints


def donated(traced: Any) -> list[int]:
    """The positions of leaves that may be written over. ``traced.args_info`` would make the caller's containers anew to say so, whose classes
    may refuse leaves that are no arrays."""
    return [position for position, donated in enumerate(traced._params["donated_invars"]) if donated]


def no_tangents(shape: tuple[int, ...]) -> Any:
    """What JAX gives for derivatives by arrays of integers."""
    zeros = np.zeros(shape, jax.dtypes.float0)
    return literals.TypedNdArray(zeros, aval=core.ShapedArray(shape, zeros.dtype))


@functools.lru_cache(maxsize=4096)
def aval_of_result(aval: Any) -> Any:
    """The type of an array with this type of a variable."""
    return core.ShapedArray(aval.shape, aval.dtype, weak_type=getattr(aval, "weak_type", False))


#: What JAX's dispatch knows of functions of this package.
_DISPATCHED = _jax.PjitFunctionCache(capacity=8192)


def dispatched(miss: Callable, static_numbers: list[int], static_names: list[str], name: str) -> Any:
    """A function that JAX's dispatch calls: ``miss`` gives the result of a call, what is called from then on, if anything, and whether to ask
    again the next time."""

    def plain(*args: Any, **kwargs: Any) -> Any:
        return miss(*args, **kwargs)[0]

    key = pxla.JitGlobalCppCacheKeys()
    registry = tree_util.dispatch_registry
    return _jax.pjit(name, plain, miss, static_numbers, static_names, key, registry, pxla.cc_shard_arg, _DISPATCHED)


def compiled_by_xla(text: str) -> Any:
    """A program in the form of MLIR, compiled by XLA for the device that programs run on."""
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    return DEVICES[0].client.compile_and_load(text.encode(), _jax.DeviceList(tuple(DEVICES)), options)


def fast_path(executable: Any, inputs: int, results: Any, committed: bool) -> Any:
    """What JAX's dispatch needs to call a program of XLA with so many arguments, whose results are like these."""
    leaves, structure = tree_util.dispatch_registry.flatten(results, None)
    outputs = [leaf.aval for leaf in leaves]
    return pxla.MeshExecutableFastpathData(
        executable,
        structure,
        [SHARDING] * inputs,
        [SHARDING] * len(outputs),
        outputs,
        [committed] * len(outputs),
        [True] * inputs,
        [None] * inputs,
        [],
    )
