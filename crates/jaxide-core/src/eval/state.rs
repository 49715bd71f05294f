//! Mutable references: cells that hold an array.

use smallvec::SmallVec;

use super::element::{integers, update};
use super::elementwise;
use super::interpreter::{Interpreter, Value, Values, values};
use super::strides::{Layout, copy_box, read, row_major};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::Shape;
use crate::prims::{RefIndex, RefIndices, RunState};
use crate::tensor::Tensor;

/// A primitive on references.
pub(super) enum Form<'a> {
    /// A new cell with an initial value.
    New,
    /// Reads.
    Get(&'a RefIndices),
    /// Writes, and gives the old value.
    Swap(&'a RefIndices),
    /// Adds.
    Add(&'a RefIndices),
    /// The final value.
    Freeze,
    /// Runs a body on new cells and gives their final values.
    Run(&'a RunState),
}

/// Runs a primitive on references.
pub(super) fn run(interpreter: &mut Interpreter, form: Form<'_>, inputs: Values) -> Result<Values> {
    let mut inputs = inputs.into_iter();
    let mut next = || {
        inputs
            .next()
            .ok_or_else(|| Error::new(ErrorKind::Arity, "an operand is missing"))
    };
    match form {
        Form::New => {
            let value = next()?.tensor()?;
            Ok(SmallVec::from_elem(new_cell(interpreter, value), 1))
        }
        Form::Get(indices) => {
            let cell = cell(next()?)?;
            let operands = inputs.map(Value::tensor).collect::<Result<Vec<_>>>()?;
            let contents = &interpreter.cells[cell];
            let part = Part::new(contents, indices, &operands)?;
            Ok(values([read(contents, &part.shape, &part.layout)?]))
        }
        Form::Swap(indices) => {
            let (cell, value) = (cell(next()?)?, next()?.tensor()?);
            let operands = inputs.map(Value::tensor).collect::<Result<Vec<_>>>()?;
            let part = Part::new(&interpreter.cells[cell], indices, &operands)?;
            let old = read(&interpreter.cells[cell], &part.shape, &part.layout)?;
            write(&mut interpreter.cells[cell], &part, &value)?;
            Ok(values([old]))
        }
        Form::Add(indices) => {
            let (cell, value) = (cell(next()?)?, next()?.tensor()?);
            let operands = inputs.map(Value::tensor).collect::<Result<Vec<_>>>()?;
            let part = Part::new(&interpreter.cells[cell], indices, &operands)?;
            let old = read(&interpreter.cells[cell], &part.shape, &part.layout)?;
            write(
                &mut interpreter.cells[cell],
                &part,
                &elementwise::add(&old, &value)?,
            )?;
            Ok(Values::new())
        }
        Form::Freeze => {
            let cell = cell(next()?)?;
            Ok(values([interpreter.cells[cell].clone()]))
        }
        Form::Run(params) => run_state(interpreter, params, inputs.collect()),
    }
}

fn run_state(interpreter: &mut Interpreter, params: &RunState, inputs: Values) -> Result<Values> {
    let before = interpreter.cells.len();
    let avals = params.jaxpr.in_avals();
    if avals.len() != params.is_initialized.len() {
        return Err(Error::parameter("is_initialized does not fit the body"));
    }
    let mut inputs = inputs.into_iter();
    let mut args = Values::new();
    for (aval, &initialized) in avals.iter().zip(&params.is_initialized) {
        let value = if initialized {
            inputs
                .next()
                .ok_or_else(|| Error::new(ErrorKind::Arity, "an operand is missing"))?
                .tensor()?
        } else {
            Tensor::zeros(&aval.shape, aval.dtype)?
        };
        args.push(new_cell(interpreter, value));
    }
    interpreter.call(&params.jaxpr, args)?;
    let finals = interpreter.cells.drain(before..).take(avals.len());
    Ok(values(finals))
}

/// A new cell.
fn new_cell(interpreter: &mut Interpreter, value: Tensor) -> Value {
    interpreter.cells.push(value);
    Value::Cell(interpreter.cells.len() - 1)
}

fn cell(value: Value) -> Result<usize> {
    match value {
        Value::Cell(index) => Ok(index),
        Value::Tensor(tensor) => Err(Error::new(
            ErrorKind::Invalid,
            format!("a reference is expected, and {} is given", tensor.aval()),
        )),
    }
}

/// The part of a cell's contents that indices name.
struct Part {
    shape: Shape,
    layout: Layout,
}

impl Part {
    /// Of `contents`; an index operand is moved into range, and its axis disappears.
    fn new(contents: &Tensor, indices: &RefIndices, operands: &[Tensor]) -> Result<Self> {
        let lengths = contents.shape();
        let mut part = Part {
            shape: Shape::new(),
            layout: Layout::whole(&[]),
        };
        if indices.len() > lengths.len() {
            return Err(Error::shape(format!(
                "{} indices are given for {}",
                indices.len(),
                contents.aval()
            )));
        }
        let mut operands = operands.iter();
        for (axis, (&length, stride)) in lengths.iter().zip(row_major(lengths)).enumerate() {
            match indices.get(axis) {
                None => {
                    part.shape.push(length);
                    part.layout.strides.push(stride);
                }
                Some(&RefIndex::Slice {
                    start,
                    size,
                    stride: step,
                }) => {
                    let end = size.checked_sub(1).map_or(Some(start), |last| {
                        last.checked_mul(step)?.checked_add(start)?.checked_add(1)
                    });
                    if end.is_none_or(|end| end > length) {
                        return Err(Error::shape(format!(
                            "{size} elements from {start} leave axis {axis} of {}",
                            contents.aval()
                        )));
                    }
                    part.shape.push(size);
                    part.layout.start += start as isize * stride;
                    part.layout.strides.push(stride * step as isize);
                }
                Some(RefIndex::Operand) => {
                    let index = operands
                        .next()
                        .and_then(|operand| integers(operand).ok()?.next())
                        .ok_or_else(|| Error::new(ErrorKind::Arity, "an index is missing"))?;
                    if length == 0 {
                        return Err(Error::shape(format!(
                            "axis {axis} of {} is empty",
                            contents.aval()
                        )));
                    }
                    part.layout.start += index.clamp(0, length as i128 - 1) as isize * stride;
                }
            }
        }
        Ok(part)
    }
}

/// Writes `value` into a part of a cell.
fn write(cell: &mut Tensor, part: &Part, value: &Tensor) -> Result<()> {
    if value.dtype() != cell.dtype() || value.shape() != part.shape.as_slice() {
        return Err(Error::shape(format!(
            "{} cannot be written to a part of shape {:?} of {}",
            value.aval(),
            part.shape.as_slice(),
            cell.aval()
        )));
    }
    // Taken out meanwhile, so that nothing else holds it and it changes in place.
    let contents = std::mem::replace(cell, Tensor::bool(false));
    let size = contents.dtype().size();
    *cell = update(contents, |bytes| {
        let whole = Layout::whole(value.shape());
        copy_box(
            value.shape(),
            size,
            (value.bytes(), &whole),
            (bytes, &part.layout),
        )
    })?;
    Ok(())
}
