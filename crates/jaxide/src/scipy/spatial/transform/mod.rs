//! Rotations of three dimensions.

mod euler;
mod formulas;
mod slerp;

use std::ops::Mul;

use jaxide_core::{DType, Error};
use jaxide_tree::Pytree;

pub use slerp::Slerp;

use crate::array::Array;
use crate::idx;
use crate::numpy::parts::refuse;
use crate::options::options;
use crate::trace::raise;
use crate::{lax, numpy};

/// A rotation, or several along leading axes: unit quaternions, the real part last. A tree of one array.
///
/// ```
/// use jaxide::Array;
/// use jaxide::scipy::spatial::transform::Rotation;
/// let quarter = Rotation::from_euler("z", 90.0, true);
/// let y = quarter.apply([1.0f32, 0.0, 0.0], false).to_vec::<f32>();
/// assert!(y[0].abs() < 1e-6 && (y[1] - 1.0).abs() < 1e-6);
/// let half = &quarter * &quarter;
/// assert!((half.magnitude().item::<f32>() - std::f32::consts::PI).abs() < 1e-6);
/// ```
#[derive(Clone, Debug, Pytree)]
pub struct Rotation {
    /// The quaternions, along the last axis.
    pub quat: Array,
}

options! {
    /// What [`Rotation::as_quat`] can be told.
    pub struct AsQuat {
        /// Whether the sign is chosen so that the real part is not negative.
        canonical: bool = false;
        /// Whether the real part is first.
        scalar_first: bool = false;
    }
}

#[track_caller]
fn check_last(operation: &str, x: &Array, length: usize) {
    if x.shape().last() != Some(&length) {
        let error = format!(
            "the last axis must have length {length}, and {} is given",
            x.aval()
        );
        raise(Error::shape(error).in_operation(operation));
    }
}

/// `x` as floats.
#[track_caller]
fn floating(x: impl Into<Array>) -> Array {
    let [x] = crate::scipy::operands::floats("Rotation", [x.into()]);
    x
}

impl Rotation {
    /// Several rotations one after the other: their quaternions along the first axis.
    ///
    /// # Panics
    /// When one is single, or element types differ.
    #[track_caller]
    pub fn concatenate(rotations: &[Rotation]) -> Rotation {
        let _named = crate::trace::named("Rotation.concatenate");
        let quats: Vec<Array> = rotations
            .iter()
            .map(|rotation| rotation.quat.clone())
            .collect();
        Rotation {
            quat: numpy::concatenate(&quats, 0),
        }
    }

    /// From angles around axes: `seq` is up to three of `xyz` for axes that stay, or of `XYZ` for axes that turn too. Angles have an
    /// element for each axis along the last axis; a number will do for one.
    ///
    /// # Panics
    /// When the axes are other ones, or two neighbours are equal.
    #[track_caller]
    pub fn from_euler(seq: &str, angles: impl Into<Array>, degrees: bool) -> Rotation {
        let _named = crate::trace::named("Rotation.from_euler");
        Rotation {
            quat: euler::quaternion(seq, &floating(angles), degrees),
        }
    }

    /// From matrices, along the last two axes.
    ///
    /// # Panics
    /// When these are not 3 by 3.
    #[track_caller]
    pub fn from_matrix(matrix: impl Into<Array>) -> Rotation {
        let _named = crate::trace::named("Rotation.from_matrix");
        let matrix = floating(matrix);
        if !matches!(matrix.shape(), [.., 3, 3]) {
            refuse(
                "Rotation::from_matrix",
                "matrices of 3 by 3 are needed",
                &[&matrix],
            );
        }
        Rotation {
            quat: formulas::from_matrix(&matrix),
        }
    }

    /// From modified Rodrigues parameters: the axis times the tangent of a quarter of the angle.
    ///
    /// # Panics
    /// When the last axis has not length 3.
    #[track_caller]
    pub fn from_mrp(mrp: impl Into<Array>) -> Rotation {
        let _named = crate::trace::named("Rotation.from_mrp");
        let mrp = floating(mrp);
        check_last("Rotation::from_mrp", &mrp, 3);
        Rotation {
            quat: formulas::from_mrp(&mrp),
        }
    }

    /// From quaternions of any length, the real part last.
    ///
    /// # Panics
    /// When the last axis has not length 4.
    #[track_caller]
    pub fn from_quat(quat: impl Into<Array>) -> Rotation {
        let _named = crate::trace::named("Rotation.from_quat");
        let quat = floating(quat);
        check_last("Rotation::from_quat", &quat, 4);
        Rotation {
            quat: formulas::normalized(&quat),
        }
    }

    /// From vectors along the axis whose length is the angle.
    ///
    /// # Panics
    /// When the last axis has not length 3.
    #[track_caller]
    pub fn from_rotvec(rotvec: impl Into<Array>, degrees: bool) -> Rotation {
        let _named = crate::trace::named("Rotation.from_rotvec");
        let rotvec = floating(rotvec);
        check_last("Rotation::from_rotvec", &rotvec, 3);
        Rotation {
            quat: formulas::from_rotvec(&rotvec, degrees),
        }
    }

    /// The rotation that changes nothing, of an element type: `DType::F32` is JAX's default.
    ///
    /// # Panics
    /// When that is not a float type.
    #[track_caller]
    pub fn identity(dtype: DType) -> Rotation {
        let _named = crate::trace::named("Rotation.identity");
        Rotation {
            quat: crate::scipy::operands::numbers(&[0.0, 0.0, 0.0, 1.0], dtype),
        }
    }

    /// Whether it is one rotation.
    pub fn single(&self) -> bool {
        self.quat.ndim() == 1
    }

    /// The number of rotations along the first axis.
    ///
    /// # Panics
    /// When it is one rotation.
    #[track_caller]
    #[expect(
        clippy::len_without_is_empty,
        reason = "the length of an axis, not of a collection"
    )]
    pub fn len(&self) -> usize {
        if self.single() {
            raise(Error::shape("a single rotation has no length").in_operation("Rotation::len"));
        }
        self.quat.shape()[0]
    }

    /// The rotation at an index of the first axis, or for an array of indices the rotations.
    ///
    /// # Panics
    /// When it is one rotation.
    #[track_caller]
    pub fn index(&self, index: impl Into<Array>) -> Rotation {
        let _named = crate::trace::named("Rotation.index");
        if self.single() {
            let error = Error::shape("a single rotation has no indices");
            raise(error.in_operation("Rotation::index"));
        }
        Rotation {
            quat: self.quat.index(index),
        }
    }

    /// Vectors after the rotation, or with `inverse` before it. Leading axes are broadcast.
    ///
    /// # Panics
    /// When the last axis of the vectors has not length 3.
    #[track_caller]
    pub fn apply(&self, vectors: impl Into<Array>, inverse: bool) -> Array {
        let _named = crate::trace::named("Rotation.apply");
        let vectors = floating(vectors);
        check_last("Rotation::apply", &vectors, 3);
        formulas::applied(&self.as_matrix(), &vectors, inverse)
    }

    /// Angles around three axes, as in [`from_euler`](Self::from_euler), along the last axis.
    ///
    /// # Panics
    /// When there are not three axes, or two neighbours are equal.
    #[track_caller]
    pub fn as_euler(&self, seq: &str, degrees: bool) -> Array {
        let _named = crate::trace::named("Rotation.as_euler");
        euler::angles(seq, &self.quat, degrees)
    }

    /// Matrices, along the last two axes.
    #[track_caller]
    pub fn as_matrix(&self) -> Array {
        let _named = crate::trace::named("Rotation.as_matrix");
        formulas::as_matrix(&self.quat)
    }

    /// Modified Rodrigues parameters.
    #[track_caller]
    pub fn as_mrp(&self) -> Array {
        let _named = crate::trace::named("Rotation.as_mrp");
        formulas::as_mrp(&self.quat)
    }

    /// Vectors along the axis whose length is the angle.
    #[track_caller]
    pub fn as_rotvec(&self, degrees: bool) -> Array {
        let _named = crate::trace::named("Rotation.as_rotvec");
        formulas::as_rotvec(&self.quat, degrees)
    }

    /// The quaternions.
    #[track_caller]
    pub fn as_quat(&self, options: impl Into<AsQuat>) -> Array {
        let _named = crate::trace::named("Rotation.as_quat");
        let AsQuat {
            canonical,
            scalar_first,
        } = options.into();
        let quat = if canonical {
            formulas::canonical(&self.quat)
        } else {
            self.quat.clone()
        };
        if !scalar_first {
            return quat;
        }
        numpy::roll(&quat, 1, -1)
    }

    /// The rotation back.
    #[track_caller]
    #[must_use]
    pub fn inv(&self) -> Rotation {
        let _named = crate::trace::named("Rotation.inv");
        Rotation {
            quat: formulas::inverse(&self.quat),
        }
    }

    /// The angles, from 0 to π.
    #[track_caller]
    pub fn magnitude(&self) -> Array {
        let _named = crate::trace::named("Rotation.magnitude");
        formulas::magnitude(&self.quat)
    }

    /// The mean of several rotations, with weights or `None`.
    ///
    /// # Panics
    /// When it is one rotation, or the weights do not fit.
    #[track_caller]
    #[must_use]
    pub fn mean(&self, weights: Option<&Array>) -> Rotation {
        let _named = crate::trace::named("Rotation.mean");
        let count = self.len();
        let dtype = self.quat.dtype();
        let weights = match weights {
            Some(weights) => weights.astype(dtype),
            None => numpy::ones([count], dtype),
        };
        if weights.shape() != [count] {
            let error = format!(
                "{count} weights are needed, and {} is given",
                weights.aval()
            );
            raise(Error::shape(error).in_operation("Rotation::mean"));
        }
        let products = numpy::matmul(
            &(lax::expand_dims(&weights, [0]) * self.quat.t()),
            &self.quat,
        );
        let (_, vectors) = numpy::linalg::eigh(&products, ());
        Rotation {
            quat: vectors.index(idx![.., -1]),
        }
    }
}

/// First the right one, then the left one.
impl Mul<&Rotation> for &Rotation {
    type Output = Rotation;

    #[track_caller]
    fn mul(self, other: &Rotation) -> Rotation {
        Rotation {
            quat: formulas::normalized(&formulas::product(&self.quat, &other.quat)),
        }
    }
}

impl Mul for Rotation {
    type Output = Rotation;

    #[track_caller]
    fn mul(self, other: Rotation) -> Rotation {
        &self * &other
    }
}
