//! The ways to take whole derivatives, and the types that they give.

use std::marker::PhantomData;

use jaxide_core::transform::Step;
use jaxide_tree::{Compose, Pytree, TreeDef};

use crate::array::Array;

/// A way to take the whole derivative of a function with results `Out` by arguments of the type `In`.
pub trait DerivativeMode<Out, In>: 'static {
    /// What it gives: `Out` with a tree in place of each leaf.
    type Derivative: Pytree<Array> + 'static;

    /// The name of the transformation.
    const OPERATION: &'static str;

    /// The step that transforms the jaxpr of the function.
    fn step(argnums: Vec<usize>) -> Step;

    /// The structure in place of each leaf of the results, from that of the arguments.
    fn inner(argument: &TreeDef) -> TreeDef;
}

/// Forward mode: [`jacfwd`](super::jacfwd).
pub struct Forward;

/// Reverse mode: [`jacrev`](super::jacrev).
pub struct Reverse;

/// Second derivatives, forward over reverse mode: [`hessian`](super::hessian).
pub struct ForwardOverReverse;

macro_rules! first_order {
    ($($mode:ident $operation:literal $step:ident;)*) => { $(
        impl<Out, In> DerivativeMode<Out, In> for $mode
        where
            Out: Compose<Array, In>,
            Out::Composed: Pytree<Array> + 'static,
        {
            type Derivative = Out::Composed;
            const OPERATION: &'static str = $operation;

            fn step(argnums: Vec<usize>) -> Step {
                Step::$step { argnums }
            }

            fn inner(argument: &TreeDef) -> TreeDef {
                argument.clone()
            }
        }
    )* };
}

first_order! {
    Forward "jacfwd" Jacfwd;
    Reverse "jacrev" Jacrev;
}

impl<Out, In> DerivativeMode<Out, In> for ForwardOverReverse
where
    In: Compose<Array, In>,
    Out: Compose<Array, In::Composed>,
    Out::Composed: Pytree<Array> + 'static,
{
    type Derivative = Out::Composed;
    const OPERATION: &'static str = "hessian";

    fn step(argnums: Vec<usize>) -> Step {
        Step::Hessian { argnums }
    }

    fn inner(argument: &TreeDef) -> TreeDef {
        argument.compose(argument)
    }
}

/// What a transformation that takes whole derivatives gives, from the derivative and further results.
pub trait DerivativeForm: 'static {
    /// What the function gives.
    type Value: Pytree<Array> + 'static;

    /// The results that are differentiated.
    type Out;

    /// Further results.
    type Aux: Pytree<Array>;

    /// What the transformed function gives, for a derivative of this type.
    type Result<Derivative: 'static>: 'static;

    /// Whether the function gives more than what is differentiated.
    const AUX: bool;

    /// The results put together.
    fn result<Derivative: 'static>(
        derivative: Derivative,
        aux: Self::Aux,
    ) -> Self::Result<Derivative>;
}

/// The derivative alone.
pub struct Whole<Out>(PhantomData<fn() -> Out>);

/// The derivative and further results.
pub struct WholeAndAux<Out, Aux>(PhantomData<fn() -> (Out, Aux)>);

impl<Out: Pytree<Array> + 'static> DerivativeForm for Whole<Out> {
    type Value = Out;
    type Out = Out;
    type Aux = ();
    type Result<D: 'static> = D;
    const AUX: bool = false;

    fn result<D: 'static>(derivative: D, (): ()) -> D {
        derivative
    }
}

impl<Out, Aux> DerivativeForm for WholeAndAux<Out, Aux>
where
    Out: Pytree<Array> + 'static,
    Aux: Pytree<Array> + 'static,
{
    type Value = (Out, Aux);
    type Out = Out;
    type Aux = Aux;
    type Result<D: 'static> = (D, Aux);
    const AUX: bool = true;

    fn result<D: 'static>(derivative: D, aux: Aux) -> (D, Aux) {
        (derivative, aux)
    }
}
