//! When arrays agree.

use jaxide_core::{DType, Scalar, Tensor};

/// The first element of `got` that is not as close to `want` as `|got - want| <= absolute + relative * |want|`.
///
/// NaN agrees with NaN (complex numbers: in either part), an infinity with itself. The sign of zero does not count, and
/// the absolute tolerance is at least the smallest normal number, as XLA flushes subnormal numbers in many places.
pub(super) fn difference(
    got: &Tensor,
    want: &Tensor,
    (relative, absolute): (f64, f64),
) -> Option<String> {
    if got.dtype() != want.dtype() || got.shape() != want.shape() {
        return Some(format!(
            "is {}, and {} is expected",
            got.aval(),
            want.aval()
        ));
    }
    if got.bytes() == want.bytes() {
        return None;
    }
    let absolute = absolute.max(smallest_normal(got.dtype()));
    for index in 0..got.len() {
        let (Some(a), Some(b)) = (got.scalar_at(index), want.scalar_at(index)) else {
            return Some("keys differ".to_owned());
        };
        if !close(a, b, relative, absolute) {
            return Some(format!(
                "element {index} of {}: got {a}, expected {b}",
                got.aval()
            ));
        }
    }
    None
}

fn close(got: Scalar, want: Scalar, relative: f64, absolute: f64) -> bool {
    match (got, want) {
        (Scalar::Float(_), Scalar::Float(_)) | (Scalar::Complex(..), Scalar::Complex(..)) => {
            let ((a, b), (c, d)) = (got.as_complex(), want.as_complex());
            let (got_nan, want_nan) = (a.is_nan() || b.is_nan(), c.is_nan() || d.is_nan());
            if got_nan || want_nan {
                return got_nan && want_nan;
            }
            if (a, b) == (c, d) {
                return true;
            }
            let distance = (a - c).hypot(b - d);
            distance.is_finite() && distance <= absolute + relative * c.hypot(d)
        }
        // Exact in 128 bits, also where `f64` is not.
        _ => match (got.as_integer(), want.as_integer()) {
            (Some(a), Some(b)) => {
                let distance = (a - b).unsigned_abs() as f64;
                a == b || distance <= absolute + relative * b.unsigned_abs() as f64
            }
            _ => false,
        },
    }
}

/// The smallest normal number of floats and of parts of complex numbers; 0 for other types.
fn smallest_normal(dtype: DType) -> f64 {
    match dtype.real() {
        DType::F64 => f64::MIN_POSITIVE,
        DType::F32 | DType::BF16 => f64::from(f32::MIN_POSITIVE),
        DType::F16 => 2f64.powi(-14),
        _ => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(elements: &[f32]) -> Tensor {
        Tensor::from_vec(&[elements.len()], elements.to_vec()).unwrap()
    }

    #[test]
    fn special_values_agree_with_themselves() {
        let x = floats(&[f32::NAN, f32::INFINITY, -0.0, 1e-40]);
        let y = floats(&[-f32::NAN, f32::INFINITY, 0.0, 0.0]);
        assert_eq!(difference(&x, &y, (0.0, 0.0)), None);
    }

    #[test]
    fn the_first_element_that_is_off_is_named() {
        let why = difference(&floats(&[1.0, 2.0]), &floats(&[1.0, 2.1]), (1e-3, 0.0));
        assert_eq!(
            why.unwrap(),
            "element 1 of f32[2]: got 2.0, expected 2.0999999046325684"
        );
        let why = difference(
            &floats(&[f32::INFINITY]),
            &floats(&[-f32::INFINITY]),
            (1.0, 1.0),
        );
        assert_eq!(why.unwrap(), "element 0 of f32[1]: got inf, expected -inf");
        let why = difference(&floats(&[1.0]), &Tensor::scalar(1.0f32), (0.0, 0.0));
        assert_eq!(why.unwrap(), "is f32[1], and f32[] is expected");
    }
}
