//! Whether results are what JAX gives: shape, element type, weakness and every element.

use jaxide::Tensor;
use jaxide::prelude::*;

use super::case::{Case, Mode, Value};

/// How far floats may be from JAX's. Everything else is exact.
#[derive(Clone, Copy)]
pub(crate) struct Tolerance {
    /// Units of the last place.
    ulps: f64,
    /// Whether the last place is that of the largest element of the result, instead of the element itself: what is made of
    /// many operands, whose errors are relative to them.
    of_largest: bool,
}

impl Tolerance {
    /// Moves elements, or rounds once.
    pub(crate) const EXACT: Tolerance = Tolerance::ulps(0.0);

    /// Units of the last place of each element.
    pub(crate) const fn ulps(ulps: f64) -> Self {
        Tolerance {
            ulps,
            of_largest: false,
        }
    }

    /// Units of the last place of the largest element.
    pub(crate) const fn of_largest(ulps: f64) -> Self {
        Tolerance {
            ulps,
            of_largest: true,
        }
    }
}

/// How results differ from what is wanted.
pub(crate) fn difference(case: &Case, got: &[Array], tolerance: Tolerance) -> Option<String> {
    let Some(want) = &case.want else {
        return Some("a refusal is wanted".to_owned());
    };
    if want.len() != got.len() {
        return Some(format!("{} results, not {}", got.len(), want.len()));
    }
    // Derivatives are sums of products.
    let tolerance = if case.mode == Mode::Grad {
        Tolerance::of_largest((tolerance.ulps * 8.0).max(16.0))
    } else {
        tolerance
    };
    let mut pairs = got.iter().zip(want).enumerate();
    pairs.find_map(|(index, (got, want))| {
        let text = one_difference(got, want, tolerance, case.mode)?;
        Some(format!("result {index}: {text}"))
    })
}

fn one_difference(got: &Array, want: &Value, tolerance: Tolerance, mode: Mode) -> Option<String> {
    // The weakness of truth values means nothing: nothing yields to them. Nor does that of derivatives.
    let plain = mode == Mode::Grad || want.tensor.dtype() == DType::Bool;
    let star = |weak: bool| if weak && !plain { "*" } else { "" };
    let got_dtype = got.dtype();
    let got = if got_dtype.is_key() {
        &jaxide::random::key_data(got)
    } else {
        got
    };
    let wanted_type = format!("{}{}", want.tensor.aval(), star(want.weak));
    let got_type = format!("{}{}", got.aval(), star(got.weak_type()));
    if wanted_type != got_type {
        return Some(format!("{got_type}, not {wanted_type}"));
    }
    let (got, want) = (got.value(), &want.tensor);
    let largest = (0..want.len())
        .map(|at| modulus(want, at))
        .filter(|x| x.is_finite());
    let scale = if tolerance.of_largest {
        largest.fold(0.0, f64::max)
    } else {
        0.0
    };
    let wrong = |&at: &usize| !same(&got, want, at, tolerance.ulps, scale);
    let at = (0..want.len()).find(wrong)?;
    let count = (0..want.len()).filter(wrong).count();
    Some(format!(
        "element {at} is {}, not {} ({count} of {} differ)",
        got.scalar_at(at).unwrap(),
        want.scalar_at(at).unwrap(),
        want.len()
    ))
}

fn modulus(tensor: &Tensor, at: usize) -> f64 {
    let (re, im) = tensor.scalar_at(at).unwrap().as_complex();
    re.hypot(im)
}

fn same(got: &Tensor, want: &Tensor, at: usize, ulps: f64, scale: f64) -> bool {
    let size = want.dtype().size();
    let element = |tensor: &Tensor| tensor.bytes()[at * size..][..size].to_vec();
    if element(got) == element(want) {
        return true;
    }
    let ((x_re, x_im), (y_re, y_im)) = (
        got.scalar_at(at).unwrap().as_complex(),
        want.scalar_at(at).unwrap().as_complex(),
    );
    let Some((digits, tiny)) = format(want.dtype()) else {
        return false;
    };
    let modulus = y_re.hypot(y_im).max(scale);
    let allowed = ulps * (modulus * 0.5_f64.powi(digits)).max(tiny * 0.5_f64.powi(digits));
    let near = |x: f64, y: f64| (x.is_nan() && y.is_nan()) || x == y || (x - y).abs() <= allowed;
    near(x_re, y_re) && near(x_im, y_im)
}

/// Bits behind the point, and the smallest positive normal number; `None` of what is exact.
fn format(dtype: DType) -> Option<(i32, f64)> {
    match dtype {
        DType::F16 => Some((10, 0.5_f64.powi(14))),
        DType::BF16 => Some((7, 0.5_f64.powi(126))),
        DType::F32 | DType::C64 => Some((23, 0.5_f64.powi(126))),
        DType::F64 | DType::C128 => Some((52, f64::MIN_POSITIVE)),
        _ => None,
    }
}
