//! Reductions made in partial results: the lane program that combines these.

use super::fold::FoldRoot;
use super::{Kernel, NestMemory, Schedule};
use crate::lanes::Index;
use crate::lower::emit::{Binding, Emitted, Emitter, Ix, Ixs};

/// Combines the partial results of all reductions of a nest. The lanes are the partial results, or the results where those were their lanes.
pub(super) fn combination(
    memory: &NestMemory<'_>,
    count: usize,
    results_are_lanes: bool,
    name: &str,
) -> Emitted<Kernel> {
    let (graph, roots) = (memory.graph, &memory.nest.roots);
    let folds: Vec<FoldRoot> = roots
        .iter()
        .filter_map(|root| FoldRoot::of(graph, root))
        .collect();
    let results = folds
        .first()
        .map_or(1, |fold| graph.value(fold.value).len());
    let mut emitter = Emitter::new(graph, memory, roots.len());
    let mut outer = Vec::new();
    let mut result = Ix::constant(0);
    if results > 1 {
        let index = if results_are_lanes {
            Index::Lane
        } else {
            outer.push(results);
            emitter.b.outer()
        };
        result = Ix::var(emitter.vars.add(results, Binding::index(index)));
    }
    for fold in &folds {
        // The result as one axis: rows of all its axes lie one after the other.
        let shape = graph.shape(fold.value);
        let mut kept: Ixs = shape.iter().map(|_| Ix::constant(0)).collect();
        if let Some(last) = kept.last_mut() {
            *last = result.clone();
        }
        if results_are_lanes {
            let values = fold.combine_partials(&mut emitter, count, (results, &result))?;
            fold.store(&mut emitter, &kept, &values);
            continue;
        }
        let at = (count, Index::Lane);
        let from = fold.partial_addresses(&mut emitter, at, (results, &result), false);
        let values: Vec<_> = fold
            .components(&emitter)
            .into_iter()
            .zip(from)
            .map(|(mem, addr)| emitter.b.load(mem, addr))
            .collect();
        let addresses = fold.address(&mut emitter, &kept, None);
        fold.combine_lanes(&mut emitter, &values, addresses);
    }
    let schedule = Schedule {
        outer,
        rows: None,
        chunk: None,
        partials: None,
        lanes: if results_are_lanes { results } else { count },
        in_blocks: false,
        alone: false,
    };
    emitter.finish(name, schedule)
}
