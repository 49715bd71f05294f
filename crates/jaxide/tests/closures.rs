//! Random programs written against the public API the way users write them, beside an evaluator on plain vectors.
//!
//! ```text
//! JAXIDE_CLOSURES=1000000 cargo test --release -p jaxide --test closures -- --nocapture
//! ```
//!
//! runs a million. `JAXIDE_CLOSURES_SEED` is the first seed (0), `JAXIDE_CLOSURES_THREADS` the number of threads (all of
//! the machine), `JAXIDE_ISA` the instruction set (`portable`, `avx2`, `avx512`; the widest). A failing program is shrunk and
//! printed with its seed; `JAXIDE_CLOSURES=1 JAXIDE_CLOSURES_SEED=n` runs it again.
//!
//! Captured arrays of at most 16 bytes were once told apart by the address of their handle. With that mistake put back, several
//! of the first hundred programs fail, the first of them within a second: a product with another array than the one written,
//! an index array in place of a factor, a key in place of numbers.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[path = "closures/mod.rs"]
mod closures;

use closures::Tally;
use jaxide::Isa;
use jaxide_testing::asked;

/// After so many failures there is something to do.
const MOST_FAILURES: usize = 20;

#[test]
fn random_programs_are_right_in_every_way_to_run_them() {
    if let Ok(name) = std::env::var("JAXIDE_ISA") {
        assert_eq!(Isa::detect().name(), name, "the machine has this set");
    }
    let long = asked("JAXIDE_CLOSURES");
    let count = long.unwrap_or(1000);
    let first = asked("JAXIDE_CLOSURES_SEED").unwrap_or(0);
    let all = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let threads = asked("JAXIDE_CLOSURES_THREADS").unwrap_or(all);
    let (next, total) = (AtomicU64::new(0), Mutex::new(Tally::default()));
    let start = Instant::now();
    let work = || {
        let mut own = Tally::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= count {
                break;
            }
            own.run(first + number);
            for (seed, report) in own.failed.drain(..) {
                println!("seed {seed}\n{report}");
                let mut total = total.lock().expect("no panic");
                total.failed.push((seed, report));
                if total.failed.len() >= MOST_FAILURES {
                    next.store(count, Ordering::Relaxed);
                }
            }
            if long.is_some() && number % 10_000 == 9_999 {
                let rate = (number + 1) as f64 / start.elapsed().as_secs_f64();
                println!("{} programs, {rate:.0} in a second", number + 1);
            }
        }
        total.lock().expect("no panic").join(own);
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            let stack = std::thread::Builder::new().stack_size(16 << 20);
            stack.spawn_scoped(scope, work).expect("a thread");
        }
    });
    let tally = total.into_inner().expect("no panic");
    println!(
        "{} programs on {} in {:.1?}: {} fine by {} runs, {} undecided, {} failed",
        tally.fine + tally.undecided + tally.failed.len(),
        Isa::detect().name(),
        start.elapsed(),
        tally.fine,
        tally.checks,
        tally.undecided,
        tally.failed.len()
    );
    let failed = tally.failed.len();
    assert_eq!(failed, 0, "{failed} programs fail");
    assert!(
        tally.undecided * 4 < count as usize,
        "most programs are compared"
    );
}

/// The same on narrower instruction sets, in processes of their own.
#[test]
fn random_programs_are_right_on_narrower_machines() {
    if asked::<u64>("JAXIDE_CLOSURES").is_some() {
        return;
    }
    for isa in Isa::available() {
        if isa == Isa::detect() {
            continue;
        }
        let output = Command::new(std::env::current_exe().expect("this program"))
            .args(["--nocapture", "in_every_way"])
            .env("JAXIDE_ISA", isa.name())
            .env("JAXIDE_CLOSURES", "100")
            .env("JAXIDE_CLOSURES_SEED", "1000")
            .output()
            .expect("the program runs");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{text}");
        let summary = format!("100 programs on {}", isa.name());
        assert!(text.contains(&summary), "{text}");
    }
}
