//! Calls of the graph → runtime kernels.
//!
//! A kernel owns its static description (shapes, element types, dimension numbers) and is made when the program is
//! compiled. Where the runtime has a kernel of its own (products, sorting, Fourier transforms) it is taken; elsewhere
//! the kernel runs the interpreter's scalar functions over slices.

mod bits;
mod convolution;
mod cumulative;
#[allow(
    clippy::cast_possible_truncation,
    reason = "elements are cut to their types"
)]
mod elements;
mod factor;
mod fourier;
mod interpreted;
#[allow(
    clippy::cast_possible_truncation,
    reason = "elements are cut to their types"
)]
mod map;
mod operands;
mod print;
mod product;
mod ragged;
mod random;
mod recipe;
mod routine;
mod rows;
mod scatter;
mod search;
mod sorting;
#[cfg(test)]
mod tests;

use super::graph::{Call, Graph, Routine, ValueId};
use super::program::LibraryCall;
use crate::runtime::KernelCall;
use crate::runtime::cumulative::CumulativeOp;
use cumulative::cumulative;
use interpreted::interpreted;
use jaxide_core::Result;
use operands::Operands;

pub(crate) use recipe::Recipe;
pub(crate) use rows::{has_kernel, kernel as row_kernel};
pub(crate) use scatter::{scatter, uncounted};

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
    let name = match call {
        Call::Map(op) => op.to_string(),
        Call::Routine(call) => call.name().to_owned(),
    };
    let flops = match call {
        // An operation for each element.
        Call::Map(_) => operands
            .outputs
            .first()
            .map_or(0, |result| result.len() as u64),
        Call::Routine(call) => operands.cost(&call.prim()).flops,
    };
    let recipe = match call {
        Call::Map(op) => Recipe::Map(*op, operands),
        Call::Routine(call) => Recipe::Routine(call.clone(), operands),
    };
    LibraryCall::new(name, recipe, flops)
}

/// The kernel of a routine.
fn routine(routine: &Routine, operands: &Operands) -> Result<Box<KernelCall>> {
    match routine {
        Routine::DotGeneral(params) => product::dot_general(operands, params),
        Routine::RaggedDotGeneral(params) => ragged::ragged_dot_general(operands, params),
        Routine::ConvGeneralDilated(params) => convolution::convolution(operands, params),
        Routine::Fft(params) => fourier::fft(operands, params),

        Routine::Cumsum(params) => {
            cumulative(operands, CumulativeOp::Sum, params.axis, params.reverse)
        }
        Routine::Cumprod(params) => {
            cumulative(operands, CumulativeOp::Prod, params.axis, params.reverse)
        }
        Routine::Cummax(params) => {
            cumulative(operands, CumulativeOp::Max, params.axis, params.reverse)
        }
        Routine::Cummin(params) => {
            cumulative(operands, CumulativeOp::Min, params.axis, params.reverse)
        }
        Routine::Cumlogsumexp(params) => cumulative(
            operands,
            CumulativeOp::LogSumExp,
            params.axis,
            params.reverse,
        ),
        Routine::Sort(params) => sorting::sort(operands, params),
        Routine::TopK(params) => sorting::top_k(operands, params),
        Routine::ApproxTopK(params) => sorting::approx_top_k(operands, params),
        Routine::Nonzero(params) => search::nonzero(operands, params),
        Routine::SearchSorted(params) => search::search_sorted(operands, params),

        Routine::Cholesky(_) => factor::cholesky(operands),
        Routine::CholeskyUpdate(_) => factor::cholesky_update(operands),
        Routine::Lu(_) => factor::lu(operands),
        Routine::LuPivotsToPermutation(params) => {
            factor::lu_pivots_to_permutation(operands, params.permutation_size)
        }
        Routine::Qr(params) => factor::qr(operands, params),
        Routine::Geqrf(_) => factor::geqrf(operands),
        Routine::Geqp3(_) => factor::geqp3(operands),
        Routine::HouseholderProduct(_) => factor::householder_product(operands),
        Routine::Ormqr(params) => factor::ormqr(operands, params),
        Routine::Eigh(params) => factor::eigh(operands, params),
        Routine::Eig(params) => factor::eig(operands, params),
        Routine::Svd(params) => factor::svd(operands, params),
        Routine::Schur(params) => factor::schur(operands, params),
        Routine::Hessenberg(_) => factor::hessenberg(operands),
        Routine::Tridiagonal(params) => factor::tridiagonal(operands, params.lower),
        Routine::TridiagonalSolve(params) => {
            factor::tridiagonal_solve(operands, params.perturb_singular)
        }
        Routine::TriangularSolve(params) => factor::triangular_solve(operands, params),

        Routine::RandomBits(params) => random::bits(operands, params),
        Routine::RandomSplit(params) => random::split(operands, params),
        Routine::RandomFoldIn(_) => random::fold_in_masks(operands),
        Routine::RandomGamma(params) => random::gamma(operands, params.log_space),
        Routine::RngBitGenerator(params) => random::bit_generator(operands, params),
        Routine::BitcastConvertType(_) => bits::bitcast(operands),
        Routine::DebugPrint(params) => Ok(print::debug_print(operands, params)),
        // With functions of elements that are routines themselves.
        Routine::Reduce(params) => interpreted(operands, params.as_ref().clone()),
        Routine::ReduceWindow(params) => interpreted(operands, params.as_ref().clone()),
        Routine::SelectAndScatter(params) => interpreted(operands, params.as_ref().clone()),
        Routine::Scatter(params) => interpreted(operands, params.as_ref().clone()),
    }
}
