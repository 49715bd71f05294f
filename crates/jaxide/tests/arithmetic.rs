//! Arithmetic of trees, and trees as vectors.

use jaxide::flatten_util::ravel_pytree;
use jaxide::prelude::*;
use jaxide::{jvp, tree};

#[derive(Clone, Pytree)]
struct Params {
    weights: Vec<Array>,
    bias: Array,
}

fn params(values: [f32; 4]) -> Params {
    let [a, b, c, d] = values;
    Params {
        weights: vec![Array::from([a, b]), Array::from([[c]])],
        bias: Array::from(d),
    }
}

fn numbers(params: &Params) -> Vec<f32> {
    let leaves = tree::leaves::<Array, _>(params).into_iter();
    leaves.flat_map(|leaf| leaf.to_vec::<f32>()).collect()
}

#[test]
fn trees_are_vectors() {
    let (x, y) = (params([1.0, 2.0, 3.0, 4.0]), params([0.5, -1.0, 2.0, 1.0]));
    assert_eq!(numbers(&tree::add(&x, &y)), [1.5, 1.0, 5.0, 5.0]);
    assert_eq!(numbers(&tree::sub(&x, &y)), [0.5, 3.0, 1.0, 3.0]);
    assert_eq!(numbers(&tree::scale(2.0, &x)), [2.0, 4.0, 6.0, 8.0]);
    assert_eq!(numbers(&tree::axpy(2.0, &x, &y)), [2.5, 3.0, 8.0, 9.0]);
    assert_eq!(tree::dot(&x, &y).item::<f32>(), 8.5);
    assert_eq!(tree::norm(&x).item::<f32>(), 30.0f32.sqrt());
    assert_eq!(numbers(&tree::zeros_like(&x)), [0.0; 4]);
    let (flat, unravel) = ravel_pytree(&x);
    assert_eq!(flat.to_vec::<f32>(), [1.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers(&unravel(&(flat * 3.0))), [3.0, 6.0, 9.0, 12.0]);
}

/// They are functions like any other: differentiated, mapped and compiled.
#[test]
fn trees_of_traced_arrays() {
    let loss = |x: Params| tree::dot(&x, &tree::scale(0.5, &x));
    let x = params([1.0, 2.0, 3.0, 4.0]);
    assert_eq!(numbers(&jit(grad(loss))(x.clone())), [1.0, 2.0, 3.0, 4.0]);
    let length = |x: Params| tree::norm(&x);
    let (_, slope) = jvp(length, (x.clone(),), (x.clone(),));
    assert!((slope.item::<f32>() - 30.0f32.sqrt()).abs() < 1e-5);
}

#[test]
fn complex_numbers_have_lengths() {
    let z = (Array::from(num_complex::Complex::new(3.0f32, 4.0)).reshape([1]),);
    assert_eq!(tree::norm(&z).item::<f32>(), 5.0);
    assert_eq!(
        tree::dot(&z, &z).value().scalar_at(0).unwrap().as_complex(),
        (25.0, 0.0)
    );
}

#[test]
fn trees_without_leaves() {
    let nothing: Vec<Array> = Vec::new();
    assert_eq!(tree::dot(&nothing, &nothing).item::<f32>(), 0.0);
    assert_eq!(tree::norm(&nothing).item::<f32>(), 0.0);
    let (flat, unravel) = ravel_pytree(&nothing);
    assert_eq!((flat.shape(), unravel(&flat).len()), (&[0][..], 0));
}

#[test]
fn mistakes_are_named() {
    let add = jit(|x: Vec<Array>, y: Vec<Array>| tree::add(&x, &y));
    let one = Array::from([1.0f32]);
    let error = add.try_call((vec![one.clone()], vec![one.clone(), one.clone()]));
    let said = error.unwrap_err().to_string();
    assert!(said.contains("different lengths"), "{said}");
    let (_, unravel) = ravel_pytree(&vec![one.clone(), Array::from([1, 2])]);
    let wrong = move |x: Array| unravel(&x);
    let said = |x: Array| jit(wrong.clone()).try_call((x,)).unwrap_err().to_string();
    assert!(said(one).contains("a vector of 3 elements"));
    assert!(said(Array::from([1, 2, 3])).contains("a vector of f32"));
}
