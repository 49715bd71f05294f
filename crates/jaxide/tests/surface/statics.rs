//! Static arguments: values that are part of the structure.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use jaxide::prelude::*;
use jaxide::tree::{self, Static};

#[test]
fn jit_makes_a_program_for_each_value() {
    let traces = Arc::new(AtomicUsize::new(0));
    let counter = traces.clone();
    let power = jit(move |x: Array, n: Static<u32>| {
        counter.fetch_add(1, Ordering::Relaxed);
        (1..*n).fold(x.clone(), |power, _| power * &x)
    });
    let call = |x: f32, n| power(Array::scalar(x), Static(n)).item::<f32>();
    assert_eq!(call(2.0, 3), 8.0);
    assert_eq!(call(3.0, 3), 27.0);
    assert_eq!(traces.load(Ordering::Relaxed), 1);
    assert_eq!(call(2.0, 5), 32.0);
    assert_eq!(traces.load(Ordering::Relaxed), 2);
    assert_eq!(call(5.0, 3), 125.0);
    assert_eq!(call(5.0, 5), 3125.0);
    assert_eq!(traces.load(Ordering::Relaxed), 2);
}

#[test]
fn transformations_hand_static_arguments_through() {
    let f = |x: Array, how: Static<&'static str>| match *how {
        "double" => x * 2.0,
        _ => x.square(),
    };
    let x = Array::from([1.0f32, 3.0]);
    let of = |how| vmap(grad(f))(x.clone(), Static(how)).to_vec::<f32>();
    assert_eq!(of("double"), [2.0, 2.0]);
    assert_eq!(of("square"), [2.0, 6.0]);
    let jaxpr = make_jaxpr(f)(Array::spec(DType::F32, ()), Static("double")).unwrap();
    assert_eq!(jaxpr.in_avals().len(), 1);
}

#[test]
fn values_are_part_of_the_structure() {
    let tree = (Array::from(1), Static(vec!["a", "b"]));
    assert_eq!(tree::leaves::<Array, _>(&tree).len(), 1);
    let error = tree::map2(
        |x: &Array, y: &Array| x + y,
        &tree,
        &(Array::from(1), Static(vec!["a", "c"])),
    )
    .unwrap_err();
    assert_eq!(
        error.to_string(),
        "different metadata of Static at tree[1]: expected ['a', 'b'], got ['a', 'c']"
    );
    assert_eq!(Static(3).to_string(), "3");
    assert_eq!(Static::from(3), Static(3));
}
