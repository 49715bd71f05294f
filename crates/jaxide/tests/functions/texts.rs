//! Programs of `jax.numpy` from the folder `texts`, as JAX writes them: a call here that is traced gives the same text.

use std::path::Path;

use jaxide::make_jaxpr_of;
use jaxide::prelude::*;

use super::{AREAS, caught};

/// Programs that no call of this library expresses, with the reason.
const NOT_EXPRESSED: &str = include_str!("texts/not-expressed.txt");

#[test]
fn programs_are_written_as_jax_writes_them() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/functions/texts");
    let mut names: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|entry| Some(entry.unwrap().path().file_stem()?.to_str()?.to_owned()))
        .filter(|name| name != "not-expressed")
        .collect();
    names.sort();
    let reason = |name: &str| {
        let mut lines = NOT_EXPRESSED.lines();
        lines.any(|line| line.split_once(": ").is_some_and(|(own, _)| own == name))
    };
    let mut wrong = Vec::new();
    let mut same = 0;
    for name in &names {
        let text = std::fs::read_to_string(folder.join(format!("{name}.jaxpr"))).unwrap();
        let want = text.trim_end();
        let avals = jaxide_core::jaxpr::parse(want).unwrap().in_avals();
        let args: Vec<Array> = avals.into_iter().map(Array::from).collect();
        let f = |arrays: Vec<Array>| -> Vec<Array> {
            let results = AREAS.iter().find_map(|area| (area.text)(name, &arrays));
            results.expect("expressed")
        };
        let got = caught(|| make_jaxpr_of(&f, (args.clone(),)).map(|jaxpr| jaxpr.to_string()));
        let got = match got {
            Ok(Ok(text)) => text,
            Ok(Err(error)) => error.to_string(),
            Err(message) => message,
        };
        if std::env::var("JAXIDE_SHOW").is_ok_and(|own| own == *name) {
            println!("{got}\n");
        }
        match (got == want, reason(name)) {
            (true, false) => same += 1,
            (true, true) => wrong.push(format!("{name} is listed, and is the same")),
            (false, false) => wrong.push(name.clone()),
            (false, true) => {}
        }
    }
    println!(
        "{same} of {} programs are written as JAX writes them",
        names.len()
    );
    assert!(
        wrong.is_empty(),
        "{} differ:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
