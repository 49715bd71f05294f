//! Mutable references: cells that hold an array.

use smallvec::SmallVec;

use super::element::{build, integers};
use super::indexing::{Combine, combine_pairs};
use super::interpreter::{Interpreter, Value, Values, tensors, values};
use super::strides::{Layout, Strides, row_major};
use crate::error::{Error, ErrorKind, Result};
use crate::jaxpr::{Aval, Shape};
use crate::prims::{RefIndex, RefIndexer, RefIndices, RunState, indexed_shape};
use crate::tensor::Tensor;

/// A new cell with an initial value.
pub(super) fn new(interpreter: &mut Interpreter, inputs: Values) -> Result<Values> {
    let mut inputs = inputs.into_iter();
    let value = next(&mut inputs)?.tensor()?;
    Ok(vec![new_cell(interpreter, value)])
}

/// Reads.
pub(super) fn get(
    interpreter: &mut Interpreter,
    indices: &RefIndices,
    inputs: Values,
) -> Result<Values> {
    let mut inputs = inputs.into_iter();
    let contents = &interpreter.cells[cell(next(&mut inputs)?)?];
    let operands = tensors(inputs.collect())?;
    let part = Part::new(contents, indices, &operands, Bounds::Clamp)?;
    Ok(values([read_part(contents, &part)?]))
}

/// Writes, and gives the old value.
pub(super) fn swap(
    interpreter: &mut Interpreter,
    indices: &RefIndices,
    inputs: Values,
) -> Result<Values> {
    let (cell, value, operands) = write_operands(inputs)?;
    let contents = &mut interpreter.cells[cell];
    let part = Part::new(contents, indices, &operands, Bounds::Clamp)?;
    let old = read_part(contents, &part)?;
    let part = Part::new(contents, indices, &operands, Bounds::Drop)?;
    write_part(contents, &part, &value, Combine::Replace)?;
    Ok(values([old]))
}

/// Adds.
pub(super) fn add(
    interpreter: &mut Interpreter,
    indices: &RefIndices,
    inputs: Values,
) -> Result<Values> {
    let (cell, value, operands) = write_operands(inputs)?;
    let contents = &mut interpreter.cells[cell];
    let part = Part::new(contents, indices, &operands, Bounds::Drop)?;
    write_part(contents, &part, &value, Combine::Add)?;
    Ok(Values::new())
}

/// The final value.
pub(super) fn freeze(interpreter: &mut Interpreter, inputs: Values) -> Result<Values> {
    let cell = cell(next(&mut inputs.into_iter())?)?;
    Ok(values([interpreter.cells[cell].clone()]))
}

/// The cell that is written to, what is written, and the indices.
fn write_operands(inputs: Values) -> Result<(usize, Tensor, Vec<Tensor>)> {
    let mut inputs = inputs.into_iter();
    let (cell, value) = (cell(next(&mut inputs)?)?, next(&mut inputs)?.tensor()?);
    Ok((cell, value, tensors(inputs.collect())?))
}

fn next(inputs: &mut impl Iterator<Item = Value>) -> Result<Value> {
    let missing = || Error::new(ErrorKind::Arity, "an operand is missing");
    inputs.next().ok_or_else(missing)
}

/// Runs a body on new cells and gives their final values.
pub(super) fn run_state(
    interpreter: &mut Interpreter,
    params: &RunState,
    inputs: Values,
) -> Result<Values> {
    let before = interpreter.cells.len();
    let avals = params.jaxpr.in_avals();
    if avals.len() != params.is_initialized.len() {
        return Err(Error::parameter("is_initialized does not fit the body"));
    }
    let mut inputs = inputs.into_iter();
    let mut args = Values::new();
    for (aval, &initialized) in avals.iter().zip(&params.is_initialized) {
        let value = if initialized {
            next(&mut inputs)?.tensor()?
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
    /// Where its elements are in the cell, in row-major order; `None` outside.
    positions: Vec<Option<usize>>,
}

/// What an array of indices names where it is out of range. Negative indices count from the end first; scalars are
/// always moved into range.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bounds {
    /// The nearest element: reads.
    Clamp,
    /// Nothing: writes.
    Drop,
}

/// Counts a negative index from the end of an axis.
fn from_end(index: i128, length: usize) -> i128 {
    if index < 0 {
        index + length as i128
    } else {
        index
    }
}

impl Part {
    /// The part of `contents` that indexers name, one after another, with `operands` as their computed indices.
    fn new(
        contents: &Tensor,
        indices: &RefIndices,
        operands: &[Tensor],
        bounds: Bounds,
    ) -> Result<Self> {
        let mut part = Part {
            shape: Shape::from_slice(contents.shape()),
            positions: (0..contents.len()).map(Some).collect(),
        };
        let mut operands = operands.iter();
        for indexer in indices {
            part = part.indexed(indexer, &mut operands, bounds)?;
        }
        Ok(part)
    }

    /// The part of this part that one indexer names.
    fn indexed<'a>(
        &self,
        indexer: &RefIndexer,
        operands: &mut impl Iterator<Item = &'a Tensor>,
        bounds: Bounds,
    ) -> Result<Self> {
        let missing = || Error::new(ErrorKind::Arity, "an index is missing");
        if indexer.len() > self.shape.len() {
            return Err(Error::shape(format!(
                "{} indices are given for shape {:?}",
                indexer.len(),
                self.shape.as_slice()
            )));
        }
        let dynamic = indexer
            .iter()
            .filter(|index| !matches!(index, RefIndex::Slice { .. }))
            .count();
        let operands: Vec<&Tensor> = operands.by_ref().take(dynamic).collect();
        let avals: Vec<Aval> = operands.iter().map(|operand| operand.aval()).collect();
        // Axes that are not indexed are taken whole.
        let whole = |&size: &usize| RefIndex::Slice {
            start: 0,
            size,
            stride: 1,
        };
        let indexer: RefIndexer = indexer
            .iter()
            .copied()
            .chain(self.shape[indexer.len()..].iter().map(whole))
            .collect();
        let shape = indexed_shape(&self.shape, &indexer, &avals);

        // Runs make an offset for each of the result's axes, index operands one for each of their elements.
        let mut runs = Layout {
            start: 0,
            strides: Strides::new(),
        };
        let mut offsets: Option<(Shape, Vec<Option<usize>>)> = None;
        let mut operands = operands.into_iter();
        let axes = indexer.iter().zip(&self.shape).zip(row_major(&self.shape));
        for ((index, &length), step) in axes {
            let (start, size, stride) = match *index {
                RefIndex::Slice {
                    start,
                    size,
                    stride,
                } => (start, size, stride),
                RefIndex::DynamicSlice { size, stride } => {
                    let start = integers(operands.next().ok_or_else(missing)?)?
                        .next()
                        .ok_or_else(missing)?;
                    let last = length.saturating_sub(span(size, stride));
                    let start = from_end(start, length).clamp(0, last as i128);
                    (start as usize, size, stride)
                }
                RefIndex::Operand => {
                    let operand = operands.next().ok_or_else(missing)?;
                    if length == 0 {
                        return Err(Error::shape(format!(
                            "shape {:?} has nothing to index",
                            self.shape.as_slice()
                        )));
                    }
                    let (axes, sums) = offsets.get_or_insert_with(|| {
                        (operand.shape().into(), vec![Some(0); operand.len()])
                    });
                    if axes.as_slice() != operand.shape() {
                        return Err(Error::shape("index operands have different shapes"));
                    }
                    let drop = bounds == Bounds::Drop && !operand.shape().is_empty();
                    for (sum, index) in sums.iter_mut().zip(integers(operand)?) {
                        let index = from_end(index, length);
                        let inside = index.clamp(0, length as i128 - 1);
                        *sum = sum
                            .filter(|_| !drop || index == inside)
                            .map(|sum| sum + inside as usize * step as usize);
                    }
                    continue;
                }
            };
            if start.saturating_add(span(size, stride)) > length {
                return Err(Error::shape(format!(
                    "{size} elements from {start} leave an axis of length {length}"
                )));
            }
            runs.start += start as isize * step;
            runs.strides.push(stride as isize * step);
        }

        let mut among = Layout {
            start: 0,
            strides: SmallVec::from_elem(0, runs.strides.len()),
        };
        let (axes, offsets) = offsets.unwrap_or_else(|| (Shape::new(), vec![Some(0)]));
        let place = place_of_operands(&indexer);
        runs.strides.insert_many(place, axes.iter().map(|_| 0));
        among.strides.insert_many(place, row_major(&axes));
        let positions = runs.positions(&shape).zip(among.positions(&shape));
        Ok(Part {
            positions: positions
                .map(|(run, which)| offsets[which].and_then(|offset| self.positions[run + offset]))
                .collect(),
            shape,
        })
    }
}

/// Which of the result's axes the first one of the index operands is.
fn place_of_operands(indexer: &RefIndexer) -> usize {
    let is_operand = |index: &RefIndex| *index == RefIndex::Operand;
    let first = indexer.iter().position(is_operand).unwrap_or(0);
    let last = indexer.iter().rposition(is_operand).unwrap_or(0);
    let together = indexer
        .iter()
        .skip(first)
        .take(last + 1 - first)
        .all(is_operand);
    if together { first } else { 0 }
}

/// How far a run of `size` elements reaches.
fn span(size: usize, stride: usize) -> usize {
    size.checked_sub(1)
        .map_or(0, |steps| steps.saturating_mul(stride).saturating_add(1))
}

/// The elements of a part.
fn read_part(cell: &Tensor, part: &Part) -> Result<Tensor> {
    let size = cell.dtype().size();
    build(&part.shape, cell.dtype(), |bytes| {
        let elements = bytes.chunks_exact_mut(size.max(1)).zip(&part.positions);
        for (element, position) in
            elements.filter_map(|(element, position)| Some((element, (*position)?)))
        {
            element.copy_from_slice(&cell.bytes()[position * size..(position + 1) * size]);
        }
        Ok(())
    })
}

/// Combines `value` into a part of a cell.
fn write_part(cell: &mut Tensor, part: &Part, value: &Tensor, combine: Combine) -> Result<()> {
    if value.dtype() != cell.dtype() || value.shape() != part.shape.as_slice() {
        return Err(Error::shape(format!(
            "{} cannot be written to a part of shape {:?} of {}",
            value.aval(),
            part.shape.as_slice(),
            cell.aval()
        )));
    }
    let pairs = part.positions.iter().zip(0..);
    let pairs: Vec<(usize, usize)> = pairs
        .filter_map(|(position, source)| Some(((*position)?, source)))
        .collect();
    // Taken out meanwhile, so that nothing else holds it and it changes in place.
    let contents = std::mem::replace(cell, Tensor::bool(false));
    *cell = combine_pairs(contents, value, &pairs, combine)?;
    Ok(())
}
