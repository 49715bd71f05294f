//! Nests that move elements and compute none move them as integers of their size: nothing is rounded or taken apart on the way.

use super::{Emitter, Memory};
use crate::lower::fuse::{Nest, Root};
use crate::lower::graph::{Def, Graph, Op, ValueId};
use jaxide_core::DType;
use rustc_hash::FxHashSet as HashSet;

/// The type that elements are moved as. Integers stay what they are, since they may be indices.
fn moved_as(dtype: DType) -> DType {
    match dtype {
        DType::Bool => DType::U8,
        DType::F16 | DType::BF16 => DType::U16,
        DType::C64 | DType::KeyFry => DType::I64,
        _ => dtype,
    }
}

impl Emitter<'_> {
    /// The type that elements have in this lane program.
    pub(super) fn held_as(&self, dtype: DType) -> DType {
        if self.moves { moved_as(dtype) } else { dtype }
    }
}

/// Whether what a nest stores is moved, or of a type that is moved as it is, and indices are not of types that change.
pub(super) fn only_moves(graph: &Graph, memory: &dyn Memory, nest: &Nest) -> bool {
    // Values, and whether they are moved rather than computed with.
    let mut open: Vec<(ValueId, bool)> = Vec::new();
    for root in &nest.roots {
        match root {
            Root::Store(value) => open.push((*value, true)),
            Root::Update(id) => open.push((graph.node(*id).args[1], true)),
            Root::Fold { .. } | Root::Control(_) | Root::Scatter(_) => return false,
        }
    }
    let mut seen: HashSet<(ValueId, bool)> = open.iter().copied().collect();
    while let Some((value, moved)) = open.pop() {
        let dtype = graph.dtype(value);
        let stays = moved_as(dtype) == dtype;
        let Def::Node(id, _) = graph.value(value).def else {
            if (moved || stays) && memory.layout(value).is_some() {
                continue;
            }
            return false;
        };
        let node = graph.node(id);
        let computed = matches!(node.op, Op::Map(_)) && memory.layout(value).is_none();
        if computed == moved && !stays {
            return false;
        }
        if memory.layout(value).is_some() || memory.is_window(value) {
            continue;
        }
        // So many arguments are moved; the others are indices.
        let data = match &node.op {
            Op::Const(_) | Op::Splat(_) => 0,
            Op::Iota { .. } if stays => 0,
            Op::Map(_) => 0,
            Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Rev { .. }
            | Op::DynamicSlice
            | Op::Gather(_) => 1,
            Op::DynamicUpdate => 2,
            Op::Pad { .. } | Op::Concat { .. } => node.args.len(),
            Op::Iota { .. }
            | Op::Alias
            | Op::Scatter(_)
            | Op::Reduce { .. }
            | Op::ArgReduce { .. }
            | Op::ReduceWith { .. }
            | Op::ReduceWindow { .. }
            | Op::ReduceWindowWith { .. }
            | Op::SelectPlace { .. }
            | Op::SendToPlace { .. }
            | Op::SelectAndGather { .. }
            | Op::Scan { .. }
            | Op::While { .. }
            | Op::Cond { .. }
            | Op::Call(_) => return false,
        };
        for (k, &arg) in node.args.iter().enumerate() {
            let next = (arg, k < data && moved);
            if seen.insert(next) {
                open.push(next);
            }
        }
    }
    true
}
