//! Transformations compose in any order, and closures may capture arrays and traced values.

use jaxide::prelude::*;
use jaxide::{Argnum, custom_jvp, map, numpy, tree};

fn close(a: &Array, b: &Array) {
    let (x, y) = (
        a.astype(DType::F64).to_vec::<f64>(),
        b.astype(DType::F64).to_vec::<f64>(),
    );
    assert_eq!(a.shape(), b.shape());
    for (x, y) in x.iter().zip(&y) {
        assert!(
            (x - y).abs() <= 1e-5 * (1.0 + y.abs()),
            "{x} and {y} in {a} and {b}"
        );
    }
}

fn wave(x: Array) -> Array {
    (x.sin() * &x).exp()
}

#[test]
fn jit_anywhere_changes_nothing() {
    let x = Array::from([0.3f32, -0.7, 1.1]);
    let plain = vmap(grad(wave))(x.clone());
    close(&jit(vmap(grad(wave)))(x.clone()), &plain);
    close(&vmap(jit(grad(wave)))(x.clone()), &plain);
    close(&vmap(grad(jit(wave)))(x.clone()), &plain);
    close(&jit(vmap(jit(grad(jit(wave)))))(x), &plain);
}

#[test]
fn derivatives_nest() {
    let cube = |x: Array| &x * &x * &x;
    let x = Array::from([2.0f32]).sum();
    assert_eq!(grad(grad(cube))(x.clone()).item::<f32>(), 12.0);
    assert_eq!(grad(grad(grad(cube)))(x.clone()).item::<f32>(), 6.0);
    let (first, second) = jvp(grad(cube), (x.clone(),), (Array::from([1.0f32]).sum(),));
    assert_eq!((first.item::<f32>(), second.item::<f32>()), (12.0, 12.0));
    let forward = move |x: Array| jvp(cube, (x,), (Array::ones(&[], DType::F32),)).1;
    assert_eq!(grad(forward)(x).item::<f32>(), 12.0);
}

#[test]
fn vmap_is_a_loop() {
    let f = |m: Array, v: Array| m.dot(&v).tanh();
    let m = numpy::linspace(-1.0, 1.0, 24).reshape(&[4, 2, 3]);
    let v = numpy::linspace(0.0, 2.0, 12).reshape(&[4, 3]);
    let all = vmap(f)(m.clone(), v.clone());
    let rows = numpy::stack(
        &jaxide::lax::unstack(&m, 0)
            .into_iter()
            .zip(jaxide::lax::unstack(&v, 0))
            .map(|(m, v)| f(m, v))
            .collect::<Vec<_>>(),
        0,
    );
    close(&all, &rows);
    let shared = vmap(f).in_axes((None, 0))(jaxide::lax::unstack(&m, 0)[0].clone(), v);
    assert_eq!(shared.shape(), [4, 2]);
}

#[test]
fn closures_capture_arrays_and_tracers() {
    let table = Array::from([1.0f32, 2.0, 3.0]);
    let f = move |x: Array| {
        let y = x.sin();
        let inner = {
            let (y, table) = (y.clone(), table.clone());
            move |z: Array| (&y * z * &table).sum()
        };
        grad(inner)(x) + y
    };
    let x = Array::from([0.5f32]).sum();
    let want = 0.5f32.sin() * 6.0 + 0.5f32.sin();
    close(&f(x.clone()), &Array::from([want]).sum());
    close(&jit(f.clone())(x.clone()), &f(x.clone()));
    let through = grad(f)(x);
    close(&through, &Array::from([0.5f32.cos() * 7.0]).sum());
}

#[test]
fn rust_control_flow_may_decide_by_values_under_grad() {
    let relu = |x: Array| if x.gt(0.0).truth() { x * 2.0 } else { x * 0.5 };
    assert_eq!(grad(relu)(Array::from([3.0f32]).sum()).item::<f32>(), 2.0);
    assert_eq!(grad(relu)(Array::from([-3.0f32]).sum()).item::<f32>(), 0.5);
    assert_eq!(
        grad(grad(move |x: Array| relu(&x * &x)))(Array::from([3.0f32]).sum()).item::<f32>(),
        4.0
    );
}

#[test]
fn gradients_of_loops() {
    let power = |x: Array| {
        fori_loop(
            0,
            5,
            {
                let x = x.clone();
                move |_, y: Array| y * &x
            },
            Array::ones(&[], DType::F32),
        )
    };
    assert_eq!(grad(power)(Array::from([2.0f32]).sum()).item::<f32>(), 80.0);
    let last = |xs: Array| {
        scan(
            |c: Array, x: Array| (&c * x + c, ()),
            Array::ones(&[], DType::F32),
            xs,
            None,
        )
        .0
    };
    let xs = Array::from([1.0f32, 2.0, 3.0]);
    close(&grad(last)(xs.clone()), &Array::from([12.0f32, 8.0, 6.0]));
    close(&jit(grad(last))(xs), &Array::from([12.0f32, 8.0, 6.0]));
}

#[derive(Clone, Pytree)]
struct Model {
    weight: Array,
    bias: Array,
    #[pytree(static)]
    scale: usize,
}

#[test]
fn pytrees_go_through_everything() {
    let loss = |m: Model, x: Array| ((m.weight * x + m.bias) * m.scale as f64).sum();
    let model = Model {
        weight: Array::from([1.0f32, 2.0]),
        bias: Array::from([0.5f32]).sum(),
        scale: 3,
    };
    let x = Array::from([10.0f32, 20.0]);
    let (value, gradient) = jit(value_and_grad(loss))(model.clone(), x.clone());
    assert_eq!(value.item::<f32>(), (10.5 + 40.5) * 3.0);
    assert_eq!(gradient.weight.to_vec::<f32>(), [30.0, 60.0]);
    assert_eq!(gradient.bias.item::<f32>(), 6.0);
    assert_eq!(gradient.scale, 3);
    let by_x = grad(loss).argnums(Argnum::<1>)(model.clone(), x.clone());
    assert_eq!(by_x.to_vec::<f32>(), [3.0, 6.0]);
    let both = grad(loss).argnums((Argnum::<0>, Argnum::<1>))(model.clone(), x.clone());
    assert_eq!(both.1.to_vec::<f32>(), [3.0, 6.0]);
    let doubled = tree::map(|leaf: &Array| leaf * 2.0, &model).unwrap();
    assert_eq!(doubled.bias.item::<f32>(), 1.0);

    let f = jit(loss);
    f(model.clone(), x.clone());
    f(model.clone(), x.clone());
    assert_eq!(f.cache_size(), 1);
    f(Model { scale: 4, ..model }, x);
    assert_eq!(f.cache_size(), 2, "static fields are part of the key");
}

#[test]
fn jitted_functions_are_called_from_many_threads() {
    let f = std::sync::Arc::new(jit(vmap(grad(wave))));
    let want = f(Array::from([0.5f32, 1.0]));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            let f = f.clone();
            let want = want.clone();
            scope.spawn(move || {
                for _ in 0..20 {
                    assert_eq!(f(Array::from([0.5f32, 1.0])).value(), want.value());
                }
            });
        }
    });
}

#[test]
fn linear_maps_at_a_point() {
    let f = |x: Array, y: Array| (x.sin() * &y, y);
    let point = (Array::from([0.1f32, 0.2]), Array::from([3.0f32, 4.0]));
    let (_, derivative) = linearize(f, point.clone());
    let direction = (Array::from([1.0f32, 0.0]), Array::from([0.0f32, 1.0]));
    let (dz, dy) = derivative.apply(&direction);
    let (_, (jz, jy)) = jvp(f, point.clone(), direction.clone());
    close(&dz, &jz);
    close(&dy, &jy);
    let (_, pullback) = vjp(f, point);
    let cotangent = (Array::from([1.0f32, 2.0]), Array::from([0.5f32, -1.0]));
    let (cx, cy) = pullback.apply(&cotangent);
    let forward = (&dz * &cotangent.0).sum() + (&dy * &cotangent.1).sum();
    let backward = (cx * &direction.0).sum() + (cy * &direction.1).sum();
    close(&forward, &backward);
}

#[test]
fn numbers_promote_as_in_numpy() {
    let i = Array::from([1i32, 2]);
    let f = Array::from([1.5f32, 2.5]);
    assert_eq!((&i + &f).dtype(), DType::F32);
    assert_eq!((&i + 1).dtype(), DType::I32);
    assert_eq!((&i + 1.5).dtype(), DType::F32);
    assert_eq!((&i / 2).dtype(), DType::F32);
    assert_eq!((f.astype(DType::F64) * 2.0).dtype(), DType::F64);
    assert_eq!((f.astype(DType::F16) * 2.0).dtype(), DType::F16);
    assert_eq!((-7i32 + &i).to_vec::<i32>(), [-6, -5]);
    assert_eq!((Array::from([-7i32, 7]) % 3).to_vec::<i32>(), [2, 1]);
    assert_eq!(
        numpy::floor_divide(&Array::from([-7i32, 7]), &Array::from(2)).to_vec::<i32>(),
        [-4, 3]
    );
}

#[test]
fn counters_have_the_common_type_of_the_bounds() {
    let f = |end: Array| {
        let count = |i: Array, (): ()| {
            assert_eq!(i.dtype(), DType::I64);
        };
        fori_loop(1, end.clone(), count, ());
        fori_loop(1, end, |i: Array, sum: Array| sum + i, Array::from([0i64]))
    };
    let end = Array::from([4i64]).sum();
    assert_eq!(f(end.clone()).to_vec::<i64>(), [6]);
    assert_eq!(jit(f)(end).to_vec::<i64>(), [6]);
}

/// The derivative of the rule is a jaxpr with a constant of its own, which the loop over it must be given.
#[test]
fn captured_arrays_in_rules_of_checkpointed_loops() {
    let captured = Array::from([[0.5f32, -2.0]]);
    let f = move |x: Array| {
        let each = |row: Array| {
            let kept = captured.clone();
            let function = move |x: Array| (x, kept.clone());
            let derived = function.clone();
            let rule = move |(x,): (Array,), (t,): (Array,)| jvp(derived.clone(), (x,), (t,));
            let (_, kept) = custom_jvp(function, rule)(x.clone());
            (row.clone() * row, kept)
        };
        let (squares, kept) = map(each, x.clone());
        (squares * kept.index(0)).sum()
    };
    let x = Array::from([[1.0f32, 3.0]]);
    let expected = Array::from([[1.0f32, -12.0]]);
    close(&grad(f.clone())(x.clone()), &expected);
    close(&grad(checkpoint(f.clone()))(x.clone()), &expected);
    close(&jit(grad(checkpoint(f)))(x), &expected);
}

/// A carry that starts as a number of the program and becomes an array is one from the beginning.
#[test]
fn carries_that_become_strong_are_strong_inside() {
    let inside = |jaxpr: ClosedJaxpr| {
        let mut weak = Vec::new();
        for eqn in &jaxpr.jaxpr.eqns {
            eqn.prim.visit(&mut |body| {
                weak.extend(
                    body.in_avals()
                        .iter()
                        .map(|aval| (aval.dtype, aval.weak_type)),
                );
            });
        }
        weak
    };
    let (f32s, i32s) = ((DType::F32, false), (DType::I32, false));
    let spec = |shape: &[usize]| Array::spec(DType::F32, shape);
    let counted = make_jaxpr(|end: Array, offset: Array| {
        while_loop(
            |(i, x): (Array, Array)| i.lt(&end) & x.lt(&offset),
            |(i, x): (Array, Array)| (i + 1, x + &offset),
            (Array::from(0).astype(DType::I32), Array::from(1.0)),
        )
    });
    let types = inside(counted(Array::spec(DType::I32, &[]), spec(&[])).unwrap());
    assert_eq!(
        types.iter().filter(|&&ty| ty == f32s).count(),
        4,
        "{types:?}"
    );
    assert_eq!(
        types.iter().filter(|&&ty| ty == i32s).count(),
        3,
        "{types:?}"
    );
    let scanned = make_jaxpr(|xs: Array, offset: Array| {
        let step = |x: Array, y: Array| (x + &offset + y, ());
        scan(step, Array::from(1.0), xs, None).0
    });
    let types = inside(scanned(spec(&[3]), spec(&[])).unwrap());
    assert_eq!(types, [f32s; 3]);
}

/// With one branch there is no choice, whatever the index is in each lane.
#[test]
fn one_branch_is_taken_at_any_index() {
    let x = Array::from([1.0f64, 2.0, 3.0]);
    let index = Array::from([-7i64, 0, 9]);
    let squares = vmap(|x: Array, k: Array| switch(k, [|x: Array| &x * &x], x));
    let sum = move |x: Array, k: Array| squares(x, k).sum();
    let want = vec![2.0, 4.0, 6.0];
    let plain = grad(sum.clone())(x.clone(), index.clone());
    assert_eq!(plain.to_vec::<f64>(), want);
    let compiled = grad(jit(sum))(x, index);
    assert_eq!(compiled.to_vec::<f64>(), want);
}
