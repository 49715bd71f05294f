//! The incomplete gamma and beta functions. Those of single precision are computed in double precision, so that the result is rounded once;
//! what differs for double precision is in `incomplete_double.rs`. The methods and the values at the edges are the interpreter's, which
//! says where they come from.

use super::exp::exp_of;
use super::expr::{Expr, in_double, iterate};
use super::gamma::{digamma_of, lgamma_right};
use super::incomplete_double as double;
use super::log::log_of;
use super::{erfc, expm1, log1p};
use crate::lanes::{Builder, Value};
use std::f64::consts::PI;

/// P(a, x).
pub fn igamma(b: &mut Builder, a: Value, x: Value) -> Value {
    let [y] = in_double(b, [a, x], |[a, x]| {
        let (zero, one) = (a.constant(0.0), a.constant(1.0));
        let (large, usual) = orders(a, x);
        let result = if a.from_single {
            let upper = usual & one.le(x) & x.gt(a);
            let fraction = one - upper_fraction(a, x, upper);
            upper.select(fraction, lower_series(a, x, usual & !upper))
        } else {
            double::lower_gamma(a, x, usual)
        };
        let [result] = large.rarely(|| [LargeOrder::new(a, x).tail(-1.0)], [result]);
        let result = (x.is_infinite() | a.eq(0.0)).select(one, result);
        let result = (x.eq(0.0) | a.is_infinite()).select(zero, result);
        let undefined = outside_domain(a, x) | (a.eq(0.0) & x.lt(1.0));
        [undefined.select(f64::NAN, result)]
    });
    y
}

/// Q(a, x).
pub fn igammac(b: &mut Builder, a: Value, x: Value) -> Value {
    let [y] = in_double(b, [a, x], |[a, x]| {
        let (zero, one) = (a.constant(0.0), a.constant(1.0));
        let (large, usual) = orders(a, x);
        let upper = usual & x.constant(2.0).le(x) & a.le(x);
        let small = usual & !upper & a.lt(1.0);
        let lower = usual & !upper & !small;
        let result = if a.from_single {
            let result = one - lower_series(a, x, lower);
            let result = upper.select(upper_fraction(a, x, upper), result);
            let [result] = small.rarely(|| [upper_of_small_order(a, x, small)], [result]);
            result
        } else {
            double::upper_gamma(a, x, [upper, small, lower])
        };
        let [result] = large.rarely(|| [LargeOrder::new(a, x).tail(1.0)], [result]);
        let result = (x.is_infinite() | a.eq(0.0)).select(zero, result);
        let result = (x.eq(0.0) | a.is_infinite()).select(one, result);
        [outside_domain(a, x).select(f64::NAN, result)]
    });
    y
}

/// ∂P(a, x)/∂a.
pub fn igamma_grad_a(b: &mut Builder, a: Value, x: Value) -> Value {
    let [y] = in_double(b, [a, x], |[a, x]| {
        let (zero, nan) = (a.constant(0.0), a.constant(f64::NAN));
        let inside = a.gt(0.0) & x.gt(0.0) & a.lt(f64::INFINITY) & x.lt(f64::INFINITY);
        // Where the density underflows there is nothing left.
        let log_density = a * log_of(x) - x - lgamma_right(a);
        let counts = inside & !log_density.lt(-f64::MAX.ln());
        let large = inside & a.constant(LARGE_ORDER).le(a);
        let order = LargeOrder::new(a, x);
        let in_range = large & order.zeta.abs().lt(40.0);
        let expanded = counts & !in_range;
        let result = if a.from_single {
            lower_gamma_by_order(a, x, expanded)
        } else {
            double::lower_gamma_by_order(a, x, expanded)
        };
        let result = counts.select(result, -zero);
        let [result] = in_range.rarely(|| [LargeOrder::new(a, x).lower_by_order(x)], [result]);
        let defined = a.gt(0.0) & !x.lt(0.0) & !x.is_nan();
        let at_zero = defined & x.eq(0.0);
        [at_zero.select(zero, inside.select(result, nan))]
    });
    y
}

/// I_x(a, b).
pub fn incomplete_beta(builder: &mut Builder, a: Value, b: Value, x: Value) -> Value {
    let [y] = in_double(builder, [a, b, x], |[a, b, x]| {
        let zero = a.constant(0.0);
        let inside = zero.lt(a) & zero.lt(b) & zero.lt(x) & x.lt(1.0);
        let usual = inside & a.lt(f64::INFINITY) & b.lt(f64::INFINITY);
        let result = if a.from_single {
            incomplete_beta_single(a, b, x, usual)
        } else {
            double::incomplete_beta(a, b, x, usual)
        };
        let result = (x.eq(0.0) | x.eq(1.0)).select(x, result);
        // All the mass at one end.
        let at_zero = a.eq(0.0) | b.eq(f64::INFINITY);
        let at_one = b.eq(0.0) | a.eq(f64::INFINITY);
        let result = at_zero.select(x.gt(0.0).select(1.0, zero), result);
        let result = (at_one & !at_zero).select(x.eq(1.0).select(1.0, zero), result);
        let defined = zero.le(a) & zero.le(b) & zero.le(x) & x.le(1.0);
        let defined = defined & !(at_zero & at_one);
        [defined.select(result, a.constant(f64::NAN))]
    });
    y
}

/// [`incomplete_beta`] of `f32`, where `usual`.
fn incomplete_beta_single<'a>(a: Expr<'a>, b: Expr<'a>, x: Expr<'a>, usual: Expr<'a>) -> Expr<'a> {
    // On the side where the fraction converges quickly.
    let one = a.constant(1.0);
    let y = one - x;
    let near = x.lt((a + 1.0) / (a + b + 2.0));
    let (p, q) = (near.select(a, b), near.select(b, a));
    let (s, t) = (near.select(x, y), near.select(y, x));
    let many = p.gt(MOST_OF_THE_FRACTION) & q.gt(MOST_OF_THE_FRACTION);
    let tail = beta_fraction(p, q, s, usual & !many, SETTLED);
    let [tail] = (usual & many).rarely(|| [tail_of_large(p, q, s, t)], [tail]);
    let part = density(p, q, s, t) * tail;
    let result = near.select(part, one - part);
    // Where nearly all cancels (next to 1, for a very small b), by the fraction on the other side, however slowly.
    let cancelled = usual & !many & !near & result.lt(1e-4);
    let direct = || [density(a, b, x, y) * beta_fraction(a, b, x, cancelled, 5e-16)];
    let [result] = cancelled.rarely(direct, [result]);
    result
}

/// How small the change of a sum or a fraction is, relative to it, that no longer counts.
const SETTLED: f64 = 1e-12;

/// Steps after which an expansion is taken as converged.
const MAX_STEPS: f64 = 50_000.0;

/// The order from which Temme's expansion is used.
const LARGE_ORDER: f64 = 1e6;

/// Whether both are finite and positive, of large orders and of others.
fn orders<'a>(a: Expr<'a>, x: Expr<'a>) -> (Expr<'a>, Expr<'a>) {
    let inside = a.gt(0.0) & x.gt(0.0) & a.lt(f64::INFINITY) & x.lt(f64::INFINITY);
    let large = a.constant(LARGE_ORDER).le(a);
    (inside & large, inside & !large)
}

fn outside_domain<'a>(a: Expr<'a>, x: Expr<'a>) -> Expr<'a> {
    let same_limit = (a.eq(0.0) & x.eq(0.0)) | (a.is_infinite() & x.is_infinite());
    a.is_nan() | x.is_nan() | a.lt(0.0) | x.lt(0.0) | same_limit
}

/// x^a e^-x / Γ(a + 1).
fn density_over_a<'a>(a: Expr<'a>, x: Expr<'a>) -> Expr<'a> {
    exp_of(log_of(x) * a - x - lgamma_right(a + 1.0))
}

/// P(a, x) by its power series, where `active`.
fn lower_series<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> Expr<'a> {
    let zero = a.constant(0.0);
    let x = active.select(x, zero);
    let one = a.constant(1.0);
    let [_, _, sum] = iterate(
        [a, active.select(one, zero), one],
        |[r, term, sum]| term.gt(sum * SETTLED) & (r - a).lt(MAX_STEPS),
        |[r, term, sum]| {
            let r = r + 1.0;
            let term = term * x / r;
            [r, term, sum + term]
        },
    );
    density_over_a(a, x) * sum
}

/// ∂P(a, x)/∂a of `f32`, where `active`.
fn lower_gamma_by_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> Expr<'a> {
    let one = a.constant(1.0);
    let upper = active & x.gt(1.0) & x.gt(a);
    let (a, x) = (active.select(a, one), active.select(x, one));
    // The logarithmic derivative of Γ(a) or Γ(a + 1).
    let slope = log_of(x) - digamma_of(upper.select(a, a + 1.0));
    let density = density_over_a(a, x);
    let (sum, by_a) = series_by_order(a, x, active & !upper);
    let result = density * (sum * slope + by_a);
    let fraction = || {
        let (fraction, by_a) = fraction_by_order(a, x, upper);
        [-(density * a * (fraction * slope + by_a))]
    };
    let [result] = upper.rarely(fraction, [result]);
    result
}

/// The sum of [`lower_series`] and its derivative by a, where `active`.
fn series_by_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> (Expr<'a>, Expr<'a>) {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let x = active.select(x, zero);
    let [.., sum, sum_by_a] = iterate(
        [zero, active.select(one, zero), zero, one, zero],
        |[step, term, by_a, _, sum_by_a]| {
            let moves = by_a.abs().gt(sum_by_a.abs() * SETTLED) | step.eq(0.0);
            moves & term.gt(0.0) & step.lt(MAX_STEPS)
        },
        |[step, term, by_a, sum, sum_by_a]| {
            let step = step + 1.0;
            let reciprocal = one / (a + step);
            let factor = x * reciprocal;
            let by_a = (by_a - term * reciprocal) * factor;
            let term = term * factor;
            [step, term, by_a, sum + term, sum_by_a + by_a]
        },
    );
    (sum, sum_by_a)
}

/// The continued fraction of Γ(a, x) / (x^a e^-x) and its derivative by a, where `active`.
fn fraction_by_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> (Expr<'a>, Expr<'a>) {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let (x, a) = (active.select(x, one), active.select(a, one));
    let y = one - a;
    let z = x + y + 1.0;
    let (p, q) = (x + 1.0, z * x);
    // Of convergents p / q: the last but one, the last, and their derivatives by a; then the last quotient and how it has changed.
    let (value, by_a) = (p / q, (p * x) / (q * q));
    let change = active.select(f64::INFINITY, zero);
    let [.., value, by_a, _] = iterate(
        [
            zero, one, x, p, q, zero, zero, zero, -x, value, by_a, change,
        ],
        |s| s[11].gt(s[10].abs() * SETTLED) & s[0].lt(MAX_STEPS),
        |[step, p2, q2, p1, q1, dp2, dq2, dp1, dq1, _, last_by_a, _]| {
            let step = step + 1.0;
            let (y, z) = (y + step, z + (step + step));
            let product = y * step;
            let p = p1 * z - p2 * product;
            let q = q1 * z - q2 * product;
            let dp = dp1 * z - p1 - dp2 * product + p2 * step;
            let dq = dq1 * z - q1 - dq2 * product + q2 * step;
            let value = p / q;
            let by_a = (dp - value * dq) / q;
            let change = (by_a - last_by_a).abs();
            let factor = p.abs().gt(1e16).select(2f64.powi(-52), one);
            let [p1, q1, p, q, dp1, dq1, dp, dq] =
                [p1, q1, p, q, dp1, dq1, dp, dq].map(|v| v * factor);
            [step, p1, q1, p, q, dp1, dq1, dp, dq, value, by_a, change]
        },
    );
    (value, by_a)
}

/// Q(a, x) by its continued fraction, where `active`.
fn upper_fraction<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> Expr<'a> {
    let one = a.constant(1.0);
    let density = density_over_a(a, x) * a;
    // Also where the convergents would overflow.
    let active = active & density.gt(0.0);
    let (x, a) = (active.select(x, one), active.select(a, one));
    let y = one - a;
    let z = x + y + 1.0;
    let (p, q) = (x + 1.0, z * x);
    let result = p / q;
    let change = active.select(f64::INFINITY, a.constant(0.0));
    let [.., result, _] = iterate(
        [a.constant(0.0), one, x, p, q, result, change],
        |[step, _, _, _, _, result, change]| change.gt(result.abs() * SETTLED) & step.lt(MAX_STEPS),
        |[step, p2, q2, p1, q1, result, _]| {
            let step = step + 1.0;
            let (y, z) = (y + step, z + (step + step));
            let product = y * step;
            let p = p1 * z - p2 * product;
            let q = q1 * z - q2 * product;
            let next = q.eq(0.0).select(result, p / q);
            let change = (next - result).abs();
            let factor = p.abs().gt(1e16).select(2f64.powi(-52), one);
            [
                step,
                p1 * factor,
                q1 * factor,
                p * factor,
                q * factor,
                next,
                change,
            ]
        },
    );
    let result = density * result;
    density.eq(0.0).select(density, result)
}

/// Q(a, x) for a below 1 and x below 2, where it may be small beside P.
fn upper_of_small_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> Expr<'a> {
    // ln Γ(1 + a) / a + γ from its series, a constant first.
    const SERIES: [f64; 7] = [
        0.8224670334241132,
        -0.40068563438653143,
        0.27058080842778454,
        -0.20738555102867398,
        0.1695571769974082,
        -0.1440498967688461,
        0.12550966952474304,
    ];
    let zero = a.constant(0.0);
    let a = active.select(a, a.constant(1.0));
    let x = active.select(x, a.constant(1.0));
    let small = a * a.fma(a.nested(&SERIES), -0.5772156649015329);
    let log_gamma = a.gt(1e-3).select(lgamma_right(a + 1.0), small);
    let minus_one = (a * log_of(x) - log_gamma).call(expm1);
    let [_, _, sum] = iterate(
        [zero, active.select(1.0, zero), zero],
        |[n, term, _]| term.abs().gt(1e-18) & n.lt(45.0),
        |[n, term, sum]| {
            let n = n + 1.0;
            let term = -(term * x / n);
            [n, term, sum + term * a / (a + n)]
        },
    );
    -((minus_one + 1.0).fma(sum, minus_one))
}

/// P and Q of a large order by Temme's uniform asymptotic expansion.
struct LargeOrder<'a> {
    a: Expr<'a>,
    /// η √(a/2).
    zeta: Expr<'a>,
    /// Σ c_k(η) a^-k.
    sum: Expr<'a>,
    /// η.
    eta: Expr<'a>,
}

impl<'a> LargeOrder<'a> {
    fn new(a: Expr<'a>, x: Expr<'a>) -> Self {
        let mu = (x - a) / a;
        let eta = (minus_log1p(mu) * 2.0).sqrt().copysign(mu);
        let (c0, c1, c2) = (eta.nested(&C0), eta.nested(&C1), eta.nested(&C2));
        LargeOrder {
            a,
            zeta: eta * (a * 0.5).sqrt(),
            sum: c0 + (c1 + c2 / a) / a,
            eta,
        }
    }

    /// P for a sign of -1, Q for 1.
    fn tail(&self, sign: f64) -> Expr<'a> {
        let zeta = self.zeta * sign;
        let gaussian = exp_of(-(zeta * zeta));
        let correction = gaussian * self.sum / (self.a * (2.0 * PI)).sqrt();
        let correction = gaussian.eq(0.0).select(gaussian, correction);
        zeta.call(erfc) * 0.5 + correction * sign
    }

    /// ∂P/∂a at fixed `x`.
    fn lower_by_order(&self, x: Expr<'a>) -> Expr<'a> {
        let LargeOrder { a, zeta, sum, eta } = *self;
        let log_ratio = ((x - a) / a).call(log1p);
        let one = a.constant(1.0);
        // Derivatives by η and, from ∂ζ²/∂a = -ln λ, by a.
        let by_eta = |c: &[f64]| {
            let factors = (c.iter().zip(0u32..)).map(|(c, k)| c * f64::from(k));
            eta.nested(&factors.skip(1).collect::<Vec<f64>>())
        };
        let sum_by_eta = by_eta(&C0) + (by_eta(&C1) + by_eta(&C2) / a) / a;
        let at_mean = -one / (a + a).sqrt();
        let zeta_by_a = zeta.eq(0.0).select(at_mean, -log_ratio / (zeta + zeta));
        let eta_by_a = (a.constant(2.0) / a).sqrt() * (zeta_by_a - zeta / (a + a));
        let remainder = sum * (log_ratio - a.constant(0.5) / a) + sum_by_eta * eta_by_a
            - a.constant(C1[0]) / (a * a);
        let scaled = zeta_by_a / a.constant(PI).sqrt() - remainder / (a * (2.0 * PI)).sqrt();
        let gaussian = exp_of(-(zeta * zeta));
        gaussian.eq(0.0).select(gaussian, gaussian * scaled)
    }
}

/// t - ln(1 + t), without cancellation near zero.
pub(super) fn minus_log1p(t: Expr<'_>) -> Expr<'_> {
    // With r = t / (2 + t): ln(1 + t) = 2 (r + r³/3 + r⁵/5 + …) and t - 2r = t·r.
    let r = t / (t + 2.0);
    let square = r * r;
    let odd = square.nested(&[1.0 / 3.0, 1.0 / 5.0, 1.0 / 7.0, 1.0 / 9.0, 1.0 / 11.0]);
    let near = r * (t - square * 2.0 * odd);
    t.abs().lt(0.02).select(near, t - t.call(log1p))
}

/// lnΓ(x) - ((x - ½) ln x - x + ½ ln 2π) for x >= 10.
pub(super) fn stirling_tail(x: Expr<'_>) -> Expr<'_> {
    let inverse = x.constant(1.0) / x;
    let series = [
        1.0 / 12.0,
        -1.0 / 360.0,
        1.0 / 1260.0,
        -1.0 / 1680.0,
        1.0 / 1188.0,
        -691.0 / 360_360.0,
        1.0 / 156.0,
        -3617.0 / 122_400.0,
    ];
    (inverse * inverse).nested(&series) * inverse
}

/// The smaller parameter up to which the continued fraction of the beta function is used.
pub(super) const MOST_OF_THE_FRACTION: f64 = 1e7;

/// The continued fraction of I_x(a, b) · a B(a, b) / (x^a (1 - x)^b), by the modified Lentz method, where `active`, until a
/// turn of two steps changes it by no more than `settled`.
fn beta_fraction<'a>(
    a: Expr<'a>,
    b: Expr<'a>,
    x: Expr<'a>,
    active: Expr<'a>,
    settled: f64,
) -> Expr<'a> {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let (a, b) = (active.select(a, one), active.select(b, one));
    let x = active.select(x, zero);
    let away_from_zero = |v: Expr<'a>| v.abs().lt(1e-300).select(1e-300, v);
    let step = |numerator: Expr<'a>, c: Expr<'a>, d: Expr<'a>| {
        let c = away_from_zero(numerator / c + 1.0);
        let d = one / away_from_zero(numerator * d + 1.0);
        (c, d)
    };
    // The first step stands for itself: its numerator is that of m = 0.
    let sum = a + b;
    let (c, d) = step(-(sum * x / (a + 1.0)), one, zero);
    let first = c * d;
    let change = active.select(f64::INFINITY, zero);
    let [.., h, _] = iterate(
        [zero, c, d, first, change],
        |[m, _, _, _, change]| change.gt(settled) & m.lt(1e5),
        |[m, c, d, h, _]| {
            let m = m + 1.0;
            let twice = a + (m + m);
            let even = m * (b - m) * x / ((twice - 1.0) * twice);
            let (c, d) = step(even, c, d);
            let first = c * d;
            let odd = -((a + m) * (sum + m) * x / (twice * (twice + 1.0)));
            let (c, d) = step(odd, c, d);
            let second = c * d;
            // Where one parameter is large every second factor is near 1 long before the others are.
            let change = (first - 1.0).abs() + (second - 1.0).abs();
            [m, c, d, h * first * second, change]
        },
    );
    one / h
}

/// The same of two large parameters, as an integral by the trapezoidal rule.
fn tail_of_large<'a>(a: Expr<'a>, b: Expr<'a>, x: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    const STEP: f64 = 1.0 / 16.0;
    let (a_less, b_less) = (a - 1.0, b - 1.0);
    let ratio = x / y;
    let slope = a_less - b_less * ratio;
    let root = (b_less * ratio).fma(ratio, a_less).sqrt();
    let steep = slope.abs();
    let width = a.constant(1.0) / steep.gt(root).select(steep, root);
    let [_, sum] = iterate(
        [a.constant(-64.0), a.constant(0.0)],
        |[step, _]| step.lt(96.0),
        |[step, sum]| {
            let u = step * STEP;
            let shrink = exp_of(-u);
            let v = exp_of(u - shrink) * width;
            let curved = a_less * minus_log1p(-v) + b_less * minus_log1p(ratio * v);
            let term = exp_of(-(slope * v) - curved) * v * (shrink + 1.0);
            [step + 1.0, sum + v.lt(1.0).select(term, term.constant(0.0))]
        },
    );
    sum * STEP * a / y
}

/// x^a y^b / (a B(a, b)) for y = 1 - x.
fn density<'a>(a: Expr<'a>, b: Expr<'a>, x: Expr<'a>, y: Expr<'a>) -> Expr<'a> {
    // The larger of x and y carries the rounding of 1 - x in its logarithm otherwise.
    let log = |v: Expr<'a>, other: Expr<'a>| v.gt(0.5).select((-other).call(log1p), log_of(v));
    let (log_x, log_y) = (log(x, y), log(y, x));
    let powers = a * log_x + b * log_y;
    // a B(a, b) = Γ(a + 1) Γ(b) / Γ(a + b).
    let n = a + b;
    let direct = powers + lgamma_right(n) - (lgamma_right(a + 1.0) + lgamma_right(b));
    let both = a.constant(10.0).le(a) & a.constant(10.0).le(b);
    let one_large = (a.gt(1e3) | b.gt(1e3)) & !both;
    let [exponent] = one_large.rarely(
        || {
            // By the quotient of the gamma functions of large arguments, without terms that cancel.
            let first = a.lt(b);
            let (small, large) = (first.select(a, b), first.select(b, a));
            let quotient = small * (log_of(n) - 1.0) + (large - 0.5) * (small / large).call(log1p)
                - (stirling_tail(large) - stirling_tail(n));
            let of_small = first.select(
                lgamma_right(small + 1.0),
                log_of(large) + lgamma_right(small),
            );
            [powers - of_small + quotient]
        },
        [direct],
    );
    let usual = exp_of(exponent);
    let [result] = both.rarely(
        || {
            // With the means x₀ = a / n, y₀ = b / n the linear terms cancel.
            let deviation = x.fma(b, -(y * a));
            let exponent = a * minus_log1p(deviation / a) + b * minus_log1p(-deviation / b);
            let tails = stirling_tail(a) + stirling_tail(b) - stirling_tail(n);
            [exp_of(-exponent - tails) * (b / (a * n * (2.0 * PI))).sqrt()]
        },
        [usual],
    );
    result
}

const C0: [f64; 10] = [
    -0.3333333333333333,
    0.08333333333333333,
    -0.014814814814814815,
    0.0011574074074074073,
    0.0003527336860670194,
    -0.00017875514403292182,
    3.919263178522438e-5,
    -2.185448510679992e-6,
    -1.85406221071516e-6,
    8.296711340953086e-7,
];

const C1: [f64; 5] = [
    -0.001851851851851852,
    -0.003472222222222222,
    0.0026455026455026454,
    -0.0009902263374485596,
    0.00020576131687242798,
];

const C2: [f64; 2] = [0.004133597883597883, -0.0026813271604938273];
