//! Every access of a program lies inside an array of its own.
//!
//! Sizes are those that the program states; addresses are followed from there again, not taken from what made them.

use super::{
    Base, Dynamic, LoopVar, OutputSource, Place, PointerVar, Program, RowsOf, Slot, Stmt, TileGroup,
};
use crate::lanes::extent::{Domain, extents};
use crate::lower::emit::Kernel;
use jaxide_core::{Error, ErrorKind, Result, byte_size};
use rustc_hash::FxHashMap as HashMap;

/// # Errors
/// Of kind [`ErrorKind::Internal`], when some access may go outside; the message names the step and the access.
pub(super) fn verify(program: &Program) -> Result<()> {
    let mut check = Verify {
        program,
        loops: HashMap::default(),
        pointers: HashMap::default(),
    };
    check.block(&program.body)
}

struct Verify<'a> {
    program: &'a Program,
    /// Numbers of turns of the loops around.
    loops: HashMap<LoopVar, usize>,
    /// What changing pointers point to.
    pointers: HashMap<PointerVar, Vec<Place>>,
}

/// An address: how many bytes before and behind it may be touched.
#[derive(Clone, Copy, Debug)]
struct Room {
    before: i128,
    behind: i128,
}

fn broken(what: impl Into<String>) -> Error {
    Error::new(ErrorKind::Internal, what)
}

impl Verify<'_> {
    fn block(&mut self, stmts: &[Stmt]) -> Result<()> {
        stmts.iter().try_for_each(|stmt| self.stmt(stmt))
    }

    fn stmt(&mut self, stmt: &Stmt) -> Result<()> {
        match stmt {
            Stmt::Nest { kernel, operands } => {
                let kernel = &self.program.kernels[*kernel as usize];
                self.nest(kernel, &domain(kernel), operands, |_| true)
            }
            Stmt::Tiles { group, operands } => {
                let group = &self.program.tiles[*group as usize];
                let mut rest = &operands[..];
                for nest in &group.nests {
                    let kernel = &self.program.kernels[nest.kernel as usize];
                    let (own, others) = rest
                        .split_at_checked(kernel.operands.len())
                        .ok_or_else(|| broken("a group of nests has too few operands"))?;
                    rest = others;
                    // Of some temporaries there is a block, where each block is in turn.
                    let first = first_block(kernel, group, nest.rows);
                    let is_kept = |place: &Place| match place.base {
                        Base::Temp(temp) => group.kept.iter().any(|kept| kept.temp == temp),
                        _ => false,
                    };
                    self.nest(kernel, &domain(kernel), own, |place| !is_kept(place))?;
                    self.nest(kernel, &first, own, is_kept)?;
                }
                Ok(())
            }
            Stmt::Call { call, operands } => {
                let call = &self.program.calls[*call as usize];
                let signature = call.call.signature();
                let sizes = signature.inputs.iter().chain(&signature.outputs);
                if operands.len() != signature.inputs.len() + signature.outputs.len() {
                    return Err(broken(format!(
                        "{} has another number of operands",
                        call.name
                    )));
                }
                for (place, &bytes) in operands.iter().zip(sizes) {
                    self.holds(place, 0, bytes as i128, &call.name)?;
                }
                Ok(())
            }
            Stmt::Copy { from, to, bytes } => {
                self.holds(from, 0, *bytes as i128, "a copy")?;
                self.holds(to, 0, *bytes as i128, "a copy")
            }
            Stmt::For {
                var,
                count,
                slots,
                body,
                turns: _,
            } => {
                self.slots(slots)?;
                self.loops.insert(*var, *count);
                self.block(body)
            }
            Stmt::While {
                slots,
                cond,
                test,
                body,
            } => {
                self.slots(slots)?;
                self.block(cond)?;
                self.holds(test, 0, 1, "the test of a loop")?;
                self.block(body)
            }
            Stmt::Switch { index, branches } => {
                self.holds(index, 0, 4, "a switch")?;
                branches.iter().try_for_each(|branch| self.block(branch))
            }
        }
    }

    fn slots(&mut self, slots: &[Slot]) -> Result<()> {
        for slot in slots {
            for place in &slot.buffers {
                self.holds(place, 0, 0, "a carried array")?;
            }
            self.pointers.insert(slot.current, slot.buffers.to_vec());
            self.pointers.insert(slot.next, slot.buffers.to_vec());
        }
        Ok(())
    }

    /// Follows the accesses of a nest to those operands that are `looked_at`.
    fn nest(
        &self,
        kernel: &Kernel,
        domain: &Domain,
        operands: &[Place],
        looked_at: impl Fn(&Place) -> bool,
    ) -> Result<()> {
        let name = &kernel.name;
        if operands.len() != kernel.body.pointers().len() {
            return Err(broken(format!("{name} has another number of operands")));
        }
        for extent in extents(&kernel.body, domain) {
            let place = &operands[extent.pointer.index()];
            if !looked_at(place) {
                continue;
            }
            let access = if extent.store {
                "stores to"
            } else {
                "loads from"
            };
            let what = format!("{name} {access} {}", extent.pointer);
            self.holds(place, extent.first, extent.end, &what)
                .map_err(|error| error.note(kernel.to_string()))?;
        }
        Ok(())
    }

    /// Whether bytes `first..end` behind a place are inside its array.
    fn holds(&self, place: &Place, first: i128, end: i128, what: &str) -> Result<()> {
        for room in self.rooms(place)? {
            if end > first && (-first > room.before || end > room.behind) {
                return Err(broken(format!(
                    "{what}: bytes {first}..{end} at {place}, which has {} before and {} behind it",
                    room.before, room.behind
                )));
            }
        }
        Ok(())
    }

    /// The least room that a place has, for each array that it may be in.
    fn rooms(&self, place: &Place) -> Result<Vec<Room>> {
        let bases = match place.base {
            Base::Pointer(var) => {
                let places = self.pointers.get(&var);
                let places = places.ok_or_else(|| broken(format!("{var} points nowhere")))?;
                let mut rooms = Vec::new();
                for place in places {
                    rooms.extend(self.rooms(place)?);
                }
                rooms
            }
            base => vec![Room {
                before: 0,
                behind: self.bytes(base)? as i128,
            }],
        };
        let (mut low, mut high) = (i128::from(place.offset), i128::from(place.offset));
        let mut step = |count: i128, stride: i64| {
            let most = count.max(0) * i128::from(stride);
            low += most.min(0);
            high += most.max(0);
        };
        for &(var, stride) in &place.terms {
            let turns = self.loops.get(&var);
            let turns = turns.ok_or_else(|| broken(format!("{var} is no loop around {place}")))?;
            step(*turns as i128 - 1, stride);
        }
        for dynamic in &place.dynamic {
            self.index(dynamic)?;
            step(dynamic.most.into(), dynamic.stride);
        }
        let rooms = bases.into_iter().map(|room| Room {
            before: room.before + low,
            behind: room.behind - high,
        });
        Ok(rooms.collect())
    }

    fn index(&self, dynamic: &Dynamic) -> Result<()> {
        self.holds(&dynamic.index, 0, dynamic.dtype.size() as i128, "an index")
    }

    fn bytes(&self, base: Base) -> Result<usize> {
        let program = self.program;
        let found = match base {
            Base::Input(k) => (program.inputs.get(k as usize))
                .map(|(dtype, shape)| byte_size(shape, *dtype))
                .transpose()?,
            Base::Output(k) => (program.outputs.get(k as usize))
                .filter(|output| output.source == OutputSource::Computed)
                .map(|output| byte_size(&output.shape, output.dtype))
                .transpose()?,
            Base::Const(k) => program
                .consts
                .get(k as usize)
                .map(|array| array.bytes().len()),
            Base::Temp(k) => {
                let place = program
                    .temps
                    .get(k as usize)
                    .zip(program.offsets.get(k as usize));
                let inside = |&(&bytes, &offset): &(&usize, &usize)| {
                    offset
                        .checked_add(bytes)
                        .is_some_and(|end| end <= program.arena)
                };
                place.filter(inside).map(|(&bytes, _)| bytes)
            }
            Base::Pointer(_) => None,
        };
        found.ok_or_else(|| broken(format!("{base} has no memory")))
    }
}

/// How far the indices of a lane program go in the first block of a group.
fn first_block(kernel: &Kernel, group: &TileGroup, rows: RowsOf) -> Domain {
    let mut domain = domain(kernel);
    match rows {
        RowsOf::Outer => domain.outer[0] = group.block,
        RowsOf::Inner => {
            if let Some((first, count, rows)) = &mut domain.rows {
                domain.outer[*first as usize] = group.block;
                domain.outer[*count as usize] = group.block + 1;
                *rows = group.block;
            }
        }
        RowsOf::Lanes(lanes) => domain.lanes = group.block * lanes,
    }
    domain
}

/// How far the indices of a lane program go, from how it is run.
fn domain(kernel: &Kernel) -> Domain {
    let schedule = &kernel.schedule;
    let mut outer = schedule.outer.clone();
    let mut rows = None;
    if let Some(count) = schedule.rows {
        let first = crate::narrow(outer.len());
        // Chunks start at multiples of their length, other rows anywhere.
        let start = match schedule.chunk {
            Some(chunk) => count.saturating_sub(1) / chunk * chunk,
            None => count.saturating_sub(1),
        };
        let most = schedule.chunk.unwrap_or(count).min(count);
        outer.extend([start + 1, most + 1]);
        rows = Some((first, first + 1, count));
    }
    if schedule.partials.is_some() {
        outer.push(schedule.partial_count());
    }
    // Inline programs have indices that stay 0.
    outer.resize(outer.len().max(kernel.body.outer()), 1);
    Domain {
        lanes: schedule.lanes,
        outer,
        rows,
    }
}
