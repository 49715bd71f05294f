//! Integrals that are rational functions beside sines, cosines and logarithms: of sine and cosine, of Fresnel, and the dilogarithm.

use jaxide_core::{DType, Error};

use crate::api::library_jvp;
use crate::array::Array;
use crate::numpy::polyval;
use crate::numpy::{Piece, isinf, select, where_};
use crate::scipy::operands::{check_f32_or_f64, constant, floats, numbers, tangent_of};
use crate::trace::{library::library_call, raise};
use crate::{lax, numpy};

// Rational functions of Cephes, the highest degree first.
const SICI_SN: [f64; 6] = [
    -8.391678279103039e-11,
    4.625917144270128e-08,
    -9.757593038436328e-06,
    0.0009769454381704354,
    -0.04134703162294066,
    1.0,
];
const SICI_SD: [f64; 6] = [
    2.0326926619595193e-12,
    1.279978911799433e-09,
    4.418278428012189e-07,
    9.964121220438756e-05,
    0.01420852393261499,
    1.0,
];
const SICI_CN: [f64; 6] = [
    2.0252400238910228e-11,
    -1.3524950491579076e-08,
    3.593250514199931e-06,
    -0.0004740072068734079,
    0.028915965260755523,
    -1.0,
];
const SICI_CD: [f64; 6] = [
    4.077460400618806e-12,
    3.067809975818878e-09,
    1.2321035568588342e-06,
    0.00031744202477503275,
    0.051002805623644606,
    4.0,
];
const SICI_FN4: [f64; 7] = [
    4.236128628922166,
    5.4593771716181285,
    1.6208328770153833,
    0.16700661183132304,
    0.006810201324725182,
    0.00010893658065032867,
    5.489002234213736e-07,
];
const SICI_FD4: [f64; 8] = [
    1.0,
    8.16496634205391,
    7.308288225055645,
    1.867922579501842,
    0.1787920529631499,
    0.007017106683227897,
    0.00011003435715391573,
    5.489002527562557e-07,
];
const SICI_GN4: [f64; 8] = [
    0.08710016989731142,
    0.6113791099522193,
    0.3971802963923375,
    0.07485277376284691,
    0.005388686814621773,
    0.00016199979459893403,
    1.9796387414096365e-06,
    7.825790407440903e-09,
];
const SICI_GD4: [f64; 8] = [
    1.0,
    1.6440220241335535,
    0.666296701268988,
    0.09887717612776888,
    0.006223963454417684,
    0.0001732210814741771,
    2.0265918208634397e-06,
    7.825792189335346e-09,
];
const SICI_FN8: [f64; 9] = [
    0.4558808734704653,
    0.7137152741001467,
    0.16030015822231947,
    0.01160642294081244,
    0.00034955644244785906,
    4.8621543082645475e-06,
    3.200927900910049e-08,
    9.41779576128513e-11,
    9.70507110881952e-14,
];
const SICI_FD8: [f64; 9] = [
    1.0,
    0.9174636118736841,
    0.17868554533207454,
    0.012225359477197129,
    0.00035869648188185157,
    4.924350643178815e-06,
    3.21956939101046e-08,
    9.437205903502767e-11,
    9.70507110881952e-14,
];
const SICI_GN8: [f64; 9] = [
    0.6973599534432762,
    0.33041097930563207,
    0.03848787676499743,
    0.001717182390523479,
    3.4894116550227946e-05,
    3.471311670841167e-07,
    1.7040445278204452e-09,
    3.859459254302766e-12,
    3.1404009894636335e-15,
];
const SICI_GD8: [f64; 10] = [
    1.0,
    1.6854889881101165,
    0.48785225869530496,
    0.04679131942596258,
    0.0019028442667439953,
    3.684755044425611e-05,
    3.5704322344374083e-07,
    1.7269374896631615e-09,
    3.878301660239547e-12,
    3.1404009894636335e-15,
];
const SPENCE_A: [f64; 8] = [
    4.6512858607399003e-05,
    0.007315890452380947,
    0.13384763957830903,
    0.8796913117545303,
    2.7114985119655346,
    4.256971560081218,
    3.297713409852251,
    1.0,
];
const SPENCE_B: [f64; 8] = [
    0.0006909904889125533,
    0.02540437639325444,
    0.2829748606025681,
    1.4117259775183106,
    3.6380053334513707,
    5.03278880143317,
    3.547713409852251,
    1.0,
];
const FRESNEL_SN_F32: [f64; 7] = [
    1.6476294637887e-09,
    -1.522754752581096e-07,
    8.4247488085024e-06,
    -0.0003120693124703272,
    0.007244727626597022,
    -0.09228055941124598,
    0.5235987735681432,
];
const FRESNEL_CN_F32: [f64; 7] = [
    1.416802502367354e-08,
    -1.157231412229871e-06,
    5.387223446683264e-05,
    -0.001604381798862293,
    0.02818489036795073,
    -0.2467398198317899,
    0.9999999760004487,
];
const FRESNEL_FN_F32: [f64; 8] = [
    -1903009855649.792,
    135594238805.0252,
    -4158143148.511033,
    73438484.63587323,
    -873235.6681548485,
    8560.51546627547,
    -103.2877601091159,
    2.999401847870011,
];
const FRESNEL_GN_F32: [f64; 8] = [
    -186084399762.465,
    12783506733.93208,
    -377938771.3202229,
    6492611.570598858,
    -77877.89623358162,
    860.2931494734327,
    -14.93439396592284,
    0.9999841934744914,
];
const FRESNEL_SN_F64: [f64; 6] = [
    -2991.8191940101983,
    708840.0452577386,
    -62974148.62058625,
    2548908805.7337637,
    -44297951805.96978,
    318016297876.5678,
];
const FRESNEL_SD_F64: [f64; 7] = [
    1.0,
    281.3762688899943,
    45584.78108065326,
    5173438.887700964,
    419320245.8981112,
    22441179564.534092,
    607366389490.0846,
];
const FRESNEL_CN_F64: [f64; 6] = [
    -4.9884311457357354e-08,
    9.504280628298596e-06,
    -0.0006451914356839651,
    0.018884331939670384,
    -0.20552590095501388,
    1.0,
];
const FRESNEL_CD_F64: [f64; 7] = [
    3.99982968972496e-12,
    9.154392157746574e-10,
    1.2500186247959882e-07,
    1.2226278902417902e-05,
    0.0008680295429417843,
    0.04121420907221998,
    1.0,
];
const FRESNEL_FN_F64: [f64; 10] = [
    0.4215435550436775,
    0.1434079197807589,
    0.011522095507358577,
    0.000345017939782574,
    4.6361374928786735e-06,
    3.055689837902576e-08,
    1.0230451416490724e-10,
    1.7201074326816183e-13,
    1.3428327623306275e-16,
    3.763297112699879e-20,
];
const FRESNEL_FD_F64: [f64; 11] = [
    1.0,
    0.7515863983533789,
    0.11688892585919138,
    0.0064405152650885865,
    0.00015593440916415301,
    1.8462756734893055e-06,
    1.1269922476399903e-08,
    3.6014002958937136e-11,
    5.887545336215784e-14,
    4.5200143407412973e-17,
    1.2544323709001127e-20,
];
const FRESNEL_GN_F64: [f64; 11] = [
    0.5044420736433832,
    0.1971028335255234,
    0.018764858409257526,
    0.0006840793809153931,
    1.1513882611188428e-05,
    9.828524436884223e-08,
    4.4534441586175015e-10,
    1.0826804113902088e-12,
    1.375554606332618e-15,
    8.363544356306774e-19,
    1.8695871016278324e-22,
];
const FRESNEL_GD_F64: [f64; 12] = [
    1.0,
    1.4749575992512833,
    0.33774898912002,
    0.02536037414203388,
    0.0008146791071843061,
    1.2754507566772912e-05,
    1.0431458965757199e-07,
    4.6068072814652043e-10,
    1.1027321506624028e-12,
    1.3879653125957886e-15,
    8.391588162831187e-19,
    1.8695871016278324e-22,
];

/// Euler's constant.
const EULER: f64 = 0.577_215_664_901_532_9;

const PI: f64 = std::f64::consts::PI;

#[track_caller]
fn polynomial(terms: &[f64], at: &Array) -> Array {
    polyval(&numbers(terms, at.dtype()), at)
}

/// Two results of a call.
fn pair(results: Vec<Array>) -> (Array, Array) {
    (results[0].clone(), results[1].clone())
}

/// The integrals of sine and cosine, `Si` and `Ci`: of `sin(t) / t` from 0 to `x`, and minus that of `cos(t) / t` from `x` on.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let (si, ci) = special::sici(0.0);
/// assert_eq!((si.item::<f32>(), ci.item::<f32>()), (0.0, f32::NEG_INFINITY));
/// ```
#[track_caller]
pub fn sici(x: impl Into<Array>) -> (Array, Array) {
    let _named = crate::trace::named("sici");
    library_jvp(
        ["sici", "sici_jvp"],
        (x.into(),),
        |(x,): (Array,)| {
            let call = |x: &[Array]| {
                let [x] = floats("sici", [x[0].clone()]);
                let (si, ci) = sici_value(&x);
                vec![si, ci]
            };
            pair(library_call("sici", "", &[x], call))
        },
        |(x,): (Array,), (t,): (Array,)| {
            let (si, ci) = sici(&x);
            let in_si = || {
                let near = x.equal(0.0);
                let safe = where_(&near, 1.0, &x);
                where_(&near, 1.0, safe.sin() / &safe)
            };
            let in_ci = || x.cos() / &x;
            let tangents = (
                tangent_of(&si, &[(&t, &in_si)]),
                tangent_of(&ci, &[(&t, &in_ci)]),
            );
            ((si, ci), tangents)
        },
    )
}

#[track_caller]
fn sici_value(x: &Array) -> (Array, Array) {
    let ax = x.abs();
    let (si_near, ci_near) = sici_series(&ax);
    let (si_middle, ci_middle) = sici_asymptotic(&ax);
    let infinite = |value: f64, finite: Array| {
        let infinite = lax::eq(&ax, &Array::from(f64::INFINITY));
        where_(&infinite, value, finite)
    };
    let si_far = constant(x, PI / 2.0) - ax.cos() / &ax;
    let ci_far = ax.sin() / &ax;
    let si_far = infinite(PI / 2.0, si_far);
    let ci_far = infinite(0.0, ci_far);
    let near = ax.le(4);
    let middle = ax.gt(4) & ax.le(1e9);
    let conditions = [near, middle];
    let si = select(&conditions, &[si_near, si_middle], si_far);
    let ci = select(&conditions, &[ci_near, ci_middle], ci_far);
    let si = x.sign() * si;
    let below = lax::eq(x, &Array::from(f64::NEG_INFINITY));
    (si, where_(&below, f64::NAN, ci))
}

#[track_caller]
fn sici_series(x: &Array) -> (Array, Array) {
    let zero = x.equal(0);
    let t = x * x;
    let si = x * polynomial(&SICI_SN, &t) / polynomial(&SICI_SD, &t);
    let si = where_(&zero, 0.0, si);
    let zero = x.equal(0);
    let t = x * x;
    let ci =
        constant(x, EULER) + x.log() + &t * polynomial(&SICI_CN, &t) / polynomial(&SICI_CD, &t);
    (si, where_(&zero, f64::NEG_INFINITY, ci))
}

#[track_caller]
fn sici_asymptotic(x: &Array) -> (Array, Array) {
    let s = x.sin();
    let c = x.cos();
    let z = 1.0 / (x * x);
    let f4 = polynomial(&SICI_FN4, &z) / (x * polynomial(&SICI_FD4, &z));
    let g4 = &z * polynomial(&SICI_GN4, &z) / polynomial(&SICI_GD4, &z);
    let f8 = polynomial(&SICI_FN8, &z) / (x * polynomial(&SICI_FD8, &z));
    let g8 = &z * polynomial(&SICI_GN8, &z) / polynomial(&SICI_GD8, &z);
    let near = x.lt(8.0);
    let f = where_(&near, f4, f8);
    let g = where_(&near, g4, g8);
    let si = constant(x, PI / 2.0) - &f * &c - &g * &s;
    (si, f * s - g * c)
}

/// The dilogarithm of Spence: the integral of `ln(t) / (1 - t)` from 1 to `x`; NaN of negative numbers.
///
/// # Panics
/// When `x` is neither `f32` nor `f64`.
///
/// ```
/// use jaxide::scipy::special;
/// let y = special::spence([1.0f32, 0.0]).to_vec::<f32>();
/// assert!(y[0] == 0.0 && (y[1] - 1.6449341).abs() < 1e-6);
/// ```
#[track_caller]
pub fn spence(x: impl Into<Array>) -> Array {
    let _named = crate::trace::named("spence");
    let x = x.into();
    check_f32_or_f64("spence", &x);
    let conditions = [x.lt(0.0), x.equal(1.0), x.equal(0.0)];
    let at_zero = match x.dtype() {
        DType::F64 => constant(&x, PI * PI / 6.0),
        _ => Array::from(PI * PI / 6.0),
    };
    let cases = [
        Piece::from(f64::NAN),
        Piece::from(0),
        Piece::from(at_zero),
        Piece::Function(&dilogarithm),
    ];
    numpy::piecewise(&x, &conditions, &cases)
}

#[track_caller]
fn dilogarithm(x: Array) -> Array {
    let above_two = x.gt(2.0);
    let inverse = [
        Piece::Function(&|x: Array| 1.0 / x),
        Piece::Function(&|x: Array| x),
    ];
    let x = numpy::piecewise(&x, std::slice::from_ref(&above_two), &inverse);
    let above = x.gt(1.5);
    let below = x.lt(0.5);
    let inverted = above_two | &above;
    let cases = [
        Piece::Function(&|x: Array| 1.0 / x - 1.0),
        Piece::Function(&|x: Array| -x),
        Piece::Function(&|x: Array| x - 1.0),
    ];
    let w = numpy::piecewise(&x, &[above, below.clone()], &cases);
    let y = -&w * polynomial(&SPENCE_A, &w) / polynomial(&SPENCE_B, &w);
    let reflected = constant(&x, PI * PI / 6.0) - x.log() * numpy::log(&(1.0 - &x)) - &y;
    let y = where_(&below, reflected, y);
    let other = -0.5 * lax::integer_pow(&x.log(), 2) - &y;
    where_(&inverted, other, y)
}

/// `sin(π x^2 / 2)` and `cos(π x^2 / 2)` without the loss of digits of large `x`.
#[track_caller]
fn half_square_turn(x: &Array) -> (Array, Array) {
    let call = |x: &[Array]| {
        let x = x[0].abs();
        let two = Array::from(2.0);
        let s = numpy::fmod(&x, &two);
        let r = numpy::fmod(&(&s * (&x - &s / 2)), &two);
        let turn = |x: Array| (constant(&x, PI) * x).sin();
        let (first, near) = (r.lt(0.5), turn(r.clone()));
        let sine = where_(&r.gt(1.5), turn(&r - 2.0), -turn(&r - 1.0));
        let sine = where_(&first, near, sine);
        let zero = r.equal(0.5);
        let cosine = where_(&r.lt(1.0), -turn(&r - 0.5), turn(&r - 1.5));
        vec![sine, where_(&zero, 0.0, cosine)]
    };
    pair(library_call(
        "sincospisquaredhalf",
        "",
        std::slice::from_ref(x),
        call,
    ))
}

/// The integrals of Fresnel, of `sin(π t^2 / 2)` and `cos(π t^2 / 2)` from 0 to `x`.
///
/// # Panics
/// When `x` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let (s, c) = special::fresnel([0.0f32, f32::INFINITY]);
/// assert_eq!((s.to_vec::<f32>(), c.to_vec::<f32>()), (vec![0.0, 0.5], vec![0.0, 0.5]));
/// ```
#[track_caller]
pub fn fresnel(x: impl Into<Array>) -> (Array, Array) {
    let _named = crate::trace::named("fresnel");
    let x = x.into();
    if x.dtype().is_complex() {
        let error = format!(
            "it is not defined for complex numbers, and {} is given",
            x.aval()
        );
        raise(Error::dtype(error).in_operation("fresnel"));
    }
    library_jvp(
        ["fresnel", "_fresnel_jvp"],
        (x,),
        |(x,): (Array,)| {
            let [x] = floats("fresnel", [x]);
            let wide = if x.dtype().size() < 4 {
                x.astype(DType::F32)
            } else {
                x.clone()
            };
            let (s, c) = fresnel_value(&wide);
            (s.astype(x.dtype()), c.astype(x.dtype()))
        },
        |(x,): (Array,), (t,): (Array,)| {
            let results = fresnel(&x);
            let (sine, cosine) = half_square_turn(&x);
            let tangents = (
                tangent_of(&results.0, &[(&t, &|| sine.clone())]),
                tangent_of(&results.1, &[(&t, &|| cosine.clone())]),
            );
            (results, tangents)
        },
    )
}

#[track_caller]
fn fresnel_value(given: &Array) -> (Array, Array) {
    let single = given.dtype() == DType::F32;
    if single {
        // The coefficients of the denominators, of which there are none.
        for _ in 0..4 {
            numpy::empty([0], DType::F32);
        }
    }
    let x = given.abs();
    let of = |value: f64| constant(&x, value);
    let x2 = &x * &x;
    let t = &x2 * &x2;
    let (s_small, c_small) = if single {
        (
            &x * &x2 * polynomial(&FRESNEL_SN_F32, &t),
            &x * polynomial(&FRESNEL_CN_F32, &t),
        )
    } else {
        (
            &x * &x2 * polynomial(&FRESNEL_SN_F64, &t) / polynomial(&FRESNEL_SD_F64, &t),
            &x * polynomial(&FRESNEL_CN_F64, &t) / polynomial(&FRESNEL_CD_F64, &t),
        )
    };
    let (sine, cosine) = half_square_turn(&x);
    let (s_large, c_large) = if single {
        (Array::from(0.5), Array::from(0.5))
    } else {
        let c = 0.5 + 1 / (of(PI) * &x) * &sine;
        let s = 0.5 - 1 / (of(PI) * &x) * &cosine;
        (s, c)
    };
    let t = of(PI) * &x2;
    let u = 1.0 / (&t * &t);
    let t = 1.0 / t;
    let (f, g) = if single {
        (
            1.0 - &u * polynomial(&FRESNEL_FN_F32, &u),
            t * polynomial(&FRESNEL_GN_F32, &u),
        )
    } else {
        (
            1.0 - &u * polynomial(&FRESNEL_FN_F64, &u) / polynomial(&FRESNEL_FD_F64, &u),
            t * polynomial(&FRESNEL_GN_F64, &u) / polynomial(&FRESNEL_GD_F64, &u),
        )
    };
    let t = of(PI) * &x;
    let c_other = 0.5 + (&f * &sine - &g * &cosine) / &t;
    let s_other = 0.5 - (f * cosine + g * sine) / t;
    let infinite = isinf(given);
    let small = x2.lt(2.5625);
    let large = x.gt(36974.0);
    let joined = |near: Array, far: Array, middle: Array| {
        where_(
            &infinite,
            0.5,
            where_(&small, near, where_(&large, far, middle)),
        )
    };
    let s = joined(s_small, s_large, s_other);
    let c = joined(c_small, c_large, c_other);
    let negative = given.lt(0.0);
    let s = where_(&negative, -&s, s);
    (s, where_(&negative, -&c, c))
}
