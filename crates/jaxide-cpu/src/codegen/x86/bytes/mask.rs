//! Masks, comparisons and choice.

use super::*;
use crate::codegen::x86::table::*;
use crate::codegen::x86::target::Masks;
use crate::lanes::BinOp;
use iced_x86::Register;

impl<const EVEX: bool> Masks for Bytes<EVEX> {
    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool) {
        let constant = self.splat(asm, Ty::I32, if value { 0xff } else { 0 });
        asm.put(dst, constant);
    }

    /// Of one copy: there are no more lanes than bits.
    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64) {
        if copy > 0 {
            never("copies of what is left")
        }
        // Loads and stores count the lanes.
        if !EVEX {
            return self.mask_constant(asm, dst, true);
        }
        let bits = asm.reg(Class::Mask);
        let from = Operand::Gpr(Register::RDX);
        asm.op(Op::new(Code::VEX_Kmovq_kr_r64, Some(bits), &[from]));
        self.bits_to_bytes(asm, dst, bits);
    }

    fn test_any(&self, _: &mut Asm, _: &[Reg]) {
        never("lanes that stop apart")
    }

    fn mask_to_gpr(&self, _: &mut Asm, _: Reg) {
        never("lane that is worked on alone")
    }
}

impl<const EVEX: bool> Bytes<EVEX> {
    /// A mask from one bit for each lane.
    fn bits_to_bytes(&self, asm: &mut Asm, dst: Reg, bits: Reg) {
        asm.op(Op {
            rm: None,
            ..Op::new(Self::whole(&VPMOVM2B), Some(dst), &[Operand::Reg(bits)])
        });
    }

    /// One bit for each lane of a mask, which are taken at once.
    pub(super) fn bits(&self, asm: &mut Asm, mask: Reg) -> Reg {
        let bits = asm.reg(Class::Mask);
        asm.op(Op {
            rm: None,
            ..Op::new(Self::whole(&VPMOVB2M), Some(bits), &[Operand::Reg(mask)])
        });
        bits
    }

    /// Where a byte is not zero.
    pub(super) fn is_true(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        if EVEX {
            let bits = asm.reg(Class::Mask);
            self.pair(asm, &VPTESTMB, bits, a, a);
            return self.bits_to_bytes(asm, dst, bits);
        }
        let zero = self.splat(asm, Ty::I32, 0);
        let not = self.register(asm);
        self.pair(asm, &VPCMPEQB, not, a, zero);
        self.not(asm, dst, not);
    }

    pub(super) fn compare(&self, asm: &mut Asm, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        if EVEX {
            // By the numbers that the processor gives to predicates.
            let (row, predicate) = match op {
                BinOp::Eq => (&VPCMPB, 0),
                BinOp::Ne => (&VPCMPB, 4),
                BinOp::Lt => (&VPCMPB, 1),
                BinOp::Le => (&VPCMPB, 2),
                BinOp::LtU => (&VPCMPUB, 1),
                _ => (&VPCMPUB, 2),
            };
            let bits = asm.reg(Class::Mask);
            let operands = [Operand::Reg(a), Operand::Reg(b), Imm(predicate)];
            self.on(asm, row, bits, &operands);
            return self.bits_to_bytes(asm, dst, bits);
        }
        let equal = |asm: &mut Asm, dst: Reg, a: Reg, b: Reg| self.pair(asm, &VPCMPEQB, dst, a, b);
        let above = |asm: &mut Asm, dst: Reg, a: Reg, b: Reg| self.pair(asm, &VPCMPGTB, dst, a, b);
        // The lesser of two is the first one.
        let not_above = |asm: &mut Asm, dst: Reg, a: Reg, b: Reg| {
            let least = self.register(asm);
            self.pair(asm, &VPMINUB, least, a, b);
            equal(asm, dst, least, a);
        };
        let negated = |asm: &mut Asm, f: &dyn Fn(&mut Asm, Reg, Reg, Reg), a: Reg, b: Reg| {
            let inverse = self.register(asm);
            f(asm, inverse, a, b);
            self.not(asm, dst, inverse);
        };
        match op {
            BinOp::Eq => equal(asm, dst, a, b),
            BinOp::Ne => negated(asm, &equal, a, b),
            BinOp::Lt => above(asm, dst, b, a),
            BinOp::Le => negated(asm, &above, a, b),
            BinOp::LtU => negated(asm, &not_above, b, a),
            _ => not_above(asm, dst, a, b),
        }
    }

    pub(super) fn blend(&self, asm: &mut Asm, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        if EVEX {
            let bits = self.bits(asm, mask);
            return asm.op(Op {
                mask: Some((bits, false)),
                ..Op::new(
                    Self::whole(&VPBLENDMB),
                    Some(dst),
                    &[Operand::Reg(b), Operand::Reg(a)],
                )
            });
        }
        let operands = [Operand::Reg(b), Operand::Reg(a), Operand::Reg(mask)];
        asm.op(Op {
            rm: Some(1),
            ..Op::new(Self::whole(&VPBLENDVB), Some(dst), &operands)
        });
    }
}
