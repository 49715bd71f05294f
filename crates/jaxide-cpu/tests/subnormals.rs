//! Subnormal numbers: kept unless a program is told to take them for zero, on each instruction set and number of threads.

use half::f16;
use jaxide_core::{Tensor, parse};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// Enough elements for two threads.
const MANY: usize = 300_000;

fn results(text: &str, args: &[Tensor], isa: Isa, threads: usize, flush: bool) -> Vec<Tensor> {
    let options = CompileOptions {
        isa: Some(isa),
        threads: Some(threads),
        flush_subnormals: flush,
        ..CompileOptions::default()
    };
    let program = compile(&parse(text).unwrap(), &options).unwrap();
    program.run(args).unwrap()
}

/// On each instruction set, on one and two threads.
fn everywhere(run: impl Fn(Isa, usize)) {
    for isa in Isa::available() {
        run(isa, 1);
        run(isa, 2);
    }
}

/// What arithmetic sees, and gives, when it takes subnormal numbers for zero.
fn flushed(x: f32) -> f32 {
    if x.is_subnormal() {
        0f32.copysign(x)
    } else {
        x
    }
}

/// Numbers of all sizes next to the smallest, some of them subnormal.
fn small(n: usize, seed: u32) -> Vec<f32> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 8
    };
    (0..n)
        .map(|_| f32::from_bits((next() % 0x0300_0000) | (next() & 1) << 31))
        .collect()
}

/// Whether the machine takes subnormal numbers for zero when it is asked to.
const CAN: bool = cfg!(any(target_arch = "x86_64", target_arch = "aarch64"));

#[test]
fn arithmetic_keeps_them_or_takes_them_for_zero() {
    let text = format!(
        "{{ lambda ; a:f32[{MANY}] b:f32[{MANY}]. let c:f32[{MANY}] = add a b; d:f32[{MANY}] = mul a 0.25:f32[]
         e:f32[{MANY}] = sqrt b; f:f32[{MANY}] = neg a in (c, d, e, f) }}"
    );
    let (a, b) = (small(MANY, 1), small(MANY, 2));
    let args = [&a, &b].map(|x| Tensor::from_vec(&[MANY], x.clone()).unwrap());
    everywhere(|isa, threads| {
        for flush in [false, true] {
            let flushing = |x: f32| if flush && CAN { flushed(x) } else { x };
            let got = results(&text, &args, isa, threads, flush);
            let got: Vec<Vec<f32>> = got.iter().map(|x| x.to_vec().unwrap()).collect();
            for k in 0..MANY {
                let (x, y) = (flushing(a[k]), flushing(b[k]));
                let root = flushing(y.sqrt());
                // What only moves numbers keeps them.
                let want = [flushing(x + y), flushing(x * 0.25), root, -a[k]];
                for (got, want) in got.iter().zip(want) {
                    let same =
                        got[k].to_bits() == want.to_bits() || (got[k].is_nan() && want.is_nan());
                    assert!(
                        same,
                        "{isa:?}, {threads} threads: {} for {want} of {:e} and {:e}",
                        got[k], a[k], b[k]
                    );
                }
            }
        }
        // The thread computes as before.
        assert!((std::hint::black_box(f32::MIN_POSITIVE) * 0.5).is_subnormal());
    });
}

#[test]
fn products_of_matrices_take_them_for_zero_too() {
    let text = "{ lambda ; a:f32[100,100] b:f32[100,100]. let
        c:f32[100,100] = dot_general[dimension_numbers=(([1], [0]), ([], [])) out_sharding=None precision=None preferred_element_type=float32] a b
      in (c,) }";
    let arg = |x: f32| Tensor::from_vec(&[100, 100], vec![x; 10_000]).unwrap();
    let args = [arg(1e-25), arg(1e-20)];
    everywhere(|isa, threads| {
        let sum = |flush| {
            results(text, &args, isa, threads, flush)[0]
                .to_vec::<f32>()
                .unwrap()
        };
        assert!(sum(false).iter().all(|&x| x > 0.0), "{isa:?}");
        assert!(!CAN || sum(true).iter().all(|&x| x == 0.0), "{isa:?}");
    });
}

#[test]
fn conversions_of_small_floats_do_not_depend_on_it() {
    // But those of the powers of two in eight bits, whose least is subnormal in an f32.
    for (name, count) in [
        ("f16", 65_536usize),
        ("f8_e5m2", 256),
        ("f8_e4m3fn", 256),
        ("f4_e2m1fn", 16),
    ] {
        let text = format!(
            "{{ lambda ; a:{name}[{count}]. let
                b:f64[{count}] = convert_element_type[new_dtype=float64 sharding=None weak_type=False] a
                c:{name}[{count}] = convert_element_type[new_dtype={} sharding=None weak_type=False] b
              in (b, c) }}",
            match name {
                "f16" => "float16",
                "f8_e5m2" => "float8_e5m2",
                "f8_e4m3fn" => "float8_e4m3fn",
                _ => "float4_e2m1fn",
            }
        );
        let jaxpr = parse(&text).unwrap();
        let bytes: Vec<u8> = if name == "f16" {
            (0..=u16::MAX).flat_map(u16::to_le_bytes).collect()
        } else {
            (0..count).map(|k| u8::try_from(k).unwrap()).collect()
        };
        let arg = Tensor::from_bytes(&[count], jaxpr.jaxpr.in_avals()[0].dtype, &bytes).unwrap();
        everywhere(|isa, threads| {
            let kept = results(&text, std::slice::from_ref(&arg), isa, threads, false);
            let other = results(&text, std::slice::from_ref(&arg), isa, threads, true);
            assert_eq!(kept, other, "{name} on {isa:?}");
        });
    }
    // What the smallest is, as a check that there was something to lose.
    let text = "{ lambda ; a:f16[]. let b:f32[] = convert_element_type[new_dtype=float32 sharding=None weak_type=False] a in (b,) }";
    let arg = Tensor::scalar(f16::from_bits(1));
    everywhere(|isa, threads| {
        let got = results(text, std::slice::from_ref(&arg), isa, threads, true);
        assert_eq!(got, [Tensor::scalar(2f32.powi(-24))], "{isa:?}");
    });
}

#[test]
fn exponentials_that_vanish_are_right() {
    // Beside a correctly rounded function: from 2^-126 down to the last number and beyond.
    let x: Vec<f32> = (0..20_000u16)
        .map(|k| -80.0 - 0.0015 * f32::from(k))
        .chain([-1e9, f32::NEG_INFINITY, f32::NAN])
        .collect();
    let n = x.len();
    let text = format!("{{ lambda ; a:f32[{n}]. let b:f32[{n}] = exp[accuracy=None] a in (b,) }}");
    let arg = Tensor::from_vec(&[n], x.clone()).unwrap();
    everywhere(|isa, threads| {
        let got = results(&text, std::slice::from_ref(&arg), isa, threads, false)[0]
            .to_vec::<f32>()
            .unwrap();
        for (x, got) in x.iter().zip(got) {
            let want = f64::from(*x).exp();
            let unit = f64::from(f32::from_bits(1)).max(want * f64::from(f32::EPSILON));
            let near = (f64::from(got) - want).abs() < unit;
            assert!(
                near || (got.is_nan() && want.is_nan()),
                "{isa:?}: {got:e} for {want:e}"
            );
        }
    });
}
