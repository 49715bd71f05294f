//! Tries the primitive `sinc` that `docs/adding-a-primitive.md` adds: this is built where the guide has been followed.

use std::f64::consts::PI;

use jaxide::core::eval::eval;
use jaxide::core::{ClosedJaxpr, Tensor, parse};
use jaxide::prelude::*;
use jaxide::{Isa, lax};
use jaxide_cpu::{CompileOptions, compile};

/// `(-1)^n π^(2n) / (2n + 1)!`, the coefficients of `sinc`, of x to the power of 2n.
fn coefficients() -> impl Iterator<Item = f64> {
    (1..60).scan(1.0, |term, n| {
        let now = *term;
        *term *= -PI * PI / f64::from(2 * n * (2 * n + 1));
        Some(now)
    })
}

/// A derivative of `sinc`: from the series where the series is exact enough, else from the recurrence
/// `x sinc⁽ᵏ⁾ + k sinc⁽ᵏ⁻¹⁾ = π^(k-1) sin(πx + kπ/2)`.
fn derivative(k: i32, x: f64) -> f64 {
    if x.abs() < 1.5 {
        let terms = coefficients().enumerate().map(|(n, coefficient)| {
            let power = 2 * n as i32;
            let falling: f64 = (0..k).map(|i| f64::from(power - i)).product();
            if power < k {
                0.0
            } else {
                falling * coefficient * x.powi(power - k)
            }
        });
        return terms.sum();
    }
    // Whole turns change nothing, and the remainder of a division is exact.
    let angle = PI * (x % 2.0);
    let wave = match k % 4 {
        0 => angle.sin(),
        1 => angle.cos(),
        2 => -angle.sin(),
        _ => -angle.cos(),
    };
    let before = if k == 0 {
        0.0
    } else {
        f64::from(k) * derivative(k - 1, x)
    };
    (PI.powi(k - 1) * wave - before) / x
}

/// Numbers on both sides of zero and of where formulas change, integers, halves, the smallest and the largest.
fn points(smallest: f64, largest: f64) -> Vec<f64> {
    let mut points = vec![0.0, smallest, smallest * 1e3, 1e-20, 1e-8, 1e-4, 0.01];
    points.extend([
        0.25, 0.4999, 0.5, 0.5001, 0.75, 0.999, 1.0, 1.001, 1.25, 1.5,
    ]);
    points.extend([
        2.0,
        2.5,
        3.0,
        10.25,
        100.125,
        1000.5,
        4097.25,
        65536.5,
        1e6 + 0.25,
    ]);
    points.extend([8_388_607.5, 8_388_608.0, 16_777_217.0, 1e15, 1e30, largest]);
    points.extend((0..200).map(|i| f64::from(i) * 0.0371));
    let negative: Vec<f64> = points.iter().map(|x| -x).collect();
    points.extend(negative);
    points
}

/// The type of an argument, and how far results may be from the right ones, in units of its precision.
struct Format {
    dtype: DType,
    epsilon: f64,
    round: fn(f64) -> f64,
    points: Vec<f64>,
}

impl Format {
    fn array(&self) -> Array {
        let array = Array::from_vec([self.points.len()], self.points.clone());
        lax::convert_element_type(&array, self.dtype)
    }
}

fn numbers(array: &Array) -> Vec<f64> {
    lax::convert_element_type(array, DType::F64).to_vec()
}

/// Results against a derivative of `sinc`, whose size near `x` is at most `1 / |x|` times `π^k`.
fn is_near(what: &str, format: &Format, k: i32, points: &[f64], got: &[f64], ulps: f64) {
    assert_eq!(points.len(), got.len(), "{what}");
    for (&x, &y) in points.iter().zip(got) {
        let x = (format.round)(x);
        let want = derivative(k, x);
        // Where a wave crosses zero, the error is that of the wave.
        let size = want.abs()
            + f64::from(k + 1) * PI.powi(k) * (1.0 / x.abs()).min(1.0) * f64::from(u8::from(k > 0));
        let allowed = ulps * format.epsilon * size + 1e-15 * (1.0 / x.abs()).min(1.0);
        assert!(
            (y - want).abs() <= allowed.max(format.epsilon * 1e-20),
            "{what} of {:?}: derivative {k} at {x:e} is {y:e}, not {want:e}",
            format.dtype
        );
    }
}

/// What the interpreter gives, and every instruction set of the machine.
fn everywhere(jaxpr: &ClosedJaxpr, args: &[Tensor], check: impl Fn(&str, &[Tensor])) {
    let interpreted = eval(jaxpr, args).unwrap();
    check("the interpreter", &interpreted);
    for isa in Isa::available() {
        let options = CompileOptions {
            isa: Some(isa),
            ..CompileOptions::default()
        };
        let program = compile(jaxpr, &options).unwrap();
        // One of the operations in loops, and no call of the runtime.
        assert!(
            !program.loops_text().contains("call "),
            "{}",
            program.loops_text()
        );
        check(isa.name(), &program.run(args).unwrap());
    }
}

fn tensors_to_numbers(tensors: &[Tensor]) -> Vec<f64> {
    numbers(&Array::from(tensors[0].clone()))
}

fn values(format: &Format) {
    let x = format.array();
    let jaxpr = make_jaxpr(|x: Array| lax::sinc(&x))(x.clone()).unwrap();
    everywhere(&jaxpr, &[x.value()], |what, results| {
        let got = tensors_to_numbers(results);
        is_near(what, format, 0, &format.points, &got, 4.0);
        // What is an integer is exactly 0, and zero exactly 1.
        for (&x, &y) in format.points.iter().zip(&got) {
            let x = (format.round)(x);
            if x.fract() == 0.0 {
                assert_eq!(y, f64::from(u8::from(x == 0.0)), "{what}: {x:e}");
            }
        }
    });
    let special = [f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -0.0];
    let special = Array::from_vec([4], special.to_vec());
    let special = lax::convert_element_type(&special, format.dtype);
    let jaxpr = make_jaxpr(|x: Array| lax::sinc(&x))(special.clone()).unwrap();
    everywhere(&jaxpr, &[special.value()], |what, results| {
        let got = tensors_to_numbers(results);
        assert!(
            got[..3].iter().all(|y| y.is_nan()) && got[3] == 1.0,
            "{what}: {got:?}"
        );
    });
    let got = numbers(&lax::sinc(&x));
    is_near("lax", format, 0, &format.points, &got, 4.0);
    let got = numbers(&jit(|x: Array| lax::sinc(&x))(x));
    is_near("jit", format, 0, &format.points, &got, 4.0);
}

fn derivatives(format: &Format) {
    // Where higher derivatives have digits in this type.
    let points: Vec<f64> = (format.points.iter().copied())
        .filter(|x| x.abs() < 1e7)
        .collect();
    let format = &Format {
        points: points.clone(),
        ..*format
    };
    let x = format.array();
    let one = |x: Array| lax::sinc(&x);
    let (first, second, third) = (grad(one), grad(grad(one)), grad(grad(grad(one))));
    for (k, jaxpr) in [
        (1, make_jaxpr(vmap(first.clone()))(x.clone())),
        (2, make_jaxpr(vmap(second.clone()))(x.clone())),
        (2, make_jaxpr(vmap(jacfwd(jacfwd(one))))(x.clone())),
        (2, make_jaxpr(vmap(hessian(one)))(x.clone())),
        (3, make_jaxpr(vmap(third))(x.clone())),
    ] {
        everywhere(&jaxpr.unwrap(), &[x.value()], |what, results| {
            let got = tensors_to_numbers(results);
            is_near(what, format, k, &points, &got, 64.0);
        });
    }
    let zero = || lax::convert_element_type(&Array::from(0.0f64), format.dtype);
    let at_zero = |array: Array| numbers(&array)[0];
    assert_eq!(at_zero(first(zero())), 0.0);
    let error = at_zero(second(zero())) + PI * PI / 3.0;
    assert!(error.abs() < 4.0 * format.epsilon * 3.3, "{error:e}");
    let (y, tangent) = jvp(one, (zero(),), (zero() + 2.0,));
    assert_eq!((at_zero(y), at_zero(tangent)), (1.0, 0.0));
}

/// Rows at once are rows one by one, and text reads back.
fn batches_and_text() {
    let rows = Array::from_vec([3, 4], (0..12).map(|i| i as f32 * 0.3 - 1.0).collect());
    let batched = vmap(|row: Array| lax::sinc(&row))(rows.clone());
    assert_eq!(batched.shape(), [3, 4]);
    assert_eq!(batched.to_vec::<f32>(), lax::sinc(&rows).to_vec::<f32>());
    let jaxpr = make_jaxpr(|x: Array| lax::sinc(&x))(Array::spec(DType::F32, &[3])).unwrap();
    let text = "{ lambda ; a:f32[3]. let b:f32[3] = sinc a in (b,) }";
    assert_eq!(jaxpr.to_string(), text);
    assert_eq!(parse(text).unwrap(), jaxpr);
    let slope = make_jaxpr(vmap(grad(|x: Array| lax::sinc(&x))))(Array::spec(DType::F32, &[3]));
    let slope = slope.unwrap();
    assert_eq!(parse(&slope.to_string()).unwrap(), slope);
    // Integers are refused, and exact as floats.
    let whole = Array::from([0i32, 1, 2]);
    let floats = whole.astype(DType::F32);
    assert_eq!(lax::sinc(&floats).to_vec::<f32>(), [1.0, 0.0, 0.0]);
    let refused = make_jaxpr(|x: Array| lax::sinc(&x))(whole).unwrap_err();
    assert!(refused.to_string().contains("sinc"), "{refused}");
}

fn main() {
    let single = Format {
        dtype: DType::F32,
        epsilon: f64::from(f32::EPSILON),
        round: |x| f64::from(x as f32),
        points: points(1e-45, f64::from(f32::MAX)),
    };
    let double = Format {
        dtype: DType::F64,
        epsilon: f64::EPSILON,
        round: |x| x,
        points: points(5e-324, f64::MAX),
    };
    for format in [&single, &double] {
        values(format);
        derivatives(format);
    }
    batches_and_text();
    println!("sinc is right");
}
