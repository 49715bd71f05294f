//! The error function, its complement and its inverse.

use super::exp::exp_parts;
use super::expr::{Expr, unary};
use super::log::log_of;
use crate::lanes::{Builder, Value};

/// Error function.
pub fn erf(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        if x.by(true, false) {
            // At this limit the quotient is exactly 1.
            let x = x.clamp(-3.8958, 3.8958);
            let s = x * x;
            return (x * s.poly(ERF_P) / s.poly(ERF_Q)).clamp(-1.0, 1.0).value;
        }
        let a = x.abs();
        let outer = (a.constant(1.0) - erfc_of_positive(a)).copysign(x);
        a.lt(1.0).select(erf_near_zero(x), outer).value
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

/// Inverse of the error function; infinite at ±1, NaN beyond. Relative error about 3e-7 and 2e-15 (M. Giles, "Approximating the erfinv
/// function", 2012).
pub fn erf_inv(b: &mut Builder, x: Value) -> Value {
    unary(b, x, |x| {
        let one = x.constant(1.0);
        let w = -log_of((one - x) * (one + x));
        let p = if x.by(true, false) {
            let central = w.lt(5.0);
            let t = central.select(w - 2.5, w.sqrt() - 3.0);
            central.select(t.poly(ERF_INV_CENTRAL_F32), t.poly(ERF_INV_TAIL_F32))
        } else {
            let (central, middle) = (w.lt(6.25), w.lt(16.0));
            let root = w.sqrt();
            let t = central.select(w - 3.125, middle.select(root - 3.25, root - 5.0));
            let tail = middle.select(t.poly(ERF_INV_MIDDLE_F64), t.poly(ERF_INV_TAIL_F64));
            central.select(t.poly(ERF_INV_CENTRAL_F64), tail)
        };
        let infinite = x.abs().eq(1.0).select(x * f64::INFINITY, p * x);
        infinite.value
    })
}

/// erf x for |x| <= 1.
fn erf_near_zero(x: Expr<'_>) -> Expr<'_> {
    let s = x * x;
    x * s.poly(x.by(ERF_SMALL_F32, ERF_SMALL_F64))
}

/// erfc a for a >= 0, as e^(-a²) P(t) / (1 + 2a) with t = (a - c) / (a + c), which maps all a to [-1, 1] (M. Shepherd and
/// J. Laframboise, "Chebyshev approximation of (1 + 2x) exp(x²) erfc x", 1981).
fn erfc_of_positive(a: Expr<'_>) -> Expr<'_> {
    let a = a.constant(a.by(10.5, 28.0)).pick_lt(a);
    let c = a.by(2.0, 4.0);
    let t = (a - c) / (a + c);
    let p = t.poly(a.by(ERFCX_F32, ERFCX_F64)) / a.fma(2.0, 1.0);
    // e^(-a²) = e^(-s) (1 - e) where s + e is a² exactly. The scale comes last, so that subnormal results round once.
    let s = a * a;
    let e = a.fma(a, -s);
    let (q, n) = exp_parts(-s);
    let product = q * p;
    e.fma(-product, product).scale(n)
}

/// erf(x) / x = P(x²) / Q(x²), |x| <= 3.925, beyond which the result is 1.
const ERF_P: &[f64] = &[
    1.1283791691779037,
    0.18514762773185137,
    0.054254741268560634,
    0.003840292610184086,
    0.0003771678942365659,
    4.620068402501374e-06,
    -1.28580180437582e-08,
];
const ERF_Q: &[f64] = &[
    1.0,
    0.4974162201929971,
    0.11388693325797271,
    0.01543483966325219,
    0.0013024098869714783,
    6.250096074657804e-05,
];

/// erf(x) / x in powers of x², |x| <= 1.
const ERF_SMALL_F32: &[f64] = &[
    1.1283791,
    -0.37612218,
    0.11278968,
    -0.026661409,
    0.0048241625,
    -0.00048229177,
    -2.6317128e-05,
];
const ERF_SMALL_F64: &[f64] = &[
    1.1283791670955126,
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

/// (1 + 2x) e^(x²) erfc x in powers of t, c = 2, x <= 10.5.
const ERFCX_F32: &[f64] = &[
    1.2769784,
    -0.092764,
    -0.16603157,
    0.16405566,
    -0.054202624,
    -0.008060887,
    0.008625357,
    0.0013125694,
    -0.0012223409,
    -0.00039610598,
];
/// The same with c = 4, x <= 28.
const ERFCX_F64: &[f64] = &[
    1.2329951186255526,
    -0.13962111684056253,
    0.015379652102619622,
    0.06809705425469532,
    -0.10103906603629774,
    0.09373283499825623,
    -0.06633036581235986,
    0.037167515538978214,
    -0.01619773405621044,
    0.0050319699648760955,
    -0.000757773299229693,
    -0.00019925662546930922,
    0.0001506217234460047,
    -2.4399442456200802e-05,
    -1.1222183028790883e-05,
    5.7101972887929426e-06,
    2.9416203064815246e-07,
    -8.259671478399215e-07,
    7.410483990991085e-08,
    1.103333476707515e-07,
    -1.746916517903388e-08,
    -1.4070603164832127e-08,
    1.677081078503804e-09,
    1.198074802716225e-09,
];

const ERF_INV_CENTRAL_F32: &[f64] = &[
    1.50140941,
    0.246640727,
    -0.00417768164,
    -0.00125372503,
    0.00021858087,
    -4.39150654e-06,
    -3.5233877e-06,
    3.43273939e-07,
    2.81022636e-08,
];
const ERF_INV_TAIL_F32: &[f64] = &[
    2.83297682,
    1.00167406,
    0.00943887047,
    -0.0076224613,
    0.00573950773,
    -0.00367342844,
    0.00134934322,
    0.000100950558,
    -0.000200214257,
];
const ERF_INV_CENTRAL_F64: &[f64] = &[
    1.6536545626831027356,
    0.24015818242558961693,
    -0.0060336708714301490533,
    -0.00074070253416626697512,
    0.0001867342080340571352,
    -1.3882523362786468719e-05,
    -1.3654692000834678645e-06,
    4.2347877827932403518e-07,
    -2.9070369957882005086e-08,
    -4.1126339803469836976e-09,
    1.051212273321532285e-09,
    -5.4154120542946279317e-11,
    -1.2975133253453532498e-11,
    2.6335093153082322977e-12,
    -8.1519341976054721522e-14,
    -4.0545662729752068639e-14,
    6.6376381343583238325e-15,
    2.0972767875968561637e-17,
    -1.333171662854620906e-16,
    1.115787767802518096e-17,
    1.2858480715256400167e-18,
    -1.685059138182016589e-19,
    -3.6444120640178196996e-21,
];
const ERF_INV_MIDDLE_F64: &[f64] = &[
    3.0838856104922207635,
    1.0052589676941592334,
    0.005370914553590063617,
    -0.0037512085075692412107,
    0.0024914420961078508066,
    -0.0016882755560235047313,
    0.00095328937973738049703,
    -0.0003550375203628474796,
    2.4031110387097893999e-05,
    6.8284851459573175448e-05,
    -4.7318229009055733981e-05,
    1.2475304481471778723e-05,
    2.9234449089955446044e-06,
    -4.013867526981545969e-06,
    1.5027403968909827627e-06,
    1.8239629214389227755e-08,
    -2.7517406297064545428e-07,
    9.0756561938885390979e-08,
    2.2137376921775787049e-09,
];
const ERF_INV_TAIL_F64: &[f64] = &[
    4.8499064014085844221,
    1.0103004648645343977,
    -0.00013871931833623122026,
    -0.00021503011930044477347,
    7.5995277030017761139e-05,
    -1.9681778105531670567e-05,
    4.5260625972231537039e-06,
    -9.9298272942317002539e-07,
    2.2900482228026654717e-07,
    -6.7711997758452339498e-08,
    2.9147953450901080826e-08,
    -1.4960026627149240478e-08,
    7.6157012080783393804e-09,
    -3.7894654401267369937e-09,
    1.5076572693500548083e-09,
    -2.5556418169965252055e-10,
    -2.7109920616438573243e-11,
];
