//! Comparing what came out with what was recorded.

use std::fmt::{Debug, Display};

use jaxide_tree::{KeyPath, StructureError, StructureErrorKind};
use serde_json::Value as Json;

use crate::Outcome;
use crate::value::text;

pub(crate) fn equal<T: PartialEq + Debug>(what: &str, got: T, expected: T) -> Outcome {
    if got == expected {
        Ok(())
    } else {
        Err(format!("{what} is {got:?}, expected {expected:?}"))
    }
}

/// An error as the goldens describe one.
pub(crate) struct Failure {
    pub(crate) kind: &'static str,
    pub(crate) path: Option<KeyPath>,
    pub(crate) message: String,
}

impl Failure {
    pub(crate) fn new(kind: &'static str, error: &impl Display) -> Self {
        Failure {
            kind,
            path: None,
            message: error.to_string(),
        }
    }

    /// Checks the kind, the path, and that the message mentions all it must.
    pub(crate) fn check(&self, case: &Json) -> Outcome {
        let error = &case["error"];
        if error.is_null() {
            return Err(format!("unexpected error: {}", self.message));
        }
        equal("kind of error", self.kind, &text(&error["kind"]))?;
        for (name, value) in error["must_name"].as_object().expect("an object") {
            match (name.as_str(), value) {
                ("path", path) => {
                    let got = self.path.as_ref().map(ToString::to_string);
                    equal("path of error", got, Some(text(path)))?;
                    self.mentions(&format!("tree{}", text(path)))?;
                }
                ("got_is_leaf", is) => {
                    let says = self.message.contains("got a leaf");
                    equal(
                        "whether the message says it is a leaf",
                        says,
                        is.as_bool() == Some(true),
                    )?;
                }
                (_, Json::Array(items)) => items
                    .iter()
                    .try_for_each(|item| self.mentions(&plain(item)))?,
                (_, value) => self.mentions(&plain(value))?,
            }
        }
        Ok(())
    }

    fn mentions(&self, what: &str) -> Outcome {
        if self.message.contains(what) {
            Ok(())
        } else {
            Err(format!(
                "the message does not mention {what}: {}",
                self.message
            ))
        }
    }
}

impl From<StructureError> for Failure {
    fn from(error: StructureError) -> Self {
        let kind = match error.kind() {
            StructureErrorKind::Type { .. } => "type",
            StructureErrorKind::Length { .. } => "length",
            StructureErrorKind::Keys { .. } => "keys",
            StructureErrorKind::Metadata { .. } => "metadata",
            StructureErrorKind::TooFewLeaves { .. } => "too_few_leaves",
            StructureErrorKind::TooManyLeaves { .. } => "too_many_leaves",
            StructureErrorKind::Transpose { .. } => "transpose_mismatch",
            StructureErrorKind::UnsortableKeys { .. } => "unsortable_keys",
            StructureErrorKind::EmptyReduce => "empty_reduce",
            StructureErrorKind::NotANode { .. } => "not_a_node",
            other => panic!("a kind that is not in the goldens: {other:?}"),
        };
        Failure {
            kind,
            path: Some(error.path().clone()),
            message: error.to_string(),
        }
    }
}

/// A value as a message writes it.
fn plain(json: &Json) -> String {
    match json {
        Json::String(s) => s.clone(),
        other => other.to_string(),
    }
}
