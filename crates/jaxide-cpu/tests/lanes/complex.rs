//! The functions of complex numbers beside the interpreter's.

use super::machine::{Args, Region, Rng, check};
use super::math::{body, decode, run, unit};
use jaxide_core::eval::numerics::complex;
use jaxide_cpu::lanes::{Builder, MemTy, Value, math::complex as lanes};
use num_complex::Complex;

type C128 = Complex<f64>;

/// Parts where something happens.
const CORNERS: [f64; 24] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -2.0,
    3.25,
    1e-3,
    -1e-8,
    1.0000001,
    -0.9999999,
    20.5,
    -88.0,
    100.0,
    -709.0,
    1e30,
    -1e-30,
    1e-310,
    1e200,
    -1e308,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
    std::f64::consts::FRAC_PI_2,
];

fn arguments(ty: MemTy, count: usize) -> Vec<C128> {
    let mut rng = Rng(11);
    let rounded = |x: f64| match ty {
        MemTy::F32 => f64::from(x as f32),
        _ => x,
    };
    let corners = CORNERS
        .iter()
        .flat_map(|&re| CORNERS.iter().map(move |&im| C128::new(re, im)));
    let mut all: Vec<C128> = corners.collect();
    for _ in 0..count {
        let size = 2f64.powf(unit(&mut rng) * 24.0 - 16.0);
        let angle = unit(&mut rng) * 6.3;
        all.push(C128::from_polar(size, angle));
        // Next to the unit circle, where logarithms vanish.
        all.push(C128::from_polar(1.0 + 1e-7 * unit(&mut rng), angle));
    }
    all.iter()
        .map(|z| C128::new(rounded(z.re), rounded(z.im)))
        .collect()
}

fn encode(ty: MemTy, x: f64) -> u64 {
    match ty {
        MemTy::F32 => u64::from((x as f32).to_bits()),
        _ => x.to_bits(),
    }
}

/// Whether a part is as the interpreter has it: as far off as the rounding of the modulus, or of the part in single precision.
fn near(ty: MemTy, got: f64, want: f64, modulus: f64) -> bool {
    let want = match ty {
        MemTy::F32 => f64::from(want as f32),
        _ => want,
    };
    if got == want || (got.is_nan() && want.is_nan()) {
        return true;
    }
    let rounding = (8e-16 * modulus).max(1e-322);
    let allowed = match ty {
        MemTy::F32 => rounding.max(1.2e-7 * want.abs()).max(3e-45),
        _ => rounding,
    };
    // Where the modulus overflows and a part of it hardly does.
    (got - want).abs() <= allowed || (want.abs() > 1e307 && got.abs() > 1e307)
}

fn compare(
    name: &str,
    ty: MemTy,
    arguments: &[Vec<f64>],
    want: &dyn Fn(&[f64]) -> C128,
    build: &dyn Fn(&mut Builder, &[Value]) -> [Value; 2],
) {
    let columns: Vec<Vec<u64>> = arguments
        .iter()
        .map(|column| column.iter().map(|&x| encode(ty, x)).collect())
        .collect();
    let slices: Vec<&[u64]> = columns.iter().map(Vec::as_slice).collect();
    let parts = [0, 1].map(|part| {
        let body = body(ty, arguments.len(), |b, v| build(b, v)[part]);
        let got = run(&body, ty, &slices);
        let count = columns[0].len().min(700);
        let mut regions: Vec<Region> = columns
            .iter()
            .map(|column| Region::new(ty, column[..count].iter().copied()))
            .collect();
        regions.push(Region::zeros(ty, count));
        check(&body, &regions, &Args::default(), 0, count as i64);
        got
    });
    for at in 0..columns[0].len() {
        let given: Vec<f64> = arguments.iter().map(|column| column[at]).collect();
        let want = want(&given);
        let (re, im) = (decode(ty, parts[0][at]), decode(ty, parts[1][at]));
        // A complex angle is as exact as numbers of modulus 1 are.
        let least = if name == "atan2" { 1.0 } else { 0.0 };
        // The exponent of a power is as exact as its size.
        let size = want.re.abs().max(want.im.abs()).max(least);
        let modulus = if name == "pow" { 1e3 * size } else { size };
        assert!(
            near(ty, re, want.re, modulus) && near(ty, im, want.im, modulus),
            "{name} of {given:?}: {re:e} {im:e} for {want:e}"
        );
    }
}

#[test]
fn functions_of_one() {
    type Case = (
        &'static str,
        fn(&mut Builder, [Value; 2]) -> [Value; 2],
        fn(C128) -> C128,
    );
    macro_rules! cases {
        ($($name:ident)*) => { [$((stringify!($name), lanes::$name, complex::$name)),*] };
    }
    let cases: [Case; 22] = cases!(exp exp2 expm1 logistic log log2 log1p sqrt rsqrt sign sin cos tan sinh cosh tanh
        asin acos atan asinh acosh atanh);
    for ty in [MemTy::F32, MemTy::F64] {
        let z = arguments(ty, 300);
        let columns = [
            z.iter().map(|z| z.re).collect(),
            z.iter().map(|z| z.im).collect(),
        ];
        for (name, build, want) in &cases {
            compare(
                name,
                ty,
                &columns,
                &|x| want(C128::new(x[0], x[1])),
                &|b, v| build(b, [v[0], v[1]]),
            );
        }
        compare(
            "abs",
            ty,
            &columns,
            &|x| C128::new(complex::abs(C128::new(x[0], x[1])), x[1]),
            &|b, v| [lanes::abs(b, [v[0], v[1]]), v[1]],
        );
    }
}

#[test]
fn functions_of_two() {
    type Case = (
        &'static str,
        fn(&mut Builder, [Value; 2], [Value; 2]) -> [Value; 2],
        fn(C128, C128) -> C128,
    );
    let cases: [Case; 3] = [
        ("div", lanes::div, complex::div),
        ("pow", lanes::pow, complex::pow),
        ("atan2", lanes::atan2, complex::atan2),
    ];
    for ty in [MemTy::F32, MemTy::F64] {
        let (z, w) = (arguments(ty, 400), arguments(ty, 400));
        let pairs: Vec<(C128, C128)> = (0..3000)
            .map(|at| (z[at % z.len()], w[(at * 7919 + at / z.len()) % w.len()]))
            .collect();
        let columns = [
            pairs.iter().map(|(z, _)| z.re).collect(),
            pairs.iter().map(|(z, _)| z.im).collect(),
            pairs.iter().map(|(_, w)| w.re).collect(),
            pairs.iter().map(|(_, w)| w.im).collect(),
        ];
        for (name, build, want) in &cases {
            compare(
                name,
                ty,
                &columns,
                &|x| want(C128::new(x[0], x[1]), C128::new(x[2], x[3])),
                &|b, v| build(b, [v[0], v[1]], [v[2], v[3]]),
            );
        }
    }
}
