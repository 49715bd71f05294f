//! Polynomials: vectors of their coefficients, from the highest power down.

use jaxide_core::{DType, Error, prims};
use num_complex::Complex;

use super::convolve::convolve;
use crate::array::{Array, as_dtype, promote_dtypes};
use crate::lax;
use crate::numpy::alone::alone;
use crate::numpy::arithmetic::{inexact, promote_inexact};
use crate::numpy::nested::{constant, named};
use crate::numpy::place::{Way, at, cut, nonzero_of, with_range};
use crate::numpy::where_;
use crate::numpy::{self, atleast_1d, common_shape, concatenate, finfo};
use crate::options::options;
use crate::trace::{OrRaise, bind_one, library, raise};

#[track_caller]
pub(super) fn vector(operation: &str, x: &Array) -> usize {
    if x.ndim() != 1 {
        raise(
            Error::shape(format!("a vector is needed, and {} is given", x.aval()))
                .in_operation(operation),
        );
    }
    x.size()
}

/// `x` as float or complex numbers.
#[track_caller]
pub(super) fn inexact_of(operation: &str, x: &Array) -> Array {
    let [x] = promote_inexact(operation, [x]);
    x
}

/// The polynomial with the given roots, or with the eigenvalues of a square matrix as its roots.
///
/// # Panics
/// When `seq_of_zeros` is neither a vector nor a square matrix with elements.
///
/// ```
/// use jaxide::{Array, numpy};
/// assert_eq!(numpy::poly(&Array::from([2.0f32, 3.0])).to_vec::<f32>(), [1.0, -5.0, 6.0]);
/// ```
#[track_caller]
pub fn poly(seq_of_zeros: &Array) -> Array {
    let _named = crate::trace::named("poly");
    library("poly", "", [seq_of_zeros], |[zeros]| {
        let zeros = atleast_1d(&inexact_of("poly", zeros));
        let zeros = match zeros.shape() {
            [n, m] if n == m && *n != 0 => eigenvalues(&zeros),
            _ => zeros,
        };
        let count = vector("poly", &zeros);
        let dtype = zeros.dtype();
        if count == 0 {
            return lax::full((), 1, dtype);
        }
        (0..count).fold(lax::full([1], 1, dtype), |product, index| {
            let negated = lax::neg(&at(&zeros, 0, index));
            let one = lax::full([1], 1, dtype);
            let factor = lax::concatenate(&[one, lax::expand_dims(&negated, 0)], 0);
            convolve(&product, &factor, ())
        })
    })
}

#[track_caller]
fn eigenvalues(x: &Array) -> Array {
    library("eigvals", "", [x], |[x]| {
        let complex = match x.dtype() {
            DType::F32 | DType::F64 | DType::C64 | DType::C128 => x.clone(),
            _ => as_dtype(x, DType::F32, false),
        };
        lax::linalg::eig(&complex, false, false).swap_remove(0)
    })
}

/// The values of a polynomial at `x`; the coefficients may have further axes, which broadcast with those of `x`.
///
/// # Panics
/// When `p` is a scalar, or shapes do not broadcast.
///
/// ```
/// use jaxide::{Array, numpy};
/// let p = Array::from([1, 0, 2]);
/// assert_eq!(numpy::polyval(&p, [1, 3]).to_vec::<i32>(), [3, 11]);
/// ```
#[track_caller]
pub fn polyval(p: &Array, x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("polyval");
    const OPERATION: &str = "polyval";
    library(OPERATION, "", [p, &x.into()], |[p, x]| {
        let [p, x] = promote_dtypes(OPERATION, [p, x]);
        let Some((&count, rest)) = p.shape().split_first() else {
            raise(Error::shape("the polynomial is a scalar").in_operation(OPERATION))
        };
        let shape = common_shape(OPERATION, &[rest, x.shape()]);
        if count == 0 {
            return lax::full(&shape, 0, x.dtype());
        }
        let ranked = |x: Array| {
            if x.ndim() > 0 {
                lax::expand_rank(&x, shape.len())
            } else {
                x
            }
        };
        let x = ranked(x);
        let mut operands = vec![x];
        operands.extend((0..count).rev().map(|index| ranked(at(&p, 0, index))));
        if let [_, only] = operands.as_slice() {
            return numpy::broadcast_to(only, &shape);
        }
        bind_one(prims::Polynomial { unroll: None }, &operands)
    })
}

/// The sum of two polynomials.
///
/// # Panics
/// When one is no vector.
///
/// ```
/// use jaxide::{Array, numpy};
/// let sum = numpy::polyadd(&Array::from([1, 2, 3]), &Array::from([10, 20]));
/// assert_eq!(sum.to_vec::<i32>(), [1, 12, 23]);
/// ```
#[track_caller]
pub fn polyadd(a1: &Array, a2: &Array) -> Array {
    let _named = crate::trace::named("polyadd");
    library("polyadd", "", [a1, a2], |[a1, a2]| {
        let [a1, a2] = promote_dtypes("polyadd", [a1, a2]);
        let (n1, n2) = (vector("polyadd", &a1), vector("polyadd", &a2));
        let (long, short) = if n2 <= n1 { (&a1, &a2) } else { (&a2, &a1) };
        with_range(long, long.size() - short.size(), short, Way::Add)
    })
}

/// The difference of two polynomials.
///
/// # Panics
/// When one is no vector.
#[track_caller]
pub fn polysub(a1: &Array, a2: &Array) -> Array {
    let _named = crate::trace::named("polysub");
    library("polysub", "", [a1, a2], |[a1, a2]| {
        let [a1, a2] = promote_dtypes("polysub", [a1, a2]);
        polyadd(&a1, &lax::neg(&a2))
    })
}

options! {
    /// What [`polymul`] and [`polydiv`] take beside the polynomials.
    pub struct Polynomials {
        /// Whether zeros in front of polynomials are cut off, which needs their values.
        trim_leading_zeros: bool = false;
    }
    /// What [`polyder`] takes beside the polynomial; the order alone is one too.
    pub struct Polyder {
        /// How often it is differentiated.
        m: usize = 1;
    }
    /// What [`polyint`] takes beside the polynomial; the order alone is one too.
    pub struct Polyint {
        /// How often it is integrated.
        m: usize = 1;
        /// The constants of integration, 0 by default: one for all, or one for each integration.
        k: Option<Array> = None, |k: impl Into<Array>| Some(k.into());
    }
}

alone!(Polyder, m: usize);
alone!(Polyint, m: usize);

/// The product of two polynomials, of float coefficients.
///
/// # Panics
/// When one is no vector.
///
/// ```
/// use jaxide::{Array, numpy};
/// let product = numpy::polymul(&Array::from([1.0f32, 2.0]), &Array::from([1.0f32, 3.0]), ());
/// assert_eq!(product.to_vec::<f32>(), [1.0, 5.0, 6.0]);
/// ```
#[track_caller]
pub fn polymul(a1: &Array, a2: &Array, options: impl Into<Polynomials>) -> Array {
    let _named = crate::trace::named("polymul");
    const OPERATION: &str = "polymul";
    let trims = options.into().trim_leading_zeros && (a1.size() > 1 || a2.size() > 1);
    let first = [a1, a2].map(|a| {
        if trims {
            leading_zeros(OPERATION, a)
        } else {
            0
        }
    });
    let [a1, a2] = promote_inexact_vectors(OPERATION, [a1, a2]);
    let factor = |a: Array, first: usize| {
        let a = cut(&a, 0, first, a.size());
        if a.size() == 0 {
            return lax::full([1], 0, a.dtype());
        }
        a
    };
    convolve(&factor(a1, first[0]), &factor(a2, first[1]), ())
}

#[track_caller]
fn promote_inexact_vectors(operation: &str, operands: [&Array; 2]) -> [Array; 2] {
    for x in operands {
        vector(operation, x);
    }
    let [a, b] = promote_dtypes(operation, operands);
    [a, b].map(|x| as_dtype(&x, inexact(x.dtype()), x.weak_type()))
}

/// The quotient of two polynomials and the remainder, which has as many coefficients as the dividend.
///
/// # Panics
/// When one is no vector, or the divisor has no coefficients.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (u, v) = (Array::from([1.0f32, 5.0, 6.0]), Array::from([1.0f32, 2.0]));
/// assert_eq!(numpy::polydiv(&u, &v, ()).0.to_vec::<f32>(), [1.0, 3.0]);
/// let trimmed = numpy::Polynomials::new().trim_leading_zeros(true);
/// assert_eq!(numpy::polydiv(&u, &v, trimmed).1.shape(), [0]);
/// ```
#[track_caller]
pub fn polydiv(u: &Array, v: &Array, options: impl Into<Polynomials>) -> (Array, Array) {
    let _named = crate::trace::named("polydiv");
    const OPERATION: &str = "polydiv";
    let [mut u, v] = promote_inexact_vectors(OPERATION, [u, v]);
    if v.size() == 0 {
        raise(Error::shape("the divisor has no coefficients").in_operation(OPERATION));
    }
    let count = (u.size() + 1).saturating_sub(v.size());
    let scale = lax::div(&constant(1.0, v.dtype()), &at(&v, 0, 0));
    let mut quotient = lax::full([count.max(1)], 0, u.dtype());
    for k in 0..count {
        let factor = lax::mul(&scale, &at(&u, 0, k));
        quotient = with_range(&quotient, k, &factor, Way::Set);
        let product = lax::mul(&lax::neg(&factor), &v);
        u = with_range(&u, k, &product, Way::Add);
    }
    if options.into().trim_leading_zeros {
        let small = finfo(u.dtype()).eps.sqrt();
        let value = u.try_value().map_err(|error| error.in_operation(OPERATION));
        let value = value.or_raise();
        let size = |at: usize| {
            value.scalar_at(at).map_or(0.0, |scalar| {
                let (re, im) = scalar.as_complex();
                re.hypot(im)
            })
        };
        let first = (0..value.len()).position(|at| size(at) >= small);
        let first = first.unwrap_or(value.len());
        u = cut(&u, 0, first, value.len());
    }
    (quotient, u)
}

/// The numbers from `start` on, minus those from 0 to before `m`, below each other.
#[track_caller]
fn falling(start: usize, count: usize, m: usize, dtype: DType) -> Array {
    let powers = numpy::arange((start, start + count), dtype);
    let powers = lax::expand_dims(&powers, 0);
    let steps = lax::expand_dims(&numpy::arange(m, dtype), 1);
    numpy::subtract(&powers, &steps)
}

/// The derivative of a polynomial.
///
/// # Panics
/// When it is no vector.
///
/// ```
/// use jaxide::{Array, numpy};
/// let p = Array::from([1.0f32, 2.0, 3.0]);
/// assert_eq!(numpy::polyder(&p, ()).to_vec::<f32>(), [2.0, 2.0]);
/// ```
#[track_caller]
pub fn polyder(p: &Array, options: impl Into<Polyder>) -> Array {
    let _named = crate::trace::named("polyder");
    let m = options.into().m;
    library("polyder", &m.to_string(), [p], |[p]| {
        let p = inexact_of("polyder", p);
        let count = vector("polyder", &p).saturating_sub(m);
        if m == 0 {
            return p;
        }
        let factors = numpy::prod(&falling(m, count, m, p.dtype()), 0);
        lax::mul(&cut(&p, 0, 0, count), &lax::rev(&factors, 0))
    })
}

/// An antiderivative of a polynomial.
///
/// # Panics
/// When it is no vector, or there are not as many constants as integrations.
///
/// ```
/// use jaxide::{Array, numpy};
/// let p = Array::from([2.0f32, 2.0]);
/// assert_eq!(numpy::polyint(&p, ()).to_vec::<f32>(), [1.0, 2.0, 0.0]);
/// ```
#[track_caller]
pub fn polyint(p: &Array, options: impl Into<Polyint>) -> Array {
    let _named = crate::trace::named("polyint");
    const OPERATION: &str = "polyint";
    let Polyint { m, k } = options.into();
    let mut operands = vec![p.clone()];
    operands.extend(k);
    named(OPERATION, &m.to_string(), &operands, |operands| {
        let zero = Array::from(0);
        let k = operands.get(1).unwrap_or(&zero);
        let [p, k] = promote_dtypes(OPERATION, [&operands[0], k]);
        let [p, k] = [p, k].map(|x| as_dtype(&x, inexact(x.dtype()), x.weak_type()));
        let count = vector(OPERATION, &p);
        let mut k = atleast_1d(&k);
        if k.shape().first() == Some(&1) {
            k = lax::broadcast_in_dim(&at(&k, 0, 0), [m], &[]);
        }
        if k.shape() != [m] {
            raise(
                Error::shape(format!(
                    "{} constants are given for {m} integrations",
                    k.aval()
                ))
                .in_operation(OPERATION),
            );
        }
        if m == 0 {
            return p;
        }
        let powers = falling(0, count + m, m, p.dtype());
        let factors = numpy::prod(&lax::max(&constant(1, p.dtype()), &powers), 0);
        let factors = lax::rev(&factors, 0);
        numpy::divide(&concatenate(&[p, k], 0), &factors)
    })
}

/// The roots of a polynomial, complex numbers. Zeros in front are cut off, which needs their number; where coefficients have no
/// values, inside a trace, [`roots_padded`] gives NaN for the roots that are missing.
///
/// # Panics
/// When `p` is no vector, or has no values.
///
/// ```
/// use jaxide::{Array, lax, numpy};
/// let roots = numpy::roots(&Array::from([1.0f32, -5.0, 6.0]));
/// let product = lax::real(&numpy::prod(&roots, ()));
/// assert!((product.item::<f32>() - 6.0).abs() < 1e-4);
/// ```
#[track_caller]
pub fn roots(p: &Array) -> Array {
    let _named = crate::trace::named("roots");
    let given = p;
    let p = atleast_1d(&inexact_of("roots", p));
    let count = vector("roots", &p);
    if count < 2 {
        return no_roots(p.dtype());
    }
    without_zeros(&cut(&p, 0, leading_zeros("roots", given), count))
}

/// How many elements of a vector are zero before the first that is not.
#[track_caller]
fn leading_zeros(operation: &str, x: &Array) -> usize {
    let value = x.try_value().map_err(|error| error.in_operation(operation));
    let used = nonzero_of(&value.or_raise());
    used.iter().position(|&used| used).unwrap_or(used.len())
}

/// The roots of a number.
fn no_roots(dtype: DType) -> Array {
    match dtype {
        DType::F64 | DType::C128 => Array::from(Vec::<Complex<f64>>::new()),
        _ => Array::from(Vec::<Complex<f32>>::new()),
    }
}

/// [`roots`] of coefficients of which the first may be zero, as many as without: `strip_zeros=False` of JAX.
///
/// # Panics
/// When `p` is no vector.
#[track_caller]
pub fn roots_padded(p: &Array) -> Array {
    let _named = crate::trace::named("roots_padded");
    let p = atleast_1d(&inexact_of("roots", p));
    let count = vector("roots", &p);
    if count < 2 {
        return no_roots(p.dtype());
    }
    let zero = || lax::eq(&p, &constant(0, p.dtype()));
    let all = lax::reduce_and(&zero(), 0);
    let first = lax::argmin(&zero(), 0, DType::I32);
    let leading = where_(&all, &Array::from(count), &first);
    library("_roots_with_zeros", "", [&p, &leading], |[p, leading]| {
        let all = lax::eq(leading, &constant(count, DType::I32));
        let p = where_(&all, &Array::from(1.0), p);
        let roots = without_zeros(&numpy::roll(&p, &lax::neg(leading), 0));
        let zero = lax::eq(&roots, &constant(0, roots.dtype()));
        let roots = lax::sort(&[zero, roots], 0, 1)[1].clone();
        let index = lax::iota(DType::I32, &[count - 1], 0);
        let known = lax::sub(&constant(count - 1, DType::I32), leading);
        let nan = Array::from(Complex::new(f64::NAN, f64::NAN));
        where_(&lax::lt(&index, &known), &roots, &nan)
    })
}

/// The roots of a polynomial whose first coefficient is not zero: the eigenvalues of its companion matrix.
#[track_caller]
fn without_zeros(p: &Array) -> Array {
    library("_roots_no_zeros", "", [p], |[p]| {
        let count = p.size();
        if count < 2 {
            return no_roots(p.dtype());
        }
        let ones = lax::full([count - 2], 1, p.dtype());
        let companion = numpy::diag(&ones, -1);
        let rest = lax::neg(&cut(p, 0, 1, count));
        let row = lax::div(&rest, &at(p, 0, 0));
        eigenvalues(&with_range(&companion, 0, &row, Way::Set))
    })
}
