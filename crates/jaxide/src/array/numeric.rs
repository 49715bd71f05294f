//! Methods of arrays that are functions of [`numpy`] with options.

use super::Array;
use crate::numpy::{self, Bound};

/// Methods that are functions of [`numpy`] under the same name.
macro_rules! methods {
    ($($(#[$doc:meta])* $name:ident ($($arg:ident: $ty:ty),*) $(, $into:ty)?;)*) => {
        /// Functions of NumPy with options, of which `()` is none.
        impl Array {
            $(
                $(#[$doc])*
                #[doc = concat!("See [`numpy::", stringify!($name), "`].")]
                ///
                /// # Panics
                /// Where the function does.
                #[track_caller]
                pub fn $name(&self $(, $arg: $ty)* $(, options: impl Into<$into>)?) -> Array {
                    methods!(@call $name self ($($arg),*) $(options $into)?)
                }
            )*
        }
    };
    (@call $name:ident $self:ident ($($arg:ident),*) $options:ident $into:ty) => {
        numpy::$name($self, $($arg,)* $options)
    };
    (@call $name:ident $self:ident ($($arg:ident),*)) => {
        numpy::$name($self $(, $arg)*)
    };
}

methods! {
    /// Complex conjugate.
    conj();
    /// Complex conjugate.
    conjugate();
    /// Real part.
    real();
    /// Imaginary part.
    imag();
    /// Moved between `min` and `max`, either of which may be `()`.
    clip(min: impl Bound, max: impl Bound);
    /// Nearest number with so many decimals.
    round(), numpy::Round;
    /// Product along axes.
    prod(), numpy::Reduction;
    /// Variance along axes.
    var(), numpy::Reduction;
    /// Standard deviation along axes.
    std(), numpy::Reduction;
    /// Largest less smallest along axes.
    ptp(), numpy::Reduction;
    /// Index of the first largest element.
    argmax(), numpy::Reduction;
    /// Index of the first smallest element.
    argmin(), numpy::Reduction;
    /// Running sum.
    cumsum(), numpy::Cumulative;
    /// Running product.
    cumprod(), numpy::Cumulative;
    /// Sorted.
    sort(), numpy::Sort;
    /// The positions that sort.
    argsort(), numpy::Sort;
}
