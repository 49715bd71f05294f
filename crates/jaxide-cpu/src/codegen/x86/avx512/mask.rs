//! Masks, comparisons and choice.

use super::*;
use crate::codegen::x86::target::{CMP_EQ, CMP_LE, CMP_LT, CMP_NE, Masks};
use crate::lanes::BinOp;
use iced_x86::Register;
use table::*;

impl Masks for Avx512 {
    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool) {
        let row = if value { &KXNOR } else { &KXOR };
        // Of a register itself, whatever it holds.
        let any = Operand::Gpr(Register::K0);
        asm.op(Op {
            rm: None,
            ..Op::new(row.of(self.lanes()), Some(dst), &[any, any])
        });
    }

    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64) {
        let shift = copy * self.lanes();
        let from = if shift == 0 {
            Register::EDX
        } else {
            asm.int(
                Code::Mov_r64_rm64,
                &[Int::Gpr(Register::RAX), Int::Gpr(Register::RDX)],
            );
            asm.int(
                Code::Shr_rm64_imm8,
                &[Int::Gpr(Register::RAX), Int::Imm(shift)],
            );
            Register::EAX
        };
        let code = KMOV_GPR.of(self.lanes());
        asm.op(Op::new(code, Some(dst), &[Operand::Gpr(from)]));
    }

    fn test_any(&self, asm: &mut Asm, masks: &[Reg]) {
        let all = masks[1..]
            .iter()
            .fold(masks[0], |all, &mask| self.mask_two(asm, &KOR, all, mask));
        let operands = [Operand::Reg(all), Operand::Reg(all)];
        asm.op(Op {
            rm: None,
            ..Op::new(KORTEST.of(self.lanes()), None, &operands)
        });
    }

    fn mask_to_gpr(&self, asm: &mut Asm, mask: Reg) {
        let operands = [Operand::Gpr(Register::EDX), Operand::Reg(mask)];
        asm.op(Op {
            rm: None,
            ..Op::new(KMOV_TO_GPR.of(self.lanes()), None, &operands)
        });
    }
}

impl Avx512 {
    pub(super) fn mask_two(&self, asm: &mut Asm, row: &OnMasks, a: Reg, b: Reg) -> Reg {
        let dst = asm.reg(Class::Mask);
        self.mask_two_to(asm, row, dst, a, b);
        dst
    }

    pub(super) fn mask_two_to(&self, asm: &mut Asm, row: &OnMasks, dst: Reg, a: Reg, b: Reg) {
        let operands = [Operand::Reg(a), Operand::Reg(b)];
        asm.op(Op {
            rm: None,
            ..Op::new(row.of(self.lanes()), Some(dst), &operands)
        });
    }

    pub(super) fn mask_not(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        asm.op(Op {
            rm: None,
            ..Op::new(KNOT.of(self.lanes()), Some(dst), &[Operand::Reg(a)])
        });
    }

    /// Every second lane, from the second on.
    pub(super) fn odd_lanes(&self, asm: &mut Asm) -> Reg {
        asm.int(
            Code::Mov_r32_imm32,
            &[Int::Gpr(Register::EAX), Int::Imm(0xaaaa)],
        );
        let mask = asm.reg(Class::Mask);
        let code = KMOV_GPR.of(self.lanes());
        asm.op(Op::new(code, Some(mask), &[Operand::Gpr(Register::EAX)]));
        mask
    }

    /// A comparison by a predicate.
    pub(super) fn compare(
        &self,
        asm: &mut Asm,
        lanes: &Lanes,
        ty: Ty,
        a: Reg,
        b: Reg,
        predicate: u8,
    ) -> Reg {
        let operands = [Operand::Reg(a), Operand::Reg(b), Imm(predicate)];
        self.emit(asm, self.code(lanes, ty), Class::Mask, &operands)
    }

    pub(super) fn compare_float(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        let predicate = match op {
            BinOp::Eq => CMP_EQ,
            BinOp::Ne => CMP_NE,
            BinOp::Lt => CMP_LT,
            _ => CMP_LE,
        };
        let operands = [Operand::Reg(a), Operand::Reg(b), Imm(predicate)];
        self.emit_to(asm, self.code(&CMP, ty), dst, &operands);
    }

    pub(super) fn compare_int(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        let (lanes, predicate) = match op {
            BinOp::Eq => (&PCMP, INT_EQ),
            BinOp::Ne => (&PCMP, INT_NE),
            BinOp::Lt => (&PCMP, INT_LT),
            BinOp::Le => (&PCMP, INT_LE),
            BinOp::LtU => (&PCMPU, INT_LT),
            _ => (&PCMPU, INT_LE),
        };
        let operands = [Operand::Reg(a), Operand::Reg(b), Imm(predicate)];
        self.emit_to(asm, self.code(lanes, ty), dst, &operands);
    }

    /// A copy of a mask, or all lanes, that a gather or scatter may clear.
    pub(super) fn consumable(&self, asm: &mut Asm, exec: Option<Reg>) -> Reg {
        let copy = asm.reg(Class::Mask);
        match exec {
            Some(exec) => asm.put(copy, exec),
            None => self.mask_constant(asm, copy, true),
        }
        copy
    }

    /// The choice by a mask.
    pub(super) fn blend_to(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        let operands = [Operand::Reg(b), Operand::Reg(a)];
        asm.op(Op {
            mask: Some((mask, false)),
            broadcast: true,
            ..Op::new(self.code(&PBLENDM, ty), Some(dst), &operands)
        });
    }
}

/// Predicates of comparisons of integers.
pub(super) const INT_EQ: u8 = 0;
const INT_LT: u8 = 1;
const INT_LE: u8 = 2;
pub(super) const INT_NE: u8 = 4;
