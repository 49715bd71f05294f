//! `jaxide check`: reads programs and reports their mistakes.

use std::path::PathBuf;

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
        if let Err(failure) = Program::read(file) {
            failure.report();
            failed = true;
        }
    }
    if failed {
        Err(Failure::Reported)
    } else {
        Ok(())
    }
}
