"""Programs of one library kernel each, for `compare.py`: products, convolutions, factorisations, sorting, transforms.

    python benches/kernels.py list
    python benches/kernels.py export DIR [PREFIX ...]   # NAME.jaxpr (JAX's text), NAME.npz (const*, in*, out*)
    python benches/kernels.py time [PREFIX ...]         # a JSON object per program: min_us, med_us

The environment's BUDGET is the number of seconds for which a program is timed.
"""

import json
import os
import sys
import time

os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

jax.config.update("jax_enable_x64", True)

SHORT = {"f32": np.float32, "f64": np.float64, "c64": np.complex64, "c128": np.complex128}
PROGRAMS = {}


def program(name, function, *inputs):
    """Registers a program; inputs are functions, called when the program is wanted."""
    PROGRAMS[name] = (function, inputs)


def normal(*shape, dtype="f32"):
    def make():
        numbers = np.random.RandomState(sum(shape))
        values = numbers.randn(*shape)
        if dtype.startswith("c"):
            values = values + 1j * numbers.randn(*shape)
        return jnp.asarray(values.astype(SHORT[dtype]))

    return make


def definite(*shape, dtype="f32"):
    def make():
        a = np.asarray(normal(*shape, dtype=dtype)())
        return jnp.asarray(a @ a.conj().swapaxes(-1, -2) + shape[-1] * np.eye(shape[-1], dtype=a.dtype))

    return make


def key():
    return random.PRNGKey(0)


for n in (16, 64, 128, 256, 512, 1024):
    for dtype in ("f32", "f64"):
        program(f"matmul_{dtype}_{n}", lambda a, b: a @ b, normal(n, n, dtype=dtype), normal(n, n, dtype=dtype))
program("matmul_c64_256", lambda a, b: a @ b, normal(256, 256, dtype="c64"), normal(256, 256, dtype="c64"))
for m, k, n in ((4096, 8, 4096), (8, 4096, 4096), (4096, 4096, 8), (16, 65536, 16), (1, 1024, 1024), (1024, 1024, 1)):
    program(f"matmul_f32_{m}x{k}x{n}", lambda a, b: a @ b, normal(m, k), normal(k, n))
for batch, n in ((1000, 4), (512, 16), (64, 64), (16, 256)):
    program(f"matmul_batch_{batch}x{n}", lambda a, b: a @ b, normal(batch, n, n), normal(batch, n, n))

for dtype, sizes in (("f32", (4, 16, 64, 256, 512)), ("f64", (64, 256)), ("c64", (64, 256)), ("c128", (64, 256))):
    for n in sizes:
        a, p = normal(n, n, dtype=dtype), definite(n, n, dtype=dtype)
        program(f"cholesky_{dtype}_{n}", jnp.linalg.cholesky, p)
        program(f"lu_{dtype}_{n}", lax.linalg.lu, a)
        program(f"qr_{dtype}_{n}", jnp.linalg.qr, a)
        program(f"eigh_{dtype}_{n}", jnp.linalg.eigh, p)
        program(f"eigvalsh_{dtype}_{n}", jnp.linalg.eigvalsh, p)
        program(f"svd_{dtype}_{n}", jnp.linalg.svd, a)
        program(f"svdvals_{dtype}_{n}", lambda a: jnp.linalg.svd(a, compute_uv=False), a)
        program(f"inv_{dtype}_{n}", jnp.linalg.inv, p)
        program(f"solve_{dtype}_{n}", jnp.linalg.solve, p, normal(n, dtype=dtype))
        program(
            f"trisolve_{dtype}_{n}", lambda a, b: jax.scipy.linalg.solve_triangular(a, b, lower=True), p, normal(n, n, dtype=dtype)
        )
for n in (16, 64, 128):
    program(f"eig_f32_{n}", jnp.linalg.eig, normal(n, n))
    program(f"schur_f32_{n}", lax.linalg.schur, normal(n, n))
    program(f"hessenberg_f32_{n}", lax.linalg.hessenberg, normal(n, n))
program("svd_f32_1024x64", lambda a: jnp.linalg.svd(a, full_matrices=False), normal(1024, 64))
program("qr_f32_1024x64", jnp.linalg.qr, normal(1024, 64))
for batch, n in ((1000, 4), (256, 16), (64, 64)):
    for name, function, make in (
        ("cholesky", jnp.linalg.cholesky, definite),
        ("qr", jnp.linalg.qr, normal),
        ("eigh", jnp.linalg.eigh, definite),
        ("svd", jnp.linalg.svd, normal),
        ("inv", jnp.linalg.inv, definite),
    ):
        program(f"{name}_batch_{batch}x{n}", function, make(batch, n, n))


def conv(numbers, stride=1, groups=1, padding="SAME", dilation=1):
    def function(x, w):
        spatial = x.ndim - 2
        return lax.conv_general_dilated(
            x, w, (stride,) * spatial, padding, rhs_dilation=(dilation,) * spatial, dimension_numbers=numbers, feature_group_count=groups
        )

    return function


NHWC, NCHW = ("NHWC", "HWIO", "NHWC"), ("NCHW", "OIHW", "NCHW")
program("conv_nhwc_3x3", conv(NHWC), normal(8, 56, 56, 64), normal(3, 3, 64, 64))
program("conv_nchw_3x3", conv(NCHW), normal(8, 64, 56, 56), normal(64, 64, 3, 3))
program("conv_nhwc_3x3_stride2", conv(NHWC, stride=2), normal(8, 56, 56, 64), normal(3, 3, 64, 128))
program("conv_nchw_3x3_stride2", conv(NCHW, stride=2), normal(8, 64, 56, 56), normal(128, 64, 3, 3))
program("conv_nhwc_1x1", conv(NHWC), normal(8, 28, 28, 256), normal(1, 1, 256, 128))
program("conv_nhwc_7x7_rgb", conv(NHWC, stride=2), normal(2, 224, 224, 3), normal(7, 7, 3, 64))
program("conv_nhwc_3x3_small", conv(NHWC), normal(1, 14, 14, 32), normal(3, 3, 32, 32))
program("conv_nhwc_dilated", conv(NHWC, dilation=2), normal(4, 28, 28, 64), normal(3, 3, 64, 64))
program("conv_nhwc_depthwise", conv(NHWC, groups=128), normal(8, 28, 28, 128), normal(3, 3, 1, 128))
program("conv_nchw_depthwise", conv(NCHW, groups=128), normal(8, 128, 28, 28), normal(128, 1, 3, 3))
program("conv_nhwc_grouped", conv(NHWC, groups=8), normal(8, 28, 28, 128), normal(3, 3, 16, 128))
program("conv_1d", conv(("NWC", "WIO", "NWC")), normal(16, 1000, 32), normal(5, 32, 64))
program("conv_3d", conv(("NDHWC", "DHWIO", "NDHWC")), normal(2, 16, 16, 16, 16), normal(3, 3, 3, 16, 32))
program(
    "conv_gradients",
    jax.grad(lambda x, w: jnp.sum(conv(NHWC)(x, w) ** 2), argnums=(0, 1)),
    normal(4, 28, 28, 64),
    normal(3, 3, 64, 64),
)

for n in (100, 10_000, 1_000_000):
    program(f"sort_f32_{n}", jnp.sort, normal(n))
    program(f"argsort_f32_{n}", jnp.argsort, normal(n))
    program(f"cumsum_f32_{n}", jnp.cumsum, normal(n))
    program(f"cummax_f32_{n}", lax.cummax, normal(n))
    program(f"bits_{n}", lambda k, n=n: random.bits(k, (n,)), key)
    program(f"uniform_{n}", lambda k, n=n: random.uniform(k, (n,), np.float32), key)
    program(f"normal_{n}", lambda k, n=n: random.normal(k, (n,), np.float32), key)
program("sort_f32_1000x100", lambda x: jnp.sort(x, axis=0), normal(1000, 100))
program("sort_rows_1000x100", lambda x: jnp.sort(x, axis=1), normal(1000, 100))
program("top_k_1e6_10", lambda x: lax.top_k(x, 10), normal(1_000_000))
program("top_k_1000x1000_5", lambda x: lax.top_k(x, 5), normal(1000, 1000))
program("cumsum_rows_1000x1000", lambda x: jnp.cumsum(x, axis=1), normal(1000, 1000))
program("cumsum_columns_1000x1000", lambda x: jnp.cumsum(x, axis=0), normal(1000, 1000))
for n in (64, 1000, 1024, 65_536):
    program(f"fft_{n}", jnp.fft.fft, normal(n, dtype="c64"))
    program(f"rfft_{n}", jnp.fft.rfft, normal(n))
program("fft_1024x1024_rows", jnp.fft.fft, normal(1024, 1024, dtype="c64"))
program("fft2_512x512", jnp.fft.fft2, normal(512, 512, dtype="c64"))
program("irfft_65536", jnp.fft.irfft, normal(32_769, dtype="c64"))
program("permutation_100000", lambda k: random.permutation(k, 100_000), key)
program("gamma_10000", lambda k: random.gamma(k, 2.0, (10_000,), np.float32), key)


def timed(function, inputs, budget):
    jitted = jax.jit(function)
    run = lambda: jax.block_until_ready(jitted(*inputs))
    run()
    start = time.perf_counter()
    run()
    repeats = max(1, min(1000, int(50e-6 / max(time.perf_counter() - start, 1e-7))))
    times, end = [], time.perf_counter() + budget
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        for _ in range(repeats):
            run()
        times.append((time.perf_counter() - start) / repeats * 1e6)
    times.sort()
    return {"min_us": times[0], "med_us": times[len(times) // 2]}


def export(folder, name, function, inputs):
    closed = jax.make_jaxpr(function)(*inputs)
    with open(f"{folder}/{name}.jaxpr", "w") as file:
        file.write(f"{closed}\n")
    arrays = {f"const{i}": x for i, x in enumerate(closed.consts)}
    arrays |= {f"in{i}": x for i, x in enumerate(inputs)}
    arrays |= {f"out{i}": x for i, x in enumerate(jax.tree.leaves(jax.jit(function)(*inputs)))}
    np.savez(f"{folder}/{name}.npz", **{name: np.asarray(array) for name, array in arrays.items()})


def main():
    action, *prefixes = sys.argv[1:]
    folder = prefixes.pop(0) if action == "export" else None
    budget = float(os.environ.get("BUDGET", "0.5"))
    for name, (function, makers) in PROGRAMS.items():
        if prefixes and not any(name.startswith(prefix) for prefix in prefixes):
            continue
        if action == "list":
            print(name)
            continue
        inputs = [make() for make in makers]
        if action == "export":
            export(folder, name, function, inputs)
        else:
            print(json.dumps({"name": name, **timed(function, inputs, budget)}), flush=True)


if __name__ == "__main__":
    main()
