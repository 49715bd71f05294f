//! Texts that JAX printed are read and printed back: the selection in `tests/conformance`, and the whole corpus where
//! it lies beside the checkout (`../shared/conformance`, or `JAXIDE_CONFORMANCE`).

use std::path::{Path, PathBuf};

use jaxide_core::jaxpr::text_compare::{normalise, same_up_to_names, without_layout};
use jaxide_core::{check, parse};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The folders with texts: the selection, and the corpus if it is there.
fn folders() -> Vec<PathBuf> {
    let corpus = std::env::var_os("JAXIDE_CONFORMANCE")
        .map_or_else(|| repository().join("../shared/conformance"), PathBuf::from);
    [repository().join("tests/conformance"), corpus]
        .into_iter()
        .filter(|folder| folder.is_dir())
        .collect()
}

/// Every `.jaxpr` file below a folder.
fn texts(folder: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    for group in std::fs::read_dir(folder).unwrap() {
        let group = group.unwrap().path();
        if !group.is_dir() {
            continue;
        }
        for file in std::fs::read_dir(group).unwrap() {
            let path = file.unwrap().path();
            if path
                .extension()
                .is_some_and(|extension| extension == "jaxpr")
            {
                let text = std::fs::read_to_string(&path).unwrap();
                found.push((path, text));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_text_is_printed_back() {
    for folder in folders() {
        let (mut exact, mut but_for_layout, mut failures) = (0, 0, Vec::new());
        for (path, text) in texts(&folder) {
            let text = text.strip_suffix('\n').unwrap_or(&text);
            let name = path.strip_prefix(&folder).unwrap().display().to_string();
            let jaxpr = match parse(text) {
                Ok(jaxpr) => jaxpr,
                Err(error) => {
                    failures.push(format!("{name}\n{error}"));
                    continue;
                }
            };
            let printed = jaxpr.to_string();
            let want = normalise(text);
            if normalise(&printed) == want {
                exact += 1;
            } else if want != text && without_layout(&normalise(&printed)) == without_layout(&want)
            {
                // A line is broken or not because of what normalising removed.
                but_for_layout += 1;
            } else {
                failures.push(format!(
                    "{name}\n--- wanted\n{want}\n--- printed\n{printed}"
                ));
            }
        }
        println!(
            "{}: {exact} byte for byte, {but_for_layout} but for lines broken by what was normalised, {} differ",
            folder.display(),
            failures.len()
        );
        let shown: Vec<&str> = failures.iter().take(50).map(String::as_str).collect();
        assert!(failures.is_empty(), "{}", shown.join("\n\n"));
    }
}

#[test]
fn printed_texts_are_read_as_the_same_jaxpr() {
    for folder in folders() {
        for (path, text) in texts(&folder) {
            let jaxpr = parse(&text).unwrap();
            let printed = jaxpr.to_string();
            let again =
                parse(&printed).unwrap_or_else(|error| panic!("{}\n{error}", path.display()));
            assert_eq!(again, jaxpr, "{}", path.display());
            assert_eq!(again.to_string(), printed, "{}", path.display());
        }
    }
}

#[test]
fn renamed_texts_are_the_same_up_to_names() {
    for folder in folders() {
        for (path, text) in texts(&folder) {
            assert!(
                same_up_to_names(&text, &parse(&text).unwrap().to_string()),
                "{}",
                path.display()
            );
        }
    }
}

#[test]
fn every_text_is_a_legal_jaxpr() {
    for folder in folders() {
        let mut failures = Vec::new();
        for (path, text) in texts(&folder) {
            if let Err(errors) = check(&parse(&text).unwrap()) {
                let name = path.strip_prefix(&folder).unwrap().display().to_string();
                failures.push(format!("{name}: {}", errors[0]));
            }
        }
        println!("{}: {} are refused", folder.display(), failures.len());
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }
}
