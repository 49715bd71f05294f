//! Equality of jaxprs up to the names of variables.

use std::cell::RefCell;
use std::collections::HashSet;
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
        (Arc::ptr_eq(&self.jaxpr, &other.jaxpr) || equal_once(&self.jaxpr, &other.jaxpr))
            && self.consts == other.consts
    }
}

/// Pairs of jaxprs that the comparison under way has found equal, and how deep it is.
#[derive(Default)]
struct Compared {
    equal: HashSet<(*const Jaxpr, *const Jaxpr)>,
    depth: usize,
}

thread_local! {
    static COMPARED: RefCell<Compared> = RefCell::default();
}

/// Compares two jaxprs unless the comparison that this is part of has done so: one that is used twice by another that
/// is used twice, and so on, would otherwise be compared again along every path.
fn equal_once(left: &Arc<Jaxpr>, right: &Arc<Jaxpr>) -> bool {
    let pair = (Arc::as_ptr(left), Arc::as_ptr(right));
    let known = COMPARED.with_borrow_mut(|compared| {
        compared.depth += 1;
        compared.equal.contains(&pair)
    });
    let equal = known || left == right;
    COMPARED.with_borrow_mut(|compared| {
        compared.depth -= 1;
        if compared.depth == 0 {
            compared.equal.clear();
        } else if equal {
            compared.equal.insert(pair);
        }
    });
    equal
}
