//! The syntax tree: what a text says, before names and primitives mean anything.
//!
//! The tree of a whole text is held at once, so its nodes are small: lists have no room to spare, types are objects in
//! common, as are values, and what is rare stands behind a pointer.

use std::ops::Range;
use std::sync::Arc;

use crate::jaxpr::{Aval, Literal};
use crate::prims::PyValue;

/// Bytes of the text.
pub(in crate::jaxpr) type Span = Range<usize>;

/// `let NAME = { ... } in` lines, then the jaxpr.
#[derive(Debug)]
pub(in crate::jaxpr) struct Program<'a> {
    pub(in crate::jaxpr) definitions: Vec<Definition<'a>>,
    pub(in crate::jaxpr) main: JaxprNode<'a>,
}

/// A hoisted jaxpr.
#[derive(Debug)]
pub(in crate::jaxpr) struct Definition<'a> {
    pub(in crate::jaxpr) name: Word<'a>,
    pub(in crate::jaxpr) jaxpr: JaxprNode<'a>,
}

/// A piece of the text and where it stands.
#[derive(Clone, Copy, Debug)]
pub(in crate::jaxpr) struct Word<'a> {
    pub(in crate::jaxpr) text: &'a str,
    pub(in crate::jaxpr) start: usize,
}

impl Word<'_> {
    pub(in crate::jaxpr) fn span(&self) -> Span {
        self.start..self.start + self.text.len()
    }
}

/// `{ lambda constvars; invars. let eqns in (results) }`
#[derive(Debug)]
pub(in crate::jaxpr) struct JaxprNode<'a> {
    pub(in crate::jaxpr) span: Span,
    pub(in crate::jaxpr) constvars: Vec<Binder<'a>>,
    pub(in crate::jaxpr) invars: Vec<Binder<'a>>,
    pub(in crate::jaxpr) eqns: Vec<EqnNode<'a>>,
    pub(in crate::jaxpr) results: Vec<OperandNode<'a>>,
}

/// `a:f32[3]`
#[derive(Debug)]
pub(in crate::jaxpr) struct Binder<'a> {
    pub(in crate::jaxpr) name: Word<'a>,
    /// The type, one object for all that have it; `None` when it is malformed, which has been reported.
    pub(in crate::jaxpr) aval: Option<Arc<Aval>>,
}

/// One equation.
#[derive(Debug)]
pub(in crate::jaxpr) struct EqnNode<'a> {
    pub(in crate::jaxpr) start: usize,
    pub(in crate::jaxpr) outputs: Vec<Binder<'a>>,
    /// `None` when the rest is malformed, which has been reported.
    pub(in crate::jaxpr) right: Option<RightSide<'a>>,
}

/// What an equation applies to what.
#[derive(Debug)]
pub(in crate::jaxpr) enum RightSide<'a> {
    /// `add a b`
    Apply {
        prim: Word<'a>,
        params: Vec<ParamNode<'a>>,
        operands: Vec<OperandNode<'a>>,
    },
    /// `a[...]`
    Get(Box<RefNode<'a>>),
    /// `a[0] <- b`, `c:f32[], a[0] <- a[0], b`
    Swap(Box<SwapNode<'a>>),
    /// `a[0] += b`
    AddUpdate(Box<RefNode<'a>>, OperandNode<'a>),
}

/// A reference and the value that is written to it.
#[derive(Debug)]
pub(in crate::jaxpr) struct SwapNode<'a> {
    pub(in crate::jaxpr) written: RefNode<'a>,
    /// Where the old value is a result, the reference stands twice.
    pub(in crate::jaxpr) read: Option<RefNode<'a>>,
    pub(in crate::jaxpr) value: OperandNode<'a>,
}

/// A variable or a literal where a value is read.
#[derive(Debug)]
pub(in crate::jaxpr) enum OperandNode<'a> {
    /// A variable's name.
    Var(Word<'a>),
    /// A number with its type.
    Lit(Box<Literal>),
}

impl<'a> OperandNode<'a> {
    /// The name, where it is a variable.
    pub(in crate::jaxpr) fn variable(&self) -> Option<&'a str> {
        match self {
            OperandNode::Var(name) => Some(name.text),
            OperandNode::Lit(_) => None,
        }
    }
}

/// `key=value`
#[derive(Debug)]
pub(in crate::jaxpr) struct ParamNode<'a> {
    pub(in crate::jaxpr) key: Word<'a>,
    /// The value as it is written.
    pub(in crate::jaxpr) text: Word<'a>,
    pub(in crate::jaxpr) value: ValueNode<'a>,
}

/// The value of a parameter.
#[derive(Debug)]
pub(in crate::jaxpr) enum ValueNode<'a> {
    /// A Python value, one object for all that are equal.
    Py(Arc<PyValue>),
    /// `{ lambda ... }`
    Jaxpr(Box<JaxprNode<'a>>),
    /// `({ lambda ... } f)`
    Jaxprs(Vec<JaxprRef<'a>>),
    /// Text in which programs stand: `({ lambda ... }, 3)`.
    Text(Vec<Program<'a>>),
    /// `Name(field={ lambda ... }, field=None)`: each a program of its own.
    Programs(Box<ProgramsNode<'a>>),
}

impl ValueNode<'_> {
    /// A bare word, which may be the name of a definition.
    pub(in crate::jaxpr) fn word(&self) -> Option<&str> {
        match self {
            ValueNode::Py(value) => match &**value {
                PyValue::Word(word) | PyValue::Opaque(word) => Some(word),
                _ => None,
            },
            _ => None,
        }
    }
}

/// A named tuple of programs.
#[derive(Debug)]
pub(in crate::jaxpr) struct ProgramsNode<'a> {
    pub(in crate::jaxpr) name: &'a str,
    pub(in crate::jaxpr) fields: Vec<(&'a str, Option<Program<'a>>)>,
}

/// A jaxpr in a tuple.
#[derive(Debug)]
pub(in crate::jaxpr) enum JaxprRef<'a> {
    /// Written in place.
    Inline(JaxprNode<'a>),
    /// Hoisted.
    Name(Word<'a>),
}

/// A reference with its indices.
#[derive(Debug)]
pub(in crate::jaxpr) struct RefNode<'a> {
    pub(in crate::jaxpr) name: Word<'a>,
    pub(in crate::jaxpr) indexers: Vec<Vec<IndexNode<'a>>>,
}

/// The index of one axis.
#[derive(Debug)]
pub(in crate::jaxpr) enum IndexNode<'a> {
    /// `i` or `3`
    At(OperandNode<'a>),
    /// `1:3`, with its ends where they are written, and a stride
    Slice {
        start: Option<usize>,
        end: Option<usize>,
        stride: usize,
    },
    /// `i:i+2`
    DynamicSlice {
        start: Word<'a>,
        again: Word<'a>,
        size: usize,
        stride: usize,
    },
}
