//! Arrays from and to the crate `faer` (feature `faer`).

use faer::{ColRef, Mat, MatRef};
use jaxide_core::{Element, Result, Tensor};

use super::{Array, Values};
use crate::trace::OrRaise;

/// An array of rank 2: the elements, whose columns `faer` pads, are copied.
impl<T: Element> From<MatRef<'_, T>> for Array {
    fn from(matrix: MatRef<'_, T>) -> Self {
        let (rows, columns) = matrix.shape();
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let elements: Vec<T> = places.map(|(row, column)| matrix[(row, column)]).collect();
        Array::from(Tensor::from_vec(&[rows, columns], elements).or_raise())
    }
}

/// An array of rank 2, copied.
impl<T: Element> From<Mat<T>> for Array {
    fn from(matrix: Mat<T>) -> Self {
        Array::from(matrix.as_ref())
    }
}

/// An array of rank 1, copied.
impl<T: Element> From<ColRef<'_, T>> for Array {
    fn from(column: ColRef<'_, T>) -> Self {
        let elements: Vec<T> = column.iter().copied().collect();
        Array::from(Tensor::from_vec(&[elements.len()], elements).or_raise())
    }
}

impl Array {
    /// The elements of a matrix as one of `faer`, copied; a vector is a column.
    ///
    /// # Errors
    /// When the array has another rank, `T` is not the type of the elements, or the array is traced and has no value yet.
    ///
    /// ```
    /// use jaxide::Array;
    /// let a = Array::from(faer::mat![[1.0, 2.0], [3.0, 4.0]]);
    /// assert_eq!(a.t().to_faer::<f64>()?, faer::mat![[1.0, 3.0], [2.0, 4.0]]);
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn to_faer<T: Element>(&self) -> Result<Mat<T>> {
        let values = self.values::<T>()?;
        let (rows, columns) = values.matrix_shape("to_faer")?;
        Ok(Mat::from_fn(rows, columns, |row, column| {
            values[row * columns + column]
        }))
    }
}

impl<T: Element> Values<T> {
    /// The elements of a matrix as a view of `faer`; a vector is a column.
    ///
    /// # Errors
    /// When the array has another rank.
    ///
    /// ```
    /// use jaxide::Array;
    /// let values = Array::from([[1.0, 2.0], [3.0, 4.0]]).values::<f64>()?;
    /// assert_eq!(values.faer()?.transpose(), faer::mat![[1.0, 3.0], [2.0, 4.0]]);
    /// # Ok::<(), jaxide::Error>(())
    /// ```
    pub fn faer(&self) -> Result<MatRef<'_, T>> {
        let (rows, columns) = self.matrix_shape("faer")?;
        Ok(MatRef::from_row_major_slice(self, rows, columns))
    }
}
