//! The elements of an array outside of traces.

use std::sync::{Arc, PoisonError, RwLock};

use jaxide_core::{Aval, DType, Error, ErrorKind, Result, Shape, Tensor};

/// Elements that all clones of an array share, until they are given away. A handle is moved in each call that it takes part in,
/// which is why it is small.
#[derive(Clone)]
pub(crate) enum Elements {
    /// A number: each handle has its own, and keeps it.
    Scalar(Tensor),
    Array(Arc<Cell>),
}

/// The place of the elements of an array with axes.
pub(crate) struct Cell {
    shape: Shape,
    dtype: DType,
    state: RwLock<State>,
}

enum State {
    Here(Tensor),
    /// Overwritten by a program.
    Donated(Box<Donation>),
}

/// Where elements went.
#[derive(Clone, Debug)]
pub(crate) struct Donation {
    /// The name of the function that took them.
    pub(crate) function: String,
    /// Which of its arguments they were: a tree path.
    pub(crate) argument: String,
}

impl Elements {
    #[inline]
    pub(crate) fn new(tensor: Tensor) -> Self {
        if tensor.shape().is_empty() {
            return Elements::Scalar(tensor);
        }
        Elements::Array(Arc::new(Cell {
            shape: Shape::from_slice(tensor.shape()),
            dtype: tensor.dtype(),
            state: RwLock::new(State::Here(tensor)),
        }))
    }

    #[inline]
    pub(crate) fn shape(&self) -> &[usize] {
        match self {
            Elements::Scalar(_) => &[],
            Elements::Array(cell) => &cell.shape,
        }
    }

    #[inline]
    pub(crate) fn dtype(&self) -> DType {
        match self {
            Elements::Scalar(tensor) => tensor.dtype(),
            Elements::Array(cell) => cell.dtype,
        }
    }

    /// The elements.
    ///
    /// # Errors
    /// When they were donated.
    pub(crate) fn tensor(&self) -> Result<Tensor> {
        match self {
            Elements::Scalar(tensor) => Ok(tensor.clone()),
            Elements::Array(cell) => cell.tensor(),
        }
    }

    /// The elements, not shared with this handle any more.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    #[inline]
    pub(crate) fn into_tensor(self) -> Result<Tensor> {
        let cell = match self {
            Elements::Scalar(tensor) => return Ok(tensor),
            Elements::Array(cell) => cell,
        };
        match Arc::try_unwrap(cell) {
            Ok(Cell {
                shape,
                dtype,
                state,
            }) => match state.into_inner().unwrap_or_else(PoisonError::into_inner) {
                State::Here(tensor) => Ok(tensor),
                State::Donated(donation) => Err(gone(dtype, &shape, &donation)),
            },
            Err(shared) => shared.tensor(),
        }
    }

    /// Takes the elements out of all handles.
    ///
    /// # Errors
    /// When they were donated before.
    pub(crate) fn donate(self, donation: Donation) -> Result<Tensor> {
        let cell = match self {
            Elements::Scalar(tensor) => return Ok(tensor),
            Elements::Array(cell) => cell,
        };
        let mut state = cell.state.write().unwrap_or_else(PoisonError::into_inner);
        let tensor = match &*state {
            State::Here(tensor) => tensor.clone(),
            State::Donated(earlier) => return Err(gone(cell.dtype, &cell.shape, earlier)),
        };
        *state = State::Donated(Box::new(donation));
        Ok(tensor)
    }
}

impl Cell {
    fn tensor(&self) -> Result<Tensor> {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        match &*state {
            State::Here(tensor) => Ok(tensor.clone()),
            State::Donated(donation) => Err(gone(self.dtype, &self.shape, donation)),
        }
    }
}

fn gone(dtype: DType, shape: &[usize], Donation { function, argument }: &Donation) -> Error {
    let aval = Aval::new(dtype, shape);
    Error::new(
        ErrorKind::Donated,
        format!(
            "the array {aval} was donated to `{function}` as {argument}, and its elements are gone"
        ),
    )
    .note("use what the function returned, or leave the argument out of `donate`")
}

#[cfg(test)]
mod tests {
    use crate::array::Array;

    #[test]
    fn handles_are_small() {
        assert!(size_of::<Array>() <= 40, "{} bytes", size_of::<Array>());
    }
}
