//! Conversions between integers and floats, and to narrow elements.

use super::*;

impl Avx512 {
    /// Float to signed integer: what is too large or NaN comes out as the lowest integer.
    #[allow(clippy::cast_possible_truncation, reason = "a power of two is a float")]
    pub(super) fn float_to_signed(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let code = match (from, to) {
            (Ty::F32, Ty::I32) if self.wide => Code::EVEX_Vcvttps2dq_ymm_k1z_ymmm256b32,
            (Ty::F32, Ty::I32) => Code::EVEX_Vcvttps2dq_zmm_k1z_zmmm512b32_sae,
            (Ty::F32, _) => Code::EVEX_Vcvttps2qq_zmm_k1z_ymmm256b32_sae,
            (_, Ty::I32) => Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
            _ => Code::EVEX_Vcvttpd2qq_zmm_k1z_zmmm512b64_sae,
        };
        let limit = if to == Ty::I32 {
            2f64.powi(31)
        } else {
            2f64.powi(63)
        };
        let limit = if from == Ty::F32 {
            u64::from((limit as f32).to_bits())
        } else {
            limit.to_bits()
        };
        let limit = self.splat(asm, from, limit);
        let (above, ordered) = (self.mask(asm), self.mask(asm));
        self.compare(asm, &codes::CMP, from, above, limit, a, CMP_LE);
        self.compare(asm, &codes::CMP, from, ordered, a, a, CMP_ORD);
        let most = self.splat(asm, to, to.bit_mask() >> 1);
        let result = self.vector(asm, to);
        self.do_op(asm, code, result, &[Operand::Reg(a)]);
        self.masked(
            asm,
            above,
            false,
            op(self.move_code(to), Some(result), &[Operand::Reg(most)]),
        );
        self.masked(
            asm,
            ordered,
            true,
            op(self.move_code(to), Some(dst), &[Operand::Reg(result)]),
        );
    }

    pub(super) fn float_to_unsigned(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let code = match (from, to) {
            (Ty::F32, Ty::I32) if self.wide => Code::EVEX_Vcvttps2udq_ymm_k1z_ymmm256b32,
            (Ty::F32, Ty::I32) => Code::EVEX_Vcvttps2udq_zmm_k1z_zmmm512b32_sae,
            (Ty::F32, _) => Code::EVEX_Vcvttps2uqq_zmm_k1z_ymmm256b32_sae,
            (_, Ty::I32) => Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae,
            _ => Code::EVEX_Vcvttpd2uqq_zmm_k1z_zmmm512b64_sae,
        };
        // NaN and negative values become 0; what is too large comes out as all ones by itself.
        let zero = self.splat(asm, from, 0);
        let limited = self.vector(asm, from);
        self.two(asm, &codes::MAX, from, limited, a, zero);
        self.do_op(asm, code, dst, &[Operand::Reg(limited)]);
    }

    pub(super) fn int_to_float(
        &self,
        asm: &mut Asm,
        signed: bool,
        from: Ty,
        to: Ty,
        dst: Reg,
        a: Reg,
    ) {
        let code = match (from, to, signed) {
            (Ty::I32, Ty::F32, true) if self.wide => Code::EVEX_Vcvtdq2ps_ymm_k1z_ymmm256b32,
            (Ty::I32, Ty::F32, true) => Code::EVEX_Vcvtdq2ps_zmm_k1z_zmmm512b32_er,
            (Ty::I32, Ty::F32, false) if self.wide => Code::EVEX_Vcvtudq2ps_ymm_k1z_ymmm256b32,
            (Ty::I32, Ty::F32, false) => Code::EVEX_Vcvtudq2ps_zmm_k1z_zmmm512b32_er,
            (Ty::I32, _, true) => Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
            (Ty::I32, _, false) => Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
            (_, Ty::F32, true) => Code::EVEX_Vcvtqq2ps_ymm_k1z_zmmm512b64_er,
            (_, Ty::F32, false) => Code::EVEX_Vcvtuqq2ps_ymm_k1z_zmmm512b64_er,
            (_, _, true) => Code::EVEX_Vcvtqq2pd_zmm_k1z_zmmm512b64_er,
            (_, _, false) => Code::EVEX_Vcvtuqq2pd_zmm_k1z_zmmm512b64_er,
        };
        self.do_op(asm, code, dst, &[Operand::Reg(a)]);
    }

    pub(super) fn bf16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
        let ty = Ty::I32;
        let r: [Reg; 5] = std::array::from_fn(|_| self.vector(asm, ty));
        let (one, almost_half) = (self.splat(asm, ty, 1), self.splat(asm, ty, 0x7fff));
        self.shift(asm, &codes::PSRL_IMM, ty, r[0], a, 16);
        self.two(asm, &codes::PAND, ty, r[1], r[0], one);
        self.two(asm, &codes::PADD, ty, r[2], a, almost_half);
        self.two(asm, &codes::PADD, ty, r[3], r[2], r[1]);
        self.shift(asm, &codes::PSRL_IMM, ty, r[4], r[3], 16);
        let (unordered, nan) = (self.mask(asm), self.splat(asm, ty, 0x7fc0));
        self.compare(asm, &codes::CMP, Ty::F32, unordered, a, a, CMP_UNORD);
        self.masked(
            asm,
            unordered,
            false,
            op(self.move_code(ty), Some(r[4]), &[Operand::Reg(nan)]),
        );
        r[4]
    }

    /// The 32-bit lanes of `v` narrowed by an instruction whose memory form is its first operand.
    pub(super) fn narrow(
        &self,
        asm: &mut Asm,
        code: (Code, Code),
        v: Reg,
        to: Width,
        imm: Option<u8>,
    ) -> Reg {
        let code = if self.wide { code.0 } else { code.1 };
        let dst = asm.reg(Class::Vector(to));
        let mut operands = vec![Operand::Reg(v)];
        operands.extend(imm.map(Imm));
        asm.op(Op {
            rm: None,
            ..op(code, Some(dst), &operands)
        });
        dst
    }

    /// The width that holds as many 16-bit elements as there are lanes.
    pub(super) fn half_width(&self) -> Width {
        if self.wide { Width::V128 } else { Width::V256 }
    }
}

/// Instructions that narrow 32-bit lanes, in a wide body and otherwise.
pub(super) const TO_F16: (Code, Code) = (
    Code::EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8,
    Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae,
);
pub(super) const TO_WORDS: (Code, Code) = (
    Code::EVEX_Vpmovdw_xmmm128_k1z_ymm,
    Code::EVEX_Vpmovdw_ymmm256_k1z_zmm,
);
