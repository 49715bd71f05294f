//! Loops whose steps one thread runs.
//!
//! What a thread has written is in its core's cache, and comes to another core at a fraction of the speed of the latter's own. Where some steps
//! of a turn are worth several threads and others are not, arrays go to and fro between cores in every turn, which can take longer than what
//! threads save.

use super::work::{nanoseconds, traffic};
use super::{Base, Place, PointerVar, Program, Slot, Stmt, Turns};
use crate::runtime::launch::pieces_for;
use rustc_hash::FxHashMap as HashMap;

/// Nanoseconds for a byte that another core has written.
const BYTE: f64 = 0.1;
/// Nanoseconds until threads have begun and ended.
const LAUNCH: f64 = 1500.0;
/// Bytes of arrays that a turn touches, beyond which they are in no core's own cache.
const NEAR: u64 = 2 << 20;
/// A turn of more steps is not looked at.
const MOST_STEPS: usize = 256;

/// Finds the loops.
pub(crate) fn assign(program: &mut Program) {
    let mut search = Search {
        program,
        arrays: HashMap::default(),
        alone: Vec::new(),
    };
    search.block(&program.body);
    for step in search.alone {
        match step {
            Alone::Kernel(kernel) => program.kernels[kernel as usize].schedule.alone = true,
            Alone::Group(group) => program.tiles[group as usize].alone = true,
        }
    }
}

/// A step for one thread.
enum Alone {
    Kernel(u32),
    Group(u32),
}

struct Search<'a> {
    program: &'a Program,
    /// The array that stands for what a changing pointer of the loops around points to: both of a slot's are one.
    arrays: HashMap<PointerVar, Base>,
    alone: Vec<Alone>,
}

impl Search<'_> {
    fn block(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::For {
                    turns: Turns::Parallel(_),
                    ..
                } => {}
                Stmt::For { slots, body, .. } => self.turn(slots, &[body]),
                Stmt::While {
                    slots, cond, body, ..
                } => self.turn(slots, &[cond, body]),
                Stmt::Switch { branches, .. } => {
                    branches.iter().for_each(|branch| self.block(branch));
                }
                Stmt::Nest { .. } | Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
            }
        }
    }

    /// What a loop does in each turn.
    fn turn(&mut self, slots: &[Slot], blocks: &[&Vec<Stmt>]) {
        for slot in slots {
            let base = self.array(slot.buffers[0].base);
            self.arrays.insert(slot.current, base);
            self.arrays.insert(slot.next, base);
        }
        let steps: Vec<&Stmt> = blocks.iter().copied().flatten().collect();
        let plain = |stmt: &&Stmt| {
            matches!(
                stmt,
                Stmt::Nest { .. } | Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. }
            )
        };
        if !steps.iter().all(plain) {
            return blocks.iter().for_each(|block| self.block(block));
        }
        if steps.len() > MOST_STEPS || !steps.iter().any(|stmt| self.is_shared(stmt)) {
            return;
        }
        let steps: Vec<Costs> = steps.iter().map(|stmt| self.costs(stmt)).collect();
        let arrays = touched(&steps);
        if arrays.values().sum::<u64>() > NEAR {
            return;
        }
        if total(&steps, &arrays, false) > total(&steps, &arrays, true) {
            self.alone
                .extend(steps.into_iter().filter_map(|step| step.own));
        }
    }

    fn array(&self, base: Base) -> Base {
        match base {
            Base::Pointer(pointer) => self.arrays.get(&pointer).copied().unwrap_or(base),
            Base::Input(_) | Base::Output(_) | Base::Const(_) | Base::Temp(_) => base,
        }
    }

    /// Whether a step is worth several threads by itself, and can be given to one.
    fn is_shared(&self, stmt: &Stmt) -> bool {
        matches!(stmt, Stmt::Nest { .. } | Stmt::Tiles { .. })
            && pieces_for(self.nanoseconds(stmt)) > 1
    }

    fn nanoseconds(&self, stmt: &Stmt) -> f64 {
        nanoseconds(self.program, std::slice::from_ref(stmt))
    }

    fn costs(&self, stmt: &Stmt) -> Costs {
        let program = self.program;
        let mut moves = Vec::new();
        let mut touch = |place: &Place, written: bool, bytes: u64| {
            moves.push(Move {
                array: self.array(place.base),
                written,
                bytes,
            });
        };
        let mut nest = |kernel: u32, operands: &[Place]| {
            for (operand, written, bytes) in traffic(&program.kernels[kernel as usize]) {
                touch(&operands[operand], written, bytes);
            }
        };
        let own = match stmt {
            Stmt::Nest { kernel, operands } => {
                nest(*kernel, operands);
                Some(Alone::Kernel(*kernel))
            }
            Stmt::Tiles { group, operands } => {
                for (kernel, own) in program.nests_of(*group, operands) {
                    nest(kernel, own);
                }
                Some(Alone::Group(*group))
            }
            Stmt::Call { call, operands } => {
                let signature = program.calls[*call as usize].call.signature();
                let sizes = signature.inputs.iter().chain(&signature.outputs);
                for (k, (place, &bytes)) in operands.iter().zip(sizes).enumerate() {
                    touch(place, k >= signature.inputs.len(), bytes as u64);
                }
                None
            }
            Stmt::Copy { from, to, bytes } => {
                touch(from, false, *bytes as u64);
                touch(to, true, *bytes as u64);
                None
            }
            Stmt::For { .. } | Stmt::While { .. } | Stmt::Switch { .. } => None,
        };
        let time = self.nanoseconds(stmt);
        Costs {
            time,
            by_threads: pieces_for(time) > 1,
            own,
            moves,
        }
    }
}

/// What a step costs.
struct Costs {
    /// Nanoseconds on one thread.
    time: f64,
    /// Whether it is worth several threads by itself.
    by_threads: bool,
    /// The step, where it can be given to one thread.
    own: Option<Alone>,
    moves: Vec<Move>,
}

/// Bytes of an array that a step reads or writes.
struct Move {
    array: Base,
    written: bool,
    bytes: u64,
}

/// Bytes of each array that some step touches.
fn touched(steps: &[Costs]) -> HashMap<Base, u64> {
    let mut bytes: HashMap<Base, u64> = HashMap::default();
    for own in steps.iter().flat_map(|step| &step.moves) {
        let most = bytes.entry(own.array).or_default();
        *most = own.bytes.max(*most);
    }
    bytes
}

/// Nanoseconds of a turn on two threads, where the turn before has left arrays as this one does; or with all steps on one thread that can be.
fn total(steps: &[Costs], arrays: &HashMap<Base, u64>, alone: bool) -> f64 {
    let mut shared: HashMap<Base, bool> = HashMap::default();
    let mut sum = 0.0;
    for _ in 0..2 {
        sum = 0.0;
        for step in steps {
            let threads = step.by_threads && !(alone && step.own.is_some());
            sum += if threads {
                LAUNCH + step.time / 2.0
            } else {
                step.time
            };
            for own in &step.moves {
                if shared
                    .get(&own.array)
                    .is_some_and(|&before| before != threads)
                {
                    sum += own.bytes as f64 / 2.0 * BYTE;
                }
            }
            // The edges of an array are few of its lines.
            let most = |own: &&Move| own.written && 2 * own.bytes >= arrays[&own.array];
            for own in step.moves.iter().filter(most) {
                shared.insert(own.array, threads);
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step that reads and writes so many bytes of one array.
    fn step(time: f64, read: u32, written: u32, bytes: u64) -> Costs {
        let touch = |array, written| Move {
            array: Base::Temp(array),
            written,
            bytes,
        };
        Costs {
            time,
            by_threads: pieces_for(time) > 1,
            own: Some(Alone::Kernel(0)),
            moves: vec![touch(read, false), touch(written, true)],
        }
    }

    fn threads_pay(steps: &[Costs]) -> bool {
        let arrays = touched(steps);
        total(steps, &arrays, false) < total(steps, &arrays, true)
    }

    #[test]
    fn threads_pay_where_arrays_stay() {
        let bytes = 100_000;
        // Each thread goes on with what it has written.
        assert!(threads_pay(&[
            step(14e3, 0, 1, bytes),
            step(14e3, 1, 0, bytes)
        ]));
        // One thread writes what both read, and reads what both have written.
        assert!(!threads_pay(&[
            step(14e3, 0, 1, bytes),
            step(3e3, 1, 0, bytes)
        ]));
        // Much work on few bytes.
        assert!(threads_pay(&[
            step(60e3, 0, 1, bytes),
            step(3e3, 1, 0, bytes)
        ]));
        // The edges of an array alone are no reason.
        let mut edges = step(1e3, 0, 0, 4000);
        edges.moves.remove(0);
        assert!(threads_pay(&[step(14e3, 0, 0, bytes), edges]));
    }
}
