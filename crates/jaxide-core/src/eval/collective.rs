//! Communication along named axes.
//!
//! One member runs at a time, so that axes that collectives name have one member here. A map over more members is the same
//! function of whole arrays, in which no axis has a name any more.

use super::element::build;
use super::interpreter::{Interpreter, NamedAxis, Value, Values, tensors, values};
use super::shape::{element_along, stack};
use super::signature::operands;
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::Dims;
use crate::prims::{
    AllGather, AllToAll, AxisIndex, AxisName, AxisNames, Name, Ppermute, ReduceScatter, ShardMap,
};
use crate::tensor::Tensor;

/// Combines over named axes and axes of the operands.
pub(super) fn combine(
    interpreter: &mut Interpreter,
    axes: &[AxisName],
    combine: fn(&Tensor, &[usize]) -> Result<Tensor>,
    inputs: Values,
) -> Result<Values> {
    let mut positional = Dims::new();
    for axis in axes {
        match axis {
            AxisName::Positional(axis) => positional.push(*axis),
            AxisName::Named(name) => interpreter.single(name)?,
        }
    }
    let combined = tensors(inputs)?.into_iter().map(|x| {
        if positional.is_empty() {
            Ok(x)
        } else {
            combine(&x, &positional)
        }
    });
    combined.map(|result| result.map(Value::Tensor)).collect()
}

/// Values of all members.
pub(super) fn all_gather(
    interpreter: &mut Interpreter,
    params: &AllGather,
    inputs: Values,
) -> Result<Values> {
    interpreter.all_single(&params.axis_name)?;
    with_one(inputs, |x| match params.tiled {
        true => Ok(x),
        false => expand(&x, params.all_gather_dimension),
    })
}

/// Exchanges slices.
pub(super) fn all_to_all(
    interpreter: &mut Interpreter,
    params: &AllToAll,
    inputs: Values,
) -> Result<Values> {
    interpreter.all_single(&params.axis_name)?;
    with_one(inputs, |x| match params.tiled {
        true => Ok(x),
        false => expand(&only_along(&x, params.split_axis)?, params.concat_axis),
    })
}

/// Sums and keeps a slice.
pub(super) fn reduce_scatter(
    interpreter: &mut Interpreter,
    params: &ReduceScatter,
    inputs: Values,
) -> Result<Values> {
    interpreter.all_single(&params.axis_name)?;
    with_one(inputs, |x| match params.tiled {
        true => Ok(x),
        false => only_along(&x, params.scatter_dimension),
    })
}

/// Sends values.
pub(super) fn permute(
    interpreter: &mut Interpreter,
    params: &Ppermute,
    inputs: Values,
) -> Result<Values> {
    interpreter.all_single(&params.axis_name)?;
    with_one(inputs, |x| match params.perm.contains(&(0, 0)) {
        true => Ok(x),
        // Who receives nothing has zeros.
        false => build(x.shape(), x.dtype(), |_| Ok(())),
    })
}

/// The index along axes.
pub(super) fn index(interpreter: &mut Interpreter, params: &AxisIndex) -> Result<Values> {
    let mut index = 0;
    for name in params.axis_name.names() {
        let axis = interpreter.axis(name)?;
        index = index * axis.size + axis.index;
    }
    Ok(values([Tensor::scalar(index as i32)]))
}

impl Interpreter {
    fn axis(&self, name: &Name) -> Result<&NamedAxis> {
        self.axes
            .iter()
            .rev()
            .find(|axis| axis.name == *name)
            .ok_or_else(|| {
                Error::new(
                    ErrorKind::Invalid,
                    format!("there is no axis of the name `{name}` here"),
                )
            })
    }

    /// There is such an axis, and it has one member.
    fn single(&self, name: &Name) -> Result<()> {
        let axis = self.axis(name)?;
        if axis.size == 1 {
            return Ok(());
        }
        Err(Error::unsupported(format!(
            "axis `{name}` has {} members, and one runs here",
            axis.size
        )))
    }

    fn all_single(&self, names: &AxisNames) -> Result<()> {
        names.names().iter().try_for_each(|name| self.single(name))
    }
}

/// The body on whole arrays: with one member along every mesh axis each shard is the array; else batched over the mesh.
pub(super) fn shard_map(
    interpreter: &mut Interpreter,
    params: &ShardMap,
    inputs: Values,
) -> Result<Values> {
    let axes = params.mesh_axes();
    if axes.iter().any(|(_, size)| *size != 1) {
        return interpreter.call(&params.expand()?, inputs);
    }
    let outer = interpreter.axes.len();
    interpreter
        .axes
        .extend(axes.into_iter().map(|(name, size)| NamedAxis {
            name,
            size,
            index: 0,
        }));
    let results = interpreter.call(&params.jaxpr, inputs);
    interpreter.axes.truncate(outer);
    results
}

/// With a new axis of length 1.
fn expand(x: &Tensor, axis: usize) -> Result<Tensor> {
    stack(std::slice::from_ref(x), axis)
}

/// Without an axis, which has length 1.
fn only_along(x: &Tensor, axis: usize) -> Result<Tensor> {
    match x.shape().get(axis) {
        Some(1) => element_along(x, axis, 0),
        _ => Err(Error::shape(format!(
            "axis {axis} of {} does not have length 1",
            x.aval()
        ))),
    }
}

fn with_one(inputs: Values, f: impl FnOnce(Tensor) -> Result<Tensor>) -> Result<Values> {
    let [x] = operands(inputs)?;
    Ok(values([f(x)?]))
}
