//! Bases of flat vectors and their way back to arrays, for whole Jacobians.

use crate::dtype::DType;
use crate::error::Result;
use crate::jaxpr::{Atom, Aval, Builder, Dims};
use crate::prims::{Prim, Split as SplitPrim, index_dtype};

/// All unit vectors of the space of `leaves`, one array per leaf with the number of the vector as leading axis.
///
/// # Errors
/// When the leaves have no common type.
pub(super) fn standard_basis(b: &Builder, leaves: &[Aval]) -> Result<Vec<Atom>> {
    let size: usize = leaves.iter().map(Aval::size).sum();
    let dtype = leaves
        .iter()
        .map(|leaf| leaf.dtype)
        .reduce(widest)
        .unwrap_or(DType::F32);
    let index = index_dtype(dtype);
    let rows = b.iota(index, &[size, size], 0);
    let columns = b.iota(index, &[size, size], 1);
    let diagonal = b.add(rows, b.integer(0, index));
    let eye = b.convert(b.eq(diagonal, columns), dtype);
    b.check()?;
    let parts = split(b, eye, 1, leaves)?;
    Ok(parts
        .into_iter()
        .zip(leaves)
        .map(|(part, leaf)| {
            let mut shape = vec![size];
            shape.extend(&leaf.shape);
            convert(b, reshape(b, part, &shape), leaf)
        })
        .collect())
}

/// Cuts axis `axis` of `x` into pieces with the shapes of `leaves`, of the element type of `like`.
pub(super) fn unravel(
    b: &Builder,
    x: Atom,
    axis: usize,
    leaves: &[Aval],
    like: &Aval,
) -> Vec<Atom> {
    let shape = b.shape(x);
    let parts = split(b, x, axis, leaves).unwrap_or_else(|error| {
        b.fail(error);
        vec![x; leaves.len()]
    });
    parts
        .into_iter()
        .zip(leaves)
        .map(|(part, leaf)| {
            let mut whole = shape[..axis].to_vec();
            whole.extend(&leaf.shape);
            whole.extend(&shape[axis + 1..]);
            let part = reshape(b, part, &whole);
            let complex = b.dtype(part).is_complex() && !like.dtype.is_complex();
            let part = if complex { b.real(part) } else { part };
            convert(b, part, like)
        })
        .collect()
}

fn split(b: &Builder, x: Atom, axis: usize, leaves: &[Aval]) -> Result<Vec<Atom>> {
    let sizes: Dims = leaves.iter().map(Aval::size).collect();
    Ok(b.emit(SplitPrim { axis, sizes }, &[x])?.into_vec())
}

fn reshape(b: &Builder, x: Atom, shape: &[usize]) -> Atom {
    if b.shape(x).as_slice() == shape {
        return x;
    }
    b.reshape(x, shape)
}

fn convert(b: &Builder, x: Atom, like: &Aval) -> Atom {
    let prim = crate::prims::ConvertElementType {
        new_dtype: like.dtype,
        weak_type: like.weak_type,
    };
    b.op(Prim::from(prim), &[x])
}

/// The smallest inexact type that holds both.
fn widest(x: DType, y: DType) -> DType {
    if x == y {
        return x;
    }
    let complex = x.is_complex() || y.is_complex();
    let (x, y) = (x.real(), y.real());
    let real = if x == y {
        x
    } else if x.bits() == y.bits() {
        DType::F32
    } else if x.bits() > y.bits() {
        x
    } else {
        y
    };
    if complex {
        real.complex().unwrap_or(DType::C64)
    } else {
        real
    }
}
