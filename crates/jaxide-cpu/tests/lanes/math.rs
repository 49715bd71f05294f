//! The functions of `lanes::math` against correctly rounded ones.

use super::machine::{Args, Region, Rng, check, same};
use half::{bf16, f16};
use jaxide_core::eval::numerics::special;
use jaxide_cpu::codegen::lanes::{Isa, compile};
use jaxide_cpu::lanes::{Access, Addr, Body, Builder, MemTy, Value, math};

type Unary = fn(&mut Builder, Value) -> Value;

/// A function of one argument, what it should be, and how far it may be off.
struct Case {
    name: &'static str,
    build: Unary,
    /// In double precision, the reference for single precision too.
    exact: fn(f64) -> f64,
    /// Where arguments are drawn from besides all bit patterns.
    range: (f64, f64),
    /// Largest error in units in the last place, in single and double precision; the latter counts from the correctly rounded result.
    limits: (f64, f64),
}

const fn case(
    name: &'static str,
    build: Unary,
    exact: fn(f64) -> f64,
    range: (f64, f64),
    limits: (f64, f64),
) -> Case {
    Case {
        name,
        build,
        exact,
        range,
        limits,
    }
}

const CASES: &[Case] = &[
    case("exp", math::exp, core_math::exp, (-104.0, 89.0), (1.0, 1.0)),
    case(
        "exp2",
        math::exp2,
        core_math::exp2,
        (-150.0, 128.0),
        (1.0, 1.0),
    ),
    case(
        "expm1",
        math::expm1,
        core_math::expm1,
        (-18.0, 20.0),
        (1.0, 1.0),
    ),
    case(
        "logistic",
        math::logistic,
        logistic,
        (-20.0, 20.0),
        (1.0, 2.0),
    ),
    case(
        "sinh",
        math::sinh,
        core_math::sinh,
        (-10.0, 10.0),
        (1.0, 1.0),
    ),
    case(
        "cosh",
        math::cosh,
        core_math::cosh,
        (-10.0, 10.0),
        (1.0, 1.0),
    ),
    case(
        "tanh",
        math::tanh,
        core_math::tanh,
        (-10.0, 10.0),
        (1.0, 1.0),
    ),
    case("log", math::log, core_math::log, (0.0, 3.0), (1.0, 1.0)),
    case("log2", math::log2, core_math::log2, (0.0, 3.0), (1.0, 1.0)),
    case(
        "log1p",
        math::log1p,
        core_math::log1p,
        (-1.0, 3.0),
        (1.0, 1.0),
    ),
    case(
        "asinh",
        math::asinh,
        core_math::asinh,
        (-5.0, 5.0),
        (1.5, 1.0),
    ),
    case(
        "acosh",
        math::acosh,
        core_math::acosh,
        (1.0, 5.0),
        (1.5, 1.0),
    ),
    case(
        "atanh",
        math::atanh,
        core_math::atanh,
        (-1.0, 1.0),
        (1.0, 1.0),
    ),
    case(
        "sin",
        math::sin,
        core_math::sin,
        (-100.0, 100.0),
        (1.0, 1.0),
    ),
    case(
        "cos",
        math::cos,
        core_math::cos,
        (-100.0, 100.0),
        (1.0, 1.0),
    ),
    case(
        "tan",
        math::tan,
        core_math::tan,
        (-100.0, 100.0),
        (1.0, 1.0),
    ),
    case("asin", math::asin, core_math::asin, (-1.0, 1.0), (1.0, 1.0)),
    case("acos", math::acos, core_math::acos, (-1.0, 1.0), (1.0, 1.0)),
    case("atan", math::atan, core_math::atan, (-5.0, 5.0), (1.0, 1.0)),
    case("erf", math::erf, core_math::erf, (-5.0, 5.0), (1.5, 2.0)),
    case(
        "erfc",
        math::erfc,
        core_math::erfc,
        (-5.0, 11.0),
        (2.0, 2.0),
    ),
    case("cbrt", math::cbrt, core_math::cbrt, (-5.0, 5.0), (1.0, 1.0)),
    case(
        "rsqrt",
        math::rsqrt,
        core_math::rsqrt,
        (0.0, 5.0),
        (1.0, 1.0),
    ),
];

fn logistic(x: f64) -> f64 {
    let e = core_math::exp(-x.abs());
    if x < 0.0 {
        e / (1.0 + e)
    } else {
        1.0 / (1.0 + e)
    }
}

pub(super) fn body(
    ty: MemTy,
    arguments: usize,
    f: impl FnOnce(&mut Builder, &[Value]) -> Value,
) -> Body {
    let mut b = Builder::new("function");
    let pointers: Vec<_> = (0..arguments)
        .map(|_| b.pointer(Access::ReadOnly))
        .collect();
    let values: Vec<Value> = pointers
        .iter()
        .map(|&p| b.load(ty, Addr::contiguous(p, ty)))
        .collect();
    let r = f(&mut b, &values);
    let out = b.pointer(Access::ReadWrite);
    b.store(ty, Addr::contiguous(out, ty), r);
    b.finish().unwrap()
}

/// The results of a body on the arguments, as bits, the same for each instruction set.
pub(super) fn run(body: &Body, ty: MemTy, arguments: &[&[u64]]) -> Vec<u64> {
    let results = Isa::available()
        .into_iter()
        .map(|isa| (isa, run_on(isa, body, ty, arguments)));
    results
        .reduce(|(first, want), (isa, got)| {
            for (k, (&got, &want)) in got.iter().zip(&want).enumerate() {
                let nan = |bits: u64| match ty {
                    MemTy::F32 => f32::from_bits(bits as u32).is_nan(),
                    _ => f64::from_bits(bits).is_nan(),
                };
                assert!(
                    got == want || (nan(got) && nan(want)),
                    "element {k}: {got:x} by {}, {want:x} by {}",
                    isa.name(),
                    first.name()
                );
            }
            (isa, got)
        })
        .map(|(_, results)| results)
        .unwrap_or_default()
}

fn run_on(isa: Isa, body: &Body, ty: MemTy, arguments: &[&[u64]]) -> Vec<u64> {
    let compiled = compile(body, isa).unwrap();
    let n = arguments[0].len();
    let mut regions: Vec<Region> = arguments
        .iter()
        .map(|a| Region::new(ty, a.iter().copied()))
        .collect();
    regions.push(Region::zeros(ty, n));
    let pointers: Vec<*mut u8> = regions.iter_mut().map(|r| r.bytes.as_mut_ptr()).collect();
    // SAFETY: the body reads and writes n elements of each region.
    unsafe { compiled.run(&pointers, &[], 0, n as i64) };
    regions[arguments.len()].elements()
}

/// All bit patterns in equal steps, and as many numbers from a range, evenly and towards zero.
fn arguments(ty: MemTy, count: usize, (low, high): (f64, f64)) -> Vec<u64> {
    let mut rng = Rng(77);
    let mut bits = Vec::new();
    let encode = |x: f64| {
        if ty == MemTy::F32 {
            u64::from((x as f32).to_bits())
        } else {
            x.to_bits()
        }
    };
    let width = 8 * ty.size() as u32;
    let step = (u64::MAX >> (64 - width)) / count as u64;
    for k in 0..count as u64 {
        bits.push(k * step + rng.next() % step);
        let unit = rng.next() as f64 / 2f64.powi(64);
        bits.push(encode(low + (high - low) * unit));
        bits.push(encode(
            (if k % 2 == 0 { low } else { high }) * 2f64.powf(-30.0 * unit),
        ));
    }
    let corners = [
        0.0,
        1.0,
        0.5,
        2.0,
        1e-300,
        1e300,
        f64::INFINITY,
        f64::NAN,
        1e-40,
        3e38,
        1e-310,
        1e5,
        3e5,
        1e10,
        710.0,
        88.8,
    ];
    bits.extend(corners.iter().flat_map(|&c| [encode(c), encode(-c)]));
    bits
}

/// The error of `got` in units in the last place of `exact`.
fn error(ty: MemTy, got: u64, exact: f64) -> f64 {
    if ty == MemTy::F64 {
        let got = f64::from_bits(got);
        return if got == exact || got.is_nan() && exact.is_nan() {
            0.0
        } else {
            ordered(got).abs_diff(ordered(exact)) as f64
        };
    }
    let got = f32::from_bits(got as u32);
    let rounded = exact as f32;
    if got == rounded || got.is_nan() && exact.is_nan() {
        return 0.0;
    }
    if !got.is_finite() || !rounded.is_finite() {
        // Overflow by rounding only.
        return if got.is_nan() || exact.is_nan() {
            f64::INFINITY
        } else {
            f64::from(ordered_f32(got).abs_diff(ordered_f32(rounded)))
        };
    }
    let exponent = exact.abs().log2().floor().max(-126.0) as i32;
    (f64::from(got) - exact).abs() / 2f64.powi(exponent - 23)
}

fn ordered(x: f64) -> i64 {
    let bits = x.to_bits() as i64;
    if x.is_nan() {
        i64::MAX
    } else if bits < 0 {
        i64::MIN - bits
    } else {
        bits
    }
}

fn ordered_f32(x: f32) -> i32 {
    let bits = x.to_bits() as i32;
    if bits < 0 { i32::MIN - bits } else { bits }
}

pub(super) fn decode(ty: MemTy, bits: u64) -> f64 {
    if ty == MemTy::F32 {
        f64::from(f32::from_bits(bits as u32))
    } else {
        f64::from_bits(bits)
    }
}

/// How many arguments of each kind; `JAXIDE_MATH_SAMPLES` asks for more.
fn samples() -> usize {
    std::env::var("JAXIDE_MATH_SAMPLES")
        .ok()
        .and_then(|n| n.parse().ok())
        .unwrap_or(20_000)
}

#[test]
fn errors_are_within_their_limits() {
    let mut report = String::new();
    let mut failed = false;
    for case in CASES {
        for (ty, limit) in [(MemTy::F32, case.limits.0), (MemTy::F64, case.limits.1)] {
            let range = if ty == MemTy::F64 && case.range.1 > 80.0 && case.range.0 < -100.0 {
                (-745.0, 709.0)
            } else {
                case.range
            };
            let xs = arguments(ty, samples(), range);
            let got = run(&body(ty, 1, |b, v| (case.build)(b, v[0])), ty, &[&xs]);
            let errors = xs
                .iter()
                .zip(&got)
                .map(|(&x, &g)| (error(ty, g, (case.exact)(decode(ty, x))), x, g));
            let worst = errors.max_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
            let (x, g) = (decode(ty, worst.1), decode(ty, worst.2));
            report += &format!(
                "{:9} {ty}: {:.3} at {x:e} ({:#x}): {g:e} for {:e}\n",
                case.name,
                worst.0,
                worst.1,
                (case.exact)(x)
            );
            failed |= worst.0 > limit;
        }
    }
    println!("{report}");
    assert!(!failed, "errors beyond their limits:\n{report}");
}

#[test]
fn signed_zeros_and_exact_values() {
    let odd: &[Unary] = &[
        math::expm1,
        math::sinh,
        math::tanh,
        math::log1p,
        math::asinh,
        math::atanh,
        math::sin,
        math::tan,
        math::asin,
        math::atan,
        math::erf,
        math::erf_inv,
        math::cbrt,
    ];
    for ty in [MemTy::F32, MemTy::F64] {
        let sign = 1u64 << (8 * ty.size() - 1);
        for f in odd {
            assert_eq!(
                run(&body(ty, 1, |b, v| f(b, v[0])), ty, &[&[0, sign]]),
                [0, sign]
            );
        }
        let encode = |x: f64| {
            if ty == MemTy::F32 {
                u64::from((x as f32).to_bits())
            } else {
                x.to_bits()
            }
        };
        let exact: &[(Unary, f64, f64)] = &[
            (math::exp, 0.0, 1.0),
            (math::exp2, 10.0, 1024.0),
            (math::exp2, -3.0, 0.125),
            (math::cos, 0.0, 1.0),
            (math::cos, 1e-4 * f64::EPSILON.sqrt(), 1.0),
            (math::sin, std::f64::consts::FRAC_PI_2, 1.0),
            (math::cosh, 0.0, 1.0),
            (math::log, 1.0, 0.0),
            (math::log2, 8.0, 3.0),
            (math::log2, 0.03125, -5.0),
            (math::acos, 1.0, 0.0),
            (math::acosh, 1.0, 0.0),
            (math::cbrt, 27.0, 3.0),
            (math::cbrt, -0.125, -0.5),
            (math::erf, 10.0, 1.0),
            (math::erfc, -10.0, 2.0),
            (math::tanh, 30.0, 1.0),
            (math::logistic, 0.0, 0.5),
            (math::erf_inv, 1.0, f64::INFINITY),
            (math::lgamma, f64::INFINITY, f64::INFINITY),
            (math::lgamma, -3.0, f64::INFINITY),
            (math::digamma, -2.0, f64::NAN),
            (math::digamma, 0.0, f64::NEG_INFINITY),
        ];
        for (f, x, y) in exact {
            let got = run(&body(ty, 1, |b, v| f(b, v[0])), ty, &[&[encode(*x)]])[0];
            assert!(
                same(ty, got, encode(*y)),
                "{ty} of {x}: {} for {y}",
                decode(ty, got)
            );
        }
    }
}

/// Arguments of two-argument functions: all pairs of corner cases, and random ones.
fn pairs(ty: MemTy, random: impl Fn(&mut Rng) -> (f64, f64)) -> (Vec<u64>, Vec<u64>) {
    let corners = [
        0.0,
        1.0,
        0.5,
        2.0,
        3.0,
        2.5,
        1e-40,
        1e-310,
        7.0,
        1e5,
        16777217.0,
        1e30,
        f64::INFINITY,
        f64::NAN,
        1e-5,
        3.4e38,
        1e300,
    ];
    let signed: Vec<f64> = corners.iter().flat_map(|&c| [c, -c]).collect();
    let mut rng = Rng(3);
    let all = signed
        .iter()
        .flat_map(|&x| signed.iter().map(move |&y| (x, y)));
    let all: Vec<(f64, f64)> = all
        .chain((0..samples()).map(|_| random(&mut rng)))
        .collect();
    let encode = |x: f64| {
        if ty == MemTy::F32 {
            u64::from((x as f32).to_bits())
        } else {
            x.to_bits()
        }
    };
    all.into_iter().map(|(x, y)| (encode(x), encode(y))).unzip()
}

fn check_binary(
    name: &str,
    f: fn(&mut Builder, Value, Value) -> Value,
    exact: fn(f64, f64) -> f64,
    limits: (f64, f64),
    random: impl Fn(&mut Rng) -> (f64, f64),
) {
    for (ty, limit) in [(MemTy::F32, limits.0), (MemTy::F64, limits.1)] {
        let (xs, ys) = pairs(ty, &random);
        let got = run(&body(ty, 2, |b, v| f(b, v[0], v[1])), ty, &[&xs, &ys]);
        let mut worst = (0.0, 0);
        for (k, &g) in got.iter().enumerate() {
            let e = error(ty, g, exact(decode(ty, xs[k]), decode(ty, ys[k])));
            worst = if e > worst.0 { (e, k) } else { worst };
        }
        let (x, y, g) = (
            decode(ty, xs[worst.1]),
            decode(ty, ys[worst.1]),
            decode(ty, got[worst.1]),
        );
        println!(
            "{name:9} {ty}: {:.3} at {x:e}, {y:e}: {g:e} for {:e}",
            worst.0,
            exact(x, y)
        );
        assert!(
            worst.0 <= limit,
            "{name} of {ty} {x:e}, {y:e}: {g:e} for {:e}, {} units off",
            exact(x, y),
            worst.0
        );
    }
}

pub(super) fn unit(rng: &mut Rng) -> f64 {
    rng.next() as f64 / 2f64.powi(64)
}

#[test]
fn pow() {
    check_binary("pow", math::pow, core_math::pow, (2.0, 2.0), |r| {
        (unit(r) * 4.0, unit(r) * 40.0 - 20.0)
    });
    check_binary("pow", math::pow, core_math::pow, (2.0, 2.0), |r| {
        (2f64.powf(unit(r) * 200.0 - 100.0), unit(r) * 2.0 - 1.0)
    });
    check_binary("pow", math::pow, core_math::pow, (2.0, 2.0), |r| {
        (unit(r) * 40.0 - 20.0, (unit(r) * 50.0 - 25.0).trunc())
    });
}

#[test]
fn atan2() {
    check_binary("atan2", math::atan2, core_math::atan2, (2.0, 2.0), |r| {
        (unit(r) * 4.0 - 2.0, unit(r) * 4.0 - 2.0)
    });
    check_binary("atan2", math::atan2, core_math::atan2, (2.0, 2.0), |r| {
        (unit(r) * 1e-3 - 5e-4, 2f64.powf(unit(r) * 60.0 - 30.0))
    });
}

#[test]
fn rem_is_exact() {
    check_binary(
        "rem",
        math::rem,
        |x, y| x % y,
        (0.0, 0.0),
        |r| (unit(r) * 4e4 - 2e4, unit(r) * 4.0 - 2.0),
    );
    for ty in [MemTy::F32, MemTy::F64] {
        let mut rng = Rng(1);
        let mask = u64::MAX >> (64 - 8 * ty.size());
        let xs: Vec<u64> = (0..samples()).map(|_| rng.next() & mask).collect();
        let ys: Vec<u64> = (0..samples()).map(|_| rng.next() & mask).collect();
        let got = run(
            &body(ty, 2, |b, v| math::rem(b, v[0], v[1])),
            ty,
            &[&xs, &ys],
        );
        for ((&x, &y), &g) in xs.iter().zip(&ys).zip(&got) {
            let expected = match ty {
                MemTy::F32 => {
                    u64::from((f32::from_bits(x as u32) % f32::from_bits(y as u32)).to_bits())
                }
                _ => (f64::from_bits(x) % f64::from_bits(y)).to_bits(),
            };
            assert!(
                same(ty, g, expected),
                "{ty} {:e} rem {:e}",
                decode(ty, x),
                decode(ty, y)
            );
        }
    }
}

/// Values of JAX's own references, and identities, where no correctly rounded function is at hand.
#[test]
fn inverse_error_function_and_gamma() {
    let close = |f: Unary, xs: &[f64], expected: &dyn Fn(f64) -> f64, tolerance: (f64, f64)| {
        for (ty, tolerance) in [(MemTy::F32, tolerance.0), (MemTy::F64, tolerance.1)] {
            let encode = |x: &f64| {
                if ty == MemTy::F32 {
                    u64::from((*x as f32).to_bits())
                } else {
                    x.to_bits()
                }
            };
            let bits: Vec<u64> = xs.iter().map(encode).collect();
            let got = run(&body(ty, 1, |b, v| f(b, v[0])), ty, &[&bits]);
            for (&x, &g) in bits.iter().zip(&got) {
                let (x, g) = (decode(ty, x), decode(ty, g));
                let e = expected(x);
                assert!(
                    (g - e).abs() <= tolerance * e.abs().max(1.0),
                    "{ty} of {x}: {g} for {e}"
                );
            }
        }
    };
    let inside: Vec<f64> = (-999..1000).map(|k| f64::from(k) / 1000.0).collect();
    // erf(erf_inv(x)) = x, through the slope 2/√π e^(-y²) of erf.
    for (ty, tolerance) in [(MemTy::F32, 1.5e-7), (MemTy::F64, 1e-14)] {
        let encode = |x: &f64| {
            if ty == MemTy::F32 {
                u64::from((*x as f32).to_bits())
            } else {
                x.to_bits()
            }
        };
        let bits: Vec<u64> = inside.iter().map(encode).collect();
        let got = run(&body(ty, 1, |b, v| math::erf_inv(b, v[0])), ty, &[&bits]);
        for (&x, &y) in bits.iter().zip(&got) {
            let (x, y) = (decode(ty, x), decode(ty, y));
            let slope = std::f64::consts::FRAC_2_SQRT_PI * (-y * y).exp();
            assert!(
                (core_math::erf(y) - x).abs() / slope <= tolerance * y.abs().max(1e-3),
                "{ty} erf_inv {x}: {y}"
            );
        }
    }
    let reals: Vec<f64> = (-400..2000).map(|k| f64::from(k) / 40.0 + 0.01).collect();
    close(math::lgamma, &reals, &core_math::lgamma, (4e-7, 1e-14));
    // ψ(x) by recurrence from its asymptotic series.
    let digamma = |x: f64| {
        let (mut x, mut sum) = (x, 0.0);
        while x < 30.0 {
            sum -= 1.0 / x;
            x += 1.0;
        }
        let z = 1.0 / (x * x);
        sum + x.ln()
            - 0.5 / x
            - z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z / 240.0)))
    };
    let reals: Vec<f64> = (-40..400).map(|k| f64::from(k) / 8.0 + 0.03125).collect();
    close(math::digamma, &reals, &digamma, (4e-7, 1e-14));
}

/// All functions, bit for bit the same on the evaluator and every emitter.
#[test]
fn emitters_agree() {
    let rest: &[(&str, Unary)] = &[
        ("lgamma", math::lgamma),
        ("digamma", math::digamma),
        ("erf_inv", math::erf_inv),
    ];
    let all = CASES
        .iter()
        .map(|c| (c.name, c.build))
        .chain(rest.iter().copied());
    for (name, f) in all {
        for ty in [MemTy::F32, MemTy::F64] {
            let xs = arguments(ty, 300, (-20.0, 20.0));
            let body = body(ty, 1, |b, v| f(b, v[0]));
            println!("{name} {ty}");
            check(
                &body,
                &[
                    Region::new(ty, xs.iter().copied()),
                    Region::zeros(ty, xs.len()),
                ],
                &Args::default(),
                0,
                xs.len() as i64,
            );
        }
    }
    for f in [math::pow, math::atan2, math::rem] {
        for ty in [MemTy::F32, MemTy::F64] {
            let (xs, ys) = pairs(ty, |r| (unit(r) * 40.0 - 20.0, unit(r) * 40.0 - 20.0));
            let (xs, ys) = (&xs[..2000], &ys[..2000]);
            let body = body(ty, 2, |b, v| f(b, v[0], v[1]));
            let regions = [
                Region::new(ty, xs.iter().copied()),
                Region::new(ty, ys.iter().copied()),
                Region::zeros(ty, 2000),
            ];
            check(&body, &regions, &Args::default(), 0, 2000);
        }
    }
}

/// Functions that are series or loops, beside the interpreter's, and the same bits on every emitter.
#[test]
fn bessel_functions() {
    for (ty, limit) in [(MemTy::F32, 1.0), (MemTy::F64, 2.0)] {
        bessel_functions_of(ty, limit);
    }
}

fn bessel_functions_of(ty: MemTy, limit: f64) {
    type Exact = fn(f64) -> f64;
    let unary: [(Unary, Exact); 2] = [
        (math::bessel_i0e, special::bessel_i0e),
        (math::bessel_i1e, special::bessel_i1e),
    ];
    for (f, exact) in unary {
        let xs = arguments(ty, samples(), (-30.0, 30.0));
        let body = body(ty, 1, |b, v| f(b, v[0]));
        for (&x, &g) in xs.iter().zip(&run(&body, ty, &[&xs])) {
            let (x, want) = (decode(ty, x), exact(decode(ty, x)));
            assert!(
                error(ty, g, want) <= limit,
                "{x}: {} for {want}",
                decode(ty, g)
            );
        }
        let regions = [
            Region::new(ty, xs[..900].iter().copied()),
            Region::zeros(ty, 900),
        ];
        check(&body, &regions, &Args::default(), 0, 900);
    }
}

/// Quotients and remainders of all integers of 8 bits, and of 16 bits next to what divides them, are those of the machine.
#[test]
fn small_integers() {
    for (ty, bits, signed) in [
        (MemTy::I8, 8, true),
        (MemTy::U8, 8, false),
        (MemTy::I16, 16, true),
        (MemTy::U16, 16, false),
    ] {
        let (low, high) = if signed {
            (-1i64 << (bits - 1), (1i64 << (bits - 1)) - 1)
        } else {
            (0, (1i64 << bits) - 1)
        };
        let mut pairs: Vec<(i64, i64)> = Vec::new();
        if bits == 8 {
            pairs.extend((low..=high).flat_map(|x| (low..=high).map(move |y| (x, y))));
        } else {
            let mut rng = Rng(5);
            let mut next = || low + (rng.next() >> 48) as i64;
            let ends = [low, low + 1, -1, 0, 1, 2, 3, high - 1, high];
            pairs.extend(ends.into_iter().flat_map(|x| ends.map(|y| (x, y))));
            for shift in (0..4000).map(|k| k % 16) {
                let (x, y) = (next(), next() >> shift);
                let multiple = if y == 0 { 0 } else { x / y * y };
                pairs.extend([-1, 0, 1].map(|off| (multiple + off, y)));
            }
            pairs.retain(|&(x, y)| (low..=high).contains(&x) && (low..=high).contains(&y));
        }
        let mut b = Builder::new("small_integers");
        let pointers = [Access::ReadOnly, Access::ReadOnly];
        let [x, y] = pointers.map(|access| b.pointer(access));
        let [x, y] = [x, y].map(|p| b.load(ty, Addr::contiguous(p, ty)));
        let quotient = math::small_quotient(&mut b, bits, signed, x, y);
        let remainder = math::small_remainder(&mut b, bits, signed, x, y);
        for v in [quotient, remainder] {
            let out = b.pointer(Access::ReadWrite);
            b.store(MemTy::I32, Addr::contiguous(out, MemTy::I32), v);
        }
        let regions = [
            Region::new(ty, pairs.iter().map(|p| p.0 as u64)),
            Region::new(ty, pairs.iter().map(|p| p.1 as u64)),
            Region::zeros(MemTy::I32, pairs.len()),
            Region::zeros(MemTy::I32, pairs.len()),
        ];
        let count = pairs.len() as i64;
        let results = check(&b.finish().unwrap(), &regions, &Args::default(), 0, count);
        let (quotients, remainders) = (results[2].elements(), results[3].elements());
        for ((&(x, y), q), r) in pairs.iter().zip(quotients).zip(remainders) {
            let want = if y == 0 { (-1, x) } else { (x / y, x % y) };
            let got = [q, r].map(|bits| i64::from(bits as u32 as i32));
            assert_eq!((got[0], got[1]), want, "{x} by {y}, {bits} bits, {signed}");
        }
    }
}

type Binary = fn(&mut Builder, Value, Value) -> Value;
/// A name, the function, the interpreter's, and between what the first argument lies, and 1 where it is whole.
type Case2<'a> = (&'a str, Binary, &'a dyn Fn(f64, f64) -> f64, [f64; 3]);

#[test]
fn zeta_functions() {
    for (ty, limit, most) in [(MemTy::F32, 1.0, 40.0), (MemTy::F64, 2.0, 175.0)] {
        let polygamma = |n: f64, x: f64| match ty {
            MemTy::F32 => f64::from(special::polygamma(n as f32, x as f32)),
            _ => special::polygamma(n, x),
        };
        check_special(
            ty,
            limit,
            ("zeta", math::zeta, &special::zeta, [1.0, 12.0, 0.0]),
        );
        check_special(
            ty,
            limit,
            ("polygamma", math::polygamma, &polygamma, [0.0, most, 1.0]),
        );
    }
}

#[test]
fn lower_incomplete_gamma() {
    for (ty, limit, most) in [
        (MemTy::F32, 1.0, 20.0),
        (MemTy::F64, 2.0, 20.0),
        (MemTy::F64, 2.0, 500.0),
    ] {
        let range = [0.0, most, 0.0];
        check_special(ty, limit, ("igamma", math::igamma, &special::igamma, range));
    }
}

#[test]
fn upper_incomplete_gamma() {
    for (ty, limit, most) in [
        (MemTy::F32, 1.0, 3.0),
        (MemTy::F64, 2.0, 3.0),
        (MemTy::F64, 2.0, 60.0),
    ] {
        let range = [0.0, most, 0.0];
        check_special(
            ty,
            limit,
            ("igammac", math::igammac, &special::igammac, range),
        );
    }
}

#[test]
fn incomplete_gamma_by_order() {
    for (ty, limit) in [(MemTy::F32, 1.0), (MemTy::F64, 2.0)] {
        let exact = |a: f64, x: f64| match ty {
            MemTy::F32 => f64::from(special::igamma_grad_a(a as f32, x as f32)),
            _ => special::igamma_grad_a(a, x),
        };
        check_special(
            ty,
            limit,
            (
                "igamma_grad_a",
                math::igamma_grad_a,
                &exact,
                [0.0, 20.0, 0.0],
            ),
        );
    }
}

fn check_special(ty: MemTy, limit: f64, (name, f, exact, [low, high, whole]): Case2) {
    let draw = |r: &mut Rng| {
        let first = low + (high - low) * unit(r);
        let first = if whole == 1.0 { first.floor() } else { first };
        let second = if high < 100.0 {
            unit(r) * 24.0 - 8.0
        } else {
            first + (unit(r) * 12.0 - 6.0) * first.sqrt()
        };
        (
            first,
            if unit(r) < 0.1 {
                second.floor()
            } else {
                second
            },
        )
    };
    let (mut xs, mut qs) = pairs(ty, draw);
    // The interpreter takes its time.
    let most = if ty == MemTy::F64 { 1500 } else { 3000 };
    xs.truncate(most);
    qs.truncate(most);
    // The interpreter has fewer digits next to the smallest numbers, `digamma` has limits of its own left
    // of zero, and terms of ζ may be next to the smallest numbers where it is not.
    let fits = |got: f64, units: f64, want: f64| {
        let subnormal = want.abs() < 1e-290;
        units <= limit || subnormal && (got - want).abs() <= 1e-10 * want.abs()
    };
    let body = body(ty, 2, |b, v| f(b, v[0], v[1]));
    for ((&x, &q), &g) in xs.iter().zip(&qs).zip(&run(&body, ty, &[&xs, &qs])) {
        let (x, q) = (decode(ty, x), decode(ty, q));
        let series = matches!(name, "zeta" | "polygamma");
        if series && (x == 0.0 && q < 0.0 || (x + 1.0) * q.abs().ln() > 700.0) {
            continue;
        }
        let want = exact(x, q);
        assert!(
            fits(decode(ty, g), error(ty, g, want), want),
            "{name} {x} {q}: {} for {want}",
            decode(ty, g)
        );
    }
    let count = if ty == MemTy::F64 {
        60
    } else {
        2000.min(xs.len())
    };
    let regions = [
        Region::new(ty, xs[..count].iter().copied()),
        Region::new(ty, qs[..count].iter().copied()),
        Region::zeros(ty, count),
    ];
    check(&body, &regions, &Args::default(), 0, count as i64);
}

/// Of 16-bit floats polygamma is the interpreter's but for a last place: the factorial overflows with the format.
#[test]
fn polygamma_of_narrow_floats() {
    type Narrow = fn(&mut Builder, Value, Value) -> Value;
    type Codes = fn(f32, f32, f32) -> [i32; 2];
    type Format = (Narrow, Codes, fn(f32) -> f32);
    /// Codes of the result and of what it should be, in an order of floats; equal of NaN.
    macro_rules! codes {
        ($T:ty) => {
            |n, x, got| {
                let want = special::polygamma(<$T>::from_f32(n), <$T>::from_f32(x));
                [<$T>::from_f32(got), want].map(|number| {
                    let code = i32::from(number.to_bits());
                    match number {
                        _ if number.is_nan() => i32::MAX,
                        _ if code >= 0x8000 => 0x8000 - code,
                        _ => code,
                    }
                })
            }
        };
    }
    let formats: [Format; 2] = [
        (math::polygamma_bf16, codes!(bf16), |x| {
            bf16::from_f32(x).to_f32()
        }),
        (math::polygamma_f16, codes!(f16), |x| {
            f16::from_f32(x).to_f32()
        }),
    ];
    let ty = MemTy::F32;
    for (f, codes, rounded) in formats {
        let mut rng = Rng(31);
        let (mut ns, mut xs) = (Vec::new(), Vec::new());
        for n in 0..45 {
            for draw in 0..60 {
                let scale = [1.0, 30.0, 1e4, 1e-3][draw % 4];
                let x = rounded(((unit(&mut rng) - 0.2) * scale) as f32);
                ns.push(u64::from((n as f32).to_bits()));
                xs.push(u64::from(x.to_bits()));
            }
        }
        let body = body(ty, 2, |b, v| f(b, v[0], v[1]));
        for ((&n, &x), &got) in ns.iter().zip(&xs).zip(&run(&body, ty, &[&ns, &xs])) {
            let [n, x, got] = [n, x, got].map(|code| decode(ty, code) as f32);
            let [got_code, want] = codes(n, x, got);
            assert!(
                (got_code - want).abs() <= 1,
                "{n} {x}: {got}, {got_code} for {want}"
            );
        }
    }
}

/// The incomplete beta function, as the functions above.
#[test]
fn incomplete_beta() {
    for (ty, limit) in [(MemTy::F32, 1.0), (MemTy::F64, 2.0)] {
        incomplete_beta_of(ty, limit);
    }
}

fn incomplete_beta_of(ty: MemTy, limit: f64) {
    let mut rng = Rng(29);
    let mut columns = [Vec::new(), Vec::new(), Vec::new()];
    let corners = [
        0.0,
        1.0,
        0.5,
        12.0,
        1e5,
        3e7,
        1e30,
        1e-10,
        f64::INFINITY,
        -1.0,
        f64::NAN,
    ];
    let mut push = |all: [f64; 3]| {
        for (column, x) in columns.iter_mut().zip(all) {
            column.push(match ty {
                MemTy::F32 => u64::from((x as f32).to_bits()),
                _ => x.to_bits(),
            });
        }
    };
    for a in corners {
        for b in corners {
            for x in [0.0, 1.0, 0.5, 0.25, 1e-20, 0.9999999, 1.5, f64::NAN] {
                push([a, b, x]);
            }
        }
    }
    for _ in 0..samples().min(3000) {
        let size = 10f64.powf(unit(&mut rng) * 9.0 - 2.0);
        let a = size * (0.1 + unit(&mut rng));
        let b = size * (0.1 + unit(&mut rng));
        let deviations = (unit(&mut rng) * 12.0 - 6.0) / (a + b + 1.0).sqrt();
        push([a, b, (a / (a + b) + deviations * 0.5).clamp(0.0, 1.0)]);
        push([a, 3.0 * unit(&mut rng), unit(&mut rng)]);
    }
    let body = body(ty, 3, |b, v| math::incomplete_beta(b, v[0], v[1], v[2]));
    let slices = columns.each_ref().map(Vec::as_slice);
    for (at, &got) in run(&body, ty, &slices).iter().enumerate() {
        let [a, b, x] = columns.each_ref().map(|column| decode(ty, column[at]));
        let want = special::regularized_incomplete_beta(a, b, x);
        assert!(
            error(ty, got, want) <= limit,
            "{a} {b} {x}: {} for {want}",
            decode(ty, got)
        );
    }
}

/// The arguments that come nearest to a multiple of π/2, and others that need all of the reduction.
#[test]
fn reduction_of_hard_arguments() {
    let single: Vec<u64> = [
        16367173.0f32 * 2f32.powi(72),
        1.5707964,
        std::f32::consts::PI,
        1.3e10,
        102416.0,
        199999.0,
        200001.0,
        3.4e38,
        2.5e37,
        3.5e4,
    ]
    .iter()
    .map(|x| u64::from(x.to_bits()))
    .collect();
    let double: Vec<u64> = [
        6381956970095103.0f64 * 2f64.powi(797),
        1e22,
        1e300,
        f64::MAX,
        999999999.0,
        1000000001.0,
        1.0e16,
    ]
    .iter()
    .map(|x| x.to_bits())
    .collect();
    for (ty, xs) in [(MemTy::F32, single), (MemTy::F64, double)] {
        type Exact = fn(f64) -> f64;
        let functions: [(Unary, Exact); 3] = [
            (math::sin, core_math::sin),
            (math::cos, core_math::cos),
            (math::tan, core_math::tan),
        ];
        for (f, exact) in functions {
            let got = run(&body(ty, 1, |b, v| f(b, v[0])), ty, &[&xs]);
            for (&x, &g) in xs.iter().zip(&got) {
                let e = error(ty, g, exact(decode(ty, x)));
                assert!(
                    e <= 1.0,
                    "{ty} of {:e}: {:e} for {:e}, {e} units",
                    decode(ty, x),
                    decode(ty, g),
                    exact(decode(ty, x))
                );
            }
        }
    }
}

#[test]
fn contraction_leaves_functions_alone() {
    let build = |contract: bool| {
        let mut b = Builder::new("f");
        let (from, to) = (b.pointer(Access::ReadOnly), b.pointer(Access::ReadWrite));
        let x = b.load(MemTy::F32, Addr::contiguous(from, MemTy::F32));
        b.contract_fma(contract);
        let r = math::asinh(&mut b, x);
        b.store(MemTy::F32, Addr::contiguous(to, MemTy::F32), r);
        b.finish().unwrap().to_string()
    };
    assert_eq!(build(true), build(false));
}
