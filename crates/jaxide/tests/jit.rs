//! What `jit` can be told, and what it shows.

use jaxide::numpy::{self, Linspace};
use jaxide::prelude::*;
use jaxide::{ErrorKind, Isa};

fn ramp(n: usize) -> Array {
    Array::from_vec(&[n], (0..n).map(|k| k as f32).collect())
}

fn address(array: &Array) -> *const u8 {
    array.value().bytes().as_ptr()
}

/// Sizes of arrays that handles hold themselves, around those of vectors, and of what threads share.
const LENGTHS: [usize; 11] = [0, 1, 3, 4, 5, 17, 33, 64, 1000, 4097, 300_000];

#[test]
fn results_are_made_where_donated_arguments_were() {
    let step = jit(|weights: Array, slopes: Array| &weights - slopes * 0.5).donate([0]);
    for n in LENGTHS {
        let (weights, slopes) = (ramp(n), ramp(n));
        let want: Vec<f32> = (0..n).map(|k| k as f32 * 0.5).collect();
        let before = address(&weights);
        let result = step(weights, slopes.clone());
        assert_eq!(result.to_vec::<f32>(), want);
        if n * 4 > 16 {
            assert_eq!(address(&result), before, "length {n}");
        }
        // What is not donated stays.
        assert_eq!(slopes.to_vec::<f32>(), ramp(n).to_vec::<f32>());
    }
}

#[test]
fn donated_trees_are_overwritten_leaf_by_leaf() {
    type State = (Array, Vec<Array>);
    let step = jit(|scale: Array, (total, parts): State| {
        let parts: Vec<Array> = parts.iter().map(|part| part * &scale).collect();
        (&total + &scale, parts)
    })
    .donate([1]);
    let state: State = (ramp(100), vec![ramp(50), ramp(70)]);
    let before = [
        address(&state.0),
        address(&state.1[0]),
        address(&state.1[1]),
    ];
    let state = step(Array::from(2.0f32), state);
    let after = [
        address(&state.0),
        address(&state.1[0]),
        address(&state.1[1]),
    ];
    assert_eq!(before, after);
    assert_eq!(state.1[1].to_vec::<f32>()[3], 6.0);
}

#[test]
fn a_donated_array_is_gone_in_all_its_clones() {
    for n in LENGTHS {
        let step = jit(|x: Array| x + 1.0).named("step").donate([0]);
        let x = ramp(n);
        let kept = x.clone();
        let view = x.reshape(&[n as i64, 1]);
        step(x);
        let error = kept.try_value().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Donated);
        let text = format!(
            "the array f32[{n}] was donated to `step` as argument [0], and its elements are gone"
        );
        assert_eq!(error.message(), text);
        // Shape and type are still known, and it can be printed.
        assert_eq!((kept.shape(), kept.dtype()), (&[n][..], DType::F32));
        let shown = format!("Donated<f32[{n}]>");
        assert_eq!(
            (kept.to_string(), format!("{kept:?}")),
            (shown.clone(), shown)
        );
        // So is using it in an operation, a trace, a call, and donating it again.
        let again = jit(|x: Array| x * 2.0);
        for used in [
            jaxide::jit({
                let kept = kept.clone();
                move |x: Array| x + kept.sum()
            })
            .try_call((ramp(n),)),
            again.try_call((kept.clone(),)),
            step.try_call((kept.clone(),)),
        ] {
            assert_eq!(used.unwrap_err().kind(), ErrorKind::Donated);
        }
        // Another array over the same elements has them still, unchanged.
        assert_eq!(view.to_vec::<f32>(), ramp(n).to_vec::<f32>());
    }
}

#[test]
fn an_array_may_be_donated_and_an_argument_besides() {
    let f = jit(|x: Array, y: Array| (&x + 1.0, x * y)).donate([0]);
    for n in LENGTHS {
        let x = ramp(n);
        let (first, second) = f(x.clone(), x.clone());
        let want: Vec<f32> = (0..n).map(|k| (k + 1) as f32).collect();
        assert_eq!(first.to_vec::<f32>(), want);
        let want: Vec<f32> = (0..n).map(|k| (k * k) as f32).collect();
        assert_eq!(second.to_vec::<f32>(), want);
        assert!(x.try_value().is_err());
    }
}

#[test]
fn a_donated_argument_behind_constants_is_overwritten() {
    let table = ramp(1000);
    let f = jit(move |x: Array| x * &table + 1.0).donate([0]);
    let x = ramp(1000);
    let before = address(&x);
    let y = f(x);
    assert_eq!(address(&y), before);
    assert_eq!(y.to_vec::<f32>()[999], 999.0 * 999.0 + 1.0);
}

#[test]
fn staged_calls_say_what_they_donate() {
    let step = jit(|x: Array, y: Array| x + y).named("step").donate([1]);
    let x = ramp(4);
    let jaxpr = make_jaxpr(move |y: Array| step(x.clone(), y))(Array::spec(DType::F32, &[4]));
    let text = jaxpr.unwrap().to_string();
    assert!(text.contains("donated_invars=(False, True)"), "{text}");
}

#[test]
fn an_argument_that_is_not_there_cannot_be_donated() {
    let f = jit(|x: Array| x + 1.0).donate([2]);
    let error = f.try_call((ramp(3),)).unwrap_err();
    assert_eq!(
        error.message(),
        "argument 2 is to be donated, and the function takes 1"
    );
}

#[test]
fn every_instruction_set_of_the_machine_gives_the_same() {
    let f = |x: Array| numpy::cumsum(&(x.sin() * 2.0 + 1.0), 0);
    let want = jit(f)(ramp(1000)).to_vec::<f32>();
    for isa in Isa::available() {
        let got = jit(f).isa(isa)(ramp(1000)).to_vec::<f32>();
        let near = got.iter().zip(&want).all(|(a, b)| (a - b).abs() < 1e-2);
        assert!(near, "{isa:?}");
    }
    for isa in [Isa::Portable, Isa::Avx2, Isa::Avx512] {
        let lowered = jit(f).isa(isa).lower((ramp(10),)).unwrap();
        assert!(!lowered.asm().is_empty());
        let called = jit(f).isa(isa).try_call((ramp(10),));
        assert_eq!(called.is_ok(), Isa::available().contains(&isa));
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits() {
    let f = |x: Array| (x.sin() * 2.0 + 1.0).sum();
    let want = jit(f).threads(1)(ramp(300_000)).item::<f32>();
    for threads in 2..6 {
        assert_eq!(jit(f).threads(threads)(ramp(300_000)).item::<f32>(), want);
    }
}

#[test]
fn lowering_shows_each_stage() {
    let table = ramp(100);
    let f = jit(move |x: Array| (x * &table).exp().sum());
    let lowered = f.lower((Array::spec(DType::F32, &[100]),)).unwrap();
    assert!(lowered.jaxpr().to_string().contains("exp"));
    assert!(lowered.loops().contains("k0"), "{}", lowered.loops());
    assert!(lowered.clif().contains("function"), "{}", lowered.clif());
    assert!(lowered.asm().starts_with("program:"), "{}", lowered.asm());
    assert!(lowered.stats().code > 0 && lowered.stats().kernels > 0);
    let cost = lowered.cost();
    // A product and a sum of a hundred elements each.
    assert_eq!((cost.flops, cost.transcendentals), (200, 100));
    // Two operands and a result; an operand and a result; an operand and a number.
    assert_eq!(cost.bytes, 400 * 3 + 400 * 2 + 404);
    // The argument, the table and the sum.
    let least = 448 * 2 + 64;
    assert!(lowered.peak_memory() >= least);
    // Looking compiles for nobody, and a mistake is an error.
    let mistake = jit(|x: Array, y: Array| x + y).lower((ramp(3), ramp(4)));
    assert_eq!(mistake.err().unwrap().operation(), Some("add"));
}

#[test]
fn programs_can_be_compiled_before_they_are_called() {
    let f = jit(|x: Array, y: (Array, Array)| x * y.0 + y.1);
    let spec = || Array::spec(DType::F32, &[8191]);
    f.compile_ahead((spec(), (spec(), spec()))).unwrap();
    assert_eq!(f.cache_size(), 1);
    let compiled = jaxide::cache().programs().into_iter().find(|program| {
        program.what == "2 equations (f32[8191], f32[8191], f32[8191]) -> (f32[8191])"
    });
    assert!(compiled.unwrap().bytes > 0);
    let y = f(ramp(8191), (ramp(8191), ramp(8191)));
    assert_eq!(y.to_vec::<f32>()[3], 12.0);
    assert_eq!(f.cache_size(), 1);
}

#[test]
fn a_function_of_a_trace_around_it_is_not_a_program() {
    let outer = |x: Array| {
        let inner = jit({
            let x = x.clone();
            move |y: Array| y + &x
        });
        let error = inner.lower((ramp(3),)).err().unwrap();
        assert!(error.message().contains("a trace around it"), "{error}");
        x
    };
    jit(outer)(ramp(3));
}

#[derive(Clone, Pytree)]
struct Power {
    base: Array,
    #[pytree(static)]
    exponent: i32,
}

/// Prints what the log says of a few calls, when this program is asked for it by the test below.
#[test]
fn calls_for_the_log() {
    if std::env::var_os("JAXIDE_LOG").is_none() {
        return;
    }
    let f = jit(|x: Array, y: (Array, Array)| x + y.0 + y.1.astype(DType::F32)).named("pair");
    let y = || (ramp(3), numpy::arange(3, DType::I32));
    f(ramp(3), y());
    f(ramp(3), y());
    f(ramp(1), y());
    f(ramp(1), (ramp(3), ramp(3)));
    let g = jit(|x: Vec<Array>| x[0].sin()).named("many");
    g(vec![ramp(3)]);
    g(vec![ramp(3), ramp(4)]);
    let h = jit(|power: Power| power.base.powi(power.exponent.into())).named("power");
    for exponent in [2, 3] {
        let base = ramp(3);
        h(Power { base, exponent });
    }
    let sum = |xs: Vec<Array>| {
        let mut all = xs.iter().map(|x| x.sum());
        let first = all.next().unwrap();
        all.fold(first, |sum, x| sum + x)
    };
    let all = jit(sum).named("all");
    for lengths in [[2usize; 5], [2, 2, 3, 3, 3], [4, 4, 4, 4, 2], [5; 5]] {
        all(lengths.map(ramp).to_vec());
    }
    let inner = jit(|x: Array| x + 1.0).named("inner");
    for axis in ["i", "j"] {
        let inner = inner.clone();
        vmap(move |x: Array| inner(x)).axis_name(axis)(ramp(3));
    }
}

#[test]
fn the_log_says_why_a_function_is_traced_again() {
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["calls_for_the_log", "--exact", "--nocapture"])
        .env("JAXIDE_LOG", "compile")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stderr).unwrap();
    let reasons: Vec<&str> = text
        .lines()
        .filter(|line| line.contains("tracing"))
        .collect();
    assert_eq!(
        reasons,
        [
            "jaxide: tracing `pair`: it has not been traced before",
            "jaxide: tracing `pair`: argument [0] is f32[1], and was f32[3]",
            "jaxide: tracing `pair`: argument [1][1] is f32[3], and was i32[3]",
            "jaxide: tracing `many`: it has not been traced before",
            "jaxide: tracing `many`: different lengths of list at tree[0]: expected 1, got 2",
            "jaxide: tracing `power`: it has not been traced before",
            "jaxide: tracing `power`: different metadata of Power at tree[0]: expected (2,), got (3,)",
            "jaxide: tracing `all`: it has not been traced before",
            "jaxide: tracing `all`: argument [0][2] is f32[3], and was f32[2]; argument [0][3] is f32[3], and was f32[2]; \
             argument [0][4] is f32[3], and was f32[2]",
            "jaxide: tracing `all`: argument [0][0] is f32[4], and was f32[2]; argument [0][1] is f32[4], and was f32[2]; \
             argument [0][2] is f32[4], and was f32[2]; and 1 more",
            "jaxide: tracing `all`: argument [0][0] is f32[5], and was f32[2]; argument [0][1] is f32[5], and was f32[2]; \
             argument [0][2] is f32[5], and was f32[2]; and 2 more",
            "jaxide: tracing `inner`: it has not been traced before",
            "jaxide: tracing `inner`: the named axes around the call are others",
        ]
    );
    let compiled = "jaxide: compiled 3 equations (f32[3], f32[3], i32[3]) -> (f32[3]) in ";
    assert_eq!(text.matches(compiled).count(), 1, "{text}");
}

#[test]
fn staged_calls_donate_arguments_behind_what_they_capture() {
    let outer = |x: Array, y: Array, z: Array| {
        let inner = jit(move |x: Array| x * &y + &z).donate([0]);
        inner(x)
    };
    let spec = || Array::spec(DType::F32, &[3]);
    let text = make_jaxpr(outer)(spec(), spec(), spec())
        .unwrap()
        .to_string();
    assert!(
        text.contains("donated_invars=(False, False, True)"),
        "{text}"
    );
}

#[test]
fn nothing_is_logged_unless_it_is_asked_for() {
    if std::env::var_os("JAXIDE_TEST_QUIET").is_some() {
        jit(|x: Array| x.sin() + 41.0)(ramp(7));
        return;
    }
    for (words, wanted) in [("", false), ("other", false), ("other, compile", true)] {
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "nothing_is_logged_unless_it_is_asked_for",
                "--exact",
                "--nocapture",
            ])
            .env("JAXIDE_TEST_QUIET", "1")
            .env("JAXIDE_LOG", words)
            .output()
            .unwrap();
        let text = String::from_utf8(output.stderr).unwrap();
        assert_eq!(text.contains("jaxide: "), wanted, "{words}: {text}");
    }
}

#[test]
fn staged_calls_are_traced_once_for_each_type() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static TRACES: AtomicUsize = AtomicUsize::new(0);
    let inner = jit(|x: Array| {
        TRACES.fetch_add(1, Ordering::Relaxed);
        x * 2.0
    });
    let outer = move |x: Array, y: Array| {
        let first = inner(x.clone());
        let again = inner(&x + 1.0);
        (first, again, inner(y.clone()), inner(y))
    };
    let spec = |n: usize| Array::spec(DType::F32, &[n]);
    let jaxpr = make_jaxpr(outer)(spec(3), spec(4)).unwrap();
    let shapes = jaxpr
        .out_avals()
        .iter()
        .map(|aval| aval.shape[0])
        .collect::<Vec<_>>();
    assert_eq!(shapes, [3, 3, 4, 4]);
    assert_eq!(TRACES.load(Ordering::Relaxed), 2);
}

#[test]
fn compiled_programs_can_be_looked_at() {
    let f = jit(|x: Array| x.sin());
    assert!(f.jaxprs().is_empty());
    f(ramp(3));
    f(ramp(3));
    f(ramp(5));
    let mut lengths: Vec<usize> = f
        .jaxprs()
        .iter()
        .map(|jaxpr| jaxpr.in_avals()[0].shape[0])
        .collect();
    lengths.sort_unstable();
    assert_eq!(lengths, [3, 5]);
    assert_eq!(f.cache_size(), 2);
    f.clear_cache();
    assert_eq!((f.cache_size(), f.jaxprs().len()), (0, 0));
}

/// Numbers of the program that spaced numbers of 64 bits begin and end with keep their digits in a compiled program.
#[test]
fn ends_of_spaced_numbers_of_64_bits() {
    let spaced = |x: Array| {
        let four = || Linspace::new().num(4).dtype(DType::F64);
        let (line, step) = numpy::linspace_with_step(0.1, 0.7, four());
        let bases = numpy::logspace(0.1, 0.7, four()) + numpy::geomspace(0.1, 0.7, four());
        (line + numpy::linspace(0.3, 0.7, four()) + &x, step, bases)
    };
    let zero = numpy::full([], 0.0, DType::F64);
    let (line, step, bases) = spaced(zero.clone());
    let (line_, step_, bases_) = jit(spaced)(zero);
    assert_eq!(line.to_vec::<f64>()[0], 0.1 + 0.3);
    for (eager, jitted) in [(line, line_), (step, step_), (bases, bases_)] {
        let near = |(a, b): (f64, f64)| (a - b).abs() <= 1e-15 * a.abs();
        let pairs = eager
            .to_vec::<f64>()
            .into_iter()
            .zip(jitted.to_vec::<f64>());
        assert!(pairs.into_iter().all(near), "{eager} {jitted}");
    }
}

/// The digits of a number, as many as it has, beside those of Rust; behind the loop the same division of the number itself.
#[test]
fn loops_over_digits() {
    let digits = jit(|n: Array| {
        let last = n.clone();
        let (_, sum) = while_loop(
            |(n, _): (Array, Array)| n.gt(0),
            |(n, sum): (Array, Array)| {
                let digit = numpy::remainder(&n, 10);
                (numpy::floor_divide(&n, 10), sum + digit)
            },
            (n, Array::from(0)),
        );
        (
            sum,
            numpy::floor_divide(&last, 10),
            numpy::remainder(&last, 7),
        )
    });
    for n in [
        0,
        1,
        9,
        10,
        12_345,
        i32::MAX,
        -1,
        -7,
        -70,
        -12_345,
        i32::MIN,
    ] {
        let (sum, tenth, rest) = digits(Array::from(n));
        let text = n.to_string();
        let want = text.bytes().map(|digit| i32::from(digit) - 48).sum::<i32>();
        assert_eq!(sum.item::<i32>(), if n > 0 { want } else { 0 }, "{n}");
        assert_eq!(tenth.item::<i32>(), n.div_euclid(10), "{n}");
        assert_eq!(rest.item::<i32>(), n.rem_euclid(7), "{n}");
    }
}

/// Bytes of every number of lanes, beside Rust's.
#[test]
fn bytes_beside_each_other() {
    let blend = jit(|x: Array, y: Array| {
        let brighter = numpy::maximum(&x, &y);
        let sum = &x + &y;
        let wrapped = sum.lt(&x);
        numpy::where_(&wrapped, &Array::from(255u8), &brighter) ^ (x >> Array::from(2u8))
    });
    for n in (0..140).chain([255, 256, 257, 4095, 4097, 10_001]) {
        let bytes = |step: usize| -> Vec<u8> { (0..n).map(|k| (k * step % 256) as u8).collect() };
        let (x, y) = (bytes(37), bytes(101));
        let want: Vec<u8> = (x.iter().zip(&y))
            .map(|(&x, &y)| {
                let wrapped = x.checked_add(y).is_none();
                (if wrapped { 255 } else { x.max(y) }) ^ x >> 2
            })
            .collect();
        let got = blend(Array::from_vec(&[n], x), Array::from_vec(&[n], y));
        assert_eq!(got.to_vec::<u8>(), want, "{n} bytes");
    }
}
