//! Nests and groups of nests as loops of generated code: for objects, which have no runtime to run them.
//!
//! They go through the domain as [`launch`](crate::runtime::launch) does on one thread, so that results are the same bits.

use super::code::{Generator, Linked};
use crate::codegen::error::CompileError;
use crate::codegen::lanes::Defined;
use crate::codegen::module::{address_of, signature};
use crate::lower::emit::{Kernel, Partials};
use crate::lower::program::{Place, RowsOf};
use crate::narrow;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, condcodes::IntCC,
    types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext};
use cranelift_module::{DataId, FuncId, Linkage, Module};
use std::ops::Range;

/// A block of a nest's domain.
#[derive(Clone, Debug)]
pub(super) struct Domain<T> {
    /// Of all combinations of outer indices.
    outer: Range<T>,
    /// Of the loop inside the lane program, if there is one.
    rows: Range<T>,
    lanes: Range<T>,
}

impl Domain<usize> {
    /// All of it.
    pub(super) fn whole(kernel: &Kernel) -> Domain<usize> {
        let schedule = &kernel.schedule;
        Domain {
            outer: 0..schedule.outer.iter().product(),
            rows: 0..schedule.rows.unwrap_or(0),
            lanes: 0..schedule.lanes,
        }
    }

    pub(super) fn constants(self, fb: &mut FunctionBuilder<'_>) -> Domain<ir::Value> {
        let mut range = |Range { start, end }: Range<usize>| {
            let [start, end] = [start, end].map(|n| fb.ins().iconst(types::I64, n as i64));
            start..end
        };
        Domain {
            outer: range(self.outer),
            rows: range(self.rows),
            lanes: range(self.lanes),
        }
    }
}

impl Generator<'_, '_> {
    /// A block of a nest, by the function that [`define`] made of it.
    pub(super) fn looped(&mut self, nest: FuncId, table: ir::Value, domain: Domain<ir::Value>) {
        let Domain { outer, rows, lanes } = domain;
        let args = [
            table,
            outer.start,
            outer.end,
            rows.start,
            rows.end,
            lanes.start,
            lanes.end,
        ];
        self.call_function(nest, &args);
    }

    /// A group of nests: a block of rows in each of them, then the next block.
    pub(super) fn looped_tiles(&mut self, group: usize, operands: &[Place]) {
        let program = self.program;
        let group = &program.tiles[group];
        let pointers: Vec<ir::Value> = operands.iter().map(|place| self.address(place)).collect();
        let table = self.fill_table(&pointers);
        let word = |fb: &mut FunctionBuilder<'_>, n: usize| fb.ins().iconst(types::I64, n as i64);
        let [first, end] = [0, group.rows].map(|n| word(&mut self.fb, n));
        let block = group.block as i64;
        let row = begin_loop(&mut self.fb, first, end);
        for (entry, k) in group.kept_operands() {
            // Where the array would begin if this block was in its place.
            let before = self.fb.ins().imul_imm_s(row.at, group.kept[k].row as i64);
            let start = self.fb.ins().isub(pointers[entry], before);
            self.set_in_table(entry, start);
        }
        let after = self.fb.ins().iadd_imm_s(row.at, block);
        let after = self.fb.ins().umin(after, end);
        let mut first = 0;
        for nest in &group.nests {
            let kernel = &program.kernels[nest.kernel as usize];
            let mut domain = Domain::whole(kernel).constants(&mut self.fb);
            let (range, scale) = match nest.rows {
                RowsOf::Outer => {
                    let inner = kernel.schedule.outer.iter().skip(1).product();
                    (&mut domain.outer, inner)
                }
                RowsOf::Inner => (&mut domain.rows, 1),
                RowsOf::Lanes(lanes) => (&mut domain.lanes, lanes),
            };
            let scaled = |bound| self.fb.ins().imul_imm_s(bound, scale as i64);
            let [start, end] = [row.at, after].map(scaled);
            *range = start..end;
            let own = self.fb.ins().iadd_imm_s(table, narrow::<_, i64>(8 * first));
            let super::code::Nest::Looped(function) = self.callees.nests[nest.kernel as usize]
            else {
                unreachable!("nests of groups have functions")
            };
            self.looped(function, own, domain);
            first += kernel.operands.len();
        }
        row.close_by(&mut self.fb, block);
    }

    /// A call of the runtime that the object is linked with.
    pub(super) fn linked_call(&mut self, linked: &Linked, call: usize, operands: &[Place]) {
        let pointers: Vec<ir::Value> = operands.iter().map(|place| self.address(place)).collect();
        let table = self.fill_table(&pointers);
        let (text, length) = linked.calls[call];
        let text = self.constant(text);
        let length = self.fb.ins().iconst(types::I64, length as i64);
        let kernel = linked.kernel.expect("a program with calls has it");
        if let Some(status) = self.call_function(kernel, &[text, length, table]) {
            self.leave_if(status);
        }
    }
}

/// A loop that is being written.
struct Loop {
    /// The number of this turn.
    at: ir::Value,
    head: ir::Block,
    exit: ir::Block,
}

/// Begins a loop over `first..end`.
fn begin_loop(fb: &mut FunctionBuilder<'_>, first: ir::Value, end: ir::Value) -> Loop {
    let (head, turn, exit) = (fb.create_block(), fb.create_block(), fb.create_block());
    let at = fb.append_block_param(head, types::I64);
    fb.ins().jump(head, &[BlockArg::Value(first)]);
    fb.switch_to_block(head);
    let more = fb.ins().icmp(IntCC::UnsignedLessThan, at, end);
    fb.ins().brif(more, turn, &[], exit, &[]);
    fb.seal_block(turn);
    fb.switch_to_block(turn);
    Loop { at, head, exit }
}

impl Loop {
    /// Ends it, with a turn in every `step` numbers.
    fn close_by(self, fb: &mut FunctionBuilder<'_>, step: i64) {
        let next = fb.ins().iadd_imm_s(self.at, step);
        self.close(fb, next);
    }

    /// Ends it, with the number of the next turn; the builder goes on behind.
    fn close(self, fb: &mut FunctionBuilder<'_>, next: ir::Value) {
        fb.ins().jump(self.head, &[BlockArg::Value(next)]);
        fb.seal_block(self.head);
        fb.seal_block(self.exit);
        fb.switch_to_block(self.exit);
    }
}

/// Defines the function of a nest, whose lane program is `lanes`: it takes the pointer table, and a [`Domain`] as six words.
pub(super) fn define(
    module: &mut dyn Module,
    (context, frontend): (&mut Context, &mut FunctionBuilderContext),
    name: &str,
    kernel: &Kernel,
    (lanes, never): (FuncId, DataId),
) -> Result<(FuncId, Defined), CompileError> {
    context.clear();
    let signature = signature(module, 7, false);
    let id = module.declare_function(name, Linkage::Local, &signature)?;
    context.func.signature = signature;
    let callee = module.declare_func_in_func(lanes, &mut context.func);
    let mut fb = FunctionBuilder::new(&mut context.func, frontend);
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    fb.switch_to_block(entry);
    fb.seal_block(entry);
    let [
        pointers,
        outer_from,
        outer_to,
        row_from,
        row_to,
        lane_from,
        lane_to,
    ] = *fb.block_params(entry)
    else {
        unreachable!("seven parameters")
    };
    let stop = address_of(module, &mut fb, never);
    let lengths = &kernel.schedule.outer;
    // Besides outer indices: the first row, their number, and the number of a partial result.
    let bytes = narrow(8 * (lengths.len() + 3));
    let slot = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
    let slot = fb.create_sized_stack_slot(slot);
    let indices = fb.ins().stack_addr(types::I64, slot, 0);
    let mut nest = NestLoops {
        fb,
        kernel,
        callee,
        pointers,
        stop,
        indices,
        domain: Domain {
            outer: outer_from..outer_to,
            rows: row_from..row_to,
            lanes: lane_from..lane_to,
        },
    };
    nest.all();
    let mut fb = nest.fb;
    fb.ins().return_(&[]);
    fb.finalize(module.target_config());
    module.define_function(id, context)?;
    Ok((id, Defined::by_cranelift(context)))
}

/// The loops around a lane program.
struct NestLoops<'a, 'f> {
    fb: FunctionBuilder<'f>,
    kernel: &'a Kernel,
    callee: ir::FuncRef,
    pointers: ir::Value,
    stop: ir::Value,
    /// Where the lane program's outer indices are.
    indices: ir::Value,
    domain: Domain<ir::Value>,
}

impl NestLoops<'_, '_> {
    fn all(&mut self) {
        let lengths = &self.kernel.schedule.outer;
        let Range { start, end } = self.domain.outer.clone();
        let mut rest = start;
        for (axis, &length) in lengths.iter().enumerate().rev() {
            let index = match axis {
                0 => rest,
                _ => {
                    let length = self.word(length);
                    let index = self.fb.ins().urem(rest, length);
                    rest = self.fb.ins().udiv(rest, length);
                    index
                }
            };
            self.set_index(axis, index);
        }
        let combination = begin_loop(&mut self.fb, start, end);
        let step = match self.kernel.calls().turns {
            Some(innermost) => self.turns(innermost as usize, combination.at, end),
            None => {
                self.combination();
                self.count_up(lengths.len().checked_sub(1));
                self.word(1)
            }
        };
        self.carry();
        let next = self.fb.ins().iadd(combination.at, step);
        combination.close(&mut self.fb, next);
    }

    /// As many combinations as the code runs at once: those that are left of the innermost loop, or of all. Gives their number.
    fn turns(&mut self, innermost: usize, at: ir::Value, end: ir::Value) -> ir::Value {
        let index = self.index(innermost);
        let length = self.word(self.kernel.schedule.outer[innermost]);
        let of_loop = self.fb.ins().isub(length, index);
        let of_all = self.fb.ins().isub(end, at);
        let turns = self.fb.ins().umin(of_loop, of_all);
        self.set_index(self.kernel.body.outer(), turns);
        self.combination();
        turns
    }

    fn word(&mut self, n: usize) -> ir::Value {
        self.fb.ins().iconst(types::I64, n as i64)
    }

    fn set_index(&mut self, k: usize, value: ir::Value) {
        let flags = MemFlagsData::trusted();
        let at = narrow::<_, i32>(8 * k);
        self.fb.ins().store(flags, value, self.indices, at);
    }

    fn index(&mut self, k: usize) -> ir::Value {
        let flags = MemFlagsData::trusted();
        let at = narrow::<_, i32>(8 * k);
        self.fb.ins().load(types::I64, flags, self.indices, at)
    }

    fn count_up(&mut self, axis: Option<usize>) {
        if let Some(axis) = axis {
            let index = self.index(axis);
            let next = self.fb.ins().iadd_imm_s(index, 1);
            self.set_index(axis, next);
        }
    }

    /// Outer indices behind the end of their axis begin again, and the one before is counted up.
    fn carry(&mut self) {
        let done = self.fb.create_block();
        for (axis, &length) in self.kernel.schedule.outer.iter().enumerate().rev() {
            let index = self.index(axis);
            let wraps = self.fb.create_block();
            let length = self.word(length);
            let inside = (self.fb.ins()).icmp(IntCC::UnsignedLessThan, index, length);
            self.fb.ins().brif(inside, done, &[], wraps, &[]);
            self.fb.seal_block(wraps);
            self.fb.switch_to_block(wraps);
            let zero = self.word(0);
            self.set_index(axis, zero);
            self.count_up(axis.checked_sub(1));
        }
        self.fb.ins().jump(done, &[]);
        self.fb.seal_block(done);
        self.fb.switch_to_block(done);
    }

    /// Rows and lanes for the present outer indices.
    fn combination(&mut self) {
        let schedule = &self.kernel.schedule;
        let Domain { rows, lanes, .. } = self.domain.clone();
        let Some(partials) = schedule.partials else {
            return self.rows(rows, lanes);
        };
        let [first, count] = [0, schedule.partial_count()].map(|n| self.word(n));
        let number = begin_loop(&mut self.fb, first, count);
        let behind = if schedule.rows.is_some() { 2 } else { 0 };
        self.set_index(schedule.outer.len() + behind, number.at);
        let mut part = |size: usize, end: ir::Value| {
            let from = self.fb.ins().imul_imm_s(number.at, size as i64);
            let to = self.fb.ins().iadd_imm_s(from, size as i64);
            let to = self.fb.ins().umin(to, end);
            from..to
        };
        match (partials, schedule.chunk) {
            (Partials::Chunks, Some(chunk)) => {
                let rows = part(chunk, rows.end);
                self.call(rows, lanes);
            }
            (Partials::Chunks, None) => self.rows(rows, lanes),
            (Partials::Lanes(size), _) => {
                let lanes = part(size, lanes.end);
                self.rows(rows, lanes);
            }
        }
        number.close_by(&mut self.fb, 1);
    }

    /// Rows, in chunks where these are reduced one after the other.
    fn rows(&mut self, rows: Range<ir::Value>, lanes: Range<ir::Value>) {
        let schedule = &self.kernel.schedule;
        // A reduction of no rows gives what it begins with.
        let Some(chunk) = schedule.chunk.filter(|_| schedule.rows != Some(0)) else {
            return self.call(rows, lanes);
        };
        let chunk = chunk as i64;
        let row = begin_loop(&mut self.fb, rows.start, rows.end);
        let to = self.fb.ins().iadd_imm_s(row.at, chunk);
        let to = self.fb.ins().umin(to, rows.end);
        self.call(row.at..to, lanes);
        row.close_by(&mut self.fb, chunk);
    }

    /// Calls the lane program.
    fn call(&mut self, rows: Range<ir::Value>, lanes: Range<ir::Value>) {
        let schedule = &self.kernel.schedule;
        if schedule.rows.is_some() {
            let count = self.fb.ins().isub(rows.end, rows.start);
            self.set_index(schedule.outer.len(), rows.start);
            self.set_index(schedule.outer.len() + 1, count);
        }
        let args = [
            self.pointers,
            self.stop,
            self.indices,
            lanes.start,
            lanes.end,
        ];
        self.fb.ins().call(self.callee, &args);
    }
}
