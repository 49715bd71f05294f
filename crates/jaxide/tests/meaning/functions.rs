//! The functions of this crate by the names that cases have.

use jaxide::prelude::*;
use jaxide::{nn, numpy, random};

use super::case::{Case, Number};

/// Applies the function of a case.
pub(crate) fn call(case: &Case, arrays: &[Array]) -> Array {
    let operands = case.operands(arrays);
    let x = |position: usize| &operands[position];
    let axis = || case.integer("axis");
    let shape = |key: &str| -> Vec<usize> {
        let lengths = case.list(key).into_iter();
        lengths
            .map(|length| usize::try_from(length).unwrap())
            .collect()
    };
    macro_rules! table {
        (unary: $($one:ident)*; binary: $($two:ident)*; reductions: $($reduction:ident)*; along: $($along:ident)*;
         $($name:literal => $call:expr,)*) => {
            match case.function.as_str() {
                $(stringify!($one) => numpy::$one(x(0)),)*
                $(stringify!($two) => numpy::$two(x(0), x(1)),)*
                $(stringify!($reduction) => match axes(case) {
                    Axes::All => numpy::$reduction(x(0), ()),
                    Axes::One(axis) => numpy::$reduction(x(0), axis),
                    Axes::Two(axes) => numpy::$reduction(x(0), axes),
                },)*
                $(stringify!($along) => numpy::$along(x(0), axis()),)*
                $($name => $call,)*
                _ => sample(case, &operands),
            }
        };
    }
    table! {
        unary: negative bitwise_not sign square sin cos tan arcsin arccos arctan sinh cosh tanh arcsinh arccosh arctanh
            exp exp2 expm1 log log2 log1p sqrt cbrt floor ceil trunc rint isfinite isinf isnan abs logical_not
            reciprocal positive;
        binary: add subtract multiply divide arctan2 maximum minimum equal not_equal less less_equal greater
            greater_equal bitwise_and bitwise_or bitwise_xor left_shift right_shift remainder floor_divide power
            logical_and logical_or logical_xor fmod matmul dot;
        reductions: sum prod mean var std max min all any;
        along: argmax argmin cumsum cumprod sort argsort expand_dims;
        "where_" => numpy::where_(x(0), x(1), x(2)),
        "round" => numpy::round(x(0), ()),
        "clip" => numpy::clip(x(0), x(1), x(2)),
        "full_like" => numpy::full_like(x(0), x(1)),
        "broadcast_to" => numpy::broadcast_to(x(0), &shape("shape")),
        "reshape" => numpy::reshape(x(0), &case.list("shape")),
        "concatenate" => numpy::concatenate(&operands, axis()),
        "stack" => numpy::stack(&operands, axis()),
        "take" => numpy::take(x(0), x(1), axis()),
        "one_hot" => nn::one_hot(x(0), case.integer("num_classes") as usize, case.dtype()),
        "zeros" => numpy::zeros(&shape("shape"), case.dtype()),
        "ones" => numpy::ones(&shape("shape"), case.dtype()),
        "arange" => numpy::arange(case.integer("n") as usize, case.dtype()),
        "eye" => numpy::eye(case.integer("N") as usize, case.dtype()),
        "linspace" => numpy::linspace(case.float("start"), case.float("stop"), case.integer("num") as usize),
        "index" => match case.number(1) {
            Some(Number::Int(at)) => x(0).index(at),
            _ => x(0).index(x(1)),
        },
        "at_set" => x(0).at(x(1)).set(x(2)),
        "at_add" => x(0).at(x(1)).add(x(2)),
        "at_multiply" => x(0).at(x(1)).multiply(x(2)),
        "at_min" => x(0).at(x(1)).min(x(2)),
        "at_max" => x(0).at(x(1)).max(x(2)),
        "op_add" => x(0) + x(1),
        "op_sub" => x(0) - x(1),
        "op_mul" => x(0) * x(1),
        "op_div" => x(0) / x(1),
        "op_rem" => x(0) % x(1),
        "op_and" => x(0) & x(1),
        "op_or" => x(0) | x(1),
        "op_xor" => x(0) ^ x(1),
        "op_shl" => x(0) << x(1),
        "op_shr" => x(0) >> x(1),
        "op_neg" => -x(0),
        "op_not" => !x(0),
        "method_pow" => x(0).pow(x(1)),
        "powi" => x(0).powi(case.integer("n")),
        "astype" => x(0).astype(case.dtype()),
        "slice" => x(0).slice(case.integer("start") as usize..case.integer("stop") as usize),
        "sigmoid" => x(0).sigmoid(),
        "t" => x(0).t(),
    }
}

/// The seed of all samples.
const SEED: i32 = 7;

/// Random numbers of one key.
fn sample(case: &Case, operands: &[Array]) -> Array {
    let key = &random::key(SEED);
    let shape = || -> Vec<usize> {
        let lengths = case.list("shape").into_iter();
        lengths.map(|length| length as usize).collect()
    };
    macro_rules! table {
        (samplers: $($text:literal $sampler:ident)*; $($name:literal => $call:expr,)*) => {
            match case.function.as_str() {
                $($text => random::$sampler(key, &shape(), case.dtype()),)*
                $($name => $call,)*
                unknown => panic!("no function {unknown}"),
            }
        };
    }
    table! {
        samplers: "random_bits" bits "random_normal" normal "random_exponential" exponential "random_laplace" laplace
            "random_logistic" logistic "random_gumbel" gumbel "random_cauchy" cauchy "random_rademacher" rademacher;
        "random_uniform" => random::uniform(key, &shape(), case.dtype(), 0.0, 1.0),
        "random_randint" => random::randint(key, &shape(), &operands[0], &operands[1], case.dtype()),
        "random_bernoulli" => random::bernoulli(key, &operands[0], &shape()),
        "random_permutation" => random::permutation(key, case.integer("n"), ()),
        "random_permuted" => random::permutation(key, &operands[0], ()),
        "random_choice" => random::choice(key, &operands[0], &shape()),
        "random_categorical" => random::categorical(key, &operands[0], case.integer("axis")),
        "random_key" => random::key_data(&random::key(&operands[0])),
        "random_fold_in" => random::key_data(&random::fold_in(key, &operands[0])),
    }
}

/// Applies the method of arrays that a case is about, if there is one beside the function.
pub(crate) fn method(case: &Case, arrays: &[Array]) -> Option<Array> {
    let operands = case.operands(arrays);
    let x = operands.first()?;
    let other = || operands[1].clone();
    macro_rules! table {
        (unary: $($one:ident)*; binary: $($two:ident)*; $($name:literal $condition:expr => $call:expr,)*) => {
            match case.function.as_str() {
                $(stringify!($one) => x.$one(),)*
                $(stringify!($two) => x.$two(other()),)*
                $($name if $condition => $call,)*
                _ => return None,
            }
        };
    }
    let all = case.parameter("axis").is_none();
    Some(table! {
        unary: sin cos tan tanh exp expm1 log log1p sqrt abs sign square floor ceil;
        binary: equal not_equal maximum minimum matmul;
        "less" true => x.lt(other()),
        "less_equal" true => x.le(other()),
        "greater" true => x.gt(other()),
        "greater_equal" true => x.ge(other()),
        "power" true => x.pow(other()),
        "dot" true => x.dot(&other()),
        "sum" all => x.sum(),
        "sum" true => match axes(case) {
            Axes::Two(axes) => x.sum_axes(axes),
            Axes::One(axis) => x.sum_axes(axis),
            Axes::All => x.sum_axes(()),
        },
        "mean" all => x.mean(),
        "mean" true => match axes(case) {
            Axes::Two(axes) => x.mean_axes(axes),
            Axes::One(axis) => x.mean_axes(axis),
            Axes::All => x.mean_axes(()),
        },
        "max" all => x.max(),
        "min" all => x.min(),
        "all" all => x.all(),
        "any" all => x.any(),
        "reshape" true => x.reshape(&case.list("shape")),
        "broadcast_to" true => x.broadcast_to(
            &case.list("shape").iter().map(|&length| length as usize).collect::<Vec<_>>(),
        ),
    })
}

/// The axes of a reduction.
enum Axes {
    All,
    One(i32),
    Two([i32; 2]),
}

fn axes(case: &Case) -> Axes {
    if case.parameter("axis").is_none() {
        return Axes::All;
    }
    let axes = case.list("axis");
    let axes: Vec<i32> = axes.into_iter().map(|axis| axis as i32).collect();
    match axes[..] {
        [axis] => Axes::One(axis),
        [first, second] => Axes::Two([first, second]),
        _ => panic!("one axis or two: {axes:?}"),
    }
}
