//! Functions that [`math`] builds out of lane operations.

use super::super::graph::MapOp;
use crate::lanes::{Builder, Value, math};

/// An elementary function, not yet rounded to a narrower format; `None` where only the runtime knows it.
pub(super) fn function(b: &mut Builder, op: MapOp, x: &[Value]) -> Option<Value> {
    Some(match (op, x) {
        (MapOp::Exp, &[x]) => math::exp(b, x),
        (MapOp::Exp2, &[x]) => math::exp2(b, x),
        (MapOp::Expm1, &[x]) => math::expm1(b, x),
        (MapOp::Log, &[x]) => math::log(b, x),
        (MapOp::Log2, &[x]) => math::log2(b, x),
        (MapOp::Log1p, &[x]) => math::log1p(b, x),
        (MapOp::Rsqrt, &[x]) => math::rsqrt(b, x),
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
        (MapOp::Digamma, &[x]) => math::digamma(b, x),
        (MapOp::Pow, &[x, y]) => math::pow(b, x, y),
        (MapOp::Atan2, &[y, x]) => math::atan2(b, y, x),
        (MapOp::Rem, &[x, y]) => math::rem(b, x, y),
        _ => return None,
    })
}
