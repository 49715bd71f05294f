"""Neural networks: activations, softmax and the like, attention, initializers."""

import jax
import numpy as np
from common import Arg, Key, Number, corners

I = jax.nn.initializers
ANY = lambda dtype, *shape: Arg(dtype, shape, "~5")


def weights(make):
    def call(key, shape=(), dtype=np.float32, **parameters):
        return make(**parameters)(key, shape, dtype)
    return call


def plain(init):
    return lambda key, shape=(), dtype=np.float32: init(key, shape, dtype)


def attention(q, k, v, *rest, names="", **parameters):
    """The names of the optional arrays, in the order in which they are given."""
    named = dict(zip(names if isinstance(names, tuple) else [names], rest))
    return jax.nn.dot_product_attention(q, k, v, **named, **parameters)


def with_arrays(function):
    def call(x, *rest, names="", **parameters):
        names = names if isinstance(names, tuple) else [names]
        return function(x, **dict(zip(names, rest)), **parameters)
    return call


SCALINGS = ["glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "kaiming_normal", "kaiming_uniform", "lecun_normal",
            "lecun_uniform", "xavier_normal", "xavier_uniform"]
FUNCTIONS = {
    "nn.dot_product_attention": attention,
    "nn.logsumexp": with_arrays(jax.nn.logsumexp),
    "nn.logmeanexp": with_arrays(jax.nn.logmeanexp),
    "nn.softmax": with_arrays(jax.nn.softmax),
    "nn.log_softmax": with_arrays(jax.nn.log_softmax),
    "nn.standardize": with_arrays(jax.nn.standardize),
    "nn.initializers.variance_scaling": lambda key, shape, dtype, scale, fan, distribution: I.variance_scaling(
        scale, fan, distribution)(key, shape, dtype),
    "nn.scaled_dot_general": lambda x, y: jax.nn.scaled_dot_general(x, y, (([1], [0]), ([], []))),
    "nn.initializers.zeros": plain(I.zeros),
    "nn.initializers.ones": plain(I.ones),
    **{f"nn.initializers.{name}": weights(getattr(I, name)) for name in
       SCALINGS + ["constant", "uniform", "normal", "truncated_normal", "orthogonal", "delta_orthogonal"]},
}
ACTIVATIONS = ["celu", "elu", "hard_sigmoid", "hard_silu", "hard_swish", "hard_tanh", "identity", "leaky_relu", "log_sigmoid",
               "mish", "relu", "relu6", "selu", "sigmoid", "silu", "soft_sign", "softplus", "sparse_plus", "sparse_sigmoid", "squareplus",
               "swish", "tanh", "gelu"]


def cases(r):
    for name in ACTIVATIONS:
        name = "nn." + name
        r.all_modes(name, ANY("f32", 2, 3))
        r.case(name, corners("f32"))
        r.case(name, ANY("f16", 4))
        r.case(name, ANY("f64", 4))
        r.case(name, ANY("f32", 0))
        if name not in ("nn.sigmoid", "nn.silu", "nn.swish"):
            r.case(name, ANY("i32", 4))
    for name in ("celu", "elu", "leaky_relu", "squareplus"):
        name = "nn." + name
        r.all_modes(name, ANY("f32", 3), Number(0.5))
        r.all_modes(name, ANY("f32", 2, 3), Arg("f32", (3,), "~+4"))
        r.case(name, ANY("f32", 2), Arg("f32", (3,), "~+4"))
    r.all_modes("nn.gelu", ANY("f32", 2, 3), approximate=False)
    r.case("nn.gelu", corners("f32"), approximate=False)
    r.case("nn.gelu", ANY("f64", 4), approximate=False)
    r.all_modes("nn.log1mexp", Arg("f32", (5,), "~+5"))
    r.case("nn.log1mexp", Arg("f64", (4,), "~+5"))
    r.case("nn.log1mexp", Arg("f32", (4,), [1e-6, 0.5, 1.0, 100.0]))
    for axis in (None, 0, 1):
        r.all_modes("nn.glu", ANY("f32", 2, 4), axis=axis)
    r.case("nn.glu", ANY("f32", 3))
    r.case("nn.glu", ANY("f32", 0))
    for dtype in (None, "i32", "bf16"):
        r.all_modes("nn.one_hot", Arg("i32", (4,), [0, 2, -1, 5]), num_classes=3, dtype=dtype)
    for axis in (0, 1, -1, -2):
        r.all_modes("nn.one_hot", Arg("i32", (2, 2), [0, 2, 1, 5]), num_classes=3, axis=axis)
    r.case("nn.one_hot", Number(2), num_classes=3)
    r.case("nn.one_hot", Arg("u8", (2,), [0, 1]), num_classes=2)
    r.case("nn.one_hot", Arg("i32", (2,), [0, 1]), num_classes=0)
    r.case("nn.one_hot", Arg("i32", (2,), [0, 1]), num_classes=2, axis=2)
    sums(r)
    attentions(r)
    initial(r)


def sums(r):
    some = Arg("bool", (2, 3), [True, False, True, False, False, False])
    for name in ("softmax", "log_softmax", "logsumexp", "logmeanexp", "standardize"):
        name = "nn." + name
        for axis in (None, 0, -1, (0, 1)):
            # Of two rows the derivative of `standardize` is a difference of nearly equal numbers.
            r.all_modes(name, ANY("f32", 2, 3), axis=axis, grad=axis != 0 or name != "nn.standardize")
        r.all_modes(name, ANY("f32", 2, 3), some, names="where", axis=1)
        r.case(name, ANY("f32", 2, 3), Arg("bool", (3,), [True, False, True]), names="where", axis=1)
        r.case(name, ANY("f16", 3))
        r.case(name, ANY("f64", 3))
        r.case(name, Arg("f32", (3,), ["inf", 1.0, 2.0]))
        r.case(name, Arg("f32", (3,), ["-inf", "-inf", "-inf"]))
        r.case(name, Arg("f32", (2,), [1000.0, 999.0]))
        r.case(name, ANY("f32", 2, 3), axis=2)
    for name in ("logsumexp", "logmeanexp"):
        name = "nn." + name
        r.all_modes(name, ANY("f32", 2, 3), axis=1, keepdims=True)
        r.case(name, ANY("f32", 2, 3), keepdims=True)
        r.case(name, ANY("i32", 3))
        r.case(name, ANY("bool", 2, 3))
        r.case(name, ANY("f32", 0))
    r.case("nn.logsumexp", ANY("c64", 3))
    for sign in (None, True):
        r.all_modes("nn.logsumexp", ANY("f32", 2, 3), ANY("f32", 2, 3), names="b", axis=1, return_sign=sign)
        r.case("nn.logsumexp", ANY("f32", 3), Arg("f32", (3,), [1.0, -2.0, 0.0]), names="b", return_sign=sign)
        r.case("nn.logsumexp", ANY("c64", 3), return_sign=sign, axis=0)
    r.all_modes("nn.logsumexp", ANY("f32", 2, 3), Arg("f32", (3,), "~+4"), some, names=("b", "where"), axis=1)
    r.all_modes("nn.standardize", ANY("f32", 2, 3), algorithm="stable")
    r.all_modes("nn.standardize", ANY("f32", 2, 3), epsilon=0.5, axis=0)
    r.all_modes("nn.standardize", ANY("f32", 2, 3), Arg("f32", (2, 1), "~1"), names="mean")
    r.all_modes("nn.standardize", ANY("f32", 2, 3), Arg("f32", (2, 1), "~+1"), names="variance")
    r.all_modes("nn.standardize", ANY("f32", 2, 3), Arg("f32", (3,), "~1"), Arg("f32", (3,), "~+2"), names=("mean", "variance"))
    r.case("nn.standardize", ANY("i32", 4))
    r.case("nn.standardize", Arg("u16", (2, 3), "~5"), Arg("u16", (3,), "~1"), Arg("u16", (3,), [0, 1, 4]), names=("mean", "variance"))
    for name in ("nn.softmax", "nn.log_softmax"):
        for dtype in ("i32", "i64", "i16"):
            r.case(name, ANY(dtype, 2, 3))
        r.case(name, ANY("i32", 2, 3), some, names="where", axis=0)
        r.case(name, ANY("bool", 3))
    for name in ("nn.softplus", "nn.mish", "nn.log_sigmoid"):
        for dtype in ("c64", "c128", "bool", "u8"):
            r.case(name, ANY(dtype, 4))
    r.case("nn.leaky_relu", ANY("u32", 4))
    r.case("nn.selu", ANY("i16", 4))


def attentions(r):
    def given(batch, queries, keys, heads, groups, length, dtype="f32"):
        return [Arg(dtype, (batch, queries, heads, length), "~1"), Arg(dtype, (batch, keys, groups, length), "~2"),
                Arg(dtype, (batch, keys, groups, length), "~3")]

    name = "nn.dot_product_attention"
    r.all_modes(name, *given(2, 3, 4, 2, 2, 2))
    r.all_modes(name, *given(1, 3, 4, 4, 2, 2))
    r.all_modes(name, *given(1, 4, 4, 2, 1, 2), is_causal=True)
    r.all_modes(name, *given(1, 2, 3, 2, 2, 2), scale=0.25)
    r.case(name, Arg("f32", (3, 2, 2), "~1"), Arg("f32", (4, 2, 2), "~2"), Arg("f32", (4, 2, 2), "~3"))
    for window in (1, (2, 0), (0, 1)):
        r.case(name, *given(1, 4, 4, 2, 2, 2), local_window_size=window)
    r.case(name, *given(1, 4, 4, 2, 2, 2), local_window_size=1, is_causal=True)
    mask = Arg("bool", (1, 1, 3, 4), [True, False, True, True] * 3)
    r.all_modes(name, *given(2, 3, 4, 2, 2, 2), mask, names="mask")
    r.case(name, *given(1, 3, 4, 4, 2, 2), Arg("bool", (1, 4, 3, 4), [True, False, True, True] * 12), names="mask")
    r.all_modes(name, *given(1, 3, 4, 2, 2, 2), Arg("f32", (1, 2, 3, 4), "~6"), names="bias")
    r.case(name, *given(1, 3, 4, 2, 1, 2), Arg("f32", (1, 1, 3, 4), "~6"), mask, names=("bias", "mask"), is_causal=True)
    two, three = Arg("i32", (2,), [2, 3]), Arg("i32", (2,), [1, 4])
    r.case(name, *given(2, 3, 4, 2, 2, 2), two, names="query_seq_lengths")
    r.case(name, *given(2, 3, 4, 2, 2, 2), three, names="key_value_seq_lengths")
    r.case(name, *given(2, 3, 4, 2, 2, 2), two, three, names=("query_seq_lengths", "key_value_seq_lengths"))
    r.case(name, *given(1, 3, 4, 2, 2, 2), return_residual=True)
    r.case(name, *given(1, 3, 4, 4, 2, 2), return_residual=True, is_causal=True)
    r.case(name, *given(1, 3, 4, 2, 2, 4, "f64"))
    r.case(name, *given(1, 3, 4, 2, 2, 4, "bf16"))
    r.case(name, *given(1, 3, 4, 3, 2, 2))
    r.case(name, *given(1, 3, 4, 2, 2, 2)[:2], Arg("f32", (1, 3, 2, 2), "~3"))
    r.case(name, *given(1, 3, 4, 2, 2, 2)[:2], Arg("f16", (1, 4, 2, 2), "~3"))
    r.case(name, *given(1, 3, 4, 2, 2, 2), Arg("f32", (1, 1, 3, 4), "~3"), names="mask")
    r.all_modes("nn.scaled_dot_general", ANY("f32", 2, 3), ANY("f32", 3, 2))


def initial(r):
    key = Key(3)
    for name in SCALINGS:
        name = "nn.initializers." + name
        r.case(name, key, shape=(3, 4))
        r.case(name, key, shape=(2, 2, 3, 4))
        r.case(name, Key(1, 2), mode="vmap", shape=(2, 2))
        r.case(name, key, shape=(3,))
    r.case("nn.initializers.glorot_normal", key, shape=(3, 4), dtype="f16")
    r.case("nn.initializers.lecun_uniform", key, shape=(3, 4), dtype="f64")
    r.case("nn.initializers.he_normal", key, shape=(3, 4), in_axis=0, out_axis=1)
    r.case("nn.initializers.he_normal", key, shape=(2, 3, 4), in_axis=(0, 1), out_axis=2)
    r.case("nn.initializers.he_normal", key, shape=(2, 3, 4), batch_axis=0)
    for dtype in ("f32", "c64"):
        for fan in ("fan_in", "fan_out", "fan_avg", "fan_geo_avg"):
            for distribution in ("truncated_normal", "normal", "uniform"):
                if dtype == "c64" and fan != "fan_in":
                    continue
                r.case("nn.initializers.variance_scaling", key, shape=(2, 3), dtype=dtype, scale=1.5, fan=fan, distribution=distribution)
    for name in ("zeros", "ones"):
        r.case("nn.initializers." + name, key, shape=(2, 2))
        r.case("nn.initializers." + name, key, shape=(0,), dtype="i32")
        r.case("nn.initializers." + name, key, shape=(), dtype="c64")
    for value in (0.5, 3, -1.5):
        r.case("nn.initializers.constant", key, shape=(2,), value=value)
    for name, parameters in (("uniform", {"scale": 2.0}), ("normal", {"stddev": 2.0}), ("truncated_normal", {"stddev": 2.0})):
        name = "nn.initializers." + name
        r.case(name, key, shape=(5,))
        r.case(name, key, shape=(5,), **parameters)
        r.case(name, key, shape=(2, 2), dtype="f64")
        r.case(name, Key(1, 2), mode="vmap", shape=(3,))
    r.case("nn.initializers.truncated_normal", key, shape=(5,), lower=-0.5, upper=1.0)
    r.case("nn.initializers.normal", key, shape=(3,), dtype="c64")
    for shape in ((3, 3), (2, 4), (4, 2), (2, 3, 2), (2,), (0, 2)):
        r.case("nn.initializers.orthogonal", key, shape=shape)
    r.case("nn.initializers.orthogonal", key, shape=(2, 3, 4), column_axis=0, scale=2.0)
    for shape in ((3, 2, 2), (2, 2, 2, 3), (1, 2, 3, 1, 2), (2, 2), (3, 3, 2)):
        r.case("nn.initializers.delta_orthogonal", key, shape=shape)
    r.case("nn.initializers.delta_orthogonal", key, shape=(3, 2, 2), scale=2.0)
