//! Partial evaluation: a loop of what is known, and a loop of the rest over residuals.

use super::*;
use crate::transform::rearrange::move_to_back;
use crate::transform::{bind_constants, close_unknown, eval_partial, partial_eval};

/// A known loop whose loop-invariant residuals are computed before it.
pub(super) struct Hoisted {
    /// The body of what remains: new constants, carry, slices to results, stacked residuals.
    pub(super) body: ClosedJaxpr,
    /// The new constants.
    pub(super) consts: Vec<Atom>,
    /// Which residuals were computed before the loop.
    pub(super) hoisted: Vec<bool>,
    residuals: Vec<Atom>,
}

impl Hoisted {
    /// All residuals, from the stacked ones.
    pub(super) fn merge(&self, stacked: &[Atom]) -> Vec<Atom> {
        let (mut before, mut stacked) = (self.residuals.iter(), stacked.iter());
        self.hoisted
            .iter()
            .filter_map(|&hoisted| {
                if hoisted {
                    before.next()
                } else {
                    stacked.next()
                }
            })
            .copied()
            .collect()
    }
}

impl Scan {
    /// Writes into `b` what the residuals of `body` (its results behind the first `results`) need of constants alone.
    pub(super) fn hoist(
        &self,
        b: &Builder,
        body: &ClosedJaxpr,
        consts: &[Atom],
        results: usize,
    ) -> Result<Hoisted> {
        let split = Split::new(b);
        let own = bind_constants(b, body);
        let avals = body.in_avals();
        let args: Vec<Partial> = consts
            .iter()
            .map(|&atom| Partial::Known(atom))
            .chain(
                avals[consts.len()..]
                    .iter()
                    .map(|aval| Partial::Unknown(split.unknown.input(aval.clone()))),
            )
            .collect();
        let out = eval_partial(&split, &body.jaxpr, &own, &args)?;
        let mut instantiate = vec![true; results];
        instantiate.resize(out.len(), false);
        let (body, consts, known) = close_unknown(split, &out, &instantiate)?;
        let residuals = &known[results..];
        Ok(Hoisted {
            body,
            consts,
            hoisted: residuals.iter().map(Option::is_some).collect(),
            residuals: residuals.iter().flatten().copied().collect(),
        })
    }

    pub(super) fn partial_eval_rule(
        &self,
        split: &Split<'_>,
        operands: &[Partial],
    ) -> Result<Partials> {
        let b = split.known;
        let (consts, carry) = self.counts();
        let ys = self.stacked_results();
        let body_consts = self.jaxpr.jaxpr.constvars.len();
        let mut unknown: Vec<bool> = operands
            .iter()
            .map(|operand| operand.is_unknown())
            .collect();
        let mut forward = vec![true; operands.len()];
        forward[consts..consts + carry].fill(false);
        // A carry is unknown if its start is or a step makes it so.
        let parts = loop {
            let mut instantiate = unknown[consts..consts + carry].to_vec();
            instantiate.resize(carry + ys, false);
            let parts = partial_eval(b, &self.jaxpr, &unknown, &instantiate, &forward)?;
            if parts.unknown_results[..carry] == unknown[consts..consts + carry] {
                break parts;
            }
            let all = or(
                &unknown[consts..consts + carry],
                &parts.unknown_results[..carry],
            );
            unknown[consts..consts + carry].copy_from_slice(&all);
        };
        let operands: Vec<Partial> = operands
            .iter()
            .zip(&unknown)
            .map(|(&operand, &unknown)| {
                if unknown {
                    Partial::Unknown(split.unknown(operand))
                } else {
                    operand
                }
            })
            .collect();
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        let unknown_consts = count(&unknown[..consts]);
        let unknown_carry = count(&unknown[consts..consts + carry]);
        let (known_consts, known_carry) = (consts - unknown_consts, carry - unknown_carry);
        let (known_in, unknown_in) = separate(&operands);
        let known_results = parts.unknown_results.len() - count(&parts.unknown_results);
        let (const_values, loop_values) = known_in.split_at(known_consts);
        let hoisted = self.hoist(b, &parts.known, const_values, known_results)?;
        let mut which = hoisted.hoisted.iter();
        let mut stacked: Vec<bool> = parts
            .forwarded
            .iter()
            .map(|forwarded| match forwarded {
                None => !which.next().copied().unwrap_or(false),
                Some(index) => *index >= body_consts + known_consts + known_carry,
            })
            .collect();
        let residual_count = stacked.len();
        stacked.resize(parts.unknown.jaxpr.invars.len(), false);
        let body = move_to_back(b.memo(), &parts.unknown, &stacked)?;
        stacked.truncate(residual_count);
        let results = if hoisted.body.jaxpr.outvars.is_empty() {
            Vec::new()
        } else {
            let operands = [&hoisted.consts, loop_values].concat();
            self.with_body(hoisted.body.clone(), hoisted.consts.len(), known_carry)
                .bind(b, &operands)
        };
        let (known_out, stacked_residuals) = results.split_at(known_results);
        let computed = hoisted.merge(stacked_residuals);
        let residuals = restore_residuals(b, &self.jaxpr, &parts.forwarded, &known_in, &computed);
        let select = |wanted: bool| {
            residuals
                .iter()
                .zip(&stacked)
                .filter(move |(_, stacked)| **stacked == wanted)
                .map(|(&atom, _)| split.residual(atom))
        };
        let mut inputs: Vec<Atom> = select(false).collect();
        let new_consts = inputs.len() + unknown_consts;
        inputs.extend(&unknown_in);
        inputs.extend(select(true));
        let new = self
            .with_body(body, new_consts, unknown_carry)
            .bind(&split.unknown, &inputs);
        Ok(merge(&parts.unknown_results, known_out, &new))
    }
}
