//! A mistake is told once, however deep in transformations it is made.

use std::cell::Cell;
use std::panic::{catch_unwind, set_hook, take_hook};
use std::sync::Mutex;

use jaxide::prelude::*;
use jaxide::{custom_jvp, custom_root, custom_vjp, pmap};

thread_local! {
    static WATCHED: Cell<bool> = const { Cell::new(false) };
}

static TOLD: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// What is printed when `f` panics.
fn told(f: impl FnOnce() + std::panic::UnwindSafe) -> Vec<String> {
    TOLD.lock().unwrap().clear();
    WATCHED.set(true);
    let outcome = catch_unwind(f);
    WATCHED.set(false);
    assert!(outcome.is_err());
    TOLD.lock().unwrap().clone()
}

/// A function that panics.
type Mistake = Box<dyn FnOnce() + std::panic::UnwindSafe>;

fn wrong(x: Array) -> Array {
    x + Array::from([1.0f32, 2.0, 3.0])
}

fn broken(x: Array) -> Array {
    assert!(x.ndim() > 7, "an assertion of the user");
    x
}

#[test]
fn mistakes_are_told_once() {
    let before = take_hook();
    set_hook(Box::new(move |info| {
        if WATCHED.get() {
            let payload = info.payload();
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| {
                payload
                    .downcast_ref::<&str>()
                    .map(|text| (*text).to_owned())
            });
            TOLD.lock().unwrap().push(text.unwrap_or_default());
        } else {
            before(info);
        }
    }));
    type One = (Array,);
    let x = || Array::from([1.0f32, 2.0]);
    for (function, want) in [
        (
            wrong as fn(Array) -> Array,
            "add: operands of incompatible shapes",
        ),
        (broken, "an assertion of the user"),
    ] {
        let sum = move |x: Array| function(x).sum();
        let deep: [(&str, Mistake); 9] = [
            (
                "jit",
                Box::new(move || drop(jit(vmap(jit(grad(sum))))(Array::ones(&[2, 2], DType::F32)))),
            ),
            (
                "hessian",
                Box::new(move || drop(jit(hessian(jit(checkpoint(sum))))(x()))),
            ),
            (
                "scan",
                Box::new(move || {
                    let body = move |c: Array, (): ()| (function(c), ());
                    drop(grad(move |x: Array| scan(body, x, (), 3).0.sum())(x()));
                }),
            ),
            (
                "cond",
                Box::new(move || {
                    drop(jit(move |x: Array| cond(true, |x: Array| x, function, x))(
                        x(),
                    ))
                }),
            ),
            (
                "while",
                Box::new(move || drop(while_loop(|x: Array| x.sum().lt(9.0), function, x()))),
            ),
            (
                "jvp rule",
                Box::new(move || {
                    let f = custom_jvp(|x: Array| x, move |(x,): One, (t,): One| (x, function(t)));
                    drop(jit(grad(move |x: Array| f(x).sum()))(x()));
                }),
            ),
            (
                "vjp rule",
                Box::new(move || {
                    let f = custom_vjp(
                        |x: Array| x,
                        |x: Array| (x, ()),
                        move |(), g: Array| (function(g),),
                    );
                    drop(jit(grad(move |x: Array| f(x).sum()))(x()));
                }),
            ),
            (
                "root",
                Box::new(move || {
                    drop(custom_root(function, x(), |_, x: Array| x, |_, y: Array| y))
                }),
            ),
            (
                "pmap",
                Box::new(move || drop(pmap(function)(Array::ones(&[2, 2], DType::F32)))),
            ),
        ];
        for (name, f) in deep {
            let told = told(f);
            assert_eq!(told.len(), 1, "{name}: {told:?}");
            assert_eq!(told[0].matches(want).count(), 1, "{name}: {told:?}");
        }
    }
}
