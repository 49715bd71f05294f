//! `jaxide conformance`: runs the cases of a corpus of programs with expected texts and results.
//!
//! A folder of cases has a `manifest.jsonl` with one JSON object per case. [`case`] reads them, [`checks`] says what a
//! case must fulfil, [`compare`] when arrays agree, [`pool`] runs cases at once and survives what they do, [`known`] is
//! the list of failures with reasons.

mod case;
mod checks;
mod compare;
mod known;
mod objects;
mod pool;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgMatches, Command, ValueHint};
use jaxide_core::Cancel;
use serde_json::{Value as Json, json};

use crate::arguments::{self, flag, path, value};
use crate::failure::Failure;
use crate::output;
use crate::program::Backend;
use case::Case;
use checks::{Check, How, Outcome, Verdict};
use known::Known;
use objects::Objects;

/// Longer than this no case may take.
const TIME_LIMIT: Duration = Duration::from_secs(60);

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    let filter = Arg::new("filter")
        .long("filter")
        .value_name("TEXT")
        .allow_hyphen_values(true)
        .help("Only the cases whose names contain this");
    command
        .arg(arguments::backend("eval"))
        .args(objects::arguments())
        .arg(filter)
        .arg(path(
            "known",
            "FILE",
            "Failures that are known, with reasons",
        ))
        .arg(flag("json", "Print a JSON object"))
        .arg(
            arguments::file()
                .value_name("DIR")
                .value_hint(ValueHint::DirPath)
                .help("A folder with a manifest.jsonl, or a tree of such folders"),
        )
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, _: &Cancel) -> Result<(), Failure> {
    let how = match Objects::of(matches)? {
        Some(objects) => How::Objects(objects),
        None => How::Here(value::<Backend>(matches, "backend")),
    };
    let known = matches.get_one::<PathBuf>("known");
    let known = Known::read(known.map(PathBuf::as_path), &how)?;
    let mut cases = Case::all(&value::<PathBuf>(matches, "file"))?;
    if let Some(filter) = matches.get_one::<String>("filter") {
        cases.retain(|case| case.path().contains(filter));
    }
    let mut report = Report::default();
    pool::run(cases, how, TIME_LIMIT, |case, verdicts| {
        for verdict in verdicts {
            report.add(case, verdict, &known);
        }
    })?;
    if matches.get_flag("json") {
        output::print(format_args!("{}\n", report.json()))?;
    } else {
        output::print(report.text())?;
    }
    if report.failures.is_empty() {
        Ok(())
    } else {
        Err(Failure::Reported)
    }
}

/// How many cases passed, failed, or could not be tried.
#[derive(Clone, Copy, Default)]
struct Count {
    pass: usize,
    fail: usize,
    unsupported: usize,
}

/// What came out of all cases.
#[derive(Default)]
struct Report {
    counts: BTreeMap<Check, Count>,
    failures: Vec<Line>,
    unsupported: Vec<Line>,
    known: Vec<Line>,
    /// Listed as failing, and passed.
    mended: Vec<Line>,
}

/// One case in one check.
struct Line {
    case: String,
    check: Check,
    why: String,
}

impl Report {
    fn add(&mut self, case: &str, verdict: Verdict, known: &Known) {
        let count = self.counts.entry(verdict.check).or_default();
        let line = |why: &str| Line {
            case: case.to_owned(),
            check: verdict.check,
            why: why.to_owned(),
        };
        let reason = known.reason(verdict.check, case);
        match (&verdict.outcome, reason) {
            (Outcome::Pass, None) => count.pass += 1,
            (Outcome::Pass, Some(reason)) => {
                count.pass += 1;
                self.mended.push(line(reason));
            }
            (Outcome::Fail(_) | Outcome::Unsupported(_), Some(reason)) => {
                count.unsupported += 1;
                self.known.push(line(reason));
            }
            (Outcome::Fail(why), None) => {
                count.fail += 1;
                self.failures.push(line(why));
            }
            (Outcome::Unsupported(why), None) => {
                count.unsupported += 1;
                self.unsupported.push(line(why));
            }
        }
    }

    fn text(&self) -> String {
        let mut text = String::new();
        let sections = [
            ("FAIL", &self.failures),
            ("unsupported", &self.unsupported),
            ("known", &self.known),
            ("listed as failing, but passes", &self.mended),
        ];
        for (title, lines) in sections {
            for line in lines {
                let why = line.why.replace('\n', "\n    ");
                text += &format!("{title}: {} {}: {why}\n", line.check.name(), line.case);
            }
        }
        for check in Check::ALL {
            let count = self.counts.get(check).copied().unwrap_or_default();
            text += &format!(
                "{:<10} {:>5} passed {:>5} failed {:>5} unsupported\n",
                check.name(),
                count.pass,
                count.fail,
                count.unsupported
            );
        }
        let known = self.known.len();
        text + &format!("{known} failures are listed with their reasons\n")
    }

    fn json(&self) -> Json {
        let mut object = serde_json::Map::new();
        for check in Check::ALL {
            let count = self.counts.get(check).copied().unwrap_or_default();
            let numbers =
                json!({"pass": count.pass, "fail": count.fail, "unsupported": count.unsupported});
            object.insert(check.name().to_owned(), numbers);
        }
        let failures = self
            .failures
            .iter()
            .map(|line| json!({"case": line.case, "check": line.check.name(), "why": line.why}));
        object.insert("failures".to_owned(), failures.collect());
        Json::Object(object)
    }
}
