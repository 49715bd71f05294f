//! `jaxide check`: reads programs and reports their mistakes, those of the text and those of types; and notes what is
//! kept as text, since it is none of JAX's. With `--plan` it says how much memory native code of each will take.

use clap::{ArgMatches, Command};
use jaxide_core::Cancel;
use jaxide_core::jaxpr::check;
use jaxide_cpu::plan;

use crate::arguments::{files, flag, given_files};
use crate::failure::Failure;
use crate::output;
use crate::program::{Program, in_words, with_zeros};

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    command
        .after_help("Primitives and element types that are not known are noted.")
        .arg(flag(
            "plan",
            "Say how much memory a run of their native code takes",
        ))
        .arg(files())
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let plans = matches.get_flag("plan");
    let mut failed = false;
    for file in &given_files(matches) {
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
