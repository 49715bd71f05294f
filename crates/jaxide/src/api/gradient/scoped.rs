//! Gradients taken at once, of functions that are only borrowed.

use jaxide_tree::Pytree;

use super::super::argnums::{Argnum, Argnums};
use super::{
    Gradient, GradientAndAux, GradientForm, ValueAndGradient, ValueAuxAndGradient,
    value_and_gradient,
};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Function};

/// [`grad`](super::grad) of a borrowed function, taken at once: `grad(f)(x)` where `f` may capture references and need
/// not be `Send`.
///
/// The arguments are a tuple, or a single one as it is. For the gradient by another argument, let a closure capture the
/// others.
///
/// # Panics
/// As the function that [`grad`](super::grad) gives.
///
/// ```
/// use jaxide::{Array, grad_of};
/// // Takes any function of one array.
/// fn newton_step(f: impl Fn(Array) -> Array, x: &Array) -> Array {
///     x - f(x.clone()) / grad_of(&f, x.clone())
/// }
/// let target = vec![Array::from(9.0f32)];
/// let mut x = Array::from(1.0f32);
/// for _ in 0..6 {
///     x = newton_step(|x: Array| x.square() - &target[0], &x);
/// }
/// assert!((x.item::<f32>() - 3.0).abs() < 1e-6);
/// ```
#[track_caller]
pub fn grad_of<F, Args, Out, First>(f: &F, args: impl Arguments<Args>) -> First
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    taken::<F, Args, Gradient<Out>, First>(f, args.into_tuple())
}

/// [`value_and_grad`](super::value_and_grad) of a borrowed function, taken at once: see [`grad_of`].
///
/// # Panics
/// As [`grad_of`].
///
/// ```
/// use jaxide::{Array, value_and_grad_of};
/// let scale = &Array::from(3.0f32);
/// let (y, dy) = value_and_grad_of(&|x: Array| x * scale, Array::from(2.0f32));
/// assert_eq!((y.item::<f32>(), dy.item::<f32>()), (6.0, 3.0));
/// ```
#[track_caller]
pub fn value_and_grad_of<F, Args, Out, First>(f: &F, args: impl Arguments<Args>) -> (Out, First)
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    taken::<F, Args, ValueAndGradient<Out>, First>(f, args.into_tuple())
}

/// [`grad_with_aux`](super::grad_with_aux) of a borrowed function, taken at once: see [`grad_of`].
///
/// # Panics
/// As [`grad_of`].
#[track_caller]
pub fn grad_with_aux_of<F, Args, Value, Aux, First>(
    f: &F,
    args: impl Arguments<Args>,
) -> (First, Aux)
where
    F: Function<Args, (Value, Aux)> + ?Sized,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    taken::<F, Args, GradientAndAux<Value, Aux>, First>(f, args.into_tuple())
}

/// [`value_and_grad_with_aux`](super::value_and_grad_with_aux) of a borrowed function, taken at once: see [`grad_of`].
///
/// # Panics
/// As [`grad_of`].
#[track_caller]
pub fn value_and_grad_with_aux_of<F, Args, Value, Aux, First>(
    f: &F,
    args: impl Arguments<Args>,
) -> ((Value, Aux), First)
where
    F: Function<Args, (Value, Aux)> + ?Sized,
    Args: ArgList,
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    taken::<F, Args, ValueAuxAndGradient<Value, Aux>, First>(f, args.into_tuple())
}

#[track_caller]
fn taken<F, Args, Form, First>(f: &F, args: Args) -> Form::Result<First>
where
    F: Function<Args, Form::Value> + ?Sized,
    Args: ArgList,
    Form: GradientForm,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    let (value, gradient) = value_and_gradient::<F, Args, Form, Argnum<0>>(f, args, false);
    Form::result(value, gradient)
}
