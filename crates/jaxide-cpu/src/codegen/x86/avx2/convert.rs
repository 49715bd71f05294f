//! Conversions between integers and floats, and of 16-bit floats.

use super::*;

impl Avx2 {
    pub(super) fn int_to_float(
        &self,
        asm: &mut Asm,
        signed: bool,
        from: Ty,
        to: Ty,
        a: Reg,
    ) -> Reg {
        let to_single = |asm: &mut Asm, d: Reg| {
            self.emit(
                asm,
                V128,
                Code::VEX_Vcvtpd2ps_xmm_ymmm256,
                &[Operand::Reg(d)],
            )
        };
        match (from, to, signed) {
            (Ty::I32, Ty::F32, true) => {
                let code = match self.width(to) {
                    Width::V256 => Code::VEX_Vcvtdq2ps_ymm_ymmm256,
                    _ => Code::VEX_Vcvtdq2ps_xmm_xmmm128,
                };
                self.emit(asm, Class::Vector(self.width(to)), code, &[Operand::Reg(a)])
            }
            (Ty::I32, Ty::F32, false) => self.in_fours(asm, &[a], |asm, v| {
                let d = self.to_doubles(asm, false, v[0]);
                to_single(asm, d)
            }),
            (Ty::I32, _, _) => self.to_doubles(asm, signed, Operand::Reg(a)),
            (_, Ty::F32, _) => {
                let exact = self.collect_low_bits(asm, signed, a);
                let d = self.int_64_to_double(asm, signed, exact);
                to_single(asm, d)
            }
            _ => self.int_64_to_double(asm, signed, a),
        }
    }

    pub(super) fn float_to_signed(&self, asm: &mut Asm, from: Ty, to: Ty, a: Reg) -> Reg {
        let (from, a) = if (from, to) == (Ty::F32, Ty::I64) {
            (
                Ty::F64,
                self.emit(
                    asm,
                    V256,
                    Code::VEX_Vcvtps2pd_ymm_xmmm128,
                    &[Operand::Reg(a)],
                ),
            )
        } else {
            (from, a)
        };
        let raw = match (from, to) {
            (Ty::F32, _) => {
                let code = match self.width(from) {
                    Width::V256 => Code::VEX_Vcvttps2dq_ymm_ymmm256,
                    _ => Code::VEX_Vcvttps2dq_xmm_xmmm128,
                };
                self.emit(
                    asm,
                    Class::Vector(self.width(from)),
                    code,
                    &[Operand::Reg(a)],
                )
            }
            (_, Ty::I32) => self.emit(
                asm,
                V128,
                Code::VEX_Vcvttpd2dq_xmm_ymmm256,
                &[Operand::Reg(a)],
            ),
            _ => self.lane_by_lane(asm, Ty::I64, a, Code::VEX_Vcvttsd2si_r64_xmmm64),
        };
        // What is too large, and NaN, came out as the lowest integer.
        let limit = self.float(
            asm,
            from,
            if to == Ty::I32 {
                2f64.powi(31)
            } else {
                2f64.powi(63)
            },
        );
        let above = self.compare_float(asm, from, limit, a, CMP_LE);
        let ordered = self.compare_float(asm, from, a, a, CMP_ORD);
        let [above, ordered] = [above, ordered].map(|m| {
            if from == Ty::F64 && to == Ty::I32 {
                self.low_halves(asm, m)
            } else {
                m
            }
        });
        let most = self.splat(asm, to, to.bit_mask() >> 1);
        let limited = self.blend(asm, to, above, most, raw);
        self.two(asm, &codes::PAND, to, limited, ordered)
    }

    pub(super) fn float_to_unsigned(&self, asm: &mut Asm, from: Ty, to: Ty, a: Reg) -> Reg {
        // NaN and negative values become 0.
        let zero = self.float(asm, from, 0.0);
        let a = self.two(asm, &codes::MAX, from, a, zero);
        if to == Ty::I32 {
            if from == Ty::F64 {
                return self.doubles_to_unsigned(asm, a);
            }
            return self.in_fours(asm, &[a], |asm, v| {
                let d = asm.reg(V256);
                asm.op(Op {
                    rm: None,
                    ..op(Code::VEX_Vcvtps2pd_ymm_xmmm128, Some(d), v)
                });
                self.doubles_to_unsigned(asm, d)
            });
        }
        let a = if from == Ty::F32 {
            self.emit(
                asm,
                V256,
                Code::VEX_Vcvtps2pd_ymm_xmmm128,
                &[Operand::Reg(a)],
            )
        } else {
            a
        };
        // From 2^63 on without the top bit, which then joins the integer.
        let (half, all) = (
            self.float(asm, Ty::F64, 2f64.powi(63)),
            self.float(asm, Ty::F64, 2f64.powi(64)),
        );
        let large = self.compare_float(asm, Ty::F64, half, a, CMP_LE);
        let copy = self.two(asm, &codes::PAND, Ty::I64, large, half);
        let rest = self.two(asm, &codes::SUB, Ty::F64, a, copy);
        let int = self.lane_by_lane(asm, Ty::I64, rest, Code::VEX_Vcvttsd2si_r64_xmmm64);
        let sign = self.splat(asm, Ty::I64, 1 << 63);
        let top = self.two(asm, &codes::PAND, Ty::I64, large, sign);
        let int = self.two(asm, &codes::PXOR, Ty::I64, int, top);
        let above = self.compare_float(asm, Ty::F64, all, a, CMP_LE);
        self.two(asm, &codes::POR, Ty::I64, int, above)
    }

    /// Four 32-bit integers as doubles.
    pub(super) fn to_doubles(&self, asm: &mut Asm, signed: bool, a: Operand) -> Reg {
        let double = |asm: &mut Asm, a: Operand| {
            let dst = asm.reg(V256);
            asm.op(Op {
                rm: None,
                ..op(Code::VEX_Vcvtdq2pd_ymm_xmmm128, Some(dst), &[a])
            });
            dst
        };
        if signed {
            return double(asm, a);
        }
        let flip = asm.splat(Width::V128, 4, 1 << 31);
        let dst = asm.reg(V128);
        asm.op(Op {
            rm: Some(1),
            ..op(
                Code::VEX_Vpxor_xmm_xmm_xmmm128,
                Some(dst),
                &[a, Operand::Reg(flip)],
            )
        });
        let d = double(asm, Operand::Reg(dst));
        let back = asm.splat(Width::V256, 8, 2f64.powi(31).to_bits());
        self.emit(
            asm,
            V256,
            Code::VEX_Vaddpd_ymm_ymm_ymmm256,
            &[Operand::Reg(d), Operand::Reg(back)],
        )
    }

    /// Four doubles as unsigned 32-bit integers; what is too large, and NaN, comes out as all ones, negative values as zero.
    pub(super) fn doubles_to_unsigned(&self, asm: &mut Asm, a: Reg) -> Reg {
        let splat = |asm: &mut Asm, x: f64| asm.splat(Width::V256, 8, x.to_bits());
        let (zero, most, half) = (
            splat(asm, 0.0),
            splat(asm, 4_294_967_295.0),
            splat(asm, 2_147_483_648.0),
        );
        let binary = |asm: &mut Asm, code, a, b| {
            self.emit(asm, V256, code, &[Operand::Reg(a), Operand::Reg(b)])
        };
        // The minimum gives its second operand for NaN.
        let a = binary(asm, Code::VEX_Vminpd_ymm_ymm_ymmm256, a, most);
        let a = binary(asm, Code::VEX_Vmaxpd_ymm_ymm_ymmm256, a, zero);
        let a = self.emit(
            asm,
            V256,
            Code::VEX_Vroundpd_ymm_ymmm256_imm8,
            &[Operand::Reg(a), Imm(11)],
        );
        let a = binary(asm, Code::VEX_Vsubpd_ymm_ymm_ymmm256, a, half);
        let a = self.emit(
            asm,
            V128,
            Code::VEX_Vcvttpd2dq_xmm_ymmm256,
            &[Operand::Reg(a)],
        );
        let flip = asm.splat(Width::V128, 4, 1 << 31);
        self.emit(
            asm,
            V128,
            Code::VEX_Vpxor_xmm_xmm_xmmm128,
            &[Operand::Reg(a), Operand::Reg(flip)],
        )
    }

    /// Four 64-bit integers as doubles, rounded once.
    pub(super) fn int_64_to_double(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
        let ty = Ty::I64;
        // Both halves as low bits of floats whose last places count 2^32 and 1. Signed numbers are moved up by 2^63 before.
        let a = if signed {
            let sign = self.splat(asm, ty, 1 << 63);
            self.two(asm, &codes::PXOR, ty, a, sign)
        } else {
            a
        };
        let high = self.shift(asm, &codes::PSRL_IMM, ty, a, 32);
        let high_one = self.float(asm, Ty::F64, 2f64.powi(84));
        let high = self.two(asm, &codes::POR, ty, high, high_one);
        let low_mask = self.splat(asm, ty, 0xffff_ffff);
        let low = self.two(asm, &codes::PAND, ty, a, low_mask);
        let low_one = self.float(asm, Ty::F64, 2f64.powi(52));
        let low = self.two(asm, &codes::POR, ty, low, low_one);
        let added = 2f64.powi(84) + 2f64.powi(52) + if signed { 2f64.powi(63) } else { 0.0 };
        let added = self.float(asm, Ty::F64, added);
        let high = self.two(asm, &codes::SUB, Ty::F64, high, added);
        self.two(asm, &codes::ADD, Ty::F64, high, low)
    }

    /// A 64-bit integer that a double holds exactly and that rounds to the same single: low bits of large numbers are collected in one.
    pub(super) fn collect_low_bits(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
        let ty = Ty::I64;
        let low = self.splat(asm, ty, 0x7ff);
        let rest = self.splat(asm, ty, !0xfff);
        let bit = self.splat(asm, ty, 0x800);
        let some = self.two(asm, &codes::PAND, ty, a, low);
        let some = self.two(asm, &codes::PADD, ty, some, low);
        let some = self.two(asm, &codes::POR, ty, some, a);
        let some = self.two(asm, &codes::PAND, ty, some, bit);
        let upper = self.two(asm, &codes::PAND, ty, a, rest);
        let odd = self.two(asm, &codes::POR, ty, upper, some);
        // Small ones stay: those with |a| < 2^53.
        let moved = if signed {
            let limit = self.splat(asm, ty, 1 << 53);
            self.two(asm, &codes::PADD, ty, a, limit)
        } else {
            a
        };
        let over = self.shift(
            asm,
            &codes::PSRL_IMM,
            ty,
            moved,
            if signed { 54 } else { 53 },
        );
        let zero = self.splat(asm, ty, 0);
        let small = self.two(asm, &codes::PCMPEQ, ty, over, zero);
        self.blend(asm, ty, small, a, odd)
    }

    pub(super) fn bf16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
        let ty = Ty::I32;
        let (one, almost_half) = (self.splat(asm, ty, 1), self.splat(asm, ty, 0x7fff));
        let upper = self.shift(asm, &codes::PSRL_IMM, ty, a, 16);
        let odd = self.two(asm, &codes::PAND, ty, upper, one);
        let sum = self.two(asm, &codes::PADD, ty, a, almost_half);
        let sum = self.two(asm, &codes::PADD, ty, sum, odd);
        let rounded = self.shift(asm, &codes::PSRL_IMM, ty, sum, 16);
        let unordered = self.compare_float(asm, Ty::F32, a, a, CMP_UNORD);
        let nan = self.splat(asm, ty, 0x7fc0);
        self.blend(asm, ty, unordered, nan, rounded)
    }

    /// Singles as binary16 in the first bytes of a 128-bit register.
    pub(super) fn lane_to_half(&self, asm: &mut Asm, a: Reg) -> Reg {
        let code = if self.wide {
            Code::VEX_Vcvtps2ph_xmmm64_xmm_imm8
        } else {
            Code::VEX_Vcvtps2ph_xmmm128_ymm_imm8
        };
        let dst = asm.reg(V128);
        asm.op(Op {
            rm: None,
            ..op(code, Some(dst), &[Operand::Reg(a), Imm(0)])
        });
        dst
    }

    pub(super) fn half_to_lane(&self, asm: &mut Asm, dst: Reg, half: Reg) {
        let code = if self.wide {
            Code::VEX_Vcvtph2ps_xmm_xmmm64
        } else {
            Code::VEX_Vcvtph2ps_ymm_xmmm128
        };
        asm.op(op(code, Some(dst), &[Operand::Reg(half)]));
    }
}
