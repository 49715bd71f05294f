//! Equality of jaxprs up to the names of variables.

use std::sync::Arc;

use super::{Atom, ClosedJaxpr, Jaxpr, Var, VarMap};

/// The same constvars, arguments, equations and results in the same order, whatever the variables are.
///
/// Sources of equations do not matter; `_` does.
impl PartialEq for Jaxpr {
    fn eq(&self, other: &Self) -> bool {
        let mut pairs = Pairs {
            left: self,
            right: other,
            renamed: VarMap::new(),
        };
        pairs.bind(&self.constvars, &other.constvars)
            && pairs.bind(&self.invars, &other.invars)
            && self.eqns.len() == other.eqns.len()
            && self.eqns.iter().zip(&other.eqns).all(|(a, b)| {
                pairs.atoms(&a.inputs, &b.inputs)
                    && a.prim == b.prim
                    && pairs.bind(&a.outputs, &b.outputs)
            })
            && pairs.atoms(&self.outvars, &other.outvars)
    }
}

struct Pairs<'a> {
    left: &'a Jaxpr,
    right: &'a Jaxpr,
    renamed: VarMap<Var>,
}

impl Pairs<'_> {
    fn bind(&mut self, left: &[Var], right: &[Var]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|(&a, &b)| {
                self.renamed.insert(a, b);
                self.left.var(a) == self.right.var(b)
            })
    }

    fn atoms(&self, left: &[Atom], right: &[Atom]) -> bool {
        left.len() == right.len()
            && left.iter().zip(right).all(|pair| match pair {
                (Atom::Var(a), Atom::Var(b)) => self.renamed.get(*a) == Some(b),
                (Atom::Lit(a), Atom::Lit(b)) => a == b,
                (Atom::Var(_), Atom::Lit(_)) | (Atom::Lit(_), Atom::Var(_)) => false,
            })
    }
}

/// The same object, or equal jaxprs with equal constants.
impl PartialEq for ClosedJaxpr {
    fn eq(&self, other: &Self) -> bool {
        (Arc::ptr_eq(&self.jaxpr, &other.jaxpr) || self.jaxpr == other.jaxpr)
            && self.consts == other.consts
    }
}
