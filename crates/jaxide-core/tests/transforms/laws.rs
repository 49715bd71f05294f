//! Derivatives of functions that JAX brings along with a rule of their own, against difference quotients and against
//! each other.

use std::path::Path;

use jaxide_core::eval::eval;
use jaxide_core::jaxpr::parse;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{ClosedJaxpr, Tensor};
use serde_json::Value;

/// A program with a point and a direction.
struct Program {
    jaxpr: ClosedJaxpr,
    argnums: Vec<usize>,
    inputs: Vec<Vec<f64>>,
}

fn vectors(value: &Value) -> Vec<Vec<f64>> {
    let list = value.as_array().expect("a list").iter();
    list.map(|row| {
        let row = row.as_array().expect("a list").iter();
        row.map(|x| x.as_f64().expect("a number")).collect()
    })
    .collect()
}

fn tensor(values: &[f64]) -> Tensor {
    Tensor::from_vec(&[values.len()], values.to_vec()).expect("a vector")
}

fn values(tensors: &[Tensor]) -> Vec<Vec<f64>> {
    let vectors = tensors.iter().map(|x| x.to_vec::<f64>());
    vectors.map(|x| x.expect("an f64 vector")).collect()
}

fn dot(x: &[Vec<f64>], y: &[Vec<f64>]) -> f64 {
    let pairs = x.iter().flatten().zip(y.iter().flatten());
    pairs.map(|(x, y)| x * y).sum()
}

/// Numbers between -1 and 1, different for each place.
fn direction(like: &[Vec<f64>], shift: f64) -> Vec<Vec<f64>> {
    let vectors = like.iter().enumerate();
    vectors
        .map(|(i, x)| {
            let places = (0..x.len()).map(|j| (i * 7 + j) as f64);
            places.map(|place| (place + shift).cos()).collect()
        })
        .collect()
}

impl Program {
    fn read(path: &Path) -> Self {
        let text = std::fs::read_to_string(path).expect("a program");
        let (header, text) = text.split_once('\n').expect("a header");
        let header: Value = serde_json::from_str(header.trim_start_matches("# ")).expect("JSON");
        let mut jaxpr = parse(text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        jaxpr.consts = vectors(&header["consts"])
            .iter()
            .map(|x| tensor(x))
            .collect();
        let argnums = header["argnums"].as_array().expect("a list").iter();
        Program {
            jaxpr,
            argnums: argnums
                .map(|n| n.as_u64().expect("an index") as usize)
                .collect(),
            inputs: vectors(&header["inputs"]),
        }
    }

    fn run(&self, jaxpr: &ClosedJaxpr, args: &[&[Vec<f64>]]) -> Vec<Vec<f64>> {
        let args: Vec<Tensor> = args
            .iter()
            .flat_map(|x| x.iter())
            .map(|x| tensor(x))
            .collect();
        values(&eval(jaxpr, &args).expect("results"))
    }

    fn apply(&self, step: Step) -> ClosedJaxpr {
        apply(&self.jaxpr, &step).expect("a derivative")
    }

    /// The inputs moved along a direction of those that are differentiated.
    fn moved(&self, direction: &[Vec<f64>], step: f64) -> Vec<Vec<f64>> {
        let mut inputs = self.inputs.clone();
        for (&argument, direction) in self.argnums.iter().zip(direction) {
            for (x, d) in inputs[argument].iter_mut().zip(direction) {
                *x += step * d;
            }
        }
        inputs
    }

    fn check(&self) {
        let outs: Vec<usize> = (0..self.jaxpr.jaxpr.outvars.len()).collect();
        let free: Vec<Vec<f64>> = self
            .argnums
            .iter()
            .map(|&n| self.inputs[n].clone())
            .collect();
        let t = direction(&free, 0.3);
        let jvp = self.apply(Step::Jvp {
            argnums: self.argnums.clone(),
            tangent_outs: outs.clone(),
        });
        let out = self.run(&jvp, &[&self.inputs, &t]);
        let (y, dy) = out.split_at(outs.len());

        // The central differences of eighth order.
        const STEP: f64 = 1e-3;
        let mut quotients: Vec<Vec<f64>> = dy.iter().map(|dy| vec![0.0; dy.len()]).collect();
        for (k, weight) in [4.0 / 5.0, -1.0 / 5.0, 4.0 / 105.0, -1.0 / 280.0]
            .iter()
            .enumerate()
        {
            let step = (k + 1) as f64 * STEP;
            let ahead = self.run(&self.jaxpr, &[&self.moved(&t, step)]);
            let behind = self.run(&self.jaxpr, &[&self.moved(&t, -step)]);
            let pairs = ahead.iter().flatten().zip(behind.iter().flatten());
            for (quotient, (ahead, behind)) in quotients.iter_mut().flatten().zip(pairs) {
                *quotient += weight * (ahead - behind) / STEP;
            }
        }
        for (dy, quotient) in dy.iter().flatten().zip(quotients.iter().flatten()) {
            let scale = 1.0 + quotient.abs();
            assert!((dy - quotient).abs() < 1e-10 * scale, "{dy} and {quotient}");
        }

        let ct = direction(y, 1.7);
        let vjp = self.apply(Step::Vjp {
            argnums: self.argnums.clone(),
            cotangent_outs: outs.clone(),
        });
        let out = self.run(&vjp, &[&self.inputs, &ct]);
        let (forward, backward) = (dot(&ct, dy), dot(&out[outs.len()..], &t));
        let scale = 1.0 + forward.abs();
        assert!(
            (forward - backward).abs() < 1e-9 * scale,
            "{forward} and {backward}"
        );
    }
}

#[test]
fn derivatives_of_library_functions_are_limits_of_quotients() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transforms/laws");
    let entries = std::fs::read_dir(folder).expect("the programs");
    let paths: Vec<_> = entries
        .map(|entry| entry.expect("an entry").path())
        .collect();
    assert!(!paths.is_empty());
    for path in paths {
        println!("{}", path.display());
        Program::read(&path).check();
    }
}
