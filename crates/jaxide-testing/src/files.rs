//! The test files of a crate, and whether they are run.

use std::fs;
use std::path::Path;

/// Looks whether each file in `tests/` of a crate, and each folder with a `main.rs`, is a module of `tests/all.rs` or a test
/// program that the crate's manifest names: where `autotests` is off, a file that is neither would be forgotten.
///
/// # Panics
/// When one is not, or files cannot be read.
pub fn every_test_file_is_run(manifest_dir: &str) {
    let tests = Path::new(manifest_dir).join("tests");
    let read = |path: &Path| {
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    let (all, manifest) = (
        read(&tests.join("all.rs")),
        read(&Path::new(manifest_dir).join("Cargo.toml")),
    );
    let programs: Vec<&str> = (manifest.split("[[test]]").skip(1))
        .filter_map(|entry| entry.split("name = \"").nth(1)?.split('"').next())
        .collect();
    let mut forgotten = Vec::new();
    for entry in fs::read_dir(&tests).expect("the folder of the tests") {
        let path = entry.expect("an entry of the folder").path();
        let is_test =
            path.extension().is_some_and(|end| end == "rs") || path.join("main.rs").exists();
        let name = path
            .file_stem()
            .and_then(|name| name.to_str())
            .expect("a name in UTF-8");
        let module = format!("mod {name};");
        if is_test && !programs.contains(&name) && !all.lines().any(|line| line == module) {
            forgotten.push(name.to_owned());
        }
    }
    assert!(
        forgotten.is_empty(),
        "{forgotten:?} are no modules of tests/all.rs and no programs in Cargo.toml"
    );
}
