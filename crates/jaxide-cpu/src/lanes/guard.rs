//! Lane programs that look before they access memory.
//!
//! A guarded body has a longer pointer table than its own: behind its pointers one to the *shadow* of each, then one to the
//! [bounds](BOUNDS) and one to the report. The shadow of an array has a byte for each of its bytes, which holds the array's tag once
//! the byte was written. An access outside of its array, or a load of what was not written as a part of this array, is left out and
//! reported.

use super::body::*;
use super::op::{BinOp, TerOp, UnOp};
use super::sweep::sweep;
use super::types::{MemTy, Ty};
use super::verify::{VerifyError, verify};
use rustc_hash::FxHashMap as HashMap;

/// Bytes of the bounds of a pointer: how many bytes lie before it, how many its array has, and eight bytes of its tag.
pub(crate) const BOUNDS: usize = 24;

/// An access of a guarded body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Site {
    pub(crate) pointer: Pointer,
    pub(crate) ty: MemTy,
    pub(crate) store: bool,
}

/// What a guarded body writes where its last pointer points to, when an access was left out.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    /// 0 when none was; else twice the number of its [`Site`] plus [`OUTSIDE`] or [`UNWRITTEN`].
    pub(crate) code: u32,
    /// Bytes from the pointer to what was to be accessed.
    pub(crate) offset: i64,
}

/// The access would leave its array.
pub(crate) const OUTSIDE: u32 = 1;
/// Nothing wrote what is to be read.
pub(crate) const UNWRITTEN: u32 = 2;

/// A body with guards.
pub(crate) struct Guarded {
    pub(crate) body: Body,
    pub(crate) sites: Vec<Site>,
}

/// Puts guards around all accesses of a body.
///
/// # Errors
/// If the result is not well formed, which would be a mistake here.
pub(crate) fn guard(body: &Body) -> Result<Guarded, VerifyError> {
    let pointers = crate::narrow(body.pointers.len());
    let mut guarded = body.clone();
    guarded.guarded = Some(body.accumulators());
    guarded.pointers.extend(body.pointers.iter());
    guarded
        .pointers
        .extend([Access::ReadOnly, Access::ReadWrite]);
    let mut guard = Guard {
        picked: picked(body),
        body: guarded,
        own: pointers,
        sites: Vec::new(),
        bounds: Vec::new(),
    };
    guard.prologue();
    for id in (1..body.blocks.len()).map(|id| BlockId(crate::narrow(id))) {
        guard.block(id);
    }
    guard.destinations();
    let swept = sweep(&guard.body);
    verify(&swept)?;
    Ok(Guarded {
        body: swept,
        sites: guard.sites,
    })
}

/// What an access needs to know of a pointer, computed in the prologue.
#[derive(Clone, Copy)]
struct Bounds {
    before: Value,
    length: Value,
}

struct Guard {
    body: Body,
    /// Loads that are an operand of one `select` alone, with its condition, and whether it picks them where the condition holds.
    picked: HashMap<Value, (Value, bool)>,
    /// How many pointers the body had.
    own: u32,
    sites: Vec<Site>,
    bounds: Vec<Bounds>,
}

/// Statements of a block that are being made.
struct Made {
    id: BlockId,
    stmts: Vec<Stmt>,
}

impl Guard {
    fn prologue(&mut self) {
        let mut made = self.start(BlockId::PROLOGUE);
        for pointer in 0..self.own {
            let table = Addr::uniform(self.table());
            let at = table.plus(BOUNDS as i64 * i64::from(pointer));
            let [before, length] = [0, 8].map(|word| {
                let load = Inst::Load(MemTy::I64, at.clone().plus(word).into());
                self.define(&mut made, load, Ty::I64)
            });
            self.bounds.push(Bounds { before, length });
        }
        let stmts = std::mem::take(&mut self.body.blocks[0].stmts);
        stmts
            .into_iter()
            .for_each(|stmt| self.stmt(&mut made, stmt));
        self.finish(made);
    }

    fn block(&mut self, id: BlockId) {
        let mut made = self.start(id);
        let stmts = std::mem::take(&mut self.body.blocks[id.index()].stmts);
        stmts
            .into_iter()
            .for_each(|stmt| self.stmt(&mut made, stmt));
        self.finish(made);
    }

    fn stmt(&mut self, made: &mut Made, stmt: Stmt) {
        match stmt {
            Stmt::Let(v) => match self.body.inst(v).clone() {
                Inst::Load(ty, addr) => self.load(made, v, ty, &addr),
                _ => made.stmts.push(Stmt::Let(v)),
            },
            Stmt::Store {
                ty, addr, value, ..
            } => self.store(made, ty, &addr, Some(value)),
            Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => made.stmts.push(stmt),
        }
    }

    /// `v` becomes the element, or zero where it is not to be read.
    fn load(&mut self, made: &mut Made, v: Value, ty: MemTy, addr: &Addr) {
        let code = self.site(addr.pointer, ty, false);
        let (offset, inside) = self.inside(made, ty, addr);
        let (shadow_ty, tag) = self.tag(made, ty, addr.pointer);
        let mut then = self.arm(made.id);
        let element = self.define(&mut then, Inst::Load(ty, addr.clone().into()), ty.lane());
        let shadow = Inst::Load(shadow_ty, self.shadow(addr).into());
        let shadow = self.define(&mut then, shadow, shadow_ty.lane());
        let (then, otherwise) = (self.finish(then), self.arm(made.id));
        let otherwise = self.finish(otherwise);
        let zero = self.constant(made, ty.lane(), 0);
        let found = self.value(made.id, Inst::Result, shadow_ty.lane());
        self.body.values[v.index()].inst = Inst::Result;
        let arm = |then, otherwise, result| Arm {
            then,
            otherwise,
            result,
        };
        made.stmts.push(Stmt::If(Box::new(If {
            cond: inside,
            then,
            otherwise,
            arms: vec![arm(element, zero, v), arm(shadow, tag, found)],
        })));
        let outside = self.un(made, UnOp::Not, inside);
        let mut unwritten = self.bin(made, BinOp::Ne, found, tag);
        if let Some(&(cond, holds)) = self.picked.get(&v) {
            let wanted = if holds {
                cond
            } else {
                self.un(made, UnOp::Not, cond)
            };
            unwritten = self.bin(made, BinOp::And, unwritten, wanted);
        }
        let wrong = self.bin(made, BinOp::Or, outside, unwritten);
        let codes = [UNWRITTEN, OUTSIDE].map(|kind| self.code(made, code + kind));
        let select = Inst::Ter(TerOp::Select, inside, codes[0], codes[1]);
        let code = self.define(made, select, Ty::I32);
        let then = self.report_arm(made.id, code, offset);
        let otherwise = self.arm(made.id);
        let otherwise = self.finish(otherwise);
        made.stmts.push(Stmt::If(Box::new(If {
            cond: wrong,
            then,
            otherwise,
            arms: Vec::new(),
        })));
    }

    /// Stores a value and marks it as written, or does only the latter.
    fn store(&mut self, made: &mut Made, ty: MemTy, addr: &Addr, value: Option<Value>) {
        let code = self.site(addr.pointer, ty, true);
        let (offset, inside) = self.inside(made, ty, addr);
        let (shadow_ty, tag) = self.tag(made, ty, addr.pointer);
        let mut then = self.arm(made.id);
        if let Some(value) = value {
            then.stmts.push(plain_store(ty, addr.clone(), value));
        }
        then.stmts
            .push(plain_store(shadow_ty, self.shadow(addr), tag));
        let then = self.finish(then);
        let code = self.code(made, code + OUTSIDE);
        let otherwise = self.report_arm(made.id, code, offset);
        made.stmts.push(Stmt::If(Box::new(If {
            cond: inside,
            then,
            otherwise,
            arms: Vec::new(),
        })));
    }

    /// Where reductions store is looked at, and marked as written, in the lanes: nothing can be left out there any more.
    fn destinations(&mut self) {
        let accumulators = self.body.reductions.iter().flat_map(|r| &r.accumulators);
        let stores: Vec<(MemTy, Addr)> = accumulators.map(|a| (a.ty, a.dest.clone())).collect();
        let mut made = self.start(BlockId::LANES);
        made.stmts = std::mem::take(&mut self.body.blocks[BlockId::LANES.index()].stmts);
        for (ty, addr) in stores {
            self.store(&mut made, ty, &addr, None);
        }
        self.finish(made);
    }

    /// The offset of an access from its pointer, and the mask of lanes in which it stays in its array.
    fn inside(&mut self, made: &mut Made, ty: MemTy, addr: &Addr) -> (Value, Value) {
        let mut offset = self.constant(made, Ty::I64, addr.offset as u64);
        let mut terms: Vec<(Value, i64)> = Vec::new();
        for &(index, stride) in &addr.terms {
            terms.push((self.define(made, Inst::Index(index), Ty::I64), stride));
        }
        match addr.lane {
            LaneStep::Uniform => {}
            LaneStep::Stride(stride) => {
                let lane = self.define(made, Inst::Index(Index::Lane), Ty::I64);
                terms.push((lane, stride));
            }
            LaneStep::Gather(index, scale) => {
                let wide = match self.body.ty(index) {
                    Ty::I64 => index,
                    _ => self.define(made, Inst::Un(UnOp::SExt, index), Ty::I64),
                };
                terms.push((wide, scale));
            }
        }
        for (index, stride) in terms {
            let stride = self.constant(made, Ty::I64, stride as u64);
            let part = self.bin(made, BinOp::Mul, index, stride);
            offset = self.bin(made, BinOp::Add, offset, part);
        }
        let Bounds { before, length } = self.bounds[addr.pointer.index()];
        let first = self.bin(made, BinOp::Add, offset, before);
        let size = self.constant(made, Ty::I64, ty.size() as u64);
        let last = self.bin(made, BinOp::Sub, length, size);
        let zero = self.constant(made, Ty::I64, 0);
        let behind = self.bin(made, BinOp::Le, zero, first);
        let ahead = self.bin(made, BinOp::Le, first, last);
        (offset, self.bin(made, BinOp::And, behind, ahead))
    }

    /// The type that elements of this size have in a shadow, and what they are there.
    fn tag(&mut self, made: &mut Made, ty: MemTy, pointer: Pointer) -> (MemTy, Value) {
        let ty = match ty.size() {
            1 => MemTy::U8,
            2 => MemTy::U16,
            4 => MemTy::I32,
            _ => MemTy::I64,
        };
        let at = Addr::uniform(self.table()).plus(BOUNDS as i64 * i64::from(pointer.0) + 16);
        (ty, self.define(made, Inst::Load(ty, at.into()), ty.lane()))
    }

    fn report_arm(&mut self, parent: BlockId, code: Value, offset: Value) -> BlockId {
        let mut arm = self.arm(parent);
        let at = Addr::uniform(Pointer(2 * self.own + 1));
        let place = at.clone().plus(std::mem::offset_of!(Report, offset) as i64);
        arm.stmts.push(plain_store(MemTy::I64, place, offset));
        arm.stmts.push(plain_store(MemTy::I32, at, code));
        self.finish(arm)
    }

    /// What the code of a new access adds to.
    fn site(&mut self, pointer: Pointer, ty: MemTy, store: bool) -> u32 {
        self.sites.push(Site { pointer, ty, store });
        2 * crate::narrow::<_, u32>(self.sites.len() - 1)
    }

    fn code(&mut self, made: &mut Made, code: u32) -> Value {
        self.constant(made, Ty::I32, code.into())
    }

    fn table(&self) -> Pointer {
        Pointer(2 * self.own)
    }

    fn shadow(&self, addr: &Addr) -> Addr {
        Addr {
            pointer: Pointer(addr.pointer.0 + self.own),
            ..addr.clone()
        }
    }

    fn start(&self, id: BlockId) -> Made {
        Made {
            id,
            stmts: Vec::new(),
        }
    }

    fn arm(&mut self, parent: BlockId) -> Made {
        self.body.blocks.push(Block {
            stmts: Vec::new(),
            parent: Some(parent),
        });
        self.start(BlockId(crate::narrow(self.body.blocks.len() - 1)))
    }

    fn finish(&mut self, made: Made) -> BlockId {
        self.body.blocks[made.id.index()].stmts = made.stmts;
        made.id
    }

    fn value(&mut self, block: BlockId, inst: Inst, ty: Ty) -> Value {
        self.body.values.push(ValueData { ty, inst, block });
        Value::from_index(self.body.values.len() - 1)
    }

    fn define(&mut self, made: &mut Made, inst: Inst, ty: Ty) -> Value {
        let value = self.value(made.id, inst, ty);
        made.stmts.push(Stmt::Let(value));
        value
    }

    fn constant(&mut self, made: &mut Made, ty: Ty, bits: u64) -> Value {
        self.define(made, Inst::Const(bits & ty.bit_mask()), ty)
    }

    fn un(&mut self, made: &mut Made, op: UnOp, a: Value) -> Value {
        let ty = self.body.ty(a);
        self.define(made, Inst::Un(op, a), ty)
    }

    fn bin(&mut self, made: &mut Made, op: BinOp, a: Value, b: Value) -> Value {
        let ty = op.result(self.body.ty(a));
        self.define(made, Inst::Bin(op, a, b), ty)
    }
}

/// The loads whose values a `select` in the same lanes drops under a condition that is known before them: the sums that a chunk of rows goes
/// on with, which the first chunk reads and does not take.
fn picked(body: &Body) -> HashMap<Value, (Value, bool)> {
    let mut uses = vec![0; body.values.len()];
    let mut used = |value: Value| uses[value.index()] += 1;
    let mut selects = Vec::new();
    for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
        match stmt {
            Stmt::Let(value) => {
                let inst = body.inst(*value);
                inst.operands(&mut used);
                if let Inst::Ter(TerOp::Select, cond, then, otherwise) = inst {
                    selects.push((*cond, *then, *otherwise));
                }
            }
            Stmt::Store { addr, value, .. } => {
                used(*value);
                addr.operands(&mut used);
            }
            Stmt::For(inner) => inner.carries.iter().for_each(|carry| {
                used(carry.init);
                used(carry.next);
            }),
            Stmt::While(inner) => {
                used(inner.cond);
                inner.carries.iter().for_each(|carry| {
                    used(carry.init);
                    used(carry.next);
                });
            }
            Stmt::If(inner) => {
                used(inner.cond);
                inner.arms.iter().for_each(|arm| {
                    used(arm.then);
                    used(arm.otherwise);
                });
            }
        }
    }
    for accumulator in body.reductions.iter().flat_map(|own| &own.accumulators) {
        used(accumulator.init);
        used(accumulator.next);
        used(accumulator.combined);
    }
    let mut picked = HashMap::default();
    for (cond, then, otherwise) in selects {
        if body.values[cond.index()].block != BlockId::PROLOGUE || then == otherwise {
            continue;
        }
        for (value, holds) in [(then, true), (otherwise, false)] {
            let known_before = body.values[value.index()].block != BlockId::PROLOGUE;
            if known_before
                && uses[value.index()] == 1
                && matches!(body.inst(value), Inst::Load(..))
            {
                picked.insert(value, (cond, holds));
            }
        }
    }
    picked
}

fn plain_store(ty: MemTy, addr: Addr, value: Value) -> Stmt {
    Stmt::Store {
        ty,
        addr: addr.into(),
        value,
    }
}
