//! binary16 and bfloat16.

use super::*;
use crate::codegen::x86::target::CMP_UNORD;
use table::*;

impl Avx2 {
    /// Singles as bfloat16 in the low bits of each lane.
    pub(super) fn bf16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
        let ty = Ty::I32;
        let (one, almost_half) = (self.splat(asm, ty, 1), self.splat(asm, ty, 0x7fff));
        let upper = self.shift(asm, &PSRL_IMM, ty, a, 16);
        let odd = self.two(asm, &PAND, ty, upper, one);
        let sum = self.two(asm, &PADD, ty, a, almost_half);
        let sum = self.two(asm, &PADD, ty, sum, odd);
        let rounded = self.shift(asm, &PSRL_IMM, ty, sum, 16);
        let unordered = self.compare(asm, Ty::F32, a, a, CMP_UNORD);
        // NaN keeps its sign, and is quiet.
        let quiet = self.splat(asm, ty, 0x40);
        let nan = self.two(asm, &POR, ty, upper, quiet);
        self.blend(asm, ty, unordered, nan, rounded)
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
