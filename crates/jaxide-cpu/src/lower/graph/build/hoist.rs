//! Products that a loop computes from its stacked inputs alone, computed for all steps at once before the loop: one large product instead
//! of many small ones.

use super::super::{Call, Def, Op, Region, Routine, ValueId};
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

impl Build {
    /// Moves products out of the body of a scan of `length` steps; `stacked` are its stacked inputs, to which theirs are added.
    pub(super) fn hoist_products(
        &mut self,
        body: &mut Region,
        carries: usize,
        stacked: &mut Vec<ValueId>,
        length: usize,
    ) {
        let inside = self.defined_in(body);
        for id in body.nodes.clone() {
            let node = self.scope.graph.node(id).clone();
            let Op::Call(Call::Routine(Routine::DotGeneral(params))) = &node.op else {
                continue;
            };
            let slice = |value: ValueId| {
                body.params[carries..]
                    .iter()
                    .position(|&param| param == value)
            };
            let (lhs, rhs) = (node.args[0], node.args[1]);
            let (step, other, on_left) = match (slice(lhs), slice(rhs)) {
                (Some(k), None) if !inside.contains(&rhs) => (k, rhs, true),
                (None, Some(k)) if !inside.contains(&lhs) => (k, lhs, false),
                _ => continue,
            };
            let result = node.results[0];
            let numbers = &params.dimension_numbers;
            let contracted: usize = numbers
                .lhs_contracting
                .iter()
                .map(|&axis| self.scope.shape(lhs)[axis])
                .product();
            let size = self.scope.graph.value(result).len();
            let bytes = self
                .scope
                .graph
                .value(result)
                .bytes()
                .saturating_mul(length);
            // With batch axes the steps would have to come behind them.
            let work = (size * contracted).saturating_mul(length);
            if !numbers.lhs_batch.is_empty()
                || length < FEWEST_STEPS
                || work < SMALLEST
                || bytes > LARGEST
            {
                continue;
            }
            let dtype = self.scope.dtype(result);
            let whole = self.product_of_all_steps(
                stacked[step],
                other,
                numbers,
                on_left,
                length,
                dtype,
                result,
            );
            stacked.push(whole);
            body.params.push(result);
            body.nodes.retain(|&other| other != id);
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
