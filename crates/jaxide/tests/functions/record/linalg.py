"""Linear algebra: `numpy.linalg`, and products of `numpy`."""

import jax
import jax.numpy as jnp
from jax import lax

from common import Arg

la = jnp.linalg


def f32(*shape, values="~1"):
    return Arg("f32", shape, values)


def spd(dtype, *shape, seed=1):
    return Arg(dtype, shape, f"~s{seed}")


def up_to_sign(x):
    """Columns of factors times their conjugate transposes: what does not depend on their phases."""
    return x @ x.mT.conj()


def eigh_projections(a, **kw):
    w, v = la.eigh(a, **kw)
    return w, (v * w[..., None, :].astype(v.dtype)) @ v.mT.conj()


def svd_product(a, **kw):
    u, s, vh = la.svd(a, **{**kw, "full_matrices": False})
    return s, (u * s[..., None, :].astype(u.dtype)) @ vh


def svd_shapes(a, **kw):
    u, s, vh = la.svd(a, **kw)
    return s, up_to_sign(u), up_to_sign(vh.mT)


def power_sums(w):
    """What does not depend on the order of eigenvalues."""
    return jnp.sum(w, axis=-1), jnp.sum(w * w, axis=-1)


def eig_residual(a):
    w, v = la.eig(a)
    return *power_sums(w), jnp.abs(a.astype(v.dtype) @ v - v * w[..., None, :]) < 2**-10


def eigvals_sums(a):
    return power_sums(la.eigvals(a))


def number(value):
    return {"inf": jnp.inf, "-inf": -jnp.inf}.get(value, value)


def order(f):
    return lambda x, ord=None, **kw: f(x, **({} if ord is None else {"ord": number(ord)}), **{
        key: tuple(value) if isinstance(value, list) else value for key, value in kw.items()})


def cond(x, p=None):
    return la.cond(x, p=number(p))


def einsum(*operands, spec, optimize=None, precision=None, dtype=None):
    spec = spec.replace("_", "->")
    kw = {} if optimize is None else {"optimize": optimize}
    if precision is not None:
        kw["precision"] = precision
    return jnp.einsum(spec, *operands, preferred_element_type=dtype, **kw)


def einsum_path(*operands, spec):
    path, _ = jnp.einsum_path(spec.replace("_", "->"), *operands)
    return [jnp.array(step) for step in path]


def tensordot(x, y, axes=2, left=None, right=None, dtype=None):
    if left is not None:
        axes = (left, right)
    return jnp.tensordot(x, y, axes, preferred_element_type=dtype)


def lstsq(a, b, rcond=None):
    return la.lstsq(a, b, rcond=rcond)


def qr_product(a, how="reduced"):
    q, r = la.qr(a, mode=how)
    return q @ r, up_to_sign(q)


FUNCTIONS = {
    "numpy.dot_with": lambda x, y, dtype=None: jnp.dot(x, y, preferred_element_type=dtype),
    "numpy.linalg.qr_r": lambda a: abs(la.qr(a, mode="r")),
    "numpy.linalg.singular_values": lambda a, hermitian=False: la.svd(a, compute_uv=False, hermitian=hermitian),
    "numpy.linalg.lstsq_of": lambda a, b: la.lstsq(a, b)[0],
    "numpy.linalg.eigh_of": eigh_projections,
    "numpy.linalg.svd_of": svd_product,
    "numpy.linalg.svd_full": svd_shapes,
    "numpy.linalg.eig_of": eig_residual,
    "numpy.linalg.eigvals_of": eigvals_sums,
    "numpy.linalg.qr_of": qr_product,
    "numpy.linalg.qr": lambda a, how="reduced": la.qr(a, mode=how),
    "numpy.linalg.norm": order(la.norm),
    "numpy.linalg.vector_norm": order(la.vector_norm),
    "numpy.linalg.matrix_norm": order(la.matrix_norm),
    "numpy.linalg.cond": cond,
    "numpy.linalg.multi_dot": lambda *arrays: la.multi_dot(arrays),
    "numpy.linalg.lstsq": lstsq,
    "numpy.einsum": einsum,
    "numpy.einsum_path": einsum_path,
    "numpy.tensordot": tensordot,
    "numpy.dot": lambda x, y, dtype=None, precision=None: jnp.dot(x, y, preferred_element_type=dtype, precision=precision),
    "numpy.linalg.matmul": lambda x, y, dtype=None, precision=None: la.matmul(x, y, preferred_element_type=dtype, precision=precision),
    "numpy.vdot": lambda x, y, dtype=None: jnp.vdot(x, y, preferred_element_type=dtype),
    "numpy.inner": lambda x, y, dtype=None: jnp.inner(x, y, preferred_element_type=dtype),
}


def products(r):
    r.all_modes("numpy.matmul", f32(2, 3), f32(3, 4, values="~2"))
    r.all_modes("numpy.matmul", f32(3), f32(3, 4, values="~2"))
    r.all_modes("numpy.matmul", f32(2, 3), f32(3, values="~2"))
    r.all_modes("numpy.matmul", f32(2, 1, 2, 3), f32(4, 3, 2, values="~2"))
    r.all_modes("numpy.matmul", f32(1, 2, 3), f32(1, 3, 2, values="~2"))
    r.case("numpy.matmul", Arg("i32", (2, 3), "~1"), f32(3, 2))
    r.case("numpy.matmul", Arg("c64", (2, 3), "~1"), f32(3, 2))
    r.case("numpy.matmul", f32(2, 0), f32(0, 2))
    r.case("numpy.matmul", f32(2, 3), f32(2, 3))
    r.case("numpy.matmul", f32(), f32(2, 3))
    r.all_modes("numpy.linalg.matmul", f32(2, 3), f32(3, 2, values="~2"), precision="highest")
    r.case("numpy.linalg.matmul", Arg("i8", (2, 3), "~1"), Arg("i8", (3, 2), "~2"), dtype="i32")
    r.case("numpy.linalg.matmul", Arg("f64", (2, 3), "~1"), Arg("f64", (3, 2), "~2"))
    r.all_modes("numpy.dot", f32(3), f32(3, values="~2"))
    r.all_modes("numpy.dot", f32(2, 3), f32(4, 3, 2, values="~2"))
    r.all_modes("numpy.dot", f32(), f32(3, values="~2"))
    r.case("numpy.dot", Arg("i32", (3,), "~1"), f32(3))
    r.case("numpy.dot", Arg("i8", (3,), "~1"), Arg("i8", (3,), "~2"), dtype="i32")
    r.case("numpy.dot", f32(3), f32(2))
    r.case("numpy.dot", Arg("f16", (3,), "~1"), Arg("f16", (3,), "~2"), dtype="f32")
    r.case("numpy.dot", f32(2, 2), f32(2, 2), precision="high")
    r.all_modes("numpy.vdot", f32(2, 3), f32(3, 2, values="~2"))
    r.all_modes("numpy.vdot", Arg("c64", (3,), "~1"), Arg("c64", (3,), "~2"))
    r.case("numpy.vdot", Arg("i32", (3,), "~1"), f32(3))
    r.case("numpy.vdot", f32(3), f32(2))
    r.all_modes("numpy.inner", f32(2, 3), f32(4, 3, values="~2"))
    r.all_modes("numpy.inner", f32(), f32(3, values="~2"))
    r.case("numpy.inner", Arg("i32", (3,), "~1"), Arg("i32", (3,), "~2"))
    r.case("numpy.inner", f32(2, 3), f32(2))
    r.all_modes("numpy.outer", f32(2, 2), f32(3, values="~2"))
    r.case("numpy.outer", Arg("i32", (2,), "~1"), f32(3))
    r.case("numpy.outer", f32(0), f32(3))
    r.all_modes("numpy.tensordot", f32(2, 3), f32(3, 2, values="~2"), axes=1)
    r.all_modes("numpy.tensordot", f32(2, 3), f32(2, 3, values="~2"))
    r.all_modes("numpy.tensordot", f32(2, 3), f32(4, 2, values="~2"), left=[0], right=[-1])
    r.all_modes("numpy.tensordot", f32(2, 3), f32(3, 2, values="~2"), left=[1, 0], right=[0, 1])
    r.case("numpy.tensordot", Arg("i32", (2,), "~1"), f32(3), axes=0)
    r.case("numpy.tensordot", f32(2, 3), f32(2, 3), axes=1)
    r.case("numpy.tensordot", f32(2, 3), f32(2), axes=2)
    for name in ("numpy.vecdot", "numpy.linalg.vecdot"):
        r.all_modes(name, f32(2, 3), f32(3, values="~2"))
        r.all_modes(name, Arg("c64", (2, 3), "~1"), Arg("c64", (2, 3), "~2"))
        r.case(name, f32(3, 2), f32(3, 2), axis=0)
        r.case(name, f32(3), f32(2))
    r.all_modes("numpy.matvec", f32(2, 3), f32(3, values="~2"))
    r.all_modes("numpy.matvec", f32(2, 2, 3), f32(2, 3, values="~2"))
    r.case("numpy.matvec", f32(2, 3), f32(2))
    r.all_modes("numpy.vecmat", f32(2), f32(2, 3, values="~2"))
    r.all_modes("numpy.vecmat", Arg("c64", (2,), "~1"), Arg("c64", (3, 2, 2), "~2"))
    r.case("numpy.vecmat", f32(3), f32(2, 3))
    r.all_modes("numpy.kron", f32(2, 2), f32(1, 3, values="~2"))
    r.all_modes("numpy.kron", f32(2), f32(2, 2, values="~2"))
    r.case("numpy.kron", Arg("i32", (2,), "~1"), f32(2))
    r.all_modes("numpy.cross", f32(2, 3), f32(2, 3, values="~2"))
    r.all_modes("numpy.cross", f32(3, 2), f32(3, 2, values="~2"), axis=0)
    r.case("numpy.cross", f32(3), f32(2, 3), axisc=0)
    r.case("numpy.cross", Arg("i32", (3,), "~1"), f32(3))
    r.case("numpy.cross", f32(2), f32(2))
    e = "numpy.einsum"
    r.all_modes(e, f32(2, 3), f32(3, 4, values="~2"), spec="ij,jk_ik")
    r.all_modes(e, f32(2, 3), f32(3, 4, values="~2"), spec="ij,jk")
    r.all_modes(e, f32(3, 3), spec="ii_i")
    r.all_modes(e, f32(3, 3), spec="ii")
    r.all_modes(e, f32(2, 3), spec="ij_ji")
    r.all_modes(e, f32(2, 3), spec="ij_")
    r.all_modes(e, f32(2, 3, 4), spec="ijk_k")
    r.all_modes(e, f32(2, 3, 4), f32(4, values="~2"), spec="...ij,j_...i")
    r.all_modes(e, f32(2, 3, 4), f32(1, 4, values="~2"), spec="bij,bj_bi")
    r.all_modes(e, f32(3, 2), f32(2, 4, values="~2"), spec="ij,kl_ik")
    r.all_modes(e, f32(2, 3), f32(3, 4, values="~2"), f32(4, 5, values="~3"), spec="ij,jk,kl_il")
    r.all_modes(e, f32(5, 2), f32(2, 3, values="~2"), f32(3, 4, values="~3"), f32(4, 2, values="~4"), spec="ij,jk,kl,lm_im")
    r.case(e, f32(5, 2), f32(2, 3), f32(3, 4), f32(4, 2), f32(2, 3), spec="ij,jk,kl,lm,mn_in")
    r.case(e, *[f32(2, 2, values=f"~{i}") for i in range(7)], spec="ab,bc,cd,de,ef,fg,gh_ah")
    r.case(e, *[f32(2, 2, values=f"~{i}") for i in range(9)], spec="ab,bc,cd,de,ef,fg,gh,hi,ij_aj")
    r.case(e, *[f32(2, values=f"~{i}") for i in range(15)], spec="a,a,b,b,c,c,d,d,e,e,f,f,g,g,h_h")
    r.case(e, f32(3), f32(2), f32(2, 3), spec="i,j,ji_")
    r.case(e, f32(3, 3, 2), f32(2, 3), spec="iij,ji_i")
    r.case(e, f32(2, 3), f32(3, 4), f32(4, 5), spec="ij,jk,kl_il", optimize=False)
    r.case(e, f32(2, 3), f32(3, 4), f32(4, 5), spec="ij,jk,kl_il", optimize=True)
    r.case(e, f32(2, 3), f32(3, 4), f32(4, 5), spec="ij,jk,kl_il", optimize="greedy")
    r.case(e, f32(2, 3), f32(3, 4), spec="ij,jk_ik", precision="highest")
    r.case(e, Arg("i32", (2, 3), "~1"), f32(3), spec="ij,j_i")
    r.case(e, Arg("bool", (2, 3), "~1"), Arg("bool", (3,), "~2"), spec="ij,j_i")
    r.case(e, Arg("i8", (3,), "~1"), Arg("i8", (3,), "~2"), spec="i,i", dtype="i32")
    r.case(e, Arg("f16", (2, 3), "~1"), spec="ij_i")
    r.case(e, Arg("c64", (2, 3), "~1"), Arg("c64", (3,), "~2"), spec="ij,j_i")
    r.case(e, f32(0, 3), f32(3), spec="ij,j_i")
    r.case(e, f32(2, 3), f32(2), spec="ij,j_i")
    r.case(e, f32(2, 3), spec="ijk_i")
    r.case(e, f32(2, 3), spec="ij_ii")
    r.case(e, f32(2, 3), spec="ij_k")
    r.case(e, f32(2, 3), f32(3), spec="ij_i")
    r.case("numpy.einsum_path", f32(2, 3), f32(3, 4), f32(4, 5), spec="ij,jk,kl_il")
    r.case("numpy.einsum_path", f32(2, 30), f32(30, 4), f32(4, 50), f32(50, 2), f32(2, 9), spec="ij,jk,kl,lm,mn_in")
    r.case("numpy.einsum_path", f32(2, 3), f32(3, 4), spec="ij,jk_ik")


def matrices(r):
    n = "numpy.linalg."
    r.all_modes(n + "cholesky", spd("f32", 3, 3))
    r.all_modes(n + "cholesky", spd("c64", 2, 2), upper=True)
    r.all_modes(n + "cholesky", spd("f32", 2, 2, 2), upper=True, symmetrize_input=False)
    r.case(n + "cholesky", Arg("i32", (2, 2), [4, 2, 2, 5]))
    r.case(n + "cholesky", spd("f64", 2, 2))
    r.case(n + "cholesky", f32(0, 0))
    r.case(n + "cholesky", Arg("f32", (2, 2), [1, 2, 2, 1]))
    r.case(n + "cholesky", f32(2, 3))
    for dtype in ("f32", "c64"):
        for size in (1, 2, 3, 4):
            r.all_modes(n + "det", Arg(dtype, (size, size), f"~{size}"))
            r.all_modes(n + "slogdet", Arg(dtype, (size, size), f"~{size}"))
    r.all_modes(n + "det", f32(2, 4, 4))
    r.case(n + "det", f32(0, 0))
    r.case(n + "det", Arg("i32", (4, 4), "~1"))
    r.case(n + "det", Arg("f64", (4, 4), "~1"))
    r.all_modes(n + "det", Arg("f32", (4, 4), [1, 2, 0, 0, 2, 4, 0, 0, 0, 0, 1, 0, 0, 0, 0, 3]))
    r.all_modes(n + "det", Arg("f32", (3, 3), [0, 2, 0, 0, 4, 0, 0, 0, 1]))
    r.case(n + "det", f32(2, 3))
    r.case(n + "slogdet", Arg("f32", (3, 3), [1, 2, 0, 2, 4, 0, 0, 0, 1]))
    r.case(n + "slogdet", f32(0, 0))
    r.all_modes(n + "slogdet", f32(2, 3, 3), method="qr")
    r.case(n + "slogdet", Arg("c64", (2, 2), "~1"), method="qr")
    r.case(n + "slogdet", f32(3))
    r.all_modes(n + "solve", spd("f32", 3, 3), f32(3, values="~2"))
    r.all_modes(n + "solve", f32(3, 3), f32(3, 2, values="~2"))
    r.all_modes(n + "solve", spd("c64", 2, 2), Arg("c64", (2,), "~2"))
    r.all_modes(n + "solve", spd("f32", 2, 2, 2), f32(2, 1, values="~2"))
    r.case(n + "solve", spd("f32", 2, 2, 2), f32(2))
    r.case(n + "solve", Arg("i32", (2, 2), [2, 0, 1, 4]), Arg("i32", (2,), [2, 9]))
    r.case(n + "solve", Arg("f64", (2, 2), "~1"), Arg("f64", (2,), "~2"))
    r.case(n + "solve", f32(0, 0), f32(0))
    r.case(n + "solve", f32(2, 2), f32(3))
    r.case(n + "solve", f32(2, 3), f32(2))
    r.all_modes(n + "inv", spd("f32", 3, 3))
    r.all_modes(n + "inv", f32(2, 2, 2, values="~4"))
    r.case(n + "inv", spd("c64", 2, 2))
    r.case(n + "inv", f32(0, 0))
    r.case(n + "inv", f32(3))
    r.case(n + "inv", spd("f64", 2, 2))
    r.all_modes(n + "pinv", f32(3, 2))
    r.all_modes(n + "pinv", f32(2, 3))
    r.all_modes(n + "pinv", f32(2, 2, 3), rtol=0.001)
    r.all_modes(n + "pinv", spd("f32", 3, 3), hermitian=True)
    r.case(n + "pinv", Arg("c64", (3, 2), "~1"))
    r.case(n + "pinv", f32(0, 2))
    r.case(n + "pinv", f32(3))
    r.all_modes(n + "lstsq", f32(4, 2), f32(4, values="~2"))
    r.all_modes(n + "lstsq_of", f32(2, 3), f32(2, 2, values="~2"))
    r.case(n + "lstsq", f32(4, 2), f32(4), rcond=0.1)
    r.case(n + "lstsq", Arg("f32", (3, 2), [1, 1, 1, 1, 1, 1]), f32(3))
    r.case(n + "lstsq", Arg("c64", (3, 2), "~1"), Arg("c64", (3,), "~2"))
    r.case(n + "lstsq", f32(0, 2), f32(0))
    r.case(n + "lstsq", f32(3, 2), f32(2))
    for ord in (None, "fro", "nuc", 1, -1, 2, -2, "inf", "-inf"):
        r.all_modes(n + "norm", f32(3, 2), ord=ord)
        r.case(n + "norm", f32(2, 3, 2), ord=ord, axis=(2, 0), keepdims=True)
        if ord is not None:
            r.case(n + "matrix_norm", f32(2, 3, 2), ord=ord)
    for ord in (None, 0, 1, 2, 3, -2, 2.5, "inf", "-inf"):
        r.all_modes(n + "norm", f32(3), ord=ord)
        r.case(n + "norm", Arg("c64", (2, 3), "~1"), ord=ord, axis=0)
        r.all_modes(n + "vector_norm", f32(2, 3), ord=ord, axis=1)
    r.all_modes(n + "norm", f32(2, 3, 2))
    r.case(n + "norm", f32(2, 3, 2), keepdims=True)
    r.case(n + "norm", Arg("i32", (3,), "~1"))
    r.case(n + "norm", Arg("f16", (3,), "~1"))
    r.case(n + "norm", Arg("f64", (3,), "~1"))
    r.case(n + "norm", f32(0))
    r.case(n + "norm", f32(0), ord="-inf")
    r.case(n + "norm", f32(2, 3, 2), ord=1)
    r.case(n + "norm", f32(2, 3), ord=7)
    r.case(n + "norm", f32(3), ord="fro")
    r.case(n + "norm", f32(3), axis=1)
    r.case(n + "vector_norm", f32(2, 3, 2), axis=(0, 2), keepdims=True)
    r.case(n + "vector_norm", Arg("i32", (3,), "~1"))
    r.case(n + "vector_norm", Arg("i32", (3,), "~1"), ord=3)
    r.all_modes(n + "matrix_norm", f32(2, 3), keepdims=True)
    r.case(n + "matrix_norm", f32(3))
    r.all_modes(n + "matrix_power", f32(2, 2), n=5)
    r.all_modes(n + "matrix_power", f32(2, 2), n=3)
    r.all_modes(n + "matrix_power", spd("f32", 2, 2), n=-2)
    r.case(n + "matrix_power", Arg("i32", (2, 2), "~1"), n=2)
    r.case(n + "matrix_power", f32(2, 2, 2), n=0)
    r.case(n + "matrix_power", f32(2, 3), n=2)
    r.case(n + "matrix_rank", f32(3, 2))
    r.case(n + "matrix_rank", Arg("f32", (3, 3), [1, 2, 3, 2, 4, 6, 0, 0, 1]))
    r.case(n + "matrix_rank", f32(2, 2, 3), rtol=0.5)
    r.case(n + "matrix_rank", spd("f32", 3, 3), hermitian=True)
    r.case(n + "matrix_rank", Arg("i32", (3,), "~1"))
    r.case(n + "matrix_rank", f32(3, 2), mode="vmap")
    for p in (None, 2, -2, 1, "fro", "inf"):
        r.all_modes(n + "cond", spd("f32", 2, 2), p=p)
    r.case(n + "cond", f32(3, 2))
    r.case(n + "cond", Arg("f32", (2, 2), [0, 0, 0, 0]))
    r.case(n + "cond", f32(3, 2), p=1)
    r.case(n + "cond", f32(0, 2))
    r.all_modes(n + "multi_dot", f32(2, 3), f32(3, 4, values="~2"), f32(4, 2, values="~3"))
    r.all_modes(n + "multi_dot", f32(3), f32(3, 4, values="~2"), f32(4, values="~3"))
    r.case(n + "multi_dot", f32(2, 3), f32(3, 4))
    r.case(n + "multi_dot", f32(2, 3), f32(2, 3))
    r.all_modes(n + "cross", f32(2, 3), f32(2, 3, values="~2"))
    r.all_modes(n + "cross", f32(3, 2), f32(3, 2, values="~2"), axis=0)
    r.case(n + "cross", f32(2), f32(3))
    r.all_modes(n + "outer", f32(2), f32(3, values="~2"))
    r.case(n + "outer", Arg("i32", (2,), "~1"), f32(3))
    r.case(n + "outer", f32(2, 2), f32(3))
    r.all_modes(n + "matrix_transpose", f32(2, 3, 2))
    r.case(n + "matrix_transpose", Arg("c64", (2, 3), "~1"))
    r.case(n + "matrix_transpose", f32(3))
    r.all_modes(n + "diagonal", f32(3, 3))
    r.all_modes(n + "diagonal", f32(2, 3, 4), offset=1)
    r.case(n + "diagonal", f32(3, 3), offset=-1)
    r.case(n + "diagonal", Arg("bool", (2, 2), "~1"))
    r.case(n + "diagonal", f32(2, 3), offset=5)
    r.case(n + "diagonal", f32(3))
    r.all_modes(n + "trace", f32(3, 3))
    r.all_modes(n + "trace", f32(2, 3, 4), offset=-1)
    r.case(n + "trace", Arg("i8", (2, 2), "~1"))
    r.case(n + "trace", Arg("i32", (3, 3), "~1"), offset=1, dtype="i16")
    r.case(n + "trace", Arg("f16", (2, 2), "~1"))
    r.case(n + "trace", f32(3))
    r.all_modes(n + "tensorinv", Arg("f32", (2, 2, 4), "~3"))
    r.case(n + "tensorinv", f32(4, 2, 2), ind=1)
    r.case(n + "tensorinv", f32(2, 3, 4))
    r.all_modes(n + "tensorsolve", f32(2, 3, 6), f32(2, 3, values="~2"))
    r.case(n + "tensorsolve", f32(6, 2, 3), f32(2, 3), axes=(0,))
    r.case(n + "tensorsolve", f32(2, 3, 6), f32(3, 2))
    for dtype in ("f32", "c64"):
        r.all_modes(n + "eigh_of", spd(dtype, 3, 3))
        r.all_modes(n + "eigvalsh", spd(dtype, 3, 3))
        r.all_modes(n + "svd_of", Arg(dtype, (3, 2), "~1"))
        r.all_modes(n + "svdvals", Arg(dtype, (2, 3), "~1"))
        r.case(n + "svd_full", Arg(dtype, (3, 2), "~1"))
        r.all_modes(n + "qr_of", Arg(dtype, (3, 2), "~1"))
        r.case(n + "eig_of", Arg(dtype, (3, 3), "~1"))
        r.case(n + "eig_of", Arg(dtype, (3, 3), "~2"))
        r.case(n + "eig_of", Arg(dtype, (2, 2, 2), "~3"))
        r.case(n + "eigvals_of", Arg(dtype, (3, 3), "~1"))
        r.case(n + "eigvals_of", Arg(dtype, (3, 3), "~2"))
        r.case(n + "eigvals_of", Arg(dtype, (2, 2), "~3"))
    r.case(n + "eigh_of", spd("f32", 2, 2), UPLO="U", symmetrize_input=False)
    r.case(n + "eigh", f32(2, 3))
    r.case(n + "eigh", spd("f32", 2, 2), UPLO="X")
    r.case(n + "eigvalsh", spd("f32", 2, 2), UPLO="U")
    r.case(n + "eigvalsh", f32(0, 0))
    r.case(n + "eigvals", f32(2, 3))
    r.case(n + "eig", f32(3))
    r.case(n + "svd_of", spd("f32", 3, 3), hermitian=True)
    r.case(n + "svd", f32(3))
    r.case(n + "svd_of", f32(2, 2, 3))
    r.case(n + "svdvals", f32(0, 2))
    r.case(n + "qr_of", f32(2, 3))
    r.case(n + "qr_of", f32(3, 2), how="complete")
    r.case(n + "qr", f32(3, 2), how="raw")
    r.case(n + "qr", f32(3, 2), how="r")
    r.case(n + "qr", f32(3, 2))
    r.case(n + "qr", f32(3, 2), how="other")
    r.case(n + "qr", f32(3))


def cases(r):
    products(r)
    matrices(r)
    r.all_modes("numpy.dot_with", f32(3), f32(3, values="~2"), dtype="f32")
    r.case("numpy.linalg.qr_r", f32(3, 2))
    r.case("numpy.linalg.qr_r", f32(2, 2, 3))
    r.case("numpy.linalg.qr_r", f32(3))
    r.all_modes("numpy.linalg.singular_values", f32(3, 2))
    r.case("numpy.linalg.singular_values", spd("f32", 3, 3), hermitian=True)
