//! Comparison of results.

use jaxide_core::{DType, Scalar, Tensor};

/// How near results have to be.
#[derive(Clone, Copy, Debug)]
pub enum Nearness {
    /// The same bits; every NaN is like every other.
    Bits,
    /// As [`Nearness::Bits`] for integers; floats differ by at most this part of the largest number in the array (at
    /// least 1).
    Relative(f64),
    /// As [`Nearness::Bits`] for integers; floats differ by at most so many steps of their type at themselves, complex
    /// numbers at their modulus. Which part of a complex number that is not finite is infinite or NaN is left open.
    Steps(f64),
}

/// Compares lists of arrays: types, and elements by nearness.
///
/// # Errors
/// Where they differ first, in words.
pub fn compare(got: &[Tensor], want: &[Tensor], nearness: Nearness) -> Result<(), String> {
    if got.len() != want.len() {
        return Err(format!("{} results, not {}", got.len(), want.len()));
    }
    for (index, (got, want)) in got.iter().zip(want).enumerate() {
        if got.aval() != want.aval() {
            let message = format!("result {index} is {}, not {}", got.aval(), want.aval());
            return Err(message);
        }
        let largest = match nearness {
            Nearness::Bits | Nearness::Steps(_) => 0.0,
            Nearness::Relative(_) => largest(want).max(1.0),
        };
        for place in 0..want.len() {
            let (Some(a), Some(b)) = (got.scalar_at(place), want.scalar_at(place)) else {
                let size = got.dtype().size();
                let bytes = place * size..(place + 1) * size;
                if got.bytes()[bytes.clone()] == want.bytes()[bytes] {
                    continue;
                }
                return Err(format!("result {index}, element {place} has other bits"));
            };
            let step = match nearness {
                Nearness::Steps(count) => count * step(got.dtype(), b),
                Nearness::Bits | Nearness::Relative(_) => 0.0,
            };
            if !near(a, b, nearness, largest, step) {
                return Err(format!("result {index}, element {place}: {a}, not {b}"));
            }
        }
    }
    Ok(())
}

/// The largest finite magnitude, 0 without one.
pub fn largest(array: &Tensor) -> f64 {
    (0..array.len())
        .filter_map(|place| array.scalar_at(place))
        .flat_map(|scalar| {
            let (re, im) = scalar.as_complex();
            [re.abs(), im.abs()]
        })
        .filter(|magnitude| magnitude.is_finite())
        .fold(0.0, f64::max)
}

/// The distance of neighbouring numbers of a type at a number.
fn step(dtype: DType, at: Scalar) -> f64 {
    let (re, im) = at.as_complex();
    let magnitude = match (re.is_finite(), im.is_finite()) {
        (true, true) => re.hypot(im),
        (true, false) => re.abs(),
        (false, true) => im.abs(),
        (false, false) => 0.0,
    };
    let (mantissa, least) = match dtype.real() {
        DType::F64 => (52, f64::MIN_POSITIVE),
        DType::F32 => (23, f64::from(f32::MIN_POSITIVE)),
        DType::BF16 => (7, f64::from(f32::MIN_POSITIVE)),
        DType::F16 => (10, 2f64.powi(-14)),
        DType::F8E5M2 | DType::F8E5M2Fnuz => (2, 2f64.powi(-15)),
        DType::F8E4M3B11Fnuz | DType::F8E4M3Fnuz | DType::F8E4M3 | DType::F8E4M3Fn => {
            (3, 2f64.powi(-10))
        }
        DType::F8E3M4 => (4, 0.25),
        _ => (1, 1.0),
    };
    let magnitude = magnitude.max(least);
    let power = f64::from_bits(magnitude.to_bits() & 0x7ff0_0000_0000_0000);
    power * 2f64.powi(-mantissa)
}

fn near(a: Scalar, b: Scalar, nearness: Nearness, largest: f64, step: f64) -> bool {
    let near = |a: f64, b: f64| match nearness {
        _ if a.is_nan() && b.is_nan() => true,
        Nearness::Bits => a.to_bits() == b.to_bits(),
        Nearness::Relative(part) => a == b || (a - b).abs() <= part * largest,
        Nearness::Steps(_) => a == b || (a - b).abs() <= step,
    };
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b),
        (Scalar::Complex(a, c), Scalar::Complex(b, d)) => {
            let lost = |re: f64, im: f64| !(re.is_finite() && im.is_finite());
            near(a, b) && near(c, d)
                || !matches!(nearness, Nearness::Bits) && lost(a, c) && lost(b, d)
        }
        (a, b) => a == b,
    }
}
