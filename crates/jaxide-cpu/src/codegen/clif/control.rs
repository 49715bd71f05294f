//! Loops and branches.

use super::Emitter;
use super::rep::{Rep, Width, vector_type};
use super::scalar_type;
use crate::codegen::emit::{Control, Emit};
use crate::lanes::{BlockId, For, If, Stmt, Trip, Ty, Value, While};
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData, types};

impl Control for Emitter<'_, '_> {
    fn for_loop(&mut self, f: &For) {
        match f.trip {
            Trip::Const(0) => {
                for c in &f.carries {
                    let init = self.get(c.init);
                    self.set(c.result, init);
                }
            }
            Trip::Const(n) => self.turns(f, n),
            Trip::Outer(k) => {
                let trip = self.args.outer[k as usize];
                self.turns_if_any(f, trip);
            }
        }
    }

    fn while_loop(&mut self, w: &While) {
        let (head, turn, exit) = (
            self.fb.create_block(),
            self.fb.create_block(),
            self.fb.create_block(),
        );
        let params: Vec<Rep> = w
            .carries
            .iter()
            .map(|c| self.params(head, self.body.ty(c.param)))
            .collect();
        let inits: Vec<Value> = w.carries.iter().map(|c| c.init).collect();
        let mut args = self.carried(&inits);
        // At width four the loop also carries the lanes that are still active.
        let outside = self.exec.clone();
        let active = (self.width == Width::Four).then(|| self.params(head, Ty::Mask));
        if active.is_some() {
            let all = match &outside {
                Some(exec) => self.mask_like(exec, &Rep::X4(exec.registers()[0])),
                None => {
                    let one = self.fb.ins().iconst(types::I8, 1);
                    self.splat(Ty::Mask, one)
                }
            };
            args.push(all.one());
        }
        self.jump(head, &args);
        self.fb.switch_to_block(head);
        w.carries
            .iter()
            .zip(&params)
            .for_each(|(c, p)| self.set(c.param, p.clone()));
        self.exec = active.clone();
        self.block(w.head);
        let mut cond = self.get(w.cond);
        if let Some(active) = &active {
            cond = self.mask_and(active, &cond);
        }
        let any = self.any(&cond);
        let any = self.unless_stopped(any);
        self.fb.ins().brif(any, turn, &[], exit, &[]);
        self.fb.seal_block(turn);
        self.fb.switch_to_block(turn);
        self.exec = active.is_some().then(|| cond.clone());
        self.block(w.body);
        // The next values themselves stay what they are: one may be carried twice, or come from outside.
        let mut args = Vec::new();
        for (c, p) in w.carries.iter().zip(&params) {
            let next = self.get(c.next);
            let next = match active {
                Some(_) => self.choose(&cond, &next, p),
                None => next,
            };
            args.extend(self.passed(self.body.ty(c.next), &next));
        }
        if active.is_some() {
            args.push(cond.one());
        }
        self.jump(head, &args);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
        self.exec = outside;
        w.carries
            .iter()
            .zip(params)
            .for_each(|(c, p)| self.set(c.result, p));
    }

    fn branch(&mut self, i: &If) {
        let cond = self.get(i.cond);
        if self.width == Width::One {
            let (then, otherwise, join) = (
                self.fb.create_block(),
                self.fb.create_block(),
                self.fb.create_block(),
            );
            let results: Vec<Rep> = i
                .arms
                .iter()
                .map(|a| self.params(join, self.body.ty(a.result)))
                .collect();
            self.fb.ins().brif(cond.one(), then, &[], otherwise, &[]);
            for (block, arm, values) in [
                (
                    then,
                    i.then,
                    i.arms.iter().map(|a| a.then).collect::<Vec<_>>(),
                ),
                (
                    otherwise,
                    i.otherwise,
                    i.arms.iter().map(|a| a.otherwise).collect(),
                ),
            ] {
                self.fb.seal_block(block);
                self.fb.switch_to_block(block);
                self.block(arm);
                let args = self.carried(&values);
                self.jump(join, &args);
            }
            self.fb.seal_block(join);
            self.fb.switch_to_block(join);
            i.arms
                .iter()
                .zip(results)
                .for_each(|(a, r)| self.set(a.result, r));
            return;
        }
        let negated = self.mask_not(&cond);
        let thens: Vec<Value> = i.arms.iter().map(|a| a.then).collect();
        let elses: Vec<Value> = i.arms.iter().map(|a| a.otherwise).collect();
        let thens = self.arm(i.then, &cond, &thens);
        let elses = self.arm(i.otherwise, &negated, &elses);
        for ((a, then), otherwise) in i.arms.iter().zip(thens).zip(elses) {
            let result = self.choose(&cond, &then, &otherwise);
            self.set(a.result, result);
        }
    }
}

/// The most statements of a loop's body that stands four times, or twice, in each turn, and the turns from which on it does.
const FOUR_TIMES: usize = 12;
const TWICE: usize = 24;
const MANY_TURNS: u64 = 16;

impl Emitter<'_, '_> {
    /// A loop of at least one turn, whose condition is asked behind the body. Of short bodies there are several in a turn: what is
    /// carried from one to the next need not move into the registers in which the turn begins.
    fn turns(&mut self, f: &For, count: u64) {
        let stmts = &self.body.blocks()[f.body.index()].stmts;
        let straight = stmts
            .iter()
            .all(|stmt| matches!(stmt, Stmt::Let(_) | Stmt::Store { .. }));
        let copies = match stmts.len() {
            _ if !straight || count < MANY_TURNS || self.width != Width::One => 1,
            count if count <= FOUR_TIMES => 4,
            count if count <= TWICE => 2,
            _ => 1,
        };
        let (head, exit) = (self.fb.create_block(), self.fb.create_block());
        let index = self.fb.append_block_param(head, types::I64);
        let starts = self.carried_params(head, f);
        let ends = self.carried_params(exit, f);
        let inits: Vec<Value> = f.carries.iter().map(|c| c.init).collect();
        let nexts: Vec<Value> = f.carries.iter().map(|c| c.next).collect();
        let mut args = vec![self.fb.ins().iconst(types::I64, 0)];
        args.extend(self.carried(&inits));
        self.jump(head, &args);
        self.fb.switch_to_block(head);
        self.set_params(f, starts);
        self.turn(f, index);
        for k in 1..copies {
            let params = nexts.iter().map(|&next| self.get(next)).collect();
            self.set_params(f, params);
            let index = self.fb.ins().iadd_imm_s(index, k);
            self.turn(f, index);
        }
        let repeated = count as i64 / copies * copies;
        let next = self.fb.ins().iadd_imm_s(index, copies);
        let end = self.fb.ins().iconst(types::I64, repeated);
        let mut more = self.fb.ins().icmp(IntCC::SignedLessThan, next, end);
        if self.body.is_long(f) {
            more = self.unless_stopped(more);
        }
        let results = block_args(&self.carried(&nexts));
        let mut args = vec![BlockArg::Value(next)];
        args.extend(results.iter().copied());
        self.fb.ins().brif(more, head, &args, exit, &results);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
        let mut results = ends;
        for k in repeated..count as i64 {
            self.set_params(f, results);
            let index = self.fb.ins().iconst(types::I64, k);
            self.turn(f, index);
            results = nexts.iter().map(|&next| self.get(next)).collect();
        }
        for (c, result) in f.carries.iter().zip(results) {
            self.set(c.result, result);
        }
    }

    /// A loop that may have no turn.
    fn turns_if_any(&mut self, f: &For, trip: ir::Value) {
        let zero = self.fb.ins().iconst(types::I64, 0);
        let (head, turn, exit) = (
            self.fb.create_block(),
            self.fb.create_block(),
            self.fb.create_block(),
        );
        let index = self.fb.append_block_param(head, types::I64);
        let params = self.carried_params(head, f);
        let inits: Vec<Value> = f.carries.iter().map(|c| c.init).collect();
        let mut args = vec![zero];
        args.extend(self.carried(&inits));
        self.jump(head, &args);
        self.fb.switch_to_block(head);
        let mut more = self.fb.ins().icmp(IntCC::SignedLessThan, index, trip);
        if self.body.is_long(f) {
            more = self.unless_stopped(more);
        }
        self.fb.ins().brif(more, turn, &[], exit, &[]);
        self.fb.seal_block(turn);
        self.fb.switch_to_block(turn);
        self.set_params(f, params.clone());
        self.turn(f, index);
        let nexts: Vec<Value> = f.carries.iter().map(|c| c.next).collect();
        let mut args = vec![self.fb.ins().iadd_imm_s(index, 1)];
        args.extend(self.carried(&nexts));
        self.jump(head, &args);
        self.fb.seal_block(head);
        self.fb.seal_block(exit);
        self.fb.switch_to_block(exit);
        for (c, result) in f.carries.iter().zip(params) {
            self.set(c.result, result);
        }
    }

    /// The body of a loop, for one index.
    fn turn(&mut self, f: &For, index: ir::Value) {
        self.loops[f.id.index()] = index;
        self.block(f.body);
    }

    fn carried_params(&mut self, block: ir::Block, f: &For) -> Vec<Rep> {
        let carries = f.carries.iter();
        carries
            .map(|c| self.params(block, self.body.ty(c.param)))
            .collect()
    }

    fn set_params(&mut self, f: &For, params: Vec<Rep>) {
        for (c, param) in f.carries.iter().zip(params) {
            self.set(c.param, param);
        }
    }

    /// Whether a loop goes on: `more`, unless the run is to end.
    fn unless_stopped(&mut self, more: ir::Value) -> ir::Value {
        // An atomic load is made anew in each turn.
        let flags = MemFlagsData::trusted();
        let stop = self.fb.ins().atomic_load(types::I8, flags, self.args.stop);
        let ty = self.fb.func.dfg.value_type(more);
        let (zero, none) = (
            self.fb.ins().iconst(types::I8, 0),
            self.fb.ins().iconst(ty, 0),
        );
        let goes_on = self.fb.ins().icmp(IntCC::Equal, stop, zero);
        self.fb.ins().select(goes_on, more, none)
    }

    /// The values of an arm at width four, unspecified where `mask` is not set; skipped if it is set nowhere.
    fn arm(&mut self, block: BlockId, mask: &Rep, values: &[Value]) -> Vec<Rep> {
        if self.body.blocks()[block.index()].stmts.is_empty() {
            return values.iter().map(|&v| self.get(v)).collect();
        }
        let outside = self.exec.clone();
        let exec = match &outside {
            Some(outside) => self.mask_and(mask, outside),
            None => mask.clone(),
        };
        let (then, join) = (self.fb.create_block(), self.fb.create_block());
        let results: Vec<Rep> = values
            .iter()
            .map(|&v| self.params(join, self.body.ty(v)))
            .collect();
        let mut nothing = Vec::new();
        for &v in values {
            let ty = self.body.ty(v);
            let zero = self.scalar_const(ty, 0);
            nothing.extend(
                self.splat(ty, zero)
                    .registers()
                    .iter()
                    .map(|&p| BlockArg::Value(p)),
            );
        }
        let any = self.any(&exec);
        self.fb.ins().brif(any, then, &[], join, &nothing);
        self.fb.seal_block(then);
        self.fb.switch_to_block(then);
        self.exec = Some(exec);
        self.block(block);
        self.exec = outside;
        let args = self.carried(values);
        self.jump(join, &args);
        self.fb.seal_block(join);
        self.fb.switch_to_block(join);
        results
    }

    /// Block parameters for a value of type `ty`; a mask is passed in its 32-bit form.
    fn params(&mut self, block: ir::Block, ty: Ty) -> Rep {
        match self.width {
            Width::One => Rep::One(self.fb.append_block_param(block, scalar_type(ty))),
            Width::Four if ty.bits() == 64 => {
                let vector = vector_type(ty);
                Rep::X2([
                    self.fb.append_block_param(block, vector),
                    self.fb.append_block_param(block, vector),
                ])
            }
            Width::Four => Rep::X4(self.fb.append_block_param(block, vector_type(ty))),
        }
    }

    /// The CLIF values to pass for [`params`](Self::params).
    fn carried(&mut self, values: &[Value]) -> Vec<ir::Value> {
        let mut registers = Vec::new();
        for &v in values {
            let rep = self.get(v);
            registers.extend(self.passed(self.body.ty(v), &rep));
        }
        registers
    }

    /// A value in the form in which blocks take it.
    fn passed(&mut self, ty: Ty, rep: &Rep) -> Vec<ir::Value> {
        if ty == Ty::Mask && self.width == Width::Four {
            let like = Rep::X4(rep.registers()[0]);
            return self.mask_like(rep, &like).registers().to_vec();
        }
        rep.registers().to_vec()
    }

    fn jump(&mut self, block: ir::Block, args: &[ir::Value]) {
        self.fb.ins().jump(block, &block_args(args));
    }
}

fn block_args(args: &[ir::Value]) -> Vec<BlockArg> {
    args.iter().map(|&arg| BlockArg::Value(arg)).collect()
}
