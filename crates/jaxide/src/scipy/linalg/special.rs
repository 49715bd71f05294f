//! Matrices that are known by a number of rows.

use jaxide_core::{DType, Error};
use num_complex::Complex;

use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::{self, parts};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::raise;

/// A function of numbers alone: one equation without operands.
#[track_caller]
fn alone(name: &str, parameters: &str, f: impl FnOnce() -> Array) -> Array {
    library_call(name, parameters, &[], |_| vec![f()])[0].clone()
}

/// The numbers 0, 1, 2, ... as a column and as a row.
#[track_caller]
fn column_and_row(n: usize, dtype: DType) -> (Array, Array) {
    let index = lax::iota(dtype, &[n], 0);
    (
        lax::expand_dims(&index, &[1]),
        lax::expand_dims(&index, &[0]),
    )
}

#[track_caller]
fn transposed(x: &Array) -> Array {
    lax::transpose(x, [1, 0])
}

/// The matrix of `1 / (i + j + 1)`, `f32`.
///
/// # Panics
/// When it is too large to hold.
///
/// ```
/// use jaxide::scipy::linalg;
/// assert_eq!(linalg::hilbert(2).to_vec::<f32>(), [1.0, 0.5, 0.5, 1.0 / 3.0]);
/// ```
#[track_caller]
pub fn hilbert(n: usize) -> Array {
    let _named = crate::trace::named("hilbert");
    alone("hilbert", &n.to_string(), || {
        let a = lax::iota(DType::F32, &[n, 1], 0);
        1 / (&a + transposed(&a) + 1)
    })
}

/// Binomial coefficients of numbers that need not be whole; zero where `k` is not between 0 and `n`.
#[track_caller]
fn comb(n: &Array, k: &Array) -> Array {
    let zero = Array::from(0);
    let counts =
        numpy::less_equal(k, n) & numpy::greater_equal(n, &zero) & numpy::greater_equal(k, &zero);
    let n = numpy::where_(&counts, n, 0.0);
    let k = numpy::where_(&counts, k, 0.0);
    let factorials =
        lax::lgamma(&(&n + 1.0)) - lax::lgamma(&(&k + 1.0)) - lax::lgamma(&(&n + 1.0 - &k));
    numpy::where_(&counts, lax::exp(&factorials), 0.0)
}

/// The inverse of [`hilbert`].
///
/// # Panics
/// When it is too large to hold.
#[track_caller]
pub fn invhilbert(n: usize) -> Array {
    let _named = crate::trace::named("invhilbert");
    alone("invhilbert", &n.to_string(), || {
        let (i, j) = column_and_row(n, DType::F32);
        let size = Array::from(n as i64);
        let s = &i + &j;
        let first = numpy::power(&Array::from(-1.0), &s) * (&s + 1.0);
        let first = first * comb(&(&size + &i), &(&size - &j - 1));
        let second = first * comb(&(&size + &j), &(&size - &i - 1));
        second * lax::integer_pow(&comb(&s, &i), 2)
    })
}

/// Which of the matrices of Pascal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PascalKind {
    /// The lower one times the upper one.
    #[default]
    Symmetric,
    /// Binomial coefficients below the diagonal.
    Lower,
    /// Binomial coefficients above the diagonal.
    Upper,
}

impl From<&str> for PascalKind {
    /// # Panics
    /// When there is no such kind.
    #[track_caller]
    fn from(kind: &str) -> Self {
        match kind {
            "symmetric" => PascalKind::Symmetric,
            "lower" => PascalKind::Lower,
            "upper" => PascalKind::Upper,
            _ => raise(
                Error::parameter(format!(
                    "there is no kind `{kind}`: `symmetric`, `lower` and `upper` are"
                ))
                .in_operation("pascal"),
            ),
        }
    }
}

options! {
    /// What [`pascal`] and [`invpascal`] take beside the number of rows: a kind alone is one too.
    pub struct Pascal {
        /// Which of the matrices.
        kind: PascalKind = PascalKind::Symmetric, |kind: impl Into<PascalKind>| kind.into();
    }

    /// What [`hadamard`] takes beside the number of rows: an element type alone is one too.
    pub struct Hadamard {
        /// The element type.
        dtype: DType = DType::I32;
    }

    /// What [`dft`] takes beside the number of rows: a scale alone is one too.
    pub struct Dft {
        /// By what the matrix is divided: by nothing by default.
        scale: Option<DftScale> = None, |scale: impl Into<DftScale>| Some(scale.into());
        /// The element type, which is complex.
        dtype: DType = DType::C64;
    }
}

impl From<&str> for Pascal {
    /// # Panics
    /// When there is no such kind.
    #[track_caller]
    fn from(kind: &str) -> Self {
        Pascal::new().kind(kind)
    }
}

impl From<DType> for Hadamard {
    fn from(dtype: DType) -> Self {
        Hadamard::new().dtype(dtype)
    }
}

impl From<&str> for Dft {
    /// # Panics
    /// When there is no such scale.
    #[track_caller]
    fn from(scale: &str) -> Self {
        Dft::new().scale(scale)
    }
}

#[track_caller]
fn binomials(n: &Array, k: &Array) -> Array {
    library_call("_binom", "", &[n.clone(), k.clone()], |own| {
        let (n, k) = (&own[0], &own[1]);
        let a = lax::lgamma(&(n + 1.0));
        let b = lax::lgamma(&(n - k + 1.0));
        let c = lax::lgamma(&(k + 1.0));
        vec![lax::exp(&(a - b - c))]
    })[0]
        .clone()
}

/// The matrix of binomial coefficients `i + j` over `i`, or a triangular one, `f32`.
///
/// # Panics
/// When it is too large to hold.
///
/// ```
/// use jaxide::scipy::linalg;
/// assert_eq!(linalg::pascal(2, "lower").to_vec::<f32>(), [1.0, 0.0, 1.0, 1.0]);
/// ```
#[track_caller]
pub fn pascal(n: usize, options: impl Into<Pascal>) -> Array {
    let _named = crate::trace::named("pascal");
    let kind = options.into().kind;
    alone("pascal", &format!("{n} {kind:?}"), || {
        let (i, j) = column_and_row(n, DType::F32);
        let lower = binomials(&i, &j);
        match kind {
            PascalKind::Lower => lower,
            PascalKind::Upper => transposed(&lower),
            PascalKind::Symmetric => numpy::dot(&lower, &transposed(&lower)),
        }
    })
}

/// The inverse of [`pascal`].
///
/// # Panics
/// When it is too large to hold.
#[track_caller]
pub fn invpascal(n: usize, options: impl Into<Pascal>) -> Array {
    let _named = crate::trace::named("invpascal");
    let kind = options.into().kind;
    alone("invpascal", &format!("{n} {kind:?}"), || {
        let (i, j) = column_and_row(n, DType::F32);
        let signs = numpy::power(&Array::from(-1.0), &(&i - &j));
        let lower = signs * binomials(&i, &j);
        match kind {
            PascalKind::Lower => lower,
            PascalKind::Upper => transposed(&lower),
            PascalKind::Symmetric => {
                let upper = transposed(&lower);
                numpy::dot(&upper, &lower)
            }
        }
    })
}

/// The matrix of Helmert: rows that are orthonormal, and orthogonal to the row of ones, which comes first where it is `full`.
/// `f32`.
///
/// # Panics
/// When `n` is 0.
#[track_caller]
pub fn helmert(n: usize, full: bool) -> Array {
    let _named = crate::trace::named("helmert");
    if n == 0 {
        raise(
            Error::parameter("the number of rows must be positive, and is 0")
                .in_operation("helmert"),
        );
    }
    alone("helmert", &format!("{n} {full}"), || {
        let i = parts::column(&lax::iota(DType::I32, &[n - 1], 0));
        let j = lax::expand_dims(&lax::iota(DType::I32, &[n], 0), &[0]);
        let k = &i + 1;
        let real = as_dtype(&k, DType::F32, false);
        let root = lax::sqrt(&(&real * (&real + 1)));
        let below = numpy::less_equal(&j, &i);
        let inverse = 1.0 / &root;
        let on = numpy::equal(&j, &k);
        let diagonal = lax::neg(&real) / &root;
        let zeros = lax::full(root.shape(), 0, DType::F32);
        let rest = numpy::where_(&on, &diagonal, &zeros);
        let rows = numpy::where_(&below, &inverse, &rest);
        if !full {
            return rows;
        }
        let size = as_dtype(&Array::from(n as f64), DType::F32, true);
        let first = lax::full([1, n], 1.0 / lax::sqrt(&size), DType::F32);
        lax::concatenate(&[first, rows], 0)
    })
}

/// The matrix of Hadamard: ones and minus ones in orthogonal rows, `i32` by default.
///
/// # Panics
/// When `n` is no power of two.
///
/// ```
/// use jaxide::scipy::linalg;
/// assert_eq!(linalg::hadamard(2, ()).to_vec::<i32>(), [1, 1, 1, -1]);
/// ```
#[track_caller]
pub fn hadamard(n: usize, options: impl Into<Hadamard>) -> Array {
    let _named = crate::trace::named("hadamard");
    let dtype = options.into().dtype;
    if !n.is_power_of_two() {
        let what = format!("the number of rows must be a power of two, and is {n}");
        raise(Error::parameter(what).in_operation("hadamard"));
    }
    alone("hadamard", &format!("{n} {dtype}"), || {
        let mut h = lax::full([1, 1], 1, dtype);
        for _ in 0..n.ilog2() {
            h = block(&[h.clone(), h.clone(), h.clone(), lax::neg(&h)]);
        }
        h
    })
}

/// Four matrices as one.
#[track_caller]
pub(super) fn block(blocks: &[Array; 4]) -> Array {
    library_call("block", "two by two", blocks, |own| {
        let axis = own[0].ndim() - 1;
        let above = lax::concatenate(&own[..2], axis);
        let below = lax::concatenate(&own[2..], axis);
        vec![lax::concatenate(&[above, below], axis - 1)]
    })[0]
        .clone()
}

/// By what the matrix of a transform is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DftScale {
    /// The number of rows.
    N,
    /// Its root.
    SqrtN,
}

impl From<&str> for DftScale {
    /// # Panics
    /// When there is no such scale.
    #[track_caller]
    fn from(scale: &str) -> Self {
        match scale {
            "n" => DftScale::N,
            "sqrtn" => DftScale::SqrtN,
            _ => raise(
                Error::parameter(format!("there is no scale `{scale}`: `n` and `sqrtn` are"))
                    .in_operation("dft"),
            ),
        }
    }
}

/// The matrix of the discrete Fourier transform.
///
/// # Panics
/// When the element type is not complex.
///
/// ```
/// use jaxide::{lax, scipy::linalg};
/// assert_eq!(lax::real(&linalg::dft(1, ())).to_vec::<f32>(), [1.0]);
/// ```
#[track_caller]
pub fn dft(n: usize, options: impl Into<Dft>) -> Array {
    let _named = crate::trace::named("dft");
    let Dft { scale, dtype } = options.into();
    if !dtype.is_complex() {
        raise(
            Error::dtype(format!("the element type must be complex, and is {dtype}"))
                .in_operation("dft"),
        );
    }
    alone("dft", &format!("{n} {scale:?} {dtype}"), || {
        let a = lax::iota(dtype, &[n], 0);
        let turn = -std::f64::consts::TAU;
        let turn = if dtype == DType::C64 {
            f64::from(turn as f32)
        } else {
            turn
        };
        let turn = as_dtype(&Array::from(Complex::new(0.0, turn)), dtype, false);
        let size = as_dtype(&Array::from(n as i64), dtype, false);
        let angles = lax::mul(&turn, &parts::column(&a)) * lax::expand_dims(&a, &[0]);
        let matrix = lax::exp(&lax::div(&angles, &size));
        match scale {
            None => matrix,
            Some(DftScale::N) => lax::div(&matrix, &size),
            Some(DftScale::SqrtN) => {
                let size = as_dtype(&Array::from(n as f64), parts::real_type(dtype), true);
                let root = as_dtype(&lax::sqrt(&size), dtype, false);
                lax::div(&matrix, &root)
            }
        }
    })
}
