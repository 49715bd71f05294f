//! Keys of maps.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt::{self, Debug, Display, Write};
use std::hash::{Hash, Hasher};

use crate::repr;

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
    Str(Cow<'static, str>),
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

impl DictKey for Key {
    fn to_key(&self) -> Key {
        self.clone()
    }
    fn from_key(key: &Key) -> Option<Self> {
        Some(key.clone())
    }
    fn is_key(&self, key: &Key) -> bool {
        self == key
    }
    fn hash_key<H: Hasher>(&self, state: &mut H) {
        self.hash(state);
    }
}

impl DictKey for bool {
    fn to_key(&self) -> Key {
        Key::Bool(*self)
    }
    fn from_key(key: &Key) -> Option<Self> {
        match key {
            Key::Bool(b) => Some(*b),
            _ => None,
        }
    }
    fn is_key(&self, key: &Key) -> bool {
        matches!(key, Key::Bool(b) if b == self)
    }
    fn hash_key<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
        state.write_u8(u8::from(*self));
    }
}

macro_rules! integer_keys {
    ($($t:ty)*) => {$(
        impl DictKey for $t {
            fn to_key(&self) -> Key {
                Key::Int(*self as i128)
            }
            fn from_key(key: &Key) -> Option<Self> {
                match key {
                    Key::Int(i) => Self::try_from(*i).ok(),
                    _ => None,
                }
            }
            fn is_key(&self, key: &Key) -> bool {
                matches!(key, Key::Int(i) if *i == *self as i128)
            }
            fn hash_key<H: Hasher>(&self, state: &mut H) {
                state.write_u8(1);
                state.write_i128(*self as i128);
            }
        }
    )*};
}

integer_keys!(i8 i16 i32 i64 i128 isize u8 u16 u32 u64 usize);

impl DictKey for String {
    fn to_key(&self) -> Key {
        Key::Str(Cow::Owned(self.clone()))
    }
    fn from_key(key: &Key) -> Option<Self> {
        match key {
            Key::Str(s) => Some(s.to_string()),
            _ => None,
        }
    }
    fn is_key(&self, key: &Key) -> bool {
        matches!(key, Key::Str(s) if s == self)
    }
    fn hash_key<H: Hasher>(&self, state: &mut H) {
        hash_text(self, state);
    }
}

/// Rebuilding needs the string itself: a key that came from a `String` has none with a `'static` lifetime.
impl DictKey for &'static str {
    fn to_key(&self) -> Key {
        Key::Str(Cow::Borrowed(self))
    }
    fn from_key(key: &Key) -> Option<Self> {
        match key {
            Key::Str(Cow::Borrowed(s)) => Some(s),
            _ => None,
        }
    }
    fn is_key(&self, key: &Key) -> bool {
        matches!(key, Key::Str(s) if s == self)
    }
    fn hash_key<H: Hasher>(&self, state: &mut H) {
        hash_text(self, state);
    }
}

impl DictKey for char {
    fn to_key(&self) -> Key {
        Key::Str(Cow::Owned(self.to_string()))
    }
    fn from_key(key: &Key) -> Option<Self> {
        let Key::Str(s) = key else { return None };
        let mut chars = s.chars();
        chars.next().filter(|_| chars.next().is_none())
    }
}

macro_rules! tuple_keys {
    ($($name:ident)+) => {
        impl<$($name: DictKey),+> DictKey for ($($name,)+) {
            fn to_key(&self) -> Key {
                #[allow(non_snake_case)]
                let ($($name,)+) = self;
                Key::Tuple(Box::new([$($name.to_key()),+]))
            }
            fn from_key(key: &Key) -> Option<Self> {
                let Key::Tuple(keys) = key else { return None };
                let mut keys = keys.iter();
                let tuple = ($($name::from_key(keys.next()?)?,)+);
                keys.next().is_none().then_some(tuple)
            }
        }
    };
}

tuple_keys!(A);
tuple_keys!(A B);
tuple_keys!(A B C);
tuple_keys!(A B C D);

impl From<&'static str> for Key {
    fn from(text: &'static str) -> Self {
        text.to_key()
    }
}

impl From<String> for Key {
    fn from(text: String) -> Self {
        Key::Str(Cow::Owned(text))
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
