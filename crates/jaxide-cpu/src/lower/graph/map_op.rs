//! Operations on single elements.

use crate::lower::functions::Function;
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
