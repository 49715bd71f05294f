//! Lane bodies as CLIF: the portable emitter.
//!
//! [`emit_loop`] writes the whole loop over lanes into a function that is being built, four lanes at a time (`f32x4`, two `f64x2`) and
//! the rest one by one; [`emit_lane`] splices a body for one lane into straight-line scalar code, for the generator of whole programs, and
//! [`define`] wraps a body as a function with the signature of [`super::lanes::LaneFn`]. All of them find in the module the tables
//! that the body reads: [`define_tables`] puts them there.

mod control;
mod convert;
mod float16;
mod integer;
mod mask;
mod memory;
mod ops;
mod reduce;
mod rep;

use super::emit::Emit;
use super::error::CompileError;
use super::lanes::Defined;
use super::module::{address_of, signature};
use crate::lanes::{BlockId, Body, Index, Inst, MemTy, Table, Ty};
use crate::narrow;
use cranelift_codegen::Context;
use cranelift_codegen::ir::{
    self, BlockArg, InstBuilder, MemFlagsData, StackSlot, condcodes::IntCC, types,
};
use cranelift_frontend::{FunctionBuilder, FunctionBuilderContext, Variable};
use cranelift_module::{DataDescription, DataId, FuncId, FuncOrDataId, Linkage, Module};
pub(super) use memory::{has_cells, load_one, offset_of_lane};
use rep::{Rep, Width};

/// The CLIF values that a body's loop works with.
#[derive(Clone, Debug)]
pub(super) struct LaneArgs {
    /// The pointer table: addresses, `i64`.
    pub(super) pointers: Vec<ir::Value>,
    /// The address of a byte that is not 0 once the run is to end, `i64`.
    pub(super) stop: ir::Value,
    /// The outer indices, `i64`.
    pub(super) outer: Vec<ir::Value>,
    /// First lane, `i64`.
    pub(super) start: ir::Value,
    /// The lane after the last one, `i64`.
    pub(super) end: ir::Value,
    /// Of a body for one lane: what variables have as well.
    pub(super) cells: LaneCells,
}

/// Numbers behind the pointers of a body that variables have as well, and the lane that it is emitted for.
#[derive(Clone, Debug, Default)]
pub(super) struct LaneCells {
    pub(super) lane: usize,
    /// By pointer; none of the pointers behind.
    pub(super) of: Vec<Vec<Cell>>,
}

/// A number in memory that a variable has as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    /// Bytes from the pointer.
    pub(super) at: i64,
    pub(super) ty: MemTy,
    /// What a load would give.
    pub(super) variable: Variable,
}

/// The CLIF type that holds one lane of type `ty` in scalar code.
pub(super) fn scalar_type(ty: Ty) -> ir::Type {
    match ty {
        Ty::F32 => types::F32,
        Ty::F64 => types::F64,
        Ty::I32 => types::I32,
        Ty::I64 => types::I64,
        Ty::Mask => types::I8,
    }
}

/// Emits the loop of `body` over lanes `start..end` at the builder's position, which moves to a new block behind it. All
/// blocks that this makes are sealed.
///
/// # Panics
/// If `args` has fewer entries than the body declares.
pub(super) fn emit_loop(
    fb: &mut FunctionBuilder<'_>,
    module: &mut dyn Module,
    body: &Body,
    args: &LaneArgs,
) {
    let (work, done) = (fb.create_block(), fb.create_block());
    let some = fb.ins().icmp(IntCC::SignedLessThan, args.start, args.end);
    fb.ins().brif(some, work, &[], done, &[]);
    fb.seal_block(work);
    fb.switch_to_block(work);
    let slots = reduce::slots(fb, body);
    let mut emitter = Emitter::new(fb, module, body, args, &slots, Width::Four);
    emitter.block(BlockId::PROLOGUE);
    emitter.initialise_accumulators();
    let first = emitter.lane_loop(args.start);
    let mut emitter = Emitter::new(fb, module, body, args, &slots, Width::One);
    emitter.block(BlockId::PROLOGUE);
    emitter.lane_loop(first);
    reduce::combine_all(fb, module, body, args, &slots);
    fb.ins().jump(done, &[]);
    fb.seal_block(done);
    fb.switch_to_block(done);
}

/// Emits `body` for the single lane `args.start` at the builder's position, as scalar code.
///
/// # Panics
/// As [`emit_loop`].
pub(super) fn emit_lane(
    fb: &mut FunctionBuilder<'_>,
    module: &mut dyn Module,
    body: &Body,
    args: &LaneArgs,
) {
    assert!(
        body.reductions().is_empty(),
        "a reduction is over many lanes"
    );
    let mut emitter = Emitter::new(fb, module, body, args, &[], Width::One);
    emitter.block(BlockId::PROLOGUE);
    emitter.lane = Some(args.start);
    emitter.block(BlockId::LANES);
}

/// Defines the tables that a body reads, as constants of the module; to be done before it is emitted.
pub(super) fn define_tables(module: &mut dyn Module, body: &Body) -> Result<(), CompileError> {
    for value in body.values() {
        let Inst::Lookup(table, _) = &value.inst else {
            continue;
        };
        if table_of(module, *table).is_some() {
            continue;
        }
        let id = module.declare_data(&table_name(*table), Linkage::Local, false, false)?;
        let mut data = DataDescription::new();
        data.define(table.bytes().into_boxed_slice());
        data.set_align(8);
        module.define_data(id, &data)?;
    }
    Ok(())
}

fn table_name(table: Table) -> String {
    format!("table {}", table.0.name)
}

/// A table that the module has.
fn table_of(module: &dyn Module, table: Table) -> Option<DataId> {
    match module.get_name(&table_name(table)) {
        Some(FuncOrDataId::Data(id)) => Some(id),
        Some(FuncOrDataId::Func(_)) | None => None,
    }
}

/// Defines a declared function as that of a body, which counts up one of the outer indices in so many turns as the entry behind them says, if
/// it is given.
pub(super) fn define(
    module: &mut dyn Module,
    function: FuncId,
    (body, turns): (&Body, Option<u32>),
    context: &mut Context,
    frontend: &mut FunctionBuilderContext,
) -> Result<Defined, CompileError> {
    context.clear();
    define_tables(module, body)?;
    context.func.signature = signature(module, 5, false);
    let mut fb = FunctionBuilder::new(&mut context.func, frontend);
    let entry = fb.create_block();
    fb.append_block_params_for_function_params(entry);
    fb.switch_to_block(entry);
    fb.seal_block(entry);
    let [pointers, stop, outer, start, end] = *fb.block_params(entry) else {
        unreachable!("five parameters")
    };
    let turn = turns.map(|_| fb.create_block());
    if let Some(turn) = turn {
        fb.ins().jump(turn, &[]);
        fb.switch_to_block(turn);
    }
    let table = |fb: &mut FunctionBuilder<'_>, ty, base, k: usize| {
        fb.ins()
            .load(ty, MemFlagsData::trusted(), base, narrow::<_, i32>(8 * k))
    };
    let args = LaneArgs {
        pointers: (0..body.pointers().len())
            .map(|k| table(&mut fb, types::I64, pointers, k))
            .collect(),
        stop,
        outer: (0..body.outer())
            .map(|k| table(&mut fb, types::I64, outer, k))
            .collect(),
        start,
        end,
        cells: LaneCells::default(),
    };
    emit_loop(&mut fb, module, body, &args);
    if let (Some(index), Some(turn)) = (turns, turn) {
        let at = |k: usize| narrow::<_, i32>(8 * k);
        let (index, left) = (index as usize, body.outer());
        let next = fb.ins().iadd_imm_s(args.outer[index], 1);
        fb.ins()
            .store(MemFlagsData::trusted(), next, outer, at(index));
        let turns = table(&mut fb, types::I64, outer, left);
        let turns = fb.ins().iadd_imm_s(turns, -1);
        fb.ins()
            .store(MemFlagsData::trusted(), turns, outer, at(left));
        let (more, exit) = (fb.create_block(), fb.create_block());
        fb.ins().brif(turns, more, &[], exit, &[]);
        fb.seal_block(more);
        fb.switch_to_block(more);
        // Lanes may have long loops of their own.
        let stopped = fb.ins().load(types::I8, MemFlagsData::trusted(), stop, 0);
        fb.ins().brif(stopped, exit, &[], turn, &[]);
        fb.seal_block(turn);
        fb.seal_block(exit);
        fb.switch_to_block(exit);
    }
    fb.ins().return_(&[]);
    fb.finalize(module.target_config());
    module.define_function(function, context)?;
    Ok(Defined::by_cranelift(context))
}

/// Emits one body at one width.
struct Emitter<'e, 'f> {
    module: &'e mut dyn Module,
    fb: &'e mut FunctionBuilder<'f>,
    body: &'e Body,
    args: &'e LaneArgs,
    /// One stack slot per accumulator, in the order of the reductions.
    slots: &'e [StackSlot],
    width: Width,
    /// Whether the machine has vector fused multiply-add.
    fma: bool,
    reps: Vec<Option<Rep>>,
    lane: Option<ir::Value>,
    loops: Vec<ir::Value>,
    /// The lanes that are active inside a loop or branch; all if none.
    exec: Option<Rep>,
}

impl<'e, 'f> Emitter<'e, 'f> {
    fn new(
        fb: &'e mut FunctionBuilder<'f>,
        module: &'e mut dyn Module,
        body: &'e Body,
        args: &'e LaneArgs,
        slots: &'e [StackSlot],
        width: Width,
    ) -> Self {
        let isa = module.isa();
        let fma = isa.name() != "x64"
            || isa
                .isa_flags()
                .iter()
                .any(|f| f.name == "has_fma" && f.as_bool() == Some(true));
        let (reps, loops) = (
            vec![None; body.values().len()],
            vec![args.start; body.loop_count()],
        );
        Emitter {
            module,
            fb,
            body,
            args,
            slots,
            width,
            fma,
            reps,
            lane: None,
            loops,
            exec: None,
        }
    }

    fn get(&self, v: crate::lanes::Value) -> Rep {
        self.reps[v.index()]
            .clone()
            .expect("verified: defined before use")
    }

    fn set(&mut self, v: crate::lanes::Value, rep: Rep) {
        self.reps[v.index()] = Some(rep);
    }

    /// The loop over lanes at this width, from `first` on; gives the first lane that is left over.
    fn lane_loop(&mut self, first: ir::Value) -> ir::Value {
        let step = self.width.lanes();
        let (head, turn, exit) = (
            self.fb.create_block(),
            self.fb.create_block(),
            self.fb.create_block(),
        );
        let lane = self.fb.append_block_param(head, types::I64);
        self.fb.ins().jump(head, &[BlockArg::Value(first)]);
        self.fb.switch_to_block(head);
        let after = self.fb.ins().iadd_imm_s(lane, step);
        let fits = self
            .fb
            .ins()
            .icmp(IntCC::SignedLessThanOrEqual, after, self.args.end);
        self.fb.ins().brif(fits, turn, &[], exit, &[]);
        self.fb.seal_block(turn);
        self.fb.switch_to_block(turn);
        self.lane = Some(lane);
        self.load_accumulators();
        self.block(BlockId::LANES);
        self.store_accumulators();
        self.fb.ins().jump(head, &[BlockArg::Value(after)]);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
        lane
    }

    /// The address of a table, which the module has.
    fn table(&mut self, table: Table) -> ir::Value {
        let id = table_of(self.module, table).expect("it was defined before");
        address_of(self.module, self.fb, id)
    }

    /// An index, the same in all lanes but for that of the lane.
    fn index_value(&self, index: Index) -> ir::Value {
        match index {
            Index::Lane => self.lane.expect("verified: inside the lanes"),
            Index::Outer(k) => self.args.outer[k as usize],
            Index::Loop(id) => self.loops[id.index()],
        }
    }
}

impl<'e> Emit<'e> for Emitter<'e, '_> {
    fn body(&self) -> &'e Body {
        self.body
    }
}
