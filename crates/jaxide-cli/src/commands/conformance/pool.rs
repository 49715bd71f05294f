//! Runs cases on several threads, and goes on whatever a case does: a panic is a failure, and so is taking too long.

use std::any::Any;
use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use jaxide_core::{Error, ErrorKind, Result};

use super::case::Case;
use super::checks::{self, Check, How, Outcome, Verdict};
use crate::program::STACK;

/// What workers say.
enum Message {
    Started(usize),
    Finished(usize, Vec<Verdict>),
}

/// Runs all cases and gives each one's verdicts, in the order of the cases.
pub(super) fn run(
    cases: Vec<Case>,
    how: How,
    limit: Duration,
    mut report: impl FnMut(&str, Vec<Verdict>),
) -> Result<()> {
    // Panics are reported as failures of their cases, not on the terminal.
    std::panic::set_hook(Box::new(|_| {}));
    let pool = Arc::new(Pool {
        cases,
        next: AtomicUsize::new(0),
        how,
    });
    let (sender, receiver) = channel();
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    for _ in 0..threads {
        pool.spawn(&sender)?;
    }
    let mut running: HashMap<usize, Instant> = HashMap::new();
    let mut finished: Vec<Option<Vec<Verdict>>> = Vec::new();
    finished.resize_with(pool.cases.len(), || None);
    let mut left = pool.cases.len();
    while left > 0 {
        match receiver.recv_timeout(Duration::from_secs(1)) {
            Ok(Message::Started(index)) => {
                running.insert(index, Instant::now());
            }
            Ok(Message::Finished(index, verdicts)) => {
                // What was given up may finish after all.
                if running.remove(&index).is_some() {
                    finished[index] = Some(verdicts);
                    left -= 1;
                }
            }
            Err(RecvTimeoutError::Timeout) => {
                let stuck: Vec<usize> = running
                    .iter()
                    .filter(|(_, since)| since.elapsed() > limit)
                    .map(|(&index, _)| index)
                    .collect();
                for index in stuck {
                    running.remove(&index);
                    let why = format!("takes longer than {} s", limit.as_secs());
                    finished[index] = Some(vec![failure(why)]);
                    left -= 1;
                    // Its thread cannot be stopped; another takes its place.
                    pool.spawn(&sender)?;
                }
            }
            Err(RecvTimeoutError::Disconnected) => break,
        }
    }
    for (case, verdicts) in pool.cases.iter().zip(finished) {
        report(&case.path(), verdicts.unwrap_or_default());
    }
    Ok(())
}

struct Pool {
    cases: Vec<Case>,
    next: AtomicUsize,
    how: How,
}

impl Pool {
    /// Starts a worker that takes one case after another.
    fn spawn(self: &Arc<Self>, sender: &Sender<Message>) -> Result<()> {
        let (pool, sender) = (self.clone(), sender.clone());
        let work = move || {
            loop {
                let index = pool.next.fetch_add(1, Ordering::Relaxed);
                let Some(case) = pool.cases.get(index) else {
                    return;
                };
                if sender.send(Message::Started(index)).is_err() {
                    return;
                }
                let verdicts = catch_unwind(AssertUnwindSafe(|| checks::run(case, &pool.how)))
                    .unwrap_or_else(|panic| vec![failure(format!("panic: {}", message(&*panic)))]);
                if sender.send(Message::Finished(index, verdicts)).is_err() {
                    return;
                }
            }
        };
        let started = std::thread::Builder::new().stack_size(STACK).spawn(work);
        started.map(drop).map_err(|error| {
            Error::new(ErrorKind::Io, format!("no thread can be started: {error}"))
        })
    }
}

fn failure(why: String) -> Verdict {
    Verdict {
        check: Check::Eval,
        outcome: Outcome::Fail(why),
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("without a message")
}
