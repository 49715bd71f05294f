//! Functions of nested values as flat ones: what the examples do with `TracingAdapter`.

use jaxide::prelude::*;
use jaxide::tree::TracingAdapter;

#[path = "../../../examples/count_operations.rs"]
#[allow(dead_code)]
mod count_operations;

#[path = "../../../examples/draw_jaxpr.rs"]
#[allow(dead_code)]
mod draw_jaxpr;

#[derive(Clone, Pytree)]
struct Affine {
    w: Array,
    b: Option<Array>,
    #[pytree(static)]
    scale: u8,
}

#[test]
fn a_nested_function_is_traced_and_compiled_as_a_flat_one() {
    let apply = |(affine, x): (Affine, Array)| {
        let y = x.dot(&affine.w) * f64::from(affine.scale);
        (vec![y.clone()], affine.b.map(|b| y + b))
    };
    let affine = Affine {
        w: Array::from([[1.0f32, 2.0], [3.0, 4.0]]),
        b: Some(Array::from([0.5f32, 0.25])),
        scale: 10,
    };
    let (adapter, flat) = TracingAdapter::new(apply, &(affine, Array::from([1.0f32, 1.0])));
    let adapter = std::sync::Arc::new(adapter);
    let function = adapter.clone();
    let compiled = jit(move |flat: Vec<Array>| function.call(flat).unwrap());
    let results = compiled(flat);
    assert_eq!(results.len(), 2);
    // The schema of the outputs was found while tracing, and holds no array of the trace.
    let outputs = adapter.outputs().unwrap();
    assert_eq!(outputs.structure().to_string(), "PyTreeDef(([*], *))");
    assert_eq!(outputs.constants().count(), 0);
    let (ys, shifted) = adapter.rebuild(results).unwrap();
    assert_eq!(ys[0].to_vec::<f32>(), [40.0, 60.0]);
    assert_eq!(shifted.unwrap().to_vec::<f32>(), [40.5, 60.25]);
}

#[test]
fn operations_are_counted() {
    let f = |x: Array, w: Array| {
        let (total, ()) = scan(
            move |total: Array, row: Array| (total + row.dot(&w).sum(), ()),
            Array::from(0.0f32),
            x,
            3,
        );
        total
    };
    let spec = |shape: &[usize]| Array::spec(DType::F32, shape);
    let jaxpr = make_jaxpr(f)(spec(&[3, 4]), spec(&[4, 5])).unwrap();
    let counts = count_operations::operations(&jaxpr.jaxpr);
    let count = |runs, operations| count_operations::Count { runs, operations };
    assert_eq!(counts["scan"], count(1, 0));
    assert_eq!(counts["dot_general"], count(3, 3 * 2 * 4 * 5));
    assert_eq!(counts["reduce_sum"], count(3, 3 * 5));
    assert_eq!(counts["add"], count(3, 3));
}

#[test]
fn the_picture_is_up_to_date() {
    let committed = include_str!("../../../docs/jaxpr.svg");
    assert!(
        draw_jaxpr::picture().unwrap() == committed,
        "run `cargo run --example draw_jaxpr > docs/jaxpr.svg`"
    );
}
