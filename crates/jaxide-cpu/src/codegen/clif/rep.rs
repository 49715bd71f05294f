//! How one lane value is held in CLIF values.

use crate::lanes::Ty;
use cranelift_codegen::ir::{self, Endianness, InstBuilder, MemFlagsData, types};
use cranelift_frontend::FunctionBuilder;

/// How many lanes are emitted together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    /// Scalar code.
    One,
    /// 128-bit vectors: four 32-bit lanes, or two pairs of 64-bit ones.
    Four,
}

impl Width {
    pub(super) fn lanes(self) -> i64 {
        match self {
            Width::One => 1,
            Width::Four => 4,
        }
    }
}

/// The CLIF values of one lane value. A mask at width four is all ones or all zeros per lane, in the form of what it was computed from.
#[derive(Clone, Debug)]
pub(super) enum Rep {
    /// A scalar; a mask is an `i8` of 0 or 1.
    One(ir::Value),
    /// Four 32-bit lanes.
    X4(ir::Value),
    /// Four 64-bit lanes.
    X2([ir::Value; 2]),
}

impl Rep {
    pub(super) fn one(&self) -> ir::Value {
        match self {
            Rep::One(v) | Rep::X4(v) => *v,
            Rep::X2(_) => unreachable!("a single value is asked of a pair"),
        }
    }

    pub(super) fn registers(&self) -> &[ir::Value] {
        match self {
            Rep::One(v) | Rep::X4(v) => std::slice::from_ref(v),
            Rep::X2(v) => v,
        }
    }

    /// The same shape with other values.
    pub(super) fn with(&self, registers: &[ir::Value]) -> Rep {
        match self {
            Rep::One(_) => Rep::One(registers[0]),
            Rep::X4(_) => Rep::X4(registers[0]),
            Rep::X2(_) => Rep::X2([registers[0], registers[1]]),
        }
    }
}

/// The vector type of a lane type at width four.
pub(super) fn vector_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::F32 => types::F32X4,
        Ty::F64 => types::F64X2,
        Ty::I32 | Ty::Mask => types::I32X4,
        Ty::I64 => types::I64X2,
    }
}

pub(super) fn bitcast(fb: &mut FunctionBuilder<'_>, to: ir::Type, v: ir::Value) -> ir::Value {
    if fb.func.dfg.value_type(v) == to {
        return v;
    }
    fb.ins().bitcast(
        to,
        MemFlagsData::new().with_endianness(Endianness::Little),
        v,
    )
}

/// An integer constant of the type of `like`, in every lane of a vector.
pub(super) fn int_like(fb: &mut FunctionBuilder<'_>, like: ir::Type, x: i64) -> ir::Value {
    let lane = like.lane_type();
    let bits = if lane.bits() == 64 {
        x
    } else {
        x & ((1 << lane.bits()) - 1)
    };
    let scalar = fb.ins().iconst(lane, bits);
    if like.is_vector() {
        fb.ins().splat(like, scalar)
    } else {
        scalar
    }
}

/// A float constant of the type `like`, in every lane of a vector.
#[allow(clippy::cast_possible_truncation, reason = "a float is rounded")]
pub(super) fn float_like(fb: &mut FunctionBuilder<'_>, like: ir::Type, x: f64) -> ir::Value {
    let scalar = if like.lane_type() == types::F32 {
        fb.ins().f32const(x as f32)
    } else {
        fb.ins().f64const(x)
    };
    if like.is_vector() {
        fb.ins().splat(like, scalar)
    } else {
        scalar
    }
}

/// The bytes `bytes` of the concatenation of two 128-bit vectors.
pub(super) fn shuffle(
    fb: &mut FunctionBuilder<'_>,
    a: ir::Value,
    b: ir::Value,
    bytes: [u8; 16],
    to: ir::Type,
) -> ir::Value {
    let (a, b) = (bitcast(fb, types::I8X16, a), bitcast(fb, types::I8X16, b));
    let mask = fb.func.dfg.immediates.push(bytes.to_vec().into());
    let r = fb.ins().shuffle(a, b, mask);
    bitcast(fb, to, r)
}

/// The low halves of the 64-bit lanes of a pair, as one vector of 32-bit lanes.
pub(super) fn low_halves(
    fb: &mut FunctionBuilder<'_>,
    pair: [ir::Value; 2],
    to: ir::Type,
) -> ir::Value {
    shuffle(
        fb,
        pair[0],
        pair[1],
        [0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27],
        to,
    )
}

/// The high halves of the 64-bit lanes of a pair, as one vector of 32-bit lanes.
pub(super) fn high_halves(
    fb: &mut FunctionBuilder<'_>,
    pair: [ir::Value; 2],
    to: ir::Type,
) -> ir::Value {
    shuffle(
        fb,
        pair[0],
        pair[1],
        [4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31],
        to,
    )
}
