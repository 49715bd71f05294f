"""Records losses of optax and their gradients: `python python/losses.py > tests/data/losses.jsonl` (optax 0.2.8)."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import optax

random = np.random.RandomState(2)


def array(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [float(v if x.dtype == bool else str(v)) if np.isfinite(v) else str(v) for v in x.ravel()]}


def made(*shape):
    return jnp.asarray(np.round(random.randn(*shape), 3), jnp.float32)


def chances(*shape):
    return jax.nn.softmax(made(*shape))


def record(name, f, inputs, options=None, wrt=(0,), rtol=2e-5, atol=2e-6):
    """The value, and the gradients of its sum with different weights."""
    output = f(*inputs)
    weights = made(*output.shape)
    of = lambda *diff: (f(*[diff[wrt.index(i)] if i in wrt else x for i, x in enumerate(inputs)]) * weights).sum()
    gradients = jax.grad(of, argnums=tuple(range(len(wrt))))(*[inputs[i] for i in wrt])
    case = {"id": f"loss/{name}", "name": name.split("/")[0], "rtol": rtol, "atol": atol, "options": options or {}}
    case |= {"inputs": [array(x) for x in inputs], "output": array(output), "weights": array(weights)}
    case |= {"grads": [[i, array(g)] for i, g in zip(wrt, gradients)]}
    print(json.dumps(case, separators=(",", ":")))


SHAPES = ((3,), (2, 3), (2, 2, 4))
for shape in SHAPES:
    size = "x".join(map(str, shape))
    x, y = made(*shape), made(*shape)
    signs, labels = jnp.sign(made(*shape)), chances(*shape)
    where = jnp.asarray(random.rand(*shape) < 0.7).at[..., 0].set(True)
    record(f"squared_error/{size}", optax.losses.squared_error, (x, y), wrt=(0, 1))
    record(f"l2_loss/{size}", optax.losses.l2_loss, (x, y), wrt=(0, 1))
    record(f"log_cosh/{size}", optax.losses.log_cosh, (3 * x, y), wrt=(0, 1))
    for delta in (1.0, 0.3):
        record(f"huber_loss/{size}/{delta}", lambda x, y: optax.losses.huber_loss(x, y, delta=delta), (x, y), {"delta": delta}, (0, 1))
    record(f"hinge_loss/{size}", optax.losses.hinge_loss, (x, signs))
    record(f"perceptron_loss/{size}", optax.losses.perceptron_loss, (x, signs))
    record(f"sigmoid_binary_cross_entropy/{size}", optax.losses.sigmoid_binary_cross_entropy, (x, labels), wrt=(0, 1))
    axes = {(3,): (-1,), (2, 3): (-1, 0), (2, 2, 4): (-1, 1, (0, 2))}[shape]
    for axis in axes:
        numbers = list(axis) if isinstance(axis, tuple) else [axis]
        for masked in (False, True):
            options, kwargs = {"axis": numbers}, {"axis": axis}
            if masked:
                options["where"], kwargs["where"] = array(where), where
            suffix = f"{size}/{numbers}/{masked}"
            record(f"softmax_cross_entropy/{suffix}", lambda x, y: optax.losses.softmax_cross_entropy(x, y, **kwargs), (x, labels), options)
            record(f"kl_divergence/{suffix}", lambda x, y: optax.losses.kl_divergence(x, y, **kwargs),
                   (jax.nn.log_softmax(x), labels), options, (0, 1))
            record(f"kl_divergence_with_log_targets/{suffix}", lambda x, y: optax.losses.kl_divergence_with_log_targets(x, y, **kwargs),
                   (jax.nn.log_softmax(x), jnp.log(labels)), options, (0, 1))
            record(f"smooth_labels/{suffix}", lambda y: optax.losses.smooth_labels(y, 0.2, **kwargs), (labels,), options | {"alpha": 0.2})
            for epsilon in (2.0, -0.5):
                record(f"poly_loss_cross_entropy/{suffix}/{epsilon}",
                       lambda x, y: optax.losses.poly_loss_cross_entropy(x, y, epsilon=epsilon, **kwargs),
                       (x, labels), options | {"epsilon": epsilon})
            for epsilon in (0.0, 2.0):
                record(f"cosine_similarity/{suffix}/{epsilon}",
                       lambda x, y: optax.losses.cosine_similarity(x, y, epsilon=epsilon, **kwargs),
                       (x, y), options | {"epsilon": epsilon}, (0, 1))
            record(f"cosine_distance/{suffix}", lambda x, y: optax.losses.cosine_distance(x, y, **kwargs), (x, y), options | {"epsilon": 0.0}, (0, 1))
            rest = tuple(n for i, n in enumerate(shape) if i not in [a % len(shape) for a in numbers])
            classes = int(np.prod([shape[a] for a in numbers]))
            places = jnp.asarray(random.randint(0, classes, rest), jnp.int32)
            record(f"softmax_cross_entropy_with_integer_labels/{suffix}",
                   lambda x, y: optax.losses.softmax_cross_entropy_with_integer_labels(x, y, **kwargs), (x, places), options)
    z = made(*shape)
    for options in ({}, {"axis": 0, "margin": 0.2, "eps": 1e-3}, {"norm_degree": 4, "margin": 2.0}):
        record(f"triplet_margin_loss/{size}/{len(options)}", lambda x, y, z: optax.losses.triplet_margin_loss(x, y, z, **options),
               (x, y, z), options, (0, 1, 2), rtol=5e-5, atol=5e-6)

zero = jnp.asarray([[0.0, 1.0], [0.4, 0.6]], jnp.float32)
record("kl_divergence/zero", optax.losses.kl_divergence, (jax.nn.log_softmax(made(2, 2)), zero), {"axis": [-1]})

for batch, time, classes, length, blank in ((1, 3, 2, 1, 0), (2, 6, 4, 3, 0), (3, 8, 5, 2, 4), (2, 5, 3, 4, 1)):
    logits = made(batch, time, classes)
    labels = random.randint(0, classes - 1, (batch, length))
    labels = jnp.asarray(labels + (labels >= blank), jnp.int32)
    times = random.randint(max(1, time - 2), time + 1, (batch, 1))
    lengths = random.randint(0, length + 1, (batch, 1))
    paddings = jnp.asarray(np.arange(time) >= times, jnp.float32)
    label_paddings = jnp.asarray(np.arange(length) >= lengths, jnp.float32)
    for epsilon in (-1e5, -30.0):
        options = {"blank_id": blank, "log_epsilon": epsilon}
        inputs = (logits, paddings, labels, label_paddings)
        size = f"{batch}x{time}x{classes}x{length}/{epsilon}"
        record(f"ctc_loss/{size}", lambda *a: optax.losses.ctc_loss(*a, **options), inputs, options, rtol=5e-5, atol=5e-6)
        for place, name in enumerate(("loss", "phi", "emit")):
            if place:
                record(f"ctc_{name}/{size}", lambda *a: optax.losses.ctc_loss_with_forward_probs(*a, **options)[place], inputs,
                       options, rtol=5e-5, atol=5e-5)

random = np.random.RandomState(3)
for shape in SHAPES:
    size = "x".join(map(str, shape))
    x, y = made(*shape), made(*shape)
    labels = chances(*shape)
    places = jnp.asarray(random.randint(0, shape[-1], shape[:-1]), jnp.int32)
    record(f"safe_softmax_cross_entropy/{size}", optax.losses.safe_softmax_cross_entropy, (x, labels), wrt=(0, 1))
    for name in ("multiclass_hinge_loss", "multiclass_perceptron_loss"):
        record(f"{name}/{size}", getattr(optax.losses, name), (x, places))
    for alpha, gamma in ((None, 2.0), (0.25, 1.5), (0.7, 0.0)):
        options = {"gamma": gamma} | ({} if alpha is None else {"alpha": alpha})
        record(f"sigmoid_focal_loss/{size}/{alpha}/{gamma}", lambda x, y: optax.losses.sigmoid_focal_loss(x, y, alpha=alpha, gamma=gamma),
               (2 * x, labels), options, (0, 1))
    record(f"generalized_kl_divergence/{size}", optax.losses.generalized_kl_divergence, (x, labels), {"axis": [-1]}, (0, 1))
    # Which examples count, without the axis of classes.
    where = jnp.asarray(random.rand(*shape[:-1]) < 0.7)
    options = {"axis": [-1], "where": array(where)}
    record(f"softmax_cross_entropy/{size}/examples", lambda x, y: optax.losses.softmax_cross_entropy(x, y, where=where), (x, labels), options)
    record(f"softmax_cross_entropy_with_integer_labels/{size}/examples",
           lambda x, y: optax.losses.softmax_cross_entropy_with_integer_labels(x, y, where=where), (x, places), options)
impossible = jnp.asarray([[1.0, -np.inf, 0.5], [-np.inf, 2.0, -np.inf]], jnp.float32)
record("safe_softmax_cross_entropy/impossible", optax.losses.safe_softmax_cross_entropy,
       (impossible, jnp.asarray([[0.25, 0, 0.75], [0, 1, 0]], jnp.float32)))
for batch, labels in ((4, [0, 0, 1, 1]), (6, [2, 0, 2, 1, 0, 2]), (3, [5, 5, 5])):
    for temperature in (0.07, 1.0):
        record(f"ntxent/{batch}/{temperature}", lambda x, y: optax.losses.ntxent(x, y, temperature),
               (made(batch, 3), jnp.asarray(labels)), {"temperature": temperature}, rtol=5e-5, atol=5e-6)
