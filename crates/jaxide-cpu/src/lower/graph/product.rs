//! Products that a loop nest makes as fast as the library would, or faster, since nothing is called.

use super::{Call, Combine, Def, Graph, MapOp, Node, NodeId, Op, Region, Routine};
use crate::narrow;
use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims};
use smallvec::smallvec;
use std::ops::RangeInclusive;

/// Bytes of a vector register.
const REGISTER: usize = 64;
/// Steps of one vector each that a product in a nest may take; beyond, the library's kernels, which keep more in registers, gain more
/// than a call costs.
const MOST_STEPS: usize = 2048;
/// Steps of a product whose lanes are apart in memory.
const MOST_GATHERED: usize = 32;
/// Axes of matrices of which a nest makes many products at once.
const TINY: usize = 6;
/// Columns of the matrix by which rows are multiplied that lie across memory.
const FEW_COLUMNS: usize = 4;
/// Multiply-adds of each of a batch of products.
const SMALL: usize = 512;
/// Bytes of such products that stay in a core's own cache.
const NEAR: usize = 1 << 20;
/// Elements of such a product whose terms are a loop.
const SUMS: usize = 4;
/// Axes of vectors that are multiplied by many matrices, or by each other: sums of so many terms are written out.
const SHORT: usize = 16;
/// Rows of those matrices, and axes of small ones.
const FEW: usize = 64;
/// So many matrices are many.
const MANY: usize = 64;

/// Terms of a product of two vectors that a loop makes as a sum: for more a call is short.
const SUMMED: RangeInclusive<usize> = 2..=2048;

/// Terms of products of many vectors that are sums: with more, the library reads memory as fast and in larger pieces.
const LONGEST: usize = 1 << 17;

/// A product as a nest: the lanes run along an axis of the result, each element is a sum of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LaneProduct {
    /// The operand, 0 or 1, that has the axis of the lanes.
    pub(crate) operand: usize,
    /// That axis of it.
    pub(crate) axis: usize,
    /// Products and sums of whole vectors.
    pub(crate) steps: usize,
}

impl LaneProduct {
    /// Whether a nest is better than the library, if the lanes are adjacent in memory.
    pub(crate) fn is_small(&self) -> bool {
        self.steps <= MOST_STEPS
    }
}

impl Graph {
    /// How a nest would make a product, if it can.
    pub(crate) fn lane_product(&self, node: &Node) -> Option<LaneProduct> {
        let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
            return None;
        };
        if !self.has_lanes(node) {
            return None;
        }
        let dtype = self.dtype(node.results[0]);
        let numbers = &params.dimension_numbers;
        let (operand, axis) = [1, 0]
            .into_iter()
            .find_map(|operand| Some((operand, self.last_free_axis(node, numbers, operand)?)))?;
        let lanes = self.shape(node.args[operand])[axis];
        let len = self.value(node.results[0]).len();
        let vectors = lanes.div_ceil(REGISTER / dtype.size()) * (len / lanes);
        let steps = vectors * self.contracted(node, numbers);
        Some(LaneProduct {
            operand,
            axis,
            steps,
        })
    }

    /// Whether a nest makes a product that a call would take longer for: it is small, and the lanes are adjacent in memory.
    pub(crate) fn is_nest_product(&self, node: &Node) -> bool {
        self.lane_product(node).is_some_and(|product| {
            let shape = self.shape(node.args[product.operand]);
            let adjacent = shape[product.axis + 1..].iter().all(|&length| length == 1);
            // A few vectors are gathered in less time than a call takes.
            product.is_small() && adjacent || product.steps <= MOST_GATHERED
        })
    }

    /// Whether a product is of many tiny matrices, or of small matrices and vectors: a nest makes them at once, a lane for each product or
    /// for each row, and reads rows as they lie in memory.
    pub(crate) fn is_many_tiny(&self, node: &Node) -> bool {
        let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
            return false;
        };
        if !self.has_lanes(node) {
            return false;
        }
        let dtype = self.dtype(node.results[0]);
        let numbers = &params.dimension_numbers;
        let batch = numbers.lhs_batch.len();
        let own = self.shape(node.args[0]).len() - batch - numbers.lhs_contracting.len();
        let shape = self.shape(node.results[0]);
        // Many rows that are multiplied by one matrix or vector are as good as a batch, on either side.
        let (of_lhs, of_rhs) = shape.split_at(batch + own);
        let ((many, free), rows) = match batch {
            0 if of_lhs.iter().product::<usize>() < MANY => ((of_rhs, of_lhs), 1),
            0 => ((of_lhs, of_rhs), 0),
            _ => (shape.split_at(batch), 0),
        };
        let terms = self.contracted(node, numbers);
        let largest = free.iter().max().map_or(1, |&length| length);
        let vectors = free.len() < 2 || free.iter().filter(|&&length| length > 1).count() < 2;
        // Rows that lie across memory go through it once for each column.
        let contracting = [&numbers.lhs_contracting, &numbers.rhs_contracting][rows];
        let rank = self.shape(node.args[rows]).len();
        let across = batch == 0 && contracting.iter().all(|axis| axis + 1 != rank);
        let most = if across { FEW_COLUMNS } else { TINY };
        let tiny = free.len() <= 2 && largest <= most && terms <= TINY;
        // Whole products of a batch are beside one another in lanes, which go through memory once for each element; the sums of all elements
        // should fit registers where their terms are not written out.
        let elements = free.iter().product::<usize>();
        let arrays = node.args.iter().chain(&node.results);
        let bytes: usize =
            arrays.map(|&array| self.value(array).len()).sum::<usize>() * dtype.size();
        let small = batch > 0
            && free.len() <= 2
            && largest.max(terms) <= FEW
            && elements <= if terms <= SHORT { SMALL } else { SUMS }
            && elements * terms <= if bytes <= NEAR { SMALL } else { SMALL / 2 };
        let short = vectors && largest <= FEW && terms <= SHORT && (batch > 0 || free.is_empty());
        many.iter().product::<usize>() >= MANY
            && terms > 0
            && !free.contains(&0)
            && (tiny || small || short)
    }

    /// Whether operands and results are of one type that lanes have.
    fn has_lanes(&self, node: &Node) -> bool {
        let dtype = self.dtype(node.results[0]);
        let plain =
            matches!(dtype, DType::F32 | DType::F64) || dtype.is_integer() && dtype.bits() >= 32;
        plain && node.args.iter().all(|&arg| self.dtype(arg) == dtype)
    }

    /// Makes products of vectors sums of what their elements give, which nests compute together with what the vectors are made of, and several
    /// at once: of two arrays of vectors everywhere, and of two short vectors in loops and branches.
    pub(crate) fn sum_vector_products(&mut self) {
        let mut root = std::mem::take(&mut self.root);
        self.sum_vector_products_inside(&mut root);
        self.sum_vector_products_of(&mut root, false);
        self.root = root;
    }

    fn sum_vector_products_inside(&mut self, region: &mut Region) {
        for &id in &region.nodes {
            let mut op = std::mem::replace(&mut self.nodes[id.index()].op, Op::Reshape);
            op.visit_regions_mut(&mut |inner| {
                self.sum_vector_products_inside(inner);
                self.sum_vector_products_of(inner, true);
            });
            self.nodes[id.index()].op = op;
        }
    }

    fn sum_vector_products_of(&mut self, region: &mut Region, inside: bool) {
        let mut nodes = Vec::with_capacity(region.nodes.len());
        for &id in &region.nodes {
            if let Some((dtype, axes)) = self.vector_products(self.node(id), inside) {
                let factors = NodeId(narrow(self.nodes.len()));
                let shape = Dims::from_slice(self.shape(self.node(id).args[0]));
                let products = self.new_value(dtype, &shape, Def::Node(factors, 0));
                let node = &mut self.nodes[id.index()];
                let args = std::mem::replace(&mut node.args, smallvec![products]);
                node.op = Op::Reduce {
                    combine: Combine::Add,
                    axes,
                };
                self.nodes.push(Node {
                    op: Op::Map(MapOp::Mul),
                    args,
                    results: smallvec![products],
                });
                nodes.push(factors);
            }
            nodes.push(id);
        }
        region.nodes = nodes;
    }

    /// The type and the axes of the vectors of which a node is the product, or of those that lie in two arrays of one shape in the same way.
    fn vector_products(&self, node: &Node, inside: bool) -> Option<(DType, Dims)> {
        let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
            return None;
        };
        let (dtype, shape) = (self.dtype(node.results[0]), self.shape(node.args[0]));
        let numbers = &params.dimension_numbers;
        let alike = numbers.lhs_batch == numbers.rhs_batch
            && numbers.lhs_contracting == numbers.rhs_contracting
            && numbers.lhs_batch.is_sorted()
            && numbers.lhs_batch.len() + numbers.lhs_contracting.len() == shape.len()
            && shape == self.shape(node.args[1]);
        let floats = matches!(dtype, DType::F32 | DType::F64);
        if !alike || !floats || node.args.iter().any(|&arg| self.dtype(arg) != dtype) {
            return None;
        }
        let terms = self.contracted(node, numbers);
        let many = self.value(node.results[0]).len() > 1 && (1..=LONGEST).contains(&terms);
        let few = inside && self.shape(node.results[0]).is_empty() && SUMMED.contains(&terms);
        (many || few).then(|| (dtype, numbers.lhs_contracting.iter().copied().collect()))
    }

    /// The number of terms of each element.
    pub(crate) fn contracted(&self, node: &Node, numbers: &DotDimensionNumbers) -> usize {
        let shape = self.shape(node.args[0]);
        let axes = numbers.lhs_contracting.iter();
        axes.map(|&axis| shape[axis]).product()
    }

    /// The last axis of an operand that is an axis of the result of its own, and longer than 1.
    fn last_free_axis(
        &self,
        node: &Node,
        numbers: &DotDimensionNumbers,
        operand: usize,
    ) -> Option<usize> {
        let (contracting, batch) = if operand == 0 {
            (&numbers.lhs_contracting, &numbers.lhs_batch)
        } else {
            (&numbers.rhs_contracting, &numbers.rhs_batch)
        };
        let shape = self.shape(node.args[operand]);
        (0..shape.len())
            .rev()
            .find(|axis| shape[*axis] > 1 && !contracting.contains(axis) && !batch.contains(axis))
    }
}
