//! Gathers of whole rows, which copy faster than lanes gather; transposes, which are copied in tiles.

use super::elements::meaningless;
use super::recipe::{self, Recipe};
use crate::lower::graph::{GatherSpec, Graph, Node, OobMode, Op};
use crate::lower::program::LibraryCall;
use crate::runtime::KernelCall;
use crate::runtime::rows::{GatherRows, Outside};
use crate::runtime::transpose::CopyView;
use jaxide_core::{DType, Error, Result};

/// Rows of fewer elements are left to lane programs,
const SHORTEST: usize = 8;
/// of fewer than this where they have 8 or 16 bits, of which lanes load no short rows as fast as a kernel does.
const SHORTEST_OF_SMALL: usize = 5;
/// Gathers of fewer elements are part of nests, whose vectors are gathered in less time than a call takes.
const SMALLEST_GATHER: usize = 512;
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
            let recipe = Recipe::Transpose {
                shape: shape.to_vec(),
                permutation: permutation.to_vec(),
                size: graph.dtype(node.args[0]).size(),
            };
            LibraryCall::new("transpose", recipe, 0).ok()
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
    let count: usize = result[..batch].iter().product();
    let shortest = if graph.dtype(node.args[0]).size() < 4 {
        SHORTEST_OF_SMALL
    } else {
        SHORTEST
    };
    let fits = whole && single && trailing && row >= shortest && shape[0] > 0;
    (fits && count * row > SMALLEST_GATHER).then_some(Rows {
        rows: shape[0],
        row,
        count,
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
            other => Err(meaningless(other)),
        }
    };
}
pub(super) use by_index;

fn gather_rows(graph: &Graph, node: &Node, spec: &GatherSpec) -> Option<LibraryCall> {
    let rows = row_gather(graph, node, spec)?;
    let outside = if spec.mode == OobMode::Fill {
        Outside::Nothing
    } else {
        Outside::Nearest
    };
    let recipe = Recipe::GatherRows(recipe::GatherRows {
        index: graph.dtype(node.args[1]),
        rows: rows.rows,
        row: rows.row * graph.dtype(node.args[0]).size(),
        count: rows.count,
        outside,
        fill: spec.fill.clone(),
    });
    LibraryCall::new("gather_rows", recipe, 0).ok()
}

/// The kernel of a gather of rows.
pub(super) fn gather(recipe: &recipe::GatherRows) -> Result<Box<KernelCall>> {
    let recipe::GatherRows {
        index,
        rows,
        row,
        count,
        outside,
        ref fill,
    } = *recipe;
    by_index!(index, I => {
        Ok(KernelCall::new(GatherRows::<I>::new(rows, row, count, outside, fill)))
    })
}

/// The kernel of a transpose of elements of so many bytes.
pub(super) fn transpose(
    shape: &[usize],
    permutation: &[usize],
    size: usize,
) -> Result<Box<KernelCall>> {
    let fits = shape.len() == permutation.len()
        && (0..shape.len()).all(|axis| permutation.contains(&axis))
        && matches!(size, 1 | 2 | 4 | 8 | 16);
    if !fits {
        return Err(Error::shape(format!(
            "{permutation:?} permutes no array of shape {shape:?} with elements of {size} bytes"
        )));
    }
    Ok(KernelCall::new(CopyView::transpose(
        shape,
        permutation,
        size,
    )))
}
