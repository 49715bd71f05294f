//! Functions that [`math`] builds out of lane operations.

use super::super::graph::MapOp;
use crate::lanes::{Builder, Value, math};

/// An elementary function, not yet rounded to a narrower format; `None` where only the runtime knows it.
pub(super) fn function(b: &mut Builder, op: MapOp, x: &[Value]) -> Option<Value> {
    Some(match (op, x) {
        (MapOp::Function(function), &[x]) => function.lanes()?(b, x),
        (MapOp::Pow, &[x, y]) => math::pow(b, x, y),
        (MapOp::Atan2, &[y, x]) => math::atan2(b, y, x),
        (MapOp::Rem, &[x, y]) => math::rem(b, x, y),
        _ => return None,
    })
}
