//! The legal forms of a [`Body`].

use super::body::*;
use super::types::{MemTy, Ty};
use std::fmt;

/// A body that is not well formed: the rule it breaks, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    body: String,
    message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "lane body {}: {}", self.body, self.message)
    }
}

impl std::error::Error for VerifyError {}

/// Checks that every value is defined once and before its uses, in a block around them; that types fit the operations; that addresses
/// name entries that exist and loops around them, and stores no read-only pointer; that the prologue holds nothing that differs between
/// lanes; and that reductions start from uniform values and end at uniform addresses.
pub(super) fn verify(body: &Body) -> Result<(), VerifyError> {
    let mut check = Check {
        body,
        defined: vec![false; body.values.len()],
        blocks: Vec::new(),
        loops: Vec::new(),
    };
    check.run().map_err(|message| VerifyError {
        body: body.name.clone(),
        message,
    })
}

struct Check<'a> {
    body: &'a Body,
    defined: Vec<bool>,
    blocks: Vec<BlockId>,
    loops: Vec<LoopId>,
}

type Checked = Result<(), String>;

impl Check<'_> {
    fn run(&mut self) -> Checked {
        let body = self.body;
        self.blocks.push(BlockId::PROLOGUE);
        self.stmts(BlockId::PROLOGUE)?;
        let accumulators = || body.reductions.iter().flat_map(|r| &r.accumulators);
        for a in accumulators() {
            self.used(a.init)?;
            self.addr(&a.dest, a.ty)?;
            ensure(a.dest.lane == LaneStep::Uniform, || {
                format!(
                    "the reduction into {} has no single destination",
                    a.dest.pointer
                )
            })?;
            self.writable(&a.dest)?;
            self.carried(&[a.init, a.param, a.next, a.pair.0, a.pair.1, a.combined])?;
            ensure(self.ty(a.init) == a.ty.lane(), || {
                format!("{} is stored as {}", a.init, a.ty)
            })?;
        }
        self.blocks.push(BlockId::LANES);
        for accumulator in accumulators() {
            self.define(accumulator.param)?;
        }
        self.stmts(BlockId::LANES)?;
        for accumulator in accumulators() {
            self.used(accumulator.next)?;
        }
        self.blocks.pop();
        for r in &body.reductions {
            self.blocks.push(r.combine);
            for a in &r.accumulators {
                self.define(a.pair.0)?;
                self.define(a.pair.1)?;
            }
            self.stmts(r.combine)?;
            for a in &r.accumulators {
                self.used(a.combined)?;
            }
            self.blocks.pop();
        }
        Ok(())
    }

    fn stmts(&mut self, block: BlockId) -> Checked {
        for stmt in &self.body.blocks[block.index()].stmts {
            match stmt {
                Stmt::Let(v) => self.inst(*v)?,
                Stmt::Store {
                    ty, addr, value, ..
                } => {
                    self.used(*value)?;
                    ensure(self.ty(*value) == ty.lane(), || {
                        format!("a store of {value} as {ty} gets {}", self.ty(*value))
                    })?;
                    let may_store =
                        self.blocks.contains(&BlockId::LANES) || self.body.guarded.is_some();
                    ensure(may_store, || "a store in the prologue".to_owned())?;
                    self.addr(addr, *ty)?;
                    self.writable(addr)?;
                }
                Stmt::For(f) => {
                    if let Trip::Outer(k) = f.trip {
                        ensure(k < self.body.outer, || format!("no outer index {k}"))?;
                    }
                    self.starts(&f.carries)?;
                    self.blocks.push(f.body);
                    self.loops.push(f.id);
                    f.carries.iter().try_for_each(|c| self.define(c.param))?;
                    self.stmts(f.body)?;
                    f.carries.iter().try_for_each(|c| self.used(c.next))?;
                    self.loops.pop();
                    self.blocks.pop();
                    f.carries.iter().try_for_each(|c| self.define(c.result))?;
                }
                Stmt::While(w) => {
                    self.starts(&w.carries)?;
                    self.blocks.push(w.head);
                    w.carries.iter().try_for_each(|c| self.define(c.param))?;
                    self.stmts(w.head)?;
                    self.mask(w.cond)?;
                    self.blocks.push(w.body);
                    self.stmts(w.body)?;
                    w.carries.iter().try_for_each(|c| self.used(c.next))?;
                    self.blocks.pop();
                    self.blocks.pop();
                    w.carries.iter().try_for_each(|c| self.define(c.result))?;
                }
                Stmt::If(i) => {
                    self.mask(i.cond)?;
                    for (block, end) in [(i.then, 0), (i.otherwise, 1)] {
                        self.blocks.push(block);
                        self.stmts(block)?;
                        i.arms
                            .iter()
                            .try_for_each(|a| self.used([a.then, a.otherwise][end]))?;
                        self.blocks.pop();
                    }
                    for a in &i.arms {
                        self.carried(&[a.then, a.otherwise, a.result])?;
                        self.define(a.result)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn inst(&mut self, v: Value) -> Checked {
        let ty = self.ty(v);
        let inst = self.body.inst(v);
        let mut operands = Ok(());
        inst.operands(|o| operands = operands.clone().and_then(|()| self.used(o)));
        operands?;
        let fits = match inst {
            Inst::Const(bits) => bits & !ty.bit_mask() == 0,
            Inst::Index(i) => {
                self.index(*i)?;
                ty.is_int()
            }
            Inst::Un(op, a) => op.accepts(self.ty(*a), ty),
            Inst::Bin(op, a, b) => {
                op.accepts(self.ty(*a))
                    && self.ty(*a) == self.ty(*b)
                    && ty == op.result(self.ty(*a))
            }
            Inst::Ter(op, a, b, c) => {
                op.accepts(self.ty(*a), self.ty(*b), self.ty(*c)) && ty == self.ty(*c)
            }
            Inst::Lookup(table, i) => {
                !table.is_empty() && table.bits() == ty.bits() && self.ty(*i) == ty.as_int()
            }
            Inst::Load(mem, addr) => {
                self.addr(addr, *mem)?;
                ty == mem.lane()
            }
            Inst::Carried | Inst::Result => {
                return Err(format!("{v} is no statement of its own"));
            }
        };
        ensure(fits, || {
            format!("{v} of type {ty} does not fit its operands")
        })?;
        self.define(v)
    }

    fn addr(&self, addr: &Addr, ty: MemTy) -> Checked {
        ensure(addr.pointer.index() < self.body.pointers.len(), || {
            format!("no pointer {}", addr.pointer)
        })?;
        for (index, _) in &addr.terms {
            ensure(*index != Index::Lane, || {
                "the lane is no term of an address".to_owned()
            })?;
            self.index(*index)?;
        }
        match addr.lane {
            LaneStep::Uniform => Ok(()),
            LaneStep::Stride(_) => self.index(Index::Lane),
            LaneStep::Gather(index, _) => {
                self.used(index)?;
                ensure(self.ty(index).is_int(), || {
                    format!("a gather of {ty} by {index}, which is no integer")
                })
            }
        }
    }

    fn index(&self, index: Index) -> Checked {
        let there = match index {
            Index::Lane => self.blocks.contains(&BlockId::LANES),
            Index::Outer(k) => k < self.body.outer,
            Index::Loop(id) => self.loops.contains(&id),
        };
        ensure(there, || format!("the index {index} does not exist here"))
    }

    fn writable(&self, addr: &Addr) -> Checked {
        let access = self.body.pointers[addr.pointer.index()];
        ensure(access == Access::ReadWrite, || {
            format!("a store to {}, which is read-only", addr.pointer)
        })
    }

    fn starts(&self, carries: &[Carry]) -> Checked {
        carries.iter().try_for_each(|c| {
            self.used(c.init)?;
            self.carried(&[c.init, c.param, c.next, c.result])
        })
    }

    fn carried(&self, values: &[Value]) -> Checked {
        let ty = self.ty(values[0]);
        values.iter().try_for_each(|v| {
            ensure(self.ty(*v) == ty, || {
                format!("{v} is {}, but {ty} is carried", self.ty(*v))
            })
        })
    }

    fn mask(&self, v: Value) -> Checked {
        self.used(v)?;
        ensure(self.ty(v) == Ty::Mask, || {
            format!("the condition {v} is no mask")
        })
    }

    fn used(&self, v: Value) -> Checked {
        ensure(self.defined.get(v.index()) == Some(&true), || {
            format!("{v} is used before its definition")
        })?;
        let block = self.body.values[v.index()].block;
        ensure(self.blocks.contains(&block), || {
            format!("{v} is used outside its block")
        })
    }

    fn define(&mut self, v: Value) -> Checked {
        let before = std::mem::replace(&mut self.defined[v.index()], true);
        ensure(!before, || format!("{v} is defined twice"))?;
        let block = self.body.values[v.index()].block;
        ensure(self.blocks.last() == Some(&block), || {
            format!("{v} is not recorded in the block that defines it")
        })
    }

    fn ty(&self, v: Value) -> Ty {
        self.body.ty(v)
    }
}

fn ensure(holds: bool, message: impl FnOnce() -> String) -> Checked {
    if holds { Ok(()) } else { Err(message()) }
}
