//! `jaxide compile`: writes a program as an object file, and a C header.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use clap::{Arg, ArgAction, ArgMatches, Command};
use jaxide::io::{Reader, write_file};
use jaxide_core::{Cancel, Error, ErrorKind};
use jaxide_cpu::{Cpu, ObjectOptions, Target, compile_object};

use crate::arguments::{file, path, value};
use crate::failure::Failure;
use crate::output;
use crate::program::{Program, constants};

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    let output = "The object file; the header stands beside it, with the suffix .h";
    let inputs = "Values of captured arrays: const0, const1, ...; without them, these are the first arguments";
    command
        .after_help(
            "The function takes addresses alone: of arguments, of results and of temporary memory, which the header describes.\n\
             Several processors have their code in one object, and the loader chooses: `--cpu x86-64-v2,x86-64-v4`.",
        )
        .arg(path("output", "OUT.o", output).short('o').required(true))
        .arg(
            named("name", "NAME")
                .help("The name of the function; otherwise that of the output"),
        )
        .arg(
            named("cpu", "CPU")
                .action(ArgAction::Append)
                .value_delimiter(',')
                .value_parser(|name: &str| words(Cpu::from_str(name)))
                .help("x86-64-v2, x86-64-v3, x86-64-v4 or native; otherwise x86-64-v3"),
        )
        .arg(
            named("target", "TRIPLE")
                .value_parser(|name: &str| words(Target::from_str(name)))
                .help("x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu; otherwise this machine's"),
        )
        .arg(path("inputs", "X.npz", inputs))
        .arg(file())
}

fn named(name: &'static str, value: &'static str) -> Arg {
    Arg::new(name).long(name).value_name(value)
}

fn words<T>(result: jaxide_core::Result<T>) -> Result<T, String> {
    result.map_err(|error| error.message().to_owned())
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let mut program = Program::read_legal(&value::<PathBuf>(matches, "file"))?;
    if let Some(inputs) = matches.get_one::<PathBuf>("inputs") {
        let mut archive = Reader::open_npz(inputs)?;
        program.jaxpr.consts = constants(&program.jaxpr, |name, aval| archive.value(name, aval))?;
    }
    let out = value::<PathBuf>(matches, "output");
    let target = matches.get_one("target").copied();
    let target = target.unwrap_or_else(Target::host);
    let cpus = matches.get_many("cpu").map(|cpus| cpus.copied().collect());
    let options = ObjectOptions {
        name: match matches.get_one::<String>("name") {
            Some(name) => name.clone(),
            None => stem(&out)?,
        },
        target,
        cpus: cpus.unwrap_or_else(|| target.usual()),
    };
    let object = compile_object(&program.jaxpr, &options).map_err(|e| program.failure(e))?;
    write_file(&out, object.bytes())?;
    let header = out.with_extension("h");
    write_file(&header, object.header().as_bytes())?;
    let libm = object.needs_libm().then(|| "libm".to_owned());
    let kernels = match object.kernels().len() {
        0 => None,
        1 => Some("1 kernel of libjaxide_runtime".to_owned()),
        kernels => Some(format!("{kernels} kernels of libjaxide_runtime")),
    };
    let needs: Vec<String> = kernels.into_iter().chain(libm).collect();
    let needs = match &needs[..] {
        [] => "nothing".to_owned(),
        needs => needs.join(" and "),
    };
    Ok(output::print(format_args!(
        "{}: {} bytes, needs {needs}; {}\n",
        out.display(),
        object.bytes().len(),
        header.display(),
    ))?)
}

/// The name of a file without suffix, as one of a function.
fn stem(path: &Path) -> Result<String, Error> {
    let stem = path.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.ok_or_else(|| Error::new(ErrorKind::Parameter, "the output has no name"))?;
    let letter = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    Ok(stem.chars().map(letter).collect())
}
