//! Loops whose turns are shared out among threads, as generated code.

use super::code::{Generator, SharedTurns};
use crate::codegen::module::Import;
use crate::lower::program::parallel::Shared;
use crate::narrow;
use crate::runtime::turns::FRAME_WORDS;
use cranelift_codegen::ir::{self, InstBuilder, MemFlagsData, StackSlotData, StackSlotKind, types};
use cranelift_frontend::FunctionBuilder;
use std::ops::Range;

/// An entry of a frame.
pub(super) fn frame_word(fb: &mut FunctionBuilder<'_>, frame: ir::Value, word: usize) -> ir::Value {
    let flags = MemFlagsData::trusted();
    fb.ins()
        .load(types::I64, flags, frame, narrow::<_, i32>(8 * word))
}

impl Generator<'_, '_> {
    /// Has the runtime run a loop.
    pub(super) fn share_turns(&mut self, shared: &SharedTurns) {
        let params = &self.params;
        let mut words = vec![params.inputs, params.outputs, params.consts, params.arena];
        words.extend(shared.loops.iter().map(|var| self.loops[var.0 as usize]));
        for pointer in &shared.pointers {
            words.push(self.fb.use_var(self.pointers[pointer.0 as usize]));
        }
        let bytes = narrow(8 * words.len());
        let frame = StackSlotData::new(StackSlotKind::ExplicitSlot, bytes, 3);
        let frame = self.fb.create_sized_stack_slot(frame);
        for (k, &word) in words.iter().enumerate() {
            let at = narrow::<_, i32>(8 * k);
            self.fb.ins().stack_store(types::I64, word, frame, at);
        }
        let frame = self.fb.ins().stack_addr(types::I64, frame, 0);
        let launch = self.constant(shared.launch);
        let context = self.params.context;
        if let Some(status) = self.call_import(Import::Turns, &[launch, frame, context]) {
            self.leave_if(status);
        }
    }
}

impl<'a> Generator<'a, '_> {
    /// Some turns of a loop, with what changes around it from the frame and `own` for the memory that each thread has.
    pub(super) fn turns(
        &mut self,
        shared: &Shared<'a>,
        frame: ir::Value,
        own: ir::Value,
        turns: Range<ir::Value>,
    ) {
        self.params.own = own;
        self.own = &self.program.parallel[shared.number].own;
        let mut word = FRAME_WORDS;
        for var in &shared.loops {
            self.loops[var.0 as usize] = frame_word(&mut self.fb, frame, word);
            word += 1;
        }
        for pointer in &shared.pointers {
            let value = frame_word(&mut self.fb, frame, word);
            self.fb.def_var(self.pointers[pointer.0 as usize], value);
            word += 1;
        }
        self.make_cells(shared.body, true);
        self.counted(shared.var, turns, true, |generator| {
            generator.block(shared.body);
        });
    }
}
