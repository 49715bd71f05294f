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

use std::ffi::OsString;
use std::process::ExitCode;

use jaxide_core::memory;

use arguments::{Argument, Arguments};
use failure::Failure;

const HELP: &str = "\
Programs in JAX's text form: format, check, evaluate, transform, compile, measure.

Usage: jaxide COMMAND [ARGUMENTS]

Commands:
  fmt [--check] [--write] [--classic] [FILE ...]
        Prints programs laid out as JAX does (standard input without FILE). --write changes the files,
        --check only says which would change. --classic omits types.
  check [--plan] FILE ...
        Reads programs and reports their mistakes. Notes primitives and element types that are not known.
        --plan says how much memory a run of their native code takes.
  eval FILE [--backend eval|native[-ISA][-checked]] [--inputs X.npz] [--output Y.npz] [--threads N]
        Runs a program. Arrays of X.npz are const0, const1, ... and in0, in1, ...; results are out0, out1, ...
        Without --output they are printed. What the program itself prints goes to standard error.
  transform FILE STEP ...
        Prints the transformed program. Steps are applied in order, the innermost first:
        --jvp, --linearize [argnums=0,1] [,tangent_outs=0]    --vjp [argnums=0] [,cotangent_outs=0]
        --grad, --value-and-grad, --jacfwd, --jacrev, --hessian [argnums=0]
        --vmap in_axes=0,None,out_axes=0,axis_size=4[,axis_name=i]    --jit [name=f]    --checkpoint
  lower FILE [--emit jaxpr|graph|plan|loops|lanes|clif|asm] [--time] [--threads N]
        Prints what a program is compiled to, and how much memory a run takes. --time says how long each stage took instead.
  bench FILE [--backend eval|native[-ISA][-checked]] [--inputs X.npz] [--output Y.npz] [--seconds S] [--threads N] [--json]
        Measures reading, compiling and running; inputs are random where none are given.
  conformance DIR [--backend eval|native[-ISA][-checked]] [--filter TEXT] [--known FILE] [--json]
        Runs every case of a folder with a manifest.jsonl, or of a tree of such folders.

Every command: --memory BYTES, such as 500M or 4G, is the most memory that data may take. Without it the environment
variable JAXIDE_MEMORY states the limit, or else what the machine has free. --time-limit SECONDS is the most time that the
command may take. FILE may be `-`, standard input.

Exit status: 0 when all is well, also if nobody reads the output to its end; 1 when something failed, with a message on
standard error; 2 for a wrong command line or JAXIDE_MEMORY; 101 for a mistake of this program, which please report; 124
when the time limit ended it.
Signals end it as they do: shells show 129 for a hangup, 130 for Ctrl-C, 143 for a termination.
";

fn main() -> ExitCode {
    interrupt::listen();
    // Programs nest; what walks them recurses. The main thread's stack is too small for the deepest that are legal.
    let run = || match run(&mut Arguments::of_process()) {
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

fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    let asks = |word: &OsString| word == "--help" || word == "-h";
    if let [command, rest @ ..] = &words[..]
        && rest.iter().take_while(|word| *word != "--").any(asks)
        && let Some(text) = command.to_str().and_then(help_of)
    {
        return output::print(format_args!("Usage: jaxide {text}"));
    }
    memory::environment().map_err(|error| Failure::usage(error.message()))?;
    let command = match arguments.next()? {
        Some(Argument::Value(command)) => command,
        Some(Argument::Option(option)) => match option.as_str() {
            "--help" | "-h" => return help(),
            "--version" | "-V" => {
                return output::print(concat!("jaxide ", env!("CARGO_PKG_VERSION"), "\n"));
            }
            _ => return Err(Argument::Option(option).unexpected()),
        },
        None => return Err(Failure::usage("a command is missing")),
    };
    match command.to_string_lossy().as_ref() {
        "fmt" => commands::fmt::run(arguments),
        "check" => commands::check::run(arguments),
        "eval" => commands::eval::run(arguments),
        "transform" => commands::transform::run(arguments),
        "lower" => commands::lower::run(arguments),
        "bench" => commands::bench::run(arguments),
        "conformance" => commands::conformance::run(arguments),
        "help" => help(),
        other => Err(Failure::usage(format!("there is no command `{other}`"))),
    }
}

/// What the help says of one command: its line, and those below that are further in.
fn help_of(command: &str) -> Option<String> {
    if command.is_empty() {
        return None;
    }
    let mut lines = HELP
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip_while(|line| {
            line.strip_prefix("  ")
                .and_then(|line| line.split(' ').next())
                != Some(command)
        });
    let first = lines.next()?.trim_start();
    let rest = lines.take_while(|line| line.starts_with("    "));
    let mut text = format!("{first}\n");
    for line in rest {
        text.push_str(line);
        text.push('\n');
    }
    Some(text)
}

fn help() -> Result<(), Failure> {
    output::print(HELP)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_has_its_help() {
        let text = help_of("check").expect("a command");
        assert_eq!(
            text,
            "check [--plan] FILE ...\n        Reads programs and reports their mistakes. Notes primitives and element types that are not known.\n        --plan says how much memory a run of their native code takes.\n"
        );
        assert!(help_of("fmt").is_some_and(|text| text.contains("--classic omits types")));
        assert!(help_of("Exit").is_none() && help_of("").is_none());
    }
}
