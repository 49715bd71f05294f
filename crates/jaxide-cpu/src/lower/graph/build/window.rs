//! Windows that move over an array.

use super::super::{Combine, MapOp, Op, ValueId, WindowSpec};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{Prim, ReduceWindow};
use jaxide_core::{Aval, DType, Dims, Error, ErrorKind, Result};
use smallvec::smallvec;

pub(super) fn window_spec(
    size: &Dims,
    stride: &Dims,
    dilation: &Dims,
    base_dilation: &Dims,
    padding: &[(i64, i64)],
) -> WindowSpec {
    WindowSpec {
        size: size.clone(),
        stride: stride.clone(),
        dilation: dilation.clone(),
        base_dilation: base_dilation.clone(),
        low: padding.iter().map(|edges| edges.0).collect(),
    }
}

impl Build {
    pub(super) fn reduce_window(&mut self, app: &Application<'_>) -> Result<ValueId> {
        macro_rules! spec {
            ($params:expr) => {
                window_spec(
                    &$params.window_dimensions,
                    &$params.window_strides,
                    &$params.window_dilation,
                    &$params.base_dilation,
                    &$params.padding,
                )
            };
        }
        let (combine, window) = match &app.eqn.prim {
            Prim::ReduceWindowSum(params) => (Combine::Add, spec!(params)),
            Prim::ReduceWindowMax(params) => (Combine::Max, spec!(params)),
            Prim::ReduceWindowMin(params) => (Combine::Min, spec!(params)),
            other => {
                return Err(Error::new(
                    ErrorKind::Internal,
                    format!("{} is not a reduction over windows", other.name()),
                ));
            }
        };
        let x = self.value(app.args[0])?;
        let dtype = app.dtype();
        let wide = match combine {
            Combine::Add if dtype.is_float() && dtype.bits() <= 16 => DType::F32,
            _ => dtype,
        };
        if combine == Combine::Add && window.is_identity() {
            // Nothing is added, so that zeros keep their signs.
            let zero = self.zeros(&Aval::scalar(dtype))?;
            let op = Op::Pad {
                interior: window.low.iter().map(|_| 0).collect(),
                low: window.low,
            };
            return Ok(self.scope.one(op, &[x, zero], dtype, app.shape()));
        }
        if combine == Combine::Add && dtype.is_complex() {
            // The parts are added apart from each other, in steps, as other numbers are.
            let [real, imaginary] = [MapOp::Real, MapOp::Imag].map(|op| {
                let part = self.map(op, &[x], dtype.real());
                self.windows(combine, part, &window, app.shape())
            });
            return Ok(self.map(MapOp::Complex, &[real, imaginary], dtype));
        }
        let x = self.scope.convert(x, wide);
        let sum = self.windows(combine, x, &window, app.shape());
        Ok(self.scope.convert(sum, dtype))
    }

    pub(super) fn reduce_window_with(
        &mut self,
        params: &ReduceWindow,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let args = self.values(app.args)?;
        let Some(body) = self.scalar_region(&params.jaxpr)? else {
            return self.routine(params, app);
        };
        let window = window_spec(
            &params.window_dimensions,
            &params.window_strides,
            &params.window_dilation,
            &params.base_dilation,
            &params.padding,
        );
        if let Some(combine @ (Combine::Max | Combine::Min)) = self.scope.graph.combines(&body)
            && let (&[x, first], Some(op)) = (&args[..], combine.map())
        {
            // The first number is what the padding is, too: once more changes nothing.
            let all = self.windows(combine, x, &window, app.shape());
            let first = self.scope.broadcast_scalar(first, app.shape());
            let result = self.map(op, &[first, all], app.dtype());
            return Ok(smallvec![Binding::Value(result)]);
        }
        let results: Vec<(DType, &[usize])> = app
            .results
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let results = self.scope.emit(
            Op::ReduceWindowWith {
                window: Box::new(window),
                body,
            },
            &args,
            &results,
        );
        Ok(results.into_iter().map(Binding::Value).collect())
    }
}
