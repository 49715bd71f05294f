//! Common subexpressions: equations of the same primitive and operands are computed once.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use super::has_effect;
use super::nested::everywhere;
use crate::jaxpr::{Atom, Atoms, ClosedJaxpr, Eqn, Jaxpr, Var, VarMap};
use crate::prims::Prim;

/// Computes equal equations once, in sub-jaxprs too (each for itself).
pub fn cse(jaxpr: &ClosedJaxpr) -> ClosedJaxpr {
    everywhere(jaxpr, &|jaxpr| {
        let new = merge_equal(&jaxpr.jaxpr);
        ClosedJaxpr::new(new, jaxpr.consts)
    })
}

fn merge_equal(jaxpr: &Jaxpr) -> Jaxpr {
    let mut new = jaxpr.clone();
    let mut known: HashMap<u64, Vec<usize>> = HashMap::new();
    let mut replaced: VarMap<Var> = VarMap::new();
    let mut eqns: Vec<Eqn> = Vec::with_capacity(new.eqns.len());
    let read = |replaced: &VarMap<Var>, atom: Atom| match atom {
        Atom::Var(var) => Atom::Var(replaced.get(var).copied().unwrap_or(var)),
        literal @ Atom::Lit(_) => literal,
    };
    for mut eqn in std::mem::take(&mut new.eqns) {
        let inputs: Atoms = eqn
            .inputs
            .iter()
            .map(|&atom| read(&replaced, atom))
            .collect();
        eqn.inputs = inputs;
        if !is_pure(&eqn.prim) {
            eqns.push(eqn);
            continue;
        }
        let candidates = known.entry(fingerprint(&eqn)).or_default();
        let same = candidates.iter().copied().find(|&index| {
            let other: &Eqn = &eqns[index];
            other.inputs == eqn.inputs && other.prim == eqn.prim && same_types(jaxpr, other, &eqn)
        });
        match same {
            Some(index) => {
                for (&old, &first) in eqn.outputs.iter().zip(&eqns[index].outputs) {
                    replaced.insert(old, first);
                }
            }
            None => {
                candidates.push(eqns.len());
                eqns.push(eqn);
            }
        }
    }
    // A result that was not used may be now.
    for first in replaced.values() {
        new.set_dropped(*first, false);
    }
    new.eqns = eqns;
    new.outvars = jaxpr
        .outvars
        .iter()
        .map(|&atom| read(&replaced, atom))
        .collect();
    new
}

fn same_types(jaxpr: &Jaxpr, a: &Eqn, b: &Eqn) -> bool {
    let aval = |var: &Var| jaxpr.aval_of(*var);
    a.outputs.iter().map(aval).eq(b.outputs.iter().map(aval))
}

/// A hash of the primitive's name and its operands.
fn fingerprint(eqn: &Eqn) -> u64 {
    let mut hasher = DefaultHasher::new();
    eqn.prim.name().hash(&mut hasher);
    eqn.inputs.hash(&mut hasher);
    hasher.finish()
}

/// Whether an equation gives the same as another of the same text: no effects, no references, no barrier, nothing that the
/// text does not tell.
fn is_pure(prim: &Prim) -> bool {
    let stateful = matches!(
        prim,
        Prim::NewRef(_) | Prim::RefGet(_) | Prim::FreezeRef(_) | Prim::OptimizationBarrier(_)
    );
    // Their parameters hold objects of Python, and different ones have the same text.
    let by_text = matches!(
        prim,
        Prim::Foreign(_) | Prim::PureCallback(_) | Prim::CallExported(_)
    );
    !stateful && !by_text && !has_effect(prim)
}
