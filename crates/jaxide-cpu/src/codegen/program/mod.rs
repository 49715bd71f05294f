//! The loop IR as machine code: one function for a whole program.
//!
//! Loops and branches become blocks, arrays addresses. A nest with a single lane is emitted in place as scalar code; others are lane
//! programs of their own, called by address: directly where they are small, else through [`launch`], which splits them over threads.

mod cells;
mod checked;
mod code;
mod control;
mod launch;
pub(crate) mod linked;
mod looped;
mod place;
mod profile;
mod turns;

use super::clif;
use super::lanes::{self, CompileError, Defined, Isa, Vectors};
use super::module::{Imports, Jit, Placed, signature};
use super::perf_map;
use crate::lanes::Body;
use crate::lanes::guard::guard;
use crate::lower::emit::Calls;
use crate::lower::program::parallel::{self, Shared, visit};
use crate::lower::program::work::step_count;
use crate::lower::program::{Base, PointerVar, Program, Stmt};
use crate::options::CompileOptions;
use crate::runtime::Context as RunContext;
use crate::runtime::checked::{Check, Guarded};
use crate::runtime::launch::{Launch, TileLaunch};
use crate::runtime::profile::Cells;
use crate::runtime::stack::ASSUMED;
use crate::runtime::turns::TurnsLaunch;
use crate::stages::{Stage, StageTimes};
use code::{Around, Callees, Function, Nest, Process, SharedTurns};
use cranelift_codegen::Context;
use cranelift_frontend::FunctionBuilderContext;
use cranelift_module::{
    DataDescription, DataId, FuncId, Linkage, Module, ModuleDeclarations, ModuleRelocTarget,
};
use jaxide_core::{Error, ErrorKind, Result};
use launch::Scheduled;
use rustc_hash::FxHashMap as HashMap;
use std::collections::hash_map;
use std::mem::offset_of;
use std::sync::Arc;
use std::time::Instant;

/// The entry of a program: pointers to the arguments, to the results' buffers and to the constants, the arena, and the execution.
/// Gives 0, or another number after the execution took an error. In a checked program the pointers to shadows follow in each table,
/// and the shadow of the arena follows the arena.
///
/// # Safety
/// Arguments, results and constants have the sizes that the program states, the arena its size, all 16-byte aligned or better than
/// their element types ask; results overlap nothing else. Shadows have the size of what they are for.
pub(crate) type Entry = unsafe extern "C" fn(
    inputs: *const *const u8,
    outputs: *const *mut u8,
    consts: *const *const u8,
    arena: *mut u8,
    context: *const RunContext<'_>,
) -> u32;

/// A compiled program.
pub(crate) struct Code {
    entry: Entry,
    placed: Placed,
    clif: String,
    /// The functions: of lane programs with the number of the first kernel that has it, of the program without.
    functions: Vec<(Option<usize>, FuncId, Defined)>,
    stack: usize,
    /// Referred to by name from the code: each stays where it is.
    #[allow(clippy::vec_box)]
    _checks: Vec<Box<Check>>,
    /// Times of steps, if they are taken; referred to by name from the code.
    profile: Option<Cells>,
}

impl Code {
    /// Times of steps, if they are taken.
    pub(crate) fn profile(&self) -> Option<&Cells> {
        self.profile.as_ref()
    }

    /// The function; valid as long as `self` and the program live.
    pub(crate) fn entry(&self) -> Entry {
        self.entry
    }

    /// Bytes of stack that a call of the function takes, its lane programs included, but for what the runtime takes.
    pub(crate) fn stack(&self) -> usize {
        self.stack
    }

    /// The function in Cranelift's text form.
    pub(crate) fn clif(&self) -> &str {
        &self.clif
    }

    /// Machine code of the function and of the lane programs that have their own, with the number of the first kernel that runs it.
    pub(crate) fn machine_code(&self) -> impl Iterator<Item = (Option<usize>, &[u8])> {
        self.functions.iter().map(|(kernel, function, defined)| {
            // SAFETY: that is its length.
            let code = unsafe { self.placed.code(*function, defined.bytes) };
            (*kernel, code)
        })
    }
}

/// Code of lane programs: kernels that have one body have it once.
struct LanePrograms {
    /// Which function a body has.
    known: HashMap<(*const Body, Calls), usize>,
    /// The functions, each with the first kernel that has it.
    functions: Vec<(usize, FuncId, Defined)>,
    emitter: lanes::Emitter,
}

impl LanePrograms {
    fn new(vectors: Vectors) -> LanePrograms {
        LanePrograms {
            known: HashMap::default(),
            functions: Vec::new(),
            emitter: lanes::Emitter::new(vectors),
        }
    }

    /// The number of the function of kernel `k`.
    fn of(
        &mut self,
        module: &mut dyn Module,
        k: usize,
        body: &Arc<Body>,
        calls: Calls,
    ) -> Result<usize, CompileError> {
        if let Some(&function) = self.known.get(&(Arc::as_ptr(body), calls)) {
            return Ok(function);
        }
        let function = lanes::declare(module, &format!("k{k}"))?;
        let defined = self.emitter.define(module, function, body, calls)?;
        self.functions.push((k, function, defined));
        let number = self.functions.len() - 1;
        self.known.insert((Arc::as_ptr(body), calls), number);
        Ok(number)
    }
}

/// Functions of the program that are compiled one after the other.
struct Functions {
    context: Context,
    frontend: FunctionBuilderContext,
    /// Their text, if it is wanted.
    clif: Option<String>,
    /// The largest frame.
    frame: usize,
    #[allow(clippy::vec_box)]
    checks: Vec<Box<Check>>,
    defined: Vec<(FuncId, Defined)>,
}

impl Functions {
    /// Of nothing so far.
    fn new(keep_text: bool) -> Functions {
        Functions {
            context: Context::new(),
            frontend: FunctionBuilderContext::new(),
            clif: keep_text.then(String::new),
            frame: 0,
            checks: Vec::new(),
            defined: Vec::new(),
        }
    }

    /// Defines a function with the signature of [`Entry`].
    fn define(
        &mut self,
        module: &mut dyn Module,
        name: &str,
        function: Function<'_>,
        callees: Callees<'_>,
    ) -> Result<FuncId, CompileError> {
        let context = &mut self.context;
        context.clear();
        let first_check = self.checks.len();
        let frontend = &mut self.frontend;
        let checks = code::define(context, frontend, module, function, callees, first_check);
        if let Some(text) = &mut self.clif {
            text.push_str(&with_names(module, name, context));
        }
        let signature = signature(module, 5, true);
        let id = module.declare_function(name, Linkage::Local, &signature)?;
        module.define_function(id, context)?;
        self.checks.extend(checks);
        let defined = Defined::by_cranelift(context);
        self.frame = self.frame.max(defined.stack);
        self.defined.push((id, defined));
        Ok(id)
    }

    /// Defines all steps of a program; gives the function, and the stack that it takes with those it is cut into.
    fn whole(
        &mut self,
        module: &mut dyn Module,
        callees: Callees<'_>,
    ) -> Result<(FuncId, usize), CompileError> {
        let steps = &callees.program.body;
        let mut frames = 0;
        let whole = if steps.len() <= code::MOST_STEPS {
            Function::Steps(steps)
        } else {
            let mut pieces = Vec::new();
            for (k, steps) in cut(callees.program, steps).into_iter().enumerate() {
                let name = format!("steps{k}");
                pieces.push(self.define(module, &name, Function::Steps(steps), callees)?);
            }
            frames = std::mem::take(&mut self.frame);
            Function::Calls(pieces)
        };
        let main = self.define(module, "program", whole, callees)?;
        Ok((main, self.frame + frames))
    }
}

/// Steps in lists of about [`MOST_STEPS`](code::MOST_STEPS). What a loop leaves is found by pointers, which are variables of one function: so a loop
/// and what comes behind it up to the last use of one of them are not cut.
fn cut<'a>(program: &Program, steps: &'a [Stmt]) -> Vec<&'a [Stmt]> {
    let mut last_use: HashMap<PointerVar, usize> = HashMap::default();
    for (k, step) in steps.iter().enumerate() {
        visit(program, std::slice::from_ref(step), &mut |place, _| {
            if let Base::Pointer(var) = place.base {
                last_use.insert(var, k);
            }
        });
    }
    let mut pieces = Vec::new();
    let (mut start, mut needed) = (0, 0);
    for (k, step) in steps.iter().enumerate() {
        if k - start >= code::MOST_STEPS && k > needed {
            pieces.push(&steps[start..k]);
            start = k;
        }
        if let Stmt::For { slots, .. } | Stmt::While { slots, .. } = step {
            let vars = slots.iter().flat_map(|slot| [slot.current, slot.next]);
            let uses = vars.filter_map(|var| last_use.get(&var).copied());
            needed = uses.fold(needed, usize::max);
        }
    }
    pieces.push(&steps[start..]);
    pieces
}

/// The most stack that a lane program takes.
fn deepest(functions: &[(usize, FuncId, Defined)]) -> usize {
    let stacks = functions.iter().map(|(_, _, defined)| defined.stack);
    stacks.max().unwrap_or(0)
}

/// The text of a function, with the names of what it refers to in front.
fn with_names(module: &dyn Module, name: &str, context: &Context) -> String {
    let mut text = format!("; {name}\n");
    let declarations = module.declarations();
    for (symbol, external) in context.func.params.user_named_funcs().iter() {
        let target = ModuleRelocTarget::user(external.namespace, external.index);
        let name = if ModuleDeclarations::is_function(&target) {
            let id = FuncId::from_name(&target);
            declarations.get_function_decl(id).linkage_name(id)
        } else {
            let id = DataId::from_name(&target);
            declarations.get_data_decl(id).linkage_name(id)
        };
        text.push_str(&format!("; {symbol} is {name}\n"));
    }
    text.push_str(&context.func.display().to_string());
    text
}

/// A constant of the program: bytes, and functions and other constants whose addresses stand in them.
#[derive(Default)]
struct Constant {
    bytes: Vec<u8>,
    functions: Vec<(usize, FuncId)>,
    constants: Vec<(usize, DataId)>,
    /// Where addresses inside the constant itself stand, and of which of its bytes they are.
    own: Vec<(usize, usize)>,
}

impl Constant {
    fn define(self, module: &mut dyn Module, name: &str) -> Result<DataId, CompileError> {
        let mut data = DataDescription::new();
        data.define(self.bytes.into_boxed_slice());
        data.set_align(8);
        for (at, function) in self.functions {
            let function = module.declare_func_in_data(function, &mut data);
            data.write_function_addr(crate::narrow(at), function);
        }
        for (at, constant) in self.constants {
            let constant = module.declare_data_in_data(constant, &mut data);
            data.write_data_addr(crate::narrow(at), constant, 0);
        }
        let id = module.declare_data(name, Linkage::Local, false, false)?;
        for (at, of) in self.own {
            let this = module.declare_data_in_data(id, &mut data);
            data.write_data_addr(crate::narrow(at), this, crate::narrow(of));
        }
        module.define_data(id, &data)?;
        Ok(id)
    }
}

/// Compiles a program: with guards around all that it accesses, its text, or times of its steps, as the options ask for.
///
/// # Errors
/// When the code generator refuses, or there is no memory for the code.
pub(crate) fn compile(
    program: &Program,
    isa: Isa,
    CompileOptions {
        keep_text,
        checked,
        profile,
        ..
    }: &CompileOptions,
    times: &mut StageTimes,
) -> Result<Code> {
    let checked = *checked;
    let start = Instant::now();
    let mut guards = Vec::new();
    let mut guarded = Vec::new();
    if checked {
        let mut known = HashMap::default();
        for (k, kernel) in program.kernels.iter().enumerate() {
            let (body, sites) = match known.entry(Arc::as_ptr(&kernel.body)) {
                hash_map::Entry::Occupied(entry) => entry.into_mut(),
                hash_map::Entry::Vacant(entry) => {
                    let body = guard(&kernel.body)
                        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))?;
                    entry.insert((Arc::new(body.body), body.sites))
                }
            };
            guards.push(Guarded {
                name: program.kernel_title(k),
                sites: sites.clone(),
                operands: kernel.operands.len(),
            });
            guarded.push(Arc::clone(body));
        }
    }
    let guards = checked.then_some((&guards[..], &guarded[..]));
    times.add(Stage::Kernels, start.elapsed());
    generate(program, isa, (*keep_text, *profile), guards, times)
        .map_err(|error| Error::new(ErrorKind::Internal, error.to_string()))
}

/// As [`compile`]; of checked programs with the guarded bodies of kernels, and what they report.
fn generate(
    program: &Program,
    isa: Isa,
    (text, profile): (bool, bool),
    guards: Option<(&[Guarded], &[Arc<Body>])>,
    times: &mut StageTimes,
) -> Result<Code, CompileError> {
    let start = Instant::now();
    let vectors = Vectors::of(isa);
    let mut lane_programs = LanePrograms::new(vectors);
    let mut jit = Jit::new()?;
    let inline = code::inline(program, vectors);
    let mut codes = Vec::with_capacity(program.kernels.len());
    for (k, kernel) in program.kernels.iter().enumerate() {
        let body = guards.map_or(&kernel.body, |(_, guarded)| &guarded[k]);
        codes.push(if guards.is_some() || !inline[k] {
            Some(lane_programs.of(jit.module(), k, body, kernel.calls())?)
        } else {
            None
        });
    }
    let lane_functions = lane_programs.functions;
    times.add(Stage::Kernels, start.elapsed());

    let start = Instant::now();
    let (nests, tiles) = constants(
        program,
        jit.module(),
        &lane_functions,
        &codes,
        guards.is_some(),
    )?;
    let mut calls = Vec::with_capacity(program.calls.len());
    for (k, call) in program.calls.iter().enumerate() {
        let name = format!("call{k} {}", call.name);
        calls.push(
            jit.module()
                .declare_data(&name, Linkage::Import, false, false)?,
        );
        jit.symbols.name(name, &*call.call);
    }
    let cells = profile.then(|| Cells::new(step_count(program)));
    let profile = match &cells {
        Some(cells) => {
            jit.symbols.name(profile::SYMBOL.to_owned(), cells.first());
            let own = jit
                .module()
                .declare_data(profile::SYMBOL, Linkage::Import, false, false)?;
            Some(own)
        }
        None => None,
    };
    let imports = Imports::declare(jit.module())?;
    let mut callees = Callees {
        program,
        nests: &nests,
        turns: &[],
        around: Around::Process(Process {
            imports: &imports,
            tiles: &tiles,
            calls: &calls,
        }),
        guards: guards.map(|(nests, _)| nests),
        profile,
    };
    let mut functions = Functions::new(text);
    let of_lanes = deepest(&lane_functions);
    let mut frames = 0;
    let mut turns = Vec::new();
    // What is checked, and what is timed, has its steps in order.
    if guards.is_none() && profile.is_none() {
        for shared in parallel::shared(program) {
            let name = format!("turns{}", shared.number);
            let body = functions.define(jit.module(), &name, Function::Turns(&shared), callees)?;
            let frame = std::mem::take(&mut functions.frame);
            frames = frames.max(frame);
            let alone = frame + of_lanes > ASSUMED;
            turns.push(shared_turns(program, jit.module(), shared, body, alone)?);
        }
    }
    callees.turns = &turns;
    let (main, own) = functions.whole(jit.module(), callees)?;
    let stack = own + frames + of_lanes;
    for (k, check) in functions.checks.iter().enumerate() {
        jit.symbols.name(checked::symbol(k), &**check);
    }
    let placed = jit.finish()?;
    // SAFETY: there is a function of this signature, and `placed` keeps it in place.
    let entry = unsafe { std::mem::transmute::<*const u8, Entry>(placed.address(main)) };
    let code = Code {
        entry,
        placed,
        clif: functions.clif.unwrap_or_default(),
        functions: (functions.defined.into_iter().rev())
            .map(|(id, defined)| (None, id, defined))
            .chain(
                lane_functions
                    .into_iter()
                    .map(|(k, id, defined)| (Some(k), id, defined)),
            )
            .collect(),
        stack,
        _checks: functions.checks,
        profile: cells,
    };
    times.add(Stage::Program, start.elapsed());
    if perf_map::is_wanted() {
        perf_map::add(code.machine_code().map(|(kernel, code)| {
            let name = kernel.map_or_else(|| "program".to_owned(), |k| program.kernel_name(k));
            (code, format!("jaxide {name}"))
        }));
    }
    Ok(code)
}

/// How a loop is run whose turns are shared out, with its code; on one thread if helpers have too little stack for it.
fn shared_turns(
    program: &Program,
    module: &mut dyn Module,
    shared: Shared<'_>,
    body: FuncId,
    alone: bool,
) -> Result<SharedTurns, CompileError> {
    let parallel = &program.parallel[shared.number];
    let launch = TurnsLaunch {
        body: None,
        count: shared.count,
        at_once: parallel.at_once,
        start: parallel.memory.start,
        bytes: parallel.memory.len(),
        splits: usize::from(parallel.splits),
        threads: if alone { 1 } else { parallel.threads },
    };
    let constant = Constant {
        bytes: launch.bytes(),
        functions: vec![(offset_of!(TurnsLaunch, body), body)],
        ..Constant::default()
    };
    Ok(SharedTurns {
        launch: constant.define(module, &format!("turns{} data", shared.number))?,
        loops: shared.loops,
        pointers: shared.pointers,
    })
}

/// How nests are run, by kernel, and the data of groups.
fn constants(
    program: &Program,
    module: &mut dyn Module,
    functions: &[(usize, FuncId, Defined)],
    codes: &[Option<usize>],
    checked: bool,
) -> Result<(Vec<Nest>, Vec<DataId>), CompileError> {
    let mut in_groups = vec![false; program.kernels.len()];
    for group in &program.tiles {
        for nest in &group.nests {
            in_groups[nest.kernel as usize] = true;
        }
    }
    let mut scheduled = Vec::with_capacity(codes.len());
    let mut nests = Vec::with_capacity(codes.len());
    for (k, (kernel, code)) in program.kernels.iter().zip(codes).enumerate() {
        let Some(code) = *code else {
            clif::define_tables(module, &kernel.body)?;
            scheduled.push(None);
            nests.push(Nest::Inline);
            continue;
        };
        let (_, function, defined) = functions[code];
        let schedule = Scheduled::new(kernel, defined.stack);
        nests.push(if schedule.is_direct() && !checked && !in_groups[k] {
            Nest::Direct(function, kernel.schedule.lanes)
        } else {
            let constant = Constant {
                bytes: schedule.bytes(),
                functions: vec![(Launch::ENTRY_AT, function)],
                own: vec![(Launch::OUTER_AT, Launch::LENGTHS_AT)],
                ..Constant::default()
            };
            Nest::Launched(constant.define(module, &format!("launch{k}"))?)
        });
        scheduled.push(Some(schedule));
    }
    let pointers = |kernel: usize| {
        let own = program.kernels[kernel].operands.len();
        if checked { 2 * own + 2 } else { own }
    };
    let mut tiles = Vec::with_capacity(program.tiles.len());
    for (k, group) in program.tiles.iter().enumerate() {
        let launches = group.nests.iter().enumerate().map(|(run, nest)| {
            let Nest::Launched(launch) = nests[nest.kernel as usize] else {
                unreachable!("nests of groups are data")
            };
            (TileLaunch::launch_at(run), launch)
        });
        let constant = Constant {
            constants: launches.collect(),
            bytes: launch::group(group, &scheduled, pointers),
            ..Constant::default()
        };
        tiles.push(constant.define(module, &format!("tiles{k}"))?);
    }
    Ok((nests, tiles))
}
