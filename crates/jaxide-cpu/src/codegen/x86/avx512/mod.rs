//! AVX-512 (F, CD, BW, DQ, VL): 16 lanes, or 8 in a body with 64-bit values; masks in mask registers.

mod convert;
mod float16;
mod integer;
mod mask;
mod memory;
mod ops;

use super::bytes::Bytes;
use super::halves::Halves;
use super::lir::*;
use super::table::{self, Row};
use super::target::{Divisor, Shape};
use crate::lanes::Ty;
use Operand::{As, Imm};
use iced_x86::Code;

/// The instruction set, for one body.
pub(super) struct Avx512 {
    /// Whether a lane may hold 64 bits, or there are few lanes: then 32-bit values take half a register.
    pub(super) wide: bool,
    /// Whether the machine counts bits in vectors.
    pub(super) popcnt: bool,
    /// Whether the machine computes with binary16.
    pub(super) halves: bool,
}

/// Lanes of a body with 64-bit values.
pub(super) const WIDE_LANES: usize = 8;

const V128: Class = Class::Vector(Width::V128);
const V256: Class = Class::Vector(Width::V256);
const V512: Class = Class::Vector(Width::V512);

impl Shape for Avx512 {
    const EVEX: bool = true;

    const VECTORS: u8 = 32;

    type Bytes = Bytes<true>;

    const BYTES: Bytes<true> = Bytes;

    fn lanes(&self) -> i64 {
        if self.wide { WIDE_LANES as i64 } else { 16 }
    }

    fn class(&self, ty: Ty) -> Class {
        if ty == Ty::Mask {
            Class::Mask
        } else {
            Class::Vector(self.width(ty))
        }
    }

    fn halves(&self) -> Option<Halves> {
        let width = if self.wide { Width::V128 } else { Width::V256 };
        self.halves.then_some(Halves(width))
    }

    fn width(&self, ty: Ty) -> Width {
        if self.wide && ty.bits() != 64 {
            Width::V256
        } else {
            Width::V512
        }
    }
}

impl Avx512 {
    /// Where the mask holds, the result of an instruction becomes what it gives; elsewhere it stays.
    fn merging(&self, asm: &mut Asm, mask: Reg, o: Op) {
        asm.op(Op {
            mask: Some((mask, false)),
            tied: true,
            ..o
        });
    }

    /// Where the mask does not hold, the result of an instruction is zero.
    fn zeroing(&self, asm: &mut Asm, mask: Reg, o: Op) {
        asm.op(Op {
            mask: Some((mask, true)),
            ..o
        });
    }

    /// A copy of a vector, as an instruction that takes a mask.
    fn copy(&self, ty: Ty, dst: Reg, a: Reg) -> Op {
        Op::new(self.code(&table::MOVE, ty), Some(dst), &[Operand::Reg(a)])
    }

    /// The 32-bit lanes of a vector narrowed by an instruction whose memory form is its first operand.
    fn narrow(&self, asm: &mut Asm, row: &Row, class: Class, operands: &[Operand]) -> Reg {
        let dst = asm.reg(class);
        let code = self.form(row, Ty::I32);
        asm.op(Op {
            rm: None,
            ..Op::new(code, Some(dst), operands)
        });
        dst
    }

    /// The register that holds as many 16-bit elements as there are lanes.
    fn words(&self) -> Class {
        if self.wide { V128 } else { V256 }
    }
}

/// The form of an instruction for 16 bytes.
fn v128(row: &Row) -> Code {
    row.form(true, Width::V128)
}

/// The form for a whole register.
fn v512(row: &Row) -> Code {
    row.form(true, Width::V512)
}
