//! `jaxide completions`: prints what makes a shell complete the words of this program.

use clap::builder::EnumValueParser;
use clap::{Arg, ArgMatches, Command};
use clap_complete::{Shell, generate};
use jaxide_core::Cancel;

use crate::arguments::value;
use crate::failure::Failure;
use crate::output;

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    let shell = Arg::new("shell")
        .value_name("SHELL")
        .value_parser(EnumValueParser::<Shell>::new())
        .required(true)
        .help("The shell");
    command
        .after_help("For this session of bash: source <(jaxide completions bash)")
        .arg(shell)
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let mut script = Vec::new();
    let shell: Shell = value(matches, "shell");
    generate(shell, &mut super::command(), "jaxide", &mut script);
    Ok(output::print(String::from_utf8_lossy(&script))?)
}
