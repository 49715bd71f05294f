//! Partial evaluation under a policy that says which known values may be kept: what `checkpoint` does.
//!
//! A known value that may not be kept is computed on both sides: the known side for its results, the unknown side
//! again from what is kept.

use indexmap::IndexSet;

use super::dce::has_effect;
use super::policy::Policy;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, ClosedJaxpr, Eqn, Jaxpr, Memo, MemoArgs, Var, VarMap, flags};
use crate::marks::{keep, not, or};
use crate::prims::Prim;

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

impl Saving<'_> {
    /// Operands that must be saved for the unknown side to have all of them.
    pub fn missing_operands(&self) -> Vec<Var> {
        self.eqn
            .inputs
            .iter()
            .zip(self.instantiated)
            .filter(|(_, instantiated)| !**instantiated)
            .filter_map(|(atom, _)| atom.var())
            .collect()
    }

    /// The callee of a call split as the call is.
    pub(crate) fn split_callee(&self, callee: &ClosedJaxpr) -> Result<SavedSplit> {
        let none = vec![false; callee.jaxpr.outvars.len()];
        let request = SavingRequest {
            unknown: self.unknown,
            instantiated: self.instantiated,
            ensure_unknown: &none,
            ensure_instantiated: &none,
            policy: self.policy,
        };
        partial_eval_saving(self.memo, callee, request)
    }

    /// New variables for residuals of these types.
    pub(crate) fn new_vars(&mut self, avals: impl IntoIterator<Item = Aval>) -> Vec<Var> {
        let new_var = |aval| self.jaxpr.new_var(aval);
        avals.into_iter().map(new_var).collect()
    }

    /// The equation of one of the sides.
    pub(crate) fn side(&self, prim: impl Into<Prim>, inputs: Vec<Atom>, outputs: Vec<Var>) -> Eqn {
        Eqn {
            prim: prim.into(),
            inputs: inputs.into(),
            outputs: outputs.into(),
            source: self.eqn.source,
        }
    }

    /// The equation of the known side: known operands to known results, then `new` residuals.
    pub(crate) fn known_side(&self, prim: impl Into<Prim>, unknown: &[bool], new: &[Var]) -> Eqn {
        let inputs = keep(&self.eqn.inputs, &not(self.unknown));
        let outputs = keep(&self.eqn.outputs, &not(unknown));
        self.side(prim, inputs, [outputs.as_slice(), new].concat())
    }

    /// A call whose callee is split: the known side gives `new` residuals, the unknown side takes all of them first.
    pub(crate) fn both_sides(
        &self,
        parts: SavedSplit,
        [known, staged]: [Prim; 2],
        new: &[Var],
        residuals: Vec<Atom>,
    ) -> SavingResult {
        let saved = residuals.iter().filter_map(|atom| atom.var());
        let saved = self.missing_operands().into_iter().chain(saved).collect();
        let given = keep(&self.eqn.inputs, self.instantiated);
        let outputs = keep(&self.eqn.outputs, &parts.instantiated);
        SavingResult {
            known: Some(self.known_side(known, &parts.unknown, new)),
            staged: Some(self.side(staged, [residuals, given].concat(), outputs)),
            unknown: parts.unknown,
            instantiated: parts.instantiated,
            residuals: saved,
        }
    }

    /// Everything is left to the unknown side.
    pub(crate) fn all_unknown(&self) -> SavingResult {
        let all = vec![true; self.eqn.outputs.len()];
        SavingResult {
            known: None,
            staged: Some(self.eqn.clone()),
            unknown: all.clone(),
            instantiated: all,
            residuals: self.missing_operands(),
        }
    }
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

/// A jaxpr split in two under a policy.
#[derive(Clone)]
pub(crate) struct SavedSplit {
    /// Known arguments to known results, then residuals.
    pub(crate) known: ClosedJaxpr,
    /// Residuals, then arguments at hand on the unknown side, to results at hand there.
    pub(crate) staged: ClosedJaxpr,
    /// Which results are unknown.
    pub(crate) unknown: Vec<bool>,
    /// Which results the unknown side has.
    pub(crate) instantiated: Vec<bool>,
    /// Number of residuals.
    pub(crate) residuals: usize,
}

impl SavedSplit {
    /// Types of the residuals.
    pub(crate) fn residual_avals(&self) -> Vec<Aval> {
        let mut avals = self.staged.in_avals();
        avals.truncate(self.residuals);
        avals
    }
}

/// What is asked of a split under a policy.
#[derive(Clone, Copy)]
pub(crate) struct SavingRequest<'a> {
    /// Which arguments are unknown.
    pub(crate) unknown: &'a [bool],
    /// Which arguments the unknown side is given.
    pub(crate) instantiated: &'a [bool],
    /// Results that count as unknown in any case.
    pub(crate) ensure_unknown: &'a [bool],
    /// Results that the unknown side has in any case.
    pub(crate) ensure_instantiated: &'a [bool],
    /// Which known values may be kept.
    pub(crate) policy: &'a Policy,
}

/// Splits `jaxpr` under a policy.
pub(crate) fn partial_eval_saving(
    memo: &Memo,
    jaxpr: &ClosedJaxpr,
    request: SavingRequest<'_>,
) -> Result<SavedSplit> {
    let mut args = MemoArgs::new();
    flags(&mut args, request.unknown);
    flags(&mut args, request.instantiated);
    flags(&mut args, request.ensure_unknown);
    flags(&mut args, request.ensure_instantiated);
    request.policy.memo_args(&mut args);
    memo.of_jaxpr("partial_eval_saving", jaxpr, args, || {
        split(memo, jaxpr, request)
    })
}

fn split(memo: &Memo, closed: &ClosedJaxpr, request: SavingRequest<'_>) -> Result<SavedSplit> {
    let mut jaxpr = (*closed.jaxpr).clone();
    let eqns = std::mem::take(&mut jaxpr.eqns);
    let mut env = States::default();
    env.write(
        &jaxpr.constvars,
        &vec![(false, true); jaxpr.constvars.len()],
    );
    let states = request
        .unknown
        .iter()
        .copied()
        .zip(request.instantiated.iter().copied());
    env.write(&jaxpr.invars, &states.collect::<Vec<_>>());
    let (mut known_eqns, mut staged_eqns) = (Vec::new(), Vec::new());
    for eqn in &eqns {
        let (unknown, instantiated): (Vec<bool>, Vec<bool>) =
            eqn.inputs.iter().map(|&atom| env.read(atom)).unzip();
        let mut saving = Saving {
            memo,
            jaxpr: &mut jaxpr,
            eqn,
            unknown: &unknown,
            instantiated: &instantiated,
            policy: request.policy,
        };
        let own = eqn.prim.rules().partial_eval_saving(&mut saving);
        let result = match own.map_err(|error| error.in_operation(eqn.prim.name()))? {
            Some(result) => result,
            None => split_plain(&saving),
        };
        known_eqns.extend(result.known);
        staged_eqns.extend(result.staged);
        env.residuals.extend(result.residuals);
        let states = result.unknown.into_iter().zip(result.instantiated);
        env.write(&eqn.outputs, &states.collect::<Vec<_>>());
    }
    let (unknown, instantiated): (Vec<bool>, Vec<bool>) =
        jaxpr.outvars.iter().map(|&atom| env.read(atom)).unzip();
    for ((atom, &instantiated), &ensure) in jaxpr
        .outvars
        .iter()
        .zip(&instantiated)
        .zip(request.ensure_instantiated)
    {
        if let (Atom::Var(var), false, true) = (atom, instantiated, ensure) {
            env.residuals.insert(*var);
        }
    }
    let unknown = or(&unknown, request.ensure_unknown);
    let instantiated = or(&instantiated, request.ensure_instantiated);
    let residuals: Vec<Var> = env.residuals.into_iter().collect();
    let mut known = jaxpr.clone();
    known.invars = keep(&jaxpr.invars, &not(request.unknown));
    known.outvars = keep(&jaxpr.outvars, &not(&unknown));
    known
        .outvars
        .extend(residuals.iter().map(|&var| Atom::Var(var)));
    known.eqns = known_eqns;
    let mut staged = jaxpr.clone();
    staged.invars = residuals.clone();
    staged
        .invars
        .extend(keep(&jaxpr.invars, request.instantiated));
    staged.outvars = keep(&jaxpr.outvars, &instantiated);
    staged.eqns = staged_eqns;
    Ok(SavedSplit {
        known: ClosedJaxpr::new(known, closed.consts.clone()),
        staged: ClosedJaxpr::new(staged, closed.consts.clone()),
        unknown,
        instantiated,
        residuals: residuals.len(),
    })
}

/// The rule of equations without sub-jaxprs.
fn split_plain(saving: &Saving<'_>) -> SavingResult {
    let eqn = saving.eqn;
    let results = eqn.outputs.len();
    if saving.unknown.contains(&true) {
        return saving.all_unknown();
    }
    if !has_effect(&eqn.prim) && !saving.policy.saves(&eqn.prim) {
        return SavingResult {
            known: Some(eqn.clone()),
            unknown: vec![false; results],
            ..saving.all_unknown()
        };
    }
    SavingResult {
        known: Some(eqn.clone()),
        staged: None,
        unknown: vec![false; results],
        instantiated: vec![false; results],
        residuals: Vec::new(),
    }
}

/// Whether each variable is unknown, and whether the unknown side has it; and what is saved.
#[derive(Default)]
struct States {
    values: VarMap<(bool, bool)>,
    residuals: IndexSet<Var>,
}

impl States {
    fn read(&self, atom: Atom) -> (bool, bool) {
        match atom {
            Atom::Var(var) => self.values[var],
            Atom::Lit(_) => (false, true),
        }
    }

    fn write(&mut self, vars: &[Var], states: &[(bool, bool)]) {
        for (&var, &state) in vars.iter().zip(states) {
            self.values.insert(var, state);
        }
    }
}
