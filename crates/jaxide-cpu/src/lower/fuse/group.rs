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
        for &id in &region.nodes {
            let opaque = self.is_opaque(id) && !by_node.contains_key(&id);
            if opaque {
                let needs = self.needs_of_node(id, &maker);
                let draft = drafts.add(DraftItem::Node(id), needs);
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
                for value in made(graph, &root) {
                    maker.insert(value, draft);
                }
            }
        }
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

    /// Drafts that a call or loop comes after.
    fn needs_of_node(&self, id: NodeId, maker: &HashMap<ValueId, usize>) -> HashSet<usize> {
        let node = self.graph.node(id);
        let mut needs = HashSet::default();
        let mut look = |value: ValueId| {
            for source in self.sources(value) {
                if let Some(&draft) = maker.get(&self.stored.owner(source)) {
                    needs.insert(draft);
                }
            }
        };
        node.args.iter().copied().for_each(&mut look);
        self.captured(id).into_iter().for_each(&mut look);
        needs
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
