//! Derivatives beside JAX's: the same jaxprs, the same numbers, and refusals that say what to do.

use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::prelude::*;
use jaxide::{
    Argnum, Policy, checkpoint_name, closure_convert, custom_jvp, custom_jvp_nondiff, custom_jvps,
    custom_vjp, custom_vjp_nondiff, grad_with_aux, lax, linear_transpose, numpy, tree,
    value_and_grad_with_aux,
};

#[track_caller]
fn check(jaxpr: Result<jaxide::ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!(
        "{}/tests/derivatives/{name}.jaxpr",
        env!("CARGO_MANIFEST_DIR")
    );
    let want = std::fs::read_to_string(&path).unwrap();
    // JAX breaks lines where `np.int64` makes them long.
    let plain = |text: &str| normalise(text).split_whitespace().collect::<String>();
    assert_eq!(plain(&text), plain(&want), "{name}");
}

#[track_caller]
fn close(a: &Array, want: &[f32]) {
    let got = a.to_vec::<f32>();
    assert_eq!(got.len(), want.len());
    for (x, y) in got.iter().zip(want) {
        assert!(
            (x - y).abs() <= 2e-6 * (1.0 + y.abs()),
            "{got:?} and {want:?}"
        );
    }
}

fn scalar(x: f32) -> Array {
    Array::from([x]).sum()
}

fn vectors() -> (Array, Array) {
    (Array::from([1.0f32, 2.0]), Array::from([3.0f32, 4.0]))
}

const BOTH: (Argnum<0>, Argnum<1>) = (Argnum, Argnum);

#[test]
fn linear_functions_are_transposed() {
    let transposed = |ct: Array, c: Array| {
        let spec = Array::spec(DType::F32, &[3]);
        let f = move |x: Array, y: Array| (&x - y) * 2.0 + &c * &x;
        linear_transpose(f, (spec.clone(), spec)).apply(&ct)
    };
    let spec = Array::spec(DType::F32, &[3]);
    check(
        make_jaxpr(transposed)(spec.clone(), spec),
        "linear_transpose",
    );
    let square = |x: Array| &x * &x;
    let text =
        std::panic::catch_unwind(|| linear_transpose(square, (Array::spec(DType::F32, &[3]),)));
    assert!(text.is_err());
    let integers =
        std::panic::catch_unwind(|| linear_transpose(|x: Array| x, (Array::from([1i32]),)));
    let message = integers
        .err()
        .and_then(|error| error.downcast::<String>().ok())
        .unwrap();
    assert!(
        message.starts_with("linear_transpose: linear functions are of floats"),
        "{message}"
    );
}

#[test]
fn jacobians_are_trees_of_trees() {
    let (x, y) = vectors();
    let pair = |x: Array, y: Array| (x.sin() * &y, x.sum() * y.sum());
    let want: [&[f32]; 4] = [
        &[1.620_906_8, 0.0, 0.0, -1.664_587_4],
        &[0.841_470_96, 0.0, 0.0, 0.909_297_4],
        &[7.0, 7.0],
        &[3.0, 3.0],
    ];
    for jacobian in [
        jacfwd(pair).argnums(BOTH)(x.clone(), y.clone()),
        jacrev(pair).argnums(BOTH)(x.clone(), y.clone()),
    ] {
        let leaves = tree::leaves::<Array, _>(&jacobian);
        assert_eq!(leaves.len(), want.len());
        for (leaf, want) in leaves.iter().zip(want) {
            close(leaf, want);
        }
    }
    check(
        make_jaxpr(jacfwd(pair).argnums(BOTH))(x.clone(), y.clone()),
        "jacfwd_tree",
    );
    let scalar = |x: Array, y: Array| (x.sin() * y).sum();
    let second = hessian(scalar).argnums(BOTH)(x.clone(), y.clone());
    let want: [&[f32]; 4] = [
        &[-2.524_412_9, 0.0, 0.0, -3.637_189_6],
        &[0.540_302_3, 0.0, 0.0, -0.416_146_84],
        &[0.540_302_3, 0.0, 0.0, -0.416_146_84],
        &[0.0, 0.0, 0.0, 0.0],
    ];
    let ((xx, xy), (yx, yy)) = second;
    for (leaf, want) in [xx, xy, yx, yy].iter().zip(want) {
        close(leaf, want);
    }
    check(
        make_jaxpr(hessian(scalar).argnums(BOTH))(x, y),
        "hessian_tree",
    );
}

#[test]
fn hessian_vector_products_compose() {
    let (x, v) = vectors();
    let f = |x: Array| (x.sin() * &x).sum();
    let forward_over_reverse = move |x: Array, v: Array| jvp(grad(f), (x,), (v,)).1;
    close(
        &forward_over_reverse(x.clone(), v.clone()),
        &[0.717_400_8, -10.603_554],
    );
    check(
        make_jaxpr(forward_over_reverse)(x.clone(), v.clone()),
        "hvp",
    );
    let reverse_over_forward = {
        let v = v.clone();
        move |x: Array| {
            grad({
                let v = v.clone();
                move |x: Array| jvp(f, (x,), (v.clone(),)).1
            })(x)
        }
    };
    close(
        &reverse_over_forward(x.clone()),
        &[0.717_400_8, -10.603_554],
    );
    let reverse_over_reverse = move |x: Array| {
        let v = v.clone();
        grad(move |x: Array| (grad(f)(x) * &v).sum())(x)
    };
    close(&jit(reverse_over_reverse)(x), &[0.717_400_8, -10.603_554]);
}

#[test]
fn further_results_come_back_beside_gradients() {
    let (x, y) = vectors();
    let f = |x: Array, y: Array| ((&x * &y).sum(), x + y);
    let swapped = (Argnum::<1>, Argnum::<0>);
    let ((value, aux), (dy, dx)) =
        value_and_grad_with_aux(f).argnums(swapped)(x.clone(), y.clone());
    assert_eq!(value.item::<f32>(), 11.0);
    close(&aux, &[4.0, 6.0]);
    close(&dy, &[1.0, 2.0]);
    close(&dx, &[3.0, 4.0]);
    check(
        make_jaxpr(value_and_grad_with_aux(f).argnums(swapped))(x.clone(), y.clone()),
        "value_and_grad_aux",
    );
    let (dy, aux) = grad_with_aux(f).argnums(Argnum::<1>)(x, y);
    close(&dy, &[1.0, 2.0]);
    close(&aux, &[4.0, 6.0]);
}

#[test]
fn holomorphic_functions_have_complex_derivatives() {
    let z = lax::complex(&Array::from([1.0f32, 0.5]), &Array::from([2.0f32, -1.0]));
    let f = |z: Array| (z.sin() * &z).sum();
    let dz = grad(f).holomorphic()(z.clone());
    close(&lax::real(&dz), &[11.302_298, 1.980_304_2]);
    close(&lax::imag(&dz), &[2.973_149, -2.103_806]);
    check(
        make_jaxpr(grad(f).holomorphic())(z.clone()),
        "holomorphic_grad",
    );
    let square = |z: Array| &z * &z * 2.0;
    for j in [
        jacfwd(square).holomorphic()(z.clone()),
        jacrev(square).holomorphic()(z.clone()),
    ] {
        close(&lax::real(&j), &[4.0, 0.0, 0.0, 2.0]);
        close(&lax::imag(&j), &[8.0, 0.0, 0.0, -4.0]);
    }
    check(
        make_jaxpr(jacfwd(square).holomorphic())(z.clone()),
        "holomorphic_jacfwd",
    );
    let error = grad(f).try_call((z,)).unwrap_err().to_string();
    assert!(error.contains("a real scalar result is needed"), "{error}");
    // Of a real number the gradient by a complex one is complex, as JAX has it.
    let z = Array::from(num_complex::Complex::new(3.0f32, 4.0));
    let squared_modulus = |z: Array| lax::real(&z).square() + lax::imag(&z).square();
    let gradient = grad(squared_modulus)(z);
    close(&lax::real(&gradient), &[6.0]);
    close(&lax::imag(&gradient), &[-8.0]);
    let error = grad(|x: Array| x.sum())
        .holomorphic()
        .try_call((vectors().0,))
        .unwrap_err()
        .to_string();
    assert!(error.contains("complex elements are expected"), "{error}");
}

#[test]
fn rules_take_arguments_without_derivatives() {
    let power = custom_jvp_nondiff(
        |n: Array, (x,): (Array,)| numpy::power(&x, &n),
        |n: Array, (x,): (Array,), (t,): (Array,)| {
            (numpy::power(&x, &n), &n * numpy::power(&x, &(&n - 1.0)) * t)
        },
    );
    let n = scalar(3.0);
    let cube = std::sync::Arc::new(move |x: Array| power(n.clone(), (x,)).sum());
    let again = cube.clone();
    let cube = move |x: Array| cube(x);
    close(&grad(cube)(vectors().0), &[3.0, 12.0]);
    close(
        &jit(grad(move |x: Array| again(x)))(vectors().0),
        &[3.0, 12.0],
    );
    let limited = custom_vjp_nondiff(
        |_: Array, (x,): (Array,)| x * 1.0,
        |_: Array, (x,): (Array,)| (&x * 1.0, x),
        |limit: Array, x: Array, g: Array| (numpy::minimum(&g, &limit) * x,),
    );
    let limit = scalar(2.5);
    let f = {
        let limited = std::sync::Arc::new(limited);
        move |x: Array| limited(limit.clone(), (x,)).sum() * 3.0
    };
    close(&grad(f)(vectors().0), &[2.5, 5.0]);
}

#[test]
fn rules_capture_traced_arrays() {
    // The scale is an argument of the function around: both rules use it.
    let f = |x: Array, scale: Array| {
        let (own, of_rule) = (scale.clone(), scale);
        let g = custom_jvp(
            move |x: Array| x.sin() * &own,
            move |(x,): (Array,), (t,): (Array,)| (x.sin() * &of_rule, t * x.cos() * &of_rule),
        );
        g(x).sum()
    };
    let (x, scale) = (Array::from([0.0f32, 1.0]), scalar(2.0));
    close(&jit(grad(f))(x.clone(), scale.clone()), &[2.0, 1.080_604_6]);
    let lanes = vmap(grad(f)).in_axes((None, 0))(x.clone(), Array::from([1.0f32, 2.0]));
    close(&lanes, &[1.0, 0.540_302_3, 2.0, 1.080_604_6]);
    let by_scale = grad(f)
        .argnums(Argnum::<1>)
        .try_call((x.clone(), scale.clone()))
        .unwrap_err()
        .to_string();
    assert!(
        by_scale.contains("captures a value that is differentiated"),
        "{by_scale}"
    );
    let f = |x: Array, scale: Array| {
        let (forward, backward) = (scale.clone(), scale);
        let g = custom_vjp(
            |x: Array| x,
            move |x: Array| (&x + 0.0 * &forward, x),
            move |x: Array, g: Array| (g * x * &backward,),
        );
        g(x).sum()
    };
    close(&jit(grad(f))(x.clone(), scale), &[0.0, 2.0]);
    let lanes = vmap(grad(f)).in_axes((None, 0))(x, Array::from([1.0f32, 3.0]));
    close(&lanes, &[0.0, 1.0, 0.0, 3.0]);
}

#[test]
fn rules_may_call_their_function_again() {
    fn exponential(x: Array) -> Array {
        custom_jvp(
            |x: Array| x.exp(),
            |(x,): (Array,), (t,): (Array,)| (exponential(x.clone()), exponential(x) * t),
        )(x)
    }
    let third = grad(grad(grad(exponential)));
    close(&third(scalar(0.0)), &[1.0]);
    close(&jit(third)(scalar(1.0)), &[std::f32::consts::E]);
}

#[test]
fn closures_are_converted() {
    let f = |scale: Array, x: Array| {
        let table = Array::from([1.0f32, 2.0]);
        let (times, captured) = closure_convert(move |x: Array| x * &scale * &table, &(x.clone(),));
        // Concrete arrays stay where they are; of traced ones the floats move.
        assert_eq!(captured.len(), 1);
        times.call(&(x,), &captured).sum()
    };
    let (ds, dx) = grad(f).argnums(BOTH)(scalar(2.0), vectors().1);
    assert_eq!(ds.item::<f32>(), 11.0);
    close(&dx, &[2.0, 4.0]);
}

fn layered(x: Array, w: Array) -> Array {
    let y = checkpoint_name(&x.dot(&w).sin(), "y");
    let z = checkpoint_name(&y.cos(), "z");
    z.dot(&w).exp()
}

#[test]
fn checkpoints_obey_their_policies() {
    let policies = [
        ("none", None),
        ("nothing", Some(Policy::NothingSaveable)),
        ("everything", Some(Policy::EverythingSaveable)),
        ("dots", Some(Policy::DotsSaveable)),
        ("dots_no_batch", Some(Policy::DotsWithNoBatchDimsSaveable)),
        ("only", Some(Policy::save_only_these_names(["y"]))),
        ("but", Some(Policy::save_any_names_but_these(["y"]))),
        (
            "except",
            Some(Policy::save_anything_except_these_names(["y"])),
        ),
        (
            "both",
            Some(Policy::DotsSaveable.or(Policy::save_only_these_names(["z"]))),
        ),
    ];
    let (x, w) = (
        Array::ones(&[2, 3], DType::F32),
        Array::ones(&[3, 3], DType::F32),
    );
    let want = grad(|x: Array, w: Array| layered(x, w).sum())(x.clone(), w.clone()).to_vec::<f32>();
    for (name, policy) in policies {
        let f = checkpoint(layered);
        let f = match policy {
            Some(policy) => f.policy(policy),
            None => f,
        };
        let gradient = grad(move |x: Array, w: Array| f(x, w).sum());
        close(&gradient(x.clone(), w.clone()), &want);
        let jaxpr = make_jaxpr(gradient)(x.clone(), w.clone()).unwrap();
        close(
            &Array::from(
                jaxide::core::eval::eval(&jaxpr, &[x.value(), w.value()]).unwrap()[0].clone(),
            ),
            &want,
        );
        check_policy(&jaxpr.to_string(), name);
    }
}

/// As in JAX, up to how a policy is written: JAX writes the address of a function, here it is the names that matter.
#[track_caller]
fn check_policy(text: &str, name: &str) {
    let path = format!(
        "{}/tests/derivatives/remat_{name}.jaxpr",
        env!("CARGO_MANIFEST_DIR")
    );
    let want = std::fs::read_to_string(&path).unwrap();
    let plain = |text: &str| -> String {
        let lines = normalise(text.trim_end());
        let lines = lines.lines().map(|line| {
            let at = line
                .find("policy=")
                .map_or(line.len(), |at| at + "policy=".len());
            line[..at].trim_end().to_owned()
        });
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(plain(text), plain(&want), "{name}");
}

fn halve(x: Array) -> Array {
    // How often it is halved depends on the value.
    let mut x = x;
    while x.gt(1.0).truth() {
        x = &x * 0.5;
    }
    x
}

#[test]
fn rust_may_decide_by_values_outside_jit() {
    let x = scalar(5.0);
    assert_eq!(grad(halve)(x.clone()).item::<f32>(), 0.125);
    assert_eq!(
        grad(|x: Array| grad(halve)(x.clone()) * x)(x.clone()).item::<f32>(),
        0.125
    );
    let (y, dy) = jvp(halve, (x.clone(),), (scalar(8.0),));
    assert_eq!((y.item::<f32>(), dy.item::<f32>()), (0.625, 1.0));
    let (_, df) = linearize(halve, (x.clone(),));
    assert_eq!(df.apply(&(scalar(16.0),)).item::<f32>(), 2.0);
    let (_, pullback) = vjp(halve, (x.clone(),));
    assert_eq!(pullback.apply(&scalar(1.0)).0.item::<f32>(), 0.125);
    assert_eq!(jacfwd(halve)(x.clone()).item::<f32>(), 0.125);
    let (value, _) = value_and_grad(halve)(x);
    assert_eq!(value.item::<f32>(), 0.625);
}

#[test]
fn rust_must_not_decide_by_values_under_jit_and_vmap() {
    let x = scalar(5.0);
    let refused: [(&str, Result<Array>); 5] = [
        ("jit", jit(halve).try_call((x.clone(),))),
        ("jit", jit(grad(halve)).try_call((x.clone(),))),
        ("vmap", vmap(halve).try_call((vectors().0,))),
        ("vmap", vmap(grad(halve)).try_call((vectors().0,))),
        (
            "scan",
            grad(|xs: Array| {
                scan(
                    |c: Array, x: Array| (c + halve(x), ()),
                    scalar(0.0),
                    xs,
                    None,
                )
                .0
            })
            .try_call((vectors().0,)),
        ),
    ];
    for (inside, result) in refused {
        let error = result.unwrap_err().to_string();
        assert!(
            error.contains(&format!("asked for inside `{inside}`")),
            "{error}"
        );
        assert!(
            error.contains("`cond`") && error.contains("`while_loop`"),
            "{error}"
        );
    }
}

#[test]
fn reverse_mode_needs_a_known_number_of_steps() {
    let doubled = |x: Array, n: Array| fori_loop(0, n, |_, x: Array| x * 2.0, x);
    let (x, n) = (scalar(3.0), Array::from([4i32]).sum());
    // Forward mode goes through.
    let forward = move |x: Array, n: Array| {
        jvp(move |x: Array| doubled(x, n.clone()), (x,), (scalar(1.0),)).1
    };
    assert_eq!(jit(forward)(x.clone(), n.clone()).item::<f32>(), 16.0);
    let error = jit(grad(doubled))
        .try_call((x.clone(), n))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("while") && error.contains("fori_loop") && error.contains("scan"),
        "{error}"
    );
    let general = |x: Array| while_loop(|x: Array| x.lt(100.0), |x: Array| x * 2.0, x);
    let error = grad(general)
        .try_call((x.clone(),))
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("fori_loop") && error.contains("scan"),
        "{error}"
    );
    let fixed = |x: Array| fori_loop(0, 4, |_, x: Array| x * 2.0, x);
    assert_eq!(grad(fixed)(x.clone()).item::<f32>(), 16.0);
    assert_eq!(jit(grad(fixed))(x).item::<f32>(), 16.0);
}

#[test]
fn linear_maps_keep_the_arrays_that_their_function_captures() {
    for length in [2usize, 32] {
        let weight = Array::from(vec![3f32; length]);
        let x = Array::from(vec![1f32; length]);
        let captured = weight.clone();
        let f = move |x: Array| (&x * &captured, x.dot(&captured));
        let cotangents = (x.clone(), Array::from(vec![2f32]).sum());
        let (_, pull) = vjp(f.clone(), (x.clone(),));
        close(&pull.apply(&cotangents).0, &vec![9.0; length]);
        let (_, push) = linearize(f, (x.clone(),));
        let (elementwise, dot) = push.apply(&(x,));
        close(&elementwise, &vec![3.0; length]);
        close(&dot, &[3.0 * length as f32]);
    }
}

/// The slopes are those of another function, in all orders and under all transformations; the integer result has none.
#[test]
fn rules_by_argument_are_summed_in_all_orders() {
    type Pair = (Array, Array);
    let f = custom_jvps(
        |x: Array, n: Array, y: Array| (x * y, n),
        (
            |t: Array, (ans, n): Pair, _: Array, _: Array, _: Array| (t * ans * 2.0, n),
            (),
            |t: Array, (_, n): Pair, x: Array, _: Array, y: Array| (t * x * y * 3.0, n),
        ),
    );
    let n = || Array::from(7i32);
    let ((result, seven), (tangent, _)): (Pair, Pair) = jvp(
        &f,
        (scalar(2.0), n(), scalar(5.0)),
        (scalar(1.0), n(), scalar(10.0)),
    );
    assert_eq!((result.item::<f32>(), seven.item::<i32>()), (10.0, 7));
    assert_eq!(tangent.item::<f32>(), 20.0 + 300.0);

    let f = std::sync::Arc::new(f);
    let of = move |x: Array, y: Array| f(x, Array::from(7i32), y).0;
    let slopes = grad(of.clone()).argnums((Argnum::<0>, Argnum::<1>));
    let (dx, dy) = jit(slopes.clone())(scalar(2.0), scalar(5.0));
    assert_eq!((dx.item::<f32>(), dy.item::<f32>()), (20.0, 30.0));
    let (dx, dy) = vmap(slopes)(Array::from([2f32, 3.0]), Array::from([5f32, 7.0]));
    close(&dx, &[20.0, 42.0]);
    close(&dy, &[30.0, 63.0]);

    // By x: 2 times what the rules say of the result; by y: the same, as the rule by x takes the result.
    let second = grad(grad(of.clone())).argnums((Argnum::<0>, Argnum::<1>));
    let (dxx, dxy) = second(scalar(2.0), scalar(5.0));
    assert_eq!((dxx.item::<f32>(), dxy.item::<f32>()), (40.0, 60.0));

    let constant = custom_jvps(|x: Array| x.sin(), ((),));
    assert_eq!(grad(constant)(scalar(1.0)).item::<f32>(), 0.0);
}

#[test]
fn what_is_computed_again_may_have_rules_that_capture_arrays() {
    let weight = Array::from([3f32, 4.]);
    let captured = weight.clone();
    let scaled = custom_jvp(
        move |x: Array| x * &weight,
        move |(x,): (Array,), (t,): (Array,)| (x * &captured, t * &captured * 2.0),
    );
    let f = checkpoint(move |x: Array| scaled(x).sin().sum());
    let gradient = grad(f)(Array::from([0f32, 0.]));
    close(&gradient, &[6.0, 8.0]);
}

/// What the backward rule captures of the trace around the call stands between residuals and cotangents.
#[test]
fn backward_rules_capture_traced_values() {
    let f = |x: Array, scale: Array, offset: Array| {
        let (own, behind) = (scale.clone(), offset.clone());
        let g = custom_vjp(
            |x: Array| (x.sin(), &x * 2.0),
            move |x: Array| {
                let residuals = (x.cos(), x.clone(), &x * 0.0 + 2.0);
                ((x.sin() + &own * 0.0, &x * 2.0), residuals)
            },
            move |(cos, x, factor): (Array, Array, Array), (one, two): (Array, Array)| {
                (cos * one * &behind + two * x * 5.0 * factor,)
            },
        );
        let (one, two) = g(x);
        &one * 3.0 + two
    };
    let (x, scale, offset) = (
        Array::from(0.5f32),
        Array::from(7.0f32),
        Array::from(4.0f32),
    );
    let want = 0.5f32.cos() * 3.0 * 4.0 + 0.5 * 10.0;
    let got = jit(grad(f))(x.clone(), scale.clone(), offset.clone());
    assert!((got.item::<f32>() - want).abs() < 1e-5, "{got} {want}");
    let inside = jit(move |scale: Array, offset: Array| {
        let (scale, offset) = (scale.clone(), offset.clone());
        grad(move |x: Array| f(x, scale.clone(), offset.clone()))(Array::from(0.5f32))
    });
    let got = inside(scale, offset);
    assert!((got.item::<f32>() - want).abs() < 1e-5, "{got} {want}");
}
