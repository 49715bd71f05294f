//! Matrices that a loop multiplies by in each turn, laid out before the loop so that the lanes of the products are adjacent, and rows begin where
//! vectors do.

use super::super::product::LaneProduct;
use super::super::{Call, Node, NodeId, Op, Region, Routine};
use super::Build;
use jaxide_core::Dims;
use smallvec::{SmallVec, smallvec};

/// Bytes of a cache line: vectors of which two lines have a part are read in twice the time.
const LINE: usize = 64;
/// Bytes of rows that are not made longer by more than an eighth.
const SHORTEST_ROW: usize = 512;
/// Bytes of matrices that are read from a core's own caches, and take longer to read than to multiply by.
const MATRIX: std::ops::RangeInclusive<usize> = 1 << 16..=1 << 21;
/// Rows of vectors that are multiplied by them, up to which reading the matrix is most of the work.
const MOST_VECTORS: usize = 4;
/// Turns that pay for a copy of the matrix.
const FEWEST_TURNS: usize = 8;
/// Turns that a loop of unknown length is taken to have.
pub(super) const UNKNOWN_TURNS: usize = FEWEST_TURNS;
/// Turns that pay for a transposed copy of a matrix that the library reads by rows.
const TURNS_OF_TRANSPOSED: usize = 64;
/// Bytes of a matrix that is read in two ways, and of one that is transposed for the library.
const MOST_COPIED: usize = 1 << 19;

impl Build {
    /// Transposes operands from outside of small products in a loop's body, where their lanes are not adjacent, and fills up the rows of others.
    pub(super) fn lay_out_products(&mut self, body: &mut Region, turns: usize) {
        let inside = self.defined_in(body);
        let mut nodes = Vec::with_capacity(body.nodes.len());
        for &id in &body.nodes {
            nodes.push(id);
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
            if inside.contains(&matrix) || self.scope.graph.splat(matrix).is_some() {
                continue;
            }
            let bytes = self.scope.graph.value(matrix).bytes();
            // What is read in two ways would have to stay in the caches twice.
            let is_shared = || {
                body.nodes.iter().any(|&other| {
                    let other = self.scope.graph.node(other);
                    other.args.contains(&matrix) && other.op != node.op
                })
            };
            let width = (turns >= FEWEST_TURNS && batch.is_empty())
                .then(|| self.filled_up(&node, &product))
                .flatten()
                .filter(|_| bytes <= MOST_COPIED || !is_shared());
            let adjacent = others.iter().all(|&axis| shape[axis] == 1);
            let transposes = product.is_small()
                || width.is_some() && turns >= TURNS_OF_TRANSPOSED && bytes <= MOST_COPIED;
            if adjacent && let Some(width) = width {
                nodes.push(self.fill_up(id, &product, product.axis, width));
            }
            if adjacent || !transposes {
                continue;
            }
            let lanes = product.axis + others.len();
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
            if let Some(width) = width {
                nodes.push(self.fill_up(id, &product, lanes, width));
            }
        }
        body.nodes = nodes;
    }

    /// How long the rows of a product's matrix are when they are whole lines, if that pays.
    fn filled_up(&self, node: &Node, product: &LaneProduct) -> Option<usize> {
        let graph = &self.scope.graph;
        let matrix = node.args[product.operand];
        let size = graph.dtype(matrix).size();
        let lanes = graph.shape(matrix)[product.axis];
        let vectors = graph.value(node.results[0]).len() / lanes;
        let bytes = graph.value(matrix).bytes();
        let pays = !(lanes * size).is_multiple_of(LINE)
            && lanes * size >= SHORTEST_ROW
            && MATRIX.contains(&bytes)
            && vectors <= MOST_VECTORS;
        pays.then(|| (lanes * size).next_multiple_of(LINE) / size)
    }

    /// Makes a product's rows so long, by zeros behind their end, before the loop; gives the node that cuts the result.
    fn fill_up(&mut self, id: NodeId, product: &LaneProduct, axis: usize, width: usize) -> NodeId {
        let node = self.scope.graph.node(id);
        let (matrix, result) = (node.args[product.operand], node.results[0]);
        let dtype = self.scope.dtype(matrix);
        let mut shape = self.scope.shape(matrix);
        shape[axis] = width;
        let none: SmallVec<[i64; 4]> = smallvec![0; shape.len()];
        let zero = self
            .scope
            .splat_bytes(vec![0; dtype.size()].into(), dtype, &[]);
        let op = Op::Pad {
            low: none.clone(),
            interior: none,
        };
        let filled = self.scope.one(op, &[matrix, zero], dtype, &shape);
        self.scope.graph.nodes[id.index()].args[product.operand] = filled;
        // Whatever axes of the result stand behind the lanes have length 1.
        let mut shape = self.scope.shape(result);
        if let Some(lanes) = shape.iter_mut().rev().find(|length| **length > 1) {
            *lanes = width;
        }
        self.scope.cut_result(id, &shape)
    }
}
