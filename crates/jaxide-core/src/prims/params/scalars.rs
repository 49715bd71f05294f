//! Numbers, dtypes and containers of them as parameters.

use std::hash::{Hash, Hasher};

use super::{PyType, PyValue, expected, items};
use crate::dtype::DType;
use crate::jaxpr::{Dims, Scalar};

impl PyType for bool {
    const KIND: &'static str = "bool";

    fn to_py(&self) -> PyValue {
        PyValue::Scalar(Scalar::Bool(*self))
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(Scalar::Bool(value)) => Ok(*value),
            other => expected("a bool", other),
        }
    }
}

macro_rules! integers {
    ($($ty:ty, $kind:literal;)*) => { $(
        impl PyType for $ty {
            const KIND: &'static str = $kind;

            fn to_py(&self) -> PyValue {
                PyValue::Scalar(Scalar::from_integer(*self as i128).unwrap_or(Scalar::Int(0)))
            }

            fn from_py(value: &PyValue) -> Result<Self, String> {
                match value {
                    PyValue::Scalar(scalar @ (Scalar::Int(_) | Scalar::UInt(_))) => scalar
                        .as_integer()
                        .and_then(|value| <$ty>::try_from(value).ok())
                        .map_or_else(|| expected(concat!("an integer (", $kind, ")"), value), Ok),
                    other => expected(concat!("an integer (", $kind, ")"), other),
                }
            }
        }
    )* };
}
integers! { usize, "non-negative int"; i64, "int"; i32, "int"; u32, "non-negative int"; }

/// A real parameter. Two are the same when their bits are, so that it can be part of a key.
#[derive(Clone, Copy, Debug)]
pub struct RealNumber(pub f64);

impl PartialEq for RealNumber {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_bits() == other.0.to_bits()
    }
}

impl Hash for RealNumber {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_bits().hash(state);
    }
}

impl PyType for RealNumber {
    const KIND: &'static str = "float";

    fn to_py(&self) -> PyValue {
        PyValue::Scalar(Scalar::Float(self.0))
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(scalar @ (Scalar::Int(_) | Scalar::UInt(_) | Scalar::Float(_))) => {
                scalar
                    .as_f64()
                    .map_or_else(|| expected("a float", value), |value| Ok(RealNumber(value)))
            }
            other => expected("a float", other),
        }
    }
}

impl PyType for Scalar {
    const KIND: &'static str = "number";

    fn to_py(&self) -> PyValue {
        PyValue::Scalar(*self)
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::Scalar(value) => Ok(*value),
            other => expected("a number", other),
        }
    }
}

impl PyType for DType {
    const KIND: &'static str = "dtype";

    fn to_py(&self) -> PyValue {
        PyValue::DType(*self)
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::DType(dtype) => Ok(*dtype),
            PyValue::Word(name) | PyValue::Str(name) | PyValue::Opaque(name) => {
                DType::from_numpy_name(name).map_or_else(|| expected("a dtype", value), Ok)
            }
            other => expected("a dtype", other),
        }
    }
}

/// A dtype as it was given: where JAX does not look at it, a scalar type prints as Python's `repr` of it.
#[derive(Clone, Debug)]
pub struct SpelledDType {
    dtype: DType,
    /// The whole `repr`, as in `<class 'jax.numpy.float32'>`; `None` for the name alone.
    repr: Option<String>,
}

impl SpelledDType {
    /// The element type.
    pub fn dtype(&self) -> DType {
        self.dtype
    }
}

impl From<DType> for SpelledDType {
    fn from(dtype: DType) -> Self {
        SpelledDType { dtype, repr: None }
    }
}

/// How a type was written does not matter.
impl PartialEq for SpelledDType {
    fn eq(&self, other: &Self) -> bool {
        self.dtype == other.dtype
    }
}

impl Hash for SpelledDType {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.dtype.hash(state);
    }
}

impl PyType for SpelledDType {
    const KIND: &'static str = "dtype";

    fn to_py(&self) -> PyValue {
        match &self.repr {
            Some(repr) => PyValue::Opaque(repr.clone()),
            None => PyValue::DType(self.dtype),
        }
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        let PyValue::Opaque(repr) = value else {
            return DType::from_py(value).map(Self::from);
        };
        let path = repr
            .strip_prefix("<class '")
            .and_then(|rest| rest.strip_suffix("'>"));
        let name = path.and_then(|path| path.rsplit('.').next());
        let dtype = name.and_then(DType::from_numpy_name);
        let Some(dtype) = dtype else {
            return expected("a dtype", value);
        };
        Ok(SpelledDType {
            dtype,
            repr: Some(repr.clone()),
        })
    }
}

impl<T: PyType> PyType for Option<T> {
    const KIND: &'static str = T::KIND;

    fn to_py(&self) -> PyValue {
        self.as_ref().map_or(PyValue::None, PyType::to_py)
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match value {
            PyValue::None => Ok(None),
            other => T::from_py(other).map(Some),
        }
    }

    fn missing() -> Option<Self> {
        Some(None)
    }
}

impl PyType for Dims {
    const KIND: &'static str = "(int, ...)";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(self.iter().map(PyType::to_py).collect())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        items(value)?.iter().map(usize::from_py).collect()
    }
}

impl<T: PyType> PyType for Vec<T> {
    const KIND: &'static str = T::KIND;

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(self.iter().map(PyType::to_py).collect())
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        items(value)?.iter().map(T::from_py).collect()
    }
}

impl<A: PyType, B: PyType> PyType for (A, B) {
    const KIND: &'static str = "pair";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![self.0.to_py(), self.1.to_py()])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match items(value)? {
            [a, b] => Ok((A::from_py(a)?, B::from_py(b)?)),
            _ => expected("a pair", value),
        }
    }
}

impl<A: PyType, B: PyType, C: PyType> PyType for (A, B, C) {
    const KIND: &'static str = "triple";

    fn to_py(&self) -> PyValue {
        PyValue::Tuple(vec![self.0.to_py(), self.1.to_py(), self.2.to_py()])
    }

    fn from_py(value: &PyValue) -> Result<Self, String> {
        match items(value)? {
            [a, b, c] => Ok((A::from_py(a)?, B::from_py(b)?, C::from_py(c)?)),
            _ => expected("a triple", value),
        }
    }
}
