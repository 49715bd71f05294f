//! Selection for AVX-512 (F, CD, BW, DQ, VL): 16 lanes, or 8 in a body with 64-bit values; masks in mask registers.

mod convert;
mod integer;
mod memory;

use super::codes;
use super::codes::Codes;
use super::lir::*;
use super::target::{FmaSigns, Target};
use crate::lanes::{BinOp, MemTy, Ty, UnOp};
use crate::narrow;
use convert::TO_F16;
use iced_x86::{Code, Register};

/// The instruction set, for one body.
pub(super) struct Avx512 {
    /// Whether a lane may hold 64 bits: then 32-bit values take half a register.
    pub(super) wide: bool,
    /// Whether the machine counts bits in vectors.
    pub(super) popcnt: bool,
}

use Operand::{Imm, Part};

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

    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64) {
        // rdx has a one for each lane that is left, from the first on.
        let shift = copy * self.lanes();
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
}

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
        asm.splat(self.width(ty), narrow(ty.bits() / 8), bits)
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
}

/// Predicates of float comparisons.
const CMP_EQ: u8 = 0;
const CMP_UNORD: u8 = 3;
const CMP_NE: u8 = 4;
const CMP_ORD: u8 = 7;
const CMP_LT: u8 = 17;
const CMP_LE: u8 = 18;

/// Predicate of integer comparisons.
const INT_EQ: u8 = 0;
