//! Constant folding and local simplification, applied while a body is built.
//!
//! Laws: a rewrite never gives more operations of higher cost, keeps every bit of every result (NaN, signed zeros
//! and subnormals; NaN payloads excepted) and does not reassociate. Each rule here is one line with its reason where that is not plain.

use super::body::{BlockId, Inst, Value};
use super::builder::Builder;
use super::op::{BinOp, TerOp, UnOp, signed};
use super::types::{MemTy, Ty};
use smallvec::SmallVec;

/// Truth tables of two masks, and how many operations below one are looked through.
const X: u8 = 0b1100;
const Y: u8 = 0b1010;
const TRUTH_DEPTH: usize = 3;

impl Builder {
    pub(super) fn fold_un(&mut self, op: UnOp, to: Ty, a: Value) -> Option<Value> {
        let from = self.ty(a);
        if let Some(bits) = self.as_const(a) {
            return Some(self.constant(to, op.eval(from, to, bits)));
        }
        match (op, self.body.inst(a).clone()) {
            (UnOp::Neg | UnOp::Not, Inst::Un(inner, x)) if inner == op => Some(x),
            (UnOp::Abs, Inst::Un(UnOp::Abs, _)) => Some(a),
            (UnOp::Abs, Inst::Un(UnOp::Neg, x)) => Some(self.abs(x)),
            (UnOp::Bitcast, Inst::Un(UnOp::Bitcast, x)) => Some(x),
            (UnOp::Low, Inst::Un(UnOp::SExt | UnOp::ZExt, x)) => Some(x),
            (UnOp::Low, Inst::Index(i)) => Some(self.index(Ty::I32, i)),
            (UnOp::Not, _) if to == Ty::Mask => self.fold_truth(Inst::Un(op, a)),
            (UnOp::RoundF16, _) if self.is_rounded(op, MemTy::F16, a) => Some(a),
            (UnOp::RoundBf16, _) if self.is_rounded(op, MemTy::Bf16, a) => Some(a),
            _ => None,
        }
    }

    /// Whether a float is one of a narrower type: it was rounded to that, or read as one.
    fn is_rounded(&self, round: UnOp, ty: MemTy, a: Value) -> bool {
        match *self.body.inst(a) {
            Inst::Un(op, _) if op == round => true,
            Inst::Un(UnOp::Neg | UnOp::Abs, x) => self.is_rounded(round, ty, x),
            Inst::Load(of, _) => of == ty,
            _ => false,
        }
    }

    pub(super) fn fold_bin(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let ty = self.ty(a);
        let (ca, cb) = (self.as_const(a), self.as_const(b));
        if let (Some(x), Some(y)) = (ca, cb) {
            return Some(self.constant(op.result(ty), op.eval(ty, x, y)));
        }
        if ty.is_int()
            && op.is_compare()
            && let Some(known) = self.fold_supposed(op, a, b)
        {
            return Some(known);
        }
        match ty {
            Ty::F32 | Ty::F64 => self.fold_float(op, ty, a, b, cb?),
            Ty::I32 | Ty::I64 | Ty::Mask if a == b => self.fold_same(op, ty, a),
            Ty::I32 | Ty::I64 => match cb {
                Some(cb) => self.fold_int(op, ty, a, b, cb),
                None => self.fold_rest(op, a, b),
            },
            Ty::Mask => match cb {
                Some(cb) => self.fold_mask(op, a, cb),
                None => {
                    let signs = (op == BinOp::And).then(|| self.fold_signs(a, b));
                    signs
                        .flatten()
                        .or_else(|| self.fold_truth(Inst::Bin(op, a, b)))
                        .or_else(|| {
                            self.fold_invariant(op, a, b)
                                .or_else(|| self.fold_invariant(op, b, a))
                        })
                }
            },
        }
    }

    pub(super) fn fold_ter(&mut self, op: TerOp, a: Value, b: Value, c: Value) -> Option<Value> {
        let ty = self.ty(c);
        let consts = (self.as_const(a), self.as_const(b), self.as_const(c));
        match op {
            TerOp::Fma => match consts {
                (Some(x), Some(y), Some(z)) => Some(self.constant(ty, op.eval(ty, x, y, z))),
                (Some(x), Some(y), None) if exact_product(ty, x, y) => {
                    let product = self.constant(ty, BinOp::Mul.eval(ty, x, y));
                    Some(self.exactly(|s| s.add(product, c)))
                }
                // a * 1 is exact.
                (_, Some(y), _) if is_float(ty, y, 1.0) => Some(self.exactly(|s| s.add(a, c))),
                // x + -0 is x for every x.
                (_, _, Some(z)) if z == minus_zero(ty) => Some(self.exactly(|s| s.mul(a, b))),
                _ => None,
            },
            TerOp::Select => match consts {
                (Some(m), _, _) => Some(if m != 0 { b } else { c }),
                _ if b == c => Some(b),
                (_, Some(0), Some(1)) if ty == Ty::Mask => Some(self.not(a)),
                (_, Some(1), _) if ty == Ty::Mask => Some(self.or(a, c)),
                (_, _, Some(0)) if ty == Ty::Mask => Some(self.and(a, b)),
                _ => match *self.body.inst(a) {
                    Inst::Un(UnOp::Not, m) => Some(self.select(m, c, b)),
                    _ if ty == Ty::Mask => self.fold_truth(Inst::Ter(op, a, b, c)),
                    _ if ty.is_int() => self.fold_floor(a, b, c),
                    _ => None,
                },
            },
        }
    }

    fn fold_float(&mut self, op: BinOp, ty: Ty, a: Value, b: Value, cb: u64) -> Option<Value> {
        match op {
            // x + -0 is x for every x; x - 0 too. (0 + x is not: it turns -0 into 0.)
            BinOp::Add if cb == minus_zero(ty) => Some(a),
            BinOp::Sub if cb == 0 => Some(a),
            BinOp::Mul | BinOp::Div if is_float(ty, cb, 1.0) => Some(a),
            BinOp::Mul | BinOp::Div if is_float(ty, cb, -1.0) => Some(self.neg(a)),
            // The reciprocal of a power of two is exact.
            BinOp::Div => {
                let reciprocal = exact_reciprocal(ty, cb)?;
                let r = self.constant(ty, reciprocal);
                Some(self.exactly(|s| s.mul(a, r)))
            }
            // One instruction instead of five; equal operands are the same bits, because the constant is not zero.
            BinOp::Max if float_value(ty, cb).abs() > 0.0 => Some(self.bin(BinOp::PickGt, b, a)),
            BinOp::Min if float_value(ty, cb).abs() > 0.0 => Some(self.bin(BinOp::PickLt, b, a)),
            // The picked x may be -0, which adding 0 turns into 0 as the maximum wants.
            BinOp::Max if cb == 0 => {
                let picked = self.bin(BinOp::PickGt, b, a);
                Some(self.exactly(|s| s.add(picked, b)))
            }
            BinOp::Max if cb == minus_zero(ty) => Some(self.bin(BinOp::PickGt, b, a)),
            BinOp::Min if cb == 0 => Some(self.bin(BinOp::PickLt, b, a)),
            _ => None,
        }
    }

    fn fold_same(&mut self, op: BinOp, ty: Ty, a: Value) -> Option<Value> {
        use BinOp::*;
        match op {
            And | Or | MinS | MaxS | MinU | MaxU => Some(a),
            Sub | Xor => Some(self.constant(ty, 0)),
            Eq | Le | LeU => Some(self.mask(true)),
            Ne | Lt | LtU => Some(self.mask(false)),
            _ => None,
        }
    }

    fn fold_int(&mut self, op: BinOp, ty: Ty, a: Value, b: Value, cb: u64) -> Option<Value> {
        use BinOp::*;
        let ones = ty.bit_mask();
        match (op, cb) {
            (Add | Sub | Or | Xor | Shl | ShrU | ShrS, 0) => Some(a),
            (And | Mul, 0) => Some(b),
            (And, c) if c == ones => Some(a),
            (Or, c) if c == ones => Some(b),
            (Xor, c) if c == ones => Some(self.not(a)),
            (Mul | DivU | DivS, 1) => Some(a),
            (Mul, c) if c.is_power_of_two() => Some(self.shift(Shl, a, c.trailing_zeros())),
            // One form for both: x - c is x + -c.
            (Sub, c) => {
                let minus = self.constant(ty, c.wrapping_neg());
                Some(self.add(a, minus))
            }
            (Shl | ShrU, c) if c >= u64::from(ty.bits()) => Some(self.constant(ty, 0)),
            (DivU, c) if c.is_power_of_two() => Some(self.shift(ShrU, a, c.trailing_zeros())),
            (RemU, c) if c.is_power_of_two() => {
                let low = self.constant(ty, c - 1);
                Some(self.and(a, low))
            }
            (DivU, 1..) => Some(self.div_u_const(ty, a, cb)),
            (DivS, c) if c.is_power_of_two() && signed(ty, c) > 0 => {
                Some(self.div_s_power(a, c.trailing_zeros()))
            }
            // Without a sign it rounds down.
            (DivS, c) if signed(ty, c) > 1 && self.is_not_negative(a) => {
                Some(self.floor_quotient(a, c))
            }
            (DivS, 1..) => Some(self.div_s_const(ty, a, cb)),
            (RemU | RemS, 1..) => Some(self.rem_const(op, a, b, cb)),
            (Eq | Ne, _) => self.fold_chosen(op, a, b),
            _ => None,
        }
    }

    /// What a division leaves whose quotient is known: one division in the place of two.
    fn fold_rest(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let whole = match op {
            BinOp::RemS => BinOp::DivS,
            BinOp::RemU => BinOp::DivU,
            _ => return None,
        };
        let q = self.existing(&(Inst::Bin(whole, a, b), self.ty(a)))?;
        let back = self.mul(q, b);
        Some(self.sub(a, back))
    }

    fn fold_mask(&mut self, op: BinOp, a: Value, cb: u64) -> Option<Value> {
        match (op, cb) {
            (BinOp::And, 1) | (BinOp::Or | BinOp::Xor, 0) => Some(a),
            (BinOp::And, 0) => Some(self.mask(false)),
            (BinOp::Or, 1) => Some(self.mask(true)),
            (BinOp::Xor, 1) => Some(self.not(a)),
            _ => None,
        }
    }

    /// `(u ∧ x) ∧ y` as `u ∧ (x ∧ y)` where only `u` is the same in all lanes, so that it decides about all that is behind it.
    fn fold_invariant(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let varies = |v: Value| self.body.values[v.index()].block != BlockId::PROLOGUE;
        let Inst::Bin(inner, x, y) = *self.body.inst(a) else {
            return None;
        };
        let same = inner == op && matches!(op, BinOp::And | BinOp::Or);
        let (u, x) = if varies(x) { (y, x) } else { (x, y) };
        if !same || varies(u) || !varies(x) || !varies(b) {
            return None;
        }
        let behind = self.bin(op, x, b);
        Some(self.bin(op, u, behind))
    }

    /// An operation on masks that depends on at most two of them, as one operation of these where there is one that is simple. So a
    /// choice by a comparison of truth values, which is several operations, is the larger one of them.
    fn fold_truth(&mut self, inst: Inst) -> Option<Value> {
        let mut masks = SmallVec::<[Value; 2]>::new();
        if let Inst::Bin(op, ..) = inst
            && op.is_compare()
        {
            return None;
        }
        let table = self.truth(&inst, &mut masks, TRUTH_DEPTH)?;
        // Where there is one mask only, the second variable changes nothing.
        let (x, y) = (masks[0], *masks.get(1)?);
        match table {
            0b0000 => Some(self.mask(false)),
            0b1111 => Some(self.mask(true)),
            X => Some(x),
            Y => Some(y),
            _ if inst == Inst::Un(UnOp::Not, x) || inst == Inst::Un(UnOp::Not, y) => None,
            0b0011 => Some(self.not(x)),
            0b0101 => Some(self.not(y)),
            _ => {
                let op = match table {
                    0b1000 => BinOp::And,
                    0b1110 => BinOp::Or,
                    0b0110 => BinOp::Xor,
                    _ => return None,
                };
                let same = inst == Inst::Bin(op, x, y) || inst == Inst::Bin(op, y, x);
                (!same).then(|| self.bin(op, x, y))
            }
        }
    }

    /// The table of an operation on two masks, which are found on the way: [`X`] is that of the first one.
    fn truth(&self, inst: &Inst, masks: &mut SmallVec<[Value; 2]>, depth: usize) -> Option<u8> {
        let mut of = |v: Value| {
            if self.ty(v) != Ty::Mask {
                return None;
            }
            if let (inner @ (Inst::Const(_) | Inst::Un(..) | Inst::Bin(..) | Inst::Ter(..)), 1..) =
                (self.body.inst(v), depth)
            {
                let before = masks.len();
                if let Some(table) = self.truth(inner, masks, depth - 1) {
                    return Some(table);
                }
                masks.truncate(before);
            }
            match masks.iter().position(|&mask| mask == v) {
                Some(k) => Some([X, Y][k]),
                None if masks.len() < 2 => {
                    masks.push(v);
                    Some([X, Y][masks.len() - 1])
                }
                None => None,
            }
        };
        Some(match *inst {
            Inst::Const(0) => 0b0000,
            Inst::Const(_) => 0b1111,
            Inst::Un(UnOp::Not, a) => !of(a)? & 0b1111,
            Inst::Bin(BinOp::And, a, b) => of(a)? & of(b)?,
            Inst::Bin(BinOp::Or, a, b) => of(a)? | of(b)?,
            Inst::Bin(BinOp::Xor, a, b) => of(a)? ^ of(b)?,
            Inst::Ter(TerOp::Select, a, b, c) => {
                let (a, b, c) = (of(a)?, of(b)?, of(c)?);
                a & b | !a & c & 0b1111
            }
            _ => return None,
        })
    }

    pub(super) fn shift(&mut self, op: BinOp, a: Value, count: u32) -> Value {
        let count = self.int(self.ty(a), i64::from(count));
        self.bin(op, a, count)
    }

    /// Granlund and Montgomery, "Division by invariant integers using multiplication" (1994), figure 4.1.
    fn div_u_const(&mut self, ty: Ty, n: Value, d: u64) -> Value {
        // The logarithm rounded up: d is no power of two.
        let l = 64 - d.leading_zeros();
        let multiplier =
            ((1u128 << ty.bits()) * ((1u128 << l) - u128::from(d)) / u128::from(d) + 1) as u64;
        let m = self.constant(ty, multiplier);
        let q = self.bin(BinOp::MulHiU, n, m);
        let rest = self.sub(n, q);
        let half = self.shift(BinOp::ShrU, rest, 1);
        let sum = self.add(half, q);
        self.shift(BinOp::ShrU, sum, l - 1)
    }

    /// The same paper, figure 5.1.
    fn div_s_const(&mut self, ty: Ty, n: Value, d: u64) -> Value {
        let d = signed(ty, d);
        let size = u128::from(d.unsigned_abs());
        let l = (128 - (size - 1).leading_zeros()).max(1);
        let multiplier = ((1u128 << (ty.bits() + l - 1)) / size + 1) as u64;
        let m = self.constant(ty, multiplier);
        let high = self.bin(BinOp::MulHiS, n, m);
        let sum = self.add(n, high);
        let shifted = self.shift(BinOp::ShrS, sum, l - 1);
        let sign = self.shift(BinOp::ShrS, n, ty.bits() - 1);
        let q = self.sub(shifted, sign);
        if d.is_negative() { self.neg(q) } else { q }
    }
}

fn minus_zero(ty: Ty) -> u64 {
    1 << (ty.bits() - 1)
}

fn float_value(ty: Ty, bits: u64) -> f64 {
    match ty {
        Ty::F32 => f64::from(f32::from_bits(bits as u32)),
        _ => f64::from_bits(bits),
    }
}

fn is_float(ty: Ty, bits: u64, x: f64) -> bool {
    float_value(ty, bits) == x
}

fn exact_product(ty: Ty, a: u64, b: u64) -> bool {
    // Only where one factor is a power of two and the product stays normal is this certain without more work.
    let product = float_value(ty, BinOp::Mul.eval(ty, a, b));
    let smallest = if ty == Ty::F32 {
        f64::from(f32::MIN_POSITIVE)
    } else {
        f64::MIN_POSITIVE
    };
    (is_power_of_two(ty, a) || is_power_of_two(ty, b))
        && product.is_finite()
        && product.abs() >= smallest
}

fn is_power_of_two(ty: Ty, bits: u64) -> bool {
    let (fraction, exponent, top) = match ty {
        Ty::F32 => (bits & 0x7f_ffff, bits >> 23 & 0xff, 0xff),
        _ => (bits & 0xf_ffff_ffff_ffff, bits >> 52 & 0x7ff, 0x7ff),
    };
    fraction == 0 && exponent != 0 && exponent != top
}

/// `1 / x` where `x` and `1 / x` are normal powers of two.
fn exact_reciprocal(ty: Ty, bits: u64) -> Option<u64> {
    let one = if ty == Ty::F32 {
        u64::from(1f32.to_bits())
    } else {
        1f64.to_bits()
    };
    let r = BinOp::Div.eval(ty, one, bits);
    (is_power_of_two(ty, bits) && is_power_of_two(ty, r)).then_some(r)
}
