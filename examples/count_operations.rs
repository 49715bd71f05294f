//! What a function costs before it runs: the operations of its jaxpr, counted.
//!
//! The function takes and gives nested values. A [`TracingAdapter`] makes it one of flat lists of arrays, which is what
//! tools that work on jaxprs deal with, and remembers both schemas: with them the tool names what goes in and comes out.
//!
//! Run with `cargo run --example count_operations`.

use std::collections::BTreeMap;
use std::sync::Arc;

use jaxide::core::Jaxpr;
use jaxide::core::prims::{Family, Prim};
use jaxide::prelude::*;
use jaxide::tree::{Schema, TracingAdapter};

/// A recurrent network that reads a sequence and gives one number.
#[derive(Clone, Pytree)]
struct Network {
    cell: Linear,
    head: Linear,
}

#[derive(Clone, Pytree)]
struct Linear {
    w: Array,
    b: Option<Array>,
}

impl Linear {
    fn forward(&self, x: &Array) -> Array {
        let y = x.dot(&self.w);
        match &self.b {
            Some(b) => y + b,
            None => y,
        }
    }
}

type Batch = BTreeMap<String, Array>;

fn loss(network: Network, batch: Batch) -> Array {
    let cell = network.cell.clone();
    let (state, ()) = scan(
        move |state: Array, x: Array| ((cell.forward(&x) + state).tanh(), ()),
        Array::zeros(&[16], DType::F32),
        batch["sequence"].clone(),
        50,
    );
    (network.head.forward(&state) - &batch["target"])
        .square()
        .mean()
}

fn main() -> Result<()> {
    let floats = |shape: &[usize]| Array::zeros(shape, DType::F32);
    let network = Network {
        cell: Linear {
            w: floats(&[8, 16]),
            b: Some(floats(&[16])),
        },
        head: Linear {
            w: floats(&[16, 1]),
            b: None,
        },
    };
    let batch = Batch::from([
        ("sequence".to_owned(), floats(&[50, 8])),
        ("target".to_owned(), floats(&[1])),
    ]);

    let step = value_and_grad(loss);
    let step = move |(network, batch): (Network, Batch)| step(network, batch);
    let (adapter, flat) = TracingAdapter::new(step, &(network, batch));
    let adapter = Arc::new(adapter);
    let function = adapter.clone();
    let jaxpr =
        make_jaxpr(move |flat: Vec<Array>| function.call(flat).expect("as in the example"))(flat)?;

    println!("A step takes");
    describe(adapter.inputs(), &jaxpr.in_avals());
    println!("and gives");
    describe(
        adapter.outputs().expect("it was traced"),
        &jaxpr.out_avals(),
    );

    println!("\n{:20} {:>8} {:>12}", "primitive", "runs", "operations");
    let mut counts: Vec<_> = operations(&jaxpr.jaxpr).into_iter().collect();
    counts.sort_by_key(|(name, count)| (std::cmp::Reverse(count.operations), name.clone()));
    for (name, count) in &counts {
        println!("{name:20} {:>8} {:>12}", count.runs, count.operations);
    }
    let total: usize = counts.iter().map(|(_, count)| count.operations).sum();
    println!("{:29} {total:>12}", "together");
    Ok(())
}

/// Prints a line for each leaf: its path in the nested value and its type.
fn describe(schema: &Schema<Array>, avals: &[Aval]) {
    for (path, aval) in schema.structure().key_paths().iter().zip(avals) {
        println!("  {:24} {aval}", path.to_string());
    }
}

/// How often a primitive runs, and how many arithmetic operations that takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) runs: usize,
    pub(crate) operations: usize,
}

/// The operations of a jaxpr by primitive. Bodies of loops count as often as they run, where the jaxpr says how often
/// that is; of a `while` one round is counted, of a `cond` every branch.
pub(crate) fn operations(jaxpr: &Jaxpr) -> BTreeMap<String, Count> {
    let mut counts = BTreeMap::new();
    count(jaxpr, 1, &mut counts);
    counts
}

fn count(jaxpr: &Jaxpr, times: usize, counts: &mut BTreeMap<String, Count>) {
    for eqn in &jaxpr.eqns {
        let results: usize = eqn.outputs.iter().map(|&v| jaxpr.aval_of(v).size()).sum();
        let operands: usize = eqn.inputs.iter().map(|&x| jaxpr.aval(x).size()).sum();
        let operations = match &eqn.prim {
            // A multiplication and an addition for each contracted element of each result.
            Prim::DotGeneral(dot) => {
                let lhs = jaxpr.aval(eqn.inputs[0]);
                let axes = dot.dimension_numbers.lhs_contracting.iter();
                2 * results * axes.map(|&axis| lhs.shape[axis]).product::<usize>()
            }
            prim => match prim.family() {
                Family::Elementwise | Family::Window | Family::Linalg | Family::Random => results,
                Family::Reduction => operands,
                Family::Shape
                | Family::Indexing
                | Family::Control
                | Family::State
                | Family::Collective
                // What it does is not known.
                | Family::Foreign => 0,
            },
        };
        let entry = counts.entry(eqn.prim.name().to_owned()).or_default();
        entry.runs += times;
        entry.operations += times * operations;
        let rounds = match &eqn.prim {
            Prim::Scan(scan) => times * scan.length,
            _ => times,
        };
        eqn.prim
            .visit(&mut |body| count(&body.jaxpr, rounds, counts));
    }
}
