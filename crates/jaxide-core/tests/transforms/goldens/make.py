"""Writes the texts that JAX gives for transformations of the functions below: python make.py (with JAX 0.12.0.1).

Each file holds the steps, the base text, and the text of the transformed function. Programs whose derivatives are written
differently go to `../laws`, with the numbers to run them on.
"""

import json
import os
import re

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax._src import core

HERE = os.path.dirname(os.path.abspath(__file__))


def normalise(text):
    text = re.sub(r"np\.int64\((-?\d+)\)", r"\1", text)
    text = re.sub(r"<function ([\w.<>]+) at 0x\w+>", r"<\1>", text)
    return text


def transform(f, avals, steps, axis_name):
    """The flat function after the steps, and its argument types."""
    g, avals = f, list(avals)
    for step in steps:
        g, avals = apply(g, avals, step, axis_name)
    return g, avals


def apply(g, avals, step, axis_name):
    op = step["op"]
    nums = tuple(step.get("argnums", ()))

    def split(args):
        return args[: len(avals)], args[len(avals):]

    def of_args(args):
        def h(*dyn):
            full = list(args)
            for n, x in zip(nums, dyn):
                full[n] = x
            return g(*full)
        return h, [args[n] for n in nums]

    if op in ("jvp", "linearize"):
        def new(*args):
            args, tans = split(args)
            h, dyn = of_args(args)
            if op == "jvp":
                ys, ts = jax.jvp(h, dyn, list(tans))
            else:
                ys, lin = jax.linearize(h, *dyn)
                ts = lin(*tans)
            return [*ys, *(ts[i] for i in step["tangent_outs"])]
        return new, avals + [avals[n] for n in nums]
    if op == "vjp":
        outs = jax.eval_shape(g, *avals)
        def new(*args):
            args, cts = split(args)
            h, dyn = of_args(args)
            ys, pull = jax.vjp(h, *dyn)
            full = [np.zeros(y.shape, core.primal_dtype_to_tangent_dtype(y.dtype)) for y in outs]
            for i, ct in zip(step["cotangent_outs"], cts):
                full[i] = ct
            return [*ys, *pull(full)]
        return new, avals + [outs[i] for i in step["cotangent_outs"]]
    if op in ("grad", "value_and_grad"):
        def new(*args):
            value, grads = jax.value_and_grad(lambda *a: g(*a)[0], argnums=nums)(*args)
            return [value, *grads] if op == "value_and_grad" else list(grads)
        return new, avals
    if op == "vmap":
        def lift(aval, axis):
            if axis is None:
                return aval
            shape = list(aval.shape)
            shape.insert(axis, step["axis_size"])
            return jax.ShapeDtypeStruct(tuple(shape), aval.dtype)
        new = jax.vmap(g, in_axes=tuple(step["in_axes"]), out_axes=step["out_axes"],
                       axis_size=step["axis_size"], axis_name=axis_name)
        return new, [lift(a, d) for a, d in zip(avals, step["in_axes"])]
    if op == "jit":
        def f(*args):
            return g(*args)
        f.__name__ = f.__qualname__ = "g"
        return jax.jit(f), avals
    if op == "checkpoint":
        return jax.checkpoint(g), avals
    raise ValueError(op)


def case(name, f, avals, *steps, axis_name=None):
    def flat(*args):
        out = f(*args)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    env = [(axis_name, steps[-1].get("axis_size"))] if axis_name else None
    base = jax.make_jaxpr(flat, axis_env=env)(*avals)
    g, new_avals = transform(core.jaxpr_as_fun(base), avals, steps, axis_name)
    want = jax.make_jaxpr(g)(*new_avals)
    header = {"steps": steps} | ({"axis_name": axis_name} if axis_name else {})
    with open(os.path.join(HERE, name + ".jaxpr"), "w") as file:
        file.write(f"# {json.dumps(header)}\n{normalise(str(base))}\n# gives\n{normalise(str(want))}\n")


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def i32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.int32)


def jvp(*argnums, outs=(0,)):
    return {"op": "jvp", "argnums": list(argnums), "tangent_outs": list(outs)}


def linearize(*argnums, outs=(0,)):
    return {"op": "linearize", "argnums": list(argnums), "tangent_outs": list(outs)}


def vjp(*argnums, outs=(0,)):
    return {"op": "vjp", "argnums": list(argnums), "cotangent_outs": list(outs)}


def grad(*argnums):
    return {"op": "grad", "argnums": list(argnums)}


def vmap(*in_axes, size=3, out=0):
    return {"op": "vmap", "in_axes": list(in_axes), "out_axes": out, "axis_size": size}


CHECKPOINT = {"op": "checkpoint"}
JIT = {"op": "jit"}


# References.

def accumulate(x):
    r = jax.new_ref(jnp.zeros(3))
    r[0] = jnp.sin(x)
    r[1] += x * r[0]
    y = r[...]
    r[...] = y * x
    return jax.freeze(r).sum()


def index_ref(x, i):
    r = jax.new_ref(x)
    v = r[i]
    r[i] = v * 2
    r[0, 1] += 1.0
    return r[...], v


case("ref_jvp", accumulate, [f32()], jvp(0))
case("ref_grad", accumulate, [f32()], grad(0))
case("ref_vmap", accumulate, [f32()], vmap(0))
case("ref_vmap_mapped_index", index_ref, [f32(3, 4), i32()], vmap(0, 0, size=2))
case("ref_vmap_shared_index", index_ref, [f32(3, 4), i32()], vmap(1, None, size=2))


# Named axes.

def collectives(x, y):
    return [lax.psum(x, "i"), lax.pmax(x, "i"), lax.pmin(y, "i"), lax.pmean(x, "i"),
            lax.all_gather(x, "i"), lax.axis_index("i"), x - lax.psum(y, "i")]


def permuted(x):
    return [lax.all_to_all(x, "i", 0, 0),
            lax.all_gather(x, "i", axis=1, tiled=True), lax.psum_scatter(x, "i", tiled=True)]


case("named_vmap", collectives, [f32(2), f32(2)], vmap(0, 0), axis_name="i")
case("named_vmap_shared", collectives, [f32(2), f32(2)], vmap(0, None), axis_name="i")
case("named_vmap_middle", collectives, [f32(2), f32(2)], vmap(1, 0), axis_name="i")
case("named_permute", permuted, [f32(3, 2)], vmap(0), axis_name="i")
case("named_permute_middle", permuted, [f32(3, 2)], vmap(1), axis_name="i")
case("named_grad_of_psum", lambda x: (jnp.sin(x) * lax.psum(x * x, "i")).sum(), [f32(2)], grad(0), vmap(0), axis_name="i")
case("named_in_jit", lambda x: jax.jit(lambda y: y / lax.psum(y, "i"))(x), [f32(2)], vmap(0), axis_name="i")
case("named_in_scan", lambda x: lax.scan(lambda c, y: (c + lax.psum(y, "i"), c), x[0], x)[0], [f32(2)], vmap(0), axis_name="i")


# Loops and branches.

def loop_invariant(w, x):
    def body(c, y):
        return jnp.sin(c) * jnp.exp(w) + y, c * jnp.cos(w)
    c, ys = lax.scan(body, x[0], x)
    return c, ys.sum()


def nested_loops(w, x):
    def outer(c, y):
        def inner(d, _):
            return jnp.tanh(w * d + y), None
        return lax.scan(inner, c, None, length=2)[0], c
    return lax.scan(outer, x[0], x)[0]


def newton(x):
    return lax.while_loop(lambda s: s[1] < 3, lambda s: (s[0] - jnp.sin(s[0]), s[1] + 1), (x, 0))[0]


def bounded(x, n):
    return lax.while_loop(lambda s: (s[1] < n) & (s[0] < 10.0), lambda s: (s[0] * 2.0, s[1] + 1), (x, 0))


def branches(i, x, y):
    return lax.switch(i, [lambda x, y: x * y, lambda x, y: jnp.sin(x) + 0 * y, lambda x, y: y], x, y)


def branch_in_loop(x):
    def body(c, y):
        return lax.cond(y > 0, lambda c: jnp.exp(c) * y, lambda c: c - y, c), c
    return lax.scan(body, x[0], x)[0]


case("scan_invariant_vjp", loop_invariant, [f32(), f32(4)], vjp(0, 1, outs=(0, 1)))
case("scan_invariant_linearize", loop_invariant, [f32(), f32(4)], linearize(0, 1, outs=(0, 1)))
case("scan_invariant_checkpoint", loop_invariant, [f32(), f32(4)], CHECKPOINT, vjp(0, 1, outs=(0, 1)))
case("scan_nested_grad", nested_loops, [f32(), f32(4)], grad(0, 1))
case("scan_nested_vmap_of_grad", nested_loops, [f32(), f32(4)], grad(0), vmap(0, None))
case("while_jvp", newton, [f32()], jvp(0))
case("while_linearize", newton, [f32()], linearize(0))
case("while_vmap_of_jvp", newton, [f32()], jvp(0), vmap(0, 0))
case("while_vmap_predicate", bounded, [f32(), i32()], vmap(0, 0))
case("switch_vmap", branches, [i32(), f32(2), f32(2)], vmap(None, 0, None))
case("switch_vmap_index", branches, [i32(), f32(2), f32(2)], vmap(0, 1, None))
case("switch_vjp", branches, [i32(), f32(2), f32(2)], vjp(1, 2))
case("switch_checkpoint", branches, [i32(), f32(2), f32(2)], CHECKPOINT, vjp(1, 2))
case("cond_in_scan_grad", branch_in_loop, [f32(4)], grad(0))
case("cond_in_scan_checkpoint", branch_in_loop, [f32(4)], CHECKPOINT, grad(0))
case("cond_in_scan_vmap_of_grad", branch_in_loop, [f32(4)], grad(0), vmap(0))


# Checkpoints.

def two_layers(policy):
    from jax.ad_checkpoint import checkpoint_name

    def f(w, x):
        @lambda g: jax.checkpoint(g, policy=policy)
        def g(w, x):
            y = checkpoint_name(jnp.sin(x @ w), "layer")
            return jnp.tanh(y @ w)
        return g(w, x).sum()
    return f


case("policy_nothing", two_layers(None), [f32(2, 2), f32(3, 2)], grad(0))
case("policy_dots", two_layers(jax.checkpoint_policies.dots_saveable), [f32(2, 2), f32(3, 2)], grad(0))
case("policy_everything", two_layers(jax.checkpoint_policies.everything_saveable), [f32(2, 2), f32(3, 2)], grad(0))
case("checkpoint_twice", lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.cos(y)))(x).sum(), [f32(2)], CHECKPOINT, grad(0))
case("checkpoint_jit", lambda x: jax.jit(lambda y: (jnp.sin(jnp.exp(y)), jnp.exp(y)))(x)[0].sum(), [f32(2)], CHECKPOINT, grad(0))


# Calls and identities.

def solved(a, b):
    def solve(matvec, y):
        return y / jnp.diagonal(a)
    return lax.custom_linear_solve(lambda x: jnp.diagonal(a) * x, b, solve, solve, symmetric=True)


case("barrier_vjp", lambda x, y: lax.optimization_barrier((jnp.sin(x), y * 2.0))[0], [f32(2), f32(2)], vjp(0, 1))
case("barrier_vmap", lambda x, y: lax.optimization_barrier((jnp.sin(x), y * 2.0)), [f32(2), f32(2)], vmap(0, None))
case("jit_forwards", lambda x, y: jax.jit(lambda a, b: (b, jnp.sin(a), a * b))(x, y), [f32(2), f32(2)], vjp(0, 1, outs=(0, 1, 2)))
case("jit_partial", lambda x, y: jax.jit(lambda a, b: (jnp.sin(a), a * b))(x, y), [f32(2), f32(2)], vjp(1, outs=(1,)))
case("jit_twice_grad", lambda x: jax.jit(jnp.sin)(jax.jit(jnp.sin)(x)).sum(), [f32(2)], grad(0))
case("solve_jvp", solved, [f32(2, 2), f32(2)], jvp(0, 1))
case("solve_vjp", solved, [f32(2, 2), f32(2)], vjp(1))
case("solve_vmap", solved, [f32(2, 2), f32(2)], vmap(None, 0))
case("grad_of_grad", lambda x: jnp.sin(x) * x, [f32()], grad(0), grad(0), grad(0))
case("complex_vjp", lambda x: jnp.abs(jnp.exp(1j * x)) * x, [f32(2)], vjp(0))


# Functions that JAX brings along with a rule of their own.

case("library_relu_vjp", lambda x: jax.nn.relu(x) * x, [f32(3)], vjp(0))
case("library_relu_vmap_of_grad", lambda x: jax.nn.relu(x).sum(), [f32(3)], grad(0), vmap(0))
case("library_relu_jvp_of_vmap", jax.nn.relu6, [f32(3)], vmap(1), jvp(0))
case("library_logaddexp_jvp", jnp.logaddexp, [f32(3), f32(3)], jvp(0))
case("library_logaddexp2_vmap", jnp.logaddexp2, [f32(3), f32(3)], vmap(0, None), jvp(0, 1))
case("library_hypot_vjp", jnp.hypot, [f32(3), f32(3)], vjp(0, 1))
case("library_erf_linearize", lambda x: jax.scipy.special.erfc(x), [f32(3)], linearize(0))
case("frexp_jvp", lambda x: jnp.frexp(x)[0], [f32(3)], jvp(0))
case("frexp_vmap", lambda x: jnp.frexp(x), [f32(3)], vmap(1))
case("ldexp_jvp", jnp.ldexp, [f32(3), i32(3)], jvp(0))
case("ldexp_vmap", jnp.ldexp, [f32(3), i32(3)], vmap(1, None))
case("library_slogdet_jvp", jnp.linalg.slogdet, [f32(2, 2)], jvp(0, outs=(0, 1)))
case("library_slogdet_lu_vjp", lambda x: jnp.linalg.slogdet(x)[1], [f32(3, 3)], vjp(0))
case("library_pinv_tall_jvp", jnp.linalg.pinv, [f32(3, 2)], jvp(0))
case("library_pinv_wide_vjp", jnp.linalg.pinv, [f32(2, 3)], vjp(0))
case("library_i0_jvp", jnp.i0, [f32(3)], jvp(0))
case("library_i1_jvp_of_jvp", jax.scipy.special.i1, [f32(3)], jvp(0), jvp(0))
case("library_xlogy_vjp", jax.scipy.special.xlogy, [f32(3), f32(3)], vjp(0, 1))
case("library_xlog1py_vmap", jax.scipy.special.xlog1py, [f32(3), f32(3)], vmap(0, None), jvp(0, 1))
case("library_entr_jvp", jax.scipy.special.entr, [f32(3)], jvp(0))
case("library_logit_jvp", jax.scipy.special.logit, [f32(3)], jvp(0))
case("library_log_ndtr_jvp", jax.scipy.special.log_ndtr, [f32(3)], jvp(0))


# Tangents of integers, and of results that do not depend on the arguments.

case("float0_top_k_jvp", lambda x: lax.top_k(x, 2), [f32(4)], jvp(0))
case("float0_sort_linearize", lambda x, i: lax.sort((x, i), num_keys=1), [f32(4), i32(4)], linearize(0))
case("zero_tangents_jvp", lambda x, y: [x * 2.0, jnp.ones(2), y], [f32(2), f32(3)], jvp(0))


# Operands mapped alone.

def groups(x, y, n):
    return lax.ragged_dot(x, y, n)


case("clamp_vmap_bound", lambda a, x: lax.clamp(a, x, jnp.float32(1.0)), [f32(), f32(4)], vmap(0, None))
case("searchsorted_vmap_sorted", jnp.searchsorted, [f32(5), f32(3)], vmap(0, None))
case("searchsorted_vmap_values", jnp.searchsorted, [f32(5), f32(3)], vmap(None, 1))
case("searchsorted_vmap_both", jnp.searchsorted, [f32(5), f32(3)], vmap(0, 1))
case("reduce_jvp", lambda x: lax.reduce(x, jnp.float32(1), lambda a, b: a * b + a, (0,)), [f32(3, 2)], jvp(0))
case("polynomial_jvp", lambda x, a, b: lax.polynomial(x, [a, b]), [f32(3), f32(), f32()], jvp(0, 1, 2))
case("polynomial_unroll_vmap", lambda x: lax.polynomial(x, [1.0] * 12, unroll=20), [f32(3)], vmap(0))
case("ragged_dot_jvp", groups, [f32(6, 4), f32(3, 4, 5), i32(3)], jvp(0, 1))
case("ragged_dot_vjp", groups, [f32(6, 4), f32(3, 4, 5), i32(3)], vjp(0, 1))
case("ragged_dot_vmap", groups, [f32(6, 4), f32(3, 4, 5), i32(3)], vmap(0, 0, 0))


# Functions with a rule of their own whose derivatives are written differently here: `laws` checks their numbers.

def program(name, f, *args, argnums):
    with jax.enable_x64(True):
        args = [np.asarray(arg, np.float64) for arg in args]
        base = jax.make_jaxpr(f)(*args)
    header = {"argnums": argnums, "inputs": [arg.tolist() for arg in args],
              "consts": [np.asarray(const).tolist() for const in base.consts]}
    with open(os.path.join(HERE, "..", "laws", name + ".jaxpr"), "w") as file:
        file.write(f"# {json.dumps(header)}\n{normalise(str(base))}\n")


special = jax.scipy.special
program("zeta", special.zeta, [2.5, 3.0, 1.5], [1.0, 0.7, 2.0], argnums=[0, 1])
program("expn", special.expn, [0.0, 1.0, 2.0, 5.0], [0.5, 0.2, 1.5, 3.0], argnums=[1])
program("poch", special.poch, [1.5, 0.3, 2.0], [0.5, 1.2, 3.0], argnums=[0, 1])
program("hyp1f1", special.hyp1f1, [1.5, 0.3, 2.0], [0.5, 1.2, 3.0], [0.4, -0.5, 2.0], argnums=[0, 1, 2])
program("ndtri", special.ndtri, [0.3, 0.5, 0.97, 0.05], argnums=[0])
program("erfcx", special.erfcx, [-1.5, 0.0, 1.0, 3.0, 11.5, 30.0], argnums=[0])
program("owens_t", special.owens_t, [0.5, -1.0, 2.0], [0.3, 2.0, -0.7], argnums=[0, 1])
program("dawsn", special.dawsn, [-2.0, 0.0, 0.5, 4.0], argnums=[0])
program("fresnel", special.fresnel, [-2.0, 0.0, 0.5, 4.0], argnums=[0])
