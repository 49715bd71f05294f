//! Matrices that a loop multiplies by in each turn, laid out before the loop so that the lanes of the products are adjacent.

use super::super::{Call, Op, Region, Routine};
use super::Build;
use jaxide_core::Dims;

impl Build {
    /// Transposes operands from outside of small products in a loop's body, where their lanes are not adjacent.
    pub(super) fn lay_out_products(&mut self, body: &Region) {
        let inside = self.defined_in(body);
        for &id in &body.nodes {
            let node = self.scope.graph.node(id).clone();
            let Some(product) = self.scope.graph.lane_product(&node) else {
                continue;
            };
            let matrix = node.args[product.operand];
            let shape = self.scope.shape(matrix);
            let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
                continue;
            };
            let numbers = &params.dimension_numbers;
            let (contracting, batch) = if product.operand == 0 {
                (&numbers.lhs_contracting, &numbers.lhs_batch)
            } else {
                (&numbers.rhs_contracting, &numbers.rhs_batch)
            };
            // Free axes keep their order, since it is that of the result; those behind the lanes have length 1.
            let (others, free): (Dims, Dims) = (product.axis + 1..shape.len())
                .partition(|axis| contracting.contains(axis) || batch.contains(axis));
            if !product.is_small()
                || inside.contains(&matrix)
                || others.iter().all(|&axis| shape[axis] == 1)
                || self.scope.graph.splat(matrix).is_some()
            {
                continue;
            }
            let mut order: Dims = (0..product.axis).collect();
            order.extend(others);
            order.push(product.axis);
            order.extend(free);
            let renamed = |axes: &mut Dims| {
                for axis in axes {
                    let new = order.iter().position(|old| old == axis);
                    *axis = new.unwrap_or(*axis);
                }
            };
            let transposed = self.scope.transpose(matrix, &order);
            let node = &mut self.scope.graph.nodes[id.index()];
            node.args[product.operand] = transposed;
            if let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &mut node.op {
                let numbers = &mut params.dimension_numbers;
                if product.operand == 0 {
                    renamed(&mut numbers.lhs_contracting);
                    renamed(&mut numbers.lhs_batch);
                } else {
                    renamed(&mut numbers.rhs_contracting);
                    renamed(&mut numbers.rhs_batch);
                }
            }
        }
    }
}
