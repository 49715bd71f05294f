//! Whole derivatives: trees of trees.

use std::marker::PhantomData;
use std::sync::Arc;

use jaxide_core::ClosedJaxpr;
use jaxide_core::transform::Step;
use jaxide_tree::{Pytree, Tree, TreeDef};

use super::argnums::{Argnum, Argnums, behind, known, select};
use super::flat::{avals, call, check_differentiable, flatten, trace_flat, transformed};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, raise};

/// What taking whole derivatives can be told: it keeps its function, so that other arguments can be asked for.
pub struct JacobianOptions<F, Out> {
    f: Arc<F>,
    kind: Kind,
    holomorphic: bool,
    out: PhantomData<fn() -> Out>,
}

impl<F, Out> Clone for JacobianOptions<F, Out> {
    fn clone(&self) -> Self {
        JacobianOptions {
            f: self.f.clone(),
            ..*self
        }
    }
}

#[derive(Clone, Copy)]
enum Kind {
    Forward,
    Reverse,
    Hessian,
}

impl Kind {
    fn operation(self) -> &'static str {
        match self {
            Kind::Forward => "jacfwd",
            Kind::Reverse => "jacrev",
            Kind::Hessian => "hessian",
        }
    }

    fn step(self, argnums: Vec<usize>) -> Step {
        match self {
            Kind::Forward => Step::Jacfwd { argnums },
            Kind::Reverse => Step::Jacrev { argnums },
            Kind::Hessian => Step::Hessian { argnums },
        }
    }
}

/// Jacobians of a function by its first argument, by forward mode: good where there are fewer arguments than results.
///
/// The result is a tree like the result of `f` whose leaves are trees like the argument; each leaf has the shape of the
/// result followed by that of the argument. `.argnums(...)` asks for other arguments, `.holomorphic()` for complex ones.
///
/// # Panics
/// The function given panics when an argument has integer leaves.
///
/// ```
/// use jaxide::{Array, jacfwd};
/// let j = jacfwd(|x: Array| x.sin())(Array::from([0.0f32, 0.0]));
/// assert_eq!(j.leaves()[0].to_vec::<f32>(), [1.0, 0.0, 0.0, 1.0]);
/// ```
pub fn jacfwd<F, Args, Out>(f: F) -> Transformed<Args, Tree<Array>, JacobianOptions<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args>,
{
    derivative::<F, Args, Out, Argnum<0>>(Arc::new(f), Kind::Forward, false)
}

/// As [`jacfwd`], by reverse mode: good where there are fewer results than arguments.
///
/// # Panics
/// As [`jacfwd`].
pub fn jacrev<F, Args, Out>(f: F) -> Transformed<Args, Tree<Array>, JacobianOptions<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args>,
{
    derivative::<F, Args, Out, Argnum<0>>(Arc::new(f), Kind::Reverse, false)
}

/// Second derivatives by the first argument: forward over reverse mode. The leaves of the result are trees of trees.
///
/// # Panics
/// As [`jacfwd`].
///
/// ```
/// use jaxide::{Array, hessian};
/// let h = hessian(|x: Array| (&x * &x * &x).sum())(Array::from([1.0f32, 2.0]));
/// assert_eq!(h.leaves()[0].to_vec::<f32>(), [6.0, 0.0, 0.0, 12.0]);
/// ```
pub fn hessian<F, Args, Out>(f: F) -> Transformed<Args, Tree<Array>, JacobianOptions<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args>,
{
    derivative::<F, Args, Out, Argnum<0>>(Arc::new(f), Kind::Hessian, false)
}

impl<F, Args, Out> Transformed<Args, Tree<Array>, JacobianOptions<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
{
    /// The derivative by other arguments: `argnums(Argnum::<1>)`, or a tuple of them, for which there is a tuple of
    /// derivatives.
    #[must_use]
    pub fn argnums<N: Argnums<Args>>(&self, _numbers: N) -> Self {
        let options = self.options();
        derivative::<F, Args, Out, N>(options.f.clone(), options.kind, options.holomorphic)
    }

    /// The complex derivative of a holomorphic function: arguments must be complex.
    #[must_use]
    pub fn holomorphic(self) -> Self {
        self.configured(|options| options.holomorphic = true)
    }
}

fn derivative<F, Args, Out, N>(
    f: Arc<F>,
    kind: Kind,
    holomorphic: bool,
) -> Transformed<Args, Tree<Array>, JacobianOptions<F, Out>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    N: Argnums<Args>,
{
    let name = f.name();
    let options = JacobianOptions {
        f,
        kind,
        holomorphic,
        out: PhantomData,
    };
    Transformed::new(
        name,
        options,
        |options: &JacobianOptions<F, Out>, args: Args| {
            let operation = options.kind.operation();
            let args = flatten(&args);
            let picked = select::<Args, N>(&args.treedef);
            let leaves: Vec<Array> = picked
                .leaves
                .iter()
                .map(|&leaf| args.leaves[leaf].clone())
                .collect();
            check_differentiable(operation, &leaves, &picked.treedef, options.holomorphic);
            let traced = trace_flat(
                operation,
                &*options.f,
                &args.treedef,
                &avals(&args.leaves),
                known(&args.leaves),
                Captures::Constants,
            );
            let step = options
                .kind
                .step(behind(traced.captured.len(), &picked.leaves));
            let jacobian: ClosedJaxpr = transformed(&traced.jaxpr, &step);
            let results = call(&jacobian, &traced.captured, &args.leaves);
            let inner: TreeDef = match options.kind {
                Kind::Forward | Kind::Reverse => picked.treedef,
                Kind::Hessian => picked.treedef.compose(&picked.treedef),
            };
            traced
                .aux
                .compose(&inner)
                .unflatten(results)
                .unwrap_or_else(|error| raise(super::flat::structure(error)))
        },
    )
}
