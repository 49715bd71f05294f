//! Lanes of 8 bits, for [bodies](Body::on_bytes) of which a byte of each lane is enough: 64 with AVX-512, 32 with AVX2. What is of 32 bits in the
//! body is a byte here, and a mask a byte of ones or zeros.

mod mask;
mod memory;
mod ops;

use super::lir::*;
use super::table::Row;
use super::target::Shape;
use crate::lanes::Ty;
use Operand::Imm;
use iced_x86::Code;

/// The instruction set on bytes, in EVEX or VEX forms.
pub(super) struct Bytes<const EVEX: bool>;

impl<const EVEX: bool> Shape for Bytes<EVEX> {
    const EVEX: bool = EVEX;

    const VECTORS: u8 = if EVEX { 32 } else { 16 };

    const ON_BYTES: bool = true;

    type Bytes = Self;

    const BYTES: Self = Self;

    fn lanes(&self) -> i64 {
        if EVEX { 64 } else { 32 }
    }

    fn class(&self, ty: Ty) -> Class {
        Class::Vector(self.width(ty))
    }

    fn width(&self, _: Ty) -> Width {
        if EVEX { Width::V512 } else { Width::V256 }
    }

    /// Four bytes alike, which instructions take from memory as one element.
    fn splat(&self, asm: &mut Asm, ty: Ty, bits: u64) -> Reg {
        asm.splat(self.width(ty), 4, (bits & 0xff) * 0x0101_0101)
    }
}

impl<const EVEX: bool> Bytes<EVEX> {
    /// The form of an instruction on bytes or words, for a whole register.
    fn whole(row: &Row) -> Code {
        row.form(EVEX, if EVEX { Width::V512 } else { Width::V256 })
    }

    fn register(&self, asm: &mut Asm) -> Reg {
        self.vector(asm, Ty::I32)
    }

    /// An instruction on bytes or words, which are not taken from memory as one element.
    fn on(&self, asm: &mut Asm, row: &Row, dst: Reg, operands: &[Operand]) {
        asm.op(Op::new(Self::whole(row), Some(dst), operands));
    }

    /// The same of two registers.
    fn pair(&self, asm: &mut Asm, row: &Row, dst: Reg, a: Reg, b: Reg) {
        self.on(asm, row, dst, &[Operand::Reg(a), Operand::Reg(b)]);
    }
}

/// What only bodies do that are not run on bytes.
#[cold]
fn never(what: &str) -> ! {
    unreachable!("a body on bytes has no {what}")
}
