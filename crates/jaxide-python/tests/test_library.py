"""The functions of JAX's library over types, shapes and axes, in the manner of JAX's own tests: by ``jaxide.jit`` and by ``jax.jit``, alone, as a
gradient and over a batch.

Each case is one function with all its variants, which are compiled together. ``DIFFERENCES`` says where numbers may differ more, and why.
"""

import zlib

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import jaxide
from conftest import same

FLOATS = ["float32", "float16", "bfloat16"]
INTEGERS = ["int32", "uint8", "int16"]
SHAPES = [(), (3, 4), (0, 3)]

#: Functions whose numbers differ by more than their neighbours', with what is allowed, relative to the largest.
DIFFERENCES = {
    # The last place of a sum of thousands of terms, in another order.
    "jnp.linalg.matrix_power": 2e-4,
    "jnp.linalg.cond": 2e-4,
    "jnp.linalg.pinv": 2e-4,
    # XLA's formulas lose digits where the result is near zero; ours are within two units in the last place.
    "special.gammaln": 2e-4,
    "special.digamma": 2e-4,
    "special.polygamma": 2e-4,
    "special.zeta": 2e-4,
    "special.betainc": 2e-4,
    "special.betaln": 2e-4,
    "special.gammainc": 2e-4,
    "special.gammaincc": 2e-4,
    "special.bessel_jn": 2e-4,
    "special.ndtri": 2e-4,
    "stats.t.logpdf": 2e-4,
    "stats.gamma.logpdf": 2e-4,
    "stats.beta.logpdf": 2e-4,
}


def array(shape, dtype, name, low=-2.0, high=2.0):
    """Numbers from ``low`` to ``high`` that are the same in each run."""
    rng = np.random.default_rng(zlib.crc32(f"{shape}{dtype}{name}".encode()))
    if dtype == "bool":
        return jnp.asarray(rng.integers(0, 2, shape), bool)
    if jnp.issubdtype(dtype, jnp.integer):
        return jnp.asarray(rng.integers(max(low, 0) if dtype[0] == "u" else 3 * low, 3 * high + 1, shape), dtype)
    numbers = rng.uniform(low, high, shape)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        numbers = numbers + 1j * rng.uniform(low, high, shape)
    return jnp.asarray(numbers, dtype)


CASES = {}


def case(name, function, variants, gradient=True, batch=True):
    """``variants`` are lists of arguments."""
    CASES[name] = (function, variants, gradient, batch)


def elementwise(library, names, dtypes, low=-2.0, high=2.0, arguments=1, gradient=True, shapes=SHAPES):
    module, prefix = library
    for name in names.split():
        variants = [
            [array(shape, dtype, f"{name}{k}", low, high) for k in range(arguments)] for shape in shapes for dtype in dtypes
        ]
        if arguments == 2:
            variants += [[array((3, 1), dtype, name, low, high), array((1, 4), dtype, name, low, high)] for dtype in dtypes]
        case(f"{prefix}.{name}", getattr(module, name), variants, gradient)


NUMPY, LAX, NN, SPECIAL = (jnp, "jnp"), (lax, "lax"), (jax.nn, "nn"), (jax.scipy.special, "special")
elementwise(NUMPY, "sin cos tan sinh cosh tanh arctan arcsinh exp exp2 expm1 sinc", [*FLOATS, "complex64"])
elementwise(NUMPY, "arcsin arccos arctanh", FLOATS, -0.9, 0.9)
elementwise(NUMPY, "log log2 log10 log1p sqrt cbrt arccosh reciprocal", FLOATS, 1.1, 3.0)
elementwise(NUMPY, "square abs negative positive conj real imag", [*FLOATS, "int32", "complex64"], gradient=False)
elementwise(NUMPY, "sign floor ceil trunc rint fabs degrees radians signbit isnan isinf isfinite nan_to_num", FLOATS, gradient=False)
elementwise(NUMPY, "invert bitwise_count", INTEGERS, gradient=False)
elementwise(NUMPY, "logical_not", ["bool", "int32"], gradient=False)
elementwise(NUMPY, "add subtract multiply", [*FLOATS, *INTEGERS, "complex64"], arguments=2, gradient=False)
elementwise(NUMPY, "divide maximum minimum arctan2 hypot logaddexp logaddexp2 fmax fmin", FLOATS, 0.5, 2.0, 2)
elementwise(NUMPY, "mod remainder fmod floor_divide copysign heaviside", ["float32", "float16"], 0.5, 4.0, 2, False)
elementwise(NUMPY, "nextafter", ["float32"], 0.5, 4.0, 2, False)
elementwise(NUMPY, "gcd lcm bitwise_and bitwise_or bitwise_xor left_shift right_shift", ["int32", "uint8"], 0, 2, 2, False)
elementwise(NUMPY, "equal not_equal less less_equal greater greater_equal", [*FLOATS, *INTEGERS], arguments=2, gradient=False)
elementwise(NUMPY, "logical_and logical_or logical_xor", ["bool", "int32"], arguments=2, gradient=False)
elementwise(NUMPY, "power float_power", ["float32"], 0.5, 2.0, 2)
elementwise(LAX, "rsqrt lgamma digamma", ["float32"], 0.5, 4.0)
elementwise(LAX, "erf erfc logistic", FLOATS)
elementwise(LAX, "erf_inv", ["float32"], -0.9, 0.9)
elementwise(LAX, "population_count clz", INTEGERS, gradient=False)
elementwise(LAX, "is_finite round", ["float32"], gradient=False)
elementwise(NN, "relu relu6 sigmoid softplus soft_sign silu swish log_sigmoid leaky_relu hard_sigmoid hard_silu hard_tanh elu celu selu gelu squareplus mish sparse_plus", ["float32", "bfloat16"])
elementwise(NN, "softmax log_softmax standardize logsumexp", ["float32"], shapes=[(5,), (3, 4), (2, 1, 3)])
elementwise(SPECIAL, "gammaln digamma", ["float32"], 0.5, 5.0)
elementwise(SPECIAL, "erf erfc expit log_ndtr ndtr i0 i0e i1 i1e", ["float32"])
elementwise(SPECIAL, "logit entr ndtri erfinv", ["float32"], 0.1, 0.9)
elementwise(SPECIAL, "xlogy xlog1py rel_entr kl_div betaln", ["float32"], 0.5, 2.0, 2)
elementwise(SPECIAL, "gammainc gammaincc", ["float32"], 0.5, 3.0, 2, gradient=False)

for name in "sum prod max min mean var std any all argmax argmin nansum nanmax nanmean ptp count_nonzero median".split():
    function = getattr(jnp, name)
    axes = [None, 0, -1] if name in ("argmax", "argmin") else [None, 0, -1, (0, 2)]

    def reduced(x, function=function, axes=axes):
        return [function(x, axis=axis, keepdims=keepdims) for axis in axes for keepdims in (False, True)]

    # What XLA adds up in short floats it rounds more than once.
    short = name in "max min any all argmax argmin nanmax ptp count_nonzero".split()
    types = ["float32"] if name == "median" else ["float32", "int32", *(["bfloat16"] if short else [])]
    variants = [[array((2, 3, 4), dtype, name, 0.5, 2.0)] for dtype in types] + [[array((3, 1, 5), "float32", name)]]
    case(f"jnp.{name}", reduced, variants, gradient=name in "sum prod max mean var std nansum nanmean".split())
for name in "cumsum cumprod cumulative_sum sort argsort flip diff".split():
    along = lambda x, function=getattr(jnp, name): [function(x, axis=axis) for axis in (0, 1)]
    variants = [[array((6, 5), dtype, name)] for dtype in ["float32", "int32"]]
    case(f"jnp.{name}", along, variants, gradient=name != "argsort")
for name in "cumsum cumprod cummax cummin cumlogsumexp".split():
    along = lambda x, function=getattr(lax, name): [function(x, axis=1, reverse=reverse) for reverse in (False, True)]
    case(f"lax.{name}", along, [[array((3, 7), "float32", name)]])

X, Y, V = array((4, 6), "float32", "x"), array((6, 3), "float32", "y"), array((6,), "float32", "v")
SQUARE = array((4, 4), "float32", "square") + 4 * jnp.eye(4)
POSITIVE = SQUARE @ SQUARE.T
BATCH = jnp.stack([POSITIVE, POSITIVE.T + jnp.eye(4)])
PLACES = jnp.array([2, 0, -1, 7, 1])
SHAPED = {
    "reshape": lambda x: (x.reshape(8, 3), x.reshape(2, -1, 2), x.ravel()),
    "transpose": lambda x: (x.T, jnp.swapaxes(x[None], 0, 2), jnp.moveaxis(x[None], 0, -1), jnp.rollaxis(x, 1)),
    "expand": lambda x: (x[None], x[:, None], jnp.expand_dims(x, (0, 2)), jnp.squeeze(x[None])),
    "broadcast": lambda x: (jnp.broadcast_to(x, (2, 4, 6)), jnp.broadcast_arrays(x, x[:1])),
    "concatenate": lambda x: (jnp.concatenate([x, x[:2]]), jnp.stack([x, x], 1), jnp.hstack([x, x]), jnp.vstack([x, x]), jnp.dstack([x, x])),
    "split": lambda x: (jnp.split(x, 2), jnp.array_split(x, 4, 1), jnp.hsplit(x, [1, 3])),
    "tile": lambda x: (jnp.tile(x, (2, 2)), jnp.repeat(x, 2, 1), jnp.repeat(x, jnp.array([1, 0, 2, 1]), 0, total_repeat_length=4)),
    "pad": lambda x: [jnp.pad(x, ((1, 2), (0, 3)), mode) for mode in ("constant", "edge", "reflect", "wrap", "symmetric", "linear_ramp", "mean", "maximum")],
    "roll": lambda x: (jnp.roll(x, 2), jnp.roll(x, -1, 1), jnp.roll(x, (1, 2), (0, 1))),
    "flip": lambda x: (x[::-1], jnp.flipud(x), jnp.fliplr(x), jnp.rot90(x), x[::-2, 1::3]),
    "triangles": lambda x: (jnp.tril(x), jnp.triu(x, 1), jnp.diag(x), jnp.diagonal(x, 1), jnp.trace(x), jnp.diagflat(x[0])),
    "take": lambda x: (jnp.take(x, PLACES % 4, 0), x[PLACES % 4], x[:, PLACES % 6], x[PLACES % 4, PLACES % 6], jnp.take_along_axis(x, jnp.argsort(x, 1), 1)),
    "take_outside": lambda x: [jnp.take(x, PLACES, 0, mode=mode) for mode in ("fill", "clip", "wrap")],
    "at": lambda x: [getattr(x.at[PLACES], name)(2.0, mode="drop") for name in ("set", "add", "multiply", "min", "max")],
    "at_slices": lambda x: (x.at[1:3, ::2].set(0.5), x.at[..., -1].add(x[..., 0])),
    "where": lambda x: (jnp.where(x > 0, x, 2 * x), jnp.select([x < -1, x < 1], [x, 2 * x], 0.0), jnp.clip(x, -1, 1), jnp.piecewise(x, [x < 0, x >= 0], [lambda x: -x, lambda x: x])),
    "search": lambda x: (jnp.searchsorted(jnp.sort(x[0]), x[1]), jnp.digitize(x, jnp.linspace(-2, 2, 5)), jnp.nonzero(x > 0, size=9), jnp.argwhere(x > 1, size=3)),
    "sets": lambda x: (jnp.unique(jnp.round(x), size=6), jnp.isin(x, x[0]), jnp.union1d(jnp.round(x[0]), jnp.round(x[1]), size=8)),
    "statistics": lambda x: (jnp.quantile(x, 0.3, axis=1), jnp.percentile(x, jnp.array([10.0, 90.0])), jnp.cov(x), jnp.corrcoef(x), jnp.average(x, 0, x[:, 0] ** 2)),
    "histogram": lambda x: (jnp.histogram(x, 5), jnp.bincount(jnp.abs(x[0]).astype(int), length=4)),
    "products": lambda x: (x @ Y, jnp.dot(x, V), jnp.inner(x, x), jnp.outer(x[0], x[1]), jnp.vdot(x, x), jnp.tensordot(x, Y, 1), jnp.kron(x, x[:2, :2]), jnp.cross(x[:, :3], x[:, 3:])),
    "einsum": lambda x: (jnp.einsum("ij,jk->ki", x, Y), jnp.einsum("ij,ij->i", x, x), jnp.einsum("ii", x[:, :4]), jnp.einsum("ij,kj,lj->ikl", x, x, x)),
    "convolve": lambda x: (jnp.convolve(x[0], V[:3]), jnp.correlate(x[0], V[:3], "same"), jnp.polyval(V[:3], x), jnp.polymul(V[:3], V[3:])),
    "interp": lambda x: (jnp.interp(x, jnp.linspace(-2, 2, 9), jnp.linspace(0, 1, 9) ** 2), jnp.gradient(x), jnp.trapezoid(x), jnp.ediff1d(x)),
    "apply": lambda x: (jnp.apply_along_axis(jnp.sum, 1, x), jnp.vectorize(lambda a, b: a @ b, signature="(n),(n)->()")(x, x), jnp.apply_over_axes(jnp.sum, x, [0, 1])),
    "fft": lambda x: (jnp.fft.fft(x), jnp.fft.ifft(x, axis=0), jnp.fft.rfft(x), jnp.fft.irfft(x), jnp.fft.fft2(x), jnp.fft.fftshift(x), jnp.fft.hfft(x)),
    "casts": lambda x: [x.astype(dtype) for dtype in ["int32", "float16", "bfloat16", "bool", "complex64", "int8"]],
    "bits": lambda x: (lax.bitcast_convert_type(x, jnp.int32), lax.bitcast_convert_type(x, jnp.uint8), jnp.frexp(x), jnp.modf(x), x.view(jnp.int16)),
    "creation": lambda x: (jnp.ones_like(x), jnp.arange(6) * x[0], jnp.linspace(0, 1, 6) + x[0], jnp.eye(4) @ x, jnp.tri(4) @ x, jnp.full((2, 2), x[0, 0]), jnp.meshgrid(x[0], x[1]), jnp.indices((2, 2)), jnp.vander(x[0])),
}
UNDIFFERENTIATED = {"search", "sets", "histogram", "bits", "fft", "casts", "creation", "interp", "statistics", "at"}
for name, function in SHAPED.items():
    case(f"shapes.{name}", function, [[X]], gradient=name not in UNDIFFERENTIATED)

LINEAR = {
    "jnp.linalg.inv": lambda a: jnp.linalg.inv(a),
    "jnp.linalg.det": lambda a: (jnp.linalg.det(a), jnp.linalg.slogdet(a)[1]),
    "jnp.linalg.solve": lambda a: jnp.linalg.solve(a, a[..., :2] + 1),
    "jnp.linalg.cholesky": lambda a: jnp.linalg.cholesky(a),
    "jnp.linalg.eigvalsh": lambda a: jnp.linalg.eigvalsh(a),
    "jnp.linalg.svdvals": lambda a: jnp.linalg.svd(a, compute_uv=False),
    "jnp.linalg.norm": lambda a: (jnp.linalg.norm(a), jnp.linalg.norm(a, axis=-1), jnp.linalg.norm(a, 1, (-2, -1)), jnp.linalg.vector_norm(a, ord=3)),
    "jnp.linalg.matrix_power": lambda a: jnp.linalg.matrix_power(a / 10, 3),
    "jnp.linalg.pinv": lambda a: jnp.linalg.pinv(a),
    "jnp.linalg.cond": lambda a: jnp.linalg.cond(a),
    "jnp.linalg.qr": lambda a: jnp.abs(jnp.linalg.qr(a)[1]),
    "jnp.linalg.lstsq": lambda a: jnp.linalg.lstsq(a, a[..., 0] ** 2)[0] if a.ndim == 2 else a,
    "jnp.linalg.multi_dot": lambda a: jnp.linalg.multi_dot([a, a, a]) if a.ndim == 2 else a,
    "jnp.linalg.matrix_rank": lambda a: jnp.linalg.matrix_rank(a) + 0 * a.sum(),
    "scipy.linalg.expm": lambda a: jax.scipy.linalg.expm(a / 10) if a.ndim == 2 else a,
    "scipy.linalg.cho_solve": lambda a: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), a[..., :1]),
    "scipy.linalg.lu": lambda a: jax.scipy.linalg.lu(a),
    "scipy.linalg.solve_triangular": lambda a: (jax.scipy.linalg.solve_triangular(a, a[..., :1]), jax.scipy.linalg.solve_triangular(a, a[..., :1], lower=True, trans=1)),
    "scipy.linalg.block_diag": lambda a: jax.scipy.linalg.block_diag(a, a) if a.ndim == 2 else a,
    "scipy.linalg.sqrtm_like": lambda a: jnp.linalg.eigh(a)[1] ** 2 @ jnp.linalg.eigh(a)[0][..., None],
}
for name, function in LINEAR.items():
    case(name, function, [[POSITIVE], [BATCH]], gradient=name not in ("jnp.linalg.matrix_rank", "jnp.linalg.cond", "jnp.linalg.qr", "scipy.linalg.sqrtm_like"))

FLOW = {
    "scan": lambda x: lax.scan(lambda c, row: (c * 0.5 + row, (c.sum(), row)), jnp.zeros(6), x),
    "scan_reverse": lambda x: lax.scan(lambda c, row: (jnp.tanh(c) + row, c), jnp.zeros(6), x, reverse=True, unroll=2),
    "scan_length": lambda x: lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=5)[0],
    "fori": lambda x: lax.fori_loop(1, 5, lambda i, y: y * 0.9 + i, x),
    "while": lambda x: lax.while_loop(lambda c: c[1] < 7, lambda c: (jnp.sin(c[0]) + 1, c[1] + 1), (x, 0))[0],
    "while_on_data": lambda x: lax.while_loop(lambda y: jnp.sum(y) < 50, lambda y: y * y + 1, x),
    "cond": lambda x: lax.cond(x.sum() > 0, jnp.sin, lambda x: x * 2, x),
    "switch": lambda x: [lax.switch(k, [jnp.sin, jnp.cos, lambda x: x], x) for k in (jnp.int32(0), jnp.int32(2), jnp.int32(9))],
    "map": lambda x: (lax.map(lambda row: row / (1 + row @ row), x), lax.map(jnp.sin, x, batch_size=3)),
    "associative_scan": lambda x: (lax.associative_scan(jnp.add, x), lax.associative_scan(jnp.multiply, x, reverse=True, axis=1)),
    "nested": lambda x: lax.scan(lambda c, row: (lax.fori_loop(0, 3, lambda i, d: d * 0.5 + row, c), lax.cond(row[0] > 0, lambda: c, lambda: row)), jnp.zeros(6), x),
    "checkpoint": lambda x: jax.checkpoint(lambda y: jnp.sin(jnp.sin(y)), policy=jax.checkpoint_policies.dots_saveable)(x),
    "custom_jvp": lambda x: jax.nn.relu(x) + jax.nn.silu(x),
    "stop_gradient": lambda x: x * lax.stop_gradient(jnp.cos(x)),
    "dynamic_slices": lambda x: (lax.dynamic_slice(x, (jnp.int32(1), jnp.int32(2)), (2, 3)), lax.dynamic_update_slice(x, x[:2, :2], (jnp.int32(3), jnp.int32(5))), lax.dynamic_index_in_dim(x, jnp.int32(2))),
    "windows": lambda x: (lax.reduce_window(x, -jnp.inf, lax.max, (2, 2), (1, 2), "SAME"), lax.reduce_window(x, 0.0, lax.add, (3, 2), (1, 1), "VALID", window_dilation=(1, 2))),
    "convolutions": lambda x: (lax.conv_general_dilated(x[None, :, :, None], jnp.ones((2, 2, 1, 3)), (1, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), lax.conv_transpose(x[None], jnp.ones((3, 6, 2)), (2,), "SAME")),
    "dot_general": lambda x: (lax.dot_general(x[None], x[None], (((2,), (2,)), ((0,), (0,)))), lax.dot(x, Y)),
    "top_k": lambda x: lax.top_k(x, 3)[0],
    "reduce": lambda x: (lax.reduce(x, jnp.float32(0), lax.add, (1,)), lax.reduce_precision(x, 5, 10), lax.argmax(x, 1, jnp.int32)),
    "sort": lambda x: (lax.sort(x), lax.sort((x, -x), num_keys=1), lax.sort((jnp.round(x), x), dimension=0, num_keys=2)),
    "gather_scatter": lambda x: (x[PLACES % 4].sum(0), jnp.zeros((4, 6)).at[PLACES % 4].add(x[:1]), jax.ops.segment_sum(x, jnp.array([0, 1, 0, 2]), 3), jax.ops.segment_max(x, jnp.array([0, 1, 0, 2]), 3)),
    "clamp": lambda x: (lax.clamp(-1.0, x, 1.0), lax.select(x > 0, x, -x), lax.rem(x, jnp.float32(0.7)), lax.integer_pow(x, 3), lax.pow(jnp.abs(x) + 0.1, 3)),
}


for name, function in FLOW.items():
    case(f"lax.{name}", function, [[X]], gradient=name not in ("while", "while_on_data", "reduce", "windows"))
case("lax.while.forward", lambda x: jax.jvp(FLOW["while"], (x,), (x,)), [[X]], gradient=False)

KEY = jax.random.key(7)
for name, arguments in {
    "normal": ((3, 4),),
    "uniform": ((3, 4),),
    "bits": ((5,),),
    "randint": ((7,), 0, 50),
    "bernoulli": (0.3, (9,)),
    "exponential": ((5,),),
    "gamma": (2.5, (6,)),
    "beta": (2.0, 3.0, (6,)),
    "dirichlet": (jnp.ones(3), (2,)),
    "gumbel": ((4,),),
    "laplace": ((4,),),
    "logistic": ((4,),),
    "cauchy": ((4,),),
    "truncated_normal": (-1.0, 1.0, (5,)),
    "poisson": (3.0, (6,)),
    "categorical": (jnp.log(jnp.arange(1.0, 6.0)), -1, (8,)),
    "choice": (jnp.arange(9.0), (4,)),
    "permutation": (jnp.arange(12),),
    "rademacher": ((6,),),
    "multivariate_normal": (jnp.zeros(3), jnp.eye(3) + 0.1),
    "orthogonal": (3,),
    "t": (3.0, (5,)),
    "chisquare": (3.0, (5,)),
    "pareto": (3.0, (5,)),
    "rayleigh": (2.0, (5,)),
    "weibull_min": (1.0, 2.0, (5,)),
    "geometric": (0.3, (5,)),
    "binomial": (10.0, 0.4, (5,)),
    "triangular": (0.0, 0.5, 1.0, (5,)),
    "ball": (3,),
    "maxwell": ((4,),),
    "split": (3,),
    "fold_in": (5,),
}.items():
    function = getattr(jax.random, name)
    case(f"random.{name}", lambda key, function=function, arguments=arguments: function(key, *arguments), [[KEY]], gradient=False, batch=False)

STATISTICS = {
    "norm": (0.0, 1.0),
    "gamma": (2.0,),
    "beta": (2.0, 3.0),
    "t": (3.0,),
    "laplace": (),
    "logistic": (),
    "cauchy": (),
    "expon": (),
    "uniform": (),
    "pareto": (1.5,),
    "chi2": (3.0,),
}
for name, arguments in STATISTICS.items():
    distribution = getattr(jax.scipy.stats, name)
    case(f"stats.{name}.logpdf", lambda x, d=distribution, a=arguments: d.logpdf(x, *a), [[array((7,), "float32", name, 0.1, 0.9)]])
    if hasattr(distribution, "cdf"):
        case(f"stats.{name}.cdf", lambda x, d=distribution, a=arguments: d.cdf(x, *a), [[array((7,), "float32", name, 0.1, 0.9)]], gradient=False)


def tolerance(name, leaf):
    plain = DIFFERENCES.get(name.split("[")[0], 3e-5)
    return max(plain, 4 * float(jnp.finfo(leaf.dtype).eps)) if jnp.issubdtype(leaf.dtype, jnp.inexact) else plain


def compare(name, function, args):
    ours, theirs = jaxide.jit(function, strict=True)(*args), jax.jit(function)(*args)
    assert jax.tree.structure(ours) == jax.tree.structure(theirs)
    for a, b in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs)):
        assert a.aval == b.aval, (a.aval, b.aval)
        if not jnp.issubdtype(a.dtype, jnp.inexact):
            same(a, b)
            continue
        allowed = tolerance(name, b)
        wide = np.complex128 if jnp.issubdtype(b.dtype, jnp.complexfloating) else np.float64
        a, b = np.asarray(a).astype(wide), np.asarray(b).astype(wide)
        largest = np.max(np.abs(b), initial=1e-30, where=np.isfinite(b))
        np.testing.assert_allclose(a, b, rtol=allowed, atol=allowed * largest)


@pytest.mark.parametrize("name", CASES)
def test_function(name):
    function, variants, _, _ = CASES[name]
    compare(name, lambda variants: [function(*args) for args in variants], [variants])


def is_real(x):
    return jnp.issubdtype(x.dtype, jnp.floating) and x.dtype.itemsize == 4 and x.size > 0


@pytest.mark.parametrize("name", [name for name, (_, _, gradient, _) in CASES.items() if gradient])
def test_gradient(name):
    function, variants, _, _ = CASES[name]
    variants = [args for args in variants if all(map(is_real, args))]
    assert variants

    def weighted(variants):
        leaves = jax.tree.leaves([function(*args) for args in variants])
        leaves = [leaf for leaf in leaves if jnp.issubdtype(leaf.dtype, jnp.floating)]
        return sum(jnp.sum(leaf * jnp.cos(jnp.arange(leaf.size)).reshape(leaf.shape)) for leaf in leaves)

    compare(name, jax.grad(weighted), [variants])


@pytest.mark.parametrize("name", [name for name, (_, _, _, batch) in CASES.items() if batch])
def test_batch(name):
    function, variants, _, _ = CASES[name]
    variants = [args for args in variants if all(x.dtype.itemsize == 4 and x.ndim for x in args)][:1]
    variants = [[jnp.stack([x, x]) for x in args] for args in variants or CASES[name][1][:1]]
    compare(name, lambda variants: [jax.vmap(function)(*args) for args in variants], [variants])
