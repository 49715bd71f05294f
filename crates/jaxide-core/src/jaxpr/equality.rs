//! Equality and hashes of jaxprs up to the names of variables.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
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

/// Equal jaxprs have equal hashes. Results are numbered in the order in which they are bound.
impl Hash for Jaxpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let mut numbers = Numbers {
            jaxpr: self,
            of: VarMap::new(),
            count: 0,
        };
        numbers.bind(&self.constvars, state);
        numbers.bind(&self.invars, state);
        self.eqns.len().hash(state);
        for eqn in &self.eqns {
            numbers.read(&eqn.inputs, state);
            eqn.prim.hash(state);
            numbers.bind(&eqn.outputs, state);
        }
        numbers.read(&self.outvars, state);
    }
}

struct Numbers<'a> {
    jaxpr: &'a Jaxpr,
    of: VarMap<u32>,
    count: u32,
}

impl Numbers<'_> {
    fn bind<H: Hasher>(&mut self, vars: &[Var], state: &mut H) {
        vars.len().hash(state);
        for &var in vars {
            self.of.insert(var, self.count);
            self.count += 1;
            if let Some(info) = self.jaxpr.var(var) {
                info.aval.hash(state);
            }
        }
    }

    fn read<H: Hasher>(&self, atoms: &[Atom], state: &mut H) {
        atoms.len().hash(state);
        for atom in atoms {
            match atom {
                Atom::Var(var) => self.of.get(*var).hash(state),
                Atom::Lit(literal) => literal.hash(state),
            }
        }
    }
}

/// The hash of the jaxpr, computed once for all places in which it is used, and the types of the constants.
impl Hash for ClosedJaxpr {
    fn hash<H: Hasher>(&self, state: &mut H) {
        hash_once(&self.jaxpr).hash(state);
        for value in &self.consts {
            value.dtype().hash(state);
            value.shape().hash(state);
        }
    }
}

/// Hashes of sub-jaxprs that the hash under way has computed, and how deep it is.
#[derive(Default)]
struct Hashed {
    known: HashMap<*const Jaxpr, u64>,
    depth: usize,
}

thread_local! {
    static HASHED: RefCell<Hashed> = RefCell::default();
}

/// The hash of a jaxpr, unless the hash that this is part of has come by it already.
fn hash_once(jaxpr: &Arc<Jaxpr>) -> u64 {
    let address = Arc::as_ptr(jaxpr);
    let known = HASHED.with_borrow_mut(|hashed| {
        hashed.depth += 1;
        hashed.known.get(&address).copied()
    });
    let hash = known.unwrap_or_else(|| {
        let mut hasher = DefaultHasher::new();
        jaxpr.hash(&mut hasher);
        hasher.finish()
    });
    HASHED.with_borrow_mut(|hashed| {
        hashed.depth -= 1;
        if hashed.depth == 0 {
            hashed.known.clear();
        } else {
            hashed.known.insert(address, hash);
        }
    });
    hash
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::DType;
    use crate::jaxpr::{Aval, Builder};

    fn hash(jaxpr: &ClosedJaxpr) -> u64 {
        let mut hasher = DefaultHasher::new();
        jaxpr.hash(&mut hasher);
        hasher.finish()
    }

    fn wave(extra: bool, length: usize) -> ClosedJaxpr {
        let b = Builder::new();
        let x = b.input(Aval::new(DType::F32, &[length]));
        let sine = b.sin(x);
        let y = b.mul(sine, if extra { sine } else { x });
        b.finish(&[y]).unwrap()
    }

    #[test]
    fn equal_jaxprs_have_equal_hashes() {
        assert_eq!(wave(false, 3), wave(false, 3));
        assert_eq!(hash(&wave(false, 3)), hash(&wave(false, 3)));
        assert_ne!(hash(&wave(false, 3)), hash(&wave(true, 3)));
        assert_ne!(hash(&wave(false, 3)), hash(&wave(false, 4)));
    }
}
