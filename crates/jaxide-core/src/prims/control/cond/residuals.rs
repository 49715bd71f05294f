//! Residuals of branches, made the same for all: branches have one signature.

use std::collections::HashMap;
use std::sync::Arc;

use super::*;
use crate::jaxpr::Jaxpr;
use crate::transform::inline;

/// Residuals of all branches by type, and for each branch where its residuals are among them.
///
/// `[x], [y], [x, x]` become `[x, y, x]` with `[0], [1], [0, 2]`.
pub(super) struct MergedResiduals {
    pub(super) avals: Vec<Aval>,
    pub(super) places: Vec<Vec<usize>>,
}

impl MergedResiduals {
    pub(super) fn new(branches: &[Vec<Aval>]) -> Self {
        let mut avals: Vec<Aval> = Vec::new();
        let mut places_of: HashMap<(Aval, usize), usize> = HashMap::new();
        let mut places = Vec::new();
        for branch in branches {
            let mut seen: HashMap<&Aval, usize> = HashMap::new();
            let mut of_branch = Vec::new();
            for aval in branch {
                let count = seen.entry(aval).or_insert(0);
                let place = *places_of.entry((aval.clone(), *count)).or_insert_with(|| {
                    avals.push(aval.clone());
                    avals.len() - 1
                });
                *count += 1;
                of_branch.push(place);
            }
            places.push(of_branch);
        }
        MergedResiduals { avals, places }
    }

    /// The branch with all residuals as results: those of other branches are uninitialised memory.
    pub(super) fn widen_results(
        &self,
        b: &Builder,
        branch: &ClosedJaxpr,
        number: usize,
        results: usize,
    ) -> Result<ClosedJaxpr> {
        let b = b.nested();
        let avals = branch.in_avals();
        let args: Vec<Atom> = avals.into_iter().map(|aval| b.input(aval)).collect();
        let out = inline(&b, branch, &args)?;
        let (results, residuals) = out.split_at(results);
        let mut all: Vec<Atom> = self.avals.iter().map(|aval| empty(&b, aval)).collect();
        for (&place, &residual) in self.places[number].iter().zip(residuals) {
            all[place] = residual;
        }
        let results: Vec<Atom> = results.iter().copied().chain(all).collect();
        b.finish(&results)
    }
}

/// The branch with arguments for all residuals, of which it uses those at `places`.
pub(super) fn widen_arguments(
    branch: &ClosedJaxpr,
    avals: &[Aval],
    places: &[usize],
) -> ClosedJaxpr {
    let mut new: Jaxpr = (*branch.jaxpr).clone();
    let own = new.invars.split_off(0);
    let (residuals, others) = own.split_at(places.len());
    let mut all: Vec<_> = avals.iter().map(|aval| new.new_var(aval.clone())).collect();
    for (&place, &residual) in places.iter().zip(residuals) {
        all[place] = residual;
    }
    all.extend(others);
    new.invars = all;
    ClosedJaxpr {
        jaxpr: Arc::new(new),
        consts: branch.consts.clone(),
    }
}

/// Memory whose contents never matter.
fn empty(b: &Builder, aval: &Aval) -> Atom {
    let prim = Empty {
        dtype: aval.dtype,
        memory_space: Opaque(PyValue::Word("MemorySpace.Device".to_owned())),
        shape: crate::jaxpr::Dims::new(),
    };
    let scalar = b.op(prim, &[]);
    b.broadcast_in_dim(scalar, &aval.shape, &[])
}
