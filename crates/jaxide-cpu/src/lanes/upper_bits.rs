//! Extensions of integers of 8 and 16 bits whose upper bits nobody looks at.
//!
//! Such integers stand in lanes of 32 bits, as the numbers that they are: each operation extends its result again. Sums, products and bitwise
//! operations compute their low bits from low bits alone, and stores write nothing else, so that in a chain of them all but the last extension can go,
//! and that one too.

use super::body::*;
use super::op::{BinOp, TerOp, UnOp};
use super::sweep::{map_addr, map_inst};
use super::types::MemTy;

/// Replaces values by what they extend, where the bits that this changes have no use.
pub(super) fn drop_extensions(body: &mut Body) {
    if !body.values.iter().any(|v| {
        matches!(
            v.inst,
            Inst::Bin(BinOp::ShrS | BinOp::ShrU | BinOp::And, ..)
        )
    }) {
        return;
    }
    let used = Used::of(body);
    let same: Vec<Value> = (0..body.values.len())
        .map(|k| {
            let value = Value(k as u32);
            extended(body, value, used.bits[k]).unwrap_or(value)
        })
        .collect();
    let map = |v: Value| {
        let mut v = v;
        while same[v.index()] != v {
            v = same[v.index()];
        }
        v
    };
    for data in &mut body.values {
        data.inst = map_inst(&data.inst, &map);
    }
    for stmt in body.blocks.iter_mut().flat_map(|block| &mut block.stmts) {
        match stmt {
            Stmt::Let(_) => {}
            Stmt::Store { addr, value, .. } => {
                *value = map(*value);
                **addr = map_addr(addr, &map);
            }
            Stmt::For(f) => replace_in(&mut f.carries, &map),
            Stmt::While(w) => {
                w.cond = map(w.cond);
                replace_in(&mut w.carries, &map);
            }
            Stmt::If(branch) => {
                for arm in &mut branch.arms {
                    arm.then = map(arm.then);
                    arm.otherwise = map(arm.otherwise);
                }
            }
        }
    }
}

fn replace_in(carries: &mut [Carry], map: &impl Fn(Value) -> Value) {
    for carry in carries {
        carry.init = map(carry.init);
        carry.next = map(carry.next);
    }
}

/// What has the same low bits, if it is an extension of them and no others are used.
fn extended(body: &Body, v: Value, used: u32) -> Option<Value> {
    let Inst::Bin(op, a, b) = body.inst(v) else {
        return None;
    };
    let by = constant(body, *b)?;
    match op {
        BinOp::ShrS | BinOp::ShrU => match body.inst(*a) {
            Inst::Bin(BinOp::Shl, inner, count) if constant(body, *count) == Some(by) => {
                let width = body.ty(v).bits();
                (u64::from(used) + by <= u64::from(width)).then_some(*inner)
            }
            _ => None,
        },
        BinOp::And => (by.trailing_ones() >= used).then_some(*a),
        _ => None,
    }
}

fn constant(body: &Body, v: Value) -> Option<u64> {
    match body.inst(v) {
        Inst::Const(bits) => Some(*bits),
        _ => None,
    }
}

/// How many low bits of each value have a use.
struct Used {
    bits: Vec<u32>,
    changed: bool,
}

impl Used {
    fn of(body: &Body) -> Used {
        let mut used = Used {
            bits: vec![0; body.values.len()],
            changed: true,
        };
        for reduction in &body.reductions {
            for a in &reduction.accumulators {
                for v in [a.init, a.param, a.next, a.pair.0, a.pair.1, a.combined] {
                    used.all(body, v);
                }
            }
        }
        // Loops carry uses back.
        while std::mem::take(&mut used.changed) {
            for stmt in body.blocks.iter().flat_map(|block| &block.stmts) {
                used.stmt(body, stmt);
            }
            for k in (0..body.values.len()).rev() {
                used.operands(body, Value(k as u32));
            }
        }
        used
    }

    fn some(&mut self, v: Value, bits: u32) {
        let own = &mut self.bits[v.index()];
        if *own < bits {
            *own = bits;
            self.changed = true;
        }
    }

    fn all(&mut self, body: &Body, v: Value) {
        self.some(v, body.ty(v).bits().max(1));
    }

    fn stmt(&mut self, body: &Body, stmt: &Stmt) {
        match stmt {
            Stmt::Let(_) => {}
            Stmt::Store { ty, addr, value } => {
                match ty {
                    MemTy::I8 | MemTy::U8 => self.some(*value, 8),
                    MemTy::I16 | MemTy::U16 => self.some(*value, 16),
                    _ => self.all(body, *value),
                }
                addr.operands(|v| self.all(body, v));
            }
            Stmt::For(f) => self.carries(&f.carries),
            Stmt::While(w) => {
                self.all(body, w.cond);
                self.carries(&w.carries);
            }
            Stmt::If(branch) => {
                self.all(body, branch.cond);
                for arm in &branch.arms {
                    let bits = self.bits[arm.result.index()];
                    self.some(arm.then, bits);
                    self.some(arm.otherwise, bits);
                }
            }
        }
    }

    fn carries(&mut self, carries: &[Carry]) {
        for carry in carries {
            let bits = self.bits[carry.result.index()].max(self.bits[carry.param.index()]);
            for v in [carry.init, carry.next, carry.param] {
                self.some(v, bits);
            }
        }
    }

    /// What a value uses of its operands.
    fn operands(&mut self, body: &Body, v: Value) {
        let bits = self.bits[v.index()];
        if bits == 0 {
            return;
        }
        let width = body.ty(v).bits();
        let is_int = body.ty(v).is_int();
        match body.inst(v) {
            Inst::Un(UnOp::Neg | UnOp::Not, a) if is_int => self.some(*a, bits),
            Inst::Un(UnOp::Low, a) => self.some(*a, bits),
            Inst::Un(UnOp::SExt | UnOp::ZExt, a) => self.some(*a, bits.min(32)),
            Inst::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul | BinOp::Or | BinOp::Xor, a, b)
                if is_int =>
            {
                self.some(*a, bits);
                self.some(*b, bits);
            }
            Inst::Bin(BinOp::And, a, b) if is_int => {
                // What a constant has no ones for is not used of the other.
                let of = |other: Value| match constant(body, other) {
                    Some(ones) => bits.min(u64::BITS - ones.leading_zeros()),
                    None => bits,
                };
                let (of_a, of_b) = (of(*b), of(*a));
                self.some(*a, of_a);
                self.some(*b, of_b);
            }
            Inst::Bin(op @ (BinOp::Shl | BinOp::ShrS | BinOp::ShrU), a, count) => {
                self.all(body, *count);
                match constant(body, *count) {
                    Some(by) if by < u64::from(width) => {
                        let by = by as u32;
                        let of_a = match op {
                            BinOp::Shl => bits.saturating_sub(by),
                            _ => (bits + by).min(width),
                        };
                        self.some(*a, of_a);
                    }
                    _ => self.all(body, *a),
                }
            }
            Inst::Ter(TerOp::Select, mask, a, b) if is_int => {
                self.all(body, *mask);
                self.some(*a, bits);
                self.some(*b, bits);
            }
            inst => inst.operands(|operand| self.all(body, operand)),
        }
    }
}
