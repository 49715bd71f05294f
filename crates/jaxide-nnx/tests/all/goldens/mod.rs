//! What Flax and optax give, case by case: `tests/data/goldens.jsonl`, a line each.

mod attributes;
mod case;
mod functions;
mod graphs;
mod layers;
mod losses;
mod optimizers;
mod options;
mod programs;
mod random;
mod searches;
mod states;
mod stochastic;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use case::Case;

/// Cases that Rust cannot express, with the rule of the compiler, or the reason, and the test that shows it.
const LISTED: &[(&str, &str)] = &[];

type Check = fn(&Case);

/// What looks at the cases of an operation.
const CHECKS: &[(&str, Check)] = &[
    ("activation", functions::activation),
    ("activation_rows", functions::activation_rows),
    ("attribute_status", attributes::status),
    ("batch_norm_steps", layers::batch_norm_steps),
    ("dot_product_attention", functions::attention),
    ("dropout", stochastic::dropout),
    ("find_duplicates", graphs::find_duplicates),
    ("fresh_layer", layers::fresh),
    ("initializer", random::initializer),
    ("initializer_fact", random::initializer_fact),
    ("initializer_moments", random::initializer_moments),
    ("is_data", attributes::is_data),
    ("layer", layers::layer),
    ("loss", optimizers::loss),
    ("one_hot", functions::one_hot),
    ("optimizer", optimizers::optimizer),
    ("perturb_program", programs::perturb),
    ("pool", functions::pool),
    ("print_state", graphs::print_state),
    ("rngs_method", random::method),
    ("rngs_stream", random::stream),
    ("schedule", optimizers::schedule),
    ("sow_program", programs::sow),
    ("split", graphs::split),
    ("split_error", graphs::split_error),
    ("train_program", programs::train),
];

/// Looks at each line, and says of all that fail why.
fn look_at_all(text: &str, check: Check) {
    let only = std::env::var("GOLDEN").unwrap_or_default();
    let cases = text.lines().map(Case::read);
    let chosen = cases.filter(|case| case.id().contains(&only));
    let failures: Vec<String> = chosen
        .filter_map(|case| Some(format!("{}: {}", case.id(), outcome(&case, check).err()?)))
        .collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn outcome(case: &Case, check: Check) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| check(case))).map_err(|payload| {
        let text = payload.downcast_ref::<String>().cloned();
        text.or_else(|| {
            payload
                .downcast_ref::<&str>()
                .map(|text| (*text).to_owned())
        })
        .unwrap_or_default()
    })
}

#[test]
fn compiled() {
    goldens();
}

#[test]
fn interpreted() {
    jaxide::with_interpreter(goldens);
}

fn goldens() {
    let text = include_str!("../../data/goldens.jsonl");
    run(text.lines().map(Case::read).collect());
}

/// Looks at all cases, and fails with those that fail.
fn run(cases: Vec<Case>) {
    let listed: BTreeMap<&str, &str> = LISTED.iter().copied().collect();
    let only = std::env::var("GOLDEN").unwrap_or_default();
    let mut failures = Vec::new();
    let (mut passed, mut excused) = (0, 0);
    for case in cases.iter().filter(|case| case.id().contains(&only)) {
        let outcome = match CHECKS.iter().find(|(op, _)| *op == case.op()) {
            Some((_, check)) => outcome(case, *check),
            None => Err(format!("nothing looks at `{}`", case.op())),
        };
        match (outcome, listed.get(case.id())) {
            (Ok(()), None) => passed += 1,
            (Ok(()), Some(_)) => failures.push(format!(
                "{}: passes, and is listed as one that cannot",
                case.id()
            )),
            (Err(_), Some(_)) => excused += 1,
            (Err(text), None) => failures.push(format!("{}: {text}", case.id())),
        }
    }
    println!("{passed} cases pass, {excused} are listed");
    assert!(
        failures.is_empty(),
        "{} of {} cases fail:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}
