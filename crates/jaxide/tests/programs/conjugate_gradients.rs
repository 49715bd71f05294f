//! Linear systems that are known by their map alone.

use jaxide::prelude::*;
use jaxide::{TransposeSolve, custom_linear_solve};

/// The solution of `A x = b` for a symmetric positive definite map, by conjugate gradients until the residual is below
/// `tolerance` times that of zero; its derivatives are those of the equation.
pub(crate) fn conjugate_gradients(
    map: &dyn Fn(Array) -> Array,
    b: Array,
    tolerance: f64,
    most: i32,
) -> Array {
    let solve = |map: &dyn Fn(Array) -> Array, b: Array| {
        let least = tolerance * tolerance * b.square().sum();
        let unfinished = |(_, _, _, squared, count): (Array, Array, Array, Array, Array)| {
            squared.gt(&least) & count.lt(most)
        };
        let improve =
            |(x, residual, direction, squared, count): (Array, Array, Array, Array, Array)| {
                let image = map(direction.clone());
                let length = &squared / (&direction * &image).sum();
                let x = x + &length * &direction;
                let residual = residual - length * image;
                let next = residual.square().sum();
                let direction = &residual + (&next / squared) * direction;
                (x, residual, direction, next, count + 1)
            };
        let start = (
            &b * 0.0,
            b.clone(),
            b.clone(),
            b.square().sum(),
            Array::zeros(&[], DType::I32),
        );
        while_loop(unfinished, improve, start).0
    };
    custom_linear_solve(map, b, solve, TransposeSolve::Symmetric)
}
