//! What calls with derivatives of their own have in common: where text names a rule only, the function that is called
//! has its own derivative, written in the place of the call.

use super::super::*;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Builder, ClosedJaxpr};
use crate::marks::keep;
use crate::transform::{Split, backward_pass, bind_constants, eval_jvp, eval_linearize};

/// The equations of the function and of its derivative.
pub(super) fn inlined_jvp(
    b: &Builder,
    callee: &ClosedJaxpr,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let consts = bind_constants(b, callee);
    let (results, tangents) = eval_jvp(b, &callee.jaxpr, &consts, primals, tangents)?;
    Ok(JvpResult::new(results, tangents.into()))
}

/// The equations of the function on the known side, and those of its derivative on the other.
pub(super) fn inlined_linearize(
    split: &Split<'_>,
    callee: &ClosedJaxpr,
    primals: &[Atom],
    tangents: &[Option<Atom>],
) -> Result<JvpResult> {
    let consts = bind_constants(split.known, callee);
    let (results, tangents) = eval_linearize(split, &callee.jaxpr, &consts, primals, tangents)?;
    Ok(JvpResult::new(results, tangents.into()))
}

/// The backward pass of the function.
pub(super) fn inlined_transpose(
    b: &Builder,
    callee: &ClosedJaxpr,
    cotangents: &[Option<Atom>],
    operands: &[TransposeArg],
) -> Result<Cotangents> {
    let consts = bind_constants(b, callee);
    let start = vec![None; operands.len()];
    let out = backward_pass(b, &callee.jaxpr, &consts, operands, start, cotangents)?;
    Ok(out.into())
}

/// The tangents behind those of captured values.
///
/// # Errors
/// When a captured value has a tangent: `rule` of `prim` does not know it.
pub(super) fn behind_captured<'a>(
    prim: &str,
    rule: &str,
    tangents: &'a [Option<Atom>],
    captured: usize,
) -> Result<&'a [Option<Atom>]> {
    let (captured, tangents) = tangents.split_at(captured);
    if captured.iter().any(Option::is_some) {
        let reason = "it captures a value that is differentiated: pass the value as an argument";
        return Err(Error::no_rule(prim, rule, reason));
    }
    Ok(tangents)
}

/// The jaxpr of a rule with the marked results only.
pub(super) fn with_results(jaxpr: &ClosedJaxpr, marks: &[bool]) -> ClosedJaxpr {
    let mut new = (*jaxpr.jaxpr).clone();
    new.outvars = keep(&new.outvars, marks);
    ClosedJaxpr::new(new, jaxpr.consts.clone())
}
