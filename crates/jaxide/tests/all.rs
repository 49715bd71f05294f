//! Tests in one program, because linking one costs much less than linking one for each file:
//! `cargo test -p jaxide --test all NAME::` runs those of a file.
//!
//! Files are programs of their own where they need features, start themselves as a child, or look at what a process has
//! once.

mod adapter;
mod arithmetic;
mod axes;
mod captures;
mod collective;
mod compose;
mod cost;
mod derivatives;
mod display;
mod errors;
mod functions;
mod guide;
mod indexing;
mod jacobians;
mod lanes;
mod lax;
#[path = "programs.rs"]
mod programs;
mod random;
mod references;
mod refusals;
mod solve;
mod surface;
mod trees;
mod windows;

#[test]
fn every_file_is_run() {
    jaxide_testing::every_test_file_is_run(env!("CARGO_MANIFEST_DIR"));
}
