//! The forward function of a custom derivative whose residuals are left out where nothing uses them.

use super::super::*;
use super::call::*;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder};
use crate::transform::{Memo, Saving, SavingResult, Split, dce_jaxpr};

impl RematOpt {
    /// A plain call of the forward function.
    fn plain(&self) -> EvalJaxpr {
        EvalJaxpr {
            call_jaxpr: self.fwd_jaxpr.clone(),
        }
    }
}

/// JAX calls the function itself where no residual is used. Text knows it by name only: then the forward function stays,
/// without what makes the residuals, which gives the same results. Derivatives are those of the forward function.
impl Primitive for RematOpt {
    fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
        if self.num_res > self.fwd_jaxpr.jaxpr.outvars.len() || self.num_consts > operands.len() {
            return Err(Error::parameter(format!(
                "{} constants and {} residuals do not fit {} operands and {} results",
                self.num_consts,
                self.num_res,
                operands.len(),
                self.fwd_jaxpr.jaxpr.outvars.len()
            )));
        }
        check_call(&self.fwd_jaxpr, operands)
    }

    fn jvp(&self, b: &Builder, primals: &[Atom], tangents: &[Option<Atom>]) -> Result<JvpResult> {
        self.plain().jvp(b, primals, tangents)
    }

    call_rules! { batch }

    fn transpose(
        &self,
        b: &Builder,
        cotangents: &[Option<Atom>],
        operands: &[TransposeArg],
    ) -> Result<Cotangents> {
        self.plain().transpose(b, cotangents, operands)
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        self.plain().linearize(split, primals, tangents)
    }

    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        self.plain().partial_eval(split, operands)
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        self.plain().partial_eval_saving(saving)
    }

    /// Arguments stay while residuals are used, because less may be used later.
    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        let residuals = used.iter().take(self.num_res).filter(|used| **used).count();
        if residuals == 0 {
            let whole = self.plain();
            let trimmed = whole.dce(memo, used)?;
            return Ok(Some(trimmed.unwrap_or_else(|| Trimmed {
                inputs: vec![true; self.fwd_jaxpr.jaxpr.invars.len()],
                outputs: used.to_vec(),
                prim: whole.into(),
            })));
        }
        if !used.contains(&false) {
            return Ok(None);
        }
        let keep = (0..self.fwd_jaxpr.jaxpr.invars.len()).map(|index| index >= self.num_consts);
        let keep: Vec<bool> = keep.collect();
        let out = dce_jaxpr(memo, &self.fwd_jaxpr, used, &keep)?;
        let consts = out.inputs.iter().take(self.num_consts);
        let prim = RematOpt {
            fun_jaxpr_thunk: self.fun_jaxpr_thunk.clone(),
            fwd_jaxpr: out.jaxpr,
            num_consts: consts.filter(|used| **used).count(),
            num_res: residuals,
        };
        Ok(Some(Trimmed {
            prim: prim.into(),
            inputs: out.inputs,
            outputs: used.to_vec(),
        }))
    }
}
