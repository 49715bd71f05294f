//! The method of Broyden, Fletcher, Goldfarb and Shanno: algorithm 6.1 of Nocedal and Wright.

use jaxide_core::DType;
use jaxide_tree::Pytree;

use super::line_search::line_search;
use super::{Minimize, OptimizeResults, dot, norm_of};
use crate::array::Array;
use crate::control::while_loop;
use crate::numpy::where_;
use crate::scipy::operands::constant;
use crate::{lax, numpy, value_and_grad_of};

#[derive(Clone, Pytree)]
struct State {
    converged: Array,
    failed: Array,
    step: Array,
    evaluations: Array,
    x: Array,
    value: Array,
    gradient: Array,
    inverse: Array,
    before: Array,
    line_status: Array,
}

#[track_caller]
pub(super) fn minimize(
    fun: &dyn Fn(Array) -> Array,
    x0: Array,
    options: &Minimize,
) -> OptimizeResults {
    let size = x0.size();
    let maxiter = options.maxiter.unwrap_or(size * 200) as i32;
    let searches = options.line_search_maxiter.unwrap_or(10);
    let (norm, gtol) = (options.norm, options.gtol);
    let (value, gradient) = value_and_grad_of(&|x: Array| fun(x), x0.clone());
    let small = |gradient: &Array| norm_of(gradient, norm).lt(constant(gradient, gtol));
    let init = State {
        converged: small(&gradient),
        failed: Array::from(false).astype(DType::Bool),
        step: Array::from(0),
        evaluations: Array::from(1),
        before: &value + norm_of(&gradient, 2.0) / 2,
        inverse: numpy::eye(size, x0.dtype()),
        x: x0,
        value,
        gradient,
        line_status: Array::from(0),
    };
    let state = while_loop(
        |state: State| !state.converged & !state.failed & state.step.lt(maxiter),
        |state: State| {
            let direction = -numpy::matmul(&state.inverse, &state.gradient);
            let found = line_search(
                fun,
                [&state.x, &direction],
                [&state.value, &state.gradient],
                Some(&state.before),
                searches,
            );
            let step = &found.length * &direction;
            let change = &found.gradient - &state.gradient;
            let rho = numpy::reciprocal(&dot(&change, &step));
            let column = |x: &Array| lax::expand_dims(x, &[1]);
            let row = |x: &Array| lax::expand_dims(x, &[0]);
            let eye = numpy::eye(size, rho.dtype());
            let w = eye - &rho * (column(&step) * row(&change));
            let updated = numpy::matmul(&numpy::matmul(&w, &state.inverse), &w.t())
                + &rho * column(&step) * row(&step);
            let inverse = where_(&numpy::isfinite(&rho), updated, &state.inverse);
            State {
                converged: small(&found.gradient),
                failed: found.failed,
                step: &state.step + 1,
                evaluations: &state.evaluations + found.evaluations,
                x: &state.x + step,
                before: state.value,
                value: found.value,
                gradient: found.gradient,
                inverse,
                line_status: found.status,
            }
        },
        init,
    );
    let late = state.step.equal(maxiter);
    let failure = where_(&state.failed, 2 + &state.line_status, -1);
    let status = where_(&state.converged, 0, where_(&late, 1, failure));
    OptimizeResults {
        x: state.x,
        success: state.converged & !state.failed,
        status,
        fun: state.value,
        jac: state.gradient,
        hess_inv: Some(state.inverse),
        nfev: state.evaluations.clone(),
        njev: state.evaluations,
        nit: state.step,
    }
}
