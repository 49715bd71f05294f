//! Words of the command line and their values.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use jaxide_core::{Cancel, memory};

use crate::failure::Failure;
use crate::interrupt;

/// Longer than any measurement: 30 years.
const MOST_SECONDS: f64 = 1e9;

/// The words of the command line, one after another.
pub(crate) struct Arguments {
    parser: lexopt::Parser,
    /// Options that were given; `None` where they may be repeated.
    given: Option<BTreeSet<String>>,
    limit: Cancel,
}

/// A word of the command line.
pub(crate) enum Argument {
    /// An option with its dashes.
    Option(String),
    /// Anything else.
    Value(OsString),
}

impl Argument {
    /// That the word means nothing here.
    pub(crate) fn unexpected(&self) -> Failure {
        match self {
            Argument::Option(name) => Failure::usage(format!("there is no option `{name}` here")),
            Argument::Value(value) => Failure::usage(format!(
                "nothing is expected where `{}` stands",
                value.display()
            )),
        }
    }

    /// The word, if it is no option.
    pub(crate) fn value(self) -> Option<OsString> {
        match self {
            Argument::Option(_) => None,
            Argument::Value(value) => Some(value),
        }
    }

    /// The option, if this is one.
    pub(crate) fn option(&self) -> Option<&str> {
        match self {
            Argument::Option(name) => Some(name),
            Argument::Value(_) => None,
        }
    }
}

impl Arguments {
    /// The words that the program was called with, without its name.
    pub(crate) fn of_process() -> Self {
        Arguments {
            parser: lexopt::Parser::from_env(),
            given: Some(BTreeSet::new()),
            limit: Cancel::new(),
        }
    }

    /// What ends the command when the time is over that `--time-limit` gives it.
    pub(crate) fn limit(&self) -> Cancel {
        self.limit.clone()
    }

    /// Lets options be repeated.
    pub(crate) fn let_repeat(&mut self) {
        self.given = None;
    }

    /// The next word. The options that every command has, `--memory` and `--time-limit`, are dealt with here.
    pub(crate) fn next(&mut self) -> Result<Option<Argument>, Failure> {
        loop {
            let option = match self.parser.next()? {
                None => return Ok(None),
                Some(lexopt::Arg::Value(value)) => return Ok(Some(Argument::Value(value))),
                Some(lexopt::Arg::Long(name)) => format!("--{name}"),
                Some(lexopt::Arg::Short(letter)) => format!("-{letter}"),
            };
            if let Some(given) = &mut self.given
                && !given.insert(option.clone())
            {
                return Err(Failure::usage(format!("`{option}` is given twice")));
            }
            match option.as_str() {
                "--memory" => {
                    let text = self.parser.value()?;
                    let bytes = memory::parse(&text.to_string_lossy()).map_err(|error| {
                        Failure::usage(format!("--memory: {}", error.message()))
                    })?;
                    memory::set_limit(Some(bytes));
                }
                "--time-limit" => {
                    let limit = Duration::from_secs_f64(self.seconds(&option)?);
                    self.limit = Cancel::after(limit);
                    interrupt::end_after(limit, self.limit());
                }
                _ => return Ok(Some(Argument::Option(option))),
            }
        }
    }

    /// The value that stands behind a `=`, or in the next word if `is_one` says so.
    pub(crate) fn value_if(
        &mut self,
        is_one: impl FnOnce(&str) -> bool,
    ) -> Result<Option<String>, Failure> {
        if let Some(value) = self.parser.optional_value() {
            return Ok(Some(value.to_string_lossy().into_owned()));
        }
        let mut words = self.parser.raw_args()?;
        let next = words.next_if(|next| is_one(&next.to_string_lossy()));
        Ok(next.map(|next| next.to_string_lossy().into_owned()))
    }

    /// The value of an option.
    pub(crate) fn value<T: FromStr<Err: Display>>(&mut self, option: &str) -> Result<T, Failure> {
        let text = self.parser.value()?;
        let value = text.to_string_lossy().parse();
        value.map_err(|error| Failure::usage(format!("{option}: {error}")))
    }

    /// The value of an option that names a file.
    pub(crate) fn path(&mut self, option: &str) -> Result<PathBuf, Failure> {
        let path = self.parser.value()?;
        if path.is_empty() {
            return Err(Failure::usage(format!(
                "{option}: the name of a file is empty"
            )));
        }
        Ok(path.into())
    }

    /// A number of threads.
    pub(crate) fn threads(&mut self) -> Result<usize, Failure> {
        let text = self.parser.value()?;
        let text = text.to_string_lossy();
        let number = text.parse().ok().filter(|&number| number > 0);
        number.ok_or_else(|| {
            Failure::usage(format!(
                "--threads: `{text}` is no number of threads: those are from 1 on"
            ))
        })
    }

    /// A time.
    pub(crate) fn seconds(&mut self, option: &str) -> Result<f64, Failure> {
        let text = self.parser.value()?;
        let text = text.to_string_lossy();
        let number = text.parse().ok();
        number
            .filter(|number| (0.0..=MOST_SECONDS).contains(number))
            .ok_or_else(|| {
                Failure::usage(format!(
                    "{option}: `{text}` is no number of seconds: those are from 0 to {MOST_SECONDS}"
                ))
            })
    }
}

/// The names of files, none of them empty.
pub(crate) fn files(values: Vec<OsString>) -> Result<Vec<PathBuf>, Failure> {
    if values.iter().any(|value| value.is_empty()) {
        return Err(Failure::usage("the name of a FILE is empty"));
    }
    Ok(values.into_iter().map(PathBuf::from).collect())
}

/// The only file on a command line.
pub(crate) fn only_file(values: Vec<OsString>) -> Result<PathBuf, Failure> {
    match <[PathBuf; 1]>::try_from(files(values)?) {
        Ok([file]) => Ok(file),
        Err(files) if files.is_empty() => Err(Failure::usage("a FILE is missing")),
        Err(_) => Err(Failure::usage("one FILE is expected")),
    }
}
