//! A target with mistakes.

use std::time::Duration;

use jaxide_testing::Random;

/// Some words of which few are mistakes.
pub(crate) fn input(number: u64) -> Vec<u8> {
    const WORDS: [&str; 5] = ["one\n", "two\n", "three\n", "four\n", "five\n"];
    const MISTAKES: [&str; 4] = ["panic\n", "abort\n", "hang\n", "overflow\n"];
    let mut random = Random(number);
    let mut words: Vec<&str> = (0..20).map(|_| WORDS[random.below(5)]).collect();
    if random.one_in(50) {
        words[random.below(20)] = MISTAKES[random.below(4)];
    }
    words.concat().into_bytes()
}

/// Fails on those.
pub(crate) fn run(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    assert!(
        !text.contains("panic"),
        "there is a panic in {} bytes",
        bytes.len()
    );
    if text.contains("abort") {
        std::process::abort();
    }
    if text.contains("hang") {
        std::thread::sleep(Duration::from_secs(1000));
    }
    if text.contains("overflow") {
        std::hint::black_box(deep(std::hint::black_box(usize::MAX)));
    }
}

fn deep(depth: usize) -> usize {
    let here = std::hint::black_box([depth; 100]);
    if depth == 0 {
        0
    } else {
        here[7] + deep(depth - 1)
    }
}
