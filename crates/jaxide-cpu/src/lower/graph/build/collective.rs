//! Named axes. A map over several members is compiled as the same function of whole arrays, in which no axis has a name; what
//! is left are axes of one member, along which collectives are identities.

use super::super::{Combine, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{
    AllGather, AllToAll, AxisIndex, AxisName, Name, Pmap, Ppermute, ReduceScatter, ShardMap,
};
use jaxide_core::{DType, Dims, Error, Result, Scalar};

impl Build {
    /// Refuses axes that are not in scope or have more than one member.
    fn single(&self, name: &Name) -> Result<()> {
        match self.axes.get(name) {
            Some(1) => Ok(()),
            Some(size) => Err(Error::unsupported(format!(
                "the axis {name} has {size} members, and one runs here"
            ))),
            None => Err(Error::unsupported(format!("the axis {name} is not bound"))),
        }
    }

    pub(super) fn collective(
        &mut self,
        axes: &[AxisName],
        combine: Option<Combine>,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let mut positional = Dims::new();
        for axis in axes {
            match axis {
                AxisName::Named(name) => self.single(name)?,
                AxisName::Positional(axis) => positional.push(*axis),
            }
        }
        let mut results = Bindings::new();
        for (value, result) in self.values(app.args)?.into_iter().zip(&app.results) {
            results.push(Binding::Value(match combine {
                Some(combine) if !positional.is_empty() => {
                    self.reduce_value(combine, value, &positional, &result.shape)?
                }
                _ => value,
            }));
        }
        Ok(results)
    }

    pub(super) fn all_gather(
        &mut self,
        params: &AllGather,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        params
            .axis_name
            .names()
            .iter()
            .try_for_each(|name| self.single(name))?;
        let x = self.value(app.args[0])?;
        Ok(self.scope.reshape(x, app.shape()))
    }

    pub(super) fn all_to_all(
        &mut self,
        params: &AllToAll,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        params
            .axis_name
            .names()
            .iter()
            .try_for_each(|name| self.single(name))?;
        let x = self.value(app.args[0])?;
        let (shape, axis) = (self.scope.shape(x), params.split_axis);
        if !params.tiled && shape[axis] != 1 {
            return Err(Error::shape(format!(
                "all_to_all: axis {axis} of shape {:?} does not have length 1",
                shape.as_slice()
            )));
        }
        // The axis of the only member goes where the results are joined.
        let x = self.scope.reshape(x, app.shape());
        Ok(Bindings::from_slice(&[Binding::Value(x)]))
    }

    pub(super) fn reduce_scatter(
        &mut self,
        params: &ReduceScatter,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        params
            .axis_name
            .names()
            .iter()
            .try_for_each(|name| self.single(name))?;
        let x = self.value(app.args[0])?;
        Ok(self.scope.reshape(x, app.shape()))
    }

    pub(super) fn ppermute(&mut self, params: &Ppermute, app: &Application<'_>) -> Result<ValueId> {
        params
            .axis_name
            .names()
            .iter()
            .try_for_each(|name| self.single(name))?;
        // Who receives nothing gets zeros.
        if params.perm.contains(&(0, 0)) {
            self.value(app.args[0])
        } else {
            self.zeros(&app.results[0])
        }
    }

    pub(super) fn axis_index(&mut self, params: &AxisIndex) -> Result<ValueId> {
        params
            .axis_name
            .names()
            .iter()
            .try_for_each(|name| self.single(name))?;
        self.scope.splat(Scalar::Int(0), DType::I32, &[])
    }

    pub(super) fn shard_map(
        &mut self,
        params: &ShardMap,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let axes = params.mesh_axes();
        if axes.iter().any(|(_, size)| *size != 1) {
            return self.inline(&params.expand()?, app.args);
        }
        self.with_axes(&axes, |build| build.inline(&params.jaxpr, app.args))
    }

    pub(super) fn pmap(&mut self, params: &Pmap, app: &Application<'_>) -> Result<Bindings> {
        self.inline(&params.expand()?, app.args)
    }

    fn with_axes<R>(
        &mut self,
        axes: &[(Name, usize)],
        body: impl FnOnce(&mut Build) -> Result<R>,
    ) -> Result<R> {
        let before = self.axes.clone();
        self.axes.extend(axes.iter().cloned());
        let result = body(self);
        self.axes = before;
        result
    }
}
