//! Selection for AVX2 with FMA, F16C and BMI2: 8 lanes, or 4 in a body with 64-bit values; a mask is a vector of ones or zeros, with lanes of
//! 64 bits in such a body.

mod convert;
mod integer;
mod memory;

use super::codes::{self, Codes};
use super::lir::*;
use super::target::{FmaSigns, Target};
use crate::lanes::{BinOp, MemTy, Ty, UnOp};
use crate::narrow;
use iced_x86::{Code, Register};

/// The instruction set, for one body.
pub(super) struct Avx2 {
    /// Whether a lane may hold 64 bits: then 32-bit values take half a register.
    pub(super) wide: bool,
}

use Operand::{Imm, Part};

const V128: Class = Class::Vector(Width::V128);
const V256: Class = Class::Vector(Width::V256);

impl Target for Avx2 {
    const EVEX: bool = false;

    const VECTORS: u8 = 16;

    fn lanes(&self) -> i64 {
        if self.wide { 4 } else { 8 }
    }

    fn class(&self, ty: Ty) -> Class {
        Class::Vector(self.width(ty))
    }

    fn mask_constant(&self, asm: &mut Asm, dst: Reg, value: bool) {
        let code = if value {
            Code::VEX_Vpcmpeqd_ymm_ymm_ymmm256
        } else {
            Code::VEX_Vpxor_ymm_ymm_ymmm256
        };
        asm.op(op(
            code,
            Some(dst),
            &[Operand::Gpr(Register::YMM0), Operand::Gpr(Register::YMM0)],
        ));
    }

    fn un(&self, asm: &mut Asm, o: UnOp, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let int = from.as_int();
        let sign = 1u64 << (from.bits() - 1);
        let round = |asm: &mut Asm, mode| {
            asm.op(op(
                self.code(&codes::ROUND, from),
                Some(dst),
                &[Operand::Reg(a), Imm(mode)],
            ));
        };
        let r = match o {
            UnOp::Neg if from.is_float() => {
                let c = self.splat(asm, int, sign);
                self.two(asm, &codes::PXOR, int, a, c)
            }
            UnOp::Neg => {
                let zero = self.splat(asm, from, 0);
                self.two(asm, &codes::PSUB, from, zero, a)
            }
            UnOp::Abs if from.is_float() => {
                let c = self.splat(asm, int, sign - 1);
                self.two(asm, &codes::PAND, int, a, c)
            }
            UnOp::Abs if from == Ty::I64 => {
                let sign = self.negative(asm, from, a);
                let flipped = self.two(asm, &codes::PXOR, from, a, sign);
                self.two(asm, &codes::PSUB, from, flipped, sign)
            }
            UnOp::Abs => self.one(asm, &codes::PABS, from, a),
            UnOp::Not => {
                let ty = if from == Ty::Mask {
                    self.mask_lane()
                } else {
                    from
                };
                let ones = self.splat(asm, ty, u64::MAX);
                self.two(asm, &codes::PXOR, ty, a, ones)
            }
            UnOp::Sqrt => self.one(asm, &codes::SQRT, from, a),
            UnOp::Floor => return round(asm, 9),
            UnOp::Ceil => return round(asm, 10),
            UnOp::Trunc => return round(asm, 11),
            UnOp::RoundEven => return round(asm, 8),
            UnOp::Clz => {
                let code = if from == Ty::I64 {
                    Code::Lzcnt_r64_rm64
                } else {
                    Code::Lzcnt_r32_rm32
                };
                self.lane_by_lane(asm, from, a, code)
            }
            UnOp::Popcount => {
                let code = if from == Ty::I64 {
                    Code::Popcnt_r64_rm64
                } else {
                    Code::Popcnt_r32_rm32
                };
                self.lane_by_lane(asm, from, a, code)
            }
            UnOp::SToF => self.int_to_float(asm, true, from, to, a),
            UnOp::UToF => self.int_to_float(asm, false, from, to, a),
            UnOp::FToS => self.float_to_signed(asm, from, to, a),
            UnOp::FToU => self.float_to_unsigned(asm, from, to, a),
            UnOp::FToF if to == Ty::F64 => self.emit(
                asm,
                V256,
                Code::VEX_Vcvtps2pd_ymm_xmmm128,
                &[Operand::Reg(a)],
            ),
            UnOp::FToF => self.emit(
                asm,
                V128,
                Code::VEX_Vcvtpd2ps_xmm_ymmm256,
                &[Operand::Reg(a)],
            ),
            UnOp::SExt => self.emit(
                asm,
                V256,
                Code::VEX_Vpmovsxdq_ymm_xmmm128,
                &[Operand::Reg(a)],
            ),
            UnOp::ZExt => self.emit(
                asm,
                V256,
                Code::VEX_Vpmovzxdq_ymm_xmmm128,
                &[Operand::Reg(a)],
            ),
            UnOp::Low => self.low_halves(asm, a),
            UnOp::Bitcast => a,
            UnOp::RoundF16 => {
                let half = self.lane_to_half(asm, a);
                return self.half_to_lane(asm, dst, half);
            }
            UnOp::RoundBf16 => {
                let bits = self.bf16_bits(asm, a);
                self.shift(asm, &codes::PSLL_IMM, Ty::I32, bits, 16)
            }
        };
        self.put(asm, dst, r);
    }

    fn bin(&self, asm: &mut Asm, o: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        use BinOp::*;
        let r = match o {
            And | Or | Xor => {
                let lane = if ty == Ty::Mask { self.mask_lane() } else { ty };
                let codes = match o {
                    And => &codes::PAND,
                    Or => &codes::POR,
                    _ => &codes::PXOR,
                };
                self.two(asm, codes, lane, a, b)
            }
            Eq | Ne | Lt | Le | LtU | LeU => {
                let m = if ty.is_float() {
                    let predicate = match o {
                        Eq => CMP_EQ,
                        Ne => CMP_NE,
                        Lt => CMP_LT,
                        _ => CMP_LE,
                    };
                    self.compare_float(asm, ty, a, b, predicate)
                } else {
                    self.compare_int(asm, o, ty, a, b)
                };
                self.to_mask(asm, ty, m)
            }
            Add if ty.is_float() => self.two(asm, &codes::ADD, ty, a, b),
            Sub if ty.is_float() => self.two(asm, &codes::SUB, ty, a, b),
            Mul if ty.is_float() => self.two(asm, &codes::MUL, ty, a, b),
            Div => self.two(asm, &codes::DIV, ty, a, b),
            PickLt => self.two(asm, &codes::MIN, ty, a, b),
            PickGt => self.two(asm, &codes::MAX, ty, a, b),
            Min | Max => self.min_max(asm, o, ty, a, b),
            Scale => self.scale(asm, ty, a, b),
            Add => self.two(asm, &codes::PADD, ty, a, b),
            Sub => self.two(asm, &codes::PSUB, ty, a, b),
            Mul if ty == Ty::I64 => self.multiply_64(asm, a, b),
            Mul => self.two(asm, &codes::PMULL, ty, a, b),
            MulHiS | MulHiU => self.mul_hi(asm, o == MulHiS, ty, a, b),
            MinS | MaxS | MinU | MaxU if ty == Ty::I64 => {
                let less = self.compare_int(
                    asm,
                    if matches!(o, MinS | MaxS) { Lt } else { LtU },
                    ty,
                    a,
                    b,
                );
                let (x, y) = if matches!(o, MinS | MinU) {
                    (a, b)
                } else {
                    (b, a)
                };
                self.blend(asm, ty, less, x, y)
            }
            MinS => self.two(asm, &codes::PMINS, ty, a, b),
            MaxS => self.two(asm, &codes::PMAXS, ty, a, b),
            MinU => self.two(asm, &codes::PMINU, ty, a, b),
            MaxU => self.two(asm, &codes::PMAXU, ty, a, b),
            Shl => self.two(asm, &codes::PSLLV, ty, a, b),
            ShrU => self.two(asm, &codes::PSRLV, ty, a, b),
            ShrS if ty == Ty::I64 => {
                self.shift_right_signed(asm, ty, a, |asm, x| self.two(asm, &codes::PSRLV, ty, x, b))
            }
            ShrS => self.two(asm, &codes::PSRAV, ty, a, b),
            DivS | DivU => self.divide_32(asm, o == DivS, a, b),
            RemS | RemU => {
                let q = self.divide_32(asm, o == RemS, a, b);
                let back = self.two(asm, &codes::PMULL, ty, q, b);
                self.two(asm, &codes::PSUB, ty, a, back)
            }
        };
        self.put(asm, dst, r);
    }

    fn shift_by(&self, asm: &mut Asm, o: BinOp, ty: Ty, dst: Reg, a: Reg, count: u64) {
        let count = count.min(255) as u8;
        let r = match o {
            BinOp::Shl => self.shift(asm, &codes::PSLL_IMM, ty, a, count),
            BinOp::ShrS if ty == Ty::I64 => self.shift_right_signed(asm, ty, a, |asm, x| {
                self.shift(asm, &codes::PSRL_IMM, ty, x, count)
            }),
            BinOp::ShrS => self.shift(asm, &codes::PSRA_IMM, ty, a, count),
            _ => self.shift(asm, &codes::PSRL_IMM, ty, a, count),
        };
        self.put(asm, dst, r);
    }

    fn fma(&self, ty: Ty, signs: FmaSigns) -> FmaCodes {
        let [f132, f213, f231] = signs.codes().map(|c| self.code(c, ty));
        FmaCodes {
            f132,
            f213,
            f231,
            broadcast: false,
        }
    }

    fn select(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        let ty = if ty == Ty::Mask { self.mask_lane() } else { ty };
        let mask = self.mask_for(asm, ty, mask);
        let r = self.blend(asm, ty, mask, a, b);
        self.put(asm, dst, r);
    }

    fn merge(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg) {
        self.select(asm, ty, dst, mask, a, dst);
    }

    fn test_any(&self, asm: &mut Asm, masks: &[Reg]) {
        let all = masks[1..].iter().fold(masks[0], |all, &m| {
            self.two(asm, &codes::POR, self.mask_lane(), all, m)
        });
        asm.op(Op {
            rm: None,
            ..op(
                Code::VEX_Vptest_ymm_ymmm256,
                None,
                &[Operand::Reg(all), Operand::Reg(all)],
            )
        });
    }

    fn tail_mask(&self, asm: &mut Asm, dst: Reg, copy: i64) {
        let lane = self.mask_lane();
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
        let own = self.two(asm, &codes::PAND, lane, bits, each);
        let m = self.two(asm, &codes::PCMPEQ, lane, own, each);
        self.put(asm, dst, m);
    }

    fn broadcast_gpr(&self, asm: &mut Asm, ty: Ty, dst: Reg) {
        let (code, from) = if ty == Ty::I64 {
            (Code::VEX_Vmovq_xmm_rm64, Register::RAX)
        } else {
            (Code::VEX_Vmovd_xmm_rm32, Register::EAX)
        };
        let x = self.emit(asm, V128, code, &[Operand::Gpr(from)]);
        let code = match (ty, self.width(ty)) {
            (Ty::I64, _) => Code::VEX_Vpbroadcastq_ymm_xmmm64,
            (_, Width::V256) => Code::VEX_Vpbroadcastd_ymm_xmmm32,
            _ => Code::VEX_Vpbroadcastd_xmm_xmmm32,
        };
        asm.op(op(code, Some(dst), &[Operand::Reg(x)]));
    }

    fn mask_to_gpr(&self, asm: &mut Asm, mask: Reg) {
        let code = if self.wide {
            Code::VEX_Vmovmskpd_r32_ymm
        } else {
            Code::VEX_Vmovmskps_r32_ymm
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
        let ty = if ty == Ty::Mask { self.mask_lane() } else { ty };
        let bytes = i32::from(by) * ty.bits() as i32 / 8;
        let (code, imm) = match (bytes, self.width(ty)) {
            (16, _) => {
                let operands = [Operand::Reg(a), Operand::Reg(a), Imm(1)];
                return asm.op(op(
                    Code::VEX_Vperm2f128_ymm_ymm_ymmm256_imm8,
                    Some(dst),
                    &operands,
                ));
            }
            (8, Width::V256) => (Code::VEX_Vpshufd_ymm_ymmm256_imm8, 0x4e),
            (8, _) => (Code::VEX_Vpshufd_xmm_xmmm128_imm8, 0x4e),
            (_, Width::V256) => (Code::VEX_Vpshufd_ymm_ymmm256_imm8, 1),
            _ => (Code::VEX_Vpshufd_xmm_xmmm128_imm8, 1),
        };
        asm.op(op(code, Some(dst), &[Operand::Reg(a), Imm(imm)]));
    }
}

impl Avx2 {
    fn width(&self, ty: Ty) -> Width {
        if self.wide && ty.bits() == 32 {
            Width::V128
        } else {
            Width::V256
        }
    }

    fn code(&self, codes: &Codes, ty: Ty) -> Code {
        codes.vex(ty.bits(), self.width(ty))
    }

    /// The integer type as wide as a lane of a mask.
    fn mask_lane(&self) -> Ty {
        if self.wide { Ty::I64 } else { Ty::I32 }
    }

    fn put(&self, asm: &mut Asm, dst: Reg, src: Reg) {
        asm.push(Lir::Move { dst, src });
    }

    fn emit(&self, asm: &mut Asm, class: Class, code: Code, operands: &[Operand]) -> Reg {
        let dst = asm.reg(class);
        asm.op(op(code, Some(dst), operands));
        dst
    }

    fn splat(&self, asm: &mut Asm, ty: Ty, bits: u64) -> Reg {
        asm.splat(self.width(ty), narrow(ty.bits() / 8), bits & ty.bit_mask())
    }

    #[allow(clippy::cast_possible_truncation, reason = "a float is rounded")]
    fn float(&self, asm: &mut Asm, ty: Ty, x: f64) -> Reg {
        let bits = if ty == Ty::F32 {
            u64::from((x as f32).to_bits())
        } else {
            x.to_bits()
        };
        self.splat(asm, ty, bits)
    }

    fn two(&self, asm: &mut Asm, codes: &Codes, ty: Ty, a: Reg, b: Reg) -> Reg {
        self.emit(
            asm,
            Class::Vector(self.width(ty)),
            self.code(codes, ty),
            &[Operand::Reg(a), Operand::Reg(b)],
        )
    }

    fn one(&self, asm: &mut Asm, codes: &Codes, ty: Ty, a: Reg) -> Reg {
        self.emit(
            asm,
            Class::Vector(self.width(ty)),
            self.code(codes, ty),
            &[Operand::Reg(a)],
        )
    }

    fn shift(&self, asm: &mut Asm, codes: &Codes, ty: Ty, a: Reg, count: u8) -> Reg {
        let operands = [Operand::Reg(a), Imm(count)];
        let dst = asm.reg(Class::Vector(self.width(ty)));
        // Unlike the EVEX form this one takes no memory.
        asm.op(Op {
            rm: None,
            ..op(self.code(codes, ty), Some(dst), &operands)
        });
        dst
    }

    /// A comparison in the form of its operands' lanes.
    fn compare_float(&self, asm: &mut Asm, ty: Ty, a: Reg, b: Reg, predicate: u8) -> Reg {
        let operands = [Operand::Reg(a), Operand::Reg(b), Imm(predicate)];
        self.emit(
            asm,
            Class::Vector(self.width(ty)),
            self.code(&codes::CMP, ty),
            &operands,
        )
    }

    /// The blend by a mask of the same form.
    fn blend(&self, asm: &mut Asm, ty: Ty, mask: Reg, a: Reg, b: Reg) -> Reg {
        let code = match (ty.bits(), self.width(ty)) {
            (64, _) => Code::VEX_Vblendvpd_ymm_ymm_ymmm256_ymm,
            (_, Width::V256) => Code::VEX_Vblendvps_ymm_ymm_ymmm256_ymm,
            _ => Code::VEX_Vblendvps_xmm_xmm_xmmm128_xmm,
        };
        let dst = asm.reg(Class::Vector(self.width(ty)));
        let o = op(
            code,
            Some(dst),
            &[Operand::Reg(b), Operand::Reg(a), Operand::Reg(mask)],
        );
        asm.op(Op { rm: Some(1), ..o });
        dst
    }

    /// A comparison's result, in the lanes of `ty`, as a mask.
    fn to_mask(&self, asm: &mut Asm, ty: Ty, m: Reg) -> Reg {
        if self.wide && ty.bits() == 32 {
            return self.emit(
                asm,
                V256,
                Code::VEX_Vpmovsxdq_ymm_xmmm128,
                &[Operand::Reg(m)],
            );
        }
        m
    }

    /// A mask in the lanes of `ty`.
    fn mask_for(&self, asm: &mut Asm, ty: Ty, m: Reg) -> Reg {
        if self.wide && ty.bits() == 32 {
            self.low_halves(asm, m)
        } else {
            m
        }
    }

    /// The low halves of four 64-bit lanes.
    fn low_halves(&self, asm: &mut Asm, a: Reg) -> Reg {
        let high = self.high(asm, a);
        let operands = [Part(a, Width::V128), Operand::Reg(high), Imm(0x88)];
        self.emit(asm, V128, Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, &operands)
    }

    /// The upper 128 bits.
    fn high(&self, asm: &mut Asm, a: Reg) -> Reg {
        let dst = asm.reg(V128);
        let o = op(
            Code::VEX_Vextracti128_xmmm128_ymm_imm8,
            Some(dst),
            &[Operand::Reg(a), Imm(1)],
        );
        asm.op(Op { rm: None, ..o });
        dst
    }

    fn join(&self, asm: &mut Asm, low: Reg, high: Reg) -> Reg {
        let dst = asm.reg(V256);
        let operands = [Part(low, Width::V256), Operand::Reg(high), Imm(1)];
        asm.op(Op {
            rm: Some(1),
            ..op(
                Code::VEX_Vinserti128_ymm_ymm_xmmm128_imm8,
                Some(dst),
                &operands,
            )
        });
        dst
    }

    /// Applies `f`, which takes four 32-bit lanes to four, to all lanes.
    fn in_fours(&self, asm: &mut Asm, a: &[Reg], f: impl Fn(&mut Asm, &[Operand]) -> Reg) -> Reg {
        let low: Vec<Operand> = a
            .iter()
            .map(|&r| {
                if self.wide {
                    Operand::Reg(r)
                } else {
                    Part(r, Width::V128)
                }
            })
            .collect();
        let low = f(asm, &low);
        if self.wide {
            return low;
        }
        let high: Vec<Operand> = a.iter().map(|&r| Operand::Reg(self.high(asm, r))).collect();
        let high = f(asm, &high);
        self.join(asm, low, high)
    }

    fn scale(&self, asm: &mut Asm, ty: Ty, a: Reg, n: Reg) -> Reg {
        let (top, bottom, magic, fraction) = if ty == Ty::F32 {
            (254.0, -252.0, 12_582_912.0 + 127.0, 23)
        } else {
            (2046.0, -2044.0, 6_755_399_441_055_744.0 + 1023.0, 52)
        };
        let [top, bottom, magic, half] = [top, bottom, magic, 0.5].map(|x| self.float(asm, ty, x));
        let n = self.two(asm, &codes::MIN, ty, n, top);
        let n = self.two(asm, &codes::MAX, ty, n, bottom);
        let first = self.two(asm, &codes::MUL, ty, n, half);
        let round = [Operand::Reg(first), Imm(9)];
        let first = self.emit(
            asm,
            Class::Vector(self.width(ty)),
            self.code(&codes::ROUND, ty),
            &round,
        );
        let second = self.two(asm, &codes::SUB, ty, n, first);
        [first, second].into_iter().fold(a, |a, n| {
            let biased = self.two(asm, &codes::ADD, ty, n, magic);
            let power = self.shift(asm, &codes::PSLL_IMM, ty.as_int(), biased, fraction);
            self.two(asm, &codes::MUL, ty, a, power)
        })
    }

    fn min_max(&self, asm: &mut Asm, o: BinOp, ty: Ty, a: Reg, b: Reg) -> Reg {
        let (picked, zeros) = if o == BinOp::Min {
            (&codes::MIN, &codes::POR)
        } else {
            (&codes::MAX, &codes::PAND)
        };
        let picked = self.two(asm, picked, ty, a, b);
        let both = self.two(asm, zeros, ty.as_int(), a, b);
        let equal = self.compare_float(asm, ty, a, b, CMP_EQ);
        let result = self.blend(asm, ty, equal, both, picked);
        let unordered = self.compare_float(asm, ty, a, b, CMP_UNORD);
        let sum = self.two(asm, &codes::ADD, ty, a, b);
        self.blend(asm, ty, unordered, sum, result)
    }
}

/// Predicates of float comparisons.
const CMP_EQ: u8 = 0;
const CMP_UNORD: u8 = 3;
const CMP_NE: u8 = 4;
const CMP_ORD: u8 = 7;
const CMP_LT: u8 = 17;
const CMP_LE: u8 = 18;
