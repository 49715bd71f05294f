//! Operations on lanes.

use super::target::FmaSigns;
use super::*;
use crate::codegen::emit::Operations;
use crate::lanes::{BinOp, Index as LaneIndex, Table, UnOp};

impl<T: Target> Operations for Emitter<'_, T> {
    /// A constant but for masks stands where it is used: [`get`](Self::get) finds it.
    fn constant(&mut self, v: Value, bits: u64) {
        if self.body.ty(v) == Ty::Mask {
            self.each_copy(v, |s, _, dst| {
                s.target.mask_constant(&mut s.asm, dst, bits != 0);
            });
        }
    }

    fn index(&mut self, v: Value, index: LaneIndex) {
        let ty = self.body.ty(v);
        self.each_copy(v, |s, copy, dst| {
            let var = match index {
                LaneIndex::Lane => Int::Var(LANE),
                LaneIndex::Loop(id) => Int::Var(s.counters[id.index()]),
                LaneIndex::Outer(k) => {
                    s.outer_to_rax(k);
                    return s.target.broadcast_gpr(&mut s.asm, ty, dst);
                }
            };
            s.asm.int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), var]);
            if index != LaneIndex::Lane {
                return s.target.broadcast_gpr(&mut s.asm, ty, dst);
            }
            let first = s.new_reg(ty);
            s.target.broadcast_gpr(&mut s.asm, ty, first);
            let offsets = s.counting(ty, copy as i64 * s.target.lanes(), 1);
            s.target
                .bin(&mut s.asm, BinOp::Add, ty, dst, first, offsets);
        });
    }

    fn un(&mut self, v: Value, op: UnOp, a: Value) {
        if self.plan.folded[v.index()] {
            return;
        }
        let (from, to) = (self.body.ty(a), self.body.ty(v));
        self.each_copy(v, |s, copy, dst| {
            let a = s.get(a, copy);
            s.target.un(&mut s.asm, op, from, to, dst, a);
        });
    }

    fn bin(&mut self, v: Value, op: BinOp, a: Value, b: Value) {
        let ty = self.body.ty(a);
        let divides = matches!(op, BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU);
        let divisor = match (op, self.body.inst(b)) {
            (BinOp::Div, Inst::Const(bits)) => Divisor::of(ty, *bits),
            _ => None,
        };
        self.each_copy(v, |s, copy, dst| {
            if let Some(divisor) = divisor {
                let a = s.get(a, copy);
                return s.divide_by(ty, dst, a, divisor);
            }
            let (a, b) = (s.get(a, copy), s.get(b, copy));
            if divides && ty == Ty::I64 {
                return s.divide_64(op, dst, a, b);
            }
            s.target.bin(&mut s.asm, op, ty, dst, a, b);
        });
    }

    fn shift_by(&mut self, v: Value, op: BinOp, a: Value, count: u64) {
        let ty = self.body.ty(v);
        self.each_copy(v, |s, copy, dst| {
            let a = s.get(a, copy);
            s.target.shift_by(&mut s.asm, op, ty, dst, a, count);
        });
    }

    /// Negations that only such use become part of it. The operand of any other negation may be
    /// gone by now: the next value of a loop may stand in its register.
    fn fma(&mut self, v: Value, a: Value, b: Value, c: Value) {
        let ty = self.body.ty(v);
        self.each_copy(v, |s, copy, dst| {
            let mut minus = [false; 3];
            let operands = [a, b, c];
            let [a, b, c] = std::array::from_fn(|k| {
                let mut v = operands[k];
                while s.plan.folded[v.index()]
                    && let Inst::Un(UnOp::Neg, inner) = s.body.inst(v)
                {
                    v = *inner;
                    minus[k] = !minus[k];
                }
                s.get(v, copy)
            });
            let signs = FmaSigns {
                minus_product: minus[0] != minus[1],
                minus_addend: minus[2],
            };
            let codes = s.target.fma(ty, signs);
            s.asm.push(Lir::Fma {
                codes,
                dst,
                a,
                b,
                c,
            });
        });
    }

    fn select(&mut self, v: Value, mask: Value, a: Value, b: Value) {
        let ty = self.body.ty(v);
        self.each_copy(v, |s, copy, dst| {
            let (mask, a, b) = (s.get(mask, copy), s.get(a, copy), s.get(b, copy));
            s.target.select(&mut s.asm, ty, dst, mask, a, b);
        });
    }

    /// Tables go among the constants.
    fn lookup(&mut self, v: Value, index: Value, table: Table) {
        let ty = self.body.ty(v);
        let int = ty.as_int();
        self.each_copy(v, |s, copy, dst| {
            let offset = s.asm.pool.add(&table.bytes(), 8);
            let index = s.get(index, copy);
            let limited = s.new_reg(int);
            let last = s.target.splat(&mut s.asm, int, table.len() as u64 - 1);
            s.target
                .bin(&mut s.asm, BinOp::MinU, int, limited, index, last);
            let start = Mem::new(Base::Pool, offset);
            s.asm
                .int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(start)]);
            let at = Mem::gpr(RAX, 0).indexed(Index::Vector(limited), ty.bits() / 8);
            s.target.gather(&mut s.asm, ty, dst, at, int, None);
        });
    }
}

/// A constant that numbers are divided by, and its reciprocal.
#[derive(Clone, Copy)]
struct Divisor {
    number: f64,
    reciprocal: f64,
    /// Twice the bits of the least magnitude of which the quotient's residue is exact.
    least: u64,
}

impl Divisor {
    /// Where [`Emitter::divide_by`] divides by it: neither it nor its reciprocal are near the ends of what the type has.
    fn of(ty: Ty, bits: u64) -> Option<Divisor> {
        let (number, reciprocal, most) = match ty {
            Ty::F32 => {
                let x = f32::from_bits(bits as u32);
                (f64::from(x), f64::from(1.0 / x), 2f64.powi(60))
            }
            Ty::F64 => {
                let x = f64::from_bits(bits);
                (x, 1.0 / x, 2f64.powi(500))
            }
            Ty::I32 | Ty::I64 | Ty::Mask => return None,
        };
        if !(number > 1.0 / most && number < most) {
            return None;
        }
        // The residue counts in units of the product of two last places, which must not be below the least number; nor may the
        // quotient be below the least normal number.
        let least = match ty {
            Ty::F32 => u64::from(
                (2f32.powi(-100))
                    .max(number as f32 * 2f32.powi(-124))
                    .to_bits(),
            ),
            _ => 2f64.powi(-960).max(number * 2f64.powi(-1020)).to_bits(),
        };
        Some(Divisor {
            number,
            reciprocal,
            least: least << 1,
        })
    }
}

impl<T: Target> Emitter<'_, T> {
    /// A quotient without a division, which takes as long as ten other operations: the product q with the rounded reciprocal y, and
    /// from what it lacks, q - (q c - a) y. That is the nearest number where nothing underflows (N. Brisebarre, J.-M. Muller and S. Raina,
    /// "Accelerating correctly rounded floating-point division when the divisor is known in advance", 2004). Where the residue is no
    /// number, q is the result: infinite, or NaN. Vectors with numbers so small that it would not be exact are divided.
    fn divide_by(&mut self, ty: Ty, dst: Reg, a: Reg, divisor: Divisor) {
        let int = ty.as_int();
        // Not in the result's place, which may be that of `a`.
        let (product, size, known) = (self.new_reg(ty), self.new_reg(ty), self.new_reg(Ty::Mask));
        let (doubled, before, small) =
            (self.new_reg(int), self.new_reg(int), self.new_reg(Ty::Mask));
        let reciprocal = self.target.float(&mut self.asm, ty, divisor.reciprocal);
        let number = self.target.float(&mut self.asm, ty, divisor.number);
        let infinite = self.target.float(&mut self.asm, ty, f64::INFINITY);
        self.target
            .bin(&mut self.asm, BinOp::Mul, ty, product, a, reciprocal);
        let excess = self.multiply_add((false, true), ty, product, number, a);
        let nearest = self.multiply_add((true, false), ty, excess, reciprocal, product);
        self.target
            .un(&mut self.asm, UnOp::Abs, ty, ty, size, excess);
        self.target
            .bin(&mut self.asm, BinOp::Lt, ty, known, size, infinite);
        let quotient = self.new_reg(ty);
        self.target
            .select(&mut self.asm, ty, quotient, known, nearest, product);
        // Without its sign and minus one, zero is the largest integer, so that one comparison finds small numbers.
        self.target
            .shift_by(&mut self.asm, BinOp::Shl, int, doubled, a, 1);
        let minus_one = self.target.splat(&mut self.asm, int, int.bit_mask());
        self.target
            .bin(&mut self.asm, BinOp::Add, int, before, doubled, minus_one);
        let least = self
            .target
            .splat(&mut self.asm, int, (divisor.least - 1) & int.bit_mask());
        self.target
            .bin(&mut self.asm, BinOp::LtU, int, small, before, least);
        self.target.test_any(&mut self.asm, &[small]);
        let done = self.asm.label();
        self.asm.push(Lir::Branch(Cond::Equal, done));
        let frequency = self.asm.current_frequency;
        self.asm.current_frequency *= 0.01;
        self.target
            .bin(&mut self.asm, BinOp::Div, ty, quotient, a, number);
        self.asm.current_frequency = frequency;
        self.asm.push(Lir::Label(done));
        self.asm.put(dst, quotient);
    }

    /// `a * b + c`, with the product or the addend negated.
    fn multiply_add(
        &mut self,
        (minus_product, minus_addend): (bool, bool),
        ty: Ty,
        a: Reg,
        b: Reg,
        c: Reg,
    ) -> Reg {
        let signs = FmaSigns {
            minus_product,
            minus_addend,
        };
        let (codes, dst) = (self.target.fma(ty, signs), self.new_reg(ty));
        self.asm.push(Lir::Fma {
            codes,
            dst,
            a,
            b,
            c,
        });
        dst
    }

    /// The vector of `(first + lane) * step`.
    pub(super) fn counting(&mut self, ty: Ty, first: i64, step: i64) -> Reg {
        let size = (ty.bits() / 8) as usize;
        let bytes: Vec<u8> = (0..self.target.lanes())
            .flat_map(|k| ((first + k) * step).to_le_bytes()[..size].to_vec())
            .collect();
        self.asm.vector(self.target.width(ty), &bytes)
    }
}
