//! Programs of the size of real use give what JAX gives for the same program and the same arguments, eagerly and compiled.

#[path = "programs/mod.rs"]
mod real;

use std::collections::HashMap;

use jaxide::Array;
use jaxide::core::DType;
use real::{Leaves, PROGRAMS, Size};

/// An array that `record.py` wrote: its type as jaxprs print it, and its elements.
struct Recorded {
    path: String,
    aval: String,
    elements: Vec<f64>,
}

/// What JAX gave at each size; elements only of the small one.
fn recorded(name: &str) -> HashMap<String, Vec<Recorded>> {
    let path = format!(
        "{}/tests/programs/recorded/{name}.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    let text = std::fs::read_to_string(path).expect("`record.py` has written the file");
    let mut sizes: HashMap<String, Vec<Recorded>> = HashMap::new();
    for line in text.lines() {
        let mut words = line.split(' ').map(str::to_owned);
        let mut word = || words.next().expect("size, path and type");
        let (size, path, aval) = (word(), word(), word());
        let elements = words.map(|word| word.parse().expect("a number")).collect();
        sizes.entry(size).or_default().push(Recorded {
            path,
            aval,
            elements,
        });
    }
    sizes
}

fn elements(array: &Array) -> Vec<f64> {
    match array.dtype() {
        DType::F64 => array.to_vec(),
        _ => array.astype(DType::F64).to_vec(),
    }
}

#[track_caller]
fn compare(name: &str, how: &str, tolerance: f64, got: &Leaves, want: &[Recorded]) {
    assert_eq!(got.len(), want.len(), "{name}, {how}: arrays");
    for ((path, array), want) in got.iter().zip(want) {
        let place = format!("{name}, {how}, {}", want.path);
        assert_eq!(path.keystr(), want.path, "{place}");
        assert_eq!(array.aval().weak(false).to_string(), want.aval, "{place}");
        let largest = want.elements.iter().fold(1e-3, |m: f64, x| m.max(x.abs()));
        let got = elements(array);
        assert_eq!(got.len(), want.elements.len(), "{place}");
        for (k, (got, want)) in got.iter().zip(&want.elements).enumerate() {
            assert!(
                (got - want).abs() <= tolerance * largest,
                "{place}: element {k} is {got}, not {want}"
            );
        }
    }
}

/// `tolerance` is how far a result may be from JAX's, relative to the largest element of its array.
fn check(name: &str, tolerance: f64) {
    let program = PROGRAMS
        .iter()
        .find(|program| program.name == name)
        .expect("a program");
    let recorded = recorded(name);
    let small = (program.prepare)(Size::Small);
    compare(
        name,
        "jitted",
        tolerance,
        &(small.jitted)(),
        &recorded["small"],
    );
    compare(
        name,
        "eager",
        tolerance,
        &(small.eager)(),
        &recorded["small"],
    );
    let real = (program.prepare)(Size::Real);
    let types: Vec<String> = (real.jaxpr)()
        .expect("the real size traces")
        .out_avals()
        .iter()
        .map(|aval| aval.clone().weak(false).to_string())
        .collect();
    let want: Vec<&str> = recorded["real"]
        .iter()
        .map(|leaf| leaf.aval.as_str())
        .collect();
    assert_eq!(types, want, "{name}, real size");
}

macro_rules! programs {
    ($($name:ident $tolerance:literal)*) => { $(
        #[test]
        fn $name() {
            check(stringify!($name), $tolerance);
        }
    )* };
}

programs! {
    transformer 2e-5
    vae 2e-5
    mala 2e-5
    kalman 2e-5
    gaussian_process 1e-10
    ode 1e-10
    batch_norm 2e-5
    newton_cg 1e-10
    particle_filter 2e-5
    gru 2e-5
}
