//! Elements as lane values, and the operations on them.
//!
//! An element is one lane value or, for complex numbers and random keys, several. Integers narrower than 32 bits live sign- or
//! zero-extended in 32 bits and are brought back into that form after every operation that leaves it; 16-bit floats live as
//! `f32` and are rounded after every operation, as the interpreter rounds.

mod bits;
mod complex;
mod convert;
mod float;
mod function;
mod integer;
mod map;
mod random;
mod small;

use super::graph::Combine;
use crate::lanes::{BinOp, Builder, MemTy, Ty, Value};
use crate::narrow;
use jaxide_core::{DType, small_float};
use smallvec::{SmallVec, smallvec};

pub(crate) use map::{has_lane_form, map};

/// The lane values of one element.
pub(crate) type Element = SmallVec<[Value; 2]>;

/// The kind of arithmetic that an element type has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    Bool,
    Int {
        bits: u32,
        signed: bool,
    },
    Float(Format),
    Complex(Ty),
    /// Random keys: that many words.
    Key(u32),
    /// The code of a small float: moved as it is, and a number of 32 bits in arithmetic.
    Small,
    /// No bytes at all.
    Empty,
}

/// Floats by how they are rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    F16,
    Bf16,
    F32,
    F64,
}

impl Format {
    /// The lane type that holds it.
    pub(crate) fn ty(self) -> Ty {
        match self {
            Format::F64 => Ty::F64,
            Format::F16 | Format::Bf16 | Format::F32 => Ty::F32,
        }
    }
}

/// The class of an element type.
pub(crate) fn class(dtype: DType) -> Class {
    match dtype {
        DType::Bool => Class::Bool,
        DType::I2 | DType::I4 | DType::I8 | DType::I16 | DType::I32 | DType::I64 => Class::Int {
            bits: narrow(dtype.bits()),
            signed: true,
        },
        DType::U2 | DType::U4 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => Class::Int {
            bits: narrow(dtype.bits()),
            signed: false,
        },
        DType::F16 => Class::Float(Format::F16),
        DType::BF16 => Class::Float(Format::Bf16),
        DType::F32 => Class::Float(Format::F32),
        DType::F64 => Class::Float(Format::F64),
        DType::C64 => Class::Complex(Ty::F32),
        DType::C128 => Class::Complex(Ty::F64),
        DType::KeyFry => Class::Key(2),
        DType::KeyRbg | DType::KeyUnsafeRbg => Class::Key(4),
        DType::F4E2M1Fn
        | DType::F8E3M4
        | DType::F8E4M3
        | DType::F8E4M3B11Fnuz
        | DType::F8E4M3Fn
        | DType::F8E4M3Fnuz
        | DType::F8E5M2
        | DType::F8E5M2Fnuz
        | DType::F8E8M0Fnu => Class::Small,
        DType::Float0 => Class::Empty,
    }
}

/// The memory types of an element's components, in order; each follows the one before.
pub(crate) fn components(dtype: DType) -> SmallVec<[MemTy; 4]> {
    match dtype {
        DType::Bool => smallvec![MemTy::Bool],
        DType::I2 | DType::I4 | DType::I8 => smallvec![MemTy::I8],
        DType::I16 => smallvec![MemTy::I16],
        DType::U16 => smallvec![MemTy::U16],
        DType::I32 | DType::U32 => smallvec![MemTy::I32],
        DType::I64 | DType::U64 => smallvec![MemTy::I64],
        DType::F16 => smallvec![MemTy::F16],
        DType::BF16 => smallvec![MemTy::Bf16],
        DType::F32 => smallvec![MemTy::F32],
        DType::F64 => smallvec![MemTy::F64],
        DType::C64 => smallvec![MemTy::F32; 2],
        DType::C128 => smallvec![MemTy::F64; 2],
        DType::KeyFry => smallvec![MemTy::I32; 2],
        DType::KeyRbg | DType::KeyUnsafeRbg => smallvec![MemTy::I32; 4],
        DType::U2
        | DType::U4
        | DType::U8
        | DType::F4E2M1Fn
        | DType::F8E3M4
        | DType::F8E4M3
        | DType::F8E4M3B11Fnuz
        | DType::F8E4M3Fn
        | DType::F8E4M3Fnuz
        | DType::F8E5M2
        | DType::F8E5M2Fnuz
        | DType::F8E8M0Fnu => smallvec![MemTy::U8],
        DType::Float0 => smallvec![],
    }
}

/// The element with these bytes.
#[allow(
    clippy::cast_possible_truncation,
    reason = "the type tells how many bits there are"
)]
pub(crate) fn constant(b: &mut Builder, dtype: DType, bytes: &[u8]) -> Element {
    let mut at = 0;
    components(dtype)
        .into_iter()
        .map(|mem| {
            let size = narrow(mem.size());
            let mut wide = [0u8; 8];
            wide[..size].copy_from_slice(&bytes[at..at + size]);
            at += size;
            let bits = u64::from_le_bytes(wide);
            let lane = match mem {
                MemTy::Bool => u64::from(bits != 0),
                MemTy::I8 => i64::from(bits as u8 as i8) as u64,
                MemTy::I16 => i64::from(bits as u16 as i16) as u64,
                MemTy::F16 => u64::from(half::f16::from_bits(bits as u16).to_f32().to_bits()),
                MemTy::Bf16 => u64::from(half::bf16::from_bits(bits as u16).to_f32().to_bits()),
                MemTy::U8 | MemTy::U16 | MemTy::I32 | MemTy::I64 | MemTy::F32 | MemTy::F64 => bits,
            };
            b.constant(mem.lane(), lane)
        })
        .collect()
}

/// The element that `combine` leaves others unchanged with, and the first one of [`Combine::Replace`].
pub(crate) fn neutral(b: &mut Builder, combine: Combine, dtype: DType) -> Element {
    let number = |b: &mut Builder, value: f64, int: i64| -> Element {
        components(dtype)
            .iter()
            .enumerate()
            .map(|(k, mem)| {
                let ty = mem.lane();
                let first = k == 0;
                match ty {
                    Ty::F32 | Ty::F64 => b.float(ty, if first { value } else { 0.0 }),
                    Ty::I32 | Ty::I64 => b.int(ty, if first { int } else { 0 }),
                    Ty::Mask => b.mask(int != 0),
                }
            })
            .collect()
    };
    let limits = |largest: bool| match class(dtype) {
        Class::Int { bits, signed: true } => {
            let max = i64::MAX >> (64 - bits);
            if largest { max } else { -max - 1 }
        }
        Class::Int {
            bits,
            signed: false,
        } => {
            if largest {
                (u64::MAX >> (64 - bits)) as i64
            } else {
                0
            }
        }
        Class::Bool
        | Class::Float(_)
        | Class::Complex(_)
        | Class::Key(_)
        | Class::Small
        | Class::Empty => i64::from(largest),
    };
    if class(dtype) == Class::Small {
        // The lowest and highest numbers rather than infinities, which not every format has.
        let codes = (0..=u8::MAX >> (8 - dtype.bits())).filter_map(|code| {
            let number = small_float::decode(dtype, code)?;
            (!number.is_nan()).then_some((code, number))
        });
        let code = match combine {
            Combine::Min => codes
                .max_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(code, _)| code),
            Combine::Max => codes
                .min_by(|a, b| a.1.total_cmp(&b.1))
                .map(|(code, _)| code),
            Combine::Mul => small_float::encode(dtype, 1.0),
            Combine::Add
            | Combine::Sub
            | Combine::And
            | Combine::Or
            | Combine::Xor
            | Combine::Replace => small_float::encode(dtype, 0.0),
        };
        return smallvec![b.i32(code.unwrap_or(0).into())];
    }
    match combine {
        Combine::Add | Combine::Sub | Combine::Or | Combine::Xor | Combine::Replace => {
            number(b, 0.0, 0)
        }
        Combine::Mul => number(b, 1.0, 1),
        Combine::And => match class(dtype) {
            Class::Int {
                bits,
                signed: false,
            } if bits < 32 => number(b, 0.0, (1 << bits) - 1),
            Class::Bool => number(b, 0.0, 1),
            _ => number(b, 0.0, -1),
        },
        Combine::Min => {
            let most = limits(true);
            number(b, f64::INFINITY, most)
        }
        Combine::Max => {
            let least = limits(false);
            number(b, f64::NEG_INFINITY, least)
        }
    }
}

/// Whether a type has infinities, with which [`neutral`] then begins extrema.
pub(crate) fn has_infinity(dtype: DType) -> bool {
    match class(dtype) {
        Class::Float(_) | Class::Complex(_) => true,
        Class::Small => (0..=u8::MAX >> (8 - dtype.bits()))
            .filter_map(|code| small_float::decode(dtype, code))
            .any(f64::is_infinite),
        Class::Bool | Class::Int { .. } | Class::Key(_) | Class::Empty => false,
    }
}

/// Two elements made one.
pub(crate) fn combine(
    b: &mut Builder,
    how: Combine,
    dtype: DType,
    x: &Element,
    y: &Element,
) -> Element {
    use super::graph::MapOp;
    let op = match how {
        Combine::Add => MapOp::Add,
        Combine::Sub => MapOp::Sub,
        Combine::Mul => MapOp::Mul,
        Combine::Min => MapOp::Min,
        Combine::Max => MapOp::Max,
        Combine::And => MapOp::And,
        Combine::Or => MapOp::Or,
        Combine::Xor => MapOp::Xor,
        Combine::Replace => return y.clone(),
    };
    match (class(dtype), op) {
        // A sum of truth values is a disjunction.
        (Class::Bool, MapOp::Add | MapOp::Max) => smallvec![b.or(x[0], y[0])],
        (Class::Bool, MapOp::Mul | MapOp::Min) => smallvec![b.and(x[0], y[0])],
        _ => map(b, op, &[dtype, dtype], dtype, &[x.clone(), y.clone()]),
    }
}

/// `if mask { x } else { y }`, component by component.
pub(crate) fn select(b: &mut Builder, mask: Value, x: &Element, y: &Element) -> Element {
    x.iter()
        .zip(y)
        .map(|(&x, &y)| b.select(mask, x, y))
        .collect()
}

/// Brings an integer of `bits` bits, whose low bits are right, into its extended form.
fn wrap(b: &mut Builder, bits: u32, signed: bool, v: Value) -> Value {
    if bits >= 32 {
        return v;
    }
    if signed {
        let shift = b.i32((32 - bits) as i32);
        let high = b.shl(v, shift);
        b.shr_s(high, shift)
    } else {
        let mask = b.i32((1i32 << bits) - 1);
        b.and(v, mask)
    }
}

/// Rounds a result computed in the lane type.
fn round(b: &mut Builder, format: Format, v: Value) -> Value {
    use crate::lanes::UnOp;
    match format {
        Format::F16 => b.un(UnOp::RoundF16, Ty::F32, v),
        Format::Bf16 => b.un(UnOp::RoundBf16, Ty::F32, v),
        Format::F32 | Format::F64 => v,
    }
}

/// `x < y` for integers.
fn int_less(b: &mut Builder, signed: bool, x: Value, y: Value) -> Value {
    b.bin(if signed { BinOp::Lt } else { BinOp::LtU }, x, y)
}

/// `x <= y` for integers.
fn int_less_equal(b: &mut Builder, signed: bool, x: Value, y: Value) -> Value {
    b.bin(if signed { BinOp::Le } else { BinOp::LeU }, x, y)
}
