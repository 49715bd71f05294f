//! `jaxide transform`: prints a program after transformations.

use jaxide_core::ClosedJaxpr;
use jaxide_core::prims::Name;
use jaxide_core::transform::{Step, apply};

use crate::arguments::{Argument, Arguments, only_file};
use crate::failure::Failure;
use crate::output;
use crate::program::Program;

/// Runs the command.
pub(crate) fn run(arguments: &mut Arguments) -> Result<(), Failure> {
    // A step may be applied twice.
    arguments.let_repeat();
    let mut files = Vec::new();
    let mut steps: Vec<(String, Settings)> = Vec::new();
    while let Some(argument) = arguments.next()? {
        match argument {
            Argument::Option(option) => {
                let Some(name) = option.strip_prefix("--") else {
                    return Err(Argument::Option(option).unexpected());
                };
                // Settings in the next word are known by their `=`.
                let settings =
                    arguments.value_if(|next| !next.starts_with('-') && next.contains('='))?;
                let settings =
                    settings.map_or(Ok(Settings::default()), |text| Settings::parse(&text));
                steps.push((name.replace('_', "-"), settings?));
            }
            Argument::Value(file) => files.push(file),
        }
    }
    let program = Program::read_legal(&only_file(files)?)?;
    let mut jaxpr = program.jaxpr.clone();
    for (name, settings) in &steps {
        let step = settings.step(name, &jaxpr)?;
        jaxpr = apply(&jaxpr, &step).map_err(|error| program.failure(error))?;
    }
    output::print(format_args!("{jaxpr}\n"))
}

/// `argnums=0,1,tangent_outs=0`: names and lists of values.
#[derive(Default)]
struct Settings(Vec<(String, Vec<String>)>);

impl Settings {
    fn parse(text: &str) -> Result<Self, Failure> {
        let mut settings: Vec<(String, Vec<String>)> = Vec::new();
        for item in text.split(',').filter(|item| !item.is_empty()) {
            match (item.split_once('='), settings.last_mut()) {
                (Some((name, value)), _) => {
                    settings.push((name.to_owned(), vec![value.to_owned()]))
                }
                (None, Some((_, values))) => values.push(item.to_owned()),
                (None, None) => {
                    return Err(Failure::usage(format!("`{item}` belongs to no setting")));
                }
            }
        }
        Ok(Settings(settings))
    }

    /// The step `name` with these settings, for a function.
    fn step(&self, name: &str, jaxpr: &ClosedJaxpr) -> Result<Step, Failure> {
        let known: &[&str] = match name {
            "jvp" | "linearize" => &["argnums", "tangent_outs"],
            "vjp" => &["argnums", "cotangent_outs"],
            "grad" | "value-and-grad" | "jacfwd" | "jacrev" | "hessian" => &["argnums"],
            "vmap" => &["in_axes", "out_axes", "axis_size", "axis_name"],
            "jit" => &["name"],
            "checkpoint" => &[],
            other => return Err(Failure::usage(format!("there is no step `--{other}`"))),
        };
        if let Some((odd, _)) = self
            .0
            .iter()
            .find(|(setting, _)| !known.contains(&setting.as_str()))
        {
            return Err(Failure::usage(format!("--{name} has no setting `{odd}`")));
        }
        let floats = |avals: Vec<jaxide_core::Aval>| {
            let numbered = avals.into_iter().enumerate();
            numbered
                .filter(|(_, aval)| aval.dtype.is_inexact())
                .map(|(index, _)| index)
                .collect::<Vec<_>>()
        };
        let all_arguments = || floats(jaxpr.in_avals());
        let all_results = || floats(jaxpr.out_avals());
        let argnums = || self.numbers("argnums", || vec![0]);
        Ok(match name {
            "jvp" => Step::Jvp {
                argnums: self.numbers("argnums", all_arguments)?,
                tangent_outs: self.numbers("tangent_outs", all_results)?,
            },
            "linearize" => Step::Linearize {
                argnums: self.numbers("argnums", all_arguments)?,
                tangent_outs: self.numbers("tangent_outs", all_results)?,
            },
            "vjp" => Step::Vjp {
                argnums: self.numbers("argnums", all_arguments)?,
                cotangent_outs: self.numbers("cotangent_outs", all_results)?,
            },
            "grad" => Step::Grad {
                argnums: argnums()?,
            },
            "value-and-grad" => Step::ValueAndGrad {
                argnums: argnums()?,
            },
            "jacfwd" => Step::Jacfwd {
                argnums: argnums()?,
            },
            "jacrev" => Step::Jacrev {
                argnums: argnums()?,
            },
            "hessian" => Step::Hessian {
                argnums: argnums()?,
            },
            "vmap" => self.vmap(jaxpr.in_avals().len())?,
            "jit" => Step::Jit {
                name: Name::new(
                    self.get("name")
                        .and_then(|values| values.first())
                        .map_or("f", String::as_str),
                ),
            },
            _ => Step::Checkpoint,
        })
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
            axis_name: self
                .get("axis_name")
                .and_then(|values| values.first())
                .map(|name| Name::new(name)),
        })
    }

    fn get(&self, setting: &str) -> Option<&Vec<String>> {
        self.0
            .iter()
            .find(|(name, _)| name == setting)
            .map(|(_, values)| values)
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
