//! Tests in one program, because linking one costs much less than linking one for each file:
//! `cargo test -p jaxide-core --test all NAME::` runs those of a file.
//!
//! Files are programs of their own where they set what a process has once, or are asked for by name with more cases.

#[path = "display/main.rs"]
mod display;
mod document;
mod foreign;
mod hostile;
mod layout;
mod long_texts;
#[path = "numerics/main.rs"]
mod numerics;
mod older_text;
mod refused;
mod rules;
mod simplify;
mod texts;

#[test]
fn every_file_is_run() {
    jaxide_testing::every_test_file_is_run(env!("CARGO_MANIFEST_DIR"));
}
