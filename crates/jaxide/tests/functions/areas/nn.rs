//! Neural networks.

use jaxide::core::prims::DotDimensionNumbers;
use jaxide::nn::initializers::{self as init, Distribution, Fan};
use jaxide::nn::{self, Variance};
use jaxide::prelude::*;

use crate::Area;
use crate::case::Case;
use crate::compare::Tolerance;

pub(crate) const AREA: Area = Area {
    cases: include_str!("../cases/nn.txt"),
    call,
    tolerance,
    written_differently: &[
        (
            "nn.dot_product_attention local_window_size=",
            "equal constants are one here, and JAX keeps each",
        ),
        ("nn.softmax ; i16", SMALL),
        ("nn.softmax ; i8", SMALL),
        ("nn.log_softmax ; i16", SMALL),
        ("nn.log_softmax ; i8", SMALL),
    ],
    different: &[
        ("nn.hard_silu ; f32[19]", SUBNORMAL),
        ("nn.hard_swish ; f32[19]", SUBNORMAL),
        ("nn.log_sigmoid ; f32[19]", SUBNORMAL),
        ("nn.mish ; f32[19]", SUBNORMAL),
        ("nn.silu ; f32[19]", SUBNORMAL),
        ("nn.swish ; f32[19]", SUBNORMAL),
        ("nn.gelu ; f32[19]", SUBNORMAL),
        ("nn.gelu approximate=false ; f32[19]", SUBNORMAL),
        ("nn.log1mexp ; f32[4]", SUBNORMAL),
        (
            "nn.softmax ; u8",
            "JAX subtracts in 8 bits without sign, and divides infinities",
        ),
    ],
    text,
};

const SMALL: &str = "JAX subtracts in the bits of the elements, where differences need not fit";
const SUBNORMAL: &str = "JAX flushes subnormal numbers to zero";

fn call(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let name = case.function.strip_prefix("nn.")?;
    if let Some(name) = name.strip_prefix("initializers.") {
        return weights(case, name, &x[0]).map(|weights| vec![weights]);
    }
    if let Some(result) = activation(case, name, x) {
        return Some(vec![result]);
    }
    sums(case, name, x)
}

fn activation(case: &Case, name: &str, x: &[Array]) -> Option<Array> {
    macro_rules! table {
        ($($function:ident)*) => {
            match name {
                $(stringify!($function) => return Some(nn::$function(&x[0])),)*
                _ => {}
            }
        };
    }
    table! {
        hard_sigmoid hard_silu hard_swish hard_tanh identity log1mexp log_sigmoid mish relu relu6 selu sigmoid silu soft_sign softplus
        sparse_plus sparse_sigmoid swish tanh
    }
    macro_rules! with_parameter {
        ($($function:ident)*) => {
            match (name, x.get(1)) {
                $(
                    (stringify!($function), None) => return Some(nn::$function(&x[0], ())),
                    (stringify!($function), Some(y)) => return Some(nn::$function(&x[0], y)),
                )*
                _ => {}
            }
        };
    }
    with_parameter!(celu elu leaky_relu squareplus);
    Some(match name {
        "gelu" => nn::gelu(&x[0], case.flag("approximate").unwrap_or(true)),
        "glu" => nn::glu(&x[0], case.integer("axis").unwrap_or(-1)),
        "one_hot" => {
            let options = nn::OneHot::new().axis(case.integer("axis").unwrap_or(-1));
            let options = options.dtype(case.dtype().unwrap_or(DType::F32));
            nn::one_hot(
                &x[0],
                case.integer("num_classes").unwrap() as usize,
                options,
            )
        }
        "scaled_dot_general" => {
            let numbers = DotDimensionNumbers {
                lhs_contracting: [1].into_iter().collect(),
                rhs_contracting: [0].into_iter().collect(),
                ..Default::default()
            };
            nn::scaled_dot_general(&x[0], &x[1], numbers, DType::F32)
        }
        _ => return None,
    })
}

/// The optional arrays, which stand behind `first` others.
fn named<'a>(case: &Case, x: &'a [Array], first: usize, name: &str) -> Option<&'a Array> {
    let names = case.parameter("names")?.split(',');
    let place = names.into_iter().position(|own| own == name)?;
    Some(&x[first + place])
}

fn sums(case: &Case, name: &str, x: &[Array]) -> Option<Vec<Array>> {
    let axis = case.list("axis");
    let where_ = named(case, x, 1, "where");
    macro_rules! options {
        ($options:expr) => {{
            let mut options = $options;
            if let Some(axis) = axis {
                options = options.axis(axis);
            }
            if let Some(where_) = where_ {
                options = options.where_(where_);
            }
            options
        }};
    }
    let keepdims = case.flag("keepdims").unwrap_or(false);
    let one = |array: Array| Some(vec![array]);
    match name {
        "softmax" => one(nn::softmax(&x[0], options!(nn::Softmax::new()))),
        "log_softmax" => one(nn::log_softmax(&x[0], options!(nn::Softmax::new()))),
        "logmeanexp" => {
            let options = options!(nn::LogMeanExp::new()).keepdims(keepdims);
            one(nn::logmeanexp(&x[0], options))
        }
        "logsumexp" => {
            let mut options = options!(nn::LogSumExp::new()).keepdims(keepdims);
            if let Some(b) = named(case, x, 1, "b") {
                options = options.b(b);
            }
            if case.flag("return_sign") == Some(true) {
                let (log, sign) = nn::logsumexp_with_sign(&x[0], options);
                return Some(vec![log, sign]);
            }
            one(nn::logsumexp(&x[0], options))
        }
        "standardize" => {
            let mut options = options!(nn::Standardize::new());
            if let Some(mean) = named(case, x, 1, "mean") {
                options = options.mean(mean);
            }
            if let Some(variance) = named(case, x, 1, "variance") {
                options = options.variance(variance);
            }
            if case.parameter("algorithm") == Some("stable") {
                options = options.algorithm(Variance::Stable);
            }
            if let Some(epsilon) = case.float("epsilon") {
                options = options.epsilon(epsilon);
            }
            one(nn::standardize(&x[0], options))
        }
        "dot_product_attention" => attention(case, x),
        _ => None,
    }
}

fn attention(case: &Case, x: &[Array]) -> Option<Vec<Array>> {
    let mut options = nn::Attention::new()
        .scale(case.float("scale"))
        .is_causal(case.flag("is_causal").unwrap_or(false));
    let array = |name: &str| named(case, x, 3, name);
    if let Some(bias) = array("bias") {
        options = options.bias(bias);
    }
    if let Some(mask) = array("mask") {
        options = options.mask(mask);
    }
    if let Some(lengths) = array("query_seq_lengths") {
        options = options.query_seq_lengths(lengths);
    }
    if let Some(lengths) = array("key_value_seq_lengths") {
        options = options.key_value_seq_lengths(lengths);
    }
    options = match case.list("local_window_size").as_deref() {
        Some([both]) => options.local_window_size(*both as usize),
        Some([before, behind]) => options.local_window_size((*before as usize, *behind as usize)),
        _ => options,
    };
    if case.flag("return_residual") == Some(true) {
        let (out, sums) = nn::dot_product_attention_with_residual(&x[0], &x[1], &x[2], options);
        return Some(vec![out, sums]);
    }
    Some(vec![nn::dot_product_attention(
        &x[0], &x[1], &x[2], options,
    )])
}

fn weights(case: &Case, name: &str, key: &Array) -> Option<Array> {
    let shape = case.list("shape").unwrap_or_default();
    let shape: Vec<usize> = shape.into_iter().map(|length| length as usize).collect();
    let shape = &shape[..];
    let dtype = case.dtype().unwrap_or(DType::F32);
    let mut fans = init::Fans::new();
    if let Some(axis) = case.list("in_axis") {
        fans = fans.in_axis(axis);
    }
    if let Some(axis) = case.list("out_axis") {
        fans = fans.out_axis(axis);
    }
    if let Some(axis) = case.list("batch_axis") {
        fans = fans.batch_axis(axis);
    }
    macro_rules! scalings {
        ($($function:ident)*) => {
            match name {
                $(stringify!($function) => return Some(init::$function(fans)(key, shape, dtype)),)*
                _ => {}
            }
        };
    }
    scalings! {
        glorot_normal glorot_uniform he_normal he_uniform kaiming_normal kaiming_uniform lecun_normal lecun_uniform xavier_normal
        xavier_uniform
    }
    let scale = case.float("scale");
    let orthogonal = || {
        let options = init::Orthogonal::new().scale(scale.unwrap_or(1.0));
        options.column_axis(case.integer("column_axis").unwrap_or(-1))
    };
    let deviation = case.float("stddev").unwrap_or(0.01);
    Some(match name {
        "zeros" => init::zeros(key, shape, dtype),
        "ones" => init::ones(key, shape, dtype),
        "constant" => init::constant(case.float("value").unwrap())(key, shape, dtype),
        "uniform" => init::uniform(scale.unwrap_or(0.01))(key, shape, dtype),
        "normal" => init::normal(deviation)(key, shape, dtype),
        "truncated_normal" => {
            let options = init::TruncatedNormal::new().stddev(deviation);
            let options = options.lower(case.float("lower").unwrap_or(-2.0));
            let options = options.upper(case.float("upper").unwrap_or(2.0));
            init::truncated_normal(options)(key, shape, dtype)
        }
        "variance_scaling" => {
            let fan = match case.parameter("fan").unwrap() {
                "fan_in" => Fan::In,
                "fan_out" => Fan::Out,
                "fan_avg" => Fan::Avg,
                _ => Fan::GeoAvg,
            };
            let distribution = match case.parameter("distribution").unwrap() {
                "truncated_normal" => Distribution::TruncatedNormal,
                "normal" => Distribution::Normal,
                _ => Distribution::Uniform,
            };
            init::variance_scaling(scale.unwrap(), fan, distribution, ())(key, shape, dtype)
        }
        "orthogonal" => init::orthogonal(orthogonal())(key, shape, dtype),
        "delta_orthogonal" => init::delta_orthogonal(orthogonal())(key, shape, dtype),
        _ => return None,
    })
}

/// Activations are as exact as the functions that they are made of, and sums as sums are.
fn tolerance(case: &Case) -> Tolerance {
    match case.function.strip_prefix("nn.").unwrap_or_default() {
        "identity"
        | "relu"
        | "relu6"
        | "one_hot"
        | "hard_tanh"
        | "initializers.zeros"
        | "initializers.ones"
        | "initializers.constant" => Tolerance::EXACT,
        // The softmax is one of `f32`.
        "dot_product_attention" if case.text.contains("f64") => {
            Tolerance::of_largest(4.0 * 2.0_f64.powi(29))
        }
        "softmax"
        | "log_softmax"
        | "logsumexp"
        | "standardize"
        | "dot_product_attention"
        | "scaled_dot_general" => Tolerance::of_largest(4.0),
        // As `random.orthogonal`.
        name if name.contains("orthogonal") => Tolerance::of_largest(2.75),
        name if name.starts_with("initializers.") && name.contains("uniform") => {
            Tolerance::ulps(1.0)
        }
        // Normal samples between bounds: JAX's `erf` and `erf_inv` are up to 4.6 and 48 units of the last place from their values.
        name if name.starts_with("initializers.")
            && (name.ends_with("_normal")
                || case.parameter("distribution") == Some("truncated_normal")) =>
        {
            Tolerance::ulps(4.25)
        }
        // Of numbers that are 0 or 1 the logarithm of a sum between 2 and 4 is diminished by a logarithm that is nearly as large:
        // one of its units is eight of the difference, and the interpreter and XLA round it to neighbours.
        "logmeanexp" if case.text.contains("; bool") => Tolerance::of_largest(8.0),
        "logmeanexp" => Tolerance::of_largest(4.0),
        name if name.starts_with("initializers.") && name.contains("uniform") => {
            Tolerance::ulps(1.0)
        }
        // Normal samples between bounds: JAX's `erf` and `erf_inv` are up to 4.6 and 48 units of the last place from their values.
        name if name.starts_with("initializers.")
            && (name.ends_with("_normal")
                || case.parameter("distribution") == Some("truncated_normal")) =>
        {
            Tolerance::ulps(4.25)
        }
        name if name.starts_with("initializers.") => Tolerance::ulps(2.0),
        _ => Tolerance::ulps(4.0),
    }
}

fn text(_: &str, _: &[Array]) -> Option<Vec<Array>> {
    None
}
