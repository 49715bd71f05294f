//! What makes two things to run the same.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use indexmap::Equivalent;
use jaxide_core::{Aval, ClosedJaxpr, DType, Jaxpr, Prim, Shape, Tensor};
use jaxide_cpu::CompileOptions;
use smallvec::SmallVec;

/// The type of an operand.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Type {
    pub(super) dtype: DType,
    pub(super) weak: bool,
    pub(super) shape: Shape,
}

impl Type {
    pub(super) fn aval(&self) -> Aval {
        Aval::new(self.dtype, &self.shape).weak(self.weak)
    }
}

/// The types of the operands of an operation.
pub(super) type Types = SmallVec<[Type; 3]>;

/// A key of the cache.
#[derive(PartialEq)]
pub(super) enum Key {
    /// A primitive on operands of these types.
    Operation { prim: Box<Prim>, types: Types },
    /// A program, compiled in this way.
    Program {
        jaxpr: Arc<Jaxpr>,
        constants: Vec<Constant>,
        options: CompileOptions,
    },
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Key::Operation { prim, types } => OperationKey { prim, types }.hash(state),
            Key::Program {
                jaxpr,
                constants,
                options,
            } => ProgramKey {
                jaxpr,
                constants,
                options,
            }
            .hash(state),
        }
    }
}

/// A borrowed [`Key::Operation`].
#[derive(Hash)]
pub(super) struct OperationKey<'a> {
    pub(super) prim: &'a Prim,
    pub(super) types: &'a Types,
}

impl Equivalent<Key> for OperationKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        match key {
            Key::Operation { prim, types } => types == self.types && **prim == *self.prim,
            Key::Program { .. } => false,
        }
    }
}

/// A borrowed [`Key::Program`].
#[derive(Hash)]
pub(super) struct ProgramKey<'a> {
    pub(super) jaxpr: &'a Arc<Jaxpr>,
    pub(super) constants: &'a [Constant],
    pub(super) options: &'a CompileOptions,
}

impl Equivalent<Key> for ProgramKey<'_> {
    fn equivalent(&self, key: &Key) -> bool {
        match key {
            Key::Operation { .. } => false,
            Key::Program {
                jaxpr,
                constants,
                options,
            } => {
                options == self.options
                    && constants == self.constants
                    && (Arc::ptr_eq(jaxpr, self.jaxpr) || jaxpr == self.jaxpr)
            }
        }
    }
}

/// What a program's code knows of a constant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Constant {
    /// Its type: the array is handed over at each call, so that programs that differ in large arrays alone share code.
    Argument,
    /// That all elements are this one.
    Uniform(SmallVec<[u8; 16]>),
    /// Its elements.
    Array(Tensor),
}

/// Constants of more bytes are arguments of the code.
const MOST_BAKED: usize = 256;

impl Constant {
    /// What the code for `closed` knows of its constants.
    pub(super) fn all(closed: &ClosedJaxpr) -> Vec<Constant> {
        closed.consts.iter().map(Constant::of).collect()
    }

    fn of(tensor: &Tensor) -> Constant {
        let bytes = tensor.bytes();
        if bytes.len() <= MOST_BAKED {
            return Constant::Array(tensor.clone());
        }
        let element = &bytes[..tensor.dtype().size()];
        // Equal to itself moved by an element: all elements are equal.
        if bytes[element.len()..] == bytes[..bytes.len() - element.len()] {
            Constant::Uniform(element.into())
        } else {
            Constant::Argument
        }
    }
}

impl Hash for Constant {
    fn hash<H: Hasher>(&self, state: &mut H) {
        std::mem::discriminant(self).hash(state);
        match self {
            Constant::Argument => {}
            Constant::Uniform(element) => element.hash(state),
            Constant::Array(tensor) => tensor.bytes().hash(state),
        }
    }
}
