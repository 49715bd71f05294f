//! Integer arithmetic that has no instruction of its own in any instruction set.

use super::*;
use crate::lanes::{BinOp, MemTy, Ty, UnOp};

impl<T: Target> Emitter<'_, T> {
    /// Computes the reciprocals of what 32-bit lanes are divided by, where it is the same for all, once.
    pub(super) fn find_reciprocals(&mut self) {
        let body = self.body;
        for v in body.values() {
            let Inst::Bin(op, _, b) = v.inst else {
                continue;
            };
            let signed = matches!(op, BinOp::DivS | BinOp::RemS);
            let divides = signed || matches!(op, BinOp::DivU | BinOp::RemU);
            let by = &body.values()[b.index()];
            let same = by.block == BlockId::PROLOGUE && by.ty == Ty::I32;
            if divides
                && same
                && v.block != BlockId::PROLOGUE
                && !self.reciprocals.contains_key(&(b, signed))
            {
                let by = self.get(b, 0);
                let reciprocal = self.target.reciprocal(&mut self.asm, signed, by);
                self.reciprocals.insert((b, signed), reciprocal);
            }
        }
    }

    /// Division of 64-bit lanes with XLA's results where the machine traps: through doubles, in one step where all numbers are small; where one is
    /// not, in two steps, or one lane after the other where conversions of large integers have no instructions.
    pub(super) fn divide_64(&mut self, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        let (large, done) = (self.asm.label(), self.asm.label());
        let mask = self.are_large(matches!(op, BinOp::DivS | BinOp::RemS), a, b);
        self.target.test_any(&mut self.asm, &[mask]);
        self.asm.push(Lir::Branch(Cond::NotEqual, large));
        self.divide_small(matches!(op, BinOp::RemS | BinOp::RemU), dst, a, b);
        self.asm.push(Lir::Jump(done));
        self.asm.push(Lir::Label(large));
        let frequency = self.asm.current_frequency;
        if T::EVEX {
            self.asm.current_frequency *= 0.1;
            self.divide_large(op, dst, a, b);
        } else {
            self.asm.current_frequency *= 0.01;
            self.divide_one_by_one(op, dst, a, b);
        }
        self.asm.current_frequency = frequency;
        self.asm.push(Lir::Label(done));
    }

    /// An operation on two 64-bit lanes.
    fn two_64(&mut self, op: BinOp, ty: Ty, a: Reg, b: Reg) -> Reg {
        let dst = self.new_reg(ty);
        self.target.bin(&mut self.asm, op, ty, dst, a, b);
        dst
    }

    /// The lanes in which one of two integers has a magnitude of 2⁵¹ or more.
    fn are_large(&mut self, signed: bool, a: Reg, b: Reg) -> Reg {
        let (mut x, mut y) = (a, b);
        if signed {
            let half = self.target.splat(&mut self.asm, Ty::I64, 1 << 51);
            x = self.two_64(BinOp::Add, Ty::I64, x, half);
            y = self.two_64(BinOp::Add, Ty::I64, y, half);
        }
        let both = self.two_64(BinOp::Or, Ty::I64, x, y);
        let high = self.new_reg(Ty::I64);
        let bits = if signed { 52 } else { 51 };
        self.target
            .shift_by(&mut self.asm, BinOp::ShrU, Ty::I64, high, both, bits);
        let zero = self.target.splat(&mut self.asm, Ty::I64, 0);
        let mask = self.new_reg(Ty::Mask);
        self.target
            .bin(&mut self.asm, BinOp::Ne, Ty::I64, mask, high, zero);
        mask
    }

    /// Division of integers that are below 2⁵¹. Doubles hold them, their quotients after truncation, and what is multiplied back.
    fn divide_small(&mut self, remainder: bool, dst: Reg, a: Reg, b: Reg) {
        /// In doubles of its size the last bits are those of an integer.
        const SHIFT: f64 = (3u64 << 51) as f64;
        let shift = self.target.float(&mut self.asm, Ty::F64, SHIFT);
        let bits = self.target.splat(&mut self.asm, Ty::I64, SHIFT.to_bits());
        let mut double = |v: Reg| {
            let moved = self.two_64(BinOp::Add, Ty::I64, v, bits);
            self.two_64(BinOp::Sub, Ty::F64, moved, shift)
        };
        let (x, y) = (double(a), double(b));
        let exact = self.two_64(BinOp::Div, Ty::F64, x, y);
        let mut result = self.new_reg(Ty::F64);
        self.target
            .un(&mut self.asm, UnOp::Trunc, Ty::F64, Ty::F64, result, exact);
        if remainder {
            let back = self.two_64(BinOp::Mul, Ty::F64, result, y);
            result = self.two_64(BinOp::Sub, Ty::F64, x, back);
        }
        let moved = self.two_64(BinOp::Add, Ty::F64, result, shift);
        let result = self.two_64(BinOp::Sub, Ty::I64, moved, bits);
        self.unless_by_zero(remainder, dst, (a, b), result);
    }

    /// A function of one 64-bit lane.
    fn one_64(&mut self, op: UnOp, [from, to]: [Ty; 2], a: Reg) -> Reg {
        let dst = self.new_reg(to);
        self.target.un(&mut self.asm, op, from, to, dst, a);
        dst
    }

    /// All ones where an integer is negative.
    fn sign_64(&mut self, a: Reg) -> Reg {
        let sign = self.new_reg(Ty::I64);
        self.target
            .shift_by(&mut self.asm, BinOp::ShrS, Ty::I64, sign, a, 63);
        sign
    }

    /// An integer, negated where `sign` has all bits set.
    fn signed_64(&mut self, a: Reg, sign: Reg) -> Reg {
        let flipped = self.two_64(BinOp::Xor, Ty::I64, a, sign);
        self.two_64(BinOp::Sub, Ty::I64, flipped, sign)
    }

    /// Division of integers of all sizes. Each step takes a quotient in doubles that is below the exact one by less than 2⁻⁴⁹ of it and one, so that
    /// what is left stays positive: below b + 2⁻⁴⁹ a after the first, and below 2 b after the second.
    fn divide_large(&mut self, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        /// Four roundings come to 2⁻⁵¹ at most.
        const BELOW: f64 = 1.0 - 4.0 * f64::EPSILON;
        let signed = matches!(op, BinOp::DivS | BinOp::RemS);
        let remainder = matches!(op, BinOp::RemS | BinOp::RemU);
        let signs = signed.then(|| [a, b].map(|v| self.sign_64(v)));
        let [x, y] = match signs {
            Some([of_a, of_b]) => [(a, of_a), (b, of_b)].map(|(v, sign)| self.signed_64(v, sign)),
            None => [a, b],
        };
        let to_double = [Ty::I64, Ty::F64];
        let below = self.target.float(&mut self.asm, Ty::F64, BELOW);
        let divisor = self.one_64(UnOp::UToF, to_double, y);
        let reciprocal = self.two_64(BinOp::Div, Ty::F64, below, divisor);
        let mut left = x;
        let mut step = || {
            let exact = self.one_64(UnOp::UToF, to_double, left);
            let exact = self.two_64(BinOp::Mul, Ty::F64, exact, reciprocal);
            let part = self.one_64(UnOp::FToU, [Ty::F64, Ty::I64], exact);
            let back = self.two_64(BinOp::Mul, Ty::I64, part, y);
            left = self.two_64(BinOp::Sub, Ty::I64, left, back);
            part
        };
        let parts = [step(), step()];
        let once_more = self.new_reg(Ty::Mask);
        self.target
            .bin(&mut self.asm, BinOp::LeU, Ty::I64, once_more, y, left);
        let (found, next) = if remainder {
            (left, self.two_64(BinOp::Sub, Ty::I64, left, y))
        } else {
            let found = self.two_64(BinOp::Add, Ty::I64, parts[0], parts[1]);
            let one = self.target.splat(&mut self.asm, Ty::I64, 1);
            (found, self.two_64(BinOp::Add, Ty::I64, found, one))
        };
        let mut result = self.new_reg(Ty::I64);
        self.target
            .select(&mut self.asm, Ty::I64, result, once_more, next, found);
        if let Some([of_a, of_b]) = signs {
            let sign = if remainder {
                of_a
            } else {
                self.two_64(BinOp::Xor, Ty::I64, of_a, of_b)
            };
            result = self.signed_64(result, sign);
        }
        self.unless_by_zero(remainder, dst, (a, b), result);
    }

    /// A quotient or remainder, or what it is where the divisor is zero: all ones, or the dividend.
    fn unless_by_zero(&mut self, remainder: bool, dst: Reg, (a, b): (Reg, Reg), result: Reg) {
        let zero = self.target.splat(&mut self.asm, Ty::I64, 0);
        let by_zero = self.new_reg(Ty::Mask);
        self.target
            .bin(&mut self.asm, BinOp::Eq, Ty::I64, by_zero, b, zero);
        let instead = if remainder {
            a
        } else {
            self.target.splat(&mut self.asm, Ty::I64, u64::MAX)
        };
        self.target
            .select(&mut self.asm, Ty::I64, dst, by_zero, instead, result);
    }

    /// Division of 64-bit lanes by the machine's, one lane after the other.
    fn divide_one_by_one(&mut self, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        let (from, by) = (self.asm.buffer(64), self.asm.buffer(64));
        self.target
            .store(&mut self.asm, MemTy::I64, Mem::frame(from), a, None);
        self.target
            .store(&mut self.asm, MemTy::I64, Mem::frame(by), b, None);
        let signed = matches!(op, BinOp::DivS | BinOp::RemS);
        let remainder = matches!(op, BinOp::RemS | BinOp::RemU);
        for lane in 0..narrow(self.target.lanes()) {
            let (dividend, divisor) = (Mem::frame(from + 8 * lane), Mem::frame(by + 8 * lane));
            let (by_zero, by_minus_one, done) =
                (self.asm.label(), self.asm.label(), self.asm.label());
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Mem(dividend)]);
            self.asm
                .int(Code::Cmp_rm64_imm32, &[Int::Mem(divisor), Int::Imm(0)]);
            self.asm.push(Lir::Branch(Cond::Equal, by_zero));
            if signed {
                self.asm
                    .int(Code::Cmp_rm64_imm32, &[Int::Mem(divisor), Int::Imm(-1)]);
                self.asm.push(Lir::Branch(Cond::Equal, by_minus_one));
                self.asm.int(Code::Cqo, &[]);
                self.asm.int(Code::Idiv_rm64, &[Int::Mem(divisor)]);
            } else {
                self.asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RDX), Int::Imm(0)]);
                self.asm.int(Code::Div_rm64, &[Int::Mem(divisor)]);
            }
            if remainder {
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Gpr(RDX)]);
            }
            self.asm.push(Lir::Jump(done));
            self.asm.push(Lir::Label(by_zero));
            if !remainder {
                self.asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(-1)]);
            }
            self.asm.push(Lir::Jump(done));
            self.asm.push(Lir::Label(by_minus_one));
            if remainder {
                self.asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(0)]);
            } else {
                self.asm.int(Code::Neg_rm64, &[Int::Gpr(RAX)]);
            }
            self.asm.push(Lir::Label(done));
            self.asm
                .int(Code::Mov_rm64_r64, &[Int::Mem(dividend), Int::Gpr(RAX)]);
        }
        self.target
            .load(&mut self.asm, MemTy::I64, dst, Mem::frame(from), None);
    }
}
