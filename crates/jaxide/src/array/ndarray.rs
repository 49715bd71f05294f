//! Arrays from and to the crate `ndarray` (feature `ndarray`).

use jaxide_core::{Element, Error, ErrorKind, Result, Tensor};
use ndarray::{ArrayBase, ArrayD, ArrayViewD, Data, Dimension, IxDyn, ShapeError};

use super::{Array, Values};
use crate::trace::OrRaise;

/// Owned arrays in row-major order give their memory away; the elements of views and of other layouts are copied.
impl<T, S, D> From<ArrayBase<S, D>> for Array
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    fn from(array: ArrayBase<S, D>) -> Self {
        let shape = array.shape().to_vec();
        let elements = if array.is_standard_layout() {
            let count = array.len();
            let (mut elements, offset) = array.into_owned().into_raw_vec_and_offset();
            // What a slice of an owned array cut off is still there.
            elements.drain(..offset.unwrap_or(0));
            elements.truncate(count);
            elements
        } else {
            array.iter().copied().collect()
        };
        Array::from(Tensor::from_vec(&shape, elements).or_raise())
    }
}

impl Array {
    /// The elements as an `ndarray` array, copied.
    ///
    /// # Errors
    /// When `T` is not the type of the elements, or the array is traced and has no value yet.
    ///
    /// ```
    /// use jaxide::Array;
    /// let a = Array::from(ndarray::array![[1.0f32, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.t().to_ndarray::<f32>()?, ndarray::array![[1.0f32, 3.0], [2.0, 4.0]].into_dyn());
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn to_ndarray<T: Element>(&self) -> Result<ArrayD<T>> {
        let value = self.try_value()?;
        let elements = value.to_vec::<T>()?;
        ArrayD::from_shape_vec(IxDyn(value.shape()), elements).map_err(|error| shape(&error))
    }
}

impl<T: Element> Values<T> {
    /// The elements as an `ndarray` view.
    ///
    /// # Errors
    /// Only for a shape that `ndarray` does not have: of more elements, were none of its lengths 0, than can be addressed.
    ///
    /// ```
    /// use jaxide::Array;
    /// let values = Array::from([[1.0f32, 2.0], [3.0, 4.0]]).values::<f32>()?;
    /// assert_eq!(values.ndarray()?[[1, 0]], 3.0);
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn ndarray(&self) -> Result<ArrayViewD<'_, T>> {
        ArrayViewD::from_shape(IxDyn(self.shape()), self).map_err(|error| shape(&error))
    }
}

fn shape(error: &ShapeError) -> Error {
    Error::new(ErrorKind::Internal, error.to_string())
}
