//! Inlining: calls are replaced by the equations of what they call.

use super::nested::everywhere;
use crate::error::{Result, Scope};
use crate::jaxpr::{Builder, ClosedJaxpr, Eqn, Jaxpr};
use crate::prims::Prim;
use crate::transform::bind_constants;

/// Replaces `jit`, `eval_jaxpr`, `closed_call`, `custom_jvp_call`, `custom_vjp_call`, `custom_vmap_call` and `composite` by
/// what they call, and a `cond` whose index is a literal by its branch, in sub-jaxprs too.
///
/// Custom rules go with their calls: differentiate and batch before. Checkpoints stay, since what they compute again
/// must be computed again.
///
/// # Errors
/// When a call does not fit its callee.
pub fn inline_calls(jaxpr: &ClosedJaxpr) -> Result<ClosedJaxpr> {
    let error = std::cell::RefCell::new(None);
    let new = everywhere(jaxpr, &|jaxpr| {
        inlined(&jaxpr).unwrap_or_else(|mistake| {
            error.borrow_mut().get_or_insert(mistake);
            jaxpr
        })
    });
    error.into_inner().map_or(Ok(new), Err)
}

/// What a call calls, and the number of operands in front that are not its arguments.
fn callee(eqn: &Eqn) -> Option<(&ClosedJaxpr, usize)> {
    let prim = &eqn.prim;
    if let Prim::Cond(cond) = prim {
        let index = eqn.inputs.first()?.literal()?.value.as_integer()?;
        // Indices outside are moved to the first or the last branch.
        let branches = &cond.branches.0;
        let index = usize::try_from(index.max(0)).ok()?;
        return Some((branches.get(index).or(branches.last())?, 1));
    }
    let callee = if let Prim::Jit(call) = prim {
        &call.jaxpr
    } else if let Prim::EvalJaxpr(call) = prim {
        &call.call_jaxpr
    } else if let Prim::ClosedCall(call) = prim {
        &call.call_jaxpr
    } else if let Prim::CustomJvpCall(call) = prim {
        &call.call_jaxpr
    } else if let Prim::CustomVjpCall(call) = prim {
        &call.call_jaxpr
    } else if let Prim::CustomVmapCall(call) = prim {
        &call.call
    } else if let Prim::Composite(call) = prim {
        &call.call_jaxpr
    } else {
        return None;
    };
    Some((callee, 0))
}

/// The body of a `jit`, which is recorded once for all calls and knows its own scopes alone, in the scope of a call.
fn in_scope(jaxpr: &Jaxpr, scope: Scope) -> Jaxpr {
    let mut jaxpr = jaxpr.clone();
    for eqn in &mut jaxpr.eqns {
        eqn.source = eqn.source.within(scope.join(eqn.source.scope()));
    }
    jaxpr
}

/// The jaxpr with its calls, whose callees have none left, replaced.
fn inlined(closed: &ClosedJaxpr) -> Result<ClosedJaxpr> {
    let jaxpr = &closed.jaxpr;
    if !jaxpr.eqns.iter().any(|eqn| callee(eqn).is_some()) {
        return Ok(closed.clone());
    }
    let b = Builder::new();
    let consts = bind_constants(&b, closed);
    let args: Vec<_> = jaxpr
        .in_avals()
        .into_iter()
        .map(|aval| b.input(aval))
        .collect();
    let results = b.inline_with(jaxpr, &consts, &args, &|b, eqn, operands| {
        let Some((callee, skipped)) = callee(eqn) else {
            return Ok(None);
        };
        let consts = bind_constants(b, callee);
        let body = match eqn.source.scope() {
            Some(scope) if matches!(eqn.prim, Prim::Jit(_)) => &in_scope(&callee.jaxpr, scope),
            _ => &*callee.jaxpr,
        };
        b.inline(body, &consts, &operands[skipped..]).map(Some)
    })?;
    b.finish(&results)
}
