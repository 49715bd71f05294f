//! What a call of a compiled function allocates: nothing for each argument, and an array for each result.

use std::collections::BTreeMap;

use jaxide::prelude::*;
use jaxide::tree;

#[derive(Clone, Pytree)]
struct Layer {
    w: Array,
    b: Option<Array>,
    norm: (Array, [Array; 2]),
    #[pytree(static)]
    activation: &'static str,
}

#[derive(Clone, Pytree)]
struct Model {
    layers: Vec<Layer>,
    #[pytree(static)]
    name: String,
}

/// A model of `5 * layers` arrays.
fn model(layers: usize) -> Model {
    let array = || Array::from([1.0f32; 8]);
    let layer = |_| Layer {
        w: array(),
        b: Some(array()),
        norm: (array(), [array(), array()]),
        activation: "relu",
    };
    Model {
        layers: (0..layers).map(layer).collect(),
        name: "mlp".into(),
    }
}

fn total<T: Pytree<Array>>(tree: T) -> Array {
    tree::leaves::<Array, T>(&tree)
        .into_iter()
        .reduce(|a, b| a + b)
        .map_or_else(|| Array::from(0.0f32), |sum| sum.sum())
}

/// Allocations of a call whose program exists, that of the results included, counted until they are dropped.
fn allocations<T, Out>(f: impl Fn(T) -> Out, args: &T) -> u64
where
    T: Clone,
{
    for _ in 0..3 {
        drop(f(args.clone()));
    }
    let args = args.clone();
    allocation_counter::measure(|| drop(f(args))).count_total
}

#[test]
fn arguments_allocate_nothing_each() {
    let f = jit(total::<Model>);
    let (few, many) = (allocations(&*f, &model(2)), allocations(&*f, &model(20)));
    assert_eq!(f.cache_size(), 2);
    assert_eq!(few, many, "allocations of 10 and of 100 leaves");
}

#[test]
fn numbers_and_maps_as_arguments_allocate_nothing_each() {
    let f = jit(total::<Vec<Array>>);
    let numbers = |len: usize| vec![Array::from(0.1); len];
    assert_eq!(
        allocations(&*f, &numbers(10)),
        allocations(&*f, &numbers(100))
    );
    let g = jit(total::<BTreeMap<String, Array>>);
    let map = |len: usize| -> BTreeMap<String, Array> {
        (0..len)
            .map(|i| (format!("parameter {i}"), Array::from([1.0f32; 8])))
            .collect()
    };
    assert_eq!(allocations(&*g, &map(10)), allocations(&*g, &map(100)));
}

/// Its elements with what describes them, and the place at which its clones look.
#[test]
fn a_result_allocates_twice() {
    let f = jit(|model: Model| tree::map(|x: &Array| x * 0.5, &model).unwrap());
    let (few, many) = (allocations(&*f, &model(2)), allocations(&*f, &model(20)));
    assert!(
        many - few <= 190,
        "{few} allocations for 10 leaves, {many} for 100"
    );
    assert!(few <= 40, "{few} allocations for 10 leaves");
}

#[test]
fn a_program_is_found_by_structure_statics_and_types() {
    let f = jit(total::<Model>);
    let check = |model: Model, sum: f32, programs: usize| {
        assert_eq!(f(model).item::<f32>(), sum);
        assert_eq!(f.cache_size(), programs);
    };
    check(model(1), 40.0, 1);
    check(model(1), 40.0, 1);
    let mut other = model(1);
    other.layers[0].activation = "tanh";
    check(other, 40.0, 2);
    let mut other = model(1);
    other.layers[0].b = None;
    check(other, 32.0, 3);
    let mut other = model(1);
    other.layers[0].w = Array::from(2.0f32);
    check(other, 48.0, 4);
    check(model(2), 80.0, 5);
    check(model(1), 40.0, 5);
    f.clear_cache();
    check(model(1), 40.0, 1);
}
