//! The largest error of a function over many arguments.

use crate::format::Format;
use crate::functions::Function;
use crate::program::{Backend, Program};
use jaxide_core::{DType, Error};
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Elements that a program computes at once.
const BLOCK: usize = 1 << 14;

/// What was found.
#[derive(Clone, Debug, PartialEq, Default)]
pub struct Measurement {
    /// How many arguments there were.
    pub count: u64,
    /// The largest error in units in the last place.
    pub error: f64,
    /// The arguments where it was.
    pub at: Vec<f64>,
    /// The result there; of a complex function the parts.
    pub got: Vec<f64>,
    /// What it should have been.
    pub exact: Vec<f64>,
}

impl Measurement {
    /// Takes another result in, whose place is only asked for if its error is the largest.
    fn take(&mut self, error: f64, place: impl FnOnce() -> [Vec<f64>; 3]) {
        self.count += 1;
        if error > self.error {
            self.error = error;
            [self.at, self.got, self.exact] = place();
        }
    }

    /// The larger of two errors, of all arguments together.
    pub fn merge(self, other: Measurement) -> Measurement {
        let count = self.count + other.count;
        let larger = if other.error > self.error {
            other
        } else {
            self
        };
        Measurement { count, ..larger }
    }
}

/// Lists of arguments, as bits.
pub enum Arguments {
    /// Each `every`th bit pattern of the first `of`.
    Patterns {
        /// The distance of one from the next.
        every: u64,
        /// How many patterns there are.
        of: u64,
    },
    /// For each argument as many numbers.
    Lists(Vec<Vec<u64>>),
}

impl Arguments {
    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Arguments::Patterns { every, of } => of.div_ceil(*every),
            Arguments::Lists(lists) => lists.first().map_or(0, |list| list.len() as u64),
        }
    }

    /// Those with these numbers, in order, for each argument.
    pub fn get(&self, range: Range<u64>) -> Vec<Vec<u64>> {
        match self {
            Arguments::Patterns { every, .. } => vec![range.map(|k| k * every).collect()],
            Arguments::Lists(lists) => lists
                .iter()
                .map(|list| list[range.start as usize..range.end as usize].to_vec())
                .collect(),
        }
    }
}

/// Numbers of a format as the bytes of an array.
pub fn bytes(format: Format, bits: &[u64]) -> Vec<u8> {
    match format.size() {
        2 => bits
            .iter()
            .flat_map(|&b| (b as u16).to_le_bytes())
            .collect(),
        4 => bits
            .iter()
            .flat_map(|&b| (b as u32).to_le_bytes())
            .collect(),
        _ => bits.iter().flat_map(|&b| b.to_le_bytes()).collect(),
    }
}

/// The bits of the numbers of an array.
pub fn numbers(format: Format, bytes: &[u8]) -> Vec<u64> {
    let wide = |chunk: &[u8]| {
        let mut wide = [0; 8];
        wide[..chunk.len()].copy_from_slice(chunk);
        u64::from_le_bytes(wide)
    };
    bytes.chunks_exact(format.size()).map(wide).collect()
}

/// The errors of results `got` for arguments given as bits. What `skip` is true of does not count: it sees arguments and the exact value.
pub fn errors(
    function: &Function,
    format: Format,
    arguments: &[Vec<u64>],
    got: &[u64],
    skip: impl Fn(&[f64], f64) -> bool,
) -> Measurement {
    let mut found = Measurement::default();
    // What is correctly rounded is off by at most half a unit.
    let mut rounded = 0;
    for (k, &got) in got.iter().enumerate() {
        let bits: [u64; 3] = std::array::from_fn(|a| arguments.get(a).map_or(0, |list| list[k]));
        if format == Format::F32 && function.exact.single(&bits) == Some(got) {
            rounded += 1;
            continue;
        }
        let x = bits.map(|bits| format.decode(bits));
        let x = &x[..function.arity];
        let Some(exact) = function.exact.value(x) else {
            continue;
        };
        if !skip(x, exact) {
            let error = format.error(got, exact, 0.0, (function.terms)(x));
            found.take(error, || {
                [x.to_vec(), vec![format.decode(got)], vec![exact]]
            });
        }
    }
    if rounded > 0 {
        found.error = found.error.max(0.5);
    }
    found.count += rounded;
    found
}

/// The largest error over these arguments, on as many threads.
///
/// # Errors
/// When there is no such program.
pub fn measure(
    function: &Function,
    format: Format,
    backend: Backend,
    arguments: &Arguments,
    threads: usize,
) -> Result<Measurement, Error> {
    let block = BLOCK.min(arguments.count().max(1) as usize);
    let program = Program::new(
        function.text,
        function.arity,
        format.dtype(),
        block,
        backend,
    )?;
    let next = AtomicU64::new(0);
    let total = Mutex::new(Ok(Measurement::default()));
    let work = || -> Result<Measurement, Error> {
        let mut found = Measurement::default();
        loop {
            let start = next.fetch_add(block as u64, Ordering::Relaxed);
            if start >= arguments.count() {
                return Ok(found);
            }
            let end = arguments.count().min(start + block as u64);
            let x = arguments.get(start..end);
            let padded = |list: &Vec<u64>| {
                let mut bytes = bytes(format, list);
                bytes.resize(block * format.size(), 0);
                bytes
            };
            let operands: Vec<Vec<u8>> = x.iter().map(padded).collect();
            let mut got = numbers(format, &program.run(&operands)?);
            got.truncate(x[0].len());
            found = found.merge(errors(function, format, &x, &got, |_, _| false));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let found = work();
                let mut total = total
                    .lock()
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
                let before = std::mem::replace(&mut *total, Ok(Measurement::default()));
                *total = match (before, found) {
                    (Ok(a), Ok(b)) => Ok(a.merge(b)),
                    (Err(error), _) | (_, Err(error)) => Err(error),
                };
            });
        }
    });
    total
        .into_inner()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

/// The arguments of the samples of a function, as bits of a format: a list for each argument, or for each part of one.
pub fn sample_arguments(
    function: &Function,
    format: Format,
    complex: bool,
) -> Option<Vec<Vec<u64>>> {
    let samples = crate::samples::samples(&file(function, complex), columns(function, complex))?;
    let encode = |list: &Vec<f64>| list.iter().map(|&x| format.encode(x)).collect();
    Some(samples.arguments.iter().map(encode).collect())
}

fn file(function: &Function, complex: bool) -> String {
    format!("{}{}", if complex { "complex_" } else { "" }, function.name)
}

fn columns(function: &Function, complex: bool) -> usize {
    if complex {
        2 * function.arity
    } else {
        function.arity
    }
}

/// The errors of results `got` for the samples of a function, as bits: of a complex one the parts of each after each other.
///
/// Values beyond the range of the format do not count.
pub fn sample_errors(
    function: &Function,
    format: Format,
    complex: bool,
    got: &[u64],
    skip: impl Fn(&[f64], f64) -> bool,
) -> Measurement {
    let columns = columns(function, complex);
    let mut found = Measurement::default();
    let Some(samples) = crate::samples::samples(&file(function, complex), columns) else {
        return found;
    };
    let finite = |x: f64| format.decode(format.encode(x)).is_finite();
    for (k, &(value, rest)) in samples.values.iter().enumerate() {
        let x: Vec<f64> = samples.arguments.iter().map(|list| list[k]).collect();
        let size = if complex {
            value.abs().max(rest.abs())
        } else {
            value
        };
        if !finite(size) || skip(&x, size) {
            continue;
        }
        if complex {
            let got = [got[2 * k], got[2 * k + 1]];
            let part = |part: usize, exact: f64| {
                // The sign of a zero part is no matter of accuracy.
                let bits = if format.decode(got[part]) == 0.0 {
                    format.encode(0f64.copysign(exact))
                } else {
                    got[part]
                };
                format.error(bits, exact, 0.0, size)
            };
            let error = part(0, value).max(part(1, rest));
            let place = || {
                [
                    x.clone(),
                    got.map(|bits| format.decode(bits)).to_vec(),
                    vec![value, rest],
                ]
            };
            found.take(error, place);
        } else {
            let error = format.error(got[k], value, rest, (function.terms)(&x));
            found.take(error, || {
                [x.clone(), vec![format.decode(got[k])], vec![value]]
            });
        }
    }
    found
}

/// As [`measure`], over the samples of the function; `None` where it has none.
///
/// # Errors
/// When there is no such program.
pub fn measure_samples(
    function: &Function,
    format: Format,
    complex: bool,
    backend: Backend,
) -> Result<Option<Measurement>, Error> {
    let Some(lists) = sample_arguments(function, format, complex) else {
        return Ok(None);
    };
    let length = lists[0].len();
    let dtype = match (complex, format) {
        (false, _) => format.dtype(),
        (true, Format::F64) => DType::C128,
        (true, _) => DType::C64,
    };
    let program = Program::new(function.text, function.arity, dtype, length, backend)?;
    let operands: Vec<Vec<u8>> = if complex {
        lists
            .chunks(2)
            .map(|parts| bytes(format, &interleave(parts)))
            .collect()
    } else {
        lists.iter().map(|list| bytes(format, list)).collect()
    };
    let got = numbers(format, &program.run(&operands)?);
    Ok(Some(sample_errors(
        function,
        format,
        complex,
        &got,
        |_, _| false,
    )))
}

/// Real and imaginary parts, each pair after the other.
pub fn interleave(parts: &[Vec<u64>]) -> Vec<u64> {
    parts[0]
        .iter()
        .zip(&parts[1])
        .flat_map(|(&re, &im)| [re, im])
        .collect()
}
