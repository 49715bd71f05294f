//! What a case must fulfil.

use jaxide::io::Reader;
use jaxide_core::jaxpr::text_compare::{normalise, same_up_to_names, without_layout};
use jaxide_core::transform::apply;
use jaxide_core::{Cancel, ClosedJaxpr, ErrorKind, Result, Tensor, parse};

use super::case::Case;
use super::compare::difference;
use super::objects::Objects;
use crate::input;
use crate::program::{Backend, constants};

/// A property that cases are checked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Check {
    /// Reading and printing gives the text again.
    Print,
    /// Running gives the expected results.
    Eval,
    /// Transforming the base program and running that gives the expected results.
    Transform,
    /// Transforming the base program gives the expected text, up to names.
    Text,
}

impl Check {
    /// All of them.
    pub(super) const ALL: &'static [Check] =
        &[Check::Print, Check::Eval, Check::Transform, Check::Text];

    /// The name in reports.
    pub(super) fn name(self) -> &'static str {
        match self {
            Check::Print => "print",
            Check::Eval => "eval",
            Check::Transform => "transform",
            Check::Text => "text",
        }
    }
}

/// How programs are run.
pub(super) enum How {
    /// In this process. All checks are made.
    Here(Backend),
    /// As objects that a C compiler links. Only their results are looked at.
    Objects(Objects),
}

impl How {
    fn run(&self, jaxpr: &ClosedJaxpr, args: &[Tensor]) -> Result<Vec<Tensor>> {
        match self {
            How::Here(backend) => backend.run(jaxpr, args, None, &Cancel::new()),
            How::Objects(objects) => objects.run(jaxpr, args),
        }
    }
}

/// What came out of one check of one case.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) check: Check,
    pub(super) outcome: Outcome,
}

/// Whether a check passed.
#[derive(Debug)]
pub(super) enum Outcome {
    Pass,
    Fail(String),
    /// It needs what does not exist here, for this reason.
    Unsupported(String),
}

impl From<Result<Option<String>>> for Outcome {
    /// From the first difference, or the error on the way.
    fn from(result: Result<Option<String>>) -> Self {
        match result {
            Ok(None) => Outcome::Pass,
            Ok(Some(difference)) => Outcome::Fail(difference),
            Err(error) if error.kind() == ErrorKind::Unsupported => {
                Outcome::Unsupported(error.to_string())
            }
            Err(error) => Outcome::Fail(error.to_string()),
        }
    }
}

/// All checks of a case.
pub(super) fn run(case: &Case, how: &How) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let mut add = |check, result: Result<Option<String>>| {
        verdicts.push(Verdict {
            check,
            outcome: result.into(),
        });
    };
    let program = read(case, &case.name, "jaxpr");
    if let How::Objects(_) = how {
        if !case.lists("lossy", "inner_constants") {
            let result = program.and_then(|(_, jaxpr)| evaluation(case, &case.name, jaxpr, how));
            add(Check::Eval, result);
        }
        return verdicts;
    }
    add(
        Check::Print,
        program
            .as_ref()
            .map_err(Clone::clone)
            .map(|(text, jaxpr)| printing(case, text, jaxpr)),
    );
    // Constants of inner jaxprs are neither in the text nor in the archive.
    if !case.lists("lossy", "inner_constants") {
        let result = program.and_then(|(_, jaxpr)| evaluation(case, &case.name, jaxpr, how));
        add(Check::Eval, result);
    }
    if let Some(base) = case.base() {
        let transformed = transformed(case, base);
        let text = transformed
            .as_ref()
            .map_err(Clone::clone)
            .and_then(|jaxpr| transformed_text(case, jaxpr));
        add(Check::Text, text);
        let numbers = transformed.and_then(|jaxpr| {
            let mut npz = Reader::open_npz(&case.file(&case.name, "npz"))?;
            results_differ(case, &mut npz, &jaxpr, how)
        });
        add(Check::Transform, numbers);
    }
    verdicts
}

/// The text of a program and what it says.
fn read(case: &Case, name: &str, extension: &str) -> Result<(String, ClosedJaxpr)> {
    let path = case.file(name, extension);
    let text = input::text(&path)?;
    let jaxpr = parse(&text)?;
    Ok((text, jaxpr))
}

/// The first difference between a text and what is printed from its meaning.
fn printing(case: &Case, text: &str, jaxpr: &ClosedJaxpr) -> Option<String> {
    let (want, got) = (normalise(text), normalise(&format!("{jaxpr}\n")));
    let normalised = want != text;
    let same = got == want
        || normalised && without_layout(&got) == without_layout(&want)
        || case.flag("names_follow_rules") == Some(false) && same_up_to_names(&got, &want);
    (!same).then(|| first_line_that_differs(&got, &want))
}

fn first_line_that_differs(got: &str, want: &str) -> String {
    let (mut got, mut want) = (got.lines(), want.lines());
    for number in 1.. {
        match (got.next(), want.next()) {
            (Some(got), Some(want)) if got == want => {}
            (None, None) => break,
            (got, want) => {
                let shown = |line: Option<&str>| line.unwrap_or("the end").to_owned();
                return format!(
                    "line {number}\n     got: {}\nexpected: {}",
                    shown(got),
                    shown(want)
                );
            }
        }
    }
    "only blanks differ".to_owned()
}

/// The first difference of results, constants and arguments taken from the archive `archive`.
fn evaluation(
    case: &Case,
    archive: &str,
    mut jaxpr: ClosedJaxpr,
    how: &How,
) -> Result<Option<String>> {
    let mut npz = Reader::open_npz(&case.file(archive, "npz"))?;
    jaxpr.consts = constants(&jaxpr, |name, aval| npz.value(name, aval))?;
    results_differ(case, &mut npz, &jaxpr, how)
}

/// The first difference between expected results and those of a jaxpr.
fn results_differ(
    case: &Case,
    npz: &mut Reader,
    jaxpr: &ClosedJaxpr,
    how: &How,
) -> Result<Option<String>> {
    let (names, avals) = (case.arguments(), jaxpr.in_avals());
    if names.len() != avals.len() {
        return Ok(Some(format!(
            "the program takes {} arguments, and the case has {}",
            avals.len(),
            names.len()
        )));
    }
    let args: Vec<Tensor> = names
        .iter()
        .zip(&avals)
        .map(|(name, aval)| npz.value(name, aval))
        .collect::<Result<_>>()?;
    let results = how.run(jaxpr, &args)?;
    for (index, result) in results.iter().enumerate() {
        // Where factors are unique only up to signs and order, shape and dtype are compared: `get` does that.
        let want = npz.value(&format!("out{index}"), &result.aval())?;
        let why = match case.compare() {
            "nonunique" => None,
            _ => difference(result, &want, case.tolerance(index)),
        };
        if let Some(why) = why {
            return Ok(Some(format!("result {index}: {why}")));
        }
    }
    Ok(None)
}

/// The base program with all transformations applied.
fn transformed(case: &Case, base: &str) -> Result<ClosedJaxpr> {
    let (_, mut jaxpr) = read(case, base, "jaxpr")?;
    if !jaxpr.jaxpr.constvars.is_empty() {
        let mut npz = Reader::open_npz(case.file(base, "npz"))?;
        jaxpr.consts = constants(&jaxpr, |name, aval| npz.value(name, aval))?;
    }
    case.steps()?
        .iter()
        .try_fold(jaxpr, |jaxpr, step| apply(&jaxpr, step))
}

/// The first difference between a transformed program's text and the expected one.
fn transformed_text(case: &Case, jaxpr: &ClosedJaxpr) -> Result<Option<String>> {
    let from_base = case.file(&case.name, "frombase.jaxpr");
    let path = if from_base.is_file() {
        from_base
    } else {
        case.file(&case.name, "jaxpr")
    };
    let want = input::text(&path)?;
    let got = jaxpr.to_string();
    Ok((!same_up_to_names(&got, &want)).then(|| first_line_that_differs(&got, &want)))
}
