//! Arrays from and to the crate `nalgebra` (feature `nalgebra`).

use jaxide_core::{Element, Result, Tensor};
use nalgebra::{DMatrix, DMatrixView, DVector, SMatrix};

use super::{Array, Values};
use crate::trace::OrRaise;

#[track_caller]
fn array<T: Element>(shape: &[usize], elements: Vec<T>) -> Array {
    Array::from(Tensor::from_vec(shape, elements).or_raise())
}

/// An array of rank 1, which takes the memory of the vector.
impl<T: Element> From<DVector<T>> for Array {
    fn from(vector: DVector<T>) -> Self {
        array(&[vector.len()], vector.data.into())
    }
}

/// An array of rank 2. A single row or column gives its memory away; other matrices are in column-major order, and their
/// elements are copied.
impl<T: Element> From<DMatrix<T>> for Array {
    fn from(matrix: DMatrix<T>) -> Self {
        let (rows, columns) = matrix.shape();
        if rows <= 1 || columns <= 1 {
            return array(&[rows, columns], matrix.data.into());
        }
        Array::from(matrix.as_view())
    }
}

/// An array of rank 2, copied.
impl<T: Element> From<DMatrixView<'_, T>> for Array {
    fn from(matrix: DMatrixView<'_, T>) -> Self {
        let (rows, columns) = matrix.shape();
        let elements = matrix.transpose().iter().copied().collect();
        array(&[rows, columns], elements)
    }
}

/// A vector is an array of rank 1, and a matrix one of rank 2; elements are copied.
impl<T: Element, const R: usize, const C: usize> From<SMatrix<T, R, C>> for Array {
    fn from(matrix: SMatrix<T, R, C>) -> Self {
        let elements = matrix.transpose().iter().copied().collect();
        if C == 1 {
            array(&[R], elements)
        } else {
            array(&[R, C], elements)
        }
    }
}

impl Array {
    /// The elements of a matrix as one of `nalgebra`, copied; a vector is a column.
    ///
    /// # Errors
    /// When the array has another rank, `T` is not the type of the elements, or the array is traced and has no value yet.
    ///
    /// ```
    /// use jaxide::Array;
    /// let a = Array::from(nalgebra::Matrix2::new(1.0, 2.0, 3.0, 4.0));
    /// assert_eq!(a.t().to_nalgebra::<f64>()?, nalgebra::Matrix2::new(1.0, 3.0, 2.0, 4.0));
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn to_nalgebra<T: Element>(&self) -> Result<DMatrix<T>> {
        let values = self.values::<T>()?;
        let (rows, columns) = values.matrix_shape("to_nalgebra")?;
        Ok(DMatrix::from_row_slice(rows, columns, &values))
    }
}

impl<T: Element> Values<T> {
    /// The transpose of a matrix as a view of `nalgebra`: its columns are the rows of the array. A vector is a column, and its
    /// transpose a row.
    ///
    /// Seen untransposed, rows would be strided, which products of `nalgebra` 0.35 read and write out of bounds.
    ///
    /// # Errors
    /// When the array has another rank.
    ///
    /// ```
    /// use jaxide::Array;
    /// let values = Array::from([[1.0, 2.0], [3.0, 4.0]]).values::<f64>()?;
    /// assert_eq!(values.nalgebra_transposed()?, nalgebra::Matrix2::new(1.0, 3.0, 2.0, 4.0));
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn nalgebra_transposed(&self) -> Result<DMatrixView<'_, T>> {
        let (rows, columns) = self.matrix_shape("nalgebra_transposed")?;
        Ok(DMatrixView::from_slice(self, columns, rows))
    }
}
