//! The elements of an array outside of traces.

use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use jaxide_core::{Aval, DType, Error, ErrorKind, Result, Shape, Tensor};

/// Elements that all clones of an array share, until they are given away.
///
/// While there is one handle it holds the elements itself; they move to a cell when it is cloned.
pub(crate) struct Elements {
    shape: Shape,
    dtype: DType,
    place: RwLock<Place>,
}

enum Place {
    /// In the only handle.
    Own(Tensor),
    /// Where all handles look.
    Shared(Arc<RwLock<State>>),
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
        Elements {
            shape: Shape::from_slice(tensor.shape()),
            dtype: tensor.dtype(),
            place: RwLock::new(Place::Own(tensor)),
        }
    }

    pub(crate) fn shape(&self) -> &[usize] {
        &self.shape
    }

    pub(crate) fn dtype(&self) -> DType {
        self.dtype
    }

    fn aval(&self) -> Aval {
        Aval::new(self.dtype, &self.shape)
    }

    /// The elements.
    ///
    /// # Errors
    /// When they were donated.
    pub(crate) fn tensor(&self) -> Result<Tensor> {
        match &*read(&self.place) {
            Place::Own(tensor) => Ok(tensor.clone()),
            Place::Shared(state) => match &*read(state) {
                State::Here(tensor) => Ok(tensor.clone()),
                State::Donated(donation) => Err(gone(&self.aval(), donation)),
            },
        }
    }

    /// The elements, not shared with this handle any more.
    ///
    /// # Errors
    /// As [`tensor`](Self::tensor).
    pub(crate) fn into_tensor(self) -> Result<Tensor> {
        let Elements {
            shape,
            dtype,
            place,
        } = self;
        let gone = |donation: &Donation| gone(&Aval::new(dtype, &shape), donation);
        match unlocked(place) {
            Place::Own(tensor) => Ok(tensor),
            Place::Shared(state) => match Arc::try_unwrap(state) {
                Ok(state) => match unlocked(state) {
                    State::Here(tensor) => Ok(tensor),
                    State::Donated(donation) => Err(gone(&donation)),
                },
                Err(state) => match &*read(&state) {
                    State::Here(tensor) => Ok(tensor.clone()),
                    State::Donated(donation) => Err(gone(donation)),
                },
            },
        }
    }

    /// Takes the elements out of all handles.
    ///
    /// # Errors
    /// When they were donated before.
    pub(crate) fn donate(self, donation: Donation) -> Result<Tensor> {
        let aval = self.aval();
        let state = match unlocked(self.place) {
            Place::Own(tensor) => return Ok(tensor),
            Place::Shared(state) => state,
        };
        let mut state = state.write().unwrap_or_else(PoisonError::into_inner);
        match std::mem::replace(&mut *state, State::Donated(donation)) {
            State::Here(tensor) => Ok(tensor),
            State::Donated(earlier) => {
                let error = gone(&aval, &earlier);
                *state = State::Donated(earlier);
                Err(error)
            }
        }
    }

    /// The cell that all handles look at, made if there is none yet.
    fn shared(&self) -> Arc<RwLock<State>> {
        if let Place::Shared(state) = &*read(&self.place) {
            return state.clone();
        }
        let place = &mut *self.place.write().unwrap_or_else(PoisonError::into_inner);
        let state = match place {
            // Another thread was faster.
            Place::Shared(state) => return state.clone(),
            Place::Own(tensor) => Arc::new(RwLock::new(State::Here(tensor.clone()))),
        };
        *place = Place::Shared(state.clone());
        state
    }
}

impl Clone for Elements {
    fn clone(&self) -> Self {
        Elements {
            shape: self.shape.clone(),
            dtype: self.dtype,
            place: RwLock::new(Place::Shared(self.shared())),
        }
    }
}

/// What a lock guards: nothing that panics runs while one is held.
fn read<T>(lock: &RwLock<T>) -> RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn unlocked<T>(lock: RwLock<T>) -> T {
    lock.into_inner().unwrap_or_else(PoisonError::into_inner)
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
