//! Integer arithmetic that has no instruction of its own.

use super::*;
use crate::codegen::x86::target::Memory;
use crate::lanes::{BinOp, MemTy};
use crate::narrow;
use iced_x86::Register;
use table::*;

impl Avx2 {
    pub(super) fn abs_64(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let sign = self.negative(asm, Ty::I64, a);
        let flipped = self.two(asm, &PXOR, Ty::I64, a, sign);
        self.two_to(asm, &PSUB, Ty::I64, dst, flipped, sign);
    }

    pub(super) fn clz(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let code = if ty == Ty::I64 {
            Code::Lzcnt_r64_rm64
        } else {
            Code::Lzcnt_r32_rm32
        };
        self.lane_by_lane(asm, code, ty, dst, a);
    }

    pub(super) fn popcount(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let code = if ty == Ty::I64 {
            Code::Popcnt_r64_rm64
        } else {
            Code::Popcnt_r32_rm32
        };
        self.lane_by_lane(asm, code, ty, dst, a);
    }

    pub(super) fn min_max_64(&self, asm: &mut Asm, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        use BinOp::*;
        let less = if matches!(op, MinS | MaxS) { Lt } else { LtU };
        let less = self.compare_int(asm, less, Ty::I64, a, b);
        let (x, y) = if matches!(op, MinS | MinU) {
            (a, b)
        } else {
            (b, a)
        };
        self.blend_to(asm, Ty::I64, dst, less, x, y);
    }

    pub(super) fn shift_right_signed(
        &self,
        asm: &mut Asm,
        ty: Ty,
        dst: Reg,
        a: Reg,
        logical: impl FnOnce(&mut Asm, Reg) -> Reg,
    ) {
        // Negative numbers as their complements, which fill with zeros.
        let sign = self.negative(asm, ty, a);
        let positive = self.two(asm, &PXOR, ty, a, sign);
        let shifted = logical(asm, positive);
        self.two_to(asm, &PXOR, ty, dst, shifted, sign);
    }

    /// All ones where an integer is negative.
    fn negative(&self, asm: &mut Asm, ty: Ty, a: Reg) -> Reg {
        let zero = self.splat(asm, ty, 0);
        self.two(asm, &PCMPGT, ty, zero, a)
    }

    /// Products of 64-bit lanes, from products of their halves.
    pub(super) fn mul_64(&self, asm: &mut Asm, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I64;
        let [ah, bh] = [a, b].map(|x| self.shift(asm, &PSRL_IMM, ty, x, 32));
        let x = self.two(asm, &PMULUDQ, ty, ah, b);
        let y = self.two(asm, &PMULUDQ, ty, a, bh);
        let cross = self.two(asm, &PADD, ty, x, y);
        let cross = self.shift(asm, &PSLL_IMM, ty, cross, 32);
        let low = self.two(asm, &PMULUDQ, ty, a, b);
        self.two_to(asm, &PADD, ty, dst, low, cross);
    }

    /// High halves of the products of 32-bit lanes: those of even and of odd lanes apart.
    pub(super) fn mul_hi_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I32;
        let product = if signed { &VPMULDQ } else { &VPMULUDQ };
        let class = self.class(ty);
        let product = |asm: &mut Asm, a, b| {
            let operands = [Operand::Reg(a), Operand::Reg(b)];
            self.emit(asm, self.form(product, ty), class, &operands)
        };
        let right = |asm: &mut Asm, a: Reg| {
            let dst = asm.reg(class);
            let code = self.form(&VPSRLQ, ty);
            asm.op(Op {
                rm: None,
                ..Op::new(code, Some(dst), &[Operand::Reg(a), Imm(32)])
            });
            dst
        };
        let even = product(asm, a, b);
        let (x, y) = (right(asm, a), right(asm, b));
        let odd = product(asm, x, y);
        let even = right(asm, even);
        let operands = [Operand::Reg(even), Operand::Reg(odd), Imm(0xaa)];
        self.emit_to(asm, self.form(&VPBLENDD, ty), dst, &operands);
    }

    /// High halves of the products of 64-bit lanes, from products of their halves.
    pub(super) fn mul_hi_64(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I64;
        let low = self.splat(asm, ty, 0xffff_ffff);
        let right = |asm: &mut Asm, a| self.shift(asm, &PSRL_IMM, ty, a, 32);
        let product = |asm: &mut Asm, a, b| self.two(asm, &PMULUDQ, ty, a, b);
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
            let sign = self.negative(asm, ty, x);
            let excess = self.two(asm, &PAND, ty, sign, y);
            high = self.two(asm, &PSUB, ty, high, excess);
        }
        asm.put(dst, high);
    }

    /// Quotient of 32-bit lanes through doubles, which hold it exactly enough to truncate right.
    pub(super) fn divide_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let quotient = if signed {
            self.vector(asm, Ty::I32)
        } else {
            dst
        };
        self.in_fours(asm, quotient, &[a, b], |asm, dst, v| {
            let x = self.to_doubles(asm, signed, v[0]);
            let y = self.to_doubles(asm, signed, v[1]);
            let q = self.two(asm, &DIV, Ty::F64, x, y);
            if signed {
                return self.emit_to(asm, v256(&VCVTTPD2DQ), dst, &[Operand::Reg(q)]);
            }
            self.doubles_to_unsigned(asm, dst, q);
        });
        if !signed {
            return;
        }
        let zero = self.splat(asm, Ty::I32, 0);
        let ones = self.splat(asm, Ty::I32, u64::MAX);
        let none = self.two(asm, &PCMPEQ, Ty::I32, b, zero);
        self.blend_to(asm, Ty::I32, dst, none, ones, quotient);
    }

    /// Applies a scalar instruction from memory to a general register to each lane.
    pub(super) fn lane_by_lane(&self, asm: &mut Asm, code: Code, ty: Ty, dst: Reg, a: Reg) {
        let (at, step) = (asm.buffer(32), ty.bits() as i32 / 8);
        let (mem, to, back) = if step == 8 {
            (MemTy::I64, Register::RAX, Code::Mov_rm64_r64)
        } else {
            (MemTy::I32, Register::EAX, Code::Mov_rm32_r32)
        };
        self.store(asm, mem, Mem::frame(at), a, None);
        for lane in 0..narrow(self.lanes()) {
            let element = Int::Mem(Mem::frame(at + step * lane));
            asm.int(code, &[Int::Gpr(to), element]);
            asm.int(back, &[element, Int::Gpr(to)]);
        }
        self.load(asm, mem, dst, Mem::frame(at), None);
    }
}
