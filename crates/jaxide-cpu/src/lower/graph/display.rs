//! The graph as text, for debugging and dumps.

use super::{Call, Graph, NodeId, Op, Region, ValueId};
use crate::lower::text::LINE;
use jaxide_core::document::{Document, Parts};
use std::fmt;

impl fmt::Display for ValueId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

impl Graph {
    /// `%3: f32[4]`.
    fn typed(&self, value: ValueId) -> String {
        let info = self.value(value);
        let dims: Vec<String> = info.shape.iter().map(usize::to_string).collect();
        format!("{value}: {}[{}]", info.dtype, dims.join(","))
    }

    /// `  # equation 2 (mul, 3:5)`: the equation that a node comes from, if that is known.
    pub(crate) fn origin_remark(&self, id: NodeId) -> String {
        let origin = self.origins.get(&id);
        origin.map_or_else(String::new, |origin| format!("  # {origin}"))
    }

    /// A region, from where the line is on.
    fn write_region(&self, document: &mut Document<'_>, region: &Region) {
        document.text("(");
        document.list(region.params.iter().map(|&param| self.typed(param)));
        document.text(") {");
        document.indent(2);
        for &id in &region.nodes {
            let node = self.node(id);
            document.line();
            document.indent(4);
            document.list(node.results.iter().map(|&value| self.typed(value)));
            document.text(&format!(" = {}(", node.op));
            document.list(&node.args);
            document.text(&format!("){}", self.origin_remark(id)));
            document.dedent();
            let mut regions = Vec::new();
            node.op.visit_regions(&mut |inner| regions.push(inner));
            for inner in regions {
                document.indent(2);
                document.line();
                self.write_region(document, inner);
                document.dedent();
            }
        }
        document.dedent();
        document.line();
        document.text("} -> (");
        document.list(&region.results);
        document.text(")");
    }
}

impl fmt::Display for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = Parts::new();
        let mut document = Document::new(&parts, LINE, false);
        self.write_region(&mut document, &self.root);
        writeln!(f, "{}", document.layout())
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Const(index) => write!(f, "const {index}"),
            Op::Splat(bytes) => {
                f.write_str("splat 0x")?;
                bytes
                    .iter()
                    .rev()
                    .try_for_each(|byte| write!(f, "{byte:02x}"))
            }
            Op::Iota { axis } => write!(f, "iota {axis}"),
            Op::Map(map) => write!(f, "{map}"),
            Op::Broadcast { dims } => write!(f, "broadcast {dims:?}"),
            Op::Reshape => f.write_str("reshape"),
            Op::Transpose { permutation } => write!(f, "transpose {permutation:?}"),
            Op::Slice { start, stride } => write!(f, "slice {start:?} by {stride:?}"),
            Op::Rev { axes } => write!(f, "rev {axes:?}"),
            Op::Pad { low, interior } => write!(f, "pad {low:?} interior {interior:?}"),
            Op::Concat { axis } => write!(f, "concat {axis}"),
            Op::Alias => f.write_str("alias"),
            Op::DynamicSlice => f.write_str("dynamic_slice"),
            Op::DynamicUpdate => f.write_str("dynamic_update"),
            Op::Gather(spec) => write!(f, "gather {:?} {:?}", spec.slice_sizes, spec.mode),
            Op::Scatter(spec) => write!(f, "scatter {:?} {:?}", spec.combine, spec.mode),
            Op::Reduce { combine, axes } => write!(f, "reduce {combine:?} {axes:?}"),
            Op::ArgReduce { largest, axis } => {
                write!(f, "{} {axis}", if *largest { "argmax" } else { "argmin" })
            }
            Op::ReduceWith { axes, .. } => write!(f, "reduce_with {axes:?}"),
            Op::ReduceWindow { combine, window } => {
                write!(f, "reduce_window {combine:?} {:?}", window.size)
            }
            Op::ReduceWindowWith { window, .. } => {
                write!(f, "reduce_window_with {:?}", window.size)
            }
            Op::SelectPlace { window, .. } => write!(f, "select_place {:?}", window.size),
            Op::SendToPlace { window, .. } => write!(f, "send_to_place {:?}", window.size),
            Op::SelectAndGather { window, .. } => write!(f, "select_and_gather {:?}", window.size),
            Op::Scan {
                carries,
                length,
                reverse,
                ..
            } => {
                let direction = if *reverse { " backwards" } else { "" };
                write!(f, "scan {length} times{direction}, {carries} carried")
            }
            Op::While { .. } => f.write_str("while"),
            Op::Cond { .. } => f.write_str("cond"),
            Op::Call(Call::Routine(routine)) => write!(f, "call {}", routine.name()),
            Op::Call(Call::Map(op)) => write!(f, "call {op}"),
        }
    }
}
