//! `jaxide lower`: prints what a program is compiled to.

use crate::arguments::{Arguments, only_file};
use crate::failure::Failure;
use crate::output;
use crate::program::{Native, Program, in_words, milliseconds, native, with_zeros};
use jaxide_cpu::MemoryPlan;
use std::time::Duration;

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
    let (mut stage, mut threads, mut time) = (Stage::Loops, None::<usize>, false);
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
    let how = Native {
        keep_text: matches!(stage, Stage::Clif),
        ..Native::default()
    };
    let compiled = native(&jaxpr, how, threads).map_err(|error| program.failure(error))?;
    if time {
        let stages = &compiled.stats().stages;
        let line =
            |name: &str, time: Duration| format!("{name:<8} {:>10.3} ms\n", milliseconds(time));
        let mut lines: String = stages.iter().map(|(name, time)| line(name, time)).collect();
        lines += &line("total", stages.total());
        return output::print(lines);
    }
    match stage {
        Stage::Loops => {
            let (arena, memory) = (compiled.stats().arena, compiled.stats().memory);
            let results = memory - arena;
            let plan = format!("# {}\n", in_words(MemoryPlan { arena, results }));
            output::print(plan + &compiled.loops_text())
        }
        Stage::Clif => output::print(compiled.clif_text()),
        Stage::Asm => output::print(compiled.asm_text()),
    }
}
