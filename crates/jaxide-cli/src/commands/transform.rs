//! `jaxide transform`: prints a program after transformations.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Arg, ArgAction, ArgMatches, Command};
use jaxide_core::prims::Name;
use jaxide_core::transform::{Step, apply};
use jaxide_core::{Aval, Cancel, ClosedJaxpr};

use crate::arguments::{file, value};
use crate::failure::Failure;
use crate::output;
use crate::program::Program;

/// A step that the command line may ask for.
struct Kind {
    name: &'static str,
    /// The names of its settings.
    settings: &'static [&'static str],
    help: &'static str,
    /// What it is for a function.
    step: fn(&Settings, &ClosedJaxpr) -> Result<Step, Failure>,
}

const KINDS: [Kind; 11] = [
    Kind {
        name: "jvp",
        settings: &["argnums", "tangent_outs"],
        help: "The function and its tangents, by forward mode",
        step: |settings, jaxpr| {
            let (argnums, tangent_outs) = settings.forward(jaxpr)?;
            Ok(Step::Jvp {
                argnums,
                tangent_outs,
            })
        },
    },
    Kind {
        name: "linearize",
        settings: &["argnums", "tangent_outs"],
        help: "As --jvp, applying the linear map to the tangents",
        step: |settings, jaxpr| {
            let (argnums, tangent_outs) = settings.forward(jaxpr)?;
            Ok(Step::Linearize {
                argnums,
                tangent_outs,
            })
        },
    },
    Kind {
        name: "vjp",
        settings: &["argnums", "cotangent_outs"],
        help: "The function and gradients for cotangents of its results",
        step: |settings, jaxpr| {
            let all = || floats(jaxpr.out_avals());
            Ok(Step::Vjp {
                argnums: settings.argnums()?,
                cotangent_outs: settings.numbers("cotangent_outs", all)?,
            })
        },
    },
    Kind {
        name: "grad",
        settings: &["argnums"],
        help: "The gradients of the first result, a scalar",
        step: |settings, _| {
            let argnums = settings.argnums()?;
            Ok(Step::Grad { argnums })
        },
    },
    Kind {
        name: "value-and-grad",
        settings: &["argnums"],
        help: "The first result, and its gradients",
        step: |settings, _| {
            let argnums = settings.argnums()?;
            Ok(Step::ValueAndGrad { argnums })
        },
    },
    Kind {
        name: "jacfwd",
        settings: &["argnums"],
        help: "All first derivatives, by forward mode",
        step: |settings, _| {
            let argnums = settings.argnums()?;
            Ok(Step::Jacfwd { argnums })
        },
    },
    Kind {
        name: "jacrev",
        settings: &["argnums"],
        help: "All first derivatives, by reverse mode",
        step: |settings, _| {
            let argnums = settings.argnums()?;
            Ok(Step::Jacrev { argnums })
        },
    },
    Kind {
        name: "hessian",
        settings: &["argnums"],
        help: "All second derivatives",
        step: |settings, _| {
            let argnums = settings.argnums()?;
            Ok(Step::Hessian { argnums })
        },
    },
    Kind {
        name: "vmap",
        settings: &["in_axes", "out_axes", "axis_size", "axis_name"],
        help: "Many calls at once",
        step: |settings, jaxpr| settings.vmap(jaxpr.in_avals().len()),
    },
    Kind {
        name: "jit",
        settings: &["name"],
        help: "One call of a function with a name",
        step: |settings, _| {
            let name = settings.first("name").unwrap_or("f");
            let name = Name::new(name);
            Ok(Step::Jit { name })
        },
    },
    Kind {
        name: "checkpoint",
        settings: &[],
        help: "One call whose values are computed again for its derivative",
        step: |_, _| Ok(Step::Checkpoint),
    },
];

/// The words of a command line, each step with its settings in one word: behind a step they are known by their `=`.
pub(crate) fn join_settings(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut joined: Vec<OsString> = Vec::new();
    for word in words {
        let text = word.to_string_lossy();
        let is_setting = !text.starts_with('-') && text.contains('=');
        match joined.last_mut() {
            Some(last) if is_setting && is_step(last) => {
                last.push("=");
                last.push(&word);
            }
            _ => joined.push(word),
        }
    }
    joined
}

fn is_step(word: &OsString) -> bool {
    let name = word.to_str().and_then(|word| word.strip_prefix("--"));
    name.is_some_and(|name| (KINDS.iter()).any(|kind| kind.name == name.replace('_', "-")))
}

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    let steps = KINDS.iter().map(|kind| {
        let settings = match kind.settings {
            [] => "none".to_owned(),
            names => names.join(", "),
        };
        let step = Arg::new(kind.name)
            .long(kind.name)
            .help(format!("{} [settings: {settings}]", kind.help))
            .help_heading("Steps, applied in order, the innermost first")
            .action(ArgAction::Append)
            .value_parser(|text: &str| Settings::parse(text, kind.settings))
            .value_name("SETTINGS")
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("");
        match kind.name {
            "value-and-grad" => step.alias("value_and_grad"),
            _ => step,
        }
    });
    command.after_help(SETTINGS).arg(file()).args(steps)
}

const SETTINGS: &str = "\
Settings are joined by commas, and may stand in the next word:

  jaxide transform f.jaxpr --grad argnums=0,1 --vmap in_axes=0,None,out_axes=0,axis_size=4 --jit name=g";

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let mut steps: Vec<(usize, &Kind, &Settings)> = Vec::new();
    for kind in &KINDS {
        let places = matches.indices_of(kind.name).unwrap_or_default();
        let settings = matches.get_many(kind.name).unwrap_or_default();
        steps.extend(
            places
                .zip(settings)
                .map(|(place, settings)| (place, kind, settings)),
        );
    }
    steps.sort_by_key(|&(place, ..)| place);
    let program = Program::read_legal(&value::<PathBuf>(matches, "file"))?;
    let mut jaxpr = program.jaxpr.clone();
    for (_, kind, settings) in steps {
        let step = (kind.step)(settings, &jaxpr)?;
        jaxpr = apply(&jaxpr, &step).map_err(|error| program.failure(error))?;
    }
    Ok(output::print(format_args!("{jaxpr}\n"))?)
}

/// The numbers of those that have tangents.
fn floats(avals: Vec<Aval>) -> Vec<usize> {
    let numbered = avals.into_iter().enumerate();
    numbered
        .filter(|(_, aval)| aval.dtype.is_inexact())
        .map(|(index, _)| index)
        .collect()
}

/// `argnums=0,1,tangent_outs=0`: names and lists of values.
#[derive(Clone)]
struct Settings(Vec<(String, Vec<String>)>);

impl Settings {
    /// Reads them, with names among the `known`.
    fn parse(text: &str, known: &[&str]) -> Result<Self, String> {
        let mut settings: Vec<(String, Vec<String>)> = Vec::new();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            match (item.split_once('='), settings.last_mut()) {
                (Some((name, value)), _) => {
                    settings.push((name.to_owned(), vec![value.to_owned()]))
                }
                (None, Some((_, values))) => values.push(item.to_owned()),
                (None, None) => {
                    return Err(format!("`{item}` belongs to no setting"));
                }
            }
        }
        let odd = settings
            .iter()
            .find(|(name, _)| !known.contains(&name.as_str()));
        match (odd, known) {
            (None, _) => Ok(Settings(settings)),
            (Some(_), []) => Err("this step has no settings".to_owned()),
            (Some((odd, _)), _) => Err(format!(
                "there is no setting `{odd}` of this step, only {}",
                known.join(", ")
            )),
        }
    }

    /// Arguments and results with tangents: all that can have some, if nothing is said.
    fn forward(&self, jaxpr: &ClosedJaxpr) -> Result<(Vec<usize>, Vec<usize>), Failure> {
        let argnums = self.numbers("argnums", || floats(jaxpr.in_avals()))?;
        let tangent_outs = self.numbers("tangent_outs", || floats(jaxpr.out_avals()))?;
        Ok((argnums, tangent_outs))
    }

    /// Arguments that are differentiated by: the first, if nothing is said.
    fn argnums(&self) -> Result<Vec<usize>, Failure> {
        self.numbers("argnums", || vec![0])
    }

    fn vmap(&self, arguments: usize) -> Result<Step, Failure> {
        let axis = |text: &String| match text.as_str() {
            "None" | "none" => Ok(None),
            number => number
                .parse()
                .map(Some)
                .map_err(|_| Failure::usage(format!("--vmap: `{number}` is no axis"))),
        };
        let in_axes = match self.get("in_axes") {
            None => vec![Some(0); arguments],
            Some(values) => values.iter().map(axis).collect::<Result<_, _>>()?,
        };
        let number = |setting: &str| -> Result<Option<i64>, Failure> {
            let Some(values) = self.get(setting) else {
                return Ok(None);
            };
            match values
                .iter()
                .map(|value| value.parse())
                .collect::<Result<Vec<i64>, _>>()
                .as_deref()
            {
                Ok([number]) => Ok(Some(*number)),
                _ => Err(Failure::usage(format!("--vmap: {setting} is one integer"))),
            }
        };
        let axis_size = number("axis_size")?
            .and_then(|size| usize::try_from(size).ok())
            .ok_or_else(|| Failure::usage("--vmap needs axis_size"))?;
        Ok(Step::Vmap {
            in_axes,
            out_axes: number("out_axes")?.unwrap_or(0),
            axis_size,
            axis_name: self.first("axis_name").map(Name::new),
        })
    }

    fn get(&self, setting: &str) -> Option<&Vec<String>> {
        self.0
            .iter()
            .find(|(name, _)| name == setting)
            .map(|(_, values)| values)
    }

    fn first(&self, setting: &str) -> Option<&str> {
        let first = self.get(setting)?.first();
        first.map(String::as_str)
    }

    fn numbers(
        &self,
        setting: &str,
        default: impl Fn() -> Vec<usize>,
    ) -> Result<Vec<usize>, Failure> {
        let Some(values) = self.get(setting) else {
            return Ok(default());
        };
        let numbers = values
            .iter()
            .map(|value| value.parse())
            .collect::<Result<_, _>>();
        numbers.map_err(|_| Failure::usage(format!("{setting} is a list of numbers from 0")))
    }
}
