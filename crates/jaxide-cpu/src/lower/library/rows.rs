//! Gathers and scatters of whole rows, which copy faster than lanes gather; transposes, which are copied in tiles.

use crate::lower::graph::{Combine, GatherSpec, Graph, Node, OobMode, Op, ScatterSpec};
use crate::lower::program::LibraryCall;
use crate::runtime::KernelCall;
use crate::runtime::rows::{GatherRows, Outside, ScatterRows};
use crate::runtime::transpose::CopyView;
use jaxide_core::DType;

/// Rows of fewer elements are left to lane programs.
const SHORTEST: usize = 8;
/// Smaller arrays are transposed by lane programs.
const SMALLEST_TRANSPOSE: usize = 2048;

/// Whether index maps and updates of a graph have a kernel, and nest best around it.
pub(crate) fn has_kernel(graph: &Graph, node: &Node) -> bool {
    match &node.op {
        Op::Gather(spec) => row_gather(graph, node, spec).is_some(),
        Op::Transpose { permutation } => {
            let shape = graph.shape(node.args[0]);
            let last = permutation.len() - 1;
            let moved = permutation[last] != last;
            let lines = shape[last] >= SHORTEST && shape[permutation[last]] >= SHORTEST;
            moved
                && lines
                && graph.value(node.args[0]).len() >= SMALLEST_TRANSPOSE
                && graph.dtype(node.results[0]).size() > 0
        }
        _ => false,
    }
}

/// The kernel of a gather or transpose for which [`has_kernel`] holds.
pub(crate) fn kernel(graph: &Graph, node: &Node) -> Option<LibraryCall> {
    match &node.op {
        Op::Gather(spec) => gather_rows(graph, node, spec),
        Op::Transpose { permutation } => {
            let shape = graph.shape(node.args[0]);
            let size = graph.dtype(node.args[0]).size();
            let call = KernelCall::new(CopyView::transpose(shape, permutation, size));
            Some(LibraryCall {
                name: "transpose".to_owned(),
                call,
                flops: 0,
            })
        }
        _ => None,
    }
}

/// A table of rows, and how many of them are taken.
struct Rows {
    rows: usize,
    row: usize,
    count: usize,
}

/// The rows that a gather copies, when it copies rows.
fn row_gather(graph: &Graph, node: &Node, spec: &GatherSpec) -> Option<Rows> {
    let (shape, result) = (graph.shape(node.args[0]), graph.shape(node.results[0]));
    let whole = spec.slice_sizes.first() == Some(&1) && spec.slice_sizes.get(1..) == shape.get(1..);
    let single = spec.start_index_map.as_slice() == [0]
        && spec.collapsed.as_slice() == [0]
        && spec.operand_batching.is_empty();
    let batch = result.len() - spec.offset_dims.len();
    let trailing = spec.offset_dims.iter().copied().eq(batch..result.len());
    let row: usize = shape.get(1..)?.iter().product();
    let fits = whole && single && trailing && row >= SHORTEST && shape[0] > 0;
    fits.then(|| Rows {
        rows: shape[0],
        row,
        count: result[..batch].iter().product(),
    })
}

/// Makes a kernel for the index type.
macro_rules! by_index {
    ($dtype:expr, $I:ident => $make:expr) => {
        match $dtype {
            DType::I8 => {
                type $I = i8;
                $make
            }
            DType::I16 => {
                type $I = i16;
                $make
            }
            DType::I32 => {
                type $I = i32;
                $make
            }
            DType::I64 => {
                type $I = i64;
                $make
            }
            DType::U8 => {
                type $I = u8;
                $make
            }
            DType::U16 => {
                type $I = u16;
                $make
            }
            DType::U32 => {
                type $I = u32;
                $make
            }
            DType::U64 => {
                type $I = u64;
                $make
            }
            _ => return None,
        }
    };
}

fn gather_rows(graph: &Graph, node: &Node, spec: &GatherSpec) -> Option<LibraryCall> {
    let rows = row_gather(graph, node, spec)?;
    let outside = if spec.mode == OobMode::Fill {
        Outside::Nothing
    } else {
        Outside::Nearest
    };
    let bytes = rows.row * graph.dtype(node.args[0]).size();
    let call = by_index!(graph.dtype(node.args[1]), I => {
        KernelCall::new(GatherRows::<I>::new(rows.rows, bytes, rows.count, outside, &spec.fill))
    });
    Some(LibraryCall {
        name: "gather_rows".to_owned(),
        call,
        flops: 0,
    })
}

/// The kernel that scatters whole rows into an array in place: inputs are indices and updates.
pub(crate) fn scatter_rows(graph: &Graph, node: &Node, spec: &ScatterSpec) -> Option<LibraryCall> {
    let (shape, updates) = (graph.shape(node.results[0]), graph.shape(node.args[2]));
    let single = spec.scatter_dims.as_slice() == [0]
        && spec.inserted.as_slice() == [0]
        && spec.operand_batching.is_empty();
    let batch = updates.len() - spec.update_window.len();
    let trailing = spec.update_window.iter().copied().eq(batch..updates.len());
    let row: usize = shape.get(1..)?.iter().product();
    let whole = updates[batch..] == shape[1..];
    if !(single && trailing && whole && row >= SHORTEST && shape[0] > 0 && spec.apply.is_none()) {
        return None;
    }
    let count: usize = updates[..batch].iter().product();
    let outside = if spec.mode == OobMode::Clip {
        Outside::Nearest
    } else {
        Outside::Nothing
    };
    macro_rules! call {
        ($T:ty, $combine:expr) => {
            by_index!(graph.dtype(node.args[1]), I => KernelCall::new(ScatterRows::<I, $T, _>::new(shape[0], row, count, outside, $combine)))
        };
    }
    let call = match (graph.dtype(node.results[0]), spec.combine) {
        (DType::F32, Combine::Add) => call!(f32, |a, b| a + b),
        (DType::F64, Combine::Add) => call!(f64, |a, b| a + b),
        (DType::F32, Combine::Mul) => call!(f32, |a, b| a * b),
        (DType::F64, Combine::Mul) => call!(f64, |a, b| a * b),
        (DType::I32 | DType::U32, Combine::Add) => call!(u32, u32::wrapping_add),
        (DType::I64 | DType::U64, Combine::Add) => call!(u64, u64::wrapping_add),
        (dtype, Combine::Replace) => match dtype.size() {
            1 => call!(u8, |_, b| b),
            2 => call!(u16, |_, b| b),
            4 => call!(u32, |_, b| b),
            8 => call!(u64, |_, b| b),
            _ => return None,
        },
        _ => return None,
    };
    Some(LibraryCall {
        name: "scatter_rows".to_owned(),
        call,
        flops: match spec.combine {
            Combine::Replace => 0,
            _ => (count * row) as u64,
        },
    })
}
