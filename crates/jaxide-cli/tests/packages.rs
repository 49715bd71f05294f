//! What is published can be: every package says what it is, depends on published ones alone, and holds the files that its sources
//! name. The packages themselves are made by `cargo publish --workspace --dry-run`.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// More than the sources of any package take: a file that does not belong there is noticed.
const LARGEST: u64 = 4 << 20;

fn repository() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap().to_owned()
}

fn cargo(arguments: &[&str]) -> String {
    let mut command = Command::new(env!("CARGO"));
    command.current_dir(repository()).args(arguments);
    let output = command.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

/// The packages of the workspace: those that are published, and the names of the others.
fn packages() -> (Vec<Value>, BTreeSet<String>) {
    let text = cargo(&["metadata", "--no-deps", "--offline", "--format-version=1"]);
    let metadata: Value = serde_json::from_str(&text).unwrap();
    let all = metadata["packages"].as_array().unwrap().clone();
    // An empty list of registries to publish to.
    let (published, others) = all
        .into_iter()
        .partition(|package| package["publish"].is_null());
    let names = |packages: Vec<Value>| {
        packages
            .iter()
            .map(|package| text_of(package, "name"))
            .collect()
    };
    (published, names(others))
}

fn text_of(package: &Value, field: &str) -> String {
    let text = package[field].as_str().unwrap_or_default().to_owned();
    assert!(
        !text.is_empty(),
        "{field} is missing in {}",
        package["name"]
    );
    text
}

fn words(package: &Value, field: &str) -> Vec<String> {
    let words = package[field].as_array().unwrap().iter();
    words
        .map(|word| word.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn packages_say_what_they_are() {
    let (published, _) = packages();
    let names: Vec<String> = (published.iter())
        .map(|package| text_of(package, "name"))
        .collect();
    assert!(
        names.len() >= 6 && names.contains(&"jaxide".to_owned()),
        "{names:?}"
    );
    for package in &published {
        let name = text_of(package, "name");
        for field in [
            "description",
            "license",
            "documentation",
            "rust_version",
            "readme",
        ] {
            text_of(package, field);
        }
        let manifest = PathBuf::from(text_of(package, "manifest_path"));
        let readme = manifest.with_file_name(text_of(package, "readme"));
        assert!(readme.is_file(), "{}", readme.display());
        // What the registry takes.
        let keywords = words(package, "keywords");
        assert!((3..=5).contains(&keywords.len()), "{name}: {keywords:?}");
        let is_short = |word: &String| word.len() <= 20 && !word.contains(' ');
        assert!(keywords.iter().all(is_short), "{name}: {keywords:?}");
        let categories = words(package, "categories");
        assert!(
            (1..=5).contains(&categories.len()),
            "{name}: {categories:?}"
        );

        // Pages of one system, with what is behind features.
        let targets = package["targets"].as_array().unwrap();
        let is_library = |target: &Value| {
            words(target, "kind")
                .iter()
                .any(|kind| kind != "bin" && kind.contains("lib") || kind == "proc-macro")
        };
        if targets.iter().any(is_library) {
            let settings = &package["metadata"]["docs"]["rs"];
            assert_eq!(
                words(settings, "targets"),
                ["x86_64-unknown-linux-gnu"],
                "{name}"
            );
            let has_features = !package["features"].as_object().unwrap().is_empty();
            assert_eq!(settings["all-features"] == true, has_features, "{name}");
        }
    }
}

#[test]
fn packages_depend_on_packages() {
    let (published, others) = packages();
    assert!(others.contains("jaxide-testing"), "{others:?}");
    for package in &published {
        let name = text_of(package, "name");
        for dependency in package["dependencies"].as_array().unwrap() {
            let to = text_of(dependency, "name");
            let (has_version, in_tests) = (dependency["req"] != "*", dependency["kind"] == "dev");
            if others.contains(&to) {
                // Without a version it is left out when the package is made.
                assert!(
                    in_tests && !has_version,
                    "{name} depends on {to}, which is not published"
                );
            } else {
                assert!(has_version, "{name} depends on any version of {to}");
            }
        }
    }
}

/// The path without `..` and `.`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => assert!(plain.pop(), "{} leaves its package", path.display()),
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

#[test]
fn packages_hold_what_their_sources_name() {
    let (published, _) = packages();
    let mut included = 0;
    for package in &published {
        let name = text_of(package, "name");
        let list = cargo(&[
            "package",
            "--list",
            "--allow-dirty",
            "--offline",
            "--quiet",
            "-p",
            &name,
        ]);
        let files: BTreeSet<PathBuf> = list.lines().map(PathBuf::from).collect();
        let readme = PathBuf::from(text_of(package, "readme"));
        let readme = readme.file_name().unwrap().to_str().unwrap();
        for wanted in ["Cargo.toml", readme, "LICENSE-APACHE", "LICENSE-MIT"] {
            assert!(files.contains(Path::new(wanted)), "{name} has no {wanted}");
        }
        let manifest = PathBuf::from(text_of(package, "manifest_path"));
        let folder = manifest.parent().unwrap();
        let mut size = 0;
        for file in files.iter().filter(|file| file.starts_with("src")) {
            let text = std::fs::read_to_string(folder.join(file)).unwrap();
            size += text.len() as u64;
            for macro_call in [
                "include_str!(\"",
                "include_bytes!(\"",
                "include!(\"",
                "#[path = \"",
            ] {
                for rest in text.split(macro_call).skip(1) {
                    let path = rest.split('"').next().unwrap();
                    let path = plain(&file.parent().unwrap().join(path));
                    assert!(
                        files.contains(&path),
                        "{} of {name} wants {}",
                        file.display(),
                        path.display()
                    );
                    included += 1;
                }
            }
        }
        assert!(size > 0 && size < LARGEST, "{name}: {size} bytes");
        // They need crates that are not published.
        assert!(
            !files.iter().any(|file| file.starts_with("tests")),
            "{name} has tests"
        );
    }
    assert!(included > 2, "no file is included any more");
}
