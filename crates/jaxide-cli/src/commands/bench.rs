//! `jaxide bench`: measures reading, compiling and running a program.

use std::hint::black_box;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use jaxide::io::Archive;
use jaxide_core::{Aval, DType, Result, Scalar, Tensor};
use serde_json::json;

use super::eval::archive;
use crate::arguments::value;
use crate::failure::Failure;
use crate::program::{Backend, Program, only_file};

/// Runs the command.
pub(crate) fn run(arguments: &mut lexopt::Parser) -> std::result::Result<(), Failure> {
    use lexopt::prelude::*;
    let mut files: Vec<PathBuf> = Vec::new();
    let (mut inputs, mut output) = (None::<PathBuf>, None::<PathBuf>);
    let (mut backend, mut seconds, mut as_json) = (Backend::Native(None), 1.0f64, false);
    let mut threads = None::<usize>;
    while let Some(argument) = arguments.next()? {
        match argument {
            Long("inputs") => inputs = Some(value(arguments)?),
            Long("output") => output = Some(value(arguments)?),
            Long("backend") => backend = value(arguments)?,
            Long("seconds") => seconds = value(arguments)?,
            Long("threads") => threads = Some(value(arguments)?),
            Long("json") => as_json = true,
            Value(file) => files.push(file.into()),
            other => return Err(other.unexpected().into()),
        }
    }
    let file = only_file(files)?;
    let mut program = Program::read_legal(&file)?;
    let args = match inputs {
        Some(path) => program.inputs(&Archive::read_npz(&path)?)?,
        None => random_inputs(&mut program)?,
    };
    let measured =
        measure(&file, &program, (backend, threads), &args, seconds).map_err(|failure| {
            match failure {
                Failure::Error { error, .. } => program.failure(error),
                other => other,
            }
        })?;
    if let Some(path) = output {
        archive(&measured.results).write_npz(&path)?;
    }
    measured.print(as_json);
    Ok(())
}

/// Times of one program.
struct Measured {
    parse: Duration,
    compile: Duration,
    first: Duration,
    /// Times of one run each, ascending.
    runs: Vec<Duration>,
    /// How many runs there were: short ones are timed several at once.
    count: usize,
    results: Vec<Tensor>,
}

fn measure(
    file: &std::path::Path,
    program: &Program,
    (backend, threads): (Backend, Option<usize>),
    args: &[Tensor],
    seconds: f64,
) -> std::result::Result<Measured, Failure> {
    let start = Instant::now();
    Program::read(file)?;
    let parse = start.elapsed();
    let start = Instant::now();
    let executable = backend.compile(&program.jaxpr, threads)?;
    let compile = start.elapsed();
    let start = Instant::now();
    let results = executable.run(args)?;
    let first = start.elapsed();

    // Runs shorter than the clock can tell apart are timed several at once.
    let start = Instant::now();
    black_box(executable.run(args)?);
    let once = start.elapsed().max(Duration::from_nanos(10));
    let batch = (Duration::from_micros(20).as_nanos() / once.as_nanos()).clamp(1, 1000) as usize;
    let end =
        Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(1));
    let mut runs = Vec::new();
    while runs.len() < 3 || Instant::now() < end {
        let start = Instant::now();
        for _ in 0..batch {
            black_box(executable.run(args)?);
        }
        runs.push(start.elapsed() / batch as u32);
    }
    runs.sort_unstable();
    Ok(Measured {
        parse,
        compile,
        first,
        count: runs.len() * batch,
        runs,
        results,
    })
}

impl Measured {
    fn print(&self, as_json: bool) {
        let micros = |time: Duration| time.as_secs_f64() * 1e6;
        let (parse, compile) = (micros(self.parse) / 1e3, micros(self.compile) / 1e3);
        let (min, median) = (micros(self.runs[0]), micros(self.runs[self.runs.len() / 2]));
        let first = micros(self.first);
        if as_json {
            let numbers = json!({
                "parse_ms": parse,
                "compile_ms": compile,
                "first_us": first,
                "min_us": min,
                "median_us": median,
                "runs": self.count,
            });
            println!("{numbers}");
        } else {
            println!("parse   {parse:>12.3} ms");
            println!("compile {compile:>12.3} ms");
            println!("first   {first:>12.2} us");
            println!("min     {min:>12.2} us");
            println!("median  {median:>12.2} us of {} runs", self.count);
        }
    }
}

/// Random constants and arguments of the types that the program asks for.
fn random_inputs(program: &mut Program) -> Result<Vec<Tensor>> {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut arrays = |avals: Vec<Aval>| -> Result<Vec<Tensor>> {
        avals.iter().map(|aval| random.array(aval)).collect()
    };
    program.jaxpr.consts = arrays(program.jaxpr.jaxpr.const_avals())?;
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
        jaxide_core::check_allocatable(jaxide_core::byte_size(&aval.shape, aval.dtype)?)?;
        let count = jaxide_core::element_count(&aval.shape)?;
        let mut bytes = Vec::with_capacity(count * size);
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
