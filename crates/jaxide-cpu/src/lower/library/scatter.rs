//! Scatters as calls of the runtime, where their windows stand behind each other in the updates.

use super::elements::meaningless;
use super::recipe::{self, Recipe};
use super::rows::by_index;
use crate::lower::graph::{
    Bytes, Combine, Def, Graph, MapOp, Node, OobMode, Op, ScatterSpec, ValueId, read_int,
};
use crate::lower::program::LibraryCall;
use crate::narrow;
use crate::runtime::KernelCall;
use crate::runtime::cumulative::combine as both;
use crate::runtime::rows::Outside;
use crate::runtime::scatter::combine::{
    Difference, Larger, Product, Smaller, Sum, Widened, widen_bf16,
};
use crate::runtime::scatter::{Component, IndexType, Scatter, Windows};
use crate::runtime::simd::nearest_bf16;
use half::{bf16, f16};
use jaxide_core::{DType, Error, Result};
use num_complex::Complex;
use smallvec::SmallVec;

/// A few windows are combined by a lane program, which needs no call.
const FEWEST: usize = 32;
/// Several windows of so many elements are worth a call,
const LONG_RUN: usize = 8;
/// and one of so many is.
const LONG_WINDOW: usize = 512;
/// Windows have at most so many runs of adjacent elements.
const MOST_RUNS: usize = 4096;

/// The kernel that scatters into an array in place, and the operands that it reads: indices and updates, where these are not all one element.
///
/// Indices are read where they are stored first on the way to what they are made of. The kernel can count them from the end of an axis
/// itself, and reads those before they were counted if none behind that is stored: so what it reads is what computing its operands reads.
pub(crate) fn scatter(
    graph: &Graph,
    node: &Node,
    spec: &ScatterSpec,
    stored: impl Fn(ValueId) -> bool,
) -> Option<(LibraryCall, SmallVec<[ValueId; 2]>)> {
    let mut windows = windows(graph, node, spec)?;
    let mut indices = node.args[1];
    // An axis of length one may stand behind the others.
    let mut same = indices;
    while !stored(same)
        && let Some(next) = same_elements(graph, same)
    {
        same = next;
    }
    if stored(same) {
        indices = same;
    } else if let [component] = &mut windows.components[..]
        && let Some((counted, length)) = counted_from_end(graph, same)
    {
        indices = counted;
        component.from_end = length;
    }
    let update = splat(graph, node.args[2]);
    let mut operands: SmallVec<[ValueId; 2]> = SmallVec::from_elem(indices, 1);
    operands.extend(update.is_none().then_some(node.args[2]));
    let work = match spec.combine {
        Combine::Replace => 0,
        _ => narrow::<_, u64>(windows.count * windows.len()),
    };
    let recipe = Recipe::Scatter(Box::new(recipe::Scatter {
        dtype: graph.dtype(node.results[0]),
        combine: spec.combine,
        index: graph.dtype(indices),
        update: update.map(Bytes::from_slice),
        windows,
    }));
    let call = LibraryCall::new("scatter", recipe, work).ok()?;
    Some((call, operands))
}

/// The kernel of a scatter.
pub(super) fn combine(recipe: &recipe::Scatter) -> Result<Box<KernelCall>> {
    let recipe::Scatter {
        dtype,
        combine,
        index,
        ref update,
        ref windows,
    } = *recipe;
    let index = by_index!(index, I => Ok(IndexType::of::<I>()))?;
    let none = || {
        Error::unsupported(format!(
            "a scatter of {dtype} with {combine:?} has no kernel"
        ))
    };
    macro_rules! call {
        ($T:ty, $combine:expr) => {
            call!($T, $combine, None)
        };
        ($T:ty, $combine:expr, $neutral:expr) => {{
            let update = match update {
                Some(bytes) => {
                    let read = bytemuck::try_pod_read_unaligned::<$T>(bytes);
                    Some(read.map_err(|_| none())?)
                }
                None => None,
            };
            let windows = windows.clone();
            KernelCall::new(Scatter::<$T, _>::new(
                windows, index, update, $neutral, $combine,
            ))
        }};
    }
    /// Numbers of a type, and its sums, differences and products.
    macro_rules! number {
        ($T:ty, $combine:expr, $add:expr, $sub:expr, $mul:expr, $min:expr, $max:expr) => {
            match $combine {
                Combine::Add => call!($T, $add),
                Combine::Sub => call!($T, $sub),
                Combine::Mul => call!($T, $mul),
                Combine::Min => call!($T, $min),
                Combine::Max => call!($T, $max),
                Combine::And | Combine::Or | Combine::Xor | Combine::Replace => return Err(none()),
            }
        };
    }
    // Sums and extrema are exact, in any order.
    macro_rules! integer {
        ($T:ty) => {
            match combine {
                Combine::Add => call!($T, <$T>::wrapping_add, Some(0)),
                Combine::Sub => call!($T, <$T>::wrapping_sub),
                Combine::Mul => call!($T, <$T>::wrapping_mul, Some(1)),
                Combine::Min => call!($T, |a: $T, b| a.min(b), Some(<$T>::MAX)),
                Combine::Max => call!($T, |a: $T, b| a.max(b), Some(<$T>::MIN)),
                Combine::And | Combine::Or | Combine::Xor | Combine::Replace => return Err(none()),
            }
        };
    }
    macro_rules! float {
        ($T:ty) => {
            number!(
                $T,
                combine,
                |a, b| a + b,
                |a, b| a - b,
                |a, b| a * b,
                Smaller,
                Larger
            )
        };
    }
    macro_rules! complex {
        ($T:ty) => {
            number!(
                $T,
                combine,
                |a, b| a + b,
                |a, b| a - b,
                |a, b| a * b,
                both::min::<$T>,
                both::max::<$T>
            )
        };
    }
    Ok(match (dtype, combine) {
        (_, Combine::Replace) => match dtype.size() {
            1 => call!(u8, |_, b| b),
            2 => call!(u16, |_, b| b),
            4 => call!(u32, |_, b| b),
            8 => call!(u64, |_, b| b),
            16 => call!([u64; 2], |_, b| b),
            _ => return Err(none()),
        },
        (DType::Bool, Combine::Add | Combine::Max) => call!(u8, |a, b| a | b),
        (DType::Bool, Combine::Mul | Combine::Min) => call!(u8, |a, b| a & b),
        (DType::F32, _) => float!(f32),
        (DType::F64, _) => float!(f64),
        // Rounded after each operation.
        (DType::F16, _) => number!(
            f16,
            combine,
            Widened(Sum),
            Widened(Difference),
            Widened(Product),
            Smaller,
            Larger
        ),
        (DType::BF16, _) => number!(
            bf16,
            combine,
            |a: bf16, b: bf16| nearest_bf16(widen_bf16(a) + widen_bf16(b)),
            |a: bf16, b: bf16| nearest_bf16(widen_bf16(a) - widen_bf16(b)),
            |a: bf16, b: bf16| nearest_bf16(widen_bf16(a) * widen_bf16(b)),
            Smaller,
            Larger
        ),
        (DType::C64, _) => complex!(Complex<f32>),
        (DType::C128, _) => complex!(Complex<f64>),
        (DType::I8, _) => integer!(i8),
        (DType::I16, _) => integer!(i16),
        (DType::I32, _) => integer!(i32),
        (DType::I64, _) => integer!(i64),
        (DType::U8, _) => integer!(u8),
        (DType::U16, _) => integer!(u16),
        (DType::U32, _) => integer!(u32),
        (DType::U64, _) => integer!(u64),
        _ => return Err(none()),
    })
}

/// What a value has the elements of, in their order.
fn same_elements(graph: &Graph, value: ValueId) -> Option<ValueId> {
    let node = graph.node(graph.def(value)?);
    let moves = matches!(node.op, Op::Reshape | Op::Broadcast { .. });
    (moves && graph.value(node.args[0]).len() == graph.value(value).len()).then(|| node.args[0])
}

/// What the indices of a scatter are made of that count from the end of an axis: the kernel may read that.
pub(crate) fn uncounted(graph: &Graph, node: &Node) -> Option<ValueId> {
    if !matches!(node.op, Op::Scatter(_)) {
        return None;
    }
    let mut indices = node.args[1];
    while let Some(next) = same_elements(graph, indices) {
        indices = next;
    }
    counted_from_end(graph, indices).map(|(counted, _)| counted)
}

/// The indices that others are, where these count from the end of an axis if they are negative: what `jax.numpy` writes before every scatter. With
/// the length that it adds.
fn counted_from_end(graph: &Graph, indices: ValueId) -> Option<(ValueId, i64)> {
    let node = |value: ValueId| match graph.value(value).def {
        Def::Node(id, _) => Some(graph.node(id)),
        Def::Param => None,
    };
    let map = |value: ValueId, wanted: MapOp| {
        node(value).filter(|node| matches!(node.op, Op::Map(op) if op == wanted))
    };
    let select = map(indices, MapOp::Select)?;
    let &[below, plain, moved] = &select.args[..] else {
        return None;
    };
    let (below, moved) = (map(below, MapOp::Lt)?, map(moved, MapOp::Add)?);
    let number = |value| read_int(graph.dtype(value), splat(graph, value)?);
    let is_counted = below.args[0] == plain && number(below.args[1]) == Some(0);
    let length = match &moved.args[..] {
        &[x, length] | &[length, x] if x == plain && number(length).is_some() => number(length)?,
        _ => return None,
    };
    (is_counted && length > 0).then_some((plain, length))
}

/// The bytes of the one element that a value has everywhere, if it is nothing else.
fn splat(graph: &Graph, value: ValueId) -> Option<&[u8]> {
    let Def::Node(id, _) = graph.value(value).def else {
        return None;
    };
    let node = graph.node(id);
    match &node.op {
        Op::Splat(bytes) => Some(bytes),
        Op::Broadcast { .. } => splat(graph, node.args[0]),
        _ => None,
    }
}

/// The windows of a scatter, where they are worth a call.
fn windows(graph: &Graph, node: &Node, spec: &ScatterSpec) -> Option<Windows> {
    let (shape, updates) = (graph.shape(node.results[0]), graph.shape(node.args[2]));
    let batch = updates.len() - spec.update_window.len();
    let trailing = spec.update_window.iter().copied().eq(batch..updates.len());
    if !trailing || !spec.operand_batching.is_empty() || spec.apply.is_some() {
        return None;
    }
    let mut strides = vec![1; shape.len()];
    for axis in (1..shape.len()).rev() {
        strides[axis - 1] = strides[axis] * shape[axis];
    }
    // The axes that windows have, and their lengths.
    let axes: Vec<usize> = (0..shape.len())
        .filter(|axis| !spec.inserted.contains(axis))
        .collect();
    let sizes = &updates[batch..];
    let (mut run, mut whole) = (1, axes.len());
    while whole > 0 && strides[axes[whole - 1]] == run {
        whole -= 1;
        run *= sizes[whole];
    }
    let count: usize = updates[..batch].iter().product();
    let several: usize = sizes[..whole].iter().product();
    let long = if count == 1 { LONG_WINDOW } else { LONG_RUN };
    let worth = count >= FEWEST || run >= long;
    if !worth || several > MOST_RUNS || count * several * run == 0 {
        return None;
    }
    let mut runs = vec![0];
    for (&axis, &size) in axes.iter().zip(&sizes[..whole]) {
        runs = (runs.iter())
            .flat_map(|&start| (0..size).map(move |k| (start, k)))
            .map(|(start, k)| start + k * strides[axis])
            .collect();
    }
    let components = (spec.scatter_dims.iter())
        .map(|&axis| {
            let own = axes.iter().position(|&other| other == axis);
            let size = own.map_or(1, |k| sizes[k]);
            Component {
                stride: strides[axis],
                most: shape[axis] as i64 - size as i64,
                from_end: 0,
            }
        })
        .collect();
    Some(Windows {
        elements: shape.iter().product(),
        count,
        components,
        outside: if spec.mode == OobMode::Clip {
            Outside::Nearest
        } else {
            Outside::Nothing
        },
        runs,
        run,
    })
}
