//! Branches.

use jaxide_core::prims::{Branches, Cond};
use jaxide_core::{ClosedJaxpr, DType, Error, ErrorKind, Jaxpr, Literal, Scalar, Var};
use jaxide_tree::Pytree;

use super::staged;
use crate::api::flat::{FlatArgs, FlatTrace, avals, flatten};
use crate::api::jit_is_disabled;
use crate::array::Array;
use crate::lax;
use crate::trace::{bind, raise};

/// `on_true(operands)` where `pred`, else `on_false(operands)`: only that branch runs.
///
/// `pred` is a scalar truth value, or a number that is compared with zero. Both branches must give the same structure and
/// types.
///
/// # Panics
/// When `pred` is not a scalar, or the results of the branches differ: the path is named.
///
/// ```
/// use jaxide::{Array, cond};
/// let x = Array::from(3.0f32);
/// let y = cond(x.gt(0.0), |x: Array| x + 3.0, |x: Array| x - 3.0, x.clone());
/// assert_eq!(y.item::<f32>(), 6.0);
/// ```
#[track_caller]
pub fn cond<In, Out>(
    pred: impl Into<Array>,
    on_true: impl FnOnce(In) -> Out,
    on_false: impl FnOnce(In) -> Out,
    operand: In,
) -> Out
where
    In: Pytree<Array>,
    Out: Pytree<Array>,
{
    let pred = truth(pred.into());
    if let Some(taken) = decided(&pred) {
        return if taken == 0 {
            on_false(operand)
        } else {
            on_true(operand)
        };
    }
    let index = lax::convert_element_type(&pred, DType::I32);
    let operand = flatten(&operand);
    let when_true = staged("cond", on_true, &operand);
    let when_false = staged("cond", on_false, &operand);
    run("cond", &index, vec![when_false, when_true], &operand.leaves).unflatten()
}

/// The predicate as a truth value.
#[track_caller]
fn truth(pred: Array) -> Array {
    if pred.ndim() != 0 {
        raise(
            Error::shape(format!(
                "the predicate must be a scalar, and is {}",
                pred.aval()
            ))
            .in_operation("cond"),
        );
    }
    if pred.dtype() == DType::Bool {
        pred
    } else {
        crate::numpy::not_equal(&pred, &Array::from(0))
    }
}

/// The branch that `index` selects, applied to the operand; an index out of range is moved into it.
///
/// # Panics
/// When there are no branches, `index` is not an integer scalar, or the results of branches differ.
///
/// ```
/// use jaxide::{Array, switch};
/// let branches: [fn(Array) -> Array; 3] = [|x| x + 1.0, |x| x - 2.0, |x| x + 3.0];
/// let y = switch(2, branches, Array::from(1.0f32));
/// assert_eq!(y.item::<f32>(), 4.0);
/// ```
#[track_caller]
pub fn switch<In, Out, F>(
    index: impl Into<Array>,
    branches: impl IntoIterator<Item = F>,
    operand: In,
) -> Out
where
    F: FnOnce(In) -> Out,
    In: Pytree<Array>,
    Out: Pytree<Array>,
{
    let index = index.into();
    if index.ndim() != 0 || !index.dtype().is_integer() {
        raise(
            Error::shape(format!(
                "the index must be an integer scalar, and is {}",
                index.aval()
            ))
            .in_operation("switch"),
        );
    }
    let mut branches: Vec<F> = branches.into_iter().collect();
    let Some(last) = branches.len().checked_sub(1) else {
        raise(no_branches());
    };
    // Where there is no choice, nothing hangs on the index.
    if last == 0 {
        return branches.swap_remove(0)(operand);
    }
    if let Some(value) = decided(&index) {
        let taken = usize::try_from(value.max(0)).map_or(last, |taken| taken.min(last));
        return branches.swap_remove(taken)(operand);
    }
    let operand = flatten(&operand);
    let index = lax::convert_element_type(&index, DType::I32);
    let traced: Vec<FlatTrace> = branches
        .into_iter()
        .map(|f| staged("switch", f, &operand))
        .collect();
    let limit = |value: usize| {
        Array(crate::array::Repr::Number(Literal::new(
            Scalar::Int(value as i64),
            DType::I32,
        )))
    };
    let index = lax::clamp(&limit(0), &index, &limit(last));
    run("switch", &index, traced, &operand.leaves).unflatten()
}

fn no_branches() -> Error {
    Error::new(ErrorKind::Arity, "there are no branches").in_operation("switch")
}

/// What decides, where branches are called and not recorded.
fn decided(index: &Array) -> Option<i64> {
    if !jit_is_disabled() {
        return None;
    }
    let value = index.try_value().ok()?.scalar_at(0)?.as_integer()?;
    i64::try_from(value).ok()
}

/// One `cond` equation of branches that take the same captured arrays.
#[track_caller]
fn run(operation: &str, index: &Array, branches: Vec<FlatTrace>, operands: &[Array]) -> FlatArgs {
    check_branches(operation, &branches.iter().collect::<Vec<_>>());
    let treedef = branches[0].aux.clone();
    let (branches, captured) = with_common_captures(branches);
    let mut all = vec![index.clone()];
    all.extend(captured);
    all.extend_from_slice(operands);
    let prim = Cond {
        branches: Branches(branches),
        branches_platforms: None,
    };
    FlatArgs {
        leaves: bind(prim, &all).into_vec(),
        treedef,
    }
}

/// All branches must give the structure and the types of the first.
#[track_caller]
pub(crate) fn check_branches(operation: &str, branches: &[&FlatTrace]) {
    let label = |number: usize| match (operation, number) {
        ("cond", 0) => "on_false".to_owned(),
        ("cond", _) => "on_true".to_owned(),
        (_, number) => format!("branch {number}"),
    };
    let first = branches[0];
    let wanted = first.jaxpr.out_avals();
    for (number, branch) in branches.iter().enumerate().skip(1) {
        if branch.aux != first.aux {
            let errors = first.aux.prefix_errors(&branch.aux);
            let what = errors.first().map_or_else(
                || format!("{} and {}", first.aux, branch.aux),
                ToString::to_string,
            );
            raise(
                Error::new(
                    ErrorKind::Structure,
                    format!(
                        "{} and {} give different structures: {what}",
                        label(0),
                        label(number)
                    ),
                )
                .in_operation(operation),
            );
        }
        for ((want, got), path) in wanted
            .iter()
            .zip(branch.jaxpr.out_avals())
            .zip(first.aux.key_paths())
        {
            if !want.matches(&got) {
                let error = Error::shape(format!(
                    "{} gives {want}, and {} gives {got}",
                    label(0),
                    label(number)
                ))
                .in_operation(operation)
                .at_path(path.to_string())
                .note("branches must give the same shapes and element types");
                raise(error);
            }
        }
    }
}

/// Branches that all take the captured arrays of all, each ignoring those of the others.
pub(crate) fn with_common_captures(branches: Vec<FlatTrace>) -> (Vec<ClosedJaxpr>, Vec<Array>) {
    let counts: Vec<usize> = branches
        .iter()
        .map(|branch| branch.captured.len())
        .collect();
    let types: Vec<_> = branches
        .iter()
        .flat_map(|branch| avals(&branch.captured))
        .collect();
    let mut out = Vec::with_capacity(branches.len());
    let mut captured = Vec::new();
    let mut start = 0;
    for (branch, &count) in branches.into_iter().zip(&counts) {
        let mut jaxpr: Jaxpr = std::sync::Arc::unwrap_or_clone(branch.jaxpr.jaxpr);
        let own: Vec<Var> = jaxpr.invars[..count].to_vec();
        let rest: Vec<Var> = jaxpr.invars[count..].to_vec();
        let mut invars = Vec::with_capacity(types.len() + rest.len());
        for (position, aval) in types.iter().enumerate() {
            let mine = position.checked_sub(start).and_then(|index| own.get(index));
            invars.push(mine.copied().unwrap_or_else(|| jaxpr.new_var(aval.clone())));
        }
        invars.extend(rest);
        jaxpr.invars = invars;
        out.push(ClosedJaxpr::new(jaxpr, branch.jaxpr.consts));
        captured.extend(branch.captured);
        start += count;
    }
    (out, captured)
}
