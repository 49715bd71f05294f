//! Exponential integrals.

use jaxide_core::DType;

use crate::api::library_jvp;
use crate::array::Array;
use crate::control::while_loop;
use crate::numpy::polyval;
use crate::numpy::{isinf, remainder, where_};
use crate::scipy::operands::{constant, epsilon, floats, largest, numbers, tangent_of};
use crate::scipy::pieces::{Piece, elementwise, piecewise};
use crate::scipy::special::gammaln;
use crate::trace::library;
use crate::{lax, numpy};

/// Numerators and denominators of `expi`, the highest degree first: up to 2, 4, 8, 16, 32, 64, and beyond. Those of Cephes.
#[rustfmt::skip]
const PIECES: [(&[f64], &[f64]); 7] = [
    (&[-5.350447357812543, 218.50491688166133, -4176.572384826693, 55411.76756393557, -331338.13311781443, 1592627.1633849454],
     &[1.0, -52.505479591128626, 1259.6161867867906, -17565.495819735348, 149306.2117002726, -729494.9239640528, 1592627.1633849454]),
    (&[0.019818085032596897, -1.2716456259849176, -2.0881603356812284, 2.7555445091879367, -0.44095070487016, 0.046656238059358916, -0.0015450426796734852, 7.059980605299618e-05],
     &[1.0, 1.4764986709149215, 0.5629177174822436, 0.16990178978793072, 0.02291647179034212, 0.0044501504397287525, 0.00017274396122065214, 3.953167195549672e-05]),
    (&[-1.3732153758712087, -0.7084559133740839, 1.580806855547941, -0.2601500427425623, 0.029946746941137137, -0.001038086040188744, 4.371064420753005e-05, 2.141783679522603e-06],
     &[1.0, 0.8585231423622028, 0.4483285822873995, 0.07687932158124476, 0.024498682410218877, 0.0008832165941927797, 0.00045909522995113536, -4.729848351866523e-06, 2.66519553739071e-06]),
    (&[-2.1069346016919166, 1.7327338696646881, -0.2423619178935842, 0.02322724180937566, 0.00023728804404931798, -8.343219561192553e-05, 1.3634087956052505e-05, -3.655412321999254e-07, 1.4649417339759612e-08, 6.17640786371036e-10],
     &[1.0, -0.2298062239901678, 0.11050770414740378, -0.015665429666307924, 0.002761106850817353, -0.00020891480122840484, 1.7085289388076754e-05, -4.4593117963566865e-07, 1.3946349303538475e-08, 6.150865933977338e-10]),
    (&[-0.24581193676740204, -0.14833822533220778, 0.07248291795735552, -0.013483156873809405, 0.001342775069788637, -7.942465637159712e-05, 2.644179518984236e-06, -4.239473659313765e-08],
     &[1.0, -0.10442259084438711, -0.26764531281014026, 0.09695000254621984, -0.01601745692712991, 0.001496414899205908, -8.462452563778485e-05, 2.7289384034767266e-06, -4.239462431819542e-08]),
    (&[0.12125611181054567, -0.5823133179043894, 0.2348887314557017, -0.030400343181132484, 0.0015100821468651906, -2.5231370954995714e-05],
     &[1.0, -1.002252150365854, 0.2928709694872224, -0.03337004338674008, 0.0015605448811273888, -2.5231370936032347e-05]),
    (&[-0.7657847078286127, 0.6886192415566705, -0.2132598113545206, 0.033461075523841935, -0.003076541477344756, 0.00017471193164549074, -6.1037116822741705e-06, 1.218032765428652e-07, -1.0860761027932903e-09],
     &[1.0, -1.8888028686623086, 1.066691687211409, -0.27519159823063805, 0.039308526882338234, -0.003414684558602365, 0.00018668443707035555, -6.345146083130515e-06, 1.239754287483207e-07, -1.0860761027931265e-09]),
];

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

/// The exponential integral `Ei`: the principal value of the integral of `e^t / t` from minus infinity to `x`.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::expi([0.0f32, 1.0]).to_vec::<f32>();
/// assert!(y[0] == f32::NEG_INFINITY && (y[1] - 1.8951178).abs() < 1e-6);
/// ```
#[track_caller]
pub fn expi(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("expi");
    library_jvp(
        ["expi", "expi_jvp"],
        (x.into(),),
        |(x,): (Array,)| {
            library("expi", "", [&x], |[x]| {
                let [x] = floats("expi", [x.clone()]);
                let negative = x.lt(0);
                piecewise(
                    &[x],
                    &[negative],
                    &[&|x| expi_positive(&x[0]), &|x| -exp1(-&x[0])],
                )
            })
        },
        |(x,): (Array,), (t,): (Array,)| {
            let result = expi(&x);
            let slope = || x.exp() / &x;
            let tangent = tangent_of(&result, &[(&t, &slope)]);
            (result, tangent)
        },
    )
}

#[track_caller]
fn expi_positive(x: &Array) -> Array {
    let bounds: Vec<f64> = (1..7).map(|i| 2f64.powi(i)).collect();
    let mut conditions = vec![x.ge(0.0) & x.le(2.0)];
    conditions.extend(bounds.windows(2).map(|ends| x.gt(ends[0]) & x.le(ends[1])));
    let ratio = |x: &Array, piece: usize| {
        let (above, below) = PIECES[piece];
        polyval(&numbers(above, x.dtype()), x) / polyval(&numbers(below, x.dtype()), x)
    };
    let outer = |x: &Array, piece: usize| {
        let one = constant(x, 1.0);
        let w = &one / x;
        let f = &w * ratio(&w, piece) + one;
        x.exp() * w * f
    };
    let near = |x: &[Array]| &x[0] * ratio(&x[0], 0) + constant(&x[0], EULER) + x[0].log();
    let piece = |index: usize| move |x: &[Array]| outer(&x[0], index);
    let pieces = [1, 2, 3, 4, 5, 6].map(piece);
    let mut functions: Vec<Piece> = vec![&pieces[5], &near];
    functions.extend(pieces[..5].iter().map(|f| f as Piece));
    piecewise(std::slice::from_ref(x), &conditions, &functions)
}

/// The exponential integral `E1`: the integral of `e^-t / t` from `x` to infinity.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::exp1([1.0f32]).to_vec::<f32>();
/// assert!((y[0] - 0.21938393).abs() < 1e-6);
/// ```
#[track_caller]
pub fn exp1(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("exp1");
    let [x] = floats("exp1", [x.into()]);
    expn(1, x)
}

/// The exponential integral `En` of order `n`: the integral of `e^(-x t) / t^n` from 1 to infinity. Orders are rounded down to
/// whole ones.
///
/// # Panics
/// When an operand is complex, or shapes do not broadcast.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::expn(2, [0.0f32, 1.0]).to_vec::<f32>();
/// assert!(y[0] == 1.0 && (y[1] - 0.14849551).abs() < 1e-6);
/// ```
#[track_caller]
pub fn expn(n: impl Into<Array>, x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("expn");
    let [n, x] = floats("expn", [n.into(), x.into()]);
    integral(n, x)
}

#[track_caller]
fn integral(n: Array, x: Array) -> Array {
    library_jvp(
        ["_expn", "_expn_jvp"],
        (n, x),
        |(n, x): (Array, Array)| {
            let shape = numpy::broadcast_shapes("expn", &[n.shape(), x.shape()]);
            let operands = [n, x].map(|x| numpy::broadcast_to(&x, &shape));
            elementwise(shape.len(), operands.into(), &|operands| {
                library("_expn", "", [&operands[0], &operands[1]], |[n, x]| {
                    one(n, x)
                })
            })
        },
        |(n, x): (Array, Array), (_, t): (Array, Array)| {
            let n = numpy::floor(&n);
            let result = integral(n.clone(), x.clone());
            let of = |value: f64| constant(&x, value);
            let limit = of(largest(x.dtype()).ln());
            let unknown = n.lt(0.0) | x.lt(0.0) | numpy::isnan(&n) | numpy::isnan(&x) | isinf(&n);
            let safe = where_(&(x.gt(0.0) & x.le(&limit)), &x, of(1.0));
            let formula = -(&safe + of(1.0)) * (-&safe).exp() / (&safe * &safe);
            let first = where_(
                &x.equal(0.0),
                of(f64::NEG_INFINITY),
                where_(&x.gt(&limit), of(0.0), formula),
            );
            let before = where_(&n.ge(1.0), &n - 1.0, constant(&n, 0.0));
            let other = -integral(before, x.clone());
            let slope = where_(&n.equal(0.0), first, other);
            let slope = where_(&unknown, of(f64::NAN), slope);
            (result, t * slope)
        },
    )
}

/// `En(x)` of numbers.
#[track_caller]
fn one(n: &Array, x: &Array) -> Array {
    let of = |value: f64| constant(x, value);
    let limit = of(largest(x.dtype()).ln());
    let n = numpy::floor(n);
    let invalid = n.lt(0.0) | x.lt(0.0) | numpy::isnan(&n) | numpy::isnan(x) | isinf(&n);
    let valid = !&invalid;
    let zero = &valid & x.equal(0.0);
    let positive = &valid & x.gt(0.0);
    let bounded = &positive & x.le(&limit);
    let conditions = [
        invalid,
        &zero & n.lt(2.0),
        &zero & n.ge(2.0),
        &positive & n.equal(0.0),
        &valid & n.gt(0.0) & x.gt(&limit),
        &bounded & n.ge(5000.0),
        &bounded & n.gt(0.0) & n.lt(5000.0) & x.gt(1.0),
    ];
    let before = where_(&(&valid & n.ge(2.0)), &n - 1.0, of(1.0));
    let safe = where_(&positive, x, of(1.0));
    let value = |value: Array| move |_: &[Array]| value.clone();
    let values = [
        value(of(f64::NAN)),
        value(of(f64::INFINITY)),
        value(of(1.0) / before),
        value((-&safe).exp() / &safe),
        value(of(0.0)),
    ];
    let series = |of: &[Array]| by_series(&of[0], &of[1]);
    let fraction = |of: &[Array]| by_fraction(&of[0], &of[1]);
    let expansion = |of: &[Array]| by_expansion(&of[0], &of[1]);
    let mut functions: Vec<Piece> = vec![&series];
    functions.extend(values.iter().map(|f| f as Piece));
    functions.extend([&expansion as Piece, &fraction]);
    piecewise(&[x.clone(), n], &conditions, &functions).astype(x.dtype())
}

/// By the power series, for `x` up to 1.
#[track_caller]
fn by_series(x: &Array, n: &Array) -> Array {
    let of = |value: f64| constant(x, value);
    let precision = epsilon(x.dtype());
    let inside = x.gt(0.0) & x.le(1.0) & n.ge(1.0) & n.lt(5000.0);
    let safe_x = where_(&inside, x, of(1.0));
    let safe_n = where_(&inside, n, of(1.0));
    let psi = of(-EULER) - safe_x.log();
    let limit = safe_n.clone();
    let (_, psi) = while_loop(
        move |(i, _): (Array, Array)| i.lt(&limit),
        |(i, psi): (Array, Array)| (&i + 1.0, psi + 1.0 / &i),
        (of(1.0) + 0.0 * &psi, psi),
    );
    let is_first = safe_n.equal(1.0);
    let n1 = where_(&is_first, of(2.0), &safe_n);
    let start = where_(&is_first, of(0.0), 1.0 / (1.0 - n1));
    let z = -&safe_x;
    let base = |value: f64| of(value) + 0.0 * &safe_x;
    let init = vec![
        base(0.0),
        base(1.0),
        1.0 - &safe_n,
        start,
        base(f64::INFINITY),
    ];
    let open = inside.clone();
    let state = while_loop(
        move |state: Vec<Array>| &open & state[4].gt(precision),
        |state: Vec<Array>| {
            let xk = &state[0] + 1.0;
            let yk = &state[1] * (&z / &xk);
            let pk = &state[2] + 1.0;
            let term = where_(&pk.not_equal(0.0), &yk / &pk, of(0.0));
            let sum = &state[3] + term;
            let change = where_(&sum.not_equal(0.0), (&yk / &sum).abs(), of(1.0));
            vec![xk, yk, pk, sum, change]
        },
        init,
    );
    let r = &safe_n - 1.0;
    let sign = where_(&remainder(&r, 2.0).equal(0.0), of(1.0), of(-1.0));
    let log = sign * (&r * safe_x.log() - gammaln(&safe_n)).exp() * psi;
    log - &state[3]
}

/// By the continued fraction, for `x` above 1.
#[track_caller]
fn by_fraction(x: &Array, n: &Array) -> Array {
    const BIG: f64 = 144_115_188_075_855_870.0;
    let of = |value: f64| constant(x, value);
    let precision = epsilon(x.dtype());
    let limit = of(largest(x.dtype()).ln());
    let inside = x.gt(1.0) & x.le(limit) & n.ge(1.0) & n.lt(5000.0);
    let x = where_(&inside, x, of(2.0));
    let n = where_(&inside, n, of(1.0));
    let big = if x.dtype() == DType::F16 {
        f64::INFINITY
    } else {
        BIG
    };
    let base = |value: f64| of(value) + 0.0 * &x;
    // Step, the last two numerators and denominators, their quotient, its change, and the last finite quotient.
    let init = vec![
        base(1.0),
        base(1.0),
        x.clone(),
        base(1.0),
        &x + &n,
        1.0 / (&x + &n),
        base(f64::INFINITY),
        base(0.0),
    ];
    let open = inside.clone();
    let (px, pn) = (x.clone(), n.clone());
    let state = while_loop(
        move |state: Vec<Array>| &open & state[6].gt(precision),
        |state: Vec<Array>| {
            let k = &state[0] + 1.0;
            let odd = remainder(&k, 2.0).equal(1.0);
            let yk = where_(&odd, of(1.0), &px);
            let xk = where_(&odd, &pn + (&k - 1.0) / 2.0, &k / 2.0);
            let p = &state[3] * &yk + &state[1] * &xk;
            let q = &state[4] * &yk + &state[2] * &xk;
            let nonzero = q.not_equal(0.0);
            let r = where_(&nonzero, &p / &q, &state[7]);
            let change = where_(&nonzero, ((&state[5] - &r) / &r).abs(), of(1.0));
            let result = where_(&nonzero, &r, &state[5]);
            let is_big = p.abs().gt(big);
            let scaled = |value: &Array| where_(&is_big, value / big, value);
            vec![
                k,
                scaled(&state[3]),
                scaled(&state[4]),
                scaled(&p),
                scaled(&q),
                result,
                change,
                r,
            ]
        },
        init,
    );
    &state[5] * (-x).exp()
}

/// By the asymptotic expansion, for large orders.
#[track_caller]
fn by_expansion(x: &Array, n: &Array) -> Array {
    let of = |value: f64| constant(x, value);
    let limit = of(largest(x.dtype()).ln());
    let inside = x.gt(0.0) & x.le(limit) & n.ge(5000.0);
    let x = where_(&inside, x, of(1.0));
    let n = where_(&inside, n, of(5000.0));
    let xk = &x + &n;
    let lambda = &x / &n;
    let m = &n / &xk / &xk;
    let sum = 6.0 * &lambda * &lambda - 8.0 * &lambda + 1.0;
    let sum = &m * sum + (1.0 - 2.0 * &lambda);
    let sum = &m * sum + 1.0;
    let sum = &m * sum + 1.0;
    sum * lax::exp(&-x) / xk
}
