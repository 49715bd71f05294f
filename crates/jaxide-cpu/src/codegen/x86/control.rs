//! Loops and branches.

use super::*;
use crate::codegen::emit::Control;
use crate::lanes::{BinOp, For, If, Trip, UnOp, While};

impl<T: Target> Control for Emitter<'_, T> {
    fn for_loop(&mut self, f: &For) {
        let counter = self.asm.var();
        self.counters[f.id.index()] = counter;
        self.enter_carries(f.carries.iter().map(|c| (c.param, c.init)));
        let (head, exit) = (self.asm.label(), self.asm.label());
        let trip = match f.trip {
            Trip::Const(n) => Int::Imm(n as i64),
            Trip::Outer(k) => {
                let var = self.asm.var();
                self.outer_to_rax(k);
                self.asm
                    .int(Code::Mov_rm64_r64, &[Int::Var(var), Int::Gpr(RAX)]);
                Int::Var(var)
            }
        };
        let compare = |s: &mut Self| match trip {
            Int::Imm(n) if i32::try_from(n).is_ok() => s
                .asm
                .int(Code::Cmp_rm64_imm32, &[Int::Var(counter), Int::Imm(n)]),
            Int::Imm(n) => {
                s.asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(n)]);
                s.asm
                    .int(Code::Cmp_rm64_r64, &[Int::Var(counter), Int::Gpr(RAX)]);
            }
            trip => {
                s.asm.int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), trip]);
                s.asm
                    .int(Code::Cmp_rm64_r64, &[Int::Var(counter), Int::Gpr(RAX)]);
            }
        };
        self.asm
            .int(Code::Mov_rm64_imm32, &[Int::Var(counter), Int::Imm(0)]);
        if !matches!(f.trip, Trip::Const(1..)) {
            compare(self);
            self.asm.push(Lir::Branch(Cond::GreaterEqual, exit));
        }
        let into = std::mem::take(&mut self.into);
        self.into = self.plan.in_place(self.body, f);
        let cursors = self.enter_cursors(f);
        self.open.push(f.id);
        self.in_loop(|s| {
            s.asm.push(Lir::Label(head));
            if s.body.is_long(f) {
                s.leave_if_stopped(exit);
            }
            s.block(f.body);
            s.leave_carries(f.carries.iter().map(|c| (c.param, c.next)));
            s.advance_cursors(&cursors);
            s.asm
                .int(Code::Add_rm64_imm32, &[Int::Var(counter), Int::Imm(1)]);
            compare(s);
            s.asm.push(Lir::Branch(Cond::Less, head));
        });
        self.into = into;
        self.open.pop();
        self.leave_cursors(&cursors);
        self.asm.push(Lir::Label(exit));
        for c in &f.carries {
            for copy in self.copies.clone() {
                let r = self.get(c.param, copy);
                self.set(c.result, copy, r);
            }
        }
    }

    fn while_loop(&mut self, w: &While) {
        self.enter_carries(w.carries.iter().map(|c| (c.param, c.init)));
        let outside = self.exec;
        let into = std::mem::take(&mut self.into);
        let together = self.plan.is_same(w.cond);
        if !together {
            for copy in self.copies.clone() {
                let active = self.new_reg(Ty::Mask);
                match self.exec[copy] {
                    Some(src) => self.asm.put(active, src),
                    None => self.target.mask_constant(&mut self.asm, active, true),
                }
                self.exec[copy] = Some(active);
            }
        }
        let (head, exit) = (self.asm.label(), self.asm.label());
        self.in_loop(|s| {
            s.asm.push(Lir::Label(head));
            s.block(w.head);
            let mut active = Vec::new();
            for copy in s.copies.clone() {
                let cond = s.get(w.cond, copy);
                match s.exec[copy] {
                    Some(exec) if !together => {
                        s.target
                            .bin(&mut s.asm, BinOp::And, Ty::Mask, exec, exec, cond);
                        active.push(exec);
                    }
                    // One lane knows it for all.
                    _ if active.is_empty() => active.push(cond),
                    _ => {}
                }
            }
            s.target.test_any(&mut s.asm, &active);
            s.asm.push(Lir::Branch(Cond::Equal, exit));
            s.leave_if_stopped(exit);
            s.block(w.body);
            if together {
                s.leave_carries(w.carries.iter().map(|c| (c.param, c.next)));
            } else {
                s.merge_carries(w);
            }
            s.asm.push(Lir::Jump(head));
        });
        self.asm.push(Lir::Label(exit));
        self.exec = outside;
        self.into = into;
        for c in &w.carries {
            for copy in self.copies.clone() {
                let r = self.get(c.param, copy);
                self.set(c.result, copy, r);
            }
        }
    }

    fn branch(&mut self, i: &If) {
        let (then, otherwise) = (
            self.plan.cheap(self.body, i, i.then),
            self.plan.cheap(self.body, i, i.otherwise),
        );
        // The result starts as the other arm's value, which may be unspecified where no lane takes that arm.
        self.arm(i, i.otherwise, true, otherwise);
        let results: Vec<Vec<Reg>> = i
            .arms
            .iter()
            .map(|a| {
                self.copies
                    .clone()
                    .into_iter()
                    .map(|copy| {
                        let dst = self.reg_of(a.result);
                        let src = if otherwise {
                            self.get_like(a.otherwise, a.result, copy)
                        } else {
                            self.get(a.result, copy)
                        };
                        self.asm.put(dst, src);
                        dst
                    })
                    .collect()
            })
            .collect();
        for (a, results) in i.arms.iter().zip(&results) {
            for (k, copy) in self.copies.clone().into_iter().enumerate() {
                self.set(a.result, copy, results[k]);
            }
        }
        self.arm(i, i.then, false, then);
    }
}

impl<T: Target> Emitter<'_, T> {
    /// Copies the initial values to registers that a loop changes.
    fn enter_carries(&mut self, carries: impl Iterator<Item = (Value, Value)>) {
        for (param, init) in carries {
            for copy in self.copies.clone() {
                let src = self.get_like(init, param, copy);
                let dst = self.reg_of(param);
                self.asm.put(dst, src);
                self.set(param, copy, dst);
            }
        }
    }

    pub(super) fn leave_carries(&mut self, carries: impl Iterator<Item = (Value, Value)>) {
        let mut pairs = Vec::new();
        for (param, next) in carries {
            for copy in self.copies.clone() {
                let next = self.get_like(next, param, copy);
                pairs.push((self.get(param, copy), next));
            }
        }
        pairs.retain(|(d, s)| d != s);
        if !pairs.is_empty() {
            self.asm.push(Lir::ParallelMove(pairs));
        }
    }

    /// Takes over the next values in lanes that are still active.
    fn merge_carries(&mut self, w: &While) {
        for copy in self.copies.clone() {
            // A next value that is another carried one must be read before that changes.
            let nexts: Vec<Reg> = w
                .carries
                .iter()
                .map(|c| {
                    let next = self.get_like(c.next, c.param, copy);
                    if c.next == c.param || w.carries.iter().all(|other| other.param != c.next) {
                        return next;
                    }
                    let moved = self.reg_of(c.param);
                    self.asm.put(moved, next);
                    moved
                })
                .collect();
            for (c, next) in w.carries.iter().zip(nexts) {
                let param = self.get(c.param, copy);
                if next != param {
                    let mask = self.exec[copy].expect("set above");
                    self.merge_value(c.param, param, mask, next);
                }
            }
        }
    }

    /// Goes to `exit` where the run is to end.
    pub(super) fn leave_if_stopped(&mut self, exit: Label) {
        let stop = Mem::frame(self.tables + 8);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Mem(stop)]);
        let flag = Mem::gpr(RAX, 0);
        self.asm
            .int(Code::Cmp_rm8_imm8, &[Int::Mem(flag), Int::Imm(0)]);
        self.asm.push(Lir::Branch(Cond::NotEqual, exit));
    }

    /// Emits an arm, skipped unless it is cheap where no lane takes it. The then-arm merges its values into the results; the other one, if
    /// it may be skipped, leaves its values in registers of their own, which become the results for now.
    fn arm(&mut self, i: &If, block: BlockId, negated: bool, cheap: bool) {
        let outside = self.exec;
        let mut taken = Vec::new();
        for copy in self.copies.clone() {
            let cond = self.get(i.cond, copy);
            let mut mask = cond;
            if negated {
                if cheap && self.body.blocks()[block.index()].stmts.is_empty() {
                    continue;
                }
                mask = self.new_reg(Ty::Mask);
                self.target
                    .un(&mut self.asm, UnOp::Not, Ty::Mask, Ty::Mask, mask, cond);
            }
            if let Some(exec) = outside[copy] {
                let both = self.new_reg(Ty::Mask);
                self.target
                    .bin(&mut self.asm, BinOp::And, Ty::Mask, both, mask, exec);
                mask = both;
            }
            self.exec[copy] = Some(mask);
            taken.push(mask);
        }
        let skip = self.asm.label();
        let frequency = self.asm.current_frequency;
        // Defined before the branch, in case it is taken.
        let mut kept = Vec::new();
        if !cheap {
            if negated {
                for a in &i.arms {
                    for copy in self.copies.clone() {
                        let r = self.reg_of(a.result);
                        kept.push(r);
                        self.set(a.result, copy, r);
                    }
                }
            }
            self.target.test_any(&mut self.asm, &taken);
            self.asm.push(Lir::Branch(Cond::Equal, skip));
            self.asm.current_frequency *= if self.plan.is_same(i.cond) { 0.5 } else { 0.01 };
        }
        self.block(block);
        let mut kept = kept.into_iter();
        for a in &i.arms {
            for copy in self.copies.clone() {
                if negated {
                    if let Some(dst) = kept.next() {
                        let src = self.get_like(a.otherwise, a.result, copy);
                        self.asm.put(dst, src);
                    }
                    continue;
                }
                let then = self.get_like(a.then, a.result, copy);
                let (result, mask) = (self.get(a.result, copy), self.get(i.cond, copy));
                self.merge_value(a.result, result, mask, then);
            }
        }
        self.asm.current_frequency = frequency;
        if !cheap {
            self.asm.push(Lir::Label(skip));
        }
        self.exec = outside;
    }
}
