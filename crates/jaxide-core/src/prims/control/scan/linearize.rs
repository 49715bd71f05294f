//! Linearization: one loop for the values, one for the tangents.
//!
//! Residuals that do not change from step to step leave the loop: they are computed once before it, or are constants
//! of it. Residuals that are slices of inputs are those inputs. The others are stacked.

use super::*;
use crate::transform::linearize;
use crate::transform::rearrange::{dedup_results, move_to_back, restore};

impl Scan {
    pub(super) fn linearize_rule(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let b = split.known;
        let (consts, carry) = self.counts();
        let ys = self.stacked_results();
        let body_consts = self.jaxpr.jaxpr.constvars.len();
        let mut nonzero_in = nonzeros(tangents);
        // The carry changes from step to step, so that a residual is never the argument.
        let mut forward = vec![true; primals.len()];
        forward[consts..consts + carry].fill(false);
        let lin = loop {
            let mut instantiate = nonzero_in[consts..consts + carry].to_vec();
            instantiate.resize(carry + ys, false);
            let lin = linearize(b, &self.jaxpr, &nonzero_in, &instantiate, &forward)?;
            if lin.nonzero[..carry] == nonzero_in[consts..consts + carry] {
                break lin;
            }
            let all = or(&nonzero_in[consts..consts + carry], &lin.nonzero[..carry]);
            nonzero_in[consts..consts + carry].copy_from_slice(&all);
        };
        let results_count = carry + ys;
        let (const_values, loop_values) = primals.split_at(consts);
        let hoisted = self.hoist(b, &lin.primal, const_values, results_count)?;
        // Stacked residuals go behind the tangents: [invariant, tangents, stacked].
        let mut which = hoisted.hoisted.iter();
        let mut stacked: Vec<bool> = lin
            .forwarded
            .iter()
            .map(|forwarded| match forwarded {
                None => !which.next().copied().unwrap_or(false),
                Some(index) => *index >= body_consts + consts + carry,
            })
            .collect();
        let residual_count = stacked.len();
        stacked.resize(lin.linear.jaxpr.invars.len(), false);
        let linear = move_to_back(b.memo(), &lin.linear, &stacked)?;
        stacked.truncate(residual_count);
        // A stacked residual may be a stacked result, but not a carry: that is the last value only.
        let mut repeatable = vec![false; carry];
        repeatable.resize(results_count, true);
        let (body, repeats) = dedup_results(b.memo(), &hoisted.body, &repeatable)?;
        let results = if body.jaxpr.outvars.is_empty() {
            Vec::new()
        } else {
            let operands = [&hoisted.consts, loop_values].concat();
            self.with_body(body, hoisted.consts.len(), carry)
                .bind(b, &operands)
        };
        let results = restore(&repeats, &results, &results);
        let (results, stacked_residuals) = results.split_at(results_count);
        let computed = hoisted.merge(stacked_residuals);
        let residuals = restore_residuals(b, &self.jaxpr, &lin.forwarded, primals, &computed);
        let tangents: Vec<Atom> = tangents
            .iter()
            .zip(primals)
            .zip(&nonzero_in)
            .filter(|(_, nonzero)| **nonzero)
            .map(|((tangent, &primal), _)| {
                let zero = || split.unknown.zeros(&b.aval(primal).tangent());
                tangent.unwrap_or_else(zero)
            })
            .collect();
        let select = |wanted: bool| {
            residuals
                .iter()
                .zip(&stacked)
                .filter(move |(_, stacked)| **stacked == wanted)
                .map(|(&atom, _)| split.residual(atom))
        };
        let mut operands: Vec<Atom> = select(false).collect();
        let invariant = operands.len();
        operands.extend(tangents);
        operands.extend(select(true));
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        let new_consts = invariant + count(&nonzero_in[..consts]);
        let new_carry = count(&nonzero_in[consts..consts + carry]);
        let new = self
            .with_body(linear, new_consts, new_carry)
            .bind(&split.unknown, &operands);
        Ok(JvpResult {
            primals: results.iter().copied().collect(),
            tangents: spread(&new, &lin.nonzero),
        })
    }
}
