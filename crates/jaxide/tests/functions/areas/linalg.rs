//! Linear algebra, and products.

use jaxide::core::prims::Precision;
use jaxide::lax;
use jaxide::numpy::linalg::{self, Cholesky, Eigh, MatrixNorm, Norm, NormOrder, Svd, VectorNorm};
use jaxide::numpy::{self, Cross, Einsum, Optimize, Product, Tensordot};
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

/// Why solutions are written differently.
pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/linalg.txt"),
    call,
    tolerance,
    written_differently: &[(
        "numpy.einsum_path spec=ij,jk,kl",
        "equal constants are one here, and JAX keeps each",
    )],
    different: &[(
        "numpy.linalg.vector_norm ord=3 ; i32",
        "the inverse of the order is not rounded to a whole number",
    )],
    text,
};

fn pair((x, y): (Array, Array)) -> Vec<Array> {
    vec![x, y]
}

/// Factors times their conjugate transposes: what does not depend on phases.
fn up_to_sign(x: &Array) -> Array {
    numpy::matmul(x, &adjoint(x))
}

fn adjoint(x: &Array) -> Array {
    let x = linalg::matrix_transpose(x);
    if x.dtype().is_complex() {
        lax::conj(&x)
    } else {
        x
    }
}

/// What does not depend on the order of eigenvalues.
fn power_sums(w: &Array) -> [Array; 2] {
    [numpy::sum(w, -1), numpy::sum(&(w * w), -1)]
}

/// Columns times numbers.
fn scaled(x: &Array, by: &Array) -> Array {
    x * numpy::expand_dims(by, -2).astype(x.dtype())
}

fn order(case: &Case) -> Option<NormOrder> {
    Some(match case.parameter("ord").or(case.parameter("p"))? {
        "inf" => f64::INFINITY.into(),
        "-inf" => f64::NEG_INFINITY.into(),
        text => match text.parse::<f64>() {
            Ok(number) => number.into(),
            Err(_) => text.into(),
        },
    })
}

fn product(case: &Case) -> Product {
    let mut product = Product::new().preferred_element_type(case.dtype());
    if let Some(precision) = precision(case) {
        product = product.precision(precision);
    }
    product
}

fn precision(case: &Case) -> Option<Precision> {
    Some(match case.parameter("precision")? {
        "highest" => Precision::Highest,
        "high" => Precision::High,
        other => panic!("{other}"),
    })
}

fn einsum_options(case: &Case) -> Einsum {
    let mut options = Einsum::new().preferred_element_type(case.dtype());
    if let Some(precision) = precision(case) {
        options = options.precision(precision);
    }
    match case.parameter("optimize") {
        Some("greedy") => options.optimize(Optimize::Greedy),
        Some(flag) => options.optimize(flag == "true"),
        None => options,
    }
}

fn products(name: &str, case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let spec = || case.parameter("spec").unwrap().replace('_', "->");
    let cross = || {
        let mut options = Cross::new();
        if let Some(axis) = case.integer("axis") {
            options = options.axis(axis);
        }
        if let Some(axis) = case.integer("axisc") {
            options = options.axisc(axis);
        }
        options
    };
    let tensordot = || {
        let options = match (case.list("left"), case.list("right")) {
            (Some(left), Some(right)) => Tensordot::from((&left[..], &right[..])),
            _ => case
                .integer("axes")
                .map_or(Tensordot::new(), Tensordot::from),
        };
        options.preferred_element_type(case.dtype())
    };
    let axis = || case.integer("axis").unwrap_or(-1);
    Some(vec![match name {
        "matmul" => numpy::matmul(&x[0], &x[1]),
        "linalg.matmul" => linalg::matmul(&x[0], &x[1], product(case)),
        "dot" | "dot_with" => numpy::dot_with(&x[0], &x[1], product(case)),
        "vdot" => numpy::vdot(&x[0], &x[1], product(case)),
        "inner" => numpy::inner(&x[0], &x[1], product(case)),
        "outer" => numpy::outer(&x[0], &x[1]),
        "linalg.outer" => linalg::outer(&x[0], &x[1]),
        "tensordot" => numpy::tensordot(&x[0], &x[1], tensordot()),
        "vecdot" => numpy::vecdot(&x[0], &x[1], axis()),
        "linalg.vecdot" => linalg::vecdot(&x[0], &x[1], axis()),
        "matvec" => numpy::matvec(&x[0], &x[1]),
        "vecmat" => numpy::vecmat(&x[0], &x[1]),
        "kron" => numpy::kron(&x[0], &x[1]),
        "cross" => numpy::cross(&x[0], &x[1], cross()),
        "linalg.cross" => linalg::cross(&x[0], &x[1], cross()),
        "einsum" => numpy::einsum(&spec(), x, einsum_options(case)),
        "einsum_path" => {
            let path = numpy::einsum_path(&spec(), x, ());
            // The positions are numbers of the program: the record has them in JAX's default type.
            let wide = x.iter().any(|x| x.dtype() == DType::F64);
            let step = |step: &Vec<usize>| match wide {
                true => Array::from(step.iter().map(|&at| at as i64).collect::<Vec<i64>>()),
                false => Array::from(step.iter().map(|&at| at as i32).collect::<Vec<i32>>()),
            };
            return Some(path.iter().map(step).collect());
        }
        "linalg.multi_dot" => linalg::multi_dot(x, ()),
        _ => return None,
    }])
}

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let name = case.function.strip_prefix("numpy.")?;
    if let Some(results) = products(name, case, x) {
        return Some(results);
    }
    let one = |array: Array| Some(vec![array]);
    let flag = |key: &str, default: bool| case.flag(key).unwrap_or(default);
    let a = &x[0];
    match name.strip_prefix("linalg.")? {
        "cholesky" => one(linalg::cholesky(
            a,
            Cholesky::new()
                .upper(flag("upper", false))
                .symmetrize_input(flag("symmetrize_input", true)),
        )),
        "det" => one(linalg::det(a)),
        "slogdet" => Some(pair(match case.parameter("method") {
            Some(method) => linalg::slogdet(a, linalg::Slogdet::new().method(method)),
            None => linalg::slogdet(a, ()),
        })),
        "solve" => one(linalg::solve(a, &x[1])),
        "inv" => one(linalg::inv(a)),
        "pinv" => {
            let options = linalg::Pinv::new().hermitian(flag("hermitian", false));
            one(match case.float("rtol") {
                Some(rtol) => linalg::pinv(a, options.rtol(rtol)),
                None => linalg::pinv(a, options),
            })
        }
        "lstsq" => {
            let (x, residuals, rank, s) = match case.float("rcond") {
                Some(rcond) => linalg::lstsq(a, &x[1], rcond),
                None => linalg::lstsq(a, &x[1], ()),
            };
            Some(vec![x, residuals, rank, s])
        }
        "lstsq_of" => one(linalg::lstsq(a, &x[1], ()).0),
        "norm" => {
            let mut options = Norm::new().keepdims(flag("keepdims", false));
            if let Some(axes) = case.list("axis") {
                options = options.axis(axes);
            }
            if let Some(order) = order(case) {
                options = options.ord(order);
            }
            one(linalg::norm(a, options))
        }
        "vector_norm" => {
            let mut options = VectorNorm::new().keepdims(flag("keepdims", false));
            if let Some(axes) = case.list("axis") {
                options = options.axis(axes);
            }
            if let Some(order) = order(case) {
                options = options.ord(order);
            }
            one(linalg::vector_norm(a, options))
        }
        "matrix_norm" => {
            let mut options = MatrixNorm::new().keepdims(flag("keepdims", false));
            if let Some(order) = order(case) {
                options = options.ord(order);
            }
            one(linalg::matrix_norm(a, options))
        }
        "cond" => one(match order(case) {
            Some(order) => linalg::cond(a, order),
            None => linalg::cond(a, ()),
        }),
        "matrix_power" => one(linalg::matrix_power(a, case.integer("n").unwrap())),
        "matrix_rank" => {
            let options = linalg::MatrixRank::new().hermitian(flag("hermitian", false));
            one(match case.float("rtol") {
                Some(rtol) => linalg::matrix_rank(a, options.rtol(rtol)),
                None => linalg::matrix_rank(a, options),
            })
        }
        "matrix_transpose" => one(linalg::matrix_transpose(a)),
        "diagonal" => one(match case.integer("offset") {
            Some(offset) => linalg::diagonal(a, offset as i32),
            None => linalg::diagonal(a, ()),
        }),
        "trace" => {
            let offset = case.integer("offset").unwrap_or(0);
            let options = linalg::Trace::new().offset(offset).dtype(case.dtype());
            one(linalg::trace(a, options))
        }
        "tensorinv" => one(linalg::tensorinv(
            a,
            case.integer("ind").unwrap_or(2) as usize,
        )),
        "tensorsolve" => one(match case.list("axes") {
            Some(axes) => linalg::tensorsolve(a, &x[1], axes),
            None => linalg::tensorsolve(a, &x[1], ()),
        }),
        name => factors(name, case, a),
    }
}

fn factors(name: &str, case: &Case, a: &Array) -> Option<Vec<Array>> {
    let flag = |key: &str, default: bool| case.flag(key).unwrap_or(default);
    let eigh = || {
        let triangle = case
            .parameter("UPLO")
            .unwrap_or("L")
            .chars()
            .next()
            .unwrap();
        Eigh::new()
            .uplo(triangle)
            .symmetrize_input(flag("symmetrize_input", true))
    };
    Some(match name {
        "eigh" => pair(linalg::eigh(a, eigh())),
        "eigh_of" => {
            let (w, v) = linalg::eigh(a, eigh());
            vec![w.clone(), numpy::matmul(&scaled(&v, &w), &adjoint(&v))]
        }
        "eigvalsh" => vec![linalg::eigvalsh(a, eigh())],
        "eig" => pair(linalg::eig(a)),
        "eig_of" => {
            let (w, v) = linalg::eig(a);
            let [sum, squares] = power_sums(&w);
            let left = numpy::matmul(&a.astype(v.dtype()), &v) - scaled(&v, &w);
            let small = numpy::less(&left.abs(), &Array::from(0.000_976_562_5));
            vec![sum, squares, small]
        }
        "eigvals" => vec![linalg::eigvals(a)],
        "eigvals_of" => power_sums(&linalg::eigvals(a)).to_vec(),
        "svd" => {
            let (u, s, vh) = linalg::svd(a, ());
            vec![u, s, vh]
        }
        "svd_of" => {
            let how = Svd::new()
                .full_matrices(false)
                .hermitian(flag("hermitian", false));
            let (u, s, vh) = linalg::svd(a, how);
            vec![s.clone(), numpy::matmul(&scaled(&u, &s), &vh)]
        }
        "svd_full" => {
            let (u, s, vh) = linalg::svd(a, ());
            vec![
                s,
                up_to_sign(&u),
                up_to_sign(&linalg::matrix_transpose(&vh)),
            ]
        }
        "qr_r" => vec![linalg::qr_r(a).abs()],
        "singular_values" => {
            let how = Svd::new().hermitian(flag("hermitian", false));
            vec![linalg::singular_values(a, how)]
        }
        "svdvals" => vec![linalg::svdvals(a)],
        "qr" => match case.parameter("how") {
            Some("r") => vec![linalg::qr_r(a)],
            Some(mode) => pair(linalg::qr(a, linalg::Qr::new().mode(mode))),
            None => pair(linalg::qr(a, ())),
        },
        "qr_of" => {
            let mode = case.parameter("how").unwrap_or("reduced");
            let (q, r) = linalg::qr(a, linalg::Qr::new().mode(mode));
            vec![numpy::matmul(&q, &r), up_to_sign(&q)]
        }
        _ => return None,
    })
}

fn tolerance(case: &Case) -> Tolerance {
    match case.function.as_str() {
        "numpy.linalg.matrix_transpose" | "numpy.linalg.diagonal" | "numpy.linalg.matrix_rank" => {
            Tolerance::EXACT
        }
        name if name.starts_with("numpy.linalg.") => Tolerance::of_largest(64.0),
        _ => Tolerance::of_largest(4.0),
    }
}

fn text(name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let one = |array: Array| Some(vec![array]);
    match name {
        "cond_number" => one(linalg::cond(&x[0], ())),
        "cross" => one(numpy::cross(&x[0], &x[1], ())),
        "diagonal" => one(linalg::diagonal(&x[0], 1)),
        "dot" | "dot_x64" => one(numpy::dot(&x[0], &x[1])),
        "einsum_ij_ji" => one(numpy::einsum("ij,kj->ik", x, ())),
        "inner" => one(numpy::inner(&x[0], &x[1], ())),
        "kron" => one(numpy::kron(&x[0], &x[1])),
        "lstsq" => one(linalg::lstsq(&x[0], &x[1], ()).0),
        "matmul" => one(numpy::matmul(&x[0], &x[1])),
        "matrix_power" => one(linalg::matrix_power(&x[0], 5)),
        "matrix_rank" => one(linalg::matrix_rank(&x[0], ())),
        "matrix_transpose" | "matrix_transpose_x64" => one(linalg::matrix_transpose(&x[0])),
        "multi_dot" => one(linalg::multi_dot(x, ())),
        "norm" => one(linalg::norm(&x[0], ())),
        "norm_fro" => one(linalg::norm(&x[0], "fro")),
        "norm_inf_axis" => one(linalg::norm(&x[0], Norm::new().ord(f64::INFINITY).axis(1))),
        "norm_nuc" | "norm_nuc_x64" => one(linalg::norm(&x[0], "nuc")),
        "outer" => one(numpy::outer(&x[0], &x[1])),
        "pinv" => one(linalg::pinv(&x[0], ())),
        "tensordot" | "tensordot_x64" => one(numpy::tensordot(&x[0], &x[1], 1)),
        "tensordot_2" => one(numpy::tensordot(&x[0], &x[1], ())),
        "tensorinv" => one(linalg::tensorinv(&x[0], 2)),
        "vdot" => one(numpy::vdot(&x[0], &x[1], ())),
        "vecdot" => one(numpy::vecdot(&x[0], &x[1], ())),
        _ => None,
    }
}
