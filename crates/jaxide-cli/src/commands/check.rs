//! `jaxide check`: reads programs and reports their mistakes, those of the text and those of types; and notes what is
//! kept as text, since it is none of JAX's. With `--plan` it says how much memory native code of each will take.

use jaxide_core::jaxpr::check;
use jaxide_cpu::plan;

use crate::arguments::{self, Argument, Arguments};
use crate::failure::Failure;
use crate::output;
use crate::program::{Program, in_words, with_zeros};

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let (mut files, mut plans) = (Vec::new(), false);
    while let Some(argument) = arguments.next()? {
        match argument {
            Argument::Value(file) => files.push(file),
            Argument::Option(_) if argument.option() == Some("--plan") => plans = true,
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
                let errors = check(&program.jaxpr).err().unwrap_or_default();
                let is_legal = errors.is_empty();
                for error in errors {
                    program.failure(error).report();
                    failed = true;
                }
                if plans && is_legal {
                    match with_zeros(&program.jaxpr).and_then(|jaxpr| plan(&jaxpr)) {
                        Ok(plan) => {
                            output::print(format!("{}: {}\n", file.display(), in_words(plan)))?;
                        }
                        Err(error) => {
                            program.failure(error).report();
                            failed = true;
                        }
                    }
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
