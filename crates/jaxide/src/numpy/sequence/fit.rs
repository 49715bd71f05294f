//! Polynomials that are near samples.

use jaxide_core::{DType, Error};

use super::least_squares::{Solution, least_squares};
use super::polynomial::{inexact_of, vector};
use crate::array::{Array, as_dtype, is_wide};
use crate::lax;
use crate::numpy::arithmetic::inexact;
use crate::numpy::nested::named;
use crate::numpy::{self, finfo, vander};
use crate::options::options;
use crate::trace::library::library_call;
use crate::trace::raise;

options! {
    /// What [`polyfit`] takes beside the samples and the degree.
    pub struct Polyfit {
        /// Singular values below this portion of the largest are taken for zero.
        rcond: Option<f64> = None, |rcond: impl Into<Option<f64>>| rcond.into();
        /// The weights of the samples.
        w: Option<Array> = None, |w: impl Into<Array>| Some(w.into());
        /// Whether the covariances of [`polyfit_cov`] are left as the weights say.
        unscaled: bool = false;
    }
}

/// What [`polyfit`] finds beside the coefficients: `full=True` of JAX.
pub struct PolynomialFit {
    /// The coefficients, a column for each column of samples.
    pub coefficients: Array,
    /// The sums of the squared differences.
    pub residuals: Array,
    /// The rank of the scaled matrix of powers.
    pub rank: Array,
    /// Its singular values.
    pub singular_values: Array,
    /// Below which portion of the largest they were taken for zero.
    pub rcond: Array,
}

/// The polynomial of degree `deg` that is nearest to samples `y` at `x` in the sense of least squares.
///
/// # Panics
/// When `x` is no vector with elements, or `y` and the weights have other lengths.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([0.0f32, 1.0, 2.0]);
/// let line = numpy::polyfit(&x, &(&x * 2.0 + 1.0), 1, ());
/// assert!((line.to_vec::<f32>()[0] - 2.0).abs() < 1e-5);
/// ```
#[track_caller]
pub fn polyfit(x: &Array, y: &Array, deg: usize, options: impl Into<Polyfit>) -> Array {
    let _named = crate::trace::named("polyfit");
    let (options, operands, key) = fit_operands(x, y, deg, options.into());
    named("polyfit", &key, &operands, |operands| {
        fit(operands, deg, &options).found.coefficients
    })
}

/// [`polyfit`] with what else is known of the fit.
///
/// # Panics
/// As [`polyfit`].
#[track_caller]
pub fn polyfit_full(
    x: &Array,
    y: &Array,
    deg: usize,
    options: impl Into<Polyfit>,
) -> PolynomialFit {
    let _named = crate::trace::named("polyfit_full");
    let (options, operands, key) = fit_operands(x, y, deg, options.into());
    let results = library_call("polyfit", &format!("{key} full"), &operands, |operands| {
        let found = fit(operands, deg, &options).found;
        vec![
            found.coefficients,
            found.residuals,
            found.rank,
            found.singular_values,
            found.rcond,
        ]
    });
    PolynomialFit {
        coefficients: results[0].clone(),
        residuals: results[1].clone(),
        rank: results[2].clone(),
        singular_values: results[3].clone(),
        rcond: results[4].clone(),
    }
}

/// [`polyfit`] with the covariances of the coefficients, a matrix; of several columns of samples along a last axis.
///
/// They are scaled by the mean square of the differences, unless [`Polyfit::unscaled`] says otherwise: `cov=True` of JAX, and
/// `cov="unscaled"`.
///
/// # Panics
/// As [`polyfit`]; when there are not more samples than coefficients, unless covariances are unscaled.
///
/// ```
/// use jaxide::{Array, numpy};
/// let x = Array::from([0.0f32, 1.0, 2.0]);
/// let (line, covariances) = numpy::polyfit_cov(&x, &Array::from([1.0f32, 2.0, 3.0]), 1, ());
/// assert_eq!((line.shape(), covariances.shape()), (&[2][..], &[2, 2][..]));
/// assert!(covariances.abs().max().item::<f32>() < 1e-6);
/// ```
#[track_caller]
pub fn polyfit_cov(
    x: &Array,
    y: &Array,
    deg: usize,
    options: impl Into<Polyfit>,
) -> (Array, Array) {
    let _named = crate::trace::named("polyfit_cov");
    let (options, operands, key) = fit_operands(x, y, deg, options.into());
    let key = format!("{key} {} cov", options.unscaled);
    let mut results = library_call("polyfit", &key, &operands, |operands| {
        let fit = fit(operands, deg, &options);
        let covariances = covariances(&fit, &operands[1], options.unscaled);
        vec![fit.found.coefficients, covariances]
    });
    let covariances = results.swap_remove(1);
    (results.swap_remove(0), covariances)
}

/// A fit with the scaled matrix of powers, and what its columns were divided by.
struct Fit {
    found: PolynomialFit,
    scaled: Array,
    scale: Array,
}

fn fit_operands(
    x: &Array,
    y: &Array,
    deg: usize,
    options: Polyfit,
) -> (Polyfit, Vec<Array>, String) {
    let mut operands = vec![x.clone(), y.clone()];
    operands.extend(options.w.clone());
    let key = format!("{deg} {:?}", options.rcond);
    (options, operands, key)
}

#[track_caller]
fn fit(operands: &[Array], deg: usize, options: &Polyfit) -> Fit {
    const OPERATION: &str = "polyfit";
    let (x, y) = (&operands[0], &operands[1]);
    let count = vector(OPERATION, x);
    let fits = |other: &Array| other.shape().first() == Some(&count);
    let weights = operands.get(2);
    if count == 0 || !fits(y) || y.ndim() > 2 || !weights.is_none_or(|w| w.ndim() == 1 && fits(w)) {
        raise(
            Error::shape(format!(
                "samples {} at {} are no vectors of one length",
                y.aval(),
                x.aval()
            ))
            .in_operation(OPERATION),
        );
    }
    let rcond = options
        .rcond
        .unwrap_or(count as f64 * finfo(inexact(x.dtype())).eps);
    let mut powers = vander(x, deg + 1);
    let mut y = y.clone();
    if let Some(w) = weights {
        let w = inexact_of(OPERATION, w);
        let column = lax::expand_dims(&w, 1);
        powers = numpy::multiply(&powers, &column);
        y = numpy::multiply(&y, if y.ndim() == 2 { &column } else { &w });
    }
    let scale = numpy::sqrt(&numpy::sum(&lax::mul(&powers, &powers), 0));
    let scaled = numpy::divide(&powers, &lax::expand_dims(&scale, 0));
    let Solution {
        x,
        residuals,
        rank,
        singular_values,
    } = least_squares(&scaled, &y, rcond);
    let coefficients = if x.ndim() > 1 {
        let rows = lax::transpose(&x, ());
        lax::transpose(&numpy::divide(&rows, &lax::expand_dims(&scale, 0)), ())
    } else {
        numpy::divide(&x, &scale)
    };
    let found = PolynomialFit {
        coefficients,
        residuals,
        rank,
        singular_values,
        rcond: match inexact(scaled.dtype()) {
            dtype if is_wide(dtype) => as_dtype(&Array::from(rcond), DType::F64, true),
            _ => Array::from(rcond),
        },
    };
    Fit {
        found,
        scaled,
        scale,
    }
}

/// The covariances of coefficients for each column of samples, which are as exact as the differences say.
#[track_caller]
fn covariances(fit: &Fit, y: &Array, unscaled: bool) -> Array {
    let (samples, order) = (fit.scaled.shape()[0], fit.scaled.shape()[1]);
    let squares = numpy::dot(&lax::transpose(&fit.scaled, ()), &fit.scaled);
    let inverse = numpy::linalg::inv(&squares);
    let inverse = numpy::divide(&inverse, &numpy::outer(&fit.scale, &fit.scale));
    let factor = if unscaled {
        numpy::array(1.0, ())
    } else if samples > order {
        numpy::divide(&fit.found.residuals, (samples - order) as i64)
    } else {
        let what =
            format!("{samples} samples are too few for the covariances of {order} coefficients");
        raise(Error::shape(what).in_operation("polyfit"));
    };
    if y.ndim() == 1 {
        let factor = numpy::atleast_1d(&factor);
        numpy::multiply(&inverse, &lax::expand_dims(&factor, 0))
    } else {
        let inverse = lax::expand_dims(&inverse, 2);
        let factor = lax::expand_dims(&numpy::atleast_1d(&factor), [0, 1]);
        numpy::multiply(&inverse, &factor)
    }
}
