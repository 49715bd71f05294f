//! Linearization and partial evaluation: a loop of what is known, and a loop of the rest over residuals.
//!
//! Residuals that do not change from step to step leave the loop: they are computed once before it, or are constants
//! of it. Residuals that are slices of inputs are those inputs. The others are stacked.

use super::super::halves::{Halves, separate, together, unknowns};
use super::*;
use crate::transform::rearrange::{dedup_results, move_to_back, restore};
use crate::transform::{
    Linearized, PartialEval, bind_constants, close_unknown, eval_partial, linearize, partial_eval,
};

/// A known loop whose loop-invariant residuals are computed before it.
struct Hoisted {
    /// The body of what remains: new constants, carry, slices to results, stacked residuals.
    body: ClosedJaxpr,
    /// The new constants.
    consts: Vec<Atom>,
    /// For each residual its value where it was computed before the loop; the others are stacked.
    residuals: Vec<Option<Atom>>,
}

/// The operands of one of two loops.
struct Operands<'a> {
    values: &'a [Atom],
    consts: usize,
    carry: usize,
}

impl Scan {
    pub(super) fn linearize_rule(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let b = split.known;
        let body = self.body();
        let forward = self.forwardable();
        let (lin, nonzero) = body.fixpoint(
            present(tangents),
            |lin: &Linearized| lin.nonzero.clone(),
            |nonzero, required| linearize(b, &self.jaxpr, nonzero, required, &forward),
        )?;
        let aval = |index: usize| b.aval(primals[index]);
        let tangents = instantiate(&split.unknown, tangents, &nonzero, aval);
        let known = Operands {
            values: primals,
            consts: body.consts,
            carry: body.carry,
        };
        let unknown = Operands {
            values: &with_tangents(&[], &tangents),
            consts: count(&nonzero[..body.consts]),
            carry: count(&nonzero[body.carried()]),
        };
        let nonzero = lin.nonzero.clone();
        // A stacked residual may be a stacked result, but not a carry: that is the last value only.
        let repeatable = not(&within(0..body.carry, nonzero.len()));
        let halves = lin.into();
        let (results, tangents) =
            self.bind_halves(split, &halves, &known, &unknown, Some(&repeatable))?;
        Ok(JvpResult::new(results, spread(tangents, &nonzero)))
    }

    pub(super) fn partial_eval_rule(
        &self,
        split: &Split<'_>,
        operands: &[Partial],
    ) -> Result<Partials> {
        let body = self.body();
        let forward = self.forwardable();
        let (parts, unknown) = body.fixpoint(
            unknowns(operands),
            |parts: &PartialEval| parts.unknown_results.clone(),
            |unknown, required| partial_eval(split.known, &self.jaxpr, unknown, required, &forward),
        )?;
        let operand = |(&operand, &unknown): (&Partial, &bool)| {
            if unknown {
                Partial::Unknown(split.unknown(operand))
            } else {
                operand
            }
        };
        let operands: Vec<Partial> = operands.iter().zip(&unknown).map(operand).collect();
        let (known_in, unknown_in) = separate(&operands);
        let unknown = Operands {
            values: &unknown_in,
            consts: count(&unknown[..body.consts]),
            carry: count(&unknown[body.carried()]),
        };
        let known = Operands {
            values: &known_in,
            consts: body.consts - unknown.consts,
            carry: body.carry - unknown.carry,
        };
        let marks = parts.unknown_results.clone();
        let (results, new) = self.bind_halves(split, &parts.into(), &known, &unknown, None)?;
        Ok(together(&marks, &results, &new))
    }

    /// Which arguments of the body a residual may be: not a carry, which changes from step to step.
    fn forwardable(&self) -> Vec<bool> {
        not(&within(
            self.body().carried(),
            self.jaxpr.jaxpr.invars.len(),
        ))
    }

    /// Writes a body in two halves as two loops; gives the known and the unknown results. A stacked residual that is one
    /// of the results in `repeatable`, or another residual, is not stacked again.
    fn bind_halves(
        &self,
        split: &Split<'_>,
        halves: &Halves,
        known: &Operands<'_>,
        unknown: &Operands<'_>,
        repeatable: Option<&[bool]>,
    ) -> Result<(Vec<Atom>, Vec<Atom>)> {
        let b = split.known;
        let (const_values, loop_values) = known.values.split_at(known.consts);
        let hoisted = self.hoist(b, &halves.known, const_values, halves.results)?;
        let (known_body, repeats) = match repeatable {
            Some(repeatable) => dedup_results(b.memo(), &hoisted.body, repeatable)?,
            None => (
                hoisted.body.clone(),
                vec![None; hoisted.body.jaxpr.outvars.len()],
            ),
        };
        let results = if known_body.jaxpr.outvars.is_empty() {
            Vec::new()
        } else {
            let operands = [&hoisted.consts, loop_values].concat();
            self.with_body(known_body, hoisted.consts.len(), known.carry)
                .bind(b, &operands)
        };
        let mut results = restore(&repeats, &results, &results);
        let stacked = results.split_off(halves.results);
        let computed = hoisted.with_stacked(&stacked);
        let residuals = halves.residuals(b, &self.jaxpr, known.values, &computed);
        // The unknown loop takes [invariant residuals, operands, stacked residuals].
        let stacked = self.stacked(halves, known, &hoisted);
        let mut behind = stacked.clone();
        behind.resize(halves.unknown.jaxpr.invars.len(), false);
        let unknown_body = move_to_back(b.memo(), &halves.unknown, &behind)?;
        let cross = |marks: &[bool]| -> Vec<Atom> {
            let residuals = keep(&residuals, marks).into_iter();
            residuals.map(|atom| split.residual(atom)).collect()
        };
        let invariant = cross(&not(&stacked));
        let operands = [invariant.as_slice(), unknown.values, &cross(&stacked)].concat();
        let new = self
            .with_body(
                unknown_body,
                invariant.len() + unknown.consts,
                unknown.carry,
            )
            .bind(&split.unknown, &operands);
        Ok((results, new))
    }

    /// Which residuals are stacked: those computed in the loop, and slices.
    fn stacked(&self, halves: &Halves, known: &Operands<'_>, hoisted: &Hoisted) -> Vec<bool> {
        let first_slice = self.jaxpr.jaxpr.constvars.len() + known.consts + known.carry;
        let mut computed = hoisted.residuals.iter();
        let stacked = |forwarded: &Option<usize>| match forwarded {
            None => computed.next().is_none_or(Option::is_none),
            Some(index) => *index >= first_slice,
        };
        halves.forwarded.iter().map(stacked).collect()
    }

    /// Writes into `b` what the residuals of `body` (its results behind the first `results`) need of constants alone.
    fn hoist(
        &self,
        b: &Builder,
        body: &ClosedJaxpr,
        consts: &[Atom],
        results: usize,
    ) -> Result<Hoisted> {
        let split = Split::new(b);
        let own = bind_constants(b, body);
        let changing = body.in_avals().split_off(consts.len()).into_iter();
        let changing = changing.map(|aval| Partial::Unknown(split.unknown.input(aval)));
        let consts = consts.iter().map(|&atom| Partial::Known(atom));
        let args: Vec<Partial> = consts.chain(changing).collect();
        let out = eval_partial(&split, &body.jaxpr, &own, &args)?;
        let instantiate = within(0..results, out.len());
        let (body, consts, mut known) = close_unknown(split, &out, &instantiate)?;
        Ok(Hoisted {
            body,
            consts,
            residuals: known.split_off(results),
        })
    }
}

impl Hoisted {
    /// All residuals, from the stacked ones.
    fn with_stacked(&self, stacked: &[Atom]) -> Vec<Atom> {
        let mut stacked = stacked.iter().copied();
        let residual = |hoisted: &Option<Atom>| hoisted.or_else(|| stacked.next());
        self.residuals.iter().filter_map(residual).collect()
    }
}
