//! Names of variables: letters, counted through the whole text.

use std::collections::{HashMap, HashSet};

use crate::jaxpr::letters::letters;
use crate::jaxpr::parse::unnamed_results;
use crate::jaxpr::{Atom, Aval, Jaxpr, Shared, Var, VarMap};

/// A variable's name in the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum VarName {
    /// `_`: a result of the outermost jaxpr that nothing uses.
    Unused,
    /// The letters of this number.
    Letters(usize),
}

impl VarName {
    /// The name as it is written.
    pub(super) fn text(self) -> String {
        match self {
            VarName::Unused => "_".to_owned(),
            VarName::Letters(number) => letters(number),
        }
    }
}

/// Gives out names that no hoisted sub-jaxpr has.
#[derive(Default)]
pub(super) struct FreshNames {
    next: usize,
    taken: HashSet<String>,
    /// Names of variables that stand in several jaxprs.
    shared: HashMap<*const (), VarName>,
}

impl FreshNames {
    /// Names outside `taken`, from `a` on.
    pub(super) fn avoiding(taken: HashSet<String>) -> Self {
        FreshNames {
            next: 0,
            taken,
            shared: HashMap::new(),
        }
    }

    /// The name that a variable of another jaxpr has which is the same.
    pub(super) fn of_shared(&self, shared: &Shared) -> Option<VarName> {
        self.shared.get(&shared.key()?).copied()
    }

    /// Keeps the name of a variable for those of other jaxprs that are the same.
    pub(super) fn share(&mut self, shared: &Shared, name: VarName) {
        if let Some(key) = shared.key() {
            self.shared.entry(key).or_insert(name);
        }
    }

    /// The next name.
    pub(super) fn fresh(&mut self) -> VarName {
        loop {
            let number = self.next;
            self.next += 1;
            if self.taken.is_empty() || !self.taken.contains(&letters(number)) {
                return VarName::Letters(number);
            }
        }
    }
}

/// The results of equations that nothing reads afterwards, named `_`. What stands in several jaxprs is read in another one.
pub(super) fn unused_results(jaxpr: &Jaxpr) -> VarMap<VarName> {
    let mut used: VarMap<()> = VarMap::new();
    let mut unused = VarMap::new();
    let read = |used: &mut VarMap<()>, atoms: &[Atom]| {
        for var in atoms.iter().filter_map(|atom| atom.var()) {
            used.insert(var, ());
        }
    };
    read(&mut used, &jaxpr.outvars);
    for eqn in jaxpr.eqns.iter().rev() {
        for &var in &eqn.outputs {
            let shared = jaxpr.var(var).and_then(|info| info.shared.key());
            if !used.contains_key(var) && shared.is_none() {
                unused.insert(var, VarName::Unused);
            }
        }
        read(&mut used, &eqn.inputs);
    }
    unused
}

/// Gives inner variables the names of the outer atoms that they stand for, where that is possible: the outer atom is a
/// variable that no other inner variable was named after, and the inner variable has no name yet.
pub(super) fn name_alike(
    inner: &mut VarMap<VarName>,
    inner_vars: impl Iterator<Item = Option<Var>>,
    outer: &[Atom],
    mut outer_name: impl FnMut(Var) -> VarName,
) {
    let mut seen: HashSet<Var> = HashSet::new();
    for (inner_var, outer_atom) in inner_vars.zip(outer) {
        if let (Some(var), Atom::Var(like)) = (inner_var, outer_atom)
            && !seen.contains(like)
            && !inner.contains_key(var)
        {
            seen.insert(*like);
            let name = outer_name(*like);
            inner.insert(var, name);
        }
    }
}

/// Whether the variables of the body of a call that are read under the name `_` are those that a reader of the text takes
/// for them, when they have these `names` and the call results of the types `expected`.
pub(super) fn unnamed_are_found(body: &Jaxpr, names: &VarMap<VarName>, expected: &[Aval]) -> bool {
    let is_unnamed = |var: Var| {
        names.get(var) == Some(&VarName::Unused) || body.var(var).is_some_and(|info| info.dropped)
    };
    let reads = |atoms: &[Atom]| -> Vec<Option<Var>> {
        let vars = atoms.iter().map(|atom| atom.var());
        vars.map(|var| var.filter(|&var| is_unnamed(var))).collect()
    };
    let mut bound: Vec<Var> = Vec::new();
    let bind = |bound: &mut Vec<Var>, vars: &[Var]| {
        bound.extend(vars.iter().copied().filter(|&var| is_unnamed(var)));
    };
    bind(&mut bound, &body.constvars);
    bind(&mut bound, &body.invars);
    for eqn in &body.eqns {
        let mut read = reads(&eqn.inputs).into_iter().flatten();
        if read.any(|var| bound.last() != Some(&var)) {
            return false;
        }
        bind(&mut bound, &eqn.outputs);
    }
    let avals: Vec<&Aval> = bound.iter().map(|&var| body.aval_of(var)).collect();
    let read = reads(&body.outvars);
    let is_read: Vec<bool> = read.iter().map(Option::is_some).collect();
    let expected: Vec<Option<&Aval>> = expected.iter().map(Some).collect();
    let found = unnamed_results(&avals, &is_read, &expected);
    read.iter()
        .zip(found)
        .all(|(&var, place)| var == place.map(|place| bound[place]))
}
