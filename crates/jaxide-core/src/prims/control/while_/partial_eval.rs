//! Partial evaluation: the known loop runs for the known results; the unknown loop runs everything again, since
//! values of a loop of unknown length cannot be kept.

use super::*;
use crate::jaxpr::ClosedJaxpr;
use crate::marks::{keep, not};
use crate::transform::partial_eval;

impl While {
    /// `None` when nothing can be known: the condition is unknown.
    pub(super) fn partial_eval_rule(
        &self,
        split: &Split<'_>,
        operands: &[Partial],
    ) -> Result<Option<Partials>> {
        let b = split.known;
        let (cond_consts, body_consts) = (self.cond_nconsts, self.body_nconsts);
        let unknown: Vec<bool> = operands
            .iter()
            .map(|operand| operand.is_unknown())
            .collect();
        let body_unknown = &unknown[cond_consts..cond_consts + body_consts];
        let mut carry = unknown[cond_consts + body_consts..].to_vec();
        let body = loop {
            let inputs = [body_unknown, &carry].concat();
            let forward = vec![true; inputs.len()];
            let body = partial_eval(b, &self.body_jaxpr, &inputs, &carry, &forward)?;
            if body.unknown_results == carry {
                break body;
            }
            carry = or(&carry, &body.unknown_results);
        };
        let cond_inputs = [&unknown[..cond_consts], &carry].concat();
        let forward = vec![true; cond_inputs.len()];
        let cond = partial_eval(b, &self.cond_jaxpr, &cond_inputs, &[false], &forward)?;
        if cond.unknown_results[0] || !unknown.contains(&false) {
            return Ok(None);
        }
        let unknown = [&unknown[..cond_consts + body_consts], &carry].concat();
        let known_in: Vec<Atom> = keep(operands, &not(&unknown))
            .into_iter()
            .filter_map(|operand| match operand {
                Partial::Known(atom) => Some(atom),
                Partial::Unknown(_) => None,
            })
            .collect();
        let count = |flags: &[bool]| flags.iter().filter(|flag| !**flag).count();
        let prim = While {
            cond_nconsts: count(&unknown[..cond_consts]),
            cond_jaxpr: cond.known,
            body_nconsts: count(body_unknown),
            body_jaxpr: without_residuals(&body.known, count(&carry)),
        };
        let known = prim.bind(b, &known_in);
        let all: Vec<Atom> = operands
            .iter()
            .map(|&operand| split.unknown(operand))
            .collect();
        let new = self.clone().bind(&split.unknown, &all);
        Ok(Some(merge(&carry, &known, &keep(&new, &carry))))
    }
}

fn without_residuals(body: &ClosedJaxpr, results: usize) -> ClosedJaxpr {
    let mut new = (*body.jaxpr).clone();
    new.outvars.truncate(results);
    ClosedJaxpr::new(new, body.consts.clone())
}
