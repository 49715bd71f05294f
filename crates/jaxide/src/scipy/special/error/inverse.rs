//! Inverses of the error function and of its complement.

use jaxide_core::DType;

use super::coefficients::{INVERSE_F32, INVERSE_F64, QUANTILE_F32, QUANTILE_F64};
use super::scaled::{exp_highest, large, upper_half};
use crate::api::library_jvp;
use crate::array::Array;
use crate::numpy::where_;
use crate::scipy::operands::{constant, floats};
use crate::scipy::pieces::polynomial;
use crate::trace::library;
use crate::{lax, numpy};

/// The inverse of [`erfc`](crate::scipy::special::erfc), from 0 to 2; exact where it is large.
///
/// # Panics
/// When `y` is complex.
///
/// ```
/// use jaxide::scipy::special;
/// let x = special::erfcinv([0.0f32, 1.0, 2.0]).to_vec::<f32>();
/// assert_eq!(x, [f32::INFINITY, 0.0, f32::NEG_INFINITY]);
/// ```
#[track_caller]
pub fn erfcinv(y: impl Into<Array>) -> Array {
    let _named = crate::trace::named("erfcinv");
    let [y] = floats("erfcinv", [y.into()]);
    if y.dtype().size() < 4 {
        return inverse(&y.astype(DType::F32)).astype(y.dtype());
    }
    inverse(&y)
}

#[track_caller]
fn inverse(y: &Array) -> Array {
    library_jvp(
        ["_erfcinv", "_erfcinv_jvp"],
        (y.clone(),),
        |(y,): (Array,)| library("_erfcinv_impl", "", [&y], |[y]| value(y)),
        |(y,): (Array,), (t,): (Array,)| {
            let z = inverse(&y);
            let tangent = t * slope(&y, &z);
            (z, tangent)
        },
    )
}

#[track_caller]
fn value(y: &Array) -> Array {
    let outside = y.lt(0.0) | y.gt(2.0) | numpy::isnan(y);
    let edge = y.equal(0.0) | y.equal(2.0);
    let safe = where_(&(&outside | &edge), 1.0, y);
    let q = where_(&safe.gt(1.0), 2.0 - &safe, &safe);
    let z = core(&(1.0 - safe), &q, false);
    let zero = y.equal(0.0);
    let z = where_(&y.equal(2.0), f64::NEG_INFINITY, z);
    where_(&outside, f64::NAN, where_(&zero, f64::INFINITY, z))
}

/// The derivative of [`erfcinv`]: `-sqrt(π) / 2 e^(z^2)`, in the tails from `erfcx`.
#[track_caller]
fn slope(y: &Array, z: &Array) -> Array {
    library_jvp(
        ["_erfcinv_grad", "_erfcinv_grad_jvp"],
        (y.clone(), z.clone()),
        |(y, z): (Array, Array)| {
            let factor = -0.5 * std::f64::consts::PI.sqrt();
            let q = where_(&y.gt(1.0), 2.0 - &y, &y);
            let u = lax::abs(&z);
            let tail = u.gt(1.0);
            let central = where_(&tail, 0.0, z);
            let central = factor * exp_highest(&lax::square(&central));
            let finite = &tail & q.gt(0.0);
            let u = where_(&finite, u, 1.0);
            let safe = where_(&finite, &q, 1.0);
            let numerator = factor * large(&u);
            let outer = where_(&q.equal(0.0), f64::NEG_INFINITY, numerator / safe);
            where_(&tail, outer, central)
        },
        |(y, z): (Array, Array), (t, _): (Array, Array)| {
            let g = slope(&y, &z);
            let tangent = t * (2.0 * z * &g * &g);
            (g, tangent)
        },
    )
}

/// The inverse error function of `x`, where `q` is `1 - |x|`, without loss of digits; with `quantile` times `sqrt(2)`.
#[track_caller]
pub(in crate::scipy::special) fn core(x: &Array, q: &Array, quantile: bool) -> Array {
    let w = -lax::log(&(q * (1.0 + lax::abs(x))));
    match (x.dtype(), quantile) {
        (DType::F32, false) => in_pieces(x, &w, &INVERSE_F32, 1.0),
        (DType::F32, true) => in_pieces(x, &w, &QUANTILE_F32, 1.4140625),
        (_, false) => in_pieces(x, &w, &INVERSE_F64, 1.0),
        (_, true) => in_pieces(x, &w, &QUANTILE_F64, 1.4142135679721832),
    }
}

#[track_caller]
fn in_pieces<const N: usize>(x: &Array, w: &Array, pieces: &[[f64; N]], scale: f64) -> Array {
    let (ends, shifts, first): (&[f64], &[f64], f64) = match x.dtype() {
        DType::F32 => (&[3.5, 18.0625], &[0.0, 3.0, 7.0], 1.75),
        _ => (&[4.5, 16.0, 37.0, 144.0], &[0.0, 3.0, 5.0, 9.0, 19.5], 2.25),
    };
    let below: Vec<Array> = ends.iter().map(|&end| w.lt(end)).collect();
    let mut counts = below.iter().map(|below| (!below).astype(DType::I32));
    let index = counts.next().expect("there are several pieces");
    let index = counts.fold(index, |sum, count| sum + count);
    let by_piece = |values: Vec<f64>| {
        let values: Vec<Array> = values
            .iter()
            .map(|&value| numpy::full_like(w, constant(w, value)))
            .collect();
        lax::select_n(&index, &values)
    };
    let safe = lax::select(&below[0], &numpy::full_like(w, 1.0), w);
    let z = lax::sqrt(&safe);
    let high = upper_half(&z);
    let low = (safe - &high * &high) / (&z + &high);
    let shift = by_piece(shifts.to_vec());
    let t = lax::select(&below[0], &(w - first), &(z - shift));
    let mut operands = vec![t];
    operands.extend((0..N).map(|degree| by_piece(pieces.iter().map(|p| p[degree]).collect())));
    let value = polynomial(&operands, Some(N));
    let high = scale * high;
    let tail = high + lax::optimization_barrier(scale * low + &value);
    let negative = x.lt(0.0);
    let minus = numpy::full_like(x, -1.0);
    let sign = lax::select(&negative, &minus, &numpy::full_like(x, 1.0));
    lax::select(&below[0], &(x * value), &(sign * tail))
}
