//! Partial evaluation under a policy that says which known values may be kept: what `checkpoint` does.

use crate::jaxpr::{Eqn, Jaxpr, Var};
use crate::prims::Prim;

use super::memo::Memo;

/// An equation to be split in two.
pub struct Saving<'a> {
    /// Sub-jaxprs made so far.
    pub memo: &'a Memo,
    /// The jaxpr both sides are clones of; residuals are new variables of it.
    pub jaxpr: &'a mut Jaxpr,
    /// The equation.
    pub eqn: &'a Eqn,
    /// Which operands are unknown.
    pub unknown: &'a [bool],
    /// Which operands are at hand on the unknown side without being saved.
    pub instantiated: &'a [bool],
    /// Whether the results of a known equation may be saved.
    pub policy: &'a Policy,
}

/// What becomes of a split equation.
pub struct SavingResult {
    /// The equation of the known side.
    pub known: Option<Eqn>,
    /// The equation of the unknown side.
    pub staged: Option<Eqn>,
    /// Which results are unknown.
    pub unknown: Vec<bool>,
    /// Which results are at hand on the unknown side.
    pub instantiated: Vec<bool>,
    /// Variables to be saved.
    pub residuals: Vec<Var>,
}

/// Which values of a checkpointed function may be kept for the backward pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Policy {
    /// None: everything is computed again.
    Nothing,
    /// All.
    Everything,
}

impl Policy {
    /// Whether the results of `prim` may be saved.
    pub fn saves(&self, _prim: &Prim) -> bool {
        match self {
            Policy::Nothing => false,
            Policy::Everything => true,
        }
    }
}
