//! The functions that are measured, what they should give, and how far they may be off.

use crate::format::Format;
use crate::reference;

/// A function of real or complex numbers.
pub struct Function {
    /// The name in tables.
    pub name: &'static str,
    /// The primitive and its parameters as text.
    pub text: &'static str,
    /// How many arguments it has.
    pub arity: usize,
    /// What it should give.
    pub exact: Exact,
    /// Where most arguments are, for double precision.
    pub range: (f64, f64),
    /// The largest error that is wanted, in units in the last place.
    pub wanted: f64,
    /// The largest error in double precision where that is more.
    pub double: Option<f64>,
    /// Where the result is a difference, the size of what is subtracted: errors count in its units where it is larger than the result.
    pub terms: fn(&[f64]) -> f64,
}

impl Function {
    /// The largest error that is allowed.
    pub fn limit(&self, format: Format) -> f64 {
        match (self.double, format) {
            (Some(limit), Format::F64) => limit,
            _ => self.wanted,
        }
    }
}

/// What a function should give.
#[derive(Clone, Copy)]
pub enum Exact {
    /// For every number.
    One {
        /// The value: correctly rounded to double precision if `double`, and good for single precision anyway.
        value: fn(f64) -> f64,
        /// Whether errors in double precision count from it.
        double: bool,
        /// The correctly rounded value in single precision, where a library has it: a shortcut.
        single: Option<fn(f32) -> f32>,
    },
    /// For every pair of numbers, correctly rounded to double precision.
    Two {
        /// The value.
        value: fn(f64, f64) -> f64,
        /// In single precision.
        single: Option<fn(f32, f32) -> f32>,
    },
    /// For the samples of that name.
    Samples,
}

impl Exact {
    /// The value for these arguments; `None` where only samples are known.
    pub fn value(&self, x: &[f64]) -> Option<f64> {
        match *self {
            Exact::One { value, .. } => Some(value(x[0])),
            Exact::Two { value, .. } => Some(value(x[0], x[1])),
            Exact::Samples => None,
        }
    }

    /// The bits of the correctly rounded value in single precision, if a library has it.
    pub fn single(&self, x: &[u64]) -> Option<u64> {
        let number = |k: usize| f32::from_bits(x[k] as u32);
        let value = match *self {
            Exact::One { single, .. } => single?(number(0)),
            Exact::Two { single, .. } => single?(number(0), number(1)),
            Exact::Samples => return None,
        };
        Some(value.to_bits().into())
    }

    /// Whether [`Exact::value`] is correctly rounded in double precision.
    pub fn is_double(&self) -> bool {
        matches!(self, Exact::One { double: true, .. } | Exact::Two { .. })
    }
}

const ONE: Function = Function {
    name: "",
    text: "",
    arity: 1,
    exact: Exact::Samples,
    range: (-10.0, 10.0),
    wanted: 1.0,
    double: None,
    terms: |_| 0.0,
};

/// A function of the correctly rounded library, under two names there.
macro_rules! known {
    ($name:ident, $single:ident, $range:expr, $wanted:expr) => {
        Function {
            name: stringify!($name),
            text: stringify!($name),
            exact: Exact::One {
                value: core_math::$name,
                double: true,
                single: Some(core_math::$single),
            },
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
            exact: Exact::One {
                value: reference::$name,
                double: false,
                single: None,
            },
            range: $range,
            wanted: $wanted,
            ..ONE
        }
    };
}

/// A function that only samples are known of.
macro_rules! sampled {
    ($name:literal, $arity:literal, $wanted:expr) => {
        Function {
            name: $name,
            text: $name,
            arity: $arity,
            wanted: $wanted,
            ..ONE
        }
    };
}

/// A function of complex numbers, with the limit for double precision: single precision is computed in double.
macro_rules! complex {
    ($name:literal, $arity:literal, $double:expr) => {
        Function {
            double: Some($double),
            ..sampled!($name, $arity, 2.0)
        }
    };
}

/// A function of which the standard library has the exact result.
macro_rules! exact {
    ($name:literal, $text:literal, $exact:expr) => {
        Function {
            name: $name,
            text: $text,
            exact: Exact::One {
                value: $exact,
                double: true,
                single: None,
            },
            wanted: 0.5,
            ..ONE
        }
    };
}

/// The functions of real numbers.
pub const REAL: &[Function] = &[
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
    Function {
        // The interpreter's library.
        double: Some(2.0),
        ..known!(asinh, asinhf, (-10.0, 10.0), 2.0)
    },
    Function {
        // The interpreter's library.
        double: Some(2.0),
        ..known!(acosh, acoshf, (1.0, 10.0), 2.0)
    },
    Function {
        // The interpreter's library.
        double: Some(2.0),
        ..known!(atanh, atanhf, (-1.0, 1.0), 2.0)
    },
    Function {
        // The exponential's own error is above 1/2 already.
        double: Some(1.5),
        ..own!(logistic, (-40.0, 40.0), 1.0)
    },
    known!(erf, erff, (-6.0, 6.0), 2.0),
    known!(erfc, erfcf, (-6.0, 27.0), 2.0),
    own!(erf_inv, (-1.0, 1.0), 2.0),
    Function {
        terms: |x| reference::lgamma_terms(x[0]),
        ..known!(lgamma, lgammaf, (-10.0, 30.0), 2.0)
    },
    Function {
        terms: |x| reference::digamma_terms(x[0]),
        ..own!(digamma, (-10.0, 30.0), 2.0)
    },
    own!(bessel_i0e, (-50.0, 50.0), 2.0),
    own!(bessel_i1e, (-50.0, 50.0), 2.0),
    Function {
        wanted: 2.0,
        range: (-2.0, 2.0),
        ..exact!(
            "one_minus_square",
            "one_minus_square",
            reference::one_minus_square
        )
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
    Function {
        name: "pow",
        text: "pow",
        arity: 2,
        exact: Exact::Two {
            value: core_math::pow,
            single: Some(core_math::powf),
        },
        wanted: 2.0,
        ..ONE
    },
    Function {
        name: "atan2",
        text: "atan2",
        arity: 2,
        exact: Exact::Two {
            value: core_math::atan2,
            single: Some(core_math::atan2f),
        },
        wanted: 2.0,
        ..ONE
    },
    Function {
        name: "rem",
        text: "rem",
        arity: 2,
        exact: Exact::Two {
            value: |x, y| x % y,
            single: None,
        },
        range: (-1e3, 1e3),
        wanted: 0.5,
        ..ONE
    },
    Function {
        name: "div",
        text: "div",
        arity: 2,
        exact: Exact::Two {
            value: |x, y| x / y,
            single: Some(|x, y| x / y),
        },
        wanted: 0.5,
        ..ONE
    },
    sampled!("igamma", 2, 2.0),
    sampled!("igammac", 2, 2.0),
    sampled!("igamma_grad_a", 2, 2.0),
    sampled!("zeta", 2, 2.0),
    sampled!("polygamma", 2, 2.0),
    sampled!("regularized_incomplete_beta", 3, 2.0),
];

/// The functions of complex numbers. Errors count in units of the larger part of the result.
pub const COMPLEX: &[Function] = &[
    complex!("exp", 1, 4.0),
    complex!("exp2", 1, 4.0),
    complex!("expm1", 1, 4.0),
    complex!("log", 1, 4.0),
    complex!("log2", 1, 4.0),
    complex!("log1p", 1, 4.0),
    complex!("sqrt", 1, 4.0),
    complex!("rsqrt", 1, 4.0),
    complex!("sin", 1, 4.0),
    complex!("cos", 1, 4.0),
    complex!("tan", 1, 4.0),
    complex!("asin", 1, 4.0),
    complex!("acos", 1, 4.0),
    complex!("atan", 1, 4.0),
    complex!("sinh", 1, 4.0),
    complex!("cosh", 1, 4.0),
    complex!("tanh", 1, 4.0),
    complex!("asinh", 1, 4.0),
    complex!("acosh", 1, 4.0),
    complex!("atanh", 1, 4.0),
    complex!("logistic", 1, 4.0),
    complex!("square", 1, 4.0),
    complex!("sign", 1, 4.0),
    complex!("mul", 2, 4.0),
    complex!("div", 2, 4.0),
    complex!("pow", 2, 32.0),
];
