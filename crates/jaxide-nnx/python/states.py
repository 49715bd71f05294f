"""Records steps and states of optax: `python python/states.py > tests/data/states.jsonl` (optax 0.2.8)."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import optax


def array(x):
    x = np.asarray(x)
    data = [float(v if x.dtype == bool else str(v)) if np.isfinite(v) else str(v) for v in x.ravel()]
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": data}


def tree(t):
    return {name: array(value) for name, value in sorted(t.items())}


def flat(state):
    return [[jax.tree_util.keystr(path), array(leaf)] for path, leaf in jax.tree_util.tree_leaves_with_path(state)]


random = np.random.RandomState(1)


def made(shapes):
    return {name: jnp.asarray(np.round(random.randn(*shape), 3), jnp.float32) for name, shape in shapes.items()}


def quadratic(p):
    return sum(jnp.sum((jnp.arange(1, x.size + 1, dtype=jnp.float32).reshape(x.shape)) * (x - 0.5) ** 2) for x in p.values())


def rosenbrock(p):
    x = jnp.concatenate([p[name].ravel() for name in sorted(p)])
    return jnp.sum(10.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1.0 - x[:-1]) ** 2)


def quartic(p):
    return sum(jnp.sum(x**4 - 2.0 * x**2 + 0.3 * x) for x in p.values())


FUNCTIONS = {"quadratic": quadratic, "rosenbrock": rosenbrock, "quartic": quartic}


def record(name, transform, shapes, function=None, rtol=2e-5, atol=1e-6, steps=10):
    params = made(shapes)
    state = transform.init(params)
    case = {"id": f"state/{name}", "name": name, "rtol": rtol, "atol": atol, "function": function}
    case |= {"params": tree(params), "treedef": str(jax.tree_util.tree_structure(state)), "state_before": flat(state)}
    case["grads"], case["params_after"] = [], []
    for _ in range(steps):
        if function:
            value, gradient = jax.value_and_grad(FUNCTIONS[function])(params)
            extra = {"value": value, "grad": gradient, "value_fn": FUNCTIONS[function]}
        else:
            gradient, extra = made(shapes), {}
            case["grads"].append(tree(gradient))
        updates, state = transform.update(gradient, state, params, **extra)
        params = optax.apply_updates(params, updates)
        case["params_after"].append(tree(params))
    case["state_after"] = flat(state)
    print(json.dumps(case, separators=(",", ":")))


small = {"b": (3,), "w": (2, 3)}
cubes = {"c": (2, 4, 3), "w": (5, 4)}

record("adafactor", optax.adafactor(0.1), small)
record("adafactor_factored", optax.adafactor(0.1, min_dim_size_to_factor=2), {"b": (3,), "w": (4, 2), "v": (2, 4)})
record("adafactor_cubes", optax.adafactor(0.1, min_dim_size_to_factor=3, decay_rate=0.6, eps=1e-6), cubes)
record("adafactor_all", optax.adafactor(
    0.1, min_dim_size_to_factor=2, multiply_by_parameter_scale=False, clipping_threshold=0.5, momentum=0.9,
    weight_decay_rate=0.01, decay_offset=-2), small)
record("adafactor_plain", optax.adafactor(None, factored=False, clipping_threshold=None), small)
record("sm3", optax.sm3(0.1), small)
record("sm3_momentum", optax.sm3(0.05, momentum=0.5), cubes)
record("sm3_decay", optax.chain(optax.scale_by_sm3(0.8, 0.9, 1e-6), optax.scale(-0.1)), cubes)

record("lbfgs", optax.lbfgs(), small, "quadratic", rtol=2e-3, atol=2e-4)
record("lbfgs_rosenbrock", optax.lbfgs(memory_size=3), {"x": (2,)}, "rosenbrock", rtol=2e-3, atol=2e-4)
record("lbfgs_unscaled", optax.lbfgs(memory_size=2, scale_init_precond=False), {"x": (4,)}, "quadratic", rtol=2e-3, atol=2e-4)
record("lbfgs_fixed", optax.lbfgs(0.1, memory_size=4, linesearch=None), small, "quadratic", rtol=2e-3, atol=2e-4)
record("lbfgs_no_search", optax.lbfgs(0.05, linesearch=None), small)
record("zoom_keep", optax.chain(optax.sgd(1.0), optax.scale_by_zoom_linesearch(15)), small, "quadratic", rtol=1e-3, atol=1e-4)
record("zoom_one", optax.chain(
    optax.sgd(1.0), optax.scale_by_zoom_linesearch(15, curv_rtol=0.1, initial_guess_strategy="one")),
    {"x": (3,)}, "rosenbrock", rtol=1e-3, atol=1e-4)
record("zoom_least", optax.chain(
    optax.sgd(1.0), optax.scale_by_zoom_linesearch(3, max_learning_rate=0.1, approx_dec_rtol=None, increase_factor=3.0)),
    {"x": (3,)}, "quartic", rtol=1e-3, atol=1e-4)

record("momentum", optax.sgd(0.1, 0.9, nesterov=True), small)
record("sgd", optax.sgd(0.1), small)
record("adam", optax.adam(0.1), small)
record("nadamw", optax.nadamw(0.1, weight_decay=0.01), small)
record("amsgrad", optax.amsgrad(0.1), small)
record("adamax", optax.adamax(0.1), small)
record("rmsprop", optax.rmsprop(0.1, momentum=0.9), small)
record("rmsprop_centered", optax.rmsprop(0.1, centered=True, initial_scale=1.0, eps_in_sqrt=False), small)
record("adagrad", optax.adagrad(0.1), small)
record("adadelta", optax.adadelta(0.5), small)
record("lion", optax.lion(0.1), small)
record("lamb", optax.lamb(0.1, weight_decay=0.1), small)
record("lars", optax.lars(0.1, weight_decay=0.1), small)
record("clip_by_block_rms", optax.chain(optax.clip_by_block_rms(0.5), optax.sgd(0.1)), small)
record("adamw_mask", optax.adamw(0.05, weight_decay=0.1, mask={"w": True, "b": False}), small)
record("adamw_schedule", optax.adamw(0.05, weight_decay=optax.linear_schedule(0.1, 0.0, 5)), small)
record("masked", optax.masked(optax.adam(0.1), {"w": True, "b": False}), small)
record("partition", optax.partition({"a": optax.adam(0.1), "s": optax.sgd(0.2, 0.5), "z": optax.set_to_zero()},
                                    {"w": "a", "b": "s", "c": "z"}), {"b": (3,), "c": (2,), "w": (2, 3)})
record("multi_steps", optax.MultiSteps(optax.adam(0.05), 3), small)
record("apply_if_finite", optax.apply_if_finite(optax.adam(0.05), 2), small)
record("inject", optax.inject_hyperparams(optax.adamw, static_args=("b1", "b2", "eps", "eps_root"))(
    learning_rate=optax.linear_schedule(0.1, 0.0, 8), weight_decay=0.1), small)
for name, schedule in {
    "sgdr": optax.sgdr_schedule([
        dict(init_value=0.0, peak_value=0.5, warmup_steps=2, decay_steps=4, end_value=0.1),
        dict(init_value=0.1, peak_value=0.3, warmup_steps=1, decay_steps=5, exponent=2.0)]),
    "polynomial": optax.polynomial_schedule(0.5, 0.1, 2.0, 5, transition_begin=2),
    "exponential": optax.exponential_decay(0.5, 2, 0.5, transition_begin=1, staircase=True, end_value=0.1),
    "warmup_exponential": optax.warmup_exponential_decay_schedule(0.0, 0.5, 3, 2, 0.7),
    "warmup_constant": optax.warmup_constant_schedule(0.0, 0.5, 4),
    "piecewise_constant": optax.piecewise_constant_schedule(0.5, {3: 0.5, 6: 0.1}),
    "interpolate": optax.piecewise_interpolate_schedule("cosine", 0.5, {3: 0.5, 6: 2.0}),
    "linear_onecycle": optax.linear_onecycle_schedule(10, 0.5, 0.2, 0.6, 10.0, 100.0),
    "cosine_onecycle": optax.cosine_onecycle_schedule(10, 0.5, 0.4, 10.0, 100.0),
    "join": optax.join_schedules([optax.constant_schedule(0.2), optax.cosine_decay_schedule(0.5, 5, 0.1, 2.0)], [4]),
}.items():
    record(f"schedule_{name}", optax.sgd(schedule), {"x": (2,)})
