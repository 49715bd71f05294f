//! What the steps of a program do in a run: bytes that they touch, and operations on floats.

use super::{Program, Step, Stmt};
use crate::lanes::{
    Addr, BinOp, BlockId, GUESSED_TURNS, Index, Inst, LaneStep, MemTy, Pointer, Stmt as Line,
    TerOp, Trip, Ty, UnOp,
};
use crate::lower::emit::Kernel;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Work of one run of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Bytes of different elements that it reads, and of those that it writes.
    pub(crate) bytes: u64,
    /// Operations on floats; a fused multiplication and addition is two.
    pub(crate) flops: u64,
}

/// A step with its names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StepWork {
    pub(crate) name: String,
    /// The equations that it computes, where they were asked for.
    pub(crate) equations: String,
    pub(crate) work: Work,
}

/// How many numbers [`step_number`] gives.
pub(crate) fn step_count(program: &Program) -> usize {
    program.kernels.len() + program.calls.len() + program.tiles.len() + 1
}

/// The number of what a statement does: kernels, then calls, then groups of nests, then all copies. None of what has statements inside.
pub(crate) fn step_number(program: &Program, stmt: &Stmt) -> Option<usize> {
    let (kernels, calls) = (program.kernels.len(), program.calls.len());
    match stmt {
        Stmt::Nest { kernel, .. } => Some(*kernel as usize),
        Stmt::Call { call, .. } => Some(kernels + *call as usize),
        Stmt::Tiles { group, .. } => Some(kernels + calls + *group as usize),
        Stmt::Copy { .. } => Some(kernels + calls + program.tiles.len()),
        Stmt::For { .. } | Stmt::While { .. } | Stmt::Switch { .. } => None,
    }
}

/// What each number stands for.
pub(crate) fn steps(program: &Program) -> Vec<StepWork> {
    let equations = |step: Step| match program.origins.get(&step) {
        Some(origins) => origins.join(", "),
        None => String::new(),
    };
    let kernel = |k: usize| {
        let own = &program.kernels[k];
        StepWork {
            name: own.name.to_string(),
            equations: equations(Step::Kernel(crate::narrow(k))),
            work: of_kernel(own),
        }
    };
    let mut steps: Vec<StepWork> = (0..program.kernels.len()).map(kernel).collect();
    for (k, call) in program.calls.iter().enumerate() {
        let signature = call.call.signature();
        let sizes = signature.inputs.iter().chain(&signature.outputs);
        steps.push(StepWork {
            name: call.name.clone(),
            equations: equations(Step::Call(crate::narrow(k))),
            work: Work {
                bytes: sizes.map(|&size| size as u64).sum(),
                flops: call.flops,
            },
        });
    }
    for group in &program.tiles {
        let nests: Vec<StepWork> = group
            .nests
            .iter()
            .map(|nest| kernel(nest.kernel as usize))
            .collect();
        let join = |text: fn(&StepWork) -> &str| {
            let texts: Vec<&str> = nests
                .iter()
                .map(text)
                .filter(|text| !text.is_empty())
                .collect();
            texts.join(", ")
        };
        steps.push(StepWork {
            name: join(|nest| &nest.name),
            equations: join(|nest| &nest.equations),
            work: Work {
                bytes: nests.iter().map(|nest| nest.work.bytes).sum(),
                flops: nests.iter().map(|nest| nest.work.flops).sum(),
            },
        });
    }
    steps.push(StepWork {
        name: "copies".to_owned(),
        equations: String::new(),
        work: Work::default(),
    });
    steps
}

/// Nanoseconds for one operation of a lane program on one lane.
const OPERATION: f64 = 0.03;

/// About how many nanoseconds a nest takes on one thread.
pub(crate) fn kernel_nanoseconds(kernel: &Kernel) -> f64 {
    let schedule = &kernel.schedule;
    let combinations: usize = schedule.outer.iter().product();
    let points = combinations as f64 * schedule.rows.unwrap_or(1) as f64 * schedule.lanes as f64;
    points * lane_operations(kernel) * OPERATION
}

/// About how many nanoseconds statements take on one thread.
pub(crate) fn nanoseconds(program: &Program, stmts: &[Stmt]) -> f64 {
    let kernel = |k: u32| kernel_nanoseconds(&program.kernels[k as usize]);
    let each = |stmt: &Stmt| match stmt {
        Stmt::Nest { kernel: k, .. } => kernel(*k),
        Stmt::Tiles { group, .. } => {
            let nests = &program.tiles[*group as usize].nests;
            nests.iter().map(|nest| kernel(nest.kernel)).sum()
        }
        Stmt::Call { call, .. } => {
            let call = &program.calls[*call as usize];
            let signature = call.call.signature();
            let bytes: usize = signature.inputs.iter().chain(&signature.outputs).sum();
            (call.flops as f64 * FLOP).max(bytes as f64 * CALL_BYTE)
        }
        Stmt::Copy { bytes, .. } => *bytes as f64 * COPIED_BYTE,
        Stmt::For { count, body, .. } => *count as f64 * nanoseconds(program, body),
        Stmt::While { cond, body, .. } => {
            GUESSED_TURNS * (nanoseconds(program, cond) + nanoseconds(program, body))
        }
        Stmt::Switch { branches, .. } => branches
            .iter()
            .map(|branch| nanoseconds(program, branch))
            .fold(0.0, f64::max),
    };
    stmts.iter().map(each).sum()
}

/// Nanoseconds for a floating point operation of a product.
const FLOP: f64 = 0.01;

/// Nanoseconds for a byte of what a call of the runtime reads and writes, at least.
const CALL_BYTE: f64 = 0.1;

/// Nanoseconds for a byte of a copy.
const COPIED_BYTE: f64 = 0.05;

/// Operations of a lane program for one lane.
fn lane_operations(kernel: &Kernel) -> f64 {
    kernel.body.operations(BlockId::LANES).max(1.0)
}

/// Elements that an access touches: how many, and where the first and the one behind the last stand.
struct Touched {
    bytes: u64,
    /// None of accesses whose places depend on data.
    span: Option<(i64, i64)>,
}

/// Counts a lane program.
struct Counter<'a> {
    kernel: &'a Kernel,
    /// Turns of the loops around, by their numbers.
    turns: HashMap<usize, u64>,
    flops: u64,
    /// What is read and written by pointer, and which addresses are counted.
    touched: HashMap<(Pointer, bool), Vec<Touched>>,
    known: HashSet<(Addr, bool)>,
}

fn of_kernel(kernel: &Kernel) -> Work {
    let counter = Counter::of(kernel);
    let bytes = counter.touched.values().map(|list| together(list));
    Work {
        bytes: bytes.fold(0, u64::saturating_add),
        flops: counter.flops,
    }
}

/// Bytes of different elements that a nest reads and writes of each of its operands, whose numbers these are.
pub(crate) fn traffic(kernel: &Kernel) -> Vec<(usize, bool, u64)> {
    let counter = Counter::of(kernel);
    let mut list: Vec<(usize, bool, u64)> = (counter.touched.iter())
        .map(|(&(pointer, written), list)| (pointer.index(), written, together(list)))
        .collect();
    list.sort_unstable();
    list
}

impl Counter<'_> {
    /// What is in a lane program, counted.
    fn of(kernel: &Kernel) -> Counter<'_> {
        let mut counter = Counter {
            kernel,
            turns: HashMap::default(),
            flops: 0,
            touched: HashMap::default(),
            known: HashSet::default(),
        };
        let schedule = &kernel.schedule;
        let combinations: u64 = schedule.outer.iter().map(|&length| length as u64).product();
        counter.block(BlockId::PROLOGUE, combinations);
        counter.block(
            BlockId::LANES,
            combinations.saturating_mul(schedule.lanes as u64),
        );
        for reduction in kernel.body.reductions() {
            for accumulator in &reduction.accumulators {
                counter.access(&accumulator.dest, accumulator.ty, true);
            }
        }
        counter
    }
}

/// Bytes of several accesses by one pointer: not more than lie between the first and the last.
fn together(list: &[Touched]) -> u64 {
    let sum = list
        .iter()
        .fold(0u64, |sum, own| sum.saturating_add(own.bytes));
    let spans: Option<Vec<(i64, i64)>> = list.iter().map(|own| own.span).collect();
    let Some(spans) = spans else { return sum };
    let first = spans.iter().map(|span| span.0).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.1).max().unwrap_or(0);
    sum.min(last.abs_diff(first))
}

impl Counter<'_> {
    /// A block that is run so many times.
    fn block(&mut self, id: BlockId, times: u64) {
        let kernel = self.kernel;
        for line in &kernel.body.blocks()[id.index()].stmts {
            match line {
                Line::Let(value) => {
                    let value = &kernel.body.values()[value.index()];
                    if let Inst::Load(ty, addr) = &value.inst {
                        self.access(addr, *ty, false);
                    }
                    let flops = if matches!(value.ty, Ty::F32 | Ty::F64) {
                        operations(&value.inst)
                    } else {
                        0
                    };
                    self.flops = self.flops.saturating_add(times.saturating_mul(flops));
                }
                Line::Store { ty, addr, .. } => self.access(addr, *ty, true),
                Line::For(inner) => {
                    let turns = match inner.trip {
                        Trip::Const(turns) => turns,
                        Trip::Outer(_) => kernel.schedule.rows.unwrap_or(1) as u64,
                    };
                    self.turns.insert(inner.id.index(), turns);
                    self.block(inner.body, times.saturating_mul(turns));
                }
                // How often is not known: one turn counts.
                Line::While(inner) => {
                    self.block(inner.head, times);
                    self.block(inner.body, times);
                }
                Line::If(inner) => {
                    self.block(inner.then, times);
                    self.block(inner.otherwise, times);
                }
            }
        }
    }

    fn access(&mut self, addr: &Addr, ty: MemTy, stored: bool) {
        if !self.known.insert((addr.clone(), stored)) {
            return;
        }
        let schedule = &self.kernel.schedule;
        let length = |index: Index| match index {
            Index::Lane => schedule.lanes as u64,
            Index::Loop(inner) => self.turns.get(&inner.index()).copied().unwrap_or(1),
            Index::Outer(k) => match schedule.outer.get(k as usize) {
                Some(&length) => length as u64,
                // The first row, of which the loop over rows counts the others, or the number of a partial result.
                None if k as usize == schedule.outer.len() && schedule.rows.is_some() => 1,
                None => schedule.partial_count() as u64,
            },
        };
        let size = ty.size();
        let mut bytes = size.unsigned_abs();
        let mut span = Some((addr.offset, addr.offset + size));
        let steps = addr
            .terms
            .iter()
            .map(|&(index, stride)| (length(index), stride));
        let lanes = match addr.lane {
            LaneStep::Uniform => None,
            LaneStep::Stride(stride) => Some((length(Index::Lane), stride)),
            LaneStep::Gather(..) => {
                span = None;
                let turns = self
                    .turns
                    .values()
                    .fold(1u64, |all, &turns| all.saturating_mul(turns));
                Some((length(Index::Lane).saturating_mul(turns), 0))
            }
        };
        for (count, stride) in steps.chain(lanes) {
            bytes = bytes.saturating_mul(count);
            let last = i64::try_from(count.saturating_sub(1)).unwrap_or(i64::MAX);
            let far = stride.saturating_mul(last);
            span = span.map(|(first, end)| {
                (
                    first.saturating_add(far.min(0)),
                    end.saturating_add(far.max(0)),
                )
            });
        }
        if let Some((first, end)) = span {
            bytes = bytes.min(end.abs_diff(first));
        }
        let list = self.touched.entry((addr.pointer, stored)).or_default();
        list.push(Touched { bytes, span });
    }
}

/// Operations of an instruction whose result is a float; those on single bits are none.
fn operations(inst: &Inst) -> u64 {
    match inst {
        Inst::Un(UnOp::Bitcast | UnOp::Neg | UnOp::Abs, _) | Inst::Ter(TerOp::Select, ..) => 0,
        Inst::Bin(BinOp::And | BinOp::Or | BinOp::Xor, ..) => 0,
        Inst::Un(..) | Inst::Bin(..) => 1,
        Inst::Ter(TerOp::Fma, ..) => 2,
        Inst::Const(_)
        | Inst::Index(_)
        | Inst::Lookup(..)
        | Inst::Load(..)
        | Inst::Carried
        | Inst::Result => 0,
    }
}
