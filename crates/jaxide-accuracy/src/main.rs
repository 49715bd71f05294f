//! Measures errors: `cargo run --release -p jaxide-accuracy -- --help`.

use jaxide_accuracy::arguments;
use jaxide_accuracy::format::Format;
use jaxide_accuracy::functions::FUNCTIONS;
use jaxide_accuracy::measure::{Arguments, measure};
use jaxide_accuracy::program::Backend;

fn main() {
    let mut every = 1009u64;
    let mut only: Vec<String> = vec![];
    let mut backends: Vec<String> = vec![];
    let mut formats: Vec<String> = vec![];
    let mut samples = 300_000;
    let mut args = std::env::args().skip(1);
    while let Some(a) = args.next() {
        let v = args.next().unwrap();
        let list = || v.split(',').map(String::from).collect::<Vec<_>>();
        match a.as_str() {
            "--every" => every = v.parse().unwrap(),
            "--samples" => samples = v.parse().unwrap(),
            "--only" => only = list(),
            "--backend" => backends = list(),
            "--format" => formats = list(),
            _ => panic!("{a}"),
        }
    }
    for function in FUNCTIONS {
        if !only.is_empty() && !only.iter().any(|n| n == function.name) {
            continue;
        }
        for format in Format::ALL {
            if !formats.is_empty() && !formats.iter().any(|n| n == format.name()) {
                continue;
            }
            let arguments = match format {
                Format::F16 | Format::Bf16 => Arguments::patterns(format, 1),
                Format::F32 => Arguments::patterns(format, every),
                Format::F64 if function.exact_double => Arguments::List(arguments::double(function, samples)),
                Format::F64 => continue,
            };
            for backend in Backend::available() {
                if !backends.is_empty() && !backends.iter().any(|n| n == backend.name()) {
                    continue;
                }
                let m = measure(function, format, backend, &arguments, 2).unwrap();
                println!(
                    "{:12} {:5} {:9} {:9.3} {} at {:e}: {:e} for {:e}   ({})",
                    function.name, format.name(), backend.name(), m.error,
                    if m.error > function.wanted { "***" } else { "   " },
                    m.at.first().copied().unwrap_or(0.0), m.got, m.exact, m.count
                );
            }
        }
    }
}
