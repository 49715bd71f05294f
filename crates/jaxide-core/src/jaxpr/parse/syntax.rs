//! The syntax tree: what a text says, before names and primitives mean anything.

use std::ops::Range;

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

/// A word and where it stands.
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
    /// `None` when the type is malformed, which has been reported.
    pub(in crate::jaxpr) aval: Option<Aval>,
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
    Get(RefNode<'a>),
    /// `a[0] <- b`, `c:f32[], a[0] <- a[0], b`
    Swap {
        written: RefNode<'a>,
        /// Where the old value is a result, the reference stands twice.
        read: Option<RefNode<'a>>,
        value: OperandNode<'a>,
    },
    /// `a[0] += b`
    AddUpdate(RefNode<'a>, OperandNode<'a>),
}

/// A variable or a literal where a value is read.
#[derive(Clone, Debug)]
pub(in crate::jaxpr) struct OperandNode<'a> {
    pub(in crate::jaxpr) span: Span,
    pub(in crate::jaxpr) value: OperandValue<'a>,
}

/// What an operand is.
#[derive(Clone, Copy, Debug)]
pub(in crate::jaxpr) enum OperandValue<'a> {
    /// A variable's name.
    Var(&'a str),
    /// A number with its type.
    Lit(Literal),
}

/// `key=value`
#[derive(Debug)]
pub(in crate::jaxpr) struct ParamNode<'a> {
    pub(in crate::jaxpr) key: Word<'a>,
    /// Where the value stands.
    pub(in crate::jaxpr) span: Span,
    /// The value as it is written.
    pub(in crate::jaxpr) text: &'a str,
    pub(in crate::jaxpr) value: ValueNode<'a>,
}

/// The value of a parameter.
#[derive(Debug)]
pub(in crate::jaxpr) enum ValueNode<'a> {
    /// A Python value; a bare word may be the name of a definition.
    Py(PyValue),
    /// `{ lambda ... }`
    Jaxpr(Box<JaxprNode<'a>>),
    /// `({ lambda ... } f)`
    Jaxprs(Vec<JaxprRef<'a>>),
    /// Text in which programs stand: `({ lambda ... }, 3)`.
    Text(Vec<Program<'a>>),
    /// `Name(field={ lambda ... }, field=None)`: each a program of its own.
    Programs {
        name: &'a str,
        fields: Vec<(&'a str, Option<Program<'a>>)>,
    },
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
        start: OperandNode<'a>,
        again: Word<'a>,
        size: usize,
        stride: usize,
    },
}
