//! Constant folding: equations whose operands are all literals are computed by the reference interpreter.

use crate::eval::eval_eqn;
use crate::jaxpr::{Atom, ClosedJaxpr, Eqn, Jaxpr, Literal, VarMap};
use crate::prims::Prim;
use crate::tensor::Tensor;

use super::has_effect;
use super::nested::everywhere;

/// Computes equations of literals that have one result of rank 0, which becomes a literal; in sub-jaxprs too.
///
/// An equation that the interpreter refuses stays, so that the mistake shows where it is run.
pub fn fold_constants(jaxpr: &ClosedJaxpr) -> ClosedJaxpr {
    everywhere(jaxpr, &|jaxpr| {
        let new = fold(&jaxpr.jaxpr);
        ClosedJaxpr::new(new, jaxpr.consts)
    })
}

fn fold(jaxpr: &Jaxpr) -> Jaxpr {
    let mut new = jaxpr.clone();
    let mut literals: VarMap<Literal> = VarMap::new();
    let read = |literals: &VarMap<Literal>, atom: Atom| match atom {
        Atom::Var(var) => literals
            .get(var)
            .map_or(atom, |&literal| Atom::Lit(literal)),
        Atom::Lit(_) => atom,
    };
    new.eqns.retain_mut(|eqn| {
        eqn.inputs = eqn
            .inputs
            .iter()
            .map(|&atom| read(&literals, atom))
            .collect();
        let Some((var, literal)) = folded(jaxpr, eqn) else {
            return true;
        };
        literals.insert(var, literal);
        false
    });
    new.outvars = jaxpr
        .outvars
        .iter()
        .map(|&atom| read(&literals, atom))
        .collect();
    new
}

/// The result of an equation of literals.
fn folded(jaxpr: &Jaxpr, eqn: &Eqn) -> Option<(crate::jaxpr::Var, Literal)> {
    let [var] = eqn.outputs.as_slice() else {
        return None;
    };
    let aval = jaxpr.aval_of(*var);
    if aval.rank() != 0 || eqn.inputs.is_empty() || !foldable(&eqn.prim) {
        return None;
    }
    let inputs: Vec<Tensor> = eqn
        .inputs
        .iter()
        .map(|atom| {
            let literal = atom.literal()?;
            Tensor::full(&[], literal.dtype, literal.value).ok()
        })
        .collect::<Option<_>>()?;
    let [result]: [Tensor; 1] = eval_eqn(&eqn.prim, &inputs).ok()?.try_into().ok()?;
    if !result.shape().is_empty() || result.dtype() != aval.dtype {
        return None;
    }
    let literal = Literal {
        value: result.scalar_at(0)?,
        dtype: aval.dtype,
        weak_type: aval.weak_type,
    };
    Some((*var, literal))
}

/// Whether the primitive may be computed early: it has no effects, calls nothing, and stands for nothing but its
/// result (barriers and named values are there for their own sake).
fn foldable(prim: &Prim) -> bool {
    let mut calls = false;
    prim.visit(&mut |_| calls = true);
    let kept = matches!(
        prim,
        Prim::OptimizationBarrier(_)
            | Prim::PlaceName(_)
            | Prim::StopGradient(_)
            | Prim::Empty(_)
            | Prim::EmptyArray(_)
    );
    !calls && !kept && !has_effect(prim)
}
