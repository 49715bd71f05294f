//! Prefixes: trees that end where another one goes on.

use super::TreeDef;
use crate::error::UNKNOWN_LEAF;
use crate::{Head, KeyEntry, KeyPath, NodeStyle, StructureError, StructureErrorKind};

/// A subtree, as a range of nodes and of leaves of the tree it is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Span {
    pub(crate) node: usize,
    /// The first leaf.
    pub leaf: usize,
    /// The number of leaves.
    pub leaves: usize,
}

impl TreeDef {
    /// Whether `full` has this structure, with a subtree in the place of each leaf.
    pub fn is_prefix_of(&self, full: &TreeDef) -> bool {
        self.flatten_up_to(full).is_ok()
    }

    /// The subtrees of `full` that stand at the leaves of this treedef, in order.
    ///
    /// # Errors
    ///
    /// The first place where this is not a prefix of `full`.
    pub fn flatten_up_to(&self, full: &TreeDef) -> Result<Vec<Span>, StructureError> {
        let mut spans = Vec::with_capacity(self.num_leaves());
        if self.align(0, full, 0, &mut 0, &mut spans) {
            return Ok(spans);
        }
        let mut errors = self.prefix_errors(full);
        debug_assert!(!errors.is_empty(), "a mismatch has an explanation");
        Err(errors.swap_remove(0))
    }

    /// The value of each leaf of `full`, when each leaf of this prefix has the given one.
    ///
    /// # Errors
    ///
    /// If this is not a prefix of `full`, or `leaves` are not as many as it has.
    pub fn broadcast<P: Clone>(
        &self,
        leaves: &[P],
        full: &TreeDef,
    ) -> Result<Vec<P>, StructureError> {
        let spans = self.flatten_up_to(full)?;
        StructureError::check_count(spans.len(), leaves.len())?;
        let mut all = Vec::with_capacity(full.num_leaves());
        for (leaf, span) in leaves.iter().zip(spans) {
            all.extend(std::iter::repeat_n(leaf, span.leaves).cloned());
        }
        Ok(all)
    }

    /// The structure of a subtree found by [`TreeDef::flatten_up_to`].
    pub fn at_span(&self, span: Span) -> TreeDef {
        self.subtree(span.node)
    }

    /// Every place where this treedef is not a prefix of `full`; none below a place that is reported.
    ///
    /// A leaf in the place of a container is called `leaf` here; [`StructureError::name_leaf`] can say more.
    pub fn prefix_errors(&self, full: &TreeDef) -> Vec<StructureError> {
        let mut errors = Vec::new();
        self.collect_errors(0, full, 0, &mut Vec::new(), &mut errors);
        errors
    }

    /// Every place where `other` has another structure than this treedef; none if they are equal.
    ///
    /// ```
    /// use jaxide_tree as tree;
    ///
    /// let carry = tree::structure::<f32, _>(&(1.0, vec![2.0]));
    /// let result = tree::structure::<f32, _>(&([1.0, 2.0], [3.0, 4.0]));
    /// let lines: Vec<_> = carry.differences(&result).iter().map(ToString::to_string).collect();
    /// assert_eq!(lines, [
    ///     "different lengths of list at tree[1]: expected 1, got 2",
    ///     "different types at tree[0]: expected leaf, got list",
    /// ]);
    /// ```
    pub fn differences(&self, other: &TreeDef) -> Vec<StructureError> {
        let mut differences = self.prefix_errors(other);
        // Where this tree ends and the other goes on, this one is a prefix. Everything else has been found.
        let reversed = other.prefix_errors(self).into_iter();
        differences.extend(reversed.filter_map(StructureError::container_for_leaf));
        differences
    }

    fn align(
        &self,
        index: usize,
        full: &TreeDef,
        full_index: usize,
        leaf: &mut usize,
        spans: &mut Vec<Span>,
    ) -> bool {
        let Some(head) = self.head(index) else {
            let leaves = full.at(full_index).leaves as usize;
            spans.push(Span {
                node: full_index,
                leaf: *leaf,
                leaves,
            });
            *leaf += leaves;
            return true;
        };
        full.head(full_index).is_some_and(|full| head.admits(full))
            && self.at(index).arity == full.at(full_index).arity
            && self
                .child_indices(index)
                .zip(full.child_indices(full_index))
                .all(|(a, b)| self.align(a, full, b, leaf, spans))
    }

    fn collect_errors(
        &self,
        index: usize,
        full: &TreeDef,
        full_index: usize,
        path: &mut Vec<KeyEntry>,
        errors: &mut Vec<StructureError>,
    ) {
        let Some(head) = self.head(index) else { return };
        let here = KeyPath::from(path.clone());
        let Some(full_head) = full.head(full_index) else {
            let kind = StructureErrorKind::Type {
                expected: head.type_name().into(),
                got: UNKNOWN_LEAF.into(),
                got_leaf: Some(full.leaves_before(full_index)),
            };
            return errors.push(StructureError::new(kind, here));
        };
        let counts = (self.at(index).arity(), full.at(full_index).arity());
        let difference = head_difference(head, counts.0, full_head, counts.1, || {
            (self.entries(index), full.entries(full_index))
        });
        if let Some(kind) = difference {
            return errors.push(StructureError::new(kind, here));
        }
        let children = self
            .child_indices(index)
            .zip(full.child_indices(full_index));
        for (i, (child, full_child)) in children.enumerate() {
            path.push(head.entry(i));
            self.collect_errors(child, full, full_child, path, errors);
            path.pop();
        }
    }
}

/// How two containers differ, leaving aside what is in them: by type, by length, by keys, by metadata.
pub(crate) fn head_difference(
    head: &Head,
    len: usize,
    got: &Head,
    got_len: usize,
    keys: impl FnOnce() -> (Vec<KeyEntry>, Vec<KeyEntry>),
) -> Option<StructureErrorKind> {
    if !head.admits_type(got) {
        return Some(StructureErrorKind::Type {
            expected: head.type_name().into(),
            got: got.type_name().into(),
            got_leaf: None,
        });
    }
    let container = head.type_name().to_string();
    if len != got_len {
        if head.is_sequence() {
            return Some(StructureErrorKind::Length {
                container,
                expected: len,
                got: got_len,
            });
        }
        let (expected, got) = keys();
        return Some(StructureErrorKind::Keys {
            container,
            expected,
            got,
        });
    }
    if !head.admits(got) {
        let (mut expected, mut got) = (head.metadata(), got.metadata());
        if expected == got || head.is_pattern() {
            // It is the names of the children that differ.
            let (mine, theirs) = keys();
            (expected, got) = (names(&mine), names(&theirs));
        }
        return Some(StructureErrorKind::Metadata {
            container,
            expected,
            got,
        });
    }
    None
}

fn names(entries: &[KeyEntry]) -> String {
    entries
        .iter()
        .map(KeyEntry::to_string)
        .collect::<Vec<_>>()
        .join(" ")
}

impl Head {
    /// Whether the container is a sequence, which differs from another one by its length alone.
    fn is_sequence(&self) -> bool {
        match self {
            Head::Tuple | Head::List => true,
            Head::None | Head::Dict(_) | Head::OrderedDict(_) => false,
            Head::Struct(s) => s.node_type().style() == NodeStyle::NamedTuple,
        }
    }
}
