//! `jaxide fmt`: prints programs laid out as JAX does.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};

use jaxide_core::jaxpr::PrintOptions;
use jaxide_core::{Error, ErrorKind};

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
pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<(), Failure> {
    use lexopt::prelude::*;
    let (mut files, mut mode, mut options) =
        (Vec::<PathBuf>::new(), Mode::Print, PrintOptions::default());
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("check") => mode = Mode::Check,
            Long("write") | Short('w') => mode = Mode::Write,
            Long("classic") => options.classic = true,
            Value(file) => files.push(file.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    if files.is_empty() {
        files.push("-".into());
    }
    let mut different = false;
    for file in &files {
        let program = Program::read(file)?;
        options.color = mode == Mode::Print
            && std::io::stdout().is_terminal()
            && std::env::var_os("NO_COLOR").is_none();
        let formatted = format!("{}\n", program.jaxpr.display(&options));
        match mode {
            Mode::Print => output::print(formatted)?,
            Mode::Check if formatted != program.text() => {
                output::print(format_args!("{} is not formatted\n", file.display()))?;
                different = true;
            }
            Mode::Write if formatted != program.text() && file != Path::new("-") => {
                std::fs::write(file, formatted).map_err(|error| {
                    Error::new(ErrorKind::Io, format!("{}: {error}", file.display()))
                })?;
            }
            Mode::Write | Mode::Check => {}
        }
    }
    if different {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}
