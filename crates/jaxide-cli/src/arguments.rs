//! Arguments that several commands take, and what their values may be.

use std::any::Any;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{EnumValueParser, PathBufValueParser};
use clap::{Arg, ArgAction, ArgMatches, ValueEnum, ValueHint};
use jaxide_core::{Cancel, memory};

use crate::interrupt;
use crate::program::{Backend, Native};

/// Behind what a command itself takes.
const LAST: usize = 900;

/// Longer than any measurement: 30 years.
const MOST_SECONDS: f64 = 1e9;

/// The options that every command has. [`limits`] obeys them.
pub(crate) fn global() -> [Arg; 2] {
    [
        Arg::new("memory")
            .long("memory")
            .value_name("BYTES")
            .value_parser(|text: &str| {
                memory::parse(text).map_err(|error| error.message().to_owned())
            })
            .allow_negative_numbers(true)
            .global(true)
            .display_order(LAST)
            .help("The most memory that data may take, such as 500M or 4G"),
        Arg::new("time-limit")
            .long("time-limit")
            .value_name("SECONDS")
            .value_parser(seconds)
            .allow_negative_numbers(true)
            .global(true)
            .display_order(LAST)
            .help("The most time that the command may take"),
    ]
}

/// Limits the memory as `--memory` says. What ends the command when the time is over that `--time-limit` gives it.
pub(crate) fn limits(matches: &ArgMatches) -> Cancel {
    if let Some(&bytes) = matches.get_one::<usize>("memory") {
        memory::set_limit(Some(bytes));
    }
    let Some(&limit) = matches.get_one::<Duration>("time-limit") else {
        return Cancel::new();
    };
    let cancel = Cancel::after(limit);
    interrupt::end_after(limit, cancel.clone());
    cancel
}

/// The `FILE` of a command that takes one.
pub(crate) fn file() -> Arg {
    Arg::new("file")
        .value_name("FILE")
        .value_parser(PathBufValueParser::new())
        .value_hint(ValueHint::FilePath)
        .required(true)
        .help("The program, or `-` for standard input")
}

/// The `FILE`s of a command that takes several.
pub(crate) fn files() -> Arg {
    file()
        .action(ArgAction::Append)
        .num_args(1..)
        .help("Programs, and `-` for standard input")
}

/// An option that is there or not.
pub(crate) fn flag(name: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .action(ArgAction::SetTrue)
        .help(help)
}

/// An option that names a file.
pub(crate) fn path(name: &'static str, value: &'static str, help: &'static str) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value)
        .value_parser(PathBufValueParser::new())
        .value_hint(ValueHint::FilePath)
        .help(help)
}

/// An option whose values have names.
pub(crate) fn choice<T: ValueEnum + Send + Sync + 'static>(
    name: &'static str,
    value: &'static str,
    default: &'static str,
) -> Arg {
    Arg::new(name)
        .long(name)
        .value_name(value)
        .value_parser(EnumValueParser::<T>::new())
        .default_value(default)
}

/// What runs the program, if nothing is said `default`.
pub(crate) fn backend(default: &'static str) -> Arg {
    choice::<Backend>("backend", "BACKEND", default).help(
        "eval is the interpreter; native, native-avx512, native-avx2 and native-portable make code for the\n\
         widest vectors of the machine or those named, which looks at each access with -checked behind",
    )
    .hide_possible_values(true)
}

/// Whether native code keeps subnormal numbers.
pub(crate) fn keep_subnormals() -> Arg {
    flag(
        "keep-subnormals",
        "Native code computes with subnormal numbers, as the interpreter does, and does not take them for zero, as JAX does",
    )
}

/// What runs the program, as [`backend`] and [`keep_subnormals`] have it.
pub(crate) fn chosen_backend(matches: &ArgMatches) -> Backend {
    let keep_subnormals = matches.get_flag("keep-subnormals");
    match value(matches, "backend") {
        Backend::Eval => Backend::Eval,
        Backend::Native(how) => Backend::Native(Native {
            keep_subnormals,
            ..how
        }),
    }
}

/// A number of threads.
pub(crate) fn threads() -> Arg {
    let number = |text: &str| {
        let number = text.parse().ok().filter(|&number: &usize| number > 0);
        number.ok_or("a number of threads is from 1 on")
    };
    Arg::new("threads")
        .long("threads")
        .value_name("N")
        .value_parser(number)
        .allow_negative_numbers(true)
        .help("The most threads that native code runs on [default: all of the machine]")
}

/// A time in seconds.
pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok();
    number
        .filter(|number| (0.0..=MOST_SECONDS).contains(number))
        .map(Duration::from_secs_f64)
        .ok_or_else(|| format!("a number of seconds is from 0 to {MOST_SECONDS}"))
}

/// The value of an argument that is required or has a default.
///
/// # Panics
/// Where it is neither.
pub(crate) fn value<T: Any + Clone + Send + Sync>(matches: &ArgMatches, name: &str) -> T {
    let value = matches.get_one(name).cloned();
    value.unwrap_or_else(|| panic!("`{name}` is neither required nor has it a default"))
}

/// The names of the files that [`files`] found.
pub(crate) fn given_files(matches: &ArgMatches) -> Vec<PathBuf> {
    let files = matches.get_many("file").unwrap_or_default();
    files.cloned().collect()
}
