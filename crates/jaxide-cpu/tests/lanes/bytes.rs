//! Random bodies of which a byte of each lane is mostly enough: sums, comparisons, choices and shifts of small integers and truth values.

use super::machine::{Args, Region, Rng, check, samples};
use jaxide_cpu::lanes::{Access, Addr, BinOp, Body, Builder, Index, MemTy, Trip, Ty, UnOp, Value};

const TYPES: [MemTy; 3] = [MemTy::U8, MemTy::I8, MemTy::Bool];

/// Regions have a few pages, so that lanes end anywhere in one.
const LEN: usize = 9000;
/// The longest distance from the first lane's element to what is read.
const BEFORE: usize = 40;
const ROWS: i64 = 3;

/// Numbers and truth values of a body so far.
struct Values {
    numbers: Vec<Value>,
    masks: Vec<Value>,
}

impl Values {
    fn add(&mut self, b: &Builder, v: Value) {
        if b.ty(v) == Ty::Mask {
            self.masks.push(v);
        } else {
            self.numbers.push(v);
        }
    }

    fn number(&self, rng: &mut Rng) -> Value {
        self.numbers[rng.below(self.numbers.len())]
    }

    fn mask(&self, rng: &mut Rng) -> Value {
        self.masks[rng.below(self.masks.len())]
    }
}

/// What 8-bit arithmetic does to its results.
fn extended(b: &mut Builder, v: Value, rng: &mut Rng) -> Value {
    match rng.below(4) {
        0 => {
            let low = b.i32(255);
            b.and(v, low)
        }
        1 | 2 => {
            let by = b.i32(24);
            let top = b.shl(v, by);
            if rng.below(2) == 0 {
                b.shr_s(top, by)
            } else {
                b.shr_u(top, by)
            }
        }
        _ => v,
    }
}

fn step(b: &mut Builder, values: &mut Values, rng: &mut Rng) {
    use BinOp::*;
    let (x, y) = (values.number(rng), values.number(rng));
    let v = match rng.below(9) {
        0 | 1 => {
            let op = [Add, Sub, And, Or, Xor][rng.below(5)];
            let v = b.bin(op, x, y);
            extended(b, v, rng)
        }
        2 => b.bin([MinS, MaxS, MinU, MaxU][rng.below(4)], x, y),
        3 | 4 => b.bin([Eq, Ne, Lt, Le, LtU, LeU][rng.below(6)], x, y),
        5 => {
            let count = b.i32([0, 1, 3, 7, 8, 24][rng.below(6)]);
            let v = b.bin([Shl, ShrS, ShrU][rng.below(3)], x, count);
            extended(b, v, rng)
        }
        6 => {
            let mask = values.mask(rng);
            if rng.below(4) == 0 {
                let other = values.mask(rng);
                b.select(mask, other, values.masks[0])
            } else {
                b.select(mask, x, y)
            }
        }
        7 => {
            let (p, q) = (values.mask(rng), values.mask(rng));
            match rng.below(4) {
                0 => b.not(p),
                k => b.bin([And, Or, Xor][k - 1], p, q),
            }
        }
        _ => {
            let op = [UnOp::Not, UnOp::Neg, UnOp::Abs][rng.below(3)];
            let v = b.un(op, Ty::I32, x);
            extended(b, v, rng)
        }
    };
    values.add(b, v);
}

fn body(rng: &mut Rng) -> (Body, Vec<MemTy>) {
    let mut b = Builder::new("bytes");
    b.outer();
    let mut types = Vec::new();
    let pointer = |b: &mut Builder, types: &mut Vec<MemTy>, ty: MemTy, access| {
        types.push(ty);
        b.pointer(access)
    };
    let mut values = Values {
        numbers: Vec::new(),
        masks: Vec::new(),
    };
    let wide = rng.below(12) == 0;
    let inputs: Vec<_> = [MemTy::U8, MemTy::I8, MemTy::Bool, TYPES[rng.below(3)]]
        .into_iter()
        .chain(wide.then_some(MemTy::U16))
        .map(|ty| (ty, pointer(&mut b, &mut types, ty, Access::ReadOnly)))
        .collect();
    let outputs: Vec<_> = (0..2)
        .map(|_| {
            let ty = TYPES[rng.below(3)];
            (ty, pointer(&mut b, &mut types, ty, Access::ReadWrite))
        })
        .collect();
    for c in [0, 1, 3, 100, 200, 255, -1, -7, 300] {
        if rng.below(3) == 0 {
            let c = b.i32(c);
            values.numbers.push(c);
        }
    }
    let rows = rng.below(2) == 0;
    let steps = 1 + rng.below(14);
    let mut turn = |b: &mut Builder, row: Option<Index>, rng: &mut Rng| {
        // Sometimes so many addresses that not all of them are kept from row to row.
        let again = if rng.below(4) == 0 { 4 } else { 1 };
        for &(ty, p) in inputs.iter().cycle().take(again * inputs.len()) {
            let uniform = rng.below(5) == 0;
            let mut at = if uniform {
                Addr::uniform(p)
            } else {
                Addr::contiguous(p, ty)
            };
            at = at.plus(rng.below(BEFORE) as i64);
            if let Some(row) = row {
                at = at.term(row, 131 + rng.below(again) as i64);
            }
            let v = b.load(ty, at);
            values.add(b, v);
        }
        for _ in 0..steps {
            step(b, &mut values, rng);
        }
        for &(ty, p) in &outputs {
            let v = if ty == MemTy::Bool {
                *values.masks.last().unwrap()
            } else {
                *values.numbers.last().unwrap()
            };
            let mut at = Addr::contiguous(p, ty);
            if let Some(row) = row {
                at = at.term(row, 4000);
            }
            b.store(ty, at, v);
        }
    };
    if rows {
        b.for_loop(Trip::Outer(0), &[], |b, row, _| {
            turn(b, Some(row), rng);
            Vec::new()
        });
    } else {
        turn(&mut b, None, rng);
    }
    (b.finish().unwrap(), types)
}

#[test]
fn emitters_agree_on_bytes() {
    let mut rng = Rng(7);
    for case in 0..500 {
        let (body, types) = body(&mut rng);
        let regions: Vec<Region> = types
            .iter()
            .map(|&ty| samples(ty, LEN + 1000, &mut rng))
            .collect();
        for _ in 0..3 {
            // In rows that follow each other without touching.
            let start = rng.below(300) as i64;
            let count = match case % 3 {
                0 => rng.below(70),
                1 => rng.below(400),
                _ => rng.below(3600),
            };
            let rows = rng.below(ROWS as usize) as i64;
            let args = Args { outer: vec![rows] };
            check(&body, &regions, &args, start, start + count as i64);
        }
    }
}
