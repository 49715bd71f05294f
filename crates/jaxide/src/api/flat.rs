//! Functions of pytrees as functions of lists of arrays.

use jaxide_core::transform::{Step, apply};
use jaxide_core::{Aval, ClosedJaxpr, Error};
use jaxide_tree::{Pytree, TreeDef};

use crate::array::Array;
use crate::function::{ArgList, Function};
use crate::trace::{Captures, Known, OrRaise, Traced, aval_of, inline, trace};

/// A tree as leaves and structure.
pub(crate) struct FlatArgs {
    pub(crate) leaves: Vec<Array>,
    pub(crate) treedef: TreeDef,
}

/// A function of trees as one of leaves and structures. Transformations work with these, so that what they do is compiled
/// once; for each function of a user there is only what [`flat`] makes.
pub(crate) type FlatFn<'f> = &'f dyn Fn(FlatArgs) -> FlatArgs;

/// `f` as a [`FlatFn`].
pub(crate) fn flat<F, Args, Out>(f: &F) -> impl Fn(FlatArgs) -> FlatArgs
where
    F: Function<Args, Out> + ?Sized,
    Args: ArgList,
    Out: Pytree<Array>,
{
    |args| flatten(&f.apply(args.unflatten()))
}

impl FlatArgs {
    /// The tree.
    #[track_caller]
    pub(crate) fn unflatten<T: Pytree<Array>>(self) -> T {
        unflatten(&self.treedef, self.leaves)
    }
}

/// A tree of a structure from its leaves.
pub(crate) fn of_structure(treedef: &TreeDef, leaves: &[Array]) -> FlatArgs {
    FlatArgs {
        leaves: leaves.to_vec(),
        treedef: treedef.clone(),
    }
}

/// Takes arguments apart.
pub(crate) fn flatten<T: Pytree<Array>>(tree: &T) -> FlatArgs {
    let (leaves, treedef) = jaxide_tree::flatten::<Array, T>(tree);
    FlatArgs { leaves, treedef }
}

/// Puts a tree together.
#[track_caller]
pub(crate) fn unflatten<T: Pytree<Array>>(
    treedef: &TreeDef,
    leaves: impl IntoIterator<Item = Array>,
) -> T {
    treedef.unflatten(leaves).map_err(Error::from).or_raise()
}

/// The structure of what is differentiated and that of further results: of a pair, or of what has none.
pub(crate) fn results_and_aux(treedef: &TreeDef, has_aux: bool) -> [TreeDef; 2] {
    match &treedef.children()[..] {
        [results, aux] if has_aux => [results.clone(), aux.clone()],
        _ => [treedef.clone(), TreeDef::tuple(&[])],
    }
}

/// The types of arrays.
pub(crate) fn avals(arrays: &[Array]) -> Vec<Aval> {
    arrays.iter().map(aval_of).collect()
}

/// What a flat trace knows beside the jaxpr: the structure of the result.
pub(crate) type FlatTrace = Traced<TreeDef>;

/// Records `f` on arguments of these types.
#[track_caller]
pub(crate) fn trace_flat(
    name: &'static str,
    f: FlatFn<'_>,
    treedef: &TreeDef,
    avals: &[Aval],
    known: Known,
    captures: Captures,
) -> FlatTrace {
    trace(name, avals, known, captures, |args| {
        let results = f(of_structure(treedef, args));
        (results.leaves, results.treedef)
    })
}

/// Applies a step to a traced function: argument numbers in the step count the function's own arguments.
#[track_caller]
pub(crate) fn transformed(traced: &ClosedJaxpr, step: &Step) -> ClosedJaxpr {
    apply(traced, step).or_raise()
}

/// Calls a jaxpr with captured arrays before its arguments.
#[track_caller]
pub(crate) fn call(jaxpr: &ClosedJaxpr, captured: &[Array], args: &[Array]) -> Vec<Array> {
    let mut all = captured.to_vec();
    all.extend_from_slice(args);
    inline(jaxpr, &all)
}
