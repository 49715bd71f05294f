//! Forward-mode derivative: that of the branch taken.

use super::*;
use crate::transform::jvp;

impl Cond {
    pub(super) fn jvp_rule(
        &self,
        b: &Builder,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<JvpResult> {
        let tangents = &tangents[1..];
        let nonzero_in = nonzeros(tangents);
        // A result has a tangent if it has one in any branch.
        let mut nonzero = vec![false; self.result_count()];
        for branch in &self.branches.0 {
            let none = vec![false; nonzero.len()];
            nonzero = or(&nonzero, &jvp(b, branch, &nonzero_in, &none)?.nonzero);
        }
        let branches = self
            .branches
            .0
            .iter()
            .map(|branch| Ok(jvp(b, branch, &nonzero_in, &nonzero)?.jaxpr))
            .collect::<Result<Vec<_>>>()?;
        let operands = with_tangents(primals, tangents);
        let results = self.bind(b, branches, &operands);
        Ok(split_results(&results, &nonzero))
    }
}
