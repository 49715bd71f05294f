//! The commands, one module each: what stands on its command line, and what it does.

mod bench;
mod check;
mod compile;
mod completions;
mod conformance;
mod eval;
mod fmt;
mod lower;
mod primitives;
mod transform;

use clap::{ArgMatches, Command};
use jaxide_core::Cancel;

use crate::arguments::global;
use crate::failure::Failure;
pub(crate) use transform::join_settings;

/// A command.
struct Entry {
    name: &'static str,
    about: &'static str,
    /// Says what it takes.
    define: fn(Command) -> Command,
    /// Runs it until the time is over.
    run: fn(&ArgMatches, &Cancel) -> Result<(), Failure>,
}

/// An entry of each module.
macro_rules! entries {
    ($($name:ident $about:literal)*) => {
        [$(Entry {
            name: stringify!($name),
            about: $about,
            define: $name::define,
            run: $name::run,
        }),*]
    };
}

const ENTRIES: [Entry; 10] = entries! {
    fmt "Prints programs laid out as JAX does"
    check "Reads programs and reports their mistakes"
    eval "Runs a program and prints its results"
    transform "Prints a program after transformations"
    lower "Prints what a program is compiled to, and how much memory a run takes"
    compile "Writes a program as an object file and a C header"
    bench "Measures reading, compiling and running a program"
    conformance "Runs programs and compares them with what JAX made of them"
    primitives "Lists the primitives of the language"
    completions "Prints the script that has a shell complete commands and options"
};

/// The program's command line.
pub(crate) fn command() -> Command {
    let commands = ENTRIES.iter().map(|entry| {
        // Only what is used is made.
        Command::new(entry.name)
            .about(entry.about)
            .defer(entry.define)
    });
    Command::new("jaxide")
        .bin_name("jaxide")
        .version(env!("CARGO_PKG_VERSION"))
        .about("Programs in JAX's text form: format, check, evaluate, transform, compile, measure.")
        .after_help(STATUSES)
        .no_binary_name(true)
        .subcommand_required(true)
        .args(global())
        .subcommands(commands)
}

const STATUSES: &str = "\
Without --memory the environment variable JAXIDE_MEMORY states the limit, or else what the machine has free.

Exit status: 0 when all is well, also if nobody reads the output to its end; 1 when something failed, with a message on
standard error; 2 for a wrong command line or JAXIDE_MEMORY; 101 for a mistake of this program, which please report; 124
when the time limit ended it. Signals end it as they do: shells show 129 for a hangup, 130 for Ctrl-C, 143 for a
termination.";

/// Runs what the command line asks for.
///
/// # Panics
/// When it is not one of [`command`].
pub(crate) fn run(matches: &ArgMatches, limit: &Cancel) -> Result<(), Failure> {
    let (name, matches) = matches.subcommand().expect("a command is required");
    let entry = ENTRIES.iter().find(|entry| entry.name == name);
    (entry.expect("commands are entries").run)(matches, limit)
}

#[cfg(test)]
mod tests {
    /// Names are unique, defaults are possible values, and what else `clap` looks at.
    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }
}
