//! Accumulation over lanes: the accumulators live in stack slots, and each turn of the lane loop updates those of its lanes.

use super::rep::{Rep, Width, vector_type};
use super::{Emitter, LaneArgs, scalar_type};
use crate::codegen::emit::{Emit, Memory};
use crate::lanes::{BlockId, Body, Ty};
use crate::narrow;
use cranelift_codegen::ir::{
    self, InstBuilder, MemFlagsData, StackSlot, StackSlotData, StackSlotKind, condcodes::IntCC,
    types,
};
use cranelift_frontend::FunctionBuilder;
use cranelift_module::Module;

/// One slot for each accumulator. A mask is kept as 32 bits, all ones or all zeros.
pub(super) fn slots(fb: &mut FunctionBuilder<'_>, body: &Body) -> Vec<StackSlot> {
    let accumulators = body.reductions().iter().flat_map(|r| &r.accumulators);
    let sizes = accumulators.map(|a| size(body.ty(a.init)) * body.accumulators() as i64);
    sizes
        .map(|s| {
            fb.create_sized_stack_slot(StackSlotData::new(
                StackSlotKind::ExplicitSlot,
                narrow(s),
                4,
            ))
        })
        .collect()
}

/// Combines the accumulators and stores the results.
pub(super) fn combine_all(
    fb: &mut FunctionBuilder<'_>,
    module: &mut dyn Module,
    body: &Body,
    args: &LaneArgs,
    slots: &[StackSlot],
) {
    if slots.is_empty() {
        return;
    }
    let mut wide = Emitter::new(fb, module, body, args, slots, Width::Four);
    wide.block(BlockId::PROLOGUE);
    let mut half = body.accumulators() as i64 / 2;
    while half >= 4 {
        (0..half).step_by(4).for_each(|j| wide.combine(j, half));
        half /= 2;
    }
    let mut narrow = Emitter::new(fb, module, body, args, slots, Width::One);
    narrow.block(BlockId::PROLOGUE);
    while half > 0 {
        (0..half).for_each(|j| narrow.combine(j, half));
        half /= 2;
    }
    let accumulators = body.reductions().iter().flat_map(|r| &r.accumulators);
    for (slot, a) in accumulators.enumerate() {
        let result = narrow.read(slot, body.ty(a.init), 0);
        narrow.set(a.combined, result);
        narrow.store(a.ty, &a.dest, a.combined);
    }
}

impl Emitter<'_, '_> {
    /// Puts the neutral elements into the slots; at width four.
    pub(super) fn initialise_accumulators(&mut self) {
        let body = self.body;
        for (slot, a) in body
            .reductions()
            .iter()
            .flat_map(|r| &r.accumulators)
            .enumerate()
        {
            let init = self.get(a.init);
            (0..body.accumulators() as i64)
                .step_by(4)
                .for_each(|j| self.write(slot, body.ty(a.init), j, &init));
        }
    }

    /// Reads the accumulators that belong to the current lanes.
    pub(super) fn load_accumulators(&mut self) {
        let body = self.body;
        for (slot, a) in body
            .reductions()
            .iter()
            .flat_map(|r| &r.accumulators)
            .enumerate()
        {
            let at = self.current(slot, body.ty(a.init));
            let rep = self.read_at(body.ty(a.init), at);
            self.set(a.param, rep);
        }
    }

    /// Writes them back.
    pub(super) fn store_accumulators(&mut self) {
        let body = self.body;
        for (slot, a) in body
            .reductions()
            .iter()
            .flat_map(|r| &r.accumulators)
            .enumerate()
        {
            let at = self.current(slot, body.ty(a.init));
            let rep = self.get(a.next);
            self.write_at(body.ty(a.init), at, &rep);
        }
    }

    /// Combines accumulators `j..` with `j + half..`, as many as the width has lanes.
    fn combine(&mut self, j: i64, half: i64) {
        let body = self.body;
        let mut slot = 0;
        for r in body.reductions() {
            let first = slot;
            for a in &r.accumulators {
                let ty = body.ty(a.init);
                let (left, right) = (self.read(slot, ty, j), self.read(slot, ty, j + half));
                self.set(a.pair.0, left);
                self.set(a.pair.1, right);
                slot += 1;
            }
            self.block(r.combine);
            for (k, a) in r.accumulators.iter().enumerate() {
                let combined = self.get(a.combined);
                self.write(first + k, body.ty(a.init), j, &combined);
            }
        }
    }

    /// The address of the accumulators of the current lanes.
    fn current(&mut self, slot: usize, ty: Ty) -> ir::Value {
        let lane = self.lane.expect("inside the lanes");
        let number = self.fb.ins().isub(lane, self.args.start);
        let number = self
            .fb
            .ins()
            .band_imm_u(number, self.body.accumulators() as i64 - 1);
        let offset = self.fb.ins().imul_imm_s(number, size(ty));
        let base = self.fb.ins().stack_addr(types::I64, self.slots[slot], 0);
        self.fb.ins().iadd(base, offset)
    }

    fn read(&mut self, slot: usize, ty: Ty, j: i64) -> Rep {
        let at =
            self.fb
                .ins()
                .stack_addr(types::I64, self.slots[slot], narrow::<_, i32>(j * size(ty)));
        self.read_at(ty, at)
    }

    fn write(&mut self, slot: usize, ty: Ty, j: i64, rep: &Rep) {
        let at =
            self.fb
                .ins()
                .stack_addr(types::I64, self.slots[slot], narrow::<_, i32>(j * size(ty)));
        self.write_at(ty, at, rep);
    }

    fn read_at(&mut self, ty: Ty, at: ir::Value) -> Rep {
        let mut load = |ty, offset| self.fb.ins().load(ty, MemFlagsData::trusted(), at, offset);
        match self.width {
            Width::One if ty == Ty::Mask => {
                let bits = load(types::I32, 0);
                Rep::One(self.fb.ins().icmp_imm_s(IntCC::NotEqual, bits, 0))
            }
            Width::One => Rep::One(load(scalar_type(ty), 0)),
            Width::Four if ty.bits() == 64 => {
                Rep::X2([load(vector_type(ty), 0), load(vector_type(ty), 16)])
            }
            Width::Four => Rep::X4(load(vector_type(ty), 0)),
        }
    }

    fn write_at(&mut self, ty: Ty, at: ir::Value, rep: &Rep) {
        let rep = match (self.width, ty) {
            (Width::One, Ty::Mask) => Rep::One(self.fb.ins().bmask(types::I32, rep.one())),
            (Width::Four, Ty::Mask) => self.mask_like(rep, &Rep::X4(rep.registers()[0])),
            _ => rep.clone(),
        };
        for (k, &register) in rep.registers().iter().enumerate() {
            self.fb.ins().store(
                MemFlagsData::trusted(),
                register,
                at,
                narrow::<_, i32>(16 * k),
            );
        }
    }
}

/// Bytes that one accumulator takes.
fn size(ty: Ty) -> i64 {
    if ty.bits() == 64 { 8 } else { 4 }
}
