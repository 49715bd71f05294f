//! Powers and roots.

use super::exp::{exp_pair, exp_parts};
use super::expr::{Expr, binary, unary};
use super::log::split;
use super::pair::Pair;
use super::wide::Wide;
use crate::lanes::{BinOp, Builder, Value};

/// `1 / sqrt x`.
pub fn rsqrt(b: &mut Builder, x: Value) -> Value {
    rsqrt_by(b, x, correct_rsqrt)
}

/// The same for what is rounded to 16 bits: within two units of single precision.
pub fn rsqrt_16(b: &mut Builder, x: Value) -> Value {
    rsqrt_by(b, x, rsqrt_step)
}

/// `correct` improves a result.
fn rsqrt_by(
    b: &mut Builder,
    x: Value,
    correct: impl for<'a> Fn(Expr<'a>, Expr<'a>) -> Expr<'a>,
) -> Value {
    unary(b, x, |x| {
        let least = x.by(f64::from(f32::MIN_POSITIVE), f64::MIN_POSITIVE);
        let usual = x.lt(f64::INFINITY) & x.constant(least).le(x);
        // Subnormal, zero, infinite, negative, no number.
        let other = || {
            let y = x.constant(1.0) / x.sqrt();
            let usual = y.gt(0.0) & y.lt(f64::INFINITY);
            [usual.select(correct(x, y), y)]
        };
        let normal = correct(x, approximate_rsqrt(x, 1));
        let [result] = (!usual).rarely(other, [normal]);
        result.value
    })
}

/// `1 / sqrt x` of normal numbers, and a finite number for 0. Dividers and square roots are slow; half the bits, which are a logarithm, give it
/// to 3.5 %, and two steps to 11 digits in double precision.
fn approximate_rsqrt(x: Expr<'_>, steps: u32) -> Expr<'_> {
    let magic = x.int(x.by(0x5f37_59df, 0x5fe6_eb50_c7b5_37a9));
    let guess = magic.bin(BinOp::Sub, x.bits().shr_u(x.int(1))).as_float();
    (0..steps).fold(guess, |y, _| rsqrt_step(x, y))
}

/// 1 / sqrt(1 - h) with three terms, of which each time three times as many digits are right.
fn rsqrt_step<'a>(x: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    let h = (-(x * y)).fma(y, 1.0);
    (y * h).fma(h.fma(0.375, x.constant(0.5)), y)
}

/// `1 / sqrt x` in double precision, for what is rounded to single; a finite number for 0.
pub(super) fn reciprocal_root_of_single(x: Expr<'_>) -> Expr<'_> {
    approximate_rsqrt(x, 2)
}

/// The same step with an exact residue, for the last digits, and with so many terms that it follows upon one.
fn correct_rsqrt<'a>(x: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    let t = Pair::product(x, y);
    let residue = (-t.high).fma(y, 1.0) - t.low * y;
    let terms = residue.poly(x.by(&[0.5, 0.375], &[0.5, 0.375, 0.3125, 0.2734375]));
    (y * residue).fma(terms, y)
}

/// `x^y` as C99's `pow`.
pub fn pow(b: &mut Builder, x: Value, y: Value) -> Value {
    if let Some(halves) = b.as_float(y).and_then(odd_halves) {
        return unary(b, x, |x| root_power(x, halves).value);
    }
    binary(b, x, y, |x, y| {
        let a = x.abs();
        let (high, low) = log_extended(a);
        // e^(y log a), with what the product's rounding loses. Where it is far out of range there is nothing to correct.
        let product = y * high;
        let rest = y.fma(low, y.fma(high, -product));
        let rest = product.abs().lt(1e4).select(rest, y.constant(0.0));
        let (p, n) = exp_parts(product);
        let size = p.fma(rest, p).scale_gradual(n);
        // The sign, for odd y; no real result for y that is not an integer.
        let whole = y.trunc().eq(y);
        let half = y * 0.5;
        let odd = whole & !half.trunc().eq(half);
        let signed = odd.select(size.flip(x.sign_bits()), size);
        let undefined = x.lt(0.0) & a.lt(f64::INFINITY) & !whole;
        let result = undefined.select(f64::NAN, signed);
        let one = y.eq(0.0) | x.eq(1.0) | (a.eq(1.0) & y.abs().eq(f64::INFINITY));
        one.select(1.0, result).value
    })
}

/// How many halves an exponent is, if that is an odd number and roots are faster than logarithms.
fn odd_halves(exponent: f64) -> Option<i8> {
    [-5, -3, -1, 1, 3, 5]
        .into_iter()
        .find(|&halves| exponent == f64::from(halves) / 2.0)
}

/// `x^(halves / 2)` by a square root, with what its rounding and that of the products lose.
fn root_power(x: Expr<'_>, halves: i8) -> Expr<'_> {
    let a = x.abs();
    let size = match halves {
        1 => a.sqrt(),
        -1 => a.call(rsqrt),
        3.. => {
            // sqrt a = root + rest / (2 root), and so a sqrt a = a root + root rest / 2.
            let root = a.sqrt();
            let rest = (-root).fma(root, a) * 0.5;
            let (power, loss) = if halves == 3 {
                let power = Pair::product(a, root);
                (power, root.fma(rest, power.low))
            } else {
                let square = Pair::product(a, a);
                let power = Pair::product(square.high, root);
                let loss = square.low.fma(root, power.low);
                (power, (a * root).fma(rest, loss))
            };
            let high = power.high;
            high.lt(f64::INFINITY).select(high + loss, high)
        }
        _ => {
            // 1 / sqrt a = y (1 + rest / 2)
            let y = a.call(rsqrt);
            let product = Pair::product(a, y);
            let rest = (-product.high).fma(y, 1.0) - product.low * y;
            let square = Pair::product(y, y);
            let cube = Pair::product(square.high, y);
            let loss = square.low.fma(y, cube.low);
            let (high, loss) = if halves == -3 {
                (cube.high, loss)
            } else {
                let power = Pair::product(cube.high, square.high);
                let loss = cube.high.fma(square.low, square.high.fma(loss, power.low));
                (power.high, loss)
            };
            let loss = (rest * (-0.5 * f64::from(halves))).fma(high, loss);
            let usual = high.gt(0.0) & high.lt(f64::INFINITY);
            usual.select(high + loss, high)
        }
    };
    let undefined = x.lt(0.0) & a.lt(f64::INFINITY);
    undefined.select(f64::NAN, size)
}

/// Cube root.
pub fn cbrt(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        // Away from overflow and subnormals, by a factor with an exact root.
        let (up, root, third_of_bias) = x.by(
            (16777216.0, 256.0, 0x2a51_19f2),
            (18014398509481984.0, 262144.0, 0x2a9f_7893_0000_0000),
        );
        let small = a.lt(1.0);
        let m = a * small.select(up, a.constant(1.0 / up));
        // A third of the exponent, which is a third of the bits, is right to 3 %.
        let third = m
            .bits()
            .mul_hi_u(m.int(m.by(0x5555_5556, 0x5555_5555_5555_5556)));
        let guess = (third + m.int(third_of_bias)).as_float();
        // Halley's iteration triples the number of digits.
        let steps = x.by(1, 2);
        let y = (0..steps).fold(guess, |y, _| {
            let cube = y * y * y;
            y * ((m + m + cube) / (cube + cube + m))
        });
        // Newton's, with an exact residue, does the last one.
        let square = y * y;
        let residue = (square.fma(y, -m)) + y.fma(y, -square) * y;
        let y = y - residue / (square * 3.0);
        let y = y * small.select(1.0 / root, a.constant(root));
        let own = a.eq(0.0) | !a.lt(f64::INFINITY);
        own.select(x, y.copysign(x)).value
    })
}

/// base^-x for a base above 0 in two parts and any x, in two parts that have some digits more than the type; in double precision.
pub(super) fn reciprocal_power<'a>(base: Wide<'a>, x: Expr<'a>) -> Wide<'a> {
    let (high, low) = log_extended(base.high);
    let low = low + base.low / base.high;
    let product = x * high;
    let rest = x.fma(low, x.fma(high, -product));
    let rest = product.abs().lt(1e4).select(rest, x.constant(0.0));
    let (p, n) = exp_pair(-product);
    let p = p.normal();
    let low = p.high.fma(-rest, p.low);
    // In two steps, for the ends of the range.
    let half = (n * 0.5).trunc();
    let (first, second) = (half.power_of_two(0), (n - half).power_of_two(0));
    let scaled = |part: Expr<'a>| part * first * second;
    Wide::new(scaled(p.high), scaled(low))
}

/// `log a` for a >= 0 in two parts whose sum has half as many digits again.
fn log_extended(a: Expr<'_>) -> (Expr<'_>, Expr<'_>) {
    let (m, e) = split(a);
    // log m = 2 atanh q with q = (m - 1) / (m + 1), in two parts.
    let (n, d) = (m - 1.0, m + 1.0);
    // What the rounding of d lost.
    let d_low = m - (d - 1.0);
    let r = d.constant(1.0) / d;
    let q = n * r;
    let q_low = ((-q).fma(d, n) - q * d_low) * r;
    // q³ and the series' factor 1/3 + z / 5 + … in two parts each.
    let z = q * q;
    let z_low = (q + q).fma(q_low, q.fma(q, -z));
    let cube = z * q;
    let cube_low = z.fma(q_low, z_low.fma(q, z.fma(q, -cube)));
    let (third, third_low) = a.by(
        (0.3333333432674408, -9.934107758624577e-09),
        (0.3333333333333333, 1.850371707708594e-17),
    );
    let tail = z * z.poly(a.by(POW_F32, POW_F64));
    let f = tail + third;
    let f_low = (f.constant(third) - f) + tail + third_low;
    let t = cube * f;
    let t_low = cube.fma(f_low, cube_low.fma(f, cube.fma(f, -t)));
    // log a = e ln 2 + 2 (q + t), the largest parts added exactly.
    let (ln2, ln2_low) = a.by(
        (0.6931471824645996, -1.9046542121259336e-09),
        (0.6931471805599453, 2.3190468138462996e-17),
    );
    let sum = q + t;
    let sum_low = (q - sum) + t + (q_low + t_low);
    let twice = sum + sum;
    let high = e.fma(ln2, twice);
    let product_rest = twice - e.fma(-ln2, high);
    let low = e.fma(ln2_low, sum_low.fma(2.0, product_rest));
    let total = high + low;
    let total_low = (high - total) + low;
    // The logarithms of zero, infinity and NaN.
    let usual = a.lt(f64::INFINITY);
    let total = usual.select(a.eq(0.0).select(f64::NEG_INFINITY, total), a);
    (
        total,
        (usual & a.gt(0.0)).select(total_low, a.constant(0.0)),
    )
}

/// (atanh(q) / q - 1 - z / 3) / z², z = q² <= 0.1716².
const POW_F32: &[f64] = &[0.20000198, 0.14262588, 0.11940365];
const POW_F64: &[f64] = &[
    0.1999999999999999,
    0.14285714285721923,
    0.11111111108893672,
    0.09090909422193195,
    0.07692279198161692,
    0.06668132952682035,
    0.058378746862891275,
    0.05991016946426408,
];
