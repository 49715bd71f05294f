//! Programs in files, and running them.

use std::path::Path;
use std::time::Duration;

use clap::ValueEnum;
use clap::builder::PossibleValue;
use jaxide::io::{Archive, Reader};
use jaxide_core::jaxpr::notes;
use jaxide_core::jaxpr::parse::{decode, parse};
use jaxide_core::{Aval, Cancel, ClosedJaxpr, Error, ErrorKind, Tensor, check};

use jaxide_cpu::codegen::lanes::Isa;
use jaxide_cpu::{CompileOptions, MemoryPlan};

use crate::failure::{Failure, report_note};
use crate::input;

/// Bytes of stack for threads that read, transform or run programs: enough for the deepest nesting that the parser
/// lets through. Memory is only taken where it is used.
pub(crate) const STACK: usize = 512 << 20;

/// What runs a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Backend {
    /// The reference interpreter.
    #[default]
    Eval,
    /// Native code.
    Native(Native),
}

/// How native code is made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Native {
    /// The instruction set of vectors; the widest that the machine has if `None`.
    pub(crate) isa: Option<Isa>,
    /// Whether each access of memory is looked at before it is made.
    pub(crate) checked: bool,
    /// Whether the code's text is wanted.
    pub(crate) keep_text: bool,
    /// Whether the times of its steps are.
    pub(crate) profile: bool,
    /// Whether arithmetic keeps subnormal numbers, as the interpreter does; it takes them for zero elsewhere, as JAX does.
    pub(crate) keep_subnormals: bool,
}

impl Native {
    const fn new(isa: Option<Isa>, checked: bool) -> Self {
        Native {
            isa,
            checked,
            keep_text: false,
            profile: false,
            keep_subnormals: false,
        }
    }
}

impl ValueEnum for Backend {
    fn value_variants<'a>() -> &'a [Self] {
        &Backend::ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let name = match self {
            Backend::Eval => "eval",
            Backend::Native(native) => match (native.isa, native.checked) {
                (None, false) => "native",
                (None, true) => "native-checked",
                (Some(Isa::Avx512), false) => "native-avx512",
                (Some(Isa::Avx512), true) => "native-avx512-checked",
                (Some(Isa::Avx2), false) => "native-avx2",
                (Some(Isa::Avx2), true) => "native-avx2-checked",
                (Some(Isa::Portable), false) => "native-portable",
                (Some(Isa::Portable), true) => "native-portable-checked",
            },
        };
        Some(PossibleValue::new(name))
    }
}

impl Backend {
    const ALL: [Backend; 9] = [
        Backend::Eval,
        Backend::Native(Native::new(None, false)),
        Backend::Native(Native::new(Some(Isa::Avx512), false)),
        Backend::Native(Native::new(Some(Isa::Avx2), false)),
        Backend::Native(Native::new(Some(Isa::Portable), false)),
        Backend::Native(Native::new(None, true)),
        Backend::Native(Native::new(Some(Isa::Avx512), true)),
        Backend::Native(Native::new(Some(Isa::Avx2), true)),
        Backend::Native(Native::new(Some(Isa::Portable), true)),
    ];

    /// A jaxpr ready to run on at most `threads` threads; on all of the machine where no number is given.
    pub(crate) fn compile(
        self,
        jaxpr: &ClosedJaxpr,
        threads: Option<usize>,
    ) -> jaxide_core::Result<Executable<'_>> {
        match self {
            Backend::Eval => Ok(Executable::Eval(jaxpr)),
            Backend::Native(how) => Ok(Executable::Native(Box::new(native(jaxpr, how, threads)?))),
        }
    }

    /// The results of a jaxpr on arrays, until `limit` ends the run.
    pub(crate) fn run(
        self,
        jaxpr: &ClosedJaxpr,
        args: &[Tensor],
        threads: Option<usize>,
        limit: &Cancel,
    ) -> jaxide_core::Result<Vec<Tensor>> {
        self.compile(jaxpr, threads)?.run(args, limit)
    }
}

/// Native code of a jaxpr.
pub(crate) fn native(
    jaxpr: &ClosedJaxpr,
    how: Native,
    threads: Option<usize>,
) -> jaxide_core::Result<jaxide_cpu::Executable> {
    let options = CompileOptions {
        threads,
        isa: how.isa,
        checked: how.checked,
        keep_text: how.keep_text,
        profile: how.profile,
        flush_subnormals: !how.keep_subnormals,
        ..CompileOptions::default()
    };
    jaxide_cpu::compile(jaxpr, &options)
}

/// The program with zeros as captured arrays, whose values do not matter for what is only looked at.
pub(crate) fn with_zeros(jaxpr: &ClosedJaxpr) -> jaxide_core::Result<ClosedJaxpr> {
    let avals = jaxpr.jaxpr.const_avals();
    let zeros = avals
        .iter()
        .map(|aval| Tensor::zeros(&aval.shape, aval.dtype));
    Ok(ClosedJaxpr {
        consts: zeros.collect::<Result<_, _>>()?,
        ..jaxpr.clone()
    })
}

/// `a run takes 4000 bytes: 0 while it runs, 4000 for its results`.
pub(crate) fn in_words(plan: MemoryPlan) -> String {
    let more = match plan.for_each_thread {
        0 => String::new(),
        bytes => format!("; each thread but the first takes {bytes} more"),
    };
    format!(
        "a run takes {} bytes: {} while it runs, {} for its results{more}",
        plan.total(),
        plan.arena,
        plan.results
    )
}

/// A program ready to run.
pub(crate) enum Executable<'a> {
    /// Interpreted.
    Eval(&'a ClosedJaxpr),
    /// Compiled.
    Native(Box<jaxide_cpu::Executable>),
}

impl Executable<'_> {
    /// The native code, unless the program is interpreted.
    pub(crate) fn native(&self) -> Option<&jaxide_cpu::Executable> {
        match self {
            Executable::Eval(_) => None,
            Executable::Native(program) => Some(program),
        }
    }

    /// How long the stages of compiling took; none of what is interpreted.
    pub(crate) fn stages(&self) -> Vec<(&'static str, Duration)> {
        match self {
            Executable::Eval(_) => Vec::new(),
            Executable::Native(program) => program.stats().stages.iter().collect(),
        }
    }

    /// The results on arrays, until `limit` ends the run, which somebody cancels in time.
    pub(crate) fn run(&self, args: &[Tensor], limit: &Cancel) -> jaxide_core::Result<Vec<Tensor>> {
        match self {
            Executable::Eval(jaxpr) => jaxide_core::eval::eval_with(jaxpr, args, limit),
            Executable::Native(program) => {
                let results = match limit.time_left() {
                    None => program.run_with(args, limit),
                    Some(_) => program.run_with(args, &limit.without_deadline()),
                };
                results.map_err(|error| match limit.check() {
                    Err(why) if error.kind() == ErrorKind::Cancelled => why,
                    _ => error,
                })
            }
        }
    }
}

/// A time in the unit that is printed.
pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// A program and where it comes from.
pub(crate) struct Program {
    file: String,
    text: String,
    /// Whether a byte-order mark stands in front of the text.
    marked: bool,
    /// What it says.
    pub(crate) jaxpr: ClosedJaxpr,
}

impl Program {
    /// Reads a file, or standard input for `-`.
    pub(crate) fn read(path: &Path) -> Result<Self, Failure> {
        let (file, bytes) = (input::name(path), input::bytes(path)?);
        let read =
            decode(&bytes).and_then(|text| parse(text).map(|jaxpr| (text.to_owned(), jaxpr)));
        match read {
            Ok((text, jaxpr)) => Ok(Program {
                file,
                marked: text.len() < bytes.len(),
                text,
                jaxpr,
            }),
            Err(error) => Err(Failure::Parse { file, error }),
        }
    }

    /// As [`Program::read`], for programs that are transformed or run: they must be legal.
    pub(crate) fn read_legal(path: &Path) -> Result<Self, Failure> {
        let program = Self::read(path)?;
        match check(&program.jaxpr) {
            Ok(()) => Ok(program),
            Err(errors) => Err(match errors.into_iter().next() {
                Some(first) => program.failure(first),
                None => Failure::Reported,
            }),
        }
    }

    /// Whether the file is this text, and nothing else.
    pub(crate) fn is(&self, text: &str) -> bool {
        !self.marked && self.text == text
    }

    /// Prints what it holds that has no meaning here.
    pub(crate) fn report_notes(&self) {
        let place = (self.file.clone(), self.text.clone());
        for note in notes(&self.jaxpr) {
            report_note(&note, &place);
        }
    }

    /// An error about this program.
    pub(crate) fn failure(&self, error: Error) -> Failure {
        Failure::Error {
            error,
            program: Some((self.file.clone(), self.text.clone())),
        }
    }

    /// Takes constants and arguments from an archive, if there is one; what else it holds is not read.
    pub(crate) fn inputs(
        &mut self,
        mut archive: Option<Reader>,
    ) -> jaxide_core::Result<Vec<Tensor>> {
        let names = archive
            .as_ref()
            .map_or_else(Vec::new, |archive| arguments(archive.names()));
        let mut value = |name: &str, aval: &Aval| match &mut archive {
            Some(archive) => archive.value(name, aval),
            None => Archive::new().value(name, aval),
        };
        self.jaxpr.consts = constants(&self.jaxpr, &mut value)?;
        let avals = self.jaxpr.in_avals();
        if names.len() != avals.len() {
            return Err(Error::new(
                ErrorKind::Arity,
                format!(
                    "the program takes {} arguments, and the archive has {}",
                    avals.len(),
                    names.len()
                ),
            )
            .note("give them as members in0, in1, ... of an archive: `--inputs X.npz`"));
        }
        names
            .iter()
            .zip(&avals)
            .map(|(name, aval)| value(name, aval))
            .collect()
    }
}

/// Names of the members that are arguments: neither constants nor results. `in0`, `in1`, ... come first and in numerical
/// order, the others as they are in the archive.
fn arguments<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut names: Vec<&str> = names
        .filter(|name| number(name, "const").is_none() && number(name, "out").is_none())
        .collect();
    names.sort_by_key(|name| number(name, "in").unwrap_or(usize::MAX));
    names.into_iter().map(str::to_owned).collect()
}

/// The number in `in3`.
fn number(name: &str, prefix: &str) -> Option<usize> {
    name.strip_prefix(prefix)?.parse().ok()
}

/// Values of the constvars: members `const0`, `const1`, ..., which `value` gives.
pub(crate) fn constants(
    jaxpr: &ClosedJaxpr,
    mut value: impl FnMut(&str, &Aval) -> jaxide_core::Result<Tensor>,
) -> jaxide_core::Result<Vec<Tensor>> {
    let avals = jaxpr.jaxpr.const_avals();
    let numbered = avals.iter().enumerate();
    numbered
        .map(|(index, aval)| value(&format!("const{index}"), aval))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_in_numerical_order() {
        let names = ["in10", "ct0", "in2", "const0", "out0", "tan0"];
        assert_eq!(arguments(names.into_iter()), ["in2", "in10", "ct0", "tan0"]);
    }
}
