//! Functions that [`math`] builds out of lane operations.

use super::super::functions::Function;
use super::super::graph::MapOp;
use super::Format;
use crate::lanes::{Builder, Value, math};

/// A function, not yet rounded to a narrower format; `None` where only the runtime knows it.
pub(super) fn function(b: &mut Builder, op: MapOp, format: Format, x: &[Value]) -> Option<Value> {
    Some(match (op, x) {
        (MapOp::Function(Function::Rsqrt), &[x])
            if matches!(format, Format::F16 | Format::Bf16) =>
        {
            math::rsqrt_16(b, x)
        }
        (MapOp::Function(Function::Exp), &[x]) if format == Format::F16 => math::exp_f16(b, x),
        (MapOp::Function(function), &[x]) => function.lanes()(b, x),
        (MapOp::Igamma, &[a, x]) => math::igamma(b, a, x),
        (MapOp::Igammac, &[a, x]) => math::igammac(b, a, x),
        (MapOp::IgammaGradA, &[a, x]) => math::igamma_grad_a(b, a, x),
        (MapOp::RegularizedIncompleteBeta, &[p, q, x]) => math::incomplete_beta(b, p, q, x),
        (MapOp::Zeta, &[x, q]) => math::zeta(b, x, q),
        // Where it overflows depends on the format.
        (MapOp::Polygamma, &[n, x]) => match format {
            Format::F16 => math::polygamma_f16(b, n, x),
            Format::Bf16 => math::polygamma_bf16(b, n, x),
            Format::F32 | Format::F64 => math::polygamma(b, n, x),
        },
        (MapOp::Pow, &[x, y]) => math::pow(b, x, y),
        (MapOp::Atan2, &[y, x]) => math::atan2(b, y, x),
        (MapOp::Rem, &[x, y]) => math::rem(b, x, y),
        _ => return None,
    })
}
