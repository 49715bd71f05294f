//! Products of arrays.

use super::super::{Call, Combine, MapOp, Op, Routine, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{
    DotDimensionNumbers, DotGeneral, RaggedDotGeneral, ScaledDot, SymmetricProduct,
};
use jaxide_core::{DType, Dims, Error, Result, Scalar};

/// Integers, floats, complex numbers: each kind holds the numbers of those before.
fn kind(dtype: DType) -> u8 {
    u8::from(dtype.is_float()) + 2 * u8::from(dtype.is_complex())
}

/// Whether products of narrow numbers are left to the library, which may have kernels for them: what is smaller is better made by
/// nests, of numbers that are wide already. Of each matrix of the result there are so many elements, of so many terms.
fn is_large(each: usize, terms: usize, shape: &[usize]) -> bool {
    const TERMS: usize = 16;
    const EACH: usize = 256;
    const WORK: usize = 1 << 15;
    let elements = shape.iter().fold(1usize, |a, &b| a.saturating_mul(b));
    terms >= TERMS && each >= EACH && elements.saturating_mul(terms) > WORK
}

impl Build {
    pub(super) fn dot_general(
        &mut self,
        params: &DotGeneral,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let dtype = app.dtype();
        self.dot(
            args[0],
            args[1],
            &params.dimension_numbers,
            dtype,
            app.shape(),
        )
    }

    /// Operands of different types are first converted to the result's.
    pub(super) fn ragged_dot(
        &mut self,
        params: &RaggedDotGeneral,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let mut args = self.values(app.args)?;
        if self.scope.dtype(args[0]) != self.scope.dtype(args[1]) {
            for operand in &mut args[..2] {
                *operand = self.converted(*operand, app.dtype());
            }
        }
        let call = Op::Call(Call::Routine(params.clone().into()));
        let product = self.scope.one(call, &args, app.dtype(), app.shape());
        Ok(smallvec::smallvec![Binding::Value(product)])
    }

    /// The product with elements of type `dtype`; floats of 16 and fewer bits are summed in `f32` and rounded once.
    ///
    /// Operands of different types are first converted to the result's. Where that cannot hold the numbers of operands of
    /// one type, the product is of their type, converted.
    pub(super) fn dot(
        &mut self,
        lhs: ValueId,
        rhs: ValueId,
        numbers: &DotDimensionNumbers,
        dtype: DType,
        shape: &[usize],
    ) -> Result<ValueId> {
        let own = self.scope.dtype(lhs);
        if own != self.scope.dtype(rhs) {
            let (lhs, rhs) = (self.converted(lhs, dtype), self.converted(rhs, dtype));
            return self.dot(lhs, rhs, numbers, dtype, shape);
        }
        if kind(own) > kind(dtype) {
            let product = self.dot(lhs, rhs, numbers, own, shape)?;
            return Ok(self.converted(product, dtype));
        }
        let wide = match dtype {
            small if small.is_float() && small.bits() <= 16 => DType::F32,
            other => other,
        };
        let lhs_shape = self.scope.shape(lhs);
        let size = |axes: &[usize]| axes.iter().map(|&axis| lhs_shape[axis]).product::<usize>();
        let contracted = size(&numbers.lhs_contracting);
        let narrow = match (own, wide) {
            (DType::BF16, DType::F32) | (DType::I8 | DType::U8 | DType::I16, DType::I32) => {
                let each = shape.iter().product::<usize>() / size(&numbers.lhs_batch).max(1);
                self.scope.is_outermost() && is_large(each, contracted, shape)
            }
            _ => false,
        };
        let (lhs, rhs) = if narrow {
            (lhs, rhs)
        } else {
            (self.converted(lhs, wide), self.converted(rhs, wide))
        };
        let product = if contracted <= 1 || shape.contains(&0) {
            self.dot_as_sum(lhs, rhs, numbers, wide, shape)?
        } else {
            let mut numbers = numbers.clone();
            let lhs = self.untransposed(lhs, &mut numbers.lhs_contracting, &mut numbers.lhs_batch);
            let rhs = self.untransposed(rhs, &mut numbers.rhs_contracting, &mut numbers.rhs_batch);
            let call = Routine::from(DotGeneral {
                dimension_numbers: numbers,
                out_sharding: None,
                precision: None,
                preferred_element_type: Some(wide),
            });
            self.scope
                .one(Op::Call(Call::Routine(call)), &[lhs, rhs], wide, shape)
        };
        Ok(self.converted(product, dtype))
    }

    /// The array that an operand is a transpose of, with its axes renamed, where that leaves the result as it is: the library reads operands
    /// with any strides.
    fn untransposed(&self, x: ValueId, contracting: &mut Dims, batch: &mut Dims) -> ValueId {
        let graph = &self.scope.graph;
        let Some(node) = graph.def(x).map(|id| graph.node(id)) else {
            return x;
        };
        let Op::Transpose { permutation } = &node.op else {
            return x;
        };
        let renamed =
            |axes: &Dims| -> Dims { axes.iter().map(|&axis| permutation[axis]).collect() };
        let (new_contracting, new_batch) = (renamed(contracting), renamed(batch));
        let free: Dims = (0..permutation.len())
            .filter(|axis| !contracting.contains(axis) && !batch.contains(axis))
            .collect();
        // Free axes come in the order of the operand.
        let ordered = renamed(&free).windows(2).all(|pair| pair[0] < pair[1]);
        if !ordered {
            return x;
        }
        (*contracting, *batch) = (new_contracting, new_batch);
        node.args[0]
    }

    /// The product as a sum over elementwise products: axes are batch, left, right, contracted.
    fn dot_as_sum(
        &mut self,
        lhs: ValueId,
        rhs: ValueId,
        numbers: &DotDimensionNumbers,
        dtype: DType,
        shape: &[usize],
    ) -> Result<ValueId> {
        let lhs_shape = self.scope.shape(lhs);
        let mut wide = Dims::from_slice(shape);
        wide.extend(numbers.lhs_contracting.iter().map(|&axis| lhs_shape[axis]));
        let batch = numbers.lhs_batch.len();
        let left_free = lhs_shape.len() - batch - numbers.lhs_contracting.len();
        let place = |rank: usize, batch_axes: &Dims, contracting: &Dims, free: usize| -> Dims {
            let mut next = free;
            (0..rank)
                .map(|axis| {
                    if let Some(k) = batch_axes.iter().position(|&a| a == axis) {
                        k
                    } else if let Some(k) = contracting.iter().position(|&a| a == axis) {
                        shape.len() + k
                    } else {
                        next += 1;
                        next - 1
                    }
                })
                .collect()
        };
        let lhs_dims = place(
            lhs_shape.len(),
            &numbers.lhs_batch,
            &numbers.lhs_contracting,
            batch,
        );
        let rhs_rank = self.scope.shape(rhs).len();
        let rhs_dims = place(
            rhs_rank,
            &numbers.rhs_batch,
            &numbers.rhs_contracting,
            batch + left_free,
        );
        let left = self.spread(lhs, &wide, &lhs_dims);
        let right = self.spread(rhs, &wide, &rhs_dims);
        let product = self.map(MapOp::Mul, &[left, right], dtype);
        let axes: Dims = (shape.len()..wide.len()).collect();
        if axes.is_empty() {
            return Ok(self.scope.reshape(product, shape));
        }
        self.scope.reduce(Combine::Add, product, &axes)
    }

    /// A broadcast whose target axes need not ascend.
    fn spread(&mut self, x: ValueId, shape: &[usize], dims: &[usize]) -> ValueId {
        let mut order: Dims = (0..dims.len()).collect();
        order.sort_by_key(|&axis| dims[axis]);
        let x = self.scope.transpose(x, &order);
        let sorted: Dims = order.iter().map(|&axis| dims[axis]).collect();
        self.scope.broadcast(x, shape, &sorted)
    }

    /// `alpha * A * A^T + beta * C`.
    pub(super) fn symmetric_product(
        &mut self,
        params: &SymmetricProduct,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let (a, c) = (args[0], args[1]);
        let dtype = app.dtype();
        let rank = self.scope.shape(a).len();
        let batch: Dims = (0..rank - 2).collect();
        let last: Dims = [rank - 1].into_iter().collect();
        let numbers = DotDimensionNumbers {
            lhs_contracting: last.clone(),
            rhs_contracting: last,
            lhs_batch: batch.clone(),
            rhs_batch: batch,
        };
        let product = self.dot(a, a, &numbers, dtype, app.shape())?;
        let alpha = self
            .scope
            .splat(Scalar::Float(params.alpha.0), dtype, &[])?;
        let beta = self.scope.splat(Scalar::Float(params.beta.0), dtype, &[])?;
        let product = self.map(MapOp::Mul, &[alpha, product], dtype);
        let rest = self.map(MapOp::Mul, &[beta, c], dtype);
        Ok(self.map(MapOp::Add, &[product, rest], dtype))
    }

    /// Operands times their scales, each of which holds for a block of elements, multiplied. The scaled operands are
    /// rounded to `bf16`, whatever they were.
    pub(super) fn scaled_dot(
        &mut self,
        params: &ScaledDot,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let ((lhs_contracting, rhs_contracting), (lhs_batch, rhs_batch)) =
            &params.dimension_numbers;
        let numbers = DotDimensionNumbers {
            lhs_contracting: lhs_contracting.clone(),
            rhs_contracting: rhs_contracting.clone(),
            lhs_batch: lhs_batch.clone(),
            rhs_batch: rhs_batch.clone(),
        };
        let lhs = self.scaled(args[0], args[2])?;
        let rhs = self.scaled(args[1], args[3])?;
        self.dot(lhs, rhs, &numbers, app.dtype(), app.shape())
    }

    fn scaled(&mut self, x: ValueId, scale: ValueId) -> Result<ValueId> {
        let (shape, blocks) = (self.scope.shape(x), self.scope.shape(scale));
        let x = self.converted(x, DType::BF16);
        if shape.contains(&0) {
            return Ok(x);
        }
        let scale = self.converted(scale, DType::BF16);
        // Each axis becomes (block, element in it).
        let mut wide = Dims::new();
        let mut dims = Dims::new();
        for (axis, (&length, &count)) in shape.iter().zip(&blocks).enumerate() {
            if count == 0 || length % count != 0 {
                return Err(Error::shape(format!(
                    "scales {blocks:?} do not divide {shape:?}"
                )));
            }
            wide.push(count);
            wide.push(length / count);
            dims.push(2 * axis);
        }
        let scale = self.scope.broadcast(scale, &wide, &dims);
        let scale = self.scope.reshape(scale, &shape);
        Ok(self.map(MapOp::Mul, &[x, scale], DType::BF16))
    }
}
