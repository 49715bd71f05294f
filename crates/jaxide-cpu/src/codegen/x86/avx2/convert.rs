//! Conversions between integers and floats.

use super::*;
use crate::codegen::x86::target::{CMP_LE, CMP_ORD};
use table::*;

impl Avx2 {
    pub(super) fn int_to_float(
        &self,
        asm: &mut Asm,
        signed: bool,
        from: Ty,
        to: Ty,
        dst: Reg,
        a: Reg,
    ) {
        let to_single = |asm: &mut Asm, dst, d| {
            self.emit_to(asm, v256(&VCVTPD2PS), dst, &[Operand::Reg(d)]);
        };
        match (from, to, signed) {
            (Ty::I32, Ty::F32, true) => {
                let code = self.form(&VCVTDQ2PS, to);
                self.emit_to(asm, code, dst, &[Operand::Reg(a)]);
            }
            (Ty::I32, Ty::F32, false) => self.in_fours(asm, dst, &[a], |asm, dst, v| {
                let d = self.to_doubles(asm, false, v[0]);
                to_single(asm, dst, d);
            }),
            (Ty::I32, _, _) => self.to_doubles_to(asm, signed, dst, Operand::Reg(a)),
            (_, Ty::F32, _) => {
                let exact = self.collect_low_bits(asm, signed, a);
                let d = asm.reg(V256);
                self.int_64_to_double(asm, signed, d, exact);
                to_single(asm, dst, d);
            }
            _ => self.int_64_to_double(asm, signed, dst, a),
        }
    }

    /// Float to signed integer: what is too large or NaN comes out as the lowest integer at first.
    pub(super) fn float_to_signed(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let (from, a) = if (from, to) == (Ty::F32, Ty::I64) {
            let operands = [Operand::Reg(a)];
            (Ty::F64, self.emit(asm, v256(&VCVTPS2PD), V256, &operands))
        } else {
            (from, a)
        };
        let raw = match (from, to) {
            (Ty::F32, _) => {
                let code = self.form(&VCVTTPS2DQ, from);
                self.emit(asm, code, self.class(from), &[Operand::Reg(a)])
            }
            (_, Ty::I32) => self.emit(asm, v256(&VCVTTPD2DQ), V128, &[Operand::Reg(a)]),
            _ => self.doubles_to_int_64(asm, a),
        };
        let exponent = if to == Ty::I32 { 31 } else { 63 };
        let limit = self.float(asm, from, 2f64.powi(exponent));
        let above = self.compare(asm, from, limit, a, CMP_LE);
        let ordered = self.compare(asm, from, a, a, CMP_ORD);
        let [above, ordered] = [above, ordered].map(|mask| {
            if from == Ty::F64 && to == Ty::I32 {
                self.low_halves(asm, mask)
            } else {
                mask
            }
        });
        let most = self.splat(asm, to, to.bit_mask() >> 1);
        let limited = self.blend(asm, to, above, most, raw);
        self.two_to(asm, &PAND, to, dst, limited, ordered);
    }

    /// Doubles below 2^63, rounded toward zero; lower ones than -2^63 give that. The upper and the lower 32 bits are each the low bits of a sum.
    fn doubles_to_int_64(&self, asm: &mut Asm, a: Reg) -> Reg {
        let ty = Ty::F64;
        let [least, down, up, upper, lower] = [
            -(2f64.powi(63)),
            2f64.powi(-32),
            2f64.powi(32),
            1.5 * 2f64.powi(52),
            2f64.powi(52),
        ]
        .map(|x| self.float(asm, ty, x));
        let round = |asm: &mut Asm, x: Reg, how: u8| {
            let operands = [Operand::Reg(x), Imm(how)];
            self.emit(asm, self.code(&ROUND, ty), V256, &operands)
        };
        let whole = round(asm, a, 11);
        let whole = self.two(asm, &MAX, ty, whole, least);
        let high = self.two(asm, &MUL, ty, whole, down);
        let high = round(asm, high, 9);
        let product = self.two(asm, &MUL, ty, high, up);
        let low = self.two(asm, &SUB, ty, whole, product);
        let high = self.two(asm, &ADD, ty, high, upper);
        let high = self.shift(asm, &PSLL_IMM, Ty::I64, high, 32);
        let low = self.two(asm, &ADD, ty, low, lower);
        let low = self.two(asm, &PXOR, Ty::I64, low, lower);
        self.two(asm, &PADD, Ty::I64, high, low)
    }

    pub(super) fn float_to_unsigned(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
        // NaN and negative values become 0.
        let zero = self.float(asm, from, 0.0);
        let a = self.two(asm, &MAX, from, a, zero);
        if to == Ty::I32 {
            if from == Ty::F64 {
                return self.doubles_to_unsigned(asm, dst, a);
            }
            return self.in_fours(asm, dst, &[a], |asm, dst, v| {
                let d = asm.reg(V256);
                asm.op(Op {
                    rm: None,
                    ..Op::new(v256(&VCVTPS2PD), Some(d), v)
                });
                self.doubles_to_unsigned(asm, dst, d);
            });
        }
        let a = if from == Ty::F32 {
            self.emit(asm, v256(&VCVTPS2PD), V256, &[Operand::Reg(a)])
        } else {
            a
        };
        // From 2^63 on without the top bit, which then joins the integer.
        let [half, all] = [63, 64].map(|k| self.float(asm, Ty::F64, 2f64.powi(k)));
        let large = self.compare(asm, Ty::F64, half, a, CMP_LE);
        let excess = self.two(asm, &PAND, Ty::I64, large, half);
        let rest = self.two(asm, &SUB, Ty::F64, a, excess);
        let int = self.doubles_to_int_64(asm, rest);
        let sign = self.splat(asm, Ty::I64, 1 << 63);
        let top = self.two(asm, &PAND, Ty::I64, large, sign);
        let int = self.two(asm, &PXOR, Ty::I64, int, top);
        let above = self.compare(asm, Ty::F64, all, a, CMP_LE);
        self.two_to(asm, &POR, Ty::I64, dst, int, above);
    }

    /// Four 32-bit integers as doubles.
    pub(super) fn to_doubles(&self, asm: &mut Asm, signed: bool, a: Operand) -> Reg {
        let dst = asm.reg(V256);
        self.to_doubles_to(asm, signed, dst, a);
        dst
    }

    fn to_doubles_to(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Operand) {
        let double = |asm: &mut Asm, dst, a: Operand| {
            asm.op(Op {
                rm: None,
                ..Op::new(v256(&VCVTDQ2PD), Some(dst), &[a])
            });
        };
        if signed {
            return double(asm, dst, a);
        }
        let flip = asm.splat(Width::V128, 4, 1 << 31);
        let flipped = asm.reg(V128);
        asm.op(Op {
            rm: Some(1),
            ..Op::new(v128(&VPXORD), Some(flipped), &[a, Operand::Reg(flip)])
        });
        let d = asm.reg(V256);
        double(asm, d, Operand::Reg(flipped));
        let back = asm.splat(Width::V256, 8, 2f64.powi(31).to_bits());
        let operands = [Operand::Reg(d), Operand::Reg(back)];
        self.emit_to(asm, v256(&VADDPD), dst, &operands);
    }

    /// Four doubles as unsigned 32-bit integers; what is too large, and NaN, comes out as all ones, negative values as zero.
    pub(super) fn doubles_to_unsigned(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let [zero, most, half] = [0.0, 4_294_967_295.0, 2_147_483_648.0f64]
            .map(|x| asm.splat(Width::V256, 8, x.to_bits()));
        let binary = |asm: &mut Asm, row, a, b| {
            self.emit(asm, v256(row), V256, &[Operand::Reg(a), Operand::Reg(b)])
        };
        // The minimum gives its second operand for NaN.
        let a = binary(asm, &VMINPD, a, most);
        let a = binary(asm, &VMAXPD, a, zero);
        let a = self.emit(asm, v256(&VRNDSCALEPD), V256, &[Operand::Reg(a), Imm(11)]);
        let a = binary(asm, &VSUBPD, a, half);
        let a = self.emit(asm, v256(&VCVTTPD2DQ), V128, &[Operand::Reg(a)]);
        let flip = asm.splat(Width::V128, 4, 1 << 31);
        let operands = [Operand::Reg(a), Operand::Reg(flip)];
        self.emit_to(asm, v128(&VPXORD), dst, &operands);
    }

    /// Four 64-bit integers as doubles, rounded once.
    fn int_64_to_double(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg) {
        let ty = Ty::I64;
        // Both halves as low bits of floats whose last places count 2^32 and 1. Signed numbers are moved up by 2^63 before.
        let a = if signed {
            let sign = self.splat(asm, ty, 1 << 63);
            self.two(asm, &PXOR, ty, a, sign)
        } else {
            a
        };
        let high = self.shift(asm, &PSRL_IMM, ty, a, 32);
        let high_one = self.float(asm, Ty::F64, 2f64.powi(84));
        let high = self.two(asm, &POR, ty, high, high_one);
        let low_mask = self.splat(asm, ty, 0xffff_ffff);
        let low = self.two(asm, &PAND, ty, a, low_mask);
        let low_one = self.float(asm, Ty::F64, 2f64.powi(52));
        let low = self.two(asm, &POR, ty, low, low_one);
        let added = 2f64.powi(84) + 2f64.powi(52) + if signed { 2f64.powi(63) } else { 0.0 };
        let added = self.float(asm, Ty::F64, added);
        let high = self.two(asm, &SUB, Ty::F64, high, added);
        self.two_to(asm, &ADD, Ty::F64, dst, high, low);
    }

    /// A 64-bit integer that a double holds exactly and that rounds to the same single: low bits of large numbers are collected in one.
    fn collect_low_bits(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
        let ty = Ty::I64;
        let low = self.splat(asm, ty, 0x7ff);
        let rest = self.splat(asm, ty, !0xfff);
        let bit = self.splat(asm, ty, 0x800);
        let some = self.two(asm, &PAND, ty, a, low);
        let some = self.two(asm, &PADD, ty, some, low);
        let some = self.two(asm, &POR, ty, some, a);
        let some = self.two(asm, &PAND, ty, some, bit);
        let upper = self.two(asm, &PAND, ty, a, rest);
        let odd = self.two(asm, &POR, ty, upper, some);
        // Small ones stay: those with |a| < 2^53.
        let (moved, bits) = if signed {
            let limit = self.splat(asm, ty, 1 << 53);
            (self.two(asm, &PADD, ty, a, limit), 54)
        } else {
            (a, 53)
        };
        let over = self.shift(asm, &PSRL_IMM, ty, moved, bits);
        let zero = self.splat(asm, ty, 0);
        let small = self.two(asm, &PCMPEQ, ty, over, zero);
        self.blend(asm, ty, small, a, odd)
    }
}
