//! `jaxide fmt`: prints programs laid out as JAX does.

use std::io::IsTerminal;
use std::path::Path;

use jaxide::io::write_file;
use jaxide_core::jaxpr::PrintOptions;

use crate::arguments::{self, Arguments};
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

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let (mut files, mut mode, mut options) = (Vec::new(), Mode::Print, PrintOptions::default());
    while let Some(argument) = arguments.next()? {
        match argument.option() {
            Some("--check" | "--write" | "-w") if mode != Mode::Print => {
                return Err(Failure::usage("--check and --write exclude each other"));
            }
            Some("--check") => mode = Mode::Check,
            Some("--write" | "-w") => mode = Mode::Write,
            Some("--classic") => options.classic = true,
            Some(_) => return Err(argument.unexpected()),
            None => files.extend(argument.value()),
        }
    }
    let mut files = arguments::files(files)?;
    if mode == Mode::Write && (files.is_empty() || files.iter().any(|file| file == Path::new("-")))
    {
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
