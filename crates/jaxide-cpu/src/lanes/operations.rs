//! What lane programs take, in operations: a guess by which work is shared out.

use super::body::{Addr, BlockId, Body, Inst, LaneStep, Stmt as Line, Trip};
use super::op::{BinOp, UnOp};
use super::types::{MemTy, Ty};

/// Turns that a loop of unknown length is taken to have: a guess that favours threads.
pub(crate) const GUESSED_TURNS: f64 = 20.0;

/// Operations that each byte of an access is worth whose elements follow each other: what runs long enough for threads moves more than the
/// first-level cache holds, and so some 80 GB a second.
const BYTE: f64 = 0.4;
/// Operations that an access is worth whose elements lie apart.
const APART: f64 = 6.0;
/// The same of elements that lie anywhere.
const ANYWHERE: f64 = 12.0;

/// How often the longer of two branches is taken: most are for the arguments of a function that are far from others.
const SELDOM: f64 = 0.2;

/// Operations that an access is worth.
fn access(ty: MemTy, addr: &Addr) -> f64 {
    match addr.lane {
        LaneStep::Uniform => 1.0,
        LaneStep::Stride(step) if step.abs() == ty.size() => (BYTE * step.abs() as f64).max(1.0),
        LaneStep::Stride(_) => APART,
        LaneStep::Gather(..) => ANYWHERE,
    }
}

/// Operations that an instruction is worth: dividers take longer than all else.
fn instruction(inst: &Inst, ty: Ty) -> f64 {
    let wide = ty.bits() == 64;
    match inst {
        Inst::Load(ty, addr) => access(*ty, addr),
        Inst::Un(UnOp::Sqrt, _) | Inst::Bin(BinOp::Div, ..) => {
            if wide {
                12.0
            } else {
                4.0
            }
        }
        Inst::Bin(BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU, ..) => {
            if wide {
                40.0
            } else {
                12.0
            }
        }
        Inst::Un(..)
        | Inst::Bin(..)
        | Inst::Ter(..)
        | Inst::Const(_)
        | Inst::Index(_)
        | Inst::Lookup(..)
        | Inst::Carried
        | Inst::Result => 1.0,
    }
}

impl Body {
    /// About how many operations on one lane a turn of a block is worth.
    pub(crate) fn operations(&self, id: BlockId) -> f64 {
        let of = |line: &Line| match line {
            Line::Let(value) => instruction(self.inst(*value), self.ty(*value)),
            Line::Store { ty, addr, .. } => access(*ty, addr),
            Line::For(inner) => {
                let turns = match inner.trip {
                    Trip::Const(turns) => turns as f64,
                    // The loop over rows, which are counted apart.
                    Trip::Outer(_) => 1.0,
                };
                turns * self.operations(inner.body)
            }
            Line::While(inner) => {
                GUESSED_TURNS * (self.operations(inner.head) + self.operations(inner.body))
            }
            Line::If(inner) => {
                let [then, otherwise] = [inner.then, inner.otherwise].map(|id| self.operations(id));
                1.0 + then.min(otherwise) + SELDOM * (then - otherwise).abs()
            }
        };
        self.blocks()[id.index()].stmts.iter().map(of).sum()
    }
}
