//! Sine, cosine, tangent.
//!
//! Arguments are reduced by multiples of π (of π/2 for the tangent) in three parts with fused multiply-adds, which is exact enough up to
//! a limit far beyond usual arguments; what is larger takes the way of Payne and Hanek ("Radian reduction for trigonometric
//! functions", 1983), in an arm that no lane usually enters.

use super::expr::{Expr, unary};
use crate::lanes::{Builder, Table, Value};
use std::f64::consts::{FRAC_1_PI, FRAC_2_PI};

/// Sine of radians.
pub fn sin(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| sin_of(x).value)
}

/// Cosine of radians.
pub fn cos(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| cos_of(x).value)
}

/// Tangent of radians.
pub fn tan(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let magic = magic(a);
        let t = a.fma(FRAC_2_PI, magic);
        let (r, low) = subtract_multiple(a, t - magic, 0.5);
        let phase = Phase {
            doubled: true,
            minus_half: false,
        };
        let [r, low, odd] = where_huge(a, [r, low, t.bits()], phase);
        let odd = (odd & odd.int(1)).eq(odd.int(1));
        let s = r * r;
        // The tangent as n / d, the largest part added last; what r has lost enters with the derivative.
        let (n, d) = if r.by(true, false) {
            let t = r * s * s.poly(TAN_F32);
            let whole = t + r;
            (r + low.fma(whole.fma(whole, 1.0), t), r.constant(1.0))
        } else {
            let t = r * s * s.poly(SIN_QUARTER_F64);
            let half = s * 0.5;
            let most = half.constant(1.0) - half;
            let rest = most.constant(1.0) - most - half;
            let c = (s * s).fma(s.poly(COS_QUARTER_F64), rest - r * low);
            (r + low.fma(most, t), most + c)
        };
        // tan(r + π/2) = -1 / tan r
        let ratio = odd.select(-d, n) / odd.select(n, d);
        ratio.flip(x.sign_bits()).value
    })
}

/// The sine, for use inside other formulas.
pub(super) fn sin_of(x: Expr<'_>) -> Expr<'_> {
    // sin a = (-1)^k sin(a - k π)
    let a = x.abs();
    let magic = magic(a);
    let t = a.fma(FRAC_1_PI, magic);
    let (r, low) = subtract_multiple(a, t - magic, 1.0);
    let [r, _, odd] = where_huge(
        a,
        [r, low, t.bits()],
        Phase {
            doubled: false,
            minus_half: false,
        },
    );
    let flip = odd.shl(odd.int(i64::from(odd.by(31, 63)))) ^ x.bits();
    sin_reduced(r).flip(flip & x.sign_mask())
}

/// The cosine, for use inside other formulas.
pub(super) fn cos_of(x: Expr<'_>) -> Expr<'_> {
    // cos a = -(-1)^k sin(a - (k + 1/2) π)
    let a = x.abs();
    let magic = magic(a);
    let t = a.fma(FRAC_1_PI, -0.5) + magic;
    let halves = (t - magic).fma(2.0, 1.0);
    let (r, low) = subtract_multiple(a, halves, 0.5);
    let [r, _, odd] = where_huge(
        a,
        [r, low, t.bits()],
        Phase {
            doubled: false,
            minus_half: true,
        },
    );
    let flip = !odd.shl(odd.int(i64::from(odd.by(31, 63))));
    sin_reduced(r).flip(flip & x.sign_mask())
}

/// A number so large that its last place counts 1: adding it rounds to an integer, which is then in the low bits.
fn magic(x: Expr<'_>) -> Expr<'_> {
    x.constant(x.by(12582912.0, 6755399441055744.0))
}

/// `a - n * factor * π` for integral n, and what that sum has lost, as far as it matters: not near 0, where the sum is as accurate as
/// its last place and the differences below would not be exact. The first step is.
fn subtract_multiple<'a>(a: Expr<'a>, n: Expr<'a>, factor: f64) -> (Expr<'a>, Expr<'a>) {
    let [p1, p2, p3] = a
        .by(
            [
                3.1415927410125732,
                -8.742277657347586e-08,
                -3.4302490200117637e-15,
            ],
            [
                std::f64::consts::PI,
                1.2246467991473532e-16,
                -2.9947698097183397e-33,
            ],
        )
        .map(|part| part * factor);
    let minus = -n;
    let first = minus.fma(p1, a);
    let second = minus.fma(p2, first);
    let r = minus.fma(p3, second);
    let low = minus.fma(p2, first - second) + minus.fma(p3, second - r);
    (r, r.abs().lt(0.015625).select(0.0, low))
}

/// `sin r` for |r| <= π/2; of -0 it is 0. The limits take back what rounding may have put on top.
fn sin_reduced(r: Expr<'_>) -> Expr<'_> {
    let s = r * r;
    (r * s)
        .fma(s.poly(r.by(SIN_F32, SIN_F64)), r)
        .clamp(-1.0, 1.0)
}

/// Which multiple of x / π is split into integer and fraction.
struct Phase {
    /// Of 2 x / π instead.
    doubled: bool,
    /// Of x / π - 1/2 instead.
    minus_half: bool,
}

/// The reduced argument in two parts and an integer whose lowest bit tells an odd multiple, as given or, where `a` >= 0 is too large for
/// that, anew.
fn where_huge<'a>(a: Expr<'a>, usual: [Expr<'a>; 3], phase: Phase) -> [Expr<'a>; 3] {
    let huge = a.gt(a.by(200_000.0, 1_000_000_000.0));
    huge.rarely(|| reduce_huge(a, phase), usual)
}

/// The fraction, times π, in two parts and the integer next to a multiple of x / π, by multiplication with as many bits of 1/π
/// as matter. Infinity gives NaN.
fn reduce_huge(a: Expr<'_>, phase: Phase) -> [Expr<'_>; 3] {
    let width = i64::from(a.by(32, 64));
    let mantissa = i64::from(a.by(23, 52));
    let bias = a.by(127, 1023) + mantissa;
    let table = a.by(
        Table::Bits32(&ONE_OVER_PI_32),
        Table::Bits64(&ONE_OVER_PI_64),
    );
    let bits = a.bits();
    let int = |x: i64| bits.int(x);
    // a = m 2^e with an integer m.
    let m = (bits & int((1 << mantissa) - 1)) | int(1 << mantissa);
    let e = bits.shr_u(int(mantissa)) - int(bias - i64::from(phase.doubled));
    // Three words of 1/π from the bit on that makes 2^e m / π count 1; what is above makes even integers.
    let first = e + int(width - 1);
    let (word, shift) = (
        first.shr_u(int(i64::from(a.by(5, 6)))),
        first & int(width - 1),
    );
    let words: Vec<Expr<'_>> = (0..4).map(|k| (word + int(k)).lookup(table)).collect();
    let back = int(width) - shift;
    let window = |k: usize| words[k].shl(shift) | words[k + 1].shr_u(back);
    let (h0, h1, h2) = (window(0), window(1), window(2));
    // Their product with m modulo 2, as a word with one bit before the point and one behind.
    let middle = m * h1;
    let low = middle + m.mul_hi_u(h2);
    let carry = low.lt_u(middle).select(int(1), int(0));
    let high = m * h0 + m.mul_hi_u(h1) + carry;
    let quarter = int(1 << (width - 2));
    let high = if phase.minus_half {
        high - quarter
    } else {
        high
    };
    let nearest = (high + quarter).shr_u(int(width - 1));
    // The signed fraction in two words; its magnitude as a float, by its leading bits.
    let f0 = high.shl(int(1)) | low.shr_u(int(width - 1));
    let f1 = low.shl(int(1));
    let negative = f0.lt(int(0));
    let minus0 = !f0 + f1.eq(int(0)).select(int(1), int(0));
    let (g0, g1) = (negative.select(minus0, f0), negative.select(-f1, f1));
    let zeros = g0.clz();
    let top = g0.shl(zeros) | g1.shr_u(int(width) - zeros);
    // The halves of the word are exact as floats.
    let half = width / 2;
    let unit = 0.5f64.powi(half as i32);
    let upper = top.shr_u(int(half)).to_float() * unit;
    let lower = (top & int((1 << half) - 1)).to_float() * (unit * unit);
    let (pi, rest) = upper.by(
        (3.1415927410125732, -8.742277657347586e-08),
        (std::f64::consts::PI, 1.2246467991473532e-16),
    );
    let factor = if phase.doubled { 0.5 } else { 1.0 };
    let small = lower.fma(pi * factor, upper * (rest * factor));
    let sum = upper.fma(pi * factor, small);
    let lost = upper.fma(pi * factor, -sum) + small;
    let n = -zeros.to_float();
    let (sum, lost) = (sum.scale(n), lost * lost.constant(1.0).scale(n));
    let [r, low] = [sum, lost].map(|part| negative.select(-part, part));
    [a.eq(f64::INFINITY).select(f64::NAN, r), low, nearest]
}

/// (sin(r) / r - 1) / s, s = r², |r| <= π/2. The last one of the double precision set is a little larger than fitted, so that the sine
/// of π/2 does not come out below 1.
const SIN_F32: &[f64] = &[-0.1666666, 0.008333069, -0.00019809768, 2.6060538e-06];
const SIN_F64: &[f64] = &[
    -0.16666666666666666,
    0.008333333333333207,
    -0.0001984126984121248,
    2.755731921157004e-06,
    -2.5052106904555116e-08,
    1.6058941013352592e-10,
    -7.643019764172965e-13,
    2.72144e-15,
];

/// (tan(r) / r - 1) / s, |r| <= π/4.
const TAN_F32: &[f64] = &[
    0.33333352,
    0.13332583,
    0.05406865,
    0.02123861,
    0.010945544,
    -4.6186902e-05,
    0.0044418294,
];

/// (sin(r) / r - 1) / s, |r| <= π/4.
const SIN_QUARTER_F64: &[f64] = &[
    -0.16666666666666632,
    0.008333333333322455,
    -0.00019841269829813389,
    2.755731368755662e-06,
    -2.5050756711139394e-08,
    1.5896681645040227e-10,
];

/// (cos(r) - 1 + s/2) / s², |r| <= π/4.
const COS_QUARTER_F64: &[f64] = &[
    0.0416666666666666,
    -0.0013888888888874441,
    2.4801587289636317e-05,
    -2.755731438747209e-07,
    2.0875727059441014e-09,
    -1.1359802502779751e-11,
];

/// The bits of 1/π after one word of zeros.
static ONE_OVER_PI_32: [u32; 10] = [
    0x00000000, 0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0, 0x6db14acc, 0x9e21c820, 0xff28b1d5,
    0xef5de2b0, 0xdb92371d,
];
static ONE_OVER_PI_64: [u64; 21] = [
    0x0000000000000000,
    0x517cc1b727220a94,
    0xfe13abe8fa9a6ee0,
    0x6db14acc9e21c820,
    0xff28b1d5ef5de2b0,
    0xdb92371d2126e970,
    0x0324977504e8c90e,
    0x7f0ef58e5894d39f,
    0x74411afa975da242,
    0x74ce38135a2fbf20,
    0x9cc8eb1cc1a99cfa,
    0x4e422fc5defc941d,
    0x8ffc4bffef02cc07,
    0xf79788c5ad05368f,
    0xb69b3f6793e584db,
    0xa7a31fb34f2ff516,
    0xba93dd63f5f2f8bd,
    0x9e839cfbc5294975,
    0x35fdafd88fc6ae84,
    0x2b0198237e3db5d5,
    0xf867de104d7a1b0e,
];
