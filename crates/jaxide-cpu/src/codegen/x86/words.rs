//! Elements of 8 and 16 bits that lie anywhere.
//!
//! There are gathers of 32 bits only. Each lane takes the aligned word in which its element lies: what is beside the element in it is in the same
//! line of the cache and the same page, so that a load of it is as good as one of the element.

use super::*;
use crate::lanes::{Addr, BinOp, LaneStep, MemTy, Ty};

impl<T: Target> Emitter<'_, T> {
    /// Loads elements of less than 32 bits by their words, where that can be.
    pub(super) fn load_words(&mut self, mem: MemTy, addr: &Addr, dst: Reg, copy: usize) -> bool {
        let lanes = self.target.lanes();
        let (offsets, scale) = match addr.lane {
            LaneStep::Gather(index, scale @ (1 | 2 | 4 | 8))
                if mem.size() < 4 && self.body.ty(index) == Ty::I32 =>
            {
                (self.get(index, copy), scale)
            }
            LaneStep::Stride(step)
                if mem.size() < 4 && step.saturating_mul(lanes * 4).unsigned_abs() <= 1 << 30 =>
            {
                (self.counting(Ty::I32, copy as i64 * lanes, step), 1)
            }
            LaneStep::Gather(..) | LaneStep::Stride(_) | LaneStep::Uniform => return false,
        };
        // The word of the first address, and how many bytes behind its start that is.
        self.start_to_rax(addr);
        if let LaneStep::Stride(step) = addr.lane {
            let (kept, at) = (self.asm.buffer(8), |at| Int::Mem(Mem::frame(at)));
            self.asm.int(Code::Mov_rm64_r64, &[at(kept), Int::Gpr(RAX)]);
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
            self.multiply_rax(step);
            self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), at(kept)]);
        }
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
        self.asm
            .int(Code::And_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(3)]);
        let behind = self.new_reg(Ty::I32);
        self.target.broadcast_gpr(&mut self.asm, Ty::I32, behind);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Gpr(RDX)]);
        self.asm
            .int(Code::And_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(-4)]);
        // Units of `scale` bytes, which a word has four, two or one of, or which are words or more.
        let scale_bits = scale.trailing_zeros();
        let (words, scale, shift) = if scale >= 4 {
            (offsets, scale, self.shifted(BinOp::Shl, behind, 3))
        } else {
            let units = self.shifted(BinOp::ShrU, behind, scale_bits);
            let units = self.two_words(BinOp::Add, offsets, units);
            let words = self.shifted(BinOp::ShrS, units, 2 - scale_bits);
            let inside = self.masked(units, (4 >> scale_bits) - 1);
            let inside = self.shifted(BinOp::Shl, inside, scale_bits);
            let rest = self.masked(behind, scale - 1);
            let bytes = self.two_words(BinOp::Add, inside, rest);
            let shift = self.shifted(BinOp::Shl, bytes, 3);
            (words, 4, shift)
        };
        let from = Mem::gpr(RAX, 0).indexed(Index::Vector(words), narrow(scale));
        let word = self.new_reg(Ty::I32);
        let exec = self.exec[copy];
        self.target
            .gather(&mut self.asm, Ty::I32, word, from, Ty::I32, exec);
        let low = self.two_words(BinOp::ShrU, word, shift);
        let raw = match mem {
            MemTy::I8 | MemTy::I16 => {
                let unused = 32 - 8 * narrow::<_, u32>(mem.size());
                let high = self.shifted(BinOp::Shl, low, unused);
                self.shifted(BinOp::ShrS, high, unused)
            }
            MemTy::Bool | MemTy::U8 => self.masked(low, 0xff),
            MemTy::U16 | MemTy::F16 => self.masked(low, 0xffff),
            // Its lanes have the other half of the word nowhere.
            MemTy::Bf16 => low,
            MemTy::I32 | MemTy::F32 | MemTy::I64 | MemTy::F64 => {
                unreachable!("elements of 8 and 16 bits")
            }
        };
        self.target.raw_to_lane(&mut self.asm, mem, dst, raw);
        true
    }

    pub(super) fn two_words(&mut self, op: BinOp, a: Reg, b: Reg) -> Reg {
        let dst = self.new_reg(Ty::I32);
        self.target.bin(&mut self.asm, op, Ty::I32, dst, a, b);
        dst
    }

    pub(super) fn shifted(&mut self, op: BinOp, a: Reg, count: u32) -> Reg {
        let dst = self.new_reg(Ty::I32);
        self.target
            .shift_by(&mut self.asm, op, Ty::I32, dst, a, count.into());
        dst
    }

    pub(super) fn masked(&mut self, a: Reg, mask: i64) -> Reg {
        let mask = self.target.splat(&mut self.asm, Ty::I32, mask as u64);
        self.two_words(BinOp::And, a, mask)
    }
}
