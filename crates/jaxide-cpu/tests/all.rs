//! Tests in one program, because linking one costs much less than linking one for each file:
//! `cargo test -p jaxide-cpu --test all NAME::` runs those of a file.
//!
//! Files are programs of their own where they look at what a process has once, or are asked for by name with more cases.

mod around;
mod branched;
mod carried;
mod combines;
mod costly_sums;
mod depthwise;
mod differential;
mod division;
mod donation;
mod everywhere;
mod far;
mod few;
mod fused;
mod guarded;
mod interleaved;
mod invariants;
mod known;
#[path = "lanes/main.rs"]
mod lanes;
mod long;
mod loops;
mod moves;
mod nothing;
mod overlay;
mod parallel;
mod plans;
mod precision;
mod printing;
mod profile;
mod recurrences;
mod reproducers;
mod root_divisions;
mod root_powers;
mod row_blocks;
mod scatters;
mod short_rows;
mod small_elements;
mod stacks;
mod steps;
mod subnormals;
mod supposed;
mod tables;
mod texts;
mod tiles;
mod tiny;
mod turned;
mod unread;
mod windows;

#[test]
fn every_file_is_run() {
    jaxide_testing::every_test_file_is_run(env!("CARGO_MANIFEST_DIR"));
}
