"""``jaxide.jit`` has the arguments and the meaning of ``jax.jit``."""

import dataclasses
import functools
import gc
import threading
import weakref
from collections import OrderedDict, namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxide
from conftest import in_threads, same

Point = namedtuple("Point", "x y")


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Line:
    slope: jax.Array
    offset: jax.Array


@jax.tree_util.register_pytree_node_class
class Named:
    """A container that looks at what it is made of, as those of some libraries do."""

    def __init__(self, names, array):
        if len(names) != array.ndim:
            raise ValueError("a name for each axis")
        self.names, self.array = names, array

    def tree_flatten(self):
        return (self.array,), self.names

    @classmethod
    def tree_unflatten(cls, names, leaves):
        return cls(names, *leaves)


def test_containers_that_take_arrays_alone(both):
    both(lambda x: Named(x.names, x.array * 2).array, Named(("a", "b"), jnp.ones((2, 3))))
    f = jaxide.jit(lambda x: Named(x.names, x.array + 1), donate_argnums=0, strict=True)
    assert (f(Named(("a",), jnp.ones(4))).array == 2).all()


@pytest.mark.parametrize(
    "tree",
    [
        (),
        None,
        {},
        {"b": jnp.ones(2), "a": [jnp.zeros(3), None, (1.0, 2)]},
        {2: jnp.ones(2), 1: jnp.zeros(2)},
        OrderedDict(z=1.0, a=2.0),
        Point(1.0, {"k": jnp.ones(2)}),
        Line(jnp.ones(2), jnp.zeros(2)),
        [Line(jnp.ones(2), None), jax.tree_util.Partial(jnp.add, 2.0)],
    ],
)
def test_trees(both, tree):
    both(lambda tree: (tree, jax.tree.map(lambda x: x + 1, tree)), tree)


def test_trees_of_other_structure_are_other_programs():
    f = jaxide.jit(lambda tree: jax.tree.map(lambda x: x * 2, tree), strict=True)
    for tree in [(1.0, 2.0), [1.0, 2.0], {"a": 1.0, "b": 2.0}, {"a": 1.0, "c": 2.0}, ((1.0,), 2.0), Point(1.0, 2.0)]:
        same(f(tree), jax.jit(lambda tree: jax.tree.map(lambda x: x * 2, tree))(tree))


def test_keywords(both):
    def f(x, y=2.0, *, scale=3.0, **more):
        return x * y * scale + sum(more.values())

    both(f, 1.0)
    both(f, 1.0, 5.0)
    both(f, 1.0, scale=jnp.ones(2))
    both(f, x=1.0, y=2.0)
    both(f, 1.0, b=1.0, a=2)


def test_keywords_in_any_order():
    f = jaxide.jit(lambda **k: k["a"] - k["b"], strict=True)
    assert f(a=3.0, b=1.0) == 2 == f(b=1.0, a=3.0)


def test_static_arguments(both):
    def f(x, n, *, flag=False):
        return x * n if flag else x + n

    both(f, 2.0, 3, options=dict(static_argnums=1))
    both(f, 2.0, n=3, options=dict(static_argnums=1))
    both(f, 2.0, 3, flag=True, options=dict(static_argnames=("n", "flag")))
    both(f, 2.0, 3, flag=True, options=dict(static_argnums=(-1,), static_argnames="flag"))


def test_values_of_static_arguments_are_told_apart():
    f = jaxide.jit(lambda x, n: (x * n, type(n).__name__ == "int"), static_argnums=1, strict=True)
    assert f(2.0, 3)[0] == 6 and f(2.0, 4)[0] == 8 and f(2.0, 3)[0] == 6
    assert bool(f(2.0, 1)[1]) and not bool(f(2.0, True)[1])


def test_static_arguments_that_cannot_be_hashed():
    f = lambda x, n: x
    with pytest.raises(ValueError) as theirs:
        jax.jit(f, static_argnums=1)(1.0, [1])
    with pytest.raises(ValueError) as ours:
        jaxide.jit(f, static_argnums=1)(1.0, [1])
    assert str(ours.value)[:60] == str(theirs.value)[:60]


def test_methods():
    class Model:
        def __init__(self, w):
            self.w = w

        @functools.partial(jaxide.jit, static_argnums=0, strict=True)
        def __call__(self, x):
            return x * self.w

        @staticmethod
        @jaxide.jit
        def double(x):
            return x * 2

        @jaxide.jit(static_argnames="self")
        def add(self, x):
            return x + self.w

    model = Model(3.0)
    assert model(2.0) == 6 and Model.double(2.0) == 4 and model.add(1.0) == 4
    bound = jaxide.jit(model.add)
    assert bound(2.0) == 5


def test_names_and_documentation():
    @jaxide.jit
    def f(x):
        """What it does."""
        return x

    assert (f.__name__, f.__doc__, f.__wrapped__(3)) == ("f", "What it does.", 3)
    assert repr(f).startswith("<jaxide.jit of f")
    assert f.lower(1.0).out_info.dtype == jnp.float32
    assert f.eval_shape(jnp.ones(3)).shape == (3,)


def test_captured_arrays(both):
    w, n = jnp.arange(3.0), np.arange(3.0)
    inner = jax.jit(lambda x: x @ w + n.sum())
    both(lambda x: (x + w * n, inner(x), jax.vmap(inner)(jnp.stack([x, x]))), jnp.ones(3))
    keep = jax.random.key(0)
    both(lambda x: jax.lax.scan(lambda c, _: (c + jnp.asarray(n), inner(c)), x, None, length=3), jnp.ones(3))
    both(lambda x: jax.lax.cond(x[0] > 0, lambda x: x + w, lambda x: inner(x) + x, x), jnp.ones(3))
    both(lambda x: jax.random.normal(keep, (3,)) + x, jnp.ones(3))
    both(lambda x: x + jnp.asarray(w, jnp.bfloat16), jnp.ones(3, jnp.bfloat16))


def test_captured_numpy_arrays_are_copied():
    n = np.ones(100, np.float32)
    f = jaxide.jit(lambda x: x + n, strict=True)
    f(1.0)
    n[:] = 5
    np.testing.assert_array_equal(f(1.0), np.full(100, 2.0))


def test_donation():
    for options in [dict(donate_argnums=0), dict(donate_argnames="x")]:
        f = jaxide.jit(lambda x, y: x + y, strict=True, **options)
        for _ in range(3):
            x, y = jnp.ones(100), jnp.ones(100)
            z = f(x, y)
            assert x.is_deleted() and not y.is_deleted() and z[0] == 2
    f = jaxide.jit(lambda x: x, donate_argnums=0, strict=True)
    x = jnp.ones(100)
    assert f(x)[0] == 1 and x.is_deleted()
    with pytest.warns(UserWarning, match="not usable"):
        x = jnp.ones(100)
        assert jaxide.jit(lambda x: x.sum(), donate_argnums=0)(x) == 100
        assert not x.is_deleted()


def test_errors_of_the_function_are_the_users():
    @jaxide.jit
    def f(x):
        raise KeyError("mine")

    for _ in range(2):
        with pytest.raises(KeyError, match="mine"):
            f(1.0)
    with pytest.raises(TypeError):
        jaxide.jit(lambda x, y: x + y)(jnp.ones(2), jnp.ones(3))
    with pytest.raises(TypeError), pytest.warns(UserWarning):
        jaxide.jit(lambda x: x)("text")
    with pytest.raises(jax.errors.TracerBoolConversionError):
        jaxide.jit(lambda x: 1 if x else 2)(1.0)


def test_traced_once_for_each_signature():
    traced = []

    @jaxide.jit
    def f(x):
        traced.append(x.aval)
        return x * 2

    for _ in range(3):
        f(1.0), f(jnp.float32(1)), f(jnp.ones(3)), f(np.ones(3, np.float32))
    assert len(traced) == 3
    f(1)
    assert len(traced) == 4
    assert f._cache_size() == 5
    f.clear_cache()
    f(1.0)
    assert len(traced) == 5


def test_programs_are_shared_by_those_that_wrap_a_function():
    traced = []

    def f(x):
        traced.append(1)
        return x * 2

    for _ in range(5):
        jaxide.jit(f)(1.0)
    assert len(traced) == 1


def test_functions_are_let_go():
    def make():
        def f(x):
            return x * 2

        g = jaxide.jit(f)
        g(1.0)
        return weakref.ref(f)

    reference = make()
    jax.clear_caches()
    gc.collect()
    assert reference() is None


def test_arguments_are_let_go():
    f = jaxide.jit(lambda x: x + 1, strict=True)
    x = jnp.ones(10000)
    reference = weakref.ref(x)
    y = f(x)
    y = f(x)
    del x
    gc.collect()
    assert reference() is None
    reference = weakref.ref(y)
    del y
    gc.collect()
    assert reference() is None


def test_transformations(both):
    f = lambda x: jnp.sum(jnp.sin(x) ** 2)
    g = jaxide.jit(f)
    x = jnp.arange(3.0)
    both(jax.grad(f), x)
    both(jax.vmap(jax.value_and_grad(f)), jnp.ones((2, 3)))
    same(jax.grad(g)(x), jax.grad(jax.jit(f))(x))
    same(jax.vmap(g)(jnp.ones((2, 3))), jax.vmap(jax.jit(f))(jnp.ones((2, 3))))
    same(jax.jit(g)(x), jax.jit(f)(x))
    same(jax.jvp(g, (x,), (x,)), jax.jvp(jax.jit(f), (x,), (x,)))
    same(jax.hessian(g)(x), jax.hessian(f)(x))
    both(lambda x: g(x) + 1, x)
    assert "jit[" in str(jax.make_jaxpr(g)(x))


def test_closures_over_tracers():
    h = lambda x: jaxide.jit(lambda y: x * y)(2.0)
    assert jax.grad(h)(3.0) == 2
    assert jaxide.jit(h)(3.0) == 6


def test_custom_rules(both):
    @jax.custom_vjp
    def f(x):
        return x * 2

    f.defvjp(lambda x: (f(x), x), lambda x, ct: (ct * x * 100,))

    @jax.custom_jvp
    def g(x):
        return x * 3

    g.defjvp(lambda p, t: (g(*p), t[0] * 50))
    both(lambda x: (f(x), g(x)), 2.0)
    both(jax.grad(lambda x: f(x) + g(x)), 2.0)
    assert jax.grad(jaxide.jit(f))(2.0) == 200


def test_control_flow(both):
    both(lambda n: jax.lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * 1.5), (0, 1.0)), 10)
    both(lambda x: jax.lax.fori_loop(0, 5, lambda i, x: x + i, x), 1.0)
    both(lambda x: jax.lax.scan(lambda c, x: (c + x, c * x), 0.0, x), jnp.arange(33.0))
    both(lambda i, x: jax.lax.switch(i, [jnp.sin, jnp.cos, jnp.tanh], x), 2, 1.0)
    both(lambda x: jax.lax.map(lambda r: jnp.linalg.norm(r), x), jnp.ones((5, 3)))

    def scoped(x):
        with jax.named_scope("part"):
            return jnp.linalg.solve(x @ x.T + 100 * jnp.eye(3), x)

    both(scoped, jnp.arange(9.0).reshape(3, 3))


def test_switches(both):
    f = jaxide.jit(lambda x: jnp.log(x), strict=True)
    f(1.0)
    with jax.disable_jit():
        seen = []
        jaxide.jit(lambda x: seen.append(float(x)) or x)(2.0)
        assert seen == [2.0]
    with jax.debug_nans(True), pytest.raises(FloatingPointError):
        f(-1.0)


def test_threads():
    f = jaxide.jit(lambda x, n: jnp.sin(x * n).sum(), static_argnums=1, strict=True)
    expected = {n: float(jax.jit(lambda x: jnp.sin(x * n).sum())(jnp.arange(500.0))) for n in range(4)}
    wrong = []

    def work(seed):
        for k in range(200):
            n = (seed + k) % 4
            got = float(f(jnp.arange(500.0), n))
            if abs(got - expected[n]) > 1e-3:
                wrong.append((n, got))

    in_threads(8, work)
    assert not wrong


def test_other_threads_run_meanwhile():
    f = jaxide.jit(lambda x, n: jax.lax.fori_loop(0, n, lambda i, x: jnp.sin(x), x), strict=True)
    f(jnp.ones(1000), 3)
    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.001):
            ticks.append(1)

    thread = threading.Thread(target=tick)
    thread.start()
    f(jnp.ones(1000), 300_000)
    count = len(ticks)
    done.set()
    thread.join()
    assert count > 3


def test_many_small_results(both):
    """From some call on they are handed over together."""
    tree = {"f": [jnp.float32(i) for i in range(20)], "i": [jnp.arange(i) for i in range(4)], "b": True, "h": jnp.bfloat16(2), "w": 1.5}
    f = lambda tree: jax.tree.map(lambda x: x + x, tree)
    native = jaxide.jit(f, strict=True)
    theirs = jax.jit(f)(tree)
    for _ in range(40):
        same(native(tree), theirs)
    ours = theirs = tree
    for _ in range(30):
        ours, theirs = native(ours), jax.jit(f)(theirs)
        same(ours, theirs)


def test_export():
    exported, theirs = (jax.export.export(jit(lambda x: x + 1))(jnp.ones(3)) for jit in (jaxide.jit, jax.jit))
    same(exported.call(jnp.ones(3)), theirs.call(jnp.ones(3)))


def test_guards_of_transfers():
    f = jaxide.jit(lambda x: x + 1, strict=True)
    x = jnp.ones(3)
    expected = f(x)
    for guard in (jax.transfer_guard, jax.transfer_guard_host_to_device):
        with guard("disallow"):
            result = f(x)
        same(result, expected)


def test_types_that_are_given_as_classes(both):
    both(lambda x: jax.lax.mul(x, x) + jax.lax.convert_element_type(x, np.float32), jnp.ones(3))
    both(lambda x: jax.lax.dot(x, x, preferred_element_type=np.float32), jnp.ones(3, jnp.bfloat16))


def test_meshes_are_left_to_jax():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    f = jaxide.jit(lambda x: x + 1)
    with jax.set_mesh(mesh), pytest.warns(UserWarning, match="a mesh of devices"):
        x = jax.device_put(jnp.ones(4), jax.sharding.PartitionSpec("x"))
        assert f(x).sharding == jax.jit(lambda x: x + 1)(x).sharding


def test_unused_results_that_are_used_inside(both):
    """JAX's printer calls all of these variables `_`."""

    @jax.jit
    def nothing(x):
        return ()

    @jax.jit
    def inner(s, x, y):
        return x, x + 1, y, s

    def f(x, y):
        x + y
        nothing(x)
        _, a, _, b = inner(jnp.sin(y), x, y)
        return a, b, b

    both(f, jnp.ones((2, 2)), jnp.full((2, 2), 3.0))

    def dropped(x, y):
        a, b = jax.jit(lambda x, y: (jnp.sin(x), jnp.cos(y)))(x, y)
        c, d, e = jax.jit(lambda a, b: (a * 2, b * 3, a - b))(a, b)
        jax.debug.print("{}", e)
        return e

    both(dropped, jnp.ones((2, 2)), jnp.full((2, 2), 3.0))
