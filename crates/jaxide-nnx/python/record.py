"""Records what optax gives: `python python/record.py > tests/data/optimizers.jsonl` (optax 0.2.8)."""

import json

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

random = np.random.RandomState(0)
for number, (name, transform) in enumerate(OPTIMIZERS.items()):
    def make():
        return {
            "w": jnp.asarray(np.round(random.randn(2, 3), 3), jnp.float32),
            "b": jnp.asarray(np.round(random.randn(3), 3), jnp.float32),
        }

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
    print(json.dumps(case, separators=(",", ":")))
