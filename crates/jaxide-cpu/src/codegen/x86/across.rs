//! How values differ from lane to lane.

use crate::lanes::{BinOp, Body, Index, Inst, LaneStep, Stmt, UnOp, Value};

/// How a value differs from lane to lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Across {
    /// It is the same in all lanes.
    Same,
    /// It is one more in each lane than in the one before.
    Counts,
    /// As it may be.
    Free,
}

/// How the values of a body differ from lane to lane.
///
/// What loops and branches give is the same in all lanes where everything that it depends on is. What a loop carries is taken to be so until
/// a turn shows that it is not.
pub(super) fn across(body: &Body) -> Vec<Across> {
    let mut given = vec![false; body.values().len()];
    for stmt in body.blocks().iter().flat_map(|block| &block.stmts) {
        match stmt {
            Stmt::For(f) => (f.carries.iter()).for_each(|c| mark(&mut given, [c.param, c.result])),
            Stmt::While(w) => {
                (w.carries.iter()).for_each(|c| mark(&mut given, [c.param, c.result]));
            }
            Stmt::If(i) => (i.arms.iter()).for_each(|arm| mark(&mut given, [arm.result])),
            Stmt::Let(_) | Stmt::Store { .. } => {}
        }
    }
    loop {
        let all = forward(body, &given);
        if !settle(body, &all, &mut given) {
            return all;
        }
    }
}

fn mark<const N: usize>(given: &mut [bool], values: [Value; N]) {
    values.iter().for_each(|v| given[v.index()] = true);
}

/// How values differ where those that are `given` by loops and branches are the same in all lanes.
fn forward(body: &Body, given: &[bool]) -> Vec<Across> {
    use Across::{Counts, Free, Same};
    let mut all = vec![Free; body.values().len()];
    // Operands come before what is made of them.
    for (k, value) in body.values().iter().enumerate() {
        let of = |v: &Value| all[v.index()];
        all[k] = match &value.inst {
            Inst::Const(_) => Same,
            Inst::Index(index) if *index == Index::Lane => Counts,
            Inst::Index(_) => Same,
            Inst::Un(op, a) => match (op, of(a)) {
                (_, Same) => Same,
                (UnOp::SExt, across) => across,
                _ => Free,
            },
            Inst::Bin(op, a, b) => match (op, of(a), of(b)) {
                (_, Same, Same) => Same,
                (BinOp::Add, Counts, Same) | (BinOp::Add, Same, Counts) => Counts,
                (BinOp::Sub, Counts, Same) => Counts,
                _ => Free,
            },
            Inst::Ter(_, a, b, c) if [a, b, c].into_iter().all(|v| of(v) == Same) => Same,
            Inst::Lookup(_, index) if of(index) == Same => Same,
            Inst::Load(_, addr) if addr.lane == LaneStep::Uniform => Same,
            Inst::Carried | Inst::Result if given[k] => Same,
            Inst::Ter(..) | Inst::Lookup(..) | Inst::Load(..) | Inst::Carried | Inst::Result => {
                Free
            }
        };
    }
    all
}

/// Takes back what is not the same in all lanes after all; whether there was any.
fn settle(body: &Body, all: &[Across], given: &mut [bool]) -> bool {
    let same = |v: Value| all[v.index()] == Across::Same;
    let mut wrong = Vec::new();
    for stmt in body.blocks().iter().flat_map(|block| &block.stmts) {
        match stmt {
            Stmt::For(f) => {
                for c in &f.carries {
                    if !(same(c.init) && same(c.next)) {
                        wrong.extend([c.param, c.result]);
                    }
                }
            }
            // Lanes that stop one by one keep what they have.
            Stmt::While(w) => {
                for c in &w.carries {
                    if !(same(w.cond) && same(c.init) && same(c.next)) {
                        wrong.extend([c.param, c.result]);
                    }
                }
            }
            Stmt::If(i) => {
                for arm in &i.arms {
                    if ![i.cond, arm.then, arm.otherwise].into_iter().all(same) {
                        wrong.push(arm.result);
                    }
                }
            }
            Stmt::Let(_) | Stmt::Store { .. } => {}
        }
    }
    let mut changed = false;
    for v in wrong {
        changed |= std::mem::replace(&mut given[v.index()], false);
    }
    changed
}
