//! Jaxprs in two halves, one for what is known and one for the rest: what rules do with what `linearize` and
//! `partial_eval` give.

use super::super::Partial;
use crate::error::Result;
use crate::jaxpr::{Atom, Builder, ClosedJaxpr};
use crate::marks::count;
use crate::transform::rearrange::move_to_back;
use crate::transform::{Linearized, Memo, PartialEval, bind_constants};

/// A jaxpr in two halves.
pub(super) struct Halves {
    /// Known arguments to known results, then residuals that are computed.
    pub(super) known: ClosedJaxpr,
    /// All residuals, then unknown arguments, to unknown results.
    pub(super) unknown: ClosedJaxpr,
    /// Number of known results.
    pub(super) results: usize,
    /// For each residual the constant or known argument that it is, constants counted first.
    pub(super) forwarded: Vec<Option<usize>>,
    /// Whether the unknown half takes residuals behind its arguments instead.
    pub(super) residuals_last: bool,
}

impl From<Linearized> for Halves {
    fn from(linearized: Linearized) -> Self {
        Halves {
            known: linearized.primal,
            unknown: linearized.linear,
            results: linearized.nonzero.len(),
            forwarded: linearized.forwarded,
            residuals_last: false,
        }
    }
}

impl From<PartialEval> for Halves {
    fn from(parts: PartialEval) -> Self {
        Halves {
            results: parts.unknown_results.len() - count(&parts.unknown_results),
            known: parts.known,
            unknown: parts.unknown,
            forwarded: parts.forwarded,
            residuals_last: false,
        }
    }
}

impl Halves {
    /// The same with residuals behind the arguments of the unknown half.
    pub(super) fn with_residuals_last(mut self, memo: &Memo) -> Result<Self> {
        let mut residuals = vec![true; self.forwarded.len()];
        residuals.resize(self.unknown.jaxpr.invars.len(), false);
        self.unknown = move_to_back(memo, &self.unknown, &residuals)?;
        self.residuals_last = true;
        Ok(self)
    }

    /// All residuals of `jaxpr` on these known arguments, from those that the known half computed.
    pub(super) fn residuals(
        &self,
        b: &Builder,
        jaxpr: &ClosedJaxpr,
        arguments: &[Atom],
        computed: &[Atom],
    ) -> Vec<Atom> {
        forwarded_residuals(b, jaxpr, &self.forwarded, arguments, computed)
    }
}

/// Residuals of `jaxpr` on these arguments: one of its constants or arguments where `forwarded` names it, else the next
/// that was computed.
pub(super) fn forwarded_residuals(
    b: &Builder,
    jaxpr: &ClosedJaxpr,
    forwarded: &[Option<usize>],
    arguments: &[Atom],
    computed: &[Atom],
) -> Vec<Atom> {
    let count = jaxpr.jaxpr.constvars.len();
    let constants = if forwarded.iter().flatten().any(|&index| index < count) {
        bind_constants(b, jaxpr)
    } else {
        Vec::new()
    };
    let mut computed = computed.iter();
    forwarded
        .iter()
        .filter_map(|from| match *from {
            None => computed.next().copied(),
            Some(index) if index < count => constants.get(index).copied(),
            Some(index) => arguments.get(index - count).copied(),
        })
        .collect()
}

/// Which values are unknown.
pub(super) fn unknowns(values: &[Partial]) -> Vec<bool> {
    values.iter().map(|value| value.is_unknown()).collect()
}

/// Known and unknown values, each in order.
pub(super) fn separate(values: &[Partial]) -> (Vec<Atom>, Vec<Atom>) {
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for value in values {
        match value {
            Partial::Known(atom) => known.push(*atom),
            Partial::Unknown(atom) => unknown.push(*atom),
        }
    }
    (known, unknown)
}

/// Known and unknown values together again: the opposite of [`separate`].
pub(super) fn together<C: FromIterator<Partial>>(
    unknowns: &[bool],
    known: &[Atom],
    unknown: &[Atom],
) -> C {
    let (mut known, mut unknown) = (known.iter().copied(), unknown.iter().copied());
    let next = |&is_unknown: &bool| {
        if is_unknown {
            unknown.next().map(Partial::Unknown)
        } else {
            known.next().map(Partial::Known)
        }
    };
    unknowns.iter().filter_map(next).collect()
}
