//! Keys of maps.

mod text;
mod types;

use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, Write};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use crate::repr;

pub use text::KeyText;

/// A key of a map, as a treedef stores it.
///
/// `Display` prints it as Python does (`'a'`, `3`, `True`, `(1, 'x')`). `Ord` orders numbers and booleans
/// among themselves by value, strings by code point and tuples element by element, as Python does. Where
/// Python has no order (a string and a number) `Ord` is still total; [`Key::order`] tells the two apart.
#[derive(Clone, PartialEq, Eq)]
pub enum Key {
    /// `False` or `True`.
    Bool(bool),
    /// An integer.
    Int(i128),
    /// A string.
    Str(KeyText),
    /// A tuple of keys.
    Tuple(Box<[Key]>),
}

impl Key {
    /// The order of two keys in Python, or `None` where it has none, as between a string and a number.
    pub fn order(&self, other: &Key) -> Option<Ordering> {
        match (self, other) {
            (Key::Str(a), Key::Str(b)) => Some(a.cmp(b)),
            (Key::Tuple(a), Key::Tuple(b)) => match a.iter().zip(b).find(|(a, b)| a != b) {
                Some((a, b)) => a.order(b),
                None => Some(a.len().cmp(&b.len())),
            },
            (a, b) => match (a.number(), b.number()) {
                // `True` and `1` are one key in Python and two here, hence the tie.
                (Some(x), Some(y)) => Some(x.cmp(&y).then(a.rank().cmp(&b.rank()))),
                _ => None,
            },
        }
    }

    /// The key as `str` prints it in Python: a string without its quotes.
    pub fn plain(&self) -> String {
        match self {
            Key::Str(text) => text.to_string(),
            key => key.to_string(),
        }
    }

    fn number(&self) -> Option<i128> {
        match self {
            Key::Bool(b) => Some(i128::from(*b)),
            Key::Int(i) => Some(*i),
            Key::Str(_) | Key::Tuple(_) => None,
        }
    }

    fn rank(&self) -> u8 {
        match self {
            Key::Bool(_) => 0,
            Key::Int(_) => 1,
            Key::Str(_) => 2,
            Key::Tuple(_) => 3,
        }
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Key::Tuple(a), Key::Tuple(b)) => a.cmp(b),
            (a, b) => a.order(b).unwrap_or_else(|| a.rank().cmp(&b.rank())),
        }
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Key::Bool(b) => b.hash_key(state),
            Key::Int(i) => i.hash_key(state),
            Key::Str(s) => hash_text(s, state),
            Key::Tuple(keys) => {
                hash_tuple(keys.len(), state);
                keys.iter().for_each(|key| key.hash(state));
            }
        }
    }
}

impl Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Key::Bool(true) => f.write_str("True"),
            Key::Bool(false) => f.write_str("False"),
            Key::Int(i) => write!(f, "{i}"),
            Key::Str(s) => repr::write_str(f, s),
            Key::Tuple(keys) => repr::write_tuple(f, keys.iter(), |f, key| write!(f, "{key}")),
        }
    }
}

impl Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// Types that can be the keys of a map in a pytree.
///
/// The order of a type (`Ord`) must be the order of its [`Key`]s, or a map would visit its children in
/// another order than the one its treedef states.
pub trait DictKey: Sized {
    /// The key, as a treedef stores it.
    fn to_key(&self) -> Key;

    /// The value that `key` stands for, if it is one of this type.
    fn from_key(key: &Key) -> Option<Self>;

    /// Whether `self.to_key() == *key`, without building a key.
    fn is_key(&self, key: &Key) -> bool {
        self.to_key() == *key
    }

    /// Hashes as `self.to_key()` does, without building a key.
    fn hash_key<H: Hasher>(&self, state: &mut H) {
        self.to_key().hash(state);
    }
}

impl From<&'static str> for Key {
    fn from(text: &'static str) -> Self {
        text.to_key()
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Key::Str(text.into())
    }
}

impl From<Arc<str>> for Key {
    fn from(text: Arc<str>) -> Self {
        Key::Str(text.into())
    }
}

impl From<i64> for Key {
    fn from(i: i64) -> Self {
        i.to_key()
    }
}

impl From<i32> for Key {
    fn from(i: i32) -> Self {
        i.to_key()
    }
}

impl From<bool> for Key {
    fn from(b: bool) -> Self {
        b.to_key()
    }
}

fn hash_text<H: Hasher>(text: &str, state: &mut H) {
    state.write_u8(2);
    state.write(text.as_bytes());
    state.write_usize(text.len());
}

fn hash_tuple<H: Hasher>(len: usize, state: &mut H) {
    state.write_u8(3);
    state.write_usize(len);
}

/// Writes `keys` as a Python list, `['a', 'b']`.
pub(crate) fn write_list(out: &mut impl Write, keys: &[Key]) -> fmt::Result {
    out.write_char('[')?;
    for (i, key) in keys.iter().enumerate() {
        write!(out, "{}{key}", if i > 0 { ", " } else { "" })?;
    }
    out.write_char(']')
}
