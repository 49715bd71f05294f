"""Records what optax gives: `python python/record.py` writes `tests/data/{optimizers,searches}.jsonl` (optax 0.2.8)."""

import json
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import optax


def array(x):
    x = np.asarray(x)
    data = [float(str(v)) if np.isfinite(v) else str(v) for v in x.ravel()]
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": data}


def tree(t):
    return {name: array(value) for name, value in sorted(t.items())}


OPTIMIZERS = {
    "amsgrad": optax.amsgrad(0.05),
    "adadelta": optax.adadelta(0.5, 0.9, 1e-6),
    "radam": optax.radam(0.05),
    "lamb": optax.lamb(0.05, weight_decay=0.01),
    "lars": optax.lars(0.5, weight_decay=0.01),
    "rmsprop_centered_momentum": optax.rmsprop(0.01, centered=True, momentum=0.9, nesterov=True),
    "adamw_mask": optax.adamw(0.05, weight_decay=0.1, mask={"w": True, "b": False}),
    "sign_sgd": optax.sign_sgd(0.1),
    "adaptive_grad_clip": optax.chain(optax.adaptive_grad_clip(0.1), optax.sgd(0.1)),
    "multi_steps": optax.MultiSteps(optax.adam(0.05), 3),
    "apply_if_finite": optax.apply_if_finite(optax.adam(0.05), 2),
    "ema": optax.chain(optax.ema(0.9), optax.sgd(0.1)),
    "multi_transform": optax.multi_transform(
        {"a": optax.adam(0.1), "s": optax.sgd(0.2, 0.5)}, {"w": "a", "b": "s"}
    ),
    "linear_onecycle": optax.sgd(optax.linear_onecycle_schedule(10, 0.5)),
    "cosine_onecycle": optax.sgd(optax.cosine_onecycle_schedule(10, 0.5)),
}

# Of parameters of other shapes: a scalar, an array of three axes, axes of one length.
SHAPES = {"s": (), "k": (2, 1, 3), "q": (3, 2), "v": (2,)}
MASK = {"s": False, "k": True, "q": True, "v": False}
OPTIONS = {
    "sgd": optax.sgd(0.1),
    "momentum": optax.sgd(0.1, 0.8),
    "nesterov": optax.sgd(0.1, 0.8, nesterov=True),
    "adam": optax.adam(0.05, b1=0.8, b2=0.99, eps=1e-6, eps_root=1e-4),
    "adam_nesterov": optax.adam(0.05, nesterov=True),
    "nadam": optax.nadam(0.05),
    "adamw": optax.adamw(0.05, weight_decay=0.1, mask=MASK),
    "adamax": optax.adamax(0.05),
    "amsgrad": optax.amsgrad(0.05),
    "rmsprop": optax.rmsprop(0.01, decay=0.8, eps=1e-4),
    "rmsprop_centered": optax.rmsprop(0.01, centered=True),
    "rmsprop_momentum": optax.rmsprop(0.01, momentum=0.8),
    "adagrad": optax.adagrad(0.3, initial_accumulator_value=0.2, eps=1e-5),
    "adadelta": optax.adadelta(1.0, 0.8, 1e-4),
    "lamb": optax.lamb(0.05, weight_decay=0.1, mask=MASK),
    "lars": optax.lars(0.5, weight_decay=0.1, momentum=0.8),
    "lion": optax.lion(0.05, b1=0.8, b2=0.95, weight_decay=0.1, mask=MASK),
    "adafactor": optax.adafactor(0.1, min_dim_size_to_factor=2),
    "adafactor_whole": optax.adafactor(0.1, factored=False, decay_rate=0.7, clipping_threshold=None),
    "adafactor_momentum": optax.adafactor(
        0.1, min_dim_size_to_factor=3, momentum=0.9, weight_decay_rate=0.01, multiply_by_parameter_scale=False
    ),
    "adafactor_no_rate": optax.adafactor(min_dim_size_to_factor=2, weight_decay_rate=0.01, weight_decay_mask=MASK),
    "clip_by_block_rms": optax.chain(optax.clip_by_block_rms(0.5), optax.sgd(0.1)),
    "adaptive_grad_clip": optax.chain(optax.adaptive_grad_clip(0.3), optax.sgd(0.1)),
    "clip": optax.chain(optax.clip(0.3), optax.sgd(0.1)),
    "clip_by_global_norm": optax.chain(optax.clip_by_global_norm(0.7), optax.sgd(0.1)),
    "multi_steps": optax.MultiSteps(optax.lion(0.05), 4),
    "ema_not_debiased": optax.chain(optax.ema(0.7, debias=False), optax.sgd(0.1)),
    "lbfgs_without_search": optax.lbfgs(0.1, memory_size=3, linesearch=None),
    "lbfgs_unscaled": optax.lbfgs(0.05, memory_size=12, scale_init_precond=False, linesearch=None),
}
# Options that are seldom stated.
MOMENTS = {"b1": 0.8, "b2": 0.95, "eps": 1e-3, "eps_root": 1e-4}
RMS = {"decay": 0.8, "eps": 1e-3, "momentum": 0.8, "nesterov": True, "bias_correction": True}
NOT_V = {"s": True, "k": True, "q": True, "v": False}
ADAMAX = {"b1": 0.8, "b2": 0.95, "eps": 1e-3}
FURTHER = {
    "adam_mu": optax.adam(0.05, mu_dtype=jnp.bfloat16, **MOMENTS),
    "adamw_mu": optax.adamw(0.05, mu_dtype=jnp.bfloat16, weight_decay=0.1, mask=MASK, **MOMENTS),
    "nadamw_with": optax.nadamw(0.05, weight_decay=0.1, **MOMENTS),
    "adamax_with": optax.adamax(0.05, **ADAMAX),
    "adamaxw": optax.adamaxw(0.05, weight_decay=0.1, mask=MASK, **ADAMAX),
    "amsgrad_with": optax.amsgrad(0.05, mu_dtype=jnp.bfloat16, **MOMENTS),
    "radam_with": optax.radam(0.05, threshold=3.0, nesterov=True, **MOMENTS),
    "lamb_with": optax.lamb(0.05, weight_decay=0.1, **MOMENTS),
    "lars_with": optax.lars(0.5, optax.linear_schedule(0.1, 0.0, 5), MASK, 0.1, 0.01, NOT_V, 0.7, nesterov=True),
    "lion_mu": optax.lion(0.05, mu_dtype=jnp.bfloat16, weight_decay=0.01),
    "momentum_half": optax.sgd(0.1, 0.8, nesterov=True, accumulator_dtype=jnp.bfloat16),
    "ema_half": optax.chain(optax.ema(0.7, accumulator_dtype=jnp.bfloat16), optax.sgd(0.1)),
    "adafactor_half": optax.adafactor(0.1, min_dim_size_to_factor=2, momentum=0.9, dtype_momentum=jnp.bfloat16),
    "adadelta_decay": optax.adadelta(1.0, weight_decay=0.1, weight_decay_mask=MASK),
    "rmsprop_unbiased": optax.rmsprop(0.01, **RMS),
    "rmsprop_centered_unbiased": optax.rmsprop(0.01, centered=True, **RMS),
    "multi_steps_sum": optax.MultiSteps(optax.adam(0.05), 3, use_grad_mean=False),
    "multi_steps_schedule": optax.MultiSteps(optax.adam(0.05), lambda step: step + 1),
    "multi_steps_skip": optax.MultiSteps(
        optax.adam(0.05), 2, should_skip_update_fn=partial(optax.skip_large_updates, max_squared_norm=10.0)
    ),
}
# `optax.sm3` cannot do scalars, which have no axis to clip along either.
SM3 = {"sm3": optax.sm3(0.1), "sm3_momentum": optax.sm3(0.1, momentum=0.5)}
ALONG = {"adaptive_grad_clip_along": optax.chain(optax.adaptive_grad_clip(0.3, 1e-2, axis=-1), optax.sgd(0.1))}

DATA = Path(__file__).parent.parent / "tests/data"
random = np.random.RandomState(0)


def number(*shape):
    return np.round(random.randn(*shape), 3)


def write(name, cases):
    lines = [json.dumps(case, separators=(",", ":")) for case in cases]
    (DATA / name).write_text("".join(line + "\n" for line in lines))


def steps(name, transform, shapes):
    def make():
        return {leaf: jnp.asarray(number(*shape), jnp.float32) for leaf, shape in shapes.items()}

    params = make()
    # The rectification takes differences of powers that are nearly 1: of their rounding three digits are left.
    rtol = 2e-3 if name == "radam" else 2e-5
    case = {"id": f"optimizer/{name}", "op": "optimizer", "rtol": rtol, "atol": 1e-6, "name": name, "hyper": {}}
    case["params"] = tree(params)
    state = transform.init(params)
    case["grads"], case["params_after"] = [], []
    for step in range(10):
        gradient = make()
        if name == "apply_if_finite" and step in (2, 5, 6, 7):
            gradient["b"] = gradient["b"].at[1].set(jnp.nan if step == 2 else jnp.inf)
        updates, state = transform.update(gradient, state, params)
        params = optax.apply_updates(params, updates)
        case["grads"].append(tree(gradient))
        case["params_after"].append(tree(params))
    return case


FUNCTIONS = {
    "valley": lambda p: (100 * (p["y"] - p["x"] ** 2) ** 2 + (1 - p["x"]) ** 2).sum(),
    "bowl": lambda p: (jnp.array([1.0, 10.0, 100.0]) * p["x"] ** 2).sum() + ((p["y"] - 3) ** 2).sum(),
    "steep": lambda p: jnp.exp(p["x"]).sum() + jnp.log1p(p["y"] ** 2).sum() + 0.1 * (p["x"] ** 2).sum(),
    "cliff": lambda p: jnp.sqrt(1 + p["x"] ** 4).sum() - jnp.log(4 - p["y"]).sum() + (p["y"] ** 2).sum(),
}
SEARCHES = {
    "default": optax.lbfgs(),
    "short_memory": optax.lbfgs(memory_size=2),
    "keep": optax.lbfgs(linesearch=optax.scale_by_zoom_linesearch(8, initial_guess_strategy="keep")),
    "bounded": optax.lbfgs(linesearch=optax.scale_by_zoom_linesearch(20, max_learning_rate=0.7, initial_guess_strategy="one")),
    "sharp": optax.lbfgs(linesearch=optax.scale_by_zoom_linesearch(15, curv_rtol=0.1, initial_guess_strategy="one")),
    "armijo": optax.lbfgs(linesearch=optax.scale_by_zoom_linesearch(15, approx_dec_rtol=None, initial_guess_strategy="one")),
    "few": optax.lbfgs(linesearch=optax.scale_by_zoom_linesearch(2, curv_rtol=1e-4, initial_guess_strategy="one")),
    "gradient": optax.chain(optax.sgd(1.0), optax.scale_by_zoom_linesearch(20)),
}


def search(function, name):
    f, transform = FUNCTIONS[function], SEARCHES[name]
    params = {"x": jnp.asarray(number(3)), "y": jnp.asarray(number(3))}
    case = {"id": f"search/{function}/{name}", "function": function, "name": name, "params": tree(params)}
    state = transform.init(params)
    case["params_after"], case["tries"] = [], []
    from_state = optax.value_and_grad_from_state(f)
    for _ in range(10):
        value, gradient = from_state(params, state=state)
        if optax.tree.norm(gradient) < 1e-4:
            break  # From here on rounding decides.
        updates, state = transform.update(gradient, state, params, value=value, grad=gradient, value_fn=f)
        params = optax.apply_updates(params, updates)
        case["params_after"].append(tree(params))
        case["tries"].append(int(optax.tree.get(state, "num_linesearch_steps")))
    return case


cases = [steps(name, transform, {"w": (2, 3), "b": (3,)}) for name, transform in OPTIMIZERS.items()]
cases += [steps(f"options_{name}", transform, SHAPES) for name, transform in OPTIONS.items()]
without = {leaf: shape for leaf, shape in SHAPES.items() if shape}
cases += [steps(f"options_{name}", transform, without) for name, transform in SM3.items()]
# With 64 bits, so that conditions are not decided by rounding.
with jax.enable_x64(True):
    searches = [search(function, name) for function in FUNCTIONS for name in SEARCHES]
write("searches.jsonl", searches)
random = np.random.RandomState(1)
cases += [steps(f"options_{name}", transform, SHAPES) for name, transform in FURTHER.items()]
cases += [steps(f"options_{name}", transform, without) for name, transform in ALONG.items()]
write("optimizers.jsonl", cases)
