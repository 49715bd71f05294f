//! Loops without stacked results.

use jaxide_core::prims::While;
use jaxide_core::{Aval, DType, Error};
use jaxide_tree::Pytree;

use super::{carry, scan};
use crate::api::flat::{FlatArgs, flatten, of_structure};
use crate::array::{Array, Repr, as_dtype};
use crate::numpy;
use crate::trace::{Captures, Known, Traced, bind, raise, trace};

/// Applies `body` to a carry while `cond` holds of it.
///
/// `cond` gives a scalar truth value. Forward-mode derivatives go through; for reverse mode use [`fori_loop`](super::fori_loop) with
/// fixed bounds, or [`scan`](super::scan()).
///
/// # Panics
/// When the carry changes its structure or types (the path is named), or `cond` does not give a scalar truth value.
///
/// ```
/// use jaxide::{Array, while_loop};
/// let x = while_loop(|x: Array| x.lt(100.0), |x: Array| x * 2.0, Array::from(3.0f32));
/// assert_eq!(x.item::<f32>(), 192.0);
/// ```
#[track_caller]
pub fn while_loop<Carry: Pytree<Array>>(
    cond: impl FnOnce(Carry) -> Array,
    body: impl FnOnce(Carry) -> Carry,
    init: Carry,
) -> Carry {
    let (mut cond, mut body) = (Some(cond), Some(body));
    while_flat(
        flatten(&init),
        &mut |carry| cond.take().expect("a condition is recorded once")(carry.unflatten()),
        &mut |carry| {
            flatten(&body.take().expect("a body is recorded once")(
                carry.unflatten(),
            ))
        },
    )
    .unflatten()
}

/// [`while_loop`] without its types.
#[track_caller]
fn while_flat(
    init: FlatArgs,
    cond: &mut dyn FnMut(FlatArgs) -> Array,
    body: &mut dyn FnMut(FlatArgs) -> FlatArgs,
) -> FlatArgs {
    let avals = carry::types(&init.leaves);
    let condition = trace(
        "while_loop",
        &avals,
        Known::No,
        Captures::Inputs,
        |leaves| (vec![cond(of_structure(&init.treedef, leaves))], ()),
    );
    check_condition(&condition);
    let step = trace(
        "while_loop",
        &avals,
        Known::No,
        Captures::Inputs,
        |leaves| {
            let out = body(of_structure(&init.treedef, leaves));
            (out.leaves, out.treedef)
        },
    );
    let outs = step.jaxpr.out_avals();
    carry::check("while_loop", &init.treedef, &step.aux, &avals, &outs);
    FlatArgs {
        leaves: run(condition, step, &init.leaves, &outs),
        treedef: init.treedef,
    }
}

#[track_caller]
fn check_condition(condition: &Traced<()>) {
    let outs = condition.jaxpr.out_avals();
    if outs[0].rank() != 0 || outs[0].dtype != DType::Bool {
        raise(
            Error::shape(format!(
                "the condition must give a scalar truth value, and gives {}",
                outs[0]
            ))
            .in_operation("while_loop")
            .note("compare, or reduce with `.all()` or `.any()`"),
        );
    }
}

/// One `while` equation.
#[track_caller]
fn run<T>(condition: Traced<()>, step: Traced<T>, init: &[Array], outs: &[Aval]) -> Vec<Array> {
    let init = carry::strengthened(init, outs);
    let avals = carry::types(&init);
    let (cond_nconsts, body_nconsts) = (condition.captured.len(), step.captured.len());
    let prim = While {
        body_jaxpr: carry::retyped(step.jaxpr, body_nconsts, &avals),
        body_nconsts,
        cond_jaxpr: carry::retyped(condition.jaxpr, cond_nconsts, &avals),
        cond_nconsts,
    };
    let mut operands = condition.captured;
    operands.extend(step.captured);
    operands.extend(init);
    bind(prim, &operands).into_vec()
}

/// Applies `body` to a number and a carry for the numbers from `lower` to before `upper`.
///
/// With bounds that are known while tracing it is a `scan`, through which reverse-mode derivatives go; otherwise a `while`.
///
/// # Panics
/// When the carry changes its structure or types (the path is named), or bounds are not integer scalars.
///
/// ```
/// use jaxide::{Array, fori_loop};
/// let sum = fori_loop(0, 5, |i: Array, sum: Array| sum + i, Array::from([0i32]));
/// assert_eq!(sum.to_vec::<i32>(), [10]);
/// ```
#[track_caller]
pub fn fori_loop<Carry: Pytree<Array>>(
    lower: impl Into<Array>,
    upper: impl Into<Array>,
    body: impl FnOnce(Array, Carry) -> Carry,
    init: Carry,
) -> Carry {
    let (lower, upper) = (lower.into(), upper.into());
    let [lower, upper] = checked_bounds(&lower, &upper);
    if let (Some(start), Some(end)) = (fixed(&lower), fixed(&upper)) {
        let length = usize::try_from(end.saturating_sub(start)).unwrap_or(0);
        return counted(lower, length, body, init);
    }
    let mut body = Some(body);
    until(lower, upper, flatten(&init), &mut |i, carry| {
        let body = body.take().expect("a body is recorded once");
        flatten(&body(i, carry.unflatten()))
    })
    .unflatten()
}

/// A loop between bounds of which one is not known, without its types.
#[track_caller]
fn until(
    lower: Array,
    upper: Array,
    init: FlatArgs,
    body: &mut dyn FnMut(Array, FlatArgs) -> FlatArgs,
) -> FlatArgs {
    let mut leaves = vec![lower, upper];
    leaves.extend(init.leaves.iter().cloned());
    let avals = carry::types(&leaves);
    let condition = trace("fori_loop", &avals, Known::No, Captures::Inputs, |leaves| {
        (vec![crate::lax::lt(&leaves[0], &leaves[1])], ())
    });
    let step = trace("fori_loop", &avals, Known::No, Captures::Inputs, |leaves| {
        let next = crate::lax::add(&leaves[0], &Array::from(1));
        let out = body(leaves[0].clone(), of_structure(&init.treedef, &leaves[2..]));
        let mut results = vec![next, leaves[1].clone()];
        results.extend(out.leaves);
        (results, out.treedef)
    });
    let outs = step.jaxpr.out_avals();
    carry::check(
        "fori_loop",
        &init.treedef,
        &step.aux,
        &avals[2..],
        &outs[2..],
    );
    let mut results = run(condition, step, &leaves, &outs);
    FlatArgs {
        leaves: results.split_off(2),
        treedef: init.treedef,
    }
}

/// The value of a bound that is known while tracing.
fn fixed(bound: &Array) -> Option<i64> {
    match bound.0 {
        Repr::Tracer(_) | Repr::Spec(_) => None,
        Repr::Number(_) | Repr::Concrete { .. } => bound
            .try_value()
            .ok()?
            .scalar_at(0)?
            .as_integer()
            .and_then(|value| i64::try_from(value).ok()),
    }
}

/// Bounds of one element type: a bare number takes the other's.
#[track_caller]
fn checked_bounds(lower: &Array, upper: &Array) -> [Array; 2] {
    for bound in [lower, upper] {
        if bound.ndim() != 0 || !bound.dtype().is_integer() {
            raise(
                Error::shape(format!(
                    "bounds must be integer scalars, and one is {}",
                    bound.aval()
                ))
                .in_operation("fori_loop"),
            );
        }
    }
    let (dtype, _) = crate::array::result_dtype("fori_loop", &[lower, upper]);
    [as_dtype(lower, dtype, false), as_dtype(upper, dtype, false)]
}

/// A loop of known length: a scan that carries the number.
#[track_caller]
fn counted<Carry: Pytree<Array>>(
    lower: Array,
    length: usize,
    body: impl FnOnce(Array, Carry) -> Carry,
    init: Carry,
) -> Carry {
    let lower = as_dtype(&lower, lower.dtype(), false);
    let ((_, carry), ()) = scan::run(
        "fori_loop",
        |(i, carry): (Array, Carry), (): ()| {
            let next = numpy::add(&i, &Array::from(1));
            ((next, body(i, carry)), ())
        },
        (lower, init),
        (),
        Some(length),
        false,
    );
    carry
}
