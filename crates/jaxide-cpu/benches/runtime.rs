//! Times runtime kernels: `cargo bench --bench runtime -- [--seconds S] [--threads N] [PREFIX
//! ...]`.
//!
//! Prints one line per case: name, minimum and median in microseconds. `against_jax.py` beside this
//! file runs the same cases in JAX alternately and prints the ratios.

use std::time::{Duration, Instant};

use bytemuck::Pod;
use jaxide_core::DType;
use jaxide_core::eval::numerics::linalg::TriangularSolve as SolveOptions;
use jaxide_core::eval::numerics::random::{BitGenerator, Prng};
use jaxide_cpu::runtime::cumulative::{Cumulative, CumulativeOp};
use jaxide_cpu::runtime::fft::{Fft, FftKind};
use jaxide_cpu::runtime::linalg::{Cholesky, Lu, Qr, TriangularSolve};
use jaxide_cpu::runtime::matmul::{DotDimensions, DotGeneral};
use jaxide_cpu::runtime::random::{RandomBits, RngBitGenerator};
use jaxide_cpu::runtime::sort::{Sort, TopK};
use jaxide_cpu::runtime::transpose::CopyView;
use jaxide_cpu::runtime::{Context, Kernel, KernelCall, PoolBuffer, ThreadPool, View};

struct Bench {
    seconds: f64,
    threads: usize,
    prefixes: Vec<String>,
}

impl Bench {
    /// Times a kernel on these inputs; the outputs are taken from the pool anew for every call.
    fn kernel(&self, name: &str, kernel: impl Kernel + 'static, inputs: &[PoolBuffer]) {
        if !self.prefixes.is_empty() && !self.prefixes.iter().any(|p| name.starts_with(p)) {
            return;
        }
        let call = KernelCall::new(kernel);
        let inputs: Vec<&[u8]> = inputs.iter().map(PoolBuffer::bytes).collect();
        let run = || {
            let context = Context::new(ThreadPool::global(), self.threads);
            let sizes = call.signature().outputs.iter();
            let mut outputs: Vec<PoolBuffer> = sizes
                .map(|&len| PoolBuffer::new(len).expect("memory"))
                .collect();
            let mut outputs: Vec<&mut [u8]> =
                outputs.iter_mut().map(PoolBuffer::bytes_mut).collect();
            call.call(&inputs, &mut outputs, &context)
                .expect("no error");
        };
        run();
        let start = Instant::now();
        run();
        let repeats = (50e-6 / start.elapsed().as_secs_f64().max(1e-8)).clamp(1.0, 1000.0) as usize;
        let (start, mut times) = (Instant::now(), Vec::new());
        while start.elapsed() < Duration::from_secs_f64(self.seconds) || times.len() < 5 {
            let start = Instant::now();
            (0..repeats).for_each(|_| run());
            times.push(start.elapsed().as_secs_f64() * 1e6 / repeats as f64);
        }
        times.sort_by(f64::total_cmp);
        println!("{name} {:.2} {:.2}", times[0], times[times.len() / 2]);
    }
}

/// A buffer of elements computed from pseudo-random numbers in [-1, 1).
fn random<T: Pod>(count: usize, element: impl Fn(f64) -> T) -> PoolBuffer {
    let mut buffer = PoolBuffer::for_elements::<T>(count).expect("memory");
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    for x in buffer.as_mut_slice::<T>() {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        *x = element((state >> 11) as f64 / (1u64 << 52) as f64 - 1.0);
    }
    buffer
}

fn f32s(count: usize) -> PoolBuffer {
    random(count, |x| x as f32)
}

fn main() {
    let mut bench = Bench {
        seconds: 0.3,
        threads: ThreadPool::global().threads(),
        prefixes: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut number = || {
            arguments
                .next()
                .and_then(|text| text.parse::<f64>().ok())
                .expect("a number follows")
        };
        match argument.as_str() {
            "--seconds" => bench.seconds = number(),
            "--threads" => bench.threads = number() as usize,
            "--bench" => {}
            _ => bench.prefixes.push(argument),
        }
    }
    matmul(&bench);
    transpose(&bench);
    sort(&bench);
    fft(&bench);
    random_bits(&bench);
    cumulative(&bench);
    linalg(&bench);
}

fn matmul(bench: &Bench) {
    let contract = |left: usize, right: usize| DotDimensions {
        lhs_contracting: vec![left],
        rhs_contracting: vec![right],
        ..Default::default()
    };
    for n in [16, 32, 64, 100, 128, 256, 512, 1024, 2048] {
        let view = View::dense(&[n, n]);
        let inputs = [f32s(n * n), f32s(n * n)];
        bench.kernel(
            &format!("matmul_{n}"),
            DotGeneral::<f32>::new(&view, &view, &contract(1, 0)),
            &inputs,
        );
        if n == 256 || n == 1024 {
            bench.kernel(
                &format!("matmul_tn_{n}"),
                DotGeneral::<f32>::new(&view, &view, &contract(0, 0)),
                &inputs,
            );
            bench.kernel(
                &format!("matmul_nt_{n}"),
                DotGeneral::<f32>::new(&view, &view, &contract(1, 1)),
                &inputs,
            );
            let inputs = [random(n * n, |x| x), random(n * n, |x| x)];
            bench.kernel(
                &format!("f64_matmul_{n}"),
                DotGeneral::<f64>::new(&view, &view, &contract(1, 0)),
                &inputs,
            );
            let complex = |x: f64| num_complex::Complex::new(x as f32, 0.5);
            let inputs = [random(n * n, complex), random(n * n, complex)];
            let kernel =
                DotGeneral::<num_complex::Complex<f32>>::new(&view, &view, &contract(1, 0));
            bench.kernel(&format!("c64_matmul_{n}"), kernel, &inputs);
        }
    }
    let (big, vector) = (View::dense(&[4096, 4096]), View::dense(&[4096]));
    bench.kernel(
        "matvec_4096",
        DotGeneral::<f32>::new(&big, &vector, &contract(1, 0)),
        &[f32s(1 << 24), f32s(4096)],
    );
    bench.kernel(
        "vecmat_4096",
        DotGeneral::<f32>::new(&vector, &big, &contract(0, 0)),
        &[f32s(4096), f32s(1 << 24)],
    );
    for (m, k, n) in [
        (1, 128, 512),
        (32, 128, 512),
        (128, 784, 512),
        (784, 128, 512),
        (32, 10_000, 16),
    ] {
        let kernel = DotGeneral::<f32>::new(
            &View::dense(&[m, k]),
            &View::dense(&[k, n]),
            &contract(1, 0),
        );
        bench.kernel(
            &format!("matmul_{m}x{k}x{n}"),
            kernel,
            &[f32s(m * k), f32s(k * n)],
        );
    }
    let batched = DotDimensions {
        lhs_contracting: vec![2],
        rhs_contracting: vec![1],
        lhs_batch: vec![0],
        rhs_batch: vec![0],
    };
    for (b, n) in [(64, 64), (10_000, 3), (1000, 8)] {
        let view = View::dense(&[b, n, n]);
        let inputs = [f32s(b * n * n), f32s(b * n * n)];
        bench.kernel(
            &format!("bmm_{b}x{n}"),
            DotGeneral::<f32>::new(&view, &view, &batched),
            &inputs,
        );
    }
}

fn transpose(bench: &Bench) {
    bench.kernel(
        "transpose_2048",
        CopyView::transpose(&[2048, 2048], &[1, 0], 4),
        &[f32s(1 << 22)],
    );
    bench.kernel(
        "transpose_021_64x256x256",
        CopyView::transpose(&[64, 256, 256], &[0, 2, 1], 4),
        &[f32s(1 << 22)],
    );
    bench.kernel(
        "transpose_1032_16x64x64x64",
        CopyView::transpose(&[16, 64, 64, 64], &[0, 2, 1, 3], 4),
        &[f32s(1 << 22)],
    );
    bench.kernel(
        "transpose_bytes_2048",
        CopyView::transpose(&[2048, 2048], &[1, 0], 1),
        &[random(1 << 22, |x| x as i8)],
    );
}

fn sort(bench: &Bench) {
    let make = |shape: &[usize], axis, dtypes: &[DType]| {
        Sort::new(shape, axis, dtypes, 1).expect("types with an order")
    };
    let positions = |n: usize| {
        let mut buffer = PoolBuffer::for_elements::<i32>(n).expect("memory");
        buffer
            .as_mut_slice::<i32>()
            .iter_mut()
            .zip(0..)
            .for_each(|(x, i)| *x = i);
        buffer
    };
    for n in [100, 1000, 10_000, 1_000_000] {
        bench.kernel(
            &format!("sort_{n}"),
            make(&[n], 0, &[DType::F32]),
            &[f32s(n)],
        );
        bench.kernel(
            &format!("argsort_{n}"),
            make(&[n], 0, &[DType::F32, DType::I32]),
            &[f32s(n), positions(n)],
        );
    }
    bench.kernel(
        "sort_f64_1000000",
        make(&[1_000_000], 0, &[DType::F64]),
        &[random(1_000_000, |x| x)],
    );
    bench.kernel(
        "sort_rows_1024",
        make(&[1024, 1024], 1, &[DType::F32]),
        &[f32s(1 << 20)],
    );
    bench.kernel(
        "sort_columns_1024",
        make(&[1024, 1024], 0, &[DType::F32]),
        &[f32s(1 << 20)],
    );
    for k in [10, 10_000] {
        let kernel = TopK::new(&[1_000_000], 0, DType::F32, k).expect("a type with an order");
        bench.kernel(&format!("top_k_{k}"), kernel, &[f32s(1_000_000)]);
    }
    let kernel = TopK::new(&[1024, 1000], 1, DType::F32, 5).expect("a type with an order");
    bench.kernel("top_k_rows", kernel, &[f32s(1_024_000)]);
}

fn fft(bench: &Bench) {
    let complex = |count: usize| {
        random(count, |x| {
            num_complex::Complex::new(x as f32, 0.5 - x as f32)
        })
    };
    for n in [1000, 1024, 65_536, 1 << 20] {
        bench.kernel(
            &format!("fft_{n}"),
            Fft::<f32>::new(FftKind::Forward, &[n], &[n]),
            &[complex(n)],
        );
        bench.kernel(
            &format!("rfft_{n}"),
            Fft::<f32>::new(FftKind::RealForward, &[n], &[n]),
            &[f32s(n)],
        );
    }
    bench.kernel(
        "fft_rows_1024",
        Fft::<f32>::new(FftKind::Forward, &[1024, 1024], &[1024]),
        &[complex(1 << 20)],
    );
    bench.kernel(
        "fft2_1024",
        Fft::<f32>::new(FftKind::Forward, &[1024, 1024], &[1024, 1024]),
        &[complex(1 << 20)],
    );
}

fn random_bits(bench: &Bench) {
    let words = |count| random(count, |x| (x * 1e9) as i32 as u32);
    for width in [8, 32, 64] {
        let kernel = RandomBits::new(Prng::Threefry, 1, 1_000_000, width);
        bench.kernel(&format!("bits_{width}_1000000"), kernel, &[words(2)]);
    }
    bench.kernel(
        "bits_32_keys_10000x3",
        RandomBits::new(Prng::Threefry, 10_000, 3, 32),
        &[words(20_000)],
    );
    let kernel = RngBitGenerator::new(BitGenerator::Philox, 32, &[1_000_000]);
    bench.kernel("rng_bit_generator_1000000", kernel, &[words(4)]);
}

fn cumulative(bench: &Bench) {
    let make = |op, shape: &[usize], axis| {
        Cumulative::new(op, DType::F32, shape, axis, false).expect("defined")
    };
    for n in [1000, 100_000, 1_000_000] {
        bench.kernel(
            &format!("cumsum_{n}"),
            make(CumulativeOp::Sum, &[n], 0),
            &[f32s(n)],
        );
    }
    bench.kernel(
        "cummax_1000000",
        make(CumulativeOp::Max, &[1_000_000], 0),
        &[f32s(1_000_000)],
    );
    bench.kernel(
        "cumlogsumexp_100000",
        make(CumulativeOp::LogSumExp, &[100_000], 0),
        &[f32s(100_000)],
    );
    for axis in [0, 1] {
        bench.kernel(
            &format!("cumsum_axis{axis}_1024"),
            make(CumulativeOp::Sum, &[1024, 1024], axis),
            &[f32s(1 << 20)],
        );
    }
}

fn linalg(bench: &Bench) {
    for n in [64, 512, 1024] {
        // Diagonally dominant, so that every factorisation exists.
        let mut a = f32s(n * n);
        (0..n).for_each(|i| a.as_mut_slice::<f32>()[i * n + i] += n as f32);
        let a = std::slice::from_ref(&a);
        bench.kernel(&format!("cholesky_{n}"), Cholesky::<f32>::new(1, n), a);
        bench.kernel(&format!("lu_{n}"), Lu::<f32>::new(1, n, n), a);
        bench.kernel(&format!("qr_{n}"), Qr::<f32>::new(1, n, n, false, false), a);
    }
    let options = SolveOptions {
        left_side: true,
        lower: true,
        ..Default::default()
    };
    for columns in [1, 512] {
        let kernel = TriangularSolve::<f32>::new(1, 512, columns, options);
        let mut a = f32s(512 * 512);
        (0..512).for_each(|i| a.as_mut_slice::<f32>()[i * 513] += 512.0);
        bench.kernel(
            &format!("triangular_solve_512x{columns}"),
            kernel,
            &[a, f32s(512 * columns)],
        );
    }
    let mut small = f32s(10_000 * 9);
    small
        .as_mut_slice::<f32>()
        .as_chunks_mut::<9>()
        .0
        .iter_mut()
        .for_each(|a| [0, 4, 8].into_iter().for_each(|i| a[i] += 3.0));
    bench.kernel(
        "cholesky_10000x3",
        Cholesky::<f32>::new(10_000, 3),
        &[small],
    );
}
