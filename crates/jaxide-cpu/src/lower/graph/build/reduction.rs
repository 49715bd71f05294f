//! Axes combined away.

use super::super::scope::FrameKind;
use super::super::{Combine, Op, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::Reduce;
use jaxide_core::{Aval, ClosedJaxpr, DType, Result};

impl Build {
    pub(super) fn reduce(
        &mut self,
        combine: Combine,
        axes: &[usize],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let dtype = app.dtype();
        // Sums of floats of 16 bits and less are rounded once, at the end.
        let wide = match combine {
            Combine::Add | Combine::Mul if dtype.is_float() && dtype.bits() <= 16 => DType::F32,
            _ => dtype,
        };
        let x = self.scope.convert(x, wide);
        let sum = self.scope.reduce(combine, x, axes)?;
        Ok(self.scope.convert(sum, dtype))
    }

    pub(super) fn arg_reduce(
        &mut self,
        largest: bool,
        axes: &[usize],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let axis = axes.first().copied().unwrap_or(0);
        let op = Op::ArgReduce { largest, axis };
        Ok(self.scope.one(op, &[x], app.dtype(), app.shape()))
    }

    pub(super) fn reduce_with(
        &mut self,
        params: &Reduce,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let args = self.values(app.args)?;
        let shape = self.scope.graph.shape(args[0]);
        if params.dimensions.iter().all(|&axis| shape[axis] == 1) {
            // With one element to combine the initial values, which are neutral by promise, are not looked at.
            let operands = args.iter().zip(&app.results);
            return Ok(operands
                .map(|(&x, aval)| Binding::Value(self.scope.reshape(x, &aval.shape)))
                .collect());
        }
        let body = self.scalar_region(&params.jaxpr)?;
        let axes = params.dimensions.clone();
        let results: Vec<(DType, &[usize])> = app
            .results
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let results = self
            .scope
            .emit(Op::ReduceWith { axes, body }, &args, &results);
        Ok(results.into_iter().map(Binding::Value).collect())
    }

    /// A function of scalars as a region.
    pub(super) fn scalar_region(&mut self, closed: &ClosedJaxpr) -> Result<super::super::Region> {
        let avals: Vec<Aval> = closed.in_avals();
        self.region(FrameKind::Loop, &avals, |build, params| {
            let args: Vec<Binding> = params.iter().map(|&param| Binding::Value(param)).collect();
            let results = build.call(closed, &args)?;
            results
                .into_iter()
                .map(|binding| build.value(binding))
                .collect()
        })
    }
}
