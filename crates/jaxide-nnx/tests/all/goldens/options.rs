//! Optimisers with options, on parameters of many shapes.

use jaxide::{Array, DType};
use jaxide_nnx::Path;
use jaxide_nnx::optim::{
    self, Adafactor, Factored, GradientTransformation, Lars, Lbfgs, Mask, Moments, MultiSteps,
    Rate, RmsProp, Skip, schedules,
};

fn matrices() -> Option<Mask> {
    Some((|path: &Path, _: &Array| ["k", "q"].contains(&path.to_string().as_str())).into())
}

fn then_sgd(first: GradientTransformation) -> GradientTransformation {
    optim::chain([first, optim::sgd(0.1)])
}

fn rmsprop(decay: f64, eps: f64, centered: bool, momentum: Option<f64>) -> GradientTransformation {
    let options = RmsProp {
        decay,
        eps,
        centered,
        momentum,
        ..RmsProp::default()
    };
    optim::rmsprop(0.01, options)
}

/// Second moments by rows and columns from this length on.
fn from(length: usize) -> Factored {
    Factored {
        min_dim_size_to_factor: length,
        ..Factored::default()
    }
}

fn adafactor(rate: Option<f64>, moments: Factored) -> Adafactor {
    Adafactor {
        learning_rate: rate.map(Into::into),
        moments,
        ..Adafactor::default()
    }
}

fn lbfgs(rate: f64, memory_size: usize, scale_init_precond: bool) -> GradientTransformation {
    optim::lbfgs(Lbfgs {
        learning_rate: rate.into(),
        memory_size,
        scale_init_precond,
        linesearch: None,
    })
}

/// A case of `OPTIONS` of the recorder.
pub(super) fn of(name: &str) -> GradientTransformation {
    match name {
        "sgd" => optim::sgd(0.1),
        "momentum" => optim::momentum(0.1, 0.8, false),
        "nesterov" => optim::momentum(0.1, 0.8, true),
        "adam" => optim::adam_with(
            0.05,
            Moments {
                b1: 0.8,
                b2: 0.99,
                eps: 1e-6,
                eps_root: 1e-4,
                ..Moments::default()
            },
        ),
        "adam_nesterov" | "nadam" => optim::nadam(0.05),
        "adamw" => optim::adamw(0.05, 0.1, matrices()),
        "adamax" => optim::adamax(0.05),
        "amsgrad" => optim::amsgrad(0.05),
        "rmsprop" => rmsprop(0.8, 1e-4, false, None),
        "rmsprop_centered" => rmsprop(0.9, 1e-8, true, None),
        "rmsprop_momentum" => rmsprop(0.9, 1e-8, false, Some(0.8)),
        "adagrad" => optim::adagrad(0.3, 0.2, 1e-5),
        "adadelta" => optim::adadelta(1.0, 0.8, 1e-4),
        "lamb" => optim::lamb(0.05, 0.1, matrices()),
        "lars" => optim::lars(0.5, 0.1, 0.8, None),
        "lion" => optim::lion(0.05, 0.8, 0.95, 0.1, matrices()),
        "adafactor" => optim::adafactor(adafactor(Some(0.1), from(2))),
        "adafactor_whole" => optim::adafactor(Adafactor {
            clipping_threshold: None,
            ..adafactor(
                Some(0.1),
                Factored {
                    factored: false,
                    decay_rate: 0.7,
                    ..Factored::default()
                },
            )
        }),
        "adafactor_momentum" => optim::adafactor(Adafactor {
            momentum: Some(0.9),
            weight_decay_rate: Some(0.01.into()),
            multiply_by_parameter_scale: false,
            ..adafactor(Some(0.1), from(3))
        }),
        "adafactor_no_rate" => optim::adafactor(Adafactor {
            weight_decay_rate: Some(0.01.into()),
            weight_decay_mask: matrices(),
            ..adafactor(None, from(2))
        }),
        "clip_by_block_rms" => then_sgd(optim::clip_by_block_rms(0.5)),
        "adaptive_grad_clip" => then_sgd(optim::adaptive_grad_clip(0.3, 1e-3)),
        "clip" => then_sgd(optim::clip(0.3)),
        "clip_by_global_norm" => then_sgd(optim::clip_by_global_norm(0.7)),
        "multi_steps" => optim::multi_steps(optim::lion(0.05, 0.9, 0.99, 1e-3, None), 4),
        "ema_not_debiased" => then_sgd(optim::ema(0.7, false)),
        "lbfgs_without_search" => lbfgs(0.1, 3, true),
        "lbfgs_unscaled" => lbfgs(0.05, 12, false),
        "sm3" => optim::sm3(0.1, 0.9),
        "sm3_momentum" => optim::sm3(0.1, 0.5),
        other => further(other),
    }
}

/// Options that are seldom stated.
fn further(name: &str) -> GradientTransformation {
    let moments = Moments {
        b1: 0.8,
        b2: 0.95,
        eps: 1e-3,
        eps_root: 1e-4,
        ..Moments::default()
    };
    let half = Moments {
        mu_dtype: Some(DType::BF16),
        ..moments
    };
    let ahead = Moments {
        nesterov: true,
        ..moments
    };
    let unbiased = |centered| RmsProp {
        decay: 0.8,
        eps: 1e-3,
        centered,
        momentum: Some(0.8),
        nesterov: true,
        bias_correction: true,
        ..RmsProp::default()
    };
    let steps = |options: MultiSteps| optim::multi_steps(optim::adam(0.05), options);
    match name {
        "adam_mu" => optim::adam_with(0.05, half),
        "adamw_mu" => optim::adamw_with(0.05, half, 0.1, matrices()),
        "nadamw_with" => optim::adamw_with(0.05, ahead, 0.1, None),
        "adamax_with" => optim::adamax_with(0.05, moments),
        "adamaxw" => optim::adamaxw(0.05, moments, 0.1, matrices()),
        "amsgrad_with" => optim::amsgrad_with(0.05, half),
        "radam_with" => optim::radam_with(0.05, ahead, 3.0),
        "lamb_with" => optim::lamb_with(0.05, moments, 0.1, None),
        "lars_with" => optim::lars_with(
            0.5,
            Lars {
                weight_decay: schedules::linear(0.1, 0.0, 5),
                weight_decay_mask: matrices().expect("a mask"),
                trust_coefficient: 0.1,
                eps: 0.01,
                trust_ratio_mask: (|path: &Path, _: &Array| path.to_string() != "v").into(),
                momentum: 0.7,
                nesterov: true,
            },
        ),
        "lion_mu" => optim::chain([
            optim::scale_by_lion(0.9, 0.99, DType::BF16),
            optim::add_decayed_weights(0.01, None),
            optim::scale_by_learning_rate(0.05),
        ]),
        "momentum_half" => optim::chain([
            optim::trace_in(0.8, true, DType::BF16),
            optim::scale_by_learning_rate(0.1),
        ]),
        "ema_half" => then_sgd(optim::ema_in(0.7, true, DType::BF16)),
        "adafactor_half" => optim::adafactor(Adafactor {
            momentum: Some(0.9),
            dtype_momentum: DType::BF16,
            ..adafactor(Some(0.1), from(2))
        }),
        "adadelta_decay" => optim::chain([
            optim::add_decayed_weights(0.1, matrices()),
            optim::adadelta(1.0, 0.9, 1e-6),
        ]),
        "rmsprop_unbiased" => optim::rmsprop(0.01, unbiased(false)),
        "rmsprop_centered_unbiased" => optim::rmsprop(0.01, unbiased(true)),
        "adaptive_grad_clip_along" => then_sgd(optim::adaptive_grad_clip_along(0.3, 1e-2, [-1])),
        "multi_steps_sum" => steps(MultiSteps {
            use_grad_mean: false,
            ..MultiSteps::from(3)
        }),
        "multi_steps_schedule" => steps(MultiSteps {
            every_k_schedule: Rate::schedule(|step| step + 1),
            ..MultiSteps::default()
        }),
        "multi_steps_skip" => steps(MultiSteps {
            should_skip_update_fn: Some(Skip::large_updates(10.0)),
            ..MultiSteps::from(2)
        }),
        other => panic!("{other} is no optimiser"),
    }
}
