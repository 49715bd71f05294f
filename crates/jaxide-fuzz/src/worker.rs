//! A process that runs one case after another until one ends it.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Seek, Write};
use std::path::Path;
use std::time::{Duration, Instant};

use jaxide_fuzz::{Seeds, Target, target};

use super::Usage;

/// The first word of its command line.
pub(crate) const COMMAND: &str = "--worker";

/// More memory than this no case may leave behind.
const RESIDENT: usize = 1 << 30;

/// The number of a case, from which its input is made: cases of different seeds have nothing in common.
pub(crate) fn number(seed: u64, index: u64) -> u64 {
    seed.wrapping_mul(1 << 32).wrapping_add(index)
}

/// Which cases a worker runs: `first`, `first + step` and so on below `end`, until `seconds` are over.
pub(crate) struct Share {
    pub(crate) seed: u64,
    pub(crate) first: u64,
    pub(crate) step: u64,
    pub(crate) end: u64,
    pub(crate) seconds: f64,
}

/// The words behind [`COMMAND`]; the file is told the case that is being run.
pub(crate) fn words(target: &Target, share: &Share, progress: &Path) -> Vec<OsString> {
    let Share {
        seed,
        first,
        step,
        end,
        seconds,
    } = share;
    let mut words: Vec<OsString> = vec![COMMAND.into(), target.name.into()];
    words.extend([seed, first, step, end].map(|number| number.to_string().into()));
    words.push(seconds.to_string().into());
    words.push(progress.into());
    words
}

/// Runs cases. What they do wrong ends the process.
pub(crate) fn main(words: &[OsString]) -> Result<(), Usage> {
    let [name, numbers @ .., seconds, progress] = words else {
        return Err("a worker is started by `fuzz/run` alone".to_owned());
    };
    let target = target(&name.to_string_lossy()).ok_or("no such target")?;
    let parse = |word: &OsString| {
        word.to_string_lossy()
            .parse::<u64>()
            .map_err(|error| error.to_string())
    };
    let numbers = numbers
        .iter()
        .map(parse)
        .collect::<Result<Vec<u64>, Usage>>()?;
    let [seed, first, step, end] = numbers[..] else {
        return Err("four numbers are expected".to_owned());
    };
    let seconds: f64 = seconds
        .to_string_lossy()
        .parse()
        .map_err(|_| "no number of seconds")?;
    let mut progress = File::create(progress).map_err(|error| error.to_string())?;
    let (seeds, start) = (Seeds::of_repository(), Instant::now());
    let (mut index, mut slowest, mut count) = (first, (Duration::ZERO, first), 0u64);
    while index < end && start.elapsed().as_secs_f64() < seconds {
        let told = progress
            .rewind()
            .and_then(|()| progress.write_all(&index.to_le_bytes()));
        told.map_err(|error| error.to_string())?;
        let input = (target.input)(&seeds, number(seed, index));
        let begun = Instant::now();
        (target.run)(&input);
        slowest = slowest.max((begun.elapsed(), index));
        if count.is_multiple_of(256)
            && let Some(bytes) = resident()
        {
            assert!(bytes < RESIDENT, "{bytes} bytes of memory are kept");
        }
        count += 1;
        index += step;
    }
    // Read by who started this.
    println!("{count} {} {}", slowest.0.as_micros(), slowest.1);
    Ok(())
}

/// Bytes of memory that the process has, where the system tells.
fn resident() -> Option<usize> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: usize = text.split(' ').nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// The target that a file is for: its name, or that of its folder, begins with the target's.
pub(crate) fn target_of(file: &Path) -> Result<&'static Target, Usage> {
    let stem = file
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let folder = file
        .parent()
        .and_then(Path::file_name)
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let named = stem
        .split('-')
        .next()
        .and_then(target)
        .or_else(|| target(&folder));
    named.ok_or_else(|| {
        format!(
            "the name of {} does not begin with that of a target",
            file.display()
        )
    })
}

/// Runs one case, from a file.
pub(crate) fn once(file: &Path) -> Result<(), Usage> {
    let target = target_of(file)?;
    let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
    (target.run)(&bytes);
    Ok(())
}
