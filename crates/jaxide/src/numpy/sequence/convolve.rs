//! Convolution and correlation of vectors.

use jaxide_core::prims::DotPrecision;
use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype, result_dtype};
use crate::lax::{self, Convolution, Padding};
use crate::numpy::alone::alone;
use crate::numpy::arithmetic::inexact;
use crate::numpy::flip;
use crate::options::options;
use crate::trace::{library, raise};

/// Which places of one vector along the other belong to the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConvolveMode {
    /// Where they overlap at all.
    Full,
    /// As many as the longer one has elements, in the middle.
    Same,
    /// Where they overlap completely.
    Valid,
}

options! {
    /// What [`convolve`] and [`correlate`] take beside the vectors; a mode alone is one too.
    pub struct Convolve {
        /// Which places belong to the result: all of a convolution, those of complete overlap of a correlation, by default.
        mode: Option<ConvolveMode> = None, |mode: impl Into<Option<ConvolveMode>>| mode.into();
        /// How exact products have to be.
        precision: Option<DotPrecision> = None, |precision: impl Into<Option<DotPrecision>>| precision.into();
        /// The element type of the result; without one, integers become floats.
        preferred_element_type: Option<DType> = None, |dtype: impl Into<Option<DType>>| dtype.into();
    }
}

alone!(Convolve, mode: ConvolveMode);

/// The convolution of two vectors. Integers become floats, unless an element type is preferred.
///
/// # Panics
/// When an operand is no vector, or empty.
///
/// ```
/// use jaxide::{Array, numpy::{self, ConvolveMode}};
/// let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([1.0f32, 1.0]));
/// assert_eq!(numpy::convolve(&x, &y, ()).to_vec::<f32>(), [1.0, 3.0, 5.0, 3.0]);
/// assert_eq!(numpy::convolve(&x, &y, ConvolveMode::Valid).to_vec::<f32>(), [3.0, 5.0]);
/// ```
#[track_caller]
pub fn convolve(a: &Array, v: &Array, options: impl Into<Convolve>) -> Array {
    let _named = crate::trace::named("convolve");
    let options = options.into();
    let mode = options.mode.unwrap_or(ConvolveMode::Full);
    let key = format!("{mode:?} {options:?}");
    library("convolve", &key, [a, v], |[a, v]| {
        slid("convolve", a, v, mode, &options)
    })
}

/// The correlation of two vectors: the products of the first with the conjugate of the second, moved along it.
///
/// # Panics
/// When an operand is no vector, or empty.
///
/// ```
/// use jaxide::{Array, numpy};
/// let (x, y) = (Array::from([1.0f32, 2.0, 3.0]), Array::from([0.0f32, 1.0]));
/// assert_eq!(numpy::correlate(&x, &y, ()).to_vec::<f32>(), [2.0, 3.0]);
/// ```
#[track_caller]
pub fn correlate(a: &Array, v: &Array, options: impl Into<Convolve>) -> Array {
    let _named = crate::trace::named("correlate");
    let options = options.into();
    let mode = options.mode.unwrap_or(ConvolveMode::Valid);
    let key = format!("{mode:?} {options:?}");
    library("correlate", &key, [a, v], |[a, v]| {
        slid("correlate", a, v, mode, &options)
    })
}

#[track_caller]
fn slid(operation: &str, x: &Array, y: &Array, mode: ConvolveMode, options: &Convolve) -> Array {
    let key = format!("{operation} {mode:?} {options:?}");
    library("_conv", &key, [x, y], |[x, y]| {
        if x.ndim() != 1 || y.ndim() != 1 || x.size() == 0 || y.size() == 0 {
            raise(
                Error::shape(format!(
                    "vectors with elements are needed, and {} and {} are given",
                    x.aval(),
                    y.aval()
                ))
                .in_operation(operation),
            );
        }
        let (dtype, weak) = result_dtype(operation, &[x, y]);
        let dtype = match options.preferred_element_type {
            Some(_) => dtype,
            None => inexact(dtype),
        };
        let [mut x, mut y] = [x, y].map(|x| as_dtype(x, dtype, weak));
        let correlates = operation == "correlate";
        if correlates && y.dtype().is_complex() {
            y = lax::conj(&y);
        }
        let swaps = x.size() < y.size();
        if swaps {
            std::mem::swap(&mut x, &mut y);
        }
        if !correlates {
            y = flip(&y, 0);
        }
        let count = y.size() as i64;
        let padding = match mode {
            ConvolveMode::Valid => (0, 0),
            ConvolveMode::Same => (count / 2, count - count / 2 - 1),
            ConvolveMode::Full => (count - 1, count - 1),
        };
        let how = Convolution {
            precision: options.precision.clone(),
            preferred_element_type: options.preferred_element_type,
            ..Convolution::new([1], Padding::Explicit(vec![padding]))
        };
        let result = lax::conv_general_dilated(
            &lax::expand_dims(&x, [0, 1]),
            &lax::expand_dims(&y, [0, 1]),
            &how,
        );
        let result = if correlates && swaps {
            lax::rev(&result, 2)
        } else {
            result
        };
        lax::squeeze(&result, [0, 1])
    })
}
