//! Linear scan register allocation (M. Poletto and V. Sarkar, "Linear scan register allocation", 1999).
//!
//! A register has one interval, from its first definition to its last use, drawn out over the loops that it lives
//! through; within it, it is in one place. Where registers run out, the interval with the fewest expected uses for its length goes to memory,
//! which instructions then mostly use as an operand; a constant is already there.

use super::lir::*;
use crate::narrow;
use rustc_hash::FxHashMap as HashMap;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Where a virtual register lives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// A machine register of its class, by number.
    Machine(u8),
    /// Its home; for a slot, the offset in the frame.
    Memory(i32),
    /// Never used.
    Nowhere,
}

/// The result of an allocation.
pub(super) struct Allocation {
    pub(super) places: Vec<Place>,
    /// Bytes of the frame, slots included.
    pub(super) frame: i32,
    /// Machine registers that instructions may use for operands in memory; none if no register was short.
    pub(super) vector_scratch: Option<[u8; 3]>,
    /// Likewise; k0 may always be used, but not as a predicate.
    pub(super) mask_scratch: u8,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    start: u32,
    end: u32,
    weight: f32,
    hint: Option<Reg>,
}

/// Places all registers of a program on a machine with so many vector registers.
pub(super) fn allocate(asm: &Asm, vectors: u8) -> Allocation {
    let intervals = intervals(asm);
    let full = scan(asm, &intervals, vectors, 7);
    if let Some(places) = full.complete() {
        return Allocation {
            places,
            frame: asm.frame,
            vector_scratch: None,
            mask_scratch: 7,
        };
    }
    // Something does not fit, so instructions need registers to bring it in.
    let scan = scan(asm, &intervals, vectors - 3, 6);
    let mut places = scan.places;
    let frame = slots(asm, &intervals, &mut places);
    let scratch = [vectors - 3, vectors - 2, vectors - 1];
    Allocation {
        places,
        frame,
        vector_scratch: Some(scratch),
        mask_scratch: 7,
    }
}

/// Gives each register that is in memory a slot of the frame, which others have before and after it. Gives the size of the frame.
fn slots(asm: &Asm, intervals: &[Option<Interval>], places: &mut [Place]) -> i32 {
    let mut order: Vec<(usize, Interval)> = (intervals.iter().enumerate())
        .filter_map(|(k, interval)| interval.map(|interval| (k, interval)))
        .filter(|&(k, _)| places[k] == Place::Memory(0) && asm.regs[k].home == Home::Slot)
        .collect();
    order.sort_by_key(|(k, interval)| (interval.start, *k));
    let mut frame = asm.frame;
    // Slots in use by the end of their interval, and free ones, by their size.
    let mut used = BinaryHeap::new();
    let mut free: HashMap<i32, Vec<i32>> = HashMap::default();
    for (k, interval) in order {
        while let Some(&Reverse((end, at, bytes))) = used.peek()
            && end < interval.start
        {
            used.pop();
            free.entry(bytes).or_default().push(at);
        }
        let bytes = match asm.regs[k].class {
            Class::Vector(w) => w.bytes(),
            Class::Mask => 8,
        };
        let at = free.get_mut(&bytes).and_then(Vec::pop).unwrap_or_else(|| {
            let at = (frame + bytes - 1) & -bytes;
            frame = at + bytes;
            at
        });
        used.push(Reverse((interval.end, at, bytes)));
        places[k] = Place::Memory(at);
    }
    frame
}

/// Calls `f` with each register that an instruction touches: whether it writes it, and whether it reads it late, when results may have been
/// written already.
fn registers(lir: &Lir, mut f: impl FnMut(Reg, Touch)) {
    match lir {
        Lir::Op(op) => {
            let read = if op.late {
                Touch::LateRead
            } else {
                Touch::Read
            };
            for o in op.operands.iter().flatten() {
                match o {
                    Operand::Reg(r) | Operand::As(r, _) => f(*r, read),
                    Operand::Mem(Mem {
                        index: Index::Vector(r),
                        ..
                    }) => f(*r, read),
                    Operand::Mem(_) | Operand::Gpr(_) | Operand::Imm(_) => {}
                }
            }
            if let Some((k, _)) = op.mask {
                f(k, read);
            }
            if let Some(d) = op.dst {
                if op.tied {
                    f(d, Touch::Read);
                }
                f(d, Touch::Write);
            }
        }
        Lir::Fma { dst, a, b, c, .. } => {
            [a, b, c].into_iter().for_each(|r| f(*r, Touch::Read));
            f(*dst, Touch::Write);
        }
        Lir::Move { dst, src } => {
            f(*src, Touch::Read);
            f(*dst, Touch::Write);
        }
        Lir::ParallelMove(pairs) => {
            pairs.iter().for_each(|(_, src)| f(*src, Touch::Read));
            pairs.iter().for_each(|(dst, _)| f(*dst, Touch::Write));
        }
        Lir::Int { .. } | Lir::Label(_) | Lir::Jump(_) | Lir::Branch(..) => {}
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Touch {
    Read,
    LateRead,
    Write,
}

fn intervals(asm: &Asm) -> Vec<Option<Interval>> {
    let mut intervals: Vec<Option<Interval>> = vec![None; asm.regs.len()];
    // Loops by start, outer before inner.
    let mut loops = asm.loops.clone();
    loops.sort_by_key(|&(start, end)| (start, Reverse(end)));
    let mut next_loop = 0;
    let mut open: Vec<(usize, usize)> = Vec::new();
    for (at, lir) in asm.code.iter().enumerate() {
        open.retain(|l| l.1 >= at);
        while next_loop < loops.len() && loops[next_loop].0 == at {
            open.push(loops[next_loop]);
            next_loop += 1;
        }
        let frequency = asm.frequency[at];
        registers(lir, |r, touch| {
            let constant = asm.regs[r.index()].home != Home::Slot;
            let position = match touch {
                Touch::Read => narrow(2 * at),
                Touch::LateRead | Touch::Write => narrow(2 * at + 1),
            };
            let first = if constant { 0 } else { position };
            let i = intervals[r.index()].get_or_insert(Interval {
                start: first,
                end: position,
                weight: 0.0,
                hint: None,
            });
            i.end = i.end.max(position);
            // A constant costs no store, and often no load either.
            i.weight += if constant { 0.6 * frequency } else { frequency };
            if let Some(&(_, end)) = open.iter().find(|l| 2 * l.0 > i.start as usize) {
                i.end = i.end.max(narrow(2 * end + 1));
            }
        });
        let hint = match lir {
            Lir::Move { dst, src } => Some((*dst, *src)),
            Lir::Op(Op {
                tied: false,
                dst: Some(d),
                operands: [Some(Operand::Reg(a)), ..],
                ..
            }) => Some((*d, *a)),
            Lir::Fma { dst, c, .. } => Some((*dst, *c)),
            _ => None,
        };
        if let Some((d, s)) = hint
            && let Some(i) = &mut intervals[d.index()]
        {
            i.hint.get_or_insert(s);
        }
        if let Lir::ParallelMove(pairs) = lir {
            for (d, s) in pairs {
                if let Some(i) = &mut intervals[s.index()] {
                    i.hint = Some(*d);
                }
            }
        }
    }
    intervals
}

struct Scan {
    places: Vec<Place>,
    spilled: bool,
}

impl Scan {
    fn complete(&self) -> Option<Vec<Place>> {
        (!self.spilled).then(|| self.places.clone())
    }
}

fn scan(asm: &Asm, intervals: &[Option<Interval>], vectors: u8, masks: u8) -> Scan {
    let mut order: Vec<(Reg, Interval)> = intervals
        .iter()
        .enumerate()
        .filter_map(|(k, i)| i.map(|i| (Reg(narrow(k)), i)))
        .collect();
    order.sort_by_key(|(r, i)| (i.start, r.0));
    let mut places = vec![Place::Nowhere; asm.regs.len()];
    let mut spilled = false;
    // Vector registers from 0, mask registers from 1.
    let mut files = [
        File {
            free: (0..vectors).rev().collect(),
            active: Vec::new(),
        },
        File {
            free: (1..=masks).rev().collect(),
            active: Vec::new(),
        },
    ];
    for (reg, interval) in order {
        let file = &mut files[usize::from(asm.regs[reg.index()].class == Class::Mask)];
        file.expire(interval.start);
        let hinted = interval.hint.and_then(|h| match places[h.index()] {
            Place::Machine(m) => file.free.iter().position(|&f| f == m),
            _ => None,
        });
        let machine = match hinted {
            Some(at) => Some(file.free.remove(at)),
            None => file.free.pop(),
        };
        let density = |i: &Interval| i.weight / (i.end - i.start + 1) as f32;
        if let Some(m) = machine {
            places[reg.index()] = Place::Machine(m);
            file.active.push((reg, interval, m));
            continue;
        }
        spilled = true;
        let (at, victim) = file
            .active
            .iter()
            .enumerate()
            .min_by(|a, b| density(&a.1.1).total_cmp(&density(&b.1.1)))
            .map(|(k, v)| (k, v.1))
            .expect("a full register file has active intervals");
        if density(&victim) < density(&interval) {
            let (old, _, m) = file.active.swap_remove(at);
            places[old.index()] = Place::Memory(0);
            places[reg.index()] = Place::Machine(m);
            file.active.push((reg, interval, m));
        } else {
            places[reg.index()] = Place::Memory(0);
        }
    }
    Scan { places, spilled }
}

struct File {
    free: Vec<u8>,
    active: Vec<(Reg, Interval, u8)>,
}

impl File {
    fn expire(&mut self, start: u32) {
        let free = &mut self.free;
        self.active.retain(|(_, i, m)| {
            let live = i.end >= start;
            if !live {
                free.push(*m);
            }
            live
        });
        // Low numbers first.
        self.free.sort_unstable_by(|a, b| b.cmp(a));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codegen::x86::lir::Width;

    /// What continues another value is put into the register of that, once it is free.
    #[test]
    fn hints_are_followed_where_the_register_is_free() {
        let mut asm = Asm::new(false);
        let regs: Vec<Reg> = (0..5)
            .map(|_| asm.reg(Class::Vector(Width::V256)))
            .collect();
        let interval = |start, end, hint: Option<usize>| {
            Some(Interval {
                start,
                end,
                weight: 1.0,
                hint: hint.map(|k| regs[k]),
            })
        };
        let intervals = [
            interval(0, 9, None),
            interval(1, 3, None),
            interval(2, 3, None),
            // Register 2 although 1 is free; 1 because 0 is not free.
            interval(5, 9, Some(2)),
            interval(6, 9, Some(0)),
        ];
        let scan = scan(&asm, &intervals, 8, 7);
        assert_eq!(scan.places, [0, 1, 2, 2, 1].map(Place::Machine));
    }
}
