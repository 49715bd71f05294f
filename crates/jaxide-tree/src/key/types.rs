//! Which types can be keys.

use std::borrow::Cow;
use std::hash::Hasher;
use std::sync::Arc;

use super::{DictKey, Key, KeyText, hash_text, hash_tuple};

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
        std::hash::Hash::hash(self, state);
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
            #[inline]
            fn from_key(key: &Key) -> Option<Self> {
                match key {
                    Key::Int(i) => Self::try_from(*i).ok(),
                    _ => None,
                }
            }
            #[inline]
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

/// Strings: how each becomes a text, and how one is made of a text.
macro_rules! string_keys {
    ($($(#[$doc:meta])* $t:ty: |$own:ident| $to:expr, |$text:ident| $from:expr;)*) => {$(
        $(#[$doc])*
        impl DictKey for $t {
            fn to_key(&self) -> Key {
                let $own = self;
                Key::Str($to)
            }
            #[inline]
            fn from_key(key: &Key) -> Option<Self> {
                match key {
                    Key::Str($text) => $from,
                    _ => None,
                }
            }
            #[inline]
            fn is_key(&self, key: &Key) -> bool {
                matches!(key, Key::Str(text) if **text == **self)
            }
            fn hash_key<H: Hasher>(&self, state: &mut H) {
                hash_text(self, state);
            }
        }
    )*};
}

string_keys! {
    String: |own| KeyText::Shared(own.as_str().into()), |text| Some(text.as_str().to_owned());
    Box<str>: |own| KeyText::Shared((**own).into()), |text| Some(text.as_str().into());
    /// Rebuilding shares the text with the treedef, where the other strings made at run time are copied.
    Arc<str>: |own| KeyText::Shared(own.clone()), |text| Some(match text {
        KeyText::Static(text) => Arc::from(*text),
        KeyText::Shared(text) => text.clone(),
    });
    Cow<'static, str>: |own| match own {
        Cow::Borrowed(text) => KeyText::Static(text),
        Cow::Owned(text) => KeyText::Shared(text.as_str().into()),
    }, |text| Some(match text {
        KeyText::Static(text) => Cow::Borrowed(*text),
        KeyText::Shared(text) => Cow::Owned(text.to_string()),
    });
    /// Rebuilding needs the string itself: a key that was made at run time has none with a `'static` lifetime.
    &'static str: |own| KeyText::Static(own), |text| match text {
        KeyText::Static(text) => Some(*text),
        KeyText::Shared(_) => None,
    };
}

impl DictKey for char {
    fn to_key(&self) -> Key {
        Key::from(self.to_string())
    }
    fn from_key(key: &Key) -> Option<Self> {
        let Key::Str(s) = key else { return None };
        let mut chars = s.chars();
        chars.next().filter(|_| chars.next().is_none())
    }
    fn is_key(&self, key: &Key) -> bool {
        Self::from_key(key) == Some(*self)
    }
    fn hash_key<H: Hasher>(&self, state: &mut H) {
        hash_text(self.encode_utf8(&mut [0; 4]), state);
    }
}

macro_rules! tuple_keys {
    ($len:literal: $($name:ident)+) => {
        #[allow(non_snake_case)]
        impl<$($name: DictKey),+> DictKey for ($($name,)+) {
            fn to_key(&self) -> Key {
                let ($($name,)+) = self;
                Key::Tuple(Box::new([$($name.to_key()),+]))
            }
            fn from_key(key: &Key) -> Option<Self> {
                let Key::Tuple(keys) = key else { return None };
                let mut keys = keys.iter();
                let tuple = ($($name::from_key(keys.next()?)?,)+);
                keys.next().is_none().then_some(tuple)
            }
            fn is_key(&self, key: &Key) -> bool {
                let Key::Tuple(keys) = key else { return false };
                let ($($name,)+) = self;
                let mut keys = keys.iter();
                $(keys.next().is_some_and(|key| $name.is_key(key)))&&+ && keys.next().is_none()
            }
            fn hash_key<Hash: Hasher>(&self, state: &mut Hash) {
                let ($($name,)+) = self;
                hash_tuple($len, state);
                $($name.hash_key(state);)+
            }
        }
    };
}

tuple_keys!(1: A);
tuple_keys!(2: A B);
tuple_keys!(3: A B C);
tuple_keys!(4: A B C D);
