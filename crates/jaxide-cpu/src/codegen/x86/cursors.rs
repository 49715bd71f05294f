//! Addresses in loops: what advances by the same number of bytes in every turn is added to, instead of computed again from the loop's index
//! for each access.

use super::lir::*;
use super::lower::{Lower, cursor_key};
use super::target::Target;
use crate::lanes::{Addr, BlockId, For, Index as LaneIndex, Inst, LoopId, Stmt};
use iced_x86::{Code, Register};

/// At most so many addresses of a loop are kept: they live in general registers, which are few.
const MOST: usize = 6;

/// An address that a loop advances.
pub(super) struct Cursor {
    key: Vec<i64>,
    var: Var,
    stride: i64,
}

impl<T: Target> Lower<'_, T> {
    /// Sets the addresses that a loop advances to those of its first turn.
    pub(super) fn enter_cursors(&mut self, f: &For) -> Vec<Cursor> {
        let mut addresses = Vec::new();
        self.find_addresses(f.body, f.id, &mut addresses);
        let mut cursors: Vec<Cursor> = Vec::new();
        for addr in addresses {
            let key = cursor_key(&addr);
            if cursors.len() == MOST || cursors.iter().any(|cursor| cursor.key == key) {
                continue;
            }
            let own = |index: LaneIndex| index == LaneIndex::Loop(f.id);
            let stride = addr.terms.iter().find(|term| own(term.0));
            let Some(&(_, stride)) = stride.filter(|term| i32::try_from(term.1).is_ok()) else {
                continue;
            };
            let mut first = addr.clone();
            first.terms.retain(|term| !own(term.0));
            let (base, _) = self.base(&first);
            let var = self.asm.var();
            let at = Mem::new(base, 0);
            self.asm
                .int(Code::Lea_r64_m, &[Int::Gpr(Register::RAX), Int::Mem(at)]);
            self.asm.int(
                Code::Mov_rm64_r64,
                &[Int::Var(var), Int::Gpr(Register::RAX)],
            );
            cursors.push(Cursor { key, var, stride });
        }
        for cursor in &cursors {
            self.cursors.insert(cursor.key.clone(), cursor.var);
        }
        cursors
    }

    /// Goes on to the next turn.
    pub(super) fn advance_cursors(&mut self, cursors: &[Cursor]) {
        for cursor in cursors {
            self.asm.int(
                Code::Add_rm64_imm32,
                &[Int::Var(cursor.var), Int::Imm(cursor.stride)],
            );
        }
    }

    /// Behind the loop its addresses mean nothing.
    pub(super) fn leave_cursors(&mut self, cursors: &[Cursor]) {
        for cursor in cursors {
            self.cursors.remove(&cursor.key);
        }
    }

    /// The accesses in a block whose addresses depend on the index of a loop, and on none of a loop inside of it.
    fn find_addresses(&self, block: BlockId, id: LoopId, found: &mut Vec<Addr>) {
        for stmt in &self.body.blocks()[block.index()].stmts {
            let addr = match stmt {
                Stmt::Let(v) => match self.body.inst(*v) {
                    Inst::Load(_, addr) => addr,
                    _ => continue,
                },
                Stmt::Store { addr, .. } => addr,
                Stmt::For(f) => {
                    self.find_addresses(f.body, id, found);
                    continue;
                }
                Stmt::While(w) => {
                    self.find_addresses(w.head, id, found);
                    self.find_addresses(w.body, id, found);
                    continue;
                }
                Stmt::If(branch) => {
                    self.find_addresses(branch.then, id, found);
                    self.find_addresses(branch.otherwise, id, found);
                    continue;
                }
            };
            let mut loops = addr.terms.iter().filter_map(|term| match term.0 {
                LaneIndex::Loop(id) => Some(id),
                LaneIndex::Lane | LaneIndex::Outer(_) => None,
            });
            let depends = addr.terms.iter().any(|term| term.0 == LaneIndex::Loop(id));
            if depends && loops.all(|other| other == id || self.open.contains(&other)) {
                found.push(addr.as_ref().clone());
            }
        }
    }
}
