//! What factorisations give to the functions that solve with them.

use std::borrow::Borrow;

use crate::array::Array;

/// What [`cho_factor`](super::cho_factor()) gives: the pair itself, a reference to it, or a pair of a reference and whether the factor is
/// the lower one.
pub trait CholeskyFactor {
    /// The factor, and whether it is the lower one.
    fn parts(&self) -> (&Array, bool);
}

impl<A: Borrow<Array>> CholeskyFactor for (A, bool) {
    fn parts(&self) -> (&Array, bool) {
        (self.0.borrow(), self.1)
    }
}

impl<F: CholeskyFactor + ?Sized> CholeskyFactor for &F {
    fn parts(&self) -> (&Array, bool) {
        (**self).parts()
    }
}

/// What [`lu_factor`](super::lu_factor) gives: the pair itself, a reference to it, or a pair of references.
pub trait LuFactor {
    /// The factors in one matrix, and the swaps of rows.
    fn parts(&self) -> (&Array, &Array);
}

impl<A: Borrow<Array>, P: Borrow<Array>> LuFactor for (A, P) {
    fn parts(&self) -> (&Array, &Array) {
        (self.0.borrow(), self.1.borrow())
    }
}

impl<F: LuFactor + ?Sized> LuFactor for &F {
    fn parts(&self) -> (&Array, &Array) {
        (**self).parts()
    }
}
