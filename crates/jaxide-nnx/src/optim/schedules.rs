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
    /// An array that may change from step to step: a part of a state.
    Value(Array),
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
            Rate::Value(value) => value.clone(),
        }
    }

    /// The same, begun after so many steps: until then it is what it is at first.
    ///
    /// ```
    /// use jaxide_nnx::optim::schedules;
    /// let later = schedules::linear(1.0, 0.0, 2).transition_begin(3);
    /// assert_eq!([0, 3, 4].map(|count| later.at(count).item::<f32>()), [1.0, 1.0, 0.5]);
    /// ```
    #[must_use]
    pub fn transition_begin(self, steps: u32) -> Self {
        Rate::schedule(move |count| self.at(numpy::maximum(count - i64::from(steps), 0)))
    }
}

impl From<Array> for Rate {
    fn from(value: Array) -> Self {
        Rate::Value(value)
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
            Rate::Value(value) => fmt::Debug::fmt(value, f),
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

/// `init` times a power of `rate`, whose exponent grows by one in `steps` steps, at once if `staircase`; not beyond `end`.
///
/// ```
/// use jaxide_nnx::optim::schedules;
/// let halved = schedules::exponential_decay(1.0, 2, 0.5, true, 0.2);
/// assert_eq!([0, 3, 4, 9].map(|count| halved.at(count).item::<f32>()), [1.0, 0.5, 0.25, 0.2]);
/// ```
pub fn exponential_decay(
    init: f64,
    steps: u32,
    rate: f64,
    staircase: bool,
    end: impl Into<Option<f64>>,
) -> Rate {
    if steps == 0 || rate == 0.0 {
        return Rate::Constant(init);
    }
    let end = end.into();
    Rate::schedule(move |count| {
        let turns = count / f64::from(steps);
        let turns: Array = if staircase {
            numpy::floor(&turns)
        } else {
            turns
        };
        let value = init * numpy::power(rate, &turns);
        let value = numpy::where_(numpy::less_equal(count, 0), init, value);
        match end {
            Some(end) if rate < 1.0 => numpy::maximum(value, end),
            Some(end) => numpy::minimum(value, end),
            None => value,
        }
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

/// From `init` to `peak` in `warmup` steps, where it stays.
pub fn warmup_constant(init: f64, peak: f64, warmup: u32) -> Rate {
    linear(init, peak, warmup)
}

/// From `init` to `peak` in `warmup` steps, and then what `decay` is, which counts from there: an [`exponential_decay`] from `peak`.
///
/// ```
/// use jaxide_nnx::optim::schedules;
/// let rate = schedules::warmup_exponential_decay(0.0, 8.0, 2, schedules::exponential_decay(8.0, 1, 0.5, false, None));
/// assert_eq!([0, 1, 2, 3].map(|count| rate.at(count).item::<f32>()), [0.0, 4.0, 8.0, 4.0]);
/// ```
pub fn warmup_exponential_decay(init: f64, peak: f64, warmup: u32, decay: Rate) -> Rate {
    join([linear(init, peak, warmup), decay], &[warmup])
}

/// What [`warmup_cosine_decay`] takes.
#[derive(Clone, Copy, Debug)]
pub struct WarmupCosine {
    /// What it is at first.
    pub init_value: f64,
    /// What it is after the warm-up.
    pub peak_value: f64,
    /// The steps of the warm-up.
    pub warmup_steps: u32,
    /// The steps in all.
    pub decay_steps: u32,
    /// What it is at the end.
    pub end_value: f64,
    /// A power of the wave.
    pub exponent: f64,
}

impl Default for WarmupCosine {
    fn default() -> Self {
        WarmupCosine {
            init_value: 0.0,
            peak_value: 1.0,
            warmup_steps: 0,
            decay_steps: 1,
            end_value: 0.0,
            exponent: 1.0,
        }
    }
}

/// Up along a straight line, and then down along half a wave.
///
/// ```
/// use jaxide_nnx::optim::schedules::{WarmupCosine, warmup_cosine_decay};
/// let rate = warmup_cosine_decay(WarmupCosine { warmup_steps: 2, decay_steps: 4, ..WarmupCosine::default() });
/// assert_eq!([0, 1, 2, 4].map(|count| rate.at(count).item::<f32>()), [0.0, 0.5, 1.0, 0.0]);
/// ```
pub fn warmup_cosine_decay(w: WarmupCosine) -> Rate {
    let alpha = match w.peak_value {
        0.0 => 0.0,
        peak => w.end_value / peak,
    };
    let steps = w.decay_steps.saturating_sub(w.warmup_steps);
    let falls = cosine_decay(w.peak_value, steps, alpha, w.exponent);
    let rises = linear(w.init_value, w.peak_value, w.warmup_steps);
    join([rises, falls], &[w.warmup_steps])
}

/// Gradient descent with warm restarts (Loshchilov and Hutter, 2017): one [`warmup_cosine_decay`] after the other.
///
/// ```
/// use jaxide_nnx::optim::schedules::{WarmupCosine, sgdr};
/// let cycle = |peak_value| WarmupCosine { peak_value, warmup_steps: 1, decay_steps: 3, ..WarmupCosine::default() };
/// let rate = sgdr([cycle(1.0), cycle(0.5)]);
/// assert_eq!([0, 1, 3, 4].map(|count| rate.at(count).item::<f32>()), [0.0, 1.0, 0.0, 0.5]);
/// ```
pub fn sgdr(cycles: impl IntoIterator<Item = WarmupCosine>) -> Rate {
    let cycles: Vec<WarmupCosine> = cycles.into_iter().collect();
    let ends = cycles.iter().scan(0, |end, cycle| {
        *end += cycle.decay_steps;
        Some(*end)
    });
    let boundaries: Vec<u32> = ends.take(cycles.len().saturating_sub(1)).collect();
    join(cycles.into_iter().map(warmup_cosine_decay), &boundaries)
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

/// What [`linear_onecycle`] and [`cosine_onecycle`] take.
#[derive(Clone, Copy, Debug)]
pub struct OneCycle {
    /// The part of the steps in which it rises.
    pub pct_start: f64,
    /// The part of the steps after which a straight line is back at the first value.
    pub pct_final: f64,
    /// The peak divided by the first value.
    pub div_factor: f64,
    /// The first value divided by the last.
    pub final_div_factor: f64,
}

impl Default for OneCycle {
    fn default() -> Self {
        OneCycle {
            pct_start: 0.3,
            pct_final: 0.85,
            div_factor: 25.0,
            final_div_factor: 1e4,
        }
    }
}

/// So many of the steps as a part of them are.
fn part_of(steps: u32, part: f64) -> u32 {
    (part * f64::from(steps)) as u32
}

/// Up to `peak`, down again, and further down, along straight lines (Smith, 2018).
pub fn linear_onecycle(steps: u32, peak: f64, o: OneCycle) -> Rate {
    let points = [
        (part_of(steps, o.pct_start), o.div_factor),
        (part_of(steps, o.pct_final), 1.0 / o.div_factor),
        (steps, 1.0 / o.final_div_factor),
    ];
    piecewise_interpolate(peak / o.div_factor, &points, false)
}

/// Up to `peak`, and down again along half waves.
pub fn cosine_onecycle(steps: u32, peak: f64, o: OneCycle) -> Rate {
    let points = [
        (part_of(steps, o.pct_start), o.div_factor),
        (steps, 1.0 / (o.div_factor * o.final_div_factor)),
    ];
    piecewise_interpolate(peak / o.div_factor, &points, true)
}
