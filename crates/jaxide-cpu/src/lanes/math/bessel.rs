//! Exponentially scaled modified Bessel functions of the first kind: polynomials in double precision for single, so that the result is
//! rounded once, and the interpreter's power series and Chebyshev expansions for double.

use super::exp::exp_pair;
use super::expr::{Expr, in_double};
use super::pair::Pair;
use super::wide::Wide;
use crate::lanes::{Builder, Value};

/// e^-|x| I₀(x).
pub fn bessel_i0e(b: &mut Builder, x: Value) -> Value {
    let [y] = in_double(b, [x], |[x]| {
        let a = x.abs();
        [if x.from_single {
            scaled(a, a.constant(1.0), &I0E_SMALL, &I0E_LARGE)
        } else {
            scaled_double(a, 0.0, &I0E_CHEBYSHEV)
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
            scaled_double(a, 1.0, &I1E_CHEBYSHEV)
        };
        [size.copysign(x)]
    });
    y
}

/// `factor p(a)` up to 8, and beyond `q(1 / a) / √a`.
fn scaled<'a>(a: Expr<'a>, factor: Expr<'a>, small: &[f64], large: &[f64]) -> Expr<'a> {
    let below = a.le(8.0);
    let inner = a.fma(0.25, -1.0).poly(small) * factor;
    let outer = (a.constant(16.0) / a - 1.0).poly(large) / a.sqrt();
    below.select(inner, outer)
}

/// Terms of the power series up to 8.
const TERMS: u32 = 36;

/// Those of them that need more digits: others are a small part of the sum wherever they stand.
const WIDE_TERMS: u32 = 9;

/// The function of this order, up to 8 by its power series, and beyond by an expansion in 32 / a - 2.
fn scaled_double<'a>(a: Expr<'a>, order: f64, large: &[f64]) -> Expr<'a> {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let below = a.le(8.0);
    let x = below.select(a, zero);
    let half = x * 0.5;
    let z = Wide::from(Pair::product(half, half));
    // Σ z^k / (k! (k + n)!) by Horner's rule.
    let divisor = |k: u32| f64::from(k) * (f64::from(k) + order);
    let last = (WIDE_TERMS + 1..=TERMS)
        .rev()
        .fold(one, |sum, k| sum.fma(z.high * (1.0 / divisor(k)), 1.0));
    let sum = (1..=WIDE_TERMS).rev().fold(Wide::from(last), |sum, k| {
        let reciprocal = 1.0 / divisor(k);
        let rest = (-reciprocal).mul_add(divisor(k), 1.0) / divisor(k);
        let factor = Wide::constant(a, (reciprocal, rest));
        (sum * (z * factor)).plus(one)
    });
    let sum = if order == 0.0 { sum } else { sum.times(half) };
    let (p, n) = exp_pair(-x);
    let inner = (sum * Wide::from(p.normal())).value() * one.scale(n);
    let outer_argument = below.select(8.0, a);
    let t = a.constant(32.0) / outer_argument - 2.0;
    let (mut b0, mut b1, mut b2) = (zero, zero, zero);
    for &c in large {
        (b2, b1) = (b1, b0);
        b0 = t * b1 - b2 + c;
    }
    let outer = (b0 - b2) * 0.5 / outer_argument.sqrt();
    below.select(inner, outer)
}

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

/// √x e^-x I₀(x) in 32 / x - 2, from the highest degree on, the last one counted half.
const I0E_CHEBYSHEV: [f64; 25] = [
    -7.233180487874754e-18,
    -4.830504485944182e-18,
    4.46562142029676e-17,
    3.461222867697461e-17,
    -2.8276239805165836e-16,
    -3.425485619677219e-16,
    1.7725601330565263e-15,
    3.8116806693526224e-15,
    -9.554846698828307e-15,
    -4.150569347287222e-14,
    1.54008621752141e-14,
    3.8527783827421426e-13,
    7.180124451383666e-13,
    -1.7941785315068062e-12,
    -1.3215811840447713e-11,
    -3.1499165279632416e-11,
    1.1889147107846439e-11,
    4.94060238822497e-10,
    3.3962320257083865e-09,
    2.266668990498178e-08,
    2.0489185894690638e-07,
    2.8913705208347567e-06,
    6.889758346916825e-05,
    0.0033691164782556943,
    0.8044904110141088,
];

/// √x e^-x I₁(x) in 32 / x - 2, from the highest degree on, the last one counted half.
const I1E_CHEBYSHEV: [f64; 25] = [
    7.517296310842105e-18,
    4.414348323071708e-18,
    -4.6503053684893586e-17,
    -3.209525921993424e-17,
    2.96262899764595e-16,
    3.3082023109209285e-16,
    -1.8803547755107825e-15,
    -3.8144030724370075e-15,
    1.0420276984128802e-14,
    4.272440016711951e-14,
    -2.1015418427726643e-14,
    -4.0835511110921974e-13,
    -7.198551776245908e-13,
    2.0356285441470896e-12,
    1.4125807436613782e-11,
    3.2526035830154884e-11,
    -1.8974958123505413e-11,
    -5.589743462196584e-10,
    -3.835380385964237e-09,
    -2.6314688468895196e-08,
    -2.512236237870209e-07,
    -3.882564808877691e-06,
    -0.00011058893876262371,
    -0.009761097491361469,
    0.7785762350182801,
];
