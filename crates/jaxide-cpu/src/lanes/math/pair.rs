//! Numbers in two parts, which together have about twice the digits (T. Dekker, "A floating-point technique for extending the available
//! precision", 1971). With the largest part of a result added last, the roundings before it hardly count.

use super::expr::Expr;

/// `high + low`, where `low` is small beside `high`.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) high: Expr<'a>,
    pub(super) low: Expr<'a>,
}

impl<'a> Pair<'a> {
    pub(super) fn new(high: Expr<'a>, low: Expr<'a>) -> Pair<'a> {
        Pair { high, low }
    }

    /// A number as it is.
    pub(super) fn exact(high: Expr<'a>) -> Pair<'a> {
        Pair::new(high, high.constant(0.0))
    }

    /// A constant, rounded to the type and what that misses.
    pub(super) fn constant(like: Expr<'a>, high: f64, low: f64) -> Pair<'a> {
        let rounded = like.by(f64::from(high as f32), high);
        Pair::new(like.constant(rounded), like.constant(high - rounded + low))
    }

    /// `a + b` exactly, where |a| >= |b| or a is 0.
    pub(super) fn ordered_sum(a: Expr<'a>, b: Expr<'a>) -> Pair<'a> {
        let sum = a + b;
        Pair::new(sum, b - (sum - a))
    }

    /// `a + b` exactly.
    pub(super) fn sum(a: Expr<'a>, b: Expr<'a>) -> Pair<'a> {
        let sum = a + b;
        let part = sum - a;
        Pair::new(sum, (a - (sum - part)) + (b - part))
    }

    /// `a * b` exactly.
    pub(super) fn product(a: Expr<'a>, b: Expr<'a>) -> Pair<'a> {
        let product = a * b;
        Pair::new(product, a.fma(b, -product))
    }

    /// The square root of a positive number.
    pub(super) fn sqrt(self) -> Pair<'a> {
        let root = self.high.sqrt();
        let rest = (-root).fma(root, self.high) + self.low;
        // The root of 0 is 0.
        let twice = (root + root).pick_gt(root.by(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE));
        Pair::new(root, rest / twice)
    }

    /// `self / d`, with one division; neither `d` nor its reciprocal out of range.
    pub(super) fn over(self, d: Pair<'a>) -> Pair<'a> {
        let reciprocal = d.high.constant(1.0) / d.high;
        let q = self.high * reciprocal;
        let rest = (-q).fma(d.high, self.high) + (self.low - q * d.low);
        Pair::new(q, rest * reciprocal)
    }

    /// The same number with the high part rounded from both, where it is the larger by far.
    pub(super) fn normal(self) -> Pair<'a> {
        Pair::ordered_sum(self.high, self.low)
    }

    /// With something small added.
    pub(super) fn plus(self, small: Expr<'a>) -> Pair<'a> {
        Pair::new(self.high, self.low + small)
    }

    /// The sum of a number that is 0 or has the larger high part, and another.
    pub(super) fn plus_pair(self, small: Pair<'a>) -> Pair<'a> {
        Pair::ordered_sum(self.high, small.high).plus(self.low + small.low)
    }

    /// Signs flipped where `bits` has its top bit; the other bits of `bits` must be zero.
    pub(super) fn flip(self, bits: Expr<'a>) -> Pair<'a> {
        Pair::new(self.high.flip(bits), self.low.flip(bits))
    }

    pub(super) fn value(self) -> Expr<'a> {
        self.high + self.low
    }
}

/// `if mask { a } else { b }` of both parts.
pub(super) fn select<'a>(mask: Expr<'a>, a: Pair<'a>, b: Pair<'a>) -> Pair<'a> {
    Pair::new(mask.select(a.high, b.high), mask.select(a.low, b.low))
}
