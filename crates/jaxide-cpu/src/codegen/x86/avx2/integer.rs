//! Integer arithmetic that has no instruction of its own.

use super::*;
use crate::lanes::BinOp;
use table::*;

impl Avx2 {
    pub(super) fn abs_64(&self, asm: &mut Asm, dst: Reg, a: Reg) {
        let sign = self.negative(asm, Ty::I64, a);
        let flipped = self.two(asm, &PXOR, Ty::I64, a, sign);
        self.two_to(asm, &PSUB, Ty::I64, dst, flipped, sign);
    }

    /// The exponents of 32-bit integers as floats tell their first bits. A number without those of its bits that follow a one is rounded to none larger.
    pub(super) fn clz(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let int = Ty::I32;
        // Both halves of 64-bit lanes.
        let class = self.class(ty);
        let form = |row| self.form(row, ty);
        let emit =
            |asm: &mut Asm, row, operands: &[Operand]| self.emit(asm, form(row), class, operands);
        let all = |asm: &mut Asm, x: u64| match ty {
            Ty::I64 => self.splat(asm, ty, x << 32 | x),
            _ => self.splat(asm, int, x),
        };
        let shifted = |asm: &mut Asm, a: Reg, by: u8| {
            let shifted = asm.reg(class);
            let op = Op::new(form(&VPSRLD), Some(shifted), &[Operand::Reg(a), Imm(by)]);
            asm.op(Op { rm: None, ..op });
            shifted
        };
        let half = shifted(asm, a, 1);
        let first = emit(asm, &VPANDND, &[Operand::Reg(half), Operand::Reg(a)]);
        let float = emit(asm, &VCVTDQ2PS, &[Operand::Reg(first)]);
        let exponent = shifted(asm, float, 23);
        let (zero, most, highest) = (all(asm, 0), all(asm, 32), all(asm, 127 + 31));
        // Of negative numbers the sign stands before the exponent; of zero the exponent is 0.
        let count = emit(
            asm,
            &VPSUBD,
            &[Operand::Reg(highest), Operand::Reg(exponent)],
        );
        let count = emit(asm, &VPMAXSD, &[Operand::Reg(count), Operand::Reg(zero)]);
        if ty != Ty::I64 {
            return self.two_to(asm, &PMINS, ty, dst, count, most);
        }
        let count = emit(asm, &VPMINSD, &[Operand::Reg(count), Operand::Reg(most)]);
        let (upper, lower) = (self.splat(asm, ty, 32), self.splat(asm, ty, 0xffff_ffff));
        let high = self.shift(asm, &PSRL_IMM, ty, count, 32);
        let low = self.two(asm, &PAND, ty, count, lower);
        let none = self.two(asm, &PCMPEQ, ty, high, upper);
        let low = self.two(asm, &PAND, ty, low, none);
        self.two_to(asm, &PADD, ty, dst, high, low);
    }

    /// Ones of each byte by a table for its halves, and their sums.
    pub(super) fn popcount(&self, asm: &mut Asm, ty: Ty, dst: Reg, a: Reg) {
        let class = self.class(ty);
        let emit = |asm: &mut Asm, row, a: Reg, b: Reg| {
            let operands = [Operand::Reg(a), Operand::Reg(b)];
            self.emit(asm, self.form(row, ty), class, &operands)
        };
        let width = self.width(ty);
        let counts =
            [0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4].repeat(width.bytes() as usize / 16);
        let table = asm.vector(width, &counts);
        let low = self.splat(asm, ty, 0x0f0f_0f0f_0f0f_0f0f & ty.bit_mask());
        let right = self.shift(asm, &PSRL_IMM, ty, a, 4);
        let [low, high] = [a, right].map(|x| {
            let half = self.two(asm, &PAND, ty, x, low);
            emit(asm, &VPSHUFB, table, half)
        });
        let bytes = self.two(asm, &PADD, ty, low, high);
        if ty == Ty::I64 {
            let zero = self.splat(asm, ty, 0);
            let operands = [Operand::Reg(bytes), Operand::Reg(zero)];
            return self.emit_to(asm, self.form(&VPSADBW, ty), dst, &operands);
        }
        let ones = self.splat(asm, ty, 0x0101_0101);
        let pairs = emit(asm, &VPMADDUBSW, bytes, ones);
        let ones = self.splat(asm, ty, 0x0001_0001);
        let operands = [Operand::Reg(pairs), Operand::Reg(ones)];
        self.emit_to(asm, self.form(&VPMADDWD, ty), dst, &operands);
    }

    pub(super) fn min_max_64(&self, asm: &mut Asm, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        use BinOp::*;
        let less = if matches!(op, MinS | MaxS) { Lt } else { LtU };
        let less = self.compare_int(asm, less, Ty::I64, a, b);
        let (x, y) = if matches!(op, MinS | MinU) {
            (a, b)
        } else {
            (b, a)
        };
        self.blend_to(asm, Ty::I64, dst, less, x, y);
    }

    pub(super) fn shift_right_signed(
        &self,
        asm: &mut Asm,
        ty: Ty,
        dst: Reg,
        a: Reg,
        logical: impl FnOnce(&mut Asm, Reg) -> Reg,
    ) {
        // Negative numbers as their complements, which fill with zeros.
        let sign = self.negative(asm, ty, a);
        let positive = self.two(asm, &PXOR, ty, a, sign);
        let shifted = logical(asm, positive);
        self.two_to(asm, &PXOR, ty, dst, shifted, sign);
    }

    /// All ones where an integer is negative.
    fn negative(&self, asm: &mut Asm, ty: Ty, a: Reg) -> Reg {
        let zero = self.splat(asm, ty, 0);
        self.two(asm, &PCMPGT, ty, zero, a)
    }

    /// Products of 64-bit lanes, from products of their halves.
    pub(super) fn mul_64(&self, asm: &mut Asm, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I64;
        let [ah, bh] = [a, b].map(|x| self.shift(asm, &PSRL_IMM, ty, x, 32));
        let x = self.two(asm, &PMULUDQ, ty, ah, b);
        let y = self.two(asm, &PMULUDQ, ty, a, bh);
        let cross = self.two(asm, &PADD, ty, x, y);
        let cross = self.shift(asm, &PSLL_IMM, ty, cross, 32);
        let low = self.two(asm, &PMULUDQ, ty, a, b);
        self.two_to(asm, &PADD, ty, dst, low, cross);
    }

    /// High halves of the products of 32-bit lanes: those of even and of odd lanes apart.
    pub(super) fn mul_hi_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I32;
        let product = if signed { &VPMULDQ } else { &VPMULUDQ };
        let class = self.class(ty);
        let product = |asm: &mut Asm, a, b| {
            let operands = [Operand::Reg(a), Operand::Reg(b)];
            self.emit(asm, self.form(product, ty), class, &operands)
        };
        let right = |asm: &mut Asm, a: Reg| {
            let dst = asm.reg(class);
            let code = self.form(&VPSRLQ, ty);
            asm.op(Op {
                rm: None,
                ..Op::new(code, Some(dst), &[Operand::Reg(a), Imm(32)])
            });
            dst
        };
        let even = product(asm, a, b);
        let (x, y) = (right(asm, a), right(asm, b));
        let odd = product(asm, x, y);
        let even = right(asm, even);
        let operands = [Operand::Reg(even), Operand::Reg(odd), Imm(0xaa)];
        self.emit_to(asm, self.form(&VPBLENDD, ty), dst, &operands);
    }

    /// High halves of the products of 64-bit lanes, from products of their halves.
    pub(super) fn mul_hi_64(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, b: Reg) {
        let ty = Ty::I64;
        let low = self.splat(asm, ty, 0xffff_ffff);
        let right = |asm: &mut Asm, a| self.shift(asm, &PSRL_IMM, ty, a, 32);
        let product = |asm: &mut Asm, a, b| self.two(asm, &PMULUDQ, ty, a, b);
        let add = |asm: &mut Asm, a, b| self.two(asm, &PADD, ty, a, b);
        let (ah, bh) = (right(asm, a), right(asm, b));
        let (ll, lh) = (product(asm, a, b), product(asm, a, bh));
        let (hl, hh) = (product(asm, ah, b), product(asm, ah, bh));
        let carry = right(asm, ll);
        let middle = add(asm, hl, carry);
        let rest = self.two(asm, &PAND, ty, middle, low);
        let other = add(asm, lh, rest);
        let (x, y) = (right(asm, middle), right(asm, other));
        let sum = add(asm, hh, x);
        if !signed {
            return self.two_to(asm, &PADD, ty, dst, sum, y);
        }
        let mut high = add(asm, sum, y);
        for (x, y) in [(a, b), (b, a)] {
            let sign = self.negative(asm, ty, x);
            let excess = self.two(asm, &PAND, ty, sign, y);
            high = self.two(asm, &PSUB, ty, high, excess);
        }
        asm.put(dst, high);
    }

    /// Quotient of 32-bit lanes through doubles, which hold it exactly enough to truncate right.
    pub(super) fn divide_32(&self, asm: &mut Asm, signed: bool, dst: Reg, a: Reg, by: Divisor) {
        let Divisor {
            value: b,
            reciprocal,
        } = by;
        let quotient = if signed {
            self.vector(asm, Ty::I32)
        } else {
            dst
        };
        let operands = if reciprocal.is_some() {
            &[a][..]
        } else {
            &[a, b]
        };
        self.in_fours(asm, quotient, operands, |asm, dst, v| {
            let x = self.to_doubles(asm, signed, v[0]);
            let q = if let Some(reciprocal) = reciprocal {
                self.two(asm, &MUL, Ty::F64, x, reciprocal)
            } else {
                let y = self.to_doubles(asm, signed, v[1]);
                self.two(asm, &DIV, Ty::F64, x, y)
            };
            if signed {
                return self.emit_to(asm, v256(&VCVTTPD2DQ), dst, &[Operand::Reg(q)]);
            }
            self.doubles_to_unsigned(asm, dst, q);
        });
        if !signed {
            return;
        }
        let zero = self.splat(asm, Ty::I32, 0);
        let ones = self.splat(asm, Ty::I32, u64::MAX);
        let none = self.two(asm, &PCMPEQ, Ty::I32, b, zero);
        self.blend_to(asm, Ty::I32, dst, none, ones, quotient);
    }
}
