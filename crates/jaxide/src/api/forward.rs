//! Forward mode.

use jaxide_core::transform::Step;
use jaxide_core::{Aval, Error, ErrorKind};
use jaxide_tree::{Pytree, TreeDef};

use super::argnums::{behind, known};
use super::flat::{
    FlatArgs, FlatFn, avals, call, flat, flatten, results_and_aux, trace_flat, transformed,
    unflatten,
};
use crate::array::Array;
use crate::function::{ArgList, Arguments, Function};
use crate::trace::{Captures, raise};

/// The value of `f` at `primals` and its derivative in the direction `tangents`: forward mode.
///
/// Both are tuples of arguments, or single arguments as they are. Integer leaves have no tangent: what `tangents` holds
/// there does not matter, and the tangent of an integer result is a zero of its type. `f` is called at once, so that it
/// may capture references and need not be `Send`.
///
/// # Panics
/// When a tangent has another type than its primal.
///
/// ```
/// use jaxide::{Array, jvp};
/// let (y, dy) = jvp(|x: Array| x.sin(), Array::from([0.0f32]), Array::from([2.0f32]));
/// assert_eq!((y.to_vec::<f32>()[0], dy.to_vec::<f32>()[0]), (0.0, 2.0));
/// ```
#[track_caller]
pub fn jvp<F, Args, Out>(
    f: F,
    primals: impl Arguments<Args>,
    tangents: impl Arguments<Args>,
) -> (Out, Out)
where
    F: Function<Args, Out>,
    Args: ArgList,
    Out: Pytree<Array>,
{
    let args = [primals.into_tuple(), tangents.into_tuple()].map(|args| flatten(&args));
    let (results, tangents, [out, _]) = forward("jvp", &flat(&f), args, false);
    (unflatten(&out, results), unflatten(&out, tangents))
}

/// As [`jvp`], of a function that gives the results to differentiate and further ones, which come back last.
///
/// # Panics
/// As [`jvp`].
///
/// ```
/// use jaxide::{Array, jvp_with_aux};
/// let f = |x: Array| (x.square(), &x * 2.0);
/// let (y, dy, twice) = jvp_with_aux(f, Array::from(3.0f32), Array::from(1.0f32));
/// assert_eq!([y, dy, twice].map(|v| v.item::<f32>()), [9.0, 6.0, 6.0]);
/// ```
#[track_caller]
pub fn jvp_with_aux<F, Args, Out, Aux>(
    f: F,
    primals: impl Arguments<Args>,
    tangents: impl Arguments<Args>,
) -> (Out, Out, Aux)
where
    F: Function<Args, (Out, Aux)>,
    Args: ArgList,
    Out: Pytree<Array>,
    Aux: Pytree<Array>,
{
    let args = [primals.into_tuple(), tangents.into_tuple()].map(|args| flatten(&args));
    let (mut results, tangents, [out, aux]) = forward("jvp_with_aux", &flat(&f), args, true);
    let further = results.split_off(out.num_leaves());
    (
        unflatten(&out, results),
        unflatten(&out, tangents),
        unflatten(&aux, further),
    )
}

/// All results, the tangents of those that are differentiated, and the structures of these and of further results.
#[track_caller]
fn forward(
    operation: &'static str,
    f: FlatFn<'_>,
    [primals, tangents]: [FlatArgs; 2],
    has_aux: bool,
) -> (Vec<Array>, Vec<Array>, [TreeDef; 2]) {
    check_tangents(
        operation,
        &primals.leaves,
        &tangents.leaves,
        &primals.treedef,
        &tangents.treedef,
    );
    let traced = trace_flat(
        operation,
        f,
        &primals.treedef,
        &avals(&primals.leaves),
        known(&primals.leaves),
        Captures::Constants,
    );
    let argnums = inexact(&primals.leaves);
    let outs = traced.jaxpr.out_avals();
    let trees = results_and_aux(&traced.aux, has_aux);
    let differentiated = &outs[..trees[0].num_leaves()];
    let tangent_outs: Vec<usize> = (0..differentiated.len())
        .filter(|&out| outs[out].dtype.is_inexact())
        .collect();
    let step = Step::Jvp {
        argnums: behind(traced.captured.len(), &argnums),
        tangent_outs: tangent_outs.clone(),
    };
    let transformed = transformed(&traced.jaxpr, &step);
    let mut operands = primals.leaves;
    operands.extend(argnums.iter().map(|&leaf| tangents.leaves[leaf].clone()));
    let mut results = call(&transformed, &traced.captured, &operands);
    let given = results.split_off(outs.len());
    let tangents = with_zeros(given, &tangent_outs, differentiated);
    (results, tangents, trees)
}

/// Positions of floats and complex numbers.
pub(super) fn inexact(leaves: &[Array]) -> Vec<usize> {
    (0..leaves.len())
        .filter(|&leaf| leaves[leaf].dtype().is_inexact())
        .collect()
}

/// The given tangents at their positions, zeros elsewhere.
pub(super) fn with_zeros(given: Vec<Array>, positions: &[usize], avals: &[Aval]) -> Vec<Array> {
    let mut given = given.into_iter();
    avals
        .iter()
        .enumerate()
        .map(|(position, aval)| {
            let zero = || crate::lax::full(&aval.shape, 0, aval.dtype);
            if positions.contains(&position) {
                given.next().unwrap_or_else(zero)
            } else {
                zero()
            }
        })
        .collect()
}

/// Tangents must have the structure and the types of the primals.
#[track_caller]
fn check_tangents(
    operation: &str,
    primals: &[Array],
    tangents: &[Array],
    want: &TreeDef,
    got: &TreeDef,
) {
    if want != got {
        let errors = want.prefix_errors(got);
        let error = errors.into_iter().next().map_or_else(
            || {
                Error::new(
                    ErrorKind::Structure,
                    format!("{want} is expected, and {got} is given"),
                )
            },
            Error::from,
        );
        raise(error.in_operation(operation));
    }
    for ((primal, tangent), path) in primals.iter().zip(tangents).zip(want.key_paths()) {
        if primal.dtype().is_inexact() && !primal.aval().matches(&tangent.aval()) {
            raise(
                Error::shape(format!(
                    "the primal is {} and its tangent {}",
                    primal.aval(),
                    tangent.aval()
                ))
                .in_operation(operation)
                .at_path(path.to_string()),
            );
        }
    }
}
