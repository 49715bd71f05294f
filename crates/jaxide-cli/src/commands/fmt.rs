//! `jaxide fmt`: prints programs laid out as JAX does.

use std::io::IsTerminal;
use std::path::Path;

use clap::{ArgMatches, Command};
use jaxide::io::write_file;
use jaxide_core::Cancel;
use jaxide_core::jaxpr::PrintOptions;

use crate::arguments::{files, flag, given_files};
use crate::failure::Failure;
use crate::output;
use crate::program::Program;

/// What becomes of the formatted text.
#[derive(PartialEq)]
enum Mode {
    Print,
    Write,
    Check,
}

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    command
        .arg(
            flag("check", "Only say which files would change, with status 1")
                .conflicts_with("write"),
        )
        .arg(
            flag("write", "Change the files")
                .short('w')
                .requires("file"),
        )
        .arg(flag("classic", "Omit types"))
        .arg(
            files()
                .required(false)
                .help("Programs; standard input without any, or for `-`"),
        )
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let mode = match (matches.get_flag("check"), matches.get_flag("write")) {
        (true, _) => Mode::Check,
        (false, true) => Mode::Write,
        (false, false) => Mode::Print,
    };
    let mut options = PrintOptions {
        classic: matches.get_flag("classic"),
        ..PrintOptions::default()
    };
    let mut files = given_files(matches);
    if mode == Mode::Write && files.iter().any(|file| file == Path::new("-")) {
        return Err(Failure::usage(
            "--write changes a FILE, and standard input is none",
        ));
    }
    if files.is_empty() {
        files.push("-".into());
    }
    options.color = mode == Mode::Print
        && std::io::stdout().is_terminal()
        && std::env::var_os("NO_COLOR").is_none();
    let mut well = true;
    for file in &files {
        match format(file, &mode, &options) {
            Ok(same) => well &= same,
            Err(failure) => {
                failure.report();
                well = false;
            }
        }
    }
    if well { Ok(()) } else { Err(Failure::Reported) }
}

/// Formats one file. Whether that is as it should be.
fn format(file: &Path, mode: &Mode, options: &PrintOptions) -> Result<bool, Failure> {
    let program = Program::read(file)?;
    let formatted = format!("{}\n", program.jaxpr.display(options));
    let same = program.is(&formatted);
    match mode {
        Mode::Print => output::print(formatted)?,
        Mode::Check if !same => {
            output::print(format_args!("{} is not formatted\n", file.display()))?;
            return Ok(false);
        }
        Mode::Write if !same => write_file(file, formatted.as_bytes())?,
        Mode::Write | Mode::Check => {}
    }
    Ok(true)
}
