//! binary16 and bfloat16.

use super::*;
use crate::codegen::x86::target::CMP_UNORD;
use table::*;

impl Avx2 {
    /// Singles as bfloat16 in the low bits of each lane.
    pub(super) fn bf16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
        let rounded = self.rounded_upper(asm, a);
        self.shift(asm, &PSRL_IMM, Ty::I32, rounded, 16)
    }

    /// Singles rounded to bfloat16.
    pub(super) fn round_bf16(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let rounded = self.rounded_upper(asm, a);
        let upper = self.splat(asm, Ty::I32, 0xffff_0000);
        self.two_to(asm, &PAND, Ty::I32, dst, rounded, upper);
    }

    /// Singles whose upper halves are the nearest bfloat16, with anything below.
    fn rounded_upper(&self, asm: &mut Asm, a: Reg) -> Reg {
        let ty = Ty::I32;
        let (one, almost_half) = (self.splat(asm, ty, 1), self.splat(asm, ty, 0x7fff));
        let upper = self.shift(asm, &PSRL_IMM, ty, a, 16);
        let odd = self.two(asm, &PAND, ty, upper, one);
        let sum = self.two(asm, &PADD, ty, a, almost_half);
        let sum = self.two(asm, &PADD, ty, sum, odd);
        let unordered = self.compare(asm, Ty::F32, a, a, CMP_UNORD);
        // NaN keeps its sign, and is quiet.
        let quiet = self.splat(asm, ty, 0x40_0000);
        let nan = self.two(asm, &POR, ty, a, quiet);
        self.blend(asm, ty, unordered, nan, sum)
    }

    /// Singles as binary16 in the first bytes of a 128-bit register.
    pub(super) fn f16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
        let dst = asm.reg(V128);
        let code = self.form(&VCVTPS2PH, Ty::F32);
        asm.op(Op {
            rm: None,
            ..Op::new(code, Some(dst), &[Operand::Reg(a), Imm(0)])
        });
        dst
    }

    /// The other way round.
    pub(super) fn f16_to_lane(&self, asm: &mut Asm, dst: Reg, bits: Reg) {
        let code = self.form(&VCVTPH2PS, Ty::F32);
        self.emit_to(asm, code, dst, &[Operand::Reg(bits)]);
    }
}
