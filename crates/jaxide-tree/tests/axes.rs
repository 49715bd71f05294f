//! Axis trees: what can be written, and what is wrong with them.

use std::collections::{BTreeMap, HashMap};

use jaxide_tree::{Axis, IntoAxes, KeyPath, Pytree, Tree, TreeDef, axes, structure};

#[derive(Clone, Debug, PartialEq, Pytree)]
struct Linear<T> {
    w: T,
    b: Option<T>,
    #[pytree(static)]
    width: usize,
}

fn linear() -> Linear<f32> {
    Linear {
        w: 1.0,
        b: Some(2.0),
        width: 3,
    }
}

#[track_caller]
fn check(in_axes: impl IntoAxes, full: &TreeDef, expected: &[Option<i32>]) {
    let flat = axes::flatten("in_axes", &in_axes.into_axes(), full).unwrap();
    assert_eq!(
        flat,
        expected.iter().map(|axis| Axis(*axis)).collect::<Vec<_>>()
    );
}

#[test]
fn axes_in_all_the_ways_to_write_them() {
    let args = structure::<f32, _>(&(1.0, (2.0, [3.0, 4.0])));
    check(0, &args, &[Some(0); 4]);
    check(None, &args, &[None; 4]);
    check((None, 0), &args, &[None, Some(0), Some(0), Some(0)]);
    check((None, (-1, None)), &args, &[None, Some(-1), None, None]);
    check(
        (Some(1), (2, [None, Some(0)])),
        &args,
        &[Some(1), Some(2), None, Some(0)],
    );
    check(
        axes!((None, (1, [0, None]))),
        &args,
        &[None, Some(1), Some(0), None],
    );
    let shape = [5, 6];
    check(
        (shape.len() - 1, usize::MAX),
        &args,
        &[Some(1), Some(i32::MAX), Some(i32::MAX), Some(i32::MAX)],
    );
    let axis = Some(2);
    check(
        axes!((axis, (1 + 1, -1))),
        &args,
        &[Some(2), Some(2), Some(-1), Some(-1)],
    );
    check(
        (0, axes!((None, 1))),
        &args,
        &[Some(0), None, Some(1), Some(1)],
    );

    let map = structure::<f32, _>(&BTreeMap::from([
        ("k1".to_string(), [1.0]),
        ("k2".to_string(), [2.0]),
    ]));
    check(axes!({"k1": None, "k2": 0}), &map, &[None, Some(0)]);
    check(
        BTreeMap::from([("k1".to_string(), None), ("k2".to_string(), Some(0))]),
        &map,
        &[None, Some(0)],
    );
    check(
        HashMap::from([("k2", Some(0)), ("k1", None)]),
        &map,
        &[None, Some(0)],
    );
    let numbered = structure::<f32, _>(&BTreeMap::from([(10, 1.0), (9, 2.0)]));
    check(
        BTreeMap::from([(9u8, 0), (10, 1)]),
        &numbered,
        &[Some(0), Some(1)],
    );
    check(axes!({10: 1, 9: None}), &numbered, &[None, Some(1)]);
}

#[test]
fn axes_of_structs() {
    let args = structure::<f32, _>(&(linear(), 1.0));
    // By the name of the struct and its fields: static fields need not be known.
    check(
        axes!((Linear { w: 1, b: None }, 0)),
        &args,
        &[Some(1), None, Some(0)],
    );
    // As a typed tree of axes, which has static fields and must have the same.
    let typed = Linear {
        w: Axis(Some(1)),
        b: Some(Axis(None)),
        width: 3,
    };
    check((&typed, 0), &args, &[Some(1), None, Some(0)]);
    check(axes!((&typed, None)), &args, &[Some(1), None, None]);
}

#[track_caller]
fn check_error(in_axes: impl IntoAxes, message: &str) {
    let args = structure::<f32, _>(&(linear(), [1.0, 2.0]));
    let error = axes::flatten_in_axes("vmap in_axes", &in_axes.into_axes(), &args).unwrap_err();
    assert_eq!(error.to_string(), message);
}

#[test]
fn every_mismatch_is_reported_with_its_path() {
    check_error(
        ((0, 0), [0, 0, 0]),
        "vmap in_axes must be a tree prefix of the corresponding value; 2 mismatches found:\n  \
         different types at vmap in_axes[0]: expected tuple, got Linear\n  \
         different lengths of list at vmap in_axes[1]: expected 3, got 2",
    );
    check_error(
        axes!((Linear { w: [0], b: 0 }, 0)),
        "vmap in_axes must be a tree prefix of the corresponding value; 1 mismatch found:\n  \
         different types at vmap in_axes[0].w: expected list, got a leaf",
    );
    check_error(
        axes!((Linear { w: 0, bias: 0 }, 0)),
        "vmap in_axes must be a tree prefix of the corresponding value; 1 mismatch found:\n  \
         different metadata of Linear at vmap in_axes[0]: expected .w .bias, got .w .b",
    );
    check_error(
        (
            &Linear {
                w: Axis(Some(1)),
                b: None,
                width: 4,
            },
            0,
        ),
        "vmap in_axes must be a tree prefix of the corresponding value; 1 mismatch found:\n  \
         different metadata of Linear at vmap in_axes[0]: expected (4,), got (3,)",
    );
    check_error(
        (0, 0, 0),
        "vmap in_axes must be one axis, None, or a tuple with an entry for each argument: \
         there are 3 entries for 2 arguments",
    );
    check_error(
        axes!({"x": 0}),
        "vmap in_axes must be one axis, None, or a tuple with an entry for each argument, not a dict",
    );
}

#[test]
fn sizes_of_mapped_axes() {
    let paths = structure::<f32, _>(&(1.0, [2.0, 3.0])).key_paths();
    let size = |axes: [Option<i32>; 3], shapes: [&[usize]; 3]| {
        let arrays = axes.into_iter().zip(shapes).zip(&paths);
        axes::mapped_size(arrays.map(|((axis, shape), path)| (Axis(axis), shape, path)))
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        size([Some(0), Some(-1), None], [&[5, 2], &[2, 5], &[7]]),
        Ok(5)
    );
    assert_eq!(
        size([Some(0), Some(0), Some(1)], [&[5, 2], &[2, 5], &[4, 5]]).unwrap_err(),
        "the mapped axes have different sizes:\n  size 5 at [0], [1][1]\n  size 2 at [1][0]"
    );
    assert_eq!(
        size([None; 3], [&[], &[], &[]]).unwrap_err(),
        "nothing is mapped: every axis is None, and no size is given"
    );
    assert_eq!(
        size([Some(0), Some(0), Some(-3)], [&[5], &[5], &[4, 5]]).unwrap_err(),
        "axis -3 of the array[1][1] of shape [4, 5] does not exist: its rank must be at least 3, but is 2"
    );
    assert_eq!(
        size([Some(1), Some(0), Some(2)], [&[5], &[5], &[4, 5]]).unwrap_err(),
        "2 arrays do not fit their axes:\n  \
         axis 1 of the array[0] of shape [5] does not exist: its rank must be at least 2, but is 1\n  \
         axis 2 of the array[1][1] of shape [4, 5] does not exist: its rank must be at least 3, but is 2"
    );
    assert_eq!(
        size([Some(i32::MAX), None, None], [&[], &[], &[]]).unwrap_err(),
        "axis 2147483647 of the array[0] of shape [] does not exist: its rank must be at least 2147483648, but is 0"
    );
    let error = axes::output_axis(Axis::NONE, true, &[2], &KeyPath::root()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the output is batched, but its axis in out_axes is None: give it an axis"
    );
}

#[test]
fn none_is_a_leaf_of_axes_and_a_node_of_values() {
    let axes: Tree<Axis> = axes!([None, 0]);
    assert_eq!(axes.structure().to_string(), "PyTreeDef([*, *])");
    let values: Tree<i32> = jaxide_tree::tree!([None, 0]);
    assert_eq!(values.structure().to_string(), "PyTreeDef([None, *])");
}
