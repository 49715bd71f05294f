//! Products that are only wanted turned: made that way.
//!
//! The gradient of a dense layer's weights is, as it is written, a product of which the transpose is wanted. The same sums with the
//! operands exchanged are that transpose, and save a pass over it.

use super::{Call, Graph, NodeId, Op, Region, Routine, ValueId};
use jaxide_core::prims::{DotDimensionNumbers, DotGeneral};
use rustc_hash::FxHashSet as HashSet;

/// Rows of fewer elements are too short for vectors: such a product is better made as it is written, and turned.
const SHORT_ROW: usize = 32;

impl Graph {
    /// Exchanges the operands of products that are only transposed, if that makes the transpose.
    pub(crate) fn turn_products(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        self.turn_products_in(&mut root);
        self.root = root;
        self.eliminate_dead();
    }

    fn turn_products_in(&mut self, region: &mut Region) {
        for &id in &region.nodes {
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.turn_products_in(inner));
            self.nodes[id.index()].op = op;
        }
        let turned = |&id: &NodeId| {
            let node = self.node(id);
            let Op::Transpose { permutation } = &node.op else {
                return None;
            };
            let maker = self.def(node.args[0])?;
            let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &self.node(maker).op else {
                return None;
            };
            let args = &self.node(maker).args;
            let turned = self.turned(params, args, permutation)?;
            Some((id, maker, turned, [args[1], args[0]]))
        };
        let found: Vec<_> = region.nodes.iter().filter_map(turned).collect();
        if found.is_empty() {
            return;
        }
        let (inside, uses): (HashSet<NodeId>, _) =
            (region.nodes.iter().copied().collect(), self.uses(region));
        for (id, maker, turned, args) in found {
            if inside.contains(&maker) && uses.get(&self.node(id).args[0]) == Some(&1) {
                let node = &mut self.nodes[id.index()];
                node.op = Op::Call(Call::Routine(Routine::DotGeneral(Box::new(turned))));
                node.args = args.into_iter().collect();
            }
        }
    }

    /// The product with exchanged operands, if it is the transpose by this permutation.
    fn turned(
        &self,
        params: &DotGeneral,
        args: &[ValueId],
        permutation: &[usize],
    ) -> Option<DotGeneral> {
        let numbers = &params.dimension_numbers;
        let (lhs, rhs) = (self.shape(args[0]), self.shape(args[1]));
        let batch = numbers.lhs_batch.len();
        let rows = lhs.len() - batch - numbers.lhs_contracting.len();
        let columns = rhs.len() - batch - numbers.rhs_contracting.len();
        let exchanged = (0..batch)
            .chain(batch + rows..batch + rows + columns)
            .chain(batch..batch + rows);
        let is_row = |axis: &usize| {
            !numbers.lhs_batch.contains(axis) && !numbers.lhs_contracting.contains(axis)
        };
        let row: usize = (0..lhs.len())
            .filter(is_row)
            .map(|axis| lhs[axis])
            .product();
        if !exchanged.eq(permutation.iter().copied()) || row < SHORT_ROW {
            return None;
        }
        let dimension_numbers = DotDimensionNumbers {
            lhs_contracting: numbers.rhs_contracting.clone(),
            rhs_contracting: numbers.lhs_contracting.clone(),
            lhs_batch: numbers.rhs_batch.clone(),
            rhs_batch: numbers.lhs_batch.clone(),
        };
        Some(DotGeneral {
            dimension_numbers,
            ..params.clone()
        })
    }
}
