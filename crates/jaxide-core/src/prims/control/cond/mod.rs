//! `cond`: the branch that an index selects.
//!
//! Operands are the index, then the arguments of the branches.

mod batch;
mod linearize;
mod residuals;
mod saving;

use super::super::*;
use super::call::*;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks::{or, present, spread};
use crate::transform::{
    Dce, Jvp, Memo, Saving, SavingResult, Split, Transposed, dce_jaxpr, jvp, transpose,
};

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
        let tangents = &tangents[1..];
        let nonzero_in = present(tangents);
        // A result has a tangent if it has one in any branch.
        let (branches, nonzero) = self.alike(
            self.result_count(),
            |out: &Jvp| out.nonzero.clone(),
            |branch, nonzero| jvp(b, branch, &nonzero_in, nonzero),
        )?;
        let branches = branches.into_iter().map(|out| out.jaxpr).collect();
        let results = self.bind(b, branches, &with_tangents(primals, tangents));
        Ok(JvpResult::split(&results, &nonzero))
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
        let [TransposeArg::Known(index), operands @ ..] = operands else {
            return Err(Error::no_rule(
                "cond",
                "transpose",
                "nothing is linear in an index",
            ));
        };
        let linear = TransposeArg::linears(operands);
        let nonzero_in = present(cotangents);
        let (branches, nonzero) = self.alike(
            operands.len(),
            |out: &Transposed| out.nonzero.clone(),
            |branch, nonzero| transpose(b, branch, &linear, &nonzero_in, nonzero),
        )?;
        let branches = branches.into_iter().map(|out| out.jaxpr).collect();
        let inputs = [vec![*index], with_cotangents(operands, cotangents)].concat();
        let mut out: Cotangents = spread(self.bind(b, branches, &inputs), &nonzero);
        out.insert(0, None);
        Ok(out)
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
        let count = self.branches.0.first();
        let count = count.map_or(0, |branch| branch.jaxpr.invars.len());
        let (branches, mut inputs) = self.alike(
            count,
            |out: &Dce| out.inputs.clone(),
            |branch, inputs| dce_jaxpr(memo, branch, used, inputs),
        )?;
        let branches: Vec<ClosedJaxpr> = branches.into_iter().map(|out| out.jaxpr).collect();
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
    /// Transforms all branches so that they have the same marks, of `count` results or arguments: those that one of them
    /// has alone. `transform` gets the marks that must be there; `marks` says which are.
    fn alike<T>(
        &self,
        count: usize,
        marks: impl Fn(&T) -> Vec<bool>,
        transform: impl Fn(&ClosedJaxpr, &[bool]) -> Result<T>,
    ) -> Result<(Vec<T>, Vec<bool>)> {
        let none = vec![false; count];
        let mut all = none.clone();
        for branch in &self.branches.0 {
            all = or(&all, &marks(&transform(branch, &none)?));
        }
        let branches = self.branches.0.iter().map(|branch| transform(branch, &all));
        Ok((branches.collect::<Result<_>>()?, all))
    }

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
