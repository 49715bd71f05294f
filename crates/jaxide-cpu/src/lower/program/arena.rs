//! Offsets of temporaries: two may share memory when they are never needed at the same time.

use super::{Base, Place, PointerVar, Program, Slot, Stmt};
use std::collections::HashMap;

/// Temporaries start at multiples of this.
const ALIGNMENT: usize = 64;

/// When a temporary is needed: from the first to the last step.
#[derive(Clone, Copy, Debug)]
struct Life {
    first: usize,
    last: usize,
}

/// Gives every temporary its offset, and so many bytes behind it that are nobody's.
pub(super) fn assign(program: &mut Program, fence: usize) {
    let room = |bytes: usize| (bytes + fence).next_multiple_of(ALIGNMENT);
    let mut walk = Walk {
        lives: vec![None; program.temps.len()],
        pointees: HashMap::new(),
        loops: Vec::new(),
        clock: 0,
    };
    walk.block(&program.body);
    walk.keep_through_loops();
    let mut order: Vec<usize> = (0..program.temps.len())
        .filter(|&k| walk.lives[k].is_some())
        .collect();
    // Large ones first find the best places.
    order.sort_by_key(|&k| (std::cmp::Reverse(program.temps[k]), k));
    program.offsets = vec![0; program.temps.len()];
    let mut placed: Vec<usize> = Vec::new();
    let mut arena = 0;
    for k in order {
        let Some(life) = walk.lives[k] else { continue };
        let size = room(program.temps[k]);
        let mut taken: Vec<(usize, usize)> = placed
            .iter()
            .filter(|&&other| {
                walk.lives[other].is_some_and(|l| l.first <= life.last && life.first <= l.last)
            })
            .map(|&other| (program.offsets[other], room(program.temps[other])))
            .collect();
        taken.sort_unstable();
        let mut offset = 0;
        for (start, length) in taken {
            if offset + size <= start {
                break;
            }
            offset = offset.max(start + length);
        }
        program.offsets[k] = offset;
        arena = arena.max(offset + size);
        placed.push(k);
    }
    program.arena = arena;
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
