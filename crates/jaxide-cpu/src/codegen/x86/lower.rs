//! Bodies as instructions on virtual registers: the loop over lanes, control flow, addresses, accumulators.
//!
//! Several *copies*, one register of lanes each, may be worked on together, to fill the time that dependent operations wait.
//! A straight-line body has a main loop without masks and a loop for the rest of the lanes; a body with loops inside has one loop whose
//! last turn is masked, since those loops cost the same for one lane as for all.

use super::lir::*;
use super::plan::{MOST_COPIES, Plan, plan};
use super::target::{FmaSigns, Target};
use crate::lanes::{
    Accumulator, Addr, BinOp, BlockId, Body, For, If, Index as LaneIndex, Inst, LaneStep, LoopId,
    MemTy, Stmt, TerOp, Trip, Ty, UnOp, Value, While,
};
use crate::narrow;
use iced_x86::{Code, Register};
use rustc_hash::FxHashMap as HashMap;

/// The program of a body.
pub(super) fn lower<T: Target>(body: &Body, target: &T) -> Asm {
    let plan = plan(body, target.lanes(), T::VECTORS);
    let mut asm = Asm::new(!T::EVEX);
    let tables = asm.buffer(64);
    let start = asm.var();
    let exit = asm.label();
    let accumulators: Vec<&Accumulator> = body
        .reductions()
        .iter()
        .flat_map(|r| &r.accumulators)
        .collect();
    let bytes = |ty: Ty| target.accumulator_bits(ty) * narrow::<_, i32>(body.accumulators()) / 8;
    let buffers = accumulators
        .iter()
        .map(|a| asm.buffer(bytes(body.ty(a.init))))
        .collect();
    let mut lower = Lower {
        body,
        target,
        asm,
        tables,
        start,
        exit,
        plan,
        accumulators,
        buffers,
        bases: HashMap::default(),
        reps: vec![[None; MOST_COPIES]; body.values().len()],
        into: HashMap::default(),
        copies: vec![0],
        exec: [None; MOST_COPIES],
        counters: vec![LANE; body.loop_count()],
        cursors: HashMap::default(),
        open: Vec::new(),
    };
    lower.run();
    lower.asm
}

pub(super) struct Lower<'a, T> {
    pub(super) body: &'a Body,
    pub(super) target: &'a T,
    pub(super) asm: Asm,
    /// Where the frame keeps the addresses of the three argument tables.
    tables: i32,
    start: Var,
    exit: Label,
    plan: Plan,
    accumulators: Vec<&'a Accumulator>,
    /// Where the frame keeps each accumulator.
    buffers: Vec<i32>,
    /// Addresses without lane and loop terms.
    pub(super) bases: HashMap<Vec<i64>, Var>,
    reps: Vec<[Option<Reg>; MOST_COPIES]>,
    /// Values that are computed right into a carried register.
    into: HashMap<Value, Value>,
    pub(super) copies: Vec<usize>,
    pub(super) exec: [Option<Reg>; MOST_COPIES],
    counters: Vec<Var>,
    /// Addresses that loops advance from turn to turn, but for constants and lane steps.
    pub(super) cursors: HashMap<Vec<i64>, Var>,
    /// The loops around, outermost first.
    pub(super) open: Vec<LoopId>,
}

use Register::{RAX, RDX};

impl<T: Target> Lower<'_, T> {
    fn run(&mut self) {
        self.asm
            .int(Code::Cmp_r64_rm64, &[Int::Var(LANE), Int::Var(END)]);
        self.asm.push(Lir::Branch(Cond::GreaterEqual, self.exit));
        for (k, r) in [Register::RDI, Register::RSI, RDX].into_iter().enumerate() {
            let to = Mem::frame(self.tables + narrow::<_, i32>(8 * k));
            self.asm
                .int(Code::Mov_rm64_r64, &[Int::Mem(to), Int::Gpr(r)]);
        }
        self.asm.int(
            Code::Mov_rm64_r64,
            &[Int::Var(self.start), Int::Gpr(Register::RCX)],
        );
        self.find_bases();
        self.block(BlockId::PROLOGUE);
        self.initialise_accumulators();
        if self.plan.loops {
            self.masked_loop(self.plan.copies);
        } else {
            self.main_loop();
            self.masked_loop(1);
        }
        self.combine_all();
        self.asm.push(Lir::Label(self.exit));
    }

    /// The loop without masks, as long as there are lanes for all copies.
    fn main_loop(&mut self) {
        let step = self.plan.copies as i64 * self.target.lanes();
        let (head, rest) = (self.asm.label(), self.asm.label());
        let enough = |s: &mut Self| {
            let ahead = Mem::new(Base::Var(LANE), narrow(step));
            s.asm
                .int(Code::Lea_r64_m, &[Int::Gpr(RAX), Int::Mem(ahead)]);
            s.asm
                .int(Code::Cmp_r64_rm64, &[Int::Gpr(RAX), Int::Var(END)]);
        };
        enough(self);
        self.asm.push(Lir::Branch(Cond::Greater, rest));
        let in_registers = self.plan.accumulators_in_registers;
        let copies: Vec<usize> = (0..self.plan.copies).collect();
        if in_registers {
            self.accumulators_to_registers(&copies);
        }
        self.in_loop(|s| {
            s.asm.push(Lir::Label(head));
            let groups = if s.plan.interleave {
                vec![copies.clone()]
            } else {
                copies.iter().map(|&p| vec![p]).collect()
            };
            for group in groups {
                s.copies = group;
                if !in_registers {
                    s.load_accumulators();
                }
                s.block(BlockId::LANES);
                if in_registers {
                    s.step_accumulators()
                } else {
                    s.store_accumulators()
                }
            }
            s.asm
                .int(Code::Add_rm64_imm32, &[Int::Var(LANE), Int::Imm(step)]);
            enough(s);
            let more = s.asm.label();
            s.asm.push(Lir::Branch(Cond::Greater, more));
            s.asm.push(Lir::Jump(head));
            s.asm.push(Lir::Label(more));
        });
        if in_registers {
            self.accumulators_to_memory(&copies);
        }
        self.asm.push(Lir::Label(rest));
    }

    /// The loop over all lanes from the current one on, masked.
    fn masked_loop(&mut self, copies: usize) {
        let lanes = copies as i64 * self.target.lanes();
        let (head, done) = (self.asm.label(), self.asm.label());
        self.copies = (0..copies).collect();
        let outside = self.asm.current_frequency;
        if !self.plan.loops {
            // The rest after the main loop.
            self.asm.current_frequency *= 0.1;
        }
        self.in_loop(|s| {
            s.asm.push(Lir::Label(head));
            s.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(END)]);
            s.asm
                .int(Code::Sub_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
            s.asm.push(Lir::Branch(Cond::LessEqual, done));
            // A one for each lane that is left.
            let few = s.asm.label();
            s.asm
                .int(Code::Cmp_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(lanes)]);
            s.asm.push(Lir::Branch(Cond::Less, few));
            s.asm
                .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(lanes)]);
            s.asm.push(Lir::Label(few));
            s.asm
                .int(Code::Mov_r64_imm64, &[Int::Gpr(RDX), Int::Imm(-1)]);
            s.asm.int(
                Code::VEX_Bzhi_r64_rm64_r64,
                &[Int::Gpr(RDX), Int::Gpr(RDX), Int::Gpr(RAX)],
            );
            for copy in 0..copies {
                let k = s.asm.reg(s.target.class(Ty::Mask));
                s.target.tail_mask(&mut s.asm, k, copy as i64);
                s.exec[copy] = Some(k);
            }
            s.load_accumulators();
            s.block(BlockId::LANES);
            s.store_accumulators();
            s.asm
                .int(Code::Add_rm64_imm32, &[Int::Var(LANE), Int::Imm(lanes)]);
            s.asm.push(Lir::Jump(head));
        });
        self.asm.push(Lir::Label(done));
        self.asm.current_frequency = outside;
        self.exec = [None; MOST_COPIES];
        self.copies = vec![0];
    }

    fn in_loop(&mut self, f: impl FnOnce(&mut Self)) {
        let start = self.asm.begin_loop();
        f(self);
        self.asm.end_loop(start);
    }

    pub(super) fn block(&mut self, id: BlockId) {
        let body = self.body;
        for stmt in &body.blocks()[id.index()].stmts {
            // What a statement reserves holds what goes from one of its instructions to another.
            let in_use = self.asm.in_use();
            match stmt {
                Stmt::Let(v) => self.inst(*v),
                Stmt::Store { ty, addr, value } => self.store(*ty, addr, *value),
                Stmt::For(f) => self.for_loop(f),
                Stmt::While(w) => self.while_loop(w),
                Stmt::If(i) => self.branch(i),
            }
            self.asm.release(in_use);
        }
    }

    /// The register of a value.
    pub(super) fn get(&mut self, v: Value, copy: usize) -> Reg {
        let ty = self.body.ty(v);
        if let (Inst::Const(bits), true) = (self.body.inst(v), ty != Ty::Mask) {
            let Class::Vector(width) = self.target.class(ty) else {
                unreachable!("masks are apart")
            };
            return self.asm.splat(width, narrow(ty.bits() / 8), *bits);
        }
        // What is the same in all copies is computed once.
        let rep = &self.reps[v.index()];
        rep[copy].or(rep[0]).expect("verified: defined before use")
    }

    pub(super) fn set(&mut self, v: Value, copy: usize, reg: Reg) {
        self.reps[v.index()][copy] = Some(reg);
    }

    pub(super) fn new_reg(&mut self, ty: Ty) -> Reg {
        let class = self.target.class(ty);
        self.asm.reg(class)
    }

    /// The register that the definition of `v` writes.
    fn dest(&mut self, v: Value, copy: usize) -> Reg {
        match self.into.get(&v) {
            Some(&param) => self.get(param, copy),
            None => self.new_reg(self.body.ty(v)),
        }
    }

    fn inst(&mut self, v: Value) {
        let body = self.body;
        let ty = body.ty(v);
        if self.plan.folded[v.index()] {
            return;
        }
        for copy in self.copies.clone() {
            if matches!(body.inst(v), Inst::Const(_)) && ty != Ty::Mask {
                continue;
            }
            if let Inst::Load(_, addr) = body.inst(v)
                && addr.lane == LaneStep::Uniform
                && copy != self.copies[0]
            {
                let same = self.get(v, self.copies[0]);
                self.set(v, copy, same);
                continue;
            }
            let dst = self.dest(v, copy);
            match body.inst(v) {
                Inst::Const(bits) => self.target.mask_constant(&mut self.asm, dst, *bits != 0),
                Inst::Index(i) => self.index(*i, ty, dst, copy),
                Inst::Un(op, a) => {
                    let from = body.ty(*a);
                    let a = self.get(*a, copy);
                    self.target.un(&mut self.asm, *op, from, ty, dst, a);
                }
                Inst::Bin(op, a, b) => self.bin(*op, dst, *a, *b, copy),
                Inst::Ter(TerOp::Fma, a, b, c) => self.fma(ty, dst, [*a, *b, *c], copy),
                Inst::Ter(TerOp::Select, m, a, b) => {
                    let (m, a, b) = (self.get(*m, copy), self.get(*a, copy), self.get(*b, copy));
                    self.target.select(&mut self.asm, ty, dst, m, a, b);
                }
                Inst::Lookup(table, i) => self.lookup(*table, ty, dst, *i, copy),
                Inst::Load(mem, addr) => self.load(*mem, addr, dst, copy),
                Inst::Carried | Inst::Result => {
                    unreachable!("verified: {v} is no statement")
                }
            }
            self.set(v, copy, dst);
        }
    }

    fn bin(&mut self, op: BinOp, dst: Reg, a: Value, b: Value, copy: usize) {
        let ty = self.body.ty(a);
        let count = match self.body.inst(b) {
            Inst::Const(c) => Some(*c),
            _ => None,
        };
        let (a, b) = (self.get(a, copy), self.get(b, copy));
        match (op, count) {
            (BinOp::Shl | BinOp::ShrS | BinOp::ShrU, Some(count)) => {
                self.target.shift_by(&mut self.asm, op, ty, dst, a, count);
            }
            (BinOp::DivS | BinOp::DivU | BinOp::RemS | BinOp::RemU, _) if ty == Ty::I64 => {
                self.divide_64(op, dst, a, b)
            }
            _ => self.target.bin(&mut self.asm, op, ty, dst, a, b),
        }
    }

    /// A fused multiply-add; negations that only such use become copy of it. The operand of any other negation may be
    /// gone by now: the next value of a loop may stand in its register.
    fn fma(&mut self, ty: Ty, dst: Reg, operands: [Value; 3], copy: usize) {
        let mut minus = [false; 3];
        let [a, b, c] = std::array::from_fn(|k| {
            let mut v = operands[k];
            while self.plan.folded[v.index()]
                && let Inst::Un(UnOp::Neg, inner) = self.body.inst(v)
            {
                v = *inner;
                minus[k] = !minus[k];
            }
            self.get(v, copy)
        });
        let signs = FmaSigns {
            minus_product: minus[0] != minus[1],
            minus_addend: minus[2],
        };
        let codes = self.target.fma(ty, signs);
        self.asm.push(Lir::Fma {
            codes,
            dst,
            a,
            b,
            c,
        });
    }

    fn index(&mut self, index: LaneIndex, ty: Ty, dst: Reg, copy: usize) {
        let lanes = self.target.lanes();
        match index {
            LaneIndex::Lane => self
                .asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]),
            LaneIndex::Outer(k) => self.outer_to_rax(k),
            LaneIndex::Loop(id) => {
                let counter = self.counters[id.index()];
                self.asm
                    .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(counter)]);
            }
        }
        if index != LaneIndex::Lane {
            return self.target.broadcast_gpr(&mut self.asm, ty, dst);
        }
        let first = self.new_reg(ty);
        self.target.broadcast_gpr(&mut self.asm, ty, first);
        let offsets = self.counting(ty, copy as i64 * lanes, 1);
        self.target
            .bin(&mut self.asm, BinOp::Add, ty, dst, first, offsets);
    }

    /// The vector of `(first + lane) * step`.
    pub(super) fn counting(&mut self, ty: Ty, first: i64, step: i64) -> Reg {
        let Class::Vector(width) = self.target.class(ty) else {
            unreachable!("a vector of integers")
        };
        let size = (ty.bits() / 8) as usize;
        let element = |k: i64| ((first + k) * step).to_le_bytes();
        let bytes: Vec<u8> = (0..self.target.lanes())
            .flat_map(|k| element(k)[..size].to_vec())
            .collect();
        self.asm.vector(width, &bytes)
    }

    fn outer_to_rax(&mut self, k: u32) {
        let table = Mem::frame(self.tables + 16);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Mem(table)]);
        self.asm.int(
            Code::Mov_r64_rm64,
            &[Int::Gpr(RAX), Int::Mem(Mem::gpr(RAX, 8 * k as i32))],
        );
    }

    /// Computes the addresses that the body's accesses start from, once.
    fn find_bases(&mut self) {
        let body = self.body;
        let mut all: Vec<&Addr> = self.accumulators.iter().map(|a| &a.dest).collect();
        for stmt in body.blocks().iter().flat_map(|b| &b.stmts) {
            match stmt {
                Stmt::Let(v) => {
                    if let Inst::Load(_, addr) = body.inst(*v) {
                        all.push(addr);
                    }
                }
                Stmt::Store { addr, .. } => all.push(addr),
                Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => {}
            }
        }
        for addr in all {
            let key = base_key(addr);
            if self.bases.contains_key(&key) {
                continue;
            }
            let var = self.asm.var();
            let table = Mem::frame(self.tables);
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Mem(table)]);
            let entry = Mem::gpr(RDX, narrow(8 * addr.pointer.index()));
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Mem(entry)]);
            for &(index, stride) in &addr.terms {
                if let LaneIndex::Outer(k) = index {
                    self.outer_to_rax(k);
                    self.multiply_rax(stride);
                    self.asm
                        .int(Code::Add_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
                }
            }
            if near(addr.offset).is_none() {
                self.asm
                    .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(addr.offset)]);
                self.asm
                    .int(Code::Add_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
            }
            self.asm
                .int(Code::Mov_rm64_r64, &[Int::Var(var), Int::Gpr(RDX)]);
            self.bases.insert(key, var);
        }
    }

    /// rax *= factor
    pub(super) fn multiply_rax(&mut self, factor: i64) {
        if i32::try_from(factor).is_ok() {
            self.asm.int(
                Code::Imul_r64_rm64_imm32,
                &[Int::Gpr(RAX), Int::Gpr(RAX), Int::Imm(factor)],
            );
            return;
        }
        self.asm.int(
            Code::Mov_r64_imm64,
            &[Int::Gpr(Register::R11), Int::Imm(factor)],
        );
        self.asm.int(
            Code::Imul_r64_rm64,
            &[Int::Gpr(RAX), Int::Gpr(Register::R11)],
        );
    }

    /// Where an access starts but for the lane step, and the constant copy that is left to add.
    pub(super) fn base(&mut self, addr: &Addr) -> (Base, i32) {
        let var = self.bases[&base_key(addr)];
        let disp = near(addr.offset).unwrap_or(0);
        if let Some(&cursor) = self.cursors.get(&cursor_key(addr)) {
            return (Base::Var(cursor), disp);
        }
        let mut in_rdx = false;
        for &(index, stride) in &addr.terms {
            let LaneIndex::Loop(id) = index else { continue };
            let counter = self.counters[id.index()];
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(counter)]);
            self.multiply_rax(stride);
            let sum = if in_rdx { Int::Gpr(RDX) } else { Int::Var(var) };
            self.asm.int(Code::Add_r64_rm64, &[Int::Gpr(RAX), sum]);
            self.asm
                .int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), Int::Gpr(RAX)]);
            in_rdx = true;
        }
        (
            if in_rdx {
                Base::Gpr(RDX)
            } else {
                Base::Var(var)
            },
            disp,
        )
    }

    /// The operand for a uniform access, or for consecutive elements of a copy.
    pub(super) fn mem(&mut self, addr: &Addr, copy: usize) -> Mem {
        let (base, disp) = self.base(addr);
        let at = Mem::new(base, disp);
        match addr.lane {
            LaneStep::Stride(s) => {
                let offset = copy as i64 * self.target.lanes() * s;
                at.plus(narrow(offset)).indexed(Index::Var(LANE), narrow(s))
            }
            LaneStep::Uniform | LaneStep::Gather(..) => at,
        }
    }

    pub(super) fn is_contiguous(&self, mem: MemTy, addr: &Addr) -> bool {
        addr.lane == LaneStep::Stride(mem.size())
    }

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

    /// Copies the initial values to registers that a loop changes.
    fn enter_carries(&mut self, carries: impl Iterator<Item = (Value, Value)>) {
        for (param, init) in carries {
            for copy in self.copies.clone() {
                let src = self.get(init, copy);
                let dst = self.new_reg(self.body.ty(param));
                self.asm.push(Lir::Move { dst, src });
                self.set(param, copy, dst);
            }
        }
    }

    fn leave_carries(&mut self, carries: impl Iterator<Item = (Value, Value)>) {
        let mut pairs = Vec::new();
        for (param, next) in carries {
            for copy in self.copies.clone() {
                pairs.push((self.get(param, copy), self.get(next, copy)));
            }
        }
        pairs.retain(|(d, s)| d != s);
        if !pairs.is_empty() {
            self.asm.push(Lir::ParallelMove(pairs));
        }
    }

    /// Goes to `exit` where the run is to end.
    fn leave_if_stopped(&mut self, exit: Label) {
        let stop = Mem::frame(self.tables + 8);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Mem(stop)]);
        let flag = Mem::gpr(RAX, 0);
        self.asm
            .int(Code::Cmp_rm8_imm8, &[Int::Mem(flag), Int::Imm(0)]);
        self.asm.push(Lir::Branch(Cond::NotEqual, exit));
    }

    fn while_loop(&mut self, w: &While) {
        self.enter_carries(w.carries.iter().map(|c| (c.param, c.init)));
        let outside = self.exec;
        let into = std::mem::take(&mut self.into);
        for copy in self.copies.clone() {
            let active = self.new_reg(Ty::Mask);
            match self.exec[copy] {
                Some(src) => self.asm.push(Lir::Move { dst: active, src }),
                None => self.target.mask_constant(&mut self.asm, active, true),
            }
            self.exec[copy] = Some(active);
        }
        let (head, exit) = (self.asm.label(), self.asm.label());
        let params: Vec<Value> = w.carries.iter().map(|c| c.param).collect();
        self.in_loop(|s| {
            s.asm.push(Lir::Label(head));
            s.block(w.head);
            let mut active = Vec::new();
            for copy in s.copies.clone() {
                let (cond, exec) = (s.get(w.cond, copy), s.exec[copy].expect("set above"));
                s.target
                    .bin(&mut s.asm, BinOp::And, Ty::Mask, exec, exec, cond);
                active.push(exec);
            }
            s.target.test_any(&mut s.asm, &active);
            s.asm.push(Lir::Branch(Cond::Equal, exit));
            s.leave_if_stopped(exit);
            s.block(w.body);
            for copy in s.copies.clone() {
                // A next value that is another carried one must be read before that changes.
                let nexts: Vec<Reg> = w
                    .carries
                    .iter()
                    .map(|c| {
                        let next = s.get(c.next, copy);
                        if c.next == c.param || !params.contains(&c.next) {
                            return next;
                        }
                        let moved = s.new_reg(s.body.ty(c.next));
                        s.asm.push(Lir::Move {
                            dst: moved,
                            src: next,
                        });
                        moved
                    })
                    .collect();
                for (c, next) in w.carries.iter().zip(nexts) {
                    let param = s.get(c.param, copy);
                    if next != param {
                        let mask = s.exec[copy].expect("set above");
                        s.target
                            .merge(&mut s.asm, s.body.ty(c.param), param, mask, next);
                    }
                }
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
            self.plan.cheap(self.body, i.then),
            self.plan.cheap(self.body, i.otherwise),
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
                        let dst = self.new_reg(self.body.ty(a.result));
                        let src = if otherwise {
                            self.get(a.otherwise, copy)
                        } else {
                            self.get(a.result, copy)
                        };
                        self.asm.push(Lir::Move { dst, src });
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
                        let r = self.new_reg(self.body.ty(a.result));
                        kept.push(r);
                        self.set(a.result, copy, r);
                    }
                }
            }
            self.target.test_any(&mut self.asm, &taken);
            self.asm.push(Lir::Branch(Cond::Equal, skip));
            self.asm.current_frequency *= 0.01;
        }
        self.block(block);
        let mut kept = kept.into_iter();
        for a in &i.arms {
            for copy in self.copies.clone() {
                if negated {
                    if let Some(dst) = kept.next() {
                        let src = self.get(a.otherwise, copy);
                        self.asm.push(Lir::Move { dst, src });
                    }
                    continue;
                }
                let (result, then) = (self.get(a.result, copy), self.get(a.then, copy));
                let mask = self.get(i.cond, copy);
                self.target
                    .merge(&mut self.asm, self.body.ty(a.result), result, mask, then);
            }
        }
        self.asm.current_frequency = frequency;
        if !cheap {
            self.asm.push(Lir::Label(skip));
        }
        self.exec = outside;
    }
}

/// Accumulators.
impl<T: Target> Lower<'_, T> {
    fn initialise_accumulators(&mut self) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let init = self.get(a.init, 0);
            let ty = self.body.ty(a.init);
            for j in 0..self.body.accumulators() as i64 / self.target.lanes() {
                let to = self.accumulator(k, ty, j);
                self.target.store_accumulator(&mut self.asm, ty, init, to);
            }
        }
    }

    /// The place of the `j`th register of an accumulator.
    fn accumulator(&self, k: usize, ty: Ty, j: i64) -> Mem {
        let bits = self.target.accumulator_bits(ty);
        Mem::frame(self.buffers[k] + narrow::<_, i32>(j * self.target.lanes()) * bits / 8)
    }

    /// The place that belongs to the current lanes of a copy.
    fn current_accumulator(&mut self, k: usize, ty: Ty, copy: usize) -> Mem {
        let bits = self.target.accumulator_bits(ty);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Var(LANE)]);
        self.asm
            .int(Code::Sub_r64_rm64, &[Int::Gpr(RAX), Int::Var(self.start)]);
        let last = self.body.accumulators() as i64 - 1;
        self.asm
            .int(Code::And_rm64_imm32, &[Int::Gpr(RAX), Int::Imm(last)]);
        if bits == 1 {
            self.asm
                .int(Code::Shr_rm64_imm8, &[Int::Gpr(RAX), Int::Imm(3)]);
        }
        let at = self.accumulator(k, ty, copy as i64);
        at.indexed(Index::Gpr(RAX), (bits as u32 / 8).max(1))
    }

    fn load_accumulators(&mut self) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for copy in self.copies.clone() {
                let from = self.current_accumulator(k, ty, copy);
                let r = self.new_reg(ty);
                self.target.load_accumulator(&mut self.asm, ty, r, from);
                self.set(a.param, copy, r);
            }
        }
    }

    fn store_accumulators(&mut self) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for copy in self.copies.clone() {
                let mut next = self.get(a.next, copy);
                if let Some(exec) = self.exec[copy] {
                    let old = self.get(a.param, copy);
                    let r = self.new_reg(ty);
                    self.target.select(&mut self.asm, ty, r, exec, next, old);
                    next = r;
                }
                let to = self.current_accumulator(k, ty, copy);
                self.target.store_accumulator(&mut self.asm, ty, next, to);
            }
        }
    }

    fn accumulators_to_registers(&mut self, copies: &[usize]) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for &copy in copies {
                let r = self.new_reg(ty);
                let from = self.accumulator(k, ty, copy as i64);
                self.target.load_accumulator(&mut self.asm, ty, r, from);
                self.set(a.param, copy, r);
            }
        }
    }

    fn step_accumulators(&mut self) {
        let accumulators = self.accumulators.clone();
        self.leave_carries(accumulators.iter().map(|a| (a.param, a.next)));
    }

    fn accumulators_to_memory(&mut self, copies: &[usize]) {
        for (k, a) in self.accumulators.clone().into_iter().enumerate() {
            let ty = self.body.ty(a.init);
            for &copy in copies {
                let r = self.get(a.param, copy);
                let to = self.accumulator(k, ty, copy as i64);
                self.target.store_accumulator(&mut self.asm, ty, r, to);
            }
        }
    }

    /// Combines all accumulators in the fixed order and stores the results.
    fn combine_all(&mut self) {
        let lanes = self.target.lanes();
        let mut first = 0;
        for r in self.body.reductions() {
            let count = self.body.accumulators() as i64 / lanes;
            let types: Vec<Ty> = r
                .accumulators
                .iter()
                .map(|a| self.body.ty(a.init))
                .collect();
            let mut state: Vec<Vec<Reg>> = Vec::new();
            for j in 0..count {
                let mut row = Vec::new();
                for (k, &ty) in types.iter().enumerate() {
                    let reg = self.new_reg(ty);
                    let from = self.accumulator(first + k, ty, j);
                    self.target.load_accumulator(&mut self.asm, ty, reg, from);
                    row.push(reg);
                }
                state.push(row);
            }
            let combine = |s: &mut Self, left: &[Reg], right: &[Reg]| -> Vec<Reg> {
                for (a, (&x, &y)) in r.accumulators.iter().zip(left.iter().zip(right)) {
                    s.set(a.pair.0, 0, x);
                    s.set(a.pair.1, 0, y);
                }
                s.block(r.combine);
                r.accumulators
                    .iter()
                    .map(|a| s.get(a.combined, 0))
                    .collect()
            };
            while state.len() > 1 {
                let right = state.split_off(state.len() / 2);
                state = state
                    .iter()
                    .zip(&right)
                    .map(|(x, y)| combine(self, x, y))
                    .collect();
            }
            let mut last = state.remove(0);
            let mut half = lanes / 2;
            while half > 0 {
                let mut turned = Vec::new();
                for (&x, &ty) in last.iter().zip(&types) {
                    let reg = self.new_reg(ty);
                    self.target.rotate(&mut self.asm, ty, reg, x, narrow(half));
                    turned.push(reg);
                }
                last = combine(self, &last, &turned);
                half /= 2;
            }
            for (a, &v) in r.accumulators.iter().zip(&last) {
                self.store_first(a.ty, &a.dest, v);
            }
            first += r.accumulators.len();
        }
    }
}

/// What an address shares with others that a loop advances alike: all but a constant copy that operands hold.
pub(super) fn cursor_key(addr: &Addr) -> Vec<i64> {
    let mut key = base_key(addr);
    for &(index, stride) in &addr.terms {
        if let LaneIndex::Loop(id) = index {
            key.extend([-1 - id.index() as i64, stride]);
        }
    }
    key
}

/// What an address shares with others: pointer, outer terms, and an offset that no operand can hold.
fn base_key(addr: &Addr) -> Vec<i64> {
    let far = if i32::try_from(addr.offset).is_ok() {
        0
    } else {
        addr.offset
    };
    let mut key = vec![addr.pointer.index() as i64, far];
    for &(index, stride) in &addr.terms {
        if let LaneIndex::Outer(k) = index {
            key.extend([i64::from(k), stride]);
        }
    }
    key
}

/// An offset that an instruction can hold, with those of neighbouring elements.
fn near(offset: i64) -> Option<i32> {
    let near = i32::try_from(offset).ok();
    near.filter(|near| near.unsigned_abs() < 1 << 30)
}
