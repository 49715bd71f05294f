//! What a closure captures is told apart by what it is, whatever its size and wherever it is used.

use jaxide::prelude::*;
use jaxide::{Tensor, random};

/// Arrays of 0 to 64 bytes, each with elements of its own.
fn arrays() -> Vec<Array> {
    let mut all = Vec::new();
    for length in 0..=16usize {
        for first in [1.0f32, 2.0] {
            let elements = (0..length).map(|k| first + 3.0 * k as f32).collect();
            all.push(Array::from_vec(&[length], elements));
        }
    }
    all
}

#[test]
fn equal_identities_are_equal_arrays() {
    let tensors: Vec<Tensor> = arrays().iter().map(Array::value).collect();
    for a in &tensors {
        assert_eq!(a.identity(), a.clone().identity());
        for b in &tensors {
            if a.identity() == b.identity() {
                assert_eq!(a, b);
            }
        }
        let flat = a.reshaped(&[a.len(), 1]).unwrap();
        assert_ne!(a.identity(), flat.identity());
        let bits = a.reinterpreted(a.shape(), DType::I32).unwrap();
        assert_ne!(a.identity(), bits.identity());
    }
}

#[test]
fn temporaries_in_a_closure_are_different_arrays() {
    let f = |x: Array| x * Array::from([1f32, 2.]) + Array::from([3f32, 4.]);
    let x = Array::from([10f32, 10.]);
    assert_eq!(f(x.clone()).to_vec::<f32>(), [13., 24.]);
    assert_eq!(jit(f)(x.clone()).to_vec::<f32>(), [13., 24.]);
    let sum = move |x: Array| f(x).sum();
    assert_eq!(grad(sum)(x.clone()).to_vec::<f32>(), [1., 2.]);
    let rows = Array::from([[10f32, 10.], [1., 1.]]);
    assert_eq!(vmap(f)(rows).to_vec::<f32>(), [13., 24., 4., 6.]);
    let looped = jit(move |x: Array| fori_loop(0, 2, |_, x| f(x), x));
    assert_eq!(looped(x).to_vec::<f32>(), [16., 52.]);
}

#[test]
fn every_pair_of_captured_arrays_is_told_apart() {
    let all = arrays();
    for a in &all {
        for b in all.iter().filter(|b| b.shape() == a.shape()) {
            let (first, second) = (a.clone(), b.clone());
            let both = jit(move |x: Array| (&x * &first, &x - &second));
            let (product, difference) = both(Array::from(2.0f32).astype(DType::F32));
            let expected: Vec<f32> = a.to_vec::<f32>().iter().map(|a| 2.0 * a).collect();
            assert_eq!(product.to_vec::<f32>(), expected);
            let expected: Vec<f32> = b.to_vec::<f32>().iter().map(|b| 2.0 - b).collect();
            assert_eq!(difference.to_vec::<f32>(), expected);
        }
    }
}

#[test]
fn one_array_is_captured_once() {
    let small = Array::from([1f32, 2.]);
    let large = Array::from([1f32; 32]);
    let f = move |x: Array| (&x * &small).sum() + (&x * &small).sum() + large.sum() * large.sum();
    let jaxpr = make_jaxpr(f)(Array::spec(DType::F32, &[2])).unwrap();
    assert_eq!(jaxpr.jaxpr.constvars.len(), 2);
}

#[test]
fn weak_and_strong_arrays_differ() {
    let weak = Array::from(2.0) * Array::from(1.0f32);
    let weak = weak.broadcast_to(&[3]);
    assert!(weak.weak_type());
    let strong = weak.astype(DType::F32);
    let half = Array::from([1f32; 3]).astype(DType::F16);
    let f = move |x: Array| (&x * &strong, &x * &weak);
    let (strong, weak) = jit(f)(half);
    assert_eq!((strong.dtype(), weak.dtype()), (DType::F32, DType::F16));
}

#[test]
fn updates_at_captured_indices() {
    let f = |x: Array| x.at([0, 1]).set(7.0).at([3, 4]).set(8.0);
    let zeros = Array::zeros(&[5], DType::F32);
    assert_eq!(jit(f)(zeros).to_vec::<f32>(), [7., 7., 0., 8., 8.]);
}

#[test]
fn captured_keys_draw_their_own_numbers() {
    let (first, second) = (random::key(1), random::key(2));
    let draw = |key: &Array| random::uniform(key, &[2], DType::F32, 0.0, 1.0).to_vec::<f32>();
    let expected = [draw(&first), draw(&second)];
    assert_ne!(expected[0], expected[1]);
    let both = jit(move |x: Array| {
        let draw = |key: &Array| random::uniform(key, &[2], DType::F32, 0.0, 1.0) + &x;
        (draw(&first), draw(&second))
    });
    let (a, b) = both(Array::zeros(&[2], DType::F32));
    assert_eq!([a.to_vec::<f32>(), b.to_vec::<f32>()], expected);
}
