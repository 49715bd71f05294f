//! Every case of the recorded behaviour of JAX's `tree_util` (`pytree.json`) and of dm-tree (`nest.json`).
//!
//! A value of Python is decoded into a [`Tree`](jaxide_tree::Tree) of [`Value`](value::Value)s. A case passes when the result is the
//! recorded one, or the error is of the recorded kind and its message mentions all that it must.

mod check;
mod nest;
mod pytree;
mod value;

use serde_json::Value as Json;

/// What a case came to: nothing to say, or what is wrong.
type Outcome = Result<(), String>;

/// Runs all cases of a file, and fails with a line for each that does not pass.
fn run(file: &str, case: impl Fn(&Json) -> Outcome) {
    let file: Json = serde_json::from_str(file).expect("the goldens are JSON");
    let cases = file["cases"].as_array().expect("the goldens have cases");
    assert!(!cases.is_empty());
    let failures: Vec<String> = cases
        .iter()
        .filter_map(|c| case(c).err().map(|why| format!("{}: {why}", c["id"])))
        .collect();
    assert!(
        failures.is_empty(),
        "{} of {} cases fail:\n{}",
        failures.len(),
        cases.len(),
        failures.join("\n")
    );
}

#[test]
fn pytree_goldens() {
    run(include_str!("pytree.json"), pytree::case);
}

#[test]
fn nest_goldens() {
    run(include_str!("nest.json"), nest::case);
}
