//! The programs that are not transformed: the interpreter gives the numbers that JAX gave.

use std::path::Path;

use jaxide_core::jaxpr::parse;
use serde_json::Value;

use super::{arrays, constants, numbers};

/// What calls functions of Python, which text does not carry.
const OF_THE_HOST: &[&str] = &["custom_root_grad", "pure_callback", "io_callback"];

#[test]
fn numbers_of_programs_are_those_of_jax() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/conformance");
    let (mut count, mut failures) = (0, Vec::new());
    for group in ["lax", "numpy", "control", "programs"] {
        let folder = root.join(group);
        let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
        for line in manifest.lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            let name = row["name"].as_str().unwrap();
            // What is there for its text alone has no arrays.
            if !folder.join(format!("{name}.npz")).exists() {
                continue;
            }
            let text = std::fs::read_to_string(folder.join(format!("{name}.jaxpr"))).unwrap();
            let mut jaxpr = parse(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
            jaxpr.consts = constants(&jaxpr, &arrays(&folder, &row));
            match numbers(&folder, &row, jaxpr) {
                Err(_) if OF_THE_HOST.contains(&name) => {}
                Err(error) => failures.push(format!("{group}/{name}: {error}")),
                Ok(()) => assert!(!OF_THE_HOST.contains(&name), "{name} can be run"),
            }
            count += 1;
        }
    }
    assert!(count > 300, "{count} programs have arrays");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
