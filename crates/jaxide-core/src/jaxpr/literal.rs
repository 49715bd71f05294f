//! Scalars written in place of a variable.

use std::fmt;

use crate::aval::Aval;
use crate::dtype::DType;
use crate::scalar::Scalar;

/// A scalar with its element type, an operand that needs no variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Literal {
    /// The number.
    pub value: Scalar,
    /// Its element type.
    pub dtype: DType,
    /// Whether the element type is weak.
    pub weak_type: bool,
}

impl Literal {
    /// A strongly typed literal.
    pub fn new(value: Scalar, dtype: DType) -> Self {
        Literal {
            value,
            dtype,
            weak_type: false,
        }
    }

    /// The literal's type: rank 0.
    pub fn aval(&self) -> Aval {
        Aval::scalar(self.dtype).weak(self.weak_type)
    }
}

/// The one value of `float0`, as NumPy prints an element without bytes.
pub(crate) const FLOAT0: &str = "(b'',)";

/// Value and type, as the text has it: `1.0:f32[]`.
impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.dtype == DType::Float0 {
            return write!(f, "{FLOAT0}:float0[]");
        }
        write!(f, "{}:{}[]", self.value, self.dtype)
    }
}
