//! Whole derivatives: trees of trees.

use jaxide_core::ClosedJaxpr;
use jaxide_core::transform::Step;
use jaxide_tree::{Pytree, Tree, TreeDef};

use super::differentiate::{Argnum, Argnums, behind, known, select};
use super::flat::{FlatTrace, avals, call, check_differentiable, flatten, trace_flat, transformed};
use crate::array::Array;
use crate::function::{ArgList, Function, Transformed};
use crate::trace::{Captures, raise};

/// Jacobians of a function by its first argument, by forward mode: good where there are fewer arguments than results.
///
/// The result is a tree like the result of `f` whose leaves are trees like the argument; each leaf has the shape of the
/// result followed by that of the argument. Read it with [`Tree`], or as an array with [`jacfwd`]`(f)` of arrays.
///
/// # Panics
/// The function given panics when an argument has integer leaves.
///
/// ```
/// use jaxide::{Array, jacfwd};
/// let j = jacfwd(|x: Array| x.sin())(Array::from([0.0f32, 0.0]));
/// assert_eq!(j.leaves()[0].to_vec::<f32>(), [1.0, 0.0, 0.0, 1.0]);
/// ```
pub fn jacfwd<F, Args, Out, First>(f: F) -> Transformed<Args, Tree<Array>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    derivative(f, "jacfwd", |argnums| Step::Jacfwd { argnums }, false)
}

/// As [`jacfwd`], by reverse mode: good where there are fewer results than arguments.
///
/// # Panics
/// As [`jacfwd`].
pub fn jacrev<F, Args, Out, First>(f: F) -> Transformed<Args, Tree<Array>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    derivative(f, "jacrev", |argnums| Step::Jacrev { argnums }, false)
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
pub fn hessian<F, Args, Out, First>(f: F) -> Transformed<Args, Tree<Array>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    First: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args, Picked = First>,
{
    derivative(f, "hessian", |argnums| Step::Hessian { argnums }, true)
}

fn derivative<F, Args, Out>(
    f: F,
    operation: &'static str,
    step: fn(Vec<usize>) -> Step,
    twice: bool,
) -> Transformed<Args, Tree<Array>>
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array> + 'static,
    Argnum<0>: Argnums<Args>,
{
    Transformed::new(f.name(), (), move |(), args| {
        let args = flatten(&args);
        let picked = select::<Args, Argnum<0>>(&args.treedef);
        let leaves: Vec<Array> = picked
            .leaves
            .iter()
            .map(|&leaf| args.leaves[leaf].clone())
            .collect();
        check_differentiable(operation, &leaves, &picked.treedef, false);
        let traced: FlatTrace = trace_flat(
            operation,
            &f,
            &args.treedef,
            &avals(&args.leaves),
            known(&args.leaves),
            Captures::Constants,
        );
        let step = step(behind(traced.captured.len(), &picked.leaves));
        let jacobian: ClosedJaxpr = transformed(&traced.jaxpr, &step);
        let results = call(&jacobian, &traced.captured, &args.leaves);
        let inner: TreeDef = if twice {
            picked.treedef.compose(&picked.treedef)
        } else {
            picked.treedef
        };
        let treedef = traced.aux.compose(&inner);
        treedef
            .unflatten(results)
            .unwrap_or_else(|error| raise(super::flat::structure(error)))
    })
}
