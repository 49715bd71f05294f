//! The reference interpreter: the executable meaning of every primitive, plain and obviously right.
//!
//! [`eval`] runs a jaxpr on arrays, [`eval_eqn`] a single primitive. [`meaning`] is the one place that says what
//! each primitive does: an exhaustive match that calls the functions of its family, by way of the helpers of `signature`,
//! which count operands and results. The interpreter is given it, so that families may use the interpreter. The semantics are those of JAX on
//! CPU: integers wrap, division by zero gives -1, shifts by the width or more give 0, conversions saturate, windows
//! out of bounds are clamped or dropped, NaN propagates through `max` and sorts last. Two rules hold throughout:
//!
//! * **Wide inside, rounded once.** Floats are computed in `f64` and rounded to their dtype at the end of each
//!   primitive, sums and products of many elements included.
//! * **Subnormals are kept.** XLA's CPU backend flushes them to zero in most compiled kernels; IEEE 754 does not.
//!
//! Mistakes are errors that name the primitive; nothing here panics on arrays of the wrong type.

mod collective;
mod combiner;
mod control;
mod element;
mod elementwise;
mod indexing;
mod interpreter;
mod linalg;
pub mod numerics;
mod random;
mod reduction;
mod shape;
mod signature;
mod state;
mod strides;
mod window;

pub use control::{formatted, print};

use elementwise::Comparison;
use indexing::Combine;
use interpreter::{Interpreter, Meaning, Values, tensors, values};
use numerics::{complex, elementary, special as functions};
use reduction::Cumulation;
use signature::{
    all, analytic, binary, call, compare, compare_total, cumulate, first_and_rest, one, operands,
    run, scatter, several, special, special2, ternary, unary, unary_several, unchanged, variadic,
};

use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::jaxpr::ClosedJaxpr;
use crate::prims::Prim;
use crate::tensor::Tensor;

/// The results of a jaxpr on `args`, one array per argument.
///
/// # Errors
/// When arguments or constants do not have the types that the jaxpr says, an array is too large to hold, or the
/// program calls what only its host has (`pure_callback`). The message names the primitive.
pub fn eval(jaxpr: &ClosedJaxpr, args: &[Tensor]) -> Result<Vec<Tensor>> {
    let results = Interpreter::new(meaning).call(jaxpr, values(args.iter().cloned()))?;
    tensors(results)
}

/// As [`eval`], until `cancel` ends the run before an equation.
///
/// # Errors
/// As [`eval`], and of kind [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) when it was ended; the error names the equation.
pub fn eval_with(jaxpr: &ClosedJaxpr, args: &[Tensor], cancel: &Cancel) -> Result<Vec<Tensor>> {
    let mut interpreter = Interpreter::new(meaning).cancelled_by(cancel);
    tensors(interpreter.call(jaxpr, values(args.iter().cloned()))?)
}

/// As [`eval`], ending with an error at the first equation, in a jaxpr inside of another too, that gives an array which
/// `check` refuses.
///
/// # Errors
/// As [`eval`], and the first error of `check`, which then names the primitive and the place of its equation.
///
/// ```
/// use jaxide_core::{Error, Tensor, eval, parse};
/// let jaxpr = parse("{ lambda ; a:i32[]. let b:i32[] = neg a; c:i32[] = neg b in (c,) }").unwrap();
/// let positive = |x: &Tensor| match x.item::<i32>()? {
///     x if x < 0 => Err(Error::parameter(format!("{x} is negative"))),
///     _ => Ok(()),
/// };
/// let error = eval::eval_checked(&jaxpr, &[Tensor::scalar(3)], positive).unwrap_err();
/// assert!(error.to_string().starts_with("neg: -3 is negative"));
/// # Ok::<(), Error>(())
/// ```
pub fn eval_checked(
    jaxpr: &ClosedJaxpr,
    args: &[Tensor],
    check: fn(&Tensor) -> Result<()>,
) -> Result<Vec<Tensor>> {
    let mut interpreter = Interpreter::new(meaning).checking(check);
    tensors(interpreter.call(jaxpr, values(args.iter().cloned()))?)
}

/// The results of one primitive on concrete operands.
///
/// # Errors
/// As [`eval`]; primitives on references have no meaning alone.
///
/// ```
/// use jaxide_core::{Tensor, eval, prims::Add};
/// let x = Tensor::from_vec(&[2], vec![1i8, 127])?;
/// let sum = eval::eval_eqn(&Add.into(), &[x.clone(), x])?;
/// assert_eq!(sum[0].to_vec::<i8>()?, [2, -2]);
/// # Ok::<(), jaxide_core::Error>(())
/// ```
pub fn eval_eqn(prim: &Prim, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    apply(Interpreter::new(meaning), prim, inputs)
}

/// As [`eval_eqn`], until `cancel` ends the run before an equation of a jaxpr in the primitive.
///
/// # Errors
/// As [`eval_eqn`], and of kind [`ErrorKind::Cancelled`](crate::ErrorKind::Cancelled) when it was ended.
pub fn eval_eqn_with(prim: &Prim, inputs: &[Tensor], cancel: &Cancel) -> Result<Vec<Tensor>> {
    apply(Interpreter::new(meaning).cancelled_by(cancel), prim, inputs)
}

fn apply(mut interpreter: Interpreter, prim: &Prim, inputs: &[Tensor]) -> Result<Vec<Tensor>> {
    let results = interpreter
        .apply(prim, values(inputs.iter().cloned()))
        .map_err(|error| error.in_operation(prim.name()))?;
    tensors(results)
}

/// How the windows slide that a primitive's parameters describe.
macro_rules! slides {
    ($params:expr) => {
        window::slides(
            &$params.window_dimensions,
            &$params.window_strides,
            &$params.padding,
            &$params.base_dilation,
            &$params.window_dilation,
        )?
    };
}

/// The meaning of every primitive.
fn meaning(prim: &Prim, inputs: Values) -> Result<Meaning<'_>> {
    use Prim as P;
    match prim {
        P::Neg(_) => unary(inputs, elementwise::neg),
        P::Sign(_) => unary(inputs, elementwise::sign),
        P::Abs(_) => unary(inputs, elementwise::abs),
        P::Floor(_) => special(inputs, elementary::floor),
        P::Ceil(_) => special(inputs, elementary::ceil),
        P::IsFinite(_) => unary(inputs, elementwise::is_finite),
        P::Exp(_) => analytic(inputs, elementary::exp, complex::exp),
        P::Exp2(_) => analytic(inputs, elementary::exp2, complex::exp2),
        P::Expm1(_) => analytic(inputs, elementary::expm1, complex::expm1),
        P::Log(_) => analytic(inputs, elementary::log, complex::log),
        P::Log2(_) => analytic(inputs, elementary::log2, complex::log2),
        P::Log1p(_) => analytic(inputs, elementary::log1p, complex::log1p),
        P::Sqrt(_) => analytic(inputs, elementary::sqrt, complex::sqrt),
        P::Rsqrt(_) => analytic(inputs, elementary::rsqrt, complex::rsqrt),
        P::Cbrt(_) => analytic(inputs, elementary::cbrt, |z| {
            complex::pow(z, (1.0 / 3.0).into())
        }),
        P::Sin(_) => analytic(inputs, elementary::sin, complex::sin),
        P::Cos(_) => analytic(inputs, elementary::cos, complex::cos),
        P::Tan(_) => analytic(inputs, elementary::tan, complex::tan),
        P::Asin(_) => analytic(inputs, elementary::asin, complex::asin),
        P::Acos(_) => analytic(inputs, elementary::acos, complex::acos),
        P::Atan(_) => analytic(inputs, elementary::atan, complex::atan),
        P::Sinh(_) => analytic(inputs, elementary::sinh, complex::sinh),
        P::Cosh(_) => analytic(inputs, elementary::cosh, complex::cosh),
        P::Tanh(_) => analytic(inputs, elementary::tanh, complex::tanh),
        P::Asinh(_) => analytic(inputs, elementary::asinh, complex::asinh),
        P::Acosh(_) => analytic(inputs, elementary::acosh, complex::acosh),
        P::Atanh(_) => analytic(inputs, elementary::atanh, complex::atanh),
        P::Logistic(_) => analytic(inputs, elementary::logistic, complex::logistic),
        P::Square(_) => unary(inputs, elementwise::square),
        P::OneMinusSquare(_) => unary(inputs, elementwise::one_minus_square),
        P::Erf(_) => special(inputs, elementary::erf),
        P::Erfc(_) => special(inputs, elementary::erfc),
        P::ErfInv(_) => special(inputs, elementary::erf_inv),
        P::Lgamma(_) => special(inputs, functions::lgamma),
        P::Digamma(_) => special(inputs, functions::digamma),
        P::BesselI0e(_) => special(inputs, functions::bessel_i0e),
        P::BesselI1e(_) => special(inputs, functions::bessel_i1e),
        P::Real(_) => unary(inputs, elementwise::real_part),
        P::Imag(_) => unary(inputs, elementwise::imaginary_part),
        P::Not(_) => unary(inputs, elementwise::not),
        P::PopulationCount(_) => unary(inputs, elementwise::population_count),
        P::Clz(_) => unary(inputs, elementwise::clz),
        P::Conj(_) => unary(inputs, elementwise::conj),
        P::IntegerPow(p) => unary(inputs, |x| elementwise::integer_pow(x, p.y)),
        P::Round(p) => unary(inputs, |x| elementwise::round(x, p.rounding_method)),
        P::ReducePrecision(p) => unary(inputs, |x| {
            elementwise::reduce_precision(x, p.exponent_bits, p.mantissa_bits)
        }),
        P::Add(_) | P::AddAny(_) => binary(inputs, elementwise::add),
        P::Sub(_) => binary(inputs, elementwise::sub),
        P::Mul(p) => binary(inputs, |x, y| elementwise::mul(x, y, p.out_dtype)),
        P::Mulhi(_) => binary(inputs, elementwise::mulhi),
        P::Div(_) => binary(inputs, elementwise::div),
        P::Rem(_) => binary(inputs, elementwise::rem),
        P::Max(_) => binary(inputs, elementwise::max),
        P::Min(_) => binary(inputs, elementwise::min),
        P::Pow(_) => binary(inputs, elementwise::pow),
        P::Atan2(_) => binary(inputs, elementwise::atan2),
        P::NextAfter(_) => binary(inputs, elementwise::nextafter),
        P::Complex(_) => binary(inputs, elementwise::make_complex),
        P::And(_) => binary(inputs, elementwise::and),
        P::Or(_) => binary(inputs, elementwise::or),
        P::Xor(_) => binary(inputs, elementwise::xor),
        P::ShiftLeft(_) => binary(inputs, elementwise::shift_left),
        P::ShiftRightArithmetic(_) => binary(inputs, elementwise::shift_right_arithmetic),
        P::ShiftRightLogical(_) => binary(inputs, elementwise::shift_right_logical),
        P::Equal(_) => compare(inputs, Comparison::Equal),
        P::NotEqual(_) => compare(inputs, Comparison::NotEqual),
        P::Less(_) => compare(inputs, Comparison::Less),
        P::LessEqual(_) => compare(inputs, Comparison::LessEqual),
        P::Greater(_) => compare(inputs, Comparison::Greater),
        P::GreaterEqual(_) => compare(inputs, Comparison::GreaterEqual),
        P::EqualTotal(_) => compare_total(inputs, Comparison::Equal),
        P::LessTotal(_) => compare_total(inputs, Comparison::Less),
        P::LessEqualTotal(_) => compare_total(inputs, Comparison::LessEqual),
        P::Igamma(_) => special2(inputs, functions::igamma),
        P::Igammac(_) => special2(inputs, functions::igammac),
        P::IgammaGradA(_) => binary(inputs, elementwise::igamma_grad_a),
        P::Polygamma(_) => binary(inputs, elementwise::polygamma),
        P::Zeta(_) => special2(inputs, functions::zeta),
        P::RegularizedIncompleteBeta(_) => ternary(inputs, |a, b, x| {
            elementwise::special3(a, b, x, functions::regularized_incomplete_beta)
        }),
        P::Clamp(_) => ternary(inputs, elementwise::clamp),
        P::SelectN(_) => variadic(inputs, elementwise::select_n),
        P::Polynomial(_) => variadic(inputs, elementwise::polynomial),
        P::ConvertElementType(p) => unary(inputs, |x| {
            elementwise::convert_element_type(x, p.new_dtype)
        }),
        P::BitcastConvertType(p) => unary(inputs, |x| {
            elementwise::bitcast_convert_type(x, p.new_dtype)
        }),
        P::StopGradient(_)
        | P::CopyArray(_)
        | P::CopyP(_)
        | P::PlaceName(_)
        | P::Reshard(_)
        | P::XlaMetadataValue(_)
        | P::ShardingConstraint(_)
        | P::RandomClone(_) => unary(inputs, |x| Ok(x.clone())),

        P::Iota(p) => one(shape::iota(p.dtype, &p.shape, p.dimension)),
        P::Empty(p) => one(shape::empty(&p.shape, p.dtype)),
        P::EmptyArray(p) => one(shape::empty(&p.shape, p.dtype)),
        P::BroadcastInDim(p) => unary(inputs, |x| {
            shape::broadcast_in_dim(x, &p.shape, &p.broadcast_dimensions)
        }),
        P::BroadcastTo(p) => unary(inputs, |x| {
            let p = p.in_dim(x.shape().len())?;
            shape::broadcast_in_dim(x, &p.shape, &p.broadcast_dimensions)
        }),
        P::Reshape(p) => unary(inputs, |x| {
            shape::reshape(x, &p.new_sizes, p.dimensions.as_ref())
        }),
        P::Transpose(p) => unary(inputs, |x| shape::transpose(x, &p.permutation)),
        P::Squeeze(p) => unary(inputs, |x| shape::squeeze(x, &p.dimensions)),
        P::Slice(p) => unary(inputs, |x| {
            shape::slice(x, &p.start_indices, &p.limit_indices, p.strides.as_ref())
        }),
        P::Pad(p) => binary(inputs, |x, value| shape::pad(x, value, &p.padding_config)),
        P::Rev(p) => unary(inputs, |x| shape::rev(x, &p.dimensions)),
        P::Concatenate(p) => all(inputs, |parts| shape::concatenate(&parts, p.dimension)),
        P::Split(p) => unary_several(inputs, |x| shape::split(x, p.axis, &p.sizes)),
        P::Stack(p) => all(inputs, |parts| shape::stack(&parts, p.axis)),
        P::Unstack(p) => unary_several(inputs, |x| shape::unstack(x, p.axis)),
        P::Tile(p) => unary(inputs, |x| shape::tile(x, &p.reps)),

        P::DynamicSlice(p) => variadic(inputs, |x, starts| {
            indexing::dynamic_slice(x, starts, &p.slice_sizes)
        }),
        P::DynamicUpdateSlice(_) => all(inputs, indexing::dynamic_update_slice),
        P::Gather(p) => binary(inputs, |x, indices| indexing::gather(x, indices, p)),
        P::ScatterAdd(p) => scatter(inputs, &p.dimension_numbers, p.mode, Combine::Add),
        P::ScatterSub(p) => scatter(inputs, &p.dimension_numbers, p.mode, Combine::Subtract),
        P::ScatterMul(p) => scatter(inputs, &p.dimension_numbers, p.mode, Combine::Multiply),
        P::ScatterMin(p) => scatter(inputs, &p.dimension_numbers, p.mode, Combine::Min),
        P::ScatterMax(p) => scatter(inputs, &p.dimension_numbers, p.mode, Combine::Max),
        P::Scatter(p) => match &p.update_jaxpr.0 {
            None => scatter(inputs, &p.dimension_numbers, p.mode, Combine::Replace),
            Some(combine) => run(move |it| control::scatter(it, p, combine, inputs)),
        },

        P::ReduceSum(p) => unary(inputs, |x| reduction::sum(x, &p.axes)),
        P::ReduceMax(p) => unary(inputs, |x| reduction::maximum(x, &p.axes)),
        P::ReduceMin(p) => unary(inputs, |x| reduction::minimum(x, &p.axes)),
        P::ReduceProd(p) => unary(inputs, |x| reduction::product(x, &p.axes)),
        P::ReduceAnd(p) => unary(inputs, |x| reduction::all(x, &p.axes)),
        P::ReduceOr(p) => unary(inputs, |x| reduction::any(x, &p.axes)),
        P::ReduceXor(p) => unary(inputs, |x| reduction::parity(x, &p.axes)),
        P::Argmax(p) => unary(inputs, |x| reduction::argmax(x, &p.axes, p.index_dtype)),
        P::Argmin(p) => unary(inputs, |x| reduction::argmin(x, &p.axes, p.index_dtype)),
        P::Cumsum(p) => cumulate(inputs, Cumulation::Sum, p.axis, p.reverse),
        P::Cumprod(p) => cumulate(inputs, Cumulation::Product, p.axis, p.reverse),
        P::Cummax(p) => cumulate(inputs, Cumulation::Max, p.axis, p.reverse),
        P::Cummin(p) => cumulate(inputs, Cumulation::Min, p.axis, p.reverse),
        P::Cumlogsumexp(p) => cumulate(inputs, Cumulation::LogSumExp, p.axis, p.reverse),
        P::Sort(p) => several(
            tensors(inputs).and_then(|inputs| reduction::sort(&inputs, p.dimension, p.num_keys)),
        ),
        P::TopK(p) => unary_several(inputs, |x| reduction::top_k(x, p.axis, p.k)),
        P::ApproxTopK(p) => unary_several(inputs, |x| {
            reduction::approx_top_k(x, p.reduction_dimension, p.k, p.is_max_k)
        }),
        P::Nonzero(p) => first_and_rest(inputs).and_then(|(x, fill)| {
            several(reduction::nonzero(&x, &fill, p.size, &p.axes, p.out_dtype))
        }),
        P::SearchSorted(p) => binary(inputs, |sorted, query| {
            reduction::search_sorted(sorted, query, p.side, p.dimension, p.batch_dims)
        }),

        P::Threefry2x32(_) => operands(inputs).and_then(|[k0, k1, x0, x1]| {
            several(random::cipher(
                [k0, k1],
                [x0, x1],
                numerics::random::threefry2x32,
            ))
        }),
        P::Threefry4x32(_) => operands(inputs).and_then(|[k0, k1, k2, k3, x0, x1, x2, x3]| {
            let (key, block) = ([k0, k1, k2, k3], [x0, x1, x2, x3]);
            several(random::cipher(key, block, numerics::random::threefry4x32))
        }),
        P::Philox4x32(_) => operands(inputs).and_then(|[k0, k1, x0, x1, x2, x3]| {
            let (key, block) = ([k0, k1], [x0, x1, x2, x3]);
            several(random::cipher(key, block, numerics::random::philox4x32))
        }),
        P::Philox2x32(_) => operands(inputs).and_then(|[key, x0, x1]| {
            several(random::cipher(
                [key],
                [x0, x1],
                numerics::random::philox2x32,
            ))
        }),
        P::Iota2x32Shape(p) => several(random::counters(&p.shape)),
        P::RandomBits(p) => unary(inputs, |keys| random::bits(keys, p.bit_width, &p.shape)),
        P::RandomSeed(p) => unary(inputs, |seeds| random::seed(seeds, p.impl_)),
        P::RandomWrap(p) => unary(inputs, |words| random::wrap(words, p.impl_)),
        P::RandomUnwrap(_) => unary(inputs, random::unwrap),
        P::RandomSplit(p) => unary(inputs, |keys| random::split(keys, &p.shape)),
        P::RandomFoldIn(_) => binary(inputs, random::fold_in),
        P::RandomGamma(p) => binary(inputs, |keys, alpha| {
            random::gamma(keys, alpha, p.log_space)
        }),
        P::RngBitGenerator(p) => unary_several(inputs, |state| {
            random::bit_generator(state, p.algorithm, p.dtype, &p.shape)
        }),

        P::Cond(p) => run(move |it| control::cond(it, &p.branches.0, inputs)),
        P::While(p) => run(move |it| control::while_loop(it, p, inputs)),
        P::Scan(p) => run(move |it| control::scan(it, p, inputs)),
        P::Jit(p) => call(&p.jaxpr, inputs),
        P::EvalJaxpr(p) => call(&p.call_jaxpr, inputs),
        P::ClosedCall(p) => call(&p.call_jaxpr, inputs),
        P::CustomJvpCall(p) => call(&p.call_jaxpr, inputs),
        P::CustomVjpCall(p) => call(&p.call_jaxpr, inputs),
        P::CustomVmapCall(p) => call(&p.call, inputs),
        P::Remat(p) => call(&p.jaxpr, inputs),
        P::LinearCall(p) => call(&p.callee, inputs),
        P::CustomRoot(p) => run(move |it| control::root(it, p, inputs)),
        P::RematOpt(p) => call(&p.fwd_jaxpr, inputs),
        P::XlaMetadataCall(p) => call(&p.jaxpr, inputs),
        P::CallExported(p) => Err(p.refused()),
        P::Composite(p) => call(&p.call_jaxpr, inputs),
        P::CustomLinearSolve(p) => run(move |it| control::linear_solve(it, p, inputs)),
        P::Reduce(p) => run(move |it| control::reduce(it, p, inputs)),
        P::CustomLin(_) => Err(Error::unsupported(
            "the linear part of a custom derivative has no value of its own, only a transpose",
        )),
        P::RootLinearMap(p) => run(move |it| it.call(&p.expand()?, inputs)),
        P::OptimizationBarrier(_) | P::DevicePut(_) => unchanged(inputs),
        P::Frexp(_) => unary_several(inputs, elementwise::frexp),
        P::Ldexp(_) => binary(inputs, elementwise::ldexp),
        P::PlatformIndex(p) => one(control::platform_index(&p.platforms)),
        P::DceSink(_) => several(Ok(Vec::new())),
        P::DebugPrint(p) => {
            several(tensors(inputs).and_then(|arrays| control::debug_print(&p.fmt, &arrays)))
        }
        P::PureCallback(p) => Err(control::host_function(&p.callback)),
        P::IoCallback(p) => Err(control::host_function(&p.callback)),
        P::DebugCallback(p) => Err(control::host_function(&p.callback)),

        P::Foreign(p) => Err(p.refused("run")),

        P::NewRef(_) => run(move |it| state::new(it, inputs)),
        P::RefGet(p) => run(move |it| state::get(it, &p.indices, inputs)),
        P::RefSwap(p) => run(move |it| state::swap(it, &p.indices, inputs)),
        P::RefAddUpdate(p) => run(move |it| state::add(it, &p.indices, inputs)),
        P::FreezeRef(_) => run(move |it| state::freeze(it, inputs)),
        P::RunState(p) => run(move |it| state::run_state(it, p, inputs)),

        P::Psum(p) => run(move |it| collective::combine(it, &p.axes, reduction::sum, inputs)),
        P::Pmax(p) => run(move |it| collective::combine(it, &p.axes, reduction::maximum, inputs)),
        P::Pmin(p) => run(move |it| collective::combine(it, &p.axes, reduction::minimum, inputs)),
        P::PsumInvariant(p) => {
            run(move |it| collective::combine(it, &p.axes, reduction::sum, inputs))
        }
        P::Pvary(_) => unchanged(inputs),
        P::AllGather(p) => run(move |it| collective::all_gather(it, p, inputs)),
        P::AllToAll(p) => run(move |it| collective::all_to_all(it, p, inputs)),
        P::ReduceScatter(p) => run(move |it| collective::reduce_scatter(it, p, inputs)),
        P::Ppermute(p) => run(move |it| collective::permute(it, p, inputs)),
        P::AxisIndex(p) => run(move |it| collective::index(it, p)),
        P::ShardMap(p) => run(move |it| collective::shard_map(it, p, inputs)),
        P::Pmap(p) => run(move |it| it.call(&p.expand()?, inputs)),

        P::ReduceWindowSum(p) => unary(inputs, |x| {
            // Windows that are single elements add nothing, and keep the signs of zeros.
            let one = |lengths: &[usize]| lengths.iter().all(|&length| length == 1);
            let same = one(&p.window_dimensions) && one(&p.window_strides) && one(&p.base_dilation);
            let sum = if same {
                reduction::sum
            } else {
                reduction::sum_of_window
            };
            window::reduce_window(x, &slides!(p), sum)
        }),
        P::ReduceWindowMax(p) => unary(inputs, |x| {
            window::reduce_window(x, &slides!(p), reduction::largest)
        }),
        P::ReduceWindowMin(p) => unary(inputs, |x| {
            window::reduce_window(x, &slides!(p), reduction::smallest)
        }),
        P::ReduceWindow(p) => {
            let slides = slides!(p);
            run(move |it| window::reduce_window_by(it, &p.jaxpr, &slides, inputs))
        }
        P::SelectAndScatter(p) => {
            let slides = window::undilated(&p.window_dimensions, &p.window_strides, &p.padding)?;
            run(move |it| window::select_and_scatter(it, p, &slides, inputs))
        }
        P::SelectAndScatterAdd(p) => binary(inputs, |source, operand| {
            window::select_and_scatter_add(source, operand, p)
        }),
        P::SelectAndGatherAdd(p) => binary(inputs, |tangents, operand| {
            window::select_and_gather_add(tangents, operand, p.select_prim, &slides!(p))
        }),
        P::ConvGeneralDilated(p) => binary(inputs, |lhs, rhs| window::convolution(lhs, rhs, p)),

        P::DotGeneral(p) => binary(inputs, |lhs, rhs| {
            linalg::dot_general(lhs, rhs, &p.dimension_numbers, p.preferred_element_type)
        }),
        P::RaggedDotGeneral(p) => ternary(inputs, |lhs, rhs, sizes| {
            let numbers = &p.ragged_dot_dimension_numbers;
            linalg::ragged_dot_general(lhs, rhs, sizes, numbers, p.result_type())
        }),
        P::ScaledDot(p) => operands(inputs).and_then(|inputs| {
            one(linalg::scaled_dot(
                &inputs,
                &p.dimension_numbers,
                p.preferred_element_type,
            ))
        }),
        P::SymmetricProduct(p) => binary(inputs, |a, c| {
            linalg::symmetric_product(a, c, p.alpha.0, p.beta.0)
        }),

        P::Fft(p) => unary(inputs, |x| linalg::fourier(x, p.fft_type, &p.fft_lengths)),

        P::Cholesky(_) => unary(inputs, linalg::cholesky),
        P::CholeskyUpdate(_) => binary(inputs, linalg::cholesky_update),
        P::Lu(_) => unary_several(inputs, linalg::lu),
        P::LuPivotsToPermutation(p) => unary(inputs, |pivots| {
            linalg::lu_pivots_to_permutation(pivots, p.permutation_size)
        }),
        P::Qr(p) => unary_several(inputs, |x| linalg::qr(x, p.full_matrices, p.pivoting)),
        P::Geqrf(_) => unary_several(inputs, linalg::geqrf),
        P::Geqp3(_) => operands(inputs).and_then(|[x, pivots]| several(linalg::geqp3(&x, &pivots))),
        P::HouseholderProduct(_) => binary(inputs, linalg::householder_product),
        P::Ormqr(p) => ternary(inputs, |x, taus, c| {
            linalg::ormqr(x, taus, c, p.left, p.transpose)
        }),
        P::Eigh(p) => unary_several(inputs, |x| linalg::eigh(x, p.lower, p.subset_by_index)),
        P::Eig(p) => unary_several(inputs, |x| {
            linalg::eig(x, p.compute_left_eigenvectors, p.compute_right_eigenvectors)
        }),
        P::Svd(p) => unary_several(inputs, |x| {
            linalg::svd(x, p.full_matrices, p.compute_uv, p.subset_by_index)
        }),
        P::Schur(p) => unary_several(inputs, |x| {
            linalg::schur(x, p.compute_schur_vectors, p.sort_eig_vals)
        }),
        P::Hessenberg(_) => unary_several(inputs, linalg::hessenberg),
        P::Tridiagonal(p) => unary_several(inputs, |x| linalg::tridiagonal(x, p.lower)),
        P::TridiagonalSolve(p) => operands(inputs)
            .and_then(|inputs| one(linalg::tridiagonal_solve(&inputs, p.perturb_singular))),
        P::TriangularSolve(p) => binary(inputs, |a, b| {
            let options = numerics::linalg::TriangularSolve {
                left_side: p.left_side,
                lower: p.lower,
                transpose_a: p.transpose_a,
                conjugate_a: p.conjugate_a,
                unit_diagonal: p.unit_diagonal,
            };
            linalg::triangular_solve(a, b, options)
        }),
    }
}

#[cfg(test)]
mod tests;
