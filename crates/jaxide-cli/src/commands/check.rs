//! `jaxide check`: reads programs and reports their mistakes, those of the text and those of types; and notes what is
//! kept as text, since it is none of JAX's.

use std::path::PathBuf;

use jaxide_core::jaxpr::check;

use crate::failure::Failure;
use crate::program::Program;

/// Runs the command.
pub(crate) fn run(arguments: &mut lexopt::Parser) -> Result<(), Failure> {
    use lexopt::prelude::*;
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Value(file) => files.push(file.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    if files.is_empty() {
        return Err(Failure::usage("a FILE is missing"));
    }
    let mut failed = false;
    for file in &files {
        match Program::read(file) {
            Ok(program) => {
                program.report_notes();
                for error in check(&program.jaxpr).err().unwrap_or_default() {
                    program.failure(error).report();
                    failed = true;
                }
            }
            Err(failure) => {
                failure.report();
                failed = true;
            }
        }
    }
    if failed {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}
