//! Products that a loop computes from its stacked inputs alone, computed for all steps at once before the loop: one large product instead
//! of many small ones.

use super::super::{Call, Def, NodeId, Op, Region, Routine, ValueId};
use super::Build;
use jaxide_core::prims::{DotDimensionNumbers, DotGeneral};
use jaxide_core::{DType, Dims};
use rustc_hash::FxHashSet as HashSet;

/// Products of fewer multiplications in all steps stay.
const SMALLEST: usize = 4096;
/// In loops of fewer steps they stay too.
const FEWEST_STEPS: usize = 4;
/// Stacked products of more bytes stay.
const LARGEST: usize = 256 << 20;

/// A scan whose stacked products take more bytes together goes through its steps in blocks, each with products of its own.
const LARGE: usize = 2 << 20;
/// A block's products take at most so many bytes, which stay in the cache of a core from where they are made to where they are used.
const BLOCK: usize = 512 << 10;

/// A product of a slice of a stacked input and something from outside.
pub(super) struct Hoistable {
    node: NodeId,
    result: ValueId,
    numbers: DotDimensionNumbers,
    /// The position of the stacked input.
    step: usize,
    other: ValueId,
    /// Whether the slice is the left operand.
    on_left: bool,
    /// Bytes of the products of all steps.
    bytes: usize,
}

/// How many of `length` steps make a block, where all these products together are too many to be made at once.
pub(super) fn steps_of_a_block(products: &[Hoistable], length: usize) -> Option<usize> {
    let bytes = products
        .iter()
        .fold(0usize, |sum, product| sum.saturating_add(product.bytes));
    if bytes <= LARGE {
        return None;
    }
    (FEWEST_STEPS..length)
        .rev()
        .find(|&steps| length.is_multiple_of(steps) && bytes / length * steps <= BLOCK)
}

impl Build {
    /// The products in the body of a scan of `length` steps that can be moved out of it.
    pub(super) fn hoistable(&self, body: &Region, carries: usize, length: usize) -> Vec<Hoistable> {
        let inside = self.defined_in(body);
        let slice = |value: ValueId| {
            body.params[carries..]
                .iter()
                .position(|&param| param == value)
        };
        let mut found = Vec::new();
        for &id in &body.nodes {
            let node = self.scope.graph.node(id);
            let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
                continue;
            };
            let (lhs, rhs) = (node.args[0], node.args[1]);
            let (step, other, on_left) = match (slice(lhs), slice(rhs)) {
                (Some(k), None) if !inside.contains(&rhs) => (k, rhs, true),
                (None, Some(k)) if !inside.contains(&lhs) => (k, lhs, false),
                _ => continue,
            };
            let result = self.scope.graph.value(node.results[0]);
            let numbers = &params.dimension_numbers;
            let contracted: usize = numbers
                .lhs_contracting
                .iter()
                .map(|&axis| self.scope.shape(lhs)[axis])
                .product();
            let bytes = result.bytes().saturating_mul(length);
            let work = (result.len() * contracted).saturating_mul(length);
            // With batch axes the steps would have to come behind them.
            if numbers.lhs_batch.is_empty()
                && length >= FEWEST_STEPS
                && work >= SMALLEST
                && bytes <= LARGEST
            {
                found.push(Hoistable {
                    node: id,
                    result: node.results[0],
                    numbers: numbers.clone(),
                    step,
                    other,
                    on_left,
                    bytes,
                });
            }
        }
        found
    }

    /// Moves these products out of the body of a scan of `length` steps; `stacked` are its stacked inputs, to which theirs are added.
    pub(super) fn hoist_products(
        &mut self,
        body: &mut Region,
        products: &[Hoistable],
        stacked: &mut Vec<ValueId>,
        length: usize,
    ) {
        for product in products {
            let result = product.result;
            let dtype = self.scope.dtype(result);
            let whole = self.product_of_all_steps(
                stacked[product.step],
                product.other,
                &product.numbers,
                product.on_left,
                length,
                dtype,
                result,
            );
            stacked.push(whole);
            body.params.push(result);
            body.nodes.retain(|&other| other != product.node);
            self.scope.graph.values[result.index()].def = Def::Param;
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn product_of_all_steps(
        &mut self,
        stacked: ValueId,
        other: ValueId,
        numbers: &DotDimensionNumbers,
        on_left: bool,
        length: usize,
        dtype: DType,
        result: ValueId,
    ) -> ValueId {
        let shifted = |axes: &Dims| -> Dims { axes.iter().map(|axis| axis + 1).collect() };
        let mut numbers = numbers.clone();
        let mut shape = self.scope.shape(result);
        let (lhs, rhs) = if on_left {
            numbers.lhs_contracting = shifted(&numbers.lhs_contracting);
            shape.insert(0, length);
            (stacked, other)
        } else {
            numbers.rhs_contracting = shifted(&numbers.rhs_contracting);
            // The steps are the first free axis of the right operand.
            let free = self.scope.shape(other).len() - numbers.lhs_contracting.len();
            shape.insert(free, length);
            (other, stacked)
        };
        let call = Routine::from(DotGeneral {
            dimension_numbers: numbers.clone(),
            out_sharding: None,
            precision: None,
            preferred_element_type: Some(dtype),
        });
        let product = self
            .scope
            .one(Op::Call(Call::Routine(call)), &[lhs, rhs], dtype, &shape);
        if on_left {
            return product;
        }
        let free =
            shape.len() - 1 - (self.scope.shape(stacked).len() - 1 - numbers.rhs_contracting.len());
        let mut order: Dims = (0..shape.len()).collect();
        order.remove(free);
        order.insert(0, free);
        self.scope.transpose(product, &order)
    }

    /// All values that a region defines.
    pub(super) fn defined_in(&self, region: &Region) -> HashSet<ValueId> {
        let mut inside: HashSet<ValueId> = region.params.iter().copied().collect();
        for &id in &region.nodes {
            inside.extend(&self.scope.graph.node(id).results);
        }
        inside
    }
}
