//! Texts that must be refused, with what is said about them: `tests/files/error` cannot be read, `tests/files/illegal`
//! can be read and is no legal jaxpr. The snapshots show text and message side by side.

use std::path::Path;

use jaxide_core::{Diagnostic, check, parse};

/// Compares the message for each text in a folder with its snapshot.
fn refuse(folder: &str, message: impl Fn(&str, &str) -> String) {
    let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(repository.join("snapshots").join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    let mut count = 0;
    for file in std::fs::read_dir(repository.join("tests/files").join(folder)).unwrap() {
        let path = file.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        let file = path.file_name().unwrap().to_str().unwrap();
        let name = file.strip_suffix(".jaxpr").unwrap();
        let shown = format!("{text}\n{}", message(&text, file));
        settings.bind(|| insta::assert_snapshot!(name, shown));
        count += 1;
    }
    assert!(count > 10, "texts are missing from {folder}");
}

#[test]
fn malformed_texts() {
    refuse("error", |text, file| {
        parse(text).unwrap_err().render(Some(file), false)
    });
}

#[test]
fn illegal_jaxprs() {
    refuse("illegal", |text, file| {
        let jaxpr = parse(text).unwrap_or_else(|error| panic!("{error}"));
        let errors = check(&jaxpr).expect_err(file);
        let shown: Vec<String> = errors
            .iter()
            .map(|error| match Diagnostic::of_error(error, text) {
                Some(diagnostic) => diagnostic.render(text, Some(file), false),
                None => format!("error: {error}"),
            })
            .collect();
        shown.join("\n\n")
    });
}
