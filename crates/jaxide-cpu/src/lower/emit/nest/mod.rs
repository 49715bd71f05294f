//! Loop nests → lane programs: which axis becomes the lanes, and what happens to the others.
//!
//! The nest is emitted twice. The first time every axis is an opaque variable, and what the program mentions tells how memory
//! depends on each. Then neighbouring axes that memory treats as one are merged, the axis with the best access becomes the lanes, short ones are
//! unrolled, and the rest are loops: inside the lane program where the lanes are few, else outside.

mod fold;
mod make;
mod partials;
mod plan;

use super::moves::only_moves;
use super::{Binding, Emitted, Emitter, Ix, Ixs, Layout, Memory, Mention, Operand, Refusal, Var};
use crate::lanes::{BlockId, Body, MOST_WOVEN};
use crate::lower::fuse::{Nest, Root, Stored};
use crate::lower::graph::{Combine, Graph, Op, ValueId};
use crate::narrow;
use crate::runtime::launch::CALL;
use jaxide_core::DType;
use make::Maker;
use plan::{LoopPlan, choose};
use smallvec::SmallVec;
use std::fmt;
use std::sync::Arc;

/// Elements computed for one nest.
const BUDGET: usize = 200_000;
/// Domains with fewer points are not cut into blocks.
const CUT_FROM: usize = 256;
/// Beside axes from this length on, short ones are written out and not cut.
const BESIDE: usize = 32;
/// An axis is cut into at most this many blocks.
const MOST_CUTS: usize = 8;
/// With more rows and lanes than this, a turn of the loop around them takes far longer than the call.
const LONG_TURN: usize = 1 << 14;
/// A domain is cut into at most this many blocks.
const MOST_BLOCKS: usize = 12;

/// How a lane program is run over a domain.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Schedule {
    /// Loops around the lane program, outermost first: the first entries of its outer indices.
    pub(crate) outer: Vec<usize>,
    /// A loop inside the lane program over this many rows or a range of them; first row and count are its last two outer indices.
    pub(crate) rows: Option<usize>,
    /// Where the rows are reduced: chunks of so many rows are run one after the other, and each goes on with the results of the one
    /// before.
    pub(crate) chunk: Option<usize>,
    /// Where a reduction is made in partial results that another lane program combines: their number is one more outer index.
    pub(crate) partials: Option<Partials>,
    pub(crate) lanes: usize,
    /// Whether a group of nests runs some of the lanes at a time.
    pub(crate) in_blocks: bool,
    /// Whether one thread takes all of it.
    pub(crate) alone: bool,
}

/// What partial results of a reduction are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Partials {
    /// One for each chunk of rows.
    Chunks,
    /// One for so many lanes each.
    Lanes(usize),
}

impl Schedule {
    /// Whether one call of the lane program does all rows and lanes: they are neither reduced in parts, nor so many that a run could not be
    /// ended soon enough.
    pub(crate) fn runs_at_once(&self) -> bool {
        self.partials.is_none() && self.chunk.is_none() && self.elements_of_turn() <= CALL
    }

    /// Rows and lanes for one combination of outer indices.
    pub(crate) fn elements_of_turn(&self) -> usize {
        self.rows.unwrap_or(1).saturating_mul(self.lanes)
    }

    /// How many partial results a reduction is made in.
    pub(crate) fn partial_count(&self) -> usize {
        match (self.partials, self.rows, self.chunk) {
            (Some(Partials::Chunks), Some(rows), Some(chunk)) => rows.div_ceil(chunk),
            (Some(Partials::Lanes(lanes)), ..) => self.lanes.div_ceil(lanes),
            _ => 1,
        }
    }
}

/// A nest as a lane program.
#[derive(Clone, Debug)]
pub(crate) struct Kernel {
    /// For printed forms: `k3`, or `k3_0` where a nest has several.
    pub(crate) name: Box<str>,
    /// Kernels of a program that do the same have one.
    pub(crate) body: Arc<Body>,
    /// What the pointer table holds.
    pub(crate) operands: Vec<Operand>,
    pub(crate) schedule: Schedule,
}

/// Lanes of the widest register.
const REGISTER: usize = 16;

/// What is known of all calls of a lane program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Calls {
    /// How many lanes each is for, if that is always the same.
    pub(crate) lanes: Option<usize>,
    /// The outer index that a call counts up, running all of its lanes for each value: as often as the entry behind those that the body
    /// declares says, which is not 0.
    pub(crate) turns: Option<u32>,
}

impl Kernel {
    /// What is known of calls of its lane program.
    pub(crate) fn calls(&self) -> Calls {
        Calls {
            lanes: self.lanes_of_call(),
            turns: self.turns_of_call(),
        }
    }

    /// Where a call goes through rows, or reduces its lanes to one result, it is for all of them; and where they fill one register at most: threads share more
    /// of them than that, and only groups of nests run fewer at a time.
    fn lanes_of_call(&self) -> Option<usize> {
        let schedule = &self.schedule;
        let in_parts = schedule.in_blocks || matches!(schedule.partials, Some(Partials::Lanes(_)));
        let together = schedule.rows.is_some() || !self.body.reductions().is_empty();
        (!in_parts && (together || schedule.lanes <= REGISTER)).then_some(schedule.lanes)
    }

    /// The innermost loop around the lane program is run by its code where one turn is one call, and may be as long as the call.
    fn turns_of_call(&self) -> Option<u32> {
        let schedule = &self.schedule;
        let innermost = schedule.outer.len().checked_sub(1)?;
        let short = schedule.elements_of_turn() <= LONG_TURN;
        (schedule.runs_at_once() && short).then(|| narrow(innermost))
    }
}

/// The lane program, under the name of the kernel.
impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.body.print(f, &self.name)
    }
}

/// Makes the lane programs of a nest: one, or one for each block of the domain in which conditions on the indices do not change.
pub(crate) fn nest_kernels(
    graph: &Graph,
    stored: &Stored,
    nest: &Nest,
    name: &str,
) -> Emitted<Vec<Kernel>> {
    let memory = NestMemory {
        graph,
        stored,
        nest,
    };
    let whole = Block::whole(&nest.domain);
    let trial = trial(graph, &memory, &whole)?;
    let blocks = trial.blocks(nest, &whole);
    if blocks.len() == 1 {
        if let Some((axis, length)) = trial.plan(graph, nest, &whole).cut() {
            let (mut first, mut rest) = (whole.clone(), whole);
            first.lengths[axis] = length;
            rest.start[axis] = length;
            rest.lengths[axis] -= length;
            let mut kernels = Vec::new();
            for (block, goes_on) in [(first, false), (rest, true)] {
                let name = format!("{name}_{}", kernels.len());
                let trial = self::trial(graph, &memory, &block)?;
                kernels.push(kernel(graph, &memory, &block, trial, goes_on, &name)?);
            }
            return Ok(kernels);
        }
        let plan = trial.plan(graph, nest, &whole);
        let results_are_lanes = !plan.reduces_lanes();
        let kernel = kernel(graph, &memory, &whole, trial, false, name)?;
        let count = kernel.schedule.partial_count();
        let mut kernels = vec![kernel];
        if count > 1 {
            let name = format!("{name}_all");
            kernels.push(partials::combination(
                &memory,
                count,
                results_are_lanes,
                &name,
            )?);
        }
        return Ok(kernels);
    }
    let mut kernels = Vec::new();
    for (k, block) in blocks.iter().enumerate() {
        let name = format!("{name}_{k}");
        let trial = self::trial(graph, &memory, block)?;
        kernels.push(kernel(graph, &memory, block, trial, false, &name)?);
    }
    Ok(kernels)
}

/// A box of a nest's domain.
#[derive(Clone, Debug)]
struct Block {
    start: Vec<usize>,
    lengths: Vec<usize>,
}

impl Block {
    fn whole(domain: &[usize]) -> Block {
        Block {
            start: vec![0; domain.len()],
            lengths: domain.to_vec(),
        }
    }
}

/// What a first emission tells.
struct Trial {
    axes: Axes,
    mentions: Vec<Mention>,
    cuts: Vec<(Var, i64)>,
    joins: Vec<(Var, usize)>,
    /// Operations of an element.
    operations: f64,
}

fn trial(graph: &Graph, memory: &NestMemory<'_>, block: &Block) -> Emitted<Trial> {
    let nest = memory.nest;
    let mut emitter = Emitter::new(graph, memory, BUDGET);
    emitter.moves = only_moves(graph, memory, nest);
    let mut axes = Axes::default();
    for axis in 0..block.lengths.len() {
        let index = emitter.b.outer();
        axes.push(
            &mut emitter,
            block,
            axis,
            Binding::index(index),
            has_control(nest),
        );
    }
    let mut maker = Maker {
        nest,
        stored: memory.stored,
        block,
        lane_reduced: false,
        goes_on: false,
        chunk: None,
        partial: None,
    };
    maker.points(&mut emitter, &axes, &reduced_axes(nest))?;
    Ok(Trial {
        axes,
        operations: [BlockId::PROLOGUE, BlockId::LANES]
            .map(|block| emitter.b.body().operations(block))
            .iter()
            .sum(),
        mentions: emitter.mentions,
        cuts: emitter.cuts,
        joins: emitter.joins,
    })
}

fn kernel(
    graph: &Graph,
    memory: &NestMemory<'_>,
    block: &Block,
    trial: Trial,
    goes_on: bool,
    name: &str,
) -> Emitted<Kernel> {
    let nest = memory.nest;
    let plan = trial.plan(graph, nest, block);
    if goes_on && plan.reduces_lanes() {
        return Err(Refusal::TooLarge);
    }
    let mut emitter = Emitter::new(graph, memory, BUDGET);
    emitter.moves = only_moves(graph, memory, nest);
    let mut maker = Maker {
        nest,
        stored: memory.stored,
        block,
        lane_reduced: plan.reduces_lanes(),
        goes_on,
        chunk: None,
        partial: None,
    };
    let schedule = maker.run(&mut emitter, &plan)?;
    emitter.finish(name, schedule)
}

impl Trial {
    fn plan(&self, graph: &Graph, nest: &Nest, block: &Block) -> LoopPlan {
        choose(
            nest,
            block,
            &reduced_axes(nest),
            &self.axes,
            &self.mentions,
            &self.joins,
            (memory_holds_accumulators(graph, nest), self.operations),
        )
    }

    /// The blocks of the domain between cuts, where there are few and the domain is worth it.
    fn blocks(&self, nest: &Nest, whole: &Block) -> Vec<Block> {
        let plain = nest
            .roots
            .iter()
            .all(|root| matches!(root, Root::Store(_) | Root::Update(_)));
        if !plain || whole.lengths.iter().product::<usize>() < CUT_FROM {
            return vec![whole.clone()];
        }
        let mut blocks = vec![whole.clone()];
        let longest = whole.lengths.iter().max().copied().unwrap_or(0);
        for (axis, &length) in whole.lengths.iter().enumerate() {
            let Some(var) = self.axes.vars[axis] else {
                continue;
            };
            // Written out beside long lanes, where conditions are known for each copy and the copies are stored side by side.
            if length <= MOST_WOVEN && longest >= BESIDE {
                continue;
            }
            let mut points: Vec<usize> = self
                .cuts
                .iter()
                .filter(|cut| cut.0 == var && cut.1 > 0 && cut.1 < length as i64)
                .map(|cut| narrow(cut.1))
                .collect();
            points.sort_unstable();
            points.dedup();
            if points.is_empty() {
                continue;
            }
            let count = points.len() + 1;
            if count > MOST_CUTS || blocks.len() * count > MOST_BLOCKS {
                return vec![whole.clone()];
            }
            let ends = points.iter().copied().chain([length]);
            let starts = std::iter::once(0).chain(points.iter().copied());
            let ranges: Vec<(usize, usize)> = starts.zip(ends).collect();
            blocks = blocks
                .iter()
                .flat_map(|block| {
                    ranges.iter().map(move |&(start, end)| {
                        let mut cut = block.clone();
                        cut.start[axis] = start;
                        cut.lengths[axis] = end - start;
                        cut
                    })
                })
                .collect();
        }
        blocks
    }
}

/// What the roots make is computed, everything else that is stored is loaded.
struct NestMemory<'a> {
    graph: &'a Graph,
    stored: &'a Stored,
    nest: &'a Nest,
}

impl Memory for NestMemory<'_> {
    fn layout(&self, value: ValueId) -> Option<Layout> {
        let own = self.nest.roots.iter().any(|root| match root {
            Root::Store(made) => *made == value,
            Root::Control(id) => self.graph.node(*id).results.contains(&value),
            Root::Fold { .. } | Root::Update(_) | Root::Scatter(_) => false,
        });
        if own {
            return None;
        }
        self.stored.layout(self.graph, value)
    }

    fn is_window(&self, value: ValueId) -> bool {
        self.stored.is_window(self.graph, value)
    }
}

/// The domain's indices at a point: a variable, or 0 for axes of length 1.
#[derive(Clone, Debug, Default)]
struct Axes {
    at: Ixs,
    vars: Vec<Option<Var>>,
}

impl Axes {
    /// Adds an axis of a block; one of length 1 needs a variable only where lanes are told apart by it (`keep`).
    fn push(
        &mut self,
        emitter: &mut Emitter<'_>,
        block: &Block,
        axis: usize,
        binding: Binding,
        keep: bool,
    ) {
        let (start, length) = (block.start[axis] as i64, block.lengths[axis]);
        if length == 1 && !keep {
            self.at.push(Ix::constant(start));
            self.vars.push(None);
        } else {
            let var = emitter.vars.add(length, binding);
            self.at.push(Ix {
                offset: start,
                ..Ix::var(var)
            });
            self.vars.push(Some(var));
        }
    }

    /// Adds an axis that stands at the block's start until it is unrolled.
    fn push_fixed(&mut self, block: &Block, axis: usize) {
        self.at.push(Ix::constant(block.start[axis] as i64));
        self.vars.push(None);
    }
}

fn has_control(nest: &Nest) -> bool {
    nest.roots
        .iter()
        .any(|root| matches!(root, Root::Control(_)))
}

/// Whether results of reductions have the precision that they are computed in.
fn memory_holds_accumulators(graph: &Graph, nest: &Nest) -> bool {
    nest.roots.iter().all(|root| match root {
        Root::Fold { value, .. } => {
            let half = matches!(graph.dtype(*value), DType::F16 | DType::BF16);
            let rounds = matches!(
                graph.op(*value),
                Some(Op::Reduce {
                    combine: Combine::Add | Combine::Sub | Combine::Mul,
                    ..
                })
            );
            !(half && rounds)
        }
        Root::Store(_) | Root::Control(_) | Root::Update(_) | Root::Scatter(_) => true,
    })
}

fn reduced_axes(nest: &Nest) -> SmallVec<[usize; 4]> {
    nest.roots
        .iter()
        .find_map(|root| match root {
            Root::Fold { axes, .. } => Some(axes.iter().copied().collect()),
            _ => None,
        })
        .unwrap_or_default()
}
