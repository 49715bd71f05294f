//! The exponential, and what is made of it.

use super::expr::{Expr, unary};
use super::pair::Pair;
use crate::lanes::{Builder, Value};

/// `e^x`.
pub fn exp(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // Half the smallest number and less is zero.
        let (lowest, highest) = x.by((-104.0, 88.8), (-745.2, 709.9));
        let vanishes = x.lt(lowest);
        let e = reduced(vanishes.select(0.0, x));
        let p = e.minus_one() + 1.0;
        let usual = vanishes.select(0.0, p * e.n.power_of_two(0));
        // Where the power of two is not normal, or the product may be none.
        let unusual = e.n.abs().gt(x.by(125.0, 1021.0));
        let rare = || {
            let result = p.scale_gradual(e.n);
            [x.gt(highest).select(f64::INFINITY, result)]
        };
        let [result] = unusual.rarely(rare, [usual]);
        result.value
    })
}

/// `e^x` that is rounded to `f16` afterwards: that has no numbers for exponents whose power of two were not normal, so there are no special cases.
pub fn exp_f16(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // Less is 0 there, and more is infinite.
        let e = reduced(x.clamp(-25.0, 16.0));
        ((e.minus_one() + 1.0) * e.n.power_of_two(0)).value
    })
}

/// `2^x`.
pub fn exp2(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // Where the result is zero or infinite by a margin; NaN passes.
        let x = x.by(x.clamp(-151.0, 128.0), x.clamp(-1076.0, 1024.0));
        let n = x.round_even();
        let r = x - n;
        let p = r.poly(r.by(EXP2_F32, EXP2_F64)).fma(r, 1.0);
        p.scale_gradual(n).value
    })
}

/// `e^x - 1`, accurate near 0.
pub fn expm1(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| expm1_of(x).value)
}

/// `1 / (1 + e^-x)`.
pub fn logistic(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        // e^-|x| = 2^n (1 + c) does not overflow, and z = 1 / (1 + e^-|x|) is at least 1/2.
        let a = (x.bits() | x.sign_mask()).as_float();
        let e = reduced(x.constant(x.by(-104.5, -746.0)).pick_gt(a));
        let c = (e.r * e.r).fma(e.finer_rest(), e.r);
        // Where it is less, it is nothing beside 1, and results that have it as a factor are made from their bits.
        let power = x
            .constant(x.by(-123.0, -1018.0))
            .pick_gt(e.n)
            .power_of_two(0);
        let p = c + 1.0;
        let one = x.constant(1.0);
        let z = one / power.fma(p, 1.0);
        // What z lacks, 1 - z (1 + 2^n + 2^n c) in units of z, where only the last operation rounds.
        let scaled = power * z;
        let rest = (-scaled).fma(c, (one - z) - scaled);
        // z, or z e^-|x|: the largest part added last, the power of two multiplied after that.
        let negative = x.lt(0.0);
        let rest = negative.select(rest.fma(p, c), rest);
        let result = z.fma(rest, z);
        let usual = result * negative.select(power, one);
        let rare = || [negative.select(result.scale_gradual(e.n), result)];
        x.lt(x.by(-85.0, -705.0)).rarely(rare, [usual])[0].value
    })
}

/// Hyperbolic sine.
pub fn sinh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let s = x * x;
        let near = (a * s).fma(s.poly(x.by(SINH_F32, SINH_F64)), a);
        let result = a.lt(1.0).select(near, half_of_exponentials(a, -1.0));
        result.flip(x.sign_bits()).value
    })
}

/// Hyperbolic cosine.
pub fn cosh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let far = half_of_exponentials(a, 1.0);
        if x.by(false, true) {
            return far.value;
        }
        // The reciprocal of an exponential near 1 adds a third of a unit to the error.
        let s = x * x;
        let near = s.fma(s.poly(COSH_F32), 1.0);
        a.lt(0.5).select(near, far).value
    })
}

/// Hyperbolic tangent.
pub fn tanh(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let result = if x.by(true, false) {
            tanh_single(a)
        } else {
            tanh_double(a)
        };
        result.flip(x.sign_bits()).value
    })
}

/// The hyperbolic tangent in single precision: a polynomial up to 1, and 1 - 1 / (e^2|x| / 2 + 1/2) from there on, where errors of the
/// quotient count less and less.
fn tanh_single(a: Expr<'_>) -> Expr<'_> {
    let s = a * a;
    let near = (a * s).fma(s.nested(TANH_F32), a);
    // From 9.1 on the result is 1. One digit of 2 / ln 2 is enough, because the quotient falls faster than the exponent's error grows.
    let limited = a.constant(9.1).pick_lt(a);
    let factor = 2.0 * std::f64::consts::LOG2_E;
    let y = RoundedExponent::new(limited.fma(factor, RoundedExponent::magic(a, -1)), -1);
    let c = exp2_minus_one(limited.fma(factor, -y.n));
    let far = a.constant(1.0) - a.constant(1.0) / y.power.fma(c, y.power + 0.5);
    a.lt(1.0).select(near, far)
}

/// The hyperbolic tangent in double precision, where such a polynomial would be long: n / (n + 2) with n = e^2a - 1.
fn tanh_double(a: Expr<'_>) -> Expr<'_> {
    // From 20 on it is 1.
    let limited = a.constant(20.0).pick_lt(a);
    let factor = 2.0 * std::f64::consts::LOG2_E;
    let y = RoundedExponent::new(limited.fma(factor, RoundedExponent::magic(a, 1)), 1);
    // 2a = k ln 2 + 2r without the smaller part of the logarithm, exactly; that part is taken from the rest of e^2r.
    let r = (-y.n).fma(std::f64::consts::LN_2 / 2.0, limited);
    let s = r * r;
    let rest = (-y.n).fma(ln_2_rest(a) / 2.0, s * r.poly(EXPM1_OF_TWICE_F64));
    // n = 2^k - 1 + 2^(k + 1) (r + rest), where what is added first is exact as long as n is small; then what its rounding loses, and that of n + 2.
    let first = y.power.fma(r, y.power.fma(0.5, -1.0));
    let n = y.power.fma(rest, first);
    let n_lost = y.power.fma(rest, first - n);
    let d = n + 2.0;
    let d_lost = (n - (d - 2.0)) + n_lost;
    let q = n / d;
    (-q).fma(d_lost, n_lost).fma(d.rough_reciprocal(), q)
}

/// An integer of moderate size, and 2 to it times a power of two, without limits or scaling.
pub(super) struct RoundedExponent<'a> {
    pub(super) n: Expr<'a>,
    pub(super) power: Expr<'a>,
}

impl<'a> RoundedExponent<'a> {
    /// What to add to a number in order to round it for [`RoundedExponent::new`]: the last place counts 1, and the low bits are
    /// the exponent's field of a power of two.
    pub(super) fn magic(x: Expr<'_>, times: i32) -> f64 {
        x.by(12_582_912.0 + 127.0, 6_755_399_441_055_744.0 + 1023.0) + f64::from(times)
    }

    /// The integer n in a sum with the magic number, and 2^(n + times).
    pub(super) fn new(sum: Expr<'a>, times: i32) -> RoundedExponent<'a> {
        let bits = sum.bits();
        RoundedExponent {
            n: sum - RoundedExponent::magic(sum, times),
            power: bits.shl(bits.int(sum.by(23, 52))).as_float(),
        }
    }
}

/// `2^r - 1` for |r| <= 1/2.
pub(super) fn exp2_minus_one(r: Expr<'_>) -> Expr<'_> {
    r * r.poly(r.by(EXP2_F32, EXP2_F64))
}

/// `e^x`, for use inside other formulas.
pub(super) fn exp_of(x: Expr<'_>) -> Expr<'_> {
    let (p, n) = exp_parts(x);
    p.scale_gradual(n)
}

/// `e^x = p * 2^n` with p in [0.75, 1.5], or both zero or both infinite.
pub(super) fn exp_parts(x: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let e = reduced(exp_limited(x));
    (e.minus_one() + 1.0, e.n)
}

/// As [`exp_parts`], p in two parts of which the lower is below 0.1.
pub(super) fn exp_pair(x: Expr<'_>) -> (Pair<'_>, Expr<'_>) {
    let e = reduced(exp_limited(x));
    let tail = (e.r * e.r).fma(e.rest(), e.lost());
    (Pair::ordered_sum(e.r.constant(1.0), e.r).plus(tail), e.n)
}

/// Where the exponential is zero or infinite by a margin; NaN passes.
fn exp_limited(x: Expr<'_>) -> Expr<'_> {
    x.by(x.clamp(-104.5, 88.8), x.clamp(-746.0, 709.9))
}

/// `(e^a + sign e^-a) / 2`, for a sign of ±1 and a >= 1/2 (in double precision also below, where nothing cancels).
fn half_of_exponentials(a: Expr<'_>, sign: f64) -> Expr<'_> {
    let e = reduced(a.constant(a.by(90.0, 711.0)).pick_lt(a));
    let (q, square) = (e.rest(), e.r * e.r);
    // A quarter of it, with t = e^a / 8 (1 + c): t + t r + t r² q ± 1 / 64 t (1 + c), the largest part added last.
    let t = e.n.power_of_two(-3);
    // Where t is large, the reciprocal is nothing beside it.
    let limited = t.constant(2f64.powi(64)).pick_lt(t);
    let reciprocal = a.constant(sign / 64.0) / limited.fma(square.fma(q, e.r), limited);
    (t.fma(e.r, (t * square).fma(q, reciprocal)) + t) * 4.0
}

/// `x = n ln 2 + r` with integral n and r from ln 3/4 to ln 3/2: there `e^r - 1` is from -1/4 to 1/2, whose roundings count least in `e^r`.
pub(super) struct Reduced<'a> {
    /// x less the larger part of n ln 2, exactly.
    first: Expr<'a>,
    r: Expr<'a>,
    pub(super) n: Expr<'a>,
}

fn reduced(x: Expr<'_>) -> Reduced<'_> {
    let n = integral(x, 0.0);
    let first = less_ln_2(x, n);
    let r = (-n).fma(ln_2_rest(x), first);
    Reduced { first, r, n }
}

/// `e^(x + constant + small)` of a tiny `small`: factors near 1 are added to the exponent, where they cost less than products of two parts.
pub(super) fn exponential<'a>(x: Expr<'a>, constant: f64, small: Expr<'a>) -> Reduced<'a> {
    let n = integral(x, constant);
    let first = less_ln_2(x, n) + constant;
    let r = first + (-n).fma(ln_2_rest(x), small);
    Reduced { first, r, n }
}

/// The multiple of ln 2 in `x + constant`.
fn integral(x: Expr<'_>, constant: f64) -> Expr<'_> {
    // It is 1/2 - log₂ 3/2 that is added.
    let shift = constant * std::f64::consts::LOG2_E - 0.08496250072115618;
    x.fma(std::f64::consts::LOG2_E, shift).round_even()
}

/// x less the larger part of n ln 2, exactly.
fn less_ln_2<'a>(x: Expr<'a>, n: Expr<'a>) -> Expr<'a> {
    (-n).fma(x.by(0.69314718, 0.6931471805599453), x)
}

impl<'a> Reduced<'a> {
    /// `e^r - 1`.
    pub(super) fn minus_one(&self) -> Expr<'a> {
        (self.r * self.r).fma(self.rest(), self.r)
    }

    /// `(e^r - 1 - r) / r²`.
    fn rest(&self) -> Expr<'a> {
        self.r.poly(self.r.by(EXP_F32, EXP_F64))
    }

    /// The same relative to `e^r - 1`, and not to `e^r`.
    fn finer_rest(&self) -> Expr<'a> {
        self.r.poly(self.r.by(EXPM1_F32, EXP_F64))
    }

    /// What `r` has lost.
    fn lost(&self) -> Expr<'a> {
        (-self.n).fma(ln_2_rest(self.r), self.first - self.r)
    }
}

fn ln_2_rest(x: Expr<'_>) -> f64 {
    x.by(-1.9046542e-9, 2.3190468138462996e-17)
}

/// `(e^x - 1) / 4`, finite wherever that is, infinite when multiplied by 4 where e^x is; -0 becomes 0.
fn quarter_expm1(x: Expr<'_>) -> Expr<'_> {
    let e = reduced(x.by(x.clamp(-30.0, 89.7), x.clamp(-60.0, 710.7)));
    let t = e.n.power_of_two(-2);
    let start = t - 0.25;
    let start_rest = (t - start) - 0.25;
    // t e^r - 1/4 = start + t r + t r² q, the largest part added last.
    let tail = (t * (e.r * e.r)).fma(e.finer_rest(), start_rest);
    t.fma(e.r, tail) + start
}

fn expm1_of(x: Expr<'_>) -> Expr<'_> {
    own_value_if_tiny(x, quarter_expm1(x) * 4.0)
}

/// `x` itself where x² is nothing beside it: the formula loses the last bits of subnormals and the sign of zero there.
fn own_value_if_tiny<'a>(x: Expr<'a>, result: Expr<'a>) -> Expr<'a> {
    x.abs().lt(x.constant(x.by(1e-10, 1e-20))).select(x, result)
}

/// (e^r - 1 - r) / r², ln 3/4 <= r <= ln 3/2.
const EXP_F32: &[f64] = &[
    0.50000006,
    0.16666609,
    0.041661114,
    0.008355879,
    0.0014559125,
];
const EXP_F64: &[f64] = &[
    0.5,
    0.16666666666666977,
    0.04166666666667089,
    0.00833333333289304,
    0.0013888888888005282,
    0.00019841271564985136,
    2.4801577406248342e-05,
    2.7554757431662826e-06,
    2.7587065864859213e-07,
    2.6361273221490935e-08,
];

/// The same, relative to e^r - 1.
const EXPM1_F32: &[f64] = &[
    0.5,
    0.16666669,
    0.041666582,
    0.008332319,
    0.0013918134,
    0.00020829364,
];

/// (e^2r - 1 - 2r) / 2r², |r| <= (ln 2) / 4, relative to e^2r - 1.
const EXPM1_OF_TWICE_F64: &[f64] = &[
    1.0000000000000004,
    0.6666666666666639,
    0.33333333333278165,
    0.1333333333342222,
    0.04444444456418619,
    0.012698412617435463,
    0.003174593341347188,
    0.0007054698359006292,
    0.00014143620894620002,
    2.5651405032001925e-05,
];

/// (2^r - 1) / r, |r| <= 1/2, relative to 2^r.
const EXP2_F32: &[f64] = &[
    0.69314724,
    0.24022655,
    0.055502728,
    0.009617065,
    0.0013417924,
    0.00015821359,
];
const EXP2_F64: &[f64] = &[
    0.6931471805599453,
    0.2402265069591007,
    0.05550410866482338,
    0.009618129107630224,
    0.001333355814603347,
    0.0001540353038890964,
    1.5252734167053788e-05,
    1.3215491309461035e-06,
    1.0177934049638336e-07,
    7.053168472288809e-09,
    4.4725751856416385e-10,
    2.7844519652940625e-11,
];

/// (sinh(x) / x - 1) / s, s = x² <= 1.
const SINH_F32: &[f64] = &[0.16666667, 0.008333315, 0.00019841666, 2.7899841e-06];
const SINH_F64: &[f64] = &[
    0.16666666666666669,
    0.008333333333332969,
    0.0001984126984153284,
    2.7557319129808488e-06,
    2.5052126949646087e-08,
    1.6056993222626063e-10,
    7.766116353768402e-13,
];

/// (cosh(x) - 1) / s, s = x² <= 1/4.
const COSH_F32: &[f64] = &[0.5, 0.041665986, 0.0013975943];

/// (tanh(x) / x - 1) / s, s = x² <= 1.
const TANH_F32: &[f64] = &[
    -0.33333334,
    0.13333356,
    -0.05396851,
    0.0218544,
    -0.008759733,
    0.0032890385,
    -0.0009790054,
    0.00015774871,
];
