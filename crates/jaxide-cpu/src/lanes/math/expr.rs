//! Lane values with operators, so that formulas read like formulas.

use super::exp::RoundedExponent;
use crate::lanes::builder::Builder;
use crate::lanes::{BinOp, Table, Ty, UnOp, Value};
use std::cell::RefCell;
use std::ops::{Add, BitAnd, BitOr, BitXor, Div, Mul, Neg, Not, Sub};

/// A lane value and the builder it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Expr<'a> {
    builder: &'a RefCell<&'a mut Builder>,
    pub(super) value: Value,
    /// Whether it is computed from numbers of single precision in double: nothing overflows or underflows on the way then that
    /// does not in the result.
    pub(super) from_single: bool,
}

/// Builds `f(x)` without contraction of products and sums: the formulas say themselves where they want it.
pub(super) fn unary(b: &mut Builder, x: Value, f: impl FnOnce(Expr<'_>) -> Value) -> Value {
    assert!(b.ty(x).is_float(), "a function of floats got {}", b.ty(x));
    b.exactly(|b| {
        f(Expr {
            builder: &RefCell::new(b),
            value: x,
            from_single: false,
        })
    })
}

/// Builds `f` in double precision, likewise: what is given as `f32` is widened, and what `f` gives is rounded to it.
pub(super) fn in_double<const N: usize, const M: usize>(
    b: &mut Builder,
    x: [Value; N],
    f: impl for<'a> FnOnce([Expr<'a>; N]) -> [Expr<'a>; M],
) -> [Value; M] {
    let single = b.ty(x[0]) == Ty::F32;
    b.exactly(|b| {
        let builder = &RefCell::new(b);
        let wide = x.map(|value| {
            let x = Expr {
                builder,
                value,
                from_single: single,
            };
            if single { x.widen() } else { x }
        });
        f(wide).map(|y| if single { y.narrow() } else { y }.value)
    })
}

/// Builds `f(x, y)`, likewise.
pub(super) fn binary(
    b: &mut Builder,
    x: Value,
    y: Value,
    f: impl for<'a> FnOnce(Expr<'a>, Expr<'a>) -> Value,
) -> Value {
    unary(b, x, |x| f(x, x.at(y)))
}

impl<'a> Expr<'a> {
    /// Another value of the same builder.
    pub(super) fn at(self, value: Value) -> Expr<'a> {
        Expr { value, ..self }
    }

    pub(super) fn ty(self) -> Ty {
        self.builder.borrow().ty(self.value)
    }

    /// Picks by precision.
    pub(super) fn by<T>(self, single: T, double: T) -> T {
        if self.ty().bits() == 32 {
            single
        } else {
            double
        }
    }

    /// A constant of the same type; a float is rounded to it, of an integer the low bits count.
    pub(super) fn constant(self, x: f64) -> Expr<'a> {
        let ty = self.ty();
        let mut b = self.builder.borrow_mut();
        let v = if ty.is_float() {
            b.float(ty, x)
        } else {
            b.int(ty, x as i64)
        };
        drop(b);
        self.at(v)
    }

    /// An integer constant of the width of this value.
    pub(super) fn int(self, x: i64) -> Expr<'a> {
        let ty = self.ty().as_int();
        let v = self.builder.borrow_mut().int(ty, x);
        self.at(v)
    }

    pub(super) fn un(self, op: UnOp, to: Ty) -> Expr<'a> {
        let v = self.builder.borrow_mut().un(op, to, self.value);
        self.at(v)
    }

    pub(super) fn bin(self, op: BinOp, other: Expr<'a>) -> Expr<'a> {
        let v = self.builder.borrow_mut().bin(op, self.value, other.value);
        self.at(v)
    }

    /// `self * b + c`, rounded once.
    pub(super) fn fma(self, b: impl Operand<'a>, c: impl Operand<'a>) -> Expr<'a> {
        let (b, c) = (b.expr(self), c.expr(self));
        let v = self.builder.borrow_mut().fma(self.value, b.value, c.value);
        self.at(v)
    }

    pub(super) fn abs(self) -> Expr<'a> {
        self.un(UnOp::Abs, self.ty())
    }

    pub(super) fn sqrt(self) -> Expr<'a> {
        self.un(UnOp::Sqrt, self.ty())
    }

    pub(super) fn floor(self) -> Expr<'a> {
        self.un(UnOp::Floor, self.ty())
    }

    pub(super) fn trunc(self) -> Expr<'a> {
        self.un(UnOp::Trunc, self.ty())
    }

    pub(super) fn round_even(self) -> Expr<'a> {
        self.un(UnOp::RoundEven, self.ty())
    }

    pub(super) fn clz(self) -> Expr<'a> {
        self.un(UnOp::Clz, self.ty())
    }

    /// The bits of a float.
    pub(super) fn bits(self) -> Expr<'a> {
        self.un(UnOp::Bitcast, self.ty().as_int())
    }

    /// The float of these bits.
    pub(super) fn as_float(self) -> Expr<'a> {
        self.un(
            UnOp::Bitcast,
            if self.ty() == Ty::I32 {
                Ty::F32
            } else {
                Ty::F64
            },
        )
    }

    /// A function of lanes of this value.
    pub(super) fn call(self, f: fn(&mut Builder, Value) -> Value) -> Expr<'a> {
        let v = f(&mut self.builder.borrow_mut(), self.value);
        self.at(v)
    }

    /// A function of lanes of this value and another.
    pub(super) fn call_with(
        self,
        f: fn(&mut Builder, Value, Value) -> Value,
        other: Expr<'a>,
    ) -> Expr<'a> {
        let v = f(&mut self.builder.borrow_mut(), self.value, other.value);
        self.at(v)
    }

    pub(super) fn is_nan(self) -> Expr<'a> {
        !self.eq(self)
    }

    /// Whether it is ±∞.
    pub(super) fn is_infinite(self) -> Expr<'a> {
        self.abs().eq(f64::INFINITY)
    }

    /// An `f32` as an `f64`.
    pub(super) fn widen(self) -> Expr<'a> {
        self.un(UnOp::FToF, Ty::F64)
    }

    /// An `f64` rounded to an `f32`.
    pub(super) fn narrow(self) -> Expr<'a> {
        self.un(UnOp::FToF, Ty::F32)
    }

    /// A signed integer as a float of the same width.
    pub(super) fn to_float(self) -> Expr<'a> {
        self.un(
            UnOp::SToF,
            if self.ty() == Ty::I32 {
                Ty::F32
            } else {
                Ty::F64
            },
        )
    }

    /// The reciprocal of a positive number within an eighth of it, by the difference of the bits, for factors of what is small itself; a finite
    /// number for 0.
    pub(super) fn rough_reciprocal(self) -> Expr<'a> {
        let magic = self.int(self.by(0x7ef3_11c7, 0x7fde_6238_5024_84ba));
        (magic.bin(BinOp::Sub, self.bits())).as_float()
    }

    /// `2^(self + times)` of an integral number, where that is normal.
    pub(super) fn power_of_two(self, times: i32) -> Expr<'a> {
        RoundedExponent::new(self + RoundedExponent::magic(self, times), times).power
    }

    /// `self * 2^n`, see [`BinOp::Scale`].
    pub(super) fn scale(self, n: Expr<'a>) -> Expr<'a> {
        self.bin(BinOp::Scale, n)
    }

    /// The same where the result may be subnormal, and `n` is at most 128 (1024 in double precision). Processors that make a subnormal number, or round to zero, in arithmetic may take
    /// hundreds of cycles for it, so that one is made as the integer that its bits are.
    pub(super) fn scale_gradual(self, n: Expr<'a>) -> Expr<'a> {
        let (least, shift) = self.by((-101.0, 100), (-997.0, 900));
        let usual = self.bin(BinOp::ScaleNormal, self.constant(least).pick_gt(n));
        let rare = || {
            let moved = self.scale(n + f64::from(shift));
            let (size, sign) = (moved.abs(), moved.sign_bits());
            // The least normal number, moved: the last place of sums up to twice as much is the last place of subnormals.
            let normal = self.constant(2f64.powi(shift + self.by(-126, -1022)));
            let subnormal = (size + normal).bits().bin(BinOp::Sub, normal.bits());
            let larger = normal.pick_gt(size) * 2f64.powi(-shift);
            let bits = size.lt(normal).select(subnormal, larger.bits());
            [(bits | sign).as_float()]
        };
        n.lt(least).rarely(rare, [usual])[0]
    }

    /// `if self < b { self } else { b }`.
    pub(super) fn pick_lt(self, b: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::PickLt, b.expr(self))
    }

    /// `if self > b { self } else { b }`.
    pub(super) fn pick_gt(self, b: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::PickGt, b.expr(self))
    }

    /// Limited to `low..=high`; NaN stays NaN.
    pub(super) fn clamp(self, low: f64, high: f64) -> Expr<'a> {
        let limited = self.constant(high).pick_lt(self);
        self.constant(low).pick_gt(limited)
    }

    /// This magnitude with the sign of `other`.
    pub(super) fn copysign(self, other: Expr<'a>) -> Expr<'a> {
        let v = self.builder.borrow_mut().copysign(self.value, other.value);
        self.at(v)
    }

    /// The sign bit of a float as bits.
    pub(super) fn sign_bits(self) -> Expr<'a> {
        self.bits() & self.sign_mask()
    }

    /// Only the top bit, as an integer of the width of this value.
    pub(super) fn sign_mask(self) -> Expr<'a> {
        self.int(self.by(i64::from(i32::MIN), i64::MIN))
    }

    /// Sign flipped where `bits` has its top bit; the other bits of `bits` must be zero.
    pub(super) fn flip(self, bits: Expr<'a>) -> Expr<'a> {
        (self.bits() ^ bits).as_float()
    }

    pub(super) fn eq(self, b: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::Eq, b.expr(self))
    }

    pub(super) fn lt(self, b: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::Lt, b.expr(self))
    }

    pub(super) fn le(self, b: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::Le, b.expr(self))
    }

    pub(super) fn gt(self, b: impl Operand<'a>) -> Expr<'a> {
        b.expr(self).bin(BinOp::Lt, self)
    }

    pub(super) fn lt_u(self, b: Expr<'a>) -> Expr<'a> {
        self.bin(BinOp::LtU, b)
    }

    /// `if self { a } else { b }` of a mask.
    pub(super) fn select(self, a: impl Operand<'a>, b: Expr<'a>) -> Expr<'a> {
        let a = a.expr(b);
        let v = self
            .builder
            .borrow_mut()
            .select(self.value, a.value, b.value);
        self.at(v)
    }

    /// A branch on a mask: `rare` where it holds, `usual` elsewhere; skipped where it holds in no lane.
    pub(super) fn rarely<const N: usize>(
        self,
        rare: impl FnOnce() -> [Expr<'a>; N],
        usual: [Expr<'a>; N],
    ) -> [Expr<'a>; N] {
        let outside = self.builder.borrow_mut().enter_arm();
        let rare = rare().map(|e| e.value);
        let mut b = self.builder.borrow_mut();
        let results = b.leave_arm(outside, self.value, &rare, &usual.map(|e| e.value));
        drop(b);
        std::array::from_fn(|k| self.at(results[k]))
    }

    /// The last of the values from this one on that `next` gives while `go_on` holds.
    pub(super) fn iterate(
        self,
        go_on: impl FnOnce(Expr<'a>) -> Expr<'a>,
        next: impl FnOnce(Expr<'a>) -> Expr<'a>,
    ) -> Expr<'a> {
        let [last] = iterate([self], |[x]| go_on(x), |[x]| [next(x)]);
        last
    }

    pub(super) fn shl(self, n: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::Shl, n.expr(self))
    }

    pub(super) fn shr_u(self, n: impl Operand<'a>) -> Expr<'a> {
        self.bin(BinOp::ShrU, n.expr(self))
    }

    pub(super) fn mul_hi_u(self, b: Expr<'a>) -> Expr<'a> {
        self.bin(BinOp::MulHiU, b)
    }

    /// An entry of a table at this index.
    pub(super) fn lookup(self, table: Table) -> Expr<'a> {
        let ty = self.ty();
        let v = self.builder.borrow_mut().lookup(table, ty, self.value);
        self.at(v)
    }

    /// The polynomial with these coefficients, the constant first. Long ones are split in even and odd powers, which halves the
    /// chain of dependent operations.
    pub(super) fn poly(self, coefficients: &[f64]) -> Expr<'a> {
        if coefficients.len() < 7 {
            return self.horner(coefficients.iter().copied());
        }
        let square = self * self;
        let even = square.horner(coefficients.iter().copied().step_by(2));
        let odd = square.horner(coefficients.iter().copied().skip(1).step_by(2));
        odd.fma(self, even)
    }

    /// The same by nested multiplication whatever the length: one operation less, and no rounding of halves that cancel.
    pub(super) fn nested(self, coefficients: &[f64]) -> Expr<'a> {
        self.horner(coefficients.iter().copied())
    }

    fn horner(self, coefficients: impl DoubleEndedIterator<Item = f64>) -> Expr<'a> {
        let mut from_last = coefficients.rev();
        let last = from_last.next().expect("a polynomial has coefficients");
        from_last.fold(self.constant(last), |p, c| p.fma(self, c))
    }
}

/// The last of the values from `init` on that `next` gives while `go_on` holds.
pub(super) fn iterate<'a, const N: usize>(
    init: [Expr<'a>; N],
    go_on: impl FnOnce([Expr<'a>; N]) -> Expr<'a>,
    next: impl FnOnce([Expr<'a>; N]) -> [Expr<'a>; N],
) -> [Expr<'a>; N] {
    let builder = init[0].builder;
    let frame = builder.borrow_mut().enter_head(&init.map(|x| x.value));
    let params: [Expr<'a>; N] = std::array::from_fn(|k| init[k].at(frame.params()[k]));
    let cond = go_on(params).value;
    let frame = builder.borrow_mut().enter_turn(frame, cond);
    let next = next(params).map(|x| x.value);
    let results = builder.borrow_mut().leave_while(frame, &next);
    std::array::from_fn(|k| init[k].at(results[k]))
}

/// What an operator takes on its right: a value, or a constant of the type of the left.
pub(super) trait Operand<'a> {
    fn expr(self, like: Expr<'a>) -> Expr<'a>;
}

impl<'a> Operand<'a> for Expr<'a> {
    fn expr(self, _: Expr<'a>) -> Expr<'a> {
        self
    }
}

impl<'a> Operand<'a> for f64 {
    fn expr(self, like: Expr<'a>) -> Expr<'a> {
        like.constant(self)
    }
}

macro_rules! operators {
    ($($trait:ident $method:ident $op:ident;)*) => {$(
        impl<'a, T: Operand<'a>> $trait<T> for Expr<'a> {
            type Output = Expr<'a>;

            fn $method(self, other: T) -> Expr<'a> {
                self.bin(BinOp::$op, other.expr(self))
            }
        }
    )*};
}

operators! {
    Add add Add;
    Sub sub Sub;
    Mul mul Mul;
    Div div Div;
    BitAnd bitand And;
    BitOr bitor Or;
    BitXor bitxor Xor;
}

impl<'a> Neg for Expr<'a> {
    type Output = Expr<'a>;

    fn neg(self) -> Expr<'a> {
        self.un(UnOp::Neg, self.ty())
    }
}

impl<'a> Not for Expr<'a> {
    type Output = Expr<'a>;

    fn not(self) -> Expr<'a> {
        self.un(UnOp::Not, self.ty())
    }
}
