//! The `jaxide` program: format, check, evaluate, transform, lower and benchmark `.jaxpr` files.
#![forbid(unsafe_code)]

mod arguments;
mod commands;
mod failure;
mod output;
mod program;

use std::process::ExitCode;

use failure::Failure;

const HELP: &str = "\
Programs in JAX's text form: format, check, evaluate, transform, compile, measure.

Usage: jaxide COMMAND [ARGUMENTS]

Commands:
  fmt [--check] [--write] [--classic] [FILE ...]
        Prints programs laid out as JAX does (standard input without FILE). --write changes the files,
        --check only says which would change. --classic omits types.
  check FILE ...
        Reads programs and reports their mistakes. Notes primitives and element types that are not known.
  eval FILE [--backend eval|native[-ISA]] [--inputs X.npz] [--output Y.npz] [--threads N]
        Runs a program. Arrays of X.npz are const0, const1, ... and in0, in1, ...; results are out0, out1, ...
        Without --output they are printed. What the program itself prints goes to standard error.
  transform FILE STEP ...
        Prints the transformed program. Steps are applied in order, the innermost first:
        --jvp, --linearize [argnums=0,1] [,tangent_outs=0]    --vjp [argnums=0] [,cotangent_outs=0]
        --grad, --value-and-grad, --jacfwd, --jacrev, --hessian [argnums=0]
        --vmap in_axes=0,None,out_axes=0,axis_size=4[,axis_name=i]    --jit [name=f]    --checkpoint
  lower FILE [--emit loops|clif|asm] [--threads N]
        Prints what a program is compiled to.
  bench FILE [--inputs X.npz] [--output Y.npz] [--seconds S] [--threads N] [--json]
        Measures reading, compiling and running; inputs are random where none are given.
  conformance DIR [--backend eval|native[-ISA]] [--filter TEXT] [--known FILE] [--json]
        Runs every case of a folder with a manifest.jsonl, or of a tree of such folders.

Exit status: 0 when all is well, 1 when something failed, 2 for a wrong command line.
";

fn main() -> ExitCode {
    // Programs nest; what walks them recurses. The main thread's stack is too small for the deepest that are legal.
    let run = || {
        let mut arguments = lexopt::Parser::from_env();
        match run(&mut arguments) {
            Ok(()) => ExitCode::SUCCESS,
            Err(failure) => {
                failure.report();
                failure.exit_code()
            }
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
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &mut lexopt::Parser) -> Result<(), Failure> {
    use lexopt::prelude::*;
    if std::env::args()
        .skip(2)
        .any(|word| word == "--help" || word == "-h")
        && let Some(text) = std::env::args()
            .nth(1)
            .and_then(|command| help_of(&command))
    {
        return output::print(format_args!("Usage: jaxide {text}"));
    }
    match arguments.next()? {
        Some(Value(command)) => match command.to_string_lossy().as_ref() {
            "fmt" => commands::fmt::run(arguments),
            "check" => commands::check::run(arguments),
            "eval" => commands::eval::run(arguments),
            "transform" => commands::transform::run(arguments),
            "lower" => commands::lower::run(arguments),
            "bench" => commands::bench::run(arguments),
            "conformance" => commands::conformance::run(arguments),
            "help" => help(),
            other => Err(Failure::usage(format!("there is no command `{other}`"))),
        },
        Some(Long("help") | Short('h')) => help(),
        Some(Long("version") | Short('V')) => {
            output::print(concat!("jaxide ", env!("CARGO_PKG_VERSION"), "\n"))
        }
        Some(other) => Err(other.unexpected().into()),
        None => Err(Failure::usage("a command is missing")),
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
            "check FILE ...\n        Reads programs and reports their mistakes. Notes primitives and element types that are not known.\n"
        );
        assert!(help_of("fmt").is_some_and(|text| text.contains("--classic omits types")));
        assert!(help_of("Exit").is_none() && help_of("").is_none());
    }
}
