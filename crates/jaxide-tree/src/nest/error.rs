//! How nested structures can differ.

use std::error::Error;
use std::fmt::{self, Display};

use crate::{Key, KeyPath};

/// Two nested structures differ, or leaves do not fit into one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: NestErrorKind,
    path: KeyPath,
    skeletons: Option<(String, String)>,
}

/// How two nested structures differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum NestErrorKind {
    /// Containers of different types.
    Type {
        /// The type in the first structure.
        expected: String,
        /// The type in the other one.
        got: String,
    },
    /// Containers of different lengths.
    Length {
        /// The length in the first structure.
        expected: usize,
        /// The length in the other one.
        got: usize,
    },
    /// Mappings with different keys.
    Keys {
        /// The keys in the first structure.
        expected: Vec<String>,
        /// The keys in the other one.
        got: Vec<String>,
    },
    /// Keys of the shallow structure that the deep one does not have.
    MissingKeys {
        /// The keys.
        missing: Vec<String>,
    },
    /// A container in the one structure and a leaf in the other.
    SequenceVsLeaf {
        /// The type of the container.
        sequence: String,
        /// The type of the leaf.
        leaf: String,
    },
    /// Another number of values than leaves.
    Count {
        /// The number of leaves.
        expected: usize,
        /// The number of values.
        got: usize,
    },
    /// Keys of a mapping that have no order.
    UnsortableKeys {
        /// One of the keys.
        left: Key,
        /// A key that has no order with it.
        right: Key,
    },
    /// No structure was given to a function of several structures.
    NoStructures,
}

impl NestError {
    pub(crate) fn new(kind: NestErrorKind, path: KeyPath) -> Self {
        NestError(Box::new(Inner {
            kind,
            path,
            skeletons: None,
        }))
    }

    /// How the structures differ.
    pub fn kind(&self) -> &NestErrorKind {
        &self.0.kind
    }

    /// Where they differ.
    pub fn path(&self) -> &KeyPath {
        &self.0.path
    }

    /// The shapes of both structures, with dots for leaves, if two structures were compared.
    pub fn skeletons(&self) -> Option<(&str, &str)> {
        self.0
            .skeletons
            .as_ref()
            .map(|(first, second)| (first.as_str(), second.as_str()))
    }

    /// The error with a name for the leaf of a [`NestErrorKind::SequenceVsLeaf`], which stands at the error's
    /// path. For trees whose leaf type is an enum of several kinds.
    #[must_use]
    pub fn name_leaf(mut self, name: impl FnOnce(&KeyPath) -> String) -> Self {
        let inner = &mut *self.0;
        if let NestErrorKind::SequenceVsLeaf { leaf, .. } = &mut inner.kind {
            *leaf = name(&inner.path);
        }
        self
    }

    pub(crate) fn with_skeletons(mut self, first: String, second: String) -> Self {
        self.0.skeletons = Some((first, second));
        self
    }
}

impl Display for NestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = format!("structure{}", self.path());
        match self.kind() {
            NestErrorKind::Type { expected, got } => {
                write!(
                    f,
                    "different types at {place}: expected {expected}, got {got}"
                )?;
            }
            NestErrorKind::Length { expected, got } => {
                write!(
                    f,
                    "different lengths at {place}: expected {expected}, got {got}"
                )?;
            }
            NestErrorKind::Keys { expected, got } => write!(
                f,
                "different keys at {place}: expected [{}], got [{}]",
                expected.join(", "),
                got.join(", ")
            )?,
            NestErrorKind::MissingKeys { missing } => {
                write!(f, "missing keys at {place}: [{}]", missing.join(", "))?;
            }
            NestErrorKind::SequenceVsLeaf { sequence, leaf } => {
                write!(
                    f,
                    "at {place} one is a {sequence}, the other a leaf of type {leaf}"
                )?;
            }
            NestErrorKind::Count { expected, got } => {
                write!(
                    f,
                    "the structure has {expected} leaves, but there are {got} values"
                )?;
            }
            NestErrorKind::UnsortableKeys { left, right } => {
                write!(
                    f,
                    "the keys {left} and {right} of the mapping at {place} have no order"
                )?;
            }
            NestErrorKind::NoStructures => f.write_str("there must be at least one structure")?,
        }
        match self.skeletons() {
            Some((first, second)) => {
                write!(f, "\nfirst structure:  {first}\nsecond structure: {second}")
            }
            None => Ok(()),
        }
    }
}

impl Error for NestError {}
