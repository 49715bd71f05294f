//! Addresses: what is computed once, in front of the lanes, and what loops advance.
//!
//! What advances by the same number of bytes in every turn of a loop, a cursor, is added to, instead of computed again from the loop's index
//! for each access.

use super::*;
use crate::codegen::emit::ROW;
use crate::lanes::{Addr, For, Index as LaneIndex, LaneStep, MemTy, Stmt};

/// At most so many addresses of a loop are kept: they live in general registers, which are few.
const MOST: usize = 6;

/// An address that a loop advances.
pub(super) struct Cursor {
    key: Vec<i64>,
    var: Var,
    stride: i64,
}

impl<T: Target> Emitter<'_, T> {
    /// Computes the addresses that the body's accesses start from, once.
    pub(super) fn find_bases(&mut self) {
        let body = self.body;
        let mut all: Vec<&Addr> = self.accumulators.iter().map(|a| &a.dest).collect();
        for stmt in body.blocks().iter().flat_map(|b| &b.stmts) {
            match stmt {
                Stmt::Let(v) => {
                    if let Inst::Load(_, addr) = body.inst(*v) {
                        all.push(addr);
                    }
                }
                Stmt::Store { addr, .. } => all.push(addr),
                Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => {}
            }
        }
        // Parts of rows are addressed from where the row starts, and the last of them may need another base.
        let crosses = |addr: &&&Addr| far(addr.offset) != far(addr.offset + ROW);
        let ends: Vec<Addr> = (all.iter().filter(crosses))
            .map(|&addr| addr.clone().plus(ROW))
            .collect();
        for addr in all.into_iter().chain(&ends) {
            let key = base_key(addr);
            if self.bases.contains_key(&key) {
                continue;
            }
            let var = self.asm.var();
            let table = Mem::frame(self.tables);
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Mem(table)]);
            let entry = Mem::gpr(RDX, narrow(8 * addr.pointer.index()));
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Mem(entry)]);
            for &(index, stride) in &addr.terms {
                if let LaneIndex::Outer(k) = index {
                    self.outer_to_rax(k);
                    self.multiply_rax(stride);
                    self.asm
                        .int(Code::Add_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
                }
            }
            let far = far(addr.offset);
            if far != 0 {
                self.asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(far)]);
                self.asm
                    .int(Code::Add_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
            }
            self.asm
                .int(Code::Mov_rm64_r64, &[Int::Var(var), Int::Gpr(RDX)]);
            self.bases.insert(key, var);
        }
    }

    /// Goes on to the next value of an outer index.
    pub(super) fn advance_bases(&mut self, index: u32) {
        let mut steps: Vec<(Var, i64)> = Vec::new();
        for (key, &var) in &self.bases {
            let own = terms_of(key).filter(|term| term.0 == index);
            steps.push((var, own.map(|term| term.1).sum()));
        }
        steps.retain(|step| step.1 != 0);
        steps.sort_unstable_by_key(|step| step.0.0);
        for (var, step) in steps {
            if i32::try_from(step).is_ok() {
                self.asm
                    .int(Code::Add_rm64_imm32, &[Int::Var(var), Int::Imm(step)]);
                continue;
            }
            self.asm
                .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(step)]);
            self.asm
                .int(Code::Add_r64_rm64, &[Int::Gpr(RAX), Int::Var(var)]);
            self.asm
                .int(Code::Mov_rm64_r64, &[Int::Var(var), Int::Gpr(RAX)]);
        }
    }

    /// Where an access starts but for the lane step, and the constant copy that is left to add.
    pub(super) fn base(&mut self, addr: &Addr) -> (Base, i32) {
        let var = self.bases[&base_key(addr)];
        let disp = narrow(addr.offset - far(addr.offset));
        if let Some(&cursor) = self.cursors.get(&cursor_key(addr)) {
            return (Base::Var(cursor), disp);
        }
        let mut in_rdx = false;
        for &(index, stride) in &addr.terms {
            let LaneIndex::Loop(id) = index else { continue };
            let counter = self.counters[id.index()];
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(counter)]);
            self.multiply_rax(stride);
            let sum = if in_rdx { Int::Gpr(RDX) } else { Int::Var(var) };
            self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), sum]);
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
            in_rdx = true;
        }
        (
            if in_rdx {
                Base::Gpr(RDX)
            } else {
                Base::Var(var)
            },
            disp,
        )
    }

    /// The operand for a uniform access, or for consecutive elements of a copy.
    pub(super) fn mem(&mut self, addr: &Addr, copy: usize) -> Mem {
        let (base, disp) = self.base(addr);
        let at = Mem::new(base, disp);
        match addr.lane {
            LaneStep::Stride(s) => {
                let offset = copy as i64 * self.target.lanes() * s;
                at.plus(narrow(offset)).indexed(Index::Var(LANE), narrow(s))
            }
            LaneStep::Uniform | LaneStep::Gather(..) => at,
        }
    }

    pub(super) fn is_contiguous(&self, mem: MemTy, addr: &Addr) -> bool {
        addr.lane == LaneStep::Stride(mem.size())
    }

    pub(super) fn outer_to_rax(&mut self, k: u32) {
        let table = Mem::frame(self.tables + 16);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Mem(table)]);
        self.asm.int(
            Code::Mov_r64_rm64,
            &[Int::Gpr(RAX), Int::Mem(Mem::gpr(RAX, 8 * k as i32))],
        );
    }

    /// rax *= factor
    pub(super) fn multiply_rax(&mut self, factor: i64) {
        if i32::try_from(factor).is_ok() {
            self.asm.int(
                Code::Imul_r64_rm64_imm32,
                &[Int::Gpr(RAX), Int::Gpr(RAX), Int::Imm(factor)],
            );
            return;
        }
        self.asm.int(
            Code::Mov_r64_imm64,
            &[Int::Gpr(Register::R11), Int::Imm(factor)],
        );
        self.asm.int(
            Code::Imul_r64_rm64,
            &[Int::Gpr(RAX), Int::Gpr(Register::R11)],
        );
    }

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

/// What an address shares with others that a loop advances alike: all but a constant copy that operands hold.
fn cursor_key(addr: &Addr) -> Vec<i64> {
    let mut key = base_key(addr);
    for &(index, stride) in &addr.terms {
        if let LaneIndex::Loop(id) = index {
            key.extend([-1 - id.index() as i64, stride]);
        }
    }
    key
}

/// What an address shares with others: pointer, outer terms, and the part of the offset that no operand holds.
fn base_key(addr: &Addr) -> Vec<i64> {
    let mut key = vec![addr.pointer.index() as i64, far(addr.offset)];
    for &(index, stride) in &addr.terms {
        if let LaneIndex::Outer(k) = index {
            key.extend([i64::from(k), stride]);
        }
    }
    key
}

/// The outer indices of such a key, with their strides.
fn terms_of(key: &[i64]) -> impl Iterator<Item = (u32, i64)> {
    key[2..]
        .chunks_exact(2)
        .map(|term| (narrow(term[0]), term[1]))
}

/// The part of an offset that no operand holds: operands hold so many bytes in both directions, and what is added for neighbouring elements.
fn far(offset: i64) -> i64 {
    const HELD: i64 = 1 << 30;
    if (1 - HELD..HELD).contains(&offset) {
        0
    } else {
        offset.div_euclid(HELD) * HELD
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_hold_what_is_left_of_offsets() {
        let edges = [0, 1 << 29, 1 << 30, 1 << 31, 3 << 30, 1 << 32, 5 << 40];
        for offset in edges
            .iter()
            .flat_map(|&x| [x - 17, x - 1, x, x + 1, -x, 1 - x])
        {
            let left = offset - far(offset);
            assert!(left.unsigned_abs() < 1 << 30, "{offset}: {left}");
            assert!(far(offset) != 0 || left == offset);
        }
    }
}
