//! `scan`: a body over slices, with values carried from step to step.
//!
//! Operands are constants, initial carry, stacked inputs; the body takes constants, carry, one slice of each input and
//! gives carry, one slice of each result.

mod batch;
mod jvp;
pub(super) use jvp::interleave;
mod linearize;
mod partial_eval;
mod saving;
mod transpose;

use super::super::*;
use super::call::*;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::or;
use crate::transform::dce_jaxpr;
use crate::transform::{Memo, Saving, SavingResult, Split, mapped, unmapped};

impl Primitive for Scan {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let ScanInputs { consts, carry, xs } = self.ft_in;
        let expected = consts + carry + xs;
        if operands.len() != expected {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "{consts} constants, {carry} carries and {xs} inputs are expected, and {} operands are given",
                    operands.len()
                ),
            ));
        }
        let mut slices = operands[..consts + carry].to_vec();
        for (number, stacked) in operands[consts + carry..].iter().enumerate() {
            if stacked.shape.first() != Some(&self.length) {
                return Err(Error::shape(format!(
                    "input {number} is {stacked}, and its first axis must have length {}",
                    self.length
                )));
            }
            slices.push(mapped(stacked, 0));
        }
        check_arguments("the body", &self.jaxpr, &slices)?;
        let results = self.jaxpr.out_avals();
        if results.len() < carry {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the body gives {} results for {carry} carries",
                    results.len()
                ),
            ));
        }
        for (number, (before, after)) in slices[consts..].iter().zip(&results[..carry]).enumerate()
        {
            if !before.matches(after) {
                return Err(Error::shape(format!(
                    "carry {number} is {before} before a step and {after} behind it"
                )));
            }
        }
        Ok(self.stack_results(results).into())
    }

    /// The number of stacked results is that of the equation's results without carries, whatever the text says.
    fn complete(&mut self, _operands: &[Aval], results: &[Aval]) {
        self.ft_out = ScanOutputs {
            carry: self.ft_in.carry,
            ys: results.len().saturating_sub(self.ft_in.carry),
        };
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        self.jvp_rule(b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        self.batch_rule(b, operands, axis)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        self.transpose_rule(b, cotangents, operands)
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        self.linearize_rule(split, primals, tangents).map(Some)
    }

    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        self.partial_eval_rule(split, operands).map(Some)
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        self.saving_rule(saving).map(Some)
    }

    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        self.dce_rule(memo, used)
    }
}

impl Scan {
    /// Numbers of constants and carries.
    fn counts(&self) -> (usize, usize) {
        (self.ft_in.consts, self.ft_in.carry)
    }

    /// Number of stacked results.
    fn stacked_results(&self) -> usize {
        self.jaxpr.jaxpr.outvars.len() - self.ft_in.carry
    }

    /// Types of the results from those of the body.
    fn stack_results(&self, mut results: Vec<Aval>) -> Vec<Aval> {
        for slice in &mut results[self.ft_in.carry..] {
            *slice = unmapped(slice, Some(0), self.length);
        }
        results
    }

    /// The same loop with another body.
    fn with_body(&self, jaxpr: ClosedJaxpr, consts: usize, carry: usize) -> Scan {
        let xs = jaxpr.jaxpr.invars.len() - consts - carry;
        let ys = jaxpr.jaxpr.outvars.len() - carry;
        Scan {
            ft_in: ScanInputs { consts, carry, xs },
            ft_out: ScanOutputs { carry, ys },
            jaxpr,
            ..self.clone()
        }
    }

    /// Writes the loop.
    fn bind(self, b: &Builder, operands: &[Atom]) -> Vec<Atom> {
        let results = self.stack_results(self.jaxpr.out_avals());
        b.push(self.into(), operands, &results).into_vec()
    }

    /// A carry is used if its result is, or if a step needs it.
    fn dce_rule(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let (consts, carry) = self.counts();
        let mut outputs = used.to_vec();
        loop {
            let mut keep_inputs = vec![false; self.jaxpr.jaxpr.invars.len()];
            keep_inputs[consts..consts + carry].copy_from_slice(&outputs[..carry]);
            let out = dce_jaxpr(memo, &self.jaxpr, &outputs, &keep_inputs)?;
            let carry_in = &out.inputs[consts..consts + carry];
            if carry_in != &outputs[..carry] {
                let all = or(&outputs[..carry], carry_in);
                outputs[..carry].copy_from_slice(&all);
                continue;
            }
            let same = out.jaxpr.same(&self.jaxpr)
                && !out.inputs.contains(&false)
                && !outputs.contains(&false);
            if same {
                return Ok(None);
            }
            let count = |flags: &[bool]| flags.iter().filter(|flag| **flag).count();
            let consts_left = count(&out.inputs[..consts]);
            let carry_left = count(carry_in);
            return Ok(Some(Trimmed {
                prim: self.with_body(out.jaxpr, consts_left, carry_left).into(),
                inputs: out.inputs,
                outputs,
            }));
        }
    }
}
