//! Loops, branches and reductions.

use super::machine::{Args, Region, Rng, check, samples};
use jaxide_cpu::codegen::lanes::{Isa, compile};
use jaxide_cpu::lanes::{Access, Addr, BinOp, Builder, Index, MemTy, Trip, Ty, Value};

fn load(b: &mut Builder, ty: MemTy) -> Value {
    let p = b.pointer(Access::ReadOnly);
    b.load(ty, Addr::contiguous(p, ty))
}

fn store(b: &mut Builder, ty: MemTy, v: Value) {
    let p = b.pointer(Access::ReadWrite);
    b.store(ty, Addr::contiguous(p, ty), v);
}

/// A scan with a carry, per-step inputs and stacked outputs, lanes outside and time inside.
#[test]
fn for_with_steps_in_memory() {
    for trip in [
        Trip::Const(0),
        Trip::Const(1),
        Trip::Const(13),
        Trip::Outer(0),
    ] {
        for steps in [-3, 0, 9] {
            let mut b = Builder::new("scan");
            b.outer();
            let x = load(&mut b, MemTy::F32);
            let (inputs, outputs) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
            let last = b.for_loop(trip, &[x, x], |b, t, c| {
                let step = b.load(
                    MemTy::F32,
                    Addr::contiguous(inputs, MemTy::F32).term(t, 4 * 50),
                );
                let half = b.f32(0.5);
                let next = b.fma(c[0], half, step);
                b.store(
                    MemTy::F32,
                    Addr::contiguous(outputs, MemTy::F32).term(t, 4 * 50),
                    next,
                );
                vec![c[1], next]
            });
            store(&mut b, MemTy::F32, last[0]);
            store(&mut b, MemTy::F32, last[1]);
            let mut rng = Rng(2);
            let regions = [
                samples(MemTy::F32, 50, &mut rng),
                samples(MemTy::F32, 50 * 13, &mut rng),
                Region::zeros(MemTy::F32, 50 * 13),
                Region::zeros(MemTy::F32, 50),
                Region::zeros(MemTy::F32, 50),
            ];
            check(
                &b.finish().unwrap(),
                &regions,
                &Args { outer: vec![steps] },
                0,
                50,
            );
        }
    }
}

#[test]
fn carried_values_may_rotate_and_stay() {
    for ty in [MemTy::F32, MemTy::F64, MemTy::I32, MemTy::I64, MemTy::Bool] {
        let mut b = Builder::new("rotate");
        let (x, y, z) = (load(&mut b, ty), load(&mut b, ty), load(&mut b, ty));
        let r = b.for_loop(Trip::Const(7), &[x, y, z, x], |_, _, c| {
            vec![c[1], c[2], c[0], c[3]]
        });
        let (mut rng, mut regions) = (Rng(6), Vec::new());
        (0..3).for_each(|_| regions.push(samples(ty, 37, &mut rng)));
        for v in r {
            store(&mut b, ty, v);
            regions.push(Region::zeros(ty, 37));
        }
        check(&b.finish().unwrap(), &regions, &Args::default(), 0, 37);
    }
}

/// The Mandelbrot iteration: lanes leave at different times, carrying floats, integers and a mask.
#[test]
fn while_with_masks() {
    for ty in [MemTy::F32, MemTy::F64] {
        let lane = ty.lane();
        let mut b = Builder::new("mandelbrot");
        let (cr, ci) = (load(&mut b, ty), load(&mut b, ty));
        let (zero, count, yes) = (b.float(lane, 0.0), b.i32(0), b.mask(true));
        let r = b.while_loop(
            &[zero, zero, count, yes],
            |b, c| {
                let (rr, ii) = (b.mul(c[0], c[0]), b.mul(c[1], c[1]));
                let size = b.add(rr, ii);
                let (four, most) = (b.float(lane, 4.0), b.i32(60));
                let (inside, again) = (b.lt(size, four), b.lt(c[2], most));
                b.and(inside, again)
            },
            |b, c| {
                let (rr, ii) = (b.mul(c[0], c[0]), b.mul(c[1], c[1]));
                let (re, im) = (b.sub(rr, ii), b.mul(c[0], c[1]));
                let (re, im2) = (b.add(re, cr), b.add(im, im));
                let (one, im) = (b.i32(1), b.add(im2, ci));
                vec![re, im, b.add(c[2], one), b.not(c[3])]
            },
        );
        store(&mut b, MemTy::I32, r[2]);
        store(&mut b, MemTy::Bool, r[3]);
        store(&mut b, ty, r[0]);
        let mut rng = Rng(3);
        let mut plane = || {
            let values: Vec<f64> = (0..211)
                .map(|_| rng.below(4000) as f64 / 1000.0 - 2.0)
                .collect();
            if ty == MemTy::F32 {
                Region::f32(values.iter().map(|&v| v as f32))
            } else {
                Region::f64(values)
            }
        };
        let regions = [
            plane(),
            plane(),
            Region::zeros(MemTy::I32, 211),
            Region::zeros(MemTy::Bool, 211),
            Region::zeros(ty, 211),
        ];
        check(&b.finish().unwrap(), &regions, &Args::default(), 0, 211);
    }
}

/// Lanes that have left a loop must neither store nor load, not even from an address that would be invalid.
#[test]
fn while_guards_memory() {
    let mut b = Builder::new("walk");
    let start = load(&mut b, MemTy::I32);
    let (links, trail) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
    let (zero, lane) = (b.i32(0), b.index(Ty::I32, Index::Lane));
    let r = b.while_loop(
        &[start, zero],
        |b, c| b.ge(c[0], zero),
        |b, c| {
            let next = b.load(MemTy::I32, Addr::gather(links, c[0], 4));
            let (ten, one) = (b.i32(10), b.i32(1));
            let row = b.mul(lane, ten);
            let at = b.add(row, c[1]);
            b.store(MemTy::I32, Addr::gather(trail, at, 4), c[0]);
            vec![next, b.add(c[1], one)]
        },
    );
    store(&mut b, MemTy::I32, r[1]);
    // Chains of different lengths that end at a wild address.
    let links: Vec<u64> = (0..90u64)
        .map(|i| {
            if i % 9 == 0 {
                (-400_000_000i64) as u64
            } else {
                i - 1
            }
        })
        .collect();
    let starts = (0..40u64).map(|i| i * 53 % 90);
    let regions = [
        Region::new(MemTy::I32, starts),
        Region::new(MemTy::I32, links),
        Region::zeros(MemTy::I32, 400),
        Region::zeros(MemTy::I32, 40),
    ];
    check(&b.finish().unwrap(), &regions, &Args::default(), 0, 40);
}

/// Padding: a branch around a load whose address exists in some lanes only, and stores in both arms.
#[test]
fn branches_guard_memory() {
    for ty in MemTy::ALL {
        let mut b = Builder::new("pad");
        let (from, to, marks) = (
            b.pointer(Access::ReadOnly),
            b.pointer(Access::ReadWrite),
            b.pointer(Access::ReadWrite),
        );
        let lane = b.index(Ty::I32, Index::Lane);
        let (ten, fifty) = (b.i32(10), b.i32(50));
        let (after, before) = (b.ge(lane, ten), b.lt(lane, fifty));
        let inside = b.and(after, before);
        let fill = b.constant(ty.lane(), 1);
        let r = b.if_lanes(
            inside,
            |b| {
                b.store(MemTy::Bool, Addr::contiguous(marks, MemTy::Bool), inside);
                vec![b.load(ty, Addr::contiguous(from, ty).plus(-10 * ty.size()))]
            },
            |b| {
                let m = b.i32(7);
                b.store(MemTy::U8, Addr::contiguous(marks, MemTy::U8), m);
                vec![fill]
            },
        );
        b.store(ty, Addr::contiguous(to, ty), r[0]);
        let regions = [
            samples(ty, 40, &mut Rng(1)),
            Region::zeros(ty, 70),
            Region::zeros(MemTy::U8, 70),
        ];
        check(&b.finish().unwrap(), &regions, &Args::default(), 0, 70);
    }
}

#[test]
fn nested_control() {
    let mut b = Builder::new("nested");
    let x = load(&mut b, MemTy::I32);
    let (zero, one) = (b.i32(0), b.i32(1));
    // Sum over t in 0..6 of the Collatz steps of |x| % 30 + t, but only for even lanes.
    let lane = b.index(Ty::I32, Index::Lane);
    let low = b.and(lane, one);
    let even = b.eq(low, zero);
    let r = b.if_lanes(
        even,
        |b| {
            b.for_loop(Trip::Const(6), &[zero], |b, t, c| {
                let (size, thirty, t) = (b.abs(x), b.i32(30), b.index(Ty::I32, t));
                let n = b.bin(BinOp::RemU, size, thirty);
                let n = b.add(n, t);
                let steps = b.while_loop(
                    &[n, zero],
                    |b, c| b.lt(one, c[0]),
                    |b, c| {
                        let bit = b.and(c[0], one);
                        let odd = b.eq(bit, one);
                        let next = b.if_lanes(
                            odd,
                            |b| {
                                let three = b.i32(3);
                                let p = b.mul(c[0], three);
                                vec![b.add(p, one)]
                            },
                            |b| vec![b.shr_s(c[0], one)],
                        );
                        vec![next[0], b.add(c[1], one)]
                    },
                );
                vec![b.add(c[0], steps[1])]
            })
        },
        |b| vec![b.neg(x)],
    );
    store(&mut b, MemTy::I32, r[0]);
    let regions = [
        samples(MemTy::I32, 60, &mut Rng(5)),
        Region::zeros(MemTy::I32, 60),
    ];
    check(&b.finish().unwrap(), &regions, &Args::default(), 0, 60);
}

fn reduce_body(ty: MemTy, op: BinOp, init: u64) -> jaxide_cpu::lanes::Body {
    let mut b = Builder::new("reduce");
    let x = load(&mut b, ty);
    let out = b.pointer(Access::ReadWrite);
    let init = b.constant(ty.lane(), init);
    let dest = Addr::uniform(out).plus(ty.size());
    b.reduce(
        vec![(init, ty, dest)],
        |b, acc| vec![b.bin(op, acc[0], x)],
        |b, l, r| vec![b.bin(op, l[0], r[0])],
    );
    b.finish().unwrap()
}

#[test]
fn reductions_of_one_value() {
    use BinOp::*;
    let one = |ty: MemTy| match ty {
        MemTy::F32 => u64::from(1f32.to_bits()),
        MemTy::F64 => 1f64.to_bits(),
        _ => 1,
    };
    for ty in [
        MemTy::F32,
        MemTy::F64,
        MemTy::I32,
        MemTy::I64,
        MemTy::F16,
        MemTy::I8,
    ] {
        let ops: &[(BinOp, u64)] = match ty {
            MemTy::F32 | MemTy::F16 => &[(Add, 0), (Max, 0xff80_0000), (Min, 0x7f80_0000)],
            MemTy::F64 => &[(Add, 0), (Max, 0xfff0_0000_0000_0000)],
            _ => &[
                (Add, 0),
                (MaxS, 1 << 63 | 1 << 31),
                (MinU, u64::MAX),
                (And, u64::MAX),
                (Or, 0),
                (Xor, 0),
            ],
        };
        for &(op, init) in ops.iter().chain(&[(Mul, one(ty))]) {
            let body = reduce_body(ty, op, init & ty.lane().bit_mask());
            for (start, end) in [
                (0, 1),
                (0, 7),
                (2, 40),
                (0, 64),
                (0, 65),
                (0, 1000),
                (17, 600),
            ] {
                let mut rng = Rng(11);
                let floats: Vec<u64> = match ty {
                    MemTy::F32 => (0..1000)
                        .map(|_| u64::from((rng.below(2000) as f32 / 999.0 - 1.0).to_bits()))
                        .collect(),
                    MemTy::F64 => (0..1000)
                        .map(|_| (rng.below(2000) as f64 / 999.0 - 1.0).to_bits())
                        .collect(),
                    MemTy::F16 => (0..1000).map(|_| 0x3c00 + rng.below(64) as u64).collect(),
                    _ => (0..1000).map(|_| rng.next()).collect(),
                };
                check(
                    &body,
                    &[Region::new(ty, floats), Region::zeros(ty, 3)],
                    &Args::default(),
                    start,
                    end,
                );
            }
        }
    }
    let all = reduce_body(MemTy::Bool, BinOp::And, 1);
    let any = reduce_body(MemTy::Bool, BinOp::Or, 0);
    for ones in [vec![], vec![3], vec![70], (0..90).collect()] {
        let input = Region::new(MemTy::Bool, (0..90).map(|i| u64::from(ones.contains(&i))));
        for (body, expected) in [(&all, ones.len() == 90), (&any, !ones.is_empty())] {
            let out = check(
                body,
                &[input.clone(), Region::zeros(MemTy::Bool, 3)],
                &Args::default(),
                0,
                90,
            );
            assert_eq!(out[1].elements()[1], u64::from(expected));
        }
    }
}

/// Value and index together, the first of equal ones wins; beside it a sum over the same lanes.
#[test]
fn argmax_and_sum_in_one_pass() {
    let mut b = Builder::new("argmax");
    let x = load(&mut b, MemTy::F32);
    let (value, index, sum) = (
        b.pointer(Access::ReadWrite),
        b.pointer(Access::ReadWrite),
        b.pointer(Access::ReadWrite),
    );
    let lane = b.index(Ty::I32, Index::Lane);
    let (low, none, zero) = (b.f32(f32::NEG_INFINITY), b.i32(i32::MAX), b.f32(0.0));
    let better = |b: &mut Builder, l: &[Value], r: &[Value]| {
        let (greater, equal, first) = (b.gt(r[0], l[0]), b.eq(r[0], l[0]), b.lt(r[1], l[1]));
        let tie = b.and(equal, first);
        let take = b.or(greater, tie);
        vec![b.select(take, r[0], l[0]), b.select(take, r[1], l[1])]
    };
    let dests = vec![
        (low, MemTy::F32, Addr::uniform(value)),
        (none, MemTy::I32, Addr::uniform(index)),
    ];
    b.reduce(dests, |b, acc| better(b, acc, &[x, lane]), better);
    b.reduce(
        vec![(zero, MemTy::F32, Addr::uniform(sum))],
        |b, acc| vec![b.fma(x, x, acc[0])],
        |b, l, r| vec![b.add(l[0], r[0])],
    );
    let body = b.finish().unwrap();
    for (peaks, expected) in [(vec![5], 5), (vec![80, 9, 200], 9), (vec![299], 299)] {
        let input = Region::f32((0..300).map(|i| {
            if peaks.contains(&i) {
                2.0
            } else {
                (i % 17) as f32 / 17.0
            }
        }));
        let regions = [
            input,
            Region::zeros(MemTy::F32, 1),
            Region::zeros(MemTy::I32, 1),
            Region::zeros(MemTy::F32, 1),
        ];
        let out = check(&body, &regions, &Args::default(), 0, 300);
        assert_eq!(out[2].elements()[0], expected);
    }
}

/// A reduction whose lanes run loops of their own and whose neutral element is computed.
#[test]
fn reduction_over_loops() {
    let mut b = Builder::new("lengths");
    let x = load(&mut b, MemTy::F64);
    let out = b.pointer(Access::ReadWrite);
    let zero = b.outer();
    let start = b.index(Ty::I64, zero);
    let (zero, one, limit) = (b.i64(0), b.i64(1), b.f64(1e6));
    let steps = b.while_loop(
        &[x, zero],
        |b, c| b.lt(c[0], limit),
        |b, c| {
            let two = b.f64(2.0);
            let grown = b.fma(c[0], two, two);
            vec![grown, b.add(c[1], one)]
        },
    );
    let row = b.outer();
    let dest = Addr::uniform(out).term(row, 8);
    b.reduce(
        vec![(start, MemTy::I64, dest)],
        |b, acc| vec![b.add(acc[0], steps[1])],
        |b, l, r| vec![b.add(l[0], r[0])],
    );
    let body = b.finish().unwrap();
    let input = Region::f64((0..77).map(|i| i as f64 * 1000.0));
    for row in 0..3 {
        check(
            &body,
            &[input.clone(), Region::zeros(MemTy::I64, 3)],
            &Args {
                outer: vec![0, row],
            },
            1,
            76,
        );
    }
}

/// More addresses than there are machine registers, so that some are kept in the frame, beside values that change places.
#[test]
fn many_addresses_beside_values_that_change_places() {
    const LEN: usize = 21;
    const TURNS: usize = 5;
    for count in 1..=24 {
        let mut b = Builder::new("addresses");
        let (x, y, z) = (
            load(&mut b, MemTy::F64),
            load(&mut b, MemTy::F64),
            load(&mut b, MemTy::F64),
        );
        let pointers: Vec<_> = (0..count).map(|_| b.pointer(Access::ReadOnly)).collect();
        let step = (8 * LEN) as i64;
        let last = b.for_loop(Trip::Const(TURNS as u64), &[x, y, z], |b, turn, c| {
            let mut sum = c[0];
            for &p in &pointers {
                let addr = Addr::contiguous(p, MemTy::F64).term(turn, step);
                let v = b.load(MemTy::F64, addr);
                sum = b.max(sum, v);
            }
            vec![c[1], c[0], sum]
        });
        let mut rng = Rng(count as u64);
        let sizes = [LEN; 3].into_iter().chain((0..count).map(|_| LEN * TURNS));
        let mut regions: Vec<Region> = sizes
            .map(|size| samples(MemTy::F64, size, &mut rng))
            .collect();
        for v in last {
            store(&mut b, MemTy::F64, v);
            regions.push(Region::zeros(MemTy::F64, LEN));
        }
        check(
            &b.finish().unwrap(),
            &regions,
            &Args::default(),
            0,
            LEN as i64,
        );
    }
}

/// Only a loop that may be long looks in each turn whether the run is to end.
#[test]
fn short_loops_do_not_look_whether_the_run_is_to_end() {
    let body = |turns: u64| {
        let mut b = Builder::new("turns");
        let x = load(&mut b, MemTy::F32);
        let last = b.for_loop(Trip::Const(turns), &[x], |b, _, c| vec![b.mul(c[0], c[0])]);
        store(&mut b, MemTy::F32, last[0]);
        b.finish().unwrap()
    };
    for isa in Isa::available() {
        let size = |turns| compile(&body(turns), isa).unwrap().code().len();
        let (short, long) = (size(1 << 20), size(1 << 24));
        assert!(short < long, "{}: {short} and {long} bytes", isa.name());
    }
}

/// Accumulators of all types at once that are kept in memory, since the lanes run a loop: each beside the others.
#[test]
fn accumulators_of_every_type_beside_loops() {
    let narrow = [MemTy::Bool, MemTy::F32, MemTy::I32, MemTy::Bool];
    let wide = [
        MemTy::Bool,
        MemTy::F64,
        MemTy::I32,
        MemTy::Bool,
        MemTy::I64,
        MemTy::F32,
    ];
    for types in [&narrow[..], &wide] {
        for (len, seed) in [(1, 1), (7, 2), (64, 3), (203, 4), (203, 5)] {
            let mut b = Builder::new("accumulators");
            let start = load(&mut b, MemTy::F32);
            let (mut rng, mut regions) = (Rng(seed), Vec::new());
            regions.push(samples(MemTy::F32, len, &mut rng));
            let turned = b.for_loop(Trip::Const(5), &[start], |b, _, c| {
                let half = b.f32(0.5);
                vec![b.mul(c[0], half)]
            });
            store(&mut b, MemTy::F32, turned[0]);
            regions.push(Region::zeros(MemTy::F32, len));
            for (k, &ty) in types.iter().enumerate() {
                let x = load(&mut b, ty);
                // Of masks, some where all are false and some where one is true.
                let mut values = samples(ty, len, &mut rng);
                if ty == MemTy::Bool {
                    values = Region::zeros(ty, len);
                    if k == 0 {
                        values.bytes[rng.below(len)] = 1;
                    }
                }
                regions.push(values);
                let dest = b.pointer(Access::ReadWrite);
                regions.push(Region::zeros(ty, 1));
                let lane = ty.lane();
                let join = |b: &mut Builder, l: Value, r: Value| match lane {
                    Ty::Mask => b.or(l, r),
                    Ty::F32 | Ty::F64 => b.max(l, r),
                    Ty::I32 | Ty::I64 => b.add(l, r),
                };
                let neutral = match lane {
                    Ty::Mask => b.mask(false),
                    Ty::F32 | Ty::F64 => b.float(lane, f64::NEG_INFINITY),
                    Ty::I32 | Ty::I64 => b.int(lane, 0),
                };
                b.reduce(
                    vec![(neutral, ty, Addr::uniform(dest))],
                    |b, acc| vec![join(b, acc[0], x)],
                    |b, l, r| vec![join(b, l[0], r[0])],
                );
            }
            check(
                &b.finish().unwrap(),
                &regions,
                &Args::default(),
                0,
                len as i64,
            );
        }
    }
}
