//! Conversions between integers and floats.

use super::*;
use crate::codegen::x86::target::{CMP_LE, CMP_ORD};
use table::*;

impl Avx512 {
    pub(super) fn int_to_float(
        &self,
        asm: &mut Asm,
        signed: bool,
        from: Ty,
        to: Ty,
        dst: Reg,
        a: Reg,
    ) {
        let row = match (from, to, signed) {
            (Ty::I32, Ty::F32, true) => &VCVTDQ2PS,
            (Ty::I32, Ty::F32, false) => &VCVTUDQ2PS,
            (Ty::I32, _, true) => &VCVTDQ2PD,
            (Ty::I32, _, false) => &VCVTUDQ2PD,
            (_, Ty::F32, true) => &VCVTQQ2PS,
            (_, Ty::F32, false) => &VCVTUQQ2PS,
            (_, _, true) => &VCVTQQ2PD,
            (_, _, false) => &VCVTUQQ2PD,
        };
        self.convert(asm, row, from, to, dst, a);
    }

    /// Float to signed integer: what is too large or NaN comes out as the lowest integer at first.
    pub(super) fn float_to_signed(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let row = match (from, to) {
            (Ty::F32, Ty::I32) => &VCVTTPS2DQ,
            (Ty::F32, _) => &VCVTTPS2QQ,
            (_, Ty::I32) => &VCVTTPD2DQ,
            _ => &VCVTTPD2QQ,
        };
        let exponent = if to == Ty::I32 { 31 } else { 63 };
        let limit = self.float(asm, from, 2f64.powi(exponent));
        let above = self.compare(asm, &CMP, from, limit, a, CMP_LE);
        let ordered = self.compare(asm, &CMP, from, a, a, CMP_ORD);
        let most = self.splat(asm, to, to.bit_mask() >> 1);
        let limited = self.vector(asm, to);
        self.convert(asm, row, from, to, limited, a);
        self.merging(asm, above, self.copy(to, limited, most));
        self.zeroing(asm, ordered, self.copy(to, dst, limited));
    }

    pub(super) fn float_to_unsigned(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let row = match (from, to) {
            (Ty::F32, Ty::I32) => &VCVTTPS2UDQ,
            (Ty::F32, _) => &VCVTTPS2UQQ,
            (_, Ty::I32) => &VCVTTPD2UDQ,
            _ => &VCVTTPD2UQQ,
        };
        // NaN and negative values become 0; what is too large comes out as all ones by itself.
        let zero = self.splat(asm, from, 0);
        let limited = self.two(asm, &MAX, from, a, zero);
        self.convert(asm, row, from, to, dst, limited);
    }

    /// A conversion by one instruction, whose lanes may change width.
    fn convert(&self, asm: &mut Asm, row: &Row, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let longest = if from.bits() == 64 { from } else { to };
        self.emit_to(asm, self.form(row, longest), dst, &[Operand::Reg(a)]);
    }

    /// Eight 32-bit integers, the first in a register, as doubles.
    pub(super) fn to_doubles(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
        let row = if signed { &VCVTDQ2PD } else { &VCVTUDQ2PD };
        let dst = asm.reg(V512);
        asm.op(Op {
            rm: None,
            ..Op::new(v512(row), Some(dst), &[As(a, Width::V256)])
        });
        dst
    }
}
