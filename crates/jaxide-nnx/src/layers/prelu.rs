//! A rectifier that learns its slope.

use jaxide::{Array, numpy};

use crate::{Module, Param, Variable, observed};

/// `x` where it is not negative, and elsewhere `x` times a number that is learnt.
///
/// ```
/// use jaxide_nnx::PReLU;
/// use jaxide::Array;
/// assert_eq!(PReLU::new(0.5).call(&Array::from([2.0f32, -2.0])).to_vec::<f32>(), [2.0, -1.0]);
/// ```
#[derive(Clone, Debug, Module)]
pub struct PReLU {
    /// The factor, a scalar.
    pub negative_slope: Variable<Param>,
}

impl PReLU {
    /// A layer with this factor at first; 0.01 is usual.
    pub fn new(negative_slope: f32) -> Self {
        PReLU {
            negative_slope: Variable::new(Array::scalar(negative_slope)),
        }
    }

    /// The layer of `x`.
    #[observed]
    pub fn call(&self, x: &Array) -> Array {
        let slope = self.negative_slope.get().astype(x.dtype());
        numpy::where_(numpy::greater_equal(x, 0.0), x, slope * x)
    }
}
