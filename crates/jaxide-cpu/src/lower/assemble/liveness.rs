//! When the steps of a region last read what they make or are given.

use super::{Assembler, Item, Region, Root, Steps};
use crate::lower::graph::{NodeId, Op, ValueId};
use crate::lower::library;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// The last step of a region that reads each array, by the value that owns its memory.
pub(super) struct LastUses {
    last: HashMap<ValueId, usize>,
    /// Made by a step of the region.
    made: HashSet<ValueId>,
    /// Made here or given to the region alone, so that it may be overwritten.
    owned: HashSet<ValueId>,
    /// Results of updates, alone or in branches, with the array whose memory they take over.
    in_place: HashMap<ValueId, ValueId>,
    /// Arrays whose memory some update takes over.
    taken: HashSet<ValueId>,
    /// Updates, by step and operand, that read their indices or new values in the memory of their operand.
    reread: HashSet<(usize, ValueId)>,
}

impl LastUses {
    /// Of a region to which arrays from around it are `given`, that it may overwrite.
    pub(super) fn of(
        assembler: &Assembler<'_>,
        region: &Region,
        steps: &Steps,
        given: &[ValueId],
    ) -> LastUses {
        let graph = assembler.graph;
        let mut uses = LastUses {
            last: HashMap::default(),
            made: HashSet::default(),
            owned: HashSet::default(),
            in_place: HashMap::default(),
            taken: HashSet::default(),
            reread: HashSet::default(),
        };
        // Parameters of a loop's body are buffers of the loop's own, but for borrowed ones; those of the program are the caller's, but
        // for donated ones.
        if std::ptr::eq(region, &graph.root) {
            uses.owned.extend(&assembler.donated);
        } else {
            let own = region.params.iter();
            let own = own.filter(|param| !assembler.borrowed.contains(param));
            uses.owned.extend(own);
        }
        uses.owned.extend(given);
        for (k, item) in steps.items.iter().enumerate() {
            for value in assembler.read_by(item) {
                uses.last.insert(assembler.plan.stored.owner(value), k);
            }
            for value in assembler.made_by(item) {
                uses.made.insert(value);
                uses.owned.insert(value);
            }
        }
        for (k, item) in steps.items.iter().enumerate() {
            match item {
                Item::Nest(nest) => {
                    for root in &nest.roots {
                        let (Root::Update(id) | Root::Scatter(id)) = root else {
                            continue;
                        };
                        let node = graph.node(*id);
                        uses.keep_results(assembler, region, node.args[0]);
                        let owner = assembler.plan.stored.owner(node.args[0]);
                        let views_it =
                            |&value: &ValueId| assembler.plan.stored.owner(value) == owner;
                        let uncounted = library::uncounted(graph, node);
                        if node.args[1..].iter().chain(&uncounted).any(views_it) {
                            uses.reread.insert((k, node.args[0]));
                        }
                        if uses.can_update(k, node.args[0]) {
                            uses.in_place.insert(node.results[0], node.args[0]);
                            uses.taken.insert(owner);
                        }
                    }
                }
                Item::Branch(id, inner) => {
                    for (result, array) in assembler.updated_in_branches(*id, inner) {
                        uses.keep_results(assembler, region, array);
                        if uses.can_update(k, array) && !uses.taken.contains(&array) {
                            uses.in_place.insert(result, array);
                            uses.taken.insert(array);
                        }
                    }
                }
                Item::Call(_) | Item::Loop(..) => {}
            }
        }
        uses
    }

    /// Notes that results of the region are read at its end, if they are in the memory of an array.
    fn keep_results(&mut self, assembler: &Assembler<'_>, region: &Region, array: ValueId) {
        let owner = |value| assembler.plan.stored.owner(value);
        if region
            .results
            .iter()
            .any(|&value| owner(value) == owner(array))
        {
            self.last.insert(owner(array), usize::MAX);
        }
    }

    /// The last step that reads an array; `None` where none does.
    pub(super) fn last_reader(&self, value: ValueId) -> Option<usize> {
        self.last.get(&value).copied()
    }

    /// Whether a step of the region makes a value.
    pub(super) fn makes(&self, value: ValueId) -> bool {
        self.made.contains(&value)
    }

    /// Whether step `k` may update an array in its memory: it is not the caller's, has memory of its own, no later step reads it, and
    /// this one reads nothing else there.
    pub(super) fn can_update(&self, k: usize, value: ValueId) -> bool {
        self.owned.contains(&value)
            && !self.reread.contains(&(k, value))
            && self.last.get(&value).is_none_or(|&last| last <= k)
    }

    /// Whether an update takes over the memory of an array.
    pub(super) fn is_taken_over(&self, value: ValueId) -> bool {
        self.taken.contains(&value)
    }

    /// The array whose memory an update takes over.
    pub(super) fn updated_in_place(&self, value: ValueId) -> Option<ValueId> {
        self.in_place.get(&value).copied()
    }

    /// The first of the arrays in whose memory a value is made by updates: the value itself if it is no such update.
    pub(super) fn first_version(&self, mut value: ValueId) -> ValueId {
        while let Some(before) = self.updated_in_place(value) {
            value = before;
        }
        value
    }
}

impl Assembler<'_> {
    /// The results of a branch that are an array from around it in each of its regions, as it was or after updates in its memory; with
    /// that array.
    fn updated_in_branches(&self, id: NodeId, steps: &[Steps]) -> Vec<(ValueId, ValueId)> {
        let node = self.graph.node(id);
        let Op::Cond { branches } = &node.op else {
            return Vec::new();
        };
        // By result, what all regions agree on.
        let mut arrays: Vec<Option<ValueId>> = Vec::new();
        for (number, region) in branches.iter().enumerate() {
            for (k, &value) in region.results.iter().enumerate() {
                let around = self.around(region, value);
                if number == 0 {
                    arrays.push(around);
                } else if arrays[k] != around {
                    arrays[k] = None;
                }
            }
        }
        let mut given: Vec<ValueId> = arrays.iter().copied().flatten().collect();
        given.sort_unstable();
        given.dedup();
        if given.is_empty() {
            return Vec::new();
        }
        let mut updated = vec![false; arrays.len()];
        for (region, steps) in branches.iter().zip(steps) {
            let uses = LastUses::of(self, region, steps, &given);
            for (k, &value) in region.results.iter().enumerate() {
                if arrays[k] != Some(uses.first_version(value)) {
                    arrays[k] = None;
                }
                updated[k] |= arrays[k].is_some_and(|array| array != value);
            }
        }
        (node.results.iter().zip(arrays).zip(updated))
            .filter_map(|((&result, array), updated)| Some((result, array.filter(|_| updated)?)))
            .collect()
    }

    /// The array from around a region that a value of it is after updates.
    fn around(&self, region: &Region, mut value: ValueId) -> Option<ValueId> {
        loop {
            let Some(id) = self.graph.def(value).filter(|id| region.nodes.contains(id)) else {
                let outside = !region.params.contains(&value);
                return outside.then_some(value);
            };
            let node = self.graph.node(id);
            value = match &node.op {
                Op::DynamicUpdate | Op::Scatter(_) => node.args[0],
                Op::Cond { branches } => {
                    let number = node.results.iter().position(|&result| result == value)?;
                    let inner = branches.first()?;
                    self.around(inner, inner.results[number])?
                }
                _ => return None,
            };
        }
    }

    /// Stored values that a step reads.
    fn read_by(&self, item: &Item) -> Vec<ValueId> {
        let mut reads = Vec::new();
        let mut seen = HashSet::default();
        match item {
            Item::Nest(nest) => {
                for root in &nest.roots {
                    match root {
                        Root::Store(value) | Root::Fold { value, .. } => {
                            if let Some(id) = self.graph.def(*value) {
                                self.read_by_node(id, &mut seen, &mut reads);
                            }
                        }
                        Root::Control(id) | Root::Update(id) | Root::Scatter(id) => {
                            self.read_by_node(*id, &mut seen, &mut reads)
                        }
                    }
                }
            }
            Item::Call(id) | Item::Loop(id, _) | Item::Branch(id, _) => {
                self.read_by_node(*id, &mut seen, &mut reads)
            }
        }
        reads
    }

    fn read_by_node(&self, id: NodeId, seen: &mut HashSet<ValueId>, reads: &mut Vec<ValueId>) {
        let node = self.graph.node(id);
        node.args
            .iter()
            .for_each(|&arg| self.read_value(arg, seen, reads));
        node.op
            .visit_regions(&mut |region| self.read_by_region(region, seen, reads));
    }

    fn read_by_region(
        &self,
        region: &Region,
        seen: &mut HashSet<ValueId>,
        reads: &mut Vec<ValueId>,
    ) {
        for &id in &region.nodes {
            self.read_by_node(id, seen, reads);
        }
        region
            .results
            .iter()
            .for_each(|&result| self.read_value(result, seen, reads));
    }

    fn read_value(&self, value: ValueId, seen: &mut HashSet<ValueId>, reads: &mut Vec<ValueId>) {
        if !seen.insert(value) {
            return;
        }
        if self.storage(value).is_some() {
            reads.push(value);
        } else if let Some(id) = self.graph.def(value) {
            self.read_by_node(id, seen, reads);
        }
    }

    /// Values that a step makes.
    pub(super) fn made_by(&self, item: &Item) -> Vec<ValueId> {
        match item {
            Item::Nest(nest) => nest
                .roots
                .iter()
                .flat_map(|root| match root {
                    Root::Store(value) | Root::Fold { value, .. } => vec![*value],
                    Root::Control(id) | Root::Update(id) | Root::Scatter(id) => {
                        self.graph.node(*id).results.to_vec()
                    }
                })
                .collect(),
            Item::Call(id) | Item::Loop(id, _) | Item::Branch(id, _) => {
                self.graph.node(*id).results.to_vec()
            }
        }
    }
}
