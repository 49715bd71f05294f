//! Whole derivatives taken at once, of functions that are only borrowed.

use jaxide_tree::Pytree;

use super::super::argnums::{Argnum, Argnums};
use super::{DerivativeMode, Forward, ForwardOverReverse, Reverse, Whole, WholeAndAux, whole};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Function};

/// [`jacfwd`](super::jacfwd) of a borrowed function, taken at once: see [`grad_of`](super::super::grad_of).
///
/// # Panics
/// As the function that [`jacfwd`](super::jacfwd) gives.
///
/// ```
/// use jaxide::{Array, jacfwd_of};
/// let scale = &Array::from([2.0f32, 3.0]);
/// let j = jacfwd_of(&|x: Array| x * scale, Array::from([1.0f32, 1.0]));
/// assert_eq!(j.to_vec::<f32>(), [2.0, 0.0, 0.0, 3.0]);
/// ```
#[track_caller]
pub fn jacfwd_of<F, Args, Out, In>(
    f: &F,
    args: impl Arguments<Args>,
) -> <Forward as DerivativeMode<Out, In>>::Derivative
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Forward: DerivativeMode<Out, In>,
{
    whole::<F, Args, Forward, Whole<Out>, Argnum<0>>(f, args.into_tuple(), false)
}

/// [`jacfwd_with_aux`](super::jacfwd_with_aux) of a borrowed function, taken at once: see [`grad_of`](super::super::grad_of).
///
/// # Panics
/// As [`jacfwd_of`].
#[track_caller]
pub fn jacfwd_with_aux_of<F, Args, Out, Aux, In>(
    f: &F,
    args: impl Arguments<Args>,
) -> (<Forward as DerivativeMode<Out, In>>::Derivative, Aux)
where
    F: Function<Args, (Out, Aux)> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Forward: DerivativeMode<Out, In>,
{
    whole::<F, Args, Forward, WholeAndAux<Out, Aux>, Argnum<0>>(f, args.into_tuple(), false)
}

/// [`jacrev`](super::jacrev) of a borrowed function, taken at once: see [`grad_of`](super::super::grad_of).
///
/// # Panics
/// As the function that [`jacrev`](super::jacrev) gives.
#[track_caller]
pub fn jacrev_of<F, Args, Out, In>(
    f: &F,
    args: impl Arguments<Args>,
) -> <Reverse as DerivativeMode<Out, In>>::Derivative
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Reverse: DerivativeMode<Out, In>,
{
    whole::<F, Args, Reverse, Whole<Out>, Argnum<0>>(f, args.into_tuple(), false)
}

/// [`jacrev_with_aux`](super::jacrev_with_aux) of a borrowed function, taken at once: see [`grad_of`](super::super::grad_of).
///
/// # Panics
/// As [`jacrev_of`].
#[track_caller]
pub fn jacrev_with_aux_of<F, Args, Out, Aux, In>(
    f: &F,
    args: impl Arguments<Args>,
) -> (<Reverse as DerivativeMode<Out, In>>::Derivative, Aux)
where
    F: Function<Args, (Out, Aux)> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    Reverse: DerivativeMode<Out, In>,
{
    whole::<F, Args, Reverse, WholeAndAux<Out, Aux>, Argnum<0>>(f, args.into_tuple(), false)
}

/// [`hessian`](super::hessian) of a borrowed function, taken at once: see [`grad_of`](super::super::grad_of).
///
/// # Panics
/// As the function that [`hessian`](super::hessian) gives.
#[track_caller]
pub fn hessian_of<F, Args, Out, In>(
    f: &F,
    args: impl Arguments<Args>,
) -> <ForwardOverReverse as DerivativeMode<Out, In>>::Derivative
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    ForwardOverReverse: DerivativeMode<Out, In>,
{
    whole::<F, Args, ForwardOverReverse, Whole<Out>, Argnum<0>>(f, args.into_tuple(), false)
}

/// [`hessian_with_aux`](super::hessian_with_aux) of a borrowed function, taken at once: see [`grad_of`](super::super::grad_of).
///
/// # Panics
/// As [`hessian_of`].
#[track_caller]
pub fn hessian_with_aux_of<F, Args, Out, Aux, In>(
    f: &F,
    args: impl Arguments<Args>,
) -> (
    <ForwardOverReverse as DerivativeMode<Out, In>>::Derivative,
    Aux,
)
where
    F: Function<Args, (Out, Aux)> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    In: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = In>,
    ForwardOverReverse: DerivativeMode<Out, In>,
{
    whole::<F, Args, ForwardOverReverse, WholeAndAux<Out, Aux>, Argnum<0>>(
        f,
        args.into_tuple(),
        false,
    )
}
