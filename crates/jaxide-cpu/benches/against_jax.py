"""Times the cases of the `runtime` bench in JAX and here, alternately, and prints the ratios.

    python against_jax.py [--rounds R] [--seconds S] [PREFIX ...]

Run in the workspace after `cargo bench --bench runtime --no-run`. Each round runs every case once on
either side; the ratios are of the smallest minimum and of the smallest median (above 1: JAX is slower).
"""
import glob, math, os, subprocess, sys, time

os.environ.setdefault("JAX_PLATFORMS", "cpu")
import numpy as np
import jax, jax.numpy as jnp
from jax import lax

jax.config.update("jax_enable_x64", True)
rounds, seconds, prefixes = 3, 0.3, []
arguments = iter(sys.argv[1:])
for argument in arguments:
    if argument == "--rounds": rounds = int(next(arguments))
    elif argument == "--seconds": seconds = float(next(arguments))
    else: prefixes.append(argument)

rs = np.random.RandomState(0)
def A(*shape, dtype=np.float32): return jnp.asarray((rs.rand(*shape) * 2 - 1).astype(dtype))

cases = {}
def case(name, f, *make): cases[name] = (f, make)

for n in (16, 32, 64, 100, 128, 256, 512, 1024, 2048):
    case(f"matmul_{n}", lambda a, b: a @ b, lambda n=n: A(n, n), lambda n=n: A(n, n))
    if n in (256, 1024):
        case(f"matmul_tn_{n}", lambda a, b: a.T @ b, lambda n=n: A(n, n), lambda n=n: A(n, n))
        case(f"matmul_nt_{n}", lambda a, b: a @ b.T, lambda n=n: A(n, n), lambda n=n: A(n, n))
        for name, dtype in (("f64", np.float64), ("c64", np.complex64)):
            make = lambda n=n, dtype=dtype: A(n, n, dtype=dtype)
            case(f"{name}_matmul_{n}", lambda a, b: a @ b, make, make)
case("matvec_4096", lambda a, b: a @ b, lambda: A(4096, 4096), lambda: A(4096))
case("vecmat_4096", lambda a, b: a @ b, lambda: A(4096), lambda: A(4096, 4096))
for m, k, n in ((1, 128, 512), (32, 128, 512), (128, 784, 512), (784, 128, 512), (32, 10000, 16)):
    case(f"matmul_{m}x{k}x{n}", lambda a, b: a @ b, lambda m=m, k=k: A(m, k), lambda k=k, n=n: A(k, n))
for b, n in ((64, 64), (10000, 3), (1000, 8)):
    case(f"bmm_{b}x{n}", lambda a, b: a @ b, lambda b=b, n=n: A(b, n, n), lambda b=b, n=n: A(b, n, n))
case("transpose_2048", jnp.transpose, lambda: A(2048, 2048))
case("transpose_021_64x256x256", lambda x: x.transpose(0, 2, 1), lambda: A(64, 256, 256))
case("transpose_1032_16x64x64x64", lambda x: x.transpose(0, 2, 1, 3), lambda: A(16, 64, 64, 64))
case("transpose_bytes_2048", jnp.transpose, lambda: A(2048, 2048).astype(jnp.int8))
for n in (100, 1000, 10000, 1000000):
    case(f"sort_{n}", lax.sort, lambda n=n: A(n))
    case(f"argsort_{n}", lambda x, i: lax.sort((x, i), num_keys=1), lambda n=n: A(n), lambda n=n: jnp.arange(n, dtype=jnp.int32))
case("sort_f64_1000000", lax.sort, lambda: A(1000000, dtype=np.float64))
case("sort_rows_1024", lambda x: lax.sort(x, dimension=1), lambda: A(1024, 1024))
case("sort_columns_1024", lambda x: lax.sort(x, dimension=0), lambda: A(1024, 1024))
for k in (10, 10000): case(f"top_k_{k}", lambda x, k=k: lax.top_k(x, k), lambda: A(1000000))
case("top_k_rows", lambda x: lax.top_k(x, 5), lambda: A(1024, 1000))
for n in (1000, 1024, 65536, 1 << 20):
    case(f"fft_{n}", jnp.fft.fft, lambda n=n: A(n, dtype=np.complex64))
    case(f"rfft_{n}", jnp.fft.rfft, lambda n=n: A(n))
case("fft_rows_1024", jnp.fft.fft, lambda: A(1024, 1024, dtype=np.complex64))
case("fft2_1024", jnp.fft.fft2, lambda: A(1024, 1024, dtype=np.complex64))
for width in (8, 32, 64):
    case(f"bits_{width}_1000000", lambda k, w=width: jax.random.bits(k, (1000000,), f"uint{w}"), lambda: jax.random.PRNGKey(0))
case("bits_32_keys_10000x3", jax.vmap(lambda k: jax.random.bits(k, (3,))), lambda: jax.random.split(jax.random.PRNGKey(0), 10000))
case("rng_bit_generator_1000000", lambda k: lax.rng_bit_generator(k, (1000000,)), lambda: jnp.arange(4, dtype=jnp.uint32))
for n in (1000, 100000, 1000000): case(f"cumsum_{n}", jnp.cumsum, lambda n=n: A(n))
case("cummax_1000000", lax.cummax, lambda: A(1000000))
case("cumlogsumexp_100000", lax.cumlogsumexp, lambda: A(100000))
for axis in (0, 1): case(f"cumsum_axis{axis}_1024", lambda x, a=axis: jnp.cumsum(x, a), lambda: A(1024, 1024))
def dominant(n): return A(n, n) + n * jnp.eye(n, dtype=np.float32)
for n in (64, 512, 1024):
    case(f"cholesky_{n}", lambda a: lax.linalg.cholesky(a, symmetrize_input=False), lambda n=n: dominant(n))
    case(f"lu_{n}", lax.linalg.lu, lambda n=n: dominant(n))
    case(f"qr_{n}", lambda a: lax.linalg.qr(a, full_matrices=False), lambda n=n: dominant(n))
for columns in (1, 512):
    solve = lambda a, b: lax.linalg.triangular_solve(a, b, left_side=True, lower=True)
    case(f"triangular_solve_512x{columns}", solve, lambda: dominant(512), lambda c=columns: A(512, c))
case("cholesky_10000x3", lambda a: lax.linalg.cholesky(a, symmetrize_input=False), lambda: A(10000, 3, 3) + 3 * jnp.eye(3, dtype=np.float32))

binaries = glob.glob("target/release/deps/runtime-*")
binary = max((b for b in binaries if os.access(b, os.X_OK) and not b.endswith(".d")), key=os.path.getmtime)

def time_here(name):
    out = subprocess.run([binary, "--seconds", str(seconds), name], capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        case_name, low, median = line.split()
        if case_name == name: return float(low), float(median)
    raise SystemExit(f"the bench has no case {name}")

def time_jax(f, arguments):
    run = lambda: jax.block_until_ready(f(*arguments))
    run(); run()
    start = time.perf_counter(); run()
    repeats = max(1, min(1000, int(50e-6 / max(time.perf_counter() - start, 1e-7))))
    times, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(times) < 5:
        start = time.perf_counter()
        for _ in range(repeats): run()
        times.append((time.perf_counter() - start) / repeats * 1e6)
    times.sort()
    return times[0], times[len(times) // 2]

ratios = []
for name, (f, make) in cases.items():
    if prefixes and not any(name.startswith(p) for p in prefixes): continue
    f, arguments = jax.jit(f), [m() for m in make]
    here, there = [], []
    for _ in range(rounds):
        here.append(time_here(name)); there.append(time_jax(f, arguments))
    here, there = np.min(here, axis=0), np.min(there, axis=0)
    ratios.append(there / here)
    print(f"{name:32} here {here[0]:10.2f} {here[1]:10.2f}   jax {there[0]:10.2f} {there[1]:10.2f}   ratio {there[0] / here[0]:6.2f} {there[1] / here[1]:6.2f}", flush=True)
if ratios: print("geometric mean of the ratios: %.2f %.2f" % tuple(np.exp(np.mean(np.log(ratios), axis=0))))
