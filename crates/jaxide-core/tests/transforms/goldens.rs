//! Transformations of small functions against the text that JAX writes (`goldens/make.py`).

use std::path::Path;

use jaxide_core::jaxpr::parse;
use jaxide_core::jaxpr::text_compare::same_up_to_names;
use jaxide_core::transform::apply;
use serde_json::Value;

/// Applies the steps of a golden file; gives what differs.
fn check(path: &Path) -> Result<(), String> {
    let text = std::fs::read_to_string(path).expect("a golden file");
    let (header, rest) = text.split_once('\n').expect("a header");
    let (base, want) = rest.split_once("# gives\n").expect("what it gives");
    let header: Value = serde_json::from_str(header.trim_start_matches("# ")).expect("steps");
    let mut jaxpr = parse(base).map_err(|error| error.to_string())?;
    for value in header["steps"].as_array().expect("steps") {
        let mut value = value.clone();
        value["axis_name"] = header["axis_name"].clone();
        jaxpr = apply(&jaxpr, &super::step(&value)).map_err(|error| error.to_string())?;
    }
    let got = jaxpr.to_string();
    if same_up_to_names(&got, want) {
        return Ok(());
    }
    Err(format!("--- base\n{base}--- got\n{got}\n--- want\n{want}"))
}

#[test]
fn small_functions_are_transformed_as_jax_does() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/transforms/goldens");
    let selected = std::env::var("GOLDENS").unwrap_or_default();
    let mut failures = Vec::new();
    let mut paths: Vec<_> = std::fs::read_dir(folder)
        .expect("the goldens")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "jaxpr")
        })
        .filter(|path| path.to_string_lossy().contains(&selected))
        .collect();
    paths.sort();
    for path in &paths {
        if let Err(difference) = check(path) {
            println!("==== {}\n{difference}", path.display());
            failures.push(path.file_stem().expect("a name").to_owned());
        }
    }
    assert!(
        failures.is_empty(),
        "{} of {} differ: {failures:?}",
        failures.len(),
        paths.len()
    );
}
