//! `jaxide lower`: prints what a program is compiled to.

use crate::arguments::{Arguments, only_file};
use crate::failure::Failure;
use crate::output;
use crate::program::{Native, Program, in_words, milliseconds, native, with_zeros};
use jaxide_core::jaxpr::PrintOptions;
use jaxide_cpu::{Lowered, StageTimes};

/// Which stage is printed.
#[derive(Clone, Copy)]
enum Stage {
    /// The program, with the places of its equations.
    Jaxpr,
    /// What lowering makes.
    Lowered(Lowered),
    Clif,
    Asm,
}

impl std::str::FromStr for Stage {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "jaxpr" => Ok(Stage::Jaxpr),
            "graph" => Ok(Stage::Lowered(Lowered::Graph)),
            "plan" => Ok(Stage::Lowered(Lowered::Plan)),
            "loops" => Ok(Stage::Lowered(Lowered::Loops)),
            "lanes" => Ok(Stage::Lowered(Lowered::Lanes)),
            "clif" => Ok(Stage::Clif),
            "asm" => Ok(Stage::Asm),
            other => Err(format!(
                "there is no stage `{other}`, only jaxpr, graph, plan, loops, lanes, clif and asm"
            )),
        }
    }
}

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    let mut files = Vec::new();
    let (mut stage, mut threads, mut time) = (Stage::Lowered(Lowered::Loops), None::<usize>, false);
    while let Some(argument) = arguments.next()? {
        match argument.option() {
            Some("--emit") => stage = arguments.value("--emit")?,
            Some("--time") => time = true,
            Some("--threads") => threads = Some(arguments.threads()?),
            Some(_) => return Err(argument.unexpected()),
            None => files.extend(argument.value()),
        }
    }
    let program = Program::read_legal(&only_file(files)?)?;
    let jaxpr = with_zeros(&program.jaxpr)?;
    let failure = |error| program.failure(error);
    let compiled = |keep_text| {
        let how = Native {
            keep_text,
            ..Native::default()
        };
        native(&jaxpr, how, threads).map_err(failure)
    };
    if time {
        return output::print(times(&compiled(false)?.stats().stages));
    }
    output::print(match stage {
        Stage::Jaxpr => {
            let options = PrintOptions {
                sources: true,
                ..PrintOptions::default()
            };
            program.jaxpr.display(&options).to_string()
        }
        Stage::Lowered(Lowered::Loops) => {
            let plan = jaxide_cpu::plan(&jaxpr).map_err(failure)?;
            let loops = jaxide_cpu::lowered(&jaxpr, Lowered::Loops).map_err(failure)?;
            format!("# {}\n{loops}", in_words(plan))
        }
        Stage::Lowered(lowered) => jaxide_cpu::lowered(&jaxpr, lowered).map_err(failure)?,
        Stage::Clif => compiled(true)?.clif_text().to_owned(),
        Stage::Asm => compiled(false)?.asm_text(),
    })
}

/// A line for each stage.
fn times(stages: &StageTimes) -> String {
    let all = stages.iter().chain([("total", stages.total())]);
    all.map(|(name, time)| format!("{name:<8} {:>10.3} ms\n", milliseconds(time)))
        .collect()
}
