//! Calls and identities that carry metadata for XLA.

use super::super::*;
use super::call::*;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, ClosedJaxpr};
use crate::transform::{Memo, Saving, SavingResult, Split};

impl Call for XlaMetadataCall {
    fn callee(&self) -> &ClosedJaxpr {
        &self.jaxpr
    }

    fn with_callee(&self, jaxpr: ClosedJaxpr) -> Self {
        XlaMetadataCall {
            jaxpr,
            ..self.clone()
        }
    }
}

impl XlaMetadataCall {
    /// The call with the metadata of the derivative's calls.
    fn derived(&self) -> Self {
        let same = PyValue::Word("same".to_owned());
        let is_same = self.ad_metadata.0.to_string() == "same";
        let xla_metadata = if is_same {
            self.xla_metadata.clone()
        } else {
            self.ad_metadata.clone()
        };
        XlaMetadataCall {
            ad_metadata: Opaque(same),
            jaxpr: self.jaxpr.clone(),
            xla_metadata,
        }
    }
}

/// The derivative is computed together with the function under `jvp`; what is linearized or transposed carries the
/// metadata of derivatives.
impl Primitive for XlaMetadataCall {
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
        call_transpose(&self.derived(), b, cotangents, operands)
    }

    fn linearize(
        &self,
        split: &Split<'_>,
        primals: &[Atom],
        tangents: &[Option<Atom>],
    ) -> Result<Option<JvpResult>> {
        call_linearize(self, &self.derived(), split, primals, tangents).map(Some)
    }

    fn partial_eval(&self, split: &Split<'_>, operands: &[Partial]) -> Result<Option<Partials>> {
        call_partial_eval(self, split, operands).map(Some)
    }

    fn partial_eval_saving(&self, saving: &mut Saving<'_>) -> Result<Option<SavingResult>> {
        call_saving(self, saving).map(Some)
    }

    fn dce(&self, memo: &Memo, used: &[bool]) -> Result<Option<Trimmed>> {
        call_dce(self, memo, used)
    }
}
