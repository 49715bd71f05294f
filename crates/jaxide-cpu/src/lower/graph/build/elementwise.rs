//! Primitives that act on single elements.

use super::super::{Call, MapOp, Op, ValueId};
use super::{Application, Build};
use crate::lower::element;
use crate::lower::functions::Function;
use jaxide_core::prims::BitcastConvertType;
use jaxide_core::{DType, Dims, Error, ErrorKind, Result};

/// Of fewer elements the processor divides, and takes no polynomials.
const FEW: usize = 256;

impl Build {
    /// A function of one number.
    pub(super) fn function(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let function = Function::of(&app.eqn.prim)
            .ok_or_else(|| Error::new(ErrorKind::Internal, "it is no function of one number"))?;
        self.elementwise(MapOp::Function(function), app)
    }

    pub(super) fn elementwise(&mut self, op: MapOp, app: &Application<'_>) -> Result<ValueId> {
        let (dtype, shape) = (app.dtype(), app.shape());
        let args = self.values(app.args)?;
        let mut operands: Vec<ValueId> = Vec::with_capacity(args.len());
        for arg in args {
            operands.push(self.fit(arg, shape));
        }
        // The product of a wider result is formed in the wider type.
        if op == MapOp::Mul {
            operands = operands
                .into_iter()
                .map(|arg| self.scope.convert(arg, dtype))
                .collect();
        }
        // An integer exponent beside other numbers becomes one of them.
        if op == MapOp::Pow && dtype.is_inexact() {
            operands = operands
                .into_iter()
                .map(|arg| self.converted(arg, dtype))
                .collect();
        }
        if dtype == DType::Float0 {
            return self.zeros(&app.results[0]);
        }
        let dtypes: Vec<DType> = operands.iter().map(|&arg| self.scope.dtype(arg)).collect();
        if !element::has_lane_form(op, &dtypes, dtype) {
            let operands: Vec<ValueId> = operands
                .into_iter()
                .map(|arg| self.scope.broadcast_scalar(arg, shape))
                .collect();
            return Ok(self
                .scope
                .one(Op::Call(Call::Map(op)), &operands, dtype, shape));
        }
        if operands.iter().all(|&arg| self.scope.shape(arg).is_empty()) && !shape.is_empty() {
            let scalar = self.map(op, &operands, dtype);
            return Ok(self.scope.broadcast(scalar, shape, &[]));
        }
        if let Some(interleaved) = self.interleaved(op, &operands, app)? {
            return Ok(interleaved);
        }
        if op == MapOp::Div
            && let Some(reciprocal) = self.reciprocal_of_root(operands[1], shape)
        {
            operands[1] = reciprocal;
            return Ok(self.map(MapOp::Mul, &operands, dtype));
        }
        Ok(self.map(op, &operands, dtype))
    }

    /// What to multiply by in place of a division by `√x`, spread over the result: dividers and square roots take up to three times as long as the
    /// polynomial of a reciprocal root. XLA does the same. Of few elements nothing is gained, since one waits longer for a polynomial.
    fn reciprocal_of_root(&mut self, divisor: ValueId, shape: &[usize]) -> Option<ValueId> {
        let (graph, dtype) = (&self.scope.graph, self.scope.dtype(divisor));
        if shape.iter().product::<usize>() < FEW || !matches!(dtype, DType::F32 | DType::F64) {
            return None;
        }
        let (mut root, mut spread) = (divisor, Vec::new());
        let node = loop {
            let node = graph.node(graph.def(root)?);
            if !matches!(node.op, Op::Broadcast { .. } | Op::Reshape) {
                break node;
            }
            spread.push((node.op.clone(), self.scope.shape(root)));
            root = node.args[0];
        };
        if node.op != Op::Map(MapOp::Function(Function::Sqrt)) {
            return None;
        }
        let x = node.args[0];
        // Constants are divided by in a way of their own.
        if graph.splat(x).is_some() {
            return None;
        }
        let mut value = self.map(MapOp::Function(Function::Rsqrt), &[x], dtype);
        for (op, shape) in spread.into_iter().rev() {
            value = self.scope.one(op, &[value], dtype, &shape);
        }
        Some(value)
    }

    /// An operand in the shape of the result, or of rank 0.
    pub(super) fn fit(&mut self, arg: ValueId, shape: &[usize]) -> ValueId {
        let own = self.scope.shape(arg);
        if own.is_empty() || own.as_slice() == shape {
            return arg;
        }
        let dims: Dims = (shape.len() - own.len()..shape.len()).collect();
        self.scope.broadcast(arg, shape, &dims)
    }

    /// Horner's rule; coefficients from the lowest degree on.
    pub(super) fn polynomial(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let (dtype, shape) = (app.dtype(), app.shape());
        let args = self.values(app.args)?;
        let args: Vec<ValueId> = args.into_iter().map(|arg| self.fit(arg, shape)).collect();
        let [x, coefficients @ ..] = &args[..] else {
            return Err(Error::unsupported("a polynomial needs an argument"));
        };
        let Some((&last, rest)) = coefficients.split_last() else {
            return self.zeros(&app.results[0]);
        };
        let mut sum = self.scope.broadcast_scalar(last, shape);
        for &coefficient in rest.iter().rev() {
            let product = self.map(MapOp::Mul, &[sum, *x], dtype);
            sum = self.map(MapOp::Add, &[product, coefficient], dtype);
        }
        Ok(sum)
    }

    pub(super) fn bitcast(
        &mut self,
        params: &BitcastConvertType,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let from = self.scope.dtype(x);
        let to = app.dtype();
        if from.bits() < 8 || to.bits() < 8 {
            let results = self.routine(params, app)?;
            return self.value(results[0]);
        }
        if from.size() == to.size() && !from.is_complex() && !to.is_complex() {
            return Ok(self.bits_as(x, to));
        }
        Ok(self.scope.alias(x, to, app.shape()))
    }

    /// The same bits as another element type of the same size.
    pub(super) fn bits_as(&mut self, x: ValueId, to: DType) -> ValueId {
        let from = self.scope.dtype(x);
        if from == to {
            return x;
        }
        if element::has_lane_form(MapOp::Bitcast, &[from], to) {
            return self.map(MapOp::Bitcast, &[x], to);
        }
        let shape = self.scope.shape(x);
        self.scope.alias(x, to, &shape)
    }

    /// The elements converted, by the runtime where lanes cannot.
    pub(super) fn converted(&mut self, x: ValueId, to: DType) -> ValueId {
        let from = self.scope.dtype(x);
        if from == to || element::has_lane_form(MapOp::Convert, &[from], to) {
            return self.scope.convert(x, to);
        }
        let shape = self.scope.shape(x);
        self.scope
            .one(Op::Call(Call::Map(MapOp::Convert)), &[x], to, &shape)
    }
}
