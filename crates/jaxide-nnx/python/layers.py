"""Records what layers of Flax give: `python python/layers.py > tests/data/layers.jsonl` (flax 0.12.12)."""

import json

import jax
import jax.numpy as jnp
import numpy as np
from flax import nnx

random = np.random.RandomState(0)


def array(x):
    x = np.asarray(x)
    return {"shape": list(x.shape), "dtype": str(x.dtype), "data": [float(str(v)) for v in x.ravel()]}


def made(*shape):
    return jnp.asarray(np.round(random.randn(*shape), 3), jnp.float32)


def flat(state):
    return {"/".join(map(str, path)): array(v.get_value()) for path, v in nnx.to_flat_state(state)}


def record(name, layer, config, inputs, call):
    graphdef, params, rest = nnx.split(layer, nnx.Param, ...)
    params = jax.tree.map(lambda p: made(*p.shape), params)
    outputs = jax.tree.leaves(call(nnx.merge(graphdef, params, jax.tree.map(lambda x: x, rest)), *inputs))
    cotangents = [made(*y.shape) for y in outputs]

    def loss(params, inputs):
        ys = jax.tree.leaves(call(nnx.merge(graphdef, params, jax.tree.map(lambda x: x, rest)), *inputs))
        return sum((y * c).sum() for y, c in zip(ys, cotangents))

    of_params, of_inputs = jax.grad(loss, argnums=(0, 1))(params, inputs)
    case = {"id": f"layer/{name}", "op": "layer", "rtol": 2e-5, "atol": 3e-6, "layer": type(layer).__name__}
    case |= {"config": config, "params": flat(params), "inputs": [array(x) for x in inputs]}
    case |= {"outputs": [array(y) for y in outputs], "cotangents": [array(c) for c in cotangents]}
    case |= {"param_grads": flat(of_params), "input_grads": {str(i): array(g) for i, g in enumerate(of_inputs)}}
    print(json.dumps(case, separators=(",", ":")))


rngs = nnx.Rngs(0)
one = lambda layer, x: layer(x)

record("instance", nnx.InstanceNorm(3, rngs=rngs), {"num_features": 3}, (made(2, 4, 3),), one)
record("group_size", nnx.GroupNorm(6, num_groups=None, group_size=2, rngs=rngs),
       {"num_features": 6, "group_size": 2}, (made(2, 3, 6),), one)
record("rms_epsilon", nnx.RMSNorm(3, epsilon=0.1, use_scale=False, rngs=rngs),
       {"num_features": 3, "epsilon": 0.1, "use_scale": False}, (made(2, 3),), one)
record("general_axes", nnx.LinearGeneral((2, 3), (4, 5), axis=(1, -1), rngs=rngs),
       {"in_features": [2, 3], "out_features": [4, 5], "axis": [1, -1]}, (made(6, 2, 3),), one)
for padding in ("CIRCULAR", "REFLECT"):
    record(f"conv_{padding}", nnx.Conv(2, 3, (3, 2), padding=padding, kernel_dilation=(2, 1), rngs=rngs),
           {"in": 2, "out": 3, "kernel_size": [3, 2], "padding": padding, "kernel_dilation": [2, 1]},
           (made(1, 6, 5, 2),), one)
record("conv_input_dilation", nnx.Conv(1, 2, (3,), input_dilation=2, strides=2, padding=((1, 2),), rngs=rngs),
       {"in": 1, "out": 2, "kernel_size": [3], "input_dilation": 2, "strides": 2, "padding": [[1, 2]]}, (made(1, 5, 1),), one)
record("conv_batches", nnx.Conv(1, 2, (3,), rngs=rngs), {"in": 1, "out": 2, "kernel_size": [3]}, (made(2, 3, 5, 1),), one)
record("conv_no_batch", nnx.Conv(1, 2, (3,), rngs=rngs), {"in": 1, "out": 2, "kernel_size": [3]}, (made(5, 1),), one)
for padding, transpose in (("VALID", False), ("SAME", True), ("CIRCULAR", False), ("CIRCULAR", True)):
    record(f"transpose_{padding}_{transpose}",
           nnx.ConvTranspose(2, 3, (3,), strides=2, padding=padding, transpose_kernel=transpose, rngs=rngs),
           {"in": 2, "out": 3, "kernel_size": [3], "strides": 2, "padding": padding, "transpose_kernel": transpose},
           (made(1, 4, 2),), one)
record("rnn_reverse", nnx.RNN(nnx.SimpleCell(2, 3, rngs=rngs), reverse=True, keep_order=True),
       {"in_features": 2, "hidden_features": 3, "reverse": True, "keep_order": True}, (made(2, 4, 2),), one)
record("bidirectional", nnx.Bidirectional(nnx.RNN(nnx.GRUCell(2, 3, rngs=rngs)), nnx.RNN(nnx.GRUCell(2, 3, rngs=rngs))),
       {"in_features": 2, "hidden_features": 3}, (made(2, 4, 2),), one)
record("residual", nnx.SimpleCell(3, 3, residual=True, rngs=rngs),
       {"in_features": 3, "hidden_features": 3, "residual": True}, (made(2, 3), made(2, 3)), lambda cell, h, x: cell(h, x))
record("attention_groups",
       nnx.MultiHeadAttention(4, 8, num_kv_heads=2, qkv_features=16, out_features=5, normalize_qk=True, decode=False, rngs=rngs),
       {"num_heads": 4, "in_features": 8, "num_kv_heads": 2, "qkv_features": 16, "out_features": 5, "normalize_qk": True},
       (made(2, 3, 8),), one)
record("attention_causal", nnx.MultiHeadAttention(2, 4, use_bias=False, decode=False, rngs=rngs),
       {"num_heads": 2, "in_features": 4, "use_bias": False, "is_causal": True}, (made(2, 3, 4),),
       lambda layer, x: layer(x, is_causal=True))
