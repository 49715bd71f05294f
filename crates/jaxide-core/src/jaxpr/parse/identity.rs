//! Which jaxprs inside `repr`s are the same object as a definition outside.
//!
//! A jaxpr inside a `repr` is printed in full, even when it is shared. That it was shared shows only in the definitions
//! of the text around it, which JAX prints for it although nothing there uses their names. So a jaxpr inside a `repr`
//! that equals a definition outside becomes that object; where several definitions are equal, first those that nothing
//! else uses.

use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

use super::syntax::{JaxprNode, JaxprRef, Program, RightSide, ValueNode};
use crate::jaxpr::{Atom, ClosedJaxpr, Jaxpr, VarMap};
use crate::prims::ParamValue;

/// Definitions by what they say.
#[derive(Default)]
pub(super) struct Known {
    definitions: HashMap<u64, Vec<Definition>>,
}

struct Definition {
    jaxpr: ClosedJaxpr,
    /// Whether its name stands somewhere, so that nothing inside a `repr` has to be it.
    named: bool,
    /// How many jaxprs inside `repr`s are it so far.
    uses: usize,
}

impl Known {
    /// Adds a definition; `named` tells whether its name stands somewhere.
    pub(super) fn insert(&mut self, fingerprint: u64, jaxpr: ClosedJaxpr, named: bool) {
        let equal = self.definitions.entry(fingerprint).or_default();
        equal.push(Definition {
            jaxpr,
            named,
            uses: 0,
        });
    }

    /// Whether there is none.
    pub(super) fn is_empty(&self) -> bool {
        self.definitions.is_empty()
    }

    /// The definition that `jaxpr` is.
    pub(super) fn find(&mut self, fingerprint: u64, jaxpr: &ClosedJaxpr) -> Option<ClosedJaxpr> {
        let equal = self.definitions.get_mut(&fingerprint)?;
        // Equal definitions take turns, as the fields of a named tuple do that stand for them again and again.
        let definition = equal
            .iter_mut()
            .min_by_key(|definition| (definition.named, definition.uses))
            .filter(|definition| definition.jaxpr == *jaxpr)?;
        definition.uses += 1;
        Some(definition.jaxpr.clone())
    }
}

/// The names of jaxprs that stand in a program, those inside `repr`s left out.
pub(super) fn names_used<'a>(program: &Program<'a>) -> HashSet<&'a str> {
    let mut names = HashSet::new();
    for definition in &program.definitions {
        collect_names(&definition.jaxpr, &mut names);
    }
    collect_names(&program.main, &mut names);
    names
}

fn collect_names<'a>(jaxpr: &JaxprNode<'a>, names: &mut HashSet<&'a str>) {
    for eqn in &jaxpr.eqns {
        let Some(RightSide::Apply { params, .. }) = &eqn.right else {
            continue;
        };
        for param in params {
            match &param.value {
                ValueNode::Py(_) => {
                    names.insert(param.text.text);
                }
                ValueNode::Jaxpr(jaxpr) => collect_names(jaxpr, names),
                ValueNode::Jaxprs(jaxprs) => {
                    for jaxpr in jaxprs {
                        match jaxpr {
                            JaxprRef::Inline(jaxpr) => collect_names(jaxpr, names),
                            JaxprRef::Name(word) => {
                                names.insert(word.text);
                            }
                        }
                    }
                }
                ValueNode::Text(_) | ValueNode::Programs(_) => {}
            }
        }
    }
}

/// Hashes of what jaxprs say, each computed once.
#[derive(Default)]
pub(super) struct Fingerprints {
    known: HashMap<*const Jaxpr, u64>,
}

impl Fingerprints {
    /// A hash that equal jaxprs have in common.
    pub(super) fn of(&mut self, jaxpr: &Arc<Jaxpr>) -> u64 {
        if let Some(&hash) = self.known.get(&Arc::as_ptr(jaxpr)) {
            return hash;
        }
        let hash = self.compute(jaxpr);
        self.known.insert(Arc::as_ptr(jaxpr), hash);
        hash
    }

    /// Forgets what was at an address before `jaxpr`.
    pub(super) fn forget(&mut self, jaxpr: &Arc<Jaxpr>) {
        self.known.remove(&Arc::as_ptr(jaxpr));
    }

    fn compute(&mut self, jaxpr: &Jaxpr) -> u64 {
        let mut hasher = DefaultHasher::new();
        let mut numbers: VarMap<usize> = VarMap::new();
        let mut count = 0;
        let mut bind = |vars: &[crate::jaxpr::Var],
                        hasher: &mut DefaultHasher,
                        numbers: &mut VarMap<usize>| {
            vars.len().hash(hasher);
            for &var in vars {
                numbers.insert(var, count);
                count += 1;
                jaxpr.aval_of(var).hash(hasher);
            }
        };
        let read = |atoms: &[Atom], hasher: &mut DefaultHasher, numbers: &VarMap<usize>| {
            atoms.len().hash(hasher);
            for atom in atoms {
                match atom {
                    Atom::Var(var) => numbers.get(*var).hash(hasher),
                    Atom::Lit(literal) => literal.hash(hasher),
                }
            }
        };
        bind(&jaxpr.constvars, &mut hasher, &mut numbers);
        bind(&jaxpr.invars, &mut hasher, &mut numbers);
        for eqn in &jaxpr.eqns {
            eqn.prim.name().hash(&mut hasher);
            for (key, value) in eqn.prim.params() {
                if let ParamValue::Py(value) = value {
                    key.hash(&mut hasher);
                    value.to_string().hash(&mut hasher);
                }
            }
            eqn.prim
                .visit(&mut |sub| self.of(&sub.jaxpr).hash(&mut hasher));
            read(&eqn.inputs, &mut hasher, &numbers);
            bind(&eqn.outputs, &mut hasher, &mut numbers);
        }
        read(&jaxpr.outvars, &mut hasher, &numbers);
        hasher.finish()
    }
}
