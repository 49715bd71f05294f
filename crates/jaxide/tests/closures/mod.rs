//! Random programs through the public API, and what they are checked against.

mod check;
mod compare;
mod draw;
mod generate;
mod number;
mod program;
mod reference;
mod run;
mod shrink;
mod source;

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

use check::Verdict;

/// What became of the programs of some seeds.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) fine: usize,
    pub(crate) undecided: usize,
    /// Runs that were compared.
    pub(crate) checks: usize,
    /// Seeds with reports.
    pub(crate) failed: Vec<(u64, String)>,
}

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `f` and gives what it says when it panics, which is printed nowhere: it is a report.
fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            if !QUIET.get() {
                before(info);
            }
        }));
    });
    QUIET.set(true);
    let outcome = catch_unwind(AssertUnwindSafe(f));
    QUIET.set(false);
    outcome.map_err(|payload| panicked(&payload))
}

/// What a panic said.
fn panicked(payload: &Box<dyn Any + Send>) -> String {
    let said = payload
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| payload.downcast_ref::<&str>().copied());
    format!("panic: {}", said.unwrap_or("without words"))
}

impl Tally {
    /// Makes and checks the program of a seed.
    pub(crate) fn run(&mut self, seed: u64) {
        let program = generate::program(seed);
        match check::check(&program, &check::drawn(&program)) {
            Verdict::Fine(checks) => {
                self.fine += 1;
                self.checks += checks;
            }
            Verdict::Undecided => self.undecided += 1,
            Verdict::Failed(check, message) => {
                let (program, message) = shrink::shrunk(&program, check, message);
                let report = format!("{check:?}: {message}\n{program}");
                self.failed.push((seed, report));
            }
        }
    }

    pub(crate) fn join(&mut self, other: Tally) {
        self.fine += other.fine;
        self.undecided += other.undecided;
        self.checks += other.checks;
        self.failed.extend(other.failed);
    }
}
