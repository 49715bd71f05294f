//! The programs of a jitted function, found by the structure and the types of its arguments.
//!
//! A call whose program exists is found without an allocation: the structure of the arguments is compared with known
//! treedefs while they are visited, and the types with those of known programs.

use std::collections::HashMap;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use indexmap::{Equivalent, IndexMap};
use jaxide_core::{Aval, ClosedJaxpr, DType};
use jaxide_cpu::CompileOptions;
use jaxide_tree::{Pytree, TreeDef, structure_hash};

use super::super::flat::FlatArgs;
use super::JitOptions;
use crate::array::Array;
use crate::execute::Native;
use crate::trace::{AxisEnv, are_in_scope, axes_in_scope, is_of};

/// A function traced for one structure and one list of types.
pub(super) struct Program {
    pub(super) jaxpr: ClosedJaxpr,
    /// The structure of the arguments.
    pub(super) arguments: TreeDef,
    /// The structure of the results.
    pub(super) treedef: TreeDef,
    /// Leaves of the arguments that the program may overwrite, in rising order.
    pub(super) donated: Vec<usize>,
    native: OnceLock<Native>,
}

impl Program {
    pub(super) fn new(
        jaxpr: ClosedJaxpr,
        arguments: &TreeDef,
        treedef: TreeDef,
        donated: Vec<usize>,
    ) -> Self {
        Program {
            jaxpr,
            arguments: arguments.clone(),
            treedef,
            donated,
            native: OnceLock::new(),
        }
    }

    /// Results with these leaves.
    pub(super) fn results(&self, leaves: Vec<Array>) -> FlatArgs {
        FlatArgs {
            leaves,
            treedef: self.treedef.clone(),
        }
    }

    /// The code, which is compiled when it is needed first.
    pub(super) fn native(&self, options: &JitOptions) -> &Native {
        self.native.get_or_init(|| {
            let options = CompileOptions {
                donate: self.donated.clone(),
                ..options.compile.clone()
            };
            Native::new(&self.jaxpr, &options)
        })
    }
}

/// The programs so far.
#[derive(Default)]
pub(super) struct Cache {
    /// The structures of arguments, by their hash.
    structures: HashMap<u64, Vec<TreeDef>>,
    programs: IndexMap<Key, Arc<Program>>,
    /// Which program was found last: most calls are like the one before, and comparing costs less than hashing.
    recent: AtomicUsize,
}

impl Cache {
    /// The structure of `args`, if there has been a call with it.
    pub(super) fn structure<T: Pytree<Array>>(&self, args: &T) -> Option<&TreeDef> {
        let recent = self.recent().map(|(key, _)| &key.treedef);
        if let Some(recent) = recent.filter(|treedef| treedef.matches::<Array, T>(args)) {
            return Some(recent);
        }
        let candidates = self.structures.get(&structure_hash::<Array, T>(args))?;
        candidates
            .iter()
            .find(|treedef| treedef.matches::<Array, T>(args))
    }

    /// The program for arguments of this structure with these leaves.
    pub(super) fn program(&self, treedef: &TreeDef, leaves: &[Array]) -> Option<&Arc<Program>> {
        let call = Call { treedef, leaves };
        if let Some((_, program)) = self.recent().filter(|(key, _)| call.equivalent(key)) {
            return Some(program);
        }
        let (position, _, program) = self.programs.get_full(&call)?;
        self.recent.store(position, Ordering::Relaxed);
        Some(program)
    }

    fn recent(&self) -> Option<(&Key, &Arc<Program>)> {
        self.programs.get_index(self.recent.load(Ordering::Relaxed))
    }

    /// Keeps a program, unless another thread has been faster, and gives the one that is kept.
    pub(super) fn insert(
        &mut self,
        treedef: TreeDef,
        avals: Vec<Aval>,
        program: Arc<Program>,
    ) -> Arc<Program> {
        let known = self
            .structures
            .entry(treedef.structural_hash())
            .or_default();
        if !known.contains(&treedef) {
            known.push(treedef.clone());
        }
        let key = Key {
            treedef,
            avals,
            axes: axes_in_scope(),
        };
        self.programs.entry(key).or_insert(program).clone()
    }

    pub(super) fn programs(&self) -> impl ExactSizeIterator<Item = &Arc<Program>> {
        self.programs.values()
    }

    /// The structures and types of the arguments that there are programs for.
    pub(super) fn keys(&self) -> impl Iterator<Item = (&TreeDef, &[Aval])> {
        self.programs
            .keys()
            .map(|key| (&key.treedef, &key.avals[..]))
    }

    pub(super) fn clear(&mut self) {
        *self = Cache::default();
    }
}

/// What a program is for.
#[derive(PartialEq, Eq)]
struct Key {
    treedef: TreeDef,
    avals: Vec<Aval>,
    /// The named axes that were in scope: their sizes are part of what a function is traced for.
    axes: AxisEnv,
}

/// The arguments of a call, which hash as the key of their program does.
struct Call<'a> {
    treedef: &'a TreeDef,
    leaves: &'a [Array],
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.treedef.hash(state);
        for aval in &self.avals {
            hash_type(aval.dtype, &aval.shape, aval.weak_type, state);
        }
    }
}

impl Hash for Call<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.treedef.hash(state);
        for leaf in self.leaves {
            hash_type(leaf.dtype(), leaf.shape(), leaf.weak_type(), state);
        }
    }
}

impl Equivalent<Key> for Call<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        *self.treedef == key.treedef
            && self.leaves.len() == key.avals.len()
            && are_in_scope(&key.axes)
            && self
                .leaves
                .iter()
                .zip(&key.avals)
                .all(|(leaf, aval)| is_of(leaf, aval))
    }
}

fn hash_type<H: Hasher>(dtype: DType, shape: &[usize], weak: bool, state: &mut H) {
    dtype.hash(state);
    shape.hash(state);
    weak.hash(state);
}
