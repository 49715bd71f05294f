//! In which order the operands of an `einsum` are contracted, as the Python package `opt_einsum` chooses it.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap};

/// The labels of an operand, without order.
pub(super) type Labels = BTreeSet<char>;

/// The lengths of the axes of each label.
pub(super) type Lengths = BTreeMap<char, usize>;

/// Operands that are contracted one after the other: positions in the list of those that are left, to whose end the result
/// goes.
pub(super) type Path = Vec<Vec<usize>>;

fn elements(labels: &Labels, lengths: &Lengths) -> i128 {
    labels.iter().fold(1i128, |product, label| {
        product.saturating_mul(lengths[label] as i128)
    })
}

/// Multiplications and additions of a contraction over `labels`.
fn flops(labels: &Labels, summed: bool, operands: usize, lengths: &Lengths) -> i128 {
    let each = operands.saturating_sub(1).max(1) + usize::from(summed);
    elements(labels, lengths).saturating_mul(each as i128)
}

fn union(sets: impl Iterator<Item = Labels>) -> Labels {
    sets.flatten().collect()
}

/// The labels that the contraction of two operands leaves, and its cost.
fn contracted(
    inputs: &[Labels],
    output: &Labels,
    remaining: &BTreeSet<usize>,
    (i, j): (usize, usize),
    lengths: &Lengths,
) -> (Labels, i128) {
    let others = remaining.iter().filter(|&&other| other != i && other != j);
    let keep: Labels = &union(others.map(|&other| inputs[other].clone())) | output;
    let either = &inputs[i] | &inputs[j];
    let summed = (&inputs[i] & &inputs[j]).difference(&keep).next().is_some();
    let cost = flops(&either, summed, 2, lengths);
    (&either & &keep, cost)
}

fn pairs(remaining: &BTreeSet<usize>) -> Vec<(usize, usize)> {
    let all: Vec<usize> = remaining.iter().copied().collect();
    let from = |at: usize| all[at + 1..].iter().copied();
    (0..all.len())
        .flat_map(|at| from(at).map(|j| (all[at], j)).collect::<Vec<_>>())
        .collect()
}

fn merged(remaining: &BTreeSet<usize>, (i, j): (usize, usize), new: usize) -> BTreeSet<usize> {
    let mut remaining = remaining.clone();
    remaining.remove(&i);
    remaining.remove(&j);
    remaining.insert(new);
    remaining
}

/// A path whose operands are counted on: the results of contractions follow the inputs.
type Counted = Vec<(usize, usize)>;

fn positions(path: &Counted, operands: usize) -> Path {
    let mut ids: Vec<usize> = (0..operands).collect();
    let contraction = |(step, &(i, j)): (usize, &(usize, usize))| {
        let mut places: Vec<usize> = [i, j]
            .iter()
            .map(|id| ids.partition_point(|own| own < id))
            .collect();
        places.sort_unstable();
        for &place in places.iter().rev() {
            ids.remove(place);
        }
        ids.push(operands + step);
        places
    };
    path.iter().enumerate().map(contraction).collect()
}

/// What is searched through.
struct Search<'a> {
    output: &'a Labels,
    lengths: &'a Lengths,
    /// Contractions that were looked at, by the labels of their operands.
    known: HashMap<(Labels, Labels), (Labels, i128)>,
    best_flops: i128,
    best_size: i128,
    best: Counted,
    /// The fewest operations with which so many operands were reached.
    progress: HashMap<usize, i128>,
}

impl Search<'_> {
    fn contracted(
        &mut self,
        inputs: &[Labels],
        remaining: &BTreeSet<usize>,
        (i, j): (usize, usize),
    ) -> (Labels, i128) {
        let key = (inputs[i].clone(), inputs[j].clone());
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let found = contracted(inputs, self.output, remaining, (i, j), self.lengths);
        self.known.insert(key, found.clone());
        found
    }

    /// Every order, but those that cost more than the best so far.
    fn all(&mut self, path: &Counted, inputs: &[Labels], remaining: &BTreeSet<usize>, flops: i128) {
        if remaining.len() == 1 {
            self.best_flops = flops;
            self.best.clone_from(path);
            return;
        }
        for pair in pairs(remaining) {
            let (labels, cost) = self.contracted(inputs, remaining, pair);
            let flops = flops.saturating_add(cost);
            if flops >= self.best_flops {
                continue;
            }
            let path = [&path[..], &[pair]].concat();
            let remaining = merged(remaining, pair, inputs.len());
            self.all(&path, &[inputs, &[labels]].concat(), &remaining, flops);
        }
    }

    /// The most promising orders, at most `branches` at each step.
    fn branch(
        &mut self,
        branches: usize,
        path: &Counted,
        inputs: &[Labels],
        remaining: &BTreeSet<usize>,
        (flops, size): (i128, i128),
    ) {
        if remaining.len() == 1 {
            (self.best_flops, self.best_size) = (flops, size);
            self.best.clone_from(path);
            return;
        }
        let mut candidates = Vec::new();
        for apart in [false, true] {
            if apart && !candidates.is_empty() {
                break;
            }
            for pair in pairs(remaining) {
                if !apart && inputs[pair.0].is_disjoint(&inputs[pair.1]) {
                    continue;
                }
                let (labels, cost) = self.contracted(inputs, remaining, pair);
                let own = elements(&labels, self.lengths);
                let total = (flops.saturating_add(cost), size.max(own));
                if total >= (self.best_flops, self.best_size) {
                    continue;
                }
                let progress = self.progress.entry(inputs.len()).or_insert(i128::MAX);
                if total.0 < *progress {
                    *progress = total.0;
                } else if total.0 > progress.saturating_mul(4) {
                    continue;
                }
                let freed = |at: usize| elements(&inputs[at], self.lengths);
                let gain = own - freed(pair.0) - freed(pair.1);
                candidates.push((gain, cost, total.0, total.1, pair, labels));
            }
        }
        candidates.sort();
        for (_, _, flops, size, pair, labels) in candidates.into_iter().take(branches) {
            let path = [&path[..], &[pair]].concat();
            let remaining = merged(remaining, pair, inputs.len());
            let inputs = [inputs, &[labels]].concat();
            self.branch(branches, &path, &inputs, &remaining, (flops, size));
        }
    }
}

fn search<'a>(output: &'a Labels, lengths: &'a Lengths) -> Search<'a> {
    Search {
        output,
        lengths,
        known: HashMap::new(),
        best_flops: i128::MAX,
        best_size: i128::MAX,
        best: Vec::new(),
        progress: HashMap::new(),
    }
}

/// The order with the fewest operations.
pub(super) fn optimal(inputs: &[Labels], output: &Labels, lengths: &Lengths) -> Path {
    let mut search = search(output, lengths);
    search.all(&Vec::new(), inputs, &(0..inputs.len()).collect(), 0);
    positions(&search.best, inputs.len())
}

/// A good order, searched for the less thoroughly the more operands there are.
pub(super) fn auto(inputs: &[Labels], output: &Labels, lengths: &Lengths) -> Path {
    let branches = match inputs.len() {
        0..=4 => return optimal(inputs, output, lengths),
        5..=6 => usize::MAX,
        7..=8 => 2,
        9..=14 => 1,
        _ => return greedy(inputs, output, lengths),
    };
    let mut search = search(output, lengths);
    let all = (0..inputs.len()).collect();
    search.branch(branches, &Vec::new(), inputs, &all, (0, 0));
    positions(&search.best, inputs.len())
}

/// A contraction that [`greedy`] thinks of: what memory it costs, and which operands it takes.
type Candidate = Reverse<(i128, usize, usize, Labels, Labels, Labels)>;

/// An order in which each step takes what frees the most memory.
pub(super) fn greedy(inputs: &[Labels], output: &Labels, lengths: &Lengths) -> Path {
    let in_all = inputs
        .iter()
        .cloned()
        .reduce(|a, b| &a & &b)
        .unwrap_or_default();
    let output = output | &in_all;
    let mut remaining: HashMap<Labels, usize> = HashMap::new();
    let mut path: Counted = Vec::new();
    let mut next = inputs.len();
    for (id, labels) in inputs.iter().enumerate() {
        // Operands with the same labels become one.
        match remaining.get(labels).copied() {
            Some(other) => {
                path.push((other, id));
                remaining.insert(labels.clone(), next);
                next += 1;
            }
            None => {
                remaining.insert(labels.clone(), id);
            }
        }
    }
    let mut holders: BTreeMap<char, BTreeSet<Labels>> = BTreeMap::new();
    for labels in remaining.keys() {
        for &label in labels.difference(&output) {
            holders.entry(label).or_default().insert(labels.clone());
        }
    }
    let candidate = |remaining: &HashMap<Labels, usize>,
                     holders: &BTreeMap<char, BTreeSet<Labels>>,
                     a: &Labels,
                     b: &Labels|
     -> Candidate {
        let held =
            |label: &char, least: usize| holders.get(label).is_some_and(|all| all.len() >= least);
        let either = a | b;
        let kept = either.iter().filter(|label| {
            let both = a.contains(label) && b.contains(label);
            output.contains(label) || held(label, if both { 3 } else { 2 })
        });
        let kept: Labels = kept.copied().collect();
        let size = |labels: &Labels| elements(labels, lengths);
        let cost = size(&kept) - size(a) - size(b);
        let (mut first, mut second) = ((remaining[a], a.clone()), (remaining[b], b.clone()));
        if first.0 > second.0 {
            std::mem::swap(&mut first, &mut second);
        }
        Reverse((cost, second.0, first.0, first.1, second.1, kept))
    };
    let mut queue: BinaryHeap<Candidate> = BinaryHeap::new();
    for all in holders.values() {
        let mut all: Vec<&Labels> = all.iter().collect();
        all.sort_by_key(|labels| remaining[*labels]);
        for (at, first) in all.iter().enumerate() {
            let best = all[at + 1..]
                .iter()
                .map(|second| candidate(&remaining, &holders, first, second));
            queue.extend(best.max());
        }
    }
    while let Some(Reverse((_, _, _, a, b, kept))) = queue.pop() {
        if !remaining.contains_key(&a) || !remaining.contains_key(&b) {
            continue;
        }
        let (Some(first), Some(second)) = (remaining.remove(&a), remaining.remove(&b)) else {
            continue;
        };
        for (&label, all) in &mut holders {
            if !output.contains(&label) {
                all.remove(&a);
                all.remove(&b);
            }
        }
        path.push((first, second));
        if let Some(&other) = remaining.get(&kept) {
            path.push((other, next));
            next += 1;
        } else {
            for &label in kept.difference(&output) {
                holders.entry(label).or_default().insert(kept.clone());
            }
        }
        remaining.insert(kept.clone(), next);
        next += 1;
        let neighbours: BTreeSet<Labels> = kept
            .iter()
            .filter_map(|label| holders.get(label))
            .flatten()
            .filter(|other| **other != kept)
            .cloned()
            .collect();
        let best = neighbours
            .iter()
            .map(|other| candidate(&remaining, &holders, &kept, other));
        queue.extend(best.max());
    }
    // What shares nothing is multiplied, the smallest first.
    let mut rest: BinaryHeap<Reverse<(i128, usize, Labels)>> = remaining
        .into_iter()
        .map(|(labels, id)| Reverse((elements(&(&labels & &output), lengths), id, labels)))
        .collect();
    while let (Some(Reverse((_, first, a))), Some(Reverse((_, second, b)))) =
        (rest.pop(), rest.pop())
    {
        path.push((first.min(second), first.max(second)));
        let kept = &(&a | &b) & &output;
        rest.push(Reverse((elements(&kept, lengths), next, kept)));
        next += 1;
    }
    positions(&path, inputs.len())
}
