//! Numbers in memory that the code has at hand as well.
//!
//! A counter is an array like all others: in memory, where nests, kernels and copies read and write it. A load that waits for the store
//! before it takes five cycles, though, and in a loop over a table, where each turn computes an index from that of the turn before, all of
//! them wait for each other. So the numbers of small arrays that scalar nests of a loop access are *cells*: such nests store them to memory
//! and to a variable of the code, and take the variable instead of loading. What other steps write is loaded anew behind them, and memory
//! is right at every step, for whoever else reads it.

use super::code::{Callees, Generator, Nest};
use crate::codegen::clif::{self, Cell};
use crate::lanes::{Body, Inst, MemTy, Stmt as LaneStmt};
use crate::lower::program::parallel::{inner_pointers, visit};
use crate::lower::program::{Base, Place, PointerVar, Program, Slot, Stmt, Turns};
use crate::narrow;
use cranelift_codegen::ir::{self, InstBuilder};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// Arrays of more bytes than this have no cells.
const MOST_BYTES: usize = 16;

/// A function has at most so many arrays with cells: there are not more registers.
const MOST_ARRAYS: usize = 64;

/// The cells of a function, by array.
#[derive(Default)]
pub(super) struct Cells {
    of: HashMap<Base, Vec<Cell>>,
}

impl Cells {
    fn of(&self, base: Base) -> &[Cell] {
        self.of.get(&base).map_or(&[], |cells| &cells[..])
    }
}

/// The arrays of `steps` that have cells, each with the places and types of its numbers; `looped` says whether a loop is around the steps.
fn find(callees: Callees<'_>, steps: &[Stmt], looped: bool) -> Vec<(Base, Vec<(i64, MemTy)>)> {
    let mut search = Search {
        callees,
        order: Vec::new(),
        numbers: HashMap::default(),
        looped: HashSet::default(),
        without: HashSet::default(),
        pointees: HashMap::default(),
        pairs: Vec::new(),
    };
    search.block(steps, looped);
    search.finish()
}

struct Search<'a> {
    callees: Callees<'a>,
    /// Arrays as they were met.
    order: Vec<Base>,
    /// What scalar nests load and store of them.
    numbers: HashMap<Base, Vec<(i64, MemTy)>>,
    /// Those that are accessed in loops.
    looped: HashSet<Base>,
    /// Those that have no cells.
    without: HashSet<Base>,
    /// What each pointer may point into, other pointers and what these point into included.
    pointees: HashMap<PointerVar, Vec<Base>>,
    /// Pointers that change roles.
    pairs: Vec<[Base; 2]>,
}

/// What a lane program does in a lane with the arrays of its operands: which operand, where, what type, and whether it stores.
fn accesses(
    body: &Body,
    lane: usize,
) -> impl Iterator<Item = (usize, Option<i64>, MemTy, bool)> + '_ {
    let stmts = body.blocks().iter().flat_map(|block| &block.stmts);
    stmts.filter_map(move |stmt| {
        let (ty, addr, stores) = match stmt {
            LaneStmt::Let(value) => match body.inst(*value) {
                Inst::Load(ty, addr) => (*ty, addr, false),
                _ => return None,
            },
            LaneStmt::Store { ty, addr, .. } => (*ty, addr, true),
            LaneStmt::For(_) | LaneStmt::While(_) | LaneStmt::If(_) => return None,
        };
        let at = clif::offset_of_lane(addr, lane);
        Some((addr.pointer.index(), at, ty, stores))
    })
}

/// Whether a place is known but for its base.
fn is_fixed(place: &Place) -> bool {
    place.terms.is_empty() && place.dynamic.is_empty()
}

impl Search<'_> {
    fn block(&mut self, steps: &[Stmt], looped: bool) {
        for step in steps {
            match step {
                Stmt::Nest { kernel, operands } => {
                    if let Nest::Inline = self.callees.nests[*kernel as usize] {
                        let kernel = &self.callees.program.kernels[*kernel as usize];
                        for lane in 0..kernel.schedule.lanes {
                            self.scalar_nest(&kernel.body, lane, operands, looped);
                        }
                    } else if looped {
                        self.written_by_others(std::slice::from_ref(step));
                    }
                }
                Stmt::For {
                    body,
                    turns: Turns::Parallel(_),
                    ..
                } if !self.callees.turns.is_empty() => self.written_by_others(body),
                Stmt::For { slots, body, .. } => {
                    self.slots(slots, &[body], None);
                    self.block(body, true);
                }
                Stmt::While {
                    slots,
                    cond,
                    test,
                    body,
                } => {
                    self.slots(slots, &[cond, body], Some(test));
                    self.block(cond, true);
                    self.block(body, true);
                }
                Stmt::Switch { branches, .. } => {
                    branches.iter().for_each(|steps| self.block(steps, looped));
                }
                // Outside of loops, what they write is loaded behind them.
                Stmt::Tiles { .. } | Stmt::Call { .. } if looped => {
                    self.written_by_others(std::slice::from_ref(step));
                }
                Stmt::Tiles { .. } | Stmt::Call { .. } | Stmt::Copy { .. } => {}
            }
        }
    }

    /// What steps write in loops, not being scalar nests, is left in memory: a load that follows a store of a vector at once waits for long.
    fn written_by_others(&mut self, steps: &[Stmt]) {
        let without = &mut self.without;
        visit(self.callees.program, steps, &mut |place, written| {
            if written {
                without.insert(place.base);
            }
        });
    }

    fn scalar_nest(&mut self, body: &Body, lane: usize, operands: &[Place], looped: bool) {
        for (k, at, ty, stores) in accesses(body, lane) {
            let place = &operands[k];
            let base = place.base;
            match at.filter(|_| is_fixed(place)) {
                Some(at) => {
                    let numbers = self.numbers.entry(base).or_insert_with(|| {
                        self.order.push(base);
                        Vec::new()
                    });
                    let number = (place.offset + at, ty);
                    if !numbers.contains(&number) {
                        numbers.push(number);
                    }
                    if looped {
                        self.looped.insert(base);
                    }
                }
                None if stores => {
                    self.without.insert(base);
                }
                None => {}
            }
        }
    }

    /// All that an array may be another name of.
    fn names(&self, base: Base) -> Vec<Base> {
        let mut names = vec![base];
        if let Base::Pointer(var) = base {
            names.extend(self.pointees.get(&var).into_iter().flatten());
        }
        names
    }

    fn roots(&self, slot: &Slot) -> Vec<Base> {
        let buffers = slot.buffers.iter();
        buffers.flat_map(|place| self.names(place.base)).collect()
    }

    /// Notes what the pointers of a loop point into. What its steps name in another way too, or two of its pairs of buffers share, has no
    /// cells.
    fn slots(&mut self, slots: &[Slot], bodies: &[&[Stmt]], test: Option<&Place>) {
        let own: HashSet<PointerVar> = (bodies.iter())
            .flat_map(|body| inner_pointers(body))
            .chain(slots.iter().flat_map(|slot| [slot.current, slot.next]))
            .collect();
        let mut named: HashMap<Base, usize> = HashMap::default();
        let mut name = |place: &Place| {
            let is_own = matches!(place.base, Base::Pointer(var) if own.contains(&var));
            if !is_own {
                let names = self.names(place.base).into_iter();
                named.extend(names.map(|name| (name, 1)));
            }
        };
        test.into_iter().for_each(&mut name);
        for body in bodies {
            visit(self.callees.program, body, &mut |place, _| name(place));
        }
        for slot in slots {
            let roots: HashSet<Base> = self.roots(slot).into_iter().collect();
            for root in roots {
                *named.entry(root).or_default() += 1;
            }
        }
        for slot in slots {
            let roots = self.roots(slot);
            let pair = [slot.current, slot.next].map(Base::Pointer);
            if roots.iter().any(|root| named[root] > 1) {
                self.without.extend(&roots);
                self.without.extend(pair);
            }
            self.pointees.insert(slot.current, roots.clone());
            self.pointees.insert(slot.next, roots);
            self.pairs.push(pair);
        }
    }

    /// Whether an array is known to be small.
    fn is_small(&self, base: Base) -> bool {
        let program: &Program = self.callees.program;
        let small = |dtype: jaxide_core::DType, shape: &[usize]| {
            let mut bytes = shape.iter().map(|&length| length as u128);
            bytes.all(|length| length <= MOST_BYTES as u128)
                && shape.iter().product::<usize>() * dtype.size() <= MOST_BYTES
        };
        match base {
            Base::Temp(temp) => program.temps[temp as usize] <= MOST_BYTES,
            Base::Input(k) => {
                let (dtype, shape) = &program.inputs[k as usize];
                small(*dtype, shape)
            }
            Base::Output(k) => {
                let output = &program.outputs[k as usize];
                small(output.dtype, &output.shape)
            }
            Base::Const(k) => program.consts[k as usize].bytes().len() <= MOST_BYTES,
            Base::Pointer(var) => self.pointees.get(&var).is_some_and(|roots| {
                let arrays = roots
                    .iter()
                    .filter(|root| !matches!(root, Base::Pointer(_)));
                let mut arrays = arrays.peekable();
                arrays.peek().is_some() && arrays.all(|&root| self.is_small(root))
            }),
        }
    }

    fn finish(mut self) -> Vec<(Base, Vec<(i64, MemTy)>)> {
        // Two pointers that change roles have the same cells, or none.
        for &[current, next] in &self.pairs {
            let mut numbers = self.numbers.get(&current).cloned().unwrap_or_default();
            for &number in self.numbers.get(&next).into_iter().flatten() {
                if !numbers.contains(&number) {
                    numbers.push(number);
                }
            }
            if self.without.contains(&current) || self.without.contains(&next) {
                self.without.extend([current, next]);
            }
            if self.looped.contains(&current) || self.looped.contains(&next) {
                self.looped.extend([current, next]);
            }
            for base in [current, next] {
                if self.numbers.insert(base, numbers.clone()).is_none() {
                    self.order.push(base);
                }
            }
        }
        let mut found = Vec::new();
        for &base in &self.order {
            let own = matches!(base, Base::Temp(_) | Base::Pointer(_));
            let numbers = &self.numbers[&base];
            let has_cells = own
                && self.looped.contains(&base)
                && !self.without.contains(&base)
                && self.is_small(base)
                && numbers.iter().all(|&(_, ty)| clif::has_cells(ty))
                && are_apart(numbers);
            if has_cells {
                found.push((base, numbers.clone()));
            }
        }
        if found.len() > MOST_ARRAYS {
            return Vec::new();
        }
        found
    }
}

/// Whether no two numbers share a byte.
fn are_apart(numbers: &[(i64, MemTy)]) -> bool {
    numbers.iter().enumerate().all(|(k, &(at, ty))| {
        numbers[..k]
            .iter()
            .all(|&(other, of)| at + ty.size() <= other || other + of.size() <= at)
    })
}

impl Generator<'_, '_> {
    /// Declares the cells of steps, and takes what is in memory where the code stands.
    pub(super) fn make_cells(&mut self, steps: &[Stmt], looped: bool) {
        if self.checked {
            return;
        }
        for (base, numbers) in find(self.callees, steps, looped) {
            let cells = numbers.into_iter().map(|(at, ty)| Cell {
                at,
                ty,
                variable: self.fb.declare_var(clif::scalar_type(ty.lane())),
            });
            let cells: Vec<Cell> = cells.collect();
            self.cells.of.insert(base, cells);
            // Pointers are set where their loops begin.
            if let Base::Temp(_) = base {
                self.load_cells(base);
            }
        }
    }

    /// The cells at a place, from there on.
    pub(super) fn cells_at(&self, place: &Place) -> Vec<Cell> {
        if !is_fixed(place) {
            return Vec::new();
        }
        let cells = self.cells.of(place.base).iter();
        let here = cells.map(|cell| Cell {
            at: cell.at - place.offset,
            ..*cell
        });
        here.collect()
    }

    /// Takes what another step left in an array.
    pub(super) fn load_cells(&mut self, base: Base) {
        self.fill_cells(base, &Place::at(base));
    }

    /// Takes what a step wrote elsewhere than in this function.
    pub(super) fn load_written(&mut self, step: &Stmt) {
        let mut written = Vec::new();
        visit(
            self.program,
            std::slice::from_ref(step),
            &mut |place, is_written| {
                if is_written && !self.cells.of(place.base).is_empty() {
                    written.push(place.base);
                }
            },
        );
        for base in written {
            self.load_cells(base);
        }
    }

    /// Takes what has just been copied: where that is the whole of an array, from what it was copied of.
    pub(super) fn copy_cells(&mut self, from: &Place, to: &Place, bytes: usize) {
        let ends = self.cells.of(to.base).iter();
        let mut ends = ends.map(|cell| cell.at + cell.ty.size());
        let whole = *to == Place::at(to.base) && ends.all(|end| end <= narrow(bytes));
        if whole {
            self.fill_cells(to.base, from);
        } else {
            self.load_cells(to.base);
        }
    }

    /// Takes what is at a place, which has just been copied into an array, or is another name of it.
    pub(super) fn fill_cells(&mut self, base: Base, from: &Place) {
        let cells = self.cells.of(base).to_vec();
        if cells.is_empty() {
            return;
        }
        let known = if from.base == base {
            Vec::new()
        } else {
            self.cells_at(from)
        };
        let mut address = None;
        for cell in cells {
            let same = known
                .iter()
                .find(|own| own.at == cell.at && own.ty == cell.ty);
            let value = match same {
                Some(own) => self.fb.use_var(own.variable),
                None => {
                    let address = *address.get_or_insert_with(|| self.address(from));
                    let at = self.fb.ins().iadd_imm_s(address, cell.at);
                    clif::load_one(&mut self.fb, cell.ty, at)
                }
            };
            self.fb.def_var(cell.variable, value);
        }
    }

    /// The number at a place, at hand or loaded.
    pub(super) fn number(&mut self, place: &Place, ty: MemTy) -> ir::Value {
        let cells = self.cells_at(place);
        match cells.iter().find(|cell| cell.at == 0 && cell.ty == ty) {
            Some(cell) => self.fb.use_var(cell.variable),
            None => {
                let at = self.address(place);
                clif::load_one(&mut self.fb, ty, at)
            }
        }
    }

    /// Gives the pointers of a loop that begins the cells of what they point to.
    pub(super) fn start_cells(&mut self, slots: &[Slot]) {
        for slot in slots {
            for (var, place) in [slot.current, slot.next].into_iter().zip(&slot.buffers) {
                self.fill_cells(Base::Pointer(var), place);
            }
        }
    }

    /// Changes the roles of the cells of a loop's pointers.
    pub(super) fn swap_cells(&mut self, slot: &Slot) {
        let [current, next] =
            [slot.current, slot.next].map(|var| self.cells.of(Base::Pointer(var)).to_vec());
        for (current, next) in current.iter().zip(&next) {
            let (old, new) = (
                self.fb.use_var(current.variable),
                self.fb.use_var(next.variable),
            );
            self.fb.def_var(current.variable, new);
            self.fb.def_var(next.variable, old);
        }
    }

    /// Takes what a loop left in the arrays that its pointers pointed into.
    pub(super) fn end_cells(&mut self, slots: &[Slot]) {
        for place in slots.iter().flat_map(|slot| &slot.buffers) {
            self.load_cells(place.base);
        }
    }
}
