//! Samples that are vectors and matrices.

use jaxide_core::Error;

use super::given::{float_type, inexact, sampled_shape, single};
use super::{MultivariateNormal, Orthogonal, Root, normal, number};
use crate::array::Array;
use crate::trace::library::library_call;
use crate::trace::{library, raise};
use crate::{lax, numpy};

/// The shape of stacks of vectors, and the length of the vectors.
#[track_caller]
pub(super) fn last_axis<'a>(operation: &str, x: &'a Array) -> (&'a [usize], usize) {
    match x.shape().split_last() {
        Some((&last, batch)) => (batch, last),
        None => {
            let error = format!("an array with an axis is needed, and {} is given", x.aval());
            raise(Error::shape(error).in_operation(operation))
        }
    }
}

/// Samples of the normal distribution of vectors with a mean and a covariance matrix. The shape is that of the result without its last
/// axis; the means and matrices, which may be stacks, broadcast to it.
///
/// # Panics
/// When the covariance is not a square matrix as long as the mean, the element type is not floating-point, or shapes do not broadcast.
///
/// ```
/// use jaxide::{Array, random};
/// let covariance = Array::from([[2.0f32, 1.0], [1.0, 2.0]]);
/// let x = random::multivariate_normal(&random::key(0), [0.0f32, 1.0], &covariance, [1000]);
/// assert_eq!(x.shape(), [1000, 2]);
/// ```
#[track_caller]
pub fn multivariate_normal(
    key: &Array,
    mean: impl Into<Array>,
    cov: impl Into<Array>,
    options: impl Into<MultivariateNormal>,
) -> Array {
    let _named = crate::trace::named("multivariate_normal");
    const NAME: &str = "multivariate_normal";
    let MultivariateNormal {
        shape,
        dtype,
        method,
    } = options.into();
    let key = &single(NAME, key);
    let [mean, cov] = &inexact(NAME, [&mean.into(), &cov.into()]);
    let dtype = float_type(NAME, dtype.unwrap_or(mean.dtype()));
    let (means, n) = last_axis(NAME, mean);
    let Some((matrices, [rows, columns])) = cov.shape().split_last_chunk::<2>() else {
        let error = format!("a covariance is a matrix, and {} is given", cov.aval());
        raise(Error::shape(error).in_operation(NAME))
    };
    if [*rows, *columns] != [n; 2] {
        let error = format!(
            "{} is no covariance for the mean {}",
            cov.aval(),
            mean.aval()
        );
        raise(Error::shape(error).in_operation(NAME));
    }
    let shape = &sampled_shape(NAME, shape.as_ref(), &[means, matrices])[..];
    let of = format!("{shape:?} {dtype} {method:?}");
    library(
        "_multivariate_normal",
        &of,
        [key, mean, cov],
        |[key, mean, cov]| {
            let factor = root(cov, method);
            let samples = normal(key, &[shape, &[n]].concat(), dtype);
            mean + numpy::einsum("...ij,...j->...i", &[factor, samples], ())
        },
    )
}

/// A matrix whose product with its transpose is `cov`.
fn root(cov: &Array, method: Root) -> Array {
    match method {
        Root::Cholesky => library("cholesky", "", [cov], |[cov]| {
            lax::linalg::cholesky(&symmetric(cov), false)
        }),
        Root::Svd => {
            let parts = library_call("svd", "", std::slice::from_ref(cov), |operands| {
                let (u, s, v) = lax::linalg::svd(&operands[0], true);
                vec![u, s, v]
            });
            scaled_columns(&parts[0], &parts[1])
        }
        Root::Eigh => {
            let parts = library_call("eigh", "", std::slice::from_ref(cov), |operands| {
                let (v, w) = lax::linalg::eigh(&symmetric(&operands[0]), true, false);
                vec![w, v]
            });
            scaled_columns(&parts[1], &parts[0])
        }
    }
}

/// The columns of matrices times the roots of numbers.
fn scaled_columns(matrix: &Array, squares: &Array) -> Array {
    matrix * lax::sqrt(&lax::expand_dims(squares, &[squares.ndim() - 1]))
}

/// The mean of matrices and their transposes.
fn symmetric(matrix: &Array) -> Array {
    let rank = matrix.ndim();
    let mut axes: Vec<usize> = (0..rank).collect();
    axes.swap(rank - 1, rank - 2);
    (matrix + lax::transpose(matrix, &axes)) / number(2.0, matrix.dtype())
}

/// Uniform samples of the orthogonal matrices of `n` rows and as many columns, or of matrices whose shorter side is orthonormal.
///
/// # Panics
/// When the element type is not floating-point.
///
/// ```
/// use jaxide::{numpy, random};
/// let q = random::orthogonal(&random::key(0), 3, ());
/// let product = numpy::matmul(&q, &q.t()) - numpy::eye(3, ());
/// assert!(product.abs().max().item::<f32>() < 1e-6);
/// ```
#[track_caller]
pub fn orthogonal(key: &Array, n: usize, options: impl Into<Orthogonal>) -> Array {
    let _named = crate::trace::named("orthogonal");
    let Orthogonal { shape, dtype, m } = options.into();
    let key = &single("orthogonal", key);
    let dtype = match dtype {
        complex if complex.is_complex() => complex,
        dtype => float_type("orthogonal", dtype),
    };
    let m = m.unwrap_or(n);
    let shape = &sampled_shape("orthogonal", shape.as_ref(), &[])[..];
    let of = format!("{shape:?} {n} {m} {dtype}");
    library("_orthogonal", &of, [key], |[key]| {
        let z = normal(key, &[shape, &[n.max(m), n.min(m)]].concat(), dtype);
        let parts = library_call("qr", "", &[z], |operands| {
            let (q, r) = lax::linalg::qr(&operands[0], false);
            vec![q, r]
        });
        let last = numpy::Diagonal::new().axis1(-2).axis2(-1);
        let signs = lax::sign(&numpy::diagonal(&parts[1], last));
        let x = &parts[0] * lax::expand_dims(&signs, &[shape.len()]);
        if n < m {
            let mut axes: Vec<usize> = (0..x.ndim()).collect();
            axes.swap(shape.len(), shape.len() + 1);
            lax::transpose(&x, &axes)
        } else {
            x
        }
    })
}
