//! How long steps take.

use std::fmt;
use std::time::{Duration, Instant};

/// The times of something that is done many times.
#[derive(Clone, Debug)]
pub struct Stopwatch {
    name: &'static str,
    times: Vec<Duration>,
}

impl Stopwatch {
    /// No times yet.
    #[must_use]
    pub fn new(name: &'static str) -> Self {
        Stopwatch {
            name,
            times: Vec::new(),
        }
    }

    /// Does it once, and notes how long it takes.
    pub fn time<T>(&mut self, once: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = once();
        self.times.push(start.elapsed());
        result
    }
}

/// The least and the median of all times but those of the first tenth, in which functions are compiled.
impl fmt::Display for Stopwatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut warm = self.times[self.times.len() / 10..].to_vec();
        warm.sort_unstable();
        let milliseconds = |time: &Duration| time.as_secs_f64() * 1e3;
        match (warm.first(), warm.get(warm.len() / 2)) {
            (Some(least), Some(median)) => write!(
                f,
                "{} {:.3} ms at least, {:.3} in the median",
                self.name,
                milliseconds(least),
                milliseconds(median)
            ),
            _ => f.write_str("nothing was timed"),
        }
    }
}
