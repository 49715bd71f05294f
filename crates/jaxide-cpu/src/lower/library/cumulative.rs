//! Running combinations along an axis.

use super::elements::{C128, Number, Pod, by_dtype, meaningless};
use super::operands::Operands;
use super::routine::{in_chunks, routine};
use super::sorting::Lines;
use crate::runtime::KernelCall;
use jaxide_core::eval::numerics::complex;
use jaxide_core::eval::numerics::elementary;
use jaxide_core::eval::numerics::float::Real;
use jaxide_core::eval::numerics::integer::Int;
use jaxide_core::{DType, Error, Result};
use num_complex::Complex;

type Call = Result<Box<KernelCall>>;

/// How a running result takes in the next element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cumulation {
    Sum,
    Product,
    /// Larger; NaN stays.
    Max,
    /// Smaller; NaN stays.
    Min,
    /// Logarithm of the sum of exponentials.
    LogSumExp,
}

/// Running results along `axis`, from its end when `reverse`. Floats are combined in `f64` and rounded when stored.
pub(super) fn cumulative(operands: &Operands, how: Cumulation, axis: usize, reverse: bool) -> Call {
    let x = &operands.inputs[0];
    let dtype = x.dtype;
    if axis >= x.shape.len() {
        return Err(Error::shape(format!("axis {axis} is none of shape {:?}", x.shape)));
    }
    if dtype == DType::Bool {
        return Err(meaningless(dtype));
    }
    let scan = Scan {
        lines: Lines::new(&x.shape, axis),
        reverse,
    };
    by_dtype!(dtype, T,
        int => match how {
            Cumulation::Sum => scan.exact::<T>(operands, Int::add),
            Cumulation::Product => scan.exact::<T>(operands, Int::mul),
            Cumulation::Max => scan.exact::<T>(operands, Ord::max),
            Cumulation::Min => scan.exact::<T>(operands, Ord::min),
            Cumulation::LogSumExp => Err(Error::dtype("is a function of floats")),
        },
        small => {
            let f = real(how);
            Ok(routine(operands, move |buffers, _| {
                let x = f64::read_all(dtype, buffers.input(0));
                let mut sums = vec![0.0; x.len()];
                let slice = scan.slice().max(1);
                x.chunks(slice).zip(sums.chunks_mut(slice)).for_each(|(x, y)| scan.run(x, y, |v| v, f, |v| v));
                f64::write(dtype, &sums, buffers.output(0));
                Ok(())
            }))
        },
        real => match how {
            Cumulation::Sum => scan.kernel::<T, f64>(operands, Real::to_f64, |a, b| a + b, Real::round_from),
            Cumulation::Product => scan.kernel::<T, f64>(operands, Real::to_f64, |a, b| a * b, Real::round_from),
            Cumulation::Max | Cumulation::Min | Cumulation::LogSumExp => {
                scan.kernel::<T, f64>(operands, Real::to_f64, real(how), Real::round_from)
            }
        },
        complex => scan.kernel::<Complex<T>, C128>(operands, complex::widen, complex_function(how), complex::round_from),
        other => Err(meaningless(dtype)),
    )
}

fn real(how: Cumulation) -> fn(f64, f64) -> f64 {
    match how {
        Cumulation::Sum => |a, b| a + b,
        Cumulation::Product => |a, b| a * b,
        Cumulation::Max => elementary::max,
        Cumulation::Min => elementary::min,
        Cumulation::LogSumExp => log_add_exp,
    }
}

fn complex_function(how: Cumulation) -> fn(C128, C128) -> C128 {
    match how {
        Cumulation::Sum => |a, b| a + b,
        Cumulation::Product => |a, b| a * b,
        Cumulation::Max => |a, b| if (a.re, a.im) > (b.re, b.im) { a } else { b },
        Cumulation::Min => |a, b| if (a.re, a.im) < (b.re, b.im) { a } else { b },
        Cumulation::LogSumExp => |a, b| {
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
    /// Elements with the same outer index.
    fn slice(self) -> usize {
        self.lines.length * self.lines.inner
    }

    /// A scan in the elements' own type.
    fn exact<T: Pod + Send + Sync>(self, operands: &Operands, f: impl Fn(T, T) -> T + Send + Sync + 'static) -> Call
    where
        T: Wrapped,
    {
        let dtype = operands.inputs[0].dtype;
        self.kernel::<T, T>(operands, |v| v, f, move |v| v.wrapped(dtype))
    }

    /// A scan of elements `T` as numbers `A`.
    fn kernel<T: Pod + Send + Sync, A: Copy>(
        self,
        operands: &Operands,
        widen: impl Fn(T) -> A + Send + Sync + 'static,
        f: impl Fn(A, A) -> A + Send + Sync + 'static,
        round: impl Fn(A) -> T + Send + Sync + 'static,
    ) -> Call {
        Ok(routine(operands, move |buffers, context| {
            let x = buffers.input::<T>(0);
            in_chunks(context, buffers.output::<T>(0), self.slice(), |start, y| {
                self.run(&x[start..start + y.len()], y, &widen, &f, &round);
            });
            Ok(())
        }))
    }

    /// The scan of the elements with one outer index.
    fn run<T: Copy, A: Copy>(self, x: &[T], y: &mut [T], widen: impl Fn(T) -> A, f: impl Fn(A, A) -> A, round: impl Fn(A) -> T) {
        let inner = self.lines.inner;
        let mut sums: Vec<A> = Vec::with_capacity(inner);
        for step in 0..self.lines.length {
            let row = if self.reverse { self.lines.length - 1 - step } else { step };
            let (x, y) = (&x[row * inner..][..inner], &mut y[row * inner..][..inner]);
            if step == 0 {
                sums.extend(x.iter().map(|&x| widen(x)));
            } else {
                sums.iter_mut().zip(x).for_each(|(sum, &x)| *sum = f(*sum, widen(x)));
            }
            y.iter_mut().zip(&sums).for_each(|(y, &sum)| *y = round(sum));
        }
    }
}

/// Integers brought into the range of a narrower type.
trait Wrapped: Copy {
    fn wrapped(self, dtype: DType) -> Self;
}

macro_rules! wrapped {
    ($($T:ty)*) => { $(impl Wrapped for $T {
        fn wrapped(self, dtype: DType) -> Self {
            let unused = <$T>::BITS.saturating_sub(dtype.bits() as u32);
            self << unused >> unused
        }
    })* };
}
wrapped!(i8 i16 i32 i64 u8 u16 u32 u64);
