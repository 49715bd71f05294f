//! Reductions made in parts: the lane program that combines the parts.

use super::fold::FoldRoot;
use super::{Kernel, NestMemory, Schedule};
use crate::lanes::Index;
use crate::lower::emit::{Binding, Emitted, Emitter, Ix, Ixs, Refusal};

/// Combines the parts of all reductions of a nest; the lanes are the parts.
pub(super) fn combination(
    graph: &crate::lower::graph::Graph,
    memory: &NestMemory<'_>,
    parts: usize,
    name: &str,
) -> Emitted<Kernel> {
    let roots = &memory.nest.roots;
    let folds: Vec<FoldRoot> = roots
        .iter()
        .filter_map(|root| FoldRoot::of(graph, root))
        .collect();
    let results = folds
        .first()
        .map_or(1, |fold| graph.value(fold.value).len());
    let mut emitter = Emitter::new(graph, memory, name, roots.len());
    let mut outer = Vec::new();
    let mut result = Ix::constant(0);
    if results > 1 {
        outer.push(results);
        let index = emitter.b.outer();
        result = Ix::var(emitter.vars.add(results, Binding::index(index)));
    }
    for fold in &folds {
        let from = fold.part_addresses(&mut emitter, results, parts, &result, Index::Lane);
        let values: Vec<_> = fold
            .parts(&emitter)
            .into_iter()
            .zip(from)
            .map(|(mem, addr)| emitter.b.load(mem, addr))
            .collect();
        // The result as one axis: rows of all its axes lie one after the other.
        let shape = graph.shape(fold.value);
        let mut kept: Ixs = shape.iter().map(|_| Ix::constant(0)).collect();
        if let Some(last) = kept.last_mut() {
            *last = result.clone();
        }
        let addresses = fold.address(&mut emitter, &kept, None);
        fold.combine_lanes(&mut emitter, &values, addresses);
    }
    let schedule = Schedule {
        outer,
        rows: None,
        chunk: None,
        parts: None,
        lanes: parts,
    };
    let operands = emitter.operands;
    let body = emitter.b.finish().map_err(|_| Refusal::TooLarge)?;
    Ok(Kernel {
        body,
        operands,
        schedule,
    })
}
