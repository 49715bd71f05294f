//! `jaxide lower`: prints what a program is compiled to.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{ArgMatches, Command, ValueEnum};

use crate::arguments::{choice, file, flag, threads, value};
use crate::failure::Failure;
use crate::output;
use crate::program::{Native, Program, in_words, milliseconds, native, with_zeros};
use jaxide_core::Cancel;
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

impl ValueEnum for Stage {
    fn value_variants<'a>() -> &'a [Self] {
        &[
            Stage::Jaxpr,
            Stage::Lowered(Lowered::Simplified),
            Stage::Lowered(Lowered::Graph),
            Stage::Lowered(Lowered::Plan),
            Stage::Lowered(Lowered::Loops),
            Stage::Lowered(Lowered::Lanes),
            Stage::Clif,
            Stage::Asm,
        ]
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(match self {
            Stage::Jaxpr => "jaxpr",
            Stage::Lowered(Lowered::Simplified) => "simplified",
            Stage::Lowered(Lowered::Graph) => "graph",
            Stage::Lowered(Lowered::Plan) => "plan",
            Stage::Lowered(Lowered::Loops) => "loops",
            Stage::Lowered(Lowered::Lanes) => "lanes",
            Stage::Clif => "clif",
            Stage::Asm => "asm",
        }))
    }
}

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    command
        .arg(choice::<Stage>("emit", "STAGE", "loops").help("The stage that is printed"))
        .arg(flag("time", "Say how long each stage took instead"))
        .arg(threads())
        .arg(file())
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let threads = matches.get_one("threads").copied();
    let program = Program::read_legal(&value::<PathBuf>(matches, "file"))?;
    let jaxpr = with_zeros(&program.jaxpr)?;
    let failure = |error| program.failure(error);
    let compiled = |keep_text| {
        let how = Native {
            keep_text,
            ..Native::default()
        };
        native(&jaxpr, how, threads).map_err(failure)
    };
    if matches.get_flag("time") {
        return Ok(output::print(times(&compiled(false)?.stats().stages))?);
    }
    let text = match value(matches, "emit") {
        Stage::Jaxpr => {
            let options = PrintOptions {
                sources: true,
                ..PrintOptions::default()
            };
            program.jaxpr.display(&options).to_string()
        }
        Stage::Lowered(Lowered::Loops) => {
            let (plan, loops) = jaxide_cpu::planned_loops(&jaxpr).map_err(failure)?;
            format!("# {}\n{loops}", in_words(plan))
        }
        Stage::Lowered(lowered) => jaxide_cpu::lowered(&jaxpr, lowered).map_err(failure)?,
        Stage::Clif => compiled(true)?.clif_text().to_owned(),
        Stage::Asm => compiled(false)?.asm_text(),
    };
    Ok(output::print(text)?)
}

/// A line for each stage.
fn times(stages: &StageTimes) -> String {
    let all = stages.iter().chain([("total", stages.total())]);
    all.map(|(name, time)| format!("{name:<8} {:>10.3} ms\n", milliseconds(time)))
        .collect()
}
