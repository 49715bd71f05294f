//! `jaxide bench`: measures reading, compiling and running a program.

mod profile;
mod roofline;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::builder::{PathBufValueParser, TypedValueParser};
use clap::{Arg, ArgMatches, Command};
use jaxide::io::{Reader, write_file};
use jaxide_core::{Aval, Cancel, DType, Result, Scalar, Tensor, memory};
use serde_json::json;

use super::eval::{archive, arrays};
use crate::arguments::{self, flag, path, threads, value};
use crate::failure::Failure;
use crate::output;
use crate::program::{Backend, Program, milliseconds};
use profile::Profile;

/// What stands on its command line.
pub(super) fn define(command: Command) -> Command {
    let file = PathBufValueParser::new().try_map(|file| {
        if file == Path::new("-") {
            Err("it is read twice, which standard input cannot be")
        } else {
            Ok(file)
        }
    });
    let seconds = Arg::new("seconds")
        .long("seconds")
        .value_name("S")
        .value_parser(arguments::seconds)
        .allow_negative_numbers(true)
        .default_value("1")
        .help("How long runs are measured; three are in any case");
    command
        .after_help("Without --inputs they are random.")
        .arg(arguments::backend("native"))
        .arg(arguments::keep_subnormals())
        .args(arrays())
        .arg(seconds)
        .arg(threads())
        .arg(flag("json", "Print a JSON object"))
        .arg(flag(
            "profile",
            "Tell of each kernel its time, bytes and operations, and what part of the machine's limits they are",
        ))
        .arg(
            path("roofline", "X.svg", "Where the picture of the profile goes")
                .requires("profile"),
        )
        .arg(arguments::file().value_parser(file).help("The program"))
}

/// Runs the command.
pub(super) fn run(matches: &ArgMatches, limit: &Cancel) -> std::result::Result<(), Failure> {
    let file: PathBuf = value(matches, "file");
    let mut backend = arguments::chosen_backend(matches);
    if matches.get_flag("profile") {
        let Backend::Native(how) = &mut backend else {
            return Err(Failure::usage(
                "--profile is of native code, and the interpreter has no kernels",
            ));
        };
        how.profile = true;
    }
    let mut program = Program::read_legal(&file)?;
    let args = match matches.get_one::<PathBuf>("inputs") {
        Some(path) => program.inputs(Some(Reader::open_npz(path)?))?,
        None => random_inputs(&mut program)?,
    };
    let measured = measure(
        &file,
        &program,
        (backend, matches.get_one("threads").copied()),
        &args,
        (value(matches, "seconds"), limit),
    )
    .map_err(|failure| match failure {
        Failure::Error { error, .. } => program.failure(error),
        other => other,
    })?;
    if let Some(path) = matches.get_one::<PathBuf>("output") {
        archive(&measured.results).write_npz(path)?;
    }
    if let (Some(path), Some(profile)) = (matches.get_one::<PathBuf>("roofline"), &measured.profile)
    {
        let picture = roofline::svg(profile, &file.display().to_string());
        write_file(path, picture.as_bytes())?;
    }
    Ok(output::print(measured.report(matches.get_flag("json")))?)
}

/// Times of one program.
struct Measured {
    parse: Duration,
    compile: Duration,
    /// Stages of compiling, none where the interpreter runs.
    stages: Vec<(&'static str, Duration)>,
    first: Duration,
    /// Times of one run each, ascending.
    runs: Vec<Duration>,
    /// How many runs there were: short ones are timed several at once.
    count: usize,
    results: Vec<Tensor>,
    /// What its steps took, if that was asked.
    profile: Option<Profile>,
}

fn measure(
    file: &Path,
    program: &Program,
    (backend, threads): (Backend, Option<usize>),
    args: &[Tensor],
    (time, limit): (Duration, &Cancel),
) -> std::result::Result<Measured, Failure> {
    let start = Instant::now();
    Program::read(file)?;
    let parse = start.elapsed();
    let start = Instant::now();
    let executable = backend.compile(&program.jaxpr, threads)?;
    let compile = start.elapsed();
    let start = Instant::now();
    let results = executable.run(args, limit)?;
    let first = start.elapsed();

    // Runs shorter than the clock can tell apart are timed several at once.
    let start = Instant::now();
    black_box(executable.run(args, limit)?);
    let once = start.elapsed().max(Duration::from_nanos(10));
    let batch = (Duration::from_micros(20).as_nanos() / once.as_nanos()).clamp(1, 1000) as usize;
    if let Some(native) = executable.native() {
        // What was measured before was not warm.
        native.take_profile();
    }
    let end = Instant::now() + time;
    let mut runs = Vec::new();
    while runs.len() < 3 || Instant::now() < end {
        let start = Instant::now();
        for _ in 0..batch {
            black_box(executable.run(args, limit)?);
        }
        runs.push(start.elapsed() / batch as u32);
    }
    let profile = match (executable.native(), backend) {
        (Some(native), Backend::Native(how)) if how.profile => {
            Some(Profile::take(native, runs.len() * batch, threads)?)
        }
        _ => None,
    };
    runs.sort_unstable();
    Ok(Measured {
        parse,
        compile,
        stages: executable.stages(),
        first,
        count: runs.len() * batch,
        runs,
        results,
        profile,
    })
}

impl Measured {
    fn report(&self, as_json: bool) -> String {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let (parse, compile) = (milliseconds(self.parse), milliseconds(self.compile));
        let (min, median) = (micros(self.runs[0]), micros(self.runs[self.runs.len() / 2]));
        let first = micros(self.first);
        if as_json {
            let stages: BTreeMap<_, _> = (self.stages.iter())
                .map(|&(name, time)| (name, milliseconds(time)))
                .collect();
            let mut numbers = json!({
                "parse_ms": parse,
                "compile_ms": compile,
                "stages_ms": stages,
                "first_us": first,
                "min_us": min,
                "median_us": median,
                "runs": self.count,
            });
            if let Some(profile) = &self.profile {
                numbers["profile"] = profile.json();
            }
            return format!("{numbers}\n");
        }
        let table = self.profile.as_ref().map(Profile::table);
        format!(
            "parse   {parse:>12.3} ms\n\
             compile {compile:>12.3} ms\n\
             first   {first:>12.2} us\n\
             min     {min:>12.2} us\n\
             median  {median:>12.2} us of {} runs\n{}",
            self.count,
            table.unwrap_or_default(),
        )
    }
}

/// Random constants and arguments of the types that the program asks for.
fn random_inputs(program: &mut Program) -> Result<Vec<Tensor>> {
    let constants = program.jaxpr.jaxpr.const_avals();
    let mut total = 0usize;
    for aval in constants.iter().chain(&program.jaxpr.in_avals()) {
        total = total.saturating_add(jaxide_core::byte_size(&aval.shape, aval.dtype)?);
    }
    memory::check(total)?;
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut arrays = |avals: Vec<Aval>| -> Result<Vec<Tensor>> {
        avals.iter().map(|aval| random.array(aval)).collect()
    };
    program.jaxpr.consts = arrays(constants)?;
    arrays(program.jaxpr.in_avals())
}

/// A stream of pseudo-random numbers: the SplitMix64 generator of G. Steele et al. (2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// Floats in [-1, 1), small integers, truth values.
    fn array(&mut self, aval: &Aval) -> Result<Tensor> {
        let size = aval.dtype.size();
        let count = jaxide_core::element_count(&aval.shape)?;
        let mut bytes = memory::reserved(jaxide_core::byte_size(&aval.shape, aval.dtype)?)?;
        for _ in 0..count {
            let bits = self.next();
            let unit = (bits >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            if aval.dtype.is_key() {
                bytes.extend(bits.to_le_bytes().iter().cycle().take(size));
                continue;
            }
            let number = match aval.dtype {
                DType::Bool => Scalar::Bool(bits & 1 == 1),
                dtype if dtype.is_integer() => Scalar::Int((bits % 8) as i64),
                dtype if dtype.is_complex() => {
                    Scalar::Complex(unit, (bits % 1000) as f64 / 500.0 - 1.0)
                }
                DType::Float0 => continue,
                _ => Scalar::Float(unit),
            };
            bytes.extend(number.to_bytes(aval.dtype)?);
        }
        Tensor::from_bytes(&aval.shape, aval.dtype, &bytes)
    }
}
