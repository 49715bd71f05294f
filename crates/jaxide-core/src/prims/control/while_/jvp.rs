//! Forward-mode derivative: a loop over values and tangents together, as long as the values say.

use super::*;
use crate::jaxpr::ClosedJaxpr;
use crate::transform::jvp;
use crate::transform::rearrange::reorder;

impl While {
    pub(super) fn jvp_rule(
        &self,
        b: &Builder,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let (cond_consts, body_consts) = (self.cond_nconsts, self.body_nconsts);
        let mut nonzero = nonzeros(&tangents[cond_consts..]);
        // A carry has a tangent if its start has one or a step gives it one.
        let body = loop {
            let body = jvp(b, &self.body_jaxpr, &nonzero, &nonzero[body_consts..])?;
            if body.nonzero == nonzero[body_consts..] {
                break body;
            }
            let carry = or(&nonzero[body_consts..], &body.nonzero);
            nonzero[body_consts..].copy_from_slice(&carry);
        };
        let (cond_values, values) = primals.split_at(cond_consts);
        let tangents: Vec<Option<Atom>> = tangents[cond_consts..]
            .iter()
            .zip(values)
            .zip(&nonzero)
            .map(|((tangent, &primal), &nonzero)| {
                let zero = || b.zeros(&b.aval(primal).tangent());
                nonzero.then(|| tangent.unwrap_or_else(zero))
            })
            .collect();
        let carry = values.len() - body_consts;
        let order = super::super::scan::interleave(&[body_consts, carry], &nonzero);
        let results: Vec<usize> = (0..body.jaxpr.jaxpr.outvars.len()).collect();
        let all = with_tangents(values, &tangents);
        let operands: Vec<Atom> = cond_values
            .iter()
            .copied()
            .chain(order.iter().map(|&index| all[index]))
            .collect();
        let carry_avals: Vec<Aval> = tangents[body_consts..]
            .iter()
            .flatten()
            .map(|&tangent| b.aval(tangent))
            .collect();
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        let prim = While {
            cond_nconsts: cond_consts,
            cond_jaxpr: with_unused_arguments(&self.cond_jaxpr, carry_avals),
            body_nconsts: body_consts + count(&nonzero[..body_consts]),
            body_jaxpr: reorder(b.memo(), &body.jaxpr, &order, &results)?,
        };
        let results = prim.bind(b, &operands);
        Ok(split_results(&results, &body.nonzero))
    }
}

/// The condition takes the tangents of the carry too, and ignores them.
fn with_unused_arguments(jaxpr: &ClosedJaxpr, avals: Vec<Aval>) -> ClosedJaxpr {
    let mut new = (*jaxpr.jaxpr).clone();
    for aval in avals {
        let var = new.new_var(aval);
        new.invars.push(var);
    }
    ClosedJaxpr::new(new, jaxpr.consts.clone())
}
