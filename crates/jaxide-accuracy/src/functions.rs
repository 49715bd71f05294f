//! The functions that are measured, what they should give, and how far they may be off.

use crate::reference;

/// A function of one real argument.
pub struct Function {
    /// The name of the primitive.
    pub name: &'static str,
    /// The primitive and its parameters as text.
    pub text: &'static str,
    /// Its value for a number of any format. Correctly rounded to double precision if `exact_double`, and good for single precision anyway.
    pub exact: fn(f64) -> f64,
    /// Whether errors in double precision count from [`Function::exact`]; they count from samples otherwise.
    pub exact_double: bool,
    /// The correctly rounded value in single precision, where a library has it: a shortcut.
    pub single: Option<fn(f32) -> f32>,
    /// Where most arguments are, for double precision.
    pub range: (f64, f64),
    /// The largest error that is wanted, in units in the last place.
    pub wanted: f64,
    /// Where the result is a difference, the size of what is subtracted: errors count in its units where it is larger than the result.
    pub terms: fn(f64) -> f64,
}

const ONE: Function = Function {
    name: "",
    text: "",
    exact: |x| x,
    exact_double: true,
    single: None,
    range: (-10.0, 10.0),
    wanted: 1.0,
    terms: |_| 0.0,
};

/// A function of the correctly rounded library, under two names there.
macro_rules! known {
    ($name:ident, $single:ident, $range:expr, $wanted:expr) => {
        Function {
            name: stringify!($name),
            text: stringify!($name),
            exact: core_math::$name,
            single: Some(core_math::$single),
            range: $range,
            wanted: $wanted,
            ..ONE
        }
    };
}

/// A function of [`reference`].
macro_rules! own {
    ($name:ident, $range:expr, $wanted:expr) => {
        Function {
            name: stringify!($name),
            text: stringify!($name),
            exact: reference::$name,
            exact_double: false,
            range: $range,
            wanted: $wanted,
            ..ONE
        }
    };
}

/// A function of which the standard library has the exact result.
macro_rules! exact {
    ($name:literal, $text:literal, $exact:expr) => {
        Function {
            name: $name,
            text: $text,
            exact: $exact,
            wanted: 0.5,
            ..ONE
        }
    };
}

/// Every function of one argument.
pub const FUNCTIONS: &[Function] = &[
    known!(exp, expf, (-750.0, 710.0), 1.0),
    known!(exp2, exp2f, (-1080.0, 1024.0), 1.0),
    known!(expm1, expm1f, (-40.0, 710.0), 1.0),
    known!(log, logf, (0.0, 4.0), 1.0),
    known!(log2, log2f, (0.0, 4.0), 1.0),
    known!(log1p, log1pf, (-1.0, 4.0), 1.0),
    exact!("sqrt", "sqrt", f64::sqrt),
    known!(rsqrt, rsqrtf, (0.0, 4.0), 1.0),
    known!(cbrt, cbrtf, (-4.0, 4.0), 1.0),
    known!(sin, sinf, (-100.0, 100.0), 1.0),
    known!(cos, cosf, (-100.0, 100.0), 1.0),
    known!(tan, tanf, (-100.0, 100.0), 1.0),
    known!(asin, asinf, (-1.0, 1.0), 1.0),
    known!(acos, acosf, (-1.0, 1.0), 1.0),
    known!(atan, atanf, (-10.0, 10.0), 1.0),
    known!(sinh, sinhf, (-20.0, 20.0), 1.0),
    known!(cosh, coshf, (-20.0, 20.0), 1.0),
    known!(tanh, tanhf, (-10.0, 10.0), 1.0),
    known!(asinh, asinhf, (-10.0, 10.0), 1.0),
    known!(acosh, acoshf, (1.0, 10.0), 1.0),
    known!(atanh, atanhf, (-1.0, 1.0), 1.0),
    Function {
        name: "logistic",
        text: "logistic",
        exact: reference::logistic,
        exact_double: false,
        range: (-40.0, 40.0),
        ..ONE
    },
    known!(erf, erff, (-6.0, 6.0), 2.0),
    known!(erfc, erfcf, (-6.0, 27.0), 2.0),
    own!(erf_inv, (-1.0, 1.0), 2.0),
    Function {
        terms: reference::lgamma_terms,
        ..known!(lgamma, lgammaf, (-10.0, 30.0), 2.0)
    },
    Function {
        terms: reference::digamma_terms,
        ..own!(digamma, (-10.0, 30.0), 2.0)
    },
    own!(bessel_i0e, (-50.0, 50.0), 2.0),
    own!(bessel_i1e, (-50.0, 50.0), 2.0),
    Function {
        wanted: 2.0,
        range: (-2.0, 2.0),
        ..exact!("one_minus_square", "one_minus_square", reference::one_minus_square)
    },
    exact!("square", "square", |x| x * x),
    exact!("neg", "neg", |x| -x),
    exact!("abs", "abs", f64::abs),
    exact!("sign", "sign", reference::sign),
    exact!("floor", "floor", f64::floor),
    exact!("ceil", "ceil", f64::ceil),
    exact!("round", "round[rounding_method=0]", f64::round),
    exact!(
        "round_even",
        "round[rounding_method=1]",
        f64::round_ties_even
    ),
];
