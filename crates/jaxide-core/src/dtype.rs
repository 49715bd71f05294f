//! Element types and their names, sizes and families.

use std::fmt;

macro_rules! dtypes {
    ($($(#[$doc:meta])* $variant:ident $short:literal $numpy:literal $bytes:literal;)*) => {
        /// The type of an array's elements.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $($(#[$doc])* $variant,)* }

        impl DType {
            /// Every element type.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// The name in a jaxpr's types: `f32`, `bool`, `key<fry>`.
            pub const fn short_name(self) -> &'static str {
                match self { $(DType::$variant => $short,)* }
            }

            /// NumPy's name, as parameters print it: `float32`, `bool`.
            pub const fn numpy_name(self) -> &'static str {
                match self { $(DType::$variant => $numpy,)* }
            }

            /// Bytes that one element takes in memory here. Types of four bits take a whole byte.
            #[inline]
            pub const fn size(self) -> usize {
                match self { $(DType::$variant => $bytes,)* }
            }

            /// The type with this short name.
            pub fn from_short_name(name: &str) -> Option<DType> {
                match name { $($short => Some(DType::$variant),)* _ => None }
            }

            /// The type with this NumPy name.
            pub fn from_numpy_name(name: &str) -> Option<DType> {
                match name { $($numpy => Some(DType::$variant),)* _ => None }
            }
        }
    };
}

dtypes! {
    /// Truth values, one byte each, 0 or 1.
    Bool "bool" "bool" 1;
    /// Signed, 2 bits (held in a byte).
    I2 "i2" "int2" 1;
    /// Signed, 4 bits (held in a byte).
    I4 "i4" "int4" 1;
    /// Signed, 8 bits.
    I8 "i8" "int8" 1;
    /// Signed, 16 bits.
    I16 "i16" "int16" 2;
    /// Signed, 32 bits.
    I32 "i32" "int32" 4;
    /// Signed, 64 bits.
    I64 "i64" "int64" 8;
    /// Unsigned, 2 bits (held in a byte).
    U2 "u2" "uint2" 1;
    /// Unsigned, 4 bits (held in a byte).
    U4 "u4" "uint4" 1;
    /// Unsigned, 8 bits.
    U8 "u8" "uint8" 1;
    /// Unsigned, 16 bits.
    U16 "u16" "uint16" 2;
    /// Unsigned, 32 bits.
    U32 "u32" "uint32" 4;
    /// Unsigned, 64 bits.
    U64 "u64" "uint64" 8;
    /// Float, 2 exponent and 1 mantissa bits, finite only (held in a byte).
    F4E2M1Fn "f4_e2m1fn" "float4_e2m1fn" 1;
    /// Float, 3 exponent and 4 mantissa bits.
    F8E3M4 "f8_e3m4" "float8_e3m4" 1;
    /// Float, 4 exponent and 3 mantissa bits, IEEE-like.
    F8E4M3 "f8_e4m3" "float8_e4m3" 1;
    /// Float, 4 exponent (bias 11) and 3 mantissa bits, finite, unsigned zero.
    F8E4M3B11Fnuz "f8_e4m3b11fnuz" "float8_e4m3b11fnuz" 1;
    /// Float, 4 exponent and 3 mantissa bits, finite plus NaN.
    F8E4M3Fn "f8_e4m3fn" "float8_e4m3fn" 1;
    /// Float, 4 exponent and 3 mantissa bits, finite, unsigned zero.
    F8E4M3Fnuz "f8_e4m3fnuz" "float8_e4m3fnuz" 1;
    /// Float, 5 exponent and 2 mantissa bits, IEEE-like.
    F8E5M2 "f8_e5m2" "float8_e5m2" 1;
    /// Float, 5 exponent and 2 mantissa bits, finite, unsigned zero.
    F8E5M2Fnuz "f8_e5m2fnuz" "float8_e5m2fnuz" 1;
    /// Exponent only: powers of two.
    F8E8M0Fnu "f8_e8m0fnu" "float8_e8m0fnu" 1;
    /// bfloat16: 8 exponent and 7 mantissa bits.
    BF16 "bf16" "bfloat16" 2;
    /// IEEE half precision.
    F16 "f16" "float16" 2;
    /// IEEE single precision.
    F32 "f32" "float32" 4;
    /// IEEE double precision.
    F64 "f64" "float64" 8;
    /// Complex of two `f32`.
    C64 "c64" "complex64" 8;
    /// Complex of two `f64`.
    C128 "c128" "complex128" 16;
    /// The tangent type of integers: no information, no bytes.
    Float0 "float0" "float0" 0;
    /// A Threefry random key: two `u32` words.
    KeyFry "key<fry>" "key<fry>" 8;
    /// A random key of the bit generator: four `u32` words.
    KeyRbg "key<rbg>" "key<rbg>" 16;
    /// A random key of the bit generator with cheap splitting: four `u32` words.
    KeyUnsafeRbg "key<urbg>" "key<urbg>" 16;
}

impl DType {
    /// Signed integers of any width.
    pub const fn is_signed_integer(self) -> bool {
        matches!(
            self,
            DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64
        )
    }

    /// Unsigned integers of any width.
    pub const fn is_unsigned_integer(self) -> bool {
        matches!(
            self,
            DType::U2 | DType::U4 | DType::U8 | DType::U16 | DType::U32 | DType::U64
        )
    }

    /// Integers of any width; `bool` is not one.
    pub const fn is_integer(self) -> bool {
        self.is_signed_integer() || self.is_unsigned_integer()
    }

    /// Real floating-point types of any width.
    pub const fn is_float(self) -> bool {
        matches!(
            self,
            DType::F4E2M1Fn
                | DType::F8E3M4
                | DType::F8E4M3
                | DType::F8E4M3B11Fnuz
                | DType::F8E4M3Fn
                | DType::F8E4M3Fnuz
                | DType::F8E5M2
                | DType::F8E5M2Fnuz
                | DType::F8E8M0Fnu
                | DType::BF16
                | DType::F16
                | DType::F32
                | DType::F64
        )
    }

    /// `c64` and `c128`.
    pub const fn is_complex(self) -> bool {
        matches!(self, DType::C64 | DType::C128)
    }

    /// Types that derivatives exist for: floats and complex numbers.
    pub const fn is_inexact(self) -> bool {
        self.is_float() || self.is_complex()
    }

    /// Typed random keys.
    pub const fn is_key(self) -> bool {
        matches!(self, DType::KeyFry | DType::KeyRbg | DType::KeyUnsafeRbg)
    }

    /// How many `u32` words a random key holds; `None` for other types.
    pub const fn key_words(self) -> Option<usize> {
        if self.is_key() {
            Some(self.size() / 4)
        } else {
            None
        }
    }

    /// Significant bits of an element: 4 for `i4`, 32 for `f32`.
    pub const fn bits(self) -> usize {
        match self {
            DType::I2 | DType::U2 => 2,
            DType::I4 | DType::U4 | DType::F4E2M1Fn => 4,
            _ => self.size() * 8,
        }
    }

    /// The real type of a complex type's parts; other types unchanged.
    pub const fn real(self) -> DType {
        match self {
            DType::C64 => DType::F32,
            DType::C128 => DType::F64,
            other => other,
        }
    }

    /// The complex type whose parts have this type, if there is one.
    pub const fn complex(self) -> Option<DType> {
        match self {
            DType::F32 | DType::C64 => Some(DType::C64),
            DType::F64 | DType::C128 => Some(DType::C128),
            _ => None,
        }
    }

    /// The type of tangents: itself for floats and complex numbers, `float0` for all others.
    pub const fn tangent(self) -> DType {
        if self.is_inexact() {
            self
        } else {
            DType::Float0
        }
    }

    /// The unsigned integer of the same width, for bit operations; `None` for complex, keys and `float0`.
    pub const fn unsigned_of_same_size(self) -> Option<DType> {
        if self.is_complex() || self.is_key() {
            return None;
        }
        match self.size() {
            1 => Some(DType::U8),
            2 => Some(DType::U16),
            4 => Some(DType::U32),
            8 => Some(DType::U64),
            _ => None,
        }
    }
}

/// The short name, as in a jaxpr's types.
impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short_name())
    }
}
