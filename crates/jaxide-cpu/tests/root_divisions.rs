//! Divisions by square roots, which become products with reciprocal roots in arrays of many elements: beside divisions of the standard library in
//! wider numbers, or the same ones where there are none, for numbers of all sizes and those that are special, on every instruction set.

use jaxide_core::jaxpr::parse::parse;
use jaxide_core::{Element, Tensor};
use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, compile};

/// What stands between a root and the division by it.
#[derive(Clone, Copy, Debug)]
enum Spread {
    /// A root for each element.
    Elements,
    /// One for each row of seven.
    Rows,
    /// One for all.
    One,
}

const ROW: usize = 7;

impl Spread {
    fn text(self, dtype: &str, n: usize) -> String {
        match self {
            Spread::Elements => format!(
                "{{ lambda ; a:{dtype}[{n}] b:{dtype}[{n}]. let
                    c:{dtype}[{n}] = sqrt b
                    d:{dtype}[{n}] = div a c
                  in (d,) }}"
            ),
            Spread::Rows => format!(
                "{{ lambda ; a:{dtype}[{n},{ROW}] b:{dtype}[{n}]. let
                    c:{dtype}[{n}] = sqrt b
                    d:{dtype}[{n},1] = reshape[dimensions=None new_sizes=({n}, 1) sharding=None] c
                    e:{dtype}[{n},{ROW}] = div a d
                    f:{dtype}[{n},1] = integer_pow[y=2] d
                  in (e, f) }}"
            ),
            Spread::One => format!(
                "{{ lambda ; a:{dtype}[{n}] b:{dtype}[]. let
                    c:{dtype}[] = sqrt b
                    d:{dtype}[{n}] = div a c
                  in (d,) }}"
            ),
        }
    }
}

fn quotients<T: Element>(dtype: &str, a: &[T], b: &[T], spread: Spread, isa: Isa) -> Vec<T> {
    let n = match spread {
        Spread::Elements | Spread::One => a.len(),
        Spread::Rows => b.len(),
    };
    let (mut shape, mut roots) = (vec![n], vec![n]);
    match spread {
        Spread::Elements => {}
        Spread::Rows => shape.push(ROW),
        Spread::One => roots.clear(),
    }
    let options = CompileOptions {
        isa: Some(isa),
        ..CompileOptions::default()
    };
    let program = compile(&parse(&spread.text(dtype, n)).unwrap(), &options).unwrap();
    let a = Tensor::from_vec(&shape, a.to_vec()).unwrap();
    let b = Tensor::from_vec(&roots, b.to_vec()).unwrap();
    program.run(&[a, b]).unwrap()[0].to_vec().unwrap()
}

/// Bits that are spread over all numbers.
fn bits(count: usize, seed: u64) -> impl Iterator<Item = u64> {
    (0..count as u64).map(move |k| (k + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15))
}

/// A test of one type, whose numbers have so many bits; `$want` computes a quotient, and `$step` is that to the next number.
macro_rules! test {
    ($name:ident, $t:ty, $dtype:literal, $from:expr, $want:expr) => {
        #[test]
        fn $name() {
            let specials = [
                0.0,
                -0.0,
                1.0,
                -1.0,
                <$t>::MIN_POSITIVE,
                <$t>::from_bits(1),
                <$t>::MAX,
                <$t>::INFINITY,
                <$t>::NEG_INFINITY,
                <$t>::NAN,
                4.0,
                2.0,
            ];
            let (mut a, mut b): (Vec<$t>, Vec<$t>) = (Vec::new(), Vec::new());
            for x in specials {
                for y in specials {
                    a.push(x);
                    b.push(y);
                }
            }
            a.extend(bits(3000, 1).map($from));
            b.extend(bits(3000, 77_777).map($from));
            a.extend((0..1000).map(|k| (k as $t - 500.0) / 40.0));
            b.extend((0..1000).map(|k| 0.01 + k as $t / 300.0));
            // What follows upon the limit, and what is below it.
            for n in [a.len(), 256, 255] {
                for isa in Isa::available() {
                    for spread in [Spread::Elements, Spread::Rows, Spread::One] {
                        let (a, b, root): (Vec<$t>, Vec<$t>, fn(usize) -> usize) = match spread {
                            Spread::Elements => (a[..n].to_vec(), b[..n].to_vec(), |k| k),
                            Spread::Rows => {
                                let rows = n / ROW;
                                (a[..rows * ROW].to_vec(), b[..rows].to_vec(), |k| k / ROW)
                            }
                            Spread::One => (a[..n].to_vec(), vec![3.3], |_| 0),
                        };
                        let got = quotients($dtype, &a, &b, spread, isa);
                        for (k, (&x, &got)) in a.iter().zip(&got).enumerate() {
                            let y = b[root(k)];
                            let want: $t = $want(x, y);
                            let step = want.abs().next_up() - want.abs();
                            let same = got == want
                                && got.is_sign_negative() == want.is_sign_negative()
                                || got.is_nan() && want.is_nan();
                            assert!(
                                same || (got - want).abs() <= 2.0 * step,
                                "{isa:?} {spread:?}: {x:e} / sqrt {y:e} = {got:e}, not {want:e}"
                            );
                        }
                    }
                }
            }
        }
    };
}

test!(
    of_single_precision,
    f32,
    "f32",
    |bits| f32::from_bits(bits as u32),
    |x: f32, y: f32| (f64::from(x) / f64::from(y).sqrt()) as f32
);
test!(
    of_double_precision,
    f64,
    "f64",
    f64::from_bits,
    |x: f64, y: f64| x / y.sqrt()
);
