//! `jit`: a call of a named function.

use super::super::*;
use super::call::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::transform::rearrange::{
    dedup_results, forwarded_arguments, move_to_back, prune_results, restore,
};
use crate::transform::{Memo, Saving, SavingResult, Split, linearize, partial_eval};

impl Call for Jit {
    fn callee(&self) -> &ClosedJaxpr {
        &self.jaxpr
    }

    /// Donated arguments, placements and layouts are about the old arguments and results only.
    fn with_callee(&self, jaxpr: ClosedJaxpr) -> Self {
        let same_arguments = jaxpr.jaxpr.invars.len() == self.jaxpr.jaxpr.invars.len();
        let donated_invars = if same_arguments {
            self.donated_invars.clone()
        } else {
            Vec::new()
        };
        Jit {
            donated_invars,
            compiler_options_kvs: self.compiler_options_kvs.clone(),
            ctx_mesh: self.ctx_mesh.clone(),
            keep_unused: self.keep_unused,
            inline: self.inline,
            ..Jit::new(self.name.clone(), jaxpr)
        }
    }
}

impl Primitive for Jit {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        check_call(&self.jaxpr, operands)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        call_jvp(self, b, primals, tangents)
    }

    fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
        call_batch(self, b, operands, axis)
    }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        call_transpose(self, b, cotangents, operands)
    }

    /// Results that are arguments, and residuals that are results, are not computed by the call.
    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        let count = self.jaxpr.jaxpr.outvars.len();
        let forward = vec![true; primals.len()];
        let none = vec![false; count];
        let lin = linearize(
            split.known,
            &self.jaxpr,
            &nonzeros(tangents),
            &none,
            &forward,
        )?;
        let results = self.bind_without_repeats(split.known, &lin.primal, count, primals)?;
        let (results, residuals) = results.split_at(count);
        let residuals =
            restore_residuals(split.known, &self.jaxpr, &lin.forwarded, primals, residuals);
        let linear = self.with_callee(lin.linear.clone());
        let tangents = linear_call(split, linear, &lin.linear, &residuals, tangents);
        Ok(Some(JvpResult {
            primals: results.iter().copied().collect(),
            tangents: spread(&tangents, &lin.nonzero),
        }))
    }

    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        let unknown: Vec<bool> = operands
            .iter()
            .map(|operand| operand.is_unknown())
            .collect();
        let none = vec![false; self.jaxpr.jaxpr.outvars.len()];
        let forward = vec![true; operands.len()];
        let parts = partial_eval(split.known, &self.jaxpr, &unknown, &none, &forward)?;
        let (known_operands, unknown_operands) = separate(operands);
        let known_count = parts
            .unknown_results
            .iter()
            .filter(|unknown| !**unknown)
            .count();
        let results =
            self.bind_without_repeats(split.known, &parts.known, known_count, &known_operands)?;
        let (known_results, residuals) = results.split_at(known_count);
        let residuals = restore_residuals(
            split.known,
            &self.jaxpr,
            &parts.forwarded,
            &known_operands,
            residuals,
        );
        // Residuals come last here, as the transposition of a call expects.
        let mut marks = vec![true; residuals.len()];
        marks.resize(residuals.len() + unknown_operands.len(), false);
        let callee = move_to_back(split.known.memo(), &parts.unknown, &marks)?;
        let residuals = residuals.iter().map(|&atom| split.residual(atom));
        let operands: Vec<Atom> = unknown_operands.iter().copied().chain(residuals).collect();
        let results = bind(
            &split.unknown,
            self.with_callee(callee.clone()),
            &callee,
            &operands,
        );
        Ok(Some(merge(&parts.unknown_results, known_results, &results)))
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        call_saving(self, saving).map(Some)
    }

    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let Some(mut trimmed) = call_dce(self, memo, used)? else {
            return Ok(None);
        };
        if let Prim::Jit(jit) = &mut trimmed.prim
            && self.donated_invars.len() == trimmed.inputs.len()
        {
            jit.donated_invars = crate::marks::keep(&self.donated_invars, &trimmed.inputs);
        }
        Ok(Some(trimmed))
    }
}

impl Jit {
    /// A call without options.
    pub fn new(name: Name, jaxpr: ClosedJaxpr) -> Self {
        Jit {
            name,
            compiler_options_kvs: None,
            ctx_mesh: None,
            donated_invars: Vec::new(),
            in_layouts: None,
            in_shardings: None,
            jaxpr,
            keep_unused: false,
            out_layouts: None,
            out_shardings: None,
            inline: false,
        }
    }

    /// Calls `callee` for its first `count` results and residuals behind them, without results that are arguments
    /// and residuals that repeat a result; gives all of them.
    fn bind_without_repeats(
        &self,
        b: &Builder,
        callee: &ClosedJaxpr,
        count: usize,
        operands: &[Atom],
    ) -> Result<Vec<Atom>> {
        let mut forwarded = forwarded_arguments(callee);
        forwarded[count..].fill(None);
        let kept: Vec<bool> = forwarded.iter().map(Option::is_none).collect();
        let callee = prune_results(b.memo(), callee, &kept)?;
        let kept_count = kept[..count].iter().filter(|kept| **kept).count();
        let (callee, repeats) = dedup_results(b.memo(), &callee, &vec![true; kept_count])?;
        let results = bind(b, self.with_callee(callee.clone()), &callee, operands);
        let results = restore(&repeats, &results, &results);
        Ok(restore(&forwarded, operands, &results))
    }
}
