//! Derivatives at a point as linear maps: computed once, applied many times.

use std::sync::Arc;

use jaxide_core::simplify::dce;
use jaxide_core::transform::{linearize as linearize_jaxpr, transpose as transpose_jaxpr};
use jaxide_core::{Aval, Builder, ClosedJaxpr, Error, ErrorKind, Jaxpr, Result, Tensor};
use jaxide_tree::{Pytree, TreeDef};

use super::argnums::{behind, known};
use super::flat::{
    FlatArgs, FlatFn, avals, call, flat, flatten, results_and_aux, trace_flat, unflatten,
};
use super::forward::{inexact, with_zeros};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Function};
use crate::trace::{Captures, OrRaise, raise};

/// The derivative of a function at a point, as a linear function from tangents to tangents.
pub struct Linearized<Args, Out> {
    map: LinearMap,
    marker: std::marker::PhantomData<fn(Args) -> Out>,
}

/// The derivative of a function at a point, as a linear function from cotangents to cotangents.
pub struct Pullback<Args, Out> {
    map: LinearMap,
    marker: std::marker::PhantomData<fn(Out) -> Args>,
}

/// A linear jaxpr with its residuals.
pub(super) struct LinearMap {
    pub(super) jaxpr: ClosedJaxpr,
    pub(super) residuals: Vec<Array>,
    pub(super) inputs: Positions,
    pub(super) outputs: Positions,
}

/// Which leaves of a tree carry tangents.
pub(super) struct Positions {
    treedef: TreeDef,
    avals: Vec<Aval>,
    leaves: Vec<usize>,
}

impl Positions {
    /// All leaves of a tree.
    pub(super) fn all(treedef: TreeDef, avals: Vec<Aval>) -> Self {
        let leaves = (0..avals.len()).collect();
        Positions {
            treedef,
            avals,
            leaves,
        }
    }
}

impl<Args, Out> Linearized<Args, Out> {
    fn new(map: LinearMap) -> Self {
        Linearized {
            map,
            marker: std::marker::PhantomData,
        }
    }
}

impl<Args, Out> Pullback<Args, Out> {
    pub(super) fn new(map: LinearMap) -> Self {
        Pullback {
            map,
            marker: std::marker::PhantomData,
        }
    }
}

impl LinearMap {
    #[track_caller]
    fn apply<In: Pytree<Array>, Out: Pytree<Array>>(&self, operation: &str, input: &In) -> Out {
        self.apply_flat(operation, &flatten(input)).unflatten()
    }

    #[track_caller]
    fn apply_flat(&self, operation: &str, input: &FlatArgs) -> FlatArgs {
        if input.treedef != self.inputs.treedef {
            let error = Error::new(
                ErrorKind::Structure,
                format!(
                    "{} is expected, and {} is given",
                    self.inputs.treedef, input.treedef
                ),
            );
            raise(error.in_operation(operation));
        }
        let mut operands = self.residuals.clone();
        for &leaf in &self.inputs.leaves {
            let (want, got) = (&self.inputs.avals[leaf], input.leaves[leaf].aval());
            if !want.matches(&got) {
                raise(
                    Error::shape(format!("{want} is expected, and {got} is given"))
                        .in_operation(operation),
                );
            }
            operands.push(input.leaves[leaf].clone());
        }
        let results = call(&self.jaxpr, &[], &operands);
        FlatArgs {
            leaves: with_zeros(results, &self.outputs.leaves, &self.outputs.avals),
            treedef: self.outputs.treedef.clone(),
        }
    }
}

impl<Args: Pytree<Array>, Out: Pytree<Array>> Linearized<Args, Out> {
    /// The tangents of the results in the direction `tangents`.
    ///
    /// # Panics
    /// When `tangents` do not have the structure and types of the arguments.
    #[track_caller]
    pub fn apply(&self, tangents: &Args) -> Out {
        self.map.apply("linearize", tangents)
    }

    /// The linear map as a jaxpr, residuals before tangents.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.map.jaxpr
    }
}

impl<Args: Pytree<Array>, Out: Pytree<Array>> Pullback<Args, Out> {
    /// The cotangents of the arguments from those of the results.
    ///
    /// # Panics
    /// When `cotangents` do not have the structure and types of the results.
    #[track_caller]
    pub fn apply(&self, cotangents: &Out) -> Args {
        self.map.apply("vjp", cotangents)
    }

    /// The linear map as a jaxpr, residuals before cotangents.
    pub fn jaxpr(&self) -> &ClosedJaxpr {
        &self.map.jaxpr
    }
}

/// The value of `f` at a point, and its derivative there as a linear function: computed once, applied many times.
///
/// The point is the tuple of the arguments, or a single argument as it is. `f` is called at once, so that it may capture
/// references and need not be `Send`.
///
/// # Panics
/// Where `f` does.
///
/// ```
/// use jaxide::{Array, linearize};
/// let (y, df) = linearize(|x: Array| &x * &x, Array::from([3.0f32]));
/// assert_eq!(y.to_vec::<f32>(), [9.0]);
/// assert_eq!(df.apply(&(Array::from([1.0f32]),)).to_vec::<f32>(), [6.0]);
/// ```
#[track_caller]
pub fn linearize<F, Args, Out>(f: F, primals: impl Arguments<Args>) -> (Out, Linearized<Args, Out>)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let parts = linear_map(
        "linearize",
        &flat(&f),
        flatten(&primals.into_tuple()),
        false,
        false,
    );
    let value = unflatten(&parts.out, parts.results);
    (value, Linearized::new(parts.map))
}

/// As [`linearize`], of a function that gives the results to differentiate and further ones, which come back last.
///
/// # Panics
/// As [`linearize`].
///
/// ```
/// use jaxide::{Array, linearize_with_aux};
/// let (y, df, twice) = linearize_with_aux(|x: Array| (x.square(), &x * 2.0), Array::from(3.0f32));
/// assert_eq!([y, twice].map(|v| v.item::<f32>()), [9.0, 6.0]);
/// assert_eq!(df.apply(&(Array::from(1.0f32),)).item::<f32>(), 6.0);
/// ```
#[track_caller]
pub fn linearize_with_aux<F, Args, Out, Aux>(
    f: F,
    primals: impl Arguments<Args>,
) -> (Out, Linearized<Args, Out>, Aux)
where
    F: Function<Args, (Out, Aux)>,
    Args: ArgList,
    Out: Pytree<Array>,
    Aux: Pytree<Array>,
{
    const OPERATION: &str = "linearize_with_aux";
    let mut parts = linear_map(
        OPERATION,
        &flat(&f),
        flatten(&primals.into_tuple()),
        true,
        false,
    );
    let further = parts.results.split_off(parts.out.num_leaves());
    (
        unflatten(&parts.out, parts.results),
        Linearized::new(parts.map),
        unflatten(&parts.aux, further),
    )
}

/// The value of `f` at a point, and the function from cotangents of its results to cotangents of its arguments: reverse
/// mode.
///
/// The point is the tuple of the arguments, or a single argument as it is. `f` is called at once, so that it may capture
/// references and need not be `Send`.
///
/// # Panics
/// Where `f` does.
///
/// ```
/// use jaxide::{Array, vjp};
/// let (y, pullback) = vjp(|x: Array| x.sin(), Array::from([0.0f32]));
/// let (dx,) = pullback.apply(&Array::from([5.0f32]));
/// assert_eq!((y.to_vec::<f32>(), dx.to_vec::<f32>()), (vec![0.0], vec![5.0]));
/// ```
#[track_caller]
pub fn vjp<F, Args, Out>(f: F, primals: impl Arguments<Args>) -> (Out, Pullback<Args, Out>)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let parts = linear_map(
        "vjp",
        &flat(&f),
        flatten(&primals.into_tuple()),
        false,
        true,
    );
    let value = unflatten(&parts.out, parts.results);
    (value, Pullback::new(parts.map))
}

/// As [`vjp`], of a function that gives the results to differentiate and further ones, which come back last.
///
/// # Panics
/// As [`vjp`].
///
/// ```
/// use jaxide::{Array, vjp_with_aux};
/// let (y, pullback, twice) = vjp_with_aux(|x: Array| (x.square(), &x * 2.0), Array::from(3.0f32));
/// assert_eq!([y, twice].map(|v| v.item::<f32>()), [9.0, 6.0]);
/// assert_eq!(pullback.apply(&Array::from(1.0f32)).0.item::<f32>(), 6.0);
/// ```
#[track_caller]
pub fn vjp_with_aux<F, Args, Out, Aux>(
    f: F,
    primals: impl Arguments<Args>,
) -> (Out, Pullback<Args, Out>, Aux)
where
    F: Function<Args, (Out, Aux)>,
    Args: ArgList,
    Out: Pytree<Array>,
    Aux: Pytree<Array>,
{
    let mut parts = linear_map(
        "vjp_with_aux",
        &flat(&f),
        flatten(&primals.into_tuple()),
        true,
        true,
    );
    let further = parts.results.split_off(parts.out.num_leaves());
    (
        unflatten(&parts.out, parts.results),
        Pullback::new(parts.map),
        unflatten(&parts.aux, further),
    )
}

/// The results at a point, the linear map of those that are differentiated, and the structures of these and of further
/// results.
struct AtPoint {
    results: Vec<Array>,
    map: LinearMap,
    out: TreeDef,
    aux: TreeDef,
}

#[track_caller]
fn linear_map(
    operation: &'static str,
    f: FlatFn<'_>,
    primals: FlatArgs,
    has_aux: bool,
    transpose: bool,
) -> AtPoint {
    let types = avals(&primals.leaves);
    let traced = trace_flat(
        operation,
        f,
        &primals.treedef,
        &types,
        known(&primals.leaves),
        Captures::Constants,
    );
    let argnums = inexact(&primals.leaves);
    let mut outs = traced.jaxpr.out_avals();
    let [out, aux] = results_and_aux(&traced.aux, has_aux);
    let tangent_outs: Vec<usize> = (0..out.num_leaves())
        .filter(|&position| outs[position].dtype.is_inexact())
        .collect();
    let numbers = behind(traced.captured.len(), &argnums);
    let parts = linear_parts(&traced.jaxpr, &numbers, &tangent_outs, transpose).or_raise();
    let mut results = call(&parts.primal, &traced.captured, &primals.leaves);
    let computed = results.split_off(outs.len());
    let residuals = parts.residuals(computed, &traced.jaxpr.consts);
    outs.truncate(out.num_leaves());
    let arguments = Positions {
        treedef: primals.treedef,
        avals: types,
        leaves: argnums,
    };
    let values = Positions {
        treedef: out.clone(),
        avals: outs,
        leaves: tangent_outs,
    };
    let (inputs, outputs) = if transpose {
        (values, arguments)
    } else {
        (arguments, values)
    };
    let map = LinearMap {
        jaxpr: parts.linear,
        residuals,
        inputs,
        outputs,
    };
    AtPoint {
        results,
        map,
        out,
        aux,
    }
}

/// A function split at a point: its results with residuals, and the linear map of residuals and tangents (or cotangents).
struct LinearParts {
    primal: ClosedJaxpr,
    linear: ClosedJaxpr,
    /// For each residual the constant that it is; the primal computes the others.
    constants: Vec<Option<usize>>,
}

impl LinearParts {
    /// All residuals, from those that were computed and the constants of the function.
    fn residuals(&self, computed: Vec<Array>, constants: &[Tensor]) -> Vec<Array> {
        let mut computed = computed.into_iter();
        let constant = |index: usize| constants.get(index).cloned().map(Array::from);
        self.constants
            .iter()
            .filter_map(|place| place.map_or_else(|| computed.next(), constant))
            .collect()
    }
}

/// Linearizes a flat function in the listed arguments, and transposes the linear part where asked for.
fn linear_parts(
    jaxpr: &ClosedJaxpr,
    argnums: &[usize],
    tangent_outs: &[usize],
    reverse: bool,
) -> Result<LinearParts> {
    let b = Builder::new();
    let arity = jaxpr.jaxpr.invars.len();
    let mask = |count: usize, set: &[usize]| -> Vec<bool> {
        (0..count).map(|index| set.contains(&index)).collect()
    };
    let outs = mask(jaxpr.jaxpr.outvars.len(), tangent_outs);
    let parts = linearize_jaxpr(&b, jaxpr, &mask(arity, argnums), &outs, &vec![false; arity])?;
    let has_tangent = outs
        .iter()
        .zip(&parts.nonzero)
        .filter(|(_, nonzero)| **nonzero);
    let wanted: Vec<bool> = has_tangent.map(|(wanted, _)| *wanted).collect();
    let linear = with_wanted_results(parts.linear, &wanted)?;
    if !reverse {
        return Ok(LinearParts {
            primal: parts.primal,
            linear,
            constants: parts.forwarded,
        });
    }
    let inputs = linear.jaxpr.invars.len();
    let tangents: Vec<bool> = (0..inputs)
        .map(|index| index >= inputs - argnums.len())
        .collect();
    let cotangents = vec![true; linear.jaxpr.outvars.len()];
    let transposed = transpose_jaxpr(&b, &linear, &tangents, &cotangents, &tangents)?;
    Ok(LinearParts {
        primal: parts.primal,
        linear: transposed.jaxpr,
        constants: parts.forwarded,
    })
}

/// A linear jaxpr without the tangents of results that are not differentiated.
fn with_wanted_results(closed: ClosedJaxpr, wanted: &[bool]) -> Result<ClosedJaxpr> {
    if !wanted.contains(&false) {
        return Ok(closed);
    }
    let mut jaxpr: Jaxpr = Arc::unwrap_or_clone(closed.jaxpr);
    let mut kept = wanted.iter();
    jaxpr.outvars.retain(|_| kept.next() != Some(&false));
    dce(&ClosedJaxpr::new(jaxpr, closed.consts))
}
