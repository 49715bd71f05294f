//! Operations on single elements.

use crate::lower::functions::Function;
use std::borrow::Cow;
use std::fmt;

/// A function of one element of each operand. The element types are those of the operands and of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum MapOp {
    Neg,
    Sign,
    Abs,
    Floor,
    Ceil,
    RoundAway,
    RoundEven,
    IsFinite,
    /// A function of one real or complex number.
    Function(Function),
    Square,
    OneMinusSquare,
    Real,
    Imag,
    Conj,
    Not,
    Popcount,
    Clz,
    IntegerPow(i64),
    ReducePrecision {
        exponent: u32,
        mantissa: u32,
    },
    Add,
    Sub,
    Mul,
    MulHi,
    Div,
    Rem,
    Max,
    Min,
    Pow,
    Atan2,
    NextAfter,
    Complex,
    And,
    Or,
    Xor,
    ShiftLeft,
    ShiftRightArithmetic,
    ShiftRightLogical,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    EqTotal,
    LtTotal,
    LeTotal,
    Igamma,
    Igammac,
    IgammaGradA,
    Polygamma,
    Zeta,
    RegularizedIncompleteBeta,
    /// Bounds outside: low, x, high.
    Clamp,
    /// The index (bool or i32), then the cases.
    Select,
    /// To the element type of the result.
    Convert,
    /// The same bits as the result's element type, of the same size.
    Bitcast,
    /// A word of the Threefry block of (key word 0, key word 1, counter 0, counter 1).
    Threefry {
        word: u32,
    },
    /// A random key from its words.
    KeyFromWords,
    /// A word of a random key.
    KeyWord(u32),
}

impl fmt::Display for MapOp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MapOp::Function(function) => write!(f, "{function:?}"),
            other => write!(f, "{other:?}"),
        }
    }
}

/// Names of operations, from and to text.
macro_rules! plain {
    ($($variant:ident)*) => {
        impl MapOp {
            /// The operation as a word that says all of it.
            pub(crate) fn word(self) -> Cow<'static, str> {
                match self {
                    $(MapOp::$variant => stringify!($variant).into(),)*
                    MapOp::Function(function) => function.name().into(),
                    MapOp::IntegerPow(power) => format!("IntegerPow:{power}").into(),
                    MapOp::ReducePrecision { exponent, mantissa } => {
                        format!("ReducePrecision:{exponent}:{mantissa}").into()
                    }
                    MapOp::Threefry { word } => format!("Threefry:{word}").into(),
                    MapOp::KeyWord(word) => format!("KeyWord:{word}").into(),
                }
            }

            /// The operation that a word says.
            pub(crate) fn from_word(word: &str) -> Option<MapOp> {
                let (name, numbers) = word.split_once(':').unwrap_or((word, ""));
                Some(match name {
                    $(stringify!($variant) => MapOp::$variant,)*
                    "IntegerPow" => MapOp::IntegerPow(numbers.parse().ok()?),
                    "ReducePrecision" => {
                        let (exponent, mantissa) = numbers.split_once(':')?;
                        MapOp::ReducePrecision {
                            exponent: exponent.parse().ok()?,
                            mantissa: mantissa.parse().ok()?,
                        }
                    }
                    "Threefry" => MapOp::Threefry { word: numbers.parse().ok()? },
                    "KeyWord" => MapOp::KeyWord(numbers.parse().ok()?),
                    _ => MapOp::Function(Function::by_name(name)?),
                })
            }
        }
    };
}

plain! {
    Neg Sign Abs Floor Ceil RoundAway RoundEven IsFinite Square OneMinusSquare Real Imag Conj
    Not Popcount Clz Add Sub Mul MulHi Div Rem Max Min Pow Atan2 NextAfter Complex And Or Xor
    ShiftLeft ShiftRightArithmetic ShiftRightLogical Eq Ne Lt Le Gt Ge EqTotal LtTotal LeTotal
    Igamma Igammac IgammaGradA Polygamma Zeta RegularizedIncompleteBeta Clamp Select Convert
    Bitcast KeyFromWords
}
