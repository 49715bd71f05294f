//! Calls of the graph → runtime kernels.
//!
//! A kernel owns its static description (shapes, element types, dimension numbers) and is made when the program is
//! compiled. Where the runtime has a kernel of its own (products, sorting, Fourier transforms) it is taken; elsewhere
//! the kernel runs the interpreter's scalar functions over slices.

mod bits;
mod convolution;
mod cumulative;
mod elements;
mod factor;
mod fourier;
mod map;
mod operands;
mod print;
mod product;
mod ragged;
mod random;
mod routine;
mod rows;
mod search;
mod sorting;
#[cfg(test)]
mod tests;

use super::graph::{Call, Graph, ValueId};
use super::program::LibraryCall;
use crate::runtime::KernelCall;
use crate::runtime::cumulative::CumulativeOp;
use cumulative::cumulative;
use jaxide_core::prims::Prim;
use jaxide_core::{Error, ErrorKind, Result};
use operands::Operands;

pub(crate) use rows::{has_kernel, kernel as row_kernel, scatter_rows};

/// The kernel that computes `call` on arrays of these types.
///
/// # Errors
/// When the operation has no meaning for the operands' types, or needs its host.
pub(crate) fn kernel(
    graph: &Graph,
    call: &Call,
    args: &[ValueId],
    results: &[ValueId],
) -> Result<LibraryCall> {
    let operands = Operands::new(graph, args, results);
    let (name, made) = match call {
        Call::Map(op) => (format!("{op:?}"), map::map(*op, &operands)),
        Call::Prim(prim) => (prim.name().to_owned(), primitive(prim, &operands)),
    };
    match made {
        Ok(call) => Ok(LibraryCall { name, call }),
        Err(error) => Err(error.in_operation(&name)),
    }
}

/// The kernel of a primitive.
fn primitive(prim: &Prim, operands: &Operands) -> Result<Box<KernelCall>> {
    match prim {
        Prim::DotGeneral(params) => product::dot_general(operands, params),
        Prim::RaggedDotGeneral(params) => ragged::ragged_dot_general(operands, params),
        Prim::ConvGeneralDilated(params) => convolution::convolution(operands, params),
        Prim::Fft(params) => fourier::fft(operands, params),

        Prim::Cumsum(params) => {
            cumulative(operands, CumulativeOp::Sum, params.axis, params.reverse)
        }
        Prim::Cumprod(params) => {
            cumulative(operands, CumulativeOp::Prod, params.axis, params.reverse)
        }
        Prim::Cummax(params) => {
            cumulative(operands, CumulativeOp::Max, params.axis, params.reverse)
        }
        Prim::Cummin(params) => {
            cumulative(operands, CumulativeOp::Min, params.axis, params.reverse)
        }
        Prim::Cumlogsumexp(params) => cumulative(
            operands,
            CumulativeOp::LogSumExp,
            params.axis,
            params.reverse,
        ),
        Prim::Sort(params) => sorting::sort(operands, params),
        Prim::TopK(params) => sorting::top_k(operands, params),
        Prim::ApproxTopK(params) => sorting::approx_top_k(operands, params),
        Prim::Nonzero(params) => search::nonzero(operands, params),
        Prim::SearchSorted(params) => search::search_sorted(operands, params),

        Prim::Cholesky(_) => factor::cholesky(operands),
        Prim::CholeskyUpdate(_) => factor::cholesky_update(operands),
        Prim::Lu(_) => factor::lu(operands),
        Prim::LuPivotsToPermutation(params) => {
            factor::lu_pivots_to_permutation(operands, params.permutation_size)
        }
        Prim::Qr(params) => factor::qr(operands, params),
        Prim::Geqrf(_) => factor::geqrf(operands),
        Prim::Geqp3(_) => factor::geqp3(operands),
        Prim::HouseholderProduct(_) => factor::householder_product(operands),
        Prim::Ormqr(params) => factor::ormqr(operands, params),
        Prim::Eigh(params) => factor::eigh(operands, params),
        Prim::Eig(params) => factor::eig(operands, params),
        Prim::Svd(params) => factor::svd(operands, params),
        Prim::Schur(params) => factor::schur(operands, params),
        Prim::Hessenberg(_) => factor::hessenberg(operands),
        Prim::Tridiagonal(params) => factor::tridiagonal(operands, params.lower),
        Prim::TridiagonalSolve(_) => factor::tridiagonal_solve(operands),
        Prim::TriangularSolve(params) => factor::triangular_solve(operands, params),

        Prim::RandomBits(params) => random::bits(operands, params),
        Prim::RandomGamma(params) => random::gamma(operands, params.log_space),
        Prim::RngBitGenerator(params) => random::bit_generator(operands, params),
        Prim::BitcastConvertType(_) => bits::bitcast(operands),
        Prim::DebugPrint(params) => Ok(print::debug_print(operands, params)),

        Prim::PureCallback(_) | Prim::IoCallback(_) => Err(Error::unsupported(
            "a callback into the host language cannot be compiled",
        )),

        // What the graph says in its own operations.
        Prim::Neg(_)
        | Prim::Sign(_)
        | Prim::Abs(_)
        | Prim::Floor(_)
        | Prim::Ceil(_)
        | Prim::IsFinite(_)
        | Prim::Exp(_)
        | Prim::Exp2(_)
        | Prim::Expm1(_)
        | Prim::Log(_)
        | Prim::Log2(_)
        | Prim::Log1p(_)
        | Prim::Sqrt(_)
        | Prim::Rsqrt(_)
        | Prim::Cbrt(_)
        | Prim::Sin(_)
        | Prim::Cos(_)
        | Prim::Tan(_)
        | Prim::Asin(_)
        | Prim::Acos(_)
        | Prim::Atan(_)
        | Prim::Sinh(_)
        | Prim::Cosh(_)
        | Prim::Tanh(_)
        | Prim::Asinh(_)
        | Prim::Acosh(_)
        | Prim::Atanh(_)
        | Prim::Logistic(_)
        | Prim::Square(_)
        | Prim::OneMinusSquare(_)
        | Prim::Erf(_)
        | Prim::Erfc(_)
        | Prim::ErfInv(_)
        | Prim::Lgamma(_)
        | Prim::Digamma(_)
        | Prim::BesselI0e(_)
        | Prim::BesselI1e(_)
        | Prim::Real(_)
        | Prim::Imag(_)
        | Prim::Not(_)
        | Prim::PopulationCount(_)
        | Prim::Clz(_)
        | Prim::Conj(_)
        | Prim::IntegerPow(_)
        | Prim::Round(_)
        | Prim::ReducePrecision(_)
        | Prim::Add(_)
        | Prim::AddAny(_)
        | Prim::Sub(_)
        | Prim::Mul(_)
        | Prim::Mulhi(_)
        | Prim::Div(_)
        | Prim::Rem(_)
        | Prim::Max(_)
        | Prim::Min(_)
        | Prim::Pow(_)
        | Prim::Atan2(_)
        | Prim::NextAfter(_)
        | Prim::Complex(_)
        | Prim::And(_)
        | Prim::Or(_)
        | Prim::Xor(_)
        | Prim::ShiftLeft(_)
        | Prim::ShiftRightArithmetic(_)
        | Prim::ShiftRightLogical(_)
        | Prim::Equal(_)
        | Prim::NotEqual(_)
        | Prim::Less(_)
        | Prim::LessEqual(_)
        | Prim::Greater(_)
        | Prim::GreaterEqual(_)
        | Prim::EqualTotal(_)
        | Prim::LessTotal(_)
        | Prim::LessEqualTotal(_)
        | Prim::Igamma(_)
        | Prim::Igammac(_)
        | Prim::IgammaGradA(_)
        | Prim::Polygamma(_)
        | Prim::Zeta(_)
        | Prim::RegularizedIncompleteBeta(_)
        | Prim::Clamp(_)
        | Prim::SelectN(_)
        | Prim::ConvertElementType(_)
        | Prim::StopGradient(_)
        | Prim::CopyArray(_)
        | Prim::CopyP(_)
        | Prim::PlaceName(_)
        | Prim::Reshard(_)
        | Prim::ShardingConstraint(_)
        | Prim::RandomClone(_)
        | Prim::OptimizationBarrier(_)
        | Prim::DevicePut(_)
        | Prim::Pvary(_)
        | Prim::Polynomial(_)
        | Prim::Frexp(_)
        | Prim::Ldexp(_)
        | Prim::Iota(_)
        | Prim::Empty(_)
        | Prim::BroadcastInDim(_)
        | Prim::Reshape(_)
        | Prim::Transpose(_)
        | Prim::Squeeze(_)
        | Prim::Slice(_)
        | Prim::Pad(_)
        | Prim::Rev(_)
        | Prim::Concatenate(_)
        | Prim::Split(_)
        | Prim::Stack(_)
        | Prim::Unstack(_)
        | Prim::Tile(_)
        | Prim::DynamicSlice(_)
        | Prim::DynamicUpdateSlice(_)
        | Prim::Gather(_)
        | Prim::Scatter(_)
        | Prim::ScatterAdd(_)
        | Prim::ScatterSub(_)
        | Prim::ScatterMul(_)
        | Prim::ScatterMin(_)
        | Prim::ScatterMax(_)
        | Prim::ReduceSum(_)
        | Prim::ReduceMax(_)
        | Prim::ReduceMin(_)
        | Prim::ReduceProd(_)
        | Prim::ReduceAnd(_)
        | Prim::ReduceOr(_)
        | Prim::ReduceXor(_)
        | Prim::Argmax(_)
        | Prim::Argmin(_)
        | Prim::Reduce(_)
        | Prim::ReduceWindowSum(_)
        | Prim::ReduceWindowMax(_)
        | Prim::ReduceWindowMin(_)
        | Prim::ReduceWindow(_)
        | Prim::SelectAndScatter(_)
        | Prim::SelectAndScatterAdd(_)
        | Prim::SelectAndGatherAdd(_)
        | Prim::ScaledDot(_)
        | Prim::SymmetricProduct(_)
        | Prim::Threefry2x32(_)
        | Prim::RandomSeed(_)
        | Prim::RandomWrap(_)
        | Prim::RandomUnwrap(_)
        | Prim::RandomSplit(_)
        | Prim::RandomFoldIn(_)
        | Prim::Cond(_)
        | Prim::While(_)
        | Prim::Scan(_)
        | Prim::Jit(_)
        | Prim::EvalJaxpr(_)
        | Prim::ClosedCall(_)
        | Prim::CustomJvpCall(_)
        | Prim::CustomVjpCall(_)
        | Prim::CustomVmapCall(_)
        | Prim::Remat(_)
        | Prim::LinearCall(_)
        | Prim::Composite(_)
        | Prim::CustomRoot(_)
        | Prim::CustomLinearSolve(_)
        | Prim::PlatformIndex(_)
        | Prim::DceSink(_)
        | Prim::CustomLin(_)
        | Prim::RootLinearMap(_)
        | Prim::NewRef(_)
        | Prim::RefGet(_)
        | Prim::RefSwap(_)
        | Prim::RefAddUpdate(_)
        | Prim::FreezeRef(_)
        | Prim::RunState(_)
        | Prim::Psum(_)
        | Prim::PsumInvariant(_)
        | Prim::Pmax(_)
        | Prim::Pmin(_)
        | Prim::AllGather(_)
        | Prim::AllToAll(_)
        | Prim::ReduceScatter(_)
        | Prim::Ppermute(_)
        | Prim::AxisIndex(_)
        | Prim::ShardMap(_)
        | Prim::Pmap(_) => Err(Error::new(
            ErrorKind::Internal,
            "is loops or index maps of the graph, no call of the runtime",
        )),
    }
}
