//! The operations of the graph.

use super::{MapOp, Region, Routine};
use jaxide_core::Dims;
use smallvec::SmallVec;

/// The bytes of one element.
pub(crate) type Bytes = SmallVec<[u8; 16]>;

/// How two elements become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Combine {
    Add,
    Sub,
    Mul,
    Min,
    Max,
    And,
    Or,
    Xor,
    /// The new one.
    Replace,
}

impl Combine {
    /// The operation of two elements, where there is one: otherwise the new one stays.
    pub(crate) fn map(self) -> Option<MapOp> {
        match self {
            Combine::Replace => None,
            Combine::Add => Some(MapOp::Add),
            Combine::Sub => Some(MapOp::Sub),
            Combine::Mul => Some(MapOp::Mul),
            Combine::Min => Some(MapOp::Min),
            Combine::Max => Some(MapOp::Max),
            Combine::And => Some(MapOp::And),
            Combine::Or => Some(MapOp::Or),
            Combine::Xor => Some(MapOp::Xor),
        }
    }
}

/// What indexing does out of bounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum OobMode {
    /// Windows move inside.
    Clip,
    /// Reads give the fill value, writes are dropped.
    Fill,
    /// Nothing is outside.
    InBounds,
}

/// A gather: windows of `slice_sizes` of the operand at indices, see JAX's `GatherDimensionNumbers`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct GatherSpec {
    pub(crate) offset_dims: Dims,
    pub(crate) collapsed: Dims,
    pub(crate) start_index_map: Dims,
    pub(crate) operand_batching: Dims,
    pub(crate) indices_batching: Dims,
    pub(crate) slice_sizes: Dims,
    pub(crate) mode: OobMode,
    /// The element read outside.
    pub(crate) fill: Bytes,
}

/// A scatter: windows of the updates combined into the operand, see JAX's `ScatterDimensionNumbers`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ScatterSpec {
    pub(crate) update_window: Dims,
    pub(crate) inserted: Dims,
    pub(crate) scatter_dims: Dims,
    pub(crate) operand_batching: Dims,
    pub(crate) indices_batching: Dims,
    pub(crate) mode: OobMode,
    pub(crate) combine: Combine,
    /// A function of old element and update that takes the place of `combine`.
    pub(crate) apply: Option<Region>,
}

/// A window that moves over an array.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct WindowSpec {
    pub(crate) size: Dims,
    pub(crate) stride: Dims,
    pub(crate) dilation: Dims,
    pub(crate) base_dilation: Dims,
    /// Low padding; the high one follows from the result's shape.
    pub(crate) low: SmallVec<[i64; 4]>,
}

impl WindowSpec {
    /// How many windows cover one element at most, along each axis, where they are not dilated.
    pub(crate) fn most_over_one(&self) -> Dims {
        let lengths = self.size.iter().zip(&self.stride);
        lengths
            .map(|(&size, &stride)| size.div_ceil(stride))
            .collect()
    }

    /// Whether windows are the single elements of the array in their order, and of its padding.
    pub(crate) fn is_identity(&self) -> bool {
        let lengths = [&self.size, &self.stride, &self.base_dilation];
        lengths.into_iter().flatten().all(|&length| length == 1)
    }
}

/// A call of the runtime.
// Few exist, and boxing would hide the primitive from patterns.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Call {
    /// What a primitive computes.
    Routine(Routine),
    /// A function of elements that has no lane form, on operands of the result's shape.
    Map(MapOp),
}

/// An operation with its static parameters.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Op {
    /// A captured array.
    Const(u32),
    /// One element everywhere.
    Splat(Bytes),
    /// The index along an axis.
    Iota { axis: usize },
    /// A function of elements; operands of rank 0 beside arrays stand for all elements.
    Map(MapOp),
    /// Axis `k` of the operand is axis `dims[k]` of the result; axes of length 1 repeat.
    Broadcast { dims: Dims },
    /// The same elements in row-major order.
    Reshape,
    /// Axis `k` of the result is axis `permutation[k]` of the operand.
    Transpose { permutation: Dims },
    /// A box with strides; its lengths are those of the result.
    Slice { start: Dims, stride: Dims },
    /// Reversed axes.
    Rev { axes: Dims },
    /// The first operand surrounded by and interspersed with the second, a scalar. Lengths follow from the result.
    Pad {
        low: SmallVec<[i64; 4]>,
        interior: SmallVec<[i64; 4]>,
    },
    /// Arrays joined along an axis.
    Concat { axis: usize },
    /// The same bytes as another element type or shape.
    Alias,
    /// A box (lengths of the result) at a start given by scalars, moved inside.
    DynamicSlice,
    /// The first operand with the second written at a start given by scalars, moved inside.
    DynamicUpdate,
    /// Windows read at indices.
    Gather(Box<GatherSpec>),
    /// Windows combined into the operand at indices: operand, indices, updates.
    Scatter(Box<ScatterSpec>),
    /// Axes combined away.
    Reduce { combine: Combine, axes: Dims },
    /// The index of the largest or smallest along an axis.
    ArgReduce { largest: bool, axis: usize },
    /// Axes combined away by a function: operands, then initial values, of all results or of each; the region takes two sets of scalars.
    ReduceWith { axes: Dims, body: Region },
    /// Windows combined.
    ReduceWindow {
        combine: Combine,
        window: Box<WindowSpec>,
    },
    /// Windows combined by a function: operands, then initial values.
    ReduceWindowWith {
        window: Box<WindowSpec>,
        body: Region,
    },
    /// Which place of its window `select` (true keeps the first of two) picks, counted along the last axis first: -1 where the window
    /// covers nothing.
    SelectPlace {
        window: Box<WindowSpec>,
        select: Region,
    },
    /// Each element of the second operand goes to the place of its window that the first one names, and is combined there with what
    /// the windows before it have left, the initial value at first: places, source, initial value. Windows are not dilated.
    SendToPlace {
        window: Box<WindowSpec>,
        combine: Region,
    },
    /// Reads the first operand where the second is largest (or smallest) in its window.
    SelectAndGather {
        largest: bool,
        window: Box<WindowSpec>,
    },
    /// Repeats a body: initial carries, then stacked inputs; the region takes carries and slices and gives carries and slices.
    Scan {
        body: Region,
        carries: usize,
        length: usize,
        reverse: bool,
    },
    /// Repeats a body while the condition holds, a scalar or one per leading index.
    While { cond: Region, body: Region },
    /// The branch at the first operand's index, without further operands.
    Cond { branches: Vec<Region> },
    /// Library code.
    Call(Call),
}

impl Op {
    /// Calls `visitor` with every region inside.
    pub(crate) fn visit_regions<'a>(&'a self, visitor: &mut dyn FnMut(&'a Region)) {
        match self {
            Op::ReduceWith { body, .. }
            | Op::ReduceWindowWith { body, .. }
            | Op::Scan { body, .. } => visitor(body),
            Op::SelectPlace { select, .. } => visitor(select),
            Op::SendToPlace { combine, .. } => visitor(combine),
            Op::While { cond, body } => {
                visitor(cond);
                visitor(body);
            }
            Op::Cond { branches } => branches.iter().for_each(visitor),
            Op::Scatter(spec) => spec.apply.iter().for_each(visitor),
            Op::Const(_)
            | Op::Splat(_)
            | Op::Iota { .. }
            | Op::Map(_)
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Rev { .. }
            | Op::Pad { .. }
            | Op::Concat { .. }
            | Op::Alias
            | Op::DynamicSlice
            | Op::DynamicUpdate
            | Op::Gather(_)
            | Op::Reduce { .. }
            | Op::ArgReduce { .. }
            | Op::ReduceWindow { .. }
            | Op::SelectAndGather { .. }
            | Op::Call(_) => {}
        }
    }

    /// As [`Self::visit_regions`], with the regions replaceable.
    pub(crate) fn visit_regions_mut(&mut self, visitor: &mut dyn FnMut(&mut Region)) {
        match self {
            Op::ReduceWith { body, .. }
            | Op::ReduceWindowWith { body, .. }
            | Op::Scan { body, .. } => visitor(body),
            Op::SelectPlace { select, .. } => visitor(select),
            Op::SendToPlace { combine, .. } => visitor(combine),
            Op::While { cond, body } => {
                visitor(cond);
                visitor(body);
            }
            Op::Cond { branches } => branches.iter_mut().for_each(visitor),
            Op::Scatter(spec) => spec.apply.iter_mut().for_each(visitor),
            _ => {}
        }
    }

    /// Whether it does something besides giving its results; what its regions do is not asked: [`Graph::has_effect`](super::Graph::has_effect).
    pub(super) fn is_effect(&self) -> bool {
        matches!(self, Op::Call(Call::Routine(Routine::DebugPrint(_))))
    }
}
