//! Fuzz targets: functions that must not panic, whatever the bytes are, each defined once.
//!
//! `fuzz/run` feeds them with mutated texts and archives of the repository, new ones each time, in processes that it
//! watches; `fuzz/run coverage` has libFuzzer do it; tests run them on what was found before (`tests/files/fuzz`). What
//! this crate cannot be fed with bytes is tests that choose at random from seeds: [`CAMPAIGNS`].
#![forbid(unsafe_code)]

mod archives;
mod broken;
mod campaigns;
mod run;

use jaxide_testing::corpus::Corpus;
use jaxide_testing::targets;

pub use archives::Archives;
pub use campaigns::{CAMPAIGNS, Campaign};

/// What targets are fed with.
pub struct Seeds {
    /// Texts.
    pub texts: Corpus,
    /// Files of arrays.
    pub archives: Archives,
}

impl Seeds {
    /// Those of the repository.
    ///
    /// # Panics
    /// When its folder `tests` is missing.
    pub fn of_repository() -> Self {
        Seeds {
            texts: Corpus::of_repository(),
            archives: Archives::of_repository(),
        }
    }
}

/// A function that must not panic.
pub struct Target {
    /// Its name on the command line, and in front of the names of files.
    pub name: &'static str,
    /// What must hold.
    pub about: &'static str,
    /// How the names of its files end.
    pub extension: &'static str,
    /// The bytes of a number.
    pub input: fn(&Seeds, u64) -> Vec<u8>,
    /// Panics where it does not hold.
    pub run: fn(&[u8]),
}

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "text",
        about: "damaged texts are refused or read, and printed as they were read",
        extension: "jaxpr",
        input: |seeds, number| seeds.texts.damaged(number),
        run: targets::text,
    },
    Target {
        name: "check",
        about: "what is legal has the same types when it is made simpler",
        extension: "jaxpr",
        input: |seeds, number| seeds.texts.changed(number),
        run: targets::check,
    },
    Target {
        name: "transform",
        about: "what is legal is transformed into something legal, or it is said why not",
        extension: "jaxpr",
        input: |seeds, number| seeds.texts.changed(number),
        run: targets::transform,
    },
    Target {
        name: "run",
        about: "what is legal and small gives the same types, and the same integers, in the interpreter and on every instruction set",
        extension: "jaxpr",
        input: |seeds, number| seeds.texts.changed(number),
        run: run::run,
    },
    Target {
        name: "bytes",
        about: "damaged archives are refused or read, and written as they were read",
        extension: "bin",
        input: |seeds, number| seeds.archives.damaged(number),
        run: archives::run,
    },
];

/// A target that fails on purpose, for tests of what watches the others.
pub const BROKEN: Target = Target {
    name: "broken",
    about: "fails on some words, each in another way",
    extension: "txt",
    input: |_, number| broken::input(number),
    run: broken::run,
};

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    let all = TARGETS.iter().chain(std::iter::once(&BROKEN));
    all.into_iter().find(|target| target.name == name)
}
