//! Schedules: numbers that depend on the count of steps.

use std::f64::consts::PI;
use std::fmt;
use std::sync::Arc;

use jaxide::{Array, numpy};

/// A number that may depend on the count of steps: a learning rate, a weight decay.
#[derive(Clone)]
pub enum Rate {
    /// The same for all steps.
    Constant(f64),
    /// A function of the count of steps before.
    Schedule(Arc<dyn Fn(&Array) -> Array + Send + Sync>),
}

impl Rate {
    /// A function of the count of steps.
    pub fn schedule(f: impl Fn(&Array) -> Array + Send + Sync + 'static) -> Self {
        Rate::Schedule(Arc::new(f))
    }

    /// The value after so many steps.
    pub fn at(&self, count: impl Into<Array>) -> Array {
        match self {
            Rate::Constant(value) => Array::from(*value),
            Rate::Schedule(f) => f(&count.into()),
        }
    }
}

impl From<f64> for Rate {
    fn from(value: f64) -> Self {
        Rate::Constant(value)
    }
}

impl fmt::Debug for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Rate::Constant(value) => write!(f, "{value}"),
            Rate::Schedule(_) => f.write_str("Schedule"),
        }
    }
}

/// The same for all steps.
pub fn constant(value: f64) -> Rate {
    Rate::Constant(value)
}

/// From `init` to `end` in `steps` steps, along a power of the part that remains.
///
/// ```
/// use jaxide_nnx::optim::schedules;
/// assert_eq!(schedules::polynomial(1.0, 0.0, 2.0, 2).at(1).item::<f32>(), 0.25);
/// ```
pub fn polynomial(init: f64, end: f64, power: f64, steps: u32) -> Rate {
    if steps == 0 {
        return Rate::Constant(init);
    }
    Rate::schedule(move |count| {
        let count = numpy::clip(count, 0, steps as i64);
        let left = 1.0 - count / f64::from(steps);
        (init - end) * numpy::power(&left, power) + end
    })
}

/// From `init` to `end` in `steps` equal steps.
pub fn linear(init: f64, end: f64, steps: u32) -> Rate {
    polynomial(init, end, 1.0, steps)
}

/// From `init` to `alpha * init` in `steps` steps, along half a wave, to a power.
pub fn cosine_decay(init: f64, steps: u32, alpha: f64, exponent: f64) -> Rate {
    Rate::schedule(move |count| {
        let count = numpy::minimum(count, steps as i64);
        let cosine = 0.5 * (1.0 + numpy::cos(&(PI * count / f64::from(steps))));
        let cosine: Array = if exponent == 1.0 {
            cosine
        } else {
            numpy::power(&cosine, exponent)
        };
        init * ((1.0 - alpha) * cosine + alpha)
    })
}

/// `init` times a power of `rate`, whose exponent grows by one in `steps` steps, at once if `staircase`.
pub fn exponential_decay(init: f64, steps: u32, rate: f64, staircase: bool) -> Rate {
    Rate::schedule(move |count| {
        let turns = count / f64::from(steps);
        let turns: Array = if staircase {
            numpy::floor(&turns)
        } else {
            turns
        };
        let value = init * numpy::power(rate, &turns);
        numpy::where_(numpy::less_equal(count, 0), init, value)
    })
}

/// `init` times the factor of each boundary that is reached.
pub fn piecewise_constant(init: f64, boundaries_and_scales: &[(u32, f64)]) -> Rate {
    let boundaries = boundaries_and_scales.to_vec();
    Rate::schedule(move |count| {
        boundaries
            .iter()
            .fold(Array::from(init), |value, &(boundary, scale)| {
                numpy::where_(numpy::less(count, boundary as i64), &value, &value * scale)
            })
    })
}

/// One schedule after the other; each counts from its boundary.
pub fn join(schedules: impl IntoIterator<Item = Rate>, boundaries: &[u32]) -> Rate {
    let (schedules, boundaries): (Vec<Rate>, Vec<u32>) =
        (schedules.into_iter().collect(), boundaries.to_vec());
    Rate::schedule(move |count| {
        let mut value = schedules
            .first()
            .map_or_else(|| Array::from(0.0), |first| first.at(count));
        for (schedule, &boundary) in schedules.iter().skip(1).zip(&boundaries) {
            let later = schedule.at(count - boundary as i64);
            value = numpy::where_(numpy::less(count, boundary as i64), value, later);
        }
        value
    })
}

/// From `init` to `peak` in `warmup` steps, and then along half a wave to `end`, which is reached after `steps` steps in all.
pub fn warmup_cosine_decay(init: f64, peak: f64, warmup: u32, steps: u32, end: f64) -> Rate {
    let alpha = if peak == 0.0 { 0.0 } else { end / peak };
    let falls = cosine_decay(peak, steps.saturating_sub(warmup), alpha, 1.0);
    join([linear(init, peak, warmup), falls], &[warmup])
}

/// Between points, straight lines, or half waves if `cosine`; each value is the one before times a factor.
pub fn piecewise_interpolate(
    init: f64,
    boundaries_and_scales: &[(u32, f64)],
    cosine: bool,
) -> Rate {
    let boundaries = boundaries_and_scales.to_vec();
    Rate::schedule(move |count| {
        let (mut start, mut from) = (0, init);
        let mut pieces = Vec::new();
        for &(end, scale) in &boundaries {
            let to = from * scale;
            let part = (count - start as i64) / f64::from(end - start);
            let value: Array = if cosine {
                to + (from - to) / 2.0 * (numpy::cos(&(PI * part)) + 1.0)
            } else {
                from + (to - from) * part
            };
            pieces.push((end, value));
            (start, from) = (end, to);
        }
        pieces
            .into_iter()
            .rev()
            .fold(Array::from(from), |later, (end, value)| {
                numpy::where_(numpy::less(count, end as i64), value, later)
            })
    })
}

/// Up to `peak` in three tenths of the steps, and down again along straight lines.
pub fn linear_onecycle(steps: u32, peak: f64) -> Rate {
    let at = |part: f64| (part * f64::from(steps)) as u32;
    piecewise_interpolate(
        peak / 25.0,
        &[(at(0.3), 25.0), (at(0.85), 1.0 / 25.0), (steps, 1e-4)],
        false,
    )
}

/// Up to `peak` in three tenths of the steps, and down again along half waves.
pub fn cosine_onecycle(steps: u32, peak: f64) -> Rate {
    let rise = (0.3 * f64::from(steps)) as u32;
    piecewise_interpolate(
        peak / 25.0,
        &[(rise, 25.0), (steps, 1.0 / (25.0 * 1e4))],
        true,
    )
}
