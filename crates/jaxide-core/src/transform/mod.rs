//! Transformations: functions from jaxpr to jaxpr.
//!
//! Every driver walks the equations of a jaxpr with a value per variable and asks each primitive's rule:
//!
//! * [`fn@jvp`], forward-mode differentiation;
//! * [`fn@batch`], `vmap`;
//! * [`fn@partial_eval`], known now, unknown later;
//! * [`fn@linearize`], results now, a linear jaxpr of the tangents later;
//! * [`fn@dce`], what its results need and no more;
//! * [`fn@transpose`], the backward pass of a linear jaxpr;
//! * [`apply`], these on whole flat functions, as `jax.grad` and its relatives do.

mod batch;
mod dce;
mod environment;
mod flat;
mod jacobian;
mod jvp;
mod linearize;
mod partial_eval;
mod policy;
pub(crate) mod rearrange;
mod saving;
mod step;
mod transpose;

pub use crate::jaxpr::{Memo, MemoArgs};
pub use batch::{BatchedJaxpr, OutDim, batch};
pub use dce::{Dce, dce, dce_jaxpr, has_effect};
pub use jvp::{Jvp, jvp};
pub use linearize::{Linearized, linearize};
pub use partial_eval::{PartialEval, Split, partial_eval};
pub use policy::Policy;
pub(crate) use saving::{SavedSplit, SavingRequest, partial_eval_saving};
pub use saving::{Saving, SavingResult};
pub use step::{Step, apply};
pub use transpose::{RefCotangent, Transposed, transpose};

pub(crate) use batch::{batch_front, broadcast, eval_batch, mapped, move_axis, place, unmapped};
pub(crate) use environment::{bind_constants, constants_as_arguments, inline};
pub(crate) use jvp::eval_jvp;
pub(crate) use linearize::{eval_linearize, split_jvp};
pub(crate) use partial_eval::{close_unknown, eval_partial};
pub(crate) use transpose::backward_pass;
