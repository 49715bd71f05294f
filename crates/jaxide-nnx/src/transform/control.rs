//! Control flow that becomes part of the program.

use std::cell::RefCell;

use jaxide::core::ErrorKind;
use jaxide::tree::{self, Pytree};
use jaxide::{Array, Error, raise};

use super::lift::{FlatArgs, rebuilt, set};
use crate::call;
use crate::graph::{Met, Session};
use crate::variable::Value;

/// What one of two functions gives, which may change the variables of modules in the operand: [`jaxide::cond`].
///
/// ```
/// use jaxide_nnx::{self as nnx, BatchStat, Module, Variable};
/// use jaxide::Array;
/// let count = Variable::<BatchStat>::new(1);
/// let counted = |count: Variable<BatchStat>| { count.update(|n| n + 1); count.get() };
/// let result = nnx::jit(move |go: Array, count: Variable<BatchStat>| nnx::cond(go, counted, |count| count.get(), count));
/// assert_eq!(result(Array::from(true), count.clone()).item::<i32>(), 2);
/// assert_eq!(count.get().item::<i32>(), 2);
/// ```
///
/// # Panics
/// When a branch changes how many arrays a variable holds, or [`jaxide::cond`] does.
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
    let _call = call::here();
    let FlatArgs {
        leaves,
        treedef,
        met,
    } = FlatArgs::of(&operand);
    let changed = RefCell::new(vec![false; met.len()]);
    let branch = |f: &mut dyn FnMut(In) -> Out, leaves: Vec<Array>| -> (Out, Vec<Array>) {
        let (operand, inner) = rebuilt(&treedef, leaves);
        let versions: Vec<u64> = inner.iter().map(|met| met.variable.version()).collect();
        let out = f(operand);
        let mut values = Vec::new();
        for (place, (inner, version)) in inner.iter().zip(versions).enumerate() {
            if inner.variable.version() != version {
                changed.borrow_mut()[place] = true;
            }
            let value = inner.variable.value();
            check_form("cond", &met[place], &value);
            values.extend_from_slice(value.arrays());
        }
        (out, values)
    };
    let (mut on_true, mut on_false) = (Some(on_true), Some(on_false));
    let (out, values) = jaxide::cond(
        pred,
        |leaves| branch(&mut |operand| once(&mut on_true)(operand), leaves),
        |leaves| branch(&mut |operand| once(&mut on_false)(operand), leaves),
        leaves,
    );
    let mut values = values.into_iter();
    for (met, changed) in met.iter().zip(changed.into_inner()) {
        let value = met.variable.value().form().fill(&mut values);
        if changed {
            set(met, value);
        }
    }
    out
}

/// A function that is called once.
fn once<F>(f: &mut Option<F>) -> F {
    f.take().unwrap_or_else(|| {
        raise(Error::new(
            ErrorKind::Internal,
            "a branch is recorded twice",
        ))
    })
}

#[track_caller]
pub(super) fn check_form(operation: &str, met: &Met, value: &Value) {
    if met.variable.value().form() != value.form() {
        raise(
            Error::new(
                ErrorKind::Structure,
                format!(
                    "the {} holds another number of arrays afterwards",
                    met.variable.kind().name()
                ),
            )
            .in_operation(operation)
            .at_path(met.path.to_string())
            .note("what is noted by `sow` is to hold a value before, or is noted outside"),
        );
    }
}

/// Repeats a function as long as a condition holds, of a carry that may contain modules, whose variables hold the last values
/// afterwards: [`jaxide::while_loop`].
///
/// ```
/// use jaxide_nnx::{self as nnx, BatchStat, Variable};
/// let count = Variable::<BatchStat>::new(0);
/// nnx::while_loop(|count: Variable<BatchStat>| count.get().lt(5), |count| { count.update(|n| n + 1); count }, count.clone());
/// assert_eq!(count.get().item::<i32>(), 5);
/// ```
///
/// # Panics
/// When the body changes the structure of the carry, or [`jaxide::while_loop`] does.
#[track_caller]
pub fn while_loop<Carry: Pytree<Array>>(
    condition: impl FnOnce(Carry) -> Array,
    body: impl FnOnce(Carry) -> Carry,
    init: Carry,
) -> Carry {
    let _call = call::here();
    let (treedef, met) = Session::run(|| tree::structure::<Array, Carry>(&init));
    let last = jaxide::while_loop(condition, body, init);
    let (after, inner) = Session::run(|| tree::structure::<Array, Carry>(&last));
    if after != treedef {
        raise(
            Error::new(
                ErrorKind::Structure,
                "the carry has another structure afterwards",
            )
            .in_operation("while_loop"),
        );
    }
    for (outer, inner) in met.iter().zip(inner) {
        set(outer, inner.variable.value());
    }
    last
}
