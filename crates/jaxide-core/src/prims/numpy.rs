//! Functions of `jax.numpy` that rules of JAX's library call. JAX compiles each on its own: they appear as calls
//! `jit[name=...]`.

use smallvec::smallvec;

use super::elementwise::index_dtype;
use super::named_function::call_named;
use super::*;
use crate::dtype::DType;
use crate::error::Result;
use crate::jaxpr::{Atom, Builder, Literal, Scalar};

/// `jnp.where`: `on_true` where `which`, else `on_false`; all but one may be scalars.
pub(crate) fn where_(b: &Builder, which: Atom, on_true: Atom, on_false: Atom) -> Result<Atom> {
    let args = [which, on_true, on_false];
    let out = call_named(b, "_where", &[], &args, |b, args| {
        let shape = args
            .iter()
            .map(|&arg| b.shape(arg))
            .max_by_key(|shape| shape.len())
            .unwrap_or_default();
        let [true_dtype, false_dtype] = [b.dtype(args[1]), b.dtype(args[2])];
        let dtype = if true_dtype.is_inexact() {
            true_dtype
        } else {
            false_dtype
        };
        let like = |arg: Atom| {
            let rank = b.rank(arg);
            let dims: Vec<usize> = (shape.len() - rank..shape.len()).collect();
            b.broadcast_in_dim(arg, &shape, &dims)
        };
        let (on_true, on_false) = (b.convert(args[1], dtype), b.convert(args[2], dtype));
        let which = like(args[0]);
        let (on_true, on_false) = (like(on_true), like(on_false));
        Ok(vec![b.select(which, on_true, on_false)])
    })?;
    Ok(out[0])
}

/// `jnp.count_nonzero` along the last axis, of booleans.
pub(crate) fn count_nonzero(b: &Builder, x: Atom, dtype: DType) -> Result<Atom> {
    let out = call_named(b, "count_nonzero", &[], &[x], |b, args| {
        let set = b.ne(args[0], b.number(0.0, DType::Bool));
        let ones = b.convert(b.convert(set, DType::I32), dtype);
        Ok(vec![b.reduce_sum(ones, &[b.rank(ones) - 1])])
    })?;
    Ok(out[0])
}

/// `jnp.remainder` of integers: its sign is that of the divisor.
pub(crate) fn remainder(b: &Builder, x: Atom, divisor: i64) -> Result<Atom> {
    // A number of the host language: weakly typed.
    let divisor = Atom::Lit(Literal {
        weak_type: true,
        ..Literal::new(Scalar::Int(divisor), b.dtype(x))
    });
    let out = call_named(b, "remainder", &[], &[x, divisor], |b, args| {
        let dtype = b.dtype(args[0]);
        let zero = b.integer(0, dtype);
        let divisor = b.convert(args[1], dtype);
        let none = b.eq(divisor, zero);
        let divisor = where_(b, none, b.integer(1, dtype), divisor)?;
        let rest = b.rem(args[0], divisor);
        let inexact = b.ne(rest, zero);
        let (below, divisor_below) = (b.lt(rest, zero), b.lt(divisor, zero));
        let crosses = b.ne(below, divisor_below);
        let moves = b.and(crosses, inexact);
        let moved = b.add(rest, divisor);
        Ok(vec![b.select(moves, moved, rest)])
    })?;
    Ok(out[0])
}

/// `jnp.cumprod` along the last axis.
pub(crate) fn cumprod(b: &Builder, x: Atom) -> Result<Atom> {
    let out = call_named(b, "cumprod", &[], &[x], |b, args| {
        let axis = b.rank(args[0]) - 1;
        let prim = Cumprod {
            axis,
            reverse: false,
        };
        Ok(vec![b.op(prim, args)])
    })?;
    Ok(out[0])
}

/// `jnp.isinf`: of complex numbers, whether a part is infinite.
pub(crate) fn isinf(b: &Builder, x: Atom) -> Result<Atom> {
    let out = call_named(b, "isinf", &[], &[x], |b, args| {
        let infinite = |x: Atom| b.eq(b.abs(x), b.number(f64::INFINITY, b.dtype(x)));
        if !b.dtype(args[0]).is_complex() {
            return Ok(vec![infinite(args[0])]);
        }
        let (re, im) = (b.real(args[0]), b.imag(args[0]));
        let (re, im) = (infinite(re), infinite(im));
        Ok(vec![b.or(re, im)])
    })?;
    Ok(out[0])
}

/// `jnp.trace` of each matrix, its rows and columns named in the other order.
pub(crate) fn trace(b: &Builder, x: Atom) -> Result<Atom> {
    let out = call_named(b, "trace", &[], &[x], |b, args| {
        let rank = b.rank(args[0]);
        let mut permutation: Vec<usize> = (0..rank).collect();
        permutation.swap(rank - 2, rank - 1);
        let x = b.transpose(args[0], &permutation);
        let on_diagonal = diagonal_mask(b, x);
        let diagonal = where_(b, on_diagonal, x, b.zeros_like(x))?;
        Ok(vec![b.reduce_sum(diagonal, &[rank - 2, rank - 1])])
    })?;
    Ok(out[0])
}

/// `jnp.diagonal` of a square matrix: on some platforms by a sum, elsewhere by indexing.
pub(crate) fn diagonal(b: &Builder, x: Atom) -> Result<Atom> {
    let out = call_named(b, "diagonal", &[], &[x], |b, args| {
        let x = args[0];
        let identity = b.convert(diagonal_mask(b, x), b.dtype(x));
        let platforms = Opaque(PyValue::Tuple(vec![
            PyValue::Tuple(vec![PyValue::Str("mosaic".to_owned())]),
            PyValue::None,
        ]));
        let branch = |body: fn(&Builder, Atom, Atom) -> Atom| {
            let inner = b.nested();
            let args = [identity, x].map(|atom| inner.input(b.aval(atom)));
            let result = body(&inner, args[0], args[1]);
            inner.finish(&[result])
        };
        let summed = branch(|b, identity, x| b.reduce_sum(b.mul(identity, x), &[0]))?;
        let indexed = branch(|b, _, x| indexed_diagonal(b, x))?;
        let index = PlatformIndex {
            platforms: platforms.clone(),
        };
        let prim = Cond {
            branches: Branches(vec![summed, indexed]),
            branches_platforms: Some(platforms),
        };
        Ok(vec![b.op(prim, &[b.op(index, &[]), identity, x])])
    })?;
    Ok(out[0])
}

/// Where row and column of matrices like `x` are equal.
fn diagonal_mask(b: &Builder, x: Atom) -> Atom {
    let shape = b.shape(x);
    let index = index_dtype(b.dtype(x));
    let matrix = &shape[shape.len() - 2..];
    let rows = b.iota(index, matrix, 0);
    let columns = b.iota(index, matrix, 1);
    let rows = b.add(rows, b.integer(0, index));
    b.eq(rows, columns)
}

fn indexed_diagonal(b: &Builder, x: Atom) -> Atom {
    let n = b.shape(x)[0];
    let index = index_dtype(b.dtype(x));
    let [rows, columns] = [(); 2].map(|()| b.iota(index, &[n], 0));
    let from_start = |positions: Atom| {
        let negative = b.lt(positions, b.integer(0, index));
        let moved = b.add(positions, b.integer(n as i64, index));
        b.select(negative, moved, positions)
    };
    let (rows, columns) = (from_start(rows), from_start(columns));
    let places = [rows, columns].map(|place| b.convert(place, DType::I32));
    let places = places.map(|place| b.broadcast_in_dim(place, &[n, 1], &[0]));
    let prim = Gather {
        dimension_numbers: GatherDimensionNumbers {
            collapsed_slice_dims: smallvec![0, 1],
            start_index_map: smallvec![0, 1],
            ..Default::default()
        },
        fill_value: None,
        indices_are_sorted: false,
        mode: GatherScatterMode::PromiseInBounds,
        slice_sizes: smallvec![1, 1],
        unique_indices: false,
    };
    b.op(prim, &[x, b.concatenate(&places, 1)])
}
