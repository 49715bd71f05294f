//! Steps that optimisers are made of.

use jaxide::{Array, DType, lax, numpy};

use super::leafwise::{counted, stateless_leafwise, uncounted, zeros, zeros_in};
use super::{GradientTransformation, Mask, Rate, identity, masked, tree};

/// `decay` of what was kept and the rest of a power of the gradient.
pub(super) fn moment(g: &Array, kept: &Array, decay: f64, order: i64) -> Array {
    let power = match order {
        1 => g.clone(),
        _ => abs_sq(g),
    };
    (1.0 - decay) * power + decay * kept
}

pub(super) fn abs_sq(x: &Array) -> Array {
    if x.dtype().is_complex() {
        lax::square(&lax::real(x)) + lax::square(&lax::imag(x))
    } else {
        lax::square(x)
    }
}

/// A moment without what it has from beginning at zero.
fn corrected(moment: &Array, decay: f64, count: &Array) -> Array {
    let correction: Array = 1.0 - numpy::power(decay, count);
    moment / correction.astype(moment.dtype())
}

/// Gradients times a number.
pub fn scale(factor: f64) -> GradientTransformation {
    stateless_leafwise(move |leaf| factor * leaf.g)
}

/// Gradients times a number that may depend on the count of steps.
///
/// ```
/// use jaxide_nnx::optim::{self, schedules};
/// let halved = optim::scale_by_schedule(schedules::exponential_decay(1.0, 1, 0.5, false, None));
/// let x = jaxide::Array::from([8.0f32]);
/// let (_, state) = halved.update(&x, &halved.init(&x), &x);
/// assert_eq!(halved.update(&x, &state, &x).0.to_vec::<f32>(), [4.0]);
/// ```
pub fn scale_by_schedule(factor: impl Into<Rate>) -> GradientTransformation {
    match factor.into() {
        Rate::Constant(factor) => scale(factor),
        Rate::Value(factor) => stateless_leafwise(move |leaf| &factor * leaf.g),
        factor => counted("ScaleByScheduleState", [], zeros, move |leaf, [], count| {
            let factor = factor.at(&count.before).astype(leaf.g.dtype());
            (factor * leaf.g, [])
        }),
    }
}

/// Gradients times the negative of a learning rate.
pub fn scale_by_learning_rate(rate: impl Into<Rate>) -> GradientTransformation {
    scale_by_schedule(match rate.into() {
        Rate::Constant(rate) => Rate::Constant(-rate),
        Rate::Value(rate) => Rate::Value(-rate),
        rate => Rate::schedule(move |count| -rate.at(count)),
    })
}

/// Gradients and a decaying sum of earlier ones; with `nesterov`, one step ahead.
pub fn trace(decay: f64, nesterov: bool) -> GradientTransformation {
    trace_in(decay, nesterov, None)
}

/// [`trace`] whose sum is kept in an element type of its own.
///
/// ```
/// use jaxide_nnx::optim::{self, tree};
/// use jaxide::{Array, DType};
/// let half = optim::trace_in(0.9, false, DType::BF16);
/// let state = half.init(&Array::from([1.0f32]));
/// assert_eq!(tree::get(&state, "trace").unwrap().as_leaf().unwrap().dtype(), DType::BF16);
/// ```
pub fn trace_in(
    decay: f64,
    nesterov: bool,
    accumulator_dtype: impl Into<Option<DType>>,
) -> GradientTransformation {
    let dtype = accumulator_dtype.into();
    let init = move |p: &Array| [zeros_in(p, dtype)];
    uncounted("TraceState", ["trace"], init, move |leaf, [sum]| {
        let sum = leaf.g + decay * sum;
        let update = if nesterov {
            leaf.g + decay * &sum
        } else {
            sum.clone()
        };
        (update, [sum])
    })
}

/// An exponential average of gradients, with or without what it has from beginning at zero.
pub fn ema(decay: f64, debias: bool) -> GradientTransformation {
    ema_in(decay, debias, None)
}

/// [`ema`] that is kept in an element type of its own.
pub fn ema_in(
    decay: f64,
    debias: bool,
    accumulator_dtype: impl Into<Option<DType>>,
) -> GradientTransformation {
    let dtype = accumulator_dtype.into();
    let init = move |p: &Array| [zeros_in(p, dtype)];
    counted("EmaState", ["ema"], init, move |leaf, [kept], count| {
        let average = moment(leaf.g, kept, decay, 1);
        let update = if debias {
            corrected(&average, decay, &count.now)
        } else {
            average.clone()
        };
        (update, [average])
    })
}

/// Gradients with a part of the parameters added, of those that the mask selects.
pub fn add_decayed_weights(
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    let transform = match weight_decay.into() {
        Rate::Constant(0.0) => identity(),
        Rate::Constant(decay) => stateless_leafwise(move |leaf| leaf.g + decay * leaf.p),
        Rate::Value(decay) => stateless_leafwise(move |leaf| leaf.g + &decay * leaf.p),
        decay => counted("WeightDecaySchedule", [], zeros, move |leaf, [], count| {
            (leaf.g + decay.at(&count.before) * leaf.p, [])
        }),
    };
    match mask {
        Some(mask) => masked(transform, mask),
        None => transform,
    }
}

/// What [`scale_by_adam`] and its relatives take.
#[derive(Clone, Copy, Debug)]
pub struct Moments {
    /// The decay of the average of gradients.
    pub b1: f64,
    /// The decay of the average of their squares.
    pub b2: f64,
    /// What is added to roots.
    pub eps: f64,
    /// What is added under roots.
    pub eps_root: f64,
    /// Whether the average is one step ahead.
    pub nesterov: bool,
    /// The element type of the average of gradients: that of the parameters by default.
    pub mu_dtype: Option<DType>,
}

impl Default for Moments {
    fn default() -> Self {
        Moments {
            b1: 0.9,
            b2: 0.999,
            eps: 1e-8,
            eps_root: 0.0,
            nesterov: false,
            mu_dtype: None,
        }
    }
}

impl Moments {
    /// Zeros, of which the first have the element type that was told.
    fn init<const N: usize>(self) -> impl Fn(&Array) -> [Array; N] + Send + Sync {
        move |p| std::array::from_fn(|place| zeros_in(p, self.mu_dtype.filter(|_| place == 0)))
    }
}

/// The average of gradients, without what it has from beginning at zero.
fn first(mu: &Array, g: &Array, count: &Array, m: Moments) -> Array {
    if m.nesterov {
        let ahead = tree::next(count);
        m.b1 * corrected(mu, m.b1, &ahead) + (1.0 - m.b1) * corrected(g, m.b1, count)
    } else {
        corrected(mu, m.b1, count)
    }
}

/// The average of gradients divided by the root of the average of squares (Kingma and Ba, 2015).
pub fn scale_by_adam(m: Moments) -> GradientTransformation {
    counted(
        "ScaleByAdamState",
        ["mu", "nu"],
        m.init(),
        move |leaf, [mu, nu], count| {
            let mu = moment(leaf.g, mu, m.b1, 1);
            let nu = moment(leaf.g, nu, m.b2, 2);
            let root = lax::sqrt(&(corrected(&nu, m.b2, &count.now) + m.eps_root));
            (first(&mu, leaf.g, &count.now, m) / (root + m.eps), [mu, nu])
        },
    )
}

/// [`scale_by_adam`] with the largest average of squares so far (Reddi, Kale and Kumar, 2018).
pub fn scale_by_amsgrad(m: Moments) -> GradientTransformation {
    counted(
        "ScaleByAmsgradState",
        ["mu", "nu", "nu_max"],
        m.init(),
        move |leaf, [mu, nu, most], count| {
            let mu = moment(leaf.g, mu, m.b1, 1);
            let nu = moment(leaf.g, nu, m.b2, 2);
            let most = numpy::maximum(most, corrected(&nu, m.b2, &count.now));
            let update =
                corrected(&mu, m.b1, &count.now) / (lax::sqrt(&(&most + m.eps_root)) + m.eps);
            (update, [mu, nu, most])
        },
    )
}

/// The average of gradients divided by a decaying maximum of them (Kingma and Ba, 2015).
pub fn scale_by_adamax(m: Moments) -> GradientTransformation {
    counted(
        "ScaleByAdamState",
        ["mu", "nu"],
        m.init(),
        move |leaf, [mu, nu], count| {
            let mu = moment(leaf.g, mu, m.b1, 1);
            let nu = numpy::maximum(numpy::abs(leaf.g) + m.eps, m.b2 * nu);
            (corrected(&mu, m.b1, &count.now) / &nu, [mu, nu])
        },
    )
}

/// [`scale_by_adam`] whose variance is rectified in the first steps (Liu et al., 2020).
pub fn scale_by_radam(m: Moments, threshold: f64) -> GradientTransformation {
    let most = 2.0 / (1.0 - m.b2) - 1.0;
    counted(
        "ScaleByAdamState",
        ["mu", "nu"],
        m.init(),
        move |leaf, [mu, nu], count| {
            let mu = moment(leaf.g, mu, m.b1, 1);
            let nu = moment(leaf.g, nu, m.b2, 2);
            let decayed = numpy::power(m.b2, &count.now);
            let ro = most - 2 * &count.now * &decayed / (1.0 - decayed);
            let mu_hat = first(&mu, leaf.g, &count.now, m);
            let nu_hat = corrected(&nu, m.b2, &count.now);
            let r: Array = (&ro - 4.0) * (&ro - 2.0) * most / ((most - 4.0) * (most - 2.0) * &ro);
            let rectified = lax::sqrt(&r).astype(mu_hat.dtype()) * &mu_hat
                / (lax::sqrt(&(nu_hat + m.eps_root)) + m.eps);
            (
                numpy::where_(numpy::greater_equal(&ro, threshold), rectified, mu_hat),
                [mu, nu],
            )
        },
    )
}

/// What [`scale_by_rms`] and [`scale_by_stddev`] take.
#[derive(Clone, Copy, Debug)]
pub struct MeanSquare {
    /// The decay of the average of squares.
    pub decay: f64,
    /// What is added to or under the root.
    pub eps: f64,
    /// What the average is at first.
    pub initial_scale: f64,
    /// Whether it is added under the root.
    pub eps_in_sqrt: bool,
    /// Whether what averages have from beginning at zero is taken out.
    pub bias_correction: bool,
}

impl Default for MeanSquare {
    fn default() -> Self {
        MeanSquare {
            decay: 0.9,
            eps: 1e-8,
            initial_scale: 0.0,
            eps_in_sqrt: true,
            bias_correction: false,
        }
    }
}

impl MeanSquare {
    fn average(self, g: &Array, kept: &Array, order: i64) -> Array {
        moment(g, kept, self.decay, order)
    }

    /// An average as it is used after so many steps, where they are counted.
    fn used(self, average: &Array, count: Option<&Array>) -> Array {
        match count {
            Some(count) => corrected(average, self.decay, count),
            None => average.clone(),
        }
    }

    /// A gradient divided by the root of a mean of squares.
    fn divided(self, g: &Array, squares: &Array) -> Array {
        let factor = if self.eps_in_sqrt {
            lax::rsqrt(&(squares + self.eps))
        } else {
            1.0 / (lax::sqrt(squares) + self.eps)
        };
        factor * g
    }
}

/// Gradients divided by the root of a decaying average of their squares.
pub fn scale_by_rms(o: MeanSquare) -> GradientTransformation {
    let init = move |p: &Array| [numpy::full_like(p, o.initial_scale)];
    let update = move |g: &Array, nu: &Array, count: Option<&Array>| {
        let nu = o.average(g, nu, 2);
        (o.divided(g, &o.used(&nu, count)), [nu])
    };
    if o.bias_correction {
        counted(
            "ScaleByRmsWithCountState",
            ["nu"],
            init,
            move |leaf, [nu], count| update(leaf.g, nu, Some(&count.now)),
        )
    } else {
        uncounted("ScaleByRmsState", ["nu"], init, move |leaf, [nu]| {
            update(leaf.g, nu, None)
        })
    }
}

/// Gradients divided by the root of a decaying variance.
pub fn scale_by_stddev(o: MeanSquare) -> GradientTransformation {
    let init = move |p: &Array| {
        [
            numpy::zeros_like(p, ()),
            numpy::full_like(p, o.initial_scale),
        ]
    };
    let update = move |g: &Array, [mu, nu]: [&Array; 2], count: Option<&Array>| {
        let (mu, nu) = (o.average(g, mu, 1), o.average(g, nu, 2));
        let variance = o.used(&nu, count) - abs_sq(&o.used(&mu, count));
        (o.divided(g, &variance), [mu, nu])
    };
    let names = ["mu", "nu"];
    if o.bias_correction {
        counted(
            "ScaleByRStdDevWithCountState",
            names,
            init,
            move |leaf, kept, count| update(leaf.g, kept, Some(&count.now)),
        )
    } else {
        uncounted("ScaleByRStdDevState", names, init, move |leaf, kept| {
            update(leaf.g, kept, None)
        })
    }
}

/// Gradients divided by the root of the sum of their squares (Duchi, Hazan and Singer, 2011).
pub fn scale_by_rss(initial_accumulator_value: f64, eps: f64) -> GradientTransformation {
    uncounted(
        "ScaleByRssState",
        ["sum_of_squares"],
        move |p| [numpy::full_like(p, initial_accumulator_value)],
        move |leaf, [sum]| {
            let sum = abs_sq(leaf.g) + sum;
            let factor = numpy::where_(numpy::greater(&sum, 0.0), lax::rsqrt(&(&sum + eps)), 0.0);
            (factor * leaf.g, [sum])
        },
    )
}

/// Gradients in the units of parameters (Zeiler, 2012).
pub fn scale_by_adadelta(rho: f64, eps: f64) -> GradientTransformation {
    uncounted(
        "ScaleByAdaDeltaState",
        ["e_g", "e_x"],
        zeros,
        move |leaf, [of_g, of_x]| {
            let of_g = moment(leaf.g, of_g, rho, 2);
            let update = lax::sqrt(&(of_x + eps)) / lax::sqrt(&(&of_g + eps)) * leaf.g;
            let of_x = moment(&update, of_x, rho, 2);
            (update, [of_g, of_x])
        },
    )
}

/// The signs of an average of gradients (Chen et al., 2023), which is kept in the element type `mu_dtype`: that of the parameters by
/// default.
pub fn scale_by_lion(
    b1: f64,
    b2: f64,
    mu_dtype: impl Into<Option<DType>>,
) -> GradientTransformation {
    let dtype = mu_dtype.into();
    counted(
        "ScaleByLionState",
        ["mu"],
        move |p| [zeros_in(p, dtype)],
        move |leaf, [mu], _count| {
            let update = numpy::sign(&((1.0 - b1) * leaf.g + b1 * mu));
            (update, [moment(leaf.g, mu, b2, 1)])
        },
    )
}

/// The root of the sum of squares, at least `least`, with a gradient where that is zero.
fn safe_norm(x: &Array, least: f64) -> Array {
    let norm = |x: &Array| lax::sqrt(&abs_sq(x).sum());
    let small = numpy::less_equal(norm(x), least);
    let inside = numpy::where_(&small, numpy::full_like(x, 1), x);
    numpy::where_(small, least, norm(&inside))
}

/// Gradients times the norm of the parameter over their own (You et al., 2020).
pub fn scale_by_trust_ratio(
    min_norm: f64,
    trust_coefficient: f64,
    eps: f64,
) -> GradientTransformation {
    stateless_leafwise(move |leaf| {
        let (of_p, of_g) = (safe_norm(leaf.p, min_norm), safe_norm(leaf.g, min_norm));
        let ratio = trust_coefficient * &of_p / (&of_g + eps);
        let zero = numpy::logical_or(numpy::equal(&of_p, 0.0), numpy::equal(&of_g, 0.0));
        leaf.g * numpy::where_(zero, Array::from(1.0).astype(leaf.p.dtype()), ratio)
    })
}

/// Gradients times the root of the mean of the squares of the parameter, which counts as at least `min_scale`.
///
/// ```
/// use jaxide_nnx::optim;
/// use jaxide::Array;
/// let (x, g) = (Array::from([3.0f32, -3.0]), Array::from([1.0f32, 2.0]));
/// let scaled = optim::scale_by_param_block_rms(1e-3);
/// assert_eq!(scaled.update(&g, &scaled.init(&x), &x).0.to_vec::<f32>(), [3.0, 6.0]);
/// ```
pub fn scale_by_param_block_rms(min_scale: f64) -> GradientTransformation {
    let rms = |x: &Array| lax::sqrt(&abs_sq(x).mean());
    stateless_leafwise(move |leaf| {
        let small = numpy::less_equal(rms(leaf.p), min_scale);
        let inside = numpy::where_(&small, numpy::full_like(leaf.p, 1), leaf.p);
        leaf.g * numpy::where_(small, min_scale, rms(&inside))
    })
}

/// The signs of gradients.
pub fn scale_by_sign() -> GradientTransformation {
    stateless_leafwise(|leaf| numpy::sign(leaf.g))
}
