//! Integer arithmetic that has no instruction of its own.

use super::mask::INT_EQ;
use super::*;
use crate::narrow;
use table::*;

impl Avx512 {
    /// Number of one bits, by adding neighbours.
    pub(super) fn popcount(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        if self.popcnt {
            return self.one_to(asm, &POPCNT, ty, dst, a);
        }
        let [c1, c2, c4, one] = [
            0x5555_5555_5555_5555,
            0x3333_3333_3333_3333,
            0x0f0f_0f0f_0f0f_0f0f,
            0x0101_0101_0101_0101,
        ]
        .map(|p| self.splat(asm, ty, p));
        let upper = self.shift(asm, &PSRL_IMM, ty, a, 1);
        let upper = self.two(asm, &PAND, ty, upper, c1);
        let pairs = self.two(asm, &PSUB, ty, a, upper);
        let upper = self.shift(asm, &PSRL_IMM, ty, pairs, 2);
        let upper = self.two(asm, &PAND, ty, upper, c2);
        let lower = self.two(asm, &PAND, ty, pairs, c2);
        let fours = self.two(asm, &PADD, ty, lower, upper);
        let upper = self.shift(asm, &PSRL_IMM, ty, fours, 4);
        let bytes = self.two(asm, &PADD, ty, fours, upper);
        let bytes = self.two(asm, &PAND, ty, bytes, c4);
        let sum = self.two(asm, &PMULL, ty, bytes, one);
        self.shift_to(asm, &PSRL_IMM, ty, dst, sum, narrow(ty.bits() - 8));
    }

    /// High halves of the products of 32-bit lanes: those of even and of odd lanes apart.
    pub(super) fn mul_hi_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I32;
        let product = if signed { &VPMULDQ } else { &VPMULUDQ };
        let class = self.class(ty);
        let plain = |asm: &mut Asm, row, operands: &[Operand]| {
            let dst = asm.reg(class);
            asm.op(Op::new(self.form(row, ty), Some(dst), operands));
            dst
        };
        let product =
            |asm: &mut Asm, a, b| plain(asm, product, &[Operand::Reg(a), Operand::Reg(b)]);
        let right = |asm: &mut Asm, a| plain(asm, &VPSRLQ, &[Operand::Reg(a), Imm(32)]);
        let even = product(asm, a, b);
        let (x, y) = (right(asm, a), right(asm, b));
        let odd = product(asm, x, y);
        let even = right(asm, even);
        let lanes = self.odd_lanes(asm);
        let operands = [Operand::Reg(even), Operand::Reg(odd)];
        asm.op(Op {
            mask: Some((lanes, false)),
            ..Op::new(self.code(&PBLENDM, ty), Some(dst), &operands)
        });
    }

    /// High halves of the products of 64-bit lanes, from products of their halves.
    pub(super) fn mul_hi_64(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I64;
        let low = self.splat(asm, ty, 0xffff_ffff);
        let right = |asm: &mut Asm, a| self.shift(asm, &PSRL_IMM, ty, a, 32);
        let product = |asm: &mut Asm, a, b| {
            let dst = asm.reg(V512);
            let operands = [Operand::Reg(a), Operand::Reg(b)];
            asm.op(Op::new(v512(&VPMULUDQ), Some(dst), &operands));
            dst
        };
        let add = |asm: &mut Asm, a, b| self.two(asm, &PADD, ty, a, b);
        let (ah, bh) = (right(asm, a), right(asm, b));
        let (ll, lh) = (product(asm, a, b), product(asm, a, bh));
        let (hl, hh) = (product(asm, ah, b), product(asm, ah, bh));
        let carry = right(asm, ll);
        let middle = add(asm, hl, carry);
        let rest = self.two(asm, &PAND, ty, middle, low);
        let other = add(asm, lh, rest);
        let (x, y) = (right(asm, middle), right(asm, other));
        let sum = add(asm, hh, x);
        if !signed {
            return self.two_to(asm, &PADD, ty, dst, sum, y);
        }
        let mut high = add(asm, sum, y);
        for (x, y) in [(a, b), (b, a)] {
            let sign = self.shift(asm, &PSRA_IMM, ty, x, 63);
            let excess = self.two(asm, &PAND, ty, sign, y);
            high = self.two(asm, &PSUB, ty, high, excess);
        }
        asm.put(dst, high);
    }

    /// Quotient of 32-bit lanes through doubles, which hold it exactly enough to truncate right.
    pub(super) fn divide_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, by: Divisor) {
        let Divisor {
            value: b,
            reciprocal,
        } = by;
        let row = if signed { &VCVTTPD2DQ } else { &VCVTTPD2UDQ };
        let half = |asm: &mut Asm, a: Reg, b: Reg| {
            let x = self.to_doubles(asm, signed, a);
            let q = if let Some(reciprocal) = reciprocal {
                self.two(asm, &MUL, Ty::F64, x, reciprocal)
            } else {
                let y = self.to_doubles(asm, signed, b);
                self.two(asm, &DIV, Ty::F64, x, y)
            };
            let dst = asm.reg(V256);
            asm.op(Op::new(v512(row), Some(dst), &[Operand::Reg(q)]));
            dst
        };
        let quotient = if self.wide {
            half(asm, a, b)
        } else {
            let high = |asm: &mut Asm, v: Reg| {
                let dst = asm.reg(V256);
                asm.op(Op {
                    rm: None,
                    ..Op::new(v512(&VEXTRACTI64X4), Some(dst), &[Operand::Reg(v), Imm(1)])
                });
                dst
            };
            let ah = high(asm, a);
            let bh = if reciprocal.is_some() {
                b
            } else {
                high(asm, b)
            };
            let (low, high) = (half(asm, a, b), half(asm, ah, bh));
            let both = asm.reg(V512);
            let operands = [As(low, Width::V512), Operand::Reg(high), Imm(1)];
            asm.op(Op {
                rm: None,
                ..Op::new(v512(&VINSERTI64X4), Some(both), &operands)
            });
            both
        };
        if !signed {
            // By zero the conversion gives all ones, as wanted.
            return asm.put(dst, quotient);
        }
        let zero = self.splat(asm, Ty::I32, 0);
        let ones = self.splat(asm, Ty::I32, u64::MAX);
        let none = self.compare(asm, &PCMP, Ty::I32, b, zero, INT_EQ);
        self.blend_to(asm, Ty::I32, dst, none, ones, quotient);
    }
}
