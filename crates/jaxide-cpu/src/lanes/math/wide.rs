//! Numbers of about 32 digits, as unevaluated sums of two of double precision (T. Dekker, "A floating-point technique for extending the
//! available precision", 1971), for formulas whose terms cancel or whose exponentials magnify errors: the interpreter's, in lanes.
//!
//! Only finite numbers: where an operation overflows, the result is NaN.

use super::expr::{Expr, iterate};
use super::log::{log_of, split};
use super::pair::Pair;
use std::ops::{Add, Div, Mul, Neg, Sub};

/// `high + low`, where `high` is the sum rounded.
#[derive(Clone, Copy)]
pub(super) struct Wide<'a> {
    pub(super) high: Expr<'a>,
    pub(super) low: Expr<'a>,
}

impl<'a> From<Pair<'a>> for Wide<'a> {
    fn from(Pair { high, low }: Pair<'a>) -> Wide<'a> {
        Wide { high, low }
    }
}

impl<'a> From<Expr<'a>> for Wide<'a> {
    fn from(high: Expr<'a>) -> Wide<'a> {
        Pair::exact(high).into()
    }
}

impl<'a> Wide<'a> {
    pub(super) fn new(high: Expr<'a>, low: Expr<'a>) -> Wide<'a> {
        Wide { high, low }
    }

    /// A constant, rounded to double precision and what that misses.
    pub(super) fn constant(like: Expr<'a>, (high, low): (f64, f64)) -> Wide<'a> {
        Wide::new(like.constant(high), like.constant(low))
    }

    /// The sum of two numbers, exactly.
    pub(super) fn sum(a: Expr<'a>, b: Expr<'a>) -> Wide<'a> {
        Pair::sum(a, b).into()
    }

    /// `if mask { a } else { b }`.
    pub(super) fn select(mask: Expr<'a>, a: Wide<'a>, b: Wide<'a>) -> Wide<'a> {
        Wide::new(mask.select(a.high, b.high), mask.select(a.low, b.low))
    }

    /// Rounded to double precision.
    pub(super) fn value(self) -> Expr<'a> {
        self.high + self.low
    }

    /// Times a power of two.
    pub(super) fn scale(self, power: f64) -> Wide<'a> {
        Wide::new(self.high * power, self.low * power)
    }

    /// Plus a number of double precision.
    pub(super) fn plus(self, x: Expr<'a>) -> Wide<'a> {
        let high = Pair::sum(self.high, x);
        Pair::ordered_sum(high.high, high.low + self.low).into()
    }

    /// Times a number of double precision.
    pub(super) fn times(self, x: Expr<'a>) -> Wide<'a> {
        let product = Pair::product(self.high, x);
        Pair::ordered_sum(product.high, self.low.fma(x, product.low)).into()
    }

    /// The sum where both have one sign, or the result is not much smaller than they are.
    pub(super) fn near_sum(self, other: Wide<'a>) -> Wide<'a> {
        let high = Pair::sum(self.high, other.high);
        Pair::ordered_sum(high.high, high.low + (self.low + other.low)).into()
    }

    /// The quotient, with one division: neither the divisor nor its reciprocal is out of range.
    pub(super) fn over(self, other: Wide<'a>) -> Wide<'a> {
        let reciprocal = self.high.constant(1.0) / other.high;
        let first = self.high * reciprocal;
        let rest = self - other.times(first);
        let second = rest.high * reciprocal;
        let rest = rest - other.times(second);
        let third = rest.high * reciprocal;
        Wide::from(Pair::ordered_sum(first, second)).plus(third)
    }

    /// e to this number: 0 where that is below the smallest number, and infinite beyond the largest.
    pub(super) fn exp(self) -> Wide<'a> {
        let (zero, one) = (self.high.constant(0.0), self.high.constant(1.0));
        let n = self.high.clamp(-746.0, 711.0) * std::f64::consts::LOG2_E;
        let n = n.round_even();
        let reduced = self - Wide::constant(n, LN_2).times(n);
        let result = reduced.expm1_reduced().plus(one);
        // In two steps, for the ends of the range.
        let half = (n * 0.5).trunc();
        let (first, second) = (one.scale(half), one.scale(n - half));
        let scaled = |x: Expr<'a>| x * first * second;
        let (below, above) = (self.high.lt(-746.0), self.high.gt(710.0));
        let high = above.select(f64::INFINITY, scaled(result.high));
        let high = below.select(zero, high);
        Wide::new(high, (below | above).select(zero, scaled(result.low)))
    }

    /// `e^self - 1`, relative to itself, for numbers up to 700.
    pub(super) fn expm1(self) -> Wide<'a> {
        let one = self.high.constant(1.0);
        let near = self.high.abs().lt(0.4);
        let limited = Wide::new(
            near.select(self.high, one.constant(0.0)),
            near.select(self.low, one.constant(0.0)),
        );
        let result = Wide::select(near, limited.expm1_reduced(), self.exp().plus(-one));
        // Next to the smallest numbers there are no digits for a 64th.
        Wide::select(self.high.abs().lt(1e-40), self, result)
    }

    /// `e^self - 1` for |self| < 0.42: the power series of a 64th, and e^2r - 1 = m (m + 2) six times.
    fn expm1_reduced(self) -> Wide<'a> {
        let r = self.scale(1.0 / 64.0);
        let last = Wide::from(r.high.nested(&FACTORIALS));
        let sum = (WIDE_FACTORIALS.iter().rev()).fold(last, |sum, &c| {
            (sum * r).near_sum(Wide::constant(r.high, c))
        });
        (0..6).fold(sum * r, |m, _| (m * m).near_sum(m.scale(2.0)))
    }

    /// The natural logarithm of a positive number, by one step of Halley's iteration.
    pub(super) fn log(self) -> Wide<'a> {
        // self = m 2^e with m between 2/3 and 3/2.
        let (m, e) = split(self.high);
        let m = Wide::new(m, m * (self.low / self.high));
        let start = log_of(m.high);
        let power = Wide::from(start).expm1_reduced();
        let power = power.plus(start.constant(1.0));
        let correction = (m - power).value() / (m + power).value();
        let own = Wide::from(Pair::ordered_sum(start, correction * 2.0));
        Wide::constant(e, LN_2).times(e) + own
    }

    /// ln Γ of a positive number.
    pub(super) fn lgamma(self) -> Wide<'a> {
        // ln Γ(z) = ln Γ(z + n) - ln (z (z + 1) … (z + n - 1))
        let one = self.high.constant(1.0);
        let (z, product) = self.far(one.into(), |product, z| product * z);
        let y = Wide::from(one).over(z);
        // B₂ₖ / (2k (2k - 1)) (DLMF 5.11.1).
        let tail = series(y * y, &WIDE_STIRLING, &STIRLING);
        let log_z = z.log();
        let main = z.plus(one.constant(-0.5)) * log_z - z + Wide::constant(one, HALF_LN_2_PI);
        main + tail * y - product.log()
    }

    /// ψ of a positive number.
    pub(super) fn digamma(self) -> Wide<'a> {
        let one = self.high.constant(1.0);
        let (z, sum) = self.far(one.constant(0.0).into(), |sum, z| {
            sum.near_sum(Wide::from(one).over(z))
        });
        let y = Wide::from(one).over(z);
        let square = y * y;
        // B₂ₖ / 2k (DLMF 5.11.2).
        let tail = series(square, &WIDE_PSI, &PSI);
        z.log() - y.scale(0.5) - tail * square - sum
    }

    /// This number plus the whole number that makes it at least 32, and what `add` makes of the numbers on the way.
    fn far(
        self,
        start: Wide<'a>,
        add: impl Fn(Wide<'a>, Wide<'a>) -> Wide<'a>,
    ) -> (Wide<'a>, Wide<'a>) {
        let [zh, zl, h, l] = iterate(
            [self.high, self.low, start.high, start.low],
            |[z, ..]| z.lt(32.0),
            |[zh, zl, h, l]| {
                let z = Wide::new(zh, zl);
                let next = z.plus(zh.constant(1.0));
                let collected = add(Wide::new(h, l), z);
                [next.high, next.low, collected.high, collected.low]
            },
        );
        (Wide::new(zh, zl), Wide::new(h, l))
    }
}

/// The polynomial with these coefficients, the constant first, whose last ones count little.
fn series<'a>(x: Wide<'a>, first: &[(f64, f64)], last: &[f64]) -> Wide<'a> {
    let last = Wide::from(x.high.nested(last));
    first.iter().rev().fold(last, |sum, &c| {
        (sum * x).near_sum(Wide::constant(x.high, c))
    })
}

impl<'a> Neg for Wide<'a> {
    type Output = Wide<'a>;

    fn neg(self) -> Wide<'a> {
        Wide::new(-self.high, -self.low)
    }
}

impl<'a> Add for Wide<'a> {
    type Output = Wide<'a>;

    fn add(self, other: Wide<'a>) -> Wide<'a> {
        let high = Pair::sum(self.high, other.high);
        let low = Pair::sum(self.low, other.low);
        let first = Pair::ordered_sum(high.high, high.low + low.high);
        Pair::ordered_sum(first.high, first.low + low.low).into()
    }
}

impl<'a> Sub for Wide<'a> {
    type Output = Wide<'a>;

    fn sub(self, other: Wide<'a>) -> Wide<'a> {
        self + -other
    }
}

impl<'a> Mul for Wide<'a> {
    type Output = Wide<'a>;

    fn mul(self, other: Wide<'a>) -> Wide<'a> {
        let product = Pair::product(self.high, other.high);
        let low = self
            .high
            .fma(other.low, self.low.fma(other.high, product.low));
        Pair::ordered_sum(product.high, low).into()
    }
}

impl<'a> Div for Wide<'a> {
    type Output = Wide<'a>;

    fn div(self, other: Wide<'a>) -> Wide<'a> {
        self.over(other)
    }
}

/// ln 2.
const LN_2: (f64, f64) = (std::f64::consts::LN_2, 2.3190468138462996e-17);

/// ½ ln 2π.
const HALF_LN_2_PI: (f64, f64) = (0.9189385332046728, -3.8782941580672416e-17);

/// 1 / (n + 1)! from n = 0 on.
const WIDE_FACTORIALS: [(f64, f64); 5] = [
    (1.0, 0.0),
    (0.5, 0.0),
    (0.16666666666666666, 9.25185853854297e-18),
    (0.041666666666666664, 2.3129646346357427e-18),
    (0.008333333333333333, 1.1564823173178714e-19),
];

/// The same from n = 5 on.
const FACTORIALS: [f64; 7] = [
    0.001388888888888889,
    0.0001984126984126984,
    2.48015873015873e-05,
    2.7557319223985893e-06,
    2.755731922398589e-07,
    2.505210838544172e-08,
    2.08767569878681e-09,
];

/// B₂ₖ / (2k (2k - 1)) from k = 1 on.
const WIDE_STIRLING: [(f64, f64); 4] = [
    (0.08333333333333333, 4.625929269271485e-18),
    (-0.002777777777777778, 1.0601087908747154e-19),
    (0.0007936507936507937, 6.883823317368282e-22),
    (-0.0005952380952380953, 5.36938218754726e-20),
];

/// The same from k = 5 on.
const STIRLING: [f64; 9] = [
    0.0008417508417508417,
    -0.0019175269175269176,
    0.00641025641025641,
    -0.029550653594771242,
    0.17964437236883057,
    -1.3924322169059011,
    13.402864044168393,
    -156.84828462600203,
    2193.1033333333335,
];

/// B₂ₖ / 2k from k = 1 on.
const WIDE_PSI: [(f64, f64); 4] = [
    (0.08333333333333333, 4.625929269271485e-18),
    (-0.008333333333333333, -1.1564823173178714e-19),
    (0.003968253968253968, 2.20282346155785e-19),
    (-0.004166666666666667, -5.782411586589357e-20),
];

/// The same from k = 5 on.
const PSI: [f64; 9] = [
    0.007575757575757576,
    -0.021092796092796094,
    0.08333333333333333,
    -0.4432598039215686,
    3.0539543302701198,
    -26.456212121212122,
    281.46014492753625,
    -3607.5105463980462,
    54827.583333333336,
];
