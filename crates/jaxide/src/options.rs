//! Optional arguments: what functions of JAX take by keyword is a struct here, the last argument.

/// Defines structs of optional arguments. A row is a keyword with its type and default, and where the method that sets it takes
/// something else, a closure that converts it.
///
/// The struct has a method for each keyword, under JAX's name; `()` is the struct with all defaults. One `by shape` has a first
/// keyword `shape` that can be given alone; there an empty shape is none. One `by axes` has a first keyword `axis` that can be given
/// alone. With `of axes` behind its name, a keyword `axis` of its own can be given alone.
macro_rules! options {
    ($($(#[$doc:meta])* pub struct $name:ident $(of $kind:ident)? { $($rows:tt)* })*) => { $(
        options!(@struct [$(#[$doc])*] $name $($rows)*);
        options!(@alone $name $($kind)?);
    )* };
    ($($(#[$doc:meta])* pub struct $name:ident by shape { $($rows:tt)* })*) => { $(
        options!(@struct [$(#[$doc])*] $name
            /// The shape of the result, instead of what the parameters have.
            shape: Option<Numbers> = None, |shape: impl AsShape| Some(shape.lengths());
            $($rows)*
        );

        impl<S: AsShape> From<S> for $name {
            fn from(shape: S) -> Self {
                let lengths = shape.lengths();
                $name { shape: (!lengths.is_empty()).then_some(lengths), ..Self::default() }
            }
        }
    )* };
    ($($(#[$doc:meta])* pub struct $name:ident by axes { $($rows:tt)* })*) => { $(
        options!(@struct [$(#[$doc])*] $name
            /// The axes, from the end where negative; `()` is what the function does by itself.
            axis: Option<Numbers> = None, |axis: impl Axes| axis.numbers();
            $($rows)*
        );

        impl<A: Axes> From<A> for $name {
            fn from(axis: A) -> Self {
                $name::new().axis(axis)
            }
        }
    )* };
    (@alone $name:ident) => {
        impl From<()> for $name {
            fn from((): ()) -> Self {
                Self::default()
            }
        }
    };
    // Axes, of which `()` is one way to write none, are options by themselves.
    (@alone $name:ident axes) => {
        impl<A: $crate::array::Axes> From<A> for $name {
            fn from(axes: A) -> Self {
                match axes.numbers() {
                    Some(_) => Self::default().axis(axes),
                    None => Self::default(),
                }
            }
        }
    };
    (@struct [$($doc:tt)*] $name:ident
        $($(#[$field_doc:meta])* $field:ident: $ty:ty = $default:expr $(, |$arg:ident: $given:ty| $convert:expr)?;)*
    ) => {
        $($doc)*
        #[derive(Clone, Debug)]
        pub struct $name {
            $(pub(crate) $field: $ty,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            /// Nothing but defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(options!(@setter [$(#[$field_doc])*] $field: $ty $(, |$arg: $given| $convert)?);)*
        }
    };
    (@setter [$($doc:tt)*] $field:ident: $ty:ty) => {
        $($doc)*
        #[must_use]
        pub fn $field(mut self, $field: $ty) -> Self {
            self.$field = $field;
            self
        }
    };
    (@setter [$($doc:tt)*] $field:ident: $ty:ty, |$arg:ident: $given:ty| $convert:expr) => {
        $($doc)*
        #[must_use]
        pub fn $field(mut self, $arg: $given) -> Self {
            self.$field = $convert;
            self
        }
    };
}

pub(crate) use options;

/// Defines choices that are words: an enumeration, and the conversion from JAX's word, which panics when there is no such word.
macro_rules! words {
    ($operation:literal; $($(#[$doc:meta])* $name:ident $what:literal { $($(#[$case_doc:meta])* $case:ident = $word:literal;)* })*) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name {
            $($(#[$case_doc])* $case,)*
        }

        impl From<&str> for $name {
            /// # Panics
            /// When there is no such word.
            #[track_caller]
            fn from(word: &str) -> Self {
                match word {
                    $($word => $name::$case,)*
                    _ => $crate::trace::raise(
                        jaxide_core::Error::parameter(format!(concat!("there is no ", $what, " `{}`: ", $("`", $word, "` ",)* "are"), word))
                            .in_operation($operation),
                    ),
                }
            }
        }
    )* };
}

pub(crate) use words;
