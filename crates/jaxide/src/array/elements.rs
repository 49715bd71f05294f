//! The elements of an array outside of traces.

use std::sync::{Arc, PoisonError, RwLock};

use jaxide_core::{Aval, DType, Error, ErrorKind, Result, Shape, Tensor};

/// Elements that all clones of an array share, until they are given away.
#[derive(Clone)]
pub(crate) struct Elements(Arc<Shared>);

struct Shared {
    shape: Shape,
    dtype: DType,
    state: RwLock<State>,
}

enum State {
    Here(Tensor),
    /// Overwritten by a program.
    Donated(Donation),
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
    pub(crate) fn new(tensor: Tensor) -> Self {
        Elements(Arc::new(Shared {
            shape: Shape::from_slice(tensor.shape()),
            dtype: tensor.dtype(),
            state: RwLock::new(State::Here(tensor)),
        }))
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.0.shape
    }

    pub(crate) fn dtype(&self) -> DType {
        self.0.dtype
    }

    fn aval(&self) -> Aval {
        Aval::new(self.0.dtype, &self.0.shape)
    }

    /// The elements.
    ///
    /// # Errors
    /// When they were donated.
    pub(crate) fn tensor(&self) -> Result<Tensor> {
        match &*self.0.state.read().unwrap_or_else(PoisonError::into_inner) {
            State::Here(tensor) => Ok(tensor.clone()),
            State::Donated(donation) => Err(self.gone(donation)),
        }
    }

    /// The elements, not shared with this handle any more.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(crate) fn into_tensor(self) -> Result<Tensor> {
        match Arc::try_unwrap(self.0) {
            Ok(shared) => match shared
                .state
                .into_inner()
                .unwrap_or_else(PoisonError::into_inner)
            {
                State::Here(tensor) => Ok(tensor),
                State::Donated(donation) => {
                    Err(gone(&Aval::new(shared.dtype, &shared.shape), &donation))
                }
            },
            Err(shared) => Elements(shared).tensor(),
        }
    }

    /// Takes the elements out of all handles.
    ///
    /// # Errors
    /// When they were donated before.
    pub(crate) fn donate(self, donation: Donation) -> Result<Tensor> {
        let mut state = self.0.state.write().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Donated(donation)) {
            State::Here(tensor) => Ok(tensor),
            State::Donated(earlier) => {
                let error = self.gone(&earlier);
                *state = State::Donated(earlier);
                Err(error)
            }
        }
    }

    fn gone(&self, donation: &Donation) -> Error {
        gone(&self.aval(), donation)
    }
}

fn gone(aval: &Aval, Donation { function, argument }: &Donation) -> Error {
    Error::new(
        ErrorKind::Donated,
        format!(
            "the array {aval} was donated to `{function}` as {argument}, and its elements are gone"
        ),
    )
    .note("use what the function returned, or leave the argument out of `donate`")
}

impl std::fmt::Debug for Elements {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.tensor() {
            Ok(tensor) => tensor.fmt(f),
            Err(_) => write!(f, "donated {}", self.aval()),
        }
    }
}
