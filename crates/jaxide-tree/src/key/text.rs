//! Texts of keys.

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display};
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

/// The text of a [`Key`](super::Key): of the program, or shared by all treedefs and paths that have it.
#[derive(Clone)]
pub enum KeyText {
    /// A text of the program.
    Static(&'static str),
    /// A text made at run time.
    Shared(Arc<str>),
}

impl KeyText {
    /// The text.
    #[inline]
    pub fn as_str(&self) -> &str {
        match self {
            KeyText::Static(text) => text,
            KeyText::Shared(text) => text,
        }
    }
}

impl Deref for KeyText {
    type Target = str;

    #[inline]
    fn deref(&self) -> &str {
        self.as_str()
    }
}

impl PartialEq for KeyText {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for KeyText {}

impl Ord for KeyText {
    fn cmp(&self, other: &Self) -> Ordering {
        self.as_str().cmp(other.as_str())
    }
}

impl PartialOrd for KeyText {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for KeyText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl Display for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self)
    }
}

impl Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Debug::fmt(self.as_str(), f)
    }
}

impl From<&'static str> for KeyText {
    fn from(text: &'static str) -> Self {
        KeyText::Static(text)
    }
}

impl From<String> for KeyText {
    fn from(text: String) -> Self {
        KeyText::Shared(text.into())
    }
}

impl From<Arc<str>> for KeyText {
    fn from(text: Arc<str>) -> Self {
        KeyText::Shared(text)
    }
}
