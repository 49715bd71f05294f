//! Exponentially scaled modified Bessel functions of the first kind: polynomials in double precision for single, so that the result is
//! rounded once; for double a power series whose first terms have twice the digits, and a polynomial.

use super::exp::exp_pair;
use super::expr::{Expr, in_double};
use super::pair::Pair;
use super::power::reciprocal_root_of_single;
use super::wide::Wide;
use crate::lanes::{Builder, Value};

/// e^-|x| I₀(x).
pub fn bessel_i0e(b: &mut Builder, x: Value) -> Value {
    let [y] = in_double(b, [x], |[x]| {
        let a = x.abs();
        [if x.from_single {
            scaled(a, a.constant(1.0), &I0E_SMALL, &I0E_LARGE)
        } else {
            scaled_double(a, 0, &I0_SERIES, &I0E_TAIL, I0E_TAIL_LOST)
        }]
    });
    y
}

/// e^-|x| I₁(x); odd.
pub fn bessel_i1e(b: &mut Builder, x: Value) -> Value {
    let [y] = in_double(b, [x], |[x]| {
        let a = x.abs();
        let size = if x.from_single {
            scaled(a, a, &I1E_SMALL, &I1E_LARGE)
        } else {
            scaled_double(a, 1, &I1_SERIES, &I1E_TAIL, I1E_TAIL_LOST)
        };
        [size.copysign(x)]
    });
    y
}

/// `factor p(a)` up to 8, and beyond `q(1 / a) / √a`.
fn scaled<'a>(a: Expr<'a>, factor: Expr<'a>, small: &[f64], large: &[f64]) -> Expr<'a> {
    let below = a.le(8.0);
    let inner = a.fma(0.25, -1.0).poly(small) * factor;
    // Infinity is more than what has a result.
    let root = reciprocal_root_of_single(a.constant(1e300).pick_lt(a));
    let outer = (root * root).fma(16.0, -1.0).poly(large) * root;
    below.select(inner, outer)
}

/// The function of this order in double precision: up to 8 by the power series, whose first four terms are summed in twice the digits, and
/// beyond by a polynomial in 16 / a - 1.
fn scaled_double<'a>(a: Expr<'a>, order: u32, small: &[f64], large: &[f64], lost: f64) -> Expr<'a> {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let below = a.le(8.0);
    let x = below.select(a, zero);
    let half = x * 0.5;
    let z = Pair::product(half, half);
    // Σ z^k / (k! (k + n)!) by Horner's rule.
    let last = Pair::exact(z.high.poly(small));
    let sum = (0..4).rev().fold(last, |sum, k| {
        let (term, rest) = FIRST_TERMS[order as usize][k];
        let product = Pair::product(sum.high, z.high);
        let low = sum.low.fma(z.high, sum.high.fma(z.low, product.low));
        Pair::sum(a.constant(term), product.high).plus(if rest == 0.0 { low } else { low + rest })
    });
    let sum = Wide::from(sum);
    let sum = if order == 0 { sum } else { sum.times(half) };
    let (p, n) = exp_pair(-x);
    let inner = (sum * Wide::from(p.normal())).value() * one.scale(n);
    // 1 / √a in two parts, the second of which has few digits.
    let root = reciprocal_root_of_single(a);
    let product = Pair::product(a, root);
    let residue = (-product.high).fma(root, 1.0) - product.low * root;
    let correction = root * residue * 0.5;
    let corrected = root + correction;
    let t = (corrected * corrected).fma(16.0, -1.0);
    let rest = t.poly(&large[1..]).fma(t, lost);
    let factor = Pair::ordered_sum(a.constant(large[0]), rest);
    let product = Pair::product(factor.high, root);
    let low = factor
        .high
        .fma(correction, factor.low.fma(root, product.low));
    let outer = a.eq(f64::INFINITY).select(zero, product.high + low);
    below.select(inner, outer)
}

/// 1 / (k! (k + n)!), and what its rounding loses, by the order.
const FIRST_TERMS: [[(f64, f64); 4]; 2] = [
    [
        (1.0, 0.0),
        (1.0, 0.0),
        (0.25, 0.0),
        (0.027777777777777776, 1.5419764230904951e-18),
    ],
    [
        (1.0, 0.0),
        (0.5, 0.0),
        (0.08333333333333333, 4.625929269271485e-18),
        (0.006944444444444444, 3.854941057726238e-19),
    ],
];

/// e^-x I₀(x), x = 4 t + 4, -1 <= t <= 1.
const I0E_SMALL: [f64; 21] = [
    0.2070019212268671,
    -0.11300432653445623,
    0.09451562784636545,
    -0.08904346700050769,
    0.08734344375824935,
    -0.08496283115416803,
    0.07927479864923015,
    -0.06954659124218805,
    0.05678042010069612,
    -0.04295691577958342,
    0.030162278421519927,
    -0.019776205969398324,
    0.012004880875838304,
    -0.0066046196714001845,
    0.0035351598469331356,
    -0.00204734490472377,
    0.0009516482118259541,
    -0.00020575944130253962,
    9.498287973295988e-05,
    -0.00013604735608011562,
    5.07291081333732e-05,
];

/// √x e^-x I₀(x), 16 / x = t + 1.
const I0E_LARGE: [f64; 8] = [
    0.4021765094192123,
    0.0033605522417209503,
    0.00013621716424351178,
    1.1139815659548617e-05,
    1.4761157333859776e-06,
    3.073322894447647e-07,
    1.0867942558246813e-07,
    3.16198568141994e-08,
];

/// e^-x I₁(x) / x, x = 4 t + 4, -1 <= t <= 1.
const I1E_SMALL: [f64; 21] = [
    0.04468770987592394,
    -0.061124337989136274,
    0.06805759983362714,
    -0.06848260916185073,
    0.0637674067326417,
    -0.05527997580025846,
    0.044674525823902876,
    -0.03367197856043894,
    0.023686388346513,
    -0.015567952985884172,
    0.009582246708777392,
    -0.005545398059078381,
    0.0030106851991979523,
    -0.0015170916540786514,
    0.0007354892138567695,
    -0.00036857187159206625,
    0.00015894532356951086,
    -4.0710161795230244e-05,
    1.6755630965038448e-05,
    -1.7467923057637664e-05,
    6.1531414882837985e-06,
];

/// √x e^-x I₁(x), 16 / x = t + 1.
const I1E_LARGE: [f64; 8] = [
    0.38939845905965936,
    -0.009749577457556748,
    -0.00021923712538187941,
    -1.5035268029360887e-05,
    -1.8256907317964347e-06,
    -3.5842988926718853e-07,
    -1.2273217233105534e-07,
    -3.5774357767664734e-08,
];

/// The power series of I₀ from the fourth power of x² / 4 on, divided by it, up to 8.
const I0_SERIES: [f64; 12] = [
    0.0017361111111110264,
    6.944444444463846e-05,
    1.929012345493671e-06,
    3.936759899040792e-08,
    6.15118699378074e-10,
    7.594065924644855e-12,
    7.593941809650416e-14,
    6.277351211560915e-16,
    4.348748263455041e-18,
    2.6287796020028976e-20,
    1.1496856848161842e-22,
    8.993609187192408e-25,
];

/// √x e^-x I₀(x), 16 / x = t + 1, and what the first coefficient has lost.
const I0E_TAIL: [f64; 25] = [
    0.4021765094450081,
    0.0033605519836678614,
    0.0001362160743919305,
    1.1143033790932038e-05,
    1.4838475658279249e-06,
    2.9735985885673923e-07,
    8.872219737904054e-08,
    3.932584334552952e-08,
    2.1548377974791598e-08,
    7.554691881248808e-09,
    -6.747657956107524e-09,
    -1.340891754008974e-08,
    -5.404771567579958e-09,
    7.552583062123384e-09,
    7.430464650325426e-09,
    -3.5059665308793316e-09,
    -5.953569438264892e-09,
    1.5200816953924227e-09,
    3.6379546359011156e-09,
    -5.715843864202707e-10,
    -1.6189806836246825e-09,
    1.5279202694981558e-10,
    4.577087631643626e-10,
    -2.026060428741361e-11,
    -6.067631570603011e-11,
];
const I0E_TAIL_LOST: f64 = -2.4049731843928282e-17;

/// The power series of I₁ from the fourth power of x² / 4 on, divided by it, up to 8.
const I1_SERIES: [f64; 12] = [
    0.00034722222222221475,
    1.1574074074090123e-05,
    2.755731922253518e-07,
    4.920949868811844e-09,
    6.834652347103273e-11,
    7.594063595711378e-13,
    6.9036116882710156e-15,
    5.2308904573376275e-17,
    3.3465223237283167e-19,
    1.872831031300289e-21,
    7.76853175231049e-24,
    5.522575900033918e-26,
];

/// √x e^-x I₁(x), 16 / x = t + 1, and what the first coefficient has lost.
const I1E_TAIL: [f64; 25] = [
    0.38939845902587233,
    -0.009749577193235737,
    -0.00021923576383388928,
    -1.5038547200567216e-05,
    -1.8349101326980946e-06,
    -3.483855761044295e-07,
    -1.0001288294864884e-07,
    -4.312917729178349e-08,
    -2.337392820814264e-08,
    -8.427766093735185e-09,
    6.734464815301592e-09,
    1.4034238782067183e-08,
    5.974437608040264e-09,
    -7.64239413436356e-09,
    -7.888351507862078e-09,
    3.4262341490077958e-09,
    6.242741219786446e-09,
    -1.4387250533041011e-09,
    -3.794670896208341e-09,
    5.295625441161259e-10,
    1.6848984479705154e-09,
    -1.4011625179770617e-10,
    -4.758818838703856e-10,
    1.851511882885294e-11,
    6.305965197150062e-11,
];
const I1E_TAIL_LOST: f64 = -5.901047030079671e-18;
