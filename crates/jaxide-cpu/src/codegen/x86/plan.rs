//! Decisions about a body before any instruction is selected.

use super::across::{Across, across};
use super::bfloat16::Bfloats;
use super::halves;
use crate::lanes::{BinOp, BlockId, Body, For, If, Inst, LaneStep, Stmt, TerOp, Ty, UnOp, Value};
use crate::narrow;
use rustc_hash::FxHashMap as HashMap;

/// How a body is emitted.
pub(super) struct Plan {
    /// Registers of lanes that are worked on together.
    pub(super) copies: usize,
    /// Whether there is a loop without masks for as many lanes as fill all copies; what is left is masked in any case.
    pub(super) unmasked: bool,
    /// Whether what is left of that loop has one without masks for single copies: masks take time, and their stores are not read from for long.
    pub(super) rest_in_whole_registers: bool,
    /// Whether the copies advance operation by operation, or one after the other.
    pub(super) interleave: bool,
    /// Whether the main loop keeps the accumulators in registers: one for each copy.
    pub(super) accumulators_in_registers: bool,
    /// Negations that multiply-adds do on the way.
    pub(super) folded: Vec<bool>,
    /// How values differ from lane to lane.
    across: Vec<Across>,
    /// What is known of values that become bfloat16.
    pub(super) bfloats: Bfloats,
    /// Values that are held as binary16.
    pub(super) held: Vec<bool>,
}

/// The most copies that are worked on together.
pub(super) const MOST_COPIES: usize = 8;
/// The most of them that are no registers of an accumulator.
const MOST_BESIDE_EACH_OTHER: usize = 4;
/// The most operations of all copies together in the main loop of a reduction.
const REPEATED_OPERATIONS: usize = 256;
/// The most operations of an arm that runs whether or not a lane takes it.
const CHEAP_ARM: usize = 6;
/// Registers that are left to others than the values of a loop's turn.
const OTHER_REGISTERS: usize = 6;

/// The most operations of a body without loops of which two copies advance operation by operation, so that there is not too much code, and the
/// turns that are worth it.
const MOST_BESIDE: usize = 128;
const MANY_TURNS: i64 = 64;

/// Bodies with loops of more operations are only made masked, so that there is half the code.
const MADE_TWICE: usize = 256;

/// The plan for a machine with so many lanes in a register, and so many registers, which computes with `halves` or not. `all` is how many lanes there
/// are, if that is known.
pub(super) fn plan(body: &Body, all: Option<i64>, lanes: i64, registers: u8, halves: bool) -> Plan {
    let folded = folded_negations(body);
    let mut shape = Shape::default();
    shape.add(body, BlockId::LANES);
    let reduces = !body.reductions().is_empty();
    let accumulators = narrow(body.accumulators() as i64 / lanes);
    // Where a register has few lanes, there are more of them.
    let in_registers = accumulators
        * body
            .reductions()
            .iter()
            .map(|r| r.accumulators.len())
            .sum::<usize>();
    let accumulators_in_registers = reduces
        && !shape.loops
        && shape.operations * accumulators <= REPEATED_OPERATIONS
        && (accumulators <= MOST_BESIDE_EACH_OTHER
            || accumulators <= MOST_COPIES
                && in_registers + live_in(body, BlockId::LANES, &folded) <= registers.into());
    let copies = if accumulators_in_registers {
        accumulators
    } else if shape.loops {
        let live = pressure(body, BlockId::LANES, &folded).max(1);
        let available = usize::from(registers) - OTHER_REGISTERS;
        if live * 4 <= available {
            4
        } else if live * 2 <= available {
            2
        } else {
            1
        }
    } else {
        match shape.operations {
            0..=6 => 4,
            7..=16 => 2,
            _ => 1,
        }
    };
    // What waits for each other in one copy leaves time for another.
    let beside = !shape.loops && !reduces && copies == 1 && {
        let enough = all.is_none_or(|all| all >= MANY_TURNS * lanes);
        let live = live_in(body, BlockId::LANES, &folded);
        // Constants are operands in memory where registers are few.
        let others = if registers > 16 { OTHER_REGISTERS } else { 0 };
        enough && shape.operations <= MOST_BESIDE && live * 2 + others <= registers.into()
    };
    let copies = if beside { 2 } else { copies };
    let interleave = shape.loops || beside;
    let filled = |copies: usize| all.is_none_or(|all| all >= copies as i64 * lanes);
    // More copies than there are lanes for would be masked.
    let copies = if interleave && !filled(copies) {
        (1..copies)
            .rev()
            .find(|&copies| filled(copies))
            .unwrap_or(1)
    } else {
        copies
    };
    let unmasked = !shape.loops || filled(copies) && shape.operations <= MADE_TWICE;
    Plan {
        copies,
        unmasked,
        rest_in_whole_registers: copies > 1 && !interleave && !reduces,
        interleave,
        accumulators_in_registers,
        folded,
        across: across(body),
        // AVX2, whose registers are half as many, has no instruction for extrema as they are here.
        bfloats: Bfloats::of(body, registers <= 16),
        held: if halves {
            halves::held(body, all == Some(1))
        } else {
            vec![false; body.values().len()]
        },
    }
}

impl Plan {
    /// Whether a value is one more in each lane than in the one before.
    pub(super) fn counts_lanes(&self, v: Value) -> bool {
        self.across[v.index()] == Across::Counts
    }

    /// Whether a value is known to be the same in all lanes.
    pub(super) fn is_same(&self, v: Value) -> bool {
        self.across[v.index()] == Across::Same
    }

    /// Whether an arm is better executed in vain than jumped over. Not where all lanes go one way and memory is touched: what the other
    /// arm touches may be far from any array, and to find that no lane needs a page which is not there takes a processor a microsecond.
    pub(super) fn cheap(&self, body: &Body, branch: &If, arm: BlockId) -> bool {
        let stmts = &body.blocks()[arm.index()].stmts;
        let touches = |s: &Stmt| match s {
            Stmt::Let(v) => matches!(body.inst(*v), Inst::Load(..)),
            Stmt::Store { .. } => true,
            Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => false,
        };
        if self.is_same(branch.cond) && stmts.iter().any(touches) {
            return false;
        }
        stmts.len() <= CHEAP_ARM
            && stmts.iter().all(|s| match s {
                // An address that is the same for all lanes may be valid only if some lane needs it.
                Stmt::Let(v) => match body.inst(*v) {
                    Inst::Load(_, addr) => addr.lane != LaneStep::Uniform,
                    _ => true,
                },
                Stmt::Store { .. } => true,
                Stmt::For(_) | Stmt::While(_) | Stmt::If(_) => false,
            })
    }

    /// Next values of a loop that may be computed right into the register of the carried value, and the latter: the carried
    /// value is not used after the one instruction that computes them.
    pub(super) fn in_place(&self, body: &Body, f: &For) -> HashMap<Value, Value> {
        let stmts = &body.blocks()[f.body.index()].stmts;
        let mut into = HashMap::default();
        for c in &f.carries {
            let Some(at) = stmts
                .iter()
                .position(|s| matches!(s, Stmt::Let(v) if *v == c.next))
            else {
                continue;
            };
            let used_later = stmts[at + 1..].iter().any(|s| {
                let mut used = false;
                self.uses(body, s, &mut |v| used |= v == c.param);
                used
            });
            let shared = f
                .carries
                .iter()
                .filter(|d| d.next == c.next || d.next == c.param)
                .count()
                > 1;
            let kept = f.carries.iter().any(|d| d.next == c.param);
            let alike = self.held[c.next.index()] == self.held[c.param.index()];
            if alike && !used_later && !shared && !kept && single_instruction(body, c.next) {
                into.insert(c.next, c.param);
            }
        }
        into
    }

    /// Calls `f` with every value that a statement reads, inner blocks and operands of folded negations included.
    fn uses(&self, body: &Body, stmt: &Stmt, f: &mut impl FnMut(Value)) {
        body.each_use(stmt, &mut |v| {
            let mut v = v;
            f(v);
            while self.folded[v.index()] {
                let Inst::Un(_, inner) = body.inst(v) else {
                    unreachable!("negations are folded")
                };
                v = *inner;
                f(v);
            }
        });
    }
}

#[derive(Default)]
struct Shape {
    operations: usize,
    loops: bool,
}

impl Shape {
    fn add(&mut self, body: &Body, block: BlockId) {
        for stmt in &body.blocks()[block.index()].stmts {
            self.operations += 1;
            match stmt {
                Stmt::Let(_) | Stmt::Store { .. } => {}
                Stmt::For(f) => {
                    self.loops = true;
                    self.add(body, f.body);
                }
                Stmt::While(w) => {
                    self.loops = true;
                    self.add(body, w.head);
                    self.add(body, w.body);
                }
                // A rare arm does not count: it stands in the way once.
                Stmt::If(i) => {
                    let mut inner = Shape::default();
                    inner.add(body, i.then);
                    inner.add(body, i.otherwise);
                    self.loops |= inner.loops;
                    self.operations += inner.operations.min(CHEAP_ARM);
                }
            }
        }
    }
}

/// The most values that are alive at once inside the loops of a block.
fn pressure(body: &Body, block: BlockId, folded: &[bool]) -> usize {
    let stmts = &body.blocks()[block.index()].stmts;
    let inside = |b: BlockId, carried: usize| {
        pressure(body, b, folded).max(carried + live_in(body, b, folded))
    };
    stmts
        .iter()
        .map(|s| match s {
            Stmt::Let(_) | Stmt::Store { .. } => 0,
            Stmt::For(f) => inside(f.body, f.carries.len() / 2),
            Stmt::While(w) => inside(w.body, w.carries.len()).max(inside(w.head, w.carries.len())),
            Stmt::If(i) => pressure(body, i.then, folded).max(pressure(body, i.otherwise, folded)),
        })
        .max()
        .unwrap_or(0)
}

/// The most values of a block's own that are alive at once, and those from outside that it uses.
fn live_in(body: &Body, block: BlockId, folded: &[bool]) -> usize {
    let stmts = &body.blocks()[block.index()].stmts;
    let mut last: HashMap<Value, usize> = HashMap::default();
    for (k, s) in stmts.iter().enumerate() {
        body.each_use(s, &mut |v| {
            if !matches!(body.inst(v), Inst::Const(_)) {
                last.insert(v, k);
            }
        });
    }
    let defined = |s: &Stmt| match s {
        Stmt::Let(v) if !folded[v.index()] => Some(*v),
        _ => None,
    };
    let own: Vec<Option<Value>> = stmts.iter().map(defined).collect();
    let mut outside = last.len();
    // How many of the block's own values each statement is the last to use.
    let mut dying = vec![0usize; stmts.len()];
    for v in own.iter().flatten() {
        if let Some(&at) = last.get(v) {
            outside -= 1;
            dying[at] += 1;
        }
    }
    let mut alive = 0usize;
    let mut most = 0;
    for (v, dying) in own.iter().zip(dying) {
        alive += usize::from(v.is_some_and(|v| last.contains_key(&v)));
        most = most.max(alive);
        alive -= dying;
    }
    most + outside
}

/// Float negations that only multiply-adds use.
fn folded_negations(body: &Body) -> Vec<bool> {
    let negation =
        |v: Value| matches!(body.inst(v), Inst::Un(UnOp::Neg, _)) && body.ty(v).is_float();
    let mut folded: Vec<bool> = (0..body.values().len())
        .map(|k| negation(Value::from_index(k)))
        .collect();
    let mut keep = |v: Value| folded[v.index()] = false;
    for block in body.blocks() {
        for stmt in &block.stmts {
            if let Stmt::Let(v) = stmt {
                match body.inst(*v) {
                    Inst::Ter(TerOp::Fma, ..) => {}
                    inst => inst.operands(&mut keep),
                }
                continue;
            }
            // Inner blocks are walked by themselves.
            match stmt {
                Stmt::Let(_) => {}
                Stmt::Store { value, .. } => keep(*value),
                Stmt::For(l) => l.carries.iter().for_each(|c| {
                    keep(c.init);
                    keep(c.next);
                }),
                Stmt::While(w) => w.carries.iter().for_each(|c| {
                    keep(c.init);
                    keep(c.next);
                }),
                Stmt::If(i) => i.arms.iter().for_each(|a| {
                    keep(a.then);
                    keep(a.otherwise);
                }),
            }
        }
    }
    for a in body.reductions().iter().flat_map(|r| &r.accumulators) {
        [a.init, a.next, a.combined].into_iter().for_each(&mut keep);
    }
    folded
}

/// Whether the value takes one instruction, which reads its operands before it writes.
fn single_instruction(body: &Body, v: Value) -> bool {
    use BinOp::*;
    let ty = body.ty(v);
    if ty == Ty::Mask {
        return false;
    }
    match body.inst(v) {
        Inst::Ter(..) => true,
        Inst::Bin(op, ..) if ty.is_float() => matches!(op, Add | Sub | Mul | Div | PickLt | PickGt),
        Inst::Bin(op, ..) => matches!(op, Add | Sub | And | Or | Xor),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lanes::{Access, Addr, Builder, MemTy, Trip};

    /// A loop that carries so many values, each of which depends on all others.
    fn carrying(count: usize) -> Body {
        let mut b = Builder::new("carrying");
        let p = b.pointer(Access::ReadOnly);
        let at = |k: usize| Addr::contiguous(p, MemTy::F32).plus(4 * k as i64);
        let init: Vec<Value> = (0..count).map(|k| b.load(MemTy::F32, at(k))).collect();
        let last = b.for_loop(Trip::Const(9), &init, |b, _, c| {
            let mut sum = c[0];
            for &v in &c[1..] {
                sum = b.add(sum, v);
            }
            c.iter().map(|&v| b.mul(v, sum)).collect()
        });
        for v in last {
            let out = b.pointer(Access::ReadWrite);
            b.store(MemTy::F32, Addr::contiguous(out, MemTy::F32), v);
        }
        b.finish().unwrap()
    }

    /// The copies that are worked on together have room beside what else is in registers.
    #[test]
    fn the_copies_of_a_loop_fit_the_registers() {
        for registers in [16u8, 32] {
            let mut before = usize::MAX;
            for count in 1..20 {
                let body = carrying(count);
                let copies = plan(&body, None, 8, registers, false).copies;
                let room = usize::from(registers) - OTHER_REGISTERS;
                assert!(
                    copies == 1 || copies * count <= room,
                    "{copies} copies of {count} values, {registers} registers"
                );
                assert!(copies <= before, "{count} values, {registers} registers");
                before = copies;
            }
            assert_eq!(before, 1);
            assert_eq!(plan(&carrying(1), None, 8, registers, false).copies, 4);
            // No more than there are lanes for.
            assert_eq!(plan(&carrying(1), Some(16), 8, registers, false).copies, 2);
            assert_eq!(plan(&carrying(1), Some(5), 8, registers, false).copies, 1);
        }
    }
}
