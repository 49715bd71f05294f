//! Masks, comparisons and choice.

use super::*;
use crate::codegen::x86::target::{CMP_EQ, CMP_LE, CMP_LT, CMP_NE, Masks, Operations as _};
use crate::lanes::BinOp;
use iced_x86::Register;
use table::*;

impl Masks for Avx2 {
    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool) {
        let row = if value { &VPCMPEQD } else { &VPXORD };
        // Of a register itself, whatever it holds.
        let any = Operand::Gpr(Register::YMM0);
        self.emit_to(asm, v256(row), dst, &[any, any]);
    }

    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64) {
        let lane = self.lane(Ty::Mask);
        asm.int(
            Code::Mov_r64_rm64,
            &[Int::Gpr(Register::RAX), Int::Gpr(Register::RDX)],
        );
        if copy > 0 {
            asm.int(
                Code::Shr_rm64_imm8,
                &[Int::Gpr(Register::RAX), Int::Imm(copy * self.lanes())],
            );
        }
        let bits = asm.reg(V256);
        self.broadcast_gpr(asm, lane, bits);
        let size = (lane.bits() / 8) as usize;
        let each: Vec<u8> = (0..self.lanes())
            .flat_map(|k| (1u64 << k).to_le_bytes()[..size].to_vec())
            .collect();
        let each = asm.vector(Width::V256, &each);
        let own = self.two(asm, &PAND, lane, bits, each);
        self.two_to(asm, &PCMPEQ, lane, dst, own, each);
    }

    fn test_any(&self, asm: &mut Asm, masks: &[Reg]) {
        let lane = self.lane(Ty::Mask);
        let all = masks[1..]
            .iter()
            .fold(masks[0], |all, &mask| self.two(asm, &POR, lane, all, mask));
        let operands = [Operand::Reg(all), Operand::Reg(all)];
        asm.op(Op {
            rm: None,
            ..Op::new(v256(&VPTEST), None, &operands)
        });
    }

    fn mask_to_gpr(&self, asm: &mut Asm, mask: Reg) {
        let row = if self.wide { &VMOVMSKPD } else { &VMOVMSKPS };
        let operands = [Operand::Gpr(Register::EDX), Operand::Reg(mask)];
        asm.op(Op {
            rm: None,
            ..Op::new(v256(row), None, &operands)
        });
    }
}

impl Avx2 {
    /// A comparison of floats by a predicate, in the form of its operands' lanes.
    pub(super) fn compare(&self, asm: &mut Asm, ty: Ty, a: Reg, b: Reg, predicate: u8) -> Reg {
        let operands = [Operand::Reg(a), Operand::Reg(b), Imm(predicate)];
        self.emit(asm, self.code(&CMP, ty), self.class(ty), &operands)
    }

    pub(super) fn compare_float(&self, asm: &mut Asm, op: BinOp, ty: Ty, a: Reg, b: Reg) -> Reg {
        let predicate = match op {
            BinOp::Eq => CMP_EQ,
            BinOp::Ne => CMP_NE,
            BinOp::Lt => CMP_LT,
            _ => CMP_LE,
        };
        self.compare(asm, ty, a, b, predicate)
    }

    /// A comparison of integers, in their lanes.
    pub(super) fn compare_int(&self, asm: &mut Asm, op: BinOp, ty: Ty, a: Reg, b: Reg) -> Reg {
        use BinOp::*;
        let not = |asm: &mut Asm, mask: Reg| {
            let ones = self.splat(asm, ty, u64::MAX);
            self.two(asm, &PXOR, ty, mask, ones)
        };
        match op {
            Eq => self.two(asm, &PCMPEQ, ty, a, b),
            Ne => {
                let equal = self.two(asm, &PCMPEQ, ty, a, b);
                not(asm, equal)
            }
            Lt => self.two(asm, &PCMPGT, ty, b, a),
            Le => {
                let greater = self.two(asm, &PCMPGT, ty, a, b);
                not(asm, greater)
            }
            _ => {
                let sign = self.splat(asm, ty, 1 << (ty.bits() - 1));
                let [a, b] = [a, b].map(|x| self.two(asm, &PXOR, ty, x, sign));
                self.compare_int(asm, if op == LtU { Lt } else { Le }, ty, a, b)
            }
        }
    }

    /// A comparison's result, in the lanes of `ty`, as a mask.
    pub(super) fn to_mask(&self, asm: &mut Asm, ty: Ty, dst: Reg, holds: Reg) {
        if self.wide && ty.bits() == 32 {
            return self.emit_to(asm, v256(&VPMOVSXDQ), dst, &[Operand::Reg(holds)]);
        }
        asm.put(dst, holds);
    }

    /// A mask in the lanes of `ty`.
    pub(super) fn mask_for(&self, asm: &mut Asm, ty: Ty, mask: Reg) -> Reg {
        if self.wide && ty.bits() == 32 {
            self.low_halves(asm, mask)
        } else {
            mask
        }
    }

    /// A copy of a mask in the lanes of `ty`, or all lanes, that a gather may clear.
    pub(super) fn consumable(&self, asm: &mut Asm, ty: Ty, exec: Option<Reg>) -> Reg {
        let copy = self.vector(asm, ty);
        let mask = match exec {
            Some(exec) => self.mask_for(asm, ty, exec),
            None => self.splat(asm, ty, u64::MAX),
        };
        asm.put(copy, mask);
        copy
    }

    /// The choice by a mask of the same form.
    pub(super) fn blend(&self, asm: &mut Asm, ty: Ty, mask: Reg, a: Reg, b: Reg) -> Reg {
        let dst = self.vector(asm, ty);
        self.blend_to(asm, ty, dst, mask, a, b);
        dst
    }

    pub(super) fn blend_to(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        let row = if ty.bits() == 64 {
            &VBLENDVPD
        } else {
            &VBLENDVPS
        };
        let operands = [Operand::Reg(b), Operand::Reg(a), Operand::Reg(mask)];
        asm.op(Op {
            rm: Some(1),
            ..Op::new(self.form(row, ty), Some(dst), &operands)
        });
    }
}
