//! Roots and linear solves: values, derivatives of every order, and the text that JAX prints.

use jaxide::core::jaxpr::text_compare::normalise;
use jaxide::prelude::*;
use jaxide::{TransposeSolve, custom_linear_solve, custom_root, custom_root_with_aux};

fn scalar(x: f32) -> Array {
    Array::from([x]).sum()
}

fn sqrt(a: Array) -> Array {
    custom_root(
        |x: Array| x.powi(2) - &a,
        Array::from(1.0),
        |f, start| fori_loop(0, 10, |_, x: Array| &x - f(x.clone()) / (2.0 * &x), start),
        |g, y| y / g(Array::from(1.0)),
    )
}

#[test]
fn roots_have_derivatives_of_every_order() {
    let x = scalar(3.0);
    for (value, want) in [
        (sqrt(x.clone()), 1.732_050_8),
        (grad(sqrt)(x.clone()), 0.288_675_13),
        (grad(grad(sqrt))(x.clone()), -0.048_112_52),
        (jit(grad(sqrt))(x.clone()), 0.288_675_13),
        (jit(grad(grad(sqrt)))(x.clone()), -0.048_112_52),
        (jvp(sqrt, (x.clone(),), (scalar(2.0),)).1, 0.577_350_26),
        (
            jvp(grad(sqrt), (x.clone(),), (scalar(1.0),)).1,
            -0.048_112_52,
        ),
    ] {
        assert!(
            (value.item::<f32>() - want).abs() < 1e-6,
            "{value} and {want}"
        );
    }
}

#[test]
fn roots_are_mapped() {
    let x = Array::from([1.0f32, 4.0, 9.0]);
    let slopes = vmap(grad(sqrt))(x.clone()).to_vec::<f32>();
    assert_eq!(slopes, [0.5, 0.25, 1.0 / 6.0]);
    assert_eq!(jit(vmap(grad(sqrt)))(x.clone()).to_vec::<f32>(), slopes);
    let total = grad(|x: Array| vmap(sqrt)(x).sum());
    assert_eq!(total(x).to_vec::<f32>(), slopes);
}

#[track_caller]
fn check(jaxpr: Result<jaxide::ClosedJaxpr>, name: &str) {
    let text = jaxpr.map_or_else(|error| panic!("{error}"), |jaxpr| jaxpr.to_string());
    let path = format!("{}/tests/solve/{name}.jaxpr", env!("CARGO_MANIFEST_DIR"));
    let want = std::fs::read_to_string(&path).unwrap();
    assert_eq!(
        normalise(text.trim_end()),
        normalise(want.trim_end()),
        "{name}"
    );
}

#[test]
fn roots_print_as_in_jax() {
    check(make_jaxpr(sqrt)(Array::from(2.0)), "root");
    let one = scalar(1.0);
    let aux = move |a: Array| {
        custom_root_with_aux(
            |(x, y): (Array, Array)| (&x - &a, y * x - 1.0),
            (one.clone(), one.clone()),
            |f, x| {
                let residual = f(x).0;
                ((a.clone(), 1.0 / &a), residual)
            },
            |g, (y, z)| (y.clone(), &z - g((y, z.clone())).0),
        )
    };
    check(make_jaxpr(aux)(Array::spec(DType::F32, &[])), "root_aux");
}

fn linear(a: Array, b: Array) -> Array {
    custom_linear_solve(
        |x: Array| a.dot(&x),
        b,
        |matvec, b| {
            matvec(b).tanh()
                + jaxide::lax::squeeze(&jaxide::lax::slice(&a, &[0, 0], &[1, 3], None), &[0])
        },
        TransposeSolve::With(&|vecmat, b| vecmat(b) * 2.0),
    )
}

fn symmetric(a: Array, b: Array) -> Array {
    let diagonal = a.clone();
    custom_linear_solve(
        |x: Array| &a * x,
        b,
        |_, b| b / &diagonal,
        TransposeSolve::Symmetric,
    )
}

#[test]
fn linear_solves_print_as_in_jax() {
    let (matrix, vector) = (
        Array::spec(DType::F32, &[3, 3]),
        Array::spec(DType::F32, &[3]),
    );
    check(make_jaxpr(linear)(matrix.clone(), vector.clone()), "linear");
    check(
        make_jaxpr(symmetric)(vector.clone(), vector.clone()),
        "linear_symmetric",
    );
    let both = (jaxide::Argnum::<0>, jaxide::Argnum::<1>);
    let gradient = grad(|a: Array, b: Array| linear(a, b).sum()).argnums(both);
    check(
        make_jaxpr(gradient)(matrix.clone(), vector.clone()),
        "linear_grad",
    );
    let gradient = grad(|a: Array, b: Array| symmetric(a, b).sum()).argnums(both);
    check(
        make_jaxpr(gradient)(vector.clone(), vector.clone()),
        "linear_symmetric_grad",
    );
    let forward = |a: Array, b: Array| jvp(linear, (a.clone(), b.clone()), (a, b));
    check(make_jaxpr(forward)(matrix, vector.clone()), "linear_jvp");
    let lanes = Array::spec(DType::F32, &[4, 3, 3]);
    check(
        make_jaxpr(vmap(linear).in_axes((0, None)))(lanes, vector),
        "linear_vmap",
    );
}

#[test]
fn solutions_are_differentiated_by_the_equation() {
    let (a, b) = (Array::from([2.0f32, 4.0]), Array::from([1.0f32, 8.0]));
    let loss = |a: Array, b: Array| symmetric(a, b).sum();
    let both = (jaxide::Argnum::<0>, jaxide::Argnum::<1>);
    let (da, db) = jit(grad(loss).argnums(both))(a, b);
    assert_eq!(da.to_vec::<f32>(), [-0.25, -0.5]);
    assert_eq!(db.to_vec::<f32>(), [0.5, 0.25]);
}

#[test]
fn reverse_mode_without_a_transposed_solver_is_refused() {
    let half = |b: Array| {
        custom_linear_solve(
            |x: Array| x * 2.0,
            b,
            |_, b| b / 2.0,
            TransposeSolve::Absent,
        )
        .sum()
    };
    let b = Array::from([1.0f32, 3.0]);
    assert_eq!(half(b.clone()).item::<f32>(), 2.0);
    let error = grad(half).try_call((b,)).unwrap_err().to_string();
    assert!(error.contains("transpose_solve"), "{error}");
}

#[test]
fn functions_must_keep_the_structure_of_the_unknown() {
    let wrong =
        |a: Array| custom_root(|_: Array| Array::from([1.0f32, 2.0]), a, |_, x| x, |_, y| y);
    let error = make_jaxpr(wrong)(scalar(1.0)).unwrap_err().to_string();
    assert!(
        error.starts_with("custom_root: the result of f is f32[2], and f32[] is needed"),
        "{error}"
    );
    let wrong =
        |b: Array| custom_linear_solve(|x: Array| x.sum(), b, |_, x| x, TransposeSolve::Absent);
    let error = make_jaxpr(wrong)(Array::from([1.0f32, 2.0]))
        .unwrap_err()
        .to_string();
    assert!(
        error.starts_with(
            "custom_linear_solve: the result of matvec is f32[], and f32[2] is needed"
        ),
        "{error}"
    );
}

#[test]
fn the_linear_map_takes_bare_numbers_and_no_other_types() {
    let root = |argument: fn() -> Array| {
        jit(move |a: Array| {
            custom_root(
                |x: Array| &x * &x - &a,
                Array::scalar(1.0f64),
                |_, x| x,
                |g, y| y / g(argument()),
            )
        })
        .try_call((Array::scalar(1.0f64),))
    };
    // A number of the program is of the type that is needed, whichever it has alone.
    assert!(root(|| Array::from(1.0)).is_ok());
    assert!(root(|| Array::from(1)).is_ok());
    assert!(root(|| Array::scalar(1.0f64)).is_ok());
    let said = root(|| Array::scalar(1.0f32)).unwrap_err().to_string();
    assert!(said.contains("f32[]") && said.contains("f64[]"), "{said}");
}
