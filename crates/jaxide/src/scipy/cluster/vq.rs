//! Vector quantisation.

use jaxide_core::Error;

use crate::array::{Array, promote_dtypes};
use crate::numpy::linalg::Norm;
use crate::scipy::operands::inexact;
use crate::trace::raise;
use crate::{lax, numpy, vmap_of};

/// The nearest code of each observation, as an `i32`, and its distance. Observations and codes are rows, or numbers in a vector.
///
/// # Panics
/// When observations and codes are not of the same rank, 1 or 2, or of different lengths.
///
/// ```
/// use jaxide::scipy::cluster::vq::vq;
/// let (code, distance) = vq([[0.0f32, 1.0], [5.0, 5.0]], [[0.0f32, 0.0], [5.0, 4.0]]);
/// assert_eq!(code.to_vec::<i32>(), [0, 1]);
/// assert_eq!(distance.to_vec::<f32>(), [1.0, 1.0]);
/// ```
#[track_caller]
pub fn vq(obs: impl Into<Array>, code_book: impl Into<Array>) -> (Array, Array) {
    let _named = crate::trace::named("vq");
    let (obs, codes) = (obs.into(), code_book.into());
    let fits = obs.ndim() == codes.ndim()
        && (1..=2).contains(&obs.ndim())
        && obs.shape()[1..] == codes.shape()[1..];
    if !fits {
        let error = format!(
            "vectors or matrices with rows of one length are needed, and {} and {} are given",
            obs.aval(),
            codes.aval()
        );
        raise(Error::shape(error).in_operation("vq"));
    }
    let [obs, codes] = promote_dtypes("vq", [&obs, &codes]);
    let ([obs], [codes]) = (inexact("vq", [obs]), inexact("vq", [codes]));
    let rows = |x: Array| {
        if x.ndim() == 1 {
            lax::expand_dims(&x, [1])
        } else {
            x
        }
    };
    let (obs, codes) = (rows(obs), rows(codes));
    let distances = vmap_of(
        &|row: Array| {
            let delta = lax::expand_dims(&row, [0]) - &codes;
            numpy::linalg::norm(&delta, Norm::new().axis(-1))
        },
        obs,
    );
    let code = lax::argmin(&distances, -1, numpy::position_type(&distances));
    let nearest = vmap_of(
        &|row: Array, code: Array| row.index(code),
        (distances, code.clone()),
    );
    (code, nearest)
}
