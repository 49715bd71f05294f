//! How far the indices and offsets of a graph go, so that none leaves the integers that compute it.
//!
//! A window may cover places far outside its array: they are not read, but their indices are computed.

use super::{Graph, Node, Op, ValueId, WindowSpec};
use jaxide_core::{Error, ErrorKind, Result};

/// Offsets may go so far, in bytes: sums of two fit 64 bits.
const MOST: u64 = 1 << 61;

/// Offsets up to here can be computed in 32 bits.
const NARROW: u64 = 1 << 30;

/// The farthest offset of a graph, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reach(u64);

impl Reach {
    /// Whether indices need 64 bits.
    pub(crate) fn is_wide(self) -> bool {
        self.0 >= NARROW
    }

    /// # Errors
    /// When an offset may not fit 64 bits.
    pub(crate) fn check(self) -> Result<()> {
        if self.0 <= MOST {
            return Ok(());
        }
        Err(Error::new(
            ErrorKind::TooLarge,
            "an array, or a window over it with its padding, goes farther than addresses do",
        ))
    }

    /// Notes an array: axes without elements still have neighbours' distances.
    pub(super) fn array(&mut self, shape: &[usize], element: usize) {
        let bytes = (shape.iter()).fold(element.max(1) as u64, |bytes, &length| {
            bytes.saturating_mul(length.max(1) as u64)
        });
        self.0 = self.0.max(bytes);
    }

    /// Notes what a node computes besides the offsets of its arrays.
    pub(super) fn node(&mut self, graph: &Graph, node: &Node) {
        match &node.op {
            Op::Pad { low, interior } => {
                let places = graph.shape(node.results[0]);
                for (axis, (&length, &low)) in places.iter().zip(low).enumerate() {
                    let step = interior[axis].unsigned_abs().saturating_add(1);
                    self.axis(graph, node.args[0], axis, length as u64, low, step);
                }
            }
            Op::ReduceWindow { window, .. }
            | Op::ReduceWindowWith { window, .. }
            | Op::SelectPlace { window, .. }
            | Op::SelectAndGather { window, .. } => {
                let shape = graph.shape(node.results[0]);
                self.window(graph, node.args[0], shape, window);
            }
            // Goes over the windows of the places that it is given, which are noted already.
            Op::SendToPlace { .. } => {}
            Op::Const(_)
            | Op::Splat(_)
            | Op::Iota { .. }
            | Op::Map(_)
            | Op::Broadcast { .. }
            | Op::Reshape
            | Op::Transpose { .. }
            | Op::Slice { .. }
            | Op::Rev { .. }
            | Op::Concat { .. }
            | Op::Alias
            | Op::DynamicSlice
            | Op::DynamicUpdate
            | Op::Gather(_)
            | Op::Scatter(_)
            | Op::Reduce { .. }
            | Op::ArgReduce { .. }
            | Op::ReduceWith { .. }
            | Op::Scan { .. }
            | Op::While { .. }
            | Op::Cond { .. }
            | Op::Call(_) => {}
        }
    }

    /// A window over `x` at each place of an array of this shape.
    fn window(&mut self, graph: &Graph, x: ValueId, shape: &[usize], window: &WindowSpec) {
        let places = window.size.iter().fold(1u64, |places, &size| {
            places.saturating_mul(size.max(1) as u64)
        });
        self.0 = self.0.max(places);
        for (axis, &count) in shape.iter().enumerate() {
            let steps =
                |count: usize, step: usize| (count.max(1) as u64 - 1).saturating_mul(step as u64);
            let last = steps(count, window.stride[axis])
                .saturating_add(steps(window.size[axis], window.dilation[axis]));
            let step = window.base_dilation[axis] as u64;
            self.axis(graph, x, axis, last, window.low[axis], step);
        }
    }

    /// Indices `-low..=last-low` along an axis of `x` whose neighbours are `step` apart.
    fn axis(&mut self, graph: &Graph, x: ValueId, axis: usize, last: u64, low: i64, step: u64) {
        let shape = graph.shape(x);
        let far = last.saturating_add(low.unsigned_abs());
        let end = (shape[axis].max(1) as u64).saturating_mul(step);
        let mut elements = Reach::default();
        elements.array(&shape[axis + 1..], graph.dtype(x).size());
        let bytes = far.max(end).saturating_mul(elements.0);
        // Sums over the axes: there are far fewer than the distance to the limit.
        self.0 = self.0.max(bytes.saturating_mul(shape.len() as u64));
    }
}
