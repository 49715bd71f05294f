//! Primitives: a table that generates a closed enum, and the rules of each beside its family.
//!
//! [`table`] declares every primitive; [`Prim`] is one application's primitive with its parameters; the rules are the
//! methods of [`Primitive`], implemented in one file per family.

mod emit;
mod params;
mod rules;
mod table;

mod collective;
mod control;
mod elementwise;
mod foreign;
mod indexing;
mod linalg;
mod machine;
mod named_function;
mod numpy;
mod random;
mod reduction;
mod shape;
mod state;
mod window;

use std::fmt;

pub use collective::{PartitionSpec, write_specs};
pub(crate) use elementwise::index_dtype;
pub use foreign::{Foreign, ForeignValue};
pub(crate) use indexing::adopt_combiners;
pub(crate) use linalg::{preferred_type, product_dtype};
pub use params::*;
pub use rules::{
    Avals, BatchAxis, Batched, BatchedResults, Cotangents, JvpResult, Partial, Partials, Primitive,
    Tangents, TransposeArg, Trimmed,
};
use rules::{NOT_LINEAR, no_rules};
pub(crate) use rules::{with_cotangents, with_tangents};
pub use table::*;

/// Broad groups of primitives, by what their rules have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Family {
    /// One element of the result from one element of each operand.
    Elementwise,
    /// Moves elements without computing.
    Shape,
    /// Moves elements by computed indices.
    Indexing,
    /// Combines elements along axes, sorts, searches.
    Reduction,
    /// Sliding windows and convolution.
    Window,
    /// Products, factorisations, Fourier transforms.
    Linalg,
    /// Random bits and keys.
    Random,
    /// Calls, branches, loops, custom rules, placement.
    Control,
    /// Mutable references.
    State,
    /// Communication along named axes.
    Collective,
    /// Of another library: only its text is known.
    Foreign,
}

/// What the table says of a primitive.
#[derive(Clone, Copy, Debug)]
pub struct PrimInfo {
    /// The variant of [`Prim`].
    pub variant: &'static str,
    /// The name in the text.
    pub name: &'static str,
    /// Its group.
    pub family: Family,
    /// Numbers of operands and results; `n` is any.
    pub arity: &'static str,
    /// What it computes.
    pub doc: &'static str,
    /// Its parameters in the order in which they are printed.
    pub params: &'static [ParamInfo],
}

/// What the table says of a parameter.
#[derive(Clone, Copy, Debug)]
pub struct ParamInfo {
    /// The name in the text.
    pub name: &'static str,
    /// What kind of value it has.
    pub kind: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// When it is printed.
    pub printed: Printed,
}

/// When a parameter is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Printed {
    /// Always.
    Always,
    /// When it differs from its default.
    NonDefault,
    /// Never: it follows from the types, or means nothing here.
    Never,
}

/// A parameter that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Its name in the text.
    pub name: &'static str,
    /// What is expected, in plain words.
    pub message: String,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "parameter `{}`: {}", self.name, self.message)
    }
}

/// Parameters read from the text, by name; what is left over is unknown and ignored, as older text has more.
pub struct ParamReader<'a> {
    params: &'a [(String, ParamValue)],
}

impl<'a> ParamReader<'a> {
    /// Reads from these.
    pub fn new(params: &'a [(String, ParamValue)]) -> Self {
        ParamReader { params }
    }

    fn get(&self, name: &str) -> Option<&'a ParamValue> {
        self.params
            .iter()
            .find(|(key, _)| key == name)
            .map(|(_, value)| value)
    }

    /// A parameter that must be there, unless its type has a value for those that older text left out.
    ///
    /// # Errors
    /// When it is missing or has another type.
    pub fn required<T: ParamType>(&self, name: &'static str) -> Result<T, ParamError> {
        let result = match self.get(name) {
            Some(value) => T::from_value(value),
            None => {
                T::missing().ok_or_else(|| format!("{} is expected, and it is missing", T::KIND))
            }
        };
        result.map_err(|message| ParamError { name, message })
    }

    /// A parameter that is printed only when it differs from its default.
    ///
    /// # Errors
    /// When it has another type.
    pub fn optional<T: ParamType + Default>(&self, name: &'static str) -> Result<T, ParamError> {
        let value = self.get(name).map_or(Ok(T::default()), T::from_value);
        value.map_err(|message| ParamError { name, message })
    }
}

/// Whether a parameter that is only printed otherwise has its default.
pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// A parameter's name in the text: Rust keywords carry an underscore at the end.
pub(crate) const fn text_name(field: &'static str) -> &'static str {
    match field.as_bytes() {
        [.., b'_'] => field.split_at(field.len() - 1).0,
        _ => field,
    }
}

macro_rules! param_write {
    ($self:ident, $field:ident) => {
        Some((
            text_name(stringify!($field)),
            ParamType::to_value(&$self.$field),
        ))
    };
    ($self:ident, $field:ident elided) => {
        (!is_default(&$self.$field)).then(|| {
            (
                text_name(stringify!($field)),
                ParamType::to_value(&$self.$field),
            )
        })
    };
    ($self:ident, $field:ident hidden) => {
        None
    };
}

macro_rules! param_read {
    ($reader:ident, $field:ident) => {
        $reader.required(text_name(stringify!($field)))?
    };
    ($reader:ident, $field:ident elided) => {
        $reader.optional(text_name(stringify!($field)))?
    };
    ($reader:ident, $field:ident hidden) => {{
        let _ = $reader;
        Default::default()
    }};
}

macro_rules! param_visit {
    ($method:ident, $visitor:ident, $place:expr) => {
        ParamType::$method($place, $visitor);
    };
    ($method:ident, $visitor:ident, $place:expr, elided) => {
        ParamType::$method($place, $visitor);
    };
    ($method:ident, $visitor:ident, $place:expr, hidden) => {};
}

macro_rules! param_printed {
    () => {
        Printed::Always
    };
    (elided) => {
        Printed::NonDefault
    };
    (hidden) => {
        Printed::Never
    };
}

macro_rules! param_kind {
    ($ty:ty) => {
        <$ty as ParamType>::KIND
    };
    ($ty:ty, elided) => {
        <$ty as ParamType>::KIND
    };
    ($ty:ty, hidden) => {
        ""
    };
}

/// What a variant of [`Prim`] holds: the parameters, on the heap but for elementwise primitives, most of which have one at
/// most. So an equation stays small whatever the largest parameters are.
macro_rules! prim_payload {
    (Elementwise Ldexp) => {
        Box<Ldexp>
    };
    (Elementwise $variant:ident) => {
        $variant
    };
    ($family:ident $variant:ident) => {
        Box<$variant>
    };
}

macro_rules! prim_struct {
    ($(#[doc = $doc:literal])* $variant:ident) => {
        $(#[doc = $doc])*
        #[derive(Clone, Copy, Debug, Default, PartialEq, Hash)]
        pub struct $variant;

        impl PrimText for $variant {
            fn write(&self) -> Vec<(&str, ParamValue)> {
                Vec::new()
            }

            fn read(_reader: &ParamReader<'_>) -> Result<Self, ParamError> {
                Ok($variant)
            }

            fn visit<'a>(&'a self, _visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {}

            fn visit_mut(&mut self, _visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {}
        }
    };
    ($(#[doc = $doc:literal])* $variant:ident { $($(#[doc = $fdoc:literal])* $field:ident: $ty:ty $(= $mode:ident)?,)* }) => {
        $(#[doc = $doc])*
        #[derive(Clone, Debug, PartialEq, Hash)]
        pub struct $variant { $($(#[doc = $fdoc])* pub $field: $ty,)* }

        impl PrimText for $variant {
            fn write(&self) -> Vec<(&str, ParamValue)> {
                [$(param_write!(self, $field $($mode)?)),*].into_iter().flatten().collect()
            }

            fn read(reader: &ParamReader<'_>) -> Result<Self, ParamError> {
                Ok($variant { $($field: param_read!(reader, $field $($mode)?),)* })
            }

            fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
                let _ = &visitor;
                $(param_visit!(visit, visitor, &self.$field $(, $mode)?);)*
            }

            fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
                let _ = &visitor;
                $(param_visit!(visit_mut, visitor, &mut self.$field $(, $mode)?);)*
            }
        }
    };
}

/// What the table generates for each parameter struct.
trait PrimText: Sized {
    fn write(&self) -> Vec<(&str, ParamValue)>;
    fn read(reader: &ParamReader<'_>) -> Result<Self, ParamError>;
    fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr));
    fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr));
}

/// Generates the parameter structs, [`Prim`] and everything that walks it.
macro_rules! primitives {
    ($($family:ident { $(
        $(#[doc = $doc:literal])*
        $variant:ident $name:literal ($($arity:tt)*) $({ $($(#[doc = $fdoc:literal])* $field:ident: $ty:ty $(= $mode:ident)?,)* })?;
    )* })*) => {
        $($(
            $crate::prims::prim_struct! {
                $(#[doc = $doc])*
                $variant $({ $($(#[doc = $fdoc])* $field: $ty $(= $mode)?,)* })?
            }

            impl $variant {
                /// The name in the text.
                pub const NAME: &'static str = $name;
            }

            impl From<$variant> for Prim {
                fn from(params: $variant) -> Prim {
                    Prim::$variant(params.into())
                }
            }
        )*)*

        /// A primitive with its parameters.
        #[derive(Clone, Debug, PartialEq, Hash)]
        pub enum Prim {
            $($( $(#[doc = $doc])* $variant(prim_payload!($family $variant)), )*)*
            /// A primitive that is none of the table's: only its text is known.
            Foreign(Box<Foreign>),
        }

        impl Prim {
            /// Every primitive that has a meaning: all but [`Prim::Foreign`].
            pub const ALL: &'static [PrimInfo] = &[$($(PrimInfo {
                variant: stringify!($variant),
                name: $name,
                family: Family::$family,
                arity: stringify!($($arity)*),
                doc: concat!($($doc),*),
                params: &[$($(ParamInfo {
                    name: $crate::prims::text_name(stringify!($field)),
                    kind: param_kind!($ty $(, $mode)?),
                    doc: concat!($($fdoc),*),
                    printed: param_printed!($($mode)?),
                },)*)?],
            },)*)*];

            /// The name in the text.
            pub fn name(&self) -> &str {
                match self {
                    $($(Prim::$variant(_) => $name,)*)*
                    Prim::Foreign(foreign) => &foreign.name,
                }
            }

            /// The group.
            pub const fn family(&self) -> Family {
                match self {
                    $($(Prim::$variant(_) => Family::$family,)*)*
                    Prim::Foreign(_) => Family::Foreign,
                }
            }

            /// The printed parameters in order.
            pub fn params(&self) -> Vec<(&str, ParamValue)> {
                match self {
                    $($(Prim::$variant(params) => <$variant as PrimText>::write(params),)*)*
                    Prim::Foreign(foreign) => foreign.write(),
                }
            }

            /// The primitive `name` with parameters read from text; `None` when no primitive has this name.
            ///
            /// Hidden parameters are filled in by [`Prim::complete`] once the types are known.
            pub fn read(name: &str, params: &[(String, ParamValue)]) -> Option<Result<Prim, ParamError>> {
                let reader = ParamReader::new(params);
                match name {
                    $($($name => Some(<$variant as PrimText>::read(&reader).map(Prim::from)),)*)*
                    _ => None,
                }
            }

            /// Calls `visitor` with every sub-jaxpr of the parameters.
            pub fn visit<'a>(&'a self, visitor: &mut dyn FnMut(&'a ClosedJaxpr)) {
                match self {
                    $($(Prim::$variant(params) => <$variant as PrimText>::visit(params, visitor),)*)*
                    Prim::Foreign(foreign) => foreign.visit(visitor),
                }
            }

            /// Calls `visitor` with every sub-jaxpr of the parameters, replaceable.
            pub fn visit_mut(&mut self, visitor: &mut dyn FnMut(&mut ClosedJaxpr)) {
                match self {
                    $($(Prim::$variant(params) => <$variant as PrimText>::visit_mut(params, visitor),)*)*
                    Prim::Foreign(foreign) => foreign.visit_mut(visitor),
                }
            }

            /// The rules.
            pub fn rules(&self) -> &dyn Primitive {
                match self {
                    $($(Prim::$variant(params) => Borrow::<$variant>::borrow(params),)*)*
                    Prim::Foreign(foreign) => &**foreign,
                }
            }

            /// The rules, for completing parameters.
            pub(crate) fn rules_mut(&mut self) -> &mut dyn Primitive {
                match self {
                    $($(Prim::$variant(params) => BorrowMut::<$variant>::borrow_mut(params),)*)*
                    Prim::Foreign(foreign) => &mut **foreign,
                }
            }
        }
    };
}

use crate::jaxpr::{Aval, ClosedJaxpr};
pub(crate) use {
    param_kind, param_printed, param_read, param_visit, param_write, prim_payload, prim_struct,
    primitives,
};

const _: () = assert!(size_of::<Prim>() <= 40, "every equation has one");

impl Prim {
    /// Fills in hidden parameters that follow from the types of operands and results.
    pub fn complete(&mut self, operands: &[Aval], results: &[Aval]) {
        self.rules_mut().complete(operands, results);
    }
}
