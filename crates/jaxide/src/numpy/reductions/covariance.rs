//! Covariance and correlation.

use jaxide_core::{DType, Error};

use super::{Average, average_returned, sum};
use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy::arithmetic::inexact_dtypes;
use crate::numpy::lookup::element;
use crate::numpy::{abs, clip, conjugate, divide, dot, imag, multiply, real, sqrt, subtract};
use crate::options::options;
use crate::trace::library::library_with;
use crate::trace::{library, raise};

options! {
    /// What [`cov`] takes beside the variables.
    pub struct Cov {
        /// Further variables.
        y: Option<Array> = None, |y: impl Into<Array>| Some(y.into());
        /// Whether a row is a variable, and not a column: so by default.
        rowvar: bool = true;
        /// Whether sums are divided by the number of samples, and not by one less.
        bias: bool = false;
        /// What is taken from the number of samples instead.
        ddof: Option<i64> = None, |ddof: i64| Some(ddof);
        /// How often each sample counts, integers.
        fweights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
        /// How much each sample counts.
        aweights: Option<Array> = None, |weights: impl Into<Array>| Some(weights.into());
        /// The element type of the result.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
    }

    /// What [`corrcoef`] takes beside the variables.
    pub struct Corrcoef {
        /// Further variables.
        y: Option<Array> = None, |y: impl Into<Array>| Some(y.into());
        /// Whether a row is a variable, and not a column: so by default.
        rowvar: bool = true;
        /// The element type of the result.
        dtype: Option<DType> = None, |dtype: DType| Some(dtype);
    }
}

/// The covariances of variables: a matrix, or a scalar of one variable.
///
/// # Panics
/// When there are more than two axes, numbers of samples differ, or weights do not fit.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0, 3.0], [3.0, 2.0, 1.0]]);
/// assert_eq!(numpy::cov(&x, ()).to_vec::<f32>(), [1.0, -1.0, -1.0, 1.0]);
/// ```
#[track_caller]
pub fn cov(m: &Array, options: impl Into<Cov>) -> Array {
    let _named = crate::trace::named("cov");
    let options = options.into();
    for x in [Some(m), options.y.as_ref()].into_iter().flatten() {
        if x.ndim() > 2 {
            let error = format!("variables have at most two axes, and {} is given", x.aval());
            raise(Error::shape(error).in_operation("cov"));
        }
    }
    check_dtype("cov", options.dtype);
    let Cov {
        y,
        rowvar,
        bias,
        ddof,
        fweights,
        aweights,
        dtype,
    } = options;
    let key = format!("{rowvar} {bias} {ddof:?} {dtype:?}");
    let ddof = ddof.unwrap_or(if bias { 0 } else { 1 });
    // In the order of JAX's keywords.
    let arrays = [aweights, fweights, y];
    library_with("cov", &key, [m], arrays, |[m], [aweights, fweights, y]| {
        let (m, y) = match y {
            None => (inexact_dtypes("cov", [m])[0].clone(), None),
            Some(y) => {
                let [m, y] = same_rank([m, &y]);
                (m, Some(y))
            }
        };
        let mut x = matrix(&m);
        if !rowvar && m.ndim() != 1 {
            x = lax::transpose(&x, ());
        }
        if x.shape()[0] == 0 {
            return lax::full([0, 0], 0, x.dtype());
        }
        if let Some(y) = y {
            let mut y = matrix(&y);
            if !rowvar && y.shape()[0] != 1 {
                y = lax::transpose(&y, ());
            }
            x = lax::concatenate(&[x, y], 0);
        }
        let &[variables, samples] = x.shape() else {
            raise(Error::shape("variables are a matrix").in_operation("cov"))
        };
        if samples == 0 {
            let shape = if variables == 1 {
                vec![]
            } else {
                vec![variables; 2]
            };
            return lax::full(&shape, f64::NAN, x.dtype());
        }
        check_weights(&fweights, &aweights, samples);
        let fweights = fweights.map(|weights| abs(&weights));
        let aweights = aweights.map(|weights| abs(&weights));
        let weights = match (&fweights, &aweights) {
            (None, None) => None,
            (Some(own), None) | (None, Some(own)) => Some(own.clone()),
            (Some(fweights), Some(aweights)) => Some(multiply(fweights, aweights)),
        };
        if let Some(dtype) = dtype {
            x = as_dtype(&x, dtype, false);
        }
        let weights = weights.map(|weights| match dtype {
            Some(dtype) => as_dtype(&weights, dtype, false),
            None => weights,
        });
        let mut options = Average::new().axis(1);
        options.weights.clone_from(&weights);
        let (mean, total) = average_returned(&x, options);
        let total = element(&total, 0);
        let count = match (&weights, &aweights) {
            (None, _) => Array::from(samples as i64 - ddof),
            (Some(_), _) if ddof == 0 => total,
            (Some(_), None) => subtract(&total, ddof),
            (Some(weights), Some(own)) => {
                let squares = sum(&multiply(weights, own), ());
                subtract(&total, divide(multiply(ddof, &squares), &total))
            }
        };
        let x = lax::sub(&x, &lax::expand_dims(&mean, &[1]));
        let other = match &weights {
            None => lax::transpose(&x, ()),
            Some(weights) => {
                let weights = lax::expand_dims(weights, &[0]);
                lax::transpose(&multiply(&x, &weights), ())
            }
        };
        let covariance = divide(&dot(&x, &conjugate(&other)), count);
        let single: Vec<usize> = (0..2)
            .filter(|&axis| covariance.shape()[axis] == 1)
            .collect();
        lax::squeeze(&covariance, &single)
    })
}

/// Operands with a common element type and rank.
#[track_caller]
fn same_rank([m, y]: [&Array; 2]) -> [Array; 2] {
    let [m, y] = inexact_dtypes("cov", [m, y]);
    let rank = m.ndim().max(y.ndim());
    [m, y].map(|x| match x.ndim() {
        0 => x,
        own if own == rank => x,
        _ => lax::expand_dims(&x, &[0]),
    })
}

#[track_caller]
fn check_dtype(operation: &str, dtype: Option<DType>) {
    if let Some(dtype) = dtype
        && !dtype.is_inexact()
    {
        let error = format!("`dtype` is floating-point or complex, and {dtype} is given");
        raise(Error::dtype(error).in_operation(operation));
    }
}

/// At least two axes, as `atleast_2d`.
#[track_caller]
fn matrix(x: &Array) -> Array {
    library("atleast_2d", "", [x], |[x]| match x.ndim() {
        0 => lax::expand_dims(x, &[0, 1]),
        1 => lax::expand_dims(x, &[0]),
        _ => x.clone(),
    })
}

/// There is a weight for each sample, and `fweights` are integers.
#[track_caller]
fn check_weights(fweights: &Option<Array>, aweights: &Option<Array>, samples: usize) {
    for weights in [fweights, aweights].into_iter().flatten() {
        if weights.shape() != [samples] {
            let error = format!(
                "{samples} weights are needed, and {} is given",
                weights.aval()
            );
            raise(Error::shape(error).in_operation("cov"));
        }
    }
    if let Some(weights) = fweights
        && !weights.dtype().is_integer()
    {
        let error = format!("`fweights` are integers, and {} is given", weights.aval());
        raise(Error::dtype(error).in_operation("cov"));
    }
}

/// The correlation coefficients of variables: covariances divided by standard deviations.
///
/// # Panics
/// As [`cov`].
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([[1.0f32, 2.0, 3.0], [6.0, 4.0, 2.0]]);
/// assert_eq!(numpy::corrcoef(&x, ()).to_vec::<f32>(), [1.0, -1.0, -1.0, 1.0]);
/// ```
#[track_caller]
pub fn corrcoef(x: &Array, options: impl Into<Corrcoef>) -> Array {
    let _named = crate::trace::named("corrcoef");
    let Corrcoef { y, rowvar, dtype } = options.into();
    check_dtype("corrcoef", dtype);
    let key = format!("{rowvar} {dtype:?}");
    library_with("corrcoef", &key, [x], [y], |[x], [y]| {
        let mut options = Cov::new().rowvar(rowvar);
        options.y = y;
        options.dtype = dtype;
        let c = cov(x, options);
        if c.ndim() == 0 {
            return divide(&c, &c);
        }
        let diagonal = crate::numpy::diag(&c, ());
        let deviation = as_dtype(&sqrt(&real(&diagonal)), c.dtype(), false);
        let c = divide(&c, &lax::expand_dims(&deviation, &[1]));
        let c = divide(&c, &lax::expand_dims(&deviation, &[0]));
        let re = clip(&real(&c), -1, 1);
        if c.dtype().is_complex() {
            lax::complex(&re, &clip(&imag(&c), -1, 1))
        } else {
            re
        }
    })
}
