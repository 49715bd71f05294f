//! Transposition: the transpose of the branch taken.

use super::*;
use crate::transform::transpose;

impl Cond {
    pub(super) fn transpose_rule(
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
        let linear: Vec<bool> = operands.iter().map(TransposeArg::is_linear).collect();
        let nonzero_in = nonzeros(cotangents);
        let mut nonzero = vec![false; operands.len()];
        for branch in &self.branches.0 {
            let none = vec![false; operands.len()];
            nonzero = or(
                &nonzero,
                &transpose(b, branch, &linear, &nonzero_in, &none)?.nonzero,
            );
        }
        let branches = self
            .branches
            .0
            .iter()
            .map(|branch| Ok(transpose(b, branch, &linear, &nonzero_in, &nonzero)?.jaxpr))
            .collect::<Result<Vec<_>>>()?;
        let known = operands.iter().filter_map(TransposeArg::known);
        let inputs: Vec<Atom> = std::iter::once(*index)
            .chain(known)
            .chain(cotangents.iter().flatten().copied())
            .collect();
        let results = self.bind(b, branches, &inputs);
        let mut out: Cotangents = spread(&results, &nonzero);
        out.insert(0, None);
        Ok(out)
    }
}
