//! Other ways to run and to look: without `jit`, with a check for NaNs, with names for parts, for shapes alone.

use std::cell::Cell;

use jaxide::core::jaxpr::PrintOptions;
use jaxide::core::{Source, eval};
use jaxide::prelude::*;
use jaxide::{
    ErrorKind, Transformed, debug_nans, disable_jit, eval_shape, make_jaxpr_of, named_scope,
    value_and_grad_of, with_interpreter,
};
use jaxide::{lax, tree};

fn scalar(x: f32) -> Array {
    Array::from([x]).sum()
}

#[test]
fn shapes_without_values() {
    let calls = Cell::new(0);
    let f = |m: (Array, Vec<Array>), n: Array| {
        calls.set(calls.get() + 1);
        (m.0.matmul(&m.1[0]), n.astype(DType::F64) + 1, m.1[0].sum())
    };
    let spec = |dtype, shape: &[usize]| Array::spec(dtype, shape);
    let huge = 1 << 20;
    let args = (
        (
            spec(DType::F16, &[2, huge]),
            vec![spec(DType::F16, &[huge, 3])],
        ),
        spec(DType::I8, &[]),
    );
    let result = eval_shape(f, args).unwrap();
    assert_eq!(calls.get(), 1);
    let types: Vec<String> = tree::leaves::<Array, _>(&result)
        .iter()
        .map(|leaf| leaf.aval().to_string())
        .collect();
    assert_eq!(types, ["f16[2,3]", "f64[]", "f16[]"]);
    // They are types, not values.
    assert_eq!(
        result.0.try_value().unwrap_err().kind(),
        ErrorKind::Concretization
    );
    let error = eval_shape(|x: Array| x.reshape(&[7]), spec(DType::F32, &[2])).unwrap_err();
    assert_eq!(error.operation(), Some("reshape"));
}

#[test]
fn without_jit_values_decide() {
    let staged = jit(
        |x: Array| {
            if x.gt(0.0).truth() { x.sqrt() } else { x * 0.0 }
        },
    );
    assert!(staged.try_call((scalar(4.0),)).is_err());
    assert_eq!(disable_jit(|| staged(scalar(4.0))).item::<f32>(), 2.0);
    assert_eq!(staged.cache_size(), 0);
    // In derivatives too, and nested.
    let (value, slope) = disable_jit(|| value_and_grad_of(&jit(staged.clone()), scalar(4.0)));
    assert_eq!((value.item::<f32>(), slope.item::<f32>()), (2.0, 0.25));
    // Afterwards, and after a panic, everything is as before.
    let _ = std::panic::catch_unwind(|| disable_jit(|| std::panic::resume_unwind(Box::new(()))));
    assert!(staged.try_call((scalar(4.0),)).is_err());
}

#[test]
fn without_jit_only_the_branch_taken_is_called() {
    let called = Cell::new(String::new());
    let log = |name: &str| called.set(called.take() + name);
    let run = |x: f32| {
        cond(
            scalar(x).gt(0.0),
            |x: Array| {
                log("t");
                x * 2.0
            },
            |x: Array| {
                log("f");
                x * 3.0
            },
            scalar(x),
        )
        .item::<f32>()
    };
    assert_eq!(run(1.0), 2.0);
    assert_eq!(called.take(), "tf", "both are recorded");
    assert_eq!(disable_jit(|| run(1.0)), 2.0);
    assert_eq!(called.take(), "t");
    assert_eq!(disable_jit(|| run(-1.0)), -3.0);
    assert_eq!(called.take(), "f");
    let pick = |index: i32| {
        let branches: [fn(Array) -> Array; 3] = [|x| x + 1.0, |x| x + 2.0, |x| x + 3.0];
        disable_jit(|| switch(index, branches, scalar(0.0))).item::<f32>()
    };
    assert_eq!([-5, 0, 1, 2, 9].map(pick), [1.0, 1.0, 2.0, 3.0, 3.0]);
}

/// The operation and the line that a function is told of under [`debug_nans`].
#[track_caller]
fn nan_of(f: &Transformed<(Array,), Array>, x: f32) -> (String, u32) {
    assert!(
        f.try_call((scalar(x),)).is_ok(),
        "unchecked, it is no mistake"
    );
    let error = debug_nans(|| f.try_call((scalar(x),))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotANumber, "{error}");
    let Source::Rust(place) = error.place() else {
        panic!("no line: {error}")
    };
    assert!(place.file().ends_with("modes.rs"), "{error}");
    (error.operation().unwrap().to_owned(), place.line())
}

#[test]
fn nans_are_found_where_they_are_made() {
    let line = line!();
    let f = |x: Array| {
        let y = &x * 2.0;
        let z = y.log();
        z + x
    };
    let eager = vmap(move |x: Array| f(x))
        .axis_size(1)
        .in_axes((None,))
        .out_axes(0);
    assert_eq!(nan_of(&jit(f).erased(), -1.0), ("log".to_owned(), line + 3));
    assert_eq!(nan_of(&eager.erased(), -1.0), ("log".to_owned(), line + 3));
    assert_eq!(
        with_interpreter(|| nan_of(&jit(f).erased(), -1.0)),
        ("log".to_owned(), line + 3)
    );
    let slope = grad(|x: Array| (&x * 0.0).sqrt());
    let here = line!() - 1;
    assert_eq!(nan_of(&slope.erased(), 1.0), ("mul".to_owned(), here));
    assert_eq!(nan_of(&jit(slope).erased(), 1.0), ("mul".to_owned(), here));
    let body = |c: Array, (): ()| (c.sqrt() - 1.0, ());
    let here = line!() - 1;
    let looped = jit(move |x: Array| scan(body, x, (), 3).0);
    assert_eq!(nan_of(&looped.erased(), 1.5), ("sqrt".to_owned(), here));
    let branched = jit(|x: Array| cond(x.lt(0.0), |x: Array| x.log(), |x: Array| x, x));
    let here = line!() - 1;
    assert_eq!(nan_of(&branched.erased(), -1.0), ("log".to_owned(), here));
}

#[test]
fn nans_of_single_operations_are_found_at_once() {
    let x = Array::from([1.0f32, -1.0, -2.0]);
    let f = |x: Array| x.log();
    let text = debug_nans(|| make_jaxpr_of(&|| f(x.clone()), ()));
    assert!(text.is_ok(), "recording computes nothing");
    let caught =
        std::panic::catch_unwind(|| debug_nans(|| Array::from([1.0f32, -1.0, -2.0]).log()));
    let message = caught.unwrap_err().downcast::<String>().unwrap();
    let line = line!() - 2;
    assert!(
        message.starts_with("log: of the result f32[3], 2 of 3 elements are not numbers\n  --> "),
        "{message}"
    );
    assert!(message.contains(&format!("modes.rs:{line}:")), "{message}");
    // Nothing is refused outside.
    assert!(f(x).to_vec::<f32>()[1].is_nan());
    // What was not a number before is not a mistake of operations without it.
    let fine = debug_nans(|| Array::from([f32::NAN, 1.0]).gt(0.0));
    assert_eq!(fine.astype(DType::I32).to_vec::<i32>(), [0, 1]);
}

#[test]
fn names_of_parts_stand_with_equations() {
    let f = |x: Array| {
        let y = named_scope("encoder", || {
            let y = x.sin();
            named_scope("norm", || &y * 2.0)
        });
        let loss = named_scope("loss", || {
            scan(
                |c: Array, y: Array| (c + y.exp(), ()),
                Array::from(0.0f32),
                y,
                None,
            )
            .0
        });
        -loss
    };
    let scopes = |jaxpr: &ClosedJaxpr| -> Vec<(String, Option<&'static str>)> {
        let eqns = jaxpr.jaxpr.eqns.iter();
        eqns.map(|eqn| {
            let scope = eqn.source.scope().map(|scope| scope.names());
            (eqn.prim.name().to_owned(), scope)
        })
        .collect()
    };
    let spec = Array::spec(DType::F32, &[3]);
    let jaxpr = make_jaxpr(f)(spec.clone()).unwrap();
    let want = [
        ("sin", Some("encoder")),
        ("mul", Some("encoder/norm")),
        ("scan", Some("loss")),
        ("neg", None),
    ];
    assert_eq!(
        scopes(&jaxpr),
        want.map(|(name, scope)| (name.to_owned(), scope))
    );
    // Derivatives belong to the part that they are of.
    let slope = make_jaxpr(grad(f))(spec.clone()).unwrap();
    let cosine = scopes(&slope).into_iter().find(|(name, _)| name == "cos");
    assert_eq!(cosine, Some(("cos".to_owned(), Some("encoder"))));
    let batched = make_jaxpr(vmap(f))(Array::spec(DType::F32, &[2, 3])).unwrap();
    assert!(scopes(&batched).contains(&("mul".to_owned(), Some("encoder/norm"))));
    // They print beside the lines, and change nothing.
    let options = PrintOptions {
        sources: true,
        ..PrintOptions::default()
    };
    let text = jaxpr.jaxpr.display(&options).to_string();
    assert!(text.contains("(encoder/norm)"), "{text}");
    assert!(!jaxpr.to_string().contains("encoder"));
    let x = Array::from([0.1f32, 0.2, 0.3]);
    let results = eval::eval(&jaxpr, &[x.value()]).unwrap();
    assert_eq!(f(x).value(), results[0]);
}

#[test]
fn mistakes_name_the_part_that_they_are_in() {
    let f = jit(|x: Array| named_scope("head", || x.reshape(&[7])));
    let error = f.try_call((Array::from([1.0f32]),)).unwrap_err();
    assert!(error.to_string().contains("(head)"), "{error}");
    // A scope ends with its function, by a panic too.
    let g = jit(|x: Array| x.reshape(&[7]));
    let error = g.try_call((Array::from([1.0f32]),)).unwrap_err();
    assert!(!error.to_string().contains("(head)"), "{error}");
}

/// In a process of its own: `perf` finds the names of parts with the machine code.
#[cfg(target_os = "linux")]
#[test]
fn names_of_parts_are_told_to_profilers() {
    let path = |process: u32| format!("/tmp/perf-{process}.map");
    if std::env::var_os("JAXIDE_PERF_MAP").is_some() {
        let f = jit(|x: Array| {
            let y = named_scope("encoder", || (&x * 2.0).sin());
            let w = y.transpose([1, 0]);
            (named_scope("loss", || w.square().sum_axes(0)), y)
        });
        f(Array::from_vec(&[64, 64], vec![0.5f32; 4096]));
        return;
    }
    let mut child = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["names_of_parts_are_told_to_profilers", "--exact"])
        .env("JAXIDE_PERF_MAP", "1")
        .spawn()
        .unwrap();
    assert!(child.wait().unwrap().success());
    let map = std::fs::read_to_string(path(child.id())).unwrap();
    std::fs::remove_file(path(child.id())).unwrap();
    let named = |name: &str| {
        let line = map.lines().find(|line| line.ends_with(name))?;
        let (start, rest) = line.split_once(' ')?;
        let (size, _) = rest.split_once(' ')?;
        let number = |digits| u64::from_str_radix(digits, 16).unwrap();
        Some((number(start), number(size)))
    };
    for name in ["jaxide program", "# encoder", "# loss"] {
        let (start, size) = named(name).unwrap_or_else(|| panic!("{name}: {map}"));
        assert!(start > 0 && size > 0, "{map}");
    }
}

#[test]
fn names_of_parts_stand_with_loops() {
    let part = |name: &'static str, x: Array, f: fn(Array) -> Array| named_scope(name, || f(x));
    // What is jitted and called twice belongs to the part of each call.
    let inner = jit(|x: Array| named_scope("norm", || x.sin()));
    let f = jit(move |x: Array, w: Array| {
        let y = part("encoder", x, |x| &x * 2.0 + 1.0);
        let y = named_scope("mix", || y.matmul(&w));
        let y = named_scope("first", || inner(y).sum());
        let z = named_scope("second", || inner(w).sum());
        y + z
    });
    let spec = || Array::spec(DType::F32, &[64, 64]);
    let loops = f.lower((spec(), spec())).unwrap().loops();
    let named: Vec<&str> = loops
        .lines()
        .filter_map(|line| line.split("  # ").nth(1))
        .collect();
    for name in ["encoder", "mix", "first/norm", "second/norm"] {
        assert!(
            named
                .iter()
                .any(|names| names.split(", ").any(|own| own == name)),
            "{name}: {loops}"
        );
    }
    // Programs without names print as they did, and names make no other program.
    let plain = jit(|x: Array| x.sin() * 2.0);
    assert!(!plain.lower((spec(),)).unwrap().loops().contains("  # "));
}

#[test]
fn one_part_of_a_complex_number_is_enough() {
    for (re, im) in [(f32::NAN, 1.0), (1.0, f32::NAN), (f32::NAN, f32::NAN)] {
        let (re, im) = (Array::from([re, 2.0]), Array::from([im, 2.0]));
        let made = jit(|re: Array, im: Array| lax::complex(&re, &im));
        assert_eq!(made(re.clone(), im.clone()).shape(), [2]);
        let error = debug_nans(|| made.try_call((re, im))).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotANumber, "{error}");
        assert!(error.to_string().contains("1 of 2 elements"), "{error}");
    }
}

#[test]
fn functions_know_their_names() {
    fn doubled(x: Array) -> Array {
        x * 2.0
    }
    assert_eq!(jit(doubled).name(), "doubled");
    assert_eq!(jit(doubled).named("twice").name(), "twice");
    assert_eq!(vmap(|x: Array| x).name(), "<lambda>");
}
