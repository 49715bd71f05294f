//! Key paths: where in a tree a leaf is.

use std::borrow::Cow;
use std::fmt::{self, Display};
use std::ops::Deref;

use crate::Key;

/// One step of a [`KeyPath`]. `Display` prints it as it would be written to go there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyEntry {
    /// A place in a sequence, `[0]`.
    Seq(usize),
    /// A key of a map, `['a']`.
    Dict(Key),
    /// A field, `.w`.
    Attr(Cow<'static, str>),
    /// A child of a container that does not name its children, `[<flat index 0>]`.
    Flat(usize),
}

impl KeyEntry {
    /// The entry without brackets, dots and quotes.
    pub fn simple(&self) -> String {
        match self {
            KeyEntry::Seq(i) | KeyEntry::Flat(i) => i.to_string(),
            KeyEntry::Dict(key) => key.plain(),
            KeyEntry::Attr(name) => name.to_string(),
        }
    }
}

impl Display for KeyEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            KeyEntry::Seq(i) => write!(f, "[{i}]"),
            KeyEntry::Dict(key) => write!(f, "[{key}]"),
            KeyEntry::Attr(name) => write!(f, ".{name}"),
            KeyEntry::Flat(i) => write!(f, "[<flat index {i}>]"),
        }
    }
}

/// The way from the root of a tree to one of its nodes. `Display` prints it as JAX's `keystr`.
///
/// ```
/// use jaxide_tree as tree;
///
/// let paths = tree::structure::<f32, _>(&(1.0, vec![2.0, 3.0])).key_paths();
/// assert_eq!(paths[2].to_string(), "[1][1]");
/// assert_eq!(paths[2].simple("/"), "1/1");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<KeyEntry>);

impl KeyPath {
    /// The path of the root.
    pub const fn root() -> Self {
        KeyPath(Vec::new())
    }

    /// The path one step below this one.
    #[must_use]
    pub fn child(&self, entry: KeyEntry) -> Self {
        let mut entries = Vec::with_capacity(self.0.len() + 1);
        entries.extend_from_slice(&self.0);
        entries.push(entry);
        KeyPath(entries)
    }

    /// The path in today's default notation, `.layers[0].w`.
    pub fn keystr(&self) -> String {
        self.to_string()
    }

    /// The path in JAX's simple notation: bare entries joined by `separator`, `layers/0/w`.
    ///
    /// It is shorter than the default, and ambiguous: `0` may be a place in a list, or the key `0` or `'0'`
    /// of a map.
    pub fn simple(&self, separator: &str) -> String {
        self.0
            .iter()
            .map(KeyEntry::simple)
            .collect::<Vec<_>>()
            .join(separator)
    }
}

impl Deref for KeyPath {
    type Target = [KeyEntry];

    fn deref(&self) -> &[KeyEntry] {
        &self.0
    }
}

impl From<Vec<KeyEntry>> for KeyPath {
    fn from(entries: Vec<KeyEntry>) -> Self {
        KeyPath(entries)
    }
}

impl FromIterator<KeyEntry> for KeyPath {
    fn from_iter<I: IntoIterator<Item = KeyEntry>>(entries: I) -> Self {
        KeyPath(entries.into_iter().collect())
    }
}

impl Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|entry| write!(f, "{entry}"))
    }
}
