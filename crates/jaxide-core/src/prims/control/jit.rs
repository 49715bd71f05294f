//! `jit`: a call of a named function.

use super::super::*;
use super::call::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::marks;
use crate::transform::rearrange::{dedup_results, forwarded_arguments, prune_results, restore};
use crate::transform::{Memo, Saving, SavingResult, Split};

impl Call for Jit {
    /// As the transposition of a call expects.
    const RESIDUALS_LAST: bool = true;

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

    /// Results that are arguments, and residuals that are results, are not computed by the call.
    fn bind_known(
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
        let forwardable = vec![true; marks::count(&kept[..count])];
        let (callee, repeats) = dedup_results(b.memo(), &callee, &forwardable)?;
        let results = self.bind(b, &callee, operands);
        let results = restore(&repeats, &results, &results);
        Ok(restore(&forwarded, operands, &results))
    }
}

impl Primitive for Jit {
    call_rules! { abstract_eval jvp batch transpose linearize partial_eval partial_eval_saving }

    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let Some(mut trimmed) = call_dce(self, memo, used)? else {
            return Ok(None);
        };
        if let Prim::Jit(jit) = &mut trimmed.prim
            && self.donated_invars.len() == trimmed.inputs.len()
        {
            jit.donated_invars = marks::keep(&self.donated_invars, &trimmed.inputs);
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
}
