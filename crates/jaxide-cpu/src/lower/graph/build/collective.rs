//! Named axes. A program is compiled for one device, so every named axis has one member, and collectives are identities.

use super::super::{Combine, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{
    AllGather, AllToAll, AxisIndex, AxisName, Name, Opaque, Pmap, Ppermute, PyValue, ReduceScatter,
    ShardMap,
};
use jaxide_core::{DType, Dims, Error, Result, Scalar};

impl Build {
    /// Refuses axes that are not in scope or have more than one member.
    fn single(&self, name: &Name) -> Result<()> {
        match self.axes.get(name) {
            Some(1) => Ok(()),
            Some(size) => Err(Error::unsupported(format!(
                "the axis {name} has {size} members, and a compiled program runs on one device"
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
        for value in self.values(app.args)? {
            results.push(Binding::Value(match combine {
                Some(combine) if !positional.is_empty() => {
                    self.scope.reduce(combine, value, &positional)?
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
        Ok(Bindings::from_slice(app.args))
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
        let Opaque(mesh) = &params.mesh;
        let axes = mesh_axes(mesh).ok_or_else(|| Error::unsupported(format!("the mesh {mesh}")))?;
        self.with_axes(&axes, |build| build.inline(&params.jaxpr, app.args))
    }

    pub(super) fn pmap(&mut self, params: &Pmap, app: &Application<'_>) -> Result<Bindings> {
        let axes: Vec<(Name, usize)> = params
            .axis_name
            .names()
            .iter()
            .map(|name| (name.clone(), params.axis_size))
            .collect();
        if params.axis_size != 1 {
            return Err(Error::unsupported(format!(
                "a map over {} devices, and a compiled program runs on one",
                params.axis_size
            )));
        }
        let mut args = Vec::new();
        for (value, axis) in self.values(app.args)?.into_iter().zip(&params.in_axes) {
            let mut shape = self.scope.shape(value);
            if let Some(axis) = *axis {
                shape.remove(axis);
            }
            args.push(Binding::Value(self.scope.reshape(value, &shape)));
        }
        let results = self.with_axes(&axes, |build| build.inline(&params.call_jaxpr, &args))?;
        let mut bound = Bindings::new();
        for (binding, aval) in results.into_iter().zip(&app.results) {
            let value = self.value(binding)?;
            bound.push(Binding::Value(self.scope.reshape(value, &aval.shape)));
        }
        Ok(bound)
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

/// Names and sizes in `Mesh('rows': 1, axis_types=(Auto,))`.
fn mesh_axes(mesh: &PyValue) -> Option<Vec<(Name, usize)>> {
    let text = mesh.to_string();
    let inside = text.strip_prefix("Mesh(")?;
    let inside = inside.split("axis_types").next()?;
    inside
        .split(',')
        .map(str::trim)
        .filter(|part| part.contains(':'))
        .map(|part| {
            let (name, size) = part.split_once(':')?;
            let size = size.trim().trim_end_matches(')').parse().ok()?;
            Some((Name::new(name.trim().trim_matches('\'')), size))
        })
        .collect()
}
