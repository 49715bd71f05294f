//! Functions of single elements that have no lane form, on arrays of the result's shape.

mod integer;
mod real;

use super::elements::{Class, Number, convert, meaningless};
use super::operands::Operands;
use super::routine::{in_chunks, routine};
use crate::lower::graph::MapOp;
use crate::runtime::KernelCall;
use jaxide_core::{DType, Error, ErrorKind, Result};

type Call = Result<Box<KernelCall>>;

/// Elements that are computed at once.
const BLOCK: usize = 256;

/// Elements that are worth a thread's attention.
const CHUNK: usize = 1 << 12;

/// A function of one element of each operand.
pub(super) type Function<A, R> = Box<dyn Fn(&[&[A]], &mut [R]) + Send + Sync>;

/// The kernel of an operation.
pub(super) fn map(op: MapOp, operands: &Operands) -> Call {
    match op {
        MapOp::Convert => return conversion(operands),
        MapOp::Bitcast => return same_bits(operands),
        MapOp::Select | MapOp::Threefry { .. } | MapOp::KeyFromWords | MapOp::KeyWord(_) => {
            return Err(Error::new(ErrorKind::Internal, "always has a lane form"));
        }
        _ => {}
    }
    let first = operands
        .inputs
        .first()
        .ok_or_else(|| Error::shape("an operand is expected"))?
        .dtype;
    // The exponent of a power of integers may have another type.
    let power = op == MapOp::Pow && Class::of(first) == Class::Integer;
    let mixed = (operands.inputs.iter()).find(|input| input.dtype != first && !power);
    if let Some(other) = mixed {
        return Err(Error::dtype(format!(
            "operands have types {first} and {}, which differ",
            other.dtype
        )));
    }
    match Class::of(first) {
        Class::Integer => integer::function(op, first).map(|f| kernel::<i128, i128>(operands, f)),
        Class::Real => real::predicate(op)
            .map(|f| kernel::<f64, i128>(operands, f))
            .or_else(|| real::function(op, first).map(|f| kernel::<f64, f64>(operands, f))),
        Class::Complex | Class::Opaque => None,
    }
    .ok_or_else(|| meaningless(first))
}

/// A function of one argument.
pub(super) fn unary<A: Copy + 'static, R: 'static>(
    f: impl Fn(A) -> R + Send + Sync + 'static,
) -> Option<Function<A, R>> {
    Some(Box::new(move |x, y| {
        y.iter_mut().zip(x[0]).for_each(|(y, &x)| *y = f(x))
    }))
}

/// A function of two arguments.
pub(super) fn binary<A: Copy + 'static, R: 'static>(
    f: impl Fn(A, A) -> R + Send + Sync + 'static,
) -> Option<Function<A, R>> {
    Some(Box::new(move |x, y| {
        y.iter_mut()
            .zip(x[0].iter().zip(x[1]))
            .for_each(|(y, (&a, &b))| *y = f(a, b));
    }))
}

/// A function of three arguments.
pub(super) fn ternary<A: Copy + 'static, R: 'static>(
    f: impl Fn(A, A, A) -> R + Send + Sync + 'static,
) -> Option<Function<A, R>> {
    Some(Box::new(move |x, y| {
        for (i, y) in y.iter_mut().enumerate() {
            *y = f(x[0][i], x[1][i], x[2][i]);
        }
    }))
}

fn kernel<A: Number, R: Number>(operands: &Operands, f: Function<A, R>) -> Box<KernelCall> {
    let types: Vec<DType> = operands.inputs.iter().map(|input| input.dtype).collect();
    let result = operands.outputs[0].dtype;
    routine(operands, move |buffers, context| {
        let inputs: Vec<&[u8]> = (0..types.len()).map(|k| buffers.input(k)).collect();
        let size = result.size();
        in_chunks(
            context,
            buffers.output::<u8>(0),
            CHUNK * size,
            |start, out| {
                let mut numbers = vec![A::default(); BLOCK * types.len()];
                let mut results = [R::default(); BLOCK];
                for (block, out) in out.chunks_mut(BLOCK * size).enumerate() {
                    let (first, count) = (start / size + block * BLOCK, out.len() / size);
                    for ((numbers, &dtype), input) in
                        numbers.chunks_mut(BLOCK).zip(&types).zip(&inputs)
                    {
                        A::read(
                            dtype,
                            &input[first * dtype.size()..(first + count) * dtype.size()],
                            &mut numbers[..count],
                        );
                    }
                    let x: Vec<&[A]> = numbers
                        .chunks(BLOCK)
                        .map(|numbers| &numbers[..count])
                        .collect();
                    f(&x, &mut results[..count]);
                    R::write(result, &results[..count], out);
                }
            },
        );
        Ok(())
    })
}

fn conversion(operands: &Operands) -> Call {
    let (from, to) = (operands.inputs[0].dtype, operands.outputs[0].dtype);
    if let Some(key) = [from, to]
        .into_iter()
        .find(|dtype| dtype.is_key() && from != to)
    {
        return Err(meaningless(key));
    }
    Ok(routine(operands, move |buffers, context| {
        let x = buffers.input::<u8>(0);
        let out = buffers.output::<u8>(0);
        if from.size() == 0 {
            out.fill(0);
            return Ok(());
        }
        in_chunks(context, out, CHUNK * to.size(), |start, out| {
            let (first, count) = (start / to.size(), out.len() / to.size());
            convert(
                from,
                &x[first * from.size()..(first + count) * from.size()],
                to,
                out,
            );
        });
        Ok(())
    }))
}

fn same_bits(operands: &Operands) -> Call {
    let (from, to) = (operands.inputs[0].dtype, operands.outputs[0].dtype);
    if from.size() != to.size() {
        return Err(Error::dtype(format!(
            "elements of types {from} and {to} have different sizes"
        )));
    }
    Ok(routine(operands, |buffers, _| {
        let x = buffers.input::<u8>(0);
        buffers.output::<u8>(0).copy_from_slice(x);
        Ok(())
    }))
}

/// Whether a comparison holds for values so ordered (`None` where NaN decides); `None` for other operations.
fn holds(op: MapOp, order: Option<std::cmp::Ordering>) -> bool {
    use std::cmp::Ordering;
    match op {
        MapOp::Eq | MapOp::EqTotal => order == Some(Ordering::Equal),
        MapOp::Ne => order != Some(Ordering::Equal),
        MapOp::Lt | MapOp::LtTotal => order == Some(Ordering::Less),
        MapOp::Le | MapOp::LeTotal => order.is_some_and(Ordering::is_le),
        MapOp::Gt => order == Some(Ordering::Greater),
        MapOp::Ge => order.is_some_and(Ordering::is_ge),
        _ => false,
    }
}
