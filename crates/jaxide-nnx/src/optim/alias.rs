//! Whole optimisers.

use jaxide::DType;

use super::{
    Factored, GradientTransformation, InitialGuess, Mask, MeanSquare, Moments, Rate,
    ZoomLinesearch, add_decayed_weights, chain, clip_by_block_rms, ema_in, identity, masked, scale,
    scale_by_adadelta, scale_by_adam, scale_by_adamax, scale_by_amsgrad, scale_by_factored_rms,
    scale_by_lbfgs, scale_by_learning_rate, scale_by_lion, scale_by_param_block_rms,
    scale_by_radam, scale_by_rms, scale_by_rss, scale_by_schedule, scale_by_sign, scale_by_sm3,
    scale_by_stddev, scale_by_trust_ratio, scale_by_zoom_linesearch, trace,
};

/// Gradient descent.
pub fn sgd(rate: impl Into<Rate>) -> GradientTransformation {
    chain([identity(), scale_by_learning_rate(rate)])
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
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    adamw_with(rate, Moments::default(), weight_decay, mask)
}

/// [`adamw`] with other numbers.
pub fn adamw_with(
    rate: impl Into<Rate>,
    moments: Moments,
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_adam(moments),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(rate),
    ])
}

/// [`adamw`], one step ahead.
pub fn nadamw(
    rate: impl Into<Rate>,
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    let moments = Moments {
        nesterov: true,
        ..Moments::default()
    };
    adamw_with(rate, moments, weight_decay, mask)
}

/// [`scale_by_adamax`].
pub fn adamax(rate: impl Into<Rate>) -> GradientTransformation {
    adamax_with(rate, Moments::default())
}

/// [`adamax`] with other numbers.
pub fn adamax_with(rate: impl Into<Rate>, moments: Moments) -> GradientTransformation {
    chain([scale_by_adamax(moments), scale_by_learning_rate(rate)])
}

/// [`adamax_with`] and decay of the weights that the mask selects.
pub fn adamaxw(
    rate: impl Into<Rate>,
    moments: Moments,
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_adamax(moments),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(rate),
    ])
}

/// [`scale_by_amsgrad`].
pub fn amsgrad(rate: impl Into<Rate>) -> GradientTransformation {
    amsgrad_with(rate, Moments::default())
}

/// [`amsgrad`] with other numbers.
pub fn amsgrad_with(rate: impl Into<Rate>, moments: Moments) -> GradientTransformation {
    chain([scale_by_amsgrad(moments), scale_by_learning_rate(rate)])
}

/// [`scale_by_radam`].
pub fn radam(rate: impl Into<Rate>) -> GradientTransformation {
    radam_with(rate, Moments::default(), 5.0)
}

/// [`radam`] with other numbers.
pub fn radam_with(
    rate: impl Into<Rate>,
    moments: Moments,
    threshold: f64,
) -> GradientTransformation {
    chain([
        scale_by_radam(moments, threshold),
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
    /// Whether what averages have from beginning at zero is taken out.
    pub bias_correction: bool,
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
            bias_correction: false,
        }
    }
}

/// [`scale_by_rms`], with or without a sum of earlier steps.
pub fn rmsprop(rate: impl Into<Rate>, o: RmsProp) -> GradientTransformation {
    let squares = MeanSquare {
        decay: o.decay,
        eps: o.eps,
        initial_scale: o.initial_scale,
        eps_in_sqrt: o.eps_in_sqrt,
        bias_correction: o.bias_correction,
    };
    let scale = if o.centered {
        scale_by_stddev
    } else {
        scale_by_rms
    };
    chain([
        scale(squares),
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
    chain([
        add_decayed_weights(0.0, None),
        scale_by_adadelta(rho, eps),
        scale_by_learning_rate(rate),
    ])
}

/// [`adamw`] with steps as long as parameters say (You et al., 2020).
pub fn lamb(
    rate: impl Into<Rate>,
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    let moments = Moments {
        eps: 1e-6,
        ..Moments::default()
    };
    lamb_with(rate, moments, weight_decay, mask)
}

/// [`lamb`] with other numbers.
pub fn lamb_with(
    rate: impl Into<Rate>,
    moments: Moments,
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_adam(moments),
        add_decayed_weights(weight_decay, mask),
        scale_by_trust_ratio(0.0, 1.0, 0.0),
        scale_by_learning_rate(rate),
    ])
}

/// What [`lars_with`] takes beside the learning rate.
#[derive(Clone, Debug)]
pub struct Lars {
    /// The part of the parameters that is added to gradients.
    pub weight_decay: Rate,
    /// Of which parameters that is added.
    pub weight_decay_mask: Mask,
    /// A factor of the lengths of steps.
    pub trust_coefficient: f64,
    /// What is added to the norms of gradients.
    pub eps: f64,
    /// Of which parameters steps are as long as they say.
    pub trust_ratio_mask: Mask,
    /// The decay of a sum of earlier steps.
    pub momentum: f64,
    /// Whether that is one step ahead.
    pub nesterov: bool,
}

impl Default for Lars {
    fn default() -> Self {
        Lars {
            weight_decay: Rate::Constant(0.0),
            weight_decay_mask: Mask::all(),
            trust_coefficient: 0.001,
            eps: 0.0,
            trust_ratio_mask: Mask::all(),
            momentum: 0.9,
            nesterov: false,
        }
    }
}

/// [`momentum`] with steps as long as parameters say (You, Gitman and Ginsburg, 2017), for those that the mask selects.
pub fn lars(
    rate: impl Into<Rate>,
    weight_decay: impl Into<Rate>,
    decay: f64,
    mask: Option<Mask>,
) -> GradientTransformation {
    let mask = mask.unwrap_or_else(Mask::all);
    let options = Lars {
        weight_decay: weight_decay.into(),
        weight_decay_mask: mask.clone(),
        trust_ratio_mask: mask,
        momentum: decay,
        ..Lars::default()
    };
    lars_with(rate, options)
}

/// [`lars`] with other numbers.
pub fn lars_with(rate: impl Into<Rate>, o: Lars) -> GradientTransformation {
    let ratio = scale_by_trust_ratio(0.0, o.trust_coefficient, o.eps);
    chain([
        add_decayed_weights(o.weight_decay, Some(o.weight_decay_mask)),
        masked(ratio, o.trust_ratio_mask),
        scale_by_learning_rate(rate),
        trace(o.momentum, o.nesterov),
    ])
}

/// [`scale_by_lion`] with decay of the weights that the mask selects.
pub fn lion(
    rate: impl Into<Rate>,
    b1: f64,
    b2: f64,
    weight_decay: impl Into<Rate>,
    mask: Option<Mask>,
) -> GradientTransformation {
    chain([
        scale_by_lion(b1, b2, None),
        add_decayed_weights(weight_decay, mask),
        scale_by_learning_rate(rate),
    ])
}

/// Descent by the signs of gradients.
pub fn sign_sgd(rate: impl Into<Rate>) -> GradientTransformation {
    chain([scale_by_sign(), scale_by_learning_rate(rate)])
}

/// What [`adafactor`] takes.
#[derive(Clone, Debug)]
pub struct Adafactor {
    /// The learning rate, if there is one.
    pub learning_rate: Option<Rate>,
    /// How second moments are kept.
    pub moments: Factored,
    /// Whether steps are as long as parameters say.
    pub multiply_by_parameter_scale: bool,
    /// The root of the mean of the squares of each step is at most that.
    pub clipping_threshold: Option<f64>,
    /// The decay of an average of steps, if there is one.
    pub momentum: Option<f64>,
    /// The element type of that average.
    pub dtype_momentum: DType,
    /// The part of the parameters that is taken from them.
    pub weight_decay_rate: Option<Rate>,
    /// Of which parameters that is taken: of all by default.
    pub weight_decay_mask: Option<Mask>,
}

impl Default for Adafactor {
    fn default() -> Self {
        Adafactor {
            learning_rate: None,
            moments: Factored::default(),
            multiply_by_parameter_scale: true,
            clipping_threshold: Some(1.0),
            momentum: None,
            dtype_momentum: DType::F32,
            weight_decay_rate: None,
            weight_decay_mask: None,
        }
    }
}

/// [`scale_by_factored_rms`] with clipped steps in the units of parameters (Shazeer and Stern, 2018).
///
/// ```
/// use jaxide_nnx::optim::{self, Adafactor};
/// let x = jaxide::Array::from([2.0f32, -2.0]);
/// let optimizer = optim::adafactor(Adafactor { learning_rate: Some(0.5.into()), ..Adafactor::default() });
/// assert_eq!(optimizer.update(&x, &optimizer.init(&x), &x).0.to_vec::<f32>(), [-1.0, 1.0]);
/// ```
pub fn adafactor(o: Adafactor) -> GradientTransformation {
    let decay = |rate| add_decayed_weights(rate, o.weight_decay_mask);
    let links = [
        Some(scale_by_factored_rms(o.moments)),
        o.clipping_threshold.map(clip_by_block_rms),
        o.learning_rate.map(scale_by_schedule),
        o.multiply_by_parameter_scale
            .then(|| scale_by_param_block_rms(1e-3)),
        o.momentum
            .map(|decay| ema_in(decay, false, o.dtype_momentum)),
        o.weight_decay_rate.map(decay),
        Some(scale(-1.0)),
    ];
    chain(links.into_iter().flatten())
}

/// [`scale_by_sm3`].
///
/// ```
/// use jaxide_nnx::optim;
/// let x = jaxide::Array::from([2.0f32, -2.0]);
/// let optimizer = optim::sm3(0.5, 0.0);
/// assert_eq!(optimizer.update(&x, &optimizer.init(&x), &x).0.to_vec::<f32>(), [-0.5, 0.5]);
/// ```
pub fn sm3(rate: impl Into<Rate>, momentum: f64) -> GradientTransformation {
    chain([
        scale_by_sm3(momentum, 1.0, 1e-8),
        scale_by_learning_rate(rate),
    ])
}

/// What [`lbfgs`] takes.
#[derive(Clone, Debug)]
pub struct Lbfgs {
    /// A factor of steps, before the line search.
    pub learning_rate: Rate,
    /// How many steps are remembered.
    pub memory_size: usize,
    /// Whether the approximation of the inverse of the Hessian begins as a scaled identity.
    pub scale_init_precond: bool,
    /// What finds the length of steps.
    pub linesearch: Option<GradientTransformation>,
}

impl Default for Lbfgs {
    fn default() -> Self {
        Lbfgs {
            learning_rate: Rate::Constant(1.0),
            memory_size: 10,
            scale_init_precond: true,
            linesearch: Some(scale_by_zoom_linesearch(ZoomLinesearch {
                initial_guess_strategy: InitialGuess::One,
                ..ZoomLinesearch::default()
            })),
        }
    }
}

/// [`scale_by_lbfgs`] with [`scale_by_zoom_linesearch`], to be updated with extra arguments:
/// [`update_with_extra_args`](GradientTransformation::update_with_extra_args) has an example.
pub fn lbfgs(o: Lbfgs) -> GradientTransformation {
    chain([
        scale_by_lbfgs(o.memory_size, o.scale_init_precond),
        scale_by_learning_rate(o.learning_rate),
        o.linesearch.unwrap_or_else(identity),
    ])
}
