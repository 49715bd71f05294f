//! Integer arithmetic that has no instruction of its own.

use super::{Avx2, V128, V256};
use crate::codegen::x86::codes;
use crate::codegen::x86::lir::*;
use crate::codegen::x86::target::{Memory, Target};
use crate::lanes::{BinOp, MemTy, Ty};
use crate::narrow;
use Operand::Imm;
use iced_x86::{Code, Register};

impl Avx2 {
    /// A comparison of integers, in their lanes.
    pub(super) fn compare_int(&self, asm: &mut Asm, o: BinOp, ty: Ty, a: Reg, b: Reg) -> Reg {
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

    pub(super) fn shift_right_signed(
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

    /// All ones where an integer is negative.
    pub(super) fn negative(&self, asm: &mut Asm, ty: Ty, a: Reg) -> Reg {
        let zero = self.splat(asm, ty, 0);
        self.two(asm, &codes::PCMPGT, ty, zero, a)
    }

    pub(super) fn multiply_64(&self, asm: &mut Asm, a: Reg, b: Reg) -> Reg {
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

    pub(super) fn mul_hi(&self, asm: &mut Asm, signed: bool, ty: Ty, a: Reg, b: Reg) -> Reg {
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
            let even = self.emit(asm, class, product, &[Operand::Reg(a), Operand::Reg(b)]);
            let (x, y) = (right(asm, a), right(asm, b));
            let odd = self.emit(asm, class, product, &[Operand::Reg(x), Operand::Reg(y)]);
            let even = right(asm, even);
            let blend = match width {
                Width::V256 => Code::VEX_Vpblendd_ymm_ymm_ymmm256_imm8,
                _ => Code::VEX_Vpblendd_xmm_xmm_xmmm128_imm8,
            };
            return self.emit(
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
        let copy = self.two(asm, &codes::PAND, ty, middle, low);
        let other = add(asm, lh, copy);
        let (x, y) = (right(asm, middle), right(asm, other));
        let sum = add(asm, hh, x);
        let mut high = add(asm, sum, y);
        if signed {
            for (x, y) in [(a, b), (b, a)] {
                let sign = self.negative(asm, ty, x);
                let copy = self.two(asm, &codes::PAND, ty, sign, y);
                high = self.two(asm, &codes::PSUB, ty, high, copy);
            }
        }
        high
    }

    pub(super) fn divide_32(&self, asm: &mut Asm, signed: bool, a: Reg, b: Reg) -> Reg {
        let q = self.in_fours(asm, &[a, b], |asm, v| {
            let (x, y) = (
                self.to_doubles(asm, signed, v[0]),
                self.to_doubles(asm, signed, v[1]),
            );
            let q = self.emit(
                asm,
                V256,
                Code::VEX_Vdivpd_ymm_ymm_ymmm256,
                &[Operand::Reg(x), Operand::Reg(y)],
            );
            if signed {
                return self.emit(
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

    /// Applies a scalar instruction from memory to a general register to each lane.
    pub(super) fn lane_by_lane(&self, asm: &mut Asm, ty: Ty, a: Reg, code: Code) -> Reg {
        let (at, step) = (asm.buffer(32), ty.bits() as i32 / 8);
        let mem = if ty == Ty::I64 {
            MemTy::I64
        } else {
            MemTy::I32
        };
        self.store(asm, mem, a, Mem::frame(at), None);
        let (to, back) = if step == 8 {
            (Register::RAX, Code::Mov_rm64_r64)
        } else {
            (Register::EAX, Code::Mov_rm32_r32)
        };
        for lane in 0..narrow(self.lanes()) {
            let element = Int::Mem(Mem::frame(at + step * lane));
            asm.int(code, &[Int::Gpr(to), element]);
            asm.int(back, &[element, Int::Gpr(to)]);
        }
        let r = asm.reg(Class::Vector(self.width(ty)));
        self.load(asm, mem, r, Mem::frame(at), None);
        r
    }
}
