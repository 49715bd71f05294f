//! Operations on lanes.

use super::*;
use crate::codegen::x86::target::{CMP_UNORD, Operations};
use crate::lanes::{BinOp, UnOp};
use iced_x86::Register;
use table::*;

impl Operations for Avx512 {
    fn un(&self, asm: &mut Asm, op: UnOp, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let int = from.as_int();
        let sign = 1u64 << (from.bits() - 1);
        let operand = Operand::Reg(a);
        let round = |asm: &mut Asm, mode| {
            self.emit_to(asm, self.code(&ROUND, from), dst, &[operand, Imm(mode)]);
        };
        let extend = |asm: &mut Asm, row| asm.op(Op::new(v512(row), Some(dst), &[operand]));
        match op {
            UnOp::Neg if from.is_float() => {
                let c = self.splat(asm, int, sign);
                self.two_to(asm, &PXOR, int, dst, a, c);
            }
            UnOp::Neg => {
                let zero = self.splat(asm, from, 0);
                self.two_to(asm, &PSUB, from, dst, zero, a);
            }
            UnOp::Abs if from.is_float() => {
                let c = self.splat(asm, int, sign - 1);
                self.two_to(asm, &PAND, int, dst, a, c);
            }
            UnOp::Abs => self.one_to(asm, &PABS, from, dst, a),
            UnOp::Not if from == Ty::Mask => self.mask_not(asm, dst, a),
            UnOp::Not => {
                let ones = self.splat(asm, from, u64::MAX);
                self.two_to(asm, &PXOR, from, dst, a, ones);
            }
            UnOp::Sqrt => self.one_to(asm, &SQRT, from, dst, a),
            UnOp::Floor => round(asm, 9),
            UnOp::Ceil => round(asm, 10),
            UnOp::Trunc => round(asm, 11),
            UnOp::RoundEven => round(asm, 8),
            UnOp::Clz => self.one_to(asm, &PLZCNT, from, dst, a),
            UnOp::Popcount => self.popcount(asm, from, dst, a),
            UnOp::SToF => self.int_to_float(asm, true, from, to, dst, a),
            UnOp::UToF => self.int_to_float(asm, false, from, to, dst, a),
            UnOp::FToS => self.float_to_signed(asm, from, to, dst, a),
            UnOp::FToU => self.float_to_unsigned(asm, from, to, dst, a),
            UnOp::FToF if to == Ty::F64 => {
                self.emit_to(asm, v512(&VCVTPS2PD), dst, &[operand]);
            }
            UnOp::FToF => self.emit_to(asm, v512(&VCVTPD2PS), dst, &[operand]),
            UnOp::SExt => extend(asm, &VPMOVSXDQ),
            UnOp::ZExt => extend(asm, &VPMOVZXDQ),
            UnOp::Low => asm.op(Op {
                rm: None,
                ..Op::new(v512(&VPMOVQD), Some(dst), &[operand])
            }),
            UnOp::Bitcast => asm.put(dst, a),
            UnOp::RoundF16 => {
                let half = self.f16_bits(asm, a);
                self.f16_to_lane(asm, dst, half);
            }
            UnOp::RoundBf16 => self.round_bf16(asm, dst, a),
        }
    }

    fn bin(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        use BinOp::*;
        if ty == Ty::Mask {
            let row = match op {
                And => &KAND,
                Or => &KOR,
                _ => &KXOR,
            };
            return self.mask_two_to(asm, row, dst, a, b);
        }
        if let Some(lanes) = self.single(op, ty) {
            return self.two_to(asm, lanes, ty, dst, a, b);
        }
        match op {
            Eq | Ne | Lt | Le | LtU | LeU if ty.is_float() => {
                self.compare_float(asm, op, ty, dst, a, b);
            }
            Eq | Ne | Lt | Le | LtU | LeU => self.compare_int(asm, op, ty, dst, a, b),
            Min | Max => self.min_max(asm, op, ty, dst, a, b),
            MulHiS | MulHiU if ty == Ty::I32 => self.mul_hi_32(asm, op == MulHiS, dst, a, b),
            MulHiS | MulHiU => self.mul_hi_64(asm, op == MulHiS, dst, a, b),
            DivS | DivU | RemS | RemU => unreachable!("{} has a method", op.name()),
            Add | Sub | Mul | Div | PickLt | PickGt | Scale | ScaleNormal | And | Or | Xor
            | MinS | MaxS | MinU | MaxU | Shl | ShrS | ShrU => {
                unreachable!("{} is an instruction", op.name())
            }
        }
    }

    fn quotient(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, by: Divisor) {
        self.divide_32(asm, signed, dst, a, by);
    }

    fn doubles(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
        self.to_doubles(asm, signed, a)
    }

    fn shift_by(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, count: u64) {
        let lanes = match op {
            BinOp::Shl => &PSLL_IMM,
            BinOp::ShrS => &PSRA_IMM,
            _ => &PSRL_IMM,
        };
        self.shift_to(asm, lanes, ty, dst, a, count.min(255) as u8);
    }

    fn select(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        if ty == Ty::Mask {
            let x = self.mask_two(asm, &KAND, mask, a);
            let y = self.mask_two(asm, &KANDN, mask, b);
            return self.mask_two_to(asm, &KOR, dst, x, y);
        }
        self.blend_to(asm, ty.as_int(), dst, mask, a, b);
    }

    fn select_or_zero(&self, _: &mut Asm, _: Ty, _: Reg, _: (Reg, bool), _: Reg) -> bool {
        false
    }

    fn merge(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg) {
        if ty == Ty::Mask {
            let result = asm.reg(Class::Mask);
            self.select(asm, ty, result, mask, a, dst);
            return asm.put(dst, result);
        }
        self.merging(asm, mask, self.copy(ty, dst, a));
    }

    fn broadcast_gpr(&self, asm: &mut Asm, ty: Ty, dst: Reg) {
        let (row, from) = if ty == Ty::I64 {
            (&VPBROADCASTQ_GPR, Register::RAX)
        } else {
            (&VPBROADCASTD_GPR, Register::EAX)
        };
        asm.op(Op::new(
            self.form(row, ty),
            Some(dst),
            &[Operand::Gpr(from)],
        ));
    }

    fn rotate(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, by: u8) {
        let operand = Operand::Reg(a);
        if ty == Ty::Mask {
            let o = Op::new(
                Code::VEX_Kshiftrw_kr_kr_imm8,
                Some(dst),
                &[operand, Imm(by)],
            );
            return asm.op(Op { rm: None, ..o });
        }
        let code = self.code(&ALIGN, ty);
        asm.op(Op::new(code, Some(dst), &[operand, operand, Imm(by)]));
    }

    fn pick(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: &[Reg], lanes: &[(usize, usize)]) {
        let size = ty.bits() as usize / 8;
        let row = if size == 8 { &VPERMT2Q } else { &VPERMT2D };
        let mut picked = from[0];
        for (k, &next) in from.iter().enumerate().skip(1) {
            // A lane of the first register, of this one, or one that was picked before.
            let index = |(lane, &(register, at)): (usize, &(usize, usize))| match register {
                0 if k == 1 => at,
                register if register == k => crate::narrow::<_, usize>(self.lanes()) + at,
                _ => lane,
            };
            let order: Vec<u8> = (lanes.iter().enumerate())
                .flat_map(|entry| index(entry).to_le_bytes()[..size].to_vec())
                .collect();
            let order = asm.vector(self.width(ty), &order);
            let both = self.vector(asm, ty);
            asm.put(both, picked);
            let operands = [Operand::Reg(order), Operand::Reg(next)];
            asm.op(Op {
                tied: true,
                late: true,
                ..Op::new(self.form(row, ty), Some(both), &operands)
            });
            picked = both;
        }
        asm.put(dst, picked);
    }

    fn reverse(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let size = ty.bits() as usize / 8;
        let order: Vec<u8> = (0..self.lanes())
            .rev()
            .flat_map(|lane| lane.to_le_bytes()[..size].to_vec())
            .collect();
        let order = asm.vector(self.width(ty), &order);
        let row = if size == 8 { &VPERMQ } else { &VPERMD };
        let operands = [Operand::Reg(order), Operand::Reg(a)];
        asm.op(Op::new(self.form(row, ty), Some(dst), &operands));
    }
}

impl Avx512 {
    fn min_max(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        let [x, y] = [a, b].map(Operand::Reg);
        // The range instruction orders zeros by sign but takes a number before NaN.
        let which = Imm(if op == BinOp::Min { 4 } else { 5 });
        let picked = self.emit(asm, self.code(&RANGE, ty), self.class(ty), &[x, y, which]);
        let unordered = self.compare(asm, &CMP, ty, a, b, CMP_UNORD);
        let sum = Op::new(self.code(&ADD, ty), Some(picked), &[x, y]);
        self.merging(
            asm,
            unordered,
            Op {
                broadcast: true,
                ..sum
            },
        );
        asm.put(dst, picked);
    }
}
