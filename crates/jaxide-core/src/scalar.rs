//! Scalars written into the text of a jaxpr.

use std::fmt;
use std::hash::{Hash, Hasher};

use half::{bf16, f16};
use num_complex::Complex;
use smallvec::SmallVec;

use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::small_float;
use crate::tensor::words;

/// A number as the text writes it, before it is rounded to an element type.
///
/// Floats keep the digits that were written: `0.1` beside `f32` stays `0.1` and is rounded when used.
#[derive(Clone, Copy, Debug)]
pub enum Scalar {
    /// `True` or `False`.
    Bool(bool),
    /// An integer up to `i64::MAX`.
    Int(i64),
    /// An integer above `i64::MAX`.
    UInt(u64),
    /// A real number.
    Float(f64),
    /// A complex number.
    Complex(f64, f64),
}

impl Scalar {
    /// An integer of any sign; `None` beyond 64 bits.
    pub fn from_integer(value: i128) -> Option<Scalar> {
        i64::try_from(value)
            .map(Scalar::Int)
            .or_else(|_| u64::try_from(value).map(Scalar::UInt))
            .ok()
    }

    /// The element `bytes` of type `dtype`; `None` for keys. The element of `float0` is `False`.
    ///
    /// # Panics
    /// Never: the wrong number of bytes gives `None`.
    pub fn from_bytes(dtype: DType, bytes: &[u8]) -> Option<Scalar> {
        macro_rules! read {
            ($ty:ty) => {
                bytemuck::try_pod_read_unaligned::<$ty>(bytes).ok()?
            };
        }
        Some(match dtype {
            DType::Bool => Scalar::Bool(read!(u8) != 0),
            DType::I2 | DType::I4 | DType::I8 => Scalar::Int(read!(i8).into()),
            DType::I16 => Scalar::Int(read!(i16).into()),
            DType::I32 => Scalar::Int(read!(i32).into()),
            DType::I64 => Scalar::Int(read!(i64)),
            DType::U2 | DType::U4 | DType::U8 => Scalar::Int(read!(u8).into()),
            DType::U16 => Scalar::Int(read!(u16).into()),
            DType::U32 => Scalar::Int(read!(u32).into()),
            DType::U64 => Scalar::from_integer(read!(u64).into())?,
            DType::F4E2M1Fn
            | DType::F8E3M4
            | DType::F8E4M3
            | DType::F8E4M3B11Fnuz
            | DType::F8E4M3Fn
            | DType::F8E4M3Fnuz
            | DType::F8E5M2
            | DType::F8E5M2Fnuz
            | DType::F8E8M0Fnu => Scalar::Float(small_float::decode(dtype, read!(u8))?),
            DType::BF16 => Scalar::Float(read!(bf16).to_f64()),
            DType::F16 => Scalar::Float(read!(f16).to_f64()),
            DType::F32 => Scalar::Float(read!(f32).into()),
            DType::F64 => Scalar::Float(read!(f64)),
            DType::C64 => {
                let value = read!(Complex<f32>);
                Scalar::Complex(value.re.into(), value.im.into())
            }
            DType::C128 => {
                let value = read!(Complex<f64>);
                Scalar::Complex(value.re, value.im)
            }
            DType::Float0 => Scalar::Bool(false),
            DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg => return None,
        })
    }

    /// The bytes of this number as an element of `dtype`: floats rounded to nearest even, integers
    /// wrapped, anything to `bool` by `!= 0`.
    ///
    /// # Errors
    /// When the number has no meaning in `dtype`: a complex number in a real type, any number in a key.
    pub fn to_bytes(self, dtype: DType) -> Result<SmallVec<[u8; 16]>> {
        let words = self.to_words(dtype)?;
        Ok(SmallVec::from_slice(
            &bytemuck::bytes_of(&words)[..dtype.size()],
        ))
    }

    /// [`to_bytes`](Self::to_bytes) at the beginning of two words.
    ///
    /// # Errors
    /// As [`to_bytes`](Self::to_bytes).
    pub(crate) fn to_words(self, dtype: DType) -> Result<[u64; 2]> {
        let refuse = || Error::dtype(format!("the number {self} has no meaning as {dtype}"));
        let real = |scalar: Scalar| scalar.as_f64().ok_or_else(refuse);
        let int = |scalar: Scalar| scalar.as_integer().ok_or_else(refuse);
        Ok(match dtype {
            DType::Bool => words(u8::from(match self {
                Scalar::Complex(re, im) => re != 0.0 || im != 0.0,
                other => real(other)? != 0.0,
            })),
            DType::I2 => words((int(self)? << 6) as i8 >> 6),
            DType::I4 => words((int(self)? << 4) as i8 >> 4),
            DType::I8 => words(int(self)? as i8),
            DType::I16 => words(int(self)? as i16),
            DType::I32 => words(int(self)? as i32),
            DType::I64 => words(int(self)? as i64),
            DType::U2 => words(int(self)? as u8 & 3),
            DType::U4 => words(int(self)? as u8 & 15),
            DType::U8 => words(int(self)? as u8),
            DType::U16 => words(int(self)? as u16),
            DType::U32 => words(int(self)? as u32),
            DType::U64 => words(int(self)? as u64),
            DType::F4E2M1Fn
            | DType::F8E3M4
            | DType::F8E4M3
            | DType::F8E4M3B11Fnuz
            | DType::F8E4M3Fn
            | DType::F8E4M3Fnuz
            | DType::F8E5M2
            | DType::F8E5M2Fnuz
            | DType::F8E8M0Fnu => {
                words(small_float::encode(dtype, real(self)?).ok_or_else(refuse)?)
            }
            DType::BF16 => words(bf16::from_f64(real(self)?)),
            DType::F16 => words(f16::from_f64(real(self)?)),
            DType::F32 => words(real(self)? as f32),
            DType::F64 => words(real(self)?),
            DType::C64 => {
                let (re, im) = self.as_complex();
                words(Complex::new(re as f32, im as f32))
            }
            DType::C128 => {
                let (re, im) = self.as_complex();
                words(Complex::new(re, im))
            }
            DType::Float0 => [0; 2],
            DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg => return Err(refuse()),
        })
    }

    /// As a real number; `None` for complex numbers.
    pub fn as_f64(self) -> Option<f64> {
        Some(match self {
            Scalar::Bool(value) => f64::from(u8::from(value)),
            Scalar::Int(value) => value as f64,
            Scalar::UInt(value) => value as f64,
            Scalar::Float(value) => value,
            Scalar::Complex(..) => return None,
        })
    }

    /// As an integer, floats truncated (saturating, NaN is 0); `None` for complex numbers.
    pub fn as_integer(self) -> Option<i128> {
        Some(match self {
            Scalar::Bool(value) => value.into(),
            Scalar::Int(value) => value.into(),
            Scalar::UInt(value) => value.into(),
            Scalar::Float(value) => value as i128,
            Scalar::Complex(..) => return None,
        })
    }

    /// As a complex number.
    pub fn as_complex(self) -> (f64, f64) {
        match self {
            Scalar::Complex(re, im) => (re, im),
            Scalar::Bool(value) => (f64::from(u8::from(value)), 0.0),
            Scalar::Int(value) => (value as f64, 0.0),
            Scalar::UInt(value) => (value as f64, 0.0),
            Scalar::Float(value) => (value, 0.0),
        }
    }

    /// What equality and hashing see: the variant and the bits.
    fn bits(self) -> (u8, u64, u64) {
        match self {
            Scalar::Bool(value) => (0, value.into(), 0),
            Scalar::Int(value) => (1, value as u64, 0),
            Scalar::UInt(value) => (2, value, 0),
            Scalar::Float(value) => (3, value.to_bits(), 0),
            Scalar::Complex(re, im) => (4, re.to_bits(), im.to_bits()),
        }
    }
}

/// By bits: NaN equals itself, `-0.0` differs from `0.0`.
impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.bits() == other.bits()
    }
}

impl Eq for Scalar {}

impl Hash for Scalar {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bits().hash(state);
    }
}

/// Python's text of the number: `True`, `3`, `1e-05`, `(1+2j)`.
impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Scalar::Bool(true) => f.write_str("True"),
            Scalar::Bool(false) => f.write_str("False"),
            Scalar::Int(value) => write!(f, "{value}"),
            Scalar::UInt(value) => write!(f, "{value}"),
            Scalar::Float(value) => f.write_str(&python_float(value, true)),
            Scalar::Complex(re, im) => {
                let imaginary = python_float(im, false);
                if re == 0.0 && re.is_sign_positive() {
                    write!(f, "{imaginary}j")
                } else {
                    let plus = if imaginary.starts_with('-') { "" } else { "+" };
                    write!(f, "({}{plus}{imaginary}j)", python_float(re, false))
                }
            }
        }
    }
}

/// Python's `repr` of a float: shortest digits, exponent form below 1e-4 and from 1e16 on.
/// Parts of complex numbers have no `.0`.
fn python_float(value: f64, point: bool) -> String {
    if value.is_nan() {
        return "nan".into();
    }
    if value.is_infinite() {
        return if value > 0.0 {
            "inf".into()
        } else {
            "-inf".into()
        };
    }
    // Of two shortest forms at the same distance Rust takes the upper one and Python the even one, which is also what
    // rounding to a given number of digits gives.
    let shortest = format!("{value:e}");
    let digits = shortest
        .bytes()
        .take_while(|&byte| byte != b'e')
        .filter(u8::is_ascii_digit)
        .count();
    let rounded = format!("{value:.*e}", digits - 1);
    let scientific = if rounded.parse() == Ok(value) {
        rounded
    } else {
        shortest
    };
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    if value != 0.0 && !(-4..16).contains(&exponent) {
        let sign = if exponent < 0 { '-' } else { '+' };
        return format!("{mantissa}e{sign}{:02}", exponent.abs());
    }
    let decimals = usize::try_from(digits as i32 - 1 - exponent).unwrap_or(0);
    let plain = format!("{value:.decimals$}");
    if point && !plain.contains('.') {
        plain + ".0"
    } else {
        plain
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: Scalar, text: &str) {
        assert_eq!(value.to_string(), text);
    }

    #[test]
    fn numbers_print_as_python_prints_them() {
        check(Scalar::Float(0.1f32.into()), "0.10000000149011612");
        check(Scalar::Float(1e-5), "1e-05");
        check(Scalar::Float(f32::MAX.into()), "3.4028234663852886e+38");
        check(Scalar::Float(1e16), "1e+16");
        check(Scalar::Float(5.0 / 8_388_608.0), "5.960464477539062e-07");
        check(Scalar::Float(123456789012345.0), "123456789012345.0");
        check(Scalar::Float(-0.0), "-0.0");
        check(Scalar::Float(f64::NEG_INFINITY), "-inf");
        check(Scalar::Complex(1.0, 2.0), "(1+2j)");
        check(Scalar::Complex(0.0, 3.0), "3j");
        check(Scalar::Complex(0.0, 0.0), "0j");
        check(Scalar::Complex(-0.0, -1.0), "(-0-1j)");
        check(Scalar::Complex(f64::NAN, f64::NAN), "(nan+nanj)");
        check(Scalar::UInt(u64::MAX), "18446744073709551615");
    }
}
