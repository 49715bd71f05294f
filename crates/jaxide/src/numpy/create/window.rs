//! Windows of signals, `f32`.

use std::f64::consts::PI;

use jaxide_core::{DType, Error};

use crate::array::{Array, as_dtype};
use crate::lax;
use crate::numpy;
use crate::numpy::nested::{constant, i0};
use crate::trace::raise;

/// `f` of the indices and of the last of them; of one point or none, ones.
#[track_caller]
fn window(m: usize, f: impl FnOnce(&Array, f64) -> Array) -> Array {
    if m <= 1 {
        return lax::full(m, 1, DType::F32);
    }
    f(&lax::iota(DType::F32, &[m], 0), (m - 1) as f64)
}

/// The cosine of so many half turns along the window.
#[track_caller]
fn wave(index: &Array, half_turns: f64, last: f64) -> Array {
    let angle = lax::mul(&constant(half_turns * PI, DType::F32), index);
    lax::cos(&lax::div(&angle, &constant(last, DType::F32)))
}

#[track_caller]
fn scaled(factor: f64, x: &Array) -> Array {
    lax::mul(&constant(factor, DType::F32), x)
}

/// The Hamming window of `m` points: a raised cosine that does not quite reach zero.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn hamming(m: usize) -> Array {
    let _named = crate::trace::named("hamming");
    window(m, |index, last| {
        let wave = scaled(0.46, &wave(index, 2.0, last));
        lax::sub(&constant(0.54, DType::F32), &wave)
    })
}

/// The Hann window of `m` points: a raised cosine.
///
/// # Panics
/// When the array is too large to hold.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::hanning(3).to_vec::<f32>(), [0.0, 1.0, 0.0]);
/// ```
#[track_caller]
pub fn hanning(m: usize) -> Array {
    let _named = crate::trace::named("hanning");
    window(m, |index, last| {
        let wave = wave(index, 2.0, last);
        scaled(0.5, &lax::sub(&constant(1, DType::F32), &wave))
    })
}

/// The Bartlett window of `m` points: a triangle.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn bartlett(m: usize) -> Array {
    let _named = crate::trace::named("bartlett");
    window(m, |index, last| {
        let doubled = lax::add(&scaled(2.0, index), &constant(1, DType::F32));
        let distance = lax::abs(&lax::sub(&doubled, &constant(m, DType::F32)));
        let falling = lax::div(&distance, &constant(last, DType::F32));
        lax::sub(&constant(1, DType::F32), &falling)
    })
}

/// The Blackman window of `m` points: a sum of two cosines.
///
/// # Panics
/// When the array is too large to hold.
#[track_caller]
pub fn blackman(m: usize) -> Array {
    let _named = crate::trace::named("blackman");
    window(m, |index, last| {
        let first = scaled(0.5, &wave(index, 2.0, last));
        let sum = lax::sub(&constant(0.42, DType::F32), &first);
        lax::add(&sum, &scaled(0.08, &wave(index, 4.0, last)))
    })
}

/// The Kaiser window of `m` points, the narrower the larger `beta` is.
///
/// # Panics
/// When `beta` is complex, or an array that does not broadcast.
///
/// ```
/// use jaxide::numpy;
/// assert_eq!(numpy::kaiser(3, 0.0).to_vec::<f32>(), [1.0, 1.0, 1.0]);
/// ```
#[track_caller]
pub fn kaiser(m: usize, beta: impl Into<Array>) -> Array {
    let _named = crate::trace::named("kaiser");
    let beta = beta.into();
    if beta.dtype().is_complex() {
        let error = format!("beta is a real number, and {} is given", beta.aval());
        raise(Error::dtype(error).in_operation("kaiser"));
    }
    let dtype = match beta.dtype() {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    window(m, |index, last| {
        let half = constant(last / 2.0, dtype);
        let place = lax::div(&lax::sub(&as_dtype(index, dtype, false), &half), &half);
        let inside = lax::sub(&constant(1, dtype), &lax::integer_pow(&place, 2));
        let height = numpy::multiply(&beta, &lax::sqrt(&inside));
        numpy::divide(&i0(&height), &i0(&beta))
    })
}
