//! Transformations that carry changes of variables back to the caller.
//!
//! Each flattens its arguments with what they share, calls the transformation of `jaxide` of the same name on their leaves, rebuilds
//! the arguments inside, and gives what their variables hold at the end as further results.

mod axes;
mod control;
mod gradient;
mod lift;
mod mapped;
mod scanned;

use std::ops::Deref;
use std::panic::Location;
use std::sync::Arc;

use jaxide::tree::{Pytree, Static, TreeDef};
use jaxide::{ArgList, Arguments, Array, Function};

pub use axes::{ArgAxes, ArgAxesList, Carried, IntoArgAxes, StateAxes};
pub use control::{cond, while_loop};
pub use gradient::{
    DiffState, Grad, GradWithAux, ValueAndGrad, ValueAndGradWithAux, grad, grad_of, grad_with_aux,
    grad_with_aux_of, value_and_grad, value_and_grad_of, value_and_grad_with_aux,
    value_and_grad_with_aux_of,
};
use lift::{Changes, FlatArgs, Returned, inside, returned};
pub use mapped::{Vmapped, vmap};
pub use scanned::scan;

use crate::call;

/// A function made by a transformation of this crate. It is called like one.
pub struct Transformed<Args: ArgList, Out: 'static> {
    callable: Arc<Args::Callable<Out>>,
    tuple: Arc<dyn Fn(Args) -> Out + Send + Sync>,
}

impl<Args: ArgList, Out: 'static> Transformed<Args, Out> {
    #[track_caller]
    pub(crate) fn new(run: impl Fn(Args) -> Out + Send + Sync + 'static) -> Self {
        let place = Location::caller();
        let tuple: Arc<dyn Fn(Args) -> Out + Send + Sync> = Arc::new(move |args| {
            let _call = call::made_at(place);
            run(args)
        });
        let shared = tuple.clone();
        Transformed {
            callable: Args::callable(move |args| shared(args)),
            tuple,
        }
    }
}

impl<Args: ArgList, Out: 'static> Clone for Transformed<Args, Out> {
    fn clone(&self) -> Self {
        Transformed {
            callable: self.callable.clone(),
            tuple: self.tuple.clone(),
        }
    }
}

impl<Args: ArgList, Out: 'static> Deref for Transformed<Args, Out> {
    type Target = Args::Callable<Out>;

    fn deref(&self) -> &Self::Target {
        &self.callable
    }
}

impl<Args: ArgList, Out: 'static> Function<Args, Out> for Transformed<Args, Out> {
    fn apply(&self, args: Args) -> Out {
        (self.tuple)(args)
    }
}

/// A compiled function, for fields of structs.
pub type Jitted<Args, Out> = Transformed<Args, Out>;

/// Compiles a function of modules and arrays, which may change the modules' variables: [`jaxide::jit`].
///
/// Modules are passed as clones, which are the same module. What they share, among each other too, they share inside; and a
/// variable of an argument that is in the result is the caller's.
///
/// ```
/// use jaxide_nnx::{self as nnx, BatchNorm, Rngs};
/// use jaxide::Array;
/// let norm = BatchNorm::new(1, &Rngs::new(0), ());
/// let train = nnx::jit(|norm: BatchNorm, x: Array| norm.call(&x));
/// train(norm.clone(), Array::from([[1.0f32], [3.0]]));
/// assert!((norm.mean.get().to_vec::<f32>()[0] - 0.02).abs() < 1e-6);
/// ```
#[track_caller]
pub fn jit<F, Args, Out>(f: F) -> Jitted<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    let name = f.name();
    let compiled = jaxide::jit(
        move |leaves: Vec<Array>, treedef: Static<TreeDef>| -> (Returned, Changes) {
            let ((), out, changes) = inside(&treedef, leaves, |args| ((), f.apply(args)));
            (out, changes)
        },
    )
    .named(&name);
    Transformed::new(move |args: Args| {
        let FlatArgs {
            leaves,
            treedef,
            met,
        } = FlatArgs::of(&args);
        let (out, changes) = compiled(leaves, Static(treedef));
        changes.apply(&met);
        returned(out, &met)
    })
}

/// A function that computes what it kept of its forward pass again in the backward pass: [`jaxide::checkpoint`].
///
/// ```
/// use jaxide_nnx::{self as nnx, Linear, Rngs};
/// use jaxide::{Array, DType};
/// let linear = Linear::new(2, 2, &Rngs::new(0), ());
/// let loss = |linear: Linear, x: Array| nnx::remat(|linear: Linear, x: Array| linear.call(&x).sin())(linear, x).sum();
/// let gradient = nnx::grad_of(&loss, (linear, Array::ones([1, 2], DType::F32)));
/// assert_eq!(gradient.len(), 2);
/// ```
#[track_caller]
pub fn remat<F, Args, Out>(f: F) -> Transformed<Args, Out>
where
    F: Function<Args, Out> + Send + Sync + 'static,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    Transformed::new(move |args: Args| {
        let FlatArgs {
            leaves,
            treedef,
            met,
        } = FlatArgs::of(&args);
        let body = |leaves: Vec<Array>| -> (Returned, Changes) {
            let ((), out, changes) = inside(&treedef, leaves, |args| ((), f.apply(args)));
            (out, changes)
        };
        let (out, changes) = jaxide::checkpoint_of(&body, (leaves,));
        changes.apply(&met);
        returned(out, &met)
    })
}

/// [`jit`] of a borrowed function, at once.
#[track_caller]
pub fn jit_of<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Out
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let _call = call::here();
    let FlatArgs {
        leaves,
        treedef,
        met,
    } = FlatArgs::of(&args.into_tuple());
    let body = |leaves: Vec<Array>| -> (Returned, Changes) {
        let ((), out, changes) = inside(&treedef, leaves, |args| ((), f.apply(args)));
        (out, changes)
    };
    let (out, changes) = jaxide::jit_of(&body, (leaves,));
    changes.apply(&met);
    returned(out, &met)
}
