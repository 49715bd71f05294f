//! Sine, cosine, tangent.
//!
//! Arguments are reduced by multiples of π/2 in two parts with fused multiply-adds, which is exact enough away from the
//! multiples, as near as they come where arguments are moderate. Other arguments take the way of Payne and Hanek ("Radian reduction for
//! trigonometric functions", 1983), in an arm that no lane usually enters.

use super::expr::{Expr, unary};
use super::pair::{Pair, select};
use crate::lanes::{Builder, Entries, Table, TableData, Value};
use std::f64::consts::FRAC_2_PI;

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
        let [r, low, quarter] = reduce(x);
        let odd = is_odd(quarter);
        if x.by(true, false) {
            return tan_single(r, low, odd).value;
        }
        // The sum of the parts would make -0 to 0.
        let result = tan_reduced(Pair::new(r, -low), odd).value();
        let result = result.flip(quarter.shl(top_bit(quarter)));
        r.eq(0.0).select(r, result).value
    })
}

/// The sine, for use inside other formulas.
pub(super) fn sin_of(x: Expr<'_>) -> Expr<'_> {
    let [r, low, quarter] = reduce(x);
    sine_at(r, low, quarter)
}

/// The cosine, for use inside other formulas.
pub(super) fn cos_of(x: Expr<'_>) -> Expr<'_> {
    let [r, low, quarter] = reduce(x);
    sine_at(r, low, quarter + quarter.int(1))
}

/// `sin(r - low + quarter π/2)`.
fn sine_at<'a>(r: Expr<'a>, low: Expr<'a>, quarter: Expr<'a>) -> Expr<'a> {
    let s = r * r;
    // r less something positive or 0, which keeps the sign of 0.
    let sine = r - (-(r * s)).fma(s.nested(r.by(SIN_F32, SIN_F64)), low);
    // 1 - s/2 + … - r low, by a factor of r.
    let half = s.nested(r.by(COS_F32, COS_F64)).fma(s, -0.5);
    let cosine = r.fma(r.fma(half, low), 1.0);
    // The second bit counts half turns.
    let half_turn = (quarter & quarter.int(2)).shl(top_bit(quarter) - quarter.int(1));
    is_odd(quarter).select(cosine, sine).flip(half_turn)
}

/// `tan(r - low)` or, where `odd`, the negative of its reciprocal, in single precision.
fn tan_single<'a>(r: Expr<'a>, low: Expr<'a>, odd: Expr<'a>) -> Expr<'a> {
    // r K + r Q(r²) with K in the middle, so that the second term and its roundings are small. `low` enters with the
    // derivative, nearly.
    let s = r * r;
    let most = r * TAN_MIDDLE;
    let lost = low.fma(s.fma(1.6, 1.0), (-r).fma(TAN_MIDDLE, most));
    // What the square has lost counts with the derivative of Q, about 0.6 where it counts most.
    let q = r.fma(r, -s).fma(0.6, s.nested(TAN_F32));
    let less = (-r).fma(q, lost);
    let tangent = most - less;
    let rest = (most - tangent) - less;
    // -1 / tan, with its residue.
    let inverse = r.constant(-1.0) / tangent;
    let residue = inverse.fma(rest, inverse.fma(tangent, 1.0));
    odd.select(inverse.fma(residue, inverse), tangent)
}

/// `tan r` for |r| <= π/4 or, where `odd`, the negative of `tan(r + π/2) = -1 / tan r`.
pub(super) fn tan_reduced<'a>(r: Pair<'a>, odd: Expr<'a>) -> Pair<'a> {
    // What the square in the cosine has lost counts where both roundings do.
    let square = Pair::product(r.high, r.high);
    let cosine = cosine_reduced(r).plus(square.low * -0.5).normal();
    let sine = sine_reduced(r).normal();
    select(odd, cosine, sine).over(select(odd, sine, cosine))
}

/// Where an integer is odd.
fn is_odd(n: Expr<'_>) -> Expr<'_> {
    (n & n.int(1)).eq(n.int(1))
}

/// The number of the top bit.
fn top_bit(n: Expr<'_>) -> Expr<'_> {
    n.int(i64::from(n.by(31, 63)))
}

/// `x` less the nearest multiple of π/2 in two parts, the second one to be subtracted and small (+0 where x is 0), and an integer whose two
/// lowest bits tell which multiple.
fn reduce(x: Expr<'_>) -> [Expr<'_>; 3] {
    let magic = magic(x);
    let t = x.fma(FRAC_2_PI, magic);
    let n = t - magic;
    // π/2 in two parts from below, 2^-49 and 2^-109 less than it.
    let (p1, p2) = x.by(
        (1.570796251296997, 7.549790126404332e-08),
        (std::f64::consts::FRAC_PI_2, 6.123233995736766e-17),
    );
    let minus = -n;
    // The first step is exact.
    let first = minus.fma(p1, x);
    let r = minus.fma(p2, first);
    // The difference is exact unless the second step cancels the first, next to a multiple of π/2, where the two parts are also too few.
    // From some point on every number is next to one, before n is no longer exact. In single precision the factor of x makes n
    // another one than the nearest before that, and r larger than π/4.
    let low = n.fma(p2, r - first);
    let a = x.abs();
    let near = r.abs().lt(a * x.by(4e-7, 1e-13));
    let rare = if x.by(true, false) {
        near | a.gt(250_000.0)
    } else {
        near
    };
    rare.rarely(
        || {
            let [r, low, quarter] = reduce_huge(a);
            let sign = x.sign_bits();
            let quarter = sign.eq(sign.int(0)).select(quarter, -quarter);
            [r.flip(sign), (-low).flip(sign), quarter]
        },
        [r, low, t.bits()],
    )
}

/// A number so large that its last place counts 1: adding it rounds to an integer, which is then in the low bits.
fn magic(x: Expr<'_>) -> Expr<'_> {
    x.constant(x.by(12582912.0, 6755399441055744.0))
}

/// `sin r` for |r| <= π/4, of parts that are not normal.
pub(super) fn sine_reduced(r: Pair<'_>) -> Pair<'_> {
    let (x, s) = (r.high, r.high * r.high);
    let t = (x * s) * s.poly(x.by(SIN_F32, SIN_F64));
    // What r has lost enters with the derivative.
    Pair::new(x, r.low.fma(s.fma(-0.5, 1.0), t))
}

/// `cos r`, likewise.
pub(super) fn cosine_reduced(r: Pair<'_>) -> Pair<'_> {
    let (x, s) = (r.high, r.high * r.high);
    let most = Pair::ordered_sum(x.constant(1.0), s * -0.5);
    let rest = (s * s).fma(s.poly(x.by(COS_F32, COS_F64)), most.low - x * r.low);
    Pair::new(most.high, rest)
}

/// As [`reduce`], but with the second part to be added, for any `a` from 1/2 on, by multiplication with as many bits of 1/π as matter. Infinity gives NaN.
fn reduce_huge(a: Expr<'_>) -> [Expr<'_>; 3] {
    let width = i64::from(a.by(32, 64));
    let mantissa = i64::from(a.by(23, 52));
    let bias = a.by(127, 1023) + mantissa;
    let table = a.by(Table(&ONE_OVER_PI_32), Table(&ONE_OVER_PI_64));
    let bits = a.bits();
    let int = |x: i64| bits.int(x);
    // a = m 2^e with an integer m.
    let m = (bits & int((1 << mantissa) - 1)) | int(1 << mantissa);
    let e = bits.shr_u(int(mantissa)) - int(bias);
    // Three words of 1/π from the bit on that makes 2^e m / π count 1; what is above makes full turns.
    let first = e + int(width - 1);
    let (word, shift) = (
        first.shr_u(int(i64::from(a.by(5, 6)))),
        first & int(width - 1),
    );
    let words: Vec<Expr<'_>> = (0..4).map(|k| (word + int(k)).lookup(table)).collect();
    let back = int(width) - shift;
    let window = |k: usize| words[k].shl(shift) | words[k + 1].shr_u(back);
    let (h0, h1, h2) = (window(0), window(1), window(2));
    // Their product with m modulo 2, as a word with one bit before the point: two, counted in quarters of a turn.
    let middle = m * h1;
    let low = middle + m.mul_hi_u(h2);
    let carry = low.lt_u(middle).select(int(1), int(0));
    let high = m * h0 + m.mul_hi_u(h1) + carry;
    let nearest = (high + int(1 << (width - 3))).shr_u(int(width - 2));
    // The signed fraction in two words; its magnitude as a float, by its leading bits.
    let f0 = high.shl(int(2)) | low.shr_u(int(width - 2));
    let f1 = low.shl(int(2));
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
    let small = lower.fma(pi * 0.5, upper * (rest * 0.5));
    let sum = upper.fma(pi * 0.5, small);
    let lost = upper.fma(pi * 0.5, -sum) + small;
    let n = -zeros.to_float();
    let (sum, lost) = (sum.scale(n), lost * lost.constant(1.0).scale(n));
    let [r, low] = [sum, lost].map(|part| negative.select(-part, part));
    [a.eq(f64::INFINITY).select(f64::NAN, r), low, nearest]
}

/// (sin(r) / r - 1) / s, s = r², |r| <= 0.7956 and π/4.
const SIN_F32: &[f64] = &[-0.16666664, 0.008332698, -0.0001957884];
const SIN_F64: &[f64] = &[
    -0.16666666666666632,
    0.008333333333322455,
    -0.00019841269829813389,
    2.755731368755662e-06,
    -2.5050756711139394e-08,
    1.5896681645040227e-10,
];

/// (cos(r) - 1 + s/2) / s², likewise.
const COS_F32: &[f64] = &[0.041666653, -0.0013887627, 2.4464232e-05];
const COS_F64: &[f64] = &[
    0.0416666666666666,
    -0.0013888888888874441,
    2.4801587289636317e-05,
    -2.755731438747209e-07,
    2.0875727059441014e-09,
    -1.1359802502779751e-11,
];

/// tan(r) / r - 9/8 in powers of r², |r| <= 0.7956.
const TAN_MIDDLE: f64 = 1.125;
const TAN_F32: &[f64] = &[
    -0.125,
    0.33333355,
    0.13332476,
    0.054081157,
    0.021172699,
    0.011119142,
    -0.00026912594,
    0.0045529883,
];

/// The bits of 1/π after one word of zeros.
static ONE_OVER_PI_32: TableData = TableData {
    name: "one_over_pi_32",
    entries: Entries::Bits32(&[
        0x00000000, 0x517cc1b7, 0x27220a94, 0xfe13abe8, 0xfa9a6ee0, 0x6db14acc, 0x9e21c820,
        0xff28b1d5, 0xef5de2b0, 0xdb92371d,
    ]),
};
static ONE_OVER_PI_64: TableData = TableData {
    name: "one_over_pi_64",
    entries: Entries::Bits64(&[
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
    ]),
};
