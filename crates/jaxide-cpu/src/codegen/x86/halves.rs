//! Numbers of binary16 that are computed with as such, where the machine can (AVX512-FP16).
//!
//! Elsewhere they are singles, rounded after each operation by two conversions. The numbers are the same: a single has more than twice the digits of a
//! binary16 and two, so that a sum, product, quotient or root that is rounded twice is what it is when rounded once (Figueroa, *When is double
//! rounding innocuous?*, 1995).
//!
//! A value is *held* as binary16, in half a register, if it is one or is only used as one, and nothing that uses it wants a single. What it is made of
//! is converted where it is held as singles.

use super::bfloat16::{has_elements, largest};
use super::lir::{Class, Mem, Op, Operand, Reg, Width};
use super::table::{
    Row, VADDPH, VCVTPH2PS, VCVTPS2PH, VDIVPH, VMOVDQU16, VMOVDQU16_STORE, VMULPH, VPANDD,
    VPBLENDMW, VPBROADCASTW, VPXORD, VSQRTPH, VSUBPH,
};
use super::{Asm, Emitter, Target};
use crate::lanes::{Addr, BinOp, Body, Inst, LaneStep, MemTy, Stmt, TerOp, Ty, UnOp, Value};
use half::f16;

/// The values of a body that are held as binary16, where the machine computes with such. `single` says that there is one lane.
pub(super) fn held(body: &Body, single: bool) -> Vec<bool> {
    if !has_elements(body, MemTy::F16, UnOp::RoundF16) {
        // Nobody asks.
        return vec![false; body.values().len()];
    }
    let exact = largest(body, is_exact);
    let mut held: Vec<bool> = (0..body.values().len())
        .map(|k| can_be_held(body, Value::from_index(k), &exact))
        .collect();
    for a in body.reductions().iter().flat_map(|r| &r.accumulators) {
        for v in [a.param, a.pair.0, a.pair.1, a.init, a.next, a.combined] {
            held[v.index()] = false;
        }
    }
    // Those that contradict nothing.
    loop {
        let before = held.clone();
        for stmt in body.blocks().iter().flat_map(|block| &block.stmts) {
            give_up(body, stmt, single, &exact, &mut held);
        }
        if held == before {
            return held;
        }
    }
}

/// Gives up the values that a statement wants as singles.
fn give_up(body: &Body, stmt: &Stmt, single: bool, exact: &[bool], held: &mut [bool]) {
    let carries = match stmt {
        Stmt::Let(v) => {
            let as_halves = held[v.index()]
                && matches!(body.inst(*v), Inst::Un(..) | Inst::Bin(..) | Inst::Ter(..));
            let rounds = matches!(body.inst(*v), Inst::Un(UnOp::RoundF16, _));
            if !as_halves && !rounds {
                body.inst(*v).operands(|a| held[a.index()] = false);
            }
            return;
        }
        Stmt::Store { ty, addr, value } => {
            // One lane's element stands anywhere, as if others followed.
            let beside = is_contiguous(addr) || single && addr.lane == LaneStep::Uniform;
            if !(*ty == MemTy::F16 && beside) {
                held[value.index()] = false;
            }
            return;
        }
        Stmt::If(branch) => {
            for arm in &branch.arms {
                for v in [arm.then, arm.otherwise] {
                    held[v.index()] &= held[arm.result.index()];
                }
            }
            return;
        }
        Stmt::For(f) => &f.carries,
        Stmt::While(w) => &w.carries,
    };
    for c in carries {
        let both = held[c.param.index()] && held[c.result.index()];
        (held[c.param.index()], held[c.result.index()]) = (both, both);
        for v in [c.init, c.next] {
            held[v.index()] &= both && exact[v.index()];
        }
    }
}

/// Whether nothing about a value itself speaks against it.
fn can_be_held(body: &Body, v: Value, exact: &[bool]) -> bool {
    let is = |v: &Value| exact[v.index()];
    body.ty(v) == Ty::F32
        && match body.inst(v) {
            Inst::Un(UnOp::RoundF16, _) => true,
            Inst::Load(MemTy::F16, addr) => is_contiguous(addr) || addr.lane == LaneStep::Uniform,
            Inst::Un(UnOp::Neg | UnOp::Abs | UnOp::Sqrt, a) => is(a),
            Inst::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Div, a, b) => is(a) && is(b),
            Inst::Ter(TerOp::Select, _, a, b) => is(a) && is(b),
            Inst::Carried | Inst::Result => is(&v),
            _ => false,
        }
}

fn is_contiguous(addr: &Addr) -> bool {
    addr.lane == LaneStep::Stride(MemTy::F16.size())
}

/// The rule of numbers that a binary16 can be.
fn is_exact(body: &Body, v: Value, all: &[bool]) -> bool {
    let is = |v: &Value| all[v.index()];
    match body.inst(v) {
        Inst::Const(bits) => constant(*bits).is_some(),
        Inst::Un(UnOp::RoundF16, _) | Inst::Load(MemTy::F16, _) => true,
        Inst::Un(UnOp::Neg | UnOp::Abs, a) => is(a),
        Inst::Bin(BinOp::PickLt | BinOp::PickGt | BinOp::Min | BinOp::Max, a, b) => is(a) && is(b),
        Inst::Ter(TerOp::Select, _, a, b) => is(a) && is(b),
        Inst::Carried | Inst::Result => true,
        _ => false,
    }
}

/// The bits of a single as those of a binary16 that is the same number.
fn constant(bits: u64) -> Option<u16> {
    let single = f32::from_bits(u32::try_from(bits).ok()?);
    let half = f16::from_f32(single);
    (half.to_f32().to_bits() == single.to_bits()).then_some(half.to_bits())
}

/// Instructions on binary16, of which a register of this length has one for each lane.
#[derive(Clone, Copy)]
pub(super) struct Halves(pub(super) Width);

impl Halves {
    fn reg(self, asm: &mut Asm) -> Reg {
        asm.reg(Class::Vector(self.0))
    }

    fn emit(self, asm: &mut Asm, row: &Row, dst: Reg, operands: &[Operand]) {
        asm.op(Op::new(row.form(true, self.0), Some(dst), operands));
    }

    /// These bits in every lane.
    fn splat(self, asm: &mut Asm, bits: u16) -> Reg {
        let count = self.0.bytes() as usize / 2;
        asm.vector(self.0, &bits.to_le_bytes().repeat(count))
    }

    fn bin(self, asm: &mut Asm, op: BinOp, dst: Reg, a: Reg, b: Reg) {
        let row = match op {
            BinOp::Add => &VADDPH,
            BinOp::Sub => &VSUBPH,
            BinOp::Mul => &VMULPH,
            _ => &VDIVPH,
        };
        self.emit(asm, row, dst, &[Operand::Reg(a), Operand::Reg(b)]);
    }

    fn un(self, asm: &mut Asm, op: UnOp, dst: Reg, a: Reg) {
        const SIGN: u16 = 0x8000;
        let (row, bits) = match op {
            UnOp::Neg => (&VPXORD, SIGN),
            UnOp::Abs => (&VPANDD, !SIGN),
            _ => return self.emit(asm, &VSQRTPH, dst, &[Operand::Reg(a)]),
        };
        let bits = self.splat(asm, bits);
        self.emit(asm, row, dst, &[Operand::Reg(a), Operand::Reg(bits)]);
    }

    fn select(self, asm: &mut Asm, dst: Reg, mask: Reg, a: Reg, b: Reg) {
        let operands = [Operand::Reg(b), Operand::Reg(a)];
        asm.op(Op {
            mask: Some((mask, false)),
            ..Op::new(VPBLENDMW.form(true, self.0), Some(dst), &operands)
        });
    }

    /// Where the mask holds, `dst` becomes `a`.
    fn merge(self, asm: &mut Asm, dst: Reg, mask: Reg, a: Reg) {
        asm.op(Op {
            mask: Some((mask, false)),
            tied: true,
            ..Op::new(VMOVDQU16.form(true, self.0), Some(dst), &[Operand::Reg(a)])
        });
    }

    fn load(self, asm: &mut Asm, dst: Reg, from: Mem, exec: Option<Reg>) {
        asm.op(Op {
            mask: exec.map(|mask| (mask, true)),
            ..Op::new(
                VMOVDQU16.form(true, self.0),
                Some(dst),
                &[Operand::Mem(from)],
            )
        });
    }

    fn broadcast(self, asm: &mut Asm, dst: Reg, from: Mem) {
        self.emit(asm, &VPBROADCASTW, dst, &[Operand::Mem(from)]);
    }

    fn store(self, asm: &mut Asm, to: Mem, v: Reg, exec: Option<Reg>) {
        let operands = [Operand::Mem(to), Operand::Reg(v)];
        asm.op(Op {
            mask: exec.map(|mask| (mask, false)),
            rm: None,
            ..Op::new(VMOVDQU16_STORE.form(true, self.0), None, &operands)
        });
    }

    /// The length of a register of as many singles.
    fn singles(self) -> Width {
        if self.0 == Width::V256 {
            Width::V512
        } else {
            Width::V256
        }
    }

    fn round_singles(self, asm: &mut Asm, dst: Reg, a: Reg) {
        let operands = [Operand::Reg(a), Operand::Imm(0)];
        asm.op(Op {
            rm: None,
            ..Op::new(VCVTPS2PH.form(true, self.singles()), Some(dst), &operands)
        });
    }

    fn widen(self, asm: &mut Asm, dst: Reg, a: Reg) {
        let code = VCVTPH2PS.form(true, self.singles());
        asm.op(Op::new(code, Some(dst), &[Operand::Reg(a)]));
    }
}

impl<T: Target> Emitter<'_, T> {
    /// The instructions for a value that is held as binary16; none for others.
    pub(super) fn halves_of(&self, v: Value) -> Option<Halves> {
        self.halves.filter(|_| self.plan.held[v.index()])
    }

    /// A new register for a value.
    pub(super) fn reg_of(&mut self, v: Value) -> Reg {
        match self.halves_of(v) {
            Some(halves) => halves.reg(&mut self.asm),
            None => self.new_reg(self.body.ty(v)),
        }
    }

    /// A register of a value as another one is held.
    pub(super) fn get_like(&mut self, v: Value, like: Value, copy: usize) -> Reg {
        match self.halves_of(like) {
            Some(halves) => self.get_half(halves, v, copy),
            None => self.get(v, copy),
        }
    }

    /// Where the mask holds, the register `dst` of a value becomes `a`.
    pub(super) fn merge_value(&mut self, v: Value, dst: Reg, mask: Reg, a: Reg) {
        match self.halves_of(v) {
            Some(halves) => halves.merge(&mut self.asm, dst, mask, a),
            None => {
                let ty = self.body.ty(v);
                self.target.merge(&mut self.asm, ty, dst, mask, a);
            }
        }
    }

    /// A register of a value as binary16.
    fn get_half(&mut self, halves: Halves, v: Value, copy: usize) -> Reg {
        if self.plan.held[v.index()] {
            return self.get(v, copy);
        }
        if let Inst::Const(bits) = self.body.inst(v)
            && let Some(bits) = constant(*bits)
        {
            return halves.splat(&mut self.asm, bits);
        }
        let singles = self.get(v, copy);
        let converted = halves.reg(&mut self.asm);
        halves.round_singles(&mut self.asm, converted, singles);
        converted
    }

    /// Emits an operation of one operand that gives or takes binary16; says whether it is one.
    pub(super) fn un_of_halves(&mut self, v: Value, op: UnOp, a: Value) -> bool {
        match (self.halves_of(v), op) {
            // The operand is what it would be rounded to, or is rounded on the way.
            (Some(halves), UnOp::RoundF16) => self.each_copy(v, |s, copy, dst| {
                let a = s.get_half(halves, a, copy);
                s.asm.put(dst, a);
            }),
            (Some(halves), _) => self.each_copy(v, |s, copy, dst| {
                let a = s.get_half(halves, a, copy);
                halves.un(&mut s.asm, op, dst, a);
            }),
            (None, UnOp::RoundF16) => {
                let Some(halves) = self.halves_of(a) else {
                    return false;
                };
                self.each_copy(v, |s, copy, dst| {
                    let a = s.get(a, copy);
                    halves.widen(&mut s.asm, dst, a);
                });
            }
            (None, _) => return false,
        }
        true
    }

    /// The same for two operands.
    pub(super) fn bin_of_halves(&mut self, v: Value, op: BinOp, a: Value, b: Value) -> bool {
        let Some(halves) = self.halves_of(v) else {
            return false;
        };
        self.each_copy(v, |s, copy, dst| {
            let [a, b] = [a, b].map(|x| s.get_half(halves, x, copy));
            halves.bin(&mut s.asm, op, dst, a, b);
        });
        true
    }

    /// The same for a choice.
    pub(super) fn select_of_halves(&mut self, v: Value, mask: Value, a: Value, b: Value) -> bool {
        let Some(halves) = self.halves_of(v) else {
            return false;
        };
        self.each_copy(v, |s, copy, dst| {
            let [a, b] = [a, b].map(|x| s.get_half(halves, x, copy));
            let mask = s.get(mask, copy);
            halves.select(&mut s.asm, dst, mask, a, b);
        });
        true
    }

    /// Loads a value that is held as binary16.
    pub(super) fn load_halves(&mut self, halves: Halves, addr: &Addr, dst: Reg, copy: usize) {
        let (at, exec) = (self.mem(addr, copy), self.exec[copy]);
        if addr.lane == LaneStep::Uniform {
            halves.broadcast(&mut self.asm, dst, at);
        } else {
            halves.load(&mut self.asm, dst, at, exec);
        }
    }

    /// Stores a value that is held as binary16, the elements of neighbouring lanes beside each other.
    pub(super) fn store_halves(&mut self, halves: Halves, addr: &Addr, value: Value) {
        for copy in self.copies.clone() {
            let (v, at, exec) = (self.get(value, copy), self.mem(addr, copy), self.exec[copy]);
            halves.store(&mut self.asm, at, v, exec);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, BlockId, Builder, Trip};

    /// Which of the values that `make` gives, of a binary16 and a single, are held as binary16; they are stored as such.
    fn are_held(make: impl FnOnce(&mut Builder, Value, Value) -> Vec<Value>) -> Vec<bool> {
        let mut b = Builder::new("held");
        let [x, y] = [Access::ReadOnly; 2].map(|access| b.pointer(access));
        let x = b.load(MemTy::F16, Addr::contiguous(x, MemTy::F16));
        let y = b.load(MemTy::F32, Addr::contiguous(y, MemTy::F32));
        for v in make(&mut b, x, y) {
            let out = b.pointer(Access::ReadWrite);
            b.store(MemTy::F16, Addr::contiguous(out, MemTy::F16), v);
        }
        let body = b.finish().unwrap();
        let held = held(&body, false);
        let stmts = &body.blocks()[BlockId::LANES.index()].stmts;
        (stmts.iter())
            .filter_map(|stmt| match stmt {
                Stmt::Store { value, .. } => Some(held[value.index()]),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn what_is_rounded_at_once_is_held() {
        assert_eq!(are_held(|_, x, _| vec![x]), [true]);
        assert_eq!(are_held(|b, x, _| vec![x, b.mul(x, x)]), [true; 2]);
        // A single, and what wants one.
        assert_eq!(are_held(|b, x, y| vec![x, b.mul(x, y)]), [false; 2]);
        let chosen = are_held(|b, x, _| {
            let zero = b.constant(Ty::F32, 0);
            let positive = b.bin(BinOp::Lt, zero, x);
            vec![b.select(positive, x, zero)]
        });
        assert_eq!(chosen, [true]);
    }

    #[test]
    fn loops_carry_what_is_rounded_in_them() {
        let carried = |rounds: bool| {
            are_held(|b, x, _| {
                b.for_loop(Trip::Const(3), &[x], |b, _, c| {
                    let square = b.mul(c[0], c[0]);
                    vec![if rounds {
                        b.un(UnOp::RoundF16, Ty::F32, square)
                    } else {
                        square
                    }]
                })
            })
        };
        assert_eq!(carried(true), [true]);
        assert_eq!(carried(false), [false]);
    }
}
