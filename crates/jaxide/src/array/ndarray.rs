//! Arrays from and to the crate `ndarray` (feature `ndarray`).

use jaxide_core::{Element, Result, Tensor};
use ndarray::{ArrayBase, ArrayD, Data, Dimension, IxDyn};

use super::Array;
use crate::trace::OrRaise;

/// The elements are copied in row-major order, whatever the layout.
impl<T, S, D> From<ArrayBase<S, D>> for Array
where
    T: Element,
    S: Data<Elem = T>,
    D: Dimension,
{
    fn from(array: ArrayBase<S, D>) -> Self {
        let shape = array.shape().to_vec();
        let elements: Vec<T> = array.iter().copied().collect();
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
        ArrayD::from_shape_vec(IxDyn(value.shape()), elements).map_err(|error| {
            jaxide_core::Error::new(jaxide_core::ErrorKind::Internal, error.to_string())
        })
    }
}
