//! Methods that are functions of shapes in [`numpy`] under the same name.

use super::{Array, Axes, Integer};
use crate::numpy::{self, Diagonal, Order, Repeat, Repeats};

/// Elements under other shapes, as the functions of [`numpy`] with the same names.
impl Array {
    /// The elements as a vector: see [`numpy::ravel`].
    ///
    /// # Panics
    /// Never for arrays that exist.
    #[track_caller]
    pub fn ravel(&self, order: impl Into<Order>) -> Array {
        numpy::ravel(self, order)
    }

    /// The elements as a vector, the last axis fastest.
    ///
    /// # Panics
    /// Never for arrays that exist.
    #[track_caller]
    pub fn flatten(&self) -> Array {
        numpy::ravel(self, ())
    }

    /// Without axes of length 1: those that are named, or all with `()`.
    ///
    /// # Panics
    /// When such an axis is longer.
    #[track_caller]
    pub fn squeeze(&self, axes: impl Axes) -> Array {
        numpy::squeeze(self, axes)
    }

    /// Two axes exchanged.
    ///
    /// # Panics
    /// When an axis is out of range.
    #[track_caller]
    pub fn swapaxes(&self, axis1: impl Integer, axis2: impl Integer) -> Array {
        numpy::swapaxes(self, axis1, axis2)
    }

    /// Each element several times: see [`numpy::repeat`].
    ///
    /// # Panics
    /// As the function.
    #[track_caller]
    pub fn repeat(&self, repeats: impl Into<Repeats>, options: impl Into<Repeat>) -> Array {
        numpy::repeat(self, repeats, options)
    }

    /// A diagonal of the matrices that two axes hold: see [`numpy::diagonal`].
    ///
    /// # Panics
    /// As the function.
    #[track_caller]
    pub fn diagonal(&self, options: impl Into<Diagonal>) -> Array {
        numpy::diagonal(self, options)
    }

    /// The sum of a diagonal: see [`numpy::trace`].
    ///
    /// # Panics
    /// As the function.
    ///
    /// ```
    /// use jaxide::Array;
    /// let x = Array::from([[1, 2], [3, 4]]);
    /// assert_eq!(x.trace(()).item::<i32>(), 5);
    /// assert_eq!(x.ravel(()).repeat(2, ()).shape(), [8]);
    /// ```
    #[track_caller]
    pub fn trace(&self, options: impl Into<Diagonal>) -> Array {
        numpy::trace(self, options)
    }

    /// A new array of the elements.
    ///
    /// # Panics
    /// Never for arrays that exist.
    #[track_caller]
    pub fn copy(&self) -> Array {
        numpy::copy(self)
    }
}
