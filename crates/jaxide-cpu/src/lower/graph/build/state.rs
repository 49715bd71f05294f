//! Mutable references: while the graph is built, each stands for its current contents.

use super::super::{Combine, GatherSpec, MapOp, OobMode, Op, ScatterSpec, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{RefIndex, RefIndexer, RefIndices, RunState};
use jaxide_core::{Aval, DType, Dims, Error, ErrorKind, Result, Scalar, element_count};
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
        if self.names_elements(&app.args[1..])? {
            let contents = self.cells[cell];
            let places = self.places(indices, contents, &app.args[1..], OobMode::Clip)?;
            return self.read_at(contents, places);
        }
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
        if self.names_elements(&app.args[2..])? {
            let contents = self.cells[cell];
            let places = self.places(indices, contents, &app.args[2..], OobMode::Clip)?;
            let old = self.read_at(contents, places)?;
            let places = self.places(indices, contents, &app.args[2..], OobMode::Fill)?;
            self.cells[cell] = self.write_at(contents, places, new, Combine::Replace)?;
            return Ok(old);
        }
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
        if self.names_elements(&app.args[2..])? {
            let contents = self.cells[cell];
            let places = self.places(indices, contents, &app.args[2..], OobMode::Fill)?;
            self.cells[cell] = self.write_at(contents, places, addend, Combine::Add)?;
            return Ok(Bindings::new());
        }
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

    /// Whether an index operand is an array: it names elements one by one rather than a box.
    fn names_elements(&self, operands: &[Binding]) -> Result<bool> {
        let operands = self.values(operands)?;
        Ok(operands
            .iter()
            .any(|&operand| !self.scope.shape(operand).is_empty()))
    }

    /// Where in `x`, as a row, the elements lie that indexers name.
    ///
    /// Indices of arrays that are out of range name the nearest element ([`OobMode::Clip`]) or the place behind the last.
    fn places(
        &mut self,
        indices: &RefIndices,
        x: ValueId,
        operands: &[Binding],
        mode: OobMode,
    ) -> Result<ValueId> {
        let shape = self.scope.shape(x);
        let count = element_count(&shape)?;
        let places = self.scope.iota(DType::I64, &[count], 0);
        let mut places = self.scope.reshape(places, &shape);
        let mut operands = operands.iter();
        for indexer in indices {
            places = self.places_in(indexer, places, count, &mut operands, mode)?;
        }
        Ok(places)
    }

    /// One indexer applied to an array of places among `count`.
    fn places_in<'a>(
        &mut self,
        indexer: &[RefIndex],
        places: ValueId,
        count: usize,
        operands: &mut impl Iterator<Item = &'a Binding>,
        mode: OobMode,
    ) -> Result<ValueId> {
        let shape = self.scope.shape(places);
        // The runs first, with the axes that operands index taken whole; then those.
        let (mut runs, mut run_operands) = (RefIndexer::new(), Vec::new());
        let (mut named, mut components) = (Dims::new(), Vec::new());
        for (axis, &length) in shape.iter().enumerate() {
            let whole = RefIndex::Slice {
                start: 0,
                size: length,
                stride: 1,
            };
            let index = indexer.get(axis).copied().unwrap_or(whole);
            match index {
                RefIndex::Slice { .. } => runs.push(index),
                RefIndex::DynamicSlice { .. } => {
                    runs.push(index);
                    run_operands.extend(operands.next().copied());
                }
                RefIndex::Operand => {
                    runs.push(whole);
                    let operand = operands.next().ok_or_else(missing_index)?;
                    let operand = self.value(*operand)?;
                    if let Some(&other) = components.first()
                        && self.scope.shape(other) != self.scope.shape(operand)
                    {
                        return Err(Error::shape("index operands have different shapes"));
                    }
                    named.push(axis);
                    components.push(self.counted_from_end(operand, length)?);
                }
            }
        }
        let place = self.place(&runs, places, &mut run_operands.iter())?;
        let places = self.read(places, &place)?;
        let Some(&first) = components.first() else {
            return Ok(places);
        };
        let sizes = self.scope.shape(places);
        let axes = self.scope.shape(first);
        let mut column = axes.clone();
        column.push(1);
        let columns: Vec<ValueId> = components
            .into_iter()
            .map(|component| {
                let component = self.scope.convert(component, DType::I64);
                self.scope.reshape(component, &column)
            })
            .collect();
        let index = self.scope.concat(&columns, axes.len());
        // The operands' axes stand where the first of them is, or in front where a run is between them.
        let together = named.windows(2).all(|pair| pair[1] == pair[0] + 1);
        let front = if together { named[0] } else { 0 };
        let kept = sizes.len() - named.len();
        let offset_dims = (0..front)
            .chain(front + axes.len()..kept + axes.len())
            .collect();
        let mut slice_sizes = sizes.clone();
        let mut result: Dims = Dims::new();
        for (axis, &size) in sizes.iter().enumerate() {
            if named.contains(&axis) {
                slice_sizes[axis] = 1;
            } else {
                result.push(size);
            }
        }
        result.insert_many(front, axes.iter().copied());
        // Scalars are moved into range.
        let mode = if axes.is_empty() { OobMode::Clip } else { mode };
        let spec = GatherSpec {
            offset_dims,
            collapsed: named.clone(),
            start_index_map: named,
            operand_batching: Dims::new(),
            indices_batching: Dims::new(),
            slice_sizes,
            mode,
            fill: Scalar::Int(count as i64).to_bytes(DType::I64)?,
        };
        if result.contains(&0) {
            return self.zeros(&Aval::new(DType::I64, &result));
        }
        Ok(self.scope.one(
            Op::Gather(Box::new(spec)),
            &[places, index],
            DType::I64,
            &result,
        ))
    }

    /// The elements of `x` at places.
    fn read_at(&mut self, x: ValueId, places: ValueId) -> Result<ValueId> {
        let (shape, dtype) = (self.scope.shape(places), self.scope.dtype(x));
        if shape.contains(&0) {
            return self.zeros(&Aval::new(dtype, &shape));
        }
        let (row, index) = self.row_and_index(x, places)?;
        let spec = GatherSpec {
            offset_dims: Dims::new(),
            collapsed: smallvec![0],
            start_index_map: smallvec![0],
            operand_batching: Dims::new(),
            indices_batching: Dims::new(),
            slice_sizes: smallvec![1],
            mode: OobMode::Clip,
            fill: smallvec![0; dtype.size()],
        };
        Ok(self
            .scope
            .one(Op::Gather(Box::new(spec)), &[row, index], dtype, &shape))
    }

    /// `x` with `updates` combined into the elements at places; those behind the last are left out.
    fn write_at(
        &mut self,
        x: ValueId,
        places: ValueId,
        updates: ValueId,
        combine: Combine,
    ) -> Result<ValueId> {
        let (shape, dtype) = (self.scope.shape(x), self.scope.dtype(x));
        if self.scope.shape(places).contains(&0) || shape.contains(&0) {
            return Ok(x);
        }
        let (row, index) = self.row_and_index(x, places)?;
        let spec = ScatterSpec {
            update_window: Dims::new(),
            inserted: smallvec![0],
            scatter_dims: smallvec![0],
            operand_batching: Dims::new(),
            indices_batching: Dims::new(),
            mode: OobMode::Fill,
            combine,
            apply: None,
        };
        let row_shape = self.scope.shape(row);
        let row = self.scope.one(
            Op::Scatter(Box::new(spec)),
            &[row, index, updates],
            dtype,
            &row_shape,
        );
        Ok(self.scope.reshape(row, &shape))
    }

    /// All elements in a row, and places as index vectors of length 1.
    fn row_and_index(&mut self, x: ValueId, places: ValueId) -> Result<(ValueId, ValueId)> {
        let count = element_count(&self.scope.shape(x))?;
        let mut shape = self.scope.shape(places);
        shape.push(1);
        let row = self.scope.reshape(x, &[count]);
        Ok((row, self.scope.reshape(places, &shape)))
    }

    /// An index with negative numbers counted from the end of an axis.
    fn counted_from_end(&mut self, index: ValueId, length: usize) -> Result<ValueId> {
        let (dtype, shape) = (self.scope.dtype(index), self.scope.shape(index));
        let known = self.scope.graph.int_elements(index);
        let positive = |known: Vec<i64>| known.iter().all(|&known| known >= 0);
        if !dtype.is_signed_integer() || known.is_some_and(positive) {
            return Ok(index);
        }
        let wide = self.scope.convert(index, DType::I64);
        let (zero, length) = (
            self.scope.int(0, DType::I64, &[])?,
            self.scope.int(length as i64, DType::I64, &[])?,
        );
        let negative = self.map(MapOp::Lt, &[wide, zero], DType::Bool);
        let shifted = self.map(MapOp::Add, &[wide, length], DType::I64);
        let counted = self.map(MapOp::Select, &[negative, wide, shifted], DType::I64);
        Ok(self.scope.broadcast_scalar(counted, &shape))
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
                    let start = self.index_operand(operands)?;
                    self.counted_from_end(start, shape[axis])?
                }
                RefIndex::Operand => {
                    place.sizes[axis] = 1;
                    place.kept.retain(|kept| *kept != axis);
                    let start = self.index_operand(operands)?;
                    self.counted_from_end(start, shape[axis])?
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
        let operand = operands.next().ok_or_else(missing_index)?;
        self.value(*operand)
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

fn missing_index() -> Error {
    Error::new(ErrorKind::Arity, "an index is missing")
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
                let known = known.and_then(|known| usize::try_from(known[0]).ok());
                known.ok_or_else(|| {
                    Error::unsupported("a reference indexed by steps and a run-time index together")
                })
            })
            .collect()
    }
}
