//! Temporaries that share the memory of the result they are made for: a nest that reads an array for the last time, each element where it
//! writes one of its own, may write over it.

use super::liveness::LastUses;
use super::{Assembler, Item, Nest, Root, Steps};
use crate::lower::graph::{Op, Region, ValueId};
use crate::lower::program::Place;
use std::collections::HashSet;

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

    /// Whether a nest reads a stored value only at the point that it makes, and before it stores anything there.
    fn reads_own_points(&self, nest: &Nest, value: ValueId) -> bool {
        let mut seen = HashSet::new();
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
