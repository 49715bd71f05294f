//! The largest error of a function over many arguments.

use crate::format::Format;
use crate::functions::Function;
use crate::program::{Backend, Program};
use jaxide_core::Error;
use std::ops::Range;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Elements that a program computes at once.
const BLOCK: usize = 1 << 14;

/// What was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurement {
    /// How many arguments there were.
    pub count: u64,
    /// The largest error in units in the last place.
    pub error: f64,
    /// The arguments where it was.
    pub at: Vec<f64>,
    /// The result there.
    pub got: f64,
    /// What it should have been.
    pub exact: f64,
}

impl Measurement {
    /// Nothing yet.
    pub fn empty() -> Measurement {
        Measurement {
            count: 0,
            error: 0.0,
            at: Vec::new(),
            got: 0.0,
            exact: 0.0,
        }
    }

    /// Takes another result in.
    pub fn take(&mut self, error: f64, at: impl FnOnce() -> Vec<f64>, got: f64, exact: f64) {
        self.count += 1;
        if error > self.error || error.is_nan() {
            (self.error, self.at, self.got, self.exact) = (error, at(), got, exact);
        }
    }

    /// The larger of two errors, of all arguments together.
    pub fn merge(self, other: Measurement) -> Measurement {
        let count = self.count + other.count;
        let larger = if other.error > self.error { other } else { self };
        Measurement { count, ..larger }
    }
}

/// Arguments in an order, by their number.
pub enum Arguments {
    /// Every so manieth bit pattern of a format.
    Patterns {
        /// The distance of one from the next.
        every: u64,
        /// How many patterns there are.
        of: u64,
    },
    /// These.
    List(Vec<u64>),
}

impl Arguments {
    /// Every `every`th of all bit patterns; of 64 bits there are too many.
    pub fn patterns(format: Format, every: u64) -> Arguments {
        Arguments::Patterns {
            every,
            of: 1 << (8 * format.size().min(4)),
        }
    }

    /// How many there are.
    pub fn count(&self) -> u64 {
        match self {
            Arguments::Patterns { every, of } => of.div_ceil(*every),
            Arguments::List(list) => list.len() as u64,
        }
    }

    /// Those with these numbers.
    pub fn get(&self, range: Range<u64>) -> Vec<u64> {
        match self {
            Arguments::Patterns { every, .. } => range.map(|k| k * every).collect(),
            Arguments::List(list) => list[range.start as usize..range.end as usize].to_vec(),
        }
    }
}

/// Numbers of a format as the bytes of an array.
pub fn bytes(format: Format, bits: &[u64]) -> Vec<u8> {
    match format.size() {
        2 => bits.iter().flat_map(|&b| (b as u16).to_le_bytes()).collect(),
        4 => bits.iter().flat_map(|&b| (b as u32).to_le_bytes()).collect(),
        _ => bits.iter().flat_map(|&b| b.to_le_bytes()).collect(),
    }
}

/// The bits of the numbers of an array.
pub fn numbers(format: Format, bytes: &[u8]) -> Vec<u64> {
    bytes
        .chunks_exact(format.size())
        .map(|chunk| {
            let mut wide = [0; 8];
            wide[..chunk.len()].copy_from_slice(chunk);
            u64::from_le_bytes(wide)
        })
        .collect()
}

/// The errors of results `got` of arguments `x`, given as bits.
pub fn errors(function: &Function, format: Format, x: &[u64], got: &[u64]) -> Measurement {
    let mut found = Measurement::empty();
    // What is correctly rounded is off by at most half a unit.
    let mut rounded = 0;
    for (&x, &got) in x.iter().zip(got) {
        if let (Format::F32, Some(single)) = (format, function.single) {
            let want = single(f32::from_bits(x as u32));
            if u64::from(want.to_bits()) == got {
                rounded += 1;
                continue;
            }
        }
        let x = format.decode(x);
        let exact = (function.exact)(x);
        let error = format.error(got, exact, 0.0, (function.terms)(x));
        found.take(error, || vec![x], format.decode(got), exact);
    }
    if rounded > 0 && found.error < 0.5 {
        found.error = 0.5;
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
    let program = Program::new(function.text, 1, format.dtype(), BLOCK, backend)?;
    let next = AtomicU64::new(0);
    let total = Mutex::new(Ok(Measurement::empty()));
    let work = || -> Result<Measurement, Error> {
        let mut found = Measurement::empty();
        loop {
            let start = next.fetch_add(BLOCK as u64, Ordering::Relaxed);
            if start >= arguments.count() {
                return Ok(found);
            }
            let end = arguments.count().min(start + BLOCK as u64);
            let x = arguments.get(start..end);
            let mut padded = bytes(format, &x);
            padded.resize(BLOCK * format.size(), 0);
            let got = numbers(format, &program.run(&[padded])?);
            found = found.merge(errors(function, format, &x, &got));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let found = work();
                let mut total = total.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
                *total = match (std::mem::replace(&mut *total, Ok(Measurement::empty())), found) {
                    (Ok(a), Ok(b)) => Ok(a.merge(b)),
                    (Err(error), _) | (_, Err(error)) => Err(error),
                };
            });
        }
    });
    total.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner())
}
