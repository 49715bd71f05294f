//! The derivative of determinants.

use super::super::elementwise::index_dtype;
use super::super::named_function::call_named;
use super::super::numpy;
use super::super::*;
use super::matrices::*;
use super::solve::solve;
use super::*;

/// The determinant of a square matrix and its tangent, the trace of `adjugate(a) t`: defined for singular matrices too.
/// Leading axes are batch axes.
pub(in crate::prims) fn determinant_jvp(b: &Builder, a: Atom, t: Atom) -> Result<Vec<Atom>> {
    let lanes: Vec<usize> = b.shape(a)[..b.rank(a) - 2].to_vec();
    let inner = b.nested();
    let args = [a, t].map(|atom| {
        let aval = b.aval(atom);
        inner.input(aval.with_shape(&aval.shape[lanes.len()..]))
    });
    let (determinant, product) = cofactor_solve(&inner, args[0], args[1])?;
    let tangent = numpy::trace(&inner, product)?;
    let mut jaxpr = inner.finish(&[determinant, tangent])?;
    for &size in lanes.iter().rev() {
        let axis = BatchAxis { size, name: None };
        let out = [crate::transform::OutDim::Front; 2];
        jaxpr = crate::transform::batch(b, &jaxpr, &axis, &[Some(0); 2], &out)?.jaxpr;
    }
    Ok(b.inline(&jaxpr.jaxpr, &[], &[a, t])?.into_vec())
}

/// Tangents of sign and logarithm of the determinant from the sign: the logarithm's is the trace of `a⁻¹ t`.
pub(in crate::prims) fn log_determinant_tangents(
    b: &Builder,
    sign: Atom,
    a: Atom,
    t: Atom,
) -> Result<Vec<Atom>> {
    let solved = call_named(b, "solve", &[], &[a, t], |b, args| {
        Ok(vec![solve(b, args[0], args[1])?])
    })?;
    let trace = numpy::trace(b, solved[0])?;
    Ok(of_sign_and_log(b, sign, trace))
}

/// As [`log_determinant_tangents`], for matrices of 1 or 2 rows, without a solution.
pub(in crate::prims) fn small_log_determinant_tangents(
    b: &Builder,
    sign: Atom,
    a: Atom,
    t: Atom,
) -> Vec<Atom> {
    let at = |x: Atom, i: usize, j: usize| matrix_element(b, x, i, j);
    let (n, _) = rows_columns(b, a);
    let log = if n == 1 {
        b.div(at(t, 0, 0), at(a, 0, 0))
    } else {
        let [a00, a01, a10, a11] = [(0, 0), (0, 1), (1, 0), (1, 1)].map(|(i, j)| at(a, i, j));
        let main = b.mul(a00, a11);
        let determinant = b.sub(main, b.mul(a01, a10));
        let sum = b.mul(at(t, 0, 0), a11);
        let sum = b.sub(sum, b.mul(at(t, 0, 1), a10));
        let sum = b.sub(sum, b.mul(at(t, 1, 0), a01));
        let sum = b.add(sum, b.mul(at(t, 1, 1), a00));
        b.div(sum, determinant)
    };
    of_sign_and_log(b, sign, log)
}

/// Tangents of sign and logarithm from the logarithmic derivative of the determinant: its imaginary part turns the sign.
fn of_sign_and_log(b: &Builder, sign: Atom, derivative: Atom) -> Vec<Atom> {
    let dtype = b.dtype(derivative);
    if !dtype.is_complex() {
        return vec![b.zeros_like(sign), derivative];
    }
    let part = b.convert(b.real(derivative), dtype);
    let turn = b.sub(derivative, part);
    vec![b.mul(turn, sign), b.real(derivative)]
}

/// The element of each matrix at a row and a column.
fn matrix_element(b: &Builder, x: Atom, row: usize, column: usize) -> Atom {
    let mut limit = b.shape(x);
    let last = limit.len() - 1;
    let mut start = Dims::from_elem(0, limit.len());
    (start[last - 1], start[last]) = (row, column);
    (limit[last - 1], limit[last]) = (row + 1, column + 1);
    b.squeeze(sliced(b, x, &start, &limit), &[last - 1, last])
}

/// `det(a)` and `adjugate(a) rhs` of one matrix.
///
/// With `P a = L U` and `d` the product of all but the last element of `U`'s diagonal, solving with `1 / d` in place of
/// that element, and multiplying all but the last row by `det(a)` before, gives `det(a) a⁻¹ rhs` without a division by
/// what is zero for matrices of rank `n - 1`. Of lower rank the adjugate is zero.
fn cofactor_solve(b: &Builder, a: Atom, rhs: Atom) -> Result<(Atom, Atom)> {
    let (n, dtype) = (b.shape(a)[0], b.dtype(a));
    if n == 1 {
        return Ok((element(b, a, &[0, 0]), rhs));
    }
    let factors = b.emit(Lu, &[a])?;
    let [lu, pivots, permutation] = [factors[0], factors[1], factors[2]];
    let pivot_diagonal = numpy::diagonal(b, lu)?;
    let unmoved = b.iota(DType::I32, &[n], 0);
    let moved = b.ne(pivots, unmoved);
    let index = index_dtype(dtype);
    let swaps = numpy::count_nonzero(b, moved, index)?;
    let parity = numpy::remainder(b, swaps, 2)?;
    let sign = b.mul(b.integer(-2, index), parity);
    let sign = b.convert(b.add(sign, b.integer(1, index)), dtype);
    let products = numpy::cumprod(b, pivot_diagonal)?;
    let sign = b.broadcast_in_dim(sign, &[1], &[]);
    // The last is the determinant, the one before `d`.
    let products = b.mul(products, sign);
    let corner = b.div(b.number(1.0, dtype), element(b, products, &[n - 2]));
    let lu = with_corner(b, lu, corner);
    b.iota(DType::I32, &[1], 0);

    let ones = b.full(&[n], 1.0, dtype);
    let ones = b.broadcast_in_dim(ones, &[n, 1], &[0]);
    let probe = b.squeeze(solve_triangular(b, &UPPER_FROM_LEFT, lu, ones), &[1]);
    let undefined = b.ne(probe, probe);
    let infinite = numpy::isinf(b, probe)?;
    let broken = b.or(undefined, infinite);
    let deficient = b.op(ReduceOr { axes: smallvec![0] }, &[broken]);
    let deficient = b.broadcast_in_dim(deficient, &[1, 1], &[]);
    let deficient = b.op(Tile { reps: b.shape(rhs) }, &[deficient]);
    let x = numpy::where_(b, deficient, b.zeros_like(rhs), rhs)?;
    let x = take(b, x, permutation, 0);
    let unit_lower = TriangularSolve {
        unit_diagonal: true,
        ..LOWER_FROM_LEFT
    };
    let x = solve_triangular(b, &unit_lower, lu, x);
    let upper = rows(b, x, 0..n - 1);
    let determinant = b.broadcast_in_dim(element(b, products, &[n - 1]), &[1, 1], &[]);
    let upper = b.mul(upper, determinant);
    let x = b.concatenate(&[upper, rows(b, x, n - 1..n)], 0);
    let x = solve_triangular(b, &UPPER_FROM_LEFT, lu, x);
    let x = numpy::where_(b, deficient, b.zeros_like(x), x)?;
    Ok((element(b, products, &[n - 1]), x))
}

/// The element of an array at an index.
fn element(b: &Builder, x: Atom, index: &[usize]) -> Atom {
    let axes: Vec<usize> = (0..index.len()).collect();
    let part = index
        .iter()
        .enumerate()
        .fold(b.shape(x), |mut limit, (axis, &at)| {
            limit[axis] = at + 1;
            limit
        });
    b.squeeze(sliced(b, x, index, &part), &axes)
}

/// The box of `x` between two corners; `x` itself when that is all of it.
fn sliced(b: &Builder, x: Atom, start: &[usize], limit: &[usize]) -> Atom {
    if start.iter().all(|&at| at == 0) && b.shape(x).as_slice() == limit {
        return x;
    }
    b.slice(x, start, limit)
}

/// A square matrix with another last element.
fn with_corner(b: &Builder, x: Atom, corner: Atom) -> Atom {
    let last = b.shape(x)[0] as i64 - 1;
    let place = |b: &Builder| b.broadcast_in_dim(b.integer(last, DType::I32), &[1], &[]);
    let (row, column) = (place(b), place(b));
    let index = b.concatenate(&[row, column], 0);
    let prim = Scatter {
        dimension_numbers: ScatterDimensionNumbers {
            inserted_window_dims: smallvec![0, 1],
            scatter_dims_to_operand_dims: smallvec![0, 1],
            ..Default::default()
        },
        indices_are_sorted: true,
        mode: GatherScatterMode::FillOrDrop,
        unique_indices: true,
        update_consts: NoConsts,
        update_jaxpr: OptionalJaxpr(None),
    };
    b.op(prim, &[x, index, corner])
}
