//! Stored values made by the same loops, and the order of all steps.

use super::storage::domain;
use super::{Fuser, Item, Nest, Root, Steps};
use crate::lower::graph::{NodeId, Op, Region, ValueId};
use jaxide_core::Dims;
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// A nest is not made longer than this many roots.
const MOST_ROOTS: usize = 24;
/// How many earlier nests are looked at for a root.
const LOOK_BACK: usize = 12;

/// A step before steps are in their final order.
struct Draft {
    item: DraftItem,
    /// Drafts whose results this one reads.
    needs: HashSet<usize>,
}

/// Drafts in the order they were begun.
struct Drafts {
    list: Vec<Draft>,
    /// Which drafts each of the last [`WINDOW`] comes after, directly or not: one bit for each of them, by number modulo [`WINDOW`].
    ///
    /// Roots join one of the last [`LOOK_BACK`] drafts alone. So a draft comes after one with a higher number only if that was among
    /// the next [`LOOK_BACK`], and what comes after one of the last is among the last `2 * LOOK_BACK`: no more need be known.
    after: [u64; WINDOW],
}

const WINDOW: usize = u64::BITS as usize;
const _: () = assert!(2 * LOOK_BACK < WINDOW);

impl Drafts {
    /// The numbers of the last drafts.
    fn recent(&self) -> std::ops::Range<usize> {
        self.list.len().saturating_sub(WINDOW)..self.list.len()
    }

    /// The recent ones of these, and what they come after.
    fn with_before(&self, needs: &HashSet<usize>) -> u64 {
        let recent = self.recent();
        let mut before = 0;
        for &other in needs.iter().filter(|other| recent.contains(other)) {
            before |= bit(other) | self.after[other % WINDOW];
        }
        before
    }

    /// Whether a draft comes after one of the last [`LOOK_BACK`].
    fn comes_after(&self, other: usize, recent: usize) -> bool {
        self.recent().contains(&other) && self.after[other % WINDOW] & bit(recent) != 0
    }

    fn add(&mut self, item: DraftItem, needs: HashSet<usize>) -> usize {
        let before = self.with_before(&needs);
        let new = self.list.len();
        self.list.push(Draft { item, needs });
        // Its bits were those of a draft that is no longer among the last.
        self.after.iter_mut().for_each(|after| *after &= !bit(new));
        self.after[new % WINDOW] = before & !bit(new);
        new
    }

    /// A root became part of draft `k`: whatever comes after `k` also comes after what the root needs.
    fn join(&mut self, k: usize, needs: &HashSet<usize>) {
        let before = self.with_before(needs) & !bit(k);
        let others = needs.iter().filter(|&&other| other != k);
        self.list[k].needs.extend(others);
        for other in self.recent() {
            if other == k || self.comes_after(other, k) {
                self.after[other % WINDOW] |= before & !bit(other);
            }
        }
    }
}

fn bit(draft: usize) -> u64 {
    1 << (draft % WINDOW)
}

/// What drafts do with arrays in memory.
#[derive(Default)]
struct Accesses {
    /// Who reads an array.
    readers: HashMap<ValueId, Vec<usize>>,
    /// Who writes a part of an array, which is made in its memory if nobody reads it any more.
    updates: Vec<(usize, ValueId)>,
}

/// So many updates of a region are looked at: of each, what all that reads its array comes after.
const MOST_UPDATES: usize = 64;

impl Accesses {
    fn note(&mut self, draft: usize, reads: impl IntoIterator<Item = ValueId>) {
        for value in reads {
            self.readers.entry(value).or_default().push(draft);
        }
    }

    fn note_update(&mut self, draft: usize, array: Option<ValueId>) {
        self.updates.extend(array.map(|array| (draft, array)));
    }

    /// Who updates an array comes after all who read it as it was, unless they come after the update for another reason: so the array need not be
    /// copied.
    fn put_reads_first(&self, drafts: &mut [Draft]) {
        if self.updates.is_empty() {
            return;
        }
        let mut followers = vec![Vec::new(); drafts.len()];
        for (k, draft) in drafts.iter().enumerate() {
            draft
                .needs
                .iter()
                .for_each(|&other| followers[other].push(k));
        }
        for (update, array) in self.updates.iter().take(MOST_UPDATES) {
            let later = reachable(&followers, *update);
            for &reader in self.readers.get(array).into_iter().flatten() {
                if !later[reader] && drafts[*update].needs.insert(reader) {
                    followers[reader].push(*update);
                }
            }
        }
    }
}

/// A draft and those that come after it, directly or not.
fn reachable(followers: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; followers.len()];
    let mut stack = vec![from];
    while let Some(k) = stack.pop() {
        if !std::mem::replace(&mut reached[k], true) {
            stack.extend(&followers[k]);
        }
    }
    reached
}

enum DraftItem {
    Nest(Nest),
    Node(NodeId),
}

impl Fuser<'_> {
    /// Puts roots into nests, and nests, calls and loops in order.
    pub(super) fn group(&mut self, region: &Region, roots: Vec<Root>) -> Steps {
        let graph = self.graph;
        let mut by_node: HashMap<NodeId, Vec<Root>> = HashMap::default();
        for root in roots {
            let id = match &root {
                Root::Store(value) | Root::Fold { value, .. } => graph.def(*value),
                Root::Control(id) | Root::Update(id) | Root::Scatter(id) => Some(*id),
            };
            if let Some(id) = id {
                by_node.entry(id).or_default().push(root);
            }
        }
        let mut drafts = Drafts {
            list: Vec::new(),
            after: [0; WINDOW],
        };
        let mut maker: HashMap<ValueId, usize> = HashMap::default();
        let mut accesses = Accesses::default();
        let mut last_effect = None;
        for &id in &region.nodes {
            let opaque = self.is_opaque(id) && !by_node.contains_key(&id);
            if opaque {
                let reads = self.reads_of_node(id);
                let needs = reads.iter().filter_map(|value| maker.get(value).copied());
                // What is printed is printed in the order of the program.
                let effect = graph.has_effect(&graph.node(id).op);
                let needs = needs.chain(last_effect.filter(|_| effect));
                let draft = drafts.add(DraftItem::Node(id), needs.collect());
                last_effect = if effect { Some(draft) } else { last_effect };
                accesses.note(draft, reads);
                accesses.note_update(draft, self.updated(id));
                graph.node(id).results.iter().for_each(|&value| {
                    maker.insert(value, draft);
                });
                continue;
            }
            for root in by_node.remove(&id).unwrap_or_default() {
                let reads = self.reads(&root);
                let needs: HashSet<usize> = reads
                    .iter()
                    .filter_map(|&(value, _)| maker.get(&self.stored.owner(value)).copied())
                    .collect();
                let owners: Vec<ValueId> = (reads.iter())
                    .map(|&(value, _)| self.stored.owner(value))
                    .collect();
                let axes = self.lane_forms.get(id);
                let domain = domain(graph, &root, axes);
                let home = self.home(&drafts, &root, &domain, &reads, &needs, &maker);
                let draft = match home {
                    Some(draft) => {
                        let DraftItem::Nest(nest) = &mut drafts.list[draft].item else {
                            unreachable!("only nests are homes")
                        };
                        nest.roots.push(root.clone());
                        drafts.join(draft, &needs);
                        draft
                    }
                    None => {
                        let nest = Nest {
                            domain,
                            roots: vec![root.clone()],
                        };
                        drafts.add(DraftItem::Nest(nest), needs)
                    }
                };
                accesses.note(draft, owners);
                if matches!(root, Root::Update(_) | Root::Scatter(_)) {
                    accesses.note_update(draft, self.updated(id));
                }
                for value in made(graph, &root) {
                    maker.insert(value, draft);
                }
            }
        }
        accesses.put_reads_first(&mut drafts.list);
        let items = self.order(drafts.list);
        Steps { items }
    }

    /// The nest that a root can become part of.
    fn home(
        &self,
        drafts: &Drafts,
        root: &Root,
        domain: &Dims,
        reads: &[(ValueId, bool)],
        needs: &HashSet<usize>,
        maker: &HashMap<ValueId, usize>,
    ) -> Option<usize> {
        if matches!(root, Root::Update(_) | Root::Scatter(_)) || domain.contains(&0) {
            return None;
        }
        let fits = |k: usize| {
            let DraftItem::Nest(nest) = &drafts.list[k].item else {
                return false;
            };
            if nest.domain != *domain || nest.roots.len() >= MOST_ROOTS || !compatible(nest, root) {
                return false;
            }
            // Another step between the two would have to run inside the nest.
            if needs
                .iter()
                .any(|&other| other != k && drafts.comes_after(other, k))
            {
                return false;
            }
            // What the nest itself makes is there only at the same point of the domain.
            reads.iter().all(|&(value, same_point)| {
                let owner = self.stored.owner(value);
                maker.get(&owner) != Some(&k)
                    || (same_point && owner == value && makes_points(nest, value))
            })
        };
        (0..drafts.list.len())
            .rev()
            .take(LOOK_BACK)
            .find(|&k| fits(k))
    }

    /// The arrays in memory that a call or loop reads.
    fn reads_of_node(&self, id: NodeId) -> Vec<ValueId> {
        let args = self.graph.node(id).args.iter().copied();
        let operands = args.chain(self.captured(id));
        let sources = operands.flat_map(|value| self.sources(value));
        sources.map(|value| self.stored.owner(value)).collect()
    }

    /// The array in memory that a node makes its result in, if it may.
    fn updated(&self, id: NodeId) -> Option<ValueId> {
        let node = self.graph.node(id);
        if !matches!(node.op, Op::Scatter(_) | Op::DynamicUpdate) {
            return None;
        }
        match self.sources(node.args[0])[..] {
            [value] => Some(self.stored.owner(value)),
            _ => None,
        }
    }

    /// Stored values that computing a value reads.
    fn sources(&self, value: ValueId) -> Vec<ValueId> {
        let mut reads = Vec::new();
        self.trace(value, true, &mut HashSet::default(), &mut reads, None);
        reads.into_iter().map(|read| read.0).collect()
    }

    /// Stored values that a root reads, and whether only at its own point of the domain.
    fn reads(&self, root: &Root) -> Vec<(ValueId, bool)> {
        let graph = self.graph;
        let mut reads = Vec::new();
        let mut seen = HashSet::default();
        match root {
            Root::Store(value) => self.trace(*value, true, &mut seen, &mut reads, Some(*value)),
            Root::Fold { value, .. } => {
                let arg = graph.def(*value).map(|id| graph.node(id).args[0]);
                arg.into_iter()
                    .for_each(|arg| self.trace(arg, true, &mut seen, &mut reads, None));
            }
            Root::Control(id) | Root::Update(id) | Root::Scatter(id) => {
                for value in graph
                    .node(*id)
                    .args
                    .iter()
                    .copied()
                    .chain(self.captured(*id))
                {
                    self.trace(value, false, &mut seen, &mut reads, None);
                }
            }
        }
        reads
    }

    /// Walks from a value to the stored ones it is computed from; `root` itself is computed although it is stored.
    fn trace(
        &self,
        value: ValueId,
        same_point: bool,
        seen: &mut HashSet<(ValueId, bool)>,
        reads: &mut Vec<(ValueId, bool)>,
        root: Option<ValueId>,
    ) {
        if !seen.insert((value, same_point)) {
            return;
        }
        if self.stored.get(value).is_some() && root != Some(value) {
            reads.push((value, same_point));
            return;
        }
        let Some(id) = self.graph.def(value) else {
            return;
        };
        let node = self.graph.node(id);
        let shape = self.graph.shape(value);
        for &arg in &node.args {
            let elementwise = matches!(node.op, Op::Map(_)) && self.graph.shape(arg) == shape;
            self.trace(arg, same_point && elementwise, seen, reads, None);
        }
        for captured in self.captured(id) {
            self.trace(captured, false, seen, reads, None);
        }
    }

    fn order(&mut self, drafts: Vec<Draft>) -> Vec<Item> {
        let mut done = vec![false; drafts.len()];
        let mut order = Vec::new();
        for k in 0..drafts.len() {
            visit(&drafts, k, &mut done, &mut order);
        }
        let mut items: Vec<Option<DraftItem>> =
            drafts.into_iter().map(|draft| Some(draft.item)).collect();
        let graph = self.graph;
        order
            .into_iter()
            .filter_map(|k| items[k].take())
            .map(|item| match item {
                DraftItem::Nest(nest) => Item::Nest(nest),
                DraftItem::Node(id) => match &graph.node(id).op {
                    Op::Scan { .. } | Op::While { .. } => Item::Loop(id, self.inner(id)),
                    Op::Cond { .. } => Item::Branch(id, self.inner(id)),
                    _ => Item::Call(id),
                },
            })
            .collect()
    }

    /// The steps of a node's regions.
    fn inner(&mut self, id: NodeId) -> Vec<Steps> {
        let mut regions = Vec::new();
        let graph = self.graph;
        graph
            .node(id)
            .op
            .visit_regions(&mut |region| regions.push(region));
        regions
            .into_iter()
            .map(|region| {
                region
                    .params
                    .iter()
                    .for_each(|&param| self.stored.own(param));
                self.region(region)
            })
            .collect()
    }
}

fn visit(drafts: &[Draft], k: usize, done: &mut [bool], order: &mut Vec<usize>) {
    // Drafts need earlier ones, or later ones that a nest took a root from; either way there is no cycle.
    let mut stack = vec![(k, false)];
    while let Some((k, ready)) = stack.pop() {
        if ready {
            order.push(k);
            continue;
        }
        if std::mem::replace(&mut done[k], true) {
            continue;
        }
        stack.push((k, true));
        let mut needs: Vec<usize> = drafts[k].needs.iter().copied().collect();
        needs.sort_unstable_by(|a, b| b.cmp(a));
        stack.extend(
            needs
                .into_iter()
                .filter(|&other| !done[other])
                .map(|other| (other, false)),
        );
    }
}

/// Whether a root can be made by the loops of a nest.
fn compatible(nest: &Nest, root: &Root) -> bool {
    nest.roots.iter().all(|other| match (other, root) {
        (Root::Store(_), Root::Store(_) | Root::Fold { .. })
        | (Root::Fold { .. }, Root::Store(_)) => true,
        (Root::Fold { axes, .. }, Root::Fold { axes: own, .. }) => axes == own,
        (Root::Control(_), Root::Control(_)) => nest.domain.is_empty(),
        (Root::Control(_), Root::Store(_)) | (Root::Store(_), Root::Control(_)) => {
            nest.domain.is_empty()
        }
        _ => false,
    })
}

/// Whether a nest makes the elements of a value one per point of its domain.
fn makes_points(nest: &Nest, value: ValueId) -> bool {
    nest.roots.contains(&Root::Store(value))
}

/// The values that a root makes.
fn made(graph: &crate::lower::graph::Graph, root: &Root) -> Vec<ValueId> {
    match root {
        Root::Store(value) | Root::Fold { value, .. } => vec![*value],
        Root::Control(id) | Root::Update(id) | Root::Scatter(id) => {
            graph.node(*id).results.to_vec()
        }
    }
}
