//! Errors that say where two structures differ, and how.

use std::cmp::Ordering;
use std::error::Error;
use std::fmt::{self, Display};

use crate::{Key, KeyEntry, KeyPath};

/// Two structures do not fit: which place, which kind of difference, what was expected and what was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StructureError(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    kind: StructureErrorKind,
    path: KeyPath,
    subject: Option<String>,
}

/// How two structures differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StructureErrorKind {
    /// Containers of different types, or a leaf in the place of a container.
    Type {
        /// The type that should be there.
        expected: String,
        /// The type that is there.
        got: String,
        /// If a leaf is there, which one, counted over the whole tree.
        got_leaf: Option<usize>,
    },
    /// Sequences of different lengths.
    Length {
        /// The type of both.
        container: String,
        /// The length that there should be.
        expected: usize,
        /// The length that there is.
        got: usize,
    },
    /// Containers with different numbers of named children.
    Keys {
        /// The type of both.
        container: String,
        /// The children that there should be.
        expected: Vec<KeyEntry>,
        /// The children that there are.
        got: Vec<KeyEntry>,
    },
    /// Containers of one type with different keys or static values.
    Metadata {
        /// The type of both.
        container: String,
        /// The metadata that there should be.
        expected: String,
        /// The metadata that there is.
        got: String,
    },
    /// Too few leaves to rebuild a tree.
    TooFewLeaves {
        /// How many the treedef has.
        expected: usize,
        /// How many there were.
        got: usize,
    },
    /// More leaves than a tree has places.
    TooManyLeaves {
        /// How many the treedef has.
        expected: usize,
    },
    /// A leaf or a key that cannot become a value of the type that is to be rebuilt.
    Value {
        /// What the type needs.
        expected: String,
        /// What is there.
        got: String,
    },
    /// A tree that is not an outer tree of inner trees.
    Transpose {
        /// The composition of outer and inner treedef.
        expected: String,
        /// The treedef of the tree.
        got: String,
    },
    /// Keys of one map that have no order, such as a string and a number.
    UnsortableKeys {
        /// One of the keys.
        left: Key,
        /// A key that has no order with it.
        right: Key,
    },
    /// A reduction without an initial value, over a tree without leaves.
    EmptyReduce,
    /// No tree, where the structure of the first is that of the result.
    NoTrees,
    /// A leaf that was to be taken apart.
    NotANode {
        /// The type of the leaf.
        got: String,
    },
}

impl StructureError {
    /// An error at `path`.
    pub fn new(kind: StructureErrorKind, path: KeyPath) -> Self {
        StructureError(Box::new(Inner {
            kind,
            path,
            subject: None,
        }))
    }

    /// How the structures differ.
    pub fn kind(&self) -> &StructureErrorKind {
        &self.0.kind
    }

    /// Where they differ.
    pub fn path(&self) -> &KeyPath {
        &self.0.path
    }

    /// What should be there, as text.
    pub fn expected(&self) -> String {
        use StructureErrorKind::*;
        match self.kind() {
            Type { expected, .. }
            | Metadata { expected, .. }
            | Value { expected, .. }
            | Transpose { expected, .. } => expected.clone(),
            Length { expected, .. }
            | TooFewLeaves { expected, .. }
            | TooManyLeaves { expected } => expected.to_string(),
            Keys { expected, .. } => join(expected),
            UnsortableKeys { left, .. } => format!("a key comparable with {left}"),
            EmptyReduce => "at least one leaf".into(),
            NoTrees => "at least one tree".into(),
            NotANode { .. } => "a container".into(),
        }
    }

    /// What is there, as text.
    pub fn got(&self) -> String {
        use StructureErrorKind::*;
        match self.kind() {
            Type { got, .. }
            | Metadata { got, .. }
            | Value { got, .. }
            | Transpose { got, .. }
            | NotANode { got } => got.clone(),
            Length { got, .. } | TooFewLeaves { got, .. } => got.to_string(),
            TooManyLeaves { .. } => "more".into(),
            Keys { got, .. } => join(got),
            UnsortableKeys { right, .. } => right.to_string(),
            EmptyReduce | NoTrees => "none".into(),
        }
    }

    /// The children that only one of the two containers of a [`StructureErrorKind::Keys`] error has.
    pub fn difference(&self) -> Vec<KeyEntry> {
        let StructureErrorKind::Keys { expected, got, .. } = self.kind() else {
            return Vec::new();
        };
        let missing = expected.iter().filter(|key| !got.contains(key));
        let added = got.iter().filter(|key| !expected.contains(key));
        let mut difference: Vec<_> = missing.chain(added).cloned().collect();
        difference.sort();
        difference
    }

    /// The error, said of `subject` (`"vmap in_axes"`), which stands before the path in the message.
    #[must_use]
    pub fn about(mut self, subject: impl Into<String>) -> Self {
        self.0.subject = Some(subject.into());
        self
    }

    /// The error, one step further from the root.
    #[must_use]
    pub fn under(mut self, entry: KeyEntry) -> Self {
        self.0.path = std::iter::once(entry)
            .chain(self.0.path.iter().cloned())
            .collect();
        self
    }

    /// The error of a container in the place of a leaf, if this is the one of the leaf in the place of the container,
    /// from a comparison that was made the other way round.
    pub(crate) fn container_for_leaf(mut self) -> Option<Self> {
        match &mut self.0.kind {
            StructureErrorKind::Type {
                expected,
                got,
                got_leaf: leaf @ Some(_),
            } => {
                std::mem::swap(expected, got);
                *leaf = None;
                Some(self)
            }
            _ => None,
        }
    }

    /// Checks that there are as many leaves as places.
    ///
    /// # Errors
    ///
    /// If there are fewer or more.
    pub(crate) fn check_count(expected: usize, got: usize) -> Result<(), Self> {
        let kind = match got.cmp(&expected) {
            Ordering::Less => StructureErrorKind::TooFewLeaves { expected, got },
            Ordering::Equal => return Ok(()),
            Ordering::Greater => StructureErrorKind::TooManyLeaves { expected },
        };
        Err(StructureError::new(kind, KeyPath::root()))
    }

    /// The error with a name for the leaf that stands in the place of a container: `name` is given the
    /// number of the leaf. For trees whose leaf type is an enum of several kinds.
    #[must_use]
    pub fn name_leaf(mut self, name: impl FnOnce(usize) -> String) -> Self {
        match &mut self.0.kind {
            StructureErrorKind::Type {
                got,
                got_leaf: Some(leaf),
                ..
            } => *got = name(*leaf),
            StructureErrorKind::NotANode { got } => *got = name(0),
            _ => {}
        }
        self
    }
}

impl Display for StructureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        use StructureErrorKind::*;
        let subject = self.0.subject.as_deref().unwrap_or("tree");
        let place = format!("{subject}{}", self.path());
        match self.kind() {
            Type {
                expected,
                got,
                got_leaf: None,
            } => {
                write!(
                    f,
                    "different types at {place}: expected {expected}, got {got}"
                )
            }
            Type {
                expected,
                got,
                got_leaf: Some(_),
            } => {
                let of_type = if got == UNKNOWN_LEAF {
                    String::new()
                } else {
                    format!(" of type {got}")
                };
                write!(
                    f,
                    "different types at {place}: expected {expected}, got a leaf{of_type}"
                )
            }
            Length {
                container,
                expected,
                got,
            } => write!(
                f,
                "different lengths of {container} at {place}: expected {expected}, got {got}"
            ),
            Keys {
                container,
                expected,
                got,
            } => write!(
                f,
                "different numbers of children of {container} at {place}: expected {} ({}), got {} ({}); \
                 only one of them has {}",
                expected.len(),
                join(expected),
                got.len(),
                join(got),
                join(&self.difference()),
            ),
            Metadata {
                container,
                expected,
                got,
            } => write!(
                f,
                "different metadata of {container} at {place}: expected {expected}, got {got}"
            ),
            TooFewLeaves { expected, got } => {
                write!(
                    f,
                    "too few leaves for {subject}: expected {expected}, got {got}"
                )
            }
            TooManyLeaves { expected } => {
                write!(f, "too many leaves for {subject}: expected {expected}")
            }
            Value { expected, got } => {
                write!(f, "cannot rebuild {place}: expected {expected}, got {got}")
            }
            Transpose { expected, got } => {
                write!(
                    f,
                    "cannot transpose {subject}: expected {expected}, got {got}"
                )
            }
            UnsortableKeys { left, right } => {
                write!(
                    f,
                    "the keys {left} and {right} of the map at {place} have no order"
                )
            }
            EmptyReduce => {
                write!(
                    f,
                    "cannot reduce {subject}: it has no leaves, and there is no initial value"
                )
            }
            NoTrees => f.write_str("there is no tree whose structure the result could have"),
            NotANode { got } => write!(f, "cannot take {place} apart: {got} is a leaf"),
        }
    }
}

impl Error for StructureError {}

/// What a leaf is called when nothing but its place is known.
pub(crate) const UNKNOWN_LEAF: &str = "leaf";

fn join(keys: &[KeyEntry]) -> String {
    keys.iter()
        .map(KeyEntry::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}
