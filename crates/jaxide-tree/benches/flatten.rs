//! Times flattening and rebuilding of trees of 10 000 leaves, and finding a known structure.
//!
//! `cargo bench -p jaxide-tree` prints a table. With `--serve` it answers on standard input instead: for a line with the
//! name of a case it runs the case for a while and prints the shortest time of one round in nanoseconds, so that
//! `benches/tree_vs_jax.py` can take turns with JAX.

use std::collections::{BTreeMap, HashMap};
use std::hint::black_box;
use std::io::{self, BufRead, Write};
use std::sync::Arc;
use std::time::{Duration, Instant};

use jaxide_tree::{self as tree, Pytree, Tree};

/// As heavy to clone as an array: a counted reference.
#[derive(Clone, Pytree)]
#[pytree(leaf)]
struct Leaf(#[allow(dead_code)] Arc<u64>);

#[derive(Clone, Pytree)]
struct Layer {
    w: Leaf,
    b: Leaf,
    scale: Leaf,
    shift: Leaf,
    #[pytree(static)]
    width: usize,
}

fn main() {
    let leaf = || Leaf(Arc::new(0));
    let list: Vec<Leaf> = (0..10_000).map(|_| leaf()).collect();
    let layers: Vec<Layer> = (0..2_500)
        .map(|_| Layer {
            w: leaf(),
            b: leaf(),
            scale: leaf(),
            shift: leaf(),
            width: 8,
        })
        .collect();
    let dicts: BTreeMap<String, BTreeMap<String, Leaf>> = (0..1_000)
        .map(|i| {
            (
                format!("layer_{i}"),
                (0..10).map(|j| (format!("param_{j}"), leaf())).collect(),
            )
        })
        .collect();
    let names = [
        "bias", "kernel", "mean", "scale", "var", "w0", "w1", "w2", "w3", "w4",
    ];
    let literals: Vec<BTreeMap<&'static str, Leaf>> = (0..1_000)
        .map(|_| names.iter().map(|&name| (name, leaf())).collect())
        .collect();
    let small: Vec<Layer> = layers[..25].to_vec();
    let tuples: Vec<(Leaf, (Leaf, [Leaf; 2]))> = (0..2_500)
        .map(|_| (leaf(), (leaf(), [leaf(), leaf()])))
        .collect();
    let dynamic: Tree<Leaf> = Tree::from_value(&dicts);
    let hashed: HashMap<String, HashMap<String, Leaf>> = dicts
        .iter()
        .map(|(name, items)| (name.clone(), items.clone().into_iter().collect()))
        .collect();
    let shared: BTreeMap<Arc<str>, BTreeMap<Arc<str>, Leaf>> = dicts
        .iter()
        .map(|(name, items)| {
            let items = items
                .iter()
                .map(|(name, leaf)| (name.as_str().into(), leaf.clone()));
            (name.as_str().into(), items.collect())
        })
        .collect();

    let mut cases = [
        ("list", round_trip(list)),
        ("tuples", round_trip(tuples)),
        ("structs", round_trip(layers)),
        ("literal_keys", round_trip(literals)),
        ("shared_keys", round_trip(shared)),
        ("string_keys", round_trip(dicts)),
        ("hash_map", round_trip(hashed)),
        ("dynamic", round_trip(dynamic)),
        ("lookup_100", lookup(small)),
    ];
    let _fence = black_box(heap_with_room());
    if std::env::args().any(|arg| arg == "--serve") {
        for line in io::stdin().lock().lines() {
            let line = line.expect("standard input can be read");
            let case = cases.iter_mut().find(|(name, _)| *name == line);
            let (_, round) = case.unwrap_or_else(|| panic!("no case {line}"));
            println!("{}", shortest(round, Duration::from_millis(100)).as_nanos());
            io::stdout()
                .flush()
                .expect("standard output can be written");
        }
        return;
    }
    for (name, round) in &mut cases {
        println!(
            "{name:15} {:>8.1} µs",
            shortest(round, Duration::from_millis(500)).as_secs_f64() * 1e6
        );
    }
}

/// Leaves free memory in the heap, below the value given. A program that has run for a while has some, as JAX's has
/// here; a fresh one gives the memory of each round back to the system and gets it again for the next.
fn heap_with_room() -> Option<Vec<u8>> {
    let mut room: Vec<Vec<u8>> = (0..256).map(|_| black_box(vec![1; 1 << 16])).collect();
    room.pop()
}

/// Flattens a tree and rebuilds it from what came out.
fn round_trip<T: Pytree<Leaf> + 'static>(value: T) -> Box<dyn FnMut()> {
    Box::new(move || {
        let (leaves, treedef) = tree::flatten(black_box(&value));
        let rebuilt: T = treedef
            .unflatten(black_box(leaves))
            .expect("its own structure");
        black_box(rebuilt);
    })
}

/// Finds the structure of a struct of 100 leaves among known ones, as each call of a compiled function does.
fn lookup(value: Vec<Layer>) -> Box<dyn FnMut()> {
    let known = tree::structure::<Leaf, _>(&value);
    Box::new(move || {
        let value = black_box(&value);
        let hash = tree::structure_hash::<Leaf, _>(value);
        assert!(hash == known.structural_hash() && known.matches::<Leaf, _>(value));
    })
}

fn shortest(round: &mut dyn FnMut(), time: Duration) -> Duration {
    let end = Instant::now() + time;
    let mut shortest = Duration::MAX;
    while Instant::now() < end {
        let start = Instant::now();
        round();
        shortest = shortest.min(start.elapsed());
    }
    shortest
}
