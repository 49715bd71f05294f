//! Selection for AVX-512 (F, CD, BW, DQ, VL): 16 lanes, or 8 in a body with 64-bit values; masks in mask registers.

use super::codes;
use super::codes::Codes;
use super::lir::*;
use super::target::{FmaSigns, Target};
use crate::lanes::{BinOp, MemTy, Ty, UnOp};
use iced_x86::{Code, Register};

/// The instruction set, for one body.
pub(super) struct Avx512 {
    /// Whether a lane may hold 64 bits: then 32-bit values take half a register.
    pub(super) wide: bool,
    /// Whether the machine counts bits in vectors.
    pub(super) popcnt: bool,
}

use Operand::{Imm, Part};

impl Avx512 {
    fn width(&self, ty: Ty) -> Width {
        if self.wide && ty.bits() != 64 {
            Width::V256
        } else {
            Width::V512
        }
    }

    fn code(&self, codes: &Codes, ty: Ty) -> Code {
        codes.evex(ty.bits(), self.width(ty))
    }

    fn vector(&self, asm: &mut Asm, ty: Ty) -> Reg {
        asm.reg(Class::Vector(self.width(ty)))
    }

    fn mask(&self, asm: &mut Asm) -> Reg {
        asm.reg(Class::Mask)
    }

    /// `dst = code(operands)`, the last of which may be a constant in memory.
    fn do_op(&self, asm: &mut Asm, code: Code, dst: Reg, operands: &[Operand]) {
        asm.op(Op {
            broadcast: true,
            ..op(code, Some(dst), operands)
        });
    }

    fn two(&self, asm: &mut Asm, codes: &Codes, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        self.do_op(
            asm,
            self.code(codes, ty),
            dst,
            &[Operand::Reg(a), Operand::Reg(b)],
        );
    }

    fn one(&self, asm: &mut Asm, codes: &Codes, ty: Ty, dst: Reg, a: Reg) {
        self.do_op(asm, self.code(codes, ty), dst, &[Operand::Reg(a)]);
    }

    fn shift(&self, asm: &mut Asm, codes: &Codes, ty: Ty, dst: Reg, a: Reg, count: u8) {
        self.do_op(
            asm,
            self.code(codes, ty),
            dst,
            &[Operand::Reg(a), Imm(count)],
        );
    }

    /// `dst = a` converted by an instruction of its own, whose lanes may change width.
    fn convert(&self, asm: &mut Asm, narrow: Code, wide: Code, dst: Reg, a: Reg) {
        let code = if self.wide { wide } else { narrow };
        asm.op(op(code, Some(dst), &[Operand::Reg(a)]));
    }

    #[allow(clippy::too_many_arguments)]
    fn compare(
        &self,
        asm: &mut Asm,
        codes: &Codes,
        ty: Ty,
        dst: Reg,
        a: Reg,
        b: Reg,
        predicate: u8,
    ) {
        self.do_op(
            asm,
            self.code(codes, ty),
            dst,
            &[Operand::Reg(a), Operand::Reg(b), Imm(predicate)],
        );
    }

    fn mask_two(&self, asm: &mut Asm, (byte, word): (Code, Code), dst: Reg, a: Reg, b: Reg) {
        let code = if self.wide { byte } else { word };
        asm.op(Op {
            rm: None,
            ..op(code, Some(dst), &[Operand::Reg(a), Operand::Reg(b)])
        });
    }

    fn mask_not(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let code = if self.wide {
            Code::VEX_Knotb_kr_kr
        } else {
            Code::VEX_Knotw_kr_kr
        };
        asm.op(Op {
            rm: None,
            ..op(code, Some(dst), &[Operand::Reg(a)])
        });
    }

    /// Where the mask holds, `dst` becomes the result; elsewhere it stays or becomes zero.
    fn masked(&self, asm: &mut Asm, mask: Reg, zeroing: bool, o: Op) {
        asm.op(Op {
            mask: Some((mask, zeroing)),
            tied: !zeroing,
            ..o
        });
    }

    fn splat(&self, asm: &mut Asm, ty: Ty, bits: u64) -> Reg {
        asm.splat(self.width(ty), (ty.bits() / 8) as u8, bits)
    }

    fn move_code(&self, ty: Ty) -> Code {
        match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vmovupd_zmm_k1z_zmmm512,
            (_, Width::V512) => Code::EVEX_Vmovups_zmm_k1z_zmmm512,
            _ => Code::EVEX_Vmovups_ymm_k1z_ymmm256,
        }
    }

    fn store_code(&self, ty: Ty) -> Code {
        match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vmovupd_zmmm512_k1z_zmm,
            (_, Width::V512) => Code::EVEX_Vmovups_zmmm512_k1z_zmm,
            _ => Code::EVEX_Vmovups_ymmm256_k1z_ymm,
        }
    }

    /// Float to signed integer: what is too large or NaN comes out as the lowest integer.
    fn float_to_signed(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
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

    fn float_to_unsigned(&self, asm: &mut Asm, from: Ty, to: Ty, dst: Reg, a: Reg) {
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

    fn int_to_float(&self, asm: &mut Asm, signed: bool, from: Ty, to: Ty, dst: Reg, a: Reg) {
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

    /// Number of one bits, by adding neighbours.
    fn popcount(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
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
        self.shift(asm, &codes::PSRL_IMM, ty, dst, r[8], ty.bits() as u8 - 8);
    }

    /// High halves of the products of 32-bit lanes: those of even and of odd lanes apart.
    fn mul_hi_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
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
    fn mul_hi_64(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
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
            let (sign, part) = (self.vector(asm, ty), self.vector(asm, ty));
            self.shift(asm, &codes::PSRA_IMM, ty, sign, x, 63);
            self.two(asm, &codes::PAND, ty, part, sign, y);
            self.two(asm, &codes::PSUB, ty, r[13], r[13], part);
        }
        asm.push(Lir::Move { dst, src: r[13] });
    }

    /// Quotient of 32-bit lanes through doubles, which hold it exactly enough to truncate right.
    fn divide_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
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

    fn mask_bits(&self, asm: &mut Asm, bits: i64) -> Reg {
        asm.int(
            Code::Mov_r32_imm32,
            &[Int::Gpr(Register::EAX), Int::Imm(bits)],
        );
        let k = self.mask(asm);
        let code = if self.wide {
            Code::VEX_Kmovb_kr_r32
        } else {
            Code::VEX_Kmovw_kr_r32
        };
        asm.op(op(code, Some(k), &[Operand::Gpr(Register::EAX)]));
        k
    }

    /// A copy of a mask, or all lanes, that a gather or scatter may clear.
    fn consumable(&self, asm: &mut Asm, exec: Option<Reg>) -> Reg {
        let k = self.mask(asm);
        match exec {
            Some(src) => asm.push(Lir::Move { dst: k, src }),
            None => self.mask_constant(asm, k, true),
        }
        k
    }

    fn bf16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
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
    fn narrow(&self, asm: &mut Asm, code: (Code, Code), v: Reg, to: Width, imm: Option<u8>) -> Reg {
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

    /// Stores narrowed lanes: one byte each in a 16-byte register, or two bytes each.
    fn store_narrow(&self, asm: &mut Asm, v: Reg, bytes: i64, at: Mem, exec: Option<Reg>) {
        let code = match (bytes, exec.is_some(), self.wide) {
            (1, true, _) => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
            (1, false, false) => Code::EVEX_Vmovdqu8_xmmm128_k1z_xmm,
            (1, false, true) => Code::EVEX_Vmovq_xmmm64_xmm,
            (_, _, true) => Code::EVEX_Vmovdqu16_xmmm128_k1z_xmm,
            (_, _, false) => Code::EVEX_Vmovdqu16_ymmm256_k1z_ymm,
        };
        let mask = exec.map(|k| (k, false));
        asm.op(Op {
            mask,
            rm: None,
            ..op(code, None, &[Operand::Mem(at), Operand::Reg(v)])
        });
    }
}

const CMP_EQ: u8 = 0;
const CMP_UNORD: u8 = 3;
const CMP_NE: u8 = 4;
const CMP_ORD: u8 = 7;
const CMP_LT: u8 = 17;
const CMP_LE: u8 = 18;
const INT_EQ: u8 = 0;

impl Target for Avx512 {
    const EVEX: bool = true;
    const VECTORS: u8 = 32;

    fn lanes(&self) -> i64 {
        if self.wide { 8 } else { 16 }
    }

    fn class(&self, ty: Ty) -> Class {
        if ty == Ty::Mask {
            Class::Mask
        } else {
            Class::Vector(self.width(ty))
        }
    }

    fn masks_small_elements(&self) -> bool {
        true
    }

    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool) {
        let codes = if value {
            (Code::VEX_Kxnorb_kr_kr_kr, Code::VEX_Kxnorw_kr_kr_kr)
        } else {
            (Code::VEX_Kxorb_kr_kr_kr, Code::VEX_Kxorw_kr_kr_kr)
        };
        // Of the register itself, whatever it holds.
        let code = if self.wide { codes.0 } else { codes.1 };
        asm.op(Op {
            tied: false,
            rm: None,
            ..op(
                code,
                Some(dst),
                &[Operand::Gpr(Register::K0), Operand::Gpr(Register::K0)],
            )
        });
    }

    fn un(&self, asm: &mut Asm, o: UnOp, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let int = from.as_int();
        let sign = 1u64 << (from.bits() - 1);
        let round = |asm: &mut Asm, mode| {
            self.do_op(
                asm,
                self.code(&codes::ROUND, from),
                dst,
                &[Operand::Reg(a), Imm(mode)],
            )
        };
        match o {
            UnOp::Neg if from.is_float() => {
                let c = self.splat(asm, int, sign);
                self.two(asm, &codes::PXOR, int, dst, a, c);
            }
            UnOp::Neg => {
                let zero = self.splat(asm, from, 0);
                self.two(asm, &codes::PSUB, from, dst, zero, a);
            }
            UnOp::Abs if from.is_float() => {
                let c = self.splat(asm, int, sign - 1);
                self.two(asm, &codes::PAND, int, dst, a, c);
            }
            UnOp::Abs => self.one(asm, &codes::PABS, from, dst, a),
            UnOp::Not if from == Ty::Mask => self.mask_not(asm, dst, a),
            UnOp::Not => {
                let ones = self.splat(asm, from, from.bit_mask());
                self.two(asm, &codes::PXOR, from, dst, a, ones);
            }
            UnOp::Sqrt => self.one(asm, &codes::SQRT, from, dst, a),
            UnOp::Floor => round(asm, 9),
            UnOp::Ceil => round(asm, 10),
            UnOp::Trunc => round(asm, 11),
            UnOp::RoundEven => round(asm, 8),
            UnOp::Clz => self.one(asm, &codes::PLZCNT, from, dst, a),
            UnOp::Popcount => self.popcount(asm, from, dst, a),
            UnOp::SToF => self.int_to_float(asm, true, from, to, dst, a),
            UnOp::UToF => self.int_to_float(asm, false, from, to, dst, a),
            UnOp::FToS => self.float_to_signed(asm, from, to, dst, a),
            UnOp::FToU => self.float_to_unsigned(asm, from, to, dst, a),
            UnOp::FToF if to == Ty::F64 => self.do_op(
                asm,
                Code::EVEX_Vcvtps2pd_zmm_k1z_ymmm256b32_sae,
                dst,
                &[Operand::Reg(a)],
            ),
            UnOp::FToF => self.do_op(
                asm,
                Code::EVEX_Vcvtpd2ps_ymm_k1z_zmmm512b64_er,
                dst,
                &[Operand::Reg(a)],
            ),
            UnOp::SExt => asm.op(op(
                Code::EVEX_Vpmovsxdq_zmm_k1z_ymmm256,
                Some(dst),
                &[Operand::Reg(a)],
            )),
            UnOp::ZExt => asm.op(op(
                Code::EVEX_Vpmovzxdq_zmm_k1z_ymmm256,
                Some(dst),
                &[Operand::Reg(a)],
            )),
            UnOp::Low => asm.op(Op {
                rm: None,
                ..op(
                    Code::EVEX_Vpmovqd_ymmm256_k1z_zmm,
                    Some(dst),
                    &[Operand::Reg(a)],
                )
            }),
            UnOp::Bitcast => asm.push(Lir::Move { dst, src: a }),
            UnOp::RoundF16 => {
                let half = self.narrow(asm, TO_F16, a, self.half_width(), Some(0));
                self.convert(
                    asm,
                    Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
                    Code::EVEX_Vcvtph2ps_ymm_k1z_xmmm128,
                    dst,
                    half,
                );
            }
            UnOp::RoundBf16 => {
                let bits = self.bf16_bits(asm, a);
                self.shift(asm, &codes::PSLL_IMM, Ty::I32, dst, bits, 16);
            }
        }
    }

    fn bin(&self, asm: &mut Asm, o: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        use BinOp::*;
        if ty == Ty::Mask {
            let codes = match o {
                And => (Code::VEX_Kandb_kr_kr_kr, Code::VEX_Kandw_kr_kr_kr),
                Or => (Code::VEX_Korb_kr_kr_kr, Code::VEX_Korw_kr_kr_kr),
                _ => (Code::VEX_Kxorb_kr_kr_kr, Code::VEX_Kxorw_kr_kr_kr),
            };
            return self.mask_two(asm, codes, dst, a, b);
        }
        if o.is_compare() {
            let (codes, predicate) = match (o, ty.is_float()) {
                (Eq, true) => (&codes::CMP, CMP_EQ),
                (Ne, true) => (&codes::CMP, CMP_NE),
                (Lt, true) => (&codes::CMP, CMP_LT),
                (_, true) => (&codes::CMP, CMP_LE),
                (Eq, false) => (&codes::PCMP, INT_EQ),
                (Ne, false) => (&codes::PCMP, 4),
                (Lt, false) => (&codes::PCMP, 1),
                (Le, false) => (&codes::PCMP, 2),
                (LtU, false) => (&codes::PCMPU, 1),
                (_, false) => (&codes::PCMPU, 2),
            };
            return self.compare(asm, codes, ty, dst, a, b, predicate);
        }
        let codes = match (o, ty.is_float()) {
            (Add, true) => &codes::ADD,
            (Sub, true) => &codes::SUB,
            (Mul, true) => &codes::MUL,
            (Div, _) => &codes::DIV,
            (PickLt, _) => &codes::MIN,
            (PickGt, _) => &codes::MAX,
            (Scale, _) => &codes::SCALEF,
            (Min | Max, _) => {
                // The range instruction orders zeros by sign but takes a number before NaN.
                let picked = self.vector(asm, ty);
                let operands = [
                    Operand::Reg(a),
                    Operand::Reg(b),
                    Imm(if o == Min { 4 } else { 5 }),
                ];
                self.do_op(asm, self.code(&codes::RANGE, ty), picked, &operands);
                let unordered = self.mask(asm);
                self.compare(asm, &codes::CMP, ty, unordered, a, b, CMP_UNORD);
                let sum = op(
                    self.code(&codes::ADD, ty),
                    Some(picked),
                    &[Operand::Reg(a), Operand::Reg(b)],
                );
                self.masked(
                    asm,
                    unordered,
                    false,
                    Op {
                        broadcast: true,
                        ..sum
                    },
                );
                return asm.push(Lir::Move { dst, src: picked });
            }
            (Add, false) => &codes::PADD,
            (Sub, false) => &codes::PSUB,
            (Mul, false) => &codes::PMULL,
            (And, _) => &codes::PAND,
            (Or, _) => &codes::POR,
            (Xor, _) => &codes::PXOR,
            (MinS, _) => &codes::PMINS,
            (MaxS, _) => &codes::PMAXS,
            (MinU, _) => &codes::PMINU,
            (MaxU, _) => &codes::PMAXU,
            (Shl, _) => &codes::PSLLV,
            (ShrS, _) => &codes::PSRAV,
            (ShrU, _) => &codes::PSRLV,
            (MulHiS | MulHiU, _) if ty == Ty::I32 => {
                return self.mul_hi_32(asm, o == MulHiS, dst, a, b);
            }
            (MulHiS | MulHiU, _) => return self.mul_hi_64(asm, o == MulHiS, dst, a, b),
            (DivS | DivU, _) => return self.divide_32(asm, o == DivS, dst, a, b),
            (RemS | RemU, _) => {
                let (q, back) = (self.vector(asm, ty), self.vector(asm, ty));
                self.divide_32(asm, o == RemS, q, a, b);
                self.two(asm, &codes::PMULL, ty, back, q, b);
                return self.two(asm, &codes::PSUB, ty, dst, a, back);
            }
            (Eq | Ne | Lt | Le | LtU | LeU, _) => unreachable!("comparisons are done"),
        };
        self.two(asm, codes, ty, dst, a, b);
    }

    fn shift_by(&self, asm: &mut Asm, o: BinOp, ty: Ty, dst: Reg, a: Reg, count: u64) {
        let codes = match o {
            BinOp::Shl => &codes::PSLL_IMM,
            BinOp::ShrS => &codes::PSRA_IMM,
            _ => &codes::PSRL_IMM,
        };
        self.shift(asm, codes, ty, dst, a, count.min(255) as u8);
    }

    fn fma(&self, ty: Ty, signs: FmaSigns) -> FmaCodes {
        let [f132, f213, f231] = signs.codes().map(|c| self.code(c, ty));
        FmaCodes {
            f132,
            f213,
            f231,
            broadcast: true,
        }
    }

    fn select(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        if ty == Ty::Mask {
            let (x, y) = (self.mask(asm), self.mask(asm));
            self.mask_two(
                asm,
                (Code::VEX_Kandb_kr_kr_kr, Code::VEX_Kandw_kr_kr_kr),
                x,
                mask,
                a,
            );
            self.mask_two(
                asm,
                (Code::VEX_Kandnb_kr_kr_kr, Code::VEX_Kandnw_kr_kr_kr),
                y,
                mask,
                b,
            );
            return self.mask_two(
                asm,
                (Code::VEX_Korb_kr_kr_kr, Code::VEX_Korw_kr_kr_kr),
                dst,
                x,
                y,
            );
        }
        let blend = op(
            self.code(&codes::PBLENDM, ty.as_int()),
            Some(dst),
            &[Operand::Reg(b), Operand::Reg(a)],
        );
        asm.op(Op {
            mask: Some((mask, false)),
            broadcast: true,
            ..blend
        });
    }

    fn merge(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg) {
        if ty == Ty::Mask {
            let r = self.mask(asm);
            self.select(asm, ty, r, mask, a, dst);
            return asm.push(Lir::Move { dst, src: r });
        }
        self.masked(
            asm,
            mask,
            false,
            op(self.move_code(ty), Some(dst), &[Operand::Reg(a)]),
        );
    }

    fn test_any(&self, asm: &mut Asm, masks: &[Reg]) {
        let mut all = masks[0];
        for &m in &masks[1..] {
            let both = self.mask(asm);
            self.mask_two(
                asm,
                (Code::VEX_Korb_kr_kr_kr, Code::VEX_Korw_kr_kr_kr),
                both,
                all,
                m,
            );
            all = both;
        }
        let code = if self.wide {
            Code::VEX_Kortestb_kr_kr
        } else {
            Code::VEX_Kortestw_kr_kr
        };
        asm.op(Op {
            rm: None,
            ..op(code, None, &[Operand::Reg(all), Operand::Reg(all)])
        });
    }

    fn tail_mask(&self, asm: &mut Asm, dst: Reg, part: i64) {
        // rdx has a one for each lane that is left, from the first on.
        let shift = part * self.lanes();
        let source = if shift == 0 {
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
        let code = if self.wide {
            Code::VEX_Kmovb_kr_r32
        } else {
            Code::VEX_Kmovw_kr_r32
        };
        asm.op(op(code, Some(dst), &[Operand::Gpr(source)]));
    }

    fn broadcast_gpr(&self, asm: &mut Asm, ty: Ty, dst: Reg) {
        let (code, from) = match (ty, self.width(ty)) {
            (Ty::I64, _) => (Code::EVEX_Vpbroadcastq_zmm_k1z_r64, Register::RAX),
            (_, Width::V512) => (Code::EVEX_Vpbroadcastd_zmm_k1z_r32, Register::EAX),
            _ => (Code::EVEX_Vpbroadcastd_ymm_k1z_r32, Register::EAX),
        };
        asm.op(op(code, Some(dst), &[Operand::Gpr(from)]));
    }

    fn mask_from_gpr(&self, asm: &mut Asm, dst: Reg) {
        // eax is 0 or 1.
        asm.int(Code::Neg_rm32, &[Int::Gpr(Register::EAX)]);
        let code = if self.wide {
            Code::VEX_Kmovb_kr_r32
        } else {
            Code::VEX_Kmovw_kr_r32
        };
        asm.op(op(code, Some(dst), &[Operand::Gpr(Register::EAX)]));
    }

    fn broadcast(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        let code = match (ty.bits(), self.width(ty)) {
            (64, _) => Code::EVEX_Vbroadcastsd_zmm_k1z_xmmm64,
            (_, Width::V512) => Code::EVEX_Vbroadcastss_zmm_k1z_xmmm32,
            _ => Code::EVEX_Vbroadcastss_ymm_k1z_xmmm32,
        };
        asm.op(op(code, Some(dst), &[Operand::Mem(from)]));
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        let masked = |code: Code, dst: Reg| Op {
            mask: exec.map(|k| (k, true)),
            ..op(code, Some(dst), &[Operand::Mem(from)])
        };
        let code = match (mem, self.wide) {
            (MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64, _) => self.move_code(mem.lane()),
            (MemTy::I8, false) => Code::EVEX_Vpmovsxbd_zmm_k1z_xmmm128,
            (MemTy::I8, true) => Code::EVEX_Vpmovsxbd_ymm_k1z_xmmm64,
            (MemTy::U8, false) => Code::EVEX_Vpmovzxbd_zmm_k1z_xmmm128,
            (MemTy::U8, true) => Code::EVEX_Vpmovzxbd_ymm_k1z_xmmm64,
            (MemTy::I16, false) => Code::EVEX_Vpmovsxwd_zmm_k1z_ymmm256,
            (MemTy::I16, true) => Code::EVEX_Vpmovsxwd_ymm_k1z_xmmm128,
            (MemTy::U16 | MemTy::Bf16, false) => Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
            (MemTy::U16 | MemTy::Bf16, true) => Code::EVEX_Vpmovzxwd_ymm_k1z_xmmm128,
            (MemTy::F16, false) => Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
            (MemTy::F16, true) => Code::EVEX_Vcvtph2ps_ymm_k1z_xmmm128,
            (MemTy::Bool, _) => {
                let bytes = asm.reg(Class::Vector(Width::V128));
                let code = match (exec, self.wide) {
                    (None, true) => Code::EVEX_Vmovq_xmm_xmmm64,
                    _ => Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
                };
                asm.op(masked(code, bytes));
                let test = op(
                    Code::EVEX_Vptestmb_kr_k1_xmm_xmmm128,
                    Some(dst),
                    &[Operand::Reg(bytes), Operand::Reg(bytes)],
                );
                return asm.op(test);
            }
        };
        asm.op(masked(code, dst));
        if mem == MemTy::Bf16 {
            self.shift(asm, &codes::PSLL_IMM, Ty::I32, dst, dst, 16);
        }
    }

    fn store(
        &self,
        asm: &mut Asm,
        mem: MemTy,
        v: Reg,
        to: Mem,
        exec: Option<Reg>,
        nontemporal: bool,
    ) {
        match mem {
            MemTy::F32 | MemTy::I32 | MemTy::F64 | MemTy::I64 => {
                let stream = nontemporal && exec.is_none();
                let code = match self.width(mem.lane()) {
                    Width::V512 if stream => Code::EVEX_Vmovntps_m512_zmm,
                    _ if stream => Code::EVEX_Vmovntps_m256_ymm,
                    _ => self.store_code(mem.lane()),
                };
                let mask = exec.map(|k| (k, false));
                asm.op(Op {
                    mask,
                    rm: None,
                    ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
                });
            }
            MemTy::I8 | MemTy::U8 => {
                let codes = (
                    Code::EVEX_Vpmovdb_xmmm64_k1z_ymm,
                    Code::EVEX_Vpmovdb_xmmm128_k1z_zmm,
                );
                let bytes = self.narrow(asm, codes, v, Width::V128, None);
                self.store_narrow(asm, bytes, 1, to, exec);
            }
            MemTy::Bool => {
                let ones = asm.vector(Width::V128, &[1; 16]);
                let bytes = asm.reg(Class::Vector(Width::V128));
                self.masked(
                    asm,
                    v,
                    true,
                    op(
                        Code::EVEX_Vmovdqu8_xmm_k1z_xmmm128,
                        Some(bytes),
                        &[Operand::Reg(ones)],
                    ),
                );
                self.store_narrow(asm, bytes, 1, to, exec);
            }
            MemTy::I16 | MemTy::U16 => {
                let words = self.narrow(asm, TO_WORDS, v, self.half_width(), None);
                self.store_narrow(asm, words, 2, to, exec);
            }
            MemTy::F16 => {
                let words = self.narrow(asm, TO_F16, v, self.half_width(), Some(0));
                self.store_narrow(asm, words, 2, to, exec);
            }
            MemTy::Bf16 => {
                let bits = self.bf16_bits(asm, v);
                let words = self.narrow(asm, TO_WORDS, bits, self.half_width(), None);
                self.store_narrow(asm, words, 2, to, exec);
            }
        }
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        match mem {
            MemTy::Bool => {
                let zero = self.splat(asm, Ty::I32, 0);
                self.compare(asm, &codes::PCMP, Ty::I32, dst, raw, zero, 4);
            }
            MemTy::F16 => {
                let words = self.narrow(asm, TO_WORDS, raw, self.half_width(), None);
                self.convert(
                    asm,
                    Code::EVEX_Vcvtph2ps_zmm_k1z_ymmm256_sae,
                    Code::EVEX_Vcvtph2ps_ymm_k1z_xmmm128,
                    dst,
                    words,
                );
            }
            MemTy::Bf16 => self.shift(asm, &codes::PSLL_IMM, Ty::I32, dst, raw, 16),
            _ => asm.push(Lir::Move { dst, src: raw }),
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        match mem {
            MemTy::Bool => {
                let (raw, one) = (self.vector(asm, Ty::I32), self.splat(asm, Ty::I32, 1));
                self.masked(
                    asm,
                    v,
                    true,
                    op(self.move_code(Ty::I32), Some(raw), &[Operand::Reg(one)]),
                );
                raw
            }
            MemTy::F16 => {
                let words = self.narrow(asm, TO_F16, v, self.half_width(), Some(0));
                let raw = self.vector(asm, Ty::I32);
                self.convert(
                    asm,
                    Code::EVEX_Vpmovzxwd_zmm_k1z_ymmm256,
                    Code::EVEX_Vpmovzxwd_ymm_k1z_xmmm128,
                    raw,
                    words,
                );
                raw
            }
            MemTy::Bf16 => self.bf16_bits(asm, v),
            _ => v,
        }
    }

    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>) {
        let code = match (ty.bits(), index, self.wide) {
            (32, Ty::I32, false) => Code::EVEX_Vpgatherdd_zmm_k1_vm32z,
            (32, Ty::I32, true) => Code::EVEX_Vpgatherdd_ymm_k1_vm32y,
            (32, _, _) => Code::EVEX_Vpgatherqd_ymm_k1_vm64z,
            (_, Ty::I32, _) => Code::EVEX_Vpgatherdq_zmm_k1_vm32y,
            _ => Code::EVEX_Vpgatherqq_zmm_k1_vm64z,
        };
        let k = self.consumable(asm, exec);
        let zero = self.splat(asm, ty, 0);
        asm.push(Lir::Move { dst, src: zero });
        asm.op(Op {
            mask: Some((k, false)),
            tied: true,
            late: true,
            rm: None,
            ..op(code, Some(dst), &[Operand::Mem(from)])
        });
    }

    fn scatter(
        &self,
        asm: &mut Asm,
        ty: Ty,
        v: Reg,
        to: Mem,
        index: Ty,
        exec: Option<Reg>,
    ) -> bool {
        let code = match (ty.bits(), index, self.wide) {
            (32, Ty::I32, false) => Code::EVEX_Vpscatterdd_vm32z_k1_zmm,
            (32, Ty::I32, true) => Code::EVEX_Vpscatterdd_vm32y_k1_ymm,
            (32, _, _) => Code::EVEX_Vpscatterqd_vm64z_k1_ymm,
            (_, Ty::I32, _) => Code::EVEX_Vpscatterdq_vm32y_k1_zmm,
            _ => Code::EVEX_Vpscatterqq_vm64z_k1_zmm,
        };
        let k = self.consumable(asm, exec);
        asm.op(Op {
            mask: Some((k, false)),
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
        true
    }

    fn mask_to_gpr(&self, asm: &mut Asm, mask: Reg) {
        let code = if self.wide {
            Code::VEX_Kmovb_r32_kr
        } else {
            Code::VEX_Kmovw_r32_kr
        };
        asm.op(Op {
            rm: None,
            ..op(
                code,
                None,
                &[Operand::Gpr(Register::EDX), Operand::Reg(mask)],
            )
        });
    }

    fn rotate(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, by: u8) {
        if ty == Ty::Mask {
            let o = op(
                Code::VEX_Kshiftrw_kr_kr_imm8,
                Some(dst),
                &[Operand::Reg(a), Imm(by)],
            );
            return asm.op(Op { rm: None, ..o });
        }
        let o = op(
            self.code(&codes::ALIGN, ty),
            Some(dst),
            &[Operand::Reg(a), Operand::Reg(a), Imm(by)],
        );
        asm.op(o);
    }

    fn accumulator_bits(&self, ty: Ty) -> i32 {
        ty.bits() as i32
    }

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        if ty == Ty::Mask {
            let code = if self.wide {
                Code::VEX_Kmovb_kr_km8
            } else {
                Code::VEX_Kmovw_kr_km16
            };
            return asm.op(op(code, Some(dst), &[Operand::Mem(from)]));
        }
        asm.op(op(self.move_code(ty), Some(dst), &[Operand::Mem(from)]));
    }

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, v: Reg, to: Mem) {
        let code = match (ty, self.wide) {
            (Ty::Mask, true) => Code::VEX_Kmovb_m8_kr,
            (Ty::Mask, false) => Code::VEX_Kmovw_m16_kr,
            _ => self.store_code(ty),
        };
        asm.op(Op {
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }

    fn nontemporal_alignment(&self, mem: MemTy) -> i32 {
        self.width(mem.lane()).bytes()
    }
}

impl Avx512 {
    /// The width that holds as many 16-bit elements as there are lanes.
    fn half_width(&self) -> Width {
        if self.wide { Width::V128 } else { Width::V256 }
    }
}

/// Instructions that narrow 32-bit lanes, in a wide body and otherwise.
const TO_F16: (Code, Code) = (
    Code::EVEX_Vcvtps2ph_xmmm128_k1z_ymm_imm8,
    Code::EVEX_Vcvtps2ph_ymmm256_k1z_zmm_imm8_sae,
);
const TO_WORDS: (Code, Code) = (
    Code::EVEX_Vpmovdw_xmmm128_k1z_ymm,
    Code::EVEX_Vpmovdw_ymmm256_k1z_zmm,
);
