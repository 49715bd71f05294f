//! Statements → CLIF.

use super::turns::frame_word;
use crate::codegen::clif::{self, LaneArgs};
use crate::codegen::module::{Import, Imports, address_of, signature};
use crate::lanes::{self, BlockId};
use crate::lower::emit::Kernel;
use crate::lower::program::parallel::Shared;
use crate::lower::program::work::step_number;
use crate::lower::program::{LoopVar, Place, PointerVar, Program, Slot, Stmt, TileNest, Turns};
use crate::narrow;
use crate::runtime::checked::{Check, Guarded, Step};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, condcodes::IntCC,
    types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Switch, Variable};
use cranelift_module::{DataId, FuncId, Module};
use rustc_hash::FxHashMap as HashMap;
use std::ops::Range;

/// Copies up to this many bytes are loads and stores.
const SMALL_COPY: usize = 64;

/// Loops of at most this many turns that take next to no time run to their end.
const FEW_TURNS: usize = 4096;

/// Straight-line nests with more values than this are functions of their own: time to compile grows faster than the function.
const MOST_INLINE: usize = 1000;

/// More values than this of all inline nests together are no longer inline, for the same reason.
const MOST_INLINE_TOGETHER: usize = 4000;

/// Nests of at most this many values are inline anywhere: a call is as long.
const SHORT_NEST: usize = 16;

/// Which nests of a program are scalar code inside its function.
pub(super) fn inline(kernels: &[Kernel]) -> Vec<bool> {
    let length = |kernel: &Kernel| kernel.body.values().len();
    let can: Vec<bool> = kernels.iter().map(is_inline).collect();
    let each = kernels.iter().zip(&can).filter(|(_, can)| **can);
    let few = each.map(|(kernel, _)| length(kernel)).sum::<usize>() <= MOST_INLINE_TOGETHER;
    let all = kernels.iter().zip(can);
    all.map(|(kernel, can)| can && (few || length(kernel) <= SHORT_NEST))
        .collect()
}

/// Whether a nest can be scalar code inside the function.
fn is_inline(kernel: &Kernel) -> bool {
    let schedule = &kernel.schedule;
    let straight = kernel.body.blocks()[BlockId::LANES.index()]
        .stmts
        .iter()
        .all(|stmt| matches!(stmt, lanes::Stmt::Let(_) | lanes::Stmt::Store { .. }));
    let long = straight && kernel.body.values().len() > MOST_INLINE;
    !long
        && schedule.lanes == 1
        && schedule.outer.iter().all(|&n| n == 1)
        && schedule.rows.is_none()
        && kernel.body.reductions().is_empty()
}

/// The function's parameters.
pub(super) struct Params {
    pub(super) inputs: ir::Value,
    pub(super) outputs: ir::Value,
    pub(super) consts: ir::Value,
    pub(super) arena: ir::Value,
    pub(super) context: ir::Value,
    /// Where the memory would be that a turn has for itself, if it were at its place in the arena; the arena elsewhere.
    pub(super) own: ir::Value,
    /// The address of the byte that tells whether the run is to end.
    stop: ir::Value,
}

/// How the code runs a nest.
#[derive(Clone, Copy, Debug)]
pub(super) enum Nest {
    /// It is scalar code inside the function.
    Inline,
    /// By one call of its lane program, for so many lanes.
    Direct(FuncId, usize),
    /// By the runtime, from its data.
    Launched(DataId),
}

/// What the code refers to.
#[derive(Clone, Copy)]
pub(super) struct Callees<'a> {
    pub(super) program: &'a Program,
    /// By kernel.
    pub(super) nests: &'a [Nest],
    pub(super) tiles: &'a [DataId],
    /// Loops whose turns are shared out; none where they are run in order.
    pub(super) turns: &'a [SharedTurns],
    pub(super) calls: &'a [DataId],
    pub(super) imports: &'a Imports,
    /// What guarded lane programs report, by kernel, if the program is checked.
    pub(super) guards: Option<&'a [Guarded]>,
    /// Where times of steps go, if they are taken.
    pub(super) profile: Option<DataId>,
}

/// How a loop is run whose turns are shared out.
pub(super) struct SharedTurns {
    /// Its data.
    pub(super) launch: DataId,
    /// Loops and pointers around it.
    pub(super) loops: Vec<LoopVar>,
    pub(super) pointers: Vec<PointerVar>,
}

pub(super) struct Generator<'a, 'f> {
    pub(super) fb: FunctionBuilder<'f>,
    pub(super) module: &'a mut dyn Module,
    pub(super) program: &'a Program,
    callees: Callees<'a>,
    pub(super) params: Params,
    /// Temporaries that a turn has for itself.
    pub(super) own: &'a [u32],
    /// Present turns of the loops.
    pub(super) loops: Vec<ir::Value>,
    pub(super) pointers: Vec<Variable>,
    /// Whether operands are looked at.
    pub(super) checked: bool,
    /// Start, length, shadow and tag of the arrays that `pointers` point into, in checked programs.
    pub(super) bounds: Vec<[Variable; 4]>,
    /// The steps of checked programs, for as long as the code lives.
    #[allow(clippy::vec_box)]
    pub(super) checks: Vec<Box<Check>>,
    /// How many steps were named in functions before.
    pub(super) first_check: usize,
    failed: ir::Block,
    /// What the function calls.
    functions: HashMap<FuncId, ir::FuncRef>,
    /// Holds pointer tables for calls.
    table: ir::StackSlot,
}

/// Longer programs are cut into functions of so many steps: time to compile grows faster than a function.
pub(super) const MOST_STEPS: usize = 512;

/// What a function does; all have the signature of a program's.
pub(super) enum Function<'a> {
    /// Steps of the program, outside of loops.
    Steps(&'a [Stmt]),
    /// One after the other, these functions.
    Calls(Vec<FuncId>),
    /// Some turns of a loop; its parameters are those of [`TurnsLaunch::body`](crate::runtime::turns::TurnsLaunch).
    Turns(&'a Shared<'a>),
}

/// Builds a function of a program in `context`; gives what must live as long as its code, `first_check` the number of the first of them.
#[allow(clippy::vec_box)]
pub(super) fn define(
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
    module: &mut dyn Module,
    function: Function<'_>,
    callees: Callees<'_>,
    first_check: usize,
) -> Vec<Box<Check>> {
    let program = callees.program;
    context.func.signature = signature(module, 5, true);
    let mut fb = FunctionBuilder::new(&mut context.func, frontend);
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    fb.switch_to_block(entry);
    fb.seal_block(entry);
    let [first, second, third, fourth, context] = *fb.block_params(entry) else {
        unreachable!("five parameters")
    };
    let failed = fb.create_block();
    let [inputs, outputs, consts, arena] = match &function {
        Function::Steps(_) | Function::Calls(_) => [first, second, third, fourth],
        Function::Turns(_) => [0, 1, 2, 3].map(|word| frame_word(&mut fb, first, word)),
    };
    // The first field of the context.
    let stop = fb
        .ins()
        .load(types::I64, MemFlagsData::trusted(), context, 0);
    let checked = callees.guards.is_some();
    let pointers = (0..program.pointers)
        .map(|_| fb.declare_var(types::I64))
        .collect();
    let guarded = if checked { program.pointers } else { 0 };
    let bounds = (0..guarded)
        .map(|_| [(); 4].map(|()| fb.declare_var(types::I64)))
        .collect();
    let words = if checked { 5 } else { 1 };
    let table = narrow(8 * words * longest_table(program));
    let table =
        fb.create_sized_stack_slot(StackSlotData::new(StackSlotKind::ExplicitSlot, table, 3));
    let mut generator = Generator {
        module,
        program,
        callees,
        params: Params {
            inputs,
            outputs,
            consts,
            arena,
            context,
            own: arena,
            stop,
        },
        own: &[],
        loops: vec![inputs; program.loops as usize],
        pointers,
        checked,
        bounds,
        checks: Vec::new(),
        first_check,
        failed,
        functions: HashMap::default(),
        table,
        fb,
    };
    match function {
        Function::Steps(steps) => generator.block(steps),
        Function::Calls(pieces) => generator.pieces(&pieces),
        Function::Turns(shared) => generator.turns(shared, first, second, third..fourth),
    }
    let Generator {
        mut fb,
        checks,
        module,
        ..
    } = generator;
    let ok = fb.ins().iconst(types::I32, 0);
    fb.ins().return_(&[ok]);
    fb.switch_to_block(failed);
    fb.seal_block(failed);
    let error = fb.ins().iconst(types::I32, 1);
    fb.ins().return_(&[error]);
    fb.finalize(module.target_config());
    checks
}

/// The longest pointer table that any call needs.
fn longest_table(program: &Program) -> usize {
    let kernels = program.kernels.iter().map(|kernel| kernel.operands.len());
    let calls = program.calls.iter().map(|call| {
        let signature = call.call.signature();
        signature.inputs.len() + signature.outputs.len()
    });
    let tiles = program.tiles.iter().map(|group| {
        let operands = |nest: &TileNest| program.kernels[nest.kernel as usize].operands.len();
        group.nests.iter().map(operands).sum()
    });
    // A copy has two.
    kernels.chain(calls).chain(tiles).max().unwrap_or(0).max(2)
}

impl Generator<'_, '_> {
    pub(super) fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match (self.callees.profile, step_number(self.program, stmt)) {
                (Some(cells), Some(step)) => self.timed(stmt, step, cells),
                _ => self.stmt(stmt),
            }
        }
    }

    fn pieces(&mut self, functions: &[FuncId]) {
        let Params {
            inputs,
            outputs,
            consts,
            arena,
            context,
            ..
        } = self.params;
        for &function in functions {
            let args = [inputs, outputs, consts, arena, context];
            if let Some(status) = self.call_function(function, &args) {
                self.leave_if(status);
            }
        }
    }

    pub(super) fn stmt(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Nest { kernel, operands } => self.nest(*kernel as usize, operands),
            Stmt::Tiles { group, operands } => self.tiles(*group as usize, operands),
            Stmt::Call { call, operands } => self.call(*call as usize, operands),
            Stmt::Copy { from, to, bytes } => self.copy(from, to, *bytes),
            Stmt::For {
                var,
                count,
                slots,
                body,
                turns,
            } => {
                if let Turns::Parallel(number) = turns
                    && let Some(shared) = self.callees.turns.get(*number as usize)
                {
                    return self.share_turns(shared);
                }
                self.start_slots(slots);
                let zero = self.fb.ins().iconst(types::I64, 0);
                let end = self.fb.ins().iconst(types::I64, *count as i64);
                let watched = *count > FEW_TURNS || !self.is_short(body);
                self.counted(*var, zero..end, watched, |generator| {
                    generator.block(body);
                    generator.swap_slots(slots);
                });
            }
            Stmt::While {
                slots,
                cond,
                test,
                body,
            } => {
                self.start_slots(slots);
                let (head, turn, exit) = (
                    self.fb.create_block(),
                    self.fb.create_block(),
                    self.fb.create_block(),
                );
                self.fb.ins().jump(head, &[]);
                self.fb.switch_to_block(head);
                self.block(cond);
                self.check_read(test, 1, "the condition of a loop");
                let at = self.address(test);
                let truth = self
                    .fb
                    .ins()
                    .load(types::I8, MemFlagsData::trusted(), at, 0);
                self.fb.ins().brif(truth, turn, &[], exit, &[]);
                self.fb.seal_block(turn);
                self.fb.switch_to_block(turn);
                self.leave_if_stopped();
                self.block(body);
                self.swap_slots(slots);
                self.fb.ins().jump(head, &[]);
                self.fb.seal_block(head);
                self.fb.seal_block(exit);
                self.fb.switch_to_block(exit);
            }
            Stmt::Switch { index, branches } => self.switch(index, branches),
        }
    }

    /// A loop over a range; it ends in each turn where the run is to end, if it is `watched`.
    pub(super) fn counted(
        &mut self,
        var: LoopVar,
        range: Range<ir::Value>,
        watched: bool,
        body: impl FnOnce(&mut Self),
    ) {
        let (head, turn, exit) = (
            self.fb.create_block(),
            self.fb.create_block(),
            self.fb.create_block(),
        );
        let index = self.fb.append_block_param(head, types::I64);
        self.fb.ins().jump(head, &[BlockArg::Value(range.start)]);
        self.fb.switch_to_block(head);
        let more = self.fb.ins().icmp(IntCC::SignedLessThan, index, range.end);
        self.fb.ins().brif(more, turn, &[], exit, &[]);
        self.fb.seal_block(turn);
        self.fb.switch_to_block(turn);
        self.loops[var.0 as usize] = index;
        if watched {
            self.leave_if_stopped();
        }
        body(self);
        let next = self.fb.ins().iadd_imm_s(index, 1);
        self.fb.ins().jump(head, &[BlockArg::Value(next)]);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
    }

    /// Whether a body takes next to no time.
    fn is_short(&self, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| match stmt {
            Stmt::Nest { kernel, .. } => {
                matches!(self.callees.nests[*kernel as usize], Nest::Inline)
            }
            Stmt::Copy { bytes, .. } => *bytes <= SMALL_COPY,
            Stmt::Switch { branches, .. } => branches.iter().all(|branch| self.is_short(branch)),
            Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::For { .. } | Stmt::While { .. } => false,
        })
    }

    /// Ends the run where it is asked to.
    fn leave_if_stopped(&mut self) {
        // An atomic load is made anew in each turn.
        let flags = MemFlagsData::trusted();
        let stop = self
            .fb
            .ins()
            .atomic_load(types::I8, flags, self.params.stop);
        let goes_on = self.fb.create_block();
        self.fb.ins().brif(stop, self.failed, &[], goes_on, &[]);
        self.fb.seal_block(goes_on);
        self.fb.switch_to_block(goes_on);
    }

    fn start_slots(&mut self, slots: &[Slot]) {
        for slot in slots {
            if self.checked {
                for (var, place) in [slot.current, slot.next].into_iter().zip(&slot.buffers) {
                    let [_, words @ ..] = self.described(place);
                    self.set_bounds(var, words);
                }
            }
            let (current, next) = (
                self.address(&slot.buffers[0]),
                self.address(&slot.buffers[1]),
            );
            self.fb
                .def_var(self.pointers[slot.current.0 as usize], current);
            self.fb.def_var(self.pointers[slot.next.0 as usize], next);
        }
    }

    fn set_bounds(&mut self, var: PointerVar, words: [ir::Value; 4]) {
        for (word, value) in self.bounds[var.0 as usize].into_iter().zip(words) {
            self.fb.def_var(word, value);
        }
    }

    fn swap_slots(&mut self, slots: &[Slot]) {
        for slot in slots {
            if self.checked {
                let words = [slot.next, slot.current]
                    .map(|var| self.bounds[var.0 as usize].map(|word| self.fb.use_var(word)));
                self.set_bounds(slot.current, words[0]);
                self.set_bounds(slot.next, words[1]);
            }
            let (current, next) = (
                self.pointers[slot.current.0 as usize],
                self.pointers[slot.next.0 as usize],
            );
            let (old, new) = (self.fb.use_var(current), self.fb.use_var(next));
            self.fb.def_var(current, new);
            self.fb.def_var(next, old);
        }
    }

    fn switch(&mut self, index: &Place, branches: &[Vec<Stmt>]) {
        self.check_read(index, 4, "a choice between branches");
        let at = self.address(index);
        let index = self
            .fb
            .ins()
            .load(types::I32, MemFlagsData::trusted(), at, 0);
        let done = self.fb.create_block();
        let blocks: Vec<ir::Block> = branches.iter().map(|_| self.fb.create_block()).collect();
        let last = i32::try_from(blocks.len()).unwrap_or(i32::MAX) - 1;
        let [zero, last] =
            [0, last].map(|bound| self.fb.ins().iconst(types::I32, i64::from(bound)));
        let above = self.fb.ins().smax(index, zero);
        let inside = self.fb.ins().smin(above, last);
        let mut table = Switch::new();
        for (k, &block) in blocks.iter().enumerate().rev().skip(1) {
            table.set_entry(k as u128, block);
        }
        table.emit(&mut self.fb, inside, blocks[blocks.len() - 1]);
        for (branch, block) in branches.iter().zip(blocks) {
            self.fb.seal_block(block);
            self.fb.switch_to_block(block);
            self.block(branch);
            self.fb.ins().jump(done, &[]);
        }
        self.fb.seal_block(done);
        self.fb.switch_to_block(done);
    }

    fn nest(&mut self, kernel: usize, operands: &[Place]) {
        let nest = self.callees.nests[kernel];
        if let (Some(guards), Nest::Launched(launch)) = (self.callees.guards, nest) {
            let places: Vec<&Place> = operands.iter().collect();
            return self.check(Step::Nest(guards[kernel].clone()), Some(launch), &places);
        }
        let program = self.program;
        let own = &program.kernels[kernel];
        let pointers: Vec<ir::Value> = operands.iter().map(|place| self.address(place)).collect();
        let zero = self.fb.ins().iconst(types::I64, 0);
        match nest {
            Nest::Inline => {
                let end = self.fb.ins().iconst(types::I64, 1);
                let args = LaneArgs {
                    pointers,
                    stop: self.params.stop,
                    outer: vec![zero; own.body.outer()],
                    start: zero,
                    end,
                };
                clif::emit_lane(&mut self.fb, self.module, &own.body, &args);
            }
            Nest::Direct(function, lanes) => {
                let table = self.fill_table(&pointers);
                let end = self.fb.ins().iconst(types::I64, lanes as i64);
                let stop = self.params.stop;
                self.call_function(function, &[table, stop, zero, zero, end]);
            }
            Nest::Launched(launch) => {
                let table = self.fill_table(&pointers);
                let own = self.constant(launch);
                let context = self.params.context;
                self.call_import(Import::Launch, &[own, table, context]);
            }
        }
    }

    fn tiles(&mut self, group: usize, operands: &[Place]) {
        let launch = self.callees.tiles[group];
        if let Some(guards) = self.callees.guards {
            let nests = self.program.tiles[group].nests.iter();
            let nests = nests
                .map(|nest| guards[nest.kernel as usize].clone())
                .collect();
            let places: Vec<&Place> = operands.iter().collect();
            return self.check(Step::Tiles(nests), Some(launch), &places);
        }
        let pointers: Vec<ir::Value> = operands.iter().map(|place| self.address(place)).collect();
        let table = self.fill_table(&pointers);
        let own = self.constant(launch);
        let context = self.params.context;
        self.call_import(Import::LaunchTiles, &[own, table, context]);
    }

    fn call(&mut self, call: usize, operands: &[Place]) {
        let kernel = self.callees.calls[call];
        if self.checked {
            let places: Vec<&Place> = operands.iter().collect();
            let step = Step::Call(self.program.call_title(call));
            return self.check(step, Some(kernel), &places);
        }
        let pointers: Vec<ir::Value> = operands.iter().map(|place| self.address(place)).collect();
        let table = self.fill_table(&pointers);
        let kernel = self.constant(kernel);
        let context = self.params.context;
        if let Some(status) = self.call_import(Import::Call, &[kernel, table, context]) {
            self.leave_if(status);
        }
    }

    /// Ends the run where a status is not 0.
    pub(super) fn leave_if(&mut self, status: ir::Value) {
        let next = self.fb.create_block();
        self.fb.ins().brif(status, self.failed, &[], next, &[]);
        self.fb.seal_block(next);
        self.fb.switch_to_block(next);
    }

    pub(super) fn fill_table(&mut self, pointers: &[ir::Value]) -> ir::Value {
        for (k, &pointer) in pointers.iter().enumerate() {
            self.fb
                .ins()
                .stack_store(types::I64, pointer, self.table, narrow::<_, i32>(8 * k));
        }
        self.fb.ins().stack_addr(types::I64, self.table, 0)
    }

    /// The address of a constant or of what has a name.
    pub(super) fn constant(&mut self, id: DataId) -> ir::Value {
        address_of(self.module, &mut self.fb, id)
    }

    /// Calls a function of the runtime; gives its status if it has one.
    pub(super) fn call_import(&mut self, import: Import, args: &[ir::Value]) -> Option<ir::Value> {
        self.call_function(self.callees.imports.id(import), args)
    }

    /// Calls a function of the module.
    fn call_function(&mut self, id: FuncId, args: &[ir::Value]) -> Option<ir::Value> {
        let (func, module) = (&mut self.fb.func, &mut *self.module);
        let callee = *self.functions.entry(id).or_insert_with(|| {
            let callee = module.declare_func_in_func(id, func);
            func.dfg.ext_funcs[callee].colocated = false;
            callee
        });
        let call = self.fb.ins().call(callee, args);
        self.fb.inst_results(call).first().copied()
    }

    fn copy(&mut self, from: &Place, to: &Place, bytes: usize) {
        if self.checked {
            return self.check(Step::Copy(bytes), None, &[from, to]);
        }
        let (from, to) = (self.address(from), self.address(to));
        if bytes > SMALL_COPY {
            let bytes = self.fb.ins().iconst(types::I64, bytes as i64);
            let context = self.params.context;
            self.call_import(Import::Copy, &[from, to, bytes, context]);
            return;
        }
        let flags = MemFlagsData::new().with_trap_code(None);
        let mut at = 0;
        while at < bytes {
            let (ty, size) = match bytes - at {
                8.. => (types::I64, 8),
                4..8 => (types::I32, 4),
                2..4 => (types::I16, 2),
                _ => (types::I8, 1),
            };
            let word = self.fb.ins().load(ty, flags, from, narrow::<_, i32>(at));
            self.fb.ins().store(flags, word, to, narrow::<_, i32>(at));
            at += size;
        }
    }
}
