//! `jaxide eval`: runs a program.

use std::path::PathBuf;

use jaxide::io::{Archive, Reader};
use jaxide_core::Tensor;

use crate::arguments::{Arguments, only_file};
use crate::failure::Failure;
use crate::output;
use crate::program::{Backend, Program};

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let mut files = Vec::new();
    let (mut backend, mut inputs, mut output) = (Backend::Eval, None::<PathBuf>, None::<PathBuf>);
    let mut threads = None::<usize>;
    while let Some(argument) = arguments.next()? {
        match argument.option() {
            Some("--backend") => backend = arguments.value("--backend")?,
            Some("--inputs") => inputs = Some(arguments.path("--inputs")?),
            Some("--output") => output = Some(arguments.path("--output")?),
            Some("--threads") => threads = Some(arguments.threads()?),
            Some(_) => return Err(argument.unexpected()),
            None => files.extend(argument.value()),
        }
    }
    let mut program = Program::read_legal(&only_file(files)?)?;
    let given = inputs.map(Reader::open_npz).transpose()?;
    let args = program.inputs(given)?;
    let results = backend
        .run(&program.jaxpr, &args, threads, &arguments.limit())
        .map_err(|error| program.failure(error))?;
    match output {
        Some(path) => archive(&results).write_npz(&path)?,
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
