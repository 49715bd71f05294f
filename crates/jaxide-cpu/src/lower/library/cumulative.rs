//! Running combinations along an axis.

use super::elements::{C128, Class, Number, meaningless};
use super::operands::Operands;
use super::routine::routine;
use super::sorting::Lines;
use crate::runtime::KernelCall;
use crate::runtime::cumulative::{Cumulative, CumulativeOp};
use jaxide_core::eval::numerics::elementary;
use jaxide_core::{DType, Error, Result};

type Call = Result<Box<KernelCall>>;

/// Running results along `axis`, from its end when `reverse`.
pub(super) fn cumulative(
    operands: &Operands,
    how: CumulativeOp,
    axis: usize,
    reverse: bool,
) -> Call {
    let x = &operands.inputs[0];
    if axis >= x.shape.len() {
        return Err(Error::shape(format!(
            "axis {axis} is none of shape {:?}",
            x.shape
        )));
    }
    if let Ok(kernel) = Cumulative::new(how, x.dtype, &x.shape, axis, reverse) {
        return Ok(KernelCall::new(kernel));
    }
    let scan = Scan {
        lines: Lines::new(&x.shape, axis),
        reverse,
    };
    match (Class::of(x.dtype), how) {
        _ if x.dtype == DType::Bool => Err(meaningless(x.dtype)),
        (Class::Integer, CumulativeOp::LogSumExp) => Err(Error::dtype("is a function of floats")),
        (Class::Integer, _) => Ok(scan.kernel::<i128>(operands, integer(how))),
        (Class::Real, _) => Ok(scan.kernel::<f64>(operands, real(how))),
        (Class::Complex, _) => Ok(scan.kernel::<C128>(operands, complex(how))),
        (Class::Opaque, _) => Err(meaningless(x.dtype)),
    }
}

fn integer(how: CumulativeOp) -> fn(i128, i128) -> i128 {
    match how {
        CumulativeOp::Sum => i128::wrapping_add,
        CumulativeOp::Prod => i128::wrapping_mul,
        CumulativeOp::Max | CumulativeOp::LogSumExp => i128::max,
        CumulativeOp::Min => i128::min,
    }
}

fn real(how: CumulativeOp) -> fn(f64, f64) -> f64 {
    match how {
        CumulativeOp::Sum => |a, b| a + b,
        CumulativeOp::Prod => |a, b| a * b,
        CumulativeOp::Max => elementary::max,
        CumulativeOp::Min => elementary::min,
        CumulativeOp::LogSumExp => log_add_exp,
    }
}

fn complex(how: CumulativeOp) -> fn(C128, C128) -> C128 {
    match how {
        CumulativeOp::Sum => |a, b| a + b,
        CumulativeOp::Prod => |a, b| a * b,
        CumulativeOp::Max => |a, b| if (a.re, a.im) > (b.re, b.im) { a } else { b },
        CumulativeOp::Min => |a, b| if (a.re, a.im) < (b.re, b.im) { a } else { b },
        CumulativeOp::LogSumExp => |a, b| {
            let (large, small) = if a.re > b.re { (a, b) } else { (b, a) };
            large + ((small - large).exp() + 1.0).ln()
        },
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

/// Lines and the direction they are run through.
#[derive(Clone, Copy)]
struct Scan {
    lines: Lines,
    reverse: bool,
}

impl Scan {
    /// A scan of elements as numbers, for types that the runtime has no scan of.
    fn kernel<N: Number>(self, operands: &Operands, f: fn(N, N) -> N) -> Box<KernelCall> {
        let dtype = operands.inputs[0].dtype;
        let Lines { length, inner, .. } = self.lines;
        routine(operands, move |buffers, _| {
            let mut numbers = N::read_all(dtype, buffers.input(0));
            for slice in numbers.chunks_mut((length * inner).max(1)) {
                for step in 1..length {
                    let (from, to) = if self.reverse {
                        (length - step, length - 1 - step)
                    } else {
                        (step - 1, step)
                    };
                    for k in 0..inner {
                        slice[to * inner + k] = f(slice[from * inner + k], slice[to * inner + k]);
                    }
                }
            }
            N::write(dtype, &numbers, buffers.output(0));
            Ok(())
        })
    }
}
