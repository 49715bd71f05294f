//! Makes an input smaller that ends a target, as long as it ends it in the same way.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use super::Usage;
use super::watch::{Failure, Patience, bounded, failure};
use super::worker::target_of;

/// After so long it is small enough.
const PATIENCE: Duration = Duration::from_secs(300);

/// Runs a target on inputs, each in a process of its own.
struct Trial {
    /// The file that the process reads; its name tells the target.
    file: PathBuf,
    said: PathBuf,
    slow: Duration,
}

impl Trial {
    /// How the target ends on an input, if not well.
    fn of(&self, input: &[u8]) -> Result<Option<Failure>, Usage> {
        let text = |error: std::io::Error| error.to_string();
        std::fs::write(&self.file, input).map_err(text)?;
        let words: Vec<OsString> = vec!["once".into(), self.file.clone().into()];
        let said = File::create(&self.said).map_err(text)?;
        let mut child = bounded(&words)?.stderr(said).spawn().map_err(text)?;
        let start = Patience::new(&child);
        let status = loop {
            if let Some(status) = child.try_wait().map_err(text)? {
                break Some(status);
            }
            if start.ended(&child, self.slow) {
                child.kill().map_err(text)?;
                child.wait().map_err(text)?;
                break None;
            }
            std::thread::sleep(Duration::from_millis(1));
        };
        let message = std::fs::read(&self.said).map_err(text)?;
        Ok(failure(
            status,
            String::from_utf8_lossy(&message).into_owned(),
        ))
    }
}

/// `fuzz/run shrink FILE`.
pub(crate) fn main(file: &Path, slow: Duration) -> Result<ExitCode, Usage> {
    let text = |error: std::io::Error| format!("{}: {error}", file.display());
    let target = target_of(file)?;
    let scratch = tempfile::tempdir().map_err(text)?;
    let trial = Trial {
        file: scratch
            .path()
            .join(format!("{}-input.{}", target.name, target.extension)),
        said: scratch.path().join("said"),
        slow,
    };
    let input = std::fs::read(file).map_err(text)?;
    let Some(found) = trial.of(&input)? else {
        println!("{} ends well", file.display());
        return Ok(ExitCode::SUCCESS);
    };
    println!("{}: {}, {} bytes", target.name, found.class, input.len());
    let same = |input: &[u8]| -> Result<bool, Usage> {
        Ok(trial
            .of(input)?
            .is_some_and(|failure| failure.class == found.class))
    };
    let small = smallest(input, &same)?;
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../tests/files/fuzz")
        .join(target.name);
    std::fs::create_dir_all(&kept).map_err(text)?;
    let kept = kept.join(file.file_name().unwrap_or_default());
    std::fs::write(&kept, &small).map_err(text)?;
    println!(
        "{} bytes, kept in {}\n{}",
        small.len(),
        kept.display(),
        String::from_utf8_lossy(&small)
    );
    Ok(ExitCode::FAILURE)
}

/// The smallest input that is found by leaving pieces out: lines first, then words, then bytes.
fn smallest(
    mut input: Vec<u8>,
    same: &dyn Fn(&[u8]) -> Result<bool, Usage>,
) -> Result<Vec<u8>, Usage> {
    let start = Instant::now();
    let lines = |bytes: &[u8]| pieces(bytes, |a, _| a == b'\n');
    let words = |bytes: &[u8]| {
        pieces(bytes, |a, b| {
            a.is_ascii_alphanumeric() != b.is_ascii_alphanumeric()
        })
    };
    let single = |bytes: &[u8]| pieces(bytes, |_, _| true);
    type Cut<'a> = &'a dyn Fn(&[u8]) -> Vec<Vec<u8>>;
    let cuts: [Cut<'_>; 3] = [&lines, &words, &single];
    let mut before = usize::MAX;
    while input.len() < before {
        before = input.len();
        for cut in cuts {
            let mut all = cut(&input);
            let mut width = all.len().div_ceil(2);
            while width > 0 {
                let mut at = 0;
                while at < all.len() {
                    if start.elapsed() > PATIENCE {
                        return Ok(all.concat());
                    }
                    let end = (at + width).min(all.len());
                    let rest = [&all[..at], &all[end..]].concat();
                    if same(&rest.concat())? {
                        all = rest;
                    } else {
                        at = end;
                    }
                }
                width /= 2;
            }
            input = all.concat();
        }
    }
    Ok(input)
}

/// The bytes, divided where two neighbours say so.
fn pieces(bytes: &[u8], divides: impl Fn(u8, u8) -> bool) -> Vec<Vec<u8>> {
    let chunks = bytes.chunk_by(|&a, &b| !divides(a, b));
    chunks.map(<[u8]>::to_vec).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_is_left() {
        let text = "one two\nthree four (x, yz)\nfive\n".repeat(5);
        let same = |input: &[u8]| {
            let text = String::from_utf8_lossy(input);
            Ok(text.contains("four") && text.contains('z'))
        };
        let small = smallest(text.into_bytes(), &same).unwrap();
        assert_eq!(String::from_utf8_lossy(&small), "fourz");
    }

    #[test]
    fn pieces_are_all_there_is() {
        let bytes = b"a b\ncd";
        assert_eq!(
            pieces(bytes, |a, _| a == b'\n'),
            [b"a b\n".to_vec(), b"cd".to_vec()]
        );
        assert_eq!(pieces(bytes, |_, _| true).concat(), bytes);
        assert!(pieces(b"", |_, _| true).is_empty());
    }
}
