//! Steps that optimisers are made of.

use jaxide::{Array, lax, numpy};

use super::leafwise::{leafwise, stateless};
use super::{GradientTransformation, Mask, Rate, masked};

/// `decay` of what was kept and the rest of a power of the gradient.
fn moment(g: &Array, kept: &Array, decay: f64, order: i64) -> Array {
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
    stateless(move |g, _| factor * g)
}

/// Gradients times the negative of a learning rate.
pub fn scale_by_learning_rate(rate: impl Into<Rate>) -> GradientTransformation {
    match rate.into() {
        Rate::Constant(rate) => scale(-rate),
        rate => leafwise("ScaleByScheduleState", &[], move |leaf| {
            let step = (-rate.at(leaf.before)).astype(leaf.g.dtype());
            (step * leaf.g, Vec::new())
        }),
    }
}

/// Gradients and a decaying sum of earlier ones; with `nesterov`, one step ahead.
pub fn trace(decay: f64, nesterov: bool) -> GradientTransformation {
    leafwise("TraceState", &[("trace", 0.0)], move |leaf| {
        let sum = leaf.g + decay * &leaf.kept[0];
        let update = if nesterov {
            leaf.g + decay * &sum
        } else {
            sum.clone()
        };
        (update, vec![sum])
    })
}

/// An exponential average of gradients, with or without what it has from beginning at zero.
pub fn ema(decay: f64, debias: bool) -> GradientTransformation {
    leafwise("EmaState", &[("ema", 0.0)], move |leaf| {
        let average = moment(leaf.g, &leaf.kept[0], decay, 1);
        let update = if debias {
            corrected(&average, decay, leaf.count)
        } else {
            average.clone()
        };
        (update, vec![average])
    })
}

/// Gradients with a part of the parameters added.
pub fn add_decayed_weights(weight_decay: f64, mask: Option<Mask>) -> GradientTransformation {
    let transform = stateless(move |g, p| g + weight_decay * p);
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
}

impl Default for Moments {
    fn default() -> Self {
        Moments {
            b1: 0.9,
            b2: 0.999,
            eps: 1e-8,
            eps_root: 0.0,
            nesterov: false,
        }
    }
}

/// The average of gradients, without what it has from beginning at zero.
fn first(mu: &Array, g: &Array, count: &Array, m: Moments) -> Array {
    if m.nesterov {
        let ahead = super::leafwise::next(count);
        m.b1 * corrected(mu, m.b1, &ahead) + (1.0 - m.b1) * corrected(g, m.b1, count)
    } else {
        corrected(mu, m.b1, count)
    }
}

/// The average of gradients divided by the root of the average of squares (Kingma and Ba, 2015).
pub fn scale_by_adam(m: Moments) -> GradientTransformation {
    leafwise(
        "ScaleByAdamState",
        &[("mu", 0.0), ("nu", 0.0)],
        move |leaf| {
            let mu = moment(leaf.g, &leaf.kept[0], m.b1, 1);
            let nu = moment(leaf.g, &leaf.kept[1], m.b2, 2);
            let root = lax::sqrt(&(corrected(&nu, m.b2, leaf.count) + m.eps_root));
            (
                first(&mu, leaf.g, leaf.count, m) / (root + m.eps),
                vec![mu, nu],
            )
        },
    )
}

/// [`scale_by_adam`] with the largest average of squares so far (Reddi, Kale and Kumar, 2018).
pub fn scale_by_amsgrad(m: Moments) -> GradientTransformation {
    leafwise(
        "ScaleByAmsgradState",
        &[("mu", 0.0), ("nu", 0.0), ("nu_max", 0.0)],
        move |leaf| {
            let mu = moment(leaf.g, &leaf.kept[0], m.b1, 1);
            let nu = moment(leaf.g, &leaf.kept[1], m.b2, 2);
            let most = numpy::maximum(&leaf.kept[2], corrected(&nu, m.b2, leaf.count));
            let update =
                corrected(&mu, m.b1, leaf.count) / (lax::sqrt(&(&most + m.eps_root)) + m.eps);
            (update, vec![mu, nu, most])
        },
    )
}

/// The average of gradients divided by a decaying maximum of them (Kingma and Ba, 2015).
pub fn scale_by_adamax(m: Moments) -> GradientTransformation {
    leafwise(
        "ScaleByAdamState",
        &[("mu", 0.0), ("nu", 0.0)],
        move |leaf| {
            let mu = moment(leaf.g, &leaf.kept[0], m.b1, 1);
            let nu = numpy::maximum(numpy::abs(leaf.g) + m.eps, m.b2 * &leaf.kept[1]);
            (corrected(&mu, m.b1, leaf.count) / &nu, vec![mu, nu])
        },
    )
}

/// [`scale_by_adam`] whose variance is rectified in the first steps (Liu et al., 2020).
pub fn scale_by_radam(m: Moments, threshold: f64) -> GradientTransformation {
    let most = 2.0 / (1.0 - m.b2) - 1.0;
    leafwise(
        "ScaleByAdamState",
        &[("mu", 0.0), ("nu", 0.0)],
        move |leaf| {
            let mu = moment(leaf.g, &leaf.kept[0], m.b1, 1);
            let nu = moment(leaf.g, &leaf.kept[1], m.b2, 2);
            let decayed = numpy::power(m.b2, leaf.count);
            let ro = most - 2 * leaf.count * &decayed / (1.0 - decayed);
            let mu_hat = first(&mu, leaf.g, leaf.count, m);
            let nu_hat = corrected(&nu, m.b2, leaf.count);
            let r: Array = (&ro - 4.0) * (&ro - 2.0) * most / ((most - 4.0) * (most - 2.0) * &ro);
            let rectified = lax::sqrt(&r).astype(mu_hat.dtype()) * &mu_hat
                / (lax::sqrt(&(nu_hat + m.eps_root)) + m.eps);
            (
                numpy::where_(numpy::greater_equal(&ro, threshold), rectified, mu_hat),
                vec![mu, nu],
            )
        },
    )
}

/// Gradients divided by the root of a decaying average of their squares.
pub fn scale_by_rms(
    decay: f64,
    eps: f64,
    initial_scale: f64,
    eps_in_sqrt: bool,
) -> GradientTransformation {
    leafwise("ScaleByRmsState", &[("nu", initial_scale)], move |leaf| {
        let nu = moment(leaf.g, &leaf.kept[0], decay, 2);
        let factor = if eps_in_sqrt {
            lax::rsqrt(&(&nu + eps))
        } else {
            1.0 / (lax::sqrt(&nu) + eps)
        };
        (factor * leaf.g, vec![nu])
    })
}

/// Gradients divided by the root of a decaying variance.
pub fn scale_by_stddev(
    decay: f64,
    eps: f64,
    initial_scale: f64,
    eps_in_sqrt: bool,
) -> GradientTransformation {
    leafwise(
        "ScaleByRStdDevState",
        &[("mu", 0.0), ("nu", initial_scale)],
        move |leaf| {
            let mu = moment(leaf.g, &leaf.kept[0], decay, 1);
            let nu = moment(leaf.g, &leaf.kept[1], decay, 2);
            let variance = &nu - abs_sq(&mu);
            let factor = if eps_in_sqrt {
                lax::rsqrt(&(variance + eps))
            } else {
                1.0 / (lax::sqrt(&variance) + eps)
            };
            (factor * leaf.g, vec![mu, nu])
        },
    )
}

/// Gradients divided by the root of the sum of their squares (Duchi, Hazan and Singer, 2011).
pub fn scale_by_rss(initial_accumulator_value: f64, eps: f64) -> GradientTransformation {
    leafwise(
        "ScaleByRssState",
        &[("sum_of_squares", initial_accumulator_value)],
        move |leaf| {
            let sum = abs_sq(leaf.g) + &leaf.kept[0];
            let factor = numpy::where_(numpy::greater(&sum, 0.0), lax::rsqrt(&(&sum + eps)), 0.0);
            (factor * leaf.g, vec![sum])
        },
    )
}

/// Gradients in the units of parameters (Zeiler, 2012).
pub fn scale_by_adadelta(rho: f64, eps: f64) -> GradientTransformation {
    leafwise(
        "ScaleByAdaDeltaState",
        &[("e_g", 0.0), ("e_x", 0.0)],
        move |leaf| {
            let of_g = moment(leaf.g, &leaf.kept[0], rho, 2);
            let update = lax::sqrt(&(&leaf.kept[1] + eps)) / lax::sqrt(&(&of_g + eps)) * leaf.g;
            let of_x = moment(&update, &leaf.kept[1], rho, 2);
            (update, vec![of_g, of_x])
        },
    )
}

/// The signs of an average of gradients (Chen et al., 2023).
pub fn scale_by_lion(b1: f64, b2: f64) -> GradientTransformation {
    leafwise("ScaleByLionState", &[("mu", 0.0)], move |leaf| {
        let update = numpy::sign(&((1.0 - b1) * leaf.g + b1 * &leaf.kept[0]));
        (update, vec![moment(leaf.g, &leaf.kept[0], b2, 1)])
    })
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
    stateless(move |g, p| {
        let (of_p, of_g) = (safe_norm(p, min_norm), safe_norm(g, min_norm));
        let ratio = trust_coefficient * &of_p / (&of_g + eps);
        let zero = numpy::logical_or(numpy::equal(&of_p, 0.0), numpy::equal(&of_g, 0.0));
        g * numpy::where_(zero, Array::from(1.0).astype(p.dtype()), ratio)
    })
}

/// The signs of gradients.
pub fn scale_by_sign() -> GradientTransformation {
    stateless(|g, _| numpy::sign(g))
}
