//! What Flax takes by keyword: a struct, the last argument of a constructor.

use std::fmt;
use std::sync::Arc;

use jaxide::{Array, DType};

type Function = dyn Fn(&Array, &[usize], DType) -> Array + Send + Sync;

/// What makes the first value of a parameter, from a key, a shape and an element type: a function of `jaxide::nn::initializers`.
#[derive(Clone)]
pub struct Initializer(Arc<Function>);

impl Initializer {
    /// The first value.
    pub fn call(&self, key: &Array, shape: &[usize], dtype: DType) -> Array {
        (self.0)(key, shape, dtype)
    }
}

impl<F: Fn(&Array, &[usize], DType) -> Array + Send + Sync + 'static> From<F> for Initializer {
    fn from(f: F) -> Self {
        Initializer(Arc::new(f))
    }
}

impl fmt::Debug for Initializer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Initializer")
    }
}

/// Defines structs of optional arguments, whose rows are a keyword with its type and default, and a method for each. `()` is
/// all defaults.
macro_rules! options {
    ($($(#[$doc:meta])* pub struct $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty = $default:expr;)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Debug)]
        pub struct $name {
            $(pub(crate) $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl From<()> for $name {
            fn from((): ()) -> Self {
                Self::default()
            }
        }

        impl $name {
            /// All defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[$field_doc])*
                #[must_use]
                pub fn $field(mut self, $field: impl Into<$ty>) -> Self {
                    self.$field = $field.into();
                    self
                }
            )*
        }
    )* };
}
pub(crate) use options;
