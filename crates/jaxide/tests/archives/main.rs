//! Hostile archives: whatever the bytes are, reading gives arrays or an error, soon and within the limit of memory.
//!
//! ```text
//! JAXIDE_ARCHIVES=10000 cargo test --release -p jaxide --features npz,safetensors --test archives -- --nocapture
//! ```
//!
//! reads ten thousand. `JAXIDE_ARCHIVES_SEED` is the first seed (0). A file that breaks something is kept in the folder for
//! temporary files of tests, and `JAXIDE_ARCHIVES=1 JAXIDE_ARCHIVES_SEED=n` makes it again.

mod known;
mod mutate;
mod npy;
mod random;
mod safetensors;
mod zip_file;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use jaxide::io::{self, Archive, Reader};
use jaxide::{DType, Error, Result};
use jaxide_core::{Aval, memory};
use jaxide_testing::asked;

use random::Random;

/// What reading may take.
const LIMIT: usize = 64 << 20;

/// What the description of members takes beside the arrays; the files here are small.
const DESCRIPTION: usize = 8 << 20;

/// Longer than this no reading may take.
const TIME: Duration = Duration::from_secs(2);

/// A kind of file.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Format {
    Npy,
    Npz,
    Safetensors,
}

impl Format {
    fn extension(self) -> &'static str {
        match self {
            Format::Npy => "npy",
            Format::Npz => "npz",
            Format::Safetensors => "safetensors",
        }
    }
}

/// What came of reading a file.
struct Outcome {
    /// The arrays that were read in one go, or why not.
    all: Result<usize>,
    /// How many arrays are named, and how many of them can be read one by one.
    single: Option<(usize, usize)>,
    errors: Vec<Error>,
}

/// Reads a file in every way.
fn read(path: &Path, format: Format) -> Outcome {
    let mut outcome = Outcome {
        all: Ok(0),
        single: None,
        errors: Vec::new(),
    };
    let (all, reader) = match format {
        Format::Npy => {
            outcome.all = io::read_npy(path).map(|array| {
                assert!(array.value().bytes().len() <= LIMIT);
                1
            });
            return outcome;
        }
        Format::Npz => (Archive::read_npz(path), Reader::open_npz(path)),
        Format::Safetensors => (
            Archive::read_safetensors(path),
            Reader::open_safetensors(path),
        ),
    };
    outcome.all = all.map(|archive| {
        let names = archive.names().filter_map(|name| archive.get(name));
        let bytes: usize = names.map(|array| array.value().bytes().len()).sum();
        assert!(bytes <= LIMIT, "{bytes} bytes were read");
        archive.len()
    });
    match reader {
        Err(error) => outcome.errors.push(error),
        Ok(mut reader) => {
            let names: Vec<String> = reader.names().take(200).map(str::to_owned).collect();
            let mut good = 0;
            for name in &names {
                match (reader.aval(name), reader.read(name)) {
                    (Ok(aval), Ok(array)) => {
                        assert_eq!(array.aval(), aval, "{name}");
                        assert_eq!(reader.value(name, &aval).unwrap(), array, "{name}");
                        good += 1;
                    }
                    (Err(error), Ok(_)) => panic!("{name} is read without a type: {error}"),
                    (_, Err(error)) => outcome.errors.push(error),
                }
                // What is not wanted is refused by its header.
                let other = Aval::new(DType::F32, &[3, 1, 4, 1, 5]);
                let error = reader.value(name, &other).unwrap_err();
                outcome.errors.push(error);
            }
            outcome.single = Some((names.len(), good));
        }
    }
    outcome
}

/// Reads a file and looks at what that takes.
fn examine(path: &Path, format: Format) -> std::result::Result<Outcome, String> {
    let mut outcome = None;
    let mut slowest = Duration::MAX;
    let mut peak = 0;
    // A busy machine is slow once, and what hangs is slow each time.
    for _ in 0..3 {
        let start = Instant::now();
        let allocated = allocation_counter::measure(|| {
            outcome = Some(catch_unwind(AssertUnwindSafe(|| read(path, format))));
        });
        slowest = slowest.min(start.elapsed());
        peak = peak.max(allocated.bytes_max);
        if slowest < TIME {
            break;
        }
    }
    let outcome = outcome
        .ok_or("nothing came of it")?
        .map_err(|_| "it panics".to_owned())?;
    if slowest >= TIME {
        return Err(format!("it takes {slowest:?}"));
    }
    if peak > (LIMIT + DESCRIPTION) as u64 {
        return Err(format!("it takes {peak} bytes of memory"));
    }
    let errors = outcome.all.iter_err().chain(&outcome.errors);
    for error in errors {
        if !error.message().contains(&*path.to_string_lossy()) {
            return Err(format!("a message does not name the file: {error}"));
        }
        if error.message().len() > 20_000 {
            return Err(format!("a message has {} bytes", error.message().len()));
        }
    }
    if let (Ok(count), Some((names, good))) = (&outcome.all, outcome.single)
        && (*count < names || good != names)
    {
        return Err(format!(
            "{count} arrays are read at once, and {good} of {names} one by one"
        ));
    }
    Ok(outcome)
}

/// The error of a result, if it is one.
trait IterErr {
    fn iter_err(&self) -> std::option::IntoIter<&Error>;
}

impl<T> IterErr for Result<T> {
    fn iter_err(&self) -> std::option::IntoIter<&Error> {
        self.as_ref().err().into_iter()
    }
}

fn folder(name: &str) -> PathBuf {
    let name = format!("archives-{}/{name}", std::process::id());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The file of a seed, and whether it must be readable.
fn made(seed: u64) -> (Format, Vec<u8>, bool) {
    let mut random = Random::new(seed);
    let format = random.pick(&[Format::Npz, Format::Npz, Format::Npy, Format::Safetensors]);
    let (bytes, sound) = match format {
        Format::Npy => npy::file(&mut random),
        Format::Npz => zip_file::archive(&mut random),
        Format::Safetensors => safetensors::file(&mut random),
    };
    if random.one_in(2) {
        return (format, bytes, sound);
    }
    let mutated = mutate::mutated(&mut random, bytes.clone());
    let sound = sound && mutated == bytes;
    (format, mutated, sound)
}

#[test]
fn random_archives_are_read_or_refused() {
    memory::set_limit(Some(LIMIT));
    let count = asked("JAXIDE_ARCHIVES").unwrap_or(400);
    let first = asked("JAXIDE_ARCHIVES_SEED").unwrap_or(0);
    let folder = folder("random");
    let (mut refused, mut read, mut broken) = (0, 0, Vec::new());
    for seed in first..first + count {
        let (format, bytes, sound) = made(seed);
        let path = folder.join(format!("{seed}.{}", format.extension()));
        std::fs::write(&path, &bytes).unwrap();
        let wrong = match examine(&path, format) {
            Err(why) => Some(why),
            Ok(Outcome {
                all: Err(error), ..
            }) if sound => Some(format!("it is sound, and refused: {error}")),
            Ok(outcome) => {
                match outcome.all {
                    Ok(_) => read += 1,
                    Err(_) => refused += 1,
                }
                std::fs::remove_file(&path).unwrap();
                None
            }
        };
        broken.extend(wrong.map(|why| format!("{}: {why}", path.display())));
        if broken.len() >= 20 {
            break;
        }
    }
    println!(
        "{count} archives from seed {first}: {read} read, {refused} refused, {} broken",
        broken.len()
    );
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    assert!(count < 100 || read * 20 > count && refused * 20 > count);
    std::fs::remove_dir_all(folder).unwrap();
}
