//! Communication along named axes.
//!
//! One device is simulated: a mesh has one member along every axis, and so does what collectives name.

use super::element::build;
use super::interpreter::{Interpreter, NamedAxis, Value, Values, tensors, values};
use super::shape::{element_along, stack};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::Dims;
use crate::prims::{
    AllGather, AllToAll, AxisIndex, AxisName, AxisNames, Name, Pmap, Ppermute, ReduceScatter,
    ShardMap,
};
use crate::tensor::Tensor;

/// A primitive that speaks of named axes.
pub(super) enum Form<'a> {
    /// Combines over named axes and axes of the operands.
    Combine(&'a [AxisName], fn(&Tensor, &[usize]) -> Result<Tensor>),
    /// Values of all members.
    AllGather(&'a AllGather),
    /// Exchanges slices.
    AllToAll(&'a AllToAll),
    /// Sums and keeps a slice.
    ReduceScatter(&'a ReduceScatter),
    /// Sends values.
    Permute(&'a Ppermute),
    /// The index along axes.
    Index(&'a AxisIndex),
    /// Runs a body on shards.
    ShardMap(&'a ShardMap),
    /// Runs a body once per member.
    Pmap(&'a Pmap),
}

/// Runs a primitive that speaks of named axes.
pub(super) fn run(interpreter: &mut Interpreter, form: Form<'_>, inputs: Values) -> Result<Values> {
    match form {
        Form::Combine(axes, combine) => {
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
        Form::AllGather(params) => {
            interpreter.all_single(&params.axis_name)?;
            with_one(inputs, |x| match params.tiled {
                true => Ok(x),
                false => expand(&x, params.all_gather_dimension),
            })
        }
        Form::AllToAll(params) => {
            interpreter.all_single(&params.axis_name)?;
            with_one(inputs, |x| match params.tiled {
                true => Ok(x),
                false => expand(&only_along(&x, params.split_axis)?, params.concat_axis),
            })
        }
        Form::ReduceScatter(params) => {
            interpreter.all_single(&params.axis_name)?;
            with_one(inputs, |x| match params.tiled {
                true => Ok(x),
                false => only_along(&x, params.scatter_dimension),
            })
        }
        Form::Permute(params) => {
            interpreter.all_single(&params.axis_name)?;
            with_one(inputs, |x| match params.perm.contains(&(0, 0)) {
                true => Ok(x),
                // Who receives nothing has zeros.
                false => build(x.shape(), x.dtype(), |_| Ok(())),
            })
        }
        Form::Index(params) => {
            let mut index = 0;
            for name in params.axis_name.names() {
                let axis = interpreter.axis(name)?;
                index = index * axis.size + axis.index;
            }
            Ok(values([Tensor::scalar(index as i32)]))
        }
        Form::ShardMap(params) => shard_map(interpreter, params, inputs),
        Form::Pmap(params) => pmap(interpreter, params, inputs),
    }
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
            "axis `{name}` has {} members, which run one after another here and cannot communicate",
            axis.size
        )))
    }

    fn all_single(&self, names: &AxisNames) -> Result<()> {
        names.names().iter().try_for_each(|name| self.single(name))
    }
}

/// The body on whole arrays: with one member along every mesh axis each shard is the array.
fn shard_map(interpreter: &mut Interpreter, params: &ShardMap, inputs: Values) -> Result<Values> {
    let axes = mesh_axes(&params.mesh.0.to_string());
    if let Some((name, size)) = axes.iter().find(|(_, size)| *size != 1) {
        return Err(Error::unsupported(format!(
            "mesh axis `{name}` has {size} devices, and one is simulated"
        )));
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

/// Names and sizes in `Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto))`.
fn mesh_axes(mesh: &str) -> Vec<(Name, usize)> {
    let mut axes = Vec::new();
    let mut rest = mesh;
    while let Some((_, tail)) = rest.split_once('\'') {
        let Some((name, after)) = tail.split_once('\'') else {
            break;
        };
        rest = after;
        let number = after.trim_start_matches([':', ' ']);
        let digits = number
            .split(|c: char| !c.is_ascii_digit())
            .next()
            .unwrap_or("");
        if let Ok(size) = digits.parse() {
            axes.push((Name::new(name), size));
        }
    }
    axes
}

/// The body on each member's slices, one member after another.
fn pmap(interpreter: &mut Interpreter, params: &Pmap, inputs: Values) -> Result<Values> {
    let inputs = tensors(inputs)?;
    let mut members: Vec<Vec<Tensor>> = Vec::new();
    for index in 0..params.axis_size {
        let args: Values = inputs
            .iter()
            .zip(&params.in_axes)
            .map(|(x, axis)| match axis {
                None => Ok(Value::Tensor(x.clone())),
                Some(axis) => element_along(x, *axis, index).map(Value::Tensor),
            })
            .collect::<Result<_>>()?;
        let outer = interpreter.axes.len();
        let names = params.axis_name.names().iter().cloned();
        interpreter.axes.extend(names.map(|name| NamedAxis {
            name,
            size: params.axis_size,
            index,
        }));
        let results = interpreter.call(&params.call_jaxpr, args);
        interpreter.axes.truncate(outer);
        members.push(tensors(results?)?);
    }
    let first = members
        .first()
        .ok_or_else(|| Error::parameter("the axis has no members"))?;
    (0..first.len())
        .zip(&params.out_axes)
        .map(|(number, axis)| match axis {
            None => Ok(Value::Tensor(first[number].clone())),
            Some(axis) => {
                let parts: Vec<Tensor> = members
                    .iter()
                    .map(|results| results[number].clone())
                    .collect();
                stack(&parts, *axis).map(Value::Tensor)
            }
        })
        .collect()
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
    let [x] = super::operands(inputs)?;
    Ok(values([f(x)?]))
}
