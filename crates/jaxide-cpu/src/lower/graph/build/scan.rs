//! Scans.

use super::super::scope::FrameKind;
use super::super::{Op, Region, ValueId};
use super::carried::{find_passed_on, moving, operands, passed_on};
use super::control::{cells_of, split_at};
use super::hoist::steps_of_a_block;
use super::{Application, Binding, Bindings, Build};
use jaxide_core::prims::Scan;
use jaxide_core::{Aval, DType, Dims, Result};

/// What comes of building a scan.
enum Outcome {
    /// Its results.
    Built(Bindings),
    /// More carries are passed on than was known; nothing is built.
    MoreFixed,
    /// It is to be built in blocks of so many steps; nothing is.
    Blocks(usize),
}

impl Build {
    /// A carry that the body passes on is a constant of the loop.
    pub(super) fn scan(&mut self, params: &Scan, app: &Application<'_>) -> Result<Bindings> {
        let (consts, rest) = split_at(app.args, params.ft_in.consts)?;
        let (init, stacked) = split_at(rest, params.ft_in.carry)?;
        let stacked = self.values(stacked)?;
        let init = self.values(init)?.into_vec();
        if params.length == 0 {
            return self.scan_nothing(&init, app);
        }
        if params.length == 1 {
            return self.scan_once(params, consts, &init, &stacked, app);
        }
        let mut fixed = passed_on(&params.jaxpr, params.ft_in.consts, init.len());
        loop {
            let cells_before = self.cells.clone();
            match self.scan_of(params, app, &init, &mut fixed, &stacked)? {
                Outcome::Built(results) => return Ok(results),
                Outcome::MoreFixed => self.cells = cells_before,
                Outcome::Blocks(steps) => {
                    return self.scan_in_blocks(params, app, &init, &fixed, &stacked, steps);
                }
            }
        }
    }

    /// A loop over blocks of so many steps, which their number is a multiple of.
    fn scan_in_blocks(
        &mut self,
        params: &Scan,
        app: &Application<'_>,
        init: &[ValueId],
        fixed: &[bool],
        stacked: &[ValueId],
        steps: usize,
    ) -> Result<Bindings> {
        let length = params.length / steps;
        let mut args = moving(init, fixed);
        let carries = args.len();
        let mut avals = self.avals_of(&args);
        for &whole in stacked {
            let shape = self.scope.shape(whole);
            let mut block: Dims = shape[1..].into();
            block.insert(0, steps);
            avals.push(Aval::new(self.scope.dtype(whole), &block));
            block.insert(0, length);
            args.push(self.scope.reshape(whole, &block));
        }
        let inner = Scan {
            length: steps,
            ..params.clone()
        };
        let body = self.region(FrameKind::Loop, &avals, |build, given| {
            let (carry, blocks) = given.split_at(carries);
            let start: Vec<ValueId> = operands(&[], init, fixed, carry)
                .into_iter()
                .map(|binding| build.value(binding))
                .collect::<Result<_>>()?;
            let mut own_fixed = fixed.to_vec();
            let results = loop {
                match build.scan_of(&inner, app, &start, &mut own_fixed, blocks)? {
                    Outcome::Built(results) => break results,
                    Outcome::MoreFixed => {}
                    Outcome::Blocks(_) => unreachable!("a block's products are few enough"),
                }
            };
            let results = results
                .into_iter()
                .map(|binding| build.value(binding))
                .collect::<Result<Vec<_>>>()?;
            let (next, slices) = results.split_at(init.len());
            Ok([&moving(next, fixed), slices].concat())
        })?;
        let results = self.emit_scan(body, carries, &args, (length, params.reverse));
        let mut bound: Bindings = operands(&[], init, fixed, &results[..carries]).into();
        for &blocks in &results[carries..] {
            let mut shape: Dims = self.scope.shape(blocks)[1..].into();
            shape[0] = params.length;
            bound.push(Binding::Value(self.scope.reshape(blocks, &shape)));
        }
        Ok(bound)
    }

    /// The results of a loop over this body, so often and backwards or not: carries, then what is stacked.
    fn emit_scan(
        &mut self,
        body: Region,
        carries: usize,
        args: &[ValueId],
        (length, reverse): (usize, bool),
    ) -> Vec<ValueId> {
        let types: Vec<(DType, Dims)> = (body.results.iter().enumerate())
            .map(|(k, &result)| {
                let mut shape = self.scope.shape(result);
                if k >= carries {
                    shape.insert(0, length);
                }
                (self.scope.dtype(result), shape)
            })
            .collect();
        let types: Vec<(DType, &[usize])> = types
            .iter()
            .map(|(dtype, shape)| (*dtype, &shape[..]))
            .collect();
        let op = Op::Scan {
            body,
            carries,
            length,
            reverse,
        };
        self.scope.emit(op, args, &types).to_vec()
    }

    /// A loop with some carries taken for constants.
    fn scan_of(
        &mut self,
        params: &Scan,
        app: &Application<'_>,
        init: &[ValueId],
        fixed: &mut [bool],
        stacked: &[ValueId],
    ) -> Result<Outcome> {
        let (consts, _) = split_at(app.args, params.ft_in.consts)?;
        let cells = cells_of(consts);
        let mut carries = moving(init, fixed);
        let own = carries.len();
        carries.extend(cells.iter().map(|&cell| self.cells[cell]));
        let mut avals = self.avals_of(&carries);
        let in_avals = params.jaxpr.in_avals();
        let slices = in_avals
            .iter()
            .skip(params.ft_in.consts + params.ft_in.carry);
        avals.extend(slices.cloned());
        let mut body = self.region(FrameKind::Loop, &avals, |build, params_| {
            let (carry, slices) = params_.split_at(carries.len());
            build.enter(&cells, &carry[own..]);
            let mut args = operands(consts, init, fixed, &carry[..own]);
            args.extend(slices.iter().map(|&slice| Binding::Value(slice)));
            let results = build.call(&params.jaxpr, &args)?;
            let results = results
                .into_iter()
                .map(|binding| build.value(binding))
                .collect::<Result<Vec<_>>>()?;
            let (next, slices) = results.split_at(init.len());
            let mut values = moving(next, fixed);
            values.extend(cells.iter().map(|&cell| build.cells[cell]));
            values.extend(slices);
            Ok(values)
        })?;
        if find_passed_on(&body, fixed) {
            return Ok(Outcome::MoreFixed);
        }
        let products = self.hoistable(&body, carries.len(), params.length);
        // Sums over all steps are one product of all.
        if cells.is_empty()
            && let Some(steps) = steps_of_a_block(&products, params.length)
            && !self.has_sums_of_products(&body, &carries, own, params.length)
        {
            return Ok(Outcome::Blocks(steps));
        }
        let mut stacked = stacked.to_vec();
        self.hoist_products(&mut body, &products, &mut stacked, params.length);
        let sums = self.sums_of_products(&mut body, &mut carries, own, params.length);
        let own = own - sums.len();
        let (in_slices, out_slices) = (
            body.params[carries.len()..].to_vec(),
            body.results[carries.len()..].to_vec(),
        );
        self.lay_out_products(&mut body, params.length);
        let args: Vec<ValueId> = carries.iter().chain(&stacked).copied().collect();
        let turns = (params.length, params.reverse);
        let mut results = self.emit_scan(body, carries.len(), &args, turns);
        // Cells stand between carries and stacked results.
        for (k, &cell) in cells.iter().enumerate() {
            self.cells[cell] = results[own + k];
        }
        results.drain(own..own + cells.len());
        let slices = results.split_off(own);
        let ins = in_slices.into_iter().zip(stacked);
        let stacks = ins
            .chain(out_slices.into_iter().zip(slices.iter().copied()))
            .collect();
        for sum in sums {
            let value = self.sum_after(&sum, &stacks)?;
            results.insert(sum.carry, value);
        }
        let mut bound: Bindings = operands(&[], init, fixed, &results).into();
        let own_slices = app.results.len() - init.len();
        bound.extend(
            slices[..own_slices]
                .iter()
                .map(|&value| Binding::Value(value)),
        );
        Ok(Outcome::Built(bound))
    }

    /// Without a step the carries stay, and what is stacked is empty.
    fn scan_nothing(&mut self, init: &[ValueId], app: &Application<'_>) -> Result<Bindings> {
        let mut results: Bindings = init.iter().map(|&value| Binding::Value(value)).collect();
        for stacked in &app.results[init.len()..] {
            results.push(Binding::Value(self.zeros(stacked)?));
        }
        Ok(results)
    }

    /// A single step needs no loop.
    fn scan_once(
        &mut self,
        params: &Scan,
        consts: &[Binding],
        init: &[ValueId],
        stacked: &[ValueId],
        app: &Application<'_>,
    ) -> Result<Bindings> {
        let mut args: Vec<Binding> = consts.to_vec();
        args.extend(init.iter().map(|&value| Binding::Value(value)));
        for &xs in stacked {
            let shape = self.scope.shape(xs);
            args.push(Binding::Value(self.scope.reshape(xs, &shape[1..])));
        }
        let results = self.inline(&params.jaxpr, &args)?;
        let carries = params.ft_in.carry;
        let mut bound = Bindings::new();
        for (k, binding) in results.into_iter().enumerate() {
            let value = self.value(binding)?;
            bound.push(Binding::Value(if k < carries {
                value
            } else {
                self.scope.reshape(value, &app.results[k].shape)
            }));
        }
        Ok(bound)
    }
}
