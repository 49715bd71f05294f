//! Whole optimisers.

use super::{
    GradientTransformation, Mask, Moments, Rate, add_decayed_weights, chain, identity, masked,
    scale_by_adadelta, scale_by_adam, scale_by_adamax, scale_by_amsgrad, scale_by_learning_rate,
    scale_by_lion, scale_by_radam, scale_by_rms, scale_by_rss, scale_by_sign, scale_by_stddev,
    scale_by_trust_ratio, trace,
};

/// Gradient descent.
pub fn sgd(rate: impl Into<Rate>) -> GradientTransformation {
    scale_by_learning_rate(rate)
}

/// Gradient descent with a decaying sum of earlier gradients; with `nesterov`, one step ahead.
pub fn momentum(rate: impl Into<Rate>, decay: f64, nesterov: bool) -> GradientTransformation {
    chain([trace(decay, nesterov), scale_by_learning_rate(rate)])
}

/// Adam with its usual numbers: [`scale_by_adam`].
pub fn adam(rate: impl Into<Rate>) -> GradientTransformation {
    adam_with(rate, Moments::default())
}

/// Adam: [`scale_by_adam`].
pub fn adam_with(rate: impl Into<Rate>, moments: Moments) -> GradientTransformation {
    chain([scale_by_adam(moments), scale_by_learning_rate(rate)])
}

/// [`adam`], one step ahead (Dozat, 2016).
pub fn nadam(rate: impl Into<Rate>) -> GradientTransformation {
    adam_with(
        rate,
        Moments {
            nesterov: true,
            ..Moments::default()
        },
    )
}

/// [`adam`] with decay of the weights that the mask selects (Loshchilov and Hutter, 2019).
pub fn adamw(
    rate: impl Into<Rate>,
    weight_decay: f64,
    mask: Option<Mask>,
) -> GradientTransformation {
    adamw_with(rate, Moments::default(), weight_decay, mask)
}

/// [`adamw`] with other numbers.
pub fn adamw_with(
    rate: impl Into<Rate>,
    moments: Moments,
    weight_decay: f64,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_adam(moments),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(rate),
    ])
}

/// [`scale_by_adamax`].
pub fn adamax(rate: impl Into<Rate>) -> GradientTransformation {
    chain([
        scale_by_adamax(Moments::default()),
        scale_by_learning_rate(rate),
    ])
}

/// [`scale_by_amsgrad`].
pub fn amsgrad(rate: impl Into<Rate>) -> GradientTransformation {
    chain([
        scale_by_amsgrad(Moments::default()),
        scale_by_learning_rate(rate),
    ])
}

/// [`scale_by_radam`].
pub fn radam(rate: impl Into<Rate>) -> GradientTransformation {
    chain([
        scale_by_radam(Moments::default(), 5.0),
        scale_by_learning_rate(rate),
    ])
}

/// What [`rmsprop`] takes beside the learning rate.
#[derive(Clone, Copy, Debug)]
pub struct RmsProp {
    /// The decay of the average of squares.
    pub decay: f64,
    /// What is added to or under the root.
    pub eps: f64,
    /// What the average is at first.
    pub initial_scale: f64,
    /// Whether it is added under the root.
    pub eps_in_sqrt: bool,
    /// Whether the variance is taken instead of the average of squares.
    pub centered: bool,
    /// The decay of a sum of earlier steps, if there is one.
    pub momentum: Option<f64>,
    /// Whether that is one step ahead.
    pub nesterov: bool,
}

impl Default for RmsProp {
    fn default() -> Self {
        RmsProp {
            decay: 0.9,
            eps: 1e-8,
            initial_scale: 0.0,
            eps_in_sqrt: true,
            centered: false,
            momentum: None,
            nesterov: false,
        }
    }
}

/// [`scale_by_rms`](super::scale_by_rms), with or without a sum of earlier steps.
pub fn rmsprop(rate: impl Into<Rate>, o: RmsProp) -> GradientTransformation {
    let scale = if o.centered {
        scale_by_stddev
    } else {
        scale_by_rms
    };
    chain([
        scale(o.decay, o.eps, o.initial_scale, o.eps_in_sqrt),
        scale_by_learning_rate(rate),
        o.momentum
            .map_or_else(identity, |decay| trace(decay, o.nesterov)),
    ])
}

/// [`scale_by_rss`] with what the sum begins with, and what is added under the root.
pub fn adagrad(
    rate: impl Into<Rate>,
    initial_accumulator_value: f64,
    eps: f64,
) -> GradientTransformation {
    chain([
        scale_by_rss(initial_accumulator_value, eps),
        scale_by_learning_rate(rate),
    ])
}

/// [`scale_by_adadelta`].
pub fn adadelta(rate: impl Into<Rate>, rho: f64, eps: f64) -> GradientTransformation {
    chain([scale_by_adadelta(rho, eps), scale_by_learning_rate(rate)])
}

/// [`adamw`] with steps as long as parameters say (You et al., 2020).
pub fn lamb(
    rate: impl Into<Rate>,
    weight_decay: f64,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_adam(Moments {
            eps: 1e-6,
            ..Moments::default()
        }),
        add_decayed_weights(weight_decay, mask),
        scale_by_trust_ratio(0.0, 1.0, 0.0),
        scale_by_learning_rate(rate),
    ])
}

/// [`momentum`] with steps as long as parameters say (You, Gitman and Ginsburg, 2017), for those that the mask selects.
pub fn lars(
    rate: impl Into<Rate>,
    weight_decay: f64,
    decay: f64,
    mask: Option<Mask>,
) -> GradientTransformation {
    let ratio = scale_by_trust_ratio(0.0, 0.001, 0.0);
    chain([
        add_decayed_weights(weight_decay, mask.clone()),
        match mask {
            Some(mask) => masked(ratio, mask),
            None => ratio,
        },
        scale_by_learning_rate(rate),
        trace(decay, false),
    ])
}

/// [`scale_by_lion`] with decay of the weights that the mask selects.
pub fn lion(
    rate: impl Into<Rate>,
    b1: f64,
    b2: f64,
    weight_decay: f64,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_lion(b1, b2),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(rate),
    ])
}

/// Descent by the signs of gradients.
pub fn sign_sgd(rate: impl Into<Rate>) -> GradientTransformation {
    chain([scale_by_sign(), scale_by_learning_rate(rate)])
}
