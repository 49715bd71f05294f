//! Running combinations along an axis.

use num_complex::Complex;

use super::Reduction;
use crate::error::{Error, Result};
use crate::eval::element::{
    by_dtype, complexes, elements, from_complexes, from_elements, from_reals, meaningless, reals,
};
use crate::eval::numerics::elementary;
use crate::eval::numerics::integer::Int;
use crate::tensor::Tensor;

/// How a running result takes in the next element.
#[derive(Clone, Copy)]
pub(in crate::eval) enum Cumulation {
    /// Sum.
    Sum,
    /// Product.
    Product,
    /// Larger; NaN stays.
    Max,
    /// Smaller; NaN stays.
    Min,
    /// Logarithm of the sum of exponentials.
    LogSumExp,
}

/// Running results along `axis`, from its end when `reverse`. Floats are combined in `f64` and rounded when stored.
pub(in crate::eval) fn cumulate(
    x: &Tensor,
    how: Cumulation,
    axis: usize,
    reverse: bool,
) -> Result<Tensor> {
    let reduction = Reduction::new(x.shape(), &[axis])?;
    let dtype = x.dtype();
    if dtype.is_float() {
        let f: fn(f64, f64) -> f64 = match how {
            Cumulation::Sum => |a, b| a + b,
            Cumulation::Product => |a, b| a * b,
            Cumulation::Max => elementary::max,
            Cumulation::Min => elementary::min,
            Cumulation::LogSumExp => log_add_exp,
        };
        let mut values: Vec<f64> = reals(x)?.collect();
        run(&reduction, &mut values, reverse, &f);
        return from_reals(x.shape(), dtype, values.into_iter());
    }
    if dtype.is_complex() {
        let f: fn(Complex<f64>, Complex<f64>) -> Complex<f64> = match how {
            Cumulation::Sum => |a, b| a + b,
            Cumulation::Product => |a, b| a * b,
            Cumulation::Max => |a, b| if (a.re, a.im) > (b.re, b.im) { a } else { b },
            Cumulation::Min => |a, b| if (a.re, a.im) < (b.re, b.im) { a } else { b },
            Cumulation::LogSumExp => |a, b| {
                let (large, small) = if a.re > b.re { (a, b) } else { (b, a) };
                large + ((small - large).exp() + 1.0).ln()
            },
        };
        let mut values: Vec<Complex<f64>> = complexes(x)?.collect();
        run(&reduction, &mut values, reverse, &f);
        return from_complexes(x.shape(), dtype, values.into_iter());
    }
    by_dtype!(dtype, T,
        int => {
            let mut values = elements::<T>(x)?.to_vec();
            match how {
                Cumulation::Sum => run(&reduction, &mut values, reverse, &Int::add),
                Cumulation::Product => run(&reduction, &mut values, reverse, &Int::mul),
                Cumulation::Max => run(&reduction, &mut values, reverse, &Ord::max),
                Cumulation::Min => run(&reduction, &mut values, reverse, &Ord::min),
                Cumulation::LogSumExp => return Err(Error::dtype("is a function of floats")),
            }
            from_elements(x.shape(), dtype, values)
        },
        other => Err(meaningless(dtype)),
    )
}

/// Replaces each element by the combination of itself and all before it in its group.
fn run<T: Copy>(reduction: &Reduction, values: &mut [T], reverse: bool, f: &dyn Fn(T, T) -> T) {
    for group in reduction.groups() {
        let mut positions: Vec<usize> = group.collect();
        if reverse {
            positions.reverse();
        }
        for pair in positions.windows(2) {
            values[pair[1]] = f(values[pair[0]], values[pair[1]]);
        }
    }
}

/// `log(e^a + e^b)` without overflow; the larger when they are equal infinities.
fn log_add_exp(a: f64, b: f64) -> f64 {
    let (large, small) = if a > b { (a, b) } else { (b, a) };
    if large == small && large.is_infinite() {
        return large;
    }
    large + elementary::log1p(elementary::exp(small - large))
}
