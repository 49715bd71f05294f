//! Hypergeometric functions.

use jaxide_core::DType;

use crate::api::library_jvp;
use crate::array::Array;
use crate::control::{cond, fori_loop, while_loop};
use crate::numpy::round;
use crate::numpy::{remainder, where_};
use crate::scipy::operands::{constant, epsilon, floats, tangent_of};
use crate::scipy::pieces::elementwise;
use crate::scipy::special::{digamma, gamma};
use crate::trace::library::library_call;
use crate::{lax, numpy};

/// How many terms a series has at most.
const TERMS: i32 = 250;

/// A named function of the elements of operands, which are promoted and broadcast.
#[track_caller]
fn of_elements<const N: usize>(
    name: &str,
    operands: [Array; N],
    f: impl Fn([Array; N]) -> Array,
) -> Array {
    let given: Vec<Array> = operands.to_vec();
    let results = library_call(name, "", &given, |operands| {
        let operands = floats::<N>(name, std::array::from_fn(|at| operands[at].clone()));
        let shapes = operands.each_ref().map(Array::shape);
        let shape = numpy::broadcast_shapes(name, &shapes);
        let operands = operands.map(|x| numpy::broadcast_to(&x, &shape));
        let result = elementwise(shape.len(), operands.into(), &|operands| {
            f(std::array::from_fn(|at| operands[at].clone()))
        });
        vec![result]
    });
    results[0].clone()
}

/// The sum of `term[k] * weight(k)`, where each term follows from the one before, until they no longer change it.
#[track_caller]
fn series(
    [start, first]: [Array; 2],
    weight: impl FnOnce(&Array) -> Array,
    next: impl FnOnce(&Array, Array) -> Array,
) -> Array {
    let precision = epsilon(first.dtype());
    let (sum, ..) = while_loop(
        |(sum, k, term): (Array, Array, Array)| {
            k.lt(TERMS) & (lax::abs(&term) / lax::abs(&sum)).gt(precision)
        },
        |(sum, k, term): (Array, Array, Array)| {
            let sum = sum + &term * weight(&k);
            let term = next(&k, term);
            (sum, &k + 1.0, term)
        },
        (start, constant(&first, 1.0) + 0.0 * &first, first),
    );
    sum
}

/// The confluent hypergeometric function `1F1(a; b; x)` of Kummer: the sum of `(a)_k / (b)_k x^k / k!`.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::hyp1f1(1.0, 1.0, 1.0).item::<f32>();
/// assert!((y - 1f32.exp()).abs() < 1e-5);
/// ```
#[track_caller]
pub fn hyp1f1(a: impl Into<Array>, b: impl Into<Array>, x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("hyp1f1");
    library_jvp(
        ["hyp1f1", "jvp"],
        (a.into(), b.into(), x.into()),
        |(a, b, x): (Array, Array, Array)| of_elements("hyp1f1", [a, b, x], confluent),
        |(a, b, x): (Array, Array, Array), (a_dot, b_dot, x_dot): (Array, Array, Array)| {
            let result = hyp1f1(&a, &b, &x);
            let derivative = |name: &str, weight: fn(&[Array; 3], &Array) -> Array| {
                of_elements(name, [a.clone(), b.clone(), x.clone()], |operands| {
                    let [a, b, x] = &operands;
                    let first = a / b * x;
                    let zero = 0.0 * &first;
                    series(
                        [zero, first],
                        |k| weight(&operands, k),
                        |k, term| term * ((a + k) / (b + k) * x / (k + 1.0)),
                    )
                })
            };
            let in_a = || {
                derivative("_hyp1f1_a_derivative", |[a, _, _], k| {
                    digamma(a + k) - digamma(a)
                })
            };
            let in_b = || {
                derivative("_hyp1f1_b_derivative", |[_, b, _], k| {
                    digamma(b) - digamma(b + k)
                })
            };
            let in_x = || numpy::divide(&a, &b) * hyp1f1(&a + 1, &b + 1, &x);
            let tangent = tangent_of(
                &result,
                &[(&a_dot, &in_a), (&b_dot, &in_b), (&x_dot, &in_x)],
            );
            (result, tangent)
        },
    )
}

#[track_caller]
fn confluent([a, b, x]: [Array; 3]) -> Array {
    let near = lax::abs(&x).lt(100);
    let by_series = |(a, b, x): (Array, Array, Array)| {
        let first = &a / &b * &x;
        let one = constant(&x, 1.0) + 0.0 * &first;
        series(
            [one, first],
            |_| constant(&x, 1.0),
            |k, term| term * ((&a + k) / (&b + k) * &x / (k + 1.0)),
        )
    };
    let asymptotic = |(a, b, x): (Array, Array, Array)| {
        let first = (&b - &a) * (1.0 - &a) / &x;
        let one = constant(&x, 1.0) + 0.0 * &first;
        let sum = series(
            [one, first],
            |_| constant(&x, 1.0),
            |k, term| term * ((&b - &a + k) * (1.0 - &a + k) / (k + 1.0) / &x),
        );
        gamma(&b) / gamma(&a) * lax::exp(&x) * numpy::power(&x, &(&a - &b)) * sum
    };
    let operands = (a.clone(), b.clone(), x.clone());
    let result = cond(near, by_series, asymptotic, operands);
    let nonzero = a.not_equal(0);
    let infinite = b.equal(0) & &nonzero;
    let exponential = a.equal(&b) & nonzero;
    let result = where_(&exponential, x.exp(), result);
    let result = where_(&infinite, f64::INFINITY, result);
    where_(&a.equal(0), 1.0, result).astype(x.dtype())
}

/// The hypergeometric function `2F1(a, b; c; x)` of Gauss, the sum of `(a)_k (b)_k / (c)_k x^k / k!`, for `x` up to 1.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::hyp2f1(1.0, 1.0, 2.0, 0.5).item::<f32>();
/// assert!((y - 2.0 * 2f32.ln()).abs() < 1e-5);
/// ```
#[track_caller]
pub fn hyp2f1(
    a: impl Into<Array>,
    b: impl Into<Array>,
    c: impl Into<Array>,
    x: impl Into<Array>,
) -> Array {
    let _named = crate::trace::named("hyp2f1");
    type Four = (Array, Array, Array, Array);
    library_jvp(
        ["hyp2f1", "jvp"],
        (a.into(), b.into(), c.into(), x.into()),
        |(a, b, c, x): Four| of_elements("hyp2f1", [a, b, c, x], gauss),
        |(a, b, c, x): Four, (a_dot, b_dot, c_dot, x_dot): Four| {
            let result = hyp2f1(&a, &b, &c, &x);
            let derivative = |name: &str, weight: fn(&[Array; 4], &Array) -> Array| {
                let operands = [&a, &b, &c, &x].map(Array::clone);
                of_elements(name, operands, |operands| {
                    let [a, b, c, x] = &operands;
                    let first = a * b / c * x;
                    let zero = 0.0 * &first;
                    series(
                        [zero, first],
                        |k| weight(&operands, k),
                        |k, term| term * ((a + k) * (b + k) / (c + k) / (k + 1.0) * x),
                    )
                })
            };
            let in_a = || {
                derivative("_hyp2f1_a_derivative", |[a, ..], k| {
                    digamma(a + k) - digamma(a)
                })
            };
            let in_b = || {
                derivative("_hyp2f1_b_derivative", |[_, b, ..], k| {
                    digamma(b + k) - digamma(b)
                })
            };
            let in_c = || {
                derivative("_hyp2f1_c_derivative", |[_, _, c, _], k| {
                    digamma(c) - digamma(c + k)
                })
            };
            let in_x = || numpy::divide(&(&a * &b), &c) * hyp2f1(&a + 1, &b + 1, &c + 1, &x);
            let tangent = tangent_of(
                &result,
                &[
                    (&a_dot, &in_a),
                    (&b_dot, &in_b),
                    (&c_dot, &in_c),
                    (&x_dot, &in_x),
                ],
            );
            (result, tangent)
        },
    )
}

/// Whether a number is nearly whole.
#[track_caller]
fn is_whole(x: &Array) -> Array {
    (x - round(x, ())).abs().lt(50.0 * epsilon(x.dtype()))
}

#[track_caller]
fn gauss([a, b, c, x]: [Array; 4]) -> Array {
    let d = &c - &a - &b;
    let s: Array = 1 - &x;
    let ca = &c - &a;
    let cb = &c - &b;
    let whole = remainder(&c, 1).equal(0);
    let trivial = x.equal(0) | ((a.equal(0) | b.equal(0)) & c.not_equal(0));
    let pole = c.equal(0) | (c.lt(0) & whole);
    let diverges = d.le(-1) & !(!is_whole(&d) & s.lt(0));
    let conditions = [
        trivial,
        pole,
        diverges,
        d.le(0) & x.equal(1),
        x.lt(1) & b.equal(&c),
        x.lt(1) & a.equal(&c),
        x.gt(1),
        x.equal(1),
    ];
    let infinity = constant(&x, f64::INFINITY);
    let values = [
        constant(&x, 1.0),
        infinity.clone(),
        numpy::power(&s, &d) * finite_or_series(&ca, &cb, &c, &x),
        infinity.clone(),
        numpy::power(&s, &-&a),
        numpy::power(&s, &-&b),
        infinity,
        gamma(&c) * gamma(&d) / (gamma(&ca) * gamma(&cb)),
    ];
    let mut result = finite_or_series(&a, &b, &c, &x);
    for (condition, value) in conditions.iter().zip(values).rev() {
        result = where_(condition, value, result);
    }
    result
}

#[track_caller]
fn finite_or_series(a: &Array, b: &Array, c: &Array, x: &Array) -> Array {
    let d = c - a - b;
    let ends = (a.le(0) & is_whole(a)) | (b.le(0) & is_whole(b));
    let near_one = x.gt(0.9) & !&ends & is_whole(&d);
    let sum = power_series(a, b, c, x);
    let transformed = digamma_transform(a, b, c, x);
    let terminal = finite_sum(a, b, c, x);
    let result = where_(&near_one, transformed, sum);
    where_(&(ends & !near_one), terminal, result)
}

#[track_caller]
fn power_series(a: &Array, b: &Array, c: &Array, x: &Array) -> Array {
    let precision = epsilon(x.dtype());
    let base = |value: f64| constant(x, value) + 0.0 * (a + b + c + x);
    let (sum, ..) = while_loop(
        |(sum, k, term): (Array, Array, Array)| {
            k.lt(TERMS) & lax::abs(&term).gt(precision * lax::abs(&sum))
        },
        |(sum, k, term): (Array, Array, Array)| {
            let sum = sum + &term;
            let term = term * ((a + &k - 1.0) * (b + &k - 1.0) / (c + &k - 1.0) / &k * x);
            (sum, k + 1.0, term)
        },
        (base(0.0), base(1.0), base(1.0)),
    );
    sum
}

/// The series where `a` or `b` is a negative integer, so that it ends.
#[track_caller]
fn finite_sum(a: &Array, b: &Array, c: &Array, x: &Array) -> Array {
    let within = remainder(c, 1).equal(0) & c.le(0) & c.gt(b);
    let swap = b.lt(a) & is_whole(b) & !within;
    let first = where_(&swap, b, a).abs();
    let second = where_(&swap, a, b);
    let base = |value: f64| constant(x, value) + 0.0 * (a + b + c + x);
    let (sum, ..) = while_loop(
        |(_, i, _): (Array, Array, Array)| i.lt(&first + 1.0),
        |(sum, i, term): (Array, Array, Array)| {
            let factor = -(&first - &i + 1.0) / (c + &i - 1.0) * (&second + &i - 1.0) / &i * x;
            let term = term * factor;
            (sum + &term, i + 1.0, term)
        },
        (base(1.0), base(1.0), base(1.0)),
    );
    sum
}

/// Near 1, where `c - a - b` is a whole number: formulas 15.3.10 to 15.3.12 of Abramowitz and Stegun.
#[track_caller]
fn digamma_transform(a: &Array, b: &Array, c: &Array, x: &Array) -> Array {
    let precision = epsilon(x.dtype());
    let d = c - a - b;
    let s: Array = 1 - x;
    let rd = round(&d, ());
    let upper = rd.ge(0);
    let e = where_(&upper, &d, -&d);
    let d1 = where_(&upper, &d, constant(&d, 0.0));
    let d2 = where_(&upper, constant(&d, 0.0), &d);
    let count = where_(&upper, &rd, -&rd).astype(DType::I32);
    let log = s.log();
    let start = constant(x, 1.0);
    let y = digamma(&start) + digamma(1.0 + &e) - digamma(a + &d1) - digamma(b + &d1) - &log;
    let y = y / gamma(&e + 1.0);
    let p = (a + &d1) * (b + &d1) * &s / gamma(&e + 2.0);
    let (y, ..) = while_loop(
        |(y, _, q, t): (Array, Array, Array, Array)| t.lt(TERMS) & q.abs().ge(precision * y.abs()),
        |(y, p, _, t): (Array, Array, Array, Array)| {
            let r = digamma(1.0 + &t) + digamma(1.0 + &t + &e)
                - digamma(a + &t + &d1)
                - digamma(b + &t + &d1)
                - &log;
            let q = &p * r;
            let p = p * (&s * (a + &t + &d1) / (&t + 1.0));
            let p = p * ((b + &t + &d1) / (&t + 1.0 + &e));
            (y + &q, p, q, t + 1.0)
        },
        (y.clone(), p, y.clone(), start.clone() + 0.0 * &y),
    );
    let one = || &start + 0.0 * &y;
    let (_, _, sum) = fori_loop(
        1,
        count.clone(),
        |_, (t, p, sum): (Array, Array, Array)| {
            let r = 1.0 - &e + &t;
            let p = p * (&s * (a + &t + &d2) * (b + &t + &d2) / r);
            let t = t + 1.0;
            let p = p / &t;
            let sum = sum + &p;
            (t, p, sum)
        },
        (0.0 * &y, one(), one()),
    );
    let p = gamma(c);
    let finite = sum * (gamma(&e) * &p / (gamma(a + &d1) * gamma(b + &d1)));
    let rest = &y * (&p / (gamma(a + &d2) * gamma(b + &d2)));
    let odd = (count & 1).not_equal(0);
    let rest = where_(&odd, -&rest, rest);
    let q = numpy::power(&s, &rd);
    let joined = where_(&rd.gt(0), &rest * &q + &finite, &rest + &finite * &q);
    where_(&rd.equal(0), y * p / (gamma(a) * gamma(b)), joined)
}
