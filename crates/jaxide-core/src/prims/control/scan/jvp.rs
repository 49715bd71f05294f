//! Forward-mode derivative: a loop over values and tangents together.

use super::*;
use crate::transform::jvp;
use crate::transform::rearrange::reorder;

impl Scan {
    pub(super) fn jvp_rule(
        &self,
        b: &Builder,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let (consts, carry) = self.counts();
        let mut nonzero = nonzeros(tangents);
        // A carry has a tangent if its start has one or a step gives it one.
        let out = loop {
            let mut instantiate = nonzero[consts..consts + carry].to_vec();
            instantiate.resize(carry + self.stacked_results(), false);
            let out = jvp(b, &self.jaxpr, &nonzero, &instantiate)?;
            if out.nonzero[..carry] == nonzero[consts..consts + carry] {
                break out;
            }
            let all = or(&nonzero[consts..consts + carry], &out.nonzero[..carry]);
            nonzero[consts..consts + carry].copy_from_slice(&all);
        };
        let tangents: Vec<Option<Atom>> = tangents
            .iter()
            .zip(primals)
            .zip(&nonzero)
            .map(|((tangent, &primal), &nonzero)| {
                let zero = || b.zeros(&b.aval(primal).tangent());
                nonzero.then(|| tangent.unwrap_or_else(zero))
            })
            .collect();
        // Tangents stand behind the values of their kind: constants, carry, slices.
        let groups_in = [consts, carry, primals.len() - consts - carry];
        let groups_out = [carry, self.stacked_results()];
        let order_in = interleave(&groups_in, &nonzero);
        let order_out = interleave(&groups_out, &out.nonzero);
        let body = reorder(b.memo(), &out.jaxpr, &order_in, &order_out)?;
        let all = with_tangents(primals, &tangents);
        let operands: Vec<Atom> = order_in.iter().map(|&index| all[index]).collect();
        let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
        let new_consts = consts + count(&nonzero[..consts]);
        let new_carry = carry + count(&out.nonzero[..carry]);
        let results = self
            .with_body(body, new_consts, new_carry)
            .bind(b, &operands);
        let mut sorted = results.clone();
        for (&index, &result) in order_out.iter().zip(&results) {
            sorted[index] = result;
        }
        Ok(split_results(&sorted, &out.nonzero))
    }
}

/// Places of values and their tangents, group by group, when all values stand before all tangents.
pub(in super::super) fn interleave(groups: &[usize], nonzero: &[bool]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut value = 0;
    let mut tangent = nonzero.len();
    for &group in groups {
        order.extend(value..value + group);
        for &nonzero in &nonzero[value..value + group] {
            if nonzero {
                order.push(tangent);
                tangent += 1;
            }
        }
        value += group;
    }
    order
}
