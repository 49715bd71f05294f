//! Workers, each watched by a thread that takes down what ends it.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use jaxide_fuzz::{Seeds, Target};

use super::worker::{self, Share};
use super::{Goal, Usage};

/// A process has so many kilobytes of addresses: what is taken beyond them ends it.
const ADDRESSES: usize = 6_000_000;

/// After so many findings of a target there is something to do.
const MOST: usize = 10;

/// The folder of findings.
pub(crate) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/findings")
}

/// This program with other words, and a bound on its memory where there are shells.
pub(crate) fn bounded(words: &[std::ffi::OsString]) -> Result<Command, Usage> {
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut command = if cfg!(unix) {
        let mut shell = Command::new("sh");
        let script = format!("ulimit -v {ADDRESSES} 2>/dev/null; ulimit -c 0; exec \"$0\" \"$@\"");
        shell.arg("-c").arg(script).arg(own);
        shell
    } else {
        Command::new(own)
    };
    command.args(words).stdin(Stdio::null());
    Ok(command)
}

/// How a process ended that should not have.
pub(crate) struct Failure {
    /// What it is called: the same for the same mistake, as far as can be told.
    pub(crate) class: String,
    /// All that was said.
    pub(crate) message: String,
}

/// What is wrong with the end of a process, if anything; `None` as status is a process that was killed because it hung.
pub(crate) fn failure(status: Option<ExitStatus>, message: String) -> Option<Failure> {
    let class = match status {
        Some(status) if status.success() => return None,
        // A panic says where it is, and what.
        Some(status) if status.code() == Some(101) => {
            let mut lines = message
                .lines()
                .skip_while(|line| !line.contains("panicked at"));
            let (place, text) = (
                lines.next().unwrap_or_default(),
                lines.next().unwrap_or_default(),
            );
            let place = place.split("panicked at").last().unwrap_or_default();
            let text = text
                .split(|c: char| c.is_ascii_digit())
                .next()
                .unwrap_or_default();
            format!(
                "panic at{place} {}",
                text.chars().take(60).collect::<String>()
            )
        }
        Some(status) => format!("{status}"),
        None => "a hang".to_owned(),
    };
    Some(Failure { class, message })
}

/// What the workers of a target have done.
#[derive(Default)]
struct Tally {
    cases: u64,
    slowest: (Duration, u64),
    classes: BTreeSet<String>,
    broken: Option<Usage>,
}

/// Feeds a target. How many mistakes are found.
pub(crate) fn fuzz(target: &Target, goal: &Goal, time: Option<Duration>) -> Result<usize, Usage> {
    let start = Instant::now();
    let workers = std::thread::available_parallelism().map_or(1, |number| number.get() as u64);
    let count = goal.count.unwrap_or(u64::MAX);
    let scratch = tempfile::tempdir().map_err(|error| error.to_string())?;
    let tally = Mutex::new(Tally::default());
    std::thread::scope(|scope| {
        for first in 0..workers.min(count) {
            let (tally, scratch) = (&tally, scratch.path());
            let share = Share {
                seed: goal.seed,
                first,
                step: workers,
                end: count,
                seconds: f64::INFINITY,
            };
            scope.spawn(move || {
                if let Err(error) = one(target, goal, time, (share, scratch), tally) {
                    tally.lock().expect("no panic").broken = Some(error);
                }
            });
        }
    });
    let tally = tally.into_inner().expect("no panic");
    if let Some(error) = tally.broken {
        return Err(error);
    }
    println!(
        "{}: {} cases from seed {} in {:.1?}, the slowest of {:.1?} is {}; {} findings",
        target.name,
        tally.cases,
        goal.seed,
        start.elapsed(),
        tally.slowest.0,
        tally.slowest.1,
        tally.classes.len()
    );
    Ok(tally.classes.len())
}

/// Keeps one worker at work.
fn one(
    target: &Target,
    goal: &Goal,
    time: Option<Duration>,
    (mut share, scratch): (Share, &Path),
    tally: &Mutex<Tally>,
) -> Result<(), Usage> {
    let text = |error: std::io::Error| error.to_string();
    let start = Instant::now();
    let progress = scratch.join(format!("case-{}", share.first));
    let said = scratch.join(format!("said-{}", share.first));
    loop {
        if let Some(time) = time {
            share.seconds = time.saturating_sub(start.elapsed()).as_secs_f64();
        }
        let _ = std::fs::remove_file(&progress);
        let result = scratch.join(format!("result-{}", share.first % share.step));
        let mut child = bounded(&worker::words(target, &share, &progress))?
            .stdout(File::create(&result).map_err(text)?)
            .stderr(File::create(&said).map_err(text)?)
            .spawn()
            .map_err(text)?;
        let (mut seen, mut since) = (None, Patience::new(&child));
        let status = loop {
            if let Some(status) = child.try_wait().map_err(text)? {
                break Some(status);
            }
            let now = case(&progress);
            if now != seen {
                (seen, since) = (now, Patience::new(&child));
            } else if seen.is_some() && since.ended(&child, goal.slow) {
                child.kill().map_err(text)?;
                child.wait().map_err(text)?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(20));
        };
        let message = std::fs::read(&said).map_err(text)?;
        let message = String::from_utf8_lossy(&message).into_owned();
        let Some(failure) = failure(status, message) else {
            let result = std::fs::read_to_string(&result).map_err(text)?;
            let numbers: Vec<u64> = result
                .split_whitespace()
                .filter_map(|word| word.parse().ok())
                .collect();
            let mut tally = tally.lock().expect("no panic");
            if let [count, micros, index] = numbers[..] {
                tally.cases += count;
                tally.slowest = tally.slowest.max((Duration::from_micros(micros), index));
            }
            return Ok(());
        };
        let Some(index) = case(&progress) else {
            return Err(format!(
                "{} does not begin: {}",
                target.name, failure.message
            ));
        };
        let mut tally = tally.lock().expect("no panic");
        tally.cases += (index - share.first) / share.step + 1;
        if tally.classes.insert(failure.class.clone()) {
            report(target, goal.seed, index, &failure)?;
        }
        if tally.classes.len() >= MOST {
            return Ok(());
        }
        share.first = index + share.step;
    }
}

/// How long a process has been at one input. Processor time counts, so that a machine with other work finds no hangs; what
/// sleeps for several times as long hangs too.
pub(crate) struct Patience {
    since: Instant,
    spent: Option<Duration>,
}

impl Patience {
    pub(crate) fn new(child: &Child) -> Self {
        Patience {
            since: Instant::now(),
            spent: processor_time(child),
        }
    }

    /// Whether the process took longer than it may.
    pub(crate) fn ended(&self, child: &Child, slow: Duration) -> bool {
        const ASLEEP: u32 = 6;
        let waited = self.since.elapsed();
        match (self.spent, processor_time(child)) {
            (Some(before), Some(now)) if waited < slow * ASLEEP => {
                now.saturating_sub(before) > slow
            }
            _ => waited > slow,
        }
    }
}

/// Processor time of a process and its threads, where the system tells (`proc(5)`).
fn processor_time(child: &Child) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).ok()?;
    // The name of the program, in brackets, may hold anything.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11);
    let (user, system): (u64, u64) = (ticks.next()?.parse().ok()?, ticks.next()?.parse().ok()?);
    Some(Duration::from_millis(10 * (user + system)))
}

/// The case that a worker is at, once it is at one.
fn case(progress: &Path) -> Option<u64> {
    let bytes = std::fs::read(progress).ok()?;
    Some(u64::from_le_bytes(bytes.try_into().ok()?))
}

/// Keeps the input of a case, and says how to go on.
fn report(target: &Target, seed: u64, index: u64, failure: &Failure) -> Result<(), Usage> {
    let folder = folder();
    let name = format!("{}-{seed}-{index}.{}", target.name, target.extension);
    let input = (target.input)(&Seeds::of_repository(), worker::number(seed, index));
    let path = folder.join(&name);
    let kept = std::fs::create_dir_all(&folder).and_then(|()| std::fs::write(&path, input));
    kept.map_err(|error| format!("{}: {error}", path.display()))?;
    println!(
        "{}: {}\n{}\nits input is fuzz/findings/{name}: make it smaller with\n    fuzz/run shrink fuzz/findings/{name}\n",
        target.name,
        failure.class,
        failure.message.trim_end()
    );
    Ok(())
}
