//! Functions that [`math`] builds out of lane operations.

use super::super::graph::MapOp;
use super::{Format, round};
use crate::lanes::{Builder, Value, math};

/// An elementary function, not yet rounded to a narrower format; `None` where only the runtime knows it.
pub(super) fn function(b: &mut Builder, op: MapOp, format: Format, x: &[Value]) -> Option<Value> {
    Some(match (op, x) {
        (MapOp::Exp, &[x]) => math::exp(b, x),
        (MapOp::Exp2, &[x]) => exp2(b, format, x),
        (MapOp::Expm1, &[x]) => math::expm1(b, x),
        (MapOp::Log, &[x]) => math::log(b, x),
        (MapOp::Log2, &[x]) => math::log2(b, x),
        (MapOp::Log1p, &[x]) => math::log1p(b, x),
        (MapOp::Cbrt, &[x]) => math::cbrt(b, x),
        (MapOp::Sin, &[x]) => math::sin(b, x),
        (MapOp::Cos, &[x]) => math::cos(b, x),
        (MapOp::Tan, &[x]) => math::tan(b, x),
        (MapOp::Asin, &[x]) => math::asin(b, x),
        (MapOp::Acos, &[x]) => math::acos(b, x),
        (MapOp::Atan, &[x]) => math::atan(b, x),
        (MapOp::Sinh, &[x]) => math::sinh(b, x),
        (MapOp::Cosh, &[x]) => math::cosh(b, x),
        (MapOp::Tanh, &[x]) => math::tanh(b, x),
        (MapOp::Asinh, &[x]) => math::asinh(b, x),
        (MapOp::Acosh, &[x]) => math::acosh(b, x),
        (MapOp::Atanh, &[x]) => math::atanh(b, x),
        (MapOp::Logistic, &[x]) => math::logistic(b, x),
        (MapOp::Erf, &[x]) => math::erf(b, x),
        (MapOp::Erfc, &[x]) => math::erfc(b, x),
        (MapOp::ErfInv, &[x]) => math::erf_inv(b, x),
        (MapOp::Lgamma, &[x]) => math::lgamma(b, x),
        (MapOp::Digamma, &[x]) => digamma(b, x),
        (MapOp::Pow, &[x, y]) => math::pow(b, x, y),
        (MapOp::Atan2, &[y, x]) => math::atan2(b, y, x),
        (MapOp::Rem, &[x, y]) => math::rem(b, x, y),
        _ => return None,
    })
}

/// 2^x as the reference computes it: `exp(ln 2 * x)` with constant and product rounded to the format.
fn exp2(b: &mut Builder, format: Format, x: Value) -> Value {
    let ln_2 = match format {
        Format::F16 => half::f16::from_f64(std::f64::consts::LN_2).to_f64(),
        Format::Bf16 => half::bf16::from_f64(std::f64::consts::LN_2).to_f64(),
        Format::F32 | Format::F64 => std::f64::consts::LN_2,
    };
    let factor = b.float(format.ty(), ln_2);
    let product = b.mul(x, factor);
    let product = round(b, format, product);
    math::exp(b, product)
}

/// As the interpreter's: the pole at both zeros is -∞.
fn digamma(b: &mut Builder, x: Value) -> Value {
    let ty = b.ty(x);
    let value = math::digamma(b, x);
    let (zero, pole) = (b.float(ty, 0.0), b.float(ty, f64::NEG_INFINITY));
    let at_zero = b.eq(x, zero);
    b.select(at_zero, pole, value)
}
