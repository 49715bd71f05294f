//! What threads do under load, each with its right outcome.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use jaxide::prelude::*;
use jaxide::{Cancel, ErrorKind, Jitted, numpy, random, with_cancel, with_interpreter};
use jaxide_cpu::runtime::ThreadPool;
use jaxide_cpu::{CompileOptions, Executable, compile};
use jaxide_testing::Random;

type Outcome = std::result::Result<(), String>;

/// One thing to do.
type Deed = fn(&Work, &mut Random) -> Outcome;

/// All things to do, by name.
pub(crate) const DEEDS: &[(&str, Deed)] = &[
    ("calling a function of all threads", call_shared),
    ("calling operations one by one", call_operations),
    ("compiling and dropping a closure", compile_closure),
    ("compiling a closure that others compile too", compile_same),
    ("compiling and dropping an executable", compile_executable),
    ("wrong arguments", wrong_arguments),
    ("too little memory", too_little_memory),
    ("a limit of time", out_of_time),
    ("being cancelled by another thread", cancelled),
    ("a panic in a closure", panic_in_closure),
    ("a panic in a thread of the pool", panic_in_pool),
    ("interpreting", interpret),
];

/// The payload of the panics that are meant.
const MEANT: &str = "a panic that is meant";

/// Whether a panic is one of those.
pub(crate) fn is_meant(payload: &dyn Any) -> bool {
    payload.downcast_ref::<&str>() == Some(&MEANT)
}

type Function = Jitted<(Array,), Array>;

/// What the threads share.
pub(crate) struct Work {
    /// Functions with an argument and the bits of the result.
    shared: Vec<(Function, Array, Vec<u8>)>,
    /// Results of [`chain`] by its argument.
    chains: Vec<Vec<u8>>,
    /// Goes on for ever with arguments that are not negative.
    forever: Function,
    /// Takes 4 MB.
    large: ClosedJaxpr,
    /// Code with its result.
    executable: (Executable, Array, Vec<u8>),
    small: ClosedJaxpr,
}

/// The bits of an array.
fn bits(x: &Array) -> Vec<u8> {
    x.to_vec::<f32>()
        .iter()
        .flat_map(|x| x.to_le_bytes())
        .collect()
}

fn equal(got: &Array, want: &[u8]) -> Outcome {
    if bits(got) == want {
        Ok(())
    } else {
        Err("other bits".to_owned())
    }
}

/// Operations that run one by one, some of them on several threads.
fn chain(k: usize) -> Array {
    let x = numpy::linspace(0.0, 1.0, 1000 + 10 * k);
    let y = numpy::sort(&(x * k as f32).sin(), 0);
    numpy::sum(&(y.square() + 1.0).sqrt(), ()) / 3.0
}

const CHAINS: usize = 20;

fn large_program(x: Array) -> Array {
    numpy::sort(&(x.clone() * 2.0), 0).sum() + numpy::sort(&(x + 1.0), 0)
}

impl Work {
    pub(crate) fn new() -> Self {
        let vector = |n: usize| numpy::linspace(-1.0, 2.0, n).astype(DType::F32);
        let functions: Vec<(Function, Array)> = vec![
            (jit(|x: Array| (x.sin() * 2.0 + 1.0).exp()), vector(300_000)),
            (
                jit(|x: Array| (x.square() + 1.0).sqrt().sum()),
                vector(200_001),
            ),
            (
                jit(|x: Array| numpy::matmul(&x, &x.t())),
                vector(150 * 90).reshape((150, 90)),
            ),
            (
                jit(|x: Array| numpy::sort(&(x * 7.0).sin(), 0)),
                vector(70_000),
            ),
            (jit(|x: Array| numpy::cumsum(&x, 0)), vector(100_003)),
            (
                jit(|x: Array| scan(|c: Array, (): ()| ((c * 1.01).sin(), ()), x, (), 50).0),
                vector(1000),
            ),
            (
                jit(grad(|x: Array| (x.tanh() * 3.0).square().sum())),
                vector(50_000),
            ),
            (
                jit(vmap(|x: Array| x.sum() * x)),
                vector(6000).reshape((60, 100)),
            ),
            (
                jit(|x: Array| {
                    let key = random::key(7);
                    x + random::normal(&key, (40_000,), DType::F32)
                }),
                vector(40_000),
            ),
            (jit(|x: Array| x + 1.0), vector(3)),
        ];
        let run = |(f, x): (Function, Array)| {
            let want = bits(&f(x.clone()));
            (f, x, want)
        };
        let large = make_jaxpr(large_program)(vector(1 << 20)).unwrap();
        let small = make_jaxpr(|x: Array| (x.cos() * 0.5).sum())(vector(5000)).unwrap();
        let x = vector(5000);
        let want = bits(&(x.cos() * 0.5).sum());
        let executable = compile(&small, &CompileOptions::default()).unwrap();
        let want = match executable.run(&[x.value()]) {
            Ok(results) => results[0].bytes().to_vec(),
            Err(_) => want,
        };
        Work {
            shared: functions.into_iter().map(run).collect(),
            chains: (0..CHAINS).map(|k| bits(&chain(k))).collect(),
            forever: jit(|x: Array| while_loop(|x: Array| x.min().ge(0.0), |x: Array| x * 0.5, x)),
            large,
            executable: (executable, x, want),
            small,
        }
    }
}

fn call_shared(work: &Work, random: &mut Random) -> Outcome {
    let (f, x, want) = &work.shared[random.below(work.shared.len())];
    equal(&f(x.clone()), want)
}

fn call_operations(work: &Work, random: &mut Random) -> Outcome {
    let k = random.below(CHAINS);
    equal(&chain(k), &work.chains[k])
}

/// `(x + a) * b` in one program; sums and products are rounded as in Rust, one by one or at once.
fn check_closure(a: f32, b: f32) -> Outcome {
    let x = [0.5f32, -1.0, 3.0];
    let y = jit(move |x: Array| (x + a) * b)(Array::from(x)).to_vec::<f32>();
    let want = x.map(|x| (x + a) * b);
    if y == want {
        Ok(())
    } else {
        Err(format!("{y:?} instead of {want:?}"))
    }
}

fn compile_closure(_: &Work, random: &mut Random) -> Outcome {
    check_closure(random.unit() as f32, random.unit() as f32)
}

fn compile_same(_: &Work, random: &mut Random) -> Outcome {
    check_closure(random.below(30) as f32, 3.0)
}

fn compile_executable(work: &Work, random: &mut Random) -> Outcome {
    let (shared, x, want) = &work.executable;
    let x = [x.value()];
    let run = |executable: &Executable| match executable.run(&x) {
        Ok(results) if results[0].bytes() == want => Ok(()),
        Ok(_) => Err("other bits".to_owned()),
        Err(error) => Err(error.to_string()),
    };
    run(shared)?;
    let options = CompileOptions {
        threads: Some(1 + random.below(4)),
        ..CompileOptions::default()
    };
    run(&compile(&work.small, &options).map_err(|error| error.to_string())?)
}

fn fails<T>(result: Result<T>, kind: ErrorKind) -> Outcome {
    match result {
        Ok(_) => Err("no error".to_owned()),
        Err(error) if error.kind() == kind => Ok(()),
        Err(error) => Err(format!("another error: {error}")),
    }
}

fn wrong_arguments(work: &Work, random: &mut Random) -> Outcome {
    let n = 2 + random.below(20);
    let f = jit(move |x: Array| x + Array::ones(n + 1, DType::F32));
    fails(f.try_call((Array::ones(n, DType::F32),)), ErrorKind::Shape)?;
    // The matrix product takes no cube, before and after.
    let (product, x, want) = &work.shared[2];
    fails(
        product.try_call((Array::ones((3, 4, 5), DType::F32),)),
        ErrorKind::Shape,
    )?;
    equal(&product(x.clone()), want)
}

fn too_little_memory(work: &Work, _: &mut Random) -> Outcome {
    let options = CompileOptions {
        memory_limit: Some(1 << 20),
        ..CompileOptions::default()
    };
    fails(compile(&work.large, &options), ErrorKind::TooLarge)
}

fn out_of_time(work: &Work, random: &mut Random) -> Outcome {
    let limit = Cancel::after(Duration::from_micros(random.below(3000) as u64));
    let x = Array::ones(1 + random.below(3000), DType::F32);
    fails(
        with_cancel(&limit, || (work.forever)(x)),
        ErrorKind::Cancelled,
    )
}

fn cancelled(work: &Work, random: &mut Random) -> Outcome {
    let cancel = Cancel::new();
    let pause = Duration::from_micros(random.below(1000) as u64);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(pause);
            cancel.cancel();
        });
        let x = Array::ones((), DType::F32);
        fails(
            with_cancel(&cancel, || (work.forever)(x)),
            ErrorKind::Cancelled,
        )
    })
}

fn expect_meant<T>(f: impl FnOnce() -> T) -> Outcome {
    match catch_unwind(AssertUnwindSafe(f)) {
        Err(payload) if is_meant(&*payload) => Ok(()),
        Err(_) => Err("another panic".to_owned()),
        Ok(_) => Err("no panic".to_owned()),
    }
}

fn panic_in_closure(work: &Work, random: &mut Random) -> Outcome {
    let at = random.below(4);
    let body = move |x: Array| match at {
        0 => panic_any(),
        1 => grad(|_: Array| -> Array { panic_any() })(x),
        2 => scan(|_: Array, (): ()| -> (Array, ()) { panic_any() }, x, (), 3).0,
        _ => vmap(|_: Array| -> Array { panic_any() })(x.reshape((1,))).sum(),
    };
    let f = jit(body);
    expect_meant(|| f(Array::from(1.0f32)))?;
    // The same function again, and another one.
    expect_meant(|| f(Array::from(1.0f32)))?;
    call_shared(work, random)
}

fn panic_any() -> ! {
    std::panic::panic_any(MEANT)
}

fn panic_in_pool(work: &Work, random: &mut Random) -> Outcome {
    let (chunks, bad) = (64, random.below(64));
    let loops = || {
        ThreadPool::global().parallel_for(8, chunks, |chunk| {
            if chunk == bad {
                panic_any();
            }
        });
    };
    expect_meant(loops)?;
    let (f, x, want) = &work.shared[0];
    equal(&f(x.clone()), want)
}

fn interpret(work: &Work, _: &mut Random) -> Outcome {
    let (f, x, want) = &work.shared[work.shared.len() - 1];
    equal(&with_interpreter(|| f(x.clone())), want)
}
