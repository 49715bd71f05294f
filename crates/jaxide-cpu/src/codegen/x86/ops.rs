//! Operations on lanes.

use super::table::PAND;
use super::target::{Divisor, FmaSigns};
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
        if self.un_of_halves(v, op, a) {
            return;
        }
        let (from, to) = (self.body.ty(a), self.body.ty(v));
        let short_nan = op == UnOp::RoundBf16 && self.plan.bfloats.has_short_nan(a);
        self.each_copy(v, |s, copy, dst| {
            let a = s.get(a, copy);
            if short_nan {
                let rounded = s.upper_rounded(a);
                let upper = s.target.splat(&mut s.asm, Ty::I32, 0xffff_0000);
                let and = BinOp::And;
                return s.target.bin(&mut s.asm, and, Ty::I32, dst, rounded, upper);
            }
            s.target.un(&mut s.asm, op, from, to, dst, a);
        });
    }

    fn bin(&mut self, v: Value, op: BinOp, a: Value, b: Value) {
        if self.bin_of_halves(v, op, a, b) {
            return;
        }
        let ty = self.body.ty(a);
        let divides = matches!(op, BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU);
        let signed = matches!(op, BinOp::DivS | BinOp::RemS);
        let reciprocal = self.reciprocals.get(&(b, signed)).copied();
        self.each_copy(v, |s, copy, dst| {
            let (a, b) = (s.get(a, copy), s.get(b, copy));
            if divides && ty == Ty::I64 {
                return s.divide_64(op, dst, a, b);
            }
            if divides {
                let by = Divisor {
                    value: b,
                    reciprocal,
                };
                return s.target.divide(&mut s.asm, op, dst, a, by);
            }
            s.target.bin(&mut s.asm, op, ty, dst, a, b);
            // The maximum that is no number has all bits there.
            if op == BinOp::Max && !T::EVEX && s.plan.bfloats.is_exact(v) {
                let upper = s.target.splat(&mut s.asm, Ty::I32, 0xffff_0000);
                let maximum = s.target.two(&mut s.asm, &PAND, Ty::I32, dst, upper);
                s.asm.put(dst, maximum);
            }
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
        if self.select_of_halves(v, mask, a, b) {
            return;
        }
        let ty = self.body.ty(v);
        let is_zero = |x: Value| ty != Ty::Mask && matches!(self.body.inst(x), Inst::Const(0));
        let or_zero = match (is_zero(a), is_zero(b)) {
            (false, true) => Some((a, true)),
            (true, false) => Some((b, false)),
            _ => None,
        };
        self.each_copy(v, |s, copy, dst| {
            let mask = s.get(mask, copy);
            if let Some((kept, holds)) = or_zero {
                let kept = s.get(kept, copy);
                if (s.target).select_or_zero(&mut s.asm, ty, dst, (mask, holds), kept) {
                    return;
                }
            }
            let (a, b) = (s.get(a, copy), s.get(b, copy));
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

impl<T: Target> Emitter<'_, T> {
    /// A single whose upper half is the nearest bfloat16, with anything below. What is no number stays so, because its lower half is zero.
    pub(super) fn upper_rounded(&mut self, a: Reg) -> Reg {
        let ty = Ty::I32;
        let [one, almost_half] = [1, 0x7fff].map(|c| self.target.splat(&mut self.asm, ty, c));
        let [upper, odd, sum, rounded] = std::array::from_fn(|_| self.new_reg(ty));
        let (target, asm) = (self.target, &mut self.asm);
        target.shift_by(asm, BinOp::ShrU, ty, upper, a, 16);
        target.bin(asm, BinOp::And, ty, odd, upper, one);
        target.bin(asm, BinOp::Add, ty, sum, a, almost_half);
        target.bin(asm, BinOp::Add, ty, rounded, sum, odd);
        rounded
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
