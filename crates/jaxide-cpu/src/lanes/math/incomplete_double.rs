//! The incomplete gamma and beta functions and the derivative by the order in double precision, as the interpreter computes them: in twice the
//! digits, because the exponents of the densities are large, because expansions have many terms, and because those of the derivative cancel.

use super::exp::exp_of;
use super::expr::{Expr, iterate};
use super::gamma::lgamma_right;
use super::incomplete::{MOST_OF_THE_FRACTION, minus_log1p, stirling_tail};
use super::log::{log_of, split};
use super::log1p;
use super::wide::Wide;
use std::f64::consts::PI;

/// The change of a sum or fraction, relative to it, that no longer counts.
const SETTLED: f64 = 1e-18;

/// Steps after which an expansion is taken as converged.
const MAX_STEPS: f64 = 50_000.0;

/// Up to here P is summed on both sides of its median: a step of the series is worth a fifth of one of the fraction.
const MOST_OF_THE_SERIES: f64 = 40.0;

/// From here on Q is what P leaves of 1: that is correct to 28 digits, and so Q to the 18 that are asked of it.
const LEAST_OF_THE_REST: f64 = 1e-10;

/// P(a, x) where `active`.
pub(super) fn lower_gamma<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> Expr<'a> {
    let one = a.constant(1.0);
    // Elsewhere the logarithm of Γ would not come to an end.
    let (a, x) = (active.select(a, one), active.select(x, one));
    let upper = active & x.gt(a) & x.gt(MOST_OF_THE_SERIES);
    let density = density_over_a(a, x);
    let sum = density * power_series(a, x, active & !upper, a.constant(SETTLED));
    let fraction = || [(Wide::from(one) - upper_fraction(a, x, density, upper)).value()];
    let [result] = upper.rarely(fraction, [sum.value()]);
    result
}

/// Q(a, x): by the fraction, as that of a small order, or as what P leaves, where these are active; and as what P leaves wherever that is enough.
pub(super) fn upper_gamma<'a>(
    a: Expr<'a>,
    x: Expr<'a>,
    [upper, small, lower]: [Expr<'a>; 3],
) -> Expr<'a> {
    let one = a.constant(1.0);
    let active = upper | small | lower;
    let (a, x) = (active.select(a, one), active.select(x, one));
    let density = density_over_a(a, x);
    let least = density.value() * a / (x + 1.0);
    let enough = least.gt(LEAST_OF_THE_REST);
    let fraction = upper & (x.gt(MOST_OF_THE_SERIES) | !enough);
    let small = small & !enough;
    let series = active & !fraction & !small;
    let sum = power_series(a, x, series, least * (0.1 * SETTLED));
    let result = (Wide::from(one) - density * sum).value();
    let by_fraction = || [upper_fraction(a, x, density, fraction).value()];
    let [result] = fraction.rarely(by_fraction, [result]);
    let [result] = small.rarely(|| [upper_of_small_order(a, x, small)], [result]);
    result
}

/// ∂P(a, x)/∂a where `active`.
pub(super) fn lower_gamma_by_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> Expr<'a> {
    let one = a.constant(1.0);
    let upper = active & x.gt(1.0) & x.gt(a);
    let (a, x) = (active.select(a, one), active.select(x, one));
    let wide_a = Wide::from(a);
    let log_x = Wide::from(x).log();
    // The logarithmic derivative of Γ(a) or Γ(a + 1).
    let order = Wide::select(upper, wide_a, Wide::sum(a, one));
    let slope = log_x - order.digamma();
    let (sum, by_a) = series_by_order(a, x, active & !upper);
    let series = (sum * slope + by_a).over(wide_a);
    let fraction = || {
        let (fraction, by_a) = fraction_by_order(a, x, upper);
        let ratio = -(fraction * slope + by_a);
        [ratio.high, ratio.low]
    };
    let [high, low] = upper.rarely(fraction, [series.high, series.low]);
    (density_over_a(a, x).times(a) * Wide::new(high, low)).value()
}

/// x^a e^-x / Γ(a + 1), which is about 1 for small a and x.
fn density_over_a<'a>(a: Expr<'a>, x: Expr<'a>) -> Wide<'a> {
    let log_gamma = Wide::sum(a, a.constant(1.0)).lgamma();
    let log_x = Wide::from(x).log();
    (log_x.times(a) - Wide::from(x) - log_gamma).exp()
}

/// Σ xⁿ / ((a + 1) … (a + n)), where `active`, until a term is so small beside the sum.
fn power_series<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>, settled: Expr<'a>) -> Wide<'a> {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let x = active.select(x, zero);
    let [.., sum, sum_low] = iterate(
        [zero, active.select(one, zero), zero, one, zero],
        |[step, term, _, sum, _]| term.gt(sum * settled) & step.lt(MAX_STEPS),
        |[step, term, term_low, sum, sum_low]| {
            let step = step + 1.0;
            let r = Wide::sum(a, step);
            let product = Wide::new(term, term_low).times(x);
            // One division, by the larger part.
            let reciprocal = one / r.high;
            let quotient = product.high * reciprocal;
            let rest = (-quotient).fma(r.high, product.high) + product.low;
            let rest = (-quotient).fma(r.low, rest);
            let term = Wide::sum(quotient, rest * reciprocal);
            let sum = Wide::new(sum, sum_low).near_sum(term);
            [step, term.high, term.low, sum.high, sum.low]
        },
    );
    Wide::new(sum, sum_low)
}

/// Q(a, x) by its continued fraction, where `active`.
fn upper_fraction<'a>(
    a: Expr<'a>,
    x: Expr<'a>,
    density_over_a: Wide<'a>,
    active: Expr<'a>,
) -> Wide<'a> {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let density = density_over_a.times(a);
    // Also where the convergents would overflow.
    let nonzero = !density.value().eq(0.0);
    let active = active & nonzero;
    let (x, a) = (active.select(x, one), active.select(a, one));
    let [start, z, y] = [
        Wide::sum(x, one),
        Wide::sum(one, -a).plus(x).plus(one),
        Wide::sum(one, -a),
    ];
    let first = z.times(x);
    // The quotients p / q, and D = p q₁ - p₁ q of the last two, which tells how far they lie apart.
    let apart = active.select(x * (a - 1.0), zero);
    let [_, _, _, _, p, p_low, _, q, q_low, _] = iterate(
        [
            zero, one, zero, x, start.high, start.low, zero, first.high, first.low, apart,
        ],
        |[step, _, _, q1, p, _, _, _, _, apart]| {
            apart.abs().gt((p * q1).abs() * SETTLED) & step.lt(MAX_STEPS)
        },
        |[step, p1, p1_low, q1, p, p_low, q1_low, q, q_low, apart]| {
            let step = step + 1.0;
            let (y, z) = (y.plus(step), z.plus(step + step));
            let product = y.times(step);
            let (before_p, before_q) = (Wide::new(p1, p1_low), Wide::new(q1, q1_low));
            let (last_p, last_q) = (Wide::new(p, p_low), Wide::new(q, q_low));
            let p = last_p * z - before_p * product;
            let q = last_q * z - before_q * product;
            let factor = down(p.high);
            let [p1, q1, p, q] = [last_p, last_q, p, q].map(|v| scaled(v, factor));
            [
                step,
                p1.high,
                p1.low,
                q1.high,
                p.high,
                p.low,
                q1.low,
                q.high,
                q.low,
                apart * product.high * factor * factor,
            ]
        },
    );
    let result = density * Wide::new(p, p_low).over(Wide::new(q, q_low));
    Wide::select(nonzero, result, Wide::from(zero))
}

/// The power of two that takes a number which has grown back to a moderate size.
fn down(p: Expr<'_>) -> Expr<'_> {
    p.abs().gt(1e16).select(2f64.powi(-52), p.constant(1.0))
}

/// Times a power of two.
fn scaled<'a>(v: Wide<'a>, factor: Expr<'a>) -> Wide<'a> {
    Wide::new(v.high * factor, v.low * factor)
}

/// Q(a, x) for a below 1 and x below 2, where it may be small beside P, where `active`.
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
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let (a, x) = (active.select(a, one), active.select(x, one));
    let euler = Wide::constant(a, (-0.5772156649015329, 4.942915152430645e-18));
    let small = euler.plus(a * a.nested(&SERIES)).times(a);
    let usual = Wide::sum(one, a).lgamma();
    let log_gamma = Wide::select(a.gt(1e-3), usual, small);
    let minus_one = (Wide::from(x).log().times(a) - log_gamma).expm1();
    let [.., sum, sum_low] = iterate(
        [zero, active.select(one, zero), zero, zero, zero],
        |[n, term, ..]| term.abs().gt(1e-22) & n.lt(45.0),
        |[n, term, term_low, sum, sum_low]| {
            let n = n + 1.0;
            let term = -(Wide::new(term, term_low).times(x).over(n.into()));
            let sum = Wide::new(sum, sum_low) + term.over(Wide::sum(a, n));
            [n, term.high, term.low, sum.high, sum.low]
        },
    );
    let part = (minus_one.plus(one) * Wide::new(sum, sum_low)).times(a);
    -((minus_one + part).value())
}

/// Σ xⁿ / ((a + 1) … (a + n)) and its derivative by a, where `active`.
fn series_by_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> (Wide<'a>, Wide<'a>) {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let x = active.select(x, zero);
    let [.., s, sl, b, bl] = iterate(
        [
            zero,
            active.select(one, zero),
            zero,
            zero,
            zero,
            one,
            zero,
            zero,
            zero,
        ],
        |[step, term, _, by_a, _, _, _, sum_by_a, _]| {
            let moves = by_a.abs().gt(sum_by_a.abs() * SETTLED) | step.eq(0.0);
            moves & term.gt(0.0) & step.lt(MAX_STEPS)
        },
        |[
            step,
            term,
            term_low,
            by_a,
            by_a_low,
            sum,
            sum_low,
            sum_by_a,
            sum_by_a_low,
        ]| {
            let step = step + 1.0;
            let (term, by_a) = (Wide::new(term, term_low), Wide::new(by_a, by_a_low));
            let reciprocal = Wide::from(one).over(Wide::sum(a, step));
            let factor = reciprocal.times(x);
            let by_a = (by_a - term * reciprocal) * factor;
            let term = term * factor;
            let sum = Wide::new(sum, sum_low).near_sum(term);
            let sum_by_a = Wide::new(sum_by_a, sum_by_a_low).near_sum(by_a);
            [
                step,
                term.high,
                term.low,
                by_a.high,
                by_a.low,
                sum.high,
                sum.low,
                sum_by_a.high,
                sum_by_a.low,
            ]
        },
    );
    (Wide::new(s, sl), Wide::new(b, bl))
}

/// The continued fraction of Γ(a, x) / (x^a e^-x) and its derivative by a, where `active`.
fn fraction_by_order<'a>(a: Expr<'a>, x: Expr<'a>, active: Expr<'a>) -> (Wide<'a>, Wide<'a>) {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let y = Wide::sum(one, -a);
    let z = y.plus(x).plus(one);
    let (start, first) = (Wide::sum(x, one), z.times(x));
    // As in `upper_fraction`, each number beside its derivative by a.
    let (apart, apart_by_a) = (active.select(x * (a - 1.0), zero), active.select(x, zero));
    let init = [
        [one, zero, zero, zero],
        [x, zero, zero, zero],
        [start.high, start.low, zero, zero],
        [first.high, first.low, -x, zero],
    ];
    let state: [Expr<'a>; 19] = std::array::from_fn(|k| match k {
        0 => zero,
        1 => apart,
        2 => apart_by_a,
        _ => init[(k - 3) / 4][(k - 3) % 4],
    });
    let parts = |s: &[Expr<'a>; 19], k: usize| {
        let at = 3 + 4 * k;
        (Wide::new(s[at], s[at + 1]), Wide::new(s[at + 2], s[at + 3]))
    };
    let last = iterate(
        state,
        |s| {
            let [_, (q1, q1_by_a), (p, p_by_a), (q, q_by_a)] = [0, 1, 2, 3]
                .map(|k| parts(&s, k))
                .map(|(v, d)| (v.high, d.high));
            let (apart, apart_by_a) = (s[1], s[2]);
            let change = apart_by_a * (q * q1) - apart * (q_by_a * q1 + q1_by_a * q);
            let whole = (p_by_a * q - p * q_by_a) * (q1 * q1);
            change.abs().gt(whole.abs() * SETTLED) & s[0].lt(MAX_STEPS)
        },
        |s| {
            let step = s[0] + 1.0;
            let (y, z) = (y.plus(step), z.plus(step + step));
            let product = y.times(step);
            let [p2, q2, p1, q1] = [0, 1, 2, 3].map(|k| parts(&s, k));
            let advance = |one: (Wide<'a>, Wide<'a>), two: (Wide<'a>, Wide<'a>)| {
                let value = one.0 * z - two.0 * product;
                let by_a = one.1 * z - one.0 - two.1 * product + two.0.times(step);
                (value, by_a)
            };
            let (p, q) = (advance(p1, p2), advance(q1, q2));
            let factor = down(p.0.high);
            let (square, product) = (factor * factor, product.high);
            let next = [p1, q1, p, q].map(|(v, d)| (scaled(v, factor), scaled(d, factor)));
            std::array::from_fn(|k| match k {
                0 => step,
                1 => s[1] * product * square,
                2 => (s[2] * product - s[1] * step) * square,
                _ => {
                    let (v, d) = next[(k - 3) / 4];
                    [v.high, v.low, d.high, d.low][(k - 3) % 4]
                }
            })
        },
    );
    let [_, _, (p, p_by_a), (q, q_by_a)] = [0, 1, 2, 3].map(|k| parts(&last, k));
    let value = p.over(q);
    (value, (p_by_a - value * q_by_a).over(q))
}

/// I_x(a, b) where `active`, all three finite and inside of the domain.
pub(super) fn incomplete_beta<'a>(
    a: Expr<'a>,
    b: Expr<'a>,
    x: Expr<'a>,
    active: Expr<'a>,
) -> Expr<'a> {
    let one = a.constant(1.0);
    // On the side where the fraction converges quickly.
    let near = x.lt((a + 1.0) / (a + b + 2.0));
    let (x, y) = (Wide::from(x), Wide::sum(one, -x));
    let (p, q) = (near.select(a, b), near.select(b, a));
    let (s, t) = (Wide::select(near, x, y), Wide::select(near, y, x));
    let many = active & p.gt(MOST_OF_THE_FRACTION) & q.gt(MOST_OF_THE_FRACTION);
    let tail = beta_fraction(p, q, s, active & !many);
    let zero = a.constant(0.0);
    let [high, low] = many.rarely(|| [tail_of_large(p, q, s, t), zero], [tail.high, tail.low]);
    let large = active & (p.gt(MOST_OF_MANY_DIGITS) | q.gt(MOST_OF_MANY_DIGITS));
    // a B(a, b) = Γ(a + 1) Γ(b) / Γ(a + b).
    let (first, second) = (active.select(p, one), active.select(q, one));
    let numerator = s.log().times(p) + t.log().times(q) + Wide::sum(first, second).lgamma();
    let denominator = Wide::sum(first, one).lgamma() + Wide::from(second).lgamma();
    let density = (numerator - denominator).exp();
    let [density, density_low] = large.rarely(
        || [density_of_large(p, q, s, t), zero],
        [density.high, density.low],
    );
    let part = Wide::new(density, density_low) * Wide::new(high, low);
    near.select(part.value(), (Wide::from(one) - part).value())
}

/// The parameter up to which the terms of the density's logarithm may cancel in twice the digits.
const MOST_OF_MANY_DIGITS: f64 = 1e12;

/// The continued fraction of I_x(a, b) · a B(a, b) / (x^a (1 - x)^b) (DLMF 8.17.22), where `active`, as the quotient of a and
/// a + n₁ / (a + 1 + n₂ / (a + 2 + …)), n₂ₘ = m (b - m) x, n₂ₘ₊₁ = -(a + m) (a + b + m) x: no step divides.
fn beta_fraction<'a>(a: Expr<'a>, b: Expr<'a>, x: Wide<'a>, active: Expr<'a>) -> Wide<'a> {
    let (zero, one) = (a.constant(0.0), a.constant(1.0));
    let (a, b) = (active.select(a, one), active.select(b, one));
    let x = Wide::select(active, x, zero.into());
    // Everything that is linear in a is counted in this unit, a power of two, so that nothing overflows.
    let (_, exponent) = split(a.pick_gt(1.0));
    let unit = one.scale(-exponent);
    let (own_unit, sum) = (a * unit, Wide::sum(a * unit, b * unit));
    let odd = |m: Expr<'a>| -(Wide::sum(own_unit, m * unit) * sum.plus(m * unit) * x);
    let even = |m: Expr<'a>| Wide::sum(b, -m).times(unit).times(m * unit) * x;
    let further = |n: Expr<'a>| Wide::sum(own_unit, n * unit);
    // Of two convergents p / q: the one before, and the last; and D = p q₁ - p₁ q, which tells how far they lie apart.
    let first = odd(zero);
    let (p1, q1) = (Wide::from(own_unit), Wide::from(one));
    let (p, q) = (further(one) * p1 + first, further(one));
    let change = active.select(one, zero);
    let [_, _, _, _, _, p, p_low, q, q_low, _, _] = iterate(
        [
            zero, p1.high, p1.low, q1.high, q1.low, p.high, p.low, q.high, q.low, first.high,
            change,
        ],
        |[m, .., change]| change.gt(0.0) & m.lt(1e4),
        |[m, p1, p1_low, q1, q1_low, p, p_low, q, q_low, apart, _]| {
            let m = m + 1.0;
            let (p1, q1) = (Wide::new(p1, p1_low), Wide::new(q1, q1_low));
            let (p, q) = (Wide::new(p, p_low), Wide::new(q, q_low));
            let (n, next) = (even(m), further(m + m));
            let (p2, q2) = (p * next + p1 * n, q * next + q1 * n);
            let between = apart * -n.high;
            let moved = between.abs().gt((p2.high * q.high).abs() * SETTLED);
            let (n, next) = (odd(m), further(m + m + 1.0));
            let (p3, q3) = (p2 * next + p * n, q2 * next + q * n);
            let apart = between * -n.high;
            // Where one parameter is large every second change is small long before the others are.
            let moved = moved | apart.abs().gt((p3.high * q2.high).abs() * SETTLED);
            let up = p3.high.abs().lt(1e-16);
            let factor = up.select(2f64.powi(52), down(p3.high));
            let [p2, q2, p3, q3] = [p2, q2, p3, q3].map(|v| scaled(v, factor));
            [
                m,
                p2.high,
                p2.low,
                q2.high,
                q2.low,
                p3.high,
                p3.low,
                q3.high,
                q3.low,
                apart * factor * factor,
                moved.select(1.0, zero),
            ]
        },
    );
    Wide::new(q, q_low)
        .times(own_unit)
        .over(Wide::new(p, p_low))
}

/// The same of two large parameters, as an integral by the trapezoidal rule.
fn tail_of_large<'a>(a: Expr<'a>, b: Expr<'a>, x: Wide<'a>, y: Wide<'a>) -> Expr<'a> {
    const STEP: f64 = 1.0 / 16.0;
    let minus_one = a.constant(-1.0);
    let (a_less, b_less) = (Wide::sum(a, minus_one), Wide::sum(b, minus_one));
    let ratio = x.over(y).value();
    let slope = (a_less - b_less * x.over(y)).value();
    let (a_less, b_less) = (a_less.high, b_less.high);
    let root = (a_less + b_less * ratio * ratio).sqrt();
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
    sum * STEP * a / y.value()
}

/// x^a y^b / (a B(a, b)) where a or b is large, without terms that cancel.
fn density_of_large<'a>(a: Expr<'a>, b: Expr<'a>, x: Wide<'a>, y: Wide<'a>) -> Expr<'a> {
    // What is left of x b - y a is small beside either.
    let deviation = (x.times(b) - y.times(a)).value();
    let (x, y) = (x.value(), y.value());
    let n = a + b;
    // With the means x₀ = a / n, y₀ = b / n the linear terms cancel.
    let exponent = a * minus_log1p(deviation / a) + b * minus_log1p(-deviation / b);
    let tails = stirling_tail(a) + stirling_tail(b) - stirling_tail(n);
    let of_both = exp_of(-exponent - tails) * (b / (a * n * (2.0 * PI))).sqrt();
    // The larger of x and y carries the rounding of 1 - x or 1 - y in its logarithm otherwise.
    let log = |v: Expr<'a>, other: Expr<'a>| v.gt(0.5).select((-other).call(log1p), log_of(v));
    let powers = a * log(x, y) + b * log(y, x);
    // By the quotient of the gamma functions of large arguments.
    let first = a.lt(b);
    let (small, large) = (first.select(a, b), first.select(b, a));
    let quotient = -((large - 0.5) * (small / large).call(log1p)) - small * log_of(n)
        + small
        + stirling_tail(large)
        - stirling_tail(n);
    let of_small = first.select(lgamma_right(a + 1.0), log_of(a) + lgamma_right(b));
    let of_one = exp_of(powers - (of_small + quotient));
    let both = a.constant(10.0).le(a) & a.constant(10.0).le(b);
    both.select(of_both, of_one)
}
