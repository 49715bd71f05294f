//! Comparison of results.

use jaxide_core::{Scalar, Tensor};

/// How near results have to be.
#[derive(Clone, Copy, Debug)]
pub enum Nearness {
    /// The same bits; every NaN is like every other.
    Bits,
    /// As [`Nearness::Bits`] for integers; floats differ by at most this part of the largest number in the array (at
    /// least 1).
    Relative(f64),
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
            Nearness::Bits => 0.0,
            Nearness::Relative(_) => largest(want).max(1.0),
        };
        for place in 0..want.len() {
            let (Some(a), Some(b)) = (got.scalar_at(place), want.scalar_at(place)) else {
                continue;
            };
            if !near(a, b, nearness, largest) {
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

fn near(a: Scalar, b: Scalar, nearness: Nearness, largest: f64) -> bool {
    let near = |a: f64, b: f64| match nearness {
        _ if a.is_nan() && b.is_nan() => true,
        Nearness::Bits => a.to_bits() == b.to_bits(),
        Nearness::Relative(part) => a == b || (a - b).abs() <= part * largest,
    };
    match (a, b) {
        (Scalar::Float(a), Scalar::Float(b)) => near(a, b),
        (Scalar::Complex(a, c), Scalar::Complex(b, d)) => near(a, b) && near(c, d),
        (a, b) => a == b,
    }
}
