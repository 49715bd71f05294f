//! The functions of distributions, written as a table.

/// Defines distributions: modules of functions.
///
/// A function is a formula of its operands and the optional ones behind the semicolon, all promoted (`fn pdf(x; loc) { .. }`), or made
/// of another one (`fn pdf(x; loc) = exp(logpdf);`). What JAX writes as a call of its own is a `call fn`. Operands of an
/// `as_given fn` are not promoted.
macro_rules! distributions {
    ($($(#[$doc:meta])* mod $module:ident: $title:literal, $options:ident { $($functions:tt)* })*) => { $(
        $(#[$doc])*
        pub mod $module {
            #[allow(unused_imports)]
            use super::*;

            /// The functions of promoted operands.
            pub(in crate::scipy::stats) struct Raw;

            distributions!(@next [$module $title $options] $($functions)*);
        }
    )* };
    (@next [$($about:tt)*]) => {};
    (@next [$($about:tt)*] fn $name:ident($($x:ident),* $(; $($option:ident),*)?) $body:block $($rest:tt)*) => {
        distributions!(@formula [$($about)*] $name [$($x),*] [$($($option),*)?] inexact $body);
        distributions!(@public [$($about)*] $name [$($x),*] [$($($option),*)?]);
        distributions!(@next [$($about)*] $($rest)*);
    };
    (@next [$($about:tt)*] as_given fn $name:ident($($x:ident),*; $($option:ident),*) $body:block $($rest:tt)*) => {
        distributions!(@formula [$($about)*] $name [$($x),*] [$($option),*] as_given $body);
        distributions!(@public [$($about)*] $name [$($x),*] [$($option),*]);
        distributions!(@next [$($about)*] $($rest)*);
    };
    (@next [$($about:tt)*] call fn $name:ident($($x:ident),*; $($option:ident),*) $body:block $($rest:tt)*) => {
        distributions!(@call [$($about)*] $name [$($x),*] [$($option),*] inexact $body);
        distributions!(@next [$($about)*] $($rest)*);
    };
    (@next [$($about:tt)*] call as_given fn $name:ident($($x:ident),*; $($option:ident),*) $body:block $($rest:tt)*) => {
        distributions!(@call [$($about)*] $name [$($x),*] [$($option),*] as_given $body);
        distributions!(@next [$($about)*] $($rest)*);
    };
    (@next [$($about:tt)*]
        fn $name:ident($($x:ident),* $(; $($option:ident),*)?) = $outer:ident($inner:ident); $($rest:tt)*
    ) => {
        impl Raw {
            #[track_caller]
            pub(in crate::scipy::stats) fn $name($($x: &Array,)* $($($option: &Array),*)?) -> Array {
                crate::lax::$outer(&Raw::$inner($($x,)* $($($option),*)?))
            }
        }
        distributions!(@public [$($about)*] $name [$($x),*] [$($($option),*)?]);
        distributions!(@next [$($about)*] $($rest)*);
    };
    (@formula [$module:ident $title:literal $options:ident] $name:ident [$($x:ident),*] [$($option:ident),*] $promoted:ident $body:block) => {
        impl Raw {
            #[track_caller]
            pub(in crate::scipy::stats) fn $name($($x: &Array,)* $($option: &Array),*) -> Array {
                let operands = [$($x.clone(),)* $($option.clone()),*];
                let name = concat!(stringify!($module), ".", stringify!($name));
                let [$($x,)* $($option),*] = &crate::scipy::operands::$promoted(name, operands);
                $body
            }
        }
    };
    (@call [$module:ident $title:literal $options:ident] $name:ident [$($x:ident),*] [$($option:ident),*] $promoted:ident $body:block) => {
        impl Raw {
            // Some are called by other functions.
            #[allow(dead_code)]
            #[track_caller]
            pub(in crate::scipy::stats) fn $name($($x: &Array,)* $($option: &Array),*) -> Array {
                let operands = [$($x,)* $($option),*];
                $name::call(operands, operands.map(|_| false))
            }
        }

        mod $name {
            use super::*;

            const N: usize = [$(stringify!($x),)* $(stringify!($option)),*].len();

            #[track_caller]
            pub(super) fn call(operands: [&Array; N], inside: [bool; N]) -> Array {
                let of = stringify!($module);
                crate::scipy::operands::called(stringify!($name), of, operands, inside, |operands| {
                    let name = concat!(stringify!($module), ".", stringify!($name));
                    let [$($x,)* $($option),*] = &crate::scipy::operands::$promoted(name, operands);
                    $body
                })
            }
        }

        #[doc = concat!($crate::scipy::stats::table::describe!($name), " of the ", $title, ".")]
        ///
        /// # Panics
        /// When there is no common element type, or shapes do not broadcast.
        #[track_caller]
        pub fn $name($($x: impl Into<Array>,)* options: impl Into<$crate::scipy::stats::$options>) -> Array {
            let _named = crate::trace::named(concat!(stringify!($module), ".", stringify!($name)));
            let $crate::scipy::stats::$options { $($option),* } = options.into();
            let default = $crate::scipy::stats::$options::default();
            $(let $x = $x.into();)*
            // What is not given is no operand of the call.
            let inside = [$({ let _ = &$x; false },)* $(crate::scipy::operands::is_same_number(&$option, &default.$option)),*];
            $name::call([$(&$x,)* $(&$option),*], inside)
        }
    };
    (@public [$module:ident $title:literal $options:ident] $name:ident [$($x:ident),*] []) => {
        #[doc = concat!($crate::scipy::stats::table::describe!($name), " of the ", $title, ".")]
        ///
        /// # Panics
        /// When there is no common element type, or shapes do not broadcast.
        #[track_caller]
        pub fn $name($($x: impl Into<Array>),*) -> Array {
            let _named = crate::trace::named(concat!(stringify!($module), ".", stringify!($name)));
            Raw::$name($(&$x.into()),*)
        }
    };
    (@public [$module:ident $title:literal $options:ident] $name:ident [$($x:ident),*] [$($option:ident),+]) => {
        #[doc = concat!($crate::scipy::stats::table::describe!($name), " of the ", $title, ".")]
        ///
        /// # Panics
        /// When there is no common element type, or shapes do not broadcast.
        #[track_caller]
        pub fn $name($($x: impl Into<Array>,)* options: impl Into<$crate::scipy::stats::$options>) -> Array {
            let _named = crate::trace::named(concat!(stringify!($module), ".", stringify!($name)));
            let $crate::scipy::stats::$options { $($option),* } = options.into();
            Raw::$name($(&$x.into(),)* $(&$option),*)
        }
    };
}

/// What a function of a distribution is.
macro_rules! describe {
    (logpdf) => {
        "Logarithm of the density"
    };
    (pdf) => {
        "Density"
    };
    (logpmf) => {
        "Logarithm of the probability of a number"
    };
    (pmf) => {
        "Probability of a number"
    };
    (logcdf) => {
        "Logarithm of the probability of what is not above"
    };
    (cdf) => {
        "Distribution function, the probability of what is not above,"
    };
    (logsf) => {
        "Logarithm of the probability of what is above"
    };
    (sf) => {
        "Probability of what is above"
    };
    (ppf) => {
        "Quantile, the inverse of the distribution function,"
    };
    (isf) => {
        "Inverse of the probability of what is above,"
    };
    (entropy) => {
        "Entropy"
    };
}

pub(super) use {describe, distributions};
