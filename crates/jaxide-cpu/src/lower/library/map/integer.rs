//! Functions of integers and truth values.

use super::{Function, binary, unary};
use crate::lower::graph::MapOp;
use crate::lower::library::elements::by_dtype;
use jaxide_core::DType;
use jaxide_core::eval::numerics::elementary;
use jaxide_core::eval::numerics::integer::Int;

/// The powers: other functions of integers are lane operations.
pub(super) fn function(op: MapOp, dtype: DType) -> Option<Function<i128, i128>> {
    if dtype == DType::Bool {
        return None;
    }
    by_dtype!(dtype, T,
        int => match op {
            MapOp::Pow => binary(|x: i128, y: i128| {
                elementary::integer_pow(x as T, y as i64, 1, Int::mul, Int::div).into()
            }),
            MapOp::IntegerPow(y) => unary(move |x: i128| {
                elementary::integer_pow(x as T, y, 1, Int::mul, Int::div).into()
            }),
            _ => None,
        },
        small => None,
        real => None,
        complex => None,
        other => None,
    )
}
