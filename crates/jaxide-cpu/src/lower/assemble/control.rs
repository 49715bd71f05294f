//! Loops and branches whose state is in memory.
//!
//! A carried array has two buffers that change roles every turn, unless the body updates it in place, makes the next one where this
//! turn's is, or leaves it alone.

use super::liveness::LastUses;
use super::{Assembler, Steps, Targets};
use crate::lower::graph::{NodeId, Op, Region, ValueId};
use crate::lower::program::{Base, Place, Slot, Stmt, Turns};
use jaxide_core::{Error, ErrorKind, Result};

/// How a loop carries one array.
struct Carried {
    /// Where a turn finds it.
    current: Place,
    /// Where a turn leaves the next one; `None` where it stays in its place.
    slot: Option<Slot>,
}

impl Assembler<'_> {
    pub(super) fn scan(&mut self, id: NodeId, steps: &Steps, stmts: &mut Vec<Stmt>) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        let Op::Scan {
            body,
            carries,
            length,
            reverse,
        } = &node.op
        else {
            return Err(Error::new(ErrorKind::Internal, "a scan is expected"));
        };
        let (carries, length) = (*carries, *length);
        self.borrowed.extend(&body.params[carries..]);
        let carried = self.carry(
            body,
            steps,
            &node.args[..carries],
            &node.results[..carries],
            Some(length),
            stmts,
        )?;
        let var = self.new_loop();
        let slice = |place: Place, bytes: usize| {
            let bytes = bytes as i64;
            if *reverse {
                place.plus((length as i64 - 1) * bytes).term(var, -bytes)
            } else {
                place.term(var, bytes)
            }
        };
        for (&param, &xs) in body.params[carries..].iter().zip(&node.args[carries..]) {
            let place = slice(self.place(xs)?, graph.value(param).bytes());
            self.places.insert(param, place);
        }
        let mut targets: Targets = carried
            .iter()
            .map(|carry| {
                carry
                    .slot
                    .as_ref()
                    .map(|slot| Place::at(Base::Pointer(slot.next)))
            })
            .collect();
        for (&stack, &result) in node.results[carries..].iter().zip(&body.results[carries..]) {
            let whole = self.place_or_new(stack);
            targets.push(Some(slice(whole, graph.value(result).bytes())));
        }
        if length > 0 {
            let turns = if carries == 0 && !graph.has_effect(&node.op) {
                Turns::AnyOrder
            } else {
                Turns::InOrder
            };
            let inner = self.region(body, steps, &targets, &[])?;
            let slots = carried
                .iter()
                .filter_map(|carry| carry.slot.clone())
                .collect();
            stmts.push(Stmt::For {
                var,
                count: length,
                slots,
                body: inner,
                turns,
            });
        }
        self.leave(&carried, &node.results[..carries], Some(length), stmts);
        Ok(())
    }

    pub(super) fn while_loop(
        &mut self,
        id: NodeId,
        cond_steps: &Steps,
        body_steps: &Steps,
        stmts: &mut Vec<Stmt>,
    ) -> Result<()> {
        let node = self.graph.node(id);
        let Op::While { cond, body } = &node.op else {
            return Err(Error::new(ErrorKind::Internal, "a while loop is expected"));
        };
        if !self.graph.shape(cond.results[0]).is_empty() {
            let what = "a loop in memory has lanes that stop one by one";
            return Err(Error::new(ErrorKind::Internal, what));
        }
        let carried = self.carry(body, body_steps, &node.args, &node.results, None, stmts)?;
        for (&param, carry) in cond.params.iter().zip(&carried) {
            self.places.insert(param, carry.current.clone());
        }
        // The body and what follows the loop go on with the state that the condition looks at.
        self.borrowed.extend(&cond.params);
        let test = self.new_temp(1);
        let cond = self.region(cond, cond_steps, &[Some(test.clone())], &[])?;
        let targets: Targets = carried
            .iter()
            .map(|carry| {
                carry
                    .slot
                    .as_ref()
                    .map(|slot| Place::at(Base::Pointer(slot.next)))
            })
            .collect();
        let inner = self.region(body, body_steps, &targets, &[])?;
        let slots = carried
            .iter()
            .filter_map(|carry| carry.slot.clone())
            .collect();
        stmts.push(Stmt::While {
            slots,
            cond,
            test,
            body: inner,
        });
        self.leave(&carried, &node.results, None, stmts);
        Ok(())
    }

    /// Brings the initial values into the loop's buffers.
    fn carry(
        &mut self,
        body: &Region,
        steps: &Steps,
        inits: &[ValueId],
        results: &[ValueId],
        turns: Option<usize>,
        stmts: &mut Vec<Stmt>,
    ) -> Result<Vec<Carried>> {
        let graph = self.graph;
        let uses = LastUses::of(self, body, steps, &[]);
        let mut carried = Vec::new();
        for (k, &init) in inits.iter().enumerate() {
            let (param, next) = (body.params[k], body.results[k]);
            let bytes = graph.value(param).bytes();
            let remade = self.remade(param, next, (body, steps), &uses);
            let stays = next == param || uses.first_version(next) == param || remade;
            // The last turn writes into the buffer that the result is wanted in.
            let wanted = self.places.get(&results[k]).cloned();
            let mut buffers = [self.new_temp(bytes), self.new_temp(bytes)];
            let direct = match turns {
                Some(turns) => Some(if stays { 0 } else { turns % 2 }),
                None => stays.then_some(0),
            };
            if let (Some(wanted), Some(at)) = (wanted, direct) {
                buffers[at] = wanted;
            }
            let [first, second] = buffers;
            let from = self.place(init)?;
            if bytes > 0 {
                stmts.push(Stmt::Copy {
                    from,
                    to: first.clone(),
                    bytes,
                });
            }
            let carry = if stays {
                Carried {
                    current: first,
                    slot: None,
                }
            } else {
                let slot = Slot {
                    current: self.new_pointer(),
                    next: self.new_pointer(),
                    buffers: [first, second],
                };
                Carried {
                    current: Place::at(Base::Pointer(slot.current)),
                    slot: Some(slot),
                }
            };
            self.places.insert(param, carry.current.clone());
            if remade {
                let owner = self.plan.stored.owner(next);
                self.places.insert(owner, carry.current.clone());
                // Until this turn's array is read no more, its memory is not the next one's.
                self.lent.insert(owner);
            }
            carried.push(carry);
        }
        Ok(carried)
    }

    /// Whether the next value of a carried array is made where this turn's is.
    fn remade(
        &self,
        param: ValueId,
        next: ValueId,
        body: (&Region, &Steps),
        uses: &LastUses,
    ) -> bool {
        let owner = self.plan.stored.owner(next);
        uses.makes(owner)
            && !self.places.contains_key(&owner)
            && self.graph.value(owner).bytes() == self.graph.value(next).bytes()
            && self.can_be_made_over(param, owner, body, uses)
    }

    /// Says where the results of a loop are.
    fn leave(
        &mut self,
        carried: &[Carried],
        results: &[ValueId],
        turns: Option<usize>,
        stmts: &mut Vec<Stmt>,
    ) {
        for (carry, &result) in carried.iter().zip(results) {
            let last = match (&carry.slot, turns) {
                (None, _) => carry.current.clone(),
                (Some(slot), Some(turns)) => slot.buffers[turns % 2].clone(),
                (Some(slot), None) => Place::at(Base::Pointer(slot.current)),
            };
            match self.places.get(&result) {
                Some(wanted) if *wanted != last => {
                    let bytes = self.graph.value(result).bytes();
                    if bytes > 0 {
                        stmts.push(Stmt::Copy {
                            from: last,
                            to: wanted.clone(),
                            bytes,
                        });
                    }
                }
                _ => {
                    self.places.insert(result, last);
                }
            }
        }
    }

    pub(super) fn branch(
        &mut self,
        id: NodeId,
        steps: &[Steps],
        uses: &LastUses,
        stmts: &mut Vec<Stmt>,
    ) -> Result<()> {
        let graph = self.graph;
        let node = graph.node(id);
        let Op::Cond { branches } = &node.op else {
            return Err(Error::new(ErrorKind::Internal, "a branch is expected"));
        };
        let index = self.place(node.args[0])?;
        let mut targets = Targets::new();
        let mut given = Vec::new();
        for &result in &node.results {
            // A result that is an array from around the branch stays in its memory.
            if let Some(array) = uses.updated_in_place(result)
                && !self.places.contains_key(&result)
            {
                self.places.insert(result, self.place(array)?);
                given.push(array);
            }
            targets.push(Some(self.place_or_new(result)));
        }
        let mut blocks = Vec::new();
        for (region, steps) in branches.iter().zip(steps) {
            blocks.push(self.region(region, steps, &targets, &given)?);
        }
        stmts.push(Stmt::Switch {
            index,
            branches: blocks,
        });
        Ok(())
    }
}
