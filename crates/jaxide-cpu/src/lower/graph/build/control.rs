//! Loops, branches and calls that are more than a call.
//!
//! Mutable references that a body uses become further carries (or results of a branch): the graph knows values only.

use super::super::scope::FrameKind;
use super::super::{Combine, MapOp, Op, Region, ValueId};
use super::carried::{find_passed_on, moving, operands, passed_on};
use super::lay_out::UNKNOWN_TURNS;
use super::{Application, Binding, Bindings, Build, Lanes};
use crate::narrow;
use jaxide_core::prims::{
    Cond, CustomLinearSolve, CustomRoot, Opaque, PlatformIndex, PyValue, While,
};
use jaxide_core::{Aval, DType, Dims, Error, ErrorKind, Result, Scalar};
use smallvec::smallvec;

impl Build {
    pub(super) fn cond(&mut self, params: &Cond, app: &Application<'_>) -> Result<Bindings> {
        let Some((&index, args)) = app.args.split_first() else {
            return Err(Error::new(ErrorKind::Arity, "an index is expected"));
        };
        let branches = &params.branches.0;
        let index = self.value(index)?;
        let index = self.scope.convert(index, DType::I32);
        let count = branches.len() as i64;
        if let Some(known) = self.scope.graph.int_elements(index) {
            let taken: usize = narrow(known[0].clamp(0, count - 1));
            return self.inline(&branches[taken], args);
        }
        let cells = cells_of(args);
        let before: Vec<ValueId> = cells.iter().map(|&cell| self.cells[cell]).collect();
        let mut regions = Vec::new();
        for branch in branches {
            regions.push(self.region(FrameKind::Branch, &[], |build, _| {
                let results = build.call(branch, args)?;
                let mut values = results
                    .into_iter()
                    .map(|binding| build.value(binding))
                    .collect::<Result<Vec<_>>>()?;
                for (&cell, &old) in cells.iter().zip(&before) {
                    values.push(std::mem::replace(&mut build.cells[cell], old));
                }
                Ok(values)
            })?);
        }
        let mut types: Vec<(DType, &[usize])> = app
            .results
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let shapes: Vec<(DType, Dims)> = before
            .iter()
            .map(|&cell| (self.scope.dtype(cell), self.scope.shape(cell)))
            .collect();
        types.extend(shapes.iter().map(|(dtype, shape)| (*dtype, &shape[..])));
        let results = self
            .scope
            .emit(Op::Cond { branches: regions }, &[index], &types);
        Ok(self.finish_control(&cells, &results, app.results.len()))
    }

    /// A carry that the body passes on is a constant of the loop.
    pub(super) fn while_loop(&mut self, params: &While, app: &Application<'_>) -> Result<Bindings> {
        let (_, rest) = split_at(app.args, params.cond_nconsts)?;
        let (_, init) = split_at(rest, params.body_nconsts)?;
        let init = self.values(init)?.into_vec();
        let mut fixed = passed_on(&params.body_jaxpr, params.body_nconsts, init.len());
        loop {
            let cells_before = self.cells.clone();
            match self.while_of(params, app, &init, &mut fixed)? {
                Some(results) => return Ok(results),
                None => self.cells = cells_before,
            }
        }
    }

    /// A loop with some carries taken for constants; `None` if more are found to be passed on.
    fn while_of(
        &mut self,
        params: &While,
        app: &Application<'_>,
        init: &[ValueId],
        fixed: &mut [bool],
    ) -> Result<Option<Bindings>> {
        let (cond_consts, rest) = split_at(app.args, params.cond_nconsts)?;
        let (body_consts, _) = split_at(rest, params.body_nconsts)?;
        let cells = cells_of(app.args);
        let mut carries: Vec<ValueId> = moving(init, fixed);
        let own = carries.len();
        carries.extend(cells.iter().map(|&cell| self.cells[cell]));
        let avals = self.avals_of(&carries);
        let mut cond = self.region(FrameKind::Loop, &avals, |build, params_| {
            build.enter(&cells, &params_[own..]);
            let args = operands(cond_consts, init, fixed, &params_[..own]);
            let results = build.call(&params.cond_jaxpr, &args)?;
            let mut results = results
                .into_iter()
                .map(|binding| build.value(binding))
                .collect::<Result<Vec<_>>>()?;
            if build.lanes == Lanes::Together {
                let axes: Dims = (0..build.scope.shape(results[0]).len()).collect();
                if !axes.is_empty() {
                    results[0] = build.scope.reduce(Combine::Or, results[0], &axes)?;
                }
            }
            Ok(results)
        })?;
        self.lay_out_products(&mut cond, UNKNOWN_TURNS);
        // Without a turn, what the body alone does is not done, and that may be a loop without end.
        self.scope.open_region(FrameKind::Guard, &[]);
        let mut body = self.region(FrameKind::Loop, &avals, |build, params_| {
            build.enter(&cells, &params_[own..]);
            let args = operands(body_consts, init, fixed, &params_[..own]);
            let results = build.call(&params.body_jaxpr, &args)?;
            let values = results
                .into_iter()
                .map(|binding| build.value(binding))
                .collect::<Result<Vec<_>>>()?;
            let mut values = moving(&values, fixed);
            values.extend(cells.iter().map(|&cell| build.cells[cell]));
            if build.lanes == Lanes::Together {
                build.enter(&cells, &params_[own..]);
                let args = operands(cond_consts, init, fixed, &params_[..own]);
                let goes_on = build.call(&params.cond_jaxpr, &args)?;
                let goes_on = build.value(goes_on[0])?;
                build.keep_stopped(goes_on, params_, &mut values);
            }
            Ok(values)
        })?;
        if find_passed_on(&body, fixed) {
            self.scope.close_region(Vec::new(), Vec::new());
            return Ok(None);
        }
        self.lay_out_products(&mut body, UNKNOWN_TURNS);
        let types: Vec<(DType, &[usize])> = avals
            .iter()
            .map(|aval| (aval.dtype, &aval.shape[..]))
            .collect();
        let results = if self.scope.has_nodes() {
            let results = self
                .scope
                .emit(Op::While { cond, body }, &carries, &types)
                .to_vec();
            let guarded = self.scope.close_region(Vec::new(), results);
            self.enter(&cells, &carries[own..]);
            let args = operands(cond_consts, init, fixed, &carries[..own]);
            let first = self.call(&params.cond_jaxpr, &args)?;
            let first = self.any_of(first[0])?;
            let nothing = Region {
                results: carries.clone(),
                ..Region::default()
            };
            let branches = vec![nothing, guarded];
            self.scope.emit(Op::Cond { branches }, &[first], &types)
        } else {
            self.scope.close_region(Vec::new(), Vec::new());
            self.scope.emit(Op::While { cond, body }, &carries, &types)
        };
        let results = self.finish_control(&cells, &results, own);
        Ok(Some(
            operands(&[], init, fixed, &self.values(&results)?).into(),
        ))
    }

    /// Gives lanes that do not go on the values from before; the axes of the lanes are the first of each value.
    fn keep_stopped(&mut self, goes_on: ValueId, before: &[ValueId], after: &mut [ValueId]) {
        let lanes: Dims = (0..self.scope.shape(goes_on).len()).collect();
        if lanes.is_empty() {
            return;
        }
        for (value, &before) in after.iter_mut().zip(before) {
            let shape = Dims::from_slice(&self.scope.shape(*value));
            let goes_on = self.scope.broadcast(goes_on, &shape, &lanes);
            let dtype = self.scope.dtype(*value);
            *value = self.map(MapOp::Select, &[goes_on, before, *value], dtype);
        }
    }

    /// Whether any of some conditions holds, as an index.
    fn any_of(&mut self, conditions: Binding) -> Result<ValueId> {
        let mut any = self.value(conditions)?;
        let axes: Dims = (0..self.scope.shape(any).len()).collect();
        if !axes.is_empty() {
            any = self.scope.reduce(Combine::Or, any, &axes)?;
        }
        Ok(self.scope.convert(any, DType::I32))
    }

    /// Inside a body the cells hold its parameters.
    pub(super) fn enter(&mut self, cells: &[usize], params: &[ValueId]) {
        for (&cell, &param) in cells.iter().zip(params) {
            self.cells[cell] = param;
        }
    }

    /// Splits the results of a node into those of the equation and the new contents of the cells.
    fn finish_control(&mut self, cells: &[usize], results: &[ValueId], own: usize) -> Bindings {
        for (&cell, &value) in cells.iter().zip(&results[own..]) {
            self.cells[cell] = value;
        }
        results[..own]
            .iter()
            .map(|&value| Binding::Value(value))
            .collect()
    }

    pub(super) fn avals_of(&self, values: &[ValueId]) -> Vec<Aval> {
        values
            .iter()
            .map(|&value| Aval::new(self.scope.dtype(value), &self.scope.shape(value)))
            .collect()
    }

    /// The solver's operands come first.
    pub(super) fn custom_root(
        &mut self,
        params: &CustomRoot,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let (args, _) = split_at(app.args, params.solve_jaxpr.jaxpr.invars.len())?;
        self.inline(&params.solve_jaxpr, args)
    }

    /// Constants of the four functions, then right-hand sides: the solution is what `solve` gives.
    pub(super) fn custom_linear_solve(
        &mut self,
        params: &CustomLinearSolve,
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let lengths = params.const_lengths;
        let (_, rest) = split_at(app.args, lengths.matvec + lengths.vecmat)?;
        let (solve, rest) = split_at(rest, lengths.solve)?;
        let (_, sides) = split_at(rest, lengths.transpose_solve)?;
        let args: Vec<Binding> = solve.iter().chain(sides).copied().collect();
        self.inline(&params.jaxprs.solve, &args)
    }

    pub(super) fn platform_index(&mut self, params: &PlatformIndex) -> Result<ValueId> {
        let Opaque(platforms) = &params.platforms;
        let index = platform(platforms)
            .ok_or_else(|| Error::unsupported("no branch for the platform cpu"))?;
        self.scope.splat(Scalar::Int(index as i64), DType::I32, &[])
    }
}

/// The position of the tuple that names `cpu`, else of the default.
fn platform(platforms: &PyValue) -> Option<usize> {
    let PyValue::Tuple(groups) = platforms else {
        return None;
    };
    let named = groups.iter().position(|group| match group {
        PyValue::Tuple(names) => names
            .iter()
            .any(|name| name.to_string().trim_matches('\'') == "cpu"),
        _ => false,
    });
    named.or_else(|| groups.iter().position(|group| *group == PyValue::None))
}

pub(super) fn split_at<T>(items: &[T], at: usize) -> Result<(&[T], &[T])> {
    items.split_at_checked(at).ok_or_else(|| {
        Error::new(
            ErrorKind::Arity,
            format!(
                "at least {at} operands are expected, and there are {}",
                items.len()
            ),
        )
    })
}

/// The references among operands, each once.
pub(super) fn cells_of(args: &[Binding]) -> smallvec::SmallVec<[usize; 2]> {
    let mut cells = smallvec![];
    for arg in args {
        if let Binding::Cell(cell) = *arg
            && !cells.contains(&cell)
        {
            cells.push(cell);
        }
    }
    cells
}
