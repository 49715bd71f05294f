//! What is a function: closures that borrow, pointers, clones and shared transformed functions, and fields that hold them.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;

use jaxide::prelude::*;
use jaxide::{
    Arguments, Function, Grad, Jacfwd, Jitted, Transformed, ValueAndGrad, Vmapped, checkpoint_of,
    custom_root, eval_shape, grad_of, grad_with_aux_of, hessian_of, hessian_with_aux_of, jacfwd_of,
    jacfwd_with_aux_of, jacrev_of, jacrev_with_aux_of, jit_of, make_jaxpr_of, pmap_of,
    value_and_grad_of, value_and_grad_with_aux_of, vmap_of,
};

fn scalar(x: f32) -> Array {
    Array::from([x]).sum()
}

fn cube(x: Array) -> Array {
    &x * &x * &x
}

#[track_caller]
fn near(got: &Array, want: f32) {
    let got = got.item::<f32>();
    assert!(
        (got - want).abs() <= 1e-5 * (1.0 + want.abs()),
        "{got} and {want}"
    );
}

/// The slope of anything that is a function of one array, by a transformation that keeps it.
fn kept<F>(f: F) -> f32
where
    F: Function<(Array,), Array> + Send + Sync + 'static,
{
    jit(grad(f))(scalar(2.0)).item()
}

#[test]
fn every_kind_of_function_can_be_transformed() {
    let jitted = jit(cube);
    let pointer: fn(Array) -> Array = cube;
    let shared: Arc<dyn Fn(Array) -> Array + Send + Sync> = Arc::new(cube);
    let boxed: Box<dyn Fn(Array) -> Array + Send + Sync> = Box::new(cube);
    let object: &'static (dyn Fn(Array) -> Array + Send + Sync) = &cube;
    let leaked: &'static Jitted<(Array,), Array> = Box::leak(Box::new(jit(cube)));
    assert_eq!(kept(cube), 12.0);
    let borrowed = &cube;
    assert_eq!(kept(borrowed), 12.0);
    assert_eq!(kept(|x: Array| cube(x)), 12.0);
    assert_eq!(kept(pointer), 12.0);
    assert_eq!(kept(shared.clone()), 12.0);
    assert_eq!(kept(Arc::new(shared)), 12.0);
    assert_eq!(kept(boxed), 12.0);
    assert_eq!(kept(object), 12.0);
    assert_eq!(kept(jitted.clone()), 12.0);
    assert_eq!(kept(Arc::new(jitted.clone())), 12.0);
    assert_eq!(kept(Box::new(jitted.clone())), 12.0);
    assert_eq!(kept(jitted.erased()), 12.0);
    assert_eq!(kept(leaked), 12.0);
    assert_eq!(jvp(&jitted, scalar(2.0), scalar(1.0)).1.item::<f32>(), 12.0);
    let arc = &Arc::new(jitted);
    assert_eq!(jvp(arc, scalar(2.0), scalar(1.0)).1.item::<f32>(), 12.0);
}

#[test]
fn equations_have_the_names_of_what_was_jitted() {
    let name = |jaxpr: Result<ClosedJaxpr>| {
        let text = jaxpr.unwrap().to_string();
        let start = text.find("name=").unwrap() + "name=".len();
        text[start..].split_whitespace().next().unwrap().to_owned()
    };
    let x = || scalar(1.0);
    let pointer: fn(Array) -> Array = cube;
    assert_eq!(name(make_jaxpr(jit(cube))(x())), "cube");
    let borrowed = &cube;
    assert_eq!(name(make_jaxpr(jit(borrowed))(x())), "cube");
    assert_eq!(name(make_jaxpr(jit(Arc::new(jit(cube))))(x())), "cube");
    assert_eq!(name(make_jaxpr(jit(pointer))(x())), "<lambda>");
    assert_eq!(name(make_jaxpr(jit(|x: Array| x.sin()))(x())), "<lambda>");
    assert_eq!(name(make_jaxpr_of(&jit(cube), x())), "cube");
}

#[test]
fn a_clone_runs_what_the_other_has_compiled() {
    let f = jit(|x: Array| x * 2.0);
    let clone = f.clone();
    clone(scalar(1.0));
    assert_eq!(f.cache_size(), 1);
    // Options of a clone are its own.
    let mapped = vmap(|x: Array, y: Array| x + y);
    let shared = mapped.clone().in_axes((0, None));
    let (x, y) = (Array::from([1.0f32, 2.0]), Array::from([10.0f32, 20.0]));
    assert_eq!(shared(x.clone(), y.clone()).shape(), [2, 2]);
    assert_eq!(mapped(x, y).to_vec::<f32>(), [11.0, 22.0]);
    // So are the arguments that a gradient is taken by.
    let product = grad(|x: Array, y: Array| x * y);
    let by_y = product.clone().argnums(jaxide::Argnum::<1>);
    assert_eq!(by_y(scalar(2.0), scalar(3.0)).item::<f32>(), 2.0);
    assert_eq!(product(scalar(2.0), scalar(3.0)).item::<f32>(), 3.0);
}

struct Model {
    forward: Jitted<(Array, Array), Array>,
    slope: Grad<(Array,), Array>,
    value_and_slope: ValueAndGrad<(Array, Array), Array>,
    rows: Vmapped<(Array,), Array>,
    jacobian: Jacfwd<(Array,), Array>,
    any: Transformed<(Array,), Array>,
}

#[test]
fn structs_hold_transformed_functions() {
    let model = Model {
        forward: jit(|w: Array, x: Array| w * x),
        slope: grad(cube),
        value_and_slope: value_and_grad(|w: Array, x: Array| w * x),
        rows: vmap(|x: Array| x.sum()),
        jacobian: jacfwd(cube),
        any: vmap(grad(cube)).erased(),
    };
    let (two, three) = (scalar(2.0), scalar(3.0));
    near(&(model.forward)(two.clone(), three.clone()), 6.0);
    near(&(model.slope)(two.clone()), 12.0);
    let (value, slope) = (model.value_and_slope)(two.clone(), three);
    near(&value, 6.0);
    near(&slope, 3.0);
    let rows = Array::from([[1.0f32, 2.0], [3.0, 4.0]]);
    assert_eq!((model.rows)(rows).to_vec::<f32>(), [3.0, 7.0]);
    near(&(model.jacobian)(two), 12.0);
    let all = (model.any)(Array::from([1.0f32, 2.0]));
    assert_eq!(all.to_vec::<f32>(), [3.0, 12.0]);
}

/// Everything that can be taken at once of a function that is not `Send`, borrows, and is known by its trait alone.
fn all_at_once(f: &dyn Fn(Array) -> Array, x: &Array) -> Vec<f32> {
    let with_aux = |x: Array| (f(x.clone()), x * 10.0);
    let x = || x.clone();
    let one = || Array::ones(&[], DType::F32);
    let (value, slope) = value_and_grad_of(f, x());
    let (aux_slope, aux) = grad_with_aux_of(&with_aux, x());
    let ((aux_value, _), _) = value_and_grad_with_aux_of(&with_aux, (x(),));
    let (_, derivative) = linearize(f, x());
    let (_, pullback) = vjp(f, x());
    let results = [
        value,
        aux_value,
        grad_of(f, x()),
        slope,
        aux_slope,
        jvp(f, x(), one()).1,
        derivative.apply(&(one(),)),
        pullback.apply(&one()).0,
        jacfwd_of(f, x()),
        jacrev_of(f, x()),
        jacfwd_with_aux_of(&with_aux, x()).0,
        jacrev_with_aux_of(&with_aux, x()).0,
        grad_of(&|x: Array| checkpoint_of(f, x), x()),
        grad_of(&|x: Array| jit_of(f, x), x()),
        vmap_of(&|x: Array| grad_of(f, x), x().reshape(&[1])).sum(),
        aux,
        hessian_of(f, x()),
        hessian_with_aux_of(&with_aux, x()).0,
        grad_of(&|x: Array| grad_of(f, x), x()),
    ];
    results.iter().map(Array::item).collect()
}

#[test]
fn functions_used_at_once_may_borrow_and_stay_on_their_thread() {
    let calls = Rc::new(Cell::new(0));
    let factor = scalar(2.0);
    let f = |x: Array| {
        calls.set(calls.get() + 1);
        cube(x) * &factor
    };
    let got = all_at_once(&f, &scalar(3.0));
    let mut want = vec![54.0; 2];
    want.extend([54.0; 13]);
    want.push(30.0);
    want.extend([36.0; 3]);
    assert_eq!(got, want);
    assert!(calls.get() > 15);
    let pooled = pmap_of(&f, Array::from([1.0f32, 2.0]));
    assert_eq!(pooled.to_vec::<f32>(), [2.0, 16.0]);
    let spec = Array::spec(DType::F32, &[]);
    assert_eq!(eval_shape(f, spec).unwrap().shape(), [] as [usize; 0]);
}

#[test]
fn borrowed_functions_capture_values_of_surrounding_traces() {
    // The captured `y` belongs to the trace of the outer function, and the result depends on it through the capture.
    fn slope_of_product(x: Array, y: &Array) -> Array {
        grad_of(&|x: Array| cube(x) * y, x)
    }
    let f = |x: Array, y: Array| slope_of_product(x, &y.square());
    let (x, y) = (scalar(2.0), scalar(3.0));
    near(&f(x.clone(), y.clone()), 12.0 * 9.0);
    near(&jit(f)(x.clone(), y.clone()), 12.0 * 9.0);
    near(&grad(f)(x.clone(), y.clone()), 12.0 * 9.0);
    let by_y = grad(f).argnums(jaxide::Argnum::<1>);
    near(&by_y(x.clone(), y.clone()), 12.0 * 6.0);
    near(&jit(by_y)(x.clone(), y.clone()), 12.0 * 6.0);
    let rows = vmap(f).in_axes((None, 0))(x.clone(), Array::from([1.0f32, 3.0]));
    assert_eq!(rows.to_vec::<f32>(), [12.0, 108.0]);
    let stepped = jit(move |x: Array| {
        scan(
            |y: Array, (): ()| {
                let next = hessian_of(&|x: Array| cube(x) * &y, x.clone());
                (next, ())
            },
            Array::ones(&[], DType::F32),
            (),
            2,
        )
        .0
    });
    near(&stepped(x), 144.0);
}

/// Newton's method for any function, with its derivative taken by forward mode.
fn newton(f: &dyn Fn(Array) -> Array, start: Array) -> Array {
    fori_loop(
        0,
        12,
        |_, x: Array| {
            let one = Array::ones(&[], DType::F32);
            let (y, slope) = jvp(f, x.clone(), one);
            x - y / slope
        },
        start,
    )
}

#[test]
fn solvers_differentiate_what_they_are_given() {
    let root = |a: Array| {
        custom_root(
            |x: Array| cube(x) - &a,
            Array::from([2.0f32]).sum(),
            newton,
            |g, y| y / grad_of(g, Array::ones(&[], DType::F32)),
        )
    };
    let slope = |a: f32| a.powf(-2.0 / 3.0) / 3.0;
    near(&root(scalar(27.0)), 3.0);
    near(&jit(root)(scalar(27.0)), 3.0);
    near(&grad(root)(scalar(27.0)), slope(27.0));
    near(&jit(grad(root))(scalar(8.0)), slope(8.0));
    let all = jit(vmap(grad(root)))(Array::from([8.0f32, 27.0])).to_vec::<f32>();
    for (got, a) in all.iter().zip([8.0, 27.0]) {
        assert!((got - slope(a)).abs() < 1e-5, "{got} and {}", slope(a));
    }
}

#[test]
fn arguments_may_stand_alone_or_in_a_tuple() {
    fn call<F, Args, Out>(f: &F, args: impl Arguments<Args>) -> Out
    where
        F: Function<Args, Out> + ?Sized,
    {
        f.apply(args.into_tuple())
    }
    let pair = |(x, y): (Array, Array)| x - y;
    let (x, y) = (scalar(5.0), scalar(3.0));
    near(&call(&cube, x.clone()), 125.0);
    near(&call(&cube, (x.clone(),)), 125.0);
    near(
        &call(&|x: Array, y: Array| x - y, (x.clone(), y.clone())),
        2.0,
    );
    near(&call(&pair, (x.clone(), y.clone())), 2.0);
    near(&call(&pair, ((x, y),)), 2.0);
    near(&call(&|| scalar(7.0), ()), 7.0);
}
