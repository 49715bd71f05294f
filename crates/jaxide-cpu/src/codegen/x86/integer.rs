//! Integer arithmetic that has no instruction of its own in any instruction set.

use super::*;
use crate::lanes::{BinOp, MemTy};

impl<T: Target> Emitter<'_, T> {
    /// Division of 64-bit lanes with XLA's results where the machine traps.
    pub(super) fn divide_64(&mut self, op: BinOp, dst: Reg, a: Reg, b: Reg) {
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
