//! Loops and branches as generated code.

use super::code::{Around, Generator, Nest, SMALL_COPY};
use crate::lanes::MemTy;
use crate::lower::program::{LoopVar, Place, PointerVar, Slot, Stmt, Turns};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, condcodes::IntCC, types};
use cranelift_frontend::Switch;
use std::ops::Range;

/// Loops of at most this many turns that take next to no time run to their end.
const FEW_TURNS: usize = 4096;

impl Generator<'_, '_> {
    /// A loop of so many turns.
    pub(super) fn counted_loop(
        &mut self,
        (var, count): (LoopVar, usize),
        slots: &[Slot],
        body: &[Stmt],
        turns: Turns,
    ) {
        if let Turns::Parallel(number) = turns
            && let Some(shared) = self.callees.turns.get(number as usize)
        {
            return self.share_turns(shared);
        }
        self.start_slots(slots);
        let zero = self.fb.ins().iconst(types::I64, 0);
        let end = self.fb.ins().iconst(types::I64, count as i64);
        let watched = count > FEW_TURNS || !self.is_short(body);
        self.counted(var, zero..end, watched, |generator| {
            generator.block(body);
            generator.swap_slots(slots);
        });
        self.end_cells(slots);
    }

    /// A loop as long as a truth value in memory holds.
    pub(super) fn while_loop(
        &mut self,
        slots: &[Slot],
        cond: &[Stmt],
        test: &Place,
        body: &[Stmt],
    ) {
        self.start_slots(slots);
        let (head, turn, exit) = (
            self.fb.create_block(),
            self.fb.create_block(),
            self.fb.create_block(),
        );
        self.fb.ins().jump(head, &[]);
        self.fb.switch_to_block(head);
        self.block(cond);
        self.check_read(test, 1, "the condition of a loop");
        let truth = self.number(test, MemTy::Bool);
        self.fb.ins().brif(truth, turn, &[], exit, &[]);
        self.fb.seal_block(turn);
        self.fb.switch_to_block(turn);
        self.leave_if_stopped();
        self.block(body);
        self.swap_slots(slots);
        self.fb.ins().jump(head, &[]);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
        self.end_cells(slots);
    }

    /// A loop over a range; it ends in each turn where the run is to end, if it is `watched`.
    pub(super) fn counted(
        &mut self,
        var: LoopVar,
        range: Range<ir::Value>,
        watched: bool,
        body: impl FnOnce(&mut Self),
    ) {
        let (head, turn, exit) = (
            self.fb.create_block(),
            self.fb.create_block(),
            self.fb.create_block(),
        );
        let index = self.fb.append_block_param(head, types::I64);
        self.fb.ins().jump(head, &[BlockArg::Value(range.start)]);
        self.fb.switch_to_block(head);
        let more = self.fb.ins().icmp(IntCC::SignedLessThan, index, range.end);
        self.fb.ins().brif(more, turn, &[], exit, &[]);
        self.fb.seal_block(turn);
        self.fb.switch_to_block(turn);
        self.loops[var.0 as usize] = index;
        if watched {
            self.leave_if_stopped();
        }
        body(self);
        let next = self.fb.ins().iadd_imm_s(index, 1);
        self.fb.ins().jump(head, &[BlockArg::Value(next)]);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
    }

    /// Whether a body takes next to no time.
    fn is_short(&self, body: &[Stmt]) -> bool {
        body.iter().all(|stmt| match stmt {
            Stmt::Nest { kernel, .. } => {
                matches!(self.callees.nests[*kernel as usize], Nest::Inline)
            }
            Stmt::Copy { bytes, .. } => *bytes <= SMALL_COPY,
            Stmt::Switch { branches, .. } => branches.iter().all(|branch| self.is_short(branch)),
            Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::For { .. } | Stmt::While { .. } => false,
        })
    }

    /// Ends the run where it is asked to.
    pub(super) fn leave_if_stopped(&mut self) {
        if let Around::Object(_) = self.callees.around {
            return;
        }
        // An atomic load is made anew in each turn.
        let flags = MemFlagsData::trusted();
        let stop = self
            .fb
            .ins()
            .atomic_load(types::I8, flags, self.params.stop);
        let goes_on = self.fb.create_block();
        self.fb.ins().brif(stop, self.failed, &[], goes_on, &[]);
        self.fb.seal_block(goes_on);
        self.fb.switch_to_block(goes_on);
    }

    fn start_slots(&mut self, slots: &[Slot]) {
        for slot in slots {
            if self.checked {
                for (var, place) in [slot.current, slot.next].into_iter().zip(&slot.buffers) {
                    let [_, words @ ..] = self.described(place);
                    self.set_bounds(var, words);
                }
            }
            let (current, next) = (
                self.address(&slot.buffers[0]),
                self.address(&slot.buffers[1]),
            );
            self.fb
                .def_var(self.pointers[slot.current.0 as usize], current);
            self.fb.def_var(self.pointers[slot.next.0 as usize], next);
        }
        self.start_cells(slots);
    }

    fn set_bounds(&mut self, var: PointerVar, words: [ir::Value; 4]) {
        for (word, value) in self.bounds[var.0 as usize].into_iter().zip(words) {
            self.fb.def_var(word, value);
        }
    }

    fn swap_slots(&mut self, slots: &[Slot]) {
        for slot in slots {
            if self.checked {
                let words = [slot.next, slot.current]
                    .map(|var| self.bounds[var.0 as usize].map(|word| self.fb.use_var(word)));
                self.set_bounds(slot.current, words[0]);
                self.set_bounds(slot.next, words[1]);
            }
            let (current, next) = (
                self.pointers[slot.current.0 as usize],
                self.pointers[slot.next.0 as usize],
            );
            let (old, new) = (self.fb.use_var(current), self.fb.use_var(next));
            self.fb.def_var(current, new);
            self.fb.def_var(next, old);
            self.swap_cells(slot);
        }
    }

    pub(super) fn switch(&mut self, index: &Place, branches: &[Vec<Stmt>]) {
        self.check_read(index, 4, "a choice between branches");
        let index = self.number(index, MemTy::I32);
        let done = self.fb.create_block();
        let blocks: Vec<ir::Block> = branches.iter().map(|_| self.fb.create_block()).collect();
        let last = i32::try_from(blocks.len()).unwrap_or(i32::MAX) - 1;
        let [zero, last] =
            [0, last].map(|bound| self.fb.ins().iconst(types::I32, i64::from(bound)));
        let above = self.fb.ins().smax(index, zero);
        let inside = self.fb.ins().smin(above, last);
        let mut table = Switch::new();
        for (k, &block) in blocks.iter().enumerate().rev().skip(1) {
            table.set_entry(k as u128, block);
        }
        table.emit(&mut self.fb, inside, blocks[blocks.len() - 1]);
        for (branch, block) in branches.iter().zip(blocks) {
            self.fb.seal_block(block);
            self.fb.switch_to_block(block);
            self.block(branch);
            self.fb.ins().jump(done, &[]);
        }
        self.fb.seal_block(done);
        self.fb.switch_to_block(done);
    }
}
