//! Loops.

use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::eval::element::{elements, update};
use crate::eval::elementwise::select_n;
use crate::eval::interpreter::{Interpreter, Value, Values};
use crate::eval::shape::broadcast_in_dim;
use crate::jaxpr::{Dims, Shape};
use crate::prims::{Scan, While};
use crate::tensor::Tensor;

/// Repeats the body while the condition holds.
///
/// A condition with axes is one per lane: the loop goes on while any holds, and a lane keeps its carry from when its
/// own no longer does. The lanes are the leading axes of every carry.
pub(in crate::eval) fn while_loop(
    interpreter: &mut Interpreter,
    params: &While,
    inputs: Values,
) -> Result<Values> {
    let (condition_consts, rest) = split(inputs, params.cond_nconsts)?;
    let (body_consts, mut carry) = split(rest, params.body_nconsts)?;
    let joined = |consts: &Values, carry: &Values| consts.iter().chain(carry).cloned().collect();
    loop {
        let condition = interpreter.call(&params.cond_jaxpr, joined(&condition_consts, &carry))?;
        let holds = match condition.into_iter().next().map(Value::tensor) {
            Some(Ok(holds)) if holds.dtype() == DType::Bool => holds,
            _ => return Err(Error::dtype("the condition gives no truth value")),
        };
        if !elements::<u8>(&holds)?.contains(&1) {
            return Ok(carry);
        }
        let lanes = (!holds.shape().is_empty()).then(|| carry.clone());
        // The carry is given away, so that the body can change it in place.
        let args = body_consts
            .iter()
            .cloned()
            .chain(std::mem::take(&mut carry))
            .collect();
        carry = interpreter.call(&params.body_jaxpr, args)?;
        if let Some(before) = lanes {
            carry = before
                .into_iter()
                .zip(carry)
                .map(|(old, new)| keep_finished(&holds, old, new))
                .collect::<Result<_>>()?;
        }
    }
}

/// The new value where a lane's condition holds, else the old one.
fn keep_finished(holds: &Tensor, old: Value, new: Value) -> Result<Value> {
    let (old, new) = (old.tensor()?, new.tensor()?);
    let places: Dims = (0..holds.shape().len()).collect();
    let which = broadcast_in_dim(holds, new.shape(), &places)?;
    select_n(&which, &[old, new]).map(Value::Tensor)
}

/// Runs the body once for each slice along the leading axis of the stacked inputs.
pub(in crate::eval) fn scan(
    interpreter: &mut Interpreter,
    params: &Scan,
    inputs: Values,
) -> Result<Values> {
    let (consts, rest) = split(inputs, params.ft_in.consts)?;
    let (mut carry, xs) = split(rest, params.ft_in.carry)?;
    let xs: Vec<Tensor> = xs.into_iter().map(Value::tensor).collect::<Result<_>>()?;
    if let Some(odd) = xs
        .iter()
        .find(|x| x.shape().first() != Some(&params.length))
    {
        return Err(Error::shape(format!(
            "{} steps are made, and a stacked input is {}",
            params.length,
            odd.aval()
        )));
    }
    let results = params.jaxpr.out_avals();
    let carries = carry.len();
    let mut stacked: Vec<Tensor> = results
        .get(carries..)
        .ok_or_else(|| {
            Error::new(
                ErrorKind::Arity,
                format!(
                    "the body gives {} results for {carries} carries",
                    results.len()
                ),
            )
        })?
        .iter()
        .map(|aval| {
            let mut shape = Shape::from_slice(&aval.shape);
            shape.insert(0, params.length);
            Tensor::zeros(&shape, aval.dtype)
        })
        .collect::<Result<_>>()?;
    for step in 0..params.length {
        let index = if params.reverse {
            params.length - 1 - step
        } else {
            step
        };
        let slices: Vec<Tensor> = xs.iter().map(|x| row(x, index)).collect::<Result<_>>()?;
        let args = consts
            .iter()
            .cloned()
            .chain(std::mem::take(&mut carry))
            .chain(slices.into_iter().map(Value::Tensor))
            .collect();
        let mut results = interpreter.call(&params.jaxpr, args)?.into_iter();
        carry = results.by_ref().take(carries).collect();
        for (all, result) in stacked.iter_mut().zip(results) {
            let whole = std::mem::replace(all, Tensor::bool(false));
            *all = write_row(whole, index, &result.tensor()?)?;
        }
    }
    carry.extend(stacked.into_iter().map(Value::Tensor));
    Ok(carry)
}

/// The slice at `index` of the leading axis.
fn row(x: &Tensor, index: usize) -> Result<Tensor> {
    let shape = &x.shape()[1..];
    let size = shape.iter().product::<usize>() * x.dtype().size();
    Tensor::from_bytes(
        shape,
        x.dtype(),
        &x.bytes()[index * size..(index + 1) * size],
    )
}

/// `all` with `result` as the slice at `index` of the leading axis.
fn write_row(all: Tensor, index: usize, result: &Tensor) -> Result<Tensor> {
    if result.dtype() != all.dtype() || result.shape() != &all.shape()[1..] {
        return Err(Error::shape(format!(
            "the body gives {} for a slice of {}",
            result.aval(),
            all.aval()
        )));
    }
    let size = result.bytes().len();
    update(all, |bytes| {
        bytes[index * size..(index + 1) * size].copy_from_slice(result.bytes());
        Ok(())
    })
}

/// The first `count` values, and the others.
fn split(mut values: Values, count: usize) -> Result<(Values, Values)> {
    if values.len() < count {
        return Err(Error::new(
            ErrorKind::Arity,
            format!(
                "{count} leading operands are expected, and {} are given",
                values.len()
            ),
        ));
    }
    let rest = values.drain(count..).collect();
    Ok((values, rest))
}
