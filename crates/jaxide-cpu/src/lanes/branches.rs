//! Choices that a whole call makes alike become branches, so that what is not chosen is not computed.
//!
//! `select` with a condition of the prologue, and `and` and `or` with a mask of it, take all lanes one way. Where what the other way needs, and
//! nothing else, is long, it is moved to an arm. A compiler of loops would write the loop twice ("unswitching"); a jump that always goes the
//! same way costs a vector next to nothing.

use super::body::*;
use super::op::{BinOp, TerOp, UnOp};
use super::sweep::sweep;
use super::types::Ty;
use rustc_hash::FxHashSet as HashSet;

/// Operations that are worth a jump, in those that take a processor a cycle or less.
const WORTH_A_JUMP: usize = 16;

/// The body with branches for choices that are worth one, if there are any.
pub(super) fn branched(body: &Body) -> Option<Body> {
    let mut new: Option<Body> = None;
    for at in (0..body.values.len()).rev() {
        let v = Value(crate::narrow(at));
        let now = new.as_ref().unwrap_or(body);
        let Some(choice) = Choice::of(now, v) else {
            continue;
        };
        let arms = choice.arms.map(|arm| match arm {
            Way::Value(value) => moved_with(now, v, value),
            Way::Constant(_) => Moved::default(),
        });
        if arms[0].cost + arms[1].cost >= WORTH_A_JUMP {
            let new = new.get_or_insert_with(|| body.clone());
            new.branch(v, &choice, &arms);
        }
    }
    new.map(|body| sweep(&body))
}

/// A value that is one of two.
struct Choice {
    /// A mask of the prologue.
    cond: Value,
    /// Where it holds, and elsewhere.
    arms: [Way; 2],
}

#[derive(Clone, Copy)]
enum Way {
    Value(Value),
    /// A mask that is the same in all lanes.
    Constant(bool),
}

impl Choice {
    fn of(body: &Body, v: Value) -> Option<Choice> {
        let data = &body.values[v.index()];
        if data.block == BlockId::PROLOGUE {
            return None;
        }
        let decides = |v: Value| {
            let data = &body.values[v.index()];
            data.ty == Ty::Mask && data.block == BlockId::PROLOGUE
        };
        match data.inst {
            Inst::Ter(TerOp::Select, cond, then, otherwise) if decides(cond) => Some(Choice {
                cond,
                arms: [Way::Value(then), Way::Value(otherwise)],
            }),
            Inst::Bin(op @ (BinOp::And | BinOp::Or), a, b) if data.ty == Ty::Mask => {
                let (cond, other) = if decides(a) { (a, b) } else { (b, a) };
                let (other, settled) = (Way::Value(other), Way::Constant(op == BinOp::Or));
                decides(cond).then_some(Choice {
                    cond,
                    arms: if op == BinOp::And {
                        [other, settled]
                    } else {
                        [settled, other]
                    },
                })
            }
            _ => None,
        }
    }
}

/// Statements that only one way of a choice needs.
#[derive(Default)]
struct Moved {
    /// Their places in the block of the choice, the last first.
    places: Vec<usize>,
    cost: usize,
}

/// What only `v`, a choice, needs for its operand `value`: of the block of `v`, and without memory.
fn moved_with(body: &Body, v: Value, value: Value) -> Moved {
    let mut moved = Moved::default();
    let mut others = uses(body);
    let mut own: HashSet<Value> = HashSet::default();
    // The use by the choice itself; as the condition of it, too, it is used elsewhere.
    own.insert(value);
    others[value.index()] -= 1;
    let stmts = &body.blocks[body.values[v.index()].block.index()].stmts;
    let Some(end) = stmts.iter().position(|stmt| *stmt == Stmt::Let(v)) else {
        return moved;
    };
    for (place, stmt) in stmts[..end].iter().enumerate().rev() {
        let mut wanted = false;
        let mut alone = true;
        for result in stmt.results() {
            wanted |= own.contains(&result);
            alone &= others[result.index()] == 0;
        }
        if !(wanted && alone && is_pure(body, stmt)) {
            continue;
        }
        moved.places.push(place);
        moved.cost += cost(body, stmt);
        body.each_use(stmt, &mut |operand| {
            own.insert(operand);
            others[operand.index()] -= 1;
        });
    }
    moved
}

/// How often each value is used.
fn uses(body: &Body) -> Vec<usize> {
    let mut counts = vec![0; body.values.len()];
    let mut count = |v: Value| counts[v.index()] += 1;
    for block in [BlockId::PROLOGUE, BlockId::LANES] {
        let stmts = body.blocks[block.index()].stmts.iter();
        stmts.for_each(|stmt| body.each_use(stmt, &mut count));
    }
    for reduction in &body.reductions {
        let stmts = body.blocks[reduction.combine.index()].stmts.iter();
        stmts.for_each(|stmt| body.each_use(stmt, &mut count));
        for a in &reduction.accumulators {
            [a.init, a.next, a.combined]
                .into_iter()
                .for_each(&mut count);
        }
    }
    counts
}

/// Whether a statement neither reads nor writes memory.
fn is_pure(body: &Body, stmt: &Stmt) -> bool {
    let own = match stmt {
        Stmt::Let(v) => !matches!(body.inst(*v), Inst::Load(..)),
        Stmt::Store { .. } => false,
        Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => true,
    };
    own && stmt.blocks().into_iter().all(|block| {
        let stmts = &body.blocks[block.index()].stmts;
        stmts.iter().all(|stmt| is_pure(body, stmt))
    })
}

/// Cycles, roughly.
fn cost(body: &Body, stmt: &Stmt) -> usize {
    let own = match stmt {
        Stmt::Let(v) => match body.inst(*v) {
            Inst::Bin(BinOp::Div | BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU, ..) => 16,
            Inst::Un(UnOp::Sqrt, _) => 8,
            Inst::Const(_) | Inst::Index(_) | Inst::Carried | Inst::Result => 0,
            Inst::Un(..) | Inst::Bin(..) | Inst::Ter(..) | Inst::Lookup(..) | Inst::Load(..) => 1,
        },
        Stmt::Store { .. } => 1,
        Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => 2,
    };
    let inside = stmt.blocks().into_iter().map(|block| {
        let stmts = body.blocks[block.index()].stmts.iter();
        stmts.map(|stmt| cost(body, stmt)).sum::<usize>()
    });
    own + inside.sum::<usize>()
}

impl Body {
    /// Makes a choice a branch with these statements in its arms.
    fn branch(&mut self, v: Value, choice: &Choice, arms: &[Moved; 2]) {
        let home = self.values[v.index()].block;
        let blocks = arms.each_ref().map(|arm| {
            let block = BlockId(crate::narrow(self.blocks.len()));
            let mut stmts = Vec::new();
            for &place in arm.places.iter().rev() {
                let stmt = self.blocks[home.index()].stmts[place].clone();
                self.move_to(&stmt, block);
                stmts.push(stmt);
            }
            self.blocks.push(Block {
                stmts,
                parent: Some(home),
            });
            block
        });
        let [then, otherwise] = choice.arms.map(|way| match way {
            Way::Value(value) => value,
            Way::Constant(holds) => self.mask(holds),
        });
        let branch = Stmt::If(Box::new(If {
            cond: choice.cond,
            then: blocks[0],
            otherwise: blocks[1],
            arms: vec![Arm {
                then,
                otherwise,
                result: v,
            }],
        }));
        self.values[v.index()].inst = Inst::Result;
        let gone: HashSet<usize> = arms
            .iter()
            .flat_map(|arm| arm.places.iter().copied())
            .collect();
        let stmts = std::mem::take(&mut self.blocks[home.index()].stmts);
        let mut branch = Some(branch);
        let kept = stmts.into_iter().enumerate().filter_map(|(place, stmt)| {
            if stmt == Stmt::Let(v) {
                return branch.take();
            }
            (!gone.contains(&place)).then_some(stmt)
        });
        self.blocks[home.index()].stmts = kept.collect();
    }

    /// Says of a statement, and the blocks inside of it, that it stands in another block.
    fn move_to(&mut self, stmt: &Stmt, block: BlockId) {
        for v in stmt.results() {
            self.values[v.index()].block = block;
        }
        for inside in stmt.blocks() {
            self.blocks[inside.index()].parent = Some(block);
        }
    }

    /// A mask of the prologue that is the same in all lanes.
    fn mask(&mut self, holds: bool) -> Value {
        let v = Value(crate::narrow(self.values.len()));
        self.values.push(ValueData {
            ty: Ty::Mask,
            inst: Inst::Const(u64::from(holds)),
            block: BlockId::PROLOGUE,
        });
        let Block { stmts, .. } = &mut self.blocks[BlockId::PROLOGUE.index()];
        stmts.insert(0, Stmt::Let(v));
        v
    }
}
