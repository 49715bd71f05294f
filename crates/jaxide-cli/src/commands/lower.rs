//! `jaxide lower`: prints what a program is compiled to.

use crate::arguments::{Arguments, only_file};
use crate::failure::Failure;
use crate::output;
use crate::program::{Native, Program, native};

/// Which stage is printed.
#[derive(Clone, Copy)]
enum Stage {
    Loops,
    Clif,
    Asm,
}

impl std::str::FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "loops" => Ok(Stage::Loops),
            "clif" => Ok(Stage::Clif),
            "asm" => Ok(Stage::Asm),
            other => Err(format!(
                "there is no stage `{other}`, only loops, clif and asm"
            )),
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let mut files = Vec::new();
    let (mut stage, mut threads) = (Stage::Loops, None::<usize>);
    while let Some(argument) = arguments.next()? {
        match argument.option() {
            Some("--emit") => stage = arguments.value("--emit")?,
            Some("--threads") => threads = Some(arguments.threads()?),
            Some(_) => return Err(argument.unexpected()),
            None => files.extend(argument.value()),
        }
    }
    let mut program = Program::read_legal(&only_file(files)?)?;
    // Values of captured arrays do not matter for what is printed.
    program.jaxpr.consts = program
        .jaxpr
        .jaxpr
        .const_avals()
        .iter()
        .map(|aval| jaxide_core::Tensor::zeros(&aval.shape, aval.dtype))
        .collect::<Result<_, _>>()?;
    let compiled = native(&program.jaxpr, Native::default(), threads)
        .map_err(|error| program.failure(error))?;
    match stage {
        Stage::Loops => output::print(compiled.loops_text()),
        Stage::Clif => output::print(compiled.clif_text()),
        Stage::Asm => output::print(compiled.asm_text()),
    }
}
