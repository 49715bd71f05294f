//! Columns beside each other, which are wanted in memory: made as rows behind each other, and turned.
//!
//! Up to four columns are woven into rows as they are stored. More of them would each be stored element by element, or each element would ask which
//! column it is of.

use super::{Args, Call, Graph, NodeId, Op, Region, Routine, ValueId};
use jaxide_core::Dims;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// As many columns are woven.
const WOVEN: usize = 4;
/// Columns of fewer elements are stored one by one, however many there are; and in loops, whose state may be in registers.
const FEW_ROWS: usize = 64;
const FEW_ROWS_OF_TURNS: usize = 2048;

impl Graph {
    /// Turns columns, where that is worth it.
    pub(crate) fn turn_columns(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        self.turn_columns_in(&mut root, FEW_ROWS);
        self.root = root;
        self.eliminate_dead();
    }

    fn turn_columns_in(&mut self, region: &mut Region, few: usize) {
        for &id in &region.nodes {
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| self.turn_columns_in(inner, FEW_ROWS_OF_TURNS));
            self.nodes[id.index()].op = op;
        }
        let mut wanted: HashSet<ValueId> = region.results.iter().copied().collect();
        for &id in &region.nodes {
            let node = self.node(id);
            if matches!(node.op, Op::Call(_) | Op::Reshape) {
                wanted.extend(&node.args);
            }
        }
        let mut nodes = Vec::with_capacity(region.nodes.len());
        let mut turned = HashMap::default();
        for &id in &region.nodes {
            let result = self.node(id).results.first().copied();
            if let Some(result) = result.filter(|result| wanted.contains(result))
                && self.joins_columns(id, few)
            {
                turned.insert(result, self.turn(id, &mut nodes));
            }
            self.multiply_rows(id, &turned);
            nodes.push(id);
        }
        region.nodes = nodes;
    }

    /// Whether a node puts many long columns beside each other.
    fn joins_columns(&self, id: NodeId, few: usize) -> bool {
        let node = self.node(id);
        let Op::Concat { axis } = node.op else {
            return false;
        };
        let shape = self.shape(node.results[0]);
        axis + 1 == shape.len()
            && node.args.len() > WOVEN
            && (node.args.iter()).all(|&part| self.shape(part)[axis] == 1)
            && shape[..axis].iter().product::<usize>() >= few
    }

    /// Has a product read the rows themselves, where it sums along what were columns.
    fn multiply_rows(&mut self, id: NodeId, turned: &HashMap<ValueId, ValueId>) {
        let node = self.node(id);
        let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
            return;
        };
        let (mut params, mut args) = (params.clone(), node.args.clone());
        let numbers = &mut params.dimension_numbers;
        for (arg, contracting, batch) in [
            (0, &mut numbers.lhs_contracting, &mut numbers.lhs_batch),
            (1, &mut numbers.rhs_contracting, &mut numbers.rhs_batch),
        ] {
            let rank = self.shape(args[arg]).len();
            let Some(&rows) = turned.get(&args[arg]) else {
                continue;
            };
            if !contracting.contains(&(rank - 1)) {
                continue;
            }
            for axis in contracting.iter_mut().chain(batch.iter_mut()) {
                *axis = (*axis + 1) % rank;
            }
            args[arg] = rows;
        }
        let node = &mut self.nodes[id.index()];
        node.op = Op::Call(Call::Routine(Routine::DotGeneral(params)));
        node.args = args;
    }

    /// Makes a node the transpose of its columns as rows, which are made before, and gives these.
    fn turn(&mut self, id: NodeId, nodes: &mut Vec<NodeId>) -> ValueId {
        let node = self.node(id);
        let (columns, result) = (node.args.clone(), node.results[0]);
        let dtype = self.dtype(result);
        let mut shape = Dims::from_slice(self.shape(result));
        let last = shape.len() - 1;
        shape.rotate_right(1);
        let permutation: Dims = (1..=last).chain([0]).collect();
        let count = std::mem::replace(&mut shape[0], 1);
        let rows: Args = (columns.iter())
            .map(|&column| {
                self.insert(
                    nodes,
                    Op::Reshape,
                    Args::from_slice(&[column]),
                    dtype,
                    &shape,
                )
            })
            .collect();
        shape[0] = count;
        let rows = self.insert(nodes, Op::Concat { axis: 0 }, rows, dtype, &shape);
        let node = &mut self.nodes[id.index()];
        node.op = Op::Transpose { permutation };
        node.args = Args::from_slice(&[rows]);
        rows
    }
}
