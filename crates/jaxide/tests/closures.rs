//! Random programs written against the public API the way users write them, beside an evaluator on plain vectors.
//!
//! ```text
//! JAXIDE_CLOSURES=1000000 cargo test --release -p jaxide --test closures -- --nocapture
//! ```
//!
//! runs a million. `JAXIDE_CLOSURES_SEED` is the first seed (0), `JAXIDE_CLOSURES_THREADS` the number of threads (all of
//! the machine), `JAXIDE_ISA` the instruction set (`portable`, `avx2`, `avx512`; the widest). A failing program is shrunk and
//! printed with its seed.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

#[path = "closures/mod.rs"]
mod closures;

use closures::Tally;

fn asked(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is no number: {text}")),
    )
}

#[test]
fn random_programs_are_right_in_every_way_to_run_them() {
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
            if number >= count || own.failed.len() > 20 {
                break;
            }
            own.run(first + number);
            if long.is_some() && number % 10_000 == 9_999 {
                let rate = (number + 1) as f64 / start.elapsed().as_secs_f64();
                println!("{} programs, {rate:.0} in a second", number + 1);
            }
            for (seed, report) in own.failed.drain(..) {
                println!("seed {seed}\n{report}");
                total.lock().expect("no panic").failed.push((seed, report));
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
        "{} programs in {:.1?}: {} fine by {} runs, {} undecided, {} failed",
        count,
        start.elapsed(),
        tally.fine,
        tally.checks,
        tally.undecided,
        tally.failed.len()
    );
    assert!(
        tally.failed.is_empty(),
        "{} programs fail",
        tally.failed.len()
    );
    assert!(
        tally.undecided * 4 < count as usize,
        "most programs are compared"
    );
}
