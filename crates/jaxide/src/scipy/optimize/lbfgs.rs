//! The method of Broyden, Fletcher, Goldfarb and Shanno with limited memory: algorithm 7.5 of Nocedal and Wright.

use jaxide_core::DType;
use jaxide_tree::Pytree;

use super::line_search::line_search;
use super::{Minimize, OptimizeResults, dot, norm_of};
use crate::array::Array;
use crate::control::{fori_loop, while_loop};
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
    history: History,
    status: Array,
}

/// The last steps, the last one at the end.
#[derive(Clone, Pytree)]
struct History {
    steps: Array,
    /// Changes of the gradient.
    changes: Array,
    /// Inverses of their products.
    inverses: Array,
    /// The scale of the Hessian to begin with.
    scale: Array,
}

#[track_caller]
pub(super) fn minimize(
    fun: &dyn Fn(Array) -> Array,
    x0: Array,
    options: &Minimize,
) -> OptimizeResults {
    let (size, dtype) = (x0.size(), x0.dtype());
    let Minimize {
        maxiter,
        maxfun,
        maxgrad,
        maxcor,
        norm,
        gtol,
        ftol,
        ..
    } = *options;
    let unlimited = maxiter.is_none() && maxfun.is_none() && maxgrad.is_none();
    let limit = |limit: Option<usize>| limit.map_or(i32::MAX, |limit| limit as i32);
    let maxiter = if unlimited {
        (size * 200) as i32
    } else {
        limit(maxiter)
    };
    let (maxfun, maxgrad) = (limit(maxfun), limit(maxgrad));
    let searches = options.line_search_maxiter.unwrap_or(20);
    let (value, gradient) = value_and_grad_of(&|x: Array| fun(x), x0.clone());

    let init = State {
        converged: Array::from(false).astype(DType::Bool),
        failed: Array::from(false).astype(DType::Bool),
        step: Array::from(0),
        evaluations: Array::from(1),
        x: x0,
        value,
        gradient,
        history: History {
            steps: lax::full([maxcor, size], 0, dtype),
            changes: lax::full([maxcor, size], 0, dtype),
            inverses: lax::full([maxcor], 0, dtype),
            scale: Array::from(1).astype(dtype),
        },
        status: Array::from(0),
    };
    let state = while_loop(
        |state: State| !state.converged & !state.failed,
        |state: State| {
            let direction = direction(&state, maxcor);
            let found = line_search(
                fun,
                [&state.x, &direction],
                [&state.value, &state.gradient],
                None,
                searches,
            );
            let step = found.length.astype(dtype) * &direction;
            let change = &found.gradient - &state.gradient;
            let product = dot(&change, &step);
            let scale = &product / dot(&change, &change);
            let status = Array::from(0);
            let small = (&state.value - &found.value).lt(constant(&found.value, ftol));
            let status = where_(&small, 4, status);
            let status = where_(&state.evaluations.ge(maxgrad), 3, status);
            let status = where_(&state.evaluations.ge(maxfun), 2, status);
            let status = where_(&state.step.ge(maxiter), 1, status);
            let status = where_(&found.failed, 5, status);
            let converged = norm_of(&found.gradient, norm).lt(constant(&found.gradient, gtol));
            let history = state.history;
            State {
                failed: status.gt(0) & !&converged,
                step: &state.step + 1,
                evaluations: &state.evaluations + found.evaluations,
                x: &state.x + &step,
                value: found.value.astype(state.value.dtype()),
                gradient: found.gradient.astype(state.gradient.dtype()),
                history: History {
                    steps: appended(&history.steps, &step),
                    changes: appended(&history.changes, &change),
                    inverses: appended(&history.inverses, &numpy::reciprocal(&product)),
                    scale: scale.astype(dtype),
                },
                status: where_(&converged, 0, status),
                converged,
            }
        },
        init,
    );
    OptimizeResults {
        x: state.x,
        success: state.converged & !state.failed,
        status: state.status,
        fun: state.value,
        jac: state.gradient,
        hess_inv: None,
        nfev: state.evaluations.clone(),
        njev: state.evaluations,
        nit: state.step,
    }
}

/// The rows after the first, and a new one.
#[track_caller]
fn appended(history: &Array, new: &Array) -> Array {
    lax::concatenate(&[history.slice(1..), lax::expand_dims(new, &[0])], 0)
}

/// The direction of the next step, by the two loops over the last ones.
#[track_caller]
fn direction(state: &State, memory: usize) -> Array {
    let History {
        steps,
        changes,
        inverses,
        scale,
    } = &state.history;
    let memory = memory as i32;
    let known = numpy::minimum(&state.step, &Array::from(memory));
    let zeros = numpy::full_like(inverses, 0);
    let (q, factors) = fori_loop(
        0,
        known.clone(),
        |j: Array, (q, factors): (Array, Array)| {
            let i = memory - 1 - j;
            let factor = inverses.index(&i) * dot(&steps.index(&i), &q);
            let factors = factors.at(&i).set(&factor);
            (q - factor * changes.index(&i), factors)
        },
        (-&state.gradient, zeros),
    );
    fori_loop(
        0,
        known.clone(),
        |j: Array, q: Array| {
            let i = memory - &known + j;
            let factor = inverses.index(&i) * dot(&changes.index(&i), &q);
            q + (factors.index(&i) - factor) * steps.index(&i)
        },
        scale * q,
    )
}
