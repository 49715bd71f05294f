//! The `jaxide` program: format, check, evaluate, transform, lower and benchmark `.jaxpr` files.
#![forbid(unsafe_code)]
// They panic where nobody reads, or nothing can be written.
#![deny(clippy::print_stdout, clippy::print_stderr)]

mod arguments;
mod commands;
mod failure;
mod input;
mod interrupt;
mod output;
mod program;

use std::process::ExitCode;

use jaxide_core::memory;

use commands::join_settings;
use failure::Failure;

fn main() -> ExitCode {
    interrupt::listen();
    // Programs nest; what walks them recurses. The main thread's stack is too small for the deepest that are legal.
    let run = || match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            failure.report();
            failure.exit_code()
        }
    };
    let main = std::thread::Builder::new()
        .name("main".to_owned())
        .stack_size(program::STACK)
        .spawn(run);
    match main.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has printed its message.
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => {
            output::complain(format_args!("error: no thread can be started: {error}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<(), Failure> {
    let words = join_settings(std::env::args_os().skip(1));
    let matches = match commands::command().try_get_matches_from(words) {
        Ok(matches) => matches,
        Err(error) if error.use_stderr() => return Err(error.into()),
        // Help or the version, which were asked for.
        Err(text) => return Ok(output::print(text.render())?),
    };
    memory::environment().map_err(|error| Failure::usage(error.message()))?;
    let limit = arguments::limits(&matches);
    commands::run(&matches, &limit)
}
