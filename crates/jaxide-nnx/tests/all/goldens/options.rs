//! Optimisers with options, on parameters of many shapes.

use jaxide::Array;
use jaxide_nnx::Path;
use jaxide_nnx::optim::{
    self, Adafactor, Factored, GradientTransformation, Lbfgs, Mask, Moments, RmsProp,
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
                nesterov: false,
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
        other => panic!("{other} is no optimiser"),
    }
}
