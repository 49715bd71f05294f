//! The error function, its complement and its inverse.

use super::exp::exponential;
use super::expr::{Expr, unary};
use super::log::log_of;
use super::pair::Pair;
use crate::lanes::{Builder, Value};

/// Error function.
pub fn erf(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let a = x.abs();
        let one = a.constant(1.0);
        let result = if x.by(true, false) {
            // From 4 on the result is 1. A fourth root is a short polynomial, and its powers take no series of an exponential.
            let root = a.constant(4.0).pick_lt(a).nested(ERFC_ROOT_F32);
            let square = root * root;
            let far = (-square).fma(square, one);
            a.lt(1.15).select(erf_near_zero(a), far)
        } else {
            a.lt(1.0)
                .select(erf_near_zero(a), one - erfc_of_positive(a))
        };
        result.flip(x.sign_bits()).value
    })
}

/// Complement of the error function, `1 - erf x`.
pub fn erfc(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let tail = erfc_of_positive(x.abs());
        let outer = x.lt(0.0).select(tail.constant(2.0) - tail, tail);
        // 1 - erf x where erf x is small, because the tail is less accurate.
        let inner = x.constant(1.0) - erf_near_zero(x);
        x.abs().lt(0.5).select(inner, outer).value
    })
}

/// Inverse of the error function; infinite at ±1, NaN beyond. By the logarithm of 1 - x² (M. Giles, "Approximating the erfinv
/// function", 2012).
pub fn erf_inv(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let one = x.constant(1.0);
        let w = -log_of((one - x) * (one + x));
        let root = w.sqrt();
        // The factor of x, less 1 in the middle.
        let (central, p, tail) = if x.by(true, false) {
            let tail = (root - 3.0).poly(ERF_INV_TAIL_F32);
            (w.lt(5.0), w.poly(ERF_INV_CENTRAL_F32), tail)
        } else {
            let tail = w.lt(6.25).select(
                (w - 4.625).poly(ERF_INV_NEAR_F64),
                w.lt(16.0).select(
                    (root - 3.25).poly(ERF_INV_MIDDLE_F64),
                    (root - 5.0).poly(ERF_INV_TAIL_F64),
                ),
            );
            (w.lt(3.0), w.poly(ERF_INV_CENTRAL_F64), tail)
        };
        let result = central.select(p.fma(x, x), tail * x).copysign(x);
        x.abs().eq(1.0).select(x * f64::INFINITY, result).value
    })
}

/// erf x for |x| <= 1.15, of 64 bits 1.
fn erf_near_zero(x: Expr<'_>) -> Expr<'_> {
    let s = x * x;
    let p = if x.by(true, false) {
        s.nested(ERF_SMALL_F32)
    } else {
        s.poly(ERF_SMALL_F64)
    };
    x.fma(p, x)
}

/// erfc a for a >= 1/2, as e^(-a²) P(t) / (1 + 2a) with t = (a - c) / (a + c), which maps all a to [-1, 1] (M. Shepherd and
/// J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x", 1981).
fn erfc_of_positive(a: Expr<'_>) -> Expr<'_> {
    // Beyond, it is less than half the smallest number.
    let a = a.constant(a.by(10.2, 27.3)).pick_lt(a);
    let c = a.by(2.0, 4.0);
    let t = (a - c) / (a + c);
    // P is its value in the middle, which is a part of the exponent, times 1 + w, whose last places count little.
    let w = t * t.poly(a.by(ERFCX_F32, ERFCX_F64));
    // So is what 1 / (1 + 2a) lacks, and what a² does.
    let d = Pair::ordered_sum(a + a, a.constant(1.0));
    let one = a.constant(1.0);
    let y = one / d.high;
    let lacks = (-y).fma(d.low, (-y).fma(d.high, one));
    let s = Pair::product(a, a);
    let e = exponential(-s.high, a.by(LN_ERFCX_F32, LN_ERFCX_F64), lacks - s.low);
    // The largest part is added last, and the scale comes after that, so that subnormal results round once.
    let rest = e.minus_one();
    let rest = rest + rest.fma(w, w);
    y.fma(rest, y).scale_gradual(e.n)
}

/// erfc(x)^(1/4), 1.15 <= x <= 3.95, its error weighted as that of its fourth power.
const ERFC_ROOT_F32: &[f64] = &[
    1.0058097,
    -0.31000707,
    -0.06140881,
    -0.052295472,
    0.06708392,
    -0.0225131,
    0.0032850101,
    -0.00018311228,
];

/// erf(x) / x - 1 in powers of x², |x| <= 1.15 and 1.
const ERF_SMALL_F32: &[f64] = &[
    0.12837915122509003,
    -0.3761257529258728,
    0.11283040046691895,
    -0.026832159608602524,
    0.00514947297051549,
    -0.0007688840269111097,
    6.856343679828569e-05,
];
const ERF_SMALL_F64: &[f64] = &[
    0.12837916709551258,
    -0.3761263890318332,
    0.11283791670934935,
    -0.026866170641420446,
    0.005223977590108504,
    -0.0008548325033305436,
    0.00012055261739370381,
    -1.492396667337688e-05,
    1.643547026938075e-06,
    -1.6085745405157735e-07,
    1.2919840921422863e-08,
    -4.795306116172311e-10,
    -4.927487873217312e-11,
];

/// (1 + 2x) e^(x²) erfc x in powers of t relative to the first, less 1 and divided by t, c = 2, 1/2 <= x <= 10.5; and the logarithm of the first.
const ERFCX_F32: &[f64] = &[
    -0.07264316,
    -0.13001819,
    0.12846577,
    -0.042455833,
    -0.0062635853,
    0.0067922045,
    0.00087703887,
    -0.0010048423,
    -0.00015117665,
];
const LN_ERFCX_F32: f64 = 0.24449664;
/// The same with c = 4, 1/2 <= x <= 28.
const ERFCX_F64: &[f64] = &[
    -0.11323736382363078,
    0.012473408751007407,
    0.05522897311272378,
    -0.0819460389662129,
    0.0760204428894624,
    -0.05379613010250051,
    0.03014408976457354,
    -0.013136900347766938,
    0.004081094831245732,
    -0.000614579605434015,
    -0.00016160395689952535,
    0.00012216044650678593,
    -1.9787857371273873e-05,
    -9.104997266258753e-06,
    4.628665232063232e-06,
    2.44862428677277e-07,
    -6.653599087165049e-07,
    5.286266518340939e-08,
    8.430062295425784e-08,
    -9.411647995248081e-09,
    -8.014321568503384e-09,
];
const LN_ERFCX_F64: f64 = 0.2094462652332129;

/// erf⁻¹(x) / x - 1 in powers of w = -log(1 - x²) up to 5 and 3.
const ERF_INV_CENTRAL_F32: &[f64] = &[
    -0.11377308,
    0.23201379,
    0.011548754,
    -0.0023344634,
    -0.0001273322,
    4.448735e-05,
    4.007642e-06,
    -1.9809922e-06,
    2.214895e-07,
    -8.81056e-09,
];
const ERF_INV_CENTRAL_F64: &[f64] = &[
    -0.11377307454724199,
    0.23201366653465522,
    0.011549342038244662,
    -0.0023351016412370496,
    -0.00012804329705534538,
    4.661145305984379e-05,
    2.0199511882087294e-06,
    -1.0124768570062581e-06,
    -3.740937530361766e-08,
    2.2916082984815017e-08,
    6.577888166787592e-10,
    -4.687319306205336e-10,
    -3.880272140802021e-11,
    1.819564260920743e-11,
    -3.1714057384001745e-13,
    -4.2685441301609564e-13,
    6.044450599179499e-14,
    -2.7597584218846763e-15,
];
/// erf⁻¹(x) / x in powers of w - 4.625, 3 <= w <= 6.25.
const ERF_INV_NEAR_F64: &[f64] = &[
    1.9986469608891362,
    0.21919392797953616,
    -0.007361350924145457,
    3.577044993078637e-05,
    7.442625632011698e-05,
    -1.2653042737560277e-05,
    9.406843537924506e-07,
    4.1415485364227704e-08,
    -2.037667594103698e-08,
    2.4342133037437754e-09,
    -5.4125599933233016e-11,
    -2.8970612394332962e-11,
    5.117063385888573e-12,
    -3.168671878414434e-13,
    -3.174591420367432e-14,
    1.0115433550689153e-14,
    -8.4783709958280925e-16,
    -7.05669772757216e-17,
];
/// erf⁻¹(x) / x in powers of sqrt(w) - 3, w <= 16.7.
const ERF_INV_TAIL_F32: &[f64] = &[
    2.8329768,
    1.0016752,
    0.009444962,
    -0.007642959,
    0.0056896256,
    -0.0035663464,
    0.001470725,
    -0.00012090024,
    -0.0002732978,
    0.00016071703,
    -3.079633e-05,
];
/// The same of sqrt(w) - 3.25, w <= 16, and of sqrt(w) - 5 beyond.
const ERF_INV_MIDDLE_F64: &[f64] = &[
    3.0838856104922208,
    1.005258967694166,
    0.005370914553557004,
    -0.0037512085082794617,
    0.002491442097449337,
    -0.001688275533728536,
    0.0009532893570095569,
    -0.00035503783837957306,
    2.403130932932515e-05,
    6.82873078807981e-05,
    -4.731922208965814e-05,
    1.2464161542485737e-05,
    2.9263817989488767e-06,
    -3.9833227352585064e-06,
    1.497651617069506e-06,
    -3.1511553686521075e-08,
    -2.704025081377439e-07,
    1.3506663710307333e-07,
    3.449618639538568e-10,
    -1.6614663594493716e-08,
];
const ERF_INV_TAIL_F64: &[f64] = &[
    4.849906401408584,
    1.0103004648645448,
    -0.0001387193183848717,
    -0.00021503011979973662,
    7.599527817780592e-05,
    -1.9681771171981894e-05,
    4.526051896289389e-06,
    -9.93025734584325e-07,
    2.290554688648156e-07,
    -6.75716147241202e-08,
    2.9012083665841117e-08,
    -1.5216577048774887e-08,
    7.831282333534747e-09,
    -3.529711017129242e-09,
    1.307203581562585e-09,
    -3.8470858639581767e-10,
    7.386181602778791e-11,
    1.6614038422153273e-11,
    -2.127452326163309e-11,
    5.504537931960432e-12,
];
