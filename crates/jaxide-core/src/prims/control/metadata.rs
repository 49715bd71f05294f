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
    call_rules! { abstract_eval jvp batch transpose linearize partial_eval partial_eval_saving dce }
}
