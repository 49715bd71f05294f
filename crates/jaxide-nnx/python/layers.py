"""Records what layers of Flax give: `python python/layers.py > tests/data/layers.jsonl` (flax 0.12.12).

A case has the parameters that the layer was made with from `Rngs(0)`, and other ones with which it is called: outputs, their
gradients by parameters and inputs, and the state that changed.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

random = np.random.RandomState(0)


def array(x):
    x = jnp.asarray(x)
    data = np.asarray(x.astype(jnp.float32) if x.dtype in (jnp.bfloat16, jnp.float16) else x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [float(str(v)) if data.dtype != bool else int(v) for v in data.ravel()]}


def made(*shape, dtype=jnp.float32):
    return jnp.asarray(np.round(random.randn(*shape), 3), dtype)


def text(path):
    """Keys of a dict that are paths of their own are written with points: `batch_stats/kernel/u`."""
    parts = []
    for key in path:
        if isinstance(key, tuple):
            *front, last = key
            parts += [".".join(map(str, front)), last] if last in ("u", "sigma") else [".".join(map(str, key))]
        else:
            parts.append(str(key))
    return "/".join(parts)


def flat(state):
    leaves = [(text(path), v.get_value()) for path, v in nnx.to_flat_state(state)]
    # What was noted once is a tuple of one.
    leaves = [(path, value[0] if isinstance(value, tuple) else value) for path, value in leaves]
    return {path: array(value) for path, value in leaves if not jnp.issubdtype(value.dtype, jax.dtypes.prng_key)}


CHANGING = (nnx.BatchStat, nnx.Cache, nnx.Intermediate)


def record(name, layer, config, inputs, call, tolerance=(2e-5, 3e-6)):
    graphdef, params, rest = nnx.split(layer, nnx.Param, ...)
    fresh = flat(params)
    stats = nnx.filter_state(rest, nnx.BatchStat)
    params = jax.tree.map(lambda p: made(*p.shape, dtype=p.dtype), params)
    copy = lambda tree: jax.tree.map(lambda x: x, tree)
    is_float = [jnp.issubdtype(x.dtype, jnp.inexact) for x in inputs]

    def run(params, varied):
        varied = iter(varied)
        layer = nnx.merge(graphdef, params, copy(rest))
        outputs = jax.tree.leaves(call(layer, *[next(varied) if f else x for f, x in zip(is_float, inputs)]))
        wraps = (nnx.Param,) if isinstance(layer, (nnx.SpectralNorm, nnx.WeightNorm)) else ()
        return outputs, nnx.state(layer, nnx.Any(*CHANGING, *wraps))

    varied = [x for f, x in zip(is_float, inputs) if f]
    outputs, after = run(copy(params), varied)
    cotangents = [made(*y.shape, dtype=y.dtype) for y in outputs]

    def loss(params, varied):
        ys, _ = run(params, varied)
        return sum((y * c).astype(jnp.float32).sum() for y, c in zip(ys, cotangents))

    of_params, of_inputs = jax.grad(loss, argnums=(0, 1))(copy(params), varied)
    places = [i for i, f in enumerate(is_float) if f]
    rtol, atol = tolerance
    case = {"id": f"layer/{name}", "op": "layer", "rtol": rtol, "atol": atol, "layer": type(layer).__name__}
    case |= {"config": config, "fresh": fresh, "params": flat(params), "batch_stats": flat(stats)}
    case |= {"inputs": [array(x) for x in inputs], "outputs": [array(y) for y in outputs]}
    case |= {"cotangents": [array(c) for c in cotangents], "param_grads": flat(of_params)}
    case |= {"input_grads": {str(i): array(g) for i, g in zip(places, of_inputs)}, "state_after": flat(after)}
    print(json.dumps(case, separators=(",", ":")))


one = lambda layer, x: layer(x)
R = lambda: nnx.Rngs(0)
HALF = {"bfloat16": (4e-2, 6e-2), "float16": (6e-3, 1e-2)}


def simple(name, make, args, options, inputs, call=one, extra={}, **kw):
    """A layer whose configuration is its arguments by their names."""
    full = {**args, **{k: getattr(jnp, v) if k in ("dtype", "param_dtype") else v for k, v in options.items()}}
    record(name, make(**full, rngs=R()), {**args, **options, **extra}, inputs, call, **kw)


def tuples(value):
    return tuple(map(tuples, value)) if isinstance(value, list) else value


# Linear maps.
for dtype, tolerance in HALF.items():
    simple(f"linear_{dtype}", nnx.Linear, {"in_features": 3, "out_features": 4}, {"dtype": dtype}, (made(2, 3),), tolerance=tolerance)
    simple(f"linear_param_{dtype}", nnx.Linear, {"in_features": 3, "out_features": 4}, {"param_dtype": dtype},
           (made(2, 3, dtype=dtype),), tolerance=tolerance)
simple("linear_many_axes", nnx.Linear, {"in_features": 3, "out_features": 2}, {"use_bias": False}, (made(2, 1, 3, 3),))
simple("linear_vector", nnx.Linear, {"in_features": 3, "out_features": 2}, {}, (made(3),))
record("general_axes", nnx.LinearGeneral((2, 3), (4, 5), axis=(1, -1), rngs=R()),
       {"in_features": [2, 3], "out_features": [4, 5], "axis": [1, -1]}, (made(6, 2, 3),), one)
record("general_front", nnx.LinearGeneral(2, (3,), axis=0, use_bias=False, rngs=R()),
       {"in_features": [2], "out_features": [3], "axis": [0], "use_bias": False}, (made(2, 4),), one)
record("einsum_bias", nnx.Einsum("nta,hab->nthb", (2, 3, 4), (2, 4), rngs=R()),
       {"einsum_str": "nta,hab->nthb", "kernel_shape": [2, 3, 4], "bias_shape": [2, 4]}, (made(2, 2, 3),), one)
record("lora", nnx.LoRA(3, 2, 4, rngs=R()), {"in_features": 3, "lora_rank": 2, "out_features": 4}, (made(2, 3),), one)
record("lora_base", nnx.LoRA(3, 2, 4, base_module=nnx.Linear(3, 4, rngs=R()), rngs=R()),
       {"in_features": 3, "lora_rank": 2, "out_features": 4, "base": True}, (made(2, 3),), one)
record("lora_linear", nnx.LoRALinear(3, 4, lora_rank=2, rngs=R()), {"in_features": 3, "lora_rank": 2, "out_features": 4}, (made(2, 3),), one)
for dtype in (None, "bfloat16"):
    options = {} if dtype is None else {"param_dtype": dtype}
    simple(f"embed_{dtype}", nnx.Embed, {"num_embeddings": 4, "features": 3}, options, (jnp.asarray([[0, 3], [1, 1]]),))
    simple(f"attend_{dtype}", nnx.Embed, {"num_embeddings": 4, "features": 3}, options, (made(2, 3),),
           call=lambda layer, x: layer.attend(x), extra={"method": "attend"}, tolerance=HALF["bfloat16"] if dtype else (2e-5, 3e-6))
simple("embed_one", nnx.Embed, {"num_embeddings": 1, "features": 3}, {}, (jnp.asarray([0, 1]),))

# Convolutions.
CONVS = {
    "CIRCULAR": ((6, 5), (3, 2), {"padding": "CIRCULAR", "kernel_dilation": [2, 1]}),
    "REFLECT": ((6, 5), (3, 2), {"padding": "REFLECT", "kernel_dilation": [2, 1]}),
    "CAUSAL": ((6,), (3,), {"padding": "CAUSAL", "kernel_dilation": 2, "strides": 2}),
    "input_dilation": ((5,), (3,), {"input_dilation": 2, "strides": 2, "padding": [[1, 2]]}),
    "groups": ((4, 3), (2, 2), {"feature_group_count": 2, "strides": [2, 1]}),
    "3d": ((3, 4, 2), (2, 3, 1), {"padding": "VALID", "strides": [1, 2, 1]}),
    "mask": ((5,), (3,), {"mask": True, "use_bias": False}),
}
for name, (space, window, options) in CONVS.items():
    inputs, outputs = (4, 2) if name == "groups" else (2, 3)
    kwargs = {k: tuples(v) for k, v in options.items()}
    if "mask" in kwargs:
        kwargs["mask"] = jnp.asarray(np.arange(3 * inputs * outputs).reshape(3, inputs, outputs) % 2, jnp.float32)
        options = options | {"mask": array(kwargs["mask"])}
    config = {"in": inputs, "out": outputs, "kernel_size": list(window)} | options
    record(f"conv_{name}", nnx.Conv(inputs, outputs, window, rngs=R(), **kwargs), config, (made(1, *space, inputs),), one)
for shape in ((2, 3, 5, 1), (5, 1)):
    record(f"conv_batch_{len(shape)}", nnx.Conv(1, 2, (3,), rngs=R()), {"in": 1, "out": 2, "kernel_size": [3]}, (made(*shape),), one)
record("conv_bfloat16", nnx.Conv(2, 3, (3,), dtype=jnp.bfloat16, rngs=R()),
       {"in": 2, "out": 3, "kernel_size": [3], "dtype": "bfloat16"}, (made(1, 5, 2),), one, tolerance=HALF["bfloat16"])
for padding, transpose in (("VALID", False), ("SAME", True), ("CIRCULAR", False), ("CIRCULAR", True), (((1, 2),), False)):
    name = padding if isinstance(padding, str) else "explicit"
    record(f"transpose_{name}_{transpose}",
           nnx.ConvTranspose(2, 3, (3,), strides=2, padding=padding, transpose_kernel=transpose, rngs=R()),
           {"in": 2, "out": 3, "kernel_size": [3], "strides": 2, "padding": padding, "transpose_kernel": transpose},
           (made(1, 4, 2),), one)
record("transpose_2d", nnx.ConvTranspose(2, 3, (3, 2), strides=(1, 2), kernel_dilation=(2, 1), use_bias=False, rngs=R()),
       {"in": 2, "out": 3, "kernel_size": [3, 2], "strides": [1, 2], "kernel_dilation": [2, 1], "use_bias": False},
       (made(2, 3, 3, 2),), one)

# Normalisation.
mask = jnp.asarray([[True, True, False], [True, True, True]])
masked = lambda layer, x, mask: layer(x, mask=mask)
for kind in ("BatchNorm", "LayerNorm", "RMSNorm", "InstanceNorm", "GroupNorm"):
    make = getattr(nnx, kind)
    groups = {"num_groups": 2} if kind == "GroupNorm" else {}
    plain = {"use_scale": False} | ({} if kind == "RMSNorm" else {"use_bias": False})
    for name, options in {"default": {}, "plain": plain | {"epsilon": 0.1}, "slow": {"use_fast_variance": False}}.items():
        simple(f"{kind}_{name}", make, {"num_features": 4}, groups | options, (made(2, 3, 4),))
    for dtype, tolerance in HALF.items():
        simple(f"{kind}_{dtype}", make, {"num_features": 4}, groups | {"dtype": dtype}, (made(2, 3, 4),), tolerance=tolerance)
        simple(f"{kind}_param_{dtype}", make, {"num_features": 4}, groups | {"param_dtype": dtype},
               (made(2, 3, 4, dtype=dtype),), tolerance=tolerance)
    whole = jnp.broadcast_to(mask[..., None], (2, 3, 4))
    whole = whole if kind not in ("LayerNorm", "RMSNorm") else jnp.ones((2, 3, 4), bool).at[:, 2, 3].set(False)
    simple(f"{kind}_mask", make, {"num_features": 4}, groups, (made(2, 3, 4), whole), call=masked)
simple("batch_axis", nnx.BatchNorm, {"num_features": 3}, {"axis": 1, "momentum": 0.5}, (made(2, 3, 4),))
simple("batch_running", nnx.BatchNorm, {"num_features": 3}, {"use_running_average": True}, (made(2, 3),))
simple("group_size", nnx.GroupNorm, {"num_features": 6}, {"num_groups": None, "group_size": 2}, (made(2, 3, 6),))
simple("layer_axes", nnx.LayerNorm, {"num_features": 3}, {"reduction_axes": [1, 2], "feature_axes": [1]}, (made(2, 3, 4),))
simple("instance_axes", nnx.InstanceNorm, {"num_features": 3}, {"feature_axes": [1]}, (made(2, 3, 4),))


def wrapped(make, inner, **options):
    rngs = R()
    return make(inner(rngs), rngs=rngs, **options)


linear = lambda rngs: nnx.Linear(3, 4, rngs=rngs)
conv = lambda rngs: nnx.Conv(2, 3, (3,), rngs=rngs)
for steps, update in ((1, True), (3, True), (2, False)):
    record(f"spectral_{steps}_{update}", wrapped(nnx.SpectralNorm, linear, n_steps=steps, update_stats=update),
           {"inner": "linear", "n_steps": steps, "update_stats": update}, (made(2, 3),), one)
record("spectral_conv", wrapped(nnx.SpectralNorm, conv), {"inner": "conv"}, (made(1, 4, 2),), one)
record("weight_linear", wrapped(nnx.WeightNorm, linear), {"inner": "linear"}, (made(2, 3),), one)
record("weight_whole", wrapped(nnx.WeightNorm, linear, feature_axes=None), {"inner": "linear", "feature_axes": []}, (made(2, 3),), one)
record("weight_plain", wrapped(nnx.WeightNorm, conv, use_scale=False), {"inner": "conv", "use_scale": False}, (made(1, 4, 2),), one)

# Recurrent layers.
CELL = {"in_features": 2, "hidden_features": 3}
for kind in ("LSTMCell", "OptimizedLSTMCell", "GRUCell", "SimpleCell"):
    make, pair = getattr(nnx, kind), "LSTM" in kind
    carry = lambda dtype=jnp.float32: (made(2, 3, dtype=dtype),) * 1 + ((made(2, 3, dtype=dtype),) if pair else ())
    step = (lambda cell, c, h, x: cell((c, h), x)) if pair else (lambda cell, h, x: cell(h, x))
    simple(f"{kind}_step", make, CELL, {}, (*carry(), made(2, 2)), call=step)
    # `qr` has no 16 bits, so that the parameters have 32.
    simple(f"{kind}_bfloat16", make, CELL, {"dtype": "bfloat16"},
           (*carry(jnp.bfloat16), made(2, 2, dtype=jnp.bfloat16)), call=step, tolerance=HALF["bfloat16"])
simple("residual", nnx.SimpleCell, {"in_features": 3, "hidden_features": 3}, {"residual": True}, (made(2, 3), made(2, 3)),
       call=lambda cell, h, x: cell(h, x))
lengths = jnp.asarray([2, 4], jnp.int32)
carried = lambda rnn, x, *n: rnn(x, return_carry=True, seq_lengths=n[0] if n else None)
for name, options in {"plain": {}, "reverse": {"reverse": True}, "keep": {"reverse": True, "keep_order": True},
                      "time": {"time_major": True, "reverse": True, "keep_order": True}}.items():
    shape = (4, 2, 2) if "time_major" in options else (2, 4, 2)
    for cell in ("SimpleCell", "LSTMCell"):
        for more in ((), (lengths,)):
            rnn = nnx.RNN(getattr(nnx, cell)(2, 3, rngs=R()), **options)
            record(f"rnn_{name}_{cell}_{len(more)}", rnn, CELL | {"cell": cell} | options, (made(*shape), *more), carried)
for more in ((), (lengths,)):
    rngs = R()
    both = nnx.Bidirectional(nnx.RNN(nnx.GRUCell(2, 3, rngs=rngs)), nnx.RNN(nnx.GRUCell(2, 3, rngs=rngs)))
    record(f"bidirectional_{len(more)}", both, CELL | {"carries": True}, (made(2, 4, 2), *more), carried)

# Attention.
simple("attention_groups", nnx.MultiHeadAttention, {"num_heads": 4, "in_features": 8},
       {"num_kv_heads": 2, "qkv_features": 16, "out_features": 5, "normalize_qk": True, "decode": False}, (made(2, 3, 8),))
HEADS = {"num_heads": 2, "in_features": 4}
simple("attention_causal", nnx.MultiHeadAttention, HEADS, {"use_bias": False, "decode": False}, (made(2, 3, 4),),
       call=lambda layer, x: layer(x, is_causal=True), extra={"is_causal": True}, tolerance=(2e-5, 1e-5))
simple("attention_sow", nnx.MultiHeadAttention, HEADS, {"num_kv_heads": 1, "decode": False}, (made(2, 3, 4),),
       call=lambda layer, x: layer(x, sow_weights=True, is_causal=True), extra={"sow_weights": True, "is_causal": True})
simple("attention_keys", nnx.MultiHeadAttention, HEADS, {"in_kv_features": 3, "decode": False}, (made(2, 3, 4), made(2, 5, 3)),
       call=lambda layer, x, k: layer(x, k))
for broadcast in (True, False):
    simple(f"attention_dropout_{broadcast}", nnx.MultiHeadAttention, HEADS,
           {"dropout_rate": 0.5, "broadcast_dropout": broadcast, "deterministic": False, "decode": False}, (made(2, 3, 4),))
simple("attention_bfloat16", nnx.MultiHeadAttention, HEADS, {"dtype": "bfloat16", "decode": False}, (made(2, 3, 4),),
       tolerance=HALF["bfloat16"])


def decoding(layer, x):
    layer.init_cache((2, 4, 4))
    return [layer(x[:, t : t + 1]) for t in range(3)]


simple("attention_decode", nnx.MultiHeadAttention, HEADS, {"decode": True}, (made(2, 3, 4),), call=decoding)

# Pooling, dropout and what else is made of few operations.


class Pool(nnx.Module):
    """A pooling function as a layer."""

    def __init__(self, kind, window, **options):
        self.apply = nnx.static(lambda x: getattr(nnx, kind + "_pool")(x, tuple(window), **options))

    def __call__(self, x):
        return self.apply(x)


POOLS = [
    ("1d", (7,), (3,), (2,), "VALID"),
    ("same", (5, 6), (2, 3), (2, 2), "SAME"),
    ("dense", (4, 4), (3, 3), None, "SAME"),
    ("explicit", (5, 4), (2, 3), (1, 2), ((1, 0), (2, 1))),
    ("3d", (3, 4, 2), (2, 2, 1), (1, 2, 1), "VALID"),
]
for name, space, window, strides, padding in POOLS:
    for kind, option in (("max", {}), ("min", {}), ("avg", {}), ("avg", {"count_include_pad": False})):
        config = {"kind": kind, "window": list(window), "padding": padding, "count_include_pad": not option}
        config |= {"strides": list(strides)} if strides else {}
        layer = Pool(kind, window, strides=strides, padding=padding, **option)
        record(f"pool_{name}_{kind}_{len(option)}", layer, config, (made(2, *space, 3),), one)
for rate, dims, deterministic in ((0.5, (), False), (0.25, (0,), False), (0.9, (1, 2), False), (0.0, (), False), (0.5, (), True), (1.0, (), False)):
    record(f"dropout_{rate}_{len(dims)}_{deterministic}", nnx.Dropout(rate, broadcast_dims=dims, deterministic=deterministic, rngs=R()),
           {"rate": rate, "broadcast_dims": list(dims), "deterministic": deterministic}, (made(3, 2, 4),), one)
record("dropout_twice", nnx.Dropout(0.5, rngs=R()), {"rate": 0.5, "broadcast_dims": []}, (made(3, 4),), lambda layer, x: [layer(x), layer(2 * x)])
for shape in ((3,), (2, 3, 2)):
    record(f"prelu_{len(shape)}", nnx.PReLU(0.2), {"negative_slope": 0.2}, (made(*shape),), one)
record("prelu_bfloat16", nnx.PReLU(0.2, param_dtype=jnp.bfloat16), {"negative_slope": 0.2, "param_dtype": "bfloat16"},
       (made(4, dtype=jnp.bfloat16),), one, tolerance=HALF["bfloat16"])


class Masks(nnx.Module):
    """The masks of attention, of lengths and of a batch of them."""

    def __call__(self, queries, keys):
        causal = nnx.make_causal_mask(queries)
        seen = nnx.make_attention_mask(queries > 0, keys > 0)
        square = nnx.make_attention_mask(queries, queries, jnp.greater_equal)
        return [causal, seen, square, nnx.combine_masks(causal, None, square)]


record("masks", Masks(), {}, (jnp.asarray([[3, 2, 0], [1, 0, 0]]), jnp.asarray([[1, 0], [1, 1]])), lambda layer, *xs: layer(*xs))

# Windows too large to be written out, which overlap.
for name, space, window in (("1d", (5,), (19,)), ("2d", (6, 7), (5, 4)), ("3d", (3, 5, 4), (3, 2, 3))):
    for kind in ("max", "min"):
        config = {"kind": kind, "window": list(window), "padding": "SAME"}
        record(f"pool_large_{name}_{kind}", Pool(kind, window, padding="SAME"), config, (made(2, *space, 1),), one)

# Kernels of their own along the first axes; other beginnings of what makes the result.
for name, batch, axis, shape in (("one", {0: 2}, (-1,), (2, 5, 3)), ("two", {0: 2, 1: 3}, (2, 3), (2, 3, 4, 2)), ("alone", {0: 3}, (1,), (3, 4))):
    inputs, lengths = tuple(shape[a] for a in axis), list(batch.values())
    for use_bias in (True, False):
        layer = nnx.LinearGeneral(inputs, (2, 2), axis=axis, batch_axis=batch, use_bias=use_bias, rngs=R())
        config = {"in_features": list(inputs), "out_features": [2, 2], "axis": list(axis), "batch_axis": lengths, "use_bias": use_bias}
        record(f"general_batch_{name}_{use_bias}", layer, config, (made(*shape),), one)
ones = nnx.initializers.ones
record("attention_out_init", nnx.MultiHeadAttention(**HEADS, out_kernel_init=ones, out_bias_init=ones, decode=False, rngs=R()),
       HEADS | {"out_ones": True}, (made(2, 3, 4),), one)
record("dropout_collection", nnx.Dropout(0.5, rng_collection="noise", rngs=nnx.Rngs(0, noise=5)),
       {"rate": 0.5, "broadcast_dims": [], "rng_collection": "noise"}, (made(3, 4),), one)
record("sequential_rnn", nnx.Sequential(nnx.RNN(nnx.GRUCell(2, 3, rngs=R())), nnx.MultiHeadAttention(1, 3, decode=False, rngs=R())),
       {"layers": "rnn, attention"}, (made(2, 4, 2),), one)
