//! Mutable references: while the graph is built, each stands for its current contents.

use super::super::{MapOp, Op, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{RefIndex, RefIndices, RunState};
use jaxide_core::{Aval, DType, Dims, Error, ErrorKind, Result};
use smallvec::smallvec;

impl Build {
    fn new_cell(&mut self, value: ValueId) -> Binding {
        self.cells.push(value);
        Binding::Cell(self.cells.len() - 1)
    }

    fn cell(&self, binding: Binding) -> Result<usize> {
        match binding {
            Binding::Cell(cell) => Ok(cell),
            Binding::Value(_) => Err(Error::dtype("a reference is expected")),
        }
    }

    pub(super) fn new_ref(&mut self, app: &Application<'_>) -> Result<Bindings> {
        let value = self.value(app.args[0])?;
        Ok(smallvec![self.new_cell(value)])
    }

    pub(super) fn ref_get(
        &mut self,
        indices: &RefIndices,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let cell = self.cell(app.args[0])?;
        let (_, window) = self.read_chain(indices, self.cells[cell], &app.args[1..])?;
        Ok(self.scope.reshape(window, app.shape()))
    }

    /// Writes and gives the old value.
    pub(super) fn ref_swap(
        &mut self,
        indices: &RefIndices,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let cell = self.cell(app.args[0])?;
        let new = self.value(app.args[1])?;
        let (chain, old) = self.read_chain(indices, self.cells[cell], &app.args[2..])?;
        self.cells[cell] = self.write_chain(&chain, new)?;
        Ok(self.scope.reshape(old, app.shape()))
    }

    pub(super) fn ref_add(
        &mut self,
        indices: &RefIndices,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let cell = self.cell(app.args[0])?;
        let addend = self.value(app.args[1])?;
        let (chain, old) = self.read_chain(indices, self.cells[cell], &app.args[2..])?;
        let (dtype, shape) = (self.scope.dtype(old), self.scope.shape(old));
        let addend = self.scope.reshape(addend, &shape);
        let sum = self.map(MapOp::Add, &[old, addend], dtype);
        self.cells[cell] = self.write_chain(&chain, sum)?;
        Ok(Bindings::new())
    }

    /// Applies indexers one after the other; gives each array with the place read in it, and what the last one gives.
    fn read_chain(
        &mut self,
        indices: &RefIndices,
        x: ValueId,
        operands: &[Binding],
    ) -> Result<(Vec<(ValueId, Place)>, ValueId)> {
        let mut operands = operands.iter();
        let mut chain = Vec::new();
        let mut current = x;
        for indexer in indices {
            let place = self.place(indexer, current, &mut operands)?;
            let window = self.read(current, &place)?;
            chain.push((current, place));
            let place = &chain[chain.len() - 1].1;
            let shape = place.shape();
            current = self.scope.reshape(window, &shape);
        }
        if chain.is_empty() {
            let shape = self.scope.shape(x);
            chain.push((x, self.place(&[], x, &mut [].iter())?));
            current = self.scope.reshape(x, &shape);
        }
        Ok((chain, current))
    }

    /// The outermost array with the innermost window replaced.
    fn write_chain(&mut self, chain: &[(ValueId, Place)], new: ValueId) -> Result<ValueId> {
        chain
            .iter()
            .rev()
            .try_fold(new, |update, (x, place)| self.write(*x, update, place))
    }

    pub(super) fn run_state(
        &mut self,
        params: &RunState,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let mut operands = app.args.iter();
        let mut cells = Vec::new();
        for (aval, &initialized) in params.jaxpr.in_avals().iter().zip(&params.is_initialized) {
            let value = match operands.next() {
                Some(&operand) if initialized => self.value(operand)?,
                _ => self.zeros(&Aval::new(aval.dtype, &aval.shape))?,
            };
            cells.push(self.new_cell(value));
        }
        self.call(&params.jaxpr, &cells)?;
        cells
            .into_iter()
            .map(|cell| self.value(cell).map(Binding::Value))
            .collect()
    }

    fn place<'a>(
        &mut self,
        indexer: &[RefIndex],
        x: ValueId,
        operands: &mut impl Iterator<Item = &'a Binding>,
    ) -> Result<Place> {
        let shape = self.scope.shape(x);
        let mut place = Place {
            starts: Vec::new(),
            sizes: shape.clone(),
            strides: smallvec![1; shape.len()],
            kept: (0..shape.len()).collect(),
        };
        for axis in 0..shape.len() {
            let index = indexer.get(axis).copied().unwrap_or(RefIndex::Slice {
                start: 0,
                size: shape[axis],
                stride: 1,
            });
            let start = match index {
                RefIndex::Slice {
                    start,
                    size,
                    stride,
                } => {
                    place.sizes[axis] = size;
                    place.strides[axis] = stride;
                    self.scope.int(start as i64, DType::I32, &[])?
                }
                RefIndex::DynamicSlice { size, stride } => {
                    place.sizes[axis] = size;
                    place.strides[axis] = stride;
                    self.index_operand(operands)?
                }
                RefIndex::Operand => {
                    place.sizes[axis] = 1;
                    place.kept.retain(|kept| *kept != axis);
                    self.index_operand(operands)?
                }
            };
            place.starts.push(start);
        }
        Ok(place)
    }

    fn index_operand<'a>(
        &mut self,
        operands: &mut impl Iterator<Item = &'a Binding>,
    ) -> Result<ValueId> {
        let operand = operands
            .next()
            .ok_or_else(|| Error::new(ErrorKind::Arity, "an index is missing"))?;
        let operand = self.value(*operand)?;
        if !self.scope.shape(operand).is_empty() {
            return Err(Error::unsupported("a reference indexed by an array"));
        }
        Ok(operand)
    }

    fn read(&mut self, x: ValueId, place: &Place) -> Result<ValueId> {
        if place.is_strided() {
            let start = place.static_start(self)?;
            return Ok(self.scope.slice(x, &start, &place.sizes, &place.strides));
        }
        self.dynamic_slice_of(x, &place.starts, &place.sizes)
    }

    fn write(&mut self, x: ValueId, update: ValueId, place: &Place) -> Result<ValueId> {
        let update = self.scope.reshape(update, &place.sizes);
        if !place.is_strided() {
            return self.dynamic_update_of(x, update, &place.starts);
        }
        // The update spread over the whole array, and a mask of where it lies.
        let start = place.static_start(self)?;
        let (shape, dtype) = (self.scope.shape(x), self.scope.dtype(x));
        let op = Op::Pad {
            low: start.iter().map(|&start| start as i64).collect(),
            interior: place
                .strides
                .iter()
                .map(|&stride| stride as i64 - 1)
                .collect(),
        };
        let nothing = self.zeros(&Aval::scalar(dtype))?;
        let spread = self
            .scope
            .one(op.clone(), &[update, nothing], dtype, &shape);
        let (yes, no) = (
            self.scope.int(1, DType::Bool, &place.sizes)?,
            self.scope.int(0, DType::Bool, &[])?,
        );
        let mask = self.scope.one(op, &[yes, no], DType::Bool, &shape);
        Ok(self.map(MapOp::Select, &[mask, x, spread], dtype))
    }
}

/// A box of a reference's array.
struct Place {
    starts: Vec<ValueId>,
    sizes: Dims,
    strides: Dims,
    /// Axes that do not disappear.
    kept: Dims,
}

impl Place {
    /// The shape of what is read.
    fn shape(&self) -> Dims {
        self.kept.iter().map(|&axis| self.sizes[axis]).collect()
    }

    fn is_strided(&self) -> bool {
        self.strides
            .iter()
            .zip(&self.sizes)
            .any(|(&stride, &size)| stride != 1 && size > 1)
    }

    fn static_start(&self, build: &Build) -> Result<Dims> {
        self.starts
            .iter()
            .map(|&start| {
                let known = build.scope.graph.int_elements(start);
                known.map(|known| known[0] as usize).ok_or_else(|| {
                    Error::unsupported("a reference indexed by steps and a run-time index together")
                })
            })
            .collect()
    }
}
