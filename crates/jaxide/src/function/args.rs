//! Argument lists by arity.

use std::sync::Arc;

use jaxide_tree::Pytree;

use crate::array::Array;

/// A list of arguments: a tuple of pytrees of arrays.
pub trait ArgList: Pytree<Array> + 'static {
    /// The type of functions of these arguments.
    type Callable<Out: 'static>: ?Sized;

    /// A shared function of these arguments from one of their tuple.
    fn callable<Out: 'static>(
        f: impl Fn(Self) -> Out + Send + Sync + 'static,
    ) -> Arc<Self::Callable<Out>>;
}

/// What a function of the arguments `Args` may be called with: their tuple, or a single argument without a tuple around
/// it.
///
/// ```
/// use jaxide::{Array, grad_of};
/// let x = Array::from(3.0f32);
/// assert_eq!(grad_of(&|x: Array| x.square(), x.clone()).item::<f32>(), 6.0);
/// assert_eq!(grad_of(&|x: Array| x.square(), (x,)).item::<f32>(), 6.0);
/// ```
#[diagnostic::on_unimplemented(
    message = "a function of `{Args}` cannot be called with `{Self}`",
    note = "several arguments stand in a tuple: `(x, y)`"
)]
pub trait Arguments<Args> {
    /// The tuple of the arguments.
    fn into_tuple(self) -> Args;
}

impl<A> Arguments<(A,)> for A {
    fn into_tuple(self) -> (A,) {
        (self,)
    }
}

impl Arguments<()> for () {
    fn into_tuple(self) {}
}

macro_rules! arities {
    ($(($($arg:ident)*))*) => { $(
        impl<$($arg: Pytree<Array> + 'static),*> ArgList for ($($arg,)*) {
            type Callable<Out: 'static> = dyn Fn($($arg),*) -> Out + Send + Sync;

            #[allow(non_snake_case)]
            fn callable<Out: 'static>(f: impl Fn(Self) -> Out + Send + Sync + 'static) -> Arc<Self::Callable<Out>> {
                Arc::new(move |$($arg),*| f(($($arg,)*)))
            }
        }
    )* };
}

macro_rules! tuples {
    ($(($($arg:ident)+))*) => { $(
        impl<$($arg),+> Arguments<($($arg,)+)> for ($($arg,)+) {
            fn into_tuple(self) -> Self {
                self
            }
        }
    )* };
}

arities! {
    ()
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}

tuples! {
    (A)
    (A B)
    (A B C)
    (A B C D)
    (A B C D E)
    (A B C D E F)
    (A B C D E F G)
    (A B C D E F G H)
}
