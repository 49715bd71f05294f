//! Arrays in nested values: trees of trees, structures known at run time, static fields.

use std::collections::BTreeMap;

use jaxide::prelude::*;
use jaxide::tree::{self, Tree, tree};
use jaxide::{jacfwd, jacrev};

#[derive(Clone, Debug, Pytree)]
struct Affine<T> {
    w: T,
    b: Option<T>,
}

fn affine() -> Affine<Array> {
    Affine {
        w: Array::from([1.0f32, 2.0]),
        b: Some(Array::from([3.0f32, 4.0, 5.0])),
    }
}

#[test]
fn a_jacobian_is_a_tree_of_trees() {
    let f = |x: Affine<Array>| Affine {
        w: x.w.sum() * 2.0,
        b: x.b.map(|b| b * x.w.sum()),
    };
    let treedef = tree::structure::<Array, _>(&affine());
    for jacobian in [jacfwd(f)(affine()), jacrev(f)(affine())] {
        assert_eq!(
            tree::structure::<Array, _>(&jacobian),
            treedef.compose(&treedef)
        );
        let typed: Affine<Affine<Array>> = jacobian;
        assert_eq!(typed.w.w.to_vec::<f32>(), [2.0, 2.0]);
        assert_eq!(typed.w.b.unwrap().to_vec::<f32>(), [0.0; 3]);
        let b = typed.b.unwrap();
        assert_eq!(b.w.shape(), [3, 2]);
        assert_eq!(b.w.to_vec::<f32>(), [3.0, 3.0, 4.0, 4.0, 5.0, 5.0]);
        assert_eq!(b.b.unwrap().shape(), [3, 3]);
    }
}

#[test]
fn structures_known_at_run_time_go_through_every_transformation() {
    let array = || Array::from([1.0f32, 2.0]);
    let params: Tree<Array> = tree!({"dense": [array(), None], "scale": (array(),)});
    let loss = |params: Tree<Array>| {
        let leaves = params.leaves().into_iter();
        leaves
            .map(|x| x.square().sum())
            .reduce(|a, b| a + b)
            .unwrap()
    };
    let gradient = jit(grad(loss))(params.clone());
    assert_eq!(gradient.structure(), params.structure());
    assert_eq!(
        gradient.structure().to_string(),
        "PyTreeDef({'dense': [*, None], 'scale': (*,)})"
    );
    for leaf in gradient.leaves() {
        assert_eq!(leaf.to_vec::<f32>(), [2.0, 4.0]);
    }
    let mapped = vmap(|params: Tree<Array>| params.map(|x| x * 10.0))(params);
    assert_eq!(mapped.leaves()[1].to_vec::<f32>(), [10.0, 20.0]);
}

#[test]
fn a_static_field_decides_what_is_traced() {
    #[derive(Clone, Pytree)]
    struct Power {
        x: Array,
        #[pytree(static)]
        exponent: i32,
    }
    let f = jit(|power: Power| {
        let mut y = Array::from(1.0f32);
        for _ in 0..power.exponent {
            y *= &power.x;
        }
        y
    });
    let call = |exponent| {
        f(Power {
            x: Array::from(2.0f32),
            exponent,
        })
        .item::<f32>()
    };
    assert_eq!([call(0), call(3), call(3), call(5)], [1.0, 8.0, 8.0, 32.0]);
    assert_eq!(f.cache_size(), 3);
}

#[test]
fn maps_of_one_structure_share_a_program_whatever_their_types() {
    let f = jit(|batch: Tree<Array>| batch.leaves()[0].clone() + batch.leaves()[1]);
    let (a, b) = (Array::from(1.0f32), Array::from(2.0f32));
    let sorted = BTreeMap::from([("a", a.clone()), ("b", b.clone())]);
    let hashed =
        std::collections::HashMap::from([("b".to_owned(), b.clone()), ("a".to_owned(), a.clone())]);
    for batch in [Tree::from_value(&sorted), Tree::from_value(&hashed)] {
        assert_eq!(f(batch).item::<f32>(), 3.0);
    }
    assert_eq!(f.cache_size(), 1);
    let other: Tree<Array> = tree!({"a": a, "c": b});
    f(other);
    assert_eq!(f.cache_size(), 2);
}
