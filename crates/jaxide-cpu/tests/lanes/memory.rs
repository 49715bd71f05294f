//! Loads, stores and addresses.

use super::machine::{Args, Region, Rng, check, samples};
use jaxide_cpu::lanes::{Access, Addr, Builder, Index, MemTy, Trip, Ty};

/// A copy through lanes for each memory type, contiguous on both sides, at several lengths and starts.
#[test]
fn contiguous_of_every_type() {
    for ty in MemTy::ALL {
        let mut b = Builder::new("copy");
        let (from, to) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
        let v = b.load(ty, Addr::contiguous(from, ty));
        b.store(ty, Addr::contiguous(to, ty), v);
        let body = b.finish().unwrap();
        for (start, end) in [
            (0, 0),
            (0, 1),
            (0, 3),
            (0, 16),
            (0, 17),
            (3, 99),
            (5, 5),
            (1, 131),
        ] {
            check(
                &body,
                &[samples(ty, 131, &mut Rng(9)), Region::zeros(ty, 131)],
                &Args::default(),
                start,
                end,
            );
        }
    }
}

#[test]
fn narrow_types_wrap_and_extend() {
    for ty in [MemTy::I8, MemTy::U8, MemTy::I16, MemTy::U16] {
        let mut b = Builder::new("extend");
        let (from, to, wide) = (
            b.pointer(Access::ReadOnly),
            b.pointer(Access::ReadWrite),
            b.pointer(Access::ReadWrite),
        );
        let v = b.load(ty, Addr::contiguous(from, ty));
        let hundred = b.i32(100);
        let sum = b.add(v, hundred);
        b.store(ty, Addr::contiguous(to, ty), sum);
        b.store(MemTy::I32, Addr::contiguous(wide, MemTy::I32), sum);
        let regions = [
            samples(ty, 77, &mut Rng(1)),
            Region::zeros(ty, 77),
            Region::zeros(MemTy::I32, 77),
        ];
        check(&b.finish().unwrap(), &regions, &Args::default(), 0, 77);
    }
}

#[test]
fn half_floats_of_all_bits() {
    for ty in [MemTy::F16, MemTy::Bf16] {
        let mut b = Builder::new("half");
        let (from, to, back) = (
            b.pointer(Access::ReadOnly),
            b.pointer(Access::ReadWrite),
            b.pointer(Access::ReadWrite),
        );
        let v = b.load(ty, Addr::contiguous(from, ty));
        b.store(MemTy::F32, Addr::contiguous(to, MemTy::F32), v);
        let third = b.f32(1.0 / 3.0);
        let v = b.mul(v, third);
        b.store(ty, Addr::contiguous(back, ty), v);
        let regions = [
            Region::new(ty, 0..65536),
            Region::zeros(MemTy::F32, 65536),
            Region::zeros(ty, 65536),
        ];
        check(&b.finish().unwrap(), &regions, &Args::default(), 0, 65536);
    }
}

/// Transpose, reversal, broadcast and lane numbers, with outer indices.
#[test]
fn strides_and_terms() {
    for ty in MemTy::ALL {
        let s = ty.size();
        let mut b = Builder::new("strides");
        let (from, to) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
        let row = b.outer();
        // Column `row` of a 40 × 7 array, backwards, plus a value that all lanes share, as a row.
        let v = b.load(
            ty,
            Addr::strided(from, -7 * s).plus(39 * 7 * s).term(row, s),
        );
        let shared = b.load(ty, Addr::uniform(from).term(row, 2 * s));
        let every_third = b.index(Ty::I32, Index::Lane);
        let three = b.i32(3);
        let r = b.bin(jaxide_cpu::lanes::BinOp::RemS, every_third, three);
        let zero = b.i32(0);
        let is = b.eq(r, zero);
        let v = b.select(is, shared, v);
        b.store(ty, Addr::contiguous(to, ty).term(row, 40 * s), v);
        let body = b.finish().unwrap();
        for row in 0..7 {
            let regions = [samples(ty, 280, &mut Rng(4)), Region::zeros(ty, 280)];
            check(&body, &regions, &Args { outer: vec![row] }, 0, 40);
        }
    }
}

#[test]
fn strided_stores_leave_gaps_alone() {
    for ty in MemTy::ALL {
        let mut b = Builder::new("scatter");
        let (from, to) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
        let v = b.load(ty, Addr::contiguous(from, ty));
        b.store(ty, Addr::strided(to, 3 * ty.size()), v);
        let regions = [samples(ty, 50, &mut Rng(4)), samples(ty, 150, &mut Rng(8))];
        check(&b.finish().unwrap(), &regions, &Args::default(), 0, 50);
    }
}

/// Elements that lie 2 to 5 apart, the last of them the last of the array, and pairs that are written side by side.
#[test]
fn interleaved_elements() {
    for ty in MemTy::ALL {
        let s = ty.size();
        for step in 2..6 {
            for count in [1, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 70] {
                let mut b = Builder::new("interleaved");
                let (from, to) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
                let first = b.load(ty, Addr::strided(from, step * s));
                let last = b.load(ty, Addr::strided(from, step * s).plus((step - 1) * s));
                b.store(ty, Addr::strided(to, 2 * s).plus(s), last);
                b.store(ty, Addr::strided(to, 2 * s), first);
                b.store(ty, Addr::strided(to, 2 * s), last);
                b.store(ty, Addr::strided(to, 2 * s).plus(s), first);
                let woven = b.pointer(Access::ReadWrite);
                for place in 0..step {
                    let value = if place % 3 == 1 { last } else { first };
                    b.store(ty, Addr::strided(woven, step * s).plus(place * s), value);
                }
                let regions = [
                    samples(ty, (count * step) as usize, &mut Rng(4)),
                    samples(ty, 2 * count as usize, &mut Rng(8)),
                    samples(ty, (count * step) as usize, &mut Rng(9)),
                ];
                check(&b.finish().unwrap(), &regions, &Args::default(), 0, count);
            }
        }
    }
}

#[test]
fn gathers_by_both_index_types() {
    for ty in MemTy::ALL {
        for index in [MemTy::I32, MemTy::I64] {
            let mut b = Builder::new("gather");
            let (at, from, to) = (
                b.pointer(Access::ReadOnly),
                b.pointer(Access::ReadOnly),
                b.pointer(Access::ReadWrite),
            );
            let i = b.load(index, Addr::contiguous(at, index));
            let v = b.load(ty, Addr::gather(from, i, ty.size()).plus(20 * ty.size()));
            b.store(ty, Addr::contiguous(to, ty), v);
            let spread = b.add(i, i);
            b.store(
                ty,
                Addr::gather(to, spread, ty.size()).plus(200 * ty.size()),
                v,
            );
            let mut rng = Rng(3);
            let mut order: Vec<i64> = (-20..80).collect();
            (1..100).rev().for_each(|k| order.swap(k, rng.below(k + 1)));
            let order = Region::new(index, order.iter().map(|&i| i as u64));
            let regions = [order, samples(ty, 100, &mut rng), Region::zeros(ty, 400)];
            check(&b.finish().unwrap(), &regions, &Args::default(), 0, 100);
        }
    }
}

/// Rows of which each lane has its own begin anywhere in a page, also in its last bytes.
#[test]
fn rows_at_indices() {
    const BYTES: usize = 9000;
    for ty in MemTy::ALL.into_iter().filter(|ty| ty.size() < 4) {
        for row in 2..=17i64 {
            for index in [MemTy::I32, MemTy::I64] {
                let mut b = Builder::new("rows");
                let (at, from, to) = (
                    b.pointer(Access::ReadOnly),
                    b.pointer(Access::ReadOnly),
                    b.pointer(Access::ReadWrite),
                );
                let i = b.load(index, Addr::contiguous(at, index));
                let elements: Vec<_> = (0..row)
                    .map(|k| {
                        let place = Addr::gather(from, i, ty.size()).plus((k - 1) * ty.size());
                        b.load(ty, place)
                    })
                    .collect();
                for (k, element) in elements.into_iter().enumerate() {
                    let place = Addr::strided(to, row * ty.size()).plus(k as i64 * ty.size());
                    b.store(ty, place, element);
                }
                let mut rng = Rng(row as u64);
                let places = BYTES / ty.size() as usize - row as usize;
                // The last lanes are those whose rows are first and last of all.
                let mut starts: Vec<u64> =
                    (0..297).map(|_| 1 + rng.below(places + 1) as u64).collect();
                starts.extend([1, places as u64 + 1, 1 + places as u64 / 2]);
                let regions = [
                    Region::new(index, starts),
                    samples(ty, BYTES / ty.size() as usize, &mut rng),
                    Region::zeros(ty, 300 * row as usize),
                ];
                let body = b.finish().unwrap();
                for (start, end) in [(0, 300), (0, 1), (3, 12), (290, 300)] {
                    check(&body, &regions, &Args::default(), start, end);
                }
            }
        }
    }
}

#[test]
fn uniform_loads_and_indices_as_data() {
    let mut b = Builder::new("uniform");
    let to = b.pointer(Access::ReadWrite);
    let [x, n, m] = [MemTy::F32, MemTy::I64, MemTy::Bool].map(|ty| {
        let from = b.pointer(Access::ReadOnly);
        b.load(ty, Addr::uniform(from))
    });
    let outer = b.outer();
    let lane = b.index(Ty::I64, Index::Lane);
    let o = b.index(Ty::I64, outer);
    let sum = b.for_loop(Trip::Const(5), &[lane], |b, i, c| {
        let i = b.index(Ty::I64, i);
        let s = b.add(c[0], i);
        vec![b.add(s, o)]
    });
    let sum = b.add(sum[0], n);
    let sum = b.un(jaxide_cpu::lanes::UnOp::SToF, Ty::F32, sum);
    let scaled = b.mul(sum, x);
    let r = b.select(m, scaled, sum);
    b.store(MemTy::F32, Addr::contiguous(to, MemTy::F32), r);
    let body = b.finish().unwrap();
    for mask in [0, 1] {
        let args = Args { outer: vec![1000] };
        let regions = [
            Region::zeros(MemTy::F32, 45),
            Region::f32([0.5]),
            Region::new(MemTy::I64, [-7i64 as u64]),
            Region::new(MemTy::Bool, [mask]),
        ];
        let out = check(&body, &regions, &args, 2, 45);
        let factor = if mask == 1 { 0.5 } else { 1.0 };
        assert_eq!(out[0].to_f32()[10], (10.0 + 10.0 + 5000.0 - 7.0) * factor);
    }
}

/// Steps of one index add up, in whatever order they come; those that add up to nothing are gone.
#[test]
fn terms_of_an_address_add_up() {
    let mut b = Builder::new("terms");
    let (p, i, j) = (b.pointer(Access::ReadOnly), b.outer(), b.outer());
    let at = Addr::uniform(p).term(j, 8).term(i, 4).term(j, 16);
    assert_eq!(at.terms, [(i, 4), (j, 24)]);
    let at = at.term(i, -4);
    assert_eq!(at.terms, [(j, 24)]);
    assert_eq!(at.term(j, -24), Addr::uniform(p));
    let at = Addr::strided(p, 4).term(Index::Lane, 8);
    assert_eq!(at, Addr::strided(p, 12));
    assert_eq!(at.term(Index::Lane, -12), Addr::uniform(p));
}
