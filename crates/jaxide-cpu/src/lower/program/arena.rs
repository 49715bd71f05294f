//! Offsets of temporaries: two may share memory when they are never needed at the same time.

use super::{Base, Place, PointerVar, Program, Slot, Stmt};
use rustc_hash::FxHashMap as HashMap;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// Temporaries start at multiples of this.
pub(super) const ALIGNMENT: usize = 64;

/// When a temporary is needed: from the first to the last step.
#[derive(Clone, Copy, Debug)]
struct Life {
    first: usize,
    last: usize,
}

/// Temporaries that lie together: one, or those that each thread of a parallel loop has for itself.
struct Item {
    /// Temporaries with their offsets inside.
    members: Vec<(usize, usize)>,
    life: Life,
    size: usize,
}

/// Gives every temporary its offset, and so many bytes behind it that are nobody's.
pub(super) fn assign(program: &mut Program, fence: usize) {
    let room = |bytes: usize| (bytes + fence).next_multiple_of(ALIGNMENT);
    let mut walk = Walk {
        lives: vec![None; program.temps.len()],
        pointees: HashMap::default(),
        loops: Vec::new(),
        clock: 0,
    };
    walk.block(&program.body);
    walk.keep_through_loops();
    let alone = |k: usize| {
        Some(Item {
            members: vec![(k, 0)],
            life: walk.lives[k]?,
            size: room(program.temps[k]),
        })
    };
    let mut grouped = vec![false; program.temps.len()];
    let mut items = Vec::new();
    for parallel in &program.parallel {
        let own = parallel.own.iter().map(|&temp| temp as usize);
        let inside: Vec<Item> = own.clone().filter_map(alone).collect();
        own.for_each(|temp| grouped[temp] = true);
        let first = inside.iter().map(|item| item.life.first).min();
        let last = inside.iter().map(|item| item.life.last).max();
        let (Some(first), Some(last)) = (first, last) else {
            continue;
        };
        let (offsets, size) = place(&inside);
        let members = inside.iter().zip(offsets);
        items.push(Item {
            members: members
                .map(|(item, offset)| (item.members[0].0, offset))
                .collect(),
            life: Life { first, last },
            size,
        });
    }
    let groups = items.len();
    items.extend(
        (0..program.temps.len())
            .filter(|&k| !grouped[k])
            .filter_map(alone),
    );
    let (offsets, arena) = place(&items);
    program.offsets = vec![0; program.temps.len()];
    for (item, offset) in items.iter().zip(&offsets) {
        for &(temp, inside) in &item.members {
            program.offsets[temp] = offset + inside;
        }
    }
    let mut group = 0..groups;
    for parallel in &mut program.parallel {
        let any = parallel
            .own
            .iter()
            .any(|&k| walk.lives[k as usize].is_some());
        if any && let Some(k) = group.next() {
            parallel.memory = offsets[k]..offsets[k] + items[k].size;
        }
    }
    program.arena = arena;
}

/// Offsets of what is needed at the given times, and the size of all.
fn place(items: &[Item]) -> (Vec<usize>, usize) {
    if items.len() > MANY {
        let needed = items.iter().enumerate();
        let needed = needed.map(|(k, item)| (k, item.life, item.size)).collect();
        return one_after_another(needed, items.len());
    }
    // Large ones first find the best places.
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&k| (Reverse(items[k].size), items[k].members[0].0));
    let mut offsets = vec![0; items.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut end = 0;
    for k in order {
        let Item { life, size, .. } = &items[k];
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .map(|&other| (offsets[other], &items[other]))
            .filter(|(_, other)| other.life.first <= life.last && life.first <= other.life.last)
            .map(|(offset, other)| (offset, other.size))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, length) in taken {
            if offset + size <= start {
                break;
            }
            offset = offset.max(start + length);
        }
        offsets[k] = offset;
        end = end.max(offset + size);
        placed.push(k);
    }
    (offsets, end)
}

/// More temporaries than this are placed in the order in which they are needed: for fewer, the best place among all is looked for, which
/// takes time with the square of their number.
const MANY: usize = 2000;

/// Offsets in the order in which temporaries are needed, each in the smallest free piece that is large enough; and the size of all.
fn one_after_another(
    mut needed: Vec<(usize, Life, usize)>,
    temporaries: usize,
) -> (Vec<usize>, usize) {
    needed.sort_by_key(|&(k, life, _)| (life.first, k));
    let mut offsets = vec![0; temporaries];
    let mut held: BinaryHeap<Reverse<(usize, usize, usize)>> = BinaryHeap::new();
    let mut free = Free::default();
    let mut end = 0;
    for (k, life, size) in needed {
        while let Some(&Reverse((last, offset, length))) = held.peek()
            && last < life.first
        {
            held.pop();
            free.give(offset, length);
        }
        let offset = free.take(size).unwrap_or_else(|| {
            // The last piece grows where it reaches to the end.
            let start = free.take_last(end).unwrap_or(end);
            end = start + size;
            start
        });
        offsets[k] = offset;
        held.push(Reverse((life.last, offset, size)));
    }
    (offsets, end)
}

/// Free pieces, none next to another.
#[derive(Default)]
struct Free {
    by_offset: BTreeMap<usize, usize>,
    by_size: BTreeSet<(usize, usize)>,
}

impl Free {
    fn insert(&mut self, offset: usize, length: usize) {
        self.by_offset.insert(offset, length);
        self.by_size.insert((length, offset));
    }

    fn remove(&mut self, offset: usize, length: usize) {
        self.by_offset.remove(&offset);
        self.by_size.remove(&(length, offset));
    }

    /// A piece is free again.
    fn give(&mut self, mut offset: usize, mut length: usize) {
        if let Some((&before, &own)) = self.by_offset.range(..offset).next_back()
            && before + own == offset
        {
            self.remove(before, own);
            (offset, length) = (before, own + length);
        }
        if let Some(&behind) = self.by_offset.get(&(offset + length)) {
            self.remove(offset + length, behind);
            length += behind;
        }
        self.insert(offset, length);
    }

    /// The start of the smallest piece that is large enough.
    fn take(&mut self, size: usize) -> Option<usize> {
        let &(length, offset) = self.by_size.range((size, 0)..).next()?;
        self.remove(offset, length);
        if length > size {
            self.insert(offset + size, length - size);
        }
        Some(offset)
    }

    /// The start of the piece that ends at `end`.
    fn take_last(&mut self, end: usize) -> Option<usize> {
        let (&offset, &length) = self.by_offset.last_key_value()?;
        (offset + length == end).then(|| {
            self.remove(offset, length);
            offset
        })
    }
}

struct Walk {
    lives: Vec<Option<Life>>,
    /// The places that changing pointers point to.
    pointees: HashMap<PointerVar, Vec<Place>>,
    /// Loops by their first and last step, inner ones before outer ones.
    loops: Vec<Life>,
    clock: usize,
}

impl Walk {
    fn touch(&mut self, place: &Place) {
        match place.base {
            Base::Temp(temp) => {
                let now = self.clock;
                let life = self.lives[temp as usize].get_or_insert(Life {
                    first: now,
                    last: now,
                });
                life.last = now;
            }
            Base::Pointer(var) => {
                for place in self.pointees.get(&var).cloned().unwrap_or_default() {
                    self.touch(&place);
                }
            }
            Base::Input(_) | Base::Output(_) | Base::Const(_) => {}
        }
        place
            .dynamic
            .iter()
            .for_each(|dynamic| self.touch(&dynamic.index));
    }

    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            self.clock += 1;
            match stmt {
                Stmt::Nest { operands, .. }
                | Stmt::Tiles { operands, .. }
                | Stmt::Call { operands, .. } => {
                    operands.iter().for_each(|place| self.touch(place))
                }
                Stmt::Copy { from, to, .. } => {
                    self.touch(from);
                    self.touch(to);
                }
                Stmt::For { slots, body, .. } => self.repeated(slots, |walk| walk.block(body)),
                Stmt::While {
                    slots,
                    cond,
                    test,
                    body,
                } => self.repeated(slots, |walk| {
                    walk.block(cond);
                    walk.clock += 1;
                    walk.touch(test);
                    walk.block(body);
                }),
                Stmt::Switch { index, branches } => {
                    self.touch(index);
                    branches.iter().for_each(|branch| self.block(branch));
                }
            }
        }
    }

    /// What exists before a loop and is used in it is needed to its end.
    fn repeated(&mut self, slots: &[Slot], body: impl FnOnce(&mut Walk)) {
        for slot in slots {
            let buffers = slot.buffers.to_vec();
            buffers.iter().for_each(|place| self.touch(place));
            self.pointees.insert(slot.current, buffers.clone());
            self.pointees.insert(slot.next, buffers);
        }
        let start = self.clock;
        body(self);
        self.clock += 1;
        let end = self.clock;
        for life in self.lives.iter_mut().flatten() {
            if life.first <= start && life.last > start {
                life.last = end;
            }
        }
        self.loops.push(Life {
            first: start,
            last: end,
        });
        for slot in slots {
            slot.buffers.iter().for_each(|place| self.touch(place));
        }
    }

    /// What turns of a loop leave for after it, each a part, is needed from the loop's beginning.
    fn keep_through_loops(&mut self) {
        for turns in &self.loops {
            for life in self.lives.iter_mut().flatten() {
                if (turns.first..=turns.last).contains(&life.first) && life.last > turns.last {
                    life.first = turns.first;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use jaxide_testing::Random;

    /// Temporaries that are needed at the same time never share memory, and much of what is free is used again.
    #[test]
    fn temporaries_one_after_another() {
        let mut random = Random(7);
        for longest in [1, 4, 60, 3000] {
            let needed: Vec<(usize, Life, usize)> = (0..3000)
                .map(|k| {
                    let first = random.below(3000);
                    let last = first + random.below(longest);
                    (k, Life { first, last }, 64 * (1 + random.below(9)))
                })
                .collect();
            let (offsets, size) = one_after_another(needed.clone(), needed.len());
            let at_once = |time: usize| -> usize {
                let lives = needed.iter();
                let held = lives.filter(|(_, life, _)| life.first <= time && time <= life.last);
                held.map(|(_, _, size)| size).sum()
            };
            let most = (0..6000).map(at_once).max().unwrap_or(0);
            assert!(
                (most..=2 * most).contains(&size),
                "{size} bytes where {most} are needed"
            );
            for (k, (a, life, length)) in needed.iter().enumerate() {
                assert!(offsets[*a] + length <= size);
                for (b, other, long) in &needed[..k] {
                    let together = life.first <= other.last && other.first <= life.last;
                    let apart =
                        offsets[*a] + length <= offsets[*b] || offsets[*b] + long <= offsets[*a];
                    assert!(!together || apart, "{a} and {b}");
                }
            }
        }
    }
}
