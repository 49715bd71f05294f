//! `in_axes` and `out_axes` over nested arguments, and what `vmap` says when they do not fit.

use std::collections::BTreeMap;

use jaxide::prelude::*;
use jaxide::tree::Axis;

#[derive(Clone, Pytree)]
struct Linear<T> {
    w: T,
    b: Option<T>,
    #[pytree(static)]
    units: usize,
}

type Batch = BTreeMap<&'static str, Array>;

fn floats(shape: &[usize]) -> Array {
    Array::zeros(shape, DType::F32)
}

fn linear() -> Linear<Array> {
    Linear {
        w: floats(&[4, 2]),
        b: Some(floats(&[4])),
        units: 2,
    }
}

fn batch() -> Batch {
    Batch::from([("k1", floats(&[3])), ("k2", floats(&[4, 3]))])
}

/// Gives the shapes that the function sees as lengths of arrays of its results.
fn f(linear: Linear<Array>, batch: Batch) -> (Array, Batch) {
    (linear.w, batch)
}

#[track_caller]
fn check_error<T>(result: Result<T>, lines: &[&str]) {
    let error = result.err().expect("axes that do not fit");
    let text = error.to_string();
    let got: Vec<&str> = text.lines().take(lines.len()).collect();
    assert_eq!(got, lines, "{text}");
}

#[test]
fn axes_read_as_in_jax() {
    let g = vmap(f)
        .in_axes(axes!((0, {"k1": None, "k2": 0})))
        .out_axes(axes!((1, {"k1": None, "k2": 0})));
    let (w, batch_out) = g(linear(), batch());
    assert_eq!(w.shape(), [2, 4]);
    assert_eq!(batch_out["k1"].shape(), [3]);
    assert_eq!(batch_out["k2"].shape(), [4, 3]);
}

#[test]
fn axes_of_structs_are_written_by_name_or_typed() {
    let by_name = vmap(f).in_axes(axes!((Linear { w: 0, b: None }, None)));
    let typed = vmap(f).in_axes((
        &Linear {
            w: Axis(Some(0)),
            b: Some(Axis::NONE),
            units: 2,
        },
        None,
    ));
    for g in [by_name, typed] {
        let (w, batch_out) = g(linear(), batch());
        assert_eq!(w.shape(), [4, 2]);
        assert_eq!(batch_out["k1"].shape(), [4, 3]);
    }
}

#[test]
fn every_place_where_in_axes_are_no_prefix_is_named() {
    let g = vmap(f).in_axes(axes!((Linear { w: (0,), b: [0, 0] }, {"k1": 0, "k3": None})));
    check_error(
        g.try_call((linear(), batch())),
        &[
            "vmap: in_axes must be a tree prefix of the corresponding value; 3 mismatches found:",
            "  different types at in_axes[0].w: expected tuple, got a leaf",
            "  different types at in_axes[0].b: expected list, got a leaf",
            "  different metadata of dict at in_axes[1]: expected ('k1', 'k3'), got ('k1', 'k2')",
        ],
    );
}

#[test]
fn every_place_where_out_axes_are_no_prefix_is_named() {
    let g = vmap(f).in_axes((0, None)).out_axes(axes!(([0], {"k1": 0})));
    check_error(
        g.try_call((linear(), batch())),
        &[
            "vmap: out_axes must be a tree prefix of the corresponding value; 2 mismatches found:",
            "  different types at out_axes[0]: expected list, got a leaf",
            "  different numbers of children of dict at out_axes[1]: expected 1 (['k1']), got 2 (['k1'] ['k2']); \
             only one of them has ['k2']",
        ],
    );
}

#[test]
fn every_array_without_its_axis_is_named() {
    let g = vmap(f).in_axes(axes!((Linear { w: 2, b: 0 }, {"k1": -2, "k2": 0})));
    check_error(
        g.try_call((linear(), batch())),
        &[
            "vmap: 2 arrays do not fit their axes:",
            "  axis 2 of the array[0].w of shape [4, 2] does not exist: its rank must be at least 3, but is 2",
            "  axis -2 of the array[1]['k1'] of shape [3] does not exist: its rank must be at least 2, but is 1",
        ],
    );
}

#[test]
fn every_size_is_named_with_its_places() {
    let g = vmap(f);
    check_error(
        g.try_call((linear(), batch())),
        &[
            "vmap: the mapped axes have different sizes:",
            "  size 4 at [0].w, [0].b, [1]['k2']",
            "  size 3 at [1]['k1']",
        ],
    );
}

#[test]
fn every_mapped_result_without_an_axis_is_named() {
    let g = vmap(f)
        .in_axes(axes!((0, {"k1": None, "k2": 0})))
        .out_axes(None);
    check_error(
        g.try_call((linear(), batch())),
        &[
            "vmap: 2 arrays do not fit their axes:",
            "  the output[0] is batched, but its axis in out_axes is None: give it an axis",
            "  the output[1]['k2'] is batched, but its axis in out_axes is None: give it an axis",
        ],
    );
}

#[test]
fn the_number_of_entries_must_be_that_of_the_arguments() {
    let g = vmap(f).in_axes((0, 0, 0));
    check_error(
        g.try_call((linear(), batch())),
        &[
            "vmap: in_axes must be one axis, None, or a tuple with an entry for each argument: \
           there are 3 entries for 2 arguments",
        ],
    );
}

#[test]
fn a_size_may_be_said_that_the_arrays_have() {
    let f = vmap(|x: Array| x * 2.0).axis_size(3);
    assert_eq!(f(floats(&[3])).shape(), [3]);
    let error = vmap(|x: Array| x * 2.0)
        .axis_size(2)
        .try_call((floats(&[3]),));
    let said = error.unwrap_err().to_string();
    assert!(
        said.contains("the mapped axes have length 3, and `axis_size` says 2"),
        "{said}"
    );
    let nothing = vmap(|x: Array| x * 2.0).in_axes((None,)).axis_size(4);
    assert_eq!(nothing(floats(&[3])).shape(), [4, 3]);
}
