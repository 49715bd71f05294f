//! The loop IR: a whole program as loops, branches, loop nests and calls over planned memory.
//!
//! Arrays are [`Place`]s: bytes from an input, an output, a constant, a temporary or a pointer that changes from turn to turn. Temporaries
//! share one arena; [`plan`](self::arena) gives each its offset by liveness. A [`Kernel`] is a lane program and the loops around it.

pub(crate) mod alone;
mod arena;
mod display;
pub(crate) mod overlay;
pub(crate) mod parallel;
pub(crate) mod tiles;
mod verify;
pub(crate) mod work;

use super::emit::Kernel;
use super::library::Recipe;
use crate::runtime::KernelCall;
use crate::runtime::checked::FENCE;
use jaxide_core::{DType, Result, Shape, Tensor};
use parallel::ParallelLoop;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;
use std::sync::Arc;

/// A whole program.
pub(crate) struct Program {
    /// Types of the arguments.
    pub(crate) inputs: Vec<(DType, Shape)>,
    /// Where each result comes from.
    pub(crate) outputs: Vec<Output>,
    /// Arguments that the program writes to.
    pub(crate) overwritten: Vec<u32>,
    /// Captured arrays.
    pub(crate) consts: Vec<Tensor>,
    /// Bytes of each temporary.
    pub(crate) temps: Vec<usize>,
    /// The temporaries' offsets in the arena.
    pub(crate) offsets: Vec<usize>,
    /// Bytes of the arena.
    pub(crate) arena: usize,
    /// Loops of the program, by [`LoopVar`].
    pub(crate) loops: u32,
    /// Pointers that change, by [`PointerVar`].
    pub(crate) pointers: u32,
    pub(crate) kernels: Vec<Kernel>,
    /// The named scopes that nests and calls belong to, for the printed form.
    pub(crate) scopes: HashMap<Step, Vec<&'static str>>,
    /// The equations that they compute, where they were asked for.
    pub(crate) origins: HashMap<Step, Vec<Arc<str>>>,
    pub(crate) calls: Vec<LibraryCall>,
    /// Nests that run together.
    pub(crate) tiles: Vec<TileGroup>,
    /// Loops whose turns threads share out.
    pub(crate) parallel: Vec<ParallelLoop>,
    pub(crate) body: Vec<Stmt>,
}

impl Program {
    /// Gives temporaries their sizes and offsets, with [`FENCE`]s between them if they are to be `fenced`.
    pub(crate) fn plan_memory(&mut self, fenced: bool) {
        if !fenced {
            tiles::keep_blocks(self);
        }
        arena::assign(self, if fenced { FENCE } else { 0 });
    }

    /// The nests of a group by their kernels, each with its own of the group's operands.
    pub(crate) fn nests_of<'a>(
        &'a self,
        group: u32,
        mut operands: &'a [Place],
    ) -> impl Iterator<Item = (u32, &'a [Place])> {
        self.tiles[group as usize].nests.iter().map(move |nest| {
            let count = self.kernels[nest.kernel as usize].operands.len();
            let (own, others) = operands.split_at(count);
            operands = others;
            (nest.kernel, own)
        })
    }

    /// Shows that every access stays in its array.
    ///
    /// # Errors
    /// Of kind [`ErrorKind::Internal`](jaxide_core::ErrorKind), when some access may go outside; the message names the step and the access.
    pub(crate) fn verify(&self) -> Result<()> {
        verify::verify(self)
    }
}

/// What computes: a nest by its kernel, or a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Step {
    Kernel(u32),
    Call(u32),
}

/// A call of the runtime with its static arguments.
pub(crate) struct LibraryCall {
    /// For the printed form.
    pub(crate) name: String,
    pub(crate) call: Box<KernelCall>,
    /// What it is made of.
    pub(crate) recipe: Recipe,
    /// Operations on floats that it stands for.
    pub(crate) flops: u64,
}

impl LibraryCall {
    /// The call of the kernel that is made of `recipe`.
    ///
    /// # Errors
    /// Those of the recipe, with the operation's name.
    pub(crate) fn new(name: impl Into<String>, recipe: Recipe, flops: u64) -> Result<LibraryCall> {
        let name = name.into();
        match recipe.kernel() {
            Ok(call) => Ok(LibraryCall {
                name,
                call,
                recipe,
                flops,
            }),
            Err(error) => Err(error.in_operation(&name)),
        }
    }
}

/// A result of the program.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Output {
    pub(crate) dtype: DType,
    pub(crate) shape: Shape,
    pub(crate) source: OutputSource,
}

/// Where a result comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputSource {
    /// A buffer of its own that the program fills.
    Computed,
    /// An argument, as it is.
    Input(u32),
    /// An argument's memory, overwritten.
    Donated(u32),
    /// A captured array, as it is.
    Const(u32),
    /// An earlier result.
    Same(u32),
}

/// A counted loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct LoopVar(pub(crate) u32);

/// A pointer that changes from turn to turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct PointerVar(pub(crate) u32);

/// What a place starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Base {
    Input(u32),
    Output(u32),
    Const(u32),
    Temp(u32),
    Pointer(PointerVar),
}

/// A run-time term of an address: an integer in memory, moved into `0..=most`, times `stride` bytes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Dynamic {
    pub(crate) index: Place,
    pub(crate) dtype: DType,
    pub(crate) most: i64,
    pub(crate) stride: i64,
}

/// An address.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Place {
    pub(crate) base: Base,
    /// Bytes from the base.
    pub(crate) offset: i64,
    /// Bytes for each turn of loops.
    pub(crate) terms: SmallVec<[(LoopVar, i64); 1]>,
    pub(crate) dynamic: Vec<Dynamic>,
}

impl Place {
    pub(crate) fn at(base: Base) -> Place {
        Place {
            base,
            offset: 0,
            terms: SmallVec::new(),
            dynamic: Vec::new(),
        }
    }

    pub(crate) fn plus(mut self, bytes: i64) -> Place {
        self.offset += bytes;
        self
    }

    pub(crate) fn term(mut self, var: LoopVar, bytes: i64) -> Place {
        self.terms.push((var, bytes));
        self
    }
}

/// A carried array in two buffers that change roles every turn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Slot {
    /// Points to the value that a turn reads.
    pub(crate) current: PointerVar,
    /// Points to where a turn writes the next one.
    pub(crate) next: PointerVar,
    /// Where they point at first.
    pub(crate) buffers: [Place; 2],
}

/// How the turns of a counted loop follow each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Turns {
    /// One after the other.
    InOrder,
    /// As they come: none needs what another computes.
    AnyOrder,
    /// Threads share them out, as a loop of [`Program::parallel`] says.
    Parallel(u32),
}

/// Nests that run together: a block of rows in each of them, then the next block.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TileGroup {
    pub(crate) rows: usize,
    /// Rows of a block.
    pub(crate) block: usize,
    /// Threads take multiples of so many rows.
    pub(crate) unit: usize,
    /// Whether one thread takes all of them.
    pub(crate) alone: bool,
    pub(crate) nests: Vec<TileNest>,
    /// Temporaries of which there is memory for a block alone, where each block is in turn. Their size in [`Program::temps`] is that of a block.
    pub(crate) kept: Vec<Kept>,
    /// At most so many threads have blocks of those.
    pub(crate) threads: usize,
}

impl TileGroup {
    /// Where the block of each temporary that is kept is in the memory of a thread, and the bytes of all.
    pub(crate) fn layout(&self) -> (Vec<usize>, usize) {
        let mut end = 0;
        let starts = self.kept.iter().map(|kept| {
            let start = end;
            end += (self.block * kept.row).next_multiple_of(arena::ALIGNMENT);
            start
        });
        (starts.collect(), end)
    }

    /// Operands of whose array there is memory for a block alone, with the array's number in `kept`.
    pub(crate) fn kept_operands(&self) -> impl Iterator<Item = (usize, usize)> {
        let kept = self.kept.iter().enumerate();
        kept.flat_map(|(k, kept)| kept.operands.iter().map(move |&operand| (operand, k)))
    }

    /// Bytes of those blocks that each thread but the first has for itself.
    pub(crate) fn kept_bytes(&self) -> usize {
        self.layout().1
    }
}

/// A temporary whose rows nobody needs behind their block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) temp: u32,
    /// Bytes of a row.
    pub(crate) row: usize,
    /// Which operands of the group it is.
    pub(crate) operands: Vec<usize>,
}

/// A nest that runs by rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TileNest {
    pub(crate) kernel: u32,
    pub(crate) rows: RowsOf,
}

/// What the rows of a nest are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowsOf {
    /// Its outermost loop.
    Outer,
    /// The loop over rows inside its lane program.
    Inner,
    /// So many of its lanes each.
    Lanes(usize),
}

/// One step.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Stmt {
    /// A loop nest; operands in the order of its pointer table.
    Nest { kernel: u32, operands: Vec<Place> },
    /// A group of [`Program::tiles`]; operands of all its nests in order.
    Tiles { group: u32, operands: Vec<Place> },
    /// A call of the runtime: inputs, then outputs.
    Call { call: u32, operands: Vec<Place> },
    /// Copies bytes; the two do not overlap.
    Copy {
        from: Place,
        to: Place,
        bytes: usize,
    },
    /// Repeats a body a fixed number of times.
    For {
        var: LoopVar,
        count: usize,
        slots: Vec<Slot>,
        body: Vec<Stmt>,
        turns: Turns,
    },
    /// Repeats a body while a truth value in memory, which `cond` computes, holds.
    While {
        slots: Vec<Slot>,
        cond: Vec<Stmt>,
        test: Place,
        body: Vec<Stmt>,
    },
    /// Runs the branch at an `i32` in memory; an index outside means the nearest.
    Switch {
        index: Place,
        branches: Vec<Vec<Stmt>>,
    },
}
