//! Factors that nothing reads: not made.
//!
//! A program that wants the R of a QR factorisation alone, for a log determinant or a square root of a covariance, need not have Q made of the
//! reflectors, which takes as long again as R. What is left is the packed factorisation, and R is the upper triangle of it.

use super::{Args, Bytes, Call, Def, Graph, MapOp, Node, NodeId, Op, Region, Routine, ValueId};
use jaxide_core::DType;
use jaxide_core::prims::Geqrf;
use rustc_hash::FxHashMap as HashMap;
use smallvec::{SmallVec, smallvec};

/// Matrices of fewer entries are factored side by side, Q with them, if there are several: that is faster than to factor them one by one.
const SMALL: usize = 1024;

impl Graph {
    /// Leaves out each Q that nothing reads.
    pub(crate) fn drop_unread_factors(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        let uses = self.uses(&root);
        self.drop_unread_in(&mut root, &uses);
        self.root = root;
    }

    fn drop_unread_in(&mut self, region: &mut Region, uses: &HashMap<ValueId, usize>) {
        let mut position = 0;
        while position < region.nodes.len() {
            let id = region.nodes[position];
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.drop_unread_in(inner, uses));
            self.nodes[id.index()].op = op;
            if let Some(r) = self.only_upper_factor(id, uses) {
                let mut new = Vec::new();
                let choice = self.upper_triangle(self.node(id).args[0], r, &mut new);
                self.nodes[id.index()] = Node {
                    op: Op::Map(MapOp::Select),
                    args: choice,
                    results: smallvec![r],
                };
                self.values[r.index()].def = Def::Node(id, 0);
                if let Some(origin) = self.origins.get(&id).cloned() {
                    let origins = new.iter().map(|&made| (made, origin.clone()));
                    self.origins.extend(origins);
                }
                let count = new.len();
                region.nodes.splice(position..position, new);
                position += count;
            }
            position += 1;
        }
    }

    /// The R of a QR factorisation whose Q nothing reads, if that is worth more than factoring side by side.
    fn only_upper_factor(&self, id: NodeId, uses: &HashMap<ValueId, usize>) -> Option<ValueId> {
        let node = self.node(id);
        let Op::Call(Call::Routine(Routine::Qr(params))) = &node.op else {
            return None;
        };
        let (q, r) = (node.results[0], node.results[1]);
        let matrix: usize = self.shape(node.args[0]).iter().rev().take(2).product();
        let alone = self.value(node.args[0]).len() == matrix;
        let worth = alone || matrix >= SMALL;
        (!params.pivoting && worth && !uses.contains_key(&q)).then_some(r)
    }

    /// The operands of the choice that is `r`: zeros below the diagonal, and what the packed factorisation of `a` has elsewhere. Nodes before it
    /// go to `new`.
    fn upper_triangle(&mut self, a: ValueId, r: ValueId, new: &mut Vec<NodeId>) -> Args {
        let (dtype, whole) = (self.dtype(a), self.shape(a).to_vec());
        let shape = self.shape(r).to_vec();
        let rank = shape.len();
        let (rows, columns) = (rank - 2, rank - 1);
        let mut factors = whole[..columns].to_vec();
        factors[rows] = whole[rows].min(whole[columns]);
        let call = Op::Call(Call::Routine(Routine::Geqrf(Box::new(Geqrf {}))));
        let mut packed = self.insert(new, call, smallvec![a], dtype, &whole);
        if let Some(&id) = new.last() {
            let taus = self.new_value(dtype, &factors, Def::Node(id, 1));
            self.nodes[id.index()].results.push(taus);
        }
        if whole != shape {
            let (start, stride) = (SmallVec::from_elem(0, rank), SmallVec::from_elem(1, rank));
            let cut = Op::Slice { start, stride };
            packed = self.insert(new, cut, smallvec![packed], dtype, &shape);
        }
        let row = Op::Iota { axis: rows };
        let row = self.insert(new, row, Args::new(), DType::I32, &shape);
        let column = Op::Iota { axis: columns };
        let column = self.insert(new, column, Args::new(), DType::I32, &shape);
        let below = Op::Map(MapOp::Gt);
        let below = self.insert(new, below, smallvec![row, column], DType::Bool, &shape);
        let zero = Op::Splat(Bytes::from_elem(0, dtype.size()));
        let zero = self.insert(new, zero, Args::new(), dtype, &shape);
        smallvec![below, packed, zero]
    }
}
