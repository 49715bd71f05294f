//! What calling a function with a struct of 100 leaves costs in allocations.

use std::sync::Arc;

use jaxide_tree::{self as tree, Pytree};

#[derive(Clone, Pytree)]
#[pytree(leaf)]
struct Array(#[allow(dead_code)] Arc<[f32]>);

#[derive(Clone, Pytree)]
struct Layer {
    w: Array,
    b: Option<Array>,
    norm: (Array, Array),
    #[pytree(static)]
    activation: String,
}

#[derive(Clone, Pytree)]
struct Model {
    layers: [Layer; 25],
}

fn model() -> Model {
    let array = || Array(Arc::new([1.0, 2.0]));
    let layer = |_| Layer {
        w: array(),
        b: Some(array()),
        norm: (array(), array()),
        activation: "relu".into(),
    };
    Model {
        layers: std::array::from_fn(layer),
    }
}

#[track_caller]
fn check(expected: u64, run: impl FnOnce()) {
    assert_eq!(allocation_counter::measure(run).count_total, expected);
}

#[test]
fn finding_a_known_structure_allocates_nothing() {
    let (a, b) = (model(), model());
    let treedef = tree::structure::<Array, _>(&a);
    check(0, || assert!(treedef.matches::<Array, _>(&b)));
    check(0, || {
        assert_eq!(
            tree::structure_hash::<Array, _>(&a),
            tree::structure_hash::<Array, _>(&b)
        )
    });
}

#[test]
fn moving_the_leaves_out_allocates_nothing() {
    let value = model();
    let mut leaves = Vec::with_capacity(100);
    check(0, || value.into_leaves(&mut leaves));
    assert_eq!(leaves.len(), 100);
}

#[test]
fn rebuilding_allocates_the_containers_alone() {
    let (leaves, treedef) = tree::flatten(&model());
    let mut rebuilt = None;
    // The static string of each layer is cloned.
    check(25, || {
        rebuilt = treedef.unflatten::<Model, Array>(leaves).ok()
    });
    assert!(rebuilt.is_some());
}

#[test]
fn the_structure_of_equal_elements_is_stored_once() {
    let value = model();
    let allocations = allocation_counter::measure(|| drop(tree::structure::<Array, _>(&value)));
    // The arrays of nodes, as they grow, and one set of static values; nothing for each leaf or layer.
    assert!(
        allocations.count_total < 25,
        "{} allocations",
        allocations.count_total
    );
}
