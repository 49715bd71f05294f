//! `fuzz/run`: feeds targets, watches them, and shrinks what is found.
#![forbid(unsafe_code)]

mod campaign;
mod shrink;
mod watch;
mod worker;

use std::ffi::OsString;
use std::fmt::Display;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use jaxide_fuzz::{CAMPAIGNS, Campaign, TARGETS, Target, target};

/// What is said of a wrong command line.
type Usage = String;

/// How long, how much and from where.
#[derive(Clone, Debug)]
struct Goal {
    /// The time for all targets together.
    time: Option<Duration>,
    /// The number of cases for each.
    count: Option<u64>,
    /// The first seed.
    seed: u64,
    /// A case that takes longer hangs.
    slow: Duration,
    /// The profile of cargo for tests.
    profile: String,
}

/// Something to feed.
#[derive(Clone, Copy)]
enum Work {
    Target(&'static Target),
    Campaign(&'static Campaign),
}

fn help() -> String {
    let mut text = "\
Feeds targets with mutated texts, archives and command lines, new ones each time.

Usage: fuzz/run all|TARGET... [--minutes N] [--count N] [--seed N] [--slow SECONDS]
       fuzz/run shrink FILE [--slow SECONDS]     makes a finding smaller and keeps it in tests/files/fuzz
       fuzz/run once FILE                        runs a finding again
       fuzz/run dictionary                       prints the words of the language
       fuzz/run coverage TARGET [OPTIONS]        has libFuzzer look for ways through the code
       fuzz/run models                           runs the pools of threads and buffers in every order, under loom
       fuzz/run --profile dev ...                with the code that tests have; without it optimised, and asserting

--minutes N is the time for all of them together (1), --count N the number of cases for each instead, --seed N the first of
their seeds (another one each time), --slow SECONDS what one case may take of
processor time (10), or six times as long altogether.

Exit status: 0 when nothing is found, 1 when something is, with its file; 2 for a wrong command line.

Targets:
"
    .to_owned();
    let targets = TARGETS.iter().map(|target| (target.name, target.about));
    let campaigns = CAMPAIGNS
        .iter()
        .map(|campaign| (campaign.name, campaign.about));
    for (name, about) in targets.chain(campaigns) {
        text.push_str(&format!("  {name:<14} {about}\n"));
    }
    text
}

fn main() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().skip(1).collect();
    match command(words) {
        Ok(code) => code,
        Err(usage) => {
            eprintln!("error: {usage}\n\nTry `fuzz/run --help`.");
            ExitCode::from(2)
        }
    }
}

fn command(words: Vec<OsString>) -> Result<ExitCode, Usage> {
    let first = words.first().and_then(|word| word.to_str());
    if first == Some(worker::COMMAND) {
        return worker::main(&words[1..]).map(|()| ExitCode::SUCCESS);
    }
    let mut goal = Goal {
        time: None,
        count: None,
        seed: new_seed(),
        slow: Duration::from_secs(10),
        profile: "fuzz".to_owned(),
    };
    let mut names = Vec::new();
    let mut parser = lexopt::Parser::from_args(words);
    while let Some(word) = parser.next().map_err(|error| error.to_string())? {
        use lexopt::Arg::{Long, Short, Value};
        match word {
            Long("minutes") => goal.time = Some(duration(value::<f64>(&mut parser)? * 60.0)?),
            Long("count") => goal.count = Some(value(&mut parser)?),
            Long("seed") => goal.seed = value(&mut parser)?,
            Long("slow") => goal.slow = duration(value(&mut parser)?)?,
            Long("profile") => goal.profile = value(&mut parser)?,
            Long("help") | Short('h') => {
                print!("{}", help());
                return Ok(ExitCode::SUCCESS);
            }
            Value(name) => names.push(name),
            other @ (Long(_) | Short(_)) => return Err(other.unexpected().to_string()),
        }
    }
    let [name, rest @ ..] = &names[..] else {
        return Err("a TARGET is missing".to_owned());
    };
    let file = || match rest {
        [file] => Ok(PathBuf::from(file)),
        _ => Err("one FILE is expected".to_owned()),
    };
    match name.to_str() {
        Some("shrink") => shrink::main(&file()?, goal.slow),
        Some("once") => worker::once(&file()?).map(|()| ExitCode::SUCCESS),
        Some("dictionary") => {
            print!(
                "{}",
                jaxide_testing::corpus::Corpus::of_repository().dictionary()
            );
            Ok(ExitCode::SUCCESS)
        }
        _ => fuzz(&works(&names)?, &goal),
    }
}

/// Feeds all of them, one after another. Whether nothing is found.
fn fuzz(works: &[Work], goal: &Goal) -> Result<ExitCode, Usage> {
    for work in works {
        if let Work::Campaign(campaign) = work {
            campaign::build(campaign, &goal.profile)?;
        }
    }
    let time = match (goal.time, goal.count) {
        (None, Some(_)) => None,
        (time, _) => Some(time.unwrap_or(Duration::from_secs(60)) / works.len() as u32),
    };
    let mut findings = 0;
    for work in works {
        findings += match work {
            Work::Target(target) => watch::fuzz(target, goal, time)?,
            Work::Campaign(campaign) => campaign::run(campaign, goal, time)?,
        };
    }
    if findings == 0 {
        println!("nothing found from seed {}", goal.seed);
        Ok(ExitCode::SUCCESS)
    } else {
        println!("{findings} found from seed {}", goal.seed);
        Ok(ExitCode::FAILURE)
    }
}

/// What is meant by names.
fn works(names: &[OsString]) -> Result<Vec<Work>, Usage> {
    let mut works = Vec::new();
    for name in names {
        let name = name.to_string_lossy();
        if name == "all" {
            works.extend(TARGETS.iter().map(Work::Target));
            works.extend(CAMPAIGNS.iter().map(Work::Campaign));
        } else if let Some(target) = target(&name) {
            works.push(Work::Target(target));
        } else if let Some(campaign) = CAMPAIGNS.iter().find(|campaign| campaign.name == name) {
            works.push(Work::Campaign(campaign));
        } else {
            return Err(format!("there is no target `{name}`"));
        }
    }
    Ok(works)
}

fn value<T: FromStr<Err: Display>>(parser: &mut lexopt::Parser) -> Result<T, Usage> {
    let text = parser.value().map_err(|error| error.to_string())?;
    let text = text.to_string_lossy();
    text.parse().map_err(|error| format!("`{text}`: {error}"))
}

fn duration(seconds: f64) -> Result<Duration, Usage> {
    Duration::try_from_secs_f64(seconds).map_err(|error| format!("`{seconds}` seconds: {error}"))
}

/// Another number each time.
fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    let nanos = now.map_or(0, |now| now.as_nanos() as u64);
    jaxide_testing::Random(nanos ^ u64::from(std::process::id()) << 40).next() % 1_000_000_000
}
