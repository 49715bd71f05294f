//! Where in a graph of modules something is.

use std::borrow::Cow;
use std::fmt;
use std::ops::Deref;

use jaxide::tree::KeyEntry;

/// One step of a [`Path`]: the name of an attribute, or a place in a list.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Key {
    /// A place in a list.
    Index(usize),
    /// The name of an attribute, or a key of a dict.
    Name(Cow<'static, str>),
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Index(index) => write!(f, "{index}"),
            Key::Name(name) => f.write_str(name),
        }
    }
}

impl From<usize> for Key {
    fn from(index: usize) -> Self {
        Key::Index(index)
    }
}

impl From<&'static str> for Key {
    fn from(name: &'static str) -> Self {
        Key::Name(Cow::Borrowed(name))
    }
}

impl From<String> for Key {
    fn from(name: String) -> Self {
        Key::Name(Cow::Owned(name))
    }
}

impl From<&KeyEntry> for Key {
    fn from(entry: &KeyEntry) -> Self {
        match entry {
            KeyEntry::Seq(index) | KeyEntry::Flat(index) => Key::Index(*index),
            KeyEntry::Attr(name) => Key::Name(name.clone()),
            KeyEntry::Dict(_) => {
                let plain = entry.simple();
                match plain.parse() {
                    Ok(index) => Key::Index(index),
                    Err(_) => Key::Name(Cow::Owned(plain)),
                }
            }
        }
    }
}

impl Key {
    /// The key as Python writes it: names in quotes.
    pub(crate) fn repr(&self) -> String {
        match self {
            Key::Index(index) => index.to_string(),
            Key::Name(name) => format!("'{name}'"),
        }
    }
}

/// The way from the root of a graph to an attribute. `Display` writes `blocks/0/linear/kernel`, and a text is read the same
/// way: parts that are numbers are places in lists.
///
/// ```
/// use jaxide_nnx::{Key, Path};
/// let path = Path::from("blocks/0/kernel");
/// assert_eq!(path[1], Key::Index(0));
/// assert_eq!(path.to_string(), "blocks/0/kernel");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Path(Vec<Key>);

impl Path {
    /// The path of the root.
    pub const fn root() -> Self {
        Path(Vec::new())
    }

    /// The path one step below this one.
    #[must_use]
    pub fn child(&self, key: impl Into<Key>) -> Self {
        let mut keys = self.0.clone();
        keys.push(key.into());
        Path(keys)
    }

    pub(crate) fn push(&mut self, key: Key) {
        self.0.push(key);
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
    }

    /// The keys with points between them.
    pub(crate) fn dotted(&self) -> String {
        let keys: Vec<String> = self.0.iter().map(Key::to_string).collect();
        keys.join(".")
    }

    /// The path as Python's tuple.
    pub(crate) fn repr(&self) -> String {
        let keys: Vec<String> = self.0.iter().map(Key::repr).collect();
        match &keys[..] {
            [key] => format!("({key},)"),
            keys => format!("({})", keys.join(", ")),
        }
    }
}

impl Deref for Path {
    type Target = [Key];

    fn deref(&self) -> &[Key] {
        &self.0
    }
}

impl From<Vec<Key>> for Path {
    fn from(keys: Vec<Key>) -> Self {
        Path(keys)
    }
}

impl From<&str> for Path {
    fn from(text: &str) -> Self {
        let key = |part: &str| match part.parse() {
            Ok(index) => Key::Index(index),
            Err(_) => Key::Name(Cow::Owned(part.to_owned())),
        };
        Path(
            text.split('/')
                .filter(|part| !part.is_empty())
                .map(key)
                .collect(),
        )
    }
}

impl FromIterator<Key> for Path {
    fn from_iter<I: IntoIterator<Item = Key>>(keys: I) -> Self {
        Path(keys.into_iter().collect())
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, key) in self.0.iter().enumerate() {
            if place > 0 {
                f.write_str("/")?;
            }
            write!(f, "{key}")?;
        }
        Ok(())
    }
}
