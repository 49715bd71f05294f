//! The types a lane can hold, and the types memory can hold.

use std::fmt;

/// The type of a lane value.
///
/// Integers carry no sign: operations that depend on it say so ([`BinOp::DivS`](super::BinOp::DivS)
/// and [`BinOp::DivU`](super::BinOp::DivU)), as in machine code. Narrower types exist in memory
/// only, see [`MemTy`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ty {
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
    /// 32 bits, signed or unsigned by operation.
    I32,
    /// 64 bits, signed or unsigned by operation.
    I64,
    /// One bit per lane: true or false.
    Mask,
}

impl Ty {
    /// Whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Ty::F32 | Ty::F64)
    }

    /// Whether this is an integer type (a mask is not).
    pub fn is_int(self) -> bool {
        matches!(self, Ty::I32 | Ty::I64)
    }

    /// Width in bits; 1 for a mask.
    pub fn bits(self) -> u32 {
        match self {
            Ty::F32 | Ty::I32 => 32,
            Ty::F64 | Ty::I64 => 64,
            Ty::Mask => 1,
        }
    }

    /// The integer type of the same width; a mask stays a mask.
    pub fn as_int(self) -> Ty {
        match self {
            Ty::F32 | Ty::I32 => Ty::I32,
            Ty::F64 | Ty::I64 => Ty::I64,
            Ty::Mask => Ty::Mask,
        }
    }

    /// All bits of a value of this type, as a mask over its low bits.
    pub fn bit_mask(self) -> u64 {
        match self.bits() {
            64 => u64::MAX,
            n => (1 << n) - 1,
        }
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ty::F32 => "f32",
            Ty::F64 => "f64",
            Ty::I32 => "i32",
            Ty::I64 => "i64",
            Ty::Mask => "mask",
        })
    }
}

/// The type of an element in memory: widened to a [`Ty`] by a load, narrowed by a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum MemTy {
    /// One byte, 0 or 1; a [`Ty::Mask`] in a lane. A load takes any other byte as true.
    Bool,
    /// One byte, sign-extended to [`Ty::I32`]; a store keeps the low bits.
    I8,
    /// One byte, zero-extended to [`Ty::I32`].
    U8,
    /// Two bytes, sign-extended to [`Ty::I32`].
    I16,
    /// Two bytes, zero-extended to [`Ty::I32`].
    U16,
    /// Four bytes, signed or unsigned.
    I32,
    /// Eight bytes, signed or unsigned.
    I64,
    /// IEEE binary16, [`Ty::F32`] in a lane; a store rounds to nearest even.
    F16,
    /// bfloat16, [`Ty::F32`] in a lane; a store rounds to nearest even.
    Bf16,
    /// IEEE binary32.
    F32,
    /// IEEE binary64.
    F64,
}

impl MemTy {
    /// Every memory type.
    pub const ALL: [MemTy; 11] = [
        MemTy::Bool,
        MemTy::I8,
        MemTy::U8,
        MemTy::I16,
        MemTy::U16,
        MemTy::I32,
        MemTy::I64,
        MemTy::F16,
        MemTy::Bf16,
        MemTy::F32,
        MemTy::F64,
    ];

    /// The type a lane holds after a load.
    pub fn lane(self) -> Ty {
        match self {
            MemTy::Bool => Ty::Mask,
            MemTy::I8 | MemTy::U8 | MemTy::I16 | MemTy::U16 | MemTy::I32 => Ty::I32,
            MemTy::I64 => Ty::I64,
            MemTy::F16 | MemTy::Bf16 | MemTy::F32 => Ty::F32,
            MemTy::F64 => Ty::F64,
        }
    }

    /// Whether a load fills the upper bits with zeros.
    pub(crate) fn is_unsigned(self) -> bool {
        matches!(self, MemTy::U8 | MemTy::U16)
    }

    /// Size in bytes.
    pub fn size(self) -> i64 {
        match self {
            MemTy::Bool | MemTy::I8 | MemTy::U8 => 1,
            MemTy::I16 | MemTy::U16 | MemTy::F16 | MemTy::Bf16 => 2,
            MemTy::I32 | MemTy::F32 => 4,
            MemTy::I64 | MemTy::F64 => 8,
        }
    }
}

impl fmt::Display for MemTy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            MemTy::Bool => "bool",
            MemTy::I8 => "i8",
            MemTy::U8 => "u8",
            MemTy::I16 => "i16",
            MemTy::U16 => "u16",
            MemTy::I32 => "i32",
            MemTy::I64 => "i64",
            MemTy::F16 => "f16",
            MemTy::Bf16 => "bf16",
            MemTy::F32 => "f32",
            MemTy::F64 => "f64",
        })
    }
}
