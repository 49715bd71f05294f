"""`scipy.linalg`."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as sl

from common import Arg


def f32(*shape, values="~1"):
    return Arg("f32", shape, values)


def spd(dtype, *shape, seed=1):
    return Arg(dtype, shape, f"~s{seed}")


def renamed(f, **names):
    """Parameters whose names mean something else in a case, or are no keywords of JAX's."""
    return lambda *args, **kw: f(*args, **{names.get(key, key): value for key, value in kw.items()})


def cho_solve(a, b, lower=False):
    return sl.cho_solve(sl.cho_factor(a, lower=lower), b)


def lu_solve(a, b, trans=0):
    return sl.lu_solve(sl.lu_factor(a), b, trans=trans)


def times_adjoint(x):
    return x @ x.mT.conj()


def eigh_of(a, b=None, **kw):
    w, v = sl.eigh(a, b, **renamed(dict, kind="type")(**kw))
    return w, times_adjoint(v)


def schur_of(a, output="real"):
    t, z = sl.schur(a, output=output)
    return z @ t @ z.conj().T


def qr_of(a, how="full", pivoting=False):
    q, r, *p = sl.qr(a, mode=how, pivoting=pivoting)
    return (q @ r, *p)


def qr_multiply(a, c, how="right", pivoting=False, conjugate=False):
    cq, r, *p = sl.qr_multiply(a, c, mode=how, pivoting=pivoting, conjugate=conjugate)
    return (abs(cq), abs(r), *p)


def hessenberg_of(a):
    h, q = sl.hessenberg(a, calc_q=True)
    return q @ h @ q.mT.conj()


def svd_of(a, full_matrices=False):
    u, s, vh = sl.svd(a, full_matrices=full_matrices)
    return s, times_adjoint(u), times_adjoint(vh.mT)


def rsf2csf_of(a):
    t, z = sl.rsf2csf(*sl.schur(a))
    return z @ t @ z.conj().T, jnp.tril(t, -1)


def tridiagonal_of(d, e, select_range=None):
    kw = {} if select_range is None else {"select": "i", "select_range": tuple(select_range)}
    w, v = sl.eigh_tridiagonal(d, e, **kw)
    return w, (v * w.astype(v.dtype)) @ v.conj().T


def eigvalsh_tridiagonal(d, e, select_range=None):
    kw = {} if select_range is None else {"select": "i", "select_range": tuple(select_range)}
    return sl.eigh_tridiagonal(d, e, eigvals_only=True, **kw)


FUNCTIONS = {
    "scipy.linalg.cho_solve": cho_solve,
    "scipy.linalg.lu_solve": lu_solve,
    "scipy.linalg.eigh_of": eigh_of,
    "scipy.linalg.eigvalsh": lambda a, lower=True: sl.eigh(a, lower=lower, eigvals_only=True),
    "scipy.linalg.schur_of": schur_of,
    "scipy.linalg.qr_of": qr_of,
    "scipy.linalg.qr": renamed(sl.qr, how="mode"),
    "scipy.linalg.qr_multiply_of": qr_multiply,
    "scipy.linalg.hessenberg_of": hessenberg_of,
    "scipy.linalg.svd_of": svd_of,
    "scipy.linalg.rsf2csf_of": rsf2csf_of,
    "scipy.linalg.polar": lambda a, side="right": sl.polar(a, side=side, method="svd"),
    "scipy.linalg.eigh_tridiagonal_of": tridiagonal_of,
    "scipy.linalg.eigvalsh_tridiagonal": eigvalsh_tridiagonal,
    "scipy.linalg.block_diag": lambda *arrays: sl.block_diag(*arrays),
    "scipy.linalg.convolution_matrix": renamed(sl.convolution_matrix, how="mode"),
    "scipy.linalg.funm": lambda a: sl.funm(a, lambda x: jnp.sin(x) + 2 * jnp.cos(x)),
}


def cases(r):
    s = "scipy.linalg."
    r.all_modes(s + "cholesky", spd("f32", 3, 3))
    r.all_modes(s + "cholesky", spd("c64", 2, 2), lower=True)
    r.case(s + "cholesky", spd("f64", 2, 2))
    r.case(s + "cholesky", f32(2, 3))
    r.all_modes(s + "cho_solve", spd("f32", 3, 3), f32(3, values="~2"))
    r.all_modes(s + "cho_solve", spd("f32", 3, 3), f32(3, 2, values="~2"), lower=True)
    r.case(s + "cho_solve", spd("c64", 2, 2), Arg("c64", (2,), "~2"))
    r.case(s + "cho_solve", spd("f32", 2, 2, 2), f32(2, 2, 1))
    r.case(s + "cho_solve", spd("f32", 2, 2), f32(3))
    r.case(s + "lu_factor", f32(3, 3))
    r.case(s + "lu_factor", Arg("i32", (2, 2), [1, 2, 3, 4]))
    r.case(s + "lu_factor", f32(2, 3, 2))
    r.case(s + "lu_factor", f32(3))
    r.all_modes(s + "lu_solve", f32(3, 3), f32(3, values="~2"))
    r.all_modes(s + "lu_solve", f32(3, 3), f32(3, 2, values="~2"), trans=1)
    r.case(s + "lu_solve", Arg("c64", (2, 2), "~1"), Arg("c64", (2,), "~2"), trans=2)
    r.case(s + "lu_solve", f32(2, 2), f32(3))
    r.all_modes(s + "lu", f32(3, 3))
    r.all_modes(s + "lu", f32(3, 2))
    r.all_modes(s + "lu", f32(2, 3), permute_l=True)
    r.case(s + "lu", Arg("c64", (2, 2), "~1"))
    r.case(s + "lu", f32(2, 3, 2))
    r.case(s + "lu", f32(3))
    for dtype in ("f32", "c64"):
        r.case(s + "qr_of", Arg(dtype, (3, 2), "~1"))
        r.case(s + "qr_of", Arg(dtype, (3, 2), "~1"), how="economic")
        r.case(s + "qr_of", Arg(dtype, (3, 3), "~1"), pivoting=True)
        r.case(s + "svd_of", Arg(dtype, (3, 2), "~1"))
        r.case(s + "svd_of", Arg(dtype, (2, 3), "~1"), full_matrices=True)
        r.all_modes(s + "eigvalsh", spd(dtype, 3, 3))
        r.case(s + "eigh_of", spd(dtype, 3, 3))
        r.case(s + "schur_of", Arg(dtype, (3, 3), "~1"))
        r.case(s + "schur_of", Arg(dtype, (3, 3), "~1"), output="complex")
        r.case(s + "schur_of", Arg("i32" if dtype == "f32" else "u64", (3, 3), "~1"), output="complex")
        r.case(s + "hessenberg_of", Arg(dtype, (3, 3), "~1"))
        r.case(s + "polar", Arg(dtype, (3, 3), "~1"))
        r.case(s + "sqrtm", spd(dtype, 3, 3))
        r.case(s + "rsf2csf_of", Arg(dtype, (3, 3), "~1"))
        r.case(s + "funm", spd(dtype, 3, 3))
        r.all_modes(s + "expm", Arg(dtype, (3, 3), "~1"))
    r.case(s + "qr", f32(3, 2))
    r.case(s + "qr", f32(3, 2), how="other")
    r.case(s + "qr", f32(3))
    r.case(s + "svd_of", f32(2, 3, 2))
    r.case(s + "svd", f32(3))
    for kind in (1, 2, 3):
        r.case(s + "eigh_of", spd("f32", 3, 3), spd("f32", 3, 3, seed=2), kind=kind)
    r.case(s + "eigh_of", spd("f32", 2, 2), spd("f32", 2, 2), kind=4)
    r.case(s + "eigvalsh", f32(2, 3))
    r.case(s + "eigvalsh", spd("f32", 2, 3, 3), lower=False)
    r.case(s + "schur_of", f32(2, 3))
    r.case(s + "schur", f32(2, 2), output="other")
    r.case(s + "hessenberg", f32(0, 0))
    r.case(s + "hessenberg", f32(2, 3))
    r.case(s + "hessenberg", f32(3, 3))
    for side in ("right", "left"):
        r.case(s + "polar", f32(3, 2), side=side)
        r.all_modes(s + "polar", f32(2, 2), side=side)
    r.case(s + "polar", f32(2, 2), side="above")
    r.case(s + "qr_multiply_of", f32(3, 2), f32(2, 3, values="~2"))
    r.case(s + "qr_multiply_of", f32(3, 2), f32(2, 2, values="~2"), how="left")
    r.case(s + "qr_multiply_of", f32(3, 2), f32(3, values="~2"), pivoting=True)
    r.case(s + "qr_multiply_of", f32(3, 2), f32(2, values="~2"), how="left", conjugate=True)
    r.case(s + "qr_multiply_of", f32(3, 2), f32(2, 2))
    r.all_modes(s + "solve", spd("f32", 3, 3), f32(3, values="~2"), assume_a="pos")
    r.all_modes(s + "solve", spd("f32", 3, 3), f32(3, 2, values="~2"), assume_a="pos", lower=True)
    r.all_modes(s + "solve", f32(3, 3), f32(3, values="~2"))
    r.case(s + "solve", spd("c64", 2, 2), Arg("c64", (2,), "~2"), assume_a="pos")
    r.case(s + "solve", spd("f32", 2, 2), f32(3), assume_a="pos")
    r.case(s + "solve", spd("f32", 2, 2), f32(2), assume_a="other")
    for trans in (0, 1, 2):
        r.all_modes(s + "solve_triangular", f32(3, 3), f32(3, values="~2"), trans=trans)
        r.case(s + "solve_triangular", Arg("c64", (2, 2), "~1"), Arg("c64", (2, 1), "~2"), trans=trans, lower=True)
    r.all_modes(s + "solve_triangular", f32(2, 2), f32(3, 2, 1, values="~2"), lower=True, unit_diagonal=True)
    for dtype in ("f16", "bf16"):
        r.all_modes(s + "solve_triangular", Arg(dtype, (3, 3), "~+1"), Arg(dtype, (3,), "~2"), lower=True, grad=False)
        r.case(s + "solve_triangular", Arg(dtype, (2, 2), "~+3"), Arg(dtype, (2, 2), "~4"), trans=1)
    r.case(s + "solve_triangular", f32(2, 2), f32(3))
    r.case(s + "solve_triangular", f32(2, 2), f32(2), trans=3)
    r.all_modes(s + "det", f32(3, 3))
    r.case(s + "det", f32(4, 4))
    r.case(s + "det", f32(2, 3))
    r.all_modes(s + "inv", spd("f32", 2, 2))
    r.case(s + "inv", spd("c64", 2, 2))
    r.case(s + "inv", f32(2, 3))
    r.case(s + "expm", Arg("f64", (3, 3), "~1"))
    r.case(s + "expm", Arg("f32", (2, 2), [40, 1, 0, 30]))
    r.case(s + "expm", Arg("f32", (2, 2), [1, 2, 0, 3]), upper_triangular=True)
    r.case(s + "expm", f32(2, 2, 2))
    r.case(s + "expm", f32(2, 2), max_squarings=0)
    r.case(s + "expm", Arg("f32", (2, 2), [400, 1, 0, 300]), max_squarings=2)
    r.case(s + "expm", f32(2, 3))
    r.case(s + "expm", Arg("f16", (2, 2), "~1"))
    r.all_modes(s + "expm_frechet", f32(2, 2), f32(2, 2, values="~2"), grad=False)
    r.case(s + "expm_frechet", f32(3, 3), f32(3, 3, values="~2"))
    r.case(s + "expm_frechet", f32(3, 3), f32(2, 2))
    r.case(s + "sqrtm", Arg("f64", (2, 2), "~s3"))
    r.case(s + "sqrtm", f32(2, 3))
    r.case(s + "rsf2csf_of", f32(2, 2, values="~3"))
    r.case(s + "rsf2csf", f32(2, 2), f32(3, 3))
    r.case(s + "funm", f32(2, 3))
    for how in ("schur", "eigen"):
        r.case(s + "solve_sylvester", f32(3, 3), f32(2, 2, values="~2"), f32(3, 2, values="~3"), method=how)
        r.case(s + "solve_sylvester", spd("f32", 2, 2), spd("f32", 2, 2, seed=2), f32(2, 2, values="~3"), method=how)
    r.case(s + "solve_sylvester", Arg("c64", (2, 2), "~1"), Arg("c64", (2, 2), "~2"), Arg("c64", (2, 2), "~3"))
    r.case(s + "solve_sylvester", f32(2, 2), f32(2, 2), f32(3, 2))
    r.all_modes(s + "block_diag", f32(2, 2), f32(1, values="~2"), f32(1, 3, values="~3"))
    r.case(s + "block_diag", f32(2, 2), f32(), Arg("i32", (1, 3), "~1"))
    r.case(s + "block_diag", f32(2, 0), f32(1, 2))
    r.case(s + "block_diag")
    r.case(s + "block_diag", f32(2, 2, 2))
    r.all_modes(s + "circulant", f32(3))
    r.case(s + "circulant", f32(2, 3))
    r.case(s + "circulant", Arg("i32", (3,), "~1"))
    r.case(s + "circulant", f32())
    r.all_modes(s + "toeplitz", f32(3))
    r.all_modes(s + "toeplitz", f32(2), f32(3, values="~2"))
    r.case(s + "toeplitz", Arg("c64", (2,), "~1"))
    r.case(s + "toeplitz", f32(2, 3), f32(2))
    r.case(s + "toeplitz", f32(0))
    r.all_modes(s + "hankel", f32(3))
    r.all_modes(s + "hankel", f32(2), f32(3, values="~2"))
    r.case(s + "hankel", f32(2, 2), f32(3))
    r.case(s + "hankel", f32())
    r.all_modes(s + "leslie", f32(3), f32(2, values="~2"))
    r.case(s + "leslie", f32(2, 3), f32(2))
    r.case(s + "leslie", f32(3), f32(3))
    r.all_modes(s + "companion", f32(4))
    r.case(s + "companion", Arg("i32", (3,), [1, -3, 2]))
    r.case(s + "companion", f32(2, 3))
    r.case(s + "companion", f32(1))
    r.all_modes(s + "fiedler", f32(3))
    r.case(s + "fiedler", Arg("i32", (2, 2), "~1"))
    r.case(s + "fiedler", f32())
    r.all_modes(s + "fiedler_companion", f32(5))
    r.case(s + "fiedler_companion", f32(2))
    r.case(s + "fiedler_companion", f32(1))
    r.case(s + "fiedler_companion", f32(0))
    for how in ("full", "same", "valid"):
        r.case(s + "convolution_matrix", f32(4), n=3, how=how)
        r.case(s + "convolution_matrix", f32(2), n=4, how=how)
    r.all_modes(s + "convolution_matrix", f32(3), n=2)
    r.case(s + "convolution_matrix", f32(2, 3), n=2)
    r.case(s + "convolution_matrix", f32(3), n=0)
    for n in (1, 2, 5):
        for name in ("hilbert", "invhilbert", "pascal", "invpascal", "helmert", "dft"):
            r.case(s + name, n=n)
        r.case(s + "helmert", n=n, full=True)
        for kind in ("symmetric", "lower", "upper"):
            r.case(s + "pascal", n=n, kind=kind)
            r.case(s + "invpascal", n=n, kind=kind)
        for scale in ("sqrtn", "n"):
            r.case(s + "dft", n=n, scale=scale)
    r.case(s + "hilbert", n=0)
    r.case(s + "helmert", n=0)
    r.case(s + "pascal", n=2, kind="other")
    r.case(s + "dft", n=2, dtype="c128")
    r.case(s + "dft", n=2, dtype="f32")
    for n in (1, 2, 4):
        r.case(s + "hadamard", n=n)
        r.case(s + "hadamard", n=n, dtype="f32")
    r.case(s + "hadamard", n=3)
    for dtype in ("f32", "c64", "f64"):
        r.case(s + "eigvalsh_tridiagonal", Arg("f32" if dtype == "c64" else dtype, (5,), "~1"), Arg("f32" if dtype == "c64" else dtype, (4,), "~2"), select_range=(0, 3) if dtype == "c64" else None)
        r.case(s + "eigh_tridiagonal_of", Arg("f32" if dtype == "c64" else dtype, (4,), "~3"), Arg("f32" if dtype == "c64" else dtype, (3,), "~+4"), select_range=(1, 2) if dtype == "c64" else None)
    r.case(s + "eigvalsh_tridiagonal", Arg("c64", (4,), [1, 2, 3, 5]), Arg("c64", (3,), "~2"))
    r.case(s + "eigvalsh_tridiagonal", f32(1), f32(0))
    r.case(s + "eigvalsh_tridiagonal", f32(3), Arg("i32", (2,), "~1"))
