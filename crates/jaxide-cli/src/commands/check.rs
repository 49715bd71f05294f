//! `jaxide check`: reads programs and reports their mistakes, those of the text and those of types; and notes what is
//! kept as text, since it is none of JAX's.

use jaxide_core::jaxpr::check;

use crate::arguments::{self, Argument, Arguments};
use crate::failure::Failure;
use crate::program::Program;

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let mut files = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Argument::Value(file) => files.push(file),
            Argument::Option(_) => return Err(argument.unexpected()),
        }
    }
    let files = arguments::files(files)?;
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
