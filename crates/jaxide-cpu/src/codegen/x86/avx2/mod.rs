//! AVX2 with FMA, F16C and BMI2: 8 lanes, or 4 in a body with 64-bit values; a mask is a vector of ones or zeros, with lanes of
//! 64 bits in such a body.

mod convert;
mod float16;
mod integer;
mod mask;
mod memory;
mod ops;

use super::bytes::Bytes;
use super::lir::*;
use super::table::{self, Row};
use super::target::{Divisor, Shape};
use crate::lanes::Ty;
use Operand::{As, Imm};
use iced_x86::Code;

/// The instruction set, for one body.
pub(super) struct Avx2 {
    /// Whether a lane may hold 64 bits: then 32-bit values take half a register.
    pub(super) wide: bool,
}

const V128: Class = Class::Vector(Width::V128);
const V256: Class = Class::Vector(Width::V256);

impl Shape for Avx2 {
    const EVEX: bool = false;

    const VECTORS: u8 = 16;

    type Bytes = Bytes<false>;

    const BYTES: Bytes<false> = Bytes;

    fn lanes(&self) -> i64 {
        if self.wide { 4 } else { 8 }
    }

    fn class(&self, ty: Ty) -> Class {
        Class::Vector(self.width(ty))
    }

    fn width(&self, ty: Ty) -> Width {
        if self.wide && ty.bits() == 32 {
            Width::V128
        } else {
            Width::V256
        }
    }
}

impl Avx2 {
    /// The type whose lanes a value has: a mask has those of an integer.
    fn lane(&self, ty: Ty) -> Ty {
        match (ty, self.wide) {
            (Ty::Mask, true) => Ty::I64,
            (Ty::Mask, false) => Ty::I32,
            _ => ty,
        }
    }

    /// The low halves of four 64-bit lanes.
    fn low_halves(&self, asm: &mut Asm, a: Reg) -> Reg {
        let dst = asm.reg(V128);
        self.low_halves_to(asm, dst, a);
        dst
    }

    fn low_halves_to(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let high = self.high(asm, a);
        let operands = [As(a, Width::V128), Operand::Reg(high), Imm(0x88)];
        self.emit_to(asm, v128(&table::VSHUFPS), dst, &operands);
    }

    /// The upper 128 bits.
    fn high(&self, asm: &mut Asm, a: Reg) -> Reg {
        let dst = asm.reg(V128);
        let code = v256(&table::VEXTRACTI128);
        asm.op(Op {
            rm: None,
            ..Op::new(code, Some(dst), &[Operand::Reg(a), Imm(1)])
        });
        dst
    }

    fn join(&self, asm: &mut Asm, dst: Reg, low: Reg, high: Reg) {
        let code = v256(&table::VINSERTI128);
        let operands = [As(low, Width::V256), Operand::Reg(high), Imm(1)];
        asm.op(Op {
            rm: Some(1),
            ..Op::new(code, Some(dst), &operands)
        });
    }

    /// Applies `f`, which takes four 32-bit lanes to four, to all lanes.
    fn in_fours(&self, asm: &mut Asm, dst: Reg, a: &[Reg], f: impl Fn(&mut Asm, Reg, &[Operand])) {
        if self.wide {
            let a: Vec<Operand> = a.iter().map(|&r| Operand::Reg(r)).collect();
            return f(asm, dst, &a);
        }
        let lower: Vec<Operand> = a.iter().map(|&r| As(r, Width::V128)).collect();
        let low = asm.reg(V128);
        f(asm, low, &lower);
        let upper: Vec<Operand> = a.iter().map(|&r| Operand::Reg(self.high(asm, r))).collect();
        let high = asm.reg(V128);
        f(asm, high, &upper);
        self.join(asm, dst, low, high);
    }
}

/// The form of an instruction for half a register.
fn v128(row: &Row) -> Code {
    row.form(false, Width::V128)
}

/// The form for a whole one.
fn v256(row: &Row) -> Code {
    row.form(false, Width::V256)
}
