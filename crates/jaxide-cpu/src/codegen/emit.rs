//! What an emitter of lane programs gives.
//!
//! All emitters walk a body in one way: [`Emit::block`] goes through its statements, [`Emit::define`] through the forms that the definition of
//! a value has. An emitter gives the code of each, where it is: [`Operations`] on lanes, access to [`Memory`] and [`Control`] of what is run.
//! What it holds values in is its own affair; here they are names. A method takes first what it defines, then the operation, its
//! operands, and last what is known when the code is made.

use crate::lanes::{
    Addr, BinOp, BlockId, Body, For, If, Index, Inst, LaneStep, MemTy, Stmt, Table, TerOp, UnOp,
    Value, While, woven_count,
};
use crate::narrow;
use rustc_hash::FxHashSet as HashSet;
use std::collections::BTreeMap;

/// Definitions of values by other values.
pub(super) trait Operations {
    fn constant(&mut self, v: Value, bits: u64);

    fn index(&mut self, v: Value, index: Index);

    fn un(&mut self, v: Value, op: UnOp, a: Value);

    fn bin(&mut self, v: Value, op: BinOp, a: Value, b: Value);

    /// A shift by a constant, of any size.
    fn shift_by(&mut self, v: Value, op: BinOp, a: Value, count: u64);

    fn fma(&mut self, v: Value, a: Value, b: Value, c: Value);

    fn select(&mut self, v: Value, mask: Value, a: Value, b: Value);

    /// An entry of a table; its last one for indices that are too large.
    fn lookup(&mut self, v: Value, index: Value, table: Table);
}

/// What goes to memory and comes from there, for the lanes that are active.
pub(super) trait Memory {
    fn load(&mut self, v: Value, mem: MemTy, addr: &Addr);

    /// Loads elements that follow each other in every lane, the first of them at `addr`, and says whether it did. If not, each is loaded
    /// where it stands.
    fn load_row(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) -> bool {
        let _ = (mem, addr, values);
        false
    }

    fn store(&mut self, mem: MemTy, addr: &Addr, value: Value);

    /// Stores of elements that follow each other in every lane, the first of them at `addr`, which fill [`ROW`] bytes; says whether they are made. If
    /// not, each is made where it stands.
    fn store_row(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) -> bool {
        let _ = (mem, addr, values);
        false
    }

    /// Stores whose elements lie side by side: each is one element behind the one before, and from lane to lane it is as many elements as
    /// there are stores.
    fn store_woven(&mut self, mem: MemTy, addr: &Addr, values: &[Value]) {
        store_apart(self, mem, addr, values);
    }
}

/// [Woven](Memory::store_woven) stores one after the other.
pub(super) fn store_apart(
    emitter: &mut (impl Memory + ?Sized),
    mem: MemTy,
    addr: &Addr,
    values: &[Value],
) {
    let mut at = addr.clone();
    for &value in values {
        emitter.store(mem, &at, value);
        at.offset += mem.size();
    }
}

/// The values of the stores that statements begin with and that are made together: of two to four [woven](Memory::store_woven) ones, or of
/// [a row](Memory::store_row) in lanes that are so far apart; or none.
fn stored_together(stmts: &[Stmt]) -> Vec<Value> {
    let Some(Stmt::Store { ty, addr, value }) = stmts.first() else {
        return Vec::new();
    };
    let LaneStep::Stride(step) = addr.lane else {
        return Vec::new();
    };
    let size = ty.size();
    let in_row = (size >= 4 && step.abs() >= ROW).then(|| narrow(ROW / size));
    let Some(count) = woven_count(*ty, step).or(in_row) else {
        return Vec::new();
    };
    let mut values = vec![*value];
    for (stmt, place) in stmts[1..].iter().zip(1..count as i64) {
        let behind = Addr {
            offset: addr.offset + place * size,
            ..Addr::clone(addr)
        };
        match stmt {
            Stmt::Store {
                ty: own,
                addr: at,
                value,
            } if own == ty && **at == behind => values.push(*value),
            _ => return Vec::new(),
        }
    }
    if values.len() == count {
        values
    } else {
        Vec::new()
    }
}

/// Bytes of a row that are loaded together.
pub(super) const ROW: i64 = 16;
/// Elements of a row are looked for among so many statements.
const NEAR: usize = 256;

/// Elements that follow each other in memory, in every lane, the element among them that a load gives whose value is `first`: their values, and
/// where they begin. They fill [`ROW`] bytes; or they are smaller than four bytes and fill four at least, where each lane has an index two elements.
/// The others are loaded by statements after it, before anything is stored. None where lanes are so near that other ways are better.
fn row(body: &Body, first: Value, stmts: &[Stmt]) -> Option<(Addr, Vec<Value>)> {
    let Inst::Load(ty, addr) = body.inst(first) else {
        return None;
    };
    let size = ty.size();
    let apart = match addr.lane {
        LaneStep::Uniform => false,
        LaneStep::Stride(step) => step.abs() != size && woven_count(*ty, step).is_none(),
        LaneStep::Gather(..) => true,
    };
    if !apart {
        return None;
    }
    let mut found = BTreeMap::from([(addr.offset, first)]);
    for stmt in stmts.iter().take(NEAR) {
        let Stmt::Let(value) = stmt else { break };
        if let Inst::Load(own, at) = body.inst(*value)
            && own == ty
            && at.pointer == addr.pointer
            && at.lane == addr.lane
            && at.terms == addr.terms
        {
            found.entry(at.offset).or_insert(*value);
        }
    }
    let unbroken = |by: i64| {
        (0..)
            .map(|k| addr.offset + k * by)
            .take_while(|offset| found.contains_key(offset))
            .count()
    };
    let (before, behind) = (unbroken(-size) - 1, unbroken(size));
    let all = before + behind;
    let most: usize = narrow(ROW / size);
    let least = match addr.lane {
        LaneStep::Gather(..) => 2,
        LaneStep::Uniform | LaneStep::Stride(_) => narrow((4 / size).max(2)),
    };
    if all < least || size >= 4 && all < most {
        return None;
    }
    // In rows from the first on; the last one may lie over the one before.
    let start = (before / most * most).min(all.saturating_sub(most));
    let offset = addr.offset - (before - start) as i64 * size;
    let values = (start..all.min(start + most))
        .map(|place| found[&(offset + (place - start) as i64 * size)])
        .collect();
    let addr = Addr {
        offset,
        ..Addr::clone(addr)
    };
    Some((addr, values))
}

/// Statements that hold others.
pub(super) trait Control {
    fn for_loop(&mut self, f: &For);

    fn while_loop(&mut self, w: &While);

    fn branch(&mut self, i: &If);
}

/// An emitter of the body `'b`.
pub(super) trait Emit<'b>: Operations + Memory + Control {
    fn body(&self) -> &'b Body;

    /// Calls `emit` for the code of one statement.
    fn in_statement(&mut self, emit: impl FnOnce(&mut Self)) {
        emit(self);
    }

    /// Emits the statements of a block.
    fn block(&mut self, id: BlockId) {
        let body = self.body();
        let mut stmts = &body.blocks()[id.index()].stmts[..];
        let mut loaded: HashSet<Value> = HashSet::default();
        while let [stmt, rest @ ..] = stmts {
            if let Stmt::Store { ty, addr, .. } = stmt
                && let values = stored_together(stmts)
                && !values.is_empty()
            {
                let is_woven = addr.lane == LaneStep::Stride(values.len() as i64 * ty.size());
                let mut done = true;
                self.in_statement(|emitter| {
                    if is_woven {
                        emitter.store_woven(*ty, addr, &values);
                    } else {
                        done = emitter.store_row(*ty, addr, &values);
                    }
                });
                if done {
                    stmts = &stmts[values.len()..];
                    continue;
                }
            }
            stmts = rest;
            if let Stmt::Let(v) = stmt {
                if loaded.contains(v) {
                    continue;
                }
                if let Inst::Load(ty, _) = body.inst(*v)
                    && let Some((addr, values)) = row(body, *v, rest)
                {
                    let mut done = false;
                    self.in_statement(|emitter| done = emitter.load_row(*ty, &addr, &values));
                    if done {
                        loaded.extend(values);
                        continue;
                    }
                }
            }
            self.in_statement(|emitter| match stmt {
                Stmt::Let(v) => emitter.define(*v),
                Stmt::Store { ty, addr, value } => emitter.store(*ty, addr, *value),
                Stmt::For(f) => emitter.for_loop(f),
                Stmt::While(w) => emitter.while_loop(w),
                Stmt::If(i) => emitter.branch(i),
            });
        }
    }

    /// Emits the definition of a value.
    fn define(&mut self, v: Value) {
        let body = self.body();
        match body.inst(v) {
            Inst::Const(bits) => self.constant(v, *bits),
            Inst::Index(index) => self.index(v, *index),
            Inst::Un(op, a) => self.un(v, *op, *a),
            Inst::Bin(op, a, b) => match (op, body.inst(*b)) {
                (BinOp::Shl | BinOp::ShrS | BinOp::ShrU, Inst::Const(count)) => {
                    self.shift_by(v, *op, *a, *count);
                }
                _ => self.bin(v, *op, *a, *b),
            },
            Inst::Ter(TerOp::Fma, a, b, c) => self.fma(v, *a, *b, *c),
            Inst::Ter(TerOp::Select, mask, a, b) => self.select(v, *mask, *a, *b),
            Inst::Lookup(table, index) => self.lookup(v, *index, *table),
            Inst::Load(mem, addr) => self.load(v, *mem, addr),
            Inst::Carried | Inst::Result => unreachable!("verified: {v} is no statement"),
        }
    }
}
