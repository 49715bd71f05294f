//! `cond`: the branch that an index selects.
//!
//! Operands are the index, then the arguments of the branches.

mod batch;
mod jvp;
mod linearize;
mod residuals;
mod saving;
mod transpose;

use super::super::*;
use super::call::*;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::or;
use crate::transform::dce_jaxpr;
use crate::transform::{Memo, Saving, SavingResult, Split};

impl Primitive for Cond {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        let ([index, operands @ ..], [first, rest @ ..]) = (operands, self.branches.0.as_slice())
        else {
            return Err(Error::new(
                ErrorKind::Arity,
                "an index and at least one branch are needed",
            ));
        };
        if index.dtype != DType::I32 || index.rank() != 0 {
            return Err(Error::dtype(format!(
                "the index is {index}, and i32[] is expected"
            )));
        }
        let results = first.out_avals();
        for (number, branch) in self.branches.0.iter().enumerate() {
            check_arguments(&format!("branch {number}"), branch, operands)?;
        }
        for (number, branch) in rest.iter().enumerate() {
            let got = branch.out_avals();
            let same = got.len() == results.len()
                && results
                    .iter()
                    .zip(&got)
                    .all(|(want, got)| want.matches(got));
            if !same {
                return Err(Error::shape(format!(
                    "branch 0 gives ({}), and branch {} gives ({})",
                    types(&results),
                    number + 1,
                    types(&got)
                )));
            }
        }
        Ok(results.into())
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
        self.partial_eval_rule(split, operands)
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        self.saving_rule(saving).map(Some)
    }

    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let count = self
            .branches
            .0
            .first()
            .map_or(0, |branch| branch.jaxpr.invars.len());
        let mut inputs = vec![false; count];
        for branch in &self.branches.0 {
            let out = dce_jaxpr(memo, branch, used, &vec![false; count])?;
            inputs = or(&inputs, &out.inputs);
        }
        let branches = self
            .branches
            .0
            .iter()
            .map(|branch| Ok(dce_jaxpr(memo, branch, used, &inputs)?.jaxpr))
            .collect::<Result<Vec<_>>>()?;
        let same = branches
            .iter()
            .zip(&self.branches.0)
            .all(|(a, b)| a.same(b));
        if same && !inputs.contains(&false) && !used.contains(&false) {
            return Ok(None);
        }
        inputs.insert(0, true);
        Ok(Some(Trimmed {
            prim: self.with_branches(branches).into(),
            inputs,
            outputs: used.to_vec(),
        }))
    }
}

impl Cond {
    fn with_branches(&self, branches: Vec<ClosedJaxpr>) -> Cond {
        Cond {
            branches: Branches(branches),
            ..self.clone()
        }
    }

    /// Number of results.
    fn result_count(&self) -> usize {
        self.branches
            .0
            .first()
            .map_or(0, |branch| branch.jaxpr.outvars.len())
    }

    /// Writes a `cond` on these branches.
    fn bind(&self, b: &Builder, branches: Vec<ClosedJaxpr>, operands: &[Atom]) -> Vec<Atom> {
        let results = branches
            .first()
            .map(ClosedJaxpr::out_avals)
            .unwrap_or_default();
        b.push(self.with_branches(branches).into(), operands, &results)
            .into_vec()
    }
}

fn types(avals: &[Aval]) -> String {
    let types: Vec<String> = avals.iter().map(Aval::to_string).collect();
    types.join(", ")
}
