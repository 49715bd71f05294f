//! Temporaries that share the memory of the result they are made for, and results that take over that of an argument which is given
//! away, or of what a loop carried to this turn: a nest that reads an array for the last time, each element where it writes one of its
//! own, may write over it.

use super::liveness::LastUses;
use super::{Assembler, Item, Nest, Root, Steps};
use crate::lower::graph::{Op, Region, ValueId};
use crate::lower::program::Place;
use rustc_hash::FxHashSet as HashSet;

/// Bytes of a vector, and of an array with short rows that had better be made beside another.
const VECTOR: usize = 64;
const FEW_BYTES: usize = 1 << 12;

impl Assembler<'_> {
    /// The place of a value that step `k` makes, if that is where its last reader leaves a result; and the place is free till then.
    pub(super) fn inherited(
        &mut self,
        k: usize,
        value: ValueId,
        (region, steps): (&Region, &Steps),
        uses: &LastUses,
    ) -> Option<Place> {
        let wanted = (region.results.iter()).any(|&result| self.plan.stored.owner(result) == value);
        if wanted {
            return None;
        }
        let last = uses.last_reader(value).filter(|&last| last > k)?;
        let Item::Nest(nest) = steps.items.get(last)? else {
            return None;
        };
        let bytes = self.graph.value(value).bytes();
        let heir = nest.roots.iter().find_map(|root| match root {
            Root::Store(result) if self.graph.value(*result).bytes() == bytes => Some(*result),
            _ => None,
        })?;
        let place = self.places.get(&heir)?.clone();
        let same_size = self.graph.dtype(heir).size() == self.graph.dtype(value).size();
        if !same_size || self.lent.contains(&heir) || !self.reads_own_points(nest, value) {
            return None;
        }
        self.lent.insert(heir);
        Some(place)
    }

    /// A donated argument in whose memory a result of the program can be made.
    pub(super) fn heir_of_argument(
        &self,
        result: ValueId,
        steps: &Steps,
        uses: &LastUses,
    ) -> Option<(usize, ValueId)> {
        let root = &self.graph.root;
        let params = root.params.iter().copied().enumerate();
        params
            .filter(|(_, param)| self.donated.contains(param))
            .find(|&(_, param)| self.can_be_made_over(param, result, (root, steps), uses))
    }

    /// Whether a result of a region can be made in the memory of one of its parameters: nothing reads the parameter after the step that
    /// makes the result, and that step only where it writes.
    pub(super) fn can_be_made_over(
        &self,
        param: ValueId,
        result: ValueId,
        (region, steps): (&Region, &Steps),
        uses: &LastUses,
    ) -> bool {
        let graph = self.graph;
        let returned = (region.results.iter()).any(|&of| self.plan.stored.owner(of) == param);
        if returned
            || uses.is_taken_over(result)
            || uses.updated_in_place(result).is_some()
            || uses.is_taken_over(param)
            || graph.value(param).bytes() != graph.value(result).bytes()
        {
            return false;
        }
        let making = (steps.items.iter()).position(|item| self.made_by(item).contains(&result));
        let Some(step) = making.filter(|&step| self.writes_at_once(&steps.items[step], result))
        else {
            return false;
        };
        match uses.last_reader(param) {
            Some(last) if last == step => {
                let Item::Nest(nest) = &steps.items[step] else {
                    return false;
                };
                graph.dtype(param).size() == graph.dtype(result).size()
                    && self.reads_own_points(nest, param)
                    && !self.waits_for_rows(param)
            }
            last => last.is_none_or(|last| last < step),
        }
    }

    /// Whether rows of an array are shorter than a vector: the load of a row would wait until the masked store of the row before is in memory.
    fn waits_for_rows(&self, value: ValueId) -> bool {
        let shape = self.graph.shape(value);
        let row = shape
            .last()
            .map_or(0, |&length| length * self.graph.dtype(value).size());
        shape.len() > 1 && row < VECTOR && self.graph.value(value).bytes() <= FEW_BYTES
    }

    /// Whether the memory of a result is written in the step that makes it, and by its own nest or call.
    fn writes_at_once(&self, item: &Item, result: ValueId) -> bool {
        match item {
            Item::Nest(nest) => nest.roots.contains(&Root::Store(result)),
            Item::Call(_) => true,
            Item::Loop(..) | Item::Branch(..) => false,
        }
    }

    /// Whether a nest reads a stored value only at the point that it makes, and before it stores anything there.
    fn reads_own_points(&self, nest: &Nest, value: ValueId) -> bool {
        let mut seen = HashSet::default();
        nest.roots.iter().all(|root| match root {
            Root::Store(result) => self.reads_point(nest, *result, value, true, &mut seen),
            Root::Fold { .. } | Root::Control(_) | Root::Update(_) | Root::Scatter(_) => false,
        })
    }

    fn reads_point(
        &self,
        nest: &Nest,
        from: ValueId,
        value: ValueId,
        same_point: bool,
        seen: &mut HashSet<(ValueId, bool)>,
    ) -> bool {
        if !seen.insert((from, same_point)) {
            return true;
        }
        let made_here = nest.roots.contains(&Root::Store(from));
        if self.storage(from).is_some() && !made_here {
            let other = self.plan.stored.owner(from) != value;
            return other || (same_point && from == value);
        }
        let Some(id) = self.graph.def(from) else {
            return true;
        };
        let node = self.graph.node(id);
        let mut regions = false;
        node.op.visit_regions(&mut |_| regions = true);
        if regions {
            return false;
        }
        node.args.iter().all(|&arg| {
            let elementwise =
                matches!(node.op, Op::Map(_)) && self.graph.shape(arg) == self.graph.shape(from);
            self.reads_point(nest, arg, value, same_point && elementwise, seen)
        })
    }
}
