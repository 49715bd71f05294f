//! Integer arithmetic that has no instruction of its own.

use super::*;
use crate::narrow;

impl Avx512 {
    /// Number of one bits, by adding neighbours.
    pub(super) fn popcount(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        if self.popcnt {
            return self.one(asm, &codes::POPCNT, ty, dst, a);
        }
        let pattern = |p: u64| p & ty.bit_mask();
        let [c1, c2, c4, one] = [
            0x5555_5555_5555_5555,
            0x3333_3333_3333_3333,
            0x0f0f_0f0f_0f0f_0f0f,
            0x0101_0101_0101_0101,
        ]
        .map(|p| self.splat(asm, ty, pattern(p)));
        let r: [Reg; 9] = std::array::from_fn(|_| self.vector(asm, ty));
        self.shift(asm, &codes::PSRL_IMM, ty, r[0], a, 1);
        self.two(asm, &codes::PAND, ty, r[1], r[0], c1);
        self.two(asm, &codes::PSUB, ty, r[2], a, r[1]);
        self.shift(asm, &codes::PSRL_IMM, ty, r[3], r[2], 2);
        self.two(asm, &codes::PAND, ty, r[4], r[3], c2);
        self.two(asm, &codes::PAND, ty, r[5], r[2], c2);
        self.two(asm, &codes::PADD, ty, r[5], r[5], r[4]);
        self.shift(asm, &codes::PSRL_IMM, ty, r[6], r[5], 4);
        self.two(asm, &codes::PADD, ty, r[7], r[5], r[6]);
        self.two(asm, &codes::PAND, ty, r[7], r[7], c4);
        self.two(asm, &codes::PMULL, ty, r[8], r[7], one);
        self.shift(asm, &codes::PSRL_IMM, ty, dst, r[8], narrow(ty.bits() - 8));
    }

    /// High halves of the products of 32-bit lanes: those of even and of odd lanes apart.
    pub(super) fn mul_hi_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let product = if signed {
            &codes::PMULDQ
        } else {
            &codes::PMULUDQ
        };
        let product = product.evex(64, self.width(Ty::I32));
        let right = codes::PSRL_IMM.evex(64, self.width(Ty::I32));
        let r: [Reg; 5] = std::array::from_fn(|_| self.vector(asm, Ty::I32));
        let mut plain = |code, dst, operands: &[Operand]| asm.op(op(code, Some(dst), operands));
        plain(product, r[0], &[Operand::Reg(a), Operand::Reg(b)]);
        plain(right, r[1], &[Operand::Reg(a), Imm(32)]);
        plain(right, r[2], &[Operand::Reg(b), Imm(32)]);
        plain(product, r[3], &[Operand::Reg(r[1]), Operand::Reg(r[2])]);
        plain(right, r[4], &[Operand::Reg(r[0]), Imm(32)]);
        let odd = self.mask_bits(asm, 0xaaaa);
        let blend = self.code(&codes::PBLENDM, Ty::I32);
        asm.op(Op {
            mask: Some((odd, false)),
            ..op(blend, Some(dst), &[Operand::Reg(r[4]), Operand::Reg(r[3])])
        });
    }

    /// High halves of the products of 64-bit lanes, from products of their halves.
    pub(super) fn mul_hi_64(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I64;
        let low = self.splat(asm, ty, 0xffff_ffff);
        let r: [Reg; 14] = std::array::from_fn(|_| self.vector(asm, ty));
        let product = |asm: &mut Asm, dst, a, b| {
            asm.op(op(
                codes::PMULUDQ.evex(64, Width::V512),
                Some(dst),
                &[Operand::Reg(a), Operand::Reg(b)],
            ));
        };
        self.shift(asm, &codes::PSRL_IMM, ty, r[0], a, 32);
        self.shift(asm, &codes::PSRL_IMM, ty, r[1], b, 32);
        product(asm, r[2], a, b);
        product(asm, r[3], a, r[1]);
        product(asm, r[4], r[0], b);
        product(asm, r[5], r[0], r[1]);
        self.shift(asm, &codes::PSRL_IMM, ty, r[6], r[2], 32);
        self.two(asm, &codes::PADD, ty, r[7], r[4], r[6]);
        self.two(asm, &codes::PAND, ty, r[8], r[7], low);
        self.two(asm, &codes::PADD, ty, r[9], r[3], r[8]);
        self.shift(asm, &codes::PSRL_IMM, ty, r[10], r[7], 32);
        self.shift(asm, &codes::PSRL_IMM, ty, r[11], r[9], 32);
        self.two(asm, &codes::PADD, ty, r[12], r[5], r[10]);
        if !signed {
            return self.two(asm, &codes::PADD, ty, dst, r[12], r[11]);
        }
        self.two(asm, &codes::PADD, ty, r[13], r[12], r[11]);
        for (x, y) in [(a, b), (b, a)] {
            let (sign, copy) = (self.vector(asm, ty), self.vector(asm, ty));
            self.shift(asm, &codes::PSRA_IMM, ty, sign, x, 63);
            self.two(asm, &codes::PAND, ty, copy, sign, y);
            self.two(asm, &codes::PSUB, ty, r[13], r[13], copy);
        }
        asm.push(Lir::Move { dst, src: r[13] });
    }

    /// Quotient of 32-bit lanes through doubles, which hold it exactly enough to truncate right.
    pub(super) fn divide_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let (to_double, to_int) = if signed {
            (
                Code::EVEX_Vcvtdq2pd_zmm_k1z_ymmm256b32_er,
                Code::EVEX_Vcvttpd2dq_ymm_k1z_zmmm512b64_sae,
            )
        } else {
            (
                Code::EVEX_Vcvtudq2pd_zmm_k1z_ymmm256b32_er,
                Code::EVEX_Vcvttpd2udq_ymm_k1z_zmmm512b64_sae,
            )
        };
        let half = |asm: &mut Asm, a: Reg, b: Reg| {
            let [x, y, q] = std::array::from_fn(|_| asm.reg(Class::Vector(Width::V512)));
            let result = asm.reg(Class::Vector(Width::V256));
            asm.op(Op {
                rm: None,
                ..op(to_double, Some(x), &[Part(a, Width::V256)])
            });
            asm.op(Op {
                rm: None,
                ..op(to_double, Some(y), &[Part(b, Width::V256)])
            });
            self.two(asm, &codes::DIV, Ty::F64, q, x, y);
            asm.op(op(to_int, Some(result), &[Operand::Reg(q)]));
            result
        };
        let quotient = if self.wide {
            half(asm, a, b)
        } else {
            let high = |asm: &mut Asm, v: Reg| {
                let h = asm.reg(Class::Vector(Width::V256));
                let code = Code::EVEX_Vextracti64x4_ymmm256_k1z_zmm_imm8;
                asm.op(Op {
                    rm: None,
                    ..op(code, Some(h), &[Operand::Reg(v), Imm(1)])
                });
                h
            };
            let (ah, bh) = (high(asm, a), high(asm, b));
            let (low, high) = (half(asm, a, b), half(asm, ah, bh));
            let both = asm.reg(Class::Vector(Width::V512));
            let code = Code::EVEX_Vinserti64x4_zmm_k1z_zmm_ymmm256_imm8;
            asm.op(Op {
                rm: None,
                ..op(
                    code,
                    Some(both),
                    &[Part(low, Width::V512), Operand::Reg(high), Imm(1)],
                )
            });
            both
        };
        if !signed {
            // By zero the conversion gives all ones, as wanted.
            asm.push(Lir::Move { dst, src: quotient });
            return;
        }
        let (zero, ones, none) = (
            self.splat(asm, Ty::I32, 0),
            self.splat(asm, Ty::I32, 0xffff_ffff),
            self.mask(asm),
        );
        self.compare(asm, &codes::PCMP, Ty::I32, none, b, zero, INT_EQ);
        let blend = self.code(&codes::PBLENDM, Ty::I32);
        let o = op(
            blend,
            Some(dst),
            &[Operand::Reg(quotient), Operand::Reg(ones)],
        );
        asm.op(Op {
            mask: Some((none, false)),
            broadcast: true,
            ..o
        });
    }
}
