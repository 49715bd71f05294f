//! `scipy.linalg`.

use jaxide::prelude::*;
use jaxide::scipy::linalg::{self, EighTridiagonal, Expm, GeneralizedEigh, Solve, SolveTriangular};
use jaxide::{lax, numpy};

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

/// More than JAX does.
const WHOLE: &str = "JAX refuses whole numbers, which are converted here";
/// Iterations.
const LOOPS: &str = "loops carry less, and sums over masks are sums over what is there";

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/scipy_linalg.txt"),
    call,
    tolerance,
    written_differently: &[
        ("scipy.linalg.sqrtm", LOOPS),
        ("scipy.linalg.rsf2csf_of", LOOPS),
        ("scipy.linalg.funm", LOOPS),
        ("scipy.linalg.expm", LOOPS),
        ("scipy.linalg.solve_sylvester", LOOPS),
        ("scipy.linalg.eigvalsh_tridiagonal", LOOPS),
        ("scipy.linalg.eigh_tridiagonal_of", LOOPS),
    ],
    different: &[
        ("scipy.linalg.polar ; u8", WHOLE),
        ("scipy.linalg.polar ; bool", WHOLE),
        ("scipy.linalg.polar ; i8", WHOLE),
        ("scipy.linalg.expm_frechet ; u8", WHOLE),
    ],
    text: |_, _| None,
};

fn pair((x, y): (Array, Array)) -> Vec<Array> {
    vec![x, y]
}

fn adjoint(x: &Array) -> Array {
    let x = numpy::linalg::matrix_transpose(x);
    if x.dtype().is_complex() {
        lax::conj(&x)
    } else {
        x
    }
}

fn times_adjoint(x: &Array) -> Array {
    numpy::matmul(x, &adjoint(x))
}

fn similar(z: &Array, t: &Array) -> Array {
    numpy::matmul(&numpy::matmul(z, t), &numpy::transpose(&numpy::conj(z), ()))
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let name = case.function.strip_prefix("scipy.linalg.")?;
    if let Some(result) = special(name, case, x) {
        return Some(vec![result]);
    }
    factored(name, case, x)
}

fn special(name: &str, case: &Case, x: &[Array]) -> Option<Array> {
    let n = || usize::try_from(case.integer("n").unwrap()).unwrap();
    let kind = || case.parameter("kind").unwrap_or("symmetric");
    let flag = |key: &str, default: bool| case.flag(key).unwrap_or(default);
    Some(match name {
        "hilbert" => linalg::hilbert(n()),
        "invhilbert" => linalg::invhilbert(n()),
        "pascal" => linalg::pascal(n(), kind()),
        "invpascal" => linalg::invpascal(n(), kind()),
        "helmert" => linalg::helmert(n(), flag("full", false)),
        "hadamard" => match case.dtype() {
            Some(dtype) => linalg::hadamard(n(), dtype),
            None => linalg::hadamard(n(), ()),
        },
        "dft" => {
            let mut options = linalg::Dft::new();
            if let Some(scale) = case.parameter("scale") {
                options = options.scale(scale);
            }
            if let Some(dtype) = case.dtype() {
                options = options.dtype(dtype);
            }
            linalg::dft(n(), options)
        }
        "block_diag" => linalg::block_diag(x),
        "circulant" => linalg::circulant(&x[0]),
        "toeplitz" if x.len() == 1 => linalg::toeplitz(&x[0], ()),
        "toeplitz" => linalg::toeplitz(&x[0], &x[1]),
        "hankel" if x.len() == 1 => linalg::hankel(&x[0], ()),
        "hankel" => linalg::hankel(&x[0], &x[1]),
        "leslie" => linalg::leslie(&x[0], &x[1]),
        "companion" => linalg::companion(&x[0]),
        "fiedler" => linalg::fiedler(&x[0]),
        "fiedler_companion" => linalg::fiedler_companion(&x[0]),
        "convolution_matrix" => match case.parameter("how") {
            Some(how) => linalg::convolution_matrix(&x[0], n(), how),
            None => linalg::convolution_matrix(&x[0], n(), ()),
        },
        "det" => linalg::det(&x[0]),
        "inv" => linalg::inv(&x[0]),
        "solve" => {
            let options = Solve::new()
                .lower(flag("lower", false))
                .assume_a(case.parameter("assume_a").unwrap_or("gen"));
            linalg::solve(&x[0], &x[1], options)
        }
        "solve_triangular" => {
            let options = SolveTriangular::new()
                .trans(case.integer("trans").unwrap_or(0) as i32)
                .lower(flag("lower", false))
                .unit_diagonal(flag("unit_diagonal", false));
            linalg::solve_triangular(&x[0], &x[1], options)
        }
        "solve_sylvester" => match case.parameter("method") {
            Some(method) => linalg::solve_sylvester(&x[0], &x[1], &x[2], method),
            None => linalg::solve_sylvester(&x[0], &x[1], &x[2], ()),
        },
        "cho_solve" => {
            let (factor, lower) = linalg::cho_factor(&x[0], flag("lower", false));
            linalg::cho_solve((&factor, lower), &x[1])
        }
        "lu_solve" => {
            let (lu, pivots) = linalg::lu_factor(&x[0]);
            let trans = case.integer("trans").unwrap_or(0) as i32;
            linalg::lu_solve((&lu, &pivots), &x[1], trans)
        }
        "expm" => {
            let squarings = case.integer("max_squarings").unwrap_or(16) as usize;
            let options = Expm::new()
                .upper_triangular(flag("upper_triangular", false))
                .max_squarings(squarings);
            linalg::expm(&x[0], options)
        }
        "sqrtm" => linalg::sqrtm(&x[0]),
        "funm" => linalg::funm(&x[0], |x: &Array| x.sin() + 2 * x.cos()),
        _ => return None,
    })
}

fn factored(name: &str, case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let a = &x[0];
    let flag = |key: &str, default: bool| case.flag(key).unwrap_or(default);
    let how = |default: &'static str| case.parameter("how").unwrap_or(default);
    Some(match name {
        "cholesky" => vec![linalg::cholesky(a, flag("lower", false))],
        "lu_factor" => pair(linalg::lu_factor(a)),
        "lu" if flag("permute_l", false) => pair(linalg::lu_permuted(a)),
        "lu" => {
            let (p, l, u) = linalg::lu(a);
            vec![p, l, u]
        }
        "qr" => pair(linalg::qr(a, how("full"))),
        "qr_of" if flag("pivoting", false) => {
            let (q, r, p) = linalg::qr_pivoted(a, how("full"));
            vec![numpy::matmul(&q, &r), p]
        }
        "qr_of" => {
            let (q, r) = linalg::qr(a, how("full"));
            vec![numpy::matmul(&q, &r)]
        }
        "qr_multiply_of" => {
            let options = linalg::QrMultiply::new()
                .mode(how("right"))
                .conjugate(flag("conjugate", false));
            if flag("pivoting", false) {
                let (q, r, p) = linalg::qr_multiply_pivoted(a, &x[1], options);
                vec![q.abs(), r.abs(), p]
            } else {
                let (q, r) = linalg::qr_multiply(a, &x[1], options);
                vec![q.abs(), r.abs()]
            }
        }
        "svd" | "svd_of" => {
            let full = flag("full_matrices", false);
            let (u, s, vh) = linalg::svd(a, linalg::Svd::new().full_matrices(full));
            vec![
                s,
                times_adjoint(&u),
                times_adjoint(&numpy::linalg::matrix_transpose(&vh)),
            ]
        }
        "eigvalsh" => vec![linalg::eigvalsh(a, flag("lower", true))],
        "eigh_of" => {
            let (w, v) = match x.get(1) {
                Some(b) => {
                    let kind = case.integer("kind").unwrap_or(1) as u8;
                    linalg::eigh_generalized(a, b, GeneralizedEigh::new().kind(kind))
                }
                None => linalg::eigh(a, true),
            };
            vec![w, times_adjoint(&v)]
        }
        "schur" => pair(linalg::schur(a, case.parameter("output").unwrap())),
        "schur_of" => {
            let (t, z) = linalg::schur(a, case.parameter("output").unwrap_or("real"));
            vec![similar(&z, &t)]
        }
        "hessenberg" => vec![linalg::hessenberg(a)],
        "hessenberg_of" => {
            let (h, q) = linalg::hessenberg_with_q(a);
            vec![numpy::matmul(&numpy::matmul(&q, &h), &adjoint(&q))]
        }
        "polar" => pair(linalg::polar(a, case.parameter("side").unwrap_or("right"))),
        "expm_frechet" => pair(linalg::expm_frechet(a, &x[1])),
        "rsf2csf" => pair(linalg::rsf2csf(a, &x[1])),
        "rsf2csf_of" => {
            let (t, z) = linalg::schur(a, ());
            let (t, z) = linalg::rsf2csf(&t, &z);
            let rows = numpy::arange(t.shape()[0], DType::I32);
            let below = numpy::greater(&numpy::expand_dims(&rows, 1), &rows);
            let below = numpy::where_(&below, &t, &Array::from(0));
            vec![similar(&z, &t), below]
        }
        "eigvalsh_tridiagonal" => vec![linalg::eigvalsh_tridiagonal(a, &x[1], selected(case))],
        "eigh_tridiagonal_of" => {
            let (w, v) = linalg::eigh_tridiagonal(a, &x[1], selected(case));
            let product = numpy::matmul(&(&v * w.astype(v.dtype())), &adjoint(&v));
            vec![w, product]
        }
        _ => return None,
    })
}

fn selected(case: &Case) -> EighTridiagonal {
    match case.list("select_range").as_deref() {
        Some(&[first, last]) => {
            EighTridiagonal::new().select_range((first as usize, last as usize))
        }
        _ => EighTridiagonal::new(),
    }
}

fn tolerance(case: &Case) -> Tolerance {
    match case.function.strip_prefix("scipy.linalg.").unwrap() {
        "block_diag" | "circulant" | "toeplitz" | "hankel" | "leslie" | "hadamard"
        | "convolution_matrix" => Tolerance::EXACT,
        "expm"
        | "expm_frechet"
        | "sqrtm"
        | "funm"
        | "rsf2csf_of"
        | "solve_sylvester"
        | "eigh_tridiagonal_of" => Tolerance::of_largest(256.0),
        _ => Tolerance::of_largest(64.0),
    }
}
