//! What `scan` and `while` have in common: a body whose carry goes in and comes out again.

use std::ops::Range;

use super::super::{JvpResult, with_tangents};
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::{count, present};
use crate::transform::rearrange::reorder;
use crate::transform::{Jvp, jvp};

/// The first state that `step` gives back as it is, and what `step` makes of it.
pub(super) fn fixpoint<S: PartialEq, T>(
    mut state: S,
    step: impl Fn(&S) -> Result<(T, S)>,
) -> Result<(T, S)> {
    loop {
        let (out, next) = step(&state)?;
        if next == state {
            return Ok((out, state));
        }
        state = next;
    }
}

/// The body of a loop: from constants, carry and slices to carry and slices.
#[derive(Clone, Copy)]
pub(super) struct Body<'a> {
    pub(super) jaxpr: &'a ClosedJaxpr,
    /// Number of constants.
    pub(super) consts: usize,
    /// Number of carries.
    pub(super) carry: usize,
}

impl Body<'_> {
    /// Where the carry is among the arguments.
    pub(super) fn carried(&self) -> Range<usize> {
        self.consts..self.consts + self.carry
    }

    /// Transforms the body for marked arguments. A carry is marked if its start is or if a step marks it, so that a step
    /// gives back the marks it took.
    ///
    /// `transform` gets the marks of the arguments and the results that must be marked; `marks` says which are. Gives the
    /// transformed body and the marks of its arguments.
    pub(super) fn fixpoint<T>(
        &self,
        arguments: Vec<bool>,
        marks: impl Fn(&T) -> Vec<bool>,
        transform: impl Fn(&[bool], &[bool]) -> Result<T>,
    ) -> Result<(T, Vec<bool>)> {
        fixpoint(arguments, |arguments| {
            let mut required = arguments[self.carried()].to_vec();
            required.resize(self.jaxpr.jaxpr.outvars.len(), false);
            let out = transform(arguments, &required)?;
            let mut next = arguments.clone();
            for (carry, mark) in next[self.carried()].iter_mut().zip(marks(&out)) {
                *carry |= mark;
            }
            Ok((out, next))
        })
    }

    /// The body over values and tangents, those of each kind behind its values.
    pub(super) fn jvp(
        &self,
        b: &Builder,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<BodyJvp> {
        let transform = |nonzero: &[bool], required: &[bool]| jvp(b, self.jaxpr, nonzero, required);
        let (out, nonzero) = self.fixpoint(
            present(tangents),
            |out: &Jvp| out.nonzero.clone(),
            transform,
        )?;
        let tangents = instantiate(b, tangents, &nonzero, |index| b.aval(primals[index]));
        let arguments = [
            self.consts,
            self.carry,
            primals.len() - self.consts - self.carry,
        ];
        let arguments = interleave(&arguments, &nonzero);
        let results = interleave(&[self.carry, out.nonzero.len() - self.carry], &out.nonzero);
        let all = with_tangents(primals, &tangents);
        Ok(BodyJvp {
            jaxpr: reorder(b.memo(), &out.jaxpr, &arguments, &results)?,
            consts: self.consts + count(&nonzero[..self.consts]),
            carry: self.carry + count(&nonzero[self.carried()]),
            operands: arguments.iter().map(|&index| all[index]).collect(),
            results,
            nonzero: out.nonzero,
        })
    }

    /// That the carry is the same before and behind a step.
    ///
    /// # Errors
    /// When it is not.
    pub(super) fn check_carry(before: &[Aval], after: &[Aval]) -> Result<()> {
        for (number, (before, after)) in before.iter().zip(after).enumerate() {
            if !before.matches(after) {
                return Err(Error::shape(format!(
                    "carry {number} is {before} before a step and {after} behind it"
                )));
            }
        }
        Ok(())
    }
}

/// The body of a loop over values and tangents.
pub(super) struct BodyJvp {
    pub(super) jaxpr: ClosedJaxpr,
    /// Number of constants.
    pub(super) consts: usize,
    /// Number of carries.
    pub(super) carry: usize,
    /// Operands of the loop.
    pub(super) operands: Vec<Atom>,
    /// Place of each result when all values stand before all tangents.
    results: Vec<usize>,
    /// Which results have a tangent.
    nonzero: Vec<bool>,
}

impl BodyJvp {
    /// The derivative of the loop, from what the loop gives.
    pub(super) fn derivative(&self, results: &[Atom]) -> JvpResult {
        let mut sorted = results.to_vec();
        for (&place, &result) in self.results.iter().zip(results) {
            sorted[place] = result;
        }
        JvpResult::split(&sorted, &self.nonzero)
    }
}

/// Tangents of marked values, written into `b` as zeros where there are none; `aval` gives the type of a value.
pub(super) fn instantiate(
    b: &Builder,
    tangents: &[Option<Atom>],
    nonzero: &[bool],
    aval: impl Fn(usize) -> Aval,
) -> Vec<Option<Atom>> {
    let tangents = tangents.iter().zip(nonzero).enumerate();
    tangents
        .map(|(index, (&tangent, &nonzero))| nonzero.then(|| b.instantiate(tangent, &aval(index))))
        .collect()
}

/// Places of values and their tangents, group by group, when all values stand before all tangents.
fn interleave(groups: &[usize], nonzero: &[bool]) -> Vec<usize> {
    let mut order = Vec::new();
    let mut value = 0;
    let mut tangent = nonzero.len();
    for &group in groups {
        order.extend(value..value + group);
        let tangents = count(&nonzero[value..value + group]);
        order.extend(tangent..tangent + tangents);
        tangent += tangents;
        value += group;
    }
    order
}
