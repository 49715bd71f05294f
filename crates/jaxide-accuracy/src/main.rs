//! Measures errors: `cargo run --release -p jaxide-accuracy -- --help`.
#![forbid(unsafe_code)]

use jaxide_accuracy::arguments::arguments;
use jaxide_accuracy::format::Format;
use jaxide_accuracy::functions::{COMPLEX, Function, REAL};
use jaxide_accuracy::measure::{
    Arguments, Measurement, bytes, errors, interleave, measure, measure_samples, numbers,
    sample_arguments, sample_errors,
};
use jaxide_accuracy::program::Backend;
use jaxide_accuracy::results::{self, Figure, JAX, Key, Results};
use lexopt::prelude::*;
use std::error::Error;
use std::path::{Path, PathBuf};

const HELP: &str = "\
Measures the largest errors of elementwise functions.

  --every N         each Nth bit pattern of single precision (1009; 1 is all)
  --count N         length of lists: double precision, and functions of two arguments (300000)
  --only A,B        these functions
  --format A,B      these of f16, bf16, f32, f64; complex numbers go with their parts' format
  --backend A,B     these of avx512, avx2, portable, eval
  --threads N       threads (all)
  --write PAGE      keep the rows, and write the page
  --page PAGE       write the page from the rows that are there
  --export DIR      write arguments for JAX
  --import DIR      measure JAX's results for them";

struct Options {
    every: u64,
    count: u64,
    only: Vec<String>,
    formats: Vec<String>,
    backends: Vec<String>,
    threads: usize,
    write: Option<PathBuf>,
    page: Option<PathBuf>,
    export: Option<PathBuf>,
    import: Option<PathBuf>,
}

fn options() -> Result<Option<Options>, Box<dyn Error>> {
    let mut options = Options {
        every: 1009,
        count: 300_000,
        only: vec![],
        formats: vec![],
        backends: vec![],
        threads: std::thread::available_parallelism()?.get(),
        write: None,
        page: None,
        export: None,
        import: None,
    };
    let list = |value: String| value.split(',').map(str::to_owned).collect();
    let mut parser = lexopt::Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Long("every") => options.every = parser.value()?.parse::<u64>()?.max(1),
            Long("count") => options.count = parser.value()?.parse()?,
            Long("only") => options.only = list(parser.value()?.string()?),
            Long("format") => options.formats = list(parser.value()?.string()?),
            Long("backend") => options.backends = list(parser.value()?.string()?),
            Long("threads") => options.threads = parser.value()?.parse::<usize>()?.max(1),
            Long("write") => options.write = Some(parser.value()?.into()),
            Long("page") => options.page = Some(parser.value()?.into()),
            Long("export") => options.export = Some(parser.value()?.into()),
            Long("import") => options.import = Some(parser.value()?.into()),
            Long("help") => return Ok(None),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(Some(options))
}

fn chosen(list: &[String], name: &str) -> bool {
    list.is_empty() || list.iter().any(|item| item == name)
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(options) = options()? else {
        println!("{HELP}");
        return Ok(());
    };
    let rows = Path::new(env!("CARGO_MANIFEST_DIR")).join("results.tsv");
    let mut kept = match std::fs::read_to_string(&rows) {
        Ok(text) => results::parse(&text),
        Err(_) => Results::new(),
    };
    if let Some(page) = &options.page {
        std::fs::write(page, results::page(&kept))?;
        return Ok(());
    }
    for (complex, functions) in [(false, REAL), (true, COMPLEX)] {
        for function in functions.iter().filter(|f| chosen(&options.only, f.name)) {
            for format in Format::ALL
                .into_iter()
                .filter(|f| chosen(&options.formats, f.name()))
            {
                if complex && format.size() < 4 {
                    continue;
                }
                let found = if let Some(folder) = &options.export {
                    export(folder, &options, function, format, complex)?;
                    continue;
                } else if let Some(folder) = &options.import {
                    import(folder, &options, function, format, complex)?
                } else {
                    here(&options, function, format, complex)?
                };
                for (backend, found, every) in found {
                    println!(
                        "{}{:28} {:5} {:9} {:9.3} {} ÷{every} {} at {:?}: {:?} for {:?}",
                        if complex { "complex " } else { "" },
                        function.name,
                        format.name(),
                        backend,
                        found.error,
                        if found.error > function.wanted {
                            "***"
                        } else {
                            "   "
                        },
                        found.count,
                        found.at,
                        found.got,
                        found.exact,
                    );
                    let key = Key {
                        complex,
                        format,
                        function: function.name.to_owned(),
                        backend: backend.to_owned(),
                    };
                    kept.insert(key, Figure::new(&found, every));
                }
                // What is measured is not lost when a long run ends early.
                if let Some(page) = &options.write {
                    let text = results::print(&kept);
                    std::fs::write(&rows, &text)?;
                    // From what is kept, where errors are rounded.
                    std::fs::write(page, results::page(&results::parse(&text)))?;
                }
            }
        }
    }
    Ok(())
}

type Found = Vec<(&'static str, Measurement, u64)>;

/// The stride of the bit patterns among arguments, 0 if there are lists only.
fn stride(lists: &[Arguments]) -> u64 {
    lists
        .iter()
        .find_map(|list| match list {
            Arguments::Patterns { every, .. } => Some(*every),
            Arguments::Lists(_) => None,
        })
        .unwrap_or(0)
}

/// The lists that a function is measured for besides its samples; none where no exact values are known.
fn lists(options: &Options, function: &Function, format: Format, complex: bool) -> Vec<Arguments> {
    let probe = vec![0.0; function.arity];
    let known = function.exact.value(&probe).is_some();
    if complex || !known || (format == Format::F64 && !function.exact.is_double()) {
        return vec![];
    }
    arguments(function, format, options.every, options.count)
}

fn here(
    options: &Options,
    function: &Function,
    format: Format,
    complex: bool,
) -> Result<Found, Box<dyn Error>> {
    let lists = lists(options, function, format, complex);
    let mut found = Found::new();
    for backend in Backend::available() {
        if !chosen(&options.backends, backend.name()) {
            continue;
        }
        let mut total = Measurement::default();
        for list in &lists {
            total = total.merge(measure(function, format, backend, list, options.threads)?);
        }
        if format.size() >= 4
            && let Some(samples) = measure_samples(function, format, complex, backend)?
        {
            total = total.merge(samples);
        }
        if total.count > 0 {
            found.push((backend.name(), total, stride(&lists)));
        }
    }
    Ok(found)
}

/// The file of a list of arguments or results for JAX.
fn path(
    folder: &Path,
    function: &Function,
    format: Format,
    complex: bool,
    part: usize,
    end: &str,
) -> PathBuf {
    let kind = if complex { "complex" } else { "real" };
    folder.join(format!(
        "{kind}.{}.{}.{part}.{end}",
        format.name(),
        function.name
    ))
}

/// The lists for JAX: those of measuring, and the samples last.
fn all_lists(
    options: &Options,
    function: &Function,
    format: Format,
    complex: bool,
) -> (Vec<Vec<Vec<u64>>>, bool) {
    let mut all: Vec<Vec<Vec<u64>>> = lists(options, function, format, complex)
        .iter()
        .map(|list| list.get(0..list.count()))
        .collect();
    let samples = (format.size() >= 4)
        .then(|| sample_arguments(function, format, complex))
        .flatten();
    let sampled = samples.is_some();
    all.extend(samples);
    (all, sampled)
}

fn export(
    folder: &Path,
    options: &Options,
    function: &Function,
    format: Format,
    complex: bool,
) -> std::io::Result<()> {
    std::fs::create_dir_all(folder)?;
    let (all, _) = all_lists(options, function, format, complex);
    for (part, columns) in all.iter().enumerate() {
        let columns: Vec<Vec<u64>> = if complex {
            columns.chunks(2).map(interleave).collect()
        } else {
            columns.clone()
        };
        let content: Vec<u8> = columns
            .iter()
            .flat_map(|list| bytes(format, list))
            .collect();
        std::fs::write(path(folder, function, format, complex, part, "in"), content)?;
    }
    Ok(())
}

fn import(
    folder: &Path,
    options: &Options,
    function: &Function,
    format: Format,
    complex: bool,
) -> std::io::Result<Found> {
    let (all, sampled) = all_lists(options, function, format, complex);
    let subnormal = |x: &[f64], exact: f64| {
        format.is_subnormal(exact) || x.iter().any(|&x| format.is_subnormal(x))
    };
    let mut total = Measurement::default();
    for (part, columns) in all.iter().enumerate() {
        let file = path(folder, function, format, complex, part, "out");
        // JAX has not every function of every type.
        let Ok(content) = std::fs::read(file) else {
            return Ok(vec![]);
        };
        let got = numbers(format, &content);
        let found = if sampled && part + 1 == all.len() {
            sample_errors(function, format, complex, &got, subnormal)
        } else {
            errors(function, format, columns, &got, subnormal)
        };
        total = total.merge(found);
    }
    let every = stride(&lists(options, function, format, complex));
    Ok(if total.count > 0 {
        vec![(JAX, total, every)]
    } else {
        vec![]
    })
}
