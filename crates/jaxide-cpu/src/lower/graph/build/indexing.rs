//! Reads and writes at indices that are only known at run time.

use super::super::{
    Bytes, Combine, GatherSpec, MapOp, OobMode, Op, Region, ScatterSpec, ValueId, read_int,
};
use super::{Application, Build};
use crate::narrow;
use jaxide_core::prims::{Gather, GatherScatterMode, ScatterDimensionNumbers};
use jaxide_core::{DType, Dims, Error, Result, Scalar, element_count};
use smallvec::smallvec;

fn oob_mode(mode: GatherScatterMode) -> Result<OobMode> {
    Ok(match mode {
        GatherScatterMode::Clip => OobMode::Clip,
        GatherScatterMode::FillOrDrop => OobMode::Fill,
        GatherScatterMode::PromiseInBounds => OobMode::InBounds,
        GatherScatterMode::OneHot => {
            return Err(Error::unsupported("the one-hot mode of indexing"));
        }
    })
}

/// What FILL_OR_DROP reads outside when no value is given.
fn default_fill(dtype: DType) -> Result<Bytes> {
    let scalar = if dtype == DType::Bool {
        Scalar::Bool(true)
    } else if dtype.is_unsigned_integer() {
        Scalar::UInt(u64::MAX >> (64 - dtype.bits()))
    } else if dtype.is_signed_integer() {
        Scalar::Int(i64::MIN >> (64 - dtype.bits()))
    } else if dtype.is_complex() {
        Scalar::Complex(f64::NAN, 0.0)
    } else if dtype.is_float() {
        Scalar::Float(f64::NAN)
    } else {
        return Ok(smallvec![0xff; dtype.size()]);
    };
    scalar.to_bytes(dtype)
}

/// So many indices of a gather are looked at.
const MOST_KNOWN: usize = 1 << 12;
/// In so many runs they are slices.
const MOST_RUNS: usize = 2;

/// Integers in equal steps.
struct Run {
    first: i64,
    step: i64,
    count: usize,
}

impl Run {
    /// The runs of which a list consists, if they are at most so many.
    fn all(list: &[i64], most: usize) -> Option<Vec<Run>> {
        let mut runs: Vec<Run> = Vec::new();
        for &next in list {
            let full = runs.len() == most;
            match runs.last_mut() {
                Some(run) if run.count == 1 => (run.step, run.count) = (next - run.first, 2),
                Some(run) if next == run.first + run.step * run.count as i64 => run.count += 1,
                _ if full => return None,
                _ => runs.push(Run {
                    first: next,
                    step: 0,
                    count: 1,
                }),
            }
        }
        Some(runs)
    }
}

impl Build {
    pub(super) fn dynamic_slice(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let args = self.values(app.args)?;
        self.dynamic_slice_of(args[0], &args[1..], app.shape())
    }

    pub(super) fn dynamic_slice_of(
        &mut self,
        x: ValueId,
        starts: &[ValueId],
        sizes: &[usize],
    ) -> Result<ValueId> {
        let shape = self.scope.shape(x);
        let dtype = self.scope.dtype(x);
        if shape.as_slice() == sizes {
            return Ok(x);
        }
        let starts = &self.starts_with_sign(starts)?;
        if let Some(start) = self.static_starts(starts, &shape, sizes) {
            let ones: Dims = smallvec![1; shape.len()];
            return Ok(self.scope.slice(x, &start, sizes, &ones));
        }
        let mut args = vec![x];
        args.extend_from_slice(starts);
        Ok(self.scope.one(Op::DynamicSlice, &args, dtype, sizes))
    }

    pub(super) fn dynamic_update_slice(&mut self, app: &Application<'_>) -> Result<ValueId> {
        let args = self.values(app.args)?;
        self.dynamic_update_of(args[0], args[1], &args[2..])
    }

    pub(super) fn dynamic_update_of(
        &mut self,
        x: ValueId,
        update: ValueId,
        starts: &[ValueId],
    ) -> Result<ValueId> {
        let shape = self.scope.shape(x);
        let sizes = self.scope.shape(update);
        if shape == sizes {
            return Ok(update);
        }
        if sizes.contains(&0) {
            return Ok(x);
        }
        let dtype = self.scope.dtype(x);
        let starts = &self.starts_with_sign(starts)?;
        let mut args = vec![x, update];
        match self.static_starts(starts, &shape, &sizes) {
            Some(start) => args.extend(self.known_starts(&start)?),
            None => args.extend_from_slice(starts),
        }
        Ok(self.scope.one(Op::DynamicUpdate, &args, dtype, &shape))
    }

    /// Starts as values, of 32 bits where all of them fit.
    fn known_starts(&mut self, starts: &[usize]) -> Result<Vec<ValueId>> {
        let fits = |&start: &usize| i32::try_from(start).is_ok();
        let dtype = if starts.iter().all(fits) {
            DType::I32
        } else {
            DType::I64
        };
        (starts.iter())
            .map(|&start| self.scope.int(narrow(start), dtype, &[]))
            .collect()
    }

    /// Indices that are one constant beyond all numbers with a sign, as the largest of these: both are behind the end of every axis.
    fn with_sign(&mut self, indices: ValueId) -> Result<ValueId> {
        let graph = &self.scope.graph;
        let dtype = graph.dtype(indices);
        let beyond = graph
            .splat(indices)
            .is_some_and(|bytes| dtype == DType::U64 && read_int(dtype, bytes).is_none());
        if !beyond {
            return Ok(indices);
        }
        let shape = self.scope.shape(indices);
        self.scope.int(i64::MAX, DType::I64, &shape)
    }

    /// The same of each of some starts.
    fn starts_with_sign(&mut self, starts: &[ValueId]) -> Result<Vec<ValueId>> {
        let starts = starts.iter();
        starts.map(|&start| self.with_sign(start)).collect()
    }

    /// Clamped starts, where all are known.
    fn static_starts(&self, starts: &[ValueId], shape: &[usize], sizes: &[usize]) -> Option<Dims> {
        starts
            .iter()
            .enumerate()
            .map(|(axis, &start)| {
                let most = (shape[axis] - sizes[axis]) as i64;
                if most == 0 {
                    return Some(0);
                }
                let known = self.scope.graph.int_elements(start)?;
                Some(narrow(known[0].clamp(0, most)))
            })
            .collect()
    }

    pub(super) fn gather(&mut self, params: &Gather, app: &Application<'_>) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let (x, indices) = (args[0], self.with_sign(args[1])?);
        let dtype = self.scope.dtype(x);
        let numbers = &params.dimension_numbers;
        let fill = match params.fill_value {
            Some(value) => value.to_bytes(dtype)?,
            None => default_fill(dtype)?,
        };
        let spec = GatherSpec {
            offset_dims: numbers.offset_dims.clone(),
            collapsed: numbers.collapsed_slice_dims.clone(),
            start_index_map: numbers.start_index_map.clone(),
            operand_batching: numbers.operand_batching_dims.clone(),
            indices_batching: numbers.start_indices_batching_dims.clone(),
            slice_sizes: params.slice_sizes.clone(),
            mode: oob_mode(params.mode)?,
            fill,
        };
        if app.shape().contains(&0) {
            return self.zeros(&app.results[0]);
        }
        let index_shape = self.scope.shape(indices);
        let single = index_shape[..index_shape.len() - 1].iter().all(|&n| n == 1)
            && spec.operand_batching.is_empty();
        if single {
            return self.single_gather(&spec, x, indices, app);
        }
        if let Some(result) = self.static_gather(&spec, x, indices, app.shape()) {
            return Ok(result);
        }
        Ok(self.scope.one(
            Op::Gather(Box::new(spec)),
            &[x, indices],
            dtype,
            app.shape(),
        ))
    }

    /// Places along an axis that are known and follow each other in a few runs: slices side by side, which can be computed where they are read.
    fn static_gather(
        &mut self,
        spec: &GatherSpec,
        x: ValueId,
        indices: ValueId,
        result: &[usize],
    ) -> Option<ValueId> {
        let (&[axis], &[collapsed]) = (&spec.start_index_map[..], &spec.collapsed[..]) else {
            return None;
        };
        let &[count, 1] = &self.scope.shape(indices)[..] else {
            return None;
        };
        let shape = self.scope.shape(x);
        let mut sizes = shape.clone();
        sizes[axis] = 1;
        let behind = (0..shape.len()).filter(|&other| other != axis);
        let in_place = spec.operand_batching.is_empty()
            && collapsed == axis
            && spec.slice_sizes == sizes
            && behind.eq(spec.offset_dims.iter().copied());
        if !in_place || shape[axis] == 0 || result[axis] != count {
            return None;
        }
        let most = shape[axis] as i64 - 1;
        let mut places = self.scope.graph.int_elements_of(indices, MOST_KNOWN)?;
        if spec.mode == OobMode::Clip {
            places
                .iter_mut()
                .for_each(|place| *place = (*place).clamp(0, most));
        } else if places.iter().any(|place| !(0..=most).contains(place)) {
            return None;
        }
        let runs = Run::all(&places, MOST_RUNS)?;
        let dtype = self.scope.dtype(x);
        let pieces = runs.into_iter().map(|run| {
            let (mut start, mut stride): (Dims, Dims) =
                (smallvec![0; shape.len()], smallvec![1; shape.len()]);
            let (mut slice, mut piece) = (shape.clone(), shape.clone());
            piece[axis] = run.count;
            slice[axis] = if run.step == 0 { 1 } else { run.count };
            let last = run.first + run.step * (run.count as i64 - 1);
            start[axis] = narrow(run.first.min(last));
            stride[axis] = narrow(run.step.abs().max(1));
            let part = self.scope.slice(x, &start, &slice, &stride);
            match run.step {
                0 if run.count > 1 => {
                    let axes: Dims = (0..shape.len()).collect();
                    self.scope.broadcast(part, &piece, &axes)
                }
                ..0 => {
                    let op = Op::Rev {
                        axes: smallvec![axis],
                    };
                    self.scope.one(op, &[part], dtype, &piece)
                }
                0.. => part,
            }
        });
        let pieces: Vec<ValueId> = pieces.collect();
        Some(self.scope.concat(&pieces, axis))
    }

    /// One window: a dynamic slice.
    fn single_gather(
        &mut self,
        spec: &GatherSpec,
        x: ValueId,
        indices: ValueId,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let shape = self.scope.shape(x);
        let count = spec.start_index_map.len();
        let index_type = self.scope.dtype(indices);
        let vector = self.scope.reshape(indices, &[count]);
        let zero = self.scope.int(0, index_type, &[])?;
        let mut starts: Vec<ValueId> = vec![zero; shape.len()];
        let mut inside: Option<ValueId> = None;
        for (component, &axis) in spec.start_index_map.iter().enumerate() {
            let start = self.scope.slice(vector, &[component], &[1], &[1]);
            let start = self.scope.reshape(start, &[]);
            starts[axis] = start;
            if spec.mode == OobMode::Fill {
                let known = self.scope.graph.int_elements(start);
                let most = shape[axis] as i64 - spec.slice_sizes[axis] as i64;
                if known.is_some_and(|known| (0..=most).contains(&known[0])) {
                    continue;
                }
                let wide = self.scope.convert(start, DType::I64);
                let (low, high) = (
                    self.scope.int(0, DType::I64, &[])?,
                    self.scope.int(most, DType::I64, &[])?,
                );
                let above = self.map(MapOp::Ge, &[wide, low], DType::Bool);
                let below = self.map(MapOp::Le, &[wide, high], DType::Bool);
                let both = self.map(MapOp::And, &[above, below], DType::Bool);
                inside = Some(match inside {
                    Some(before) => self.map(MapOp::And, &[before, both], DType::Bool),
                    None => both,
                });
            }
        }
        let window = self.dynamic_slice_of(x, &starts, &spec.slice_sizes)?;
        let window = self.scope.reshape(window, app.shape());
        match inside {
            None => Ok(window),
            Some(inside) => {
                let fill = self.scope.splat_bytes(spec.fill.clone(), app.dtype(), &[]);
                let fill = self.scope.broadcast(fill, app.shape(), &[]);
                Ok(self.map(MapOp::Select, &[inside, fill, window], app.dtype()))
            }
        }
    }

    pub(super) fn scatter(
        &mut self,
        numbers: &ScatterDimensionNumbers,
        mode: GatherScatterMode,
        combine: Combine,
        apply: Option<Region>,
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let args = self.values(app.args)?;
        let (x, indices, updates) = (args[0], args[1], args[2]);
        let spec = ScatterSpec {
            update_window: numbers.update_window_dims.clone(),
            inserted: numbers.inserted_window_dims.clone(),
            scatter_dims: numbers.scatter_dims_to_operand_dims.clone(),
            operand_batching: numbers.operand_batching_dims.clone(),
            indices_batching: numbers.scatter_indices_batching_dims.clone(),
            mode: oob_mode(mode)?,
            combine,
            apply,
        };
        if self.scope.shape(updates).contains(&0) || self.scope.shape(x).contains(&0) {
            return Ok(x);
        }
        let batch_axes: Dims = (0..self.scope.shape(updates).len())
            .filter(|axis| !spec.update_window.contains(axis))
            .collect();
        let same_batching = (spec.operand_batching.iter())
            .zip(&spec.indices_batching)
            .all(|(&axis, &of_indices)| batch_axes.get(of_indices) == Some(&axis));
        if self.scope.shape(indices).contains(&0)
            && same_batching
            && self.scope.shape(updates) == self.scope.shape(x)
        {
            return self.elementwise_scatter(spec, x, updates);
        }
        if let Some(result) = self.static_scatter(&spec, x, indices, updates)? {
            return Ok(result);
        }
        Ok(self.scope.one(
            Op::Scatter(Box::new(spec)),
            &[x, indices, updates],
            app.dtype(),
            app.shape(),
        ))
    }

    /// Index vectors without components, of which XLA takes there to be one: operand and updates of one shape and with the
    /// same batched axes are combined element by element.
    fn elementwise_scatter(
        &mut self,
        spec: ScatterSpec,
        x: ValueId,
        updates: ValueId,
    ) -> Result<ValueId> {
        let (shape, dtype) = (self.scope.shape(x), self.scope.dtype(x));
        let count = element_count(&shape)?;
        let places = self.scope.iota(DType::I64, &[count], 0);
        let places = self.scope.reshape(places, &[count, 1]);
        let row = self.scope.reshape(x, &[count]);
        let updates = self.scope.reshape(updates, &[count]);
        let spec = ScatterSpec {
            update_window: Dims::new(),
            inserted: smallvec![0],
            scatter_dims: smallvec![0],
            operand_batching: Dims::new(),
            indices_batching: Dims::new(),
            mode: OobMode::InBounds,
            ..spec
        };
        let op = Op::Scatter(Box::new(spec));
        let row = self.scope.one(op, &[row, places, updates], dtype, &[count]);
        Ok(self.scope.reshape(row, &shape))
    }

    /// One window at a place that is known: an update of a box.
    fn static_scatter(
        &mut self,
        spec: &ScatterSpec,
        x: ValueId,
        indices: ValueId,
        updates: ValueId,
    ) -> Result<Option<ValueId>> {
        let (shape, index_shape) = (self.scope.shape(x), self.scope.shape(indices));
        let single = index_shape[..index_shape.len() - 1].iter().all(|&n| n == 1)
            && spec.operand_batching.is_empty();
        if !single || spec.apply.is_some() {
            return Ok(None);
        }
        let Some(known) = self.scope.graph.int_elements(indices) else {
            return Ok(None);
        };
        let update_shape = self.scope.shape(updates);
        let mut windows = spec.update_window.iter().map(|&axis| update_shape[axis]);
        let sizes: Dims = (0..shape.len())
            .map(|axis| {
                if spec.inserted.contains(&axis) {
                    1
                } else {
                    windows.next().unwrap_or(1)
                }
            })
            .collect();
        let mut start: Dims = smallvec![0; shape.len()];
        for (&axis, &index) in spec.scatter_dims.iter().zip(&known) {
            let most = shape[axis] as i64 - sizes[axis] as i64;
            if most < 0 || (spec.mode == OobMode::Fill && !(0..=most).contains(&index)) {
                return Ok((spec.mode == OobMode::Fill).then_some(x));
            }
            start[axis] = narrow(index.clamp(0, most));
        }
        let update = self.scope.reshape(updates, &sizes);
        let dtype = self.scope.dtype(x);
        let ones: Dims = smallvec![1; shape.len()];
        let update = match spec.combine.map() {
            None => update,
            Some(op) => {
                let old = self.scope.slice(x, &start, &sizes, &ones);
                self.map(op, &[old, update], dtype)
            }
        };
        let starts = self.known_starts(&start)?;
        self.dynamic_update_of(x, update, &starts).map(Some)
    }
}
