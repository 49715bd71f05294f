//! What programs become: the loop IR and the lane programs of each text in `tests/loops`, beside the text.

use jaxide_core::jaxpr::parse::parse;
use jaxide_cpu::{CompileOptions, Lowered, compile, lowered};
use std::path::Path;

/// Snapshots in a folder of `snapshots`.
fn snapshots(folder: &str) -> insta::Settings {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(here.join("../../snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings
}

#[test]
fn programs_become_loops() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = snapshots("loops");
    let mut count = 0;
    for file in std::fs::read_dir(here.join("tests/loops")).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let jaxpr = parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let program = compile(&jaxpr, &CompileOptions::default())
            .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let shown = format!("{text}\n{}", program.loops_text());
        let name = path.file_stem().unwrap().to_str().unwrap();
        settings.bind(|| insta::assert_snapshot!(name, shown));
        count += 1;
    }
    assert!(count > 5, "programs are missing");
}

/// The simplified jaxpr, the graph and the plan of some of them, and the equations that steps of the loop IR compute.
#[test]
fn stages_are_printed() {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = snapshots("stages");
    for name in [
        "arranged",
        "embedding",
        "layer",
        "softmax",
        "updates",
        "while_in_registers",
    ] {
        let path = here.join("tests/loops").join(name).with_extension("jaxpr");
        let text = std::fs::read_to_string(path).unwrap();
        let jaxpr = parse(&text).unwrap();
        let stage = |stage| lowered(&jaxpr, stage).unwrap();
        let loops = stage(Lowered::Loops);
        let lanes = stage(Lowered::Lanes);
        // Lane programs have snapshots with the loops.
        let (steps, programs) = loops.split_once("\nkernel").unwrap_or((&loops, ""));
        let bodies = |text: &str| text.matches("\nbody ").count();
        assert_eq!(bodies(programs), bodies(&lanes), "{name}");
        let shown = format!(
            "{text}\nsimplified\n{}\ngraph {}\nplan\n{}\nloops\n{steps}",
            stage(Lowered::Simplified),
            stage(Lowered::Graph),
            stage(Lowered::Plan),
        );
        settings.bind(|| insta::assert_snapshot!(name, shown));
    }
}
