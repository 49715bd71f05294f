//! Wide vector code for x86-64: lane bodies as AVX-512 or AVX2 machine code.
//!
//! A body is planned ([`plan`]) and selected into instructions on virtual registers ([`lir`]): the [`Emitter`] holds what both instruction
//! sets share, and what differs is behind [`target`], in [`avx2`] and [`avx512`]. Then registers are allocated by linear scan ([`alloc`]), and
//! the instructions, rows of a [`table`], encoded ([`encode`]). Code and constants come out as one position-independent image.
//!
//! Several *copies*, one register of lanes each, may be worked on together, to fill the time that dependent operations wait.
//! A straight-line body has a main loop without masks and a loop for the rest of the lanes; a body with loops inside has one loop whose
//! last turn is masked, since those loops cost the same for one lane as for all.

mod across;
mod address;
mod alloc;
mod avx2;
mod avx512;
mod bfloat16;
mod bytes;
mod control;
mod encode;
mod few;
mod halves;
mod integer;
mod lir;
mod memory;
mod ops;
mod plan;
mod reduce;
mod rows;
mod spread;
mod table;
mod target;
mod words;

use super::emit::Emit;
use super::error::CompileError;
use super::lanes::{Defined, Vectors};
use crate::isa::Isa;
use crate::lanes::{Accumulator, BlockId, Body, Inst, LoopId, Ty, Value};
use crate::lower::emit::Calls;
use crate::narrow;
use cranelift_module::{FuncId, Module};
use encode::Image;
use halves::Halves;
use iced_x86::{Code, Register};
use lir::*;
use plan::{MOST_COPIES, Plan, plan};
use rustc_hash::FxHashMap as HashMap;
use target::Target;

use Register::{RAX, RDX};

/// Wide loads of constants, which stand behind the code, do not cross lines of the cache.
const CODE_ALIGNMENT: u64 = 64;

/// Defines a declared function as that of a body, for AVX-512 or AVX2; `calls` is what is known of all calls.
pub(super) fn define(
    module: &mut dyn Module,
    function: FuncId,
    body: &Body,
    calls: Calls,
    Vectors {
        isa,
        popcnt,
        halves,
    }: Vectors,
) -> Result<Defined, CompileError> {
    let body = &*body.multiplied();
    let wide = body.is_wide();
    let image = match isa {
        Isa::Portable => return Err(CompileError::Unavailable(isa)),
        Isa::Avx2 => image(body, calls, &avx2::Avx2 { wide }),
        Isa::Avx512 => {
            // Few lanes fill half a register, of which divisions and gathers take half the time.
            // Their sums are kept in whole ones.
            let few = calls.lanes.is_some_and(|lanes| lanes <= avx512::WIDE_LANES);
            let wide = wide || few && body.reductions().is_empty();
            image(
                body,
                calls,
                &avx512::Avx512 {
                    wide,
                    popcnt,
                    halves,
                },
            )
        }
    }?;
    module.define_function_bytes(function, CODE_ALIGNMENT, &image.bytes, &[])?;
    Ok(Defined {
        bytes: image.bytes.len(),
        instructions: image.instructions,
        stack: image.stack,
    })
}

fn image<T: Target>(body: &Body, calls: Calls, target: &T) -> Result<Image, CompileError> {
    let asm = emit(body, calls, target);
    let allocation = alloc::allocate(&asm, T::VECTORS);
    encode::encode(&asm, &allocation, T::EVEX)
}

/// The program of a body.
fn emit<T: Target>(body: &Body, calls: Calls, target: &T) -> Asm {
    let lanes = calls.lanes.and_then(|lanes| i64::try_from(lanes).ok());
    // Few lanes fill a register of wider ones.
    let many = lanes.is_none_or(|lanes| lanes > target.lanes());
    // Without masks for bytes, what is left over is computed of whole registers, and cannot be combined.
    let fits = many && (T::EVEX || body.reductions().is_empty());
    let on_bytes = if fits { body.on_bytes() } else { None };
    match &on_bytes {
        Some(body) => Emitter::new(body, lanes, &T::BYTES).run(calls.turns),
        None => Emitter::new(body, lanes, target).run(calls.turns),
    }
}

/// Emits one body.
struct Emitter<'a, T> {
    body: &'a Body,
    target: &'a T,
    asm: Asm,
    /// Where the frame keeps the addresses of the three argument tables.
    tables: i32,
    start: Var,
    exit: Label,
    plan: Plan,
    /// Instructions on binary16, where the machine has them.
    halves: Option<Halves>,
    accumulators: Vec<&'a Accumulator>,
    /// Where the frame keeps each accumulator.
    buffers: Vec<i32>,
    /// Addresses without lane and loop terms.
    bases: HashMap<Vec<i64>, Var>,
    reps: Vec<[Option<Reg>; MOST_COPIES]>,
    /// Of divisors that are the same in all lanes, whether signed: what is multiplied by instead.
    reciprocals: HashMap<(Value, bool), Reg>,
    /// Values that are computed right into a carried register.
    into: HashMap<Value, Value>,
    copies: Vec<usize>,
    exec: [Option<Reg>; MOST_COPIES],
    /// How many lanes there are, where that is known.
    all: Option<i64>,
    /// The mask of all lanes that there are, where it is one register's.
    tail: Option<Reg>,
    /// How many lanes it has, where that is known.
    left: Option<i64>,
    counters: Vec<Var>,
    /// Addresses that loops advance from turn to turn, but for constants and lane steps.
    cursors: HashMap<Vec<i64>, Var>,
    /// The loops around, outermost first.
    open: Vec<LoopId>,
    /// Whether all lanes are run again for each value of an outer index.
    again: bool,
}

impl<'a, T: Target> Emitter<'a, T> {
    /// Of a body, of which so many lanes are known to be there.
    fn new(body: &'a Body, lanes: Option<i64>, target: &'a T) -> Self {
        let mut asm = Asm::new(!T::EVEX);
        let halves = target.halves();
        let mut plan = plan(body, lanes, target.lanes(), T::VECTORS, halves.is_some());
        // Of bytes, only what is left after whole registers is masked, in one copy.
        if T::ON_BYTES {
            plan.unmasked = true;
        }
        let tables = asm.buffer(64);
        let start = asm.var();
        let exit = asm.label();
        let accumulators: Vec<&Accumulator> = body
            .reductions()
            .iter()
            .flat_map(|r| &r.accumulators)
            .collect();
        let bytes =
            |ty: Ty| target.accumulator_bits(ty) * narrow::<_, i32>(body.accumulators()) / 8;
        let buffers = accumulators
            .iter()
            .map(|a| asm.buffer(bytes(body.ty(a.init))))
            .collect();
        Emitter {
            body,
            target,
            asm,
            tables,
            start,
            exit,
            plan,
            halves,
            accumulators,
            buffers,
            bases: HashMap::default(),
            reps: vec![[None; MOST_COPIES]; body.values().len()],
            reciprocals: HashMap::default(),
            into: HashMap::default(),
            copies: vec![0],
            exec: [None; MOST_COPIES],
            all: lanes,
            tail: None,
            left: None,
            counters: vec![LANE; body.loop_count()],
            cursors: HashMap::default(),
            open: Vec::new(),
            again: false,
        }
    }

    /// All lanes, again for as many values of an outer index as its table says.
    fn run(mut self, turns: Option<u32>) -> Asm {
        self.enter();
        self.find_bases();
        match turns {
            None => self.lanes(),
            Some(index) => {
                self.again = true;
                let again = self.asm.label();
                self.in_loop(|s| {
                    s.asm.push(Lir::Label(again));
                    s.lanes();
                    s.next_turn(index, again);
                });
            }
        }
        self.asm.push(Lir::Label(self.exit));
        self.asm
    }

    /// Keeps what the call was given; nothing is done for no lanes.
    fn enter(&mut self) {
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
    }

    /// Goes back to `again` with the next value of an outer index, if there is one left and the run goes on.
    fn next_turn(&mut self, index: u32, again: Label) {
        // Lanes may have long loops of their own.
        self.leave_if_stopped(self.exit);
        let (start, table) = (Int::Var(self.start), Mem::frame(self.tables + 16));
        self.asm.int(Code::Mov_r64_rm64, &[Int::Gpr(RDX), start]);
        self.asm
            .int(Code::Mov_rm64_r64, &[Int::Var(LANE), Int::Gpr(RDX)]);
        self.advance_bases(index);
        self.asm
            .int(Code::Mov_r64_rm64, &[Int::Gpr(RAX), Int::Mem(table)]);
        let entry = |k: u32| Int::Mem(Mem::gpr(RAX, 8 * k as i32));
        let left = narrow(self.body.outer() as i64);
        self.asm
            .int(Code::Add_rm64_imm32, &[entry(index), Int::Imm(1)]);
        self.asm
            .int(Code::Sub_rm64_imm32, &[entry(left), Int::Imm(1)]);
        self.asm.push(Lir::Branch(Cond::NotEqual, again));
    }

    fn lanes(&mut self) {
        self.block(BlockId::PROLOGUE);
        self.find_reciprocals();
        if let (true, Some(all)) = (self.plan.accumulators_in_registers, self.all) {
            self.reduce_all(all);
            self.combine_all(true);
            return;
        }
        self.initialise_accumulators();
        if let Some(all) = self.few() {
            self.once(all);
        } else if self.plan.unmasked {
            self.main_loop(self.plan.copies);
            if self.plan.rest_in_whole_registers {
                self.main_loop(1);
            }
            self.masked_loop(1);
        } else {
            self.masked_loop(self.plan.copies);
        }
        self.combine_all(false);
    }

    /// All lanes of a reduction, where they are known: accumulators stay in registers, and what is left over needs no loop.
    fn reduce_all(&mut self, all: i64) {
        let lanes = self.target.lanes();
        let copies: Vec<usize> = (0..self.plan.copies).collect();
        let step = copies.len() as i64 * lanes;
        self.accumulators_from_start(&copies);
        let (turns, rest) = (all / step, all % step);
        if turns > 0 {
            let head = self.asm.label();
            self.in_loop(|s| {
                s.asm.push(Lir::Label(head));
                for &copy in &copies {
                    s.copies = vec![copy];
                    s.block(BlockId::LANES);
                    s.step_accumulators();
                }
                s.asm
                    .int(Code::Add_rm64_imm32, &[Int::Var(LANE), Int::Imm(step)]);
                if turns > 1 {
                    let end = turns * step;
                    s.asm
                        .int(Code::Mov_r64_imm64, &[Int::Gpr(RAX), Int::Imm(end)]);
                    s.asm
                        .int(Code::Cmp_rm64_r64, &[Int::Var(LANE), Int::Gpr(RAX)]);
                    s.asm.push(Lir::Branch(Cond::Less, head));
                }
            });
        }
        for copy in 0..narrow::<_, usize>((rest + lanes - 1) / lanes) {
            self.copies = vec![copy];
            let left = rest - copy as i64 * lanes;
            self.mask_all_but(left, copy);
            self.block(BlockId::LANES);
            self.step_accumulators();
        }
        self.mask_none();
        self.copies = vec![0];
    }

    /// So few lanes, which one register has.
    fn once(&mut self, all: i64) {
        self.mask_all_but(all, 0);
        self.load_accumulators();
        self.block(BlockId::LANES);
        self.store_accumulators();
        self.mask_none();
    }

    /// Masks all lanes of a copy but so many, if it has more.
    fn mask_all_but(&mut self, left: i64, copy: usize) {
        if left >= self.target.lanes() {
            return;
        }
        let ones = i64::MAX >> (63 - left);
        self.asm
            .int(Code::Mov_r64_imm64, &[Int::Gpr(RDX), Int::Imm(ones)]);
        let mask = self.asm.reg(self.target.class(Ty::Mask));
        self.target.tail_mask(&mut self.asm, mask, 0);
        self.exec[copy] = Some(mask);
        self.tail = Some(mask);
        self.left = Some(left);
    }

    fn mask_none(&mut self) {
        self.exec = [None; MOST_COPIES];
        self.tail = None;
        self.left = None;
    }

    /// How many lanes a mask has, where it is that of all lanes that there are and their number is known.
    fn lanes_of(&self, exec: Option<Reg>) -> Option<i64> {
        self.left.filter(|_| exec.is_some() && exec == self.tail)
    }

    /// The loop without masks, as long as there are lanes for so many copies.
    fn main_loop(&mut self, copies: usize) {
        let step = copies as i64 * self.target.lanes();
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
        let copies: Vec<usize> = (0..copies).collect();
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
        if self.plan.unmasked {
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
            s.tail = s.exec[0].filter(|_| copies == 1);
            s.left = s.rest_of_whole_registers();
            s.load_accumulators();
            s.block(BlockId::LANES);
            s.store_accumulators();
            s.asm
                .int(Code::Add_rm64_imm32, &[Int::Var(LANE), Int::Imm(lanes)]);
            s.asm.push(Lir::Jump(head));
        });
        self.asm.push(Lir::Label(done));
        self.asm.current_frequency = outside;
        self.mask_none();
        self.copies = vec![0];
    }

    /// How many lanes are left after loops over whole registers, where that is known.
    fn rest_of_whole_registers(&self) -> Option<i64> {
        let whole =
            self.plan.unmasked && (self.plan.copies == 1 || self.plan.rest_in_whole_registers);
        let rest = self.all.filter(|_| whole)? % self.target.lanes();
        (rest > 0).then_some(rest)
    }

    /// How many lanes there are, where they are known to fit in one register.
    fn few(&self) -> Option<i64> {
        self.all.filter(|&all| all <= self.target.lanes())
    }

    fn in_loop(&mut self, f: impl FnOnce(&mut Self)) {
        let start = self.asm.begin_loop();
        f(self);
        self.asm.end_loop(start);
    }

    /// The register of a value.
    fn get(&mut self, v: Value, copy: usize) -> Reg {
        let ty = self.body.ty(v);
        if let (Inst::Const(bits), true) = (self.body.inst(v), ty != Ty::Mask) {
            return self.target.splat(&mut self.asm, ty, *bits);
        }
        // What is the same in all copies is computed once.
        let rep = &self.reps[v.index()];
        rep[copy].or(rep[0]).expect("verified: defined before use")
    }

    fn set(&mut self, v: Value, copy: usize, reg: Reg) {
        self.reps[v.index()][copy] = Some(reg);
    }

    fn new_reg(&mut self, ty: Ty) -> Reg {
        let class = self.target.class(ty);
        self.asm.reg(class)
    }

    /// The register that the definition of `v` writes.
    fn dest(&mut self, v: Value, copy: usize) -> Reg {
        match self.into.get(&v) {
            Some(&param) => self.get(param, copy),
            None => self.reg_of(v),
        }
    }

    /// Calls `f` with each copy and the register that the definition of `v` writes for it.
    fn each_copy(&mut self, v: Value, mut f: impl FnMut(&mut Self, usize, Reg)) {
        for copy in self.copies.clone() {
            let dst = self.dest(v, copy);
            f(self, copy, dst);
            self.set(v, copy, dst);
        }
    }
}

impl<'b, T: Target> Emit<'b> for Emitter<'b, T> {
    fn body(&self) -> &'b Body {
        self.body
    }

    /// What a statement reserves holds what goes from one of its instructions to another.
    fn in_statement(&mut self, emit: impl FnOnce(&mut Self)) {
        let in_use = self.asm.in_use();
        emit(self);
        self.asm.release(in_use);
    }
}
