//! Whether a result is what JAX gives: shape, element type, weakness and every element.

use jaxide::Tensor;
use jaxide::prelude::*;

use super::case::{Case, Want};

/// How far a float may be from JAX's, in units of the last place of the larger of the two: functions that neither side rounds
/// correctly, and sums in another order. Everything else is exact.
fn tolerance(case: &Case, dtype: DType) -> f64 {
    match case.function.as_str() {
        // JAX takes differences of exponentials of halves.
        "sinh" | "cosh" if matches!(dtype, DType::F64) => 64.0,
        // JAX multiplies logarithms in the element type itself.
        "power" | "method_pow" if dtype.is_complex() => 32.0,
        // JAX multiplies by the logarithm of 2 first, whose rounding grows with the exponent.
        "exp2" if matches!(dtype, DType::F64 | DType::C128) => 2048.0,
        "exp2" => 96.0,
        "sin" | "cos" | "tan" | "arcsin" | "arccos" | "arctan" | "sinh" | "cosh" | "tanh"
        | "arcsinh" | "arccosh" | "arctanh" | "exp" | "expm1" | "log" | "log2" | "log1p"
        | "sqrt" | "cbrt" | "sigmoid" | "arctan2" | "power" | "method_pow" | "powi" | "sign"
        | "abs" | "divide" | "op_div" | "reciprocal" | "floor_divide" => 4.0,
        "sum" | "mean" | "var" | "std" | "prod" | "cumsum" | "cumprod" | "matmul" | "dot" => 4.0,
        "random_normal" | "random_exponential" | "random_laplace" | "random_logistic"
        | "random_gumbel" | "random_cauchy" => 8.0,
        // JAX computes in `f32`, and here only the results are rounded to it.
        "linspace" => 2.0,
        _ => 0.0,
    }
}

/// Whether zeros of both signs are the same: JAX adds to +0 in running sums, and makes products with truth values selections.
fn signs_of_zeros_differ(case: &Case) -> bool {
    let booleans = || case.arrays().iter().any(|x| x.dtype() == DType::Bool);
    match case.function.as_str() {
        "cumsum" => true,
        "multiply" | "divide" | "op_mul" | "op_div" => booleans(),
        _ => false,
    }
}

/// How a result differs from what is wanted.
pub(crate) fn difference(case: &Case, got: &Array) -> Option<String> {
    let Want::Value { tensor: want, weak } = &case.want else {
        return Some("a refusal is wanted".to_owned());
    };
    // The weakness of truth values means nothing: nothing yields to them.
    let star = |weak: bool| {
        if weak && want.dtype() != DType::Bool {
            "*"
        } else {
            ""
        }
    };
    let wanted_type = format!("{}{}", want.aval(), star(*weak));
    let got_type = format!("{}{}", got.aval(), star(got.weak_type()));
    if wanted_type != got_type {
        return Some(format!("{got_type}, not {wanted_type}"));
    }
    let got = got.value();
    let tolerance = tolerance(case, want.dtype());
    let any_zero = signs_of_zeros_differ(case);
    // A complex angle is as exact as numbers of modulus 1 are.
    let scale = if case.function == "arctan2" && want.dtype().is_complex() {
        1.0
    } else {
        0.0
    };
    let rule = Rule {
        tolerance,
        narrow: if case.function == "exp2" { 32.0 } else { 1.0 },
        any_zero,
        scale,
    };
    let wrong = |&at: &usize| !same(&got, want, at, &rule);
    let at = (0..want.len()).find(wrong)?;
    let count = (0..want.len()).filter(wrong).count();
    Some(format!(
        "element {at} is {}, not {} ({count} of {} differ)",
        got.scalar_at(at).unwrap(),
        want.scalar_at(at).unwrap(),
        want.len()
    ))
}

/// What is granted to the elements of a result.
struct Rule {
    /// Units of the last place.
    tolerance: f64,
    /// The same at most for formats of 16 bits, which are computed in wider ones: JAX rounds the product in `exp2` to them.
    narrow: f64,
    /// Whether zeros of both signs are the same.
    any_zero: bool,
    /// The least number whose last place counts.
    scale: f64,
}

fn same(got: &Tensor, want: &Tensor, at: usize, rule: &Rule) -> bool {
    let size = want.dtype().size();
    let element = |tensor: &Tensor| tensor.bytes()[at * size..][..size].to_vec();
    if element(got) == element(want) {
        return true;
    }
    let (got, want_parts) = (got.scalar_at(at).unwrap(), want.scalar_at(at).unwrap());
    let ((x_re, x_im), (y_re, y_im)) = (got.as_complex(), want_parts.as_complex());
    if rule.any_zero && (x_re, x_im) == (0.0, 0.0) && (y_re, y_im) == (0.0, 0.0) {
        return true;
    }
    let modulus = y_re.hypot(y_im).max(rule.scale);
    near(want.dtype(), x_re, y_re, modulus, rule) && near(want.dtype(), x_im, y_im, modulus, rule)
}

/// The smallest positive normal number.
fn tiny(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => 0.5_f64.powi(14),
        DType::BF16 | DType::F32 | DType::C64 => 0.5_f64.powi(126),
        _ => f64::MIN_POSITIVE,
    }
}

/// Whether two parts of numbers of one modulus are as near as the tolerance says; NaN is any NaN.
fn near(dtype: DType, x: f64, y: f64, modulus: f64, rule: &Rule) -> bool {
    // Bits behind the point, and how many places of those are granted.
    let (tolerance, narrow) = (rule.tolerance, rule.tolerance.min(rule.narrow));
    let (mantissa, tolerance) = match dtype {
        DType::F16 => (10, narrow),
        DType::BF16 => (7, narrow),
        DType::F32 | DType::C64 => (23, tolerance),
        DType::F64 | DType::C128 => (52, tolerance),
        _ => return false,
    };
    if x.is_nan() || y.is_nan() {
        return x.is_nan() && y.is_nan();
    }
    if x == y {
        return tolerance > 0.0 && dtype.is_complex()
            || x.is_sign_negative() == y.is_sign_negative();
    }
    // XLA flushes subnormal results to zero.
    if y == 0.0 && x.abs() < tiny(dtype) {
        return true;
    }
    let scale = if modulus.is_finite() {
        modulus
    } else {
        y.abs()
    };
    let place = 0.5_f64.powi(mantissa) * scale.max(tiny(dtype));
    (x - y).abs() <= tolerance * place
}
