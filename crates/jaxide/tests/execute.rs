//! Running at once: native code from one cache, and the interpreter beside it.

use jaxide::core::prims::{GatherDimensionNumbers, GatherScatterMode};
use jaxide::prelude::*;
use jaxide::{cache, lax, numpy, with_interpreter};

fn numbers(shape: &[usize], dtype: DType) -> Array {
    let count = shape.iter().product();
    let elements = (0..count).map(|k| ((k * 37 + 11) % 23) as f64 / 7.0 - 1.5);
    Array::from_vec(shape, elements.collect::<Vec<f64>>()).astype(dtype)
}

fn full(shape: &[usize], value: f32) -> Array {
    Array::from_vec(shape, vec![value; shape.iter().product()])
}

/// The entry of the cache that is described like this.
fn cached(what: &str) -> Option<jaxide::CachedProgram> {
    let programs = cache().programs();
    programs.into_iter().find(|program| program.what == what)
}

#[test]
fn operations_run_as_the_interpreter_runs_them() {
    type Operation = fn(&Array) -> Array;
    let operations: [(&str, Operation); 14] = [
        ("add", |x| x + x),
        ("mul", |x| x * 3),
        ("neg", |x| -x),
        ("reshape", |x| x.reshape(&[-1])),
        ("sum", |x| x.sum()),
        ("concatenate", |x| {
            numpy::concatenate(&[x.clone(), x.clone()], 0)
        }),
        ("compare", |x| x.gt(0)),
        ("select", |x| numpy::where_(&x.gt(0), x, &-x)),
        ("transpose", |x| x.t()),
        ("sort", |x| numpy::sort(x, -1)),
        ("cumsum", |x| numpy::cumsum(x, 0)),
        ("index", |x| x.index([0i32, -1])),
        ("broadcast", |x| x + numpy::expand_dims(x, 0)),
        ("rev", |x| lax::rev(x, &[0])),
    ];
    let types = [
        DType::I8,
        DType::I32,
        DType::U64,
        DType::F16,
        DType::F32,
        DType::F64,
    ];
    for shape in [
        &[1usize][..],
        &[3],
        &[4],
        &[33],
        &[2, 5],
        &[3, 1, 4],
        &[70_001],
    ] {
        for dtype in types {
            let x = numbers(shape, dtype);
            for (name, operation) in operations {
                let want = with_interpreter(|| operation(&x));
                for _ in 0..2 {
                    let got = operation(&x);
                    assert_eq!(got.aval(), want.aval(), "{name} of {}", x.aval());
                    // Sums are added in another order.
                    if name == "sum" || name == "cumsum" && !dtype.is_integer() {
                        let (got, want) = (got.astype(DType::F64), want.astype(DType::F64));
                        let scale = x.astype(DType::F64).abs().sum().item::<f64>().max(1.0);
                        let most = (got - want).abs().max().item::<f64>();
                        let precise = if dtype == DType::F16 { 2e-2 } else { 1e-5 };
                        assert!(dtype.is_integer() && most == 0.0 || most <= scale * precise);
                    } else {
                        assert_eq!(got.value(), want.value(), "{name} of {}", x.aval());
                    }
                }
            }
        }
    }
}

#[test]
fn an_operation_is_compiled_once_for_its_types() {
    let x = numbers(&[7, 1013], DType::F32);
    for k in 0..5 {
        let _ = (&x + k) * &x;
    }
    let what = "mul f32[7,1013] f32[7,1013]";
    let first = cached(what).expect(what);
    assert!(first.uses >= 5 && first.bytes > 0);
    let _ = &x * &x;
    let again = cached(what).expect(what);
    assert_eq!(again.bytes, first.bytes);
    assert!(again.uses > first.uses);
    assert!(cached("mul f64[7,1013] f64[7,1013]").is_none());
}

#[test]
fn functions_that_do_the_same_share_their_code() {
    let what = "3 equations (f32[1019]) -> (f32[1019])";
    assert!(cached(what).is_none());
    let x = numbers(&[1019], DType::F32);
    for k in 1..=10u64 {
        let y = jit(|x: Array| x.sin() * 3.25 + 1.0)(x.clone());
        assert_eq!(y.size(), 1019);
        assert_eq!(cached(what).unwrap().uses, k);
    }
    // Another constant is another program.
    jit(|x: Array| x.sin() * 3.25 + 2.0)(x);
    let same = cache()
        .programs()
        .into_iter()
        .filter(|program| program.what == what);
    assert_eq!(same.count(), 2);
}

#[test]
fn programs_that_differ_in_large_constants_share_code_and_nothing_else() {
    let what = "2 equations (f32[1021]) -> (f32[1021])";
    for k in 1..=4u64 {
        let table = numbers(&[1021], DType::F32) + k as f32;
        let elements = table.to_vec::<f32>();
        let want: Vec<f32> = elements.iter().map(|t| t * 2.0 - 1.0).collect();
        let captured = table.clone();
        let y = jit(move |x: Array| x * &captured - 1.0)(full(&[1021], 2.0f32));
        assert_eq!(y.to_vec::<f32>(), want);
        assert_eq!(cached(what).unwrap().uses, k);
    }
    // Small ones, and ones of equal elements, are part of the code.
    for value in [1.0f32, 2.0] {
        for n in [5, 1021] {
            let table = full(&[n], value);
            let y = jit(move |x: Array| x * &table)(full(&[n], 3.0f32));
            assert_eq!(y.to_vec::<f32>(), vec![3.0 * value; n]);
        }
    }
}

#[test]
fn what_is_not_used_is_dropped_when_the_limit_is_reached() {
    // The limit is the process's: other tests must not be disturbed, so that this runs in a process of its own.
    if std::env::var_os("JAXIDE_TEST_LIMIT").is_none() {
        let status = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "what_is_not_used_is_dropped_when_the_limit_is_reached",
                "--exact",
            ])
            .env("JAXIDE_TEST_LIMIT", "1")
            .status()
            .unwrap();
        assert!(status.success());
        return;
    }
    let kept = jit(|x: Array| x.sin() + 7.0);
    let x = |n: usize| numbers(&[n], DType::F32);
    let want = kept(x(10)).to_vec::<f32>();
    cache().set_limit(2_000_000);
    assert_eq!(cache().limit(), 2_000_000);
    let mut reached = false;
    for n in 1..200 {
        let y = x(n) * 2.0;
        assert_eq!(y.size(), n);
        let bytes = cache().bytes();
        assert!(bytes <= 2_000_000 + 40_000, "{bytes}");
        // A part is dropped at once, not all.
        reached |= bytes > 1_900_000;
        assert!(!reached || bytes > 1_000_000, "{bytes}");
    }
    assert!(reached);
    assert!(cached("mul f32[199] f32[]").is_some());
    assert!(cached("mul f32[1] f32[]").is_none());
    // What is there is found, what is not is compiled.
    let (small, large) = (x(199), x(1009));
    let counted = |run: &dyn Fn()| {
        let (hits, misses) = (cache().hits(), cache().misses());
        run();
        (cache().hits() - hits, cache().misses() - misses)
    };
    cache().set_limit(1 << 24);
    assert_eq!(counted(&|| drop(&small * 2.0)), (1, 0));
    assert_eq!(counted(&|| drop(&large * 2.0)), (0, 1));
    assert_eq!(counted(&|| drop(&large * 2.0)), (1, 0));
    // The interpreter compiles nothing.
    with_interpreter(|| drop(&x(1013) * 2.0));
    let what = "mul f32[1013] f32[]";
    let compiled = || cached(what).map_or(0, |operation| operation.bytes);
    assert_eq!(compiled(), 0);
    drop(x(1013) * 2.0);
    assert!(compiled() > 100, "{}", compiled());
    // What is kept is as large as its code and more.
    let before = cache().bytes();
    let f = jit(|x: Array| x.tan() * x.exp());
    f(small.clone());
    let code = f.lower((small.clone(),)).unwrap().stats().code;
    let grown = cache().bytes() - before;
    assert!(grown > code && code > 100, "{grown} {code}");
    // Programs too: those that differ in small constants, in what all elements of a large one are, or in options, differ.
    let program = |table: &Array, threads: usize| {
        let table = table.clone();
        drop(jit(move |x: Array| x.cos() * &table).threads(threads)(
            small.clone(),
        ));
    };
    let filled = |value: f32| numpy::ones(&[199], DType::F32) * value;
    let (short, one, two) = (Array::from([2.5f32]), filled(1.0), filled(2.0));
    let (other, another) = (&small + 1.0, &small + 2.0);
    let (same, short_again) = (filled(1.0), Array::from([2.5f32]));
    for (table, threads, want) in [
        (&short, 1, (0, 1)),
        (&short_again, 1, (1, 0)),
        (&Array::from([3.5f32]), 1, (0, 1)),
        (&one, 1, (0, 1)),
        (&same, 1, (1, 0)),
        (&two, 1, (0, 1)),
        (&other, 1, (0, 1)),
        (&another, 1, (1, 0)),
        (&another, 2, (0, 1)),
        (&another, 2, (1, 0)),
    ] {
        assert_eq!(
            counted(&|| program(table, threads)),
            want,
            "{table} {threads}"
        );
    }
    cache().set_limit(2_000_000);
    // Functions hold on to their code, and what was dropped is compiled again.
    assert_eq!(kept(x(10)).to_vec::<f32>(), want);
    assert_eq!((x(1) * 2.0).size(), 1);
    let (hits, misses) = (cache().hits(), cache().misses());
    cache().clear();
    assert_eq!((cache().entries(), cache().bytes()), (0, 0));
    assert_eq!((cache().hits(), cache().misses()), (hits, misses));
    assert_eq!(kept(x(10)).to_vec::<f32>(), want);
    assert_eq!((x(1) * 2.0).size(), 1);
    assert!(cache().entries() > 0);
    cache().set_limit(0);
    assert_eq!(cache().entries(), 0);
}

#[test]
fn threads_may_ask_for_the_same_code_at_once() {
    let want: Vec<f32> = (0..1031).map(|k| (k as f32) * 2.0 + 0.5).collect();
    let work = || {
        let x = Array::from_vec(&[1031], (0..1031).map(|k| k as f32).collect::<Vec<f32>>());
        let eager = &x * 2.0 + 0.5;
        let jitted = jit(|x: Array| x * 2.0 + 0.5)(x);
        (eager.to_vec::<f32>(), jitted.to_vec::<f32>())
    };
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(work)).collect();
        for thread in threads {
            assert_eq!(thread.join().unwrap(), (want.clone(), want.clone()));
        }
    });
    assert_eq!(
        cached("2 equations (f32[1031]) -> (f32[1031])")
            .unwrap()
            .uses,
        8
    );
}

#[test]
fn the_interpreter_is_left_again_by_a_panic() {
    let panicked = std::panic::catch_unwind(|| with_interpreter(|| panic!("on purpose")));
    assert!(panicked.is_err());
    let before = cache().misses() + cache().hits();
    let x = numbers(&[1033], DType::F32);
    let _ = &x + &x;
    assert!(cache().misses() + cache().hits() > before);
    assert!(cached("add f32[1033] f32[1033]").unwrap().bytes > 0);
}

#[test]
fn values_on_demand_and_recorded_programs_run_natively() {
    let f = |x: Array| {
        let y = x.sin() * 1.5;
        // Asked for while `grad` records.
        if y.sum().item::<f32>() > 0.0 {
            y.square().sum()
        } else {
            y.sum()
        }
    };
    for sign in [1.0f32, -1.0] {
        let x = full(&[1039], sign);
        let got = grad(f)(x.clone()).to_vec::<f32>();
        let want = with_interpreter(|| grad(f)(x)).to_vec::<f32>();
        let near = got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(near);
    }
    assert!(cached("sin f32[1039]").unwrap().bytes > 0);
}

#[test]
fn what_has_no_native_form_is_interpreted() {
    let x = numbers(&[5], DType::F32);
    let numbers_of = || GatherDimensionNumbers {
        collapsed_slice_dims: vec![0].into(),
        start_index_map: vec![0].into(),
        ..GatherDimensionNumbers::default()
    };
    let taken = move |x: Array, mode: GatherScatterMode| {
        let indices = Array::from([[3], [1]]);
        lax::gather(&x, &indices, numbers_of(), &[1], mode, None)
    };
    let want = taken(x.clone(), GatherScatterMode::Clip).to_vec::<f32>();
    assert_eq!(
        taken(x.clone(), GatherScatterMode::OneHot).to_vec::<f32>(),
        want
    );
    // Inside a recorded program too.
    let (y, t) = jvp(
        move |x: Array| taken(x.sin(), GatherScatterMode::OneHot) * 1.0,
        (x.clone(),),
        (x.clone(),),
    );
    assert_eq!((y.shape(), t.shape()), (&[2][..], &[2][..]));
    let doubled = vmap(move |x: Array| taken(x, GatherScatterMode::OneHot) * 2.0);
    let rows = x.reshape(&[1, 5]);
    let want: Vec<f32> = want.iter().map(|x| x * 2.0).collect();
    assert_eq!(doubled(rows).to_vec::<f32>(), want);
    // Other mistakes are not run elsewhere.
    let wrong = || {
        lax::gather(
            &x,
            &Array::from([[3]]),
            numbers_of(),
            &[9],
            GatherScatterMode::Clip,
            None,
        )
    };
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(wrong)).is_err());
}

#[test]
fn another_shape_is_the_same_memory() {
    let x = numbers(&[4, 1, 250], DType::F32);
    let place = |array: &Array| array.values::<f32>().unwrap().as_ptr();
    assert_eq!(place(&x.reshape(&[1000])), place(&x));
    assert_eq!(place(&lax::squeeze(&x, [1])), place(&x));
    assert_ne!(place(&x.transpose([2, 1, 0])), place(&x));
}
