//! Sums that the turns of a loop add windows to, in their place.
//!
//! What reverse mode makes of a read `x[i]` in a loop is `sum + update(zeros, cotangent, i)` in every turn: as much work as `x` has
//! elements, for one window. Where the sum starts at zero and is only added to, the window alone is added: `scatter-add(sum, i,
//! cotangent)`, which happens in the memory of the sum.
//!
//! The results are the same: such a sum is never -0.0 (only `-0.0 + -0.0` is), so that adding zero elsewhere changes nothing. Only
//! where the windows of one scatter meet are they added to the sum one by one instead of to each other first.

use super::{Args, Combine, Graph, MapOp, NodeId, OobMode, Op, Region, ScatterSpec, ValueId};
use jaxide_core::{DType, Dims};
use rustc_hash::FxHashSet as HashSet;
use smallvec::smallvec;

/// An array is summed up whole where it has fewer elements than this for each one of the window: small ones stay in registers.
const SMALL: usize = 16;

/// A term of a sum that is a window in zeros.
struct Window {
    spec: ScatterSpec,
    indices: Indices,
    updates: ValueId,
}

/// Where a window lies.
enum Indices {
    /// An array of indices.
    Array(ValueId),
    /// A scalar per axis.
    Scalars(Args),
}

impl Graph {
    /// Lets loops add windows to sums in place.
    pub(crate) fn accumulate_in_place(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        self.accumulate_in(&mut root);
        self.root = root;
        self.eliminate_dead();
    }

    fn accumulate_in(&mut self, region: &mut Region) {
        for id in region.nodes.clone() {
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.accumulate_in(inner));
            if let Op::Scan { body, carries, .. } = &mut op {
                for k in 0..*carries {
                    if self.is_zeros(self.node(id).args[k]) {
                        self.accumulate_carry(body, k);
                    }
                }
            }
            self.nodes[id.index()].op = op;
        }
    }

    /// Rewrites the additions by which a carry that starts at zero gets its next value.
    fn accumulate_carry(&mut self, body: &mut Region, k: usize) {
        let mut additions = Vec::new();
        let (param, next) = (body.params[k], body.results[k]);
        if !self.additions(next, param, &mut additions, &mut HashSet::default()) {
            return;
        }
        for (id, term) in additions {
            let args = &self.node(id).args;
            let (sum, term) = (args[1 - term], args[term]);
            if self.shape(sum) == self.shape(term)
                && let Some(position) = body.nodes.iter().position(|&other| other == id)
                && let Some(window) = self.window_in_zeros(term)
                && self.value(sum).len() >= SMALL * self.value(window.updates).len()
            {
                self.add_window(body, position, sum, window);
            }
        }
    }

    /// The additions that lead from `sum` to `value`, each with the number of the operand that is added; whether there is nothing
    /// else on the way.
    fn additions(
        &self,
        value: ValueId,
        sum: ValueId,
        found: &mut Vec<(NodeId, usize)>,
        dead_ends: &mut HashSet<ValueId>,
    ) -> bool {
        if value == sum {
            return true;
        }
        let Some(id) = self.def(value).filter(|_| !dead_ends.contains(&value)) else {
            return false;
        };
        let node = self.node(id);
        if node.op == Op::Map(MapOp::Add) {
            for term in [1, 0] {
                if self.additions(node.args[1 - term], sum, found, dead_ends) {
                    found.push((id, term));
                    return true;
                }
            }
        }
        dead_ends.insert(value);
        false
    }

    /// The window of an array that is zero elsewhere.
    fn window_in_zeros(&self, value: ValueId) -> Option<Window> {
        let node = self.node(self.def(value)?);
        let (&zeros, &second) = (node.args.first()?, node.args.get(1)?);
        match &node.op {
            Op::DynamicUpdate if self.is_zeros(zeros) => {
                let all: Dims = (0..self.shape(value).len()).collect();
                Some(Window {
                    spec: ScatterSpec {
                        update_window: all.clone(),
                        inserted: Dims::new(),
                        scatter_dims: all,
                        operand_batching: Dims::new(),
                        indices_batching: Dims::new(),
                        mode: OobMode::Clip,
                        combine: Combine::Add,
                        apply: None,
                    },
                    indices: Indices::Scalars(Args::from_slice(&node.args[2..])),
                    updates: second,
                })
            }
            Op::Scatter(spec) if self.is_zeros(zeros) && spec.apply.is_none() => {
                let updates = *node.args.get(2)?;
                let windows = self.shape(updates).len() - spec.update_window.len();
                let apart = windows == spec.operand_batching.len();
                let adds = match spec.combine {
                    Combine::Add => true,
                    // Windows that never meet.
                    Combine::Replace => apart,
                    _ => false,
                };
                adds.then(|| Window {
                    spec: ScatterSpec {
                        combine: Combine::Add,
                        ..spec.as_ref().clone()
                    },
                    indices: Indices::Array(second),
                    updates,
                })
            }
            _ => None,
        }
    }

    /// Makes the addition at a position of the region one of the window alone.
    fn add_window(&mut self, body: &mut Region, position: usize, sum: ValueId, window: Window) {
        let id = body.nodes[position];
        let mut new = Vec::new();
        let indices = match window.indices {
            Indices::Array(indices) => indices,
            Indices::Scalars(starts) => {
                let dtype = starts
                    .first()
                    .map_or(DType::I32, |&start| self.dtype(start));
                let slices: Args = starts
                    .iter()
                    .map(|&start| {
                        let op = Op::Broadcast { dims: Dims::new() };
                        self.insert(&mut new, op, smallvec![start], dtype, &[1])
                    })
                    .collect();
                match slices.as_slice() {
                    [only] => *only,
                    _ => {
                        let count = slices.len();
                        self.insert(&mut new, Op::Concat { axis: 0 }, slices, dtype, &[count])
                    }
                }
            }
        };
        let node = &mut self.nodes[id.index()];
        node.op = Op::Scatter(Box::new(window.spec));
        node.args = smallvec![sum, indices, window.updates];
        body.nodes.splice(position..position, new);
    }

    /// Whether all elements are zero, and not -0.0.
    fn is_zeros(&self, value: ValueId) -> bool {
        self.splat(value)
            .is_some_and(|bytes| bytes.iter().all(|&byte| byte == 0))
    }
}

#[cfg(test)]
mod tests {
    use super::super::build;
    use jaxide_core::jaxpr::parse;

    /// The graph of a loop that reads `x[i]` in reverse mode, whose sum starts at `start`.
    fn loop_of(start: &str, term: &str) -> String {
        let text = format!(
            "{{ lambda ; a:i32[5] b:f32[5]. let
                c:f32[64] = broadcast_in_dim {start}:f32[]
                d:f32[64] = scan[
                  ft_in=((), (None,), (None, None))
                  ft_out=((None,), ())
                  jaxpr={{ lambda ; e:f32[64] f:i32[] g:f32[]. let
                      h:f32[64] = broadcast_in_dim 0.0:f32[]
                      i:f32[1] = broadcast_in_dim g
                      j:f32[64] = dynamic_update_slice h i f
                      k:f32[64] = {term} e j
                    in (k,) }}
                  length=5
                  reverse=False
                  unroll=1
                ] c a b
              in (d,) }}"
        );
        let mut graph = build(
            &parse(&text).unwrap(),
            crate::lower::graph::Lanes::Apart,
            false,
        )
        .unwrap();
        graph.accumulate_in_place();
        graph.to_string()
    }

    #[test]
    fn a_window_is_added_in_place() {
        let text = loop_of("0.0", "add_any");
        assert!(
            text.contains("scatter") && !text.contains("update"),
            "{text}"
        );
    }

    #[test]
    fn other_sums_stay() {
        // -0.0 + 0.0 is 0.0.
        let text = loop_of("-0.0", "add_any");
        assert!(!text.contains("scatter"), "{text}");
        let text = loop_of("0.0", "sub");
        assert!(!text.contains("scatter"), "{text}");
    }
}
