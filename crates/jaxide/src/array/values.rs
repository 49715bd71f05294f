//! The elements of arrays, borrowed.

use std::fmt;
use std::marker::PhantomData;
use std::ops::Deref;

#[cfg(any(feature = "faer", feature = "nalgebra"))]
use jaxide_core::Error;
use jaxide_core::{Element, Result, Tensor};

use super::Array;

/// The elements of an array in row-major order, as a slice: made by [`Array::values`] without a copy.
///
/// They stay what they are, whatever becomes of the array.
///
/// ```
/// use jaxide::Array;
/// let values = Array::from([1.0f32, 2.0, 4.0]).values::<f32>()?;
/// assert_eq!(values.iter().sum::<f32>(), 7.0);
/// assert_eq!(values[2], 4.0);
/// # Ok::<(), jaxide::Error>(())
/// ```
#[derive(Clone)]
pub struct Values<T> {
    tensor: Tensor,
    element: PhantomData<T>,
}

impl Array {
    /// The elements in row-major order, shared with the array.
    ///
    /// # Errors
    /// When `T` is not their type, or the array is traced and has no value yet.
    pub fn values<T: Element>(&self) -> Result<Values<T>> {
        let tensor = self.try_value()?;
        tensor.as_slice::<T>()?;
        Ok(Values {
            tensor,
            element: PhantomData,
        })
    }
}

impl<T: Element> Values<T> {
    /// Lengths of the axes.
    pub fn shape(&self) -> &[usize] {
        self.tensor.shape()
    }

    /// Rows and columns of a matrix; a vector is a column.
    ///
    /// # Errors
    /// When there are more axes, or none.
    #[cfg(any(feature = "faer", feature = "nalgebra"))]
    pub(super) fn matrix_shape(&self, operation: &str) -> Result<(usize, usize)> {
        match *self.shape() {
            [rows, columns] => Ok((rows, columns)),
            [length] => Ok((length, 1)),
            _ => Err(Error::shape(format!(
                "a matrix or a vector is needed, not {}",
                self.tensor.aval()
            ))
            .in_operation(operation)),
        }
    }
}

impl<T: Element> Deref for Values<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // `values` has seen that these are their type.
        self.tensor.as_slice().unwrap_or_default()
    }
}

impl<T: Element> fmt::Debug for Values<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
