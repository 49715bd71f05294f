//! The table of results: a file of rows, and the page that shows them.

use crate::format::Format;
use crate::functions::{COMPLEX, Function, REAL};
use crate::measure::Measurement;
use std::collections::BTreeMap;
use std::fmt::Write;

/// What a figure is of.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key {
    /// Whether it is a function of complex numbers.
    pub complex: bool,
    /// The format of numbers or of their parts.
    pub format: Format,
    /// The function.
    pub function: String,
    /// What computed it: an instruction set, `eval` or `jax`.
    pub backend: String,
}

/// A figure: the largest error, over how many arguments, and whether these were all there are.
#[derive(Clone, Debug, PartialEq)]
pub struct Figure {
    /// The largest error in units in the last place.
    pub error: f64,
    /// How many arguments there were.
    pub count: u64,
    /// The distance of the bit patterns that were arguments; 1 if they were all, 0 if the arguments were a list.
    pub every: u64,
    /// Where the error was.
    pub at: Vec<f64>,
}

/// All figures.
pub type Results = BTreeMap<Key, Figure>;

/// Whether a figure is from this machine's passes or from JAX.
pub const JAX: &str = "jax";

/// The backends in the order of the columns.
const COLUMNS: [(&str, &str); 5] = [
    ("avx512", "AVX-512"),
    ("avx2", "AVX2"),
    ("portable", "portable"),
    ("eval", "interpreter"),
    (JAX, "JAX"),
];

impl Figure {
    /// The figure of a measurement over every `every`th bit pattern, or over a list.
    pub fn new(found: &Measurement, every: u64) -> Figure {
        Figure {
            error: found.error,
            count: found.count,
            every,
            at: found.at.clone(),
        }
    }
}

/// The file's text, one row a line, with tabs.
pub fn print(results: &Results) -> String {
    let mut text = String::from("kind\tformat\tfunction\tbackend\terror\tcount\tevery\tat\n");
    for (key, figure) in results {
        let kind = if key.complex { "complex" } else { "real" };
        let at: Vec<String> = figure.at.iter().map(|x| format!("{x:e}")).collect();
        let _ = writeln!(
            text,
            "{kind}\t{}\t{}\t{}\t{:.3}\t{}\t{}\t{}",
            key.format.name(),
            key.function,
            key.backend,
            figure.error,
            figure.count,
            figure.every,
            at.join(" ")
        );
    }
    text
}

/// The rows of a file; those that are none are left out.
pub fn parse(text: &str) -> Results {
    let row = |line: &str| {
        let fields: Vec<&str> = line.split('\t').collect();
        let [kind, format, function, backend, error, count, every, at] = fields[..] else {
            return None;
        };
        let key = Key {
            complex: kind == "complex",
            format: Format::ALL.into_iter().find(|f| f.name() == format)?,
            function: function.to_owned(),
            backend: backend.to_owned(),
        };
        let figure = Figure {
            error: error.parse().ok()?,
            count: count.parse().ok()?,
            every: every.parse().ok()?,
            at: at.split(' ').filter_map(|x| x.parse().ok()).collect(),
        };
        Some((key, figure))
    };
    text.lines().filter_map(row).collect()
}

/// The page.
pub fn page(results: &Results) -> String {
    let mut page = String::from(INTRODUCTION);
    for (complex, functions, formats, title) in [
        (false, REAL, &[Format::F32][..], "Single precision"),
        (false, REAL, &[Format::F64][..], "Double precision"),
        (
            false,
            REAL,
            &[Format::F16, Format::Bf16][..],
            "Sixteen bits",
        ),
        (
            true,
            COMPLEX,
            &[Format::F32, Format::F64][..],
            "Complex numbers",
        ),
    ] {
        let _ = write!(page, "\n## {title}\n\n| Function | Type | Wanted |");
        for (_, name) in COLUMNS {
            let _ = write!(page, " {name} |");
        }
        page.push_str(" Arguments | Largest at |\n|---|---|---|---|---|---|---|---|---|---|\n");
        for function in functions {
            for &format in formats {
                row(&mut page, results, complex, function, format);
            }
        }
    }
    page
}

fn row(page: &mut String, results: &Results, complex: bool, function: &Function, format: Format) {
    let figure = |backend: &str| {
        results.get(&Key {
            complex,
            format,
            function: function.name.to_owned(),
            backend: backend.to_owned(),
        })
    };
    let figures = COLUMNS.map(|(backend, _)| figure(backend));
    let Some(native) = figures.iter().flatten().next() else {
        return;
    };
    let dtype = match (complex, format) {
        (false, _) => format.name(),
        (true, Format::F64) => "c128",
        (true, _) => "c64",
    };
    let _ = write!(
        page,
        "| `{}` | {dtype} | {} |",
        function.name,
        wanted(function, format)
    );
    for figure in figures {
        let _ = match figure {
            Some(figure) if figure.every == native.every => {
                write!(page, " {} |", number(figure.error))
            }
            Some(figure) if figure.every > 1 => {
                write!(page, " {} ÷{} |", number(figure.error), figure.every)
            }
            Some(figure) => write!(page, " {} |", number(figure.error)),
            None => write!(page, " – |"),
        };
    }
    let arguments = match native.every {
        0 => format!("{}", native.count),
        1 => "all".to_owned(),
        every => format!("÷{every}"),
    };
    let at: Vec<String> = native.at.iter().map(|x| format!("{x:e}")).collect();
    let _ = writeln!(page, " {arguments} | {} |", at.join(", "));
}

/// The error that is wanted: the narrow formats are rounded twice, which may cost a little.
fn wanted(function: &Function, format: Format) -> f64 {
    match format {
        Format::F16 | Format::Bf16 => function.wanted.min(1.0),
        _ => function.wanted,
    }
}

fn number(error: f64) -> String {
    if error.is_infinite() {
        "∞".to_owned()
    } else if error < 100.0 {
        format!("{error:.2}")
    } else if error < 1e5 {
        format!("{error:.0}")
    } else {
        format!("{error:.0e}")
    }
}

const INTRODUCTION: &str = "\
# Accuracy

The largest errors of the elementwise functions that were found, in units in the last place (ulp) of the exact result: 0.5 is correct
rounding. This page is written by one command from the rows of `crates/jaxide-accuracy/results.tsv`, which another run of it replaces:

```sh
cargo run --release -p jaxide-accuracy -- --every 1 --write docs/accuracy.md
```

`--every 97` is a fast pass over each 97th argument of single precision, `--only exp,log`, `--format f32` and `--backend avx512` choose
some of the rows; `--help` lists the rest.

**What is compared.** Every function runs through the interfaces that users have, `jaxide_cpu::compile` for each instruction set and
`jaxide_core::eval`. The exact results are those of the correctly rounded functions of CORE-MATH. In single precision errors count from its
results in double precision, which are off by 2⁻³⁰ of a unit. In double precision they count from the correctly rounded result, so that 1.00
means a neighbour of it. Of functions that CORE-MATH has not, single precision is compared with formulas of another kind in double precision
(`reference.rs`; their errors are below a thousandth of a unit), and double precision with samples of 50 digits by mpmath
(`samples/`), as are functions of two and three parameters that have no such formula, and complex functions. Infinities, NaN and the
signs of zeros count too: a wrong one is an infinite error.

**Which arguments.** `all` is every one of the 2³² or 2¹⁶; `÷N` every Nth bit pattern, in a cell where that differs from the rest of its row;
a number is the length of a list: a third each spread over all bit patterns, evenly over the usual range, and towards zero. Hard
arguments are always among them: beside powers, roots, poles, overflow and underflow, and those next to multiples of π/2.

**Where results are differences.** Errors count in units of the result, at roots too, with two exceptions. Between the roots of `lgamma` at 1
and 2, and up to 3, they count in units of at least 1/4. At negative numbers `lgamma` and `digamma` are differences by reflection, and
errors count in units of the larger term (at least 1 and π). Complex numbers count in units of the larger part of the result.

**JAX** is 0.12.0.1 on the same machine (`python/jax_results.py`), its jitted functions, over the same lists and each 10090th bit pattern. It takes subnormal numbers for zero: arguments
and results of that kind are left out of its column alone.
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_survive_the_file() {
        let key = Key {
            complex: true,
            format: Format::F32,
            function: "exp".to_owned(),
            backend: "eval".to_owned(),
        };
        let figure = Figure {
            error: 0.75,
            count: 12,
            every: 97,
            at: vec![-1.5, 1e-300],
        };
        let results = Results::from([(key, figure)]);
        assert_eq!(parse(&print(&results)), results);
    }

    /// The page shows what the file has.
    #[test]
    fn the_page_is_current() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/");
        let results = parse(&std::fs::read_to_string(format!("{root}results.tsv")).unwrap());
        let written = std::fs::read_to_string(format!("{root}../../docs/accuracy.md")).unwrap();
        assert!(
            written == page(&results),
            "run: cargo run -p jaxide-accuracy -- --page docs/accuracy.md"
        );
    }
}
