//! Statements → CLIF.

use super::cells::Cells;
use super::looped::Domain;
use super::turns::frame_word;
use crate::codegen::clif::{self, LaneArgs, LaneCells};
use crate::codegen::lanes::Vectors;
use crate::codegen::module::{Import, Imports, address_of, signature};
use crate::lanes::{self, BlockId, Body, Inst, UnOp, ValueData};
use crate::lower::emit::Kernel;
use crate::lower::program::parallel::Shared;
use crate::lower::program::work::step_number;
use crate::lower::program::{LoopVar, Place, PointerVar, Program, Stmt, TileNest};
use crate::narrow;
use crate::runtime::checked::{Check, Guarded, Step};
use cranelift_codegen::Context;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_module::{DataId, FuncId, Module};
use rustc_hash::FxHashMap as HashMap;

/// Copies up to this many bytes are loads and stores.
pub(super) const SMALL_COPY: usize = 64;

/// Straight-line nests with more values than this are functions of their own: time to compile grows faster than the function.
const MOST_INLINE: usize = 1000;

/// More values than this of all inline nests together are no longer inline, for the same reason.
const MOST_INLINE_TOGETHER: usize = 4000;

/// Nests of at most this many values are inline anywhere: a call is as long.
const SHORT_NEST: usize = 16;

/// Nests of so few lanes are scalar code for each, if that is not more than so many values together: a call of a vector is longer, and what
/// it stores is long on its way to a scalar load.
const FEW_LANES: usize = 4;
const MOST_OF_FEW_LANES: usize = 64;

/// Which nests of a program are scalar code inside its function. Those of groups are not: the runtime runs them, some rows at a time. Nor are loops
/// of binary16 where vectors compute with it: scalar code has no instructions for it.
pub(super) fn inline(program: &Program, vectors: Vectors) -> Vec<bool> {
    let kernels = &program.kernels;
    let length = |kernel: &Kernel| kernel.body.values().len();
    let can =
        |kernel: &Kernel| is_inline(kernel) && !(vectors.halves && loops_of_halves(&kernel.body));
    let mut can: Vec<bool> = kernels.iter().map(can).collect();
    for nest in program.tiles.iter().flat_map(|group| &group.nests) {
        can[nest.kernel as usize] = false;
    }
    let each = kernels.iter().zip(&can).filter(|(_, can)| **can);
    let few = each.map(|(kernel, _)| length(kernel)).sum::<usize>() <= MOST_INLINE_TOGETHER;
    let all = kernels.iter().zip(can);
    all.map(|(kernel, can)| can && (few || length(kernel) <= SHORT_NEST))
        .collect()
}

/// Whether a body has loops, and rounds to binary16.
fn loops_of_halves(body: &Body) -> bool {
    let rounds = |value: &ValueData| matches!(value.inst, Inst::Un(UnOp::RoundF16, _));
    body.loop_count() > 0 && body.values().iter().any(rounds)
}

/// Whether a nest can be scalar code inside the function.
fn is_inline(kernel: &Kernel) -> bool {
    let schedule = &kernel.schedule;
    let straight = kernel.body.blocks()[BlockId::LANES.index()]
        .stmts
        .iter()
        .all(|stmt| matches!(stmt, lanes::Stmt::Let(_) | lanes::Stmt::Store { .. }));
    let long = straight && kernel.body.values().len() > MOST_INLINE;
    let lanes = schedule.lanes;
    let few = lanes <= FEW_LANES
        && kernel.body.loop_count() == 0
        && lanes * kernel.body.values().len() <= MOST_OF_FEW_LANES;
    !long
        && (lanes == 1 || few)
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
    pub(super) stop: ir::Value,
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
    /// By a function of the module that goes through its domain.
    Looped(FuncId),
}

/// What the code refers to.
#[derive(Clone, Copy)]
pub(super) struct Callees<'a> {
    pub(super) program: &'a Program,
    /// By kernel.
    pub(super) nests: &'a [Nest],
    /// Loops whose turns are shared out; none where they are run in order.
    pub(super) turns: &'a [SharedTurns],
    pub(super) around: Around<'a>,
    /// What guarded lane programs report, by kernel, if the program is checked.
    pub(super) guards: Option<&'a [Guarded]>,
    /// Where times of steps go, if they are taken.
    pub(super) profile: Option<DataId>,
}

/// What the code runs in.
#[derive(Clone, Copy)]
pub(super) enum Around<'a> {
    /// This process, with its runtime.
    Process(Process<'a>),
    /// Whatever an object is linked into.
    Object(&'a Linked),
}

/// What code in this process refers to, beside functions.
#[derive(Clone, Copy)]
pub(super) struct Process<'a> {
    pub(super) imports: &'a Imports,
    /// Data of groups of nests.
    pub(super) tiles: &'a [DataId],
    /// Kernels.
    pub(super) calls: &'a [DataId],
}

/// What code in an object refers to.
pub(super) struct Linked {
    /// A byte that is 0: nothing ends a run.
    pub(super) never: DataId,
    /// Copies bytes: to, from, their number.
    pub(super) copy: FuncId,
    /// Runs a kernel of the runtime: its text, the length of that, its operands; if there are kernels.
    pub(super) kernel: Option<FuncId>,
    /// Texts of kernels, and their lengths.
    pub(super) calls: Vec<(DataId, usize)>,
    pub(super) consts: Vec<DataId>,
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
    pub(super) callees: Callees<'a>,
    pub(super) params: Params,
    /// Temporaries that a turn has for itself.
    pub(super) own: &'a [u32],
    /// Present turns of the loops.
    pub(super) loops: Vec<ir::Value>,
    pub(super) pointers: Vec<Variable>,
    pub(super) cells: Cells,
    /// Whether operands are looked at.
    pub(super) checked: bool,
    /// Start, length, shadow and tag of the arrays that `pointers` point into, in checked programs.
    pub(super) bounds: Vec<[Variable; 4]>,
    /// The steps of checked programs, for as long as the code lives.
    #[allow(clippy::vec_box)]
    pub(super) checks: Vec<Box<Check>>,
    /// How many steps were named in functions before.
    pub(super) first_check: usize,
    pub(super) failed: ir::Block,
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
    let stop = match callees.around {
        // The first field of the context.
        Around::Process(_) => fb
            .ins()
            .load(types::I64, MemFlagsData::trusted(), context, 0),
        Around::Object(linked) => address_of(module, &mut fb, linked.never),
    };
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
        cells: Cells::default(),
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
        Function::Steps(steps) => {
            generator.make_cells(steps, false);
            generator.block(steps);
        }
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
            Stmt::Nest { kernel, operands } => {
                self.nest(*kernel as usize, operands);
                if !matches!(self.callees.nests[*kernel as usize], Nest::Inline) {
                    self.load_written(stmt);
                }
            }
            Stmt::Tiles { group, operands } => {
                self.tiles(*group as usize, operands);
                self.load_written(stmt);
            }
            Stmt::Call { call, operands } => {
                self.call(*call as usize, operands);
                self.load_written(stmt);
            }
            Stmt::Copy { from, to, bytes } => self.copy(from, to, *bytes),
            Stmt::For {
                var,
                count,
                slots,
                body,
                turns,
            } => self.counted_loop((*var, *count), slots, body, *turns),
            Stmt::While {
                slots,
                cond,
                test,
                body,
            } => self.while_loop(slots, cond, test, body),
            Stmt::Switch { index, branches } => self.switch(index, branches),
        }
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
                for lane in 0..own.schedule.lanes {
                    let [start, end] =
                        [lane, lane + 1].map(|lane| self.fb.ins().iconst(types::I64, lane as i64));
                    let args = LaneArgs {
                        pointers: pointers.clone(),
                        stop: self.params.stop,
                        outer: vec![zero; own.body.outer()],
                        start,
                        end,
                        cells: LaneCells {
                            lane,
                            of: operands.iter().map(|place| self.cells_at(place)).collect(),
                        },
                    };
                    clif::emit_lane(&mut self.fb, self.module, &own.body, &args);
                }
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
            Nest::Looped(function) => {
                let table = self.fill_table(&pointers);
                let domain = Domain::whole(own).constants(&mut self.fb);
                self.looped(function, table, domain);
            }
        }
    }

    fn tiles(&mut self, group: usize, operands: &[Place]) {
        let Process { tiles, .. } = match self.callees.around {
            Around::Process(process) => process,
            Around::Object(_) => return self.looped_tiles(group, operands),
        };
        let launch = tiles[group];
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
        let Process { calls, .. } = match self.callees.around {
            Around::Process(process) => process,
            Around::Object(linked) => return self.linked_call(linked, call, operands),
        };
        let kernel = calls[call];
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
            self.set_in_table(k, pointer);
        }
        self.fb.ins().stack_addr(types::I64, self.table, 0)
    }

    pub(super) fn set_in_table(&mut self, entry: usize, pointer: ir::Value) {
        let at = narrow::<_, i32>(8 * entry);
        self.fb
            .ins()
            .stack_store(types::I64, pointer, self.table, at);
    }

    /// The address of a constant or of what has a name.
    pub(super) fn constant(&mut self, id: DataId) -> ir::Value {
        address_of(self.module, &mut self.fb, id)
    }

    /// Calls a function of the runtime; gives its status if it has one.
    pub(super) fn call_import(&mut self, import: Import, args: &[ir::Value]) -> Option<ir::Value> {
        let Around::Process(process) = self.callees.around else {
            unreachable!("objects have what they need inside")
        };
        self.call_function(process.imports.id(import), args)
    }

    /// Calls a function of the module.
    pub(super) fn call_function(&mut self, id: FuncId, args: &[ir::Value]) -> Option<ir::Value> {
        let (func, module) = (&mut self.fb.func, &mut *self.module);
        let callee = *self.functions.entry(id).or_insert_with(|| {
            let callee = module.declare_func_in_func(id, func);
            // Pages of the module of this process may be far from each other.
            func.dfg.ext_funcs[callee].colocated &= module.isa().flags().is_pic();
            callee
        });
        let call = self.fb.ins().call(callee, args);
        self.fb.inst_results(call).first().copied()
    }

    fn copy(&mut self, from: &Place, to: &Place, bytes: usize) {
        if self.checked {
            return self.check(Step::Copy(bytes), None, &[from, to]);
        }
        self.copy_bytes(from, to, bytes);
        self.copy_cells(from, to, bytes);
    }

    fn copy_bytes(&mut self, from: &Place, to: &Place, bytes: usize) {
        let (from, to) = (self.address(from), self.address(to));
        if bytes > SMALL_COPY {
            let bytes = self.fb.ins().iconst(types::I64, bytes as i64);
            let context = self.params.context;
            match self.callees.around {
                Around::Process(_) => {
                    self.call_import(Import::Copy, &[from, to, bytes, context]);
                }
                Around::Object(linked) => {
                    self.call_function(linked.copy, &[to, from, bytes]);
                }
            }
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
