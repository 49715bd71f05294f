//! Gradients of pooling: values sent to, or read from, the selected element of each window.

use super::super::reduction::neutral_bytes;
use super::super::scope::FrameKind;
use super::super::{Combine, MapOp, Op, Region, ValueId, WindowSpec};
use super::window::window_spec;
use super::{Application, Binding, Bindings, Build};
use crate::narrow;
use jaxide_core::prims::{SelectAndGatherAdd, SelectAndScatter, SelectAndScatterAdd, SelectPrim};
use jaxide_core::{Aval, DType, Dims, Result};
use smallvec::smallvec;

impl Build {
    pub(super) fn select_and_scatter(
        &mut self,
        params: &SelectAndScatter,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let select = self.scalar_region(&params.select_jaxpr)?;
        let combine = self.scalar_region(&params.scatter_jaxpr)?;
        let (Some(select), Some(combine)) = (select, combine) else {
            return self.routine(params, app);
        };
        let args = self.values(app.args)?;
        let ones: Dims = smallvec![1; params.window_dimensions.len()];
        let window = window_spec(
            &params.window_dimensions,
            &params.window_strides,
            &ones,
            &ones,
            &params.padding,
        );
        let result = self.sent(window, (select, combine), [args[0], args[1], args[2]]);
        Ok(smallvec![Binding::Value(result)])
    }

    pub(super) fn select_and_scatter_add(
        &mut self,
        params: &SelectAndScatterAdd,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let (source, operand) = (args[0], args[1]);
        let dtype = app.dtype();
        let op = match params.select_prim {
            SelectPrim::Ge => MapOp::Ge,
            SelectPrim::Le => MapOp::Le,
        };
        let select = self.binary_region(op, dtype, DType::Bool)?;
        let combine = self.binary_region(MapOp::Add, dtype, dtype)?;
        let zero = self.zeros(&Aval::scalar(dtype))?;
        let ones: Dims = smallvec![1; params.window_dimensions.len()];
        // Padding takes part with the number that is never selected beside another. Where it is (beside NaN, or its
        // equals) the source's element is lost.
        let padding = &params.padding;
        let shape: Dims = app
            .shape()
            .iter()
            .zip(padding)
            .map(|(&length, (low, high))| narrow((length as i64 + low + high).max(0)))
            .collect();
        let unpadded = padding.iter().all(|&edges| edges == (0, 0));
        let operand = if unpadded {
            operand
        } else {
            let combine = match params.select_prim {
                SelectPrim::Ge => Combine::Max,
                SelectPrim::Le => Combine::Min,
            };
            let least = neutral_bytes(combine, dtype)?;
            let least = self.scope.splat_bytes(least, dtype, &[]);
            let op = Op::Pad {
                low: padding.iter().map(|edges| edges.0).collect(),
                interior: smallvec![0; padding.len()],
            };
            self.scope.one(op, &[operand, least], dtype, &shape)
        };
        let window = window_spec(
            &params.window_dimensions,
            &params.window_strides,
            &ones,
            &ones,
            &vec![(0, 0); padding.len()],
        );
        let scattered = self.sent(window, (select, combine), [operand, source, zero]);
        if unpadded {
            return Ok(scattered);
        }
        let op = Op::Pad {
            low: padding.iter().map(|edges| -edges.0).collect(),
            interior: smallvec![0; padding.len()],
        };
        Ok(self.scope.one(op, &[scattered, zero], dtype, app.shape()))
    }

    /// Each element of `source` in the place of the operand's window that is selected, combined with the others there.
    ///
    /// In two steps, which both have lanes: the place that each window selects, and for each element the windows over it that have
    /// selected it.
    fn sent(
        &mut self,
        window: WindowSpec,
        (select, combine): (Region, Region),
        [operand, source, init]: [ValueId; 3],
    ) -> ValueId {
        let places: usize = window.size.iter().product();
        let index = match i32::try_from(places) {
            Ok(_) => DType::I32,
            Err(_) => DType::I64,
        };
        let windows: Dims = self.scope.shape(source);
        let shape: Dims = self.scope.shape(operand);
        let dtype = self.scope.dtype(operand);
        let select = Op::SelectPlace {
            window: Box::new(window.clone()),
            select,
        };
        let place = self.scope.one(select, &[operand], index, &windows);
        let send = Op::SendToPlace {
            window: Box::new(window),
            combine,
        };
        self.scope.one(send, &[place, source, init], dtype, &shape)
    }

    pub(super) fn select_and_gather_add(
        &mut self,
        params: &SelectAndGatherAdd,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let window = window_spec(
            &params.window_dimensions,
            &params.window_strides,
            &params.window_dilation,
            &params.base_dilation,
            &params.padding,
        );
        let largest = params.select_prim == SelectPrim::Ge;
        let op = Op::SelectAndGather {
            largest,
            window: Box::new(window),
        };
        Ok(self.scope.one(op, &args, app.dtype(), app.shape()))
    }

    fn binary_region(&mut self, op: MapOp, dtype: DType, result: DType) -> Result<Region> {
        let scalar = Aval::scalar(dtype);
        self.region(
            FrameKind::Loop,
            &[scalar.clone(), scalar],
            |build, params| Ok(vec![build.map(op, params, result)]),
        )
    }
}
