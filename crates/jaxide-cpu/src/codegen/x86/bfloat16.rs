//! What is known of values that are rounded to bfloat16 or stored as such.

use crate::lanes::{BinOp, Body, Inst, MemTy, Stmt, TerOp, Ty, UnOp, Value};

/// What is known of each value of a body, in every lane.
pub(super) struct Bfloats {
    /// It is a bfloat16: a single whose lower half is zero.
    exact: Vec<bool>,
    /// If it is no number its lower half is zero.
    short_nan: Vec<bool>,
}

impl Bfloats {
    /// Those of a body; `joined` is whether extrema join the bits of their operands where one is no number.
    pub(super) fn of(body: &Body, joined: bool) -> Bfloats {
        if !has_elements(body, MemTy::Bf16, UnOp::RoundBf16) {
            // Nobody asks.
            let none = vec![false; body.values().len()];
            return Bfloats {
                exact: none.clone(),
                short_nan: none,
            };
        }
        let exact = largest(body, is_exact);
        let short_nan = largest(body, |body, v, all| {
            let extremum = matches!(body.inst(v), Inst::Bin(BinOp::Min | BinOp::Max, ..));
            if joined && extremum {
                exact[v.index()]
            } else {
                has_short_nan(body, v, all)
            }
        });
        Bfloats { exact, short_nan }
    }

    pub(super) fn is_exact(&self, v: Value) -> bool {
        self.exact[v.index()]
    }

    pub(super) fn has_short_nan(&self, v: Value) -> bool {
        self.short_nan[v.index()]
    }
}

/// Whether a body has elements of a type at all, `round` being what makes such numbers.
pub(super) fn has_elements(body: &Body, element: MemTy, round: UnOp) -> bool {
    let mut values = body.values().iter();
    let mut stmts = body.blocks().iter().flat_map(|block| &block.stmts);
    values.any(|value| match &value.inst {
        Inst::Un(op, _) => *op == round,
        Inst::Load(ty, _) => *ty == element,
        _ => false,
    }) || stmts.any(|stmt| matches!(stmt, Stmt::Store { ty, .. } if *ty == element))
}

/// The values of which something holds, where `rule` says it of a value from what holds of its operands: the most that do not contradict it, since
/// loops carry values back.
pub(super) fn largest(body: &Body, rule: impl Fn(&Body, Value, &[bool]) -> bool) -> Vec<bool> {
    let mut all: Vec<bool> = (0..body.values().len())
        .map(|k| body.ty(Value::from_index(k)) == Ty::F32)
        .collect();
    for reduction in body.reductions() {
        for a in &reduction.accumulators {
            for v in [a.param, a.pair.0, a.pair.1] {
                all[v.index()] = false;
            }
        }
    }
    loop {
        let mut changed = false;
        let mut keep = |all: &mut [bool], v: Value, holds: bool| {
            changed |= all[v.index()] && !holds;
            all[v.index()] &= holds;
        };
        for k in 0..all.len() {
            let v = Value::from_index(k);
            let holds = all[k] && rule(body, v, &all);
            keep(&mut all, v, holds);
        }
        for stmt in body.blocks().iter().flat_map(|block| &block.stmts) {
            let carries = match stmt {
                Stmt::Let(_) | Stmt::Store { .. } => continue,
                Stmt::For(f) => &f.carries,
                Stmt::While(w) => &w.carries,
                Stmt::If(branch) => {
                    for arm in &branch.arms {
                        let holds = all[arm.then.index()] && all[arm.otherwise.index()];
                        keep(&mut all, arm.result, holds);
                    }
                    continue;
                }
            };
            for c in carries {
                let holds = all[c.init.index()] && all[c.next.index()];
                keep(&mut all, c.param, holds);
                keep(&mut all, c.result, holds);
            }
        }
        if !changed {
            return all;
        }
    }
}

/// The rule of bfloat16 numbers.
fn is_exact(body: &Body, v: Value, all: &[bool]) -> bool {
    let is = |v: &Value| all[v.index()];
    match body.inst(v) {
        Inst::Const(bits) => bits & 0xffff == 0,
        Inst::Un(UnOp::RoundBf16, _) | Inst::Load(MemTy::Bf16, _) => true,
        Inst::Un(UnOp::Neg | UnOp::Abs, a) => is(a),
        Inst::Bin(BinOp::PickLt | BinOp::PickGt | BinOp::Min | BinOp::Max, a, b) => is(a) && is(b),
        Inst::Ter(TerOp::Select, _, a, b) => is(a) && is(b),
        Inst::Carried | Inst::Result => true,
        _ => false,
    }
}

/// The bits of infinity; those of what is no number are more.
const INFINITY: u64 = 0x7f80_0000;

/// The rule of values that are no number: arithmetic gives one of its operands, made quiet, or one of its own, which has no lower half.
fn has_short_nan(body: &Body, v: Value, all: &[bool]) -> bool {
    use BinOp::{Add, Div, Max, Min, Mul, PickGt, PickLt, Sub};
    use UnOp::{Abs, Ceil, Floor, Neg, RoundBf16, RoundEven, SToF, Sqrt, Trunc, UToF};
    let has = |v: &Value| all[v.index()];
    match body.inst(v) {
        Inst::Const(bits) => bits & 0xffff == 0 || bits & 0x7fff_ffff <= INFINITY,
        Inst::Un(RoundBf16 | SToF | UToF, _) | Inst::Load(MemTy::Bf16, _) => true,
        Inst::Un(Neg | Abs | Sqrt | Floor | Ceil | RoundEven | Trunc, a) => has(a),
        Inst::Bin(Add | Sub | Mul | Div | Min | Max | PickLt | PickGt, a, b) => has(a) && has(b),
        Inst::Ter(TerOp::Fma, a, b, c) => has(a) && has(b) && has(c),
        Inst::Ter(TerOp::Select, _, a, b) => has(a) && has(b),
        Inst::Carried | Inst::Result => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, Addr, Builder, Trip};

    /// What is known of a value that is made of a bfloat16 and a single.
    fn known(make: impl FnOnce(&mut Builder, Value, Value) -> Value) -> (bool, bool) {
        let mut b = Builder::new("known");
        let [x, y, out] = [Access::ReadOnly, Access::ReadOnly, Access::ReadWrite];
        let [x, y, out] = [x, y, out].map(|access| b.pointer(access));
        let x = b.load(MemTy::Bf16, Addr::contiguous(x, MemTy::Bf16));
        let y = b.load(MemTy::F32, Addr::contiguous(y, MemTy::F32));
        let v = make(&mut b, x, y);
        b.store(MemTy::F32, Addr::contiguous(out, MemTy::F32), v);
        let body = b.finish().unwrap();
        let stmts = &body.blocks()[crate::lanes::BlockId::LANES.index()].stmts;
        let stored = stmts.iter().find_map(|stmt| match stmt {
            Stmt::Store { value, .. } => Some(*value),
            _ => None,
        });
        let bfloats = Bfloats::of(&body, false);
        let v = stored.expect("it is stored");
        (bfloats.is_exact(v), bfloats.has_short_nan(v))
    }

    #[test]
    fn arithmetic_of_bfloats_leaves_them_and_makes_no_long_nan() {
        let round = |b: &mut Builder, v| b.un(UnOp::RoundBf16, Ty::F32, v);
        assert_eq!(known(|_, x, _| x), (true, true));
        assert_eq!(known(|_, _, y| y), (false, false));
        assert_eq!(known(|b, x, _| b.neg(x)), (true, true));
        assert_eq!(known(|b, x, _| b.mul(x, x)), (false, true));
        assert_eq!(known(|b, x, y| b.mul(x, y)), (false, false));
        let rounded = known(|b, _, y| round(b, y));
        assert_eq!(rounded, (true, true));
    }

    #[test]
    fn loops_carry_back_what_is_no_bfloat() {
        let repeated = |rounds: bool| {
            known(|b, x, _| {
                b.for_loop(Trip::Const(3), &[x], |b, _, c| {
                    let square = b.mul(c[0], c[0]);
                    vec![if rounds {
                        b.un(UnOp::RoundBf16, Ty::F32, square)
                    } else {
                        square
                    }]
                })[0]
            })
        };
        assert_eq!(repeated(true), (true, true));
        assert_eq!(repeated(false), (false, true));
        let replaced = known(|b, x, y| b.for_loop(Trip::Const(3), &[x], |_, _, _| vec![y])[0]);
        assert_eq!(replaced, (false, false));
    }
}
