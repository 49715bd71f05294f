//! Dead-code elimination: equations whose results nothing uses go, in sub-jaxprs too.

use crate::error::Result;
use crate::jaxpr::{Atom, ClosedJaxpr, Eqn, Jaxpr, Memo, MemoArgs, Var, VarMap, flags};
use crate::marks::keep;
use crate::prims::Prim;

/// A jaxpr without dead code.
#[derive(Clone)]
pub struct Dce {
    /// The jaxpr, with the used results and the remaining arguments. The very same object when nothing was dead.
    pub jaxpr: ClosedJaxpr,
    /// Which arguments remain.
    pub inputs: Vec<bool>,
}

/// Removes what no result needs; arguments and results stay.
///
/// # Errors
/// When a sub-jaxpr is illegal.
pub fn dce(jaxpr: &ClosedJaxpr) -> Result<ClosedJaxpr> {
    if jaxpr.jaxpr.has_captures() {
        return Ok(jaxpr.clone());
    }
    let outputs = vec![true; jaxpr.jaxpr.outvars.len()];
    let inputs = vec![true; jaxpr.jaxpr.invars.len()];
    Ok(dce_jaxpr(&Memo::default(), jaxpr, &outputs, &inputs)?.jaxpr)
}

/// Removes the results not marked in `used_outputs`, everything that only they need, and arguments that are then
/// unused and not marked in `keep_inputs`.
///
/// # Errors
/// When a sub-jaxpr is illegal.
pub fn dce_jaxpr(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    used_outputs: &[bool],
    keep_inputs: &[bool],
) -> Result<Dce> {
    let mut args = MemoArgs::new();
    flags(&mut args, used_outputs);
    flags(&mut args, keep_inputs);
    memo.of_jaxpr("dce", jaxpr, args, || {
        let (new, inputs) = sweep(memo, &jaxpr.jaxpr, used_outputs, keep_inputs)?;
        let jaxpr = match new {
            None => jaxpr.clone(),
            Some(new) => ClosedJaxpr::new(new, jaxpr.consts.clone()),
        };
        Ok(Dce { jaxpr, inputs })
    })
}

/// The trimmed jaxpr, `None` when it is the same, and which arguments remain.
fn sweep(
    memo: &Memo,
    jaxpr: &Jaxpr,
    used_outputs: &[bool],
    keep_inputs: &[bool],
) -> Result<(Option<Jaxpr>, Vec<bool>)> {
    let mut live: VarMap<()> = VarMap::new();
    let mark = |live: &mut VarMap<()>, atom: Atom| {
        if let Atom::Var(var) = atom {
            live.insert(var, ());
        }
    };
    for (&atom, &used) in jaxpr.outvars.iter().zip(used_outputs) {
        if used {
            mark(&mut live, atom);
        }
    }
    let mut changed = false;
    let mut eqns: Vec<Eqn> = Vec::with_capacity(jaxpr.eqns.len());
    for eqn in jaxpr.eqns.iter().rev() {
        let used: Vec<bool> = eqn
            .outputs
            .iter()
            .map(|&var| live.contains_key(var))
            .collect();
        if !used.contains(&true) && (!has_effect(&eqn.prim) || writes_unread(jaxpr, eqn, &live)) {
            changed = true;
            continue;
        }
        let Some(trimmed) = eqn.prim.rules().dce(memo, &used)? else {
            eqn.inputs.iter().for_each(|&atom| mark(&mut live, atom));
            eqns.push(eqn.clone());
            continue;
        };
        changed = true;
        let inputs = keep(&eqn.inputs, &trimmed.inputs);
        let outputs = keep(&eqn.outputs, &trimmed.outputs);
        if outputs.is_empty() && inputs.is_empty() && !has_effect(&trimmed.prim) {
            continue;
        }
        inputs.iter().for_each(|&atom| mark(&mut live, atom));
        eqns.push(Eqn {
            prim: trimmed.prim,
            inputs: inputs.into_iter().collect(),
            outputs: outputs.into_iter().collect(),
            source: eqn.source,
        });
    }
    let inputs: Vec<bool> = jaxpr
        .invars
        .iter()
        .zip(keep_inputs)
        .map(|(&var, &keep)| keep || live.contains_key(var))
        .collect();
    if !changed && !inputs.contains(&false) && !used_outputs.contains(&false) {
        return Ok((None, inputs));
    }
    eqns.reverse();
    let mut new = jaxpr.clone();
    new.invars = keep::<Var>(&jaxpr.invars, &inputs);
    new.outvars = keep::<Atom>(&jaxpr.outvars, used_outputs);
    new.eqns = eqns;
    Ok((Some(new), inputs))
}

/// Whether an equation writes to a reference of this jaxpr that nothing behind it reads.
fn writes_unread(jaxpr: &Jaxpr, eqn: &Eqn, live: &VarMap<()>) -> bool {
    let (Prim::RefSwap(_) | Prim::RefAddUpdate(_)) = &eqn.prim else {
        return false;
    };
    let Some(reference) = eqn.inputs.first().and_then(|atom| atom.var()) else {
        return false;
    };
    let outside = jaxpr.invars.contains(&reference) || jaxpr.constvars.contains(&reference);
    !outside && !live.contains_key(reference)
}

/// Whether a primitive, or one in its sub-jaxprs, does more than compute its results.
pub fn has_effect(prim: &Prim) -> bool {
    let mut found = prim.rules().has_effect();
    prim.visit(&mut |jaxpr| {
        found = found || jaxpr.jaxpr.eqns.iter().any(|eqn| has_effect(&eqn.prim));
    });
    found
}
