//! What every driver does with a jaxpr: walk its equations with a value per variable.

use smallvec::SmallVec;

use crate::error::Result;
use crate::jaxpr::{Atom, Atoms, Aval, Builder, ClosedJaxpr, Eqn, Jaxpr, Var, VarMap};

/// Values of a jaxpr's variables under an interpretation; a literal is the value made [`From`] it.
pub(crate) struct Environment<'a, T> {
    jaxpr: &'a Jaxpr,
    values: VarMap<T>,
}

/// A value that a constant can be read as.
pub(crate) trait FromConstant {
    /// The value of an atom that no argument reaches.
    fn from_constant(atom: Atom) -> Self;
}

/// A primal and its tangent, or a value and its mapped axis.
impl<U> FromConstant for (Atom, Option<U>) {
    fn from_constant(atom: Atom) -> Self {
        (atom, None)
    }
}

impl<'a, T: Clone> Environment<'a, T> {
    pub(crate) fn new(jaxpr: &'a Jaxpr) -> Self {
        Environment {
            jaxpr,
            values: VarMap::new(),
        }
    }

    pub(crate) fn bind(&mut self, vars: &[Var], values: impl IntoIterator<Item = T>) {
        for (&var, value) in vars.iter().zip(values) {
            self.values.insert(var, value);
        }
    }

    pub(crate) fn read(&self, atom: Atom) -> T
    where
        T: FromConstant,
    {
        match atom {
            Atom::Var(var) => self.values[var].clone(),
            literal @ Atom::Lit(_) => T::from_constant(literal),
        }
    }

    pub(crate) fn result_avals(&self, eqn: &Eqn) -> SmallVec<[Aval; 2]> {
        result_avals(self.jaxpr, eqn)
    }
}

/// Types of the results of an equation of `jaxpr`.
pub(crate) fn result_avals(jaxpr: &Jaxpr, eqn: &Eqn) -> SmallVec<[Aval; 2]> {
    let aval = |&var: &Var| jaxpr.aval_of(var).clone();
    eqn.outputs.iter().map(aval).collect()
}

/// Constvars in `b` for those of `jaxpr`, with their values where they are known.
pub(crate) fn bind_constants(b: &Builder, jaxpr: &ClosedJaxpr) -> Vec<Atom> {
    let avals = jaxpr.jaxpr.const_avals();
    if avals.len() == jaxpr.consts.len() {
        let constant = |value: &crate::Tensor| b.constant(value.clone());
        return jaxpr.consts.iter().map(constant).collect();
    }
    avals.into_iter().map(|aval| b.constvar(aval)).collect()
}

/// Writes the equations of a jaxpr with its constants; gives its results.
pub(crate) fn inline(b: &Builder, jaxpr: &ClosedJaxpr, args: &[Atom]) -> Result<Atoms> {
    b.inline(&jaxpr.jaxpr, &bind_constants(b, jaxpr), args)
}

/// The jaxpr with its constvars as leading arguments.
pub(crate) fn constants_as_arguments(jaxpr: &ClosedJaxpr) -> ClosedJaxpr {
    if jaxpr.jaxpr.constvars.is_empty() {
        return jaxpr.clone();
    }
    let mut new = (*jaxpr.jaxpr).clone();
    let arguments = std::mem::take(&mut new.invars);
    new.invars = std::mem::take(&mut new.constvars);
    new.invars.extend(arguments);
    ClosedJaxpr::new(new, Vec::new())
}
