//! Whole derivatives have the type of their results with that of their arguments in place of the leaves.

use std::any::{TypeId, type_name};
use std::collections::BTreeMap;

use jaxide::prelude::*;
use jaxide::tree::{self, Tree};
use jaxide::{Argnum, hessian_with_aux, jacfwd_with_aux, jacrev_with_aux};

#[derive(Clone, Pytree)]
struct Line {
    slope: Array,
    offset: Array,
}

#[derive(Clone, Pytree)]
struct Pair<T> {
    first: T,
    rest: Vec<T>,
    #[pytree(static)]
    label: &'static str,
}

fn line() -> Line {
    Line {
        slope: Array::from([2.0f32, 3.0]),
        offset: Array::from([0.5f32]).sum(),
    }
}

#[track_caller]
fn is<Want: 'static, Got: 'static>(_: &Got) {
    assert_eq!(
        TypeId::of::<Want>(),
        TypeId::of::<Got>(),
        "{} and {}",
        type_name::<Want>(),
        type_name::<Got>()
    );
}

fn leaf(array: &Array) -> (Vec<usize>, Vec<f32>) {
    (array.shape().to_vec(), array.to_vec())
}

#[test]
fn arrays_by_arrays_are_arrays() {
    let f = |x: Array| &x * &x;
    let x = Array::from([1.0f32, 2.0]);
    let want = (vec![2, 2], vec![2.0, 0.0, 0.0, 4.0]);
    let (forward, reverse) = (jacfwd(f)(x.clone()), jacrev(f)(x.clone()));
    is::<Array, _>(&forward);
    assert_eq!(leaf(&forward), want);
    assert_eq!(leaf(&reverse), want);
    let second = hessian(f)(x);
    is::<Array, _>(&second);
    let want = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0];
    assert_eq!(leaf(&second), (vec![2, 2, 2], want.to_vec()));
}

#[test]
fn arrays_by_structs_are_structs() {
    let x = Array::from([10.0f32, 20.0]);
    let f = move |line: Line| (line.slope * &x).sum() + line.offset.square();
    for j in [jacfwd(f.clone())(line()), jacrev(f.clone())(line())] {
        is::<Line, _>(&j);
        assert_eq!(leaf(&j.slope), (vec![2], vec![10.0, 20.0]));
        assert_eq!(leaf(&j.offset), (vec![], vec![1.0]));
    }
    // A struct of structs that cannot hold themselves is a tree without a type.
    let second = hessian(f)(line());
    is::<Tree<Array>, _>(&second);
    let treedef = tree::structure::<Array, _>(&line());
    assert_eq!(second.structure(), treedef.compose(&treedef));
    let values: Vec<Vec<f32>> = second.leaves().iter().map(|leaf| leaf.to_vec()).collect();
    assert_eq!(
        values,
        [vec![0.0; 4], vec![0.0; 2], vec![0.0; 2], vec![2.0]]
    );
}

#[test]
fn structs_by_arrays_are_structs() {
    let f = |x: Array| Line {
        slope: &x * 3.0,
        offset: x.sum(),
    };
    let j = jacrev(f)(Array::from([1.0f32, 2.0]));
    is::<Line, _>(&j);
    assert_eq!(leaf(&j.slope), (vec![2, 2], vec![3.0, 0.0, 0.0, 3.0]));
    assert_eq!(leaf(&j.offset), (vec![2], vec![1.0, 1.0]));
    let second = hessian(|x: Array| Line {
        slope: x.square(),
        offset: &x * 5.0,
    })(Array::from([1.0f32]).sum());
    is::<Line, _>(&second);
    assert_eq!(
        (second.slope.item::<f32>(), second.offset.item::<f32>()),
        (2.0, 0.0)
    );
}

#[test]
fn structs_that_hold_any_leaf_hold_structs() {
    let at = Pair {
        first: Array::from([3.0f32]).sum(),
        rest: vec![Array::from([1.0f32, 2.0])],
        label: "point",
    };
    let f = |p: Pair<Array>| Pair {
        first: &p.first * p.rest[0].sum(),
        rest: vec![&p.rest[0] * &p.first, p.rest[0].clone()],
        label: p.label,
    };
    let j = jacfwd(f)(at.clone());
    is::<Pair<Pair<Array>>, _>(&j);
    assert_eq!((j.label, j.first.label), ("point", "point"));
    assert_eq!(leaf(&j.first.first), (vec![], vec![3.0]));
    assert_eq!(leaf(&j.first.rest[0]), (vec![2], vec![3.0, 3.0]));
    assert_eq!(leaf(&j.rest[0].first), (vec![2], vec![1.0, 2.0]));
    assert_eq!(
        leaf(&j.rest[0].rest[0]),
        (vec![2, 2], vec![3.0, 0.0, 0.0, 3.0])
    );
    assert_eq!(leaf(&j.rest[1].first), (vec![2], vec![0.0, 0.0]));
    let second = hessian(|p: Pair<Array>| &p.first * p.rest[0].sum())(at);
    is::<Pair<Pair<Array>>, _>(&second);
    assert_eq!(leaf(&second.first.first), (vec![], vec![0.0]));
    assert_eq!(leaf(&second.first.rest[0]), (vec![2], vec![1.0, 1.0]));
    assert_eq!(leaf(&second.rest[0].first), (vec![2], vec![1.0, 1.0]));
}

#[test]
fn tuples_of_arguments_give_tuples() {
    let f = |x: Array, line: Line, y: Array| (&x * &y, vec![line.slope * y]);
    let (x, y) = (Array::from([5.0f32]).sum(), Array::from([7.0f32]).sum());
    let by_y = jacfwd(f).argnums(Argnum::<2>)(x.clone(), line(), y.clone());
    is::<(Array, Vec<Array>), _>(&by_y);
    assert_eq!(by_y.0.item::<f32>(), 5.0);
    assert_eq!(leaf(&by_y.1[0]), (vec![2], vec![2.0, 3.0]));
    let both = jacrev(f).argnums((Argnum::<2>, Argnum::<1>))(x.clone(), line(), y.clone());
    is::<((Array, Line), Vec<(Array, Line)>), _>(&both);
    let ((first_y, first_line), rest) = both;
    assert_eq!(first_y.item::<f32>(), 5.0);
    assert_eq!(leaf(&first_line.slope), (vec![2], vec![0.0, 0.0]));
    assert_eq!(leaf(&rest[0].0), (vec![2], vec![2.0, 3.0]));
    assert_eq!(
        leaf(&rest[0].1.slope),
        (vec![2, 2], vec![7.0, 0.0, 0.0, 7.0])
    );
    let second =
        hessian(|x: Array, y: Array| x.square() * y).argnums((Argnum::<0>, Argnum::<1>))(x, y);
    is::<((Array, Array), (Array, Array)), _>(&second);
    let ((xx, xy), (yx, yy)) = second;
    assert_eq!(
        [xx, xy, yx, yy].map(|d| d.item::<f32>()),
        [14.0, 10.0, 10.0, 0.0]
    );
}

#[test]
fn maps_give_maps() {
    let f =
        |x: BTreeMap<String, Array>| BTreeMap::from([("sum".to_owned(), &x["a"] * 2.0 + &x["b"])]);
    let of = |value: f32| Array::from([value]).sum();
    let x = BTreeMap::from([("a".to_owned(), of(1.0)), ("b".to_owned(), of(2.0))]);
    let j = jacfwd(f)(x);
    is::<BTreeMap<String, BTreeMap<String, Array>>, _>(&j);
    assert_eq!(j["sum"]["a"].item::<f32>(), 2.0);
    assert_eq!(j["sum"]["b"].item::<f32>(), 1.0);
}

#[test]
fn further_results_come_back_beside_derivatives() {
    let f = |x: Array, n: Array| ((x.square(), x.sum()), (n + 1, &x * 10.0));
    let (x, n) = (Array::from([1.0f32, 2.0]), Array::from([4i32]).sum());
    let forward = jacfwd_with_aux(f)(x.clone(), n.clone());
    let reverse = jit(jacrev_with_aux(f))(x.clone(), n.clone());
    for ((square, sum), (next, tens)) in [forward, reverse] {
        assert_eq!(leaf(&square), (vec![2, 2], vec![2.0, 0.0, 0.0, 4.0]));
        assert_eq!(leaf(&sum), (vec![2], vec![1.0, 1.0]));
        assert_eq!(next.item::<i32>(), 5);
        assert_eq!(tens.to_vec::<f32>(), [10.0, 20.0]);
    }
    let ((square, sum), (next, tens)) = hessian_with_aux(f)(x, n);
    assert_eq!(
        leaf(&square),
        (vec![2, 2, 2], vec![2.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 2.0])
    );
    assert_eq!(leaf(&sum), (vec![2, 2], vec![0.0; 4]));
    assert_eq!(
        (next.item::<i32>(), tens.to_vec::<f32>()),
        (5, vec![10.0, 20.0])
    );
}

#[test]
fn further_results_come_back_beside_linear_maps() {
    use jaxide::{jvp_with_aux, linearize_with_aux, vjp_with_aux};
    let f = |x: Array| (x.square(), (x.sum(), Array::from([7i32])));
    let x = Array::from([1.0f32, 2.0]);
    let check = |(sum, seven): (Array, Array)| {
        assert_eq!(sum.item::<f32>(), 3.0);
        assert_eq!(seven.to_vec::<i32>(), [7]);
    };
    let (y, dy, aux) = jvp_with_aux(f, x.clone(), Array::from([1.0f32, 0.5]));
    assert_eq!(
        (y.to_vec::<f32>(), dy.to_vec::<f32>()),
        (vec![1.0, 4.0], vec![2.0, 2.0])
    );
    check(aux);
    let (y, df, aux) = linearize_with_aux(f, x.clone());
    let dy = df.apply(&(Array::from([1.0f32, 0.5]),));
    assert_eq!(
        (y.to_vec::<f32>(), dy.to_vec::<f32>()),
        (vec![1.0, 4.0], vec![2.0, 2.0])
    );
    check(aux);
    let (y, pullback, aux) = vjp_with_aux(f, x);
    let (dx,) = pullback.apply(&Array::from([1.0f32, 0.5]));
    assert_eq!(
        (y.to_vec::<f32>(), dx.to_vec::<f32>()),
        (vec![1.0, 4.0], vec![2.0, 2.0])
    );
    check(aux);
}
