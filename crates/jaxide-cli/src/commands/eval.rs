//! `jaxide eval`: runs a program.

use std::path::PathBuf;

use clap::{Arg, ArgMatches, Command};
use jaxide::io::{Archive, Reader};
use jaxide_core::{Cancel, Tensor};

use crate::arguments::{backend, chosen_backend, file, keep_subnormals, path, threads, value};
use crate::failure::Failure;
use crate::output;
use crate::program::Program;

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    command
        .after_help("What the program itself prints goes to standard error.")
        .arg(backend("eval"))
        .arg(keep_subnormals())
        .args(arrays())
        .arg(threads())
        .arg(file())
}

/// Where arrays come from and go to.
pub(super) fn arrays() -> [Arg; 2] {
    let inputs = "Arrays of the program: const0, const1, ... and in0, in1, ...";
    let output = "Where the results go, as out0, out1, ...";
    [
        path("inputs", "X.npz", inputs),
        path("output", "Y.npz", output),
    ]
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, limit: &Cancel) -> Result<(), Failure> {
    let mut program = Program::read_legal(&value::<PathBuf>(matches, "file"))?;
    let inputs = matches.get_one::<PathBuf>("inputs");
    let args = program.inputs(inputs.map(Reader::open_npz).transpose()?)?;
    let threads = matches.get_one("threads").copied();
    let results = chosen_backend(matches)
        .run(&program.jaxpr, &args, threads, limit)
        .map_err(|error| program.failure(error))?;
    match matches.get_one::<PathBuf>("output") {
        Some(path) => archive(&results).write_npz(path)?,
        None => {
            for (index, result) in results.iter().enumerate() {
                let elements = brackets(result, 0, 0);
                output::print(format_args!("out{index}: {} = {elements}\n", result.aval()))?;
            }
        }
    }
    Ok(())
}

/// Results as members `out0`, `out1`, ...
pub(crate) fn archive(results: &[Tensor]) -> Archive {
    let numbered = results.iter().enumerate();
    numbered
        .map(|(index, result)| (format!("out{index}"), result.clone()))
        .collect()
}

/// Elements in nested brackets, long axes shortened in the middle.
fn brackets(array: &Tensor, axis: usize, first: usize) -> String {
    const SHOWN: usize = 12;
    let Some(&length) = array.shape().get(axis) else {
        return array
            .scalar_at(first)
            .map_or_else(|| "key".to_owned(), |value| value.to_string());
    };
    let inner: usize = array.shape()[axis + 1..].iter().product();
    let item = |index: usize| brackets(array, axis + 1, first + index * inner);
    let items: Vec<String> = if length <= SHOWN {
        (0..length).map(item).collect()
    } else {
        let half = SHOWN / 2;
        let head = (0..half).map(item);
        head.chain(["...".to_owned()])
            .chain((length - half..length).map(item))
            .collect()
    };
    format!("[{}]", items.join(", "))
}
