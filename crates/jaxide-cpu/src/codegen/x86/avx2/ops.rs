//! Operations on lanes.

use super::*;
use crate::codegen::x86::target::{CMP_UNORD, Operations};
use crate::lanes::{BinOp, UnOp};
use iced_x86::Register;
use table::*;

impl Operations for Avx2 {
    fn un(&self, asm: &mut Asm, op: UnOp, from: Ty, to: Ty, dst: Reg, a: Reg) {
        let int = from.as_int();
        let sign = 1u64 << (from.bits() - 1);
        let round = |asm: &mut Asm, mode| {
            let operands = [Operand::Reg(a), Imm(mode)];
            self.emit_to(asm, self.code(&ROUND, from), dst, &operands);
        };
        let convert = |asm: &mut Asm, row| self.emit_to(asm, v256(row), dst, &[Operand::Reg(a)]);
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
            UnOp::Abs if from == Ty::I64 => self.abs_64(asm, dst, a),
            UnOp::Abs => self.one_to(asm, &PABS, from, dst, a),
            UnOp::Not => {
                let ty = self.lane(from);
                let ones = self.splat(asm, ty, u64::MAX);
                self.two_to(asm, &PXOR, ty, dst, a, ones);
            }
            UnOp::Sqrt => self.one_to(asm, &SQRT, from, dst, a),
            UnOp::Floor => round(asm, 9),
            UnOp::Ceil => round(asm, 10),
            UnOp::Trunc => round(asm, 11),
            UnOp::RoundEven => round(asm, 8),
            UnOp::Clz => self.clz(asm, from, dst, a),
            UnOp::Popcount => self.popcount(asm, from, dst, a),
            UnOp::SToF => self.int_to_float(asm, true, from, to, dst, a),
            UnOp::UToF => self.int_to_float(asm, false, from, to, dst, a),
            UnOp::FToS => self.float_to_signed(asm, from, to, dst, a),
            UnOp::FToU => self.float_to_unsigned(asm, from, to, dst, a),
            UnOp::FToF if to == Ty::F64 => convert(asm, &VCVTPS2PD),
            UnOp::FToF => convert(asm, &VCVTPD2PS),
            UnOp::SExt => convert(asm, &VPMOVSXDQ),
            UnOp::ZExt => convert(asm, &VPMOVZXDQ),
            UnOp::Low => self.low_halves_to(asm, dst, a),
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
        let ty = self.lane(ty);
        if let Some(lanes) = self.single(op, ty) {
            return self.two_to(asm, lanes, ty, dst, a, b);
        }
        match op {
            Eq | Ne | Lt | Le | LtU | LeU => {
                let holds = if ty.is_float() {
                    self.compare_float(asm, op, ty, a, b)
                } else {
                    self.compare_int(asm, op, ty, a, b)
                };
                self.to_mask(asm, ty, dst, holds);
            }
            Min | Max => self.min_max(asm, op, ty, dst, a, b),
            Mul => self.mul_64(asm, dst, a, b),
            MulHiS | MulHiU if ty == Ty::I32 => self.mul_hi_32(asm, op == MulHiS, dst, a, b),
            MulHiS | MulHiU => self.mul_hi_64(asm, op == MulHiS, dst, a, b),
            MinS | MaxS | MinU | MaxU => self.min_max_64(asm, op, dst, a, b),
            ShrS => {
                self.shift_right_signed(asm, ty, dst, a, |asm, x| self.two(asm, &PSRLV, ty, x, b))
            }
            DivS | DivU | RemS | RemU => unreachable!("{} has a method", op.name()),
            Scale => self.scale(asm, ty, dst, a, b),
            ScaleNormal => self.scale_normal(asm, ty, dst, a, b),
            Add | Sub | Div | PickLt | PickGt | And | Or | Xor | Shl | ShrU => {
                unreachable!("{} is an instruction", op.name())
            }
        }
    }

    fn quotient(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, by: Divisor) {
        self.divide_32(asm, signed, dst, a, by);
    }

    fn doubles(&self, asm: &mut Asm, signed: bool, a: Reg) -> Reg {
        self.to_doubles(asm, signed, As(a, Width::V128))
    }

    fn shift_by(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, count: u64) {
        let count = count.min(255) as u8;
        match op {
            BinOp::Shl => self.shift_to(asm, &PSLL_IMM, ty, dst, a, count),
            BinOp::ShrS if ty == Ty::I64 => self.shift_right_signed(asm, ty, dst, a, |asm, x| {
                self.shift(asm, &PSRL_IMM, ty, x, count)
            }),
            BinOp::ShrS => self.shift_to(asm, &PSRA_IMM, ty, dst, a, count),
            _ => self.shift_to(asm, &PSRL_IMM, ty, dst, a, count),
        }
    }

    fn select(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        let ty = self.lane(ty);
        let mask = self.mask_for(asm, ty, mask);
        self.blend_to(asm, ty, dst, mask, a, b);
    }

    fn select_or_zero(
        &self,
        asm: &mut Asm,
        ty: Ty,
        dst: Reg,
        (mask, holds): (Reg, bool),
        a: Reg,
    ) -> bool {
        let ty = self.lane(ty).as_int();
        let mask = self.mask_for(asm, ty, mask);
        self.two_to(asm, if holds { &PAND } else { &PANDN }, ty, dst, mask, a);
        true
    }

    fn merge(&self, asm: &mut Asm, ty: Ty, dst: Reg, mask: Reg, a: Reg) {
        self.select(asm, ty, dst, mask, a, dst);
    }

    fn broadcast_gpr(&self, asm: &mut Asm, ty: Ty, dst: Reg) {
        let (row, from) = if ty == Ty::I64 {
            (&VMOVQ_GPR, Register::RAX)
        } else {
            (&VMOVD_GPR, Register::EAX)
        };
        let x = self.emit(asm, v128(row), V128, &[Operand::Gpr(from)]);
        let row = if ty == Ty::I64 {
            &VPBROADCASTQ
        } else {
            &VPBROADCASTD
        };
        self.emit_to(asm, self.form(row, ty), dst, &[Operand::Reg(x)]);
    }

    fn rotate(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, by: u8) {
        let ty = self.lane(ty);
        let operand = Operand::Reg(a);
        match i32::from(by) * ty.bits() as i32 / 8 {
            16 => self.emit_to(asm, v256(&VPERM2F128), dst, &[operand, operand, Imm(1)]),
            8 => self.emit_to(asm, self.form(&VPSHUFD, ty), dst, &[operand, Imm(0x4e)]),
            _ => self.emit_to(asm, self.form(&VPSHUFD, ty), dst, &[operand, Imm(1)]),
        }
    }

    fn pick(&self, asm: &mut Asm, ty: Ty, dst: Reg, from: &[Reg], lanes: &[(usize, usize)]) {
        // In halves of 32 bits.
        let halves = ty.bits() as usize / 32;
        let width = self.width(ty);
        let mut picked: Option<Reg> = None;
        for (k, &a) in from.iter().enumerate() {
            let own = |&(register, _): &(usize, usize)| register == k;
            if !lanes.iter().any(own) {
                continue;
            }
            let words: Vec<(bool, u32)> = lanes
                .iter()
                .flat_map(|entry| {
                    let (own, at) = (own(entry), entry.1 * halves);
                    (0..halves)
                        .map(move |half| (own, crate::narrow(if own { at + half } else { 0 })))
                })
                .collect();
            let operand = Operand::Reg(a);
            let moved = self.vector(asm, ty);
            if width == Width::V256 {
                let order: Vec<u8> = words.iter().flat_map(|(_, at)| at.to_le_bytes()).collect();
                let order = asm.vector(width, &order);
                self.emit_to(asm, v256(&VPERMD), moved, &[Operand::Reg(order), operand]);
            } else {
                let order = words
                    .iter()
                    .rev()
                    .fold(0, |order, (_, at)| order << 2 | crate::narrow::<_, u8>(*at));
                self.emit_to(asm, v128(&VPSHUFD), moved, &[operand, Imm(order)]);
            }
            picked = Some(match picked {
                None => moved,
                Some(before) => {
                    let mask = words
                        .iter()
                        .rev()
                        .fold(0, |mask, (own, _)| mask << 1 | u8::from(*own));
                    let both = self.vector(asm, ty);
                    let operands = [Operand::Reg(before), Operand::Reg(moved), Imm(mask)];
                    self.emit_to(asm, self.form(&VPBLENDD, ty), both, &operands);
                    both
                }
            });
        }
        if let Some(picked) = picked {
            asm.put(dst, picked);
        }
    }

    fn reverse(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let operand = Operand::Reg(a);
        match (ty.bits(), self.width(ty)) {
            (64, _) => self.emit_to(asm, v256(&VPERMQ_IMM), dst, &[operand, Imm(0x1b)]),
            (_, Width::V256) => {
                let order: Vec<u8> = (0..8u32).rev().flat_map(u32::to_le_bytes).collect();
                let order = asm.vector(Width::V256, &order);
                self.emit_to(asm, v256(&VPERMD), dst, &[Operand::Reg(order), operand]);
            }
            _ => self.emit_to(asm, v128(&VPSHUFD), dst, &[operand, Imm(0x1b)]),
        }
    }
}

impl Avx2 {
    /// The extremum of IEEE 754-2019, in which NaN stays and zeros are ordered by sign. The instructions take the second operand where one is NaN or
    /// both are zeros, so that in either order they give both operands there, and the same one everywhere else: the signs of zeros remain to be joined,
    /// which keeps NaN for the minimum, since its exponent has all bits.
    fn min_max(&self, asm: &mut Asm, op: BinOp, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        let int = ty.as_int();
        if op == BinOp::Min {
            let [x, y] = [(a, b), (b, a)].map(|(a, b)| self.two(asm, &MIN, ty, a, b));
            self.two_to(asm, &POR, int, dst, x, y);
            return;
        }
        let [x, y] = [(a, b), (b, a)].map(|(a, b)| self.two(asm, &MAX, ty, a, b));
        let both = self.two(asm, &PAND, int, x, y);
        let unordered = self.compare(asm, ty, a, b, CMP_UNORD);
        self.two_to(asm, &POR, int, dst, both, unordered);
    }

    /// `2a * 2^(b - 1)`, where both factors are normal.
    fn scale_normal(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, b: Reg) {
        let power = self.power_of_two(asm, ty, b, -1.0);
        let twice = self.two(asm, &ADD, ty, a, a);
        self.two_to(asm, &MUL, ty, dst, twice, power);
    }

    /// `2^(n + times)`, where that is normal: the last place of the sum counts 1, and its low bits are the exponent's field.
    fn power_of_two(&self, asm: &mut Asm, ty: Ty, n: Reg, times: f64) -> Reg {
        let (magic, fraction) = if ty == Ty::F32 {
            (12_582_912.0 + 127.0, 23)
        } else {
            (6_755_399_441_055_744.0 + 1023.0, 52)
        };
        let magic = self.float(asm, ty, magic + times);
        let biased = self.two(asm, &ADD, ty, n, magic);
        self.shift(asm, &PSLL_IMM, ty.as_int(), biased, fraction)
    }

    fn scale(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg, n: Reg) {
        let (top, bottom) = if ty == Ty::F32 {
            (254.0, -252.0)
        } else {
            (2046.0, -2044.0)
        };
        let [top, bottom, half] = [top, bottom, 0.5].map(|x| self.float(asm, ty, x));
        let n = self.two(asm, &MIN, ty, n, top);
        let n = self.two(asm, &MAX, ty, n, bottom);
        let first = self.two(asm, &MUL, ty, n, half);
        let round = [Operand::Reg(first), Imm(9)];
        let first = self.emit(asm, self.code(&ROUND, ty), self.class(ty), &round);
        let second = self.two(asm, &SUB, ty, n, first);
        let first = self.power_of_two(asm, ty, first, 0.0);
        let scaled = self.two(asm, &MUL, ty, a, first);
        let second = self.power_of_two(asm, ty, second, 0.0);
        self.two_to(asm, &MUL, ty, dst, scaled, second);
    }
}
