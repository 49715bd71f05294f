//! Loops and branches land in the outermost block where what they use exists.

use super::body::*;
use super::builder::{BlockKind, Builder, Care};

impl Builder {
    /// Adds a finished loop or branch to the outermost block where everything that it uses exists. One that stores, or that reads
    /// what may be stored, stays.
    pub(super) fn settle(&mut self, stmt: Stmt) {
        let from = self.current;
        let home = if self.may_leave(from) {
            let mut outside = Outside::default();
            self.look(&stmt, &mut outside);
            let needs = &outside.needs;
            // Loops of the lanes stay with them.
            let home = self.outermost(needs, outside.care.unwrap_or(Care::Nothing));
            let home = if home == BlockId::PROLOGUE {
                BlockId::LANES
            } else {
                home
            };
            if outside.stays { from } else { home }
        } else {
            from
        };
        if home != from {
            for block in stmt.blocks() {
                // The turns of a `while` stay in its head.
                if self.body.blocks[block.index()].parent == Some(from) {
                    self.body.blocks[block.index()].parent = Some(home);
                }
            }
            for value in stmt.results() {
                self.body.values[value.index()].block = home;
            }
        }
        self.body.blocks[home.index()].stmts.push(stmt);
    }

    fn may_leave(&self, block: BlockId) -> bool {
        match self.kind(block) {
            BlockKind::For { .. } | BlockKind::WhileHead | BlockKind::WhileBody => true,
            BlockKind::Root | BlockKind::Lanes | BlockKind::Arm => false,
        }
    }

    /// What a statement in the current block uses from outside of its own blocks.
    fn look(&self, stmt: &Stmt, outside: &mut Outside) {
        match stmt {
            Stmt::Let(value) => self.look_at(*value, outside),
            Stmt::Store { .. } => outside.stays = true,
            Stmt::For(f) => {
                for carry in &f.carries {
                    self.need(carry.init, outside);
                    self.need(carry.next, outside);
                }
            }
            Stmt::While(w) => {
                outside.care = Some(Care::Turn);
                self.need(w.cond, outside);
                for carry in &w.carries {
                    self.need(carry.init, outside);
                    self.need(carry.next, outside);
                }
            }
            Stmt::If(branch) => {
                self.need(branch.cond, outside);
                for arm in &branch.arms {
                    self.need(arm.then, outside);
                    self.need(arm.otherwise, outside);
                }
            }
        }
        for block in stmt.blocks() {
            for inner in &self.body.blocks[block.index()].stmts {
                self.look(inner, outside);
            }
        }
    }

    fn look_at(&self, value: Value, outside: &mut Outside) {
        let inst = &self.body.values[value.index()].inst;
        inst.operands(|operand| self.need(operand, outside));
        match inst {
            Inst::Index(index) => self.need_index(*index, outside),
            Inst::Load(_, addr) => {
                addr.terms
                    .iter()
                    .for_each(|term| self.need_index(term.0, outside));
                outside.stays |= self.body.pointers[addr.pointer.index()] == Access::ReadWrite;
                outside.care = outside.care.max(Some(Care::of(addr)));
            }
            _ => {}
        }
    }

    fn need(&self, value: Value, outside: &mut Outside) {
        outside.need(self.body.values[value.index()].block);
    }

    fn need_index(&self, index: Index, outside: &mut Outside) {
        match index {
            Index::Loop(id) => outside.need(self.loop_bodies[id.index()]),
            Index::Lane | Index::Outer(_) => {}
        }
    }
}

/// What is used from outside.
#[derive(Default)]
struct Outside {
    /// Blocks of what is used; those of the statement itself, which is finished, are no harm.
    needs: Vec<BlockId>,
    care: Option<Care>,
    /// It stores, or reads what may be stored.
    stays: bool,
}

impl Outside {
    fn need(&mut self, block: BlockId) {
        if !self.needs.contains(&block) {
            self.needs.push(block);
        }
    }
}
