//! Loops whose turns are shared out among threads.
//!
//! The turns of a loop that carries nothing can be run in any order, and at once, if none writes what another touches. What a turn keeps
//! for itself in temporaries is there once for each thread. Threads that have whole turns need not wait for each other at every step of a
//! turn, and what a step leaves is in the cache of the thread that goes on with it.

use super::work::nanoseconds;
use super::{Base, LoopVar, Place, PointerVar, Program, Slot, Stmt, Turns};
use crate::lanes::Access;
use crate::runtime::launch::pieces_for;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::ops::Range;

/// A loop of which threads take turns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ParallelLoop {
    /// Temporaries that each thread has for itself, ascending.
    pub(crate) own: Vec<u32>,
    /// Where they are in the arena: those of the thread that runs the program.
    pub(crate) memory: Range<usize>,
    /// How many turns a thread takes at once.
    pub(crate) at_once: usize,
    /// At most so many threads share out its turns.
    pub(crate) threads: usize,
    /// Whether a step of a turn is worth several threads by itself.
    pub(crate) splits: bool,
}

/// Loops of less work than so many pieces are not shared out.
const LEAST_PIECES: usize = 4;

/// Nanoseconds of a step that is better run by several threads than by one.
const LARGE_STEP: f64 = 50_000.0;

/// Bytes that the threads of a loop have for themselves at most, beyond those of the first.
const FOR_THREADS: usize = 256 << 20;

/// Limits the numbers of threads to what fits into `left` bytes; gives what `threads` threads take in addition to one.
pub(crate) fn admit_threads(program: &mut Program, threads: usize, left: usize) -> usize {
    let left = left.min(FOR_THREADS);
    let mut most = 0;
    let mut admit = |bytes: usize, admitted: &mut usize| {
        *admitted = left.checked_div(bytes).map_or(usize::MAX, |more| 1 + more);
        most = most.max(((*admitted).min(threads) - 1) * bytes);
    };
    for shared in &mut program.parallel {
        admit(shared.memory.len(), &mut shared.threads);
    }
    for group in &mut program.tiles {
        admit(group.kept_bytes(), &mut group.threads);
    }
    most
}

/// Finds the loops whose turns are shared out.
pub(crate) fn assign(program: &mut Program) {
    let mut mentions: HashMap<u32, usize> = HashMap::default();
    visit(program, &program.body, &mut |place, _| {
        if let Base::Temp(temp) = place.base {
            *mentions.entry(temp).or_default() += 1;
        }
    });
    let mut body = std::mem::take(&mut program.body);
    let mut search = Search {
        program,
        mentions,
        pointees: HashMap::default(),
        found: Vec::new(),
    };
    search.block(&mut body);
    let found = search.found;
    program.parallel = found;
    program.body = body;
}

/// Calls `f` for each mention of an array, and whether it is written to.
pub(crate) fn visit(program: &Program, stmts: &[Stmt], f: &mut dyn FnMut(&Place, bool)) {
    for stmt in stmts {
        match stmt {
            Stmt::Nest { kernel, operands } => nest(program, *kernel, operands, f),
            Stmt::Tiles { group, operands } => {
                for (kernel, own) in program.nests_of(*group, operands) {
                    nest(program, kernel, own, f);
                }
            }
            Stmt::Call { call, operands } => {
                let call = &program.calls[*call as usize];
                let read = call.call.signature().inputs.len();
                for (k, place) in operands.iter().enumerate() {
                    mention(place, k >= read, f);
                }
            }
            Stmt::Copy { from, to, .. } => {
                mention(from, false, f);
                mention(to, true, f);
            }
            Stmt::For { slots, body, .. } => {
                buffers(slots, f);
                visit(program, body, f);
            }
            Stmt::While {
                slots,
                cond,
                test,
                body,
            } => {
                buffers(slots, f);
                visit(program, cond, f);
                mention(test, false, f);
                visit(program, body, f);
            }
            Stmt::Switch { index, branches } => {
                mention(index, false, f);
                for branch in branches {
                    visit(program, branch, f);
                }
            }
        }
    }
}

fn nest(program: &Program, kernel: u32, operands: &[Place], f: &mut dyn FnMut(&Place, bool)) {
    let pointers = program.kernels[kernel as usize].body.pointers();
    for (place, access) in operands.iter().zip(pointers) {
        mention(place, *access == Access::ReadWrite, f);
    }
}

fn buffers(slots: &[Slot], f: &mut dyn FnMut(&Place, bool)) {
    for place in slots.iter().flat_map(|slot| &slot.buffers) {
        mention(place, true, f);
    }
}

fn mention(place: &Place, written: bool, f: &mut dyn FnMut(&Place, bool)) {
    f(place, written);
    for dynamic in &place.dynamic {
        mention(&dynamic.index, false, f);
    }
}

struct Search<'a> {
    program: &'a Program,
    /// How often each temporary is mentioned.
    mentions: HashMap<u32, usize>,
    /// For each changing pointer of the loops around, what it may point into, and its partner.
    pointees: HashMap<PointerVar, (Vec<Base>, PointerVar)>,
    found: Vec<ParallelLoop>,
}

/// What turns do with an array: where a turn begins to touch it, how far the next turn's place is, and whether it is written.
struct Touch {
    offset: i64,
    stride: i64,
    written: bool,
}

impl Search<'_> {
    fn block(&mut self, stmts: &mut [Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::For {
                    var,
                    count,
                    slots,
                    body,
                    turns,
                } => {
                    if *turns == Turns::AnyOrder
                        && slots.is_empty()
                        && let Some(found) = self.parallel(*var, *count, body)
                    {
                        *turns = Turns::Parallel(crate::narrow(self.found.len()));
                        self.found.push(found);
                        continue;
                    }
                    self.enter(slots);
                    self.block(body);
                }
                Stmt::While {
                    slots, cond, body, ..
                } => {
                    self.enter(slots);
                    self.block(cond);
                    self.block(body);
                }
                Stmt::Switch { branches, .. } => {
                    branches.iter_mut().for_each(|branch| self.block(branch));
                }
                Stmt::Nest { .. } | Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
            }
        }
    }

    fn enter(&mut self, slots: &[Slot]) {
        for slot in slots {
            let mut into = Vec::new();
            for place in &slot.buffers {
                into.push(place.base);
                into.extend(self.pointees(place.base));
            }
            self.pointees
                .insert(slot.current, (into.clone(), slot.next));
            self.pointees.insert(slot.next, (into, slot.current));
        }
    }

    /// What a pointer may point into.
    fn pointees(&self, base: Base) -> Vec<Base> {
        match base {
            Base::Pointer(var) => self
                .pointees
                .get(&var)
                .map(|(into, _)| into.clone())
                .unwrap_or_default(),
            Base::Input(_) | Base::Output(_) | Base::Const(_) | Base::Temp(_) => Vec::new(),
        }
    }

    /// How a loop is shared out, if it can be and is worth it.
    fn parallel(&self, var: LoopVar, count: usize, body: &[Stmt]) -> Option<ParallelLoop> {
        let program = self.program;
        let turn = nanoseconds(program, body);
        let pieces = pieces_for(turn * count as f64).min(count);
        if pieces < LEAST_PIECES {
            return None;
        }
        let mut own: HashMap<u32, usize> = HashMap::default();
        visit(program, body, &mut |place, _| {
            if let Base::Temp(temp) = place.base {
                *own.entry(temp).or_default() += 1;
            }
        });
        own.retain(|temp, count| self.mentions.get(temp) == Some(count));
        let inner = inner_pointers(body);
        let mut touched: HashMap<Base, Vec<Touch>> = HashMap::default();
        visit(program, body, &mut |place, written| {
            let is_own = matches!(place.base, Base::Temp(temp) if own.contains_key(&temp));
            // What the pointers of inner loops point into is mentioned where these begin.
            let is_inner = matches!(place.base, Base::Pointer(var) if inner.contains(&var));
            if !is_own && !is_inner {
                let steps = place.terms.iter().filter(|(of, _)| *of == var);
                touched.entry(place.base).or_default().push(Touch {
                    offset: place.offset,
                    stride: steps.map(|(_, step)| step).sum(),
                    written,
                });
            }
        });
        let apart = touched.iter().all(|(base, touches)| {
            !touches.iter().any(|touch| touch.written)
                || (are_apart(touches) && self.is_alone(*base, touched.keys().copied()))
        });
        if !apart {
            return None;
        }
        let mut own: Vec<u32> = own.into_keys().collect();
        own.sort_unstable();
        Some(ParallelLoop {
            own,
            memory: 0..0,
            threads: usize::MAX,
            at_once: count.div_ceil(pieces),
            splits: body
                .iter()
                .any(|stmt| nanoseconds(program, std::slice::from_ref(stmt)) > LARGE_STEP),
        })
    }

    /// Whether the memory of an array is not that of another by another name.
    fn is_alone(&self, base: Base, mut others: impl Iterator<Item = Base>) -> bool {
        let own = self.pointees(base);
        let partner = match base {
            Base::Pointer(var) => self.pointees.get(&var).map(|(_, partner)| *partner),
            Base::Input(_) | Base::Output(_) | Base::Const(_) | Base::Temp(_) => None,
        };
        others.all(|other| {
            if other == base || matches!(other, Base::Pointer(var) if Some(var) == partner) {
                return true;
            }
            let into = self.pointees(other);
            let same = |a: &Base| *a == other || into.contains(a);
            !own.iter().any(same) && !into.contains(&base)
        })
    }
}

/// Whether each turn touches a part of its own of an array that is written to.
fn are_apart(touches: &[Touch]) -> bool {
    let stride = touches[0].stride;
    let offsets = || touches.iter().map(|touch| touch.offset);
    let (Some(first), Some(last)) = (offsets().min(), offsets().max()) else {
        return true;
    };
    // A part is as long as the way to the next one, and what starts inside a part ends there.
    stride != 0
        && touches.iter().all(|touch| touch.stride == stride)
        && last.abs_diff(first) < stride.unsigned_abs()
}

/// Pointers that loops inside change.
pub(crate) fn inner_pointers(stmts: &[Stmt]) -> HashSet<PointerVar> {
    let mut pointers = HashSet::default();
    let mut open: Vec<&Stmt> = stmts.iter().collect();
    while let Some(stmt) = open.pop() {
        let mut enter = |slots: &[Slot]| {
            pointers.extend(slots.iter().flat_map(|slot| [slot.current, slot.next]));
        };
        match stmt {
            Stmt::For { slots, body, .. } => {
                enter(slots);
                open.extend(body);
            }
            Stmt::While {
                slots, cond, body, ..
            } => {
                enter(slots);
                open.extend(cond.iter().chain(body));
            }
            Stmt::Switch { branches, .. } => open.extend(branches.iter().flatten()),
            Stmt::Nest { .. } | Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
        }
    }
    pointers
}

/// A loop whose turns are shared out, and what changes around it.
pub(crate) struct Shared<'a> {
    pub(crate) number: usize,
    pub(crate) var: LoopVar,
    pub(crate) count: usize,
    pub(crate) body: &'a [Stmt],
    /// Loops around it.
    pub(crate) loops: Vec<LoopVar>,
    /// Pointers of the loops around it.
    pub(crate) pointers: Vec<PointerVar>,
}

/// The loops whose turns are shared out, in the order of their numbers.
pub(crate) fn shared(program: &Program) -> Vec<Shared<'_>> {
    let mut found = Vec::new();
    shared_in(&program.body, &mut (Vec::new(), Vec::new()), &mut found);
    found
}

fn shared_in<'a>(
    stmts: &'a [Stmt],
    around: &mut (Vec<LoopVar>, Vec<PointerVar>),
    found: &mut Vec<Shared<'a>>,
) {
    for stmt in stmts {
        let (loops, pointers) = (around.0.len(), around.1.len());
        let mut enter = |slots: &[Slot]| {
            let both = |slot: &Slot| [slot.current, slot.next];
            around.1.extend(slots.iter().flat_map(both));
        };
        match stmt {
            Stmt::For {
                var,
                count,
                body,
                turns: Turns::Parallel(number),
                ..
            } => found.push(Shared {
                number: *number as usize,
                var: *var,
                count: *count,
                body,
                loops: around.0.clone(),
                pointers: around.1.clone(),
            }),
            Stmt::For {
                var, slots, body, ..
            } => {
                enter(slots);
                around.0.push(*var);
                shared_in(body, around, found);
            }
            Stmt::While {
                slots, cond, body, ..
            } => {
                enter(slots);
                shared_in(cond, around, found);
                shared_in(body, around, found);
            }
            Stmt::Switch { branches, .. } => {
                for branch in branches {
                    shared_in(branch, around, found);
                }
            }
            Stmt::Nest { .. } | Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
        }
        around.0.truncate(loops);
        around.1.truncate(pointers);
    }
}
