//! Axes combined away.

use super::super::reduction::neutral_bytes;
use super::super::scope::FrameKind;
use super::super::{Combine, Op, Region, Scope, ValueId};
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::{self, Reduce};
use jaxide_core::{Aval, Builder, ClosedJaxpr, DType, Dims, Error, ErrorKind, Prim, Result};
use smallvec::smallvec;

/// A last axis of up to so many elements is short.
const SHORT: usize = 64;
/// So many rows are worth a step of their own.
const MANY: usize = 16;

/// The axes that are combined away first, where others stand between them and a short last one, as in the statistics of groups of
/// channels: rows are then read as they lie in memory, and the short axis is what is left to combine.
fn outer_axes(shape: &[usize], axes: &[usize]) -> Option<Dims> {
    let last = (0..shape.len()).rfind(|&axis| shape[axis] > 1)?;
    let own = (0..=last)
        .rev()
        .take_while(|axis| axes.contains(axis) || shape[*axis] == 1);
    let first = own.last()?;
    let short: usize = shape[first..].iter().product();
    let outer: Dims = axes.iter().copied().filter(|&axis| axis < first).collect();
    let rows: usize = outer.iter().map(|&axis| shape[axis]).product();
    (short <= SHORT && rows >= MANY).then_some(outer)
}

/// The last axes, combined away in parts, since their elements are many and the results are few: one after the other they would keep one lane
/// busy. The function may be taken for associative, as JAX wants it, so that each part is combined from its first element on, and what it
/// begins with need not be neutral: it comes in once.
struct Run {
    before: Dims,
    length: usize,
}

/// Parts of a run: lanes for two threads.
const PARTS: usize = 32;
/// Elements that are worth two steps.
const LONG_RUN: usize = 1 << 10;
/// So many results are lanes enough.
const ENOUGH: usize = 16;

impl Run {
    fn of(shape: &[usize], axes: &[usize]) -> Option<Self> {
        let long = |axis: &usize| shape[*axis] > 1;
        let (gone, kept): (Dims, Dims) = (0..shape.len())
            .filter(long)
            .partition(|axis| axes.contains(axis));
        let last = kept.last() < gone.first();
        let before: Dims = kept.iter().map(|&axis| shape[axis]).collect();
        let length: usize = gone.iter().map(|&axis| shape[axis]).product();
        let few = before.iter().product::<usize>() < ENOUGH;
        (last && few && length >= LONG_RUN).then_some(Self { before, length })
    }

    /// The shape that has these axes in the place of the run.
    fn with(&self, axes: &[usize]) -> Dims {
        [&self.before, axes].concat().into()
    }
}

impl Build {
    pub(super) fn reduce(
        &mut self,
        combine: Combine,
        axes: &[usize],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        self.reduce_value(combine, x, axes, app.shape())
    }

    /// A value with axes combined away, which leaves an array of this shape.
    pub(super) fn reduce_value(
        &mut self,
        combine: Combine,
        x: ValueId,
        axes: &[usize],
        shape: &[usize],
    ) -> Result<ValueId> {
        let dtype = self.scope.dtype(x);
        if let (Combine::Max | Combine::Min, true) = (combine, dtype.is_complex()) {
            return self.complex_extremum(combine, x, axes, shape);
        }
        // Sums of floats of 16 bits and less are rounded once, at the end.
        let wide = match combine {
            Combine::Add | Combine::Mul if dtype.is_float() && dtype.bits() <= 16 => DType::F32,
            _ => dtype,
        };
        let x = self.scope.convert(x, wide);
        let sum = match outer_axes(&self.scope.shape(x), axes) {
            None => self.scope.reduce(combine, x, axes)?,
            Some(outer) => {
                let rows = self.scope.reduce(combine, x, &outer)?;
                let left = |axis: usize| axis - outer.iter().filter(|&&gone| gone < axis).count();
                let inner = axes.iter().filter(|axis| !outer.contains(axis));
                let inner: Dims = inner.map(|&axis| left(axis)).collect();
                self.scope.reduce(combine, rows, &inner)?
            }
        };
        Ok(self.scope.convert(sum, dtype))
    }

    /// The largest or smallest complex number, taken one after the other: comparisons with NaN are false, so the order counts.
    fn complex_extremum(
        &mut self,
        combine: Combine,
        x: ValueId,
        axes: &[usize],
        shape: &[usize],
    ) -> Result<ValueId> {
        let (dtype, own) = (self.scope.dtype(x), self.scope.graph.shape(x));
        if own.contains(&0) || axes.iter().all(|&axis| own[axis] == 1) {
            return self.scope.reduce(combine, x, axes);
        }
        let prim: Prim = if combine == Combine::Max {
            prims::Max.into()
        } else {
            prims::Min.into()
        };
        let b = Builder::new();
        let pair = [b.input(Aval::scalar(dtype)), b.input(Aval::scalar(dtype))];
        let larger = b.emit(prim, &pair)?;
        let Some(body) = self.scalar_region(&b.finish(&larger)?)? else {
            return Err(Error::new(ErrorKind::Internal, "a comparison is a call"));
        };
        let nothing = neutral_bytes(combine, dtype)?;
        let nothing = self.scope.splat_bytes(nothing, dtype, &[]);
        let axes = Dims::from_slice(axes);
        let op = Op::ReduceWith { axes, body };
        Ok(self.scope.one(op, &[x, nothing], dtype, shape))
    }

    pub(super) fn arg_reduce(
        &mut self,
        largest: bool,
        axes: &[usize],
        app: &Application<'_>,
    ) -> Result<ValueId> {
        let x = self.value(app.args[0])?;
        let axis = axes.first().copied().unwrap_or(0);
        let op = Op::ArgReduce { largest, axis };
        // Indices are compared before they are cut to the width asked for.
        let wide = match app.dtype() {
            narrow if narrow.bits() < 32 => DType::I32,
            own => own,
        };
        let index = self.scope.one(op, &[x], wide, app.shape());
        Ok(self.scope.convert(index, app.dtype()))
    }

    pub(super) fn reduce_with(
        &mut self,
        params: &Reduce,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let args = self.values(app.args)?;
        let shape = self.scope.shape(args[0]);
        if params.dimensions.iter().all(|&axis| shape[axis] == 1) {
            // With one element to combine the initial values, which are neutral by promise, are not looked at.
            let operands = args.iter().zip(&app.results);
            return Ok(operands
                .map(|(&x, aval)| Binding::Value(self.scope.reshape(x, &aval.shape)))
                .collect());
        }
        let Some(body) = self.scalar_region(&params.jaxpr)? else {
            return self.routine(params, app);
        };
        let axes = params.dimensions.clone();
        if let Some(combine) = self.scope.graph.combines(&body)
            && let (&[x, first], Some(op)) = (&args[..], combine.map())
        {
            let all = self.scope.reduce(combine, x, &axes)?;
            let first = self.scope.broadcast_scalar(first, app.shape());
            let result = self.map(op, &[first, all], app.dtype());
            return Ok(smallvec![Binding::Value(result)]);
        }
        let (operands, first) = args.split_at(app.results.len());
        let results = match Run::of(&shape, &axes) {
            Some(run) => {
                let Some(again) = self.scalar_region(&params.jaxpr)? else {
                    return self.routine(params, app);
                };
                let parts = self.parts_of(&run, operands, body);
                self.combine_axes(&[run.before.len()], &parts, first, again)
            }
            None => self.combine_axes(&axes, operands, first, body),
        };
        let shaped = results.into_iter().zip(&app.results);
        Ok(shaped
            .map(|(x, aval)| Binding::Value(self.scope.reshape(x, &aval.shape)))
            .collect())
    }

    /// Results of parts of a run of axes, each combined from its first element on, and behind them what is left over.
    fn parts_of(&mut self, run: &Run, operands: &[ValueId], body: Region) -> Vec<ValueId> {
        let axis = run.before.len();
        let each = run.length / PARTS;
        let whole = each * PARTS;
        // A piece along one axis of an array that has those before the run whole.
        let piece = |scope: &mut Scope, x, at: usize, start, length| {
            let mut sizes = scope.shape(x);
            let mut place = Dims::from_elem(0, sizes.len());
            (place[at], sizes[at]) = (start, length);
            let ones = Dims::from_elem(1, sizes.len());
            scope.slice(x, &place, &sizes, &ones)
        };
        let (mut rows, mut first, mut left) = (Vec::new(), Vec::new(), Vec::new());
        for &x in operands {
            let long = self.scope.reshape(x, &run.with(&[run.length]));
            let parts = piece(&mut self.scope, long, axis, 0, whole);
            let parts = self.scope.reshape(parts, &run.with(&[PARTS, each]));
            let begins = piece(&mut self.scope, parts, axis + 1, 0, 1);
            first.push(self.scope.reshape(begins, &run.with(&[PARTS])));
            rows.push(piece(&mut self.scope, parts, axis + 1, 1, each - 1));
            left.push(piece(
                &mut self.scope,
                long,
                axis,
                whole,
                run.length - whole,
            ));
        }
        let parts = self.combine_axes(&[axis + 1], &rows, &first, body);
        let all = parts.into_iter().zip(left);
        all.map(|(parts, left)| self.scope.concat(&[parts, left], axis))
            .collect()
    }

    /// Operands combined along axes by a function of scalars, from what is `first` on, for all results or for each.
    fn combine_axes(
        &mut self,
        axes: &[usize],
        operands: &[ValueId],
        first: &[ValueId],
        body: Region,
    ) -> Vec<ValueId> {
        let own = self.scope.shape(operands[0]);
        let shape: Dims = (0..own.len())
            .filter(|axis| !axes.contains(axis))
            .map(|axis| own[axis])
            .collect();
        let results: Vec<(DType, &[usize])> = operands
            .iter()
            .map(|&x| (self.scope.dtype(x), &shape[..]))
            .collect();
        let args = [operands, first].concat();
        let axes = Dims::from_slice(axes);
        self.scope
            .emit(Op::ReduceWith { axes, body }, &args, &results)
            .to_vec()
    }

    /// A function of scalars as a region; none if it calls the library, which works on arrays in memory.
    pub(super) fn scalar_region(&mut self, closed: &ClosedJaxpr) -> Result<Option<Region>> {
        let avals: Vec<Aval> = closed.in_avals();
        let region = self.region(FrameKind::Loop, &avals, |build, params| {
            let args: Vec<Binding> = params.iter().map(|&param| Binding::Value(param)).collect();
            let results = build.call(closed, &args)?;
            results
                .into_iter()
                .map(|binding| build.value(binding))
                .collect()
        })?;
        let calls = self.scope.graph.calls_library(&region);
        Ok((!calls).then_some(region))
    }
}
