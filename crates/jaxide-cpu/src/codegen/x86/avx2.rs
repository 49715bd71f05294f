//! Selection for AVX2 with FMA, F16C and BMI2: 8 lanes, or 4 in a body with 64-bit values; a mask is a vector of ones or zeros, with lanes of
//! 64 bits in such a body.

use super::codes::{self, Codes};
use super::lir::*;
use super::target::{FmaSigns, Target};
use crate::lanes::{BinOp, MemTy, Ty, UnOp};
use iced_x86::{Code, Register};

/// The instruction set, for one body.
pub(super) struct Avx2 {
    /// Whether a lane may hold 64 bits: then 32-bit values take half a register.
    pub(super) wide: bool,
}

use Operand::{Imm, Part};

const V128: Class = Class::Vector(Width::V128);
const V256: Class = Class::Vector(Width::V256);

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

    fn new(&self, asm: &mut Asm, class: Class, code: Code, operands: &[Operand]) -> Reg {
        let dst = asm.reg(class);
        asm.op(op(code, Some(dst), operands));
        dst
    }

    fn splat(&self, asm: &mut Asm, ty: Ty, bits: u64) -> Reg {
        asm.splat(self.width(ty), (ty.bits() / 8) as u8, bits & ty.bit_mask())
    }

    fn float(&self, asm: &mut Asm, ty: Ty, x: f64) -> Reg {
        let bits = if ty == Ty::F32 {
            u64::from((x as f32).to_bits())
        } else {
            x.to_bits()
        };
        self.splat(asm, ty, bits)
    }

    fn two(&self, asm: &mut Asm, codes: &Codes, ty: Ty, a: Reg, b: Reg) -> Reg {
        self.new(
            asm,
            Class::Vector(self.width(ty)),
            self.code(codes, ty),
            &[Operand::Reg(a), Operand::Reg(b)],
        )
    }

    fn one(&self, asm: &mut Asm, codes: &Codes, ty: Ty, a: Reg) -> Reg {
        self.new(
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
        self.new(
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
            return self.new(
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
        self.new(asm, V128, Code::VEX_Vshufps_xmm_xmm_xmmm128_imm8, &operands)
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

    /// All ones where an integer is negative.
    fn negative(&self, asm: &mut Asm, ty: Ty, a: Reg) -> Reg {
        let zero = self.splat(asm, ty, 0);
        self.two(asm, &codes::PCMPGT, ty, zero, a)
    }

    fn shift_right_signed(
        &self,
        asm: &mut Asm,
        ty: Ty,
        a: Reg,
        logical: impl FnOnce(&mut Asm, Reg) -> Reg,
    ) -> Reg {
        // Negative numbers as their complements, which fill with zeros.
        let sign = self.negative(asm, ty, a);
        let positive = self.two(asm, &codes::PXOR, ty, a, sign);
        let shifted = logical(asm, positive);
        self.two(asm, &codes::PXOR, ty, shifted, sign)
    }

    fn multiply_64(&self, asm: &mut Asm, a: Reg, b: Reg) -> Reg {
        let (ah, bh) = (
            self.shift(asm, &codes::PSRL_IMM, Ty::I64, a, 32),
            self.shift(asm, &codes::PSRL_IMM, Ty::I64, b, 32),
        );
        let (x, y) = (
            self.two(asm, &codes::PMULUDQ, Ty::I64, ah, b),
            self.two(asm, &codes::PMULUDQ, Ty::I64, a, bh),
        );
        let cross = self.two(asm, &codes::PADD, Ty::I64, x, y);
        let cross = self.shift(asm, &codes::PSLL_IMM, Ty::I64, cross, 32);
        let low = self.two(asm, &codes::PMULUDQ, Ty::I64, a, b);
        self.two(asm, &codes::PADD, Ty::I64, low, cross)
    }

    fn mul_hi(&self, asm: &mut Asm, signed: bool, ty: Ty, a: Reg, b: Reg) -> Reg {
        if ty == Ty::I32 {
            // Products of even and of odd lanes apart.
            let width = self.width(ty);
            let product = if signed {
                &codes::PMULDQ
            } else {
                &codes::PMULUDQ
            }
            .vex(64, width);
            let right = codes::PSRL_IMM.vex(64, width);
            let class = Class::Vector(width);
            let right = |asm: &mut Asm, a: Reg| {
                let dst = asm.reg(class);
                asm.op(Op {
                    rm: None,
                    ..op(right, Some(dst), &[Operand::Reg(a), Imm(32)])
                });
                dst
            };
            let even = self.new(asm, class, product, &[Operand::Reg(a), Operand::Reg(b)]);
            let (x, y) = (right(asm, a), right(asm, b));
            let odd = self.new(asm, class, product, &[Operand::Reg(x), Operand::Reg(y)]);
            let even = right(asm, even);
            let blend = match width {
                Width::V256 => Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8,
                _ => Code::VEX_Vpblendd_xmm_xmm_xmmm128_imm8,
            };
            return self.new(
                asm,
                class,
                blend,
                &[Operand::Reg(even), Operand::Reg(odd), Imm(0xaa)],
            );
        }
        let low = self.splat(asm, ty, 0xffff_ffff);
        let right = |asm: &mut Asm, a| self.shift(asm, &codes::PSRL_IMM, ty, a, 32);
        let product = |asm: &mut Asm, a, b| self.two(asm, &codes::PMULUDQ, ty, a, b);
        let add = |asm: &mut Asm, a, b| self.two(asm, &codes::PADD, ty, a, b);
        let (ah, bh) = (right(asm, a), right(asm, b));
        let (ll, lh, hl, hh) = (
            product(asm, a, b),
            product(asm, a, bh),
            product(asm, ah, b),
            product(asm, ah, bh),
        );
        let carry = right(asm, ll);
        let middle = add(asm, hl, carry);
        let part = self.two(asm, &codes::PAND, ty, middle, low);
        let other = add(asm, lh, part);
        let (x, y) = (right(asm, middle), right(asm, other));
        let sum = add(asm, hh, x);
        let mut high = add(asm, sum, y);
        if signed {
            for (x, y) in [(a, b), (b, a)] {
                let sign = self.negative(asm, ty, x);
                let part = self.two(asm, &codes::PAND, ty, sign, y);
                high = self.two(asm, &codes::PSUB, ty, high, part);
            }
        }
        high
    }

    /// Four 32-bit integers as doubles.
    fn to_doubles(&self, asm: &mut Asm, signed: bool, a: Operand) -> Reg {
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
        self.new(
            asm,
            V256,
            Code::VEX_Vaddpd_ymm_ymm_ymmm256,
            &[Operand::Reg(d), Operand::Reg(back)],
        )
    }

    /// Four doubles as unsigned 32-bit integers; what is too large, and NaN, comes out as all ones, negative values as zero.
    fn doubles_to_unsigned(&self, asm: &mut Asm, a: Reg) -> Reg {
        let splat = |asm: &mut Asm, x: f64| asm.splat(Width::V256, 8, x.to_bits());
        let (zero, most, half) = (
            splat(asm, 0.0),
            splat(asm, 4_294_967_295.0),
            splat(asm, 2_147_483_648.0),
        );
        let binary = |asm: &mut Asm, code, a, b| {
            self.new(asm, V256, code, &[Operand::Reg(a), Operand::Reg(b)])
        };
        // The minimum gives its second operand for NaN.
        let a = binary(asm, Code::VEX_Vminpd_ymm_ymm_ymmm256, a, most);
        let a = binary(asm, Code::VEX_Vmaxpd_ymm_ymm_ymmm256, a, zero);
        let a = self.new(
            asm,
            V256,
            Code::VEX_Vroundpd_ymm_ymmm256_imm8,
            &[Operand::Reg(a), Imm(11)],
        );
        let a = binary(asm, Code::VEX_Vsubpd_ymm_ymm_ymmm256, a, half);
        let a = self.new(
            asm,
            V128,
            Code::VEX_Vcvttpd2dq_xmm_ymmm256,
            &[Operand::Reg(a)],
        );
        let flip = asm.splat(Width::V128, 4, 1 << 31);
        self.new(
            asm,
            V128,
            Code::VEX_Vpxor_xmm_xmm_xmmm128,
            &[Operand::Reg(a), Operand::Reg(flip)],
        )
    }

    fn divide_32(&self, asm: &mut Asm, signed: bool, a: Reg, b: Reg) -> Reg {
        let q = self.in_fours(asm, &[a, b], |asm, v| {
            let (x, y) = (
                self.to_doubles(asm, signed, v[0]),
                self.to_doubles(asm, signed, v[1]),
            );
            let q = self.new(
                asm,
                V256,
                Code::VEX_Vdivpd_ymm_ymm_ymmm256,
                &[Operand::Reg(x), Operand::Reg(y)],
            );
            if signed {
                return self.new(
                    asm,
                    V128,
                    Code::VEX_Vcvttpd2dq_xmm_ymmm256,
                    &[Operand::Reg(q)],
                );
            }
            self.doubles_to_unsigned(asm, q)
        });
        if !signed {
            return q;
        }
        let (zero, ones) = (
            self.splat(asm, Ty::I32, 0),
            self.splat(asm, Ty::I32, u64::MAX),
        );
        let none = self.two(asm, &codes::PCMPEQ, Ty::I32, b, zero);
        self.blend(asm, Ty::I32, none, ones, q)
    }

    /// Four 64-bit integers as doubles, rounded once.
    fn int_64_to_double(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
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
    fn collect_low_bits(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
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

    fn int_to_float(&self, asm: &mut Asm, signed: bool, from: Ty, to: Ty, a: Reg) -> Reg {
        let to_single = |asm: &mut Asm, d: Reg| {
            self.new(
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
                self.new(asm, Class::Vector(self.width(to)), code, &[Operand::Reg(a)])
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

    fn float_to_signed(&self, asm: &mut Asm, from: Ty, to: Ty, a: Reg) -> Reg {
        let (from, a) = if (from, to) == (Ty::F32, Ty::I64) {
            (
                Ty::F64,
                self.new(
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
                self.new(
                    asm,
                    Class::Vector(self.width(from)),
                    code,
                    &[Operand::Reg(a)],
                )
            }
            (_, Ty::I32) => self.new(
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

    fn float_to_unsigned(&self, asm: &mut Asm, from: Ty, to: Ty, a: Reg) -> Reg {
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
            self.new(
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
        let part = self.two(asm, &codes::PAND, Ty::I64, large, half);
        let rest = self.two(asm, &codes::SUB, Ty::F64, a, part);
        let int = self.lane_by_lane(asm, Ty::I64, rest, Code::VEX_Vcvttsd2si_r64_xmmm64);
        let sign = self.splat(asm, Ty::I64, 1 << 63);
        let top = self.two(asm, &codes::PAND, Ty::I64, large, sign);
        let int = self.two(asm, &codes::PXOR, Ty::I64, int, top);
        let above = self.compare_float(asm, Ty::F64, all, a, CMP_LE);
        self.two(asm, &codes::POR, Ty::I64, int, above)
    }

    /// Applies a scalar instruction from memory to a general register to each lane.
    fn lane_by_lane(&self, asm: &mut Asm, ty: Ty, a: Reg, code: Code) -> Reg {
        let (at, step) = (asm.buffer(32), ty.bits() as i32 / 8);
        let mem = if ty == Ty::I64 {
            MemTy::I64
        } else {
            MemTy::I32
        };
        self.store(asm, mem, a, Mem::frame(at), None, false);
        let (to, back) = if step == 8 {
            (Register::RAX, Code::Mov_rm64_r64)
        } else {
            (Register::EAX, Code::Mov_rm32_r32)
        };
        for lane in 0..self.lanes() as i32 {
            let element = Int::Mem(Mem::frame(at + step * lane));
            asm.int(code, &[Int::Gpr(to), element]);
            asm.int(back, &[element, Int::Gpr(to)]);
        }
        let r = asm.reg(Class::Vector(self.width(ty)));
        self.load(asm, mem, r, Mem::frame(at), None);
        r
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
        let first = self.new(
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

    /// A comparison of integers, in their lanes.
    fn compare_int(&self, asm: &mut Asm, o: BinOp, ty: Ty, a: Reg, b: Reg) -> Reg {
        use BinOp::*;
        let not = |asm: &mut Asm, m: Reg| {
            let ones = self.splat(asm, ty, u64::MAX);
            self.two(asm, &codes::PXOR, ty, m, ones)
        };
        match o {
            Eq => self.two(asm, &codes::PCMPEQ, ty, a, b),
            Ne => {
                let m = self.two(asm, &codes::PCMPEQ, ty, a, b);
                not(asm, m)
            }
            Lt => self.two(asm, &codes::PCMPGT, ty, b, a),
            Le => {
                let m = self.two(asm, &codes::PCMPGT, ty, a, b);
                not(asm, m)
            }
            _ => {
                let sign = self.splat(asm, ty, 1 << (ty.bits() - 1));
                let (a, b) = (
                    self.two(asm, &codes::PXOR, ty, a, sign),
                    self.two(asm, &codes::PXOR, ty, b, sign),
                );
                self.compare_int(asm, if o == LtU { Lt } else { Le }, ty, a, b)
            }
        }
    }

    fn bf16_bits(&self, asm: &mut Asm, a: Reg) -> Reg {
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

    /// The low halves of the 32-bit lanes, packed into the first bytes of 16.
    fn pack_words(&self, asm: &mut Asm, a: Reg) -> Reg {
        let low = self.splat(asm, Ty::I32, 0xffff);
        let a = self.two(asm, &codes::PAND, Ty::I32, a, low);
        let second = if self.wide {
            Operand::Reg(a)
        } else {
            Operand::Reg(self.high(asm, a))
        };
        self.new(
            asm,
            V128,
            Code::VEX_Vpackusdw_xmm_xmm_xmmm128,
            &[Part(a, Width::V128), second],
        )
    }

    fn pack_bytes(&self, asm: &mut Asm, a: Reg) -> Reg {
        let low = self.splat(asm, Ty::I32, 0xff);
        let a = self.two(asm, &codes::PAND, Ty::I32, a, low);
        let words = self.pack_words(asm, a);
        self.new(
            asm,
            V128,
            Code::VEX_Vpackuswb_xmm_xmm_xmmm128,
            &[Operand::Reg(words), Operand::Reg(words)],
        )
    }

    /// Stores the first bytes of a 128-bit register.
    fn store_low(&self, asm: &mut Asm, v: Reg, bytes: i64, to: Mem) {
        let code = match bytes {
            4 => Code::VEX_Vmovd_rm32_xmm,
            8 => Code::VEX_Vmovq_xmmm64_xmm,
            _ => Code::VEX_Vmovups_xmmm128_xmm,
        };
        asm.op(Op {
            rm: None,
            ..op(code, None, &[Operand::Mem(to), Operand::Reg(v)])
        });
    }

    fn move_code(&self, ty: Ty) -> Code {
        match self.width(ty) {
            Width::V256 => Code::VEX_Vmovups_ymm_ymmm256,
            _ => Code::VEX_Vmovups_xmm_xmmm128,
        }
    }

    /// A copy of a mask in the lanes of `ty`, or all lanes, that a gather may clear.
    fn consumable(&self, asm: &mut Asm, ty: Ty, exec: Option<Reg>) -> Reg {
        let k = asm.reg(Class::Vector(self.width(ty)));
        let src = match exec {
            Some(exec) => self.mask_for(asm, ty, exec),
            None => self.splat(asm, ty, u64::MAX),
        };
        asm.push(Lir::Move { dst: k, src });
        k
    }
}

const CMP_EQ: u8 = 0;
const CMP_UNORD: u8 = 3;
const CMP_NE: u8 = 4;
const CMP_ORD: u8 = 7;
const CMP_LT: u8 = 17;
const CMP_LE: u8 = 18;

impl Target for Avx2 {
    const EVEX: bool = false;
    const VECTORS: u8 = 16;

    fn lanes(&self) -> i64 {
        if self.wide { 4 } else { 8 }
    }

    fn class(&self, ty: Ty) -> Class {
        Class::Vector(self.width(ty))
    }

    fn masks_small_elements(&self) -> bool {
        false
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
            UnOp::FToF if to == Ty::F64 => self.new(
                asm,
                V256,
                Code::VEX_Vcvtps2pd_ymm_xmmm128,
                &[Operand::Reg(a)],
            ),
            UnOp::FToF => self.new(
                asm,
                V128,
                Code::VEX_Vcvtpd2ps_xmm_ymmm256,
                &[Operand::Reg(a)],
            ),
            UnOp::SExt => self.new(
                asm,
                V256,
                Code::VEX_Vpmovsxdq_ymm_xmmm128,
                &[Operand::Reg(a)],
            ),
            UnOp::ZExt => self.new(
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

    fn tail_mask(&self, asm: &mut Asm, dst: Reg, part: i64) {
        let lane = self.mask_lane();
        asm.int(
            Code::Mov_r64_rm64,
            &[Int::Gpr(Register::RAX), Int::Gpr(Register::RDX)],
        );
        if part > 0 {
            asm.int(
                Code::Shr_rm64_imm8,
                &[Int::Gpr(Register::RAX), Int::Imm(part * self.lanes())],
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
        let x = self.new(asm, V128, code, &[Operand::Gpr(from)]);
        let code = match (ty, self.width(ty)) {
            (Ty::I64, _) => Code::VEX_Vpbroadcastq_ymm_xmmm64,
            (_, Width::V256) => Code::VEX_Vpbroadcastd_ymm_xmmm32,
            _ => Code::VEX_Vpbroadcastd_xmm_xmmm32,
        };
        asm.op(op(code, Some(dst), &[Operand::Reg(x)]));
    }

    fn mask_from_gpr(&self, asm: &mut Asm, dst: Reg) {
        asm.int(Code::Neg_rm64, &[Int::Gpr(Register::RAX)]);
        let m = asm.reg(V256);
        self.broadcast_gpr(asm, self.mask_lane(), m);
        self.put(asm, dst, m);
    }

    fn broadcast(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        let code = match (ty.bits(), self.width(ty)) {
            (64, _) => Code::VEX_Vbroadcastsd_ymm_m64,
            (_, Width::V256) => Code::VEX_Vbroadcastss_ymm_m32,
            _ => Code::VEX_Vbroadcastss_xmm_m32,
        };
        asm.op(op(code, Some(dst), &[Operand::Mem(from)]));
    }

    fn load(&self, asm: &mut Asm, mem: MemTy, dst: Reg, from: Mem, exec: Option<Reg>) {
        let ty = mem.lane();
        if mem.size() >= 4 {
            let Some(exec) = exec else {
                return asm.op(op(self.move_code(ty), Some(dst), &[Operand::Mem(from)]));
            };
            let mask = self.mask_for(asm, ty, exec);
            let code = match (ty.bits(), self.width(ty)) {
                (64, _) => Code::VEX_Vmaskmovpd_ymm_ymm_m256,
                (_, Width::V256) => Code::VEX_Vmaskmovps_ymm_ymm_m256,
                _ => Code::VEX_Vmaskmovps_xmm_xmm_m128,
            };
            return asm.op(Op {
                rm: None,
                ..op(code, Some(dst), &[Operand::Reg(mask), Operand::Mem(from)])
            });
        }
        let narrow = match (mem, self.wide) {
            (MemTy::I8, false) => Code::VEX_Vpmovsxbd_ymm_xmmm64,
            (MemTy::I8, true) => Code::VEX_Vpmovsxbd_xmm_xmmm32,
            (MemTy::U8 | MemTy::Bool, false) => Code::VEX_Vpmovzxbd_ymm_xmmm64,
            (MemTy::U8 | MemTy::Bool, true) => Code::VEX_Vpmovzxbd_xmm_xmmm32,
            (MemTy::I16, false) => Code::VEX_Vpmovsxwd_ymm_xmmm128,
            (MemTy::I16, true) => Code::VEX_Vpmovsxwd_xmm_xmmm64,
            (MemTy::F16, false) => Code::VEX_Vcvtph2ps_ymm_xmmm128,
            (MemTy::F16, true) => Code::VEX_Vcvtph2ps_xmm_xmmm64,
            (_, false) => Code::VEX_Vpmovzxwd_ymm_xmmm128,
            (_, true) => Code::VEX_Vpmovzxwd_xmm_xmmm64,
        };
        let raw = self.new(
            asm,
            Class::Vector(self.width(Ty::I32)),
            narrow,
            &[Operand::Mem(from)],
        );
        if mem == MemTy::F16 {
            return self.put(asm, dst, raw);
        }
        self.raw_to_lane(asm, mem, dst, raw);
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
        let ty = mem.lane();
        if mem.size() >= 4 {
            let (plain, stream, masked) = match (ty.bits(), self.width(ty)) {
                (64, _) => (
                    Code::VEX_Vmovups_ymmm256_ymm,
                    Code::VEX_Vmovntps_m256_ymm,
                    Code::VEX_Vmaskmovpd_m256_ymm_ymm,
                ),
                (_, Width::V256) => (
                    Code::VEX_Vmovups_ymmm256_ymm,
                    Code::VEX_Vmovntps_m256_ymm,
                    Code::VEX_Vmaskmovps_m256_ymm_ymm,
                ),
                _ => (
                    Code::VEX_Vmovups_xmmm128_xmm,
                    Code::VEX_Vmovntps_m128_xmm,
                    Code::VEX_Vmaskmovps_m128_xmm_xmm,
                ),
            };
            let o = match exec {
                Some(exec) => {
                    let mask = self.mask_for(asm, ty, exec);
                    op(
                        masked,
                        None,
                        &[Operand::Mem(to), Operand::Reg(mask), Operand::Reg(v)],
                    )
                }
                None => op(
                    if nontemporal { stream } else { plain },
                    None,
                    &[Operand::Mem(to), Operand::Reg(v)],
                ),
            };
            return asm.op(Op { rm: None, ..o });
        }
        if mem == MemTy::F16 {
            let half = self.lane_to_half(asm, v);
            return self.store_low(asm, half, 2 * self.lanes(), to);
        }
        let raw = self.lane_to_raw(asm, mem, v);
        if mem.size() == 1 {
            let bytes = self.pack_bytes(asm, raw);
            self.store_low(asm, bytes, self.lanes(), to);
        } else {
            let words = self.pack_words(asm, raw);
            self.store_low(asm, words, 2 * self.lanes(), to);
        }
    }

    fn raw_to_lane(&self, asm: &mut Asm, mem: MemTy, dst: Reg, raw: Reg) {
        match mem {
            MemTy::Bool => {
                let zero = self.splat(asm, Ty::I32, 0);
                let none = self.two(asm, &codes::PCMPEQ, Ty::I32, raw, zero);
                let none = self.to_mask(asm, Ty::I32, none);
                self.un(asm, UnOp::Not, Ty::Mask, Ty::Mask, dst, none);
            }
            MemTy::F16 => {
                let words = self.pack_words(asm, raw);
                self.half_to_lane(asm, dst, words);
            }
            MemTy::Bf16 => {
                let r = self.shift(asm, &codes::PSLL_IMM, Ty::I32, raw, 16);
                self.put(asm, dst, r);
            }
            _ => self.put(asm, dst, raw),
        }
    }

    fn lane_to_raw(&self, asm: &mut Asm, mem: MemTy, v: Reg) -> Reg {
        match mem {
            MemTy::Bool => {
                let (one, m) = (self.splat(asm, Ty::I32, 1), self.mask_for(asm, Ty::I32, v));
                self.two(asm, &codes::PAND, Ty::I32, m, one)
            }
            MemTy::F16 => {
                let half = self.lane_to_half(asm, v);
                let code = if self.wide {
                    Code::VEX_Vpmovzxwd_xmm_xmmm64
                } else {
                    Code::VEX_Vpmovzxwd_ymm_xmmm128
                };
                self.new(
                    asm,
                    Class::Vector(self.width(Ty::I32)),
                    code,
                    &[Operand::Reg(half)],
                )
            }
            MemTy::Bf16 => self.bf16_bits(asm, v),
            _ => v,
        }
    }

    fn gather(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem, index: Ty, exec: Option<Reg>) {
        let code = match (ty.bits(), index, self.wide) {
            (32, Ty::I32, false) => Code::VEX_Vpgatherdd_ymm_vm32y_ymm,
            (32, Ty::I32, true) => Code::VEX_Vpgatherdd_xmm_vm32x_xmm,
            (32, _, _) => Code::VEX_Vpgatherqd_xmm_vm64y_xmm,
            (_, Ty::I32, _) => Code::VEX_Vpgatherdq_ymm_vm32x_ymm,
            _ => Code::VEX_Vpgatherqq_ymm_vm64y_ymm,
        };
        let k = self.consumable(asm, ty, exec);
        let zero = self.splat(asm, ty, 0);
        asm.push(Lir::Move { dst, src: zero });
        let o = op(code, Some(dst), &[Operand::Mem(from), Operand::Reg(k)]);
        asm.op(Op {
            tied: true,
            late: true,
            rm: None,
            ..o
        });
    }

    fn scatter(&self, _: &mut Asm, _: Ty, _: Reg, _: Mem, _: Ty, _: Option<Reg>) -> bool {
        false
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

    fn accumulator_bits(&self, ty: Ty) -> i32 {
        if ty == Ty::Mask {
            self.mask_lane().bits() as i32
        } else {
            ty.bits() as i32
        }
    }

    fn load_accumulator(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: Mem) {
        asm.op(op(self.move_code(ty), Some(dst), &[Operand::Mem(from)]));
    }

    fn store_accumulator(&self, asm: &mut Asm, ty: Ty, v: Reg, to: Mem) {
        let code = match self.width(ty) {
            Width::V256 => Code::VEX_Vmovups_ymmm256_ymm,
            _ => Code::VEX_Vmovups_xmmm128_xmm,
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

impl Avx2 {
    /// Singles as binary16 in the first bytes of a 128-bit register.
    fn lane_to_half(&self, asm: &mut Asm, a: Reg) -> Reg {
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

    fn half_to_lane(&self, asm: &mut Asm, dst: Reg, half: Reg) {
        let code = if self.wide {
            Code::VEX_Vcvtph2ps_xmm_xmmm64
        } else {
            Code::VEX_Vcvtph2ps_ymm_xmmm128
        };
        asm.op(op(code, Some(dst), &[Operand::Reg(half)]));
    }
}
