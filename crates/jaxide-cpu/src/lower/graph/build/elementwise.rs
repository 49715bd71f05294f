//! Primitives that act on single elements.

use super::super::{Call, MapOp, Op, ValueId};
use super::{Application, Build};
use crate::lower::element;
use jaxide_core::prims::{Prim, RoundingMethod};
use jaxide_core::{DType, Dims, Error, Result};

/// The operation of an elementwise primitive; `None` for primitives that are none or need more than one.
pub(super) fn map_op(prim: &Prim) -> Option<MapOp> {
    Some(match prim {
        Prim::Neg(_) => MapOp::Neg,
        Prim::Sign(_) => MapOp::Sign,
        Prim::Abs(_) => MapOp::Abs,
        Prim::Floor(_) => MapOp::Floor,
        Prim::Ceil(_) => MapOp::Ceil,
        Prim::IsFinite(_) => MapOp::IsFinite,
        Prim::Exp(_) => MapOp::Exp,
        Prim::Exp2(_) => MapOp::Exp2,
        Prim::Expm1(_) => MapOp::Expm1,
        Prim::Log(_) => MapOp::Log,
        Prim::Log2(_) => MapOp::Log2,
        Prim::Log1p(_) => MapOp::Log1p,
        Prim::Sqrt(_) => MapOp::Sqrt,
        Prim::Rsqrt(_) => MapOp::Rsqrt,
        Prim::Cbrt(_) => MapOp::Cbrt,
        Prim::Sin(_) => MapOp::Sin,
        Prim::Cos(_) => MapOp::Cos,
        Prim::Tan(_) => MapOp::Tan,
        Prim::Asin(_) => MapOp::Asin,
        Prim::Acos(_) => MapOp::Acos,
        Prim::Atan(_) => MapOp::Atan,
        Prim::Sinh(_) => MapOp::Sinh,
        Prim::Cosh(_) => MapOp::Cosh,
        Prim::Tanh(_) => MapOp::Tanh,
        Prim::Asinh(_) => MapOp::Asinh,
        Prim::Acosh(_) => MapOp::Acosh,
        Prim::Atanh(_) => MapOp::Atanh,
        Prim::Logistic(_) => MapOp::Logistic,
        Prim::Square(_) => MapOp::Square,
        Prim::OneMinusSquare(_) => MapOp::OneMinusSquare,
        Prim::Erf(_) => MapOp::Erf,
        Prim::Erfc(_) => MapOp::Erfc,
        Prim::ErfInv(_) => MapOp::ErfInv,
        Prim::Lgamma(_) => MapOp::Lgamma,
        Prim::Digamma(_) => MapOp::Digamma,
        Prim::BesselI0e(_) => MapOp::BesselI0e,
        Prim::BesselI1e(_) => MapOp::BesselI1e,
        Prim::Real(_) => MapOp::Real,
        Prim::Imag(_) => MapOp::Imag,
        Prim::Conj(_) => MapOp::Conj,
        Prim::Not(_) => MapOp::Not,
        Prim::PopulationCount(_) => MapOp::Popcount,
        Prim::Clz(_) => MapOp::Clz,
        Prim::IntegerPow(params) => MapOp::IntegerPow(params.y),
        Prim::Round(params) => match params.rounding_method {
            RoundingMethod::AwayFromZero => MapOp::RoundAway,
            RoundingMethod::ToNearestEven => MapOp::RoundEven,
        },
        Prim::ReducePrecision(params) => MapOp::ReducePrecision {
            exponent: params.exponent_bits,
            mantissa: params.mantissa_bits,
        },
        Prim::Add(_) | Prim::AddAny(_) => MapOp::Add,
        Prim::Sub(_) => MapOp::Sub,
        Prim::Mul(_) => MapOp::Mul,
        Prim::Mulhi(_) => MapOp::MulHi,
        Prim::Div(_) => MapOp::Div,
        Prim::Rem(_) => MapOp::Rem,
        Prim::Max(_) => MapOp::Max,
        Prim::Min(_) => MapOp::Min,
        Prim::Pow(_) => MapOp::Pow,
        Prim::Atan2(_) => MapOp::Atan2,
        Prim::NextAfter(_) => MapOp::NextAfter,
        Prim::Complex(_) => MapOp::Complex,
        Prim::And(_) => MapOp::And,
        Prim::Or(_) => MapOp::Or,
        Prim::Xor(_) => MapOp::Xor,
        Prim::ShiftLeft(_) => MapOp::ShiftLeft,
        Prim::ShiftRightArithmetic(_) => MapOp::ShiftRightArithmetic,
        Prim::ShiftRightLogical(_) => MapOp::ShiftRightLogical,
        Prim::Equal(_) => MapOp::Eq,
        Prim::NotEqual(_) => MapOp::Ne,
        Prim::Less(_) => MapOp::Lt,
        Prim::LessEqual(_) => MapOp::Le,
        Prim::Greater(_) => MapOp::Gt,
        Prim::GreaterEqual(_) => MapOp::Ge,
        Prim::EqualTotal(_) => MapOp::EqTotal,
        Prim::LessTotal(_) => MapOp::LtTotal,
        Prim::LessEqualTotal(_) => MapOp::LeTotal,
        Prim::Igamma(_) => MapOp::Igamma,
        Prim::Igammac(_) => MapOp::Igammac,
        Prim::IgammaGradA(_) => MapOp::IgammaGradA,
        Prim::Polygamma(_) => MapOp::Polygamma,
        Prim::Zeta(_) => MapOp::Zeta,
        Prim::RegularizedIncompleteBeta(_) => MapOp::RegularizedIncompleteBeta,
        Prim::Clamp(_) => MapOp::Clamp,
        Prim::SelectN(_) => MapOp::Select,
        Prim::ConvertElementType(_) => MapOp::Convert,
        _ => return None,
    })
}

impl Build {
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
        Ok(self.map(op, &operands, dtype))
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

    pub(super) fn bitcast(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let from = self.scope.dtype(x);
        let to = app.dtype();
        if from.bits() < 8 || to.bits() < 8 {
            return self.library_one(app);
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

    pub(super) fn library_one(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let results = self.library(app)?;
        self.value(results[0])
    }
}
