//! Interpolation of rotations.

use jaxide_core::{DType, Error};
use jaxide_tree::Pytree;

use super::Rotation;
use super::formulas::at_least_1d;
use crate::array::Array;
use crate::trace::raise;
use crate::{lax, numpy};

/// Rotations between rotations at some times, with constant speed between two of them. A tree of arrays.
///
/// ```
/// use jaxide::Array;
/// use jaxide::scipy::spatial::transform::{Rotation, Slerp};
/// let ends = Rotation::from_euler("z", [[0.0f32], [90.0]], true);
/// let between = Slerp::new([0.0f32, 1.0], &ends);
/// let middle = between.call(0.5).as_euler("xyz", true).to_vec::<f32>();
/// assert!((middle[2] - 45.0).abs() < 1e-4);
/// ```
#[derive(Clone, Debug, Pytree)]
pub struct Slerp {
    /// The times, in ascending order.
    pub times: Array,
    /// Their distances.
    pub timedelta: Array,
    /// The rotations but the last one.
    pub rotations: Rotation,
    /// What leads from each to the next.
    pub rotvecs: Array,
}

impl Slerp {
    /// Between at least two rotations, one for each time. (JAX calls it `Slerp.init`.)
    ///
    /// # Panics
    /// When there are fewer, or as many times are not given.
    #[track_caller]
    pub fn new(times: impl Into<Array>, rotations: &Rotation) -> Slerp {
        let _named = crate::trace::named("Slerp.new");
        let times = times.into().astype(rotations.quat.dtype());
        let fits =
            rotations.quat.ndim() == 2 && rotations.len() > 1 && times.shape() == [rotations.len()];
        if !fits {
            let error = format!(
                "several rotations and a time for each are needed, and {} and {} are given",
                rotations.quat.aval(),
                times.aval()
            );
            raise(Error::shape(error).in_operation("Slerp"));
        }
        let last = rotations.len() - 1;
        let timedelta = numpy::diff(&times, ());
        let first = Rotation {
            quat: rotations.quat.slice(..last),
        };
        let back = first.inv();
        let next = Rotation {
            quat: rotations.quat.slice(1..),
        };
        Slerp {
            timedelta,
            rotvecs: (&back * &next).as_rotvec(false),
            rotations: first,
            times,
        }
    }

    /// The rotations at times, a vector or a number. Beyond the ends it goes on.
    ///
    /// # Panics
    /// When the times have several axes.
    #[track_caller]
    pub fn call(&self, times: impl Into<Array>) -> Rotation {
        let _named = crate::trace::named("Slerp.call");
        let times = times.into().astype(self.times.dtype());
        if times.ndim() > 1 {
            let error = format!(
                "a vector or a number is needed, and {} is given",
                times.aval()
            );
            raise(Error::shape(error).in_operation("Slerp"));
        }
        let vector = at_least_1d(&times);
        let place = numpy::searchsorted(&self.times, &vector, ()).astype(DType::I32);
        let index = numpy::maximum(&(place - 1), &Array::from(0));
        let alpha = (vector - self.times.index(&index)) / self.timedelta.index(&index);
        let first = self.rotations.index(&index);
        let part = self.rotvecs.index(&index) * lax::expand_dims(&alpha, [1]);
        let result = &first * &Rotation::from_rotvec(part, false);
        if times.ndim() == 0 {
            result.index(0)
        } else {
            result
        }
    }
}
