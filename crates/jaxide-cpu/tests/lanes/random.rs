//! Random bodies: whatever operations, loops and branches are put together, every emitter does what the evaluator does.

use super::machine::{Args, Region, Rng, check, samples};
use jaxide_cpu::lanes::{
    Access, Addr, BinOp, Body, Builder, Index, MemTy, TerOp, Trip, Ty, UnOp, Value,
};
use proptest::prelude::*;

/// Regions are this long.
const LEN: usize = 90;

/// One step of a body under construction; numbers choose among the values there are.
#[derive(Clone, Debug)]
enum Step {
    Op(usize, [usize; 3]),
    Constant(usize, u64),
    For(u64, Vec<Step>),
    While(usize, Vec<Step>),
    If(usize, Vec<Step>, Vec<Step>),
}

/// Operations; but `scale`, whose operands are limited, and reading a float's bits, since those of NaN are anyone's.
#[derive(Clone, Copy, Debug)]
enum Op {
    Un(UnOp, Ty),
    Bin(BinOp),
    Ter(TerOp),
}

fn operations() -> Vec<Op> {
    use BinOp::*;
    use UnOp::*;
    let types = [Ty::F32, Ty::F64, Ty::I32, Ty::I64, Ty::Mask];
    let unary = [
        Neg, Abs, Not, Sqrt, Floor, Ceil, RoundEven, Trunc, Clz, Popcount, SToF, UToF, FToS, FToU,
        FToF, SExt, ZExt, Low, RoundF16, RoundBf16,
    ];
    let binary = [
        Add, Sub, Mul, Div, Min, Max, PickLt, PickGt, DivS, DivU, RemS, RemU, MulHiS, MulHiU, MinS,
        MaxS, MinU, MaxU, And, Or, Xor, Shl, ShrS, ShrU, Eq, Ne, Lt, Le, LtU, LeU,
    ];
    let unary = unary
        .into_iter()
        .flat_map(|op| types.map(|to| Op::Un(op, to)));
    unary
        .chain(binary.map(Op::Bin))
        .chain([TerOp::Fma, TerOp::Select].map(Op::Ter))
        .collect()
}

/// Arithmetic alone, most of it what instructions are merged from: values in registers that others are computed into.
fn arithmetic() -> Vec<Op> {
    let negations = [Ty::F32, Ty::F64].map(|ty| Op::Un(UnOp::Neg, ty));
    let binary = [
        BinOp::Add,
        BinOp::Sub,
        BinOp::Mul,
        BinOp::Mul,
        BinOp::PickLt,
    ]
    .map(Op::Bin);
    let ternary = [TerOp::Fma, TerOp::Fma, TerOp::Fma, TerOp::Select].map(Op::Ter);
    let all = negations.into_iter().chain(binary).chain(ternary);
    all.collect()
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = 0usize..1000;
    let leaf = prop_oneof![
        8 => (number.clone(), [number.clone(), number.clone(), number.clone()])
            .prop_map(|(op, args)| Step::Op(op, args)),
        1 => (number.clone(), any::<u64>()).prop_map(|(ty, bits)| Step::Constant(ty, bits)),
    ];
    let step = leaf.prop_recursive(3, 40, 6, move |inner| {
        let block = prop::collection::vec(inner, 1..6);
        prop_oneof![
            (0u64..5, block.clone()).prop_map(|(turns, body)| Step::For(turns, body)),
            (0usize..1000, block.clone()).prop_map(|(pick, body)| Step::While(pick, body)),
            (0usize..1000, block.clone(), block)
                .prop_map(|(pick, then, other)| Step::If(pick, then, other)),
        ]
    });
    prop::collection::vec(step, 1..14)
}

const INPUTS: [MemTy; 8] = [
    MemTy::F32,
    MemTy::I32,
    MemTy::Bool,
    MemTy::F16,
    MemTy::U8,
    MemTy::F32,
    MemTy::F64,
    MemTy::I64,
];

/// Builds a body with inputs of these types.
struct Maker {
    b: Builder,
    operations: Vec<Op>,
    values: Vec<Value>,
}

impl Maker {
    /// The value with this number among those that fit.
    fn pick(&self, number: usize, fits: impl Fn(Ty) -> bool) -> Option<Value> {
        let fitting: Vec<Value> = self
            .values
            .iter()
            .copied()
            .filter(|&v| fits(self.b.ty(v)))
            .collect();
        (!fitting.is_empty()).then(|| fitting[number % fitting.len()])
    }

    fn op(&mut self, op: Op, [x, y, z]: [usize; 3]) -> Option<Value> {
        match op {
            Op::Un(op, to) => {
                let a = self.pick(x, |ty| op.accepts(ty, to))?;
                Some(self.b.un(op, to, a))
            }
            Op::Bin(op) => {
                let a = self.pick(x, |ty| op.accepts(ty))?;
                let own = self.b.ty(a);
                let c = self.pick(y, |ty| ty == own)?;
                Some(self.b.bin(op, a, c))
            }
            Op::Ter(op) => {
                let c = self.pick(z, |ty| op != TerOp::Fma || ty.is_float())?;
                let own = self.b.ty(c);
                let a = self.pick(x, |ty| op.accepts(ty, own, own))?;
                let other = self.pick(y, |ty| ty == own)?;
                Some(self.b.ter(op, a, other, c))
            }
        }
    }

    fn block(&mut self, steps: &[Step]) {
        for step in steps {
            match step {
                Step::Op(op, args) => {
                    let op = self.operations[op % self.operations.len()];
                    let made = self.op(op, *args);
                    self.values.extend(made);
                }
                Step::Constant(ty, bits) => {
                    let ty = self.b.ty(self.values[ty % self.values.len()]);
                    let value = self.b.constant(ty, *bits);
                    self.values.push(value);
                }
                Step::For(turns, body) => self.for_loop(*turns, body),
                Step::While(pick, body) => self.while_loop(*pick, body),
                Step::If(pick, then, other) => self.branch(*pick, then, other),
            }
        }
    }

    /// Runs `f` on the inside of a block; values made there are forgotten.
    fn inside<R>(&mut self, b: &mut Builder, f: impl FnOnce(&mut Self) -> R) -> R {
        let known = self.values.len();
        std::mem::swap(&mut self.b, b);
        let result = f(self);
        std::mem::swap(&mut self.b, b);
        self.values.truncate(known);
        result
    }

    /// Values of the types of `like`, the newest last; each another one while there are others.
    fn last(&self, like: &[Value]) -> Vec<Value> {
        let mut last: Vec<Value> = Vec::new();
        for &v in like.iter().rev() {
            let same = |other: &Value| self.b.ty(*other) == self.b.ty(v);
            let newest = self.values.iter().rev().copied().filter(same);
            let other = newest.clone().find(|other| !last.contains(other));
            last.push(other.or_else(|| newest.clone().next()).unwrap_or(v));
        }
        last.reverse();
        last
    }

    fn carried(&self) -> Vec<Value> {
        self.values.iter().rev().take(3).copied().collect()
    }

    fn for_loop(&mut self, turns: u64, body: &[Step]) {
        let init = self.carried();
        let mut b = std::mem::replace(&mut self.b, Builder::new(""));
        let results = b.for_loop(Trip::Const(turns), &init, |b, turn, params| {
            self.inside(b, |maker| {
                maker.values.extend(params);
                let index = maker.b.index(Ty::I32, turn);
                maker.values.push(index);
                maker.block(body);
                maker.last(params)
            })
        });
        self.b = b;
        self.values.extend(results);
    }

    /// A loop of at most seven turns, as many as the bits of a value say.
    fn while_loop(&mut self, pick: usize, body: &[Step]) {
        let Some(limit) = self.pick(pick, |ty| ty == Ty::I32) else {
            return;
        };
        let seven = self.b.i32(7);
        let (limit, zero, one) = (self.b.and(limit, seven), self.b.i32(0), self.b.i32(1));
        let mut init = vec![zero];
        init.extend(self.carried());
        let mut b = std::mem::replace(&mut self.b, Builder::new(""));
        let results = b.while_loop(
            &init,
            |b, params| b.lt(params[0], limit),
            |b, params| {
                self.inside(b, |maker| {
                    maker.values.extend(params);
                    maker.block(body);
                    let mut next = maker.last(params);
                    next[0] = maker.b.add(params[0], one);
                    next
                })
            },
        );
        self.b = b;
        self.values.extend(results);
    }

    fn branch(&mut self, pick: usize, then: &[Step], other: &[Step]) {
        let Some(cond) = self.pick(pick, |ty| ty == Ty::Mask) else {
            return;
        };
        let like = self.carried();
        let mut b = std::mem::replace(&mut self.b, Builder::new(""));
        let this = std::cell::RefCell::new(self);
        let arm = |b: &mut Builder, steps: &[Step]| {
            this.borrow_mut().inside(b, |maker| {
                maker.block(steps);
                maker.last(&like)
            })
        };
        let results = b.if_lanes(cond, |b| arm(b, then), |b| arm(b, other));
        let this = this.into_inner();
        this.b = b;
        this.values.extend(results);
    }
}

/// The body of a recipe of these operations, and its memory.
fn make(inputs: &[MemTy], operations: Vec<Op>, steps: &[Step], seed: u64) -> (Body, Vec<Region>) {
    let mut rng = Rng(seed);
    let mut b = Builder::new("random");
    let (mut values, mut regions) = (Vec::new(), Vec::new());
    for &mem in inputs {
        let pointer = b.pointer(Access::ReadOnly);
        values.push(b.load(mem, Addr::contiguous(pointer, mem)));
        let mut region = samples(mem, LEN, &mut rng);
        if mem == MemTy::Bool {
            region.bytes.iter_mut().for_each(|byte| *byte &= 1);
        }
        regions.push(region);
    }
    values.insert(0, b.index(Ty::I32, Index::Lane));
    let mut maker = Maker {
        b,
        operations,
        values,
    };
    maker.block(steps);
    let (mut b, values) = (maker.b, maker.values);
    for &value in values.iter().rev().take(5) {
        let mem = match b.ty(value) {
            Ty::F32 => MemTy::F32,
            Ty::F64 => MemTy::F64,
            Ty::I32 => MemTy::I32,
            Ty::I64 => MemTy::I64,
            Ty::Mask => MemTy::Bool,
        };
        let pointer = b.pointer(Access::ReadWrite);
        b.store(mem, Addr::contiguous(pointer, mem), value);
        regions.push(Region::zeros(mem, LEN));
    }
    (b.finish().unwrap(), regions)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn emitters_agree(
        inputs in 2usize..=INPUTS.len(),
        steps in steps(),
        seed: u64,
        start in 0i64..20,
        lanes in 0i64..70,
    ) {
        let (body, regions) = make(&INPUTS[..inputs], operations(), &steps, seed);
        check(&body, &regions, &Args::default(), start, start + lanes);
    }

    #[test]
    fn emitters_agree_on_arithmetic(
        doubles: bool,
        steps in steps(),
        seed: u64,
        start in 0i64..20,
        lanes in 0i64..70,
    ) {
        let inputs = if doubles { MemTy::F64 } else { MemTy::F32 };
        let (body, regions) = make(&[MemTy::Bool, inputs, inputs, inputs], arithmetic(), &steps, seed);
        check(&body, &regions, &Args::default(), start, start + lanes);
    }
}
