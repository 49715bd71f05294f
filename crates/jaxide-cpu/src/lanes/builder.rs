//! Construction of a [`Body`].
//!
//! The builder keeps the program small while it grows: equal pure operations are one value, constants fold, and an operation
//! lands in the outermost block where its operands exist, so that loop-invariant work, whole loops too,
//! leaves loops by itself. It never leaves an arm of an [`If`](super::If), which may be there because the work is rare.

use super::body::*;
use super::branches::branched;
use super::floor::{Known, Remainder};
use super::op::{BinOp, TerOp, UnOp};
use super::sweep::sweep;
use super::types::{MemTy, Ty};
use super::upper_bits::drop_extensions;
use super::verify::{VerifyError, verify};
use super::weave::weave;
use rustc_hash::FxHashMap as HashMap;
use smallvec::SmallVec;

/// Builds a [`Body`].
///
/// Methods that make values panic if the operand types do not fit the operation, since that is a mistake in the
/// compiler above and not in its input.
///
/// ```
/// use jaxide_cpu::lanes::{Access, Addr, Builder, MemTy, Memory};
///
/// // y[i] = x[i] * x[i] + 1
/// let mut b = Builder::new("square_plus_one");
/// let x = b.pointer(Access::ReadOnly);
/// let y = b.pointer(Access::ReadWrite);
/// let v = b.load(MemTy::F32, Addr::contiguous(x, MemTy::F32));
/// let one = b.f32(1.0);
/// let r = b.fma(v, v, one);
/// b.store(MemTy::F32, Addr::contiguous(y, MemTy::F32), r);
/// let body = b.finish().unwrap();
///
/// let mut input: Vec<u8> = [1.0f32, 2.0, 3.0].iter().flat_map(|v| v.to_ne_bytes()).collect();
/// let mut output = vec![0; 12];
/// body.eval(&mut Memory::new(&mut [&mut input, &mut output]), &[], 0, 3).unwrap();
/// let last = f32::from_ne_bytes(output[8..].try_into().unwrap());
/// assert_eq!(last, 10.0);
/// ```
#[derive(Debug)]
pub struct Builder {
    pub(super) body: Body,
    kinds: Vec<BlockKind>,
    pub(super) loop_bodies: Vec<BlockId>,
    pub(super) current: BlockId,
    seen: HashMap<(Inst, Ty), SmallVec<[Value; 2]>>,
    contract: bool,
    /// What is left by divisions by positive constants.
    pub(super) remainders: HashMap<Value, Remainder>,
    /// Which of them are there, in the order in which they were found.
    pub(super) known_remainders: Vec<Value>,
    /// Numbers that are not negative in the turns of the loops around, if they are needed there.
    pub(super) at_least_zero: Vec<Value>,
    /// Conditions that hold in the turns of the loops around.
    pub(super) supposed: Vec<Value>,
    /// The turns of the loops around whose conditions say something.
    pub(super) turns: Vec<BlockId>,
}

/// What lets operations leave a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// Prologue, or the combination of a reduction.
    Root,
    Lanes,
    For {
        runs: bool,
    },
    WhileHead,
    WhileBody,
    Arm,
}

/// What must be sure before an operation is done outside of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Care {
    /// It can always be done.
    Nothing,
    /// It reads elements at places that are inside of their array whenever that has any.
    Elements,
    /// It reads at places that are computed, or may not end: it is done only if there is a turn.
    Turn,
}

impl Care {
    pub(super) fn of(addr: &Addr) -> Care {
        match addr.lane {
            LaneStep::Gather(..) => Care::Turn,
            LaneStep::Uniform | LaneStep::Stride(_) => Care::Elements,
        }
    }
}

/// A conditional loop under construction.
pub(super) struct WhileFrame {
    outside: BlockId,
    init: Vec<Value>,
    params: Vec<Value>,
    head: BlockId,
    cond: Option<Value>,
    known: Known,
}

impl WhileFrame {
    /// The carried values at the start of a turn.
    pub(super) fn params(&self) -> &[Value] {
        &self.params
    }
}

impl Builder {
    /// An empty body. The name appears in printed forms and symbols.
    pub fn new(name: &str) -> Builder {
        let blocks = vec![
            Block::default(),
            Block {
                stmts: Vec::new(),
                parent: Some(BlockId::PROLOGUE),
            },
        ];
        Builder {
            body: Body {
                name: name.to_owned(),
                pointers: Vec::new(),
                outer: 0,
                values: Vec::new(),
                blocks,
                loops: 0,
                reductions: Vec::new(),
                guarded: None,
            },
            kinds: vec![BlockKind::Root, BlockKind::Lanes],
            loop_bodies: Vec::new(),
            current: BlockId::LANES,
            seen: HashMap::default(),
            contract: false,
            remainders: HashMap::default(),
            known_remainders: Vec::new(),
            at_least_zero: Vec::new(),
            supposed: Vec::new(),
            turns: Vec::new(),
        }
    }

    /// From here on, [`add`](Self::add) and [`sub`](Self::sub) of a float product become one fused multiply-add, as
    /// XLA contracts on CPU. Off at the start.
    pub fn contract_fma(&mut self, on: bool) {
        self.contract = on;
    }

    /// Adds an entry to the pointer table.
    pub fn pointer(&mut self, access: Access) -> Pointer {
        self.body.pointers.push(access);
        Pointer(self.body.pointers.len() as u32 - 1)
    }

    /// Adds an entry to the outer indices.
    pub fn outer(&mut self) -> Index {
        self.body.outer += 1;
        Index::Outer(self.body.outer - 1)
    }

    /// The type of a value.
    pub fn ty(&self, v: Value) -> Ty {
        self.body.ty(v)
    }

    /// The bits of a constant.
    pub fn as_const(&self, v: Value) -> Option<u64> {
        match self.body.inst(v) {
            Inst::Const(bits) => Some(*bits),
            _ => None,
        }
    }

    /// The number that a constant of a float type is.
    pub fn as_float(&self, v: Value) -> Option<f64> {
        let bits = self.as_const(v)?;
        match self.ty(v) {
            Ty::F32 => Some(f64::from(f32::from_bits(bits as u32))),
            Ty::F64 => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    /// A constant by its bits.
    pub fn constant(&mut self, ty: Ty, bits: u64) -> Value {
        self.insert(Inst::Const(bits & ty.bit_mask()), ty)
    }

    /// A float constant.
    pub fn f32(&mut self, x: f32) -> Value {
        self.constant(Ty::F32, u64::from(x.to_bits()))
    }

    /// A float constant.
    pub fn f64(&mut self, x: f64) -> Value {
        self.constant(Ty::F64, x.to_bits())
    }

    /// A float constant of type `ty`, rounded to it.
    pub fn float(&mut self, ty: Ty, x: f64) -> Value {
        if ty == Ty::F32 {
            self.f32(x as f32)
        } else {
            self.f64(x)
        }
    }

    /// An integer constant.
    pub fn i32(&mut self, x: i32) -> Value {
        self.constant(Ty::I32, x as u64)
    }

    /// An integer constant.
    pub fn i64(&mut self, x: i64) -> Value {
        self.constant(Ty::I64, x as u64)
    }

    /// An integer constant of type `ty`; its low bits where that is narrower.
    pub fn int(&mut self, ty: Ty, x: i64) -> Value {
        self.constant(ty, x as u64)
    }

    /// A mask that is the same in all lanes.
    pub fn mask(&mut self, x: bool) -> Value {
        self.constant(Ty::Mask, u64::from(x))
    }

    /// An index as data, of type [`Ty::I32`] (its low half) or [`Ty::I64`].
    pub fn index(&mut self, ty: Ty, index: Index) -> Value {
        assert!(ty.is_int(), "an index is an integer, not {ty}");
        self.insert(Inst::Index(index), ty)
    }

    /// An operation with one operand whose result has type `to`.
    pub fn un(&mut self, op: UnOp, to: Ty, a: Value) -> Value {
        let from = self.ty(a);
        assert!(
            op.accepts(from, to),
            "{} does not take {from} to {to}",
            op.name()
        );
        self.fold_un(op, to, a)
            .unwrap_or_else(|| self.insert(Inst::Un(op, a), to))
    }

    /// An operation with two operands.
    pub fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        assert!(
            op.accepts(ty) && ty == self.ty(b),
            "{} does not take {ty} and {}",
            op.name(),
            self.ty(b)
        );
        let swap =
            op.commutes() && (self.as_const(a).is_some(), a) > (self.as_const(b).is_some(), b);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        if self.contract
            && ty.is_float()
            && let Some(v) = self.contracted(op, a, b)
        {
            return v;
        }
        self.fold_bin(op, a, b)
            .unwrap_or_else(|| self.insert(Inst::Bin(op, a, b), op.result(ty)))
    }

    /// An operation with three operands.
    pub fn ter(&mut self, op: TerOp, a: Value, b: Value, c: Value) -> Value {
        let ty = self.ty(c);
        assert!(
            op.accepts(self.ty(a), self.ty(b), ty),
            "{} does not take {}, {} and {ty}",
            op.name(),
            self.ty(a),
            self.ty(b)
        );
        self.fold_ter(op, a, b, c)
            .unwrap_or_else(|| self.insert(Inst::Ter(op, a, b, c), ty))
    }

    /// The entry of a table at an unsigned integer index, which must be below its length.
    pub fn lookup(&mut self, table: Table, ty: Ty, index: Value) -> Value {
        assert!(
            !table.is_empty()
                && table.bits() == ty.bits()
                && self.ty(index).bits() == ty.bits()
                && self.ty(index).is_int()
        );
        match self.as_const(index) {
            Some(k) => self.constant(ty, table.get(k)),
            None => self.insert(Inst::Lookup(table, index), ty),
        }
    }

    /// An element of memory, widened to [`MemTy::lane`].
    pub fn load(&mut self, ty: MemTy, addr: Addr) -> Value {
        match self.body.pointers[addr.pointer.index()] {
            Access::ReadOnly => self.insert(Inst::Load(ty, addr.into()), ty.lane()),
            Access::ReadWrite => {
                let v = self.define(Inst::Load(ty, addr.into()), ty.lane(), self.current);
                self.body.blocks[self.current.index()]
                    .stmts
                    .push(Stmt::Let(v));
                v
            }
        }
    }

    /// Writes a lane's value, narrowed to `ty`.
    pub fn store(&mut self, ty: MemTy, addr: Addr, value: Value) {
        // It is rounded when it is stored.
        let value = match (ty, self.body.inst(value)) {
            (MemTy::F16, &Inst::Un(UnOp::RoundF16, exact)) => exact,
            _ => value,
        };
        let stmt = Stmt::Store {
            ty,
            addr: addr.into(),
            value,
        };
        self.body.blocks[self.current.index()].stmts.push(stmt);
    }

    /// A counted loop: `turn` gets the index and the carried values and gives the next ones. Returns the last ones.
    pub fn for_loop(
        &mut self,
        trip: Trip,
        init: &[Value],
        turn: impl FnOnce(&mut Builder, Index, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let id = LoopId(self.body.loops);
        self.body.loops += 1;
        // Rows and chunks are parts of axes that are not empty; where a part is, what is read before it is there all the same.
        let runs = matches!(trip, Trip::Const(1..) | Trip::Outer(_));
        let body = self.open(self.current, BlockKind::For { runs });
        self.loop_bodies.push(body);
        let params = self.carried(init, body);
        let next = self.within(body, |b| turn(b, Index::Loop(id), &params));
        let (carries, results) = self.carries(init, &params, &next);
        self.settle(Stmt::For(Box::new(For {
            id,
            trip,
            carries,
            body,
        })));
        results
    }

    /// A conditional loop: `cond` gives the mask of lanes that go on, `turn` the next carried values. Returns the last ones.
    pub fn while_loop(
        &mut self,
        init: &[Value],
        cond: impl FnOnce(&mut Builder, &[Value]) -> Value,
        turn: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
    ) -> Vec<Value> {
        let frame = self.enter_head(init);
        let cond = cond(self, &frame.params);
        let frame = self.enter_turn(frame, cond);
        let next = turn(self, &frame.params);
        self.leave_while(frame, &next)
    }

    /// Starts a conditional loop, in the block that computes its condition.
    pub(super) fn enter_head(&mut self, init: &[Value]) -> WhileFrame {
        let head = self.open(self.current, BlockKind::WhileHead);
        let params = self.carried(init, head);
        let outside = std::mem::replace(&mut self.current, head);
        WhileFrame {
            outside,
            init: init.to_vec(),
            params,
            head,
            cond: None,
            known: Known::default(),
        }
    }

    /// Goes on to the block of its turns.
    pub(super) fn enter_turn(&mut self, frame: WhileFrame, cond: Value) -> WhileFrame {
        self.current = self.open(frame.head, BlockKind::WhileBody);
        WhileFrame {
            cond: Some(cond),
            known: self.suppose(cond),
            ..frame
        }
    }

    /// Ends the loop; gives the last values.
    pub(super) fn leave_while(&mut self, frame: WhileFrame, next: &[Value]) -> Vec<Value> {
        let WhileFrame {
            outside,
            init,
            params,
            head,
            cond,
            known,
        } = frame;
        self.forget(&known);
        let body = std::mem::replace(&mut self.current, outside);
        let (carries, results) = self.carries(&init, &params, next);
        let cond = cond.expect("a loop has a condition before it has a turn");
        self.settle(Stmt::While(Box::new(While {
            carries,
            head,
            cond,
            body,
        })));
        results
    }

    /// A branch: lanes whose condition holds take the values of `then`, the others those of `otherwise`. An arm that no lane
    /// takes does not run.
    pub fn if_lanes(
        &mut self,
        cond: Value,
        then: impl FnOnce(&mut Builder) -> Vec<Value>,
        otherwise: impl FnOnce(&mut Builder) -> Vec<Value>,
    ) -> Vec<Value> {
        let then_block = self.open(self.current, BlockKind::Arm);
        let thens = self.within(then_block, then);
        let else_block = self.open(self.current, BlockKind::Arm);
        let elses = self.within(else_block, otherwise);
        self.branch(cond, (then_block, &thens), (else_block, &elses))
    }

    /// Starts an arm that runs where a condition holds; gives the block to return to.
    pub(super) fn enter_arm(&mut self) -> BlockId {
        let arm = self.open(self.current, BlockKind::Arm);
        std::mem::replace(&mut self.current, arm)
    }

    /// Ends the arm: its values are `then`, elsewhere those of `otherwise` stay.
    pub(super) fn leave_arm(
        &mut self,
        outside: BlockId,
        cond: Value,
        then: &[Value],
        otherwise: &[Value],
    ) -> Vec<Value> {
        let arm = std::mem::replace(&mut self.current, outside);
        let empty = self.open(self.current, BlockKind::Arm);
        self.branch(cond, (arm, then), (empty, otherwise))
    }

    fn branch(
        &mut self,
        cond: Value,
        (then_block, thens): (BlockId, &[Value]),
        (else_block, elses): (BlockId, &[Value]),
    ) -> Vec<Value> {
        assert_eq!(
            thens.len(),
            elses.len(),
            "both arms of a branch yield as many values"
        );
        let mut arms = Vec::new();
        for (&then, &otherwise) in thens.iter().zip(elses) {
            let result = self.define(Inst::Result, self.ty(then), self.current);
            arms.push(Arm {
                then,
                otherwise,
                result,
            });
        }
        let results = arms.iter().map(|a| a.result).collect();
        self.settle(Stmt::If(Box::new(If {
            cond,
            then: then_block,
            otherwise: else_block,
            arms,
        })));
        results
    }

    /// An accumulation over the lanes of a call, see [`Reduction`]. `dests` holds for each accumulator its neutral element and where its
    /// result goes; `step` gives the accumulators after a lane, `combine` those of two partial results.
    pub fn reduce(
        &mut self,
        dests: Vec<(Value, MemTy, Addr)>,
        step: impl FnOnce(&mut Builder, &[Value]) -> Vec<Value>,
        combine: impl FnOnce(&mut Builder, &[Value], &[Value]) -> Vec<Value>,
    ) {
        assert_eq!(
            self.current,
            BlockId::LANES,
            "a reduction is over the lanes, not inside a loop"
        );
        let inits: Vec<Value> = dests.iter().map(|d| d.0).collect();
        let params = self.carried(&inits, BlockId::LANES);
        let next = step(self, &params);
        let block = self.open(BlockId::PROLOGUE, BlockKind::Root);
        let left = self.carried(&inits, block);
        let right = self.carried(&inits, block);
        let combined = self.within(block, |b| combine(b, &left, &right));
        assert!(
            next.len() == dests.len() && combined.len() == dests.len(),
            "a reduction gives one value per accumulator"
        );
        let accumulators = dests
            .into_iter()
            .enumerate()
            .map(|(k, (init, ty, dest))| Accumulator {
                init,
                param: params[k],
                next: next[k],
                pair: (left[k], right[k]),
                combined: combined[k],
                dest,
                ty,
            });
        let accumulators = accumulators.collect();
        self.body.reductions.push(Reduction {
            accumulators,
            combine: block,
        });
    }

    /// The finished body: unused values are gone, the rest is renumbered in order of appearance.
    ///
    /// # Errors
    /// If the program is not well formed, see [`VerifyError`].
    pub fn finish(mut self) -> Result<Body, VerifyError> {
        drop_extensions(&mut self.body);
        let body = sweep(&self.body);
        let mut body = branched(&body).unwrap_or(body);
        weave(&mut body);
        verify(&body)?;
        Ok(body)
    }

    /// Runs `f` without contraction of products and sums.
    pub(super) fn exactly<R>(&mut self, f: impl FnOnce(&mut Builder) -> R) -> R {
        let contract = std::mem::replace(&mut self.contract, false);
        let result = f(self);
        self.contract = contract;
        result
    }

    fn contracted(&mut self, op: BinOp, a: Value, b: Value) -> Option<Value> {
        let product = |s: &Builder, v| match *s.body.inst(v) {
            Inst::Bin(BinOp::Mul, x, y) => Some((x, y)),
            _ => None,
        };
        match op {
            BinOp::Add => {
                let ((x, y), c) = match (product(self, b), product(self, a)) {
                    (Some(p), _) => (p, a),
                    (None, Some(p)) => (p, b),
                    (None, None) => return None,
                };
                Some(self.fma(x, y, c))
            }
            BinOp::Sub => {
                if let Some((x, y)) = product(self, b) {
                    let minus = self.neg(x);
                    return Some(self.fma(minus, y, a));
                }
                let (x, y) = product(self, a)?;
                let minus = self.neg(b);
                Some(self.fma(x, y, minus))
            }
            _ => None,
        }
    }

    /// A pure instruction: an existing equal value, or a new one in the outermost block that has its operands.
    pub(super) fn insert(&mut self, inst: Inst, ty: Ty) -> Value {
        let key = (inst, ty);
        if let Some(v) = self.existing(&key) {
            return v;
        }
        let block = self.place(&key.0);
        let v = self.define(key.0.clone(), ty, block);
        self.body.blocks[block.index()].stmts.push(Stmt::Let(v));
        self.seen.entry(key).or_default().push(v);
        v
    }

    /// An equal value that can be used in the current block.
    pub(super) fn existing(&self, key: &(Inst, Ty)) -> Option<Value> {
        let mut values = self.seen.get(key)?.iter();
        values
            .find(|v| self.encloses(self.body.values[v.index()].block))
            .copied()
    }

    fn place(&self, inst: &Inst) -> BlockId {
        if matches!(inst, Inst::Const(_) | Inst::Index(Index::Outer(_))) {
            return BlockId::PROLOGUE;
        }
        let mut needs: SmallVec<[BlockId; 8]> = SmallVec::new();
        inst.operands(|v| needs.push(self.body.values[v.index()].block));
        let index = |needs: &mut SmallVec<[BlockId; 8]>, i: Index| match i {
            Index::Lane => needs.push(BlockId::LANES),
            Index::Loop(id) => needs.push(self.loop_bodies[id.index()]),
            Index::Outer(_) => {}
        };
        let care = match inst {
            Inst::Index(i) => {
                index(&mut needs, *i);
                Care::Nothing
            }
            Inst::Load(_, addr) => {
                addr.terms.iter().for_each(|t| index(&mut needs, t.0));
                if addr.lane != LaneStep::Uniform {
                    needs.push(BlockId::LANES);
                }
                Care::of(addr)
            }
            _ => Care::Nothing,
        };
        self.outermost(&needs, care)
    }

    /// The outermost block around the current one in which everything defined in `needs` exists, for an operation that needs such care.
    pub(super) fn outermost(&self, needs: &[BlockId], care: Care) -> BlockId {
        let mut at = self.current;
        let mut best = at;
        while !needs.contains(&at) {
            let leaves = match self.kinds[at.index()] {
                BlockKind::Root | BlockKind::Arm => false,
                BlockKind::For { runs } => runs || care == Care::Nothing,
                // The condition is computed at least once.
                BlockKind::WhileHead => true,
                BlockKind::WhileBody => care != Care::Turn,
                BlockKind::Lanes => true,
            };
            let Some(parent) = self.body.blocks[at.index()].parent else {
                break;
            };
            if !leaves {
                break;
            }
            at = parent;
            // What only the turns of a `while` need does not move into its condition.
            if self.kinds[at.index()] != BlockKind::WhileHead {
                best = at;
            }
        }
        best
    }

    /// What lets operations leave a block.
    pub(super) fn kind(&self, block: BlockId) -> BlockKind {
        self.kinds[block.index()]
    }

    /// What there is by now.
    pub(crate) fn body(&self) -> &Body {
        &self.body
    }

    /// The block that operations are added to.
    pub(crate) fn block(&self) -> BlockId {
        self.current
    }

    /// Whether code in `block` may use a value.
    pub(crate) fn is_known_in(&self, value: Value, block: BlockId) -> bool {
        self.is_within(block, self.body.values[value.index()].block)
    }

    /// Whether all holds in `block` that is supposed now: values that were made where more is supposed may mean nothing elsewhere.
    pub(crate) fn is_supposed_in(&self, block: BlockId) -> bool {
        let turn = self.turns.last();
        turn.is_none_or(|&turn| self.is_within(block, turn))
    }

    /// Whether `block` is the current one or one around it.
    fn encloses(&self, block: BlockId) -> bool {
        self.is_within(self.current, block)
    }

    /// Whether `inner` is `block` or inside of it.
    pub(super) fn is_within(&self, inner: BlockId, block: BlockId) -> bool {
        let mut at = Some(inner);
        while let Some(b) = at {
            if b == block {
                return true;
            }
            at = self.body.blocks[b.index()].parent;
        }
        false
    }

    fn define(&mut self, inst: Inst, ty: Ty, block: BlockId) -> Value {
        self.body.values.push(ValueData { ty, inst, block });
        Value(self.body.values.len() as u32 - 1)
    }

    fn open(&mut self, parent: BlockId, kind: BlockKind) -> BlockId {
        self.body.blocks.push(Block {
            stmts: Vec::new(),
            parent: Some(parent),
        });
        self.kinds.push(kind);
        BlockId(self.body.blocks.len() as u32 - 1)
    }

    fn within<R>(&mut self, block: BlockId, f: impl FnOnce(&mut Builder) -> R) -> R {
        let outside = std::mem::replace(&mut self.current, block);
        let result = f(self);
        self.current = outside;
        result
    }

    fn carried(&mut self, init: &[Value], block: BlockId) -> Vec<Value> {
        init.iter()
            .map(|&v| self.define(Inst::Carried, self.ty(v), block))
            .collect()
    }

    fn carries(
        &mut self,
        init: &[Value],
        params: &[Value],
        next: &[Value],
    ) -> (Vec<Carry>, Vec<Value>) {
        assert_eq!(
            init.len(),
            next.len(),
            "a loop carries as many values as it starts with"
        );
        let mut carries = Vec::new();
        for ((&init, &param), &next) in init.iter().zip(params).zip(next) {
            let result = self.define(Inst::Result, self.ty(init), self.current);
            carries.push(Carry {
                init,
                param,
                next,
                result,
            });
        }
        let results = carries.iter().map(|c| c.result).collect();
        (carries, results)
    }
}

/// Short names of the operations.
impl Builder {
    /// Sum; integers wrap.
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Add, a, b)
    }

    /// Difference; integers wrap.
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Sub, a, b)
    }

    /// Product; integers wrap.
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Mul, a, b)
    }

    /// Float quotient.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Div, a, b)
    }

    /// IEEE 754-2019 `minimum`, JAX's `min` of floats.
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Min, a, b)
    }

    /// IEEE 754-2019 `maximum`, JAX's `max` of floats.
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Max, a, b)
    }

    /// `a * b + c`, rounded once.
    pub fn fma(&mut self, a: Value, b: Value, c: Value) -> Value {
        let swap = (self.as_const(a).is_some(), a) > (self.as_const(b).is_some(), b);
        let (a, b) = if swap { (b, a) } else { (a, b) };
        self.ter(TerOp::Fma, a, b, c)
    }

    /// `if mask { a } else { b }`.
    pub fn select(&mut self, mask: Value, a: Value, b: Value) -> Value {
        self.ter(TerOp::Select, mask, a, b)
    }

    /// Bitwise and, of integers and masks.
    pub fn and(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::And, a, b)
    }

    /// Bitwise or, of integers and masks.
    pub fn or(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Or, a, b)
    }

    /// Bitwise exclusive or, of integers and masks.
    pub fn xor(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Xor, a, b)
    }

    /// `a == b`; false if either is NaN.
    pub fn eq(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Eq, a, b)
    }

    /// `a != b`; true if either is NaN.
    pub fn ne(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Ne, a, b)
    }

    /// `a < b`; integers are signed.
    pub fn lt(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Lt, a, b)
    }

    /// `a <= b`; integers are signed.
    pub fn le(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Le, a, b)
    }

    /// `a > b`; integers are signed.
    pub fn gt(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Lt, b, a)
    }

    /// `a >= b`; integers are signed.
    pub fn ge(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Le, b, a)
    }

    /// Where a float is NaN.
    pub fn is_nan(&mut self, a: Value) -> Value {
        self.bin(BinOp::Ne, a, a)
    }

    /// Left shift.
    pub fn shl(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Shl, a, b)
    }

    /// Logical right shift.
    pub fn shr_u(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::ShrU, a, b)
    }

    /// Arithmetic right shift.
    pub fn shr_s(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::ShrS, a, b)
    }

    fn same(&mut self, op: UnOp, a: Value) -> Value {
        self.un(op, self.ty(a), a)
    }

    /// Sign flip of a float, wrapping negation of an integer.
    pub fn neg(&mut self, a: Value) -> Value {
        self.same(UnOp::Neg, a)
    }

    /// Absolute value.
    pub fn abs(&mut self, a: Value) -> Value {
        self.same(UnOp::Abs, a)
    }

    /// Complement of an integer, negation of a mask.
    pub fn not(&mut self, a: Value) -> Value {
        self.same(UnOp::Not, a)
    }

    /// Square root.
    pub fn sqrt(&mut self, a: Value) -> Value {
        self.same(UnOp::Sqrt, a)
    }

    /// Largest integral value not above.
    pub fn floor(&mut self, a: Value) -> Value {
        self.same(UnOp::Floor, a)
    }

    /// Smallest integral value not below.
    pub fn ceil(&mut self, a: Value) -> Value {
        self.same(UnOp::Ceil, a)
    }

    /// Nearest integral value, halves to even.
    pub fn round_even(&mut self, a: Value) -> Value {
        self.same(UnOp::RoundEven, a)
    }

    /// Integral part.
    pub fn trunc(&mut self, a: Value) -> Value {
        self.same(UnOp::Trunc, a)
    }

    /// The bits of a float as an integer, or of an integer as a float.
    pub fn bitcast(&mut self, a: Value) -> Value {
        let to = match self.ty(a) {
            Ty::F32 => Ty::I32,
            Ty::I32 => Ty::F32,
            Ty::F64 => Ty::I64,
            Ty::I64 => Ty::F64,
            Ty::Mask => panic!("a mask has no bits to cast"),
        };
        self.un(UnOp::Bitcast, to, a)
    }

    /// `magnitude` with the sign of `sign`.
    pub fn copysign(&mut self, magnitude: Value, sign: Value) -> Value {
        let ty = self.ty(magnitude);
        let (m, s) = (self.bitcast(magnitude), self.bitcast(sign));
        let bit = self.int(
            ty.as_int(),
            if ty == Ty::F32 {
                i64::from(i32::MIN)
            } else {
                i64::MIN
            },
        );
        let rest = self.not(bit);
        let (m, s) = (self.and(m, rest), self.and(s, bit));
        let bits = self.or(m, s);
        self.bitcast(bits)
    }

    /// A mask as 0 or 1 of type `ty`.
    pub fn mask_to(&mut self, ty: Ty, mask: Value) -> Value {
        let (one, zero) = if ty.is_float() {
            (self.float(ty, 1.0), self.float(ty, 0.0))
        } else {
            (self.int(ty, 1), self.int(ty, 0))
        };
        self.select(mask, one, zero)
    }
}
