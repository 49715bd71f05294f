//! Functions that [`math`] builds out of lane operations.

use super::super::graph::MapOp;
use super::Format;
use crate::lanes::{Builder, Ty, Value, math};

/// An elementary function, not yet rounded to a narrower format; `None` where only the runtime knows it.
pub(super) fn function(b: &mut Builder, op: MapOp, format: Format, x: &[Value]) -> Option<Value> {
    let single = format.ty() == Ty::F32;
    Some(match (op, x) {
        (MapOp::Function(function), &[x]) => function.lanes(format.ty())?(b, x),
        (MapOp::Igamma, &[a, x]) if single => math::igamma(b, a, x),
        (MapOp::Igammac, &[a, x]) if single => math::igammac(b, a, x),
        (MapOp::RegularizedIncompleteBeta, &[p, q, x]) if single => {
            math::incomplete_beta(b, p, q, x)
        }
        (MapOp::Zeta, &[x, q]) if single => math::zeta(b, x, q),
        // Where it overflows depends on the format.
        (MapOp::Polygamma, &[n, x]) => match format {
            Format::F16 => math::polygamma_f16(b, n, x),
            Format::Bf16 => math::polygamma_bf16(b, n, x),
            Format::F32 => math::polygamma(b, n, x),
            Format::F64 => return None,
        },
        (MapOp::Pow, &[x, y]) => math::pow(b, x, y),
        (MapOp::Atan2, &[y, x]) => math::atan2(b, y, x),
        (MapOp::Rem, &[x, y]) => math::rem(b, x, y),
        _ => return None,
    })
}
