//! Sums of products over the steps of a scan, such as the gradients of its weights: the factors are stacked, and one product after the
//! loop sums over all steps, instead of many small ones that are added to a large array each.

use super::super::{Call, MapOp, NodeId, Op, Region, Routine, ValueId};
use super::Build;
use jaxide_core::prims::DotDimensionNumbers;
use jaxide_core::{DType, Dims, Result};
use rustc_hash::FxHashMap as HashMap;

/// Stacked factors of more bytes are not made.
const LARGEST: usize = 256 << 20;
/// So many multiplications for each element of the factors are worth stacking them.
const WORTH: usize = 4;

/// A carry that starts at zero, and to which each step adds products.
pub(super) struct Sum {
    /// Its position among the carries.
    pub(super) carry: usize,
    dtype: DType,
    products: Vec<Product>,
}

/// A product of values of one step.
struct Product {
    lhs: ValueId,
    rhs: ValueId,
    numbers: DotDimensionNumbers,
    /// The product's shape.
    shape: Dims,
    /// Axis `k` of what is summed is axis `order[k]` of the product.
    order: Dims,
}

impl Build {
    /// Whether some of the first `own` carries of a scan are such sums.
    pub(super) fn has_sums_of_products(
        &self,
        body: &Region,
        carries: &[ValueId],
        own: usize,
        length: usize,
    ) -> bool {
        (0..own).any(|k| self.summed_products(body, carries[k], k, length).is_some())
    }

    /// Removes the carries that are such sums from a scan of `length` steps; they are among the first `own`. The factors become stacked
    /// results.
    pub(super) fn sums_of_products(
        &mut self,
        body: &mut Region,
        carries: &mut Vec<ValueId>,
        own: usize,
        length: usize,
    ) -> Vec<Sum> {
        let mut sums: Vec<Sum> = Vec::new();
        for k in (0..own).rev() {
            let Some((products, additions)) = self.summed_products(body, carries[k], k, length)
            else {
                continue;
            };
            let dtype = self.scope.dtype(carries[k]);
            body.params.remove(k);
            body.results.remove(k);
            carries.remove(k);
            body.nodes.retain(|id| !additions.contains(id));
            for factor in products
                .iter()
                .flat_map(|product| [product.lhs, product.rhs])
            {
                let known = body.params[carries.len()..].contains(&factor)
                    || body.results[carries.len()..].contains(&factor);
                if !known {
                    body.results.push(factor);
                }
            }
            sums.push(Sum {
                carry: k,
                dtype,
                products,
            });
        }
        sums.reverse();
        sums
    }

    /// The sum itself, after the loop; `stacks` has what each slice is one of.
    pub(super) fn sum_after(
        &mut self,
        sum: &Sum,
        stacks: &HashMap<ValueId, ValueId>,
    ) -> Result<ValueId> {
        let later = |axes: &Dims| -> Dims { axes.iter().map(|axis| axis + 1).collect() };
        let steps = |axes: &Dims| -> Dims { std::iter::once(0).chain(later(axes)).collect() };
        let mut total = None;
        for product in &sum.products {
            let numbers = DotDimensionNumbers {
                lhs_contracting: steps(&product.numbers.lhs_contracting),
                rhs_contracting: steps(&product.numbers.rhs_contracting),
                lhs_batch: later(&product.numbers.lhs_batch),
                rhs_batch: later(&product.numbers.rhs_batch),
            };
            let (lhs, rhs) = (stacks[&product.lhs], stacks[&product.rhs]);
            let whole = match self.swapped(product) {
                Some(shape) => {
                    let numbers = DotDimensionNumbers {
                        lhs_contracting: numbers.rhs_contracting,
                        rhs_contracting: numbers.lhs_contracting,
                        lhs_batch: numbers.rhs_batch,
                        rhs_batch: numbers.lhs_batch,
                    };
                    self.dot(rhs, lhs, &numbers, sum.dtype, &shape)?
                }
                None => {
                    let whole = self.dot(lhs, rhs, &numbers, sum.dtype, &product.shape)?;
                    self.scope.transpose(whole, &product.order)
                }
            };
            total = Some(match total {
                None => whole,
                Some(total) => self.map(MapOp::Add, &[total, whole], sum.dtype),
            });
        }
        total.map_or_else(
            || {
                Err(jaxide_core::Error::new(
                    jaxide_core::ErrorKind::Internal,
                    "an empty sum",
                ))
            },
            Ok,
        )
    }

    /// The products that a step adds to the carry at `k`, and the additions, if nothing else happens to it.
    fn summed_products(
        &self,
        body: &Region,
        init: ValueId,
        k: usize,
        length: usize,
    ) -> Option<(Vec<Product>, Vec<NodeId>)> {
        let graph = &self.scope.graph;
        let (param, next) = (body.params[k], body.results[k]);
        let dtype = graph.dtype(param);
        let zero = graph.splat(init)?.iter().all(|&byte| byte == 0);
        if !zero || !matches!(dtype, DType::F32 | DType::F64) {
            return None;
        }
        let uses = graph.uses(body);
        let once = |value: ValueId| uses.get(&value) == Some(&1);
        let (mut todo, mut additions, mut products) = (vec![next], Vec::new(), Vec::new());
        let mut own = 0;
        while let Some(value) = todo.pop() {
            if !once(value) {
                return None;
            }
            if value == param {
                own += 1;
                continue;
            }
            if let Some(product) = self.product_of(value) {
                products.push(product);
                continue;
            }
            let id = graph.def(value).filter(|id| body.nodes.contains(id))?;
            let node = graph.node(id);
            if node.op != Op::Map(MapOp::Add) {
                return None;
            }
            additions.push(id);
            todo.extend(&node.args);
        }
        let inside = self.defined_in(body);
        let factors = || {
            products
                .iter()
                .flat_map(|product| [product.lhs, product.rhs])
        };
        if own != 1 || products.is_empty() || !factors().all(|factor| inside.contains(&factor)) {
            return None;
        }
        let elements: usize = factors().map(|factor| graph.value(factor).len()).sum();
        let terms: usize = products.iter().map(|product| self.terms(product)).sum();
        let work = graph.value(param).len().saturating_mul(terms);
        let bytes = (elements * dtype.size()).saturating_mul(length);
        (work >= WORTH * elements && bytes <= LARGEST).then_some((products, additions))
    }

    /// The shape of the product with its operands swapped, if that puts its axes in order.
    fn swapped(&self, product: &Product) -> Option<Dims> {
        let batch = product.numbers.lhs_batch.len();
        let left = self.scope.graph.shape(product.lhs).len()
            - batch
            - product.numbers.lhs_contracting.len();
        let axes = (0..batch)
            .chain(batch + left..product.shape.len())
            .chain(batch..batch + left);
        let in_order = axes.clone().eq(product.order.iter().copied());
        let identity = product.order.iter().copied().eq(0..product.order.len());
        (in_order && !identity).then(|| axes.map(|axis| product.shape[axis]).collect())
    }

    /// The number of terms of each element of a product.
    fn terms(&self, product: &Product) -> usize {
        let shape = self.scope.graph.shape(product.lhs);
        let axes = product.numbers.lhs_contracting.iter();
        axes.map(|&axis| shape[axis]).product()
    }

    /// A value as a product, if it is one.
    fn product_of(&self, value: ValueId) -> Option<Product> {
        let graph = &self.scope.graph;
        let node = graph.node(graph.def(value)?);
        let dtype = graph.dtype(value);
        if node.args.iter().any(|&arg| graph.dtype(arg) != dtype) {
            return None;
        }
        let shape = Dims::from_slice(graph.shape(value));
        match &node.op {
            Op::Transpose { permutation } => {
                let inner = self.product_of(node.args[0])?;
                let order = permutation.iter().map(|&axis| inner.order[axis]).collect();
                Some(Product { order, ..inner })
            }
            Op::Call(Call::Routine(Routine::DotGeneral(params))) => Some(Product {
                lhs: node.args[0],
                rhs: node.args[1],
                numbers: params.dimension_numbers.clone(),
                order: (0..shape.len()).collect(),
                shape,
            }),
            Op::Map(MapOp::Mul) => {
                let (lhs, left) = self.spread_out(node.args[0])?;
                let (rhs, right) = self.spread_out(node.args[1])?;
                Some(outer_product((lhs, &left), (rhs, &right), &shape)?)
            }
            _ => None,
        }
    }

    /// What a value repeats along the axes that are not named.
    fn spread_out(&self, value: ValueId) -> Option<(ValueId, Dims)> {
        let graph = &self.scope.graph;
        let node = graph.node(graph.def(value)?);
        let Op::Broadcast { dims } = &node.op else {
            return None;
        };
        let (own, shape) = (graph.shape(node.args[0]), graph.shape(value));
        let whole = own
            .iter()
            .zip(dims)
            .all(|(&length, &axis)| length == shape[axis]);
        whole.then(|| (node.args[0], dims.clone()))
    }
}

/// The product whose elements are those of two arrays multiplied, which stand along these axes of the result.
fn outer_product(
    (lhs, left): (ValueId, &Dims),
    (rhs, right): (ValueId, &Dims),
    shape: &[usize],
) -> Option<Product> {
    let batch: Dims = left
        .iter()
        .copied()
        .filter(|axis| right.contains(axis))
        .collect();
    let free = |axes: &Dims| -> Dims {
        let own = axes.iter().copied();
        own.filter(|axis| !batch.contains(axis)).collect()
    };
    let axes: Dims = batch
        .iter()
        .copied()
        .chain(free(left))
        .chain(free(right))
        .collect();
    if axes.len() != shape.len() {
        return None;
    }
    let places = |axes: &Dims| -> Dims {
        let place = |axis: &usize| axes.iter().position(|other| other == axis);
        batch.iter().filter_map(place).collect()
    };
    let order = (0..shape.len()).filter_map(|axis| axes.iter().position(|&other| other == axis));
    Some(Product {
        lhs,
        rhs,
        numbers: DotDimensionNumbers {
            lhs_contracting: Dims::new(),
            rhs_contracting: Dims::new(),
            lhs_batch: places(left),
            rhs_batch: places(right),
        },
        order: order.collect(),
        shape: axes.iter().map(|&axis| shape[axis]).collect(),
    })
}
