//! Real texts with random damage: reading never panics and takes little time, and what can still be read is printed and
//! read again as the same jaxpr; what is legal still is transformed or refused. `fuzz/run text check transform` goes on
//! with this.

use std::time::{Duration, Instant};

use jaxide_core::memory;
use jaxide_testing::corpus::Corpus;
use jaxide_testing::{asked, targets};

/// Calls `f` with the texts of some seeds.
fn each(make: fn(&Corpus, u64) -> Vec<u8>, cases: u64, f: fn(&[u8])) {
    memory::set_limit(Some(256 << 20));
    let corpus = Corpus::of_repository();
    let first: u64 = asked("JAXIDE_SEED").unwrap_or(0);
    let cases = asked("JAXIDE_CASES").unwrap_or(cases);
    for seed in first..first + cases {
        let text = make(&corpus, seed);
        let start = Instant::now();
        // The text is only printed when this fails.
        println!("seed {seed}:\n{}", String::from_utf8_lossy(&text));
        f(&text);
        assert!(
            start.elapsed() < Duration::from_secs(2),
            "{:?}",
            start.elapsed()
        );
    }
}

#[test]
fn damaged_texts_are_refused_or_read() {
    each(Corpus::damaged, 1000, targets::text);
}

#[test]
fn changed_texts_are_refused_or_read() {
    each(Corpus::changed, 500, targets::text);
}

#[test]
fn what_is_still_legal_keeps_its_types() {
    each(Corpus::changed, 500, targets::check);
}

#[test]
fn what_is_still_legal_is_transformed_or_refused() {
    each(Corpus::changed, 500, targets::transform);
}
