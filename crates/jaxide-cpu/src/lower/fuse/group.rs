//! Stored values made by the same loops, and the order of all steps.

use super::storage::domain;
use super::{Fuser, Item, Nest, Root, Steps};
use crate::lower::graph::{NodeId, Op, Region, ValueId};
use jaxide_core::Dims;
use std::collections::{HashMap, HashSet};

/// A nest is not made longer than this many roots.
const MOST_ROOTS: usize = 24;
/// How many earlier nests are looked at for a root.
const LOOK_BACK: usize = 12;

/// A step before steps are in their final order.
struct Draft {
    item: DraftItem,
    /// Drafts whose results this one reads.
    needs: HashSet<usize>,
    /// Drafts that this one comes after, directly or not.
    after: HashSet<usize>,
}

enum DraftItem {
    Nest(Nest),
    Node(NodeId),
}

impl Fuser<'_> {
    /// Puts roots into nests, and nests, calls and loops in order.
    pub(super) fn group(&mut self, region: &Region, roots: Vec<Root>) -> Steps {
        let graph = self.graph;
        let mut by_node: HashMap<NodeId, Vec<Root>> = HashMap::new();
        for root in roots {
            let id = match &root {
                Root::Store(value) | Root::Fold { value, .. } => graph.def(*value),
                Root::Control(id) | Root::Update(id) | Root::Scatter(id) => Some(*id),
            };
            if let Some(id) = id {
                by_node.entry(id).or_default().push(root);
            }
        }
        let mut drafts: Vec<Draft> = Vec::new();
        let mut maker: HashMap<ValueId, usize> = HashMap::new();
        for &id in &region.nodes {
            let opaque = self.is_opaque(id) && !by_node.contains_key(&id);
            if opaque {
                let needs = self.needs_of_node(id, &maker);
                let draft = add(&mut drafts, DraftItem::Node(id), needs);
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
                let axes = self.lane_forms.get(&id);
                let domain = domain(graph, &root, axes);
                let home = self.home(&drafts, &root, &domain, &reads, &needs, &maker);
                let draft = match home {
                    Some(draft) => {
                        let DraftItem::Nest(nest) = &mut drafts[draft].item else {
                            unreachable!("only nests are homes")
                        };
                        nest.roots.push(root.clone());
                        join(&mut drafts, draft, &needs);
                        draft
                    }
                    None => {
                        let nest = Nest {
                            domain,
                            roots: vec![root.clone()],
                        };
                        add(&mut drafts, DraftItem::Nest(nest), needs)
                    }
                };
                for value in made(graph, &root) {
                    maker.insert(value, draft);
                }
            }
        }
        let items = self.order(drafts);
        Steps { items }
    }

    /// The nest that a root can become part of.
    fn home(
        &self,
        drafts: &[Draft],
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
            let DraftItem::Nest(nest) = &drafts[k].item else {
                return false;
            };
            if nest.domain != *domain || nest.roots.len() >= MOST_ROOTS || !compatible(nest, root) {
                return false;
            }
            // Another step between the two would have to run inside the nest.
            if needs
                .iter()
                .any(|&other| other != k && drafts[other].after.contains(&k))
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
        (0..drafts.len()).rev().take(LOOK_BACK).find(|&k| fits(k))
    }

    /// Drafts that a call or loop comes after.
    fn needs_of_node(&self, id: NodeId, maker: &HashMap<ValueId, usize>) -> HashSet<usize> {
        let node = self.graph.node(id);
        let mut needs = HashSet::new();
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
        self.trace(value, true, &mut HashSet::new(), &mut reads, None);
        reads.into_iter().map(|read| read.0).collect()
    }

    /// Stored values that a root reads, and whether only at its own point of the domain.
    fn reads(&self, root: &Root) -> Vec<(ValueId, bool)> {
        let graph = self.graph;
        let mut reads = Vec::new();
        let mut seen = HashSet::new();
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
        node.op.visit_regions(&mut |_| {});
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

fn add(drafts: &mut Vec<Draft>, item: DraftItem, needs: HashSet<usize>) -> usize {
    let mut after: HashSet<usize> = needs.clone();
    needs
        .iter()
        .for_each(|&other| after.extend(&drafts[other].after));
    drafts.push(Draft { item, needs, after });
    drafts.len() - 1
}

/// A root became part of draft `k`: whatever comes after `k` also comes after what the root needs.
fn join(drafts: &mut [Draft], k: usize, needs: &HashSet<usize>) {
    let mut more: HashSet<usize> = needs.clone();
    needs
        .iter()
        .for_each(|&other| more.extend(&drafts[other].after));
    more.remove(&k);
    drafts[k]
        .needs
        .extend(needs.iter().filter(|&&other| other != k));
    for (other, draft) in drafts.iter_mut().enumerate() {
        if other == k || draft.after.contains(&k) {
            draft
                .after
                .extend(more.iter().filter(|&&before| before != other));
        }
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
