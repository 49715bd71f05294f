//! What transformations that take gradients give.

use std::marker::PhantomData;

use jaxide_tree::Pytree;

use crate::array::Array;

/// What a transformation that takes gradients gives, from the value of its function and the gradient.
pub trait GradientForm: 'static {
    /// What the function gives.
    type Value: Pytree<Array> + 'static;

    /// What the transformed function gives, for a gradient of this type.
    type Result<Gradient: 'static>: 'static;

    /// The name of the transformation.
    const OPERATION: &'static str;

    /// Whether the function gives more than the scalar.
    const AUX: bool;

    /// Whether what the function gives is looked at. Otherwise it need not be computed.
    const USES_VALUE: bool = true;

    /// The results put together.
    fn result<Gradient: 'static>(value: Self::Value, gradient: Gradient) -> Self::Result<Gradient>;
}

/// The gradient alone: [`grad`](crate::grad).
pub struct Gradient<Out>(PhantomData<fn() -> Out>);

/// The value and the gradient: [`value_and_grad`](crate::value_and_grad).
pub struct ValueAndGradient<Out>(PhantomData<fn() -> Out>);

/// The gradient and further results: [`grad_with_aux`](crate::grad_with_aux).
pub struct GradientAndAux<Value, Aux>(PhantomData<fn() -> (Value, Aux)>);

/// The value, further results and the gradient: [`value_and_grad_with_aux`](crate::value_and_grad_with_aux).
pub struct ValueAuxAndGradient<Value, Aux>(PhantomData<fn() -> (Value, Aux)>);

impl<Out: Pytree<Array> + 'static> GradientForm for Gradient<Out> {
    type Value = Out;
    type Result<G: 'static> = G;
    const OPERATION: &'static str = "grad";
    const AUX: bool = false;
    const USES_VALUE: bool = false;

    fn result<G: 'static>(_value: Out, gradient: G) -> G {
        gradient
    }
}

impl<Out: Pytree<Array> + 'static> GradientForm for ValueAndGradient<Out> {
    type Value = Out;
    type Result<G: 'static> = (Out, G);
    const OPERATION: &'static str = "value_and_grad";
    const AUX: bool = false;

    fn result<G: 'static>(value: Out, gradient: G) -> (Out, G) {
        (value, gradient)
    }
}

impl<Value, Aux> GradientForm for GradientAndAux<Value, Aux>
where
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
{
    type Value = (Value, Aux);
    type Result<G: 'static> = (G, Aux);
    const OPERATION: &'static str = "grad_with_aux";
    const AUX: bool = true;

    fn result<G: 'static>((_, aux): (Value, Aux), gradient: G) -> (G, Aux) {
        (gradient, aux)
    }
}

impl<Value, Aux> GradientForm for ValueAuxAndGradient<Value, Aux>
where
    Value: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
{
    type Value = (Value, Aux);
    type Result<G: 'static> = ((Value, Aux), G);
    const OPERATION: &'static str = "value_and_grad_with_aux";
    const AUX: bool = true;

    fn result<G: 'static>(value: (Value, Aux), gradient: G) -> ((Value, Aux), G) {
        (value, gradient)
    }
}
