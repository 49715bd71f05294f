//! The lane program: what a fused loop does for one element.

use super::op::{BinOp, TerOp, UnOp};
use super::types::{MemTy, Ty};
use std::fmt;
use std::hash::{Hash, Hasher};

/// A value of a [`Body`], defined once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub(crate) u32);

/// A block of statements of a [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BlockId(pub(crate) u32);

/// A [`For`] loop of a [`Body`], naming its index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct LoopId(pub(crate) u32);

/// An entry of the pointer table of a [`Body`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pointer(pub(crate) u32);

impl Value {
    /// The value at this position of [`Body::values`].
    pub(crate) fn from_index(index: usize) -> Value {
        Value(index as u32)
    }

    /// Position in [`Body::values`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl BlockId {
    /// The block that runs once per call, before the lanes; its values are the same in all lanes.
    pub const PROLOGUE: BlockId = BlockId(0);
    /// The block that runs for every lane.
    pub const LANES: BlockId = BlockId(1);

    /// Position in [`Body::blocks`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl LoopId {
    /// Number of the loop, counted from 0 in the order of construction.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

impl Pointer {
    /// Position in the pointer table.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// What a body does with the memory behind a pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Nothing that the body stores is read through this pointer, so loads may be merged and moved.
    ReadOnly,
    /// Loads and stores keep their order.
    ReadWrite,
}

/// A number that is the same in all lanes, or the lane's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Index {
    /// The lane's number, from `start` to `end` of the call.
    Lane,
    /// An entry of the `outer` array of the call.
    Outer(u32),
    /// The index of an enclosing [`For`], from 0.
    Loop(LoopId),
}

/// How an address depends on the lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LaneStep {
    /// All lanes use the same address.
    Uniform,
    /// The lane's number times this many bytes.
    Stride(i64),
    /// A signed integer of the lane's own times this many bytes.
    Gather(Value, i64),
}

/// An address: pointer + offset + sum of index × stride + lane step, in bytes.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Addr {
    /// The entry of the pointer table.
    pub pointer: Pointer,
    /// Constant part, in bytes.
    pub offset: i64,
    /// Parts linear in uniform indices: index and stride in bytes. Never [`Index::Lane`].
    pub terms: Vec<(Index, i64)>,
    /// The part that differs between lanes.
    pub lane: LaneStep,
}

impl Addr {
    /// The address that the pointer holds, the same in all lanes.
    pub fn uniform(pointer: Pointer) -> Addr {
        Addr {
            pointer,
            offset: 0,
            terms: Vec::new(),
            lane: LaneStep::Uniform,
        }
    }

    /// Lane `i` at `pointer[i]`, for elements of type `ty`.
    pub fn contiguous(pointer: Pointer, ty: MemTy) -> Addr {
        Addr::strided(pointer, ty.size())
    }

    /// Lane `i` at `i * stride` bytes.
    pub fn strided(pointer: Pointer, stride: i64) -> Addr {
        let lane = if stride == 0 {
            LaneStep::Uniform
        } else {
            LaneStep::Stride(stride)
        };
        Addr {
            lane,
            ..Addr::uniform(pointer)
        }
    }

    /// Each lane at `index * scale` bytes.
    pub fn gather(pointer: Pointer, index: Value, scale: i64) -> Addr {
        Addr {
            lane: LaneStep::Gather(index, scale),
            ..Addr::uniform(pointer)
        }
    }

    /// The address moved by a constant number of bytes.
    pub fn plus(mut self, bytes: i64) -> Addr {
        self.offset += bytes;
        self
    }

    /// The address moved by `index * stride` bytes. [`Index::Lane`] adds to the lane stride.
    ///
    /// # Panics
    /// With [`Index::Lane`] on a gather.
    pub fn term(mut self, index: Index, stride: i64) -> Addr {
        if index == Index::Lane {
            let stride = stride
                + match self.lane {
                    LaneStep::Uniform => 0,
                    LaneStep::Stride(s) => s,
                    LaneStep::Gather(..) => panic!("a gather has no lane stride"),
                };
            self.lane = if stride == 0 {
                LaneStep::Uniform
            } else {
                LaneStep::Stride(stride)
            };
            return self;
        }
        match self.terms.binary_search_by_key(&index, |t| t.0) {
            Ok(at) => self.terms[at].1 += stride,
            Err(at) => self.terms.insert(at, (index, stride)),
        }
        self.terms.retain(|t| t.1 != 0);
        self
    }
}

/// A table of constants that [`Inst::Lookup`] reads.
#[derive(Clone, Copy, Debug)]
pub struct Table(pub &'static TableData);

/// The entries of a [`Table`].
#[derive(Debug)]
pub struct TableData {
    /// Its name in machine code: no two tables have the same.
    pub name: &'static str,
    /// The numbers.
    pub entries: Entries,
}

/// Numbers of a table.
#[derive(Clone, Copy, Debug)]
pub enum Entries {
    /// For [`Ty::F32`] or [`Ty::I32`] values.
    Bits32(&'static [u32]),
    /// For [`Ty::F64`] or [`Ty::I64`] values.
    Bits64(&'static [u64]),
}

/// Tables are told apart by their names.
impl PartialEq for Table {
    fn eq(&self, other: &Table) -> bool {
        self.0.name == other.0.name
    }
}

impl Eq for Table {}

impl Hash for Table {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.name.hash(state);
    }
}

impl Table {
    /// Number of entries.
    pub fn len(self) -> usize {
        match self.0.entries {
            Entries::Bits32(t) => t.len(),
            Entries::Bits64(t) => t.len(),
        }
    }

    /// Whether there are no entries.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// Width of an entry in bits.
    pub fn bits(self) -> u32 {
        match self.0.entries {
            Entries::Bits32(_) => 32,
            Entries::Bits64(_) => 64,
        }
    }

    /// The bits of an entry; an index past the end reads the last one, as every emitter does.
    pub fn get(self, index: u64) -> u64 {
        let at = usize::try_from(index)
            .unwrap_or(usize::MAX)
            .min(self.len() - 1);
        match self.0.entries {
            Entries::Bits32(t) => u64::from(t[at]),
            Entries::Bits64(t) => t[at],
        }
    }

    /// The entries one after the other, little endian.
    pub fn bytes(self) -> Vec<u8> {
        match self.0.entries {
            Entries::Bits32(t) => t.iter().flat_map(|x| x.to_le_bytes()).collect(),
            Entries::Bits64(t) => t.iter().flat_map(|x| x.to_le_bytes()).collect(),
        }
    }
}

/// How a value comes about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Inst {
    /// A constant, by its bits.
    Const(u64),
    /// An index as data: its low bits as an integer.
    Index(Index),
    /// One operand.
    Un(UnOp, Value),
    /// Two operands.
    Bin(BinOp, Value, Value),
    /// Three operands.
    Ter(TerOp, Value, Value, Value),
    /// The table's entry at an unsigned index.
    Lookup(Table, Value),
    /// An element of memory.
    Load(MemTy, Box<Addr>),
    /// The value that a loop or the accumulation over lanes carries, at the start of a turn.
    Carried,
    /// A result of a [`For`], [`While`] or [`If`].
    Result,
}

/// Type, origin and place of a value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ValueData {
    /// The type.
    pub ty: Ty,
    /// The origin.
    pub inst: Inst,
    /// The block that holds its definition.
    pub block: BlockId,
}

/// How often a [`For`] runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Trip {
    /// This often.
    Const(u64),
    /// As an entry of the `outer` array says; not at all if that is negative.
    Outer(u32),
}

/// A value that a loop carries from turn to turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Carry {
    /// Before the first turn.
    pub init: Value,
    /// At the start of a turn.
    pub param: Value,
    /// At the end of a turn.
    pub next: Value,
    /// After the last turn.
    pub result: Value,
}

/// A counted loop inside a lane; all lanes make the same number of turns.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct For {
    /// Names the index.
    pub id: LoopId,
    /// Number of turns.
    pub trip: Trip,
    /// What is carried.
    pub carries: Vec<Carry>,
    /// One turn.
    pub body: BlockId,
}

/// A conditional loop inside a lane. A lane whose condition is false keeps its carried values while others go on;
/// the loop ends when no lane is active.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct While {
    /// What is carried.
    pub carries: Vec<Carry>,
    /// Computes the condition.
    pub head: BlockId,
    /// The condition, a mask.
    pub cond: Value,
    /// One turn.
    pub body: BlockId,
}

/// What an [`If`] yields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Arm {
    /// Where the condition holds.
    pub then: Value,
    /// Elsewhere.
    pub otherwise: Value,
    /// The result.
    pub result: Value,
}

/// A branch inside a lane. An arm that no lane takes is skipped.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct If {
    /// The condition, a mask.
    pub cond: Value,
    /// The arm for lanes whose condition holds.
    pub then: BlockId,
    /// The arm for the others.
    pub otherwise: BlockId,
    /// What the arms yield.
    pub arms: Vec<Arm>,
}

/// One step of a block.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Stmt {
    /// Define a value.
    Let(Value),
    /// Write an element.
    Store {
        /// Its type in memory.
        ty: MemTy,
        /// Where.
        addr: Box<Addr>,
        /// What.
        value: Value,
    },
    /// A counted loop.
    For(Box<For>),
    /// A conditional loop.
    While(Box<While>),
    /// A branch.
    If(Box<If>),
}

/// Statements in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Block {
    /// The statements.
    pub stmts: Vec<Stmt>,
    /// The block that holds the statement this one belongs to.
    pub parent: Option<BlockId>,
}

/// One accumulator of a [`Reduction`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Accumulator {
    /// The neutral element, a constant or a value of the prologue.
    pub init: Value,
    /// Its value before a lane.
    pub param: Value,
    /// Its value after the lane, computed in the lanes' block.
    pub next: Value,
    /// Operands of the combination of two partial results.
    pub pair: (Value, Value),
    /// Result of the combination.
    pub combined: Value,
    /// Where the result goes; its lane step is uniform.
    pub dest: Addr,
    /// As what it is stored.
    pub ty: MemTy,
}

/// An accumulation over the lanes of a call.
///
/// Lane `i` updates accumulator `(i - start) mod W`, in the order of the lanes, with `W` = [`Body::accumulators`];
/// then accumulators `j` and `j + h` are combined for h = W/2, W/4, …, 1. The order does not depend
/// on the machine or on the emitter, so that the result does not either.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Reduction {
    /// What is accumulated together.
    pub accumulators: Vec<Accumulator>,
    /// Computes [`Accumulator::combined`] from [`Accumulator::pair`].
    pub combine: BlockId,
}

/// A verified lane program; made by a [`Builder`](super::Builder).
#[derive(Clone, Debug)]
pub struct Body {
    pub(crate) name: String,
    pub(crate) pointers: Vec<Access>,
    pub(crate) outer: u32,
    pub(crate) values: Vec<ValueData>,
    pub(crate) blocks: Vec<Block>,
    pub(crate) loops: u32,
    pub(crate) reductions: Vec<Reduction>,
    /// For a body with guards: how many accumulators it had without them. Such a body may store in its prologue, to report.
    pub(crate) guarded: Option<usize>,
}

impl Body {
    /// The name, for printed forms and symbols.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// All that its machine code depends on: everything but the name.
    pub(crate) fn substance(&self) -> impl Eq + Hash + '_ {
        (
            (&self.pointers, self.outer),
            (&self.values, &self.blocks, self.loops),
            (&self.reductions, self.guarded),
        )
    }

    /// What the body does with each pointer.
    pub fn pointers(&self) -> &[Access] {
        &self.pointers
    }

    /// The number of outer indices.
    pub fn outer(&self) -> usize {
        self.outer as usize
    }

    /// All values, by [`Value::index`].
    pub fn values(&self) -> &[ValueData] {
        &self.values
    }

    /// All blocks, by [`BlockId::index`].
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The number of [`For`] loops; [`LoopId::index`] is below it.
    pub fn loop_count(&self) -> usize {
        self.loops as usize
    }

    /// The accumulations over lanes.
    pub fn reductions(&self) -> &[Reduction] {
        &self.reductions
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Ty {
        self.values[v.index()].ty
    }

    /// The origin of a value.
    pub fn inst(&self, v: Value) -> &Inst {
        &self.values[v.index()].inst
    }

    /// Calls `f` with what a statement uses, and what the statements inside of it use.
    pub(crate) fn each_use(&self, stmt: &Stmt, f: &mut dyn FnMut(Value)) {
        let block = |id: BlockId, f: &mut dyn FnMut(Value)| {
            let stmts = self.blocks[id.index()].stmts.iter();
            stmts.for_each(|stmt| self.each_use(stmt, f));
        };
        match stmt {
            Stmt::Let(v) => self.inst(*v).operands(f),
            Stmt::Store { addr, value, .. } => {
                f(*value);
                addr.operands(f);
            }
            Stmt::For(l) => {
                l.carries.iter().for_each(|c| f(c.init));
                block(l.body, f);
                l.carries.iter().for_each(|c| f(c.next));
            }
            Stmt::While(w) => {
                w.carries.iter().for_each(|c| f(c.init));
                block(w.head, f);
                f(w.cond);
                block(w.body, f);
                w.carries.iter().for_each(|c| f(c.next));
            }
            Stmt::If(i) => {
                f(i.cond);
                block(i.then, f);
                block(i.otherwise, f);
                i.arms.iter().for_each(|a| {
                    f(a.then);
                    f(a.otherwise);
                });
            }
        }
    }

    /// Whether any statement defines or uses a 64-bit value.
    pub fn is_wide(&self) -> bool {
        let wide = |v: Value| self.ty(v).bits() == 64;
        self.blocks.iter().flat_map(|b| &b.stmts).any(|s| match s {
            Stmt::Let(v) => wide(*v),
            Stmt::Store { value, .. } => wide(*value),
            Stmt::For(f) => f.carries.iter().any(|c| wide(c.result)),
            Stmt::While(w) => w.carries.iter().any(|c| wide(c.result)),
            Stmt::If(i) => i.arms.iter().any(|a| wide(a.result)),
        }) || self
            .reductions
            .iter()
            .flat_map(|r| &r.accumulators)
            .any(|a| wide(a.init))
    }

    /// Whether a counted loop may take so long that it must look, in each turn, whether the run is to end.
    pub(crate) fn is_long(&self, f: &For) -> bool {
        self.turns(f) > 1 << 22
    }

    /// Turns of a loop, those of the loops inside counted for each; no more than can be counted.
    fn turns(&self, f: &For) -> u64 {
        let own = match f.trip {
            Trip::Const(n) => n,
            // Rows of a call, which are not many.
            Trip::Outer(_) => 1 << 12,
        };
        own.saturating_mul(self.turns_in(f.body).max(1))
    }

    fn turns_in(&self, block: BlockId) -> u64 {
        let stmts = self.blocks[block.index()].stmts.iter();
        let turns = stmts.map(|stmt| match stmt {
            Stmt::For(f) => self.turns(f),
            Stmt::While(w) => self.turns_in(w.body),
            Stmt::If(i) => self.turns_in(i.then).max(self.turns_in(i.otherwise)),
            Stmt::Let(_) | Stmt::Store { .. } => 0,
        });
        turns.fold(0, u64::saturating_add)
    }

    /// How many accumulators each reduction has: 64, or 32 in a body with 64-bit values. A multiple of the number of
    /// lanes that any emitter works on at a time.
    pub fn accumulators(&self) -> usize {
        let own = if self.is_wide() { 32 } else { 64 };
        self.guarded.unwrap_or(own)
    }
}

impl Inst {
    /// Calls `f` with every operand.
    pub fn operands(&self, mut f: impl FnMut(Value)) {
        match self {
            Inst::Un(_, a) | Inst::Lookup(_, a) => f(*a),
            Inst::Bin(_, a, b) => {
                f(*a);
                f(*b);
            }
            Inst::Ter(_, a, b, c) => {
                f(*a);
                f(*b);
                f(*c);
            }
            Inst::Load(_, addr) => addr.operands(f),
            Inst::Const(_) | Inst::Index(_) | Inst::Carried | Inst::Result => {}
        }
    }
}

impl Stmt {
    /// The blocks inside of the statement.
    pub(crate) fn blocks(&self) -> Vec<BlockId> {
        match self {
            Stmt::Let(_) | Stmt::Store { .. } => Vec::new(),
            Stmt::For(f) => vec![f.body],
            Stmt::While(w) => vec![w.head, w.body],
            Stmt::If(i) => vec![i.then, i.otherwise],
        }
    }

    /// The values that the statement defines in its own block.
    pub(crate) fn results(&self) -> Vec<Value> {
        match self {
            Stmt::Let(value) => vec![*value],
            Stmt::Store { .. } => Vec::new(),
            Stmt::For(f) => f.carries.iter().map(|carry| carry.result).collect(),
            Stmt::While(w) => w.carries.iter().map(|carry| carry.result).collect(),
            Stmt::If(i) => i.arms.iter().map(|arm| arm.result).collect(),
        }
    }
}

impl Addr {
    /// Calls `f` with the index of a gather, if there is one.
    pub fn operands(&self, mut f: impl FnMut(Value)) {
        if let LaneStep::Gather(index, _) = self.lane {
            f(index);
        }
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "v{}", self.0)
    }
}

impl fmt::Display for LoopId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "i{}", self.0)
    }
}

impl fmt::Display for Pointer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{}", self.0)
    }
}

impl fmt::Display for Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Index::Lane => f.write_str("lane"),
            Index::Outer(k) => write!(f, "o{k}"),
            Index::Loop(id) => id.fmt(f),
        }
    }
}

impl fmt::Display for Trip {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Trip::Const(n) => n.fmt(f),
            Trip::Outer(k) => write!(f, "o{k}"),
        }
    }
}
