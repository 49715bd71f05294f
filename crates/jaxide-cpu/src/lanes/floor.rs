//! Divisions of integers that round down, as they are made of divisions that round towards zero.
//!
//! `x // d` and `x % d` correct a truncated quotient where what is left has another sign than the divisor. By a positive constant both are found
//! again in what the correction is made of, and made at once: of powers of two they are a shift and some bits, and of others a product as for
//! numbers without a sign. What a loop goes on for says which numbers are not negative.

use super::body::{Inst, Value};
use super::builder::Builder;
use super::op::{BinOp, TerOp, UnOp, signed};
use std::collections::hash_map::Entry;

/// What is left by a truncated division by a positive constant.
#[derive(Clone, Copy, Debug)]
pub(super) struct Remainder {
    /// What is divided.
    of: Value,
    by: u64,
    quotient: Value,
}

/// How much was known before a loop.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Known {
    at_least_zero: usize,
    supposed: usize,
    turns: usize,
    remainders: usize,
}

/// How many operations are looked through for what is known of a number.
const DEPTH: usize = 4;

impl Builder {
    /// The remainder of a division by a constant, and its quotient, towards zero.
    pub(super) fn rem_const(&mut self, op: BinOp, a: Value, b: Value, by: u64) -> Value {
        let ty = self.ty(a);
        let whole = if op == BinOp::RemU {
            BinOp::DivU
        } else {
            BinOp::DivS
        };
        let quotient = self.bin(whole, a, b);
        let back = self.mul(quotient, b);
        let rest = self.sub(a, back);
        if op == BinOp::RemS && signed(ty, by) > 1 {
            let known = Remainder {
                of: a,
                by,
                quotient,
            };
            // Which of two that are the same number is as good; the first one holds longer.
            if let Entry::Vacant(new) = self.remainders.entry(rest) {
                new.insert(known);
                self.known_remainders.push(rest);
            }
        }
        rest
    }

    /// What it is that both of two comparisons hold, where one of them, or the sign of a remainder, says it.
    pub(super) fn fold_signs(&mut self, a: Value, b: Value) -> Option<Value> {
        self.sign_and_not_zero(a, b)
            .or_else(|| self.sign_and_not_zero(b, a))
    }

    fn sign_and_not_zero(&mut self, sign: Value, not_zero: Value) -> Option<Value> {
        let Inst::Bin(BinOp::Ne, rest, zero) = *self.body.inst(not_zero) else {
            return None;
        };
        if self.as_const(zero) != Some(0) {
            return None;
        }
        match *self.body.inst(sign) {
            // Below zero it is not zero.
            Inst::Bin(BinOp::Lt, x, y) if (x, y) == (rest, zero) => Some(sign),
            // What is left has the sign of what is divided.
            Inst::Un(UnOp::Not, above) => {
                let Inst::Bin(BinOp::Lt, bound, x) = *self.body.inst(above) else {
                    return None;
                };
                let known = self.remainders.get(&rest)?;
                let same = known.of == x && self.as_const(bound) == Some(0);
                same.then(|| self.lt(rest, zero))
            }
            _ => None,
        }
    }

    /// A comparison of a choice among constants with a constant.
    pub(super) fn fold_chosen(&mut self, op: BinOp, a: Value, c: Value) -> Option<Value> {
        let Inst::Ter(TerOp::Select, mask, x, y) = *self.body.inst(a) else {
            return None;
        };
        let other = match *self.body.inst(y) {
            Inst::Ter(TerOp::Select, _, p, q) => {
                self.as_const(p).is_some() && self.as_const(q).is_some()
            }
            Inst::Const(_) => true,
            _ => false,
        };
        if self.as_const(x).is_none() || !other {
            return None;
        }
        let (x, y) = (self.bin(op, x, c), self.bin(op, y, c));
        Some(self.select(mask, x, y))
    }

    /// The correction of a truncated division, as a division that rounds down.
    pub(super) fn fold_floor(&mut self, mask: Value, a: Value, b: Value) -> Option<Value> {
        let Inst::Bin(BinOp::Lt, rest, zero) = *self.body.inst(mask) else {
            return None;
        };
        if self.as_const(zero) != Some(0) {
            return None;
        }
        let Remainder { of, by, quotient } = *self.remainders.get(&rest)?;
        let Inst::Bin(BinOp::Add, x, c) = *self.body.inst(a) else {
            return None;
        };
        let ty = self.ty(of);
        let c = self.as_const(c)?;
        if x != b {
            return None;
        }
        if b == quotient && c == ty.bit_mask() {
            return Some(self.floor_quotient(of, by));
        }
        if b != rest || c != by {
            return None;
        }
        if by.is_power_of_two() {
            let low = self.constant(ty, by - 1);
            return Some(self.and(of, low));
        }
        let quotient = self.floor_quotient(of, by);
        let by = self.constant(ty, by);
        let back = self.mul(quotient, by);
        Some(self.sub(of, back))
    }

    /// `x / d` rounded down, for `d` above 1. Of a negative number it is one less than that of how far it is below -1, negated: in both cases a number
    /// without its bits of sign is divided. Granlund and Montgomery, "Division by invariant integers using multiplication" (1994), theorem 4.2,
    /// for numbers of a bit less.
    pub(super) fn floor_quotient(&mut self, x: Value, d: u64) -> Value {
        let ty = self.ty(x);
        let bits = ty.bits();
        if d.is_power_of_two() {
            return self.shift(BinOp::ShrS, x, d.trailing_zeros());
        }
        let sign = (!self.is_not_negative(x)).then(|| self.shift(BinOp::ShrS, x, bits - 1));
        let size = sign.map_or(x, |sign| self.xor(x, sign));
        let l = 64 - d.leading_zeros();
        let multiplier = ((1u128 << (bits - 1 + l)) / u128::from(d) + 1) as u64;
        let m = self.constant(ty, multiplier);
        let high = self.bin(BinOp::MulHiU, size, m);
        let quotient = self.shift(BinOp::ShrU, high, l - 1);
        sign.map_or(quotient, |sign| self.xor(quotient, sign))
    }

    /// The truncated quotient by a power of two above 1: what is added lets a shift, which rounds down, round up.
    pub(super) fn div_s_power(&mut self, x: Value, log: u32) -> Value {
        let bits = self.ty(x).bits();
        if self.is_not_negative(x) {
            return self.shift(BinOp::ShrU, x, log);
        }
        let sign = if log == 1 {
            x
        } else {
            self.shift(BinOp::ShrS, x, bits - 1)
        };
        let less_one = self.shift(BinOp::ShrU, sign, bits - log);
        let up = self.add(x, less_one);
        self.shift(BinOp::ShrS, up, log)
    }

    /// Whether a signed number is known not to be negative.
    pub(super) fn is_not_negative(&self, v: Value) -> bool {
        self.is_known_not_negative(v, DEPTH)
    }

    fn is_known_not_negative(&self, v: Value, depth: usize) -> bool {
        let Some(depth) = depth.checked_sub(1) else {
            return false;
        };
        let ty = self.ty(v);
        let known = |v: Value| self.is_known_not_negative(v, depth);
        self.at_least_zero.contains(&v)
            || match self.body.inst(v) {
                Inst::Const(bits) => signed(ty, *bits) >= 0,
                Inst::Load(mem, _) => mem.lane() == ty && mem.is_unsigned(),
                Inst::Bin(BinOp::And, a, b) => known(*a) || known(*b),
                Inst::Bin(BinOp::ShrU, _, by) => self.as_const(*by).is_some_and(|by| by > 0),
                Inst::Bin(BinOp::ShrS, a, _) => known(*a),
                Inst::Bin(BinOp::MaxS, a, b) => known(*a) || known(*b),
                Inst::Bin(BinOp::MinS, a, b) => known(*a) && known(*b),
                Inst::Ter(TerOp::Select, _, a, b) => known(*a) && known(*b),
                _ => false,
            }
    }

    /// What holds in the turns of a loop with this condition, until [`forget`](Self::forget); gives what is to be forgotten then.
    pub(super) fn suppose(&mut self, cond: Value) -> Known {
        let before = Known {
            at_least_zero: self.at_least_zero.len(),
            supposed: self.supposed.len(),
            turns: self.turns.len(),
            remainders: self.known_remainders.len(),
        };
        let mut conds = vec![cond];
        while let Some(cond) = conds.pop() {
            let compared = match *self.body.inst(cond) {
                Inst::Bin(BinOp::And, a, b) => {
                    conds.extend([a, b]);
                    continue;
                }
                Inst::Un(UnOp::Not, inner) => inner,
                _ => cond,
            };
            let Inst::Bin(op, bound, x) = *self.body.inst(compared) else {
                continue;
            };
            let ty = self.ty(x);
            if !ty.is_int() {
                continue;
            }
            let least = match op {
                BinOp::Lt if compared == cond => Some(1),
                BinOp::Le if compared == cond => Some(0),
                _ => None,
            };
            let bound = self.as_const(bound).map(|c| signed(ty, c));
            if let (Some(least), Some(bound)) = (least, bound)
                && bound.saturating_add(least) >= 0
            {
                self.at_least_zero.push(x);
            }
            self.supposed.push(cond);
        }
        if self.supposed.len() > before.supposed {
            self.turns.push(self.current);
        }
        before
    }

    pub(super) fn forget(&mut self, known: &Known) {
        self.at_least_zero.truncate(known.at_least_zero);
        self.supposed.truncate(known.supposed);
        self.turns.truncate(known.turns);
        // Of numbers that were known not to be negative there, a division without signs leaves the same.
        for rest in self.known_remainders.drain(known.remainders..) {
            self.remainders.remove(&rest);
        }
    }

    /// A comparison of integers that the loops around have made, or its opposite.
    pub(super) fn fold_supposed(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let opposite = match op {
            BinOp::Eq => Inst::Bin(BinOp::Ne, a, b),
            BinOp::Ne => Inst::Bin(BinOp::Eq, a, b),
            BinOp::Lt => Inst::Bin(BinOp::Le, b, a),
            BinOp::Le => Inst::Bin(BinOp::Lt, b, a),
            BinOp::LtU => Inst::Bin(BinOp::LeU, b, a),
            BinOp::LeU => Inst::Bin(BinOp::LtU, b, a),
            _ => return None,
        };
        let (same, not) = (
            Inst::Bin(op, a, b),
            |inst: &Inst, s: &Self, v: Value| matches!(*s.body.inst(v), Inst::Un(UnOp::Not, v) if s.body.inst(v) == inst),
        );
        for &cond in &self.supposed {
            let inst = self.body.inst(cond);
            if *inst == same || not(&opposite, self, cond) {
                return Some(self.mask(true));
            }
            if *inst == opposite || not(&same, self, cond) {
                return Some(self.mask(false));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, Addr, MemTy, Memory};

    /// Python's `//` and `%` as JAX writes them.
    fn floor(b: &mut Builder, x: Value, d: Value) -> [Value; 2] {
        let ty = b.ty(x);
        let [zero, one, minus] = [0, 1, -1].map(|c| b.int(ty, c));
        let sign = |b: &mut Builder, x: Value| {
            let below = b.lt(x, zero);
            let other = b.select(below, minus, zero);
            let above = b.lt(zero, x);
            b.select(above, one, other)
        };
        let q = b.bin(BinOp::DivS, x, d);
        let (p, s) = (sign(b, x), sign(b, d));
        let differ = b.ne(p, s);
        let rest = b.bin(BinOp::RemS, x, d);
        let some = b.ne(rest, zero);
        let wrong = b.and(differ, some);
        let less = b.sub(q, one);
        let quotient = b.select(wrong, less, q);
        let (below, by_below) = (b.lt(rest, zero), b.lt(d, zero));
        let differ = b.xor(below, by_below);
        let wrong = b.and(differ, some);
        let more = b.add(rest, d);
        [quotient, b.select(wrong, more, rest)]
    }

    fn check(d: i64, ty: MemTy, at_least_zero: bool) {
        let lane = ty.lane();
        let mut b = Builder::new("floor");
        let x = b.pointer(Access::ReadOnly);
        let v = b.load(ty, Addr::contiguous(x, ty));
        let by = b.int(lane, d);
        if at_least_zero {
            b.at_least_zero.push(v);
        }
        for v in floor(&mut b, v, by) {
            let to = b.pointer(Access::ReadWrite);
            b.store(ty, Addr::contiguous(to, ty), v);
        }
        let body = b.finish().unwrap();
        let choices = body.values().iter();
        let choices = choices.filter(|v| matches!(v.inst, Inst::Ter(TerOp::Select, ..)));
        assert!(d < 0 || choices.count() == 0, "{d} {body}");
        let (least, most) = if ty == MemTy::I32 {
            (i64::from(i32::MIN), i64::from(i32::MAX))
        } else {
            (i64::MIN, i64::MAX)
        };
        let mut numbers: Vec<i64> = (-40..40).collect();
        for near in [least, most, least / 2, most / 2, d, -d] {
            numbers.extend((-3..4).map(|k| near.saturating_add(k).clamp(least, most)));
            numbers.extend((-3..4).map(|k| near.saturating_mul(k).clamp(least, most)));
        }
        numbers.retain(|x| !at_least_zero || *x >= 0);
        let size = ty.size() as usize;
        let bytes = |numbers: &[i64]| -> Vec<u8> {
            let each = numbers.iter().map(|x| x.to_le_bytes());
            each.flat_map(|x| x[..size].to_vec()).collect()
        };
        let mut input = bytes(&numbers);
        let mut outputs = [vec![0; input.len()], vec![0; input.len()]];
        let [q, r] = &mut outputs;
        let count = numbers.len() as i64;
        body.eval(&mut Memory::new(&mut [&mut input, q, r]), &[], 0, count)
            .unwrap();
        let floors: Vec<i64> = numbers
            .iter()
            .map(|x| {
                x.wrapping_div(d) - i64::from(x.wrapping_rem(d) != 0 && (x % d < 0) != (d < 0))
            })
            .collect();
        let rests: Vec<i64> = (numbers.iter().zip(&floors))
            .map(|(x, q)| x.wrapping_sub(q.wrapping_mul(d)))
            .collect();
        assert_eq!(outputs[0], bytes(&floors), "{d}");
        assert_eq!(outputs[1], bytes(&rests), "{d}");
    }

    #[test]
    fn divisions_by_constants_round_down() {
        let powers = (1..31).flat_map(|k| [(1i64 << k) - 1, 1 << k, (1 << k) + 1]);
        let divisors: Vec<i64> = (2..70).chain(powers).chain([10_007, 1_000_003]).collect();
        for d in divisors.into_iter().filter(|&d| d > 1 && d <= 1 << 30) {
            for at_least_zero in [false, true] {
                check(d, MemTy::I32, at_least_zero);
                check(d, MemTy::I64, at_least_zero);
                check(d << 31, MemTy::I64, at_least_zero);
            }
        }
        for d in [-1, -2, -7, -10, -1024] {
            check(d, MemTy::I32, false);
        }
    }
}
