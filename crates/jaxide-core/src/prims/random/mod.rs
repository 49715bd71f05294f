//! Random bits and keys: the Threefry and bit-generator keys of JAX. Only gamma samples have a derivative.

mod ciphers;
mod gamma;

use smallvec::{SmallVec, smallvec};

use super::elementwise::{arity, to_front};
use super::shape::one;
use super::*;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::jaxpr::{Atom, Aval, Builder, Dims, Shape};

/// Rules of primitives whose results are independent of small changes: no tangents. A row is the primitive, its name, its
/// abstract evaluation and its batching.
macro_rules! random {
    ($($prim:ident $name:literal $eval:expr, $batch:expr;)*) => { $(
        impl Primitive for $prim {
            fn abstract_eval(&self, operands: &[Aval]) -> Result<Avals> {
                let eval: fn(&Self, &[Aval]) -> Result<Avals> = $eval;
                eval(self, operands)
            }

            fn jvp(&self, b: &Builder, primals: &[Atom], _tangents: &[Option<Atom>]) -> Result<JvpResult> {
                let answers = b.emit(self.clone(), primals)?;
                Ok(JvpResult { tangents: smallvec![None; answers.len()], primals: answers })
            }

            fn batch(&self, b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Result<BatchedResults> {
                let batch: fn(&Self, &Builder, &[Batched], &BatchAxis) -> Result<BatchedResults> = $batch;
                batch(self, b, operands, axis)
            }

            no_rules! { $name, NOT_LINEAR; transpose }
        }
    )* };
}

/// Batch of primitives that map over leading axes by themselves.
fn leading<P: Clone + Into<Prim>>(
    prim: &P,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<BatchedResults> {
    let mapped = operands.iter().any(|operand| operand.dim.is_some());
    let place = |operand: &Batched| {
        if mapped {
            to_front(b, *operand, axis.size)
        } else {
            operand.value
        }
    };
    let atoms: Vec<Atom> = operands.iter().map(place).collect();
    let results = b.emit(prim.clone(), &atoms)?;
    Ok(results
        .into_iter()
        .map(|value| Batched {
            value,
            dim: mapped.then_some(0),
        })
        .collect())
}

/// The keys of an operand.
fn keys(operands: &[Aval]) -> Result<&Aval> {
    let aval = operands.first().ok_or_else(|| arity(1, 0))?;
    if aval.dtype.is_key() {
        return Ok(aval);
    }
    Err(Error::dtype(format!(
        "random keys are expected, and {aval} is given"
    )))
}

/// `aval`'s axes followed by `tail`.
fn extended(aval: &Aval, dtype: DType, tail: &[usize]) -> Result<Avals> {
    let shape: Shape = aval.shape.iter().chain(tail).copied().collect();
    crate::aval::byte_size(&shape, dtype)?;
    Ok(smallvec![Aval::new(dtype, &shape)])
}

/// The operands with lanes in front, for primitives whose operands are of rank 0 or of one shape: what is of rank 0 in
/// each lane is repeated where others are not.
fn aligned(b: &Builder, operands: &[Batched], axis: &BatchAxis) -> Vec<Atom> {
    let rank_of = |operand: &Batched| b.rank(operand.value) - usize::from(operand.dim.is_some());
    let widest = operands.iter().max_by_key(|operand| rank_of(operand));
    let shape = widest.map(|operand| {
        let mut shape = b.shape(operand.value);
        if let Some(dim) = operand.dim {
            shape.remove(dim);
        }
        shape.insert(0, axis.size);
        shape
    });
    let repeated = |operand: &Batched| {
        if operand.dim.is_none() && rank_of(operand) == 0 {
            return operand.value;
        }
        let front = to_front(b, *operand, axis.size);
        match &shape {
            Some(shape) if b.rank(front) < shape.len() => b.broadcast_in_dim(front, shape, &[0]),
            _ => front,
        }
    };
    operands.iter().map(repeated).collect()
}

/// Types of a block cipher's words: operands are of rank 0 or of one shape.
fn cipher(operands: &[Aval], takes: usize, gives: usize) -> Result<Avals> {
    let widest = operands.iter().max_by_key(|aval| aval.rank());
    let Some(widest) = widest.filter(|_| operands.len() == takes) else {
        return Err(arity(takes, operands.len()));
    };
    if let Some(other) = operands.iter().find(|aval| aval.dtype != DType::U32) {
        return Err(Error::dtype(format!(
            "u32 words are expected, and {other} is given"
        )));
    }
    let differs = |aval: &&Aval| aval.rank() > 0 && aval.shape != widest.shape;
    if let Some(other) = operands.iter().find(differs) {
        return Err(Error::shape(format!(
            "key and counter words have different shapes: {widest} and {other}"
        )));
    }
    let words = Aval::new(DType::U32, &widest.shape);
    Ok(SmallVec::from_elem(words, gives))
}

fn cipher_batch(
    prim: impl Into<Prim>,
    b: &Builder,
    operands: &[Batched],
    axis: &BatchAxis,
) -> Result<BatchedResults> {
    let results = b.emit(prim, &aligned(b, operands, axis))?;
    let mapped = |value| Batched {
        value,
        dim: Some(0),
    };
    Ok(results.into_iter().map(mapped).collect())
}

random! {
    Threefry2x32 "threefry2x32" |_, o| cipher(o, 4, 2), |p, b, o, axis| cipher_batch(*p, b, o, axis);
    Threefry4x32 "threefry4x32" |_, o| cipher(o, 8, 4), |p, b, o, axis| cipher_batch(*p, b, o, axis);
    Philox4x32 "philox4x32" |_, o| cipher(o, 6, 4), |p, b, o, axis| cipher_batch(*p, b, o, axis);
    Philox2x32 "philox2x32" |_, o| cipher(o, 3, 2), |p, b, o, axis| cipher_batch(*p, b, o, axis);
    Iota2x32Shape "iota_2x32_shape" |p, o| {
        if !o.is_empty() {
            return Err(arity(0, o.len()));
        }
        crate::aval::byte_size(&p.shape, DType::U64)?;
        let words = Aval::new(DType::U32, &p.shape);
        Ok(smallvec![words.clone(), words])
    }, |p, b, o, axis| leading(p, b, o, axis);
    RandomBits "random_bits" |p, o| {
        let dtype = match p.bit_width {
            8 => DType::U8,
            16 => DType::U16,
            32 => DType::U32,
            64 => DType::U64,
            other => return Err(Error::parameter(format!("bit_width must be 8, 16, 32 or 64, and is {other}"))),
        };
        extended(keys(o)?, dtype, &p.shape)
    }, |p, b, o, axis| leading(p, b, o, axis);
    RandomSeed "random_seed" |p, o| {
        let aval = one(o)?;
        if !aval.dtype.is_integer() {
            return Err(Error::dtype(format!("a seed must be an integer, and is {aval}")));
        }
        Ok(smallvec![Aval::new(p.impl_.dtype(), &aval.shape)])
    }, |p, b, o, axis| leading(p, b, o, axis);
    RandomWrap "random_wrap" |p, o| {
        let aval = one(o)?;
        let dtype = p.impl_.dtype();
        let words = dtype.key_words().unwrap_or(0);
        match aval.shape.split_last() {
            Some((&last, shape)) if last == words && aval.dtype == DType::U32 => Ok(smallvec![Aval::new(dtype, shape)]),
            _ => Err(Error::shape(format!("u32 words with a last axis of {words} are expected, and {aval} is given"))),
        }
    }, |p, b, o, axis| leading(p, b, o, axis);
    RandomUnwrap "random_unwrap" |_, o| {
        let aval = keys(o)?;
        extended(aval, DType::U32, &[aval.dtype.key_words().unwrap_or(0)])
    }, |p, b, o, axis| leading(p, b, o, axis);
    RandomSplit "random_split" |p, o| extended(keys(o)?, keys(o)?.dtype, &p.shape), |p, b, o, axis| leading(p, b, o, axis);
    RandomFoldIn "random_fold_in" |_, o| {
        let [key, data] = o else { return Err(arity(2, o.len())) };
        keys(o)?;
        if data.dtype != DType::U32 {
            return Err(Error::dtype(format!("u32 data is expected, and {data} is given")));
        }
        let fits = key.rank() == 0 || data.rank() == 0 || key.shape == data.shape;
        if !fits {
            return Err(Error::shape(format!("keys {key} and data {data} have different shapes")));
        }
        Ok(smallvec![key.with_shape(if key.rank() > 0 { &key.shape } else { &data.shape })])
    }, |p, b, o, axis| {
        Ok(smallvec![Batched { value: b.op(*p, &aligned(b, o, axis)), dim: Some(0) }])
    };
    RandomClone "random_clone" |_, o| Ok(smallvec![keys(o)?.clone()]), |p, b, o, axis| leading(p, b, o, axis);
    RngBitGenerator "rng_bit_generator" |p, o| {
        let state = one(o)?;
        let fits = matches!((state.dtype, &state.shape[..]), (DType::U32, [4]) | (DType::U64, [2]));
        if !fits {
            return Err(Error::shape(format!("the state must be u32[4] or u64[2], and is {state}")));
        }
        if !p.dtype.is_unsigned_integer() {
            return Err(Error::dtype(format!("unsigned bits are expected, and {} is asked for", p.dtype)));
        }
        crate::aval::byte_size(&p.shape, p.dtype)?;
        Ok(smallvec![state.clone(), Aval::new(p.dtype, &p.shape)])
    }, |_, _, _, _| Err(Error::no_rule("rng_bit_generator", "batching", "map over keys instead, or run it in a loop"));
}
