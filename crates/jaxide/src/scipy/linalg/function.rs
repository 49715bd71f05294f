//! Functions of matrices.

use jaxide_core::{DType, Error};

use super::factor::{Schur, SchurOutput, schur};
use super::solve::solve_triangular;
use crate::array::{Array, as_dtype};
use crate::control::{cond, fori_loop, scan, switch};
use crate::lax;
use crate::numpy::linalg::{self, exact_matmul};
use crate::numpy::parts::{
    adjoint, check_square, column, complex, conj, epsilon, highest, inexact, refuse, vectorized,
};
use crate::numpy::where_;
use crate::numpy::{self, Product, dot_with, matmul};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::{library, raise};

options! {
    /// What [`expm`] takes beside the matrix.
    pub struct Expm {
        /// Whether the matrix is upper triangular.
        upper_triangular: bool = false;
        /// Results that would need more squarings than this are NaN.
        max_squarings: usize = 16;
    }
}

#[track_caller]
fn product(x: &Array, y: &Array) -> Array {
    dot_with(x, y, Product::exactly(highest()))
}

/// The exponential of a matrix: the sum of its powers divided by factorials, by a quotient of polynomials.
///
/// # Panics
/// When matrices are not square, or numbers are floats of 16 bits.
///
/// ```
/// use jaxide::{Array, DType, scipy::linalg};
/// let x = linalg::expm(&Array::zeros([2, 2], DType::F32), ());
/// assert_eq!(x.to_vec::<f32>(), [1.0, 0.0, 0.0, 1.0]);
/// ```
#[track_caller]
pub fn expm(a: &Array, options: impl Into<Expm>) -> Array {
    let _named = crate::trace::named("expm");
    let options = options.into();
    check_square("expm", a);
    let name = format!("{} {}", options.upper_triangular, options.max_squarings);
    library("expm", &name, [a], |[a]| {
        let [a] = inexact("expm", [a]);
        if matches!(a.dtype(), DType::F16 | DType::BF16) {
            raise(Error::dtype(format!("{} has too few digits", a.aval())).in_operation("expm"));
        }
        if a.ndim() > 2 {
            let one = |own: &[Array]| vec![expm(&own[0], options.clone())];
            return vectorized("expm", &[2], &[a], &one)[0].clone();
        }
        let parts = library_call("_calc_P_Q", "", std::slice::from_ref(&a), |own| {
            quotient(&own[0])
        });
        let [p, q, squarings] = [0, 1, 2].map(|at: usize| parts[at].clone());
        let many = numpy::greater(&squarings, &Array::from(options.max_squarings as i64));
        let nan = |(a, _, _): (Array, Array, Array)| numpy::full_like(&a, f64::NAN);
        let upper = options.upper_triangular;
        let computed = |(_, p, q): (Array, Array, Array)| {
            let r = if upper {
                solve_triangular(&q, &p, ())
            } else {
                linalg::solve(&q, &p)
            };
            squared(&r, &squarings, options.max_squarings)
        };
        cond(many, nan, computed, (a, p, q))
    })
}

/// `x` squared so many times.
#[track_caller]
fn squared(x: &Array, times: &Array, most: usize) -> Array {
    library("_squaring", &most.to_string(), [x, times], |[x, times]| {
        let turns = lax::iota(times.dtype(), &[most], 0);
        let step = |x: Array, turn: Array| {
            let more = numpy::less(&turn, times);
            (cond(more, |x: Array| product(&x, &x), |x: Array| x, x), ())
        };
        scan(step, x.clone(), turns, None).0
    })
}

/// Coefficients of the polynomials by degree, and the largest norm for which they are exact enough.
const SMALL: [(&[f64], f64); 5] = [
    (&[120.0, 60.0, 12.0, 1.0], 1.495_585_217_958_292e-2),
    (
        &[30240.0, 15120.0, 3360.0, 420.0, 30.0, 1.0],
        2.539_398_330_063_23e-1,
    ),
    (
        &[
            17297280.0, 8648640.0, 1995840.0, 277200.0, 25200.0, 1512.0, 56.0, 1.0,
        ],
        9.504_178_996_162_932e-1,
    ),
    (
        &[
            17643225600.0,
            8821612800.0,
            2075673600.0,
            302702400.0,
            30270240.0,
            2162160.0,
            110880.0,
            3960.0,
            90.0,
            1.0,
        ],
        2.097_847_961_257_068,
    ),
    (
        &[
            64764752532480000.0,
            32382376266240000.0,
            7771770303897600.0,
            1187353796428800.0,
            129060195264000.0,
            10559470521600.0,
            670442572800.0,
            33522128640.0,
            1323241920.0,
            40840800.0,
            960960.0,
            16380.0,
            182.0,
            1.0,
        ],
        5.371_920_351_148_152,
    ),
];

/// The numerator, the denominator, and how often the result is to be squared.
#[track_caller]
fn quotient(a: &Array) -> Vec<Array> {
    let norm = linalg::norm(a, 1);
    let wide = matches!(a.dtype(), DType::F64 | DType::C128);
    let (limits, largest): (&[f64], f64) = if wide {
        (
            &[SMALL[0].1, SMALL[1].1, SMALL[2].1, SMALL[3].1],
            SMALL[4].1,
        )
    } else {
        (
            &[0.425_873_001_692_283_1, 1.880_152_677_804_762],
            3.925_724_783_138_66,
        )
    };
    let limit = |value: f64| as_dtype(&Array::from(value), norm.dtype(), false);
    let squarings = lax::floor(&numpy::log2(&(&norm / largest)));
    let squarings = numpy::maximum(&Array::from(0), &squarings);
    let a = a / numpy::power(&Array::from(2), &as_dtype(&squarings, a.dtype(), false));
    let reached = limits
        .iter()
        .map(|&value| as_dtype(&lax::ge(&norm, &limit(value)), DType::I32, false));
    let degree = reached
        .reduce(|x, y| x + y)
        .unwrap_or_else(|| Array::from(0));
    let branches = SMALL[..=limits.len()]
        .iter()
        .map(|&(coefficients, _)| move |a: Array| polynomials(&a, coefficients));
    let (u, v) = switch(degree, branches, a);
    vec![&u + &v, lax::neg(&u) + v, squarings]
}

/// The odd and the even part of a polynomial of a matrix.
#[track_caller]
fn polynomials(a: &Array, b: &[f64]) -> (Array, Array) {
    let eye = numpy::eye(a.shape()[0], a.dtype());
    let a2 = product(a, a);
    let mut powers = vec![eye, a2.clone()];
    let highest = if b.len() == 14 { 4 } else { b.len() / 2 };
    for power in 2..highest {
        powers.push(product(&powers[power - 1], &a2));
    }
    // The sum over even powers of what stands at `first`, `first + 2`, ..., the highest first.
    let sum = |first: usize, of: std::ops::Range<usize>| {
        let terms = of.rev().map(|power| b[first + 2 * power] * &powers[power]);
        terms
            .reduce(|x, y| x + y)
            .unwrap_or_else(|| powers[0].clone())
    };
    if b.len() == 14 {
        let six = &powers[3];
        let upper = |first: usize| {
            b[first + 6] * six + b[first + 4] * &powers[2] + b[first + 2] * &powers[1]
        };
        let odd = product(six, &upper(7)) + sum(1, 0..4);
        return (product(a, &odd), product(six, &upper(6)) + sum(0, 0..4));
    }
    (product(a, &sum(1, 0..highest)), sum(0, 0..highest))
}

/// The exponential of a matrix and its derivative in the direction `e`.
///
/// # Panics
/// When matrices are not square, or shapes differ.
#[track_caller]
pub fn expm_frechet(a: &Array, e: &Array) -> (Array, Array) {
    let _named = crate::trace::named("expm_frechet");
    check_square("expm_frechet", a);
    if a.shape() != e.shape() {
        refuse(
            "expm_frechet",
            "matrix and direction must have one shape",
            &[a, e],
        );
    }
    let results = library_call("expm_frechet", "", &[a.clone(), e.clone()], |own| {
        let (value, change) = crate::jvp(|a: Array| expm(&a, ()), own[0].clone(), own[1].clone());
        vec![value, change]
    });
    (results[0].clone(), results[1].clone())
}

#[track_caller]
fn index(at: i64) -> Array {
    as_dtype(&Array::from(at), DType::I32, false)
}

/// `x[i, j]` at indices that are computed.
#[track_caller]
fn at(x: &Array, i: &Array, j: &Array) -> Array {
    lax::squeeze(
        &lax::dynamic_slice(x, &[i.clone(), j.clone()], [1, 1]),
        [0, 1],
    )
}

#[track_caller]
fn row(x: &Array, i: &Array) -> Array {
    lax::squeeze(
        &lax::dynamic_slice(x, &[i.clone(), index(0)], [1, x.shape()[1]]),
        [0],
    )
}

#[track_caller]
fn col(x: &Array, j: &Array) -> Array {
    lax::squeeze(
        &lax::dynamic_slice(x, &[index(0), j.clone()], [x.shape()[0], 1]),
        [1],
    )
}

#[track_caller]
fn set(x: &Array, i: &Array, j: &Array, value: &Array) -> Array {
    let value = as_dtype(&lax::reshape(value, [1, 1]), x.dtype(), false);
    lax::dynamic_update_slice(x, &value, &[i.clone(), j.clone()])
}

/// The square root of a matrix, complex.
///
/// # Panics
/// When it is not one square matrix of floats.
///
/// ```
/// use jaxide::{Array, lax, scipy::linalg};
/// let x = linalg::sqrtm(&Array::from([[4.0f32, 0.0], [0.0, 9.0]]));
/// assert_eq!(lax::real(&x).to_vec::<f32>(), [2.0, 0.0, 0.0, 3.0]);
/// ```
#[track_caller]
pub fn sqrtm(a: &Array) -> Array {
    let _named = crate::trace::named("sqrtm");
    if a.ndim() != 2 {
        refuse("sqrtm", "one matrix is needed", &[a]);
    }
    check_square("sqrtm", a);
    library("_sqrtm", "", [a], |[a]| {
        let (t, z) = schur(a, Schur::new().output(SchurOutput::Complex));
        let root = library("_sqrtm_triu", "", [&t], |[t]| root_of_triangle(t));
        exact_matmul(&exact_matmul(&z, &root), &adjoint(&z))
    })
}

#[track_caller]
fn root_of_triangle(t: &Array) -> Array {
    let n = t.shape()[0];
    let on = numpy::eye(n, DType::Bool);
    let diagonal = lax::sqrt(&numpy::parts::diagonal(t, 0));
    let zeros = lax::full([n, n], 0, t.dtype());
    let start = lax::select(&on, &lax::broadcast_in_dim(&diagonal, [n, n], [0]), &zeros);
    let element = |i: &Array| {
        lax::squeeze(
            &lax::dynamic_slice(&diagonal, std::slice::from_ref(i), [1]),
            [0],
        )
    };
    fori_loop(
        0,
        n as i32,
        |j: Array, u: Array| {
            let upper = j.clone();
            fori_loop(
                0,
                j,
                |l: Array, u: Array| {
                    let j = upper.clone();
                    let i = &j - 1 - l;
                    // What is not there yet is zero, so that the product of row and column is that of what is.
                    let known = lax::reduce_sum(&(row(&u, &i) * col(&u, &j)), [0]);
                    let wanted = at(t, &i, &j);
                    let value = (&wanted - &known) / (element(&i) + element(&j));
                    let value = where_(&lax::eq(&wanted, &known), 0.0, &value);
                    set(&u, &i, &j, &value)
                },
                u,
            )
        },
        start,
    )
}

/// The complex Schur form of a matrix from its real one, and the vectors.
///
/// # Panics
/// When matrices are not square, or of different lengths.
#[track_caller]
pub fn rsf2csf(t: &Array, z: &Array) -> (Array, Array) {
    let _named = crate::trace::named("rsf2csf");
    check_square("rsf2csf", t);
    check_square("rsf2csf", z);
    if t.shape()[t.ndim() - 1] != z.shape()[z.ndim() - 1] {
        refuse("rsf2csf", "form and vectors must have one length", &[t, z]);
    }
    let results = library_call("rsf2csf", "", &[t.clone(), z.clone()], |own| {
        vectorized("rsf2csf", &[2, 2], own, &|own| {
            library_call("_rsf2csf_2d", "", own, |own| {
                let (t, z) = complex_form(&own[0], &own[1]);
                vec![t, z]
            })
        })
    });
    (results[0].clone(), results[1].clone())
}

#[track_caller]
fn complex_form(t: &Array, z: &Array) -> (Array, Array) {
    let [t, z] = complex("rsf2csf", [t, z]);
    let n = t.shape()[0];
    let eps = epsilon(t.dtype());
    if n <= 1 {
        return (t, z);
    }
    let rotate = |(m, t, z): (Array, Array, Array)| {
        let before = &m - 1;
        let dtype = t.dtype();
        let corner = lax::dynamic_slice(&t, &[before.clone(), before.clone()], [2, 2]);
        let mu = linalg::eigvals(&corner) - at(&t, &m, &m);
        let first = numpy::parts::pick(&mu, &[(0, 0)]);
        let below = at(&t, &m, &before);
        let both = lax::concatenate(&[lax::reshape(&first, [1]), lax::reshape(&below, [1])], 0);
        let length = as_dtype(&linalg::norm(&both, ()), dtype, false);
        let (c, s) = (&first / &length, &below / &length);
        let entries = [conj(&c), s.clone(), lax::neg(&s), c].map(|x| lax::reshape(&x, [1]));
        let g = lax::reshape(&lax::concatenate(&entries, 0), [2, 2]);
        let numbers = lax::iota(DType::I32, &[n], 0);
        let rows = lax::dynamic_slice(&t, &[before.clone(), index(0)], [2, n]);
        let from = lax::expand_dims(&lax::ge(&numbers, &before), &[0]);
        let turned = matmul(&g, &where_(&from, &rows, 0));
        let rows = where_(&from, &turned, &rows);
        let t = lax::dynamic_update_slice(&t, &rows, &[before.clone(), index(0)]);
        let columns = lax::dynamic_slice(&t, &[index(0), before.clone()], [n, 2]);
        let until = column(&lax::lt(&numbers, &(&m + 1)));
        let turned = matmul(&where_(&until, &columns, 0), &adjoint(&g));
        let columns = where_(&until, &turned, &columns);
        let t = lax::dynamic_update_slice(&t, &columns, &[index(0), before.clone()]);
        let vectors = lax::dynamic_slice(&z, &[index(0), before.clone()], [n, 2]);
        let vectors = matmul(&vectors, &adjoint(&g));
        (
            t,
            lax::dynamic_update_slice(&z, &vectors, &[index(0), before]),
        )
    };
    let step = |i: Array, (t, z): (Array, Array)| {
        let m = index(n as i64) - i;
        let before = &m - 1;
        let size = |i: &Array, j: &Array| lax::abs(&at(&t, i, j));
        let bound = eps * (size(&before, &before) + size(&m, &m));
        let block = numpy::greater(&size(&m, &before), &bound);
        let (t, z) = cond(
            block,
            rotate,
            |(_, t, z): (Array, Array, Array)| (t, z),
            (m.clone(), t, z),
        );
        let zero = lax::full((), 0, t.dtype());
        (set(&t, &m, &before, &zero), z)
    };
    fori_loop(1, n as i32, step, (t, z))
}

/// A function of complex numbers, given elementwise, of a matrix.
///
/// # Panics
/// When it is not one square matrix of floats, or the function does not keep the shape.
///
/// ```
/// use jaxide::{Array, lax, scipy::linalg};
/// let a = Array::from([[0.0f32, 0.0], [0.0, 0.0]]);
/// let e = linalg::funm(&a, |x: &Array| x.exp());
/// assert_eq!(lax::real(&e).to_vec::<f32>(), [1.0, 0.0, 0.0, 1.0]);
/// ```
#[track_caller]
pub fn funm(a: &Array, f: impl Fn(&Array) -> Array) -> Array {
    let _named = crate::trace::named("funm");
    if a.ndim() != 2 {
        refuse("funm", "one matrix is needed", &[a]);
    }
    check_square("funm", a);
    let (t, z) = schur(a, ());
    let (t, z) = rsf2csf(&t, &z);
    let n = t.shape()[0];
    let values = as_dtype(&f(&numpy::parts::diagonal(&t, 0)), t.dtype(), false);
    let on = numpy::eye(n, DType::Bool);
    let start = lax::broadcast_in_dim(&values, [n, n], [0]);
    let start = lax::select(&on, &start, &lax::full([n, n], 0, t.dtype()));
    let numbers = lax::iota(DType::I32, &[n], 0);
    let outer = |p: Array, values: Array| {
        let apart = p.clone();
        let inner = |i: Array, f: Array| {
            let (first, j) = (&i - 1, &i + &apart);
            let last = &j - 1;
            let change = at(&f, &last, &last) - at(&f, &first, &first);
            let direct = at(&t, &first, &last) * change;
            let between = lax::bitwise_and(&lax::ge(&numbers, &i), &lax::lt(&numbers, &last));
            let part = |x: Array| where_(&between, &x, 0);
            let through =
                |x: &Array, y: &Array| matmul(&part(row(x, &first)), &part(col(y, &last)));
            let sum = direct + (through(&t, &f) - through(&f, &t));
            let gap = at(&t, &last, &last) - at(&t, &first, &first);
            let apart = numpy::not_equal(&gap, &Array::from(0));
            let value = where_(&apart, &(&sum / &gap), &sum);
            set(&f, &first, &last, &value)
        };
        fori_loop(1, index(n as i64) - p + 1, inner, values)
    };
    let values = fori_loop(1, n as i32, outer, start);
    matmul(&matmul(&z, &values), &adjoint(&z))
}
