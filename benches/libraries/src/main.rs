//! Times decompositions of one matrix beside faer's, and real transforms beside realfft's, in turns:
//! `cargo run --release -- [--threads N] [--rounds N] [PREFIX ...]`.
//!
//! Prints a line for each case: name, our least and median time in microseconds, the library's, and
//! the ratios of theirs to ours.

use std::time::Instant;

use faer::{Mat, Par, Side};
use jaxide_cpu::runtime::fft::{Fft, FftKind};
use jaxide_cpu::runtime::linalg::{Cholesky, Eigh, Lu, Qr, Svd, eig};
use jaxide_cpu::runtime::{Context, Kernel, KernelCall, PoolBuffer, ThreadPool};
use realfft::RealFftPlanner;

struct Options {
    threads: usize,
    rounds: usize,
    prefixes: Vec<String>,
}

/// Pseudo-random numbers from -1 to 1.
fn number(i: usize) -> f64 {
    ((i as f64 + 0.5) * 12.9898).sin() * 43_758.547 % 1.0
}

fn symmetric(n: usize) -> impl Fn(usize, usize) -> f64 {
    move |i, j| number(i.max(j) * n + i.min(j)) + if i == j { 2.0 * n as f64 } else { 0.0 }
}

fn general(n: usize) -> impl Fn(usize, usize) -> f64 {
    move |i, j| number(i * n + j)
}

/// One call of a kernel on an array of its own.
fn ours<T: bytemuck::Pod>(
    kernel: impl Kernel + 'static,
    input: &[T],
    threads: usize,
) -> impl FnMut() {
    let call = KernelCall::new(kernel);
    let input = PoolBuffer::from_bytes(bytemuck::cast_slice(input)).expect("memory");
    let outputs = call.signature().outputs.iter();
    let mut outputs: Vec<PoolBuffer> = outputs
        .map(|&bytes| PoolBuffer::new(bytes).expect("memory"))
        .collect();
    move || {
        let context = Context::new(ThreadPool::global(), threads);
        let mut outputs: Vec<&mut [u8]> = outputs.iter_mut().map(PoolBuffer::bytes_mut).collect();
        call.call(&[input.bytes()], &mut outputs, &context)
            .expect("no error");
    }
}

fn compare(options: &Options, name: &str, mut ours: impl FnMut(), mut theirs: impl FnMut()) {
    if !options.prefixes.is_empty()
        && !options
            .prefixes
            .iter()
            .any(|prefix| name.starts_with(prefix.as_str()))
    {
        return;
    }
    let mut times = [Vec::new(), Vec::new()];
    let mut time = |which: usize, run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        times[which].push(start.elapsed().as_secs_f64() * 1e6);
    };
    (ours(), theirs());
    let start = Instant::now();
    for _ in 0..options.rounds {
        time(0, &mut ours);
        time(1, &mut theirs);
        if start.elapsed().as_secs_f64() > 4.0 {
            break;
        }
    }
    let [ours, theirs] = times.map(|mut times| {
        times.sort_by(f64::total_cmp);
        (times[0], times[times.len() / 2])
    });
    println!(
        "{name:<18} {:>10.1} {:>10.1}   {:>10.1} {:>10.1}   {:>6.2} {:>6.2}",
        ours.0,
        ours.1,
        theirs.0,
        theirs.1,
        theirs.0 / ours.0,
        theirs.1 / ours.1
    );
}

macro_rules! decompositions {
    ($options:expr, $t:ty, $name:literal, $sizes:expr) => {
        for n in $sizes {
            let threads = $options.threads;
            let name = |what: &str| format!("{what}_{}_{n}", $name);
            let dense = |f: &dyn Fn(usize, usize) -> f64| -> Vec<$t> {
                (0..n * n).map(|i| f(i / n, i % n) as $t).collect()
            };
            let (definite, any) = (dense(&symmetric(n)), dense(&general(n)));
            let d = Mat::<$t>::from_fn(n, n, |i, j| definite[i * n + j]);
            let a = Mat::<$t>::from_fn(n, n, |i, j| any[i * n + j]);
            compare(
                $options,
                &name("lu"),
                ours(Lu::<$t>::new(1, n, n), &any, threads),
                || {
                    std::hint::black_box(a.partial_piv_lu());
                },
            );
            compare(
                $options,
                &name("cholesky"),
                ours(Cholesky::<$t>::new(1, n), &definite, threads),
                || {
                    std::hint::black_box(d.llt(Side::Lower).expect("a positive definite matrix"));
                },
            );
            compare(
                $options,
                &name("qr"),
                ours(Qr::<$t>::new(1, n, n, false, false), &any, threads),
                || {
                    let factors = a.qr();
                    std::hint::black_box((factors.compute_thin_Q(), factors.thin_R().to_owned()));
                },
            );
            compare(
                $options,
                &name("eigh"),
                ours(Eigh::<$t>::new(1, n, true), &definite, threads),
                || {
                    std::hint::black_box(d.self_adjoint_eigen(Side::Lower).expect("convergence"));
                },
            );
            compare(
                $options,
                &name("svd"),
                ours(Svd::<$t>::new(1, n, n, false, true), &any, threads),
                || {
                    std::hint::black_box(a.thin_svd().expect("convergence"));
                },
            );
            if n <= 256 {
                compare(
                    $options,
                    &name("eig"),
                    ours(eig::<$t>(1, n, false, true), &any, threads),
                    || {
                        std::hint::black_box(a.eigen().expect("convergence"));
                    },
                );
            }
        }
    };
}

fn transforms(options: &Options) {
    for n in [1000, 1024, 4096, 65_536, 99_991, 100_000, 1 << 20] {
        let data: Vec<f32> = (0..n).map(|i| number(i) as f32).collect();
        let plan = RealFftPlanner::<f32>::new().plan_fft_forward(n);
        let (mut input, mut output) = (plan.make_input_vec(), plan.make_output_vec());
        let kernel = Fft::<f32>::new(FftKind::RealForward, &[n], &[n]);
        compare(
            options,
            &format!("rfft_f32_{n}"),
            ours(kernel, &data, options.threads),
            || {
                // It overwrites its input.
                input.copy_from_slice(&data);
                plan.process(&mut input, &mut output)
                    .expect("lengths that fit");
            },
        );
    }
}

fn main() {
    let mut options = Options {
        threads: 1,
        rounds: 1000,
        prefixes: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || {
            arguments
                .next()
                .and_then(|text| text.parse().ok())
                .expect("a number")
        };
        match argument.as_str() {
            "--threads" => options.threads = value(),
            "--rounds" => options.rounds = value(),
            _ => options.prefixes.push(argument),
        }
    }
    faer::set_global_parallelism(if options.threads > 1 {
        Par::rayon(options.threads)
    } else {
        Par::Seq
    });
    println!(
        "{:<18} {:>21}   {:>21}   theirs/ours",
        "case", "ours", "theirs, in µs"
    );
    decompositions!(&options, f32, "f32", [32, 64, 128, 256, 512, 1024]);
    decompositions!(&options, f64, "f64", [32, 128, 512]);
    transforms(&options);
}
