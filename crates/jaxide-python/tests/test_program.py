"""Programs as objects: looked at, transformed, run and saved."""

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxide
from conftest import same

TEXT = """\
{ lambda ; a:f32[3]. let
    b:f32[3] = sin a
    c:f32[] = reduce_sum[axes=(0,) out_sharding=None] b
  in (c,) }"""


def loss(x):
    return jnp.sum(jnp.sin(x))


@pytest.mark.parametrize("source", ["text", "function", "jaxpr"])
def test_sources(source):
    x = jnp.arange(3.0)
    program = {
        "text": lambda: jaxide.Program(TEXT),
        "function": lambda: jaxide.Program(loss, x),
        "jaxpr": lambda: jaxide.Program(jax.make_jaxpr(loss)(x)),
    }[source]()
    assert program.text == TEXT == str(program)
    assert program.check() == []
    results = program.run(x), program.eval(np.arange(3, dtype=np.float32))
    if source != "function":
        results = [result for (result,) in results]
    for result in results:
        same(result, loss(x))


def test_structure_of_results():
    program = jaxide.Program(lambda x: {"a": x, "b": [x + 1, jax.random.key(0)]}, 1.0)
    result = program.run(1.0)
    assert result["a"] == 1 and result["b"][0] == 2 and result["b"][1].dtype == jax.random.key(0).dtype


def test_transformations():
    x = jnp.arange(3.0)
    program = jaxide.Program(TEXT)
    same(program.transform("grad").run(x), [jax.grad(loss)(x)])
    same(program.transform("grad", argnums=0).transform("vmap", axis_size=2).run(jnp.stack([x, x])), [jnp.cos(jnp.stack([x, x]))])
    same(program.transform("vmap", in_axes=1, axis_size=2).run(jnp.stack([x, x], 1)), [jax.vmap(loss)(jnp.stack([x, x]))])
    same(program.transform("jvp").run(x, x), list(jax.jvp(loss, (x,), (x,))))
    same(program.transform("hessian").run(x), [jax.hessian(loss)(x)])


def test_mistakes_have_the_words_of_rust():
    with pytest.raises(jaxide.JaxideError, match="there is no transformation `gard`"):
        jaxide.Program(TEXT).transform("gard")
    with pytest.raises(jaxide.JaxideError, match=r"argument 0 is f32\[4\], and f32\[3\] is expected"):
        jaxide.Program(TEXT).run(jnp.ones(4))
    with pytest.raises(jaxide.JaxideError, match=r"argument 0 is i32\[3\], and f32\[3\] is expected"):
        jaxide.Program(TEXT).run(jnp.arange(3))
    with pytest.raises(jaxide.JaxideError, match="takes 1 arguments, and 2 are given"):
        jaxide.Program(TEXT).run(jnp.ones(3), 1.0)
    with pytest.raises(jaxide.JaxideError) as told:
        jaxide.Program("{ lambda ; a:f32[3]. let b:f32[3] = in (b,) }")
    assert told.value.kind == "Syntax"
    with pytest.raises(jaxide.JaxideError, match="there is no stage"):
        jaxide.Program(TEXT).lower("loop")
    with pytest.raises(jaxide.JaxideError):
        jaxide.Program("{ lambda ; a:f32[3]. let b:f32[4] = sin a in (b,) }").check()


def test_stages_and_profile():
    program = jaxide.Program(TEXT)
    for stage in ["jaxpr", "simplified", "graph", "plan", "loops", "lanes", "clif", "asm"]:
        assert program.lower(stage).strip()
    steps = program.profile(jnp.ones(3), runs=5)
    assert steps[0]["runs"] == 5 and steps[0]["seconds"] >= 0


def test_captured_arrays_and_files(tmp_path):
    w = jnp.arange(3.0)
    inner = jax.jit(lambda x: x @ w)
    program = jaxide.Program(lambda x: inner(x) + w, jnp.ones(3))
    same(program.run(jnp.ones(3)), jax.jit(lambda x: inner(x) + w)(jnp.ones(3)))
    outer = jaxide.Program(lambda x: x * w, jnp.ones(3))
    outer.save(tmp_path / "f.jaxpr")
    archive = np.load(tmp_path / "f.npz")
    again = jaxide.Program((tmp_path / "f.jaxpr").read_text(), constants=[archive["const0"]])
    same(again.run(jnp.ones(3)), [w])
    with pytest.raises(jaxide.JaxideError):
        jaxide.Program(outer.text, constants=[np.ones(4, np.float32)])
    with pytest.raises(jaxide.JaxideError):
        jaxide.Program(outer.text).run(jnp.ones(3))


def test_notebooks():
    shown = jaxide.Program(lambda x: jnp.where(x < 1, x, 2.0), jnp.ones(3))._repr_html_()
    assert shown.startswith("<pre>") and "<svg" in shown and "&lt;" not in shown.split("<svg")[0].replace("&lt;lambda&gt;", "")
    assert "\x1b" not in shown
    assert shown.count("<span") == shown.count("</span>")


def test_types_are_declared():
    import ast
    import pathlib

    folder = pathlib.Path(jaxide.__file__).parent
    assert (folder / "py.typed").exists()
    stubs = ast.parse((folder / "__init__.pyi").read_text())
    declared = {node.name for node in stubs.body if hasattr(node, "name")}
    assert set(jaxide.__all__) <= declared


def same_text(function, *args):
    from jaxide._jaxide import Text
    from jaxide._text import quick_text

    closed = jax.jit(function).trace(*args).jaxpr
    assert str(Text(quick_text(closed))) == str(Text(closed.pretty_print(use_color=False)))


@pytest.mark.parametrize("name", ["jnp.add", "jnp.log", "lax.erf", "jnp.square", "shapes.reshape", "stats.t.logpdf", "lax.rsqrt"])
def test_programs_are_printed_as_by_jax(name):
    from test_library import CASES

    function, variants, _, _ = CASES[name]
    for args in variants:
        same_text(function, *args)


def test_programs_with_others_inside_are_printed_as_by_jax():
    x = jnp.ones((3, 3))
    inner = jax.jit(lambda x: jnp.sin(x) * x)
    captured = jax.jit(lambda y: y + x)

    @jax.custom_vjp
    def ruled(x):
        return inner(x)

    ruled.defvjp(lambda x: (ruled(x), x), lambda x, g: (g * x,))

    def loops(x):
        x = jax.lax.fori_loop(0, 3, lambda i, x: inner(x) + i, x)
        x = jax.lax.while_loop(lambda x: jnp.sum(x) < 3, lambda x: ruled(x) + 1, x)
        x, _ = jax.lax.scan(lambda x, y: (inner(x) + y, None), x, jnp.ones((4, 3, 3)))
        return jax.lax.cond(x[0, 0] > 2, inner, lambda x: x @ x, x)

    for f in (inner, captured, ruled, loops, jax.nn.relu, jax.checkpoint(loops), lambda x: jax.nn.gelu(captured(inner(x)) + inner(captured(x)))):
        same_text(f, x)
    same_text(jax.grad(lambda x: jnp.sum(jax.nn.relu(ruled(inner(x))))), x)
    same_text(jax.vmap(loops), x[None])
    same_text(lambda key: jax.random.normal(key, (3,)), jax.random.key(0))


def test_what_only_jax_prints_is_left_to_it():
    from jaxide._text import _Otherwise, quick_text

    with pytest.raises(_Otherwise):
        quick_text(jax.jit(lambda x: jax.lax.exp(x, accuracy=jax.lax.AccuracyMode.HIGHEST)).trace(jnp.ones((3, 3))).jaxpr)


def test_jaxprs_inside_of_other_parameters():
    from jaxide._text import quick_text

    x = jnp.eye(3) + jnp.arange(9.0).reshape(3, 3) / 9
    for f in (lambda x: jnp.linalg.solve(x, x), jax.grad(lambda x: (jnp.linalg.inv(x) * jnp.cos(x)).sum())):
        program = jaxide.Program(quick_text(jax.jit(f).trace(x).jaxpr))
        (result,) = program.run(x)
        same(result, f(x), 1e-4)
